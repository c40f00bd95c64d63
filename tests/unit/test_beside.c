/* Tests of src/sink/beside.c: a process that keeps a file in the recorder's place. */
#include "served_folder.h"

#include <linux/sockios.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "sink/beside.h"
#include "sink/file_target.h"

enum { MINUTE_MS = 60000 };
#define OPEN_LIMIT_NS (250 * NSEC_PER_MSEC)

static const struct target_options JSON = {.append = true, .text = LINES_JSON};
static struct beside beside;
static char message[BESIDE_MESSAGE_BYTES];

static int64_t now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context);
}

static int64_t in_a_minute(void)
{
	return now_ns() + 60 * NSEC_PER_SEC;
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

/* The process reads each byte alone. */
static void send_bytes(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		int unread = 1;

		assert_int_equal(send(beside.socket, bytes + i, 1, 0), 1);
		for (int tries = 0; tries < MINUTE_MS && unread > 0; tries++) {
			assert_int_equal(ioctl(beside.socket, SIOCOUTQ, &unread), 0);
			if (unread > 0)
				usleep(100);
		}
		assert_int_equal(unread, 0);
	}
}

static void records_are_written_whole_and_in_order(void **state)
{
	(void)state;
	put_text("run.jsonl", "{}\n");
	open_beside("run.jsonl", -1, &JSON);
	send_record("{\"a\":1}\n");
	send_bytes((const char *)&(uint32_t){8}, sizeof(uint32_t));
	send_bytes("{\"a\":2}\n", 8);
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
	/* The process is waited for. */
	assert_int_equal(waitpid(beside.pid, NULL, WNOHANG), -1);
}

/* The recorder cannot know yet whether the file has a head. Rows that only look like it are written. */
static void a_second_head_is_left_out(void **state)
{
	const struct target_options csv = {.append = true, .text = LINES_CSV, .csv_head = "timestamp,a\n"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_beside("run.csv", -1, &csv);
		send_record("timestamp,a\n");
		send_record("timestamp,b\n");
		send_record("timestamp,a\n1,2\n");
		assert_true(finish());
		forget();
	}
	assert_file_text("run.csv",
			 "timestamp,a\ntimestamp,b\ntimestamp,a\n1,2\ntimestamp,b\ntimestamp,a\n1,2\n");
}

static void await_opening(void)
{
	for (int i = 0; i < MINUTE_MS && !beside.page->opened; i++)
		usleep(1000);
	assert_int_equal(beside.page->opened, 1);
}

/* A message that waits stays until the recorder has taken it. */
static void a_file_that_lost_its_name_gets_it_again(void **state)
{
	(void)state;
	open_beside("run.jsonl", -1, &JSON);
	await_opening();
	assert_int_equal(rename("run.jsonl", "old.jsonl"), 0);
	send_record("{\"a\":1}\n");
	for (int i = 0; i < MINUTE_MS && !beside.page->lost; i++)
		usleep(1000);
	assert_int_equal(beside.page->lost, 1);
	send_record("");
	send_record("");
	send_record("{\"a\":2}\n");
	assert_true(finish());
	assert_file_text("run.jsonl", "{\"a\":2}\n");
	assert_file_text("old.jsonl", "{\"a\":1}\n");
	assert_true(beside_take_message(&beside, message, sizeof message));
	assert_non_null(strstr(message, "the samples from now on are in a new file of that name"));
	assert_false(beside_take_message(&beside, message, sizeof message));
	forget();
}

/* No file can be opened under the name, and that is told once. */
static void a_file_that_cannot_get_its_name_again_says_so_once(void **state)
{
	(void)state;
	open_beside("run.jsonl", -1, &JSON);
	await_opening();
	assert_int_equal(unlink("run.jsonl") | mkdir("run.jsonl", 0700), 0);
	send_record("");
	for (int i = 0; i < MINUTE_MS && beside.page->said == beside.page->heard; i++)
		usleep(1000);
	assert_true(beside_take_message(&beside, message, sizeof message));
	assert_non_null(strstr(message, "no new one can be opened"));
	send_record("");
	assert_true(finish());
	assert_false(beside_take_message(&beside, message, sizeof message));
	forget();
}

