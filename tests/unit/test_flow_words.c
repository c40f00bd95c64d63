/* A workflow as people and programs read it: steps, rules, hosts and ranks that were made by hand. */
#include "unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "workflow/flow.h"

enum { STEPS_MOST = 12, HOSTS_MOST = 4, RULES_MOST = 7 };

static struct flow_step steps[STEPS_MOST];
static struct flow_place places[STEPS_MOST];
static size_t needs[STEPS_MOST], path[STEPS_MOST];
static struct flow_host hosts[HOSTS_MOST];
static struct flow_rule rules[RULES_MOST];
static struct flow_ranks ranks[2];
static struct damaged_step damaged[3];
static struct rt_workflow flow;

static void forget_lines(void)
{
	for (size_t i = 0; i < STEPS_MOST; i++)
		json_decref(steps[i].line);
	memset(steps, 0, sizeof steps);
}

/* Two steps after each other on one host, with one rule each. */
static void begin(void)
{
	forget_lines();
	for (size_t i = 0; i < STEPS_MOST; i++) {
		steps[i] = (struct flow_step){.rule = i ? "sort" : "align",
					      .task = i ? "" : "n=1",
					      .host = "node",
					      .outcome = "ok",
					      .started = 1000 + 10 * (double)i,
					      .ended = 1010 + 10 * (double)i,
					      .wall_secs = 10,
					      .cpu_secs = 5,
					      .cores_mean = 0.5,
					      .cores_max = 1,
					      .cores_asked = 2,
					      .memory_peak_mib = i ? 9.8765 : 100.26,
					      .memory_asked_mib = NAN,
					      .attempt = 1,
					      .is_last = true};
		places[i] = (struct flow_place){.before = (long)i - 1, .on_path = true, .lane = 0};
		path[i] = i;
	}
	hosts[0] = (struct flow_host){.name = "node",
				      .lanes = 1,
				      .cores = 4,
				      .memory_mib = 1024,
				      .cores_most = 0.5,
				      .memory_most = 100.26};
	rules[0] = (struct flow_rule){.name = "align",
				      .steps = 1,
				      .on_path = 1,
				      .wall_secs = 10,
				      .path_secs = 10,
				      .cpu_secs = 5,
				      .longest_secs = 10,
				      .memory_peak_mib = 100.26,
				      .cores_asked = 2,
				      .memory_asked_mib = NAN,
				      .asked_core_secs = 20,
				      .idle_core_secs = 15,
				      .asked_gib_hours = NAN,
				      .idle_gib_hours = NAN};
	rules[1] = rules[0];
	rules[1].name = "sort";
	flow = (struct rt_workflow){.steps = {.list = steps, .count = 2},
				    .places = places,
				    .needs = needs,
				    .path = path,
				    .path_count = 2,
				    .path_secs = 20,
				    .began = 1000,
				    .ended = 1020,
				    .wall_secs = 20,
				    .cpu_secs = 10,
				    .slots = 1,
				    .hosts = hosts,
				    .host_count = 1,
				    .rules = rules,
				    .rule_count = 2,
				    .ranks = ranks};
}

static void try_part(const char *text, const char *part, bool is_there)
{
	if (!strstr(text, part) == is_there)
		fail_msg("\"%s\" is %s in:\n%s", part, is_there ? "not" : "", text);
}

static void try_text(const char *part, const char *absent)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);

	flow_add_text(&out, &flow, &(struct screen){.columns = 1000});
	try_part(out.data, part, true);
	if (absent)
		try_part(out.data, absent, false);
}

static void try_json(const char *part)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);

	flow_add_json(&out, &flow);
	try_part(out.data, part, true);
}

static void a_short_workflow_is_told_whole(void **state)
{
	(void)state;
	begin();
	try_text("2 steps in 20.0 s, 2 rules; 0 failed, 0 repeated, 1 at once\n"
		 "  node: 1 slot; at most 0.50 of 4.00 cores and 100 MiB of 1.00 GiB at once; CPU time 10.0 "
		 "s (12 %)\n"
		 "\nCritical path: 2 steps, 20.0 s of 20.0 s inside them\n"
		 "STEP          BEGAN    TIME  AFTER  CORES  ASKED    MEMORY\n"
		 "align (n=1)    0 ms  10.0 s   0 ms   0.50   2.00   100 MiB\n"
		 "sort         10.0 s  10.0 s   0 ms   0.50   2.00  9.88 MiB\n"
		 "\nRULE   STEPS  FAILED    TIME  ON PATH  CPU TIME   MEMORY  CORES IDLE  MEMORY IDLE\n"
		 "align      1       0  10.0 s   10.0 s    5.00 s  100 MiB        75 %            -\n"
		 "sort       1       0  10.0 s   10.0 s    5.00 s  100 MiB        75 %            -\n\n",
		 "Failed");
	flow.steps.count = flow.path_count = flow.rule_count = 1;
	hosts[0].lanes = 2;
	hosts[0].name = "";
	try_text("1 step in 20.0 s, 1 rule;", NULL);
	try_text("  unknown host: 2 slots; at most", NULL);
	try_text("Critical path: 1 step, ", "sort");
}

