/* Tests of src/sink/last_record.c: the end of a run takes the place of samples right before it. */
#include "scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "sink/last_record.h"

#define FIRST_LINE "{\"first\":0}\n"
#define LINE(number) "{\"sample\":" number "}\n"
#define END_RECORD "{\"sample\":9,\"end\":{}}\n"

static const int64_t FLOOR = sizeof FIRST_LINE - 1;

/* Returns whether the end was written to a file with that text, which is then `wanted`. */
static bool write_end_behind(const char *text, size_t torn, const char *wanted)
{
	int fd;
	bool is_written;

	put_text("run.jsonl", text);
	fd = open("run.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	is_written = write_last_record(fd, FLOOR, torn, END_RECORD, strlen(END_RECORD));
	assert_file_text("run.jsonl", wanted);
	/* It is appended to as before. */
	assert_true(fcntl(fd, F_GETFL) & O_APPEND);
	close(fd);
	return is_written;
}

static void as_many_lines_as_needed_are_replaced(void **state)
{
	(void)state;
	assert_int_equal(strlen(END_RECORD), 22);
	assert_int_equal(strlen(LINE("1")), 13);
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2") LINE("3"), 0,
				     FIRST_LINE LINE("1") END_RECORD));
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2"), 0, FIRST_LINE END_RECORD));
	/* Lines of exactly its length. */
	assert_true(write_end_behind(FIRST_LINE LINE("1") "{\"sample\":8,\"abc\":{}}\n", 0,
				     FIRST_LINE LINE("1") END_RECORD));
}

static void lines_before_the_floor_stay(void **state)
{
	(void)state;
	assert_false(write_end_behind(FIRST_LINE LINE("1"), 0, FIRST_LINE LINE("1")));
	assert_false(write_end_behind(FIRST_LINE, 0, FIRST_LINE));
	assert_false(write_end_behind("", 0, ""));
}

/* The disk took a part of a record, which nothing has taken back. */
static void a_torn_record_is_replaced_as_well(void **state)
{
	(void)state;
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2") "{\"samples", 9,
				     FIRST_LINE LINE("1") END_RECORD));
	assert_true(write_end_behind(FIRST_LINE LINE("1") LINE("2") "{\"sampl", 7, FIRST_LINE END_RECORD));
	assert_false(write_end_behind(FIRST_LINE LINE("1") LINE("2") "{\"samples", 8,
				      FIRST_LINE LINE("1") LINE("2") "{\"samples"));
	assert_false(write_end_behind("{\"samples", 9, "{\"samples"));
	assert_false(write_end_behind("{\"samples", 10, "{\"samples"));
}

static void a_file_that_cannot_be_read_stays(void **state)
{
	int fd, pipes[2];

	(void)state;
	put_text("run.jsonl", FIRST_LINE LINE("1") LINE("2"));
	fd = open("run.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_false(write_last_record(fd, FLOOR, 0, END_RECORD, strlen(END_RECORD)));
	close(fd);
	assert_file_text("run.jsonl", FIRST_LINE LINE("1") LINE("2"));
	assert_int_equal(pipe(pipes), 0);
	assert_false(write_last_record(pipes[1], FLOOR, 0, END_RECORD, strlen(END_RECORD)));
	assert_false(write_last_record(-1, FLOOR, 0, END_RECORD, strlen(END_RECORD)));
	close(pipes[0]);
	close(pipes[1]);
}

/* Only the last part of a long file is read. */
static void the_end_of_a_long_file_is_replaced(void **state)
{
	static char line[100001];
	struct buffer text = BUFFER(1 << 20);

	(void)state;
	memset(line, 'x', sizeof line - 2);
	line[sizeof line - 2] = '\n';
	buffer_add_text(&text, FIRST_LINE);
	for (int i = 0; i < 3; i++)
		buffer_add_text(&text, line);
	put_text("run.jsonl", text.data);
	{
		int fd = open("run.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);

		assert_true(write_last_record(fd, FLOOR, 0, END_RECORD, strlen(END_RECORD)));
		text.length -= sizeof line - 1;
		buffer_add_text(&text, END_RECORD);
		assert_file_text("run.jsonl", text.data);
		close(fd);
	}
	buffer_done(&text);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		in_scratch(as_many_lines_as_needed_are_replaced),
		in_scratch(lines_before_the_floor_stay),
		in_scratch(a_torn_record_is_replaced_as_well),
		in_scratch(a_file_that_cannot_be_read_stays),
		in_scratch(the_end_of_a_long_file_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
