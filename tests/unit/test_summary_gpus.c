/* The figures and words of each GPU: src/summary/summary_gpus.c. Samples are made by hand, most of them 10 s long. */
#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "metric/typed_rows.h"
#include "summary/summary_gpus.h"

#define MIB 1048576LL

static struct frame frame;
static struct summary_gpus *gpus;

static void begin(void)
{
	summary_gpus_free(gpus);
	gpus = NULL;
	frame_begin(&frame, 0, 0);
}

static struct gpu_row *add_gpu(const char *uuid)
{
	struct gpu_row *row = ADD_ROW(&frame, gpu, NULL);

	row->uuid = uuid;
	return row;
}

/* Ends a sample and begins the next one. */
static void take(double elapsed_secs, double length_secs)
{
	summary_gpus_add(&gpus, &frame, &(struct moment){elapsed_secs, length_secs});
	frame_begin(&frame, 0, 0);
}

/* One device that the job holds: its work in percent, and the memory of the job. */
static struct gpu_row *add_use(const char *uuid, double work_pct, int64_t held_mib)
{
	struct gpu_row *row = add_gpu(uuid);

	row->utilization_pct = row->process_utilization_pct = work_pct;
	row->vram_used_bytes = row->process_vram_bytes = held_mib * MIB;
	row->vram_total_bytes = 4096 * MIB;
	row->process_count = 1;
	return row;
}

static void try_lines(const char *expected)
{
	struct buffer out = BUFFER(1 << 16);

	summary_gpus_lines(&out, gpus, RT_SIZE_AUTO, 3);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_done(&out);
}

static void try_gpus_json(const char *part)
{
	struct buffer out = BUFFER(1 << 16);

	summary_gpus_json(&out, gpus);
	if (buffer_error(&out) || !strstr(out.data, part))
		fail_msg("%s is not in %s", part, out.data);
	buffer_done(&out);
}

