/* The time in which GPUs have no work: src/summary/summary_starved.c. Samples are made by hand, each 10 s long on 4 cores. */
#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "metric/typed_rows.h"
#include "summary/summary_starved.h"

static struct frame frame;
static struct summary_starved starved;
static struct cpu_bounds bounds;

static void begin_sample(void)
{
	frame_begin(&frame, 0, 0);
	frame.sample->actual_interval_ms = 10000;
}

static void begin(void)
{
	memset(&starved, 0, sizeof starved);
	bounds = (struct cpu_bounds){4, no_count(ABSENT_NO_LIMIT), NAN};
	begin_sample();
}

static struct gpu_row *add_gpu(double work_pct, int64_t process_count)
{
	struct gpu_row *row = ADD_ROW(&frame, gpu, NULL);

	row->process_utilization_pct = work_pct;
	row->process_count = process_count;
	return row;
}

static struct program_row *add_program(const char *name, double cpu_secs, int64_t process_count)
{
	struct program_row *row = ADD_ROW(&frame, program, NULL);

	row->name = name;
	row->cpu_secs = cpu_secs;
	row->process_count = process_count;
	return row;
}

/* Ends a sample and begins the next one. */
static void take(void)
{
	summary_starved_add(&starved, &frame, &bounds, true);
	begin_sample();
}

