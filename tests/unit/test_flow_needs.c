/* Tests of src/workflow/flow_needs.c: which steps a step needs, and whether it waited for them or for a slot. */
#include "made_flow.h"

static struct rt_workflow *flow;

static int forget(void **state)
{
	(void)state;
	rt_workflow_free(flow);
	flow = NULL;
	return 0;
}

/* The places of the steps that a step needs, in the order in which they were found. */
static void assert_needs(size_t index, const char *expected)
{
	const struct flow_place *place = &flow->places[index];
	char found[64] = "", *end = found;

	for (size_t i = 0; i < place->need_count; i++)
		end += sprintf(end, "%s%zu", i ? " " : "", flow->needs[place->first_need + i]);
	assert_string_equal(found, expected);
}

static struct flow_step maker(const char *makes, double start, double secs)
{
	struct flow_step step = made_step("maker", start, secs);

	step.makes = makes;
	return step;
}

static void a_step_is_known_by_its_products_or_its_task_or_its_rule(void **state)
{
	struct flow_step with_task = made_step("sort", 0, 1);

	(void)state;
	with_task.task = "sorted";
	flow = MADE_FLOW(maker("a.bam b.bam", 0, 1), with_task, made_step("index", 0, 1),
			 step_that_needs("b.bam sorted index", "merge", 2, 1),
			 step_that_needs("sort maker", "plot", 2, 1), step_that_needs("a.bam", "call", 2, 1));
	assert_needs(3, "0 1 2");
	/* The rule of a step that has another name is not a name. */
	assert_needs(4, "");
	assert_needs(5, "0");
	assert_false(flow_tells_needs(flow, 0));
	assert_true(flow_tells_needs(flow, 3));
	assert_false(flow_tells_needs(flow, 4));
	assert_int_equal(flow->needs_count, 4);
}

static void a_step_that_made_two_names_is_needed_once(void **state)
{
	(void)state;
	flow = MADE_FLOW(maker("x y", 0, 1), step_that_needs("x y x", "b", 2, 1),
			 step_that_needs("y x", "c", 2, 1));
	assert_needs(1, "0");
	assert_needs(2, "0");
}

static void a_step_that_ended_after_the_start_is_not_needed(void **state)
{
	(void)state;
	flow = MADE_FLOW(maker("x", 0, 10), step_that_needs("x", "b", 9.9, 1),
			 step_that_needs("x", "c", 9.99, 1));
	assert_needs(1, "");
	assert_needs(2, "0");
	forget(NULL);
	/* As far as two clocks may be apart. */
	flow = MADE_FLOW(maker("x", 0, 0.02), step_that_needs("x", "b", 0, 1));
	assert_needs(1, "0");
	forget(NULL);
	/* Nor one that begins later. */
	flow = MADE_FLOW(step_that_needs("x", "b", 5, 1), maker("x", 5, 0));
	assert_needs(0, "");
}

static void needs_are_known_if_there_are_none_or_one_is_found(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 1000, 1), step_that_needs("", "b", 1002, 1),
			 step_that_needs("  ", "c", 1004, 1), step_that_needs("strange", "d", 1006, 1),
			 step_that_needs("strange c a", "e", 1008, 1));
	assert_false(flow_tells_needs(flow, 0));
	assert_true(isnan(flow_needs_done(flow, 0)));
	assert_true(flow_tells_needs(flow, 1));
	assert_true(flow_needs_done(flow, 1) == 1000);
	assert_true(flow_tells_needs(flow, 2));
	assert_int_equal(flow_last_need(flow, 2), FLOW_NONE);
	assert_false(flow_tells_needs(flow, 3));
	assert_true(isnan(flow_needs_done(flow, 3)));
	assert_needs(4, "2 0");
	assert_int_equal(flow_last_need(flow, 4), 2);
	assert_true(flow_needs_done(flow, 4) == 1005);
}

