/* Tests of src/summary: the programs of a run, its waits, and idle time of its GPUs. */
#include "summary_frames.h"

#include "summary/launcher.h"
#include "summary/summary_programs.h"
#include "summary/summary_starved.h"
#include "summary/summary_waits.h"

/* ---- programs ---- */

static struct summary_programs programs;

static void add_program(const char *name, double cpu_total_secs, double memory_mib, int64_t exited,
			int64_t processes)
{
	struct program_row *row = ADD_ROW(&frame, program, NULL);

	row->name = name;
	row->cpu_total_secs = cpu_total_secs;
	row->cpu_estimated_secs = cpu_total_secs / 4;
	row->memory_mib = memory_mib;
	row->exited_count = exited < 0 ? no_count(ABSENT_NOT_GIVEN) : exited;
	row->process_count = processes < 0 ? no_count(ABSENT_NOT_GIVEN) : processes;
}

static void try_program(size_t index, const char *name, double secs, double pct, double memory_mib,
			int64_t processes)
{
	struct rt_program_use use = {.size = sizeof use};

	assert_int_equal(summary_programs_get(&programs, index, &use), 0);
	assert_string_equal(use.name, name);
	assert_about(use.cpu_secs, secs);
	assert_about(use.cpu_pct, pct);
	assert_about(use.memory_peak_mib, memory_mib);
	assert_int_equal(use.process_count, processes);
}

static void try_programs_line(const char *expected)
{
	struct buffer out = BUFFER(4096);

	summary_programs_line(&out, &programs, 3);
	if (!expected)
		assert_true(!out.data || !*out.data);
	else if (!out.data || !strstr(out.data, expected))
		fail_msg("%s is not in %s", expected, out.data ? out.data : "nothing");
	buffer_done(&out);
}

static void programs_are_those_of_the_last_sample_and_their_peaks(void **state)
{
	(void)state;
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	add_program("make", 1, 30, 2, 1);
	add_program("others", 5, 1, -1, -1);
	summary_programs_add(&programs, &frame);
	begin_sample(2, 2);
	add_program("make", 2, 20, 3, 1);
	add_program("cc1", 6, 40, 0, -1);
	add_program("others", 2, 1, -1, -1);
	add_program("gone", NAN, NAN, -1, 4);
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	try_program(0, "cc1", 6, 60, 40, 0);
	try_program(1, "make", 2, 20, 30, 4);
	try_program(2, "gone", 0, 0, NAN, -1);
	try_program(3, "others", 2, 20, NAN, -1);
	assert_int_equal(
		summary_programs_get(&programs, 4,
				     &(struct rt_program_use){.size = sizeof(struct rt_program_use)}),
		-ENOENT);
	try_programs_line("cc1 60 %, make 20 %, others 20 % of the CPU time (25 % of it estimated)");
	assert_null(programs.launcher);
}

static void the_end_has_the_programs_of_all_samples(void **state)
{
	struct run_end_program_row *row;

	(void)state;
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	add_program("make", 50, 30, 2, 1);
	summary_programs_add(&programs, &frame);
	begin_sample(2, 1);
	for (int i = 0; i < 3; i++) {
		row = ADD_ROW(&frame, run_end_program, NULL);
		row->name = i == 0 ? "b" : i == 1 ? "a" : "others";
		row->cpu_secs = 4;
		row->cpu_estimated_secs = i == 0 ? 0.119 : 0;
		row->memory_peak_mib = i == 0 ? 9 : NAN;
		row->process_count = i == 0 ? 3 : no_count(ABSENT_NOT_GIVEN);
	}
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	assert_int_equal(programs.count, 3);
	try_program(0, "a", 4, 100 / 3.0, NAN, -1);
	try_program(1, "b", 4, 100 / 3.0, 9, 3);
	try_program(2, "others", 4, 100 / 3.0, NAN, -1);
	/* Less than a hundredth was estimated. */
	try_programs_line("a 33 %, b 33 %, others 33 % of the CPU time");
}

