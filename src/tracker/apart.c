/*
 * A tracker whose samples another process takes (rt_config_set_apart()): its settings go there, and calls become questions.
 * src/helper_cli/remote_recorder.c answers. All but opening is called with the tracker's lock held.
 */
#include "tracker/apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "launch/detached.h"
#include "launch/find_program.h"
#include "remote/remote_client.h"
#include "tracker/tracker.h"

enum { ROWS_AT_ONCE = 2048 };

/* ---- opening ----------------------------------------------------------------------------------------- */

/* The settings as they were given: name, value, name, value, ..., each with its NUL. */
static int write_settings(const struct rt_config *config, struct buffer *ret_given)
{
	const char *metrics = config->history_metrics ? config->history_metrics : "";

	buffer_add(ret_given, config->given.data, config->given.length);
	buffer_add(ret_given, "history", sizeof "history");
	buffer_add(ret_given, metrics, strlen(metrics) + 1);
	for (size_t i = 0; i < config->argc; i++) {
		buffer_add(ret_given, "argument", sizeof "argument");
		buffer_add(ret_given, config->argv[i], strlen(config->argv[i]) + 1);
	}
	return buffer_error(ret_given) || buffer_error(&config->given) ? -ENOMEM : 0;
}

static int open_there(struct rt_tracker *tracker, struct rt_config *config)
{
	struct remote_message message = {
		.what = REMOTE_OPEN, .first = RT_VERSION_NUMBER, .count = config->history_samples};
	CLEANUP_BUFFER struct buffer given = BUFFER(1 << 20);
	int error = write_settings(config, &given);

	if (error < 0)
		return config_fail(config, error, "out of memory");
	message.payload_bytes = given.length;
	error = (int)remote_client_ask(tracker->apart, &message, given.data);
	if (!tracker->apart->broken && message.first != RT_VERSION_NUMBER)
		return config_fail(config, -EPROTO,
				   "%s is of another version than this library, which is " RT_VERSION
				   ": install both from one package",
				   HELPER_PROGRAM.name);
	if (error < 0 && !tracker->apart->broken && tracker->apart->answer.length)
		return config_fail(config, error, "%s", tracker->apart->answer.data);
	return error < 0 ? config_fail(config, error, "%s", strerror(-error)) : 0;
}

int apart_open(struct rt_tracker *tracker, struct rt_config *config)
{
	CLEANUP_FREE char **environment = config_environment(config);
	int error;

	for (size_t i = 0; i < config->output_count; i++)
		if (config->outputs[i].fd >= 0)
			return config_fail(config, -EINVAL,
					   "output: '%s' is a stream of this process; name a file",
					   config->outputs[i].path);
	tracker->apart = malloc(sizeof *tracker->apart);
	if (!environment || !tracker->apart)
		return config_fail(config, -ENOMEM, "out of memory");
	*tracker->apart = REMOTE_CLIENT;
	error = remote_client_start(tracker->apart, environment);
	if (error < 0)
		return config_fail(config, error, "%s cannot be started: %s", HELPER_PROGRAM.name,
				   strerror(-error));
	return open_there(tracker, config);
}

void apart_close(struct rt_tracker *tracker)
{
	if (!tracker->apart)
		return;
	remote_client_close(tracker->apart);
	if (tracker->apart->pid > 0)
		detached_reap(tracker->apart->pid);
	free(tracker->apart);
	tracker->apart = NULL;
}

pid_t rt_recorder_pid(struct rt_tracker *tracker)
{
	return tracker && tracker->apart ? tracker->apart->pid : 0;
}

/* ---- questions --------------------------------------------------------------------------------------- */

int64_t apart_ask(struct rt_tracker *tracker, enum remote_question question, int64_t first, int64_t count)
{
	struct remote_message message = {.what = question, .first = first, .count = count};

	return remote_client_ask(tracker->apart, &message, NULL);
}

bool apart_is_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason)
{
	struct remote_message message = {.what = REMOTE_OVER};
	int64_t result = remote_client_ask(tracker->apart, &message, NULL);

	if (result > 0 && ret_reason)
		*ret_reason = (enum rt_end_reason)message.first;
	return result != 0;
}

int64_t apart_history_count(struct rt_tracker *tracker, int64_t *ret_first, size_t *ret_bytes)
{
	struct remote_message message = {.what = REMOTE_HISTORY_COUNT};
	int64_t result = remote_client_ask(tracker->apart, &message, NULL);

	if (result >= 0 && ret_first)
		*ret_first = message.first;
	if (result >= 0 && ret_bytes)
		*ret_bytes = (size_t)message.count;
	return result;
}

/* As many rows as one answer has. */
static int64_t read_rows_there(struct rt_tracker *tracker, const struct buffer *names, int64_t first,
			       size_t count, double *ret_values)
{
	const struct buffer *answer = &tracker->apart->answer;
	struct remote_message message = {
		.what = REMOTE_HISTORY_READ,
		.first = first,
		.count = count < ROWS_AT_ONCE ? (int64_t)count : ROWS_AT_ONCE,
		.payload_bytes = names->length,
	};
	int64_t asked = message.count, result = remote_client_ask(tracker->apart, &message, names->data);

	if (result > 0 && (result > asked || answer->length != (size_t)result * sizeof *ret_values))
		return -EBADMSG;
	if (result > 0)
		memcpy(ret_values, answer->data, answer->length);
	return result;
}

ssize_t apart_history_read(struct rt_tracker *tracker, const char *layout, const char *column, int64_t first,
			   size_t count, double *ret_values)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(4096);
	size_t done = 0;
	int64_t got;

	buffer_add(&names, layout ? layout : "", (layout ? strlen(layout) : 0) + 1);
	buffer_add(&names, column, strlen(column) + 1);
	if (buffer_error(&names))
		return -ENOENT;
	do {
		got = read_rows_there(tracker, &names, first + (int64_t)done, count - done,
				      ret_values + done);
		if (got > 0)
			done += (size_t)got;
	} while (got > 0 && done < count);
	return got < 0 ? (ssize_t)got : (ssize_t)done;
}

int apart_text(struct rt_tracker *tracker, enum remote_question question, int64_t first, char **ret_text)
{
	int64_t result = apart_ask(tracker, question, first, 0);
	const struct buffer *answer = &tracker->apart->answer;
	char *text;

	if (result < 0)
		return (int)result;
	text = strndup(answer->length ? answer->data : "", answer->length);
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	return 0;
}

int apart_value(struct rt_tracker *tracker, rt_metric metric, size_t instance, const char *name,
		struct rt_value *ret_value)
{
	struct remote_message message = {.what = REMOTE_VALUE, .first = metric, .count = (int64_t)instance};
	struct rt_value value;
	int64_t result;

	message.payload_bytes = name ? strlen(name) + 1 : 0;
	result = remote_client_ask(tracker->apart, &message, name);
	if (result < 0)
		return (int)result;
	value = remote_value_unpack(&message);
	if (value.type == RT_TYPE_TEXT) {
		/* The answer holds no bytes if the text is empty. */
		value.text =
			texts_keep(&tracker->texts, message.payload_bytes ? tracker->apart->answer.data : "");
		if (!value.text)
			return -ENOMEM;
	}
	*ret_value = value;
	return 0;
}
