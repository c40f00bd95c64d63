/*
 * Writes recordings as time series, in the forms that databases of metrics import. The series are those of --stream otlp,
 * with those of the machine and the programs, and a point for each sample.
 *
 *   otlp         requests of OTLP one after another, which as protocol buffers are one request
 *   openmetrics  text of OpenMetrics: what promtool and VictoriaMetrics import
 *   influx       line protocol of InfluxDB
 *
 * OpenMetrics wants all samples of a metric together, so the recording is read once for each metric, in constant memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/printable.h"
#include "export/export.h"
#include "export/output.h"
#include "format/otlp_encode.h"
#include "metric/typed_rows.h"
#include "table/table.h"

enum { TEXT_CEILING = 64 << 20 };

_Static_assert(OTLP_SERIES_COUNT <= 64, "a series is a bit of a 64-bit word");

enum form { FORM_OTLP, FORM_OPENMETRICS, FORM_INFLUX };

struct series_writer {
	const struct export_job *job;
	enum form form;
	uint64_t only; /* series to write */
	struct output output;
	struct buffer text;
	struct otlp_batch batch;
	struct otlp_resource resource;
	struct otlp_run run;
	bool info; /* write the attributes of the runs instead */
	bool began;
	int64_t samples;
	int64_t bad_lines;    /* left out */
	struct buffer labels; /* of the run, in the form of the output */
};

static void series_writer_done(struct series_writer *writer)
{
	output_close(&writer->output);
	buffer_done(&writer->text);
	buffer_done(&writer->labels);
	otlp_resource_done(&writer->resource);
}

/* ---- names -------------------------------------------------------------------------------------------------- */

/* As Prometheus makes them of OTLP: dots are underscores, and the unit follows. */
static void add_plain_name(struct buffer *out, const char *name)
{
	for (; *name; name++) {
		bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			     (*name >= '0' && *name <= '9');

		buffer_add_char(out, plain ? *name : '_');
	}
}

static const char *unit_word(const struct otlp_series *series)
{
	return strcmp(series->unit, "By") == 0  ? "bytes"
	       : strcmp(series->unit, "s") == 0 ? "seconds"
	       : strcmp(series->unit, "1") == 0 ? "ratio"
						: NULL;
}

static void add_family(struct buffer *out, const struct otlp_series *series)
{
	add_plain_name(out, series->name);
	if (unit_word(series))
		buffer_printf(out, "_%s", unit_word(series));
}

static void add_escaped(struct buffer *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (strchr(escaped, *text))
			buffer_add_char(out, '\\');
		buffer_add_char(out, *text);
	}
}

/* The values come from recordings: line ends, which the line protocol cannot have, and other control characters become '?'. */
static void add_series_label(struct buffer *out, enum form form, const char *key, const char *value)
{
	CLEANUP_BUFFER struct buffer plain = BUFFER(TEXT_CEILING);

	buffer_add_printable(&plain, value);
	value = plain.data ? plain.data : "";
	if (form == FORM_INFLUX) {
		buffer_add_char(out, ',');
		add_plain_name(out, key);
		buffer_add_char(out, '=');
		add_escaped(out, value, ", =\\");
		return;
	}
	if (out->length)
		buffer_add_char(out, ',');
	add_plain_name(out, key);
	buffer_add_text(out, "=\"");
	add_escaped(out, value, "\"\\");
	buffer_add_char(out, '"');
}

/* ---- points ------------------------------------------------------------------------------------------------- */

static void add_point(struct series_writer *writer, size_t slot, int64_t time_ns, double value)
{
	const struct otlp_series *series = &OTLP_SERIES[otlp_slot_series(slot)];
	const char *key, *device = otlp_slot_device(&writer->batch.devices, slot, &key);
	CLEANUP_BUFFER struct buffer labels = BUFFER(TEXT_CEILING);
	struct buffer *out = &writer->text;

	if (writer->labels.data)
		buffer_add_text(&labels, writer->labels.data);
	if (series->key)
		add_series_label(&labels, writer->form, series->key,
				 *series->value ? series->value : writer->batch.reason);
	if (device)
		add_series_label(&labels, writer->form, key, device);
	add_family(out, series);
	if (series->form == OTLP_SUM)
		buffer_add_text(out, "_total");
	if (writer->form == FORM_INFLUX) {
		buffer_printf(out, "%s value=", labels.data);
		buffer_add_shortest(out, value);
		buffer_printf(out, " %lld\n", (long long)time_ns);
		return;
	}
	buffer_printf(out, "{%s} ", labels.data);
	buffer_add_shortest(out, value);
	buffer_printf(out, " %lld.%03d\n", (long long)(time_ns / NSEC_PER_SEC),
		      (int)(time_ns / NSEC_PER_MSEC % 1000));
}

