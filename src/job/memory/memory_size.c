/* The size of one member's memory. See memory_size.h. */
#include "job/memory/memory_size.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_tuning.h"
#include "job/tree/process_files.h"
#include "kernel/proc_pid_statm.h"
#include "kernel/proc_pid_status.h"

void memory_open(struct process_tree *tree)
{
	tree->memory.between.before_kib = -1;
}

void memory_set_cgroup(struct process_tree *tree, bool has_memory)
{
	tree->memory.cgroup_has_memory = has_memory;
}

static int read_statm(struct process_tree *tree, struct member *member)
{
	pid_t id = memory_id_of(tree, member);
	ssize_t length = id != member->pid ? root_read_pid(tree->root, id, "statm")
					   : member_read_file(tree, member, FILE_STATM);
	struct proc_pid_statm statm;

	if (length < 0)
		return (int)length;
	if (parse_proc_pid_statm(tree->root->text.data, (size_t)length, &statm) < 0)
		return -EBADMSG;
	if (statm.virtual_pages > 0)
		member->memory.is_being_freed = false;
	else if (member->memory.virtual_pages > 0)
		member->memory.is_being_freed = true;
	/* Others may have changed it: the process sleeps. */
	if (statm.resident_pages != member->memory.resident_pages ||
	    statm.shared_pages != member->memory.shared_pages)
		tree->changed_ns = tree->touched_ns;
	member->memory.resident_pages = max_i64(0, statm.resident_pages);
	member->memory.shared_pages = max_i64(0, statm.shared_pages);
	member->memory.virtual_pages = statm.virtual_pages;
	return 0;
}

/*
 * An exiting process gives up its address space first. The kernel then takes 0.1 s per GiB to free the pages.
 */
static void note_freeing(struct member *member, const struct proc_pid_stat *stat)
{
	member->memory.is_being_freed |=
		!member->memory.virtual_pages && (proc_pid_stat_is_exiting(stat) || stat->virtual_bytes > 0);
}

static int64_t faults_of(const struct proc_pid_stat *stat)
{
	return usage_at_most(stat->minor_faults, USAGE_FAULTS_MOST) +
	       usage_at_most(stat->major_faults, USAGE_FAULTS_MOST);
}

/*
 * Reads statm so that page faults and size are of one moment. The process may run, and the kernel may take our CPU away, between
 * stat and statm: a process that fills its memory meanwhile would seem to have got pages without faults. If the two files disagree
 * about its size, stat is read once more. While that shows new faults, so are both files, up to three times. The narrowest pair
 * counts. `stat` becomes the last one read before statm.
 */
static int read_size_and_faults(struct process_tree *tree, struct member *member, struct proc_pid_stat *stat)
{
	int64_t narrowest = INT64_MAX;

	for (int attempt = 0; attempt < 3; attempt++) {
		struct proc_pid_stat after = *stat;
		int64_t passed = 0;
		int error = read_statm(tree, member);

		if (error < 0)
			return error;
		if (member->state != 'Z' &&
		    absolute_difference(stat->resident_pages, member->memory.resident_pages) > PAGES_BEHIND &&
		    member_read_stat(tree, member, &after) == 0 && after.start_ticks == member->start_ticks)
			passed = faults_of(&after) - faults_of(stat);
		if (passed < narrowest) {
			narrowest = passed;
			member->memory.faults = faults_of(stat);
			member->memory.anon_at_faults = member_anon_pages(member);
		}
		if (passed <= PAGES_BEHIND)
			return 0;
		*stat = after;
	}
	return 0;
}

/*
 * statm is exact where stat may be some pages behind, but a process of which neither size has changed in stat, and which has
 * had no page fault, has the same pages as before.
 */
static void follow_memory(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	struct proc_pid_stat last = *stat;

	if (!tree->reads_all && member->state != 'Z' && faults_of(stat) == member->memory.faults &&
	    stat->resident_pages == member->memory.stat_pages &&
	    stat->virtual_bytes == member->memory.stat_bytes)
		return;
	member->memory.faults = faults_of(stat);
	member->memory.stat_pages = read_size_and_faults(tree, member, &last) < 0 ? -1 : last.resident_pages;
	member->memory.stat_bytes = last.virtual_bytes;
}

