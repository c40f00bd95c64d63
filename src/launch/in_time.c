/* Work on files with a deadline. See in_time.h. */
#include "launch/in_time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "base/fork_aside.h"
#include "base/wait_child.h"
#include "base/write_in_time.h"
#include "kernel/may_hang.h"

enum { LEAST_MS = 20, WRITE_BYTES = 4096 };

static int limit_ms; /* 0: not allowed */
static int left_ms;

void allow_work_aside(int each_ms)
{
	limit_ms = each_ms;
	left_ms = 2 * each_ms;
}

/* Waits for the end of the pipe: the process has exited. */
static bool ends_in_time(int fd)
{
	int wait_ms = left_ms > limit_ms ? limit_ms : left_ms > LEAST_MS ? left_ms : LEAST_MS;
	int64_t begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	struct pollfd end = {.fd = fd};
	int r;

	do
		r = poll(&end, 1, wait_ms);
	while (r < 0 && errno == EINTR);
	left_ms -= (int)((SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns) / NSEC_PER_MSEC);
	return r > 0;
}

/* The copy that both processes see. */
struct shared_call {
	bool is_done;
	_Alignas(max_align_t) char data[];
};

/* The process keeps `kept_fd`, -1: none. */
static int call_aside(int kept_fd, void (*act)(void *), struct shared_call *call)
{
	CLEANUP_CLOSE int ours = -1, theirs = -1;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	pid = fork_aside(theirs, kept_fd);
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		/* A call of its own may hang here. */
		limit_ms = 0;
		act(call->data);
		call->is_done = true;
		_exit(0);
	}
	close(take_fd(&theirs));
	if (!ends_in_time(ours)) {
		/* One that is stuck in the kernel stays until its file system answers. */
		kill(pid, SIGKILL);
		wait_child(pid, NULL, WNOHANG, NULL);
		return -ETIMEDOUT;
	}
	wait_child(pid, NULL, 0, NULL);
	return call->is_done ? 0 : -EIO;
}

/* `path` may hang. */
static int act_aside(const char *path, int kept_fd, void (*act)(void *), void *data, size_t size)
{
	size_t whole = sizeof(struct shared_call) + size;
	struct shared_call *call;
	int r;

	if (path_hangs_now(path))
		return -ETIMEDOUT;
	call = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (call == MAP_FAILED)
		return -errno;
	memcpy(call->data, data, size);
	r = call_aside(kept_fd, act, call);
	if (r == 0)
		memcpy(data, call->data, size);
	else if (r == -ETIMEDOUT)
		path_has_hung(path);
	munmap(call, whole);
	return r;
}

bool acts_aside(const char *path)
{
	return limit_ms && path_may_hang(path);
}

int act_in_time(const char *path, void (*act)(void *), void *data, size_t size)
{
	if (acts_aside(path))
		return act_aside(path, -1, act, data, size);
	act(data);
	return 0;
}

int look_aside(const char *path, void (*look)(void *), void *data, size_t size)
{
	int kept_ms = left_ms;
	int r = acts_aside(path) ? act_aside(path, -1, look, data, size) : 0;

	if (r == 0)
		left_ms = kept_ms;
	return r;
}

struct write_call {
	int fd;
	size_t length;
	int result;
	char bytes[WRITE_BYTES];
};

static void call_write(void *data)
{
	struct write_call *call = data;

	call->result = write_in_time(call->fd, call->bytes, call->length, 0);
}

int write_line_in_time(int fd, const char *bytes, size_t length, int timeout_ms)
{
	char path[DESCRIPTOR_PATH_BYTES];
	struct write_call call = {.fd = fd, .length = length};
	int r;

	if (length > sizeof call.bytes || !acts_aside(descriptor_path(fd, path)))
		return write_in_time(fd, bytes, length, timeout_ms);
	memcpy(call.bytes, bytes, length);
	r = act_aside(path, fd, call_write, &call, sizeof call);
	return r < 0 ? r : call.result;
}

struct stat_call {
	const char *path;
	struct stat status;
	int result;
};

static void call_stat(void *data)
{
	struct stat_call *call = data;

	call->result = stat(call->path, &call->status) < 0 ? -errno : 0;
}

int stat_in_time(const char *path, struct stat *ret_status)
{
	struct stat_call call = {.path = path};
	int r = act_in_time(path, call_stat, &call, sizeof call);

	if (r == 0 && call.result == 0)
		*ret_status = call.status;
	return r < 0 ? r : call.result;
}

bool answers_in_time(const char *path)
{
	struct stat status;

	return stat_in_time(path, &status) != -ETIMEDOUT;
}

bool zone_answers(void)
{
	const char *zone = getenv("TZ"), *folder = getenv("TZDIR");

	zone = zone && *zone == ':' ? zone + 1 : zone;
	zone = zone && *zone == '/' ? zone : folder;
	return !zone || answers_in_time(zone);
}

void zone_in_time(void)
{
	allow_work_aside(JOB_LOOK_MS);
	if (!zone_answers()) {
		setenv("TZ", "UTC0", 1);
		unsetenv("TZDIR");
	}
	allow_work_aside(0);
}

struct look_call {
	const char *path;
};

static void call_look(void *data)
{
	const struct look_call *call = data;
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	char byte;

	/* Opened here, a FIFO would let its writer go on, which this look's end would kill. */
	if (stat(call->path, &status) < 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return;
	fd = open(call->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		(void)!pread(fd, &byte, 1, 0);
}

int look_in_time(const char *path)
{
	struct look_call call = {path};

	return look_aside(path, call_look, &call, sizeof call);
}

void unlink_file(void *path)
{
	/* unlink(2) would be one import more. */
	unlinkat(AT_FDCWD, path, 0);
}

void unlink_in_time(char *path)
{
	(void)act_in_time(path, unlink_file, path, strlen(path) + 1);
}
