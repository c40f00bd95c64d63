/* Tests of src/tracker/outputs.c: formats and names of outputs, and what becomes of one that cannot be opened. */
#include "scratch.h"

#include <errno.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "tracker/tracker.h"

static rt_config *config;
static rt_tracker *tracker;

/* The machine is a folder without files. */
static int begin_outputs(void **state)
{
	tracker = NULL;
	return scratch_enter(state) | mkdir("machine", 0755) | rt_config_new(&config) |
	       rt_config_set(config, "root", "machine");
}

static int end_outputs(void **state)
{
	rt_close(tracker);
	rt_config_free(config);
	return scratch_leave(state);
}

static void set(const char *name, const char *value)
{
	assert_int_equal(rt_config_set(config, name, value), 0);
}

static void set_pipe(int end)
{
	char name[32];

	snprintf(name, sizeof name, "/dev/fd/%d", end);
	set("output", name);
}

static void open_tracker(void)
{
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
}

static void close_tracker(void)
{
	rt_close(tracker);
	tracker = NULL;
}

static void expect_failure(int error, const char *message)
{
	assert_int_equal(rt_open(config, &tracker), error);
	assert_string_equal(rt_config_message(config), message);
	assert_null(tracker);
}

/* '{': JSON Lines, 't': CSV, 0x1f: gzip. */
static void expect_begin(const char *path, unsigned char begin)
{
	size_t length;
	char *text = get_file(path, &length);

	assert_true(length > 0);
	if ((unsigned char)*text != begin)
		fail_msg("%s begins with '%c'", path, *text);
	free(text);
}

static size_t count_lines(const char *path)
{
	char *text = get_file(path, NULL);
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	return lines;
}

static void a_format_comes_from_the_output_the_setting_or_the_name(void **state)
{
	(void)state;
	set("output", "a.csv");
	set("output", "b.jsonl");
	set("output", "c");
	set("output", "d.csv.gz");
	assert_int_equal(rt_config_add_output(config, "e.csv", "json"), 0);
	assert_int_equal(rt_config_add_output(config, "f.jsonl", "csv"), 0);
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	close_tracker();
	expect_begin("a.csv", 't');
	expect_begin("b.jsonl", '{');
	expect_begin("c", '{');
	expect_begin("d.csv.gz", 0x1f);
	expect_begin("e.csv", '{');
	expect_begin("f.jsonl", 't');
	assert_int_equal(count_lines("a.csv"), 3);
	assert_int_equal(count_lines("b.jsonl"), 2);
	set("format", "csv");
	set("output", "g.jsonl");
	open_tracker();
	close_tracker();
	expect_begin("e.csv", '{');
	expect_begin("g.jsonl", 't');
}

static void a_header_is_written_once_or_never(void **state)
{
	(void)state;
	set("output", "a.csv");
	set("append", "1");
	open_tracker();
	close_tracker();
	assert_int_equal(count_lines("a.csv"), 2);
	open_tracker();
	close_tracker();
	assert_int_equal(count_lines("a.csv"), 3);
	set("output", "b.csv");
	set("no-header", "1");
	open_tracker();
	close_tracker();
	assert_int_equal(count_lines("b.csv"), 1);
}

static void paths_are_those_of_the_files(void **state)
{
	char expected[64];

	(void)state;
	set("output", "run-%p%u.jsonl");
	set("output", "%%.csv");
	open_tracker();
	snprintf(expected, sizeof expected, "run-%d.jsonl", (int)getpid());
	assert_string_equal(rt_output_path(tracker, 0), expected);
	assert_string_equal(rt_output_path(tracker, 1), "%.csv");
	assert_null(rt_output_path(tracker, 2));
	assert_int_equal(access(expected, F_OK), 0);
	assert_int_equal(access("%.csv", F_OK), 0);
}

static void a_name_with_a_number_is_a_new_file(void **state)
{
	static const char *const NAMES[] = {"run.jsonl", "run-2.jsonl", "run-3.jsonl"};

	(void)state;
	set("output", "run%u.jsonl");
	for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
		open_tracker();
		assert_string_equal(rt_output_path(tracker, 0), NAMES[i]);
		close_tracker();
		assert_int_equal(count_lines(NAMES[i]), 1);
	}
}

