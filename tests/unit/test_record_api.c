/* Reads recordings through the installed library, as a user's program does, with only the public headers. */
#include "comma_locale.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both headers can be used together. */
#include "resource_tracker.h"
#include "resource_tracker_internal.h"

static char path[] = "/tmp/test_api_XXXXXX";
static const char *const PATHS[] = {path};

static const char RECORDING[] = "{\"timestamp\":10.5,\"elapsed_secs\":1.0,\"sample\":0,\"host\":\"here\","
				"\"cpu\":{\"process_cores_used\":0.5},"
				"\"run_start\":{\"interval_secs\":1.0}}\n"
				"{\"timestamp\":11.5,\"elapsed_secs\":2.0,\"sample\":1,\"host\":\"here\","
				"\"cpu\":{\"process_cores_used\":1.5},"
				"\"disk\":[{\"device\":\"sda\",\"read_bytes_total\":7}],\"run_end\":{"
				"\"reason\":\"exit\",\"exit_code\":0}}\n"
				"torn";

static int write_recording(void **state)
{
	FILE *file;

	(void)state;
	close(mkstemp(path));
	file = fopen(path, "w");
	fputs(RECORDING, file);
	return fclose(file);
}

static int remove_recording(void **state)
{
	(void)state;
	return unlink(path);
}

static void samples_are_read_one_by_one(void **state)
{
	const char *const columns[] = {"process_cpu_usage", "host", "disk[sda].read_bytes_total"};
	struct rt_problem problem;
	struct rt_record_info info = {.size = sizeof info};
	rt_record *record;

	(void)state;
	assert_int_equal(rt_record_open(PATHS, 1, columns, 3, &record, &problem), 0);
	assert_int_equal(rt_record_get(record, 0).type, RT_TYPE_NONE);
	assert_int_equal(rt_record_next(record, &problem), 1);
	assert_true(rt_record_get(record, 0).real == 0.5);
	assert_string_equal(rt_record_get(record, 1).text, "here");
	assert_int_equal(rt_record_get(record, 2).type, RT_TYPE_NONE);
	assert_int_equal(rt_record_get(record, 3).type, RT_TYPE_NONE);
	assert_int_equal(rt_record_get_info(record, &info), 0);
	assert_false(info.finished);
	assert_int_equal(rt_record_next(record, &problem), 1);
	assert_int_equal(rt_record_get(record, 2).count, 7);
	assert_true(rt_record_timestamp(record) == 11.5 && rt_record_elapsed_secs(record) == 2);
	assert_int_equal(rt_record_next(record, &problem), 0);
	assert_true(isnan(rt_record_timestamp(record)));
	assert_int_equal(rt_record_get_info(record, &info), 0);
	assert_true(info.finished && info.torn_tails == 1 && info.run == 1 && info.interval_secs == 1);
	assert_string_equal(info.layout, "json");
	rt_record_close(record);
	rt_record_close(NULL);
}

static void problems_are_told_and_results_untouched(void **state)
{
	const char *const columns[] = {"nope"}, *const nowhere[] = {"/nonexistent/x"};
	struct rt_problem problem = {""};
	rt_record *record = NULL;
	rt_table *table = NULL;
	rt_summary *summary = NULL;

	(void)state;
	assert_int_equal(rt_record_open(PATHS, 1, columns, 1, &record, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "nope"));
	assert_int_equal(rt_record_open(PATHS, 0, NULL, 0, &record, &problem), -EINVAL);
	assert_int_equal(rt_summary_read(nowhere, 1, &summary, NULL), -ENOENT);
	assert_int_equal(rt_table_read_record(nowhere, 1, NULL, 0, &table, NULL), -ENOENT);
	assert_null(record);
	assert_null(table);
	assert_null(summary);
}

static void a_summary_is_asked_for_its_figures(void **state)
{
	char *text = NULL;
	rt_summary *summary;

	(void)state;
	assert_int_equal(rt_summary_read(PATHS, 1, &summary, NULL), 0);
	assert_true(rt_summary_get(summary, "cores", "max").real == 1.5);
	assert_string_equal(rt_summary_get(summary, "end", "reason").text, "exit");
	assert_int_equal(rt_summary_get(summary, "memory", "nope").type, RT_TYPE_NONE);
	assert_int_equal(rt_summary_get(summary, "first_failure", "pid").type, RT_TYPE_NONE);
	assert_int_equal(rt_summary_get(summary, "first_failure", "out_of_memory").type, RT_TYPE_NONE);
	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	assert_non_null(strstr(text, "exit status 0"));
	free(text);
	rt_summary_free(summary);
	rt_summary_free(NULL);
}

