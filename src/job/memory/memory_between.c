/* The most that a tree may have held between two samples. See memory_between.h. */
#include "job/memory/memory_between.h"

#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/cpu/process_waiting.h"
#include "job/memory/memory_family.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_tuning.h"
#include "job/programs/programs.h"
#include "kernel/proc_pid_status.h"
#include "kernel/proc_vmstat.h"

/*
 * The kernel's high-water mark of a process shows its largest size between two samples. A mark that has not risen since
 * tracking began is older than the record. Without a page fault the mark cannot rise, so the file is not read.
 * Processes started by the caller report their mark when they are reaped, so that fewer are read, but the moment of a peak
 * matters while the tree holds more than its largest member. In a large tree the members take turns, because a mark never goes
 * down.
 */
static bool is_turn_for_mark(const struct process_tree *tree, const struct member *member, bool first)
{
	size_t readings = tree->started_by_caller ? MARK_READINGS_WRAPPED : MARK_READINGS;

	if (tree->started_by_caller &&
	    (member->pid == tree->root_pid || member->pid == tree->memory.between.largest_pid))
		return true;
	return (first && !tree->started_by_caller) ||
	       ((size_t)member->pid + tree->passes) % (tree->count / readings + 1) == 0;
}

void memory_between_read_mark(struct process_tree *tree, struct member *member, bool first)
{
	struct proc_pid_status status;
	pid_t id;
	int64_t kib;

	if (!is_turn_for_mark(tree, member, first) ||
	    (!first && member->memory.faults == member->memory.peak_faults))
		return;
	id = memory_id_of(tree, member);
	if (read_proc_pid_status(tree->root, id, &status) < 0 || status.peak_rss_kib < 0)
		return;
	if (id == member->pid)
		waiting_offer_switches(tree, member, &status);
	member->memory.peak_faults = member->memory.faults;
	if (first && member_is_older(tree, member))
		member->memory.peak_before_kib = status.peak_rss_kib;
	else if (status.peak_rss_kib < member->memory.peak_before_kib)
		member->memory.peak_before_kib = 0; /* exec began a new mark */
	kib = status.peak_rss_kib > member->memory.peak_before_kib ? status.peak_rss_kib : status.rss_kib;
	member->memory.mark_kib = max_i64(member->memory.mark_kib, kib);
	tree->memory.largest_kib = max_i64(tree->memory.largest_kib, kib);
}

/* By the whole machine since it started. 0: unknown. */
SELDOM static int64_t allocated_kib(const struct process_tree *tree)
{
	return root_read(tree->root, "proc/vmstat") > 0
		       ? memory_pages_to_kib(tree, proc_vmstat_allocated_pages(tree->root))
		       : 0;
}

void memory_between_begin(struct process_tree *tree)
{
	tree->memory.between.base_kib = -allocated_kib(tree);
}

/*
 * The most that the tree can have held since base_kib was taken: a page was there at that time, or the machine has allocated it
 * since, or it is of a file that was in the page cache. The count was read before the tick, because the job may allocate meanwhile.
 * Other programs allocate, too, and make the bound too high. Pages of files that are mapped in no tick, and that others had read
 * before, are left out.
 *
 *	one interval			mark	object	allocated	most
 *	maps 200 MiB and unmaps them	201	200	200		201
 *	writes 200, takes 201		201	200	401		401
 */
SELDOM static int64_t reach_kib(const struct process_tree *tree, int64_t most_kib)
{
	const struct memory_between *between = &tree->memory.between;
	int64_t kib = allocated_kib(tree);

	/* Without a base, all that the machine has allocated since it started is a bound as well. */
	return kib ? min_i64(most_kib, between->base_kib + between->files_kib + kib) : most_kib;
}

/*
 * Adds a mark and all that was beside it. A mark may be of pages that an object has, which no process maps any more. Sizes do
 * not tell that from a process that took as much beside the object. Only the number of allocated pages does. As long as there are
 * objects, the process may reach that mark again without raising it, so it counts again in the next tick.
 */
SELDOM static void add_mark(struct process_tree *tree, struct member *member, int64_t kib)
{
	struct memory_between *between = &tree->memory.between;
	bool in_doubt = member->memory.mark_kib == member->memory.mark_followed_kib + 1;
	int64_t least_kib = in_doubt ? 0 : kib - between->objects_kib, all_kib = kib;

	if (kib > between->most_kib && least_kib < kib)
		kib = max_i64(reach_kib(tree, kib), least_kib);
	between->most_kib = max_i64(between->most_kib, kib);
	in_doubt = between->objects_kib > 0 && (in_doubt || kib < all_kib);
	member->memory.mark_followed_kib = member->memory.mark_kib - in_doubt;
}

