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

static void find_with(rt_advice *advice, const char *content, const char *const *filters, size_t filter_count,
		      int expected, const char *type)
{
	struct rt_problem problem = {""};
	char *text;
	int result;

	write_other(content);
	result = rt_advice_find_server(advice, other, filters, filter_count, &problem);
	if (result != expected || (result < 0 && !*problem.text))
		fail_msg("%s: %d, \"%s\"", content, result, problem.text);
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	if (result == 0)
		assert_non_null(strstr(text, type));
	free(text);
	rt_advice_free(advice);
}

static void find(const char *content, int expected, const char *type)
{
	find_with(advise_with(NULL), content, NULL, 0, expected, type);
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
	/* More than any machine has. */
	find(HEAD "aws,huge,1e16,8192,1\n", 0, "\"vcpus\":1000000000000000,");
	/* Columns in another order. */
	find("memory_mib,vendor_id,api_reference,vcpus,price_usd_per_hour\n8192,aws,first,8,1\n", 0,
	     "\"api_reference\":\"first\"");
	find("memory_gib,vcpus,vendor_id,price_usd_per_hour,api_reference\n8,8,aws,1,first\n", 0,
	     "\"api_reference\":\"first\"");
	find("api_reference,price_usd_per_hour,vcpus,vendor_id,memory_gib\nfirst,0,8,aws,8\n", 0,
	     "\"api_reference\":\"first\"");
	find(HEAD, 0, "\"problem\":\"no server in the catalogue fits\"");
	find("vendor_id,api_reference,vcpus,memory_gib,price_usd_per_hour\naws,gib,3,0.7,0.1\naws,more,3,1,0."
	     "2\n",
	     0, "\"api_reference\":\"more\"");
	find("vendor_id,api_reference,vcpus,price_usd_per_hour\naws,x,2,1\n", -EBADMSG, "");
	find("", -EBADMSG, "");
	find(HEAD "a,b,1,2,3,4\n", -EBADMSG, "");
	find("\x01\x02\xff\xfe", -EBADMSG, "");
}

static void find_filtered(const char *filter, const char *type)
{
	static const char CATALOGUE[] =
		"vendor_id,api_reference,region_id,vcpus,memory_mib,price_usd_per_hour,"
		"spot_share,storage,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
		"aws,cheap,us-east-1,4,4096,0.1,0.25,1e300,1\n"
		"gcp,middle,eu-west-1,8,8192,0.2,0.5,7,1\n"
		"aws,dear,eu-west-1,16,8192,0.3,0.75,7,1\n";
	const char *filters[] = {filter, "memory_mib=8192"};
	char wanted[100];

	snprintf(wanted, sizeof wanted, type ? "\"api_reference\":\"%s\"" : "no server in the catalogue fits",
		 type);
	find_with(advise_with(NULL), CATALOGUE, filters, 1, 0, wanted);
	/* All filters must hold. */
	if (!type || strcmp(type, "cheap") == 0)
		find_with(advise_with(NULL), CATALOGUE, filters, 2, 0, "no server in the catalogue fits");
	else
		find_with(advise_with(NULL), CATALOGUE, filters, 2, 0, wanted);
}

static void servers_are_filtered_by_texts_and_numbers(void **state)
{
	char long_name[100] = "";

	(void)state;
	find_filtered("vendor_id=gcp", "middle");
	find_filtered("region_id=eu-west-1", "middle");
	find_filtered("region_id=us-east-1", "cheap");
	find_filtered("vendor_id=aw", NULL);
	find_filtered("vcpus=16", "dear");
	find_filtered("vcpus=1", NULL);
	find_filtered("vcpus=16.0", NULL);
	find_filtered("spot_share=0.5", "middle");
	find_filtered("spot_share=0.50", NULL);
	find_filtered("storage=7", "middle");
	/* No column, no value, and a name that is longer than that of any column. */
	find_filtered("vendor=gcp", NULL);
	find_filtered("vendor_id", NULL);
	memset(long_name, 'x', 64);
	strcpy(long_name + 64, "=1");
	find_filtered(long_name, NULL);
}

/* A catalogue server with this many GPUs, each of this memory. */
static void find_for_gpus(double gpus, double vram_mib, const char *cells, bool fits)
{
	char statistics[300], catalogue[300];

	snprintf(statistics, sizeof statistics,
		 "{\"process_cpu_usage\":{\"mean\":1,\"max\":1},\"process_memory_mib\":{\"max\":100},"
		 "\"process_gpu_usage\":{\"mean\":%f,\"max\":%f},\"process_gpu_vram_mib\":{\"max\":%f}}",
		 gpus, gpus, vram_mib);
	snprintf(catalogue, sizeof catalogue,
		 "vendor_id,api_reference,vcpus,memory_mib,gpu_count,gpu_memory_mib,price_usd_per_hour\n"
		 "aws,fits,8,8192,%s,1\n",
		 cells);
	find_with(advise_with(write_other(statistics)), catalogue, NULL, 0, 0,
		  fits ? "\"api_reference\":\"fits\"" : "no server in the catalogue fits");
}

