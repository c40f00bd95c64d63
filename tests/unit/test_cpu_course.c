/* When a sample is short of CPU, at each limit: src/summary/cpu_course.c. A sample of 10 s on a machine of 4 cores, of which 2 are busy. */
#include "unit.h"

#include <math.h>

#include "metric/typed_rows.h"
#include "summary/cpu_course.h"

static struct frame frame;
static struct tree_row *tree;
static struct host_cpu_row *cpu;
static struct pressure_row *pressure;
static struct cpu_bounds bounds;
static struct cpu_course course;

static void begin(double job, double all, double pressure_secs)
{
	frame_begin(&frame, 0, 0);
	frame.sample->actual_interval_ms = 10000;
	tree = ADD_ROW(&frame, tree, NULL);
	cpu = ADD_ROW(&frame, host_cpu, NULL);
	pressure = ADD_ROW(&frame, pressure, NULL);
	tree->process_cores_used = job;
	cpu->utilization_pct = all;
	pressure->cpu_some_secs = pressure_secs;
	bounds = (struct cpu_bounds){4, no_count(ABSENT_NO_LIMIT), NAN};
}

/* The counters of the job's own threads. */
static void set_own(double run_secs, double known_secs, double wait_secs)
{
	tree->process_utime_secs = 0.75 * run_secs;
	tree->process_stime_secs = 0.25 * run_secs;
	tree->process_cpu_wait_known_secs = known_secs;
	tree->process_cpu_wait_secs = wait_secs;
}

static void take(void)
{
	course = (struct cpu_course){0};
	cpu_course_add(&course, &frame, &bounds, true);
}

