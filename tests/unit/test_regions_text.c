/* Phases as people read them: regions that were made by hand, with each note below the table. */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "regions/regions.h"
#include "resource_tracker_internal.h"

enum { PHASES = 2, MEASURES_MOST = 3 };

static struct region list[PHASES];
static double of_phase[PHASES][MEASURES_MOST][REGION_STATISTICS], overall[MEASURES_MOST][REGION_STATISTICS];
static char *measures[MEASURES_MOST];
static rt_regions regions;

static void set(double *statistics, double mean, double most)
{
	statistics[REGION_MIN] = 0;
	statistics[REGION_MEAN] = mean;
	statistics[REGION_MAX] = most;
	statistics[REGION_TOTAL] = 10 * mean;
}

/* Two phases in 10 s; the second one in the list began first. */
static void begin(void)
{
	static const char *const NAMES[] = {"process_cpu_usage", "process_memory_mib",
					    "system_net_sent_bytes"};

	for (size_t i = 0; i < MEASURES_MOST; i++) {
		measures[i] = (char *)(uintptr_t)NAMES[i];
		set(overall[i], i == 1 ? 50 : 0.75, i == 1 ? 100 : 1.5);
		set(of_phase[0][i], i == 1 ? 25 : 0.5, i == 1 ? 75 : 1.25);
		set(of_phase[1][i], NAN, NAN);
	}
	for (size_t i = 0; i < PHASES; i++) {
		list[i] = (struct region){.name = (char *)(uintptr_t)(i ? "fi\nt" : "load"),
					  .calls = 1 + (int64_t)i,
					  .began = 100 - (double)i,
					  .timepoints = 3,
					  .measures = of_phase[i]};
		list[i].seconds[REGION_TOTAL] = 2.5;
	}
	regions = (rt_regions){.measure_count = MEASURES_MOST,
			       .measures = measures,
			       .recorded = true,
			       .overall = overall,
			       .list = list,
			       .count = PHASES,
			       .peak_mib = 100,
			       .sampled_mib = 100,
			       .earliest = 100,
			       .latest = 110};
}

static void try_width(const char *columns, const char *expected)
{
	char *text = NULL;

	assert_int_equal(setenv("COLUMNS", columns, 1), 0);
	assert_int_equal(rt_regions_for_screen(&regions, -1, "never", &text), 0);
	unsetenv("COLUMNS");
	assert_string_equal(text, expected);
	free(text);
}

static void try_screen(const char *expected)
{
	try_width("300", expected);
}

static void try_note(const char *expected)
{
	char *text = NULL, *notes;

	assert_int_equal(setenv("COLUMNS", "300", 1), 0);
	assert_int_equal(rt_regions_for_screen(&regions, -1, "never", &text), 0);
	unsetenv("COLUMNS");
	notes = strstr(text, "\n\n");
	assert_string_equal(notes ? notes + 2 : "", expected);
	free(text);
}

static void phases_stand_in_the_order_of_their_beginning(void **state)
{
	(void)state;
	begin();
	try_screen("phase      calls    time  of run  cores mean  cores max  largest sample\n"
		   "fi?t           2  2.50 s    25 %           -          -               -\n"
		   "load           1  2.50 s    25 %        0.50       1.25        75.0 MiB\n"
		   "whole run         10.0 s                0.75       1.50         100 MiB\n");
	/* A run without a length has no parts. */
	regions.latest = 100;
	overall[0][REGION_MAX] = 0;
	try_screen("phase      calls    time  of run  largest sample\n"
		   "fi?t           2  2.50 s       -               -\n"
		   "load           1  2.50 s       -        75.0 MiB\n"
		   "whole run              -                 100 MiB\n");
}

/* Calls that no sample lies in may have no beginning, too. */
static void phases_that_began_together_keep_their_order(void **state)
{
	(void)state;
	begin();
	regions.measure_count = 0;
	list[0].began = list[1].began = INFINITY;
	try_screen("phase      calls    time  of run\n"
		   "load           1  2.50 s    25 %\n"
		   "fi?t           2  2.50 s    25 %\n"
		   "whole run         10.0 s\n");
}

static void a_narrow_screen_has_the_phases_in_each_table(void **state)
{
	(void)state;
	begin();
	regions.phases.bad_lines = 1;
	list[0].timepoints = 0;
	try_width("40", "                                  cores\n"
			"phase      calls    time  of run   mean\n"
			"fi?t           2  2.50 s    25 %      -\n"
			"load           1  2.50 s    25 %   0.50\n"
			"whole run         10.0 s           0.75\n"
			"\n"
			"           cores   largest\n"
			"phase        max    sample\n"
			"fi?t           -         -\n"
			"load        1.25  75.0 MiB\n"
			"whole run   1.50   100 MiB\n"
			"\n"
			"1 phase has no sample's time stamp:\n"
			"  cores and bytes are its share of\n"
			"  longer samples; a shorter --interval\n"
			"  measures it\n"
			"1 line of the marks cannot be read\n");
}

