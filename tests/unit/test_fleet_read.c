/* Tests of src/history/fleet_read.c: the group of a line, its end, its request and its job, and lines that were added twice. */
#include "made_fleet.h"

#include <errno.h>

/* Returns the only line of the next group, or of the same one. */
static struct fleet_run only_run(void)
{
	struct run_cursor cursor;
	struct fleet_run run = {0}, more;

	read_lines("job");
	assert_int_equal(fleet.group_count, 1);
	cursor = packed_runs_begin(&fleet.groups[0].lines);
	assert_true(fleet_next_line(&fleet, &cursor, &run));
	assert_false(fleet_next_line(&fleet, &cursor, &more));
	return run;
}

static void begin_again(void)
{
	fleet_done(&fleet);
	fleet = (struct fleet){.memory_reason = -1};
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

static bool takes_by(const char *text)
{
	snprintf(fleet_by, sizeof fleet_by, "%s", text);
	return fleet_set_by(&fleet, fleet_by);
}

static void parts_of_a_key_are_known_words(void **state)
{
	static const char *const WRONG[] = {"",     "jobs", "job,",
					    "tag:", "tag",  "job,task,host,user,job,task,host,user,job"};

	(void)state;
	for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
		assert_false(takes_by(WRONG[i]));
	assert_true(takes_by("user,tag:a:b,job"));
	assert_int_equal(fleet.by_count, 3);
	assert_int_equal(fleet.by[0].part, FLEET_USER);
	assert_int_equal(fleet.by[1].part, FLEET_TAG);
	assert_string_equal(fleet.by[1].tag, "a:b");
	assert_int_equal(fleet.by[2].part, FLEET_JOB);
	assert_null(fleet.by[2].tag);
	assert_true(takes_by("job,task,host,user,job,task,host,user"));
	assert_int_equal(fleet.by_count, 8);
}

static void assert_part(size_t group, size_t number, const char *wanted)
{
	struct buffer text = BUFFER(1000);

	assert_int_equal(fleet_part_text(&fleet.groups[group], number, &text), wanted != NULL);
	assert_string_equal(text.length ? text.data : "", wanted ? wanted : "");
	buffer_done(&text);
}

static void each_part_of_a_key_comes_back(void **state)
{
	(void)state;
	add_line("\"outcome\":\"ok\",\"name\":\"a b\",\"task\":\"t\",\"host\":\"h\",\"user\":\"u\","
		 "\"tags\":{\"team\":\"x\"}");
	/* An absent part is another one than an empty text. */
	add_line("\"outcome\":\"ok\",\"name\":\"\",\"host\":7,\"tags\":{\"team\":1}");
	/* Control characters that separate the parts themselves. */
	add_line("\"outcome\":\"ok\",\"name\":\"a\\u0001b\\u0003\",\"host\":\"\\u00e9\\n\","
		 "\"tags\":{\"team\":\"\\\"\"}");
	read_lines("job,task,host,user,tag:team");
	assert_int_equal(fleet.group_count, 3);
	assert_part(0, 0, "a b");
	assert_part(0, 1, "t");
	assert_part(0, 2, "h");
	assert_part(0, 3, "u");
	assert_part(0, 4, "x");
	assert_part(1, 0, "");
	for (size_t i = 1; i < 5; i++)
		assert_part(1, i, NULL);
	assert_part(2, 0, "a\001b\003");
	assert_part(2, 1, NULL);
	assert_part(2, 2, "é\n");
	assert_part(2, 4, "\"");
}

/* Writers escape differently. */
static void one_name_is_one_group(void **state)
{
	(void)state;
	add_line("\"outcome\":\"ok\",\"name\":\"caf\\u00e9\"");
	add_line("\"outcome\":\"ok\",\"name\":\"café\"");
	add_line("\"outcome\":\"ok\",\"name\":\"a/b\"");
	add_line("\"outcome\":\"ok\",\"name\":\"a\\/b\"");
	/* A raw control character is damage, and left out of the name. */
	add_line("\"outcome\":\"ok\",\"name\":\"caf\002é\"");
	add_line("\"outcome\":\"ok\",\"name\":\"café2\"");
	read_lines("job");
	assert_int_equal(fleet.group_count, 3);
}

static void many_groups_and_lines_are_told_apart(void **state)
{
	enum { GROUPS = 3000 };

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < GROUPS; i++)
			add_line("\"id\":\"%d-%d\",\"outcome\":\"ok\",\"name\":\"%d\",\"wall_secs\":%d",
				 round, i, i, i + round);
	/* Each line once more. */
	for (int i = 0; i < GROUPS; i++)
		add_line("\"id\":\"0-%d\",\"outcome\":\"ok\",\"name\":\"%d\",\"wall_secs\":%d", i, i, i);
	compute("job");
	assert_int_equal(fleet.group_count, GROUPS);
	assert_int_equal(fleet.runs, 2 * GROUPS);
	assert_int_equal(fleet.repeated, GROUPS);
	for (size_t i = 0; i < GROUPS; i++) {
		assert_int_equal(fleet.groups[i].runs, 2);
		assert_real(fleet.groups[i].wall_secs.p50, atoi(fleet.groups[i].key + 1) + 0.5);
	}
}

