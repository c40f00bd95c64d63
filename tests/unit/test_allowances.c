/* Limits that change during a run: src/summary/allowances.c, with samples and lists made by hand. */
#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "metric/typed_rows.h"
#include "summary/allowances.h"

static struct frame frame;

/* NAN: no such limit. Adds a sample of `length` seconds. */
static void add(struct allowances *all, double elapsed, double length, double limit_mib, double total_mib,
		double cores, int cpus)
{
	struct limits_row *limits;

	frame_begin(&frame, 0, 0);
	limits = SINGLE_ROW(&frame, limits);
	if (!isnan(limit_mib))
		limits->memory_limit_mib = limit_mib;
	if (!isnan(cores))
		limits->cpu_limit_cores = cores;
	if (cpus)
		limits->cpuset_cores = cpus;
	if (!isnan(total_mib))
		SINGLE_ROW(&frame, memory)->total_mib = total_mib;
	allowances_add(all, &frame, elapsed, length);
}

static void try_allowance(const struct allowances *all, size_t place, const double (*expected)[5])
{
	const struct allowance *one = &all->list[place];
	const double found[] = {one->since_secs, one->memory_limit_mib, one->memory_total_mib,
				one->cpu_limit_cores, one->cpus};

	for (size_t i = 0; i < 5; i++)
		if (isnan((*expected)[i]) ? !isnan(found[i]) : found[i] != (*expected)[i])
			fail_msg("figure %zu of %zu is %g, not %g", i, place, found[i], (*expected)[i]);
}
#define TRY(all, place, ...) try_allowance(all, place, &(const double[5]){__VA_ARGS__})

static void a_change_begins_another_allowance(void **state)
{
	struct allowances all = {0};

	(void)state;
	add(&all, 1, 1, 200, 1000, NAN, 4);
	/* Half a percent is noise. */
	add(&all, 2, 1, 201, 1005, NAN, 4);
	assert_int_equal(all.count, 1);
	add(&all, 3, 1, 202, 1000, NAN, 4);
	assert_int_equal(all.count, 2);
	add(&all, 4, 2, 202, 1000, 1.5, 4);
	add(&all, 6, 1, NAN, 1000, 1.5, 4);
	add(&all, 7, 0, NAN, 1000, 1.5, 3);
	assert_int_equal(all.count, 5);
	TRY(&all, 0, 1, 200, 1000, NAN, 4);
	TRY(&all, 1, 3, 202, 1000, NAN, 4);
	TRY(&all, 2, 4, 202, 1000, 1.5, 4);
	TRY(&all, 3, 6, NAN, 1000, 1.5, 4);
	TRY(&all, 4, 7, NAN, 1000, 1.5, 3);
	assert_true(all.secs[0] == 2 && all.secs[1] == 1 && all.secs[2] == 2 && all.secs[3] == 1 &&
		    all.secs[4] == 0);
}

static void a_sample_without_limits_changes_nothing(void **state)
{
	struct allowances all = {0};

	(void)state;
	add(&all, 1, 1, NAN, NAN, NAN, 0);
	assert_false(all.limits_known);
	/* The first limits that are told held from the beginning. */
	add(&all, 2, 1, 200, 1000, 2, 4);
	assert_true(all.limits_known);
	assert_int_equal(all.count, 1);
	TRY(&all, 0, 1, 200, 1000, 2, 4);
	add(&all, 3, 1, NAN, NAN, NAN, 0);
	add(&all, 4, 1, NAN, 0, NAN, 0);
	assert_int_equal(all.count, 1);
	add(&all, 5, 1, 300, NAN, NAN, 0);
	TRY(&all, 1, 5, 300, 1000, NAN, NAN);
	TRY(&all, 0, 1, 200, 1000, 2, 4);
}

static void changes_beyond_the_last_place_overwrite_it(void **state)
{
	struct allowances all = {0};

	(void)state;
	for (int i = 0; i < 40; i++)
		add(&all, i, 1, 100 + 10 * i, 1000, NAN, 1);
	assert_int_equal(all.count, 32);
	TRY(&all, 31, 39, 490, 1000, NAN, 1);
	assert_true(all.secs[31] == 9);
}

static void the_start_completes_the_samples(void **state)
{
	struct allowances all = {0}, told = {0}, none = {0};
	struct run_start_row *start;

	(void)state;
	add(&told, 1, 1, 200, NAN, NAN, 0);
	frame_begin(&frame, 0, 0);
	start = SINGLE_ROW(&frame, run_start);
	start->memory_total_mib = 1000;
	start->memory_limit_mib = 500;
	start->cpu_limit_cores = 1.5;
	start->cpuset_cores = 3;
	allowances_finish(&all, start, true);
	assert_int_equal(all.count, 1);
	TRY(&all, 0, 0, 500, 1000, 1.5, 3);
	allowances_finish(&told, start, true);
	TRY(&told, 0, 0, 500, 1000, 1.5, NAN);
	TRY(&told, 1, 1, 200, 1000, NAN, NAN);
	allowances_finish(&none, NULL, true);
	assert_int_equal(none.count, 1);
	TRY(&none, 0, 0, NAN, NAN, NAN, NAN);
}

