/* Tests of src/wrap/judge.c: whether the job got a signal that the tracker got, by what the witness has counted. */
#include "wrap_children.h"
#include "wrap/judge.h"

static struct shared_page page;
static struct wrap wrap;

static int begin_wrap(void **state)
{
	(void)state;
	memset(&page, 0, sizeof page);
	memset(&wrap, 0, sizeof wrap);
	wrap.page = &page;
	return 0;
}

/* A signal to the tracker, which came when everything had been quiet since `quiet_ms`. */
static struct undecided signal_since(int signo, int64_t quiet_ms)
{
	return (struct undecided){.signo = signo,
				  .code = SI_USER,
				  .sender = getpid(),
				  .sender_sleeps = -1,
				  .quiet_ns = quiet_ms * NSEC_PER_MSEC,
				  .seen_ns = quiet_ms * NSEC_PER_MSEC};
}

static void witness_counts(int signo, uint32_t sent, uint32_t queued, int64_t last_ms)
{
	page.sightings[signo].sent = sent;
	page.sightings[signo].queued = queued;
	page.sightings[signo].last_ns = last_ms * NSEC_PER_MSEC;
}

static void a_signal_that_the_witness_got_was_sent_to_the_job(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);

	(void)state;
	assert_false(witness_was_sent(&wrap, &signal));
	witness_counts(SIGTERM, 1, 0, 1001);
	assert_true(witness_was_sent(&wrap, &signal));
	wrap.credits_used[SIGTERM] = 1;
	assert_false(witness_was_sent(&wrap, &signal));
	/* Ordinary signals with a value count in the same account. */
	witness_counts(SIGTERM, 1, 1, 1001);
	assert_true(witness_was_sent(&wrap, &signal));
	signal.signo = SIGINT;
	assert_false(witness_was_sent(&wrap, &signal));
}

/* The sender of a list may reach the witness 50 ms before the tracker. A signal that came earlier was for the job alone. */
static void a_credit_lasts_for_fifty_milliseconds(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);

	(void)state;
	witness_counts(SIGTERM, 1, 0, 951);
	assert_true(witness_was_sent(&wrap, &signal));
	assert_int_equal(wrap.credits_used[SIGTERM], 0);
	witness_counts(SIGTERM, 1, 0, 949);
	assert_false(witness_was_sent(&wrap, &signal));
	assert_int_equal(wrap.credits_used[SIGTERM], 1);
	/* Dropped for good: a later signal needs a new sighting. */
	signal = signal_since(SIGTERM, 990);
	assert_false(witness_was_sent(&wrap, &signal));
}

static void real_time_signals_with_a_value_have_their_own_account(void **state)
{
	struct undecided signal = signal_since(SIGRTMIN + 1, 1000);

	(void)state;
	witness_counts(SIGRTMIN + 1, 1, 0, 1001);
	assert_true(witness_was_sent(&wrap, &signal));
	signal.code = SI_QUEUE;
	assert_false(witness_was_sent(&wrap, &signal));
	witness_counts(SIGRTMIN + 1, 0, 1, 1001);
	assert_true(witness_was_sent(&wrap, &signal));
	signal.code = SI_USER;
	assert_false(witness_was_sent(&wrap, &signal));
}

/* The kernel may have given the last one of a sender to the tracker, and not yet to the witness: it once came twice. */
static void a_credit_is_for_the_earliest_signal(void **state)
{
	const struct undecided *first = wrap.undecided, *second = first + 1, *other = first + 2;

	(void)state;
	wrap.undecided[0] = wrap.undecided[1] = signal_since(SIGRTMIN + 1, 1000);
	wrap.undecided[2] = signal_since(SIGRTMIN + 2, 1000);
	wrap.undecided_count = 3;
	witness_counts(SIGRTMIN + 1, 1, 0, 1001);
	witness_counts(SIGRTMIN + 2, 1, 0, 1001);
	assert_true(witness_was_sent(&wrap, first));
	assert_false(witness_was_sent(&wrap, second));
	assert_true(witness_was_sent(&wrap, other));
	witness_counts(SIGRTMIN + 1, 2, 0, 1001);
	assert_true(witness_was_sent(&wrap, second));
}

