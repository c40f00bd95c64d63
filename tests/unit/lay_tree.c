/* Lays fixture trees into one folder, step by step; see lay_tree.h. */
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

/*
 * A file that a step leaves unchanged is a hard link to the same file of the step before
 * (tools/root-archive).
 */
static bool is_unchanged(const struct stat *stat, const char *before)
{
	struct stat earlier;

	return S_ISREG(stat->st_mode) && stat->st_nlink > 1 && lstat(before, &earlier) == 0 &&
	       earlier.st_ino == stat->st_ino;
}

static void lay_folder(const char *from, const char *before, const char *to);

static void lay_entry(const char *from, const char *before, const char *to)
{
	struct stat stat;

	assert_int_equal(lstat(from, &stat), 0);
	if (is_unchanged(&stat, before))
		return;
	if (S_ISDIR(stat.st_mode))
		lay_folder(from, before, to);
	else if (S_ISLNK(stat.st_mode))
		copy_link(from, to);
	else
		copy_file(from, to);
}

static void remove_gone(const char *from, const char *to)
{
	const struct dirent *entry;
	DIR *folder = opendir(to);

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
}

static void lay_folder(const char *from, const char *before, const char *to)
{
	const struct dirent *entry;
	DIR *folder = opendir(from);

	assert_non_null(folder);
	if (mkdir(to, 0755) < 0)
		remove_gone(from, to);
	while ((entry = readdir(folder))) {
		char from_path[PATH_SIZE], before_path[PATH_SIZE], to_path[PATH_SIZE];

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(from_path, sizeof from_path, "%s/%s", from, entry->d_name);
		snprintf(before_path, sizeof before_path, "%s/%s", before, entry->d_name);
		snprintf(to_path, sizeof to_path, "%s/%s", to, entry->d_name);
		lay_entry(from_path, before_path, to_path);
	}
	closedir(folder);
}

void lay_over(const char *from, const char *to)
{
	char before[PATH_SIZE];
	size_t length = strlen(from);

	snprintf(before, sizeof before, "%s", from);
	/* Before the first step, t0, there is none: the folder "t/" does not exist. */
	before[length - 1] = before[length - 1] > '0' ? (char)(before[length - 1] - 1) : '/';
	lay_folder(from, before, to);
}
