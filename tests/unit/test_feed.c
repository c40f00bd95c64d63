/* Tests of src/live/feed.c: recordings that grow, end, fall silent or are none. The test's own clock tells the time. */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>

#include "base/clock.h"
#include "live/feed.h"

static struct feed feed;
static struct rt_problem problem;
static int writer = -1;

/* A file to which samples are added, without a lock. */
static int begin_feed(void **state)
{
	if (scratch_enter(state) < 0)
		return -1;
	setenv("HOME", scratch_folder, 1);
	writer = open("run.jsonl", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	problem.text[0] = '\0';
	return feed_begin(&feed, "run.jsonl", false, "given", 7, 0);
}

static int end_feed(void **state)
{
	feed_done(&feed);
	close(writer);
	return scratch_leave(state);
}

static void add_samples(int first, int last)
{
	for (int i = first; i <= last; i++)
		dprintf(writer,
			"{\"timestamp_secs\":%d,\"timestamp\":%d.0,\"elapsed_secs\":%d.0,"
			"\"actual_interval_ms\":1000.0,\"sample\":%d,\"tracked_pid\":42,"
			"\"cpu\":{\"process_cores_used\":1.0},\"resource-tracker-version\":\"0.1.0\"}\n",
			1700000000 + i, 1700000000 + i, i, i - 1);
}

/* The last byte was written that long ago. */
static void let_it_rest(int secs)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - secs}};

	assert_int_equal(futimens(writer, times), 0);
}

static int read_at(double secs)
{
	return feed_read(&feed, (int64_t)(secs * 1e9), &problem);
}

static void feed_keeps_its_arguments(void **state)
{
	(void)state;
	assert_string_equal(feed.path, "run.jsonl");
	assert_string_equal(feed.run.name, "given");
	assert_int_equal(feed.run.number, 7);
	assert_int_equal(feed.run.state, RUN_BEGINS);
	feed_done(&feed);
	assert_null(feed.path);
	assert_int_equal(feed_begin(&feed, "run.jsonl", true, "", 0, 5), 0);
	assert_true(feed.is_pipe);
	assert_int_equal(feed.run.heard_ns, 5);
}

