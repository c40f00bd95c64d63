/* Tests of src/base/buffer.c. */
#include "comma_locale.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

static const char *real_text(struct buffer *buffer, double value, int decimals)
{
	buffer_clear(buffer);
	buffer_add_real(buffer, value, decimals);
	return buffer->data;
}

static const char *fixed_text(struct buffer *buffer, double value, int decimals)
{
	buffer_clear(buffer);
	buffer_add_real_fixed(buffer, value, decimals);
	return buffer->data;
}

static void appended_pieces_make_one_text(void **state)
{
	CLEANUP_BUFFER struct buffer buffer = BUFFER(1000);

	(void)state;
	buffer_add(&buffer, NULL, 0);
	buffer_add_text(&buffer, "a");
	buffer_add_char(&buffer, '-');
	buffer_add(&buffer, "\0b", 2);
	buffer_printf(&buffer, "%05d|%s", 42, "");
	assert_int_equal(buffer_error(&buffer), 0);
	assert_int_equal(buffer.length, 10);
	assert_memory_equal(buffer.data, "a-\0b00042|", 11);
}

static void integers_reach_their_ends(void **state)
{
	CLEANUP_BUFFER struct buffer buffer = BUFFER(1000);

	(void)state;
	buffer_add_i64(&buffer, INT64_MIN);
	buffer_add_char(&buffer, ' ');
	buffer_add_i64(&buffer, INT64_MAX);
	buffer_add_char(&buffer, ' ');
	buffer_add_u64(&buffer, UINT64_MAX);
	buffer_add_char(&buffer, ' ');
	buffer_add_i64(&buffer, 0);
	assert_string_equal(buffer.data, "-9223372036854775808 9223372036854775807 18446744073709551615 0");
}

/* Exactly the ceiling fits; one byte more empties the buffer and marks it until it is cleared. */
static void the_ceiling_holds(void **state)
{
	CLEANUP_BUFFER struct buffer buffer = BUFFER(300);
	char bytes[301];

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	buffer_add(&buffer, bytes, 300);
	assert_int_equal(buffer_error(&buffer), 0);
	assert_int_equal(buffer.length, 300);
	buffer_add_char(&buffer, 'y');
	assert_int_equal(buffer_error(&buffer), -ENOBUFS);
	assert_int_equal(buffer.length, 0);
	assert_string_equal(buffer.data, "");
	buffer_add_text(&buffer, "ignored");
	buffer_printf(&buffer, "%d", 1);
	assert_int_equal(buffer.length, 0);
	assert_int_equal(buffer_reserve(&buffer, 1), -ENOBUFS);
	buffer_clear(&buffer);
	buffer_add_text(&buffer, "again");
	assert_string_equal(buffer.data, "again");
	assert_int_equal(buffer_reserve(&buffer, SIZE_MAX), -ENOBUFS);
}

static void clearing_keeps_memory_and_done_gives_it_back(void **state)
{
	struct buffer buffer = BUFFER(1 << 20);
	size_t capacity;

	(void)state;
	assert_int_equal(buffer_reserve(&buffer, 5000), 0);
	capacity = buffer.capacity;
	assert_true(capacity > 5000);
	buffer_clear(&buffer);
	assert_int_equal(buffer.capacity, capacity);
	buffer_done(&buffer);
	assert_null(buffer.data);
	assert_int_equal(buffer.capacity, 0);
	assert_int_equal(buffer.ceiling, 1 << 20);
	buffer_clear(&buffer);
	buffer_add_text(&buffer, "usable");
	assert_string_equal(buffer.data, "usable");
	buffer_done(&buffer);
}

static void reals_are_short_and_always_have_a_point(void **state)
{
	static const struct {
		double value;
		int decimals;
		const char *text;
	} CASES[] = {
		{2, 3, "2.0"},
		{0.25, 3, "0.25"},
		{0.0004, 3, "0.0"},
		{0.0005, 3, "0.001"},
		{-0.0004, 3, "0.0"},
		{-0.5, 1, "-0.5"},
		{1.005, 6, "1.005"},
		{1e6, 6, "1000000.0"},
		{0.999999, 3, "1.0"},
		{-2.5, 0, "-3"},
		{2.4, 0, "2"},
		{0, 0, "0"},
		{-0.0, 2, "0.0"},
		{123456.789, 9, "123456.789"},
		{1e-300, 9, "0.0"},
		{9007199254740991, 0, "9007199254740991"},
		{9007199254740992e3, 3, "9007199254740992000.0"},
		{1e22, 6, "10000000000000000000000.0"},
		{1e13 + 0.25, 3, "10000000000000.25"},
		{-1e300, 0, NULL},
	};
	CLEANUP_BUFFER struct buffer buffer = BUFFER(1000);

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const char *text = real_text(&buffer, CASES[i].value, CASES[i].decimals);

		if (CASES[i].text)
			assert_string_equal(text, CASES[i].text);
		else
			assert_true(text[0] == '-' && strlen(text) == 302 && !strchr(text, '.'));
	}
	assert_string_equal(real_text(&buffer, NAN, 3), "null");
	assert_string_equal(real_text(&buffer, INFINITY, 3), "null");
}

static void fixed_reals_have_all_their_decimals(void **state)
{
	CLEANUP_BUFFER struct buffer buffer = BUFFER(1000);

	(void)state;
	assert_string_equal(fixed_text(&buffer, 2, 3), "2.000");
	assert_string_equal(fixed_text(&buffer, 0.12345, 4), "0.1235");
	assert_string_equal(fixed_text(&buffer, 1795224227.5, 3), "1795224227.500");
	assert_string_equal(fixed_text(&buffer, 7, 0), "7");
	assert_string_equal(fixed_text(&buffer, 1e18, 3), "1000000000000000000.000");
	assert_string_equal(fixed_text(&buffer, 1e15 + 0.5, 3), "1000000000000000.500");
}

static void no_locale_changes_a_number(void **state)
{
	CLEANUP_BUFFER struct buffer buffer = BUFFER(1000);

	(void)state;
	comma_locale_set();
	assert_string_equal(real_text(&buffer, 0.5, 3), "0.5");
	assert_string_equal(real_text(&buffer, 1e19, 3), "10000000000000000000.0");
	buffer_clear(&buffer);
	buffer_printf(&buffer, "%.2f %.3e %g", 0.25, 0.5, 1.5);
	assert_string_equal(buffer.data, "0.25 5.000e-01 1.5");
	/* The program's own locale is unchanged. */
	assert_string_equal(localeconv()->decimal_point, ",");
	setlocale(LC_ALL, "C");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended_pieces_make_one_text),
		cmocka_unit_test(integers_reach_their_ends),
		cmocka_unit_test(the_ceiling_holds),
		cmocka_unit_test(clearing_keeps_memory_and_done_gives_it_back),
		cmocka_unit_test(reals_are_short_and_always_have_a_point),
		cmocka_unit_test(fixed_reals_have_all_their_decimals),
		cmocka_unit_test(no_locale_changes_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
