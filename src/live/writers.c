/* Finds the recordings that are being written. See writers.h. */
#include "live/writers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/scan.h"
#include "launch/in_time.h"

enum { PROC_PATH_BYTES = 64, FDINFO_BYTES = 4096 };

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

#define CLEANUP_FOLDER __attribute__((cleanup(close_folder)))

static bool read_proc_link(const char *link, char ret_target[static PATH_MAX])
{
	ssize_t length = readlink(link, ret_target, PATH_MAX - 1);

	if (length <= 0)
		return false;
	ret_target[length] = '\0';
	return true;
}

/* "/usr/bin/resource-tracker", or with " (deleted)" behind it after an upgrade. */
static bool is_recorder(const char *pid)
{
	static const char NAME[] = "/resource-tracker";
	char link[PROC_PATH_BYTES], program[PATH_MAX];
	const char *slash;

	snprintf(link, sizeof(link), "/proc/%s/exe", pid);
	if (!read_proc_link(link, program))
		return false;
	slash = strrchr(program, '/');
	return slash && strncmp(slash, NAME, strlen(NAME)) == 0 &&
	       (slash[strlen(NAME)] == '\0' || slash[strlen(NAME)] == ' ');
}

static bool is_of_this_user(const char *pid)
{
	char folder[PROC_PATH_BYTES];
	struct stat status;

	snprintf(folder, sizeof(folder), "/proc/%s", pid);
	return stat(folder, &status) == 0 && status.st_uid == geteuid();
}

/* "lock:	1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF" */
static bool holds_lock(const char *pid, const char *descriptor)
{
	char path[PROC_PATH_BYTES], text[FDINFO_BYTES];
	CLEANUP_CLOSE int fd = -1;
	struct scan lines, line, word;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, descriptor);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (length <= 0)
		return false;
	lines = scan_bytes(text, (size_t)length);
	while (scan_line(&lines, &line))
		if (scan_literal(&line, "lock:") && scan_word(&line, &word) && scan_word(&line, &word) &&
		    scan_is(&word, "FLOCK"))
			return true;
	return false;
}

/* A path means the same to a process with our mounts alone. */
static bool has_our_mounts(const char *pid)
{
	char link[PROC_PATH_BYTES], ours[PATH_MAX], theirs[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%s/ns/mnt", pid);
	return read_proc_link("/proc/self/ns/mnt", ours) && read_proc_link(link, theirs) &&
	       strcmp(ours, theirs) == 0;
}

/* Returns false if the file system did not answer. A file that was removed is reached by its descriptor. */
static bool take_descriptor(const char *pid, const char *descriptor, writers_take *take, void *context)
{
	char link[PROC_PATH_BYTES], path[PATH_MAX];
	struct stat written, named;
	int r;

	snprintf(link, sizeof(link), "/proc/%s/fd/%s", pid, descriptor);
	if (!holds_lock(pid, descriptor) || !read_proc_link(link, path))
		return true;
	r = stat_in_time(path, &named);
	if (r == -ETIMEDOUT)
		return false;
	if (stat(link, &written) < 0 || !S_ISREG(written.st_mode))
		return true;
	take(context,
	     r == 0 && named.st_dev == written.st_dev && named.st_ino == written.st_ino ? path : link,
	     &written);
	return true;
}

static bool take_recorder(const char *pid, writers_take *take, void *context)
{
	char path[PROC_PATH_BYTES];
	CLEANUP_FOLDER DIR *folder = NULL;
	const struct dirent *entry;
	bool answers = true;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	folder = opendir(path);
	while (folder && answers && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			answers = take_descriptor(pid, entry->d_name, take, context);
	return answers;
}

bool writers_find(writers_take *take, void *context)
{
	CLEANUP_FOLDER DIR *processes = opendir("/proc");
	const struct dirent *entry;
	bool answers = true;

	while (processes && (entry = readdir(processes)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strlen(entry->d_name) < 12 &&
		    is_recorder(entry->d_name) && is_of_this_user(entry->d_name) &&
		    has_our_mounts(entry->d_name))
			answers &= take_recorder(entry->d_name, take, context);
	return answers;
}

uint64_t writers_locks(void)
{
	CLEANUP_CLOSE int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	uint64_t number = FNV_BEGIN;
	char text[FDINFO_BYTES];
	ssize_t length;

	while ((length = read(fd, text, sizeof(text))) > 0)
		number = fnv_add(number, text, (size_t)length);
	return length < 0 ? 0 : number;
}
