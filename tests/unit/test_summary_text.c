/* The page of a run: src/verdict/summary_text.c. */
#include "made_summary.h"

/* The lines before the first label. */
static void try_heading(const char *expected)
{
	char *text = NULL, *end;

	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	end = strstr(text, "\n\n");
	if (end)
		end[1] = '\0';
	if (strcmp(text, expected) != 0)
		fail_msg("\"%s\" is not \"%s\"", text, expected);
	free(text);
}

#define ENDED "\n1970-01-01 00:01:40 UTC, 1 min 40 s: exit status 0\n"

static void the_name_is_the_command_the_program_or_the_file(void **state)
{
	(void)state;
	begin_as("\"command\":\"[\\\"make\\\",\\\"-j2\\\"]\",\"executable\":\"make\"", "");
	try_heading("make -j2" ENDED);
	begin_as("\"command\":\"[\\\"0123456789012345678901234567890123456789012345678901234567890\\\"]\"",
		 "");
	try_heading("012345678901234567890123456789012345678901234567890123456789..." ENDED);
	begin_as("\"command\":\"[]\",\"executable\":\"make\"", "");
	try_heading("make" ENDED);
	begin_as("", "");
	try_heading("a process" ENDED);
	facts->tracked_pid = 7;
	try_heading("a process (pid 7)" ENDED);
	snprintf(facts->file_name, sizeof facts->file_name, "run.csv");
	try_heading("a process (pid 7)" ENDED);
	facts->layout = "csv";
	try_heading("run.csv (pid 7)" ENDED);
	facts->tracked = false;
	try_heading("the machine" ENDED);
}

static void job_task_and_host_stand_behind_the_name(void **state)
{
	(void)state;
	snprintf(facts->job_name, sizeof facts->job_name, "nightly");
	snprintf(facts->host, sizeof facts->host, "node-1");
	try_heading("a process, job nightly, on node-1" ENDED);
	begin_as("\"executable\":\"cc\",\"task_name\":\"main.o\"", "");
	try_heading("cc, task main.o" ENDED);
	/* make gives its shells no other name. */
	begin_as("\"executable\":\"sh\",\"task_name\":\"main.o\"", "");
	try_heading("main.o" ENDED);
	/* An engine may name the task in the environment. That is not the name that the user gave. */
	begin_as("\"executable\":\"cc\",\"scheduler\":\"{\\\"GITHUB_JOB\\\":\\\"build\\\"}\"", "");
	try_heading("cc" ENDED);
}

static void an_end_may_be_unknown(void **state)
{
	(void)state;
	begin_with(NULL);
	facts->wall_secs = 0;
	try_heading("a process\n1970-01-01 00:01:40 UTC, no end is recorded: still running, the recorder was "
		    "killed, or its "
		    "disk was full\n");
	facts->recorded_secs = facts->wall_secs = 0.5;
	facts->layout = "snapshot";
	try_heading("run.jsonl\n1970-01-01 00:01:40 UTC, 0.50 s: a snapshot does not record how it ended\n");
	facts->layout = "csv";
	try_heading("run.jsonl\n1970-01-01 00:01:40 UTC, 0.50 s: CSV does not record how it ended; -o "
		    "FILE.jsonl does\n");
	try_line("Processes", NULL);
	try_line("Note", NULL);
	try_line("Machine", NULL);
	facts->cpu_wait_secs = sum_of(10);
	try_line("Held up", "its threads waited for a CPU for 10.0 s in all");
}

static void a_failure_has_the_first_line(void **state)
{
	(void)state;
	begin_with("\"signal\":9");
	try_heading(
		"Failed: killed by SIGKILL (9)\na process\n1970-01-01 00:01:40 UTC, 1 min 40 s: failed\n");
	snprintf(facts->failed_first, sizeof facts->failed_first, "cc1 failed first");
	try_heading("Failed: killed by SIGKILL (9); cc1 failed first\na process\n1970-01-01 00:01:40 UTC, 1 "
		    "min 40 s: failed\n");
}

