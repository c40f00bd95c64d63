/*
 * Writes a recording as a snapshot of the Python package, whose ResourceTracker.dump() writes and load()
 * reads:
 *
 *	{"metadata": {...}, "server_info": {...}, "cloud_info": ...,
 *	 "process_metrics": [{...}], "system_metrics": [{...}]}
 *
 * That package does not support absent numbers: a single one in a row makes the whole column unusable. An
 * absent value (such as the memory of a process that has just ended) therefore repeats the last known one. A
 * value that was never known is null.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "export/export.h"
#include "export/output.h"
#include "format/csv_layout.h"
#include "metric/typed_rows.h"
#include "table/aggregate.h"
#include "table/table.h"

enum { LAYOUT_COLUMNS = 32 };

struct snapshot_writer {
	const struct export_job *job;
	bool older; /* columns and keys of version 0.4 */
	struct output output;
	struct buffer text;
	int64_t bad_lines; /* left out */
};

static void snapshot_writer_done(struct snapshot_writer *writer)
{
	output_close(&writer->output);
	buffer_done(&writer->text);
}

static struct rt_value cell_of(const struct frame *frame, const struct csv_column *column)
{
	const struct row *row = frame->first[column->kind];
	const struct metric *metric = csv_column_metric(column);

	if (!row || field_absent(row, metric->type, column->offset))
		return (struct rt_value){0};
	if (metric->type != TYPE_REAL)
		return (struct rt_value){.type = RT_TYPE_COUNT, .count = *row_count(row, column->offset)};
	return (struct rt_value){
		.type = RT_TYPE_REAL,
		.real = round_like_python(*row_real(row, column->offset) * column->factor, column->decimals)};
}

/* An unknown change counts as 0; any other quantity repeats its last value. */
static struct rt_value without_gaps(struct rt_value cell, struct rt_value *last,
				    const struct csv_column *column)
{
	if (cell.type != RT_TYPE_NONE) {
		*last = cell;
		return cell;
	}
	if (csv_column_metric(column)->nature == GAUGE || last->type == RT_TYPE_NONE)
		return *last;
	return last->type == RT_TYPE_REAL ? (struct rt_value){.type = RT_TYPE_REAL, .real = 0}
					  : (struct rt_value){.type = RT_TYPE_COUNT, .count = 0};
}

/* A tracker that was switched off, or had nothing to track, has no rows. */
static bool is_recorded(const struct frame *frame, const struct csv_layout *layout)
{
	for (size_t i = 0; i < layout->column_count; i++)
		if (layout->columns[i].kind != ROW_sample &&
		    cell_of(frame, &layout->columns[i]).type != RT_TYPE_NONE)
			return true;
	return false;
}

static void write_snapshot_row(struct buffer *out, const struct frame *frame, const struct csv_layout *layout,
			       struct rt_value *last)
{
	for (size_t i = 0; i < layout->column_count; i++) {
		struct rt_value cell = cell_of(frame, &layout->columns[i]);

		buffer_printf(out, "%s\"%s\": ", i ? ", " : "{", layout->columns[i].heading);
		cell_add_json(out, without_gaps(cell, &last[i], &layout->columns[i]));
	}
	buffer_add_char(out, '}');
}

/* Writes one tracker's rows of the last run, or an empty list if nothing of it was recorded. */
static int write_rows(struct snapshot_writer *writer, enum csv_layout_id id)
{
	const struct csv_layout *layout = &CSV_LAYOUT[id];
	struct rt_value last[LAYOUT_COLUMNS] = {{0}};
	CLEANUP_RECORD struct record *record = NULL;
	struct metric_set wanted = {0};
	const struct frame *frame;
	size_t skip = 0, count = 0, written = 0;
	int result;

	csv_want(&wanted, layout);
	result = export_open_last_run(writer->job, &wanted, &record, &skip, &count);
	buffer_add_char(&writer->text, '[');
	for (size_t i = 0; result >= 0 && i < skip + count && (result = record_next(record, &frame)) > 0;
	     i++) {
		if (i < skip || !is_recorded(frame, layout))
			continue;
		buffer_add_text(&writer->text, written++ ? ", " : "");
		write_snapshot_row(&writer->text, frame, layout, last);
		output_write(&writer->output, &writer->text);
	}
	buffer_add_char(&writer->text, ']');
	return result < 0 ? result : 0;
}

