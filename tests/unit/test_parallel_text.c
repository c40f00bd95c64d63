/* The advice about the number of jobs as people and programs read it: plans that were made by hand. */
#include "unit.h"

#include <stdio.h>

#include "parallel/parallel.h"

static struct parallel_step steps[5];
static struct parallel parallel;

static void make_plan(size_t jobs, double secs, double peak_mib, double bound_mib)
{
	parallel.plans[parallel.plan_count++] = (struct parallel_plan){.jobs = jobs,
								       .wall_secs = secs,
								       .peak_mib = peak_mib,
								       .wall_least_secs = secs - 0.5,
								       .wall_most_secs = secs + 0.5,
								       .peak_least_mib = peak_mib / 2,
								       .peak_most_mib = 2 * peak_mib,
								       .bound_mib = bound_mib};
}

/* Five steps on 2.5 cores: one job, and two that are twice as fast. */
static void begin(void)
{
	static const char *const TASKS[] = {"a.o", "b\x1b.o", "", "prog", "all"};

	memset(&parallel, 0, sizeof parallel);
	for (size_t i = 0; i < 5; i++)
		steps[i] = (struct parallel_step){.rule = (char *)(uintptr_t) "make",
						  .task = (char *)(uintptr_t)TASKS[i],
						  .peak_mib = 100 * (double)(i + 1)};
	parallel = (struct parallel){.steps = steps,
				     .count = 5,
				     .cores = 2.5,
				     .memory_mib = 1024,
				     .chain_secs = 90,
				     .busy = 0.756,
				     .best = 1,
				     .blocked = 2};
	make_plan(1, 20, 100, 200);
	make_plan(2, 10, 150, 1024);
}