static void names_that_cannot_be_filled_in_are_refused(void **state)
{
	(void)state;
	set("output", "a%x");
	expect_failure(-EINVAL, "output 'a%x': % must be followed by h, p, t, r, u or %");
	assert_string_equal(rt_config_failed_output(config), "a%x");
	rt_config_free(config);
	assert_int_equal(rt_config_new(&config), 0);
	set("root", "machine");
	set("output", "%u");
	expect_failure(-ENOENT, "output '%u': the name is empty; add letters to it");
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	static char name[4200];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	set("output", name);
	assert_int_equal(rt_open(config, &tracker), -ENOBUFS);
	assert_non_null(strstr(rt_config_message(config), "output 'xxx"));
	assert_null(tracker);
}

/* The caller may leave out the output that failed, and opens the others again. */
static void a_failed_output_takes_new_files_back(void **state)
{
	static const char EARLIER[] = "{\"timestamp_secs\":1,\"resource-tracker-version\":\"1\"}\n";
	char *text;

	put_text("kept.jsonl", "");
	put_text("earlier.jsonl", EARLIER);
	put_text("earlier.jsonl.marks", "marks");
	assert_int_equal(symlink("linked", "link.jsonl"), 0);
	(void)state;
	set("output", "new%u.jsonl");
	set("output", "plain.csv");
	set("output", "packed.jsonl.gz");
	set("output", "kept.jsonl");
	set("output", "earlier.jsonl");
	set("output", "link.jsonl");
	set("output", "none/c.jsonl");
	assert_int_equal(rt_open(config, &tracker), -ENOENT);
	assert_string_equal(rt_config_failed_output(config), "none/c.jsonl");
	assert_non_null(strstr(rt_config_message(config), "none/c.jsonl"));
	assert_int_equal(access("new.jsonl", F_OK), -1);
	assert_int_equal(access("plain.csv", F_OK), -1);
	assert_int_equal(access("packed.jsonl.gz", F_OK), -1);
	assert_int_equal(access("kept.jsonl", F_OK), 0);
	assert_int_equal(access("link.jsonl", F_OK), 0);
	assert_int_equal(access("earlier.jsonl.1", F_OK), -1);
	assert_int_equal(access("earlier.jsonl.1.marks", F_OK), -1);
	assert_int_equal(access("earlier.jsonl.marks", F_OK), 0);
	text = get_file("earlier.jsonl", NULL);
	assert_string_equal(text, EARLIER);
	free(text);
	/* One that is appended to is not new. */
	set("append", "1");
	assert_int_equal(rt_open(config, &tracker), -ENOENT);
	text = get_file("earlier.jsonl", NULL);
	assert_string_equal(text, EARLIER);
	free(text);
}

static void a_file_that_another_program_put_there_is_not_taken_back(void **state)
{
	char *text;

	(void)state;
	put_text("earlier.jsonl", "{\"timestamp_secs\":1,\"resource-tracker-version\":\"1\"}\n");
	set("output", "new.jsonl");
	set("output", "earlier.jsonl");
	open_tracker();
	assert_int_equal(unlink("new.jsonl") | unlink("earlier.jsonl"), 0);
	put_text("new.jsonl", "theirs");
	put_text("earlier.jsonl", "theirs");
	tracker_take_outputs_back(tracker);
	text = get_file("new.jsonl", NULL);
	assert_string_equal(text, "theirs");
	free(text);
	text = get_file("earlier.jsonl", NULL);
	assert_string_equal(text, "theirs");
	free(text);
	assert_int_equal(access("earlier.jsonl.1", F_OK), 0);
	close_tracker();
}

static void a_torn_last_line_is_removed_with_a_warning(void **state)
{
	char warning[200] = "", whole[] = "{\"timestamp_secs\":1,\"resource-tracker-version\":\"1\"}\n{\"b";

	(void)state;
	put_text("a.jsonl", whole);
	put_text("b.jsonl", "{}\n");
	set("output", "a.jsonl");
	set("output", "b.jsonl");
	set("append", "1");
	open_tracker();
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), 0);
	assert_string_equal(warning, "3 bytes of a torn last line were removed from a.jsonl");
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), -ENOENT);
	close_tracker();
	assert_int_equal(count_lines("a.jsonl"), 2);
}

