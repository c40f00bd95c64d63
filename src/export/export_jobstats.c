/*
 * Writes the recordings of a Slurm job as the record that Princeton's jobstats keeps in the job's AdminComment, and which
 * jobstats and reportseff read: "JS1:" and the base64 of this JSON, compressed by gzip.
 *
 *	{"nodes":{"node1":{"total_memory":bytes,"used_memory":bytes,"total_time":CPU seconds,"cpus":4,
 *	 "gpu_total_memory":{"0":bytes},"gpu_used_memory":{"0":bytes},"gpu_utilization":{"0":percent}}},
 *	 "total_time":seconds,"gpus":1}
 *
 * The samples of all recordings are read in the order of their times, so that the memory of a node is the largest sum at any
 * time: a recording keeps its last value until its next sample, and has none after its end.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "export/export.h"
#include "export/output.h"
#include "format/gzip.h"
#include "metric/typed_rows.h"

enum { NODE_GPUS = 32, NAME_BYTES = 256, TEXT_CEILING = 64 << 20 };

struct node_gpu {
	int64_t index;
	size_t part;                    /* whose samples count: several recordings see the same device */
	double total_bytes, used_bytes; /* NaN: unknown */
	double busy_secs, secs;
};

struct node {
	char name[NAME_BYTES];
	double memory_mib, peak_mib; /* now, and the most; NaN: unknown */
	double cpu_secs;
	double cpus, total_mib; /* the job's share of the node */
	struct node_gpu gpus[NODE_GPUS];
	size_t gpu_count;
};

struct task {
	struct record *record;
	const struct frame *frame; /* read but not yet used; NULL after the last */
	struct node *node;
	double memory_mib;
};

struct job {
	struct task *tasks;
	struct node *nodes;
	size_t task_count, node_count;
	char id[64];
	double started, ended;
	struct output output;
	struct buffer text;
	struct rt_problem *problem;
};

static void job_done(struct job *job)
{
	for (size_t i = 0; i < job->task_count; i++)
		record_close(job->tasks[i].record);
	free(job->tasks);
	free(job->nodes);
	output_close(&job->output);
	buffer_done(&job->text);
}

static double add_known(double sum, double value)
{
	return isnan(value) ? sum : (isnan(sum) ? 0 : sum) + value;
}

