/*
 * Counts processes.
 *
 * The link count of /proc is a constant plus the number of processes, so one fstat(2) replaces a readdir of
 * thousands of entries. In a PID namespace the link count includes the host's processes. There, and in a
 * captured tree, the entries are read, but so rarely that it takes at most 1 % of the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/root.h"

struct process_counter {
	bool calibrated;
	bool by_links;
	int64_t links_of_others; /* of entries other than processes */
	int64_t count;           /* at the last reading of the entries, -1 for none */
	int64_t next_reading_ns;
};

void process_counter_open(struct process_counter *counter);

/* Returns the number of processes, or an absent count with its reason. */
int64_t process_counter_read(struct process_counter *counter, struct root *root);
