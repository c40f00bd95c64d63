/*
 * Fills a run from its recording: a file, finished or still growing, or the pipe of a recorder. It only reads, and never waits.
 */
#pragma once

#include "live/run.h"
#include "record/problem.h"

struct record;

struct feed {
	struct run run;
	char *path;
	struct record *record; /* NULL: not a sample yet, or it has been closed */
	bool is_pipe;
	bool ended;    /* nothing more will come */
	bool was_live; /* it was seen while it went on */
	size_t asked;  /* record_run() + 1 of the run for which the history was asked for the usual time */
	int64_t looked_ns; /* when it was last checked whether the recorder is still there */
};

/* `number` is that of the run in the history, or 0. `path` is copied. Returns 0 or -ENOMEM. */
int feed_begin(struct feed *ret_feed, const char *path, bool is_pipe, const char *name, unsigned number,
	       int64_t now_ns);
void feed_done(struct feed *feed);

/*
 * Reads the samples that have come, at most some thousands. Returns how many, or a negative errno with a problem: the file
 * is not a recording. 0 and feed->ended: this was the end.
 */
int feed_read(struct feed *feed, int64_t now_ns, struct rt_problem *ret_problem);
