/* How a run ended: the reason, the peaks, and the kernel's own totals. */
#pragma once

#include "base/runs_once.h"
#include "collect/collector.h"
#include "collect/oom_watch.h"

/* The largest memory of the tree, and when it was seen. */
struct tree_peak {
	double mib; /* absent: unknown */
	const char *source;
	double elapsed_secs;
	double rss_mib; /* sum of all resident sets at that time */
};

/* State that is followed during the run and reported at its end. */
struct run_end_state {
	struct tree_peak peak;     /* over measured samples */
	struct tree_peak by_bound; /* over samples that no measured one has refuted */
	double largest_mib;        /* largest high-water mark of any live process, 0 if unknown */
	double largest_elapsed_secs;
	double cgroup_peak_mib;
	double cgroup_peak_before_mib; /* of the same cgroup, when first seen */
	uint64_t memory_cgroup;        /* identifies that cgroup */
	struct oom_watch oom;
	int64_t failed_forks; /* that the job's groups had counted before; -1: unknown */
};

void run_end_open(struct run_end_state *state);
void run_end_close(struct run_end_state *state);
/* Call early in the run. */
void run_end_prepare(struct run_end_state *state, struct root *root);

/* The peak of the tree so far. A bound counts only until a later sample was measured with as much in resident sets. */
const struct tree_peak *run_end_peak(const struct run_end_state *state);

/* Call for every frame except the baseline, after the collectors of the tree and the cgroup. */
void run_end_follow(struct run_end_state *state, const struct collect_context *context,
		    const struct frame *frame);
/* Call for the baseline. */
void run_end_baseline(struct run_end_state *state, const struct collect_context *context,
		      const struct frame *frame);

/* Adds the end record. */
RUNS_ONCE void run_end_fill(struct run_end_state *state, struct collect_context *context,
			    struct frame *frame);
