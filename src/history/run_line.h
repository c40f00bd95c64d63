/*
 * The line of a run: its identity, end and resource use as one flat JSON object, about 1.3 KB. Lines of many runs are one
 * file (runs.jsonl), which `ls` and DuckDB's read_json_auto() take as it is. docs/FLEET.md describes the keys.
 *
 * A key keeps its name, unit and meaning within a schema version. Keys may be added. A value that is unknown or
 * does not apply is left out with its key.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "record/problem.h"

enum { RUN_LINE_SCHEMA = 1 };

struct run_place {
	unsigned number;  /* in the history. 0: none */
	const char *path; /* the recording's file, in the line */
	bool live;        /* its recorder is still running */
};

/* Appends the line of the last run in a recording, and a newline. -ENODATA: no sample yet. */
int run_line_add(struct buffer *out, const char *recording, const struct run_place *place,
		 struct rt_problem *ret_problem);
/* The same of a file outside the history: its path is in the line, and whether its recorder is still running is found out. */
int run_line_add_file(struct buffer *out, const char *recording, struct rt_problem *ret_problem);
