/* The estimate of a family, corrected by proportional shares. See memory_correct.h. */
#include "job/memory/memory_correct.h"

#include "base/clock.h"
#include "base/min_max.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_tuning.h"
#include "kernel/proc_pid_pagemap.h"
#include "kernel/proc_pid_smaps_rollup.h"
#include "kernel/proc_pid_statm.h"

static bool frames_are_hidden(struct process_memory *memory, const struct root *root)
{
	if (memory->frames == FRAMES_UNKNOWN)
		memory->frames =
			root->live && proc_pid_pagemap_hides_frames(root) ? FRAMES_HIDDEN : FRAMES_SEEN;
	return memory->frames == FRAMES_HIDDEN;
}

static bool is_in_doubt(struct process_memory *memory, const struct process_tree *tree,
			const struct memory_family *family, const struct family_memory *found)
{
	int64_t matters_kib = found->anon_kib / DOUBT_PART;

	return family->sampled && (found->over_kib > matters_kib || family->union_apart_kib > matters_kib ||
				   (family->is_ambiguous && family->union_spread_kib > matters_kib &&
				    frames_are_hidden(memory, tree->root)));
}

static int64_t family_faults(const struct process_memory *memory, const struct process_tree *tree,
			     const struct memory_family *family, bool since_readings)
{
	int64_t pages = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(&memory->families, family, tree, i);

		pages += member->memory.faults;
		if (since_readings && member->memory.reading)
			pages -= member->memory.reading->faults;
	}
	return pages;
}

static bool is_due(const struct memory_correction *last, const struct memory_family *family,
		   const struct family_memory *found, int64_t now_ns)
{
	return !last->taken_ns || last->members != family->count || now_ns - last->taken_ns >= CORRECTED_NS ||
	       absolute_difference(found->anon_kib, last->estimate_kib) > found->anon_kib / DOUBT_PART;
}

static bool is_affordable(const struct process_memory *memory, const struct process_tree *tree,
			  const struct memory_family *family)
{
	double total_ns = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(&memory->families, family, tree, i);
		double takes_ns = ROLLUP_TAKES_NS(memory_pages_to_kib(tree, member->memory.resident_pages));

		if (takes_ns > CORRECTION_HOLD_MOST_NS)
			return false;
		total_ns += takes_ns;
	}
	return total_ns <= memory->correction_ns;
}

static void earn_corrections(struct process_memory *memory, int64_t now_ns)
{
	memory->correction_ns += memory->corrected_ns
					 ? CORRECTIONS_PART * (double)(now_ns - memory->corrected_ns)
					 : CORRECTIONS_MOST_NS;
	if (memory->correction_ns > CORRECTIONS_MOST_NS)
		memory->correction_ns = CORRECTIONS_MOST_NS;
	memory->corrected_ns = now_ns;
}

/* Whether a member is as large as it was before its shares were read: pages of one that exits become those of the others. */
static bool has_stayed(struct process_tree *tree, const struct member *member)
{
	struct proc_pid_statm statm;

	return read_proc_pid_statm(tree->root, memory_id_of(tree, member), &statm) == 0 &&
	       absolute_difference(statm.resident_pages, member->memory.resident_pages) <=
		       MOVED_PAGES + member->memory.resident_pages / SETTLED_PART;
}

/* Adds up the shares of all members. -1: one of them exits or grows, or the kernel does not divide them. */
static int64_t read_shares_kib(struct process_memory *memory, struct process_tree *tree,
			       const struct memory_family *family)
{
	int64_t begun_ns = root_thread_cpu_ns(tree->root), kib = 0;

	for (size_t i = 0; i < family->count && kib >= 0; i++) {
		const struct member *member = memory_family_member(&memory->families, family, tree, i);
		struct proc_pid_smaps_rollup rollup;
		int error = read_proc_pid_smaps_rollup(tree->root, memory_id_of(tree, member), &rollup);

		kib = error < 0 || rollup.pss_anon_kib < 0 ? -1 : kib + rollup.pss_anon_kib;
	}
	for (size_t i = 0; i < family->count && kib >= 0; i++)
		if (!has_stayed(tree, memory_family_member(&memory->families, family, tree, i)))
			kib = -1;
	memory->correction_ns -= (double)(root_thread_cpu_ns(tree->root) - begun_ns);
	return kib;
}

