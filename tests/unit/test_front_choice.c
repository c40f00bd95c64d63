/* Tests of src/cli/front_choice.c: the choice of outputs. */
#include "captured.h"
#include "terminal.h"

#include <errno.h>

#include "cli/front_choice.h"

static struct front front;

static int begin(void **state)
{
	front = (struct front){.mode = MODE_HOST};
	return rt_config_new(&front.config) < 0 ? -1 : capture_streams(state);
}

static int end(void **state)
{
	given_done(&front.given);
	rt_config_free(front.config);
	return free_streams(state);
}

static void give(const char *name, enum origin origin, const char *text)
{
	assert_int_equal(given_add(&front.given, option_by_name(name, strlen(name)), origin, text, 0), 0);
}

static void the_name_tells_csv_unless_a_format_is_given(void **state)
{
	(void)state;
	assert_true(front_writes_csv(&front, "run.csv"));
	assert_true(front_writes_csv(&front, "run.csv.gz"));
	assert_false(front_writes_csv(&front, "run.jsonl"));
	assert_false(front_writes_csv(&front, "csv"));
	give("format", ORIGIN_ENVIRONMENT, "");
	assert_true(front_writes_csv(&front, "run.csv"));
	give("format", ORIGIN_ENVIRONMENT, "jsonl");
	assert_false(front_writes_csv(&front, "run.csv"));
	give("format", ORIGIN_COMMAND_LINE, "csv");
	assert_true(front_writes_csv(&front, "run.jsonl"));
}

static void stdout_has_three_names(void **state)
{
	static const char *const NAMES[] = {"-", "/dev/stdout", "/dev/fd/1"};

	(void)state;
	assert_false(front_writes_stdout(&front));
	give("output", ORIGIN_ENVIRONMENT, "-");
	assert_true(front_writes_stdout(&front));
	free(front.given.items[--front.given.count].text);
	give("job-name", ORIGIN_COMMAND_LINE, "-");
	give("output", ORIGIN_ENVIRONMENT, "run.jsonl");
	assert_false(front_writes_stdout(&front));
	for (size_t i = 0; i < 3; i++) {
		give("output", ORIGIN_ENVIRONMENT, NAMES[i]);
		assert_true(front_writes_stdout(&front));
		free(front.given.items[--front.given.count].text);
	}
	give("output", ORIGIN_ENVIRONMENT, "-");
	give("output", ORIGIN_ENVIRONMENT, "last.jsonl");
	assert_true(front_writes_stdout(&front));
	/* The weaker ones do not count. */
	give("output", ORIGIN_COMMAND_LINE, "other.jsonl");
	assert_false(front_writes_stdout(&front));
}

static void samples_for_a_person_are_shown_on_a_screen(void **state)
{
	struct terminal terminal;

	(void)state;
	assert_false(front_shows_screen(&front));
	terminal = open_terminal();
	dup2(terminal.slave, STDOUT_FILENO);
	assert_true(front_shows_screen(&front));
	front.mode = MODE_ATTACH;
	assert_true(front_shows_screen(&front));
	front.mode = MODE_WRAP;
	assert_false(front_shows_screen(&front));
	front.mode = MODE_HOST;
	front.named_outputs = true;
	assert_false(front_shows_screen(&front));
	front.named_outputs = false;
	front.quiet = true;
	assert_false(front_shows_screen(&front));
	front.quiet = false;
	front.no_history = true;
	assert_false(front_shows_screen(&front));
	front.no_history = false;
	give("format", ORIGIN_COMMAND_LINE, "csv");
	assert_false(front_shows_screen(&front));
	close_terminal(&terminal);
}

static void the_librarys_message_is_the_reason_of_a_refusal(void **state)
{
	(void)state;
	assert_int_equal(front_refuse(&front, -ENOENT), 125);
	assert_printed("err", "resource-tracker: No such file or directory\n");
	assert_true(rt_config_set(front.config, "interval", "never") < 0);
	assert_int_equal(front_refuse(&front, -EINVAL), 125);
	assert_printed_has("err", rt_config_message(front.config));
}

/* For lack of memory and the like, the job runs alone. */
static void a_job_that_lacks_its_recorder_runs_alone(void **state)
{
	char name[] = "no such program", *words[] = {name, NULL};

	(void)state;
	front.command = words;
	assert_int_equal(front_refuse(&front, -ENOMEM), 127);
	assert_printed("err", "resource-tracker: this job is not recorded: Cannot allocate memory\n"
			      "resource-tracker: no such program: command not found\n");
	assert_int_equal(front_refuse(&front, -ENOENT), 125);
	assert_printed("err", "resource-tracker: No such file or directory\n");
}

#define unit_test_of_front(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_front(the_name_tells_csv_unless_a_format_is_given),
		unit_test_of_front(stdout_has_three_names),
		unit_test_of_front(samples_for_a_person_are_shown_on_a_screen),
		unit_test_of_front(the_librarys_message_is_the_reason_of_a_refusal),
		unit_test_of_front(a_job_that_lacks_its_recorder_runs_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
