/* Tests of src/history/fleet_store.c: packed runs come back as they were. */
#include "unit.h"

#include <math.h>

#include "history/fleet_store.h"

static struct packed_runs runs;

static int end(void **state)
{
	(void)state;
	packed_runs_done(&runs);
	return 0;
}

static void assert_same_real(double value, double wanted)
{
	assert_memory_equal(&value, &wanted, sizeof value);
}

/* Its spare memory is derived. NaN has one form here. */
static void assert_same_run(const struct fleet_run *got, const struct fleet_run *wanted)
{
#define FLEET(field, ...) assert_same_real(got->field, wanted->field);
#include "figures/run_figures.def"
	assert_same_real(got->started, wanted->started);
	assert_same_real(got->cores_asked, wanted->cores_asked);
	assert_same_real(got->memory_asked_mib, wanted->memory_asked_mib);
	assert_same_real(got->oom_had_mib, wanted->oom_had_mib);
	assert_same_real(got->gpu_idle_hours, wanted->gpu_idle_hours);
	assert_true(got->job == wanted->job && got->host == wanted->host);
	assert_true(got->end == wanted->end && got->reason == wanted->reason);
	assert_true(got->at_limit == wanted->at_limit && got->ended == wanted->ended);
	assert_true(got->is_step == wanted->is_step && got->asked_by_cpu == wanted->asked_by_cpu);
}

static struct fleet_run plain_run(void)
{
	return (struct fleet_run){.wall_secs = 12.5,
				  .cpu_secs = 24.125,
				  .cores = 1.93,
				  .memory_mib = 1024,
				  .started = 1700000000.123,
				  .cores_asked = 4,
				  .memory_asked_mib = 3072,
				  .oom_had_mib = (double)NAN,
				  .gpu_idle_hours = (double)NAN};
}

static void add(uint32_t number, const struct fleet_run *run)
{
	assert_int_equal(packed_runs_add(&runs, number, run), 0);
}

static void reals_of_any_kind_come_back_exactly(void **state)
{
	static const double VALUES[] = {0,
					-0.0,
					0.1,
					0.12,
					0.123,
					0.1234,
					0.12345,
					0.000001,
					0.0000001,
					123456789.123456,
					1.0 / 3,
					-1.5,
					1e300,
					5e-324,
					INFINITY,
					9007199254740991.0,
					9007199254740992.0,
					900719925474099.25,
					15,
					7,
					127,
					128,
					16384,
					(double)NAN};
	const size_t count = sizeof VALUES / sizeof *VALUES;
	struct run_cursor cursor;
	struct fleet_run wanted[sizeof VALUES / sizeof *VALUES], got;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		wanted[i] = plain_run();
		wanted[i].wall_secs = VALUES[i];
		wanted[i].cores_asked = VALUES[(i + 1) % count];
		wanted[i].gpu_idle_hours = VALUES[(i + 2) % count];
		wanted[i].memory_asked_mib = VALUES[(i + 3) % count];
		add((uint32_t)i, &wanted[i]);
	}
	cursor = packed_runs_begin(&runs);
	for (size_t i = 0; i < count; i++) {
		assert_true(packed_runs_next(&cursor, &got));
		assert_same_run(&got, &wanted[i]);
	}
	assert_false(packed_runs_next(&cursor, &got));
}

/* No number of it has a short form. */
static void the_longest_run_comes_back(void **state)
{
	const double raw = 1.0 / 3;
	struct fleet_run run = {.started = raw,
				.cores_asked = raw,
				.memory_asked_mib = raw,
				.oom_had_mib = raw,
				.gpu_idle_hours = raw,
				.job = UINT64_MAX,
				.host = UINT64_MAX,
				.end = 2,
				.reason = 127,
				.at_limit = true,
				.ended = true,
				.is_step = true,
				.asked_by_cpu = true},
			 got;
	struct run_cursor cursor;

	(void)state;
#define FLEET(field, ...) run.field = raw;
#include "figures/run_figures.def"
	for (uint32_t i = 1; i < 100; i++) {
		run.cores_asked = i % 2 ? raw : -raw;
		add(UINT32_MAX / 100 * i, &run);
	}
	cursor = packed_runs_begin(&runs);
	for (uint32_t i = 1; i < 100; i++) {
		run.cores_asked = i % 2 ? raw : -raw;
		assert_true(packed_runs_next(&cursor, &got));
		assert_same_run(&got, &run);
	}
}

static size_t bytes_of(double wall_secs)
{
	struct fleet_run run = plain_run();
	struct run_cursor cursor;

	packed_runs_done(&runs);
	run.wall_secs = wall_secs;
	add(0, &run);
	cursor = packed_runs_begin(&runs);
	assert_true(packed_runs_next(&cursor, &run));
	return cursor.at;
}

