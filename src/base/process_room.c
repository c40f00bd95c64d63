/* Whether the limits on processes leave some over. See process_room.h. */
#include "base/process_room.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"

enum { FEW_PROCESSES = 64, TEXT_SIZE = 4096 };

static struct scan read_room_file(const char *path, char *text)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, TEXT_SIZE);

	return scan_bytes(text, length > 0 ? (size_t)length : 0);
}

/* Reads the number in a file of a group. Returns false if the file is absent or says "max". */
static bool read_room_number(const char *mount, struct scan group, const char *file, int64_t *ret_number)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	char bytes[TEXT_SIZE];
	struct scan text;

	buffer_add_text(&path, mount);
	buffer_add(&path, group.at, scan_left(&group));
	buffer_add_text(&path, file);
	if (buffer_error(&path))
		return false;
	text = read_room_file(path.data, bytes);
	return scan_i64(&text, ret_number);
}

/* Checks this group and all groups above it. */
static bool has_room_in(const char *mount, struct scan group)
{
	int64_t most, now;

	for (;;) {
		while (scan_left(&group) && group.end[-1] == '/')
			group.end--;
		if (read_room_number(mount, group, "/pids.max", &most) &&
		    (!read_room_number(mount, group, "/pids.current", &now) || most - now < FEW_PROCESSES))
			return false;
		if (!scan_left(&group))
			return true;
		while (scan_left(&group) && group.end[-1] != '/')
			group.end--;
	}
}

static bool has_room_in_groups(void)
{
	char bytes[TEXT_SIZE];
	struct scan text = read_room_file("/proc/self/cgroup", bytes), line, controllers;

	while (scan_line(&text, &line)) {
		if (!scan_until(&line, ':', &controllers) || !scan_until(&line, ':', &controllers))
			continue;
		/* A controller is in one hierarchy only, and version 2 is listed last. */
		if (scan_is(&controllers, "pids"))
			return has_room_in("/sys/fs/cgroup/pids", line);
		if (!scan_left(&controllers) &&
		    (!has_room_in("/sys/fs/cgroup", line) || !has_room_in("/sys/fs/cgroup/unified", line)))
			return false;
	}
	return true;
}

bool has_room_for_processes(bool has_own_proc)
{
	struct rlimit processes;

	if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY &&
	    processes.rlim_cur <= FEW_PROCESSES)
		return false;
	return !has_own_proc || has_room_in_groups();
}
