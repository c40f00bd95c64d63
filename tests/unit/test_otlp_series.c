/* Tests of src/format/otlp_series.c: the times, totals and devices of the points of a run. */
#include "unit.h"

#include <math.h>

#include "base/clock.h"
#include "format/otlp_series.h"
#include "metric/typed_rows.h"

static struct otlp_run run;
static struct otlp_batch *batch;
static struct frame frame;

static int begin(void **state)
{
	(void)state;
	batch = calloc(1, sizeof *batch);
	return batch ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(batch);
	frame_done(&frame);
	return 0;
}

static void begin_sample(double timestamp, double elapsed)
{
	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = timestamp;
	frame.sample->elapsed_secs = elapsed;
}

static void begin_run(int64_t step_ns, unsigned extras)
{
	begin_sample(1000, 0);
	otlp_run_begin(&run, &frame, step_ns, extras);
	memset(batch, 0, sizeof *batch);
}

static size_t series_named(const char *name, const char *value)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		if (strcmp(OTLP_SERIES[i].name, name) == 0 &&
		    (!value || strcmp(OTLP_SERIES[i].value, value) == 0))
			return i;
	fail_msg("no series %s", name);
	return 0;
}

/* NaN: the last point has no such value. */
static double value_of(size_t slot)
{
	const struct otlp_point *point = &batch->points[batch->count - 1];

	return otlp_set_has(&point->present, slot) ? point->values[slot] : (double)NAN;
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

static void assert_start(double timestamp, double elapsed, int64_t wanted_ns)
{
	begin_sample(timestamp, elapsed);
	otlp_run_begin(&run, &frame, 7, 0);
	assert_true(run.start_ns == wanted_ns && run.last_ns == wanted_ns && run.due_ns == 7);
}

static void a_run_starts_before_its_first_sample(void **state)
{
	(void)state;
	assert_start(1000, 3, 997 * NSEC_PER_SEC);
	/* Without an elapsed time, by a millisecond, the unit of most receivers. */
	assert_start(1000, 0, 1000 * NSEC_PER_SEC - NSEC_PER_MSEC);
	assert_start(1000, NAN, 1000 * NSEC_PER_SEC - NSEC_PER_MSEC);
	assert_start(1000, 1000, 1000 * NSEC_PER_SEC - NSEC_PER_MSEC);
	assert_start(1000, 1001, 1000 * NSEC_PER_SEC - NSEC_PER_MSEC);
	/* Whole microseconds. */
	assert_start(1000.25, 0.0000004, 1000250 * NSEC_PER_MSEC - NSEC_PER_MSEC);
	assert_start(1000.25, 0.0000006, 1000250 * NSEC_PER_MSEC - 1000);
	/* No run starts before the first nanosecond. */
	assert_start(0.001, 0, 1);
	assert_start(0.002, 0, NSEC_PER_MSEC);
	assert_start(8999999999, 0, 8999999999 * NSEC_PER_SEC - NSEC_PER_MSEC);
	/* Times before 1970 and after 2255 are damage. */
	assert_start(-5, 0, 1);
	assert_start(9e9, 0, 1);
	assert_start(NAN, 0, 1);
}

static void a_point_is_made_at_the_first_sample_of_a_step(void **state)
{
	static const struct {
		double elapsed;
		size_t points;
	} CASES[] = {{0, 0},    {9.9, 0}, {10, 1}, {19, 1}, {21, 2},
		     {29.9, 2}, {30, 3},  {55, 4}, {59, 4}, {60, 5}};

	(void)state;
	begin_run(10 * NSEC_PER_SEC, 0);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		begin_sample(1000 + CASES[i].elapsed, CASES[i].elapsed);
		SINGLE_ROW(&frame, tree)->process_utime_secs = 1;
		assert_false(otlp_run_feed(&run, &frame, batch));
		if (batch->count != CASES[i].points)
			fail_msg("%g s: %zu points", CASES[i].elapsed, batch->count);
	}
	assert_true(value_of(series_named("process.cpu.time", "user")) == 10);
	/* Nothing is left for the end. */
	otlp_run_end(&run, batch);
	assert_int_equal(batch->count, 5);
	assert_true(batch->is_end && batch->stale_ns == run.last_ns + NSEC_PER_MSEC);
}

static void without_a_step_or_a_time_each_sample_is_a_point(void **state)
{
	(void)state;
	begin_run(0, 0);
	for (int i = 1; i < 4; i++) {
		begin_sample(1000 + i, i);
		otlp_run_feed(&run, &frame, batch);
	}
	assert_int_equal(batch->count, 3);
	begin_run(10 * NSEC_PER_SEC, 0);
	begin_sample(1001, NAN);
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->count, 1);
}

