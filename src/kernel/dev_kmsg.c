/*
 * /dev/kmsg, one record a read:
 *
 *   6,1418,1352094427,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),...,task=python3,pid=12699,uid=0
 *   3,1419,1352094452,-;Memory cgroup out of memory: Killed process 12699 (python3) total-vm:323768kB, ...
 *
 * The number before the first comma is 8 times the facility plus the level: below 8 the kernel itself has written it.
 */
#include "kernel/dev_kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"

enum {
	LONGEST_RECORD = 8 << 10,
	KERNEL_LEVELS = 8,
	RECORDS_AT_ONCE = 16 << 10,
};
/* The inode number that the kernel gives the first PID namespace (PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

int open_dev_kmsg(const struct root *root, int *ret_fd)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status;

	if (!root->live || fstatat(root->dir_fd, "proc/self/ns/pid", &status, 0) < 0 ||
	    status.st_ino != FIRST_PID_NAMESPACE)
		return -EOPNOTSUPP;
	fd = root_open_file(root, "dev/kmsg", O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0 || !S_ISCHR(status.st_mode) || lseek(fd, 0, SEEK_END) < 0)
		return -EOPNOTSUPP;
	*ret_fd = take_fd(&fd);
	return 0;
}

static bool find_after(struct scan *text, const char *what)
{
	const char *found = scan_left(text) ? memmem(text->at, scan_left(text), what, strlen(what)) : NULL;

	if (found)
		text->at = found + strlen(what);
	return found;
}

/* A command's name may contain commas: the last comma is the kernel's. */
static bool find_last_after(struct scan *text, const char *what)
{
	struct scan rest = *text;

	if (!find_after(&rest, what))
		return false;
	do
		*text = rest;
	while (find_after(&rest, what));
	return true;
}

bool parse_dev_kmsg_kill(const char *bytes, size_t length, pid_t *ret_pid)
{
	struct scan text = scan_bytes(bytes, length), line;
	uint64_t level, pid;

	if (!scan_line(&text, &line) || !scan_u64(&line, &level) || level >= KERNEL_LEVELS ||
	    !find_after(&line, ";"))
		return false;
	if (scan_literal(&line, "oom-kill:") ? !find_last_after(&line, ",pid=")
					     : !find_after(&line, ": Killed process "))
		return false;
	if (!scan_u64(&line, &pid) || !pid || pid > INT32_MAX)
		return false;
	*ret_pid = (pid_t)pid;
	return true;
}

int read_dev_kmsg_kill(int fd, pid_t *ret_pid)
{
	char record[LONGEST_RECORD];

	for (int i = 0; i < RECORDS_AT_ONCE; i++) {
		ssize_t length = read(fd, record, sizeof record);

		if (length < 0 && errno == EAGAIN)
			return 0;
		/* EPIPE: the oldest records were overwritten; EINVAL: a record is longer than the buffer. */
		if (length < 0 && (errno == EPIPE || errno == EINTR || errno == EINVAL))
			continue;
		if (length <= 0)
			return length < 0 ? -errno : 0;
		if (parse_dev_kmsg_kill(record, (size_t)length, ret_pid))
			return 1;
	}
	return 0;
}
