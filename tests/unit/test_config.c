/* rt_config_set(): every setting, its refusals and their messages; copying. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tracker/config.h"
#include "unit.h"

static int setup(void **state)
{
	return rt_config_new((rt_config **)state);
}

static int teardown(void **state)
{
	rt_config_free(*state);
	return 0;
}

static void test_defaults(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(config->interval_ns, NSEC_PER_SEC);
	assert_int_equal(config->pid, 0);
	assert_int_equal(config->format, FORMAT_BY_EXTENSION);
	assert_int_equal(config->csv_layout, CSV_COMBINED);
	assert_int_equal(config->pss, PSS_AUTO);
	assert_null(config->root_dir);
	assert_int_equal(config->output_count, 0);
	assert_string_equal(rt_config_message(config), "");
}

static void test_interval(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} GOOD[] = {
		{"1", NSEC_PER_SEC},
		{"0.001", NSEC_PER_MSEC},
		{" 0.25\n", 250 * NSEC_PER_MSEC},
		{"1e-3", NSEC_PER_MSEC},
		{"1e9", 1000000000 * NSEC_PER_SEC},
		{"0.3", 300 * NSEC_PER_MSEC},
		{"500ms", 500 * NSEC_PER_MSEC},
		{"1s", NSEC_PER_SEC},
		{" 1.5 m\n", 90 * NSEC_PER_SEC},
		{"2h", 7200 * NSEC_PER_SEC},
		{"1d", 86400 * NSEC_PER_SEC},
		{"1ms", NSEC_PER_MSEC},
	};
	static const struct {
		const char *text, *message;
	} BAD[] = {
		{"0", "interval: '0' is too short; the least is 0.001 seconds"},
		{"-1", "interval: '-1' is too short; the least is 0.001 seconds"},
		{"1e-9", "interval: '1e-9' is too short; the least is 0.001 seconds"},
		{"0.9ms", "interval: '0.9ms' is too short; the least is 0.001 seconds"},
		{"1sec", "interval: '1sec' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"ms", "interval: 'ms' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"0.0009", "interval: '0.0009' is too short; the least is 0.001 seconds"},
		{"0.0009999992", "interval: '0.0009999992' is too short; the least is 0.001 seconds"},
		{"nan", "interval: 'nan' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"inf", "interval: 'inf' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"1x", "interval: '1x' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"1,5", "interval: '1,5' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"", "interval: '' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"a\nb", "interval: 'a?b' is not a length of time; give for example 1, 0.25, 500ms or 5m"},
		{"2e9", "interval: '2e9' is too long; the most is 1000000000 seconds"},
	};
	struct rt_config *config = *state;

	for (size_t i = 0; i < ARRAY_SIZE(GOOD); i++) {
		assert_int_equal(rt_config_set(config, "interval", GOOD[i].text), 0);
		assert_int_equal(config->interval_ns, GOOD[i].ns);
	}
	config->interval_ns = 7;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		assert_int_equal(rt_config_set(config, "interval", BAD[i].text), -EINVAL);
		assert_string_equal(rt_config_message(config), BAD[i].message);
		assert_int_equal(config->interval_ns, 7);
	}
}

static void test_pid(void **state)
{
	static const char *const BAD[] = {"0", "-1", "1.5", "x", "", "99999999999", "12 13"};
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "pid", "4711"), 0);
	assert_int_equal(config->pid, 4711);
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		assert_int_equal(rt_config_set(config, "pid", BAD[i]), -EINVAL);
		assert_non_null(strstr(rt_config_message(config), "give a positive number"));
	}
	assert_int_equal(config->pid, 4711);
}

static void test_flags_and_names(void **state)
{
	static const char *const YES[] = {"1", "true", "yes", "on", "YES", "True"};
	static const char *const NO[] = {"0", "false", "no", "off"};
	struct rt_config *config = *state;

	for (size_t i = 0; i < ARRAY_SIZE(YES); i++) {
		config->no_children = false;
		assert_int_equal(rt_config_set(config, "no_children", YES[i]), 0);
		assert_true(config->no_children);
	}
	for (size_t i = 0; i < ARRAY_SIZE(NO); i++) {
		config->no_children = true;
		assert_int_equal(rt_config_set(config, "no-children", NO[i]), 0);
		assert_false(config->no_children);
	}
	assert_int_equal(rt_config_set(config, "append", "maybe"), -EINVAL);
	assert_string_equal(rt_config_message(config), "append: 'maybe' is neither yes nor no; give 1 or 0");
	assert_int_equal(rt_config_set(config, "appen", "1"), -ENOENT);
	assert_int_equal(rt_config_set(config, "append-", "1"), -ENOENT);
	assert_string_equal(rt_config_message(config), "there is no setting 'append-'");
	for (size_t i = 0; rt_config_name(i); i++)
		assert_int_not_equal(rt_config_set(config, rt_config_name(i), "1"), -ENOENT);
}

static void add_output_takes_a_format_of_its_own(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "format", "csv"), 0);
	assert_int_equal(rt_config_set(config, "output", "a"), 0);
	assert_int_equal(rt_config_add_output(config, "b", "json"), 0);
	assert_int_equal(config->output_count, 2);
	assert_int_equal(config->outputs[0].format, FORMAT_BY_EXTENSION);
	assert_int_equal(config->outputs[1].format, FORMAT_JSON);
	assert_int_equal(rt_config_add_output(config, "b", "csv"), -EINVAL);
	assert_string_equal(rt_config_message(config), "output: 'b' is given twice");
	assert_int_equal(rt_config_add_output(config, "c", "xml"), -EINVAL);
	assert_string_equal(rt_config_message(config), "output: the format of an output is json or csv");
	assert_int_equal(rt_config_add_output(config, "c", ""), -EINVAL);
	assert_int_equal(rt_config_add_output(config, "c", NULL), -EINVAL);
	assert_int_equal(rt_config_add_output(config, NULL, "csv"), -EINVAL);
	assert_int_equal(config->output_count, 2);
}

static void test_choices(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "format", "csv"), 0);
	assert_int_equal(config->format, FORMAT_CSV);
	assert_int_equal(rt_config_set(config, "format", "json"), 0);
	assert_int_equal(config->format, FORMAT_JSON);
	assert_int_equal(rt_config_set(config, "format", "xml"), -EINVAL);
	assert_string_equal(rt_config_message(config), "format: 'xml' is unknown; give one of json, csv");
	assert_int_equal(rt_config_set(config, "format", ""), -EINVAL);
	assert_int_equal(rt_config_set(config, "csv-layout", "pid-0.1"), 0);
	assert_int_equal(config->csv_layout, CSV_PID_0_1);
	assert_int_equal(rt_config_set(config, "csv-layout", "process-0.4"), 0);
	assert_int_equal(config->csv_layout, CSV_PROCESS_0_4);
	assert_int_equal(rt_config_set(config, "pss", "off"), 0);
	assert_int_equal(config->pss, PSS_OFF);
}

static void test_outputs(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "output", "run.jsonl"), 0);
	assert_int_equal(rt_config_set(config, "output", "-"), 0);
	assert_int_equal(rt_config_set(config, "output", "/dev/stderr"), 0);
	assert_int_equal(rt_config_set(config, "output", "/dev/fd/7"), 0);
	assert_int_equal(rt_config_set(config, "output", "/dev/fd/7x"), 0);
	assert_int_equal(config->output_count, 5);
	assert_string_equal(config->outputs[0].path, "run.jsonl");
	assert_int_equal(config->outputs[0].fd, -1);
	assert_int_equal(config->outputs[1].fd, 1);
	assert_int_equal(config->outputs[2].fd, 2);
	assert_int_equal(config->outputs[3].fd, 7);
	assert_int_equal(config->outputs[4].fd, -1);
	assert_int_equal(rt_config_set(config, "output", "-"), -EINVAL);
	assert_string_equal(rt_config_message(config), "output: '-' is given twice");
	assert_int_equal(rt_config_set(config, "output", ""), -EINVAL);
	assert_int_equal(config->output_count, 5);
}

static void test_tags(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "tag", "a=1"), 0);
	assert_int_equal(rt_config_set(config, "tag", "b=x=y"), 0);
	assert_int_equal(rt_config_set(config, "tag", "a="), 0);
	assert_int_equal(config->tag_count, 2);
	assert_string_equal(config->tags[0].key, "a");
	assert_string_equal(config->tags[0].value, "");
	assert_string_equal(config->tags[1].value, "x=y");
	assert_int_equal(rt_config_set(config, "tag", "novalue"), -EINVAL);
	assert_string_equal(rt_config_message(config), "tag: 'novalue' has no '='; give KEY=VALUE");
	assert_int_equal(rt_config_set(config, "tag", "=v"), -EINVAL);
	assert_int_equal(config->tag_count, 2);
}

static void test_metrics(void **state)
{
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set(config, "metrics", "cpu.*, memory.used_mib,,\ndisk"), 0);
	assert_int_equal(config->metric_count, 3);
	assert_string_equal(config->metrics[0], "cpu.*");
	assert_string_equal(config->metrics[1], "memory.used_mib");
	assert_string_equal(config->metrics[2], "disk");
	assert_int_equal(rt_config_set(config, "metrics", "gpu"), 0);
	assert_int_equal(config->metric_count, 4);
	assert_int_equal(rt_config_set(config, "metrics", " ,"), -EINVAL);
	assert_int_equal(config->metric_count, 4);
}

static void test_command(void **state)
{
	char prog[] = "prog", arg[] = "a b", empty[] = "";
	char *const argv[] = {prog, arg, empty, NULL}, *const none[] = {NULL};
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set_command(config, argv), 0);
	assert_int_equal(config->argc, 3);
	assert_string_equal(config->argv[1], "a b");
	assert_null(config->argv[3]);
	assert_int_equal(rt_config_set_command(config, none), -EINVAL);
	assert_int_equal(config->argc, 3);
	assert_int_equal(rt_config_set_command(config, NULL), 0);
	assert_int_equal(config->argc, 0);
	assert_null(config->argv);
}

static void test_messages_stay_short(void **state)
{
	struct rt_config *config = *state;
	char value[5000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(rt_config_set(config, "interval", value), -EINVAL);
	assert_true(strlen(rt_config_message(config)) < 200);
	assert_non_null(strstr(rt_config_message(config), "xxx...'"));
}

/* A message is one line, and fits into a terminal. */
static void a_message_is_cut_and_has_no_control_characters(void **state)
{
	struct rt_config *config = *state;
	char text[1100];

	assert_int_equal(config_fail(config, -EIO, "%s", "a\tb\x1f\x7f~ \xc3\xa9\n"), -EIO);
	assert_string_equal(rt_config_message(config), "a?b??~ \xc3\xa9?");
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(config_fail(config, -EIO, "%s", text + 100), -EIO);
	assert_int_equal(strlen(rt_config_message(config)), 999);
	assert_int_equal(config_fail(config, -EIO, "%s", text), -EIO);
	assert_int_equal(strlen(rt_config_message(config)), 1000);
	/* A message shows the first 60 bytes of a value, and of a rule of signals. */
	text[61] = '\0';
	assert_int_equal(rt_config_set(config, "pss", text), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "xxx...' is unknown"));
	text[60] = '\0';
	assert_int_equal(rt_config_set(config, "pss", text), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "xxx' is unknown"));
	assert_int_equal(rt_config_set(config, "signal-at", text), -EINVAL);
	assert_int_equal(strcspn(strchr(rt_config_message(config), 'x'), "'"), 60);
	text[60] = 'x';
	assert_int_equal(rt_config_set(config, "signal-at", text), -EINVAL);
	assert_int_equal(strcspn(strchr(rt_config_message(config), 'x'), "'"), 60);
	assert_int_equal(rt_config_set(config, text, "1"), -ENOENT);
	assert_int_equal(strcspn(strchr(rt_config_message(config), 'x'), "'"), 60);
	assert_null(rt_config_failed_output(config));
}

