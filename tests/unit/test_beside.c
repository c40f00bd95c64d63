/* Tests of src/sink/beside.c: a process that keeps a file in the recorder's place. */
#include "scratch.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "sink/beside.h"
#include "sink/file_target.h"

enum { MINUTE_MS = 60000 };

static const struct target_options JSON = {.append = true, .text = LINES_JSON};
static struct beside beside;
static char message[BESIDE_MESSAGE_BYTES];

static int64_t in_a_minute(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context) + 60 * NSEC_PER_SEC;
}

static void open_beside(const char *path, int open_fd, const struct target_options *options)
{
	assert_int_equal(beside_open(path, open_fd, options, &beside, message, sizeof message), 0);
	assert_true(beside.pid > 0 && beside.socket >= 0);
}

/* The length stands before the record. A record may come in two parts. */
static void send_record(const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	size_t half = length / 2;

	assert_int_equal(send(beside.socket, &length, sizeof length, 0), sizeof length);
	assert_int_equal(send(beside.socket, text, half, 0), half);
	assert_int_equal(send(beside.socket, text + half, length - half, 0), length - half);
}

static bool finish(void)
{
	bool is_whole = beside_finish(&beside, in_a_minute());

	assert_true(beside.has_ended);
	return is_whole;
}

static void forget(void)
{
	close(beside.socket);
	beside_done(&beside);
}

static void records_are_written_whole_and_in_order(void **state)
{
	(void)state;
	put_text("run.jsonl", "{}\n");
	open_beside("run.jsonl", -1, &JSON);
	send_record("{\"a\":1}\n");
	send_record("{\"a\":2}\n");
	/* The last one is cut off. */
	assert_int_equal(send(beside.socket, &(uint32_t){9}, 4, 0), 4);
	assert_int_equal(send(beside.socket, "{\"a\"", 4, 0), 4);
	assert_true(finish());
	assert_file_text("run.jsonl", "{}\n{\"a\":1}\n{\"a\":2}\n");
	assert_int_equal(beside.page->opened, 1);
	assert_true(beside.page->is_file && beside.page->opening.had_content);
	assert_int_equal(beside.page->size, 3);
	assert_int_equal(beside.page->dropped, 0);
	assert_int_equal(beside.page->lost, 0);
	assert_false(beside_take_message(&beside, message, sizeof message));
	forget();
}

/* The recorder cannot know yet whether the file has a head. */
static void a_second_head_is_left_out(void **state)
{
	const struct target_options csv = {.append = true, .text = LINES_CSV, .csv_head = "timestamp,a\n"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_beside("run.csv", -1, &csv);
		send_record("timestamp,a\n");
		send_record("1,2\n");
		assert_true(finish());
		forget();
	}
	assert_file_text("run.csv", "timestamp,a\n1,2\n1,2\n");
}

static void a_file_that_lost_its_name_gets_it_again(void **state)
{
	(void)state;
	open_beside("run.jsonl", -1, &JSON);
	send_record("{\"a\":1}\n");
	for (int i = 0; i < MINUTE_MS && !beside.page->opened; i++)
		usleep(1000);
	assert_int_equal(rename("run.jsonl", "old.jsonl"), 0);
	send_record("");
	send_record("{\"a\":2}\n");
	assert_true(finish());
	assert_file_text("run.jsonl", "{\"a\":2}\n");
	assert_file_text("old.jsonl", "{\"a\":1}\n");
	forget();
}

static void a_stream_is_written_too(void **state)
{
	char text[32] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	open_beside("stdout", ends[1], &JSON);
	close(ends[1]);
	send_record("{\"a\":1}\n");
	assert_true(finish());
	assert_false(beside.page->is_file);
	assert_int_equal(read(ends[0], text, sizeof text - 1), 8);
	assert_string_equal(text, "{\"a\":1}\n");
	close(ends[0]);
	forget();
}

/* Either the opening was waited for, or the end of the process is. */
static void a_file_that_cannot_be_opened_has_a_reason(void **state)
{
	int r;

	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	r = beside_open("folder", -1, &JSON, &beside, message, sizeof message);
	if (r == 0) {
		assert_false(finish());
		assert_int_equal(beside.page->opened, -EISDIR);
		assert_true(beside_take_message(&beside, message, sizeof message));
		assert_false(beside_take_message(&beside, message, sizeof message));
		forget();
	} else {
		assert_int_equal(r, -EISDIR);
	}
	assert_non_null(strstr(message, "folder"));
}

static void a_lost_message_is_told_once(void **state)
{
	(void)state;
	open_beside("run.jsonl", -1, &JSON);
	assert_true(finish());
	beside.page->said = beside.page->heard + 1;
	snprintf(beside.page->message, sizeof beside.page->message, "the disk is full");
	assert_true(beside_take_message(&beside, message, sizeof message));
	assert_string_equal(message, "the disk is full");
	assert_false(beside_take_message(&beside, message, sizeof message));
	forget();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(records_are_written_whole_and_in_order),
		unit_test_in_scratch(a_second_head_is_left_out),
		unit_test_in_scratch(a_file_that_lost_its_name_gets_it_again),
		unit_test_in_scratch(a_stream_is_written_too),
		unit_test_in_scratch(a_file_that_cannot_be_opened_has_a_reason),
		unit_test_in_scratch(a_lost_message_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
