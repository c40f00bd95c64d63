/* Tests of src/tracker/apart.c, and of calls that it answers: the test is the recorder in another process. */
#include "scratch.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"

/* A tracker of an empty machine, whose recorder is this test, by `other`. */
static rt_tracker *tracker;
static int other;

static int begin_apart(void **state)
{
	rt_config *config;
	int ends[2], error = scratch_enter(state) | mkdir("machine", 0755) | rt_config_new(&config) |
			     rt_config_set(config, "root", "machine") | rt_open(config, &tracker);

	rt_config_free(config);
	if (error || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	tracker->apart = malloc(sizeof *tracker->apart);
	*tracker->apart = REMOTE_CLIENT;
	tracker->apart->socket = ends[0];
	other = ends[1];
	return 0;
}

static int end_apart(void **state)
{
	close(other);
	rt_close(tracker);
	return scratch_leave(state);
}

/* Call before the question: the answer waits in the connection. */
static void answer_bytes(int64_t result, int64_t first, int64_t count, const void *bytes, size_t length)
{
	const struct remote_message answer = {
		.what = result, .first = first, .count = count, .payload_bytes = length};

	assert_int_equal(remote_send(other, &answer, bytes), 0);
}

static void answer(int64_t result)
{
	answer_bytes(result, 0, 0, NULL, 0);
}

#define answer_text(text) answer_bytes(0, 0, 0, text, strlen(text))

/* The next question that the tracker has asked, and its payload. */
static void expect_question(enum remote_question what, int64_t first, int64_t count, const void *bytes,
			    size_t length)
{
	CLEANUP_BUFFER struct buffer payload = BUFFER(100000);
	struct remote_message asked;

	assert_int_equal(remote_receive(other, &asked, &payload), 0);
	assert_int_equal(asked.what, what);
	assert_int_equal(asked.first, first);
	assert_int_equal(asked.count, count);
	assert_int_equal(payload.length, length);
	if (length)
		assert_memory_equal(payload.data, bytes, length);
}

static void assert_nothing_was_asked(void)
{
	char byte;

	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
}

/* ---- history ----------------------------------------------------------------------------------------------- */

static void the_length_of_the_history_is_asked_for(void **state)
{
	int64_t first = -7;
	size_t bytes = 7;

	(void)state;
	answer_bytes(5, 3, 4096, NULL, 0);
	assert_int_equal(rt_history_count(tracker, &first, &bytes), 5);
	assert_int_equal(first, 3);
	assert_int_equal(bytes, 4096);
	expect_question(REMOTE_HISTORY_COUNT, 0, 0, NULL, 0);
	answer_bytes(0, 0, 100, NULL, 0);
	assert_int_equal(rt_history_count(tracker, &first, &bytes), 0);
	assert_int_equal(first, 0);
	assert_int_equal(bytes, 100);
	answer_bytes(2, 9, 9, NULL, 0);
	assert_int_equal(rt_history_count(tracker, NULL, NULL), 2);
	answer_bytes(-ENODATA, 8, 8, NULL, 0);
	assert_int_equal(rt_history_count(tracker, &first, &bytes), -ENODATA);
	assert_int_equal(first, 0);
	assert_int_equal(bytes, 100);
}

static void rows_come_in_answers_of_2048(void **state)
{
	static double rows[3001], values[3001];
	static const char NAMES[] = "combined\0timestamp";

	(void)state;
	for (int i = 0; i < 3000; i++)
		rows[i] = i + 0.5;
	values[3000] = -1;
	answer_bytes(2048, 0, 0, rows, 2048 * sizeof *rows);
	answer_bytes(952, 0, 0, rows + 2048, 952 * sizeof *rows);
	assert_int_equal(rt_history_read(tracker, "combined", "timestamp", 10, 3000, values), 3000);
	assert_memory_equal(values, rows, 3000 * sizeof *rows);
	assert_true(values[3000] == -1);
	expect_question(REMOTE_HISTORY_READ, 10, 2048, NAMES, sizeof NAMES);
	expect_question(REMOTE_HISTORY_READ, 10 + 2048, 952, NAMES, sizeof NAMES);
	assert_nothing_was_asked();
}

static void fewer_rows_end_with_an_empty_answer(void **state)
{
	const double rows[] = {1, 2, 3};
	double values[5] = {0, 0, 0, 9, 9};

	(void)state;
	answer_bytes(2, 0, 0, rows, 2 * sizeof *rows);
	answer_bytes(1, 0, 0, rows + 2, sizeof *rows);
	answer(0);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 5, values), 3);
	assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3 && values[3] == 9);
	expect_question(REMOTE_HISTORY_READ, 0, 5, "\0sample", sizeof "\0sample");
	expect_question(REMOTE_HISTORY_READ, 2, 3, "\0sample", sizeof "\0sample");
	expect_question(REMOTE_HISTORY_READ, 3, 2, "\0sample", sizeof "\0sample");
	answer(-ERANGE);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 5, values), -ERANGE);
	answer_bytes(1, 0, 0, rows, sizeof *rows);
	answer(-EPIPE);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 5, values), -EPIPE);
}