static void finish_with_start(struct allowances *all, double limit_mib, double cores)
{
	struct run_start_row *start;

	frame_begin(&frame, 0, 0);
	start = SINGLE_ROW(&frame, run_start);
	start->memory_limit_mib = limit_mib;
	start->cpu_limit_cores = cores;
	allowances_finish(all, start, true);
}

static void limits_that_changed_before_the_first_sample_are_those_of_the_start(void **state)
{
	struct allowances fell = {0}, rose = {0}, same = {0}, unknown = {0}, full = {0};

	(void)state;
	/* The time of the first sample counts with the higher number of cores. */
	add(&fell, 0.5, 0.5, 800, 1000, 0.02, 4);
	add(&fell, 1.5, 1, 800, 1000, 0.02, 4);
	finish_with_start(&fell, 200, 2);
	assert_int_equal(fell.count, 2);
	TRY(&fell, 0, 0, 200, 1000, 2, 4);
	TRY(&fell, 1, 0.5, 800, 1000, 0.02, 4);
	assert_true(fell.secs[0] == 0.5 && fell.secs[1] == 1);
	assert_true(allowances_memory(&fell, 0.4, 100).value == 200);
	add(&rose, 0.5, 0.5, 200, 1000, 2, 4);
	finish_with_start(&rose, 200, 0.02);
	assert_int_equal(rose.count, 2);
	assert_true(rose.secs[0] == 0 && rose.secs[1] == 0.5);
	add(&same, 0.5, 0.5, 200, 1000, 2, 4);
	finish_with_start(&same, 200, 2);
	assert_int_equal(same.count, 1);
	/* No limit at the start may also mean that none was known. */
	add(&unknown, 0.5, 0.5, 200, 1000, 2, 4);
	finish_with_start(&unknown, NAN, NAN);
	assert_int_equal(unknown.count, 1);
	for (int i = 0; i < ALLOWANCES_MOST; i++)
		add(&full, 1 + i, 1, 100 + 10 * i, 1000, 2, 4);
	finish_with_start(&full, 500, 1);
	assert_int_equal(full.count, ALLOWANCES_MOST);
	TRY(&full, 0, 1, 100, 1000, 2, 4);
}

static void limits_that_a_later_sample_tells_first_are_those_of_the_start_too(void **state)
{
	struct allowances all = {0};

	(void)state;
	add(&all, 1, 1, NAN, NAN, NAN, 0);
	add(&all, 2, 1, 200, 1000, 2, 4);
	finish_with_start(&all, 500, 1);
	assert_int_equal(all.count, 1);
	TRY(&all, 0, 1, 200, 1000, 2, 4);
}

static void a_machine_is_not_held_to_the_limits_of_its_recorder(void **state)
{
	struct allowances group = {0}, offline = {0};
	struct run_start_row *start;

	(void)state;
	add(&group, 1, 1, 200, 1000, 2, 4);
	add(&group, 2, 1, 300, 2000, 2, 3);
	add(&offline, 1, 1, NAN, 1000, NAN, 8);
	add(&offline, 2, 1, NAN, 1000, NAN, 7);
	frame_begin(&frame, 0, 0);
	start = SINGLE_ROW(&frame, run_start);
	start->cpu_count = 8;
	allowances_finish(&group, start, false);
	TRY(&group, 0, 1, NAN, 1000, NAN, NAN);
	TRY(&group, 1, 2, NAN, 2000, NAN, NAN);
	allowances_finish(&offline, start, false);
	TRY(&offline, 0, 1, NAN, 1000, NAN, 8);
	TRY(&offline, 1, 2, NAN, 1000, NAN, 7);
}

static void add_swap(struct allowances *all, double elapsed, double swap_mib)
{
	frame_begin(&frame, 0, 0);
	SINGLE_ROW(&frame, memory)->swap_total_mib = swap_mib;
	allowances_add(all, &frame, elapsed, 1);
}

static void swap_that_is_added_begins_another_allowance(void **state)
{
	struct allowances all = {0};

	(void)state;
	add(&all, 1, 1, NAN, 1000, NAN, 0);
	/* The first size that is told held from the beginning. 0 is a size. */
	add_swap(&all, 2, 0);
	assert_true(all.list[0].swap_total_mib == 0);
	add_swap(&all, 3, 512);
	add(&all, 4, 1, NAN, 1000, NAN, 0);
	add_swap(&all, 5, 513);
	add_swap(&all, 6, -1);
	assert_int_equal(all.count, 2);
	assert_true(all.list[1].since_secs == 3 && all.list[1].swap_total_mib == 512);
	add_swap(&all, 7, 0);
	assert_int_equal(all.count, 3);
	assert_true(all.list[2].swap_total_mib == 0 && all.list[2].memory_total_mib == 1000);
}

