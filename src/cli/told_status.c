/* See told_status.h. */
#include "cli/told_status.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"

static const char VARIABLE[] = "RESOURCE_TRACKER_STATUS_FD";
enum { TOLD_WITHIN_MS = 5000, SECS_MOST = 1000000000 };

/* Another descriptor of the caller, such as the standard output, is left alone. */
static bool is_stream_socket(int fd)
{
	int kind = 0;
	socklen_t length = sizeof kind;

	return fd > STDERR_FILENO && getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 &&
	       kind == SOCK_STREAM;
}

static bool is_possible(const struct told_end *end)
{
	const int64_t most_usec = (int64_t)SECS_MOST * 1000000;

	return end->utime_usec >= 0 && end->utime_usec <= most_usec && end->stime_usec >= 0 &&
	       end->stime_usec <= most_usec && end->largest_kib >= 0 &&
	       (WIFEXITED(end->status) || WIFSIGNALED(end->status));
}

int told_status_open(void)
{
	const char *value = secure_getenv(VARIABLE);
	struct scan text = scan_bytes(value ? value : "", value ? strlen(value) : 0);
	uint64_t number;
	bool known = scan_u64(&text, &number) && !scan_left(&text) && (uint64_t)(int)number == number;

	/* Its children have no such descriptor. */
	if (unsetenv(VARIABLE) < 0 || !known || !is_stream_socket((int)number) ||
	    fcntl((int)number, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return (int)number;
}

/* The parent reads no more lines once the recorder is ready. */
static void leave_stderr(int fd)
{
	struct stat ours, told;
	CLEANUP_CLOSE int null = -1;

	if (fstat(STDERR_FILENO, &ours) < 0 || fstat(fd, &told) < 0 || ours.st_dev != told.st_dev ||
	    ours.st_ino != told.st_ino)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

void told_status_ready(int fd)
{
	if (fd < 0)
		return;
	leave_stderr(fd);
	(void)!send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool told_status_read(int fd, struct told_end *ret_end)
{
	struct pollfd told = {.fd = fd, .events = POLLIN};
	struct told_end end;

	if (fd < 0 || poll(&told, 1, TOLD_WITHIN_MS) <= 0 ||
	    recv(fd, &end, sizeof end, MSG_DONTWAIT) != (ssize_t)sizeof end || !is_possible(&end))
		return false;
	*ret_end = end;
	return true;
}
