/*
 * What a run came to: one pass over a recording, in constant memory, a function of the file alone.
 *
 * An absent figure is NaN, or an absent count or text (metric/absent.h). Figures of the job are of its process tree
 * when one was tracked, else of the whole machine (`tracked` tells).
 */
#pragma once

#include <math.h>

#include "advice/cpu_course.h"
#include "advice/oom.h"
#include "advice/phases.h"
#include "advice/shape.h"
#include "advice/summary_gpus.h"
#include "advice/time_bins.h"
#include "base/buffer.h"
#include "base/scan.h"
#include "record/reader.h"
#include "table/aggregate.h"

/* Mean and maximum over the samples, the mean by time. */
struct figure {
	double weighted, weights; /* value x seconds, seconds */
	double most;              /* NaN: never there */
	double most_elapsed_secs;
};

static inline double figure_mean(const struct figure *figure)
{
	return figure->weights > 0 ? figure->weighted / figure->weights : (double)NAN;
}

/* Where in the run a sample stands, and how long it stands for. */
struct moment {
	double elapsed_secs;
	double length_secs;
};

/* NaN: the sample has no value. */
void figure_add(struct figure *figure, const struct moment *moment, double value);

/* A sum of changes; NaN: none was there. */
struct total {
	double sum;
	bool present;
};

void total_add(struct total *total, double change);

static inline double total_of(const struct total *total)
{
	return total->present ? total->sum : (double)NAN;
}

/* What gpu_tracker tells apart: the root process, its descendants, and all of them. */
struct parts {
	struct figure main, descendants, combined;
};

/* Samples of memory that count in the same way. */
struct measured_memory {
	struct figure figure;
	char source[16]; /* of the maximum */
	int64_t samples;
	double resident_mib; /* the largest resident set among them */
};

void measured_memory_clear(struct measured_memory *memory);

enum { GPUS_CHOSEN = 64 };

enum { BOTTLENECKS_MOST = 10, BOTTLENECK_BYTES = 200 };

/* What held the run up, by bottleneck.h. */
struct bottleneck {
	const char *rule, *title;
	char text[BOTTLENECK_BYTES]; /* a sentence */
	double weight;
};

struct rt_summary {
	const char *const *gpu_uuids; /* that count as busy; NULL: all. Only while reading */
	size_t gpu_uuid_count;
	bool gpu_seen[GPUS_CHOSEN]; /* of these */
	struct record *record;      /* read to its end; has the identity */
	struct record_damage damage;
	size_t run, runs;   /* the last of how many in the files */
	const char *layout; /* of the file */
	char host[256], job_name[256];
	int64_t tracked_pid; /* absent: none */
	int64_t rank;        /* absent: none */
	bool tracked;
	int64_t samples;
	double interval_secs;
	double longest_secs;       /* interval so far */
	double started, ended;     /* seconds since 1970, by a clock that may have been set in between */
	double earliest, latest;   /* that it showed */
	double first_elapsed_secs; /* of the first sample, as its time stamp */
	double first_timestamp;
	double wall_secs; /* of the job; 0: not known */

	struct total user_secs, system_secs; /* of the samples; run_end's are exact */
	struct total host_user_secs, host_system_secs;
	struct figure cores, host_cores, gpu_cores;
	struct shape core_shape; /* of the job's cores; of the machine's where no process was tracked */
	struct figure memory;    /* MiB */
	char memory_source[16];  /* of the maximum */
	/* The parts of `memory`; samples that a better one may yet disprove are held back (summary_memory.c). */
	struct measured_memory memory_kept, memory_held_back;
	double memory_disproved_mib; /* the largest figure that was left out; 0: none */
	int64_t memory_disproved_samples;
	char memory_sources[64];  /* "rss, pss": of all samples that count */
	unsigned memory_measures; /* bits of enum memory_measure */
	struct figure memory_pss, memory_rss, swap, host_memory;
	struct figure memory_and_swap; /* of one moment */
	struct total read_bytes, written_bytes, cancelled_bytes, read_chars, written_chars, major_faults;
	struct total job_received_bytes, job_sent_bytes; /* in network namespaces of its own */
	struct total host_read_bytes, host_written_bytes, received_bytes, sent_bytes;
	struct figure space_used_gb;
	struct figure gpu_usage, gpu_vram_mib, gpu_utilized, host_gpu_usage, host_gpu_vram_mib;
	struct figure processes, threads;
	int64_t exited;
	struct total throttled_periods, throttled_secs;
	struct total cache_refault_bytes; /* of the group: file pages that its page cache had dropped */
	/* What the group cannot give back: anonymous and shared memory and the kernel's. */
	struct figure group_memory;
	struct total cpu_pressure_secs, memory_pressure_secs, io_pressure_secs;
	/* Of any process of the machine, where the job's own is not known. */
	struct total machine_cpu_pressure_secs, machine_memory_pressure_secs, machine_io_pressure_secs;
	char pressure_source[16]; /* "cgroup" or "host" */
	struct cpu_course cpu_course;
	struct total tracker_cpu_secs;
	struct figure tracker_rss_mib, sample_ms;
	int64_t missed_ticks, dropped_samples;
	double cpu_limit_cores, memory_limit_mib, total_memory_mib; /* of the last sample that has them */
	int64_t cpuset_cores, core_count;
	int64_t gpu_count;
	double gpu_memory_mib;
	struct summary_gpus *gpus;     /* of each device; NULL: none was seen */
	struct figure descendants_mib; /* what the descendants take, shared pages once */
	struct parts rss, private_mib, shared_mib, cpu_cores, thread_count, vram;
	bool had_descendants;
	struct time_bins cores_history, memory_history;
	struct phases phases; /* marked by the job, in the file beside the recording */
	struct bottleneck bottlenecks[BOTTLENECKS_MOST];
	size_t bottleneck_count;
	struct oom_course oom;
	char end_words[160]; /* summary_add_end() */
};

