/* Tests of src/history/fleet_groups.c: the figures of a group of runs, from their lines. */
#include "made_fleet.h"

static const struct fleet_group *group_of(const char *name)
{
	for (size_t i = 0; i < fleet.group_count; i++)
		if (strcmp(fleet.groups[i].key + 1, name) == 0)
			return &fleet.groups[i];
	fail_msg("no group of %s", name);
	return NULL;
}

/* ---- percentiles --------------------------------------------------------------------------------------------- */

static void percentiles_lie_between_two_runs(void **state)
{
	static const double SECS[] = {4, 1, 3, 2};
	const struct fleet_group *group;

	(void)state;
	for (int i = 0; i < 4; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":%g", SECS[i]);
	/* Runs without a good end, or without the figure, do not count. */
	add_line("\"outcome\":\"failed\",\"name\":\"a\",\"wall_secs\":100");
	add_line("\"outcome\":\"ok\",\"name\":\"a\"");
	add_line("\"outcome\":\"ok\",\"name\":\"b\",\"wall_secs\":7,\"cpu_secs\":8,\"memory_peak_mib\":9");
	add_line("\"outcome\":\"running\",\"name\":\"c\",\"wall_secs\":7");
	compute("job");
	assert_int_equal(fleet.runs, 8);
	group = group_of("a");
	assert_int_equal(group->runs, 6);
	assert_real(group->wall_secs.p50, 2.5);
	assert_real(group->wall_secs.p95, 3.85);
	assert_real(group->wall_secs.most, 4);
	assert_true(isnan(group->cpu_secs.p50));
	group = group_of("b");
	assert_real(group->wall_secs.p50, 7);
	assert_real(group->wall_secs.p95, 7);
	assert_real(group->cpu_secs.most, 8);
	assert_real(group->memory_mib.most, 9);
	group = group_of("c");
	assert_true(isnan(group->wall_secs.p50) && isnan(group->wall_secs.p95) &&
		    isnan(group->wall_secs.most));
}

static void ends_and_reasons_are_counted(void **state)
{
	const struct fleet_group *group;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"memory_limit_mib\":100,\"memory_peak_mib\":%d",
			 94 + i);
	add_line("\"outcome\":\"failed\",\"exit_code\":2,\"name\":\"a\",\"memory_limit_mib\":100,"
		 "\"memory_peak_mib\":99");
	add_line("\"outcome\":\"oom\",\"name\":\"a\"");
	add_line("\"outcome\":\"oom\",\"name\":\"a\"");
	add_line("\"outcome\":\"running\",\"name\":\"a\"");
	compute("job");
	group = group_of("a");
	assert_int_equal(group->ends[FLEET_OK], 3);
	assert_int_equal(group->ends[FLEET_FAILED], 3);
	assert_int_equal(group->ends[FLEET_CUT], 1);
	/* At 95 % of the limit. The run that failed is not counted. */
	assert_int_equal(group->at_limit, 2);
	assert_int_equal(fleet.reason_count, 4);
	assert_string_equal(fleet.reasons[1], "exit 2");
	assert_int_equal(group->reasons[1], 1);
	assert_string_equal(fleet.reasons[2], "out of memory");
	assert_int_equal(group->reasons[2], 2);
	assert_int_equal(fleet.memory_reason, 2);
}

/* ---- resources ----------------------------------------------------------------------------------------------- */

static void unused_resources_add_up(void **state)
{
	const struct fleet_group *group;

	(void)state;
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":7200,\"cpu_secs\":3600,\"cores_mean\":0.5,"
		 "\"cores_asked\":4,\"memory_asked_mib\":3072,\"memory_peak_mib\":1024,\"gpu_idle_hours\":1."
		 "5");
	/* One that used more than it asked for. */
	add_line(
		"\"outcome\":\"failed\",\"name\":\"a\",\"wall_secs\":3600,\"cpu_secs\":7200,\"cores_mean\":2,"
		"\"cores_asked\":1,\"memory_asked_mib\":1024,\"memory_peak_mib\":2048,\"gpu_idle_hours\":0");
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":3600");
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":3600,\"cpu_secs\":1800,\"cores_mean\":0.5,"
		 "\"cores_asked\":1");
	compute("job");
	group = group_of("a");
	assert_real(group->core_hours, 3.5);
	assert_real(group->failed_core_hours, 2);
	assert_real(group->unused_core_hours, 3.5 * 2 + 0.5);
	assert_real(group->unused_gib_hours, 2 * 2);
	assert_real(group->unused_gpu_hours, 1.5);
	assert_int_equal(group->core_runs, 3);
	assert_int_equal(group->memory_runs, 2);
	assert_int_equal(group->gpu_runs, 2);
}

