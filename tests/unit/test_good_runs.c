/* Tests of src/history/good_runs.c: which lines of a file of runs count as good runs of a job. */
#include "scratch.h"

#include <errno.h>
#include <math.h>

#include "history/good_runs.h"

static struct good_runs good;
static rt_comparison *comparison;
static struct rt_problem problem;

/* The run: it is named "build", and began at 1000. */
static void put_run(const char *of_start)
{
	char text[1000];

	snprintf(text, sizeof text,
		 "{\"timestamp\":1010,\"elapsed_secs\":10,\"sample\":0,\"actual_interval_ms\":10000,"
		 "\"run_start\":{\"run_id\":\"me\",\"interval_secs\":10,\"tracked_pid\":7%s},"
		 "\"run_end\":{\"exit_code\":3,\"wall_secs\":10}}\n",
		 of_start);
	put_text("run.jsonl", text);
}

static int begin(void **state)
{
	int result = scratch_enter(state);

	good = (struct good_runs){.job = BUFFER(10000)};
	problem.text[0] = '\0';
	if (result == 0)
		put_run(",\"executable\":\"build\"");
	return result;
}

static int end(void **state)
{
	good_runs_done(&good);
	rt_comparison_free(comparison);
	comparison = NULL;
	return scratch_leave(state);
}

static int compare(size_t most)
{
	const struct rt_compared_run run = {"this run", "run.jsonl"};

	good_runs_done(&good);
	good = (struct good_runs){.job = BUFFER(10000)};
	rt_comparison_free(comparison);
	comparison = NULL;
	return good_runs_compare(&run, "runs.jsonl", most, &good, &comparison, &problem);
}

/* Writes lines, each an object without its braces and schema, and compares the run with the newest `most`. */
static void compare_with(size_t most, const char *const *lines, size_t count)
{
	char text[8000] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "{\"schema\":1,%s}\n", lines[i]);
	put_text("runs.jsonl", text);
	if (compare(most) < 0)
		fail_msg("%s", problem.text);
}

#define COMPARE(most, ...) \
	compare_with(most, (const char *const[]){__VA_ARGS__}, \
		     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const struct side_figure *figure_of(const char *name)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->list[i].name, name) == 0)
			return comparison->list[i].sides;
	fail_msg("no %s", name);
	return NULL;
}

#define assert_real(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)
#define BUILD "\"name\":\"build\",\"outcome\":\"ok\","

static void only_earlier_good_runs_of_the_job_count(void **state)
{
	(void)state;
	COMPARE(10, BUILD "\"started\":10,\"wall_secs\":4,\"end\":\"exit status 0\"",
		BUILD "\"started\":1000,\"wall_secs\":8,\"end\":\"exit status 0\"",
		/* Without a start, it may be an earlier one. */
		BUILD "\"wall_secs\":6,\"end\":\"exit status 0\"",
		/* None of these. */
		BUILD "\"started\":1001,\"wall_secs\":100",
		BUILD "\"started\":10,\"wall_secs\":100,\"task\":\"t\"",
		BUILD "\"id\":\"me\",\"started\":10,\"wall_secs\":100",
		"\"name\":\"build\",\"outcome\":\"failed\",\"started\":10,\"wall_secs\":100",
		"\"name\":\"builds\",\"outcome\":\"ok\",\"started\":10,\"wall_secs\":100",
		"\"outcome\":\"ok\",\"started\":10,\"wall_secs\":100");
	assert_int_equal(good.count, 3);
	assert_string_equal(good.job.data, "build");
	assert_int_equal(comparison->side_count, 2);
	assert_int_equal(comparison->runs[0], 3);
	assert_int_equal(comparison->runs[1], 1);
	assert_int_equal(comparison->percent_needs, NOISE_NEEDS);
	assert_string_equal(comparison->sides[0], "good runs");
	assert_string_equal(comparison->sides[1], "this run");
	assert_string_equal(comparison->outcomes[0], "exit status 0");
	assert_real(figure_of("wall_time")[0].mean, 6);
	assert_int_equal(figure_of("wall_time")[0].runs, 3);
	assert_real(figure_of("wall_time")[1].mean, 10);
	assert_int_equal(figure_of("wall_time")[1].runs, 1);
}

static void ends_that_differ_are_told(void **state)
{
	(void)state;
	COMPARE(10, BUILD "\"started\":10,\"end\":\"exit status 0\"",
		BUILD "\"started\":11,\"end\":\"ended\"");
	assert_string_equal(comparison->outcomes[0], "not all alike");
	COMPARE(10, BUILD "\"started\":10,\"end\":\"ended\"", BUILD "\"started\":11,\"end\":\"ended\"",
		BUILD "\"started\":12,\"end\":\"exit status 0\"");
	assert_string_equal(comparison->outcomes[0], "not all alike");
	COMPARE(10, BUILD "\"started\":10,\"end\":\"ended\"");
	assert_string_equal(comparison->outcomes[0], "ended");
}

static void without_a_good_run_its_values_are_unknown(void **state)
{
	(void)state;
	COMPARE(10, "\"name\":\"other\",\"outcome\":\"ok\"");
	assert_int_equal(good.count, 0);
	assert_string_equal(comparison->outcomes[0], "none yet");
	assert_int_equal(figure_of("wall_time")[0].runs, 0);
	assert_true(isnan(figure_of("wall_time")[0].mean));
	assert_real(figure_of("wall_time")[1].mean, 10);
}

