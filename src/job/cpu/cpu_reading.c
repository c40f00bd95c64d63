/* The CPU time, the page faults and the I/O of one member. See cpu_reading.h. */
#include "job/cpu/cpu_reading.h"

#include <errno.h>

#include "base/clock.h"
#include "job/tree/process_files.h"
#include "kernel/proc_pid_io.h"

/* Whether the root of the tree is the program in which this code runs. Its figures include the tracker's part. */
static bool is_around_us(const struct process_tree *tree, const struct member *member)
{
	return tree->cpu.own_cost && member->pid == tree->root_pid;
}

/* It is unknown once the process has gone, and on some kernels. */
static bool is_known_clock(int64_t clock_ns)
{
	return clock_ns >= 0;
}

static int64_t member_clock_ns(const struct process_tree *tree, const struct member *member)
{
	int64_t clock_ns = process_clock_ns(member->pid);

	return is_known_clock(clock_ns) && is_around_us(tree, member)
		       ? clock_ns - own_cost_cpu_ns(tree->cpu.own_cost)
		       : clock_ns;
}

bool cpu_has_run_since_look(const struct process_tree *tree, struct member *member)
{
	int64_t before_ns = member->cpu.looked_ns;

	member->cpu.looked_ns = member_clock_ns(tree, member);
	return is_known_clock(member->cpu.looked_ns) && member->cpu.looked_ns != before_ns;
}

bool cpu_begin_member(struct process_tree *tree, struct member *member)
{
	int64_t clock_ns;

	account_begin(&member->cpu.account);
	if (!tree->uses_clock)
		return true;
	clock_ns = member_clock_ns(tree, member);
	member->cpu.looked_ns = clock_ns;
	if (!is_known_clock(clock_ns) || clock_ns == member->cpu.clock_ns)
		return false;
	member->cpu.ran_ns = !is_known_clock(member->cpu.clock_ns) || clock_ns < member->cpu.clock_ns
				     ? INT64_MAX
				     : clock_ns - member->cpu.clock_ns;
	if (member->cpu.ran_ns != INT64_MAX) {
		tree->cpu.turns.ran_count++;
		tree->cpu.turns.ran_ns += member->cpu.ran_ns;
	}
	/* A clock that has gone back belongs to a new process with the same pid. Its stat file will show that. */
	member->cpu.clock_ns = clock_ns;
	return true;
}

static int64_t ticks_ns(const struct process_tree *tree, int64_t ticks)
{
	return usage_at_most(ticks, USAGE_TICKS_MOST) * (NSEC_PER_SEC / tree->root->clock_ticks);
}

/* The user part of `total_ns`: whole ticks as the kernel splits them, the rest in the same proportion. */
static int64_t user_part(const struct process_tree *tree, const struct proc_pid_stat *stat, int64_t total_ns)
{
	int64_t user_ns = ticks_ns(tree, stat->utime_ticks), system_ns = ticks_ns(tree, stat->stime_ticks);
	int64_t rest_ns = total_ns - user_ns - system_ns;

	if (rest_ns <= 0)
		return user_ns < total_ns ? user_ns : total_ns;
	if (user_ns + system_ns == 0)
		return rest_ns / 2;
	return user_ns + (int64_t)((double)rest_ns * (double)user_ns / (double)(user_ns + system_ns));
}

