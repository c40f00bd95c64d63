/* The page of a run: src/verdict/summary_text.c and summary_lines.c. A job of 100 s on 4 cores and 1000 MiB; each case changes facts. */
#include "scratch.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "resource_tracker_internal.h"
#include "verdict/run_summary.h"

static const char *const PATHS[] = {"run.jsonl"};
static rt_summary *summary;
static struct run_facts *facts;

static struct total sum_of(double sum)
{
	return (struct total){.sum = sum, .present = true};
}

static void begin_with(const char *of_end)
{
	struct rt_problem problem = {""};
	char text[2048];

	rt_summary_free(summary);
	summary = NULL;
	snprintf(text, sizeof text,
		 "{\"timestamp\":200,\"elapsed_secs\":100,\"sample\":0,\"actual_interval_ms\":100000,\"run_"
		 "start\":{\"interval_secs\":100,\"tracked_pid\":7},\"run_end\":{\"exit_code\":0%s%s}}\n",
		 *of_end ? "," : "", of_end);
	put_text(PATHS[0], text);
	if (rt_summary_read(PATHS, 1, &summary, &problem) < 0)
		fail_msg("%s: %s", problem.text, text);
	facts = &summary->facts;
	facts->tracked = true;
	facts->recorded_secs = facts->wall_secs = 100;
	facts->user_secs = sum_of(75);
	facts->system_secs = sum_of(25);
	facts->cores.most = 2;
	facts->core_count = 4;
	facts->allowances =
		(struct allowances){.count = 1, .list = {{0, NAN, 1000, NAN, NAN}}, .secs = {100}};
	facts->memory.most = 100;
	facts->memory.most_elapsed_secs = NAN;
}

static int begin(void **state)
{
	int result = scratch_enter(state);

	if (result == 0)
		begin_with("");
	return result;
}

static int done(void **state)
{
	rt_summary_free(summary);
	summary = NULL;
	return scratch_leave(state);
}

/* The text after a label, with "|" before each further line. NULL: the page has no such line. */
static void try_line(const char *label, const char *expected)
{
	char *text = NULL, found[2048] = "", begin_of[32];
	const char *at;

	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	snprintf(begin_of, sizeof begin_of, "\n  %-11s", label);
	at = strstr(text, begin_of);
	if (!at != !expected)
		fail_msg("%s in:\n%s", label, text);
	if (at)
		at += strlen(begin_of);
	while (at && *at) {
		size_t length = strcspn(at, "\n");

		snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s", (int)length, at);
		at += length;
		if (strncmp(at, "\n             ", 14) != 0)
			break;
		strcat(found, "|");
		at += 14;
	}
	if (expected && strcmp(found, expected) != 0)
		fail_msg("\"%s\" is not \"%s\"", found, expected);
	free(text);
}

static void the_line_of_the_cpus(void **state)
{
	(void)state;
	try_line("CPU", "1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s of CPU time, 25 "
			"% in the kernel");
	facts->user_secs = sum_of(0.007);
	facts->system_secs = sum_of(0.002);
	try_line("CPU", "< 0.001 of the machine's 4 cores on average, 2.00 at most; 9.00 ms of CPU time");
	facts->user_secs = sum_of(99.5);
	facts->system_secs = sum_of(0.5);
	try_line("CPU", "1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s of CPU time, "
			"less than 1 % in the kernel");
	facts->user_secs = sum_of(99);
	facts->system_secs = sum_of(0);
	try_line("CPU", "0.99 of the machine's 4 cores on average, 2.00 at most; 1 min 39 s of CPU time, 0 % "
			"in the kernel");
	facts->user_secs = facts->system_secs = (struct total){0};
	facts->cores.most = NAN;
	try_line("CPU", "not recorded");
}

static void the_line_of_the_memory(void **state)
{
	(void)state;
	try_line("Memory", "peak 100 MiB, 10 % of 1000 MiB (machine)");
	facts->memory.most_elapsed_secs = 50;
	facts->memory.weighted = 800;
	facts->memory.weights = 10;
	facts->swap.most = 3;
	try_line(
		"Memory",
		"peak 100 MiB after 50.0 s, 10 % of 1000 MiB (machine); mean 80.0 MiB; swapped out 3.00 MiB");
	facts->memory = (struct figure){.most = 0, .most_elapsed_secs = NAN};
	facts->swap.most = 0;
	try_line("Memory", "peak below 1 MiB, 0 % of 1000 MiB (machine)");
	facts->memory.most = NAN;
	try_line("Memory", "not recorded");
}

