/*
 * The rules of src/verdict/bottleneck.c at their limits. A job ran for 100 s on a machine of 4 cores and 1000 MiB; each test changes the
 * facts that its rule reads.
 */
#include "made_run.h"

static const struct total NONE = {0};

/* The members of run_start and run_end, and the cores that the job used on average. */
static void begin_with(const char *of_start, const char *of_end, double cores)
{
	make_run(of_start, of_end);
	facts->user_secs = sum_of(100 * cores);
	facts->system_secs = sum_of(0);
	facts->memory.most_elapsed_secs = 50;
}

static void begin(double cores)
{
	begin_with("", NULL, cores);
}

/* The bottleneck at a place of the list. */
static void try_at(size_t place, const char *rule, const char *title, const char *text)
{
	struct verdict verdict = find_verdict(facts);
	const struct bottleneck *one = &verdict.bottlenecks[place];

	if (place >= verdict.count)
		fail_msg("there are %zu, and not %s", verdict.count, rule);
	if (strcmp(one->rule, rule) != 0 || strcmp(one->title, title) != 0 || strcmp(one->text, text) != 0)
		fail_msg("%s: %s: %s\nis not %s: %s: %s", one->rule, one->title, one->text, rule, title,
			 text);
}

static void try_first(const char *rule, const char *title, const char *text)
{
	try_at(0, rule, title, text);
}

static void try_rules(const char *expected)
{
	struct verdict verdict = find_verdict(facts);
	char found[512] = "";

	for (size_t i = 0; i < verdict.count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "",
			 verdict.bottlenecks[i].rule);
	assert_string_equal(found, expected);
}

static void busy_cores(void **state)
{
	(void)state;
	begin(3.4);
	try_first("cpu_bound", "CPU", "3.40 of 4 cores were busy on average.");
	facts->recorded_secs = 0.009;
	try_rules("unknown");
	facts->recorded_secs = 0.01;
	try_rules("cpu_bound");
	begin(3.39);
	try_rules("none");
}

static void too_little_time_or_figures(void **state)
{
	(void)state;
	begin(1);
	facts->recorded_secs = 0.019;
	try_first("unknown", "Unknown", "It ran for 19.0 ms, which is too short to tell.");
	facts->recorded_secs = 0.02;
	try_rules("none");
	facts->recorded_secs = 0;
	try_rules("none");
	begin(1);
	facts->user_secs = NONE;
	try_first("unknown", "Unknown", "Its CPU use is not recorded.");
}

static void idle_jobs(void **state)
{
	static const char SLEPT[] = "It used little CPU time: it was sleeping or waiting for something else.",
			  MAYBE[] = "It used little CPU time: it was sleeping or waiting, perhaps for a CPU, "
				    "because other programs kept them "
				    "busy.";

	(void)state;
	begin(0.3);
	try_rules("none");
	begin(0.29);
	try_first("idle", "Idle", SLEPT);
	facts->cpu_course.full_secs = 50;
	try_first("idle", "Idle", MAYBE);
	facts->cpu_course.has_pressure = true;
	try_first("idle", "Idle", SLEPT);
	facts->cpu_course.has_pressure = false;
	facts->cpu_course.full_secs = 49;
	try_first("idle", "Idle", SLEPT);
	facts->tracked = false;
	facts->host_cores = (struct figure){.weighted = 20, .weights = 100, .most = 1};
	try_first("idle", "Idle", "The CPUs were idle most of the time.");
}

static void one_long_wait(void **state)
{
	struct summary_wait *wait;

	(void)state;
	begin(0.1);
	wait = facts->waits.by_target.list;
	*wait = (struct summary_wait){"socket", "TCP port 5432 of another machine", "python3", 30, 30};
	try_rules("idle");
	facts->waits.by_target.count = 1;
	try_first("waited", "Waiting",
		  "It waited for TCP port 5432 of another machine during 30.0 % of the time (python3).");
	try_rules("waited");
	wait->looks = 29;
	wait->secs = 130;
	try_first("waited", "Waiting",
		  "It waited for TCP port 5432 of another machine during about 100 % of the time (python3).");
	wait->secs = 29.9;
	try_rules("idle");
	*wait = (struct summary_wait){"other", "", "python3", 90, 90};
	try_rules("idle");
}

