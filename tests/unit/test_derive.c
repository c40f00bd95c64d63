/* Tests of src/metric/derive.c: each kind of change from earlier frames. */
#include <errno.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "metric/derive.h"
#include "metric/typed_rows.h"
#include "unit.h"

/* Returns a frame at a time when the tree and the machine have used that much CPU time since the start. */
static struct frame frame_at(double secs, double tree_cpu_secs, int64_t read_bytes)
{
	struct frame frame = {0};
	struct disk_row *disk;
	struct tree_row *tree;

	frame_begin(&frame, (int64_t)(secs * 1e9), 0);
	tree = SINGLE_ROW(&frame, tree);
	tree->cpu_total_secs = tree_cpu_secs;
	tree->utime_total_secs = tree_cpu_secs;
	disk = ADD_ROW(&frame, disk, NULL);
	disk->device = "sda";
	disk->counted = 1;
	disk->read_bytes_counter = read_bytes;
	return frame;
}

static const struct tree_row *tree_of(const struct frame *frame)
{
	return (const struct tree_row *)(const void *)frame->first[ROW_tree];
}

static const struct disk_row *disk_of(const struct frame *frame)
{
	return (const struct disk_row *)(const void *)frame->first[ROW_disk];
}

#define EXPECT_REAL(got, wanted) assert_true((got) > (wanted)-1e-6 && (got) < (wanted) + 1e-6)

static void each_kind_has_its_own_earlier_frame(void **state)
{
	struct frame oldest = frame_at(1, 0.2, 1000), last = frame_at(2, 1.2, 3000),
		     now = frame_at(2.5, 1.9, 4500);

	(void)state;
	derive(&now, &(struct earlier_frames){&last, &last, &oldest});
	EXPECT_REAL(tree_of(&now)->process_utime_secs, 0.7);
	EXPECT_REAL(tree_of(&now)->process_cores_used, 1.4);
	EXPECT_REAL(disk_of(&now)->read_bytes_per_sec, 3500 / 1.5);
	frame_done(&oldest);
	frame_done(&last);
	frame_done(&now);
}

/*
 * The time of reaped children comes in clock ticks. A tick that arrives 0.8 ms after our last sample does not
 * mean five cores.
 */
static void an_end_just_after_a_tick_makes_no_own_rate(void **state)
{
	struct frame before = frame_at(4, 2, 0), last = frame_at(5, 3, 0), end = frame_at(5.0008, 3.0044, 0);

	(void)state;
	derive(&end, &(struct earlier_frames){&last, &before, &before});
	EXPECT_REAL(tree_of(&end)->process_utime_secs, 0.0044);
	EXPECT_REAL(tree_of(&end)->process_cores_used, 1.0044 / 1.0008);
	frame_done(&before);
	frame_done(&last);
	frame_done(&end);
}

/* Adds a core that has been busy for `busy_secs`, while the kernel counted `counted_secs` for it. */
static struct cpu_core_row *add_core(struct frame *frame, int number, int64_t read_ns, double busy_secs,
				     double counted_secs)
{
	struct cpu_core_row *core = ADD_ROW(frame, cpu_core, &SINGLE_ROW(frame, host_cpu)->row);

	core->row.number = number;
	core->row.cpus = 1;
	core->row.read_ns = read_ns;
	core->row.counted_secs = counted_secs;
	core->busy_percent_secs = 100 * busy_secs;
	return core;
}

/* A second of one core: what the kernel counted and how busy that makes it; wanted: the reason why that is unknown. */
static void a_core_with_false_counters_is_unknown(void **state)
{
	static const struct {
		double busy_secs, counted_secs;
		int reason;
	} SECONDS[] = {
		{1, 1, 0},                           /* idle time stands still because the core is busy */
		{1, 0, ABSENT_NOT_COUNTED},          /* nothing moves */
		{1, 0.05, ABSENT_NOT_COUNTED},       /* idle time stands still, and little else moves */
		{0.9, 0.6, 0},                       /* a hypervisor took the rest */
		{5000, -4000, ABSENT_COUNTER_RESET}, /* idle time began again */
		{5000, 1, ABSENT_IMPOSSIBLE},        /* idle time fell, another time grew */
		{-4000, 4001, ABSENT_COUNTER_RESET}, /* idle time grew faster than time */
		{1.01, 1, 0},                        /* a tick too many */
	};

	(void)state;
	for (size_t i = 0; i < sizeof SECONDS / sizeof SECONDS[0]; i++) {
		struct frame before = frame_at(1, 0, 0), now = frame_at(2, 0, 0);
		struct cpu_core_row *core;

		add_core(&before, 0, 0, 100, 9000);
		add_core(&before, 1, 0, 100, 9000);
		add_core(&now, 0, 0, 100.5, 9001);
		core = add_core(&now, 1, 0, 100 + SECONDS[i].busy_secs, 9000 + SECONDS[i].counted_secs);
		derive(&now, &(struct earlier_frames){&before, &before, &before});
		assert_int_equal(real_absent(core->busy_pct), SECONDS[i].reason);
		assert_int_equal(real_absent(SINGLE_ROW(&now, host_cpu)->utilization_pct), SECONDS[i].reason);
		assert_false(core->busy_pct > 100);
		frame_done(&before);
		frame_done(&now);
	}
}

