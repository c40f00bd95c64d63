/* Runs the recorder for a moment. See ask_recorder.h. */
#include "discover/ask_recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "format/json_decode.h"
#include "launch/child.h"
#include "net/patience.h"

#define DEADLINE_NS (6 * NSEC_PER_SEC)

enum { READ_BYTES = 64 << 10, LONGEST_LINE = 8 << 20, MOST_OPTIONS = 16 };

/* Switches off every setting that would make it write, stream or leave out more than it is asked for. */
static bool is_for_the_recorder(const char *variable)
{
	static const char *const KEPT[] = {"TRACKER_NVML_LIBRARY=", "TRACKER_HELPER="};
	static const char *const LEFT_OUT[] = {"TRACKER_", "SENTINEL_"};

	for (size_t i = 0; i < ARRAY_SIZE(KEPT); i++)
		if (strncmp(variable, KEPT[i], strlen(KEPT[i])) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(LEFT_OUT); i++)
		if (strncmp(variable, LEFT_OUT[i], strlen(LEFT_OUT[i])) == 0)
			return false;
	return true;
}

/* The caller frees it. Its texts are those of `environ`. */
static char **recorder_environment(void)
{
	size_t count = 0, kept = 0;
	char **environment;

	while (environ[count])
		count++;
	environment = calloc(count + 1, sizeof *environment);
	for (size_t i = 0; environment && i < count; i++)
		if (is_for_the_recorder(environ[i]))
			environment[kept++] = environ[i];
	return environment;
}

/* Returns its pid and the read end of the pipe for its samples, or a negative errno. */
static pid_t start_asked_recorder(const char *root_dir, const char *const *options, int *ret_fd)
{
	CLEANUP_FREE char **environment = recorder_environment();
	const char *argv[MOST_OPTIONS + 12] = {
		RECORDER_PROGRAM.name, "--format", "json",  "--output", "-", "--config",
		"/dev/null",           "--root",   root_dir};
	const struct child_program child = {
		.program = &RECORDER_PROGRAM, .argv = argv, .environment = environment, .silent = true};
	size_t count = 9;
	pid_t pid;
	int error;

	if (!environment)
		return -ENOMEM;
	for (size_t i = 0; options[i] && i < MOST_OPTIONS; i++)
		argv[count++] = options[i];
	error = child_start_with_pipe(&child, ret_fd, &pid);
	return error ? error : pid;
}

static void end_recorder(pid_t pid)
{
	/* Its helper ends with it in any case. */
	kill(pid, SIGKILL);
	child_wait(pid);
}

/* Takes whole lines out of `lines`. */
static bool take_asked_lines(struct json_decoder *json, struct buffer *lines,
			     bool (*take)(const struct frame *, void *), void *context)
{
	struct scan text = scan_bytes(lines->data, lines->length), line;
	struct frame frame = {0};
	bool found = false;

	while (!found && scan_until(&text, '\n', &line)) {
		frame_clear(&frame);
		found = !frame.error && json_decoder_read(json, line, &frame) && take(&frame, context);
	}
	frame_done(&frame);
	memmove(lines->data, text.at, scan_left(&text));
	lines->length = scan_left(&text);
	return found;
}

static bool read_asked_samples(int fd, const struct metric_set *wanted,
			       bool (*take)(const struct frame *, void *), void *context)
{
	CLEANUP_BUFFER struct buffer lines = BUFFER(LONGEST_LINE);
	int64_t until_ns = monotonic_ns() + DEADLINE_NS;
	struct json_decoder json;
	bool found = false;

	json_decoder_init(&json, wanted);
	while (!found && buffer_reserve(&lines, READ_BYTES) == 0) {
		int64_t left_ns = until_ns - monotonic_ns();
		struct pollfd pipe = {.fd = fd, .events = POLLIN};
		ssize_t length;

		if (left_ns <= 0 || poll(&pipe, 1, (int)(left_ns / NSEC_PER_MSEC) + 1) <= 0)
			break;
		length = read(fd, lines.data + lines.length, READ_BYTES);
		if (length <= 0)
			break;
		lines.length += (size_t)length;
		found = take_asked_lines(&json, &lines, take, context);
	}
	json_decoder_done(&json);
	return found;
}

bool ask_recorder(const char *root_dir, const char *const *options, const struct metric_set *wanted,
		  bool (*take)(const struct frame *frame, void *context), void *context)
{
	CLEANUP_CLOSE int fd = -1;
	pid_t pid = start_asked_recorder(root_dir && *root_dir ? root_dir : "/", options, &fd);
	bool found;

	if (pid < 0)
		return false;
	found = read_asked_samples(fd, wanted, take, context);
	end_recorder(pid);
	return found;
}
