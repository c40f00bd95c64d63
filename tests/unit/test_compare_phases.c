/* gpu_tracker's comparison of analyses that were made by hand: which phases belong together, the order, and the layout. */
#include "scratch.h"

#include <errno.h>

#include "resource_tracker_analysis.h"

#define BLOCK(name, secs) \
	"{\"name\": \"" name "\", \"compute_time\": {\"mean\": " secs "}, \"resource_usage\": {}}"
#define ANALYSIS(measures, blocks) "{\"overall\": {" measures "}, \"code_block_results\": [" blocks "]}"

static const struct rt_compared_run AB[] = {{"b", "b.json"}, {"a", "a.json"}};
static struct rt_problem problem;

/* The answer for b and a; the caller frees it. */
static char *compare_two(const char *a, const char *b, bool json)
{
	char *text = NULL;

	put_text("a.json", a);
	put_text("b.json", b);
	strcpy(problem.text, "an earlier problem");
	assert_int_equal(rt_compare_phases(AB, 2, NULL, json, &text, &problem), 0);
	return text;
}

static void try_json(const char *a, const char *b, const char *answer)
{
	char *text = compare_two(a, b, true);

	assert_string_equal(text, answer);
	free(text);
}

static void try_text(const char *a, const char *b, const char *answer)
{
	char *text = compare_two(a, b, false);

	assert_string_equal(text, answer);
	free(text);
}

static void try_problem(const char *a, const char *b, int error, const char *told)
{
	char *text = NULL;

	put_text("a.json", a);
	put_text("b.json", b);
	assert_int_equal(rt_compare_phases(AB, 2, NULL, true, &text, &problem), error);
	assert_null(text);
	if (told)
		assert_string_equal(problem.text, told);
}

/* Lines have the order of their numbers, whatever their place in the file. */
static void numbers_at_the_end_of_names_are_ordered_by_size(void **state)
{
	const char *one =
		ANALYSIS("", BLOCK("t.py:100", "3") ", " BLOCK("t.py:20", "2") ", " BLOCK("t.py:3", "1"));
	const char *other =
		ANALYSIS("", BLOCK("t.py:3", "10") ", " BLOCK("t.py:100", "30") ", " BLOCK("t.py:20", "20"));

	(void)state;
	try_json(one, other,
		 "{\"overall_resource_usage\":{},\"code_block_resource_usage\":{},\"code_block_compute_"
		 "time\":{"
		 "\"t.py:3\":{\"a\":1,\"b\":10},\"t.py:20\":{\"a\":2,\"b\":20},\"t.py:100\":{\"a\":3,\"b\":"
		 "30}}}\n");
	assert_string_equal(problem.text, "");
	/* Names with other stems have the order of their bytes. */
	one = ANALYSIS("", BLOCK("u.py:1", "2") ", " BLOCK("t.py:9", "1") ", " BLOCK("t.py", "3"));
	try_json(one, one,
		 "{\"overall_resource_usage\":{},\"code_block_resource_usage\":{},\"code_block_compute_"
		 "time\":{"
		 "\"t.py\":{\"a\":3,\"b\":3},\"t.py:9\":{\"a\":1,\"b\":1},\"u.py:1\":{\"a\":2,\"b\":2}}}\n");
}

static void a_line_that_has_moved_is_the_same_phase(void **state)
{
	(void)state;
	try_json(ANALYSIS("", BLOCK("t.py:9", "1") ", " BLOCK("t.py:30", "5")),
		 ANALYSIS("", BLOCK("t.py:7", "2") ", " BLOCK("t.py:30", "4")),
		 "{\"overall_resource_usage\":{},\"code_block_resource_usage\":{},\"code_block_compute_"
		 "time\":{"
		 "\"t.py:7 -> t.py:9\":{\"a\":1,\"b\":2},\"t.py:30\":{\"b\":4,\"a\":5}}}\n");
	assert_string_equal(problem.text,
			    "phase t.py:9 of a is taken for phase t.py:7 of b: only the line differs");
}

