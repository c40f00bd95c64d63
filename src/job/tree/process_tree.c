/* The table of members: finds the processes of a job, keeps them and removes them; see process_tree.h. */
#include "job/tree/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/cpu/process_heir.h"
#include "job/cpu/process_turns.h"
#include "job/programs/programs.h"
#include "job/tree/process_discovery.h"
#include "job/tree/process_member.h"
#include "kernel/cgroup_v2.h"
#include "metric/absent.h"

enum {
	FIRST_MEMBERS = 16,
	QUIET_TICKS_KEPT = 4, /* descriptors are kept for this many passes after a process last ran */
	THREADS_VANISH_NS = 1000000,
};

int process_tree_new(struct root *root, bool with_children, struct process_tree **ret_tree)
{
	struct process_tree *tree = calloc(1, sizeof *tree);

	if (!tree)
		return -ENOMEM;
	tree->root = root;
	tree->with_children = with_children;
	tree->cgroup_folder = tree->cpu.cgroup_cpu_fd = tree->discovery.own_children_file.fd = -1;
	tree->memory.between.before_kib = -1;
	tree->discovery.loadavg_file = KEPT_FILE("proc/loadavg");
	tree->cpu.self_io_file = KEPT_FILE("proc/self/io");
	*ret_tree = tree;
	return 0;
}

void process_tree_free(struct process_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++)
		member_done(tree, &tree->members[i]);
	kept_file_close(&tree->discovery.loadavg_file);
	kept_file_close(&tree->cpu.self_io_file);
	kept_file_close(&tree->discovery.own_children_file);
	kept_file_close(&(struct kept_file){NULL, tree->cpu.cgroup_cpu_fd});
	programs_free(tree->programs);
	free(tree->members);
	free(tree->slots);
	free(tree->excluded);
	free(tree);
}

/* ---- pid -> member ---------------------------------------------------------------------------------- */

static size_t slot_of(const struct process_tree *tree, pid_t pid)
{
	/* Fibonacci hashing, which spreads consecutive pids. */
	return (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (tree->slot_count - 1);
}

static void insert_slot(struct process_tree *tree, size_t index)
{
	size_t slot = slot_of(tree, tree->members[index].pid);

	while (tree->slots[slot])
		slot = (slot + 1) & (tree->slot_count - 1);
	tree->slots[slot] = (uint32_t)index + 1;
}

static void rebuild_slots(struct process_tree *tree)
{
	memset(tree->slots, 0, tree->slot_count * sizeof *tree->slots);
	for (size_t i = 0; i < tree->count; i++)
		insert_slot(tree, i);
}

struct member *process_tree_find(const struct process_tree *tree, pid_t pid)
{
	if (!tree->slot_count)
		return NULL;
	for (size_t slot = slot_of(tree, pid); tree->slots[slot]; slot = (slot + 1) & (tree->slot_count - 1))
		if (tree->members[tree->slots[slot] - 1].pid == pid)
			return &tree->members[tree->slots[slot] - 1];
	return NULL;
}

struct member *process_tree_root(const struct process_tree *tree)
{
	return tree->root_gone ? NULL : process_tree_find(tree, tree->root_pid);
}

static int grow_tree(struct process_tree *tree)
{
	size_t capacity = tree->capacity ? tree->capacity * 2 : FIRST_MEMBERS;
	struct member *members = realloc(tree->members, capacity * sizeof *members);
	uint32_t *slots;

	if (!members)
		return -ENOMEM;
	tree->members = members;
	slots = realloc(tree->slots, capacity * 4 * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	tree->slots = slots;
	tree->slot_count = capacity * 4;
	tree->capacity = capacity;
	rebuild_slots(tree);
	return 0;
}

int process_tree_add(struct process_tree *tree, pid_t pid)
{
	struct member member, *parent;
	int error;

	if (process_tree_find(tree, pid))
		return -EEXIST;
	if (!turns_have_room(tree)) {
		tree->cpu.turns.left_out++;
		return -EAGAIN;
	}
	if (tree->count == tree->capacity) {
		error = grow_tree(tree);
		if (error < 0)
			return error;
	}
	error = member_open(tree, pid, &member);
	if (error < 0)
		return error;
	turns_take_room(tree);
	parent = process_tree_find(tree, member.parent_pid);
	if (parent)
		parent->is_parent = parent->has_forked = true;
	tree->members[tree->count] = member;
	insert_slot(tree, tree->count++);
	return 0;
}

void process_tree_exclude(struct process_tree *tree, pid_t pid)
{
	pid_t *excluded;

	if (process_tree_excludes(tree, pid))
		return;
	excluded = realloc(tree->excluded, (tree->excluded_count + 1) * sizeof *excluded);
	if (!excluded)
		return;
	tree->excluded = excluded;
	tree->excluded[tree->excluded_count++] = pid;
}

/* The process that is named as the root is the job, even if it existed before the tracker was opened. */
static void include_again(struct process_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->excluded_count; i++)
		if (tree->excluded[i] == pid)
			tree->excluded[i] = tree->excluded[--tree->excluded_count];
}

bool process_tree_excludes(const struct process_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->excluded_count; i++)
		if (tree->excluded[i] == pid)
			return true;
	return false;
}

