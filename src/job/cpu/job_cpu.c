/* The CPU time, the page faults and the I/O of a job. See job_cpu.h. */
#include "job/cpu/job_cpu.h"

#include <time.h>

#include "base/clock.h"
#include "base/runs_once.h"
#include "job/cpu/cpu_tuning.h"
#include "job/cpu/process_heir.h"
#include "job/cpu/process_turns.h"
#include "job/cpu/process_waiting.h"
#include "job/tree/process_files.h"
#include "kernel/cgroup_v2.h"
#include "metric/absent.h"

RUNS_ONCE void cpu_open(struct process_tree *tree)
{
	tree->cpu.cgroup_cpu_fd = -1;
	tree->cpu.self_io_file = KEPT_FILE("proc/self/io");
}

RUNS_ONCE void cpu_done(struct process_tree *tree)
{
	kept_file_close(&tree->cpu.self_io_file);
	kept_file_close(&(struct kept_file){NULL, tree->cpu.cgroup_cpu_fd});
}

void cpu_set_own_cost(struct process_tree *tree, const struct own_cost *own_cost)
{
	tree->cpu.own_cost = own_cost;
}

/* ---- a pass ---------------------------------------------------------------------------------------------- */

void cpu_begin_pass(struct process_tree *tree)
{
	turns_plan(tree);
	waiting_begin_pass(tree, tree->pass_ns);
}

/* Page faults are exact counts, and each process has some: a parent that was told those of a child was told its time, too. */
static void note_lost_children(struct process_tree *tree, const struct usages *untold)
{
	tree->cpu.lacks_children |= untold->of[USAGE_MINOR_FAULTS] > 0;
}

void cpu_end_readings(struct process_tree *tree)
{
	heirs_find_above(tree);
	turns_note_oldest(tree);
	/* A parent that has not run since has not waited for its child either: it may be about to. */
	for (size_t i = 0; i < tree->count; i++) {
		struct account *account = &tree->members[i].cpu.account;

		if (tree->members[i].vanished || tree->members[i].quiet_ticks)
			continue;
		account_settle(account);
		note_lost_children(tree, &account->settled);
	}
}

void cpu_pass_on(struct process_tree *tree)
{
	tree->cpu.watches++;
	/* Children first: a parent that vanished as well passes their figures on with its own. */
	for (size_t i = tree->count; i-- > 0;)
		if (tree->members[i].vanished)
			heir_take(tree, &tree->members[i]);
	heirs_find_above(tree);
}

static int64_t own_faults(const struct member *member)
{
	return member->cpu.account.own.of[USAGE_MINOR_FAULTS] -
	       member->cpu.account.own_before.of[USAGE_MINOR_FAULTS];
}

void cpu_member_left(struct process_tree *tree, const struct member *member)
{
	if (member->pid == tree->root_pid && !member->cpu.is_reaped) {
		tree->cpu.root_vanished = true;
		tree->cpu.root_last = member->cpu.account;
	}
	tree->cpu.exited_faults += own_faults(member);
}

/* The part of a cgroup's time that was in user mode. 0: the kernel does not tell it. */
SELDOM static double user_share(const struct cgroup_v2_cpu_stat *stat)
{
	return (double)max_i64(stat->user_usec, 0) / (double)max_i64(stat->usage_usec, 1);
}

/*
 * A cgroup that holds only the tree also counts CPU time that is in no process's figures: children of a parent that ignores
 * SIGCHLD. It does not count processes that left it, which only a job with the permission to write other cgroups can do (a
 * container runtime, systemd-run). So the larger of two sums is right: that of the cgroup, and that of living processes and
 * wait4(2) (`certain_ns`). The cgroup is read last, so without such processes it has counted all that they have. The carried and
 * the settled parts are estimates, which are up to two ticks too high for each process, and never take the total above both.
 */
SELDOM static void hold_against_cgroup(struct process_tree *tree, int64_t certain_ns, struct usages *members)
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
	members->of[USAGE_UTIME_NS] =
		wrapping_sum(members->of[USAGE_UTIME_NS],
			     count_of_real((double)max_i64(missing_ns, 0) * user_share(&stat)));
}

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
		tree->cpu.exits_missed = true;
}