/* Eight of nine steps are shown, in their order: the shortest is left out. */
static void the_longest_steps_of_a_long_path_are_shown(void **state)
{
	(void)state;
	begin();
	flow.steps.count = flow.path_count = 9;
	steps[4].rule = "brief";
	steps[4].wall_secs = 1;
	try_text("Critical path: 9 steps, 20.0 s of 20.0 s inside them; the longest are\n", "brief");
	flow.path_count = 8;
	try_text("Critical path: 8 steps, 20.0 s of 20.0 s inside them\nSTEP", "longest");
	try_text("\nbrief            40.0 s  1.00 s", NULL);
}

static void more_than_three_hosts_and_five_rules_are_counted(void **state)
{
	static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "g"};

	(void)state;
	begin();
	for (size_t i = 1; i < HOSTS_MOST; i++)
		hosts[i] = hosts[0];
	for (size_t i = 0; i < RULES_MOST; i++) {
		rules[i] = rules[0];
		rules[i].name = NAMES[i];
	}
	flow.host_count = 4;
	flow.rule_count = 7;
	hosts[2].name = "third", hosts[3].name = "fourth";
	try_text("100 MiB of 1.00 GiB at once\n  third: 1 slot", "fourth");
	try_text("\n  and 1 host more\n", "CPU time 10.0 s");
	try_text("\ne         1 ", "\nf ");
	try_text("\nand 2 rules more\n", NULL);
	flow.rule_count = 6;
	try_text("\nand 1 rule more\n", NULL);
	flow.host_count = 3;
	flow.rule_count = 5;
	try_text("third", "more");
}

static void steps_that_failed_and_damaged_ones_are_named(void **state)
{
	static char why[] = "x.jsonl: torn";

	(void)state;
	begin();
	flow.steps.count = 5;
	flow.failed = 4;
	for (size_t i = 0; i < 4; i++)
		steps[i].outcome = i ? "oom" : "failed";
	steps[0].line = json_pack("{s:s}", "end", "exit status 3");
	steps[0].is_last = false;
	try_text("; 4 failed, 0 repeated", NULL);
	try_text("Failed: align (n=1), failed: exit status 3, and was repeated\n"
		 "Failed: sort, oom: no end is recorded\n"
		 "Failed: sort, oom: no end is recorded\n"
		 "and 1 more failed\n",
		 "Damaged");
	steps[3].outcome = "ok";
	flow.failed = 3;
	try_text("Failed: align", "more failed");
	flow.steps.damaged = damaged;
	for (size_t i = 0; i < 3; i++)
		damaged[i].why = why;
	flow.steps.damaged_count = 3;
	try_text("Damaged: x.jsonl: torn\nDamaged: x.jsonl: torn\nand 1 more damaged recording (--json names "
		 "all)\n",
		 NULL);
	try_json("\"damaged\":[\"x.jsonl: torn\",\"x.jsonl: torn\",\"x.jsonl: torn\"]}");
	flow.steps.damaged_count = 2;
	try_text("Damaged: x.jsonl: torn\nDamaged: x.jsonl: torn\n", "more damaged");
}

