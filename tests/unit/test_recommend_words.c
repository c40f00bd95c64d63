/*
 * The advice of `recommend` for lines of runs stays, word by word: its text, JSON and forms for several questions, the points of the plot of
 * sizes, and the replay of the past. Each job below is made by a function, and tests/golden/advice/JOB.printed has what is printed for it.
 *
 * UPDATE_GOLDEN=1 writes the files anew: review the difference as a change of what users read.
 */
#include "scratch.h"

#include <math.h>
#include <stdarg.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "recommend/recommend.h"
#include "recommend/replay.h"

static struct buffer lines, printed;
static struct rt_problem problem;

/* A line with these members besides its schema, which come after those that each run has. */
static void add_run(int number, double peak, const char *format, ...)
{
	char members[1000];
	va_list list;

	va_start(list, format);
	vsnprintf(members, sizeof members, format, list);
	va_end(list);
	buffer_printf(&lines,
		      "{\"schema\":1,\"id\":\"run-%d\",\"name\":\"align\",\"started\":%d,\"wall_secs\":%d,"
		      "\"memory_peak_mib\":%.3f,\"memory_needed_mib\":%.3f,%s}\n",
		      number, 1700000000 + 7200 * number, 1800 + 60 * (number * 7 % 13), peak, peak, members);
}

/* ---- jobs ------------------------------------------------------------------------------------------------------------------ */

static void made_steady(void)
{
	for (int i = 0; i < 30; i++)
		add_run(i, 1000 + 10 * (i * 7 % 11),
			"\"outcome\":\"ok\",\"memory_asked_mib\":4096.0,\"cores_mean\":%.6f,\"cores_max\":%."
			"2f,"
			"\"cores_needed\":%.6f,\"cores_p95\":%.6f,\"gpu_mean\":%.6f,\"gpu_max\":%.6f,"
			"\"gpu_memory_max_mib\":%d,\"host\":\"node%d\"",
			1.5 + 0.123456 * (i % 5), 3.5 + 0.223456 * (i % 4), 3.02 + 0.012345 * (i % 3),
			2.512345, 0.612345, 1.4 + 0.123456 * (i % 2), 7000 + 100 * (i % 3), i % 4);
}

static void made_one(void)
{
	add_run(1, 4400,
		"\"outcome\":\"failed\",\"cores_mean\":0.4,\"cores_max\":1.02,\"cores_needed\":1.02,\"cores_"
		"p95\":1");
}

static void made_line(void)
{
	for (int i = 0; i < 24; i++)
		add_run(i, 300 + 2.5 * (50 + i * 37 % 24 * 40) + 7 * (i % 3),
			"\"outcome\":\"ok\",\"input_bytes\":%d,\"input_source\":\"option\",\"cores_mean\":1."
			"1,\"cores_max\":2,"
			"\"cores_needed\":1.9,\"cores_p95\":1.2",
			(50 + i * 37 % 24 * 40) << 20);
	add_run(30, 900,
		"\"outcome\":\"oom\",\"end_oom\":\"confirmed\",\"oom_had_mib\":1024,\"oom_next_mib\":1300,"
		"\"input_bytes\":%d,\"input_source\":\"option\"",
		500 << 20);
	add_run(31, 5000, "\"outcome\":\"ok\",\"input_bytes\":1000000,\"input_source\":\"arguments\"");
}

static void made_nearest(void)
{
	for (int i = 0; i < 40; i++)
		add_run(i, (i % 2 ? 400 : 6000) + 3 * (i % 7),
			"\"outcome\":\"ok\",\"input_bytes\":%.0f,\"input_source\":\"option\",\"cores_mean\":"
			"1",
			(i % 2 ? 1e6 : 1e9) * (1 + 0.01 * i));
}

static void made_rising(void)
{
	for (int i = 0; i < 26; i++)
		add_run(i, 1000 + 40 * i + 5 * (i % 3),
			"\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1.5");
}

static void made_falling(void)
{
	for (int i = 0; i < 26; i++)
		add_run(i, i < 12 ? 5000 + i : 800 + i % 4,
			"\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1.5");
}

static void made_outlying(void)
{
	for (int i = 0; i < 40; i++)
		add_run(i, i == 17 ? 9000 : 700 + i % 5, "\"outcome\":\"ok\",\"task\":\"%s\"",
			i % 2 ? "odd" : "even");
	add_run(41, 650, "\"outcome\":\"failed\",\"task\":\"odd\"");
	add_run(42, 640, "\"outcome\":\"stopped\",\"reason\":\"target_exited\",\"task\":\"odd\"");
	add_run(43, 630, "\"outcome\":\"stopped\",\"reason\":\"signal\",\"task\":\"odd\"");
}

