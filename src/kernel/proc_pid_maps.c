/*
 * /proc/PID/maps
 *
 *   7f12a4000000-7f12a4021000 rw-p 00000000 00:00 0
 *   7f12a8e00000-7f12a8e28000 r--p 00000000 fe:00 1572890                    /usr/lib/x86_64-linux-gnu/libc.so.6
 *   7f12a9000000-7f12ce800000 rw-s 00000000 00:01 2049                       /dev/zero (deleted)
 */
#include "kernel/proc_pid_maps.h"

#include <sys/sysmacros.h>

#include "base/cleanup.h"

enum { PERMISSIONS = 4 };

struct scan parse_proc_pid_maps(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static bool scan_maps_device(struct scan *line, uint64_t *ret_device)
{
	uint64_t major_number, minor_number;

	if (!scan_hex(line, &major_number) || !scan_literal(line, ":") || !scan_hex(line, &minor_number) ||
	    major_number > UINT32_MAX || minor_number > UINT32_MAX)
		return false;
	*ret_device = makedev((unsigned)major_number, (unsigned)minor_number);
	return true;
}

static bool scan_area(struct scan *line, struct memory_area *area)
{
	struct scan permissions;

	if (!scan_hex(line, &area->start) || !scan_literal(line, "-") || !scan_hex(line, &area->end) ||
	    area->end <= area->start || !scan_word(line, &permissions) ||
	    scan_left(&permissions) < PERMISSIONS || !scan_hex(line, &area->offset) ||
	    !scan_maps_device(line, &area->device) || !scan_u64(line, &area->inode))
		return false;
	area->readable = permissions.at[0] == 'r';
	area->writable = permissions.at[1] == 'w';
	area->shared = permissions.at[3] == 's';
	scan_blanks(line);
	area->name = *line;
	return true;
}

bool proc_pid_maps_next(struct scan *areas, struct memory_area *ret_area)
{
	struct memory_area area;
	struct scan line;

	while (scan_line(areas, &line)) {
		if (!scan_area(&line, &area))
			continue;
		*ret_area = area;
		return true;
	}
	return false;
}

int read_proc_pid_maps(struct root *root, pid_t pid, struct scan *ret_areas)
{
	CLEANUP_CLOSE int fd = root_open_pid(root, pid, "maps", 0);
	ssize_t length = fd < 0 ? fd : root_pread_to_end(root, fd);

	if (length < 0)
		return (int)length;
	*ret_areas = parse_proc_pid_maps(root->text.data, (size_t)length);
	return 0;
}
