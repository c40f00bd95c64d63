/* Tests of src/collect/process_count.c: processes by the entries of /proc, and how often these are read. */
#include "lone_collector.h"

#include <errno.h>

#include "collect/process_count.h"
#include "metric/absent.h"

static struct process_counter counter;

static int begin(void **state)
{
	process_counter_open(&counter);
	return lone_enter(state);
}

/* The clock goes on by this much between the two looks at it. */
static int64_t step_ns;

static int64_t stepping_clock(void *unused)
{
	(void)unused;
	return lone.now_ns += step_ns;
}

static int64_t read_count(void)
{
	return process_counter_read(&counter, &lone.root);
}

static void numbers_alone_are_processes(void **state)
{
	(void)state;
	mkdir("proc/1", 0755);
	mkdir("proc/42", 0755);
	mkdir("proc/9", 0755);
	mkdir("proc/0", 0755);
	mkdir("proc/sys", 0755);
	put_text("proc/:", "");
	assert_int_equal(read_count(), 3);
}

static void without_processes_the_count_is_absent(void **state)
{
	(void)state;
	assert_int_equal(count_absent(read_count()), ABSENT_NOT_COLLECTED);
	process_counter_open(&counter);
	rmdir("proc");
	assert_int_equal(count_absent(read_count()), ENOENT);
}

/* A reading of 1 ms may come again after 100. */
static void entries_are_read_for_a_hundredth_of_the_time(void **state)
{
	(void)state;
	lone.root.clocks.monotonic_ns = stepping_clock;
	step_ns = NSEC_PER_MSEC;
	mkdir("proc/1", 0755);
	assert_int_equal(read_count(), 1);
	mkdir("proc/2", 0755);
	step_ns = 0;
	lone.now_ns += 100 * NSEC_PER_MSEC - 1;
	assert_int_equal(read_count(), 1);
	lone.now_ns += 1;
	assert_int_equal(read_count(), 2);
}

/* A count of 0 is a count as well; a reading that failed is repeated at once. */
static void a_failed_reading_is_repeated_at_once(void **state)
{
	(void)state;
	lone.root.clocks.monotonic_ns = stepping_clock;
	step_ns = NSEC_PER_MSEC;
	assert_int_equal(count_absent(read_count()), ABSENT_NOT_COLLECTED);
	mkdir("proc/1", 0755);
	assert_int_equal(count_absent(read_count()), ABSENT_NOT_COLLECTED);
	lone.now_ns += NSEC_PER_SEC;
	assert_int_equal(read_count(), 1);
	rename("proc", "away");
	lone.now_ns += NSEC_PER_SEC;
	assert_int_equal(count_absent(read_count()), ENOENT);
	rename("away", "proc");
	assert_int_equal(read_count(), 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_alone_are_processes, begin, lone_leave),
		cmocka_unit_test_setup_teardown(without_processes_the_count_is_absent, begin, lone_leave),
		cmocka_unit_test_setup_teardown(a_failed_reading_is_repeated_at_once, begin, lone_leave),
		cmocka_unit_test_setup_teardown(entries_are_read_for_a_hundredth_of_the_time, begin,
						lone_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
