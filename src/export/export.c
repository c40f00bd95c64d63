/* Writes recordings as JSON and CSV; see export.h. */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "export/json_check.h"
#include "export/output.h"
#include "format/csv_layout.h"
#include "format/sample_format.h"

static size_t length_without_gz(const char *path)
{
	size_t length = strlen(path);

	return is_gzip_name(path) ? length - 3 : length;
}

bool is_gzip_name(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

bool has_extension(const char *path, const char *extension)
{
	size_t length = length_without_gz(path), wanted = strlen(extension);

	return length > wanted && path[length - wanted - 1] == '.' &&
	       memcmp(path + length - wanted, extension, wanted) == 0;
}

static void cleanup_record(struct record **record)
{
	record_close(*record);
}
#define CLEANUP_RECORD __attribute__((cleanup(cleanup_record)))

static int open_all(const struct export_job *job, struct record **ret_record)
{
	struct record_options options = {0};

	metric_set_add_all(&options.wanted);
	return record_open(job->paths, job->path_count, &options, ret_record, job->problem);
}

/* Writes samples one by one. */
struct writer {
	struct output output;
	struct buffer sample;
	const struct sample_format *format; /* for CSV */
	struct format_options options;
	struct format_state state;
	bool list; /* JSON: a list instead of lines */
	int64_t count;
	int64_t repaired; /* lines that we could read but that are not strict JSON */
};

static void writer_done(struct writer *writer)
{
	output_close(&writer->output);
	buffer_done(&writer->sample);
	buffer_done(&writer->state.kept);
}

static void write_json(struct writer *writer, const struct record *record, const struct frame *frame)
{
	struct scan line = record_line(record);

	if (writer->list)
		buffer_add_text(&writer->sample, writer->count ? ",\n" : "[\n");
	/* A line of valid JSON keeps all its keys, also those of other versions. */
	if (scan_left(&line) && json_is_valid(line)) {
		buffer_add(&writer->sample, line.at, scan_left(&line));
	} else {
		writer->repaired += scan_left(&line) > 0;
		write_frame_json(&writer->sample, frame, false);
	}
	if (!writer->list)
		buffer_add_char(&writer->sample, '\n');
}

static int write_samples(struct writer *writer, struct record *record, const char *path,
			 struct rt_problem *problem)
{
	const struct frame *frame;
	int result;

	if (writer->format)
		writer->format->begin(&writer->sample, &writer->options);
	while ((result = record_next(record, &frame)) > 0 && !writer->output.error) {
		if (writer->format)
			writer->format->sample(&writer->sample, frame, &writer->options, &writer->state);
		else
			write_json(writer, record, frame);
		output_write(&writer->output, &writer->sample);
		writer->count++;
	}
	if (result < 0)
		return problem_set(problem, result, "%s", record_problem(record)->text);
	if (!writer->count)
		return problem_set(problem, -ENODATA, "%s: no whole sample has been written yet", path);
	if (writer->list)
		buffer_add_text(&writer->sample, "\n]\n");
	output_write(&writer->output, &writer->sample);
	return 0;
}

int export_tell_damage(const struct export_job *job, int64_t repaired, int64_t left_out)
{
	if (!repaired && !left_out)
		return 0;
	problem_set(job->problem, 1,
		    "%s: damaged lines: %lld repaired from their known values, %lld left out", job->paths[0],
		    (long long)repaired, (long long)left_out);
	return 1;
}

static int export_text(const struct export_job *job, const char *format)
{
	__attribute__((cleanup(writer_done))) struct writer writer = {
		.output = {.fd = -1},
		.sample = BUFFER(64 << 20),
		.format = strcmp(format, "csv") == 0 ? sample_format_find("csv") : NULL,
		.options = {.header = !job->options->no_header, .layout = job->options->layout},
		.list = strcmp(format, "json") == 0,
	};
	CLEANUP_RECORD struct record *record = NULL;
	int result = open_all(job, &record);

	if (result == 0)
		result = output_open(&writer.output, job->output, is_gzip_name(job->output), job->problem);
	if (result == 0)
		result = write_samples(&writer, record, job->paths[0], job->problem);
	if (result == 0)
		result = output_finish(&writer.output, job->problem);
	return result == 0 ? export_tell_damage(job, writer.repaired, record_damage(record).bad_lines)
			   : result;
}

int export_open_last_run(const struct export_job *job, const struct metric_set *wanted,
			 struct record **ret_record, size_t *ret_skip, size_t *ret_count)
{
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options none = {0}, options = {.wanted = *wanted};
	size_t run = 0, all = 0, first = 0;
	const struct frame *frame;
	int result;

	for (size_t i = 0; i < job->path_count; i++)
		if (strcmp(job->paths[i], "-") == 0)
			return problem_set(job->problem, -ESPIPE,
					   "standard input cannot be read twice; name a file instead");
	result = record_open(job->paths, job->path_count, &none, &record, job->problem);
	if (result < 0)
		return result;
	while ((result = record_next(record, &frame)) > 0) {
		if (record_run(record) != run)
			first = all;
		run = record_run(record);
		all++;
	}
	if (result < 0)
		return problem_set(job->problem, result, "%s", record_problem(record)->text);
	if (!all)
		return problem_set(job->problem, -ENODATA, "%s: no whole sample has been written yet",
				   job->paths[0]);
	*ret_skip = first;
	*ret_count = all - first;
	return record_open(job->paths, job->path_count, &options, ret_record, job->problem);
}

static const char *format_of(const char *output)
{
	static const char *const EXTENSIONS[][2] = {{"json", "json"},     {"jsonl", "jsonl"},
						    {"ndjson", "jsonl"},  {"csv", "csv"},
						    {"sqlite", "sqlite"}, {"db", "sqlite"}};

	for (size_t i = 0; i < ARRAY_SIZE(EXTENSIONS); i++)
		if (has_extension(output, EXTENSIONS[i][0]))
			return EXTENSIONS[i][1];
	return NULL;
}

int rt_export(const char *const *paths, size_t path_count, const char *output,
	      const struct rt_export_options *options, struct rt_problem *ret_problem)
{
	struct rt_export_options own;
	struct rt_gpu_tracker_options gpu_tracker;
	const struct export_job job = {paths, path_count, output, &own, &gpu_tracker, ret_problem};
	int result = TAKE_OPTIONS(ret_problem, &own, rt_export_options, gpu_tracker, options);
	const char *format;

	if (result == 0)
		result = TAKE_OPTIONS(ret_problem, &gpu_tracker, rt_gpu_tracker_options, gpu_uuid_count,
				      own.gpu_tracker);
	if (result < 0)
		return result;
	format = own.format ? own.format : format_of(output);
	if (own.layout && !csv_layout_find(own.layout))
		return problem_set(ret_problem, -EINVAL, "'%.100s' is not a CSV layout", own.layout);
	if (output_check_inputs(output, paths, path_count, ret_problem) < 0)
		return -EINVAL;
	if (!format)
		return problem_set(ret_problem, -EINVAL,
				   "%s: name a format, or end it in .json, .jsonl, .csv or .sqlite", output);
	if (strcmp(format, "json") == 0 || strcmp(format, "jsonl") == 0 || strcmp(format, "csv") == 0)
		return export_text(&job, format);
	if (strcmp(format, "sqlite") == 0)
		return export_sqlite(&job);
	if (strcmp(format, "snapshot") == 0)
		return export_snapshot(&job, false, NULL);
	if (strcmp(format, "snapshot-0.4") == 0)
		return export_snapshot(&job, true, NULL);
	if (strcmp(format, "gpu_tracker") == 0 || strcmp(format, "gpu-tracker") == 0)
		return export_gpu_tracker(&job);
	if (strcmp(format, "otlp") == 0 || strcmp(format, "openmetrics") == 0 ||
	    strcmp(format, "influx") == 0)
		return export_series(&job, format);
	if (strcmp(format, "jobstats") == 0)
		return export_jobstats(&job);
	return problem_set(ret_problem, -EINVAL,
			   "'%.100s' is not a format; use json, jsonl, csv, sqlite, snapshot, "
			   "snapshot-0.4, gpu_tracker, otlp, openmetrics, influx, jobstats",
			   format);
}
