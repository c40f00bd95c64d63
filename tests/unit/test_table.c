/*
 * Tests of src/table/table*.c and shortest.c: the operations of the Python package's data frame, without its
 * aliases.
 */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "table/table.h"

static struct rt_value count(int64_t value)
{
	return (struct rt_value){.type = RT_TYPE_COUNT, .count = value};
}

static struct rt_value real(double value)
{
	return (struct rt_value){.type = RT_TYPE_REAL, .real = value};
}

static struct rt_value text(const char *value)
{
	return (struct rt_value){.type = RT_TYPE_TEXT, .text = value};
}

/* name a bb (none), x 1 2.5 -3, yy 10 200 3000 */
static rt_table *small(void)
{
	rt_table *table = rt_table_new();
	const struct rt_value names[] = {text("a"), text("bb"), {0}}, x[] = {count(1), real(2.5), count(-3)},
			      yy[] = {count(10), count(200), count(3000)};

	assert_int_equal(rt_table_set_column(table, "name", names, 3), 0);
	assert_int_equal(rt_table_set_column(table, "x", x, 3), 0);
	assert_int_equal(rt_table_set_column(table, "yy", yy, 3), 0);
	return table;
}

/* One column of 0 to 11. */
static rt_table *twelve(void)
{
	rt_table *table = rt_table_new();

	assert_int_equal(rt_table_add_column(table, "n"), 0);
	for (int64_t i = 0; i < 12; i++)
		assert_int_equal(rt_table_set(table, 0, (size_t)rt_table_add_row(table), count(i)), 0);
	return table;
}

static void assert_text(rt_table *table, size_t rows, const char *expected)
{
	CLEANUP_FREE char *printed = NULL;

	assert_int_equal(rt_table_to_text(table, rows, &printed), 0);
	assert_string_equal(printed, expected);
}

static void it_prints_as_documented(void **state)
{
	rt_table *table = small(), *empty = rt_table_new(), *longer = twelve();

	(void)state;
	assert_text(table, 10,
		    "TinyDataFrame with 3 rows and 3 columns:\n"
		    "name | x   | yy  \n"
		    "-----+-----+-----\n"
		    "a    |   1 |   10\n"
		    "bb   | 2.5 |  200\n"
		    "None |  -3 | 3000");
	assert_text(empty, 10, "TinyDataFrame with 0 rows and 0 columns:\nEmpty dataframe");
	assert_text(longer, 2,
		    "TinyDataFrame with 12 rows and 1 columns:\n"
		    "n\n-\n0\n1\n...");
	rt_table_free(table);
	rt_table_free(empty);
	rt_table_free(longer);
}

static void it_describes_itself(void **state)
{
	CLEANUP_FREE char *described = NULL;
	rt_table *table = small();

	(void)state;
	assert_int_equal(rt_table_describe(table, &described), 0);
	assert_string_equal(described, "TinyDataFrame with 3 rows and 3 columns. First row as a dict: "
				       "{'name': 'a', 'x': 1, 'yy': 10}");
	rt_table_free(table);
}

static void columns_are_added_replaced_and_checked(void **state)
{
	const struct rt_value three[] = {count(7), count(8), count(9)};
	rt_table *table = small(), *other = rt_table_new();

	(void)state;
	assert_int_equal(rt_table_set_column(table, "x", three, 3), 0);
	assert_int_equal(rt_table_get(table, 1, 2).count, 9);
	assert_int_equal(rt_table_set_column(table, "new", three, 2), -EINVAL);
	assert_int_equal(rt_table_column_count(table), 3);
	/* Tables share nothing. */
	assert_int_equal(rt_table_column_count(other), 0);
	assert_int_equal(rt_table_find(table, "nope"), -ENOENT);
	assert_int_equal(rt_table_get(table, 9, 0).type, RT_TYPE_NONE);
	assert_int_equal(rt_table_get(table, 0, 9).type, RT_TYPE_NONE);
	assert_int_equal(rt_table_set(table, 0, 9, count(1)), -ENOENT);
	assert_null(rt_table_column_name(table, 3));
	rt_table_free(table);
	rt_table_free(other);
}

