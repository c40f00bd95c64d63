/* Tests of src/format/otlp_*.c: samples to points, points to bytes. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "format/otlp_encode.h"
#include "format/otlp_wire.h"
#include "metric/typed_rows.h"

static const double BEGAN = 1790000000.25;

/* A sample `elapsed` seconds after the start, with these changes. NULL memory: NAN. */
static void fill(struct frame *frame, int number, double elapsed, double utime, double memory_mib)
{
	struct tree_row *tree;

	frame_begin(frame, 0, 0);
	frame->sample->timestamp = BEGAN + elapsed;
	frame->sample->elapsed_secs = elapsed;
	frame->sample->sample = number;
	tree = SINGLE_ROW(frame, tree);
	tree->process_utime_secs = utime;
	if (!isnan(memory_mib))
		tree->process_memory_mib = memory_mib;
	if (number == 0)
		SINGLE_ROW(frame, run_start)->mode = "wrap";
}

static size_t series_named(const char *name, const char *value)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		if (strcmp(OTLP_SERIES[i].name, name) == 0 &&
		    (!value || strcmp(OTLP_SERIES[i].value, value) == 0))
			return i;
	fail();
	return 0;
}

static void wire_of_every_type(void **state)
{
	/* Taken from the encoding guide of protocol buffers, and from Python's protobuf. */
	static const char EXPECTED[] =
		"\x08\x96\x01\x12\x07testing\x19\x01\0\0\0\0\0\0\0\x21\0\0\0\0\0\0\xf0\x3f"
		"\x2a\x0a\x0a\x01k\x12\x05\x0a\x03v\xc3\xa9";
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	otlp_add_count(&out, 1, 150);
	otlp_add_text(&out, 2, "testing");
	otlp_add_fixed64(&out, 3, 1);
	otlp_add_real(&out, 4, 1.0);
	otlp_add_text_attribute(&out, 5, "k", "v\xc3\xa9");
	assert_int_equal(out.length, sizeof EXPECTED - 1);
	assert_memory_equal(out.data, EXPECTED, out.length);
}

static void a_long_message_has_a_length_of_several_bytes(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(100000);
	struct otlp_field field;
	struct scan scan;
	size_t outer = otlp_open(&out, 1), inner = otlp_open(&out, 2);

	(void)state;
	for (int i = 0; i < 20000; i++)
		buffer_add_char(&out, 'x');
	otlp_close(&out, inner);
	otlp_close(&out, outer);
	assert_int_equal(out.length, 1 + 3 + 1 + 3 + 20000);
	scan = scan_bytes(out.data, out.length);
	assert_int_equal(otlp_next_field(&scan, &field), 1);
	assert_int_equal(scan_left(&scan), 0);
	scan = field.bytes;
	assert_int_equal(otlp_next_field(&scan, &field), 1);
	assert_int_equal(scan_left(&field.bytes), 20000);
}

static void texts_become_valid_utf8(void **state)
{
	static const struct {
		const char *text, *valid;
	} CASES[] = {
		{"\xff", "?"},
		{"a\xc3", "a?"},
		{"\xed\xa0\x80", "???"},
		{"\xc0\xaf", "??"},
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xf5\x80\x80\x80", "????"},
		{"\xe0\x80\x80", "???"},
		/* The first and last of each length, and their neighbours. */
		{"\xc1\xbf", "??"},
		{"\xc2\x80", "\xc2\x80"},
		{"\xdf\xbf", "\xdf\xbf"},
		{"\xe0\x9f\xbf", "???"},
		{"\xe0\xa0\x80", "\xe0\xa0\x80"},
		{"\xed\x9f\xbf", "\xed\x9f\xbf"},
		{"\xef\xbf\xbf", "\xef\xbf\xbf"},
		{"\xf0\x8f\xbf\xbf", "????"},
		{"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"},
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
		{"\xf4\x90\x80\x80", "????"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		CLEANUP_BUFFER struct buffer out = BUFFER(100);

		otlp_add_text(&out, 1, CASES[i].text);
		assert_string_equal(out.data + 2, CASES[i].valid);
	}
}

static void damaged_messages_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} CASES[] = {{"\x0a", 1},
		     {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},
		     {"\x0a\x05x", 3},
		     {"\x00\x00", 2},
		     {"\x0b", 1},
		     {"\x09\x01", 2},
		     {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11},
		     {"\x0a\x02\x12\x05", 4}};
	struct scan text;
	int64_t rejected;

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_int_equal(otlp_count_points(CASES[i].bytes, CASES[i].length), -EBADMSG);
		assert_int_equal(otlp_parse_answer(CASES[i].bytes, CASES[i].length, &rejected, &text),
				 -EBADMSG);
	}
	assert_int_equal(otlp_parse_answer("\x0a\x06\x08\x03\x12\x02no", 8, &rejected, &text), 0);
	assert_int_equal(rejected, 3);
	assert_true(scan_is(&text, "no"));
	assert_int_equal(otlp_parse_answer("", 0, &rejected, &text), 0);
	assert_int_equal(rejected, 0);
}