/* A sender has 5 ms for the second signal, one that cannot be looked at has 2; one that slept or has gone is done. */
static void a_sender_gets_a_few_milliseconds(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);
	struct sender_look look = {0};

	(void)state;
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC - 1, &look));
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC, &look));
	wrap.has_own_proc = true;
	/* We are the sender, and we run. */
	if (!is_emulated())
		assert_false(sender_is_done(&wrap, &signal, signal.seen_ns + 5 * NSEC_PER_MSEC - 1, &look));
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns + 5 * NSEC_PER_MSEC, &look));
	signal.sender_slept = true;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	signal = signal_since(SIGTERM, 1000);
	signal.before_job = true;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	signal = signal_since(SIGTERM, 1000);
	signal.code = SI_KERNEL;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	signal = signal_since(SIGTERM, 1000);
	signal.sender = 0;
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC, &look));
}

/* One that had never slept is known by its first sleep. */
static void the_first_sleep_of_a_sender_counts(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);
	struct sender_look look = {.sender = getpid(), .peek = {.state = 'R', .threads = 1}};

	(void)state;
	wrap.has_own_proc = true;
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	assert_int_equal(signal.sender_sleeps, 0);
	look.peek.switches = 1;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	assert_true(signal.sender_slept);
}

/* A hidden process cannot be looked at, but it is there. */
static void a_hidden_sender_gets_two_milliseconds(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);
	struct sender_look hidden = {.sender = getpid(), .result = -EACCES},
			   gone = {.sender = 1 << 22, .result = -ENOENT};

	(void)state;
	wrap.has_own_proc = true;
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC - 1, &hidden));
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC, &hidden));
	signal.sender = gone.sender;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &gone));
	assert_int_equal(signal.sender_sleeps, -1);
}

/* Its codes are above those of calls: SI_KERNEL, and POLL_IN of a SIGIO. */
static void a_signal_of_the_kernel_is_known_by_its_code(void **state)
{
	static const int OF_CALLS[] = {SI_USER, SI_QUEUE, SI_TIMER, SI_TKILL},
			 OF_KERNEL[] = {SI_KERNEL, POLL_IN};

	(void)state;
	for (size_t i = 0; i < sizeof OF_CALLS / sizeof *OF_CALLS; i++)
		assert_false(is_from_kernel(&(struct undecided){.code = OF_CALLS[i]}));
	for (size_t i = 0; i < sizeof OF_KERNEL / sizeof *OF_KERNEL; i++)
		assert_true(is_from_kernel(&(struct undecided){.code = OF_KERNEL[i]}));
}

static void real_time_begins_with_signal_34(void **state)
{
	(void)state;
	assert_false(is_real_time(SIGTERM) || is_real_time(33));
	assert_true(is_real_time(34) && is_real_time(64));
}

/* A sender that sleeps will not signal again. One that has gone will not either. */
static void a_sender_that_sleeps_or_has_gone_is_done(void **state)
{
	struct undecided signal = signal_since(SIGTERM, 1000);
	struct sender_look look = {0};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.has_own_proc = true;
	signal.sender = start_sleeper();
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	assert_true(signal.sender_sleeps >= 0);
	/* It has slept again since the first look: the next signal is another one. */
	assert_false(signal.sender_slept);
	look.peek.switches++;
	look.peek.state = 'R';
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns, &look) && !signal.sender_slept);
	look.peek.switches++;
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
	assert_true(signal.sender_slept);
	/* The state is that of its first thread, so that others may run. */
	signal.sender_slept = false;
	look.peek.state = 'S';
	look.peek.threads = 2;
	assert_false(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC - 1, &look));
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns + 2 * NSEC_PER_MSEC, &look));
	end_sleeper(signal.sender);
	look = (struct sender_look){0};
	assert_true(sender_is_done(&wrap, &signal, signal.seen_ns, &look));
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

enum { ASKED_MS = 2000 };

/* The job is this process, which is in its own process group. The question about the signal is the first one. */
static struct undecided asked_about(int signo, int code)
{
	struct undecided signal = signal_since(signo, 1000);

	wrap.job = getpid();
	signal.code = code;
	signal.question = 1;
	signal.asked_ns = ASKED_MS * NSEC_PER_MSEC;
	signal.drained_ns = 990 * NSEC_PER_MSEC;
	return signal;
}

static enum verdict judged_after(const struct undecided *signal, int64_t ns)
{
	return judge(&wrap, signal, signal->asked_ns + ns);
}

static void a_signal_is_undecided_until_it_was_asked_about(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	signal.asked_ns = 0;
	assert_int_equal(judge(&wrap, &signal, INT64_MAX), UNDECIDED);
	/* The job's queue was full: it has to be sent again. */
	signal.refused = true;
	assert_int_equal(judge(&wrap, &signal, INT64_MAX), OURS_ALONE);
}

