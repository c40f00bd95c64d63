/* Lengths of time as people write them. */
#pragma once

#include <stdbool.h>

/*
 * The whole text, without the blanks around it: a number of seconds, or a number with ms, s, m, h or d behind it. False
 * for anything else, "nan" and "inf" too.
 */
bool parse_duration(const char *text, double *ret_secs);
