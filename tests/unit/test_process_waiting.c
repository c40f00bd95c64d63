/* Tests of src/job/cpu/process_waiting.c: the waiting for a CPU and the switches of threads, by files of /proc that a test lays out. */
#include "scratch.h"

#include <errno.h>
#include <sys/syscall.h>

#include "job/cpu/cpu_tuning.h"
#include "job/cpu/job_cpu.h"
#include "job/cpu/process_turns.h"
#include "job/cpu/process_waiting.h"
#include "kernel/proc_pid_status.h"

enum { JOB = 100, THREAD, SECOND_THREAD };

static struct root root;
static struct process_tree tree;
static struct member *job;

static int begin_job(void **state)
{
	struct member member = {
		.pid = JOB, .thread_count = 1, .start_ticks = 5, .files = {-1, -1, -1, -1, -1}};
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | mkdir("proc/100", 0755) | mkdir("proc/100/task", 0755) |
			root_open(&root, ".", NULL);
	tree = (struct process_tree){.root = &root, .root_pid = JOB, .started_by_caller = true};
	error = error ? error : process_tree_reserve(&tree);
	process_tree_append(&tree, &member);
	job = &tree.members[0];
	waiting_follow(&tree, true);
	return error;
}

static int end_job(void **state)
{
	waiting_member_done(&tree, job);
	free(tree.members);
	free(tree.slots);
	root_close(&root);
	return scratch_leave(state);
}

/* The counters of a thread, in ms. Each reading has got a CPU once more. */
static void put_times(pid_t tid, int run_ms, int wait_ms, int turns)
{
	char path[64], text[96];

	snprintf(path, sizeof path, "proc/100/task/%d", (int)tid);
	(void)mkdir(path, 0755);
	snprintf(text, sizeof text, "%d000000 %d000000 %d\n", run_ms, wait_ms, turns);
	snprintf(path, sizeof path, tid == JOB ? "proc/100/schedstat" : "proc/100/task/%d/schedstat",
		 (int)tid);
	put_text(path, text);
}

static void put_switches(pid_t tid, int voluntary, int involuntary)
{
	char path[64], text[128];

	snprintf(path, sizeof path, tid == JOB ? "proc/100/status" : "proc/100/task/%d/status", (int)tid);
	snprintf(text, sizeof text,
		 "Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary,
		 involuntary);
	put_text(path, text);
}

static void read_at(double secs)
{
	waiting_begin_pass(&tree, (int64_t)(secs * 1e9));
	waiting_read(&tree, job, false);
	tree.passes++;
}

static void expect_ms(int run_ms, int wait_ms)
{
	assert_int_equal(tree.cpu.waiting.total.run_ns, run_ms * NSEC_PER_MSEC);
	assert_int_equal(tree.cpu.waiting.total.wait_ns, wait_ms * NSEC_PER_MSEC);
}

static void expect_switches(int voluntary, int involuntary)
{
	assert_int_equal(tree.cpu.waiting.total.voluntary, voluntary);
	assert_int_equal(tree.cpu.waiting.total.involuntary, involuntary);
}

static void a_new_process_counts_from_its_first_moment(void **state)
{
	(void)state;
	put_times(JOB, 300, 200, 1);
	put_switches(JOB, 7, 2);
	read_at(10);
	expect_ms(300, 200);
	expect_switches(7, 2);
	put_times(JOB, 700, 250, 2);
	put_switches(JOB, 9, 3);
	read_at(11);
	expect_ms(700, 250);
	expect_switches(9, 3);
	assert_true(tree.cpu.waiting.has_times && tree.cpu.waiting.has_switches);
	/* It has not run, so it was not switched either, and the file is not read again. */
	put_switches(JOB, 100, 100);
	read_at(12);
	expect_switches(9, 3);
}

static void an_older_process_counts_from_the_attach_on(void **state)
{
	(void)state;
	tree.started_by_caller = false;
	tree.seeded_ticks = 100;
	put_times(JOB, 90000, 80000, 1);
	put_switches(JOB, 7, 2);
	read_at(10);
	expect_ms(0, 0);
	expect_switches(0, 0);
	put_times(JOB, 90300, 80100, 2);
	put_switches(JOB, 8, 5);
	read_at(11);
	expect_ms(300, 100);
	expect_switches(1, 3);
	/* A process that began after the attach. */
	job->start_ticks = 100;
	job->cpu.main_thread = (struct followed_thread){0};
	put_times(JOB, 40, 50, 1);
	read_at(12);
	expect_ms(340, 150);
}

