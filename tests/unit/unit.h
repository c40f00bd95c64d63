/* Included by every unit test: cmocka and its prerequisites, in the order it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* New versions of cmocka warn of this one, and old ones lack its successors: assert_true() has to do. */
#undef assert_in_range
#pragma GCC poison assert_in_range

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
