/*
 * How long the job waited, and for what: the time of each sample in which none of its threads ran, by the end of the chain of waits that is
 * seen at its end (wait_chain.h).
 *
 * The time is what is left of a sample without the job's CPU time and its waiting for a CPU. It is exact for a job that runs one thread at a
 * time, and a lower bound for others, and for a job of many short processes. A sample that ends while the job runs gives its time to the next wait.
 *
 * A job that computes costs nothing, nor does one of which no process ran since the last look. Otherwise a look takes 20 us for each process of
 * the chain.
 */
#pragma once

#include "job/tree/process_tree.h"
#include "job/waits/wait_class.h"

enum { WAIT_PROGRAM_SIZE = 32 };

struct counted_wait {
	struct found_wait wait;
	char program[WAIT_PROGRAM_SIZE]; /* "": waits of this class that have no row of their own */
	char *detail;                    /* path or address; NULL: none, or not wanted */
	int64_t ns;
	int64_t looks; /* that saw it */
};

struct job_waits {
	struct counted_wait rows[WAIT_ROWS_MOST];
	size_t count;
	size_t last;        /* the wait that the last look saw */
	bool has_last;      /* false: the job ran then */
	int64_t pending_ns; /* idle time since the last look that saw a wait */
	int64_t idle_ns;    /* all of it */
	int64_t found_ns;   /* idle time for which the last look has found the wait; 0: none */
	int64_t looked_ns, cpu_ns, delayed_ns, known_ns;
	bool wants_detail;
	int error; /* why a look found nothing */
};

/* After a pass of the tree. `began_ns`: the start of the job. `ended_ns`: of the job, 0 while it goes on. */
void job_waits_look(struct job_waits *waits, struct process_tree *tree, int64_t began_ns, int64_t ended_ns);

/*
 * Returns the row of a wait, a new one if it has none. `detail` may be "". Beyond WAIT_DETAILS_MOST details, waits are counted without
 * theirs. A full table has one row for each class.
 */
struct counted_wait *job_waits_row(struct job_waits *waits, const struct found_wait *wait,
				   const char *program, const char *detail);

/*
 * Sorts the rows, the longest first. Those past `most` lose their details first, so that places of one target are one row, and are then
 * added to one for each class.
 */
void job_waits_finish(struct job_waits *waits, size_t most);

void job_waits_done(struct job_waits *waits);

const char *wait_class_name(enum wait_class class);
