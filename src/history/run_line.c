/* Writes the line of a run. See run_line.h. */
#include "history/run_line.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "metric/typed_rows.h"
#include "recommend/recommend.h"
#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/read_file.h"
#include "base/scan.h"
#include "resource_tracker_analysis.h"

enum { ACCOUNT_BYTES = 16 << 10, ACCOUNTS_BYTES = 16 << 20 };

/* For the advice alone. */
static const struct rt_stat_spec OF_ADVICE[] = {
	{"process_cpu_usage", "time_mean", "mean", 6},
	{"process_cpu_usage", "max", "max", 6},
};

static void cleanup_run(struct advice_run **run)
{
	if (!*run)
		return;
	rt_summary_free((*run)->summary);
	rt_stats_free((*run)->stats);
	free(*run);
}

/*
 * Each of these leaves an absent value out with its key. A null in every line would be a third of the file, and readers
 * that look at the first lines only give a column of nulls the wrong type: DuckDB 2.0 then reads later values as null.
 */
static void add_line_text(struct json_writer *json, const char *key, const char *text)
{
	if (text_absent(text))
		return;
	json_key(json, key);
	json_text(json, text);
}

static void add_line_count(struct json_writer *json, const char *key, int64_t count)
{
	if (count_absent(count))
		return;
	json_key(json, key);
	json_count(json, count);
}

static void add_line_real(struct json_writer *json, const char *key, double value, int decimals)
{
	if (!isfinite(value))
		return;
	json_key(json, key);
	json_decimal(json, value, decimals);
}

static void add_line_cell(struct json_writer *json, const char *key, struct rt_value cell)
{
	switch (cell.type) {
	case RT_TYPE_COUNT:
		add_line_count(json, key, cell.count);
		return;
	case RT_TYPE_REAL:
		add_line_real(json, key, cell.real, 6);
		return;
	case RT_TYPE_TEXT:
		add_line_text(json, key, cell.text);
		return;
	case RT_TYPE_NONE:
	default:
		return;
	}
}

/* ---- its parts --------------------------------------------------------------------------------------- */

/* A job that failed after a process of it was killed for lack of memory did not simply fail: Slurm calls it OUT_OF_MEMORY. */
static const char *run_outcome(const struct advice_run *run, bool live)
{
	const struct run_facts *facts = &run->summary->facts;
	bool lacked_memory = run->evidence.oom != OOM_NONE;
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	struct oom_finding oom = summary_oom(facts);

	if (live && !end)
		return "running";
	if (oom.kind == OOM_CONFIRMED || oom.kind == OOM_SUSPECTED || oom.kind == OOM_STOPPED_AT_LIMIT)
		return "oom";
	if (!end)
		return "lost";
	if (!count_absent(end->signal))
		return lacked_memory ? "oom" : "killed";
	if (!count_absent(end->exit_code))
		return !end->exit_code ? "ok" : lacked_memory ? "oom" : "failed";
	return "stopped";
}

/* Most users are in this file. glibc's own look-up, which asks other places as well, crashes without memory. */
static int find_local_user(uid_t user, char *ret_name, size_t size)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(ACCOUNTS_BYTES);
	int error = read_whole_file("/etc/passwd", &text);
	struct scan left = scan_bytes(text.data, text.length), line, name, password;
	uint64_t number;

	if (error < 0)
		return error == -ENOENT ? -ENOENT : -ENOMEM;
	while (scan_line(&left, &line)) {
		if (!scan_until(&line, ':', &name) || !scan_until(&line, ':', &password) ||
		    !scan_u64(&line, &number) || number != user)
			continue;
		scan_copy(&name, ret_name, size);
		return 0;
	}
	return -ENOENT;
}

static void add_user(struct json_writer *json, const char *recording)
{
	char text[ACCOUNT_BYTES];
	struct passwd account, *found = NULL;
	struct stat status;
	int error;

	if (stat(recording, &status) < 0) {
		add_line_text(json, "user", no_text(ENOENT));
		return;
	}
	error = find_local_user(status.st_uid, text, sizeof(text));
	if (error != -ENOENT) {
		add_line_text(json, "user", error ? no_text(ENOMEM) : text);
		return;
	}
	if (getpwuid_r(status.st_uid, &account, text, sizeof(text), &found) != 0 || !found) {
		snprintf(text, sizeof(text), "%u", (unsigned)status.st_uid);
		add_line_text(json, "user", text);
		return;
	}
	add_line_text(json, "user", found->pw_name);
}

/* No pair: no key. */
static void add_pairs(struct json_writer *json, const char *key, const struct row *pairs)
{
	if (!pairs)
		return;
	json_key(json, key);
	json_open(json, '{');
	for (const struct row *pair = pairs; pair; pair = pair->next) {
		const char *name = *row_text((struct row *)(uintptr_t)pair, metric_offset(0));
		const char *value = *row_text((struct row *)(uintptr_t)pair, metric_offset(1));

		if (!text_absent(name))
			add_line_text(json, name, value);
	}
	json_close(json, '}');
}

/* ---- the scheduler ----------------------------------------------------------------------------------- */

