/* Parses lengths of time as people write them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The whole text, without the blanks around it: a number of seconds, or a number followed by ms, s, m, h or d.
 * Returns false for any other text, including "nan" and "inf".
 */
bool parse_duration(const char *text, double *ret_secs);

/* A number above 0, at most `most`. */
bool parse_positive(const char *text, double most, double *ret_number);

/* A whole number from 1 to `most`, or "off", which is 0. */
bool parse_count_or_off(const char *text, uint64_t most, int64_t *ret_count);
