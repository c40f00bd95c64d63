/*
 * Reads two CSV files of the Python trackers side by side: one of the machine and one of the process. Two
 * samples less than an interval apart become one. A sample without a partner stands alone, so that none is
 * lost.
 */
#pragma once

#include "record/record_file.h"

struct csv_pair {
	struct record_file *machine; /* NULL: the files are not a pair */
	struct record_file *process;
	double within_secs;
	struct frame machine_ahead, process_ahead;
	bool has_machine, has_process; /* a sample was read ahead */
};

/* Tells whether the files are such a pair. If so, the pair uses both until csv_pair_done(). */
bool csv_pair_begin(struct csv_pair *ret_pair, struct record_file *first, struct record_file *second);
void csv_pair_done(struct csv_pair *pair);

/* Reads the next sample: 1, 0 at the end of both files, or a negative errno. */
int csv_pair_next(struct csv_pair *pair, struct frame *frame);