static void statistics_are_entries(void **state)
{
	size_t count;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&count);
	const char *column, *name;
	struct rt_value value;
	rt_stats *stats;

	(void)state;
	assert_int_equal(count, 14);
	assert_int_equal(rt_stats_read_record(PATHS, 1, specs, count, &stats, NULL), 0);
	assert_true(rt_stats_get(stats, "process_cpu_usage", "mean").real == 1);
	assert_int_equal(rt_stats_entry(stats, 0, &column, &name, &value), 0);
	assert_string_equal(column, "process_cpu_usage");
	assert_int_equal(rt_stats_entry(stats, count, &column, &name, &value), -ENOENT);
	rt_stats_free(stats);
}

static void tables_and_exports(void **state)
{
	const struct rt_combined_options combined = {.size = sizeof combined, .human_names = true};
	const struct rt_export_options options = {.size = sizeof options, .format = "csv"};
	rt_table *table;

	(void)state;
	assert_int_equal(rt_table_read_combined(PATHS, 1, &combined, &table, NULL), 0);
	assert_int_equal(rt_table_column_count(table), 32);
	assert_int_equal(rt_table_row_count(table), 2);
	assert_true(rt_table_find(table, "Process CPU usage") > 0);
	rt_table_free(table);
	assert_int_equal(rt_export(PATHS, 1, "/dev/null", &options, NULL), 0);
}

static void snapshots_come_back(void **state)
{
	const char *again = "/tmp/test_api_snapshot.json.gz";
	char *text = NULL, *reread = NULL;

	(void)state;
	assert_int_equal(rt_package_dumps(PATHS, 1, &text, NULL), 0);
	assert_int_equal(strncmp(text, "{\"metadata\": {\"version\": 1", 26), 0);
	assert_int_equal(rt_package_dump(PATHS, 1, again, NULL), 0);
	assert_int_equal(rt_package_dumps(&again, 1, &reread, NULL), 0);
	assert_non_null(strstr(reread, "\"cpu_usage\": 1.5"));
	free(text);
	free(reread);
	unlink(again);
}

/* As the headers say: NULL means the default. */
static void options_may_be_left_out(void **state)
{
	static const struct rt_combined_options CROSSED = {
		.size = sizeof CROSSED, .system_prefix = "process_", .process_prefix = "system_"};
	const char *const output = "/tmp/test_api_export.csv";
	rt_summary *summary = NULL;
	rt_table *table = NULL;
	char *text = NULL;

	(void)state;
	assert_int_equal(rt_summary_read(PATHS, 1, &summary, NULL), 0);
	assert_int_equal(rt_summary_to_gpu_tracker(summary, NULL, true, &text, NULL), 0);
	assert_non_null(strstr(text, "\"unit\": \"gigabytes\""));
	free(text);
	rt_summary_free(summary);
	assert_int_equal(rt_export(PATHS, 1, output, NULL, NULL), 0);
	assert_int_equal(unlink(output), 0);
	assert_int_equal(rt_table_read_combined(PATHS, 1, NULL, &table, NULL), 0);
	assert_int_equal(rt_table_find(table, "system_processes"), 1);
	rt_table_free(table);
	assert_int_equal(rt_table_read_combined(PATHS, 1, &CROSSED, &table, NULL), 0);
	assert_int_equal(rt_table_find(table, "process_processes"), 1);
	assert_true(rt_table_find(table, "process_cpu_usage") < rt_table_find(table, "system_cpu_usage"));
	rt_table_free(table);
}