/* ---- members that have gone -------------------------------------------------------------------------- */

static int64_t own_faults(const struct member *member)
{
	return member->cpu.account.own.of[USAGE_MINOR_FAULTS] -
	       member->cpu.account.own_before.of[USAGE_MINOR_FAULTS];
}

/* Removes vanished members from the table. The others keep their order. */
static void sweep_gone_members(struct process_tree *tree)
{
	size_t kept = 0;

	tree->cpu.watches++;
	discover_new_parents(tree);
	/* Children first: a parent that vanished as well passes their figures on with its own. */
	for (size_t i = tree->count; i-- > 0;)
		if (tree->members[i].vanished)
			heir_take(tree, &tree->members[i]);
	heirs_find_above(tree);
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		if (!member->vanished) {
			if (kept != i)
				tree->members[kept] = *member;
			kept++;
			continue;
		}
		if (member->pid == tree->root_pid) {
			tree->root_gone = tree->cpu.root_vanished = true;
			tree->cpu.root_last = member->cpu.account;
		}
		tree->exited_count++;
		tree->cpu.exited_faults += own_faults(member);
		memory_between_remove(tree, member);
		member_done(tree, member);
	}
	if (kept != tree->count) {
		tree->count = kept;
		tree->changed_ns = root_monotonic_ns(tree->root);
		rebuild_slots(tree);
	}
}

/* ---- a pass ------------------------------------------------------------------------------------------ */

/*
 * A cgroup that holds only the tree also counts CPU time that is in no process's figures: children of a parent that ignores
 * SIGCHLD. It does not count processes that left it, which only a job with the permission to write other cgroups can do (a
 * container runtime, systemd-run). So the larger of two sums is right: that of the cgroup, and that of living processes and
 * wait4(2) (`certain_ns`). The cgroup is read last, so without such processes it has counted all that they have. The carried and
 * the settled parts are estimates, which are up to two ticks too high for each process, and never take the total above both.
 */
