/*
 * A workflow from its steps: which of them its length depended on, how many ran at once, and how much of the request stood idle.
 *
 * The step before another is the one that ended last before it began, on any host: with data it is the last input that became
 * ready, and without a free slot the step that left one. Where a step tells what it needs, and there was room for it as that was
 * done, it is the last one of those, whatever else ended meanwhile. The critical path goes back from the last end, from each step
 * to the one before it.
 */
#pragma once

#include "base/screen.h"
#include "workflow/steps.h"

enum { FLOW_NONE = -1, FLOW_ESTIMATES_MOST = 4, FLOW_WORDS = 400 };

/* The place of a step among the others, in the order of `steps`. */
struct flow_place {
	long before;                   /* index of the step before it. FLOW_NONE: it waited for none */
	size_t first_need, need_count; /* the steps that it needs: their places in `needs` of the workflow */
	bool had_room;   /* as soon as those were done. false: it waited for a slot, or they are unknown */
	double gap_secs; /* from the end of that step, or from the beginning of the workflow */
	double slack_secs; /* so much later it could have ended without a later end of the workflow: at least this */
	size_t lane; /* of its host, from 0: one after the other on one slot */
	bool on_path;
	double *course; /* its mean cores, and then its largest memory, in each of `course_parts` equal parts of its time. NULL: not read */
	size_t course_parts;
};

struct flow_host {
	const char *name;
	size_t lanes;                   /* steps at once */
	double cores, memory_mib;       /* available. NaN: unknown */
	double cores_most, memory_most; /* in use at once: the sum of means, and of peaks */
};

/* Sums over the steps of one rule. Those of the request are of the steps that tell one (NaN: none does). */
struct flow_rule {
	const char *name;
	size_t steps, failed, repeated, on_path;
	double wall_secs, path_secs, cpu_secs, longest_secs, memory_peak_mib;
	double cores_asked, memory_asked_mib; /* the most of a step */
	double asked_core_secs, idle_core_secs, asked_gib_hours, idle_gib_hours;
};

/* A figure over the ranks of a program. NaN: that of one rank is unknown. */
struct flow_spread {
	double least, median, most;
	long step; /* the one with the most */
};

/* The ranks of one program that ran at once: steps of one rule and task, whose ranks differ. */
struct flow_ranks {
	const char *rule, *task;
	size_t count;
	struct flow_spread wall_secs, cpu_secs, memory_mib;
	struct flow_spread gpu_mean, gpu_held_idle_secs; /* unknown as well without GPUs */
	long straggler;                                  /* index of the step. FLOW_NONE: none stands out */
	bool by_cpu;                                     /* it ended with the others, and computed longer */
	double over;                                     /* its part over the median */
};

/* How long the workflow would have taken, with the assumption. */
struct flow_estimate {
	char what[FLOW_WORDS], assumption[FLOW_WORDS];
	double wall_secs;
};

struct rt_workflow {
	struct steps steps;
	struct flow_place *places;
	size_t *needs; /* of all steps, one after the other: indices of steps before them */
	size_t needs_count;
	double turnover_secs; /* an engine starts a step within this time */
	double cores_given;   /* by the engine: the most that steps at once had asked for */
	size_t *path;         /* indices, the first step first */
	size_t path_count;
	double path_secs; /* inside the steps of the path. The rest of wall_secs lies between them */
	double began, ended, wall_secs, cpu_secs;
	size_t failed, repeated, slots;
	struct flow_host *hosts;
	size_t host_count;
	struct flow_rule *rules; /* those with most time on the path first, and then by time */
	size_t rule_count;
	struct flow_ranks *ranks; /* by name, and then by start */
	size_t ranks_count;
	struct flow_estimate estimates[FLOW_ESTIMATES_MOST];
	size_t estimate_count;
};

/* Computes all that follows from the steps, of which there is one at least. Returns 0 or -ENOMEM. */
int flow_compute(struct rt_workflow *flow);

/* flow_needs.c: finds the steps that each step needs. -ENOMEM */
int flow_find_needs(struct rt_workflow *flow);
/* flow_needs.c: whether it is known what a step needs. It is not if all the names that it tells are of others than steps. */
bool flow_tells_needs(const struct rt_workflow *flow, size_t index);
/* flow_needs.c: the one that ended last of the steps that a step needs. FLOW_NONE: it needs none, or that is unknown */
long flow_last_need(const struct rt_workflow *flow, size_t index);
/* flow_needs.c: the moment at which all was done that a step needs. NaN: unknown */
double flow_needs_done(const struct rt_workflow *flow, size_t index);
/* flow_needs.c: corrects the step before each, where it is known what that one waited for. */
void flow_wait_for_needs(struct rt_workflow *flow);
/* flow_needs.c: the part of the engine's cores that a step took: as many as it asked for, or a slot. */
double flow_cores_taken(const struct flow_step *step);
/* flow_ranks.c: finds the ranks of parallel programs. -ENOMEM */
int flow_find_ranks(struct rt_workflow *flow);
/* flow_estimate.c: fills in the estimates. Without memory there are fewer. */
void flow_estimate(struct rt_workflow *flow);
/* flow.c: the last step that ended before a moment, of those that began before step `index`. `by_end`: all steps in that order. */
long flow_step_before(const struct steps *steps, const size_t *by_end, size_t index, double moment);
/* Makes the list of all steps in the order of their ends. NULL without memory. */
size_t *flow_by_end(const struct steps *steps);

/* "align (sample=3)", or the rule alone. */
void flow_add_step_name(struct buffer *out, const struct flow_step *step);
void flow_add_text(struct buffer *out, const struct rt_workflow *flow, const struct screen *screen);
/* One object, which docs/WORKFLOWS.md describes. */
void flow_add_json(struct buffer *out, const struct rt_workflow *flow);
