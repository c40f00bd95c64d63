/*
 * Memory that members share by birth. A family is a chain of forks without exec: its members have the same pages at the same
 * addresses, but for those that one of them has written since. A member that called exec, or was started by a fork and exec,
 * is a family of its own.
 *
 * The anonymous memory of a family is each member's exclusive pages, and the common ones once. What is common, and to whom, is
 * known in three degrees:
 *
 *   all members were read by smaps_rollup   the sum of their proportional shares
 *   some were sampled                       a page for each sampled address at which any member has a common page
 *   none was read                           the bound: a fork has of its own at most what it has faulted in since
 *
 * Members that were not read are taken to be like their siblings that were.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/memory_reading.h"
#include "process/process_tree.h"

struct memory_family {
	uint64_t id;
	size_t first; /* of its members in memory_families.order */
	size_t count;
	size_t read;         /* members with a usable reading */
	size_t inner;        /* forked members that have forked in turn */
	int64_t largest_kib; /* resident set of its largest member */
	size_t count_before; /* members in the tick before */
	bool is_changing;    /* members were found or ended since then */
	bool sampled;        /* holding the largest one for smaps_rollup would take too long */

	/* The union of the sampled common pages, and which readings it is of. */
	uint64_t union_of;
	int64_t union_kib;
	double union_variance;
};

struct memory_families {
	struct memory_family *at;
	size_t count;
	size_t capacity;
	uint32_t *order; /* indices of members, family by family */
	size_t order_capacity;
	uint32_t *slots; /* hash of id -> index + 1 */
	size_t slot_count;
	struct page_places places; /* scratch */
};

/* A family's figure, in KiB. */
struct family_memory {
	int64_t anon_kib;
	int64_t private_kib; /* exclusive anonymous memory, or all private memory where the rollup told it */
	int64_t unread_kib;  /* the part that nothing but the bound stands for */
	bool extrapolated;   /* members that were not read were taken to be like others */
	double variance;
};

/* Whether a member's memory counts: it is no zombie, and its address space is not counted with its parent. */
bool memory_is_counted(const struct process_tree *tree, const struct member *member);

int64_t member_anon_kib(const struct process_tree *tree, const struct member *member);
int64_t member_shared_kib(const struct process_tree *tree, const struct member *member);

/* The most that a member can have of its own, by its page faults since it was forked. */
int64_t member_bound_kib(const struct process_tree *tree, const struct member *member);

/* Whether it has one of the kind that its family needs. */
bool member_is_read(const struct memory_family *family, const struct member *member, int64_t now_ns);

/* Whether a member has a reading that is not older than ten seconds. */
bool member_has_reading(const struct member *member, int64_t now_ns);

/* What a member has to itself, whatever kind of page it is; -1: it is not known. */
int64_t member_private_kib(const struct process_tree *tree, const struct memory_family *family,
			   const struct member *member, int64_t now_ns);

/* A reading's exclusive anonymous memory, brought up to date by the resident set. */
int64_t member_exclusive_kib(const struct process_tree *tree, const struct member *member);

/* Groups the members anew; 0 or -ENOMEM. */
int memory_families_build(struct memory_families *families, struct process_tree *tree);
void memory_families_done(struct memory_families *families);

struct family_memory memory_family_measure(struct memory_families *families, struct memory_family *family,
					   struct process_tree *tree, int64_t now_ns);