static void throttled_jobs(void **state)
{
	(void)state;
	begin(4);
	facts->throttled_secs = sum_of(10);
	try_rules("throttled");
	try_first("throttled", "CPU limit", "The CPU limit held it back for 10.0 s, summed over its CPUs.");
	facts->allowances.list[0].cpu_limit_cores = 1.5;
	try_first("throttled", "CPU limit",
		  "The CPU limit of 1.5 cores held it back for 10.0 s, summed over its CPUs.");
	/* A mean of limits was never in force. */
	facts->allowances.count = 2;
	facts->allowances.list[1] = (struct allowance){50, NAN, 1000, 2.5, NAN, NAN};
	facts->allowances.secs[1] = 100;
	try_first("throttled", "CPU limit", "The CPU limit held it back for 10.0 s, summed over its CPUs.");
	begin(1);
	facts->throttled_secs = sum_of(9.9);
	try_rules("none");
	facts->recorded_secs = 0.05;
	facts->throttled_secs = sum_of(0.009);
	try_rules("none");
	facts->throttled_secs = sum_of(0.01);
	try_rules("throttled");
}

static void one_core_of_several(void **state)
{
	(void)state;
	begin(1);
	facts->cpu_course.one_core_secs = 50;
	try_first("one_core", "One core",
		  "About one core was in use during 50.0 % of the time (on average 1.00 of 4 cores): one "
		  "thread works, or several threads "
		  "take turns.");
	facts->cpu_course.one_core_secs = 120;
	try_first("one_core", "One core",
		  "About one core was in use during 100 % of the time (on average 1.00 of 4 cores): one "
		  "thread works, or several threads "
		  "take turns.");
	facts->cpu_course.one_core_secs = 49.9;
	try_rules("none");
	begin(1);
	facts->core_count = 2;
	facts->cpu_course.one_core_secs = 50;
	try_rules("one_core");
	begin(0.5);
	facts->core_count = 1;
	facts->cpu_course.one_core_secs = 50;
	try_rules("none");
}

static void cores_busy_at_times(void **state)
{
	(void)state;
	begin(1);
	shape_add(&facts->core_shape, 20, 4);
	shape_add(&facts->core_shape, 80, 1);
	try_first("cpu_at_times", "CPU, at times", "All of its 4 cores were busy for 20.0 s of 1 min 40 s.");
	shape_add(&facts->core_shape, 1, 1);
	try_rules("none");
	begin(0.5);
	facts->core_count = 2;
	shape_add(&facts->core_shape, 20, 2);
	shape_add(&facts->core_shape, 80, 0.2);
	try_first("cpu_at_times", "CPU, at times", "All of its 2 cores were busy for 20.0 s of 1 min 40 s.");
	begin(0.5);
	facts->core_count = 1;
	shape_add(&facts->core_shape, 25, 1);
	shape_add(&facts->core_shape, 75, 0.2);
	try_first("cpu_at_times", "CPU, at times",
		  "It used all CPU time that it may use for 25.0 s of 1 min 40 s.");
}

static void set_gpus(int count, double busy)
{
	facts->gpu_count = count;
	facts->gpu_usage = (struct figure){.weighted = 100 * busy, .weights = 100, .most = busy};
}

static void busy_gpus(void **state)
{
	(void)state;
	begin(1);
	set_gpus(2, 1.7);
	try_first("gpu_bound", "GPU", "1.70 of 2 GPUs were busy on average.");
	set_gpus(1, 0.85);
	try_first("gpu_bound", "GPU", "0.85 of 1 GPU was busy on average.");
	set_gpus(1, 0.84);
	try_first("gpu_mostly", "GPU, most of the time",
		  "0.84 of 1 GPU was busy on average, and waited for other work the rest of the time.");
	set_gpus(1, 0.6);
	try_rules("gpu_mostly");
	set_gpus(1, 0.59);
	try_rules("none");
	set_gpus(0, 0.9);
	try_rules("none");
	/* It never used the second one. */
	set_gpus(2, 0.9);
	try_rules("none");
	facts->gpu_utilized.most = 1;
	try_first("gpu_bound", "GPU", "0.90 of 1 GPU was busy on average.");
	set_gpus(1, 0.5);
	facts->starved.sure.secs = 100;
	facts->starved.sure.idle_secs = 15;
	try_first("gpu_mostly", "GPU, most of the time",
		  "0.50 of 1 GPU was busy on average, and 85.0 % of the time from first to last use.");
	facts->starved.sure.idle_secs = 16;
	try_rules("none");
}

