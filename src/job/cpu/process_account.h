/*
 * The account of a tree: totals that never go down and that end at the kernel's own sum.
 *
 * The total is the sum over all living members of their own use and of the use of children that they have waited for,
 * plus the children that the tracker has reaped itself. That sum is exact, with one gap: a process that was reaped is
 * in no figures until its parent's waited-for figures are read again. Meanwhile the nearest living ancestor carries the
 * last value of that process, until the ancestor's waited-for figures have grown by as much.
 *
 * Example: sh (the root) has started make, and make has started cc. CPU time in ms, "own + waited for", one pass a
 * second:
 *
 * 	pass  sh         make       cc     total
 * 	 1    10 +   0   50 +   0   700    760
 * 	 2    10 +   0   60 +   0   gone   770   = 10 + 60 + 700 carried by make
 * 	 3    10 +   0   70 + 900          980   = 10 + 70 + 900
 * 	 4    15 + 980   gone              995   = 15 + 980
 *
 * Pass 2: cc exits with 900 ms, and make reaps it just after the pass has read make. The 900 ms are in no figures that
 * this pass reads: 10 + 60 would be a total that falls from 760 to 70. So make carries cc's last value, 700. Pass 3:
 * make's waited-for time has grown by 900 >= 700, so cc is in there and nothing is carried any more. Pass 4: make (80 +
 * 900 by then) has exited, and sh had waited for it before the pass read sh. sh would carry make's last value, 970, but
 * its waited-for time has grown by 980 since pass 3: nothing is missing.
 *
 * If make ignores SIGCHLD, the kernel discards cc's time and make's waited-for time stays 0. Pass 3 then adds the carried
 * 700 to make's account for good (`settled`): 10 + 70 + 700 = 780. The last 200 ms of cc are lost, unless the job
 * has a cgroup of its own. `settled` is an estimate: the kernel reports waited-for time in whole ticks, so up to two ticks
 * may appear there later. A control group's count shows that, so `settled` never exceeds it (process_tree.c).
 *
 * A control group also counts the last microseconds of an exit, which wait4(2) leaves out, because the parent may learn of the end before
 * it is over: 4 us a thread, 16 us if thousands of threads end at once and wait for each other.
 *
 * If the tracker attached when cc had used 300, those do not count: when cc's 900 appear, 300 (`owed`) are subtracted.
 *
 * tests/unit/test_process_account.c holds these numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/min_max.h"

enum usage {
	USAGE_CPU_NS,   /* user and system time */
	USAGE_UTIME_NS, /* the user part; an estimate while the process lives */
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_READ_BYTES, /* from storage */
	USAGE_WRITE_BYTES,
	USAGE_CANCELLED_BYTES, /* written bytes that were dropped before they reached storage */
	USAGE_READ_CHARS,      /* through system calls */
	USAGE_WRITTEN_CHARS,
	USAGE_COUNT
};

struct usages {
	int64_t of[USAGE_COUNT];
};

struct account {
	struct usages own;     /* used by the process itself (I/O: and by children that it waited for) */
	struct usages waited;  /* used by children that it waited for (I/O: 0) */
	struct usages appears; /* where a reaped child's figures appear: `waited`, or `own` for I/O */
	struct usages appeared_last; /* `appears` at the previous pass */
	struct usages carried;       /* last values of exited descendants that have not appeared yet */
	struct usages carried_base;  /* `appears` when carrying began */
	struct usages owed;          /* part of what will appear that was used before tracking began */
	struct usages settled;       /* carried for good, because it has not appeared */
	struct usages before;        /* used before tracking began, with waited-for children: not counted */
	struct usages own_before;    /* the process's own part of `before` */
	bool carries;                /* `carried_base` holds */
	bool elsewhere;              /* an ancestor may have waited for the processes that it carries */
};

struct tree_account {
	struct usages reaped;    /* by the tracker, from wait4(2) and its own /proc/self/io */
	struct usages retired;   /* of exited processes whose figures no member will report */
	struct usages published; /* the running maximum, which the outputs show */
	struct usages self_io_before;
	bool has_self_io_before;
};

