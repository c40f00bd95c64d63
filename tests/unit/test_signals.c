/* Tests of src/wrap/signals.c: signals to the tracker are noted, and forwarded once it is known that the job did not get them. */
#include "wrap_children.h"

#include <errno.h>
#include "wrap/signals.h"

static struct shared_page page;
static struct wrap wrap;
static struct wrap_signal told[4];
static size_t told_count;
static signal_set mask_before;

static void note_told(void *context, const struct wrap_signal *signal)
{
	(void)context;
	told[told_count++] = *signal;
}

static const struct wrap_hooks HOOKS = {.signalled = note_told};

/* Without a witness. The job is this process, which blocks all signals: the forwarded ones are pending here. */
static int begin(void **state)
{
	(void)state;
	memset(&page, 0, sizeof page);
	memset(&wrap, 0, sizeof wrap);
	told_count = 0;
	wrap.page = &page;
	wrap.hooks = &HOOKS;
	wrap.job = getpid();
	mask_signals(SIG_SETMASK, ALL_SIGNALS, &mask_before);
	return 0;
}

static int end(void **state)
{
	siginfo_t info;

	(void)state;
	while (take_signal(ALL_SIGNALS, &info, 0))
		continue;
	mask_signals(SIG_SETMASK, mask_before, NULL);
	return 0;
}

static void note(int signo, int code, pid_t sender)
{
	siginfo_t info = {.si_signo = signo, .si_code = code};

	info.si_pid = sender;
	info.si_uid = 7;
	info.si_value.sival_int = 8;
	signals_note(&wrap, &info, false);
}

/* As if their senders had been asked about long ago: they are done. */
static void make_old(void)
{
	for (size_t i = 0; i < wrap.undecided_count; i++)
		wrap.undecided[i].seen_ns -= 5 * NSEC_PER_MSEC;
}

static void signals_of_a_job_and_of_a_watch_are_blocked(void **state)
{
	(void)state;
	NEEDS_NO_EMULATOR();
	for (int signo = 1; signo <= LAST_SIGNAL; signo++) {
		bool ends = signo == SIGHUP || signo == SIGINT || signo == SIGTERM, child = signo == SIGCHLD;
		bool forwarded = FORWARDED_SIGNALS & SIGNAL_BIT(signo);

		assert_int_equal(!!(signals_blocked(WRAP_WATCH) & SIGNAL_BIT(signo)), ends || child);
		assert_int_equal(!!(signals_blocked(WRAP_JOB) & SIGNAL_BIT(signo)),
				 forwarded || child || signo == SIGCONT);
	}
}

/* Room for standard signals is kept free of those of real time. */
static void signals_are_taken_while_there_is_room(void **state)
{
	const size_t ROOM = 2 * FIRST_REAL_TIME;

	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.undecided_count = UNDECIDED_MAX - ROOM - 1;
	assert_true(signals_wanted(&wrap) == FORWARDED_SIGNALS);
	wrap.undecided_count++;
	assert_true(signals_wanted(&wrap) == (FORWARDED_SIGNALS & ~REAL_TIME_SIGNALS));
	wrap.undecided_count = UNDECIDED_MAX - 1;
	assert_true(signals_wanted(&wrap) == (FORWARDED_SIGNALS & ~REAL_TIME_SIGNALS));
	wrap.undecided_count++;
	assert_true(signals_wanted(&wrap) == 0);
	note(SIGTERM, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, UNDECIDED_MAX);
	wrap.undecided_count = 0;
}

static void a_signal_is_noted_with_its_sender(void **state)
{
	const struct undecided *signal = wrap.undecided;

	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.quiet_ns = 3;
	wrap.drained_ns = 4;
	note(SIGTERM, SI_QUEUE, 1);
	assert_int_equal(wrap.undecided_count, 1);
	assert_int_equal(signal->signo, SIGTERM);
	assert_int_equal(signal->code, SI_QUEUE);
	assert_int_equal(signal->sender, 1);
	assert_int_equal(signal->sender_uid, 7);
	assert_int_equal(signal->value.sival_int, 8);
	assert_int_equal(signal->quiet_ns, 3);
	assert_int_equal(signal->drained_ns, 4);
	assert_int_equal(signal->sender_sleeps, -1);
	assert_false(signal->before_job);
	/* The kernel has no number. */
	note(SIGINT, SI_KERNEL, 1);
	assert_int_equal(wrap.undecided_count, 2);
	assert_int_equal(signal[1].sender, 0);
}