static void counters_lose_nothing_between_steps(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t cpu = series_named("process.cpu.time", "user"),
	       memory = series_named("process.memory.usage", NULL);
	size_t peak = series_named("resource_tracker.run.memory.peak", NULL);
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	for (int i = 0; i < 40; i++) {
		fill(&frame, i, i + 0.5, 0.25, i == 20 ? 100 : i == 30 ? NAN : 10);
		if (i == 0)
			otlp_run_begin(&run, &frame, 15 * NSEC_PER_SEC, 0);
		assert_false(otlp_run_feed(&run, &frame, batch));
	}
	/* Steps at 15 s and 30 s of the run: samples 15 and 30. */
	assert_int_equal(batch->count, 2);
	otlp_run_end(&run, batch);
	assert_int_equal(batch->count, 3);
	assert_true(otlp_set_has(&batch->zero, cpu));
	assert_false(otlp_set_has(&batch->zero, memory));
	assert_int_equal(batch->points[0].time_ns, INT64_C(1790000015750000000));
	assert_true(batch->points[0].values[cpu] == 4.0);
	assert_true(batch->points[1].values[cpu] == 7.75);
	assert_true(batch->points[2].values[cpu] == 10.0);
	/* The peak was between two steps; memory was unknown at the second one. */
	assert_true(batch->points[1].values[peak] == 100 * 1048576.0);
	assert_false(otlp_set_has(&batch->points[1].present, memory));
	assert_true(otlp_set_has(&batch->points[2].present, memory));
	assert_int_equal(batch->stale_ns, batch->points[2].time_ns + NSEC_PER_MSEC);
	for (size_t i = 0; i < OTLP_SLOT_COUNT; i++)
		assert_int_equal(otlp_set_has(&batch->stale, i), i == cpu || i == memory || i == peak);
	frame_done(&frame);
	free(batch);
}

static void times_grow_although_the_clock_is_set_back(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(&frame, i, i + 1.0, 0.5, 10);
		if (i == 0)
			otlp_run_begin(&run, &frame, 0, 0);
		else
			frame.sample->timestamp -= 3600;
		otlp_run_feed(&run, &frame, batch);
	}
	assert_int_equal(batch->count, 3);
	assert_int_equal(batch->start_ns, INT64_C(1790000000250000000));
	for (size_t i = 1; i < batch->count; i++)
		assert_int_equal(batch->points[i].time_ns, batch->points[i - 1].time_ns + NSEC_PER_MSEC);
	frame_done(&frame);
	free(batch);
}

static void a_run_goes_on_from_its_text(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(10000), again = BUFFER(10000);
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	struct frame frame = {0};
	struct otlp_run run, other;

	(void)state;
	fill(&frame, 0, 0.5, 0.1, 3.7);
	otlp_run_begin(&run, &frame, NSEC_PER_SEC, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &other), 0);
	otlp_run_format(&other, &again);
	assert_string_equal(text.data, again.data);
	for (size_t length = 0; length < text.length; length++)
		if (text.data[length] == ' ')
			assert_int_equal(otlp_run_parse(text.data, length, &other), -EBADMSG);
	buffer_add_text(&text, "x");
	assert_int_equal(otlp_run_parse(text.data, text.length, &other), -EBADMSG);
	/* No run has such times, nor other series than those that may be asked for. */
	for (size_t i = 0; i < 5; i++) {
		struct otlp_run odd = run;

		odd.start_ns = i == 0 ? 0 : run.start_ns;
		odd.last_ns = i == 1 ? run.start_ns - 1 : i == 2 ? INT64_MAX / 2 + 1 : run.last_ns;
		odd.step_ns = i == 3 ? -1 : run.step_ns;
		odd.extras = i == 4 ? 4 : run.extras;
		buffer_clear(&text);
		otlp_run_format(&odd, &text);
		assert_int_equal(otlp_run_parse(text.data, text.length, &other), -EBADMSG);
	}
	frame_done(&frame);
	free(batch);
}