static void the_machine_stands_for_no_job(void **state)
{
	(void)state;
	begin();
	overall[0][REGION_MAX] = 0;
	overall[1][REGION_MAX] = NAN;
	try_screen("phase      calls    time  of run\n"
		   "fi?t           2  2.50 s    25 %\n"
		   "load           1  2.50 s    25 %\n"
		   "whole run         10.0 s\n");
	regions.of_machine = true;
	try_screen("phase      calls    time  of run  sent\n"
		   "fi?t           2  2.50 s    25 %     -\n"
		   "load           1  2.50 s    25 %   5 B\n"
		   "whole run         10.0 s           8 B\n");
}

static void named_columns_have_their_mean_and_maximum(void **state)
{
	(void)state;
	begin();
	regions.measure_count = 2;
	try_screen("phase      calls    time  of run  process_cpu_usage mean  process_cpu_usage max  "
		   "process_memory_mib mean  process_memory_mib max\n"
		   "fi?t           2  2.50 s    25 %                       -                      -          "
		   "              -                       -\n"
		   "load           1  2.50 s    25 %              0.50 cores             1.25 cores          "
		   "       25.0 MiB                75.0 MiB\n"
		   "whole run         10.0 s                      0.75 cores             1.50 cores          "
		   "       50.0 MiB                 100 MiB\n");
}

static void notes_follow_the_table(void **state)
{
	(void)state;
	begin();
	try_note("");
	list[0].timepoints = 0;
	try_note("1 phase has no sample's time stamp: cores and bytes are its share of longer samples; a "
		 "shorter --interval measures it\n");
	list[1].timepoints = 0;
	try_note("2 phases have no sample's time stamp: cores and bytes are their share of longer samples; "
		 "a shorter --interval measures them\n");
	begin();
	regions.peak_mib = 102;
	try_note("");
	regions.peak_mib = 103;
	try_note("the run's memory peak of 103 MiB is above the largest sample: no sample was taken then\n");
	begin();
	regions.phases.open_calls = 1;
	regions.phases.unmatched_stops = 1;
	regions.phases.bad_lines = 1;
	try_note("1 call was never stopped: the end of the recording counts as the end\n"
		 "1 stop without a start\n"
		 "1 line of the marks cannot be read\n");
	regions.phases.open_calls = regions.phases.unmatched_stops = regions.phases.bad_lines = 2;
	try_note("2 calls were never stopped: the end of the recording counts as the end\n"
		 "2 stops without a start\n"
		 "2 lines of the marks cannot be read\n");
	begin();
	regions.count = 0;
	try_note("no phase was marked: the job writes marks with resource-tracker mark\n");
	regions.marked = true;
	try_note("no phase lies in the time of the samples, though some were marked\n");
	regions.marked = false;
}

static void only_three_words_are_colours(void **state)
{
	char *text = NULL;

	(void)state;
	begin();
	assert_int_equal(rt_regions_for_screen(&regions, -1, "red", &text), -EINVAL);
	assert_null(text);
}

/* ---- as gpu_tracker writes them --------------------------------------------------------------------------- */

static rt_table *made_facts(void)
{
	static const struct rt_value CELLS[] = {{.type = RT_TYPE_TEXT, .text = "box"},
						{.type = RT_TYPE_COUNT, .count = 8},
						{.type = RT_TYPE_REAL, .real = 0.123456789012},
						{.type = RT_TYPE_NONE}};
	static const char *const NAMES[] = {"host", "number_of_cores", "ram", "gpu"};
	rt_table *facts = rt_table_new();

	assert_non_null(facts);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rt_table_add_column(facts, NAMES[i]), i);
	assert_int_equal(rt_table_add_row(facts), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rt_table_set(facts, i, 0, CELLS[i]), 0);
	return facts;
}

static void begin_layout(void)
{
	begin();
	regions.facts = made_facts();
	regions.count = 1;
	regions.measure_count = 2;
	list[0].name = (char *)(uintptr_t) "lo\tad";
	overall[1][REGION_STD] = NAN;
	list[0].non_empty_calls = 4;
	list[0].seconds[REGION_MIN] = list[0].seconds[REGION_STD] = 0;
	list[0].seconds[REGION_MAX] = list[0].seconds[REGION_MEAN] = 1.0 / 3;
}