/* A correction of a moment at which members wrote compares figures of two moments. */
static void drop_unsettled(struct memory_correction *correction, int64_t faults, int64_t settled_pages)
{
	if (!correction->taken_ns || correction->is_settled)
		return;
	correction->is_settled = faults - correction->faults <= settled_pages;
	if (!correction->is_settled)
		*correction = (struct memory_correction){0};
}

/* Members that have exited took their part of it with them. */
static int64_t difference_now_kib(const struct memory_correction *correction,
				  const struct memory_family *family)
{
	if (family->count >= correction->members)
		return correction->difference_kib;
	return correction->difference_kib * (int64_t)family->count / (int64_t)correction->members;
}

void memory_correct(struct process_memory *memory, struct process_tree *tree, struct memory_family *family,
		    int64_t now_ns, struct family_memory *found)
{
	struct memory_correction *correction = &family->correction;
	int64_t estimate_kib = found->anon_kib, shares_kib = -1, faults, settled_pages;

	if (!is_in_doubt(memory, tree, family, found)) {
		*correction = (struct memory_correction){0};
		return;
	}
	earn_corrections(memory, now_ns);
	faults = family_faults(memory, tree, family, false);
	settled_pages = estimate_kib / (tree->root->page_bytes >> 10) / SETTLED_PART;
	drop_unsettled(correction, faults, settled_pages);
	if (is_due(correction, family, found, now_ns) && is_affordable(memory, tree, family))
		shares_kib = read_shares_kib(memory, tree, family);
	if (shares_kib >= 0) {
		*correction = (struct memory_correction){
			.members = family->count,
			.faults = faults,
			.estimate_kib = estimate_kib,
			.difference_kib = shares_kib - estimate_kib,
		};
		found->anon_kib = shares_kib;
		if (family_faults(memory, tree, family, true) <= settled_pages)
			correction->taken_ns = now_ns;
	} else if (correction->taken_ns) {
		found->anon_kib = max_i64(estimate_kib + difference_now_kib(correction, family), 0);
	}
	if (shares_kib >= 0 || (correction->taken_ns && correction->members == family->count))
		found->doubt_kib = min_i64(found->doubt_kib,
					   absolute_difference(estimate_kib, correction->estimate_kib));
}

int64_t memory_watch_copies(struct process_memory *memory, struct process_tree *tree, int64_t anon_kib,
			    int64_t rss_kib)
{
	int64_t beyond_kib = memory->machine.anon_pages_kib - anon_kib;
	int64_t most_kib = rss_kib - memory->shared_kib - anon_kib;
	int64_t least_kib = anon_kib / DOUBT_PART + COPIES_LEAST_KIB;
	int64_t risen_kib, now_ns = root_monotonic_ns(tree->root);
	bool has_grown = anon_kib - memory->suspect_kib > least_kib;

	if (most_kib <= least_kib || !memory->beyond_kib || memory->machine.anon_pages_kib <= 0 ||
	    now_ns < memory->calm_until_ns || (!tree->memory.suspect_ns && tree->changed_ns < tree->pass_ns))
		memory->beyond_kib = beyond_kib;
	risen_kib = min_i64(beyond_kib - memory->beyond_kib, most_kib);
	if (risen_kib > least_kib && (!tree->memory.suspect_ns || has_grown)) {
		tree->memory.suspect_ns = now_ns;
		memory->suspect_kib = anon_kib;
		return risen_kib;
	}
	if (risen_kib > least_kib && memory->late_kib)
		return risen_kib;
	if (risen_kib > least_kib) {
		memory->beyond_kib = beyond_kib;
		memory->calm_until_ns = now_ns + REFRESH_NS;
	}
	tree->memory.suspect_ns = 0;
	return 0;
}