static void write_number(struct buffer *out, const char *name, double value)
{
	buffer_printf(out, "\"%s\": ", name);
	if (isfinite(value))
		buffer_add_shortest(out, value);
	else
		buffer_add_text(out, "null");
}

/* Writes a whole interval as 1, not 1.0, as the package does. */
static void write_interval(struct buffer *out, double interval)
{
	if (interval == floor(interval) && interval < 1e9)
		buffer_printf(out, "%.0f", interval);
	else
		buffer_add_shortest(out, interval);
}

static struct rt_value summary_figure(const rt_summary *summary, const char *group, const char *name)
{
	return rt_summary_get(summary, group, name);
}

static void write_metadata(struct buffer *out, const rt_summary *summary, const struct frame *identity)
{
	const struct run_start_row *start = FIRST(identity, run_start);
	double interval = cell_real(summary_figure(summary, "run", "interval_secs"), 1);
	double begun = cell_real(summary_figure(summary, "run", "started_timestamp"), 0);
	double ended = cell_real(summary_figure(summary, "run", "ended_timestamp"), 0);
	struct rt_value pid = summary_figure(summary, "run", "tracked_pid");

	buffer_add_text(out,
			"{\"metadata\": {\"version\": 1, \"resource_tracker\": {\"version\": \"" RT_VERSION
			"\", \"implementation\": \"procfs\"}, \"pid\": ");
	cell_add_json(out, pid);
	buffer_printf(out, ", \"children\": %s, \"interval\": ",
		      start && !count_absent(start->children) && !start->children ? "false" : "true");
	write_interval(out, interval);
	/* The package's load() needs both trackers, even if one has no rows. */
	buffer_add_text(out, ", \"method\": null, \"autostart\": false, \"track_processes\": true, "
			     "\"track_system\": true, "
			     "\"discover_server\": true, \"discover_cloud\": true, ");
	/* The package's own runs begin an interval before the first row, and last one interval longer. */
	write_number(out, "start_time", begun);
	buffer_add_text(out, ", ");
	write_number(out, "stop_time", ended);
	buffer_add_text(out, ", ");
	write_number(out, "duration", round_like_python(ended - begun + interval, 2));
	buffer_add_text(out, "}, ");
}

static void write_server(struct buffer *out, const rt_summary *summary, const struct frame *identity,
			 bool older)
{
	const struct run_start_row *start = FIRST(identity, run_start);
	struct rt_value gpus = summary_figure(summary, "gpu", "count");
	double gpu_mib = cell_real(summary_figure(summary, "gpu", "memory_total_mib"), 0);
	const char *name = "";

	if (!start) {
		buffer_add_text(out, "\"server_info\": null, ");
		return;
	}
	buffer_add_text(out, "\"server_info\": {\"os\": \"Linux\", \"vcpus\": ");
	if (count_absent(start->cpu_count))
		buffer_add_text(out, "null");
	else
		buffer_add_i64(out, start->cpu_count);
	buffer_add_text(out, ", ");
	write_number(out, older ? "memory_mb" : "memory_mib", round_like_python(start->memory_total_mib, 2));
	buffer_printf(out, ", \"gpu_count\": %lld, \"gpu_names\": [", (long long)gpus.count);
	for (const struct run_start_gpu_row *gpu = FIRST(identity, run_start_gpu); gpu;
	     gpu = NEXT(gpu, run_start_gpu)) {
		if (text_absent(gpu->name))
			continue;
		buffer_add_text(out, *name ? ", " : "");
		name = gpu->name;
		json_escape(out, name, strlen(name));
	}
	buffer_add_text(out, "], \"gpu_name\": ");
	json_escape(out, name, strlen(name));
	buffer_add_text(out, ", ");
	write_number(out, older ? "gpu_memory_mb" : "gpu_memory_mib", gpu_mib);
	buffer_add_text(out, ", \"allocation\": null}, ");
}

