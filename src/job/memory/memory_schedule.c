/* Chooses the members to read in this tick, and the way. See memory_schedule.h. */
#include "job/memory/memory_schedule.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "job/memory/memory_size.h"
#include "job/memory/memory_tuning.h"
#include "kernel/proc_pid_status.h"

struct reading_candidate {
	uint32_t member;
	uint32_t family;
	int64_t uncertain_kib;
};

static double share_of_time(size_t members)
{
	double share = members > 1 ? READINGS_FOR_EACH * (double)members : READINGS_FOR_ONE;
	double most = members > MANY_MEMBERS ? READINGS_FOR_ALL * (double)MANY_MEMBERS / (double)members
					     : READINGS_FOR_ALL;

	return share < most ? share : most;
}

/* For the largest number of members that the tree has had. */
static double allowance_most_ns(size_t members)
{
	double most_ns = members > 1 ? ALLOWANCE_FOR_EACH_NS * (double)members : ALLOWANCE_FOR_ONE_NS;

	return most_ns < ALLOWANCE_MOST_NS ? most_ns : ALLOWANCE_MOST_NS;
}

static void earn_readings(struct process_memory *memory, const struct process_tree *tree, int64_t now_ns)
{
	if (memory->last_ns)
		memory->allowance_ns += share_of_time(tree->count) * (double)(now_ns - memory->last_ns);
	if (tree->count > memory->members_most) {
		double before_ns = memory->members_most ? allowance_most_ns(memory->members_most) : 0;

		memory->allowance_ns += allowance_most_ns(tree->count) - before_ns;
		memory->members_most = tree->count;
	}
	if (memory->allowance_ns > allowance_most_ns(memory->members_most))
		memory->allowance_ns = allowance_most_ns(memory->members_most);
	memory->last_ns = now_ns;
}

/* ---- how a member would be read ------------------------------------------------------------------------------ */

double member_rollup_ns(const struct process_tree *tree, const struct member *member)
{
	int64_t resident_kib = memory_pages_to_kib(tree, member->memory.resident_pages);

	if (member->memory.rollup_ns < 0 || member->memory.rollup_pages <= 0)
		return ROLLUP_TAKES_NS(resident_kib);
	return (double)member->memory.rollup_ns * (double)member->memory.resident_pages /
	       (double)member->memory.rollup_pages;
}

/* An interrupted reading, or one on a shared core, seems longer than it was: see SLOWER_MOST. */
static void note_rollup_ns(const struct process_tree *tree, struct member *member, int64_t took_ns)
{
	double expected_ns = member_rollup_ns(tree, member) * SLOWER_MOST;

	member->memory.rollup_ns = (double)took_ns < expected_ns ? took_ns : (int64_t)expected_ns;
	member->memory.rollup_pages = member->memory.resident_pages;
}

static bool maps_many_files(const struct process_memory *memory, const struct process_tree *tree,
			    const struct memory_family *family)
{
	for (size_t i = 0; i < family->count; i++)
		if (member_shared_kib(tree, memory_family_member(&memory->families, family, tree, i)) >=
		    MANY_FILES_KIB)
			return true;
	return false;
}

/*
 * Members of one family are all read the same way. So are families that map large files: a sampled page of a file counts once
 * for all sampled members, and it would count again in the share that smaps_rollup gives another member.
 */
static void choose_ways(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode)
{
	bool any_sampled = false;

	for (size_t i = 0; i < memory->families.count; i++) {
		struct memory_family *family = &memory->families.at[i];

		double factor = family->sampled ? BACK_TO_ROLLUP : 1;
		bool too_long = false;

		for (size_t j = 0; j < family->count && mode == PSS_MODE_AUTO; j++) {
			const struct member *member =
				memory_family_member(&memory->families, family, tree, j);
			double most_ns = member->memory.rollup_ns < 0 ? HOLD_MOST_NS : MEASURED_MOST_NS;

			too_long |= member_rollup_ns(tree, member) > most_ns * factor;
		}
		family->sampled = too_long;
		any_sampled |= too_long;
	}
	for (size_t i = 0; any_sampled && i < memory->families.count; i++)
		memory->families.at[i].sampled |= maps_many_files(memory, tree, &memory->families.at[i]);
}