/* cpu1 has gone, so cpu2 has its place: each is compared with itself, and the sum is unknown for once. */
static void a_core_that_goes_leaves_the_others_as_they_are(void **state)
{
	struct frame before = frame_at(1, 0, 0), now = frame_at(2, 0, 0);
	struct cpu_core_row *last;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_core(&before, i, 0, 100 * i, 100 * i + 50);
	add_core(&now, 0, 0, 0.5, 51);
	last = add_core(&now, 2, 0, 200.25, 251);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	EXPECT_REAL(last->busy_pct, 25.0);
	assert_int_equal(real_absent(SINGLE_ROW(&now, host_cpu)->utilization_pct), ABSENT_FIRST_SAMPLE);
	frame_done(&before);
	frame_done(&now);
}

/* A run of 1 s on two CPUs claims 40 s: its small system part is as doubtful. */
static void parts_of_an_impossible_total_are_unknown(void **state)
{
	struct frame before = frame_at(1, 0, 0), now = frame_at(2, 40, 0);

	(void)state;
	((struct tree_row *)(void *)before.first[ROW_tree])->stime_total_secs = 0;
	((struct tree_row *)(void *)now.first[ROW_tree])->stime_total_secs = 0.1;
	now.cpus = 2;
	now.sample->elapsed_secs = 1;
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(real_absent(tree_of(&now)->process_stime_secs), ABSENT_IMPOSSIBLE);
	assert_int_equal(real_absent(tree_of(&now)->process_utime_secs), ABSENT_IMPOSSIBLE);
	frame_done(&before);
	frame_done(&now);
}

static void more_threads_than_linux_can_have_are_unknown(void **state)
{
	static const struct {
		int64_t count;
		int why;
	} CASES[] = {{4194304, 0}, {4194305, ABSENT_IMPOSSIBLE}, {4294967295, ABSENT_IMPOSSIBLE}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct frame now = frame_at(2, 1, 0);
		struct host_cpu_row *cpu = SINGLE_ROW(&now, host_cpu);

		cpu->runnable_count = cpu->blocked_count = CASES[i].count;
		cpu->load_1m = (double)CASES[i].count;
		derive(&now, &(struct earlier_frames){0});
		assert_int_equal(count_absent(cpu->runnable_count), CASES[i].why);
		assert_int_equal(count_absent(cpu->blocked_count), CASES[i].why);
		assert_int_equal(real_absent(cpu->load_1m), CASES[i].why);
		frame_done(&now);
	}
}

static void an_impossible_change_is_unknown(void **state)
{
	struct frame before = frame_at(1, 0.5, 0), now = frame_at(2, 4, INT64_C(200000000000000));
	struct network_row *network = ADD_ROW(&before, network, NULL);

	(void)state;
	network->interface = "eth0";
	network->rx_bytes_counter = network->tx_bytes_counter = 0;
	network = ADD_ROW(&now, network, NULL);
	network->interface = "eth0";
	network->counted = 1;
	network->row.most_bytes = 125e6;
	network->rx_bytes_counter = INT64_C(120000000);
	network->tx_bytes_counter = INT64_C(4294967296);
	SINGLE_ROW(&now, totals);
	SINGLE_ROW(&now, memory)->swap_used_pct = -100;
	SINGLE_ROW(&now, memory)->used_pct = 371;
	now.cpus = 2;
	now.sample->elapsed_secs = 1;
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(real_absent(disk_of(&now)->read_bytes_per_sec), ABSENT_IMPOSSIBLE);
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->disk_read_bytes), ABSENT_IMPOSSIBLE);
	EXPECT_REAL(network->rx_bytes_per_sec, 120e6);
	assert_int_equal(SINGLE_ROW(&now, totals)->net_recv_bytes, 120000000);
	assert_int_equal(real_absent(network->tx_bytes_per_sec), ABSENT_IMPOSSIBLE);
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->net_sent_bytes), ABSENT_IMPOSSIBLE);
	assert_int_equal(real_absent(tree_of(&now)->process_cores_used), ABSENT_IMPOSSIBLE);
	assert_int_equal(real_absent(SINGLE_ROW(&now, memory)->swap_used_pct), ABSENT_NOT_A_VALUE);
	assert_int_equal(real_absent(SINGLE_ROW(&now, memory)->used_pct), ABSENT_IMPOSSIBLE);
	frame_done(&before);
	frame_done(&now);
}

