/* What every unit test includes: cmocka and its prerequisites, in the order it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* For what this machine cannot show. cmocka's own skip() says "not ok # SKIP" in TAP, which counts as a failure. */
#define SKIP(reason) \
	do { \
		print_message("# skipped: %s\n", reason); \
		return; \
	} while (0)
