/* The size of one member's memory. See memory_size.h. */
#include "job/memory/memory_size.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/min_max.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_lineage.h"
#include "job/memory/memory_member.h"
#include "job/tree/process_files.h"
#include "kernel/proc_pid_statm.h"

enum { PAGES_BEHIND = 128 }; /* /proc/PID/stat may tell another size than statm by this much */

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
	member->memory.resident_pages = max_i64(0, statm.resident_pages);
	member->memory.shared_pages = max_i64(0, statm.shared_pages);
	member->memory.virtual_pages = max_i64(0, statm.virtual_pages);
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

/*
 * A child of vfork(2) or clone(CLONE_VM) shares its parent's memory, which counts once. Equal sizes only suggest that.
 * kcmp(2) proves it. Two processes that are found separate stay separate. If kcmp() is not permitted, a parent in state
 * D is taken to wait for its vfork.
 */
static bool shares_memory_with_parent(struct process_tree *tree, struct member *member)
{
	enum { KCMP_VM = 1 };
	const struct member *parent = process_tree_find(tree, member->parent_pid);
	long order;

	if (!parent || parent == member || !member->memory.virtual_pages ||
	    parent->memory.virtual_pages != member->memory.virtual_pages || !tree->root->live ||
	    member->memory.apart_from == parent->pid)
		return false;
	order = syscall(SYS_kcmp, (long)member->pid, (long)parent->pid, (long)KCMP_VM, 0L, 0L);
	if (order > 0)
		member->memory.apart_from = parent->pid;
	return order < 0 ? parent->state == 'D' : order == 0;
}

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
	memory_note_lineage(tree, member, stat);
	memory->shares_memory = shares_memory_with_parent(tree, member);
	memory_between_read_mark(tree, member, first);
}
