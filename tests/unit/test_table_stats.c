/* Tests of src/table/{stats,stats_text,aggregate,quantile}.c: known answers. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "table/stats.h"

static char path[] = "/tmp/test_stats_XXXXXX";

static void write_file(const char *bytes)
{
	FILE *file = fopen(path, "wb");

	fputs(bytes, file);
	fclose(file);
}

static const char RECORDING[] =
	"{\"timestamp\":100.0,\"sample\":0,\"cpu\":{\"process_cores_used\":1.0,\"process_gpu_utilized\":0,"
	"\"process_memory_mib\":10.004}}\n"
	"{\"timestamp\":999.0,\"sample\":0,\"actual_interval_ms\":1000.0,\"run_start\":{\"interval_secs\":1."
	"0},"
	"\"cpu\":{\"process_cores_used\":1.0,\"process_gpu_utilized\":0,\"process_memory_mib\":100.0},"
	"\"totals\":{\"disk_space_used_gb\":187.654,\"net_recv_bytes\":7}}\n"
	"{\"timestamp\":1000.0,\"sample\":1,\"cpu\":{\"process_cores_used\":0.125,\"process_gpu_utilized\":1,"
	"\"process_memory_mib\":null},\"totals\":{\"net_recv_bytes\":8}}\n"
	"{\"timestamp\":1003.5,\"sample\":2,\"actual_interval_ms\":3500.0,\"cpu\":{\"process_cores_used\":0."
	"25,"
	"\"process_gpu_utilized\":1,\"process_memory_mib\":200.005}}\n";

static rt_stats *of_recording(const struct rt_stat_spec *specs, size_t count)
{
	const char *const paths[] = {path};
	struct rt_problem problem = {0};
	rt_stats *stats = NULL;

	write_file(RECORDING);
	if (rt_stats_read_record(paths, 1, specs, count, &stats, &problem) < 0)
		fail_msg("%s", problem.text);
	return stats;
}

static void the_default_set_has_the_shape_of_the_python_package(void **state)
{
	CLEANUP_FREE char *json = NULL;
	size_t count;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&count);
	rt_stats *stats = of_recording(specs, count);

	(void)state;
	assert_int_equal(rt_stats_to_json(stats, &json), 0);
	assert_string_equal(json, "{\"process_cpu_usage\":{\"mean\":0.46,\"max\":1.0},\n"
				  " \"process_memory_mib\":{\"mean\":150.0,\"max\":200.0},\n"
				  " \"process_gpu_usage\":{\"mean\":null,\"max\":null},\n"
				  " \"process_gpu_vram_mib\":{\"mean\":null,\"max\":null},\n"
				  " \"process_gpu_utilized\":{\"mean\":0.67,\"max\":1},\n"
				  " \"system_disk_space_used_gb\":{\"max\":187.65},\n"
				  " \"system_net_recv_bytes\":{\"sum\":15},\n"
				  " \"system_net_sent_bytes\":{\"sum\":null},\n"
				  " \"timestamp\":{\"duration\":5.5}}\n");
	rt_stats_free(stats);
}

static void each_statistic_has_a_known_answer(void **state)
{
	static const struct {
		const char *aggregate;
		double value;
	} CASES[] = {{"mean", 1.375 / 3},
		     {"max", 1},
		     {"min", 0.125},
		     {"sum", 1.375},
		     {"len", 3},
		     {"first", 1},
		     {"last", 0.25},
		     {"median", 0.25},
		     {"p50", 0.25},
		     {"p75", 0.625},
		     {"p0", 0.125},
		     {"p100", 1},
		     {"duration", 0.875},
		     {"count", 3},
		     {"time_mean", (1.0 * 1 + 0.125 * 1 + 0.25 * 3.5) / 5.5},
		     {"std", 0.38640078}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct rt_stat_spec spec = {"process_cpu_usage", CASES[i].aggregate, "own",
					    RT_STAT_NOT_ROUNDED};
		rt_stats *stats = of_recording(&spec, 1);
		double value = cell_real(rt_stats_get(stats, "process_cpu_usage", "own"), NAN);

		if (!(fabs(value - CASES[i].value) < 1e-7))
			fail_msg("%s is %g, not %g", CASES[i].aggregate, value, CASES[i].value);
		rt_stats_free(stats);
	}
}

/* A clock that is set changes the time stamps, but not the time that has passed. */
static void a_duration_is_the_time_that_has_passed(void **state)
{
	const struct rt_stat_spec spec = {"timestamp", "duration", NULL, RT_STAT_NOT_ROUNDED};
	const char *const paths[] = {path};
	rt_stats *stats = NULL;

	(void)state;
	write_file(
		"{\"timestamp\":1000.0,\"elapsed_secs\":1.0,\"sample\":0,\"actual_interval_ms\":1000.0,"
		"\"run_start\":{\"interval_secs\":1.0}}\n"
		"{\"timestamp\":1060.0,\"elapsed_secs\":11.0,\"sample\":1,\"actual_interval_ms\":1000.0}\n");
	assert_int_equal(rt_stats_read_record(paths, 1, &spec, 1, &stats, NULL), 0);
	assert_true(rt_stats_get(stats, "timestamp", "duration").real == 11);
	rt_stats_free(stats);
}

