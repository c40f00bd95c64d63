/* Differences between two sides, from values that were given by hand: the verdict, the table, JSON and conditions. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "compare/compare.h"
#include "record/tree_memory.h"
#include "repeat/repeat_statistics.h"
#include "resource_tracker_internal.h"

enum { VALUES_MOST = 64 };

static struct compared_value values[VALUES_MOST];
static size_t value_count;
static size_t run_counts[2];
static const char *names[2], *outcomes[2];
static rt_comparison *comparison;

static void begin(void)
{
	rt_comparison_free(comparison);
	comparison = NULL;
	value_count = 0;
	run_counts[0] = run_counts[1] = 1;
	names[0] = "a", names[1] = "b";
	outcomes[0] = outcomes[1] = "exit status 0";
}

static void add(const char *name, const char *unit, size_t side, double value)
{
	assert_true(value_count < VALUES_MOST);
	values[value_count++] =
		(struct compared_value){.name = name, .unit = unit, .side = side, .value = value};
}

/* NaN: the side lacks it. */
static void add_both(const char *name, const char *unit, double first, double second)
{
	add(name, unit, 0, first);
	add(name, unit, 1, second);
}

static void compare(void)
{
	assert_int_equal(compare_values(names, run_counts, outcomes, values, value_count, &comparison), 0);
}

static void try_verdict(const char *words)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	compare();
	comparison_add_verdict(&out, comparison);
	assert_string_equal(out.data, words);
	begin();
}

static void add_times(double wall, double wall_then, double cpu, double cpu_then)
{
	add_both("wall_time", "s", wall, wall_then);
	add_both("cpu_time", "s", cpu, cpu_then);
}

static void the_verdict_tells_the_speed(void **state)
{
	(void)state;
	begin();
	add_times(10, 12, 10, 12);
	add_both("user_time", "s", 9, 11);
	add_both("system_time", "s", 1, 1);
	try_verdict("b is 20 % slower than a: 20 % more CPU time, mostly in user mode.\n");
	add_times(10, 8, 10, 8);
	add_both("user_time", "s", 1, 1);
	add_both("system_time", "s", 9, 7);
	try_verdict("b is 20 % faster than a: it did less work, 20 % less CPU time, mostly in the kernel.\n");
	/* 5 % may be chance between single runs. */
	add_times(10, 10.5, 10, 10.5);
	try_verdict("b took as long as a.\n");
	add_times(10, 10.4, 10, 5);
	try_verdict("b took as long as a; 50 % less CPU time.\n");
	add_times(10, 10.6, 10, 10.6);
	try_verdict("b is 6 % slower than a: 6 % more CPU time, mostly in user mode.\n");
	/* 10.5 and 10 s are as long as each other, and 10.52 and 10 s are not, whichever is named first. */
	add_times(10.5, 10, 10.5, 10.5);
	try_verdict("b took as long as a.\n");
	add_times(10.52, 10, 10.52, 10);
	add_both("user_time", "s", 1, 1);
	add_both("system_time", "s", 9.52, 9);
	try_verdict("b is 5 % faster than a: it did less work, 5 % less CPU time, mostly in the kernel.\n");
	/* 19 ms are within the precision. */
	add_times(0.1, 0.119, 0.1, 0.1);
	try_verdict("b took as long as a, within the noise.\n");
	add_times(1, 12, 1, 12);
	try_verdict("b took much longer than a: 1100 % more CPU time, mostly in user mode.\n");
	add_times(NAN, 12, 1, 12);
	try_verdict("b and a cannot be compared by wall time.\n");
	add_both("cpu_time", "s", 1, 2);
	try_verdict("b and a cannot be compared by wall time.\n");
}