static void samples_come_as_they_are_written(void **state)
{
	(void)state;
	/* Empty, but its recorder may have just begun. */
	assert_int_equal(read_at(1), 0);
	assert_false(feed.ended);
	assert_null(feed.record);
	add_samples(1, 3);
	assert_int_equal(read_at(2), 3);
	assert_int_equal(feed.run.state, RUN_GOES_ON);
	assert_int_equal(feed.run.heard_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(feed.run.timeline.count, 3);
	assert_int_equal(read_at(3), 0);
	assert_int_equal(feed.run.heard_ns, 2 * NSEC_PER_SEC);
	add_samples(4, 4);
	assert_int_equal(read_at(4), 1);
	assert_int_equal(feed.run.timeline.count, 4);
	assert_int_equal(feed.asked, feed.run.run_index + 1);
}

static void a_long_recording_is_read_in_parts(void **state)
{
	(void)state;
	add_samples(1, 2003);
	assert_int_equal(read_at(1), 2000);
	assert_int_equal(read_at(1), 3);
	/* It counts as seen live once all that is there was read. */
	assert_false(feed.was_live);
	assert_int_equal(read_at(1), 0);
	assert_true(feed.was_live);
}

/* An empty file counts as a recording that begins, for an hour or while a recorder holds its lock. */
static void an_empty_file_waits_for_an_hour(void **state)
{
	(void)state;
	let_it_rest(3500);
	assert_int_equal(read_at(1), 0);
	let_it_rest(3700);
	/* With the lock of a recorder it goes on. */
	assert_int_equal(flock(writer, LOCK_EX), 0);
	assert_int_equal(read_at(2), 0);
	assert_false(feed.ended);
	assert_int_equal(flock(writer, LOCK_UN), 0);
	assert_int_equal(read_at(3), -ENODATA);
	assert_true(feed.ended);
	assert_true(*problem.text);
	/* It is not looked at again. */
	add_samples(1, 1);
	assert_int_equal(read_at(4), 0);
	assert_null(feed.record);
}

static void a_file_of_another_kind_ends_the_feed(void **state)
{
	(void)state;
	dprintf(writer, "print(1)\n");
	assert_int_equal(read_at(1), -EBADMSG);
	assert_true(feed.ended);
	assert_true(*problem.text);
	feed_done(&feed);
	assert_int_equal(feed_begin(&feed, "missing", false, "", 0, 0), 0);
	assert_int_equal(read_at(1), -ENOENT);
	assert_true(feed.ended);
}

static void assert_lost(bool is_lost)
{
	assert_int_equal(feed.run.state, is_lost ? RUN_LOST : RUN_GOES_ON);
	assert_string_equal(feed.run.outcome, is_lost ? "no end is recorded" : "");
}

/* A writer without a lock may pause for ten seconds, or for five of its intervals. */
static void a_silent_file_is_lost_at_the_first_look(void **state)
{
	(void)state;
	add_samples(1, 2);
	assert_int_equal(read_at(1), 2);
	let_it_rest(8);
	assert_int_equal(read_at(1), 0);
	assert_lost(false);
	assert_int_equal(feed.looked_ns, NSEC_PER_SEC);
	let_it_rest(13);
	/* The next look comes two seconds later, and only after three silent intervals. */
	assert_int_equal(read_at(2.9), 0);
	assert_lost(false);
	feed.run.heard_ns = 2 * NSEC_PER_SEC;
	assert_int_equal(read_at(4.9), 0);
	assert_lost(false);
	assert_int_equal(feed.looked_ns, NSEC_PER_SEC);
	feed.run.interval_secs = 4;
	assert_int_equal(read_at(13.9), 0);
	assert_int_equal(feed.looked_ns, NSEC_PER_SEC);
	assert_int_equal(read_at(14), 0);
	assert_int_equal(feed.looked_ns, 14 * NSEC_PER_SEC);
	/* 13 s are less than five intervals of 4 s. */
	assert_lost(false);
	let_it_rest(23);
	assert_int_equal(read_at(15.9), 0);
	assert_lost(false);
	assert_int_equal(flock(writer, LOCK_EX), 0);
	assert_int_equal(read_at(16), 0);
	assert_lost(false);
	assert_int_equal(flock(writer, LOCK_UN), 0);
	assert_int_equal(read_at(18), 0);
	assert_lost(true);
	/* It goes on with its next sample. */
	add_samples(3, 3);
	assert_int_equal(read_at(19), 1);
	assert_lost(false);
}

static void a_file_that_was_removed_has_no_writer(void **state)
{
	(void)state;
	add_samples(1, 2);
	assert_int_equal(read_at(1), 2);
	assert_int_equal(unlink("run.jsonl"), 0);
	assert_int_equal(read_at(2), 0);
	assert_lost(true);
	assert_false(feed.was_live);
}

/* An unknown interval counts as a second. */
static void an_unknown_interval_is_a_second(void **state)
{
	(void)state;
	add_samples(1, 2);
	assert_int_equal(read_at(1), 2);
	assert_int_equal(read_at(1), 0);
	let_it_rest(13);
	feed.run.interval_secs = NAN;
	assert_int_equal(read_at(3.9), 0);
	assert_lost(false);
	assert_int_equal(read_at(4), 0);
	assert_lost(true);
}

static void the_writer_of_a_pipe_is_never_gone(void **state)
{
	char path[32];
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	feed_done(&feed);
	assert_int_equal(feed_begin(&feed, path, true, "", 0, 0), 0);
	close(writer);
	writer = ends[1];
	assert_int_equal(read_at(1), 0);
	add_samples(1, 2);
	assert_int_equal(read_at(2), 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(read_at(10 + 10 * i), 0);
	assert_lost(false);
	close(ends[0]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_feed, end_feed)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(feed_keeps_its_arguments),
		TEST(samples_come_as_they_are_written),
		TEST(a_long_recording_is_read_in_parts),
		TEST(an_empty_file_waits_for_an_hour),
		TEST(a_file_of_another_kind_ends_the_feed),
		TEST(a_silent_file_is_lost_at_the_first_look),
		TEST(a_file_that_was_removed_has_no_writer),
		TEST(an_unknown_interval_is_a_second),
		TEST(the_writer_of_a_pipe_is_never_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
