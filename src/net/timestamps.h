/*
 * Parses and prints times as the network writes them: ISO 8601 in JSON, RFC 9110 dates in headers, the basic form
 * in SigV4.
 *
 * All are seconds since 1970 in UTC. Parsers return 0, or -EBADMSG without touching the result.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "2026-04-01T12:00:00Z", with fractions (dropped) and any offset. Without one it is UTC. */
int parse_iso8601(const char *text, size_t length, int64_t *ret_secs);

/* "Wed, 01 Apr 2026 12:00:00 GMT", and the obsolete forms of RFC 9110 that libcurl knows. */
int parse_http_date(const char *text, int64_t *ret_secs);

enum { TIME_TEXT_SIZE = 32 };

/* "2026-04-01T12:00:00Z" */
void format_iso8601(int64_t secs, char ret_text[TIME_TEXT_SIZE]);
/* "20260401T120000Z" */
void format_iso8601_basic(int64_t secs, char ret_text[TIME_TEXT_SIZE]);
