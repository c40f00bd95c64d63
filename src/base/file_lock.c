/* Locks of recordings. See file_lock.h. */
#include "base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/read_file.h"
#include "base/scan.h"

enum { LOCKS_BYTES = 1 << 20, STATUS_BYTES = 64 << 10, HOLDERS = 16 };

/* "fe:00:1234" */
static bool is_of_file(struct scan word, const struct stat *file)
{
	uint64_t major_number, minor_number, inode;

	return scan_hex(&word, &major_number) && scan_literal(&word, ":") && scan_hex(&word, &minor_number) &&
	       scan_literal(&word, ":") && scan_u64(&word, &inode) && inode == file->st_ino &&
	       major_number == major(file->st_dev) && minor_number == minor(file->st_dev);
}

size_t parse_proc_locks(const char *bytes, size_t length, const struct stat *file, pid_t *ret_pids,
			size_t most)
{
	struct scan text = scan_bytes(bytes, length), line, word, file_word;
	size_t count = 0;

	while (scan_line(&text, &line)) {
		int64_t pid;

		/* Its number. Then the kind of lock, or "->" for one that is waited for. */
		if (!scan_word(&line, &word) || !scan_word(&line, &word) || !scan_is(&word, "FLOCK") ||
		    !scan_word(&line, &word) || !scan_word(&line, &word) || !scan_i64(&line, &pid) ||
		    !scan_word(&line, &file_word) || !is_of_file(file_word, file))
			continue;
		if (count < most)
			ret_pids[count] = (pid_t)pid;
		count++;
	}
	return count;
}

/* The effective user of a process: "Uid:	1000	1000	1000	1000". The owner of /proc/PID may be root for other reasons. */
static bool find_user(pid_t pid, uint64_t *ret_user)
{
	CLEANUP_BUFFER struct buffer status = BUFFER(STATUS_BYTES);
	struct scan text, line, word;
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if (pid <= 0 || read_whole_file(path, &status) < 0)
		return false;
	text = scan_bytes(status.data, status.length);
	while (scan_line(&text, &line))
		if (scan_literal(&line, "Uid:") && scan_word(&line, &word))
			return scan_u64(&line, ret_user);
	return false;
}

/* The holder of the lock is unknown in another PID namespace, and on file systems whose device has another number. */
static bool is_held_by_writer(int fd)
{
	CLEANUP_BUFFER struct buffer locks = BUFFER(LOCKS_BYTES);
	pid_t holders[HOLDERS];
	struct stat file;
	size_t count;

	if (fstat(fd, &file) < 0 || file.st_mode & (S_IWGRP | S_IWOTH) ||
	    read_whole_file("/proc/locks", &locks) < 0)
		return true;
	count = parse_proc_locks(locks.data, locks.length, &file, holders, HOLDERS);
	for (size_t i = 0; i < count && i < HOLDERS; i++) {
		uint64_t user;

		if (!find_user(holders[i], &user) || user == 0 || user == file.st_uid || user == geteuid())
			return true;
	}
	return count == 0 || count > HOLDERS;
}

bool is_locked_by_writer(int fd, int operation)
{
	return flock(fd, operation | LOCK_NB) < 0 && errno == EWOULDBLOCK && is_held_by_writer(fd);
}