static void a_start_after_the_year_5138_is_not_told(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		char *text = NULL;

		facts->started = 99999999999 + late;
		assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
		assert_int_equal(!strstr(text, "\n5138-11-16 09:46:39 UTC, 1 min 40 s: exit status 0\n"),
				 late);
		assert_int_equal(!strstr(text, "\n1 min 40 s: exit status 0\n"), !late);
		free(text);
	}
}

/* No sample could add up the processes. The end of a short run has none left. */
static void a_peak_that_only_the_end_tells(void **state)
{
	(void)state;
	begin_with("\"memory_peak_mib\":100");
	facts->memory.most = NAN;
	facts->samples = 1;
	try_line("Memory", "peak 100 MiB, 10 % of 1000 MiB (machine)");
	facts->samples = 2;
	try_line("Memory", "peak at least 100 MiB, 10 % of 1000 MiB (machine)");
	begin_with("\"memory_peak_mib\":0");
	facts->memory.most = NAN;
	facts->samples = 2;
	try_line("Memory", "peak below 1 MiB, 0 % of 1000 MiB (machine)");
}

/* A measure is told if another differs by more than a tenth, and by 16 MiB. */
static void the_measure_of_the_memory(void **state)
{
	static const struct {
		const char *source;
		double mib, rss;
		const char *words;
	} CASES[] = {
		{"pss", 200, 219, NULL},
		{"pss", 100, 115.9, NULL},
		{"pss", 100, 116,
		 "the peak counts shared pages once; RSS counts them in each process: 116 MiB"},
		{"sampled", 200, 221,
		 "the peak counts shared pages once; RSS counts them in each process: 221 MiB"},
		{"rss", 100, 100, "the peak counts shared pages in each process"},
		{"cgroup", 100, NAN, "the peak is that of the job's cgroup"},
	};

	(void)state;
	facts->allowances.list[0].memory_total_mib = NAN;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		char line[256];

		snprintf(facts->measured.source, sizeof facts->measured.source, "%s", CASES[i].source);
		facts->memory.most = CASES[i].mib;
		facts->memory_rss.most = CASES[i].rss;
		snprintf(line, sizeof line, "peak %.0f MiB%s%s", CASES[i].mib, CASES[i].words ? "|" : "",
			 CASES[i].words ? CASES[i].words : "");
		try_line("Memory", line);
	}
	*facts->measured.source = '\0';
	facts->memory.most = 100;
	facts->measured.measures = 3;
	snprintf(facts->measured.sources, sizeof facts->measured.sources, "pss, rss");
	facts->measured.disproved_samples = 1;
	facts->measured.disproved_mib = 512;
	try_line("Memory", "peak 100 MiB|the mean mixes samples that count differently (pss, rss)|left out: "
			   "1 sample of up to 512 MiB, which counted shared pages in each process");
	facts->measured.measures = 2;
	facts->measured.disproved_samples = 2;
	try_line("Memory", "peak 100 MiB|left out: 2 samples of up to 512 MiB, which counted shared pages in "
			   "each process");
}

static void the_line_of_the_storage(void **state)
{
	(void)state;
	try_line("Storage", NULL);
	facts->host_read_bytes = sum_of(1024);
	facts->host_written_bytes = sum_of(2048);
	try_line("Storage", "read 1.00 KiB, written 2.00 KiB (whole machine)");
	facts->host_written_bytes.has_gap = true;
	try_line("Storage", "at least: read 1.00 KiB, written 2.00 KiB (whole machine)");
	facts->read_bytes = sum_of(4096);
	facts->written_bytes = sum_of(3072);
	try_line("Storage", "read 4.00 KiB, written 3.00 KiB");
	facts->cancelled_bytes = sum_of(1024);
	facts->read_chars = sum_of(10);
	facts->written_chars = sum_of(20);
	try_line("Storage", "read 4.00 KiB, written 2.00 KiB (and 1.00 KiB in files that were deleted before "
			    "they reached it); by read and write calls, also of pipes and the page cache: "
			    "read 10 B, written 20 B");
}