static void a_full_batch_has_room_for_the_end(void **state)
{
	(void)state;
	begin_run(0, 0);
	for (int i = 1; i < OTLP_MOST_STEPS; i++) {
		begin_sample(1000 + i, i);
		assert_false(otlp_run_feed(&run, &frame, batch));
	}
	begin_sample(2000, 1000);
	assert_true(otlp_run_feed(&run, &frame, batch));
	assert_int_equal(batch->count, OTLP_MOST_STEPS);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A sample of a job. */
static void feed(double utime, double memory_mib, double limit_cores)
{
	begin_sample(NAN, NAN);
	SINGLE_ROW(&frame, tree)->process_utime_secs = utime;
	SINGLE_ROW(&frame, tree)->process_memory_mib = memory_mib;
	SINGLE_ROW(&frame, limits)->cpu_limit_cores = limit_cores;
	otlp_run_feed(&run, &frame, batch);
}

static void each_way_takes_the_values_of_samples(void **state)
{
	const size_t user = series_named("process.cpu.time", "user"),
		     memory = series_named("process.memory.usage", NULL),
		     peak = series_named("resource_tracker.run.memory.peak", NULL),
		     limit = series_named("resource_tracker.limit.cpu", NULL);

	(void)state;
	begin_run(0, 0);
	feed(1.5, 3, 2);
	assert_true(value_of(user) == 1.5 && value_of(memory) == 3 << 20 && value_of(peak) == 3 << 20 &&
		    value_of(limit) == 2);
	feed(2, 2, NAN);
	/* Added, taken, the most, and kept. */
	assert_true(value_of(user) == 3.5 && value_of(memory) == 2 << 20 && value_of(peak) == 3 << 20 &&
		    value_of(limit) == 2);
	feed(-1, NAN, 1);
	/* A counter that goes back is damage, and a value that is unknown gets a mark. */
	assert_true(value_of(user) == 3.5 && isnan(value_of(memory)) && value_of(limit) == 1);
	assert_true(otlp_set_has(&batch->points[2].gone, memory));
	assert_false(otlp_set_has(&batch->points[2].gone, user));
	feed(INFINITY, 5, 1);
	assert_true(value_of(user) == 3.5 && value_of(peak) == 5 << 20);
	assert_false(otlp_set_has(&batch->points[3].gone, memory));
}

static void the_end_completes_the_totals(void **state)
{
	const size_t user = series_named("process.cpu.time", "user"),
		     peak = series_named("resource_tracker.run.memory.peak", NULL);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct run_end_row *row;

		begin_run(0, 0);
		feed(5, 100, 1);
		begin_sample(1002, 2);
		row = SINGLE_ROW(&frame, run_end);
		row->tree_utime_secs = i == 0 ? 5.5 : i == 1 ? 4 : (double)NAN;
		row->memory_peak_mib = i == 0 ? 90 : i == 1 ? 110 : (double)NAN;
		otlp_run_feed(&run, &frame, batch);
		assert_int_equal(batch->count, 1);
		otlp_run_end(&run, batch);
		assert_int_equal(batch->count, 2);
		assert_true(value_of(user) == (i == 0 ? 5.5 : 5));
		/* The end knows the peak better. */
		assert_true(value_of(peak) == (i == 0 ? 90 : i == 1 ? 110 : 100) * 1048576.0);
		assert_string_equal(batch->reason, "unknown");
	}
}