/* Facts for which each scheduler has a variable of its own. The first that is set counts, the innermost system first. */
static const struct {
	const char *key;
	const char *variables[8];
} SCHEDULED[] = {
	{"scheduler_job",
	 {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "AWS_BATCH_JOB_ID", "AIRFLOW_CTX_DAG_RUN_ID",
	  "GITHUB_RUN_ID", "CI_JOB_ID"}},
	{"array_task", {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "SGE_TASK_ID"}},
	{"attempt",
	 {"TRACKER_ATTEMPT", "SLURM_RESTART_COUNT", "AWS_BATCH_JOB_ATTEMPT", "AIRFLOW_CTX_TRY_NUMBER",
	  "GITHUB_RUN_ATTEMPT"}},
	{"commit", {"GITHUB_SHA", "CI_COMMIT_SHA"}},
};

static const char *first_variable(const struct frame *identity, const char *const *names, size_t count)
{
	const char *value = NULL;

	for (size_t i = 0; i < count && names[i] && !value; i++)
		value = record_scheduler_value(identity, names[i]);
	return value;
}

static void add_scheduled(struct json_writer *json, const struct frame *identity)
{
	for (size_t i = 0; i < ARRAY_SIZE(SCHEDULED); i++) {
		const char *value =
			first_variable(identity, SCHEDULED[i].variables, ARRAY_SIZE(SCHEDULED[i].variables));

		/* Grid Engine says "undefined" outside arrays. */
		add_line_text(json, SCHEDULED[i].key,
			      value && strcmp(value, "undefined") != 0 ? value : no_text(ABSENT_NOT_GIVEN));
	}
}

/*
 * The resources that the scheduler was asked for, to compare with those that were used. A batch script has all of its
 * node's share. A step has the cores of one task.
 */
static void add_asked(struct json_writer *json, const struct frame *identity)
{
	double cores = record_scheduler_number(identity, "SLURM_CPUS_PER_TASK");
	double on_node = record_scheduler_number(identity, "SLURM_CPUS_ON_NODE");
	double engine_cores = record_scheduler_number(identity, "TRACKER_CORES_ASKED");
	double engine_memory = record_scheduler_number(identity, "TRACKER_MEMORY_ASKED_MIB");
	double memory;

	if (!record_scheduler_value(identity, "SLURM_STEP_ID") && !isnan(on_node))
		cores = on_node;
	memory = record_scheduler_memory_mib(identity, cores);
	/* An engine's step has its own request, inside a job of the scheduler too. */
	add_line_real(json, "cores_asked", isnan(engine_cores) ? cores : engine_cores, 3);
	add_line_real(json, "memory_asked_mib", isnan(engine_memory) ? memory : engine_memory, 3);
	add_line_real(json, "tasks", record_scheduler_number(identity, "SLURM_NTASKS"), 0);
	add_line_real(json, "nodes", record_scheduler_number(identity, "SLURM_JOB_NUM_NODES"), 0);
}

static void add_machine(struct json_writer *json, const struct run_start_row *start,
			const struct frame *identity)
{
	add_line_text(json, "cpu_model", start->cpu_model);
	add_line_count(json, "cpu_count", start->cpu_count);
	add_line_real(json, "machine_memory_mib", start->memory_total_mib, 3);
	add_line_text(json, "server", start->server);
	if (!FIRST(identity, run_start_gpu))
		return;
	json_key(json, "gpu_names");
	json_open(json, '[');
	for (const struct run_start_gpu_row *gpu = FIRST(identity, run_start_gpu); gpu;
	     gpu = NEXT(gpu, run_start_gpu))
		json_text(json, text_absent(gpu->name) ? NULL : gpu->name);
	json_close(json, ']');
}

static void add_identity(struct json_writer *json, const struct run_facts *facts, const char *recording,
			 const struct run_start_row *start, const struct frame *identity)
{
	add_line_text(json, "name", facts->run_name);
	add_line_text(json, "task", summary_task(facts) ? summary_task(facts) : no_text(ABSENT_NOT_GIVEN));
	add_line_text(json, "job_name", *facts->job_name ? facts->job_name : no_text(ABSENT_NOT_GIVEN));
	add_line_text(json, "host", *facts->host ? facts->host : no_text(ABSENT_NOT_GIVEN));
	add_line_count(json, "rank", facts->rank);
	add_user(json, recording);
	add_pairs(json, "tags", identity->first[ROW_run_start_tag]);
	add_pairs(json, "scheduler", identity->first[ROW_run_start_scheduler]);
	if (!start)
		return;
	add_line_text(json, "executable", start->executable);
	add_line_count(json, "argument_count", start->argument_count);
	add_line_text(json, "folder", start->folder);
	add_line_count(json, "input_bytes", start->input_bytes);
	add_line_text(json, "input_source", start->input_source);
	add_line_text(json, "mode", start->mode);
#define JOB_SETTING(field, ...) add_line_text(json, #field, start->field);
#include "options/job_settings.def"
	add_scheduled(json, identity);
	add_asked(json, identity);
	add_machine(json, start, identity);
}

