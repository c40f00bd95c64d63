/*
 * The summary of a run: one pass over a recording, in constant memory. It depends on the file alone.
 *
 * An unknown figure is NaN, or an absent count or text (metric/absent.h). Figures of the job are those of its
 * process tree. If no process was tracked (`tracked` is false), they are those of the whole machine.
 */
#pragma once

#include <math.h>

#include "summary/allowances.h"
#include "summary/cpu_course.h"
#include "summary/oom.h"
#include "summary/run_clock.h"
#include "summary/shape.h"
#include "summary/summary_disks.h"
#include "summary/summary_gpus.h"
#include "summary/summary_memory.h"
#include "summary/summary_programs.h"
#include "summary/summary_signals.h"
#include "summary/summary_starved.h"
#include "summary/summary_waits.h"
#include "summary/sums.h"
#include "summary/time_bins.h"
#include "base/buffer.h"
#include "base/scan.h"
#include "figures/run_figures.h"
#include "record/reader.h"
#include "table/aggregate.h"

enum { GPUS_CHOSEN = 64 };

enum { RUN_NAME_SHOWN = 60 };

struct run_facts {
	const char *const *gpu_uuids; /* GPUs that count as busy. NULL: all. Valid while reading */
	size_t gpu_uuid_count;
	bool gpu_seen[GPUS_CHOSEN]; /* the chosen GPUs that occurred */
	struct record *record;      /* read to its end, so it holds run_start and run_end */
	struct record_damage damage;
	size_t run, runs;   /* number of this run, and of runs in the files */
	const char *layout; /* see record_layout() */
	char host[256], job_name[256];
	char file_name[256]; /* of the recording, without folders. "": standard input */
	int64_t tracked_pid; /* absent: none */
	int64_t rank;        /* absent: none */
	bool tracked;
	int64_t samples;
	double interval_secs;
	double longest_secs;   /* longest interval so far */
	double started, ended; /* seconds since 1970. The clock may have been set in between */
	struct run_clock clock;
	double earliest, latest;   /* start and last sample, by the run's clock */
	double first_elapsed_secs; /* of the first sample, whose time stamp is below */
	double first_timestamp;
	double wall_secs; /* of the job, 0 if unknown */
	/* The time that the samples cover: more than the job's, if the tracker waited for its descendants. */
	double recorded_secs;

	/* Sums over the samples: a struct figure, total or parts for each row of summary_sums.def. */
#define MEAN_AND_MAX(field, row, metric) struct figure field;
#define SUM(field, row, metric) struct total field;
#define MEAN_AND_MAX_BY_CODE(field) struct figure field;
#define SUM_BY_CODE(field) struct total field;
#define PARTS_BY_CODE(field) struct parts field;
#include "summary/summary_sums.def"
	/* Those that belong to one row of the table of figures. */
	struct {
#define SUM_OF(group, name, ...) struct total group##_##name;
#define MEAN_OF(group, name, ...) struct figure group##_##name;
#define MOST_OF(group, name, ...) struct figure group##_##name;
#include "figures/run_figures.def"
	} own;
	struct shape core_shape; /* of the cores of the job, or of the machine without a tracked process */
	struct memory_facts measured; /* the samples behind `memory` */
	int64_t exited;
	char pressure_source[16]; /* "cgroup" or "host" */
	char network_source[16];  /* process_net_source of the last sample that has it */
	struct cpu_course cpu_course;
	int64_t missed_ticks, dropped_samples;
	double cpu_limit_cores, memory_limit_mib, total_memory_mib; /* of the last sample that has them */
	int64_t cpuset_cores, core_count;
	struct allowances allowances;
	int64_t gpu_count;
	double gpu_memory_mib;
	struct summary_disks disks;
	struct summary_programs programs;
	struct summary_signals signals;
	struct summary_waits waits;
	struct summary_starved starved;
	struct summary_gpus *gpus; /* one for each device. NULL: no device seen */
	bool had_descendants;
	struct time_bins cores_history, memory_history, files_history;
	struct oom_course oom;
	char end_words[160]; /* see summary_add_end() */
	/* See summary_add_first_failure(). "": unknown. The path to it has at most 1,023 bytes. */
	char failed_first[1536];
	char run_name[RUN_NAME_SHOWN + 1]; /* see summary_find_name() */
};

/* The mean over time, and the memory that the job might use at the moment of its peak. */
struct binding summary_core_limit(const struct run_facts *facts);
struct binding summary_memory_limit(const struct run_facts *facts);
/*
 * Returns the part of the peak that counts against its limit. The limit of a control group is of charged memory, and pages of a file are
 * charged to the group that read them first. So a peak above such a limit contains pages of other groups: then the memory counts
 * that the group could not give back, or had when it lacked memory. NaN: unknown. Example: a job with 110 MiB of its own that maps a cached file of 60 MiB has a
 * peak of 170 MiB in a group of 120, and 110 of 120 MiB are charged.
 */
double summary_limited_memory(const struct run_facts *facts);

struct cpu_time {
	double user_secs, system_secs;
	double secs; /* wall-clock time in which it was used */
};

static inline double cpu_time_total(const struct cpu_time *time)
{
	return time->user_secs + time->system_secs;
}

/*
 * If the run has ended, returns wait4's exact time, or the whole tree's if it used more: descendants may have
 * outlived the root, or may be in no process's reaped time. Without an end, returns the sum of the samples.
 */
