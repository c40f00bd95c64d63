/* Tests of src/stream/recording.c: a file that grows while it is read. */
#include "scratch.h"

#include <errno.h>

#include "metric/typed_rows.h"
#include "stream/recording.h"

static void want_pid(struct metric_set *wanted)
{
	WANT(wanted, sample, tracked_pid);
}

static void append(const char *text)
{
	int fd = open("r.jsonl", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int64_t next_number(struct recording *recording)
{
	const struct frame *frame;
	int r = recording_next(recording, &frame);

	assert_true(r >= 0);
	return r ? frame->sample->tracked_pid : -1;
}

static void only_whole_lines_are_read(void **state)
{
	struct recording recording;

	(void)state;
	append("{\"tracked_pid\":1}\n{\"track");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 1);
	assert_int_equal(recording.offset, 18);
	assert_int_equal(next_number(&recording), -1);
	append("ed_pid\":2}");
	assert_int_equal(next_number(&recording), -1);
	append("\n");
	assert_int_equal(next_number(&recording), 2);
	assert_int_equal(recording_left_bytes(&recording), 0);
	recording_rewind(&recording, 18);
	assert_int_equal(next_number(&recording), 2);
	recording_close(&recording);
	assert_int_equal(recording_open(&recording, "r.jsonl", 18, want_pid), 0);
	assert_int_equal(next_number(&recording), 2);
	recording_close(&recording);
}

static void lines_that_hold_no_sample_are_stepped_over(void **state)
{
	struct recording recording;

	(void)state;
	append("\n[]\nnull\n{\"tracked_pid\":3\n{\"tracked_pid\":4}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 4);
	assert_int_equal(recording.bad_lines, 4);
	recording_close(&recording);
}

/* With --static-once the root of the tree is written once. */
static void values_of_static_once_stay(void **state)
{
	struct recording recording;

	(void)state;
	append("{\"tracked_pid\":5,\"run_start\":{\"mode\":\"wrap\"}}\n{\"sample\":1}\n"
	       "{\"run_start\":{\"mode\":\"host\"},\"tracked_pid\":null}\n{\"sample\":1}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 5);
	assert_int_equal(next_number(&recording), 5);
	assert_true(count_absent(next_number(&recording)));
	assert_true(count_absent(next_number(&recording)));
	recording_close(&recording);
}

static void lines_longer_than_one_read_are_joined(void **state)
{
	struct recording recording;

	(void)state;
	append("{\"tracked_pid\":6,\"x\":\"");
	for (int i = 0; i < 300; i++)
		append("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
		       "567890"
		       "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
		       "567890"
		       "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
		       "567890");
	append("\"}\n{\"tracked_pid\":7}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 6);
	assert_int_equal(next_number(&recording), 7);
	recording_close(&recording);
}

/* Such a line holds no sample. The next line is read. */
static void a_line_of_many_megabytes_is_dropped(void **state)
{
	static char block[1 << 20];
	struct recording recording;
	int fd;

	(void)state;
	memset(block, 'x', sizeof block);
	append("{\"tracked_pid\":1}\n{\"x\":\"");
	fd = open("r.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	for (int i = 0; i < 9; i++)
		assert_int_equal(write(fd, block, sizeof block), sizeof block);
	close(fd);
	append("\"}\n{\"tracked_pid\":2}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 1);
	assert_int_equal(next_number(&recording), 2);
	assert_int_equal(recording_left_bytes(&recording), 0);
	recording_close(&recording);
	recording_close(&recording); /* once more does nothing */
}

/* Many lines, of which several windows are read: each exactly once, and the offset is that of the file. */
static void all_lines_of_a_long_file_are_read_once(void **state)
{
	struct recording recording;
	struct stat status;
	char line[64];
	FILE *file = fopen("r.jsonl", "we");

	(void)state;
	for (int i = 0; i < 9999; i++)
		fprintf(file, "{\"tracked_pid\":%d,\"sample\":%d}\n", i, i);
	fclose(file);
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	for (int i = 0; i < 9999; i++)
		assert_int_equal(next_number(&recording), i);
	assert_int_equal(next_number(&recording), -1);
	assert_int_equal(stat("r.jsonl", &status), 0);
	assert_int_equal(recording.offset, status.st_size);
	/* Back to the last line but one. */
	snprintf(line, sizeof line, "{\"tracked_pid\":%d,\"sample\":%d}\n", 9998, 9998);
	recording_rewind(&recording, recording.offset - 2 * (int64_t)strlen(line));
	assert_int_equal(recording_left_bytes(&recording), 2 * strlen(line));
	assert_int_equal(next_number(&recording), 9997);
	assert_int_equal(recording_left_bytes(&recording), strlen(line));
	recording_close(&recording);
}

static void only_the_first_line_of_any_file_is_tried(void **state)
{
	struct recording recording;
	const struct frame *frame;

	(void)state;
	append("no sample\n{\"tracked_pid\":2}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(recording_first(&recording, &frame), 0);
	recording_close(&recording);
	assert_int_equal(recording_open(&recording, "r.jsonl", 10, want_pid), 0);
	assert_int_equal(recording_first(&recording, &frame), 1);
	assert_int_equal(frame->sample->tracked_pid, 2);
	recording_close(&recording);
	put_text("empty.jsonl", "");
	assert_int_equal(recording_open(&recording, "empty.jsonl", 0, want_pid), 0);
	assert_int_equal(recording_first(&recording, &frame), 0);
	recording_close(&recording);
}

/* The samples of one run have its process, its host and numbers that grow. A repeated run_start has its id. */
static void which_samples_go_on(void **state)
{
	static const struct {
		const char *line;
		bool goes_on;
		int64_t gap;
	} CASES[] = {
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":5}\n", true, 0},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":8}\n", true, 3},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":4}\n", false, -1},
		{"{\"tracked_pid\":8,\"host\":\"h\",\"sample\":5}\n", false, 0},
		{"{\"tracked_pid\":7,\"host\":\"i\",\"sample\":5}\n", false, 0},
		{"{\"tracked_pid\":7,\"sample\":5}\n", false, 0},
		{"{\"tracked_pid\":7,\"host\":\"h\"}\n", false, 0},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":5,\"run_start\":{\"mode\":\"wrap\"}}\n", false,
		 0},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":6,\"run_start\":{\"run_id\":\"a\"}}\n", true,
		 1},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":5,\"run_start\":{\"run_id\":\"b\"}}\n", false,
		 0},
		{"{\"tracked_pid\":7,\"host\":\"h\",\"sample\":0,\"run_start\":{\"run_id\":\"a\"}}\n", false,
		 0},
	};
	struct recording recording;

	(void)state;
	append("{\"tracked_pid\":7,\"host\":\"h\",\"sample\":4,\"run_start\":{\"run_id\":\"a\"}}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_int_equal(next_number(&recording), 7);
	assert_false(recording.begins_run);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct recording other;
		const struct frame *frame;

		put_text("other.jsonl", CASES[i].line);
		assert_int_equal(recording_open(&other, "other.jsonl", 0, want_pid), 0);
		assert_int_equal(recording_next(&other, &frame), 1);
		assert_int_equal(recording_goes_on(&recording, frame), CASES[i].goes_on);
		if (CASES[i].goes_on)
			assert_int_equal(recording_gap(&recording, frame), CASES[i].gap);
		recording_close(&other);
	}
	recording_close(&recording);
}

/* In one file: another run was appended, or a recorder that found the file emptied began it anew. */
static void a_start_in_a_file_begins_another_run_or_is_repeated(void **state)
{
	static const struct {
		const char *line;
		bool begins;
	} LINES[] = {
		{"{\"sample\":0,\"run_start\":{\"run_id\":\"a\"}}\n", true},
		{"{\"sample\":1}\n", false},
		{"{\"sample\":2,\"run_start\":{\"run_id\":\"a\"}}\n", false},
		{"{\"sample\":3,\"run_start\":{\"run_id\":\"b\"}}\n", true},
		{"{\"sample\":4,\"run_start\":{\"mode\":\"wrap\"}}\n", true},
		{"{\"run_start\":{\"run_id\":\"b\"}}\n", true},
	};
	struct recording recording;
	const struct frame *frame;

	(void)state;
	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++)
		append(LINES[i].line);
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
		assert_int_equal(recording_next(&recording, &frame), 1);
		assert_int_equal(recording.begins_run, LINES[i].begins);
	}
	recording_close(&recording);
}