static void series_of_the_machine_are_sent_on_request(void **state)
{
	const size_t user = series_named("system.cpu.time", "user");

	(void)state;
	for (unsigned extras = 0; extras < 4; extras++) {
		begin_run(0, extras);
		begin_sample(1001, 1);
		SINGLE_ROW(&frame, host_cpu)->utime_secs = 7;
		otlp_run_feed(&run, &frame, batch);
		assert_int_equal(!isnan(value_of(user)), extras & OTLP_WITH_MACHINE ? 1 : 0);
	}
	/* A run without a job has them in any case. */
	begin_sample(1000, 0);
	SINGLE_ROW(&frame, run_start)->mode = "host";
	otlp_run_begin(&run, &frame, 0, 0);
	assert_int_equal(run.extras, OTLP_WITH_MACHINE);
	SINGLE_ROW(&frame, run_start)->mode = "wrap";
	otlp_run_begin(&run, &frame, 0, 0);
	assert_int_equal(run.extras, 0);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void add_disk(const char *name, double per_sec)
{
	struct disk_row *disk = (void *)frame_add(&frame, ROW_disk, &frame.sample->row);

	disk->device = name;
	disk->read_bytes_per_sec = per_sec;
}

static double disk_share(size_t index)
{
	return value_of(otlp_first_slot(series_named("system.disk.io", "read")) + index);
}

static void begin_disks(int64_t total)
{
	begin_run(0, OTLP_WITH_MACHINE);
	begin_sample(1001, 1);
	SINGLE_ROW(&frame, totals)->disk_read_bytes = total;
}

static void stacked_disks_have_no_part(void **state)
{
	static const char *const STACKED[] = {"dm-0", "md0", "zd16", "bcache0"};

	(void)state;
	begin_disks(300);
	for (size_t i = 0; i < 4; i++)
		add_disk(STACKED[i], 1000);
	add_disk("sda", 1);
	add_disk("sdb", 2);
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->devices.counts[OTLP_DISK], 2);
	assert_string_equal(batch->devices.names[OTLP_DISK][0], "sda");
	assert_true(disk_share(1) == 100 && disk_share(2) == 200 && isnan(disk_share(0)));
}

/* Each part is rounded together with those before it. */
static void whole_bytes_stay_whole(void **state)
{
	(void)state;
	begin_disks(100);
	add_disk("a", 1);
	add_disk("b", 1);
	add_disk("c", 1);
	otlp_run_feed(&run, &frame, batch);
	assert_true(disk_share(1) == 33 && disk_share(2) == 34 && disk_share(3) == 33);
}

static void a_total_that_no_device_has_is_given_to_the_only_one(void **state)
{
	(void)state;
	begin_disks(100);
	add_disk("a", 0);
	otlp_run_feed(&run, &frame, batch);
	assert_true(disk_share(1) == 100 && isnan(disk_share(0)));
	/* There are two, and neither is known to have it. */
	begin_disks(100);
	add_disk("a", 0);
	add_disk("b", 0);
	otlp_run_feed(&run, &frame, batch);
	assert_true(disk_share(0) == 100 && disk_share(1) == 0 && disk_share(2) == 0);
	/* Without any use, there is nothing to give. */
	begin_disks(0);
	add_disk("a", 0);
	add_disk("b", 0);
	otlp_run_feed(&run, &frame, batch);
	assert_true(isnan(disk_share(0)) && disk_share(1) == 0);
	begin_disks(0);
	otlp_run_feed(&run, &frame, batch);
	assert_true(disk_share(0) == 0);
}

static void add_interface(const char *name, const char *driver)
{
	struct network_row *interface = (void *)frame_add(&frame, ROW_network, &frame.sample->row);

	interface->interface = name;
	if (driver)
		interface->driver = driver;
	interface->rx_bytes_per_sec = 1;
}

/* Whether an interface without a driver is the uplink of a container. */
static bool is_uplink(const char *name)
{
	begin_run(0, OTLP_WITH_MACHINE);
	begin_sample(1001, 1);
	SINGLE_ROW(&frame, totals)->net_recv_bytes = 5;
	add_interface(name, NULL);
	otlp_run_feed(&run, &frame, batch);
	return batch->devices.counts[OTLP_INTERFACE] == 1;
}

static void only_an_uplink_counts_in_a_container(void **state)
{
	static const char *const VIRTUAL[] = {
		"bond0",     "br-1",   "br0",   "cali1",  "cilium_host", "cni0",  "docker0", "dummy0",
		"flannel.1", "ifb0",   "lxc1",  "lxdbr",  "podman",      "tap0",  "team0",   "tun0",
		"veth1",     "virbr0", "vlan1", "vxlan0", "wg0",         "eth0.5"};

	(void)state;
	for (size_t i = 0; i < sizeof VIRTUAL / sizeof *VIRTUAL; i++)
		if (is_uplink(VIRTUAL[i]))
			fail_msg("%s", VIRTUAL[i]);
	assert_true(is_uplink("eth0") && is_uplink("enp3s0") && is_uplink("broad"));
	/* Beside hardware, it counts no more. */
	begin_run(0, OTLP_WITH_MACHINE);
	begin_sample(1001, 1);
	SINGLE_ROW(&frame, totals)->net_recv_bytes = 5;
	add_interface("eth0", NULL);
	add_interface("eth1", "e1000");
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->devices.counts[OTLP_INTERFACE], 1);
	assert_string_equal(batch->devices.names[OTLP_INTERFACE][0], "eth1");
}

