/*
 * Judges the memory figures of a sample: how each source of the catalogue counts, and which figures of older
 * versions and other recorders need repair before use.
 */
#pragma once

#include "metric/frame.h"
#include "metric/metric_set.h"

struct tracker_row;
struct tree_row;

/* Figures with different measures cannot be compared. */
enum memory_measure {
	MEASURE_UNKNOWN,
	MEASURE_ONCE,         /* a page counts once, however many processes map it: pss, sampled, cgroup */
	MEASURE_BOUND,        /* an upper bound: shared pages may count more than once */
	MEASURE_EACH_PROCESS, /* rss: a page counts in each process */
	MEASURE_MACHINE,
};

/* Takes a process_memory_source or memory_peak_source. An absent one is MEASURE_UNKNOWN. */
enum memory_measure memory_measure(const char *source);
const char *memory_measure_in_words(enum memory_measure measure);
/* Returns a clause that describes a peak of this source. */
const char *memory_source_in_words(const char *source);

/*
 * Makes old proportional set sizes absent. The Rust CLI records no other memory of the job, so its
 * proportional set size becomes process_memory_mib. `tracker` is NULL if the sample has none.
 */
void complete_tree_memory(struct tree_row *tree, const struct tracker_row *tracker);
/* If memory is wanted, also wants the metrics that complete_tree_memory() reads. */
void want_tree_memory(struct metric_set *wanted);
