/* A run that is read and judged: src/verdict/run_summary.c. */
#include "made_summary.h"

static const char MARKS[] =
	"{\"timestamp_ns\":110000000000,\"event\":\"start\",\"name\":\"load\",\"pid\":1}\n";

static void marks_beside_a_recording_are_its_phases(void **state)
{
	(void)state;
	assert_int_equal(summary->phases.count, 0);
	put_text("run.jsonl.marks", MARKS);
	begin_with("");
	assert_int_equal(summary->phases.count, 1);
	assert_string_equal(summary->phases.list[0].name, "load");
}

/* Another user may have planted it. */
static void a_link_to_marks_in_a_folder_of_others_is_not_followed(void **state)
{
	(void)state;
	put_text("elsewhere", MARKS);
	assert_int_equal(symlink("elsewhere", "run.jsonl.marks"), 0);
	begin_with("");
	assert_int_equal(summary->phases.count, 1);
	assert_int_equal(chmod(".", 01777), 0);
	begin_with("");
	assert_int_equal(summary->phases.count, 0);
}

static void standard_input_has_no_marks(void **state)
{
	static const char *const STDIN[] = {"-"};
	struct rt_problem problem = {""};
	int before = dup(STDIN_FILENO), fd = open(PATHS[0], O_RDONLY | O_CLOEXEC);

	(void)state;
	put_text("-.marks", MARKS);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	rt_summary_free(summary);
	summary = NULL;
	if (rt_summary_read(STDIN, 1, &summary, &problem) < 0)
		fail_msg("%s", problem.text);
	assert_int_equal(summary->phases.count, 0);
	assert_int_equal(rt_summary_get(summary, "run", "samples").count, 1);
	if (before >= 0) {
		dup2(before, STDIN_FILENO);
		close(before);
	}
	close(fd);
}

static void a_recording_that_cannot_be_read_is_an_error(void **state)
{
	static const char *const MISSING[] = {"missing.jsonl"};
	struct rt_problem problem = {""};
	rt_summary *untouched = summary;

	(void)state;
	assert_int_equal(rt_summary_read(MISSING, 1, &untouched, &problem), -ENOENT);
	assert_ptr_equal(untouched, summary);
	assert_non_null(strstr(problem.text, "missing.jsonl"));
	rt_summary_free(NULL);
}

static void a_figure_is_found_by_group_and_name(void **state)
{
	(void)state;
	facts->processes.most = 3;
	assert_string_equal(rt_summary_get(summary, "run", "name").text, "machine");
	assert_true(rt_summary_get(summary, "cores", "max").real == 2);
	assert_int_equal(rt_summary_get(summary, "processes", "max").count, 3);
	assert_int_equal(rt_summary_get(summary, "cores", "name").type, RT_TYPE_NONE);
	assert_int_equal(rt_summary_get(summary, "tea", "max").type, RT_TYPE_NONE);
}

static void bottlenecks_are_counted_from_zero(void **state)
{
	const char *rule = NULL, *title = NULL, *text = NULL;

	(void)state;
	assert_int_equal(summary->verdict.count, 1);
	assert_int_equal(rt_summary_bottleneck(summary, 0, &rule, &title, &text), 0);
	assert_string_equal(rule, summary->verdict.bottlenecks[0].rule);
	assert_string_equal(title, summary->verdict.bottlenecks[0].title);
	assert_string_equal(text, summary->verdict.bottlenecks[0].text);
	assert_int_equal(rt_summary_bottleneck(summary, 1, &rule, &title, &text), -ENOENT);
	assert_string_equal(rule, summary->verdict.bottlenecks[0].rule);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(marks_beside_a_recording_are_its_phases),
		PAGE_TEST(a_link_to_marks_in_a_folder_of_others_is_not_followed),
		PAGE_TEST(standard_input_has_no_marks),
		PAGE_TEST(a_recording_that_cannot_be_read_is_an_error),
		PAGE_TEST(a_figure_is_found_by_group_and_name),
		PAGE_TEST(bottlenecks_are_counted_from_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
