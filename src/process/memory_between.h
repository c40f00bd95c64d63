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
 * anything else held in an interval in which a process exited.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_between {
	int64_t before_kib; /* the tree's memory in the tick before; -1: unknown */
	int64_t most_kib;   /* with marks that were seen to rise; 0: none */
	int64_t beside_kib; /* beside a process that exited with an unseen mark */
	int64_t seen_kib;   /* largest resident set in a tick, or mark that was followed, so far */
	pid_t largest_pid; /* its mark is worth reading: the tree holds more than its resident set; 0: none */
	/* Members that were removed since the last tick, as they were then. */
	int64_t gone_pages, gone_most_pages;
	int64_t unseen_faults; /* page faults that no seen member explains, up to the last tick */
};

struct process_tree;
struct member;

/* Reads the mark of a member, if it may have risen and it is its turn. `first`: in the first reading of the member. */
void memory_between_read_mark(struct process_tree *tree, struct member *member, bool first);

/* Call before a member leaves the table. */
void memory_between_remove(struct memory_between *between, const struct member *member);

/* Call once in each tick; `now_kib` is the tree's memory, -1: unknown, or only an upper bound. */
void memory_between_follow(struct process_tree *tree, int64_t now_kib);

/* Returns the most that the tree may have held, where `largest_kib` is the kernel's peak of the largest process. */
int64_t memory_between_most_kib(const struct memory_between *between, int64_t largest_kib);
