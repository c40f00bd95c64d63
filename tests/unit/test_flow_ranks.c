/* Tests of src/workflow/flow_ranks.c: the ranks of a program, how far apart they are, and the one that the others waited for. */
#include "made_flow.h"

static struct rt_workflow *flow;

static int forget(void **state)
{
	(void)state;
	rt_workflow_free(flow);
	flow = NULL;
	return 0;
}

static struct flow_step rank_step(int rank, double start, double secs, double cpu_secs)
{
	struct flow_step step = made_step("mpi", start, secs);

	step.line = json_pack("{s:i}", "rank", rank);
	step.cpu_secs = cpu_secs;
	return step;
}

static void assert_spread(const struct flow_spread *spread, double least, double median, double most,
			  long step)
{
	assert_true(spread->least == least && spread->median == median && spread->most == most);
	assert_int_equal(spread->step, step);
}

static void assert_unknown(const struct flow_spread *spread)
{
	assert_true(isnan(spread->least) && isnan(spread->median) && isnan(spread->most));
	assert_int_equal(spread->step, FLOW_NONE);
}

static void ranks_have_a_least_a_median_and_a_most(void **state)
{
	(void)state;
	flow = MADE_FLOW(rank_step(0, 0, 4, 3), rank_step(1, 0, 9, 1), rank_step(2, 0, 2, 8));
	assert_int_equal(flow->ranks_count, 1);
	assert_string_equal(flow->ranks[0].rule, "mpi");
	assert_string_equal(flow->ranks[0].task, "");
	assert_int_equal(flow->ranks[0].count, 3);
	assert_spread(&flow->ranks[0].wall_secs, 2, 4, 9, 1);
	assert_spread(&flow->ranks[0].cpu_secs, 1, 3, 8, 2);
	assert_spread(&flow->ranks[0].memory_mib, 100, 100, 100, 0);
	forget(NULL);
	/* The median of four lies between the two in the middle. */
	flow = MADE_FLOW(rank_step(0, 0, 4, 3), rank_step(1, 0, 9, 1), rank_step(2, 0, 2, 8),
			 rank_step(3, 0, 5, 8));
	assert_spread(&flow->ranks[0].wall_secs, 2, 4.5, 9, 1);
	/* The first of those with the most. */
	assert_spread(&flow->ranks[0].cpu_secs, 1, 5.5, 8, 2);
}

static void a_figure_that_one_rank_lacks_is_unknown(void **state)
{
	struct flow_step first = rank_step(0, 0, 4, 3), second = rank_step(1, 0, 4, NAN);

	(void)state;
	first.gpu_held_idle_hours = 0.5;
	second.gpu_held_idle_hours = 0.25;
	first.gpu_mean = 0.75;
	flow = MADE_FLOW(first, second);
	assert_unknown(&flow->ranks[0].cpu_secs);
	assert_unknown(&flow->ranks[0].gpu_mean);
	assert_spread(&flow->ranks[0].gpu_held_idle_secs, 900, 1350, 1800, 0);
	assert_int_equal(flow->ranks[0].straggler, FLOW_NONE);
	assert_true(isnan(flow->ranks[0].over));
	forget(NULL);
	first = rank_step(0, 0, 4, 3), second = rank_step(1, 0, 4, 3);
	first.gpu_mean = 0.75;
	second.gpu_mean = 0.25;
	flow = MADE_FLOW(first, second);
	assert_spread(&flow->ranks[0].gpu_mean, 0.25, 0.5, 0.75, 0);
}

