/*
 * A run as the public library hands it out: its facts, the phases that its job marked, and the verdict on it.
 * The verdict is a function of the facts.
 */
#pragma once

#include "summary/phases.h"
#include "summary/summary.h"
#include "verdict/bottleneck.h"

struct rt_summary {
	struct run_facts facts;
	struct phases phases; /* from the job's marks, in the file beside the recording */
	struct verdict verdict;
};

static inline void cleanup_run_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}
#define CLEANUP_SUMMARY __attribute__((cleanup(cleanup_run_summary)))

int summary_read_watched(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			 rt_summary **ret_summary, struct rt_problem *ret_problem);
