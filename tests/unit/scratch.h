/* Gives each test its own current folder, and helps with small files in it. */
#pragma once

#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[] = "/tmp/rt-unit-XXXXXX";

static inline int scratch_enter(void **state)
{
	(void)state;
	memcpy(scratch_folder + sizeof scratch_folder - 7, "XXXXXX", 6);
	return mkdtemp(scratch_folder) && chdir(scratch_folder) == 0 ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
	(void)status, (void)flag, (void)walk;
	return remove(path);
}

static inline int scratch_leave(void **state)
{
	(void)state;
	return chdir("/") == 0 && nftw(scratch_folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0
		       ? 0
		       : -1;
}

static inline void put_file(const char *path, const void *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
}

static inline void put_text(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

/* Writes a file and makes the folders above it. */
static inline void put_below(const char *path, const char *text)
{
	char folder[200];

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(folder, sizeof folder, "%.*s", (int)(at - path), path);
		mkdir(folder, 0755);
	}
	put_text(path, text);
}

/* Returns the whole file, NUL-terminated; the caller frees it. */
static inline char *get_file(const char *path, size_t *ret_length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *text;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	text = malloc((size_t)status.st_size + 1);
	assert_non_null(text);
	assert_int_equal(read(fd, text, (size_t)status.st_size), status.st_size);
	text[status.st_size] = '\0';
	if (ret_length)
		*ret_length = (size_t)status.st_size;
	close(fd);
	return text;
}

#define assert_file_text(path, text) \
	do { \
		char *found_text = get_file(path, NULL); \
		assert_string_equal(found_text, text); \
		free(found_text); \
	} while (0)

/* Unsets each variable of streaming, and of the recorder, that the caller of the tests has set. */
static inline void forget_variables(void)
{
	extern char **environ;

	for (char **at = environ; *at;)
		if (strncmp(*at, "OTEL_", 5) == 0 || strncmp(*at, "TRACKER_", 8) == 0 ||
		    strncmp(*at, "SENTINEL_", 9) == 0) {
			char *name = strndup(*at, strcspn(*at, "="));

			unsetenv(name);
			free(name);
		} else {
			at++;
		}
}

#define unit_test_in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
