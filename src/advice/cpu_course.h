/*
 * Finds the samples in which a run was short of CPU.
 *
 * Threads wait for a CPU for a moment whenever they wake each other, even while CPUs are free. Waiting
 * therefore counts as a shortage only in samples without free CPUs: nine tenths of the machine, the CPU limit
 * or the cpuset were in use, or the limit throttled the job.
 *
 *   8 threads take turns at one mutex on 2 cores, for 4 s: waiting 2.3 s, 1.3 of 2 cores in use: short 0 s
 */
#pragma once

#include "advice/shape.h"
#include "record/reader.h"

/* The CPUs that the run may use; NaN or absent: unknown, or no such limit. */
struct cpu_bounds {
	int64_t core_count, cpuset_cores;
	double limit_cores;
};

struct cpu_course {
	bool has_pressure;           /* of the job; without a tracked process, of the machine */
	double short_secs;           /* waited while no CPU was free */
	double unclear_secs;         /* waited, and the recording does not tell whether a CPU was free */
	double full_secs, free_secs; /* length of samples without and with a free CPU */
	double full_core_secs;       /* CPU time of all programs in samples without a free CPU */
	double others_core_secs;     /* the part of it used by other programs */
	struct shape wanted;  /* cores in use, and one more while a thread waited and no CPU was free */
	double one_core_secs; /* length of samples with about one core in use, by the run's own choice */
};

/*
 * `own_pressure`: the frame's pressure belongs to the subject (the job, or the machine if that is recorded).
 */
void cpu_course_add(struct cpu_course *course, const struct frame *frame, const struct cpu_bounds *bounds,
		    bool own_pressure);

/* Tells whether others used the larger part of the machine while no CPU was free. */
static inline bool cpu_course_taken(const struct cpu_course *course)
{
	return course->others_core_secs > course->full_core_secs / 2;
}