static void the_verdict_tells_the_memory(void **state)
{
	static const struct {
		double first, second;
		const char *words;
	} CASES[] = {
		{100, 100, "b took as long as a; the same memory.\n"},
		{100, 150, "b took as long as a; 50 % more memory.\n"},
		{100, 50, "b took as long as a; 50 % less memory.\n"},
		{0, 150, "b took as long as a; more memory.\n"},
		{1, 1.9, "b took as long as a; the same memory.\n"},
		{100, NAN, "b took as long as a.\n"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_both("wall_time", "s", 10, 10);
		add_both("memory_peak", "MiB", CASES[i].first, CASES[i].second);
		try_verdict(CASES[i].words);
	}
	add_both("wall_time", "s", 10, 10);
	add_both("memory_peak", "MiB", 100, 150);
	values[2].measures = 1u << MEASURE_ONCE;
	values[3].measures = 1u << MEASURE_MACHINE;
	try_verdict("b took as long as a; memory was measured in different ways.\n");
}

static void the_verdict_tells_the_cause(void **state)
{
	static const struct {
		const char *figure;
		double wall_then, first, second;
		const char *words;
	} CASES[] = {
		{"throttled", 15, 1, 4, "b is 50 % slower than a: its CPU limit held it back longer.\n"},
		{"throttled", 5, 4, 1, "b is 50 % faster than a: its CPU limit held it back less.\n"},
		{"cpu_pressure", 15, 1, 4, "b is 50 % slower than a: it waited longer for a CPU.\n"},
		{"cpu_pressure", 5, 4, 1, "b is 50 % faster than a: it waited less for a CPU.\n"},
		{"io_pressure", 15, 1, 4, "b is 50 % slower than a: it waited longer for I/O.\n"},
		{"io_pressure", 5, 4, 1, "b is 50 % faster than a: it waited less for I/O.\n"},
		{"memory_pressure", 15, 1, 4, "b is 50 % slower than a: it waited longer for memory.\n"},
		{"memory_pressure", 5, 4, 1, "b is 50 % faster than a: it waited less for memory.\n"},
		/* Less than half of the change, or a change the other way. */
		{"io_pressure", 15, 1, 3,
		 "b is 50 % slower than a: the same CPU time, on fewer cores at once or with more "
		 "waiting.\n"},
		{"io_pressure", 5, 1, 4,
		 "b is 50 % faster than a: the same CPU time, on more cores at once or with less waiting.\n"},
		{"wait[a pipe]", 15, 1, 4, "b is 50 % slower than a: it waited longer for a pipe.\n"},
		{"wait[a pipe]", 5, 4, 1, "b is 50 % faster than a: it waited less for a pipe.\n"},
		{"program_cpu[cc]", 15, 1, 4,
		 "b is 50 % slower than a: the same CPU time, on fewer cores at once or with more "
		 "waiting.\n"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_times(10, CASES[i].wall_then, 2, 2);
		add_both(CASES[i].figure, "s", CASES[i].first, CASES[i].second);
		try_verdict(CASES[i].words);
	}
	/* The machine was busier, but the job itself waited less. */
	add_times(10, 15, 2, 2);
	add_both("cpu_pressure", "s", 1, 4);
	add_both("cpu_wait", "s", 3, 2.9);
	try_verdict(
		"b is 50 % slower than a: the same CPU time, on fewer cores at once or with more waiting.\n");
	/* While the limit holds a group back, its threads are short of a CPU, too. */
	add_times(10, 10.6, 2, 2);
	add_both("throttled", "s", 1, 1.5);
	add_both("cpu_pressure", "s", 1, 1.6);
	try_verdict("b is 6 % slower than a: its CPU limit held it back longer.\n");
	/* A wait that is unknown on a side has not grown. */
	add_times(10, 11.5, 2, 2);
	add_both("io_pressure", "s", NAN, 4);
	try_verdict(
		"b is 15 % slower than a: the same CPU time, on fewer cores at once or with more waiting.\n");
	add_times(10, 15, 0, 2);
	try_verdict("b is 50 % slower than a: more CPU time, on fewer cores at once or with more waiting.\n");
	add_both("wall_time", "s", 10, 15);
	try_verdict("b is 50 % slower than a.\n");
}

/* A warm page cache saves 0.1 of 0.2 s of CPU time and 5 s of I/O: the run did the same work. */
static void a_wait_comes_before_work_that_cannot_take_so_long(void **state)
{
	static const struct {
		const char *wait;
		double wall_then, cpu, cpu_then, first, second;
		const char *words;
	} CASES[] = {
		{"io_pressure", 5, 0.2, 0.1, 5, 0, "b is 50 % faster than a: it waited less for I/O.\n"},
		{"io_pressure", 15, 0.1, 0.2, 0, 5, "b is 50 % slower than a: it waited longer for I/O.\n"},
		{"wait[a pipe]", 5, 0.2, 0.1, 5, 0, "b is 50 % faster than a: it waited less for a pipe.\n"},
		{"io_pressure", 5, 4.9, 2.45, 5, 0, "b is 50 % faster than a: it waited less for I/O.\n"},
		{"io_pressure", 5, 5, 2.5, 5, 0,
		 "b is 50 % faster than a: it did less work, 50 % less CPU time, mostly in user mode.\n"},
		/* With the time that its threads waited for a CPU, the work took as long. */
		{"cpu_pressure", 5, 0.2, 0.1, 5, 0,
		 "b is 50 % faster than a: it did less work, 50 % less CPU time, mostly in user mode.\n"},
		{"throttled", 15, 0.2, 0.4, 0, 5,
		 "b is 50 % slower than a: 100 % more CPU time, mostly in user mode.\n"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		add_times(10, CASES[i].wall_then, CASES[i].cpu, CASES[i].cpu_then);
		add_both(CASES[i].wait, "s", CASES[i].first, CASES[i].second);
		try_verdict(CASES[i].words);
	}
}

static void another_outcome_is_told_and_makes_no_run_faster(void **state)
{
	(void)state;
	begin();
	outcomes[1] = "exit status 7";
	add_times(10, 5, 10, 5);
	try_verdict("a: exit status 0, b: exit status 7. b took 50 % less time than a.\n");
	outcomes[1] = "exit status 7";
	add_times(10, 15, 10, 15);
	try_verdict("a: exit status 0, b: exit status 7. b took 50 % more time than a.\n");
	outcomes[0] = "CSV does not record how a run ended";
	add_times(10, 5, 10, 5);
	try_verdict("a: CSV does not record how a run ended, b: exit status 0. "
		    "b is 50 % faster than a: it did less work, 50 % less CPU time, mostly in user mode.\n");
}

static void sides_have_the_last_part_of_their_path_if_that_tells_them_apart(void **state)
{
	static const struct {
		const char *first, *second, *words;
	} CASES[] = {
		{"old/run.jsonl", "new/other.jsonl", "other.jsonl took as long as run.jsonl.\n"},
		{"old/run.jsonl", "new/run.jsonl", "new/run.jsonl took as long as old/run.jsonl.\n"},
		{"old/", "new/", "new/ took as long as old/.\n"},
		{"a", "dir/b", "b took as long as a.\n"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		names[0] = CASES[i].first, names[1] = CASES[i].second;
		add_both("wall_time", "s", 10, 10);
		try_verdict(CASES[i].words);
	}
}

static void try_text(const char *words)
{
	char *text = NULL;

	compare();
	assert_int_equal(rt_comparison_to_text(comparison, &text), 0);
	assert_string_equal(text, words);
	free(text);
	begin();
}

/* The table has the three figures at the head, and what differs. */
static void only_differences_have_a_row(void **state)
{
	(void)state;
	begin();
	add_both("processes_max", "", 4, 6);
	add_times(10, 12, 8, 8);
	add_both("memory_peak", "MiB", 100, 2000);
	add_both("io_read", "bytes", 0, 1048576);
	add_both("io_written", "bytes", 100, 200);
	add_both("swap_max", "MiB", 3, 3);
	add_both("gpu_max", "GPUs", 1, NAN);
	try_text("b is 20 % slower than a: the same CPU time, on fewer cores at once or with more waiting; "
		 "1900 % more memory.\n\n"
		 "                           a              b   change\n"
		 "outcome        exit status 0  exit status 0        =\n"
		 "wall time             10.0 s         12.0 s  +20.0 %\n"
		 "cpu time              8.00 s         8.00 s        =\n"
		 "memory peak          100 MiB       1.95 GiB     x 20\n"
		 "processes max              4              6  +50.0 %\n"
		 "io read                    0       1.00 MiB   from 0\n"
		 "2 other figures are the same or differ too little to tell (--json has all)\n"
		 "1 figure is unknown on a side\n");
}

static void several_runs_have_their_noise(void **state)
{
	(void)state;
	begin();
	run_counts[0] = run_counts[1] = 2;
	/* The deviations are 0.1414 each, so twice the error of the difference is 0.2828, and 2.8 % of 10. */
	add("wall_time", "s", 0, 9.9);
	add("wall_time", "s", 0, 10.1);
	add("wall_time", "s", 1, 10.9);
	add("wall_time", "s", 1, 11.1);
	add("cpu_time", "s", 0, 4);
	add("cpu_time", "s", 0, 6);
	add("cpu_time", "s", 1, 4.5);
	add("cpu_time", "s", 1, 6.5);
	outcomes[1] = "not all alike";
	try_text("a: exit status 0, b: not all alike. b took 10 % more time than a.\n\n"
		 "                   a (2)          b (2)                 change\n"
		 "outcome    exit status 0  not all alike                differs\n"
		 "wall time         10.0 s         11.0 s  +10.0 % (noise 2.8) *\n"
		 "cpu time          5.00 s         5.50 s   +10.0 % (noise 56.6)\n");
}

/* Four of the things that changed most are named. */
static void programs_and_waits_that_changed_are_named(void **state)
{
	(void)state;
	begin();
	add_both("wall_time", "s", 10, 10);
	add_both("program_cpu[cc1]", "s", 1, 4);
	add_both("program_cpu[ld]", "s", 5, 1);
	add_both("program_cpu[as]", "s", 1, 1.5);
	add_both("program_cpu[sh]", "s", 1, 1.04);
	add_both("program_cpu[new]", "s", NAN, 2.25);
	add_both("program_cpu[ar]", "s", 1, 1.2);
	add_both("wait[a pipe]", "s", 1, 2);
	add_both("wait[a lock]", "s", NAN, 3);
	try_text("b took as long as a.\n\n"
		 "                       a              b  change\n"
		 "outcome    exit status 0  exit status 0       =\n"
		 "wall time         10.0 s         10.0 s       =\n"
		 "CPU time by program in b: ld -4.0 s, cc1 +3.0 s, new +2.2 s, as +0.5 s\n"
		 "Waits in b: a lock +3.0 s, a pipe +1.0 s\n");
	/* A side without any wait was perhaps recorded without them. */
	add_both("wall_time", "s", 10, 10);
	add("wait[a lock]", "s", 1, 3);
	try_text("b took as long as a.\n\n"
		 "                       a              b  change\n"
		 "outcome    exit status 0  exit status 0       =\n"
		 "wall time         10.0 s         10.0 s       =\n");
}

static void phases_have_a_table_of_their_own(void **state)
{
	char *text = NULL;

	(void)state;
	begin();
	add_both("wall_time", "s", 10, 10);
	add_both("lo.ad.secs", "s", 2, 3);
	add_both("lo.ad.calls", "", 4, 4);
	add_both("lo.ad.cores_mean", "cores", 1, 2);
	add_both("lo.ad.memory_max", "MiB", 10, 10);
	add_both("fit.secs", "s", 2, 2);
	add_both("only.secs", "s", 2, NAN);
	compare();
	for (size_t i = 0; i < comparison->count; i++)
		comparison->list[i].of_phase = strchr(comparison->list[i].name, '.') != NULL;
	assert_int_equal(rt_comparison_to_text(comparison, &text), 0);
	assert_string_equal(text, "b took as long as a.\n\n"
				  "                       a              b  change\n"
				  "outcome    exit status 0  exit status 0       =\n"
				  "wall time         10.0 s         10.0 s       =\n"
				  "\nPhases\n"
				  "                            a           b    change\n"
				  "lo.ad: time            2.00 s      3.00 s   +50.0 %\n"
				  "lo.ad: mean cores  1.00 cores  2.00 cores  +100.0 %\n"
				  "fit: time              2.00 s      2.00 s         =\n"
				  "1 phase is not on all sides (--json has all)\n");
	free(text);
	begin();
}

static void colours_tell_good_from_bad(void **state)
{
	char *text = NULL;

	(void)state;
	begin();
	add_times(10, 12, 8, 4);
	add_both("throttled", "s", 1, 2);
	add_both("processes_max", "", 4, 6);
	add_both("memory_peak", "MiB", 100, 105);
	compare();
	assert_int_equal(setenv("COLUMNS", "200", 1), 0);
	assert_int_equal(rt_comparison_for_screen(comparison, -1, "always", &text), 0);
	unsetenv("COLUMNS");
	assert_non_null(strstr(text, "\x1b[1;31m+20.0 %\x1b[0m"));
	assert_non_null(strstr(text, "\x1b[32m-50.0 %\x1b[0m"));
	assert_non_null(strstr(text, "\x1b[1;31m+100.0 %\x1b[0m"));
	assert_null(strstr(text, "m+50.0 %"));
	assert_null(strstr(text, "m+5.0 %"));
	free(text);
	assert_int_equal(rt_comparison_for_screen(comparison, -1, "red", &text), -EINVAL);
	begin();
}

static void programs_get_each_side(void **state)
{
	char *text = NULL;

	(void)state;
	begin();
	add_both("wall_time", "s", 10, 12);
	add_both("cpu_time", "s", 8, NAN);
	add("memory_peak", "MiB", 0, 100);
	values[value_count - 1].measures = 1u << MEASURE_ONCE;
	add("memory_peak", "MiB", 1, 100.5);
	values[value_count - 1].measures = 1u << MEASURE_ONCE;
	compare();
	assert_int_equal(rt_comparison_to_json(comparison, &text), 0);
	assert_string_equal(text, "{\"sides\":[{\"name\":\"a\",\"runs\":1,\"outcome\":\"exit status "
				  "0\",\"descendants\":null},{\"name\":\"b\",\"runs\":1,\"outcome\":\"exit "
				  "status 0\",\"descendants\":null}],"
				  "\"verdict\":\"b is 20 % slower than a; the same memory.\",\"metrics\":["
				  "{\"name\":\"wall_time\",\"unit\":\"s\",\"sides\":["
				  "{\"side\":\"a\",\"runs\":1,\"mean\":10.0,\"min\":10.0,\"max\":10.0,"
				  "\"std\":null,\"change_pct\":null,\"noise_pct\":null,"
				  "\"negligible\":null,\"beyond_noise\":null},"
				  "{\"side\":\"b\",\"runs\":1,\"mean\":12.0,\"min\":12.0,\"max\":12.0,"
				  "\"std\":null,\"change_pct\":20.0,\"noise_pct\":null,"
				  "\"negligible\":false,\"beyond_noise\":null}]},"
				  "{\"name\":\"cpu_time\",\"unit\":\"s\",\"sides\":["
				  "{\"side\":\"a\",\"runs\":1,\"mean\":8.0,\"min\":8.0,\"max\":8.0,\"std\":"
				  "null,\"change_pct\":null,\"noise_pct\":null,"
				  "\"negligible\":null,\"beyond_noise\":null},"
				  "{\"side\":\"b\",\"runs\":0,\"mean\":null,\"min\":null,\"max\":null,"
				  "\"std\":null,\"change_pct\":null,\"noise_pct\":null,"
				  "\"negligible\":null,\"beyond_noise\":null}]},"
				  "{\"name\":\"memory_peak\",\"unit\":\"MiB\",\"sides\":["
				  "{\"side\":\"a\",\"runs\":1,\"mean\":100.0,\"min\":100.0,\"max\":100.0,"
				  "\"std\":null,\"change_pct\":null,\"noise_pct\":null,"
				  "\"negligible\":null,\"beyond_noise\":null,\"counts\":\"shared pages "
				  "once\",\"comparable\":true},"
				  "{\"side\":\"b\",\"runs\":1,\"mean\":100.5,\"min\":100.5,\"max\":100.5,"
				  "\"std\":null,\"change_pct\":0.5,\"noise_pct\":null,"
				  "\"negligible\":true,\"beyond_noise\":null,\"counts\":\"shared pages "
				  "once\",\"comparable\":true}]}],\"phases\":[]}\n");
	free(text);
	begin();
}

/* The order: the head, then by the size of the change, where one that is too small to tell is none. */
static void the_largest_changes_come_first(void **state)
{
	static const char *const ORDER[] = {"wall_time", "cpu_time", "memory_peak", "d", "e",
					    "c",         "b",        "f",           "a"};

	(void)state;
	begin();
	add_both("a", "%", NAN, 1);
	add_both("b", "%", 100, 101);
	add_both("c", "%", 100, 50);
	add_both("d", "%", 100, 300);
	add_both("memory_peak", "MiB", 1, 1);
	add_both("e", "%", 0, 5);
	add_both("f", "s", 0.001, 0.009);
	add_both("cpu_time", "s", 1, 1);
	add_both("wall_time", "s", 1, 1);
	compare();
	assert_int_equal(comparison->count, ARRAY_SIZE(ORDER));
	for (size_t i = 0; i < comparison->count; i++)
		assert_string_equal(comparison->list[i].name, ORDER[i]);
	assert_true(isinf(compared_change_pct(&comparison->list[4], 1)));
	begin();
}

static void one_run_against_several_has_their_scatter(void **state)
{
	(void)state;
	begin();
	run_counts[0] = 3;
	add("wall_time", "s", 0, 9);
	add("wall_time", "s", 0, 10);
	add("wall_time", "s", 0, 11);
	add("wall_time", "s", 1, 12);
	compare();
	/* Student's t of two degrees of freedom is 9.92 for one in a hundred; the deviation is 1. */
	assert_true(fabs(compared_noise_pct(&comparison->list[0], 1) - 100 * 9.92 * sqrt(4.0 / 3) / 10) <
		    1e-9);
	begin();
	run_counts[0] = 2;
	add("wall_time", "s", 0, 9);
	add("wall_time", "s", 0, 11);
	add("wall_time", "s", 1, 12);
	compare();
	assert_true(isnan(compared_noise_pct(&comparison->list[0], 1)));
	begin();
	run_counts[0] = 30;
	for (size_t i = 0; i < 30; i++)
		add("wall_time", "s", 0, i % 2 ? 9 : 11);
	add("wall_time", "s", 1, 12);
	compare();
	assert_true(fabs(compared_noise_pct(&comparison->list[0], 1) -
			 100 * 2.84 * sqrt(30.0 / 29) * sqrt(31.0 / 30) / 10) < 1e-9);
	begin();
}

/* Student's t with a probability of 99 %, for all numbers of runs in the table and one beyond it. */
static void the_scatter_is_that_of_students_distribution(void **state)
{
	(void)state;
	for (size_t runs = NOISE_NEEDS; runs <= 22; runs++) {
		double sum = 0, squares = 0, deviation, t;

		begin();
		run_counts[0] = runs;
		for (size_t i = 0; i < runs; i++) {
			add("wall_time", "s", 0, 10 + (double)(i % 3));
			sum += (double)(i % 3);
			squares += (double)(i % 3) * (double)(i % 3);
		}
		add("wall_time", "s", 1, 12);
		compare();
		deviation = sqrt((squares - sum * sum / (double)runs) / (double)(runs - 1));
		t = compared_noise_pct(&comparison->list[0], 1) / 100 * (10 + sum / (double)runs) /
		    deviation / sqrt(1 + 1 / (double)runs);
		assert_true(fabs(student_confidence(t, (double)(runs - 1)) - 0.99) < 0.0002);
	}
	begin();
}

static void conditions_hold_or_have_a_reason(void **state)
{
	static const struct {
		const char *condition;
		int result;
		const char *words;
	} CASES[] = {
		{"wall_time>+10%", 1, "wall_time>+10%: wall_time is 12.0 s in b, 10.0 s in a (+20.0 %)"},
		{" wall time > 11 ", 1, " wall time > 11 : wall_time is 12.0 s in b, 10.0 s in a (+20.0 %)"},
		{"wall_time>20%", 0, NULL},
		{"wall_time>12", 0, NULL},
		{"wall_time<12", 0, NULL},
		{"wall_time<12.5", 1, "wall_time<12.5: wall_time is 12.0 s in b, 10.0 s in a (+20.0 %)"},
		{"cpu_time<-40%", 1, "cpu_time<-40%: cpu_time is 4.00 s in b, 8.00 s in a (-50.0 %)"},
		{"cpu_time<-50%", 0, NULL},
		/* 10 ms are within the precision. */
		{"user_time>10%", 0, NULL},
		{"user_time>0.01", 1, "user_time>0.01: user_time is 20.0 ms in b, 10.0 ms in a (+100.0 %)"},
		{"swap_max>1", 1, "swap_max>1: swap_max is 2.00 MiB in b, 0 in a"},
		{"io_read>1", -ENODATA, "io_read>1: io_read of b is unknown"},
		{"io_written>1%", -ENODATA, "io_written>1%: io_written of a is unknown"},
		{"memory_peak>1%", -ENODATA,
		 "memory_peak>1%: memory_peak was measured in different ways: a counts shared pages once, b "
		 "counts the whole machine"},
		{"nope>1", -ENOENT, "no run has a figure 'nope'"},
		{"wall_time", -EINVAL,
		 "'wall_time' is not a condition: give one like memory_peak>+10% or wall_time>60"},
		{">1", -EINVAL, "'>1' is not a condition: give one like memory_peak>+10% or wall_time>60"},
		{"wall_time>", -EINVAL, NULL},
		{"wall_time>x", -EINVAL, NULL},
		{"wall_time>1%%", -EINVAL, NULL},
		{"wall_time>1 x", -EINVAL, NULL},
		{"wall_time>11 %", 1, NULL},
	};

	(void)state;
	begin();
	add_times(10, 12, 8, 4);
	add_both("user_time", "s", 0.01, 0.02);
	add_both("swap_max", "MiB", 0, 2);
	add_both("io_read", "bytes", 1, NAN);
	add_both("io_written", "bytes", NAN, 1);
	add_both("memory_peak", "MiB", 100, 200);
	values[value_count - 2].measures = 1u << MEASURE_ONCE;
	values[value_count - 1].measures = 1u << MEASURE_MACHINE;
	compare();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct rt_problem problem = {""};
		int result = rt_comparison_holds(comparison, CASES[i].condition, &problem);

		if (result != CASES[i].result)
			fail_msg("%s: %d: %s", CASES[i].condition, result, problem.text);
		if (CASES[i].words)
			assert_string_equal(problem.text, CASES[i].words);
	}
	/* The gate needs several runs for a change in percent, and none for an amount. */
	comparison->percent_needs = NOISE_NEEDS;
	assert_int_equal(rt_comparison_holds(comparison, "wall_time>+10%", NULL), 0);
	assert_int_equal(rt_comparison_holds(comparison, "wall_time>11", NULL), 1);
	begin();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_tells_the_speed),
		cmocka_unit_test(the_verdict_tells_the_memory),
		cmocka_unit_test(the_verdict_tells_the_cause),
		cmocka_unit_test(a_wait_comes_before_work_that_cannot_take_so_long),
		cmocka_unit_test(another_outcome_is_told_and_makes_no_run_faster),
		cmocka_unit_test(sides_have_the_last_part_of_their_path_if_that_tells_them_apart),
		cmocka_unit_test(only_differences_have_a_row),
		cmocka_unit_test(several_runs_have_their_noise),
		cmocka_unit_test(programs_and_waits_that_changed_are_named),
		cmocka_unit_test(phases_have_a_table_of_their_own),
		cmocka_unit_test(colours_tell_good_from_bad),
		cmocka_unit_test(programs_get_each_side),
		cmocka_unit_test(the_largest_changes_come_first),
		cmocka_unit_test(one_run_against_several_has_their_scatter),
		cmocka_unit_test(the_scatter_is_that_of_students_distribution),
		cmocka_unit_test(conditions_hold_or_have_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
