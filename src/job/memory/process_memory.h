/*
 * The memory that a tree really takes, at every tick, whatever its members share.
 *
 *   anonymous memory    by families of forks (memory_family.h): exact for a process without forks, else sampled
 *   pages of files      once for all members that map them
 *   shared memory       once for each (device, inode), with pages in no page table (memory_objects.h)
 *   huge pages          of hugetlbfs, which are in no resident set
 *
 * Readings must not disturb the job: each holds a process for less than a millisecond (3.5 ms in memory_correct.h). Together they
 * take at most 0.05 % of the time for one process, 0.1 % per member of a tree, and 0.6 % in total, except where new members begin. The
 * members that changed most are read first. The error includes changes of the others. Between readings,
 * /proc/PID/statm keeps the figures up to date.
 */
#pragma once

#include "job/memory/memory_state.h"

void process_memory_open(struct process_memory *memory, struct root *root);
void process_memory_close(struct process_memory *memory);

/* Takes the readings that are due and reports the figures. Call after the tree was touched in this tick. */
void process_memory_measure(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
			    struct tree_memory *ret_memory);

/*
 * Sets the `share` of all members: each has its own pages, an equal part of those that its family shares, and of files and shared
 * memory a part by what it maps or holds. They add up to `total_kib`. Call after process_memory_measure().
 */
void process_memory_divide(struct process_memory *memory, struct process_tree *tree, double total_kib);
