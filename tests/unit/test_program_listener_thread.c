/* Tests of src/job/programs/program_listener.c: its thread, which runs in the test, with clocks that the test sets. */
#include "fed_thread.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/cleanup.h"

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static void the_thread_has_a_small_stack_and_no_signals(void **state)
{
	char name[16], name_before[16];
	uint64_t calls = 0;
	sigset_t blocked;

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, name_before), 0);
	start_thread();
	assert_int_equal(thread.stack_bytes, 128 << 10);
	assert_false(thread.is_interruptible);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	assert_false(sigismember(&blocked, SIGTERM));
	run_steps(&(struct step){0}, 1);
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_string_equal(name, "rt-listener");
	(void)prctl(PR_SET_NAME, name_before);
	/* It was called once, to end. */
	assert_int_equal(read(thread.call_fd, &calls, sizeof calls), sizeof calls);
	assert_int_equal(calls, 1);
	program_listener_close(listener);
	assert_int_equal(thread.joined, 1);
	assert_int_equal(fcntl(thread.call_fd, F_GETFD), -1);
	listener = NULL;
}

static void a_thread_that_the_kernel_refuses_is_not_waited_for(void **state)
{
	(void)state;
	thread.error = EAGAIN;
	assert_int_equal(program_listener_hear(listener, true), -EAGAIN);
	assert_false(program_listener_runs(listener));
	program_listener_close(listener);
	assert_int_equal(thread.joined, 0);
	listener = NULL;
}

/* The job may need all that its limit leaves. */
static void the_thread_needs_room_for_a_process(void **state)
{
	(void)state;
	thread.is_no_room = true;
	assert_int_equal(program_listener_hear(listener, true), -EAGAIN);
	assert_false(program_listener_runs(listener));
}

