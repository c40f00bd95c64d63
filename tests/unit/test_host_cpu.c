/* Tests of src/collect/host_cpu.c and process_count.c: CPUs of the machine, from files that this test writes. */
#include "lone_collector.h"

#include <errno.h>

extern const struct collector HOST_CPU_COLLECTOR;

#define COUNTS "ctxt 5000\nprocs_running 3\nprocs_blocked 2\n"

static const struct host_cpu_row *cpus_at(double secs, const char *stat)
{
	put_text("proc/stat", stat);
	return FIRST(lone_sample(secs), host_cpu);
}

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone.root.clock_ticks = 100;
	lone_open(&HOST_CPU_COLLECTOR);
	return 0;
}

/* Each column has another number: user nice system idle iowait irq softirq steal. */
static void the_columns_of_a_line_are_seconds(void **state)
{
	const struct host_cpu_row *row;
	const struct cpu_core_row *core;

	(void)state;
	put_text("proc/loadavg", "1.25 0.50 0.25 1/2 3\n");
	row = cpus_at(
		0,
		"cpu 100 20 300 4000 500 60 7 800 90 10\ncpu0 1 0 0 0 0 0 0 0\ncpu3 100 20 300 4000 500 60 7 "
		"800 90 10\n" COUNTS);
	assert_real(row->utime_total_secs, 1.2);
	assert_real(row->stime_total_secs, 3);
	assert_real(row->iowait_total_secs, 5);
	assert_real(row->irq_total_secs, 0.67);
	assert_real(row->steal_total_secs, 8);
	assert_real(row->row.counted_secs, 57.87);
	assert_int_equal(row->context_switches_total, 5000);
	assert_int_equal(row->runnable_count, 3);
	assert_int_equal(row->blocked_count, 2);
	assert_real(row->load_1m, 1.25);
	assert_int_equal(row->row.cpus, 2);
	assert_int_equal(lone.frame.cpus, 2);
	core = FIRST(&lone.frame, cpu_core);
	assert_int_equal(core->row.number, 0);
	assert_real(core->row.counted_secs, 0.01);
	assert_real(core->busy_percent_secs, 100 * 1000.0);
	core = NEXT(core, cpu_core);
	assert_int_equal(core->row.number, 3);
	assert_int_equal(core->row.cpus, 1);
	assert_int_equal(core->row.read_ns, lone.now_ns);
	assert_real(core->row.counted_secs, 57.87);
	/* It idled for 45 of the machine's 1000 seconds. */
	assert_real(core->busy_percent_secs, 100 * (1000 - 45.0));
	assert_null(core->row.next);
}

static void busy_time_is_that_of_the_cpus_that_were_there(void **state)
{
	const struct host_cpu_row *row;

	(void)state;
	row = cpus_at(0, "cpu 0 0 1 100 0\ncpu0 0 0 1 50 0\ncpu1 0 0 0 50 0\n");
	assert_real(row->busy_secs, -1);
	row = cpus_at(10, "cpu 0 0 1 500 100\ncpu0 0 0 1 50 0\ncpu1 0 0 0 50 0\n");
	assert_real(row->busy_secs, 20 - 6);
	/* A third one came. */
	row = cpus_at(12, "cpu 0 0 1 500 100\ncpu0 0 0 1 50 0\ncpu1 0 0 0 50 0\ncpu2 0 0 0 0 0\n");
	assert_real(row->busy_secs, 20 + 6 - 6);
	assert_int_equal(row->row.read_ns, lone.now_ns);
	lone_begin(13)->cpus = 5;
	(void)lone_fill();
	assert_int_equal(lone.frame.cpus, 5);
}

