/*
 * Combines recordings of processes, ranks and hosts that ran at the same time into one.
 *
 * Time is cut into ticks as long as the longest interval. In each tick, the jobs' use is summed over all
 * recordings, and the machines' use over all hosts, each host from one of its recordings. Between two samples
 * a recording keeps its last values, so a rank whose sample is a little late still counts; after its last
 * sample it has none. A counted change (bytes, CPU seconds) goes into the tick in which it was seen, so sums
 * stay exact.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/combine.h"
#include "export/export.h"
#include "format/json_encode.h"
#include "metric/typed_rows.h"

/* How the values of several recordings are combined. */
enum way {
	SUM,          /* over all parts */
	ONCE_A_HOST,  /* the machine's value: from the first part of each host that has it */
	MOST_A_HOST,  /* control groups, which parts on a host may share: the largest, summed over hosts */
	EQUAL_A_HOST, /* limits: known if all parts on a host have the same one, summed over hosts */
	MOST          /* stall times, which overlap */
};

static const struct {
	enum row_kind kind;
	enum way way;
} KINDS[KIND_COUNT] = {
	{ROW_tree, SUM},           {ROW_host_cpu, ONCE_A_HOST}, {ROW_memory, ONCE_A_HOST},
	{ROW_totals, ONCE_A_HOST}, {ROW_limits, EQUAL_A_HOST},  {ROW_cgroup, MOST_A_HOST},
	{ROW_pressure, MOST},      {ROW_tracker, SUM},
};

enum { TREE, HOST_CPU, PRESSURE = 6 }; /* positions in KINDS */

static void combination_done(struct combination *combination)
{
	for (size_t i = 0; i < combination->count; i++) {
		record_close(combination->parts[i].record);
		frame_done(&combination->parts[i].gpus);
	}
	free(combination->parts);
	output_close(&combination->output);
	buffer_done(&combination->line);
}

static const struct metric *metric_of(size_t kind, size_t index)
{
	return &ROW_DESCRIPTIONS[KINDS[kind].kind].metrics[index];
}

static size_t metric_count(size_t kind)
{
	return ROW_DESCRIPTIONS[KINDS[kind].kind].metric_count;
}

static bool is_json_number(const struct metric *metric)
{
	return (metric->type == TYPE_REAL || metric->type == TYPE_COUNT) && metric->nature != RAW;
}

static double value_of(const struct row *row, const struct metric *metric, size_t index)
{
	if (field_absent(row, metric->type, metric_offset(index)))
		return NAN;
	return metric->type == TYPE_REAL ? *row_real(row, metric_offset(index))
					 : (double)*row_count(row, metric_offset(index));
}

/* ---- one recording ------------------------------------------------------------------------------------ */

static int next_combined_frame(struct part *part, struct rt_problem *problem)
{
	int result = record_next(part->record, &part->frame);

	if (result <= 0)
		part->frame = NULL;
	return result < 0 ? problem_set(problem, result, "%s", record_problem(part->record)->text) : 0;
}

/* Keeps a text beyond its frame; an absent one is empty. */
static void keep_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text_absent(text) ? "" : text);
}

static int open_part(struct part *part, const char *path, struct rt_problem *problem)
{
	struct record_options options = {0};
	const struct run_start_row *start;
	int result;

	for (size_t i = 0; i < KIND_COUNT; i++)
		metric_set_add_kind(&options.wanted, KINDS[i].kind);
	metric_set_add_kind(&options.wanted, ROW_sample);
	metric_set_add_kind(&options.wanted, ROW_gpu);
	part->path = path;
	result = record_open(&path, 1, &options, &part->record, problem);
	if (result == 0)
		result = next_combined_frame(part, problem);
	if (result < 0)
		return result;
	if (!part->frame)
		return problem_set(problem, -ENODATA, "%s: no whole sample has been written yet", path);
	start = FIRST(record_identity(part->record), run_start);
	keep_text(part->host, sizeof(part->host), part->frame->sample->host);
	keep_text(part->job_name, sizeof(part->job_name), part->frame->sample->job_name);
	part->first_timestamp = part->frame->sample->timestamp;
	part->pid = part->frame->sample->tracked_pid;
	part->rank = part->frame->sample->rank;
	part->started = part->first_timestamp - part->frame->sample->elapsed_secs;
	part->interval_secs = start && start->interval_secs > 0
				      ? start->interval_secs
				      : part->frame->sample->actual_interval_ms / 1000;
	return 0;
}