static void mistakes_are_named(void **state)
{
	const struct rt_stat_spec no_column = {"nope", "mean", NULL, 2},
				  no_aggregate = {"timestamp", "pp", NULL, 2};
	const char *const paths[] = {path};
	struct rt_problem problem;
	rt_stats *stats;

	(void)state;
	write_file(RECORDING);
	assert_int_equal(rt_stats_read_record(paths, 1, &no_column, 1, &stats, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "'nope'"));
	assert_int_equal(rt_stats_read_record(paths, 1, &no_aggregate, 1, &stats, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "'pp'"));
	write_file("{\"timestamp\":1");
	assert_int_equal(rt_stats_read_record(paths, 1, &no_aggregate, 0, &stats, &problem), -ENODATA);
}

static void rounding_is_that_of_python(void **state)
{
	(void)state;
	assert_true(round_like_python(0.125, 2) == 0.12);
	assert_true(round_like_python(0.375, 2) == 0.38);
	assert_true(round_like_python(2.675, 2) == 2.67);
	assert_true(round_like_python(2.5, 0) == 2);
	assert_true(round_like_python(-1e300, 2) == -1e300);
}

static void a_table_is_computed_and_failing_specs_leave_no_trace(void **state)
{
	const struct rt_stat_spec specs[] = {{"x", "mean", NULL, 1},
					     {"nope", "len", NULL, 1},
					     {"x", "nope", NULL, 1},
					     {"t", "max", NULL, 1},
					     {"x", "len", "rows", RT_STAT_NOT_ROUNDED},
					     {"x", "max", NULL, RT_STAT_NOT_ROUNDED}};
	CLEANUP_FREE char *json = NULL;
	struct rt_problem problem;
	rt_table *table;
	rt_stats *stats;

	(void)state;
	write_file("x,t\n1,a\n2,b\n4,c\n");
	assert_int_equal(rt_table_read_csv(path, &table, NULL), 0);
	assert_int_equal(rt_stats_of_table(table, specs, ARRAY_SIZE(specs), &stats, &problem), 3);
	assert_string_equal(problem.text, "there is no column 'nope'");
	assert_int_equal(rt_stats_to_json(stats, &json), 0);
	assert_string_equal(json, "{\"x\":{\"mean\":2.3,\"rows\":3,\"max\":4}}\n");
	rt_stats_free(stats);
	rt_table_free(table);
}

static void whole_numbers_stay_whole(void **state)
{
	struct values values = {0};
	const struct aggregate mean = {AGGREGATE_MEAN, 0}, sum = {AGGREGATE_SUM, 0};

	(void)state;
	assert_int_equal(values_get(&values, sum).type, RT_TYPE_NONE);
	for (int64_t i = 1; i <= 3; i++)
		values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = i}, 1);
	assert_int_equal(values_get(&values, mean).count, 2);
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = 1}, 1);
	assert_true(values_get(&values, mean).real == 1.75);
	assert_int_equal(values_get(&values, sum).count, 7);
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = INT64_MAX}, 1);
	assert_true(values_get(&values, sum).real == 9223372036854775814.0);
	values_done(&values);
}

