/* The numbers by which the table of members and the search for new ones are tuned. */
#pragma once

#include "base/clock.h"

enum {
	/* Descriptors that stay free for the program around the tracker, besides the half that it keeps of the rest. */
	TREE_DESCRIPTORS_OF_OTHERS = 64,
	/* Passes after a process last ran: its descriptors are closed then, because most processes that sleep so long sleep on. */
	TREE_QUIET_PASSES_KEPT = 4,
	/* Descriptors left to processes that run: those that sleep keep the one of their size, which others can change, while there are more. */
	TREE_DESCRIPTORS_OF_RUNNING = 256,
	/* Passes after a process last ran: its children are listed so long, because one list may lack a child, but hardly two do. */
	TREE_QUIET_PASSES_LISTED = 2,
};
/* All members are read after this time, even those that have not run, because others change their memory. */
#define TREE_READ_ANYWAY_NS (10 * NSEC_PER_SEC)

/* Processes that left an attached tree, as the listener knows them: numbers to look at, and how many of them in a pass, 10 us each. */
enum { STRAYS_MOST = 4096, STRAYS_READ = 256 };

/* The cost of a look at a new process, in quarters of a microsecond, measured. */
enum {
	COST_OF_NUMBER = 1,       /* one number whose process is another thread, or gone */
	COST_OF_STAT = 16,        /* its stat file */
	COST_OF_LIST = 4,         /* the list of children of a single thread, which is kept open */
	COST_OF_THREAD_LIST = 20, /* that of one of several threads */
	/* Below, the lists are read without a look at /proc/loadavg. */
	COST_OF_LISTS_LEAST = 64,
	/* Much may be paid to leave the lists of threads alone: each delays the end of its thread. */
	COST_TO_SPARE_THREADS = 2000,
	COST_OF_EVENTS_LEAST = 64 * COST_OF_STAT, /* new processes of events are looked at in any case */
};
/* After this time the numbers of processes may have begun again from the smallest. */
#define NEWEST_AGE_NS (15 * NSEC_PER_SEC)
