/* Tests of src/kernel/key_values.c. */
#include "kernel.h"

#include "base/cleanup.h"
#include "kernel/key_values.h"

struct values {
	int64_t first;
	int64_t second;
	int64_t third;
};

static const struct key_field FIELDS[] = {
	KEY_FIELD("first", struct values, first),
	KEY_FIELD("second", struct values, second),
	KEY_FIELD("third", struct values, third),
};

static int scan_text(const char *text, char separator, struct values *values)
{
	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), values);
	return scan_key_values(scan_bytes(text, strlen(text)), separator, FIELDS, ARRAY_SIZE(FIELDS), values);
}

static void missing_lines_stay_absent(void **state)
{
	struct values values;

	(void)state;
	assert_int_equal(scan_text("second: 2 kB\n", ':', &values), 1);
	assert_int_equal(values.first, -1);
	assert_int_equal(values.second, 2);
	assert_int_equal(values.third, -1);
	assert_int_equal(scan_text("", ':', &values), 0);
}

static void any_order_and_unknown_lines_are_taken(void **state)
{
	struct values values;

	(void)state;
	assert_int_equal(scan_text("third 3\nother 9\n\nfirst 1\nsecond 2", ' ', &values), 3);
	assert_int_equal(values.first, 1);
	assert_int_equal(values.second, 2);
	assert_int_equal(values.third, 3);
}

static void keys_match_as_a_whole(void **state)
{
	struct values values;

	(void)state;
	assert_int_equal(scan_text("firs: 1\nfirst_: 2\n first: 3\nsecondfirst: 4\n", ':', &values), 0);
}

static void odd_values_lose_only_their_field(void **state)
{
	struct values values;

	(void)state;
	assert_int_equal(scan_text("first: x\nsecond: 9223372036854775808\nthird: 9223372036854775807\n", ':',
				   &values),
			 1);
	assert_int_equal(values.first, -1);
	assert_int_equal(values.second, -1);
	assert_true(values.third == INT64_MAX);
	assert_int_equal(scan_text("first: -5\nsecond:\nthird", ':', &values), 0);
}

static void sums_saturate_instead_of_wrapping(void **state)
{
	static const char TEXT[] = "first: 1\nfirst: 2\nsecond: 9223372036854775807\nsecond: 1\n";
	struct values values;

	(void)state;
	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &values);
	assert_int_equal(
		sum_key_values(scan_bytes(TEXT, strlen(TEXT)), ':', FIELDS, ARRAY_SIZE(FIELDS), &values), 4);
	assert_int_equal(values.first, 3);
	assert_true(values.second == INT64_MAX);
	assert_int_equal(values.third, -1);
}

static void an_order_of_its_own_and_a_key_twice_are_taken(void **state)
{
	struct values values;

	(void)state;
	/* The last line of a key counts, until all keys are known. */
	assert_int_equal(scan_text("first 1\nfirst 4\nsecond 2\nfirst 5\nthird 3\nfirst 6\n", ' ', &values),
			 5);
	assert_true(values.first == 5 && values.second == 2 && values.third == 3);
	/* A line in the expected place, but with another separator, a longer key or no number. */
	assert_int_equal(scan_text("first:1\nfirsts 2\nfirst x\nfirst 9223372036854775808\nfirst\nfirst 0\n",
				   ' ', &values),
			 1);
	assert_int_equal(values.first, 0);
	assert_int_equal(scan_text("thirdly 1\nthird 7", ' ', &values), 1);
	assert_int_equal(values.third, 7);
	/* As long as a key and with its first letter; with its first letter alone; empty. */
	assert_int_equal(scan_text("fxxxx 1\nfxxx 2\n 3\nsxxxxx 4\n", ' ', &values), 0);
}

static void numbers_above_a_limit_are_absent(void **state)
{
	struct values values = {10, 11, -1};

	(void)state;
	limit_key_values(FIELDS, ARRAY_SIZE(FIELDS), &values, 10);
	assert_true(values.first == 10 && values.second == -1 && values.third == -1);
	values = (struct values){11, 12, 13};
	limit_key_values(FIELDS, ARRAY_SIZE(FIELDS), &values, 10);
	assert_true(values.first == -1 && values.second == -1 && values.third == -1);
}

static void a_sum_begins_with_its_first_line(void **state)
{
	static const char TEXT[] = "second: 0\nfirst: 9223372036854775800\nsecond: 3\nfirst: 7\nthird: 5\n";
	struct values values;

	(void)state;
	clear_key_values(FIELDS, ARRAY_SIZE(FIELDS), &values);
	assert_int_equal(
		sum_key_values(scan_bytes(TEXT, strlen(TEXT)), ':', FIELDS, ARRAY_SIZE(FIELDS), &values), 5);
	assert_true(values.first == INT64_MAX && values.second == 3 && values.third == 5);
}

/* A value that is known before, 0 as well, is not waited for. */
static void reading_ends_with_the_last_value_that_was_absent(void **state)
{
	static const char TEXT[] = "second 2\nthird 3\nsecond 9\nfirst 1\n";
	struct values values = {0, -1, -1};

	(void)state;
	assert_int_equal(
		scan_key_values(scan_bytes(TEXT, strlen(TEXT)), ' ', FIELDS, ARRAY_SIZE(FIELDS), &values), 2);
	assert_true(values.first == 0 && values.second == 2 && values.third == 3);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_lines_stay_absent),
		cmocka_unit_test(any_order_and_unknown_lines_are_taken),
		cmocka_unit_test(keys_match_as_a_whole),
		cmocka_unit_test(odd_values_lose_only_their_field),
		cmocka_unit_test(sums_saturate_instead_of_wrapping),
		cmocka_unit_test(an_order_of_its_own_and_a_key_twice_are_taken),
		cmocka_unit_test(numbers_above_a_limit_are_absent),
		cmocka_unit_test(a_sum_begins_with_its_first_line),
		cmocka_unit_test(reading_ends_with_the_last_value_that_was_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