/* On an idle core, the counted ticks of idle time may exceed the elapsed time. */
static void an_idle_core_is_idle_and_not_unknown(void **state)
{
	static const struct {
		double step_secs;
		bool reset;
	} STEPS[] = {{-0.01, false}, {-0.019, false}, {-0.5, true}};

	(void)state;
	for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
		struct frame before = frame_at(1, 0, 0), now = frame_at(1.1, 0, 0);
		struct cpu_core_row *core = ADD_ROW(&before, cpu_core, &SINGLE_ROW(&before, host_cpu)->row);

		core->busy_percent_secs = 100;
		core = ADD_ROW(&now, cpu_core, &SINGLE_ROW(&now, host_cpu)->row);
		core->busy_percent_secs = 100 * (1 + STEPS[i].step_secs);
		derive(&now, &(struct earlier_frames){&before, &before, &before});
		if (STEPS[i].reset)
			assert_int_equal(real_absent(core->busy_pct), ABSENT_COUNTER_RESET);
		else
			EXPECT_REAL(core->busy_pct, 0.0);
		frame_done(&before);
		frame_done(&now);
	}
}

/* Two cores are busy, and the tracker had to wait for six seconds in its second sample. */
static void a_rate_is_of_the_time_between_the_readings(void **state)
{
	struct frame before = frame_at(1, 0, 0), now = frame_at(2, 0, 0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		add_core(&before, i, (int64_t)1e9, 0, 100);
		add_core(&now, i, (int64_t)8e9, 7 * (i < 2), 107);
	}
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	EXPECT_REAL(SINGLE_ROW(&now, host_cpu)->utilization_pct, 2.0);
	frame_done(&before);
	frame_done(&now);
}

static void a_counter_that_steps_back_was_reset(void **state)
{
	struct frame before = frame_at(1, 0, 1000), now = frame_at(2, 0, 999);

	(void)state;
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(real_absent(disk_of(&now)->read_bytes_per_sec), ABSENT_COUNTER_RESET);
	frame_done(&before);
	frame_done(&now);
}

/* Busy time is read a moment apart from idle time: two ticks in a second, and as many in each further second. */
static void busy_time_that_steps_back_by_ticks_is_idle(void **state)
{
	static const struct {
		double secs, back_secs;
		int reason;
	} STEPS[] = {{1, 0.019, 0},
		     {1, 0.021, ABSENT_COUNTER_RESET},
		     {3, 0.059, 0},
		     {3, 0.061, ABSENT_COUNTER_RESET},
		     {0.5, 0.019, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
		struct frame before = frame_at(1, 0, 0), now = frame_at(1 + STEPS[i].secs, 0, 0);
		struct cpu_core_row *core;

		add_core(&before, 0, 0, 100, 9000);
		core = add_core(&now, 0, 0, 100 - STEPS[i].back_secs, 9000 + STEPS[i].secs);
		derive(&now, &(struct earlier_frames){&before, &before, &before});
		assert_int_equal(real_absent(core->busy_pct), STEPS[i].reason);
		if (!STEPS[i].reason)
			EXPECT_REAL(core->busy_pct, 0.0);
		frame_done(&before);
		frame_done(&now);
	}
}

/* A total without that device would claim that the device did nothing. */
static void a_total_with_a_counter_that_was_reset_is_unknown(void **state)
{
	struct frame before = frame_at(1, 0, 1000), now = frame_at(2, 0, 999), after = frame_at(3, 0, 1009);

	(void)state;
	SINGLE_ROW(&now, totals);
	SINGLE_ROW(&after, totals);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->disk_read_bytes), ABSENT_COUNTER_RESET);
	derive(&after, &(struct earlier_frames){&now, &now, &now});
	assert_int_equal(SINGLE_ROW(&after, totals)->disk_read_bytes, 10);
	SINGLE_ROW(&now, disk)->counted = 0;
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(SINGLE_ROW(&now, totals)->disk_read_bytes, 0);
	frame_done(&before);
	frame_done(&now);
	frame_done(&after);
}

