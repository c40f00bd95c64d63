/* Streaming, as far as the recorder has to do with it; see streaming.h. */
#include "cli/streaming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scan.h"
#include "cli/message.h"
#include "cli/programs.h"

extern char **environ;

/* Where the follower finds the pipe, whatever number it has here. */
enum { FOLLOWER_END_FD = 9, DEFAULT_DEADLINE_SECS = 10 };

static const char SPOOL_SUFFIX[] = ".spool";

static bool is_wanted(void)
{
	const char *token = getenv("SENTINEL_API_TOKEN");

	return token && *token;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), end = strlen(suffix);

	return length > end && strcmp(path + length - end, suffix) == 0;
}

bool is_spool(const char *path)
{
	return has_suffix(path, SPOOL_SUFFIX);
}

static bool is_json_file(const char *path)
{
	return has_suffix(path, ".jsonl") || has_suffix(path, ".json") || has_suffix(path, ".ndjson");
}

/* An output of the user's own can be followed when it is JSON by its name and nobody says otherwise. */
static bool needs_spool(const struct front *front)
{
	const struct given *format = given_by_name(&front->given, "format");

	if (format && strcmp(format->text, "json") != 0)
		return true;
	for (size_t i = 0; i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];

		if (strcmp(item->row->name, "output") == 0 && given_counts(&front->given, item) &&
		    is_json_file(item->text))
			return false;
	}
	return true;
}

/* mkdir -p, mode 0700 for what is new. */
static int make_folders(char *path)
{
	for (char *slash = path + 1;; slash++) {
		char kept;

		slash += strcspn(slash, "/");
		kept = *slash;
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = kept;
		if (!kept)
			return 0;
	}
}

static void add_folder(struct buffer *out, const struct front *front)
{
	const struct given *spool = given_by_name(&front->given, "spool");
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (spool && *spool->text)
		buffer_add_text(out, spool->text);
	else if (state && state[0] == '/')
		buffer_printf(out, "%s/resource-tracker/spool", state);
	else if (home && *home)
		buffer_printf(out, "%s/.local/state/resource-tracker/spool", home);
}

/* As a template of an output: a percent sign stands for itself when there are two. */
static int add_output(struct front *front, const char *path)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(2 * PATH_MAX);

	for (; *path; path++) {
		buffer_add_char(&name, *path);
		if (*path == '%')
			buffer_add_char(&name, '%');
	}
	return buffer_error(&name) ? buffer_error(&name) : rt_config_set(front->config, "output", name.data);
}

void streaming_prepare(struct front *front)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	CLEANUP_CLOSE int fd = -1;
	struct timespec now;
	int r;

	if (!is_wanted() || !needs_spool(front))
		return;
	add_folder(&path, front);
	if (buffer_error(&path) || !path.length) {
		say("streaming is off: there is no folder for the spool; name one with --spool");
		return;
	}
	r = make_folders(path.data);
	clock_gettime(CLOCK_REALTIME, &now);
	buffer_printf(&path, "/%lld%09ld-%d%s", (long long)now.tv_sec, now.tv_nsec, (int)getpid(),
		      SPOOL_SUFFIX);
	if (r == 0 && buffer_error(&path))
		r = buffer_error(&path);
	/* Made here, so that it is nobody else's to read whatever the umask is. */
	if (r == 0) {
		fd = open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		r = fd < 0 ? -errno : add_output(front, path.data);
	}
	if (r < 0)
		say("streaming is off: the spool %s cannot be used: %s", path.data ? path.data : "",
		    strerror(-r));
}

/* The file to follow. The spool, which only we can have named so, before what the user wants to keep. */
static const char *find_recording(rt_tracker *tracker)
{
	const char *path, *json = NULL;

	for (size_t i = 0; (path = rt_output_path(tracker, i)); i++) {
		struct stat status;

		if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
			continue;
		if (is_spool(path))
			return path;
		if (!json && is_json_file(path))
			json = path;
	}
	return json;
}