static void names_change_together_or_not_at_all(void **state)
{
	const char *const from[] = {"x", "yy"}, *const to[] = {"a", "b"}, *const bad[] = {"name", "nope"},
			  *const crossed[] = {"b", "a"};
	struct rt_problem problem;
	rt_table *table = small();

	(void)state;
	assert_int_equal(rt_table_rename(table, bad, to, 2, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "nope"));
	assert_int_equal(rt_table_find(table, "name"), 0);
	assert_int_equal(rt_table_rename(table, from, to, 2, NULL), 0);
	assert_int_equal(rt_table_find(table, "a"), 1);
	assert_int_equal(rt_table_find(table, "b"), 2);
	assert_int_equal(rt_table_rename(table, to, crossed, 2, NULL), 0);
	assert_int_equal(rt_table_find(table, "b"), 1);
	assert_int_equal(rt_table_find(table, "a"), 2);
	rt_table_free(table);
}

static void parts_are_copies(void **state)
{
	const char *const names[] = {"yy", "name"}, *const bad[] = {"nope"};
	rt_table *table = small(), *part = NULL;

	(void)state;
	assert_int_equal(rt_table_select(table, bad, 1, &part, NULL), -ENOENT);
	assert_null(part);
	assert_int_equal(rt_table_select(table, names, 2, &part, NULL), 0);
	rt_table_free(table);
	assert_string_equal(rt_table_column_name(part, 0), "yy");
	assert_int_equal(rt_table_get(part, 0, 1).count, 200);
	assert_string_equal(rt_table_get(part, 1, 1).text, "bb");
	rt_table_free(part);
}

static void assert_slice(struct rt_slice slice, const char *expected)
{
	rt_table *table = twelve(), *part = NULL;
	char numbers[64] = "";

	assert_int_equal(rt_table_slice(table, slice, &part), 0);
	for (size_t row = 0; row < rt_table_row_count(part); row++)
		snprintf(numbers + strlen(numbers), sizeof(numbers) - strlen(numbers), "%s%d", row ? " " : "",
			 (int)rt_table_get(part, 0, row).count);
	assert_string_equal(numbers, expected);
	rt_table_free(part);
	rt_table_free(table);
}

static void slices_are_those_of_python(void **state)
{
	(void)state;
	assert_slice((struct rt_slice){.has_start = true, .start = 2, .has_stop = true, .stop = 9, .step = 3},
		     "2 5 8");
	assert_slice((struct rt_slice){.has_start = true, .start = -2, .step = 1}, "10 11");
	assert_slice((struct rt_slice){.has_stop = true, .stop = -9, .step = 1}, "0 1 2");
	assert_slice((struct rt_slice){.step = -5}, "11 6 1");
	assert_slice(
		(struct rt_slice){.has_start = true, .start = 3, .has_stop = true, .stop = -100, .step = -1},
		"3 2 1 0");
	assert_slice((struct rt_slice){.has_start = true, .start = 9, .has_stop = true, .stop = 2, .step = 1},
		     "");
	assert_slice(
		(struct rt_slice){
			.has_start = true, .start = -100, .has_stop = true, .stop = 100, .step = INT64_MAX},
		"0");
	assert_slice((struct rt_slice){.has_start = true,
				       .start = INT64_MIN,
				       .has_stop = true,
				       .stop = INT64_MAX,
				       .step = 11},
		     "0 11");
	assert_slice((struct rt_slice){.has_start = true, .start = INT64_MAX, .step = INT64_MIN}, "11");
}

static void heads_and_tails(void **state)
{
	static const struct {
		size_t rows, head_first, tail_first, count;
	} CASES[] = {{3, 0, 9, 3}, {0, 0, 0, 0}, {12, 0, 0, 12}, {SIZE_MAX, 0, 0, 12}};
	rt_table *table = twelve();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		rt_table *head = NULL, *tail = NULL;

		assert_int_equal(rt_table_head(table, CASES[i].rows, &head), 0);
		assert_int_equal(rt_table_tail(table, CASES[i].rows, &tail), 0);
		assert_int_equal(rt_table_row_count(head), CASES[i].count);
		assert_int_equal(rt_table_row_count(tail), CASES[i].count);
		if (CASES[i].count)
			assert_int_equal(rt_table_get(tail, 0, 0).count, CASES[i].tail_first);
		rt_table_free(head);
		rt_table_free(tail);
	}
	rt_table_free(table);
}

static char path[] = "/tmp/test_table_XXXXXX";