/* Not even the smallest counter is that of the time since. */
static void the_first_counters_of_an_older_process_tell_nothing(void **state)
{
	(void)state;
	tree.started_by_caller = false;
	tree.seeded_ticks = 100;
	put_text("proc/100/schedstat", "1 1 1\n");
	put_switches(JOB, 1, 1);
	read_at(10);
	assert_int_equal(tree.cpu.waiting.total.run_ns, 0);
	assert_int_equal(tree.cpu.waiting.total.wait_ns, 0);
	expect_switches(0, 0);
	put_text("proc/100/schedstat", "3 2 2\n");
	put_switches(JOB, 3, 2);
	read_at(11);
	assert_int_equal(tree.cpu.waiting.total.run_ns, 2);
	assert_int_equal(tree.cpu.waiting.total.wait_ns, 1);
	expect_switches(2, 1);
}

/* One whose turn did not come is read later, though it has not run since. */
static void switches_are_read_until_they_are_known(void **state)
{
	(void)state;
	put_times(JOB, 10, 0, 1);
	put_switches(JOB, 1, 0);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	tree.cpu.waiting.budget.switches = 0;
	waiting_read(&tree, job, false);
	expect_switches(0, 0);
	read_at(11);
	expect_switches(1, 0);
	/* It has got a CPU for less than a reading tells, and it has run on without having lost its CPU. */
	put_times(JOB, 10, 0, 2);
	put_switches(JOB, 2, 0);
	read_at(12);
	expect_switches(2, 0);
	put_times(JOB, 11, 0, 2);
	put_switches(JOB, 3, 0);
	read_at(13);
	expect_switches(3, 0);
}

/* Nothing tells whether a thread has run. */
static void switches_of_a_kernel_without_times_are_read_each_time(void **state)
{
	(void)state;
	put_switches(JOB, 4, 1);
	read_at(10);
	expect_switches(4, 1);
	put_switches(JOB, 5, 1);
	read_at(11);
	expect_switches(5, 1);
}

static void counters_of_another_thread_with_the_same_number_tell_nothing(void **state)
{
	(void)state;
	put_times(JOB, 500, 400, 3);
	read_at(10);
	put_times(JOB, 100, 50, 1);
	read_at(11);
	expect_ms(500, 400);
	put_times(JOB, 150, 70, 2);
	read_at(12);
	expect_ms(550, 420);
	/* No thread runs for 2.1 s within a second, even if the kernel is a second late. */
	put_times(JOB, 2250, 2070, 3);
	read_at(13);
	expect_ms(550, 2420);
	put_times(JOB, 2260, 2080, 4);
	read_at(14);
	expect_ms(560, 2430);
}

/* Linux 6.12 and later may tell that a process which slept all the time had waited for a CPU. */
static void a_sleep_does_not_count_as_waiting(void **state)
{
	(void)state;
	job->state = 'S';
	put_times(JOB, 1, 2, 1);
	read_at(10);
	put_times(JOB, 2, 5000, 2);
	read_at(14);
	expect_ms(2, 2);
	/* It may have woken up at once, and waited for all the time since. */
	put_times(JOB, 3, 9005, 3);
	read_at(18);
	expect_ms(3, 4007);
	put_times(JOB, 4, 13016, 4);
	job->state = 'R';
	read_at(22);
	expect_ms(4, 4007);
	/* A process that could have run may have waited since the reading before. */
	put_times(JOB, 5, 17916, 5);
	read_at(26);
	expect_ms(5, 8907);
}

static void no_thread_waits_for_a_minute_but_one_that_could_run_may(void **state)
{
	(void)state;
	job->state = 'R';
	job->thread_count = 2;
	put_times(JOB, 1, 2, 1);
	put_times(THREAD, 1, 2, 1);
	read_at(10);
	expect_ms(2, 4);
	put_times(JOB, 1, 60002, 2);
	put_times(THREAD, 1, 10003, 2);
	read_at(70);
	expect_ms(2, 60004);
	put_times(THREAD, 1, 20003, 3);
	read_at(130);
	expect_ms(2, 70004);
}

