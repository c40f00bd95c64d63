/* Tests of src/base/json_write.c. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_write.h"

static void commas_and_nesting_are_its_business(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct json_writer json = JSON_WRITER(&out);

	(void)state;
	json_open(&json, '{');
	json_key(&json, "a");
	json_count(&json, -5);
	json_key(&json, "b");
	json_open(&json, '[');
	json_decimal(&json, 0.5, 3);
	json_absent(&json);
	json_flag(&json, true);
	json_open(&json, '{');
	json_close(&json, '}');
	json_open(&json, '[');
	json_close(&json, ']');
	json_text(&json, NULL);
	json_close(&json, ']');
	json_key(&json, "c");
	json_text(&json, "x");
	json_key(&json, "d");
	json_raw(&json, "[1,2]", 5);
	json_key(&json, "e");
	json_decimal(&json, NAN, 3);
	json_close(&json, '}');
	assert_int_equal(buffer_error(&out), 0);
	assert_string_equal(out.data,
			    "{\"a\":-5,\"b\":[0.5,null,true,{},[],null],\"c\":\"x\",\"d\":[1,2],\"e\":null}");
}

static void assert_escaped(const char *bytes, size_t length, const char *wanted)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	json_escape(&out, bytes, length);
	assert_string_equal(out.data, wanted);
}

#define ESCAPED(text, wanted) assert_escaped(text, sizeof(text) - 1, wanted)

static void text_is_escaped(void **state)
{
	(void)state;
	ESCAPED("", "\"\"");
	ESCAPED("plain", "\"plain\"");
	ESCAPED("\"\\/", "\"\\\"\\\\/\"");
	ESCAPED("\b\t\n\v\f\r", "\"\\b\\t\\n\\u000b\\f\\r\"");
	ESCAPED("a\0b\x1f\x7f", "\"a\\u0000b\\u001f\\u007f\"");
}

static void valid_utf8_stays(void **state)
{
	(void)state;
	ESCAPED("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
		"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"");
}

/* A person may read the line in a terminal, which would obey these. */
static void signs_that_terminals_obey_are_escaped(void **state)
{
	(void)state;
	ESCAPED("\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\"");
	ESCAPED("a\xe2\x80\xaez", "\"a\\u202ez\"");
	ESCAPED("\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\"\\u2066\\u2069\xe2\x81\xaa\"");
}

static void invalid_utf8_is_replaced(void **state)
{
	(void)state;
	ESCAPED("\xff", "\"\\ufffd\"");
	ESCAPED("a\x80z", "\"a\\ufffdz\"");
	ESCAPED("\xc3", "\"\\ufffd\"");
	ESCAPED("\xc3z", "\"\\ufffdz\"");
	ESCAPED("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	ESCAPED("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	ESCAPED("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	ESCAPED("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	ESCAPED("\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"");
}

static void too_deep_nesting_fails_and_stays_in_bounds(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	struct json_writer json = JSON_WRITER(&out);

	(void)state;
	for (int i = 0; i < JSON_DEPTH - 1; i++)
		json_open(&json, '[');
	assert_int_equal(buffer_error(&out), 0);
	for (int i = 0; i < 200; i++)
		json_open(&json, '[');
	assert_int_equal(buffer_error(&out), -ENOBUFS);
	for (int i = 0; i < 300; i++)
		json_close(&json, ']');
	assert_int_equal(json.depth, 0);
}

static void levels_that_were_used_before_begin_anew(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct json_writer json = JSON_WRITER(&out);

	(void)state;
	json_open(&json, '[');
	for (int i = 0; i < 3; i++) {
		json_open(&json, '[');
		json_count(&json, i);
		json_close(&json, ']');
	}
	json_close(&json, ']');
	assert_string_equal(out.data, "[[0],[1],[2]]");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_nesting_are_its_business),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(valid_utf8_stays),
		cmocka_unit_test(signs_that_terminals_obey_are_escaped),
		cmocka_unit_test(invalid_utf8_is_replaced),
		cmocka_unit_test(too_deep_nesting_fails_and_stays_in_bounds),
		cmocka_unit_test(levels_that_were_used_before_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