/* 200 MiB at first, 800 from 10 s on, 400 from 20 s on, of a machine with 600. */
static const struct allowances CHANGED = {
	.count = 3,
	.list = {{1, 200, 600, 4, NAN, NAN}, {10, 800, 600, 2, NAN, NAN}, {20, 400, 600, NAN, 1, NAN}},
	.secs = {10, 10, 20},
};

static void try_binding(struct binding found, double value, const char *source, bool is_mean)
{
	if (!(fabs(found.value - value) < 1e-9) || strcmp(found.source, source) != 0 ||
	    found.is_mean != is_mean)
		fail_msg("%g (%s), not %g (%s)", found.value, found.source, value, source);
}

static void the_memory_of_the_moment_binds(void **state)
{
	struct allowances equal = {.count = 1, .list = {{0, 600, 600, NAN, NAN, NAN}}},
			  unknown = {.count = 1, .list = {{0, NAN, NAN, NAN, NAN, NAN}}};

	(void)state;
	try_binding(allowances_memory(&CHANGED, 9.9, 100), 200, "cgroup limit", false);
	try_binding(allowances_memory(&CHANGED, 10, 100), 600, "machine", false);
	try_binding(allowances_memory(&CHANGED, 20, 100), 400, "cgroup limit", false);
	/* A job with more than it may have had the next limit already. */
	try_binding(allowances_memory(&CHANGED, 9.9, 200), 200, "cgroup limit", false);
	try_binding(allowances_memory(&CHANGED, 9.9, 201), 600, "machine", false);
	/* A lower one does not explain it. */
	try_binding(allowances_memory(&CHANGED, 19.9, 900), 600, "machine", false);
	/* At an unknown moment, the job may have had the most that it ever could. */
	try_binding(allowances_memory(&CHANGED, NAN, 100), 600, "machine", false);
	try_binding(allowances_memory(&equal, 0, 1), 600, "machine", false);
	assert_true(isnan(allowances_memory(&unknown, 0, 1).value) &&
		    !allowances_memory(&unknown, 0, 1).source);
	assert_true(allowances_limit_mib(&CHANGED, 10, 100) == 800);
	assert_true(allowances_limit_mib(&CHANGED, 25, 100) == 400);
}

static void the_highest_limit_is_unknown_if_there_was_none_for_a_while(void **state)
{
	struct allowances lifted = CHANGED;

	(void)state;
	assert_true(allowances_highest_limit_mib(&CHANGED) == 800);
	lifted.list[2].memory_limit_mib = NAN;
	assert_true(isnan(allowances_highest_limit_mib(&lifted)));
}

static void the_lowest_number_of_cores_binds(void **state)
{
	struct allowances one = {.count = 1, .list = {{0, NAN, NAN, NAN, NAN, NAN}}, .secs = {5}};

	(void)state;
	assert_true(isnan(allowances_cores(&one, NAN).value));
	try_binding(allowances_cores(&one, 8), 8, "machine", false);
	one.list[0].cpus = 8;
	try_binding(allowances_cores(&one, 8), 8, "machine", false);
	one.list[0].cpus = 6;
	try_binding(allowances_cores(&one, 8), 6, "cpuset", false);
	/* CPUs have come online since the start. */
	try_binding(allowances_cores(&one, 4), 6, "machine", false);
	one.list[0].cpu_limit_cores = 6;
	try_binding(allowances_cores(&one, 8), 6, "cpuset", false);
	one.list[0].cpu_limit_cores = 2.5;
	try_binding(allowances_cores(&one, 8), 2.5, "cgroup limit", false);
	/* (10 x 4 + 10 x 2 + 20 x 1) / 40 */
	try_binding(allowances_cores(&CHANGED, 8), 2, "cpuset", true);
}

static void try_texts(const struct allowances *all, const char *words, const char *json)
{
	struct buffer out = BUFFER(4096);

	allowances_words(all, &out);
	assert_string_equal(out.data ? out.data : "", words);
	buffer_clear(&out);
	allowances_json(all, &out);
	assert_string_equal(out.data, json);
	buffer_done(&out);
}

