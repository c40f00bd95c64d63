/* Tests of src/cli/metrics.c: `resource-tracker metrics`. */
#include "captured.h"
#include "command_words.h"

#include <stdio.h>

#include "cli/subcommands.h"
#include "resource_tracker.h"

static void assert_names(const char *words, const char *names)
{
	assert_int_equal(run_metrics(words_of(words)), 0);
	assert_printed("out", names);
	assert_printed("err", "");
}

static void a_pattern_is_a_name_with_or_without_its_group_or_a_group(void **state)
{
	(void)state;
	assert_names("metrics --names cpu.process_rss_mib", "cpu.process_rss_mib\n");
	assert_names("metrics --names process_rss_mib", "cpu.process_rss_mib\n");
	assert_names("metrics --names cpu.process_rss_m*", "cpu.process_rss_mib\n");
	assert_names("metrics process_rss_mib --names --json", "cpu.process_rss_mib\n");
	assert_int_equal(run_metrics(words_of("metrics --names cpu")), 0);
	assert_printed_has("out", "\ncpu.process_rss_mib\n");
	assert_int_equal(run_metrics(words_of("metrics --names process_rss_mib memory")), 0);
	assert_printed_has("out", "cpu.process_rss_mib\nmemory.");
	/* Without one, all of them. */
	assert_int_equal(run_metrics(words_of("metrics --names")), 0);
	assert_printed_has("out", "\nmemory.");
}

static void a_pattern_without_a_metric_is_told_with_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(run_metrics(words_of("metrics process_rss_mbi")), 2);
	assert_printed("err", "resource-tracker metrics: there is no metric 'process_rss_mbi'; the nearest "
			      "is cpu.process_rss_mib "
			      "(see resource-tracker metrics --help)\n");
	/* Also by its whole name. */
	assert_int_equal(run_metrics(words_of("metrics cpu.process_rss_mbi")), 2);
	assert_printed("err", "resource-tracker metrics: there is no metric 'cpu.process_rss_mbi'; the "
			      "nearest is cpu.process_rss_mib "
			      "(see resource-tracker metrics --help)\n");
	assert_int_equal(run_metrics(words_of("metrics process_rss_mib qqqqqqq")), 2);
	assert_printed("err", "resource-tracker metrics: there is no metric 'qqqqqqq' (see resource-tracker "
			      "metrics --help)\n");
	assert_int_equal(run_metrics(words_of("metrics cp")), 2);
	assert_printed_has("err", "resource-tracker metrics: there is no metric 'cp'");
	assert_int_equal(run_metrics(words_of("metrics --what")), 2);
	assert_printed_has("err", "resource-tracker metrics: ");
	assert_printed("out", "");
}

static const struct rt_metric_info *info_of(const char *name)
{
	static struct rt_metric_info info = {.size = sizeof info};

	for (rt_metric metric = rt_metric_next(0); metric; metric = rt_metric_next(metric))
		if (rt_metric_get_info(metric, &info) == 0 && strcmp(info.name, name) == 0)
			return &info;
	fail();
	return NULL;
}

/* Each column is as wide as its longest entry. */
static void the_table_has_columns_as_wide_as_their_entries(void **state)
{
	const struct rt_metric_info *info = info_of("cpu.process_rss_mib");
	char row[1000], head[1000];
	int cost = (int)strlen(info->cost) > 4 ? (int)strlen(info->cost) : 4;
	int kind = (int)strlen(info->kind) > 4 ? (int)strlen(info->kind) : 4;
	int unit = (int)strlen(info->unit) > 4 ? (int)strlen(info->unit) : 4;

	(void)state;
	snprintf(head, sizeof head, "%-19s  %-*s  %-*s  %-*s  MEANING (SOURCE)\n", "NAME", unit, "UNIT", kind,
		 "KIND", cost, "COST");
	snprintf(row, sizeof row, "%scpu.process_rss_mib  %-*s  %-*s  %-*s  %s%s%s%s\n", head, unit,
		 info->unit, kind, info->kind, cost, info->cost, info->help, *info->source ? " (" : "",
		 info->source, *info->source ? ")" : "");
	assert_int_equal(run_metrics(words_of("metrics process_rss_mib")), 0);
	assert_printed("out", row);
}

static void json_is_an_array_of_objects(void **state)
{
	const struct rt_metric_info *info = info_of("cpu.process_rss_mib");
	char text[200];

	(void)state;
	snprintf(text, sizeof text,
		 "\"type\":\"%s\",\"unit\":\"%s\",\"kind\":\"%s\",\"decimals\":%d,\"many\":%s,",
		 info->type == RT_TYPE_REAL ? "real" : "count", info->unit, info->kind, (int)info->decimals,
		 info->many ? "true" : "false");
	assert_int_equal(info->type, RT_TYPE_REAL);
	assert_int_equal(run_metrics(words_of("metrics --json process_rss_mib")), 0);
	assert_printed_has("out", text);
	assert_int_equal(run_metrics(words_of("metrics --json process_rss_mib")), 0);
	assert_printed_has("out", "[\n{\"name\":\"cpu.process_rss_mib\",\"group\":\"cpu\",");
	assert_int_equal(run_metrics(words_of("metrics --json process_rss_mib")), 0);
	assert_printed_has("out", "\"}]\n");
	assert_int_equal(run_metrics(words_of("metrics --json")), 0);
	assert_printed_has("out", "\"type\":\"flag\"");
	assert_int_equal(run_metrics(words_of("metrics --json")), 0);
	assert_printed_has("out", "\"type\":\"text\"");
	assert_int_equal(run_metrics(words_of("metrics --json")), 0);
	assert_printed_has("out", "\"type\":\"count\"");
	assert_int_equal(run_metrics(words_of("metrics --json")), 0);
	assert_printed_has("out", "\"decimals\":null");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_captured(a_pattern_is_a_name_with_or_without_its_group_or_a_group),
		unit_test_captured(a_pattern_without_a_metric_is_told_with_the_nearest),
		unit_test_captured(the_table_has_columns_as_wide_as_their_entries),
		unit_test_captured(json_is_an_array_of_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