static void servers_have_the_gpus_and_their_memory(void **state)
{
	(void)state;
	find_for_gpus(0, 0, "0,0", true);
	find_for_gpus(0, 0, ",", true);
	find_for_gpus(1.4, 0, "1,0", true);
	find_for_gpus(1.5, 0, "1,0", false);
	find_for_gpus(1.5, 0, "2,0", true);
	find_for_gpus(1.5, 0, ",0", false);
	/* 6000 and a fifth are more than 7 GiB. */
	find_for_gpus(1, 6000, "1,7168", false);
	find_for_gpus(1, 6000, "1,8192", true);
	find_for_gpus(1, 6000, "1,8191", false);
	/* A GPU that holds data is needed, even if it was never busy. */
	find_for_gpus(0, 0.5, "1,127", false);
	find_for_gpus(0, 0.5, "1,128", true);
	find_for_gpus(0, 10, "0,100000", false);
	find_for_gpus(0, 10, "1,128", true);
	find_for_gpus(0, 10, "1,127", false);
}

static void memory_of_gpus_is_advised_in_doubling_steps_and_whole_gib(void **state)
{
	(void)state;
	assert_int_equal(rt_round_memory_mib(-1), 128);
	assert_int_equal(rt_round_memory_mib(NAN), 128);
	assert_int_equal(rt_round_memory_mib(128), 128);
	assert_int_equal(rt_round_memory_mib(128.5), 256);
	assert_int_equal(rt_round_memory_mib(1025), 2048);
	assert_int_equal(rt_round_memory_mib(2048), 2048);
	assert_int_equal(rt_round_memory_mib(2049), 3072);
	assert_int_equal(rt_round_memory_mib(5 * 1024), 5 * 1024);
	assert_int_equal(rt_round_memory_mib(5 * 1024 + 0.5), 6 * 1024);
	assert_int_equal(rt_round_memory_mib(1e15), 1000000000000000);
	assert_int_equal(rt_round_memory_mib(INFINITY), 1000000000000000);
}

static void prices_are_found_with_and_without_the_region(void **state)
{
	static const char CATALOGUE[] =
		"vendor_id,region_id,api_reference,vcpus,memory_mib,price_usd_per_hour\n"
		"aws,us-east-1,big,4,4096,\naws,us-east-1,big,4,4096,0.5\n"
		"aws,eu-west-1,big,4,4096,0.75\n";
	struct rt_problem problem = {""};
	double price = -1;

	(void)state;
	write_other(CATALOGUE);
	assert_int_equal(rt_catalogue_price(other, "aws/big", &price, &problem), 0);
	assert_true(price == 0.5);
	assert_int_equal(rt_catalogue_price(other, "aws/eu-west-1/big", &price, &problem), 0);
	assert_true(price == 0.75);
	assert_int_equal(rt_catalogue_price(other, "aws/eu-west-1", &price, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "there is no instance aws/eu-west-1 (vendor/region/type)"));
	assert_int_equal(rt_catalogue_price(other, "aws/us-east-1/bi", &price, &problem), -ENOENT);
	assert_true(price == 0.75);
}

static void take_text(rt_advice *advice, const char *expected)
{
	char *text;

	assert_int_equal(rt_advice_to_text(advice, &text), 0);
	if (!strstr(text, expected))
		fail_msg("\"%s\" is not in:\n%s", expected, text);
	free(text);
}

/* The run of 2 s costs 1/1800 of an hour's price. */
static void servers_and_their_costs_are_told(void **state)
{
	rt_advice *advice = advise_with(NULL);
	struct rt_server server = {.size = sizeof server, .question = "asked?", .usd_per_hour = NAN};
	char *text;

	(void)state;
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	take_text(advice, "  Server   unknown: the service did not answer\n           asked: asked?\n");
	server.question = NULL;
	server.problem = "no server fits";
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	take_text(advice, "  Server   unknown: no server fits\n  Notes");
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	assert_non_null(strstr(text, "\"vcpus\":null,\"memory_mib\":null,\"price_usd_per_hour\":null}"));
	free(text);
	rt_advice_set_price(advice, 18);
	take_text(advice, "  Cost     this run 0.01 USD\n");
	server = (struct rt_server){sizeof server, "q", NULL, "aws", "big", "eu", 16, 65536.12345, NAN};
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	take_text(advice, "  Server   aws big: 16 vCPUs, 64.0 GiB\n  Cost     this run 0.01 USD\n");
	server.usd_per_hour = 9;
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	take_text(advice,
		  "64.0 GiB, 9 USD an hour\n  Cost     this run 0.01 USD, 0.005 USD there (50 % less)\n");
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	assert_non_null(strstr(
		text,
		"\"server\":{\"asked\":\"q\",\"problem\":null,\"vendor_id\":\"aws\",\"api_reference\":"
		"\"big\","
		"\"region_id\":\"eu\",\"vcpus\":16,\"memory_mib\":65536.123,\"price_usd_per_hour\":9.0}"));
	assert_non_null(strstr(
		text, "\"usd_per_hour\":18.0,\"run_usd\":0.01,\"advised_usd\":0.005,\"saved_usd\":0.005,"
		      "\"saved_pct\":50.0}"));
	free(text);
	server.usd_per_hour = 27;
	assert_int_equal(rt_advice_set_server(advice, &server), 0);
	take_text(advice, "this run 0.01 USD, 0.015 USD there (50 % more)\n");
	rt_advice_set_price(advice, NAN);
	take_text(advice, "  Cost     0.015 USD there\n");
	rt_advice_free(advice);
}

