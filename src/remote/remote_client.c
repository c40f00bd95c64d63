/* A tracker in a process of its own: the caller's end of the connection. remote_recorder.c is the other end. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "launch/detached.h"
#include "remote/remote_message.h"
#include "tracker/tracker.h"

/* Before it answers, the other process may take a sample of a large tree. */
enum { PATIENCE_SECS = 20, ROWS_AT_ONCE = 2048 };
#define ANSWER_MOST ((size_t)16 << 20)

struct rt_remote {
	pthread_mutex_t lock;
	pid_t owner;
	pid_t pid;
	int socket;
	bool broken; /* answers no longer match questions, or the other process has exited */
	struct buffer answer;
};

/* Returns false in a forked child, which would take the answers that its parent waits for. */
static bool lock(struct rt_remote *remote)
{
	if (remote->owner != getpid())
		return false;
	pthread_mutex_lock(&remote->lock);
	return true;
}

/* Returns the answer's result. Its payload stays in remote->answer until the next question. */
static int64_t ask(struct rt_remote *remote, struct remote_message *message, const void *payload)
{
	int error = remote->broken ? -EPIPE : remote_send(remote->socket, message, payload);

	if (!error)
		error = remote_receive(remote->socket, message, &remote->answer);
	if (error < 0) {
		remote->broken = true;
		return error;
	}
	return message->what;
}

static int64_t ask_simply(struct rt_remote *remote, enum remote_question question)
{
	struct remote_message message = {.what = question};
	int64_t result;

	if (!lock(remote))
		return -ECHILD;
	result = ask(remote, &message, NULL);
	pthread_mutex_unlock(&remote->lock);
	return result;
}