/* ---- what a reading would tell ------------------------------------------------------------------------------- */

/*
 * Pages of a file are divided by their users, so a reading becomes stale when others map the file or exit. Sampled common pages
 * are known by their place in the file. Only pages that this process had alone can become stale.
 */
static int64_t stale_files_kib(const struct process_memory *memory, const struct process_tree *tree,
			       const struct member *member)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t others_kib = memory->shared_kib - member_shared_kib(tree, member);
	int64_t stale_kib = absolute_difference(others_kib, reading->others_shared_kib);

	return stale_kib < reading->file_kib ? stale_kib : reading->file_kib;
}

/*
 * A member that has faulted in as many pages as it has grown by has new pages of its own, and those that it had before. Nothing tells
 * that of huge pages, nor of a process that has forked since.
 */
static int64_t wrong_in_family_kib(const struct process_tree *tree, const struct member *member)
{
	struct memory_reading *reading = member->memory.reading;
	int64_t anon_kib = member_anon_kib(tree, member), written_kib;
	int64_t grown_kib = anon_kib - reading->statm_anon_kib;

	/* read_chosen() has estimated them. It may have taken the first huge pages for small ones. */
	reading->faults = min_i64(reading->faults, member->memory.faults);
	written_kib = memory_pages_to_kib(tree, member->memory.faults - reading->faults);
	if (grown_kib > 0 && grown_kib <= written_kib && !tree->memory.huge_kib &&
	    (!member->memory.fork_count ||
	     (member->memory.forks.is_known && member->memory.forks.faults_last <= reading->faults)))
		return min_i64(written_kib - grown_kib, reading->common_kib);
	return min_i64(written_kib, reading->common_kib) + absolute_difference(grown_kib, 0);
}

/* Shared pages that another member has lost, and that this one was not read for. */
static int64_t in_rounds_kib(const struct process_memory *memory, const struct memory_reading *reading)
{
	int64_t kib = 0;

	for (size_t i = 0; memory->objects.in_round && i < reading->objects.count; i++) {
		const struct memory_object *object = memory_objects_find(
			&memory->objects, reading->objects.at[i].space, reading->objects.at[i].page);

		if (object && reading->taken_ns < object->round_ns)
			kib += object->fell_kib;
	}
	return kib;
}

/* The huge pages of a process by /proc/PID/status, -1 where that is unknown. */
static int64_t huge_mapped_kib(const struct process_memory *memory, const struct process_tree *tree,
			       const struct member *member)
{
	struct proc_pid_status status;

	if (!memory->huge_kib)
		return 0;
	return read_proc_pid_status(tree->root, memory_id_of(tree, member), &status) < 0 ? -1
											 : status.hugetlb_kib;
}

/* Huge pages (hugetlb) are in no resident set. A process is asked for its own once the machine's number has changed. */
static int64_t huge_moved_kib(const struct process_memory *memory, const struct process_tree *tree,
			      const struct member *member)
{
	struct memory_reading *reading = member->memory.reading;
	int64_t mapped_kib;

	if (memory->huge_kib == reading->machine_huge_kib && memory->huge_kib >= 0)
		return 0;
	mapped_kib = huge_mapped_kib(memory, tree, member);
	if (mapped_kib < 0)
		return 0;
	if (mapped_kib == reading->huge_mapped_kib)
		reading->machine_huge_kib = memory->huge_kib;
	return absolute_difference(mapped_kib, reading->huge_mapped_kib);
}

