/* Phases of marks and their place in the time of a run: src/summary/phases.c and run_clock.c. */
#include "scratch.h"

#include <errno.h>
#include <math.h>

#include "summary/phases.h"

static const double FROM = 1000, TO = 1100;

/* The wall clock was never set: seconds since the start are 1000 less. */
static void begin_clock(struct run_clock *clock)
{
	*clock = (struct run_clock){0};
	for (int i = 0; i <= 100; i += 10)
		assert_int_equal(run_clock_add(clock, i, FROM + i), 0);
}

static struct phases read_marks_of(const char *lines)
{
	struct rt_problem problem = {""};
	struct phases phases = {0};
	struct run_clock clock;

	begin_clock(&clock);
	put_text("run.marks", lines);
	if (phases_read_marks("run.marks", &clock, FROM, TO, &phases, &problem) < 0)
		fail_msg("%s", problem.text);
	run_clock_done(&clock);
	return phases;
}

/* "load 1001-1003 1004-1100?;": each phase with its calls, "?" behind those that were never stopped. */
static void try_phases(struct phases *phases, const char *expected, size_t open_calls, size_t unmatched,
		       size_t bad)
{
	char found[1024] = "";

	for (size_t i = 0; i < phases->count; i++) {
		const struct phase *phase = &phases->list[i];

		snprintf(found + strlen(found), sizeof found - strlen(found), "%s", phase->name);
		for (size_t j = 0; j < phase->call_count; j++)
			snprintf(found + strlen(found), sizeof found - strlen(found), " %g-%g%s",
				 phase->calls[j].start, phase->calls[j].stop,
				 phase->calls[j].open ? "?" : "");
		strcat(found, ";");
	}
	assert_string_equal(found, expected);
	assert_int_equal(phases->open_calls, open_calls);
	assert_int_equal(phases->unmatched_stops, unmatched);
	assert_int_equal(phases->bad_lines, bad);
	phases_done(phases);
	assert_true(!phases->list && !phases->count);
}

#define MARK(time, event, name, more) \
	"{\"timestamp_ns\":" #time "000000000,\"event\":\"" event "\",\"name\":\"" name "\"" more "}\n"

static void a_stop_ends_the_last_start_of_its_owner(void **state)
{
	struct phases phases = read_marks_of(
		MARK(1001, "start", "load", ",\"pid\":1,\"host\":\"a\"") MARK(1002, "start", "load",
									      ",\"pid\":1,\"host\":\"a\"")
			MARK(1003, "stop", "load", ",\"pid\":1,\"host\":\"a\"")
				MARK(1004, "start", "load", ",\"pid\":2,\"host\":\"a\"")
					MARK(1005, "stop", "load", ",\"pid\":1,\"host\":\"b\"")
						MARK(1006, "stop", "load", ",\"pid\":1,\"host\":\"a\"") MARK(
							1009, "stop", "load", ",\"pid\":2,\"host\":\"a\"")
							MARK(1008, "start", "boil", ",\"pid\":1"));

	(void)state;
	assert_true(phase_time_of(&phases.list[0]).secs == 92);
	assert_int_equal(phase_time_of(&phases.list[0]).open_calls, 1);
	/* 5 + 1 + 5 */
	assert_true(phase_time_of(&phases.list[1]).secs == 11);
	assert_int_equal(phase_time_of(&phases.list[1]).open_calls, 0);
	try_phases(&phases, "boil 1008-1100?;load 1001-1006 1002-1003 1004-1009;", 1, 1, 0);
}

static void an_id_tells_calls_of_one_process_apart(void **state)
{
	struct phases phases =
		read_marks_of(MARK(1001, "start", "load", ",\"pid\":1,\"id\":\"x\"")
				      MARK(1002, "start", "load", ",\"pid\":1,\"id\":\"y\"")
					      MARK(1005, "stop", "load", ",\"pid\":9,\"id\":\"x\"")
						      MARK(1007, "stop", "load", ",\"pid\":1,\"id\":\"y\""));

	(void)state;
	try_phases(&phases, "load 1001-1005 1002-1007;", 0, 0, 0);
	/* At one moment, a start comes before its stop. */
	phases = read_marks_of(MARK(1002, "stop", "load", ",\"pid\":1")
				       MARK(1002, "start", "load", ",\"pid\":1"));
	try_phases(&phases, "load 1002-1002;", 0, 0, 0);
}

