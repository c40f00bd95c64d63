/* Tests of src/wrap/job_control.c: whether a SIGCONT to the tracker continues the job, which is a stopped child here. */
#include "wrap_children.h"
#include "wrap/job_control.h"

static struct shared_page page;
static struct wrap wrap;
static signal_set mask_before;

static int begin(void **state)
{
	(void)state;
	memset(&page, 0, sizeof page);
	memset(&wrap, 0, sizeof wrap);
	wrap.page = &page;
	mask_signals(SIG_SETMASK, ALL_SIGNALS, &mask_before);
	if (getenv("TEST_UNDER"))
		return 0;
	wrap.has_own_proc = true;
	wrap.job = start_sleeper();
	stop_child(wrap.job);
	return 0;
}

static int end(void **state)
{
	siginfo_t info;

	(void)state;
	if (wrap.witness)
		end_sleeper(wrap.witness);
	if (wrap.job)
		end_sleeper(wrap.job);
	while (take_signal(ALL_SIGNALS, &info, 0))
		continue;
	mask_signals(SIG_SETMASK, mask_before, NULL);
	return 0;
}

static void note_from(pid_t sender, int code)
{
	siginfo_t info = {.si_signo = SIGCONT, .si_code = code};

	info.si_pid = sender;
	note_continued(&wrap, &info);
}

/* The witness got it as well, if it did at all. */
static void answer(void)
{
	page.answered = page.asked;
}

static bool was_continued(void)
{
	int status = 0;

	return waitpid(wrap.job, &status, WCONTINUED | WNOHANG) == wrap.job && WIFCONTINUED(status);
}

static void nothing_is_continued_without_a_signal(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_false(was_continued());
}

static void a_signal_to_the_tracker_alone_continues_the_job(void **state)
{
	int64_t before_ns = monotonic_now_ns();

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	note_from(1, SI_USER);
	assert_true(wrap.continued_ns >= before_ns);
	assert_int_equal(page.asked, 1);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(was_continued());
	assert_int_equal(wrap.continued_ns, 0);
	assert_true(wrap.continue_settled_ns >= before_ns);
	/* Once. */
	stop_child(wrap.job);
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_false(was_continued());
}

/* Undecided stops are over, as the kernel discards those that are pending. */
static void a_continued_tracker_has_no_stops_left(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.undecided[0].signo = SIGTSTP;
	wrap.undecided_count = 1;
	note_from(1, SI_USER);
	assert_int_equal(wrap.undecided_count, 0);
}

static void the_witness_wakes_the_tracker_because_the_job_runs(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.witness = start_sleeper();
	note_from(wrap.witness, SI_USER);
	assert_int_equal(wrap.continued_ns, 0);
	assert_int_equal(page.asked, 0);
	/* The kernel, whose codes are above 0, tells no sender in this place. */
	for (int code = 1; code <= SI_KERNEL; code += SI_KERNEL - 1) {
		wrap.continued_ns = 0;
		note_from(wrap.witness, code);
		assert_true(wrap.continued_ns > 0);
	}
	wrap.continued_ns = 0;
	note_from(wrap.witness + 1, SI_USER);
	assert_true(wrap.continued_ns > 0);
	/* A question wakes it. */
	assert_true(is_pending(wrap.witness, SIGCHLD));
}

static void a_witness_that_was_stopped_with_the_group_is_continued(void **state)
{
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.witness = start_sleeper();
	note_from(1, SI_USER);
	assert_false(is_pending(wrap.witness, SIGCONT));
	stop_child(wrap.witness);
	note_from(1, SI_USER);
	assert_int_equal(waitpid(wrap.witness, &status, WCONTINUED), wrap.witness);
	assert_true(WIFCONTINUED(status));
}

/* It has 100 ms, because a wrong guess would continue the next stop of the job. */
static void the_answer_of_the_witness_is_waited_for(void **state)
{
	int64_t before_ns, again_ns;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.witness = start_sleeper();
	note_from(1, SI_USER);
	before_ns = wrap.continued_ns = monotonic_now_ns() + 60 * NSEC_PER_SEC;
	before_ns = monotonic_now_ns();
	again_ns = continue_job(&wrap);
	assert_true(again_ns >= before_ns + 200 * NSEC_PER_USEC);
	assert_true(again_ns <= monotonic_now_ns() + 200 * NSEC_PER_USEC);
	assert_false(was_continued());
	assert_true(wrap.continued_ns > 0);
	wrap.continued_ns = monotonic_now_ns() - 100 * NSEC_PER_MSEC;
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(was_continued());
}

/* The witness got the SIGCONT of the group, and so did the job, which may have stopped again since. */
static void a_signal_to_the_group_has_continued_the_job_already(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.witness = start_sleeper();
	wrap.continue_settled_ns = 5;
	page.sightings[SIGCONT].last_ns = 6;
	note_from(1, SI_USER);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_false(was_continued());
	/* That one belonged to an earlier stop. */
	page.sightings[SIGCONT].last_ns = wrap.continue_settled_ns;
	note_from(1, SI_USER);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(was_continued());
	/* A job in a group of its own did not get it. */
	stop_child(wrap.job);
	assert_int_equal(setpgid(wrap.job, 0), 0);
	page.sightings[SIGCONT].last_ns = INT64_MAX;
	note_from(1, SI_USER);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(was_continued());
}

