/* The list of metrics for a person; `resource-tracker metrics` runs it on a terminal. */
#pragma once

/*
 * Reads the JSON of `metrics --json` on standard input. `colour` is the word behind --color; `pager`: "pager" or "no-pager".
 * Returns the exit status.
 */
int print_metric_pages(const char *colour, const char *pager);
