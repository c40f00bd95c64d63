/* Reads a recording back. See reader.h. */
#include "record/reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "record/csv_pair.h"
#include "record/tree_memory.h"

enum { INTERVALS_KEPT = 1000, HOSTS_KEPT = 16 };

struct record {
	char **paths;
	size_t path_count, path_index;
	struct rt_problem problem;
	struct record_file file; /* open while path_index < path_count */
	struct record_file partner;
	struct csv_pair pair;        /* used when two files are read side by side */
	struct line_decoder decoder; /* of the wanted metrics, with the sample that a brief one refers to */
	struct json_decoder identity_json;
	bool follows;
	struct frame frame;
	struct frame identity;
	struct record_damage damage;
	const char *layout;
	size_t run;
	int64_t last_sample;   /* number of the last sample */
	int64_t last_pid;      /* that the run tracks. 0: none so far */
	double last_timestamp; /* NaN: none in this run */
	double last_elapsed_secs;
	double intervals[INTERVALS_KEPT];
	size_t interval_count;
	double first_interval_secs; /* NaN: the first sample has no interval */
	double first_by_cpu_secs;   /* the same, by the CPU time of the machine; NaN: unknown */
	uint64_t hosts[HOSTS_KEPT];
};

/* The reader always needs these: times to place a sample, identities to tell runs and hosts apart. */
static void want_always(struct metric_set *wanted)
{
	WANT(wanted, sample, timestamp_secs);
	WANT(wanted, sample, timestamp);
	WANT(wanted, sample, elapsed_secs);
	WANT(wanted, sample, actual_interval_ms);
	WANT(wanted, sample, sample);
	WANT(wanted, sample, host);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, run_start, schema_version);
	WANT(wanted, run_start, interval_secs);
	WANT(wanted, run_start, run_id);
	WANT(wanted, run_end, reason);
	WANT(wanted, cloud, vendor_id);
}

static bool is_identity(enum row_kind kind)
{
	while (kind != ROW_sample && ROW_DESCRIPTIONS[kind].parent != ROW_sample)
		kind = ROW_DESCRIPTIONS[kind].parent;
	return ROW_DESCRIPTIONS[kind].shape == OPTIONAL;
}

static void init_readers(struct record *record, const struct record_options *options)
{
	struct metric_set wanted = options->wanted, identity = {0};

	want_always(&wanted);
	want_tree_memory(&wanted);
	json_decoder_init(&record->decoder.json, &wanted);
	/* A file that grows has few lines, and its last sample outlives lines that are none. */
	if (!options->follows) {
		same_line_begin(&record->decoder.same, &record->decoder.json);
		same_line_begin(&record->decoder.previous_same, &record->decoder.json);
	}
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		if (is_identity(kind))
			metric_set_add_kind(&identity, kind);
	json_decoder_init(&record->identity_json, &identity);
	frame_clear(&record->identity);
}

static int copy_paths(struct record *record, const char *const *paths, size_t count)
{
	record->paths = calloc(count, sizeof(*record->paths));
	if (!record->paths)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		record->paths[i] = strdup(paths[i]);
		if (!record->paths[i])
			return -ENOMEM;
		record->path_count++;
	}
	return 0;
}

static int open_record_file(struct record *record, const char *path, struct rt_problem *problem)
{
	int result = record_file_open(&record->file, path, record->follows, problem);

	if (result == 0)
		record->layout = record->file.format == RECORD_SNAPSHOT ? "snapshot"
				 : record->file.csv.layout              ? record->file.csv.layout->name
									: "json";
	return result;
}

/* Two CSV files that complement each other are one recording. Any other files follow one another. */
static int try_pair(struct record *record, struct rt_problem *problem)
{
	int result;

	if (record->file.format != RECORD_CSV || strcmp(record->paths[1], "-") == 0)
		return 0;
	result = record_file_open(&record->partner, record->paths[1], false, problem);
	if (result < 0)
		return result;
	if (csv_pair_begin(&record->pair, &record->file, &record->partner)) {
		record->path_index = 1;
		return 0;
	}
	record_file_close(&record->partner);
	return 0;
}

int record_open(const char *const *paths, size_t count, const struct record_options *options,
		struct record **ret_record, struct rt_problem *problem)
{
	struct record *record;
	int result;

