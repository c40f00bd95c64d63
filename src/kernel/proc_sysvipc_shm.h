/* /proc/sysvipc/shm: the System V shared memory segments of the reader's IPC namespace, of all users. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "kernel/root.h"

struct shm_segment {
	int64_t id; /* /proc/PID/maps shows it as the inode */
	int64_t size_bytes;
	int64_t attached_count;
	int64_t resident_bytes; /* since Linux 2.6.39, like the next, -1 if absent */
	int64_t swapped_bytes;
};

/* Finds a segment by its id. Returns false if it is not in the table. */
bool parse_proc_sysvipc_shm(const char *bytes, size_t length, int64_t id, struct shm_segment *ret_segment);

/* Reads the table into root->text, for parse_proc_sysvipc_shm(). Returns the length or a negative errno. */
ssize_t read_proc_sysvipc_shm(struct root *root);