static void a_kernel_without_the_file_gives_a_reason(void **state)
{
	(void)state;
	read_at(10);
	assert_int_equal(tree.cpu.waiting.error, ENOENT);
	assert_false(tree.cpu.waiting.has_times);
	put_times(JOB, 0, 0, 0);
	read_at(11);
	assert_int_equal(tree.cpu.waiting.error, ENODATA);
	/* One that is not followed is not read, nor is one that has gone. */
	put_times(JOB, 5, 5, 5);
	job->vanished = true;
	read_at(12);
	job->vanished = false;
	waiting_follow(&tree, false);
	read_at(13);
	expect_ms(0, 0);
}

static void each_thread_counts_once(void **state)
{
	(void)state;
	job->thread_count = 2;
	put_times(JOB, 100, 10, 1);
	put_times(THREAD, 30, 20, 1);
	put_switches(THREAD, 4, 5);
	read_at(10);
	expect_ms(130, 30);
	expect_switches(4, 5);
	put_times(JOB, 110, 10, 2);
	put_times(THREAD, 60, 25, 2);
	put_switches(THREAD, 5, 7);
	read_at(11);
	expect_ms(170, 35);
	expect_switches(5, 7);
	/* One more, whose time is new. */
	job->thread_count = 3;
	put_times(SECOND_THREAD, 7, 3, 1);
	read_at(12);
	expect_ms(177, 38);
	/* The first has ended: its time stays, and that of the other goes on. */
	assert_int_equal(unlink("proc/100/task/101/schedstat") | unlink("proc/100/task/101/status") |
				 rmdir("proc/100/task/101"),
			 0);
	job->thread_count = 2;
	put_times(SECOND_THREAD, 9, 3, 2);
	read_at(13);
	expect_ms(179, 38);
	assert_int_equal(job->cpu.threads->count, 1);
}

static void a_thread_that_has_gone_makes_the_list_old(void **state)
{
	(void)state;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 30, 20, 1);
	read_at(10);
	/* Another thread came in its place, so the number of threads is the same. */
	assert_int_equal(unlink("proc/100/task/101/schedstat") | rmdir("proc/100/task/101"), 0);
	put_times(SECOND_THREAD, 5, 5, 1);
	read_at(11);
	read_at(12);
	expect_ms(36, 26);
	assert_int_equal(job->cpu.threads->list[0].tid, SECOND_THREAD);
}

/* An empty file is not that of a thread which has exited. */
static void files_without_counters_tell_nothing(void **state)
{
	(void)state;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 1, 1, 1);
	put_text("proc/100/schedstat", "");
	put_text("proc/100/task/101/schedstat", "");
	put_switches(THREAD, 4, 5);
	read_at(10);
	assert_int_equal(tree.cpu.waiting.error, EBADMSG);
	expect_switches(4, 5);
	put_text("proc/100/task/101/status", "");
	read_at(11);
	expect_ms(0, 0);
	expect_switches(4, 5);
	assert_false(job->cpu.threads->is_stale);
}

/* The threads may not be listed for a moment. Those that were known go on. */
static void threads_that_cannot_be_listed_stay_known(void **state)
{
	(void)state;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 30, 20, 1);
	read_at(10);
	assert_int_equal(rename("proc/100/task", "proc/100/hidden"), 0);
	job->thread_count = 3;
	read_at(11);
	assert_int_equal(rename("proc/100/hidden", "proc/100/task"), 0);
	put_times(THREAD, 32, 20, 2);
	read_at(12);
	expect_ms(33, 21);
}

/* Each list of threads takes the open files of the last one over. The others are closed. */
static void files_of_threads_are_closed_once(void **state)
{
	struct followed_thread *thread;

	(void)state;
	tree.fds_left = 10;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 30, 20, 1);
	put_switches(THREAD, 1, 1);
	read_at(10);
	job->thread_count = 3;
	put_times(SECOND_THREAD, 5, 5, 1);
	put_switches(SECOND_THREAD, 1, 1);
	read_at(10.2);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
	thread = job->cpu.threads->list;
	assert_true(thread[0].schedstat_fd >= 0 && thread[1].schedstat_fd >= 0);
	waiting_close(&tree, job);
	for (size_t i = 0; i < 2; i++)
		assert_true(thread[i].schedstat_fd == -1 && thread[i].status_fd == -1);
	assert_int_equal(tree.fds_left, 10 - (job->files[FILE_SCHEDSTAT] >= 0));
	/* They are opened again. */
	put_times(THREAD, 31, 20, 2);
	read_at(10.4);
	expect_ms(37, 26);
}

