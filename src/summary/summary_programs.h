/* The programs of a run: from the totals at its end, else from the samples, in constant memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "resource_tracker_analysis.h"

struct launcher;

enum { SUMMARY_PROGRAMS_MOST = 64 };

struct program_figures {
	char name[112];
	double cpu_secs, estimated_secs;
	double memory_peak_mib; /* 0: unknown */
	int64_t process_count;
};

struct summary_programs {
	struct program_figures list[SUMMARY_PROGRAMS_MOST + 1]; /* most CPU time first, "others" last */
	size_t count;
	double cpu_secs, estimated_secs; /* of all programs */
	const struct launcher *launcher; /* the first one that was seen among them, or NULL */
	double launcher_secs;            /* the time of samples that saw it */
};

void summary_programs_want(struct metric_set *wanted);
void summary_programs_add(struct summary_programs *programs, const struct frame *frame);
/* Sorts the programs, and adds "others" for those that have no row of their own. */
void summary_programs_finish(struct summary_programs *programs);

/* A line of the text form, after a line break. It is left out if there is only one program. */
void summary_programs_line(struct buffer *out, const struct summary_programs *programs, int label_columns);
/* "programs":[...] */
void summary_programs_json(struct buffer *out, const struct summary_programs *programs);
/* As rt_summary_program(). */
int summary_programs_get(const struct summary_programs *programs, size_t index,
			 struct rt_program_use *ret_use);
