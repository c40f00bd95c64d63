/*
 * The history of a fleet: lines of runs (run_line.h) from many files, in groups of equal job and task.
 *
 * A run takes about 50 bytes here. The lines of one Slurm job are one run (fleet_jobs.h). Percentiles, peaks and drift are of the runs that ended well. A run that failed did not
 * get to its usual end, and one that was cut short was not seen to it. Both are counted, with the reason.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/screen.h"
#include "history/fleet_store.h"
#include "record/problem.h"
#include "record/run_lines.h"

enum fleet_end { FLEET_OK, FLEET_FAILED, FLEET_CUT };
enum fleet_part { FLEET_JOB, FLEET_TASK, FLEET_HOST, FLEET_USER, FLEET_TAG };
enum { FLEET_PARTS_MOST = 8, FLEET_REASONS_MOST = 64 };

/* A later line of the same run takes the place of an earlier one. */
enum line_state { LINE_OPEN, LINE_ENDED, LINE_REPLACED };

struct fleet_by {
	enum fleet_part part;
	const char *tag; /* its key, for FLEET_TAG */
};

struct fleet_range {
	double p50, p95, most; /* NaN: no run */
};

/* A change of the median from older runs to the newest ones. */
struct fleet_drift {
	double change; /* 0.1: 10 % more. NaN: too few runs */
	size_t new_runs, old_runs;
	bool is_clear; /* at least 10 %, and beyond the scatter */
};

struct fleet_group {
	char *key; /* its parts, each behind a byte that says whether it is there (fleet_part_text()) */
	struct packed_runs lines;
	size_t runs, ends[3]; /* by enum fleet_end */
	size_t reasons[FLEET_REASONS_MOST];
#define FLEET(field, ...) struct fleet_range field;
#include "figures/run_figures.def"
	size_t at_limit;    /* runs that ended well at their limit: the peaks are "at least" */
	double oom_had_mib; /* the most that was not enough. NaN: no such run */
	double cores_asked, memory_asked_mib; /* by the newest run that tells */
	double core_hours, failed_core_hours; /* used */
	double unused_core_hours, unused_gib_hours, unused_gpu_hours;
	size_t core_runs, memory_runs, gpu_runs; /* the last three are of these runs. 0: unknown */
	struct fleet_drift wall_drift, memory_drift;
};

struct replay;
struct fleet {
	struct fleet_by by[FLEET_PARTS_MOST];
	size_t by_count;
	const char *job;    /* only runs of this name. NULL: all */
	double since;       /* only runs that started at this time or later. 0: all */
	uint64_t *ids;      /* of each line: hash of the run's id. 0: it has none */
	uint8_t *states;    /* enum line_state */
	size_t count, room; /* lines */
	size_t runs;
	struct fleet_group *groups; /* after fleet_finish() those with most unused resources come first */
	size_t group_count, group_room;
	char *reasons[FLEET_REASONS_MOST];
	size_t reason_count;
	int memory_reason;         /* index of "out of memory". -1: no line has it */
	uint32_t *id_table, *keys; /* hash tables: index of the line or group plus 1 */
	size_t id_room, key_room;
	size_t files, repeated; /* repeated: lines */
	struct lines_left_out left_out;
	uint32_t last_group;
	double usd_per_gib_hour;    /* 0: unknown */
	const struct replay *saved; /* what advice would have done. NULL: not asked for */
};

/* Reads "job,task,host,user,tag:KEY". The text must outlive the fleet. False: it has another word. */
bool fleet_set_by(struct fleet *fleet, char *text);
/* Adds the lines of a file. -ENODATA: it has no line of a run. */
int fleet_add_file(struct fleet *fleet, const char *path, struct rt_problem *ret_problem);
/* Computes the figures of the groups. */
int fleet_finish(struct fleet *fleet);
void fleet_done(struct fleet *fleet);
/* fleet_read.c: the next line of a group that counts. False behind the last. */
bool fleet_next_line(const struct fleet *fleet, struct run_cursor *cursor, struct fleet_run *ret_run);

/* fleet_read.c: the place of a part in a group's key. False: the runs of the group do not have it. */
bool fleet_part_text(const struct fleet_group *group, size_t number, struct buffer *ret_text);

/* For people: a table as wide as the screen, and lines below a group that needs words. `most`: groups. 0: all. */
void fleet_add_text(struct buffer *out, const struct fleet *fleet, size_t most, const struct screen *screen);
/* For machines: one object, which docs/FLEET.md describes. */
void fleet_add_json(struct buffer *out, const struct fleet *fleet);