/* No program reads a file whose rows have other columns or whose samples have another format. */
static void samples_are_appended_to_their_like_alone(void **state)
{
	(void)state;
	put_text("other.csv", "timestamp,other\n1,2\n");
	set("append", "1");
	set("output", "other.csv");
	assert_int_equal(rt_open(config, &tracker), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "other.csv"));
	assert_non_null(strstr(rt_config_message(config), "it holds CSV with other columns"));
	rt_config_free(config);
	assert_int_equal(rt_config_new(&config), 0);
	set("root", "machine");
	set("append", "1");
	set("output", "run.csv");
	set("output", "run.csv.gz");
	for (int i = 0; i < 2; i++) {
		open_tracker();
		close_tracker();
	}
	assert_int_equal(count_lines("run.csv"), 3);
	set("no-header", "1");
	open_tracker();
	close_tracker();
	assert_int_equal(count_lines("run.csv"), 4);
	rt_config_free(config);
	assert_int_equal(rt_config_new(&config), 0);
	set("root", "machine");
	set("append", "1");
	assert_int_equal(rt_config_add_output(config, "run.csv.gz", "json"), 0);
	assert_int_equal(rt_open(config, &tracker), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "its samples have the other format"));
	assert_int_equal(count_lines("run.csv"), 4);
}

/* 9999 is the highest number. */
static void numbers_of_names_have_an_end(void **state)
{
	char name[32];

	(void)state;
	put_text("run.jsonl", "");
	for (int i = 2; i <= 9999; i++) {
		snprintf(name, sizeof name, "run-%d.jsonl", i);
		assert_int_equal(link("run.jsonl", name), 0);
	}
	set("output", "run%u.jsonl");
	assert_int_equal(rt_open(config, &tracker), -EEXIST);
	assert_null(tracker);
	assert_int_equal(access("run-10000.jsonl", F_OK), -1);
	assert_int_equal(unlink("run-9999.jsonl"), 0);
	open_tracker();
	assert_string_equal(rt_output_path(tracker, 0), "run-9999.jsonl");
}

/* Looking again would take 250 ms for each number. */
static void a_name_without_a_number_is_tried_once(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	rt_tracker *second = NULL;
	int closed = 0;

	(void)state;
	set("output", "run.jsonl");
	open_tracker();
	assert_true(watch >= 0 && inotify_add_watch(watch, "run.jsonl", IN_OPEN | IN_CLOSE) >= 0);
	assert_int_equal(rt_open(config, &second), -EBUSY);
	assert_null(second);
	while (read(watch, &event, sizeof event) == sizeof event)
		closed += !!(event.mask & IN_CLOSE);
	close(watch);
	assert_int_equal(closed, 1);
}

/* The number of a rank may be long. */
static void a_name_that_gets_too_long_is_refused(void **state)
{
	char name[2 * 216 + 1], message[600];

	(void)state;
	for (size_t i = 0; i < sizeof name - 1; i++)
		name[i] = i % 2 ? 'r' : '%';
	name[sizeof name - 1] = '\0';
	config->rank = INT64_MAX;
	set("output", name);
	snprintf(message, sizeof message, "output '%s': File name too long", name);
	expect_failure(-ENOBUFS, message);
}

static void closed_outputs_are_forgotten(void **state)
{
	(void)state;
	set("output", "a.jsonl");
	set("output", "b.jsonl");
	open_tracker();
	assert_int_equal(tracker->output_count, 2);
	tracker_close_targets(tracker);
	assert_null(tracker->outputs[0].target);
	assert_null(tracker->outputs[1].target);
	tracker_close_outputs(tracker);
	assert_int_equal(tracker->output_count, 0);
	assert_null(tracker->outputs);
	assert_null(rt_output_path(tracker, 0));
}

static void a_stream_without_a_reader_ends_the_recording(void **state)
{
	enum rt_end_reason reason = 0;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	set_pipe(ends[1]);
	set("output", "a.jsonl");
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	close(ends[0]);
	assert_int_equal(rt_sample(tracker), 0);
	/* The file still takes samples. */
	assert_false(tracker_outputs_gone(tracker));
	assert_false(rt_over(tracker, &reason));
	tracker->output_count--;
	assert_true(tracker_outputs_gone(tracker));
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_TRACKER_STOPPED);
	tracker->output_count++;
	assert_null(rt_output_path(tracker, 1));
	close_tracker();
	close(ends[1]);
}