static void account_stat(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	struct account *account = &member->cpu.account;
	int64_t ticked_ns = ticks_ns(tree, stat->utime_ticks) + ticks_ns(tree, stat->stime_ticks);

	account->own.of[USAGE_CPU_NS] =
		tree->uses_clock && is_known_clock(member->cpu.clock_ns) ? member->cpu.clock_ns : ticked_ns;
	account->own.of[USAGE_UTIME_NS] = user_part(tree, stat, account->own.of[USAGE_CPU_NS]);
	account->own.of[USAGE_MINOR_FAULTS] = usage_at_most(stat->minor_faults, USAGE_FAULTS_MOST);
	account->own.of[USAGE_MAJOR_FAULTS] = usage_at_most(stat->major_faults, USAGE_FAULTS_MOST);
	if (tree->with_children) {
		account->waited.of[USAGE_UTIME_NS] = ticks_ns(tree, stat->waited_utime_ticks);
		account->waited.of[USAGE_CPU_NS] =
			account->waited.of[USAGE_UTIME_NS] + ticks_ns(tree, stat->waited_stime_ticks);
		account->waited.of[USAGE_MINOR_FAULTS] =
			usage_at_most(stat->waited_minor_faults, USAGE_FAULTS_MOST);
		account->waited.of[USAGE_MAJOR_FAULTS] =
			usage_at_most(stat->waited_major_faults, USAGE_FAULTS_MOST);
	}
	for (enum usage i = USAGE_CPU_NS; i <= USAGE_MAJOR_FAULTS; i++)
		account->appears.of[i] = account->waited.of[i];
}

static int read_io(struct process_tree *tree, struct member *member)
{
	ssize_t length = member_read_file(tree, member, FILE_IO);
	struct usages read = {0};
	struct proc_pid_io io;

	if (length < 0)
		return (int)length;
	if (parse_proc_pid_io(tree->root->text.data, (size_t)length, &io) < 0)
		return -EBADMSG;
	usages_of_io(&io, &read);
	for (enum usage i = USAGE_READ_BYTES; i <= USAGE_WRITTEN_CHARS; i++) {
		member->cpu.account.own.of[i] = read.of[i];
		member->cpu.account.appears.of[i] = read.of[i];
	}
	return 0;
}

/* Subtracts the tracker's part (read just before) from the kernel's totals of the process. */
static void take_own_cost_out(const struct process_tree *tree, struct member *member,
			      const struct proc_pid_stat *stat, const struct usages *cost)
{
	struct usages *own = &member->cpu.account.own;
	int64_t cpu_ns = own->of[USAGE_CPU_NS];

	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++) {
		own->of[i] = max_i64(0, own->of[i] - cost->of[i]);
		if (i >= USAGE_READ_BYTES)
			member->cpu.account.appears.of[i] = own->of[i];
	}
	/* The clock already excludes the tracker's part, but the kernel's split includes it. */
	own->of[USAGE_UTIME_NS] =
		max_i64(0, user_part(tree, stat, cpu_ns + own_cost_cpu_ns(tree->cpu.own_cost)) -
				   cost->of[USAGE_UTIME_NS]);
	if (own->of[USAGE_UTIME_NS] > cpu_ns)
		own->of[USAGE_UTIME_NS] = cpu_ns;
}

/*
 * Without the root's I/O, a sum over the others has no meaning. A file that becomes unreadable later (a zombie's) is
 * another matter.
 */
static void note_io(struct process_tree *tree, const struct member *member, int error)
{
	if (member->pid != tree->root_pid)
		return;
	tree->cpu.io_known |= !error;
	tree->cpu.io_error = tree->cpu.io_known ? 0 : -error;
}

void cpu_pass_over(struct member *member)
{
	struct usages *own = &member->cpu.account.own;

	own->of[USAGE_UTIME_NS] += (int64_t)((double)member->cpu.ran_ns * (double)own->of[USAGE_UTIME_NS] /
					     (double)max_i64(own->of[USAGE_CPU_NS], 1));
	own->of[USAGE_CPU_NS] = member->cpu.clock_ns;
}

int64_t cpu_own_threads(const struct process_tree *tree, const struct member *member)
{
	return is_around_us(tree, member) ? tree->cpu.own_cost->threads : 0;
}

void cpu_begin_reading(struct process_tree *tree, const struct member *member)
{
	tree->cpu.waiting.offered_pid = 0;
	if (is_around_us(tree, member))
		tree->cpu.own_rest = own_cost_rest(tree->cpu.own_cost, tree->root);
}

int cpu_read_member(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	int error;

	account_stat(tree, member, stat);
	error = read_io(tree, member);
	note_io(tree, member, error);
	if (is_around_us(tree, member))
		take_own_cost_out(tree, member, stat, &tree->cpu.own_rest);
	return error;
}
