/*
 * Divides the memory of a tree among its members: each has its own pages, an equal part of those that its family shares, and of
 * files and shared memory a part by what it maps. The parts add up to the memory of the tree.
 */
#pragma once

#include "job/memory/process_memory.h"

/* Sets `memory_share` of all members. Call after process_memory_measure(). */
void process_memory_divide(struct process_memory *memory, struct process_tree *tree, double total_kib);
