/* Tests of src/remote/ and src/helper_cli/remote_recorder.c: messages, and recording in another process. */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "remote/remote_message.h"
#include "resource_tracker.h"

static rt_config *config_of(const char *const *settings)
{
	const char *under = getenv("TEST_UNDER");
	rt_config *config;
	char pid[24], helper[4096];

	if (under && strcmp(under, "emulator") == 0)
		SKIP("an emulator starts no program of its machine");
	snprintf(helper, sizeof helper, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	setenv("TRACKER_HELPER", helper, 1);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	assert_int_equal(rt_config_new(&config), 0);
	assert_int_equal(rt_config_set(config, "pid", pid), 0);
	assert_int_equal(rt_config_set(config, "interval", "0.01"), 0);
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	assert_int_equal(rt_config_set_history(config, INT64_MAX, NULL), 0);
	rt_config_set_apart(config, true);
	return config;
}

#define CONFIG(...) config_of((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static rt_tracker *start(rt_config *config)
{
	rt_tracker *remote = NULL;

	if (rt_open(config, &remote) < 0)
		fail_msg("%s", rt_config_message(config));
	rt_config_free(config);
	assert_int_equal(rt_start(remote), 0);
	return remote;
}

static void wait_for(rt_tracker *remote, int64_t samples)
{
	const struct timespec pause = {0, 5000000};
	int64_t count;

	for (int i = 0; (count = rt_sample_count(remote)) < samples && i < 12000; i++) {
		assert_true(count >= 0);
		nanosleep(&pause, NULL);
	}
	assert_true(count >= samples);
}

static void remote_recorder_records_and_is_invisible_to_wait(void **state)
{
	rt_config *config = CONFIG("output", "run.jsonl", "job-name", "elsewhere");
	rt_tracker *remote = start(config);
	double values[3000], children[3000];
	char *json = NULL, *text;
	int64_t first = -1, count;
	size_t bytes = 0;

	(void)state;
	wait_for(remote, 5);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_true(rt_recorder_pid(remote) > 1 && rt_recorder_pid(remote) != getpid());
	assert_int_equal(rt_stop(remote), 0);
	assert_int_equal(rt_stop(remote), -EALREADY);
	count = rt_history_count(remote, &first, &bytes);
	assert_true(count >= 6 && count < 3000 && bytes > 0);
	assert_int_equal(first, 0);
	assert_int_equal(rt_sample_count(remote), count);
	assert_int_equal(rt_history_read(remote, "process", "pid", 0, 3000, values), count);
	assert_int_equal(rt_history_read(remote, "process", "children", 0, 3000, children), count);
	for (int64_t i = 0; i < count; i++) {
		assert_true(values[i] == getpid());
		assert_true(children[i] == 0);
	}
	assert_int_equal(rt_history_read(remote, NULL, "sample", 2, 2, values), 2);
	assert_true(values[0] == 2 && values[1] == 3);
	assert_int_equal(rt_history_read(remote, NULL, "no.such.metric", 0, 2, values), -ENOENT);
	assert_int_equal(rt_sample_json(remote, &json), 0);
	assert_non_null(strstr(json, "\"job_name\":\"elsewhere\""));
	free(json);
	assert_int_equal(rt_next_warning(remote, (char[100]){0}, 100), -ENOENT);
	rt_close(remote);
	text = get_file("run.jsonl", NULL);
	assert_non_null(strstr(text, "\"run_end\":{"));
	/* In that process, the process is the tracker's own. */
	assert_null(strstr(text, "\"tracker\":{\"cpu_secs\":null,\"rss_mib\":null"));
	assert_null(strstr(text, "\"rss_mib\":null"));
	free(text);
}

/* A program uses this tracker in the same way as a tracker with a thread. */
static void calls_read_as_of_any_tracker(void **state)
{
	rt_tracker *remote = start(CONFIG("output", "read.jsonl", "tag", "a=b"));
	enum rt_end_reason reason = 0;
	struct rt_value value;
	char *text;

	(void)state;
	assert_int_equal(rt_start(remote), -EALREADY);
	assert_int_equal(rt_wait_for_samples(remote, 3, 60), 0);
	assert_int_equal(rt_wait_for_samples(remote, INT64_MAX, 0.02), -ETIMEDOUT);
	assert_int_equal(rt_get_state(remote), RT_STATE_RUNNING);
	assert_false(rt_over(remote, &reason));
	assert_string_equal(basename(rt_output_path(remote, 0)), "read.jsonl");
	assert_null(rt_output_path(remote, 1));
	assert_int_equal(rt_get(remote, rt_metric_find("tracked_pid"), 0, &value), 0);
	assert_true(value.type == RT_TYPE_COUNT && value.count == getpid());
	assert_int_equal(rt_get_named(remote, "memory.total_mib", &value), 0);
	assert_true(value.type == RT_TYPE_REAL && value.real > 1);
	assert_int_equal(rt_get_named(remote, "cpu.process_cpu_source", &value), 0);
	assert_string_equal(value.text, "clock");
	assert_int_equal(rt_get_named(remote, "job_name", &value), 0);
	assert_int_equal(value.type, RT_TYPE_NONE);
	assert_string_equal(rt_reason(value.reason), "it was not given or not requested");
	assert_int_equal(rt_get_named(remote, "no.such.metric", &value), -ENOENT);
	assert_true(rt_instance_count(remote, rt_metric_find("cpu.per_core_pct")) >= 1);
	assert_int_equal(rt_explain_absent(remote, &text), 0);
	assert_non_null(strstr(text, "job_name: it was not given"));
	free(text);
	assert_int_equal(rt_stop_with(remote, RT_END_EXIT, 3 << 8), 0);
	assert_true(rt_over(remote, &reason) && reason == RT_END_EXIT);
	assert_int_equal(rt_get_state(remote), RT_STATE_STOPPED);
	assert_int_equal(rt_wait_for_samples(remote, INT64_MAX, -1), -ESHUTDOWN);
	rt_close(remote);
	text = get_file("read.jsonl", NULL);
	assert_non_null(strstr(text, "\"exit_code\":3"));
	free(text);
}

/* Only a tracker of this process can be sampled by hand. A recording that never began has no samples. */
static void calls_that_drive_the_sampling_are_refused(void **state)
{
	rt_config *config = CONFIG("output", "none.jsonl");
	rt_tracker *remote = NULL;
	struct rt_value value;

	(void)state;
	assert_int_equal(rt_open(config, &remote), 0);
	rt_config_free(config);
	assert_int_equal(rt_get_state(remote), RT_STATE_READY);
	assert_int_equal(rt_stop(remote), -ENOTCONN);
	assert_int_equal(rt_track(remote, getpid(), false), -ENOTSUP);
	assert_int_equal(rt_job_cgroup(remote), -ENOTSUP);
	assert_int_equal(rt_sample(remote), -ENOTSUP);
	assert_int_equal(rt_sample_due(remote), -ENOTSUP);
	assert_true(rt_next_sample_ns(remote) == INT64_MAX);
	assert_int_equal(rt_finish(remote, RT_END_TRACKER_STOPPED, 0), -ENOTSUP);
	assert_int_equal(rt_wait_for_upload(remote, 0), -ENOTSUP);
	assert_int_equal(rt_upload_answer(remote, NULL), -ENOTSUP);
	assert_int_equal(rt_exclude(remote, getpid()), -ENOTSUP);
	assert_int_equal(rt_add_signal(remote, SIGTERM, 0), -ENOTSUP);
	assert_int_equal(rt_before_reap(remote, 1), -ENOTSUP);
	usleep(50000);
	assert_int_equal(rt_sample_count(remote), 0);
	assert_int_equal(rt_get_named(remote, "memory.total_mib", &value), -ENODATA);
	rt_close(remote);
}

/* Settings of the command and variables are passed on; neither is in the caller's own environment. */
static void everything_that_was_set_goes_along(void **state)
{
	rt_config *config = CONFIG("output", "run.jsonl", "tag", "a=b c", "record-command", "1");
	char *const argv[] = {(char[]){"job"}, (char[]){""}, (char[]){"two words"}, NULL};
	char path[64], *text, environment[65536];
	rt_tracker *remote;
	ssize_t length;
	int fd;

	(void)state;
	assert_int_equal(rt_config_set_command(config, argv), 0);
	assert_int_equal(rt_config_set_variable(config, "TRACKER_UPLOAD_INTERVAL", "77"), 0);
	remote = start(config);
	snprintf(path, sizeof path, "/proc/%d/environ", (int)rt_recorder_pid(remote));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, environment, sizeof environment);
	if (fd >= 0)
		close(fd);
	assert_true(length < 0 || memmem(environment, (size_t)length, "TRACKER_UPLOAD_INTERVAL=77", 26));
	assert_null(getenv("TRACKER_UPLOAD_INTERVAL"));
	wait_for(remote, 1);
	rt_close(remote);
	text = get_file("run.jsonl", NULL);
	assert_non_null(strstr(text, "\"command\":\"[\\\"job\\\",\\\"\\\",\\\"two words\\\"]\""));
	assert_non_null(strstr(text, "\"a\":\"b c\""));
	free(text);
}