/* In a program that records itself, the recording thread is not the job's. Otherwise each thread is. */
static void the_recording_thread_does_not_count(void **state)
{
	const struct own_cost with_thread = {.threads = 1}, without = {.threads = 0};
	const struct {
		const struct own_cost *cost;
		pid_t root;
		bool counts;
	} CASES[] = {{&with_thread, JOB, false},
		     {&with_thread, JOB + 1, true},
		     {&without, JOB, true},
		     {NULL, JOB, true}};
	const pid_t self = (pid_t)syscall(SYS_gettid);

	(void)state;
	job->thread_count = 3;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 10, 20, 1);
	put_times(self, 300, 400, 1);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		waiting_member_done(&tree, job);
		job->cpu.main_thread = (struct followed_thread){0};
		tree.cpu = (struct job_cpu){.waiting.is_followed = true, .own_cost = CASES[i].cost};
		tree.root_pid = CASES[i].root;
		read_at(10);
		expect_ms(CASES[i].counts ? 311 : 11, CASES[i].counts ? 421 : 21);
	}
}

static void threads_of_an_older_process_count_from_the_attach_on(void **state)
{
	(void)state;
	tree.started_by_caller = false;
	tree.seeded_ticks = 100;
	job->thread_count = 2;
	put_times(JOB, 1000, 1000, 1);
	put_times(THREAD, 5000, 5000, 1);
	read_at(10);
	expect_ms(0, 0);
	put_times(THREAD, 5030, 5020, 2);
	/* A thread that it starts later is new. */
	job->thread_count = 3;
	put_times(SECOND_THREAD, 5, 5, 1);
	read_at(11);
	expect_ms(35, 25);
}

static void a_thread_that_sleeps_is_read_seldom_and_in_the_last_pass(void **state)
{
	(void)state;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 30, 20, 1);
	read_at(10);
	read_at(11);
	put_times(THREAD, 40, 20, 2);
	read_at(12);
	expect_ms(31, 21);
	read_at(14.4);
	expect_ms(31, 21);
	read_at(14.5);
	expect_ms(41, 21);
	read_at(15.6);
	put_times(THREAD, 45, 20, 3);
	tree.is_last_pass = true;
	read_at(16);
	expect_ms(46, 21);
}

static void switches_that_were_read_with_other_figures_are_not_read_again(void **state)
{
	struct proc_pid_status status = {.voluntary_switches = 12, .involuntary_switches = 3};

	(void)state;
	put_times(JOB, 1, 1, 1);
	put_switches(JOB, 100, 100);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	waiting_offer_switches(&tree, job, &status);
	waiting_read(&tree, job, false);
	expect_switches(12, 3);
	/* One of them is unknown, so both are. */
	status.involuntary_switches = -1;
	put_times(JOB, 2, 1, 2);
	waiting_begin_pass(&tree, 11 * NSEC_PER_SEC);
	waiting_offer_switches(&tree, job, &status);
	waiting_read(&tree, job, false);
	expect_switches(12, 3);
	/* Those of another process. */
	tree.cpu.waiting.offered_pid = JOB + 1;
	put_times(JOB, 3, 1, 3);
	read_at(12);
	expect_switches(100, 100);
}

static void readings_of_switches_are_limited_except_for_a_process_that_ends(void **state)
{
	int read = 0;

	(void)state;
	/* A second pays 24 readings. */
	for (int i = 0; i < 40; i++) {
		put_times(JOB, i + 1, 0, i + 1);
		put_switches(JOB, i + 1, 0);
		waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
		waiting_read(&tree, job, false);
		read += tree.cpu.waiting.total.voluntary == i + 1;
	}
	assert_int_equal(read, 24);
	put_times(JOB, 50, 0, 50);
	put_switches(JOB, 50, 0);
	waiting_read(&tree, job, true);
	expect_switches(50, 0);
	/* So does the last pass over all. */
	put_times(JOB, 60, 0, 60);
	put_switches(JOB, 60, 0);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	waiting_read(&tree, job, false);
	expect_switches(50, 0);
	tree.is_last_pass = true;
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	waiting_read(&tree, job, false);
	expect_switches(60, 0);
}

