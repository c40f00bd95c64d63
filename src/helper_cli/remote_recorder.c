/* Records in a process of its own. See remote_recorder.h. One thread samples and answers in turn. */
#include "helper_cli/remote_recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "remote/remote_message.h"
#include "resource_tracker.h"
#include "tracker/snapshot.h"

enum { PAYLOAD_MOST = 1 << 20, ROWS_MOST = 2048, SNAPSHOT_MOST_BYTES = 16 << 20 };

struct recorder {
	int socket;
	rt_tracker *tracker;
	bool started, finished;
	struct buffer question;
	double *values; /* ROWS_MOST values */
};

static int send_answer(const struct recorder *recorder, int64_t result, const void *payload, size_t length)
{
	struct remote_message message = {.what = result, .payload_bytes = length};

	return remote_send(recorder->socket, &message, payload);
}

/* Returns the next text of a payload, or NULL at the end, or if the last NUL is missing. */
static const char *next_text(const struct buffer *payload, size_t *offset)
{
	const char *text = payload->data + *offset;
	const char *end = *offset < payload->length ? memchr(text, '\0', payload->length - *offset) : NULL;

	if (!end)
		return NULL;
	*offset += (size_t)(end - text) + 1;
	return text;
}

/* Three names are not settings: the size of the history, the command, and an output that has a format. */
static int set_one(rt_config *config, const struct remote_message *message, const char *name,
		   const char *value)
{
	if (strcmp(name, "history") == 0)
		return rt_config_set_history(config, message->count, *value ? value : NULL);
	if (strncmp(name, "output ", strlen("output ")) == 0)
		return rt_config_add_output(config, value, name + strlen("output "));
	return strcmp(name, "argument") == 0 ? 0 : rt_config_set(config, name, value);
}

static int set_config_value(rt_config *config, const struct remote_message *message,
			    const struct buffer *given)
{
	/* Each argument takes at least its name and two NULs. */
	CLEANUP_FREE char **argv = calloc(given->length / sizeof "argument" + 1, sizeof *argv);
	size_t offset = 0, argc = 0;
	const char *name, *value;
	int error = argv ? 0 : -ENOMEM;

	while (!error && (name = next_text(given, &offset))) {
		value = next_text(given, &offset);
		if (!value)
			return -EINVAL;
		if (strcmp(name, "argument") == 0)
			argv[argc++] = (char *)(uintptr_t)value;
		error = set_one(config, message, name, value);
	}
	return error || !argc ? error : rt_config_set_command(config, argv);
}

static int answer_open(const struct recorder *recorder, int result, const char *text)
{
	struct remote_message message = {
		.what = result, .first = RT_VERSION_NUMBER, .payload_bytes = strlen(text)};

	return remote_send(recorder->socket, &message, text);
}

static int open_remote_tracker(struct recorder *recorder, const struct remote_message *message)
{
	rt_config *config = NULL;
	const char *text;
	int error;

	if (message->first != RT_VERSION_NUMBER)
		return answer_open(recorder, -EPROTO, "resource-tracker-helper is of version " RT_VERSION);
	error = recorder->tracker ? -EALREADY : rt_config_new(&config);
	if (!error)
		error = set_config_value(config, message, &recorder->question);
	if (!error) {
		rt_config_set_own_process(config, true);
		error = rt_open(config, &recorder->tracker);
	}
	text = config ? rt_config_message(config) : "";
	error = answer_open(recorder, error, text);
	rt_config_free(config);
	return error;
}

static int answer_text(const struct recorder *recorder, int result, const char *text)
{
	return send_answer(recorder, result, text, result < 0 ? 0 : strlen(text));
}

static int answer_history(struct recorder *recorder, const struct remote_message *message)
{
	size_t offset = 0, count = message->count < 0 ? 0 : (size_t)message->count;
	const char *layout = next_text(&recorder->question, &offset);
	const char *column = next_text(&recorder->question, &offset);
	ssize_t read = -EINVAL;

	if (!recorder->values)
		recorder->values = malloc(ROWS_MOST * sizeof *recorder->values);
	if (!recorder->values)
		read = -ENOMEM;
	else if (layout && column)
		read = rt_history_read(recorder->tracker, *layout ? layout : NULL, column, message->first,
				       count < ROWS_MOST ? count : ROWS_MOST, recorder->values);
	return send_answer(recorder, read, recorder->values,
			   read > 0 ? (size_t)read * sizeof *recorder->values : 0);
}

static int answer_count(const struct recorder *recorder)
{
	struct remote_message message = {0};
	size_t bytes = 0;

	message.what = rt_history_count(recorder->tracker, &message.first, &bytes);
	message.count = (int64_t)bytes;
	return remote_send(recorder->socket, &message, NULL);
}

static int answer_value(const struct recorder *recorder, const struct remote_message *question)
{
	size_t offset = 0, instance = question->count < 0 ? SIZE_MAX : (size_t)question->count;
	const char *name = next_text(&recorder->question, &offset);
	struct remote_message message = {0};
	struct rt_value value = {0};

	message.what = name ? rt_get_named(recorder->tracker, name, &value)
			    : rt_get(recorder->tracker, (rt_metric)question->first, instance, &value);
	if (message.what < 0)
		return remote_send(recorder->socket, &message, NULL);
	remote_value_pack(&value, &message);
	if (value.type == RT_TYPE_TEXT)
		message.payload_bytes = strlen(value.text);
	return remote_send(recorder->socket, &message, value.type == RT_TYPE_TEXT ? value.text : NULL);
}