/* A million runs of about 30 bytes fit into 64 MiB. A byte has 7 bits, and 3 bits are the number of decimals. */
static void numbers_of_a_line_take_few_bytes(void **state)
{
	static const struct {
		double value;
		size_t bytes;
	} CASES[] = {
		{NAN, 1},
		{0, 1},
		{15, 1},
		{16, 2},
		{0.1, 1},
		{12.5, 2},
		{1.93, 2},
		{1.234, 2},
		{0.1234, 2},
		{0.12345, 3},
		{0.123456, 3},
		{1.0 / 3, 9},
		{-1.5, 9},
		{-0.0, 9},
		{0.0000001, 9},
		{INFINITY, 9},
		{9007199254740991.0, 8},
	};
	const size_t rest = bytes_of(0) - 1;

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		if (bytes_of(CASES[i].value) - rest != CASES[i].bytes)
			fail_msg("%g takes %zu bytes", CASES[i].value, bytes_of(CASES[i].value) - rest);
	assert_true(bytes_of(12.5) <= 40);
}

static void each_mark_of_a_run_comes_back_alone(void **state)
{
	struct fleet_run list[7], got;
	struct run_cursor cursor;

	(void)state;
	for (int i = 0; i < 7; i++)
		list[i] = plain_run();
	list[0].end = 2;
	list[1].at_limit = true;
	list[2].ended = true;
	list[3].job = 0x1234567890abcdef;
	list[3].host = UINT64_MAX;
	list[4].is_step = true;
	list[5].asked_by_cpu = true;
	list[6].reason = 127;
	for (uint32_t i = 0; i < 7; i++)
		add(i, &list[i]);
	cursor = packed_runs_begin(&runs);
	for (int i = 0; i < 7; i++) {
		assert_true(packed_runs_next(&cursor, &got));
		assert_same_run(&got, &list[i]);
	}
}

static void the_number_of_each_line_comes_back(void **state)
{
	static const uint32_t NUMBERS[] = {0, 1, 128, 129, 255, 300, 20000, 3000000, UINT32_MAX};
	const struct fleet_run run = plain_run();
	struct run_cursor cursor;
	struct fleet_run got;

	(void)state;
	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
		add(NUMBERS[i], &run);
	cursor = packed_runs_begin(&runs);
	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
		assert_true(packed_runs_next(&cursor, &got));
		assert_int_equal(cursor.number, NUMBERS[i]);
	}
}

/* The request is stored where it differs from that of the run before. */
static void a_request_changes_from_run_to_run(void **state)
{
	static const double REQUESTS[][2] = {{4, 3072}, {4, 3072}, {4, 1000}, {2, 1000},
					     {2, 1000}, {2, NAN},  {2, NAN},  {4, 3072}};
	struct run_cursor cursor;
	struct fleet_run run = plain_run(), got;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		run.cores_asked = REQUESTS[i][0];
		run.memory_asked_mib = REQUESTS[i][1];
		add(i, &run);
	}
	cursor = packed_runs_begin(&runs);
	for (int i = 0; i < 8; i++) {
		assert_true(packed_runs_next(&cursor, &got));
		assert_true(got.cores_asked == REQUESTS[i][0]);
		assert_true(isnan(REQUESTS[i][1]) ? isnan(got.memory_asked_mib)
						  : got.memory_asked_mib == REQUESTS[i][1]);
		/* 1024 MiB are used. */
		if (!isnan(REQUESTS[i][1]))
			assert_true(fabs(got.spare_gib - (REQUESTS[i][1] - 1024) / 1024) < 1e-12);
	}
}

/* Many chunks of different sizes, of short and long runs. */
static void many_runs_come_back_in_their_order(void **state)
{
	enum { RUNS = 20000 };
	struct run_cursor cursor;
	struct fleet_run run = plain_run(), got;
	size_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < RUNS; i++) {
		run.wall_secs = i % 7 ? i : i / 3.0;
		run.job = i % 11 ? 0 : i;
		run.cores_asked = i / 100;
		add(i, &run);
	}
	cursor = packed_runs_begin(&runs);
	for (; packed_runs_next(&cursor, &got); count++) {
		assert_true(got.wall_secs == (count % 7 ? (double)count : (double)count / 3.0));
		assert_int_equal(got.job, count % 11 ? 0 : count);
		assert_int_equal(cursor.number, count);
	}
	assert_int_equal(count, RUNS);
	packed_runs_done(&runs);
	assert_true(!runs.first && !runs.last);
	cursor = packed_runs_begin(&runs);
	assert_false(packed_runs_next(&cursor, &got));
}

#define unit_test_of_store(test) cmocka_unit_test_teardown(test, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_store(reals_of_any_kind_come_back_exactly),
		unit_test_of_store(the_longest_run_comes_back),
		unit_test_of_store(numbers_of_a_line_take_few_bytes),
		unit_test_of_store(each_mark_of_a_run_comes_back_alone),
		unit_test_of_store(the_number_of_each_line_comes_back),
		unit_test_of_store(a_request_changes_from_run_to_run),
		unit_test_of_store(many_runs_come_back_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