static void copy_row(struct frame *frame, const struct row *row)
{
	struct row *copy = frame_add(frame, row->kind, NULL);

	for (size_t i = 0; i < ROW_DESCRIPTIONS[row->kind].metric_count; i++) {
		size_t offset = metric_offset(i);

		if (field_absent(row, ROW_DESCRIPTIONS[row->kind].metrics[i].type, offset))
			continue;
		switch (ROW_DESCRIPTIONS[row->kind].metrics[i].type) {
		case TYPE_REAL:
			*row_real(copy, offset) = *row_real(row, offset);
			break;
		case TYPE_TEXT:
			*row_text(copy, offset) =
				frame_text(frame, *row_text(row, offset), strlen(*row_text(row, offset)));
			break;
		default:
			*row_count(copy, offset) = *row_count(row, offset);
		}
	}
}

static void take_frame(struct part *part)
{
	double secs = part->frame->sample->actual_interval_ms / 1000;
	const struct tree_row *tree = FIRST(part->frame, tree);
	const struct pressure_row *pressure = FIRST(part->frame, pressure);

	keep_text(part->memory_source, sizeof(part->memory_source), tree ? tree->process_memory_source : "");
	keep_text(part->net_source, sizeof(part->net_source), tree ? tree->process_net_source : "");
	part->has_own_pressure =
		pressure && !text_absent(pressure->source) && strcmp(pressure->source, "cgroup") == 0;
	frame_clear(&part->gpus);
	for (const struct row *row = part->frame->first[ROW_gpu]; row; row = row->next)
		copy_row(&part->gpus, row);

	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		const struct row *row = part->frame->first[KINDS[kind].kind];

		for (size_t i = 0; i < metric_count(kind); i++) {
			const struct metric *metric = metric_of(kind, i);
			struct cell *cell = &part->cells[kind][i];
			double value = row && is_json_number(metric) ? value_of(row, metric, i) : (double)NAN;

			cell->last = value;
			if (isnan(value))
				continue;
			cell->sum += metric_is_rate(metric) ? value * secs : value;
			cell->secs += secs > 0 ? secs : 0;
		}
	}
}

static void begin_tick(struct part *part)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		for (size_t i = 0; i < METRICS_PER_KIND; i++)
			part->cells[kind][i].sum = part->cells[kind][i].secs = 0;
}

/* ---- all of them -------------------------------------------------------------------------------------- */

static double share_of_cell(const struct cell *cell, const struct metric *metric)
{
	if (metric_is_change(metric))
		return isnan(cell->last) && cell->secs <= 0 ? (double)NAN : cell->sum;
	return metric_is_rate(metric) && cell->secs > 0 ? cell->sum / cell->secs : cell->last;
}

static double value_in(const struct combination *combination, size_t part, size_t kind, size_t index)
{
	return combination->parts[part].gone
		       ? (double)NAN
		       : share_of_cell(&combination->parts[part].cells[kind][index], metric_of(kind, index));
}

static bool same_host(const struct combination *combination, size_t one, size_t other)
{
	return strcmp(combination->parts[one].host, combination->parts[other].host) == 0;
}

/*
 * Returns the value for the host of part `first`, if no earlier part of that host has the value; else NaN.
 * This way each host counts once.
 */
static double of_host(const struct combination *combination, size_t first, size_t kind, size_t index)
{
	double found = value_in(combination, first, kind, index);

	for (size_t i = 0; i < first; i++)
		if (same_host(combination, i, first) && !isnan(value_in(combination, i, kind, index)))
			return NAN;
	for (size_t i = first + 1; KINDS[kind].way == MOST_A_HOST && i < combination->count; i++)
		if (same_host(combination, i, first))
			found = fmax(found, value_in(combination, i, kind, index));
	return found;
}

