/* A workflow of steps that a test makes by hand. */
#pragma once

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource_tracker_internal.h"
#include "workflow/flow.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

/* A step on one core of the only host, which tells neither its needs nor a request. */
static inline struct flow_step made_step(const char *rule, double start, double secs)
{
	return (struct flow_step){.rule = rule,
				  .task = "",
				  .host = "node",
				  .outcome = "ok",
				  .started = start,
				  .ended = start + secs,
				  .wall_secs = secs,
				  .cpu_secs = 0,
				  .cores_mean = 1,
				  .cores_max = 1,
				  .cores_asked = NAN,
				  .cores_limit = 4,
				  .memory_peak_mib = 100,
				  .memory_asked_mib = NAN,
				  .memory_limit_mib = 1024,
				  .gpu_mean = NAN,
				  .gpu_held_idle_hours = NAN,
				  .attempt = 1,
				  .is_last = true};
}

static inline struct flow_step step_that_needs(const char *needs, const char *rule, double start, double secs)
{
	struct flow_step step = made_step(rule, start, secs);

	step.needs = needs;
	return step;
}

/* Computes the workflow of these steps, which stand in the order of their starts. rt_workflow_free() follows. */
static inline struct rt_workflow *made_flow(const struct flow_step *steps, size_t count)
{
	struct rt_workflow *flow = calloc(1, sizeof(*flow));

	assert_non_null(flow);
	flow->steps.list = calloc(count, sizeof(*steps));
	assert_non_null(flow->steps.list);
	memcpy(flow->steps.list, steps, count * sizeof(*steps));
	flow->steps.count = count;
	assert_int_equal(flow_compute(flow), 0);
	flow_estimate(flow);
	return flow;
}

#define MADE_FLOW(...) \
	made_flow((struct flow_step[]){__VA_ARGS__}, \
		  sizeof((struct flow_step[]){__VA_ARGS__}) / sizeof(struct flow_step))