static void assert_about(double found, double expected)
{
	if (!(fabs(found - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", found, expected);
}

static void try_sure(double secs, double idle_secs)
{
	assert_about(starved.sure.secs, secs);
	assert_about(starved.sure.idle_secs, idle_secs);
}

static void time_counts_from_first_to_last_use(void **state)
{
	(void)state;
	begin();
	add_gpu(0, 1);
	take();
	try_sure(0, 0);
	assert_about(starved.since_use.secs, 0);
	add_gpu(30, 1);
	take();
	try_sure(10, 7);
	add_gpu(0, 1);
	take();
	add_gpu(0, 1);
	take();
	try_sure(10, 7);
	assert_about(starved.since_use.secs, 20);
	add_gpu(100, 1);
	take();
	try_sure(40, 27);
	assert_about(starved.since_use.secs, 0);
	/* A sample without a length, or without a device that the job holds, says nothing. */
	add_gpu(50, 1);
	frame.sample->actual_interval_ms = 0;
	take();
	take();
	try_sure(40, 27);
}

static void devices_that_the_job_holds_share_the_time(void **state)
{
	(void)state;
	begin();
	add_gpu(50, 1);
	add_gpu(0, 2);
	add_gpu(0, 0);
	add_gpu(NAN, 1);
	add_gpu(100, no_count(ABSENT_NOT_COLLECTED));
	take();
	try_sure(10, 7.5);
	begin();
	add_gpu(150, 1);
	add_gpu(50, 1);
	take();
	try_sure(10, 2.5);
}

static void a_divided_device_counts_by_its_instances(void **state)
{
	(void)state;
	begin();
	add_gpu(100, 1)->uuid = "GPU-a";
	add_gpu(50, 1)->mig_parent = "GPU-a";
	add_gpu(10, 1)->uuid = "GPU-b";
	add_gpu(0, 1);
	take();
	try_sure(10, 8);
}

static void processes_on_the_gpus_count_once(void **state)
{
	static const int64_t PIDS[] = {7, 8, 7};

	(void)state;
	begin();
	add_gpu(50, 1);
	for (size_t i = 0; i < sizeof PIDS / sizeof *PIDS; i++)
		ADD_ROW(&frame, gpu_process, NULL)->pid = PIDS[i];
	(void)ADD_ROW(&frame, gpu_process, NULL);
	take();
	assert_about(starved.sure.gpu_process_secs, 10);
	begin();
	add_gpu(50, 1);
	for (int i = 0; i < 257; i++)
		ADD_ROW(&frame, gpu_process, NULL)->pid = 1 + i;
	take();
	assert_about(starved.sure.gpu_process_secs, 5 * 256);
}

static const struct starved_program *find_program(const struct starved_time *time, const char *name)
{
	for (size_t i = 0; i < time->count; i++)
		if (strcmp(time->programs[i].name, name) == 0)
			return &time->programs[i];
	fail_msg("%s is not there", name);
	return NULL;
}

static void try_starved_program(const char *name, bool on_gpu, double core_secs, double process_secs)
{
	const struct starved_program *program = find_program(&starved.sure, name);

	assert_int_equal(program->on_gpu, on_gpu);
	assert_about(program->core_secs, core_secs);
	assert_about(program->process_secs, process_secs);
}

static void programs_have_the_idle_part_of_their_time(void **state)
{
	(void)state;
	begin();
	add_gpu(75, 1);
	add_program("python3", 8, 2)->gpu_vram_mib = 1;
	add_program("tar", 4, no_count(ABSENT_NOT_COLLECTED))->gpu_vram_mib = 0;
	add_program("gzip", NAN, 1);
	add_program(NULL, 50, 50);
	take();
	assert_int_equal(starved.sure.count, 3);
	try_starved_program("python3", true, 2, 5);
	try_starved_program("tar", false, 1, 0);
	try_starved_program("gzip", false, 0, 2.5);
	add_gpu(0, 1);
	add_program("tar", 4, 1)->gpu_vram_mib = 1;
	add_program("xz", 3, 1);
	take();
	try_starved_program("tar", false, 1, 0);
	add_gpu(100, 1);
	add_program("python3", 8, 2);
	take();
	try_starved_program("python3", true, 2, 5);
	try_starved_program("tar", true, 5, 10);
	try_starved_program("xz", false, 3, 10);
	assert_int_equal(starved.sure.count, 4);
}

static void further_programs_are_left_out(void **state)
{
	char names[STARVED_PROGRAMS_MOST + 1][8];

	(void)state;
	begin();
	add_gpu(50, 1);
	add_program("first", 2, 1);
	take();
	/* One place is taken, so that the last of these finds none. */
	add_gpu(50, 1);
	for (int i = 0; i < STARVED_PROGRAMS_MOST + 1; i++) {
		snprintf(names[i], sizeof names[i], "p%d", i);
		add_program(names[i], 2, 1);
	}
	take();
	assert_int_equal(starved.sure.count, STARVED_PROGRAMS_MOST);
	try_starved_program("first", false, 1, 5);
	try_starved_program("p14", false, 1, 5);
}

/* Cores that the job could have used, in a sample whose GPU worked half of the time. NaN: unknown. */
static void try_free(double job, double all, double expected)
{
	struct cpu_bounds kept = bounds;

	begin();
	bounds = kept;
	add_gpu(50, 1);
	ADD_ROW(&frame, tree, NULL)->process_cores_used = job;
	ADD_ROW(&frame, host_cpu, NULL)->utilization_pct = all;
	take();
	assert_about(starved.sure.known_secs, isnan(expected) ? 0 : 5);
	assert_about(starved.sure.free_core_secs, isnan(expected) ? 0 : 5 * expected);
}

static void free_cores_are_those_of_the_limit_and_the_machine(void **state)
{
	(void)state;
	begin();
	try_free(1, 1.5, 2.5);
	try_free(1, 0.5, 3);
	try_free(1, 5, 0);
	try_free(NAN, 1, NAN);
	try_free(1, NAN, NAN);
	bounds.limit_cores = 2;
	try_free(0.5, 1, 1.5);
	try_free(2.5, 3, 0);
	bounds.core_count = no_count(ABSENT_NOT_COLLECTED);
	try_free(0.5, 1, NAN);
	begin();
	add_gpu(50, 1);
	take();
	assert_about(starved.sure.known_secs, 0);
}

static void waits_for_io_are_those_of_the_job(void **state)
{
	(void)state;
	begin();
	add_gpu(75, 1);
	ADD_ROW(&frame, pressure, NULL)->io_some_secs = 8;
	take();
	assert_about(starved.sure.io_secs, 2);
	add_gpu(75, 1);
	ADD_ROW(&frame, pressure, NULL)->io_some_secs = NAN;
	take();
	assert_about(starved.sure.io_secs, 2);
	add_gpu(75, 1);
	ADD_ROW(&frame, pressure, NULL)->io_some_secs = 8;
	summary_starved_add(&starved, &frame, &bounds, false);
	assert_about(starved.sure.io_secs, 2);
	try_sure(30, 7.5);
}

static void workers_of_a_loader_are_a_use(void **state)
{
	(void)state;
	begin();
	add_gpu(0, 1);
	add_program("pt_data_worker", 0, 1);
	take();
	add_gpu(0, 1);
	add_program("pt_data_workers", 1, 1);
	add_program(NULL, 1, 1);
	take();
	try_sure(0, 0);
	add_gpu(0, 1);
	add_program("python3", 0, 1);
	add_program("pt_data_worker", 0.1, 1);
	take();
	try_sure(10, 10);
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_counts_from_first_to_last_use),
		cmocka_unit_test(devices_that_the_job_holds_share_the_time),
		cmocka_unit_test(a_divided_device_counts_by_its_instances),
		cmocka_unit_test(processes_on_the_gpus_count_once),
		cmocka_unit_test(programs_have_the_idle_part_of_their_time),
		cmocka_unit_test(further_programs_are_left_out),
		cmocka_unit_test(free_cores_are_those_of_the_limit_and_the_machine),
		cmocka_unit_test(waits_for_io_are_those_of_the_job),
		cmocka_unit_test(workers_of_a_loader_are_a_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