/* The value of a slot by the name of its device. NULL: the slot without one. NAN: there is no value. */
static double value_of(const struct otlp_run *run, size_t series, const char *device)
{
	for (size_t slot = otlp_first_slot(series); slot < otlp_first_slot(series + 1); slot++) {
		const char *key, *name = otlp_slot_device(&run->devices, slot, &key);

		if (device ? name && strcmp(name, device) == 0 : !name)
			return otlp_set_has(&run->known, slot) ? run->values[slot] : (double)NAN;
	}
	return NAN;
}

static void add_disk(struct frame *frame, const char *device, double read_per_sec)
{
	struct disk_row *disk = ADD_ROW(frame, disk, NULL);

	disk->device = device;
	disk->read_bytes_per_sec = read_per_sec;
}

static void each_disk_has_its_part_of_the_total(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(100000), again = BUFFER(100000);
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t reads = series_named("system.disk.io", "read");
	struct frame frame = {0};
	struct otlp_run run, other;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(&frame, i, i + 1.0, 0, 10);
		SINGLE_ROW(&frame, totals)->disk_read_bytes = (int64_t[]){900, 1001, 7}[i];
		add_disk(&frame, "sda", i == 2 ? 0 : 600.3);
		add_disk(&frame, "a b", i == 2 ? 0 : 300.1);
		/* On top of the others. */
		add_disk(&frame, "dm-0", 900.4);
		if (i == 0)
			otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
		otlp_run_feed(&run, &frame, batch);
		if (i == 0)
			assert_true(isnan(value_of(&run, reads, NULL)));
	}
	assert_true(value_of(&run, reads, "sda") == 600 + 667);
	assert_true(value_of(&run, reads, "a b") == 300 + 334);
	/* No disk says that it has read these. */
	assert_true(value_of(&run, reads, NULL) == 7);
	assert_true(isnan(value_of(&run, reads, "dm-0")));
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &other), 0);
	assert_true(value_of(&other, reads, "a b") == 300 + 334);
	otlp_run_format(&other, &again);
	assert_string_equal(text.data, again.data);
	frame_done(&frame);
	free(batch);
}

static void add_interface(struct frame *frame, const char *name, const char *driver, const char *address,
			  double received_per_sec)
{
	struct network_row *network = ADD_ROW(frame, network, NULL);

	network->interface = name;
	if (driver)
		network->driver = driver;
	if (address)
		network->mac_address = address;
	network->rx_bytes_per_sec = received_per_sec;
}

static void each_interface_has_its_part_of_the_total(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(100000);
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t received = series_named("system.network.io", "receive");
	struct frame frame = {0};
	struct otlp_run run, other;

	(void)state;
	fill(&frame, 0, 1, 0, 10);
	SINGLE_ROW(&frame, totals)->net_recv_bytes = 4001;
	add_interface(&frame, "eth0", "e1000", "02:00:00:00:00:01", 3000);
	add_interface(&frame, "eth1", "hv_netvsc", "02:00:00:00:00:02", 1000);
	/* The fast path of eth1, whose bytes eth1 has; a bridge over eth0. */
	add_interface(&frame, "enP1", "mlx5_core", "02:00:00:00:00:02", 900);
	add_interface(&frame, "br0", NULL, "02:00:00:00:00:01", 3000);
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	assert_true(value_of(&run, received, "eth0") == 3001 && value_of(&run, received, "eth1") == 1000);
	assert_true(isnan(value_of(&run, received, "enP1")) && isnan(value_of(&run, received, "br0")));
	assert_true(isnan(value_of(&run, received, NULL)));
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &other), 0);
	assert_true(value_of(&other, received, "eth1") == 1000);
	/* A container: no interface has a driver, and its uplink has all bytes. */
	fill(&frame, 0, 1, 0, 10);
	SINGLE_ROW(&frame, totals)->net_recv_bytes = 500;
	add_interface(&frame, "eth0", NULL, NULL, 500);
	add_interface(&frame, "docker0", NULL, NULL, 300);
	add_interface(&frame, "eth0.7", NULL, NULL, 100);
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	assert_true(value_of(&run, received, "eth0") == 500 && isnan(value_of(&run, received, "docker0")));
	assert_true(isnan(value_of(&run, received, "eth0.7")));
	frame_done(&frame);
	free(batch);
}

