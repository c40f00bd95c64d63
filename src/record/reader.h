/*
 * Reading a recording back: its samples one by one, as frames, in constant memory.
 *
 * What is read: JSON Lines, every CSV layout of every era (format/csv_columns.def) and the Python package's
 * snapshots; plain or gzip; several files one after the other (parts of one recording); also while they are
 * still being written. A CSV of the machine and one of the process are read side by side.
 *
 *	struct record_options options = {0};
 *	WANT(&options.wanted, tree, process_cores_used);
 *	record_open(paths, 1, &options, &record, &problem);
 *	while ((result = record_next(record, &frame)) > 0)
 *		use(((struct tree_row *)frame->first[ROW_tree])->process_cores_used);
 *
 * Only wanted metrics are in the frames (and what tells rows apart, and the sample's own times and names); a row
 * of which nothing is wanted, or that the file does not have, is not there: frame->first[kind] is NULL. Values are
 * in the catalogue's units whatever the file has. What the file lacks is absent, except that
 *   timestamp          comes from timestamp_secs where the file has whole seconds only,
 *   elapsed_secs       and actual_interval_ms, sample come from the time stamps in files without them,
 *   process_memory_mib is the proportional set in recordings of the Rust CLI, which have nothing else (tree_memory.h).
 * A proportional set of more than ten seconds ago is absent.
 *
 * Damage (a torn tail, lines that are no samples) is counted, not an error.
 * Not thread-safe: one record belongs to one thread.
 */
#pragma once

#include "base/scan.h"
#include "metric/frame.h"
#include "metric/metric_set.h"
#include "record/problem.h"

struct record_options {
	struct metric_set wanted;
};

enum record_format { RECORD_JSON, RECORD_CSV, RECORD_SNAPSHOT };

struct record;

/*
 * Errors: -EBADMSG a file is no recording, -ENODATA it is empty, -ENOENT and other errnos of open(2). The files
 * must all be there; those after the first are opened when their turn comes.
 */
int record_open(const char *const *paths, size_t count, const struct record_options *options,
		struct record **ret_record, struct rt_problem *problem);
void record_close(struct record *record);

/* 1: a sample, valid until the next call; 0: there are no more; negative errno: see record_problem(). */
int record_next(struct record *record, const struct frame **ret_frame);
/* The text of the last sample in a JSON recording, without line end; empty in other formats. */
struct scan record_line(const struct record *record);
const struct rt_problem *record_problem(const struct record *record);

/*
 * One file may hold several runs (--append): the number, from 1, of the run that the last sample belongs to.
 * A new run begins with a run_start, or where the number of the sample starts again.
 */
size_t record_run(const struct record *record);

/*
 * The rows run_start, run_end and what stands below them, of the run read last, as soon as they have been read:
 * FIRST(record_identity(r), run_start) is NULL before or when the file has none. Always complete, whatever is
 * wanted. Valid until the next record_next().
 */
const struct frame *record_identity(const struct record *record);

struct record_damage {
	int64_t torn_tails;      /* files that end in the middle of a sample */
	int64_t bad_lines;       /* lines that are no samples, torn tails not counted */
	int64_t first_bad_line;  /* its number in its file, 0: none */
	int64_t unknown_columns; /* CSV headings that no layout has */
	int64_t clock_steps;     /* time stamps that went backwards */
	int64_t hosts;           /* different host names, counted up to 16 */
};
struct record_damage record_damage(const struct record *record);

enum record_format record_format(const struct record *record);
/* "json", "snapshot", or the name of the CSV layout: layouts hold the machine's values, the tree's ("process..."), or both. */
const char *record_layout(const struct record *record);

/*
 * Seconds between samples: what run_start says, else the median distance of the samples read so far (at most the
 * first 1,000); NaN before the second sample.
 */
double record_interval_secs(const struct record *record);

/*
 * The time before the first sample of the run that this one stands for: usually an interval, less in a job that is
 * shorter. Time stamps of the last less the first sample, and this, make the duration.
 */
double record_lead_in_secs(const struct record *record);

/* The first row of a kind, typed; NULL if there is none. */
#define FIRST(frame, kind) ((const struct kind##_row *)(const void *)(frame)->first[ROW_##kind])
/* The next row of the same kind. */
#define NEXT(of, kind) ((const struct kind##_row *)(const void *)(of)->row.next)
