/*
 * Included by every unit test: cmocka and its prerequisites, in the order it wants, and the place of a file among those
 * of its room. All files of a room are one program (unit.c), and each ends with UNIT_TESTS { ... } instead of main().
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* New versions of cmocka warn of this one, and old ones lack its successors: assert_true() has to do. */
#undef assert_in_range
#pragma GCC poison assert_in_range

struct unit_file {
	const char *path; /* of the source */
	int (*run)(void); /* 0, or how many tests failed */
	struct unit_file *next;
};

void unit_add(struct unit_file *file);

#define UNIT_TESTS \
	static int run_unit_tests(void); \
	static struct unit_file this_unit_file = {__FILE__, run_unit_tests, NULL}; \
	__attribute__((constructor)) static void add_unit_file(void) \
	{ \
		unit_add(&this_unit_file); \
	} \
	static int run_unit_tests(void)

/* For tests that this machine cannot run: leaves the test, which then counts as skipped. */
#define SKIP(reason) \
	do { \
		print_message("# skipped: %s\n", reason); \
		skip(); \
	} while (0)

/* For tests in which an emulator or valgrind would answer instead of the kernel; $TEST_UNDER names it. */
#define NEEDS_THE_KERNEL_ITSELF() \
	do { \
		if (getenv("TEST_UNDER")) \
			SKIP("not the kernel itself answers"); \
	} while (0)

/* For tests of a process's pages: a sanitiser has areas of terabytes of its own. */
#if defined(__has_feature)
#define UNDER_ADDRESS_SANITISER __has_feature(address_sanitizer)
#define UNDER_THREAD_SANITISER __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITISER true
#elif defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITISER true
#endif
#ifndef UNDER_ADDRESS_SANITISER
#define UNDER_ADDRESS_SANITISER false
#endif
#ifndef UNDER_THREAD_SANITISER
#define UNDER_THREAD_SANITISER false /* its runtime cannot work in two processes with shared memory */
#endif

/* Whether the program runs under the emulator of another processor, which shows the kernel's files of its own process. */
static inline bool is_emulated(void)
{
	const char *under = getenv("TEST_UNDER");

	return under && strcmp(under, "emulator") == 0;
}
