/* Reads a snapshot of the Python package. See package_snapshot.h. */
#include "record/package_snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "format/json_scan.h"
#include "metric/typed_rows.h"

enum { SNAPSHOT_BYTES = 1 << 30 };

/* The rows of one of the two trackers. */
struct rows {
	struct scan list; /* from the next row on. Empty: no rows left */
	struct csv_decoder columns;
	bool any;
};

struct snapshot {
	struct buffer text;
	struct rows process, system;
	struct scan metadata, server; /* JSON objects. Empty: absent */
};

static const char *const KEYS[] = {"metadata",       "server_info", "cloud_info", "process_metrics",
				   "system_metrics", "step_failed", "tracker",    "historical_stats"};

bool snapshot_begins(struct scan start)
{
	struct scan key;

	if (!json_take(&start, '{') || !json_quoted(&start, &key))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
		if (scan_is(&key, KEYS[i]))
			return true;
	return false;
}

/* Iterates over the members of an object: reads a key and steps over its value. */
static bool next_member(struct scan *object, bool *first, struct scan *ret_key, struct scan *ret_value)
{
	const char *start;

	if (!json_take(object, *first ? '{' : ','))
		return false;
	*first = false;
	if (!json_quoted(object, ret_key) || !json_take(object, ':'))
		return false;
	start = object->at;
	if (!json_skip(object))
		return false;
	*ret_value = (struct scan){start, object->at};
	return true;
}

/* The headings of the first row determine the layout of all rows. */
static bool begin_rows(struct rows *rows, struct scan list)
{
	CLEANUP_BUFFER struct buffer header = BUFFER(1 << 16);
	struct scan key, value;
	bool first = true;

	if (!json_take(&list, '['))
		return false;
	rows->list = list;
	if (!scan_left(&list) || *list.at != '{')
		return scan_left(&list) && *list.at == ']';
	while (next_member(&list, &first, &key, &value)) {
		buffer_add_text(&header, header.length ? "," : "");
		buffer_add(&header, key.at, scan_left(&key));
	}
	rows->any =
		header.length && csv_decoder_header(&rows->columns, scan_bytes(header.data, header.length));
	return rows->any;
}

/* If `outermost`, the snapshot may also be the member "tracker" of a larger object. */
static bool find_parts(struct snapshot *snapshot, struct scan json, bool outermost)
{
	struct scan key, value, tracker = {0};
	bool first = true, whole = true;

	while (next_member(&json, &first, &key, &value)) {
		if (scan_is(&key, "metadata"))
			snapshot->metadata = value;
		else if (scan_is(&key, "server_info"))
			snapshot->server = value;
		else if (scan_is(&key, "process_metrics"))
			whole &= begin_rows(&snapshot->process, value);
		else if (scan_is(&key, "system_metrics"))
			whole &= begin_rows(&snapshot->system, value);
		else if (outermost && scan_is(&key, "tracker"))
			tracker = value;
	}
	if (!json_take(&json, '}') || !whole)
		return false;
	if (scan_left(&tracker))
		return outermost && !snapshot->process.list.at && !snapshot->system.list.at &&
		       find_parts(snapshot, tracker, false);
	return snapshot->process.list.at || snapshot->system.list.at;
}

static int read_snapshot(struct source *source, struct buffer *text)
{
	struct scan bytes;
	ssize_t got;

	do {
		int result = buffer_reserve(text, SOURCE_CHUNK_BYTES);

		if (result < 0)
			return result;
		got = source_read(source, text->data + text->length, SOURCE_CHUNK_BYTES);
		if (got > 0)
			text->length += (size_t)got;
	} while (got > 0);
	bytes = scan_bytes(text->data, text->length);
	return got < 0 ? (int)got : scan_left(&bytes) ? 0 : -ENODATA;
}