/* The kernel signals groups, but a hang-up goes to the leader of the session alone, and an alarm to its process. */
static void without_a_witness_the_origin_decides(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	signal = asked_about(SIGINT, SI_KERNEL);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
	signal.before_job = true;
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	signal = asked_about(SIGALRM, SI_KERNEL);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	signal = asked_about(SIGHUP, SI_KERNEL);
	wrap.own_pid = getsid(0) + 1;
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
	wrap.own_pid = getsid(0);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	signal = asked_about(SIGINT, SI_KERNEL);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
}

static void an_answer_decides(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	wrap.witness = 1 << 22;
	assert_int_equal(judged_after(&signal, 0), UNDECIDED);
	page.answered = 1;
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	witness_counts(SIGTERM, 1, 0, 1001);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGTERM], 1);
	/* It came before the job did. */
	witness_counts(SIGTERM, 2, 0, 1001);
	signal.before_job = true;
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	/* Numbers of questions begin again after the last one. */
	signal = asked_about(SIGTERM, SI_USER);
	signal.question = UINT32_MAX;
	witness_counts(SIGTERM, 3, 0, 1001);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
}

static void a_job_in_a_group_of_its_own_gets_no_signal_of_ours(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.witness = 1 << 22;
	wrap.job = start_sleeper();
	page.answered = 1;
	witness_counts(SIGTERM, 1, 0, 1001);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
	assert_int_equal(setpgid(wrap.job, 0), 0);
	witness_counts(SIGTERM, 2, 0, 1001);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	end_sleeper(wrap.job);
}

/* The tracker may have seen two as one. Later ones keep theirs. */
static void a_surplus_of_the_witness_is_dropped(void **state)
{
	struct undecided *signals = wrap.undecided;

	(void)state;
	wrap.witness = 1 << 22;
	page.answered = 1;
	wrap.undecided_count = 1;
	signals[0] = asked_about(SIGTERM, SI_USER);
	witness_counts(SIGTERM, 3, 0, 1001);
	assert_int_equal(judged_after(&signals[0], 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGTERM], 3);
	signals[1] = signals[0];
	signals[2] = asked_about(SIGINT, SI_USER);
	wrap.undecided_count = 3;
	witness_counts(SIGTERM, 6, 0, 1001);
	assert_int_equal(judged_after(&signals[0], 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGTERM], 5);
	assert_int_equal(judged_after(&signals[1], 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGTERM], 6);
	/* Those of real time never merge. */
	signals[0] = asked_about(SIGRTMIN + 1, SI_USER);
	witness_counts(SIGRTMIN + 1, 3, 0, 1001);
	assert_int_equal(judged_after(&signals[0], 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGRTMIN + 1], 1);
}

/* Two that come before the witness runs are one there. Not if it took its last one before this one was sent. */
static void a_signal_may_have_become_one_with_the_last(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	wrap.witness = 1 << 22;
	page.answered = 1;
	wrap.credits_used[SIGTERM] = 1;
	witness_counts(SIGTERM, 1, 0, 989);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	witness_counts(SIGTERM, 1, 0, 990);
	assert_int_equal(judged_after(&signal, 0), REACHED_THE_JOB);
	assert_int_equal(wrap.credits_used[SIGTERM], 1);
	signal.drained_ns = 0;
	witness_counts(SIGTERM, 1, 0, 0);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
	signal = asked_about(SIGRTMIN + 1, SI_USER);
	wrap.credits_used[SIGRTMIN + 1] = 1;
	witness_counts(SIGRTMIN + 1, 1, 0, 1001);
	assert_int_equal(judged_after(&signal, 0), OURS_ALONE);
}

/* ---- a witness that does not answer in time ------------------------------------------------------------------------ */

static void the_witness_has_two_milliseconds_for_its_answer(void **state)
{
	struct undecided signal = asked_about(SIGINT, SI_KERNEL);

	(void)state;
	wrap.witness = 1 << 22; /* it has gone */
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC - 1), UNDECIDED);
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC), REACHED_THE_JOB);
	signal = asked_about(SIGTERM, SI_USER);
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC), OURS_ALONE);
	/* Only it can count those of real time. */
	signal = asked_about(SIGRTMIN + 1, SI_KERNEL);
	assert_int_equal(judged_after(&signal, 50 * NSEC_PER_MSEC - 1), UNDECIDED);
	assert_int_equal(judged_after(&signal, 50 * NSEC_PER_MSEC), REACHED_THE_JOB);
	/* It has counted one that it could not answer about. */
	signal = asked_about(SIGTERM, SI_USER);
	witness_counts(SIGTERM, 1, 0, 1001);
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC), REACHED_THE_JOB);
}

