/* json_is_valid(): strict RFC 8259. */
#include <string.h>

#include "base/cleanup.h"
#include "export/json_check.h"
#include "unit.h"

static bool is_valid(const char *text)
{
	return json_is_valid(scan_bytes(text, strlen(text)));
}

static void json_is_valid_takes_json(void **state)
{
	static const char *const GOOD[] = {
		"0",
		"-0.5e+10",
		"1E-2",
		" null ",
		"true",
		"\"\"",
		"[]",
		"{}",
		"[[],{},[1,2]]",
		"{\"a\":1,\"b\":[{\"c\":null}]}",
		" { \"a\" : [ 1 , 2 ] , \"b\" : \"\\u00e9\\n\\/\" } ",
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		/* The first and last character of each length, and those beside the surrogates. */
		"\" \x7f\"",
		"\"\xc2\x80\xdf\xbf\"",
		"\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"",
		"\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
		"\"\\u0aF9\"",
		" \t\r\n90 \t\r\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(GOOD); i++)
		assert_true(is_valid(GOOD[i]));
}

static void json_is_valid_refuses_near_json(void **state)
{
	static const char *const BAD[] = {
		"",
		" ",
		"01",
		".5",
		"1.",
		"+1",
		"-",
		"1e",
		"NaN",
		"Infinity",
		"hello",
		"nul",
		"1 2",
		"[1,]",
		"[1,,2]",
		"[,1]",
		"[",
		"[1",
		"]",
		"{",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{a:1}",
		"{\"a\":1]",
		"[1}",
		"\"",
		"\"\\x\"",
		"\"\\u12g4\"",
		"\"\n\"",
		"\"\x01\"",
		"\"\xff\"",
		"\"\xc0\xaf\"",
		"\"\xe0\x80\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xc3\"",
		"\"\xc1\xbf\"",
		"\"\xe0\x9f\xbf\"",
		"\"\xed\xbf\xbf\"",
		"\"\xf0\x8f\xbf\xbf\"",
		"\"\xf5\x80\x80\x80\"",
		"\"\xe2\x82",
		"\"\xe2\x82x\"",
		"\"\xe2\xc2\x82\"",
		"\"\\",
		"\"\\u",
		"\"\\u00",
		"\"\\u00\"",
		"\"\x1f\"",
		"{} {}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
		assert_false(is_valid(BAD[i]));
}

static void json_is_valid_stops_at_a_depth(void **state)
{
	char text[400];

	(void)state;
	memset(text, '[', 200);
	memset(text + 200, ']', 200);
	assert_true(json_is_valid(scan_bytes(text + 200 - 128, 256)));
	assert_false(json_is_valid(scan_bytes(text + 200 - 129, 258)));
	assert_false(json_is_valid(scan_bytes(text, 200)));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_valid_takes_json),
		cmocka_unit_test(json_is_valid_refuses_near_json),
		cmocka_unit_test(json_is_valid_stops_at_a_depth),
	};

	return cmocka_run_group_tests_name("json_check", tests, NULL, NULL);
}
