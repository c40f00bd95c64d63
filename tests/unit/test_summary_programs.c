/* The programs of a run: src/summary/summary_programs.c. Samples and ends are made by hand, each 2 s long. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/screen.h"
#include "metric/typed_rows.h"
#include "summary/launcher.h"
#include "summary/summary_programs.h"

#define HEAD "\n  " STYLE_STRONG "Programs  " STYLE_END

static struct frame frame;
static struct summary_programs programs;

static void begin(void)
{
	memset(&programs, 0, sizeof programs);
	frame_begin(&frame, 0, 0);
	frame.sample->actual_interval_ms = 2000;
}

/* Ends a sample and begins the next one. */
static void take(void)
{
	summary_programs_add(&programs, &frame);
	frame_begin(&frame, 0, 0);
	frame.sample->actual_interval_ms = 2000;
}

static struct program_row *add_program(const char *name, double cpu_secs)
{
	struct program_row *row = ADD_ROW(&frame, program, NULL);

	row->name = name;
	row->cpu_total_secs = cpu_secs;
	return row;
}

static struct run_end_program_row *add_end(const char *name, double cpu_secs)
{
	struct run_end_program_row *row = ADD_ROW(&frame, run_end_program, NULL);

	row->name = name;
	row->cpu_secs = cpu_secs;
	return row;
}

static void try_program(size_t index, const char *name, double cpu_secs, double pct, double estimated,
			double peak_mib, int64_t processes)
{
	struct rt_program_use use = {.size = sizeof use};

	assert_int_equal(summary_programs_get(&programs, index, &use), 0);
	assert_string_equal(use.name, name);
	if (!(fabs(use.cpu_secs - cpu_secs) < 1e-9 && fabs(use.cpu_pct - pct) < 1e-9 &&
	      fabs(use.cpu_estimated_secs - estimated) < 1e-9 &&
	      (isnan(peak_mib) ? isnan(use.memory_peak_mib) : fabs(use.memory_peak_mib - peak_mib) < 1e-9)))
		fail_msg("%s: %g s, %g %%, %g s estimated, %g MiB", name, use.cpu_secs, use.cpu_pct,
			 use.cpu_estimated_secs, use.memory_peak_mib);
	assert_int_equal(use.process_count, processes);
}

static void try_count(size_t count)
{
	struct rt_program_use use = {.size = sizeof use};

	assert_int_equal(summary_programs_get(&programs, count, &use), -ENOENT);
	if (count)
		assert_int_equal(summary_programs_get(&programs, count - 1, &use), 0);
}

static void try_line(const char *expected)
{
	struct buffer out = BUFFER(1 << 16);

	summary_programs_line(&out, &programs, 10);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_done(&out);
}

static void samples_have_totals_and_the_peak(void **state)
{
	struct program_row *row;

	(void)state;
	begin();
	row = add_program("cc1", 1);
	row->cpu_estimated_secs = 0.5;
	row->memory_mib = 30;
	row->exited_count = 2;
	row->process_count = 3;
	row = add_program("ld", 4);
	row->process_count = 7;
	add_program("others", 9);
	take();
	row = add_program("cc1", 6);
	row->cpu_estimated_secs = 1.5;
	row->memory_mib = 20;
	row->exited_count = 5;
	row = add_program("ld", 4);
	row->memory_mib = 0;
	add_program("others", 10);
	add_program(NULL, 0);
	take();
	summary_programs_finish(&programs);
	try_count(3);
	try_program(0, "cc1", 6, 30, 1.5, 30, 5);
	try_program(1, "ld", 4, 20, 0, NAN, -1);
	try_program(2, "others", 10, 50, 0, NAN, -1);
	/* An interval that lacks programs leaves the sum. */
	add_program("cc1", 6);
	take();
	assert_true(programs.cpu_secs == 20);
	begin();
	add_program("cc1", 1);
	row = add_program("cc1", 1);
	row->exited_count = 2;
	row->process_count = 3;
	take();
	try_program(0, "cc1", 1, 50, 0, NAN, 5);
}

static void the_end_replaces_the_samples(void **state)
{
	struct run_end_program_row *row;

	(void)state;
	begin();
	add_program("gone", 50);
	take();
	add_program("later", 70);
	row = add_end("a", 2);
	row->cpu_estimated_secs = 0.25;
	row->memory_peak_mib = 12;
	row->process_count = 4;
	add_end("b", 5);
	add_end("others", 1);
	add_end("unread", NAN);
	take();
	summary_programs_finish(&programs);
	try_count(4);
	try_program(0, "b", 5, 62.5, 0, NAN, -1);
	try_program(1, "a", 2, 25, 0.25, 12, 4);
	try_program(2, "unread", 0, 0, 0, NAN, -1);
	try_program(3, "others", 1, 12.5, 0, NAN, -1);
}

static void estimated_time_of_others_counts(void **state)
{
	(void)state;
	begin();
	add_program("a", 40)->cpu_estimated_secs = 10;
	add_program("others", 60)->cpu_estimated_secs = 20;
	take();
	summary_programs_finish(&programs);
	try_program(0, "a", 40, 40, 10, NAN, -1);
	try_program(1, "others", 60, 60, 20, NAN, -1);
	begin();
	add_end("a", 40)->cpu_estimated_secs = 10;
	add_end("others", 60)->cpu_estimated_secs = 20;
	take();
	summary_programs_finish(&programs);
	try_program(0, "a", 40, 40, 10, NAN, -1);
	try_program(1, "others", 60, 60, 20, NAN, -1);
	try_line(HEAD "a 40 %, others 60 % of the CPU time (30 % of it estimated)");
}

