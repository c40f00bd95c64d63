/*
 * The summary of a run: one pass over a recording, in constant memory. It depends on the file alone.
 *
 * An unknown figure is NaN, or an absent count or text (metric/absent.h). Figures of the job are those of its
 * process tree; if no process was tracked (`tracked` is false), they are those of the whole machine.
 */
#pragma once

#include <math.h>

#include "summary/allowances.h"
#include "summary/cpu_course.h"
#include "summary/oom.h"
#include "summary/phases.h"
#include "summary/run_clock.h"
#include "summary/shape.h"
#include "summary/summary_disks.h"
#include "summary/summary_gpus.h"
#include "summary/summary_programs.h"
#include "summary/time_bins.h"
#include "base/buffer.h"
#include "base/scan.h"
#include "figures/run_figures.h"
#include "record/reader.h"
#include "table/aggregate.h"

/* Mean and maximum over the samples; the mean is weighted by time. */
struct figure {
	double weighted, weights; /* sum of value x seconds, and of seconds */
	double most;              /* NaN: no sample has it */
	double most_elapsed_secs;
	bool has_gap; /* a sample without a value came after one with it */
};

static inline double figure_mean(const struct figure *figure)
{
	return figure->weights > 0 ? figure->weighted / figure->weights : (double)NAN;
}

/* The position of a sample in the run, and its length. */
struct moment {
	double elapsed_secs;
	double length_secs;
};

/* NaN means that the sample has no value. */
void figure_add(struct figure *figure, const struct moment *moment, double value);

/* A sum of changes; absent if no sample has one. A sample without one, after the first with one, leaves a gap. */
struct total {
	double sum;
	bool present;
	bool has_gap;
};

void total_add(struct total *total, double change);

static inline double total_of(const struct total *total)
{
	return total->present && (total->sum > 0 || !total->has_gap) ? total->sum : (double)NAN;
}

/* gpu_tracker's groups: the root process, its descendants, and all of them. */
struct parts {
	struct figure main, descendants, combined;
};

/* Memory samples with the same measure. */
struct measured_memory {
	struct figure figure;
	char source[16]; /* of the maximum */
	int64_t samples;
	double resident_mib; /* the largest resident set among them */
};

void measured_memory_clear(struct measured_memory *memory);

enum { GPUS_CHOSEN = 64 };

enum { BOTTLENECKS_MOST = 12, BOTTLENECK_BYTES = 200 };

/* A bottleneck of the run, see bottleneck.h. */
struct bottleneck {
	const char *rule, *title;
	char text[BOTTLENECK_BYTES]; /* a sentence */
	double weight;
};

enum { RUN_NAME_SHOWN = 60 };

struct rt_summary {
	const char *const *gpu_uuids; /* GPUs that count as busy; NULL: all. Valid while reading */
	size_t gpu_uuid_count;
	bool gpu_seen[GPUS_CHOSEN]; /* the chosen GPUs that occurred */
	struct record *record;      /* read to its end; holds run_start and run_end */
	struct record_damage damage;
	size_t run, runs;   /* number of this run, and of runs in the files */
	const char *layout; /* see record_layout() */
	char host[256], job_name[256];
	char file_name[256]; /* of the recording, without folders; "": standard input */
	int64_t tracked_pid; /* absent: none */
	int64_t rank;        /* absent: none */
	bool tracked;
	int64_t samples;
	double interval_secs;
	double longest_secs;   /* longest interval so far */
	double started, ended; /* seconds since 1970; the clock may have been set in between */
	struct run_clock clock;
	double earliest, latest;   /* start and last sample, by the run's clock */
	double first_elapsed_secs; /* of the first sample; its time stamp is below */
	double first_timestamp;
	double wall_secs; /* of the job; 0: unknown */
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
	struct shape core_shape; /* of the job's cores; without a tracked process, of the machine's */
	char memory_source[16];  /* of the maximum */
	/*
	 * The parts of `memory`. A sample is held back while a better one may disprove it (summary_memory.c).
	 */
	struct measured_memory memory_kept, memory_held_back;
	double memory_disproved_mib; /* largest figure left out; 0: none */
	int64_t memory_disproved_samples;
	char memory_sources[64];  /* "rss, pss": all samples that count */
	unsigned memory_measures; /* bits of enum memory_measure */
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
	struct summary_gpus *gpus; /* one for each device; NULL: no device seen */
	bool had_descendants;
	struct time_bins cores_history, memory_history;
	struct phases phases; /* from the job's marks, in the file beside the recording */
	struct bottleneck bottlenecks[BOTTLENECKS_MOST];
	size_t bottleneck_count;
	struct oom_course oom;
	char end_words[160];               /* see summary_add_end() */
	char run_name[RUN_NAME_SHOWN + 1]; /* see summary_find_name() */
};

/* The mean over time, and the memory that the job might use at the moment of its peak. */
struct binding summary_core_limit(const struct rt_summary *summary);
struct binding summary_memory_limit(const struct rt_summary *summary);

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
struct cpu_time summary_cpu_time(const struct rt_summary *summary);
/* The job's, or the machine's if no process was tracked. */
double summary_mean_cores(const struct rt_summary *summary);
double summary_max_cores(const struct rt_summary *summary);
/* Tells whether the command could not be executed; the samples then show only the forked child. */
bool summary_not_started(const struct rt_summary *summary);
/*
 * Returns the cores that the run could have used in addition, on average. If the machine is its limit,
 * others' use is subtracted.
 */