static void the_end_is_seen_without_reading_all(void **state)
{
	struct recording recording;

	(void)state;
	append("{\"run_end\":null}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_false(recording_has_ended(&recording));
	append("{\"job_name\":\"\\\"run_end\\\":{\",\"run_end\":null}\n");
	assert_false(recording_has_ended(&recording));
	append("{\"run_end\":{\"reason\":\"exit\"}}");
	assert_false(recording_has_ended(&recording));
	append("\n");
	assert_true(recording_has_ended(&recording));
	/* Another run, or a part of one, that follows has no end yet. */
	append("{\"sample\":1}\n");
	assert_false(recording_has_ended(&recording));
	recording_close(&recording);
	/* The last line alone, far from the beginning and from what was read. */
	put_text("r.jsonl", "{\"run_end\":{\"reason\":\"exit\"}}\n");
	for (int i = 0; i < 2000; i++)
		append("{\"sample\":1}\n");
	assert_int_equal(recording_open(&recording, "r.jsonl", 0, want_pid), 0);
	assert_false(recording_has_ended(&recording));
	append("{\"run_end\":{\"reason\":\"exit\"}}\n");
	assert_true(recording_has_ended(&recording));
	for (int i = 0; i < 2002; i++)
		(void)next_number(&recording);
	assert_false(recording_has_ended(&recording)); /* nothing is left */
	recording_close(&recording);
}

static void only_regular_files(void **state)
{
	struct recording recording;

	(void)state;
	assert_int_equal(recording_open(&recording, "missing", 0, want_pid), -ENOENT);
	assert_int_equal(recording_open(&recording, "/dev/null", 0, want_pid), -EINVAL);
	assert_int_equal(recording_open(&recording, ".", 0, want_pid), -EINVAL);
}

UNIT_TESTS
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(only_whole_lines_are_read),
		IN_SCRATCH(lines_that_hold_no_sample_are_stepped_over),
		IN_SCRATCH(values_of_static_once_stay),
		IN_SCRATCH(lines_longer_than_one_read_are_joined),
		IN_SCRATCH(a_line_of_many_megabytes_is_dropped),
		IN_SCRATCH(all_lines_of_a_long_file_are_read_once),
		IN_SCRATCH(only_the_first_line_of_any_file_is_tried),
		IN_SCRATCH(which_samples_go_on),
		IN_SCRATCH(a_start_in_a_file_begins_another_run_or_is_repeated),
		IN_SCRATCH(the_end_is_seen_without_reading_all),
		IN_SCRATCH(only_regular_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
