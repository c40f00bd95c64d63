/* Tests of src/live: the course of a run, how its samples are merged, and what a run keeps of them. */
#include "live_screen.h"

/* ---- merging ----------------------------------------------------------------------------------------- */

static const struct moment *moment_of(size_t index)
{
	return &run.timeline.moments[index];
}

static void give_every(size_t count, double spacing_secs)
{
	for (size_t i = 1; i <= count; i++)
		give_job(&run, spacing_secs * (double)i, 1, 100);
}

/* 2048 s divided by 512 are 4 s: all but the newest 512 moments are merged by four. */
static void older_moments_are_merged_to_a_512th_of_the_run(void **state)
{
	(void)state;
	give_every(TIMELINE_MOMENTS, 1);
	assert_int_equal(run.timeline.count, 2048);
	assert_true(moment_of(0)->step_secs == 1);
	give_job(&run, 2049, 1, 100);
	assert_int_equal(run.timeline.count, 384 + 512 + 1);
	assert_true(moment_of(0)->step_secs == 4 && moment_of(0)->end_secs == 4);
	assert_true(moment_of(383)->step_secs == 4 && moment_of(383)->end_secs == 1536);
	assert_true(moment_of(384)->step_secs == 1 && moment_of(384)->end_secs == 1537);
	assert_true(moment_of(896)->end_secs == 2049);
	assert_true(timeline_start(&run.timeline) == 0 && timeline_end(&run.timeline) == 2049);
}

/* Each gap is as long as a sample. A 512th of 4095 s holds seven samples, and 1536 are 219 times seven and three. */
static void gaps_of_a_sample_are_merged(void **state)
{
	(void)state;
	give_every(TIMELINE_MOMENTS + 1, 2);
	assert_int_equal(run.timeline.count, 220 + 512 + 1);
	assert_true(moment_of(0)->step_secs == 7 && moment_of(0)->end_secs == 14);
	assert_true(moment_of(219)->step_secs == 3 && moment_of(219)->end_secs == 3072);
}

/* Longer gaps stay, so that nothing can be merged: the oldest 512 moments go. */
static void a_run_of_gaps_loses_its_beginning(void **state)
{
	(void)state;
	give_every(TIMELINE_MOMENTS + 1, 3);
	assert_int_equal(run.timeline.count, 2048 - 512 + 1);
	assert_true(moment_of(0)->end_secs == 3 * 513);
	assert_true(moment_of(1535)->end_secs == 3 * 2048);
	assert_true(moment_of(1536)->end_secs == 3 * 2049);
	assert_true(timeline_start(&run.timeline) == 3 * 513 - 1);
}

static void values_of_no_time_are_merged_to_the_larger_one(void **state)
{
	struct moment first = {.end_secs = 1}, next = {.end_secs = 1};

	(void)state;
	first.values[SERIES_JOB_CPU] = 3;
	next.values[SERIES_JOB_CPU] = 1;
	first.values[SERIES_HOST_CPU] = 1;
	next.values[SERIES_HOST_CPU] = 2;
	moment_merge(&first, &next);
	assert_true(first.values[SERIES_JOB_CPU] == 3);
	assert_true(first.values[SERIES_HOST_CPU] == 2);
	first = (struct moment){.end_secs = 1, .step_secs = 0.25};
	next = (struct moment){.end_secs = 2, .step_secs = 0.25};
	first.values[SERIES_JOB_CPU] = 1;
	next.values[SERIES_JOB_CPU] = 3;
	moment_merge(&first, &next);
	assert_true(first.values[SERIES_JOB_CPU] == 2);
	assert_true(series_is_peak(SERIES_JOB_MEMORY));
	assert_false(series_is_peak(SERIES_JOB_CPU) || series_is_peak(SERIES_JOB_CHILDREN));
}

/* ---- columns and moments ----------------------------------------------------------------------------- */

static double column(enum series series, double from_secs, double to_secs)
{
	double value;

	timeline_columns(&run.timeline, series, from_secs, to_secs, &value, 1);
	return value;
}