/* A caller that prints every problem with a text prints none after success. */
static void a_successful_run_reports_without_a_problem(void **state)
{
	struct rt_problem problem = {0};
	rt_advice *advice = NULL;
	rt_summary *summary = NULL;
	rt_record *record = NULL;
	char *text = NULL;

	(void)state;
	assert_int_equal(rt_recommend(PATHS, 1, NULL, &advice, &problem), 0);
	assert_int_equal(rt_summary_read(PATHS, 1, &summary, &problem), 0);
	assert_int_equal(rt_record_open(PATHS, 1, NULL, 0, &record, &problem), 0);
	assert_int_equal(rt_package_dumps(PATHS, 1, &text, &problem), 0);
	assert_string_equal(problem.text, "");
	rt_advice_free(advice);
	rt_summary_free(summary);
	rt_record_close(record);
	free(text);
}

static void memory_goes_up_in_steps(void **state)
{
	static const struct {
		double mib;
		int64_t rounded;
	} KNOWN[] = {
		{0, 128},     {1, 128},     {128, 128},     {128.01, 256},   {300, 512},
		{513, 1024},  {1024, 1024}, {1024.1, 2048}, {2048, 2048},    {2048.5, 3072},
		{2500, 3072}, {3072, 3072}, {3863, 4096},   {3072.01, 4096}, {10000, 10240},
	};

	(void)state;
	for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
		assert_int_equal(rt_round_memory_mib(KNOWN[i].mib), KNOWN[i].rounded);
}

