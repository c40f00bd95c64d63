/* Tests of src/tracker/run_facts.c: the first sample says which run it is. */
#include "scratch.h"

#include "resource_tracker.h"
#include "tracker/config.h"

static rt_config *config;

static int begin_config(void **state)
{
	return scratch_enter(state) | rt_config_new(&config);
}

static int end_config(void **state)
{
	rt_config_free(config);
	unsetenv("SGE_TASK_ID");
	unsetenv("JOB_NAME");
	unsetenv("SLURM_JOB_NAME");
	unsetenv("TRACKER_SHELL_STEP");
	return scratch_leave(state);
}

static char *first_sample, first_warning[300];

/* The first sample as JSON. The machine is a folder without files. */
static const char *sample_of(char *const argv[])
{
	rt_tracker *tracker = NULL;

	assert_int_equal(rt_config_set(config, "root", scratch_folder), 0);
	assert_int_equal(rt_config_set_command(config, argv), 0);
	assert_int_equal(rt_open(config, &tracker), 0);
	assert_int_equal(rt_sample(tracker), 0);
	rt_free(first_sample);
	first_sample = NULL;
	assert_int_equal(rt_sample_json(tracker, &first_sample), 0);
	first_warning[0] = '\0';
	(void)rt_next_warning(tracker, first_warning, sizeof first_warning);
	rt_close(tracker);
	assert_non_null(strstr(first_sample, "\"run_start\":{"));
	return first_sample;
}

#define assert_says(argv, text) assert_non_null(strstr(sample_of(argv), text))

static char *const COMMAND[] = {(char[]){"/usr/bin/python3"}, (char[]){"train.py"}, (char[]){"a \"b\""},
				NULL};

static void a_command_has_a_name_a_folder_and_a_length(void **state)
{
	char folder[80];

	(void)state;
	snprintf(folder, sizeof folder, "\"folder\":\"%s\"", scratch_folder + strlen("/tmp/"));
	assert_says(COMMAND, "\"mode\":\"wrap\"");
	assert_says(COMMAND, "\"executable\":\"python3\"");
	assert_says(COMMAND, "\"program\":\"train.py\"");
	assert_says(COMMAND, "\"argument_count\":3");
	assert_says(COMMAND, folder);
	assert_says(NULL, "\"mode\":\"host\"");
	assert_says(NULL, "\"folder\":null");
	/* Arguments may hold secrets. */
	assert_says(COMMAND, "\"command\":null");
	assert_int_equal(rt_config_set(config, "record-command", "1"), 0);
	assert_says(
		COMMAND,
		"\"command\":\"[\\\"/usr/bin/python3\\\",\\\"train.py\\\",\\\"a \\\\\\\"b\\\\\\\"\\\"]\"");
	assert_says(NULL, "\"command\":null");
}

static void a_job_has_the_name_of_its_user_or_of_its_scheduler(void **state)
{
	(void)state;
	assert_says(COMMAND, "\"job_name\":null");
	assert_says(COMMAND, "\"scheduler\":{}");
	/* Other programs have such a variable, too. */
	setenv("JOB_NAME", "nightly", 1);
	assert_says(COMMAND, "\"job_name\":null");
	assert_says(COMMAND, "\"scheduler\":{}");
	setenv("SGE_TASK_ID", "undefined", 1);
	assert_says(COMMAND, "\"job_name\":\"nightly\"");
	assert_says(COMMAND, "\"scheduler\":{\"JOB_NAME\":\"nightly\",\"SGE_TASK_ID\":\"undefined\"}");
	setenv("SLURM_JOB_NAME", "first", 1);
	assert_says(COMMAND, "\"job_name\":\"first\"");
	setenv("SLURM_JOB_NAME", "", 1);
	assert_says(COMMAND, "\"job_name\":\"nightly\"");
	assert_int_equal(rt_config_set(config, "job-name", "mine"), 0);
	assert_says(COMMAND, "\"job_name\":\"mine\"");
}

