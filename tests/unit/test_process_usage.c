/* Tests of src/collect/process_usage.c: the counts and times of the job's row, of members that the test lays into the table. */
#include "job_processes.h"

#include <errno.h>

#include "collect/collector.h"
#include "collect/process_usage.h"
#include "metric/typed_rows.h"

extern const struct collector PROCESS_USAGE_COLLECTOR;

#define assert_real(value, expected) assert_true((value) - (expected) < 1e-6 && (expected) - (value) < 1e-6)
#define assert_absent_real(value, reason) assert_int_equal(real_absent(value), reason)
#define assert_absent_count(value, reason) assert_int_equal(count_absent(value), reason)

static struct collect_context context;
static struct run_ending ending;
static struct frame frame;
static void *collector;

/* Process 100 is the job's first one. */
static int begin(void **state)
{
	if (begin_job(state) < 0)
		return -1;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .threads = 3});
	put_below_proc(PIDS + 100, "statm", "4096 512 0 0 0 0 0\n");
	put_children(100, 100, "");
	ending = (struct run_ending){0};
	context = (struct collect_context){.root = &job_root, .tree = tree, .ending = &ending};
	assert_int_equal(process_tree_seed(tree, PIDS + 100, true), 0);
	return PROCESS_USAGE_COLLECTOR.open(&context, &collector);
}

static int end(void **state)
{
	frame_done(&frame);
	frame = (struct frame){0};
	PROCESS_USAGE_COLLECTOR.close(collector);
	return end_job(state);
}

static const struct tree_row *row_now(void)
{
	clock_ns += NSEC_PER_SEC;
	frame_begin(&frame, clock_ns, 0);
	(void)SINGLE_ROW(&frame, host_cpu);
	(void)SINGLE_ROW(&frame, tracker);
	PROCESS_USAGE_COLLECTOR.collect(collector, &context, &frame);
	assert_int_equal(frame.error, 0);
	return FIRST(&frame, tree);
}

static void members_are_counted_by_their_kind(void **state)
{
	const struct tree_row *row = row_now();

	(void)state;
	assert_int_equal(row->process_child_count, 0);
	assert_int_equal(row->process_thread_count, 3);
	assert_int_equal(row->process_main_thread_count, 3);
	assert_real(row->process_main_rss_mib, 2);
	put_process((struct written){.pid = 200, .parent = 100, .start = 11, .threads = 2});
	put_process((struct written){.pid = 300, .parent = 100, .start = 12, .threads = 1, .state = 'Z'});
	put_children(100, 100, "7000200 7000300 ");
	put_children(200, 200, "");
	row = row_now();
	assert_members("100 200 300");
	assert_int_equal(row->process_child_count, 1);
	assert_int_equal(row->process_thread_count, 5);
	/* The first process is a zombie: the other ones are its children still. */
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .state = 'Z'});
	row = row_now();
	assert_int_equal(row->process_child_count, 1);
	assert_int_equal(row->process_thread_count, 2);
	assert_int_equal(row->process_main_thread_count, 0);
	assert_absent_real(row->process_main_rss_mib, ABSENT_ZOMBIE);
	remove_process(100);
	row = row_now();
	assert_int_equal(row->process_child_count, 1);
	assert_int_equal(row->process_main_thread_count, 0);
}

/* In hundredths of a second of user and of system time. */
static void times_of_the_first_process_are_told(void **state)
{
	const struct tree_row *row;

	(void)state;
	put_process((struct written){.pid = 100, .parent = -1, .start = 10, .user_ticks = 500});
	row = row_now();
	assert_real(row->main_utime_total_secs, 5);
	assert_real(row->main_stime_total_secs, 0);
	assert_real(row->cpu_total_secs, 5);
	remove_process(100);
	row = row_now();
	assert_real(row->main_utime_total_secs, 5);
	assert_real(row->cpu_total_secs, 5);
}

static void waiting_has_its_values_or_a_reason(void **state)
{
	struct tree_waiting *waiting = &tree->cpu.waiting;
	const struct tree_row *row = row_now();

	(void)state;
	assert_absent_real(row->cpu_wait_total_secs, ABSENT_NOT_WANTED);
	assert_absent_count(row->involuntary_switches_total, ABSENT_NOT_WANTED);
	/* The process has no such file. */
	waiting->is_followed = true;
	row = row_now();
	assert_absent_real(row->cpu_wait_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->cpu_wait_known_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(row->voluntary_switches_total, ABSENT_NO_SUCH_COUNTER);
	waiting->has_times = true;
	waiting->total.wait_ns = 2 * NSEC_PER_SEC;
	waiting->total.run_ns = 3 * NSEC_PER_SEC;
	row = row_now();
	assert_real(row->cpu_wait_total_secs, 2);
	assert_real(row->cpu_wait_known_total_secs, 3);
	assert_absent_count(row->voluntary_switches_total, ABSENT_NO_SUCH_COUNTER);
	waiting->has_switches = true;
	waiting->total.voluntary = 4;
	waiting->total.involuntary = 5;
	row = row_now();
	assert_int_equal(row->voluntary_switches_total, 4);
	assert_int_equal(row->involuntary_switches_total, 5);
}

static void without_a_job_the_row_has_the_reason(void **state)
{
	const struct tree_row *row;

	(void)state;
	context.tree = NULL;
	row = row_now();
	assert_absent_real(row->process_memory_mib, ABSENT_NOT_TRACKED);
	assert_absent_count(row->process_child_count, ABSENT_NOT_TRACKED);
	assert_absent_real(FIRST(&frame, tracker)->process_age_secs, ABSENT_NOT_TRACKED);
	assert_absent_real(FIRST(&frame, tracker)->pss_age_secs, ABSENT_NOT_TRACKED);
}

static void counters_of_a_run_begin_at_zero(void **state)
{
	struct tree_row *row;

	(void)state;
	frame_begin(&frame, clock_ns, 0);
	process_usage_begin(&frame);
	assert_null(FIRST(&frame, tree));
	(void)SINGLE_ROW(&frame, host_cpu);
	row = SINGLE_ROW(&frame, tree);
	process_usage_begin(&frame);
	assert_real(row->cpu_total_secs, 0);
	assert_real(row->main_stime_total_secs, 0);
	assert_int_equal(row->read_bytes_total, 0);
	assert_int_equal(row->written_chars_total, 0);
	assert_int_equal(row->voluntary_switches_total, 0);
	assert_int_equal(row->net_connections_total, 0);
	assert_real(row->cpu_energy_total_joules, 0);
}

static void waiting_is_followed_for_each_of_its_metrics(void **state)
{
	static struct selection selection;

	(void)state;
	assert_false(process_usage_follows_waiting(&selection));
#define try_wanted(metric) \
	do { \
		IS_WANTED(&selection, tree, metric) = true; \
		assert_true(process_usage_follows_waiting(&selection)); \
		IS_WANTED(&selection, tree, metric) = false; \
	} while (0)
	try_wanted(process_cpu_wait_secs);
	try_wanted(process_cpu_wait_known_secs);
	try_wanted(process_voluntary_switches);
	try_wanted(process_involuntary_switches);
	selection.kinds[ROW_run_end] = true;
	assert_true(process_usage_follows_waiting(&selection));
}

#define ROW_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(members_are_counted_by_their_kind),
		ROW_TEST(times_of_the_first_process_are_told),
		ROW_TEST(waiting_has_its_values_or_a_reason),
		ROW_TEST(without_a_job_the_row_has_the_reason),
		ROW_TEST(counters_of_a_run_begin_at_zero),
		ROW_TEST(waiting_is_followed_for_each_of_its_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
