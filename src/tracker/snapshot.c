/* Snapshots: all values of one sample, in a frame of the caller's own. Nothing in them changes, so they need no lock. */
#include "tracker/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "metric/frame_pack.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"
#include "tracker/values.h"

enum { PACKED_MOST_BYTES = 16 << 20 };

struct rt_snapshot {
	struct frame frame;
	const struct row **rows; /* by kind, then in order */
	size_t first[ROW_KINDS + 1];
};

int tracker_pack_newest(rt_tracker *tracker, struct buffer *ret_bytes)
{
	const struct frame *frame;

	if (!tracker_lock(tracker))
		return -ECHILD;
	frame = tracker_newest(tracker);
	if (frame)
		frame_pack(ret_bytes, frame);
	tracker_unlock(tracker);
	return frame ? buffer_error(ret_bytes) : -ENODATA;
}

/* Rows by their position: a walk over all values does not begin each kind anew. */
static int list_rows(struct rt_snapshot *snapshot)
{
	size_t count = 0;

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (const struct row *row = snapshot->frame.first[kind]; row; row = row->next)
			count++;
	snapshot->rows = calloc(count, sizeof *snapshot->rows);
	if (!snapshot->rows)
		return -ENOMEM;
	count = 0;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		snapshot->first[kind] = count;
		for (const struct row *row = snapshot->frame.first[kind]; row; row = row->next)
			snapshot->rows[count++] = row;
	}
	snapshot->first[ROW_KINDS] = count;
	return 0;
}

static int unpack_snapshot(const struct buffer *bytes, rt_snapshot **ret_snapshot)
{
	struct rt_snapshot *snapshot = calloc(1, sizeof *snapshot);
	int error = snapshot ? frame_unpack(&snapshot->frame, bytes->data, bytes->length) : -ENOMEM;

	if (!error)
		error = list_rows(snapshot);
	if (error < 0)
		rt_snapshot_free(snapshot);
	else
		*ret_snapshot = snapshot;
	return error;
}

int rt_snapshot_take(rt_tracker *tracker, rt_snapshot **ret_snapshot)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(PACKED_MOST_BYTES);
	int error;

	if (!tracker || !tracker->apart) {
		error = tracker_pack_newest(tracker, &bytes);
		return error < 0 ? error : unpack_snapshot(&bytes, ret_snapshot);
	}
	if (!tracker_lock(tracker))
		return -ECHILD;
	error = (int)apart_ask(tracker, REMOTE_SNAPSHOT, 0, 0);
	if (!error)
		error = unpack_snapshot(&tracker->apart->answer, ret_snapshot);
	tracker_unlock(tracker);
	return error;
}

void rt_snapshot_free(rt_snapshot *snapshot)
{
	if (!snapshot)
		return;
	frame_done(&snapshot->frame);
	free(snapshot->rows);
	free(snapshot);
}

static size_t count_of_kind(const struct rt_snapshot *snapshot, enum row_kind kind)
{
	return snapshot->first[kind + 1] - snapshot->first[kind];
}

size_t rt_snapshot_count(const rt_snapshot *snapshot, rt_metric metric)
{
	enum row_kind kind;
	size_t index;

	return metric_of_number(metric, &kind, &index) ? count_of_kind(snapshot, kind) : 0;
}

int rt_snapshot_get(const rt_snapshot *snapshot, rt_metric metric, size_t instance,
		    struct rt_value *ret_value)
{
	const struct row *row = NULL;
	enum row_kind kind;
	size_t index;

	if (!metric_of_number(metric, &kind, &index))
		return -ENOENT;
	if (instance < count_of_kind(snapshot, kind))
		row = snapshot->rows[snapshot->first[kind] + instance];
	if (!row && instance_is_missing(kind, instance))
		return -ENOENT;
	*ret_value = value_in_row(row, kind, index);
	return 0;
}

int rt_snapshot_get_named(const rt_snapshot *snapshot, const char *name, struct rt_value *ret_value)
{
	struct metric_place place;
	int error = find_named_place(name, &place);

	return error < 0 ? error : value_at_place(&snapshot->frame, &place, ret_value);
}

/* Goes to the next metric that has a row. False: there is none. */
static bool next_entry(const struct rt_snapshot *snapshot, rt_metric *metric, size_t *instance)
{
	if (*metric && *instance + 1 < rt_snapshot_count(snapshot, *metric)) {
		++*instance;
		return true;
	}
	*instance = 0;
	do
		*metric = rt_metric_next(*metric);
	while (*metric && !rt_snapshot_count(snapshot, *metric));
	return *metric != 0;
}

int rt_snapshot_each(const rt_snapshot *snapshot, struct rt_snapshot_entry *entry)
{
	enum { LEAST = SIZE_UP_TO(struct rt_snapshot_entry, value) };
	struct rt_snapshot_entry next = {.size = sizeof next};
	const struct row *row;
	enum row_kind kind;
	size_t index, key;

	if (entry->size < LEAST)
		return -EINVAL;
	next.metric = entry->metric;
	next.instance = entry->instance;
	if (!next_entry(snapshot, &next.metric, &next.instance) ||
	    !metric_of_number(next.metric, &kind, &index))
		return 0;
	row = snapshot->rows[snapshot->first[kind] + next.instance];
	key = ROW_DESCRIPTIONS[kind].key_offset;
	next.key = key && !text_absent(*row_text(row, key)) ? *row_text(row, key) : NULL;
	next.value = value_in_row(row, kind, index);
	(void)copy_sized(entry, &next, sizeof next, LEAST);
	return 1;
}