int snapshot_open(struct source *source, struct snapshot **ret_snapshot, struct rt_problem *problem)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int result;

	if (!snapshot)
		return problem_set(problem, -ENOMEM, "out of memory");
	snapshot->text = BUFFER(SNAPSHOT_BYTES);
	result = read_snapshot(source, &snapshot->text);
	if (result < 0) {
		snapshot_close(snapshot);
		return problem_set(problem, result, "%s: %s", source->path, strerror(-result));
	}
	if (!find_parts(snapshot, scan_bytes(snapshot->text.data, snapshot->text.length), true)) {
		snapshot_close(snapshot);
		return problem_set(problem, -EBADMSG, "%s: neither a whole snapshot nor samples, one a line",
				   source->path);
	}
	*ret_snapshot = snapshot;
	return 0;
}

void snapshot_close(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	csv_decoder_done(&snapshot->process.columns);
	csv_decoder_done(&snapshot->system.columns);
	buffer_done(&snapshot->text);
	free(snapshot);
}

/* Reads one row into the frame: 1, 0 at the end, or -EBADMSG. */
static int take_snapshot_row(struct rows *rows, struct frame *frame)
{
	struct scan *list = &rows->list, key, value;
	bool first = true;

	json_take(list, ',');
	if (!rows->any || !scan_left(list) || *list->at != '{')
		return 0;
	while (next_member(list, &first, &key, &value)) {
		const struct csv_column *column = csv_layout_column(rows->columns.layout, &key);

		if (column)
			csv_decoder_assign(&rows->columns, frame, column, scan_whole_real(value));
	}
	return json_take(list, '}') ? 1 : -EBADMSG;
}

int snapshot_next(struct snapshot *snapshot, struct frame *frame)
{
	int process = take_snapshot_row(&snapshot->process, frame);
	int system = process < 0 ? process : take_snapshot_row(&snapshot->system, frame);

	if (system < 0)
		return system;
	/* Both rows of a pair have a time stamp. The machine's row is read last, so its time stamp stays. */
	if (process + system < snapshot->process.any + snapshot->system.any)
		return 0;
	return process + system > 0 && !real_absent(frame->sample->timestamp);
}

static double snapshot_number(struct scan object, const char *name)
{
	struct scan key, value;
	bool first = true;

	while (next_member(&object, &first, &key, &value))
		if (scan_is(&key, name))
			return scan_whole_real(value);
	return no_real(ABSENT_NOT_COLLECTED);
}

static const char *snapshot_text(struct scan object, const char *name, struct frame *frame)
{
	struct scan key, value, raw;
	bool first = true;

	while (next_member(&object, &first, &key, &value))
		if (scan_is(&key, name) && json_quoted(&value, &raw)) {
			CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

			json_unescape(&text, &raw);
			return buffer_error(&text)
				       ? no_text(ABSENT_NOT_A_VALUE)
				       : frame_text(frame, text.data ? text.data : "", text.length);
		}
	return no_text(ABSENT_NOT_COLLECTED);
}

static void add_gpu_names(struct scan server, struct frame *frame, struct row *start)
{
	struct scan key, list, raw;
	bool first = true;

	while (next_member(&server, &first, &key, &list)) {
		if (!scan_is(&key, "gpu_names") || !json_take(&list, '['))
			continue;
		while (json_quoted(&list, &raw)) {
			CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

			json_unescape(&text, &raw);
			if (!buffer_error(&text) && text.length)
				ADD_ROW(frame, run_start_gpu, start)->name =
					frame_text(frame, text.data, text.length);
			json_take(&list, ',');
		}
	}
}

void snapshot_identity(const struct snapshot *snapshot, struct frame *frame)
{
	struct run_start_row *start = SINGLE_ROW(frame, run_start);
	double cores = snapshot_number(snapshot->server, "vcpus");

	start->interval_secs = snapshot_number(snapshot->metadata, "interval");
	start->os = snapshot_text(snapshot->server, "os", frame);
	if (!real_absent(cores) && cores > 0 && cores < 1e9)
		start->cpu_count = (int64_t)cores;
	start->memory_total_mib = snapshot_number(snapshot->server, "memory_mib");
	/* Version 0.4 says MB and means MiB. */
	if (real_absent(start->memory_total_mib))
		start->memory_total_mib = snapshot_number(snapshot->server, "memory_mb");
	add_gpu_names(snapshot->server, frame, &start->row);
}
