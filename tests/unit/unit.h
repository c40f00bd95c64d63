/* Included by every unit test: cmocka and its prerequisites, in the order it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* For what this machine cannot show: leaves the test, which then counts as skipped. */
#define SKIP(reason) \
	do { \
		print_message("# skipped: %s\n", reason); \
		skip(); \
	} while (0)

/* For what an emulator or valgrind answers in the kernel's place; $TEST_UNDER names it. */
#define NEEDS_THE_KERNEL_ITSELF() \
	do { \
		if (getenv("TEST_UNDER")) \
			SKIP("not the kernel itself answers"); \
	} while (0)
