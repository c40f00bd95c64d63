/*
 * resource_tracker_analysis.h: from a recording to a decision. Links jansson, zlib and SQLite.
 *
 * Recordings are named by path: JSON Lines, every CSV layout, or snapshots of the Python package; plain or
 * gzip; also while they are still being written. Damaged lines are counted and are not an error.
 *
 * Results: a function that can fail returns 0 (or a count) on success and a negative errno on failure. It
 * writes results through ret_ arguments, and leaves those untouched on failure. A `struct rt_problem *` may
 * be NULL; otherwise a failing call writes one line for a person to it. The library prints nothing and keeps
 * no global state.
 *
 * Ownership: the caller owns an object that a call returns, and frees it with the call named there. Freeing
 * NULL is allowed. Texts returned through `char **` are freed with rt_free().
 *
 * Structs that may grow begin with their size, which the caller sets: struct rt_phase phase = {.size = sizeof phase}. The
 * library writes no further and reads no further. A function that is given such a struct returns -EINVAL if its size was not
 * set, and -E2BIG if the caller's header is a later one and a member that this library lacks is not zero. The other structs
 * keep their members as long as the soname stays.
 *
 * Units are part of the names: _secs, _mib (2^20 bytes), _gb (10^9 bytes), _pct (percent), usd_per_hour. The figures are those of the
 * recording, whose metrics name their sources (`resource-tracker metrics --json`); statistics and summaries say in their names how they
 * were computed. An absent value is RT_TYPE_NONE with a reason, never 0.
 *
 * Threads: every call may be made from any thread. One object is used by one thread at a time; different
 * objects are independent.
 */
#ifndef RESOURCE_TRACKER_ANALYSIS_H
#define RESOURCE_TRACKER_ANALYSIS_H

#include "resource_tracker_value.h"
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An error as one line: names the file, the line, and what to do. */
struct rt_problem {
	char text[512];
};

/* ---- recordings ------------------------------------------------------------------------------------ */

typedef struct rt_record rt_record;

/*
 * Opens files that are parts of one recording, and chooses the columns to read. A column is a name of
 * `resource-tracker metrics` ("cpu.process_cores_used"), a heading of the combined CSV ("process_cpu_usage"),
 * or the last part of a name if it is unique. Where a sample has several values, brackets choose:
 * "disk[sda].read_bytes_per_sec", "gpu[0].utilization_pct", "network[sum].rx_bytes_per_sec" (also [mean],
 * [max]). -ENOENT: no such file or metric; -ENODATA: an empty file; -EBADMSG: not a recording; -EINVAL: the
 * name needs brackets.
 */
RT_API int rt_record_open(const char *const *paths, size_t path_count, const char *const *columns,
			  size_t column_count, rt_record **ret_record, struct rt_problem *ret_problem);
RT_API void rt_record_close(rt_record *record);

/* Goes to the next sample. Returns 1, 0 after the last sample, or a negative errno if reading fails. */
RT_API int rt_record_next(rt_record *record, struct rt_problem *ret_problem);
/* Returns a value of this sample; RT_TYPE_NONE: absent. Texts live until the next sample. */
RT_API struct rt_value rt_record_get(const rt_record *record, size_t column);
/* The time of this sample: seconds since 1970, and seconds since the run began. */
RT_API double rt_record_timestamp(const rt_record *record);
RT_API double rt_record_elapsed_secs(const rt_record *record);

struct rt_record_info {
	size_t size;            /* sizeof(struct rt_record_info), set by the caller */
	size_t run;             /* run of the last sample, from 1: a file may hold several (--append) */
	int64_t torn_tails;     /* files that end in the middle of a sample */
	int64_t bad_lines;      /* lines that cannot be read as samples */
	int64_t first_bad_line; /* 0: none */
	int64_t clock_steps;    /* time stamps that went backwards */
	int64_t hosts;          /* different host names; counts to 16 at most */
	double interval_secs;   /* NaN before the second sample */
	bool finished;          /* the last sample's run has an end record */
	const char *layout;     /* "json", "combined", "system-0.4", ... */
};
RT_API int rt_record_get_info(const rt_record *record, struct rt_record_info *ret_info);

/* ---- statistics ------------------------------------------------------------------------------------ */

