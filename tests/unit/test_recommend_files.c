/* Advice through its C interface: bad files beside recordings, and outputs that stay unchanged then. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resource_tracker_analysis.h"

static char folder[] = "/tmp/test_advice_XXXXXX", recording[64], other[64];

static const char RUN[] =
	"{\"timestamp\":11.0,\"elapsed_secs\":1.0,\"sample\":0,\"host\":\"h\",\"cpu\":{"
	"\"process_cores_used\":2.5,\"process_memory_mib\":630.0},\"run_start\":{\"interval_secs\":1.0}}\n"
	"{\"timestamp\":12.0,\"elapsed_secs\":2.0,\"sample\":1,\"host\":\"h\",\"cpu\":{\"process_cores_"
	"used\":2.5,"
	"\"process_memory_mib\":630.0},\"run_end\":{\"reason\":\"exit\",\"exit_code\":0,\"wall_secs\":2.0}}"
	"\n";

static const char *write_file(const char *path, const char *content, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(content, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	return path;
}

static const char *write_other(const char *content)
{
	return write_file(other, content, strlen(content));
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(recording, sizeof(recording), "%s/run.jsonl", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	write_file(recording, RUN, sizeof(RUN) - 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(recording);
	unlink(other);
	return rmdir(folder);
}

static rt_advice *advise_with(const char *history)
{
	const char *const paths[] = {recording, history};
	struct rt_problem problem = {""};
	rt_advice *advice = NULL;

	if (rt_recommend(paths, history ? 2 : 1, NULL, &advice, &problem) < 0)
		fail_msg("%s", problem.text);
	return advice;
}

static void statistics_of_earlier_runs_count_like_runs(void **state)
{
	rt_advice *advice = advise_with(write_other("{\"process_cpu_usage\":{\"mean\":4.5,\"max\":8.0},"
						    "\"process_memory_mib\":{\"mean\":1,\"max\":4096}}"));

	(void)state;
	/* The largest of both, and of two runs that differ half as much again: 1.52 x 4096. */
	assert_int_equal(rt_advice_get(advice, "cpu").count, 8);
	assert_int_equal(rt_advice_get(advice, "memory").count, 6240);
	rt_advice_free(advice);
	/* A key of other versions, and an unknown key. */
	advice = advise_with(write_other("{\"process_cpu_usage\":{\"mean\":null},\"else\":{\"max\":7}}"));
	assert_int_equal(rt_advice_get(advice, "cpu").count, 3);
	rt_advice_free(advice);
}

static void figures_beyond_all_machines_stay_numbers(void **state)
{
	rt_advice *advice = advise_with(write_other("{\"process_cpu_usage\":{\"mean\":1e300,\"max\":1e300},"
						    "\"process_memory_mib\":{\"max\":1e300},"
						    "\"process_gpu_usage\":{\"max\":1e300}}"));
	char *text;

	(void)state;
	assert_int_equal(rt_advice_get(advice, "cpu").count, 1000000000000000);
	assert_int_equal(rt_advice_get(advice, "gpu").count, 1000000000000000);
	assert_int_equal(rt_advice_to_text(advice, &text), 0);
	free(text);
	rt_advice_free(advice);
}

static void bad_history_is_a_problem_in_one_line(void **state)
{
	static const char *const BAD[] = {"\177ELF\x02\x01\x01",
					  "{\"process_cpu_usage\":7}\n",
					  "{\"process_cpu_usage\":{\"mean\":\"x\"}}\n",
					  "[1,2]",
					  "{\"process_cpu_usage\":{\"mean\":1",
					  "{\"process_cpu_usage\":{\"median\":1}}"};
	const char *const paths[] = {recording, other};

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct rt_problem problem = {""};
		rt_advice *advice = NULL;
		int result;

		write_other(BAD[i]);
		result = rt_recommend(paths, 2, NULL, &advice, &problem);
		if (result >= 0 || advice || !*problem.text || strchr(problem.text, '\n'))
			fail_msg("%s: %d, \"%s\"", BAD[i], result, problem.text);
	}
}