/* A snapshot of another process has the values that its samples have, of one moment. */
static void snapshots_come_from_the_other_process(void **state)
{
	rt_tracker *remote = start(CONFIG("interval", "0.02"));
	struct rt_snapshot_entry entry = {.size = sizeof entry};
	struct rt_value pid, number, again;
	rt_snapshot *snapshot = NULL;
	size_t count = 0, texts = 0;

	(void)state;
	while (rt_snapshot_take(remote, &snapshot) == -ENODATA)
		usleep(1000);
	assert_non_null(snapshot);
	assert_int_equal(rt_snapshot_get_named(snapshot, "tracked_pid", &pid), 0);
	assert_int_equal(pid.count, getpid());
	assert_int_equal(rt_snapshot_get_named(snapshot, "sample", &number), 0);
	assert_int_equal(rt_wait_for_samples(remote, number.count + 3, 60), 0);
	assert_int_equal(rt_snapshot_get_named(snapshot, "sample", &again), 0);
	assert_int_equal(again.count, number.count);
	for (; rt_snapshot_each(snapshot, &entry) > 0; count++)
		texts += entry.value.type == RT_TYPE_TEXT;
	assert_true(count > 100 && texts > 3);
	rt_close(remote);
	assert_int_equal(rt_snapshot_get_named(snapshot, "job_name", &again), 0);
	assert_string_equal(rt_reason(again.reason), "it was not given or not requested");
	rt_snapshot_free(snapshot);
}