enum { RT_STAT_NOT_ROUNDED = -1 };

/*
 * One figure to compute: `aggregate` of `column`, called `name` in the result (NULL: like the aggregate),
 * rounded to `decimals` as Python rounds, or RT_STAT_NOT_ROUNDED. Aggregates: mean, max, min, sum, len, std,
 * median, p95 (any percentile), first, last, duration (largest minus smallest), time_mean (each value
 * weighted by the length of its interval).
 */
struct rt_stat_spec {
	const char *column;
	const char *aggregate;
	const char *name;
	int decimals;
};

/* A map {column: {name: value}} in the order of the specs. */
typedef struct rt_stats rt_stats;

/*
 * The figures of the Python package's stats(): the mean and maximum of the job's cores, memory and GPUs, ...
 */
RT_API const struct rt_stat_spec *rt_stats_default_specs(size_t *ret_count);

/*
 * Computes statistics of the last run in the files, in constant memory. The duration of "timestamp" includes
 * the interval before the first sample, for which that sample stands. A value that the recording lacks is
 * RT_TYPE_NONE. -ENOENT: no such metric or file; -EINVAL: no such aggregate; -ENODATA: no sample.
 */
RT_API int rt_stats_read_record(const char *const *paths, size_t path_count, const struct rt_stat_spec *specs,
				size_t spec_count, rt_stats **ret_stats, struct rt_problem *ret_problem);
/* Reads a file that rt_stats_to_json() or the Python package wrote. -EBADMSG: another kind of file. */
RT_API int rt_stats_read_json(const char *path, rt_stats **ret_stats, struct rt_problem *ret_problem);
/*
 * Makes one of several runs: "mean" and "duration" are averages over the runs that have them, "max" and "sum"
 * the largest values. -EINVAL: another name.
 */
RT_API int rt_stats_combine(const rt_stats *const *stats, size_t count, rt_stats **ret_stats,
			    struct rt_problem *ret_problem);
RT_API void rt_stats_free(rt_stats *stats);

/* A figure by its column and name. RT_TYPE_NONE: absent, or no such entry. */
RT_API struct rt_value rt_stats_get(const rt_stats *stats, const char *column, const char *name);
/* The entries by index, in order. -ENOENT past the last one. Texts live as long as the stats. */
RT_API int rt_stats_entry(const rt_stats *stats, size_t index, const char **ret_column, const char **ret_name,
			  struct rt_value *ret_value);
RT_API int rt_stats_to_json(const rt_stats *stats, char **ret_text);
/* Bare numbers, one line for each column. */
RT_API int rt_stats_to_text(const rt_stats *stats, char **ret_text);
/* ---- summary --------------------------------------------------------------------------------------- */

/* The figures of the last run in the files. The result depends on the files alone. */
typedef struct rt_summary rt_summary;

/* Reads the last run. -ENODATA: no sample yet; else the errors of rt_record_open(). */
RT_API int rt_summary_read(const char *const *paths, size_t path_count, rt_summary **ret_summary,
			   struct rt_problem *ret_problem);
/*
 * The same, with only these GPUs in gpu_tracker's GPU percentages. -EINVAL: no such GPU; the problem lists
 * those that there are.
 */
RT_API int rt_summary_read_gpus(const char *const *paths, size_t path_count, const char *const *uuids,
				size_t uuid_count, rt_summary **ret_summary, struct rt_problem *ret_problem);
RT_API void rt_summary_free(rt_summary *summary);

/* A figure by its place in the JSON form: ("memory", "peak_mib"). Texts live as long as the summary. */
RT_API struct rt_value rt_summary_get(const rt_summary *summary, const char *group, const char *name);
/*
 * The causes that slowed the run, the most important first: the id of the rule ("throttled", "cpu_bound",
 * ...; "idle" and "none" if no cause was found), a title and a sentence. There is at least one. -ENOENT past
 * the last one. Texts live as long as the summary.
 */
RT_API int rt_summary_bottleneck(const rt_summary *summary, size_t index, const char **ret_rule,
				 const char **ret_title, const char **ret_text);

