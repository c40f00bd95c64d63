/* Fixture trees in one folder, step by step; see lay_tree.h. */
#include "lay_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "unit.h"

enum { PATH_SIZE = 4096 };

static void copy_file(const char *from, const char *to)
{
	CLEANUP_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC);
	CLEANUP_CLOSE int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char bytes[65536];
	ssize_t got;

	assert_true(in >= 0 && out >= 0);
	while ((got = read(in, bytes, sizeof bytes)) > 0)
		assert_int_equal(write(out, bytes, (size_t)got), got);
	assert_int_equal(got, 0);
}

static void copy_link(const char *from, const char *to)
{
	char target[PATH_SIZE];
	ssize_t length = readlink(from, target, sizeof target - 1);

	assert_true(length > 0);
	target[length] = '\0';
	unlink(to);
	assert_int_equal(symlink(target, to), 0);
}

void remove_tree(const char *path)
{
	struct stat stat;
	DIR *folder;
	const struct dirent *entry;

	if (lstat(path, &stat) < 0)
		return;
	if (!S_ISDIR(stat.st_mode)) {
		unlink(path);
		return;
	}
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		char below[PATH_SIZE];

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
		remove_tree(below);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* What does not change from one step to the next is a link into the first step's tree. */
static bool is_shared(const char *path)
{
	char target[PATH_SIZE];
	ssize_t length = readlink(path, target, sizeof target - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	return strstr(target, "../t0/") != NULL;
}

static void lay_entry(const char *from, const char *to, const char *name)
{
	char from_path[PATH_SIZE], to_path[PATH_SIZE];
	struct stat stat;

	snprintf(from_path, sizeof from_path, "%s/%s", from, name);
	snprintf(to_path, sizeof to_path, "%s/%s", to, name);
	if (is_shared(from_path))
		return;
	assert_int_equal(lstat(from_path, &stat), 0);
	if (S_ISDIR(stat.st_mode))
		lay_over(from_path, to_path);
	else if (S_ISLNK(stat.st_mode))
		copy_link(from_path, to_path);
	else
		copy_file(from_path, to_path);
}

void lay_over(const char *from, const char *to)
{
	const struct dirent *entry;
	DIR *folder;

	mkdir(to, 0755);
	folder = opendir(to);
	while (folder && (entry = readdir(folder))) {
		char from_path[PATH_SIZE], to_path[PATH_SIZE];
		struct stat stat;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(from_path, sizeof from_path, "%s/%s", from, entry->d_name);
		snprintf(to_path, sizeof to_path, "%s/%s", to, entry->d_name);
		if (lstat(from_path, &stat) < 0)
			remove_tree(to_path);
	}
	if (folder)
		closedir(folder);
	folder = opendir(from);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			lay_entry(from, to, entry->d_name);
	closedir(folder);
}
