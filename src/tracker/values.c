/* Reads values by name: gives the catalogue's rows and fields as plain numbers. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "format/json_encode.h"
#include "base/sized.h"
#include "base/cleanup.h"
#include "base/scan.h"
#include "kernel/figures_from.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"
#include "tracker/values.h"

/* The number of a metric: its kind and its place in that kind, both from 1, because 0 means none. */
enum { KIND_SHIFT = 16, INDEX_MASK = 0xffff, NAME_SIZE = 160 };

rt_metric metric_number(enum row_kind kind, size_t index)
{
	return (rt_metric)((unsigned)kind + 1) << KIND_SHIFT | (rt_metric)(index + 1);
}

bool metric_of_number(rt_metric metric, enum row_kind *ret_kind, size_t *ret_index)
{
	uint32_t kind = (metric >> KIND_SHIFT) - 1, index = (metric & INDEX_MASK) - 1;

	if (!metric || kind >= ROW_KINDS || index >= ROW_DESCRIPTIONS[kind].metric_count ||
	    ROW_DESCRIPTIONS[kind].metrics[index].nature == RAW)
		return false;
	*ret_kind = (enum row_kind)kind;
	*ret_index = index;
	return true;
}

rt_metric rt_metric_next(rt_metric metric)
{
	uint32_t kind = metric ? (metric >> KIND_SHIFT) - 1 : 0;
	size_t index = metric ? metric & INDEX_MASK : 0;

	for (; kind < ROW_KINDS; kind++, index = 0)
		for (; index < ROW_DESCRIPTIONS[kind].metric_count; index++)
			if (ROW_DESCRIPTIONS[kind].metrics[index].nature != RAW)
				return metric_number((enum row_kind)kind, index);
	return 0;
}

rt_metric rt_metric_find(const char *name)
{
	for (rt_metric metric = name ? rt_metric_next(0) : 0; metric; metric = rt_metric_next(metric)) {
		char full_name[NAME_SIZE];
		enum row_kind kind;
		size_t index;

		if (metric_of_number(metric, &kind, &index) &&
		    metric_full_name(kind, index, full_name, sizeof full_name) > 0 &&
		    strcmp(name, full_name) == 0)
			return metric;
	}
	return 0;
}

static bool has_many(enum row_kind kind)
{
	for (; kind != ROW_sample; kind = ROW_DESCRIPTIONS[kind].parent)
		if (ROW_DESCRIPTIONS[kind].shape >= ARRAY)
			return true;
	return false;
}

static enum rt_type public_type(enum metric_type type)
{
	switch (type) {
	case TYPE_REAL:
		return RT_TYPE_REAL;
	case TYPE_COUNT:
		return RT_TYPE_COUNT;
	case TYPE_TEXT:
		return RT_TYPE_TEXT;
	case TYPE_FLAG:
		return RT_TYPE_FLAG;
	}
	return RT_TYPE_REAL;
}

int rt_metric_get_info(rt_metric metric, struct rt_metric_info *ret_info)
{
	static const char *const NATURES[] = {
		[COUNTER] = "counter", [GAUGE] = "gauge",         [IDENTITY] = "identity",
		[RAW] = "raw",         [DELTA] = "delta",         [RATE_WINDOWED] = "rate",
		[RATE_EXACT] = "rate", [SUM_OF_DELTAS] = "delta", [SUM_OF_RATES] = "rate",
	};
	const struct row_description *description;
	const struct metric *described;
	struct rt_metric_info info;
	enum row_kind kind;
	size_t index;

	if (!metric_of_number(metric, &kind, &index))
		return -ENOENT;
	description = &ROW_DESCRIPTIONS[kind];
	described = &description->metrics[index];
	info = (struct rt_metric_info){
		.size = sizeof info,
		.key = described->name,
		.unit = described->unit,
		.kind = NATURES[described->nature],
		.source = description->source,
		.cost = description->cost,
		.help = described->help,
		.type = public_type(described->type),
		.decimals = described->decimals,
		.many = has_many(kind),
	};
	metric_full_name(kind, index, info.name, sizeof info.name);
	row_path(kind, info.group, sizeof info.group);
	return copy_sized(ret_info, &info, sizeof info, SIZE_UP_TO(struct rt_metric_info, many));
}

static const struct row *instance_of(const struct frame *frame, enum row_kind kind, size_t instance)
{
	const struct row *row = frame->first[kind];

	while (row && instance--)
		row = row->next;
	return row;
}

