/* Chooses the members to read in this tick, and the way; see memory_schedule.h. */
#include "process/memory_schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "process/process_member.h"

enum {
	SIBLINGS_READ =
		16, /* forks without forks of their own to read per family: the others resemble them */
	WORTH_READING_KIB = 32,
	FEW = 8,
};
/* The part of the wall-clock time that readings may take: per member, and in total. */
#define SHARE_FOR_ONE 0.0005
#define SHARE_FOR_ALL 0.003
/* The most allowance that can accumulate, and the allowance at the start, so that the second sample is right. */
#define ALLOWANCE_MOST_NS (25.0 * (double)NSEC_PER_MSEC)
/* A reading that would hold a process for longer is not started. */
#define HOLD_MOST_NS ((double)NSEC_PER_MSEC)
/*
 * The limit once the time was measured. Opening and formatting take a part of it, and the kernel releases the map
 * between areas if another thread waits for it.
 */
#define MEASURED_MOST_NS (1.5 * (double)NSEC_PER_MSEC)
/* Estimate for smaps_rollup before the first reading: 11-14 ms per GiB, measured on pages of 4 KiB. */
#define FIRST_ROLLUP_NS(kib) (20e3 + (double)(kib) / 1048576 * 13e6)
/* Repeat a reading at this age. Its turn may come later, but the oldest stays below ten seconds. */
#define REFRESH_NS (8 * NSEC_PER_SEC)
#define RETRY_NS (10 * NSEC_PER_SEC)

struct reading_candidate {
	uint32_t member;
	uint32_t family;
	int64_t uncertain_kib;
};

