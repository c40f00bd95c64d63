/*
 * Writes recordings as Chrome's trace events in JSON, which Perfetto (ui.perfetto.dev), speedscope and chrome://tracing open.
 *
 * Each recording is a process of the trace. It has a track with the whole run, one for each program with a slice for each time in which
 * samples saw processes of it, counters, and the phases that the job marked as asynchronous events, because calls may overlap. Times are
 * microseconds since 1970, so that the steps of a workflow stand side by side.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "export/export.h"
#include "export/output.h"
#include "metric/typed_rows.h"
#include "verdict/run_summary.h"

enum { EVENTS_CEILING = 64 << 20, PROGRAMS_FIRST = 16, RUN_TRACK = 1 };

struct program_track {
	char *name;
	size_t seen; /* number of the last sample that had it. 0: no slice is open */
	double began, ended, cpu_secs, memory_mib;
};

struct trace_writer {
	const struct export_job *job;
	struct output output;
	struct buffer text;
	struct json_writer json;
	size_t process; /* from 1 */
	struct program_track *tracks;
	size_t track_count, track_room, samples;
	int64_t bad_lines, phase_calls;
};

static void forget_tracks(struct trace_writer *writer)
{
	for (size_t i = 0; i < writer->track_count; i++)
		free(writer->tracks[i].name);
	free(writer->tracks);
	writer->tracks = NULL;
	writer->track_count = writer->track_room = writer->samples = 0;
}

static void trace_writer_done(struct trace_writer *writer)
{
	forget_tracks(writer);
	output_close(&writer->output);
	buffer_done(&writer->text);
}

/* ---- events ------------------------------------------------------------------------------------------ */

static void begin_event(struct trace_writer *writer, const char *kind, const char *name, size_t track)
{
	json_open(&writer->json, '{');
	json_key(&writer->json, "ph");
	json_text(&writer->json, kind);
	json_key(&writer->json, "name");
	json_text(&writer->json, name);
	json_key(&writer->json, "pid");
	json_count(&writer->json, (int64_t)writer->process);
	json_key(&writer->json, "tid");
	json_count(&writer->json, (int64_t)track);
}

static void add_micros(struct trace_writer *writer, const char *key, double secs)
{
	json_key(&writer->json, key);
	json_count(&writer->json, llround(secs * 1e6));
}

/* Names a process ("process_name") or a track ("thread_name"). */
static void name_track(struct trace_writer *writer, const char *kind, size_t track, const char *name)
{
	begin_event(writer, "M", kind, track);
	json_key(&writer->json, "args");
	json_open(&writer->json, '{');
	json_key(&writer->json, "name");
	json_text(&writer->json, name);
	json_close(&writer->json, '}');
	json_close(&writer->json, '}');
}

static void add_counter(struct trace_writer *writer, const char *name, double at, double value)
{
	if (!isfinite(value))
		return;
	begin_event(writer, "C", name, RUN_TRACK);
	add_micros(writer, "ts", at);
	json_key(&writer->json, "args");
	json_open(&writer->json, '{');
	json_key(&writer->json, name);
	json_decimal(&writer->json, value, 3);
	json_close(&writer->json, '}');
	json_close(&writer->json, '}');
}

static void end_slice(struct trace_writer *writer, struct program_track *track)
{
	if (!track->seen)
		return;
	begin_event(writer, "X", track->name, (size_t)(track - writer->tracks) + RUN_TRACK + 1);
	add_micros(writer, "ts", track->began);
	add_micros(writer, "dur", track->ended - track->began);
	json_key(&writer->json, "args");
	json_open(&writer->json, '{');
	json_key(&writer->json, "cpu_secs");
	json_decimal(&writer->json, track->cpu_secs, 4);
	json_key(&writer->json, "memory_peak_mib");
	json_decimal(&writer->json, track->memory_mib, 3);
	json_close(&writer->json, '}');
	json_close(&writer->json, '}');
	track->seen = 0;
}

/* ---- samples ----------------------------------------------------------------------------------------- */