static void many_values_take_bounded_memory(void **state)
{
	static const double FRACTIONS[] = {0, 0.001, 0.05, 0.5, 0.95, 0.999, 1};
	struct quantile quantile = {0};

	(void)state;
	/* -100,000 to 299,999, not in order. */
	for (int64_t i = 0; i < 400000; i++)
		assert_int_equal(quantile_add(&quantile, (double)(i * 7919 % 400000 - 100000)), 0);
	assert_null(quantile.values);
	for (size_t i = 0; i < ARRAY_SIZE(FRACTIONS); i++) {
		double exact = FRACTIONS[i] * 399999 - 100000, found = quantile_at(&quantile, FRACTIONS[i]);

		if (fabs(found - exact) > fabs(exact) * 0.0006 + 1)
			fail_msg("%g: %g, not %g", FRACTIONS[i], found, exact);
	}
	quantile_done(&quantile);
	assert_true(isnan(quantile_at(&quantile, 0.5)));
}

static rt_stats *of_json(const char *text)
{
	rt_stats *stats = NULL;
	int result;

	write_file(text);
	result = rt_stats_read_json(path, &stats, NULL);
	assert_int_equal(result == 0, stats != NULL);
	return stats;
}

static void several_runs_are_combined_as_documented(void **state)
{
	rt_stats *runs[] = {
		of_json("{\"a\":{\"mean\":1,\"max\":2},\"timestamp\":{\"duration\":4.0}}"),
		of_json("{ \"a\" : { \"mean\" : 2 , \"max\" : 7.5 } , \"b\" : { \"sum\" : 5 } }\n"),
		of_json("{\"b\":{\"sum\":3},\"timestamp\":{\"duration\":1.0}}"),
		of_json("{\"a\":{\"p95\":1}}")};
	CLEANUP_FREE char *json = NULL, *none = NULL;
	struct rt_problem problem;
	rt_stats *combined;

	(void)state;
	assert_int_equal(rt_stats_combine((const rt_stats *const *)runs, 3, &combined, NULL), 0);
	assert_int_equal(rt_stats_to_json(combined, &json), 0);
	assert_string_equal(json, "{\"a\":{\"mean\":1.5,\"max\":7.5},\n \"timestamp\":{\"duration\":2.5},\n "
				  "\"b\":{\"sum\":5}}\n");
	rt_stats_free(combined);
	assert_int_equal(rt_stats_combine((const rt_stats *const *)runs, 4, &combined, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "p95"));
	assert_int_equal(rt_stats_combine(NULL, 0, &combined, NULL), 0);
	assert_int_equal(rt_stats_to_json(combined, &none), 0);
	assert_string_equal(none, "{}\n");
	rt_stats_free(combined);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		rt_stats_free(runs[i]);
}

static void only_statistics_are_read_as_statistics(void **state)
{
	static const char *const TEXTS[] = {"",
					    "[]",
					    "{",
					    "{\"a\":1}",
					    "{\"a\":{\"mean\":\"1\"}}",
					    "nul",
					    "{\"a\":{}}x",
					    "{\"a\":{\"m\":[]}}",
					    "{\"a\":{\"m\":1},}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++)
		if (of_json(TEXTS[i]))
			fail_msg("%s was taken", TEXTS[i]);
}

static void add_real(struct values *values, double value, double weight)
{
	assert_int_equal(values_add(values, (struct rt_value){.type = RT_TYPE_REAL, .real = value}, weight),
			 0);
}

static void a_mean_over_time_weighs_each_value(void **state)
{
	const struct aggregate mean = {AGGREGATE_TIME_MEAN, 0};
	struct values values = {0};

	(void)state;
	/* Without any weight, it is the mean. */
	add_real(&values, 2, NAN);
	add_real(&values, 5, 0);
	assert_true(values_get(&values, mean).real == 3.5);
	add_real(&values, 8, 3);
	assert_true(values_get(&values, mean).real == 8);
	add_real(&values, 4, 1);
	assert_true(values_get(&values, mean).real == 7);
	/* The first one gets its weight later, once. */
	values_weigh_first(&values, 0);
	assert_true(values_get(&values, mean).real == 7);
	values_weigh_first(&values, 4);
	values_weigh_first(&values, 100);
	assert_true(values_get(&values, mean).real == 4.5);
	values_done(&values);
	add_real(&values, 2, 1);
	values_weigh_first(&values, 3);
	add_real(&values, 6, 1);
	assert_true(values_get(&values, mean).real == 4);
	values_done(&values);
}

static void sums_lose_nothing_and_ranges_do_not_overflow(void **state)
{
	static const double SUMS[][3] = {{1e16, 1, -1e16}, {1, 1e16, -1e16}, {-1e16, 1, 1e16}};
	const struct aggregate sum = {AGGREGATE_SUM, 0}, range = {AGGREGATE_DURATION, 0};
	struct values values = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(SUMS); i++) {
		for (size_t j = 0; j < 3; j++)
			add_real(&values, SUMS[i][j], NAN);
		assert_true(values_get(&values, sum).real == 1);
		assert_true(values_get(&values, range).real == 2e16);
		values_done(&values);
	}
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = -3}, NAN);
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = 4}, NAN);
	values_add(&values, (struct rt_value){.type = RT_TYPE_TEXT, .text = "9"}, NAN);
	assert_int_equal(values_get(&values, range).count, 7);
	assert_int_equal(values_get(&values, (struct aggregate){AGGREGATE_LEN, 0}).count, 2);
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = INT64_MAX}, NAN);
	values_add(&values, (struct rt_value){.type = RT_TYPE_COUNT, .count = INT64_MIN + 5000}, NAN);
	assert_true(values_get(&values, range).real > 1.8e19);
	values_done(&values);
}

