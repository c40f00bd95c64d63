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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_lines_stay_absent),
		cmocka_unit_test(any_order_and_unknown_lines_are_taken),
		cmocka_unit_test(keys_match_as_a_whole),
		cmocka_unit_test(odd_values_lose_only_their_field),
		cmocka_unit_test(sums_saturate_instead_of_wrapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
