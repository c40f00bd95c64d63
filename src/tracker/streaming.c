/* The recorder's part of streaming. See streaming.h. */
#include "tracker/streaming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/file_place.h"
#include "base/plain_print.h"
#include "launch/detached.h"
#include "launch/in_time.h"
#include "options/destinations.h"
#include "sink/spool_folder.h"
#include "tracker/tracker.h"

enum {
	LONGEST_MESSAGE = 2 << 20, /* an answer of the server */
	NUMBER_SIZE = 32,
	KILLED_MSEC = 100, /* in which a killed process closes its end of the connection */
};

static const char TOKEN[] = "SENTINEL_API_TOKEN";

/* Where a destination that must be named is named. Texts of the others are empty. */
static const struct destination_words {
	const char *suffix; /* of names in the spool */
	const char *option; /* of the follower, NULL for none */
	const char *typed;  /* the option of `upload` */
} DESTINATIONS[] = {[STREAM_AUTO] = {"", NULL, ""},
#define ROW(id, word, ...) [id] = {"." word, "--stream=" word, "--stream " word " "},
		    NAMED_DESTINATIONS(ROW)
#undef ROW
};

static const struct destination_words *destination_words(const struct rt_tracker *tracker)
{
	return &DESTINATIONS[tracker->config->stream];
}

static void warn_of_stream(struct rt_tracker *tracker, const char *what, const char *path, int error)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(2 * PATH_MAX);

	buffer_printf(&text, "streaming is off: %s%s", what, path);
	if (error)
		buffer_printf(&text, ": %s", spool_folder_fault(error));
	if (tracker->streaming.command)
		buffer_printf(&text, "; to send the samples: %s", tracker->streaming.command);
	tracker_warn(tracker, text.data ? text.data : "streaming is off");
}

/* ---- the file to follow ------------------------------------------------------------------------------ */

static const struct tracker_output *find_recording(const struct rt_tracker *tracker)
{
	for (size_t i = 0; i < tracker->output_count; i++) {
		const struct tracker_output *output = &tracker->outputs[i];

		if (output->path && output->format == &JSONL_FORMAT && !output->is_compressed &&
		    target_is_file(output->target))
			return output;
	}
	return NULL;
}

struct spool_call {
	const char *path;
	int result;
};

/* Creates a file that only this user can read, whatever the umask is. */
static void make_file(void *data)
{
	struct spool_call *call = data;
	CLEANUP_CLOSE int fd = open(call->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	call->result = fd < 0 ? -errno : 0;
}

/* Opens one more output in the spool. Returns NULL after a warning. */
static const struct tracker_output *open_spool(struct rt_tracker *tracker, const char *folder)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	struct spool_call call;
	struct timespec now;
	int r;

	clock_gettime(CLOCK_REALTIME, &now);
	buffer_printf(&path, "%s/%lld%09ld-%d%s.spool", folder, (long long)now.tv_sec, now.tv_nsec,
		      (int)getpid(), destination_words(tracker)->suffix);
	call.path = path.data;
	r = buffer_error(&path) ? buffer_error(&path) : act_in_time(path.data, make_file, &call, sizeof call);
	if (r == 0)
		r = call.result;
	if (r == 0)
		r = tracker_add_spool(tracker, path.data);
	if (r < 0) {
		warn_of_stream(tracker, "the spool cannot be used: ", folder, r);
		return NULL;
	}
	return &tracker->outputs[tracker->output_count - 1];
}

/* ---- the follower ------------------------------------------------------------------------------------ */

struct link_call {
	const char *target, *link;
};

static void make_link(void *data)
{
	struct link_call *call = data;

	(void)!symlink(call->target, call->link);
}

/* The recording, or where a link in the spool leads; `upload` sends it. */
static void prepare_for_later(struct rt_tracker *tracker, const char *recording, const char *folder,
			      bool disposable, const char *from)
{
	struct streaming *streaming = &tracker->streaming;
	const struct destination_words *words = destination_words(tracker);
	CLEANUP_FREE char *whole = disposable              ? NULL
				   : acts_aside(recording) ? absolute_path(recording)
							   : realpath(recording, NULL);

	if (asprintf(&streaming->command, "resource-tracker upload %s%s", words->typed,
		     disposable ? folder : recording) < 0)
		streaming->command = NULL;
	if (!whole ||
	    asprintf(&streaming->link, "%s/%s-%s%s.spool", folder, tracker->run_id, from, words->suffix) < 0)
		streaming->link = NULL;
	if (streaming->link)
		act_in_time(folder, make_link, &(struct link_call){whole, streaming->link},
			    sizeof(struct link_call));
}

static void remove_link(struct streaming *streaming)
{
	if (streaming->link)
		unlink_in_time(streaming->link);
}