void memory_read_size(struct process_tree *tree, struct member *member)
{
	(void)read_statm(tree, member);
}

static long compare_memory(const struct member *member, const struct member *other)
{
	enum { KCMP_VM = 1 };

	return syscall(SYS_kcmp, (long)member->pid, (long)other->pid, (long)KCMP_VM, 0L, 0L);
}

/*
 * Processes that share memory may outlive the parent that shared it with them, or it may call exec. Each then counts with an older
 * one, as does a fork with a sibling that shared its memory by CLONE_PARENT. Memory that is separate stays separate, so
 * ordinary orphans and forks are compared with some others in their first readings only, and a fork with neighbours of its
 * size alone.
 */
SELDOM static pid_t sharer_beside(const struct process_tree *tree, struct member *member, bool is_fork)
{
	size_t last = (size_t)(member - tree->members);
	size_t first = is_fork && last > NEIGHBOURS ? last - NEIGHBOURS : 0;
	int left = SHARERS_COMPARED;

	if (!member->memory.shared_with && member->memory.compared >= SHARER_READINGS)
		return 0;
	member->memory.compared += member->memory.compared < SHARER_READINGS;
	for (size_t i = first; i < last; i++) {
		const struct member *other = &tree->members[i];

		if (other->pid < member->pid && other->memory.layout == member->memory.layout &&
		    other->memory.virtual_pages == member->memory.virtual_pages &&
		    (!is_fork || other->memory.resident_pages == member->memory.resident_pages) &&
		    other->memory.shared_with != member->pid && left-- > 0 && !compare_memory(member, other))
			return other->pid;
	}
	return 0;
}

/*
 * A child of vfork(2) or clone(CLONE_VM) shares its parent's memory, which counts once. Equal sizes only suggest that.
 * kcmp(2) proves it. Two processes that are found separate stay separate. If kcmp() is not permitted, a parent in state
 * D is taken to wait for its vfork. Returns the process with which its memory counts, 0 for its own.
 */
static pid_t sharer_of(struct process_tree *tree, struct member *member)
{
	const struct member *parent = process_tree_find(tree, member->parent_pid);
	long order;

	if (!member->memory.virtual_pages || !tree->root->live)
		return 0;
	if (parent && parent->memory.virtual_pages == member->memory.virtual_pages &&
	    member->memory.apart_from != parent->pid) {
		order = compare_memory(member, parent);
		if (order == 0 || (order < 0 && parent->state == 'D'))
			return parent->pid;
		if (order > 0)
			member->memory.apart_from = parent->pid;
	}
	return sharer_beside(tree, member, parent && parent->memory.layout == member->memory.layout);
}

/* ---- the family of a process --------------------------------------------------------------------------------------- */

/*
 * Finds the members that had the same pages at the same addresses until one of them wrote: the forks of a process, without exec.
 * Counts what a parent replaced before each fork. memory_family.c adds it all up.
 */

static uint64_t mix_hash(uint64_t a, uint64_t b)
{
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 29;
}

/*
 * The kernel chooses the addresses of code and stack at exec, and a fork has the same ones as its parent. 0: not
 * permitted to see them.
 */
static uint64_t layout_of(const struct proc_pid_stat *stat)
{
	return stat->stack_start <= 0 ? 0
				      : mix_hash((uint64_t)stat->code_start, (uint64_t)stat->stack_start) | 1;
}

static struct member *relative_of(const struct process_tree *tree, const struct member *member)
{
	struct member *parent = process_tree_find(tree, member->parent_pid);

	if (parent && parent != member && parent->memory.layout == member->memory.layout &&
	    parent->memory.family)
		return parent;
	/* Its parent exited before tracking began. Another member with the same layout descends from the same process. */
	for (size_t i = 0; member->memory.layout && i < tree->count; i++)
		if (tree->members[i].pid != member->pid &&
		    tree->members[i].memory.layout == member->memory.layout && tree->members[i].memory.family)
			return &tree->members[i];
	return NULL;
}

/*
 * A program that makes a copy of its data and frees the other one takes page faults, but replaces nothing: its high-water mark has
 * risen above its size. A mark that was not read at the previous reading was at most what the process had faulted in by then.
 */