static void the_newest_runs_are_kept(void **state)
{
	(void)state;
	COMPARE(2, BUILD "\"started\":20,\"wall_secs\":20", BUILD "\"started\":30,\"wall_secs\":30",
		BUILD "\"started\":10,\"wall_secs\":10", BUILD "\"started\":40,\"wall_secs\":40",
		BUILD "\"started\":35,\"wall_secs\":35", BUILD "\"started\":5,\"wall_secs\":5");
	assert_int_equal(good.count, 2);
	assert_real(figure_of("wall_time")[0].least, 35);
	assert_real(figure_of("wall_time")[0].most, 40);
	/* A later line of the same time takes the place. */
	COMPARE(1, BUILD "\"started\":20,\"wall_secs\":20", BUILD "\"started\":20,\"wall_secs\":21");
	assert_real(figure_of("wall_time")[0].mean, 21);
	COMPARE(3, BUILD "\"started\":1,\"wall_secs\":1", BUILD "\"started\":2,\"wall_secs\":2",
		BUILD "\"started\":3,\"wall_secs\":3");
	assert_int_equal(good.count, 3);
}

static void a_line_that_was_added_twice_counts_once(void **state)
{
	(void)state;
	COMPARE(10, BUILD "\"id\":\"x\",\"started\":10,\"wall_secs\":1",
		BUILD "\"id\":\"x\",\"started\":10,\"wall_secs\":2",
		BUILD "\"id\":\"y\",\"started\":10,\"wall_secs\":4", BUILD "\"started\":10,\"wall_secs\":1",
		BUILD "\"started\":10,\"wall_secs\":1");
	assert_int_equal(good.count, 4);
	assert_real(figure_of("wall_time")[0].mean, 7 / 4.0);
}

static void the_task_of_the_run_is_that_of_its_good_runs(void **state)
{
	(void)state;
	put_run(",\"executable\":\"build\",\"task_name\":\"t\\u00e9st\",\"cpu_model\":\"fast\"");
	COMPARE(10, BUILD "\"task\":\"t\\u00e9st\",\"cpu_model\":\"fast\"",
		BUILD "\"task\":\"tést\",\"cpu_model\":\"slow\"", BUILD "\"task\":\"tést\"",
		BUILD "\"task\":\"other\"", BUILD "\"host\":\"h\"");
	assert_int_equal(good.count, 3);
	assert_int_equal(good.other_cpus, 2);
	assert_string_equal(good.job.data, "build (tést)");
	COMPARE(10, BUILD "\"task\":\"tést\",\"cpu_model\":\"slow\"");
	assert_int_equal(good.other_cpus, 1);
	COMPARE(10, BUILD "\"task\":\"tést\",\"cpu_model\":\"fast\"");
	assert_int_equal(good.other_cpus, 0);
}

/* A change of memory is told if both sides count pages alike. */
static void the_source_of_memory_is_compared(void **state)
{
	(void)state;
	COMPARE(10, BUILD "\"memory_peak_mib\":10,\"memory_peak_source\":\"pss\"",
		BUILD "\"memory_peak_mib\":20,\"memory_peak_source\":\"rss\"");
	assert_int_equal(figure_of("memory_peak")[0].runs, 2);
	assert_true(figure_of("memory_peak")[0].measures & (figure_of("memory_peak")[0].measures - 1));
	assert_int_equal(figure_of("wall_time")[0].measures, 0);
	COMPARE(10, BUILD "\"memory_peak_mib\":10");
	assert_int_equal(figure_of("memory_peak")[0].measures, 0);
}

static void files_that_are_none_of_runs_are_told(void **state)
{
	(void)state;
	put_text("runs.jsonl", "damage\n");
	assert_int_equal(compare(10), -ENODATA);
	assert_string_equal(problem.text,
			    "runs.jsonl: no line is a run's; resource-tracker runs add makes them "
			    "of recordings");
	unlink("runs.jsonl");
	assert_int_equal(compare(10), -ENOENT);
	unlink("run.jsonl");
	put_text("runs.jsonl", "");
	assert_int_equal(compare(10), -ENOENT);
	assert_null(comparison);
	put_run(",\"executable\":\"build\"");
	put_text("runs.jsonl",
		 "{\"schema\":1,\"outcome\":\"ok\"}\ndamage\n{\"schema\":7,\"outcome\":\"ok\"}\n");
	assert_int_equal(compare(10), 0);
	assert_int_equal(good.left_out.damaged, 1);
	assert_int_equal(good.left_out.newer, 1);
}

#define GOOD_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		GOOD_TEST(only_earlier_good_runs_of_the_job_count),
		GOOD_TEST(ends_that_differ_are_told),
		GOOD_TEST(without_a_good_run_its_values_are_unknown),
		GOOD_TEST(the_newest_runs_are_kept),
		GOOD_TEST(a_line_that_was_added_twice_counts_once),
		GOOD_TEST(the_task_of_the_run_is_that_of_its_good_runs),
		GOOD_TEST(the_source_of_memory_is_compared),
		GOOD_TEST(files_that_are_none_of_runs_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