static void a_total_without_disks_has_one_series(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t reads = series_named("system.disk.io", "read");
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	fill(&frame, 0, 1, 0, 10);
	SINGLE_ROW(&frame, totals)->disk_read_bytes = 0;
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	assert_true(value_of(&run, reads, NULL) == 0);
	/* An idle disk takes nothing from a total of 0, and all of a later one. */
	fill(&frame, 1, 2, 0, 10);
	SINGLE_ROW(&frame, totals)->disk_read_bytes = 5;
	add_disk(&frame, "sda", 0);
	otlp_run_feed(&run, &frame, batch);
	assert_true(value_of(&run, reads, NULL) == 0 && value_of(&run, reads, "sda") == 5);
	frame_done(&frame);
	free(batch);
}

static void more_disks_than_slots_lose_nothing(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t reads = series_named("system.disk.io", "read");
	char names[OTLP_DEVICES_MOST + 5][8];
	struct frame frame = {0};
	struct otlp_run run;
	double sum = 0;

	(void)state;
	fill(&frame, 0, 1, 0, 10);
	SINGLE_ROW(&frame, totals)->disk_read_bytes = 100003;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(names[i], sizeof names[i], "sd%zu", i);
		add_disk(&frame, names[i], (double)i);
	}
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	for (size_t slot = otlp_first_slot(reads); slot < otlp_first_slot(reads + 1); slot++)
		sum += run.values[slot];
	assert_true(sum == 100003);
	assert_true(value_of(&run, reads, NULL) > 0 && isnan(value_of(&run, reads, "sd23")));
	frame_done(&frame);
	free(batch);
}

static void add_program(struct frame *frame, const char *name, double cpu_secs, double memory_mib)
{
	struct program_row *program = ADD_ROW(frame, program, NULL);

	program->name = name;
	program->cpu_secs = cpu_secs;
	program->memory_mib = memory_mib;
}

static void each_program_has_a_series_and_a_mark_once_it_is_among_the_others(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t cpu = series_named("resource_tracker.program.cpu.time", NULL),
	       memory = series_named("resource_tracker.program.memory.usage", NULL);
	size_t ninja = otlp_first_slot(memory) + 2;
	CLEANUP_BUFFER struct buffer text = BUFFER(100000);
	struct frame frame = {0};
	struct otlp_run run, other;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(&frame, i, i + 1.0, 0, 10);
		add_program(&frame, "cc1", 0.5, 8);
		if (i != 1)
			add_program(&frame, "ninja", 0.25, 2);
		add_program(&frame, "others", 0.125, 1);
		if (i == 0)
			otlp_run_begin(&run, &frame, 0, OTLP_WITH_PROGRAMS);
		otlp_run_feed(&run, &frame, batch);
	}
	assert_true(value_of(&run, cpu, "cc1") == 1.5 && value_of(&run, cpu, "ninja") == 0.5);
	assert_true(value_of(&run, cpu, "others") == 0.375);
	assert_true(value_of(&run, memory, "others") == 1048576.0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(otlp_set_has(&batch->points[i].present, ninja), i != 1);
		assert_int_equal(otlp_set_has(&batch->points[i].gone, ninja), i == 1);
	}
	otlp_run_format(&run, &text);
	assert_int_equal(otlp_run_parse(text.data, text.length, &other), 0);
	assert_true(value_of(&other, cpu, "others") == 0.375);
	assert_int_equal(other.extras, OTLP_WITH_PROGRAMS);
	assert_true(otlp_set_has(&other.shown, ninja));
	/* They are sent on request. */
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
	otlp_run_feed(&run, &frame, batch);
	assert_true(isnan(value_of(&run, cpu, "cc1")));
	frame_done(&frame);
	free(batch);
}