static void without_an_earlier_frame_changes_are_absent(void **state)
{
	struct frame first = frame_at(1, 1, 1);

	(void)state;
	derive(&first, &(struct earlier_frames){0});
	assert_int_equal(real_absent(tree_of(&first)->process_utime_secs), ABSENT_FIRST_SAMPLE);
	assert_int_equal(real_absent(tree_of(&first)->process_cores_used), ABSENT_FIRST_SAMPLE);
	assert_int_equal(real_absent(disk_of(&first)->read_bytes_per_sec), ABSENT_FIRST_SAMPLE);
	frame_done(&first);
}

/* --metrics removes published metrics from a frame with which later frames are compared. */
static void each_change_is_of_a_raw_metric(void **state)
{
	(void)state;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row_description *description = &ROW_DESCRIPTIONS[kind];

		for (size_t i = 0; i < description->metric_count; i++) {
			const struct metric *metric = &description->metrics[i];
			size_t from = (metric->from_offset - sizeof(struct row)) / 8;

			/* Some changes are assigned by their collector. */
			if (metric->nature >= DELTA && metric->from_offset)
				assert_int_equal(ROW_DESCRIPTIONS[metric->from_kind].metrics[from].nature,
						 RAW);
		}
	}
}

static void a_sum_of_rows_that_could_not_be_read_is_unknown(void **state)
{
	struct frame before = {0}, now = {0};

	(void)state;
	frame_begin(&before, (int64_t)1e9, 0);
	frame_begin(&now, (int64_t)2e9, 0);
	SINGLE_ROW(&now, totals);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(SINGLE_ROW(&now, totals)->disk_read_bytes, 0);
	frame_set_missing(&now, ROW_disk, -EACCES);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->disk_read_bytes), EACCES);
	now.missing[ROW_disk] = 0;
	frame_set_missing(&before, ROW_disk, EACCES);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->disk_read_bytes), ABSENT_FIRST_SAMPLE);
	frame_done(&before);
	frame_done(&now);
}

static void a_sum_of_devices_that_have_all_just_come_is_unknown(void **state)
{
	struct frame before = {0}, now = frame_at(2, 0, 1000);

	(void)state;
	frame_begin(&before, (int64_t)1e9, 0);
	SINGLE_ROW(&now, totals);
	derive(&now, &(struct earlier_frames){&before, &before, &before});
	assert_int_equal(count_absent(SINGLE_ROW(&now, totals)->disk_read_bytes), ABSENT_FIRST_SAMPLE);
	frame_done(&before);
	frame_done(&now);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_own_earlier_frame),
		cmocka_unit_test(an_end_just_after_a_tick_makes_no_own_rate),
		cmocka_unit_test(an_idle_core_is_idle_and_not_unknown),
		cmocka_unit_test(a_core_with_false_counters_is_unknown),
		cmocka_unit_test(a_core_that_goes_leaves_the_others_as_they_are),
		cmocka_unit_test(parts_of_an_impossible_total_are_unknown),
		cmocka_unit_test(more_threads_than_linux_can_have_are_unknown),
		cmocka_unit_test(an_impossible_change_is_unknown),
		cmocka_unit_test(a_rate_is_of_the_time_between_the_readings),
		cmocka_unit_test(a_counter_that_steps_back_was_reset),
		cmocka_unit_test(busy_time_that_steps_back_by_ticks_is_idle),
		cmocka_unit_test(a_total_with_a_counter_that_was_reset_is_unknown),
		cmocka_unit_test(each_change_is_of_a_raw_metric),
		cmocka_unit_test(a_sum_of_rows_that_could_not_be_read_is_unknown),
		cmocka_unit_test(a_sum_of_devices_that_have_all_just_come_is_unknown),
		cmocka_unit_test(without_an_earlier_frame_changes_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
