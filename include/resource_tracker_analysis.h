/*
 * resource_tracker_analysis.h: from a recording to a decision. Links jansson, zlib and SQLite.
 *
 * Recordings are named by path: JSON Lines, CSV of every layout, snapshots of the Python package; plain or gzip;
 * also while they are still being written. Damage is counted, not an error.
 *
 * Results: functions that can fail return 0 (or a count) on success and a negative errno on failure; results that
 * come through ret_ arguments are untouched then. A `struct rt_problem *` may be NULL; otherwise it gets one line
 * for a person when the call fails. Nothing is printed, nothing global is kept.
 *
 * Ownership: an object that a call returns belongs to the caller, who frees it with the call named there; freeing
 * NULL is allowed. Texts returned through `char **` are malloc'd, the caller frees them.
 *
 * Threads: different objects are independent; one object belongs to one thread at a time.
 */
#ifndef RESOURCE_TRACKER_ANALYSIS_H
#define RESOURCE_TRACKER_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RT_API __attribute__((visibility("default")))

/* What went wrong: names the file, the line, and what to do. */
struct rt_problem {
	char text[512];
};

/* ---- tables ---------------------------------------------------------------------------------------- */

enum rt_cell_type { RT_CELL_NONE, RT_CELL_COUNT, RT_CELL_REAL, RT_CELL_TEXT };

struct rt_cell {
	enum rt_cell_type type;
	union {
		int64_t count;
		double real;
		const char *text;
	};
};

/* Named columns of cells. A table owns all that is in it: texts are copied, parts of tables are copies. */
typedef struct rt_table rt_table;

/* NULL without memory. */
RT_API rt_table *rt_table_new(void);
RT_API void rt_table_free(rt_table *table);

/* 0 rows as long as there is no column. */
RT_API size_t rt_table_row_count(const rt_table *table);
RT_API size_t rt_table_column_count(const rt_table *table);
/* NULL past the last one. Valid until the column is renamed or the table freed. */
RT_API const char *rt_table_column_name(const rt_table *table, size_t column);
/* The index of a column, or -ENOENT. */
RT_API ssize_t rt_table_find(const rt_table *table, const char *name);

/* A new column at the end, all cells empty: its index, -EEXIST or -ENOMEM. */
RT_API ssize_t rt_table_add_column(rt_table *table, const char *name);
/* A new row at the end, all cells empty: its index, or -ENOMEM. */
RT_API ssize_t rt_table_add_row(rt_table *table);
/* Adds or replaces a whole column. -EINVAL: not as many cells as a table that has columns has rows. */
RT_API int rt_table_set_column(rt_table *table, const char *name, const struct rt_cell *cells, size_t count);

/* -ENOENT: no such column or row. */
RT_API int rt_table_set(rt_table *table, size_t column, size_t row, struct rt_cell cell);
/* RT_CELL_NONE past the end as well. */
RT_API struct rt_cell rt_table_get(const rt_table *table, size_t column, size_t row);
/* The cell as a number; false for texts and empty cells. */
RT_API bool rt_table_real(const rt_table *table, size_t column, size_t row, double *ret_value);
/* The cells of a column, row by row; NULL past the last column. Valid until the table is changed. */
RT_API const struct rt_cell *rt_table_cells(const rt_table *table, size_t column);

/* All at once, so that two may change their names. -ENOENT, with the name in the problem; then nothing is renamed. */
RT_API int rt_table_rename(rt_table *table, const char *const *from, const char *const *to, size_t count,
			   struct rt_problem *ret_problem);
/* These columns in this order. */
RT_API int rt_table_select(const rt_table *table, const char *const *names, size_t count,
			   rt_table **ret_table, struct rt_problem *ret_problem);

/* Rows start, start + step, ... before stop; negative numbers count from the end, as in Python. */
struct rt_slice {
	bool has_start, has_stop;
	int64_t start, stop;
	int64_t step; /* not 0 */
};
RT_API int rt_table_slice(const rt_table *table, struct rt_slice slice, rt_table **ret_table);
RT_API int rt_table_head(const rt_table *table, size_t rows, rt_table **ret_table);
RT_API int rt_table_tail(const rt_table *table, size_t rows, rt_table **ret_table);

/*
 * From CSV: the first line has the names; a cell is an integer, else a real number, else a text. A line with more
 * cells than names is an error, one with fewer has empty cells at its end.
 */