static void more_programs_than_slots_are_others(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t cpu = series_named("resource_tracker.program.cpu.time", NULL);
	char names[OTLP_DEVICES_MOST + 3][8];
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	fill(&frame, 0, 1, 0, 10);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(names[i], sizeof names[i], "p%zu", i);
		add_program(&frame, names[i], 0.25, 1);
	}
	add_program(&frame, "others", 2, 1);
	otlp_run_begin(&run, &frame, 0, OTLP_WITH_PROGRAMS);
	otlp_run_feed(&run, &frame, batch);
	assert_true(value_of(&run, cpu, "p22") == 0.25 && value_of(&run, cpu, "others") == 2.75);
	frame_done(&frame);
	free(batch);
}

static void add_gpu(struct frame *frame, const char *uuid, const char *parent, double busy_pct)
{
	struct gpu_row *gpu = ADD_ROW(frame, gpu, NULL);

	gpu->uuid = uuid;
	if (parent)
		gpu->mig_parent = parent;
	gpu->utilization_pct = busy_pct;
}

static void each_gpu_has_its_part_of_the_total(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t usage = series_named("hw.gpu.utilization", NULL);
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fill(&frame, i, i + 1.0, 0, 10);
		SINGLE_ROW(&frame, totals)->gpu_usage = i == 0 ? 1.5 : 0;
		add_gpu(&frame, "GPU-a", NULL, i == 0 ? 100 : 0);
		/* A divided GPU: half of it works, and its instance all of the time. */
		add_gpu(&frame, "GPU-b", NULL, i == 0 ? 50 : 0);
		add_gpu(&frame, "MIG-b1", "GPU-b", i == 0 ? 50 : 0);
		if (i == 0)
			otlp_run_begin(&run, &frame, 0, OTLP_WITH_MACHINE);
		otlp_run_feed(&run, &frame, batch);
		assert_true(value_of(&run, usage, "GPU-a") == (i == 0 ? 1.0 : 0.0));
		assert_true(value_of(&run, usage, "MIG-b1") == (i == 0 ? 0.5 : 0.0));
		assert_true(isnan(value_of(&run, usage, "GPU-b")) && isnan(value_of(&run, usage, NULL)));
	}
	/* A level that is unknown has no point, and begins again. */
	fill(&frame, 2, 3, 0, 10);
	otlp_run_feed(&run, &frame, batch);
	assert_true(isnan(value_of(&run, usage, "GPU-a")));
	frame_done(&frame);
	free(batch);
}

/* The first device does not tell them, the second is divided, and the last sample lacks all three. */
static void errors_of_gpus_are_kept_for_each_of_them(void **state)
{
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t xid = series_named("resource_tracker.gpu.last_xid", NULL),
	       ecc = series_named("resource_tracker.gpu.ecc_uncorrected_errors", NULL);
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(&frame, i, i + 1.0, 0, 10);
		add_gpu(&frame, "GPU-a", NULL, 0);
		add_gpu(&frame, "GPU-b", NULL, 0);
		add_gpu(&frame, "MIG-b1", "GPU-b", 0);
		if (i < 2) {
			struct gpu_row *second = (struct gpu_row *)frame.first[ROW_gpu]->next;

			second->last_xid = i * 79;
			second->ecc_uncorrected_errors = 5 + i;
		}
		if (i == 0)
			otlp_run_begin(&run, &frame, 0, 0);
		otlp_run_feed(&run, &frame, batch);
		assert_true(value_of(&run, xid, "GPU-b") == (i ? 79 : 0));
		assert_true(value_of(&run, ecc, "GPU-b") == (i ? 6 : 5));
		assert_true(isnan(value_of(&run, xid, "GPU-a")) && isnan(value_of(&run, xid, "MIG-b1")));
	}
	frame_done(&frame);
	free(batch);
}

static void assert_attribute(const struct buffer *out, const char *name, const char *value, size_t length)
{
	enum { VALUE_FIELD = 0x12 };
	const char *end = out->data + out->length, *at = memmem(out->data, out->length, name, strlen(name));

	if (!at)
		fail_msg("%s is missing", name);
	at += strlen(name);
	assert_true(end - at > (ptrdiff_t)length + 1);
	assert_int_equal(at[0], VALUE_FIELD);
	assert_int_equal(at[1], length);
	assert_memory_equal(at + 2, value, length);
}

