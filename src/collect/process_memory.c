/* The memory of a tree; see process_memory.h. */
#include "collect/process_memory.h"

#include <errno.h>

#include "base/clock.h"
#include "collect/process_member.h"
#include "kernel/cgroup_v2.h"
#include "kernel/proc_pid_smaps_rollup.h"

/* Of the wall-clock time, what may be spent on readings: with what goes with them it stays below 1 %. */
#define PSS_SHARE 0.0075
/* What may be saved up, and what a run begins with. */
#define ALLOWANCE_MOST_NS (200.0 * (double)NSEC_PER_MSEC)
#define ALLOWANCE_FIRST_NS (10.0 * (double)NSEC_PER_MSEC)
/* A single reading that would hold the job's memory map longer than this is not begun. */
#define STALL_MOST_NS (10.0 * (double)NSEC_PER_MSEC)
/* A process that was never read is read only below this size: its cost is not known. */
#define FIRST_READING_MOST_BYTES (256 * INT64_C(1048576))
/* Before the first reading: measured on 4 KiB pages, 11-14 ms per GiB. */
#define FIRST_COST_NS(bytes) (20e3 + (double)(bytes) / 1073741824 * 13e6)

static int64_t resident_bytes(const struct process_tree *tree, const struct member *member)
{
	return member->resident_pages * tree->root->page_bytes;
}

/* Whoever has the memory of its parent counts once that has gone, which it does not notice itself. */
static bool is_counted_with_parent(const struct process_tree *tree, const struct member *member)
{
	const struct member *parent =
		member->shares_memory ? process_tree_find(tree, member->parent_pid) : NULL;

	return parent && !parent->is_zombie;
}

static bool has_memory(const struct process_tree *tree, const struct member *member)
{
	return !member->is_zombie && member->resident_pages > 0 && !is_counted_with_parent(tree, member);
}

static double predicted_ns(const struct process_tree *tree, const struct member *member)
{
	if (member->pss_cost_ns < 0)
		return FIRST_COST_NS(resident_bytes(tree, member));
	if (member->pss_resident_pages <= 0)
		return (double)member->pss_cost_ns;
	return (double)member->pss_cost_ns * (double)member->resident_pages /
	       (double)member->pss_resident_pages;
}

/* What a pass over all members will cost; a reason when one of them must not be read. */
static int plan_pass(const struct process_tree *tree, enum pss_mode mode, double *ret_cost_ns)
{
	double cost_ns = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];
		double one_ns = predicted_ns(tree, member);

		if (!has_memory(tree, member))
			continue;
		if (mode == PSS_MODE_AUTO &&
		    (one_ns > STALL_MOST_NS ||
		     (member->pss_cost_ns < 0 && resident_bytes(tree, member) > FIRST_READING_MOST_BYTES)))
			return ABSENT_PSS_TOO_COSTLY;
		cost_ns += one_ns;
	}
	*ret_cost_ns = cost_ns;
	return 0;
}

static int64_t or_zero(int64_t kib)
{
	return kib < 0 ? 0 : kib;
}

/* 0, or why the member could not be read. */
static int read_member(struct process_tree *tree, struct member *member)
{
	struct proc_pid_smaps_rollup rollup;
	int64_t begun_ns = root_monotonic_ns(tree->root);
	int error = read_proc_pid_smaps_rollup(tree->root, member_memory_id(tree, member), &rollup);

	if (error < 0)
		return error;
	if (rollup.pss_kib < 0)
		return -ENODATA;
	member->pss_cost_ns = root_monotonic_ns(tree->root) - begun_ns;
	member->pss_resident_pages = member->resident_pages;
	member->pss_kib = rollup.pss_kib;
	member->private_kib = or_zero(rollup.private_clean_kib) + or_zero(rollup.private_dirty_kib);
	member->shared_kib = or_zero(rollup.shared_clean_kib) + or_zero(rollup.shared_dirty_kib);
	member->swap_kib = rollup.swap_pss_kib >= 0 ? rollup.swap_pss_kib : or_zero(rollup.swap_kib);
	return 0;
}

/* Reads every member. 0 when the pass is complete: sums are over those who may be read, the root among them. */
static int make_pass(struct process_memory *memory, struct process_tree *tree)
{
	struct process_memory sums = {.main_private_kib = -1};
	bool any_read = false;

	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		int error;

		if (!has_memory(tree, member))
			continue;
		error = read_member(tree, member);
		if (error == -ESRCH)
			continue; /* it has ended since: its memory is gone */
		if (error == -ENOENT && tree->root->live && i > 0)
			continue;
		if (error < 0 && (member->pid == tree->root_pid || (error != -EACCES && error != -EPERM)))
			return error;
		if (error < 0) {
			member->unreadable = true;
			continue;
		}
		any_read = true;
		sums.pss_kib += member->pss_kib;
		sums.private_kib += member->private_kib;
		if (member->pid == tree->root_pid)
			sums.main_private_kib = member->private_kib;
		sums.shared_kib += member->shared_kib;
		sums.swap_kib += member->swap_kib;
	}
	/* All have ended since the pass began: that is no tree of size 0. */
	if (!any_read)
		return -ESRCH;
	memory->pss_kib = sums.pss_kib;
	memory->private_kib = sums.private_kib;
	memory->main_private_kib = sums.main_private_kib;
	memory->shared_kib = sums.shared_kib;
	memory->swap_kib = sums.swap_kib;
	return 0;
}

