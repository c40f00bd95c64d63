/* Tests of src/net/timestamps.c. Epoch seconds were computed by date(1). */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/timestamps.h"

static int64_t iso(const char *text)
{
	int64_t secs = -1;

	return parse_iso8601(text, strlen(text), &secs) == 0 ? secs : INT64_MIN;
}

static void every_offset_is_one_instant(void **state)
{
	static const char *const SAME[] = {
		"2026-04-01T12:00:00Z",          "2026-04-01T12:00:00+00:00",   "2026-04-01T14:00:00+02:00",
		"2026-04-01T05:30:00-0630",      "2026-04-01T12:00:00.999999Z", "2026-04-01T12:00:00,5+00",
		"2026-04-01 12:00:00z",          "2026-04-01T12:00Z",           "2026-04-02T02:00:00+14:00",
		"  2026-04-01T12:00:00.123Z \n", "2026-04-01T12:00:00",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++)
		assert_int_equal(iso(SAME[i]), 1775044800);
	assert_int_equal(iso("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(iso("2000-02-29T23:59:59Z"), 951868799);
	assert_int_equal(iso("0001-01-01T00:00:00Z"), INT64_C(-62135596800));
	assert_int_equal(iso("2024-02-29t00:00:00Z"), 1709164800);
	assert_int_equal(iso("1900-03-01T00:00:00Z"), INT64_C(-2203891200));
	assert_int_equal(iso("2100-03-01T00:00:00Z"), 4107542400);
	assert_int_equal(iso("1969-12-31T23:59:59Z"), -1);
	assert_int_equal(iso("2026-12-31T23:59:60Z"), 1798761600);
}

static void each_month_has_its_days(void **state)
{
	static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	char text[32];
	int64_t noon = iso("2026-01-01T12:00:00Z");

	(void)state;
	for (int month = 1; month <= 12; month++)
		for (int day = 1; day <= 32; day++) {
			bool is_day = day <= DAYS[month - 1];

			snprintf(text, sizeof text, "2026-%02d-%02dT12:00:00Z", month, day);
			assert_true(iso(text) == (is_day ? noon : INT64_MIN));
			noon += is_day ? 86400 : 0;
		}
	assert_int_equal(iso("2026-04-01T12:00:00+23:59"), 1775044800 - 86340);
	assert_int_equal(iso("2026-04-01T12:00:00+22:60"), INT64_MIN);
}

static void parse_iso8601_refuses_other_texts(void **state)
{
	static const char *const WRONG[] = {
		"",
		"2026",
		"2026-04-01",
		"2026-13-01T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2026-04-01T24:00:00Z",
		"2026-04-01T12:60:00Z",
		"2026-04-01T12:00:00.Z",
		"2026-04-01T12:00:00+2",
		"2026-04-01T12:00:00+02:00x",
		"2026-04-01T12:00:00+24:00",
		"26-04-01T12:00:00Z",
		"2026-4-1T12:00:00Z",
		"2026-04-01T12:00:00 CEST",
		"2026-04-0112:00:00Z",
		"2026-04-01_12:00:00Z",
		"2026-04-01T12.00:00Z",
		"2026-04-01T12:00:",
		"2026-04-01T12:00:61Z",
		"2026-04-00T12:00:00Z",
		"2026-00-01T12:00:00Z",
		"0000-04-01T12:00:00Z",
		"2100-02-29T00:00:00Z",
		"2026/04-01T12:00:00Z",
		"2026-04/01T12:00:00Z",
		"2026-04-01T12:00:00+02:0",
		"2026-04-01T12:00:00Zz",
		"1775044800",
		"tomorrow",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++)
		assert_true(iso(WRONG[i]) == INT64_MIN);
}

static void header_dates(void **state)
{
	static const char GOOD[] = "Wed, 01 Apr 2026 12:00:00 GMT";
	int64_t secs = 7;

	(void)state;
	assert_int_equal(parse_http_date(GOOD, &secs), 0);
	assert_int_equal(secs, 1775044800);
	assert_int_equal(parse_http_date("Wednesday, 01-Apr-26 12:00:00 GMT", &secs), 0);
	assert_int_equal(secs, 1775044800);
	secs = 7;
	assert_int_equal(parse_http_date("Wed, 01 Foo 2026 12:00:00 GMT", &secs), -EBADMSG);
	assert_int_equal(parse_http_date("not a date", &secs), -EBADMSG);
	assert_int_equal(secs, 7);
}

static void times_are_written_in_utc(void **state)
{
	char text[TIME_TEXT_SIZE];

	(void)state;
	format_iso8601(1775044800, text);
	assert_string_equal(text, "2026-04-01T12:00:00Z");
	format_iso8601_basic(951868799, text);
	assert_string_equal(text, "20000229T235959Z");
	format_iso8601(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59Z");
	format_iso8601(INT64_MAX, text); /* no year of an int */
	assert_string_equal(text, "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_offset_is_one_instant),
		cmocka_unit_test(each_month_has_its_days),
		cmocka_unit_test(parse_iso8601_refuses_other_texts),
		cmocka_unit_test(header_dates),
		cmocka_unit_test(times_are_written_in_utc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