static void columns_weigh_moments_by_their_time(void **state)
{
	(void)state;
	give_job(&run, 1, 1, 10);
	give_job(&run, 2, 3, 30);
	give_job(&run, 3, 9, 20);
	assert_true(column(SERIES_JOB_CPU, 0.5, 1.5) == 2);
	assert_true(column(SERIES_JOB_CPU, 0.75, 1.75) == 2.5);
	assert_true(column(SERIES_JOB_CPU, 1, 2) == 3);
	assert_true(column(SERIES_JOB_CPU, -4, 1) == 1);
	assert_true(column(SERIES_JOB_CPU, 2.25, 2.5) == 9);
	assert_true(isnan(column(SERIES_JOB_CPU, 3, 4)));
	assert_true(isnan(column(SERIES_JOB_CPU, -1, 0)));
	/* A peak is not weighed, and moments that only touch the column are left out. */
	assert_true(column(SERIES_JOB_MEMORY, 0, 1) == 10);
	assert_true(column(SERIES_JOB_MEMORY, 2, 3) == 20);
	assert_true(column(SERIES_JOB_MEMORY, 0.9, 1.1) == 30);
	assert_true(isnan(column(SERIES_JOB_SWAP, 0, 3)));
	/* Unknown values are left out. */
	give_job(&run, 4, no_real(ABSENT_NOT_COLLECTED), 5);
	assert_true(column(SERIES_JOB_CPU, 2, 4) == 9);
	/* A sample without an interval takes no time. */
	sample_at(4);
	frame.sample->actual_interval_ms = no_real(ABSENT_NOT_COLLECTED);
	SINGLE_ROW(&frame, tree)->process_cores_used = 50;
	SINGLE_ROW(&frame, tree)->process_memory_mib = 500;
	give(&run);
	assert_true(moment_of(4)->step_secs == 0);
	assert_true(column(SERIES_JOB_CPU, 2, 4) == 9);
	assert_true(column(SERIES_JOB_MEMORY, 3, 4.5) == 5);
	assert_true(run.timeline.peaks[SERIES_JOB_MEMORY] == 500);
}

static void a_time_has_the_moment_that_holds_it(void **state)
{
	static const struct {
		double secs, wanted_secs;
	} CASES[] = {{-1, 1}, {0, 1}, {1, 1}, {1 + 5e-10, 1}, {1.01, 2}, {2, 2}, {2.5, 3}, {3, 3}, {99, 3}};

	(void)state;
	assert_null(timeline_at(&run.timeline, 1));
	assert_true(timeline_start(&run.timeline) == 0 && timeline_end(&run.timeline) == 0);
	assert_true(isnan(run_value(&run, SERIES_JOB_CPU)));
	give_every(3, 1);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		assert_true(timeline_at(&run.timeline, CASES[i].secs)->end_secs == CASES[i].wanted_secs);
	assert_true(run_value(&run, SERIES_JOB_CPU) == 1);
	timeline_clear(&run.timeline);
	assert_null(timeline_at(&run.timeline, 1));
}

/* ---- details ----------------------------------------------------------------------------------------- */

static const struct moment *given(void)
{
	give(&run);
	return moment_of(run.timeline.count - 1);
}

#define ASSERT_FIRST_64(row_kind, detail, field) \
	do { \
		sample_at(1); \
		for (int i = 0; i < 65; i++) \
			ADD_ROW(&frame, row_kind, NULL)->field = "row"; \
		assert_int_equal(given()->detail_count, DETAILS_MOST); \
		for (size_t i = 0; i < DETAILS_MOST; i++) \
			assert_int_equal(moment_of(run.timeline.count - 1)->details[i].kind, detail); \
	} while (0)

static void sixty_four_lines_are_kept(void **state)
{
	(void)state;
	ASSERT_FIRST_64(program, DETAIL_PROGRAM, name);
	ASSERT_FIRST_64(gpu, DETAIL_GPU, name);
	ASSERT_FIRST_64(disk, DETAIL_DISK, device);
	ASSERT_FIRST_64(network, DETAIL_NETWORK, interface);
	ASSERT_FIRST_64(mount, DETAIL_MOUNT, mount_point);
}

static void thousand_and_24_cores_are_kept(void **state)
{
	const struct moment *moment;

	(void)state;
	sample_at(1);
	SINGLE_ROW(&frame, host_cpu);
	for (int i = 0; i < 1030; i++)
		ADD_ROW(&frame, cpu_core, frame.first[ROW_host_cpu])->busy_pct =
			i == 5 ? no_real(ABSENT_NOT_COLLECTED) : i % 100;
	moment = given();
	assert_int_equal(moment->core_count, 1024);
	assert_int_equal(moment->cores[5], CORE_UNKNOWN);
	assert_int_equal(moment->cores[1023], 23);
}

