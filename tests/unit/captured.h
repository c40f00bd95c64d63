/* The output of a test goes to the files out and err of its scratch folder. */
#pragma once

#include "scratch.h"

static int kept_streams[2];

static inline int capture_streams(void **state)
{
	int result = scratch_enter(state);

	for (int fd = STDOUT_FILENO; result == 0 && fd <= STDERR_FILENO; fd++) {
		int file = open(fd == STDOUT_FILENO ? "out" : "err",
				O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

		kept_streams[fd - 1] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		result = file < 0 || kept_streams[fd - 1] < 0 || dup2(file, fd) < 0 ? -1 : 0;
		close(file);
	}
	return result;
}

static inline int free_streams(void **state)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		dup2(kept_streams[fd - 1], fd);
		close(kept_streams[fd - 1]);
	}
	return scratch_leave(state);
}

/* Compares all that was printed since the last call. */
#define assert_printed(file, text) \
	do { \
		assert_file_text(file, text); \
		assert_int_equal(truncate(file, 0), 0); \
	} while (0)

#define assert_printed_has(file, text) \
	do { \
		char *printed_text = get_file(file, NULL); \
		bool is_there = strstr(printed_text, text) != NULL; \
		if (!is_there) \
			print_error("no \"%s\" in \"%s\"\n", text, printed_text); \
		free(printed_text); \
		assert_true(is_there); \
		assert_int_equal(truncate(file, 0), 0); \
	} while (0)

/* Keeps what was printed. */
#define assert_printed_lacks(file, text) \
	do { \
		char *printed_text = get_file(file, NULL); \
		bool is_there = strstr(printed_text, text) != NULL; \
		free(printed_text); \
		assert_false(is_there); \
	} while (0)

#define unit_test_captured(test) cmocka_unit_test_setup_teardown(test, capture_streams, free_streams)
