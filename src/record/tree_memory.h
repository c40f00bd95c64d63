/*
 * What the memory of a sample is worth: sources of the catalogue by the way they count, and what recordings of older and
 * of other recorders need before they can be used.
 */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"

/* Figures of different measures cannot be compared. */
enum memory_measure {
	MEASURE_UNKNOWN,
	MEASURE_ONCE,         /* a page counts once, however many processes map it: pss, sampled, cgroup */
	MEASURE_BOUND,        /* at least as much as that */
	MEASURE_EACH_PROCESS, /* rss: a page counts in each process */
	MEASURE_MACHINE,
};

/* Of a process_memory_source or memory_peak_source; absent: unknown. */
enum memory_measure memory_measure(const char *source);
const char *memory_measure_in_words(enum memory_measure measure);
/* What a peak of this source is, as a clause. */
const char *memory_source_in_words(const char *source);

/*
 * Makes old proportional sets absent. A recording of the Rust CLI, which has no other memory of the job, gets its
 * proportional set as process_memory_mib. `tracker`: NULL if the sample has none.
 */
void complete_tree_memory(struct tree_row *tree, const struct tracker_row *tracker);
/* What complete_tree_memory() needs, where memory is wanted. */
void want_tree_memory(struct metric_set *wanted);