static void add_kill(int number, const char *kind, double had, const char *more)
{
	add_run(number, had * 0.9,
		"\"outcome\":\"oom\",\"end_oom\":\"%s\",\"oom_had_mib\":%.1f,\"oom_next_mib\":%.1f,\"memory_"
		"limit_mib\":%.1f%s",
		kind, had, 2.4 * had, had, more);
}

static void made_kill_alone(void)
{
	add_kill(1, "confirmed", 2048, ",\"cores_mean\":1,\"cores_max\":3.5,\"cores_needed\":3.5");
}

static void made_step_killed(void)
{
	add_kill(1, "step", 512, ",\"cores_mean\":1,\"cores_max\":1,\"memory_kernel_mib\":40");
}

static void made_kill_last(void)
{
	for (int i = 0; i < 5; i++)
		add_run(i, 900 + i, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1");
	add_kill(6, "suspected", 1024, "");
	add_kill(7, "stopped_at_limit", 1500, "");
}

static void made_kill_settled(void)
{
	for (int i = 0; i < 5; i++)
		add_run(i, 900 + i, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1");
	add_kill(6, "confirmed", 1024, "");
	add_run(7, 1100, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1");
}

static void made_kill_forgotten(void)
{
	add_kill(1, "confirmed", 4096, "");
	for (int i = 2; i < 12; i++)
		add_run(i, 900 + i, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1");
}

static void made_kill_remembered(void)
{
	add_kill(1, "confirmed", 4096, "");
	for (int i = 2; i < 11; i++)
		add_run(i, 900 + i, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1");
}

static void made_ranks(void)
{
	for (int i = 0; i < 4; i++)
		add_run(i, 1000 + 100 * i,
			"\"outcome\":\"ok\",\"host\":\"node%d\",\"rank\":%d,\"tasks\":8,\"nodes\":2,"
			"\"scheduler_job\":\"77\","
			"\"scheduler\":{\"SLURM_STEP_ID\":\"0\",\"SLURM_PROCID\":\"%d\"},\"cores_mean\":%.1f,"
			"\"cores_max\":2.5,"
			"\"cores_needed\":2.2,\"cores_p95\":2,\"gpu_max\":0.9,\"gpu_memory_max_mib\":900",
			i % 2, i, i, 1.5 + 0.2 * i);
	/* The scheduler started it again: another run, with all of its ranks. */
	for (int i = 0; i < 8; i++)
		add_run(10 + i, 900 + 10 * i,
			"\"outcome\":\"%s\",\"host\":\"node%d\",\"rank\":%d,\"tasks\":8,\"nodes\":2,"
			"\"scheduler_job\":\"78\","
			"\"scheduler\":{\"SLURM_STEP_ID\":\"0\",\"SLURM_PROCID\":\"%d\"},\"cores_mean\":1,"
			"\"cores_max\":2",
			i == 3 ? "failed" : "ok", i % 2, i, i);
}

static void made_script_of_tasks(void)
{
	for (int i = 0; i < 3; i++)
		add_run(i, 6000,
			"\"outcome\":\"ok\",\"host\":\"node1\",\"tasks\":12,\"nodes\":1,\"scheduler_job\":\"%"
			"d\","
			"\"scheduler\":{\"SLURM_JOB_ID\":\"%d\"},\"cores_mean\":9.5,\"cores_max\":11.5,"
			"\"cores_needed\":11.1,\"cores_p95\":10",
			80 + i, 80 + i);
}

static void made_ranks_without_ids(void)
{
	for (int i = 0; i < 3; i++)
		buffer_printf(
			&lines,
			"{\"schema\":1,\"id\":\"part-%d\",\"name\":\"mpi\",\"started\":%d,\"wall_secs\":100,"
			"\"memory_peak_mib\":%d,\"outcome\":\"ok\",\"host\":\"a\",\"rank\":%d,\"cores_mean\":"
			"1}\n",
			i, 1700000000 + (i == 2 ? 51 : 50 * i), 500 + i, i);
}

static void made_small(void)
{
	for (int i = 0; i < 3; i++)
		add_run(i, 4 + i,
			"\"outcome\":\"ok\",\"cores_mean\":0.01,\"cores_max\":0.2,\"cores_needed\":0.1,"
			"\"cores_p95\":0.1,"
			"\"gpu_max\":0,\"gpu_memory_max_mib\":0");
}

/* Its peaks are of the largest process, between samples, with swap, and with memory of the kernel. */
static void made_kinds_of_peaks(void)
{
	add_run(1, 700,
		"\"outcome\":\"ok\",\"memory_peak_source\":\"largest_process\",\"memory_largest_process_"
		"mib\":700");
	buffer_printf(&lines,
		      "{\"schema\":1,\"id\":\"b\",\"name\":\"align\",\"started\":1700100000,\"wall_secs\":50,"
		      "\"outcome\":\"ok\","
		      "\"memory_peak_mib\":600,\"memory_largest_process_mib\":650,\"memory_needed_mib\":900,"
		      "\"memory_kernel_mib\":150}\n"
		      "{\"schema\":1,\"id\":\"c\",\"name\":\"align\",\"started\":1700200000,\"wall_secs\":50,"
		      "\"outcome\":\"ok\","
		      "\"memory_peak_mib\":500,\"memory_swap_max_mib\":1,\"memory_needed_mib\":800}\n");
}

static void made_little(void)
{
	add_run(1, 100, "\"outcome\":\"ok\",\"says_little\":\"it has one sample only\"");
	add_run(2, 200, "\"outcome\":\"ok\",\"says_little\":\"it is \\\"short\\\"\"");
	add_run(3, 300, "\"outcome\":\"running\"");
}

static void made_partly_little(void)
{
	add_run(1, 100,
		"\"outcome\":\"ok\",\"cores_mean\":7,\"cores_max\":8,\"says_little\":\"it has one sample "
		"only\"");
	add_run(2, 200, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1.2");
	buffer_add_text(&lines, "{\"schema\":9,\"id\":\"x\",\"name\":\"align\"}\n{\"schema\":1,\"name\n");
	add_run(2, 250, "\"outcome\":\"ok\",\"cores_mean\":1,\"cores_max\":1.2");
}

/* More runs than count: the first took most. */
static void made_many(void)
{
	for (int i = 0; i < 420; i++)
		add_run(i, i == 3 ? 5000 : i == 215 ? 3000 : 500 + i % 7, "\"outcome\":\"ok\"");
}

/* Jobs whose lines lie between each other, with lines that are told twice, and a damaged name. */
static void made_mixed(void)
{
	static const char *const NAMES[] = {"sort", "align", "a\\u00e4\\\\n"};

	for (int i = 0; i < 18; i++)
		buffer_printf(
			&lines,
			"{\"schema\":1,\"id\":\"id-%d\",\"name\":\"%s\",\"job_name\":\"%s\",\"started\":%d,"
			"\"wall_secs\":%d,\"memory_peak_mib\":%d,\"memory_asked_mib\":%d,\"outcome\":\"ok\","
			"\"cores_mean\":%d}\n",
			i == 15 ? 12 : i, NAMES[i % 3], i % 3 ? "other" : "queue",
			1700000000 + 1000 * (i * 7 % 18), 600 * (1 + i % 3),
			500 + 100 * (i % 5) * (1 + i % 3), 2048 >> i % 2, 1 + i % 3);
	buffer_add_text(&lines, "{\"schema\":1,\"name\":\"once\",\"wall_secs\":300,\"memory_peak_mib\":70,"
				"\"outcome\":\"ok\"}\n");
	/* These have no start, and are the oldest. */
	for (int i = 0; i < 2; i++)
		buffer_printf(&lines,
			      "{\"schema\":1,\"name\":\"sort\",\"wall_secs\":300,\"memory_peak_mib\":%d,"
			      "\"outcome\":\"ok\"}\n",
			      700 + 200 * i);
}

static void made_only_largest_process(void)
{
	for (int i = 0; i < 3; i++)
		add_run(i, 700 + i,
			"\"outcome\":\"ok\",\"memory_peak_source\":\"largest_process\",\"memory_largest_"
			"process_mib\":%d,"
			"\"cores_mean\":1",
			700 + i);
}

/* The inputs of the kill, or of the runs around it, are unknown. */
static void made_inputs_of_some(void)
{
	for (int i = 0; i < 4; i++)
		add_run(i, 500 + i,
			"\"outcome\":\"ok\",\"input_bytes\":1000000,\"input_source\":\"option\",\"cores_"
			"mean\":1");
	add_kill(5, "confirmed", 1024,
		 ",\"input_bytes\":5000000,\"input_source\":\"option\",\"cores_mean\":1");
	add_run(6, 600, "\"outcome\":\"ok\",\"cores_mean\":1");
	add_kill(7, "confirmed", 0.5, ",\"cores_mean\":1");
}

static void made_input_shows_enough(void)
{
	made_inputs_of_some();
	add_run(8, 700,
		"\"outcome\":\"ok\",\"input_bytes\":6000000,\"input_source\":\"option\",\"cores_mean\":1");
}

/* Times that follow a line, and one of a run that was cut short. */
static void made_times(void)
{
	for (int i = 0; i < 12; i++)
		buffer_printf(
			&lines,
			"{\"schema\":1,\"id\":\"t-%d\",\"name\":\"align\",\"started\":%d,\"wall_secs\":%d,"
			"\"memory_peak_mib\":300,\"outcome\":\"ok\",\"input_bytes\":%d,\"input_source\":"
			"\"option\","
			"\"cores_mean\":1}\n",
			i, 1700000000 + i * 9000, 100 + 60 * (i * 5 % 12), 1000000 * (1 + i * 5 % 12));
	buffer_add_text(
		&lines,
		"{\"schema\":1,\"id\":\"cut\",\"name\":\"align\",\"started\":1700200000,\"wall_secs\":9000,"
		"\"memory_peak_mib\":200,\"outcome\":\"stopped\",\"input_bytes\":20000000,"
		"\"input_source\":\"option\"}\n");
}

/* One run has no input at all, and the sizes of the others are those of the files that the command names. */
static void made_guessed_inputs(void)
{
	for (int i = 0; i < 14; i++)
		add_run(i, i == 5 ? 300 : 100 + 50 * (i * 5 % 14),
			i == 5 ? "\"outcome\":\"ok\",\"cores_mean\":1"
			       : "\"outcome\":\"ok\",\"cores_mean\":1,\"input_bytes\":%d,\"input_source\":"
				 "\"arguments\"",
			10000000 * (i * 5 % 14));
}

/* The advice, and the largest with a fifth, is exactly what the second run takes. The next two run for no time, and one wakes up. */
static void made_exact(void)
{
	static const int PEAKS[] = {1000, 1200, 1300, 1300, 1216}, SECS[] = {60, 60, 0, -1, 60};

	for (int i = 0; i < 5; i++)
		buffer_printf(
			&lines,
			"{\"schema\":1,\"id\":\"e-%d\",\"name\":\"align\",\"started\":%d,\"wall_secs\":%d,"
			"\"memory_peak_mib\":%d,\"memory_asked_mib\":1200,\"outcome\":\"ok\",\"cores_mean\":"
			"1}\n",
			i, 1700000000 + 100 * i, SECS[i], PEAKS[i]);
}

/* Those without a start are the oldest, in the order of their lines. */
static void made_without_start(void)
{
	for (int i = 0; i < 44; i++)
		buffer_printf(&lines,
			      "{\"schema\":1,\"name\":\"align\",%s%d,\"wall_secs\":60,\"memory_peak_mib\":%d,"
			      "\"outcome\":\"ok\","
			      "\"cores_mean\":1}\n",
			      i % 4 ? "\"started\":17000000" : "\"samples\":", 10 + i * 7 % 44,
			      i % 4 ? 300 + i : 500 + i);
}

/* Times of a power of the size, over three decades. */
static void made_power(void)
{
	for (int i = 0; i < 40; i++) {
		double input = 1e6 * pow(10, 3.0 * (i * 7 % 40) / 39);

		buffer_printf(
			&lines,
			"{\"schema\":1,\"id\":\"p-%d\",\"name\":\"align\",\"started\":%d,\"wall_secs\":%.4f,"
			"\"memory_peak_mib\":%.4f,\"outcome\":\"ok\",\"input_bytes\":%.0f,\"input_source\":"
			"\"option\","
			"\"cores_mean\":1}\n",
			i, 1700000000 + i * 90000, 20.12345 * pow(input / 1e6, 0.7) * (1 + 0.05 * (i % 5)),
			0.55555 + i % 3, input);
	}
}

/* ---- recordings ------------------------------------------------------------------------------------------------------------ */

/* A recording of samples of 10 s, with these cores in use. */
static void put_recording(const char *path, int begun, int rank, const double *cores, int count,
			  double memory_mib, const char *of_start, const char *of_end)
{
	struct buffer text = BUFFER(1 << 20);

	for (int i = 0; i < count; i++) {
		buffer_printf(
			&text,
			"{\"timestamp\":%d,\"elapsed_secs\":%d,\"actual_interval_ms\":10000,\"sample\":%d,"
			"\"host\":\"node%d\","
			"\"job_name\":\"wide\",\"cpu\":{\"utilization_pct\":%.2f,\"process_cores_used\":%.2f,"
			"\"process_utime_secs\":%.2f,\"process_stime_secs\":0,\"process_memory_mib\":%.1f,"
			"\"process_gpu_usage\":%.2f,\"process_gpu_vram_mib\":%d},\"memory\":{\"total_mib\":"
			"64000,"
			"\"used_mib\":%.1f}",
			1700000000 + begun + 10 * (i + 1), 10 * (i + 1), i, rank / 2, cores[i] + 3, cores[i],
			cores[i] * 10, memory_mib, 0.1 * (begun % 7), 100 * (begun % 3), memory_mib + 300);
		if (rank >= 0)
			buffer_printf(&text, ",\"rank\":%d", rank);
		if (i == 0)
			buffer_printf(&text, ",\"run_start\":{%s}", of_start);
		if (i + 1 == count)
			buffer_printf(&text, ",\"run_end\":{%s}", of_end);
		buffer_add_text(&text, "}\n");
	}
	put_file(path, text.data, text.length);
	buffer_done(&text);
}

#define START "\"interval_secs\":10,\"tracked_pid\":7,\"cores\":32"
#define RANK_START \
	START ",\"scheduler\":{\"SLURM_JOB_ID\":\"9\",\"SLURM_STEP_ID\":\"0\",\"SLURM_PROCID\":\"0\"," \
	      "\"SLURM_NTASKS\":\"6\",\"SLURM_JOB_NUM_NODES\":\"2\"}"
#define ENDED "\"reason\":\"exit\",\"exit_code\":0"

static const double WIDE[] = {12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 0, 0, 0, 0},
		    SHORT_OF_CPU[] = {2, 2, 2, 2, 2, 2};

static size_t put_wide(void)
{
	put_recording("1.jsonl", 6000, -1, WIDE, 20, 900, START, ENDED);
	return 1;
}

static size_t put_earlier_runs(void)
{
	put_recording("1.jsonl", 6000, -1, WIDE, 20, 900,
		      START ",\"input_bytes\":7000000,\"input_source\":\"arguments\"", ENDED);
	put_recording("2.jsonl", 5001, -1, SHORT_OF_CPU, 6, 1100,
		      START ",\"input_bytes\":8000000,\"input_source\":\"arguments\"", ENDED);
	put_recording("3.jsonl", 4000, -1, SHORT_OF_CPU, 6, 800, START,
		      "\"reason\":\"exit\",\"exit_code\":4");
	put_recording("4.jsonl", 3000, -1, SHORT_OF_CPU, 1, 5000, START, ENDED);
	put_text("5.jsonl", "");
	return 5;
}

static size_t put_ranks(void)
{
	put_recording("1.jsonl", 6000, 0, SHORT_OF_CPU, 6, 900, RANK_START, ENDED);
	put_recording("2.jsonl", 6001, 2, SHORT_OF_CPU, 6, 1000, RANK_START, ENDED);
	put_recording("3.jsonl", 6002, 1, WIDE, 6, 700, RANK_START, ENDED);
	return 3;
}

/* Each of two tasks has a recording, so the rest of the machine is that of others. */
static size_t put_all_ranks(void)
{
	static const char TWO[] = START ",\"scheduler\":{\"SLURM_JOB_ID\":\"9\",\"SLURM_STEP_ID\":\"0\","
					"\"SLURM_PROCID\":\"0\",\"SLURM_NTASKS\":\"2\"}";

	put_recording("1.jsonl", 6000, 0, SHORT_OF_CPU, 6, 900, TWO, ENDED);
	put_recording("2.jsonl", 6001, 1, SHORT_OF_CPU, 6, 1000, TWO, ENDED);
	return 2;
}

static size_t put_script(void)
{
	put_recording(
		"1.jsonl", 6000, -1, WIDE, 20, 900,
		START
		",\"scheduler\":{\"PBS_JOBID\":\"9\",\"SLURM_NTASKS\":\"6\",\"SLURM_JOB_NUM_NODES\":\"2\"}",
		ENDED);
	return 1;
}

/* The same run in a recording and in its line, and lines of others. */
static size_t put_with_lines(void)
{
	put_recording("1.jsonl", 6000, -1, SHORT_OF_CPU, 6, 900, START ",\"run_id\":\"one\"", ENDED);
	put_text(
		"2.jsonl",
		"{\"schema\":1,\"id\":\"one\",\"name\":\"wide\",\"outcome\":\"ok\",\"memory_peak_mib\":9000}"
		"\n"
		"{\"schema\":1,\"id\":\"two\",\"name\":\"wide\",\"outcome\":\"ok\",\"memory_peak_mib\":950}\n"
		"{\"schema\":1,\"id\":\"two\",\"name\":\"wide\",\"outcome\":\"ok\",\"memory_peak_mib\":970}\n"
		"{\"schema\":1,\"id\":\"six\",\"name\":\"narrow\",\"outcome\":\"ok\",\"memory_peak_mib\":"
		"9000}\n");
	put_text("3.jsonl", "{\"schema\":1,\"id\":\"two\",\"name\":\"wide\",\"outcome\":\"ok\",\"memory_peak_"
			    "mib\":980}\n");
	put_recording("4.jsonl", 6100, -1, SHORT_OF_CPU, 6, 990, START ",\"run_id\":\"two\"", ENDED);
	put_recording("5.jsonl", 6100, -1, SHORT_OF_CPU, 6, 999, START ",\"run_id\":\"two\"", ENDED);
	return 5;
}

/* Two GPUs, of which the job uses one. */
static size_t put_gpus(void)
{
	struct buffer text = BUFFER(1 << 16);

	for (int i = 0; i < 3; i++)
		buffer_printf(
			&text,
			"{\"timestamp\":%d,\"elapsed_secs\":%d,\"actual_interval_ms\":10000,\"sample\":%d,"
			"\"cpu\":{"
			"\"process_cores_used\":1,\"process_memory_mib\":100,\"process_gpu_usage\":0.9,"
			"\"process_gpu_vram_mib\":950,\"process_gpu_utilized\":1},\"gpu\":[{\"uuid\":\"GPU-"
			"a\",\"index\":0,"
			"\"visible\":true,\"vram_total_bytes\":1048576000,\"utilization_pct\":90,\"process_"
			"count\":1,"
			"\"process_utilization_pct\":90,\"process_vram_bytes\":996147200,\"power_watts\":200,"
			"\"energy_total_joules\":%d},{\"uuid\":\"GPU-b\",\"index\":1,\"visible\":true,"
			"\"vram_total_bytes\":1048576000,\"utilization_pct\":0,\"process_count\":0,"
			"\"process_utilization_pct\":0,\"process_vram_bytes\":0}]%s%s}\n",
			1700000010 + 10 * i, 10 + 10 * i, i, 5000 + 2000 * i,
			i ? "" : ",\"run_start\":{" START "}", i < 2 ? "" : ",\"run_end\":{" ENDED "}");
	put_file("1.jsonl", text.data, text.length);
	buffer_done(&text);
	return 1;
}

static const struct recorded_job {
	const char *name;
	size_t (*put)(void);
} RECORDED[] = {
	{"wide", put_wide},           {"earlier-runs", put_earlier_runs}, {"recorded-ranks", put_ranks},
	{"all-ranks", put_all_ranks}, {"recorded-script", put_script},    {"with-lines", put_with_lines},
	{"two-gpus", put_gpus},
};

static const struct made_job {
	const char *name;
	void (*make)(void);
	double inputs[3]; /* in bytes, to ask for. 0: none */
} JOBS[] = {
	{"steady", made_steady, {0}},
	{"one", made_one, {0}},
	{"line", made_line, {300 << 20, 520 << 20, 5e9}},
	{"nearest", made_nearest, {5e5, 1.2e9, 3e9}},
	{"rising", made_rising, {0}},
	{"falling", made_falling, {0}},
	{"outlying", made_outlying, {0}},
	{"kill-alone", made_kill_alone, {0}},
	{"step-killed", made_step_killed, {0}},
	{"kill-last", made_kill_last, {0}},
	{"kill-settled", made_kill_settled, {0}},
	{"kill-forgotten", made_kill_forgotten, {0}},
	{"kill-remembered", made_kill_remembered, {0}},
	{"ranks", made_ranks, {0}},
	{"script-of-tasks", made_script_of_tasks, {0}},
	{"ranks-without-ids", made_ranks_without_ids, {0}},
	{"small", made_small, {0}},
	{"kinds-of-peaks", made_kinds_of_peaks, {0}},
	{"little", made_little, {0}},
	{"partly-little", made_partly_little, {0}},
	{"many", made_many, {0}},
	{"mixed", made_mixed, {0}},
	{"only-largest-process", made_only_largest_process, {0}},
	{"inputs-of-some", made_inputs_of_some, {1e6, 4.9e6, 5.2e6}},
	{"input-shows-enough", made_input_shows_enough, {1e6, 4.9e6, 5.2e6}},
	{"guessed-inputs", made_guessed_inputs, {1, 25e6, 100e6}},
	{"exact", made_exact, {0}},
	{"without-start", made_without_start, {0}},
	{"power", made_power, {3e6, 3e8, 1e5}},
	{"times", made_times, {2e6, 20e6, 40e6}},
};

/* ---- printing -------------------------------------------------------------------------------------------------------------- */

/* One member a line, without those that are absent, so that a difference shows what has changed. */
static void print_members(const char *json)
{
	char *copy = strdup(json), *rest = copy, *member;

	for (char *at = copy; *at; at++)
		if (*at == ',' && at[1] == '"')
			*at = '\n';
	while ((member = strsep(&rest, "\n")))
		if (!strstr(member, ":null"))
			buffer_printf(&printed, "%s\n", member);
	free(copy);
}

static void print_taken(const char *title, int result, char *text)
{
	buffer_printf(&printed, "-- %s: %s\n", title, result < 0 ? problem.text : "");
	if (result < 0)
		return;
	if (*text == '{')
		print_members(text);
	else
		buffer_add_text(&printed, text);
	free(text);
}

static void print_forms(const rt_advice *advice)
{
	static const char *const FORMS[] = {"slurm",    "kubernetes", "docker",
					    "nextflow", "snakemake",  "metaflow"};

	for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
		char *text = NULL;
		int result = rt_advice_to_form(advice, FORMS[i], &text, &problem);

		print_taken(FORMS[i], result, text);
		if (result < 0)
			return;
	}
}

static void print_answer_of(const char *const *paths, size_t path_count,
			    const struct rt_recommend_options *options, bool has_all)
{
	rt_advice *advice;
	char *text = NULL;

	buffer_printf(&printed, "---- %s, attempt %u, input %.0f, task %s%s\n", policy_name(options->policy),
		      options->attempt, options->input_bytes, options->task ? options->task : "any",
		      options->force ? ", forced" : "");
	if (rt_recommend(paths, path_count, options, &advice, &problem) < 0) {
		buffer_printf(&printed, "%s\n", problem.text);
		return;
	}
	assert_int_equal(rt_advice_to_text(advice, &text), 0);
	print_taken("text", 0, text);
	if (has_all) {
		assert_int_equal(rt_advice_to_json(advice, &text), 0);
		print_taken("JSON", 0, text);
		print_forms(advice);
	}
	rt_advice_free(advice);
}

static void print_answer_to(const struct rt_recommend_options *options, bool has_all)
{
	print_answer_of((const char *const[]){"runs.jsonl"}, 1, options, has_all);
}

static void print_answers(const struct made_job *job)
{
	struct rt_recommend_options options = {.size = sizeof options};

	for (enum rt_policy policy = RT_POLICY_MAX; policy <= RT_POLICY_COST; policy++) {
		options.policy = policy;
		print_answer_to(&options, true);
		for (size_t i = 0; i < 3 && job->inputs[i] > 0; i++) {
			options.input_bytes = job->inputs[i];
			print_answer_to(&options, i == 0);
		}
		options.input_bytes = 0;
	}
	options.policy = RT_POLICY_MAX;
	for (unsigned attempt = 2; attempt <= 4; attempt++) {
		options.attempt = attempt;
		options.memory_least_mib = attempt == 3 ? 100 : 0;
		options.memory_step_mib = attempt == 4 ? 50 : 0;
		print_answer_to(&options, false);
	}
	options = (struct rt_recommend_options){
		.size = sizeof options, .force = true, .usd_per_hour = 0.5, .task = "odd"};
	print_answer_to(&options, false);
	options.task = NULL;
	print_answer_to(&options, true);
	options.job = "queue";
	print_answer_to(&options, false);
}

static void print_replay(enum rt_policy policy, const char *task, double since, double usd)
{
	struct replay replay = REPLAY(policy, NULL, task);

	replay.since = since;
	replay.usd_per_gib_hour = usd;
	replay.memory_step_mib = since > 0 ? 500 : 0;
	buffer_printf(&printed, "---- replay, %s, task %s, since %.0f, USD %.2f\n", policy_name(policy),
		      task ? task : "any", since, usd);
	if (replay_add_file(&replay, "runs.jsonl", &problem) < 0 || replay_all(&replay, &problem) < 0) {
		buffer_printf(&printed, "%s\n", problem.text);
	} else {
		struct buffer json = BUFFER(1 << 20);

		replay_add_text(&printed, &replay, &(struct screen){.columns = 40});
		replay_add_text(&printed, &replay, &(struct screen){.columns = 200});
		replay_add_json(&json, &replay);
		print_members(json.data);
		buffer_done(&json);
	}
	replay_done(&replay);
}

enum { PAST_MOST = 64 };

static void print_plot(enum rt_policy policy)
{
	static struct advice_run read[PAST_MOST];
	static struct evidence list[PAST_MOST];
	static struct sized_run needs[PAST_MOST];
	static struct sized_kill kills[PAST_MOST];
	struct past past = {list, 0};
	struct rt_advice advice = start_advice(&(struct rt_recommend_options){.policy = policy});
	struct buffer json = BUFFER(1 << 20);
	struct json_writer writer = JSON_WRITER(&json);
	CLEANUP_RUN_LINES struct run_lines *file = NULL;

	assert_int_equal(run_lines_new(&file, "runs.jsonl", &problem), 0);
	while (past.count < PAST_MOST && run_lines_next(file) > 0) {
		find_evidence_of_line(&read[past.count], file);
		list[past.count] = read[past.count].evidence;
		past.count++;
	}
	assert_int_equal(make_size_plot(&advice, &past, list[2].started, needs, kills), 0);
	size_plot_json(&writer, advice.plot);
	buffer_add_text(&json, "\n");
	for (char *at = json.data; (at = strstr(at, "],[")); at++)
		at[1] = '\n';
	buffer_printf(&printed, "---- plot, %s\n%s", policy_name(policy), json.data);
	buffer_done(&json);
	free(advice.plot);
}

static void print_job(const struct made_job *job)
{
	put_file("runs.jsonl", lines.data, lines.length);
	print_answers(job);
	print_plot(RT_POLICY_MAX);
	print_plot(RT_POLICY_COST);
	print_replay(RT_POLICY_MAX, NULL, 0, 0);
	print_replay(RT_POLICY_COST, "odd", 0, 0.25);
	print_replay(RT_POLICY_P95, NULL, 1700040000, 0.25);
	/* Runs without a start are left out. */
	print_replay(RT_POLICY_MAX, NULL, 1, 0);
}

/* Compares all that was printed. */
static void finish(const char *name)
{
	char path[300], *golden;

	snprintf(path, sizeof path, "%s/advice/%s.printed", getenv("TEST_GOLDEN"), name);
	if (getenv("UPDATE_GOLDEN"))
		put_file(path, printed.data, printed.length);
	golden = get_file(path, NULL);
	assert_string_equal(printed.data, golden);
	free(golden);
	buffer_done(&lines);
	buffer_done(&printed);
}

static void the_words_for_a_job_stay(void **state)
{
	const struct made_job *job = *state;

	lines = BUFFER(1 << 20);
	printed = BUFFER(4 << 20);
	job->make();
	print_job(job);
	finish(job->name);
}

/* As a page asks: the first run has been read, and the others are its history. */
static void print_answer_of_known(const char *const *paths, size_t path_count)
{
	size_t count;
	CLEANUP_FREE struct rt_stat_spec *specs = advice_specs(&count);
	CLEANUP_GATHERINGS struct gatherings *gatherings = NULL;
	struct summary_watcher watcher = {.sample = gatherings_add};
	struct known_run known = {NULL, NULL};
	rt_advice *advice;
	char *text;

	assert_int_equal(gatherings_new(specs, count, &watcher.wanted, &gatherings, &problem), 0);
	watcher.context = gatherings;
	assert_int_equal(summary_read_watched(paths, 1, &watcher, &known.summary, &problem), 0);
	known.gatherings = gatherings;
	assert_int_equal(
		recommend_of_known(paths[0], &known, paths + 1, path_count - 1, NULL, &advice, &problem), 0);
	assert_int_equal(rt_advice_to_text(advice, &text), 0);
	print_taken("known", 0, text);
	rt_advice_free(advice);
	rt_summary_free(known.summary);
}

static void the_words_for_recordings_stay(void **state)
{
	static const char *const PATHS[] = {"1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl", "5.jsonl"};
	const struct recorded_job *job = *state;
	struct rt_recommend_options options = {.size = sizeof options};
	size_t count = job->put();

	lines = BUFFER(1);
	printed = BUFFER(4 << 20);
	for (enum rt_policy policy = RT_POLICY_MAX; policy <= RT_POLICY_COST; policy++) {
		options.policy = policy;
		print_answer_of(PATHS, count, &options, true);
	}
	options = (struct rt_recommend_options){.size = sizeof options, .force = true, .usd_per_hour = 2};
	print_answer_of(PATHS, count, &options, true);
	print_answer_of(PATHS + count - 1, 1, &options, false);
	print_answer_of_known(PATHS, count);
	finish(job->name);
}

enum { MADE = sizeof JOBS / sizeof *JOBS, WITH_RECORDED = MADE + sizeof RECORDED / sizeof *RECORDED };

UNIT_TESTS
{
	struct CMUnitTest tests[WITH_RECORDED];

	for (size_t i = 0; i < WITH_RECORDED; i++)
		tests[i] = (struct CMUnitTest){
			.name = i < MADE ? JOBS[i].name : RECORDED[i - MADE].name,
			.test_func = i < MADE ? the_words_for_a_job_stay : the_words_for_recordings_stay,
			.setup_func = scratch_enter,
			.teardown_func = scratch_leave,
			.initial_state = i < MADE ? (void *)&JOBS[i] : (void *)&RECORDED[i - MADE]};
	return _cmocka_run_group_tests("jobs", tests, WITH_RECORDED, NULL, NULL);
}
