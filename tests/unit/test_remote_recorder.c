/* Tests of src/helper_cli/remote_recorder.c: its answers to each question, by messages, and when it samples and ends. */
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "helper_cli/remote_recorder.h"
#include "remote/remote_message.h"

enum { LAST_QUESTION = REMOTE_STOP, READ_MOST = 2048 };

static int ends[2]; /* the second is the recorder's */
static pid_t recorder;
static struct remote_message answer;
static struct buffer payload, given;

static int begin(void **state)
{
	if (scratch_enter(state) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	payload = BUFFER(32 << 20);
	given = BUFFER(32 << 20);
	recorder = fork();
	if (recorder == 0) {
		alarm(120);
		close(ends[0]);
		_exit(remote_recorder_main(ends[1]));
	}
	close(ends[1]);
	return 0;
}

static void wait_for_its_end(void)
{
	int status;

	close(ends[0]);
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
	recorder = 0;
}

static int end(void **state)
{
	if (recorder) {
		kill(recorder, SIGKILL);
		waitpid(recorder, NULL, 0);
		close(ends[0]);
	}
	buffer_done(&payload);
	buffer_done(&given);
	return scratch_leave(state);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

static int64_t ask_with(int64_t what, int64_t first, int64_t count, const void *bytes, size_t length)
{
	const struct remote_message question = {
		.what = what, .first = first, .count = count, .payload_bytes = length};

	assert_int_equal(remote_send(ends[0], &question, bytes), 0);
	assert_int_equal(remote_receive(ends[0], &answer, &payload), 0);
	return answer.what;
}

static int64_t ask(int64_t what)
{
	return ask_with(what, 0, 0, NULL, 0);
}

static int64_t ask_text(int64_t what, int64_t first, const char *text)
{
	return ask_with(what, first, 0, text, strlen(text) + 1);
}

static void give(const char *name, const char *value)
{
	buffer_add(&given, name, strlen(name) + 1);
	buffer_add(&given, value, strlen(value) + 1);
}

static void give_pid(pid_t pid)
{
	char text[24];

	snprintf(text, sizeof text, "%d", (int)pid);
	give("pid", text);
}

/* The answer of "open" with all that was given. */
static int64_t open_with(int64_t history)
{
	return ask_with(REMOTE_OPEN, RT_VERSION_NUMBER, history, given.data, given.length);
}

/* Opens a recorder that samples each 10 ms and keeps all samples, with two outputs. */
static void open_one(const char *interval)
{
	give_pid(getpid());
	give("interval", interval);
	give("output", "run.jsonl");
	give("output csv", "run.csv");
	give("history", "");
	assert_int_equal(open_with(INT64_MAX), 0);
}

static void wait_for(int64_t samples)
{
	while (ask(REMOTE_SAMPLE_COUNT) < samples) {
		assert_true(answer.what >= 0);
		usleep(2000);
	}
}

static double number_at(size_t index)
{
	double number;

	assert_true((index + 1) * sizeof number <= payload.length);
	memcpy(&number, payload.data + index * sizeof number, sizeof number);
	return number;
}

/* ---- before it records ------------------------------------------------------------------------------------------ */

static void before_it_is_open_every_question_is_refused(void **state)
{
	(void)state;
	for (int64_t what = -1; what <= LAST_QUESTION + 1; what++)
		if (what != REMOTE_OPEN) {
			assert_int_equal(ask(what), -EINVAL);
			assert_int_equal(payload.length, 0);
		}
	open_one("10");
	assert_int_equal(ask(0), -EINVAL);
	assert_int_equal(ask(LAST_QUESTION + 1), -EINVAL);
	wait_for_its_end();
}

static void another_version_is_told_and_this_one_opens_once(void **state)
{
	(void)state;
	for (int more = -1; more <= 1; more += 2) {
		assert_int_equal(ask_with(REMOTE_OPEN, RT_VERSION_NUMBER + more, 0, NULL, 0), -EPROTO);
		assert_int_equal(answer.first, RT_VERSION_NUMBER);
		assert_non_null(strstr(payload.data, "resource-tracker-helper is of version "));
	}
	open_one("10");
	assert_int_equal(answer.first, RT_VERSION_NUMBER);
	assert_int_equal(payload.length, 0);
	assert_int_equal(open_with(0), -EALREADY);
	assert_int_equal(payload.length, 0);
	/* The first recorder is still there. */
	assert_int_equal(ask_with(REMOTE_OUTPUT_PATH, 0, 0, NULL, 0), 0);
	wait_for_its_end();
}

static void wrong_settings_are_told_and_right_ones_open_afterwards(void **state)
{
	(void)state;
	/* A name alone, and a value without its end. */
	assert_int_equal(ask_with(REMOTE_OPEN, RT_VERSION_NUMBER, 0, "interval", 9), -EINVAL);
	assert_int_equal(ask_with(REMOTE_OPEN, RT_VERSION_NUMBER, 0,
				  "interval\0"
				  "1",
				  10),
			 -EINVAL);
	assert_int_equal(ask_with(REMOTE_OPEN, RT_VERSION_NUMBER, 0, "argument\0", 9), -EINVAL);
	assert_int_equal(ask_with(REMOTE_OPEN, RT_VERSION_NUMBER, 0, "history", 8), -EINVAL);
	give("no-such-setting", "1");
	give_pid(getpid());
	assert_true(open_with(0) < 0);
	assert_non_null(strstr(payload.data, "no-such-setting"));
	/* The first wrong one is told, and the others are not looked at. */
	buffer_clear(&given);
	give("interval", "never");
	give("no-such-setting", "1");
	assert_int_equal(open_with(0), -EINVAL);
	assert_non_null(strstr(payload.data, "interval"));
	buffer_clear(&given);
	give_pid(INT32_MAX);
	assert_int_equal(open_with(0), -ESRCH);
	assert_non_null(strstr(payload.data, "2147483647"));
	buffer_clear(&given);
	open_one("10");
	wait_for_its_end();
}

/* The last text lacks its end, so it is none: a name of a setting that does not exist would be refused. */
static void a_name_without_its_end_is_left_out(void **state)
{
	(void)state;
	give_pid(getpid());
	buffer_add(&given, "no-such-setting", 15);
	assert_int_equal(open_with(0), 0);
	assert_int_equal(ask(REMOTE_HISTORY_COUNT), -ENODATA);
	wait_for_its_end();
}

/* Other settings may stand between the words of the command. */
static void the_words_of_the_command_are_kept_in_their_order(void **state)
{
	char *text;

	(void)state;
	give("argument", "job");
	give_pid(getpid());
	give("argument", "");
	give("record-command", "1");
	give("output", "run.jsonl");
	give("argument", "two words");
	assert_int_equal(open_with(0), 0);
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(1);
	wait_for_its_end();
	text = get_file("run.jsonl", NULL);
	assert_non_null(strstr(text, "\"command\":\"[\\\"job\\\",\\\"\\\",\\\"two words\\\"]\""));
	free(text);
}

static void a_question_may_have_a_mebibyte(void **state)
{
	(void)state;
	give_pid(getpid());
	give("record-command", "1");
	give("output", "run.jsonl");
	give("tag", "a=b");
	while (given.length < 1000000)
		give("argument", "a word of the command, which is long");
	assert_int_equal(open_with(0), 0);
	while (given.length < 1500000)
		give("argument", "a word of the command, which is long");
	assert_int_equal(
		remote_send(ends[0],
			    &(struct remote_message){.what = REMOTE_OPEN, .payload_bytes = given.length},
			    given.data) == 0
			? remote_receive(ends[0], &answer, &payload)
			: -EPIPE,
		-EPIPE);
	wait_for_its_end();
}

/* ---- while it records ------------------------------------------------------------------------------------------- */

static void values_are_absent_before_the_first_sample(void **state)
{
	(void)state;
	open_one("10");
	assert_int_equal(ask(REMOTE_SAMPLE_COUNT), 0);
	assert_int_equal(ask_text(REMOTE_VALUE, 0, "tracked_pid"), -ENODATA);
	assert_int_equal(ask(REMOTE_SAMPLE_JSON), -ENODATA);
	assert_int_equal(payload.length, 0);
	assert_int_equal(ask(REMOTE_EXPLAIN_ABSENT), -ENODATA);
	assert_int_equal(ask(REMOTE_SNAPSHOT), -ENODATA);
	assert_int_equal(payload.length, 0);
	assert_int_equal(ask(REMOTE_WARNING), -ENOENT);
	assert_int_equal(payload.length, 0);
	assert_int_equal(ask(REMOTE_HISTORY_COUNT), 0);
	assert_int_equal(answer.first, 0);
	assert_int_equal(ask(REMOTE_OVER), 0);
	assert_int_equal(answer.first, 0);
	/* A recording that never began has no samples, however long it waits. */
	usleep(50000);
	assert_int_equal(ask(REMOTE_SAMPLE_COUNT), 0);
	wait_for_its_end();
}

static void values_and_texts_come_with_their_lengths(void **state)
{
	struct rt_value value;

	(void)state;
	open_one("0.01");
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(3);
	assert_int_equal(ask_text(REMOTE_VALUE, 0, "tracked_pid"), 0);
	value = remote_value_unpack(&answer);
	assert_true(value.type == RT_TYPE_COUNT && value.count == getpid());
	assert_int_equal(payload.length, 0);
	assert_int_equal(ask_text(REMOTE_VALUE, 0, "cpu.process_cpu_source"), 0);
	assert_string_equal(payload.data, "clock");
	assert_int_equal(ask_text(REMOTE_VALUE, 0, "no.such.metric"), -ENOENT);
	/* Without a name, the number of a metric and the row. */
	assert_int_equal(ask_with(REMOTE_VALUE, rt_metric_find("tracked_pid"), 0, NULL, 0), 0);
	assert_int_equal(remote_value_unpack(&answer).count, getpid());
	assert_int_equal(ask_with(REMOTE_VALUE, rt_metric_find("cpu.per_core_pct"), 0, NULL, 0), 0);
	assert_int_equal(ask_with(REMOTE_VALUE, rt_metric_find("cpu.per_core_pct"), -1, NULL, 0), -ENOENT);
	assert_int_equal(ask_with(REMOTE_VALUE, rt_metric_find("cpu.per_core_pct"), 1 << 20, NULL, 0),
			 -ENOENT);
	assert_int_equal(ask_with(REMOTE_INSTANCES, rt_metric_find("tracked_pid"), 0, NULL, 0), 1);
	assert_int_equal(ask(REMOTE_SAMPLE_JSON), 0);
	assert_true(payload.data[0] == '{' && payload.data[payload.length - 1] == '}');
	assert_int_equal(ask(REMOTE_EXPLAIN_ABSENT), 0);
	assert_true(payload.length > 0 && strlen(payload.data) == payload.length);
	assert_int_equal(ask(REMOTE_SNAPSHOT), 0);
	assert_true(payload.length > 1000);
	assert_int_equal(ask_with(REMOTE_OUTPUT_PATH, 0, 0, NULL, 0), 0);
	assert_string_equal(basename(payload.data), "run.jsonl");
	assert_int_equal(ask_with(REMOTE_OUTPUT_PATH, 1, 0, NULL, 0), 0);
	assert_string_equal(basename(payload.data), "run.csv");
	assert_int_equal(ask_with(REMOTE_OUTPUT_PATH, 2, 0, NULL, 0), -ENOENT);
	assert_int_equal(ask_with(REMOTE_OUTPUT_PATH, -1, 0, NULL, 0), -ENOENT);
	wait_for_its_end();
}

static int64_t read_rows(const char *layout_and_column, size_t length, int64_t first, int64_t count)
{
	return ask_with(REMOTE_HISTORY_READ, first, count, layout_and_column, length);
}

static void rows_of_the_history_come_in_parts(void **state)
{
	int64_t count;

	(void)state;
	give_pid(getpid());
	give("interval", "0.001");
	give("metrics", "cpu.load_1m");
	give("no-process", "1");
	give("history", "sample");
	assert_int_equal(open_with(INT64_MAX), 0);
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(READ_MOST + 10);
	assert_int_equal(ask_with(REMOTE_STOP, RT_END_TRACKER_STOPPED, 0, NULL, 0), 0);
	count = ask(REMOTE_SAMPLE_COUNT);
	assert_int_equal(ask(REMOTE_HISTORY_COUNT), count);
	assert_int_equal(answer.first, 0);
	assert_true(answer.count >= count);
	assert_int_equal(read_rows("\0sample", 8, 0, INT64_MAX), READ_MOST);
	assert_int_equal(payload.length, READ_MOST * sizeof(double));
	assert_true(number_at(0) == 0 && number_at(READ_MOST - 1) == READ_MOST - 1);
	assert_int_equal(read_rows("\0sample", 8, 5, 1), 1);
	assert_true(payload.length == sizeof(double) && number_at(0) == 5);
	assert_int_equal(read_rows("\0sample", 8, READ_MOST, INT64_MAX), count - READ_MOST);
	assert_int_equal(read_rows("\0sample", 8, 0, 0), 0);
	assert_int_equal(read_rows("\0sample", 8, 0, -1), 0);
	assert_int_equal(payload.length, 0);
	/* Another metric has no rows, and a request without one of the two names is invalid. */
	assert_int_equal(read_rows("\0cpu.load_5m", 13, 0, 1), -ENOENT);
	assert_int_equal(payload.length, 0);
	assert_int_equal(read_rows("no-such-layout\0sample", 22, 0, 1), -ENOENT);
	assert_int_equal(read_rows("\0sample", 7, 0, 1), -EINVAL);
	assert_int_equal(read_rows("", 1, 0, 1), -EINVAL);
	assert_int_equal(read_rows(NULL, 0, 0, 1), -EINVAL);
	wait_for_its_end();
}

/* CPU time of the recorder while this test sleeps: one that waits uses none. */
static int64_t cpu_in_half_a_second(void)
{
	struct timespec before, after;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(recorder, &clock), 0);
	assert_int_equal(clock_gettime(clock, &before), 0);
	usleep(500000);
	assert_int_equal(clock_gettime(clock, &after), 0);
	return (after.tv_sec - before.tv_sec) * NSEC_PER_SEC + after.tv_nsec - before.tv_nsec;
}

/* A quarter of what a loop would use beside four others on one processor. */
#define WAITING_MOST_NS (25 * NSEC_PER_MSEC)

static void it_sleeps_until_the_next_sample_or_question(void **state)
{
	struct remote_message stop = {.what = REMOTE_STOP, .first = RT_END_TRACKER_STOPPED};

	(void)state;
	open_one("3600");
	assert_true(cpu_in_half_a_second() < WAITING_MOST_NS);
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(0);
	assert_true(cpu_in_half_a_second() < WAITING_MOST_NS);
	/* A second later, so that odd and even seconds are left to wait. */
	usleep(500000);
	wait_for(0);
	assert_true(cpu_in_half_a_second() < WAITING_MOST_NS);
	assert_int_equal(ask_with(stop.what, stop.first, 0, NULL, 0), 0);
	assert_true(cpu_in_half_a_second() < WAITING_MOST_NS);
	wait_for_its_end();
}

static int lines_of(const char *path)
{
	char *text = get_file(path, NULL);
	int count = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	free(text);
	return count;
}

/* More than a second apart, and nothing is asked meanwhile. */
static void samples_are_taken_though_no_question_comes(void **state)
{
	(void)state;
	open_one("1.1");
	assert_int_equal(ask(REMOTE_START), 0);
	for (int i = 0; i < 12000 && lines_of("run.jsonl") < 2; i++)
		usleep(5000);
	assert_int_equal(lines_of("run.jsonl"), 2);
	wait_for_its_end();
}

/* ---- its end ---------------------------------------------------------------------------------------------------- */

static void a_recording_starts_once_and_ends_once(void **state)
{
	char *text;
	int64_t count;

	(void)state;
	open_one("0.01");
	assert_int_equal(ask(REMOTE_START), 0);
	assert_int_equal(ask(REMOTE_START), -EALREADY);
	wait_for(2);
	assert_int_equal(ask(REMOTE_OVER), 0);
	assert_int_equal(ask_with(REMOTE_STOP, RT_END_EXIT, 3 << 8, NULL, 0), 0);
	count = ask(REMOTE_SAMPLE_COUNT);
	assert_int_equal(ask(REMOTE_OVER), 1);
	assert_int_equal(answer.first, RT_END_EXIT);
	assert_int_equal(ask_with(REMOTE_STOP, RT_END_EXIT, 4 << 8, NULL, 0), -EALREADY);
	assert_int_equal(ask(REMOTE_START), -ESHUTDOWN);
	usleep(50000);
	assert_int_equal(ask(REMOTE_SAMPLE_COUNT), count);
	wait_for_its_end();
	text = get_file("run.jsonl", NULL);
	assert_non_null(strstr(text, "\"exit_code\":3"));
	free(text);
}

static void assert_ended(const char *reason)
{
	char *text = get_file("run.jsonl", NULL), wanted[64];

	snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", reason);
	if (!strstr(text, "\"run_end\":{") || !strstr(text, wanted))
		fail_msg("%s", text);
	free(text);
}

static void a_closed_connection_finishes_the_recording(void **state)
{
	(void)state;
	open_one("0.01");
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(2);
	wait_for_its_end();
	assert_ended("tracker_stopped");
}

static void half_a_question_finishes_the_recording(void **state)
{
	(void)state;
	open_one("0.01");
	assert_int_equal(ask(REMOTE_START), 0);
	assert_int_equal(write(ends[0], &(struct remote_message){.what = REMOTE_OVER}, 8), 8);
	shutdown(ends[0], SHUT_WR);
	wait_for_its_end();
	assert_ended("tracker_stopped");
}

/* The job's end is noticed although the caller asks nothing. */
static void the_end_of_the_job_finishes_the_recording(void **state)
{
	pid_t job = fork();

	(void)state;
	if (job == 0) {
		pause();
		_exit(0);
	}
	give_pid(job);
	give("interval", "0.01");
	give("output", "run.jsonl");
	assert_int_equal(open_with(0), 0);
	assert_int_equal(ask(REMOTE_START), 0);
	wait_for(2);
	assert_int_equal(ask(REMOTE_OVER), 0);
	kill(job, SIGKILL);
	assert_int_equal(waitpid(job, NULL, 0), job);
	while (ask(REMOTE_OVER) == 0)
		usleep(2000);
	assert_int_equal(answer.first, RT_END_TARGET_EXITED);
	assert_ended("target_exited");
	assert_int_equal(ask_with(REMOTE_STOP, RT_END_EXIT, 0, NULL, 0), -EALREADY);
	wait_for_its_end();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(before_it_is_open_every_question_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(another_version_is_told_and_this_one_opens_once, begin, end),
		cmocka_unit_test_setup_teardown(wrong_settings_are_told_and_right_ones_open_afterwards, begin,
						end),
		cmocka_unit_test_setup_teardown(a_name_without_its_end_is_left_out, begin, end),
		cmocka_unit_test_setup_teardown(the_words_of_the_command_are_kept_in_their_order, begin, end),
		cmocka_unit_test_setup_teardown(a_question_may_have_a_mebibyte, begin, end),
		cmocka_unit_test_setup_teardown(values_are_absent_before_the_first_sample, begin, end),
		cmocka_unit_test_setup_teardown(values_and_texts_come_with_their_lengths, begin, end),
		cmocka_unit_test_setup_teardown(rows_of_the_history_come_in_parts, begin, end),
		cmocka_unit_test_setup_teardown(it_sleeps_until_the_next_sample_or_question, begin, end),
		cmocka_unit_test_setup_teardown(samples_are_taken_though_no_question_comes, begin, end),
		cmocka_unit_test_setup_teardown(a_recording_starts_once_and_ends_once, begin, end),
		cmocka_unit_test_setup_teardown(a_closed_connection_finishes_the_recording, begin, end),
		cmocka_unit_test_setup_teardown(half_a_question_finishes_the_recording, begin, end),
		cmocka_unit_test_setup_teardown(the_end_of_the_job_finishes_the_recording, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
