/*
 * The output after a recording, and the variable that lets the job add marks. The caller frees every returned
 * text.
 */
#pragma once

#include <stdbool.h>

#include "cli/front_choice.h"
#include "resource_tracker.h"

/* Returns the first regular file among the outputs, or the first that is JSON, as an absolute path, or NULL. */
char *first_file(rt_tracker *tracker);
char *first_json_file(rt_tracker *tracker, const struct front *front);

/*
 * Returns "RESOURCE_TRACKER_MARKS=FILE", where `resource-tracker mark` writes the phases of the job. FILE is
 * the first recording's name with ".marks" added; `kept_path` is the recording of the history, or NULL. Returns NULL if no
 * regular file is written: the job then keeps the variable that it inherited, and its marks go to the outer recording.
 */
char *marks_variable(rt_tracker *tracker, const char *kept_path);

/* Prints to stderr why values of the last sample are null. */
void print_reasons(rt_tracker *tracker);

/*
 * All of these wait for the analysis as long as it makes progress. An analysis that has made none for some
 * seconds (a frozen terminal, a full pipe, a FIFO without a reader) is killed.
 */

/*
 * Runs `resource-tracker-analysis summary FILE` with output to stderr. If it is not installed, this
 * says so where the summary was asked for (is_asked), else nothing.
 */
void print_summary(const char *path, bool as_json, bool is_asked);
/* Says on a terminal where the recording is, and how to see more of it, or of a CSV file that there was more to keep. */
void name_recording(const char *path, bool is_csv);

/*
 * Runs `resource-tracker-analysis --keep FORM FILE` with output to stderr: it prints the summary in that form ("text", "json",
 * "none"; "quiet" prints nothing at all) and puts the recording of the history in order.
 */
void keep_recording(const char *path, const char *form);

/* Runs `resource-tracker-analysis runs --runs=RUNS -- add FILE`, which appends a line to RUNS, and reports a failure. */
void add_run_line(const char *path, const char *runs);

/* Runs `resource-tracker-analysis report -o PAGE FILE`, and reports a failure. `path` may be NULL. Whether the page was made. */
bool write_report(const char *path, const char *page);
