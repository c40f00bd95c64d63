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
		IN_SCRATCH(the_end_is_seen_without_reading_all),
		IN_SCRATCH(only_regular_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