static int read_run_of_line(struct advice_run *run, const char *recording, struct rt_problem *problem)
{
	struct rt_stat_spec specs[ARRAY_SIZE(OF_ADVICE) + RUN_FIGURE_COUNT];
	size_t count = ARRAY_SIZE(OF_ADVICE);

	memcpy(specs, OF_ADVICE, sizeof(OF_ADVICE));
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		if (RUN_FIGURES[i].column)
			specs[count++] =
				(struct rt_stat_spec){RUN_FIGURES[i].column, RUN_FIGURES[i].statistic,
						      RUN_FIGURES[i].key, RUN_FIGURES[i].decimals};
	return advice_run_read(run, recording, specs, count, problem);
}

enum gpus_told { GPUS_UNKNOWN, GPUS_NONE, GPUS_ALL };

/*
 * On a machine without GPUs, `gpus` is 0 and stands alone: run_lines.c then takes their work for 0. Where a recording
 * tells nothing about GPUs, `gpus` is absent as well. A summary counts 0 there.
 */
static enum gpus_told find_gpus_told(const struct rt_value values[static RUN_FIGURE_COUNT])
{
	static const enum run_figure_id WORK[] = {FIGURE_gpu_used_max, FIGURE_gpu_mean, FIGURE_gpu_max,
						  FIGURE_gpu_memory_max_mib};
	struct rt_value count = values[FIGURE_gpu_count];
	size_t known = 0, zeros = 0;

	for (size_t i = 0; i < ARRAY_SIZE(WORK); i++) {
		known += values[WORK[i]].type != RT_TYPE_NONE;
		zeros += values[WORK[i]].type != RT_TYPE_NONE && !(cell_real(values[WORK[i]], 0) > 0);
	}
	if (count.type != RT_TYPE_COUNT || (!count.count && !known))
		return GPUS_UNKNOWN;
	return !count.count && zeros == ARRAY_SIZE(WORK) ? GPUS_NONE : GPUS_ALL;
}

static void add_line_figures(struct json_writer *json, const struct advice_run *run)
{
	struct rt_value values[RUN_FIGURE_COUNT];
	const struct run_figure *figure;
	enum gpus_told told;

	summary_values(&run->summary->facts, values);
	told = find_gpus_told(values);
	for (int place = 1; (figure = run_figure_at(place)); place++) {
		size_t i = (size_t)(figure - RUN_FIGURES);

		if (strcmp(figure->group, "gpu") == 0 &&
		    told < (i == FIGURE_gpu_count ? GPUS_NONE : GPUS_ALL))
			continue;
		add_line_cell(json, figure->key,
			      figure->column ? rt_stats_get(run->stats, figure->column, figure->key)
					     : values[i]);
	}
}

/* The facts from which `recommend` advises, so that it needs no recording. */
static void add_line_evidence(struct json_writer *json, const struct advice_run *run)
{
	const struct evidence *evidence = &run->evidence;

	add_line_real(json, "memory_needed_mib", peak_of(evidence), 3);
	add_line_real(json, "memory_kernel_mib", evidence->kernel_mib, 3);
	add_line_real(json, "oom_had_mib", evidence->oom_had_mib > 0 ? evidence->oom_had_mib : (double)NAN,
		      3);
	add_line_real(json, "oom_next_mib",
		      evidence->oom_floor_mib > 0 ? evidence->oom_floor_mib : (double)NAN, 3);
	add_line_real(json, "cores_needed", evidence->busy_cores, 3);
	add_line_text(json, "says_little", *run->thin ? run->thin : no_text(ABSENT_NOT_GIVEN));
}

int run_line_add(struct buffer *out, const char *recording, const struct run_place *place,
		 struct rt_problem *ret_problem)
{
	__attribute__((cleanup(cleanup_run))) struct advice_run *run = calloc(1, sizeof(*run));
	struct json_writer json = JSON_WRITER(out);
	const struct run_start_row *start;
	const struct frame *identity;
	const rt_summary *summary;
	const char *rule = NULL, *title, *text;
	int result = run ? read_run_of_line(run, recording, ret_problem) : -ENOMEM;

	if (result < 0)
		return result;
	summary = run->summary;
	identity = record_identity(summary->facts.record);
	start = FIRST(identity, run_start);
	json_open(&json, '{');
	add_line_count(&json, "schema", RUN_LINE_SCHEMA);
	add_line_text(&json, "id", start ? start->run_id : no_text(ABSENT_NOT_COLLECTED));
	if (place->number)
		add_line_count(&json, "number", place->number);
	add_line_text(&json, "outcome", run_outcome(run, place->live));
	add_identity(&json, &summary->facts, recording, start, identity);
	add_line_figures(&json, run);
	add_line_evidence(&json, run);
	(void)rt_summary_bottleneck(summary, 0, &rule, &title, &text);
	add_line_text(&json, "bottleneck", rule ? rule : no_text(ABSENT_NOT_COLLECTED));
	add_line_text(&json, "recording", place->path ? place->path : no_text(ABSENT_NOT_GIVEN));
	json_close(&json, '}');
	buffer_add_char(out, '\n');
	return buffer_error(out);
}