RT_API int rt_table_read_csv(const char *path, rt_table **ret_table, struct rt_problem *ret_problem);
/* With CRLF; `quote`: everything but numbers is quoted, else only what needs it. */
RT_API int rt_table_to_csv(const rt_table *table, bool quote, char **ret_text);
/* For people: a line with the size, the names, and at most `rows` rows (0: all of them). */
RT_API int rt_table_to_text(const rt_table *table, size_t rows, char **ret_text);
/* "TinyDataFrame"-like one-liner: the size and the first row. */
RT_API int rt_table_describe(const rt_table *table, char **ret_text);
/* A JSON array with one object for each row. */
RT_API int rt_table_to_json(const rt_table *table, char **ret_text);

/* ---- recordings ------------------------------------------------------------------------------------ */

typedef struct rt_record rt_record;

/*
 * Opens files that are parts of one recording and chooses what is read of each sample. Names are those of
 * `resource-tracker metrics` ("cpu.process_cores_used"), headings of the combined CSV ("process_cpu_usage"), the
 * last part alone where it is clear, and for values that there are several of "disk[sda].read_bytes_per_sec",
 * "gpu[0].utilization_pct", "network[sum].rx_bytes_per_sec" (also [mean], [max]).
 * -ENOENT no such file or metric, -ENODATA an empty file, -EBADMSG no recording, -EINVAL a name that needs brackets.
 */
RT_API int rt_record_open(const char *const *paths, size_t path_count, const char *const *columns,
			  size_t column_count, rt_record **ret_record, struct rt_problem *ret_problem);
RT_API void rt_record_close(rt_record *record);

/* Goes to the next sample: 1, 0 when there are no more, negative errno when the file cannot be read on. */
RT_API int rt_record_next(rt_record *record, struct rt_problem *ret_problem);
/* A value of this sample; RT_CELL_NONE when it is absent. Texts live until the next sample. */
RT_API struct rt_cell rt_record_get(const rt_record *record, size_t column);
/* Seconds since 1970, and seconds since the run began. */
RT_API double rt_record_timestamp(const rt_record *record);
RT_API double rt_record_elapsed_secs(const rt_record *record);

struct rt_record_info {
	size_t run;             /* of the last sample, from 1: a file may hold several (--append) */
	int64_t torn_tails;     /* files that end in the middle of a sample */
	int64_t bad_lines;      /* lines that are no samples */
	int64_t first_bad_line; /* 0: none */
	int64_t clock_steps;    /* time stamps that went backwards */
	int64_t hosts;          /* different host names, at most 16 are told apart */
	double interval_secs;   /* NaN before the second sample */
	bool finished;          /* the run of the last sample has its end record */
	const char *layout;     /* "json", "combined", "system-0.4", ... */
};
RT_API struct rt_record_info rt_record_get_info(const rt_record *record);

/* All samples of the last run at once. Column names are as given; without any, the 32 of the combined CSV. */
RT_API int rt_table_read_record(const char *const *paths, size_t path_count, const char *const *columns,
				size_t column_count, rt_table **ret_table, struct rt_problem *ret_problem);

/* ---- statistics ------------------------------------------------------------------------------------ */

enum { RT_NOT_ROUNDED = -1 };

/*
 * What to compute: `aggregate` of `column`, called `name` in the result (NULL: as the aggregate), rounded to
 * `decimals` as Python rounds, or RT_NOT_ROUNDED. Aggregates: mean, max, min, sum, len, std, median, p95 (any
 * percentile), first, last, duration (largest less smallest), time_mean (each value weighs as long as its interval).
 */
struct rt_stat_spec {
	const char *column;
	const char *aggregate;
	const char *name;
	int decimals;
};

/* A map {column: {name: value}} in the order of the specs. */
typedef struct rt_stats rt_stats;

/* What stats() of the Python package computes: the mean and maximum of the job's cores, memory and GPUs, ... */
RT_API const struct rt_stat_spec *rt_stats_default_specs(size_t *ret_count);

/*
 * Of the last run in the files, in constant memory. The duration of "timestamp" includes the time before the first
 * sample that this one stands for. A value that is nowhere in the recording is RT_CELL_NONE.
 * -ENOENT no such metric or file, -EINVAL no such aggregate, -ENODATA no sample.
 */
RT_API int rt_stats_read_record(const char *const *paths, size_t path_count, const struct rt_stat_spec *specs,
				size_t spec_count, rt_stats **ret_stats, struct rt_problem *ret_problem);