/* How many KiB of a member's last figures may be wrong by now. */
static int64_t uncertain_kib(const struct process_memory *memory, const struct process_tree *tree,
			     const struct memory_family *family, const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t wrong_kib, tolerated_kib, huge_kib;

	if (!member_is_read(family, member, now_ns) && family->count > 1)
		return member->memory.is_forked ? member_bound_kib(tree, member) + WORTH_READING_KIB
						: member_anon_kib(tree, member);
	if (!member_is_read(family, member, now_ns))
		return member_shared_kib(tree, member) + WORTH_READING_KIB;
	/*
	 * The reading divided its pages among a family of which it is the last member, or was made in another way than the
	 * readings of the others now are.
	 */
	if (family->count == 1 &&
	    (reading->family_size > 1 || family->sampled != (reading->kind == READING_SAMPLED)))
		return member_shared_kib(tree, member) + WORTH_READING_KIB;
	if (!reading->is_settled)
		return member_anon_kib(tree, member) + member_shared_kib(tree, member) + WORTH_READING_KIB;
	wrong_kib = absolute_difference(member_shared_kib(tree, member), reading->statm_shared_kib) +
		    stale_files_kib(memory, tree, member);
	/* Without the right to ask for the size of a mapped file, its pages are known by the copies. */
	if (reading->has_copies && memory->objects.map_files_refused)
		wrong_kib += absolute_difference(member_anon_kib(tree, member), reading->statm_anon_kib);
	wrong_kib += in_rounds_kib(memory, reading);
	if (family->count > 1) {
		wrong_kib += wrong_in_family_kib(tree, member) + member_left_by_forks_kib(tree, member);
		if (family->count != reading->family_size && !family->sampled)
			wrong_kib += reading->common_kib / (int64_t)family->count;
	}
	/*
	 * Tolerates rounding, and libraries that other processes begin to use. If the job is one process, only the part of its
	 * files that programs outside the job map is unknown: a JVM that loads classes is not read at each sample.
	 */
	tolerated_kib = tree->count == 1 ? (member_anon_kib(tree, member) + member_shared_kib(tree, member)) /
						   LONE_TOLERANCE
					 : member_anon_kib(tree, member) / MOVED_PART;
	huge_kib = huge_moved_kib(memory, tree, member);
	return huge_kib || wrong_kib > WORTH_READING_KIB + tolerated_kib ? wrong_kib + huge_kib : 0;
}

/* Later readings have what a tick or two earn, so that a job whose members change at each tick never takes more than that. */
static void limit_allowance(struct process_memory *memory, const struct process_tree *tree, size_t count)
{
	double most_ns = ALLOWANCE_SAVED_NS;

	for (size_t i = 0; i < count; i++)
		if (!tree->members[memory->candidates[i].member].memory.reading)
			most_ns += ALLOWANCE_FOR_EACH_NS;
	if (memory->allowance_ns > most_ns)
		memory->allowance_ns = most_ns;
}

static bool is_refused(const struct member *member, int64_t now_ns)
{
	return member->memory.reading_failed_ns && now_ns - member->memory.reading_failed_ns < RETRY_NS;
}

static int reserve_candidates(struct process_memory *memory, size_t count)
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

	if (!member->memory.is_forked || member->memory.fork_count || family->has_own_objects ||
	    siblings_read < SIBLINGS_READ || member_is_read(family, member, now_ns))
		return false;
	own_kib = member_bound_kib(tree, member);
	return bound_kib < 0 || own_kib <= 2 * bound_kib + WORTH_READING_KIB;
}

