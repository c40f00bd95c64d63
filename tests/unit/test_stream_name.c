/*
 * Tests of src/stream/stream_name.c: a recording that is renamed or removed, and continues in another file. The functions at the top stand
 * before the C library's.
 */
#include "captured.h"
#include "moment.h"
#include "tally.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/time.h>

static struct moment at_fstat, at_lstat, at_watch;
static int unread_fd = -1; /* cannot be read */

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
	errno = EIO;
	return fd == unread_fd ? -1 : syscall(SYS_pread64, fd, bytes, length, offset);
}

int fstat(int fd, struct stat *ret_status)
{
	return fails_now(&at_fstat) ? -1 : fstatat(fd, "", ret_status, AT_EMPTY_PATH);
}

/* Another process acts after the look. */
int lstat(const char *path, struct stat *ret_status)
{
	int r = fstatat(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);

	return fails_now(&at_lstat) ? -1 : r;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	return fails_now(&at_watch) ? -1 : (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

static struct stream stream;

static int begin(void **state)
{
	at_fstat = at_lstat = at_watch = (struct moment){0};
	if (capture_streams(state) < 0)
		return -1;
	message_enable(true);
	forget_tally();
	unread_fd = -1;
	append(FIRST_SAMPLE, 0, 0);
	append(NEXT_SAMPLE, 1, 1);
	open_run(&stream, false);
	return stream_begin(&stream) == 1 ? 0 : -1;
}

static int end(void **state)
{
	at_fstat = at_lstat = at_watch = (struct moment){0};
	stream_close(&stream);
	message_enable(false);
	return free_streams(state);
}

/* Renames the recording and makes another one with these samples. */
static void renew(const char *old, int from, int to)
{
	assert_int_equal(rename("r.jsonl", old), 0);
	append(NEXT_SAMPLE, from, to);
}

static void expect_numbers(const char *numbers)
{
	assert_int_equal(stream_cut(&stream, true), 0);
	send_all(&stream, STEP_FINISHED);
	assert_string_equal(received, numbers);
}

static void a_recording_goes_on_in_a_new_file(void **state)
{
	(void)state;
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_int_equal(rename("r.jsonl", "old"), 0);
	assert_int_equal(stream_follow_name(&stream), 0);
	put_text("r.jsonl", "");
	assert_int_equal(stream_follow_name(&stream), 0);
	append(NEXT_SAMPLE, 2, 3);
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_int_equal(stream.spool.state.begin, 0);
	assert_int_equal(stream.spool.state.offset, 0);
	assert_string_equal(stream.spool.state.part, NAME);
	assert_int_equal(stream_follow_name(&stream), 0);
	expect_numbers("0\n1\n2\n3\n");
	assert_printed("err", "");
}

/* A line that came to the old file before the new one was made. */
static void the_rest_of_the_old_file_comes_first(void **state)
{
	(void)state;
	append(NEXT_SAMPLE, 2, 2);
	renew("old", 3, 3);
	assert_int_equal(stream_follow_name(&stream), 1);
	expect_numbers("0\n1\n2\n3\n");
}

/* The end of the run, or a sample with the number of the new file's first. */
static void an_old_file_that_ends_the_run_has_no_new_one(void **state)
{
	(void)state;
	append(LAST_SAMPLE, 2, 2);
	renew("old", 3, 3);
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_true(stream.spool.state.outcome.known);
	assert_int_equal(stream_follow_name(&stream), 0);
	expect_numbers("0\n1\n2\n");
}

static void a_sample_that_was_read_is_not_read_again(void **state)
{
	(void)state;
	append(NEXT_SAMPLE, 2, 3);
	renew("old", 3, 3);
	/* The lines before it are cut, and then it is not the next. */
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_int_equal(stream.spool.state.rows, 4);
	expect_numbers("0\n1\n2\n3\n");
}

/* A link, a second name, or another user's file is not the recorder's. */
static void a_file_that_others_have_put_there_is_not_read(void **state)
{
	(void)state;
	renew("old", 2, 2);
	assert_int_equal(link("r.jsonl", "second"), 0);
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_int_equal(unlink("second") | rename("r.jsonl", "target") | symlink("target", "r.jsonl"), 0);
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_true(stream_lost_name(&stream));
	assert_int_equal(unlink("r.jsonl") | mkdir("r.jsonl", 0700), 0);
	assert_int_equal(stream_follow_name(&stream), 0);
	assert_int_equal(rmdir("r.jsonl") | rename("target", "r.jsonl"), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown("r.jsonl", 4321, 0), 0);
		assert_int_equal(stream_follow_name(&stream), 0);
		/* The user who recorded may do so again, and we may. */
		assert_int_equal(chown("old", 4321, 0), 0);
		assert_int_equal(stream_follow_name(&stream), 1);
		renew("old", 3, 3);
		assert_int_equal(stream_follow_name(&stream), 1);
		expect_numbers("0\n1\n2\n3\n");
	}
}

static void put_another_there(void)
{
	rename("other", "r.jsonl");
}

static void a_name_that_changes_between_two_looks_is_tried_later(void **state)
{
	(void)state;
	renew("old", 2, 2);
	put_text("other", "");
	at_lstat = (struct moment){.act = put_another_there};
	assert_int_equal(stream_follow_name(&stream), 0);
	append(NEXT_SAMPLE, 2, 2);
	/* The old file, and then the new one, cannot be looked at. */
	at_fstat = (struct moment){.error = EIO};
	assert_int_equal(stream_follow_name(&stream), 0);
	at_fstat = (struct moment){.passes = 1, .error = EIO};
	assert_int_equal(stream_follow_name(&stream), 0);
	at_fstat = (struct moment){.passes = 2, .error = EIO};
	assert_int_equal(stream_follow_name(&stream), 0);
	at_fstat = (struct moment){0};
	at_lstat = (struct moment){.error = EIO};
	assert_int_equal(stream_follow_name(&stream), 0);
	at_lstat = (struct moment){0};
	assert_int_equal(stream_follow_name(&stream), 1);
	expect_numbers("0\n1\n2\n");
}

static void a_recording_without_its_name_is_lost(void **state)
{
	(void)state;
	assert_false(stream_lost_name(&stream));
	at_fstat = (struct moment){.error = EIO};
	assert_false(stream_lost_name(&stream));
	assert_int_equal(rename("r.jsonl", "old"), 0);
	assert_true(stream_lost_name(&stream));
	at_fstat = (struct moment){.error = EIO};
	assert_false(stream_lost_name(&stream));
	append(NEXT_SAMPLE, 9, 9);
	assert_true(stream_lost_name(&stream));
	/* One for streaming alone is removed by this program. */
	stream.spool.state.disposable = true;
	assert_false(stream_lost_name(&stream));
	assert_int_equal(unlink("r.jsonl"), 0);
	append(NEXT_SAMPLE, 2, 2);
	assert_int_equal(stream_follow_name(&stream), 0);
}

static void a_cut_that_fails_keeps_the_old_file(void **state)
{
	(void)state;
	renew("old", 2, 2);
	unread_fd = stream.recording.fd;
	assert_int_equal(stream_follow_name(&stream), -EIO);
	assert_int_equal(stream.recording.fd, unread_fd);
	unread_fd = -1;
	assert_int_equal(stream_follow_name(&stream), 1);
	expect_numbers("0\n1\n2\n");
}

/* ---- files that had the name for a short time --------------------------------------------------------------- */

static void a_file_that_lost_the_name_at_once_is_found(void **state)
{
	(void)state;
	renew("first", 2, 3);
	renew("second", 4, 4);
	/* Others that look like it. */
	assert_int_equal(symlink("second", "link") | mkdir("folder", 0700), 0);
	put_text("empty", "");
	put_text("later", "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":3}\n");
	put_text("earlier", "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":1}\n");
	put_text("foreign", "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":8,\"sample\":2}\n");
	put_text("behind",
		 "text\n{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":2}\n");
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_true(stream_lost_name(&stream));
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_false(stream_lost_name(&stream));
	expect_numbers("0\n1\n2\n3\n4\n");
	assert_printed("err", "");
}

static void set_age(const char *path, time_t secs)
{
	const struct timeval times[2] = {{time(NULL) - secs, 0}, {time(NULL) - secs, 0}};

	assert_int_equal(utimes(path, times), 0);
}

/* A copy from before the run, and one of the same second. */
static void an_older_file_is_not_the_missed_one(void **state)
{
	(void)state;
	renew("first", 2, 2);
	renew("second", 3, 3);
	set_age("first", 100);
	set_age("second", 101);
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_printed_has("err", "samples 2 to 2 of this run are not sent: ");
	assert_false(stream_lost_name(&stream));
	renew("third", 4, 4);
	renew("fourth", 5, 5);
	set_age("third", 100);
	set_age("fourth", 100);
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_true(stream_lost_name(&stream));
	assert_int_equal(stream_follow_name(&stream), 1);
	expect_numbers("0\n1\n3\n4\n5\n");
}

static void samples_that_are_gone_are_told(void **state)
{
	(void)state;
	renew("first", 2, 4);
	renew("second", 5, 5);
	assert_int_equal(unlink("second"), 0);
	assert_int_equal(stream_follow_name(&stream), 1);
	assert_printed_has("err", "samples 2 to 4 of this run are not sent: ");
	expect_numbers("0\n1\n5\n");
}

/* ---- news --------------------------------------------------------------------------------------------------- */

static bool has_news(void)
{
	struct pollfd news = {patience.news_fd, POLLIN, 0};
	char bytes[4096];
	bool any = poll(&news, 1, 0) > 0;

	while (read(patience.news_fd, bytes, sizeof bytes) > 0)
		;
	return any;
}

static void a_change_of_the_name_is_news(void **state)
{
	int first, before;

	(void)state;
	stream_watch_name(&stream);
	first = patience.news_fd;
	assert_true(first >= 0);
	assert_true(fcntl(first, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(first, F_GETFL) & O_NONBLOCK);
	append(NEXT_SAMPLE, 2, 2);
	assert_false(has_news());
	assert_int_equal(rename("r.jsonl", "old"), 0);
	assert_true(has_news());
	assert_int_equal(unlink("old"), 0);
	assert_true(has_news());
	/* The next watch takes the place of the first. */
	before = dup(0);
	close(before);
	stream_watch_name(&stream);
	assert_int_equal(patience.news_fd, first);
	assert_int_equal(dup(0), before);
	close(before);
	/* No watch, and nothing stays open. */
	at_watch = (struct moment){.error = ENOSPC};
	stream_watch_name(&stream);
	assert_int_equal(patience.news_fd, -1);
	assert_int_equal(dup(0), first < before ? first : before);
	close(first < before ? first : before);
	stream.spool.state.disposable = true;
	stream_watch_name(&stream);
	assert_int_equal(patience.news_fd, -1);
	stream.spool.state.disposable = false;
}

#define unit_test_of_name(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_name(a_recording_goes_on_in_a_new_file),
		unit_test_of_name(the_rest_of_the_old_file_comes_first),
		unit_test_of_name(an_old_file_that_ends_the_run_has_no_new_one),
		unit_test_of_name(a_sample_that_was_read_is_not_read_again),
		unit_test_of_name(a_file_that_others_have_put_there_is_not_read),
		unit_test_of_name(a_name_that_changes_between_two_looks_is_tried_later),
		unit_test_of_name(a_recording_without_its_name_is_lost),
		unit_test_of_name(a_cut_that_fails_keeps_the_old_file),
		unit_test_of_name(a_file_that_lost_the_name_at_once_is_found),
		unit_test_of_name(an_older_file_is_not_the_missed_one),
		unit_test_of_name(samples_that_are_gone_are_told),
		unit_test_of_name(a_change_of_the_name_is_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