/* Standard signals merge, as in any process in which the first is pending. */
static void a_signal_that_comes_again_before_its_sender_slept_counts_once(void **state)
{
	(void)state;
	NEEDS_NO_EMULATOR();
	note(SIGTERM, SI_USER, 1);
	note(SIGTERM, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, 1);
	note(SIGTERM, SI_USER, 2);
	note(SIGINT, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, 3);
	wrap.undecided[0].asked_ns = 1;
	note(SIGTERM, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, 4);
	wrap.undecided[3].sender_slept = true;
	note(SIGTERM, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, 5);
	note(SIGRTMIN + 1, SI_USER, 1);
	note(SIGRTMIN + 1, SI_USER, 1);
	assert_int_equal(wrap.undecided_count, 7);
}

static void stops_of_the_keyboard_are_dropped(void **state)
{
	static const int SIGNALS[] = {SIGTSTP, SIGTERM, SIGTTIN, SIGTTOU, SIGINT};

	(void)state;
	NEEDS_NO_EMULATOR();
	for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
		note(SIGNALS[i], SI_USER, 1);
	signals_drop_stops(&wrap);
	assert_int_equal(wrap.undecided_count, 2);
	assert_int_equal(wrap.undecided[0].signo, SIGTERM);
	assert_int_equal(wrap.undecided[1].signo, SIGINT);
}

/* ---- settling ---------------------------------------------------------------------------------------------------- */

static void without_signals_all_is_quiet_since_none_was_pending(void **state)
{
	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.drained_ns = 5;
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(wrap.quiet_ns, 5);
}

static void a_signal_waits_for_its_sender(void **state)
{
	int64_t before_ns = monotonic_now_ns(), again_ns;

	(void)state;
	NEEDS_NO_EMULATOR();
	note(SIGTERM, SI_USER, 0);
	wrap.undecided[0].seen_ns = INT64_MAX / 2;
	again_ns = signals_settle(&wrap);
	assert_int_equal(wrap.undecided_count, 1);
	assert_int_equal(wrap.undecided[0].asked_ns, 0);
	assert_true(again_ns >= before_ns + 200 * NSEC_PER_USEC);
	assert_true(again_ns <= monotonic_now_ns() + 200 * NSEC_PER_USEC);
	/* One that waits for long is looked at less often. */
	wrap.undecided[0].seen_ns = monotonic_now_ns() - 11 * NSEC_PER_MSEC;
	wrap.undecided[0].asked_ns = monotonic_now_ns() + NSEC_PER_SEC;
	wrap.witness = 1 << 22;
	before_ns = monotonic_now_ns();
	wrap.undecided[0].question = 1;
	again_ns = signals_settle(&wrap);
	assert_int_equal(wrap.undecided_count, 1);
	assert_true(again_ns >= before_ns + NSEC_PER_MSEC);
	assert_int_equal(told_count, 0);
}

static void a_signal_for_the_tracker_alone_is_forwarded(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_NO_EMULATOR();
	note(SIGUSR1, SI_USER, 0);
	make_old();
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(wrap.undecided_count, 0);
	assert_int_equal(take_signal(SIGNAL_BIT(SIGUSR1), &info, 0), SIGUSR1);
	assert_int_equal(info.si_code, SI_USER);
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].signo, SIGUSR1);
	assert_true(told[0].forwarded);
	assert_int_equal(page.asked, 1);
}

static void a_signal_that_the_job_got_is_told_and_dropped(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_NO_EMULATOR();
	note(SIGINT, SI_KERNEL, 0);
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), 0);
	assert_int_equal(told_count, 1);
	assert_false(told[0].forwarded);
	assert_int_equal(told[0].sender, 0);
	/* The tracker has reached its own CPU limit. */
	note(SIGXCPU, SI_KERNEL, 0);
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(told_count, 1);
	note(SIGXCPU, SI_USER, 0);
	make_old();
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(told_count, 2);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), SIGXCPU);
	/* No hook, no words. */
	wrap.hooks = NULL;
	note(SIGINT, SI_KERNEL, 0);
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(told_count, 2);
}