static size_t add_candidates(struct process_memory *memory, const struct process_tree *tree, size_t index,
			     size_t count, int64_t now_ns)
{
	struct memory_family *family = &memory->families.at[index];
	size_t siblings_read = 0;
	int64_t bound_kib = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = &tree->members[memory->families.order[family->first + i]];

		if (!member_is_read(family, member, now_ns))
			continue;
		family->exclusive_kib += member_exclusive_kib(tree, family, member);
		if (member->memory.is_forked) {
			siblings_read++;
			bound_kib += member_bound_kib(tree, member);
		}
	}
	/* If no sibling was read yet, those read in this tick count. */
	bound_kib = siblings_read ? bound_kib / (int64_t)siblings_read : -1;
	for (size_t i = 0; i < family->count; i++) {
		uint32_t at = memory->families.order[family->first + i];
		struct member *member = &tree->members[at];
		struct reading_candidate *candidate = &memory->candidates[count];
		const struct memory_reading *reading = member->memory.reading;
		bool old = reading && (reading->taken_ns < tree->memory.suspect_ns ||
				       now_ns - reading->taken_ns >= REFRESH_NS);

		member->memory.choice = READING_STILL_RIGHT;
		if (is_refused(member, now_ns))
			member->memory.choice = READING_REFUSED;
		else if (is_told_by_siblings(tree, family, member, siblings_read, bound_kib, now_ns))
			member->memory.choice = READING_LIKE_SIBLINGS;
		if (member->memory.choice != READING_STILL_RIGHT)
			continue;
		*candidate = (struct reading_candidate){at, (uint32_t)index,
							uncertain_kib(memory, tree, family, member, now_ns)};
		if (!candidate->uncertain_kib && old)
			candidate->uncertain_kib = 1;
		if (!candidate->uncertain_kib)
			continue;
		member->memory.choice = READING_LATE;
		member->memory.uncertain_kib = candidate->uncertain_kib;
		if (member->memory.is_forked && !member->memory.fork_count &&
		    !member_is_read(family, member, now_ns))
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
 * Stores the size to which a reading belongs. If the process grew much or shrank during the reading, it is read again in the
 * next tick. Until then, growth counts from the size in smaps_rollup, or from the size before a sampled reading. The
 * anonymous memory of a process without relatives is known without a reading, and growth of its files is counted, so it is
 * not read again for that alone.
 */
static void note_size(const struct process_tree *tree, const struct memory_family *family,
		      struct member *member, int64_t anon_kib, int64_t shared_kib)
{
	struct memory_reading *reading = member->memory.reading;
	bool is_rollup = reading->kind == READING_ROLLUP;
	bool anon_stood = absolute_difference(anon_kib, member_anon_kib(tree, member)) <= WORTH_READING_KIB;
	bool shared_stood =
		absolute_difference(shared_kib, member_shared_kib(tree, member)) <= WORTH_READING_KIB;
	int64_t grown_kib = member_anon_kib(tree, member) - anon_kib;

	reading->statm_anon_kib = member_anon_kib(tree, member);
	if (!anon_stood)
		reading->statm_anon_kib = is_rollup ? reading->anon_kib : anon_kib;
	reading->statm_shared_kib = member_shared_kib(tree, member);
	if (!shared_stood)
		reading->statm_shared_kib = is_rollup && reading->resident_kib >= reading->anon_kib
						    ? reading->resident_kib - reading->anon_kib
						    : shared_kib;
	reading->is_settled = (grown_kib >= -WORTH_READING_KIB &&
			       grown_kib <= WORTH_READING_KIB + anon_kib / GROWN_PART && shared_stood) ||
			      family->count == 1;
}

/*
 * Whether it has more common pages than its known relatives can explain, and than at the reading before: a fork that no pass has seen
 * shares them, most likely until it calls exec.
 */
static bool shares_with_unseen(const struct process_tree *tree, const struct memory_family *family,
			       const struct member *member, const struct memory_reading *before)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t known_kib = member->memory.is_forked ? member_inherited_kib(tree, member) : 0;

	return reading->kind == READING_ROLLUP && !member->memory.fork_count && !family->has_orphans &&
	       reading->common_kib > known_kib + WORTH_READING_KIB + reading->anon_kib / MOVED_PART &&
	       absolute_difference(reading->common_kib, before->common_kib) > WORTH_READING_KIB;
}

/* Whether the file pages of the last reading are still right. */
static bool has_its_files(const struct process_memory *memory, const struct process_tree *tree,
			  const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->memory.reading;

	return reading && reading->kind == READING_SAMPLED && reading->has_files &&
	       now_ns - reading->files_taken_ns < REFRESH_NS &&
	       absolute_difference(member_shared_kib(tree, member), reading->statm_shared_kib) <=
		       WORTH_READING_KIB &&
	       stale_files_kib(memory, tree, member) <= WORTH_READING_KIB;
}

/* A fork has most of its file pages from its parent: a few of them are not worth searching all that it maps. */
static bool has_few_files(struct process_tree *tree, const struct memory_family *family,
			  const struct member *member)
{
	const struct member *parent = process_tree_find(tree, member->parent_pid);
	struct proc_pid_status status;

	return member->memory.is_forked && parent && parent->memory.family == member->memory.family &&
	       read_proc_pid_status(tree->root, memory_id_of(tree, member), &status) == 0 &&
	       status.rss_file_kib >= 0 && status.rss_file_kib <= family->largest_kib / FEW_FILES;
}

