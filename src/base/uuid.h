/* Identities that differ from all others: UUID version 7 (RFC 9562), which sorts by the time at which it was made. */
#pragma once

#include <stdint.h>

enum { UUID_TEXT_BYTES = 37, UUID_RANDOM_BYTES = 10 };

/* "019aa5d2-3c00-7abc-8def-0123456789ab": 48 bits of milliseconds since 1970, then 74 of the random bits. */
void uuid7_text(int64_t realtime_ms, const unsigned char random[static UUID_RANDOM_BYTES],
		char ret_text[static UUID_TEXT_BYTES]);

/* The same with random bits from the kernel. Without them (a system call is refused), clocks and pid stand in. */
void uuid7_make(int64_t realtime_ms, char ret_text[static UUID_TEXT_BYTES]);