static void gpus_have_their_names_and_numbers(void **state)
{
	const struct moment *moment;
	struct gpu_row *gpu;

	(void)state;
	sample_at(1);
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->index = 3;
	gpu->utilization_pct = 1;
	gpu->vram_used_bytes = 2 << 20;
	gpu->vram_total_bytes = 3 << 20;
	gpu->temperature_celsius = 4;
	gpu->power_watts = 5;
	gpu->process_utilization_pct = 6;
	gpu->process_vram_bytes = 7 << 20;
	gpu->sm_active_pct = 8;
	gpu->tensor_active_pct = 9;
	gpu->last_xid = 10;
	ADD_ROW(&frame, gpu, NULL)->name = "H100";
	ADD_ROW(&frame, gpu, NULL);
	moment = given();
	assert_int_equal(moment->detail_count, 3);
	assert_string_equal(moment->details[0].name, "3: -");
	assert_string_equal(moment->details[1].name, "H100");
	assert_string_equal(moment->details[2].name, "-");
	assert_true(moment->details[0].numbers[GPU_BUSY] == 1);
	assert_true(moment->details[0].numbers[GPU_MEMORY] == 2);
	assert_true(moment->details[0].numbers[GPU_MEMORY_TOTAL] == 3);
	assert_true(moment->details[0].numbers[GPU_TEMPERATURE] == 4);
	assert_true(moment->details[0].numbers[GPU_POWER] == 5);
	assert_true(moment->details[0].numbers[GPU_JOB] == 6);
	assert_true(moment->details[0].numbers[GPU_JOB_MEMORY] == 7);
	assert_true(moment->details[0].numbers[GPU_SM] == 8);
	assert_true(moment->details[0].numbers[GPU_TENSOR] == 9);
	assert_true(moment->details[0].numbers[GPU_XID] == 10);
	assert_true(moment->details[0].numbers[GPU_INDEX] == 3);
	for (size_t i = 0; i < DETAIL_NUMBERS; i++)
		assert_true(isnan(moment->details[2].numbers[i]));
}

static void pressure_is_the_machines_if_its_source_says_so(void **state)
{
	static const char *const SOURCES[] = {"cgroup", "host", "hosts"};

	(void)state;
	sample_at(1);
	assert_false(given()->machine_pressure);
	sample_at(2);
	SINGLE_ROW(&frame, pressure)->source = no_text(ABSENT_NOT_COLLECTED);
	assert_false(given()->machine_pressure);
	for (size_t i = 0; i < 3; i++) {
		sample_at(3 + (double)i);
		SINGLE_ROW(&frame, pressure)->source = SOURCES[i];
		assert_int_equal(given()->machine_pressure, i == 1);
	}
}

/* ---- the run ----------------------------------------------------------------------------------------- */

/* Without a run_start row, a recording without a job or its process is that of a machine. */
static void a_recording_without_a_job_is_of_the_machine(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		run_done(&run);
		run_begin(&run, "first", 0, 0);
		sample_at(1);
		if (i & 1)
			SINGLE_ROW(&frame, tree);
		frame.sample->tracked_pid = i & 2 ? 42 : no_count(ABSENT_NOT_TRACKED);
		SINGLE_ROW(&frame, host_cpu)->utilization_pct = 7;
		if (i & 1)
			SINGLE_ROW(&frame, tree)->process_cores_used = 3;
		give(&run);
		assert_int_equal(run.is_machine, i != 3);
		assert_int_equal(run.pid, i & 2 ? 42 : 0);
		assert_string_equal(run.name, i == 3 ? "first" : "node-1");
		assert_true(run_value(&run, SERIES_JOB_CPU) == (i == 3 ? 3 : 7));
	}
	/* A series that a machine lacks stays the job's. */
	run.is_machine = true;
	assert_int_equal(run_series(&run, SERIES_JOB_CPU), SERIES_HOST_CPU);
	assert_int_equal(run_series(&run, SERIES_JOB_MEMORY), SERIES_HOST_MEMORY);
	assert_int_equal(run_series(&run, SERIES_JOB_READ), SERIES_HOST_READ);
	assert_int_equal(run_series(&run, SERIES_JOB_WRITTEN), SERIES_HOST_WRITTEN);
	assert_int_equal(run_series(&run, SERIES_JOB_GPU), SERIES_JOB_GPU);
}