static void earn_allowance(struct process_memory *memory, int64_t now_ns)
{
	if (!memory->last_ns)
		memory->allowance_ns = ALLOWANCE_FIRST_NS;
	else
		memory->allowance_ns += PSS_SHARE * (double)(now_ns - memory->last_ns);
	if (memory->allowance_ns > ALLOWANCE_MOST_NS)
		memory->allowance_ns = ALLOWANCE_MOST_NS;
	memory->last_ns = now_ns;
}

static void read_if_due(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	double cost_ns = 0;
	int reason;

	earn_allowance(memory, now_ns);
	if (mode == PSS_MODE_OFF) {
		memory->pass_reason = ABSENT_PSS_OFF;
		return;
	}
	if (mode == PSS_MODE_AUTO && !memory->pass_reason && memory->pass_ns > tree->changed_ns)
		return;
	reason = plan_pass(tree, mode, &cost_ns);
	if (!reason && mode == PSS_MODE_AUTO && cost_ns > memory->allowance_ns)
		reason = ABSENT_PSS_TOO_COSTLY;
	if (!reason) {
		reason = make_pass(memory, tree);
		memory->allowance_ns -= (double)(root_monotonic_ns(tree->root) - now_ns);
	}
	memory->pass_reason = reason;
	if (!reason)
		memory->pass_ns = now_ns;
}

/* The resident set of a member in the proportion that its last full reading found. */
static double scaled_kib(const struct process_tree *tree, const struct member *member)
{
	double resident_kib = (double)resident_bytes(tree, member) / 1024;

	if (member->pss_resident_pages <= 0)
		return resident_kib;
	return resident_kib * (double)member->pss_kib /
	       ((double)(member->pss_resident_pages * tree->root->page_bytes) / 1024);
}

/* A process that has since grown to another size shares in another proportion. */
static bool knows_share(const struct member *member)
{
	return member->pss_kib >= 0 && member->resident_pages <= 2 * member->pss_resident_pages;
}

static void estimate(const struct process_tree *tree, struct tree_memory *memory)
{
	int64_t private_bytes = 0, most_shared_bytes = 0;
	double scaled = 0;
	bool all_known = true;

	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];
		int64_t shared_bytes = member->shared_pages * tree->root->page_bytes;

		if (!has_memory(tree, member))
			continue;
		memory->rss_bytes += resident_bytes(tree, member);
		private_bytes += resident_bytes(tree, member) - shared_bytes;
		if (shared_bytes > most_shared_bytes)
			most_shared_bytes = shared_bytes;
		all_known &= knows_share(member);
		scaled += knows_share(member) ? scaled_kib(tree, member)
					      : (double)(resident_bytes(tree, member) - shared_bytes) / 1024;
	}
	/* Never read: file pages, mostly the same libraries and data, are taken to be shared by all. */
	memory->best_bytes = all_known ? (int64_t)(scaled * 1024) : private_bytes + most_shared_bytes;
	memory->best_source = all_known ? MEMORY_ESTIMATE : MEMORY_RSS;
}

/*
 * A cgroup that holds only the tree counts each page once, wherever it is mapped. Of its files only those in memory
 * (shmem) are the job's; the rest of its page cache is the kernel's to take back.
 */
static void estimate_by_cgroup(const struct process_tree *tree, struct tree_memory *memory)
{
	struct cgroup_v2_memory_stat stat;

	if (!tree->cgroup_has_memory || !tree->with_children ||
	    read_cgroup_v2_memory_stat(tree->root, tree->cgroup_folder, &stat) < 0 || stat.anon_bytes < 0)
		return;
	memory->best_bytes = stat.anon_bytes + (stat.shmem_bytes > 0 ? stat.shmem_bytes : 0);
	if (cgroup_v2_kernel_bytes(&stat) > 0)
		memory->best_bytes += cgroup_v2_kernel_bytes(&stat);
	memory->best_source = MEMORY_CGROUP;
}

static int why_no_memory(const struct process_tree *tree)
{
	const struct member *root = process_tree_root(tree);

	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].is_zombie)
			return root && root->unreadable && !root->resident_pages && !root->is_zombie ? EACCES
												     : 0;
	return ABSENT_ZOMBIE;
}

void process_memory_measure(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
			    struct tree_memory *ret_memory)
{
	int64_t now_ns = root_monotonic_ns(tree->root);

	*ret_memory = (struct tree_memory){.reason = why_no_memory(tree)};
	if (ret_memory->reason) {
		ret_memory->pss_reason = ret_memory->reason;
		return;
	}
	read_if_due(memory, tree, mode);
	estimate(tree, ret_memory);
	ret_memory->pss_reason = memory->pass_ns ? 0 : memory->pass_reason;
	ret_memory->pss_kib = memory->pss_kib;
	ret_memory->private_kib = memory->private_kib;
	ret_memory->main_private_kib = memory->main_private_kib;
	ret_memory->shared_kib = memory->shared_kib;
	ret_memory->swap_kib = memory->swap_kib;
	if (memory->pass_ns && memory->pass_ns < now_ns)
		ret_memory->pss_age_ns = now_ns - memory->pass_ns;
	if (!memory->pass_reason) {
		ret_memory->best_bytes = memory->pss_kib * 1024;
		ret_memory->best_source = MEMORY_PSS;
	} else {
		estimate_by_cgroup(tree, ret_memory);
	}
}
