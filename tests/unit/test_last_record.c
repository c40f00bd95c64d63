/* Tests of src/sink/last_record.c: the end of a run takes the place of samples right before it. */
#include "scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include "sink/last_record.h"

#define FIRST_LINE "{\"run_start\":{},\"tracked_pid\":7,\"sample\":0}\n"
#define LINE(number) "{\"tracked_pid\":7,\"sample\":" number "}\n"
#define END_RECORD "{\"tracked_pid\":7,\"sample\":9,\"run_end\":{\"exit_code\":3}}\n"

/* Returns whether the end was written to a file with that text, which is then `wanted`. */
static bool write_end_behind(const char *text, size_t torn, const char *wanted)
{
	int fd;
	bool is_written;

	put_text("run.jsonl", text);
	fd = open("run.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	is_written = write_last_record(fd, torn, END_RECORD, strlen(END_RECORD));
	assert_file_text("run.jsonl", wanted);
	/* It is appended to as before. */
	assert_true(fcntl(fd, F_GETFL) & O_APPEND);
	close(fd);
	return is_written;
}

static bool write_end_to(const char *text, const char *wanted)
{
	return write_end_behind(text, 0, wanted);
}

/* The disk took a part of a record, which nothing has taken back. */
static void a_torn_record_is_replaced_as_well(void **state)
{
	(void)state;
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2") "{\"track", 7, FIRST_LINE END_RECORD));
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2") LINE("3"), strlen(LINE("3")),
				     FIRST_LINE LINE("1") END_RECORD));
	assert_false(write_end_behind(FIRST_LINE LINE("1") LINE("2") "{\"track", 6,
				      FIRST_LINE LINE("1") LINE("2") "{\"track"));
	assert_false(write_end_behind("{\"track", 7, "{\"track"));
	assert_false(write_end_behind("{\"track", 8, "{\"track"));
}

static void as_many_samples_as_needed_are_replaced(void **state)
{
	(void)state;
	assert_true(write_end_to(FIRST_LINE LINE("1") LINE("2") LINE("3"), FIRST_LINE LINE("1") END_RECORD));
	assert_true(write_end_to(FIRST_LINE LINE("1") LINE("2"), FIRST_LINE END_RECORD));
}

static void the_beginning_of_the_run_stays(void **state)
{
	(void)state;
	assert_false(write_end_to(FIRST_LINE LINE("1"), FIRST_LINE LINE("1")));
	assert_false(write_end_to("", ""));
	/* Behind a run before. */
	assert_false(write_end_to(LINE("8") LINE("9") FIRST_LINE LINE("1"),
				  LINE("8") LINE("9") FIRST_LINE LINE("1")));
}

static void lines_of_others_stay(void **state)
{
	static const char *const OTHERS[] = {
		"a line of the job's own log that is longer than the end of the run is\n",
		"{\"tracked_pid\":77,\"sample\":1,\"more\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n",
		"{\"tracked_pid\":null,\"sample\":1,\"more\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n",
		"{\"tracked_pid\":7,\"sample\":1,\"torn\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
		"{\"tracked_pid\":7",
	};

	(void)state;
	for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
		char text[400];

		snprintf(text, sizeof text, "%s%s%s", FIRST_LINE, LINE("1") LINE("2"), OTHERS[i]);
		assert_false(write_end_to(text, text));
	}
}

static void a_record_without_a_process_replaces_nothing(void **state)
{
	static const char OF_MACHINE[] = "{\"tracked_pid\":null,\"run_end\":{}}\n";
	int fd;

	(void)state;
	put_text("run.jsonl", FIRST_LINE LINE("1") LINE("2") LINE("3"));
	fd = open("run.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_false(write_last_record(fd, 0, OF_MACHINE, strlen(OF_MACHINE)));
	close(fd);
	/* It cannot be read, so nothing can be compared. */
	fd = open("run.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_false(write_last_record(fd, 0, END_RECORD, strlen(END_RECORD)));
	close(fd);
	assert_false(write_last_record(-1, 0, END_RECORD, strlen(END_RECORD)));
	assert_file_text("run.jsonl", FIRST_LINE LINE("1") LINE("2") LINE("3"));
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		in_scratch(a_torn_record_is_replaced_as_well),
		in_scratch(as_many_samples_as_needed_are_replaced),
		in_scratch(the_beginning_of_the_run_stays),
		in_scratch(lines_of_others_stay),
		in_scratch(a_record_without_a_process_replaces_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