static void the_start_tells_of_the_machine(void **state)
{
	struct run_start_row *start = SINGLE_ROW(&identity, run_start);

	(void)state;
	start->memory_total_mib = INFINITY;
	start->mode = "process";
	give_job(&run, 1, 1, 1);
	assert_true(isnan(run.cpu_count) && isnan(run.memory_total_mib));
	assert_false(run.is_machine);
	start->cpu_count = 4;
	start->memory_total_mib = 512;
	start->folder = "/data";
	start->mode = "host";
	give_job(&run, 2, 1, 1);
	assert_true(run.cpu_count == 4 && run.memory_total_mib == 512);
	assert_string_equal(run.folder, "/data");
	assert_string_equal(run.host, "node-1");
	assert_true(run.is_machine);
	/* Empty or unknown values do not replace them. */
	start->folder = "";
	sample_at(3);
	frame.sample->host = no_text(ABSENT_NOT_COLLECTED);
	frame.sample->tracked_pid = no_count(ABSENT_NOT_TRACKED);
	give(&run);
	assert_string_equal(run.folder, "/data");
	assert_string_equal(run.host, "node-1");
	assert_int_equal(run.pid, 42);
}

static void give_wait(const char *class, const char *program, const char *waiter, const char *words)
{
	struct wait_row *row;

	sample_at(1);
	row = ADD_ROW(&frame, wait, NULL);
	row->class = class;
	row->program = program;
	give(&run);
	assert_string_equal(run.waiter, waiter);
	assert_string_equal(run.wait, words);
}

static void a_wait_needs_a_program_and_a_class(void **state)
{
	(void)state;
	give_wait("storage", "psql", "psql", "storage");
	give_wait(no_text(ABSENT_NOT_COLLECTED), "psql", "", "");
	give_wait("storage", "psql", "psql", "storage");
	give_wait("storage", no_text(ABSENT_NOT_COLLECTED), "", "");
}

/* A recording may hold several runs: nothing of the last one remains. */
static void the_next_run_begins_anew(void **state)
{
	struct run_end_row *end = SINGLE_ROW(&identity, run_end);

	(void)state;
	end->exit_code = 1;
	end->wall_secs = 2;
	end->memory_peak_mib = 77;
	end->memory_peak_source = "pss";
	give_job(&run, 1, 1, 1);
	assert_int_equal(run.state, RUN_FAILED);
	assert_true(run.wall_secs == 2 && run.memory_peak_mib == 77);
	run.usual.count = 3;
	run.told_overdue = true;
	snprintf(run.signal, sizeof run.signal, "sent");
	/* The same run keeps them. */
	give_job(&run, 2, 1, 1);
	assert_int_equal(run.usual.count, 3);
	assert_true(run.told_overdue);
	assert_string_equal(run.signal, "sent");
	frame_begin(&identity, 0, 0);
	sample_at(1);
	assert_int_equal(run_take(&run, &frame, &identity, 2, 5), 0);
	assert_int_equal(run.run_index, 2);
	assert_int_equal(run.state, RUN_GOES_ON);
	assert_string_equal(run.outcome, "");
	assert_string_equal(run.signal, "");
	assert_int_equal(run.usual.count, 0);
	assert_false(run.told_overdue);
	assert_true(isnan(run.wall_secs) && isnan(run.memory_peak_mib));
	assert_true(run.interval_secs == 5);
	assert_int_equal(run.timeline.count, 1);
}

static double peak_of(const char *source, double peak_mib)
{
	frame_begin(&identity, 0, 0);
	SINGLE_ROW(&identity, run_end)->memory_peak_source = source;
	SINGLE_ROW(&identity, run_end)->memory_peak_mib = peak_mib;
	give_job(&run, 1, 1, 400);
	return run.memory_peak_mib;
}

static void a_bound_is_trusted_up_to_the_samples(void **state)
{
	(void)state;
	assert_true(peak_of("bound", 900) == 400);
	assert_true(peak_of("bound", 399) == 399);
	assert_true(peak_of("pss", 900) == 900);
	assert_true(peak_of("machine", 900) == 900);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(older_moments_are_merged_to_a_512th_of_the_run),
		TEST(gaps_of_a_sample_are_merged),
		TEST(a_run_of_gaps_loses_its_beginning),
		TEST(values_of_no_time_are_merged_to_the_larger_one),
		TEST(columns_weigh_moments_by_their_time),
		TEST(a_time_has_the_moment_that_holds_it),
		TEST(sixty_four_lines_are_kept),
		TEST(thousand_and_24_cores_are_kept),
		TEST(gpus_have_their_names_and_numbers),
		TEST(pressure_is_the_machines_if_its_source_says_so),
		TEST(a_recording_without_a_job_is_of_the_machine),
		TEST(the_start_tells_of_the_machine),
		TEST(a_wait_needs_a_program_and_a_class),
		TEST(the_next_run_begins_anew),
		TEST(a_bound_is_trusted_up_to_the_samples),
	};

	return cmocka_run_group_tests_name("live course", tests, NULL, NULL);
}