	if (!count)
		return problem_set(problem, -EINVAL, "no recording was named");
	for (size_t i = 1; i < count; i++)
		if (strcmp(paths[i], "-") != 0 && access(paths[i], R_OK) < 0)
			return problem_set(problem, -errno, "%s: %s", paths[i], strerror(errno));
	record = calloc(1, sizeof(*record));
	if (!record)
		return problem_set(problem, -ENOMEM, "out of memory");
	record->last_timestamp = NAN;
	record->follows = options->follows;
	init_readers(record, options);
	record->file.source.fd = record->partner.source.fd = -1;
	result = copy_paths(record, paths, count);
	if (result == 0)
		result = open_record_file(record, paths[0], problem);
	if (result == 0 && count == 2)
		result = try_pair(record, problem);
	if (result < 0) {
		record_close(record);
		return result;
	}
	*ret_record = record;
	return 0;
}

void record_close(struct record *record)
{
	if (!record)
		return;
	csv_pair_done(&record->pair);
	record_file_close(&record->file);
	record_file_close(&record->partner);
	same_line_done(&record->decoder.same, &record->decoder.json);
	same_line_done(&record->decoder.previous_same, &record->decoder.json);
	json_decoder_done(&record->decoder.json);
	json_decoder_done(&record->identity_json);
	frame_done(&record->frame);
	frame_done(&record->decoder.previous);
	frame_done(&record->identity);
	for (size_t i = 0; i < record->path_count; i++)
		free(record->paths[i]);
	free(record->paths);
	free(record);
}

/* A file without a single readable sample is an error, not an empty recording. */
static int end_file(struct record *record, const struct record_file *file)
{
	record->damage.torn_tails += file->torn_tails;
	record->damage.bad_lines += file->bad_lines;
	record->damage.unknown_columns += (int64_t)file->csv.unknown_count;
	if (!record->damage.first_bad_line)
		record->damage.first_bad_line = file->first_bad_line;
	if (!file->samples && file->bad_lines)
		return problem_set(&record->problem, -EBADMSG, "%s: no line is a sample (line %lld is not)",
				   file->source.path, (long long)file->first_bad_line);
	return 0;
}

/* Opens the next file: 1, 0 if there is none, or a negative errno. */
static int next_file(struct record *record)
{
	int result = end_file(record, &record->file);

	if (result == 0 && record->pair.machine)
		result = end_file(record, &record->partner);
	csv_pair_done(&record->pair);
	record_file_close(&record->file);
	record_file_close(&record->partner);
	record->path_index++;
	if (result < 0 || record->path_index >= record->path_count)
		return result;
	result = open_record_file(record, record->paths[record->path_index], &record->problem);
	return result < 0 ? result : 1;
}

static void note_host(struct record *record, const char *host)
{
	uint64_t hash;

	if (text_absent(host))
		return;
	hash = fnv_of(host, strlen(host));
	for (int64_t i = 0; i < record->damage.hosts; i++)
		if (record->hosts[i] == hash)
			return;
	if (record->damage.hosts < HOSTS_KEPT)
		record->hosts[record->damage.hosts++] = hash;
}

/* CPU time of the machine divided by its cores in use: the length of the interval, within a few percent. */
static double interval_by_cpu(const struct frame *frame)
{
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);

	return cpu && cpu->utilization_pct > 0 ? (cpu->utime_secs + cpu->stime_secs) / cpu->utilization_pct
					       : (double)NAN;
}

static void begin_read_run(struct record *record)
{
	record->run++;
	record->last_timestamp = NAN;
	record->last_elapsed_secs = 0;
	record->interval_count = 0;
	record->first_interval_secs = record->frame.sample->actual_interval_ms / 1000;
	record->first_by_cpu_secs = interval_by_cpu(&record->frame);
	frame_clear(&record->identity);
}

/* Computes from time stamps the times that files of other writers lack. */
static void complete_times(struct record *record, struct sample_row *sample)
{
	double step;

	if (real_absent(sample->timestamp) && !count_absent(sample->timestamp_secs))
		sample->timestamp = (double)sample->timestamp_secs;
	if (count_absent(sample->timestamp_secs))
		sample->timestamp_secs = count_of_real(floor(sample->timestamp));
	step = sample->timestamp - record->last_timestamp;
	if (step < 0) {
		record->damage.clock_steps++;
		step = record->interval_count ? record->intervals[record->interval_count - 1] : 0;
	}
	if (real_absent(sample->elapsed_secs))
		sample->elapsed_secs = isnan(step) ? 0 : record->last_elapsed_secs + step;
	if (real_absent(sample->actual_interval_ms) && !isnan(step))
		sample->actual_interval_ms = step * 1000;
	if (count_absent(sample->sample))
		sample->sample = record->last_sample + 1;
	if (!isnan(step) && record->interval_count < INTERVALS_KEPT)
		record->intervals[record->interval_count++] =
			sample->elapsed_secs - record->last_elapsed_secs;
	record->last_timestamp = sample->timestamp;
	record->last_elapsed_secs = sample->elapsed_secs;
	record->last_sample = sample->sample;
}

