/* Tests of src/workflow/flow_estimate.c: how long a workflow would take with more cores for a rule, or with more slots. */
#include "made_flow.h"

static struct rt_workflow *flow;

static int forget(void **state)
{
	(void)state;
	rt_workflow_free(flow);
	flow = NULL;
	return 0;
}

static void assert_estimate(const char *what, double wall_secs)
{
	for (size_t i = 0; i < flow->estimate_count; i++)
		if (strcmp(flow->estimates[i].what, what) == 0) {
			assert_near(flow->estimates[i].wall_secs, wall_secs, 1e-6);
			return;
		}
	fail_msg("there is no estimate of %s", what);
}

static struct flow_step busy_step(const char *rule, double start, double secs, double cpu_secs)
{
	struct flow_step step = made_step(rule, start, secs);

	step.cpu_secs = cpu_secs;
	return step;
}

static struct flow_step with_cores(struct flow_step step, double asked, double used)
{
	step.cores_asked = asked;
	step.cores_max = used;
	return step;
}

static void the_busy_part_of_a_rule_spreads_over_twice_its_cores(void **state)
{
	(void)state;
	/* 6 of 10 seconds were busy on 2 cores: 3 stay. The gap of half a second stays as well. */
	flow = MADE_FLOW(with_cores(busy_step("a", 1000, 10, 12), 2, 1), made_step("b", 1010.5, 10));
	assert_estimate("a with 4 cores", 17.5);
	assert_string_equal(flow->estimates[0].assumption,
			    "its CPU time spreads evenly over the cores, and all else keeps its order");
	assert_int_equal(flow->estimate_count, 2);
	forget(NULL);
	/* More than its whole time cannot be busy. */
	flow = MADE_FLOW(busy_step("a", 1000, 10, 20), made_step("b", 1010, 10));
	assert_estimate("a with 2 cores", 15);
	forget(NULL);
	/* Each step has as many cores as the largest of its rule then has. */
	flow = MADE_FLOW(with_cores(busy_step("a", 1000, 10, 10), 1, 1),
			 with_cores(busy_step("a", 1010, 10, 20), 2, 1));
	assert_estimate("a with 4 cores", 2.5 + 5);
	forget(NULL);
	flow = MADE_FLOW(busy_step("a", 1000, 10, NAN), busy_step("b", 1010, 10, 8));
	assert_estimate("b with 2 cores", 16);
	assert_int_equal(flow->estimate_count, 2);
}

static void a_step_without_a_request_had_the_cores_that_it_used(void **state)
{
	static const struct {
		double asked, used;
		const char *what;
	} CASES[] = {{NAN, 0.1, "a with 2 cores"}, {NAN, 2.25, "a with 4 cores"},
		     {NAN, 2.3, "a with 6 cores"}, {NAN, NAN, "a with 2 cores"},
		     {3, 8, "a with 6 cores"},     {0.5, 8, "a with 2 cores"}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		flow = MADE_FLOW(with_cores(busy_step("a", 1000, 10, 100), CASES[i].asked, CASES[i].used));
		assert_int_equal(flow->estimate_count, 1);
		assert_estimate(CASES[i].what, 5);
		forget(NULL);
	}
}

static void a_short_workflow_has_estimates_too(void **state)
{
	(void)state;
	flow = MADE_FLOW(busy_step("a", 0, 0.4, 0.4), step_that_needs("", "b", 0.4, 0.1));
	assert_estimate("a with 2 cores", 0.3);
	assert_estimate("5 slots instead of 1", 0.4);
}

static void three_rules_of_the_path_have_an_estimate(void **state)
{
	(void)state;
	flow = MADE_FLOW(busy_step("side", 1000, 4, 4), busy_step("a", 1000, 10, 10),
			 busy_step("b", 1010, 9, 9), busy_step("c", 1019, 8, 8), busy_step("d", 1027, 7, 7));
	assert_int_equal(flow->estimate_count, 4);
	assert_estimate("a with 2 cores", 29);
	assert_estimate("b with 2 cores", 29.5);
	assert_estimate("c with 2 cores", 30);
	forget(NULL);
	/* Another rule that is not on it has none. */
	flow = MADE_FLOW(busy_step("side", 1000, 4, 4), busy_step("a", 1000, 10, 10));
	assert_int_equal(flow->estimate_count, 2);
	assert_estimate("a with 2 cores", 5);
	assert_estimate("6 slots instead of 2", 10);
}

