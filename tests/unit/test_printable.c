/* Tests of src/base/printable.c. */
#include "unit.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"

static void assert_shown(const char *text, const char *shown)
{
	char copy[128];

	assert_true(strlen(text) < sizeof copy);
	strcpy(copy, text);
	make_printable(copy, strlen(text));
	assert_string_equal(copy, shown);
}

static void controls_are_replaced(void **state)
{
	(void)state;
	assert_shown("a\x1b[31mred\x07\x08\x7f", "a?[31mred???");
	assert_shown("one\rtwo", "one?two");
	assert_shown("end\r", "end?");
	assert_shown("a\x0b\x0c\x0e", "a???");
}

static void layout_of_tables_stays(void **state)
{
	(void)state;
	assert_shown("a\tb\nc\r\nd\n", "a\tb\nc\r\nd\n");
}

static void text_in_utf8_stays(void **state)
{
	(void)state;
	assert_shown("caf\xc3\xa9 \xe2\x96\x81\xe2\x96\x88 \xf0\x9f\x98\x80",
		     "caf\xc3\xa9 \xe2\x96\x81\xe2\x96\x88 \xf0\x9f\x98\x80");
}

static void controls_of_c1_and_direction_are_replaced(void **state)
{
	(void)state;
	assert_shown("a\xc2\x9b"
		     "31m",
		     "a??31m");
	assert_shown("a\x9b"
		     "31m",
		     "a?31m");
	assert_shown("txt\xe2\x80\xae"
		     "exe",
		     "txt???exe");
	assert_shown("\xe2\x81\xa6x", "???x");
}

static void torn_sequences_are_replaced(void **state)
{
	(void)state;
	assert_shown("\xe2\x96", "??");
	assert_shown("\xc3(", "?(");
	assert_shown("\xc0\x9b\xff", "???");
}

/* U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 change the direction. Their neighbours, and those of U+0080 to U+009F, do not. */
static void only_these_characters_are_obeyed(void **state)
{
	static const struct {
		const char *text;
		bool is_obeyed;
	} CASES[] = {
		{"\xc2\x80", true},    {"\xc2\x9f", true}, {"\u00a0", false}, {"\u00df", false},
		{"\u200d", false},     {"\u200e", true},   {"\u200f", true},  {"\u2010", false},
		{"\u2029", false},     {"\u202a", true},   {"\u202c", true},  {"\u202e", true},
		{"\u202f", false},     {"\u2065", false},  {"\u2066", true},  {"\u2069", true},
		{"\u206a", false},     {"\u20aa", false},  {"\u208e", false}, {"\u308e", false},
		{"\U0001f0aa", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
		if (is_obeyed_by_terminals((const unsigned char *)CASES[i].text, strlen(CASES[i].text)) !=
		    CASES[i].is_obeyed)
			fail_msg("case %zu: %s", i, CASES[i].text);
}

/* A first byte says how many follow. C0 and C1 begin nothing, and no sequence has more than four bytes. */
static void each_first_byte_has_its_length(void **state)
{
	(void)state;
	assert_shown("\xc1\xbf", "??");
	assert_shown("\xc3\x80\xdf\xbf", "\xc3\x80\xdf\xbf");
	assert_shown("\xe0\xa0\x80\xef\xbf\xbd", "\xe0\xa0\x80\xef\xbf\xbd");
	assert_shown("\xf0\x90\x80\x80\xf7\xbf\xbf\xbf", "\xf0\x90\x80\x80\xf7\xbf\xbf\xbf");
	assert_shown("\xf8\x88\x80\x80\x80", "?????");
	assert_shown("\xe0\xa0,", "??,");
	assert_shown("\xf0\x90\x80,", "???,");
	assert_shown("\xf0\x90\x80", "???");
	assert_shown("\x01\x1f ~", "?? ~");
}

static void a_name_within_a_line_has_no_newline(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(64);

	(void)state;
	buffer_add_text(&out, "x\n");
	buffer_add_printable(&out, "a\nb\tc\xc3\xa9");
	assert_string_equal(out.data, "x\na?b?c\xc3\xa9");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_are_replaced),
		cmocka_unit_test(layout_of_tables_stays),
		cmocka_unit_test(text_in_utf8_stays),
		cmocka_unit_test(controls_of_c1_and_direction_are_replaced),
		cmocka_unit_test(torn_sequences_are_replaced),
		cmocka_unit_test(only_these_characters_are_obeyed),
		cmocka_unit_test(each_first_byte_has_its_length),
		cmocka_unit_test(a_name_within_a_line_has_no_newline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
