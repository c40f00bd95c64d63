/* Memory samples of different measures: src/summary/summary_memory.c. Each sample is 2 s long. */
#include "unit.h"

#include <math.h>

#include "metric/typed_rows.h"
#include "record/tree_memory.h"
#include "summary/summary_memory.h"

static struct frame frame;
static struct memory_facts memory;
static struct figure figure;
static double elapsed_secs;

static void begin(void)
{
	memory_facts_begin(&memory);
	elapsed_secs = 0;
}

static void take(const char *source, double mib, double resident_mib)
{
	struct tree_row *tree;

	frame_begin(&frame, 0, 0);
	tree = ADD_ROW(&frame, tree, NULL);
	tree->process_memory_mib = mib;
	tree->process_rss_mib = resident_mib;
	tree->process_memory_source = source;
	elapsed_secs += 2;
	memory_facts_add(&memory, tree, &(struct moment){elapsed_secs, 2});
}

static void try_peak(double most, double at_secs, double mean, const char *source, const char *sources)
{
	memory_facts_finish(&memory, &figure);
	if (figure.most != most || figure.most_elapsed_secs != at_secs || figure_mean(&figure) != mean)
		fail_msg("%g MiB after %g s, mean %g", figure.most, figure.most_elapsed_secs,
			 figure_mean(&figure));
	assert_string_equal(memory.source, source);
	assert_string_equal(memory.sources, sources);
}

static void try_disproved(double mib, int64_t samples)
{
	assert_true(memory.disproved_mib == mib);
	assert_int_equal(memory.disproved_samples, samples);
}

static void the_peak_has_its_source(void **state)
{
	(void)state;
	begin();
	take("pss", 100, 120);
	take("sampled", 300, 320);
	take("pss", 200, 220);
	take("pss", NAN, 900);
	try_peak(300, 4, 200, "sampled", "pss, sampled");
	assert_int_equal(memory.measures, 1u << MEASURE_ONCE);
	/* An equal one comes later. */
	begin();
	take("pss", 100, 120);
	take("sampled", 100, 120);
	try_peak(100, 2, 100, "pss", "pss, sampled");
	begin();
	take(NULL, 100, 120);
	try_peak(100, 2, 100, "", "");
	assert_int_equal(memory.measures, 0);
}

static void the_last_name_of_sources_is_not_the_beginning_of_another(void **state)
{
	(void)state;
	begin();
	take("pss_old", 100, 120);
	take("pss", 100, 120);
	take("pss", 100, 120);
	take("pss_old", 100, 120);
	try_peak(100, 2, 100, "pss_old", "pss_old, pss");
	/* The list has room for 63 bytes, of which two are kept for a comma. */
	begin();
	take("a23456789012345678901234567890", 1, 1);
	take("b2345678901234567890123456789", 1, 1);
	take("c", 1, 1);
	try_peak(1, 2, 1, "a23456789012345", "a23456789012345678901234567890, b2345678901234567890123456789");
}

static void a_better_sample_disproves_one_that_counts_pages_twice(void **state)
{
	(void)state;
	begin();
	take("rss", 1800, 1800);
	take("rss", 1700, 2000);
	take("pss", 1710, 1500);
	/* 0.95 of the figure, and three quarters of the resident set. */
	try_peak(1800, 2, 5210 / 3.0, "rss", "pss, rss");
	begin();
	take("rss", 1800, 1800);
	take("rss", 1700, 2000);
	take("pss", 1709, 1500);
	try_disproved(1800, 2);
	try_peak(1709, 6, 1709, "pss", "pss");
	begin();
	take("rss", 1800, 1800);
	take("rss", 1700, 2000);
	take("pss", 200, 1499);
	try_disproved(0, 0);
	try_peak(1800, 2, 3700 / 3.0, "rss", "pss, rss");
	assert_int_equal(memory.measures, 1u << MEASURE_ONCE | 1u << MEASURE_EACH_PROCESS);
	/* Without a resident set, the memory may be another. */
	begin();
	take("rss", 1800, 1800);
	take("pss", 200, NAN);
	try_disproved(0, 0);
}

static void the_largest_figure_left_out_is_told(void **state)
{
	(void)state;
	begin();
	take("rss", 1000, 1000);
	take("pss", 100, 1000);
	take("bound", 800, 800);
	take("pss", 100, 800);
	try_disproved(1000, 2);
	take("rss", 2000, 2000);
	take("pss", 100, 2000);
	try_disproved(2000, 3);
	take("rss", 100, 2000);
	try_peak(100, 4, 100, "pss", "pss, rss");
}

static void samples_of_one_measure_alone_count(void **state)
{
	(void)state;
	begin();
	take("rss", 10, 10);
	take("bound", 30, 30);
	try_peak(30, 4, 20, "bound", "bound");
	begin();
	memory_facts_finish(&memory, &figure);
	assert_true(isnan(figure.most) && isnan(figure.most_elapsed_secs) && isnan(figure_mean(&figure)));
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_has_its_source),
		cmocka_unit_test(the_last_name_of_sources_is_not_the_beginning_of_another),
		cmocka_unit_test(a_better_sample_disproves_one_that_counts_pages_twice),
		cmocka_unit_test(the_largest_figure_left_out_is_told),
		cmocka_unit_test(samples_of_one_measure_alone_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