static void hold_against_cgroup(struct process_tree *tree, int64_t certain_ns, struct usages *members)
{
	const struct tree_account *account = &tree->cpu.account;
	struct cgroup_v2_cpu_stat stat;
	int error =
		reread_cgroup_v2_cpu_stat(tree->root, tree->cgroup_folder, &tree->cpu.cgroup_cpu_fd, &stat);
	int64_t cpu_ns, known_ns, right_ns, missing_ns;

	if (error < 0 || !tree->with_children || stat.usage_usec < 0)
		return;
	cpu_ns = stat.usage_usec * NSEC_PER_USEC;
	known_ns = wrapping_sum(members->of[USAGE_CPU_NS], wrapping_sum(account->reaped.of[USAGE_CPU_NS],
									account->retired.of[USAGE_CPU_NS]));
	tree->cpu.in_nobody_ns = wrapping_difference(cpu_ns, known_ns);
	right_ns = cpu_ns > certain_ns ? cpu_ns : certain_ns;
	missing_ns = wrapping_difference(right_ns, known_ns);
	members->of[USAGE_CPU_NS] = wrapping_sum(members->of[USAGE_CPU_NS], missing_ns);
	/*
	 * The kernel estimates the user part of a cgroup and those of processes apart from each other: 0.07 and 0.14 s of the
	 * same 0.17 s. Those of processes end as wait4(2) tells them, so the cgroup divides only what they lack.
	 */
	if (right_ns > known_ns && stat.user_usec >= 0 && stat.usage_usec > 0)
		members->of[USAGE_UTIME_NS] = wrapping_sum(
			members->of[USAGE_UTIME_NS],
			count_of_real((double)missing_ns * (double)stat.user_usec / (double)stat.usage_usec));
}

/* Fewer faults than any forked process has: one that only exits takes 4. */
enum { UNEXPLAINED_FAULTS = 3 };

/*
 * The page faults of all processes of the tree are known, even of those that were never seen. Faults that the seen
 * processes do not explain belong to unseen ones, or came after the last reading of a process that has exited. These
 * two cases cannot be distinguished.
 */
static void look_for_unseen(struct process_tree *tree)
{
	int64_t explained = tree->cpu.exited_faults;

	for (size_t i = 0; i < tree->count; i++)
		explained += own_faults(&tree->members[i]);
	tree->cpu.unseen_faults = tree->cpu.account.published.of[USAGE_MINOR_FAULTS] - explained;
	if (tree->cpu.unseen_faults > UNEXPLAINED_FAULTS || tree->sigchld_ignored)
		tree->exits_missed = true;
}

static void publish_usage(struct process_tree *tree)
{
	int64_t certain_ns = tree->cpu.account.reaped.of[USAGE_CPU_NS];
	struct usages sum = {0};

	for (size_t i = 0; i < tree->count; i++) {
		struct usages total = account_total(&tree->members[i].cpu.account);

		usages_add(&sum, &total);
		certain_ns = wrapping_sum(certain_ns,
					  account_certain(&tree->members[i].cpu.account).of[USAGE_CPU_NS]);
	}
	hold_against_cgroup(tree, certain_ns, &sum);
	tree_account_publish(&tree->cpu.account, &sum);
	look_for_unseen(tree);
}

/*
 * Lists of children sometimes omit a living child, which is found later. Its use before tracking began does not count
 * either.
 */
static void forgive_if_older(const struct process_tree *tree, struct member *member)
{
	if (!member->listed && member_is_older(tree, member))
		account_forgive(&member->cpu.account);
}

/* Whether figures of the member that are not counted by its clock may have changed, and are wanted in this pass. */
static bool must_be_read(struct process_tree *tree, const struct member *member, bool ran)
{
	/*
	 * Read all whose clock has moved, and some more. A zombie's clock stands still, but it may be about to
	 * be reaped (see member_read()). The clock of a running process advances only at its next scheduler
	 * tick, so any process that may have reaped a child is read regardless of its clock. A process that
	 * shares memory may become its only user (by exec of the other) without running itself.
	 */
	bool may_differ = !ran && (member->memory.shares_memory || member->cpu.account.carries);

	if (!member->listed || member->state == 'Z' || heir_may_have(tree, member))
		return true;
	tree->cpu.turns.ran_count += may_differ;
	return (ran || member->is_behind || may_differ) && (tree->reads_all || turns_has(tree, member));
}

