/*
 * The most that a tree may have held between two samples.
 *
 * The kernel keeps the largest resident set of each process (VmHWM, ru_maxrss), but not when the process had it, nor what the
 * rest of the tree held at that moment: other processes, and memory that is in no resident set, such as a memfd. Example:
 *
 *   second          1     2     3   end
 *   memfd, MiB    150   150   150
 *   process, MiB   10    10    10
 *   its VmHWM     160   160   160   ru_maxrss 160
 *
 * Every sample shows 160 MiB. The process was larger before second 1, when the memfd may have been there: 150 + 160 = 310
 * MiB. If a mark is first seen when its process was reaped, the moment is unknown: then it counts beside the most that
 * anything else held in an interval in which a process exited. wait4(2) includes the marks of the children that the process
 * waited for. If it had none, the mark is its own, and counts beside the most that the others held while it lived.
 *
 * wait4(2) tells the mark of the largest process alone. A smaller process that exited between two samples has left its page
 * faults, which the kernel adds to its parent's. Example: the parent holds 150 MiB, and one child took 120 MiB and exited. The largest
 * mark is the parent's, but 30,720 faults of 4 KiB belong to no member: 150 + 120 = 270 MiB. That is too low with huge pages, and too
 * high if the child frees and takes memory again. If more than three processes exited, one of them counts with at most three times
 * their mean. Without process events, one may have had all.
 */
#pragma once

#include "job/tree/process_tree.h"

/* Reads the mark of a member, if it may have risen and it is its turn. `first`: in the first reading of the member. */
void memory_between_read_mark(struct process_tree *tree, struct member *member, bool first);

/* Call before a member leaves the table. */
void memory_member_left(struct process_tree *tree, struct member *member);

/* Call before a member leaves the table that the tracker waited for, and that waited for no child. `kib`: its ru_maxrss. */
void memory_between_reaped(struct process_tree *tree, const struct member *member, int64_t kib);

/*
 * Call once in each tick; `now_kib` is the tree's memory, -1: unknown, or only an upper bound. `once_kib` is the most that it can be by
 * readings that count each page once, -1: there are none.
 */
void memory_between_follow(struct process_tree *tree, int64_t now_kib, int64_t once_kib);

/* Call for a job that has just been started, and has hardly any memory yet. */
void memory_between_begin(struct process_tree *tree);

/* Returns how much of the kernel's peak of the largest process was the job's memory, each page counted once. */
static inline int64_t memory_between_once_kib(const struct memory_between *between, int64_t largest_kib)
{
	return largest_kib > between->over_kib ? largest_kib - between->over_kib : 0;
}

/* Returns the most that the tree may have held, where `largest_kib` is the kernel's peak of the largest process. */
int64_t memory_between_most_kib(const struct memory_between *between, int64_t largest_kib);
