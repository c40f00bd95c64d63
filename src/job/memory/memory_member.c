/* The memory of one member. See memory_member.h. */
#include "job/memory/memory_member.h"

#include "base/clock.h"
#include "base/min_max.h"
#include "job/memory/memory_tuning.h"
#include "job/tree/process_files.h"

pid_t memory_id_of(const struct process_tree *tree, const struct member *member)
{
	bool leader_ended = member->state == 'Z' && member->thread_count > 1;
	pid_t threads[2];
	size_t count = leader_ended ? process_list_threads(tree->root, member->pid, threads, 2) : 0;

	for (size_t i = 0; i < count; i++)
		if (threads[i] != member->pid)
			return threads[i];
	return member->pid;
}

/* A process that shares the address space of another (vfork) is counted only after that has exited. */
bool memory_is_counted(const struct process_tree *tree, const struct member *member)
{
	const struct member *other;

	if (member->is_zombie || member->memory.resident_pages <= 0)
		return false;
	other = member->memory.shared_with ? process_tree_find(tree, member->memory.shared_with) : NULL;
	return !other || other->is_zombie || other->memory.is_being_freed;
}

bool member_may_have_huge_pages(const struct member *member)
{
	int64_t anon_pages = member->memory.anon_at_faults;

	if (member->is_ending || (member->memory.is_forked && !member->memory.inherited_pages))
		return false;
	return anon_pages > member->memory.inherited_pages + member->memory.faults + SMALL_PAGES ||
	       anon_pages < member->memory.inherited_pages - member->memory.inherited_pages / 4 - SMALL_PAGES;
}

int64_t member_anon_kib(const struct process_tree *tree, const struct member *member)
{
	return memory_pages_to_kib(tree, member_anon_pages(member));
}

int64_t member_shared_kib(const struct process_tree *tree, const struct member *member)
{
	return memory_pages_to_kib(tree, member->memory.shared_pages);
}

/*
 * If the parent writes to a common page first, its forks together keep the original: each of them counts a part of the
 * parent's faults.
 */
static int64_t faults_since_fork(const struct process_tree *tree, const struct member *member)
{
	const struct member *parent = process_tree_find(tree, member->parent_pid);
	int64_t faults = member->memory.faults;

	if (parent && parent->memory.family == member->memory.family &&
	    parent->memory.faults > member->memory.parent_faults)
		faults += (parent->memory.faults - member->memory.parent_faults) /
			  (parent->memory.fork_count > 1 ? (int64_t)parent->memory.fork_count : 1);
	return faults;
}

/* The parent may have grown between its last reading and the fork, and may run another program by now. */
int64_t member_inherited_kib(const struct process_tree *tree, const struct member *member)
{
	return max_i64(memory_pages_to_kib(tree, member->memory.inherited_pages),
		       memory_pages_to_kib(tree, member->memory.inherited_least) - tree->memory.huge_kib);
}

int64_t member_bound_kib(const struct process_tree *tree, const struct member *member)
{
	int64_t anon_kib = member_anon_kib(tree, member), own_kib;

	if (!member->memory.is_forked || member_inherited_kib(tree, member) <= 0)
		return anon_kib;
	own_kib = max_i64(anon_kib - member_inherited_kib(tree, member),
			  memory_pages_to_kib(tree, faults_since_fork(tree, member)));
	return min_i64(anon_kib, own_kib);
}

bool member_has_reading(const struct member *member, int64_t now_ns)
{
	return member->memory.reading && now_ns - member->memory.reading->taken_ns <= READING_AGE_NS;
}

int64_t member_faulted_kib(const struct process_tree *tree, const struct member *member,
			   const struct memory_reading *reading)
{
	int64_t grown_kib = max_i64(0, member_anon_kib(tree, member) - reading->statm_anon_kib);

	return max_i64(0, memory_pages_to_kib(tree, member->memory.faults - reading->faults) - grown_kib);
}

int64_t member_left_by_forks_kib(const struct process_tree *tree, const struct member *member)
{
	int64_t anon_kib = member_anon_kib(tree, member), own_kib = anon_kib;
	int64_t left_kib = max_i64(0, member->memory.reading->forks_anon_kib - member->memory.forks_anon_kib);

	if (member->memory.is_forked)
		own_kib = max_i64(memory_pages_to_kib(tree, member->memory.faults),
				  anon_kib - member_inherited_kib(tree, member));
	return min_i64(min_i64(own_kib, left_kib), member->memory.reading->common_kib);
}
