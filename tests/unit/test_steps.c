/* Tests of src/workflow/steps.c: which files and lines are steps, their names, and their attempts. */
#include "scratch.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "workflow/steps.h"

static struct steps steps;
static struct rt_problem problem;

static int leave(void **state)
{
	steps_done(&steps);
	return scratch_leave(state);
}

static int read_path(const char *path)
{
	steps_done(&steps);
	problem.text[0] = '\0';
	return steps_read(&steps, &path, 1, &problem);
}

#define LINE(id, rest) "{\"schema\":1,\"id\":\"" id "\",\"outcome\":" rest "}\n"
#define OK(id, started, secs, rest) LINE(id, "\"ok\",\"started\":" #started ",\"wall_secs\":" #secs "," rest)
#define FAILED(id, started, secs, rest) \
	LINE(id, "\"failed\",\"started\":" #started ",\"wall_secs\":" #secs "," rest)

static void read_lines(const char *lines)
{
	put_text("runs.jsonl", lines);
	assert_int_equal(read_path("runs.jsonl"), 0);
}

static void a_step_has_the_name_of_its_rule_and_its_task(void **state)
{
	(void)state;
	read_lines(OK("1", 5, 1, "\"job_name\":\"align\",\"task\":\"a\",\"task_name\":\"b\",\"name\":\"c\"")
			   OK("2", 6, 1, "\"job_name\":\"align\",\"task_name\":\"b\"")
				   OK("3", 7, 1, "\"job_name\":\"\",\"task\":\"all\",\"name\":\"sh\"")
					   OK("4", 8, 1, "\"job_name\":null,\"name\":\"train.py\""));
	assert_int_equal(steps.count, 4);
	assert_string_equal(steps.list[0].rule, "align");
	assert_string_equal(steps.list[0].task, "a");
	assert_string_equal(steps.list[1].task, "b");
	assert_string_equal(steps.list[2].rule, "all");
	assert_string_equal(steps.list[2].task, "");
	assert_string_equal(steps.list[3].rule, "train.py");
	assert_int_equal(steps.damaged_count, 0);
}

static void numbers_of_a_line_are_known_or_not(void **state)
{
	(void)state;
	read_lines("{\"schema\":1,\"id\":\"1\",\"outcome\":\"oom\",\"host\":\"h\",\"started\":100,\"ended\":"
		   "104.5,\"cores_mean\":2,"
		   "\"memory_peak_mib\":\"7\",\"recording\":\"r.jsonl\",\"tags\":{\"needs\":\"a "
		   "b\",\"makes\":\"c\"}}\n"
		   "{\"schema\":1,\"id\":\"2\",\"outcome\":\"ok\",\"started\":200,\"ended\":204.5,\"wall_"
		   "secs\":5}\n");
	assert_int_equal(steps.count, 2);
	assert_true(steps.list[0].wall_secs == 4.5 && steps.list[0].cores_mean == 2);
	assert_true(isnan(steps.list[0].memory_peak_mib) && isnan(steps.list[0].cpu_secs));
	assert_false(flow_step_is_good(&steps.list[0]));
	assert_string_equal(steps.list[0].path, "r.jsonl");
	assert_string_equal(steps.list[0].needs, "a b");
	assert_string_equal(steps.list[0].makes, "c");
	assert_string_equal(steps.list[0].host, "h");
	/* The run's own length is exact. */
	assert_true(steps.list[1].wall_secs == 5 && steps.list[1].ended == 205);
	assert_true(flow_step_is_good(&steps.list[1]));
	assert_null(steps.list[1].path);
	assert_null(steps.list[1].needs);
	assert_string_equal(steps.list[1].host, "");
}

static void steps_stand_by_start_and_name(void **state)
{
	(void)state;
	read_lines(OK("1", 7, 1, "\"job_name\":\"b\",\"task\":\"2\"")
			   OK("2", 7, 1, "\"job_name\":\"b\",\"task\":\"1\"")
				   OK("3", 7, 1, "\"job_name\":\"a\",\"task\":\"9\"")
					   OK("4", 6, 1, "\"job_name\":\"z\""));
	assert_string_equal(steps.list[0].rule, "z");
	assert_string_equal(steps.list[1].rule, "a");
	assert_string_equal(steps.list[2].task, "1");
	assert_string_equal(steps.list[3].task, "2");
}

static void assert_attempts(size_t first, size_t second, size_t third)
{
	assert_int_equal(steps.count, 3);
	assert_int_equal(steps.list[0].attempt, first);
	assert_int_equal(steps.list[1].attempt, second);
	assert_int_equal(steps.list[2].attempt, third);
}

#define NAMED "\"job_name\":\"a\",\"task\":\"1\""

static void a_step_after_a_failure_of_the_same_name_is_an_attempt(void **state)
{
	(void)state;
	read_lines(FAILED("1", 1, 2, NAMED) FAILED("2", 3, 2, NAMED) OK("3", 5, 2, NAMED));
	assert_attempts(1, 2, 3);
	assert_int_equal(steps.list[2].failed_before, 1);
	assert_true(!steps.list[0].is_last && !steps.list[1].is_last && steps.list[2].is_last);
	/* One that ended well is not repeated. */
	read_lines(OK("1", 1, 2, NAMED) OK("2", 3, 2, NAMED) FAILED("3", 5, 2, NAMED));
	assert_attempts(1, 1, 1);
	assert_true(steps.list[0].is_last && steps.list[1].is_last);
	/* Another task, and one that ran at the same time. */
	read_lines(FAILED("1", 1, 2, NAMED) OK("2", 2.5, 2, NAMED)
			   OK("3", 5, 2, "\"job_name\":\"a\",\"task\":\"2\""));
	assert_attempts(1, 1, 1);
	/* A command without a script may be any other. */
	read_lines(FAILED("1", 1, 2, "\"name\":\"bash (project)\",\"executable\":\"bash\"")
			   OK("2", 4, 2, "\"name\":\"bash (project)\",\"executable\":\"bash\"")
				   OK("3", 7, 2, "\"name\":\"other\""));
	assert_attempts(1, 1, 1);
	read_lines(FAILED("1", 1, 2, "\"name\":\"bash x.sh\",\"executable\":\"bash\"")
			   OK("2", 4, 2, "\"name\":\"bash x.sh\",\"executable\":\"bash\"")
				   OK("3", 7, 2, "\"name\":\"sh (project)\",\"executable\":\"bash\""));
	assert_attempts(1, 2, 1);
	read_lines(FAILED("1", 1, 2, "\"name\":\"x (project)\",\"executable\":\"\"") OK(
		"2", 4, 2, "\"name\":\"x (project)\",\"executable\":\"\"") OK("3", 7, 2, "\"name\":\"y\""));
	assert_attempts(1, 2, 1);
}

static void a_run_with_two_lines_counts_once(void **state)
{
	(void)state;
	read_lines(LINE("1", "\"running\",\"started\":5,\"ended\":6") OK("2", 8, 1, NAMED)
			   OK("1", 5, 3, NAMED));
	assert_int_equal(steps.count, 2);
	assert_string_equal(steps.list[0].outcome, "ok");
	assert_true(steps.list[0].wall_secs == 3);
	/* Without an identity, each is its own. */
	read_lines(OK("", 5, 1, NAMED) OK("", 7, 1, NAMED));
	assert_int_equal(steps.count, 2);
}

static void other_lines_are_named_as_damaged(void **state)
{
	(void)state;
	read_lines(OK("1", 5, 1, NAMED) "{\"schema\":1,\"id\":\"2\"\n" LINE("3", "\"ok\",\"started\":5") LINE(
		"4", "\"ok\",\"started\":5,\"wall_secs\":-1") "{\"schema\":1,\"id\":\"5\",\"started\":5,"
							      "\"wall_secs\":1}\n");
	assert_int_equal(steps.count, 1);
	assert_int_equal(steps.damaged_count, 4);
	assert_string_equal(steps.damaged[3].path, "runs.jsonl");
	assert_string_equal(steps.damaged[3].why, "a line of it is not the line of a run");
	assert_int_equal(read_path("none"), -ENODATA);
	assert_non_null(strstr(problem.text, "no step of 1 could be read: "));
	assert_int_equal(mkdir("empty", 0755), 0);
	assert_int_equal(read_path("empty"), -ENODATA);
	assert_string_equal(problem.text, "empty: there is no recording in it");
}

static void put_recording(const char *path, const char *name)
{
	char text[400];

	snprintf(
		text, sizeof text,
		"{\"timestamp\":%d.0,\"elapsed_secs\":1.0,\"sample\":0,\"tracked_pid\":7,\"job_name\":\"%s\","
		"\"actual_interval_ms\":1000.0,\"run_start\":{\"run_id\":\"%s\",\"interval_secs\":1.0},"
		"\"cpu\":{\"process_cores_used\":1.0}}\n",
		1000 + *name, name, name);
	put_text(path, text);
}

/* Each recording in a folder and below it is a step. */
static void a_folder_has_a_step_for_each_recording(void **state)
{
	(void)state;
	assert_int_equal(mkdir("w", 0755) | mkdir("w/below", 0755) | mkdir("w/.resource-tracker", 0755) |
				 mkdir("w/.git", 0755),
			 0);
	put_recording("w/a.jsonl", "a");
	put_recording("w/a.jsonl.1", "b");
	put_recording("w/below/c.jsonl", "c");
	put_recording("w/.resource-tracker/d.jsonl", "d");
	/* These are none. */
	put_recording("w/.git/e.jsonl", "e");
	put_recording("w/.f.jsonl", "f");
	put_recording("w/g.txt", "g");
	put_recording("w/a.jsonl.marks", "h");
	put_text("w/table.csv", "x,y\n1,2\n");
	assert_int_equal(symlink("a.jsonl", "w/i.jsonl"), 0);
	assert_int_equal(read_path("w"), 0);
	assert_int_equal(steps.damaged_count, 0);
	assert_int_equal(steps.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(steps.list[i].rule, ((const char *const[]){"a", "b", "c", "d"})[i]);
	assert_string_equal(steps.list[2].path, "w/below/c.jsonl");
	/* A slash at the end is not doubled. */
	assert_int_equal(read_path("w/below/"), 0);
	assert_string_equal(steps.list[0].path, "w/below/c.jsonl");
	put_text("w/damaged.jsonl", "{\"timestamp\"");
	assert_int_equal(read_path("w"), 0);
	assert_int_equal(steps.count, 4);
	assert_int_equal(steps.damaged_count, 1);
	assert_string_equal(steps.damaged[0].path, "w/damaged.jsonl");
}

#define unit_test_of_steps(test) cmocka_unit_test_setup_teardown(test, scratch_enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_steps(a_step_has_the_name_of_its_rule_and_its_task),
		unit_test_of_steps(numbers_of_a_line_are_known_or_not),
		unit_test_of_steps(steps_stand_by_start_and_name),
		unit_test_of_steps(a_step_after_a_failure_of_the_same_name_is_an_attempt),
		unit_test_of_steps(a_run_with_two_lines_counts_once),
		unit_test_of_steps(other_lines_are_named_as_damaged),
		unit_test_of_steps(a_folder_has_a_step_for_each_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