static void the_thread_needs_a_descriptor(void **state)
{
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(program_listener_hear(listener, true), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_false(program_listener_runs(listener));
}

/* A thread that asks for short slices runs soon after it wakes. It keeps its priority. */
static void the_thread_asks_for_short_slices(void **state)
{
	(void)state;
	start_thread();
	run_steps(&(struct step){0}, 1);
	assert_int_equal(thread.asked.runtime_ns, LISTENER_SLICE_NS);
	assert_int_equal(thread.asked.nice, 5);
}

static void a_real_time_thread_keeps_its_slices(void **state)
{
	(void)state;
	thread.policy = 1;
	start_thread();
	run_steps(&(struct step){0}, 1);
	assert_int_equal(thread.asked.size, 0);
}

static void without_attributes_of_scheduling_none_is_set(void **state)
{
	(void)state;
	thread.slice_error = -1;
	start_thread();
	run_steps(&(struct step){0}, 1);
	assert_int_equal(thread.asked.size, 0);
}

/* ---- the pace ---------------------------------------------------------------------------------------------------- */

#define LONG_NS (100 * NSEC_PER_SEC)

/* The most that may be spent in that time. */
static int64_t most_ns(const struct listener_pace *pace)
{
	return pace->free_ns + LONG_NS / pace->part;
}

/* That of a job that has not forked. */
static int64_t most_without_forks_ns(const struct listener_pace *pace)
{
	return pace->free_ns / 4 + LONG_NS / pace->part / 4;
}

static void naps_get_longer_with_the_cost(void **state)
{
	static const int NAPS_MSEC[] = {0, 20, 50, 150, 320, 500};
	struct step steps[2 * ARRAY_SIZE(LISTENER_PACES)];
	int count = 0;

	(void)state;
	feed_fork(CHILD, JOB);
	for (size_t i = 0; i < ARRAY_SIZE(LISTENER_PACES); i++)
		for (int more_ns = 0; more_ns <= 1; more_ns++)
			steps[count++] = (struct step){LONG_NS, most_ns(&LISTENER_PACES[i]) + more_ns, NULL};
	start_thread();
	run_steps(steps, count);
	for (int i = 0; i < count; i++) {
		assert_int_equal(thread.naps_msec[i], NAPS_MSEC[(i + 1) / 2]);
		/* After a nap it waits for events, as long as it hears them. */
		assert_int_equal(thread.events_fd[i] >= 0, i < count - 1);
		assert_int_equal(thread.waits_msec[i], i < count - 1 ? -1 : 0);
	}
}

static void a_job_without_forks_gets_a_quarter_of_the_time(void **state)
{
	const int64_t most = most_without_forks_ns(&LISTENER_PACES[0]);
	const struct step steps[] = {{LONG_NS, most, NULL}, {LONG_NS, most + 1, NULL}};

	(void)state;
	start_thread();
	run_steps(steps, 2);
	assert_int_equal(thread.naps_msec[0], 0);
	assert_int_equal(thread.naps_msec[1], 20);
}

/* Records can wait, and have the time of all: the events are not worth the last pace. */
static void with_records_it_naps_for_longer_and_stops_hearing_earlier(void **state)
{
	const size_t last = ARRAY_SIZE(LISTENER_PACES) - 1;
	const struct step steps[] = {
		{LONG_NS, 0, NULL},
		{LONG_NS, most_ns(&LISTENER_PACES[last - 1]), NULL},
		{LONG_NS, most_ns(&LISTENER_PACES[last - 1]) + 1, NULL},
	};

	(void)state;
	fed.with_records = true;
	feed_fork(CHILD, JOB);
	start_thread();
	run_steps(steps, 3);
	assert_int_equal(thread.naps_msec[0], 100);
	assert_int_equal(thread.naps_msec[1], 150);
	assert_true(thread.events_fd[1] >= 0);
	assert_int_equal(thread.naps_msec[2], 500);
	assert_int_equal(thread.events_fd[2], -1);
}

static void spend_a_microsecond(void)
{
	clocks.spent_ns += NSEC_PER_USEC;
}

/* Six microseconds: the records cannot be read, so that each call asks once. */
static void let_callers_read(void)
{
	pid_t pids[4];

	fed.on_receive = spend_a_microsecond;
	for (int i = 0; i < 4; i++)
		(void)take();
	program_listener_catch_up(listener);
	assert_int_equal(program_listener_forked(listener, pids, 4), 2);
	fed.on_receive = NULL;
}

static void the_time_of_callers_counts_too(void **state)
{
	const int64_t most = most_ns(&LISTENER_PACES[0]) - 6 * NSEC_PER_USEC;
	const struct step steps[] = {{LONG_NS, most, let_callers_read}, {LONG_NS, most + 1, NULL}};

	(void)state;
	feed_fork(CHILD, JOB);
	/* That of the rounds before the thread does not. */
	fed.on_receive = spend_a_microsecond;
	(void)take();
	fed.on_receive = NULL;
	clocks.spent_ns = 0;
	start_thread();
	run_steps(steps, 2);
	assert_int_equal(thread.naps_msec[0], 0);
	assert_int_equal(thread.naps_msec[1], 20);
}

static void name_the_job_late(void)
{
	program_listener_add(listener, JOB, "late");
}

/* Events that are read at once tell of each exec. Otherwise a pass does. */
static void a_pass_names_processes_while_events_are_read_late(void **state)
{
	const struct step steps[] = {
		{LONG_NS, 0, NULL},
		{LONG_NS, 0, name_the_job_late},
		{LONG_NS, most_ns(&LISTENER_PACES[1]), name_the_job_late},
		{LONG_NS, most_ns(&LISTENER_PACES[1]), name_the_job_late},
	};

	(void)state;
	for (int is_late = 0; is_late <= 1; is_late++) {
		(void)end(NULL);
		(void)begin_thread(NULL);
		feed_fork(CHILD, JOB);
		start_thread();
		run_steps(steps, is_late ? 4 : 3);
		feed_end(JOB, PARENT, 0);
		assert_string_equal(take().events[0].before, is_late ? "late" : "make");
	}
}

static void a_call_ends_a_nap(void **state)
{
	const struct step step = {LONG_NS, most_ns(&LISTENER_PACES[1]), NULL};

	(void)state;
	feed_fork(CHILD, JOB);
	thread.is_called = true;
	start_thread();
	run_steps(&step, 1);
	assert_int_equal(thread.naps_msec[0], 20);
	assert_int_equal(thread.events_fd[0], -2);
}

/* ---- it stops and begins again ----------------------------------------------------------------------------------- */

static const struct step TOO_COSTLY = {LONG_NS, NSEC_PER_SEC, NULL};

static bool was_lost[5];
static int loss_count;
static ssize_t forked_then[5];

static void note_a_take(void)
{
	pid_t pids[4];

	forked_then[loss_count] = program_listener_forked(listener, pids, 4);
	was_lost[loss_count++] = take().lost;
}

static void it_hears_again_when_its_cost_was_long_ago(void **state)
{
	const int64_t again_ns = LONG_NS / LISTENS_AGAIN.part;
	const struct step steps[] = {
		TOO_COSTLY,
		{LONG_NS, NSEC_PER_SEC, note_a_take},
		{LONG_NS, again_ns + 1, note_a_take},
		{LONG_NS, again_ns, NULL},
		{LONG_NS, again_ns, note_a_take},
		{LONG_NS, again_ns, note_a_take},
		{LONG_NS, again_ns, note_a_take},
	};
	static const bool HEARS[] = {false, false, false, false, true, true, true};

	(void)state;
	loss_count = 0;
	feed_fork(CHILD, JOB);
	start_thread();
	run_steps(steps, 7);
	/* A round judges by the cost up to the one before. */
	for (int i = 0; i < 7; i++)
		assert_int_equal(thread.events_fd[i] >= 0, HEARS[i]);
	assert_int_equal(fed.opened, 2);
	/* As long as it does not hear, and once after that, all must be found in another way. */
	assert_true(was_lost[0] && was_lost[1] && was_lost[2] && was_lost[3] && !was_lost[4]);
	assert_int_equal(program_listener_exits(listener), PROGRAM_EXITS_LOST);
	assert_true(program_listener_misses_ends(listener));
}

static void it_stays_deaf_if_the_kernel_refuses(void **state)
{
	const struct step steps[] = {TOO_COSTLY, {LONG_NS, 0, NULL}, {LONG_NS, 0, NULL}, {LONG_NS, 0, NULL}};

	(void)state;
	feed_fork(CHILD, JOB);
	start_thread();
	fed.choose_error = -EPERM;
	run_steps(steps, 4);
	assert_int_equal(fed.opened, 3);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(thread.events_fd[i], -1);
		assert_int_equal(thread.naps_msec[i], 500);
	}
	/* The kernel sends as long as a socket is open. */
	assert_int_equal(fcntl(fed.fd, F_GETFD), -1);
}