static void an_input_has_the_size_of_its_files(void **state)
{
	char own_pid[20];
	char *const reads_file[] = {(char[]){"sort"}, (char[]){"data"}, NULL};

	(void)state;
	put_file("data", "12345", 5);
	assert_says(reads_file, "\"input_bytes\":5,\"input_source\":\"arguments\"");
	assert_says(NULL, "\"input_bytes\":null,\"input_source\":null");
	/* A script of an engine is not an input. */
	snprintf(own_pid, sizeof own_pid, "%d", (int)getpid());
	setenv("TRACKER_SHELL_STEP", own_pid, 1);
	assert_says(reads_file, "\"input_bytes\":null,\"input_source\":null");
	setenv("TRACKER_SHELL_STEP", "1", 1);
	assert_says(reads_file, "\"input_bytes\":5,\"input_source\":\"arguments\"");
	put_file("more", "123456789", 9);
	assert_int_equal(rt_config_set(config, "input", "more"), 0);
	assert_says(reads_file, "\"input_bytes\":9,\"input_source\":\"option\"");
	assert_string_equal(first_warning, "");
	assert_int_equal(rt_config_set(config, "input", "none"), 0);
	assert_says(reads_file, "\"input_bytes\":null,\"input_source\":null");
	assert_string_equal(first_warning,
			    "the size of the input 'none' is unknown: it is missing, or cannot be read");
	assert_int_equal(rt_config_set(config, "input-bytes", "1"), 0);
	assert_says(reads_file, "\"input_bytes\":1,\"input_source\":\"option\"");
	assert_int_equal(rt_config_set(config, "input-bytes", "7000"), 0);
	assert_says(reads_file, "\"input_bytes\":7000,\"input_source\":\"option\"");
}

static void settings_and_tags_are_those_of_the_user(void **state)
{
	(void)state;
	assert_says(COMMAND, "\"interval_secs\":1.0");
	assert_says(COMMAND, "\"children\":true,\"aligned\":false");
	assert_says(COMMAND, "\"tags\":{}");
	assert_int_equal(rt_config_set(config, "interval", "0.25"), 0);
	assert_int_equal(rt_config_set(config, "no-children", "1"), 0);
	assert_int_equal(rt_config_set(config, "tag", "a=1"), 0);
	assert_int_equal(rt_config_set(config, "tag", "b=2"), 0);
	assert_int_equal(rt_config_set(config, "team", "red"), 0);
	assert_says(COMMAND, "\"interval_secs\":0.25");
	assert_says(COMMAND, "\"children\":false,\"aligned\":false");
	assert_says(COMMAND, "\"tags\":{\"a\":\"1\",\"b\":\"2\"}");
	assert_says(COMMAND, "\"team\":\"red\"");
}

