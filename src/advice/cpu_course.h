/*
 * When a run was short of CPU, sample by sample. Threads wait for a CPU for a moment whenever they wake each other, also
 * while CPUs are free, so that waiting counts as a shortage only in samples that left nothing free: the machine, the
 * CPU limit or the cpuset was used to nine tenths, or the limit held the job back.
 *
 *   8 threads take turns at one mutex on 2 cores, for 4 s: waiting 2.3 s, machine 1.3 of 2 cores in use: short 0 s
 */
#pragma once

#include "record/reader.h"

/* What the run may use; NaN or absent: unknown, or no such limit. */
struct cpu_bounds {
	int64_t core_count, cpuset_cores;
	double limit_cores;
};

struct cpu_course {
	bool has_pressure;           /* of the job; of the machine where no process was tracked */
	double short_secs;           /* waited while nothing was free */
	double unclear_secs;         /* waited, and the recording does not say whether anything was free */
	double full_secs, free_secs; /* length of the samples that left nothing, and something, free */
	double full_core_secs;       /* CPU time of all programs in the samples that left nothing free */
	double others_core_secs;     /* the part of it that was not the job's */
	double one_core_secs;        /* length of the samples with about one core in use, by its own choice */
};

/* `own_pressure`: whether the frame's pressure is the job's, or the machine's where that is the subject. */
void cpu_course_add(struct cpu_course *course, const struct frame *frame, const struct cpu_bounds *bounds,
		    bool own_pressure);

/* Whether others used the larger part of the machine while nothing was free. */
static inline bool cpu_course_taken(const struct cpu_course *course)
{
	return course->others_core_secs > course->full_core_secs / 2;
}