/* The number of interfaces of which the total consists: `other` has the same address as the first, if it is not NULL. */
static size_t interfaces_in_total(const char *first_driver, const char *other_driver,
				  const char *other_address)
{
	struct network_row *interface;

	begin_run(0, OTLP_WITH_MACHINE);
	begin_sample(1001, 1);
	SINGLE_ROW(&frame, totals)->net_recv_bytes = 5;
	add_interface("eth0", first_driver);
	interface = (void *)frame.first[ROW_network];
	interface->mac_address = "02:00:00:00:00:01";
	add_interface("eth1", other_driver);
	if (other_address)
		((struct network_row *)(void *)interface->row.next)->mac_address = other_address;
	otlp_run_feed(&run, &frame, batch);
	return batch->devices.counts[OTLP_INTERFACE];
}

static void only_the_fast_path_of_a_virtual_interface_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(interfaces_in_total("mlx5_core", "hv_netvsc", "02:00:00:00:00:01"), 1);
	assert_string_equal(batch->devices.names[OTLP_INTERFACE][0], "eth1");
	assert_int_equal(interfaces_in_total("mlx5_core", "hv_netvsc", "02:00:00:00:00:02"), 2);
	assert_int_equal(interfaces_in_total("mlx5_core", "hv_netvsc", NULL), 2);
	assert_int_equal(interfaces_in_total("mlx5_core", "e1000", "02:00:00:00:00:01"), 2);
	assert_int_equal(interfaces_in_total("mlx5_core", NULL, "02:00:00:00:00:01"), 1);
	assert_string_equal(batch->devices.names[OTLP_INTERFACE][0], "eth0");
	/* An interface alone counts. */
	assert_int_equal(interfaces_in_total("hv_netvsc", NULL, NULL), 1);
}

/* Two that begin with the same 63 bytes are one. */
static void names_of_devices_are_cut(void **state)
{
	char one[80], other[80];

	(void)state;
	memset(one, 'd', sizeof one);
	memcpy(other, one, sizeof one);
	strcpy(one + 63, "1");
	strcpy(other + 63, "2");
	begin_disks(300);
	add_disk(one, 1);
	add_disk("", 4);
	add_disk(other, 2);
	add_disk("other", 3);
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->devices.counts[OTLP_DISK], 2);
	one[63] = '\0';
	assert_string_equal(batch->devices.names[OTLP_DISK][0], one);
	/* One without a name is none that is known. */
	assert_true(disk_share(0) == 120 && disk_share(1) == 90 && disk_share(2) == 90);
}

static void use_that_no_device_can_have_is_left_out(void **state)
{
	(void)state;
	begin_disks(100);
	add_disk("a", -1);
	add_disk("b", 1);
	add_disk("c", NAN);
	add_disk(no_text(ABSENT_NOT_COLLECTED), 1);
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->devices.counts[OTLP_DISK], 1);
	assert_true(disk_share(1) == 100);
	/* Parts whose sum is too large say as little as none. */
	begin_disks(100);
	add_disk("a", 1e308);
	add_disk("b", 1e308);
	otlp_run_feed(&run, &frame, batch);
	assert_true(disk_share(0) == 100 && disk_share(1) == 0 && disk_share(2) == 0);
	/* A total that goes back is damage. */
	begin_disks(-1);
	add_disk("a", 1);
	otlp_run_feed(&run, &frame, batch);
	assert_true(isnan(disk_share(1)) || disk_share(1) == 0);
}

/* A share of GPUs, which has no whole bytes, is not rounded. */
static void devices_without_an_identity_have_their_address(void **state)
{
	const size_t usage = otlp_first_slot(series_named("hw.gpu.utilization", NULL)),
		     own = series_named("resource_tracker.gpu.job.usage", NULL);
	struct gpu_row *gpu;

	(void)state;
	begin_run(0, OTLP_WITH_MACHINE);
	begin_sample(1001, 1);
	SINGLE_ROW(&frame, totals)->gpu_usage = 0.75;
	SINGLE_ROW(&frame, tree)->process_gpu_usage = 0.5;
	/* Without a device, the series of the job's use is not sent. */
	otlp_run_feed(&run, &frame, batch);
	assert_true(isnan(value_of(otlp_first_slot(own))));
	for (int i = 0; i < 3; i++) {
		gpu = (void *)frame_add(&frame, ROW_gpu, &frame.sample->row);
		gpu->utilization_pct = 20 + 10 * i;
		gpu->process_utilization_pct = 50;
		if (i < 2)
			gpu->host_id = i ? "0000:02" : "0000:01";
	}
	otlp_run_feed(&run, &frame, batch);
	assert_int_equal(batch->devices.counts[OTLP_DEVICE_GPU], 2);
	assert_string_equal(batch->devices.names[OTLP_DEVICE_GPU][1], "0000:02");
	assert_true(fabs(value_of(usage + 1) - 0.3) < 1e-9 && fabs(value_of(usage + 2) - 0.45) < 1e-9);
	assert_true(value_of(otlp_first_slot(own) + 1) == 0.25);
}