static void each_phase_of_a_chain_ends_with_the_next(void **state)
{
	struct phases phases = read_marks_of(MARK(1030, "next", "test", ",\"pid\":2") MARK(
		1010, "next", "build", ",\"pid\":1") MARK(1020, "next", "other", ",\"pid\":3,\"host\":\"b\"")
						     MARK(1060, "next", "build", ",\"pid\":4"));

	(void)state;
	try_phases(&phases, "build 1010-1030 1060-1100;other 1020-1100;test 1030-1060;", 0, 0, 0);
}

static void marks_of_other_runs_and_bad_lines_are_left_out(void **state)
{
	struct phases phases = read_marks_of(
		MARK(999, "start", "before", ",\"pid\":1") MARK(1000, "start", "first", ",\"pid\":1")
			MARK(1100, "stop", "first", ",\"pid\":1") MARK(1101, "start", "after", ",\"pid\":1"));

	(void)state;
	try_phases(&phases, "first 1000-1100;", 0, 0, 0);
	phases = read_marks_of("not JSON\n"
			       "{\"timestamp_ns\":1001000000000,\"event\":\"start\"}\n"
			       "{\"timestamp_ns\":1001000000000,\"name\":\"load\"}\n"
			       "{\"event\":\"start\",\"name\":\"load\"}\n"
			       "{\"timestamp_ns\":1001.5,\"event\":\"start\",\"name\":\"load\"}\n" MARK(
				       1001, "begin", "load", ""));
	try_phases(&phases, "", 0, 0, 6);
}

static void a_missing_file_has_a_problem(void **state)
{
	struct rt_problem problem = {""};
	struct phases phases = {0};
	struct run_clock clock = {0};

	(void)state;
	assert_int_equal(phases_read_marks("no.marks", &clock, FROM, TO, &phases, &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "no.marks"));
}

static void open_calls_of_a_sub_tracking_file_are_left_out(void **state)
{
	struct rt_problem problem = {""};
	struct phases phases = {0};

	(void)state;
	put_text("sub.csv", "process_id,code_block_name,position,timestamp\n"
			    "1,load,0,1001.5\n"
			    "1,load,1,1002.5\n"
			    "2,load,0,1003\n"
			    "1,load,2,1003\n"
			    "1,load,0,\n"
			    ",load,0,1004\n"
			    "1,,0,1004\n"
			    "1,load,0,1005\n"
			    "1,load,1,1007\n");
	assert_int_equal(phases_read_sub_tracking("sub.csv", &phases, &problem), 0);
	try_phases(&phases, "load 1001.5-1002.5 1005-1007;", 1, 0, 4);
	/* Names may be numbers: each process ends its own call. */
	put_text("sub.csv", "process_id,code_block_name,position,timestamp\n"
			    "1.5,7,0,1001\n"
			    "2.5,7,0,1002\n"
			    "1.5,7,1,1003\n"
			    "2.5,7,1,1005\n"
			    "1.5,7,0.5,1006\n");
	assert_int_equal(phases_read_sub_tracking("sub.csv", &phases, &problem), 0);
	try_phases(&phases, "7 1001-1003 1002-1005;", 0, 0, 1);
	put_text("sub.csv", "process_id,code_block_name,timestamp\n1,load,1\n");
	assert_int_equal(phases_read_sub_tracking("sub.csv", &phases, &problem), -EBADMSG);
	assert_string_equal(problem.text, "sub.csv: no sub-tracking file: there is no column position");
	assert_int_equal(phases_read_sub_tracking("no.csv", &phases, &problem), -ENOENT);
}

