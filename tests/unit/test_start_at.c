/* parse_start_at(): every form of a time, and texts that are not a time. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tracker/start_at.h"
#include "unit.h"

/* 2026-11-21 12:00:00.5 UTC */
#define NOW_NS (INT64_C(1795262400) * NSEC_PER_SEC + 500 * NSEC_PER_MSEC)

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} CASES[] = {
		{"2026-11-21T12:00:00Z", INT64_C(1795262400000000000)},
		{"2026-11-21 12:00Z", INT64_C(1795262400000000000)},
		{"2026-11-21T13:30:00+01:30", INT64_C(1795262400000000000)},
		{"2026-11-21T07:00:00-0500", INT64_C(1795262400000000000)},
		{"2026-11-21T12:00:00.25Z", INT64_C(1795262400250000000)},
		/* TZ is set to three hours east */
		{"2026-11-21T15:00:00", INT64_C(1795262400000000000)},
		{"15:00:01", INT64_C(1795262401000000000)},
		{"15:00", INT64_C(1795262400000000000) + 86400 * NSEC_PER_SEC},
		{"14:59:59", INT64_C(1795262399000000000) + 86400 * NSEC_PER_SEC},
		{"+90", NOW_NS + 90 * NSEC_PER_SEC},
		{"+0.5", NOW_NS + 500 * NSEC_PER_MSEC},
		{"@1795262400", INT64_C(1795262400000000000)},
		{"@1795262400.5", NOW_NS},
		{"2024-02-29T00:00:00Z", INT64_C(1709164800000000000)},
		{"2026-11-21t23:59:59.5z", INT64_C(1795305599500000000)},
		{"2026-11-22T11:59:00+2359", INT64_C(1795262400000000000)},
		{"2026-11-20T12:01-23:59", INT64_C(1795262400000000000)},
		{"2026-11-21T16:00:00+04", INT64_C(1795262400000000000)},
		{"1970-01-01T00:00:01Z", NSEC_PER_SEC},
		{"2026-12-31T00:00:00Z", INT64_C(1798675200000000000)},
		{"2262-04-11T23:47:15Z", INT64_C(9223372035) * NSEC_PER_SEC},
		{"15:00:00.75", INT64_C(1795262400750000000)},
		{"15:00:00.9", INT64_C(1795262400900000000)},
		{"00:00", INT64_C(1795294800000000000)},
		{"19:09:59.0", INT64_C(1795277399000000000)},
		{"@1", NSEC_PER_SEC},
		{"+0", NOW_NS},
		{"  +1.5h \n", NOW_NS + 5400 * NSEC_PER_SEC},
		{"+.25", NOW_NS + 250 * NSEC_PER_MSEC},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		int64_t ns = -1;

		assert_int_equal(parse_start_at(CASES[i].text, NOW_NS, &ns), 0);
		assert_int_equal(ns, CASES[i].ns);
	}
}

static void test_no_times(void **state)
{
	static const char *const CASES[] = {
		"",
		"now",
		"90",
		"+",
		"+-1",
		"+ 1",
		"@",
		"@-5",
		"@0.5",
		"@1e300",
		"+1e300",
		"24:00",
		"12:60",
		"12:00:60",
		"12:00:00.",
		"12:00x",
		"12:00:00.x",
		"12:00:00.5x",
		"12:00:00.5e1",
		"12:00:00.1e1",
		"12:00:00.:",
		"12:00:00./5",
		"/2:00",
		":2:00",
		"1/:00",
		"1::00",
		"12:0",
		"1a:00",
		"2026-11-21",
		"2026-11-21_12:00Z",
		"2026/11-21T12:00Z",
		"2026-11/21T12:00Z",
		"2026-11-00T12:00Z",
		"2026-12-32T12:00Z",
		"2026-11-21T12:00:00+12:60",
		"2026-11-21T12:00:00+1",
		"2026-11-21T12:00:00+010",
		"2026-11-21T12:00:00+01:0",
		"1970-01-01T00:00:00Z",
		"2262-04-11T23:47:16Z",
		"+90x",
		"@1x",
		"@",
		"2026-13-01T00:00:00Z",
		"2026-00-01T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2026-11-31T00:00:00",
		"2026-11-21T12:00:00+25:00",
		"2026-11-21T12:00:00Zjunk",
		"2026-11-21T12:00:00 UTC",
		"1969-12-31T00:00:00Z",
		"9999-12-31T00:00:00Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		int64_t ns = 7;

		if (parse_start_at(CASES[i], NOW_NS, &ns) != -EINVAL)
			fail_msg("'%s' was taken for a time", CASES[i]);
		assert_int_equal(ns, 7);
	}
}

UNIT_TESTS
{
	static const struct CMUnitTest TESTS[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_no_times),
	};

	setenv("TZ", "EAST-3", 1);
	tzset();
	return cmocka_run_group_tests(TESTS, NULL, NULL);
}