static void a_value_and_its_sender_are_passed_on(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	note(SIGRTMIN + 1, SI_QUEUE, 1);
	make_old();
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), SIGRTMIN + 1);
	assert_int_equal(info.si_code, SI_QUEUE);
	assert_int_equal(info.si_pid, 1);
	assert_int_equal(info.si_uid, 7);
	assert_int_equal(info.si_value.sival_int, 8);
	assert_int_equal(told_count, 1);
	assert_true(told[0].forwarded);
}

/* It has to be sent again, whatever the witness says by then. */
static void a_value_waits_while_the_queue_of_the_job_is_full(void **state)
{
	struct rlimit limit, none;
	int64_t before_ns = monotonic_now_ns(), again_ns;
	siginfo_t info;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	note(SIGRTMIN + 1, SI_QUEUE, 1);
	make_old();
	again_ns = signals_settle(&wrap);
	assert_int_equal(wrap.undecided_count, 1);
	assert_true(wrap.undecided[0].refused);
	assert_true(again_ns >= before_ns + NSEC_PER_MSEC);
	assert_int_equal(told_count, 0);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), SIGRTMIN + 1);
	assert_int_equal(told_count, 1);
	assert_true(told[0].forwarded);
}

/* It has ended, and is not reaped yet. */
static void a_job_that_has_gone_gets_nothing(void **state)
{
	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.job = 1 << 22;
	note(SIGTERM, SI_USER, 0);
	make_old();
	assert_true(signals_settle(&wrap) == INT64_MAX);
	assert_int_equal(told_count, 1);
	assert_false(told[0].forwarded);
}

/* A copy of it that is pending by then is taken with it. */
static void a_second_copy_is_taken_together_with_the_first(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.job = 1 << 22;
	note(SIGUSR1, SI_USER, getpid());
	make_old();
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	(void)signals_settle(&wrap);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), 0);
	assert_int_equal(wrap.undecided_count, 0);
	assert_int_equal(told_count, 1);
	/* Those of real time count one by one. */
	note(SIGRTMIN + 1, SI_USER, getpid());
	make_old();
	assert_int_equal(kill(getpid(), SIGRTMIN + 1), 0);
	(void)signals_settle(&wrap);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), SIGRTMIN + 1);
}

/* All wait behind one that has to wait, standard signals do not. */
static void real_time_signals_keep_their_order(void **state)
{
	siginfo_t info;

	(void)state;
	NEEDS_NO_EMULATOR();
	note(SIGRTMIN + 1, SI_USER, 0);
	note(SIGRTMIN + 2, SI_USER, 0);
	note(SIGUSR1, SI_USER, 0);
	make_old();
	wrap.undecided[0].seen_ns = INT64_MAX / 2;
	(void)signals_settle(&wrap);
	assert_int_equal(wrap.undecided_count, 2);
	assert_int_equal(wrap.undecided[0].signo, SIGRTMIN + 1);
	assert_int_equal(wrap.undecided[1].signo, SIGRTMIN + 2);
	assert_int_equal(take_signal(ALL_SIGNALS, &info, 0), SIGUSR1);
	wrap.undecided[0].seen_ns = 1;
	(void)signals_settle(&wrap);
	assert_int_equal(wrap.undecided_count, 0);
	assert_int_equal(told_count, 3);
	assert_int_equal(told[1].signo, SIGRTMIN + 1);
}

#define SIGNALS_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		SIGNALS_TEST(signals_of_a_job_and_of_a_watch_are_blocked),
		SIGNALS_TEST(signals_are_taken_while_there_is_room),
		SIGNALS_TEST(a_signal_is_noted_with_its_sender),
		SIGNALS_TEST(a_signal_that_comes_again_before_its_sender_slept_counts_once),
		SIGNALS_TEST(stops_of_the_keyboard_are_dropped),
		SIGNALS_TEST(without_signals_all_is_quiet_since_none_was_pending),
		SIGNALS_TEST(a_signal_waits_for_its_sender),
		SIGNALS_TEST(a_signal_for_the_tracker_alone_is_forwarded),
		SIGNALS_TEST(a_signal_that_the_job_got_is_told_and_dropped),
		SIGNALS_TEST(a_value_and_its_sender_are_passed_on),
		SIGNALS_TEST(a_value_waits_while_the_queue_of_the_job_is_full),
		SIGNALS_TEST(a_job_that_has_gone_gets_nothing),
		SIGNALS_TEST(a_second_copy_is_taken_together_with_the_first),
		SIGNALS_TEST(real_time_signals_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