/* Reads members[i] if that may change a figure, and looks for its children. Returns false if it has vanished. */
static bool touch_member(struct process_tree *tree, size_t i)
{
	struct member *member = &tree->members[i];
	bool ran, was_listed = member->listed;

	account_begin(&member->cpu.account);
	ran = member_has_run(tree, member);
	if (member->vanished)
		return false;
	if (tree->count > TURNS_LARGE_TREE)
		tree->reads_all = turns_is_due(tree, member);
	member->quiet_ticks = ran ? 0 : member->quiet_ticks + 1;
	if (ran || !was_listed)
		tree->changed_ns = tree->touched_ns;
	if (must_be_read(tree, member, ran)) {
		bool was_behind = member->is_behind;

		member_read(tree, member);
		if (member->vanished)
			return false;
		forgive_if_older(tree, member);
		if (ran || was_behind || !was_listed)
			waiting_read(tree, member, false);
	} else if (ran) {
		member_pass_over(member);
	} else if (tree->reads_all) {
		member_read_memory(tree, member);
		memory_between_read_mark(tree, member, false);
	}
	if (member->quiet_ticks == QUIET_TICKS_KEPT)
		member_close(tree, member);
	if ((!tree->discovery.tried_numbers && member->quiet_ticks <= QUIET_TICKS_LISTED) || !was_listed ||
	    member->has_more || (tree->reads_all && (member->is_parent || tree->count <= TURNS_LARGE_TREE)))
		discover_below(tree, i);
	/* A child is compared with the parent that it was forked from. */
	member = &tree->members[i];
	if (member->is_behind && member->has_forked)
		member_read(tree, member);
	return !member->vanished;
}

void process_tree_touch(struct process_tree *tree)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	bool any_vanished = false;

	tree->passes++;
	tree->pass_before_ns = tree->pass_ns;
	tree->pass_ns = tree->touched_ns = now_ns;
	turns_plan(tree);
	tree->reads_all = now_ns - tree->last_full_ns >= TURNS_ANYWAY_NS;
	waiting_begin_pass(tree, now_ns);
	if (tree->reads_all)
		tree->last_full_ns = tree->changed_ns = now_ns;
	discover_above(tree);
	/* Members found on the way join the end of the table and are read in the same pass. */
	for (size_t i = 0; i < tree->count; i++) {
		if (!touch_member(tree, i))
			any_vanished = true;
	}
	/*
	 * Vanished members were not read in this pass: figures of their children may have appeared in theirs, and are
	 * passed on.
	 */
	heirs_find_above(tree);
	turns_note_oldest(tree);
	/* A parent that has not run since has not waited for its child either: it may be about to. */
	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].vanished && !tree->members[i].quiet_ticks)
			account_settle(&tree->members[i].cpu.account);
	if (any_vanished)
		sweep_gone_members(tree);
	publish_usage(tree);
	if (tree->programs)
		programs_update(tree->programs, tree);
}

static int begin_tree(struct process_tree *tree, pid_t pid, bool started_by_caller)
{
	int error;

	tree->root_pid = pid;
	include_again(tree, pid);
	tree->started_by_caller = started_by_caller;
	tree->fds_left = tree->root->live ? descriptors_to_keep() : 0;
	tree->uses_clock = tree->root->live;
	tree->discovery.knows_children =
		tree->discovery.knows_children || discovery_knows_children(tree, pid);
	tree->last_full_ns = root_monotonic_ns(tree->root);
	tree->seeded_ticks = root_boot_ticks(tree->root);
	error = process_tree_add(tree, pid);
	if (error < 0)
		return error;
	process_tree_root(tree)->listed = !tree->with_children;
	if (started_by_caller) {
		/* The numbers of its descendants follow its own. */
		process_tree_root(tree)->by_number = true;
		tree->discovery.newest_pids[0] = tree->discovery.newest_pids[1] = pid;
		tree->discovery.newest_ns = tree->last_full_ns;
		return 0;
	}
	/* Twice, because lists of children may omit one. */
	for (int i = 0; i < 2; i++)
		process_tree_touch(tree);
	if (!tree->count)
		return -ESRCH;
	for (size_t i = 0; i < tree->count; i++)
		account_forgive(&tree->members[i].cpu.account);
	tree->cpu.account.published = tree->cpu.account.retired = (struct usages){0};
	tree->exits_missed = false;
	tree->cpu.exited_faults = 0;
	return 0;
}