struct rt_value value_in_row(const struct row *row, enum row_kind kind, size_t index)
{
	const struct metric *metric = &ROW_DESCRIPTIONS[kind].metrics[index];
	size_t offset = metric_offset(index);
	struct rt_value value = {.type = RT_TYPE_NONE};

	value.reason = row ? field_absent(row, metric->type, offset) : ABSENT_NOT_COLLECTED;
	if (value.reason)
		return value;
	value.type = public_type(metric->type);
	if (metric->type == TYPE_REAL)
		value.real = *row_real(row, offset);
	else if (metric->type == TYPE_TEXT)
		value.text = *row_text(row, offset);
	else
		value.count = *row_count(row, offset);
	return value;
}

bool instance_is_missing(enum row_kind kind, size_t instance)
{
	return has_many(kind) || instance;
}

/* Later samples, also from another thread, overwrite the frame's text. */
static int keep_value_text(struct rt_tracker *tracker, struct rt_value *value)
{
	if (value->type != RT_TYPE_TEXT)
		return 0;
	value->text = texts_keep(&tracker->texts, value->text);
	return value->text ? 0 : -ENOMEM;
}

static int newest_value(struct rt_tracker *tracker, enum row_kind kind, size_t index, size_t instance,
			struct rt_value *ret_value)
{
	const struct frame *frame = tracker_newest(tracker);
	const struct row *row = frame ? instance_of(frame, kind, instance) : NULL;

	if (!frame)
		return -ENODATA;
	if (!row && instance_is_missing(kind, instance))
		return -ENOENT;
	*ret_value = value_in_row(row, kind, index);
	return keep_value_text(tracker, ret_value);
}

int rt_get(struct rt_tracker *tracker, rt_metric metric, size_t instance, struct rt_value *ret_value)
{
	struct rt_value value;
	enum row_kind kind;
	size_t index;
	int error;

	if (!metric_of_number(metric, &kind, &index))
		return -ENOENT;
	if (!tracker_lock(tracker))
		return -ECHILD;
	error = tracker->apart ? apart_value(tracker, metric, instance, NULL, &value)
			       : newest_value(tracker, kind, index, instance, &value);
	tracker_unlock(tracker);
	if (!error)
		*ret_value = value;
	return error;
}

int find_named_place(const char *name, struct metric_place *ret_place)
{
	char plain[NAME_SIZE];

	*ret_place = (struct metric_place){0};
	if (!name)
		return -ENOENT;
	if (!metric_place_split(name, plain, sizeof plain, ret_place))
		return -EINVAL;
	if (!metric_place_find(plain, ret_place) || metric_place_metric(ret_place)->nature == RAW)
		return -ENOENT;
	if (metric_place_settle(ret_place) != PLACE_GOOD ||
	    (ret_place->choice >= PLACE_SUM && metric_place_metric(ret_place)->type == TYPE_TEXT))
		return -EINVAL;
	return 0;
}

int value_at_place(const struct frame *frame, const struct metric_place *place, struct rt_value *ret_value)
{
	const struct row *row;
	double real;

	if (place->choice >= PLACE_SUM) {
		real = metric_place_real(place, frame);
		*ret_value = isnan(real) ? (struct rt_value){.reason = ABSENT_NOT_COLLECTED}
					 : (struct rt_value){.type = RT_TYPE_REAL, .real = real};
		return 0;
	}
	row = metric_place_row(place, frame);
	if (!row && place->choice == PLACE_KEY)
		return -ENOENT;
	*ret_value = value_in_row(row, place->kind, place->index);
	return 0;
}

static int named_value(struct rt_tracker *tracker, const struct metric_place *place,
		       struct rt_value *ret_value)
{
	const struct frame *frame = tracker_newest(tracker);
	int error = frame ? value_at_place(frame, place, ret_value) : -ENODATA;

	return error ? error : keep_value_text(tracker, ret_value);
}

int rt_get_named(struct rt_tracker *tracker, const char *name, struct rt_value *ret_value)
{
	struct metric_place place;
	struct rt_value value;
	int error = find_named_place(name, &place);

	if (error)
		return error;
	if (!tracker_lock(tracker))
		return -ECHILD;
	error = tracker->apart ? apart_value(tracker, 0, 0, name, &value)
			       : named_value(tracker, &place, &value);
	tracker_unlock(tracker);
	if (!error)
		*ret_value = value;
	return error;
}

