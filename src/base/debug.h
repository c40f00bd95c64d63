/*
 * TRACKER_DEBUG=1: a line on stderr for each thing that a part of the program does, with its time. TRACKER_DEBUG=members: for
 * each sample and member of the job a line with its figures, their sources, and the reasons. Without that variable a call
 * costs one comparison.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether TRACKER_DEBUG has one of these values. A program with more rights than its caller says no. */
bool debug_is_on(void);

/* Whether it is "members". */
bool debug_has_members(void);

/* CLOCK_MONOTONIC for debug_say(), or 0 without TRACKER_DEBUG=1. */
int64_t debug_now_ns(void);

/*
 * Writes "resource-tracker: debug SECONDS PART: TEXT" and, with `since_ns` of debug_now_ns(), how long it took. SECONDS
 * count from the first line of the process. A line is dropped if stderr cannot take it at once.
 */
void debug_say(const char *part, int64_t since_ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for "member", with TRACKER_DEBUG=members. */
void debug_say_member(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether a line of another program is such a line. It is then written as it is, if debugging is on here, too. */
bool debug_pass_on(const char *line);