static bool contains(const char *file_path, const char *text)
{
	static char bytes[1 << 20];
	FILE *file = fopen(file_path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(bytes, 1, sizeof bytes - 1, file);
	fclose(file);
	bytes[length] = '\0';
	return strstr(bytes, text) != NULL;
}

static void page_title_names_the_run(void **state)
{
	static const char page[] = "/tmp/test_api_page.html";
	struct rt_report_options options = {.size = sizeof options, .integration = "Metaflow"};
	int error = rt_report(PATHS, 1, page, &options, NULL);

	(void)state;
	if (error == -ENOSYS)
		SKIP("built without the page");
	assert_int_equal(error, 0);
	assert_true(contains(page, "\"integration\":\"Metaflow\""));
	assert_true(contains(page, "\"failed\":false"));
	options.failed = true;
	assert_int_equal(rt_report(PATHS, 1, page, &options, NULL), 0);
	assert_true(contains(page, "\"failed\":true"));
	unlink(page);
}

static void bottleneck_names_its_rule(void **state)
{
	const char *rule, *title, *text;
	rt_summary *summary = NULL;

	(void)state;
	assert_int_equal(rt_summary_read(PATHS, 1, &summary, NULL), 0);
	assert_int_equal(rt_summary_bottleneck(summary, 0, &rule, &title, &text), 0);
	assert_string_equal(rule, "none");
	assert_true(*title && *text);
	assert_int_equal(rt_summary_bottleneck(summary, 1, &rule, &title, &text), -ENOENT);
	rt_summary_free(summary);
}

static void phases_are_compared_like_gpu_tracker_does(void **state)
{
	const struct rt_compared_run runs[] = {{"a", path}, {"b", path}};
	struct rt_problem problem = {"before"};
	char *text = NULL;

	(void)state;
	assert_int_equal(rt_compare_phases(runs, 2, "max", true, &text, &problem), 0);
	assert_string_equal(problem.text, "");
	assert_non_null(strstr(text, "\"process_cpu_usage\":{\"a\":1.5,\"b\":1.5}"));
	free(text);
	text = NULL;
	assert_int_equal(rt_compare_phases(runs, 2, "p95", false, &text, &problem), -EINVAL);
	assert_int_equal(rt_compare_phases(runs, 1, NULL, false, &text, &problem), -EINVAL);
	assert_null(text);
}

static void a_page_of_compared_runs_is_made_or_refused(void **state)
{
	const struct rt_compared_run runs[] = {{"a", path}, {"b", path}}, gone[] = {{"a", "/nonexistent/x"}};
	const struct rt_report_prices nowhere = {
		.size = sizeof nowhere, .catalogue = "/nonexistent/y", .instance = "a/b"};
	struct rt_problem problem = {""};
	int result = rt_report_runs(runs, 2, "/dev/null", NULL, NULL, &problem);

	(void)state;
	/* The library may be built without the page. */
	if (result == -ENOSYS)
		return;
	assert_int_equal(result, 0);
	assert_int_equal(rt_report_runs(gone, 1, "/dev/null", NULL, NULL, &problem), -ENOENT);
	assert_int_equal(rt_report_runs(runs, 2, "/dev/null", NULL, &nowhere, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "/nonexistent/y"));
	assert_int_equal(rt_report_runs(runs, 0, "/dev/null", NULL, NULL, &problem), -EINVAL);
}

/* A program that was compiled with a later header has longer structs; this one has a member more. */
#define LATER(name) \
	struct { \
		struct name known; \
		size_t later[4]; \
	}

static int take_each(size_t missing, size_t asked, struct rt_problem *problem, int number)
{
	LATER(rt_export_options) export = {{.size = sizeof export - missing, .format = "csv"}, {asked}};
	LATER(rt_combined_options) combined = {{.size = sizeof combined - missing}, {asked}};
	LATER(rt_recommend_options) advice = {{.size = sizeof advice - missing, .force = true}, {asked}};
	LATER(rt_report_options) page = {{.size = sizeof page - missing}, {asked}};
	LATER(rt_report_prices) prices = {{.size = sizeof prices - missing}, {asked}};
	LATER(rt_gpu_tracker_options) units = {{.size = sizeof units - missing}, {asked}};
	const struct rt_export_options tracking = {
		.size = sizeof tracking, .format = "gpu_tracker", .gpu_tracker = &units.known};
	const struct rt_compared_run run = {"a", path};
	rt_advice *result = NULL;
	rt_table *table = NULL;
	int error;

	switch (number) {
	case 0:
		return rt_export(PATHS, 1, "/dev/null", &export.known, problem);
	case 1:
		error = rt_table_read_combined(PATHS, 1, &combined.known, &table, problem);
		rt_table_free(table);
		return error;
	case 2:
		error = rt_recommend(PATHS, 1, &advice.known, &result, problem);
		rt_advice_free(result);
		return error;
	case 3:
		return rt_report(PATHS, 1, "/dev/null", &page.known, problem);
	case 4:
		return rt_report_runs(&run, 1, "/dev/null", NULL, &prices.known, problem);
	case 5:
		return rt_export(PATHS, 1, "/dev/null", &tracking, problem);
	default:
		return 1;
	}
}

static void options_carry_their_size(void **state)
{
	struct rt_problem problem;

	(void)state;
	for (int i = 0; i < 6; i++) {
		int with_later = take_each(0, 0, &problem, i);

		/* The library may be built without the page. */
		assert_true(with_later == 0 || (with_later == -ENOSYS && (i == 3 || i == 4)));
		assert_int_equal(take_each(0, 1, &problem, i), -E2BIG);
		assert_non_null(strstr(problem.text, "a later library"));
		/* Shorter than in version 0.1. */
		assert_int_equal(take_each(5 * sizeof(size_t), 0, &problem, i), -EINVAL);
		assert_non_null(strstr(problem.text, "the size of struct rt_"));
	}
}

static void results_carry_their_size(void **state)
{
	LATER(rt_record_info) info = {{.size = sizeof info}, {7, 7, 7, 7}};
	struct rt_record_info unset = {.size = 0, .run = 9};
	struct rt_server server = {.size = sizeof server, .type = "one"}, no_size = {.type = "two"};
	rt_advice *advice = NULL;
	rt_record *record;
	char *text = NULL;

	(void)state;
	assert_int_equal(rt_record_open(PATHS, 1, NULL, 0, &record, NULL), 0);
	assert_int_equal(rt_record_get_info(record, &info.known), 0);
	assert_true(info.known.size == sizeof info && info.later[0] == 7 && info.later[3] == 7);
	assert_int_equal(rt_record_get_info(record, &unset), -EINVAL);
	assert_true(unset.size == 0 && unset.run == 9);
	rt_record_close(record);
	assert_int_equal(rt_recommend(PATHS, 1, NULL, &advice, NULL), 0);
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	assert_int_equal(rt_advice_set_server(advice, &no_size), -EINVAL);
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	assert_non_null(strstr(text, "\"one\""));
	free(text);
	rt_advice_free(advice);
}

/* Returns everything that is printed about the recording; the caller frees it. */
static char *all_texts(void)
{
	const struct rt_recommend_options options = {
		.size = sizeof options, .force = true, .usd_per_hour = 0.1234};
	size_t count, size, length = 0;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&count);
	char *texts[7] = {0}, *all;
	rt_summary *summary;
	rt_advice *advice;
	rt_stats *stats;
	rt_table *table;

	assert_int_equal(rt_summary_read(PATHS, 1, &summary, NULL), 0);
	assert_int_equal(rt_summary_to_json(summary, &texts[0]), 0);
	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &texts[1]), 0);
	rt_summary_free(summary);
	assert_int_equal(rt_stats_read_record(PATHS, 1, specs, count, &stats, NULL), 0);
	assert_int_equal(rt_stats_to_json(stats, &texts[2]), 0);
	rt_stats_free(stats);
	assert_int_equal(rt_recommend(PATHS, 1, &options, &advice, NULL), 0);
	assert_int_equal(rt_advice_to_json(advice, &texts[3]), 0);
	assert_int_equal(rt_advice_to_text(advice, &texts[4]), 0);
	rt_advice_free(advice);
	assert_int_equal(rt_table_read_record(PATHS, 1, NULL, 0, &table, NULL), 0);
	assert_int_equal(rt_table_to_json(table, &texts[5]), 0);
	assert_int_equal(rt_table_to_text(table, 10, &texts[6]), 0);
	rt_table_free(table);
	for (size_t i = 0; i < 7; i++)
		length += strlen(texts[i]);
	size = length + 1;
	all = calloc(1, size);
	assert_non_null(all);
	for (size_t i = 0; i < 7; i++) {
		memcpy(all + strlen(all), texts[i], strlen(texts[i]));
		free(texts[i]);
	}
	return all;
}