/* The thread that waits for a GPU spins, so its core is busy because the GPU is. */
static void a_gpu_in_use_comes_before_its_core(void **state)
{
	(void)state;
	begin(3.5);
	set_gpus(1, 0.9);
	try_rules("cpu_bound gpu_bound");
	facts->starved.sure.secs = 100;
	try_rules("gpu_bound cpu_bound");
	set_gpus(1, 0.8);
	try_rules("cpu_bound gpu_mostly");
	begin(1);
	set_gpus(1, 0.8);
	facts->starved.sure.secs = 100;
	facts->cpu_course.one_core_secs = 90;
	try_rules("gpu_mostly one_core");
	facts->starved.sure.secs = 0;
	try_rules("one_core gpu_mostly");
}

static void fill_gpu(int index)
{
	struct frame frame = {0};
	struct gpu_row *row;

	frame_begin(&frame, 0, 0);
	row = ADD_ROW(&frame, gpu, NULL);
	row->uuid = "GPU-a";
	row->index = index;
	row->vram_total_bytes = 100 << 20;
	row->vram_used_bytes = row->process_vram_bytes = 95 << 20;
	summary_gpus_add(&facts->gpus, &frame, &(struct moment){100, 100});
	frame_done(&frame);
}

static void full_gpu_memory(void **state)
{
	(void)state;
	begin_with("", "\"reason\":\"exit\",\"exit_code\":1", 1);
	try_rules("none");
	fill_gpu(0);
	try_first("gpu_memory", "GPU memory",
		  "It failed, and 95.0 MiB of the 100 MiB of GPU 0 had been in use: probably it asked for "
		  "more.");
	begin_with("", "\"reason\":\"exit\",\"exit_code\":0", 1);
	fill_gpu(3);
	try_rules("none");
	begin(1);
	fill_gpu(3);
	try_rules("none");
}

static void starving_gpus_come_before_their_cause(void **state)
{
	(void)state;
	begin(3.6);
	facts->starved.sure.secs = 100;
	facts->starved.sure.idle_secs = facts->starved.sure.io_secs = 40;
	facts->io_pressure_secs = sum_of(40);
	try_rules("gpu_starved cpu_bound io_bound");
	try_first("gpu_starved", "GPU input",
		  "Its GPU had no work for 40.0 % of the 1 min 40 s from first to last use, while some "
		  "process of the job waited for I/O "
		  "during 100 % of that.");
}

static void waits_for_disks_and_memory(void **state)
{
	(void)state;
	begin(0.05);
	facts->io_pressure_secs = sum_of(10);
	try_first("io_bound", "Disk",
		  "At least one of its processes waited for I/O during 10.0 % of the time.");
	begin(0.1);
	facts->io_pressure_secs = sum_of(10);
	try_first("io_bound", "Disk",
		  "At least one of its processes waited for I/O during 10.0 % of the time.");
	begin(0.2);
	facts->io_pressure_secs = sum_of(10);
	try_first("io_bound", "Disk, at times",
		  "At least one of its processes waited for I/O during 10.0 % of the time, and they used "
		  "0.20 cores on average.");
	facts->io_pressure_secs = sum_of(9.9);
	try_rules("idle");
	facts->memory_pressure_secs = sum_of(10);
	try_first("memory_pressure", "Memory pressure",
		  "At least one of its processes waited for memory during 10.0 % of the time.");
	facts->io_pressure_secs = sum_of(10);
	try_rules("io_bound memory_pressure");
	facts->memory_pressure_secs = sum_of(9.9);
	try_rules("io_bound");
	facts->tracked = false;
	facts->host_cores = (struct figure){.weighted = 5, .weights = 100, .most = 1};
	try_first("io_bound", "Disk", "At least one process waited for I/O during 10.0 % of the time.");
}