static double larger_of_known(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* ---- one recording ---------------------------------------------------------------------------------------- */

/* The job's share of the node: allocated by Slurm, else the limits in force, else the machine. */
static void find_share(struct node *node, const struct frame *identity)
{
	const struct run_start_row *start = FIRST(identity, run_start);
	double cpus = record_scheduler_number(identity, "SLURM_CPUS_ON_NODE");
	double memory = record_scheduler_memory_mib(identity, cpus);

	if (start && isnan(cpus))
		cpus = start->cpu_limit_cores > 0        ? start->cpu_limit_cores
		       : !count_absent(start->cpu_count) ? (double)start->cpu_count
							 : (double)NAN;
	if (start && isnan(memory))
		memory = start->memory_limit_mib > 0 ? start->memory_limit_mib : start->memory_total_mib;
	node->cpus = larger_of_known(node->cpus, cpus);
	node->total_mib = larger_of_known(node->total_mib, memory);
}

static struct node *find_node(struct job *job, const char *name)
{
	struct node *node;

	for (size_t i = 0; i < job->node_count; i++)
		if (strcmp(job->nodes[i].name, name) == 0)
			return &job->nodes[i];
	node = &job->nodes[job->node_count++];
	*node = (struct node){
		.memory_mib = NAN, .peak_mib = NAN, .cpu_secs = NAN, .cpus = NAN, .total_mib = NAN};
	snprintf(node->name, sizeof(node->name), "%s", name);
	return node;
}

static int check_job(struct job *job, const struct frame *identity, const char *path)
{
	const char *id = record_scheduler_value(identity, "SLURM_JOB_ID");

	if (!id)
		return 0;
	if (*job->id && strcmp(job->id, id) != 0)
		return problem_set(
			job->problem, -EINVAL,
			"%s is of job %.60s, and an earlier file of job %s; name the files of one job", path,
			id, job->id);
	snprintf(job->id, sizeof(job->id), "%s", id);
	return 0;
}

static int next_frame(struct job *job, struct task *task)
{
	int result = record_next(task->record, &task->frame);

	if (result <= 0)
		task->frame = NULL;
	return result < 0 ? problem_set(job->problem, result, "%s", record_problem(task->record)->text) : 0;
}

/* Returns -ENODATA, with the problem set, if the recording has no whole sample. */
static int open_task(struct job *job, const char *path)
{
	struct task *task = &job->tasks[job->task_count];
	struct record_options options = {0};
	const struct frame *identity;
	const char *host;
	int result;

	metric_set_add_kind(&options.wanted, ROW_sample);
	metric_set_add_kind(&options.wanted, ROW_tree);
	metric_set_add_kind(&options.wanted, ROW_gpu);
	result = record_open(&path, 1, &options, &task->record, job->problem);
	if (result < 0)
		return result;
	result = next_frame(job, task);
	if (result == 0 && !task->frame)
		result =
			problem_set(job->problem, -ENODATA, "%s: no whole sample has been written yet", path);
	if (result < 0) {
		record_close(task->record);
		return result;
	}
	job->task_count++;
	task->memory_mib = NAN;
	identity = record_identity(task->record);
	host = text_absent(task->frame->sample->host) ? "localhost" : task->frame->sample->host;
	task->node = find_node(job, host);
	find_share(task->node, identity);
	return check_job(job, identity, path);
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

static struct node_gpu *find_gpu(struct node *node, int64_t index, size_t part)
{
	struct node_gpu *gpu;

	for (size_t i = 0; i < node->gpu_count; i++)
		if (node->gpus[i].index == index)
			return node->gpus[i].part == part ? &node->gpus[i] : NULL;
	if (node->gpu_count == NODE_GPUS)
		return NULL;
	gpu = &node->gpus[node->gpu_count++];
	*gpu = (struct node_gpu){.index = index, .part = part, .total_bytes = NAN, .used_bytes = NAN};
	return gpu;
}

/* The devices that the job may see, but instances of a divided one: their numbers are not those of devices. */
static void take_gpus(struct node *node, const struct frame *frame, size_t part)
{
	double secs = frame->sample->actual_interval_ms / 1000;

	for (const struct gpu_row *row = FIRST(frame, gpu); row; row = NEXT(row, gpu)) {
		struct node_gpu *gpu;

		if (count_absent(row->index) || row->visible == 0 || !text_absent(row->mig_parent))
			continue;
		gpu = find_gpu(node, row->index, part);
		if (!gpu)
			continue;
		if (!count_absent(row->vram_total_bytes))
			gpu->total_bytes = (double)row->vram_total_bytes;
		if (!count_absent(row->vram_used_bytes))
			gpu->used_bytes = larger_of_known(gpu->used_bytes, (double)row->vram_used_bytes);
		if (secs > 0 && !real_absent(row->utilization_pct)) {
			gpu->busy_secs += secs * row->utilization_pct / 100;
			gpu->secs += secs;
		}
	}
}

static void set_memory(struct task *task, double mib)
{
	struct node *node = task->node;

	if (!isnan(task->memory_mib))
		node->memory_mib -= task->memory_mib;
	task->memory_mib = mib;
	node->memory_mib = add_known(node->memory_mib, mib);
	node->peak_mib = larger_of_known(node->peak_mib, node->memory_mib);
}

static int take_jobstats_sample(struct job *job, size_t index)
{
	struct task *task = &job->tasks[index];
	const struct frame *frame = task->frame;
	const struct tree_row *tree = FIRST(frame, tree);
	const struct run_end_row *end;
	int result;

	job->started = fmin(job->started, frame->sample->timestamp - frame->sample->elapsed_secs);
	job->ended = fmax(job->ended, frame->sample->timestamp);
	if (tree) {
		task->node->cpu_secs = add_known(task->node->cpu_secs, tree->process_utime_secs);
		task->node->cpu_secs = add_known(task->node->cpu_secs, tree->process_stime_secs);
		if (!real_absent(tree->process_memory_mib))
			set_memory(task, tree->process_memory_mib);
	}
	take_gpus(task->node, frame, index);
	result = next_frame(job, task);
	if (result < 0 || task->frame)
		return result;
	/* The recorder may have seen more between its samples. */
	end = FIRST(record_identity(task->record), run_end);
	if (end && !real_absent(end->memory_peak_mib))
		task->node->peak_mib = larger_of_known(task->node->peak_mib, end->memory_peak_mib);
	set_memory(task, NAN);
	return 0;
}

static int read_samples(struct job *job)
{
	int result = 0;

	while (result == 0) {
		size_t next = job->task_count;

		for (size_t i = 0; i < job->task_count; i++)
			if (job->tasks[i].frame &&
			    (next == job->task_count || job->tasks[i].frame->sample->timestamp <
								job->tasks[next].frame->sample->timestamp))
				next = i;
		if (next == job->task_count)
			break;
		result = take_jobstats_sample(job, next);
	}
	return result;
}

/* A task that was killed before its first sample must not lose the record of the others. */
static int open_tasks(struct job *job, const struct export_job *export)
{
	int result = 0;

	for (size_t i = 0; (result == 0 || result == -ENODATA) && i < export->path_count; i++)
		result = open_task(job, export->paths[i]);
	return result == -ENODATA && job->task_count ? 0 : result;
}

/* ---- the record -------------------------------------------------------------------------------------------- */

static void add_bytes(struct json_writer *json, const char *key, double bytes)
{
	if (isnan(bytes))
		return;
	json_key(json, key);
	json_count(json, (int64_t)llround(bytes));
}

static void add_jobstats_gpus(struct json_writer *json, const struct node *node, const char *key,
			      double (*value)(const struct node_gpu *gpu), int decimals)
{
	json_key(json, key);
	json_open(json, '{');
	for (size_t i = 0; i < node->gpu_count; i++) {
		double number = value(&node->gpus[i]);
		char name[24];

		if (isnan(number))
			continue;
		snprintf(name, sizeof(name), "%lld", (long long)node->gpus[i].index);
		json_key(json, name);
		json_decimal(json, number, decimals);
	}
	json_close(json, '}');
}

static double jobstats_total(const struct node_gpu *gpu)
{
	return gpu->total_bytes;
}

static double used_of(const struct node_gpu *gpu)
{
	return gpu->used_bytes;
}

static double busy_of(const struct node_gpu *gpu)
{
	return gpu->secs > 0 ? 100 * gpu->busy_secs / gpu->secs : (double)NAN;
}

static void add_node(struct json_writer *json, const struct node *node)
{
	json_key(json, node->name);
	json_open(json, '{');
	add_bytes(json, "total_memory", node->total_mib * 1048576);
	add_bytes(json, "used_memory", node->peak_mib * 1048576);
	if (!isnan(node->cpu_secs)) {
		json_key(json, "total_time");
		json_decimal(json, node->cpu_secs, 3);
	}
	if (!isnan(node->cpus)) {
		json_key(json, "cpus");
		if (node->cpus == floor(node->cpus))
			json_count(json, (int64_t)node->cpus);
		else
			json_decimal(json, node->cpus, 2);
	}
	if (node->gpu_count) {
		add_jobstats_gpus(json, node, "gpu_total_memory", jobstats_total, 0);
		add_jobstats_gpus(json, node, "gpu_used_memory", used_of, 0);
		add_jobstats_gpus(json, node, "gpu_utilization", busy_of, 1);
	}
	json_close(json, '}');
}

static void add_jobstats_record(const struct job *job, struct buffer *out)
{
	struct json_writer json = JSON_WRITER(out);
	size_t gpus = 0;

	json_open(&json, '{');
	json_key(&json, "nodes");
	json_open(&json, '{');
	for (size_t i = 0; i < job->node_count; i++) {
		add_node(&json, &job->nodes[i]);
		gpus += job->nodes[i].gpu_count;
	}
	json_close(&json, '}');
	json_key(&json, "total_time");
	json_decimal(&json, fmax(job->ended - job->started, 0), 3);
	json_key(&json, "gpus");
	json_count(&json, (int64_t)gpus);
	json_close(&json, '}');
}

static int write_record(struct job *job)
{
	CLEANUP_BUFFER struct buffer plain = BUFFER(TEXT_CEILING), packed = BUFFER(TEXT_CEILING);
	struct gzip gzip;
	int result, closed;

	add_jobstats_record(job, &plain);
	if (buffer_error(&plain) < 0)
		return problem_set(job->problem, buffer_error(&plain), "out of memory");
	result = gzip_open(&gzip, &packed);
	if (result == 0) {
		result = gzip_add(&gzip, plain.data, plain.length);
		closed = gzip_close(&gzip);
		result = result < 0 ? result : closed;
	}
	if (result < 0)
		return problem_set(job->problem, result, "out of memory");
	buffer_add_text(&job->text, "JS1:");
	buffer_add_base64(&job->text, packed.data, packed.length);
	buffer_add_char(&job->text, '\n');
	output_write(&job->output, &job->text);
	return output_finish(&job->output, job->problem);
}

int export_jobstats(const struct export_job *export)
{
	__attribute__((cleanup(job_done))) struct job job = {
		.tasks = calloc(export->path_count, sizeof(*job.tasks)),
		.nodes = calloc(export->path_count, sizeof(*job.nodes)),
		.started = INFINITY,
		.ended = -INFINITY,
		.output = {.fd = -1},
		.text = BUFFER(TEXT_CEILING),
		.problem = export->problem,
	};
	int result = job.tasks && job.nodes ? 0 : problem_set(export->problem, -ENOMEM, "out of memory");

	if (result == 0)
		result = open_tasks(&job, export);
	if (result == 0)
		result = read_samples(&job);
	if (result == 0)
		result = output_open(&job.output, export->output, is_gzip_name(export->output),
				     export->problem);
	return result == 0 ? write_record(&job) : result;
}
