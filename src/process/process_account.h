/*
 * Keeping the account of a tree: totals that never go down and in the end are the kernel's own.
 *
 * The total of a tree is the sum over its living members of what they used themselves and of what the
 * children used that they have waited for, plus what the tracker has reaped itself. That sum is exact, but
 * a member that ends is in nobody's figures between its end and the moment its parent's waited-for figures
 * are read. Its last value is therefore carried by the nearest living ancestor until that ancestor's
 * waited-for figures have grown by as much.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum usage {
	USAGE_CPU_NS,   /* user and system */
	USAGE_UTIME_NS, /* the user part, an estimate while the process lives */
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_READ_BYTES, /* from storage */
	USAGE_WRITE_BYTES,
	USAGE_CANCELLED_BYTES, /* of those written, dropped before they reached storage */
	USAGE_READ_CHARS,      /* by system calls */
	USAGE_WRITTEN_CHARS,
	USAGE_COUNT
};

struct usages {
	int64_t of[USAGE_COUNT];
};

struct account {
	struct usages own;           /* used by the process itself (for I/O: with its waited-for children) */
	struct usages waited;        /* used by children that it has waited for (for I/O: 0) */
	struct usages appears;       /* where a reaped child's figures turn up: waited, or own for I/O */
	struct usages appeared_last; /* the same at the last pass */
	struct usages carried;       /* last values of ended descendants not yet seen to turn up */
	struct usages carried_base;  /* `appears` when carrying began */
	struct usages owed;   /* the part of what will turn up that ended descendants used before we came */
	struct usages before; /* used before we came, by itself and by whom it waited for: not counted */
	struct usages own_before; /* of that, by itself */
	bool carries;
};

struct tree_account {
	struct usages reaped;    /* by the tracker itself, from wait4(2) and its own /proc/self/io */
	struct usages retired;   /* ended where nobody will report it */
	struct usages published; /* the running maximum: what the outputs see */
	struct usages self_io_before;
	bool has_self_io_before;
};

static inline void usages_add(struct usages *sum, const struct usages *added)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		sum->of[i] += added->of[i];
}

static inline void usages_subtract(struct usages *sum, const struct usages *taken)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		sum->of[i] -= taken->of[i];
}

static inline bool usages_are_zero(const struct usages *usages)
{
	for (int i = 0; i < USAGE_COUNT; i++)
		if (usages->of[i])
			return false;
	return true;
}

/* Begins a new reading of a member: what appears now will be compared with what did at the last pass. */
void account_begin(struct account *account);

/* What a member adds to the sum of its tree: own, waited and carried, less what it used before we came. */
struct usages account_total(const struct account *account);

/* The part of account_total() that the kernel says of the process now: without what is carried for the ended. */
struct usages account_certain(const struct account *account);

/* Nothing was used, neither before we came nor since. */
bool account_is_empty(const struct account *account);

/* A descendant has ended, and its figures are expected to turn up in this account. */
void account_carry(struct account *account, const struct account *ended);

/*
 * Once per pass, after all readings and before anything new is carried: what ended in an earlier pass has turned up by
 * now, or never will, because somebody else has waited for it.
 */
void account_settle(struct account *account);

/* Everything used so far counts as used before we came. */
void account_forgive(struct account *account);

/* Takes the sum over all members and raises the published totals. */
void tree_account_publish(struct tree_account *account, const struct usages *members);

/* CPU time and faults as wait4(2) tells them; I/O is not in there and stays 0. */
struct usages usages_of_rusage(const struct rusage *usage);

/*
 * What an account still carries when its process has been reaped with the final figures `reaped` (its own and
 * those of all children that it waited for): time of children that nobody ever waited for.
 */
struct usages account_unclaimed(const struct account *account, const struct usages *reaped);