static void the_rank_that_took_longest_is_the_straggler(void **state)
{
	(void)state;
	flow = MADE_FLOW(rank_step(0, 0, 10, 1), rank_step(1, 0, 11, 1), rank_step(2, 0, 10, 9));
	assert_int_equal(flow->ranks[0].straggler, 1);
	assert_false(flow->ranks[0].by_cpu);
	assert_near(flow->ranks[0].over, 0.1, 1e-9);
	forget(NULL);
	/* All ended at once, but one computed longer. */
	flow = MADE_FLOW(rank_step(0, 0, 10, 4), rank_step(1, 0, 10.4, 4), rank_step(2, 0, 10, 5));
	assert_int_equal(flow->ranks[0].straggler, 2);
	assert_true(flow->ranks[0].by_cpu);
	assert_near(flow->ranks[0].over, 0.25, 1e-9);
	forget(NULL);
	flow = MADE_FLOW(rank_step(0, 0, 10, 4), rank_step(1, 0, 10.4, 4), rank_step(2, 0, 10, 4.1));
	assert_int_equal(flow->ranks[0].straggler, FLOW_NONE);
	assert_false(flow->ranks[0].by_cpu);
	assert_true(isnan(flow->ranks[0].over));
	forget(NULL);
	/* Half of the ranks took no CPU time: no part of that is known. */
	flow = MADE_FLOW(rank_step(0, 0, 10, 0), rank_step(1, 0, 10, 0), rank_step(2, 0, 10, 5));
	assert_int_equal(flow->ranks[0].straggler, FLOW_NONE);
}

static void ranks_of_other_programs_are_apart(void **state)
{
	struct flow_step other = rank_step(1, 0, 4, 1), task = rank_step(0, 0, 4, 1),
			 same_task = rank_step(1, 0, 4, 1);
	struct flow_step without = made_step("mpi", 0, 50), in_words = made_step("mpi", 0, 60);

	(void)state;
	other.rule = "other";
	task.task = same_task.task = "a";
	in_words.line = json_pack("{s:s}", "rank", "2");
	flow = MADE_FLOW(rank_step(0, 0, 4, 1), task, other, without, rank_step(1, 0, 5, 1), same_task,
			 in_words);
	/* A program of one rank is told as a step alone. */
	assert_int_equal(flow->ranks_count, 2);
	assert_string_equal(flow->ranks[0].task, "");
	assert_spread(&flow->ranks[0].wall_secs, 4, 4.5, 5, 4);
	assert_string_equal(flow->ranks[1].task, "a");
	assert_int_equal(flow->ranks[1].count, 2);
}

static void a_second_run_of_a_program_has_ranks_of_its_own(void **state)
{
	(void)state;
	/* One began after the end of the others. */
	flow = MADE_FLOW(rank_step(0, 0, 4, 1), rank_step(1, 0, 2, 1), rank_step(2, 4.1, 7, 1),
			 rank_step(3, 4.1, 7, 1));
	assert_int_equal(flow->ranks_count, 2);
	assert_spread(&flow->ranks[0].wall_secs, 2, 3, 4, 0);
	assert_spread(&flow->ranks[1].wall_secs, 7, 7, 7, 2);
	forget(NULL);
	/* As far as two clocks may be apart. */
	flow = MADE_FLOW(rank_step(0, -1, 1, 1), rank_step(1, 0.02, 2, 1));
	assert_int_equal(flow->ranks_count, 1);
	forget(NULL);
	flow = MADE_FLOW(rank_step(0, -1, 1, 1), rank_step(1, 0.03, 2, 1));
	assert_int_equal(flow->ranks_count, 0);
	forget(NULL);
	/* A rank that comes again belongs to another run. */
	flow = MADE_FLOW(rank_step(0, 0, 4, 1), rank_step(1, 0, 4, 1), rank_step(0, 1, 4, 1),
			 rank_step(1, 1, 4, 1));
	assert_int_equal(flow->ranks_count, 2);
}

#define unit_test_of_ranks(test) cmocka_unit_test_teardown(test, forget)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_ranks(ranks_have_a_least_a_median_and_a_most),
		unit_test_of_ranks(a_figure_that_one_rank_lacks_is_unknown),
		unit_test_of_ranks(the_rank_that_took_longest_is_the_straggler),
		unit_test_of_ranks(ranks_of_other_programs_are_apart),
		unit_test_of_ranks(a_second_run_of_a_program_has_ranks_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