static void the_line_of_the_network(void **state)
{
	(void)state;
	try_line("Network", NULL);
	facts->received_bytes = sum_of(1024);
	facts->sent_bytes = sum_of(2048);
	try_line("Network", "received 1.00 KiB, sent 2.00 KiB (all processes; loopback not counted)");
	facts->received_bytes.has_gap = true;
	try_line("Network",
		 "at least: received 1.00 KiB, sent 2.00 KiB (all processes; loopback not counted)");
}

static void the_line_of_the_gpus(void **state)
{
	(void)state;
	facts->gpu_usage.most = facts->gpu_vram_mib.most = NAN;
	facts->host_gpu_usage.most = facts->host_gpu_vram_mib.most = NAN;
	facts->gpu_count = 0;
	try_line("GPU", NULL);
	facts->gpu_count = 2;
	try_line("GPU", "use unknown (whole machine; the job's part is unknown)");
	facts->host_gpu_vram_mib.most = 512;
	try_line("GPU", "memory peak 512 MiB (whole machine; the job's part is unknown)");
	facts->host_gpu_usage = (struct figure){.weighted = 5, .weights = 10, .most = 1};
	facts->gpu_memory_mib = 1024;
	try_line("GPU", "mean 0.50, max 1.00 of 2 busy; memory peak 512 MiB of 1.00 GiB (whole machine; the "
			"job's part is unknown)");
	facts->gpu_usage.most = facts->gpu_vram_mib.most = 0;
	try_line("GPU", "mean 0.50, max 1.00 of 2 busy; memory peak 512 MiB of 1.00 GiB (whole machine; none "
			"by the job)");
	facts->gpu_usage.has_gap = true;
	try_line("GPU", "mean 0.50, max 1.00 of 2 busy; memory peak 512 MiB of 1.00 GiB (whole machine; the "
			"job's part is unknown)");
	facts->tracked = false;
	try_line("GPU", "mean 0.50, max 1.00 of 2 busy; memory peak 512 MiB of 1.00 GiB (whole machine)");
	facts->tracked = true;
	facts->gpu_vram_mib.most = 256;
	facts->gpu_usage = (struct figure){.weighted = 1, .weights = 4, .most = 0.5};
	try_line("GPU", "mean 0.25, max 0.50 of 2 busy; memory peak 256 MiB of 1.00 GiB");
}