/* The use of one program of the job in the whole run; see the rows of "programs" in a sample. */
struct rt_program_use {
	size_t size;               /* sizeof(struct rt_program_use), set by the caller */
	const char *name;          /* "cc1plus", "python3 train.py", "others"; lives as long as the summary */
	double cpu_secs;           /* user and system */
	double cpu_pct;            /* of the job's CPU time */
	double cpu_estimated_secs; /* the part that is estimated */
	double memory_peak_mib;    /* NaN: unknown */
	int64_t process_count;     /* -1: unknown, as for "others" */
};
/* The programs, the one with most CPU time first, and "others" last. -ENOENT past the last one. */
RT_API int rt_summary_program(const rt_summary *summary, size_t index, struct rt_program_use *ret_use);
/* A thing that the job waited for while none of its threads ran; docs/CAUSES.md explains the classes. */
struct rt_wait_use {
	size_t size;            /* sizeof(struct rt_wait_use), set by the caller */
	const char *wait_class; /* "sleep", "socket", "storage", ...; texts live as long as the summary */
	const char *target;     /* "TCP port 5432 of another machine"; NULL: the class says all */
	const char *
		program; /* that waited, at the end of the chain of waits; "others": all further waits of this class */
	double secs;        /* at least, if several threads of the job ran at a time */
	double run_pct;     /* of the recorded time; NaN: no time was recorded */
	int64_t look_count; /* samples that saw it */
};
/* The waits, the longest first. A run without an end has those of its samples so far. -ENOENT past the last one. */
RT_API int rt_summary_wait(const rt_summary *summary, size_t index, struct rt_wait_use *ret_use);
/* The summary as JSON: {"run": {...}, "end": {...}, "time": {...}, "cores": {...}, "memory": {...}, ...}; units are part of the names. */
RT_API int rt_summary_to_json(const rt_summary *summary, char **ret_text);

enum rt_size_unit {
	RT_SIZE_AUTO,
	RT_SIZE_BYTES,
	RT_SIZE_KIB,
	RT_SIZE_MIB,
	RT_SIZE_GIB,
	RT_SIZE_TIB,
	RT_SIZE_KB,
	RT_SIZE_MB,
	RT_SIZE_GB,
	RT_SIZE_TB
};
/* One screen for a person. `unit` applies to memory and amounts of data. */
RT_API int rt_summary_to_text(const rt_summary *summary, enum rt_size_unit unit, char **ret_text);
/* The same as Markdown: a heading, and a table with a row for each subject. Text of the job is escaped. */
RT_API int rt_summary_to_markdown(const rt_summary *summary, enum rt_size_unit unit, char **ret_text);
/* The tree of figures of gpu_tracker. A NULL unit is its default: gigabytes, gigabytes, hours. */
struct rt_gpu_tracker_options {
	size_t size;                  /* sizeof(struct rt_gpu_tracker_options), set by the caller */
	const char *ram_unit;         /* bytes, kilobytes, megabytes, gigabytes, terabytes (decimal) */
	const char *gpu_ram_unit;     /* the same */
	const char *time_unit;        /* seconds, minutes, hours, days */
	double expected_cores;        /* 0: all of the machine's */
	double expected_gpus;         /* 0: all */
	const char *const *gpu_uuids; /* for rt_export(): the GPUs in its percentages; none: all */
	size_t gpu_uuid_count;
};
/* `options` may be NULL. -EINVAL: no such unit. */
RT_API int rt_summary_to_gpu_tracker(const rt_summary *summary, const struct rt_gpu_tracker_options *options,
				     bool json, char **ret_text, struct rt_problem *ret_problem);

/* ---- exchange -------------------------------------------------------------------------------------- */

struct rt_export_options {
	size_t size; /* sizeof(struct rt_export_options), set by the caller */
	/*
	 * Name of the format: resource-tracker export --help explains each. NULL: by the extension of the output (.json, .jsonl,
	 * .csv, .sqlite, .db; before .gz, which compresses).
	 */
	const char *format;
	const char *layout; /* for CSV: "combined" (NULL), "system", "process", "system-0.4", ... */
	bool no_header;     /* for CSV */
	const struct rt_gpu_tracker_options *gpu_tracker; /* for its tracking file; may be NULL */
};
/*
 * Writes the last run in the files. The output appears under its name when it is complete; "-" is standard
 * output. `options` may be NULL. -EINVAL: no such format, layout or unit, or the output is one of the files;
 * -ENODATA: no sample.
 *
 * Returns 1 if the output was written but lines were damaged; the problem counts them. A line that cannot be read as
 * a sample is left out. json and jsonl rewrite a line of invalid JSON or UTF-8 from its known values.
 */