/* Versions differ in how they define used memory. If a file has one definition only, use it for both. */
static void complete_memory(struct memory_row *memory)
{
	if (real_absent(memory->used_mib))
		memory->used_mib = memory->used_less_cache_mib;
	else if (real_absent(memory->used_less_cache_mib))
		memory->used_less_cache_mib =
			memory->total_mib - memory->free_mib - memory->buffers_mib - memory->cached_mib;
}

static void carry_row(struct frame *frame, struct row *row, const struct row *before)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		const struct metric *metric = &description->metrics[i];
		size_t offset = metric_offset(i);

		if (metric->nature != IDENTITY || !field_absent(row, metric->type, offset) ||
		    field_absent(before, metric->type, offset))
			continue;
		if (metric->type == TYPE_TEXT)
			*row_text(row, offset) = frame_text(frame, *row_text(before, offset),
							    strlen(*row_text(before, offset)));
		else
			memcpy(row_count(row, offset), row_count(before, offset), 8);
	}
}

/* A brief sample leaves out names, sizes and limits that have not changed: copy them from the last sample. */
static void carry_identities(struct record *record)
{
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row *guess = record->decoder.previous.first[kind];

		if (is_identity(kind) || ROW_DESCRIPTIONS[kind].shape == EVENTS)
			continue;
		/*
		 * An inline row has no object of its own in JSON, so a brief sample without its metrics has
		 * no such row. Add it.
		 */
		if (guess && !record->frame.first[kind] && ROW_DESCRIPTIONS[kind].shape == INLINE &&
		    record->frame.first[ROW_DESCRIPTIONS[kind].parent])
			frame_add(&record->frame, kind, record->frame.first[ROW_DESCRIPTIONS[kind].parent]);
		for (struct row *row = record->frame.first[kind]; row; row = row->next) {
			const struct row *before = frame_match(&record->decoder.previous, row, guess);

			if (before)
				carry_row(&record->frame, row, before);
			guess = guess ? guess->next : NULL;
		}
	}
}

/* Tells whether a sample has the start, the end or the cloud for the first time in its run. Recorders may repeat them. */
static bool has_new_identity(const struct record *record)
{
	static const enum row_kind KINDS[] = {ROW_run_start, ROW_run_end, ROW_cloud};

	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		if (record->frame.first[KINDS[i]] && !record->identity.first[KINDS[i]])
			return true;
	return false;
}

/* A number that did not rise shows that a run begins. Rows of CSV have no number, but a run tracks one process. */
static bool is_of_another_run(const struct record *record, const struct sample_row *sample)
{
	if (record->file.format == RECORD_CSV && !count_absent(sample->tracked_pid))
		return record->last_pid && sample->tracked_pid != record->last_pid;
	return !count_absent(sample->sample) && sample->sample <= record->last_sample;
}

/* Whether a recorder repeats run_start, because its file was taken away. The parts of the recording may be joined again. */
static bool goes_on(const struct record *record)
{
	const struct run_start_row *before = FIRST(&record->identity, run_start),
				   *now = FIRST(&record->frame, run_start);

	return before && record->frame.sample->sample > 0 && !text_absent(now->run_id) &&
	       !text_absent(before->run_id) && strcmp(before->run_id, now->run_id) == 0;
}

