/*
 * TRACKER_DEBUG=members: a line for each member of the job, with its CPU time and memory, where they come from, and why. The
 * figures of all lines of a sample add up to those of the job.
 */
#pragma once

struct process_memory;
struct process_tree;

/* Call after process_memory_divide(). */
void member_lines_say(const struct process_tree *tree, const struct process_memory *memory);