void cpu_end_pass(struct process_tree *tree)
{
	int64_t certain_ns = tree->cpu.account.reaped.of[USAGE_CPU_NS];
	struct usages sum = {0};

	for (size_t i = 0; i < tree->count; i++) {
		struct usages total = account_total(&tree->members[i].cpu.account);

		usages_add(&sum, &total);
		certain_ns = wrapping_sum(certain_ns,
					  account_certain(&tree->members[i].cpu.account, USAGE_CPU_NS));
	}
	hold_against_cgroup(tree, certain_ns, &sum);
	tree_account_publish(&tree->cpu.account, &sum);
	look_for_unseen(tree);
}

/* ---- beginning ------------------------------------------------------------------------------------------- */

void cpu_forgive_member(struct member *member)
{
	account_forgive(&member->cpu.account);
}

RUNS_ONCE void cpu_forgive(struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		cpu_forgive_member(&tree->members[i]);
	tree->cpu.account.published = tree->cpu.account.retired = (struct usages){0};
	tree->cpu.exits_missed = false;
	tree->cpu.exited_faults = 0;
}

/* ---- processes that the caller reaps ------------------------------------------------------------------------- */

/*
 * The kernel wakes the parent while the last threads of a process still take their entries below /proc/PID/task out of its cache of
 * names. wait4(2) then waits actively for them, which may be for as long as the scheduler lets us run: 2 to 10 ms of CPU time at the end
 * of a JVM. Only entries that were looked at are in that cache, so this concerns processes whose threads are followed.
 */
SELDOM static void let_threads_vanish(const struct process_tree *tree, const struct member *member)
{
	if (tree->root->live && member->cpu.threads)
		(void)nanosleep(&(struct timespec){.tv_nsec = THREADS_VANISH_NS}, NULL);
}

SELDOM void cpu_before_reap(struct process_tree *tree, struct member *member)
{
	struct tree_account *account = &tree->cpu.account;
	int length;

	if (member) {
		waiting_read(tree, member, true);
		let_threads_vanish(tree, member);
	}
	length = own_cost_read_io(tree->root, &tree->cpu.self_io_file, &account->self_io_before);
	account->has_self_io_before = length > 0;
	/* The kernel adds the bytes of this very reading afterwards. The next one must not count them as a child's. */
	if (account->has_self_io_before)
		account->self_io_before.of[USAGE_READ_CHARS] += length;
}