static void test_copy(void **state)
{
	char prog[] = "prog", arg[] = "arg";
	char *const argv[] = {prog, arg, NULL};
	struct rt_config *config = *state, *copy;

	rt_config_set(config, "job-name", "first");
	rt_config_set(config, "root", "/tmp/r");
	rt_config_set(config, "tag", "k=v");
	rt_config_set(config, "tag", "l=m");
	rt_config_set(config, "output", "x");
	rt_config_add_output(config, "y", "csv");
	rt_config_set(config, "metrics", "cpu.*");
	rt_config_set_history(config, 7, "memory.*");
	rt_config_set_variable(config, "NAME", "value");
	rt_config_set(config, "duration", "2.5");
	rt_config_set_command(config, argv);
	rt_config_set(config, "pss", "bad");
	assert_int_equal(config_copy(config, &copy), 0);
	rt_config_set(config, "job-name", "second");
	rt_config_set(config, "tag", "k=w");
	assert_string_equal(copy->job_name, "first");
	assert_string_equal(copy->root_dir, "/tmp/r");
	assert_string_equal(copy->tags[0].value, "v");
	assert_int_equal(copy->tag_count, 2);
	assert_string_equal(copy->tags[1].key, "l");
	assert_string_equal(copy->tags[1].value, "m");
	assert_int_equal(copy->output_count, 2);
	assert_string_equal(copy->outputs[0].path, "x");
	assert_ptr_not_equal(copy->outputs[0].path, config->outputs[0].path);
	assert_string_equal(copy->outputs[1].path, "y");
	assert_true(copy->outputs[1].format == FORMAT_CSV && copy->outputs[1].fd == -1);
	assert_int_equal(copy->metric_count, 1);
	assert_string_equal(copy->metrics[0], "cpu.*");
	assert_true(copy->history_samples == 7 && strcmp(copy->history_metrics, "memory.*") == 0);
	assert_string_equal(config_variable(copy, "NAME"), "value");
	assert_int_equal(copy->variable_count, 1);
	assert_true(copy->argc == 2 && copy->input_count == 0 && copy->given.length == 0);
	assert_string_equal(copy->argv[1], "arg");
	assert_null(copy->argv[2]);
	assert_int_equal(copy->duration_ns, 2500 * NSEC_PER_MSEC);
	assert_null(copy->team);
	assert_string_equal(rt_config_message(copy), "");
	rt_config_free(copy);
	rt_config_free(NULL);
}

