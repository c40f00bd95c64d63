/*
 * Tests of src/sink/file_target.c: another process appends just before half a record is taken back, the kernel cuts writes short, and a
 * clock of the test says when a name is looked at.
 */
#include "small_disk.h"

#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "sink/file_target.h"

static const struct target_options JSON = {.text = LINES_JSON};
static int looks_until_append; /* 0: no other process appends */
static size_t write_most = SIZE_MAX;
static int64_t clock_ns; /* 0: the kernel's */

/* Stands before the C library's. */
ssize_t write(int fd, const void *bytes, size_t length)
{
	return syscall(SYS_write, fd, bytes, length < write_most ? length : write_most);
}

int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	if (!clock_ns)
		return (int)syscall(SYS_clock_gettime, id, ret_time);
	*ret_time = (struct timespec){clock_ns / NSEC_PER_SEC, clock_ns % NSEC_PER_SEC};
	return 0;
}

/* Stands before the C library's: the place in the file is asked for after a write that was cut short. */
off_t lseek(int fd, off_t offset, int whence)
{
	if (looks_until_append > 0 && --looks_until_append == 0) {
		int other = open("disk/run.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);

		unlink("disk/filler");
		assert_int_equal(write(other, "a note\n", 7), 7);
		close(other);
	}
	return syscall(SYS_lseek, fd, offset, whence);
}

/* Returns the text of the file after a record of 3 pages met a disk with one free page. */
static char *text_after_short_write(bool with_other, size_t *ret_length)
{
	static char record[12288];
	char message[512] = "";
	struct target *target = NULL;
	char *text;

	memset(record, 'x', sizeof record);
	record[sizeof record - 1] = '\n';
	assert_int_equal(target_open("disk/run.jsonl", &JSON, &target, message, sizeof message), 0);
	assert_int_equal(target_write(target, "{}\n", 3), 0);
	fill_small_disk("disk/filler", 4096);
	looks_until_append = with_other ? 2 : 0; /* after the write, and before it is taken back */
	assert_int_equal(target_write(target, record, sizeof record), -EAGAIN);
	assert_int_equal(looks_until_append, 0);
	text = get_file("disk/run.jsonl", ret_length);
	target_close(target, 0);
	return text;
}

static void half_a_record_is_taken_back(void **state)
{
	size_t length;
	char *text;

	(void)state;
	require_small_disk();
	text = text_after_short_write(false, &length);
	assert_int_equal(length, 3);
	free(text);
}

static void bytes_appended_by_others_meanwhile_stay(void **state)
{
	size_t length;
	char *text;

	(void)state;
	require_small_disk();
	text = text_after_short_write(true, &length);
	assert_true(length > 4096);
	assert_string_equal(text + length - 7, "a note\n");
	free(text);
}

static struct target *open_run(void)
{
	char message[512] = "";
	struct target *target = NULL;

	assert_int_equal(target_open("run.jsonl", &JSON, &target, message, sizeof message), 0);
	return target;
}

/* The rest of a record follows, without a byte of it twice. */
static void a_record_that_is_written_in_pieces_is_whole(void **state)
{
	struct target *target = open_run();

	(void)state;
	write_most = 3;
	assert_int_equal(target_write(target, "{\"a\":1}\n", 8), 0);
	assert_int_equal(target_write(target, "{\"a\":2}\n", 8), 0);
	write_most = SIZE_MAX;
	target_close(target, 0);
	assert_file_text("run.jsonl", "{\"a\":1}\n{\"a\":2}\n");
}

/* At most once in 0.9 seconds, and always with the last record. */
static void a_name_is_looked_at_once_a_second(void **state)
{
	struct target *target = open_run();

	(void)state;
	clock_ns = 5000 * NSEC_PER_SEC;
	assert_false(target_lost_its_name(target, false));
	assert_int_equal(rename("run.jsonl", "old.jsonl"), 0);
	clock_ns += 899 * NSEC_PER_MSEC;
	assert_false(target_lost_its_name(target, false));
	assert_true(target_lost_its_name(target, true));
	clock_ns += 899 * NSEC_PER_MSEC;
	assert_false(target_lost_its_name(target, false));
	clock_ns += NSEC_PER_MSEC;
	assert_true(target_lost_its_name(target, false));
	clock_ns = 0;
	target_close(target, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_on_small_disk(half_a_record_is_taken_back),
		unit_test_on_small_disk(bytes_appended_by_others_meanwhile_stay),
		unit_test_in_scratch(a_record_that_is_written_in_pieces_is_whole),
		unit_test_in_scratch(a_name_is_looked_at_once_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
