/* Plans for steps with a known answer. */
#include "unit.h"

#include <math.h>

#include "parallel/parallel.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

static struct parallel_step steps[PARALLEL_PARTS];

/* A step that keeps one core busy all the time, and holds its memory in the second half. */
static struct parallel_step busy_step(const char *task, const char *command, double secs, double peak_mib)
{
	struct parallel_step step = {.rule = (char *)(uintptr_t) "make",
				     .task = (char *)(uintptr_t)task,
				     .command = (char *)(uintptr_t)command,
				     .program = (char *)(uintptr_t) "",
				     .wall_secs = secs,
				     .cpu_secs = secs,
				     .peak_mib = peak_mib};

	for (size_t i = PARALLEL_PARTS / 2; i < PARALLEL_PARTS; i++)
		step.memory_mib[i] = peak_mib;
	return step;
}

static void plan_steps(struct parallel *parallel, size_t count, double cores, double memory_mib)
{
	*parallel = (struct parallel){.steps = steps, .count = count};
	assert_int_equal(parallel_find_needs(parallel), 0);
	assert_int_equal(parallel_choose(parallel, cores, memory_mib), 0);
}

static void forget_needs(size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(steps[i].needs);
}

static void a_link_waits_for_the_objects_that_its_command_names(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("a.o", "[\"gcc\",\"-c\",\"a.c\",\"-o\",\"a.o\"]", 2, 10);
	steps[1] = busy_step("", "[\"sh\",\"-c\",\"gcc -c b.c -o ./b.o\"]", 3, 10);
	steps[2] = busy_step("prog", "[\"sh\",\"-c\",\"gcc a.o b.o -o prog\"]", 1, 40);
	steps[3] = busy_step("prog", "[\"strip\",\"prog\"]", 1, 5);
	plan_steps(&parallel, 4, 4, 1000);
	assert_int_equal(steps[0].need_count + steps[1].need_count, 0);
	assert_int_equal(steps[2].need_count, 2);
	assert_int_equal(steps[3].need_count, 1);
	assert_int_equal(steps[3].needs[0], 2);
	assert_near(parallel.plans[0].wall_secs, 7, 1e-6);
	assert_near(parallel.plans[1].wall_secs, 5, 1e-6);
	assert_near(parallel.chain_secs, 5, 1e-6);
	assert_int_equal(parallel.plans[parallel.best].jobs, 2);
	assert_int_equal(parallel.limit, LIMIT_CHAIN);
	assert_near(parallel.plans[1].peak_mib, 40, 1e-6);
	forget_needs(4);
}

static void a_rule_waits_for_the_input_that_another_writes(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("n=1",
			     "[\"bash\",\"-c\",\": resource-tracker-step part n%3D1 output=p/1%20.txt; x\"]",
			     1, 10);
	steps[1] = busy_step(
		"n=2", "[\"bash\",\"-c\",\": resource-tracker-step part n%3D2 output=p/2.txt; x\"]", 1, 10);
	steps[2] = busy_step(
		"", "[\"bash\",\"-c\",\": resource-tracker-step all  input=p/1%20.txt output=all; x\"]", 1,
		10);
	steps[3] = busy_step("", "sort --output p/2.txt; echo output p/1%20.txt", 1, 10);
	plan_steps(&parallel, 4, 4, 1000);
	assert_int_equal(steps[2].need_count, 1);
	assert_int_equal(steps[2].needs[0], 0);
	assert_int_equal(steps[3].need_count, 1);
	assert_int_equal(steps[3].needs[0], 0);
	forget_needs(4);
}

static void a_step_takes_memory_after_the_gap_before_it(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("", "x", 1, 100);
	steps[1] = busy_step("", "x", 1, 100);
	steps[1].gap_secs = 0.7;
	plan_steps(&parallel, 2, 2, 1000);
	assert_near(parallel.plans[1].wall_secs, 1.7, 1e-6);
	/* The first step has its memory from 0.5 to 1, and the second one from 1.2 to 1.7. */
	assert_near(parallel.plans[1].peak_mib, 100, 1e-6);
	assert_near(parallel.plans[1].peak_most_mib, 100, 1e-6);
}

