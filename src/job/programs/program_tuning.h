/*
 * The constants of the use by program: each with its unit, and the reason for its value. The kernel's own numbers and formats
 * stand where they are used. docs/decisions/18-programs-by-clocks-and-events.md has figures.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* ---- the listener's pace ------------------------------------------------------------------------------------------- */

/*
 * The listener may use `free_ns` at once, and 1 ns of `part`. Above a limit it naps before it reads what has come: it then
 * sees fewer processes alive, but still when they started and ended. After a long nap it reads few names. Exit records
 * cost less than the events, so these stop first.
 */
struct listener_pace {
	int64_t free_ns;
	int part;
	int nap_msec;
};
/* From 0.05 % of a core on it naps, and at 0.2 % it stops. */
static const struct listener_pace LISTENER_PACES[] = {
	{3 * NSEC_PER_MSEC, 2000, 0},   {7 * NSEC_PER_MSEC / 2, 1600, 20}, {4 * NSEC_PER_MSEC, 1300, 50},
	{5 * NSEC_PER_MSEC, 1100, 150}, {6 * NSEC_PER_MSEC, 500, 320},
};
/* Exit records go on up to 0.25 %: they name each process, and 1,500 ends a second take 0.14 %. */
static const struct listener_pace RECORDS_ALONE = {10 * NSEC_PER_MSEC, 400, 500};
/* Begins again below the limit by the amount that may be used at once. */
static const struct listener_pace LISTENS_AGAIN = {0, 1100, 0};
enum {
	WITHOUT_FORKS =
		4, /* the first fork would be the only news: such a job gets this part of the time, at once and later */
	RECORDS_NAP_WITHOUT_FORKS_MSEC = 1000,
	RECORDS_NAP_MSEC = 100, /* at least, where exit records have the time of all: they can wait */
};
/* The scheduler lets a thread that asks for short slices run soon after it wakes: the shortest that the kernel grants. */
#define LISTENER_SLICE_NS (100 * NSEC_PER_USEC)

/* ---- events and records -------------------------------------------------------------------------------------------- */

enum {
	EVENTS_ROOM_BYTES =
		1 << 20, /* of the socket: some thousand events while the thread waits for a CPU */
	RECORDS_ROOM_BYTES = 4 << 20, /* a record takes 600 to 1,200 bytes */
	ROUNDS_OF_CALLER_MOST =
		8,         /* before a thread with a filter takes over: others' events wake the caller, too */
	BATCHES_MOST = 64, /* in a row, so that a storm ends a round */
	EVENTS_MOST = 1 << 15, /* between two passes: 6 MiB */
	RECORDS_MOST = 1 << 14,
	EXECS_MOST = 64,     /* names that are read in a round: some 10 us each */
	ENDED_KEPT = 64,     /* 12 KiB: processes whose threads may outlive the first one */
	ENDS_READ_MOST = 64, /* names of failed processes, as well */
	EXECS_LEAST = 4,     /* the same after a long nap: most have ended by then */
	WHOLE_TAKES =
		2, /* takes without a missed fork before the listener's processes are all that there are */
};
/* A living process's clock is read this often, so that one that ends unread has little unknown time: 0.3 us each. */
enum { LOOK_MSEC = 20, LOOKS_MOST = 128 };
/* Older events may belong to a process whose pid another one has by now. */
#define OF_NOW_NS NSEC_PER_SEC

/* ---- the last moments of a process --------------------------------------------------------------------------------- */

enum {
	RECORD_END_NS = 40000,   /* after its record, a process closes its files and tells its parent */
	RECORD_FREE_KIB_NS = 50, /* and frees its memory */
	AFTER_SLEEP_NS =
		60000, /* a process that has waited for children mostly ends this soon after its last sleep */
};
/* An unread process with children mostly waits for them: the part of its life that it probably had a CPU. */
#define LIKELY_PART_WITH_CHILDREN 0.1
/* Even a process without a lifetime used something. */
#define LIKELY_LEAST_NS 1e3
/* Processes of one parent are alike if they lived for at most so many times as long, or as short. */
enum { ALIKE_TIMES_MOST = 4 };

/* ---- shares of the total ------------------------------------------------------------------------------------------- */

/* Clocks and totals are read one after the other: so much of the rest is the time of running processes. */
#define RACE_NS (10 * NSEC_PER_MSEC)
#define RACE_OF_PROCESS_NS (1 * NSEC_PER_MSEC)
/* How long the time of an ended process may take to show up in the tree's total: until its parent waits for it. */
#define MISSED_KEPT_SECS 2
/* The kernel rounds a sum of calls down to whole KiB: half of one on average. */
enum { ROUNDED_DOWN_BYTES = 512 };

/* ---- sizes --------------------------------------------------------------------------------------------------------- */

enum {
	PROGRAMS_MOST = 1024, /* rows of a run's end: further ones share the last */
	END_DESCRIPTORS_LEAVE =
		128, /* so many kept descriptors stay for files of processes, which are read at each sample */
	PROGRAM_NAMES_MOST = 1024,
	KNOWN_SLOTS_MOST = 1 << 16, /* twice the processes that the listener follows: some MiB */
	PASSES_KEPT = 2,            /* an ended process waits this long for its exit event */
};