static void the_line_has_five_programs_that_matter(void **state)
{
	char names[8][8];

	(void)state;
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	add_program("alone", 10, 1, 0, 1);
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	assert_int_equal(programs.count, 1);
	try_programs_line(NULL);
	for (int i = 0; i < 7; i++)
		snprintf(names[i], sizeof names[i], "p%d", i);
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	for (int i = 0; i < 7; i++)
		add_program(names[i], 20 - i, 1, 0, 1);
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	try_programs_line("p0 17 %, p1 16 %, p2 15 %, p3 14 %, p4 13 %, others 24 % of the CPU time (25 % of "
			  "it estimated)");
	/* One of less than half a hundredth has no place, unless it is the first. */
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	add_program("large", 99.6, 1, 0, 1);
	add_program("small", 0.4, 1, 0, 1);
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	try_programs_line("large 100 % of the CPU time");
	programs = (struct summary_programs){0};
	begin_sample(1, 1);
	add_program("large", 99.5, 1, 0, 1);
	add_program("small", 0.5, 1, 0, 1);
	summary_programs_add(&programs, &frame);
	summary_programs_finish(&programs);
	try_programs_line("large 100 %, small 0 % of the CPU time");
	programs.cpu_secs = 0;
	try_programs_line(NULL);
}

static void a_launcher_is_found_among_the_programs(void **state)
{
	static const struct {
		const char *name;
		int64_t processes;
		double secs;
	} CASES[] = {{"make", 1, 0},          {"srun", 0, 0},   {"srun", 1, 1},
		     {"/usr/bin/srun", 2, 2}, {"mpirun", 1, 2}, {"srunner", 1, 2}};

	(void)state;
	programs = (struct summary_programs){0};
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		begin_sample(1, 1);
		add_program(CASES[i].name, 1, 1, 0, CASES[i].processes);
		summary_programs_add(&programs, &frame);
		assert_about(programs.launcher_secs, CASES[i].secs);
	}
	assert_string_equal(programs.launcher->name, "srun");
	assert_null(find_launcher("/srun/make"));
}

static void an_unknown_figure_of_a_program_is_null(void **state)
{
	struct buffer out = BUFFER(4096);

	(void)state;
	programs = (struct summary_programs){.cpu_secs = 4, .count = 3};
	programs.list[0] = (struct program_figures){"make", 3, 1, 0.5, 1};
	programs.list[1] = (struct program_figures){"cc1", 1, 0, 0, 0};
	programs.list[2] = (struct program_figures){"others", 0, 0, 0, -1};
	summary_programs_json(&out, &programs);
	assert_string_equal(
		out.data, "\"programs\":[{\"name\":\"make\",\"cpu_secs\":3.0,\"cpu_pct\":75.0,"
			  "\"cpu_estimated_secs\":1.0,\"memory_peak_mib\":0.5,\"processes\":1},"
			  "{\"name\":\"cc1\",\"cpu_secs\":1.0,\"cpu_pct\":25.0,\"cpu_estimated_secs\":0.0,"
			  "\"memory_peak_mib\":null,\"processes\":0},"
			  "{\"name\":\"others\",\"cpu_secs\":0.0,\"cpu_pct\":0.0,\"cpu_estimated_secs\":0.0,"
			  "\"memory_peak_mib\":null,\"processes\":null}]");
	buffer_done(&out);
}

/* ---- waits ---- */

static struct summary_waits waits;

static void add_wait(const char *class, const char *target, const char *program, double secs)
{
	struct wait_row *row = ADD_ROW(&frame, wait, NULL);

	row->class = class;
	row->target = target;
	row->program = program;
	row->wait_secs = secs;
}

static void try_wait(size_t index, const char *class, const char *target, const char *program, double secs,
		     int64_t looks)
{
	struct rt_wait_use use = {.size = sizeof use};

	assert_int_equal(summary_waits_get(&waits, 20, index, &use), 0);
	assert_string_equal(use.wait_class, class);
	if (target)
		assert_string_equal(use.target, target);
	else
		assert_null(use.target);
	assert_string_equal(use.program, program);
	assert_about(use.secs, secs);
	assert_about(use.run_pct, 5 * secs);
	assert_int_equal(use.look_count, looks);
}

static void waits_are_added_up_and_the_longest_is_first(void **state)
{
	struct rt_wait_use use = {.size = sizeof use};

	(void)state;
	waits = (struct summary_waits){0};
	for (int i = 0; i < 2; i++) {
		begin_sample(i, 1);
		add_wait("sleep", NULL, "sh", 1);
		add_wait("socket", "tcp 5432", "psql", 0.75);
		add_wait("socket", "tcp 5432", "curl", 0.5);
		add_wait("socket", "tcp 80", "curl", 0.25);
		add_wait(NULL, NULL, "sh", 9);
		add_wait("pipe", NULL, "sh", NAN);
		summary_waits_add(&waits, &frame);
	}
	begin_sample(2, 1);
	add_wait("socket", "tcp 5432", "psql", 1);
	summary_waits_add(&waits, &frame);
	summary_waits_finish(&waits);
	try_wait(0, "socket", "tcp 5432", "psql", 2.5, 3);
	try_wait(1, "sleep", NULL, "sh", 2, 2);
	try_wait(2, "socket", "tcp 5432", "curl", 1, 2);
	try_wait(3, "socket", "tcp 80", "curl", 0.5, 2);
	assert_int_equal(summary_waits_get(&waits, 20, 4, &use), -ENOENT);
	assert_int_equal(summary_waits_get(&waits, 0, 0, &use), 0);
	assert_true(isnan(use.run_pct));
	assert_int_equal(waits.by_target.count, 3);
	assert_about(waits.by_target.list[0].secs, 3.5);
	assert_string_equal(waits.by_target.list[0].program, "psql");
	assert_int_equal(waits.by_target.list[0].looks, 5);
	assert_about(waits.by_target.list[2].secs, 0.5);
}