static void the_line_of_the_energy(void **state)
{
	(void)state;
	try_line("Energy", NULL);
	facts->cpu_energy_joules = sum_of(99.94);
	try_line("Energy", "99.9 J by all CPU sockets (whole machine)");
	facts->cpu_energy_joules = sum_of(100.2);
	facts->job_cpu_energy_joules = sum_of(50);
	try_line("Energy", "100 J by all CPU sockets (whole machine), about 50.0 J of it for the job, by its "
			   "part of the CPU time");
	facts->cpu_energy_joules.has_gap = true;
	facts->job_cpu_energy_joules.has_gap = true;
	try_line("Energy", "at least 100 J by all CPU sockets (whole machine), at least 50.0 J of it for the "
			   "job, by its part of the CPU time");
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

static void descendants_that_are_left(void **state)
{
	(void)state;
	facts->processes.most = facts->threads.most = 1;
	try_line("Processes", NULL);
	begin_with("\"descendants_running\":2");
	facts->processes.most = facts->threads.most = NAN;
	try_line("Processes", "2 still running");
	begin_with("\"descendants_running\":0");
	facts->processes.most = facts->threads.most = 1;
	try_line("Processes", NULL);
}

static void notes_on_the_recording(void **state)
{
	(void)state;
	try_line("Note", NULL);
	facts->damage.torn_tails = 1;
	try_line("Note", "the file ends in the middle of a sample, which is left out");
	facts->damage = (struct record_damage){.torn_tails = 2};
	try_line("Note", "2 files end in the middle of a sample, which is left out");
	facts->damage = (struct record_damage){.bad_lines = 1};
	try_line("Note", "one line is not a sample and is left out");
	facts->damage = (struct record_damage){.bad_lines = 3};
	try_line("Note", "3 lines are not samples and are left out");
	facts->damage = (struct record_damage){.clock_steps = 1};
	try_line("Note", "the clock was set back once during the run");
	facts->damage = (struct record_damage){.clock_steps = 2};
	try_line("Note", "the clock was set back 2 times during the run");
	facts->damage = (struct record_damage){.hosts = 1};
	try_line("Note", NULL);
	facts->damage = (struct record_damage){.hosts = 2};
	try_line("Note", "samples of 2 hosts are mixed in this file: the figures are of all of them");
	facts->damage = (struct record_damage){0};
	facts->runs = 1;
	try_line("Note", NULL);
	facts->runs = 2;
	try_line("Note", "the file holds 2 runs; this is the last");
	begin_with("\"sigchld_ignored\":true");
	try_line("Note",
		 "a process ignored SIGCHLD: the CPU time of its children is missing from all figures");
	begin_with("\"sigchld_ignored\":false");
	try_line("Note", NULL);
}

/* A program and a wait have a row each, and an unknown figure is a dash. */
static void tables_of_programs_and_waits(void **state)
{
	static const char *const PROGRAMS[] = {"make", "3.00 s", "75.0 %", "1.00 s", "512 KiB",
					       "1",    "cc1",    "25.0 %", "-"};
	static const char *const WAITS[] = {"sleep", "-", "sh", "25.0 s", "25.0 %", "4", " 0.0 %"};
	char *text = NULL;

	(void)state;
	facts->programs = (struct summary_programs){.cpu_secs = 4, .count = 2};
	facts->programs.list[0] = (struct program_figures){"make", 3, 1, 0.5, 1};
	facts->programs.list[1] = (struct program_figures){"cc1", 1, 0, 0, -1};
	facts->waits.by_program =
		(struct summary_wait_list){{{"sleep", "", "sh", 25, 4}, {"pipe", "", "cat", 0, 1}}, 2};
	assert_int_equal(rt_summary_programs_for_screen(summary, -1, "never", &text), 0);
	for (size_t i = 0; i < ARRAY_SIZE(PROGRAMS); i++)
		if (!strstr(text, PROGRAMS[i]))
			fail_msg("%s is not in\n%s", PROGRAMS[i], text);
	free(text);
	assert_int_equal(rt_summary_waits_for_screen(summary, -1, "never", &text), 0);
	for (size_t i = 0; i < ARRAY_SIZE(WAITS); i++)
		if (!strstr(text, WAITS[i]))
			fail_msg("%s is not in\n%s", WAITS[i], text);
	free(text);
	facts->waits.by_program.count = 1;
	facts->recorded_secs = 0;
	assert_int_equal(rt_summary_waits_for_screen(summary, -1, "never", &text), 0);
	assert_null(strchr(text, '%'));
	free(text);
	assert_int_equal(rt_summary_waits_for_screen(summary, -1, "mauve", &text), -EINVAL);
	assert_int_equal(rt_summary_programs_for_screen(summary, -1, "mauve", &text), -EINVAL);
	assert_int_equal(rt_summary_for_screen(summary, RT_SIZE_AUTO, -1, "mauve", &text), -EINVAL);
	assert_int_equal(rt_summary_waits_to_json(summary, &text), 0);
	assert_string_equal(text, "[{\"class\":\"sleep\",\"target\":null,\"program\":\"sh\",\"wait_secs\":25."
				  "0,\"run_pct\":null,\"look_count\":4}]\n");
	free(text);
}

#define PAGE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, done)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(the_line_of_the_cpus),
		PAGE_TEST(the_line_of_the_memory),
		PAGE_TEST(a_peak_that_only_the_end_tells),
		PAGE_TEST(a_start_after_the_year_5138_is_not_told),
		PAGE_TEST(waits_that_take_a_part_of_the_run),
		PAGE_TEST(the_measure_of_the_memory),
		PAGE_TEST(the_line_of_the_storage),
		PAGE_TEST(the_line_of_the_network),
		PAGE_TEST(the_line_of_the_gpus),
		PAGE_TEST(the_line_of_the_energy),
		PAGE_TEST(descendants_that_are_left),
		PAGE_TEST(notes_on_the_recording),
		PAGE_TEST(tables_of_programs_and_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