/* A spec that cannot be computed is left out; returns the number of those, and what is wrong with the first. */
RT_API int rt_stats_of_table(const rt_table *table, const struct rt_stat_spec *specs, size_t spec_count,
			     rt_stats **ret_stats, struct rt_problem *ret_problem);
/* What rt_stats_to_json() or the Python package wrote. -EBADMSG: something else. */
RT_API int rt_stats_read_json(const char *path, rt_stats **ret_stats, struct rt_problem *ret_problem);
/*
 * Several runs as one: "mean" and "duration" are averaged over the runs that have them, "max" and "sum" are the
 * largest. -EINVAL: another name.
 */
RT_API int rt_stats_combine(const rt_stats *const *stats, size_t count, rt_stats **ret_stats,
			    struct rt_problem *ret_problem);
RT_API void rt_stats_free(rt_stats *stats);

/* RT_CELL_NONE: absent, or no such entry. */
RT_API struct rt_cell rt_stats_get(const rt_stats *stats, const char *column, const char *name);
/* The entries by index, in order. -ENOENT past the last. Texts live as long as the stats. */
RT_API int rt_stats_entry(const rt_stats *stats, size_t index, const char **ret_column, const char **ret_name,
			  struct rt_cell *ret_value);
RT_API int rt_stats_to_json(const rt_stats *stats, char **ret_text);
/* For people: a line for each column. */
RT_API int rt_stats_to_text(const rt_stats *stats, char **ret_text);

/* ---- summary --------------------------------------------------------------------------------------- */

/* What the last run in the files came to. A function of the files alone. */
typedef struct rt_summary rt_summary;

/* -ENODATA: no sample yet; errors of rt_record_open(). */
RT_API int rt_summary_read(const char *const *paths, size_t path_count, rt_summary **ret_summary,
			   struct rt_problem *ret_problem);
/* The same with these GPUs alone in gpu_tracker's GPU percentages. -EINVAL: there is no such GPU; the problem lists them. */
RT_API int rt_summary_read_gpus(const char *const *paths, size_t path_count, const char *const *uuids,
				size_t uuid_count, rt_summary **ret_summary, struct rt_problem *ret_problem);
RT_API void rt_summary_free(rt_summary *summary);

/* A figure of the JSON form: ("memory", "peak_mib"). Texts live as long as the summary. */
RT_API struct rt_cell rt_summary_get(const rt_summary *summary, const char *group, const char *name);
/*
 * What held the run up, the weightiest first: the id of the rule ("throttled", "cpu_bound", ..., or "idle" and "none"
 * when nothing did), a title and a sentence. -ENOENT past the last; there is at least one. Texts live as long as the summary.
 */
RT_API int rt_summary_bottleneck(const rt_summary *summary, size_t index, const char **ret_rule,
				 const char **ret_title, const char **ret_text);
/* {"run":{...},"end":{...},"time":{...},"cores":{...},"memory":{...},...}; units stand in the names. */
RT_API int rt_summary_to_json(const rt_summary *summary, char **ret_text);

enum rt_size_unit { RT_SIZE_AUTO, RT_BYTES, RT_KIB, RT_MIB, RT_GIB, RT_TIB, RT_KB, RT_MB, RT_GB, RT_TB };
/* One screen for a person. `unit`: of memory and amounts of data. */
RT_API int rt_summary_to_text(const rt_summary *summary, enum rt_size_unit unit, char **ret_text);

/* The tree of figures of gpu_tracker; NULL units are its defaults: gigabytes, gigabytes, hours. */
struct rt_gpu_tracker_options {
	const char *ram_unit;         /* bytes, kilobytes, megabytes, gigabytes, terabytes (decimal) */
	const char *gpu_ram_unit;     /* the same */
	const char *time_unit;        /* seconds, minutes, hours, days */
	double expected_cores;        /* 0: all of the machine's */
	double expected_gpus;         /* 0: all */
	const char *const *gpu_uuids; /* of rt_export(): the GPUs in its percentages; none: all */
	size_t gpu_uuid_count;
};
/* `options` may be NULL. -EINVAL: no such unit. */
RT_API int rt_summary_to_gpu_tracker(const rt_summary *summary, const struct rt_gpu_tracker_options *options,
				     bool json, char **ret_text, struct rt_problem *ret_problem);

/* ---- exchange -------------------------------------------------------------------------------------- */