int process_tree_seed(struct process_tree *tree, pid_t pid, bool started_by_caller)
{
	int error = begin_tree(tree, pid, started_by_caller);

	if (!error && tree->programs)
		programs_start(tree->programs, tree);
	return error;
}

/* ---- what the caller reaps --------------------------------------------------------------------------- */

/*
 * The kernel wakes the parent while the last threads of a process still take their entries below /proc/PID/task out of its cache of
 * names. wait4(2) then waits actively for them, which may be for as long as the scheduler lets us run: 2 to 10 ms of CPU time at the end
 * of a JVM. Only entries that were looked at are in that cache, so this concerns processes whose threads are followed.
 */
static void let_threads_vanish(const struct process_tree *tree, const struct member *member)
{
	if (tree->root->live && member->cpu.threads)
		(void)nanosleep(&(struct timespec){.tv_nsec = THREADS_VANISH_NS}, NULL);
}

void process_tree_before_reap(struct process_tree *tree, pid_t pid)
{
	struct member *member = process_tree_find(tree, pid);
	int length;

	if (tree->programs)
		programs_before_reap(tree->programs);

	if (process_tree_excludes(tree, pid))
		return;
	/* A zombie's clock and stat can still be read. They give its own part, which wait4() does not separate. */
	if (member) {
		account_begin(&member->cpu.account);
		(void)member_has_run(tree, member);
		member_read(tree, member);
		member->vanished = false;
		waiting_read(tree, member, true);
		let_threads_vanish(tree, member);
	}
	length = member_read_self_io(tree, &tree->cpu.account.self_io_before);
	tree->cpu.account.has_self_io_before = length > 0;
	/* The kernel adds the bytes of this very reading afterwards. The next one must not count them as a child's. */
	if (length > 0)
		tree->cpu.account.self_io_before.of[USAGE_READ_CHARS] += length;
}

/* The kernel adds the I/O of a reaped child to that of its reaper. */
static void reaped_io(struct process_tree *tree, bool is_root, struct usages *reaped)
{
	struct usages after;

	if (!tree->cpu.account.has_self_io_before || member_read_self_io(tree, &after) < 0)
		return;
	tree->cpu.account.has_self_io_before = false;
	for (enum usage i = USAGE_READ_BYTES; i <= USAGE_WRITTEN_CHARS; i++) {
		int64_t grown = after.of[i] - tree->cpu.account.self_io_before.of[i];

		reaped->of[i] = grown > 0 ? grown : 0;
	}
	if (is_root) {
		tree->cpu.io_known = true;
		tree->cpu.io_error = 0;
	}
}

static bool descends_from(const struct process_tree *tree, const struct member *member, pid_t pid)
{
	for (size_t steps = 0; member && steps <= tree->count; steps++) {
		if (member->parent_pid == pid)
			return true;
		member = process_tree_find(tree, member->parent_pid);
	}
	return false;
}

/*
 * The caller has reaped a process that ignored SIGCHLD at its end, by its own choice or as the init of a PID namespace, which takes
 * everything below along. A descendant that has gone since the last pass was either waited for, and is in the waited-for time, or
 * the kernel has discarded it, and it is in no figures. The growth of the waited-for time distinguishes the two, as for any
 * living parent (process_account.h).
 */
static void carry_below(struct process_tree *tree, pid_t ended)
{
	for (size_t i = 0; i < tree->count; i++)
		if (descends_from(tree, &tree->members[i], ended) && member_is_gone(&tree->members[i]))
			tree->members[i].vanished = true;
	sweep_gone_members(tree);
}

