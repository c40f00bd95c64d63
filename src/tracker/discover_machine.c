/* Asks resource-tracker-net what machine this is, because only that program uses the network. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/detached.h"
#include "resource_tracker.h"

enum { MOST_ANSWER_BYTES = 1 << 20, DEFAULT_TIMEOUT_SECS = 10 };

static const char *subject_of(unsigned int what)
{
	if (!(what & RT_DISCOVER_CLOUD))
		return "host";
	return what & RT_DISCOVER_HOST ? "all" : "cloud";
}

/* Returns the descriptor from which to read the answer, or a negative errno. */
static int start_discovery(unsigned int what, pid_t *ret_pid)
{
	const char *const argv[] = {NET_PROGRAM.name, "discover", subject_of(what),
				    what & RT_DISCOVER_PYTHON ? "--python" : NULL, NULL};
	struct detached detached = {.program = &NET_PROGRAM, .argv = argv, .silent = true};
	int socket = -1, r = detached_start(&detached, &socket, ret_pid);

	return r < 0 ? r : socket;
}

/* Reads until the program closes its end. */
static int read_discovery(int fd, int64_t until_ns, struct buffer *answer)
{
	for (;;) {
		int64_t left_ns = until_ns - SYSTEM_CLOCKS.monotonic_ns(NULL);
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		ssize_t length;

		if (left_ns <= 0)
			return -ETIMEDOUT;
		if (poll(&ready, 1, ns_to_poll_msec(left_ns)) <= 0)
			continue;
		if (buffer_reserve(answer, 4096) < 0)
			return buffer_error(answer);
		length = read(fd, answer->data + answer->length, 4096);
		if (length < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (length == 0)
			return 0;
		if (length > 0)
			answer->length += (size_t)length;
		answer->data[answer->length] = '\0';
	}
}

int rt_discover(unsigned int what, double timeout_secs, char **ret_json)
{
	struct buffer answer = BUFFER(MOST_ANSWER_BYTES);
	double secs =
		timeout_secs > 0 ? timeout_secs < 1e6 ? timeout_secs : 1e6 : (double)DEFAULT_TIMEOUT_SECS;
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + (int64_t)(secs * 1e9);
	CLEANUP_CLOSE int fd = -1;
	pid_t pid = 0;
	int r;

	if (!(what & (RT_DISCOVER_HOST | RT_DISCOVER_CLOUD)))
		return -EINVAL;
	fd = start_discovery(what, &pid);
	if (fd < 0)
		return fd;
	r = read_discovery(fd, until_ns, &answer);
	/* The program still holds its end of the connection, so the pid is still its own. */
	if (r == -ETIMEDOUT)
		kill(pid, SIGKILL);
	if (r == 0 && (answer.length < 3 || answer.data[0] != '{' || answer.data[answer.length - 1] != '\n'))
		r = -EIO;
	detached_reap(pid);
	if (r < 0) {
		buffer_done(&answer);
		return r;
	}
	answer.data[answer.length - 1] = '\0';
	*ret_json = answer.data;
	return 0;
}