static void the_newest_run_tells_the_request(void **state)
{
	const struct fleet_group *group;

	(void)state;
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":30,\"cores_asked\":3,\"memory_asked_mib\":"
		 "300");
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":20,\"cores_asked\":2,\"memory_asked_mib\":"
		 "200");
	/* It is the newest, and tells nothing. */
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":40");
	add_line("\"outcome\":\"ok\",\"name\":\"a\",\"cores_asked\":1,\"memory_asked_mib\":100");
	/* Runs without a start are older than all others, and a later line is newer. */
	add_line("\"outcome\":\"ok\",\"name\":\"b\",\"cores_asked\":1,\"memory_asked_mib\":100");
	add_line("\"outcome\":\"ok\",\"name\":\"b\",\"cores_asked\":2,\"memory_asked_mib\":200");
	add_line("\"outcome\":\"ok\",\"name\":\"c\"");
	compute("job");
	group = group_of("a");
	assert_real(group->cores_asked, 3);
	assert_real(group->memory_asked_mib, 300);
	group = group_of("b");
	assert_real(group->cores_asked, 2);
	assert_real(group->memory_asked_mib, 200);
	assert_true(isnan(group_of("c")->cores_asked) && isnan(group_of("c")->memory_asked_mib));
}

static void the_most_memory_that_was_not_enough_counts(void **state)
{
	(void)state;
	add_line("\"outcome\":\"oom\",\"name\":\"a\",\"oom_had_mib\":100");
	add_line("\"outcome\":\"oom\",\"name\":\"a\",\"oom_had_mib\":300");
	add_line("\"outcome\":\"oom\",\"name\":\"a\",\"oom_had_mib\":200");
	add_line("\"outcome\":\"ok\",\"name\":\"a\"");
	add_line("\"outcome\":\"ok\",\"name\":\"b\"");
	compute("job");
	assert_real(group_of("a")->oom_had_mib, 300);
	assert_true(isnan(group_of("b")->oom_had_mib));
}

/* ---- drift --------------------------------------------------------------------------------------------------- */

/* Adds `count` runs in a shuffled order: the first one in time has `first` seconds, and each later one `step` more. */
static void add_shuffled(const char *name, int count, double first, double step)
{
	/* Without a factor in common with any count here. */
	enum { STRIDE = 7919 };

	for (int i = 0, at = 3; i < count; i++, at = (at + STRIDE) % count)
		add_line("\"outcome\":\"ok\",\"name\":\"%s\",\"started\":%d,\"wall_secs\":%.9g,"
			 "\"memory_peak_mib\":%.9g",
			 name, 1000 + at, first + step * at, 2 * (first + step * at));
}

static void assert_drift(const char *name, size_t fresh, size_t old, double change)
{
	const struct fleet_group *group = group_of(name);

	assert_int_equal(group->wall_drift.new_runs, fresh);
	assert_int_equal(group->wall_drift.old_runs, old);
	assert_real(group->wall_drift.change, change);
	assert_int_equal(group->memory_drift.new_runs, fresh);
	assert_real(group->memory_drift.change, change);
}

static void the_newest_quarter_is_compared_with_the_runs_before_it(void **state)
{
	(void)state;
	add_shuffled("9", 9, 1, 1);
	add_shuffled("10", 10, 1, 1);
	add_shuffled("23", 23, 1, 1);
	add_shuffled("24", 24, 1, 1);
	add_shuffled("201", 201, 1, 1);
	add_shuffled("300", 300, 1, 1);
	compute("job");
	assert_true(isnan(group_of("9")->wall_drift.change));
	assert_int_equal(group_of("9")->wall_drift.new_runs, 0);
	assert_false(group_of("9")->wall_drift.is_clear);
	/* Runs 1 to 5, and 6 to 10. */
	assert_drift("10", 5, 5, 8 / 3.0 - 1);
	assert_drift("23", 5, 18, 21 / 9.5 - 1);
	assert_drift("24", 6, 18, 21.5 / 9.5 - 1);
	/* 201 runs: 152 to 201, and 1 to 151. */
	assert_drift("201", 50, 151, 176.5 / 76 - 1);
	/* 300 runs: 251 to 300, and 51 to 250. */
	assert_drift("300", 50, 200, 275.5 / 150.5 - 1);
	assert_true(group_of("300")->wall_drift.is_clear);
}

