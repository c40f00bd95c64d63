/* Shared by the tests of src/kernel: fixture trees, and texts in blocks without a byte to spare. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"
#include "kernel/root.h"

/* `tree` is a folder below tests/roots, such as "hand-made-vm-3.10/t0". */
static inline struct root test_root(const char *tree)
{
	const char *roots = getenv("TEST_ROOTS");
	struct root root;
	char path[4096];

	assert_non_null(roots);
	snprintf(path, sizeof path, "%s/%s", roots, tree);
	assert_int_equal(root_open(&root, path, NULL), 0);
	return root;
}

static inline void assert_scan_equal(const struct scan *scan, const char *text)
{
	if (!scan_is(scan, text))
		fail_msg("\"%.*s\" is not \"%s\"", (int)scan_left(scan), scan->at, text);
}

/*
 * Parses every beginning of a message but the whole, each in a block of exactly its size, so that sanitisers and valgrind
 * see a read past its end.
 */
static inline void each_beginning(const void *message, size_t whole,
				  void (*parse)(const char *bytes, size_t length))
{
	for (size_t length = 0; length < whole; length++) {
		char *bytes = malloc(length ? length : 1);

		assert_non_null(bytes);
		memcpy(bytes, message, length);
		parse(bytes, length);
		free(bytes);
	}
}

/* The same with a text, and with the whole of it. */
static inline void each_prefix(const char *text, void (*parse)(const char *bytes, size_t length))
{
	each_beginning(text, strlen(text) + 1, parse);
}

/* A child that has ended and was waited for. */
static inline pid_t reaped_child(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}