/* Neither more values than the caller has room for, nor other bytes than values. */
static void a_wrong_number_of_rows_is_refused(void **state)
{
	const double rows[] = {1, 2, 3};
	double values[3] = {7, 7, 7};

	(void)state;
	answer_bytes(3, 0, 0, rows, 3 * sizeof *rows);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 2, values), -EBADMSG);
	answer_bytes(2, 0, 0, rows, 2 * sizeof *rows - 1);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 2, values), -EBADMSG);
	answer_bytes(1, 0, 0, rows, 2 * sizeof *rows);
	assert_int_equal(rt_history_read(tracker, NULL, "sample", 0, 2, values), -EBADMSG);
	assert_true(values[0] == 7);
}

static void a_name_that_no_column_has_is_not_asked_for(void **state)
{
	static char name[5000];
	double value;

	(void)state;
	memset(name, 'x', sizeof name - 1);
	assert_int_equal(rt_history_read(tracker, NULL, name, 0, 1, &value), -ENOENT);
	assert_nothing_was_asked();
}

/* ---- values and texts -------------------------------------------------------------------------------------- */

static void answer_value(struct rt_value value)
{
	struct remote_message message = {.what = 0};

	remote_value_pack(&value, &message);
	if (value.type == RT_TYPE_TEXT)
		message.payload_bytes = strlen(value.text);
	assert_int_equal(remote_send(other, &message, value.text), 0);
}

static void a_value_is_that_of_the_other_process(void **state)
{
	rt_metric metric = rt_metric_find("disk.device");
	struct rt_value value = {.count = 7};

	(void)state;
	answer_value((struct rt_value){.type = RT_TYPE_COUNT, .count = INT64_MIN});
	assert_int_equal(rt_get(tracker, metric, 3, &value), 0);
	assert_true(value.type == RT_TYPE_COUNT && value.count == INT64_MIN);
	expect_question(REMOTE_VALUE, metric, 3, NULL, 0);
	answer_value((struct rt_value){.type = RT_TYPE_REAL, .real = -0.25});
	assert_int_equal(rt_get_named(tracker, "disk[sda].read_bytes_total", &value), 0);
	assert_true(value.type == RT_TYPE_REAL && value.real == -0.25);
	expect_question(REMOTE_VALUE, 0, 0, "disk[sda].read_bytes_total",
			sizeof "disk[sda].read_bytes_total");
	answer_value((struct rt_value){.type = RT_TYPE_NONE, .reason = EACCES});
	assert_int_equal(rt_get(tracker, metric, 0, &value), 0);
	assert_true(value.type == RT_TYPE_NONE && value.reason == EACCES);
	answer(-ENODATA);
	assert_int_equal(rt_get(tracker, metric, 0, &value), -ENODATA);
	assert_int_equal(value.reason, EACCES);
}

static void a_text_stays_after_the_next_question(void **state)
{
	rt_metric metric = rt_metric_find("disk.device");
	struct rt_value first, second;

	(void)state;
	answer_value((struct rt_value){.type = RT_TYPE_TEXT, .text = "sda"});
	answer_value((struct rt_value){.type = RT_TYPE_TEXT, .text = ""});
	assert_int_equal(rt_get(tracker, metric, 0, &first), 0);
	assert_int_equal(rt_get(tracker, metric, 1, &second), 0);
	assert_string_equal(first.text, "sda");
	assert_string_equal(second.text, "");
}

