/* Tests of src/collect/machine_summary.c and self_usage.c: the machine as a plain struct, and the cost of recording. */
#include "lone_collector.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "collect/machine_summary.h"
#include "collect/self_usage.h"
#include "job/cpu/own_cost.h"

extern const struct collector SELF_USAGE_COLLECTOR;

static void add_disk(int64_t counted, int64_t read, int64_t written)
{
	struct disk_row *row = ADD_ROW(&lone.frame, disk, NULL);

	row->counted = counted;
	row->read_bytes_total = read;
	row->write_bytes_total = written;
}

static void add_interface(int64_t counted, int64_t received, int64_t sent)
{
	struct network_row *row = ADD_ROW(&lone.frame, network, NULL);

	row->counted = counted;
	row->rx_bytes_total = received;
	row->tx_bytes_total = sent;
}

static void amounts_are_told_in_bytes(void **state)
{
	struct rt_system found;
	struct memory_row *memory;
	struct host_cpu_row *cpu;

	(void)state;
	frame_begin(&lone.frame, 0, 1500 * NSEC_PER_MSEC);
	memory = ADD_ROW(&lone.frame, memory, NULL);
	memory->total_mib = 8, memory->free_mib = 1, memory->available_mib = 2, memory->used_mib = 3;
	memory->buffers_mib = 4, memory->cached_mib = 5, memory->active_mib = 0.5;
	memory->inactive_mib = no_real(ENOENT);
	cpu = SINGLE_ROW(&lone.frame, host_cpu);
	cpu->utime_total_secs = 7.5, cpu->stime_total_secs = 8.5, cpu->process_count = 9;
	SINGLE_ROW(&lone.frame, totals)->disk_space_total_gb = 3;
	SINGLE_ROW(&lone.frame, totals)->disk_space_used_gb = 2;
	SINGLE_ROW(&lone.frame, totals)->disk_space_free_gb = 0.9999999996;
	machine_summary(&lone.frame, &found);
	assert_real(found.realtime_secs, 1.5);
	assert_real(found.user_secs, 7.5);
	assert_real(found.system_secs, 8.5);
	assert_int_equal(found.process_count, 9);
	assert_int_equal(found.memory_total_bytes, 8 << 20);
	assert_int_equal(found.memory_free_bytes, 1 << 20);
	assert_int_equal(found.memory_available_bytes, 2 << 20);
	assert_int_equal(found.memory_used_bytes, 3 << 20);
	assert_int_equal(found.memory_buffers_bytes, 4 << 20);
	assert_int_equal(found.memory_cached_bytes, 5 << 20);
	assert_int_equal(found.memory_active_bytes, 1 << 19);
	assert_int_equal(found.memory_inactive_bytes, -1);
	assert_int_equal(found.disk_space_total_bytes, INT64_C(3000000000));
	assert_int_equal(found.disk_space_used_bytes, INT64_C(2000000000));
	/* The nearest whole number. */
	assert_int_equal(found.disk_space_free_bytes, INT64_C(1000000000));
	assert_int_equal(found.disk_read_bytes, -1);
	assert_int_equal(found.network_sent_bytes, -1);
}

static void only_counted_devices_are_added_up(void **state)
{
	struct rt_system found;

	(void)state;
	frame_begin(&lone.frame, 0, 0);
	add_disk(1, 10, 20), add_disk(0, 1000, 1000), add_disk(1, 0, no_count(EBADMSG)),
		add_disk(no_count(ENOENT), 500, 500);
	add_disk(1, 3, 4);
	add_interface(0, 100, 100), add_interface(1, 5, 6), add_interface(1, 7, 8);
	machine_summary(&lone.frame, &found);
	assert_int_equal(found.disk_read_bytes, 13);
	assert_int_equal(found.disk_write_bytes, 24);
	assert_int_equal(found.network_received_bytes, 12);
	assert_int_equal(found.network_sent_bytes, 14);
}