static void counters_that_stand_still_tell_nothing(void **state)
{
	const struct host_cpu_row *row = cpus_at(
		0, "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\nctxt 0\nprocs_running 0\nprocs_blocked 0\n");

	(void)state;
	assert_absent_real(row->busy_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(row->utime_total_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(row->stime_total_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(row->iowait_total_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(row->irq_total_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(row->steal_total_secs, ABSENT_NOT_COUNTED);
	assert_absent_real(FIRST(&lone.frame, cpu_core)->busy_percent_secs, ABSENT_NOT_COUNTED);
	assert_absent_count(row->context_switches_total, ABSENT_NOT_COUNTED);
	assert_absent_count(row->runnable_count, ABSENT_NOT_COUNTED);
	assert_absent_count(row->blocked_count, ABSENT_NOT_COUNTED);
	/* A zero beside a running thread is a count. */
	row = cpus_at(1, "cpu 1 0 0 0\nprocs_running 1\nprocs_blocked 0\n");
	assert_int_equal(row->runnable_count, 1);
	assert_int_equal(row->blocked_count, 0);
}

static void a_short_line_lacks_its_last_columns(void **state)
{
	const struct host_cpu_row *row = cpus_at(0, "cpu 100 20 300\ncpu0 100 20 300\n");

	(void)state;
	assert_real(row->utime_total_secs, 1.2);
	assert_real(row->stime_total_secs, 3);
	assert_absent_real(row->busy_secs, ABSENT_NOT_COLLECTED);
	assert_absent_real(row->iowait_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->irq_total_secs, ABSENT_NOT_COLLECTED);
	assert_absent_real(row->steal_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(FIRST(&lone.frame, cpu_core)->busy_percent_secs, ABSENT_NOT_COUNTED);
	assert_absent_count(row->context_switches_total, ABSENT_NOT_COLLECTED);
	assert_absent_count(row->runnable_count, ABSENT_NOT_COLLECTED);
	assert_absent_count(row->blocked_count, ABSENT_NO_SUCH_COUNTER);
	/* Zero is a count, too. */
	row = cpus_at(1, "cpu 0 0 0 0 0 0 1 0\ncpu0 0 0 0 0 0 0 1 0\n");
	assert_real(row->utime_total_secs, 0);
	assert_real(row->irq_total_secs, 0.01);
	assert_real(row->busy_secs, 1);
	assert_real(FIRST(&lone.frame, cpu_core)->busy_percent_secs, 100 * 1001.0);
	row = cpus_at(1, "ctxt 7\n");
	assert_absent_real(row->busy_secs, ABSENT_NOT_COUNTED);
	assert_int_equal(row->context_switches_total, 7);
}

static void without_the_file_the_reason_is_told(void **state)
{
	const struct host_cpu_row *row = FIRST(lone_sample(0), host_cpu);

	(void)state;
	assert_absent_real(row->busy_secs, ENOENT);
	assert_absent_real(row->load_1m, ENOENT);
	assert_int_equal(lone.frame.missing[ROW_cpu_core], ENOENT);
	assert_int_equal(lone.frame.cpus, 0);
	put_text("proc/stat", "nothing\n");
	assert_absent_real(FIRST(lone_sample(0), host_cpu)->busy_secs, EBADMSG);
}

/* ---- readings that are interrupted ------------------------------------------------------------------------- */

static int readings;
static int64_t reading_ns;

static int64_t slow_clock(void *unused)
{
	(void)unused;
	lone.now_ns += reading_ns;
	readings++;
	return lone.now_ns;
}

static int clock_reads(int64_t ns)
{
	put_text("proc/stat", "cpu 1 0 0 9\n");
	lone.root.clocks.monotonic_ns = slow_clock;
	lone.context.progress.baseline = true;
	reading_ns = ns;
	readings = 0;
	(void)lone_sample(1);
	return readings;
}

/* The clock is read before and after. The third reading is taken as it is. */
static void an_interrupted_reading_is_repeated(void **state)
{
	(void)state;
	assert_int_equal(clock_reads(2 * NSEC_PER_MSEC), 2);
	assert_int_equal(clock_reads(2 * NSEC_PER_MSEC + 1), 6);
	remove("proc/stat");
	lone.collector->close(lone.state);
	lone_open(&HOST_CPU_COLLECTOR);
	readings = 0;
	(void)lone_sample(1);
	assert_int_equal(readings, 2);
}

/* ---- processes --------------------------------------------------------------------------------------------- */

static void processes_are_counted_by_their_folders(void **state)
{
	(void)state;
	lone.context.progress.baseline = true;
	assert_absent_count(cpus_at(0, "cpu 1 0 0 9\n")->process_count, ABSENT_NOT_COLLECTED);
	lone.context.progress.baseline = false;
	assert_absent_count(FIRST(lone_sample(0), host_cpu)->process_count, ABSENT_NOT_COLLECTED);
	mkdir("proc/1", 0755), mkdir("proc/97", 0755), mkdir("proc/9", 0755);
	mkdir("proc/0", 0755), mkdir("proc/:", 0755), mkdir("proc/self", 0755);
	assert_int_equal(FIRST(lone_sample(1), host_cpu)->process_count, 3);
	assert_int_equal(rename("proc", "gone"), 0);
	assert_absent_count(FIRST(lone_sample(2), host_cpu)->process_count, ENOENT);
}

/* Counting may take a hundredth of the time. */
static void many_processes_are_counted_rarely(void **state)
{
	(void)state;
	mkdir("proc/1", 0755);
	(void)lone_begin(1);
	lone.root.clocks.monotonic_ns = slow_clock;
	reading_ns = NSEC_PER_MSEC / 4;
	(void)lone_fill();
	assert_int_equal(FIRST(&lone.frame, host_cpu)->process_count, 1);
	reading_ns = 0;
	mkdir("proc/2", 0755);
	/* It took a quarter of a millisecond. */
	(void)lone_begin(1);
	lone.now_ns += NSEC_PER_MSEC + 24 * NSEC_PER_MSEC;
	(void)lone_fill();
	assert_int_equal(FIRST(&lone.frame, host_cpu)->process_count, 1);
	(void)lone_begin(1);
	lone.now_ns += NSEC_PER_MSEC + 26 * NSEC_PER_MSEC;
	(void)lone_fill();
	assert_int_equal(FIRST(&lone.frame, host_cpu)->process_count, 2);
}

#define cpu_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cpu_test(the_columns_of_a_line_are_seconds),
		cpu_test(busy_time_is_that_of_the_cpus_that_were_there),
		cpu_test(counters_that_stand_still_tell_nothing),
		cpu_test(a_short_line_lacks_its_last_columns),
		cpu_test(without_the_file_the_reason_is_told),
		cpu_test(an_interrupted_reading_is_repeated),
		cpu_test(processes_are_counted_by_their_folders),
		cpu_test(many_processes_are_counted_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
