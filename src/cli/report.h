/* What is told after a recording, and to the job about it. Everything here is malloc'd for the caller. */
#pragma once

#include <stdbool.h>

#include "resource_tracker.h"

/* The first regular file that is written, as an absolute path; NULL if there is none. */
char *first_file(rt_tracker *tracker);

/*
 * "RESOURCE_TRACKER_MARKS=FILE": where `resource-tracker mark` adds the phases of the job, FILE being the
 * first recording's name with ".marks" behind it. NULL if no regular file is written: then a job keeps what it
 * inherited, and its marks go to the recording around this one.
 */
char *marks_variable(rt_tracker *tracker);

/* Why values of the last sample are null, to stderr. */
void print_reasons(rt_tracker *tracker);

/*
 * Whether a signal that asks for the end has come since the job has ended (forget_signals()): HUP, INT, QUIT or TERM,
 * which are blocked here. Everything that is told at the end gives way to it.
 */
bool is_told_to_go(void);

/* Drops those that came before: they were for the job. */
void forget_signals(void);

/*
 * What follows waits for an analysis as long as it works. One that has stood still for some seconds (a frozen terminal, a
 * full pipe, a FIFO without a reader) is ended.
 */

/* `resource-tracker-analysis summary FILE` to stderr; nothing if it is not installed. */
void print_summary(const char *path, bool as_json);

/* `resource-tracker-analysis report -o PAGE FILE`; it is said when that cannot be done. `path` may be NULL. */
void write_report(const char *path, const char *page);