RT_API int rt_export(const char *const *paths, size_t path_count, const char *output,
		     const struct rt_export_options *options, struct rt_problem *ret_problem);

/* ---- advice ---------------------------------------------------------------------------------------- */

/* The resources to request for the next run. */
typedef struct rt_advice rt_advice;

/*
 * How much to reserve, as runs differ. The newest 200 runs count. Where the sizes of inputs are known, a run is compared with those of
 * its size (docs/SIZING.md).
 */
enum rt_policy {
	RT_POLICY_MAX, /* the largest need and 2 to 15 %, by the scatter; few runs get more. The cores of the busiest time */
	RT_POLICY_P95, /* more than 95 % of the runs used, newer ones count more, and the same margin. Cores likewise */
	RT_POLICY_COST, /* least memory x time in all, killed and repeated runs included. Fewest core hours */
};

struct rt_recommend_options {
	size_t size;           /* sizeof(struct rt_recommend_options), set by the caller */
	bool force;            /* answer even from too little data */
	double usd_per_hour;   /* price of the run's machine; 0: unknown */
	enum rt_policy policy; /* 0: RT_POLICY_MAX */
	const char *job;       /* which runs of files of runs; NULL: the first recording's, or the only one */
	const char *task;      /* NULL: all tasks of the job */
	double input_bytes;    /* size of the next run's input; 0: unknown */
	unsigned attempt; /* 2: the first attempt of this run was killed, and so on; 0 and 1: the first */
	double memory_least_mib; /* of the site: memory is never below it; 0: 32 */
	double memory_step_mib;  /* of the site: memory is rounded up to its multiples; 0: 16 */
};

/*
 * Advises from one run or several. Each path is a recording, a file that rt_stats_to_json() wrote, or a file of runs
 * (docs/FLEET.md), of which the newest 200 of the job count.
 * Recordings of several ranks of one job count as one run: their memory on the same host is added up. The
 * notes are about the first run.
 *
 * Runs without enough data (one sample, shorter than a second, no end, no process) are left out. If none
 * remains, the result is 0 and the advice is a refusal with its reason. `options` may be NULL. -EINVAL: an
 * unknown policy.
 */
RT_API int rt_recommend(const char *const *paths, size_t path_count,
			const struct rt_recommend_options *options, rt_advice **ret_advice,
			struct rt_problem *ret_problem);
RT_API void rt_advice_free(rt_advice *advice);

/* "cpu" (cores), "memory" (MiB), "gpu" (devices), "vram" (MiB), "time" (limit in s). RT_TYPE_NONE: refused or unknown. */
RT_API struct rt_value rt_advice_get(const rt_advice *advice, const char *name);
/* Returns why the advice was refused; NULL: it was not. */
RT_API const char *rt_advice_refused(const rt_advice *advice);
/*
 * Notes by index: the id of the rule ("idle_cores", "throttled", ...) and a sentence. -ENOENT past the last
 * one.
 */
RT_API int rt_advice_note(const rt_advice *advice, size_t index, const char **ret_rule,
			  const char **ret_text);

/* A cloud server that fits, as the answer of a catalogue or service to a question. All texts may be NULL. */
struct rt_server {
	size_t size; /* sizeof(struct rt_server), set by the caller */
	const char *question, *problem;
	const char *vendor, *type, *region;
	int64_t vcpus; /* 0: unknown */
	double memory_mib;
	double usd_per_hour; /* NaN: unknown */
};
/* The texts are copied. */
RT_API int rt_advice_set_server(rt_advice *advice, const struct rt_server *server);
/* Sets the price of an hour on the machine that the run had. */
RT_API void rt_advice_set_price(rt_advice *advice, double usd_per_hour);

/*
 * Finds the cheapest server that fits, in a CSV or SQLite file (table "servers"). Columns: vendor_id,
 * api_reference, vcpus, memory_mib (or memory_gib), price_usd_per_hour; optional: region_id, gpu_count,
 * gpu_memory_mib. `filters` are "COLUMN=VALUE". If no server fits, the `problem` of the advice's server says
 * so.
 */