static void the_end_has_the_waits_of_all_samples(void **state)
{
	struct run_end_wait_row *row;

	(void)state;
	waits = (struct summary_waits){0};
	begin_sample(1, 1);
	add_wait("sleep", NULL, "sh", 1);
	summary_waits_add(&waits, &frame);
	begin_sample(2, 1);
	add_wait("pipe", NULL, "sh", 7);
	row = ADD_ROW(&frame, run_end_wait, NULL);
	row->class = "lock";
	row->target = "file";
	row->program = "apt";
	row->wait_secs = 5;
	row->look_count = 9;
	summary_waits_add(&waits, &frame);
	begin_sample(3, 1);
	add_wait("pipe", NULL, "sh", 7);
	summary_waits_add(&waits, &frame);
	assert_int_equal(waits.by_program.count, 1);
	try_wait(0, "lock", "file", "apt", 5, 9);
	/* The table is full: the rest is left out. */
	waits = (struct summary_waits){0};
	for (int i = 0; i < SUMMARY_WAITS_MOST + 2; i++) {
		char program[16];

		snprintf(program, sizeof program, "p%d", i);
		begin_sample(1, 1);
		add_wait("sleep", NULL, program, 1);
		summary_waits_add(&waits, &frame);
	}
	assert_int_equal(waits.by_program.count, SUMMARY_WAITS_MOST);
	begin_sample(1, 1);
	add_wait("sleep", NULL, "p63", 1);
	summary_waits_add(&waits, &frame);
	try_wait(0, "sleep", NULL, "p63", 2, 2);
}

static void waits_as_json(void **state)
{
	struct buffer out = BUFFER(4096);

	(void)state;
	waits = (struct summary_waits){0};
	begin_sample(1, 1);
	add_wait("sleep", NULL, "sh", 1);
	add_wait("socket", "tcp 80", "curl", 2);
	summary_waits_add(&waits, &frame);
	summary_waits_json(&out, &waits, 16);
	assert_string_equal(
		out.data,
		"[{\"class\":\"socket\",\"target\":\"tcp 80\",\"program\":\"curl\",\"wait_secs\":2.0,"
		"\"run_pct\":12.5,\"look_count\":1},{\"class\":\"sleep\",\"target\":null,"
		"\"program\":\"sh\",\"wait_secs\":1.0,\"run_pct\":6.25,\"look_count\":1}]");
	buffer_done(&out);
}

/* ---- idle GPUs ---- */

static struct summary_starved starved;

static void begin_starved(double secs, double work_pct, int64_t processes)
{
	struct gpu_row *gpu;

	begin_sample(1, secs);
	gpu = ADD_ROW(&frame, gpu, NULL);
	gpu->uuid = "GPU-1";
	gpu->process_utilization_pct = work_pct;
	gpu->process_count = processes;
}

static struct program_row *add_beside(const char *name, double cpu_secs, int64_t processes, double vram_mib)
{
	struct program_row *row = ADD_ROW(&frame, program, NULL);

	row->name = name;
	row->cpu_secs = cpu_secs;
	row->process_count = processes;
	row->gpu_vram_mib = vram_mib;
	return row;
}

static void take_starved(bool own_pressure)
{
	summary_starved_add(&starved, &frame, &(struct cpu_bounds){8, no_count(ABSENT_NO_LIMIT), 6},
			    own_pressure);
}