static void waits_for_a_cpu(void **state)
{
	struct cpu_course *course;

	(void)state;
	begin(1);
	course = &facts->cpu_course;
	course->short_secs = 20;
	try_rules("none");
	course->has_pressure = true;
	try_first("cpu_pressure", "Short of CPU",
		  "At least one of its processes waited for a CPU during 20.0 % of the time, while all CPUs "
		  "were busy.");
	course->full_core_secs = 40;
	course->others_core_secs = 20;
	try_rules("cpu_pressure");
	course->others_core_secs = 20.1;
	try_first("cpu_taken", "Others on the machine",
		  "At least one of its processes waited for a CPU during 20.0 % of the time, while others "
		  "kept the CPUs busy.");
	course->short_secs = 0.5;
	course->unclear_secs = 19.5;
	try_rules("cpu_taken");
	/* Whether others or the job kept the CPUs busy is unclear in all of the time. */
	course->short_secs = 0;
	course->unclear_secs = 20;
	try_rules("cpu_pressure");
	course->others_core_secs = 0;
	course->short_secs = course->unclear_secs = 10;
	try_first("cpu_pressure", "Short of CPU",
		  "At least one of its processes waited for a CPU during 20.0 % of the time.");
	course->short_secs = 9.9;
	try_rules("none");
	course->short_secs = 20;
	facts->throttled_secs = sum_of(10);
	try_rules("throttled");
	begin(3.4);
	facts->cpu_course.has_pressure = true;
	facts->cpu_course.short_secs = 50;
	try_rules("cpu_bound");
}

static void threads_tell_their_waiting_themselves(void **state)
{
	struct cpu_course *course;

	(void)state;
	begin(0.4);
	course = &facts->cpu_course;
	course->has_pressure = course->has_threads = true;
	course->short_secs = 20;
	course->threads_run_secs = 4.05;
	try_first("cpu_pressure", "Short of CPU",
		  "At least one of its processes waited for a CPU during 20.0 % of the time, while all CPUs "
		  "were busy.");
	/* Those of the machine are not its own. */
	course->threads_wait_secs = 0.5;
	course->has_threads = false;
	try_first("cpu_pressure", "Short of CPU",
		  "At least one of its processes waited for a CPU during 20.0 % of the time, while all CPUs "
		  "were busy.");
	course->has_threads = true;
	facts->tracked = false;
	facts->host_cores = (struct figure){.weighted = 100, .weights = 100, .most = 1};
	try_first(
		"cpu_pressure", "Short of CPU",
		"At least one process waited for a CPU during 20.0 % of the time, while all CPUs were busy.");
	facts->tracked = true;
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for 0.50 s and ran for 4.05 s, while all CPUs were busy. "
		  "The job used 40.0 s of CPU time in all.");
	facts->io_pressure_secs = sum_of(30);
	try_rules("io_bound cpu_pressure");
	facts->io_pressure_secs = NONE;
	course->threads_wait_secs = 3.94;
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for 3.94 s and ran for 4.05 s, while all CPUs were busy. "
		  "The job used 40.0 s of CPU time in all.");
	facts->cpu_wait_known_secs = sum_of(38);
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for 3.94 s and ran for 4.05 s, while all CPUs were busy. "
		  "The job used 40.0 s of CPU time in all.");
	/* Two sentences of a summary tell one figure: a part is not more than the whole. */
	facts->cpu_wait_secs = sum_of(3.9);
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for 3.90 s and ran for 4.05 s, while all CPUs were busy. "
		  "The job used 40.0 s of CPU time in all.");
	/* The line `Held up` has this part. */
	facts->cpu_wait_known_secs = sum_of(37.9);
	course->threads_run_secs = 39.6;
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for at least 3.90 s and ran for 39.6 s, while all CPUs were "
		  "busy.");
	facts->cpu_wait_secs = sum_of(2);
	try_first("cpu_pressure", "Short of CPU",
		  "Its threads waited for a CPU for at least 2.00 s and ran for 39.6 s, while all CPUs were "
		  "busy.");
	/* A part this small explains nothing: the threads that waited ended unread. */
	facts->cpu_wait_secs = sum_of(1.99);
	try_first("cpu_pressure", "Short of CPU",
		  "At least one of its processes waited for a CPU during 20.0 % of the time, while all CPUs "
		  "were busy.");
	course->short_secs = 19.9;
	try_rules("none");
}