static void a_step_that_was_slow_at_first_is_early_in_its_course_then(void **state)
{
	struct parallel parallel;

	(void)state;
	/* They share the core until the first one has ended, at 4. The second one has done 2 of its 4.4 seconds by then. */
	steps[0] = busy_step("", "x", 2, 100);
	steps[1] = busy_step("", "x", 4.4, 100);
	plan_steps(&parallel, 2, 1, 1000);
	assert_near(parallel.plans[1].wall_secs, 6.4, 1e-6);
	assert_near(parallel.plans[1].peak_mib, 100, 1e-6);
}

static void cores_that_are_shared_slow_the_busy_part_alone(void **state)
{
	struct parallel parallel;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		steps[i] = busy_step("", "x", 1, 1);
	plan_steps(&parallel, 4, 2, 1000);
	assert_near(parallel.plans[1].wall_secs, 2, 1e-6);
	assert_near(parallel.plans[3].wall_secs, 2, 1e-6);
	assert_int_equal(parallel.plans[parallel.best].jobs, 2);
	assert_int_equal(parallel.limit, LIMIT_CORES);
	/* Then a link, which leaves a core idle. */
	for (size_t i = 0; i < 4; i++)
		steps[i] = busy_step((const char *[]){"a", "b", "c", "d"}[i], "x", 1, 1);
	steps[4] = busy_step("p", "ld a b c d", 2, 1);
	plan_steps(&parallel, 5, 2, 1000);
	assert_near(parallel.plans[1].wall_secs, 4, 1e-6);
	assert_int_equal(parallel.plans[parallel.best].jobs, 2);
	assert_int_equal(parallel.limit, LIMIT_TURNS);
	assert_near(parallel.busy, 0.75, 1e-6);
	forget_needs(5);
	/* A tenth of each step computes: eight jobs for eight steps, or the four that are planned for two cores. */
	for (size_t i = 0; i < 8; i++) {
		steps[i] = busy_step("", "x", 1, 1);
		steps[i].cpu_secs = 0.1;
	}
	plan_steps(&parallel, 8, 2, 1000);
	assert_int_equal(parallel.plans[parallel.best].jobs, 4);
	assert_int_equal(parallel.limit, LIMIT_PLANS);
	assert_near(parallel.busy, 0.2, 1e-6);
	/* Three steps of 2, 3 and 2 seconds: no chain is as long as the two that share a job, and a third job is one for each step. */
	steps[0] = busy_step("", "x", 2, 1);
	steps[1] = busy_step("", "x", 3, 1);
	steps[2] = busy_step("", "x", 2, 1);
	for (size_t i = 0; i < 3; i++)
		steps[i].cpu_secs = 0.01;
	plan_steps(&parallel, 3, 1.5, 1000);
	assert_near(parallel.plans[1].wall_secs, 4, 1e-6);
	assert_int_equal(parallel.plans[parallel.best].jobs, 3);
	assert_int_equal(parallel.limit, LIMIT_CHAIN);
	for (size_t i = 0; i < 4; i++)
		steps[i] = busy_step("", "x", 1, 1);
	/* Half of each step waits: four ask for two cores, which are there. */
	for (size_t i = 0; i < 4; i++)
		steps[i].cpu_secs = 0.5;
	plan_steps(&parallel, 4, 2, 1000);
	assert_near(parallel.plans[3].wall_secs, 1, 1e-6);
	assert_int_equal(parallel.limit, LIMIT_CHAIN);
}

static void peaks_that_do_not_fit_together_limit_the_jobs(void **state)
{
	struct parallel parallel;
	size_t fits = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		steps[i] = busy_step("t", NULL, 1, i < 6 ? 100 : 3000);
	for (size_t i = 0; i < 8; i++)
		steps[i].task = (char *)(uintptr_t) "";
	plan_steps(&parallel, 8, 8, 5000);
	for (size_t i = 0; i < parallel.plan_count; i++)
		fits += !(parallel.plans[i].bound_mib > parallel.memory_mib);
	/* From two jobs on, the last two of eight run at once, unless the number is odd. */
	assert_true(fits >= 1 && fits < parallel.plan_count);
	assert_int_equal(parallel.limit, LIMIT_MEMORY);
	assert_true(parallel.plans[parallel.best].bound_mib <= 5000);
	assert_int_equal(parallel.plans[parallel.blocked].heavy_count, 2);
	assert_near(steps[parallel.plans[parallel.blocked].heavy[0]].peak_mib, 3000, 0);
	assert_int_equal(parallel.without_command, 8);
	plan_steps(&parallel, 8, 8, 2000);
	assert_int_equal(parallel.best, parallel.plan_count);
}