static void a_process_is_read_once_more_before_it_is_reaped(void **state)
{
	(void)state;
	put_times(JOB, 300, 200, 1);
	read_at(10);
	put_times(JOB, 310, 205, 2);
	put_switches(JOB, 4, 5);
	cpu_before_reap(&tree, job);
	expect_ms(310, 205);
	expect_switches(4, 5);
	/* A process outside the tree has nothing to read. */
	cpu_before_reap(&tree, NULL);
	expect_ms(310, 205);
}

static void readings_are_earned_as_time_passes(void **state)
{
	struct reading_budget *budget = &tree.cpu.waiting.budget;

	(void)state;
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	assert_int_equal(budget->threads, WAITING_THREADS_A_SECOND);
	assert_int_equal(budget->switches, WAITING_SWITCHES_A_SECOND);
	*budget = (struct reading_budget){0};
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	assert_int_equal(budget->threads + budget->switches, 0);
	/* Each begun part of a second counts. */
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC + 1);
	assert_int_equal(budget->threads, 1);
	assert_int_equal(budget->switches, 1);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC + 1 + NSEC_PER_SEC / 2);
	assert_int_equal(budget->threads, 1 + WAITING_THREADS_A_SECOND / 2);
	assert_int_equal(budget->switches, 1 + WAITING_SWITCHES_A_SECOND / 2);
	/* No more than four seconds earn is saved. */
	waiting_begin_pass(&tree, 14 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
	assert_int_equal(budget->threads, 4 * WAITING_THREADS_A_SECOND);
	assert_int_equal(budget->switches, 4 * WAITING_SWITCHES_A_SECOND);
	waiting_begin_pass(&tree, 15 * NSEC_PER_SEC);
	assert_int_equal(budget->threads, 4 * WAITING_THREADS_A_SECOND);
	tree.cpu.waiting.asked = 9;
	waiting_begin_pass(&tree, 16 * NSEC_PER_SEC);
	assert_int_equal(tree.cpu.waiting.asked_last, 9);
	assert_int_equal(tree.cpu.waiting.asked, 0);
	assert_int_equal(tree.cpu.waiting.began_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(tree.cpu.waiting.pass_ns, 16 * NSEC_PER_SEC);
	/* The last pass reads all that it can. */
	tree.is_last_pass = true;
	tree.cpu.waiting.asked = 9;
	waiting_begin_pass(&tree, 17 * NSEC_PER_SEC);
	assert_int_equal(budget->threads, WAITING_THREADS_MOST);
	assert_int_equal(budget->switches, WAITING_THREADS_MOST);
	assert_int_equal(tree.cpu.waiting.asked_last, 0);
}

/* A thread is taken to sleep if neither its turns nor its time have moved for 0.9 s. */
static void a_thread_that_runs_does_not_sleep(void **state)
{
	static const struct {
		int run_ms, turns;
		bool ran;
	} CASES[] = {{30, 1, false}, {31, 1, true}, {30, 2, true}};

	(void)state;
	job->thread_count = 2;
	put_times(JOB, 1, 1, 1);
	put_times(THREAD, 30, 20, 1);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		double secs = 10 + 100 * (double)i;
		const struct followed_thread *thread;

		waiting_member_done(&tree, job);
		put_switches(THREAD, 1, 1);
		put_times(THREAD, 30, 20, 1);
		read_at(secs);
		put_times(THREAD, CASES[i].run_ms, 20, CASES[i].turns);
		read_at(secs + 0.9);
		thread = &job->cpu.threads->list[0];
		assert_int_equal(thread->ran_ns, (int64_t)((CASES[i].ran ? secs + 0.9 : secs) * 1e9));
		read_at(secs + 1);
		thread = &job->cpu.threads->list[0];
		assert_int_equal(thread->read_ns, (int64_t)((CASES[i].ran ? secs + 1 : secs + 0.9) * 1e9));
	}
}

/* Four threads have a budget of two readings, and go on where the last pass ended. */
static void threads_take_turns(void **state)
{
	(void)state;
	job->thread_count = 5;
	put_times(JOB, 1, 1, 1);
	for (pid_t tid = THREAD; tid < THREAD + 4; tid++)
		put_times(tid, 10, 0, 1);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	tree.cpu.waiting.budget.threads = 2;
	waiting_read(&tree, job, false);
	expect_ms(21, 1);
	assert_int_equal(tree.cpu.waiting.budget.threads, 0);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	tree.cpu.waiting.budget.threads = 1;
	waiting_read(&tree, job, false);
	expect_ms(31, 1);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	tree.cpu.waiting.budget.threads = 9;
	waiting_read(&tree, job, false);
	expect_ms(41, 1);
	assert_int_equal(tree.cpu.waiting.budget.threads, 9 - 4);
}

