/*
 * The memory of a tree: resident sets at every tick, proportional sets as often as they cost the job nothing.
 *
 * While /proc/PID/smaps_rollup is read, the kernel holds that process's memory map locked: a page fault or
 * mmap of the job waits. What a reading will take is predicted from that process's last one; in PSS_MODE_AUTO
 * no reading is begun that would take more than 10 ms, and all of them together stay below 1 % of the time. What was
 * read is true until a member runs, comes or goes: a tree that sleeps is read every ten seconds only.
 */
#pragma once

#include "collect/collector.h"

struct process_memory {
	double allowance_ns; /* time that may be spent on readings now */
	int64_t last_ns;     /* when the allowance last grew; 0: never */
	int64_t pass_ns;     /* when the last complete pass was made; 0: never */
	int pass_reason;     /* why there is none */
	int64_t pss_kib;     /* of the last complete pass */
	int64_t private_kib;
	int64_t main_private_kib; /* of the root alone; -1: it had none then */
	int64_t shared_kib;
	int64_t swap_kib;
};

enum memory_source { MEMORY_PSS, MEMORY_ESTIMATE, MEMORY_RSS, MEMORY_CGROUP };

struct tree_memory {
	int reason;        /* why there is no memory at all; 0: there is */
	int64_t rss_bytes; /* shared pages counted by each user */
	int64_t best_bytes;
	enum memory_source best_source;
	int pss_reason; /* why there is no proportional set; 0: there is */
	int64_t pss_kib, private_kib, main_private_kib, shared_kib, swap_kib;
	int64_t pss_age_ns;
};

/* Measures what is due and says what is known. The tree was touched in this tick. */
void process_memory_measure(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
			    struct tree_memory *ret_memory);