static void missing_rows_are_unknown(void **state)
{
	struct rt_system found;

	(void)state;
	frame_begin(&lone.frame, 0, 0);
	machine_summary(&lone.frame, &found);
	assert_true(isnan(found.user_secs) && isnan(found.system_secs));
	assert_int_equal(found.process_count, -1);
	assert_int_equal(found.memory_total_bytes, -1);
	assert_int_equal(found.disk_space_free_bytes, -1);
	SINGLE_ROW(&lone.frame, host_cpu)->process_count = no_count(EACCES);
	machine_summary(&lone.frame, &found);
	assert_int_equal(found.process_count, -1);
	SINGLE_ROW(&lone.frame, host_cpu)->process_count = 0;
	machine_summary(&lone.frame, &found);
	assert_int_equal(found.process_count, 0);
}

/* ---- the cost of recording --------------------------------------------------------------------------------- */

static double own_secs(void)
{
	struct timespec time;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const struct tracker_row *cost(void)
{
	(void)lone_begin(1);
	lone.now_ns += 2500 * NSEC_PER_USEC;
	return FIRST(lone_fill(), tracker);
}

static void the_cost_is_that_of_the_recorder_and_its_helpers(void **state)
{
	const struct tracker_row *row;
	double before;

	(void)state;
	lone_open(&SELF_USAGE_COLLECTOR);
	lone.context.helper_count = 2;
	lone.context.helper_cpu_ns = 100 * NSEC_PER_SEC;
	lone.context.progress.dropped = 3;
	before = own_secs();
	row = cost();
	assert_true(row->cpu_total_secs >= before + 100 && row->cpu_total_secs <= own_secs() + 100);
	assert_int_equal(row->helpers, 2);
	assert_int_equal(row->dropped_samples, 3);
	assert_real(row->sample_ms, 2.5);
	/* A captured machine does not tell of this process. */
	assert_absent_real(row->rss_mib, ENOENT);
	/* The use of a process that only records begins with the recording. */
	lone.context.own_process = true;
	assert_true(cost()->cpu_total_secs > 100);
	lone.context.progress.baseline = true;
	assert_true(cost()->cpu_total_secs == 0);
	lone.context.own_process = false;
	assert_true(cost()->cpu_total_secs > 100);
}

static void in_another_program_the_cost_is_that_of_the_thread(void **state)
{
	struct own_cost own = {.spent.of = {[USAGE_CPU_NS] = 7 * NSEC_PER_SEC}};

	(void)state;
	lone.context.in_program = true;
	lone.context.own_cost = &own;
	lone_open(&SELF_USAGE_COLLECTOR);
	assert_real(cost()->cpu_total_secs, 7);
	assert_absent_real(cost()->rss_mib, ABSENT_IN_PROGRAM);
	own.spent.of[USAGE_CPU_NS] = 9 * NSEC_PER_SEC;
	self_usage_begin(&lone.context, &lone.frame);
	assert_real(FIRST(&lone.frame, tracker)->cpu_total_secs, 9);
	self_usage_begin(&lone.context, lone_begin(2));
	assert_null(FIRST(&lone.frame, tracker));
}

static void the_memory_of_the_recorder_is_read_on_a_live_system(void **state)
{
	(void)state;
	put_below("proc/self/statm", "5000 512 100 1 0 300 0\n");
	lone.root.live = true;
	lone.root.page_bytes = 4096;
	lone_open(&SELF_USAGE_COLLECTOR);
	assert_real(cost()->rss_mib, 2);
	put_text("proc/self/statm", "none\n");
	assert_absent_real(cost()->rss_mib, EBADMSG);
}

#define summary_test(test) cmocka_unit_test_setup_teardown(test, lone_enter, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		summary_test(amounts_are_told_in_bytes),
		summary_test(only_counted_devices_are_added_up),
		summary_test(missing_rows_are_unknown),
		summary_test(the_cost_is_that_of_the_recorder_and_its_helpers),
		summary_test(in_another_program_the_cost_is_that_of_the_thread),
		summary_test(the_memory_of_the_recorder_is_read_on_a_live_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
