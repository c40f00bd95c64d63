/* Tests of src/workflow/flow.c: the slots of hosts, the sums of rules, and the slack of a chain. */
#include "made_flow.h"

static struct rt_workflow *flow;

static int forget(void **state)
{
	(void)state;
	rt_workflow_free(flow);
	flow = NULL;
	return 0;
}

static struct flow_step on_host(const char *host, double start, double secs)
{
	struct flow_step step = made_step("a", start, secs);

	step.host = host;
	return step;
}

static void each_host_has_slots_of_its_own(void **state)
{
	static const size_t LANES[] = {0, 0, 1, 0, 0, 1};

	(void)state;
	flow = MADE_FLOW(on_host("x", 0, 10), on_host("y", 0, 10), on_host("x", 0, 10), on_host("y", 10.1, 9),
			 on_host("x", 10.1, 10), on_host("x", 10.1, 10));
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(flow->places[i].lane, LANES[i]);
	assert_int_equal(flow->host_count, 2);
	assert_string_equal(flow->hosts[0].name, "x");
	assert_int_equal(flow->hosts[0].lanes, 2);
	assert_string_equal(flow->hosts[1].name, "y");
	assert_int_equal(flow->hosts[1].lanes, 1);
	assert_int_equal(flow->slots, 3);
	assert_true(flow->cores_given == 3);
}

static void the_use_of_steps_at_once_is_added_up_for_each_host(void **state)
{
	struct flow_step first = on_host("x", 0, 10), second = on_host("x", 5, 10),
			 third = on_host("x", 7, 10);
	struct flow_step elsewhere = on_host("y", 8, 10), later = on_host("x", 30, 1);

	(void)state;
	first.cores_mean = 2;
	second.cores_mean = NAN;
	second.memory_peak_mib = NAN;
	second.cores_limit = NAN;
	third.cores_mean = 0.5;
	third.memory_peak_mib = 30;
	third.cores_limit = 16;
	third.memory_limit_mib = NAN;
	first.cores_asked = 4;
	elsewhere.cores_limit = elsewhere.memory_limit_mib = NAN;
	later.cores_mean = 2.25;
	flow = MADE_FLOW(first, second, third, elsewhere, later);
	assert_true(flow->hosts[0].cores_most == 2.5);
	assert_true(flow->hosts[0].memory_most == 130);
	assert_true(flow->hosts[0].cores == 16);
	assert_true(flow->hosts[0].memory_mib == 1024);
	assert_true(flow->hosts[1].cores_most == 1);
	assert_true(flow->hosts[1].memory_most == 100);
	assert_true(isnan(flow->hosts[1].cores) && isnan(flow->hosts[1].memory_mib));
	assert_int_equal(flow->slots, 4);
	assert_true(flow->cores_given == 7);
}

/* `b` may be late as long as `c` has slack, and by the time between them. */
static void slack_is_that_of_a_chain(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 20), made_step("b", 0, 3), made_step("c", 4, 4),
			 made_step("d", 19, 0.5));
	assert_true(flow->places[0].slack_secs == 0);
	assert_near(flow->places[1].slack_secs, 12.5, 1e-9);
	assert_near(flow->places[2].slack_secs, 11.5, 1e-9);
	assert_near(flow->places[3].slack_secs, 0.5, 1e-9);
	forget(NULL);
	/* The slack of a step that begins earlier is shorter than that of one that ends later. */
	flow = MADE_FLOW(made_step("a", 0, 20), made_step("b", 0, 3), made_step("c", 4, 15),
			 made_step("d", 6, 1));
	assert_near(flow->places[1].slack_secs, 2, 1e-9);
	assert_near(flow->places[3].slack_secs, 13, 1e-9);
	forget(NULL);
	/* `c` began as long before the end of `b` as two clocks may be apart. */
	flow = MADE_FLOW(made_step("a", 0, 9), made_step("b", 0, 0.02), made_step("c", 0, 5));
	assert_near(flow->places[1].slack_secs, 3.98, 1e-9);
	assert_near(flow->places[2].slack_secs, 4, 1e-9);
}

static void the_path_begins_with_the_step_that_waited_for_none(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 1000, 1), made_step("b", 1001, 2), made_step("c", 1003.5, 4),
			 made_step("d", 1001, 1));
	assert_int_equal(flow->path_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(flow->path[i], i);
	assert_true(flow->path_secs == 7 && flow->wall_secs == 7.5);
	assert_true(flow->places[0].before == FLOW_NONE && flow->places[0].gap_secs == 0);
	assert_true(flow->places[2].before == 1 && flow->places[2].gap_secs == 0.5);
	assert_true(flow->places[0].on_path && !flow->places[3].on_path);
}

static void a_rule_has_the_sums_of_its_steps(void **state)
{
	struct flow_step first = made_step("a", 0, 1800), second = made_step("a", 0, 3600),
			 third = made_step("a", 0, 60);
	const struct flow_rule *rule;

	(void)state;
	first.cores_asked = 4, first.cpu_secs = 3600;
	first.memory_asked_mib = 2048, first.memory_peak_mib = 1024;
	second.cores_asked = 2, second.cpu_secs = 9000;
	second.memory_asked_mib = 1024, second.memory_peak_mib = 1536;
	second.attempt = 2, second.outcome = "oom";
	third.cpu_secs = NAN, third.memory_peak_mib = NAN;
	flow = MADE_FLOW(first, second, third);
	rule = &flow->rules[0];
	assert_true(flow->rule_count == 1 && rule->steps == 3 && rule->failed == 1 && rule->repeated == 1);
	assert_true(flow->failed == 1 && flow->repeated == 1 && flow->cpu_secs == 12600);
	assert_true(rule->on_path == 1 && rule->path_secs == 3600 && rule->wall_secs == 5460);
	assert_true(rule->longest_secs == 3600 && rule->cpu_secs == 12600);
	assert_true(rule->memory_peak_mib == 1536 && rule->cores_asked == 4 &&
		    rule->memory_asked_mib == 2048);
	/* The second one used more than it asked for. */
	assert_true(rule->asked_core_secs == 14400 && rule->idle_core_secs == 3600);
	assert_true(rule->asked_gib_hours == 2 && rule->idle_gib_hours == 0.5);
}

static void rules_stand_by_their_time_on_the_path(void **state)
{
	static const char *const RULES[] = {"late", "early", "wide", "same", "twin"};

	(void)state;
	flow = MADE_FLOW(made_step("early", 0, 4), made_step("twin", 0, 1), made_step("same", 0, 1),
			 made_step("wide", 0, 3), made_step("late", 4, 9));
	assert_int_equal(flow->rule_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(flow->rules[i].name, RULES[i]);
}

#define unit_test_of_lanes(test) cmocka_unit_test_teardown(test, forget)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_lanes(each_host_has_slots_of_its_own),
		unit_test_of_lanes(the_use_of_steps_at_once_is_added_up_for_each_host),
		unit_test_of_lanes(slack_is_that_of_a_chain),
		unit_test_of_lanes(the_path_begins_with_the_step_that_waited_for_none),
		unit_test_of_lanes(a_rule_has_the_sums_of_its_steps),
		unit_test_of_lanes(rules_stand_by_their_time_on_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