double summary_idle_cores(const struct rt_summary *summary);

/*
 * Returns the bytes that the job wrote to storage, without those dropped before they got there. NaN: unknown.
 */
double summary_stored_bytes(const struct rt_summary *summary);

/* Bytes that the job received and sent, and how that is known. NaN: unknown. */
struct network_use {
	double received, sent;             /* not less than this, if the source is "bound" */
	double received_bound, sent_bound; /* and not more than this */
	double connections, retransmits;
	const char *source; /* "sockets", "bound", "namespace", "mixed"; NULL: unknown */
};
struct network_use summary_network(const struct rt_summary *summary);
/* The known bytes, if nothing worth mentioning can be missing: 1 %, or 1 MiB. Else NaN. */
double network_certain(double known, double bound);
void summary_add_network(struct rt_summary *summary, const struct tree_row *tree);

struct memory_peak {
	double mib;          /* NaN: unknown */
	double elapsed_secs; /* NaN: the kernel does not tell */
	const char *
		source; /* "pss", "sampled", "bound", "rss", "cgroup", "largest_process", "machine"; NULL: unknown */
};
struct memory_peak summary_memory_peak(const struct rt_summary *summary);

void summary_add_memory(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment);
void summary_finish_memory(struct rt_summary *summary);
/* Tells whether mean and maximum of memory include samples with different measures. */
bool summary_mixes_memory(const struct rt_summary *summary);

struct phase_time {
	double secs;       /* sum over all calls, including simultaneous ones */
	size_t open_calls; /* never stopped: they end with the recording */
};
struct phase_time summary_phase_time(const struct phase *phase);

/* Adds the first lines of the text form: failure, name, time. */
void summary_add_heading(struct buffer *out, const struct rt_summary *summary);

/*
 * Sets the name of the run: "nightly", the name that the user gave; "make -j2", the first words of a command that was
 * recorded; "train.py", the program as the recorder calls it; or "process 4711". The folder and the number tell runs of one
 * name apart, and stand beside it.
 */
void summary_find_name(struct rt_summary *summary);

/*
 * Returns the part of the job that is done again in each run, by the user's name or that of an engine: runs of equal job and task
 * are compared with each other. NULL: none is known
 */
const char *summary_task(const struct rt_summary *summary);

/* Adds the end in words: "exit status 3", "killed by SIGKILL (9)", "still running, or the recorder was killed", ... */
void summary_add_end(struct buffer *out, const struct rt_summary *summary);
/* Whether the job failed. Other recordings, and jobs that still run, have not. */
bool summary_has_failed(const struct rt_summary *summary);

void summary_add_waiting(struct rt_summary *summary, const struct frame *frame);
/*
 * Returns how long a thread of the run waited for a CPU while no CPU was free, or while this is unknown
 * (cpu_course.h). NaN: the waiting time is unknown.
 */
double summary_cpu_short_secs(const struct rt_summary *summary);

/* Grams per kWh that the user gave; NaN: none. */
double summary_carbon_factor(const struct rt_summary *summary);
/*
 * Carbon of the energy that the summary shows: the job's part of the CPU sockets' (without a tracked process, all of it) and
 * that of the GPUs. NaN: no factor was given, or no energy is known.
 */
double summary_carbon_grams(const struct rt_summary *summary);

/* The part of the job's CPU time for which its threads' waiting is known; NaN: unknown. */
double summary_cpu_wait_known_pct(const struct rt_summary *summary);

/* Context switches of the whole run: exact ones of its end, or else those of the samples. NaN: unknown. */
double summary_switches(int64_t at_end, const struct total *of_samples);

/*
 * Returns the file bytes that the run read again from storage because its memory limit left too little room
 * for the page cache: more than half of its reads, and at least as much as the limit. 0: not so, or unknown.
 */
double summary_reread_bytes(const struct rt_summary *summary);

/* Adds the text form with style marks (base/screen.h), in lines of any length. */
void summary_add_page(struct buffer *out, const struct rt_summary *summary, enum rt_size_unit unit);
/* Adds lines about waiting to the text form, each after a line break; none without waiting. */
void summary_waiting_lines(struct buffer *out, const struct rt_summary *summary, int label_columns);

/* Calls `sample` for each sample of a read; `run` changes when another run begins. */
struct summary_watcher {
	struct metric_set wanted;
	void (*sample)(void *context, const struct frame *frame, size_t run);
	void *context;
};
int summary_read_watched(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			 rt_summary **ret_summary, struct rt_problem *ret_problem);

/* All values, rounded. Texts belong to the summary. A flag is a count, 0 or 1. */
void summary_values(const struct rt_summary *summary, struct rt_cell ret_values[static RUN_FIGURE_COUNT]);
/* The same as numbers, not rounded. NaN: absent, or a text. */
void summary_numbers(const struct rt_summary *summary, double ret_numbers[static RUN_FIGURE_COUNT]);
/* Adds the figures of a line of the screen, by their words in run_figures.def. */
void summary_add_line(struct buffer *out, const struct rt_summary *summary, const char *line,
		      enum rt_size_unit unit);

/* "0.43 of the machine's 2 cores on average, 0.57 at most" */
void summary_add_cores(struct buffer *out, const struct rt_summary *summary);
