/* The sentence on GPUs without work: src/verdict/starved.c. They stood idle for 30 of 100 s, unless a test says otherwise. */
#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "verdict/starved.h"

static struct run_facts facts;
static struct starved_time *const sure = &facts.starved.sure;

static void begin(void)
{
	memset(&facts, 0, sizeof facts);
	facts.tracked = true;
	facts.recorded_secs = 100;
	facts.gpu_utilized.most = 1;
	sure->secs = 100;
	sure->idle_secs = 30;
}

static struct starved_program *add_program(const char *name, bool on_gpu, double core_secs,
					   double process_secs)
{
	struct starved_program *program = &sure->programs[sure->count++];

	*program = (struct starved_program){
		.on_gpu = on_gpu, .core_secs = core_secs, .process_secs = process_secs};
	snprintf(program->name, sizeof program->name, "%s", name);
	return program;
}

static void try_nothing(void)
{
	char text[320] = "untouched";

	assert_true(starved_share(&facts, text, sizeof text) == 0);
	assert_string_equal(text, "untouched");
}

static void try_sentence(const char *rest)
{
	static const char BEGIN[] =
		"Its GPU had no work for 30.0 % of the 1 min 40 s from first to last use, ";
	char text[320] = "";

	assert_true(fabs(starved_share(&facts, text, sizeof text) - 0.3) < 1e-9);
	if (strncmp(text, BEGIN, strlen(BEGIN)) != 0 || strcmp(text + strlen(BEGIN), rest) != 0)
		fail_msg("\"%s\" does not end with \"%s\"", text, rest);
}

static void idle_time_counts_from_a_share_and_a_length_on(void **state)
{
	char text[320];

	(void)state;
	begin();
	try_nothing();
	sure->io_secs = 30;
	try_sentence("while some process of the job waited for I/O during 100 % of that.");
	sure->idle_secs = 29.9;
	try_nothing();
	sure->secs = 10;
	sure->idle_secs = 4.9;
	try_nothing();
	sure->idle_secs = 5;
	facts.gpu_utilized.most = 2;
	assert_true(starved_share(&facts, text, sizeof text) == 0.5);
	assert_string_equal(text, "Its GPUs had no work for 50.0 % of the 10.0 s from first to last use, "
				  "while some process of the job "
				  "waited for I/O during 100 % of that.");
	facts.tracked = false;
	try_nothing();
}

static void waiting_for_io_takes_three_tenths_of_it(void **state)
{
	(void)state;
	begin();
	sure->io_secs = 9;
	try_sentence("while some process of the job waited for I/O during 30.0 % of that.");
	sure->io_secs = 8.9;
	try_nothing();
}

static void workers_of_a_loader_that_compute_are_named(void **state)
{
	struct starved_program *workers;

	(void)state;
	begin();
	/* Four of them, at six tenths of a core each. */
	workers = add_program(STARVED_DATA_WORKER, false, 72, 120);
	sure->known_secs = sure->free_core_secs = 30;
	try_sentence("while its 4 DataLoader workers (pt_data_worker) were busy on 2.40 cores. More workers "
		     "would help: 1.00 cores were "
		     "free.");
	sure->free_core_secs = 29;
	try_sentence("while its 4 DataLoader workers (pt_data_worker) were busy on 2.40 cores, and no core "
		     "was free for more.");
	sure->known_secs = sure->free_core_secs = 0;
	try_sentence("while its 4 DataLoader workers (pt_data_worker) were busy on 2.40 cores.");
	workers->core_secs = 71;
	try_nothing();
	workers->process_secs = 45;
	try_sentence("while its 2 DataLoader workers (pt_data_worker) were busy on 2.37 cores.");
	workers->process_secs = 44;
	try_sentence("while its 1 DataLoader worker (pt_data_worker) was busy on 2.37 cores.");
	workers->process_secs = 9;
	try_sentence("while its 1 DataLoader worker (pt_data_worker) was busy on 2.37 cores.");
}