/* More rows than fit in one answer. */
static void long_histories_come_in_parts(void **state)
{
	rt_config *config = CONFIG("interval", "0.001", "metrics", "cpu.load_1m", "no-process", "1");
	rt_tracker *remote;
	double *values = malloc(70000 * sizeof *values);
	int64_t count;

	(void)state;
	assert_int_equal(rt_config_set_history(config, INT64_MAX, "sample"), 0);
	remote = start(config);
	wait_for(remote, 2100);
	assert_int_equal(rt_stop(remote), 0);
	count = rt_history_read(remote, NULL, "sample", 0, 70000, values);
	assert_int_equal(count, rt_sample_count(remote));
	for (int64_t i = 0; i < count; i++)
		assert_true(values[i] == (double)i);
	free(values);
	rt_close(remote);
}

/* A caller that adopts orphans becomes its parent, but it does not belong to the caller's job. */
static void it_is_outside_the_tracked_tree(void **state)
{
	rt_tracker *remote;
	double children[2000];
	ssize_t count;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	remote = start(CONFIG("interval", "0.02"));
	wait_for(remote, 5);
	count = rt_history_read(remote, "process", "children", 0, 2000, children);
	assert_true(count >= 5);
	for (ssize_t i = 0; i < count; i++)
		assert_true(children[i] == 0);
	rt_close(remote);
	for (int i = 0; i < 1000 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
		usleep(5000);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void problems_are_told(void **state)
{
	rt_config *config = CONFIG("pid", "2147483647");
	rt_tracker *remote = NULL, *other = NULL;

	(void)state;
	assert_int_equal(rt_open(config, &remote), -ESRCH);
	assert_non_null(strstr(rt_config_message(config), "2147483647"));
	rt_config_free(config);
	config = CONFIG("output", "-");
	assert_int_equal(rt_open(config, &remote), -EINVAL);
	assert_non_null(strstr(rt_config_message(config), "stream"));
	rt_config_free(config);
	assert_null(remote);
	remote = start(CONFIG("output", "taken.jsonl"));
	config = CONFIG("output", "taken.jsonl");
	assert_int_equal(rt_open(config, &other), -EBUSY);
	setenv("TRACKER_HELPER", "/no/such/helper", 1);
	assert_int_equal(rt_open(config, &other), -ENOENT);
	rt_config_free(config);
	rt_close(remote);
	rt_close(NULL);
}

static void the_other_process_may_die(void **state)
{
	rt_tracker *remote = start(CONFIG("interval", "0.05"));
	double value;

	(void)state;
	assert_int_equal(kill(rt_recorder_pid(remote), SIGKILL), 0);
	while (rt_sample_count(remote) != -EPIPE)
		usleep(1000);
	assert_int_equal(rt_history_read(remote, NULL, "sample", 0, 1, &value), -EPIPE);
	assert_int_equal(rt_stop(remote), -EPIPE);
	rt_close(remote);
}

/* If the caller is killed, the recording still gets its end. */
static void a_killed_caller_leaves_a_whole_recording(void **state)
{
	pid_t caller;
	bool ended = false;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	caller = fork();
	if (caller == 0) {
		rt_tracker *remote = start(CONFIG("output", "left.jsonl", "keep-running", "1"));

		wait_for(remote, 3);
		kill(getpid(), SIGKILL);
	}
	waitpid(caller, NULL, 0);
	for (int i = 0; i < 6000 && !ended; i++) {
		char *text = get_file("left.jsonl", NULL);

		ended = strstr(text, "\"run_end\":{") != NULL;
		free(text);
		usleep(10000);
	}
	assert_true(ended);
}

static void a_forked_child_leaves_it_alone(void **state)
{
	rt_tracker *remote;
	pid_t child;
	int status;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	remote = start(CONFIG("interval", "0.02"));
	child = fork();
	if (child == 0) {
		double value;
		bool inert = rt_sample_count(remote) == -ECHILD &&
			     rt_history_read(remote, NULL, "sample", 0, 1, &value) == -ECHILD &&
			     rt_stop(remote) == -ECHILD;

		rt_close(remote);
		_exit(inert ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	wait_for(remote, rt_sample_count(remote) + 3);
	rt_close(remote);
}

/* Calls until the recording is over, and once more after it. */
static void *ask_until_over(void *remote)
{
	bool over;

	do {
		struct rt_value value;
		char *json = NULL;

		over = rt_get_state(remote) == RT_STATE_STOPPED;
		if (rt_get_named(remote, "host", &value) == 0 && value.type == RT_TYPE_TEXT && !*value.text)
			return remote;
		if (rt_sample_json(remote, &json) == 0 && json[0] != '{')
			return remote;
		free(json);
		if (rt_sample_count(remote) < 0 || !rt_output_path(remote, 0))
			return remote;
	} while (!over);
	return NULL;
}

/* The thread sanitiser runs this test. */
static void two_threads_call_while_a_third_stops(void **state)
{
	rt_tracker *remote = start(CONFIG("output", "run.jsonl"));
	pthread_t threads[2];
	void *wrong;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_until_over, remote), 0);
	wait_for(remote, 5);
	assert_int_equal(rt_stop(remote), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(rt_stop(remote), -EALREADY);
	rt_close(remote);
}

/* A helper that was there before the versions were compared answers with zeroes. */
static void a_helper_of_another_version_is_one_clear_line(void **state)
{
	rt_config *config = CONFIG();
	char script[4096], folder[] = "/tmp/test-remote-XXXXXX", path[64];
	rt_tracker *remote = NULL;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/helper", folder);
	snprintf(script, sizeof script,
		 "#!/bin/sh\n[ \"$1\" = exec ] && exec %s/resource-tracker-helper \"$@\"\n"
		 "head -c 32 /dev/zero\nexec cat >/dev/null\n",
		 getenv("TEST_BUILD"));
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(script, file);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	setenv("TRACKER_HELPER", path, 1);
	assert_int_equal(rt_open(config, &remote), -EPROTO);
	assert_null(remote);
	assert_non_null(strstr(rt_config_message(config), "is of another version than this library"));
	assert_non_null(strstr(rt_config_message(config), rt_version()));
	rt_config_free(config);
	unlink(path);
	rmdir(folder);
}

/* ---- messages --------------------------------------------------------------------------------------- */

static int ends[2];

static void connect_ends(void)
{
	const struct timeval patience = {.tv_usec = 1000};

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	(void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	(void)setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static void messages_arrive_as_they_were_sent(void **state)
{
	const struct remote_message bare = {.what = -ENODATA, .first = 2, .count = INT64_MIN};
	const struct remote_message full = {.what = REMOTE_SAMPLE_JSON, .payload_bytes = 3};
	CLEANUP_BUFFER struct buffer payload = BUFFER(100);
	struct remote_message got;

	(void)state;
	connect_ends();
	assert_int_equal(remote_send(ends[0], &full, "abc"), 0);
	assert_int_equal(remote_send(ends[0], &bare, NULL), 0);
	assert_int_equal(remote_receive(ends[1], &got, &payload), 0);
	assert_int_equal(got.what, REMOTE_SAMPLE_JSON);
	assert_int_equal(payload.length, 3);
	assert_string_equal(payload.data, "abc");
	assert_int_equal(remote_receive(ends[1], &got, &payload), 0);
	assert_true(got.what == -ENODATA && got.first == 2 && got.count == INT64_MIN);
	/* The earlier payload is gone. */
	assert_int_equal(payload.length, 0);
	close(ends[0]);
	close(ends[1]);
}

/* Larger than a socket takes at once, from another process. */
static void a_long_payload_comes_in_pieces(void **state)
{
	enum { BYTES = 3000000 };
	const struct remote_message message = {.payload_bytes = BYTES};
	CLEANUP_BUFFER struct buffer payload = BUFFER(BYTES + 1);
	struct remote_message got;
	char *bytes = malloc(BYTES);
	pid_t sender;

	(void)state;
	for (int i = 0; i < BYTES; i++)
		bytes[i] = (char)(i % 251);
	connect_ends();
	sender = fork();
	if (sender == 0)
		_exit(remote_send(ends[1], &message, bytes) == 0 ? 0 : 1);
	close(ends[1]);
	(void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 60},
			 sizeof(struct timeval));
	assert_int_equal(remote_receive(ends[0], &got, &payload), 0);
	assert_int_equal(payload.length, BYTES);
	assert_memory_equal(payload.data, bytes, BYTES);
	assert_int_equal(remote_receive(ends[0], &got, &payload), -EPIPE);
	assert_int_equal(waitpid(sender, NULL, 0), sender);
	close(ends[0]);
	free(bytes);
}

static void messages_that_do_not_arrive(void **state)
{
	const struct remote_message message = {.payload_bytes = 1000};
	CLEANUP_BUFFER struct buffer payload = BUFFER(100);
	static char bytes[1000];
	struct remote_message got;
	int error;

	(void)state;
	connect_ends();
	/* No answer, and then half of one. */
	assert_int_equal(remote_receive(ends[0], &got, &payload), -ETIMEDOUT);
	assert_int_equal(write(ends[1], &message, 8), 8);
	assert_int_equal(remote_receive(ends[0], &got, &payload), -ETIMEDOUT);
	/* It does not fit. */
	assert_int_equal(remote_send(ends[0], &message, bytes), 0);
	assert_int_equal(remote_receive(ends[1], &got, &payload), -EMSGSIZE);
	/* The other end does not read, and then closes. */
	while ((error = remote_send(ends[0], &message, bytes)) == 0)
		;
	assert_int_equal(error, -ETIMEDOUT);
	close(ends[1]);
	assert_int_equal(remote_send(ends[0], &message, bytes), -EPIPE);
	assert_int_equal(remote_receive(ends[0], &got, &payload), -EPIPE);
	close(ends[0]);
	/* It ends within the payload. */
	connect_ends();
	assert_int_equal(write(ends[1], &(struct remote_message){.payload_bytes = 50}, sizeof message),
			 sizeof message);
	assert_int_equal(write(ends[1], bytes, 49), 49);
	close(ends[1]);
	assert_int_equal(remote_receive(ends[0], &got, &payload), -EPIPE);
	close(ends[0]);
}

static void values_are_packed_in_two_numbers(void **state)
{
	static const struct rt_value VALUES[] = {
		{.type = RT_TYPE_REAL, .real = -0.1},      {.type = RT_TYPE_COUNT, .count = INT64_MIN},
		{.type = RT_TYPE_COUNT, .count = 5},       {.type = RT_TYPE_NONE, .reason = EACCES},
		{.type = RT_TYPE_NONE, .reason = 1 << 20}, {.type = RT_TYPE_TEXT, .text = "text"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(VALUES); i++) {
		struct remote_message message = {.first = 77};
		struct rt_value value;

		remote_value_pack(&VALUES[i], &message);
		value = remote_value_unpack(&message);
		assert_int_equal(value.type, VALUES[i].type);
		assert_int_equal(value.reason, VALUES[i].reason);
		if (value.type == RT_TYPE_TEXT) /* the text is the payload, not a pointer of this process */
			assert_int_equal(message.first, 0);
		else if (value.type == RT_TYPE_REAL)
			assert_true(value.real == VALUES[i].real);
		else
			assert_int_equal(value.count, VALUES[i].count);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(remote_recorder_records_and_is_invisible_to_wait),
		unit_test_in_scratch(calls_read_as_of_any_tracker),
		unit_test_in_scratch(calls_that_drive_the_sampling_are_refused),
		unit_test_in_scratch(everything_that_was_set_goes_along),
		unit_test_in_scratch(snapshots_come_from_the_other_process),
		unit_test_in_scratch(long_histories_come_in_parts),
		unit_test_in_scratch(it_is_outside_the_tracked_tree),
		unit_test_in_scratch(problems_are_told),
		unit_test_in_scratch(the_other_process_may_die),
		unit_test_in_scratch(a_killed_caller_leaves_a_whole_recording),
		unit_test_in_scratch(a_forked_child_leaves_it_alone),
		unit_test_in_scratch(two_threads_call_while_a_third_stops),
		cmocka_unit_test(a_helper_of_another_version_is_one_clear_line),
		cmocka_unit_test(messages_arrive_as_they_were_sent),
		cmocka_unit_test(a_long_payload_comes_in_pieces),
		cmocka_unit_test(messages_that_do_not_arrive),
		cmocka_unit_test(values_are_packed_in_two_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
