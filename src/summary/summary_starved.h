/*
 * The time in which the GPUs of a run had no work between its first and its last use of them, and what the job did meanwhile.
 *
 * A sample counts with the part of it in which the GPUs that the job holds stood idle: one of 1 s in which they worked for 0.3 s adds 0.7 s,
 * and 0.7 of the CPU time of each program in it. Loading before the first use and saving after the last one do not count. Workers of a DataLoader
 * that compute are a use, too, because drivers tell small kernels as 0 %.
 */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"
#include "summary/cpu_course.h"

enum { STARVED_PROGRAMS_MOST = 16 };

/* The program name of workers of PyTorch's DataLoader. */
extern const char STARVED_DATA_WORKER[];

struct starved_program {
	char name[112];
	bool on_gpu;                    /* it held memory of a GPU */
	double core_secs, process_secs; /* of idle time */
};

struct starved_time {
	double secs, idle_secs;
	double gpu_process_secs; /* of idle time: processes that are on a GPU */
	double free_core_secs,
		known_secs; /* of idle time: cores that the job could have used more, and where that is known */
	double io_secs;     /* of idle time: some process of the job waited for I/O */
	struct starved_program programs[STARVED_PROGRAMS_MOST];
	size_t count;
};

struct summary_starved {
	struct starved_time sure, since_use; /* up to the last use, and after it */
};

void summary_starved_want(struct metric_set *wanted);
/* `own_pressure`: the frame's pressure belongs to the job. */
void summary_starved_add(struct summary_starved *starved, const struct frame *frame,
			 const struct cpu_bounds *bounds, bool own_pressure);
