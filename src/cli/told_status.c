/* See told_status.h. */
#include "cli/told_status.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/scan.h"

static const char VARIABLE[] = "RESOURCE_TRACKER_STATUS_FD";
enum { TOLD_WITHIN_MS = 5000, DESCRIPTORS_MOST = 1 << 20 };

int told_status_open(void)
{
	const char *value = getenv(VARIABLE);
	struct scan text = scan_bytes(value ? value : "", value ? strlen(value) : 0);
	uint64_t number;

	if (!scan_u64(&text, &number) || scan_left(&text) || number > DESCRIPTORS_MOST)
		return -1;
	unsetenv(VARIABLE);
	return fcntl((int)number, F_SETFD, FD_CLOEXEC) < 0 ? -1 : (int)number;
}

void told_status_ready(int fd)
{
	if (fd >= 0)
		(void)!send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool told_status_read(int fd, struct told_end *ret_end)
{
	struct pollfd told = {.fd = fd, .events = POLLIN};
	struct told_end end;

	if (fd < 0 || poll(&told, 1, TOLD_WITHIN_MS) <= 0 ||
	    recv(fd, &end, sizeof end, MSG_DONTWAIT) != (ssize_t)sizeof end)
		return false;
	*ret_end = end;
	return true;
}
