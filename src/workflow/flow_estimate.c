/*
 * How long a workflow would have taken otherwise. See flow.h.
 *
 * More cores for a rule: the CPU time of its steps stays, spreads evenly over the cores, and the time in which they waited stays as well.
 * Each step begins as long after the step before it as it did, and after all that it is known to need.
 *
 * More slots: a step that tells what it needs is ready as soon as that is done. All others: one that began when a slot had been free
 * for longer than the engine needs to fill one was not ready earlier. One that took a slot as it became free may have been ready
 * since the slots were full. It counts as ready since then, so the estimate is a lower bound.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "workflow/flow.h"
#include "workflow/flow_tuning.h"

enum { RULES_ESTIMATED = 3 };

/* The cores that a step had: as asked, else as many as it used at most. */
static double cores_had(const struct flow_step *step)
{
	double used = ceil(step->cores_max - 0.25);

	return fmax(1, isnan(step->cores_asked) ? used : step->cores_asked);
}

static double wall_with(const struct flow_step *step, double cores)
{
	double busy = fmin(step->wall_secs, step->cpu_secs / cores_had(step));

	return isnan(step->cpu_secs) ? step->wall_secs
				     : step->wall_secs - busy + busy * cores_had(step) / cores;
}

/* The moment from which on a step may begin if the one that it needs ends at another moment. */
static double begin_after(const struct flow_step *list, size_t index, size_t need, const double *ends)
{
	return ends[need] + fmin(0, list[index].started - list[need].ended);
}

/*
 * The moment at which a step begins once those before it have ended at other moments. None that it needs may end later, nor the attempt
 * that it repeats.
 */
static double other_begin(const struct rt_workflow *flow, size_t index, double begin, const double *ends)
{
	const struct flow_place *place = &flow->places[index];
	const struct flow_step *list = flow->steps.list;

	for (size_t i = 0; i < place->need_count; i++)
		begin = fmax(begin, begin_after(list, index, flow->needs[place->first_need + i], ends));
	return list[index].attempt > 1
		       ? fmax(begin, begin_after(list, index, list[index].failed_before, ends))
		       : begin;
}

static void estimate_rule(struct rt_workflow *flow, const struct flow_rule *rule, double *ends)
{
	struct flow_estimate *estimate = &flow->estimates[flow->estimate_count];
	double cores = 0, last = 0;

	for (size_t i = 0; i < flow->steps.count; i++)
		if (strcmp(flow->steps.list[i].rule, rule->name) == 0)
			cores = fmax(cores, 2 * cores_had(&flow->steps.list[i]));
	for (size_t i = 0; i < flow->steps.count; i++) {
		const struct flow_step *step = &flow->steps.list[i];
		long before = flow->places[i].before;
		bool has_more = strcmp(step->rule, rule->name) == 0;
		double begin = (before < 0 ? 0 : ends[before]) + flow->places[i].gap_secs;

		ends[i] = other_begin(flow, i, begin, ends) +
			  (has_more ? wall_with(step, cores) : step->wall_secs);
		last = fmax(last, ends[i]);
	}
	/* Less than 1 % is nothing to tell. */
	if (last > 0.99 * flow->wall_secs)
		return;
	snprintf(estimate->what, FLOW_WORDS, "%.*s with %.0f cores", 100, rule->name, cores);
	snprintf(estimate->assumption, FLOW_WORDS,
		 "its CPU time spreads evenly over the cores, and all else keeps its order");
	estimate->wall_secs = last;
	flow->estimate_count++;
}

/* ---- more slots -------------------------------------------------------------------------------------- */

/* The earliest moment at which each step can have been ready: as soon as what it needs was done, if that is known. */
static void find_ready(const struct rt_workflow *flow, const size_t *by_end, double *ready)
{
	double turnover = flow->turnover_secs, lag = turnover / TURNOVER_GAPS;
	const struct flow_step *list = flow->steps.list;
	double free_since = flow->began - 2 * turnover, full_since = flow->began;
	size_t ended = 0;

	for (size_t i = 0; i < flow->steps.count; i++) {
		for (; ended < flow->steps.count &&
		       list[by_end[ended]].ended <= list[i].started + CLOCKS_APART_SECS;
		     ended++)
			if (i - ended == flow->slots)
				free_since = list[by_end[ended]].ended;
		if (list[i].started - free_since > turnover)
			full_since = list[i].started;
		ready[i] = flow_tells_needs(flow, i) ? fmin(list[i].started, flow_needs_done(flow, i) + lag)
						     : full_since;
	}
}

static double replay_slots(const struct rt_workflow *flow, const size_t *by_end, const double *ready,
			   size_t slots, double *ends, double *free_at)
{
	double last = 0;

	for (size_t i = 0; i < flow->steps.count; i++) {
		long before = flow_tells_needs(flow, i) ? flow_last_need(flow, i)
							: flow_step_before(&flow->steps, by_end, i, ready[i]);
		double from = before < 0 ? flow->began : flow->steps.list[before].ended;
		double begin = (before < 0 ? 0 : ends[before]) + ready[i] - from;
		size_t slot = 0;

		for (size_t other = 1; other < slots; other++)
			if (free_at[other] < free_at[slot])
				slot = other;
		ends[i] = fmax(free_at[slot], other_begin(flow, i, begin, ends)) +
			  flow->steps.list[i].wall_secs;
		free_at[slot] = ends[i];
		last = fmax(last, ends[i]);
	}
	return last;
}

static void estimate_slots(struct rt_workflow *flow, double *ends)
{
	struct flow_estimate *estimate = &flow->estimates[flow->estimate_count];
	size_t slots = flow->slots + MORE_SLOTS;
	CLEANUP_FREE size_t *by_end = flow_by_end(&flow->steps);
	CLEANUP_FREE double *ready = calloc(flow->steps.count, sizeof(*ready));
	CLEANUP_FREE double *free_at = calloc(slots, sizeof(*free_at));

	if (!by_end || !ready || !free_at)
		return;
	find_ready(flow, by_end, ready);
	estimate->wall_secs = fmin(flow->wall_secs, replay_slots(flow, by_end, ready, slots, ends, free_at));
	snprintf(estimate->what, FLOW_WORDS, "%zu slots instead of %zu", slots, flow->slots);
	snprintf(estimate->assumption, FLOW_WORDS,
		 flow->needs_count
			 ? "at best: each step starts as soon as the steps that it is known to need are done"
			 : "at best: no recording tells when a step was ready that took a slot as it became "
			   "free");
	flow->estimate_count++;
}

void flow_estimate(struct rt_workflow *flow)
{
	CLEANUP_FREE double *ends = calloc(flow->steps.count, sizeof(*ends));

	for (size_t i = 0; ends && i < flow->rule_count && i < RULES_ESTIMATED; i++)
		if (flow->rules[i].on_path)
			estimate_rule(flow, &flow->rules[i], ends);
	if (ends && flow->steps.count > 1)
		estimate_slots(flow, ends);
}
