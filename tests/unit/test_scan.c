/* Tests of src/base/scan.c. */
#include <string.h>

#include "unit.h"

#include "base/scan.h"

static struct scan text_scan(const char *text)
{
	return scan_bytes(text, strlen(text));
}

static void lines_end_with_the_text(void **state)
{
	struct scan text = text_scan("a\n\nlast"), line;

	(void)state;
	assert_true(scan_line(&text, &line) && scan_is(&line, "a"));
	assert_true(scan_line(&text, &line) && scan_is(&line, ""));
	assert_true(scan_line(&text, &line) && scan_is(&line, "last"));
	assert_false(scan_line(&text, &line));
}

static void scan_number_refuses_overflow(void **state)
{
	struct scan text = text_scan("18446744073709551616");
	uint64_t value = 7;
	int64_t number = 7;

	(void)state;
	assert_false(scan_u64(&text, &value));
	assert_int_equal(value, 7);
	assert_int_equal(scan_left(&text), 20);
	text = text_scan("\t18446744073709551615 x");
	assert_true(scan_u64(&text, &value));
	assert_true(value == UINT64_MAX);
	text = text_scan("-9223372036854775808");
	assert_true(scan_i64(&text, &number));
	assert_true(number == INT64_MIN);
	text = text_scan("9223372036854775808");
	assert_false(scan_i64(&text, &number));
	text = text_scan("- 1");
	assert_false(scan_i64(&text, &number));
}

static void a_column_is_a_whole_number_or_minus_one(void **state)
{
	static const struct {
		const char *text;
		int64_t count;
		size_t left;
	} CASES[] = {{"12 34", 12, 3},
		     {" \t0", 0, 0},
		     {"7\n8", 7, 2},
		     {"9223372036854775807 1", INT64_MAX, 2},
		     {"0000000000000000000000042", 42, 0},
		     {"9223372036854775808", -1, 0},
		     {"123456789012345678901234567890 1", -1, 2},
		     {"-5 6", -1, 2},
		     {"12kB 6", -1, 2},
		     {"x", -1, 0}};
	struct scan none = text_scan("  "), text;
	int64_t count = 7;

	(void)state;
	assert_false(scan_count(&none, &count));
	assert_int_equal(count, 7);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		text = text_scan(CASES[i].text);
		assert_true(scan_count(&text, &count));
		assert_true(count == CASES[i].count);
		assert_int_equal(scan_left(&text), CASES[i].left);
	}
}

static void reals_are_locale_free(void **state)
{
	const char *under = getenv("TEST_UNDER");

	if (under && strcmp(under, "valgrind") == 0)
		SKIP("valgrind's long double is no longer than a double");
	static const struct {
		const char *text;
		double value;
	} CASES[] = {{"0.25", 0.25},
		     {"-12", -12},
		     {"1e3", 1000},
		     {" 2.5e-1", 0.25},
		     /* Numbers that need more than one exact division. */
		     {"1741785685.6762981", 1741785685.6762981},
		     {"0.1000000000000000055", 0.1},
		     {"9007199254740993", 9007199254740992.0},
		     {"0.30000000000000004", 0.30000000000000004},
		     {"00000000000000000000000000000000000001.5", 1.5},
		     {"123456789012345678901234567890", 123456789012345678901234567890.0}};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scan text = text_scan(CASES[i].text);
		double value;

		assert_true(scan_real(&text, &value));
		assert_true(value == CASES[i].value);
		assert_int_equal(scan_left(&text), 0);
	}
}

static void a_cursor_never_leaves_its_bytes(void **state)
{
	static const char BYTES[] = {'1', '2', '3', '4'};
	struct scan text = scan_bytes(BYTES, 3), word;
	uint64_t value;

	(void)state;
	assert_true(scan_u64(&text, &value));
	assert_int_equal(value, 123);
	text = scan_bytes(BYTES, 0);
	assert_false(scan_u64(&text, &value));
	assert_false(scan_word(&text, &word));
	assert_false(scan_until(&text, '1', &word));
}

static void copies_are_cut_to_fit(void **state)
{
	struct scan text = text_scan("abcdef");
	char room[4];

	(void)state;
	scan_copy(&text, room, sizeof(room));
	assert_string_equal(room, "abc");
}

