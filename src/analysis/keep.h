/* `resource-tracker-analysis --keep FORM FILE`: the recorder runs this when a kept run has ended. */
#pragma once

/*
 * Prints the summary ("text", "json"; "none" has none) and the run's number, then puts the history in order; with "quiet" it
 * prints nothing. FILE is a recording of the history. Returns an exit status.
 */
int keep_run_of(const char *form, const char *path);