/* Two slots. `d` took that of `a`, and `c` that of `b`, which is then sooner done than `a`. */
static void plan_late_need(struct flow_step last)
{
	flow = MADE_FLOW(made_step("a", 1000, 10), busy_step("b", 1000, 12, 12), made_step("d", 1010.01, 3),
			 last);
	assert_int_equal(flow->places[3].before, 1);
}

static void no_step_begins_before_all_that_it_needs(void **state)
{
	struct flow_step again = made_step("c", 1012.01, 10);

	(void)state;
	plan_late_need(again);
	assert_estimate("b with 2 cores", 16.01);
	forget(NULL);
	plan_late_need(step_that_needs("a", "c", 1012.01, 10));
	assert_estimate("b with 2 cores", 20);
	forget(NULL);
	/* Nor before the attempt that it repeats. */
	again.attempt = 2;
	plan_late_need(again);
	assert_estimate("b with 2 cores", 20);
	forget(NULL);
	/* By another clock it began before the end. */
	flow = MADE_FLOW(made_step("a", 1000, 10), busy_step("b", 1000, 10, 10),
			 step_that_needs("a b", "c", 1009.99, 10));
	assert_estimate("6 slots instead of 2", 19.99);
	assert_int_equal(flow->places[2].before, 0);
}

static void a_step_that_began_late_beside_a_free_slot_was_not_ready(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 1000, 10), made_step("b", 1005, 10));
	assert_estimate("6 slots instead of 2", 15);
	assert_string_equal(flow->estimates[0].assumption,
			    "at best: no recording tells when a step was ready that took a slot "
			    "as it became free");
	forget(NULL);
	/* `c` took the slot of `a` at once, so it may have been ready since both were full. */
	flow = MADE_FLOW(made_step("a", 1000, 10), made_step("b", 1005, 10), made_step("c", 1010.01, 10));
	assert_estimate("6 slots instead of 2", 15);
	forget(NULL);
	/* The slot of `a` stood idle for a second, so `c` was not ready before. */
	flow = MADE_FLOW(made_step("a", 1000, 10), made_step("b", 1005, 10), made_step("c", 1011, 0.5),
			 made_step("d", 1011.5, 0.5), made_step("e", 1012, 0.5), made_step("f", 1012.5, 10));
	assert_estimate("6 slots instead of 2", 21);
}

static void a_step_with_known_needs_is_ready_when_they_are_done(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 1000, 10), step_that_needs("", "b", 1010, 10),
			 step_that_needs("a", "c", 1020, 10));
	/* The engine takes 0.025 s to start a step. */
	assert_estimate("5 slots instead of 1", 20.025);
	assert_string_equal(
		flow->estimates[0].assumption,
		"at best: each step starts as soon as the steps that it is known to need are done");
}

static void no_more_steps_run_at_once_than_there_are_slots(void **state)
{
	struct flow_step list[7];

	(void)state;
	for (size_t i = 0; i < 7; i++)
		list[i] = step_that_needs("", (const char *const[]){"a", "b", "c", "d", "e", "f", "g"}[i],
					  1000 + 10 * (double)i, 10);
	flow = made_flow(list, 5);
	assert_estimate("5 slots instead of 1", 10.025);
	forget(NULL);
	flow = made_flow(list, 6);
	assert_estimate("5 slots instead of 1", 20);
	forget(NULL);
	flow = made_flow(list, 7);
	assert_estimate("5 slots instead of 1", 20.025);
}

#define unit_test_of_estimates(test) cmocka_unit_test_teardown(test, forget)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_estimates(the_busy_part_of_a_rule_spreads_over_twice_its_cores),
		unit_test_of_estimates(a_step_without_a_request_had_the_cores_that_it_used),
		unit_test_of_estimates(a_short_workflow_has_estimates_too),
		unit_test_of_estimates(three_rules_of_the_path_have_an_estimate),
		unit_test_of_estimates(no_step_begins_before_all_that_it_needs),
		unit_test_of_estimates(a_step_that_began_late_beside_a_free_slot_was_not_ready),
		unit_test_of_estimates(a_step_with_known_needs_is_ready_when_they_are_done),
		unit_test_of_estimates(no_more_steps_run_at_once_than_there_are_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