static void changes_are_told_in_words(void **state)
{
	struct allowances all = {.count = 2,
				 .list = {{0, 200, 2048, NAN, 4, NAN}, {1.5, 800, 1024, 2.5, 2, NAN}}};

	(void)state;
	try_texts(&all,
		  "memory limit raised from 200 MiB to 800 MiB after 1.50 s; memory of the machine lowered "
		  "from 2.00 GiB to 1.00 GiB "
		  "after 1.50 s; CPU limit of 2.5 set after 1.50 s; CPUs that it may use lowered from 4 to 2 "
		  "after 1.50 s",
		  "[{\"elapsed_secs\":1.5,\"what\":\"memory_limit_mib\",\"from\":200.0,\"to\":800.0},"
		  "{\"elapsed_secs\":1.5,\"what\":\"memory_total_mib\",\"from\":2048.0,\"to\":1024.0},"
		  "{\"elapsed_secs\":1.5,\"what\":\"cpu_limit_cores\",\"from\":null,\"to\":2.5},"
		  "{\"elapsed_secs\":1.5,\"what\":\"cpuset_cores\",\"from\":4.0,\"to\":2.0}]");
	all.count = 3;
	/* A size that became unknown has not changed. */
	all.list[2] = (struct allowance){3, NAN, NAN, 1.5, NAN, NAN};
	try_texts(&all,
		  "memory limit raised from 200 MiB to 800 MiB after 1.50 s; memory of the machine lowered "
		  "from 2.00 GiB to 1.00 GiB "
		  "after 1.50 s; CPU limit of 2.5 set after 1.50 s; CPUs that it may use lowered from 4 to 2 "
		  "after 1.50 s; and 2 more "
		  "changes",
		  "[{\"elapsed_secs\":1.5,\"what\":\"memory_limit_mib\",\"from\":200.0,\"to\":800.0},"
		  "{\"elapsed_secs\":1.5,\"what\":\"memory_total_mib\",\"from\":2048.0,\"to\":1024.0},"
		  "{\"elapsed_secs\":1.5,\"what\":\"cpu_limit_cores\",\"from\":null,\"to\":2.5},"
		  "{\"elapsed_secs\":1.5,\"what\":\"cpuset_cores\",\"from\":4.0,\"to\":2.0},"
		  "{\"elapsed_secs\":3.0,\"what\":\"memory_limit_mib\",\"from\":800.0,\"to\":null},"
		  "{\"elapsed_secs\":3.0,\"what\":\"cpu_limit_cores\",\"from\":2.5,\"to\":1.5}]");
	all.list[0] = all.list[1];
	all.list[1] = all.list[2];
	all.count = 2;
	try_texts(
		&all,
		"memory limit of 800 MiB lifted after 3.00 s; CPU limit lowered from 2.5 to 1.5 after 3.00 s",
		"[{\"elapsed_secs\":3.0,\"what\":\"memory_limit_mib\",\"from\":800.0,\"to\":null},"
		"{\"elapsed_secs\":3.0,\"what\":\"cpu_limit_cores\",\"from\":2.5,\"to\":1.5}]");
	all.count = 1;
	try_texts(&all, "", "[]");
}

static void swap_that_comes_and_goes_is_told(void **state)
{
	struct allowances all = {0};

	(void)state;
	add_swap(&all, 1, 0);
	add_swap(&all, 2, 2048);
	add_swap(&all, 3, 1024);
	add_swap(&all, 4, 0);
	try_texts(&all,
		  "swap of 2.00 GiB added after 2.00 s; swap lowered from 2.00 GiB to 1.00 GiB after 3.00 s; "
		  "swap of 1.00 GiB removed after 4.00 s",
		  "[{\"elapsed_secs\":2.0,\"what\":\"swap_total_mib\",\"from\":0.0,\"to\":2048.0},"
		  "{\"elapsed_secs\":3.0,\"what\":\"swap_total_mib\",\"from\":2048.0,\"to\":1024.0},"
		  "{\"elapsed_secs\":4.0,\"what\":\"swap_total_mib\",\"from\":1024.0,\"to\":0.0}]");
}

static int forget(void **state)
{
	(void)state;
	frame_done(&frame);
	return 0;
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_begins_another_allowance),
		cmocka_unit_test(a_sample_without_limits_changes_nothing),
		cmocka_unit_test(changes_beyond_the_last_place_overwrite_it),
		cmocka_unit_test(the_start_completes_the_samples),
		cmocka_unit_test(limits_that_changed_before_the_first_sample_are_those_of_the_start),
		cmocka_unit_test(limits_that_a_later_sample_tells_first_are_those_of_the_start_too),
		cmocka_unit_test(a_machine_is_not_held_to_the_limits_of_its_recorder),
		cmocka_unit_test(the_memory_of_the_moment_binds),
		cmocka_unit_test(the_highest_limit_is_unknown_if_there_was_none_for_a_while),
		cmocka_unit_test(the_lowest_number_of_cores_binds),
		cmocka_unit_test(changes_are_told_in_words),
		cmocka_unit_test(swap_that_is_added_begins_another_allowance),
		cmocka_unit_test(swap_that_comes_and_goes_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