/* It sleeps, so that it has nothing left to take. */
static void a_signal_that_is_pending_in_the_witness_reached_the_job(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.has_own_proc = true;
	wrap.witness = start_sleeper();
	assert_false(witness_was_sent(&wrap, &signal));
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC), OURS_ALONE);
	assert_int_equal(kill(wrap.witness, SIGTERM), 0);
	assert_true(witness_was_sent(&wrap, &signal));
	assert_int_equal(judged_after(&signal, 2 * NSEC_PER_MSEC), REACHED_THE_JOB);
	/* The witness counts it later. */
	assert_int_equal(wrap.credits_used[SIGTERM], 1);
	signal.signo = SIGINT;
	assert_false(witness_was_sent(&wrap, &signal));
	/* One that came earlier has the pending one. */
	wrap.undecided[0] = wrap.undecided[1] = asked_about(SIGTERM, SI_USER);
	wrap.undecided_count = 2;
	wrap.credits_used[SIGTERM] = 0;
	assert_true(witness_was_sent(&wrap, &wrap.undecided[0]));
	assert_false(witness_was_sent(&wrap, &wrap.undecided[1]));
	wrap.has_own_proc = false;
	assert_false(witness_was_sent(&wrap, &wrap.undecided[0]));
	end_sleeper(wrap.witness);
}

/* On a busy machine it may have taken the signal and not counted it yet. One that is pending is waited for longer. */
static void a_witness_that_was_stopped_is_continued_and_waited_for(void **state)
{
	struct undecided signal = asked_about(SIGTERM, SI_USER);
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.has_own_proc = true;
	wrap.witness = start_sleeper();
	stop_child(wrap.witness);
	assert_int_equal(judged_after(&signal, 50 * NSEC_PER_MSEC - 1), UNDECIDED);
	assert_int_equal(waitpid(wrap.witness, &status, WCONTINUED), wrap.witness);
	assert_true(WIFCONTINUED(status));
	stop_child(wrap.witness);
	assert_int_equal(judged_after(&signal, 50 * NSEC_PER_MSEC), OURS_ALONE);
	stop_child(wrap.witness);
	assert_int_equal(kill(wrap.witness, SIGTERM), 0);
	assert_int_equal(judged_after(&signal, NSEC_PER_SEC - 1), UNDECIDED);
	stop_child(wrap.witness);
	assert_int_equal(judged_after(&signal, NSEC_PER_SEC), REACHED_THE_JOB);
	stop_child(wrap.witness);
	signal = asked_about(SIGRTMIN + 1, SI_USER);
	assert_int_equal(judged_after(&signal, NSEC_PER_SEC - 1), UNDECIDED);
	end_sleeper(wrap.witness);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_signal_that_the_witness_got_was_sent_to_the_job, begin_wrap),
		cmocka_unit_test_setup(a_credit_lasts_for_fifty_milliseconds, begin_wrap),
		cmocka_unit_test_setup(real_time_signals_with_a_value_have_their_own_account, begin_wrap),
		cmocka_unit_test_setup(a_credit_is_for_the_earliest_signal, begin_wrap),
		cmocka_unit_test_setup(a_sender_gets_a_few_milliseconds, begin_wrap),
		cmocka_unit_test_setup(a_hidden_sender_gets_two_milliseconds, begin_wrap),
		cmocka_unit_test_setup(the_first_sleep_of_a_sender_counts, begin_wrap),
		cmocka_unit_test_setup(a_signal_of_the_kernel_is_known_by_its_code, begin_wrap),
		cmocka_unit_test(real_time_begins_with_signal_34),
		cmocka_unit_test_setup(a_sender_that_sleeps_or_has_gone_is_done, begin_wrap),
		cmocka_unit_test_setup(a_signal_is_undecided_until_it_was_asked_about, begin_wrap),
		cmocka_unit_test_setup(without_a_witness_the_origin_decides, begin_wrap),
		cmocka_unit_test_setup(an_answer_decides, begin_wrap),
		cmocka_unit_test_setup(a_job_in_a_group_of_its_own_gets_no_signal_of_ours, begin_wrap),
		cmocka_unit_test_setup(a_surplus_of_the_witness_is_dropped, begin_wrap),
		cmocka_unit_test_setup(a_signal_may_have_become_one_with_the_last, begin_wrap),
		cmocka_unit_test_setup(the_witness_has_two_milliseconds_for_its_answer, begin_wrap),
		cmocka_unit_test_setup(a_signal_that_is_pending_in_the_witness_reached_the_job, begin_wrap),
		cmocka_unit_test_setup(a_witness_that_was_stopped_is_continued_and_waited_for, begin_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
