/* The JSON form of a summary: src/verdict/summary_json.c. */
#include "made_summary.h"

static char *json;

static void write_json(void)
{
	free(json);
	assert_int_equal(rt_summary_to_json(summary, &json), 0);
}

static void try_part(const char *part)
{
	write_json();
	if (!strstr(json, part))
		fail_msg("%s is not in\n%s", part, json);
}

static int done_json(void **state)
{
	free(json);
	json = NULL;
	return done(state);
}

static void figures_stand_in_their_groups(void **state)
{
	static const char BEGIN[] = "{\n \"run\":{\"name\":\"machine\",\"job_name\":";

	(void)state;
	write_json();
	if (strncmp(json, BEGIN, strlen(BEGIN)) != 0)
		fail_msg("%.80s", json);
	try_part(",\"layout\":\"json\"},\n \"end\":{\"recorded\":true,\"in_words\":\"exit status 0\",");
	try_part("},\n "
		 "\"time\":{\"wall_secs\":100.0,\"tree_wall_secs\":null,\"cpu_secs\":100.0,\"user_secs\":75."
		 "0,\"system_secs\":25.0},"
		 "\n "
		 "\"cores\":{");
	/* The last group ends before the courses. */
	try_part("},\n \"cores_over_time\":{");
	assert_string_equal(json + strlen(json) - 4, "}]}\n");
}

/* A summary does not keep its samples, so it cannot tell their percentiles. */
static void figures_of_the_samples_are_left_out(void **state)
{
	(void)state;
	write_json();
	assert_null(strstr(json, "\"p50\""));
	assert_null(strstr(json, "\"p95_mib\""));
}

static void flags_are_true_or_false_and_null_if_unknown(void **state)
{
	(void)state;
	try_part("\"core_dumped\":null,\"out_of_memory\":null");
	try_part("\"mixed_sources\":false");
	facts->measured.measures = 3;
	try_part("\"mixed_sources\":true");
	begin_with(NULL);
	try_part("\"end\":{\"recorded\":false,");
}

/* The 60 bins of a run become as many means: the first is another value than the others. */
static void a_course_has_sixty_means(void **state)
{
	char *at;
	size_t count = 1;

	(void)state;
	facts->cores_history = (struct time_bins){.bin_secs = 0.1234567, .count = 60};
	for (size_t i = 0; i < 60; i++) {
		facts->cores_history.bins[i].weights = 1;
		facts->cores_history.bins[i].weighted = i ? 1.0 / 3 : 2;
	}
	try_part("},\n \"cores_over_time\":{\"step_secs\":0.123457,\"means\":[2.0,0.3333,0.3333,");
	at = strstr(json, "\"means\":[");
	for (; *at != ']'; at++)
		count += *at == ',';
	assert_int_equal(count, 60);
	/* A course needs a sample. */
	facts->memory_history = (struct time_bins){0};
	try_part("},\n \"memory_over_time\":{\"step_secs\":0.0,\"means\":[]},\n");
}

static void phases_have_their_time_and_their_calls(void **state)
{
	(void)state;
	try_part("},\n \"phases\":[],\n \"disks\":[");
	put_text("run.jsonl.marks",
		 "{\"timestamp_ns\":110000000000,\"event\":\"start\",\"name\":\"a\\\"b\",\"pid\":1}\n"
		 "{\"timestamp_ns\":110123456700,\"event\":\"stop\",\"name\":\"a\\\"b\",\"pid\":1}\n"
		 "{\"timestamp_ns\":120000000000,\"event\":\"start\",\"name\":\"c\",\"pid\":1}\n"
		 "{\"timestamp_ns\":121000000000,\"event\":\"stop\",\"name\":\"c\",\"pid\":1}\n"
		 "{\"timestamp_ns\":190000000000,\"event\":\"start\",\"name\":\"c\",\"pid\":1}\n");
	begin_with("");
	try_part(
		"},\n \"phases\":[{\"name\":\"a\\\"b\",\"calls\":1,\"open_calls\":0,\"total_secs\":0.123457},"
		"{\"name\":\"c\",\"calls\":2,\"open_calls\":1,\"total_secs\":11.0}],\n");
}

static void all_bottlenecks_are_listed(void **state)
{
	(void)state;
	summary->verdict = (struct verdict){
		.bottlenecks = {{"io_bound", "Disk", "It \"waited\".", 2}, {"idle", "Idle", "It slept.", 0}},
		.count = 2};
	try_part(",\n \"bottlenecks\":[{\"rule\":\"io_bound\",\"title\":\"Disk\",\"text\":\"It "
		 "\\\"waited\\\".\"},"
		 "{\"rule\":\"idle\",\"title\":\"Idle\",\"text\":\"It slept.\"}]}\n");
	summary->verdict.count = 0;
	try_part(",\n \"bottlenecks\":[]}\n");
}

#define JSON_TEST(name) cmocka_unit_test_setup_teardown(name, begin, done_json)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		JSON_TEST(figures_stand_in_their_groups),
		JSON_TEST(figures_of_the_samples_are_left_out),
		JSON_TEST(flags_are_true_or_false_and_null_if_unknown),
		JSON_TEST(a_course_has_sixty_means),
		JSON_TEST(phases_have_their_time_and_their_calls),
		JSON_TEST(all_bottlenecks_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
