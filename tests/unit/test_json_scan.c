/* Tests of src/format/json_scan.c: values of a line, one after the other. */
#include "unit.h"
#include "guarded.h"

#include "base/cleanup.h"
#include "format/json_scan.h"

static struct scan text_of(const char *text)
{
	return scan_bytes(text, strlen(text));
}

static void a_string_ends_at_its_own_quote(void **state)
{
	static const struct {
		const char *json, *raw, *left; /* NULL raw: refused */
	} CASES[] = {
		{"\"a b\",1", "a b", ",1"},
		{"\"\"", "", ""},
		{"\"a\\\"b\"x", "a\\\"b", "x"},
		{"\"a\\\\\"\"b\"", "a\\\\", "\"b\""},
		{"\"a\\\\\\\"\" ", "a\\\\\\\"", " "},
		{"\"a", NULL, NULL},
		{"\"a\\\"", NULL, NULL},
		{"\"a\\", NULL, NULL},
		{"a\"", NULL, NULL},
		{"", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct scan json = text_of(CASES[i].json), raw;
		bool taken = json_quoted(&json, &raw);

		assert_int_equal(taken, CASES[i].raw != NULL);
		if (taken)
			assert_true(scan_is(&raw, CASES[i].raw) && scan_is(&json, CASES[i].left));
	}
}

static void escapes_are_resolved(void **state)
{
	static const struct {
		const char *raw, *text;
	} CASES[] = {
		{"plain", "plain"},
		{"", ""},
		{"\\b\\f\\n\\r\\t\\\"\\\\\\/", "\b\f\n\r\t\"\\/"},
		{"a\\u0041b", "aAb"},
		/* The first and the last of one, two, three and four bytes. */
		{"\\u0001\\u007f", "\x01\x7f"},
		{"\\u0080\\u07ff", "\xc2\x80\xdf\xbf"},
		{"\\u0800\\uFFFF", "\xe0\xa0\x80\xef\xbf\xbf"},
		{"\\ud800\\udc00\\uDBFF\\uDFFF", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
		{"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
		{"\\ud7ff\\ue000", "\xed\x9f\xbf\xee\x80\x80"},
		/* U+FFFD stands for half a pair, for NUL, and for four characters without a number. */
		{"\\ud83dx", "\xef\xbf\xbdx"},
		{"\\ud83d\\u0041", "\xef\xbf\xbd"
				   "A"},
		{"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
		{"\\udc00\\udc00", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\\ud83d\\ue000", "\xef\xbf\xbd\xee\x80\x80"},
		{"\\u0000.", "\xef\xbf\xbd."},
		{"\\u12", "\xef\xbf\xbd"
			  "12"},
		{"\\u12g4", "\xef\xbf\xbd"
			    "12g4"},
		{"\\u 123", "\xef\xbf\xbd 123"},
		{"\\u", "\xef\xbf\xbd"},
		{"a\\", "a"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(1000);
		struct scan raw = text_of(CASES[i].raw);

		json_unescape(&out, &raw);
		assert_string_equal(out.data ? out.data : "", CASES[i].text);
	}
}

static void values_have_kinds(void **state)
{
	static const struct {
		const char *json;
		enum json_kind kind;
		const char *raw, *left;
	} CASES[] = {
		{"\"1\",", VALUE_STRING, "1", ","},      {"0,", VALUE_NUMBER, "0", ","},
		{"9}", VALUE_NUMBER, "9", "}"},          {"-1.5e3]", VALUE_NUMBER, "-1.5e3", "]"},
		{"null ", VALUE_NULL, "null", " "},      {"true\t", VALUE_TRUE, "true", "\t"},
		{"false\n", VALUE_FALSE, "false", "\n"}, {"NaN\r", VALUE_OTHER, "NaN", "\r"},
		{"nul", VALUE_OTHER, "nul", ""},         {"+1", VALUE_OTHER, "+1", ""},
		{":1", VALUE_OTHER, ":1", ""},           {"{\"a\":[1,{}]},2", VALUE_OTHER, "", ",2"},
		{"[[]]]", VALUE_OTHER, "", "]"},         {"{\"}\":\"]\\\"}\"}x", VALUE_OTHER, "", "x"},
	};
	static const char *const BAD[] = {"", ",", "}", "]", " 1", "\"a", "{", "[1,2", "{\"a\":\"}", "[\"\\"};
	enum json_kind kind;
	struct scan raw;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct scan json = text_of(CASES[i].json), skipped = json;

		assert_true(json_value(&json, &kind, &raw));
		assert_int_equal(kind, CASES[i].kind);
		assert_true(scan_is(&raw, CASES[i].raw) && scan_is(&json, CASES[i].left));
		assert_true(json_skip(&skipped) && scan_is(&skipped, CASES[i].left));
	}
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		struct scan json = text_of(BAD[i]), skipped = json;

		assert_false(json_value(&json, &kind, &raw));
		assert_false(json_skip(&skipped));
	}
}

static void a_sign_may_have_blanks_around(void **state)
{
	struct scan json = text_of(" \t\n\r: 1");

	(void)state;
	assert_false(json_take(&json, ','));
	assert_true(json_take(&json, ':') && scan_is(&json, "1"));
	assert_false(json_take(&json, ':'));
	json = text_of("  ");
	assert_false(json_take(&json, ' '));
}

static void values_stay_in_their_text(void **state)
{
	static const char *const TEXTS[] = {"{\"a\":[\"b\\\"\",{}]}", "\"\\ud83d\\ude00\\n\"", "-1.5e3",
					    "null", " \t\n\r:"};
	char *end = guarded_begin();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++)
		for (size_t length = 0; length <= strlen(TEXTS[i]); length++) {
			CLEANUP_BUFFER struct buffer out = BUFFER(1000);
			const struct scan text = scan_bytes(guarded_text(end, TEXTS[i], length), length);
			struct scan value = text, skipped = text, taken = text, raw;
			bool whole = length == strlen(TEXTS[i]) || ((i == 2 || i == 3) && length > 0);
			enum json_kind kind;

			assert_int_equal(json_value(&value, &kind, &raw), whole && i != 4);
			assert_int_equal(json_skip(&skipped), whole && i != 4);
			assert_int_equal(json_take(&taken, ':'), i == 4 && whole);
			json_unescape(&out, &text);
		}
	guarded_end(end);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_ends_at_its_own_quote),
		cmocka_unit_test(escapes_are_resolved),
		cmocka_unit_test(values_have_kinds),
		cmocka_unit_test(a_sign_may_have_blanks_around),
		cmocka_unit_test(values_stay_in_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
