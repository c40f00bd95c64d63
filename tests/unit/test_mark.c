/* Tests of src/cli/mark.c: `resource-tracker mark`. */
#include "captured.h"
#include "command_words.h"

#include <sys/utsname.h>

#include "cli/subcommands.h"

static int mark(const char *words)
{
	char line[2000];

	snprintf(line, sizeof line, *words ? "mark %s" : "mark", words);
	return run_mark(words_of(line));
}

static int without_marks(void **state)
{
	unsetenv("RESOURCE_TRACKER_MARKS");
	return capture_streams(state);
}

static void a_line_tells_the_phase_and_the_process_that_called(void **state)
{
	struct utsname system;
	char expected[400];

	(void)state;
	assert_int_equal(uname(&system), 0);
	setenv("RESOURCE_TRACKER_MARKS", "marks", 1);
	assert_int_equal(mark("load start --json"), 0);
	snprintf(expected, sizeof expected,
		 "\"event\":\"start\",\"name\":\"load\",\"id\":null,\"pid\":%d,\"host\":\"%s\"}\n", getppid(),
		 system.nodename);
	assert_printed_has("marks", expected);
	/* The same is printed. */
	assert_printed_has("out", expected);
	assert_int_equal(mark("load stop --id=7"), 0);
	assert_printed_has("marks", "\"event\":\"stop\",\"name\":\"load\",\"id\":\"7\"");
	assert_printed("out", "");
	assert_int_equal(mark("train --file=other"), 0);
	assert_printed_has("other", "\"event\":\"next\",\"name\":\"train\"");
	assert_printed("marks", "");
	assert_printed("err", "");
}

static void a_name_may_be_that_of_an_event(void **state)
{
	(void)state;
	assert_int_equal(mark("start stop --file=marks"), 0);
	assert_printed_has("marks", "\"event\":\"stop\",\"name\":\"start\"");
	assert_int_equal(mark("stop start --file=marks"), 0);
	assert_printed_has("marks", "\"event\":\"start\",\"name\":\"stop\"");
}

static void a_phase_without_a_name_or_with_another_event_is_wrong(void **state)
{
	static const char *const WRONG[] = {"", "start", "stop", "load begin", "load ''"};

	(void)state;
	setenv("RESOURCE_TRACKER_MARKS", "marks", 1);
	for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
		assert_int_equal(mark(WRONG[i]), 2);
		assert_printed_has("err", "resource-tracker mark: name the phase that begins now");
	}
	assert_int_equal(mark("a start b"), 2);
	assert_printed_has("err", "is one word too many");
	assert_int_equal(mark("--help"), 0);
	assert_printed_has("out", "Mark a phase of a job from inside it\n");
	assert_int_equal(access("marks", F_OK), -1);
}

static void a_job_that_is_not_recorded_gets_no_message(void **state)
{
	(void)state;
	assert_int_equal(mark("load"), 0);
	assert_int_equal(mark("end"), 0);
	assert_printed("err", "");
	/* A file that was named is another matter. */
	assert_int_equal(mark("load --file="), 0);
	assert_printed_has("err", "resource-tracker mark: the phase is not marked: '': its folder does not "
				  "exist; create it first\n");
	assert_int_equal(mark("load --file=missing/marks"), 0);
	assert_printed_has(
		"err",
		"the phase is not marked: missing/marks: its folder does not exist; create it first\n");
}

/* The name of a variable that is empty. A script with `set -e` goes on. */
static void an_empty_name_marks_nothing_and_fails_no_job(void **state)
{
	static const char *const EMPTY[] = {"''", "'' start", "'' stop", "'' --json"};

	(void)state;
	setenv("RESOURCE_TRACKER_MARKS", "marks", 1);
	for (size_t i = 0; i < sizeof EMPTY / sizeof *EMPTY; i++) {
		assert_int_equal(mark(EMPTY[i]), 0);
		assert_printed("err", "resource-tracker mark: the name is empty\n");
		assert_printed("out", "");
	}
	assert_int_equal(access("marks", F_OK), -1);
}

static void a_mark_that_cannot_be_written_fails_no_job(void **state)
{
	char words[1100] = "--file=marks ";
	size_t option = strlen(words);

	(void)state;
	memset(words + option, 'x', 1025);
	assert_int_equal(mark(words), 0);
	assert_printed("err", "resource-tracker mark: the phase is not marked: marks: File name too long\n");
	assert_int_equal(mark("end --file=."), 0);
	assert_printed_has("err", "the phase is not marked: .: it is a folder");
	words[option + 1024] = '\0';
	assert_int_equal(mark(words), 0);
	assert_printed("err", "");
}

static void a_file_of_another_user_takes_no_mark(void **state)
{
	int status;

	(void)state;
	if (geteuid())
		skip();
	put_text("marks", "");
	assert_int_equal(chmod("marks", 0644), 0);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	status = mark("load --file=marks");
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(status, 0);
	assert_printed("err", "resource-tracker mark: the phase is not marked: marks: Permission denied\n");
}

static void a_phase_named_end_is_told_from_the_end_of_one(void **state)
{
	(void)state;
	assert_int_equal(mark("end --file=marks"), 0);
	assert_printed(
		"err",
		"resource-tracker mark: phase end begins; to end one: mark NAME start, mark NAME stop\n");
	assert_int_equal(mark("ends --file=marks"), 0);
	assert_int_equal(mark("end start --file=marks"), 0);
	assert_printed("err", "");
}

static void the_file_is_closed(void **state)
{
	int next = dup(STDIN_FILENO), after;

	(void)state;
	close(next);
	assert_int_equal(mark("load --file=marks"), 0);
	after = dup(STDIN_FILENO);
	close(after);
	assert_int_equal(after, next);
}

#define unit_test_of_mark(test) cmocka_unit_test_setup_teardown(test, without_marks, free_streams)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_mark(a_line_tells_the_phase_and_the_process_that_called),
		unit_test_of_mark(a_name_may_be_that_of_an_event),
		unit_test_of_mark(a_phase_without_a_name_or_with_another_event_is_wrong),
		unit_test_of_mark(a_job_that_is_not_recorded_gets_no_message),
		unit_test_of_mark(an_empty_name_marks_nothing_and_fails_no_job),
		unit_test_of_mark(a_mark_that_cannot_be_written_fails_no_job),
		unit_test_of_mark(a_file_of_another_user_takes_no_mark),
		unit_test_of_mark(a_phase_named_end_is_told_from_the_end_of_one),
		unit_test_of_mark(the_file_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