static void the_line_of_the_cpus(void **state)
{
	(void)state;
	try_line("CPU", "1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s of CPU time, 25 "
			"% in the kernel");
	begin_with("\"tree_cpu_at_least\":true");
	try_line("CPU", "1.00 of the machine's 4 cores on average, 2.00 at most; at least 1 min 40 s of CPU "
			"time, 25 % in the "
			"kernel");
	begin_with("\"tree_cpu_at_least\":false");
	facts->user_secs = sum_of(0.007);
	facts->system_secs = sum_of(0.002);
	try_line("CPU", "< 0.001 of the machine's 4 cores on average, 2.00 at most; 9.00 ms of CPU time");
	facts->user_secs = sum_of(0.008);
	try_line("CPU", "< 0.001 of the machine's 4 cores on average, 2.00 at most; 10.0 ms of CPU time, 20 "
			"% in the kernel");
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

#define EIGHT_TIMES(text) text text text text text text text text

/* A course has 48 columns, so that its scale fits on the line. It takes four samples. */
static void the_course_of_cores_and_memory(void **state)
{
	(void)state;
	facts->cores_history = facts->memory_history = (struct time_bins){.bin_secs = 50, .count = 2};
	for (size_t i = 0; i < 2; i++) {
		facts->cores_history.bins[i].weights = facts->memory_history.bins[i].weights = 1;
		facts->cores_history.bins[i].weighted = i ? 2 : 1;
		facts->memory_history.bins[i].weighted = i ? 100 : 50;
	}
	facts->samples = 3;
	try_line("Memory", "peak 100 MiB, 10 % of 1000 MiB (machine)");
	facts->samples = 4;
	try_line("CPU", "1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s of CPU time, 25 "
			"% in the kernel|" EIGHT_TIMES("▄▄▄") EIGHT_TIMES("███") "  0 to 2.00 cores");
	try_line("Memory", "peak 100 MiB, 10 % of 1000 MiB (machine)|" EIGHT_TIMES("▄▄▄")
				   EIGHT_TIMES("███") "  0 to 100 MiB");
	/* Less than a MiB throughout, and no sample that has it. */
	facts->memory.most = 0;
	try_line("Memory", "peak below 1 MiB, 0 % of 1000 MiB (machine)");
	facts->memory.most = NAN;
	try_line("Memory", "not recorded");
	facts->cores.most = NAN;
	try_line("CPU", "1.00 of the machine's 4 cores on average, unknown at most; 1 min 40 s of CPU time, "
			"25 % in the kernel");
}

/* The rest of a folded line stands below its beginning. */
static void long_lines_are_folded_beside_their_label(void **state)
{
	char *text = NULL;

	(void)state;
	unsetenv("COLUMNS");
	assert_int_equal(rt_summary_for_screen(summary, RT_SIZE_AUTO, -1, "never", &text), 0);
	if (!strstr(text,
		    "\n  CPU        1.00 of the machine's 4 cores on average, 2.00 at most; 1 min 40 s\n"
		    "             of CPU time, 25 % in the kernel\n"))
		fail_msg("%s", text);
	free(text);
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

static void little_memory(void **state)
{
	(void)state;
	facts->memory = (struct figure){.most = 0.5, .most_elapsed_secs = 50, .weighted = 0.25, .weights = 1};
	facts->swap.most = 0.125;
	try_line("Memory", "peak 512 KiB after 50.0 s, less than 1 % of 1000 MiB (machine); mean 256 KiB; "
			   "swapped out 128 KiB");
	facts->memory.weighted = 0;
	facts->swap.most = 0;
	facts->allowances.list[0].memory_limit_mib = 1;
	try_line("Memory", "peak 512 KiB after 50.0 s, 50 % of 1.00 MiB (cgroup limit)");
	facts->allowances.list[0].memory_limit_mib = 0.625;
	try_line("Memory", "peak 512 KiB after 50.0 s, 80 % of 640 KiB (cgroup limit)");
	facts->memory.most = 0;
	facts->memory.most_elapsed_secs = 50;
	try_line("Memory", "peak below 1 MiB, 0 % of 640 KiB (cgroup limit)");
}

/* Pages of files that other groups read first do not count against the limit of the job's group. */
static void memory_above_the_limit_of_a_group(void **state)
{
	(void)state;
	facts->allowances.list[0].memory_limit_mib = 80;
	facts->group_memory.most = NAN;
	try_line("Memory",
		 "peak 100 MiB, with pages that do not count against its limit of 80.0 MiB (cgroup limit)");
	facts->group_memory.most = 60;
	try_line("Memory", "peak 100 MiB, with pages that do not count against its limit; its control group "
			   "held 60.0 MiB, 75 % "
			   "of 80.0 MiB (cgroup limit)");
}

/* It is told if it is larger than the largest sample by more than a tenth, and by 16 MiB. */
static void the_peak_of_the_largest_process(void **state)
{
	static const struct {
		double sampled, peak;
		bool is_told;
	} CASES[] = {{100, 115, false},
		     {100, 116, true},
		     {240, 264, false},
		     {240, 265, true},
		     {1000, 1050, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		char of_end[128], expected[256];

		snprintf(of_end, sizeof of_end,
			 "\"memory_peak_mib\":%g,\"memory_peak_source\":\"largest_process\"", CASES[i].peak);
		begin_with(of_end);
		facts->allowances.list[0].memory_total_mib = NAN;
		facts->memory.most = CASES[i].sampled;
		snprintf(expected, sizeof expected, "peak %s%s%s%s", amount_of_mib(CASES[i].peak).text,
			 CASES[i].is_told
				 ? "|the peak is that of the largest process; the largest sample of all is "
				 : "",
			 CASES[i].is_told ? amount_of_mib(CASES[i].sampled).text : "", "");
		try_line("Memory", expected);
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
	facts->samples = 1;
	facts->exited = 1;
	try_line("Memory", "peak 100 MiB, 10 % of 1000 MiB (machine)");
	facts->exited = 2;
	try_line("Memory", "peak at least 100 MiB, 10 % of 1000 MiB (machine)");
	begin_with("\"memory_peak_mib\":0.5");
	facts->memory.most = NAN;
	facts->samples = 2;
	try_line("Memory", "peak at least 512 KiB, less than 1 % of 1000 MiB (machine)");
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
		{"pss", 240, 264, NULL},
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
	try_line("Storage", "read 1.00 KiB, written unknown (whole machine)");
	facts->host_read_bytes = (struct total){0};
	facts->host_written_bytes = sum_of(2048);
	try_line("Storage", "read unknown, written 2.00 KiB (whole machine)");
	facts->host_read_bytes = sum_of(1024);
	try_line("Storage", "read 1.00 KiB, written 2.00 KiB (whole machine)");
	facts->host_written_bytes.has_gap = true;
	try_line("Storage", "at least: read 1.00 KiB, written 2.00 KiB (whole machine)");
	facts->read_bytes = sum_of(4096);
	facts->written_bytes = sum_of(3072);
	try_line("Storage", "read 4.00 KiB, written 3.00 KiB");
	facts->cancelled_bytes = sum_of(1);
	try_line("Storage", "read 4.00 KiB, written 3.00 KiB (and 1 B in files that were deleted before they "
			    "reached it)");
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
	try_line("Network", "received 1.00 KiB, sent unknown (all processes; loopback not counted)");
	facts->sent_bytes = sum_of(2048);
	try_line("Network", "received 1.00 KiB, sent 2.00 KiB (all processes; loopback not counted)");
	facts->received_bytes.has_gap = true;
	try_line("Network",
		 "at least: received 1.00 KiB, sent 2.00 KiB (all processes; loopback not counted)");
}

#define NET(received, sent, connections, rest) \
	"\"net_recv_bytes\":" #received ",\"net_sent_bytes\":" #sent ",\"net_" \
	"connections\":" #connections rest

static void the_connections_of_the_job(void **state)
{
	static const char RECEIVED[] = "received 1.00 KiB, sent 2.00 KiB";
	char line[128];

	(void)state;
	begin_with(NET(1024, 2048, 1, ",\"net_source\":\"sockets\""));
	facts->received_bytes = facts->sent_bytes = sum_of(7);
	snprintf(line, sizeof line, "%s over 1 TCP connection", RECEIVED);
	try_line("Network", line);
	begin_with(NET(1024, 2048, 2, ",\"net_source\":\"mixed\""));
	snprintf(line, sizeof line, "%s over 2 TCP connections and in its own network namespace", RECEIVED);
	try_line("Network", line);
	begin_with(NET(1024, 2048, 0, ",\"net_source\":\"namespace\""));
	snprintf(line, sizeof line, "%s (the job's own network namespace; loopback not counted)", RECEIVED);
	try_line("Network", line);
	begin_with(NET(0, 0, 0, ",\"net_source\":\"namespace\""));
	try_line("Network", "received 0, sent 0 (the job's own network namespace; loopback not counted)");
	begin_with(NET(0, 0, 0, ",\"net_source\":\"sockets\""));
	try_line("Network", "the job had no TCP connection");
	begin_with(NET(1, 0, 0, ",\"net_source\":\"sockets\""));
	try_line("Network", "received 1 B, sent 0");
	begin_with(NET(0, 1, 0, ",\"net_source\":\"sockets\""));
	try_line("Network", "received 0, sent 1 B");
	begin_with(NET(0, 0, 1, ",\"net_source\":\"sockets\""));
	try_line("Network", "received 0, sent 0 over 1 TCP connection");
}

#define BOUND(received, sent) \
	",\"net_source\":\"bound\",\"net_recv_bound_bytes\":" #received ",\"net_sent_bound_bytes\":" #sent

/* The bytes that may be missing are told if they are more than a hundredth. */
static void short_connections_that_no_sample_saw(void **state)
{
	(void)state;
	begin_with(NET(1024, 2048, 1, ",\"net_source\":\"bound\""));
	try_line("Network",
		 "received 1.00 KiB, sent 2.00 KiB over 1 TCP connection; short connections may be missing");
	begin_with(NET(6000, 4000, 1, BOUND(6050, 4050)));
	try_line("Network", "received 5.86 KiB, sent 3.91 KiB over 1 TCP connection");
	begin_with(NET(6000, 4000, 1, BOUND(6100, 4001)));
	try_line("Network", "received 5.86 KiB, sent 3.91 KiB over 1 TCP connection|short connections may be "
			    "missing: at most "
			    "received 5.96 KiB, sent 3.91 KiB");
	begin_with(NET(6000, 4000, 1, BOUND(6001, 4100)));
	try_line("Network", "received 5.86 KiB, sent 3.91 KiB over 1 TCP connection|short connections may be "
			    "missing: at most "
			    "received 5.86 KiB, sent 4.00 KiB");
	begin_with(NET(0, 0, 0, BOUND(0, 0)));
	try_line("Network", "the job had no TCP connection");
	begin_with(NET(0, 0, 0, BOUND(1, 0)));
	try_line("Network", "the job had no TCP connection that was seen|short connections may be missing: "
			    "at most received 1 B, "
			    "sent 0, together with other programs");
	begin_with(NET(0, 0, 0, BOUND(0, 1)));
	try_line("Network", "the job had no TCP connection that was seen|short connections may be missing: "
			    "at most received 0, "
			    "sent 1 B, together with other programs");
}

static void the_line_of_the_gpus(void **state)
{
	(void)state;
	facts->gpu_usage.most = facts->gpu_vram_mib.most = NAN;
	facts->host_gpu_usage.most = facts->host_gpu_vram_mib.most = NAN;
	facts->gpu_count = 0;
	try_line("GPU", NULL);
	/* A format may tell the use of GPUs, and not which there are. */
	facts->host_gpu_usage.most = 0;
	try_line("GPU", NULL);
	facts->host_gpu_usage = (struct figure){.weighted = 2.5, .weights = 10, .most = 0.5};
	try_line("GPU", "mean 0.25, max 0.50 busy (whole machine; the job's part is unknown)");
	facts->host_gpu_usage.most = NAN;
	facts->host_gpu_vram_mib.most = 0;
	try_line("GPU", NULL);
	facts->host_gpu_vram_mib.most = 0.25;
	facts->gpu_memory_mib = 0.5;
	try_line("GPU", "memory peak 256 KiB of 512 KiB (whole machine; the job's part is unknown)");
	facts->host_gpu_vram_mib.most = NAN;
	facts->gpu_memory_mib = 0;
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

/* A GPU whose driver counts the energy. */
static void add_gpu_energy(double joules)
{
	struct frame frame = {0};
	struct gpu_row *row;

	frame_begin(&frame, 0, 0);
	row = ADD_ROW(&frame, gpu, NULL);
	row->uuid = "GPU-a";
	row->index = 0;
	row->energy_joules = joules;
	summary_gpus_add(&facts->gpus, &frame, &(struct moment){100, 100});
	frame_done(&frame);
}

/* The part of the line of the GPUs before the courses of each. */
static void try_gpu_energy(double joules, const char *energy)
{
	char *text = NULL;

	begin_with("");
	add_gpu_energy(joules);
	facts->gpu_count = 1;
	assert_int_equal(rt_summary_to_text(summary, RT_SIZE_AUTO, &text), 0);
	if (!strstr(text, energy))
		fail_msg("%s is not in\n%s", energy, text);
	free(text);
}

static void the_energy_of_the_gpus(void **state)
{
	(void)state;
	try_gpu_energy(99.94, "; 99.9 J\n");
	try_gpu_energy(100, "; 100 J\n");
	try_gpu_energy(150.4, "; 150 J\n");
}

/* The user gave a factor, and the summary shows the energy. */
static void the_carbon_of_the_energy(void **state)
{
	(void)state;
	begin_as("\"carbon_g_per_kwh\":475", "");
	try_line("Energy", NULL);
	facts->cpu_energy_joules = sum_of(7200000);
	facts->job_cpu_energy_joules = sum_of(3600000);
	try_line("Energy", "7200000 J by all CPU sockets (whole machine), about 3600000 J of it for the job, "
			   "by its part of the CPU "
			   "time, about 475 g of CO2 at 475 g/kWh");
	add_gpu_energy(3600000);
	try_line("Energy", "7200000 J by all CPU sockets (whole machine), about 3600000 J of it for the job, "
			   "by its part of the CPU "
			   "time, about 950 g of CO2 at 475 g/kWh, GPUs included");
	facts->cpu_energy_joules = facts->job_cpu_energy_joules = (struct total){0};
	try_line("Energy", "about 475 g of CO2 at 475 g/kWh, GPUs included");
}

static void the_line_of_the_energy(void **state)
{
	(void)state;
	try_line("Energy", NULL);
	/* Sockets use energy at every moment. */
	facts->cpu_energy_joules = sum_of(0);
	try_line("Energy", NULL);
	facts->cpu_energy_joules = sum_of(0.5);
	try_line("Energy", "0.5 J by all CPU sockets (whole machine)");
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

/* A phase from second `from` to second `to` of the run, in the file of marks. `to` of 0: it is still open. */
static void mark_phase(FILE *marks, const char *name, double from, double to)
{
	for (int stop = 0; stop < (to > 0 ? 2 : 1); stop++)
		fprintf(marks, "{\"timestamp_ns\":%.0f,\"event\":\"%s\",\"name\":\"%s\",\"pid\":1}\n",
			(100 + (stop ? to : from)) * 1e9, stop ? "stop" : "start", name);
}

/* The longest first. Names have 28 columns. */
static void the_longest_phases(void **state)
{
	FILE *marks = fopen("run.jsonl.marks", "w");

	(void)state;
	assert_non_null(marks);
	mark_phase(marks, "load", 0, 10);
	mark_phase(marks, "a name of more than 28 columns", 10, 30);
	mark_phase(marks, "\303\244 name of more than 28 columns", 30, 49);
	mark_phase(marks, "load", 50, 55);
	mark_phase(marks, "save", 99, 0);
	fclose(marks);
	begin_with("");
	try_line("Phases", "a name of more than 28 colum       20.0 s   20 %|"
			   "\303\244 name of more than 28 colum       19.0 s   19 %|"
			   "load                               15.0 s   15 %  2 calls|"
			   "save                               1.00 s    1 %  not closed");
	facts->recorded_secs = 0.5;
	summary->phases.count = 1;
	try_line("Phases", "a name of more than 28 colum       20.0 s 4000 %");
	summary->phases.count = 4;
	facts->recorded_secs = 0;
	try_line("Phases", "a name of more than 28 colum       20.0 s|"
			   "\303\244 name of more than 28 colum       19.0 s|"
			   "load                               15.0 s  2 calls|"
			   "save                               1.00 s  not closed");
}

/* Eight phases are shown, and of further ones only how many. */
static void further_phases_are_counted(void **state)
{
	for (int count = 8; count < 11; count++) {
		FILE *marks = fopen("run.jsonl.marks", "w");
		char expected[1024] = "", name[] = "a";

		assert_non_null(marks);
		for (int i = 0; i < count; i++, name[0]++) {
			mark_phase(marks, name, 0, 40 - i);
			if (i < 8)
				snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
					 "%s%-28s       %d.0 s   %d %%", i ? "|" : "", name, 40 - i, 40 - i);
		}
		if (count > 8)
			snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
				 "|and %d more, see resource-tracker regions", count - 8);
		fclose(marks);
		begin_with("");
		try_line("Phases", expected);
	}
	(void)state;
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
	begin_with("\"sigchld_ignored\":true,\"tree_cpu_at_least\":false");
	try_line("Note", "a process ignored SIGCHLD: the CPU time of its children is in the total alone");
	begin_with("\"sigchld_ignored\":false");
	try_line("Note", NULL);
}

static void the_line_of_the_signals(void **state)
{
	(void)state;
	try_line("Signals", NULL);
	snprintf(facts->signals.words, sizeof facts->signals.words, "SIGUSR1 at 50.0 s");
	try_line("Signals", "SIGUSR1 at 50.0 s");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(the_name_is_the_command_the_program_or_the_file),
		PAGE_TEST(job_task_and_host_stand_behind_the_name),
		PAGE_TEST(an_end_may_be_unknown),
		PAGE_TEST(a_failure_has_the_first_line),
		PAGE_TEST(the_line_of_the_cpus),
		PAGE_TEST(the_line_of_the_memory),
		PAGE_TEST(little_memory),
		PAGE_TEST(memory_above_the_limit_of_a_group),
		PAGE_TEST(the_peak_of_the_largest_process),
		PAGE_TEST(a_peak_that_only_the_end_tells),
		PAGE_TEST(the_course_of_cores_and_memory),
		PAGE_TEST(long_lines_are_folded_beside_their_label),
		PAGE_TEST(a_start_after_the_year_5138_is_not_told),
		PAGE_TEST(the_measure_of_the_memory),
		PAGE_TEST(the_line_of_the_storage),
		PAGE_TEST(the_line_of_the_network),
		PAGE_TEST(the_connections_of_the_job),
		PAGE_TEST(short_connections_that_no_sample_saw),
		PAGE_TEST(the_line_of_the_gpus),
		PAGE_TEST(the_energy_of_the_gpus),
		PAGE_TEST(the_carbon_of_the_energy),
		PAGE_TEST(the_line_of_the_energy),
		PAGE_TEST(descendants_that_are_left),
		PAGE_TEST(the_longest_phases),
		PAGE_TEST(further_phases_are_counted),
		PAGE_TEST(notes_on_the_recording),
		PAGE_TEST(the_line_of_the_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
