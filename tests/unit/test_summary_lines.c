/* Lines of the page of a run: src/verdict/summary_lines.c. */
#include "made_summary.h"

static void the_cores_are_those_of_the_limit(void **state)
{
	(void)state;
	facts->core_count = 1;
	try_line("CPU", "1.00 of the machine's 1 core on average, 2.00 at most; 1 min 40 s of CPU time, 25 % "
			"in the kernel");
	facts->core_count = no_count(ABSENT_NOT_COLLECTED);
	try_line("CPU", "1.00 cores on average, 2.00 at most; 1 min 40 s of CPU time, 25 % in the kernel");
	facts->allowances.list[0].cpu_limit_cores = 2;
	try_line("CPU", "1.00 of 2 cores (cgroup limit) on average, 2.00 at most; 1 min 40 s of CPU time, 25 "
			"% in the kernel");
	facts->core_count = 4;
	facts->allowances.list[0].cpu_limit_cores = NAN;
	/* A single row of a format with only time stamps covers an unknown time. */
	facts->wall_secs = facts->recorded_secs = 0;
	try_line("CPU", "at most 2.00 of the machine's 4 cores; 1 min 40 s of CPU time, 25 % in the kernel");
}

/* A hundredth of the run for the job's own waits, a tenth for those of its threads and of the machine. */
static void waits_that_take_a_part_of_the_run(void **state)
{
	(void)state;
	facts->io_pressure_secs = sum_of(0.99);
	facts->cpu_wait_secs = sum_of(9.9);
	facts->machine_io_pressure_secs = sum_of(9.9);
	try_line("Held up", NULL);
	try_line("Machine", NULL);
	facts->cpu_wait_secs = sum_of(10);
	facts->cpu_wait_known_secs = sum_of(95);
	facts->involuntary_switches = sum_of(1);
	try_line("Held up", "its threads waited for a CPU for 10.0 s in all, and lost it 1 time");
	facts->io_pressure_secs = sum_of(1);
	facts->throttled_secs = sum_of(2);
	facts->cpu_wait_known_secs = sum_of(94);
	facts->involuntary_switches = sum_of(2);
	facts->machine_io_pressure_secs = sum_of(10);
	facts->machine_cpu_pressure_secs = sum_of(20);
	try_line("Held up", "throttled by the CPU limit for 2.00 s, waiting for I/O for 1.00 s; its threads "
			    "waited for a CPU for at least 10.0 s in all, and lost it 2 times");
	try_line("Machine",
		 "some process, not necessarily the job's, waited for a CPU for 20.0 s, I/O for 10.0 s");
	begin_with("\"machine_oom_kills\":1");
	try_line("Machine", "1 process of the machine was killed for lack of memory during the run");
	begin_with("\"machine_oom_kills\":2");
	facts->machine_io_pressure_secs = sum_of(10);
	try_line("Machine", "some process, not necessarily the job's, waited for I/O for 10.0 s; 2 processes "
			    "of the machine were killed for lack of memory during the run");
}

/* The end knows the switches of processes that were waited for. Samples also saw daemons. */
static void a_thread_loses_its_cpu(void **state)
{
	(void)state;
	begin_with("\"voluntary_switches\":3,\"involuntary_switches\":5");
	facts->cpu_wait_secs = sum_of(20);
	facts->cpu_wait_known_secs = sum_of(100);
	try_line("Held up", "its threads waited for a CPU for 20.0 s in all, and lost it 5 times");
	facts->involuntary_switches = sum_of(4);
	try_line("Held up", "its threads waited for a CPU for 20.0 s in all, and lost it 5 times");
	facts->involuntary_switches = sum_of(823);
	try_line("Held up", "its threads waited for a CPU for 20.0 s in all, and lost it 823 times");
}

/* Its threads show exactly how long each waited, so that being short of CPU is told only if it matters. */
static void a_shortage_of_cpus(void **state)
{
	(void)state;
	facts->cpu_course.has_pressure = true;
	facts->cpu_course.short_secs = 2;
	try_line("Held up", "short of CPU for 2.00 s");
	facts->cpu_course.has_threads = true;
	try_line("Held up", NULL);
	facts->cpu_course.short_secs = 10;
	try_line("Held up", "short of CPU for 10.0 s");
}

/* Less than 10 ms is noise, also in a short run. */
static void waits_of_a_short_run(void **state)
{
	(void)state;
	facts->recorded_secs = facts->wall_secs = 0.5;
	facts->io_pressure_secs = sum_of(0.0099);
	try_line("Held up", NULL);
	facts->io_pressure_secs = sum_of(0.01);
	try_line("Held up", "waiting for I/O for 10.0 ms");
	facts->io_pressure_secs = sum_of(0);
	facts->recorded_secs = facts->wall_secs = 0.05;
	facts->cpu_wait_secs = sum_of(0.0099);
	try_line("Held up", NULL);
	facts->cpu_wait_secs = sum_of(0.01);
	facts->cpu_wait_known_secs = sum_of(100);
	try_line("Held up", "its threads waited for a CPU for 10.0 ms in all");
}

/* Each process has a thread, though no sample saw all threads at once. */
static void the_line_of_the_processes(void **state)
{
	(void)state;
	facts->processes.most = 1;
	facts->threads.most = 2;
	try_line("Processes", "at most 1 at a time, 2 threads");
	facts->processes.most = 2;
	facts->threads.most = NAN;
	try_line("Processes", "at most 2 at a time");
	begin_with("\"descendants_running\":3");
	facts->processes.most = facts->threads.most = 4;
	try_line("Processes", "at most 4 at a time, 4 threads, 3 still running");
}

static void the_cost_of_the_tracker(void **state)
{
	struct figure *memory = &facts->own.tracker_rss_max_mib;

	(void)state;
	facts->samples = 2;
	facts->interval_secs = 0.5;
	try_line("Tracker", "2 samples every 0.50 s");
	/* A single sample has no period. */
	facts->samples = 1;
	try_line("Tracker", "1 sample");
	facts->tracker_cpu_secs = sum_of(0.25);
	memory->most = 2;
	try_line("Tracker", "1 sample; cost 0.25 s of CPU time (0.25 % of a core), 2.00 MiB");
	/* Starting up is nearly all of a short run. */
	facts->recorded_secs = 0.099;
	facts->tracker_cpu_secs = sum_of(0.002);
	try_line("Tracker", "1 sample; cost 2.00 ms of CPU time, 2.00 MiB");
	facts->recorded_secs = 0.1;
	try_line("Tracker", "1 sample; cost 2.00 ms of CPU time (2.00 % of a core), 2.00 MiB");
	facts->tracker_cpu_secs = (struct total){0};
	memory->most = NAN;
	facts->missed_ticks = 1;
	try_line("Tracker", "1 sample; 1 sample missed");
	facts->missed_ticks = 2;
	facts->dropped_samples = 1;
	try_line("Tracker", "1 sample; 2 samples missed; 1 could not be written");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(the_cores_are_those_of_the_limit),
		PAGE_TEST(waits_that_take_a_part_of_the_run),
		PAGE_TEST(a_thread_loses_its_cpu),
		PAGE_TEST(a_shortage_of_cpus),
		PAGE_TEST(waits_of_a_short_run),
		PAGE_TEST(the_line_of_the_processes),
		PAGE_TEST(the_cost_of_the_tracker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
