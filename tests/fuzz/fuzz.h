/* Shared by all fuzz targets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static inline void must_hold(bool holds)
{
	if (!holds)
		abort();
}

/* A parser's text must lie inside its input. */
static inline void must_lie_in(const struct scan *part, const char *bytes, size_t length)
{
	must_hold(part->at <= part->end && part->at >= bytes && part->end <= bytes + length);
}

/* A target for several parsers: the first byte of an input ('a', 'b', ...) selects one. */
typedef void (*fuzz_parser)(const char *bytes, size_t length);

static inline void fuzz_one_of(const fuzz_parser *parsers, size_t count, const uint8_t *bytes, size_t length)
{
	if (length)
		parsers[(uint8_t)(bytes[0] - 'a') % count]((const char *)bytes + 1, length - 1);
}

/*
 * Calls parse_X(bytes, length, &result) and checks its contract: a failure leaves the result unchanged. The
 * block checks a success.
 */
#define FUZZ_PARSE(parse, type, result) \
	type result, result##_before; \
	memset(&result, 0x5a, sizeof result); \
	memset(&result##_before, 0x5a, sizeof result##_before); \
	if (parse(bytes, length, &result) < 0) \
		must_hold(memcmp(&result, &result##_before, sizeof result) == 0); \
	else
