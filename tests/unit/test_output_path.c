/* Tests of src/sink/output_path.c. */
#include "unit.h"

#include <errno.h>

#include "sink/output_path.h"

static const struct output_path_values VALUES = {
	.host = "node7", .pid = 4242, .start_time_secs = 1795254300, .rank = 3};

static void assert_expands(const char *template, const struct output_path_values *values,
			   const char *expected)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	assert_int_equal(expand_output_path(template, values, &out), 0);
	assert_string_equal(out.data, expected);
}

static void place_holders_are_filled_in(void **state)
{
	(void)state;
	assert_expands("plain.jsonl", &VALUES, "plain.jsonl");
	assert_expands("%h-%p-%t-%r.csv", &VALUES, "node7-4242-20261121T094500Z-3.csv");
	assert_expands("100%%/%%h%h%h", &VALUES, "100%/%hnode7node7");
	assert_expands("-", &VALUES, "-");
}

static void a_number_is_asked_for(void **state)
{
	struct output_path_values values = VALUES;
	CLEANUP_BUFFER struct buffer first = BUFFER(4096), second = BUFFER(4096);

	(void)state;
	assert_int_equal(expand_output_path("%h%u.jsonl", &values, &first), 1);
	assert_string_equal(first.data, "node7.jsonl");
	values.number = 2;
	assert_int_equal(expand_output_path("%h%u.jsonl", &values, &second), 1);
	assert_string_equal(second.data, "node7-2.jsonl");
}

static void no_rank_is_rank_zero(void **state)
{
	struct output_path_values values = VALUES;

	(void)state;
	values.rank = -1;
	assert_expands("r%r", &values, "r0");
	values.rank = 1;
	assert_expands("r%r", &values, "r1");
}

static void a_host_name_makes_no_folder(void **state)
{
	struct output_path_values values = VALUES;

	(void)state;
	values.host = "../../etc/x";
	assert_expands("%h.jsonl", &values, ".._.._etc_x.jsonl");
	values.host = "";
	assert_expands("%h.jsonl", &values, ".jsonl");
}

static void the_epoch_and_before_have_a_text(void **state)
{
	struct output_path_values values = VALUES;

	(void)state;
	values.start_time_secs = 0;
	assert_expands("%t", &values, "19700101T000000Z");
	values.start_time_secs = -1;
	assert_expands("%t", &values, "19691231T235959Z");
}

static void a_time_without_a_calendar_year_is_refused(void **state)
{
	struct output_path_values values = VALUES;
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	(void)state;
	values.start_time_secs = INT64_MAX;
	assert_int_equal(expand_output_path("%t.jsonl", &values, &out), -EINVAL);
}

static void other_characters_after_percent_are_refused(void **state)
{
	static const char *const WRONG[] = {"%", "a%", "%d", "%%%", "%%%x", "% h", "%T", "%\n"};
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	(void)state;
	for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
		buffer_clear(&out);
		assert_int_equal(expand_output_path(WRONG[i], &VALUES, &out), -EINVAL);
	}
}

static void too_long_a_name_is_an_error(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(8);

	(void)state;
	assert_int_equal(expand_output_path("%h%h", &VALUES, &out), -ENOBUFS);
}

static void a_name_of_which_nothing_is_left_is_an_error(void **state)
{
	struct output_path_values values = VALUES;
	CLEANUP_BUFFER struct buffer out = BUFFER(4096);

	(void)state;
	values.host = "";
	values.number = 0;
	assert_int_equal(expand_output_path("%u", &values, &out), -ENOENT);
	assert_int_equal(expand_output_path("%h%u", &values, &out), -ENOENT);
	values.number = 2;
	assert_int_equal(expand_output_path("%u", &values, &out), 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(place_holders_are_filled_in),
		cmocka_unit_test(a_number_is_asked_for),
		cmocka_unit_test(no_rank_is_rank_zero),
		cmocka_unit_test(a_host_name_makes_no_folder),
		cmocka_unit_test(the_epoch_and_before_have_a_text),
		cmocka_unit_test(a_time_without_a_calendar_year_is_refused),
		cmocka_unit_test(other_characters_after_percent_are_refused),
		cmocka_unit_test(too_long_a_name_is_an_error),
		cmocka_unit_test(a_name_of_which_nothing_is_left_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
