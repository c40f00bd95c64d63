/*
 * The memory of one member: its resident set of this tick, its page faults, and its last reading.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/min_max.h"
#include "job/memory/memory_reading.h"
#include "job/tree/process_tree.h"

static inline int64_t memory_pages_to_kib(const struct process_tree *tree, int64_t pages)
{
	return pages * tree->root->page_bytes >> 10;
}

/* The id whose files show the memory of a member: another thread's if the main thread has exited (pthread_exit). */
pid_t memory_id_of(const struct process_tree *tree, const struct member *member);

/* Whether a member's memory counts: it is not a zombie, and its address space is not counted with its parent. */
bool memory_is_counted(const struct process_tree *tree, const struct member *member);

/*
 * Whether a member may own transparent huge pages, which take one fault for many pages: it has more than it has faulted in, or has
 * freed memory that it got from its parent, so that its faults prove nothing. A process that writes while it is read is larger by then
 * than its faults tell, so the size of their moment counts.
 */
bool member_may_have_huge_pages(const struct member *member);

static inline int64_t member_anon_pages(const struct member *member)
{
	return max_i64(0, member->memory.resident_pages - member->memory.shared_pages);
}

int64_t member_anon_kib(const struct process_tree *tree, const struct member *member);
int64_t member_shared_kib(const struct process_tree *tree, const struct member *member);

/* The most memory that a member can have of its own, from its page faults since it was forked. */
int64_t member_bound_kib(const struct process_tree *tree, const struct member *member);

/* Whether a member has a reading that is not older than ten seconds. */
bool member_has_reading(const struct member *member, int64_t now_ns);

/* Memory that it had from its parent when it was forked. The parent may have grown between its own reading and the fork. */
int64_t member_inherited_kib(const struct process_tree *tree, const struct member *member);

/* Page faults of a member since a reading that did not make it larger: it replaced pages, or freed and took them again. */
int64_t member_faulted_kib(const struct process_tree *tree, const struct member *member,
			   const struct memory_reading *reading);

/* The id whose files show the memory of a member: another thread's if the main thread has exited (pthread_exit). */
pid_t memory_id_of(const struct process_tree *tree, const struct member *member);

/*
 * Pages that a member had taken before its forks, and that only they shared, are its own once all of them have exited or freed
 * them. Five processes with such pages would otherwise count as one, because they have them at the same addresses.
 */
int64_t member_left_by_forks_kib(const struct process_tree *tree, const struct member *member);
