/*
 * Reads a recording back: its samples one by one, as frames, in constant memory.
 *
 * Input: JSON Lines, every CSV layout of every version (format/csv_columns.def) and the Python package's
 * snapshots, plain or gzip. There may be several files in sequence (parts of one recording), and files that are still being
 * written. A CSV of the machine and one of the process are read side by side.
 *
 *	struct record_options options = {0};
 *	WANT(&options.wanted, tree, process_cores_used);
 *	record_open(paths, 1, &options, &record, &problem);
 *	while ((result = record_next(record, &frame)) > 0)
 *		use(((struct tree_row *)frame->first[ROW_tree])->process_cores_used);
 *
 * A frame contains only the wanted metrics, those that identify rows, and the sample's own times and names.
 * If no metric of a row is wanted, or if the file lacks the row, frame->first[kind] is NULL. Values are in
 * the catalogue's units, whatever unit the file uses. A value that the file lacks is absent, with these
 * exceptions:
 *   timestamp          comes from timestamp_secs if the file has whole seconds only,
 *   elapsed_secs,      actual_interval_ms and sample come from the time stamps in files without them,
 *   process_memory_mib is the proportional set size in recordings of the Rust CLI (see tree_memory.h).
 * A proportional set size older than ten seconds is absent.
 *
 * Damage (a torn tail, lines that are not samples) is counted and is not an error. Not thread-safe: one
 * record belongs to one thread.
 */
#pragma once

#include "base/scan.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "record/problem.h"
#include "record/record_format.h"

struct record_options {
	struct metric_set wanted;
	bool follows; /* one file or pipe to which a recorder still writes: after the end, record_next() looks again */
};

struct record;

/*
 * Returns -EBADMSG if a file is not a recording, -ENODATA if it is empty, -ENOENT and other errnos of
 * open(2). All files must exist. Those after the first are opened in turn.
 */
int record_open(const char *const *paths, size_t count, const struct record_options *options,
		struct record **ret_record, struct rt_problem *problem);
void record_close(struct record *record);

/*
 * Returns 1 for a sample, which is valid until the next call, 0 at the end, or a negative errno: see
 * record_problem(). A record that follows its file returns 0 until the next sample is written. The last sample stays valid.
 */
int record_next(struct record *record, const struct frame **ret_frame);
/* Returns the text of the last sample in a JSON recording, without line end, or empty in other formats. */
struct scan record_line(const struct record *record);
const struct rt_problem *record_problem(const struct record *record);

/*
 * Returns the number, from 1, of the last sample's run, since one file may hold several runs (--append). A
 * new run begins with a run_start, or where the samples' numbers start again.
 */
size_t record_run(const struct record *record);

/*
 * Returns the rows run_start, run_end and the rows below them, for the last run, as far as they have been
 * read: FIRST(record_identity(r), run_start) is NULL before, or if the file has none. These rows always have
 * all metrics. Valid until the next record_next().
 */
const struct frame *record_identity(const struct record *record);

/* Returns the value of a scheduler's variable, such as SLURM_JOB_ID, in the rows of record_identity(), or NULL if unset. */
const char *record_scheduler_value(const struct frame *identity, const char *name);
/* The same as a number of MiB, CPUs, tasks or nodes. NaN: it is none, or no machine can have as much. */
double record_scheduler_number(const struct frame *identity, const char *name);
/* The memory that Slurm gives on a node, of which it gives `cpus`. NaN as above. */
double record_scheduler_memory_mib(const struct frame *identity, double cpus);

struct record_damage {
	int64_t torn_tails;      /* files that end in the middle of a sample */
	int64_t bad_lines;       /* lines that are not samples, without torn tails */
	int64_t first_bad_line;  /* its line number in its file, 0: none */
	int64_t unknown_columns; /* CSV headings that are in no layout */
	int64_t clock_steps;     /* time stamps earlier than the last one */
	int64_t hosts;           /* different host names, counted up to 16 */
};
struct record_damage record_damage(const struct record *record);

enum record_format record_format(const struct record *record);
/*
 * Returns "json", "snapshot", or the name of the CSV layout. A layout holds the machine's values, the tree's
 * ("process..."), or both.
 */
const char *record_layout(const struct record *record);

/*
 * Returns the seconds between samples: the interval in run_start, else the median distance of the samples
 * read so far (at most the first 1,000). NaN before the second sample.
 */
double record_interval_secs(const struct record *record);

/*
 * Returns the seconds that the first sample of the last run covers: usually an interval, less in a shorter
 * job. The run's duration is this plus the time from the first to the last sample.
 */
double record_lead_in_secs(const struct record *record);

static inline void cleanup_record(struct record **record)
{
	record_close(*record);
}
#define CLEANUP_RECORD __attribute__((cleanup(cleanup_record)))