static void the_need_that_ended_last_counts(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 3), made_step("b", 0, 2), made_step("c", 0, 3),
			 step_that_needs("a b c", "d", 5, 1), step_that_needs("b a", "e", 5, 1));
	/* Two ended at once: the first that was named counts. */
	assert_int_equal(flow_last_need(flow, 3), 0);
	assert_int_equal(flow_last_need(flow, 4), 0);
	assert_true(flow_needs_done(flow, 4) == 3);
}

static void an_attempt_needs_the_one_before_it(void **state)
{
	struct flow_step again = step_that_needs("", "again", 20, 1), silent = again, first = again;

	(void)state;
	again.makes = "other";
	again.attempt = 2;
	again.failed_before = 1;
	silent.needs = NULL;
	silent.attempt = 2;
	first.rule = "first";
	flow = MADE_FLOW(made_step("a", 0, 1), made_step("b", 10, 1), again, silent, first);
	assert_needs(2, "1");
	assert_needs(3, "");
	assert_needs(4, "");
}

static void the_step_before_that_made_the_same_is_needed(void **state)
{
	struct flow_step both = step_that_needs("", "both", 9, 1);

	(void)state;
	both.makes = "p q";
	flow = MADE_FLOW(step_that_needs("", "all", 0, 1), step_that_needs("", "all", 2, 1),
			 step_that_needs("", "all", 4, 1), maker("p", 5, 1), maker("q", 5, 1), both);
	assert_needs(0, "");
	assert_needs(1, "0");
	assert_needs(2, "1");
	assert_needs(5, "3 4");
	forget(NULL);
	/* A name with a blank is one name. */
	flow = MADE_FLOW(step_that_needs("", "all files", 0, 1), step_that_needs("", "all files", 2, 1));
	assert_needs(1, "0");
}

static void many_needs_are_all_kept(void **state)
{
	enum { MANY = 40 };
	static char names[MANY][8];
	struct flow_step list[MANY + 1];
	char needs[MANY * 8] = "";

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "n%zu", i);
		list[i] = made_step(names[i], 0, 1);
		strcat(strcat(needs, " "), names[i]);
	}
	list[MANY] = step_that_needs(needs, "last", 2, 1);
	flow = made_flow(list, MANY + 1);
	assert_int_equal(flow->places[MANY].need_count, MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(flow->needs[i], i);
}

/* ---- for what a step waited ---------------------------------------------------------------------------- */

static void a_step_takes_a_slot_or_the_cores_that_it_asked_for(void **state)
{
	struct flow_step step = made_step("a", 0, 1);

	(void)state;
	assert_true(flow_cores_taken(&step) == 1);
	step.cores_asked = 0;
	assert_true(flow_cores_taken(&step) == 1);
	step.cores_asked = 0.5;
	assert_true(flow_cores_taken(&step) == 0.5);
	step.cores_asked = 8;
	assert_true(flow_cores_taken(&step) == 8);
}

static void an_engine_takes_twice_its_usual_gap_to_start_a_step(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 1));
	assert_true(flow->turnover_secs == 0.05);
	forget(NULL);
	flow = MADE_FLOW(made_step("a", 0, 1), made_step("b", 1.5, 1));
	assert_true(flow->turnover_secs == 1);
	forget(NULL);
	flow = MADE_FLOW(made_step("a", 0, 1), made_step("b", 2, 1), made_step("c", 3.25, 1),
			 made_step("d", 4.25, 1));
	assert_true(flow->turnover_secs == 0.5);
}