static void assert_about(double found, double expected)
{
	if (!(fabs(found - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", found, expected);
}

static void time_without_work_is_told(void **state)
{
	(void)state;
	begin();
	add_use("GPU-a", 0, 0);
	take(10, 10);
	add_use("GPU-a", 50, 1024);
	take(20, 10);
	add_use("GPU-a", 0, 2048);
	take(30, 10);
	add_use("GPU-a", 0, 1024);
	take(40, 10);
	try_lines(
		"\n     first used after 10.0 s; idle from 20.0 s on; held 2.00 GiB without work for 20.0 s");
	assert_about(summary_gpus_idle_hours(gpus), 30 / 3600.0);
	assert_about(summary_gpus_held_idle_hours(gpus), 20 / 3600.0);
	try_gpus_json(
		"\"first_use_secs\":10.0,\"last_use_secs\":20.0,\"idle_secs\":30.0,\"held_idle_secs\":20.0,"
		"\"held_idle_max_mib\":2048.0,");
	try_gpus_json("\"course\":\"first used after 10.0 s; idle from 20.0 s on; held 2.00 GiB without work "
		      "for 20.0 s\",");
}

/* Ten seconds, and a tenth of the time. */
static void short_times_without_work_are_not_told(void **state)
{
	(void)state;
	begin();
	add_use("GPU-a", 0, 0);
	take(9.9, 9.9);
	add_use("GPU-a", 50, 0);
	take(20, 10.1);
	try_lines("");
	try_gpus_json("\"course\":null");
	begin();
	add_use("GPU-a", 0, 0);
	take(10, 10);
	add_use("GPU-a", 50, 0);
	take(100, 90);
	try_lines("\n     first used after 10.0 s");
	begin();
	add_use("GPU-a", 0, 0);
	take(10, 10);
	add_use("GPU-a", 50, 0);
	take(101, 91);
	try_lines("");
}

static void a_first_use_is_not_before_the_run(void **state)
{
	(void)state;
	begin();
	add_use("GPU-a", 1, 0);
	take(5, 7);
	try_gpus_json(
		"\"first_use_secs\":0.0,\"last_use_secs\":5.0,\"idle_secs\":0.0,\"held_idle_secs\":0.0");
}

static void hours_are_unknown_unless_each_sample_tells_the_part_of_the_job(void **state)
{
	struct gpu_row *row;

	(void)state;
	begin();
	assert_true(isnan(summary_gpus_idle_hours(NULL)));
	row = add_gpu("GPU-a");
	row->process_count = 1;
	take(10, 10);
	assert_true(isnan(summary_gpus_idle_hours(gpus)));
	try_gpus_json("\"idle_secs\":null,\"held_idle_secs\":null,\"held_idle_max_mib\":null");
	/* Without a process, the job had no work on it. */
	row = add_gpu("GPU-a");
	row->process_count = 0;
	take(46, 36);
	assert_about(summary_gpus_idle_hours(gpus), 0.01);
	/* A device that the job cannot see does not count, unless the job uses it. */
	row = add_gpu("GPU-b");
	row->visible = 0;
	take(50, 4);
	assert_about(summary_gpus_idle_hours(gpus), 0.01);
	row = add_gpu("GPU-b");
	row->visible = 0;
	row->process_vram_bytes = 1;
	take(54, 4);
	assert_true(isnan(summary_gpus_idle_hours(gpus)));
	begin();
	row = add_use("MIG-a", 0, 0);
	row->mig_parent = "GPU-a";
	take(10, 10);
	assert_true(isnan(summary_gpus_idle_hours(gpus)));
}

static void slower_clocks_are_told_by_their_reason(void **state)
{
	(void)state;
	begin();
	add_gpu("GPU-a");
	take(10, 10);
	try_gpus_json("\"slowed_secs\":null");
	add_gpu("GPU-a")->throttle_reasons = "none";
	take(20, 10);
	try_gpus_json("\"slowed_secs\":{}");
	add_gpu("GPU-a")->throttle_reasons = "power_cap+thermal_software";
	take(30, 10);
	add_gpu("GPU-a")->throttle_reasons = "idle+thermal_software";
	take(35, 5);
	add_gpu("GPU-a")->throttle_reasons = "power_caps+thermal+sync_boost";
	take(44, 9);
	try_gpus_json("\"slowed_secs\":{\"power_cap\":10.0,\"thermal_software\":15.0,\"sync_boost\":9.0}");
	try_lines("\n     slowed by its power limit for 10.0 s; slowed by heat for 15.0 s");
}

static void each_reason_has_its_words(void **state)
{
	static const char *const REASONS[][2] = {
		{"power_cap", "its power limit"},     {"power_brake", "the machine's power brake"},
		{"thermal_software", "heat"},         {"thermal_hardware", "heat (hardware)"},
		{"hardware", "the hardware"},         {"sync_boost", "the clocks of its group"},
		{"clock_setting", "a clock setting"}, {"display_clock", "the display"},
	};
	char expected[128];

	(void)state;
	for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
		begin();
		add_gpu("GPU-a")->throttle_reasons = REASONS[i][0];
		take(10, 10);
		snprintf(expected, sizeof expected, "\n     slowed by %s for 10.0 s", REASONS[i][1]);
		try_lines(expected);
	}
}

static void errors_of_memory_count_from_the_first_sample_on(void **state)
{
	static const int64_t COUNTERS[] = {100, 103, 2};

	(void)state;
	begin();
	for (int i = 0; i < 3; i++) {
		struct gpu_row *row = add_gpu("GPU-a");

		row->ecc_uncorrected_errors = COUNTERS[i];
		row->ecc_corrected_errors = 7;
		row->remapped_rows_corrected = i;
		take(i + 1, 1);
		if (i == 0)
			try_lines("");
		if (i == 0)
			try_gpus_json(
				"\"ecc_corrected_errors\":0,\"ecc_uncorrected_errors\":0,\"remapped_rows\":{"
				"\"corrected\":0,\"uncorrected\":null,\"pending\":null,\"failed\":null}");
	}
	/* A reset began them again. */
	try_gpus_json("\"ecc_corrected_errors\":0,\"ecc_uncorrected_errors\":5,\"remapped_rows\":{"
		      "\"corrected\":2,");
	try_lines("\n     its memory had errors that ECC did not correct (5)");
	add_gpu("GPU-a")->remap_pending = 1;
	take(4, 1);
	try_lines("\n     its memory had errors that ECC did not correct (5); its next reset replaces a row "
		  "of its memory");
	add_gpu("GPU-a")->remap_failed = 1;
	take(5, 1);
	try_gpus_json("\"pending\":1,\"failed\":1}");
}

static void an_xid_has_its_meaning(void **state)
{
	static const struct {
		int xid;
		const char *meaning;
	} MEANINGS[] = {
		{13, "a kernel failed on it"},
		{31, "a kernel used memory that it does not have"},
		{43, "it ended a program that failed on it"},
		{45, "it cleaned up after a program that ended"},
		{48, "an error of its memory that ECC cannot correct"},
		{63, "a row of its memory was replaced"},
		{64, "a row of its memory could not be replaced"},
		{74, "an error of NVLink"},
		{79, "the GPU has fallen off the bus"},
		{94, "an error of its memory ended one program"},
		{95, "an error of its memory, and it must be reset"},
		{119, "its firmware did not answer"},
		{120, "its firmware failed"},
		{1, "see the kernel's log"},
	};
	char expected[128];
	struct gpu_row *row;

	(void)state;
	for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++) {
		begin();
		row = add_gpu("GPU-a");
		row->xid_errors = 1;
		row->last_xid = MEANINGS[i].xid;
		take(1, 1);
		snprintf(expected, sizeof expected, "\n     Xid %d: %s", MEANINGS[i].xid,
			 MEANINGS[i].meaning);
		try_lines(expected);
	}
	try_gpus_json("\"xid_errors\":1,\"last_xid\":1,");
	begin();
	row = add_gpu("GPU-a");
	row->xid_errors = row->last_xid = 0;
	take(1, 1);
	try_lines("");
	try_gpus_json("\"xid_errors\":0,\"last_xid\":null,");
	begin();
	add_gpu("GPU-a")->xid_errors = 3;
	take(1, 1);
	try_gpus_json("\"xid_errors\":null,\"last_xid\":null,");
}

static void units_are_told_for_the_time_in_which_it_worked(void **state)
{
	struct gpu_row *row;

	(void)state;
	begin();
	row = add_gpu("GPU-a");
	row->utilization_pct = row->sm_active_pct = 0;
	take(10, 10);
	row = add_gpu("GPU-a");
	row->utilization_pct = 80;
	row->sm_active_pct = 96;
	row->dram_active_pct = 12.5;
	row->fp64_active_pct = 3;
	take(20, 10);
	try_lines("\n     at work: multiprocessors 96 % active, memory bandwidth 12 %");
	try_gpus_json(
		"\"activity\":{\"sm_active_pct\":96.0,\"tensor_active_pct\":null,\"dram_active_pct\":12.5,"
		"\"sm_occupancy_pct\":null,\"fp64_active_pct\":3.0,");
	try_gpus_json("\"mean_pct\":40.0,\"max_pct\":80.0,");
	/* Drivers tell small kernels as 0 %. */
	begin();
	row = add_gpu("GPU-a");
	row->utilization_pct = 0;
	row->sm_active_pct = 2;
	take(10, 10);
	try_gpus_json("\"sm_active_pct\":2.0,");
	try_lines("");
	/* Any work is work. */
	for (int unit = 0; unit <= 1; unit++) {
		begin();
		row = add_gpu("GPU-a");
		row->utilization_pct = unit ? 0 : 0.5;
		row->sm_active_pct = unit ? 0.5 : 0;
		row->fp16_active_pct = 0.25;
		take(10, 10);
		try_gpus_json("\"fp16_active_pct\":0.25");
	}
	for (int work = 1; work <= 2; work++) {
		begin();
		row = add_gpu("GPU-a");
		row->utilization_pct = work == 1 ? 0.9 : 1;
		row->sm_active_pct = 2;
		take(10, 10);
		try_lines(work == 1 ? "" : "\n     at work: multiprocessors 2 % active");
	}
}

static void devices_without_a_name_are_told_apart_by_their_place(void **state)
{
	(void)state;
	begin();
	add_use("", 30, 1);
	take(10, 10);
	(void)ADD_ROW(&frame, gpu, NULL);
	add_use("", 50, 1);
	take(20, 10);
	try_gpus_json("\"gpus\":[{\"index\":0,\"uuid\":null,\"name\":null,\"mig_parent\":null,\"mig_gpu_"
		      "instance\":null,"
		      "\"mean_pct\":30.0,");
	try_gpus_json(
		"{\"index\":1,\"uuid\":null,\"name\":null,\"mig_parent\":null,\"mig_gpu_instance\":null,"
		"\"mean_pct\":50.0,\"max_pct\":50.0,");
}

static void the_list_is_bounded(void **state)
{
	static char names[130][16];
	struct idle_gpus idle;

	(void)state;
	for (int with_names = 0; with_names < 2; with_names++) {
		begin();
		for (int i = 0; i < 130; i++) {
			snprintf(names[i], sizeof names[i], "GPU-%d", i);
			add_gpu(with_names ? names[i] : "")->process_count = 0;
		}
		take(1, 1);
		idle = summary_gpus_idle(gpus, true);
		assert_int_equal(idle.of, 128);
		assert_int_equal(idle.count, 128);
		buffer_done(&idle.names);
	}
}

static void try_idle(bool tracked, int count, int of, const char *names)
{
	struct idle_gpus idle = summary_gpus_idle(gpus, tracked);

	assert_int_equal(idle.count, count);
	assert_int_equal(idle.of, of);
	assert_string_equal(idle.names.data ? idle.names.data : "", names);
	buffer_done(&idle.names);
}

static void gpus_without_use_are_counted(void **state)
{
	struct gpu_row *row;

	(void)state;
	begin();
	try_idle(true, 0, 0, "");
	for (int i = 0; i < 5; i++) {
		row = add_gpu((const char *[]){"GPU-a", "GPU-b", "GPU-c", "GPU-d", "GPU-e"}[i]);
		row->process_count = i == 0;
		row->process_vram_bytes = i == 1;
		row->process_utilization_pct = i == 2 ? 0.1 : 0;
	}
	take(10, 10);
	try_idle(true, 2, 5, "3, 4");
	try_idle(false, -1, 5, "3, 4");
	row = add_gpu("GPU-e");
	row->visible = 0;
	take(20, 10);
	try_idle(true, 1, 4, "3");
	add_gpu("GPU-f");
	take(30, 10);
	try_idle(true, -1, 5, "3, 5");
}

static void instances_stand_for_their_device(void **state)
{
	struct gpu_row *row;

	(void)state;
	begin();
	add_gpu("GPU-a")->process_count = 0;
	for (int i = 0; i < 2; i++) {
		row = add_gpu(i ? "MIG-b" : "MIG-a");
		row->mig_parent = "GPU-a";
		row->index = 0;
		row->process_count = 0;
		if (i)
			row->mig_gpu_instance = 7;
	}
	take(10, 10);
	try_idle(true, 2, 2, "0 (instance), 0 (instance 7)");
	try_gpus_json("\"mig_parent\":\"GPU-a\",\"mig_gpu_instance\":7,");
}

static int64_t full_index(int64_t used_mib, int64_t of_job_mib)
{
	struct gpu_row *row;

	begin();
	row = add_gpu("GPU-a");
	row->vram_total_bytes = 100 * MIB;
	row->vram_used_bytes = used_mib * MIB;
	row->process_vram_bytes = of_job_mib * MIB;
	row->index = 3;
	take(1, 1);
	return summary_gpus_full(gpus).index;
}

static void full_memory_is_mostly_that_of_the_job(void **state)
{
	(void)state;
	assert_int_equal(full_index(95, 50), 3);
	assert_about(summary_gpus_full(gpus).used_mib, 95);
	assert_about(summary_gpus_full(gpus).total_mib, 100);
	assert_int_equal(full_index(94, 94), -1);
	assert_int_equal(full_index(100, 49), -1);
	assert_int_equal(summary_gpus_full(NULL).index, -1);
}

static void the_size_of_memory_is_that_at_the_peak(void **state)
{
	static const int64_t USED[] = {50, 40, 60, 60}, TOTAL[] = {100, 200, 300, 400},
			     SHOWN[] = {100, 100, 300, 300};
	char expected[64];

	(void)state;
	begin();
	for (int i = 0; i < 4; i++) {
		struct gpu_row *row = add_gpu("GPU-a");

		row->vram_used_bytes = USED[i] * MIB;
		row->vram_total_bytes = TOTAL[i] * MIB;
		take(i + 1, 1);
		snprintf(expected, sizeof expected, "\"memory_total_mib\":%d.0,", (int)SHOWN[i]);
		try_gpus_json(expected);
	}
	try_gpus_json("\"memory_mean_mib\":52.5,\"memory_max_mib\":60.0,");
}

static void energy_is_that_of_all_devices(void **state)
{
	(void)state;
	begin();
	assert_true(isnan(summary_gpus_energy_joules(NULL)));
	add_gpu("GPU-a");
	take(1, 1);
	assert_true(isnan(summary_gpus_energy_joules(gpus)));
	add_gpu("GPU-a");
	add_gpu("GPU-b")->energy_joules = 10.5;
	add_gpu("GPU-c")->energy_joules = 2;
	take(2, 1);
	assert_about(summary_gpus_energy_joules(gpus), 12.5);
	try_gpus_json("\"energy_joules\":10.5,");
	summary_gpus_clear(gpus);
	assert_true(isnan(summary_gpus_energy_joules(gpus)));
}

static void several_devices_have_a_line_each_and_idle_ones_one(void **state)
{
	struct gpu_row *row;

	(void)state;
	begin();
	row = add_use("GPU-a", 40, 512);
	row->vram_used_bytes = 1024 * MIB;
	row->utilization_pct = 100;
	row = add_use("GPU-b", 0, 0);
	row->process_count = 0;
	row->utilization_pct = 0.9;
	row->vram_used_bytes = 204 * MIB;
	row = add_use("GPU-c", 0, 0);
	row->process_count = 0;
	row = add_use("GPU-d", 0, 0);
	row->process_count = 0;
	row->utilization_pct = 1;
	row = add_use("GPU-e", 0, 0);
	row->process_count = 0;
	row->vram_used_bytes = 205 * MIB;
	add_gpu("GPU-f");
	take(1, 1);
	try_lines("\n     0: mean 100 %, max 100 %; memory peak 1.00 GiB of 4.00 GiB; the job: mean 40 %, "
		  "512 MiB"
		  "\n     3: mean 1 %, max 1 %; memory peak 0 of 4.00 GiB; not used by the job"
		  "\n     4: mean 0 %, max 0 %; memory peak 205 MiB of 4.00 GiB; not used by the job"
		  "\n     5: use unknown"
		  "\n     1, 2: idle; not used by the job");
	try_gpus_json("\"used_by_job\":true}");
	try_gpus_json("\"used_by_job\":false}");
	try_gpus_json("\"used_by_job\":null}");
	row = add_gpu("GPU-f");
	row->vram_used_bytes = MIB;
	row->process_vram_bytes = MIB;
	take(2, 1);
	try_lines("\n     0: mean 100 %, max 100 %; memory peak 1.00 GiB of 4.00 GiB; the job: mean 40 %, "
		  "512 MiB"
		  "\n     3: mean 1 %, max 1 %; memory peak 0 of 4.00 GiB; not used by the job"
		  "\n     4: mean 0 %, max 0 %; memory peak 205 MiB of 4.00 GiB; not used by the job"
		  "\n     5: use unknown; memory peak 1.00 MiB; the job: 1.00 MiB"
		  "\n     1, 2: idle; not used by the job");
	begin();
	for (int i = 0; i < 2; i++)
		add_use(i ? "GPU-b" : "GPU-a", 0, 0)->process_count = 0;
	add_use("GPU-c", 50, 0);
	take(1, 1);
	try_lines("\n     2: mean 50 %, max 50 %; memory peak 0 of 4.00 GiB; the job: mean 50 %"
		  "\n     0, 1: idle; not used by the job");
}

static void sixteen_devices_have_a_line(void **state)
{
	static char names[18][16];
	struct buffer out = BUFFER(1 << 16);

	(void)state;
	for (int count = 16; count <= 18; count += 2) {
		begin();
		for (int i = 0; i < count; i++) {
			snprintf(names[i], sizeof names[i], "GPU-%d", i);
			add_gpu(names[i]);
		}
		take(1, 1);
		buffer_clear(&out);
		summary_gpus_lines(&out, gpus, RT_SIZE_AUTO, 3);
		assert_non_null(strstr(out.data, "\n     15: use unknown"));
		assert_null(strstr(out.data, "\n     16: "));
		if (count == 16)
			assert_null(strstr(out.data, "more"));
		else
			assert_string_equal(strrchr(out.data, '\n'), "\n     and 2 more: see the JSON form");
	}
	buffer_done(&out);
	summary_gpus_lines(&out, NULL, RT_SIZE_AUTO, 3);
	assert_int_equal(out.length, 0);
}

static int forget(void **state)
{
	(void)state;
	begin();
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_without_work_is_told),
		cmocka_unit_test(short_times_without_work_are_not_told),
		cmocka_unit_test(a_first_use_is_not_before_the_run),
		cmocka_unit_test(hours_are_unknown_unless_each_sample_tells_the_part_of_the_job),
		cmocka_unit_test(slower_clocks_are_told_by_their_reason),
		cmocka_unit_test(each_reason_has_its_words),
		cmocka_unit_test(errors_of_memory_count_from_the_first_sample_on),
		cmocka_unit_test(an_xid_has_its_meaning),
		cmocka_unit_test(units_are_told_for_the_time_in_which_it_worked),
		cmocka_unit_test(devices_without_a_name_are_told_apart_by_their_place),
		cmocka_unit_test(the_list_is_bounded),
		cmocka_unit_test(gpus_without_use_are_counted),
		cmocka_unit_test(instances_stand_for_their_device),
		cmocka_unit_test(full_memory_is_mostly_that_of_the_job),
		cmocka_unit_test(the_size_of_memory_is_that_at_the_peak),
		cmocka_unit_test(energy_is_that_of_all_devices),
		cmocka_unit_test(several_devices_have_a_line_each_and_idle_ones_one),
		cmocka_unit_test(sixteen_devices_have_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