static void the_end_has_exact_totals_and_a_reason(void **state)
{
	static const char LINE[] = "{\"schema\":1,\"id\":\"fallback\",\"host\":\"h\",\"exit_code\":99,"
				   "\"reason\":\"wrong\",\"end\":\"exit \\u0034\","
				   "\"cpu_secs\":2.5,\"damaged_lines\":3,\"oom\":null}";
	static const char OF_ANOTHER[] = "{\"schema\":1,\"id\":\"another\",\"cpu_secs\":2.5}";
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct otlp_resource resource = OTLP_RESOURCE;
	struct otlp_batch *batch = calloc(1, sizeof *batch);
	size_t cpu = series_named("process.cpu.time", "user"),
	       ended = series_named("resource_tracker.run.ended", NULL);
	struct run_end_row *end;
	struct frame frame = {0};
	struct otlp_run run;

	(void)state;
	fill(&frame, 0, 0.2, 0.1234, 5);
	end = SINGLE_ROW(&frame, run_end);
	end->reason = "exit";
	end->exit_code = 3;
	end->tree_utime_secs = 0.123449;
	end->memory_peak_mib = 4;
	otlp_resource_of_run(&resource, &frame, "fallback");
	assert_string_equal(otlp_resource_get(&resource, "service.instance.id"), "fallback");
	otlp_run_begin(&run, &frame, 15 * NSEC_PER_SEC, 0);
	otlp_run_feed(&run, &frame, batch);
	otlp_run_end(&run, batch);
	assert_int_equal(batch->count, 1);
	assert_true(batch->points[0].values[cpu] == 0.123449);
	assert_true(batch->points[0].values[series_named("resource_tracker.run.memory.peak", NULL)] ==
		    4 * 1048576.0);
	assert_true(otlp_set_has(&batch->points[0].present, ended));
	assert_true(batch->points[0].values[ended] == 1);
	otlp_encode_metrics(&out, &resource, batch);
	/* cpu: 0, value, mark; memory, peak, exit_code, ended: value and mark. */
	assert_int_equal(otlp_count_points(out.data, out.length), 3 + 4 * 2);
	assert_non_null(memmem(out.data, out.length,
			       "\x0a\x06reason\x12\x06\x0a\x04"
			       "exit",
			       16));
	buffer_clear(&out);
	otlp_encode_end(&out, &resource, &run, &frame, scan_bytes(LINE, sizeof(LINE) - 1));
	/* A real, a count and a text of the line. The end itself has the reason and the exit status. */
	assert_attribute(&out, "resource_tracker.run.cpu_secs", "\x21\0\0\0\0\0\0\x04\x40", 9);
	assert_attribute(&out, "resource_tracker.run.damaged_lines", "\x18\x03", 2);
	assert_attribute(&out, "resource_tracker.run.end",
			 "\x0a\x06"
			 "exit 4",
			 8);
	assert_attribute(&out, "resource_tracker.run.exit_code", "\x18\x03", 2);
	assert_null(memmem(out.data, out.length, "wrong", 5));
	assert_null(memmem(out.data, out.length, "run.host", 8));
	assert_null(memmem(out.data, out.length, "run.oom\x12", 8));
	assert_non_null(memmem(out.data, out.length, "job.run.end", 11));
	assert_non_null(memmem(out.data, out.length, "ERROR", 5));
	buffer_clear(&out);
	otlp_encode_end(&out, &resource, &run, &frame, scan_bytes(OF_ANOTHER, sizeof(OF_ANOTHER) - 1));
	assert_null(memmem(out.data, out.length, "run.cpu_secs", 12));
	otlp_resource_done(&resource);
	frame_done(&frame);
	free(batch);
}

static void resource_attributes_as_text(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1000);
	struct otlp_resource resource = OTLP_RESOURCE;
	static const char GIVEN[] = " a = b%2Cc ,x=,y,z=%zz,team=one,team=two,=v,n=%00,u=\xc3\xa9";

	(void)state;
	assert_int_equal(otlp_resource_parse(&resource, GIVEN, sizeof GIVEN - 1), -EBADMSG);
	assert_string_equal(otlp_resource_get(&resource, "a"), "b,c");
	assert_string_equal(otlp_resource_get(&resource, "team"), "two");
	assert_null(otlp_resource_get(&resource, "x"));
	assert_null(otlp_resource_get(&resource, "z"));
	assert_null(otlp_resource_get(&resource, "n"));
	otlp_resource_format(&resource, &text);
	assert_string_equal(text.data, "a=b%2Cc,team=two,u=%C3%A9");
	assert_int_equal(otlp_resource_parse(&resource, text.data, text.length), 0);
	otlp_resource_done(&resource);
}