static int answer_snapshot(const struct recorder *recorder)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(SNAPSHOT_MOST_BYTES);
	int error = tracker_pack_newest(recorder->tracker, &bytes);

	return send_answer(recorder, error, bytes.data, error < 0 ? 0 : bytes.length);
}

static int answer_over(const struct recorder *recorder)
{
	enum rt_end_reason reason = 0;
	struct remote_message message = {.what = rt_over(recorder->tracker, &reason)};

	message.first = reason;
	return remote_send(recorder->socket, &message, NULL);
}

static int start_sampling(struct recorder *recorder)
{
	if (recorder->finished)
		return -ESHUTDOWN;
	if (recorder->started)
		return -EALREADY;
	recorder->started = true;
	return 0;
}

static int finish_recording(struct recorder *recorder, enum rt_end_reason reason, int status)
{
	int error = recorder->finished ? -EALREADY : rt_finish(recorder->tracker, reason, status);

	recorder->finished = true;
	return error;
}

static int answer_question(struct recorder *recorder, const struct remote_message *message)
{
	rt_tracker *tracker = recorder->tracker;
	CLEANUP_FREE char *text = NULL;
	char warning[1024];
	const char *path;
	int error;

	if (message->what != REMOTE_OPEN && !tracker)
		return send_answer(recorder, -EINVAL, NULL, 0);
	switch ((enum remote_question)message->what) {
	case REMOTE_OPEN:
		return open_remote_tracker(recorder, message);
	case REMOTE_HISTORY_COUNT:
		return answer_count(recorder);
	case REMOTE_HISTORY_READ:
		return answer_history(recorder, message);
	case REMOTE_SAMPLE_COUNT:
		return send_answer(recorder, rt_sample_count(tracker), NULL, 0);
	case REMOTE_SAMPLE_JSON:
		error = rt_sample_json(tracker, &text);
		return answer_text(recorder, error, text);
	case REMOTE_EXPLAIN_ABSENT:
		error = rt_explain_absent(tracker, &text);
		return answer_text(recorder, error, text);
	case REMOTE_WARNING:
		error = rt_next_warning(tracker, warning, sizeof warning);
		return answer_text(recorder, error, warning);
	case REMOTE_OUTPUT_PATH:
		path = message->first < 0 ? NULL : rt_output_path(tracker, (size_t)message->first);
		return answer_text(recorder, path ? 0 : -ENOENT, path);
	case REMOTE_VALUE:
		return answer_value(recorder, message);
	case REMOTE_INSTANCES:
		return send_answer(recorder, (int64_t)rt_instance_count(tracker, (rt_metric)message->first),
				   NULL, 0);
	case REMOTE_SNAPSHOT:
		return answer_snapshot(recorder);
	case REMOTE_START:
		return send_answer(recorder, start_sampling(recorder), NULL, 0);
	case REMOTE_OVER:
		return answer_over(recorder);
	case REMOTE_STOP:
		return send_answer(
			recorder,
			finish_recording(recorder, (enum rt_end_reason)message->first, (int)message->count),
			NULL, 0);
	}
	return send_answer(recorder, -EINVAL, NULL, 0);
}

/* Returns 1 if a question has come, 0 if the other end has closed, -EAGAIN if the next sample is due. */
static int wait_for_question(const struct recorder *recorder)
{
	struct pollfd socket = {.fd = recorder->socket, .events = POLLIN};
	int64_t due_ns =
		recorder->started && !recorder->finished ? rt_next_sample_ns(recorder->tracker) : INT64_MAX;
	struct timespec now, timeout = {0};
	int64_t left_ns;
	int ready;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left_ns = due_ns == INT64_MAX ? INT64_MAX : due_ns - (now.tv_sec * 1000000000LL + now.tv_nsec);
	if (left_ns > 0) {
		timeout.tv_sec = (time_t)(left_ns / 1000000000);
		timeout.tv_nsec = (long)(left_ns % 1000000000);
	}
	ready = ppoll(&socket, 1, due_ns == INT64_MAX ? NULL : &timeout, NULL);
	return ready > 0 ? (socket.revents & POLLIN ? 1 : 0) : -EAGAIN;
}

int remote_recorder_main(int socket)
{
	struct recorder recorder = {.socket = socket, .question = BUFFER(PAYLOAD_MOST)};
	enum rt_end_reason reason = RT_END_TRACKER_STOPPED;
	struct remote_message message;

	for (;;) {
		int asked = wait_for_question(&recorder);

		if (recorder.started && !recorder.finished) {
			(void)rt_sample_due(recorder.tracker);
			if (rt_over(recorder.tracker, &reason))
				(void)finish_recording(&recorder, reason, 0);
		}
		if (asked == 0)
			break;
		if (asked < 0)
			continue;
		if (remote_receive(socket, &message, &recorder.question) < 0 ||
		    answer_question(&recorder, &message) < 0)
			break;
	}
	/* If the program exited without a word, its recording is finished as well. */
	rt_close(recorder.tracker);
	buffer_done(&recorder.question);
	free(recorder.values);
	return 0;
}