/* NULL without memory. */
static struct program_track *track_of(struct trace_writer *writer, const char *name)
{
	size_t more = writer->track_room ? 2 * writer->track_room : PROGRAMS_FIRST;
	struct program_track *grown;
	char *copy;

	for (size_t i = 0; i < writer->track_count; i++)
		if (strcmp(writer->tracks[i].name, name) == 0)
			return &writer->tracks[i];
	if (writer->track_count == writer->track_room) {
		grown = reallocarray(writer->tracks, more, sizeof(*grown));
		if (!grown)
			return NULL;
		writer->tracks = grown;
		writer->track_room = more;
	}
	copy = strdup(name);
	if (!copy)
		return NULL;
	writer->tracks[writer->track_count++] = (struct program_track){.name = copy};
	name_track(writer, "thread_name", writer->track_count + RUN_TRACK, name);
	return &writer->tracks[writer->track_count - 1];
}

/* Rows stay after the end of a program. Its processes wait as well as work, but some of them are there. */
static bool has_processes(const struct program_row *row)
{
	return row->cpu_secs > 0 || (!count_absent(row->process_count) && row->process_count > 0);
}

/* A program that the sample before had as well goes on: its slice becomes longer. */
static int add_programs(struct trace_writer *writer, const struct frame *frame, double from, double to)
{
	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program)) {
		struct program_track *track;

		if (text_absent(row->name) || !has_processes(row))
			continue;
		track = track_of(writer, row->name);
		if (!track)
			return -ENOMEM;
		if (track->seen != writer->samples - 1)
			end_slice(writer, track);
		if (!track->seen) {
			track->began = from;
			track->cpu_secs = 0;
			track->memory_mib = NAN;
		}
		track->seen = writer->samples;
		track->ended = to;
		track->cpu_secs += isnan(row->cpu_secs) ? 0 : row->cpu_secs;
		track->memory_mib = fmax(track->memory_mib, row->memory_mib);
	}
	return 0;
}

static int add_trace_sample(struct trace_writer *writer, const struct frame *frame, double began)
{
	const struct sample_row *sample = FIRST(frame, sample);
	const struct tree_row *tree = FIRST(frame, tree);
	double secs, from;

	if (!sample || isnan(sample->timestamp))
		return 0;
	secs = sample->actual_interval_ms / 1000;
	from = fmax(began, sample->timestamp - (isnan(secs) ? 0 : secs));
	writer->samples++;
	if (tree) {
		/* A rate is that of the time before its sample. */
		add_counter(writer, "cores", from, tree->process_cores_used);
		add_counter(writer, "memory MiB", sample->timestamp, tree->process_memory_mib);
		if (!count_absent(tree->process_disk_read_bytes) && secs > 0)
			add_counter(writer, "disk read MiB/s", from,
				    (double)tree->process_disk_read_bytes / secs / (1 << 20));
		if (!count_absent(tree->process_disk_write_bytes) && secs > 0)
			add_counter(writer, "disk write MiB/s", from,
				    (double)tree->process_disk_write_bytes / secs / (1 << 20));
		add_counter(writer, "GPUs", from, tree->process_gpu_usage);
	}
	return add_programs(writer, frame, from, sample->timestamp);
}

static void add_trace_phases(struct trace_writer *writer, const struct phases *phases)
{
	for (size_t i = 0; i < phases->count; i++)
		for (size_t call = 0; call < 2 * phases->list[i].call_count; call++) {
			const struct phase_call *one = &phases->list[i].calls[call / 2];

			begin_event(writer, call % 2 ? "e" : "b", phases->list[i].name, RUN_TRACK);
			json_key(&writer->json, "cat");
			json_text(&writer->json, "phase");
			json_key(&writer->json, "id");
			json_count(&writer->json, writer->phase_calls += 1 - (int64_t)(call % 2));
			add_micros(writer, "ts", call % 2 ? one->stop : one->start);
			json_close(&writer->json, '}');
		}
}