void memory_member_left(struct process_tree *tree, struct member *member)
{
	struct memory_between *between = &tree->memory.between;

	if (!member->memory.resident_before)
		return;
	if (member->memory.mark_kib == member->memory.mark_followed_kib + 1)
		add_mark(tree, member,
			 member->memory.mark_kib + between->before_kib -
				 memory_pages_to_kib(tree, member->memory.resident_before));
	between->gone_faults += member->memory.faults;
	between->gone_mark_kib +=
		max_i64(member->memory.mark_kib, memory_pages_to_kib(tree, member->memory.resident_before));
	between->gone_pages += member->memory.resident_before;
	between->gone_most_pages = max_i64(between->gone_most_pages, member->memory.resident_before);
}

static int64_t once_kib(const struct memory_between *between, const struct member *member, int64_t mark_kib)
{
	return member->pid == between->over_pid ? memory_between_once_kib(between, mark_kib) : mark_kib;
}

void memory_between_reaped(struct process_tree *tree, const struct member *member, int64_t kib)
{
	struct memory_between *between = &tree->memory.between;
	int64_t passed_kib;

	if (!member->memory.was_counted || kib <= between->seen_kib)
		return;
	between->seen_kib = kib;
	kib = once_kib(between, member, kib);
	/*
	 * Beside it there was what the ticks saw, or a process that came and went between two of them. If that had gone by its own first
	 * tick, it may have been its parent, which had the same pages until the fork replaced them.
	 */
	passed_kib = min_i64(between->passed_kib, kib);
	if (member->memory.is_forked && between->passed_kib == member->memory.passed_before_kib)
		passed_kib -= max_i64(0, kib - memory_pages_to_kib(tree, member->memory.faults));
	between->most_kib = max_i64(between->most_kib, kib + max_i64(member->memory.beside_kib, passed_kib));
}

/* A process that has ended has no memory any more, and may have had its peak since the last tick. */
static void note_ended(struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->members[i].is_zombie && !tree->members[i].memory.is_being_freed)
			continue;
		memory_member_left(tree, &tree->members[i]);
		tree->members[i].memory.resident_before = 0;
	}
}

/* Another member of the family that has its memory now: the parent, if it does. NULL: none. */
SELDOM static const struct member *find_relative(const struct process_tree *tree, const struct member *member)
{
	const struct member *parent = process_tree_find(tree, member->parent_pid);

	if (member->memory.is_forked && parent && parent->memory.family == member->memory.family &&
	    memory_is_counted(tree, parent))
		return parent;
	for (size_t i = 0; i < tree->count; i++)
		if (&tree->members[i] != member && tree->members[i].memory.family == member->memory.family &&
		    memory_is_counted(tree, &tree->members[i]))
			return &tree->members[i];
	return NULL;
}

/*
 * The part of a member's mark that a relative has as well: the pages that one of the two inherited, and that neither has replaced.
 * Without it, a fork would count beside its own pages in its parent:
 *
 *	tick 1: parent 295 MiB                     tree 295
 *	tick 2: parent 320, new fork 318, mark 318 tree 323: the fork was not there beside the 295 of tick 1
 *	tick 3: parent 320, fork exits, still 5    tree 320: it was not beside 315
 */
SELDOM static int64_t common_kib(const struct process_tree *tree, const struct member *member)
{
	const struct member *relative = member->memory.family ? find_relative(tree, member) : NULL;
	const struct member *fork = member, *other = relative;
	int64_t replaced;

	if (!relative)
		return 0;
	if (relative->memory.is_forked && relative->memory.forked_by == member->pid) {
		fork = relative;
		other = member;
	}
	replaced = fork->memory.faults + other->memory.faults;
	if (fork->memory.forked_by == other->pid)
		replaced -= fork->memory.parent_faults;
	return max_i64(0, member_inherited_kib(tree, fork) - memory_pages_to_kib(tree, replaced)) +
	       min_i64(member_shared_kib(tree, member), member_shared_kib(tree, relative));
}

/*
 * Adds the marks that have risen since the last tick. The others held their memory of either end of the
 * interval. Members that have gone since may have ended before the new peak. A member that is larger than the tree, each page
 * counted once, has pages several times: so has its mark.
 */