struct cpu_time summary_cpu_time(const struct run_facts *facts);
/* To the end of the descendants that the tracker waited for. NaN: they took no longer than the job. */
double summary_tree_wall_secs(const struct run_facts *facts);
/* The job's, or the machine's if no process was tracked. */
double summary_mean_cores(const struct run_facts *facts);
double summary_max_cores(const struct run_facts *facts);
/* Tells whether the command could not be executed. The samples then show only the forked child. */
bool summary_not_started(const struct run_facts *facts);
/*
 * Returns the cores that the run could have used in addition, on average. If the machine is its limit,
 * others' use is subtracted.
 */
double summary_idle_cores(const struct run_facts *facts);

/*
 * Returns the bytes that the job wrote to storage, without those dropped before they got there. NaN: unknown.
 */
double summary_stored_bytes(const struct run_facts *facts);

/* Bytes that the job received and sent, and how that is known. NaN: unknown. */
struct network_use {
	double received, sent;             /* not less than this, if the source is "bound" */
	double received_bound, sent_bound; /* and not more than this */
	double connections, retransmits;
	const char *source; /* "sockets", "bound", "namespace", "mixed", NULL if unknown */
};
struct network_use summary_network(const struct run_facts *facts);
/* The known bytes, if nothing worth mentioning can be missing: 1 %, or 1 MiB. Else NaN. */
double network_certain(double known, double bound);

struct memory_peak {
	double mib;          /* NaN: unknown */
	double elapsed_secs; /* NaN: the kernel does not tell */
	const char *
		source; /* "pss", "sampled", "bound", "rss", "cgroup", "largest_process", "machine", NULL if unknown */
};
struct memory_peak summary_memory_peak(const struct run_facts *facts);

/* Tells whether mean and maximum of memory include samples with different measures. */
bool summary_mixes_memory(const struct run_facts *facts);

/* Adds the words of `["make","-j2"]` (run_start.command) with a blank between two. Control characters become blanks. */
void add_command_words(struct buffer *out, const char *command);
/* Cuts a name that is longer than RUN_NAME_SHOWN, but not in the middle of a character. Returns whether it did. */
bool cut_run_name(struct buffer *name);
/* "train.py", "make test", as the recorder says, or the executable of older recordings, NULL if unknown */
const char *summary_program(const struct run_facts *facts);

/*
 * Sets the name of the run: "main.o (project)", the target of a make whose shell records and its folder, "nightly", the name that the user gave, "make -j2", the first words of a command that was
 * recorded, "train.py", the program as the recorder calls it, or "process 4711". The folder and the number tell runs of one
 * name apart, and stand beside it.
 */
void summary_find_name(struct run_facts *facts);

/*
 * Returns the part of the job that is done again in each run, by the user's name or that of an engine: runs of equal job and task
 * are compared with each other. NULL: none is known, or it is the name
 */
const char *summary_task(const struct run_facts *facts);

struct oom_finding summary_oom(const struct run_facts *facts);

const char *summary_failed_program(const struct run_facts *facts); /* NULL: unknown */
/* Adds which process of the job failed first and which others passed that on. Nothing if only the job's first process failed. */
void summary_add_first_failure(struct buffer *out, const struct run_facts *facts);
/* Adds the end in words: "exit status 3", "killed by SIGKILL (9)", ... */
void summary_add_end(struct buffer *out, const struct run_facts *facts);
/* Whether the job failed. Other recordings, and jobs that still run, have not. */
bool summary_has_failed(const struct run_facts *facts);

/*
 * Returns how long a thread of the run waited for a CPU while no CPU was free, or while this is unknown
 * (cpu_course.h). NaN: the waiting time is unknown.
 */
double summary_cpu_short_secs(const struct run_facts *facts);

/* Grams per kWh that the user gave, NaN for none. */
double summary_carbon_factor(const struct run_facts *facts);
/*
 * Carbon of the energy that the summary shows: the job's part of the CPU sockets' (without a tracked process, all of it) and
 * that of the GPUs. NaN: no factor was given, or no energy is known.
 */
double summary_carbon_grams(const struct run_facts *facts);

/* The part of the job's CPU time for which its threads' waiting is known, NaN if unknown. */
double summary_cpu_wait_known_pct(const struct run_facts *facts);

/*
 * Context switches of the whole run. Its end knows all of the processes that were waited for, and the samples those of processes that
 * were not. NaN: unknown.
 */
double summary_switches(int64_t at_end, const struct total *of_samples);

/*
 * Returns the file bytes that the run read again from storage because its memory limit left too little room
 * for the page cache: more than half of its reads, and at least as much as the limit. 0: not so, or unknown.
 */
double summary_reread_bytes(const struct run_facts *facts);

/* Calls `sample` for each sample of a read. `run` changes when another run begins. */
struct summary_watcher {
	struct metric_set wanted;
	void (*sample)(void *context, const struct frame *frame, size_t run);
	void *context;
};

/* Both are optional: GPUs that count as busy, and who sees the samples. */
struct facts_options {
	const char *const *gpu_uuids;
	size_t gpu_uuid_count;
	const struct summary_watcher *watcher;
};
/* Reads the last run of the files into facts that are all zero. run_facts_done() follows, also after an error. */
int run_facts_read(struct run_facts *facts, const char *const *paths, size_t path_count,
		   const struct facts_options *options, struct rt_problem *problem);
void run_facts_done(struct run_facts *facts);

/* All values, rounded. Texts belong to the summary. A flag is a count, 0 or 1. */
void summary_values(const struct run_facts *facts, struct rt_value ret_values[static RUN_FIGURE_COUNT]);
/* The same as numbers, not rounded. NaN: absent, or a text. */
void summary_numbers(const struct run_facts *facts, double ret_numbers[static RUN_FIGURE_COUNT]);