static int64_t passing_pages(struct process_tree *tree, const struct member *member)
{
	int64_t page_kib = tree->root->page_bytes >> 10, before_kib = member->memory.mark_before_kib;
	struct proc_pid_status status;

	if (!before_kib)
		before_kib = (member->memory.faults_before + member->memory.shared_pages) * page_kib +
			     tree->memory.huge_kib;
	if (member_is_older(tree, member) ||
	    read_proc_pid_status(tree->root, memory_id_of(tree, member), &status) < 0)
		return 0;
	return status.peak_rss_kib <= before_kib
		       ? 0
		       : max_i64(0, status.peak_rss_kib / page_kib - member->memory.resident_pages);
}

static void note_fork_in_parent(struct process_tree *tree, struct member *parent, struct member *child)
{
	struct fork_window *forks = &parent->memory.forks;

	child->memory.parent_faults_before = parent->memory.faults_before;
	child->memory.parent_anon_before = parent->memory.anon_before;
	/* How many pages a parent older than the tracking replaced is unknown. */
	if (!forks->is_known && (parent->listed || !member_is_older(tree, parent)))
		*forks = (struct fork_window){.is_known = true,
					      .faults_first = parent->memory.faults_before,
					      .anon_first = parent->memory.anon_before};
	if (forks->pass != tree->passes) {
		forks->passing_before = forks->passing_last;
		forks->passing_last += passing_pages(tree, parent);
		forks->pass = tree->passes;
	}
	child->memory.parent_passing_before = forks->passing_before;
	forks->faults_last = parent->memory.faults;
	forks->anon_last = parent->memory.anon_at_faults;
	child->memory.passes_on = parent->memory.is_forked &&
				  max_i64(parent->memory.faults,
					  parent->memory.anon_at_faults - parent->memory.inherited_pages) <
					  parent->memory.anon_at_faults / OWN_PART;
}

static void note_lineage(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	bool is_forked = proc_pid_stat_is_fork(stat);
	uint64_t layout = layout_of(stat);
	struct member *relative;
	/* A main thread that has exited shows no addresses, while other threads still have the memory. */
	if (member->memory.family &&
	    ((member->memory.layout == layout && member->memory.is_forked == is_forked) ||
	     (!layout && proc_pid_stat_is_exiting(stat))))
		return;
	member->memory.layout = layout;
	member->memory.is_forked = is_forked;
	member->memory.forks = (struct fork_window){0};
	member->memory.forked_by = 0;
	member->memory.passes_on = false;
	member->memory.inherited_pages = 0;
	member->memory.parent_faults_before = member->memory.parent_anon_before = -1;
	relative = is_forked ? relative_of(tree, member) : NULL;
	if (!relative) {
		member->memory.family =
			mix_hash(layout, mix_hash((uint64_t)member->pid, (uint64_t)member->start_ticks)) | 1;
		return;
	}
	member->memory.family = relative->memory.family;
	member->memory.forked_by = process_tree_find(tree, member->parent_pid) ? member->parent_pid : 0;
	member->memory.parent_faults = relative->pid == member->parent_pid ? relative->memory.faults : 0;
	if (relative->pid == member->parent_pid)
		note_fork_in_parent(tree, relative, member);
	/* The smaller of the two sizes: pages that it has taken since the fork, it has faulted in. */
	member->memory.inherited_pages = min_i64(member_anon_pages(member), member_anon_pages(relative));
	member->memory.inherited_least = member->memory.anon_at_faults - member->memory.faults;
}

/* ---- one member --------------------------------------------------------------------------------------------------- */

void memory_read_member(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat,
			bool first)
{
	struct member_memory *memory = &member->memory;

	memory->is_refused = false;
	if (member->is_zombie) {
		memory->resident_pages = memory->shared_pages = memory->virtual_pages = 0;
		return;
	}
	memory->faults_before = memory->faults;
	memory->anon_before = memory->anon_at_faults;
	memory->mark_before_kib = memory->mark_kib;
	follow_memory(tree, member, stat);
	note_freeing(member, stat);
	note_lineage(tree, member, stat);
	memory->shared_with = sharer_of(tree, member);
	memory_between_read_mark(tree, member, first);
}