/* The metrics from which the series and the attributes come. */
static void the_series_want_their_metrics(void **state)
{
	struct metric_set wanted = {0};

	(void)state;
	otlp_want(&wanted);
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++) {
		assert_true(
			metric_set_has(&wanted, OTLP_SERIES[i].kind, metric_index_at(OTLP_SERIES[i].offset)));
		if (i >= OTLP_PLAIN_COUNT)
			assert_true(metric_set_has(&wanted, OTLP_SERIES[i].part_kind,
						   metric_index_at(OTLP_SERIES[i].part_offset)));
	}
	assert_true(metric_set_has(&wanted, ROW_disk, METRIC_INDEX(disk, device)));
	assert_false(metric_set_has(&wanted, ROW_disk, METRIC_INDEX(disk, model)));
	assert_false(metric_set_has(&wanted, ROW_sample, METRIC_INDEX(sample, timestamp_secs)));
	assert_false(metric_set_has_kind(&wanted, ROW_mount));
}

static void a_slot_has_the_name_of_its_device(void **state)
{
	const size_t disks = otlp_first_slot(series_named("system.disk.io", "read")),
		     programs = otlp_first_slot(series_named("resource_tracker.program.cpu.time", NULL)),
		     gpus = otlp_first_slot(series_named("hw.gpu.utilization", NULL)),
		     interfaces = otlp_first_slot(series_named("system.network.io", "receive"));
	struct otlp_devices devices = {0};
	const char *key = NULL;

	(void)state;
	strcpy(devices.names[OTLP_DISK][0], "sda");
	strcpy(devices.names[OTLP_DISK][22], "last");
	strcpy(devices.names[OTLP_DEVICE_GPU][0], "G");
	strcpy(devices.names[OTLP_INTERFACE][0], "eth0");
	strcpy(devices.names[OTLP_PROGRAM_NAME][1], "cc1");
	assert_null(otlp_slot_device(&devices, 0, &key));
	assert_null(otlp_slot_device(&devices, OTLP_PLAIN_COUNT - 1, &key));
	assert_null(key);
	assert_null(otlp_slot_device(&devices, disks, &key));
	assert_string_equal(otlp_slot_device(&devices, disks + 1, &key), "sda");
	assert_string_equal(otlp_slot_device(&devices, disks + 23, &key), "last");
	assert_string_equal(key, "system.device");
	assert_string_equal(otlp_slot_device(&devices, gpus + 1, &key), "G");
	assert_string_equal(key, "hw.id");
	assert_string_equal(otlp_slot_device(&devices, interfaces + 1, &key), "eth0");
	assert_string_equal(key, "network.interface.name");
	assert_string_equal(otlp_slot_device(&devices, programs, &key), "others");
	assert_string_equal(otlp_slot_device(&devices, programs + 2, &key), "cc1");
	assert_string_equal(key, "program");
}

#define SERIES_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		SERIES_TEST(a_run_starts_before_its_first_sample),
		SERIES_TEST(a_point_is_made_at_the_first_sample_of_a_step),
		SERIES_TEST(without_a_step_or_a_time_each_sample_is_a_point),
		SERIES_TEST(a_full_batch_has_room_for_the_end),
		SERIES_TEST(each_way_takes_the_values_of_samples),
		SERIES_TEST(the_end_completes_the_totals),
		SERIES_TEST(series_of_the_machine_are_sent_on_request),
		SERIES_TEST(stacked_disks_have_no_part),
		SERIES_TEST(whole_bytes_stay_whole),
		SERIES_TEST(a_total_that_no_device_has_is_given_to_the_only_one),
		SERIES_TEST(only_an_uplink_counts_in_a_container),
		SERIES_TEST(only_the_fast_path_of_a_virtual_interface_is_left_out),
		SERIES_TEST(names_of_devices_are_cut),
		SERIES_TEST(use_that_no_device_can_have_is_left_out),
		SERIES_TEST(devices_without_an_identity_have_their_address),
		SERIES_TEST(the_series_want_their_metrics),
		SERIES_TEST(a_slot_has_the_name_of_its_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