/* The kernel adds the I/O of a reaped child to that of its reaper. */
SELDOM static void add_reaped_io(struct process_tree *tree, bool is_root, struct usages *reaped)
{
	struct usages after;

	if (!tree->cpu.account.has_self_io_before ||
	    own_cost_read_io(tree->root, &tree->cpu.self_io_file, &after) < 0)
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

/* The least that wait4(2) will tell of the root, which a pass has found gone. Less, if another process waited for its children. */
SELDOM static int64_t expected_ns(const struct job_cpu *cpu)
{
	return account_to_be_told(&cpu->root_last, USAGE_CPU_NS) +
	       account_to_be_told(&cpu->root_children, USAGE_CPU_NS);
}

/* The figures of the root have those of its last children, as used before tracking, too. */
SELDOM static void drop_root_children(struct job_cpu *cpu)
{
	usages_subtract(&cpu->account.retired, &cpu->root_children.carried);
	usages_subtract(&cpu->account.retired, &cpu->root_children.owed);
	cpu->root_children = (struct account){0};
}

SELDOM bool cpu_add_reaped(struct process_tree *tree, pid_t pid, const struct member *member,
			   const struct rusage *usage, struct usages *ret_reaped)
{
	struct job_cpu *cpu = &tree->cpu;
	bool is_root = pid == tree->root_pid, replaces = cpu->root_vanished && is_root;
	struct usages reaped = usages_of_rusage(usage);

	cpu->root_vanished &= !replaces;
	add_reaped_io(tree, is_root, &reaped);
	/* Only the root counts, and only its own use. */
	if (!tree->with_children && !is_root)
		return false;
	if (!tree->with_children && (member || replaces))
		reaped = member ? member->cpu.account.own : cpu->root_last.own;
	usages_add(&cpu->account.reaped, &reaped);
	if (!member && replaces) {
		account_replace(&cpu->account, &cpu->root_last, &reaped);
		if (reaped.of[USAGE_CPU_NS] >= expected_ns(cpu) - CPU_TOLERANCE_NS)
			drop_root_children(cpu);
	}
	*ret_reaped = reaped;
	return true;
}

/* Less than a tick is due to the kernel's rounding. A parent that ignores SIGCHLD is told nothing. */
SELDOM void cpu_root_was_waited_for(struct process_tree *tree, const struct rusage *usage)
{
	struct usages told = usages_of_rusage(usage);
	int64_t missing = told.of[USAGE_CPU_NS] - expected_ns(&tree->cpu);

	if (missing < CPU_TOLERANCE_NS / 2) {
		tree->cpu.root_vanished = missing < -CPU_TOLERANCE_NS;
		return;
	}
	(void)cpu_add_reaped(tree, tree->root_pid, NULL, usage, &told);
	cpu_end_pass(tree);
}

/* wait4(2) adds the page faults of the children that the process waited for; its own were read when it was a zombie. */
bool cpu_has_waited_for_none(const struct member *member, const struct usages *reaped)
{
	const struct usages *own = &member->cpu.account.own;

	return own->of[USAGE_MINOR_FAULTS] == reaped->of[USAGE_MINOR_FAULTS] &&
	       own->of[USAGE_MAJOR_FAULTS] == reaped->of[USAGE_MAJOR_FAULTS];
}

SELDOM bool cpu_has_faults(const struct member *member)
{
	return member->cpu.account.own.of[USAGE_MINOR_FAULTS] > 0;
}

SELDOM bool cpu_retire(struct process_tree *tree, struct member *member, const struct usages *reaped)
{
	struct usages unclaimed = account_unclaimed(&member->cpu.account, reaped);

	account_retire(&tree->cpu.account, &member->cpu.account, &unclaimed);
	tree->cpu.exited_faults += own_faults(member);
	note_lost_children(tree, &unclaimed);
	member->cpu.account = (struct account){0};
	member->cpu.is_reaped = true;
	return unclaimed.of[USAGE_CPU_NS] > 0;
}

/* ---- views ------------------------------------------------------------------------------------------------- */

void cpu_raise(struct process_tree *tree, int64_t cpu_ns)
{
	tree_account_raise(&tree->cpu.account, cpu_ns);
}

/*
 * If a parent discards its children's figures with SA_NOCLDWAIT, or by ignoring SIGCHLD between two samples, only the
 * tree's own cgroup shows it.
 */
bool cpu_has_lost_usage(const struct process_tree *tree)
{
	int64_t told_ns = tree->cpu.account.published.of[USAGE_CPU_NS] - tree->cpu.in_nobody_ns;

	return process_tree_running(tree) == 0 && tree->cpu.in_nobody_ns > LOST_LEAST_NS + told_ns / 20;
}

SELDOM bool cpu_may_lack_children(const struct process_tree *tree)
{
	const struct account *last = &tree->cpu.root_last;

	if (tree->cgroup_folder >= 0)
		return false;
	if (tree->cpu.lacks_children || tree->sigchld_ignored)
		return true;
	return tree->cpu.root_vanished &&
	       (last->carries ||
		last->waited.of[USAGE_MINOR_FAULTS] + last->own_before.of[USAGE_MINOR_FAULTS] !=
			last->before.of[USAGE_MINOR_FAULTS]);
}

const char *cpu_source(const struct process_tree *tree)
{
	return tree->cgroup_folder >= 0 ? "cgroup" : tree->uses_clock ? "clock" : "stat";
}
