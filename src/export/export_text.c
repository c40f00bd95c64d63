/* Writes recordings as JSON and CSV; see export.h. */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "export/export.h"
#include "export/json_check.h"
#include "export/output.h"
#include "format/json_encode.h"
#include "format/sample_format.h"

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

static int write_text_samples(struct writer *writer, struct record *record, const struct export_job *job)
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
		return problem_set(job->problem, result, "%s", record_problem(record)->text);
	if (!writer->count)
		return export_lacks_samples(job);
	if (writer->list)
		buffer_add_text(&writer->sample, "\n]\n");
	output_write(&writer->output, &writer->sample);
	return 0;
}

int export_text(const struct export_job *job)
{
	__attribute__((cleanup(writer_done))) struct writer writer = {
		.output = {.fd = -1},
		.sample = BUFFER(64 << 20),
		.format = strcmp(job->format, "csv") == 0 ? sample_format_find("csv") : NULL,
		.options = {.header = !job->options->no_header, .layout = job->options->layout},
		.list = strcmp(job->format, "json") == 0,
	};
	CLEANUP_RECORD struct record *record = NULL;
	int result = open_all(job, &record);

	if (result == 0)
		result = output_open(&writer.output, job->output, is_gzip_name(job->output), job->problem);
	if (result == 0)
		result = write_text_samples(&writer, record, job);
	if (result == 0)
		result = output_finish(&writer.output, job->problem);
	return result == 0 ? export_tell_damage(job, writer.repaired, record_damage(record).bad_lines)
			   : result;
}