static void other_phases_cannot_be_compared(void **state)
{
	const char *one = ANALYSIS("", BLOCK("t.py:9", "1"));

	(void)state;
	try_problem(one, ANALYSIS("", BLOCK("t.py:9", "1") ", " BLOCK("u", "1")), -EINVAL,
		    "a has 1 phases, b has 2: they cannot be compared");
	try_problem(one, ANALYSIS("", BLOCK("u.py:9", "1")), -EINVAL,
		    "phase t.py:9 of a is not phase u.py:9 of b: they cannot be compared");
	/* Without a number a name has no line. */
	try_problem(one, ANALYSIS("", BLOCK("t.py:", "1")), -EINVAL,
		    "phase t.py:9 of a is not phase t.py: of b: they cannot be compared");
	try_problem(one, ANALYSIS("", BLOCK("t.py:9x", "1")), -EINVAL,
		    "phase t.py:9 of a is not phase t.py:9x of b: they cannot be compared");
	try_problem(one, ANALYSIS("", BLOCK("t.py:/", "1")), -EINVAL,
		    "phase t.py:9 of a is not phase t.py:/ of b: they cannot be compared");
	/* No line has 13 digits. */
	try_problem(one, ANALYSIS("", BLOCK("t.py:9999999999999", "1")), -EINVAL,
		    "phase t.py:9 of a is not phase t.py:9999999999999 of b: they cannot be compared");
	try_problem(one, ANALYSIS("", "{\"compute_time\": {}}"), -EINVAL,
		    "phase t.py:9 of a is not phase  of b: they cannot be compared");
}

static void line_0_and_all_digits_are_numbers(void **state)
{
	(void)state;
	free(compare_two(ANALYSIS("", BLOCK("t.py:0", "1")), ANALYSIS("", BLOCK("t.py:999", "1")), true));
	assert_string_equal(problem.text,
			    "phase t.py:0 of a is taken for phase t.py:999 of b: only the line differs");
}

static void values_ascend_and_absent_ones_come_last(void **state)
{
	const struct rt_compared_run runs[] = {
		{"d", "d.json"}, {"a", "a.json"}, {"c", "c.json"}, {"b", "b.json"}};
	char *text = NULL;

	(void)state;
	put_text("a.json", ANALYSIS("\"ram\": {\"max\": 3.5}, \"n\": {\"max\": 2}", ""));
	put_text("b.json", ANALYSIS("\"ram\": {\"max\": null}, \"n\": {\"max\": 2}", ""));
	put_text("c.json", ANALYSIS("\"ram\": {\"max\": 1.25}, \"n\": {\"max\": 1}", ""));
	put_text("d.json", ANALYSIS("\"ram\": {}", ""));
	assert_int_equal(rt_compare_phases(runs, 4, "max", true, &text, NULL), 0);
	assert_string_equal(
		text, "{\"overall_resource_usage\":{\"ram\":{\"c\":1.25,\"a\":3.5,\"b\":null,\"d\":null},"
		      "\"n\":{\"c\":1,\"a\":2,\"b\":2,\"d\":null}},"
		      "\"code_block_resource_usage\":{},\"code_block_compute_time\":{}}\n");
	free(text);
}