struct rt_export_options {
	/*
	 * "json"         a list of all samples, one a line
	 * "jsonl"        one sample a line
	 * "csv"          a CSV layout
	 * "sqlite"       tables samples, run_start, run_end, disk, network, gpu, ...
	 * "snapshot"     of the Python package: what dump() writes and load() reads (gzip; plain to standard output)
	 * "snapshot-0.4" the same for its version 0.4
	 * "gpu_tracker"  its tracking file: SQLite when the output's name ends so, else CSV
	 * NULL: by the extension of the output (.json, .jsonl, .csv, .sqlite, .db; before .gz, which compresses).
	 */
	const char *format;
	const char *layout; /* of CSV: "combined" (NULL), "system", "process", "system-0.4", ... */
	bool no_header;     /* of CSV */
	struct rt_gpu_tracker_options gpu_tracker;
};
/*
 * Writes the last run in the files. The output appears under its name when it is whole; "-" is standard output.
 * `options` may be NULL. -EINVAL: no such format, layout or unit, or the output is one of the files; -ENODATA: no sample.
 * 1: it is written, but lines were damaged (json, jsonl, csv), and the problem counts them. Lines that are not valid JSON or
 * UTF-8 are written anew from their known values; lines that are no samples are left out.
 */
RT_API int rt_export(const char *const *paths, size_t path_count, const char *output,
		     const struct rt_export_options *options, struct rt_problem *ret_problem);

/*
 * A snapshot of the Python package, as its dump() (to a file, gzip) and dumps() (as text) make it. rt_record_open() and
 * all others that take paths read such a file back.
 */
RT_API int rt_snapshot_dump(const char *const *paths, size_t path_count, const char *output,
			    struct rt_problem *ret_problem);
RT_API int rt_snapshot_dumps(const char *const *paths, size_t path_count, char **ret_text,
			     struct rt_problem *ret_problem);

/* How the columns of a combined table are named and scaled; zeroes are the defaults of get_combined_metrics(). */
struct rt_combined_options {
	bool bytes;                 /* _mib and disk_space_*_gb columns times their unit; the names stay */
	bool human_names;           /* "CPU usage", "free memory", ... */
	const char *system_prefix;  /* NULL: "system_", with human names "System " */
	const char *process_prefix; /* NULL: "process_", with human names "Process " */
	size_t offset;              /* so many rows less at the beginning */
};
/* Samples with the columns of the machine and of the process side by side. `options` may be NULL. */
RT_API int rt_table_read_combined(const char *const *paths, size_t path_count,
				  const struct rt_combined_options *options, rt_table **ret_table,
				  struct rt_problem *ret_problem);

/* ---- advice ---------------------------------------------------------------------------------------- */

/* What to ask for next time. */
typedef struct rt_advice rt_advice;

/* How much to reserve for runs that differ. */
enum rt_policy {
	RT_POLICY_MAX, /* the largest peak of the last 50 runs and 20 %; as many cores as it used at its busiest */
	RT_POLICY_P95, /* more than 95 % of the runs used, newer ones counting more, and 15 %; cores likewise */
	RT_POLICY_COST, /* least reserved in all, with runs that are killed and run again; fewest core hours */
};

struct rt_recommend_options {
	bool force;            /* answer on too little data as well */
	double usd_per_hour;   /* price of the machine that the run had; 0: unknown */
	enum rt_policy policy; /* 0: RT_POLICY_MAX */
};

/*
 * From one run or several: each path is a recording of its own or what rt_stats_to_json() wrote. Recordings of several
 * ranks of one job are one run: the memory of those on one host is added up. The notes are about the first. Runs that
 * say too little (one sample, shorter than a second, no end, no process) are left out; when none is left, the advice is
 * a refusal that says why, which is no error. `options` may be NULL. -EINVAL: an unknown policy.
 */
RT_API int rt_recommend(const char *const *paths, size_t path_count,
			const struct rt_recommend_options *options, rt_advice **ret_advice,
			struct rt_problem *ret_problem);
RT_API void rt_advice_free(rt_advice *advice);

/* "cpu" (cores), "memory" (MiB), "gpu" (devices), "vram" (MiB); RT_CELL_NONE: refused or unknown. */
RT_API struct rt_cell rt_advice_get(const rt_advice *advice, const char *name);
/* Why there is no advice; NULL: there is. */
RT_API const char *rt_advice_refused(const rt_advice *advice);
/* Notes by index: the id of the rule ("idle_cores", "throttled", ...) and a sentence. -ENOENT past the last. */
RT_API int rt_advice_note(const rt_advice *advice, size_t index, const char **ret_rule,
			  const char **ret_text);

