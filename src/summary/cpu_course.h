/*
 * Finds the samples in which a run was short of CPU.
 *
 * Threads wait for a CPU for a moment whenever they wake each other, even while CPUs are free. Waiting
 * therefore counts as a shortage only in samples without free CPUs: nine tenths of the machine, the CPU limit
 * or the cpuset were in use, or the limit throttled the job.
 *
 *   8 threads take turns at one mutex on 2 cores, for 4 s: waiting 2.3 s, 1.3 of 2 cores in use: short 0 s
 *
 * Two meters show the waiting. The pressure (PSI) of the job's control group says how long at least one thread waited,
 * but includes all processes of the group. The scheduler's count of the job's own threads (process_cpu_wait_secs) has
 * their waiting alone, added up, and lacks threads that ended between two samples. Where it covers most of the job's CPU
 * time, it limits the pressure, or replaces it if the pressure is the whole machine's:
 *
 *   a job sleeps beside a busy program in its group: pressure 0.9 s, its threads 0.0 s: waited 0.0 s
 *   two loops of an ordinary user on one of 2 busy cores: pressure unknown, its threads 1.0 s: waited 1.0 s
 *
 * The kernel takes a CPU away from threads that wait for each other only because they must share it. If that happens while
 * other CPUs are free, the threads are confined to some of them (affinity).
 */
#pragma once

#include "summary/shape.h"
#include "record/reader.h"

/* The CPUs that the run may use, NaN or absent if unknown, or no such limit. */
struct cpu_bounds {
	int64_t core_count, cpuset_cores;
	double limit_cores;
};

/* The lowest of them, NaN if none is known. */
double cpu_bounds_least(const struct cpu_bounds *bounds);

struct cpu_course {
	bool has_pressure; /* the waiting of the job, or of the machine without a tracked process, is known */
	bool has_threads;  /* as far as the job's own threads tell, in at least one sample */
	double threads_wait_secs; /* waiting of these threads, added up, while no CPU was free or this is unknown */
	double threads_run_secs;                      /* their CPU time in the same samples */
	double confined_secs;                         /* waited while a CPU was free */
	double confined_wait_secs, confined_run_secs; /* as above, in these samples */
	double short_secs;                            /* waited while no CPU was free */
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