/* The limits that bind, and where they come from. */
struct binding {
	double value;       /* NaN: unknown */
	const char *source; /* "cgroup limit", "cpuset", "machine" */
};
struct binding summary_core_limit(const struct rt_summary *summary);
struct binding summary_memory_limit(const struct rt_summary *summary);

struct cpu_time {
	double user_secs, system_secs;
	double secs; /* of wall-clock time, in which it was used */
};

static inline double cpu_time_total(const struct cpu_time *time)
{
	return time->user_secs + time->system_secs;
}

/*
 * Exact where the run has ended (wait4), or of the whole tree where that used more: by descendants that ran on, or that
 * are in no process's waited-for time. Without an end, of the samples.
 */
struct cpu_time summary_cpu_time(const struct rt_summary *summary);
/* Of the job, or of the machine when none was tracked. */
double summary_mean_cores(const struct rt_summary *summary);
double summary_max_cores(const struct rt_summary *summary);
/* What was recorded then is of the child that could not become the command. */
bool summary_not_started(const struct rt_summary *summary);
/* What it could have used more of on average; where the machine is its limit, less what others used. */
double summary_idle_cores(const struct rt_summary *summary);

/* Bytes of the job that reached storage: without those that were dropped before. NaN: unknown. */
double summary_stored_bytes(const struct rt_summary *summary);

struct memory_peak {
	double mib;          /* NaN: unknown */
	double elapsed_secs; /* NaN: the kernel does not say */
	const char *
		source; /* "pss", "sampled", "bound", "rss", "cgroup", "largest_process", "machine"; NULL: unknown */
};
struct memory_peak summary_memory_peak(const struct rt_summary *summary);

void summary_add_memory(struct rt_summary *summary, const struct tree_row *tree, const struct moment *moment);
void summary_finish_memory(struct rt_summary *summary);
/* Whether mean and maximum of memory are over samples that count in different ways. */
bool summary_mixes_memory(const struct rt_summary *summary);

struct phase_time {
	double secs;       /* of all calls, also of those at the same time */
	size_t open_calls; /* never stopped: they end with the recording */
};
struct phase_time summary_phase_time(const struct phase *phase);

/* In words: "exited with status 3", "was killed by signal 9 (KILL)", "goes on, or its tracker was killed", ... */
void summary_add_end(struct buffer *out, const struct rt_summary *summary);

void summary_add_waiting(struct rt_summary *summary, const struct frame *frame);
/*
 * How long a thread of the run waited for a CPU while none was free, or where that is unknown (cpu_course.h). NaN: its
 * waiting is unknown.
 */
double summary_cpu_short_secs(const struct rt_summary *summary);

/*
 * Bytes of files that the run read from storage again, because what it may use has no room for its page cache: more than
 * half of what it read, and at least as much as it may use. 0: not so, or unknown.
 */
double summary_reread_bytes(const struct rt_summary *summary);

/* Lines of the text form about waiting, each after a line break; none where there was none. */
void summary_waiting_lines(struct buffer *out, const struct rt_summary *summary, int label_columns);

/* With something to watch the samples as they go by; `run` is new where another one begins. */
struct summary_watcher {
	struct metric_set wanted;
	void (*sample)(void *context, const struct frame *frame, size_t run);
	void *context;
};
int summary_read_watched(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			 rt_summary **ret_summary, struct rt_problem *ret_problem);

/*
 * All figures as (group, name, value), in the order of the JSON form; a text is a name of something. Stops when the
 * visitor returns false.
 */
typedef bool summary_visitor(void *context, const char *group, const char *name, struct rt_cell value);
void summary_visit(const struct rt_summary *summary, summary_visitor *visit, void *context);
