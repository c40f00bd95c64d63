/* Follows how long the threads of a tree wait for a CPU. See process_waiting.h. */
#include "job/cpu/process_waiting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/runs_once.h"
#include "job/cpu/cpu_tuning.h"
#include "job/tree/process_files.h"
#include "kernel/proc_pid_schedstat.h"
#include "kernel/proc_pid_status.h"

enum { NAME_SIZE = 64 };

static int64_t refill_allowance(int64_t left, int64_t a_second, int64_t elapsed_ns)
{
	int64_t earned = min_i64(elapsed_ns, WAITING_SECONDS_SAVED * NSEC_PER_SEC) * a_second;

	left += earned / NSEC_PER_SEC + (earned % NSEC_PER_SEC != 0);
	return min_i64(left, a_second * WAITING_SECONDS_SAVED);
}

void waiting_follow(struct process_tree *tree, bool is_followed)
{
	tree->cpu.waiting.is_followed = is_followed;
}

void waiting_begin_pass(struct process_tree *tree, int64_t now_ns)
{
	struct tree_waiting *waiting = &tree->cpu.waiting;
	int64_t elapsed_ns = waiting->pass_ns ? now_ns - waiting->pass_ns : NSEC_PER_SEC;

	waiting->budget.threads =
		refill_allowance(waiting->budget.threads, WAITING_THREADS_A_SECOND, elapsed_ns);
	waiting->budget.switches =
		refill_allowance(waiting->budget.switches, WAITING_SWITCHES_A_SECOND, elapsed_ns);
	waiting->asked_last = waiting->asked;
	if (tree->is_last_pass) {
		waiting->budget = (struct reading_budget){.threads = WAITING_THREADS_MOST,
							  .switches = WAITING_THREADS_MOST};
		waiting->asked_last = 0;
	}
	waiting->asked = 0;
	waiting->began_ns = waiting->began_ns ? waiting->began_ns : now_ns;
	waiting->pass_ns = now_ns;
}

/*
 * Adds the growth of a counter. One that went back belongs to another thread with the same number, and one that grew by more than
 * `most` tells nothing.
 */
static void add_growth(int64_t *total, int64_t *last, int64_t now, int64_t most)
{
	if (now > *last && now - *last <= most)
		*total += now - *last;
	*last = now;
}

/*
 * A thread waits no longer than the time that has passed. Linux 6.12 and later may count a whole sleep as waiting. A process that slept when
 * it was last read has waited for less than the time since then, and no thread waits for minutes.
 */
static int64_t longest_wait_ns(const struct followed_thread *thread, int64_t passed_ns)
{
	if (thread->was_asleep)
		return passed_ns + WAITING_PASS_NS;
	passed_ns += NSEC_PER_SEC;
	return thread->is_main ? passed_ns : min_i64(passed_ns, WAITING_LONGEST_NS);
}

static void follow_times(struct process_tree *tree, struct followed_thread *thread, size_t length)
{
	struct tree_waiting *waiting = &tree->cpu.waiting;
	int64_t passed_ns = waiting->pass_ns - (thread->has_times ? thread->read_ns : waiting->began_ns);
	bool counts = thread->has_times || !thread->is_older;
	struct proc_pid_schedstat now;
	int error = parse_proc_pid_schedstat(tree->root->text.data, length, &now);

	if (error < 0) {
		waiting->error = -error;
		return;
	}
	if (!thread->has_times || now.turns != thread->turns || now.run_ns != thread->last.run_ns)
		thread->ran_ns = waiting->pass_ns;
	thread->read_ns = waiting->pass_ns;
	add_growth(&waiting->total.run_ns, &thread->last.run_ns, now.run_ns,
		   counts ? passed_ns + NSEC_PER_SEC : -1);
	add_growth(&waiting->total.wait_ns, &thread->last.wait_ns, now.wait_ns,
		   counts ? longest_wait_ns(thread, passed_ns) : -1);
	thread->turns = now.turns;
	thread->has_times = waiting->has_times = true;
}