/* Writes the points of the batch and empties it. Marks of the end have no text form. */
static void write_points(struct series_writer *writer)
{
	struct otlp_batch *batch = &writer->batch;

	if (writer->form == FORM_OTLP)
		otlp_encode_metrics(&writer->text, &writer->resource, batch);
	for (size_t i = 0; writer->form != FORM_OTLP && i < OTLP_SLOT_COUNT; i++) {
		if (!(writer->only >> otlp_slot_series(i) & 1))
			continue;
		if (otlp_set_has(&batch->zero, i))
			add_point(writer, i, batch->start_ns, 0);
		for (size_t j = 0; j < batch->count; j++)
			if (otlp_set_has(&batch->points[j].present, i))
				add_point(writer, i, batch->points[j].time_ns, batch->points[j].values[i]);
	}
	batch->count = 0;
	batch->zero = batch->stale = (struct otlp_set){0};
	batch->is_end = false;
	output_write(&writer->output, &writer->text);
}

/* ---- runs --------------------------------------------------------------------------------------------------- */

/* As Prometheus does: job and instance on each series, all other attributes on target_info. */
static void make_labels(struct series_writer *writer)
{
	const char *key, *value, *space = otlp_resource_get(&writer->resource, "service.namespace");
	const char *name = otlp_resource_get(&writer->resource, "service.name");
	const char *id = otlp_resource_get(&writer->resource, "service.instance.id");
	CLEANUP_BUFFER struct buffer job = BUFFER(TEXT_CEILING);
	size_t at = 0;

	buffer_clear(&writer->labels);
	if (writer->form == FORM_INFLUX) {
		while (otlp_resource_next(&writer->resource, &at, &key, &value))
			add_series_label(&writer->labels, writer->form, key, value);
		return;
	}
	buffer_printf(&job, "%s%s%s", space ? space : "", space ? "/" : "", name ? name : "");
	add_series_label(&writer->labels, writer->form, "job", job.data ? job.data : "");
	add_series_label(&writer->labels, writer->form, "instance", id ? id : "");
}

/* The attributes of a run that its series do not have as labels, with the times of its first and last sample. */
static void add_target_info(struct series_writer *writer, int64_t time_ns)
{
	CLEANUP_BUFFER struct buffer labels = BUFFER(TEXT_CEILING);
	const char *key, *value;
	size_t at = 0;

	buffer_add_text(&labels, writer->labels.data ? writer->labels.data : "");
	while (otlp_resource_next(&writer->resource, &at, &key, &value))
		if (strncmp(key, "service.", 8) != 0)
			add_series_label(&labels, writer->form, key, value);
	buffer_printf(&writer->text, "target_info{%s} 1 %lld.%03d\n", labels.data,
		      (long long)(time_ns / NSEC_PER_SEC), (int)(time_ns / NSEC_PER_MSEC % 1000));
}

static void begin_run(struct series_writer *writer, const struct record *record, const struct frame *first)
{
	CLEANUP_BUFFER struct buffer id = BUFFER(1000);

	buffer_printf(&id, "%s-%zu", writer->job->paths[0], record_run(record));
	otlp_resource_done(&writer->resource);
	writer->resource = OTLP_RESOURCE;
	otlp_resource_of_run(&writer->resource, first, id.data);
	otlp_run_begin(&writer->run, first, 0, OTLP_WITH_MACHINE | OTLP_WITH_PROGRAMS);
	make_labels(writer);
	writer->began = true;
	if (writer->info)
		add_target_info(writer, writer->run.start_ns);
}

static void end_run(struct series_writer *writer)
{
	if (!writer->began)
		return;
	if (writer->info)
		add_target_info(writer, writer->run.last_ns);
	otlp_run_end(&writer->run, &writer->batch);
	write_points(writer);
	writer->began = false;
}

