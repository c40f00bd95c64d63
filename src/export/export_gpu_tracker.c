/*
 * Writes a recording as a tracking file of gpu_tracker: one line or table of constants, then a row for each
 * sample. compat/summary_gpu_tracker.c explains the columns.
 *
 *	ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,...
 *	gigabytes,gigabytes,hours,25.27668634,...
 *	main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,...,timestamp
 *	0.013,0.0,0.013,2.858,...
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "compat/gpu_tracker_units.h"
#include "export/export.h"
#include "export/output.h"
#include "export/sqlite_file.h"
#include "metric/typed_rows.h"
#include "record/tree_memory.h"
#include "table/table.h"

#define MIB 1048576.0

static const char *const STATIC_NAMES[] = {
	"ram_unit",
	"gpu_ram_unit",
	"time_unit",
	"ram_system_capacity",
	"gpu_ram_system_capacity",
	"system_core_count",
	"n_expected_cores",
	"system_gpu_count",
	"n_expected_gpus",
};

static const char *const DATA_NAMES[] = {
	"main_ram",
	"descendants_ram",
	"combined_ram",
	"system_ram",
	"main_gpu_ram",
	"descendants_gpu_ram",
	"combined_gpu_ram",
	"system_gpu_ram",
	"gpu_sum_utilization_percent",
	"gpu_hardware_utilization_percent",
	"main_n_threads",
	"descendants_n_threads",
	"combined_n_threads",
	"cpu_system_sum_utilization_percent",
	"cpu_system_hardware_utilization_percent",
	"cpu_main_sum_utilization_percent",
	"cpu_main_hardware_utilization_percent",
	"cpu_descendants_sum_utilization_percent",
	"cpu_descendants_hardware_utilization_percent",
	"cpu_combined_sum_utilization_percent",
	"cpu_combined_hardware_utilization_percent",
	"timestamp",
};

enum { STATICS = ARRAY_SIZE(STATIC_NAMES), DATA = ARRAY_SIZE(DATA_NAMES) };

struct tracking {
	struct gpu_tracker_units units;
	double cores, expected_cores, gpus, expected_gpus;
	double ram_capacity, gpu_ram_capacity;
	const struct rt_gpu_tracker_options *options;
};

/* Cells that are filled from the left. */
struct cells_out {
	struct rt_value *cells;
	size_t count;
};

static void put_real(struct cells_out *out, double value)
{
	out->cells[out->count++] = isfinite(value) ? (struct rt_value){.type = RT_TYPE_REAL, .real = value}
						   : (struct rt_value){0};
}

static void put_count(struct cells_out *out, double value)
{
	out->cells[out->count++] = fabs(value) < 9e18
					   ? (struct rt_value){.type = RT_TYPE_COUNT, .count = (int64_t)value}
					   : (struct rt_value){0};
}

static void put_text(struct cells_out *out, const char *text)
{
	out->cells[out->count++] = (struct rt_value){.type = RT_TYPE_TEXT, .text = text};
}

static void fill_static(const struct tracking *tracking, struct rt_value *cells)
{
	struct cells_out out = {cells, 0};

	put_text(&out, tracking->units.ram.name);
	put_text(&out, tracking->units.gpu_ram.name);
	put_text(&out, tracking->units.time.name);
	put_real(&out, tracking->ram_capacity);
	put_real(&out, tracking->gpu_ram_capacity);
	put_count(&out, tracking->cores);
	put_count(&out, tracking->expected_cores);
	put_count(&out, tracking->gpus);
	put_count(&out, tracking->expected_gpus);
}

/* Adds the root process, its descendants, and both together. */
static void put_parts(struct cells_out *out, double main, double all, double combined, double factor)
{
	put_real(out, main * factor);
	put_real(out, (all < main ? 0 : all - main) * factor);
	put_real(out, combined * factor);
}

/* Shared pages of the descendants count once if the recording knows them, as in summary_gpu_tracker.c. */
static void put_ram(struct cells_out *out, const struct tree_row *tree, double factor)
{
	bool once =
		memory_measure(tree->process_memory_source) <= MEASURE_ONCE && tree->process_child_count > 0;
	double rest = tree->process_memory_mib - tree->process_main_private_mib;

	if (!once || isnan(rest))
		rest = tree->process_rss_mib - tree->process_main_rss_mib;
	put_real(out, tree->process_main_rss_mib * factor);
	put_real(out, (rest < 0 ? 0 : rest) * factor);
	put_real(out, tree->process_memory_mib * factor);
}

static void put_percents(struct cells_out *out, double cores, double hardware)
{
	put_real(out, cores * 100);
	put_real(out, hardware > 0 ? cores * 100 / hardware : cores * 0);
}

