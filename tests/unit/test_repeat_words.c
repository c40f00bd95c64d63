/* Repeated runs as people and programs read them: runs made by hand, whose figures can be checked without a computer. */
#include "unit.h"

#include <stdio.h>

#include "metric/absent.h"
#include "repeat/repeat.h"

enum { RUNS_MOST = 16, FAILED = 3 << 8, KILLED = 9 };

static const double AWAY = -1; /* in the place of an amount: it is unknown */

struct hand_made {
	struct repeat_run runs[RUNS_MOST];
	struct repeat repeat;
};

static struct rt_value amount(double value, int reason)
{
	return value < 0 ? (struct rt_value){.type = RT_TYPE_NONE, .reason = reason}
			 : (struct rt_value){.type = RT_TYPE_REAL, .real = value};
}

/* Adds a run that took `secs`, half of them in user mode, and `mib` at most. */
static struct repeat_run *add_run(struct hand_made *made, size_t side, int status, double secs, double mib)
{
	struct repeat_run *run = &made->runs[made->repeat.count++];

	assert_true(made->repeat.count <= RUNS_MOST);
	*run = (struct repeat_run){.side = side, .status = status, .instructions.unknown = "no counter"};
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		run->figures[i] = amount(AWAY, ABSENT_NOT_COLLECTED);
	run->figures[FIGURE_time_wall_secs] = amount(secs, ABSENT_NOT_COLLECTED);
	run->figures[FIGURE_time_user_secs] = amount(secs / 2, ABSENT_NOT_COLLECTED);
	run->figures[FIGURE_time_system_secs] = amount(0, ABSENT_NOT_COLLECTED);
	run->figures[FIGURE_memory_peak_mib] = amount(mib, ABSENT_ZOMBIE);
	return run;
}

static void begin(struct hand_made *made, const char *second)
{
	*made = (struct hand_made){
		.repeat = {.commands = {"make all", second}, .side_count = second ? 2 : 1}};
	made->repeat.runs = made->runs;
}

static void add_runs(struct hand_made *made, size_t side, const double *secs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_run(made, side, 0, secs[i], 100);
}

static char *words_of(const struct hand_made *made)
{
	char *text = NULL;

	assert_int_equal(setenv("COLUMNS", "300", 1), 0);
	assert_int_equal(repeat_for_screen(&made->repeat, -1, "never", &text), 0);
	unsetenv("COLUMNS");
	return text;
}