static void lines_that_say_nothing_to_this_version_are_told(void **state)
{
	struct rt_problem problem = {""};
	const char *const paths[] = {other};
	rt_advice *advice = NULL;

	(void)state;
	write_other("{\"schema\":9,\"id\":\"x\",\"name\":\"a\",\"outcome\":\"ok\"}\n");
	assert_int_equal(rt_recommend(paths, 1, NULL, &advice, &problem), -ENODATA);
	assert_non_null(strstr(problem.text, ": left out: "));
	write_other("{\"schema\":1,\"id\":\"x\",\"name\":\"a\",\"outcome\":\"running\"}\n");
	assert_int_equal(rt_recommend(paths, 1, NULL, &advice, &problem), -ENODATA);
	assert_non_null(strstr(problem.text, ": none of its 1 runs is of this job"));
}

static void refused_advice_finds_no_server(void **state)
{
	struct rt_problem problem = {""};
	const char *const paths[] = {other};
	rt_advice *advice = NULL;
	char *text;

	(void)state;
	/* The first line alone has one sample and no end. */
	write_file(other, RUN, (size_t)(strchr(RUN, '\n') - RUN) + 1);
	assert_int_equal(rt_recommend(paths, 1, NULL, &advice, &problem), 0);
	assert_string_equal(rt_advice_refused(advice),
			    "it has no end: it still runs, or its tracker was killed");
	write_other(HEAD "aws,x,64,65536,1\n");
	assert_int_equal(rt_advice_find_server(advice, other, NULL, 0, &problem), 0);
	assert_int_equal(rt_advice_to_json(advice, &text), 0);
	assert_non_null(strstr(text, "\"server\":null"));
	free(text);
	rt_advice_free(advice);
}

static void advice_needs_a_path_and_a_policy(void **state)
{
	const char *const paths[] = {recording};
	struct rt_recommend_options options = {.size = sizeof options};
	struct rt_problem problem = {""};
	rt_advice *advice = NULL;

	(void)state;
	assert_int_equal(rt_recommend(paths, 0, NULL, &advice, &problem), -EINVAL);
	assert_string_equal(problem.text, "no recording was named");
	for (int policy = -1; policy <= 3; policy += 4) {
		options.policy = (enum rt_policy)policy;
		assert_int_equal(rt_recommend(paths, 1, &options, &advice, &problem), -EINVAL);
		assert_string_equal(problem.text, "there is no such policy");
	}
	assert_int_equal(rt_recommend((const char *const[]){"-"}, 1, NULL, &advice, &problem), -ESPIPE);
	assert_null(advice);
}

static void values_and_notes_are_found_by_name_and_number(void **state)
{
	rt_advice *advice = advise_with(NULL);
	const char *rule = NULL, *text = NULL;
	char *form = NULL;
	struct rt_problem problem = {""};
	int count = 0;

	(void)state;
	assert_int_equal(rt_advice_get(advice, "cpu").count, 3);
	assert_int_equal(rt_advice_get(advice, "memory").count, 768);
	assert_int_equal(rt_advice_get(advice, "time").type, RT_TYPE_NONE);
	assert_int_equal(rt_advice_get(advice, "coffee").type, RT_TYPE_NONE);
	assert_null(rt_advice_refused(advice));
	while (rt_advice_note(advice, (size_t)count, &rule, &text) == 0)
		count++;
	assert_true(count > 0);
	assert_string_equal(rule, "one_run");
	assert_int_equal(rt_advice_note(advice, (size_t)count, &rule, &text), -ENOENT);
	assert_int_equal(rt_advice_to_form(advice, "docke", &form, &problem), -EINVAL);
	assert_int_equal(rt_advice_to_form(advice, "docker", &form, &problem), 0);
	assert_string_equal(form, "docker run --cpus=3 --memory=768m\n");
	free(form);
	rt_advice_free(advice);
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
		cmocka_unit_test(servers_are_filtered_by_texts_and_numbers),
		cmocka_unit_test(servers_have_the_gpus_and_their_memory),
		cmocka_unit_test(memory_of_gpus_is_advised_in_doubling_steps_and_whole_gib),
		cmocka_unit_test(prices_are_found_with_and_without_the_region),
		cmocka_unit_test(servers_and_their_costs_are_told),
		cmocka_unit_test(lines_that_say_nothing_to_this_version_are_told),
		cmocka_unit_test(refused_advice_finds_no_server),
		cmocka_unit_test(advice_needs_a_path_and_a_policy),
		cmocka_unit_test(values_and_notes_are_found_by_name_and_number),
		cmocka_unit_test(databases_of_another_schema_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