/* 300 runs in 20 orders, of which the newest 250 count. */
static void the_newest_runs_are_found_in_any_order(void **state)
{
	enum { RUNS = 300, ORDERS = 20 };

	(void)state;
	for (unsigned order = 0; order < ORDERS; order++) {
		unsigned places[RUNS], random = order + 1;

		for (unsigned i = 0; i < RUNS; i++) {
			unsigned other;

			random = random * 1664525 + 1013904223;
			other = (random >> 16) % (i + 1);
			places[i] = other < i ? places[other] : i;
			places[other] = i;
		}
		for (unsigned i = 0; i < RUNS; i++)
			add_line("\"outcome\":\"ok\",\"name\":\"%u\",\"started\":%u,\"wall_secs\":%u", order,
				 1000 + places[i], 1 + places[i]);
	}
	compute("job");
	assert_int_equal(fleet.group_count, ORDERS);
	/* 251 to 300, and 51 to 250 */
	for (size_t i = 0; i < ORDERS; i++)
		assert_real(fleet.groups[i].wall_drift.change, 275.5 / 150.5 - 1);
}

/* Only the newest 250 runs are kept, whatever the order of their lines. */
static void runs_without_a_start_are_the_oldest(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":1000");
	for (int i = 0; i < 250; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":%d,\"wall_secs\":%d", 1 + i, 1 + i);
	for (int i = 0; i < 300; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"wall_secs\":1000");
	compute("job");
	assert_int_equal(group_of("a")->wall_drift.old_runs, 200);
	assert_real(group_of("a")->wall_drift.change, 225.5 / 100.5 - 1);
}

/* Adds five runs with this median and this median distance from it. */
static void add_five(const char *name, int started, double median, double distance)
{
	static const double PLACES[] = {-2, -1, 0, 1, 2};

	for (int i = 0; i < 5; i++)
		add_line("\"outcome\":\"ok\",\"name\":\"%s\",\"started\":%d,\"wall_secs\":%.9g", name,
			 started + i, median + PLACES[i] * distance);
}

/* The standard error of the median of five runs with a distance of 5 s is 4.154 s. */
static void a_clear_drift_is_a_tenth_and_beyond_the_scatter(void **state)
{
	static const struct {
		const char *name;
		double old, new_distance, old_distance, new;
		bool is_clear;
	} CASES[] = {
		{"9 percent", 100, 0, 0, 109, false},     {"a tenth", 100, 0, 0, 110, true},
		{"a tenth less", 100, 0, 0, 89, true},    {"9 percent less", 100, 0, 0, 91, false},
		{"old scatter", 100, 0, 5, 112.4, false}, {"beyond old scatter", 100, 0, 5, 112.6, true},
		{"new scatter", 100, 5, 0, 112.4, false}, {"beyond new scatter", 100, 5, 0, 112.6, true},
		{"both", 100, 5, 5, 117.6, false},        {"beyond both", 100, 5, 5, 117.7, true},
		{"below both", 100, 5, 5, 82.3, true},    {"not below both", 100, 5, 5, 82.4, false},
	};
	const size_t count = sizeof CASES / sizeof *CASES;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		add_five(CASES[i].name, 1, CASES[i].old, CASES[i].old_distance);
		add_five(CASES[i].name, 10, CASES[i].new, CASES[i].new_distance);
	}
	add_five("from 0", 1, 0, 0);
	add_five("from 0", 10, 100, 0);
	compute("job");
	for (size_t i = 0; i < count; i++) {
		const struct fleet_drift *drift = &group_of(CASES[i].name)->wall_drift;

		assert_real(drift->change, CASES[i].new / CASES[i].old - 1);
		if (drift->is_clear != CASES[i].is_clear)
			fail_msg("%s", CASES[i].name);
	}
	/* A change from nothing has no percentage. */
	assert_true(isnan(group_of("from 0")->wall_drift.change));
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

