/* Included by every unit test: cmocka and its prerequisites, in the order it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

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