static void a_program_s_locale_changes_no_number(void **state)
{
	char *plain = all_texts(), *with_commas;

	(void)state;
	assert_non_null(strstr(plain, "\"max\":1.5"));
	comma_locale_set();
	with_commas = all_texts();
	setlocale(LC_ALL, "C");
	assert_string_equal(with_commas, plain);
	free(with_commas);
	free(plain);
}

static void a_run_has_a_line_in_a_file_of_runs(void **state)
{
	char runs[] = "/tmp/test_api_runs_XXXXXX", text[8192] = "", *line = NULL;
	struct rt_problem problem = {""};
	FILE *file;

	(void)state;
	close(mkstemp(runs));
	assert_int_equal(rt_run_line(path, &line, &problem), 0);
	assert_non_null(strstr(line, "\"schema\":1"));
	assert_non_null(strstr(line, "\"outcome\":\"ok\""));
	assert_true(line[strlen(line) - 1] == '\n');
	for (int i = 0; i < 2; i++)
		assert_int_equal(rt_runs_append(runs, path, &problem), 0);
	file = fopen(runs, "r");
	assert_int_equal(fread(text, 1, sizeof(text) - 1, file), 2 * strlen(line));
	fclose(file);
	assert_memory_equal(text, line, strlen(line));
	assert_string_equal(text + strlen(line), line);
	free(line);
	/* A recording is not a file of runs. */
	assert_int_equal(rt_runs_append(path, path, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "no line is appended"));
	line = NULL;
	assert_int_equal(rt_run_line("/nonexistent", &line, &problem), -ENOENT);
	assert_null(line);
	assert_int_equal(rt_run_line("-", &line, NULL), -ESPIPE);
	unlink(runs);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_read_one_by_one),
		cmocka_unit_test(problems_are_told_and_results_untouched),
		cmocka_unit_test(a_summary_is_asked_for_its_figures),
		cmocka_unit_test(statistics_are_entries),
		cmocka_unit_test(tables_and_exports),
		cmocka_unit_test(snapshots_come_back),
		cmocka_unit_test(options_may_be_left_out),
		cmocka_unit_test(a_successful_run_reports_without_a_problem),
		cmocka_unit_test(memory_goes_up_in_steps),
		cmocka_unit_test(page_title_names_the_run),
		cmocka_unit_test(bottleneck_names_its_rule),
		cmocka_unit_test(phases_are_compared_like_gpu_tracker_does),
		cmocka_unit_test(a_page_of_compared_runs_is_made_or_refused),
		cmocka_unit_test(options_carry_their_size),
		cmocka_unit_test(results_carry_their_size),
		cmocka_unit_test(a_run_has_a_line_in_a_file_of_runs),
		cmocka_unit_test(a_program_s_locale_changes_no_number),
	};

	return cmocka_run_group_tests(tests, write_recording, remove_recording);
}
