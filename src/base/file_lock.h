/* The lock that a recorder holds on a file while it writes to it: flock(2), which every reader of the file may take too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Tries to take the lock (LOCK_EX or LOCK_SH) without waiting. True if another process has one that counts. The lock of a
 * user who may not write to the file does not count: that user could keep recordings from starting.
 */
bool is_locked_by_writer(int fd, int operation);

/*
 * The pids that hold a lock on a file, by the text of /proc/locks:
 *
 *	1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
 *
 * Returns how many of them there are. At most `most` are in ret_pids.
 */
size_t parse_proc_locks(const char *bytes, size_t length, const struct stat *file, pid_t *ret_pids,
			size_t most);