size_t rt_instance_count(struct rt_tracker *tracker, rt_metric metric)
{
	const struct frame *frame;
	enum row_kind kind;
	size_t index, count = 0;

	if (!metric_of_number(metric, &kind, &index))
		return 0;
	if (!tracker_lock(tracker))
		return 0;
	if (tracker->apart) {
		int64_t there = apart_ask(tracker, REMOTE_INSTANCES, metric, 0);

		tracker_unlock(tracker);
		return there < 0 ? 0 : (size_t)there;
	}
	frame = tracker_newest(tracker);
	for (const struct row *row = frame ? frame->first[kind] : NULL; row; row = row->next)
		count++;
	tracker_unlock(tracker);
	return count;
}

/* Moves the text of a buffer to the caller. */
static int give_text(struct buffer *buffer, char **ret_text)
{
	buffer_add(buffer, "", 0);
	if (buffer_error(buffer)) {
		int error = buffer_error(buffer);

		buffer_done(buffer);
		return error;
	}
	*ret_text = buffer->data;
	return 0;
}

/* A text that another process makes. The lock is held and is released. */
static int text_there(struct rt_tracker *tracker, enum remote_question question, char **ret_text)
{
	int error = apart_text(tracker, question, 0, ret_text);

	tracker_unlock(tracker);
	return error;
}

int rt_sample_json(struct rt_tracker *tracker, char **ret_json)
{
	struct buffer json = BUFFER(16 << 20);
	const struct frame *frame;

	if (!tracker_lock(tracker))
		return -ECHILD;
	if (tracker->apart)
		return text_there(tracker, REMOTE_SAMPLE_JSON, ret_json);
	frame = tracker_newest(tracker);
	if (frame)
		write_frame_json(&json, frame, false);
	tracker_unlock(tracker);
	return frame ? give_text(&json, ret_json) : -ENODATA;
}

static void explain_row(struct buffer *text, const struct row *row)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		const struct metric *metric = &description->metrics[i];
		int reason = field_absent(row, metric->type, metric_offset(i));
		char name[NAME_SIZE];

		if (!reason || metric->nature == RAW)
			continue;
		metric_full_name(row->kind, i, name, sizeof name);
		buffer_add_text(text, name);
		if (description->key_offset && !text_absent(*row_text(row, description->key_offset)))
			buffer_printf(text, " (%s)", *row_text(row, description->key_offset));
		buffer_printf(text, ": %s\n", absent_reason_text(reason));
	}
}

int rt_explain_absent(struct rt_tracker *tracker, char **ret_text)
{
	struct buffer text = BUFFER(1 << 20);
	const struct frame *frame;
	char name[NAME_SIZE];

	if (!tracker_lock(tracker))
		return -ECHILD;
	if (tracker->apart)
		return text_there(tracker, REMOTE_EXPLAIN_ABSENT, ret_text);
	frame = tracker_newest(tracker);
	read_figures_from(&tracker->root, name, sizeof name);
	if (strcmp(name, "kernel") != 0)
		buffer_printf(&text,
			      "run_start.figures_from is %s, so some figures are not those of a kernel\n",
			      name);
	for (enum row_kind kind = 0; frame && kind < ROW_KINDS; kind++) {
		for (const struct row *row = frame->first[kind]; row; row = row->next)
			explain_row(&text, row);
		if (frame->missing[kind] && !frame->first[kind]) {
			row_path(kind, name, sizeof name);
			buffer_printf(&text, "%s: %s\n", name, absent_reason_text(frame->missing[kind]));
		}
	}
	tracker_unlock(tracker);
	return frame ? give_text(&text, ret_text) : -ENODATA;
}

static int next_warning_there(struct rt_tracker *tracker, char *ret_text, size_t size)
{
	CLEANUP_FREE char *text = NULL;
	int error = text_there(tracker, REMOTE_WARNING, &text);
	struct scan line;

	if (error < 0)
		return error;
	line = scan_bytes(text, strlen(text));
	scan_copy(&line, ret_text, size);
	return 0;
}

int rt_next_warning(struct rt_tracker *tracker, char *ret_text, size_t size)
{
	struct scan lines, line;
	int error = -ENOENT;

	if (!tracker_lock(tracker))
		return -ECHILD;
	if (tracker->apart)
		return next_warning_there(tracker, ret_text, size);
	streaming_hear(tracker);
	lines = scan_bytes(tracker->warnings.data, tracker->warnings.length);
	if (tracker->warnings.length && scan_line(&lines, &line)) {
		size_t left = scan_left(&lines);

		scan_copy(&line, ret_text, size);
		memmove(tracker->warnings.data, lines.at, left);
		tracker->warnings.length = left;
		error = 0;
	}
	tracker_unlock(tracker);
	return error;
}
