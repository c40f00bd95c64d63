/* Tests of src/wrap/judge.c: whether the job got a signal that the tracker got, by what the witness has counted. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "wrap/state.h"

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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_signal_that_the_witness_got_was_sent_to_the_job, begin_wrap),
		cmocka_unit_test_setup(a_credit_lasts_for_fifty_milliseconds, begin_wrap),
		cmocka_unit_test_setup(real_time_signals_with_a_value_have_their_own_account, begin_wrap),
		cmocka_unit_test_setup(a_credit_is_for_the_earliest_signal, begin_wrap),
		cmocka_unit_test_setup(a_sender_gets_a_few_milliseconds, begin_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