static int64_t difference(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

static void earn(struct process_memory *memory, const struct process_tree *tree, int64_t now_ns)
{
	double share = SHARE_FOR_ONE * (double)tree->count;

	if (share > SHARE_FOR_ALL)
		share = SHARE_FOR_ALL;
	if (!memory->last_ns)
		memory->allowance_ns = ALLOWANCE_MOST_NS;
	else
		memory->allowance_ns += share * (double)(now_ns - memory->last_ns);
	if (memory->allowance_ns > ALLOWANCE_MOST_NS)
		memory->allowance_ns = ALLOWANCE_MOST_NS;
	memory->last_ns = now_ns;
}

/* ---- how a member would be read ------------------------------------------------------------------------------ */

static double rollup_ns(const struct process_tree *tree, const struct member *member)
{
	int64_t resident_kib = member->resident_pages * tree->root->page_bytes / 1024;

	if (member->rollup_ns < 0 || member->rollup_pages <= 0)
		return FIRST_ROLLUP_NS(resident_kib);
	return (double)member->rollup_ns * (double)member->resident_pages / (double)member->rollup_pages;
}

/* An interrupted reading seems longer than it was: count at most twice the expected time. */
static void note_rollup_ns(const struct process_tree *tree, struct member *member, int64_t took_ns)
{
	double expected_ns = rollup_ns(tree, member) * 2;

	member->rollup_ns = (double)took_ns < expected_ns ? took_ns : (int64_t)expected_ns;
	member->rollup_pages = member->resident_pages;
}

/* Members of one family are all read the same way. */
static void choose_ways(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode)
{
	for (size_t i = 0; i < memory->families.count; i++) {
		struct memory_family *family = &memory->families.at[i];

		/* Hysteresis, so that the noise of a measurement does not switch the way to and fro. */
		double factor = family->sampled ? 0.6 : 1;
		bool too_long = false;

		for (size_t j = 0; j < family->count && mode == PSS_MODE_AUTO; j++) {
			const struct member *member =
				&tree->members[memory->families.order[family->first + j]];
			double most_ns = member->rollup_ns < 0 ? HOLD_MOST_NS : MEASURED_MOST_NS;

			too_long |= rollup_ns(tree, member) > most_ns * factor;
		}
		family->sampled = too_long;
	}
}

/* ---- what a reading would tell ------------------------------------------------------------------------------- */

/* How many KiB of a member's last figures may be wrong by now. */
static int64_t uncertain_kib(const struct process_tree *tree, const struct memory_family *family,
			     const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->reading;
	int64_t page_kib = tree->root->page_bytes / 1024, wrong_kib, written_kib;

	if (!member_is_read(family, member, now_ns) && family->count > 1)
		return member->is_forked ? member_bound_kib(tree, member) + WORTH_READING_KIB
					 : member_anon_kib(tree, member);
	if (!member_is_read(family, member, now_ns))
		return member_shared_kib(tree, member) + WORTH_READING_KIB;
	/* The reading divided its pages among a family of which it is the last member. */
	if (family->count == 1 && reading->family_size > 1)
		return member_shared_kib(tree, member) + WORTH_READING_KIB;
	if (!reading->is_settled)
		return member_anon_kib(tree, member) + member_shared_kib(tree, member) + WORTH_READING_KIB;
	wrong_kib = difference(member_shared_kib(tree, member), reading->statm_shared_kib);
	if (family->count > 1) {
		written_kib = (member->faults - reading->faults) * page_kib;
		wrong_kib += written_kib < reading->common_kib ? written_kib : reading->common_kib;
		wrong_kib += difference(member_anon_kib(tree, member), reading->statm_anon_kib);
		if (family->count != reading->family_size && !family->sampled)
			wrong_kib += reading->common_kib / (int64_t)family->count;
	}
	/* Tolerates rounding, and libraries that other processes begin to use. */
	return wrong_kib > WORTH_READING_KIB + member_anon_kib(tree, member) / 256 ? wrong_kib : 0;
}

static bool is_refused(const struct member *member, int64_t now_ns)
{
	return member->reading_failed_ns && now_ns - member->reading_failed_ns < RETRY_NS;
}

static int reserve(struct process_memory *memory, size_t count)
{
	struct reading_candidate *candidates;

	if (count <= memory->candidate_capacity)
		return 0;
	candidates = realloc(memory->candidates, count * 2 * sizeof *candidates);
	if (!candidates)
		return -ENOMEM;
	memory->candidates = candidates;
	memory->candidate_capacity = count * 2;
	return 0;
}

/* Whether enough similar siblings were read and this member is not unlike them. */
static bool is_told_by_siblings(const struct process_tree *tree, const struct memory_family *family,
				const struct member *member, size_t siblings_read, int64_t bound_kib,
				int64_t now_ns)
{
	int64_t own_kib;

	if (!member->is_forked || member->has_forks || siblings_read < SIBLINGS_READ ||
	    member_is_read(family, member, now_ns))
		return false;
	own_kib = member_bound_kib(tree, member);
	return bound_kib < 0 || own_kib <= 2 * bound_kib + WORTH_READING_KIB;
}

static size_t add_family(struct process_memory *memory, const struct process_tree *tree, size_t index,
			 size_t count, int64_t now_ns)
{
	const struct memory_family *family = &memory->families.at[index];
	size_t siblings_read = 0;
	int64_t bound_kib = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = &tree->members[memory->families.order[family->first + i]];

		if (member->is_forked && member_is_read(family, member, now_ns)) {
			siblings_read++;
			bound_kib += member_bound_kib(tree, member);
		}
	}
	/* If no sibling was read yet, those read in this tick count. */
	bound_kib = siblings_read ? bound_kib / (int64_t)siblings_read : -1;
	for (size_t i = 0; i < family->count; i++) {
		uint32_t at = memory->families.order[family->first + i];
		const struct member *member = &tree->members[at];
		struct reading_candidate *candidate = &memory->candidates[count];
		bool old = member->reading && now_ns - member->reading->taken_ns >= REFRESH_NS;

		if (is_refused(member, now_ns) ||
		    is_told_by_siblings(tree, family, member, siblings_read, bound_kib, now_ns))
			continue;
		*candidate = (struct reading_candidate){at, (uint32_t)index,
							uncertain_kib(tree, family, member, now_ns)};
		if (!candidate->uncertain_kib && old)
			candidate->uncertain_kib = 1;
		if (!candidate->uncertain_kib)
			continue;
		if (member->is_forked && !member->has_forks && !member_is_read(family, member, now_ns))
			siblings_read++;
		count++;
	}
	return count;
}

static int by_uncertainty(const void *left_, const void *right_)
{
	const struct reading_candidate *left = left_, *right = right_;

	if (left->uncertain_kib != right->uncertain_kib)
		return left->uncertain_kib > right->uncertain_kib ? -1 : 1;
	return left->member < right->member ? -1 : left->member > right->member;
}

