/* One pass over the members of a job. See pass.h. */
#include "job/pass.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "job/cpu/cpu_tuning.h"
#include "job/cpu/job_cpu.h"
#include "job/cpu/process_heir.h"
#include "job/cpu/process_turns.h"
#include "job/cpu/process_waiting.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_reading.h"
#include "job/memory/memory_size.h"
#include "job/new_members.h"
#include "job/programs/programs.h"
#include "job/tree/process_files.h"
#include "job/tree/tree_tuning.h"
#include "kernel/proc_pid_status.h"

/* A bit of a mask of signals. */
enum { SIGCHLD_BIT = 1 << (17 - 1) };

SELDOM static void member_done(struct process_tree *tree, struct member *member)
{
	member_close_files(tree, member);
	waiting_member_done(tree, member);
	memory_reading_free(member->memory.reading);
}

RUNS_ONCE int process_tree_new(struct root *root, bool with_children, struct process_tree **ret_tree)
{
	struct process_tree *tree = calloc(1, sizeof *tree);

	if (!tree)
		return -ENOMEM;
	tree->root = root;
	tree->with_children = with_children;
	tree->cgroup_folder = -1;
	discovery_open(tree);
	cpu_open(tree);
	memory_open(tree);
	*ret_tree = tree;
	return 0;
}

RUNS_ONCE void process_tree_free(struct process_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++)
		member_done(tree, &tree->members[i]);
	discovery_done(tree);
	cpu_done(tree);
	programs_free(tree->programs);
	free(tree->members);
	free(tree->slots);
	free(tree->excluded);
	free(tree);
}

void process_tree_set_cgroup(struct process_tree *tree, int folder, bool has_memory)
{
	tree->cgroup_folder = folder;
	memory_set_cgroup(tree, has_memory);
}

/* ---- one member -------------------------------------------------------------------------------------------- */

/*
 * While a process is reaped, the kernel adds its figures to its parent's before it removes the process. In
 * between, both have them. The state of the process is then X, and it counts as gone. A state other than X that is
 * read after the parent's figures proves that they do not include it yet.
 */
static bool is_being_reaped(const struct proc_pid_stat *stat)
{
	return stat->state == 'X' || stat->state == 'x';
}

SELDOM static bool is_namespace_init(struct process_tree *tree, const struct member *member)
{
	struct proc_pid_status status;

	if (read_proc_pid_status(tree->root, member->pid, &status) < 0)
		return false;
	/* Linux before 4.1 has no NSpid. A process that we saw waiting for children hardly changes its signals at its end. */
	if (!status.namespace_pid_count)
		return member->listed;
	return status.namespace_pid_count > 1 && status.namespace_pids[status.namespace_pid_count - 1] == 1;
}

/*
 * When the init of a PID namespace exits, it kills all other processes of the namespace, and the kernel then sets
 * SIGCHLD to ignored for it. That does not affect children that it has waited for earlier. A process that ignored
 * SIGCHLD before it began to exit did so by its own choice.
 */
static void note_sigchld(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	bool ignored = stat->ignored_signals > 0 && stat->ignored_signals & SIGCHLD_BIT;

	if (ignored && proc_pid_stat_is_exiting(stat) && !member->ignores_sigchld && !member->tears_down)
		member->tears_down = is_namespace_init(tree, member);
	if (member->tears_down)
		return;
	member->ignores_sigchld = ignored;
	tree->sigchld_ignored |= ignored;
}

/* Reads all figures of a member again. Marks it vanished if its process has gone or another process has its pid. */
static void read_all_of_member(struct process_tree *tree, struct member *member)
{
	bool first = !member->listed;
	struct proc_pid_stat stat;
	int error;

	member->is_behind = member->has_forked = false;
	member->read_ns = tree->touched_ns;
	cpu_begin_reading(tree, member);
	error = member_read_stat(tree, member, &stat);
	if (error == -EACCES || error == -EPERM) {
		member->unreadable = true;
		return;
	}
	if (error < 0 || stat.start_ticks != member->start_ticks || is_being_reaped(&stat)) {
		member->vanished = true;
		return;
	}
	if (member->parent_pid != stat.parent_pid)
		member->parent_reaped = member->is_untold = false;
	member->parent_pid = stat.parent_pid;
	member->state = stat.state;
	member->is_zombie = stat.state == 'Z' && stat.thread_count <= 1;
	member->is_ending = proc_pid_stat_is_exiting(&stat) && stat.thread_count <= 1;
	member->thread_count = max_i64(0, max_i64(0, stat.thread_count) - cpu_own_threads(tree, member));
	note_sigchld(tree, member, &stat);
	programs_read_member(member, &stat);
	error = cpu_read_member(tree, member, &stat);
	member->unreadable = error < 0 && error != -ESRCH && error != -ENOENT;
	memory_read_member(tree, member, &stat, first);
}