/* Nextflow's task names the process as well. */
static void a_task_that_names_its_rule_stands_alone(void **state)
{
	static const struct {
		const char *rule, *task, *words;
	} CASES[] = {
		{"align", "", "align"},
		{"align", "align", "align"},
		{"align", "align (sample 3)", "align (sample 3)"},
		{"align", "aligned (3)", "align (aligned (3))"},
		{"al\tign", "n\n1", "al?ign (n?1)"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(1 << 10);

		flow_add_step_name(&out, &(struct flow_step){.rule = CASES[i].rule, .task = CASES[i].task});
		assert_string_equal(out.data, CASES[i].words);
	}
}

static struct flow_spread spread(double least, double median, double most)
{
	return (struct flow_spread){least, median, most, 1};
}

static void make_ranks(void)
{
	begin();
	flow.ranks_count = 1;
	ranks[0] = (struct flow_ranks){.rule = "mpi",
				       .task = "",
				       .count = 4,
				       .wall_secs = spread(1, 2, 3),
				       .cpu_secs = spread(0.5, 1, 2.5),
				       .memory_mib = spread(10, 20, 30),
				       .gpu_mean = spread(NAN, NAN, NAN),
				       .gpu_held_idle_secs = spread(NAN, NAN, NAN),
				       .straggler = FLOW_NONE,
				       .over = NAN};
	ranks[1] = ranks[0];
	ranks[1].rule = "other";
}

static void ranks_have_their_spread_and_the_straggler(void **state)
{
	(void)state;
	make_ranks();
	try_text("Ranks of mpi: 4 (min, median, max); time 1.00 s, 2.00 s, 3.00 s; CPU time 0.50 s, 1.00 s, "
		 "2.50 s; "
		 "memory 10.0 MiB, 20.0 MiB, 30.0 MiB; none stands out\n",
		 "GPU");
	try_json("\"ranks\":[{\"rule\":\"mpi\",\"task\":null,\"ranks\":4,\"wall_secs\":{\"min\":1.0,"
		 "\"median\":2.0,\"max\":3.0},");
	try_json("\"straggler\":null,\"straggler_by\":null,\"straggler_over_pct\":null}]");
	steps[1].line = json_pack("{s:i}", "rank", 7);
	ranks[0].straggler = 1;
	ranks[0].over = 0.5;
	ranks[0].gpu_mean = spread(0, 0.5, 1);
	ranks[0].gpu_held_idle_secs = spread(0, 0, 0);
	try_text("; GPUs at work 0.00, 0.50, 1.00; straggler: rank 7 on node, time 50 % over the median\n",
		 "GPUs held");
	try_json("\"straggler\":1,\"straggler_by\":\"wall_secs\",\"straggler_over_pct\":50.0}]");
	ranks[0].gpu_held_idle_secs = spread(0, 1, 2);
	ranks[0].by_cpu = true;
	steps[1].host = "";
	try_text("; GPUs held without work for 0 ms, 1.00 s, 2.00 s; straggler: rank 7, CPU time 50 % over "
		 "the median\n",
		 NULL);
	try_json("\"straggler_by\":\"cpu_secs\"");
	ranks[0].gpu_held_idle_secs = spread(0, 0, 0.5);
	try_text("; GPUs held without work for 0 ms, 0 ms, 0.50 s;", NULL);
	steps[0].line = json_pack("{s:i}", "rank", 3);
	ranks[0].straggler = 0;
	try_text("; straggler: rank 3 on node, CPU time", "none stands out");
	try_json("\"straggler\":0,\"straggler_by\":\"cpu_secs\"");
	/* The one with the largest straggler is told, or the first. */
	flow.ranks_count = 2;
	try_text("Ranks of mpi: ", "Ranks of other");
	try_text("over the median (and 1 more with ranks: --json)\n", NULL);
	ranks[1].over = 0.6;
	try_text("Ranks of other: ", "Ranks of mpi");
	ranks[0].over = NAN;
	ranks[1].over = 0.1;
	try_text("Ranks of other: ", "Ranks of mpi");
}

static void known_needs_and_estimates_are_told(void **state)
{
	(void)state;
	begin();
	try_text("2 steps", "The needs of");
	try_json("\"needs\":null,\"waited_secs\":null,\"waited_for_slot\":null,");
	steps[1].needs = "a";
	places[1].need_count = 1;
	places[1].had_room = true;
	needs[0] = 0;
	try_text("The needs of 1 of 2 steps are known; each of the others follows the one that ended last\n",
		 NULL);
	try_json("\"needs\":[0],\"waited_secs\":0.0,\"waited_for_slot\":false,");
	steps[0].needs = " ";
	try_text("The needs of 2 of 2 steps are known\n", NULL);
	try_json("\"needs\":[],\"waited_secs\":0.0,\"waited_for_slot\":true,");
	flow.estimate_count = 1;
	flow.estimates[0] = (struct flow_estimate){"with 2 slots", "none waits", 90};
	try_text("\nEstimate: with 2 slots, 1 min 30 s (none waits)\n", NULL);
	try_json("\"estimates\":[{\"what\":\"with 2 slots\",\"wall_secs\":90.0,\"assumption\":\"none "
		 "waits\"}]");
}

static void programs_get_all_of_it(void **state)
{
	double course[] = {0.05, 0.0625, 9.5, 2.125}, high[] = {0.1, 0.5, 10, 2.125};

	(void)state;
	begin();
	flow.steps.count = 1;
	flow.path_count = flow.rule_count = 1;
	places[0].course = course;
	places[0].course_parts = 2;
	steps[0].line = json_pack("{s:i,s:s,s:s}", "rank", 0, "end", "exit status 0", "bottleneck", "cpu");
	try_json("{\"schema\":1,\"began\":1000.0,\"wall_secs\":20.0,\"cpu_secs\":10.0,\"path_secs\":20.0,"
		 "\"failed\":0,\"repeated\":0,"
		 "\"slots\":1,\"hosts\":[{\"host\":\"node\",\"slots\":1,\"cores\":4.0,\"memory_mib\":1024.0,"
		 "\"cores_most\":0.5,"
		 "\"memory_most_mib\":100.3}],\"path\":[0],\"estimates\":[],\"ranks\":[],\"rules\":[{"
		 "\"rule\":\"align\",\"steps\":1,"
		 "\"failed\":0,\"repeated\":0,\"steps_on_path\":1,\"wall_secs\":10.0,\"longest_secs\":10.0,"
		 "\"path_secs\":10.0,"
		 "\"cpu_secs\":5.0,\"memory_peak_mib\":100.3,\"cores_asked\":2.0,\"memory_asked_mib\":null,"
		 "\"asked_core_secs\":20.0,"
		 "\"idle_core_secs\":15.0,\"asked_gib_hours\":null,\"idle_gib_hours\":null}],\"steps\":[{"
		 "\"rule\":\"align\",\"task\":\"n=1\","
		 "\"host\":\"node\",\"rank\":0,\"outcome\":\"ok\",\"end\":\"exit status "
		 "0\",\"bottleneck\":\"cpu\",\"start_secs\":0.0,"
		 "\"wall_secs\":10.0,\"cpu_secs\":5.0,\"cores_mean\":0.5,\"cores_max\":1.0,\"cores_asked\":2."
		 "0,\"memory_peak_mib\":100.3,"
		 "\"memory_asked_mib\":null,\"attempt\":1,\"is_last_attempt\":true,\"slot\":0,\"before\":"
		 "null,\"needs\":null,"
		 "\"waited_secs\":null,\"waited_for_slot\":null,\"gap_secs\":0.0,\"slack_secs\":0.0,\"on_"
		 "path\":true,\"recording\":null,"
		 /* Small values have two decimals more. */
		 "\"course\":{\"cores\":[0.05,0.0625],\"memory_mib\":[9.5,2.13]}}],\"damaged\":[]}");
	rules[0].cpu_secs = steps[0].cpu_secs = 5.12345;
	try_json("\"path_secs\":10.0,\"cpu_secs\":5.123,");
	try_json("\"wall_secs\":10.0,\"cpu_secs\":5.123,\"cores_mean\"");
	places[0].course = high;
	try_json("\"course\":{\"cores\":[0.1,0.5],\"memory_mib\":[10,2]}}]");
	steps[0].memory_peak_mib = 9.8765;
	places[0].course = NULL;
	places[0].before = 0;
	try_json("\"memory_peak_mib\":9.877,");
	try_json("\"before\":0,");
	try_json("\"recording\":null,\"course\":null}]");
}

/* Milliseconds, thousandths of cores, and tenths of a MiB. */
static void figures_of_programs_have_few_decimals(void **state)
{
	static const double FIGURE = 20.123456789;
	double course[] = {0.15, 0.123456, 12.6, 11.25};
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);

	(void)state;
	make_ranks();
	flow.steps.count = flow.path_count = 1;
	flow.rule_count = flow.host_count = flow.estimate_count = 1;
	flow.began = flow.wall_secs = flow.cpu_secs = flow.path_secs = FIGURE;
	flow.failed = 3, flow.repeated = 4, flow.slots = 5;
	hosts[0] = (struct flow_host){"node", 6, FIGURE, FIGURE, FIGURE, FIGURE};
	rules[0] = (struct flow_rule){"align", 1,      2,      3,      4,      FIGURE, FIGURE, FIGURE,
				      FIGURE,  FIGURE, FIGURE, FIGURE, FIGURE, FIGURE, FIGURE, FIGURE};
	ranks[0].wall_secs = ranks[0].cpu_secs = ranks[0].memory_mib = ranks[0].gpu_mean =
		ranks[0].gpu_held_idle_secs = spread(FIGURE, FIGURE + 1, FIGURE + 2);
	ranks[0].straggler = 1;
	ranks[0].over = 0.123456;
	flow.estimates[0] = (struct flow_estimate){"more", "none", FIGURE};
	steps[0].wall_secs = steps[0].cpu_secs = steps[0].cores_mean = steps[0].cores_max =
		steps[0].cores_asked = steps[0].memory_peak_mib = steps[0].memory_asked_mib = FIGURE;
	steps[0].started = 2 * FIGURE;
	places[0].gap_secs = places[0].slack_secs = FIGURE;
	places[0].course = course;
	places[0].course_parts = 2;
	/* The needs of a step stand behind those of the others. */
	steps[0].needs = "x";
	places[0].first_need = 2;
	places[0].need_count = 2;
	needs[2] = 1, needs[3] = 0;
	steps[0].ended = steps[1].ended = FIGURE;
	flow_add_json(&out, &flow);
	assert_string_equal(
		out.data,
		"{\"schema\":1,\"began\":20.123,\"wall_secs\":20.123,\"cpu_secs\":20.123,"
		"\"path_secs\":20.123,\"failed\":3,\"repeated\":4,\"slots\":5,"
		"\"hosts\":[{\"host\":\"node\",\"slots\":6,\"cores\":20.123,\"memory_mib\":20.1,"
		"\"cores_most\":20.123,\"memory_most_mib\":20.1}],\"path\":[0],"
		"\"estimates\":[{\"what\":\"more\",\"wall_secs\":20.123,\"assumption\":\"none\"}],"
		"\"ranks\":[{\"rule\":\"mpi\",\"task\":null,\"ranks\":4,\"wall_secs\":{\"min\":20.123,"
		"\"median\":21.123,\"max\":22.123},\"cpu_secs\":{\"min\":20.123,\"median\":21.123,"
		"\"max\":22.123},\"memory_peak_mib\":{\"min\":20.123,\"median\":21.123,"
		"\"max\":22.123},\"gpu_mean\":{\"min\":20.123,\"median\":21.123,\"max\":22.123},"
		"\"gpu_held_idle_secs\":{\"min\":20.123,\"median\":21.123,\"max\":22.123},"
		"\"straggler\":1,\"straggler_by\":\"wall_secs\",\"straggler_over_pct\":12.3}],"
		"\"rules\":[{\"rule\":\"align\",\"steps\":1,\"failed\":2,\"repeated\":3,"
		"\"steps_on_path\":4,\"wall_secs\":20.123,\"longest_secs\":20.123,"
		"\"path_secs\":20.123,\"cpu_secs\":20.123,\"memory_peak_mib\":20.1,"
		"\"cores_asked\":20.123,\"memory_asked_mib\":20.1,\"asked_core_secs\":20.123,"
		"\"idle_core_secs\":20.123,\"asked_gib_hours\":20.123457,"
		"\"idle_gib_hours\":20.123457}],\"steps\":[{\"rule\":\"align\",\"task\":\"n=1\","
		"\"host\":\"node\",\"rank\":null,\"outcome\":\"ok\",\"end\":null,\"bottleneck\":null,"
		"\"start_secs\":20.123,\"wall_secs\":20.123,\"cpu_secs\":20.123,\"cores_mean\":20.123,"
		"\"cores_max\":20.123,\"cores_asked\":20.123,\"memory_peak_mib\":20.1,"
		"\"memory_asked_mib\":20.1,\"attempt\":1,\"is_last_attempt\":true,\"slot\":0,"
		"\"before\":null,\"needs\":[1,0],\"waited_secs\":20.123,\"waited_for_slot\":true,"
		"\"gap_secs\":20.123,\"slack_secs\":20.123,\"on_path\":true,\"recording\":null,"
		"\"course\":{\"cores\":[0.15,0.12],\"memory_mib\":[13,11]}}],\"damaged\":[]}");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_workflow_is_told_whole),
		cmocka_unit_test(the_longest_steps_of_a_long_path_are_shown),
		cmocka_unit_test(more_than_three_hosts_and_five_rules_are_counted),
		cmocka_unit_test(steps_that_failed_and_damaged_ones_are_named),
		cmocka_unit_test(a_task_that_names_its_rule_stands_alone),
		cmocka_unit_test(ranks_have_their_spread_and_the_straggler),
		cmocka_unit_test(known_needs_and_estimates_are_told),
		cmocka_unit_test(programs_get_all_of_it),
		cmocka_unit_test(figures_of_programs_have_few_decimals),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	forget_lines();
	return result;
}
