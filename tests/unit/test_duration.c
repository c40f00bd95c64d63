/* Tests of src/base/duration.c: lengths of time, amounts, and counts that may be off. */
#include "unit.h"

#include "base/duration.h"

static void units_are_of_seconds(void **state)
{
	static const struct {
		const char *text;
		double secs;
	} CASES[] = {{"0", 0},   {"1.5", 1.5}, {"-2", -2},       {"500ms", 0.5},  {"90 s", 90},
		     {"1m", 60}, {"2h", 7200}, {"1.5d", 129600}, {" 3m \n", 180}, {"1e3ms", 1}};
	static const char *const BAD[] = {"", "s", "1x", "1 min", "nan", "inf", "1e308d", "1s s", "1,5"};
	double secs;

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		secs = -1;
		assert_true(parse_duration(CASES[i].text, &secs));
		assert_true(secs == CASES[i].secs);
	}
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
		secs = 7;
		assert_false(parse_duration(BAD[i], &secs));
		assert_true(secs == 7);
	}
}

static void amounts_are_above_0(void **state)
{
	static const char *const BAD[] = {"0", "-1", "10.5", "", "1x", "nan", "0.0"};
	double number = 7;

	(void)state;
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
		assert_false(parse_positive(BAD[i], 10, &number));
	assert_true(number == 7);
	assert_true(parse_positive(" 10 ", 10, &number) && number == 10);
	assert_true(parse_positive("1e-9", 10, &number) && number == 1e-9);
}

static void counts_may_be_off(void **state)
{
	static const char *const BAD[] = {"0", "6", "-1", "1.5", "", "of", "offf", "1 2"};
	int64_t count = 7;

	(void)state;
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
		assert_false(parse_count_or_off(BAD[i], 5, &count));
	assert_int_equal(count, 7);
	assert_true(parse_count_or_off("5", 5, &count) && count == 5);
	assert_true(parse_count_or_off(" 1 ", 5, &count) && count == 1);
	assert_true(parse_count_or_off(" off\n", 5, &count) && count == 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_of_seconds),
		cmocka_unit_test(amounts_are_above_0),
		cmocka_unit_test(counts_may_be_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