/* The whole run on its track, and the end of its counters: a job that has ended uses nothing. */
static void add_whole_run(struct trace_writer *writer, const struct run_facts *facts, double ended)
{
	static const char *const COUNTERS[] = {"cores", "memory MiB"};

	begin_event(writer, "X", facts->run_name, RUN_TRACK);
	add_micros(writer, "ts", facts->started);
	add_micros(writer, "dur", fmax(0, ended - facts->started));
	json_key(&writer->json, "args");
	json_open(&writer->json, '{');
	json_key(&writer->json, "end");
	json_text(&writer->json, facts->end_words);
	json_close(&writer->json, '}');
	json_close(&writer->json, '}');
	for (size_t i = 0; i < ARRAY_SIZE(COUNTERS) && FIRST(record_identity(facts->record), run_end); i++)
		add_counter(writer, COUNTERS[i], ended, 0);
}

static int write_trace_samples(struct trace_writer *writer, const struct export_job *one, double began)
{
	CLEANUP_RECORD struct record *record = NULL;
	struct metric_set wanted = {0};
	const struct frame *frame;
	size_t skip, count;
	int result;

	WANT(&wanted, tree, process_cores_used);
	WANT(&wanted, tree, process_memory_mib);
	WANT(&wanted, tree, process_disk_read_bytes);
	WANT(&wanted, tree, process_disk_write_bytes);
	WANT(&wanted, tree, process_gpu_usage);
	WANT(&wanted, program, cpu_secs);
	WANT(&wanted, program, memory_mib);
	WANT(&wanted, program, process_count);
	result = export_open_last_run(one, &wanted, &record, &skip, &count);
	for (size_t i = 0; result >= 0 && i < skip + count && (result = record_next(record, &frame)) > 0;
	     i++) {
		if (i >= skip && add_trace_sample(writer, frame, began) < 0)
			result = problem_set(one->problem, -ENOMEM, "out of memory");
		output_write(&writer->output, &writer->text);
	}
	return result < 0 ? result : 0;
}

static int write_trace_run(struct trace_writer *writer, const char *path)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	struct export_job one = *writer->job;
	const struct run_facts *facts;
	double ended;
	int result;

	one.paths = &path;
	one.path_count = 1;
	result = export_check_rereadable(&one);
	if (result == 0)
		result = rt_summary_read(&path, 1, &summary, one.problem);
	if (result < 0)
		return result;
	facts = &summary->facts;
	ended = facts->recorded_secs > 0 ? facts->started + facts->recorded_secs : facts->ended;
	writer->bad_lines += record_damage(facts->record).bad_lines;
	writer->process++;
	name_track(writer, "process_name", RUN_TRACK, facts->run_name);
	name_track(writer, "thread_name", RUN_TRACK, "run");
	result = write_trace_samples(writer, &one, facts->started);
	for (size_t i = 0; i < writer->track_count; i++)
		end_slice(writer, &writer->tracks[i]);
	add_trace_phases(writer, &summary->phases);
	add_whole_run(writer, facts, ended);
	output_write(&writer->output, &writer->text);
	forget_tracks(writer);
	return result;
}

int export_perfetto(const struct export_job *job)
{
	__attribute__((cleanup(trace_writer_done))) struct trace_writer writer = {
		.job = job, .output = {.fd = -1}, .text = BUFFER(EVENTS_CEILING)};
	int result = output_open(&writer.output, job->output, is_gzip_name(job->output), job->problem);

	writer.json = JSON_WRITER(&writer.text);
	if (result < 0)
		return result;
	json_open(&writer.json, '{');
	json_key(&writer.json, "displayTimeUnit");
	json_text(&writer.json, "ms");
	json_key(&writer.json, "traceEvents");
	json_open(&writer.json, '[');
	for (size_t i = 0; i < job->path_count && result == 0; i++)
		result = write_trace_run(&writer, job->paths[i]);
	if (result < 0)
		return result;
	json_close(&writer.json, ']');
	json_close(&writer.json, '}');
	buffer_add_char(&writer.text, '\n');
	output_write(&writer.output, &writer.text);
	result = output_finish(&writer.output, job->problem);
	return result < 0 ? result : export_tell_damage(job, 0, writer.bad_lines);
}
