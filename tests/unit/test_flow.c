/* A workflow from its steps: graphs whose critical path, slack and lanes are known. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "resource_tracker_internal.h"
#include "workflow/flow.h"

enum { STEPS_MOST = 8 };

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

struct planned {
	const char *rule;
	double start, secs, cores_asked, cpu_secs;
};

/* Computes a workflow of steps on one host, in the order of their starts. */
static struct rt_workflow *plan(const struct planned *plan, size_t count)
{
	struct rt_workflow *flow = calloc(1, sizeof(*flow));

	assert_non_null(flow);
	flow->steps.list = calloc(count, sizeof(*flow->steps.list));
	assert_non_null(flow->steps.list);
	for (size_t i = 0; i < count; i++)
		flow->steps.list[i] = (struct flow_step){.rule = plan[i].rule,
							 .task = "",
							 .host = "node",
							 .outcome = "ok",
							 .started = 1000 + plan[i].start,
							 .ended = 1000 + plan[i].start + plan[i].secs,
							 .wall_secs = plan[i].secs,
							 .cpu_secs = plan[i].cpu_secs,
							 .cores_asked = plan[i].cores_asked,
							 .cores_mean = 1,
							 .cores_max = 1,
							 .cores_limit = 4,
							 .memory_limit_mib = 1024,
							 .memory_peak_mib = 100,
							 .memory_asked_mib = NAN,
							 .attempt = 1,
							 .is_last = true};
	flow->steps.count = count;
	assert_int_equal(flow_compute(flow), 0);
	flow_estimate(flow);
	return flow;
}

static void assert_path(const struct rt_workflow *flow, const char *expected)
{
	char path[STEPS_MOST + 1] = "";

	for (size_t i = 0; i < flow->path_count; i++)
		strncat(path, flow->steps.list[flow->path[i]].rule, 1);
	assert_string_equal(path, expected);
}

static void a_diamond_has_the_longer_side_on_its_path_and_slack_on_the_other(void **state)
{
	struct rt_workflow *flow = plan((struct planned[]){{"a", 0, 10, 0, 0},
							   {"b", 10.01, 5, 0, 0},
							   {"c", 10.01, 8, 0, 0},
							   {"d", 18.02, 2, 0, 0}},
					4);

	(void)state;
	assert_path(flow, "acd");
	assert_near(flow->wall_secs, 20.02, 1e-9);
	assert_near(flow->path_secs, 20, 1e-9);
	assert_near(flow->places[1].slack_secs, 3.01, 1e-6);
	assert_near(flow->places[2].slack_secs, 0, 1e-9);
	assert_int_equal(flow->hosts[0].lanes, 2);
	assert_int_equal(flow->slots, 2);
	assert_near(flow->hosts[0].cores_most, 2, 1e-9);
	assert_near(flow->hosts[0].memory_most, 200, 1e-9);
	rt_workflow_free(flow);
}

static void an_overlap_of_two_clocks_hides_no_step_before(void **state)
{
	struct rt_workflow *flow = plan((struct planned[]){{"a", 0, 10, 0, 0}, {"b", 9.99, 5, 0, 0}}, 2);

	(void)state;
	assert_path(flow, "ab");
	assert_int_equal(flow->hosts[0].lanes, 1);
	rt_workflow_free(flow);
	flow = plan((struct planned[]){{"a", 0, 10, 0, 0}, {"b", 9.9, 5, 0, 0}}, 2);
	assert_path(flow, "b");
	assert_int_equal(flow->hosts[0].lanes, 2);
	rt_workflow_free(flow);
}

static void a_step_of_no_length_is_its_own_predecessor_never(void **state)
{
	struct rt_workflow *flow =
		plan((struct planned[]){{"a", 0, 0, 0, 0}, {"b", 0, 0, 0, 0}, {"c", 0, 0, 0, 0}}, 3);

	(void)state;
	assert_path(flow, "abc");
	assert_near(flow->wall_secs, 0, 0);
	rt_workflow_free(flow);
}

static void a_rule_has_its_request_and_the_idle_part(void **state)
{
	struct rt_workflow *flow = plan((struct planned[]){{"a", 0, 10, 4, 10}, {"a", 0, 10, NAN, 10}}, 2);

	(void)state;
	assert_int_equal(flow->rule_count, 1);
	assert_near(flow->rules[0].asked_core_secs, 40, 1e-9);
	assert_near(flow->rules[0].idle_core_secs, 30, 1e-9);
	assert_true(isnan(flow->rules[0].asked_gib_hours));
	rt_workflow_free(flow);
}

static const struct flow_estimate *find_estimate(const struct rt_workflow *flow, const char *what)
{
	for (size_t i = 0; i < flow->estimate_count; i++)
		if (strcmp(flow->estimates[i].what, what) == 0)
			return &flow->estimates[i];
	return NULL;
}

/* Five steps of 10 s by two slots, and one after all of them: with six slots all run at once. */
static void more_slots_shorten_only_the_steps_that_waited_for_one(void **state)
{
	struct rt_workflow *flow = plan((struct planned[]){{"a", 0, 10, 0, 0},
							   {"b", 0, 10, 0, 0},
							   {"c", 10.01, 10, 0, 0},
							   {"d", 10.01, 10, 0, 0},
							   {"e", 20.02, 10, 0, 0},
							   {"f", 32.5, 1, 0, 0}},
					6);
	const struct flow_estimate *estimate = find_estimate(flow, "6 slots instead of 2");

	(void)state;
	assert_non_null(estimate);
	assert_near(estimate->wall_secs, 13.48, 0.1);
	rt_workflow_free(flow);
	/* A chain had a free slot all the time. */
	flow = plan((struct planned[]){{"a", 0, 10, 0, 0},
				       {"b", 0, 1, 0, 0},
				       {"c", 10.01, 10, 0, 0},
				       {"d", 20.02, 10, 0, 0}},
		    4);
	assert_near(find_estimate(flow, "6 slots instead of 2")->wall_secs, flow->wall_secs, 1e-6);
	rt_workflow_free(flow);
}

static void more_cores_shorten_only_the_busy_part_of_a_rule(void **state)
{
	struct rt_workflow *flow = plan((struct planned[]){{"a", 0, 10, 1, 8}, {"b", 10, 10, 1, 0}}, 2);

	(void)state;
	assert_near(find_estimate(flow, "a with 2 cores")->wall_secs, 16, 1e-6);
	assert_null(find_estimate(flow, "b with 2 cores"));
	rt_workflow_free(flow);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_diamond_has_the_longer_side_on_its_path_and_slack_on_the_other),
		cmocka_unit_test(an_overlap_of_two_clocks_hides_no_step_before),
		cmocka_unit_test(a_step_of_no_length_is_its_own_predecessor_never),
		cmocka_unit_test(a_rule_has_its_request_and_the_idle_part),
		cmocka_unit_test(more_slots_shorten_only_the_steps_that_waited_for_one),
		cmocka_unit_test(more_cores_shorten_only_the_busy_part_of_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