static void write_cloud_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text_absent(text) ? "unknown" : text);
}

/* Writes the form of get_cloud_info() of the Python package; null if no cloud was asked. */
static void write_cloud(struct buffer *out, const struct frame *identity)
{
	const struct cloud_row *cloud = FIRST(identity, cloud);
	struct json_writer json = JSON_WRITER(out);

	buffer_add_text(out, "\"cloud_info\": ");
	if (!cloud) {
		buffer_add_text(out, "null, ");
		return;
	}
	json_open(&json, '{');
	write_cloud_text(&json, "vendor", cloud->vendor_id);
	write_cloud_text(&json, "instance_type", cloud->instance_type);
	write_cloud_text(&json, "region", cloud->region_id);
	json_key(&json, "discovery_time");
	json_absent(&json);
	json_close(&json, '}');
	buffer_add_text(out, ", ");
}

/* The identity is complete only after the whole record has been read. */
static int write_head(struct snapshot_writer *writer)
{
	const struct export_job *job = writer->job;
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options none = {0};
	const struct frame *frame;
	rt_summary *summary = NULL;
	int result = rt_summary_read(job->paths, job->path_count, &summary, job->problem);

	if (result == 0)
		result = record_open(job->paths, job->path_count, &none, &record, job->problem);
	if (result < 0) {
		rt_summary_free(summary);
		return result;
	}
	while ((result = record_next(record, &frame)) > 0)
		;
	write_metadata(&writer->text, summary, record_identity(record));
	write_server(&writer->text, summary, record_identity(record), writer->older);
	write_cloud(&writer->text, record_identity(record));
	writer->bad_lines = record_damage(record).bad_lines;
	rt_summary_free(summary);
	return result;
}

/* Stores the text in ret_text if the job has no output. */
static int write_snapshot(const struct export_job *job, char **ret_text)
{
	bool older = strcmp(job->format, "snapshot-0.4") == 0;
	__attribute__((cleanup(snapshot_writer_done))) struct snapshot_writer writer = {
		.job = job,
		.older = older,
		.output = {.fd = -1},
		.text = BUFFER(64 << 20),
	};
	int result = export_check_rereadable(job);

	if (result == 0)
		result = output_open(&writer.output, job->output,
				     job->output && strcmp(job->output, "-") != 0, job->problem);
	if (result == 0)
		result = write_head(&writer);
	if (result == 0) {
		buffer_add_text(&writer.text, "\"process_metrics\": ");
		result = write_rows(&writer, older ? CSV_LAYOUT_process_0_4 : CSV_LAYOUT_process);
	}
	if (result == 0) {
		buffer_add_text(&writer.text, ", \"system_metrics\": ");
		result = write_rows(&writer, older ? CSV_LAYOUT_system_0_4 : CSV_LAYOUT_system);
	}
	if (result < 0)
		return result;
	buffer_add_char(&writer.text, '}');
	output_write(&writer.output, &writer.text);
	result = output_finish(&writer.output, job->problem);
	if (result == 0 && !job->output)
		return buffer_take_text(&writer.output.pending, ret_text);
	return result == 0 ? export_tell_damage(job, 0, writer.bad_lines) : result;
}

int export_snapshot(const struct export_job *job)
{
	return write_snapshot(job, NULL);
}

int rt_package_dumps(const char *const *paths, size_t path_count, char **ret_text,
		     struct rt_problem *ret_problem)
{
	const struct export_job job = {
		.paths = paths, .path_count = path_count, .format = "snapshot", .problem = ret_problem};

	return write_snapshot(&job, ret_text);
}
