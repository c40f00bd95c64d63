/* /proc/PID/maps: the areas of a process's address space, without the pages in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/scan.h"
#include "kernel/root.h"

struct memory_area {
	uint64_t start; /* bytes; a multiple of the page size, like the next two */
	uint64_t end;
	uint64_t offset; /* of `start` in the file */
	bool readable;
	bool writable;
	bool shared;     /* writes reach the file or the other processes that map it */
	uint64_t device; /* as in st_dev */
	uint64_t inode;  /* 0: anonymous memory, or the System V segment with the id 0 */
	struct scan
		name; /* path, "[heap]", "/dev/zero (deleted)" or empty; a newline in a path is escaped (\012) */
};

/*
 * Begins an iteration. The text stays the caller's.
 *
 *   struct scan areas = parse_proc_pid_maps(bytes, length);
 *   while (proc_pid_maps_next(&areas, &area))
 */
struct scan parse_proc_pid_maps(const char *bytes, size_t length);

/* Returns the next area. Other lines are skipped. */
bool proc_pid_maps_next(struct scan *areas, struct memory_area *ret_area);

/*
 * The kernel holds the process's memory map for one page of output at a time. ret_areas points into root->text: valid
 * until the next read. -EACCES for another user's process.
 */
int read_proc_pid_maps(struct root *root, pid_t pid, struct scan *ret_areas);
