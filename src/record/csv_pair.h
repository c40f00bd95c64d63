/*
 * Two CSV files side by side, as the Python trackers write them: one of the machine and one of the process. Samples
 * less than an interval apart are one; one that has no partner stands alone, so that nothing is lost.
 */
#pragma once

#include "record/record_file.h"

struct csv_pair {
	struct record_file *machine; /* NULL: files are not paired */
	struct record_file *process;
	double within_secs;
	struct frame machine_ahead, process_ahead;
	bool has_machine, has_process; /* a sample was read ahead */
};

/* Whether the files are such a pair; then both belong to it for as long as it is used. */
bool csv_pair_begin(struct csv_pair *ret_pair, struct record_file *first, struct record_file *second);
void csv_pair_done(struct csv_pair *pair);

/* The next sample: 1, 0 at the end of both, negative errno. */
int csv_pair_next(struct csv_pair *pair, struct frame *frame);