static char *json_of(const struct hand_made *made)
{
	char *text = NULL;

	assert_int_equal(repeat_to_json(&made->repeat, &text), 0);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

static void try_words(const struct hand_made *made, const char *part, const char *absent)
{
	char *text = words_of(made);

	assert_has(text, part);
	if (absent)
		assert_lacks(text, absent);
	free(text);
}

static void try_json(const struct hand_made *made, const char *part)
{
	char *text = json_of(made);

	assert_has(text, part);
	free(text);
}

static void one_command_has_its_spread_and_its_outlier(void **state)
{
	/* The squares of the distances from the mean of 1.2 s add up to 0.805. */
	const double secs[] = {1.0, 1.05, 0.95, 1.0, 2.0};
	struct hand_made made;

	(void)state;
	begin(&made, NULL);
	add_runs(&made, 0, secs, 5);
	try_words(&made,
		  "make all: 5 runs\n\n"
		  "                MEAN      +-      MIN      MAX\n"
		  "wall time     1.20 s  0.45 s   0.95 s   2.00 s\n"
		  "user time     0.60 s  0.22 s   0.47 s   1.00 s\n"
		  "memory peak  100 MiB       0  100 MiB  100 MiB\n\n"
		  "outliers: run 5 (2.00 s); median 1.00 s. Warm up, or let less run beside it\nunknown: "
		  "read (not measured here), ",
		  "kept");
	try_json(&made, "{\"results\":[{\"command\":\"make all\",\"mean\":1.2,\"stddev\":0.448608");
	try_json(&made, ",\"min\":0.95,\"max\":2.0,\"median\":1.0,\"user\":0.6,\"system\":0.0,\"times\":[1.0,"
			"1.05,0.95,1.0,2.0],");
	/* 1 / (1.4826 * 0.05) */
	try_json(&made, "\"outliers\":[{\"run\":5,\"secs\":2.0,\"score\":13.4898");
	try_json(&made, "\"user_time\":{\"unit\":\"s\",\"mean\":0.6,\"stddev\":0.224304");
	try_json(&made, ",\"min\":0.475,\"max\":1.0,\"median\":0.5,\"values\":[0.5,0.525,0.475,0.5,1.0]},");
}

static void four_runs_are_too_few_for_an_outlier(void **state)
{
	const double secs[] = {1.0, 1.05, 0.95, 2.0, 1.0};
	struct hand_made made;

	(void)state;
	begin(&made, NULL);
	add_runs(&made, 0, secs, 4);
	try_words(&made, "4 runs\n", "outliers");
	try_json(&made, "\"outliers\":[]");
	add_run(&made, 0, 0, 1.0, 100);
	try_words(&made, "outliers: run 4 (2.00 s); median 1.00 s. Warm up", NULL);
}

/* The median is 1.01, the middle distance from it 0.02. */
static void five_outliers_are_named_and_the_others_counted(void **state)
{
	const double secs[] = {0.99, 1, 1.01, 0.99, 1, 1.01, 0.99, 1, 1.01, 3, 3, 3, 3, 3, 3, 3};
	struct hand_made made;

	(void)state;
	begin(&made, "make some");
	add_runs(&made, 1, secs, 14);
	try_words(&made,
		  "outliers of B: run 10 (3.00 s), run 11 (3.00 s), run 12 (3.00 s), run 13 (3.00 s), run 14 "
		  "(3.00 s); median",
		  " more");
	begin(&made, "make some");
	add_runs(&made, 0, secs, 16);
	try_words(&made, "outliers of A: run 10 (3.00 s)", "run 15");
	try_words(&made, "run 14 (3.00 s) and 2 more; median 1.01 s. Warm up, or let less run beside it\n",
		  "outliers of B");
}

static void add_both(struct hand_made *made, const double *first, const double *second, size_t count)
{
	begin(made, "make some");
	add_runs(made, 0, first, count);
	add_runs(made, 1, second, count);
}

/* Welch's test with 2.94 degrees of freedom: t is 8.52, and 3.22 is the quantile of 95 %. */
static void a_sure_difference_has_a_factor_with_its_interval(void **state)
{
	const double fast[] = {1.0, 1.1, 1.2}, slow[] = {2.0, 2.2, 2.4};
	const char *verdict =
		"%c is 2.00 +- 0.26 times as fast as %c (95 %% interval 1.52 to 2.48; confidence 99.6 %%)";
	struct hand_made made;
	char words[128];

	(void)state;
	add_both(&made, fast, slow, 3);
	snprintf(words, sizeof words, verdict, 'A', 'B');
	try_words(&made, words, "equally");
	try_json(&made, words);
	try_json(&made, "\"faster\":\"make all\"");
	add_both(&made, slow, fast, 3);
	snprintf(words, sizeof words, verdict, 'B', 'A');
	try_words(&made, words, "equally");
	try_json(&made, "\"faster\":\"make some\"");
}

/* With 4 degrees of freedom, t is 1.22. */
static void a_difference_within_the_scatter_is_told_as_unsure(void **state)
{
	const double fast[] = {0.9, 1.0, 1.1}, slow[] = {1.0, 1.1, 1.2}, same[] = {1, 1, 1},
		     twice[] = {2, 2, 2};
	struct hand_made made;

	(void)state;
	add_both(&made, fast, slow, 3);
	try_words(&made,
		  "A and B may be equally fast: A took 9.1 % less time, with a confidence of 71.2 % that "
		  "there is a difference\n",
		  "times as fast");
	add_both(&made, same, twice, 3);
	try_words(
		&made,
		"A is 2.00 +- 0.00 times as fast as B (95 % interval 2.00 to 2.00; confidence over 99.9 %)\n",
		"equally");
	add_both(&made, same, twice, 1);
	try_words(&made, "A was 2.00 times as fast as B; one run of a side does not tell how sure that is\n",
		  "confidence");
	try_json(&made, "\"confidence\":null");
}

static void the_second_side_has_its_change(void **state)
{
	const double fast[] = {1.0, 1.1, 1.2}, slow[] = {2.0, 2.2, 2.4};
	struct hand_made made;

	(void)state;
	add_both(&made, fast, slow, 3);
	for (size_t i = 0; i < made.repeat.count; i++)
		made.runs[i].figures[FIGURE_io_read_bytes] = amount(i < 3 ? 0 : 4096, ABSENT_NOT_COLLECTED);
	/* The noise of the time is 23.5 %, and that of an equal peak is nothing. */
	try_words(&made,
		  "A: make all: 3 runs\n"
		  "B: make some: 3 runs\n\n"
		  "              MEAN A     +- A    MIN A    MAX A    MEAN B    +- B     MIN B     MAX B  B "
		  "AGAINST A\n"
		  "wall time     1.10 s   0.10 s   1.00 s   1.20 s    2.20 s  0.20 s    2.00 s    2.40 s   "
		  "+100.0 % *\n"
		  "user time     0.55 s  50.0 ms   0.50 s   0.60 s    1.10 s  0.10 s    1.00 s    1.20 s   "
		  "+100.0 % *\n"
		  "memory peak  100 MiB        0  100 MiB  100 MiB   100 MiB       0   100 MiB   100 MiB     "
		  "  +0.0 %\n"
		  "read               0        0        0        0  4.00 KiB       0  4.00 KiB  4.00 KiB\n\n"
		  "unknown: written (not measured here), read by calls",
		  "unknown: read");
}

static void runs_that_failed_are_left_out_unless_they_shall_count(void **state)
{
	struct hand_made made;

	(void)state;
	begin(&made, NULL);
	add_run(&made, 0, 0, 1, 100);
	add_run(&made, 0, FAILED, 2, 200);
	add_run(&made, 0, KILLED, 3, 300);
	try_words(&made, "make all: 1 run, 2 failed and left out\n", "+-  1");
	try_json(&made, "\"exit_codes\":[0]");
	try_json(&made, "\"times\":[1.0]");
	try_json(&made, "\"memory_usage_byte\":[104857600]");
	made.repeat.counts_failed = true;
	try_words(&made, "make all: 3 runs, 2 failed\n", "left out");
	try_json(&made, "\"exit_codes\":[0,3,null]");
	try_json(&made, "\"times\":[1.0,2.0,3.0]");
	try_json(&made, "\"memory_usage_byte\":[104857600,209715200,314572800]");
}

static void the_numbers_in_the_history_are_told(void **state)
{
	const double secs[] = {1, 1, 1};
	struct hand_made made;

	(void)state;
	add_both(&made, secs, secs, 2);
	try_words(&made, "make all", "kept");
	try_json(&made, "\"history\":[]");
	made.runs[1].number = 12;
	try_words(&made, "kept as run 12 of the history\n", NULL);
	made.runs[0].number = 14;
	made.runs[2].number = 13;
	try_words(&made, "kept as runs 12 to 14 of the history\n", NULL);
	try_json(&made, "\"history\":[14,12]");
	try_json(&made, "\"history\":[13]");
}

static void unknown_figures_have_their_reason(void **state)
{
	struct hand_made made;

	(void)state;
	begin(&made, "make some");
	add_run(&made, 0, 0, 1, AWAY);
	made.runs[0].instructions.unknown = NULL;
	add_run(&made, 1, 0, 1, 100);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
			if (i != FIGURE_memory_peak_mib && i != FIGURE_gpu_energy_joules)
				made.runs[side].figures[i] = amount(1, ABSENT_NOT_COLLECTED);
	try_words(&made, "\nunknown: gpu energy joules (not measured here), user instructions (no counter)\n",
		  "memory peak (");
	try_json(&made, "\"memory_peak\":{\"unit\":\"MiB\",\"mean\":null,\"stddev\":null,\"min\":null,"
			"\"max\":null,\"median\":null,"
			"\"values\":[null],\"reason\":\"the process has ended");
	try_json(&made, "\"values\":[100.0]},");
	try_json(&made, "\"user_instructions\":{\"unit\":\"instructions\",\"mean\":0.0,\"stddev\":null,"
			"\"min\":0.0,\"max\":0.0,"
			"\"median\":0.0,\"values\":[0.0]}");
	try_json(&made, "\"values\":[null],\"reason\":\"no counter\"}");
}

static void known_figures_are_not_among_the_unknown(void **state)
{
	struct hand_made made;

	(void)state;
	begin(&made, NULL);
	add_run(&made, 0, 0, 1, 1);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		made.runs[0].figures[i] = amount(1, ABSENT_NOT_COLLECTED);
	made.runs[0].instructions = (struct counted_instructions){.count = 1234567};
	try_words(&made,
		  "                         MEAN  +-       MIN       MAX\n"
		  "wall time              1.00 s        1.00 s    1.00 s\n"
		  "user time              1.00 s        1.00 s    1.00 s\n"
		  "system time            1.00 s        1.00 s    1.00 s\n"
		  "memory peak          1.00 MiB      1.00 MiB  1.00 MiB\n"
		  "read                      1 B           1 B       1 B\n",
		  "unknown");
	try_words(&made, "user instructions     1234567       1234567   1234567\n", NULL);
	made.runs[0].instructions.unknown = "no counter";
	try_words(&made, "\nunknown: user instructions (no counter)\n", NULL);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_command_has_its_spread_and_its_outlier),
		cmocka_unit_test(four_runs_are_too_few_for_an_outlier),
		cmocka_unit_test(five_outliers_are_named_and_the_others_counted),
		cmocka_unit_test(a_sure_difference_has_a_factor_with_its_interval),
		cmocka_unit_test(a_difference_within_the_scatter_is_told_as_unsure),
		cmocka_unit_test(the_second_side_has_its_change),
		cmocka_unit_test(runs_that_failed_are_left_out_unless_they_shall_count),
		cmocka_unit_test(the_numbers_in_the_history_are_told),
		cmocka_unit_test(unknown_figures_have_their_reason),
		cmocka_unit_test(known_figures_are_not_among_the_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