static void remote_free(struct rt_remote *remote)
{
	if (remote->socket >= 0)
		close(remote->socket);
	buffer_done(&remote->answer);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

static int start_process(struct rt_remote *remote, const struct rt_config *config)
{
	CLEANUP_FREE char **environment = config_environment(config);
	const struct timeval patience = {.tv_sec = PATIENCE_SECS};
	const char *const argv[] = {HELPER_PROGRAM.name, REMOTE_WORD, NULL};
	struct detached detached = {
		.program = &HELPER_PROGRAM, .argv = argv, .environment = environment, .silent = true};
	int error = environment ? detached_start(&detached, &remote->socket, &remote->pid) : -ENOMEM;

	if (error < 0)
		return error;
	(void)setsockopt(remote->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	(void)setsockopt(remote->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	return 0;
}

static int64_t open_there(struct rt_remote *remote, const struct rt_config *config)
{
	struct remote_message message = {.what = REMOTE_OPEN, .count = config->history_samples};
	CLEANUP_BUFFER struct buffer given = BUFFER(1 << 20);
	const char *metrics = config->history_metrics ? config->history_metrics : "";

	buffer_add(&given, config->given.data, config->given.length);
	buffer_add(&given, "history", sizeof "history");
	buffer_add(&given, metrics, strlen(metrics) + 1);
	for (size_t i = 0; i < config->argc; i++) {
		buffer_add(&given, "argument", sizeof "argument");
		buffer_add(&given, config->argv[i], strlen(config->argv[i]) + 1);
	}
	if (buffer_error(&given) || buffer_error(&config->given))
		return -ENOMEM;
	message.payload_bytes = given.length;
	return ask(remote, &message, given.data);
}

static int start_remote(struct rt_config *config, struct rt_remote **ret_remote)
{
	struct rt_remote *remote;
	int64_t error;

	for (size_t i = 0; i < config->output_count; i++)
		if (config->outputs[i].fd >= 0)
			return config_fail(config, -EINVAL,
					   "output: '%s' is a stream of this process; name a file",
					   config->outputs[i].path);
	remote = calloc(1, sizeof *remote);
	if (!remote)
		return config_fail(config, -ENOMEM, "out of memory");
	pthread_mutex_init(&remote->lock, NULL);
	remote->owner = getpid();
	remote->socket = -1;
	remote->answer = BUFFER(ANSWER_MOST);
	error = start_process(remote, config);
	if (error < 0) {
		remote_free(remote);
		return config_fail(config, (int)error, "%s cannot be started: %s", HELPER_PROGRAM.name,
				   strerror((int)-error));
	}
	error = open_there(remote, config);
	if (error < 0) {
		const char *message = remote->answer.length && !remote->broken ? remote->answer.data : NULL;

		config_fail(config, (int)error, "%s", message ? message : strerror((int)-error));
		remote_free(remote);
		return (int)error;
	}
	*ret_remote = remote;
	return 0;
}

int rt_remote_start(struct rt_config *config, struct rt_remote **ret_remote)
{
	struct rt_config *defaults = NULL;
	int error = 0;

	if (!config) {
		error = rt_config_new(&defaults);
		config = defaults;
	}
	if (!error)
		error = start_remote(config, ret_remote);
	rt_config_free(defaults);
	return error;
}

pid_t rt_remote_pid(const struct rt_remote *remote)
{
	return remote->pid;
}

int64_t rt_remote_sample_count(struct rt_remote *remote)
{
	return ask_simply(remote, REMOTE_SAMPLE_COUNT);
}

int64_t rt_remote_history_count(struct rt_remote *remote, int64_t *ret_first, size_t *ret_bytes)
{
	struct remote_message message = {.what = REMOTE_HISTORY_COUNT};
	int64_t result;

	if (!lock(remote))
		return -ECHILD;
	result = ask(remote, &message, NULL);
	pthread_mutex_unlock(&remote->lock);
	if (result >= 0 && ret_first)
		*ret_first = message.first;
	if (result >= 0 && ret_bytes)
		*ret_bytes = (size_t)message.count;
	return result;
}

/* Reads at most as many rows as one answer can hold. */
static int64_t read_some(struct rt_remote *remote, const struct buffer *names, int64_t first, size_t count,
			 double *ret_values)
{
	struct remote_message message = {
		.what = REMOTE_HISTORY_READ,
		.first = first,
		.count = count < ROWS_AT_ONCE ? (int64_t)count : ROWS_AT_ONCE,
		.payload_bytes = names->length,
	};
	int64_t result = ask(remote, &message, names->data);

	if (result > message.count && result > ROWS_AT_ONCE)
		return -EBADMSG;
	if (result > 0 && remote->answer.length != (size_t)result * sizeof *ret_values)
		return -EBADMSG;
	if (result > 0)
		memcpy(ret_values, remote->answer.data, remote->answer.length);
	return result;
}

ssize_t rt_remote_history_read(struct rt_remote *remote, const char *layout, const char *column,
			       int64_t first, size_t count, double *ret_values)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(4096);
	size_t done = 0;
	int64_t got;

	buffer_add(&names, layout ? layout : "", (layout ? strlen(layout) : 0) + 1);
	buffer_add(&names, column, strlen(column) + 1);
	if (buffer_error(&names))
		return -ENOENT;
	if (!lock(remote))
		return -ECHILD;
	do {
		got = read_some(remote, &names, first + (int64_t)done, count - done, ret_values + done);
		if (got > 0)
			done += (size_t)got;
	} while (got > 0 && done < count);
	pthread_mutex_unlock(&remote->lock);
	return got < 0 ? (ssize_t)got : (ssize_t)done;
}

/* Asks for a text. The caller frees it. */
static int ask_for_text(struct rt_remote *remote, enum remote_question question, char **ret_text)
{
	struct remote_message message = {.what = question};
	char *text = NULL;
	int64_t result;

	if (!lock(remote))
		return -ECHILD;
	result = ask(remote, &message, NULL);
	if (result >= 0)
		text = strndup(remote->answer.length ? remote->answer.data : "", remote->answer.length);
	pthread_mutex_unlock(&remote->lock);
	if (result >= 0 && !text)
		return -ENOMEM;
	if (result >= 0)
		*ret_text = text;
	return result < 0 ? (int)result : 0;
}

int rt_remote_sample_json(struct rt_remote *remote, char **ret_json)
{
	return ask_for_text(remote, REMOTE_SAMPLE_JSON, ret_json);
}

int rt_remote_next_warning(struct rt_remote *remote, char *ret_text, size_t size)
{
	CLEANUP_FREE char *text = NULL;
	int error = ask_for_text(remote, REMOTE_WARNING, &text);

	if (!error && size) {
		size_t length = strnlen(text, size - 1);

		memcpy(ret_text, text, length);
		ret_text[length] = '\0';
	}
	return error;
}

int rt_remote_stop(struct rt_remote *remote)
{
	return (int)ask_simply(remote, REMOTE_STOP);
}

void rt_remote_close(struct rt_remote *remote)
{
	pid_t pid;

	if (!remote)
		return;
	if (remote->owner != getpid()) {
		/* Closes this process's descriptor only. The parent's connection stays open. */
		close(remote->socket);
		return;
	}
	pid = remote->pid;
	/* The answer comes after the last sample was written. */
	(void)rt_remote_stop(remote);
	remote_free(remote);
	detached_reap(pid);
}