RT_API int rt_advice_find_server(rt_advice *advice, const char *catalogue, const char *const *filters,
				 size_t filter_count, struct rt_problem *ret_problem);
/* The price of an instance in that file: "vendor/region/type" or "vendor/type". -ENOENT: not in the file. */
RT_API int rt_catalogue_price(const char *catalogue, const char *instance, double *ret_usd_per_hour,
			      struct rt_problem *ret_problem);

/* The advice as JSON: {"cpu":2,"memory":1024,"gpu":0,"vram":0,"refused":null,"evidence":{...},"notes":[...],...} */
RT_API int rt_advice_to_json(const rt_advice *advice, char **ret_text);
/* The advice as text for people. */
RT_API int rt_advice_to_text(const rt_advice *advice, char **ret_text);
/*
 * Text to copy and paste: "slurm", "kubernetes", "docker", "nextflow", "snakemake", "metaflow". -EINVAL:
 * another name; -ENODATA: the advice is a refusal.
 */
RT_API int rt_advice_to_form(const rt_advice *advice, const char *form, char **ret_text,
			     struct rt_problem *ret_problem);
/* Rounds up to the next size: 128, 256, 512, 1024, 2048 MiB, then multiples of 1024. */
RT_API int64_t rt_round_memory_mib(double mib);

/* ---- phases ---------------------------------------------------------------------------------------- */

/* The use of resources in each phase of a run. */
typedef struct rt_regions rt_regions;

/*
 * Reads the last run in the files, with the marks of its job. `marks` NULL: the file "FILE.marks" beside the
 * first one, if it exists. `columns` as for rt_record_open(); none: the usual ones. Cores and bytes of a sample count for
 * a phase by the part of its interval that lies in the phase; memory counts if the time stamp does.
 */
RT_API int rt_regions_read(const char *const *paths, size_t path_count, const char *marks,
			   const char *const *columns, size_t column_count, rt_regions **ret_regions,
			   struct rt_problem *ret_problem);
/*
 * Reads gpu_tracker's own files, CSV or SQLite. Either may be NULL: without the first, phases have calls and
 * times but no measures; without the second there are no phases.
 */
RT_API int rt_regions_read_gpu_tracker(const char *tracking_file, const char *sub_tracking_file,
				       rt_regions **ret_regions, struct rt_problem *ret_problem);
RT_API void rt_regions_free(rt_regions *regions);

struct rt_phase {
	size_t size;      /* sizeof(struct rt_phase), set by the caller */
	const char *name; /* lives as long as the regions */
	int64_t calls;    /* how often it was entered */
	double total_secs;
};
/* Phases by index, in the order of their names. -ENOENT past the last one. */
RT_API int rt_regions_phase(const rt_regions *regions, size_t index, struct rt_phase *ret_phase);
/* The times at which a call began and ended, in seconds since 1970. */
RT_API int rt_regions_call(const rt_regions *regions, size_t phase, size_t index, double *ret_start,
			   double *ret_stop);
/* The phases as JSON or text, with the keys and layout of gpu_tracker's analysis. */
RT_API int rt_regions_to_json(const rt_regions *regions, char **ret_text);
RT_API int rt_regions_to_text(const rt_regions *regions, char **ret_text);
/* ---- comparison ------------------------------------------------------------------------------------ */

/* Differences between runs: the largest first in the JSON form, by subject in the text. */
typedef struct rt_comparison rt_comparison;

/*
 * Runs of the same side are repetitions of the same thing. The other sides are compared with the side of the
 * first run.
 */
struct rt_compared_run {
	const char *side, *path;
};
/* Compares them. -EINVAL: fewer than two sides. */
RT_API int rt_compare(const struct rt_compared_run *runs, size_t run_count, rt_comparison **ret_comparison,
		      struct rt_problem *ret_problem);
RT_API void rt_comparison_free(rt_comparison *comparison);
/*
 * Tells whether a condition such as "memory_peak>+10%" or "load.secs>60" holds for any side after the first.
 * Returns 1 or 0; with 1 the problem says where. A change in percent counts only if it exceeds the noise.
 * -EINVAL: not a condition; -ENOENT: no such figure; -ENODATA: the condition holds for no side, and one side
 * lacks the figure or counts memory differently (shared pages once, or in each process), so that percentages
 * cannot be compared.
 */