/* A second has time for 24 readings. If more threads ask, each waits some passes for its turn. */
static void switches_of_threads_are_read_in_turns(void **state)
{
	static const struct {
		int asked_last, budget, read;
	} CASES[] = {{0, 24, 4}, {23, 24, 4}, {24, 24, 2}, {47, 24, 2}, {72, 24, 1}, {0, 3, 3}, {0, 0, 0}};

	(void)state;
	job->thread_count = 5;
	for (int i = 0; i < (int)(sizeof CASES / sizeof CASES[0]); i++) {
		int before = (int)tree.cpu.waiting.total.voluntary;

		put_times(JOB, i + 1, 1, i + 1);
		for (pid_t tid = THREAD; tid < THREAD + 4; tid++) {
			put_times(tid, i + 1, 0, i + 1);
			put_switches(tid, 10 * (i + 1), 0);
			if (job->cpu.threads && i)
				job->cpu.threads->list[tid - THREAD].last.voluntary = 10 * i;
		}
		waiting_begin_pass(&tree, (10 + 5 * i) * NSEC_PER_SEC);
		tree.cpu.waiting.asked_last = (size_t)CASES[i].asked_last;
		tree.cpu.waiting.budget.switches = CASES[i].budget;
		job->cpu.main_thread.has_switches = true;
		tree.cpu.waiting.offered_pid = JOB;
		tree.cpu.waiting.offered_voluntary = -1;
		waiting_read(&tree, job, false);
		assert_int_equal(tree.cpu.waiting.total.voluntary - before, 10 * CASES[i].read);
		assert_int_equal(tree.cpu.waiting.asked, 4);
		assert_int_equal(tree.cpu.waiting.budget.switches, CASES[i].budget - CASES[i].read);
	}
}

/* A file without both counters, or with a negative one, tells nothing. */
static void switches_are_known_in_pairs(void **state)
{
	struct proc_pid_status status = {.voluntary_switches = -1, .involuntary_switches = 3};

	(void)state;
	put_times(JOB, 1, 1, 1);
	waiting_begin_pass(&tree, 10 * NSEC_PER_SEC);
	waiting_offer_switches(&tree, job, &status);
	waiting_read(&tree, job, false);
	assert_false(tree.cpu.waiting.has_switches);
	status.voluntary_switches = 0;
	status.involuntary_switches = 0;
	waiting_offer_switches(&tree, job, &status);
	waiting_read(&tree, job, false);
	assert_true(tree.cpu.waiting.has_switches);
	expect_switches(0, 0);
	/* 10^12 at once are impossible. */
	status.voluntary_switches = WAITING_SWITCHES_MOST;
	status.involuntary_switches = WAITING_SWITCHES_MOST + 1;
	waiting_offer_switches(&tree, job, &status);
	waiting_read(&tree, job, false);
	assert_int_equal(tree.cpu.waiting.total.voluntary, WAITING_SWITCHES_MOST);
	assert_int_equal(tree.cpu.waiting.total.involuntary, 0);
}

/* ---- turns ---- */

static void few_that_run_are_all_read(void **state)
{
	(void)state;
	tree.uses_clock = true;
	tree.pass_before_ns = 10 * NSEC_PER_SEC;
	tree.pass_ns = 11 * NSEC_PER_SEC;
	tree.cpu.turns.ran_count = 399;
	turns_plan(&tree);
	assert_int_equal(tree.cpu.turns.count, 1);
	job->pid = 101;
	assert_true(turns_has(&tree, job));
	/* 400 a second, and 128 a pass. */
	tree.cpu.turns.ran_count = 800;
	turns_plan(&tree);
	assert_int_equal(tree.cpu.turns.count, 3);
	tree.cpu.turns.ran_count = 130;
	tree.pass_ns = tree.pass_before_ns + 1;
	turns_plan(&tree);
	assert_int_equal(tree.cpu.turns.count, 2);
	assert_int_equal(tree.cpu.turns.ran_count, 0);
}

