/* How a run ended: the reason, the peaks, the kernel's own totals. */
#pragma once

#include "collect/collector.h"
#include "collect/oom_watch.h"

/* The largest memory of the tree, and when it was seen. */
struct tree_peak {
	double mib; /* absent: unknown */
	const char *source;
	double elapsed_secs;
};

/* What is followed during the run and told at its end. */
struct run_end_state {
	struct tree_peak peak;     /* of the samples that were measured */
	struct tree_peak by_bound; /* of samples since the last one that was measured */
	double largest_mib; /* the kernel's high-water mark of any one process, while it lived; 0: not known */
	double largest_elapsed_secs;
	double cgroup_peak_mib;
	double cgroup_peak_before_mib; /* of the same group, when we first saw it */
	uint64_t memory_cgroup;        /* which group that is */
	struct oom_watch oom;
};

void run_end_open(struct run_end_state *state);
void run_end_close(struct run_end_state *state);
/* Early in the run. */
void run_end_prepare(struct run_end_state *state, struct root *root);

/* The peak of the tree so far: of bounds only while no later sample was measured. */
const struct tree_peak *run_end_peak(const struct run_end_state *state);

/* Every frame but the baseline, after the collectors of the tree and of the cgroup. */
void run_end_follow(struct run_end_state *state, const struct collect_context *context,
		    const struct frame *frame);
/* The baseline. */
void run_end_baseline(struct run_end_state *state, const struct collect_context *context,
		      const struct frame *frame);

/* Adds the end record. */
void run_end_fill(struct run_end_state *state, struct collect_context *context, struct frame *frame);