static void assert_order(const char *const *names, size_t count)
{
	assert_int_equal(fleet.group_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(fleet.groups[i].key + 1, names[i]);
}

/* A core hour is worth 4 GiB hours, and a GPU hour 16 core hours. */
static void the_group_with_most_unused_comes_first(void **state)
{
	static const char *const NAMES[] = {"gpu",    "cores 15", "memory over", "cores 1",
					    "memory", "two runs", "equal a",     "equal b"};

	(void)state;
	add_line("\"outcome\":\"ok\",\"name\":\"equal b\"");
	add_line("\"outcome\":\"ok\",\"name\":\"equal a\"");
	add_line("\"outcome\":\"ok\",\"name\":\"two runs\"");
	add_line("\"outcome\":\"ok\",\"name\":\"memory\",\"wall_secs\":3600,\"memory_asked_mib\":4000,"
		 "\"memory_peak_mib\":0");
	add_line("\"outcome\":\"ok\",\"name\":\"cores 15\",\"wall_secs\":3600,\"cores_mean\":1,"
		 "\"cores_asked\":16");
	add_line("\"outcome\":\"ok\",\"name\":\"memory over\",\"wall_secs\":3600,\"memory_asked_mib\":4200,"
		 "\"memory_peak_mib\":0");
	add_line("\"outcome\":\"ok\",\"name\":\"cores 1\",\"wall_secs\":3600,\"cores_mean\":1,"
		 "\"cores_asked\":2");
	add_line("\"outcome\":\"ok\",\"name\":\"gpu\",\"gpu_idle_hours\":1");
	add_line("\"outcome\":\"ok\",\"name\":\"two runs\"");
	compute("job");
	assert_order(NAMES, 8);
}

static void equal_groups_are_sorted_by_their_runs(void **state)
{
	static const char *const NAMES[] = {"5", "4", "3", "2", "1"};

	(void)state;
	for (int name = 1; name <= 5; name++)
		for (int i = 0; i < name; i++)
			add_line("\"outcome\":\"ok\",\"name\":\"%d\"", name);
	compute("job");
	assert_order(NAMES, 5);
}

static void a_group_without_a_run_is_left_out(void **state)
{
	static const char *const NAMES[] = {"renamed"};

	(void)state;
	add_line("\"id\":\"x\",\"outcome\":\"running\",\"name\":\"first\"");
	add_line("\"id\":\"x\",\"outcome\":\"ok\",\"name\":\"renamed\"");
	compute("job");
	assert_order(NAMES, 1);
	assert_int_equal(fleet.runs, 1);
	assert_int_equal(fleet.repeated, 1);
}

/* The lines of one Slurm job are one run, beside lines that are runs. */
static void lines_of_a_job_are_one_run(void **state)
{
	const struct fleet_group *group;

	(void)state;
	for (int i = 0; i < 20; i++) {
		add_line("\"name\":\"a\",\"outcome\":\"ok\",\"scheduler_job\":\"%d\",\"started\":%d,"
			 "\"wall_secs\":10,\"cpu_secs\":5",
			 i, i);
		add_line("\"name\":\"a\",\"outcome\":\"ok\",\"scheduler_job\":\"%d\",\"started\":%d,"
			 "\"wall_secs\":10,\"cpu_secs\":6",
			 i, i + 1);
	}
	add_line("\"name\":\"a\",\"outcome\":\"ok\",\"wall_secs\":10,\"cpu_secs\":1");
	compute("job");
	group = group_of("a");
	assert_int_equal(group->runs, 21);
	assert_real(group->cpu_secs.p50, 11);
	assert_real(group->cpu_secs.most, 11);
	assert_real(group->wall_secs.p50, 11);
	assert_real(group->core_hours, (20 * 11 + 1) / 3600.0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(percentiles_lie_between_two_runs),
		FLEET_TEST(ends_and_reasons_are_counted),
		FLEET_TEST(unused_resources_add_up),
		FLEET_TEST(the_newest_run_tells_the_request),
		FLEET_TEST(the_most_memory_that_was_not_enough_counts),
		FLEET_TEST(the_newest_quarter_is_compared_with_the_runs_before_it),
		FLEET_TEST(the_newest_runs_are_found_in_any_order),
		FLEET_TEST(runs_without_a_start_are_the_oldest),
		FLEET_TEST(a_clear_drift_is_a_tenth_and_beyond_the_scatter),
		FLEET_TEST(the_group_with_most_unused_comes_first),
		FLEET_TEST(equal_groups_are_sorted_by_their_runs),
		FLEET_TEST(a_group_without_a_run_is_left_out),
		FLEET_TEST(lines_of_a_job_are_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