/* ---- readings -------------------------------------------------------------------------------------------------- */

/*
 * Stores the size to which a reading belongs. If the process grew or shrank during the reading, it is read again in the
 * next tick. Until then, growth counts from the size in smaps_rollup, or from the size before a sampled reading.
 */
static void note_size(const struct process_tree *tree, struct member *member, int64_t anon_kib,
		      int64_t shared_kib)
{
	struct memory_reading *reading = member->reading;

	reading->is_settled = difference(anon_kib, member_anon_kib(tree, member)) <= WORTH_READING_KIB &&
			      difference(shared_kib, member_shared_kib(tree, member)) <= WORTH_READING_KIB;
	reading->statm_anon_kib = member_anon_kib(tree, member);
	if (!reading->is_settled)
		reading->statm_anon_kib = reading->kind == READING_ROLLUP ? reading->anon_kib : anon_kib;
	reading->statm_shared_kib = reading->is_settled ? member_shared_kib(tree, member) : shared_kib;
}

static void read_member(struct process_memory *memory, struct process_tree *tree,
			const struct memory_family *family, struct member *member)
{
	int64_t begun_ns = root_monotonic_ns(tree->root);
	int64_t cpu_ns = root_thread_cpu_ns(tree->root), took_ns;
	struct memory_subject subject = {
		.pid = member_memory_id(tree, member),
		.with_anon = family->count > 1,
		.with_rollup = !family->sampled,
		.is_of_few = family->count <= FEW,
	};
	int64_t anon_kib, shared_kib;
	int error;

	member_read_memory(tree, member);
	anon_kib = member_anon_kib(tree, member);
	shared_kib = member_shared_kib(tree, member);
	subject.shared_pages = member->shared_pages;
	if (member->resident_pages > member->shared_pages)
		subject.anon_pages = member->resident_pages - member->shared_pages;
	error = memory_reading_take(&memory->reader, &subject, &member->reading);
	/* Captured machines and some kernels lack one of the two files. */
	if (error == -ENOENT) {
		subject.with_rollup = !subject.with_rollup;
		error = memory_reading_take(&memory->reader, &subject, &member->reading);
	}
	took_ns = root_thread_cpu_ns(tree->root) - cpu_ns;
	member_read_memory(tree, member);
	memory->allowance_ns -= (double)took_ns;
	if (error < 0) {
		member->reading_failed_ns = begun_ns ? begun_ns : 1;
		if (error == -EACCES || error == -EPERM)
			member->unreadable = true;
		if (member->pid == tree->root_pid)
			memory->ruled_out = error;
		return;
	}
	if (member->pid == tree->root_pid)
		memory->ruled_out = 0;
	member->reading_failed_ns = 0;
	if (subject.with_rollup)
		note_rollup_ns(tree, member, took_ns);
	note_size(tree, member, anon_kib, shared_kib);
	member->reading->taken_ns = begun_ns;
	member->reading->faults = member->faults;
	member->reading->family_size = family->count;
}

void memory_schedule(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	size_t count = 0;

	earn(memory, tree, now_ns);
	choose_ways(memory, tree, mode);
	if (mode == PSS_MODE_OFF || reserve(memory, tree->count) < 0)
		return;
	for (size_t i = 0; i < memory->families.count; i++) {
		const struct memory_family *family = &memory->families.at[i];

		if (mode == PSS_MODE_AUTO)
			count = add_family(memory, tree, i, count, now_ns);
		else
			for (size_t j = 0; j < family->count; j++)
				memory->candidates[count++] = (struct reading_candidate){
					memory->families.order[family->first + j], (uint32_t)i, 1};
	}
	if (mode == PSS_MODE_AUTO && count > 1)
		qsort(memory->candidates, count, sizeof *memory->candidates, by_uncertainty);
	for (size_t i = 0; i < count; i++) {
		const struct reading_candidate *candidate = &memory->candidates[i];

		if (mode == PSS_MODE_AUTO && memory->allowance_ns <= 0)
			return;
		read_member(memory, tree, &memory->families.at[candidate->family],
			    &tree->members[candidate->member]);
	}
}
