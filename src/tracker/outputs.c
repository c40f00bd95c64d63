/* The outputs of a tracker: opens them, writes each sample to each, and collects their warnings. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ends_with.h"
#include "base/file_place.h"
#include "base/runs_once.h"
#include "collect/run_rows.h"
#include "format/gzip_member.h"
#include "launch/in_time.h"
#include "sink/output_path.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"

enum {
	LINE_CEILING = 16 << 20,
	MESSAGE_SIZE = 512,
	CSV_HEAD_CEILING = 1 << 16,
	NUMBERS_MOST = 9999, /* the highest number that a name gets */
};

/* Time for all files that are kept by processes of their own, until these have written the rest. */
#define BESIDE_PATIENCE_NS (600 * NSEC_PER_MSEC)
/* Time for the readers of pipes, and how long one may take nothing before it is given up. */
#define END_PATIENCE_NS (1 * NSEC_PER_SEC)
#define STILL_NS (100 * NSEC_PER_MSEC)

void tracker_warn(struct rt_tracker *tracker, const char *text)
{
	/*
	 * If the caller never takes warnings, the buffer must not grow without limit: later warnings are
	 * dropped.
	 */
	if (tracker->warnings.length + strlen(text) + 1 > WARNINGS_CEILING)
		return;
	buffer_add_text(&tracker->warnings, text);
	buffer_add_char(&tracker->warnings, '\n');
}

void tracker_take_warning(struct rt_tracker *tracker)
{
	if (tracker->context.warning)
		tracker_warn(tracker, tracker->context.warning);
	tracker->context.warning = NULL;
}

static const struct sample_format *choose_format(const struct rt_config *config,
						 const struct config_output *output)
{
	const struct sample_format *by_extension =
		output->fd < 0 ? sample_format_for_path(output->path) : NULL;

	switch (output->format != FORMAT_BY_EXTENSION ? output->format : config->format) {
	case FORMAT_JSON:
		return &JSONL_FORMAT;
	case FORMAT_CSV:
		return &CSV_FORMAT;
	case FORMAT_BY_EXTENSION:
		break;
	}
	return by_extension ? by_extension : &JSONL_FORMAT;
}

static struct target_options target_options(struct rt_tracker *tracker, const struct tracker_output *output,
					    struct buffer *csv_head)
{
	struct format_options with_header = output->options;

	with_header.header = true;
	if (output->format == &CSV_FORMAT)
		output->format->begin(csv_head, &with_header);
	return (struct target_options){
		.append = tracker->config->append,
		.text = (output->format == &CSV_FORMAT ? LINES_CSV : LINES_JSON) +
			(output->is_compressed ? MEMBERS_JSON : LINES_JSON),
		.csv_head = csv_head->data,
		.beside = tracker->config->own_process,
	};
}

static void tell_why_not_expanded(const char *path, int error, char *message, size_t size)
{
	if (error == -EINVAL)
		snprintf(message, size, "output '%s': %% must be followed by h, p, t, r, u or %%", path);
	else if (error == -ENOENT)
		snprintf(message, size, "output '%s': the name is empty; add letters to it", path);
	else
		snprintf(message, size, "output '%s': %s", path,
			 strerror(error == -ENOBUFS ? ENAMETOOLONG : -error));
}

static int open_output_target(struct rt_tracker *tracker, const struct config_output *output,
			      struct tracker_output *opened, char *message, size_t size)
{
	const struct rt_config *config = tracker->config;
	CLEANUP_BUFFER struct buffer csv_head = BUFFER(CSV_HEAD_CEILING);
	struct target_options options = target_options(tracker, opened, &csv_head);
	struct output_path_values values = {
		.host = tracker->host_name,
		.pid = getpid(),
		.start_time_secs = root_realtime_ns(&tracker->root) / NSEC_PER_SEC,
		.rank = config->rank,
	};
	int error;