static void test_empty_text_is_none(void **state)
{
	struct rt_config *config = *state;

	rt_config_set(config, "team", "red");
	assert_int_equal(rt_config_set(config, "team", ""), 0);
	assert_null(config->team);
	rt_config_set(config, "root", "/");
	assert_null(config->root_dir);
}

static int64_t rank_of_launcher(const char *name, const char *value)
{
	struct rt_config *config;
	int64_t rank;

	setenv(name, value, 1);
	rt_config_new(&config);
	rank = config->rank;
	rt_config_free(config);
	unsetenv(name);
	return rank;
}

static void each_launcher_tells_a_rank(void **state)
{
	static const char *const NAMES[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",    "MV2_COMM_WORLD_RANK",
		"PALS_RANKID",          "FLUX_TASK_RANK", "ALPS_APP_PE", "JSM_NAMESPACE_RANK",
		"SLURM_PROCID",         "RANK",
	};
	static const char *const WRONG[] = {"", "x", "-1", "5x", "1.5"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		unsetenv(NAMES[i]);
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
		assert_int_equal(rank_of_launcher(NAMES[i], "7"), 7);
	for (size_t i = 0; i < ARRAY_SIZE(WRONG); i++)
		assert_int_equal(rank_of_launcher("RANK", WRONG[i]), -1);
	/* The first name that has a number counts. */
	setenv("SLURM_PROCID", "0", 1);
	assert_int_equal(rank_of_launcher("PMI_RANK", "5"), 5);
	assert_int_equal(rank_of_launcher("PMI_RANK", "x"), 0);
	assert_int_equal(rank_of_launcher("RANK", "5"), 0);
	unsetenv("SLURM_PROCID");
}

/* Values at both ends of what a setting takes, and those beyond. */
static void numbers_have_bounds(void **state)
{
	static const struct {
		const char *name, *good[3], *bad[5];
	} CASES[] = {
		{"programs", {"1", "256", "off"}, {"0", "257", "-1", "x", "8 9"}},
		{"waits", {"1", "24", "off"}, {"0", "25", "-1", "", "1.5"}},
		{"upload-deadline", {"0", "1d", "86400"}, {"-0.001", "86400.1", "x", "", "nan"}},
		{"carbon-factor", {"0.001", "10000", "1e3"}, {"0", "10000.1", "-1", "x", "inf"}},
		{"input-bytes", {"1", "1e18", "2.0"}, {"0", "1.1e18", "-1", "5 MB", "0.5"}},
		{"duration", {"0.000000001", "1e9", "1ms"}, {"0", "1.1e9", "-1", "x", ""}},
		{"start-at", {"+90", "@1795262400", "2026-11-21T12:00:00"}, {"x", "", "90", "+", "12"}},
		{"gpus", {"used", "0,12", "all"}, {"mine", "0,,1", ",", "0,all", "12a"}},
		{"gpus",
		 {"visible", "GPU-1", "GPU-1,0000:3b:00.0"},
		 {"used,all", "GPU", "-,b", "a:,b", "all "}},
	};
	struct rt_config *config = *state;

	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(CASES[i].good); j++)
			if (rt_config_set(config, CASES[i].name, CASES[i].good[j]) != 0)
				fail_msg("%s", rt_config_message(config));
		for (size_t j = 0; j < ARRAY_SIZE(CASES[i].bad); j++) {
			assert_int_equal(rt_config_set(config, CASES[i].name, CASES[i].bad[j]), -EINVAL);
			assert_int_equal(
				strncmp(rt_config_message(config), CASES[i].name, strlen(CASES[i].name)), 0);
		}
	}
	assert_int_equal(config->programs, 0);
	assert_int_equal(config->upload_deadline_ns, 86400 * NSEC_PER_SEC);
	assert_true(config->carbon_factor == 1000 && config->input_size == 2);
	assert_string_equal(config->gpus, "GPU-1,0000:3b:00.0");
}