static void memory_is_the_sum_of_courses_and_the_bound_that_of_peaks(void **state)
{
	struct parallel parallel;

	(void)state;
	/* The first is done before the second one reaches its half. */
	steps[0] = busy_step("", "x", 1, 100);
	steps[1] = busy_step("", "x", 4, 100);
	plan_steps(&parallel, 2, 2, 1000);
	assert_near(parallel.plans[1].peak_mib, 100, 1e-6);
	assert_near(parallel.plans[1].bound_mib, 200, 1e-6);
	assert_near(parallel.plans[0].bound_mib, 100, 1e-6);
}

static void pages_of_files_count_once_for_steps_of_one_program(void **state)
{
	struct parallel parallel;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		steps[i] = busy_step("", "x", 1, 100);
		for (size_t part = PARALLEL_PARTS / 2; part < PARALLEL_PARTS; part++)
			steps[i].files_mib[part] = i == 1 ? 60 : 70;
		steps[i].program = (char *)(uintptr_t)(i < 2 ? "cc1" : "ld");
	}
	/* One at a time: 100. Two of one program: 30 + 40 + 70. With another: 30 + 40 + 70 + 30 + 70. */
	plan_steps(&parallel, 3, 4, 1000);
	assert_near(parallel.plans[0].peak_mib, 100, 1e-6);
	assert_near(parallel.plans[1].peak_mib, 140, 1e-6);
	assert_near(parallel.plans[2].peak_mib, 240, 1e-6);
	assert_near(parallel.plans[2].bound_mib, 300, 1e-6);
	/* Programs that are unknown may differ. */
	steps[0].program = steps[1].program = (char *)(uintptr_t) "";
	plan_steps(&parallel, 2, 4, 1000);
	assert_near(parallel.plans[1].peak_mib, 200, 1e-6);
	steps[0].program = steps[1].program = (char *)(uintptr_t) "cc1";
	/* The one with most of them ends first, and the second one keeps its own. The third one has no moment for its memory. */
	steps[0].wall_secs = steps[0].cpu_secs = 0.2;
	steps[2].wall_secs = steps[2].cpu_secs = 1e-300;
	plan_steps(&parallel, 3, 4, 1000);
	assert_near(parallel.plans[1].peak_mib, 100, 1e-6);
}

/* Four steps alike hold 100 MiB in their second halves: on two jobs the plan has them meet, and trials shift them. */
static void trials_tell_the_least_and_the_most(void **state)
{
	struct parallel parallel;
	const struct parallel_plan *plan = &parallel.plans[1];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		steps[i] = busy_step("x", "x", 10, 100);
	steps[0].memory_mib[PARALLEL_PARTS / 2] = steps[2].memory_mib[PARALLEL_PARTS / 2] = 150;
	steps[0].peak_mib = steps[2].peak_mib = 150;
	for (size_t i = 0; i < 4; i++)
		steps[i].rule = steps[i].task = (char *)(uintptr_t)((const char *[]){"a", "b", "c", "d"})[i];
	plan_steps(&parallel, 4, 2, INFINITY);
	assert_near(plan->wall_secs, 20, 1e-9);
	assert_near(plan->peak_mib, 250, 1e-9);
	assert_true(plan->wall_least_secs < 20 && plan->wall_least_secs >= 18);
	assert_true(plan->wall_most_secs > 20 && plan->wall_most_secs <= 22);
	/* In the recorded order, 150 and 100 meet. In another, 150 and 150 run at once, and rarely have their peaks together. */
	assert_true(plan->peak_least_mib <= 250 && plan->peak_most_mib >= 250);
	assert_near(plan->bound_mib, 300, 1e-9);
	/* One job has no order that matters for its peak. */
	assert_near(parallel.plans[0].peak_least_mib, 150, 1e-9);
	assert_near(parallel.plans[0].peak_most_mib, 150, 1e-9);
	assert_near(parallel.plans[0].bound_mib, 150, 1e-9);
	forget_needs(4);
}

static void trials_are_the_same_in_each_call(void **state)
{
	static struct parallel one, other;

	(void)state;
	for (size_t i = 0; i < PARALLEL_PARTS; i++)
		steps[i] = busy_step("x", "x", 1 + (double)(i % 7), 10 * (double)(i % 5));
	plan_steps(&one, PARALLEL_PARTS, 4, INFINITY);
	forget_needs(PARALLEL_PARTS);
	for (size_t i = 0; i < PARALLEL_PARTS; i++)
		steps[i].needs = NULL, steps[i].need_count = 0;
	plan_steps(&other, PARALLEL_PARTS, 4, INFINITY);
	forget_needs(PARALLEL_PARTS);
	for (size_t i = 0; i < one.plan_count; i++) {
		assert_near(one.plans[i].wall_most_secs, other.plans[i].wall_most_secs, 0);
		assert_near(one.plans[i].peak_most_mib, other.plans[i].peak_most_mib, 0);
	}
}

