/* Tests of src/cli/keep_run.c: the recording of the history among the outputs, and its end. */
#include "captured.h"

#include <sys/file.h>

#include "cli/keep_run.h"

static struct front front;

/* Not 0, also where stdin is closed: that means none. */
static int open_kept(void)
{
	int fd = open("1.jsonl", O_RDWR | O_APPEND | O_CLOEXEC),
	    above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	close(fd);
	return above;
}

static int begin(void **state)
{
	front = (struct front){.mode = MODE_WRAP};
	return rt_config_new(&front.config) < 0 ? -1 : capture_streams(state);
}

static int end(void **state)
{
	given_done(&front.given);
	rt_config_free(front.config);
	free(front.kept_path);
	return free_streams(state);
}

/* Records one sample. `path` NULL: the output has no name. */
static void assert_output(const char *path)
{
	rt_tracker *tracker;

	assert_int_equal(rt_open(front.config, &tracker), 0);
	if (path)
		assert_string_equal(rt_output_path(tracker, 0), path);
	assert_null(rt_output_path(tracker, path ? 1 : 0));
	assert_int_equal(rt_sample(tracker), 0);
	rt_close(tracker);
}

/* Another process has created it. */
static void a_recording_that_is_closed_again_is_an_output_by_its_name(void **state)
{
	(void)state;
	mkdir("h%p%%", 0700);
	front.kept_path = strdup("h%p%%/1.jsonl");
	assert_int_equal(begin_kept_run(&front), 0);
	assert_output("h%p%%/1.jsonl");
	assert_printed_has("h%p%%/1.jsonl", "{\"");
	assert_printed("err", "");
}

static void a_recording_that_is_open_is_an_output_by_its_descriptor(void **state)
{
	(void)state;
	put_text("1.jsonl", "");
	front.kept_path = strdup("1.jsonl");
	front.kept_fd = open_kept();
	assert_int_equal(begin_kept_run(&front), 0);
	assert_output(NULL);
	close(front.kept_fd);
	assert_printed_has("1.jsonl", "{\"");
}

static void a_run_that_never_began_is_removed(void **state)
{
	(void)state;
	drop_kept_run(&front);
	put_text("1.jsonl", "");
	front.kept_path = strdup("1.jsonl");
	drop_kept_run(&front);
	assert_null(front.kept_path);
	assert_int_equal(access("1.jsonl", F_OK), -1);
}

/* The tracker may still hold it, and others take a recording that is locked for one that goes on. */
static void the_end_unlocks_a_recording(void **state)
{
	int other;

	(void)state;
	put_text("1.jsonl", "");
	front.kept_path = strdup("1.jsonl");
	front.kept_fd = open_kept();
	front.quiet = true;
	other = open("1.jsonl", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(front.kept_fd, LOCK_EX), 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	finish_kept_run(&front);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
	close(front.kept_fd);
}

static void a_recording_that_was_removed_becomes_a_temporary_one(void **state)
{
	static const char *const WAYS[] = {"removed", "renamed", "replaced", "folder"};

	(void)state;
	for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
		put_text("1.jsonl", "");
		front.kept_path = strdup(i == 3 ? "away/1.jsonl" : "1.jsonl");
		front.kept_fd = open_kept();
		front.temporary_fd = 0;
		if (i < 3)
			assert_false(leave_kept_run(&front));
		assert_printed("err", "");
		assert_int_equal(i == 1 ? rename("1.jsonl", "old") : unlink("1.jsonl"), 0);
		if (i == 2)
			put_text("1.jsonl", "");
		assert_true(leave_kept_run(&front));
		assert_null(front.kept_path);
		assert_int_equal(front.kept_fd, 0);
		assert_true(front.temporary_fd > STDERR_FILENO);
		assert_printed_has("err", "resource-tracker: this run is no longer kept: ");
		close(front.temporary_fd);
		unlink("1.jsonl");
	}
	/* Without a descriptor, the output itself begins a new file under the name. */
	front.kept_path = strdup("1.jsonl");
	assert_false(leave_kept_run(&front));
	front.kept_fd = 1;
	free(front.kept_path);
	front.kept_path = NULL;
	assert_false(leave_kept_run(&front));
	front.kept_fd = 0;
}

#define unit_test_of_kept(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_kept(a_recording_that_is_closed_again_is_an_output_by_its_name),
		unit_test_of_kept(a_recording_that_is_open_is_an_output_by_its_descriptor),
		unit_test_of_kept(a_run_that_never_began_is_removed),
		unit_test_of_kept(the_end_unlocks_a_recording),
		unit_test_of_kept(a_recording_that_was_removed_becomes_a_temporary_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