static void lists_keep_the_right_values(void **state)
{
	struct rt_config *config = *state, *copy;

	assert_int_equal(rt_config_set(config, "input", "a"), 0);
	assert_int_equal(rt_config_set(config, "input", ""), -EINVAL);
	assert_int_equal(rt_config_set(config, "input", "b*"), 0);
	assert_int_equal(rt_config_set(config, "signal-at", "memory=90%:USR1,time=-120s:TERM"), 0);
	assert_int_equal(rt_config_set(config, "signal-at", "time=1m:INT"), 0);
	assert_int_equal(config->signal_rule_count, 3);
	assert_int_equal(rt_config_set(config, "signal-at", "memory=x:USR1"), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "signal-at: 'memory=x:USR1' "));
	assert_int_equal(rt_config_set(config, "metrics", "nothing"), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "'nothing' names no metric"));
	assert_int_equal(config_copy(config, &copy), 0);
	assert_int_equal(copy->input_count, 2);
	assert_string_equal(copy->inputs[0], "a");
	assert_string_equal(copy->inputs[1], "b*");
	assert_int_equal(copy->signal_rule_count, 3);
	assert_string_equal(copy->signal_rules[1].text, "time=-120s:TERM");
	/* A copy has neither a command nor messages that were never given. */
	assert_null(copy->argv);
	assert_null(copy->history_metrics);
	assert_null(copy->job_name);
	rt_config_free(copy);
}