static rt_table *read_csv(const char *bytes)
{
	struct rt_problem problem = {0};
	FILE *file = fopen(path, "wb");
	rt_table *table = NULL;

	fputs(bytes, file);
	fclose(file);
	if (rt_table_read_csv(path, &table, &problem) < 0)
		print_message("# %s\n", problem.text);
	return table;
}

static void csv_comes_back_as_it_was(void **state)
{
	const struct rt_value cells[] = {
		text("a,b"), text("say \"hi\"\nthere"), count(-3), real(2.0), real(0.1), real(1e300)};
	CLEANUP_FREE char *quoted = NULL, *plain = NULL, *again = NULL;
	rt_table *table = rt_table_new(), *back;

	(void)state;
	assert_int_equal(rt_table_set_column(table, "odd \"name\"", cells, 6), 0);
	assert_int_equal(rt_table_to_csv(table, true, &quoted), 0);
	assert_int_equal(rt_table_to_csv(table, false, &plain), 0);
	assert_string_equal(quoted, "\"odd \"\"name\"\"\"\r\n\"a,b\"\r\n\"say "
				    "\"\"hi\"\"\nthere\"\r\n-3\r\n2.0\r\n0.1\r\n1e+300\r\n");
	assert_string_equal(plain, quoted);
	back = read_csv(quoted);
	assert_non_null(back);
	assert_int_equal(rt_table_to_csv(back, true, &again), 0);
	assert_string_equal(again, quoted);
	assert_int_equal(rt_table_get(back, 0, 2).type, RT_TYPE_COUNT);
	assert_int_equal(rt_table_get(back, 0, 3).type, RT_TYPE_REAL);
	rt_table_free(table);
	rt_table_free(back);
}

static void quoting_applies_to_texts_and_special_characters(void **state)
{
	CLEANUP_FREE char *quoted = NULL, *plain = NULL;
	rt_table *table = small();

	(void)state;
	assert_int_equal(rt_table_to_csv(table, true, &quoted), 0);
	assert_int_equal(rt_table_to_csv(table, false, &plain), 0);
	assert_string_equal(quoted,
			    "\"name\",\"x\",\"yy\"\r\n\"a\",1,10\r\n\"bb\",2.5,200\r\n\"\",-3,3000\r\n");
	assert_string_equal(plain, "name,x,yy\r\na,1,10\r\nbb,2.5,200\r\n,-3,3000\r\n");
	rt_table_free(table);
}

static void cells_have_the_type_they_look_like(void **state)
{
	rt_table *table = read_csv(
		"a,b,c,d,e,f\n1,1.0,,nan, 7 ,9223372036854775808\n-0,1e3,inf,x y,\"12\",0x1\nshort\n");

	(void)state;
	assert_non_null(table);
	assert_int_equal(rt_table_get(table, 0, 0).type, RT_TYPE_COUNT);
	assert_int_equal(rt_table_get(table, 1, 0).type, RT_TYPE_REAL);
	assert_string_equal(rt_table_get(table, 2, 0).text, "");
	assert_true(isnan(rt_table_get(table, 3, 0).real));
	assert_int_equal(rt_table_get(table, 4, 0).count, 7);
	assert_int_equal(rt_table_get(table, 5, 0).type, RT_TYPE_REAL);
	assert_true(rt_table_get(table, 1, 1).real == 1000);
	assert_true(isinf(rt_table_get(table, 2, 1).real));
	assert_string_equal(rt_table_get(table, 3, 1).text, "x y");
	assert_int_equal(rt_table_get(table, 4, 1).count, 12);
	assert_string_equal(rt_table_get(table, 5, 1).text, "0x1");
	assert_int_equal(rt_table_get(table, 1, 2).type, RT_TYPE_NONE);
	rt_table_free(table);
}

static void corrupt_csv_is_refused(void **state)
{
	(void)state;
	assert_null(read_csv("a,b\n1,2,3\n"));
	assert_null(read_csv("a,a\n1,2\n"));
	assert_null(read_csv("a,b\n\"1,2\n"));
}