static void programs_of_equal_time_come_by_name(void **state)
{
	(void)state;
	begin();
	add_program("b", 1);
	add_program("c", 1);
	add_program("a", 1);
	take();
	summary_programs_finish(&programs);
	try_count(3);
	try_program(0, "a", 1, 100 / 3.0, 0, NAN, -1);
	try_program(2, "c", 1, 100 / 3.0, 0, NAN, -1);
}

static void a_rest_counts_as_others_from_its_last_decimal_on(void **state)
{
	(void)state;
	begin();
	summary_programs_finish(&programs);
	try_count(0);
	add_program("a", 1);
	add_program("others", 0.00004);
	take();
	summary_programs_finish(&programs);
	try_count(1);
	begin();
	add_program("a", 1);
	add_program("others", 0.00006);
	take();
	summary_programs_finish(&programs);
	try_count(2);
}

static void programs_over_the_room_count_as_others(void **state)
{
	char names[SUMMARY_PROGRAMS_MOST + 2][8];

	(void)state;
	begin();
	for (int i = 0; i < SUMMARY_PROGRAMS_MOST + 2; i++) {
		snprintf(names[i], sizeof names[i], "p%02d", i);
		add_program(names[i], 1);
	}
	take();
	summary_programs_finish(&programs);
	try_count(SUMMARY_PROGRAMS_MOST + 1);
	try_program(SUMMARY_PROGRAMS_MOST - 1, "p63", 1, 100 / 66.0, 0, NAN, -1);
	try_program(SUMMARY_PROGRAMS_MOST, "others", 2, 200 / 66.0, 0, NAN, -1);
}

static void long_names_are_cut_and_found_again(void **state)
{
	char name[200];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	begin();
	add_program(name, 1);
	take();
	add_program(name, 2);
	take();
	name[111] = '\0';
	try_count(1);
	try_program(0, name, 2, 100, 0, NAN, -1);
}

static void the_line_has_five_programs_of_half_a_percent(void **state)
{
	(void)state;
	begin();
	add_program("a", 100);
	take();
	summary_programs_finish(&programs);
	try_line("");
	begin();
	add_program("a", 0);
	add_program("b", 0);
	take();
	try_line("");
	begin();
	add_program("a", 99.5);
	add_program("b", 0.5);
	take();
	summary_programs_finish(&programs);
	try_line(HEAD "a 100 %, b 0 % of the CPU time");
	begin();
	add_program("a", 99.51);
	add_program("b", 0.49);
	take();
	summary_programs_finish(&programs);
	try_line(HEAD "a 100 % of the CPU time");
	begin();
	add_program("a", 60);
	add_program("b", 12)->cpu_estimated_secs = 1;
	add_program("c\n", 9);
	add_program("d", 8);
	add_program("e", 6);
	add_program("f", 5);
	take();
	summary_programs_finish(&programs);
	try_line(HEAD
		 "a 60 %, b 12 %, c? 9 %, d 8 %, e 6 %, others 5 % of the CPU time (1 % of it estimated)");
	begin();
	add_program("a", 30)->cpu_estimated_secs = 0.99;
	add_program("others", 70);
	take();
	summary_programs_finish(&programs);
	try_line(HEAD "a 30 %, others 70 % of the CPU time");
}

static void json_tells_unknown_figures(void **state)
{
	struct buffer out = BUFFER(1 << 16);
	struct program_row *row;

	(void)state;
	begin();
	row = add_program("a", 3);
	row->cpu_estimated_secs = 0.5;
	row->memory_mib = 1.5;
	row->exited_count = 0;
	add_program("b", 1);
	take();
	summary_programs_finish(&programs);
	summary_programs_json(&out, &programs);
	assert_string_equal(out.data,
			    "\"programs\":[{\"name\":\"a\",\"cpu_secs\":3.0,\"cpu_pct\":75.0,"
			    "\"cpu_estimated_secs\":0.5,\"memory_peak_mib\":1.5,\"processes\":0},"
			    "{\"name\":\"b\",\"cpu_secs\":1.0,\"cpu_pct\":25.0,"
			    "\"cpu_estimated_secs\":0.0,\"memory_peak_mib\":null,\"processes\":null}]");
	buffer_done(&out);
}

static void the_first_launcher_counts(void **state)
{
	(void)state;
	begin();
	add_program("srun", 1);
	add_program(NULL, 1)->process_count = 1;
	add_program("/usr/bin/ssh", 1)->process_count = 0;
	take();
	assert_null(programs.launcher);
	add_program("make", 1)->process_count = 1;
	add_program("/usr/bin/ssh", 1)->process_count = 1;
	add_program("srun", 1)->process_count = 1;
	take();
	assert_string_equal(programs.launcher->name, "ssh");
	assert_true(programs.launcher_secs == 2);
	add_program("srun", 1)->process_count = 1;
	take();
	assert_true(programs.launcher_secs == 2);
	add_program("ssh", 1)->process_count = 2;
	take();
	assert_true(programs.launcher_secs == 4);
	add_program("ssh", 1)->process_count = 2;
	frame.sample->actual_interval_ms = NAN;
	take();
	assert_true(programs.launcher_secs == 4);
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_totals_and_the_peak),
		cmocka_unit_test(the_end_replaces_the_samples),
		cmocka_unit_test(estimated_time_of_others_counts),
		cmocka_unit_test(programs_of_equal_time_come_by_name),
		cmocka_unit_test(a_rest_counts_as_others_from_its_last_decimal_on),
		cmocka_unit_test(programs_over_the_room_count_as_others),
		cmocka_unit_test(long_names_are_cut_and_found_again),
		cmocka_unit_test(the_line_has_five_programs_of_half_a_percent),
		cmocka_unit_test(json_tells_unknown_figures),
		cmocka_unit_test(the_first_launcher_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