/*
 * Lists of children sometimes omit a living child, which is found later. Its use before tracking began does not count
 * either.
 */
static void forgive_if_older(const struct process_tree *tree, struct member *member)
{
	if (!member->listed && member_is_older(tree, member))
		cpu_forgive_member(member);
}

/* Whether figures of the member that are not counted by its clock may have changed, and are wanted in this pass. */
static bool must_be_read(struct process_tree *tree, const struct member *member, bool ran)
{
	/*
	 * Read all whose clock has moved, and some more. A zombie's clock stands still, but it may be about to
	 * be reaped (see read_all_of_member()). The clock of a running process advances only at its next scheduler
	 * tick, so any process that may have reaped a child is read regardless of its clock. A process that
	 * shares memory may become its only user (by exec of the other) without running itself.
	 */
	bool may_differ = !ran && (member->memory.shared_with || member->cpu.account.carries);

	if (!member->listed || member->state == 'Z' || heir_may_have(tree, member))
		return true;
	if (may_differ)
		turns_note_asking(tree);
	return (ran || member->is_behind || may_differ) && (tree->reads_all || turns_has(tree, member));
}

/* Closes what is kept open for a member that rarely runs, but not its size, which others change: to read it takes 3 us, and 8 if opened. */
static void close_member(struct process_tree *tree, struct member *member)
{
	for (enum member_file i = 0; i < MEMBER_FILES; i++)
		if (i != FILE_STATM)
			member_close_kept(tree, &member->files[i]);
	waiting_close(tree, member);
}

/* Reads members[i] if that may change a figure, and looks for its children. Returns false if it has vanished. */
static bool touch_member(struct process_tree *tree, size_t i)
{
	struct member *member = &tree->members[i];
	bool ran, was_listed = member->listed;

	ran = cpu_begin_member(tree, member);
	member->vanished = cpu_saw_it_gone(tree, member);
	if (member->vanished)
		return false;
	if (tree->count > TURNS_LARGE_TREE)
		tree->reads_all = turns_is_due(tree, member);
	member->quiet_ticks = ran ? 0 : member->quiet_ticks + 1;
	if (ran || !was_listed)
		tree->changed_ns = tree->touched_ns;
	if (must_be_read(tree, member, ran)) {
		bool was_behind = member->is_behind;

		read_all_of_member(tree, member);
		if (member->vanished)
			return false;
		forgive_if_older(tree, member);
		if (ran || was_behind || !was_listed)
			waiting_read(tree, member, false);
	} else if (ran) {
		cpu_pass_over(member);
		member->is_behind = true;
	} else if (tree->reads_all) {
		memory_read_size(tree, member);
		memory_between_read_mark(tree, member, false);
	}
	if (member->quiet_ticks == TREE_QUIET_PASSES_KEPT)
		close_member(tree, member);
	if ((!tree->discovery.tried_numbers && member->quiet_ticks <= TREE_QUIET_PASSES_LISTED) ||
	    !was_listed || member->has_more ||
	    (tree->reads_all && (member->is_parent || tree->count <= TURNS_LARGE_TREE)))
		discover_below(tree, i);
	/* A child is compared with the parent that it was forked from. */
	member = &tree->members[i];
	if (member->is_behind && member->has_forked)
		read_all_of_member(tree, member);
	return !member->vanished;
}

/* ---- members that have gone -------------------------------------------------------------------------- */

SELDOM static void remove_vanished(struct process_tree *tree)
{
	discover_new_parents(tree);
	cpu_pass_on(tree);
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		if (!member->vanished)
			continue;
		tree->root_gone |= member->pid == tree->root_pid;
		tree->exited_count++;
		cpu_member_left(tree, member);
		memory_member_left(tree, member);
		member_done(tree, member);
	}
	process_tree_drop_vanished(tree);
}

/* ---- a pass ------------------------------------------------------------------------------------------ */

void process_tree_touch(struct process_tree *tree)
{
	bool any_vanished = false;

	tree->passes++;
	tree->pass_before_ns = tree->pass_ns;
	tree->pass_ns = tree->touched_ns = root_monotonic_ns(tree->root);
	tree->reads_all = tree->pass_ns - tree->last_full_ns >= TREE_READ_ANYWAY_NS;
	if (tree->reads_all)
		tree->last_full_ns = tree->changed_ns = tree->pass_ns;
	cpu_begin_pass(tree);
	discover_above(tree);
	/* Members found on the way join the end of the table and are read in the same pass. */
	for (size_t i = 0; i < tree->count; i++)
		any_vanished |= !touch_member(tree, i);
	cpu_end_readings(tree);
	if (any_vanished)
		remove_vanished(tree);
	cpu_end_pass(tree);
	if (tree->programs)
		programs_end_pass(tree->programs, tree);
}

void process_tree_finish(struct process_tree *tree)
{
	if (tree->programs)
		programs_finish(tree->programs);
	tree->is_last_pass = true;
}