static void complete_sample(struct record *record)
{
	struct frame *frame = &record->frame;
	struct sample_row *sample = frame->sample;
	struct memory_row *memory = (struct memory_row *)(void *)frame->first[ROW_memory];
	bool again = is_of_another_run(record, sample);

	if (record->file.format == RECORD_JSON && record->decoder.json.brief && record->run && !again)
		carry_identities(record);
	if (!record->run || again || (frame->first[ROW_run_start] && !goes_on(record))) {
		begin_read_run(record);
		record->last_sample = -1;
	}
	if (!count_absent(sample->tracked_pid))
		record->last_pid = sample->tracked_pid;
	if (record->file.format == RECORD_JSON && has_new_identity(record))
		(void)json_decoder_read(&record->identity_json, record->file.line, &record->identity);
	if (record->file.format == RECORD_SNAPSHOT && !record->identity.first[ROW_run_start])
		snapshot_identity(record->file.snapshot, &record->identity);
	complete_times(record, sample);
	if (memory)
		complete_memory(memory);
	if (frame->first[ROW_tree])
		complete_tree_memory((struct tree_row *)(void *)frame->first[ROW_tree],
				     FIRST(frame, tracker));
	note_host(record, sample->host);
}

int record_next(struct record *record, const struct frame **ret_frame)
{
	while (record->path_index < record->path_count) {
		int result = record->pair.machine
				     ? csv_pair_next(&record->pair, &record->frame)
				     : record_file_next(&record->file, &record->decoder, &record->frame);

		if (result > 0) {
			complete_sample(record);
			*ret_frame = &record->frame;
			return 1;
		}
		if (result < 0)
			return problem_set(&record->problem, result, "%s: %s", record->file.source.path,
					   strerror(-result));
		if (record->follows) {
			if (record->decoder.fresh)
				line_decoder_swap(&record->decoder, &record->frame);
			return 0;
		}
		result = next_file(record);
		if (result <= 0)
			return result;
	}
	return 0;
}

struct scan record_line(const struct record *record)
{
	return record->file.format == RECORD_JSON ? record->file.line : scan_bytes("", 0);
}

const struct rt_problem *record_problem(const struct record *record)
{
	return &record->problem;
}

size_t record_run(const struct record *record)
{
	return record->run;
}

const struct frame *record_identity(const struct record *record)
{
	return &record->identity;
}

const char *record_scheduler_value(const struct frame *identity, const char *name)
{
	for (const struct run_start_scheduler_row *row = FIRST(identity, run_start_scheduler); row;
	     row = NEXT(row, run_start_scheduler))
		if (!text_absent(row->name) && !text_absent(row->value) && strcmp(row->name, name) == 0)
			return row->value;
	return NULL;
}

/* 4 PiB is all that a processor addresses. */
static const double MEMORY_MIB_MOST = 4294967296;

double record_scheduler_number(const struct frame *identity, const char *name)
{
	/* The largest systems have some million CPUs. */
	double most = strstr(name, "MEM") ? MEMORY_MIB_MOST : 1e8;
	const char *value = record_scheduler_value(identity, name);
	struct scan text;
	double number;

	if (!value)
		return NAN;
	text = scan_bytes(value, strlen(value));
	return scan_real(&text, &number) && !scan_left(&text) && number > 0 && number <= most ? number
											      : (double)NAN;
}

double record_scheduler_memory_mib(const struct frame *identity, double cpus)
{
	double memory = record_scheduler_number(identity, "SLURM_MEM_PER_NODE");

	if (isnan(memory))
		memory = record_scheduler_number(identity, "SLURM_MEM_PER_CPU") * cpus;
	return memory <= MEMORY_MIB_MOST ? memory : (double)NAN;
}

struct record_damage record_damage(const struct record *record)
{
	return record->damage;
}

enum record_format record_format(const struct record *record)
{
	return record->file.format;
}

const char *record_layout(const struct record *record)
{
	return record->layout;
}

static int compare_intervals(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double record_interval_secs(const struct record *record)
{
	const struct run_start_row *run_start = FIRST(&record->identity, run_start);
	double sorted[INTERVALS_KEPT];
	size_t count = record->interval_count;

	if (run_start && !real_absent(run_start->interval_secs))
		return run_start->interval_secs;
	if (!count)
		return NAN;
	/* The second of two samples ended the run, so the first interval was longer than the time between them. */
	if (count == 1 && record->first_by_cpu_secs > record->intervals[0])
		return record->first_by_cpu_secs;
	memcpy(sorted, record->intervals, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_intervals);
	return sorted[count / 2];
}

double record_lead_in_secs(const struct record *record)
{
	double interval = record_interval_secs(record), first = record->first_interval_secs;

	if (isnan(interval))
		return isnan(first) ? 0 : first;
	return first < 0.9 * interval ? first : interval;
}