static bool is_chosen(const struct rt_gpu_tracker_options *options, const char *uuid)
{
	for (size_t i = 0; i < options->gpu_uuid_count; i++)
		if (!text_absent(uuid) && strcmp(options->gpu_uuids[i], uuid) == 0)
			return true;
	return options->gpu_uuid_count == 0;
}

static double busy_gpus(const struct frame *frame, const struct rt_gpu_tracker_options *options)
{
	double busy = 0;

	for (const struct gpu_row *gpu = FIRST(frame, gpu); gpu; gpu = NEXT(gpu, gpu))
		if (is_chosen(options, gpu->uuid))
			busy += gpu->utilization_pct / 100;
	return busy;
}

static void put_threads(struct cells_out *out, const struct tree_row *tree)
{
	double main = real_of_count(tree->process_main_thread_count),
	       all = real_of_count(tree->process_thread_count);

	put_count(out, main);
	put_count(out, all < main ? 0 : all - main);
	put_count(out, all);
}

static void fill_data(const struct tracking *tracking, const struct frame *frame, const struct tree_row *tree,
		      struct rt_value *cells)
{
	double secs = frame->sample->actual_interval_ms / 1000;
	double ram = MIB * tracking->units.ram.factor, gpu_ram = MIB * tracking->units.gpu_ram.factor;
	double main_cores =
		secs > 0 ? (tree->process_main_utime_secs + tree->process_main_stime_secs) / secs : NAN;
	double cores = tree->process_cores_used;
	struct cells_out out = {cells, 0};

	put_ram(&out, tree, ram);
	put_real(&out, FIRST(frame, memory) ? FIRST(frame, memory)->used_mib * ram : NAN);
	put_parts(&out, tree->process_main_gpu_vram_mib, tree->process_gpu_vram_mib,
		  tree->process_gpu_vram_mib, gpu_ram);
	put_real(&out, FIRST(frame, totals) ? FIRST(frame, totals)->gpu_vram_mib * gpu_ram : NAN);
	put_percents(&out, busy_gpus(frame, tracking->options), tracking->expected_gpus);
	put_threads(&out, tree);
	put_percents(&out, FIRST(frame, host_cpu) ? FIRST(frame, host_cpu)->utilization_pct : NAN,
		     tracking->cores);
	put_percents(&out, main_cores, tracking->expected_cores);
	put_percents(&out, cores < main_cores ? 0 : cores - main_cores, tracking->expected_cores);
	put_percents(&out, cores, tracking->expected_cores);
	put_real(&out, frame->sample->timestamp);
}

/* Writes rows as text or into a table. */
struct tracking_writer {
	bool sqlite;
	struct output output;
	struct buffer text;
	struct sqlite_file file;
	sqlite3_stmt *insert;
	int64_t bad_lines; /* left out */
};

static void gpu_tracker_writer_done(struct tracking_writer *writer)
{
	output_close(&writer->output);
	buffer_done(&writer->text);
	sqlite3_finalize(writer->insert);
	sqlite_file_close(&writer->file);
}

static int writer_open(struct tracking_writer *writer, const struct export_job *job)
{
	writer->sqlite = has_extension(job->output, "sqlite db");
	if (writer->sqlite)
		return sqlite_file_open(&writer->file, job->output, job->problem);
	return output_open(&writer->output, job->output, is_gzip_name(job->output), job->problem);
}

static void begin_table(struct tracking_writer *writer, const char *table, const char *const *names,
			const struct rt_value *types, size_t count)
{
	CLEANUP_BUFFER struct buffer create = BUFFER(1 << 16), insert = BUFFER(1 << 16);
	static const char *const TYPES[] = {[RT_TYPE_NONE] = "FLOAT",
					    [RT_TYPE_REAL] = "FLOAT",
					    [RT_TYPE_COUNT] = "INTEGER",
					    [RT_TYPE_TEXT] = "VARCHAR"};

	if (!writer->sqlite) {
		for (size_t i = 0; i < count; i++)
			buffer_printf(&writer->text, "%s%s", i ? "," : "", names[i]);
		buffer_add_text(&writer->text, "\r\n");
		output_write(&writer->output, &writer->text);
		return;
	}
	buffer_printf(&create, "CREATE TABLE %s (", table);
	buffer_printf(&insert, "INSERT INTO %s VALUES (", table);
	for (size_t i = 0; i < count; i++) {
		buffer_printf(&create, "%s%s %s", i ? ", " : "", names[i], TYPES[types[i].type]);
		buffer_add_text(&insert, i ? ", ?" : "?");
	}
	buffer_add_char(&create, ')');
	buffer_add_char(&insert, ')');
	sqlite_file_run(&writer->file, create.data);
	sqlite3_finalize(writer->insert);
	writer->insert = sqlite_file_prepare(&writer->file, insert.data);
}