	if (output->fd >= 0)
		return target_from_fd(output->fd, output->path, &options, &opened->target, message, size);
	do {
		CLEANUP_BUFFER struct buffer path = BUFFER(4096);

		error = expand_output_path(output->path, &values, &path);
		if (error < 0) {
			tell_why_not_expanded(output->path, error, message, size);
			return error;
		}
		options.fresh = error > 0;
		values.number += values.number ? 1 : 2;
		free(opened->path);
		opened->path = strdup(path.data);
		error = opened->path ? target_open(path.data, &options, &opened->target, message, size)
				     : -ENOMEM;
	} while ((error == -EEXIST || error == -EBUSY) && options.fresh && values.number <= NUMBERS_MOST);
	return error;
}

static void tell_of_repair(struct rt_tracker *tracker, const struct tracker_output *output)
{
	const struct tail_repair *repair = &target_opening(output->target)->repair;
	char message[MESSAGE_SIZE];

	if (!repair->cut_bytes)
		return;
	snprintf(message, sizeof message, "%lld bytes of a torn last line were removed from %s",
		 (long long)repair->cut_bytes, output->path);
	tracker_warn(tracker, message);
}

/* Returns the record as it is written: tracker->line, or the same compressed. NULL: memory is exhausted. */
static const struct buffer *record_of_line(struct rt_tracker *tracker, const struct tracker_output *output)
{
	const struct buffer *record = &tracker->line;

	if (output->is_compressed && !buffer_error(record)) {
		buffer_clear(&tracker->packed);
		gzip_member_add(&tracker->packed, record->data, record->length,
				output->format == &CSV_FORMAT);
		record = &tracker->packed;
	}
	return buffer_error(record) ? NULL : record;
}

static void write_output_head(struct rt_tracker *tracker, struct tracker_output *output)
{
	const struct buffer *head;

	if (target_had_content(output->target))
		return;
	buffer_clear(&tracker->line);
	output->format->begin(&tracker->line, &output->options);
	head = tracker->line.length ? record_of_line(tracker, output) : NULL;
	if (head)
		(void)target_write_head(output->target, head->data, head->length);
}

bool tracker_is_lack(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}

/* The process that keeps the file does not belong to the job. */
static void leave_out_process(struct rt_tracker *tracker, const struct tracker_output *output)
{
	if (target_process(output->target))
		process_tree_exclude(tracker->tree, target_process(output->target));
}

struct rename_call {
	const char *path;
	unsigned number;
};

/* The empty file that is there gives way. */
static void rename_back(void *data)
{
	const struct rename_call *call = data;
	char from[PATH_MAX], to[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		const char *ending = i ? ".marks" : "";

		if (snprintf(from, sizeof from, "%s.%u%s", call->path, call->number, ending) < PATH_MAX &&
		    snprintf(to, sizeof to, "%s%s", call->path, ending) < PATH_MAX)
			(void)rename(from, to);
	}
}

void tracker_take_outputs_back(struct rt_tracker *tracker)
{
	for (size_t i = 0; i < tracker->output_count; i++) {
		struct tracker_output *output = &tracker->outputs[i];
		const struct target_opening *opening = target_opening(output->target);
		struct rename_call call = {output->path, opening->renamed_number};

		/* Another program may have put a file of its own there. */
		if (!opening->is_new || target_size(output->target) > 0 ||
		    target_lost_its_name(output->target, true))
			continue;
		if (opening->renamed_number)
			(void)act_in_time(output->path, rename_back, &call, sizeof call);
		else
			unlink_in_time(output->path);
	}
}

/* Nothing was written yet. The caller may leave out the output that failed, and then opens the others again. */
static int give_up_outputs(struct rt_tracker *tracker, struct rt_config *config, size_t failed, int error,
			   const char *message)
{
	tracker_take_outputs_back(tracker);
	config_fail(config, error, "%s", *message ? message : strerror(-error));
	config->failed_output = failed + 1;
	return error;
}