static void threads_confined_to_some_cpus(void **state)
{
	(void)state;
	begin(0.4);
	facts->cpu_course.confined_secs = 20;
	facts->cpu_course.confined_wait_secs = 5;
	facts->cpu_course.confined_run_secs = 6;
	try_first("cpu_confined", "Confined to some CPUs",
		  "Its threads waited for a CPU for 5.00 s and ran for 6.00 s, while other CPUs were free: "
		  "they may be confined to too few (taskset, affinity). The job used 40.0 s of CPU time in "
		  "all.");
	facts->throttled_secs = sum_of(10);
	try_rules("throttled");
	facts->throttled_secs = NONE;
	facts->cpu_course.confined_secs = 19.9;
	try_rules("none");
}

static void memory_near_its_limit(void **state)
{
	(void)state;
	begin(1);
	facts->memory.most = 900;
	try_first("memory_near_limit", "Memory", "Its peak reached 90.0 % of the memory that it may use.");
	facts->memory.most = 899;
	try_rules("none");
	/* 1 + 0.9 comes before 1 + 0.85, and behind 1 + 0.95. */
	begin(3.4);
	facts->memory.most = 900;
	try_rules("memory_near_limit cpu_bound");
	begin(3.8);
	facts->memory.most = 900;
	try_rules("cpu_bound memory_near_limit");
}

static void kills_for_lack_of_memory(void **state)
{
	(void)state;
	begin_with("", "\"reason\":\"oom_kill\",\"cgroup_oom_kills\":1", 3.9);
	try_rules("oom cpu_bound");
	try_first("oom", "Memory", "It was killed for lack of memory.");
	facts->allowances.list[0].memory_limit_mib = 500;
	facts->memory.most = 200;
	try_first("oom", "Memory",
		  "It was killed for lack of memory. Its processes were seen with 200 MiB of the 500 MiB: "
		  "full pipes, sockets and files in "
		  "memory count as well.");
	facts->memory.most = 250;
	try_first("oom", "Memory", "It was killed for lack of memory.");
	begin_with("", "\"reason\":\"oom_kill_step\",\"cgroup_oom_kills\":0", 1);
	facts->allowances.list[0].memory_limit_mib = 500;
	try_first("oom", "Memory", "It was killed for lack of memory.");
	begin_with("", "\"reason\":\"exit\",\"oom_kills\":1", 1);
	facts->memory.most = 900;
	try_rules("oom");
	try_first("oom", "Memory", "A process was killed for lack of memory, though not the job itself.");
	begin_with("", "\"reason\":\"exit\",\"oom_kills\":0", 1);
	facts->memory.most = 900;
	try_rules("memory_near_limit");
}

static void a_cache_without_room(void **state)
{
	const double mib = 1048576;

	(void)state;
	begin(0.5);
	facts->allowances.list[0].memory_limit_mib = 500;
	facts->io_pressure_secs = sum_of(40);
	facts->read_bytes = sum_of(1000 * mib);
	facts->cache_refault_bytes = sum_of(600 * mib);
	try_rules("cache_too_small");
	try_first("cache_too_small", "Memory",
		  "600 MiB of the 1000 MiB read from storage had been in memory before: the page cache had "
		  "no room for it in 500 MiB (cgroup "
		  "limit).");
	facts->cache_refault_bytes = sum_of(500 * mib);
	try_rules("cache_too_small");
	facts->cache_refault_bytes = sum_of(499 * mib);
	try_rules("io_bound");
	facts->read_bytes = sum_of(900 * mib);
	try_rules("io_bound");
	facts->cache_refault_bytes = sum_of(5000 * mib);
	try_first("cache_too_small", "Memory",
		  "900 MiB of the 900 MiB read from storage had been in memory before: the page cache had no "
		  "room for it in 500 MiB (cgroup "
		  "limit).");
	facts->cache_refault_bytes = NONE;
	try_rules("io_bound");
}