/* The sampling thread ends by itself, and no signal has stopped it. */
static void a_thread_ends_when_its_outputs_have_gone(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	set_pipe(ends[1]);
	set("interval", "0.001");
	open_tracker();
	close(ends[0]);
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_wait_for_samples(tracker, INT64_MAX, 60), -ESHUTDOWN);
	assert_string_equal(tracker->ending.reason, "tracker_stopped");
	assert_int_equal(tracker->ending.stopped_by, 0);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	close_tracker();
	close(ends[1]);
}

/* Samples that no stream takes any more are counted, those of all streams together. */
static void lost_samples_of_all_streams_are_counted(void **state)
{
	int first[2], second[2];

	(void)state;
	assert_int_equal(pipe(first) | pipe(second), 0);
	set_pipe(first[1]);
	set_pipe(second[1]);
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(tracker->context.progress.dropped, 0);
	close(first[0]);
	close(second[0]);
	for (int64_t i = 1; i <= 3; i++) {
		assert_int_equal(rt_sample(tracker), 0);
		assert_int_equal(tracker->context.progress.dropped, 2 * i);
	}
	close_tracker();
	close(first[1]);
	close(second[1]);
}

static size_t count_warnings(void)
{
	size_t count = 0;

	while (rt_next_warning(tracker, (char[300]){0}, 300) == 0)
		count++;
	return count;
}

/* Ends a recording into a full pipe that no process reads. Returns the seconds that this took. */
static double end_with_full_pipe(bool wrapped, size_t *ret_warnings)
{
	int ends[2];
	int64_t begun_ns, ended_ns;

	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	rt_config_free(config);
	assert_int_equal(rt_config_new(&config) | rt_config_set(config, "root", "machine"), 0);
	set("output", "a.jsonl");
	set_pipe(ends[1]);
	open_tracker();
	for (int i = 0; i < 20; i++)
		assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(count_warnings(), 0);
	tracker->wrapped = wrapped;
	begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	ended_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	*ret_warnings = count_warnings();
	close_tracker();
	close(ends[0]);
	close(ends[1]);
	return ns_to_secs(ended_ns - begun_ns);
}

/* A wrapped job's status is waited for: a reader that takes nothing has a tenth of a second. Otherwise it has a second. */
static void a_full_pipe_has_a_second_at_the_end(void **state)
{
	size_t warnings;
	double alone_secs, wrapped_secs;

	(void)state;
	alone_secs = end_with_full_pipe(false, &warnings);
	assert_int_equal(warnings, 1);
	wrapped_secs = end_with_full_pipe(true, &warnings);
	assert_int_equal(warnings, 1);
	/* A busy machine may take another second and a half. */
	assert_true(wrapped_secs >= 0.1 && alone_secs >= 1 && wrapped_secs < alone_secs && alone_secs < 2.5);
}

/* Its samples were lost, also those of a wrapped job. */
static void a_fifo_that_was_never_read_is_told_at_the_end(void **state)
{
	char warning[300] = "";

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	set("output", "fifo");
	set("output", "a.jsonl");
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), -ENOENT);
	tracker->wrapped = true;
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), 0);
	assert_non_null(strstr(warning, "fifo"));
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), -ENOENT);
}

/* It is written like an output of the user, but has no name for them, and is not made anew. */
static void a_spool_is_one_more_output(void **state)
{
	(void)state;
	set("output", "a.csv");
	open_tracker();
	assert_int_equal(tracker_add_spool(tracker, "none/spool"), -ENOENT);
	assert_int_equal(tracker->output_count, 1);
	put_text("spool", "");
	assert_int_equal(tracker_add_spool(tracker, "spool"), 0);
	assert_int_equal(tracker->output_count, 2);
	assert_null(rt_output_path(tracker, 1));
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(count_lines("spool"), 1);
	tracker_remove_spool(tracker);
	assert_int_equal(tracker->output_count, 1);
	assert_int_equal(access("spool", F_OK), -1);
	assert_int_equal(access("a.csv", F_OK), 0);
	put_text("spool", "");
	assert_int_equal(tracker_add_spool(tracker, "spool"), 0);
	assert_int_equal(rename("spool", "moved"), 0);
	assert_int_equal(rename("a.csv", "b.csv"), 0);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(access("spool", F_OK), -1);
	assert_int_equal(access("a.csv", F_OK), 0);
	assert_int_equal(count_lines("moved"), 1);
}