/* Each reading's part of the sampling error that a family may have. SIBLINGS_READ readings stand for larger families. */
static double tolerable_variance(const struct memory_family *family)
{
	int64_t least_kib = max_i64(family->largest_kib, family->exclusive_kib);
	double tolerable_kib = TOLERABLE_ERROR * (double)least_kib + (double)LEAST_ERROR_KIB;
	double count = (double)family->count;
	double read = count < (double)SIBLINGS_READ ? count : (double)SIBLINGS_READ;

	return tolerable_kib * tolerable_kib * read / (count * count);
}

/* Notes which part of the pages that a member faulted in since its last reading had been common pages. */
static void note_replaced(const struct process_tree *tree, struct memory_family *family,
			  const struct member *member, const struct memory_reading *before)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t faulted_kib = member_faulted_kib(tree, member, before), replaced_kib;

	if (before->kind != READING_SAMPLED || reading->kind != READING_SAMPLED || !before->has_anon ||
	    !reading->has_anon || faulted_kib < WORTH_LEARNING_KIB)
		return;
	replaced_kib = max_i64(0, before->common_kib - reading->common_kib);
	family->faulted_kib = family->faulted_kib / 2 + (double)faulted_kib;
	family->replaced_kib = family->replaced_kib / 2 + (double)min_i64(replaced_kib, faulted_kib);
}

/* Objects that it maps, and of which the kernel tells no size, may have lost pages: see memory_objects.h. */
static void begin_rounds(struct process_memory *memory, const struct process_tree *tree,
			 const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->memory.reading;
	struct round_begin begin = {.now_ns = now_ns};

	if (!reading)
		return;
	begin.before_ns = reading->taken_ns;
	begin.others_kib = reading->machine_shmem_kib - reading->objects_kib;
	begin.fell_kib = max_i64(0, reading->statm_shared_kib - member_shared_kib(tree, member));
	begin.unmapped_kib =
		max_i64(0, memory_pages_to_kib(tree, reading->virtual_pages - member->memory.virtual_pages));
	for (size_t i = 0; i < reading->objects.count; i++)
		memory_objects_begin_round(&memory->objects, &reading->objects.at[i], &begin);
}

/* `exact`: there is time to sample until the error is tolerable. */
static void read_chosen(struct process_memory *memory, struct process_tree *tree,
			struct memory_family *family, struct member *member, bool exact)
{
	int64_t begun_ns = root_monotonic_ns(tree->root);
	int64_t cpu_ns = root_thread_cpu_ns(tree->root), took_ns;
	struct memory_subject subject = {
		.pid = memory_id_of(tree, member),
		.with_anon = family->count > 1,
		.with_rollup = !family->sampled,
		.with_files = !family->sampled || !has_few_files(tree, family, member),
		.is_alone = tree->count == 1,
		.keeps_files = family->sampled && has_its_files(memory, tree, member, begun_ns),
		.variance_most = exact ? tolerable_variance(family) : DBL_MAX,
	};
	int64_t others_kib = memory->shared_kib - member_shared_kib(tree, member), anon_kib, shared_kib;
	int64_t files_taken_ns = subject.keeps_files ? member->memory.reading->files_taken_ns : begun_ns;
	int64_t huge_kib = huge_mapped_kib(memory, tree, member);
	struct memory_reading before =
		member->memory.reading ? *member->memory.reading : (struct memory_reading){0};
	int error;