/* Digits of both cases, at the ends of their ranges and beyond. */
static void a_percent_sign_needs_two_digits(void **state)
{
	static const struct {
		const char *given, *value; /* NULL: damage */
	} CASES[] = {
		{"k=%41%5a%5F", "AZ_"},
		{"k=%af%FA%30%39", "\xaf\xfa"
				   "09"},
		{"%6b=%01", "\x01"},
		{"k=%4", NULL},
		{"k=%", NULL},
		{"k=%4g", NULL},
		{"k=%g4", NULL},
		{"k=%4G", NULL},
		{"k=%@1", NULL},
		{"k=%`1", NULL},
		{"k=%1:", NULL},
		{"k=%1/", NULL},
		{"k%=v", NULL},
		{"=v", NULL},
		{"k", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct otlp_resource resource = OTLP_RESOURCE;
		int r = otlp_resource_parse(&resource, CASES[i].given, strlen(CASES[i].given));

		assert_int_equal(r, CASES[i].value ? 0 : -EBADMSG);
		if (CASES[i].value)
			assert_string_equal(otlp_resource_get(&resource, "k"), CASES[i].value);
		else
			assert_null(otlp_resource_get(&resource, "k"));
		otlp_resource_done(&resource);
	}
}

static void a_tag_takes_no_other_attributes_place(void **state)
{
	struct otlp_resource resource = OTLP_RESOURCE;
	struct run_start_scheduler_row *id;
	struct run_start_tag_row *tag;
	struct frame frame = {0};

	(void)state;
	fill(&frame, 0, 1, 1, 1);
	SINGLE_ROW(&frame, run_start)->run_id = "0199";
	SINGLE_ROW(&frame, run_start)->input_bytes = 5000000000;
	SINGLE_ROW(&frame, run_start)->input_source = "option";
	for (int i = 0; i < 2; i++) {
		tag = ADD_ROW(&frame, run_start_tag, NULL);
		tag->name = i ? "service.instance.id" : "model";
		tag->value = "other";
	}
	id = ADD_ROW(&frame, run_start_scheduler, NULL);
	id->name = "SLURM_ARRAY_TASK_ID";
	id->value = "7";
	otlp_resource_of_run(&resource, &frame, "fallback");
	assert_string_equal(otlp_resource_get(&resource, "service.instance.id"), "0199");
	assert_string_equal(otlp_resource_get(&resource, "model"), "other");
	assert_string_equal(otlp_resource_get(&resource, "resource_tracker.run.input_bytes"), "5000000000");
	assert_string_equal(otlp_resource_get(&resource, "resource_tracker.run.input_source"), "option");
	assert_string_equal(otlp_resource_get(&resource, "slurm.array.task.id"), "7");
	otlp_resource_done(&resource);
	frame_done(&frame);
}

UNIT_TESTS
{
	static const struct CMUnitTest TESTS[] = {
		cmocka_unit_test(wire_of_every_type),
		cmocka_unit_test(a_long_message_has_a_length_of_several_bytes),
		cmocka_unit_test(texts_become_valid_utf8),
		cmocka_unit_test(damaged_messages_are_refused),
		cmocka_unit_test(counters_lose_nothing_between_steps),
		cmocka_unit_test(times_grow_although_the_clock_is_set_back),
		cmocka_unit_test(a_run_goes_on_from_its_text),
		cmocka_unit_test(each_disk_has_its_part_of_the_total),
		cmocka_unit_test(each_interface_has_its_part_of_the_total),
		cmocka_unit_test(a_total_without_disks_has_one_series),
		cmocka_unit_test(more_disks_than_slots_lose_nothing),
		cmocka_unit_test(each_program_has_a_series_and_a_mark_once_it_is_among_the_others),
		cmocka_unit_test(more_programs_than_slots_are_others),
		cmocka_unit_test(each_gpu_has_its_part_of_the_total),
		cmocka_unit_test(errors_of_gpus_are_kept_for_each_of_them),
		cmocka_unit_test(the_end_has_exact_totals_and_a_reason),
		cmocka_unit_test(resource_attributes_as_text),
		cmocka_unit_test(a_percent_sign_needs_two_digits),
		cmocka_unit_test(a_tag_takes_no_other_attributes_place),
	};

	return cmocka_run_group_tests(TESTS, NULL, NULL);
}