static void processes_beside_the_one_on_the_gpu_are_workers(void **state)
{
	struct starved_program *program;

	(void)state;
	begin();
	sure->gpu_process_secs = 30;
	program = add_program("python3", true, 105, 150);
	try_sentence("while python3 was busy on 3.50 cores: 4 processes beside the 1 on the GPU.");
	program->process_secs = 60;
	try_sentence("while python3 was busy on 3.50 cores: 1 process beside the 1 on the GPU.");
	program->process_secs = 75;
	try_sentence("while python3 was busy on 3.50 cores: 2 processes beside the 1 on the GPU.");
	/* One alone is the process on the GPU itself. */
	program->process_secs = 59;
	try_sentence("while python3 was busy on 3.50 cores, in the process that feeds the GPU.");
	/* Two and a third of a core beside that of the GPU are less than six tenths of each of four. */
	program->process_secs = 150;
	program->core_secs = 100;
	try_sentence("while python3 was busy on 3.33 cores, in the process that feeds the GPU.");
	program->on_gpu = false;
	program->core_secs = 89;
	try_nothing();
}

static void the_busiest_program_is_named(void **state)
{
	struct starved_program *tar, *python;

	(void)state;
	begin();
	add_program("others", false, 300, 30);
	tar = add_program("tar", false, 21, 30);
	python = add_program("python3", true, 20.9, 30);
	sure->gpu_process_secs = sure->known_secs = 30;
	sure->free_core_secs = 60;
	try_sentence("while tar was busy on 0.70 cores. If it makes the input, more of it would help: 2.00 "
		     "cores were free.");
	/* If two are equally busy, the first one counts. */
	python->core_secs = 21;
	try_sentence("while tar was busy on 0.70 cores. If it makes the input, more of it would help: 2.00 "
		     "cores were free.");
	python->core_secs = 20.9;
	tar->core_secs = 20.8;
	try_nothing();
	python->core_secs = 21;
	try_sentence("while python3 was busy on 0.70 cores, in the process that feeds the GPU. If that is "
		     "its input, workers would help: "
		     "2.00 cores were free.");
	tar->core_secs = 36;
	tar->process_secs = 60;
	try_sentence("while tar was busy on 1.20 cores. If it makes the input, more of it would help: 2.00 "
		     "cores were free.");
	tar->process_secs = 61;
	try_nothing();
}

static struct summary_wait *add_wait(const char *class, const char *target, double secs)
{
	struct summary_wait *wait = &facts.waits.by_target.list[facts.waits.by_target.count++];

	*wait = (struct summary_wait){.secs = secs, .looks = 40};
	snprintf(wait->class, sizeof wait->class, "%s", class);
	snprintf(wait->target, sizeof wait->target, "%s", target);
	snprintf(wait->program, sizeof wait->program, "python3");
	return wait;
}

static void a_wait_for_input_is_named(void **state)
{
	static const char *const INPUT[] = {"storage", "lock", "file_lock", "socket", "pipe", "sleep"},
				 *const OTHER[] = {"thread", "child", "events",
						   "memory", "other", "terminal"};

	(void)state;
	for (size_t i = 0; i < sizeof INPUT / sizeof *INPUT; i++) {
		char text[320];

		begin();
		add_wait(INPUT[i], "", 9);
		assert_true(starved_share(&facts, text, sizeof text) > 0);
		begin();
		add_wait(OTHER[i], "", 100);
		try_nothing();
	}
	add_wait("socket", "TCP port 5432 of another machine", 9);
	try_sentence("while the job waited for TCP port 5432 of another machine for 9.00 s (python3).");
	/* Ten seconds were before the first use or after the last one. */
	facts.recorded_secs = 110;
	facts.waits.by_target.list[1].secs = 18.9;
	try_nothing();
	facts.waits.by_target.list[1].secs = 19;
	try_sentence("while the job waited for TCP port 5432 of another machine for 19.0 s (python3).");
	facts.recorded_secs = 90;
	facts.waits.by_target.list[1].secs = 8.9;
	try_nothing();
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_time_counts_from_a_share_and_a_length_on),
		cmocka_unit_test(waiting_for_io_takes_three_tenths_of_it),
		cmocka_unit_test(workers_of_a_loader_that_compute_are_named),
		cmocka_unit_test(processes_beside_the_one_on_the_gpu_are_workers),
		cmocka_unit_test(the_busiest_program_is_named),
		cmocka_unit_test(a_wait_for_input_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