static void assert_about(double found, double expected)
{
	if (!(fabs(found - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", found, expected);
}

/* How long no CPU was free, some CPU was free, a thread waited without a free CPU, and waited while that is unknown. */
static void try_room(double full, double free_secs, double short_secs, double unclear)
{
	take();
	assert_about(course.full_secs, full);
	assert_about(course.free_secs, free_secs);
	assert_about(course.short_secs, short_secs);
	assert_about(course.unclear_secs, unclear);
	assert_true(course.has_pressure);
}

static void the_lowest_bound_counts(void **state)
{
	static const struct {
		int64_t cores, cpuset;
		double limit, least;
	} CASES[] = {{4, 3, 2, 2},    {4, 3, 5, 3},    {2, 3, 5, 2},
		     {4, -1, NAN, 4}, {-1, 3, NAN, 3}, {-1, -1, 2, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		assert_about(cpu_bounds_least(&(struct cpu_bounds){
				     CASES[i].cores < 0 ? no_count(ABSENT_NO_LIMIT) : CASES[i].cores,
				     CASES[i].cpuset < 0 ? no_count(ABSENT_NO_LIMIT) : CASES[i].cpuset,
				     CASES[i].limit}),
			     CASES[i].least);
	assert_true(isnan(cpu_bounds_least(
		&(struct cpu_bounds){no_count(ABSENT_NO_LIMIT), no_count(ABSENT_NO_LIMIT), NAN})));
}

static void nine_tenths_of_the_cpus_leave_no_room(void **state)
{
	(void)state;
	begin(1, 3.59, 1);
	try_room(0, 10, 0, 0);
	begin(1, 3.6, 1);
	try_room(10, 0, 1, 0);
	assert_about(course.full_core_secs, 36);
	assert_about(course.others_core_secs, 26);
	assert_true(cpu_course_taken(&course));
	begin(1.8, 3.6, 1);
	try_room(10, 0, 1, 0);
	assert_false(cpu_course_taken(&course));
	/* The two meters may differ a little. */
	begin(4, 3.9, 1);
	try_room(10, 0, 1, 0);
	assert_about(course.others_core_secs, 0);
	begin(3.6, NAN, 1);
	try_room(10, 0, 1, 0);
	assert_about(course.full_core_secs, 0);
	begin(3.59, NAN, 1);
	try_room(0, 0, 0, 1);
	begin(NAN, 3.6, 1);
	try_room(10, 0, 1, 0);
	assert_about(course.full_core_secs, 0);
	begin(1, 3.6, 1);
	bounds.core_count = no_count(ABSENT_NOT_COLLECTED);
	try_room(0, 0, 0, 1);
}

static void a_limit_leaves_no_room(void **state)
{
	struct cgroup_row *cgroup;

	(void)state;
	begin(1.8, 2, 1);
	bounds.limit_cores = 2;
	try_room(10, 0, 1, 0);
	begin(1.79, 2, 1);
	bounds.limit_cores = 2;
	try_room(0, 10, 0, 0);
	begin(1, 2, 1);
	cgroup = ADD_ROW(&frame, cgroup, NULL);
	try_room(0, 10, 0, 0);
	cgroup->throttled_secs = 0.99;
	try_room(0, 10, 0, 0);
	cgroup->throttled_secs = 1;
	try_room(10, 0, 1, 0);
}

static void a_cpuset_has_no_room_if_the_machine_has_less(void **state)
{
	(void)state;
	begin(1, 3.79, 1);
	bounds.cpuset_cores = 2;
	try_room(0, 0, 0, 1);
	begin(1, 3.81, 1);
	bounds.cpuset_cores = 2;
	try_room(10, 0, 1, 0);
	begin(1.8, 2, 1);
	bounds.cpuset_cores = 2;
	try_room(10, 0, 1, 0);
	/* A cpuset of all CPUs confines nothing. */
	begin(1, 2, 1);
	bounds.cpuset_cores = 4;
	try_room(0, 10, 0, 0);
}

static void try_one_core(double expected)
{
	take();
	assert_about(course.one_core_secs, expected);
}

static void one_core_by_its_own_choice(void **state)
{
	static const struct {
		double job, secs;
	} CASES[] = {{0.749, 0}, {0.75, 10}, {1.15, 10}, {1.151, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		begin(CASES[i].job, 2, 9);
		try_one_core(CASES[i].secs);
	}
	/* Without room, by choice only if it hardly waited. */
	begin(1, 3.6, 2);
	try_one_core(0);
	begin(1, 3.6, 1.99);
	try_one_core(10);
	begin(1, 3.6, NAN);
	try_one_core(0);
	begin(1, NAN, 2);
	try_one_core(0);
	begin(1, NAN, 1.99);
	try_one_core(10);
	begin(1, NAN, NAN);
	try_one_core(10);
	assert_false(course.has_pressure);
}

static double wanted_core_secs(void)
{
	double sum = 0;

	for (size_t i = 0; i < SHAPE_CLASSES; i++)
		sum += course.wanted.weighted[i];
	return sum;
}

static void one_more_core_is_wanted_while_a_thread_waits_in_vain(void **state)
{
	(void)state;
	begin(1, 3.6, 5);
	take();
	assert_about(wanted_core_secs(), 15);
	begin(1, 3.6, 12);
	take();
	assert_about(wanted_core_secs(), 20);
	begin(1, 3.5, 5);
	take();
	assert_about(wanted_core_secs(), 10);
	begin(1, 3.6, NAN);
	take();
	assert_about(wanted_core_secs(), 10);
}

/* NaN: the threads' waiting is unknown. */
static void try_threads(double run_secs, double known_secs, double wait_secs, double expected)
{
	begin(1, 3.6, 1);
	set_own(run_secs, known_secs, wait_secs);
	take();
	assert_int_equal(course.has_threads, !isnan(expected));
	assert_about(course.threads_wait_secs, isnan(expected) ? 0 : expected);
	assert_about(course.threads_run_secs, isnan(expected) ? 0 : run_secs);
}

static void threads_that_were_not_read_waited_as_those_that_were(void **state)
{
	(void)state;
	try_threads(8, 8, 2, 2);
	try_threads(8, 9, 2, 2);
	try_threads(8, 6.4, 2, 2.5);
	try_threads(8, 4, 2, 4);
	try_threads(8, 3.99, 2, NAN);
	try_threads(8, NAN, 2, NAN);
	try_threads(8, 8, NAN, NAN);
	try_threads(NAN, 8, 2, NAN);
	/* An idle job needs no such part, and at most doubles it. */
	try_threads(0.2, 0, 2, 2);
	try_threads(0.2, 0.05, 2, 4);
	try_threads(0.201, 0, 2, NAN);
	/* While a CPU is free, they count apart. */
	begin(1, 2, 1);
	set_own(8, 8, 2);
	take();
	assert_true(course.has_threads);
	assert_about(course.threads_wait_secs, 0);
}

static void try_waited(double pressure_secs, double run_secs, double wait_secs, double expected)
{
	begin(1, 3.6, pressure_secs);
	set_own(run_secs, run_secs, wait_secs);
	try_room(10, 0, expected, 0);
}

static void own_threads_limit_the_pressure(void **state)
{
	(void)state;
	try_waited(9, 9, 1, 1);
	try_waited(9, 9, 0.99, 0);
	try_waited(0.5, 9, 1, 0.5);
	try_waited(NAN, 9, 1, 1);
	try_waited(NAN, 9, 30, 10);
	try_waited(20, 9, 30, 10);
	begin(1, 3.6, 9);
	course = (struct cpu_course){0};
	cpu_course_add(&course, &frame, &bounds, false);
	assert_false(course.has_pressure);
}

static void try_confined(double pressure_secs, double wait_secs, int64_t forced, int64_t chosen,
			 bool confined)
{
	begin(1, 2, pressure_secs);
	set_own(7, 7, wait_secs);
	tree->process_involuntary_switches = forced;
	tree->process_voluntary_switches = chosen;
	take();
	assert_about(course.confined_secs, confined ? fmin(pressure_secs, wait_secs) : 0);
	assert_about(course.confined_wait_secs, confined ? wait_secs : 0);
	assert_about(course.confined_run_secs, confined ? 7 : 0);
	assert_about(course.one_core_secs, confined ? 0 : 10);
}

static void forced_switches_beside_a_free_cpu_confine_a_job(void **state)
{
	(void)state;
	try_confined(9, 3, 20, 10, true);
	try_confined(2, 3, 20, 10, true);
	try_confined(1.99, 3, 20, 10, false);
	try_confined(9, 2.99, 20, 10, false);
	try_confined(9, 3, 19, 10, false);
	try_confined(9, 3, 2, 0, true);
	try_confined(9, 3, 1, 0, false);
	try_confined(9, 3, no_count(ABSENT_NOT_COLLECTED), 10, false);
	try_confined(9, 3, 20, no_count(ABSENT_NOT_COLLECTED), false);
	/* Without a free CPU it is a shortage. */
	begin(1, 3.6, 9);
	set_own(7, 7, 3);
	tree->process_involuntary_switches = 20;
	tree->process_voluntary_switches = 10;
	try_room(10, 0, 3, 0);
	assert_about(course.confined_secs, 0);
}

static void a_sample_without_rows_or_length_counts_for_nothing(void **state)
{
	(void)state;
	begin(1, 3.6, 1);
	frame.sample->actual_interval_ms = 0;
	take();
	assert_about(course.full_secs, 0);
	assert_false(course.has_pressure);
	frame_begin(&frame, 0, 0);
	frame.sample->actual_interval_ms = 10000;
	take();
	assert_about(course.full_secs + course.free_secs + course.one_core_secs, 0);
	assert_false(course.has_pressure || course.has_threads);
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lowest_bound_counts),
		cmocka_unit_test(nine_tenths_of_the_cpus_leave_no_room),
		cmocka_unit_test(a_limit_leaves_no_room),
		cmocka_unit_test(a_cpuset_has_no_room_if_the_machine_has_less),
		cmocka_unit_test(one_core_by_its_own_choice),
		cmocka_unit_test(one_more_core_is_wanted_while_a_thread_waits_in_vain),
		cmocka_unit_test(threads_that_were_not_read_waited_as_those_that_were),
		cmocka_unit_test(own_threads_limit_the_pressure),
		cmocka_unit_test(forced_switches_beside_a_free_cpu_confine_a_job),
		cmocka_unit_test(a_sample_without_rows_or_length_counts_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
