/* Shared by the tests of src/kernel: fixture trees, and texts in blocks without a byte to spare. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
 * Parses every prefix of a text, each in a block of exactly its size, so that sanitisers and valgrind see a
 * read past its end.
 */
static inline void each_prefix(const char *text, void (*parse)(const char *bytes, size_t length))
{
	size_t whole = strlen(text);

	for (size_t length = 0; length <= whole; length++) {
		char *bytes = malloc(length ? length : 1);

		assert_non_null(bytes);
		memcpy(bytes, text, length);
		parse(bytes, length);
		free(bytes);
	}
}