/* More than a process can do in years. A larger count is damage: it counts as 0, as an unknown one does, and its sums do not overflow. */
#define USAGE_TICKS_MOST (INT64_C(1) << 36)
#define USAGE_FAULTS_MOST (INT64_C(1) << 44)
#define USAGE_BYTES_MOST (INT64_C(1) << 58)

static inline int64_t usage_at_most(int64_t value, int64_t most)
{
	return value < 0 || value > most ? 0 : value;
}

/* A hostile machine (--root) has thousands of processes with counters of any size: sums of them wrap. */
static inline void usages_add(struct usages *sum, const struct usages *added)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		sum->of[i] = wrapping_sum(sum->of[i], added->of[i]);
}

static inline void usages_subtract(struct usages *sum, const struct usages *taken)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		sum->of[i] = wrapping_difference(sum->of[i], taken->of[i]);
}

static inline bool usages_are_zero(const struct usages *usages)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		if (usages->of[i])
			return false;
	return true;
}

/* Begins a new reading of a member: remembers what had appeared at the previous pass. */
void account_begin(struct account *account);

/* A member's contribution to the total: own + waited + carried + settled - before. */
struct usages account_total(const struct account *account);

/* account_total() without the estimates (carried, settled): only figures that the kernel reports for the process now. */
int64_t account_certain(const struct account *account, enum usage usage);

/* Whether the account has no figures, neither from before tracking began nor since. */
bool account_is_empty(const struct account *account);

/* A descendant has exited. Its figures are expected to appear in this account. */
void account_carry(struct account *account, const struct account *ended);

/* Notes what has appeared in an account by now, as account_carry() does, although no process has ended. */
void account_watch(struct account *account);

/* Whether the account carries figures that have not appeared. */
bool account_is_missing(const struct account *account);

/*
 * If a process and its parent end in one interval, the process may have had a new parent by then: an ancestor that is a
 * subreaper. Figures that the account still carries are then taken to be in the waited-for time of that ancestor, as far
 * as this has grown by more than the ancestor itself carries. The ancestor must have been watched since the process ended.
 */
void account_find_above(struct account *account, struct account *ancestor);

/*
 * Whether `parent` has waited since the last pass for a child that used about as much time as `child`. While the kernel
 * reaps a process, its time is in both.
 */
bool account_may_contain(const struct account *parent, const struct account *child);

/*
 * Call after all readings and before anything new is carried, once the process has run since it began to carry. A
 * process that exited in an earlier pass has appeared by now, or never will, because another process has waited for it
 * or because its parent ignores SIGCHLD.
 */
void account_settle(struct account *account);

/* Counts everything that was used so far as used before tracking began. */
void account_forgive(struct account *account);

/* Takes the sum over all members and raises the published totals to it. */
void tree_account_publish(struct tree_account *account, const struct usages *members);

/* Raises the published CPU time to an amount that is certain. The user part grows in proportion. */
void tree_account_raise(struct tree_account *account, int64_t cpu_ns);

/* CPU time and faults of wait4(2). It does not report I/O, which stays 0. */
struct usages usages_of_rusage(const struct rusage *usage);

/* I/O alone. */
struct proc_pid_io;
void usages_of_io(const struct proc_pid_io *io, struct usages *ret_usages);

/* All that wait4(2) will tell of its process and of the children that this has waited for, as far as it is known: from before tracking, too. */
int64_t account_to_be_told(const struct account *account, enum usage usage);

/*
 * The part that an account still carries when its process was reaped with the final figures `reaped` (its own, and all
 * children that it waited for): the use of children for which no process ever waited.
 */
struct usages account_unclaimed(const struct account *account, const struct usages *reaped);

/* Retires a process whose own figures were reaped: adds what it carried, and takes away what is not counted. */
void account_retire(struct tree_account *tree, const struct account *ended, const struct usages *unclaimed);

/* The same for a process that a pass found gone, whose total at the last look was retired. */
void account_replace(struct tree_account *tree, const struct account *ended, const struct usages *reaped);
