/* Lines of the page that a person reads first (summary_page.h). */
#pragma once

#include "table/units.h"
#include "verdict/run_summary.h"

/* Adds lines about waiting, each after a line break, if the run waited. */
void summary_waiting_lines(struct buffer *out, const struct run_facts *facts, int label_columns);
/* Adds the figures of a line of the screen, by their words in run_figures.def. */
void summary_add_line(struct buffer *out, const struct run_facts *facts, const char *line,
		      enum rt_size_unit unit);
/* "0.43 of the machine's 2 cores on average, 0.57 at most" */
void summary_add_cores(struct buffer *out, const struct run_facts *facts);
