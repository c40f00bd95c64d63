/* Tests of src/regions/sample_shares.c: what of each sample belongs to a phase. */
#include "unit.h"

#include <math.h>

#include "regions/sample_shares.h"

enum { MEMORY, CORES, BYTES, MEASURES };

static const enum measure_holds HOLDS[] = {HOLDS_MOMENT, HOLDS_LEVEL, HOLDS_AMOUNT};
static struct tallies tallies;

static void begin_phase(struct phase_call *calls, size_t count)
{
	struct phase phase = {.name = (char[]){"p"}, .calls = calls, .call_count = count};
	struct phases phases = {.list = &phase, .count = 1};

	tallies_done(&tallies);
	tallies = (struct tallies){0};
	assert_int_equal(tallies_begin(&tallies, &phases, HOLDS, MEASURES), 0);
	tallies.list[0].phase = NULL;
}

static void add_sample(const struct phase *phase, double began, double ended, double memory, double cores,
		       int64_t bytes)
{
	const struct rt_value cells[] = {{.type = RT_TYPE_REAL, .real = memory},
					 {.type = RT_TYPE_REAL, .real = cores},
					 {.type = RT_TYPE_COUNT, .count = bytes}};

	tallies.list[0].phase = phase;
	assert_int_equal(tallies_add(&tallies, (struct sample_values){began, ended, cells}), 0);
}

/* Samples at 1, 2 and 3 s, and the tally of one phase. */
static const struct phase_tally *tally_of(struct phase_call *calls, size_t count)
{
	static struct phase phase;

	phase = (struct phase){.calls = calls, .call_count = count};
	begin_phase(calls, count);
	for (int i = 1; i <= 3; i++)
		add_sample(&phase, i - 1, i, 10 * i, i, 100 * i);
	tallies_finish(&tallies);
	return tallies.list;
}

#define TALLY(...) \
	tally_of((struct phase_call[]){__VA_ARGS__}, \
		 sizeof((struct phase_call[]){__VA_ARGS__}) / sizeof(struct phase_call))
#define CALL(from, to) \
	{ \
		.start = (from), .stop = (to) \
	}

static void assert_same(double found, double wanted)
{
	if (isnan(wanted) ? !isnan(found) : !(fabs(found - wanted) < 1e-9))
		fail_msg("%g is not %g", found, wanted);
}

/* Wanted: least, most, mean, deviation, total. */
static void assert_statistics(struct share_sums *sums, int measure, const double wanted[REGION_STATISTICS])
{
	double found[REGION_STATISTICS];

	share_sums_get(&sums[measure], HOLDS[measure], found);
	for (size_t i = 0; i < REGION_STATISTICS; i++)
		assert_same(found[i], wanted[i]);
}

#define STATISTICS(sums, measure, ...) assert_statistics(sums, measure, (const double[]){__VA_ARGS__})

static void an_interval_counts_by_its_part_and_a_moment_wholly(void **state)
{
	const struct phase_tally *tally = TALLY(CALL(1.5, 2.5));

	(void)state;
	assert_int_equal(tally->timepoints, 1);
	assert_int_equal(tally->non_empty_calls, 1);
	STATISTICS(tally->sums, MEMORY, 20, 20, 20, 0, NAN);
	STATISTICS(tally->sums, CORES, 2, 3, 2.5, 0.5, 2.5);
	STATISTICS(tally->sums, BYTES, 200, 300, 250, 50, 250);
	assert_same(tally->each[CORES][0], 2.5);
	assert_int_equal(tallies.samples, 3);
	STATISTICS(tallies.whole, MEMORY, 10, 30, 20, sqrt(200.0 / 3), NAN);
	STATISTICS(tallies.whole, CORES, 1, 3, 2, sqrt(2.0 / 3), 6);
	STATISTICS(tallies.whole, BYTES, 100, 300, 200, sqrt(20000.0 / 3), 600);
}

static void calls_that_share_time_count_it_once(void **state)
{
	const struct phase_tally *tally = TALLY(CALL(0.5, 1.5), CALL(1, 3), CALL(1.25, 2));

	(void)state;
	assert_int_equal(tally->timepoints, 3);
	assert_int_equal(tally->non_empty_calls, 3);
	/* Half of the first interval and the others. */
	STATISTICS(tally->sums, CORES, 1, 3, 2.2, sqrt(0.56), 5.5);
	STATISTICS(tally->sums, MEMORY, 10, 30, 20, sqrt(200.0 / 3), NAN);
	/* Each call by itself: its total, or the most of its moments. */
	assert_same(tally->each[BYTES][0], 150);
	assert_same(tally->each[BYTES][1], 500);
	assert_same(tally->each[MEMORY][0], 10);
	assert_same(tally->each[MEMORY][1], 30);
}

/* The time stamp between two calls that touch is one time stamp. */
static void calls_that_touch_are_one_span(void **state)
{
	const struct phase_tally *tally = TALLY(CALL(0, 1), CALL(1, 2));

	(void)state;
	assert_int_equal(tally->timepoints, 2);
	assert_int_equal(tally->non_empty_calls, 2);
	STATISTICS(tally->sums, MEMORY, 10, 20, 15, 5, NAN);
	STATISTICS(tally->sums, CORES, 1, 2, 1.5, 0.5, 3);
	tally = TALLY(CALL(0, 0.5), CALL(2.5, 3));
	assert_int_equal(tally->timepoints, 1);
	assert_int_equal(tally->non_empty_calls, 1);
	STATISTICS(tally->sums, CORES, 1, 3, 2, 1, 2);
	STATISTICS(tally->sums, MEMORY, 30, 30, 30, 0, NAN);
}