static void break_events(void)
{
	fed.receive_error = -EIO;
}

static void an_error_of_the_socket_stops_the_events(void **state)
{
	const struct step steps[] = {{LONG_NS, 0, NULL}, {LONG_NS, 0, break_events}};

	(void)state;
	feed_fork(CHILD, JOB);
	start_thread();
	run_steps(steps, 2);
	assert_true(thread.events_fd[0] >= 0);
	assert_int_equal(thread.events_fd[1], -1);
	assert_int_equal(thread.naps_msec[1], 500);
}

static void interrupt_reading(void)
{
	fed.receive_error = -EINTR;
}

static void an_interrupted_read_stops_nothing(void **state)
{
	const struct step steps[] = {{LONG_NS, 0, interrupt_reading}, {LONG_NS, 0, NULL}};

	(void)state;
	start_thread();
	run_steps(steps, 2);
	assert_true(thread.events_fd[0] >= 0);
	assert_int_equal(thread.naps_msec[0], 0);
}

/* They cost less than the events. */
static void records_go_on_alone(void **state)
{
	const int64_t most = most_ns(&RECORDS_ALONE), again_ns = LONG_NS / LISTENS_AGAIN.part;
	const struct step steps[] = {
		{LONG_NS, most, NULL},     {LONG_NS, most, note_a_take}, {LONG_NS, again_ns, note_a_take},
		{LONG_NS, again_ns, NULL}, {LONG_NS, most, note_a_take}, {LONG_NS, most, NULL},
		{LONG_NS, most + 1, NULL}, {LONG_NS, most, note_a_take},
	};
	static const bool HEARS[] = {false, false, false, true, false, false, false, false};

	(void)state;
	loss_count = 0;
	fed.with_records = true;
	feed_fork(CHILD, JOB);
	start_thread();
	run_steps(steps, 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(thread.events_fd[i] >= 0, HEARS[i]);
		assert_int_equal(thread.naps_msec[i], HEARS[i] ? 150 : 500);
	}
	/* The records have the ends meanwhile, but not the forks. Without both, all is lost. */
	assert_false(was_lost[0] || was_lost[1] || was_lost[2]);
	assert_true(was_lost[3]);
	assert_int_equal(forked_then[2], -1);
	assert_int_equal(fed.records_opened, 1);
}

static void records_of_a_job_without_forks_wait_for_a_second(void **state)
{
	const struct step steps[] = {
		{LONG_NS, most_without_forks_ns(&RECORDS_ALONE), NULL},
		{LONG_NS, most_without_forks_ns(&RECORDS_ALONE), NULL},
	};

	(void)state;
	fed.with_records = true;
	start_thread();
	run_steps(steps, 2);
	assert_int_equal(thread.naps_msec[1], 1000);
	assert_int_equal(thread.events_fd[1], -1);
}