/* Two slots. The one of `a` was free when `c` could have begun, although `b` ended later. */
static void a_step_with_room_follows_its_last_need(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 10), made_step("b", 0, 11.9), step_that_needs("a", "c", 12, 5));
	assert_true(flow->cores_given == 2);
	assert_true(flow->places[2].had_room);
	assert_int_equal(flow->places[2].before, 0);
	assert_near(flow->places[2].gap_secs, 2, 1e-9);
	assert_false(flow->places[1].had_room);
	forget(NULL);
	/* A step that needs none follows none. */
	flow = MADE_FLOW(made_step("a", 100, 10), made_step("b", 100, 11.9),
			 step_that_needs("", "c", 112, 5));
	assert_false(flow->places[2].had_room);
	assert_int_equal(flow->places[2].before, 1);
	forget(NULL);
	flow = MADE_FLOW(made_step("a", 100, 10), step_that_needs("", "b", 100.01, 12));
	assert_true(flow->places[1].had_room);
	assert_int_equal(flow->places[1].before, FLOW_NONE);
	assert_near(flow->places[1].gap_secs, 0.01, 1e-9);
}

/* Three slots. `e` took the one that `a` left, so `c` had to wait for the end of `e`. */
static void a_step_without_room_follows_the_one_that_left_its_slot(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 10), made_step("b", 0, 20), made_step("d", 0, 20),
			 made_step("e", 10.01, 5), step_that_needs("a", "c", 15.02, 5));
	assert_true(flow->cores_given == 3);
	assert_false(flow->places[4].had_room);
	assert_int_equal(flow->places[4].before, 3);
	assert_near(flow->places[4].gap_secs, 0.01, 1e-9);
	forget(NULL);
	/* It would need more cores than the slot has. */
	struct flow_step wide = step_that_needs("a", "c", 20.02, 5);

	wide.cores_asked = 3;
	flow = MADE_FLOW(made_step("a", 0, 10), made_step("b", 0, 20), made_step("d", 0, 15), wide);
	assert_false(flow->places[3].had_room);
	assert_int_equal(flow->places[3].before, 1);
}

/* An engine that starts it at once had room for it, whatever else runs. */
static void a_step_that_began_at_once_had_room(void **state)
{
	(void)state;
	flow = MADE_FLOW(made_step("a", 0, 10), made_step("b", 0, 20), step_that_needs("a", "c", 10.02, 5));
	assert_true(flow->places[2].had_room);
	assert_int_equal(flow->places[2].before, 0);
	forget(NULL);
	/* Just in time. */
	flow = MADE_FLOW(made_step("a", 0, 1), step_that_needs("", "b", 0.05, 1));
	assert_true(flow->places[1].had_room);
	forget(NULL);
	/* A step that ends at this moment leaves its slot. */
	flow = MADE_FLOW(made_step("a", 0, 0.05), step_that_needs("", "b", 1, 1), made_step("c", 2, 1),
			 made_step("d", 3, 1));
	assert_true(flow->turnover_secs == 0.05 && flow->cores_given == 1);
	assert_true(flow->places[1].had_room);
	assert_int_equal(flow->places[1].before, FLOW_NONE);
}

#define unit_test_of_needs(test) cmocka_unit_test_teardown(test, forget)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_needs(a_step_is_known_by_its_products_or_its_task_or_its_rule),
		unit_test_of_needs(a_step_that_made_two_names_is_needed_once),
		unit_test_of_needs(a_step_that_ended_after_the_start_is_not_needed),
		unit_test_of_needs(needs_are_known_if_there_are_none_or_one_is_found),
		unit_test_of_needs(the_need_that_ended_last_counts),
		unit_test_of_needs(an_attempt_needs_the_one_before_it),
		unit_test_of_needs(the_step_before_that_made_the_same_is_needed),
		unit_test_of_needs(many_needs_are_all_kept),
		unit_test_of_needs(a_step_takes_a_slot_or_the_cores_that_it_asked_for),
		unit_test_of_needs(an_engine_takes_twice_its_usual_gap_to_start_a_step),
		unit_test_of_needs(a_step_with_room_follows_its_last_need),
		unit_test_of_needs(a_step_without_room_follows_the_one_that_left_its_slot),
		unit_test_of_needs(a_step_that_began_at_once_had_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