static void a_job_that_runs_needs_no_signal(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(kill(wrap.job, SIGCONT), 0);
	assert_int_equal(waitpid(wrap.job, NULL, WCONTINUED), wrap.job);
	/* The signal that continued it is pending, because it blocks all. */
	end_sleeper(wrap.job);
	wrap.job = start_sleeper();
	note_from(1, SI_USER);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_false(is_pending(wrap.job, SIGCONT));
	/* Without its /proc it is sent in any case. */
	wrap.has_own_proc = false;
	note_from(1, SI_USER);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(is_pending(wrap.job, SIGCONT));
}

/* ---- stops of the job ---------------------------------------------------------------------------------------------- */

static void a_stop_is_not_mirrored_before_a_continue_was_handled(void **state)
{
	siginfo_t info = {0};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	/* No stop was reported since it was taken. */
	mirror_stop(&wrap);
	assert_int_equal(page.stopped_job, 0);
	assert_int_equal(kill(wrap.job, SIGCONT), 0);
	assert_int_equal(kill(wrap.job, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)wrap.job, &info, WSTOPPED | WNOWAIT), 0);
	wrap.continued_ns = 1;
	mirror_stop(&wrap);
	assert_int_equal(wrap.continued_ns, 1);
	/* The tracker was continued in between, with the job or alone. */
	wrap.continued_ns = 0;
	assert_int_equal(kill(getpid(), SIGCONT), 0);
	mirror_stop(&wrap);
	assert_true(wrap.continued_ns > 1);
	assert_int_equal(page.asked, 1);
	assert_int_equal(take_signal(SIGNAL_BIT(SIGCONT), &info, 0), 0);
	/* The report of the stop is left for later. */
	assert_int_equal(waitid(P_PID, (id_t)wrap.job, &info, WSTOPPED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(info.si_pid, wrap.job);
	answer();
	assert_true(continue_job(&wrap) == INT64_MAX);
	assert_true(was_continued());
}

/* Neither has one that was reaped, and a SIGCONT is left to those who wait for it. */
static void a_job_that_has_gone_has_not_stopped(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	end_sleeper(wrap.job);
	assert_int_equal(kill(getpid(), SIGCONT), 0);
	for (int has_own_proc = 0; has_own_proc <= 1; has_own_proc++) {
		wrap.has_own_proc = has_own_proc;
		wrap.job = 1 << 22;
		mirror_stop(&wrap);
		wrap.job = 0;
		mirror_stop(&wrap);
	}
	assert_int_equal(wrap.continued_ns, 0);
	assert_int_equal(take_signal(SIGNAL_BIT(SIGCONT), &info, 0), SIGCONT);
}

/* Its witness never answers. The test continues it. */
static int stops_100_ms_later(void)
{
	int64_t begun_ns;

	wrap.job = start_sleeper();
	wrap.witness = start_sleeper();
	kill(wrap.job, SIGSTOP);
	wait_for_state(wrap.job, 'T');
	begun_ns = monotonic_now_ns();
	mirror_stop(&wrap);
	return monotonic_now_ns() >= begun_ns + 100 * NSEC_PER_MSEC && is_pending(wrap.witness, SIGCHLD) ? 0
													 : 1;
}

static long refused_call;

/* Stops with its job. The test continues it. */
static int stops_with_its_job(void)
{
	pid_t job = wrap.job = start_sleeper();
	siginfo_t info;

	if (kill(job, SIGSTOP) < 0)
		return 1;
	while (!is_stopped(job))
		usleep(100);
	if (refused_call && !refuse_call(refused_call))
		return 100;
	mirror_stop(&wrap);
	/* Once for each stop. */
	if (take_signal(SIGNAL_BIT(SIGCONT), &info, 0) != SIGCONT)
		return 3;
	mirror_stop(&wrap);
	kill(job, SIGKILL);
	return page.stopped_job == 0 && page.asked == (wrap.has_own_proc ? 1 : 0) ? 0 : 2;
}

static void assert_stops_once(int (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check());
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100)
		skip();
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGSTOP);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Where waitid(2) is refused, the state of the job and wait4(2) tell its stop. */
static void the_tracker_stops_with_its_job(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (int i = 0; i < 4; i++) {
		refused_call = i & 1 ? SYS_waitid : 0;
		wrap.has_own_proc = i & 2;
		assert_stops_once(stops_with_its_job);
	}
	wrap.has_own_proc = true;
	assert_stops_once(stops_100_ms_later);
}

#define CONTROL_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		CONTROL_TEST(nothing_is_continued_without_a_signal),
		CONTROL_TEST(a_signal_to_the_tracker_alone_continues_the_job),
		CONTROL_TEST(a_continued_tracker_has_no_stops_left),
		CONTROL_TEST(the_witness_wakes_the_tracker_because_the_job_runs),
		CONTROL_TEST(a_witness_that_was_stopped_with_the_group_is_continued),
		CONTROL_TEST(the_answer_of_the_witness_is_waited_for),
		CONTROL_TEST(a_signal_to_the_group_has_continued_the_job_already),
		CONTROL_TEST(a_job_that_runs_needs_no_signal),
		CONTROL_TEST(a_job_that_has_gone_has_not_stopped),
		CONTROL_TEST(the_tracker_stops_with_its_job),
		CONTROL_TEST(a_stop_is_not_mirrored_before_a_continue_was_handled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