/* A recording of the machine alone has no job, so its limit does not count. */
static bool tracks_a_job(const struct combination *combination, size_t part)
{
	return !isnan(value_in(combination, part, TREE, METRIC_INDEX(tree, process_child_count)));
}

/* If a job has no limit, or not the same one as others on its host, the combined limit is unknown. */
static bool limits_agree(const struct combination *combination, size_t kind, size_t index)
{
	for (size_t i = 0; i < combination->count; i++) {
		double value = value_in(combination, i, kind, index);

		if (!tracks_a_job(combination, i))
			continue;
		if (isnan(value))
			return false;
		for (size_t j = 0; j < i; j++)
			if (same_host(combination, i, j) && tracks_a_job(combination, j) &&
			    value_in(combination, j, kind, index) != value)
				return false;
	}
	return true;
}

static double largest_of_parts(const struct combination *combination, size_t kind, size_t index)
{
	double most = NAN;

	for (size_t i = 0; i < combination->count; i++)
		if (combination->parts[i].has_own_pressure == combination->own_pressure)
			most = fmax(most, value_in(combination, i, kind, index));
	return most;
}

static double combined_value(const struct combination *combination, size_t kind, size_t index)
{
	double sum = NAN, count = 0;

	if (KINDS[kind].way == MOST)
		return largest_of_parts(combination, kind, index);
	if (KINDS[kind].way == EQUAL_A_HOST && !limits_agree(combination, kind, index))
		return NAN;
	for (size_t i = 0; i < combination->count; i++) {
		double value = KINDS[kind].way == SUM ? value_in(combination, i, kind, index)
						      : of_host(combination, i, kind, index);

		if (isnan(value))
			continue;
		sum = isnan(sum) ? value : sum + value;
		count++;
	}
	return strcmp(metric_of(kind, index)->unit, "%") == 0 ? sum / count : sum;
}

/* A sum is only as good as its weakest part. Returns NULL if no part has a known source. */
static const char *memory_source(const struct combination *combination)
{
	static const char *const WEAKER[] = {"pss", "sampled", "cgroup", "estimate", "bound", "rss"};
	const char *weakest = NULL;

	for (size_t source = 0; source < ARRAY_SIZE(WEAKER); source++)
		for (size_t i = 0; i < combination->count; i++)
			if (strcmp(combination->parts[i].memory_source, WEAKER[source]) == 0 &&
			    !isnan(value_in(combination, i, TREE, METRIC_INDEX(tree, process_memory_mib))))
				weakest = WEAKER[source];
	return weakest;
}

/* Returns NULL if no part has a known source. */
static const char *net_source(const struct combination *combination)
{
	const char *all = NULL;

	for (size_t i = 0; i < combination->count; i++)
		if (*combination->parts[i].net_source &&
		    !isnan(value_in(combination, i, TREE, METRIC_INDEX(tree, process_net_recv_bytes))))
			all = combined_net_source(all, combination->parts[i].net_source);
	return all;
}

/*
 * Each part has a root process beside its children. In the combination all but one of them count as children.
 */
static void count_first_processes(const struct combination *combination, struct tree_row *tree)
{
	int64_t parts = 0;

	for (size_t i = 0; i < combination->count; i++)
		parts += !isnan(value_in(combination, i, TREE, METRIC_INDEX(tree, process_child_count)));
	if (!count_absent(tree->process_child_count) && parts > 1)
		tree->process_child_count += parts - 1;
}

static void set_number(struct row *row, const struct metric *metric, size_t index, double value)
{
	if (isnan(value))
		return;
	if (metric->type == TYPE_REAL)
		*row_real(row, metric_offset(index)) = value;
	else
		*row_count(row, metric_offset(index)) = count_of_real(value);
}