static void texts_are_asked_for_by_their_kind(void **state)
{
	char *text = NULL, line[4] = "";

	(void)state;
	answer_text("{}");
	assert_int_equal(rt_sample_json(tracker, &text), 0);
	assert_string_equal(text, "{}");
	rt_free(text);
	expect_question(REMOTE_SAMPLE_JSON, 0, 0, NULL, 0);
	answer_text("");
	assert_int_equal(rt_explain_absent(tracker, &text), 0);
	assert_string_equal(text, "");
	rt_free(text);
	expect_question(REMOTE_EXPLAIN_ABSENT, 0, 0, NULL, 0);
	text = line;
	answer(-ENODATA);
	assert_int_equal(rt_sample_json(tracker, &text), -ENODATA);
	assert_ptr_equal(text, line);
	expect_question(REMOTE_SAMPLE_JSON, 0, 0, NULL, 0);
	answer_text("warning");
	assert_int_equal(rt_next_warning(tracker, line, sizeof line), 0);
	assert_string_equal(line, "war");
	expect_question(REMOTE_WARNING, 0, 0, NULL, 0);
	answer(-ENOENT);
	assert_int_equal(rt_next_warning(tracker, line, sizeof line), -ENOENT);
	assert_string_equal(line, "war");
	expect_question(REMOTE_WARNING, 0, 0, NULL, 0);
	answer_text("/a/b");
	assert_string_equal(rt_output_path(tracker, 2), "/a/b");
	expect_question(REMOTE_OUTPUT_PATH, 2, 0, NULL, 0);
	answer(-ENOENT);
	assert_null(rt_output_path(tracker, 3));
}

static void a_snapshot_that_is_not_one_is_refused(void **state)
{
	rt_snapshot *snapshot = NULL;

	(void)state;
	answer_text("no frame");
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), -EBADMSG);
	expect_question(REMOTE_SNAPSHOT, 0, 0, NULL, 0);
	answer(-ENODATA);
	assert_int_equal(rt_snapshot_take(tracker, &snapshot), -ENODATA);
	assert_null(snapshot);
}

static void instances_are_counted_there(void **state)
{
	rt_metric metric = rt_metric_find("disk.device");

	(void)state;
	answer(3);
	assert_int_equal(rt_instance_count(tracker, metric), 3);
	expect_question(REMOTE_INSTANCES, metric, 0, NULL, 0);
	answer(-EPIPE);
	assert_int_equal(rt_instance_count(tracker, metric), 0);
}

/* ---- life -------------------------------------------------------------------------------------------------- */

static void a_recording_is_over_if_the_other_process_says_so_or_is_gone(void **state)
{
	enum rt_end_reason reason = RT_END_SIGNAL;

	(void)state;
	answer_bytes(0, RT_END_EXIT, 0, NULL, 0);
	assert_false(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_SIGNAL);
	expect_question(REMOTE_OVER, 0, 0, NULL, 0);
	answer_bytes(1, RT_END_DURATION, 0, NULL, 0);
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_DURATION);
	answer_bytes(1, RT_END_DURATION, 0, NULL, 0);
	assert_true(rt_over(tracker, NULL));
	answer_bytes(-EPIPE, RT_END_EXIT, 0, NULL, 0);
	assert_true(rt_over(tracker, &reason));
	assert_int_equal(reason, RT_END_DURATION);
}

static void starting_and_stopping_happen_there(void **state)
{
	(void)state;
	assert_int_equal(rt_stop(tracker), -ENOTCONN);
	answer(-EAGAIN);
	assert_int_equal(rt_start(tracker), -EAGAIN);
	assert_int_equal(rt_get_state(tracker), RT_STATE_READY);
	expect_question(REMOTE_START, 0, 0, NULL, 0);
	answer(0);
	assert_int_equal(rt_start(tracker), 0);
	assert_int_equal(rt_start(tracker), -EALREADY);
	expect_question(REMOTE_START, 0, 0, NULL, 0);
	answer(0);
	assert_int_equal(rt_get_state(tracker), RT_STATE_RUNNING);
	expect_question(REMOTE_OVER, 0, 0, NULL, 0);
	answer(41);
	assert_int_equal(rt_sample_count(tracker), 41);
	expect_question(REMOTE_SAMPLE_COUNT, 0, 0, NULL, 0);
	assert_int_equal(rt_stop_with(tracker, (enum rt_end_reason)99, 0), -EINVAL);
	/* It has ended by itself. */
	answer(-EALREADY);
	assert_int_equal(rt_stop_with(tracker, RT_END_SIGNAL, 9), 0);
	expect_question(REMOTE_STOP, RT_END_SIGNAL, 9, NULL, 0);
	assert_int_equal(rt_stop(tracker), -EALREADY);
	assert_int_equal(rt_start(tracker), -ESHUTDOWN);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	assert_nothing_was_asked();
}