RUNS_ONCE int tracker_open_outputs(struct rt_tracker *tracker, struct rt_config *config)
{
	const struct rt_config *settings = tracker->config;
	char message[MESSAGE_SIZE] = "";

	tracker->line = tracker->packed = BUFFER(LINE_CEILING);
	tracker->outputs =
		calloc(settings->output_count + 1, sizeof *tracker->outputs); /* one more for a spool */
	if (!tracker->outputs)
		return -ENOMEM;
	for (size_t i = 0; i < settings->output_count; i++) {
		const struct config_output *given = &settings->outputs[i];
		struct tracker_output *output = &tracker->outputs[tracker->output_count];
		int error;

		output->format = choose_format(settings, given);
		output->is_stderr = given->fd == STDERR_FILENO;
		output->is_compressed = given->fd < 0 && ends_with(given->path, ".gz");
		output->options = (struct format_options){
			.header = !settings->no_header,
			.static_once = settings->static_once,
			.layout = config_csv_layout_name(settings),
		};
		error = open_output_target(tracker, given, output, message, sizeof message);
		if (error < 0) {
			free(output->path);
			*output = (struct tracker_output){.path = NULL};
			if (!settings->own_process || is_place_mistake(error) || tracker_is_lack(error))
				return give_up_outputs(tracker, config, i, error, message);
			tracker_warn(tracker, *message ? message : strerror(-error));
			continue;
		}
		tracker->output_count++;
		leave_out_process(tracker, output);
		tell_of_repair(tracker, output);
	}
	for (size_t i = 0; i < tracker->output_count; i++)
		write_output_head(tracker, &tracker->outputs[i]);
	return 0;
}

int tracker_add_spool(struct rt_tracker *tracker, const char *path)
{
	struct tracker_output *output = &tracker->outputs[tracker->output_count];
	struct target_options options = {.text = LINES_JSON, .beside = tracker->config->own_process};
	char message[MESSAGE_SIZE];
	int error;

	*output = (struct tracker_output){
		.format = &JSONL_FORMAT,
		.options = {.static_once = tracker->config->static_once},
		.path = strdup(path),
		.is_spool = true,
	};
	error = output->path ? target_open(path, &options, &output->target, message, sizeof message)
			     : -ENOMEM;
	if (error < 0) {
		free(output->path);
		return error;
	}
	tracker->output_count++;
	leave_out_process(tracker, output);
	return 0;
}

void tracker_remove_spool(struct rt_tracker *tracker)
{
	struct tracker_output *output = &tracker->outputs[tracker->output_count - 1];

	target_close(output->target, 0);
	unlink_in_time(output->path);
	free(output->path);
	tracker->output_count--;
}

/* A target reports each kind of trouble once. */
static void collect_warning(struct rt_tracker *tracker, struct tracker_output *output)
{
	char message[MESSAGE_SIZE];

	while (target_take_warning(output->target, message, sizeof message))
		tracker_warn(tracker, message);
}

/* If a file was renamed or removed, opens a new one, which begins with a header as the first one did. Returns whether it did. */
static bool renew_target(struct rt_tracker *tracker, struct tracker_output *output)
{
	CLEANUP_BUFFER struct buffer csv_head = BUFFER(CSV_HEAD_CEILING);
	struct target_options options;
	char message[MESSAGE_SIZE];
	bool begins;

	if (output->is_spool || !target_lost_its_name(output->target, tracker->ending.reason))
		return false;
	options = target_options(tracker, output, &csv_head);
	begins = target_renew(output->target, &options, message, sizeof message);
	if (begins) {
		buffer_clear(&output->state.kept);
		output->state.started = false;
		write_output_head(tracker, output);
	}
	if (*message)
		tracker_warn(tracker, message);
	return begins;
}

/* Tells who the run is, as in the first sample. */
static void add_run_start(struct rt_tracker *tracker, struct frame *frame)
{
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (COLLECTORS[i] == &RUN_COLLECTOR && tracker->runs[i])
			run_start_add(tracker->states[i], &tracker->context, frame);
	/* Without memory for these rows the sample is still whole. */
	frame->error = 0;
}

