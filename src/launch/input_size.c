/* Adds up the sizes of files. See input_size.h. */
#include "launch/input_size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launch/in_time.h"

enum { FOLDERS_DEEP = 32 };

/* The files that were counted, by inode. */
struct seen_files {
	struct {
		dev_t device;
		ino_t inode;
	} list[INPUT_FILES_MOST];
	size_t count;
};

static bool is_new_file(struct seen_files *seen, const struct stat *status)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->list[i].device == status->st_dev && seen->list[i].inode == status->st_ino)
			return false;
	if (seen->count < INPUT_FILES_MOST) {
		seen->list[seen->count].device = status->st_dev;
		seen->list[seen->count++].inode = status->st_ino;
	}
	return true;
}

/* ---- folders, for act_in_time() --------------------------------------------------------------------------- */

struct folder_walk {
	char path[PATH_MAX];
	int64_t bytes;
	size_t entries;
	bool is_whole;
};

static void walk_folder(struct folder_walk *walk, int fd, unsigned depth);

static void add_entry(struct folder_walk *walk, int folder, const char *name, unsigned depth)
{
	struct stat status;
	int fd;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(status.st_mode))
		walk->bytes += status.st_size;
	if (!S_ISDIR(status.st_mode))
		return;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || depth == FOLDERS_DEEP)
		walk->is_whole = false;
	if (fd < 0)
		return;
	if (depth < FOLDERS_DEEP)
		walk_folder(walk, fd, depth + 1);
	else
		close(fd);
}

/* Takes the descriptor. */
static void walk_folder(struct folder_walk *walk, int fd, unsigned depth)
{
	DIR *folder = fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		close(fd);
		walk->is_whole = false;
		return;
	}
	while (walk->is_whole && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++walk->entries > INPUT_ENTRIES_MOST)
			walk->is_whole = false;
		else
			add_entry(walk, dirfd(folder), entry->d_name, depth);
	}
	closedir(folder);
}

static void walk_path(void *data)
{
	struct folder_walk *walk = data;
	int fd = open(walk->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	walk->is_whole = fd >= 0;
	if (fd >= 0)
		walk_folder(walk, fd, 0);
}

static int64_t size_of_folder(const char *path)
{
	struct folder_walk walk = {.bytes = 0};

	/* stat() refuses a longer one. */
	snprintf(walk.path, sizeof(walk.path), "%s", path);
	if (act_in_time(path, walk_path, &walk, sizeof(walk)) < 0 || !walk.is_whole)
		return -1;
	return walk.bytes;
}

/* ---- words ------------------------------------------------------------------------------------------------ */

/* Returns the bytes of a file or folder, 0 if it was counted, or -1. */
static int64_t size_of_path(struct seen_files *seen, const char *path)
{
	struct stat status;

	if (stat_in_time(path, &status) < 0)
		return -1;
	if (S_ISDIR(status.st_mode))
		return size_of_folder(path);
	if (!S_ISREG(status.st_mode))
		return -1;
	return is_new_file(seen, &status) ? status.st_size : 0;
}

struct pattern_search {
	const char *pattern;
	glob_t found;
	int result;
};

static void cleanup_search(struct pattern_search *search)
{
	if (search->result == 0)
		globfree(&search->found);
}

static int64_t size_of_pattern(struct seen_files *seen, const char *pattern)
{
	__attribute__((cleanup(cleanup_search))) struct pattern_search search = {.pattern = pattern};
	int64_t bytes = 0;

	/* The process aside cannot hand its list over: a pattern is matched here, where the folder answers. */
	search.result = answers_in_time(pattern) ? glob(pattern, 0, NULL, &search.found) : GLOB_ABORTED;
	if (search.result != 0)
		return -1;
	for (size_t i = 0; i < search.found.gl_pathc; i++) {
		int64_t size = size_of_path(seen, search.found.gl_pathv[i]);

		if (size < 0)
			return -1;
		bytes += size;
	}
	return bytes;
}

struct input_sum {
	const char *const *words;
	size_t count, at;
	struct seen_files seen;
	int64_t bytes;
};

/* Ends at a word of unknown size. */
static void add_inputs(void *data)
{
	struct input_sum *sum = data;

	for (; sum->at < sum->count; sum->at++) {
		const char *word = sum->words[sum->at];
		int64_t size = size_of_path(&sum->seen, word);

		if (size < 0 && strpbrk(word, "*?["))
			size = size_of_pattern(&sum->seen, word);
		if (size < 0)
			return;
		sum->bytes += size;
	}
}

/* One process aside looks at all of them: on a cluster each may lie on a network's disk. */
static const char *first_that_may_hang(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (acts_aside(words[i]))
			return words[i];
	return *words;
}

int64_t size_of_inputs(const char *const *words, size_t count, const char **ret_unknown)
{
	struct input_sum sum = {.words = words, .count = count};
	const char *hard = count ? first_that_may_hang(words, count) : ".";
	int r = act_in_time(hard, add_inputs, &sum, sizeof(sum));

	*ret_unknown = r < 0 ? hard : sum.at < count ? words[sum.at] : NULL;
	return *ret_unknown ? -1 : sum.bytes;
}

/* A script given as one word ("sh -c ...") and an option are left out. */
static bool may_be_path(const char *word)
{
	size_t length = strcspn(word, "\n;|&<>$`");

	return *word && *word != '-' && !word[length] && length < PATH_MAX;
}

int64_t size_of_named_files(char *const *words, size_t count)
{
	struct seen_files seen = {.count = 0};
	int64_t bytes = -1;
	size_t looks = 0;

	for (size_t i = 1; i < count; i++) {
		struct stat status;

		if (!may_be_path(words[i]))
			continue;
		if (++looks > INPUT_FILES_MOST)
			return -1;
		if (stat_in_time(words[i], &status) < 0)
			continue;
		if (S_ISREG(status.st_mode) && !(status.st_mode & 0111) && is_new_file(&seen, &status))
			bytes = (bytes < 0 ? 0 : bytes) + status.st_size;
	}
	return bytes;
}