/* A cloud server that fits, as somebody's answer to a question; all texts may be NULL. */
struct rt_server {
	const char *question, *problem;
	const char *vendor, *type, *region;
	int64_t vcpus;
	double memory_mib;
	double usd_per_hour; /* NaN: unknown */
};
/* Copied. */
RT_API void rt_advice_set_server(rt_advice *advice, const struct rt_server *server);
/* What an hour of the machine costs that the run had. */
RT_API void rt_advice_set_price(rt_advice *advice, double usd_per_hour);

/*
 * The cheapest server that fits, from a CSV or SQLite file (table "servers") with the columns
 * vendor_id, api_reference, vcpus, memory_mib (or memory_gib), price_usd_per_hour, and if it has them region_id,
 * gpu_count, gpu_memory_mib. `filters` are "COLUMN=VALUE". When none fits, the problem of the server says so.
 */
RT_API int rt_advice_find_server(rt_advice *advice, const char *catalogue, const char *const *filters,
				 size_t filter_count, struct rt_problem *ret_problem);
/* The price of an instance there: "vendor/region/type" or "vendor/type". -ENOENT: it is not there. */
RT_API int rt_catalogue_price(const char *catalogue, const char *instance, double *ret_usd_per_hour,
			      struct rt_problem *ret_problem);

/* {"cpu":2,"memory":1024,"gpu":0,"vram":0,"refused":null,"evidence":{...},"notes":[...],...} */
RT_API int rt_advice_to_json(const rt_advice *advice, char **ret_text);
/* For people. */
RT_API int rt_advice_to_text(const rt_advice *advice, char **ret_text);
/* To copy and paste: "slurm", "kubernetes", "docker", "nextflow", "snakemake", "metaflow". -EINVAL: none of them;
 * -ENODATA: the advice is a refusal. */
RT_API int rt_advice_to_form(const rt_advice *advice, const char *form, char **ret_text,
			     struct rt_problem *ret_problem);
/* The next step of memory sizes: 128, 256, 512, 1024, 2048 MiB, then multiples of 1024. */
RT_API int64_t rt_round_memory_mib(double mib);

/* ---- phases ---------------------------------------------------------------------------------------- */

/* What each phase of a run used. */
typedef struct rt_regions rt_regions;

/*
 * Of the last run in the files, with the marks of its job: NULL is the file beside the first one, "FILE.marks",
 * which need not be there. `columns` as of rt_record_open(); none: the usual ones.
 */
RT_API int rt_regions_read(const char *const *paths, size_t path_count, const char *marks,
			   const char *const *columns, size_t column_count, rt_regions **ret_regions,
			   struct rt_problem *ret_problem);
/*
 * Of gpu_tracker's own files, CSV or SQLite. Either may be NULL: without the first, phases have calls and times but no
 * measures; without the second, there are no phases.
 */
RT_API int rt_regions_read_gpu_tracker(const char *tracking_file, const char *sub_tracking_file,
				       rt_regions **ret_regions, struct rt_problem *ret_problem);
RT_API void rt_regions_free(rt_regions *regions);

struct rt_phase {
	const char *name; /* lives as long as the regions */
	int64_t calls;    /* how often it was entered */
	double total_secs;
};
/* By index, in the order of their names; -ENOENT past the last. */
RT_API int rt_regions_phase(const rt_regions *regions, size_t index, struct rt_phase *ret_phase);
/* When it began and ended, in seconds since 1970. */
RT_API int rt_regions_call(const rt_regions *regions, size_t phase, size_t index, double *ret_start,
			   double *ret_stop);
/* Keys and layout of gpu_tracker's analysis. */
RT_API int rt_regions_to_json(const rt_regions *regions, char **ret_text);
RT_API int rt_regions_to_text(const rt_regions *regions, char **ret_text);

/* ---- comparison ------------------------------------------------------------------------------------ */

/* Differences between runs, the largest first. */
typedef struct rt_comparison rt_comparison;

/* Runs of the same side are repetitions of the same thing. The side of the first run is what others differ from. */
struct rt_compared_run {
	const char *side, *path;
};
/* -EINVAL: fewer than two sides. */
RT_API int rt_compare(const struct rt_compared_run *runs, size_t run_count, rt_comparison **ret_comparison,
		      struct rt_problem *ret_problem);