/* ---- looks at the living ----------------------------------------------------------------------------------------- */

static int looks[4], look_count;

static void note_looks(void)
{
	looks[look_count++] = clocks.pid_looks;
}

static void end_job(void)
{
	note_looks();
	clocks.pid_ns = -1;
	feed((struct proc_event){
		.kind = PROC_EVENT_EXITED, .pid = JOB, .parent_pid = PARENT, .monotonic_ns = clocks.now_ns});
}

/* One that ends unread then has little unknown time. */
static void clocks_of_the_living_are_read_each_twenty_milliseconds(void **state)
{
	static const struct step STEPS[] = {
		{0, 0, NULL},
		{20 * NSEC_PER_MSEC - 1, 0, note_looks},
		{20 * NSEC_PER_MSEC, 0, note_looks},
		{25 * NSEC_PER_MSEC, 0, end_job},
	};
	struct taken taken;

	(void)state;
	look_count = clocks.pid_looks = 0;
	clocks.pid_ns = 7 * NSEC_PER_MSEC;
	program_listener_add(listener, CHILD, "cc1");
	start_thread();
	clocks.pid_looks = 0;
	run_steps(STEPS, 4);
	assert_int_equal(looks[0], 2);
	assert_int_equal(looks[1], 2);
	assert_int_equal(looks[2], 4);
	taken = take();
	assert_int_equal(taken.events[0].pid, JOB);
	assert_int_equal(taken.events[0].seen_ns, 7 * NSEC_PER_MSEC);
	assert_int_equal(taken.events[0].unseen_ns, 5 * NSEC_PER_MSEC);
}

/* With more processes, looks cost too much. Records make them needless. */
static void clocks_of_many_or_recorded_processes_are_not_read(void **state)
{
	(void)state;
	for (int is_recorded = 0; is_recorded <= 1; is_recorded++)
		for (int more = 0; more <= 1; more++) {
			(void)end(NULL);
			(void)begin_thread(NULL);
			fed.with_records = is_recorded;
			for (int i = 1; i < LOOKS_MOST + more; i++)
				program_listener_add(listener, JOB - i, "cc1");
			start_thread();
			clocks.pid_looks = 0;
			run_steps(&(struct step){0}, 1);
			assert_int_equal(clocks.pid_looks, is_recorded || more ? 0 : LOOKS_MOST);
		}
}