/* Tabulators are the levels. A column is one wider than its heading, or as wide as its value, and a whole number has a blank before it. */
static void the_text_has_gpu_trackers_layout(void **state)
{
	const char *a =
		ANALYSIS("\"cpu_a_zone\": {\"mean\": 1.5}, \"n_threads\": {\"mean\": 1234}",
			 "{\"name\": \"bl_ock\\u0001\\u007f\", \"compute_time\": {\"mean\": 0.123456789},"
			 " \"resource_usage\": {\"cpu_a_zone\": {\"mean\": 7}}}");
	const char *b = ANALYSIS("\"cpu_a_zone\": {\"mean\": null}, \"n_threads\": {\"mean\": 2}",
				 "{\"name\": \"bl_ock\\u0001\\u007f\", \"compute_time\": {\"mean\": 3},"
				 " \"resource_usage\": {\"cpu_a_zone\": {\"mean\": 8.25}}}");

	(void)state;
	try_text(a, b,
		 "Overall Resource Usage:\n"
		 "\tCpu A Zone:\n"
		 "\t\t   a   b\n"
		 "\t\t 1.5 NaN\n"
		 "\tN Threads:\n"
		 "\t\t  b     a\n"
		 "\t\t  2  1234\n"
		 "Code Block Resource Usage:\n"
		 "\tCpu A Zone:\n"
		 "\t\tbl_ock??:\n"
		 "\t\t\t   a    b\n"
		 "\t\t\t 7.0 8.25\n"
		 "\tN Threads:\n"
		 "\t\tbl_ock??:\n"
		 "\t\t\t   a   b\n"
		 "\t\t\t NaN NaN\n"
		 "Code Block Compute Time:\n"
		 "\tbl_ock??:\n"
		 "\t\t          a   b\n"
		 "\t\t 0.12345679 3.0\n");
}

static void other_files_are_read_as_recordings(void **state)
{
	const char *one = ANALYSIS("", "");

	(void)state;
	try_problem(one, "{\"overall\": {}, \"code_block_results\": {}}", -ENODATA, NULL);
	assert_non_null(strstr(problem.text, "b.json"));
	try_problem(one, "{\"overall\": [], \"code_block_results\": []}", -ENODATA, NULL);
	try_problem("{\"code_block_results\": []}", one, -ENODATA, NULL);
	assert_non_null(strstr(problem.text, "a.json"));
	try_problem("", one, -ENODATA, NULL);
}

static void mistakes_have_a_problem(void **state)
{
	const struct rt_compared_run twice[] = {{"a", "a.json"}, {"b", "b.json"}, {"a", "b.json"}},
				     missing[] = {{"a", "a.json"}, {"b", "missing"}},
				     stream[] = {{"a", "a.json"}, {"b", "-"}};
	char *text = NULL;

	(void)state;
	put_text("a.json", ANALYSIS("", ""));
	put_text("b.json", ANALYSIS("", ""));
	assert_int_equal(rt_compare_phases(AB, 2, "median", true, &text, &problem), -EINVAL);
	assert_string_equal(problem.text, "'median' is not a statistic; use min, max, mean or std");
	assert_int_equal(rt_compare_phases(AB, 1, "std", true, &text, &problem), -EINVAL);
	assert_string_equal(problem.text, "name two different recordings to compare");
	assert_int_equal(rt_compare_phases(twice, 3, "min", true, &text, &problem), -EINVAL);
	assert_string_equal(problem.text, "the side a is there twice: here each side is one run");
	assert_int_equal(rt_compare_phases(missing, 2, "mean", true, &text, &problem), -ENOENT);
	assert_string_equal(problem.text, "missing: No such file or directory");
	assert_int_equal(rt_compare_phases(stream, 2, "mean", true, &text, &problem), -ESPIPE);
	assert_string_equal(problem.text, "runs are compared from files, not from a stream");
	assert_null(text);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_at_the_end_of_names_are_ordered_by_size),
		cmocka_unit_test(a_line_that_has_moved_is_the_same_phase),
		cmocka_unit_test(other_phases_cannot_be_compared),
		cmocka_unit_test(line_0_and_all_digits_are_numbers),
		cmocka_unit_test(values_ascend_and_absent_ones_come_last),
		cmocka_unit_test(the_text_has_gpu_trackers_layout),
		cmocka_unit_test(other_files_are_read_as_recordings),
		cmocka_unit_test(mistakes_have_a_problem),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