/* Two cores that it asks for are granted half: it takes twice as long. With half of its time idle, the rest takes twice as long. */
static void a_step_of_several_threads_shares_all_its_cores(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("", "x", 1, 1);
	steps[0].cpu_secs = 2;
	plan_steps(&parallel, 1, 1, 1000);
	assert_near(parallel.plans[0].wall_secs, 2, 1e-6);
	steps[0].cpu_secs = 0.5;
	steps[1] = busy_step("", "x", 1.5, 1);
	plan_steps(&parallel, 2, 1, 1000);
	/* 1.5 cores are asked for: the first step goes at 4 / 5, and the second at 2 / 3 until 1.25, and alone from then on. */
	assert_near(parallel.plans[1].wall_secs, 1.25 + 1.5 - 1.25 * 2 / 3, 1e-6);
}

/* Lines of one target follow each other. Another rule may have a target of that name. */
static void lines_of_a_target_follow_each_other(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("prog", "cc", 1, 1);
	steps[1] = busy_step("prog", "strip", 1, 1);
	steps[2] = busy_step("prog", "sign", 1, 1);
	steps[2].rule = (char *)(uintptr_t) "other";
	steps[3] = busy_step("lib", "ar -o prog2", 1, 1);
	steps[4] = busy_step("prog2", "x", 1, 1);
	plan_steps(&parallel, 5, 4, 1000);
	assert_int_equal(steps[0].need_count, 0);
	assert_int_equal(steps[1].need_count, 1);
	assert_int_equal(steps[1].needs[0], 0);
	assert_int_equal(steps[2].need_count, 0);
	assert_int_equal(steps[3].need_count, 0);
	/* A step of another target wrote this file: the two are not lines of one recipe. */
	assert_int_equal(steps[4].need_count, 0);
	forget_needs(5);
}

/* If a step tells its needs, those that its command names do not count. */
static void words_that_a_step_tells_come_before_its_command(void **state)
{
	struct parallel parallel;

	(void)state;
	steps[0] = busy_step("a", "x > made 2>&1", 1, 1);
	steps[1] = busy_step("b", "y", 1, 1);
	steps[1].told_makes = (char *)(uintptr_t) "one two";
	steps[2] = busy_step("c", "z a made", 1, 1);
	steps[2].told_needs = (char *)(uintptr_t) "two one missing";
	steps[3] = busy_step("d", "cat <made ./a ./made", 1, 1);
	steps[4] = busy_step("e", NULL, 1, 1);
	plan_steps(&parallel, 5, 4, 1000);
	assert_int_equal(steps[1].need_count, 0);
	assert_int_equal(steps[2].need_count, 1);
	assert_int_equal(steps[2].needs[0], 1);
	assert_int_equal(steps[3].need_count, 1);
	assert_int_equal(steps[3].needs[0], 0);
	assert_int_equal(steps[4].need_count, 0);
	assert_int_equal(parallel.without_command, 1);
	forget_needs(5);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_waits_for_the_objects_that_its_command_names),
		cmocka_unit_test(a_rule_waits_for_the_input_that_another_writes),
		cmocka_unit_test(a_step_takes_memory_after_the_gap_before_it),
		cmocka_unit_test(a_step_that_was_slow_at_first_is_early_in_its_course_then),
		cmocka_unit_test(cores_that_are_shared_slow_the_busy_part_alone),
		cmocka_unit_test(peaks_that_do_not_fit_together_limit_the_jobs),
		cmocka_unit_test(pages_of_files_count_once_for_steps_of_one_program),
		cmocka_unit_test(trials_tell_the_least_and_the_most),
		cmocka_unit_test(trials_are_the_same_in_each_call),
		cmocka_unit_test(a_step_of_several_threads_shares_all_its_cores),
		cmocka_unit_test(lines_of_a_target_follow_each_other),
		cmocka_unit_test(words_that_a_step_tells_come_before_its_command),
		cmocka_unit_test(memory_is_the_sum_of_courses_and_the_bound_that_of_peaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