static void drop_run_start(struct frame *frame)
{
	for (int kind = ROW_run_start; kind <= ROW_run_start_gpu; kind++)
		frame->first[kind] = frame->last[kind] = NULL;
}

void tracker_write_outputs(struct rt_tracker *tracker, struct frame *frame)
{
	int64_t dropped = 0;

	for (size_t i = 0; i < tracker->output_count; i++) {
		struct tracker_output *output = &tracker->outputs[i];
		const struct buffer *record;
		bool begins;

		/* A mistyped command gets a message there, which a sample would bury. */
		if (tracker->ending.exec_errno && output->is_stderr)
			continue;
		begins = renew_target(tracker, output) && !frame->first[ROW_run_start];
		if (begins)
			add_run_start(tracker, frame);
		buffer_clear(&tracker->line);
		output->format->sample(&tracker->line, frame, &output->options, &output->state);
		if (begins)
			drop_run_start(frame);
		record = record_of_line(tracker, output);
		if (record) {
			(void)target_write(output->target, record->data, record->length);
		} else {
			output->unwritten++;
			tracker_tell_of_lost_sample(tracker);
		}
		collect_warning(tracker, output);
		dropped += (int64_t)target_status(output->target).dropped_records + output->unwritten;
	}
	tracker->context.progress.dropped = dropped;
}

void tracker_end_outputs(struct rt_tracker *tracker)
{
	/* The status of a wrapped job is waited for. */
	int64_t still_ns = tracker->wrapped ? STILL_NS : INT64_MAX;
	int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);

	for (size_t i = 0; i < tracker->output_count; i++) {
		struct tracker_output *output = &tracker->outputs[i];

		(void)target_drain(output->target, now_ns + END_PATIENCE_NS, still_ns);
		target_end(output->target, now_ns + BESIDE_PATIENCE_NS);
		collect_warning(tracker, output);
	}
}

void tracker_close_targets(struct rt_tracker *tracker)
{
	/* Without an end of the recording, a slow reader gets this much time. */
	int64_t deadline_ns = tracker->finished ? 0 : SYSTEM_CLOCKS.monotonic_ns(NULL) + STILL_NS;

	for (size_t i = 0; i < tracker->output_count; i++) {
		target_close(tracker->outputs[i].target, deadline_ns);
		tracker->outputs[i].target = NULL;
	}
}

void tracker_close_outputs(struct rt_tracker *tracker)
{
	tracker_close_targets(tracker);
	for (size_t i = 0; i < tracker->output_count; i++) {
		buffer_done(&tracker->outputs[i].state.kept);
		free(tracker->outputs[i].path);
	}
	free(tracker->outputs);
	tracker->outputs = NULL;
	tracker->output_count = 0;
}

bool tracker_outputs_gone(const struct rt_tracker *tracker)
{
	size_t gone = 0;

	for (size_t i = 0; i < tracker->output_count; i++) {
		const struct tracker_output *output = &tracker->outputs[i];

		if (output->is_spool)
			continue;
		if (target_status(output->target).state != TARGET_GONE)
			return false;
		gone++;
	}
	return gone > 0;
}

static const char *path_there(struct rt_tracker *tracker, size_t index)
{
	CLEANUP_FREE char *path = NULL;
	const char *kept = NULL;

	if (!tracker_lock(tracker))
		return NULL;
	if (apart_text(tracker, REMOTE_OUTPUT_PATH, (int64_t)index, &path) == 0)
		kept = texts_keep(&tracker->texts, path);
	tracker_unlock(tracker);
	return kept;
}

const char *rt_output_path(struct rt_tracker *tracker, size_t index)
{
	if (!tracker)
		return NULL;
	if (tracker->apart)
		return path_there(tracker, index);
	/* The paths are set before rt_open() returns and never change, so no lock is needed. */
	for (size_t i = 0; i < tracker->output_count; i++)
		if (tracker->outputs[i].path && !tracker->outputs[i].is_spool && index-- == 0)
			return tracker->outputs[i].path;
	return NULL;
}