/* ---- the clock ------------------------------------------------------------------------------------------- */

static void a_clock_that_was_set_is_followed(void **state)
{
	struct run_clock clock = {0};

	(void)state;
	assert_true(isnan(run_clock_at(&clock, 1)) && isnan(run_clock_place(&clock, 1, 0)));
	assert_int_equal(run_clock_add(&clock, 0, (double)NAN), 0);
	assert_int_equal(clock.count, 0);
	assert_int_equal(run_clock_add(&clock, 0, 1000), 0);
	/* Up to 10 ms are the time between two readings. */
	assert_int_equal(run_clock_add(&clock, 10, 1010.0078125), 0);
	assert_int_equal(clock.count, 1);
	/* Set forward by a day. */
	assert_int_equal(run_clock_add(&clock, 20, 1020 + 86400), 0);
	assert_int_equal(run_clock_add(&clock, 30, 1030 + 86400), 0);
	assert_int_equal(clock.count, 2);
	assert_true(run_clock_at(&clock, 25) == 1025);
	assert_true(run_clock_place(&clock, 1005, 0) == 1005);
	assert_true(run_clock_place(&clock, 1025 + 86400, 0) == 1025);
	assert_true(isnan(run_clock_place(&clock, 999, 0)) == false);
	assert_true(isnan(run_clock_place(&clock, 1030.5 + 86400, 0)));
	assert_true(isnan(run_clock_place(&clock, 1009 + 86400, 0)));
	assert_true(isnan(run_clock_place(&clock, 1021, 0)));
	run_clock_clear(&clock);
	assert_int_equal(clock.count, 0);
	run_clock_done(&clock);
	assert_true(!clock.list && !clock.room);
}

/* 1000 to 1020, and then 1010 to 1030 once more: 1015 occurs 15 and 25 s after the start. */
static void a_time_that_occurs_twice_is_the_first_that_is_not_earlier(void **state)
{
	struct run_clock clock = {0};

	(void)state;
	for (int i = 0; i <= 20; i += 5)
		assert_int_equal(run_clock_add(&clock, i, 1000 + i), 0);
	for (int i = 21; i <= 40; i++)
		assert_int_equal(run_clock_add(&clock, i, 990 + i), 0);
	assert_int_equal(clock.count, 2);
	assert_true(run_clock_place(&clock, 1015, 1000) == 1015);
	assert_true(run_clock_place(&clock, 1015, 1015) == 1015);
	assert_true(run_clock_place(&clock, 1015, 1016) == 1025);
	assert_true(run_clock_place(&clock, 1015, 2000) == 1015);
	assert_true(run_clock_place(&clock, 1005, 2000) == 1005);
	run_clock_done(&clock);
}

static void more_steps_than_there_is_room_for_are_passed_over(void **state)
{
	struct run_clock clock = {0};

	(void)state;
	for (int i = 0; i < 4100; i++)
		assert_int_equal(run_clock_add(&clock, i, 1000 + 2.0 * i), 0);
	assert_int_equal(clock.count, 4096);
	assert_true(clock.elapsed_secs == 4099);
	assert_true(clock.list[100].before == 99 && clock.list[100].first == 100 &&
		    clock.list[100].offset == 1100);
	run_clock_done(&clock);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_ends_the_last_start_of_its_owner),
		cmocka_unit_test(an_id_tells_calls_of_one_process_apart),
		cmocka_unit_test(each_phase_of_a_chain_ends_with_the_next),
		cmocka_unit_test(marks_of_other_runs_and_bad_lines_are_left_out),
		cmocka_unit_test(a_missing_file_has_a_problem),
		cmocka_unit_test(open_calls_of_a_sub_tracking_file_are_left_out),
		cmocka_unit_test(a_clock_that_was_set_is_followed),
		cmocka_unit_test(a_time_that_occurs_twice_is_the_first_that_is_not_earlier),
		cmocka_unit_test(more_steps_than_there_is_room_for_are_passed_over),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