static void percentiles_have_a_number_up_to_100(void **state)
{
	static const char *const BAD[] = {"p", "p100.5", "p-5", "p5x", "p 5", "pp", "", "MEAN", "p5,5"};
	struct aggregate aggregate = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
		assert_int_equal(aggregate_find(BAD[i], &aggregate, NULL), -EINVAL);
	assert_int_equal(aggregate_find("p99.9", &aggregate, NULL), 0);
	assert_int_equal(aggregate.kind, AGGREGATE_PERCENTILE);
	assert_true(fabs(aggregate.fraction - 0.999) < 1e-12);
	assert_int_equal(aggregate_find("p100", &aggregate, NULL), 0);
	assert_true(aggregate.fraction == 1);
}

static void assert_quantile(struct quantile *quantile, double fraction, double wanted)
{
	double found = quantile_at(quantile, fraction);

	if (!(fabs(found - wanted) <= fabs(wanted) * 0.0006))
		fail_msg("%g: %g, not %g", fraction, found, wanted);
}

/* A quarter each of -5, 0, less than is told from 0, and 7. The first and the last value are neither the least nor the most. */
static void classes_hold_values_of_both_signs_and_zeros(void **state)
{
	static const double VALUES[] = {0, -5, 7, 1e-12};
	struct quantile quantile = {0};

	(void)state;
	for (size_t i = 0; i < 4 * (QUANTILE_EXACT / 3); i++)
		assert_int_equal(quantile_add(&quantile, VALUES[i % 4]), 0);
	assert_non_null(quantile.classes);
	assert_true(quantile_at(&quantile, 0) == -5 && quantile_at(&quantile, 1) == 7);
	assert_quantile(&quantile, 0.001, -5);
	assert_quantile(&quantile, 0.249, -5);
	assert_quantile(&quantile, 0.251, 0);
	assert_quantile(&quantile, 0.749, 0);
	assert_quantile(&quantile, 0.751, 7);
	assert_quantile(&quantile, 0.999, 7);
	/* Beyond the last class, and the first. */
	assert_int_equal(quantile_add(&quantile, 1e300), 0);
	assert_int_equal(quantile_add(&quantile, -1e300), 0);
	assert_true(quantile_at(&quantile, 0) == -1e300 && quantile_at(&quantile, 1) == 1e300);
	assert_quantile(&quantile, 0.5, 0);
	quantile_done(&quantile);
}

static void few_values_have_exact_quantiles(void **state)
{
	struct quantile quantile = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(quantile_add(&quantile, (double)(i * 7 % 1000)), 0);
	assert_null(quantile.classes);
	assert_true(quantile_at(&quantile, 0.5) == 499.5 && quantile_at(&quantile, 0) == 0);
	assert_true(quantile_at(&quantile, 1) == 999 && quantile_at(&quantile, 0.001) == 0.999);
	/* A value that comes later finds its place. */
	assert_int_equal(quantile_add(&quantile, -1), 0);
	assert_true(quantile_at(&quantile, 0) == -1 && quantile_at(&quantile, 0.5) == 499);
	quantile_done(&quantile);
}