/* Starts the follower. follow.h of src/stream describes its arguments. Its standard input ends when we exit. */
static int start_follower(struct rt_tracker *tracker, const struct tracker_output *recording,
			  const char *folder, bool disposable, char *const *environment)
{
	const struct rt_config *config = tracker->config;
	struct streaming *streaming = &tracker->streaming;
	char from[NUMBER_SIZE], deadline[NUMBER_SIZE], spool[PATH_MAX + NUMBER_SIZE];
	const char *argv[16] = {NET_PROGRAM.name, "follow", recording->path,     "--from", from,
				"--end-fd",       "0",      "--upload-deadline", deadline, spool,
				"--report"};
	struct detached detached = {.program = &NET_PROGRAM, .argv = argv, .environment = environment};
	int count = 11;

	snprintf(from, sizeof(from), "%lld", (long long)target_size(recording->target));
	prepare_for_later(tracker, recording->path, folder, disposable, from);
	/* In one word: the name of a folder may begin with a dash. */
	snprintf(spool, sizeof(spool), "--spool=%s", folder);
	plain_print(deadline, sizeof(deadline), "%.3f", (double)config->upload_deadline_ns / 1e9);
	if (disposable)
		argv[count++] = "--disposable";
	argv[count] = destination_words(tracker)->option;
	return detached_start(&detached, &streaming->socket_fd, &streaming->pid);
}

/* The follower removes blanks around the token. */
static bool has_token(const struct rt_config *config)
{
	const char *token = config_variable(config, TOKEN);

	return token && token[strspn(token, " \t\r\n")];
}

void streaming_open(struct rt_tracker *tracker, char *const *environment)
{
	CLEANUP_FREE char *folder = NULL;
	const struct tracker_output *recording;
	bool disposable;
	int64_t begun_ns;
	int r;

	if (tracker->config->stream == STREAM_OFF ||
	    (tracker->config->stream == STREAM_AUTO && !has_token(tracker->config)))
		return;
	r = spool_folder_make(tracker->config->spool, &folder);
	if (r < 0) {
		warn_of_stream(tracker, "the spool cannot be used: ",
			       tracker->config->spool ? tracker->config->spool
						      : "there is no folder for it, name one with --spool",
			       r);
		return;
	}
	recording = find_recording(tracker);
	disposable = !recording;
	if (!recording)
		recording = open_spool(tracker, folder);
	if (!recording)
		return;
	begun_ns = debug_now_ns();
	r = start_follower(tracker, recording, folder, disposable, environment);
	debug_say("follower", begun_ns, r == 0 ? "process %d follows %s" : "error %d, nothing follows %s",
		  r == 0 ? (int)tracker->streaming.pid : -r, recording->path);
	if (r == 0)
		return;
	if (r != -EAGAIN && !tracker_is_lack(r)) {
		/* The next run would not start it either, so nothing would ever empty the spool. */
		free(tracker->streaming.command);
		tracker->streaming.command = NULL;
		remove_link(&tracker->streaming);
		if (disposable)
			tracker_remove_spool(tracker);
	}
	warn_of_stream(tracker,
		       r == -ENOENT ? "resource-tracker-net is not installed"
				    : "resource-tracker-net cannot be started",
		       "", r == -ENOENT ? 0 : r);
}

/* ---- what it says ------------------------------------------------------------------------------------ */

static void take_message_line(struct rt_tracker *tracker, char *line)
{
	static const char PREFIX[] = "resource-tracker: ", ANSWER[] = "answer ",
			  COMMAND[] = "resource-tracker upload";
	struct streaming *streaming = &tracker->streaming;

	if (debug_pass_on(line))
		return;
	debug_say("follower", 0, "says: %s", line);
	if (strcmp(line, "sent") == 0) {
		streaming->sent = true;
		remove_link(streaming);
	} else if (strncmp(line, ANSWER, strlen(ANSWER)) == 0) {
		free(streaming->answer);
		streaming->answer = strdup(line + strlen(ANSWER));
	} else {
		if (strncmp(line, PREFIX, strlen(PREFIX)) == 0)
			line += strlen(PREFIX);
		if (strstr(line, COMMAND))
			streaming->has_told_command = true;
		tracker_warn(tracker, line);
	}
}

static void take_lines(struct rt_tracker *tracker)
{
	struct buffer *said = &tracker->streaming.said;
	char *line = said->data, *end;

	while (line && (end = memchr(line, '\n', said->length - (size_t)(line - said->data)))) {
		*end = '\0';
		take_message_line(tracker, line);
		line = end + 1;
	}
	if (line && line > said->data) {
		said->length -= (size_t)(line - said->data);
		memmove(said->data, line, said->length + 1);
	}
}

