/* Amounts, waits and signals in words. */
#include "unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "metric/absent.h"
#include "metric/typed_rows.h"
#include "table/signal_words.h"
#include "table/units.h"
#include "table/wait_words.h"

static struct buffer out = {.ceiling = 1 << 12};

static void try_out(const char *words)
{
	assert_string_equal(out.data, words);
	buffer_clear(&out);
}

static void figures_have_three_digits(void **state)
{
	static const struct {
		double value;
		const char *words;
	} CASES[] = {
		{0, "0"},          {0.0004, "< 0.001"},   {-0.0004, "< 0.001"}, {0.0005, "0.001"},
		{0.0994, "0.099"}, {0.1, "0.10"},         {9.99, "9.99"},       {10, "10.0"},
		{99.9, "99.9"},    {100, "100"},          {-5.25, "-5.25"},     {-123.4, "-123"},
		{NAN, "unknown"},  {INFINITY, "unknown"}, {9.994, "9.99"},      {9.996, "10.0"},
		{99.94, "99.9"},   {-99.96, "-100"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_figure(&out, CASES[i].value);
		try_out(CASES[i].words);
	}
}

static void sizes_take_the_largest_unit_below_them(void **state)
{
	static const struct {
		double bytes;
		enum rt_size_unit unit;
		const char *words;
	} CASES[] = {
		{0, RT_SIZE_AUTO, "0"},
		{0, RT_SIZE_GIB, "0"},
		{1, RT_SIZE_AUTO, "1 B"},
		{1023, RT_SIZE_AUTO, "1023 B"},
		{1024, RT_SIZE_AUTO, "1.00 KiB"},
		{1048575, RT_SIZE_AUTO, "1.00 MiB"}, /* and not 1024 KiB */
		{1047000, RT_SIZE_AUTO, "1022 KiB"},
		{-2097152, RT_SIZE_AUTO, "-2.00 MiB"},
		{1610612736, RT_SIZE_AUTO, "1.50 GiB"},
		{1099511627776, RT_SIZE_AUTO, "1.00 TiB"},
		{2048.0 * 1099511627776, RT_SIZE_AUTO, "2048 TiB"},
		{1536, RT_SIZE_BYTES, "1536 B"},
		{1536, RT_SIZE_KIB, "1.50 KiB"},
		{1536, RT_SIZE_MIB, "0.001 MiB"},
		{1500, RT_SIZE_KB, "1.50 kB"},
		{1500000, RT_SIZE_MB, "1.50 MB"},
		{1.5e9, RT_SIZE_GB, "1.50 GB"},
		{1.5e12, RT_SIZE_TB, "1.50 TB"},
		{NAN, RT_SIZE_AUTO, "unknown"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_size(&out, CASES[i].bytes, CASES[i].unit);
		try_out(CASES[i].words);
	}
	add_size_of_mib(&out, 0.5);
	try_out("512 KiB");
}

static void durations_have_two_units(void **state)
{
	static const struct {
		double secs;
		const char *words;
	} CASES[] = {
		{0, "0 ms"},         {0.0123, "12.3 ms"},
		{0.0994, "99.4 ms"}, {0.0995, "0.10 s"},
		{9.994, "9.99 s"},   {9.995, "10.0 s"},
		{59.94, "59.9 s"},   {59.96, "1 min"},
		{61.6, "1 min 2 s"}, {3599.4, "59 min 59 s"},
		{3600, "1 h"},       {3659, "1 h"},
		{3660, "1 h 1 min"}, {86399, "23 h 59 min"},
		{86400, "1 d"},      {90000, "1 d 1 h"},
		{NAN, "unknown"},    {1e300, "11574074074 d 1 h"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_duration(&out, CASES[i].secs);
		try_out(CASES[i].words);
	}
	assert_string_equal(amount_of(2.5, add_duration).text, "2.50 s");
}

static void amounts_have_their_unit_unless_there_are_none(void **state)
{
	static const struct {
		double value;
		const char *unit, *words;
	} CASES[] = {
		{1.5, "MiB", "1.50 MiB"},
		{0, "MiB", "0"},
		{2048, "bytes", "2.00 KiB"},
		{2048, "bytes/s", "2.00 KiB/s"},
		{0, "bytes/s", "0"},
		{12, "GB", "12.0 GB"},
		{61, "s", "1 min 1 s"},
		{0, "s", "0"},
		{1500, "ms", "1.50 s"},
		{0, "ms", "0"},
		{2, "cores", "2.00 cores"},
		{0, "cores", "0"},
		{2.5, "cores", "2.50 cores"},
		{3, "processes", "3 processes"},
		{3.25, "", "3.25"},
		{123456, "", "123456"},
		{1e15, "", "1000000000000000"},
		{NAN, "MiB", "unknown"},
		{NAN, "s", "unknown"},
		{-3, "W", "-3 W"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_amount(&out, CASES[i].value, CASES[i].unit);
		try_out(CASES[i].words);
	}
	assert_string_equal(unit_of_column("process_memory_mib"), "MiB");
	assert_string_equal(unit_of_column("no_such_column"), "");
}

/* The most is the full block; 0 is the lowest, and an unknown value a blank. */
static void a_sparkline_has_eight_heights(void **state)
{
	const double values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NAN, 0.4, 1.5, 7.5};

	(void)state;
	add_sparkline(&out, values, ARRAY_SIZE(values), 8);
	try_out("▁▁▂▃▄▅▆▇██ ▁▂█");
	add_sparkline(&out, values, 2, 0);
	try_out("▁▁");
}

static void waits_are_named_with_their_target(void **state)
{
	static const struct {
		const char *class, *target, *words;
	} CASES[] = {
		{"sleep", "", "a timer (sleep)"},
		{"child", "make", "a child process: make"},
		{"pipe", "", "a pipe"},
		{"file_lock", "/var/lock/x", "the lock of a file: /var/lock/x"},
		{"socket", "TCP port 80", "TCP port 80"},
		{"socket", "", "a socket"},
		{"jobserver", "", "a free job slot of make"},
		{"other", "", "something that no look could name"},
		{"new_class", "x", "new_class: x"},
		{"", "", "a socket"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
		assert_string_equal(wait_words(CASES[i].class, CASES[i].target, text, sizeof text),
				    CASES[i].words);
	assert_string_equal(wait_words("child", "make", text, 8), "a child");
}

static void signals_tell_when_why_and_to_how_many(void **state)
{
	struct signal_at_row row = {.rule = "TERM at memory 90 %",
				    .elapsed_secs = 61,
				    .because = "memory at 92 %",
				    .process_count = 1};

	(void)state;
	add_signal_words(&out, &row);
	try_out("TERM at memory 90 % sent to 1 process after 1 min 1 s (memory at 92 %)");
	row.process_count = 2;
	row.not_sent = "no right";
	add_signal_words(&out, &row);
	try_out("TERM at memory 90 % sent to 2 processes after 1 min 1 s (memory at 92 %), not to all (no "
		"right)");
	row.process_count = 0;
	row.elapsed_secs = no_real(ABSENT_NOT_COLLECTED);
	add_signal_words(&out, &row);
	try_out("TERM at memory 90 % not sent (no right)");
	row.process_count = no_count(ABSENT_NOT_COLLECTED);
	add_signal_words(&out, &row);
	try_out("TERM at memory 90 % not sent (no right)");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_have_three_digits),
		cmocka_unit_test(sizes_take_the_largest_unit_below_them),
		cmocka_unit_test(durations_have_two_units),
		cmocka_unit_test(amounts_have_their_unit_unless_there_are_none),
		cmocka_unit_test(a_sparkline_has_eight_heights),
		cmocka_unit_test(waits_are_named_with_their_target),
		cmocka_unit_test(signals_tell_when_why_and_to_how_many),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	buffer_done(&out);
	return result;
}