static void many_take_turns(void **state)
{
	int turns = 0;

	(void)state;
	tree.uses_clock = true;
	tree.pass_ns = NSEC_PER_SEC;
	tree.cpu.turns.ran_count = 1300;
	tree.cpu.turns.ran_ns = 1300 * NSEC_PER_MSEC;
	turns_plan(&tree);
	assert_int_equal(tree.cpu.turns.count, 4);
	job->pid = 101;
	job->cpu.ran_ns = NSEC_PER_MSEC;
	for (int i = 0; i < 8; i++, tree.passes++)
		turns += turns_has(&tree, job);
	assert_int_equal(turns, 2);
	/* One that used eight times the mean, that forked, or is the first, does not wait. */
	for (tree.passes = 0; turns_has(&tree, job);)
		tree.passes++;
	job->cpu.ran_ns = 9 * NSEC_PER_MSEC;
	assert_true(turns_has(&tree, job));
	job->cpu.ran_ns = 8 * NSEC_PER_MSEC;
	assert_false(turns_has(&tree, job));
	job->has_forked = true;
	assert_true(turns_has(&tree, job));
	job->has_forked = false;
	tree.root_pid = 101;
	assert_true(turns_has(&tree, job));
}

static void the_last_pass_and_a_kernel_without_clocks_have_no_turns(void **state)
{
	(void)state;
	tree.pass_ns = NSEC_PER_SEC;
	for (int i = 0; i < 2; i++) {
		tree.uses_clock = i;
		tree.is_last_pass = i;
		tree.cpu.turns.ran_count = 5000;
		turns_plan(&tree);
		assert_int_equal(tree.cpu.turns.count, 1);
	}
}

static void the_age_of_the_oldest_figure_is_told(void **state)
{
	(void)state;
	tree.pass_ns = 9 * NSEC_PER_SEC;
	job->read_ns = 6 * NSEC_PER_SEC;
	turns_note_oldest(&tree);
	assert_int_equal(tree.cpu.turns.oldest_age_ns, 0);
	job->is_behind = true;
	turns_note_oldest(&tree);
	assert_int_equal(tree.cpu.turns.oldest_age_ns, 3 * NSEC_PER_SEC);
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin_job, end_job)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(a_new_process_counts_from_its_first_moment),
		unit_test_of_job(an_older_process_counts_from_the_attach_on),
		unit_test_of_job(the_first_counters_of_an_older_process_tell_nothing),
		unit_test_of_job(switches_are_read_until_they_are_known),
		unit_test_of_job(switches_of_a_kernel_without_times_are_read_each_time),
		unit_test_of_job(counters_of_another_thread_with_the_same_number_tell_nothing),
		unit_test_of_job(a_sleep_does_not_count_as_waiting),
		unit_test_of_job(no_thread_waits_for_a_minute_but_one_that_could_run_may),
		unit_test_of_job(a_kernel_without_the_file_gives_a_reason),
		unit_test_of_job(each_thread_counts_once),
		unit_test_of_job(a_thread_that_has_gone_makes_the_list_old),
		unit_test_of_job(files_without_counters_tell_nothing),
		unit_test_of_job(threads_that_cannot_be_listed_stay_known),
		unit_test_of_job(files_of_threads_are_closed_once),
		unit_test_of_job(the_recording_thread_does_not_count),
		unit_test_of_job(threads_of_an_older_process_count_from_the_attach_on),
		unit_test_of_job(a_thread_that_sleeps_is_read_seldom_and_in_the_last_pass),
		unit_test_of_job(switches_that_were_read_with_other_figures_are_not_read_again),
		unit_test_of_job(readings_of_switches_are_limited_except_for_a_process_that_ends),
		unit_test_of_job(a_process_is_read_once_more_before_it_is_reaped),
		unit_test_of_job(readings_are_earned_as_time_passes),
		unit_test_of_job(a_thread_that_runs_does_not_sleep),
		unit_test_of_job(threads_take_turns),
		unit_test_of_job(switches_of_threads_are_read_in_turns),
		unit_test_of_job(switches_are_known_in_pairs),
		unit_test_of_job(few_that_run_are_all_read),
		unit_test_of_job(many_take_turns),
		unit_test_of_job(the_last_pass_and_a_kernel_without_clocks_have_no_turns),
		unit_test_of_job(the_age_of_the_oldest_figure_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