static void a_recording_that_has_ended_there_is_stopped_here(void **state)
{
	(void)state;
	answer(0);
	assert_int_equal(rt_start(tracker), 0);
	answer_bytes(1, RT_END_DURATION, 0, NULL, 0);
	assert_int_equal(rt_get_state(tracker), RT_STATE_STOPPED);
	answer(-EIO);
	assert_int_equal(rt_stop(tracker), -EIO);
}

static void samples_are_waited_for_there(void **state)
{
	(void)state;
	answer(0);
	assert_int_equal(rt_start(tracker), 0);
	answer(5);
	assert_int_equal(rt_wait_for_samples(tracker, 5, 0), 0);
	/* Too few, or none, and it runs. */
	answer(0);
	answer(0);
	assert_int_equal(rt_wait_for_samples(tracker, 5, 0), -ETIMEDOUT);
	answer(4);
	answer(0);
	assert_int_equal(rt_wait_for_samples(tracker, 5, 0), -ETIMEDOUT);
	/* It comes while the caller waits, for a time or for ever. */
	for (int i = 0; i < 3; i++) {
		static const double TIMEOUTS_SECS[] = {600, 1e300, -1};

		answer(4);
		answer(0);
		answer(5);
		assert_int_equal(rt_wait_for_samples(tracker, 5, TIMEOUTS_SECS[i]), 0);
	}
	/* The missing one came with the end. */
	answer(4);
	answer_bytes(1, RT_END_EXIT, 0, NULL, 0);
	answer(5);
	assert_int_equal(rt_wait_for_samples(tracker, 5, -1), 0);
	/* Now it has stopped. */
	answer(4);
	answer(4);
	assert_int_equal(rt_wait_for_samples(tracker, 5, -1), -ESHUTDOWN);
	answer(-ENOMEM);
	assert_int_equal(rt_wait_for_samples(tracker, 5, -1), -ENOMEM);
	answer(-EPIPE);
	assert_int_equal(rt_wait_for_samples(tracker, 5, -1), -ESHUTDOWN);
}

static void the_process_has_a_number(void **state)
{
	(void)state;
	tracker->apart->pid = 4711;
	assert_int_equal(rt_recorder_pid(tracker), 4711);
	tracker->apart->pid = 0;
	apart_close(tracker);
	assert_null(tracker->apart);
	assert_int_equal(rt_recorder_pid(tracker), 0);
	apart_close(tracker);
}

#define unit_test_of_answers(test) cmocka_unit_test_setup_teardown(test, begin_apart, end_apart)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_answers(the_length_of_the_history_is_asked_for),
		unit_test_of_answers(rows_come_in_answers_of_2048),
		unit_test_of_answers(fewer_rows_end_with_an_empty_answer),
		unit_test_of_answers(a_wrong_number_of_rows_is_refused),
		unit_test_of_answers(a_name_that_no_column_has_is_not_asked_for),
		unit_test_of_answers(a_value_is_that_of_the_other_process),
		unit_test_of_answers(a_text_stays_after_the_next_question),
		unit_test_of_answers(texts_are_asked_for_by_their_kind),
		unit_test_of_answers(a_snapshot_that_is_not_one_is_refused),
		unit_test_of_answers(instances_are_counted_there),
		unit_test_of_answers(a_recording_is_over_if_the_other_process_says_so_or_is_gone),
		unit_test_of_answers(starting_and_stopping_happen_there),
		unit_test_of_answers(a_recording_that_has_ended_there_is_stopped_here),
		unit_test_of_answers(samples_are_waited_for_there),
		unit_test_of_answers(the_process_has_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
