/*
 * Memory that members share since a fork. A family is a chain of forks without exec: its members have the same pages at
 * the same addresses, except those that one of them has written since. A member that called exec, or was started by
 * fork and exec, is a family of its own.
 *
 * The anonymous memory of a family is the exclusive pages of each member, plus the common pages once. There are three
 * ways to find the common pages, depending on the readings:
 *
 *   all members were read by smaps_rollup   the sum of their proportional shares
 *   some were sampled                       a page for each sampled address at which any member has a common page
 *   none was read                           the bound: a fork's own pages are at most those it has faulted in since
 *
 * Members that were not read are assumed to resemble their siblings that were.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/memory/memory_member.h"
#include "job/memory/page_sample.h"
#include "job/tree/process_tree.h"

/* An estimate beside the sum of proportional shares. See memory_correct.h. */
struct memory_correction {
	int64_t taken_ns; /* 0: never */
	bool is_settled;  /* the members hardly wrote until the next tick */
	size_t members;
	int64_t faults; /* the sum of theirs */
	int64_t estimate_kib;
	int64_t difference_kib; /* of the sum to the estimate */
};

struct memory_family {
	uint64_t id;

	/* These figures are of this tick. */
	size_t first; /* index of its first member in memory_families.order */
	size_t count;
	size_t read;           /* members with a usable reading */
	int64_t anon_kib;      /* its anonymous memory in this tick */
	int64_t largest_kib;   /* resident set of its largest member */
	int64_t exclusive_kib; /* of the members with a usable reading, when readings were chosen */
	bool is_changing;      /* members started or exited since then */
	bool has_leaving; /* the kernel is freeing the memory of a member that has no address space any more */
	bool has_orphans;  /* forks whose parent has exited, called exec, or was not seen before them */
	bool is_ambiguous; /* members may have different pages at one address, which only page frames show */

	size_t count_before;  /* members in the tick before */
	bool was_ambiguous;   /* in the tick before */
	bool has_own_objects; /* forks map shared memory that no other member maps */
	bool sampled;         /* smaps_rollup would hold the largest one for too long */

	/* The part of the faulted pages of forks that were their own, by the last readings of any of them. */
	double own_part;

	/* The pages that members faulted in between two readings, and the part of them that had been common. Older ones count half. */
	double faulted_kib;
	double replaced_kib;

	/*
	 * The union of the sampled common pages, and the version of the readings behind it: a page for each address at which any member has
	 * one, and more where members have different pages.
	 */
	uint64_t union_of;
	int64_t union_kib;
	int64_t union_doubt_kib;  /* the part that rests on page faults and on the origin of forks */
	int64_t union_spread_kib; /* between the fewest and the most pages that may be at its addresses */
	int64_t union_apart_kib; /* at addresses beyond those of the member with the most: others replaced, or moved, pages */
	struct memory_correction correction;
	double union_variance;
};

struct memory_families {
	struct memory_family *at;
	size_t count;
	uint32_t *order; /* indices of members, family by family */
	size_t order_capacity;
	uint32_t *slots; /* hash of id -> index + 1 */
	size_t slot_count;
	struct page_places places; /* scratch */
};

/* The memory of a family, in KiB. */
struct family_memory {
	int64_t anon_kib;
	int64_t private_kib; /* exclusive anonymous memory; all private memory if the rollup was read */
	int64_t unread_kib;  /* the part that rests on the bound alone */
	bool extrapolated;   /* unread members were assumed to resemble others */
	int64_t doubt_kib;   /* the part that rests on assumptions: a member may have it alone, or share it */
	int64_t over_kib;    /* the part of it that a limit took away which is likely, not certain */
	double variance;
};

/* Groups the members again. Returns 0 or -ENOMEM. */
int memory_families_build(struct memory_families *families, struct process_tree *tree);
void memory_families_done(struct memory_families *families);

/* The member at `i` of a family. */
struct member *memory_family_member(const struct memory_families *families,
				    const struct memory_family *family, const struct process_tree *tree,
				    size_t i);

struct family_memory memory_family_measure(struct memory_families *families, struct memory_family *family,
					   struct process_tree *tree, int64_t now_ns);

/* Whether the member has a reading of the kind that its family needs. */
bool member_is_read(const struct memory_family *family, const struct member *member, int64_t now_ns);

/* A member's private memory of every kind of page, -1 if unknown. */
int64_t member_private_kib(const struct process_tree *tree, const struct memory_family *family,
			   const struct member *member, int64_t now_ns);

/* A reading's exclusive anonymous memory, updated by the present resident set and by page faults since. */
int64_t member_exclusive_kib(const struct process_tree *tree, const struct memory_family *family,
			     const struct member *member);