static void fill_rows(struct combination *combination, struct frame *frame)
{
	struct row *rows[KIND_COUNT];
	const char *source = memory_source(combination), *network = net_source(combination);
	struct tree_row *tree;

	/* The row of the tree is a child of the row of the machine's CPUs. */
	rows[HOST_CPU] = frame_add(frame, ROW_host_cpu, NULL);
	rows[TREE] = frame_add(frame, ROW_tree, rows[HOST_CPU]);
	for (size_t kind = HOST_CPU + 1; kind < KIND_COUNT; kind++)
		rows[kind] = frame_add(frame, KINDS[kind].kind, NULL);
	combination->own_pressure = false;
	for (size_t i = 0; i < combination->count; i++)
		combination->own_pressure |=
			combination->parts[i].has_own_pressure && !combination->parts[i].gone;
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		for (size_t i = 0; i < metric_count(kind); i++)
			if (is_json_number(metric_of(kind, i)))
				set_number(rows[kind], metric_of(kind, i), i,
					   combined_value(combination, kind, i));
	tree = (struct tree_row *)(void *)rows[TREE];
	if (source)
		tree->process_memory_source = source;
	if (network)
		tree->process_net_source = network;
	count_first_processes(combination, tree);
	((struct pressure_row *)(void *)rows[PRESSURE])->source =
		combination->own_pressure ? "cgroup" : "host";
}

static const char *uuid_of(const struct row *gpu)
{
	const char *uuid = ((const struct gpu_row *)(const void *)gpu)->uuid;

	return text_absent(uuid) ? "" : uuid;
}

/* Ranks may see different GPUs of a machine, or the same ones. Each GPU is added once. */
static void add_gpus(const struct combination *combination, struct frame *frame)
{
	for (size_t i = 0; i < combination->count; i++) {
		const struct part *part = &combination->parts[i];

		for (const struct row *gpu = part->gone ? NULL : part->gpus.first[ROW_gpu]; gpu;
		     gpu = gpu->next) {
			bool known = false;

			for (size_t j = 0; j < i && !known; j++) {
				const struct part *other = &combination->parts[j];
				const struct row *its = other->gone || strcmp(other->host, part->host) != 0
								? NULL
								: other->gpus.first[ROW_gpu];

				for (; its && !known; its = its->next)
					known = strcmp(uuid_of(its), uuid_of(gpu)) == 0;
			}
			if (!known)
				copy_row(frame, gpu);
		}
	}
}

static size_t host_count(const struct combination *combination)
{
	size_t hosts = 0;

	for (size_t i = 0; i < combination->count; i++) {
		bool known = false;

		for (size_t j = 0; j < i; j++)
			known |= same_host(combination, i, j);
		hosts += !known;
	}
	return hosts;
}

static void fill_sample(const struct combination *combination, struct frame *frame, double timestamp)
{
	struct sample_row *sample = frame->sample;
	char hosts[64];
	int length = snprintf(hosts, sizeof(hosts), "%zu hosts", host_count(combination));

	sample->timestamp = timestamp;
	sample->timestamp_secs = count_of_real(floor(timestamp));
	sample->elapsed_secs = timestamp - combination->started;
	sample->actual_interval_ms = (timestamp - combination->last_timestamp) * 1000;
	sample->sample = combination->samples;
	sample->missed_ticks = 0;
	sample->host = host_count(combination) > 1 ? frame_text(frame, hosts, (size_t)length)
						   : combination->parts[0].host;
	if (combination->unnamed)
		sample->host = no_text(ABSENT_NOT_COLLECTED);
	if (*combination->parts[0].job_name)
		sample->job_name = combination->parts[0].job_name;
	for (size_t i = 1; i < combination->count; i++)
		if (strcmp(combination->parts[i].job_name, combination->parts[0].job_name) != 0)
			sample->job_name = no_text(ABSENT_NOT_COLLECTED);
}

static int write_tick(struct combination *combination, double timestamp, bool last)
{
	struct frame frame = {0};
	int result;

	frame_clear(&frame);
	fill_sample(combination, &frame, timestamp);
	fill_rows(combination, &frame);
	add_gpus(combination, &frame);
	if (!combination->samples)
		combined_start(combination, &frame);
	if (last)
		combined_end(combination, &frame, timestamp);
	result = frame.error;
	if (!result) {
		write_frame_json(&combination->line, &frame, false);
		buffer_add_char(&combination->line, '\n');
		output_write(&combination->output, &combination->line);
	}
	frame_done(&frame);
	combination->samples++;
	combination->last_timestamp = timestamp;
	return result;
}

