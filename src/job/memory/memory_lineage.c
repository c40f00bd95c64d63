/* The family of a process and the forks of its parent. See memory_lineage.h. */
#include "job/memory/memory_lineage.h"

#include "base/min_max.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_tuning.h"
#include "kernel/proc_pid_status.h"

enum { PF_FORKNOEXEC = 0x40 };

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
	int64_t page_kib = tree->root->page_bytes / 1024, before_kib = member->memory.mark_before_kib;
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

void memory_note_lineage(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	bool is_forked = stat->flags >= 0 && stat->flags & PF_FORKNOEXEC;
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