static void a_call_between_two_samples_has_no_moment(void **state)
{
	const struct phase_tally *tally = TALLY(CALL(2.25, 2.75));

	(void)state;
	assert_int_equal(tally->timepoints, 0);
	assert_int_equal(tally->non_empty_calls, 0);
	STATISTICS(tally->sums, MEMORY, NAN, NAN, NAN, NAN, NAN);
	STATISTICS(tally->sums, CORES, 3, 3, 3, 0, 1.5);
	STATISTICS(tally->sums, BYTES, 300, 300, 300, 0, 150);
	assert_same(tally->each[MEMORY][0], NAN);
	/* Outside the run. */
	tally = TALLY(CALL(3.5, 4));
	assert_int_equal(tally->timepoints, 0);
	STATISTICS(tally->sums, CORES, NAN, NAN, NAN, NAN, NAN);
	assert_same(tally->each[BYTES][1], NAN);
}

/* gpu_tracker's samples have no length, so each begins at the end of the one before. */
static void a_sample_without_a_length_begins_after_the_one_before(void **state)
{
	struct phase_call calls[] = {CALL(1, 2)};
	struct phase phase = {.calls = calls, .call_count = 1};

	(void)state;
	begin_phase(calls, 1);
	add_sample(&phase, NAN, 1, 10, 1, 100);
	add_sample(&phase, 9, 3, 20, NAN, 200);
	tallies_finish(&tallies);
	assert_int_equal(tallies.list[0].timepoints, 1);
	/* The first one is a moment, which lies in the phase. Half of the second one does. */
	STATISTICS(tallies.list[0].sums, BYTES, 100, 200, 400.0 / 3, sqrt(20000.0 / 9), 200);
	STATISTICS(tallies.list[0].sums, CORES, NAN, NAN, NAN, NAN, NAN);
	/* Another run in the file begins anew. */
	tallies_clear(&tallies);
	assert_int_equal(tallies.samples, 0);
	add_sample(&phase, 1, 2, 5, 7, 1);
	tallies_finish(&tallies);
	assert_int_equal(tallies.list[0].timepoints, 1);
	STATISTICS(tallies.list[0].sums, CORES, 7, 7, 7, 0, 7);
	STATISTICS(tallies.whole, MEMORY, 5, 5, 5, 0, NAN);
}

/* Its bytes came in no time, so that all of them belong to the moment. */
static void a_sample_of_no_length_is_a_moment(void **state)
{
	struct phase_call calls[] = {CALL(1.5, 2)};
	struct phase phase = {.calls = calls, .call_count = 1};

	(void)state;
	begin_phase(calls, 1);
	add_sample(&phase, 0, 1, 10, 1, 100);
	add_sample(&phase, 2, 2, 20, 2, 200);
	tallies_finish(&tallies);
	STATISTICS(tallies.list[0].sums, BYTES, 200, 200, 200, 0, 200);
	STATISTICS(tallies.list[0].sums, CORES, NAN, NAN, NAN, NAN, NAN);
}

/* A phase may have millions of calls. */
static void a_call_that_is_over_is_not_kept(void **state)
{
	struct phase_call calls[] = {CALL(0, 1), CALL(0.5, 1.5), CALL(2, 3)};
	struct phase phase = {.calls = calls, .call_count = 3};

	(void)state;
	begin_phase(calls, 3);
	add_sample(&phase, 0, 1, 10, 1, 100);
	assert_int_equal(tallies.list[0].open_count, 2);
	/* The next one begins with its end. */
	add_sample(&phase, 1, 1.75, 10, 1, 100);
	assert_int_equal(tallies.list[0].open_count, 2);
	add_sample(&phase, 1.75, 2.5, 10, 1, 100);
	assert_int_equal(tallies.list[0].open_count, 1);
	assert_int_equal(tallies.list[0].first_span, 1);
}

static void many_calls_are_open_at_once(void **state)
{
	struct phase_call calls[20];
	const struct phase_tally *tally;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		calls[i] = (struct phase_call)CALL(0.01 * (double)i, i % 2 ? 0.5 : 2.5);
	tally = tally_of(calls, 20);
	assert_int_equal(tally->non_empty_calls, 10);
	assert_int_equal(tally->timepoints, 2);
	assert_same(tally->each[MEMORY][0], 20);
	assert_same(tally->each[BYTES][0], 31);
	assert_same(tally->each[BYTES][1], 450);
	tallies_done(&tallies);
	tallies = (struct tallies){0};
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_counts_by_its_part_and_a_moment_wholly),
		cmocka_unit_test(calls_that_share_time_count_it_once),
		cmocka_unit_test(calls_that_touch_are_one_span),
		cmocka_unit_test(a_call_between_two_samples_has_no_moment),
		cmocka_unit_test(a_sample_without_a_length_begins_after_the_one_before),
		cmocka_unit_test(a_sample_of_no_length_is_a_moment),
		cmocka_unit_test(a_call_that_is_over_is_not_kept),
		cmocka_unit_test(many_calls_are_open_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