static void assert_has(char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void try_text(const char *part)
{
	struct buffer out = BUFFER(1 << 16);

	assert_int_equal(setenv("COLUMNS", "300", 1), 0);
	assert_int_equal(parallel_add_text(&out, &parallel, -1, "never"), 0);
	unsetenv("COLUMNS");
	assert_has(out.data, part);
	buffer_done(&out);
}

static void try_json(const char *part)
{
	struct buffer out = BUFFER(1 << 16);

	parallel_add_json(&out, &parallel);
	assert_has(out.data, part);
	buffer_done(&out);
}

static void the_best_plan_has_a_star_and_its_speed(void **state)
{
	(void)state;
	begin();
	parallel.limit = LIMIT_CORES;
	try_text("-j 2; more jobs share the 2.50 cores, and save no time\n"
		 "5 steps on 2.50 cores with 1.00 GiB; a step needs those that it tells, or whose target or "
		 "output its command names\n\n"
		 "JOBS    TIME   SPEED     PEAK     LEAST     MOST  PEAKS AT ONCE\n"
		 "   1  20.0 s  x 1.00  100 MiB  50.0 MiB  200 MiB        200 MiB\n"
		 " * 2  10.0 s  x 2.00  150 MiB  75.0 MiB  300 MiB       1.00 GiB\n");
}

static void programs_get_the_plans_with_their_bounds(void **state)
{
	(void)state;
	begin();
	parallel.limit = LIMIT_TURNS;
	try_json("{\"jobs\":2,\"limit\":\"turns\",\"limit_text\":\"more jobs save no time: steps share the "
		 "cores at times, and wait "
		 "for each other at others (76 % of the cores are busy)\",\"assumption\":\"a step needs "
		 "those that it tells, or "
		 "whose target or output its command "
		 "names\",\"steps\":5,\"steps_without_command\":0,\"unreadable\":0,"
		 "\"cores\":2.5,\"memory_mib\":1024.0,\"chain_secs\":90.0,\"plans\":["
		 "{\"jobs\":1,\"wall_secs\":20.0,\"wall_least_secs\":19.5,\"wall_most_secs\":20.5,\"peak_"
		 "mib\":100.0,"
		 "\"peak_least_mib\":50.0,\"peak_most_mib\":200.0,\"peak_bound_mib\":200.0,\"fits\":true},"
		 "{\"jobs\":2,\"wall_secs\":10.0,\"wall_least_secs\":9.5,\"wall_most_secs\":10.5,\"peak_"
		 "mib\":150.0,"
		 "\"peak_least_mib\":75.0,\"peak_most_mib\":300.0,\"peak_bound_mib\":1024.0,\"fits\":true}]}"
		 "\n");
	parallel.memory_mib = 1023;
	try_json("\"peak_bound_mib\":1024.0,\"fits\":false}]}\n");
}

static void each_limit_has_its_words(void **state)
{
	static const struct {
		enum parallel_limit limit;
		const char *name, *words;
	} CASES[] = {
		{LIMIT_CORES, "cores", "more jobs share the 2.50 cores, and save no time"},
		{LIMIT_CHAIN, "chain",
		 "steps that need each other take 1 min 30 s, so more jobs save no time"},
		{LIMIT_STEPS, "steps", "all 5 steps run at once"},
		{LIMIT_PLANS, "plans",
		 "2 jobs are the most that is planned for 2.50 cores, which are 76 % busy then"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		char words[256];

		parallel.limit = CASES[i].limit;
		snprintf(words, sizeof words, "-j 2; %s\n", CASES[i].words);
		try_text(words);
		snprintf(words, sizeof words, "\"limit\":\"%s\",\"limit_text\":\"%s\"", CASES[i].name,
			 CASES[i].words);
		try_json(words);
	}
}

/* A task without a name has that of its rule, and a control character is made visible. */
static void steps_that_do_not_fit_together_are_named(void **state)
{
	(void)state;
	begin();
	make_plan(3, 5, 700, 2048);
	parallel.limit = LIMIT_MEMORY;
	parallel.plans[2].heavy[0] = 3;
	parallel.plans[2].heavy_count = 1;
	try_text("-j 2; at -j 3 prog (400 MiB) would need, with the rest: 2.00 GiB of 1.00 GiB\n");
	parallel.plans[2].heavy[1] = 2;
	parallel.plans[2].heavy_count = 2;
	try_text("-j 2; at -j 3 prog (400 MiB) and make (300 MiB) would overlap: 2.00 GiB of 1.00 GiB\n");
	parallel.plans[2].heavy[2] = 0;
	parallel.plans[2].heavy_count = 3;
	try_text("-j 2; at -j 3 prog (400 MiB), make (300 MiB) and a.o (100 MiB) would overlap: 2.00 GiB of "
		 "1.00 GiB\n");
	try_json("\"limit\":\"memory\",\"limit_text\":\"at -j 3 prog (400 MiB), make");
}

static void steps_that_do_not_fit_one_by_one_have_no_number(void **state)
{
	(void)state;
	begin();
	parallel.best = parallel.blocked = parallel.plan_count;
	parallel.memory_mib = 64;
	parallel.limit = LIMIT_MEMORY;
	parallel.plans[0].heavy[0] = 1;
	parallel.plans[0].heavy_count = 1;
	try_text("the steps do not fit, not even one by one: at -j 1 b?.o (200 MiB) would need, with the "
		 "rest: 200 MiB of 64.0 MiB\n");
	try_text("\n   1  20.0 s  x 1.00");
	try_json("{\"jobs\":null,\"limit\":\"memory\"");
}

static void missing_commands_and_broken_recordings_are_told(void **state)
{
	(void)state;
	begin();
	parallel.limit = LIMIT_STEPS;
	parallel.without_command = 3;
	try_text("; 3 of 5 steps have no recorded command, so it is unknown what they need: record with "
		 "TRACKER_RECORD_COMMAND=1\n");
	parallel.unreadable = 2;
	try_text("TRACKER_RECORD_COMMAND=1; 2 recordings could not be read and are left out\n");
	try_json("\"steps\":5,\"steps_without_command\":3,\"unreadable\":2,");
	parallel.count = parallel.without_command = parallel.unreadable = 1;
	try_text("one step runs alone\n1 step on 2.50 cores with 1.00 GiB; 1 of 1 step has no recorded "
		 "command, so it is unknown what it needs: record with "
		 "TRACKER_RECORD_COMMAND=1; 1 recording could not be read and is left out\n");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_plan_has_a_star_and_its_speed),
		cmocka_unit_test(programs_get_the_plans_with_their_bounds),
		cmocka_unit_test(each_limit_has_its_words),
		cmocka_unit_test(steps_that_do_not_fit_together_are_named),
		cmocka_unit_test(steps_that_do_not_fit_one_by_one_have_no_number),
		cmocka_unit_test(missing_commands_and_broken_recordings_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