static void yes_and_no_have_four_spellings(void **state)
{
	static const char *const TEXTS[] = {"1", "0", "True", "false", "YES", "no", "on", "oFf"};
	bool flag = false;

	(void)state;
	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
		struct scan text = text_scan(TEXTS[i]);

		assert_true(scan_flag(&text, &flag));
		assert_int_equal(flag, i % 2 == 0);
	}
	for (const char *const *text = (const char *const[]){"", "2", "y", "10", "yes ", NULL}; *text;
	     text++) {
		struct scan scan = text_scan(*text);

		assert_false(scan_flag(&scan, &flag));
	}
}

static void words_end_at_blanks_and_newlines(void **state)
{
	struct scan text = text_scan("  one\ttwo\nthree"), word;

	(void)state;
	assert_true(scan_word(&text, &word) && scan_is(&word, "one"));
	assert_true(scan_word(&text, &word) && scan_is(&word, "two"));
	assert_false(scan_word(&text, &word));
	assert_true(scan_is(&word, "two"));
	assert_int_equal(scan_left(&text), 6);
}

static void until_steps_over_its_stop(void **state)
{
	struct scan text = text_scan("key::value"), before;

	(void)state;
	assert_true(scan_until(&text, ':', &before) && scan_is(&before, "key"));
	assert_true(scan_until(&text, ':', &before) && scan_is(&before, ""));
	assert_false(scan_until(&text, ':', &before));
	assert_true(scan_is(&text, "value"));
}

static void hexadecimal_numbers_fill_64_bits(void **state)
{
	struct scan text = text_scan(" ffffFFFFffffFFFF 10000000000000000 0000000000000000000001g");
	uint64_t value = 0;

	(void)state;
	assert_true(scan_hex(&text, &value));
	assert_true(value == UINT64_MAX);
	assert_false(scan_hex(&text, &value));
	text = text_scan("0000000000000000000001g");
	assert_true(scan_hex(&text, &value));
	assert_int_equal(value, 1);
	assert_true(scan_is(&text, "g"));
	assert_false(scan_hex(&text, &value));
}

static void literals_match_at_the_cursor_only(void **state)
{
	struct scan text = text_scan("cpu0");

	(void)state;
	assert_false(scan_literal(&text, "pu"));
	assert_false(scan_literal(&text, "cpu01"));
	assert_true(scan_literal(&text, "cpu"));
	assert_true(scan_is(&text, "0"));
}

static void trimming_takes_both_ends(void **state)
{
	struct scan trimmed = scan_trim(scan_bytes("\n\t a b \0\r\n", 10));

	(void)state;
	assert_true(scan_is(&trimmed, "a b"));
	trimmed = scan_trim(text_scan(" \n "));
	assert_int_equal(scan_left(&trimmed), 0);
	trimmed = scan_trim(text_scan(""));
	assert_int_equal(scan_left(&trimmed), 0);
}

static void copies_into_nothing_do_nothing(void **state)
{
	struct scan text = text_scan("abc");
	char room[1] = {'x'};

	(void)state;
	scan_copy(&text, room, 0);
	assert_int_equal(room[0], 'x');
	scan_copy(&text, room, 1);
	assert_int_equal(room[0], '\0');
}

/* memcpy(3) wants a valid pointer even for no bytes; the sanitisers' builds check this. */
static void a_copy_of_nothing_is_empty(void **state)
{
	struct scan nothing = scan_bytes(NULL, 0);
	char text[4] = "old";

	(void)state;
	scan_copy(&nothing, text, sizeof text);
	assert_string_equal(text, "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_with_the_text),
		cmocka_unit_test(scan_number_refuses_overflow),
		cmocka_unit_test(a_column_is_a_whole_number_or_minus_one),
		cmocka_unit_test(reals_are_locale_free),
		cmocka_unit_test(a_cursor_never_leaves_its_bytes),
		cmocka_unit_test(copies_are_cut_to_fit),
		cmocka_unit_test(a_copy_of_nothing_is_empty),
		cmocka_unit_test(words_end_at_blanks_and_newlines),
		cmocka_unit_test(until_steps_over_its_stop),
		cmocka_unit_test(hexadecimal_numbers_fill_64_bits),
		cmocka_unit_test(literals_match_at_the_cursor_only),
		cmocka_unit_test(trimming_takes_both_ends),
		cmocka_unit_test(copies_into_nothing_do_nothing),
		cmocka_unit_test(yes_and_no_have_four_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