/* Arguments may hold secrets, so only the first one is used. A kernel thread has none. */
static void an_attached_process_has_the_name_of_its_program(void **state)
{
	(void)state;
	put_below("proc/100/stat",
		  "100 (job) S 1 100 100 0 -1 4194304 0 0 0 0 5 5 0 0 20 0 1 0 500 0 0 "
		  "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	put_file("proc/100/cmdline", "/usr/bin/python3\0train.py\0--token=secret", 41);
	assert_int_equal(rt_config_set(config, "pid", "100"), 0);
	assert_says(NULL, "\"mode\":\"attach\"");
	assert_says(NULL, "\"executable\":\"python3\",\"program\":\"train.py\"");
	assert_says(NULL, "\"argument_count\":null");
	assert_null(strstr(first_sample, "secret"));
	put_file("proc/100/cmdline", "", 0);
	put_text("proc/100/comm", "kworker/0:1\n");
	assert_says(NULL, "\"executable\":\"kworker/0:1\",\"program\":\"kworker/0:1\"");
	assert_int_equal(unlink("proc/100/comm"), 0);
	assert_says(NULL, "\"executable\":null,\"program\":null");
}

/* An empty input is one of 0 bytes. */
static void an_empty_input_is_known(void **state)
{
	char *const reads_file[] = {(char[]){"sort"}, (char[]){"empty"}, NULL};

	(void)state;
	put_text("empty", "");
	assert_says(reads_file, "\"input_bytes\":0,\"input_source\":\"arguments\"");
	assert_int_equal(rt_config_set(config, "input", "empty"), 0);
	assert_says(reads_file, "\"input_bytes\":0,\"input_source\":\"option\"");
	assert_string_equal(first_warning, "");
}

/* Arguments of more than 4 MiB are left out, and the run goes on. */
static void a_command_that_is_too_long_is_not_recorded(void **state)
{
	size_t length = (size_t)4 << 20;
	char *word = malloc(length + 1);
	char *const command[] = {(char[]){"job"}, word, NULL};

	(void)state;
	assert_non_null(word);
	memset(word, 'x', length);
	word[length] = '\0';
	assert_int_equal(rt_config_set(config, "record-command", "1"), 0);
	assert_says(command, "\"command\":null");
	word[1000] = '\0';
	assert_says(command, "\"command\":\"[\\\"job\\\",\\\"xxx");
	free(word);
}

static void a_rank_is_that_of_the_launcher(void **state)
{
	(void)state;
	config->rank = 3;
	assert_says(NULL, "\"rank\":3");
	config->rank = -1;
	assert_says(NULL, "\"rank\":null");
}

/* Only the beginning of a long command line is looked at, and a script stands there. */
static void a_long_command_line_still_has_a_name(void **state)
{
	static char long_word[1100];
	char *const script_first[] = {(char[]){"bash"}, (char[]){"-e"}, (char[]){"run.sh"}, long_word, NULL};
	char *const script_last[] = {(char[]){"bash"}, long_word, (char[]){"run.sh"}, NULL};

	(void)state;
	memset(long_word, 'x', sizeof long_word - 1);
	assert_says(script_first, "\"program\":\"run.sh\"");
	assert_says(script_last, "\"program\":\"bash (");
}

static void names_of_folders_and_programs_are_the_last_part_of_a_path(void **state)
{
	char *const plain[] = {(char[]){"job"}, NULL}, *const slash[] = {(char[]){"/bin/"}, NULL};

	(void)state;
	assert_says(plain, "\"executable\":\"job\"");
	assert_says(slash, "\"executable\":\"/bin/\"");
	assert_says(NULL, "\"executable\":null");
}

static void variables_of_a_scheduler_are_recorded_in_their_order(void **state)
{
	(void)state;
	setenv("SLURM_JOB_ID", "77", 1);
	setenv("SLURM_PROCID", "", 1);
	setenv("SLURM_STEP_ID", "0", 1);
	setenv("TRACEPARENT", "00-a", 1);
	assert_says(NULL, "\"scheduler\":{\"SLURM_JOB_ID\":\"77\",\"SLURM_STEP_ID\":\"0\","
			  "\"TRACEPARENT\":\"00-a\"}");
	assert_says(NULL, "\"job_name\":null");
	/* The seventh name is the last one of a job, and the eighth is a number. */
	setenv("CI_JOB_NAME", "test", 1);
	assert_says(NULL, "\"job_name\":\"test\"");
	unsetenv("CI_JOB_NAME");
	unsetenv("SLURM_JOB_ID");
	unsetenv("SLURM_PROCID");
	unsetenv("SLURM_STEP_ID");
	unsetenv("TRACEPARENT");
}

#define unit_test_of_facts(test) cmocka_unit_test_setup_teardown(test, begin_config, end_config)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_facts(a_command_has_a_name_a_folder_and_a_length),
		unit_test_of_facts(a_job_has_the_name_of_its_user_or_of_its_scheduler),
		unit_test_of_facts(an_input_has_the_size_of_its_files),
		unit_test_of_facts(settings_and_tags_are_those_of_the_user),
		unit_test_of_facts(an_attached_process_has_the_name_of_its_program),
		unit_test_of_facts(an_empty_input_is_known),
		unit_test_of_facts(a_command_that_is_too_long_is_not_recorded),
		unit_test_of_facts(a_rank_is_that_of_the_launcher),
		unit_test_of_facts(a_long_command_line_still_has_a_name),
		unit_test_of_facts(names_of_folders_and_programs_are_the_last_part_of_a_path),
		unit_test_of_facts(variables_of_a_scheduler_are_recorded_in_their_order),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	rt_free(first_sample);
	return failed;
}
