/*
 * The numbers by which the job's traffic is followed: each with its unit, and the reason for its value. Decision 19
 * (docs/decisions/19-traffic-by-sockets.md) has figures.
 */
#pragma once

#include "base/clock.h"

/* ---- how often ----------------------------------------------------------------------------------------------------- */

/* A look between samples takes 0.1 ms of CPU time a second on average, and up to ten times that at once. */
#define LOOKS_EARN_NS 10000 /* 1 ns of work for so many ns, as in all that follow */
#define LOOKS_SAVED_NS (1 * NSEC_PER_MSEC)
/* The first soon after the start, the next ones for connections of a tenth of a second. */
#define FIRST_LOOK_NS (30 * NSEC_PER_MSEC)
#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)
/* While no member runs, or no socket of the machine comes or goes: the interval of samples. */
#define LOOK_PAUSE_MOST_NS (1 * NSEC_PER_SEC)

/*
 * Descriptors are searched and the kernel's table is listed for 0.1 ms a second each. The most that can be saved covers a search of 100 processes
 * (20 us each), and a list of 3,000 sockets (1 us each).
 */
#define SEARCHES_EARN_NS 10000
#define SEARCHES_SAVED_NS (2 * NSEC_PER_MSEC)
#define DUMPS_EARN_NS 10000
#define DUMPS_SAVED_NS (3 * NSEC_PER_MSEC)
/* Sockets of other protocols have no notification of their end, so the counts may hide a new one: then a search comes anyway. */
#define SEARCH_ANYWAY_NS (4 * NSEC_PER_SEC)
/* Sockets made in the job's group are listed so often. The search of descriptors finds them sooner, if it may see them. */
#define GROUP_DUMP_EVERY_NS (10 * NSEC_PER_SEC)
#define DENIED_DUMP_EVERY_NS (2 * NSEC_PER_SEC)
/* A held socket that no list has shown may stay unconnected for ever: it is tried less and less often. */
#define FIRST_TRY_PAUSE_NS (100 * NSEC_PER_MSEC)
#define LONGEST_TRY_PAUSE_NS (16 * NSEC_PER_SEC)
/* Open connections whose figures are asked for at each look: 3 us each. */
enum { ASKED_AT_ONCE = 32 };

/* ---- ends of connections ------------------------------------------------------------------------------------------- */

/* More than 0.2 % of a core for the ends of all connections of the machine is not worth it: then the bound is unknown. */
#define ENDS_EARN_NS 500
#define ENDS_SAVED_NS (100 * NSEC_PER_MSEC)
enum {
	NOTIFICATION_ROOM_BYTES = 1536, /* that the kernel counts for one in the room of the socket */
	EXPECTED_ENDS_PER_SEC = 400,    /* at least: a quarter of the room lasts until the next time */
	/* Questions about a connection that the kernel no longer knows, until its end is taken for lost. */
	UNANSWERED_MOST = 2,
};
#define ENDS_PAUSE_LEAST_NS (10 * NSEC_PER_MSEC)
#define ENDS_PAUSE_MOST_NS (1 * NSEC_PER_SEC)
/*
 * At the end of the run: how long to wait for the fences, which wait for a CPU each, and for the end of a connection that the
 * kernel did not know any more.
 */
#define FENCES_PATIENCE_NS (500 * NSEC_PER_MSEC)
#define UNANSWERED_PATIENCE_NS (20 * NSEC_PER_MSEC)

/* ---- sizes --------------------------------------------------------------------------------------------------------- */

enum {
	SOCKETS_MOST = 16384,     /* of the job, 144 bytes each. With more, the bound is unknown */
	FOREIGN_MOST = 65536,     /* of others, from before the start */
	SEEN_MOST = 16384,        /* sockets whose protocol is remembered, 16 bytes each */
	DESCRIPTORS_MOST = 16384, /* of one process in a search */
	CLOSED_MOST = 8,          /* closed descriptors in a row, before the folder of our own is listed */
};

/* ---- network namespaces -------------------------------------------------------------------------------------------- */

enum { NAMESPACES_LOOKED_AT = 8 }; /* members whose namespace is read at each tick */
#define OTHERS_EVERY_NS (10 * NSEC_PER_SEC)
enum { OTHERS_COST_FACTOR = 10000 };