static void write_row(struct tracking_writer *writer, const struct rt_value *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (writer->sqlite) {
			sqlite_file_bind(&writer->file, writer->insert, (int)i + 1, cells[i]);
			continue;
		}
		buffer_add_text(&writer->text, i ? "," : "");
		if (cells[i].type != RT_TYPE_NONE)
			cell_add_text(&writer->text, cells[i]);
	}
	if (writer->sqlite) {
		sqlite_file_insert(&writer->file, writer->insert);
		return;
	}
	buffer_add_text(&writer->text, "\r\n");
	output_write(&writer->output, &writer->text);
}

static int writer_finish(struct tracking_writer *writer, struct rt_problem *problem)
{
	if (!writer->sqlite)
		return output_finish(&writer->output, problem);
	sqlite3_finalize(writer->insert);
	writer->insert = NULL;
	return sqlite_file_finish(&writer->file, problem);
}

static int write_samples(struct tracking_writer *writer, const struct tracking *tracking,
			 const struct export_job *job)
{
	struct metric_set wanted = {0};
	struct record *record = NULL;
	const struct frame *frame;
	struct rt_value cells[DATA] = {{0}};
	size_t skip = 0, count = 0, written = 0;
	int result;

	metric_set_add_kind(&wanted, ROW_tree);
	metric_set_add_kind(&wanted, ROW_totals);
	WANT(&wanted, host_cpu, utilization_pct);
	WANT(&wanted, memory, used_mib);
	WANT(&wanted, gpu, utilization_pct);
	WANT(&wanted, gpu, uuid);
	result = export_open_last_run(job, &wanted, &record, &skip, &count);
	for (size_t i = 0; result >= 0 && i < skip + count && (result = record_next(record, &frame)) > 0;
	     i++) {
		if (i < skip || !FIRST(frame, tree))
			continue;
		fill_data(tracking, frame, FIRST(frame, tree), cells);
		if (!written++)
			begin_table(writer, "data", DATA_NAMES, cells, DATA);
		write_row(writer, cells, DATA);
	}
	/* The reader counts damage at the end of a file. */
	while (result > 0)
		result = record_next(record, &frame);
	if (result == 0)
		writer->bad_lines = record_damage(record).bad_lines;
	record_close(record);
	return result;
}

static int describe_tracking(const struct export_job *job, struct tracking *ret_tracking)
{
	const struct rt_gpu_tracker_options *options = job->gpu_tracker;
	rt_summary *summary = NULL;
	int result = gpu_tracker_units_find(options, &ret_tracking->units, job->problem);

	if (result == 0)
		result = rt_summary_read_gpus(job->paths, job->path_count, options->gpu_uuids,
					      options->gpu_uuid_count, &summary, job->problem);
	if (result < 0)
		return result;
	ret_tracking->cores = real_of_count(summary->facts.core_count);
	ret_tracking->expected_cores =
		options->expected_cores > 0 ? options->expected_cores : ret_tracking->cores;
	ret_tracking->gpus = (double)summary->facts.gpu_count;
	ret_tracking->expected_gpus = options->expected_gpus > 0 ? options->expected_gpus
				      : options->gpu_uuid_count  ? (double)options->gpu_uuid_count
								 : ret_tracking->gpus;
	ret_tracking->options = options;
	ret_tracking->ram_capacity = summary->facts.total_memory_mib * MIB * ret_tracking->units.ram.factor;
	ret_tracking->gpu_ram_capacity =
		summary->facts.gpu_memory_mib * MIB * ret_tracking->units.gpu_ram.factor;
	rt_summary_free(summary);
	return 0;
}

int export_gpu_tracker(const struct export_job *job)
{
	__attribute__((cleanup(gpu_tracker_writer_done))) struct tracking_writer writer = {
		.output = {.fd = -1},
		.text = BUFFER(1 << 20),
	};
	struct rt_value statics[STATICS];
	struct tracking tracking;
	int result = describe_tracking(job, &tracking);

	if (result == 0)
		result = writer_open(&writer, job);
	if (result < 0)
		return result;
	fill_static(&tracking, statics);
	begin_table(&writer, "static_data", STATIC_NAMES, statics, STATICS);
	write_row(&writer, statics, STATICS);
	result = write_samples(&writer, &tracking, job);
	if (result == 0)
		result = writer_finish(&writer, job->problem);
	return result == 0 ? export_tell_damage(job, 0, writer.bad_lines) : result;
}