bool process_tree_look(struct process_tree *tree)
{
	size_t known = tree->count;
	bool any_ran = false;

	if (!tree->uses_clock) {
		process_tree_touch(tree);
		return tree->changed_ns >= tree->touched_ns;
	}
	tree->touched_ns = root_monotonic_ns(tree->root);
	tree->reads_all = false;
	discover_above(tree);
	for (size_t i = 0; i < tree->count; i++) {
		if (!cpu_has_run_since_look(tree, &tree->members[i]))
			continue;
		any_ran = true;
		discover_below_early(tree, i);
	}
	for (size_t i = known; i < tree->count; i++)
		tree->members[i].seen_pass = tree->passes + 1;
	if (any_ran)
		tree->changed_ns = tree->touched_ns;
	return any_ran;
}

/* In a PID namespace without a /proc of its own, the numbers there are those of strangers. */
static RUNS_ONCE bool proc_has_our_pid(const struct root *root)
{
	char link[16];
	ssize_t length = readlinkat(root->proc_fd, "self", link, sizeof link);
	struct scan text = scan_bytes(link, length > 0 ? (size_t)length : 0);
	uint64_t pid;

	return scan_u64(&text, &pid) && pid == (uint64_t)getpid();
}

RUNS_ONCE static int begin_tree(struct process_tree *tree, pid_t pid, bool started_by_caller)
{
	int error;

	tree->root_pid = pid;
	tree->started_by_caller = started_by_caller;
	if (started_by_caller)
		memory_between_begin(tree);
	tree->fds_left = tree->root->live ? descriptors_to_keep() : 0;
	tree->uses_clock = tree->root->live;
	tree->last_full_ns = root_monotonic_ns(tree->root);
	tree->seeded_ticks = root_boot_ticks(tree->root);
	process_tree_include(tree, pid);
	error = tree->root->live && !proc_has_our_pid(tree->root) ? -EXDEV : discover_root(tree, pid);
	if (error < 0 || started_by_caller)
		return error;
	/* Twice, because lists of children may omit one. */
	for (int i = 0; i < 2; i++)
		process_tree_touch(tree);
	if (!tree->count)
		return -ESRCH;
	cpu_forgive(tree);
	return 0;
}

RUNS_ONCE int process_tree_seed(struct process_tree *tree, pid_t pid, bool started_by_caller)
{
	int error = begin_tree(tree, pid, started_by_caller);

	if (!error && tree->programs)
		programs_start(tree->programs, tree);
	return error;
}

/* ---- what the caller reaps --------------------------------------------------------------------------- */

SELDOM void process_tree_before_reap(struct process_tree *tree, pid_t pid)
{
	struct member *member = process_tree_find(tree, pid);

	if (tree->programs)
		programs_before_reap(tree->programs);
	if (process_tree_excludes(tree, pid))
		return;
	/* A zombie's clock and stat can still be read. They give its own part, which wait4() does not separate. */
	if (member) {
		(void)cpu_begin_member(tree, member);
		read_all_of_member(tree, member);
		member->vanished = false;
	}
	cpu_before_reap(tree, member);
}

SELDOM static bool descends_from(const struct process_tree *tree, const struct member *member, pid_t pid)
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
SELDOM static void carry_below(struct process_tree *tree, pid_t ended)
{
	for (size_t i = 0; i < tree->count; i++)
		if (descends_from(tree, &tree->members[i], ended) &&
		    process_clock_ns(tree->members[i].pid) < 0)
			tree->members[i].vanished = true;
	remove_vanished(tree);
}

SELDOM void process_tree_add_exited(struct process_tree *tree, pid_t pid, const struct rusage *usage)
{
	struct member *member = process_tree_find(tree, pid);
	bool was_counted = tree->cpu.root_vanished && pid == tree->root_pid;
	struct usages reaped;
	bool has_waited_for_none;

	if (process_tree_excludes(tree, pid) || !cpu_add_reaped(tree, pid, member, usage, &reaped))
		return;
	if (!member) {
		tree->exited_count += !was_counted;
		return;
	}
	if (member->tears_down || member->ignores_sigchld) {
		carry_below(tree, pid);
		member = process_tree_find(tree, pid);
	}
	has_waited_for_none = cpu_has_waited_for_none(member, &reaped);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->members[i].parent_pid == pid) {
			tree->members[i].is_untold = has_waited_for_none && cpu_has_faults(&tree->members[i]);
			tree->members[i].parent_reaped =
				!member->ignores_sigchld && !tree->members[i].is_untold;
		}
	if (has_waited_for_none)
		memory_between_reaped(tree, member, usage->ru_maxrss);
	if (tree->programs)
		programs_note_reaped(tree->programs, member);
	if (cpu_retire(tree, member, &reaped))
		tree->sigchld_ignored |= member->tears_down;
	member->vanished = true;
	remove_vanished(tree);
}