/* A kill comes before a limit of the CPUs, and this before GPUs that have no input. */
static void grave_causes_come_first(void **state)
{
	(void)state;
	begin_with("", "\"reason\":\"oom_kill\"", 1);
	facts->throttled_secs = sum_of(50);
	try_rules("oom throttled");
	begin(1);
	facts->throttled_secs = sum_of(50);
	facts->starved.sure.secs = 100;
	facts->starved.sure.idle_secs = facts->starved.sure.io_secs = 60;
	try_rules("throttled gpu_starved");
	begin(1);
	facts->starved.sure.secs = 100;
	facts->starved.sure.idle_secs = facts->starved.sure.io_secs = 60;
	facts->allowances.list[0].memory_limit_mib = 1;
	facts->read_bytes = facts->cache_refault_bytes = sum_of(2097152);
	try_rules("gpu_starved cache_too_small");
}

#define LIMIT(limit, rest) "\"reason\":\"exit\",\"process_limit\":\"" limit "\"," rest

static void limits_of_processes(void **state)
{
	static const char *const CERTAIN[] = {
		LIMIT("64 processes (ulimit -u), near 64", "\"exit_code\":1"),
		LIMIT("10 s of CPU time (ulimit -t)", "\"exit_code\":1"),
		LIMIT("5 processes (pids.max)", "\"exit_code\":1"),
		LIMIT("files of 1 KiB (ulimit -f)", "\"exit_code\":153"),
		LIMIT("files of 1 KiB (ulimit -f)", "\"signal\":25"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof CERTAIN / sizeof *CERTAIN; i++) {
		begin_with("", CERTAIN[i], 3.9);
		try_rules("process_limit cpu_bound");
	}
	begin_with("", CERTAIN[0], 3.9);
	try_first("process_limit", "Limit",
		  "It failed, limited to 64 processes (ulimit -u), near 64: raise this limit if it is the "
		  "reason.");
	/* It comes before a kill that it may have caused. */
	begin_with("",
		   "\"reason\":\"oom_kill\",\"process_limit\":\"64 processes (ulimit -u), near "
		   "64\",\"exit_code\":1",
		   1);
	try_rules("process_limit oom");
	begin_with("", LIMIT("64 processes (ulimit -u), near 64", "\"exit_code\":1,\"oom_kills\":1"), 1);
	try_rules("process_limit oom");
	/* Without its signal, another limit is named if nothing else stands out. */
	begin_with("", LIMIT("files of 1 KiB (ulimit -f)", "\"exit_code\":1"), 3.9);
	try_rules("cpu_bound");
	begin_with("", LIMIT("files of 1 KiB (ulimit -f)", "\"exit_code\":1"), 1);
	try_first("process_limit", "Limit",
		  "It failed, limited to files of 1 KiB (ulimit -f): raise this limit if it is the reason.");
	begin_with("", LIMIT("64 processes (ulimit -u), near 64", "\"exit_code\":0"), 3.9);
	try_rules("cpu_bound process_limit");
	try_at(1, "process_limit", "Limit",
	       "It was limited to 64 processes (ulimit -u), near 64: raise this limit.");
}

static void clients_of_work_elsewhere(void **state)
{
	static const struct launcher SSH = {"ssh", "ssh HOST resource-tracker -- COMMAND"};

	(void)state;
	begin_with("\"executable\":\"/usr/bin/srun\"", NULL, 0.29);
	try_first("elsewhere", "It ran elsewhere",
		  "srun lets other processes do the work, and this recording does not include them. To "
		  "record them: srun resource-tracker -- "
		  "COMMAND.");
	facts->cpu_course.has_pressure = true;
	facts->cpu_course.unclear_secs = 20.9;
	assert_non_null(idle_launcher(facts));
	facts->cpu_course.unclear_secs = 21;
	assert_null(idle_launcher(facts));
	begin_with("\"executable\":\"/usr/bin/srun\"", NULL, 0.3);
	assert_null(idle_launcher(facts));
	begin(0.1);
	assert_null(idle_launcher(facts));
	begin_with("\"executable\":\"/bin/sh\"", NULL, 0.1);
	facts->programs.launcher = &SSH;
	facts->programs.launcher_secs = 49.9;
	assert_null(idle_launcher(facts));
	facts->programs.launcher_secs = 50;
	assert_ptr_equal(idle_launcher(facts), &SSH);
}

static void causes_that_are_ruled_out(void **state)
{
	(void)state;
	begin(1);
	try_first("none", "None stands out", "It was not short of memory, and did not use all its cores.");
	facts->throttled_secs = sum_of(0);
	try_first("none", "None stands out",
		  "It was not throttled, not short of memory, and did not use all its cores.");
	facts->cpu_course.free_secs = 85;
	try_first("none", "None stands out",
		  "It was not throttled, not short of memory, and did not use all its cores, though 3.00 of "
		  "them were free.");
	/* Other programs of the machine use some of them. */
	facts->host_cores = (struct figure){.weighted = 385, .weights = 100, .most = 4};
	try_first("none", "None stands out",
		  "It was not throttled, not short of memory, and did not use all its cores, though 0.15 of "
		  "them were free.");
	facts->host_cores.weighted = 391;
	try_first("none", "None stands out",
		  "It was not throttled, not short of memory, and did not use all its cores.");
	facts->host_cores = (struct figure){.most = NAN};
	facts->cpu_course.free_secs = 84.9;
	facts->memory.most = NAN;
	try_first("none", "None stands out", "It was not throttled, and did not use all its cores.");
	facts->throttled_secs = NONE;
	try_first("none", "None stands out", "It did not use all its cores.");
	facts->core_count = no_count(ABSENT_NOT_COLLECTED);
	try_first("none", "None stands out", "Too little was recorded to name a bottleneck.");
	facts->throttled_secs = sum_of(0);
	facts->memory.most = 100;
	try_first("none", "None stands out", "It was not throttled, not short of memory.");
}

static void commands_that_did_not_start(void **state)
{
	(void)state;
	begin_with("", "\"reason\":\"exec_failed\",\"exit_code\":127", 3.9);
	try_rules("not_started");
	try_first("not_started", "It did not start", "The command could not be started.");
}

static int forget(void **state)
{
	rt_summary_free(summary);
	summary = NULL;
	return scratch_leave(state);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_cores),
		cmocka_unit_test(too_little_time_or_figures),
		cmocka_unit_test(idle_jobs),
		cmocka_unit_test(one_long_wait),
		cmocka_unit_test(throttled_jobs),
		cmocka_unit_test(one_core_of_several),
		cmocka_unit_test(cores_busy_at_times),
		cmocka_unit_test(busy_gpus),
		cmocka_unit_test(a_gpu_in_use_comes_before_its_core),
		cmocka_unit_test(full_gpu_memory),
		cmocka_unit_test(starving_gpus_come_before_their_cause),
		cmocka_unit_test(waits_for_disks_and_memory),
		cmocka_unit_test(waits_for_a_cpu),
		cmocka_unit_test(threads_tell_their_waiting_themselves),
		cmocka_unit_test(threads_confined_to_some_cpus),
		cmocka_unit_test(memory_near_its_limit),
		cmocka_unit_test(kills_for_lack_of_memory),
		cmocka_unit_test(a_cache_without_room),
		cmocka_unit_test(grave_causes_come_first),
		cmocka_unit_test(limits_of_processes),
		cmocka_unit_test(clients_of_work_elsewhere),
		cmocka_unit_test(causes_that_are_ruled_out),
		cmocka_unit_test(commands_that_did_not_start),
	};

	return cmocka_run_group_tests(tests, scratch_enter, forget);
}
