/* The numbers by which the account, the turns and the waiting are tuned. */
#pragma once

#include "base/clock.h"

/*
 * The kernel rounds waited-for user and system time down to whole clock ticks, while process clocks count nanoseconds.
 * So up to two ticks of a carried time never appear in the parent's figures.
 */
#define CPU_TOLERANCE_NS (20 * NSEC_PER_MSEC)
/* Page faults that no seen process explains. Fewer than any forked process has: one that only exits takes 4. */
enum { UNEXPLAINED_FAULTS = 3 };
/*
 * So much CPU time of the cgroup, and a twentieth of what processes told, is not taken for lost: the cgroup also counts some
 * microseconds of each exit, up to 1 % of a process of half a millisecond.
 */
#define LOST_LEAST_NS (20 * NSEC_PER_MSEC)
/* How long the last threads of a process are given to take their entries out of the kernel's cache of names before wait4(2). */
enum { THREADS_VANISH_NS = 1000000 };

/* Turns. */
enum {
	/* If more members ran than this, in a pass and in a second, they take turns. All files of a process cost 10 us. */
	TURNS_A_PASS = 128,
	TURNS_A_SECOND = 400,
	/* A member with this many times the mean CPU time does not wait. */
	TURNS_MUCH = 8,
	/*
	 * In a larger tree, the readings that come after TREE_READ_ANYWAY_NS are spread over that time: the files are closed, and
	 * opening them takes 20 us a process.
	 */
	TURNS_LARGE_TREE = 128,
	/* Into this many parts is a large tree divided by pid. */
	TURNS_SPREAD = 127,
	/*
	 * Each pass takes a few new members. More are taken at 0.8 % of a core (1 ns of 125), and 320 at once. These numbers grow with the
	 * CPUs above 16, because an ordinary build has as many processes there.
	 */
	TURNS_NEW_A_PASS = 16,
	TURNS_NEW_FOR_ONE = 125,
	TURNS_NEW_CPUS = 16,
};
#define TURNS_NEW_COST_NS (150 * NSEC_PER_USEC)
#define TURNS_NEW_MOST_NS (320 * TURNS_NEW_COST_NS)

/* Waiting for a CPU. */
enum {
	/* Readings in a second, of which as many as in four seconds can be saved: 4 us and 12 us each, so 0.05 % of a core. */
	WAITING_THREADS_A_SECOND = 64,
	WAITING_SWITCHES_A_SECOND = 24,
	WAITING_SECONDS_SAVED = 4,
	/* Threads of one process. The others are not followed. */
	WAITING_THREADS_MOST = 2048,
};
/* A thread that has slept for a second is not read for the next four. Both are a little less. */
#define WAITING_ASLEEP_NS (900 * NSEC_PER_MSEC)
#define WAITING_QUIET_NS (3500 * NSEC_PER_MSEC)
/* A pass takes less, and no scheduler keeps a thread that could run from the CPUs for longer than the second one. */
#define WAITING_PASS_NS (10 * NSEC_PER_MSEC)
#define WAITING_LONGEST_NS (10 * NSEC_PER_SEC)
/* More switches than a thread has in a run: a larger growth tells nothing. */
#define WAITING_SWITCHES_MOST INT64_C(1000000000000)