/* Most events are those of others, and the number of an old one may be that of another process by now. */
static void only_clocks_of_the_job_are_read_within_a_second(void **state)
{
	static const struct {
		enum proc_event_kind kind;
		pid_t pid;
		int64_t age_ns;
		int looks;
	} CASES[] = {
		{PROC_EVENT_EXECED, JOB, OF_NOW_NS - 1, 1},
		{PROC_EVENT_EXECED, JOB, OF_NOW_NS, 0},
		{PROC_EVENT_EXECED, OTHER, 0, 0},
		{PROC_EVENT_EXITED, OTHER, 0, 0},
		{PROC_EVENT_RENAMED, JOB, 0, 0},
		{PROC_EVENT_EXITED, JOB, OF_NOW_NS - 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		clocks.pid_looks = 0;
		feed((struct proc_event){.kind = CASES[i].kind,
					 .pid = CASES[i].pid,
					 .monotonic_ns = clocks.now_ns - CASES[i].age_ns});
		program_listener_catch_up(listener);
		assert_int_equal(clocks.pid_looks, CASES[i].looks);
	}
}

/* A process that has used nothing yet is there. */
static void a_process_with_a_clock_of_zero_lives(void **state)
{
	(void)state;
	clocks.pid_ns = 0;
	program_listener_finish(listener);
	assert_int_equal(take().count, 0);
	clocks.pid_ns = -1;
	assert_int_equal(take().count, 1);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

enum { SLEEPERS = EXECS_LEAST + 1 };
static pid_t sleepers[SLEEPERS];

static void feed_execs(void)
{
	for (int i = 0; i < SLEEPERS; i++)
		feed((struct proc_event){.kind = PROC_EVENT_EXECED, .pid = sleepers[i]});
}

static size_t count_named(void)
{
	struct taken taken = take();
	size_t count = 0;

	for (size_t i = 0; i < taken.count; i++)
		count += taken.events[i].kind == PROGRAM_EXECED && taken.events[i].after;
	return count;
}

/* Most have ended by then. */
static void few_names_are_read_after_a_long_nap(void **state)
{
	const int64_t naps_50 = most_ns(&LISTENER_PACES[2]);
	const struct step steps[] = {{LONG_NS, naps_50, NULL}, {LONG_NS, naps_50, feed_execs}};

	(void)state;
	for (int i = 0; i < SLEEPERS; i++) {
		sleepers[i] = fork();
		if (sleepers[i] == 0)
			for (;;)
				(void)pause();
		assert_true(sleepers[i] > 0);
	}
	for (int is_recorded = 0; is_recorded <= 1; is_recorded++) {
		(void)end(NULL);
		(void)begin_thread(NULL);
		fed.with_records = is_recorded;
		feed_fork(CHILD, JOB);
		for (int i = 0; i < SLEEPERS; i++)
			program_listener_add(listener, sleepers[i], "sh");
		start_thread();
		run_steps(steps, 2);
		assert_int_equal(thread.naps_msec[0], is_recorded ? 100 : 50);
		assert_int_equal(count_named(), is_recorded ? EXECS_LEAST : SLEEPERS);
	}
	for (int i = 0; i < SLEEPERS; i++) {
		assert_int_equal(kill(sleepers[i], SIGKILL), 0);
		assert_int_equal(waitpid(sleepers[i], NULL, 0), sleepers[i]);
	}
}

/* ---- exit records ------------------------------------------------------------------------------------------------ */

static void feed_record(pid_t pid, pid_t parent_pid, int64_t cpu_msec)
{
	fed.records[fed.record_count++] = (struct taskstats){.tid = pid,
							     .pid = pid,
							     .parent_pid = parent_pid,
							     .comm = "cc1",
							     .is_last = true,
							     .cpu_ns = cpu_msec * NSEC_PER_MSEC};
}

static void start_with_records(void)
{
	fed.with_records = true;
	start_thread();
}

static void an_end_is_told_once_its_record_has_come(void **state)
{
	struct taken taken;
	pid_t pids[4];

	(void)state;
	start_with_records();
	feed_fork(CHILD, JOB);
	feed_end(CHILD, JOB, 9);
	assert_int_equal(take().count, 0);
	assert_int_equal(program_listener_living(listener, pids, 4), 1);
	assert_int_equal(pids[0], JOB);
	feed_record(CHILD, JOB, 10);
	taken = take();
	assert_int_equal(taken.count, 1);
	assert_false(taken.lost);
	assert_int_equal(taken.events[0].wait_status, 9);
	assert_int_equal(taken.events[0].clock_ns, 10 * NSEC_PER_MSEC);
	assert_true(taken.events[0].has_io);
	assert_int_equal(program_listener_exits(listener), 1);
}

/* Without a sleep, the time since the last tick is known, up to a tick. */
static void the_kernels_tick_bounds_the_time_that_a_record_lacks(void **state)
{
	struct taken taken;

	(void)state;
	start_with_records();
	for (int rest_msec = TICK_MSEC; rest_msec <= TICK_MSEC + 1; rest_msec++) {
		feed_fork(CHILD, JOB);
		feed_record(CHILD, JOB, 10);
		fed.records[fed.record_count - 1].delay_ns = NSEC_PER_MSEC;
		fed.records[fed.record_count - 1].elapsed_ns = (10 + 1 + rest_msec) * NSEC_PER_MSEC;
		taken = take();
		assert_int_equal(taken.count, 1);
		assert_int_equal(taken.events[0].clock_ns,
				 (10 + (rest_msec == TICK_MSEC ? TICK_MSEC : 0)) * NSEC_PER_MSEC);
	}
}

/* The event of its end alone tells that it has ended. */
static void an_end_without_a_record_is_told_by_the_take_after_the_next(void **state)
{
	(void)state;
	start_with_records();
	feed_fork(CHILD, JOB);
	feed_fork(OTHER, JOB);
	program_listener_catch_up(listener);
	/* One that a pass misses does not wait for a record. */
	assert_true(program_listener_remove(listener, OTHER));
	feed_end(CHILD, JOB, 0);
	program_listener_catch_up(listener);
	assert_int_equal(take().count, 1);
	feed_end(JOB, PARENT, 0);
	assert_int_equal(take().count, 0);
	assert_int_equal(take().count, 1);
	assert_int_equal(program_listener_exits(listener), 2);
}

/* The records have the ends of which no event has told. */
static void events_that_are_lost_beside_records_lose_no_end(void **state)
{
	struct taken taken;
	pid_t pids[4];

	(void)state;
	start_with_records();
	for (int i = 0; i < WHOLE_TAKES; i++)
		(void)take();
	assert_int_equal(program_listener_forked(listener, pids, 4), 1);
	fed.receive_error = -ENOBUFS;
	feed_record(CHILD, JOB, 10);
	taken = take();
	assert_false(taken.lost);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.events[0].pid, CHILD);
	/* But the forks are unknown. */
	(void)take();
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	assert_true(program_listener_misses_ends(listener));
	assert_int_equal(program_listener_exits(listener), 1);
	/* A process that became an orphan may be one of the job, which nothing tells. */
	assert_true(program_listener_add_ancestor(listener, JOB, PARENT));
	feed_record(OTHER, PARENT, 10);
	assert_false(take().lost);
	assert_int_equal(program_listener_exits(listener), PROGRAM_EXITS_LOST);
}

static void records_that_are_lost_lose_all(void **state)
{
	pid_t pids[4];

	(void)state;
	start_with_records();
	for (int i = 0; i < WHOLE_TAKES; i++)
		(void)take();
	assert_int_equal(program_listener_forked(listener, pids, 4), 1);
	feed_record(CHILD, JOB, 10);
	fed.record_error = -ENOBUFS;
	assert_true(take().lost);
	/* Those behind the loss were read. */
	assert_int_equal(fed.records_taken, 1);
	assert_false(take().lost);
	assert_int_equal(program_listener_forked(listener, pids, 4), -1);
	fed.record_error = -EIO;
	assert_false(take().lost);
}

/* The record is that of one process more. */
static void a_record_without_room_for_its_process_loses_all(void **state)
{
	(void)state;
	start_with_records();
	for (int i = 1; i < KNOWN_SLOTS_MOST / 2; i++)
		program_listener_add(listener, i, "sh");
	assert_false(take().lost);
	feed_record(CHILD, JOB, 10);
	assert_true(take().lost);
}

static void an_event_without_a_parent_is_left_to_its_record(void **state)
{
	(void)state;
	assert_true(program_listener_add_ancestor(listener, JOB, PARENT));
	start_with_records();
	feed_end(OTHER, 0, 0);
	program_listener_catch_up(listener);
	assert_false(program_listener_other_ended(listener));
	feed_record(OTHER, PARENT, 1);
	(void)take();
	assert_true(program_listener_other_ended(listener));
}

#define thread_test(test) cmocka_unit_test_setup_teardown(test, begin_thread, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		thread_test(the_thread_has_a_small_stack_and_no_signals),
		thread_test(a_thread_that_the_kernel_refuses_is_not_waited_for),
		thread_test(the_thread_needs_room_for_a_process),
		thread_test(the_thread_needs_a_descriptor),
		thread_test(the_thread_asks_for_short_slices),
		thread_test(a_real_time_thread_keeps_its_slices),
		thread_test(without_attributes_of_scheduling_none_is_set),
		thread_test(naps_get_longer_with_the_cost),
		thread_test(a_job_without_forks_gets_a_quarter_of_the_time),
		thread_test(with_records_it_naps_for_longer_and_stops_hearing_earlier),
		thread_test(the_time_of_callers_counts_too),
		thread_test(a_pass_names_processes_while_events_are_read_late),
		thread_test(a_call_ends_a_nap),
		thread_test(it_hears_again_when_its_cost_was_long_ago),
		thread_test(it_stays_deaf_if_the_kernel_refuses),
		thread_test(an_error_of_the_socket_stops_the_events),
		thread_test(an_interrupted_read_stops_nothing),
		thread_test(records_go_on_alone),
		thread_test(records_of_a_job_without_forks_wait_for_a_second),
		thread_test(clocks_of_the_living_are_read_each_twenty_milliseconds),
		thread_test(clocks_of_many_or_recorded_processes_are_not_read),
		thread_test(only_clocks_of_the_job_are_read_within_a_second),
		thread_test(a_process_with_a_clock_of_zero_lives),
		thread_test(few_names_are_read_after_a_long_nap),
		thread_test(an_end_is_told_once_its_record_has_come),
		thread_test(the_kernels_tick_bounds_the_time_that_a_record_lacks),
		thread_test(an_end_without_a_record_is_told_by_the_take_after_the_next),
		thread_test(events_that_are_lost_beside_records_lose_no_end),
		thread_test(records_that_are_lost_lose_all),
		thread_test(a_record_without_room_for_its_process_loses_all),
		thread_test(an_event_without_a_parent_is_left_to_its_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