/* Another process repeats the settings, in their order and without those that were refused. */
static void settings_that_were_given_are_kept_as_texts(void **state)
{
	static const char GIVEN[] = "no-children\0001\0output json\0b\0job-name\0x\0start-at\0+90\0";
	struct rt_config *config = *state;

	assert_int_equal(rt_config_set_int(config, "no_children", 1), 0);
	assert_int_equal(rt_config_set(config, "interval", "x"), -EINVAL);
	assert_int_equal(rt_config_add_output(config, "b", "json"), 0);
	assert_int_equal(rt_config_set(config, "job-name", "x"), 0);
	assert_int_equal(rt_config_set(config, "start-at", "+90"), 0);
	assert_int_equal(rt_config_set(config, "job-nam", "x"), -ENOENT);
	assert_int_equal(rt_config_set(config, "job-namee", "x"), -ENOENT);
	assert_int_equal(rt_config_set(config, NULL, "x"), -EINVAL);
	assert_int_equal(rt_config_set(config, "job-name", NULL), -EINVAL);
	assert_int_equal(config->given.length, sizeof GIVEN - 1);
	assert_memory_equal(config->given.data, GIVEN, sizeof GIVEN - 1);
}

static void names_of_descriptors_have_one_form(void **state)
{
	static const struct {
		const char *name;
		int fd;
	} CASES[] = {{"/dev/stdout", 1}, {"/dev/fd/0", 0},           {"/dev/fd/", -1},
		     {"/dev/fd/ 5", -1}, {"/dev/fd/\t5", -1},        {"/dev/fd/2147483647", 2147483647},
		     {"/dev/fd/-5", -1}, {"/dev/fd/2147483648", -1}, {"./-", -1}};
	struct rt_config *config = *state;

	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		assert_int_equal(rt_config_set(config, "output", CASES[i].name), 0);
		assert_int_equal(config->outputs[i].fd, CASES[i].fd);
	}
}

UNIT_TESTS
{
	static const struct CMUnitTest TESTS[] = {
		cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags_and_names, setup, teardown),
		cmocka_unit_test_setup_teardown(add_output_takes_a_format_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_choices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outputs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_metrics, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
		cmocka_unit_test_setup_teardown(test_messages_stay_short, setup, teardown),
		cmocka_unit_test_setup_teardown(a_message_is_cut_and_has_no_control_characters, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_text_is_none, setup, teardown),
		cmocka_unit_test(each_launcher_tells_a_rank),
		cmocka_unit_test_setup_teardown(numbers_have_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_keep_the_right_values, setup, teardown),
		cmocka_unit_test_setup_teardown(settings_that_were_given_are_kept_as_texts, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_descriptors_have_one_form, setup, teardown),
	};

	return cmocka_run_group_tests(TESTS, NULL, NULL);
}