	memory->has_read = true;
	memory_read_size(tree, member);
	anon_kib = member_anon_kib(tree, member);
	shared_kib = member_shared_kib(tree, member);
	begin_rounds(memory, tree, member, begun_ns);
	subject.shared_pages = member->memory.shared_pages;
	if (member->memory.resident_pages > member->memory.shared_pages)
		subject.anon_pages = member->memory.resident_pages - member->memory.shared_pages;
	subject.may_be_kept =
		member_has_reading(member, begun_ns) && anon_kib < member->memory.reading->statm_anon_kib;
	error = memory_reading_take(&memory->reader, &subject, &member->memory.reading);
	/* Captured machines and some kernels lack one of the two files. */
	if (error == -ENOENT) {
		subject.with_rollup = !subject.with_rollup;
		subject.with_files = true;
		subject.keeps_files = false;
		error = memory_reading_take(&memory->reader, &subject, &member->memory.reading);
	}
	took_ns = root_thread_cpu_ns(tree->root) - cpu_ns;
	memory_read_size(tree, member);
	memory->allowance_ns -= (double)took_ns;
	member->memory.choice = error == -EAGAIN ? READING_GIVES_BACK
				: error < 0      ? READING_REFUSED
						 : READING_TAKEN;
	/* Its last reading stays for now. */
	if (error == -EAGAIN)
		return;
	if (error < 0) {
		member->memory.reading_failed_ns = begun_ns ? begun_ns : 1;
		if (error == -EACCES || error == -EPERM)
			member->memory.is_refused = true;
		if (member->pid == tree->root_pid)
			memory->ruled_out = error;
		return;
	}
	if (member->pid == tree->root_pid)
		memory->ruled_out = 0;
	member->memory.reading_failed_ns = 0;
	if (subject.with_rollup)
		note_rollup_ns(tree, member, took_ns);
	note_replaced(tree, family, member, &before);
	note_size(tree, family, member, anon_kib, shared_kib);
	member->memory.reading->is_settled &=
		!family->has_leaving && !shares_with_unseen(tree, family, member, &before);
	member->memory.reading->others_shared_kib = others_kib;
	member->memory.reading->machine_huge_kib = memory->huge_kib;
	member->memory.reading->huge_mapped_kib = max_i64(0, huge_kib);
	member->memory.reading->exclusive_before_kib = before.exclusive_kib;
	member->memory.reading->taken_ns = begun_ns;
	member->memory.reading->has_files = subject.with_files || subject.keeps_files;
	member->memory.reading->files_taken_ns = files_taken_ns;
	member->memory.reading->faults = member->memory.faults;
	/* The page faults are older than the size to which the reading belongs. */
	if (!tree->memory.huge_kib)
		member->memory.reading->faults +=
			max_i64(0, member->memory.reading->statm_anon_kib * 1024 / tree->root->page_bytes -
					   member->memory.anon_at_faults);
	member->memory.reading->family_size = family->count;
	member->memory.reading->forks_anon_kib = member->memory.forks_anon_kib;
}

void memory_schedule(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	size_t count = 0;

	memory->shared_kib = memory->late_kib = 0;
	for (size_t i = 0; i < tree->count; i++)
		if (memory_is_counted(tree, &tree->members[i]))
			memory->shared_kib += member_shared_kib(tree, &tree->members[i]);
	earn_readings(memory, tree, now_ns);
	choose_ways(memory, tree, mode);
	if (mode == PSS_MODE_OFF || reserve_candidates(memory, tree->count) < 0)
		return;
	for (size_t i = 0; i < memory->families.count; i++) {
		const struct memory_family *family = &memory->families.at[i];

		if (mode == PSS_MODE_AUTO)
			count = add_candidates(memory, tree, i, count, now_ns);
		else
			for (size_t j = 0; j < family->count; j++)
				memory->candidates[count++] = (struct reading_candidate){
					memory->families.order[family->first + j], (uint32_t)i, 1};
	}
	limit_allowance(memory, tree, count);
	if (mode == PSS_MODE_AUTO && count > 1)
		qsort(memory->candidates, count, sizeof *memory->candidates, by_uncertainty);
	for (size_t i = 0; i < count; i++) {
		const struct reading_candidate *candidate = &memory->candidates[i];
		bool exact = mode == PSS_MODE_ALWAYS ||
			     memory->allowance_ns >= EXACT_READING_NS * (double)(count - i);

		if (mode == PSS_MODE_AUTO && memory->allowance_ns <= 0)
			memory->late_kib += candidate->uncertain_kib;
		else
			read_chosen(memory, tree, &memory->families.at[candidate->family],
				    &tree->members[candidate->member], exact);
	}
}