static void count_switches(struct tree_waiting *waiting, struct followed_thread *thread, int64_t voluntary,
			   int64_t involuntary)
{
	int64_t most = thread->has_switches || !thread->is_older ? WAITING_SWITCHES_MOST : -1;

	if (voluntary < 0 || involuntary < 0)
		return;
	add_growth(&waiting->total.voluntary, &thread->last.voluntary, voluntary, most);
	add_growth(&waiting->total.involuntary, &thread->last.involuntary, involuntary, most);
	thread->has_switches = waiting->has_switches = true;
	thread->switch_turns = thread->turns;
	thread->switch_run_ns = thread->last.run_ns;
}

/* A thread that has neither got nor left a CPU since its switches were read has the same. Their file costs twice as much as the other. */
static bool may_have_switched(const struct followed_thread *thread)
{
	return !thread->has_times || !thread->has_switches || thread->switch_turns != thread->turns ||
	       thread->switch_run_ns != thread->last.run_ns;
}

static void follow_switches(struct process_tree *tree, struct followed_thread *thread, size_t length)
{
	int64_t voluntary, involuntary;

	if (parse_proc_pid_status_switches(tree->root->text.data, length, &voluntary, &involuntary) == 0)
		count_switches(&tree->cpu.waiting, thread, voluntary, involuntary);
}

void waiting_offer_switches(struct process_tree *tree, const struct member *member,
			    const struct proc_pid_status *status)
{
	tree->cpu.waiting.offered_pid = member->pid;
	tree->cpu.waiting.offered_voluntary = status->voluntary_switches;
	tree->cpu.waiting.offered_involuntary = status->involuntary_switches;
}

/* If more threads ask than may be read, each has its turn in one of several passes. */
static bool may_read_switches(struct process_tree *tree, const struct followed_thread *thread, bool is_last)
{
	struct tree_waiting *waiting = &tree->cpu.waiting;
	size_t turns = waiting->asked_last / WAITING_SWITCHES_A_SECOND + 1;

	if (!may_have_switched(thread))
		return false;
	waiting->asked++;
	if (is_last || (thread->is_older && !thread->has_switches))
		return true;
	if (waiting->budget.switches <= 0 || (size_t)thread->tid % turns != tree->passes % turns)
		return false;
	waiting->budget.switches--;
	return true;
}

static void read_main_thread(struct process_tree *tree, struct member *member, bool is_last)
{
	struct followed_thread *thread = &member->cpu.main_thread;
	ssize_t length = member_read_file(tree, member, FILE_SCHEDSTAT);

	thread->tid = member->pid;
	thread->is_older = member_is_older(tree, member);
	thread->is_main = true;
	if (length >= 0)
		follow_times(tree, thread, (size_t)length);
	else
		tree->cpu.waiting.error = (int)-length;
	thread->was_asleep = member->state && member->state != 'R';
	if (tree->cpu.waiting.offered_pid == member->pid) {
		count_switches(&tree->cpu.waiting, thread, tree->cpu.waiting.offered_voluntary,
			       tree->cpu.waiting.offered_involuntary);
		return;
	}
	if (!may_read_switches(tree, thread, is_last))
		return;
	length = root_read_pid(tree->root, member->pid, "status");
	if (length >= 0)
		follow_switches(tree, thread, (size_t)length);
}

static void close_thread(struct process_tree *tree, struct followed_thread *thread)
{
	member_close_kept(tree, &thread->schedstat_fd);
	member_close_kept(tree, &thread->status_fd);
}

/* `fd`: where its file stays open, which saves half of the cost or more. NULL: nowhere. */
static ssize_t read_thread_file(struct process_tree *tree, const struct member *member, pid_t tid,
				const char *name, int *fd)
{
	char path[NAME_SIZE] = "";

	if (!fd || *fd < 0)
		snprintf(path, sizeof path, "task/%d/%s", (int)tid, name);
	return fd ? member_read_kept(tree, member, fd, path) : root_read_pid(tree->root, member->pid, path);
}

/* Returns false if the thread has exited. `keeps`: its files may stay open. */
static bool read_thread(struct process_tree *tree, const struct member *member,
			struct followed_thread *thread, bool keeps)
{
	ssize_t length = read_thread_file(tree, member, thread->tid, "schedstat",
					  keeps ? &thread->schedstat_fd : NULL);