static void add_marks(struct process_tree *tree, int64_t now_kib, int64_t tree_once_kib)
{
	struct memory_between *between = &tree->memory.between;
	int64_t stayed_kib = between->before_kib - memory_pages_to_kib(tree, between->gone_pages);

	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		int64_t resident_kib = memory_pages_to_kib(tree, member->memory.resident_pages);
		int64_t beside_kib, shared_kib, mark_kib;

		/* The mark of a process that is ending may be read in the tick that finds its memory gone. */
		if (member->memory.mark_kib <= member->memory.mark_followed_kib ||
		    (now_kib < 0 && between->before_kib < 0) ||
		    (!member->is_zombie && now_kib >= 0 && !memory_is_counted(tree, member)))
			continue;
		shared_kib = common_kib(tree, member);
		beside_kib = max_i64(0, now_kib - max_i64(shared_kib, resident_kib));
		if (between->before_kib >= 0)
			beside_kib = max_i64(
				beside_kib,
				stayed_kib -
					max_i64(shared_kib,
						memory_pages_to_kib(tree, member->memory.resident_before)));
		mark_kib = once_kib(between, member, member->memory.mark_kib);
		if (tree_once_kib >= 0 && resident_kib > tree_once_kib)
			mark_kib = min_i64(mark_kib, member->memory.mark_kib - resident_kib + tree_once_kib);
		add_mark(tree, member, mark_kib + beside_kib);
		between->seen_kib = max_i64(between->seen_kib, member->memory.mark_kib);
	}
}

/*
 * The most that one process may have taken after its last reading, by the `faults` of the processes that exited. If the members
 * among them took and freed memory in turn, as their marks show, they did so until their end. If many processes exited, one of
 * them is assumed to have had at most three times the mean.
 */
static int64_t grown_kib(struct process_tree *tree, int64_t faults)
{
	const struct memory_between *between = &tree->memory.between;
	int64_t gone_kib = memory_pages_to_kib(tree, between->gone_faults), exits = programs_exits(tree);
	double kib = (double)memory_pages_to_kib(tree, faults);

	if (gone_kib > between->gone_mark_kib)
		kib *= (double)between->gone_mark_kib / (double)gone_kib;
	if (exits >= 0 && between->exits >= 0 && exits - between->exits > FEW_EXITS)
		kib *= (double)FEW_EXITS / (double)(exits - between->exits);
	return (int64_t)kib;
}

/*
 * Processes that began since the last tick may have done so after the exit, as each step of a script does. The others, and the
 * root, may have grown before it.
 */
static int64_t stayed_kib(const struct process_tree *tree, int64_t now_kib)
{
	int64_t new_pages = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].memory.resident_before && tree->members[i].pid != tree->root_pid)
			new_pages += tree->members[i].memory.resident_pages;
	return max_i64(0, now_kib - memory_pages_to_kib(tree, new_pages));
}

/*
 * The part of a gone member's memory that others still have, as its forks do: the whole tree held at least the largest of those that
 * stayed, and beside that what the gone one had alone. It counts with those that stayed.
 */
SELDOM static int64_t left_behind_kib(const struct process_tree *tree, int64_t gone_kib)
{
	int64_t before_kib = tree->memory.between.before_kib, most_pages = 0;

	for (size_t i = 0; i < tree->count; i++)
		most_pages = max_i64(most_pages, tree->members[i].memory.resident_before);
	gone_kib += memory_pages_to_kib(tree, most_pages) - before_kib;
	return before_kib < 0 ? 0 : max_i64(0, gone_kib);
}

/* `left_kib`: the largest member that is in the table no more. One that has ended, but was not reaped yet, is in it. */
static void add_exit(struct process_tree *tree, int64_t faults, int64_t left_kib, int64_t gone_kib,
		     int64_t stayed)
{
	struct memory_between *between = &tree->memory.between;
	int64_t rest_kib = grown_kib(tree, faults), exit_kib = gone_kib + rest_kib;
	int64_t beside_kib = max_i64(between->before_kib - gone_kib, stayed);

	between->passed_kib =
		max_i64(between->passed_kib, left_kib - left_behind_kib(tree, left_kib) + rest_kib);
	/* No larger process was seen so far. How large the largest one was is known at the end only. */
	between->most_kib = max_i64(between->most_kib, beside_kib + min_i64(exit_kib, between->seen_kib));
	if (exit_kib + beside_kib <= between->exit_kib + between->beside_exit_kib)
		return;
	between->exit_kib = exit_kib;
	between->beside_exit_kib = beside_kib;
}