static void find(const char *content, int expected, const char *type)
{
	rt_advice *advice = advise_with(NULL);
	struct rt_problem problem = {""};
	char *text;
	int result;

	write_other(content);
	result = rt_advice_find_server(advice, other, NULL, 0, &problem);
	if (result != expected || (result < 0 && !*problem.text))
		fail_msg("%s: %d, \"%s\"", content, result, problem.text);
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	if (result == 0)
		assert_non_null(strstr(text, type));
	free(text);
	rt_advice_free(advice);
}

#define HEAD "vendor_id,api_reference,vcpus,memory_mib,price_usd_per_hour\n"

static void catalogues_are_read_as_far_as_they_make_sense(void **state)
{
	(void)state;
	find(HEAD "aws,dear,4,4096,0.5\naws,cheap,3,1024,0.1\naws,small,2,1024,0.01\n", 0,
	     "\"api_reference\":\"cheap\"");
	/*
	 * A missing price, an invalid price, too little of a resource; whole lines that are empty or short.
	 */
	find(HEAD
	     "aws,free,8,8192,\naws,nan,8,8192,nan\naws,text,8,8192,much\naws,short\n\naws,fits,8,8192,9\n",
	     0, "\"api_reference\":\"fits\"");
	find(HEAD, 0, "\"problem\":\"no server in the catalogue fits\"");
	find("vendor_id,api_reference,vcpus,memory_gib,price_usd_per_hour\naws,gib,3,0.7,0.1\naws,more,3,1,0."
	     "2\n",
	     0, "\"api_reference\":\"more\"");
	find("vendor_id,api_reference,vcpus,price_usd_per_hour\naws,x,2,1\n", -EBADMSG, "");
	find("", -EBADMSG, "");
	find(HEAD "a,b,1,2,3,4\n", -EBADMSG, "");
	find("\x01\x02\xff\xfe", -EBADMSG, "");
}

static void make_database(const char *script)
{
	sqlite3 *database;

	unlink(other);
	assert_int_equal(sqlite3_open(other, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, script, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(database);
}

static void databases_of_another_schema_are_refused(void **state)
{
	struct rt_problem problem = {""};
	rt_regions *regions = NULL;
	double price = -1;

	(void)state;
	make_database("CREATE TABLE t(a); INSERT INTO t VALUES(1)");
	assert_true(rt_catalogue_price(other, "a/b", &price, &problem) < 0 && price == -1);
	assert_non_null(strstr(problem.text, other));
	assert_true(rt_regions_read_gpu_tracker(other, other, &regions, &problem) < 0 && !regions);
	make_database("CREATE TABLE servers(vendor_id, api_reference, vcpus)");
	assert_int_equal(rt_catalogue_price(other, "a/b", &price, &problem), -EBADMSG);
	make_database("CREATE TABLE servers(vendor_id, api_reference, vcpus, memory_mib, price_usd_per_hour);"
		      "INSERT INTO servers VALUES('a', 'b', 1, 2, 0.25), ('a', 'none', 1, 2, NULL), (x'00', "
		      "7, 'x', 'y', 'z')");
	assert_int_equal(rt_catalogue_price(other, "a/b", &price, &problem), 0);
	assert_true(price == 0.25);
	assert_int_equal(rt_catalogue_price(other, "a/none", &price, &problem), -ENOENT);
	/* The head of a database without anything behind it. */
	write_file(other, "SQLite format 3\0garbage", 23);
	assert_true(rt_catalogue_price(other, "a/b", &price, &problem) < 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_of_earlier_runs_count_like_runs),
		cmocka_unit_test(figures_beyond_all_machines_stay_numbers),
		cmocka_unit_test(bad_history_is_a_problem_in_one_line),
		cmocka_unit_test(catalogues_are_read_as_far_as_they_make_sense),
		cmocka_unit_test(databases_of_another_schema_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