static void idle_time_lies_between_two_uses(void **state)
{
	const struct starved_time *sure = &starved.sure;

	(void)state;
	starved = (struct summary_starved){0};
	begin_starved(1, 0, 1);
	take_starved(false);
	assert_about(sure->secs + starved.since_use.secs, 0); /* it loads the data before the first use */
	begin_starved(2, 30, 1);
	add_beside("train", 1, 1, 500);
	add_beside("load", 0.5, 3, 0);
	for (int i = 0; i < 3; i++)
		ADD_ROW(&frame, gpu_process, NULL)->pid = i < 2 ? 77 : 78;
	ADD_ROW(&frame, tree, NULL)->process_cores_used = 2;
	ADD_ROW(&frame, host_cpu, NULL)->utilization_pct = 5;
	ADD_ROW(&frame, pressure, NULL)->io_some_secs = 0.5;
	take_starved(true);
	assert_about(sure->secs, 2);
	assert_about(sure->idle_secs, 1.4);
	assert_about(sure->gpu_process_secs, 2.8);
	assert_about(sure->free_core_secs, 1.4 * 3);
	assert_about(sure->known_secs, 1.4);
	assert_about(sure->io_secs, 0.35);
	assert_int_equal(sure->count, 2);
	assert_true(sure->programs[0].on_gpu);
	assert_about(sure->programs[0].core_secs, 0.7);
	assert_about(sure->programs[0].process_secs, 1.4);
	assert_false(sure->programs[1].on_gpu);
	assert_about(sure->programs[1].core_secs, 0.35);
	assert_about(sure->programs[1].process_secs, 4.2);
	/* It saves the result: nothing counts until the next use. */
	begin_starved(3, 0, 1);
	add_beside("load", 1, 2, 0);
	ADD_ROW(&frame, tree, NULL)->process_cores_used = 5;
	ADD_ROW(&frame, host_cpu, NULL)->utilization_pct = 1;
	ADD_ROW(&frame, pressure, NULL)->io_some_secs = 0.5;
	take_starved(false);
	assert_about(sure->secs, 2);
	assert_about(starved.since_use.idle_secs, 3);
	begin_starved(1, 100, 1);
	take_starved(false);
	assert_about(sure->secs, 6);
	assert_about(sure->idle_secs, 4.4);
	assert_about(sure->free_core_secs, 1.4 * 3 + 3 * 1);
	assert_about(sure->known_secs, 4.4);
	assert_about(sure->io_secs, 0.35);
	assert_about(sure->programs[1].core_secs, 1.35);
	assert_about(sure->programs[1].process_secs, 10.2);
	assert_about(starved.since_use.secs, 0);
}

static void workers_that_compute_are_a_use(void **state)
{
	(void)state;
	starved = (struct summary_starved){0};
	begin_starved(1, 0, 1);
	add_beside("pt_data_worker", 0, 2, 0);
	take_starved(false);
	assert_about(starved.sure.secs, 0);
	begin_starved(1, 0, 1);
	add_beside("pt_data_worker", 0.01, 2, 0);
	take_starved(false);
	assert_about(starved.sure.secs, 1);
	assert_about(starved.sure.known_secs, 0);
	/* A device that the job does not hold, or of which nothing is known, and an interval without length. */
	starved = (struct summary_starved){0};
	begin_starved(1, 50, 0);
	take_starved(false);
	begin_starved(1, 50, no_count(ABSENT_NOT_GIVEN));
	take_starved(false);
	begin_starved(1, NAN, 1);
	take_starved(false);
	begin_starved(0, 50, 1);
	take_starved(false);
	assert_about(starved.sure.secs, 0);
	/* Two devices, one of which is divided: its instances count. */
	begin_starved(1, 80, 1);
	for (int i = 0; i < 2; i++) {
		struct gpu_row *instance = ADD_ROW(&frame, gpu, NULL);

		instance->uuid = i ? "MIG-2" : "MIG-1";
		instance->mig_parent = "GPU-1";
		instance->process_utilization_pct = i ? 200 : 0;
		instance->process_count = 1;
	}
	take_starved(false);
	assert_about(starved.sure.secs, 1);
	assert_about(starved.sure.idle_secs, 0.5);
}

#define PART_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PART_TEST(programs_are_those_of_the_last_sample_and_their_peaks),
		PART_TEST(the_end_has_the_programs_of_all_samples),
		PART_TEST(the_line_has_five_programs_that_matter),
		PART_TEST(a_launcher_is_found_among_the_programs),
		PART_TEST(an_unknown_figure_of_a_program_is_null),
		PART_TEST(waits_are_added_up_and_the_longest_is_first),
		PART_TEST(the_end_has_the_waits_of_all_samples),
		PART_TEST(waits_as_json),
		PART_TEST(idle_time_lies_between_two_uses),
		PART_TEST(workers_that_compute_are_a_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
