/*
 * /proc/PID/status
 *
 *   State:	S (sleeping)
 *   Threads:	1
 *   ShdPnd:	0000000000000000
 *   voluntary_ctxt_switches:	27
 *
 * /proc/PID/task/TID/children
 *
 *   4711 4712
 */
#include "wrap/peek.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"

enum {
	STATUS_SIZE = 4096,
	CHILDREN_CEILING = 16 << 20,
	READ_STEP = 4096,
};

/* Builds "/proc/PID/status" without snprintf(), which a forked child must not call. */
static void status_path(pid_t pid, char *ret_path)
{
	char digits[16];
	size_t count = 0;

	ret_path = stpcpy(ret_path, "/proc/");
	do
		digits[count++] = (char)('0' + pid % 10);
	while (pid /= 10);
	while (count)
		*ret_path++ = digits[--count];
	stpcpy(ret_path, "/status");
}

static size_t read_memory_text(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	do {
		got = read(fd, text + length, size - length);
		length += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return length;
}

int peek_process(pid_t pid, struct peek *ret_peek)
{
	char path[64], bytes[STATUS_SIZE];
	struct scan text, line, key, word;
	struct peek peek = {0};
	int found = 0;
	int fd;

	status_path(pid, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text = scan_bytes(bytes, read_memory_text(fd, bytes, sizeof bytes));
	close(fd);
	while (scan_line(&text, &line)) {
		if (!scan_until(&line, ':', &key))
			continue;
		if (scan_is(&key, "State") && scan_word(&line, &word)) {
			peek.state = *word.at;
			found++;
		} else if (scan_is(&key, "Threads")) {
			found += scan_i64(&line, &peek.threads);
		} else if (scan_is(&key, "ShdPnd")) {
			found += scan_hex(&line, &peek.pending);
		} else if (scan_is(&key, "voluntary_ctxt_switches")) {
			found += scan_i64(&line, &peek.switches);
		}
	}
	if (found != 4)
		return -EBADMSG;
	*ret_peek = peek;
	return 0;
}

bool is_stopped(pid_t pid)
{
	struct peek peek = {0};

	return peek_process(pid, &peek) == 0 && peek.state == 'T';
}

int add_thread_children(pid_t pid, pid_t tid, struct pid_set *set)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(CHILDREN_CEILING);
	char path[64];
	struct scan text;
	int64_t child;
	size_t got;
	int result = 0;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
	{
		CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return -errno;
		do {
			if (buffer_reserve(&bytes, READ_STEP) < 0)
				return buffer_error(&bytes);
			got = read_memory_text(fd, bytes.data + bytes.length, READ_STEP);
			bytes.length += got;
		} while (got == READ_STEP);
	}
	text = scan_bytes(bytes.data, bytes.length);
	while (result == 0 && scan_i64(&text, &child))
		result = pid_set_add(set, (pid_t)child);
	return result;
}

int add_children(pid_t pid, struct pid_set *set)
{
	char path[64];
	struct dirent *entry;
	int result = -ENOENT;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return -errno;
	while ((entry = readdir(tasks))) {
		struct scan name = scan_bytes(entry->d_name, strlen(entry->d_name));
		int64_t tid;

		if (scan_i64(&name, &tid) && add_thread_children(pid, (pid_t)tid, set) == 0)
			result = 0;
	}
	closedir(tasks);
	return result;
}