static void a_page_of_text_has_tables_like_those_of_pandas(void **state)
{
	char *text = NULL;

	(void)state;
	begin_layout();
	measures[1] = (char *)(uintptr_t) "ram";
	assert_int_equal(rt_regions_to_text(&regions, &text), 0);
	rt_table_free(regions.facts);
	assert_string_equal(text, "Overall:\n"
				  "\t                   min   max  mean  std\n"
				  "\tprocess_cpu_usage  0.0   1.5  0.75  0.0\n"
				  "\tram                0.0 100.0  50.0  NaN\n"
				  "Static Data:\n"
				  "\t host number_of_cores        ram   gpu\n"
				  "\t  box               8 0.12345679  None\n"
				  "Code Block Results:\n"
				  "\tName:                lo?ad\n"
				  "\tNum Timepoints:      3\n"
				  "\tNum Calls:           1\n"
				  "\tNum Non Empty Calls: 4\n"
				  "\tCompute Time:\n"
				  "\t\t  min        max       mean  std  total\n"
				  "\t\t  0.0 0.33333333 0.33333333  0.0    2.5\n"
				  "\tResource Usage:\n"
				  "\t\t                   min  max  mean  std\n"
				  "\t\tprocess_cpu_usage  0.0 1.25   0.5  0.0\n"
				  "\t\tram                0.0 75.0  25.0  0.0\n"
				  "\n");
	free(text);
}

static void a_file_without_constants_has_no_columns_of_them(void **state)
{
	char *text = NULL;

	(void)state;
	begin();
	regions.facts = rt_table_new();
	regions.count = regions.measure_count = 0;
	assert_int_equal(rt_regions_to_text(&regions, &text), 0);
	assert_string_equal(text, "Overall:\n"
				  "\t  min  max  mean  std\n"
				  "Static Data:\n\t\n\t\n"
				  "Code Block Results:\n");
	free(text);
	assert_int_equal(rt_regions_to_json(&regions, &text), 0);
	assert_string_equal(text, "{\"overall\":{},\"static_data\":{},\"code_block_results\":[]}\n");
	free(text);
	rt_table_free(regions.facts);
}

static void programs_get_each_statistic(void **state)
{
	char *text = NULL;

	(void)state;
	begin_layout();
	regions.measure_count = 1;
	assert_int_equal(rt_regions_to_json(&regions, &text), 0);
	assert_string_equal(text, "{\"overall\":{\"process_cpu_usage\":{\"min\":0.0,\"max\":1.5,\"mean\":0."
				  "75,\"std\":0.0,\"total\":7.5}},"
				  "\"static_data\":{\"host\":\"box\",\"number_of_cores\":8,\"ram\":0."
				  "123456789012,\"gpu\":null},"
				  "\"code_block_results\":[{\"name\":\"lo\\tad\",\"num_timepoints\":3,\"num_"
				  "calls\":1,\"num_non_empty_calls\":4,"
				  "\"compute_time\":{\"min\":0.0,\"max\":0.3333333333333333,\"mean\":0."
				  "3333333333333333,\"std\":0.0,\"total\":2.5},"
				  "\"resource_usage\":{\"process_cpu_usage\":{\"min\":0.0,\"max\":1.25,"
				  "\"mean\":0.5,\"std\":0.0,\"total\":5.0}}}]}\n");
	free(text);
	/* gpu_tracker's figures have no total. */
	regions.recorded = false;
	assert_int_equal(rt_regions_to_json(&regions, &text), 0);
	rt_table_free(regions.facts);
	assert_non_null(strstr(
		text, "{\"process_cpu_usage\":{\"min\":0.0,\"max\":1.25,\"mean\":0.5,\"std\":0.0}}}]}\n"));
	assert_non_null(strstr(text, "\"total\":2.5},"));
	free(text);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_stand_in_the_order_of_their_beginning),
		cmocka_unit_test(phases_that_began_together_keep_their_order),
		cmocka_unit_test(a_narrow_screen_has_the_phases_in_each_table),
		cmocka_unit_test(the_machine_stands_for_no_job),
		cmocka_unit_test(named_columns_have_their_mean_and_maximum),
		cmocka_unit_test(notes_follow_the_table),
		cmocka_unit_test(only_three_words_are_colours),
		cmocka_unit_test(a_page_of_text_has_tables_like_those_of_pandas),
		cmocka_unit_test(a_file_without_constants_has_no_columns_of_them),
		cmocka_unit_test(programs_get_each_statistic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