RT_API int rt_comparison_holds(const rt_comparison *comparison, const char *condition,
			       struct rt_problem *ret_problem);
RT_API int rt_comparison_to_json(const rt_comparison *comparison, char **ret_text);
RT_API int rt_comparison_to_text(const rt_comparison *comparison, char **ret_text);
/*
 * gpu_tracker's comparison, with its keys and layout: one statistic ("min", "max", "mean", "std"; NULL:
 * "mean") of each measure, of whole runs and of each phase. Each side is one run, and each path an analysis
 * in JSON (gpu_tracker's, or of rt_regions_to_json()) or a recording. -EINVAL: the phases differ, or no such
 * statistic. A phase may match one whose name differs only in the line number at its end. The result is then
 * still 0, and the problem mentions it.
 */
RT_API int rt_compare_phases(const struct rt_compared_run *runs, size_t run_count, const char *statistic,
			     bool json, char **ret_text, struct rt_problem *ret_problem);

/* ---- report ---------------------------------------------------------------------------------------- */

struct rt_report_options {
	size_t size;             /* sizeof(struct rt_report_options), set by the caller */
	const char *integration; /* the system around the job: "Metaflow", "R", ...; NULL: not shown */
	bool failed;             /* the job failed, even if the recording says otherwise */
	double usd_per_hour;     /* price of the machine; 0: unknown */
	bool succeeded;          /* the job succeeded, if the recording does not say */
	/* Earlier runs to include in the advice: recordings, or files of rt_stats_to_json(). NULL: none. */
	const char *const *history;
	size_t history_count;
};

/*
 * Writes one HTML page without external files. It shows one recording, or several side by side. Each path is
 * a run; a file with several runs stands for its last one. The page appears under its name when it is
 * complete; "-" is standard output. `options` may be NULL. -ENODATA: no sample; -ENOSYS: this library was
 * built without the page.
 */
RT_API int rt_report(const char *const *paths, size_t path_count, const char *output,
		     const struct rt_report_options *options, struct rt_problem *ret_problem);

/* Prices for the report, from a catalogue as for rt_advice_find_server(). */
struct rt_report_prices {
	size_t size; /* sizeof(struct rt_report_prices), set by the caller */
	const char *catalogue;
	const char *instance;       /* the runs' instance, as for rt_catalogue_price(); NULL: unknown */
	const char *const *filters; /* for the servers that the page offers */
	size_t filter_count;
};

/*
 * The same for runs compared as by rt_compare(): runs of one side are repetitions. With a catalogue the page
 * offers the cheapest server that fits the advice. With an instance it shows the cost of the runs. `prices`
 * may be NULL.
 */
RT_API int rt_report_runs(const struct rt_compared_run *runs, size_t run_count, const char *output,
			  const struct rt_report_options *options, const struct rt_report_prices *prices,
			  struct rt_problem *ret_problem);

/* ---- combination ----------------------------------------------------------------------------------- */

/*
 * Combines recordings of processes, ranks or hosts that ran at the same time into one (JSON Lines; "-" is
 * standard output). It adds up the use of all jobs, and that of all hosts, each counted once. -EEXIST: two of
 * them are the same recording.
 */
RT_API int rt_combine(const char *const *paths, size_t path_count, const char *output,
		      struct rt_problem *ret_problem);

/* ---- lines of runs --------------------------------------------------------------------------------- */

/*
 * Makes the line of the last run in a recording: one JSON object of about 1.3 KB with a newline (docs/FLEET.md), which `history`,
 * `recommend --history` and DuckDB read. -ENODATA: it has no sample yet.
 */
RT_API int rt_run_line(const char *recording, char **ret_text, struct rt_problem *ret_problem);

/*
 * Appends the line of a run to a file of runs, as the command does with --runs: with one write(2), beside any number of other writers.
 * Call it when the recording is complete. -EINVAL: the file is something else, or another user may have planted it.
 */
RT_API int rt_runs_append(const char *runs, const char *recording, struct rt_problem *ret_problem);

#ifdef __cplusplus
}
#endif

#endif