static int write_runs(struct series_writer *writer, struct record *record)
{
	const struct frame *frame;
	size_t run = 0;
	int result;

	while ((result = record_next(record, &frame)) > 0 && !writer->output.error) {
		if (record_run(record) != run)
			end_run(writer);
		if (!writer->began)
			begin_run(writer, record, frame);
		run = record_run(record);
		if (otlp_run_feed(&writer->run, frame, &writer->batch))
			write_points(writer);
		writer->samples++;
	}
	end_run(writer);
	writer->bad_lines = record_damage(record).bad_lines;
	if (result < 0)
		return problem_set(writer->job->problem, result, "%s", record_problem(record)->text);
	return 0;
}

static int read_all_series(struct series_writer *writer)
{
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options options = {0};
	int result;

	otlp_want(&options.wanted);
	WANT(&options.wanted, sample, sample);
	WANT(&options.wanted, sample, host);
	WANT(&options.wanted, sample, job_name);
	result = record_open(writer->job->paths, writer->job->path_count, &options, &record,
			     writer->job->problem);
	writer->samples = 0;
	return result < 0 ? result : write_runs(writer, record);
}

/* ---- forms -------------------------------------------------------------------------------------------------- */

static void begin_family(struct series_writer *writer, const struct otlp_series *series)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(1000);

	add_family(&name, series);
	buffer_printf(&writer->text, "# TYPE %s %s\n", name.data,
		      series->form == OTLP_SUM ? "counter" : "gauge");
	if (unit_word(series))
		buffer_printf(&writer->text, "# UNIT %s %s\n", name.data, unit_word(series));
}

/* A pass for each name, so that its samples stand together. */
static int write_families(struct series_writer *writer)
{
	int result;

	buffer_add_text(&writer->text, "# TYPE target info\n");
	writer->only = 0;
	writer->info = true;
	result = read_all_series(writer);
	writer->info = false;
	for (size_t i = 0, next; result == 0 && i < OTLP_SERIES_COUNT; i = next) {
		writer->only = 0;
		for (next = i;
		     next < OTLP_SERIES_COUNT && strcmp(OTLP_SERIES[next].name, OTLP_SERIES[i].name) == 0;
		     next++)
			writer->only |= UINT64_C(1) << next;
		begin_family(writer, &OTLP_SERIES[i]);
		result = read_all_series(writer);
	}
	buffer_add_text(&writer->text, "# EOF\n");
	output_write(&writer->output, &writer->text);
	return result;
}

static int write_form(struct series_writer *writer)
{
	int result;

	if (writer->form == FORM_OPENMETRICS && export_check_rereadable(writer->job) < 0)
		return -ESPIPE;
	result = writer->form == FORM_OPENMETRICS ? write_families(writer) : read_all_series(writer);
	return result == 0 && !writer->samples ? export_lacks_samples(writer->job) : result;
}

int export_series(const struct export_job *job)
{
	struct series_writer *writer = calloc(1, sizeof(*writer));
	int result;

	if (!writer)
		return problem_set(job->problem, -ENOMEM, "out of memory");
	*writer = (struct series_writer){
		.job = job,
		.form = strcmp(job->format, "otlp") == 0     ? FORM_OTLP
			: strcmp(job->format, "influx") == 0 ? FORM_INFLUX
							     : FORM_OPENMETRICS,
		.only = UINT64_MAX,
		.output = {.fd = -1},
		.text = BUFFER(TEXT_CEILING),
		.labels = BUFFER(TEXT_CEILING),
		.resource = OTLP_RESOURCE,
	};
	if (writer->form == FORM_OTLP && strcmp(job->output, "-") == 0 && isatty(STDOUT_FILENO)) {
		free(writer);
		return problem_set(job->problem, -EINVAL,
				   "-f otlp is not text; write it to a file (-o FILE)");
	}
	result = output_open(&writer->output, job->output, is_gzip_name(job->output), job->problem);
	if (result == 0)
		result = write_form(writer);
	if (result == 0)
		result = output_finish(&writer->output, job->problem);
	if (result == 0)
		result = export_tell_damage(job, 0, writer->bad_lines);
	series_writer_done(writer);
	free(writer);
	return result;
}
