/*
 * A run as the live view knows it: its identity, its course and its end. It is filled from samples, whatever they come from.
 */
#pragma once

#include "history/usual_time.h"
#include "live/timeline.h"

enum run_state {
	RUN_BEGINS, /* no sample yet */
	RUN_GOES_ON,
	RUN_SUCCEEDED,
	RUN_FAILED,
	RUN_STOPPED, /* the recording ended, not the job */
	RUN_LOST,    /* its recorder has gone without an end */
};

enum { RUN_NAME_BYTES = 120, RUN_OUTCOME_BYTES = 160, RUN_SIGNAL_BYTES = 160, RUN_WAIT_BYTES = 96 };

struct run {
	unsigned number;  /* in the history, 0 for none */
	size_t run_index; /* of record_run() */
	char name[RUN_NAME_BYTES];
	char folder[RUN_NAME_BYTES];
	char host[RUN_NAME_BYTES];
	bool is_machine;         /* it records the machine alone */
	int64_t pid;             /* 0: unknown */
	double cpu_count;        /* of the machine; NaN: unknown */
	double memory_total_mib; /* of the machine */
	double interval_secs;
	double wall_secs;       /* of the run that has ended; NaN: unknown */
	double memory_peak_mib; /* of the run that has ended, as in its summary; NaN: unknown */
	enum run_state state;
	char outcome[RUN_OUTCOME_BYTES]; /* in words, or empty while it goes on */
	char signal[RUN_SIGNAL_BYTES];   /* of --signal-at that was sent last, in words */
	char waiter[RUN_WAIT_BYTES];     /* program that waited at the end of the last sample, or empty */
	char wait[RUN_WAIT_BYTES];       /* for what, in words */
	struct usual_time usual;         /* of the job's last good runs */
	bool told_overdue;               /* to the user who wants to be told */
	struct timeline timeline;
	int64_t heard_ns; /* monotonic time of the last sample, or of the beginning */
};

/* Makes an empty run. `name` is shown until a sample has a better one. */
void run_begin(struct run *ret_run, const char *name, unsigned number, int64_t now_ns);
void run_done(struct run *run);

/*
 * Takes a sample. `identity` has the rows of the run's start and end; `run_index` counts the runs of a recording: another
 * one replaces the last. Returns 0 or -ENOMEM.
 */
int run_take(struct run *run, const struct frame *frame, const struct frame *identity, size_t run_index,
	     double interval_secs);

/* The recorder has ended, or does not write any more. */
void run_lose(struct run *run, const char *why);

static inline bool run_is_live(const struct run *run)
{
	return run->state == RUN_BEGINS || run->state == RUN_GOES_ON;
}

/* The last value of a series of the job, or of the machine if the run records that alone. NaN: unknown. */
double run_value(const struct run *run, enum series series);
/* That series. */
enum series run_series(const struct run *run, enum series of_job);
/* Cores and memory that the job may have, by its limits or else by the machine. NaN: unknown. */
double run_core_limit(const struct run *run, const struct moment *moment, bool machine);
double run_memory_limit(const struct run *run, const struct moment *moment, bool machine);