RT_API void rt_comparison_free(rt_comparison *comparison);
/*
 * "memory_peak>+10%", "load.secs>60": whether it holds for any side but the first (1 or 0; the problem then says
 * where). Changes in percent count only beyond the noise. -EINVAL: no condition; -ENOENT: no such figure; -ENODATA: it
 * holds for no side, and one of them does not have the figure or its memory counts in another way (shared pages once, or in
 * each process), so that a change in percent means nothing.
 */
RT_API int rt_comparison_holds(const rt_comparison *comparison, const char *condition,
			       struct rt_problem *ret_problem);
RT_API int rt_comparison_to_json(const rt_comparison *comparison, char **ret_text);
RT_API int rt_comparison_to_text(const rt_comparison *comparison, char **ret_text);

/*
 * gpu_tracker's comparison, with its keys and layout: one statistic ("min", "max", "mean", "std"; NULL: "mean") of each
 * measure, of whole runs and phase by phase. Each path is an analysis in JSON (gpu_tracker's, or rt_regions_to_json()) or
 * a recording; each side is one run. -EINVAL: the phases differ, or no such statistic. When a phase is taken for one whose
 * name differs in the line number at its end, the problem says so, and the result is 0.
 */
RT_API int rt_compare_phases(const struct rt_compared_run *runs, size_t run_count, const char *statistic,
			     bool json, char **ret_text, struct rt_problem *ret_problem);

/* ---- report ---------------------------------------------------------------------------------------- */

struct rt_report_options {
	const char *integration; /* what the job ran in: "Metaflow", "R", ...; NULL: nothing to name */
	bool failed;             /* the job failed, whatever the recording says */
	double usd_per_hour;     /* price of the machine; 0: unknown */
	bool succeeded;          /* the job succeeded, where the recording does not say */
	/* Earlier runs that the advice goes by as well: recordings, or what rt_stats_to_json() wrote; NULL: none. */
	const char *const *history;
	size_t history_count;
};

/*
 * One HTML page that needs nothing else: of one recording, or of several side by side (each path is a run of its
 * own; of a file with several runs, the last). It appears under its name when it is whole; "-" is standard output.
 * `options` may be NULL. -ENODATA: no sample; -ENOSYS: this library was built without the page.
 */
RT_API int rt_report(const char *const *paths, size_t path_count, const char *output,
		     const struct rt_report_options *options, struct rt_problem *ret_problem);

/* What things cost, from a catalogue as rt_advice_find_server() reads it. */
struct rt_report_prices {
	const char *catalogue;
	const char *instance;       /* what the runs had, as of rt_catalogue_price(); NULL: unknown */
	const char *const *filters; /* of the servers that are offered */
	size_t filter_count;
};

/*
 * The same of runs that are compared as rt_compare() does: those of one side are repetitions. With a catalogue the page
 * offers the cheapest server that fits what is advised, and with an instance it says what the runs cost.
 * `prices` may be NULL.
 */
RT_API int rt_report_runs(const struct rt_compared_run *runs, size_t run_count, const char *output,
			  const struct rt_report_options *options, const struct rt_report_prices *prices,
			  struct rt_problem *ret_problem);

/* ---- combination ----------------------------------------------------------------------------------- */

/*
 * Recordings of processes, ranks or hosts that ran at the same time, as one (JSON Lines; "-" is standard output):
 * what jobs used summed over all, what machines did over all hosts, each once. -EEXIST: two are the same recording.
 */
RT_API int rt_combine(const char *const *paths, size_t path_count, const char *output,
		      struct rt_problem *ret_problem);

/* ---- outputs --------------------------------------------------------------------------------------- */

/*
 * Whether a file may be written under a name; rt_export(), rt_report(), rt_combine() and rt_output_write() ask all of this
 * themselves, except that they replace recordings. 0, or
 *   -EINVAL  it is one of the `inputs`, or the marks beside one
 *   -EEXIST  it is a recording, and `replace` is false
 *   -EBUSY   a recorder is writing to it
 *   -EPERM   another user may have planted it (a link, a FIFO) in a folder that everyone may write to
 */
RT_API int rt_output_check(const char *path, const char *const *inputs, size_t input_count, bool replace,
			   struct rt_problem *ret_problem);

/* Writes a file that appears under its name when it is whole; "-" and NULL are standard output. */
RT_API int rt_output_write(const char *path, const void *bytes, size_t length,
			   struct rt_problem *ret_problem);

#ifdef __cplusplus
}
#endif

#endif