static void set_entry(rt_stats *stats, const char *column, const char *name, double value)
{
	assert_int_equal(
		stats_set(stats, column, name, (struct rt_value){.type = RT_TYPE_REAL, .real = value}), 0);
}

static void entries_of_a_column_stand_together(void **state)
{
	CLEANUP_FREE char *json = NULL, *printed = NULL;
	const char *column, *name;
	rt_stats *stats = stats_new();
	struct rt_value value;

	(void)state;
	set_entry(stats, "a", "mean", 1);
	set_entry(stats, "bb", "mean", 2);
	set_entry(stats, "c", "a-name-of-15-by", 3);
	set_entry(stats, "a", "max", 4.00016);
	set_entry(stats, "bb", "max", 5);
	set_entry(stats, "bb", "mean", 6);
	assert_int_equal(stats_set(stats, "c", "mean", (struct rt_value){0}), 0);
	assert_int_equal(rt_stats_to_json(stats, &json), 0);
	assert_string_equal(json,
			    "{\"a\":{\"mean\":1.0,\"max\":4.00016},\n \"bb\":{\"mean\":6.0,\"max\":5.0},\n "
			    "\"c\":{\"a-name-of-15-by\":3.0,\"mean\":null}}\n");
	/* Columns are as wide as the longest name, 12 at least. */
	assert_int_equal(rt_stats_to_text(stats, &printed), 0);
	assert_string_equal(printed, "               mean              max  a-name-of-15-by\n"
				     "a               1.0           4.0002                -\n"
				     "bb              6.0              5.0                -\n"
				     "c                 -                -              3.0\n");
	assert_int_equal(rt_stats_entry(stats, 3, &column, &name, &value), 0);
	assert_string_equal(column, "bb");
	assert_string_equal(name, "max");
	assert_int_equal(rt_stats_entry(stats, 6, &column, &name, &value), -ENOENT);
	assert_int_equal(rt_stats_get(stats, "a", "min").type, RT_TYPE_NONE);
	rt_stats_free(stats);
}

static void rows_and_percentiles_of_a_table(void **state)
{
	const struct rt_stat_spec specs[] = {{"x", "len", NULL, 1},
					     {"t", "len", NULL, 1},
					     {"x", "median", NULL, 1},
					     {"t", "mean", NULL, 1}};
	CLEANUP_FREE char *json = NULL;
	struct rt_problem problem;
	rt_table *table;
	rt_stats *stats;

	(void)state;
	write_file("x,t\n1,a\n,b\n4,c\n");
	assert_int_equal(rt_table_read_csv(path, &table, NULL), 0);
	assert_int_equal(rt_stats_of_table(table, specs, ARRAY_SIZE(specs), &stats, &problem), 1);
	assert_string_equal(problem.text, "'t' has no numbers");
	assert_int_equal(rt_stats_to_json(stats, &json), 0);
	assert_string_equal(json, "{\"x\":{\"len\":3,\"median\":2.5},\n \"t\":{\"len\":3}}\n");
	rt_stats_free(stats);
	rt_table_free(table);
}

static int make_path(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_set_has_the_shape_of_the_python_package),
		cmocka_unit_test(each_statistic_has_a_known_answer),
		cmocka_unit_test(a_duration_is_the_time_that_has_passed),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(rounding_is_that_of_python),
		cmocka_unit_test(a_table_is_computed_and_failing_specs_leave_no_trace),
		cmocka_unit_test(whole_numbers_stay_whole),
		cmocka_unit_test(many_values_take_bounded_memory),
		cmocka_unit_test(several_runs_are_combined_as_documented),
		cmocka_unit_test(only_statistics_are_read_as_statistics),
		cmocka_unit_test(a_mean_over_time_weighs_each_value),
		cmocka_unit_test(sums_lose_nothing_and_ranges_do_not_overflow),
		cmocka_unit_test(percentiles_have_a_number_up_to_100),
		cmocka_unit_test(classes_hold_values_of_both_signs_and_zeros),
		cmocka_unit_test(few_values_have_exact_quantiles),
		cmocka_unit_test(entries_of_a_column_stand_together),
		cmocka_unit_test(rows_and_percentiles_of_a_table),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