/* The second record pushes the first out of a ring that has room for one. */
static void a_full_device_is_told_with_the_dropped_records(void **state)
{
	const struct target_options small = {.text = LINES_JSON, .ring_ceiling_bytes = 24};
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(full >= 0);
	open_beside("stdout", full, &small);
	close(full);
	send_record("{\"a\":1}\n");
	send_record("{\"a\":2}\n");
	assert_false(finish());
	assert_int_equal(beside.page->dropped, 1);
	assert_true(beside_take_message(&beside, message, sizeof message));
	assert_non_null(strstr(message, "cannot write to stdout: No space left on device"));
	assert_false(beside_take_message(&beside, message, sizeof message));
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

/* Either the opening was waited for, or it took too long, and the end of the process is waited for. */
static void expect_reason(const char *path, int error, const char *words)
{
	int64_t begin_ns = now_ns();
	int r = beside_open(path, -1, &JSON, &beside, message, sizeof message);

	if (r == 0) {
		assert_true(now_ns() - begin_ns >= OPEN_LIMIT_NS);
		assert_false(beside_finish(&beside, 1));
		assert_false(finish());
		assert_int_equal(beside.page->opened, error);
		assert_true(beside_take_message(&beside, message, sizeof message));
		assert_false(beside_take_message(&beside, message, sizeof message));
		forget();
	} else {
		assert_int_equal(r, error);
	}
	assert_non_null(strstr(message, words));
}

static void a_file_that_cannot_be_opened_has_a_reason(void **state)
{
	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	expect_reason("folder", -EISDIR, "folder");
}

/* The process tries for as long as an opening is waited for, and then a moment more. */
static void an_opening_that_takes_longer_has_its_reason_later(void **state)
{
	int locked = open("run.jsonl", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_int_equal(flock(locked, LOCK_EX), 0);
	expect_reason("run.jsonl", -EBUSY, "another recording is being written to it");
	close(locked);
}

static struct target *open_served(int code)
{
	const struct target_options options = {.text = LINES_JSON, .beside = true};
	struct target *target = NULL;

	if (target_open("served/run.jsonl", &options, &target, message, sizeof message) != 0)
		_exit(code);
	return target;
}

/* Only the first opening is waited for, as the file system has not answered it. */
static void write_where_none_answers(void)
{
	int64_t begin_ns = now_ns();
	struct target *target = open_served(1), *more[3];

	if (now_ns() - begin_ns < OPEN_LIMIT_NS || !path_hangs_now("served/run.jsonl"))
		_exit(2);
	begin_ns = now_ns();
	for (size_t i = 0; i < 3; i++)
		more[i] = open_served(3);
	if (now_ns() - begin_ns >= 3 * OPEN_LIMIT_NS)
		_exit(4);
	for (size_t i = 0; i < 3; i++)
		target_close(more[i], 0);
	if (target_is_file(target) || target_size(target) != 0 || target_process(target) <= 0 ||
	    target_had_content(target) || target_lost_its_name(target, true))
		_exit(5);
	if (target_write(target, "{}\n", 3) != 0 || target_take_warning(target, message, sizeof message))
		_exit(6);
	target_end(target, 1);
	if (!target_take_warning(target, message, sizeof message) ||
	    strcmp(message, "cannot write to served/run.jsonl: its file system does not answer; "
			    "a process waits for it and completes the recording then") != 0)
		_exit(7);
	if (target_status(target).state != TARGET_OK || target_take_warning(target, message, sizeof message))
		_exit(8);
	target_close(target, 0);
}

static void a_file_system_that_does_not_answer_holds_up_nothing(void **state)
{
	(void)state;
	with_served_folder(write_where_none_answers);
}

/* The process of a file system that answers keeps the recording like a file of our own. */
static void write_where_it_answers(void)
{
	const struct target_options options = {.append = true, .text = LINES_JSON, .beside = true};
	struct target *target = NULL;
	struct stat status;
	int64_t begin_ns;

	if (umount2("served", MNT_DETACH) < 0 || chdir("plain") < 0)
		_exit(1);
	put_text("run.jsonl", "{}\n");
	/* Without the table of mounts, each place may hang. */
	paths_look_again();
	begin_ns = now_ns();
	if (mount("none", "/proc", "tmpfs", 0, NULL) < 0 ||
	    target_open("run.jsonl", &options, &target, message, sizeof message) != 0)
		_exit(2);
	if (target_process(target) <= 0 ||
	    (now_ns() - begin_ns < OPEN_LIMIT_NS && !target_had_content(target)))
		_exit(3);
	for (int i = 0; i < MINUTE_MS && !target_is_file(target); i++)
		usleep(1000);
	if (target_size(target) != 3)
		_exit(4);
	if (rename("run.jsonl", "old.jsonl") < 0 || target_write(target, "{\"a\":1}\n", 8) != 0)
		_exit(5);
	for (int i = 0; i < MINUTE_MS && !target_lost_its_name(target, false); i++)
		usleep(1000);
	if (!target_renew(target, &options, message, sizeof message) || *message ||
	    target_had_content(target) || target_lost_its_name(target, true))
		_exit(6);
	if (target_write(target, "{\"a\":2}\n", 8) != 0)
		_exit(7);
	target_end(target, in_a_minute());
	if (!target_take_warning(target, message, sizeof message) ||
	    !strstr(message, "are in a new file of that name") ||
	    target_take_warning(target, message, sizeof message))
		_exit(8);
	target_close(target, 0);
	if (stat("run.jsonl", &status) < 0 || status.st_size != 8 || stat("old.jsonl", &status) < 0 ||
	    status.st_size != 11)
		_exit(9);
}

static void a_file_beside_is_renewed_like_one_of_our_own(void **state)
{
	(void)state;
	with_served_folder(write_where_it_answers);
}

/* The process itself opens a FIFO, and counts it as a stream. */
static void write_to_a_fifo(void)
{
	const struct target_options options = {.text = LINES_JSON, .beside = true};
	struct target *target = NULL;
	char text[8] = "";
	int reader;

	if (umount2("served", MNT_DETACH) < 0 || mkfifo("fifo", 0600) < 0)
		_exit(1);
	reader = open("fifo", O_RDWR | O_CLOEXEC);
	paths_look_again();
	if (mount("none", "/proc", "tmpfs", 0, NULL) < 0 ||
	    target_open("fifo", &options, &target, message, sizeof message) != 0 ||
	    target_process(target) <= 0)
		_exit(2);
	if (target_is_file(target) || target_write(target, "{}\n", 3) != 0)
		_exit(3);
	if (read(reader, text, sizeof text) != 3 || memcmp(text, "{}\n", 3) != 0)
		_exit(4);
	if (target_is_file(target) || target_lost_its_name(target, true))
		_exit(5);
	target_end(target, in_a_minute());
	if (target_take_warning(target, message, sizeof message))
		_exit(6);
	target_close(target, 0);
}

static void a_fifo_beside_is_no_file(void **state)
{
	(void)state;
	with_served_folder(write_to_a_fifo);
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
		unit_test_in_scratch(a_file_that_cannot_get_its_name_again_says_so_once),
		unit_test_in_scratch(a_full_device_is_told_with_the_dropped_records),
		unit_test_in_scratch(a_stream_is_written_too),
		unit_test_in_scratch(a_file_that_cannot_be_opened_has_a_reason),
		unit_test_in_scratch(an_opening_that_takes_longer_has_its_reason_later),
		unit_test_in_scratch(a_file_system_that_does_not_answer_holds_up_nothing),
		unit_test_in_scratch(a_file_beside_is_renewed_like_one_of_our_own),
		unit_test_in_scratch(a_fifo_beside_is_no_file),
		unit_test_in_scratch(a_lost_message_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