/*
 * An unseen mark belongs to a member that has gone, after its last reading, or to a process that was never seen. The
 * latter has page faults that no member explains, and all members that stayed were beside it. The mark of a member that has gone
 * includes the pages that it left behind.
 */
static void add_exits(struct process_tree *tree, int64_t now_kib, int64_t left_kib)
{
	struct memory_between *between = &tree->memory.between;
	int64_t before_kib = between->before_kib, beside_kib = 0;
	int64_t gone_kib = memory_pages_to_kib(tree, between->gone_most_pages);
	int64_t faults = tree->cpu.unseen_faults - between->unseen_faults;

	if (between->gone_pages)
		beside_kib = before_kib - gone_kib;
	if (faults >= FAULTS_LEAST) {
		int64_t behind_kib = left_behind_kib(tree, gone_kib), stayed = stayed_kib(tree, now_kib);

		add_exit(tree, faults, left_kib, gone_kib - behind_kib, stayed);
		beside_kib = max_i64(beside_kib, before_kib - memory_pages_to_kib(tree, between->gone_pages));
		beside_kib = max_i64(beside_kib, stayed - behind_kib);
	}
	between->beside_kib = max_i64(between->beside_kib, beside_kib);
}

/* Compares the largest member with the tree, if no larger one was seen before. */
static void note_over(struct process_tree *tree, int64_t once_kib)
{
	struct memory_between *between = &tree->memory.between;

	for (size_t i = 0; once_kib >= 0 && i < tree->count; i++) {
		const struct member *member = &tree->members[i];
		int64_t kib = memory_pages_to_kib(tree, member->memory.resident_pages);

		if (!memory_is_counted(tree, member) || kib < between->over_of_kib)
			continue;
		between->over_pid = member->pid;
		between->over_of_kib = kib;
		between->over_kib = max_i64(0, kib - once_kib);
	}
}

static void keep_for_next(struct process_tree *tree, int64_t now_kib)
{
	struct memory_between *between = &tree->memory.between;
	int64_t largest_pages = 0;

	between->before_kib = now_kib;
	between->gone_pages = between->gone_most_pages = 0;
	between->gone_faults = between->gone_mark_kib = 0;
	between->unseen_faults = tree->cpu.unseen_faults;
	between->exits = programs_exits(tree);
	between->largest_pid = 0;
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		member->memory.resident_before =
			memory_is_counted(tree, member) ? member->memory.resident_pages : 0;
		if (member->memory.resident_before) {
			if (!member->memory.was_counted)
				member->memory.passed_before_kib = between->passed_kib;
			member->memory.was_counted = true;
			member->memory.beside_kib =
				max_i64(member->memory.beside_kib,
					now_kib - memory_pages_to_kib(tree, member->memory.resident_before));
		}
		if (member->memory.resident_before > largest_pages) {
			largest_pages = member->memory.resident_before;
			between->largest_pid = member->pid;
		}
	}
	between->seen_kib = max_i64(between->seen_kib, memory_pages_to_kib(tree, largest_pages));
	if (now_kib - memory_pages_to_kib(tree, largest_pages) < BESIDE_WORTH_KIB)
		between->largest_pid = 0;
}

void memory_between_follow(struct process_tree *tree, int64_t now_kib, int64_t once_kib)
{
	struct memory_between *between = &tree->memory.between;
	int64_t left_kib = memory_pages_to_kib(tree, between->gone_most_pages);

	note_ended(tree);
	note_over(tree, once_kib);
	add_exits(tree, now_kib, left_kib);
	add_marks(tree, now_kib, once_kib);
	if (once_kib >= 0)
		between->base_kib = min_i64(between->base_kib,
					    once_kib - between->files_kib -
						    memory_pages_to_kib(tree, tree->root->allocated_pages));
	keep_for_next(tree, now_kib);
}

int64_t memory_between_most_kib(const struct memory_between *between, int64_t largest_kib)
{
	int64_t exit_kib = between->beside_exit_kib + min_i64(between->exit_kib, largest_kib);
	int64_t once_kib = memory_between_once_kib(between, largest_kib);
	int64_t most_kib = max_i64(between->most_kib, max_i64(exit_kib, once_kib));

	if (largest_kib <= between->seen_kib + MARK_SLACK_KIB)
		return most_kib;
	return max_i64(most_kib, once_kib + between->beside_kib);
}