static double tick_of(const struct combination *combination, const struct part *part)
{
	return floor(part->frame->sample->timestamp / combination->tick_secs);
}

/* Writes one tick. Returns 1, 0 after the last, or a negative errno. */
static int combine_tick(struct combination *combination)
{
	double tick = INFINITY, timestamp = combination->last_timestamp;
	bool more = false;
	int result;

	for (size_t i = 0; i < combination->count; i++)
		if (combination->parts[i].frame)
			tick = fmin(tick, tick_of(combination, &combination->parts[i]));
	for (size_t i = 0; i < combination->count; i++) {
		struct part *part = &combination->parts[i];

		part->gone = !part->frame || part->first_timestamp >= (tick + 1) * combination->tick_secs;
		begin_tick(part);
		while (part->frame && tick_of(combination, part) <= tick) {
			timestamp = fmax(timestamp, part->frame->sample->timestamp);
			take_frame(part);
			result = next_combined_frame(part, combination->problem);
			if (result < 0)
				return result;
		}
		more |= part->frame != NULL;
	}
	result = write_tick(combination, timestamp, !more);
	return result < 0 ? problem_set(combination->problem, result, "%s", strerror(-result)) : more;
}

/* A recording that names no host, as CSV does, is of the host that the others name if they all name the same. */
static void settle_hosts(struct combination *combination)
{
	const char *only = "";

	for (size_t i = 0; i < combination->count; i++) {
		const char *host = combination->parts[i].host;

		if (*only && *host && strcmp(only, host) != 0)
			return;
		only = *host ? host : only;
	}
	for (size_t i = 0; i < combination->count; i++)
		if (!*combination->parts[i].host) {
			combination->unnamed = true;
			snprintf(combination->parts[i].host, sizeof(combination->parts[i].host), "%s", only);
		}
}

/* Refuses a recording that is named twice, because its rank would count twice. */
static int check_twice(const struct combination *combination)
{
	for (size_t i = 0; i < combination->count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct part *one = &combination->parts[i], *other = &combination->parts[j];

			if (strcmp(one->host, other->host) == 0 && one->pid == other->pid &&
			    one->rank == other->rank && one->first_timestamp == other->first_timestamp)
				return problem_set(combination->problem, -EEXIST,
						   "%s and %s are the same recording: it would count twice",
						   other->path, one->path);
		}
	return 0;
}

static void find_times(struct combination *combination)
{
	combination->started = combination->parts[0].started;
	for (size_t i = 0; i < combination->count; i++) {
		const struct part *part = &combination->parts[i];

		if (part->interval_secs > combination->tick_secs)
			combination->tick_secs = part->interval_secs;
		combination->started = fmin(combination->started, part->started);
	}
	if (!(combination->tick_secs > 0))
		combination->tick_secs = 1;
	combination->last_timestamp = combination->started;
}

int rt_combine(const char *const *paths, size_t path_count, const char *output,
	       struct rt_problem *ret_problem)
{
	__attribute__((cleanup(combination_done))) struct combination combination = {
		.output = {.fd = -1}, .line = BUFFER(64 << 20), .problem = ret_problem};
	int result = path_count ? 0 : problem_set(ret_problem, -EINVAL, "no recording was named");

	combination.parts = calloc(path_count + 1, sizeof(*combination.parts));
	if (!combination.parts)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < path_count && result == 0; i++) {
		combination.count++;
		result = open_part(&combination.parts[i], paths[i], ret_problem);
	}
	settle_hosts(&combination);
	if (result == 0)
		result = check_twice(&combination);
	if (result == 0)
		result = output_check_inputs(output, paths, path_count, ret_problem);
	if (result < 0)
		return result;
	find_times(&combination);
	result = output_open(&combination.output, output, is_gzip_name(output), ret_problem);
	if (result < 0)
		return result;
	do {
		result = combine_tick(&combination);
	} while (result > 0 && !combination.output.error);
	return result < 0 ? result : output_finish(&combination.output, ret_problem);
}