static double deadline_of(const struct front *front)
{
	const struct given *item = given_by_name(&front->given, "upload-deadline");
	struct scan text = item ? scan_bytes(item->text, strlen(item->text)) : (struct scan){0};
	double secs = DEFAULT_DEADLINE_SECS;

	if (item)
		(void)scan_real(&text, &secs);
	return secs;
}

static int spawn(const char *program, char *const argv[], int pipe_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, pipe_fd, FOLLOWER_END_FD);
	if (!r)
		r = posix_spawn(ret_pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Starts the program on a recording; its arguments are in follow.h of src/net. */
static int start_follower(const struct front *front, char *program, const char *recording, int pipe_fd,
			  struct streaming *streaming)
{
	static char follow[] = "follow", from_option[] = "--from", end_option[] = "--end-fd",
		    spool_option[] = "--spool", deadline_option[] = "--upload-deadline",
		    disposable[] = "--disposable", no_warnings[] = "--no-warnings";
	const struct given *spool = given_by_name(&front->given, "spool");
	CLEANUP_FREE char *path = strdup(recording);
	char from[32] = "0", end_fd[16], deadline[32];
	char *argv[16] = {program, follow,          path,    from_option, from, end_option,
			  end_fd,  deadline_option, deadline};
	struct stat status;
	int count = 9;

	if (!path)
		return -ENOMEM;
	if (stat(recording, &status) == 0)
		snprintf(from, sizeof(from), "%lld", (long long)status.st_size);
	snprintf(end_fd, sizeof(end_fd), "%d", FOLLOWER_END_FD);
	snprintf(deadline, sizeof(deadline), "%.3f", streaming->deadline_secs);
	if (spool && *spool->text) {
		argv[count++] = spool_option;
		argv[count++] = (char *)(uintptr_t)spool->text;
	}
	if (is_spool(recording))
		argv[count++] = disposable;
	if (front->no_warnings)
		argv[count++] = no_warnings;
	return spawn(program, argv, pipe_fd, &streaming->pid);
}

void streaming_start(const struct front *front, rt_tracker *tracker, struct streaming *ret_streaming)
{
	const char *recording = is_wanted() ? find_recording(tracker) : NULL;
	CLEANUP_FREE char *program = recording ? find_program("resource-tracker-net") : NULL;
	int fds[2], r;

	*ret_streaming = (struct streaming){.end_fd = -1, .deadline_secs = deadline_of(front)};
	if (!recording)
		return;
	if (!program) {
		say("streaming is off: resource-tracker-net is not installed");
		return;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		say("streaming is off: %s", strerror(errno));
		return;
	}
	r = start_follower(front, program, recording, fds[0], ret_streaming);
	close(fds[0]);
	if (r < 0) {
		say("streaming is off: %s: %s", program, strerror(-r));
		close(fds[1]);
		ret_streaming->pid = 0;
		return;
	}
	ret_streaming->end_fd = fds[1];
}

/* Signals are blocked here: whoever is in a hurry is heard all the same. */
static bool is_told_to_go(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}

void streaming_finish(struct streaming *streaming)
{
	int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	/* It keeps the deadline itself; half a second more is for a machine that is slow to let it. */
	int64_t until_ns = now_ns + (int64_t)(streaming->deadline_secs * 1e9) + NSEC_PER_SEC / 2;
	static const struct timespec PAUSE = {.tv_nsec = 5 * NSEC_PER_MSEC};

	if (!streaming->pid)
		return;
	close(streaming->end_fd);
	streaming->end_fd = -1;
	while (waitpid(streaming->pid, NULL, WNOHANG) == 0) {
		if (is_told_to_go())
			return;
		if (SYSTEM_CLOCKS.monotonic_ns(NULL) >= until_ns) {
			kill(streaming->pid, SIGKILL);
			return;
		}
		nanosleep(&PAUSE, NULL);
	}
	streaming->pid = 0;
}