/* wait4(2) adds the page faults of the children that the process waited for; its own were read when it was a zombie. */
static bool has_waited_for_none(const struct member *member, const struct usages *reaped)
{
	const struct usages *own = &member->cpu.account.own;

	return own->of[USAGE_MINOR_FAULTS] == reaped->of[USAGE_MINOR_FAULTS] &&
	       own->of[USAGE_MAJOR_FAULTS] == reaped->of[USAGE_MAJOR_FAULTS];
}

void process_tree_add_exited(struct process_tree *tree, pid_t pid, const struct rusage *usage)
{
	struct member *member = process_tree_find(tree, pid);
	struct usages reaped = usages_of_rusage(usage), unclaimed;
	bool replaces = tree->cpu.root_vanished && pid == tree->root_pid;

	if (process_tree_excludes(tree, pid))
		return;
	tree->cpu.root_vanished &= !replaces;
	reaped_io(tree, pid == tree->root_pid, &reaped);
	if (!tree->with_children) {
		/* Only the root counts, and only its own use. */
		if (pid != tree->root_pid)
			return;
		if (member || replaces)
			reaped = member ? member->cpu.account.own : tree->cpu.root_last.own;
	}
	usages_add(&tree->cpu.account.reaped, &reaped);
	if (!member) {
		if (replaces)
			account_replace(&tree->cpu.account, &tree->cpu.root_last, &reaped);
		tree->exited_count += !replaces;
		return;
	}
	if (member->tears_down || member->ignores_sigchld) {
		carry_below(tree, pid);
		member = process_tree_find(tree, pid);
	}
	for (size_t i = 0; i < tree->count; i++)
		if (tree->members[i].parent_pid == pid)
			tree->members[i].parent_reaped = !member->ignores_sigchld;
	if (has_waited_for_none(member, &reaped))
		memory_between_reaped(tree, member, usage->ru_maxrss);
	unclaimed = account_unclaimed(&member->cpu.account, &reaped);
	tree->sigchld_ignored |= member->tears_down && unclaimed.of[USAGE_CPU_NS] > 0;
	account_retire(&tree->cpu.account, &member->cpu.account, &unclaimed);
	tree->cpu.exited_faults += own_faults(member);
	if (tree->programs)
		programs_note_reaped(tree->programs, member);
	member->cpu.account = (struct account){0};
	member->vanished = true;
	sweep_gone_members(tree);
	tree->cpu.root_vanished &= pid != tree->root_pid;
}

/*
 * If a parent discards its children's figures with SA_NOCLDWAIT, or by ignoring SIGCHLD between two samples, only the
 * tree's own cgroup shows it. The cgroup also counts some microseconds of each exit, up to 1 % of a process of half a
 * millisecond.
 */
bool process_tree_lost_usage(const struct process_tree *tree)
{
	int64_t told_ns = tree->cpu.account.published.of[USAGE_CPU_NS] - tree->cpu.in_nobody_ns;

	return process_tree_running(tree) == 0 && tree->cpu.in_nobody_ns > 20 * NSEC_PER_MSEC + told_ns / 20;
}

int64_t process_tree_exits(struct process_tree *tree)
{
	int64_t exits = tree->programs ? programs_exits(tree->programs) : -1;

	if (exits >= 0)
		return exits;
	return tree->exits_missed || exits == PROGRAM_EXITS_LOST ? -1 : tree->exited_count;
}

size_t process_tree_running(const struct process_tree *tree)
{
	size_t running = 0;

	for (size_t i = 0; i < tree->count; i++)
		running += !tree->members[i].is_zombie;
	return running;
}

bool process_tree_any_ran(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].quiet_ticks)
			return true;
	return false;
}

const char *process_tree_cpu_source(const struct process_tree *tree)
{
	return tree->cgroup_folder >= 0 ? "cgroup" : tree->uses_clock ? "clock" : "stat";
}