static void a_tracker_without_outputs_goes_on(void **state)
{
	(void)state;
	open_tracker();
	assert_false(tracker_outputs_gone(tracker));
	assert_false(rt_over(tracker, NULL));
	assert_null(rt_output_path(tracker, 0));
}

/* A file that was renamed gets the samples until then. The new one begins with a header. */
static void a_renamed_file_is_followed_by_a_new_one(void **state)
{
	(void)state;
	set("output", "a.csv");
	open_tracker();
	assert_int_equal(rt_sample(tracker), 0);
	assert_int_equal(rename("a.csv", "a.csv.1"), 0);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(count_lines("a.csv.1"), 2);
	assert_int_equal(count_lines("a.csv"), 2);
	expect_begin("a.csv", 't');
}

/* The message about a mistyped command would be buried. */
static void stderr_gets_no_sample_of_a_command_that_was_not_found(void **state)
{
	(void)state;
	set("output", "a.jsonl");
	set("output", "b.jsonl");
	open_tracker();
	tracker->outputs[0].is_stderr = true;
	assert_int_equal(rt_finish(tracker, RT_END_EXEC_FAILED, ENOENT), 0);
	close_tracker();
	assert_int_equal(count_lines("a.jsonl"), 0);
	assert_int_equal(count_lines("b.jsonl"), 1);
}

/* The command runs the job in any case. A mistake in the name of an output is told before that. */
static void a_command_goes_on_with_the_outputs_that_work(void **state)
{
	static char name[4200];
	char warning[300] = "";

	(void)state;
	memset(name, 'x', sizeof name - 1);
	set("output", name);
	set("output", "b.jsonl");
	rt_config_set_own_process(config, true);
	open_tracker();
	assert_int_equal(tracker->output_count, 1);
	assert_string_equal(rt_output_path(tracker, 0), "b.jsonl");
	assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), 0);
	assert_int_equal(strncmp(warning, "output 'xxx", 11), 0);
	close_tracker();
	assert_int_equal(count_lines("b.jsonl"), 1);
	set("output", "none/c.jsonl");
	assert_int_equal(rt_open(config, &tracker), -ENOENT);
	assert_null(tracker);
}

#define unit_test_of_outputs(test) cmocka_unit_test_setup_teardown(test, begin_outputs, end_outputs)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_outputs(a_format_comes_from_the_output_the_setting_or_the_name),
		unit_test_of_outputs(a_header_is_written_once_or_never),
		unit_test_of_outputs(paths_are_those_of_the_files),
		unit_test_of_outputs(a_name_with_a_number_is_a_new_file),
		unit_test_of_outputs(names_that_cannot_be_filled_in_are_refused),
		unit_test_of_outputs(a_name_that_is_too_long_is_refused),
		unit_test_of_outputs(a_failed_output_takes_new_files_back),
		unit_test_of_outputs(a_file_that_another_program_put_there_is_not_taken_back),
		unit_test_of_outputs(a_torn_last_line_is_removed_with_a_warning),
		unit_test_of_outputs(samples_are_appended_to_their_like_alone),
		unit_test_of_outputs(numbers_of_names_have_an_end),
		unit_test_of_outputs(a_name_without_a_number_is_tried_once),
		unit_test_of_outputs(a_name_that_gets_too_long_is_refused),
		unit_test_of_outputs(closed_outputs_are_forgotten),
		unit_test_of_outputs(a_stream_without_a_reader_ends_the_recording),
		unit_test_of_outputs(a_thread_ends_when_its_outputs_have_gone),
		unit_test_of_outputs(lost_samples_of_all_streams_are_counted),
		unit_test_of_outputs(a_full_pipe_has_a_second_at_the_end),
		unit_test_of_outputs(a_fifo_that_was_never_read_is_told_at_the_end),
		unit_test_of_outputs(a_spool_is_one_more_output),
		unit_test_of_outputs(a_tracker_without_outputs_goes_on),
		unit_test_of_outputs(a_renamed_file_is_followed_by_a_new_one),
		unit_test_of_outputs(stderr_gets_no_sample_of_a_command_that_was_not_found),
		unit_test_of_outputs(a_command_goes_on_with_the_outputs_that_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