static void reals_are_printed_shortest(void **state)
{
	static const struct {
		double value;
		const char *text;
	} CASES[] = {{0.1, "0.1"},
		     {2, "2.0"},
		     {-0.0, "-0.0"},
		     {1e16, "1e+16"},
		     {1e15, "1000000000000000.0"},
		     {0.0001, "0.0001"},
		     {0.00001, "1e-05"},
		     {1.5e-7, "1.5e-07"},
		     {1763700001.123456, "1763700001.123456"},
		     {0.30000000000000004, "0.30000000000000004"},
		     {0, "0.0"},
		     {5e-324, "5e-324"},
		     {-1.5e-323, "-1.5e-323"},
		     {1e-310, "1e-310"},
		     {2.2250738585072014e-308, "2.2250738585072014e-308"},
		     {NAN, "nan"},
		     {-INFINITY, "-inf"},

		     {123456789012345680, "1.2345678901234568e+17"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(100);

		buffer_add_shortest(&out, CASES[i].value);
		assert_string_equal(out.data, CASES[i].text);
	}
}

static void rows_become_json(void **state)
{
	CLEANUP_FREE char *json = NULL;
	rt_table *table = small();

	(void)state;
	assert_int_equal(rt_table_to_json(table, &json), 0);
	assert_string_equal(json,
			    "[{\"name\":\"a\",\"x\":1,\"yy\":10},\n{\"name\":\"bb\",\"x\":2.5,\"yy\":200},\n"
			    "{\"name\":null,\"x\":-3,\"yy\":3000}]\n");
	rt_table_free(table);
}

static void text_is_safe_for_a_terminal(void **state)
{
	const struct rt_value cells[] = {text("a\n\x1f\x7f ~"), text("caf\xc3\xa9"), real(-INFINITY),
					 text("+nan")};
	rt_table *table = rt_table_new();

	(void)state;
	assert_int_equal(rt_table_set_column(table, "a-long-name", cells, 4), 0);
	assert_int_equal(rt_table_set_column(table, "b", cells, 4), 0);
	assert_text(table, 3,
		    "TinyDataFrame with 4 rows and 2 columns:\n"
		    "a-long-name | b     \n"
		    "------------+-------\n"
		    "a??? ~      | a??? ~\n"
		    "caf\xc3\xa9        | caf\xc3\xa9  \n"
		    "       -inf |   -inf\n"
		    "...                 ");
	assert_text(table, 0,
		    "TinyDataFrame with 4 rows and 2 columns:\n"
		    "a-long-name | b     \n"
		    "------------+-------\n"
		    "a??? ~      | a??? ~\n"
		    "caf\xc3\xa9        | caf\xc3\xa9  \n"
		    "       -inf |   -inf\n"
		    "       +nan |   +nan");
	rt_table_free(table);
}

static void an_empty_cell_alone_is_not_an_empty_line(void **state)
{
	const struct rt_value cells[] = {{0}, text("x")};
	CLEANUP_FREE char *csv = NULL, *json = NULL, *described = NULL;
	rt_table *table = rt_table_new();

	(void)state;
	assert_int_equal(rt_table_set_column(table, "n", cells, 2), 0);
	assert_int_equal(rt_table_to_csv(table, false, &csv), 0);
	assert_string_equal(csv, "n\r\n\"\"\r\nx\r\n");
	assert_int_equal(rt_table_describe(table, &described), 0);
	assert_non_null(strstr(described, "{'n': None}"));
	assert_int_equal(rt_table_set(table, 0, 0, text("it's")), 0);
	assert_int_equal(rt_table_set(table, 0, 1, real(NAN)), 0);
	assert_int_equal(rt_table_to_json(table, &json), 0);
	assert_string_equal(json, "[{\"n\":\"it's\"},\n{\"n\":null}]\n");
	free(described);
	assert_int_equal(rt_table_describe(table, &described), 0);
	assert_non_null(strstr(described, "{'n': \"it's\"}"));
	rt_table_free(table);
}

static void tables_grow_with_rows_columns_and_long_texts(void **state)
{
	static char longest[100000];
	rt_table *table = rt_table_new();

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	assert_int_equal(rt_table_add_column(table, "a"), 0);
	assert_int_equal(rt_table_add_column(table, "b"), 1);
	assert_int_equal(rt_table_add_column(table, "a"), -EEXIST);
	for (size_t row = 0; row < 300; row++) {
		assert_int_equal(rt_table_add_row(table), row);
		assert_int_equal(rt_table_set(table, 0, row, count((int64_t)row)), 0);
		assert_int_equal(rt_table_set(table, 1, row, text(row % 100 == 7 ? longest : "short")), 0);
	}
	assert_int_equal(rt_table_add_column(table, "c"), 2);
	for (size_t row = 0; row < 300; row++) {
		assert_int_equal(rt_table_get(table, 0, row).count, row);
		assert_string_equal(rt_table_get(table, 1, row).text, row % 100 == 7 ? longest : "short");
		assert_int_equal(rt_table_get(table, 2, row).type, RT_TYPE_NONE);
	}
	rt_table_free(table);
}

static void a_slice_without_a_step_is_refused(void **state)
{
	rt_table *table = twelve(), *none = rt_table_new(), *part = NULL;

	(void)state;
	assert_int_equal(rt_table_slice(table, (struct rt_slice){.step = 0}, &part), -EINVAL);
	assert_int_equal(rt_table_slice(none, (struct rt_slice){.step = -1}, &part), 0);
	assert_int_equal(rt_table_row_count(part), 0);
	rt_table_free(part);
	rt_table_free(table);
	rt_table_free(none);
}

static void texts_and_lines_of_csv_files(void **state)
{
	rt_table *table = read_csv("a,b\r\n\n\"one\ntwo\",+5\r\n+,+1.5\n");
	struct rt_problem problem;

	(void)state;
	assert_non_null(table);
	assert_int_equal(rt_table_row_count(table), 2);
	assert_string_equal(rt_table_get(table, 0, 0).text, "one\ntwo");
	assert_int_equal(rt_table_get(table, 1, 0).count, 5);
	assert_string_equal(rt_table_get(table, 0, 1).text, "+");
	assert_true(rt_table_get(table, 1, 1).real == 1.5);
	rt_table_free(table);
	assert_null(read_csv("a,b\n1,2\n1,2,3\n"));
	assert_int_equal(rt_table_read_csv(path, &table, &problem), -EBADMSG);
	assert_non_null(strstr(problem.text, ":3: more cells than the 2 names of the first line"));
	assert_null(read_csv("a,\"b\n"));
	assert_int_equal(rt_table_read_csv(path, &table, &problem), -EBADMSG);
	assert_non_null(strstr(problem.text, ":1: a quote is not closed"));
}

static void digits_of_reals_are_those_of_python(void **state)
{
	static const struct {
		double value;
		const char *text;
	} CASES[] = {
		{0, "0.0"},        {0.001, "0.001"},    {123.456, "123.456"},
		{1e100, "1e+100"}, {2.5e-8, "2.5e-08"}, {9999999999999998, "9999999999999998.0"},
		{120, "120.0"},    {-0.5, "-0.5"},      {INFINITY, "inf"},
		{1e22, "1e+22"},
	};
	CLEANUP_BUFFER struct buffer json = BUFFER(100);
	struct json_writer writer = JSON_WRITER(&json);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(100);

		buffer_add_shortest(&out, CASES[i].value);
		assert_string_equal(out.data, CASES[i].text);
	}
	json_open(&writer, '{');
	json_shortest_member(&writer, "a", 0.1);
	json_shortest_member(&writer, "b", NAN);
	json_close(&writer, '}');
	assert_string_equal(json.data, "{\"a\":0.1,\"b\":null}");
}

static int make_path(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_prints_as_documented),
		cmocka_unit_test(it_describes_itself),
		cmocka_unit_test(columns_are_added_replaced_and_checked),
		cmocka_unit_test(names_change_together_or_not_at_all),
		cmocka_unit_test(parts_are_copies),
		cmocka_unit_test(slices_are_those_of_python),
		cmocka_unit_test(heads_and_tails),
		cmocka_unit_test(csv_comes_back_as_it_was),
		cmocka_unit_test(quoting_applies_to_texts_and_special_characters),
		cmocka_unit_test(cells_have_the_type_they_look_like),
		cmocka_unit_test(corrupt_csv_is_refused),
		cmocka_unit_test(reals_are_printed_shortest),
		cmocka_unit_test(rows_become_json),
		cmocka_unit_test(text_is_safe_for_a_terminal),
		cmocka_unit_test(an_empty_cell_alone_is_not_an_empty_line),
		cmocka_unit_test(tables_grow_with_rows_columns_and_long_texts),
		cmocka_unit_test(a_slice_without_a_step_is_refused),
		cmocka_unit_test(texts_and_lines_of_csv_files),
		cmocka_unit_test(digits_of_reals_are_those_of_python),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