	if (length >= 0) {
		follow_times(tree, thread, (size_t)length);
		if (!may_read_switches(tree, thread, false))
			return true;
		length = read_thread_file(tree, member, thread->tid, "status",
					  keeps ? &thread->status_fd : NULL);
	}
	if (length >= 0)
		follow_switches(tree, thread, (size_t)length);
	else
		close_thread(tree, thread); /* Another thread may get its number. */
	return length >= 0;
}

/* In a program that samples in a thread of its own, that thread does not belong to the job. */
static bool is_trackers(const struct process_tree *tree, const struct member *member, pid_t tid)
{
	return tree->cpu.own_cost && member->pid == tree->root_pid && tree->cpu.own_cost->threads > 0 &&
	       tid == (pid_t)syscall(SYS_gettid);
}

/* The kernel lists threads in the order of their creation, so the old list is walked beside the new one. */
SELDOM static void list_threads(struct process_tree *tree, struct member *member)
{
	struct member_threads *threads = member->cpu.threads;
	bool first = !threads->list, is_older = first && member_is_older(tree, member);
	pid_t *found = malloc(WAITING_THREADS_MOST * sizeof *found);
	size_t count = found ? process_list_threads(tree->root, member->pid, found, WAITING_THREADS_MOST) : 0;
	struct followed_thread *list = count ? calloc(count, sizeof *list) : NULL;
	size_t old = 0, kept = 0;

	for (size_t i = 0; list && i < count; i++) {
		size_t at = old;

		if (found[i] == member->pid || is_trackers(tree, member, found[i]))
			continue;
		while (at < threads->count && threads->list[at].tid != found[i])
			at++;
		if (at < threads->count) {
			list[kept++] = threads->list[at];
			threads->list[at].schedstat_fd = threads->list[at].status_fd = -1;
			old = at + 1;
		} else {
			list[kept++] = (struct followed_thread){
				.tid = found[i], .is_older = is_older, .schedstat_fd = -1, .status_fd = -1};
		}
	}
	free(found);
	if (!list)
		return;
	waiting_close(tree, member);
	free(threads->list);
	*threads = (struct member_threads){
		.list = list, .count = kept, .next = threads->next, .process_count = member->thread_count};
}

/* The last pass reads such a thread as well: nothing is counted later. */
static bool is_asleep(const struct process_tree *tree, const struct followed_thread *thread)
{
	return !tree->is_last_pass && thread->has_times &&
	       thread->read_ns - thread->ran_ns >= WAITING_ASLEEP_NS &&
	       tree->cpu.waiting.pass_ns - thread->read_ns < WAITING_QUIET_NS;
}

static void read_threads(struct process_tree *tree, struct member *member)
{
	struct member_threads *threads = member->cpu.threads;
	struct reading_budget *budget = &tree->cpu.waiting.budget;

	if (!threads)
		threads = member->cpu.threads = calloc(1, sizeof *threads);
	if (!threads)
		return;
	if (!threads->list || threads->is_stale || tree->reads_all ||
	    threads->process_count != member->thread_count)
		list_threads(tree, member);
	for (size_t i = 0; i < threads->count; i++) {
		struct followed_thread *thread = &threads->list[threads->next++ % threads->count];

		if (is_asleep(tree, thread))
			continue;
		/* The first reading of an older thread only says from where on it counts. */
		if (!(thread->is_older && !thread->has_times) && budget->threads-- <= 0) {
			budget->threads = 0;
			break;
		}
		threads->is_stale |=
			!read_thread(tree, member, thread, threads->count <= WAITING_THREADS_A_SECOND);
	}
}

void waiting_read(struct process_tree *tree, struct member *member, bool is_last)
{
	if (!tree->cpu.waiting.is_followed || member->vanished)
		return;
	read_main_thread(tree, member, is_last);
	if (member->thread_count > 1)
		read_threads(tree, member);
}

void waiting_close(struct process_tree *tree, struct member *member)
{
	for (size_t i = 0; member->cpu.threads && i < member->cpu.threads->count; i++)
		close_thread(tree, &member->cpu.threads->list[i]);
}

void waiting_member_done(struct process_tree *tree, struct member *member)
{
	waiting_close(tree, member);
	if (member->cpu.threads)
		free(member->cpu.threads->list);
	free(member->cpu.threads);
	member->cpu.threads = NULL;
}
