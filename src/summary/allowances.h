/*
 * The limits and sizes that were in force during a run. They change: `docker update`, a Kubernetes resize in place, CPUs that go
 * offline, a balloon of the hypervisor, swap that is added. A percentage, sentence or advice uses what was in force at the moment of its figure.
 *
 *   limit 200 MiB, from 1.5 s on 800 MiB; peak of 740 MiB at 3 s: 92.5 % of 800 MiB, and not 370 % of 200
 */
#pragma once

#include "base/buffer.h"
#include "record/reader.h"

struct run_start_row;

/* The limits that bind, and their source. */
struct binding {
	double value;       /* NaN: unknown */
	const char *source; /* "cgroup limit", "cpuset", "machine" */
	bool is_mean;       /* it changed */
};

struct allowance {
	double since_secs;       /* elapsed time of the first sample that has it */
	double memory_limit_mib; /* of the control group, NaN for none */
	double memory_total_mib; /* of the machine, NaN if unknown */
	double cpu_limit_cores;  /* NaN: none */
	double cpus;             /* that the job may run on, NaN if unknown */
	double swap_total_mib;   /* of the machine, NaN if unknown */
};

/* Changes beyond the last place overwrite it. */
enum { ALLOWANCES_MOST = 32 };

struct allowances {
	struct allowance list[ALLOWANCES_MOST];
	double secs[ALLOWANCES_MOST]; /* how long each lasted */
	size_t count;
	double first_length_secs;       /* of the first sample */
	bool first_tells, limits_known; /* the first sample, or any, has told limits */
};

void allowances_add(struct allowances *allowances, const struct frame *frame, double elapsed_secs,
		    double length_secs);

/*
 * After the last sample: takes from the start of the run what no sample tells, and limits that had changed by the first one. Without a
 * job, the limits held only the recorder.
 */
void allowances_finish(struct allowances *allowances, const struct run_start_row *start, bool of_a_job);

/*
 * The memory that the job might use when it held `mib` at `elapsed_secs`. NaN: the moment is unknown. Samples notice a change late: a
 * job that holds more than it may had the next, higher limit already.
 */
struct binding allowances_memory(const struct allowances *allowances, double elapsed_secs, double mib);
/* At the same moment, the limit of the control group alone, NaN for none. */
double allowances_limit_mib(const struct allowances *allowances, double elapsed_secs, double mib);
/* The highest limit of the control group that was in force, NaN for none. */
double allowances_highest_limit_mib(const struct allowances *allowances);
/* The mean over time, with the source of the lowest. `core_count` is that of the machine at the start. */
struct binding allowances_cores(const struct allowances *allowances, double core_count);

/* "memory limit raised from 200 MiB to 800 MiB after 1.50 s" and the like, separated by "; ". Adds nothing if nothing changed. */
void allowances_words(const struct allowances *allowances, struct buffer *out);
/* A JSON list: [{"elapsed_secs":1.5,"what":"memory_limit_mib","from":200.0,"to":800.0}]. A null stands for no limit. */
void allowances_json(const struct allowances *allowances, struct buffer *out);