/* ---- ends ---------------------------------------------------------------------------------------------------- */

static void each_end_has_its_words(void **state)
{
	static const struct {
		const char *members, *words;
		enum fleet_end end;
		bool ended;
	} CASES[] = {
		{"\"outcome\":\"ok\"", "", FLEET_OK, true},
		{"\"outcome\":\"oom\"", "out of memory", FLEET_FAILED, true},
		{"\"outcome\":\"failed\",\"exit_code\":3", "exit 3", FLEET_FAILED, true},
		{"\"outcome\":\"failed\",\"exit_code\":3,\"failed_program\":\"cc1\"", "exit 3 (cc1)",
		 FLEET_FAILED, true},
		{"\"outcome\":\"failed\"", "failed", FLEET_FAILED, true},
		{"\"outcome\":\"failed\",\"exit_code\":999999", "exit 999999", FLEET_FAILED, true},
		{"\"outcome\":\"failed\",\"exit_code\":1000000", "failed", FLEET_FAILED, true},
		{"\"outcome\":\"failed\",\"exit_code\":-1", "exit -1", FLEET_FAILED, true},
		{"\"outcome\":\"killed\",\"signal\":1", "SIGHUP", FLEET_FAILED, true},
		{"\"outcome\":\"killed\",\"signal\":127", "signal 127", FLEET_FAILED, true},
		{"\"outcome\":\"killed\",\"signal\":128", "killed", FLEET_FAILED, true},
		{"\"outcome\":\"killed\",\"signal\":0", "killed", FLEET_FAILED, true},
		{"\"outcome\":\"killed\"", "killed", FLEET_FAILED, true},
		{"\"outcome\":\"lost\"", "no end", FLEET_FAILED, false},
		{"\"outcome\":\"running\"", "running", FLEET_CUT, false},
		{"\"outcome\":\"stopped\"", "stopped", FLEET_CUT, true},
		{"\"outcome\":\"of a later version\"", "of a later version", FLEET_CUT, true},
		/* Words are cut at 47 bytes. */
		{"\"outcome\":\"of a later version that writes very many words about it\"",
		 "of a later version that writes very many words ", FLEET_CUT, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct fleet_run run;

		add_line("%s", CASES[i].members);
		run = only_run();
		if (strcmp(fleet.reasons[run.reason], CASES[i].words) != 0 || run.end != CASES[i].end ||
		    run.ended != CASES[i].ended)
			fail_msg("%s: %s, %d", CASES[i].members, fleet.reasons[run.reason], run.end);
		begin_again();
	}
}

static void further_reasons_are_one(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 100; i++)
			add_line("\"outcome\":\"failed\",\"exit_code\":%d", i);
	compute("job");
	assert_int_equal(fleet.reason_count, FLEET_REASONS_MOST);
	assert_string_equal(fleet.reasons[62], "exit 62");
	assert_string_equal(fleet.reasons[63], "other reasons");
	assert_int_equal(fleet.groups[0].reasons[62], 2);
	assert_int_equal(fleet.groups[0].reasons[63], 2 * 37);
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

static void a_limit_stands_for_the_request_unless_it_is_the_machine(void **state)
{
	static const struct {
		const char *members;
		double cores, memory_mib;
	} CASES[] = {
		{"\"cores_asked\":2,\"memory_asked_mib\":100", 2, 100},
		{"\"cores_asked\":2,\"cores_limit\":4,\"cores_limit_source\":\"cgroup\","
		 "\"memory_asked_mib\":100,\"memory_limit_mib\":200,\"memory_limit_source\":\"cgroup\"",
		 2, 100},
		{"\"cores_limit\":4,\"cores_limit_source\":\"cgroup\","
		 "\"memory_limit_mib\":200,\"memory_limit_source\":\"cgroup\"",
		 4, 200},
		{"\"cores_limit\":4,\"cores_limit_source\":\"machine\","
		 "\"memory_limit_mib\":200,\"memory_limit_source\":\"machine\"",
		 NAN, NAN},
		{"\"cores_limit\":4,\"memory_limit_mib\":200", NAN, NAN},
		{"\"cores_asked\":0,\"memory_asked_mib\":-1", NAN, NAN},
		{"\"host\":\"h\"", NAN, NAN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct fleet_run run;

		add_line("\"outcome\":\"ok\",%s", CASES[i].members);
		run = only_run();
		if (isnan(CASES[i].cores)) {
			assert_true(isnan(run.cores_asked) && isnan(run.memory_asked_mib));
		} else {
			assert_real(run.cores_asked, CASES[i].cores);
			assert_real(run.memory_asked_mib, CASES[i].memory_mib);
		}
		begin_again();
	}
}

static void a_run_is_at_its_limit_from_95_percent(void **state)
{
	static const struct {
		const char *members;
		bool at_limit;
	} CASES[] = {
		{"\"memory_peak_mib\":949,\"memory_limit_mib\":1000", false},
		{"\"memory_peak_mib\":950,\"memory_limit_mib\":1000", true},
		{"\"memory_peak_mib\":949,\"memory_asked_mib\":1000", false},
		{"\"memory_peak_mib\":950,\"memory_asked_mib\":1000", true},
		/* The kernel's memory counts with that which the job needs. */
		{"\"memory_peak_mib\":900,\"memory_limit_mib\":1000,\"memory_needed_mib\":940,"
		 "\"memory_kernel_mib\":9",
		 false},
		{"\"memory_peak_mib\":900,\"memory_limit_mib\":1000,\"memory_needed_mib\":940,"
		 "\"memory_kernel_mib\":10",
		 true},
		{"\"memory_peak_mib\":900,\"memory_limit_mib\":1000,\"memory_needed_mib\":950", true},
		{"\"memory_peak_mib\":900,\"memory_limit_mib\":1000,\"memory_needed_mib\":949.5", false},
		{"\"memory_peak_mib\":900,\"memory_limit_mib\":1000,\"memory_needed_mib\":950,"
		 "\"memory_kernel_mib\":-9",
		 true},
		{"\"memory_limit_mib\":1000", false},
		{"\"memory_peak_mib\":900", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		add_line("\"outcome\":\"ok\",%s", CASES[i].members);
		if (only_run().at_limit != CASES[i].at_limit)
			fail_msg("%s", CASES[i].members);
		begin_again();
	}
}

static void the_time_of_a_run_has_its_descendants(void **state)
{
	(void)state;
	add_line("\"outcome\":\"ok\",\"wall_secs\":5,\"tree_wall_secs\":9");
	assert_real(only_run().wall_secs, 9);
}

/* ---- jobs ---------------------------------------------------------------------------------------------------- */

static struct fleet_run run_of_job(const char *members)
{
	struct fleet_run run;

	begin_again();
	add_line("\"outcome\":\"ok\",%s", members);
	run = only_run();
	return run;
}

static void a_line_of_a_slurm_job_is_a_part_of_it(void **state)
{
	const struct fleet_run script = run_of_job("\"host\":\"a\",\"scheduler_job\":\"7\",\"scheduler\":"
						   "{\"SLURM_JOB_ID\":\"7\",\"SLURM_MEM_PER_NODE\":\"1\"}"),
			       step = run_of_job("\"host\":\"b\",\"scheduler_job\":\"7\",\"scheduler\":"
						 "{\"SLURM_JOB_ID\":\"7\",\"SLURM_STEP_ID\":\"0\","
						 "\"SLURM_MEM_PER_CPU\":\"1\"}");
	struct fleet_run run;

	(void)state;
	assert_true(script.job && script.job == step.job && script.host != step.host);
	assert_false(script.is_step || script.asked_by_cpu);
	assert_true(step.is_step && step.asked_by_cpu);
	/* With both, the node's memory counts. */
	run = run_of_job("\"scheduler_job\":\"7\",\"scheduler\":{\"SLURM_JOB_ID\":\"7\","
			 "\"SLURM_MEM_PER_CPU\":\"1\",\"SLURM_MEM_PER_NODE\":\"1\"}");
	assert_false(run.asked_by_cpu);
	/* A line may lack the variables. */
	assert_true(run_of_job("\"scheduler_job\":\"7\"").job == script.job);
	assert_true(run_of_job("\"scheduler_job\":\"7\",\"scheduler\":{}").job == script.job);
	/* Another job, the same one after its requeue, and jobs of other schedulers. */
	assert_true(run_of_job("\"scheduler_job\":\"8\"").job != script.job);
	assert_true(run_of_job("\"scheduler_job\":\"7\",\"attempt\":\"1\"").job != script.job);
	assert_int_equal(run_of_job("\"scheduler_job\":\"7\",\"scheduler\":{\"PBS_JOBID\":\"7\"}").job, 0);
	/* A line that names its task is a run of that. */
	assert_int_equal(run_of_job("\"scheduler_job\":\"7\",\"task\":\"t\"").job, 0);
	assert_int_equal(run_of_job("\"host\":\"a\"").job, 0);
}

/* ---- lines that were added twice ----------------------------------------------------------------------------- */

static double wall_of_id(const char *first, const char *second)
{
	begin_again();
	add_line("\"id\":\"x\",\"wall_secs\":1,\"outcome\":\"%s\"", first);
	add_line("\"id\":\"x\",\"wall_secs\":2,\"outcome\":\"%s\"", second);
	return only_run().wall_secs;
}

static void a_later_line_takes_the_place_of_an_earlier_one(void **state)
{
	(void)state;
	assert_real(wall_of_id("running", "ok"), 2);
	assert_real(wall_of_id("ok", "failed"), 2);
	assert_real(wall_of_id("lost", "running"), 2);
	/* The end of the run is known already. */
	assert_real(wall_of_id("ok", "running"), 1);
	assert_real(wall_of_id("ok", "lost"), 1);
	assert_int_equal(fleet.repeated, 1);
	/* After that line, a third one. */
	begin_again();
	add_line("\"id\":\"x\",\"wall_secs\":1,\"outcome\":\"running\"");
	add_line("\"id\":\"x\",\"wall_secs\":2,\"outcome\":\"ok\"");
	add_line("\"id\":\"x\",\"wall_secs\":3,\"outcome\":\"running\"");
	assert_real(only_run().wall_secs, 2);
	assert_int_equal(fleet.repeated, 2);
	/* Lines without an id are runs of their own. */
	begin_again();
	add_line("\"outcome\":\"ok\"");
	add_line("\"id\":\"\",\"outcome\":\"ok\"");
	add_line("\"id\":\"y\",\"outcome\":\"ok\"");
	compute("job");
	assert_int_equal(fleet.runs, 3);
	assert_int_equal(fleet.repeated, 0);
}

/* ---- which lines count --------------------------------------------------------------------------------------- */

static void only_wanted_lines_count(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		begin_again();
		fleet.since = round ? 100 : 0;
		fleet.job = round > 1 ? "a" : NULL;
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":99.5");
		add_line("\"outcome\":\"ok\",\"name\":\"a\",\"started\":100");
		add_line("\"outcome\":\"ok\",\"name\":\"b\",\"job_name\":\"a\",\"started\":101");
		add_line("\"outcome\":\"ok\",\"name\":\"b\",\"started\":101");
		add_line("\"outcome\":\"ok\",\"name\":\"a\"");
		compute("job");
		assert_int_equal(fleet.runs, 5 - round - (round > 0));
	}
}

static void files_and_lines_that_are_left_out_are_counted(void **state)
{
	struct rt_problem problem = {""};

	(void)state;
	add_line("\"outcome\":\"ok\"");
	buffer_add_text(&made_lines, "damage\n{\"schema\":3,\"outcome\":\"ok\"}\n");
	read_lines("job");
	add_line("\"outcome\":\"ok\"");
	buffer_add_text(&made_lines, "damage\n");
	read_lines("job");
	assert_int_equal(fleet.files, 2);
	assert_int_equal(fleet.left_out.damaged, 2);
	assert_int_equal(fleet.left_out.newer, 1);
	put_text("other", "damage\n");
	assert_int_equal(fleet_add_file(&fleet, "other", &problem), -ENODATA);
	assert_string_equal(problem.text,
			    "other: no line is a run's; resource-tracker runs add makes them of recordings");
	assert_int_equal(fleet_add_file(&fleet, "absent", &problem), -ENOENT);
	assert_int_equal(fleet.files, 2);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(parts_of_a_key_are_known_words),
		FLEET_TEST(each_part_of_a_key_comes_back),
		FLEET_TEST(one_name_is_one_group),
		FLEET_TEST(many_groups_and_lines_are_told_apart),
		FLEET_TEST(each_end_has_its_words),
		FLEET_TEST(further_reasons_are_one),
		FLEET_TEST(a_limit_stands_for_the_request_unless_it_is_the_machine),
		FLEET_TEST(a_run_is_at_its_limit_from_95_percent),
		FLEET_TEST(the_time_of_a_run_has_its_descendants),
		FLEET_TEST(a_line_of_a_slurm_job_is_a_part_of_it),
		FLEET_TEST(a_later_line_takes_the_place_of_an_earlier_one),
		FLEET_TEST(only_wanted_lines_count),
		FLEET_TEST(files_and_lines_that_are_left_out_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