/* Else it ends with the line "sent", or after a line that says how to send the rest. */
static void tell_of_ended_follower(struct rt_tracker *tracker)
{
	struct streaming *streaming = &tracker->streaming;
	size_t count = tracker->output_count;
	const struct tracker_output *last = count ? &tracker->outputs[count - 1] : NULL;
	struct stat status;
	CLEANUP_BUFFER struct buffer text = BUFFER(2 * PATH_MAX);

	if (streaming->sent || streaming->has_told_command || !streaming->command)
		return;
	streaming->has_told_command = true;
	buffer_add_text(&text, "the process that sends the samples has ended");
	/* A follower that has seen no sample removes the file when it ends. */
	if (last && last->is_spool && stat_in_time(last->path, &status) == -ENOENT)
		buffer_add_text(&text, ", and no sample is kept");
	else
		buffer_printf(&text, "; to send them: %s", streaming->command);
	if (!buffer_error(&text))
		tracker_warn(tracker, text.data);
}

void streaming_hear(struct rt_tracker *tracker)
{
	struct streaming *streaming = &tracker->streaming;
	char bytes[512];
	ssize_t length;

	if (streaming->socket_fd < 0 || streaming->gone)
		return;
	while ((length = recv(streaming->socket_fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		streaming->said.ceiling = LONGEST_MESSAGE;
		buffer_add(&streaming->said, bytes, (size_t)length);
		if (buffer_error(&streaming->said))
			buffer_clear(&streaming->said);
		take_lines(tracker);
	}
	streaming->gone = length == 0 || (errno != EAGAIN && errno != EINTR);
	if (streaming->gone) {
		debug_say("follower", 0, "process %d has gone", (int)streaming->pid);
		detached_reap(streaming->pid);
		tell_of_ended_follower(tracker);
	}
}

void streaming_tell_end(struct rt_tracker *tracker)
{
	struct streaming *streaming = &tracker->streaming;

	if (streaming->socket_fd < 0 || streaming->told)
		return;
	streaming->told = true;
	streaming->told_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	debug_say("follower", 0, "is told of the end");
	shutdown(streaming->socket_fd, SHUT_WR);
}

/* The follower keeps its deadline itself. It gets half a second more, because a busy machine may delay it. */
static bool is_stuck(const struct rt_tracker *tracker)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL) - tracker->streaming.told_ns >
	       tracker->config->upload_deadline_ns + NSEC_PER_SEC / 2;
}

/* Returns 0 or -EIO once the follower has exited, -EAGAIN before. */
static int upload_result(struct rt_tracker *tracker)
{
	struct streaming *streaming = &tracker->streaming;

	if (streaming->socket_fd < 0)
		return -ENOTCONN;
	if (!tracker->finished)
		return -EBUSY;
	streaming_tell_end(tracker);
	streaming_hear(tracker);
	if (!streaming->gone && is_stuck(tracker)) {
		/* The follower still holds its end of the connection, so the pid is still its own. */
		kill(streaming->pid, SIGKILL);
		(void)poll(&(struct pollfd){.fd = streaming->socket_fd}, 1, KILLED_MSEC);
		streaming_hear(tracker);
		tell_of_ended_follower(tracker);
		return -EIO;
	}
	if (!streaming->gone)
		return -EAGAIN;
	return streaming->sent ? 0 : -EIO;
}

int rt_wait_for_upload(struct rt_tracker *tracker, double timeout_secs)
{
	double bounded_secs = timeout_secs > 0 ? timeout_secs < 1e6 ? timeout_secs : 1e6 : 0;
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + (int64_t)(bounded_secs * 1e9);

	for (;;) {
		struct pollfd socket = {.events = POLLIN};
		int64_t left_ns;
		int result = tracker_enter(tracker);

		if (result < 0)
			return result;
		result = upload_result(tracker);
		socket.fd = tracker->streaming.socket_fd;
		tracker_unlock(tracker);
		left_ns = until_ns - SYSTEM_CLOCKS.monotonic_ns(NULL);
		if (result != -EAGAIN)
			return result;
		if (left_ns <= 0)
			return -ETIMEDOUT;
		poll(&socket, 1, ns_to_poll_msec(left_ns));
	}
}

int rt_upload_answer(struct rt_tracker *tracker, char **ret_json)
{
	char *copy = NULL;
	int error = tracker_enter(tracker);

	if (error < 0)
		return error;
	streaming_hear(tracker);
	if (!tracker->streaming.answer)
		error = -ENODATA;
	else if (!(copy = strdup(tracker->streaming.answer)))
		error = -ENOMEM;
	tracker_unlock(tracker);
	if (!error)
		*ret_json = copy;
	return error;
}

void streaming_close(struct rt_tracker *tracker)
{
	struct streaming *streaming = &tracker->streaming;

	streaming_tell_end(tracker);
	if (streaming->socket_fd >= 0)
		close(streaming->socket_fd);
	buffer_done(&streaming->said);
	free(streaming->answer);
	free(streaming->link);
	free(streaming->command);
	*streaming = STREAMING;
}
