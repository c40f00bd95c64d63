/* json_is_valid(): strict RFC 8259. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/json_check.h"
#include "guarded.h"

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
		"[9,-9,10,-0,0.09,1e0,1e9,1e+9,1e-9]",
		"\"\\u0aF9\\uABCD\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
		"\t{\r\n\"\"\t:\n{ }\r,\"a\":[ ] } ",
		"\" ~\x7f\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(GOOD); i++)
		if (!is_valid(GOOD[i]))
			fail_msg("%s", GOOD[i]);
}

/* The first and last characters of each length, and the bytes beside them. */
static void json_is_valid_knows_the_limits_of_utf8(void **state)
{
	static const char *const GOOD[] = {
		"\xc2\x80",     "\xdf\xbf",     "\xe0\xa0\x80",     "\xed\x9f\xbf",     "\xee\x80\x80",
		"\xef\xbf\xbf", "\xe1\x80\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
	};
	static const char *const BAD[] = {
		"\x80",
		"\xbf",
		"\xc1\xbf",
		"\xc2\x7f",
		"\xc2\xc0",
		"\xc2",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xe2\x82",
		"\xe2\x82\x7f",
		"\xe2\x28\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf0\x9f\x98",
		"\xf5\x80\x80\x80",
	};
	char text[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(GOOD) + ARRAY_SIZE(BAD); i++) {
		bool good = i < ARRAY_SIZE(GOOD);

		snprintf(text, sizeof text, "\"%s\"", good ? GOOD[i] : BAD[i - ARRAY_SIZE(GOOD)]);
		if (is_valid(text) != good)
			fail_msg("row %zu", i);
		/* The text may end within a character. */
		assert_false(json_is_valid(scan_bytes(text, 2)));
	}
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
		"{} {}",
		"-a",
		"1e+",
		"1.e1",
		"1..2",
		"00",
		"[1:2]",
		"{\"a\",1}",
		"{\"a\" 1}",
		"{\"a\":1 \"b\":2}",
		"{,}",
		"[1}]",
		"{]",
		"[}",
		"\"\\",
		"\"\\u123\"",
		"\"\\u",
		"\"\x1f\"",
		"'a'",
		"truE",
		"1\v",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
		if (is_valid(BAD[i]))
			fail_msg("%s", BAD[i]);
	/* A NUL byte is none of them. */
	assert_false(json_is_valid(scan_bytes("1\0", 2)));
	assert_false(json_is_valid(scan_bytes("\"\\\0\"", 4)));
	assert_false(json_is_valid(scan_bytes("\"\\u000\0\"", 8)));
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

/* The memory behind the text cannot be read. */
static void json_is_valid_stays_in_its_text(void **state)
{
	static const char TEXT[] =
		" { \"a\\u00e9\\n\xf0\x9f\x98\x80\" : [ -12.5e+3 , true , null , \"\" , {} , [ ] ] } ";
	char *end = guarded_begin();

	(void)state;
	for (size_t length = 0; length < sizeof TEXT; length++) {
		const char *text = guarded_text(end, TEXT, length);

		assert_int_equal(json_is_valid(scan_bytes(text, length)), length >= sizeof TEXT - 2);
	}
	guarded_end(end);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_valid_takes_json),
		cmocka_unit_test(json_is_valid_refuses_near_json),
		cmocka_unit_test(json_is_valid_knows_the_limits_of_utf8),
		cmocka_unit_test(json_is_valid_stops_at_a_depth),
		cmocka_unit_test(json_is_valid_stays_in_its_text),
	};

	return cmocka_run_group_tests_name("json_check", tests, NULL, NULL);
}
