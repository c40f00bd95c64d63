/* Writes OTLP requests. See otlp_encode.h. The numbers are those of opentelemetry/proto 1. */
#include "format/otlp_encode.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "figures/run_figures.h"
#include "format/json_scan.h"
#include "format/otlp_wire.h"
#include "metric/typed_rows.h"

enum { REQUEST_RESOURCES = 1, RESOURCE = 1, SCOPES = 2, SCOPE = 1, SCOPE_ITEMS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum { METRIC_NAME = 1, METRIC_UNIT = 3, METRIC_GAUGE = 5, METRIC_SUM = 7 };
enum { DATA_POINTS = 1, SUM_TEMPORALITY = 2, SUM_MONOTONIC = 3, CUMULATIVE = 2 };
enum { POINT_START = 2, POINT_TIME = 3, POINT_REAL = 4, POINT_ATTRIBUTES = 7, POINT_FLAGS = 8, NO_VALUE = 1 };
enum {
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTES = 6,
	LOG_TRACE = 9,
	LOG_SPAN = 10,
	LOG_OBSERVED = 11,
	LOG_EVENT = 12
};
enum {
	SEVERITY_INFO = 9,
	SEVERITY_WARN = 13,
	SEVERITY_ERROR = 17,
	TEXT_VALUE = 1,
	NAME_SIZE = 128,
	FIGURE_TEXT_BYTES = 16 << 10
};

/* Opens everything around the metrics or log records of one run. The three are closed in reverse. */
struct envelope {
	size_t resources;
	size_t scopes;
};

static struct envelope open_envelope(struct buffer *out, const struct otlp_resource *resource)
{
	struct envelope envelope = {.resources = otlp_open(out, REQUEST_RESOURCES)};
	size_t scope;

	otlp_resource_encode(resource, out, RESOURCE);
	envelope.scopes = otlp_open(out, SCOPES);
	scope = otlp_open(out, SCOPE);
	otlp_add_text(out, SCOPE_NAME, "resource-tracker");
	otlp_add_text(out, SCOPE_VERSION, RT_VERSION);
	otlp_close(out, scope);
	return envelope;
}

static void close_envelope(struct buffer *out, struct envelope envelope)
{
	otlp_close(out, envelope.scopes);
	otlp_close(out, envelope.resources);
}

/* ---- metrics ---------------------------------------------------------------------------------------------- */

static size_t open_point(struct buffer *out, const struct otlp_batch *batch, const struct otlp_series *series,
			 int64_t time_ns)
{
	size_t point = otlp_open(out, DATA_POINTS);

	if (series->form != OTLP_MEASURE)
		otlp_add_fixed64(out, POINT_START, (uint64_t)batch->start_ns);
	otlp_add_fixed64(out, POINT_TIME, (uint64_t)time_ns);
	return point;
}

static void close_point(struct buffer *out, const struct otlp_batch *batch, size_t slot, size_t point)
{
	const struct otlp_series *series = &OTLP_SERIES[otlp_slot_series(slot)];
	const char *key, *device = otlp_slot_device(&batch->devices, slot, &key);

	if (series->key)
		otlp_add_text_attribute(out, POINT_ATTRIBUTES, series->key,
					*series->value ? series->value : batch->reason);
	if (device)
		otlp_add_text_attribute(out, POINT_ATTRIBUTES, key, device);
	otlp_close(out, point);
}

static void add_any_value(struct buffer *out, const struct otlp_batch *batch, size_t slot, int64_t time_ns,
			  double value)
{
	size_t point = open_point(out, batch, &OTLP_SERIES[otlp_slot_series(slot)], time_ns);

	otlp_add_real(out, POINT_REAL, value);
	close_point(out, batch, slot, point);
}

static void add_mark_event(struct buffer *out, const struct otlp_batch *batch, size_t slot, int64_t time_ns)
{
	size_t point = open_point(out, batch, &OTLP_SERIES[otlp_slot_series(slot)], time_ns);

	otlp_add_count(out, POINT_FLAGS, NO_VALUE);
	close_point(out, batch, slot, point);
}

static void add_points(struct buffer *out, const struct otlp_batch *batch, size_t slot)
{
	if (otlp_set_has(&batch->zero, slot))
		add_any_value(out, batch, slot, batch->start_ns, 0);
	for (size_t i = 0; i < batch->count; i++) {
		const struct otlp_point *point = &batch->points[i];

		if (otlp_set_has(&point->present, slot))
			add_any_value(out, batch, slot, point->time_ns, point->values[slot]);
		else if (otlp_set_has(&point->gone, slot))
			add_mark_event(out, batch, slot, point->time_ns);
	}
	if (otlp_set_has(&batch->stale, slot))
		add_mark_event(out, batch, slot, batch->stale_ns);
}

static bool has_points(const struct otlp_batch *batch, size_t slot)
{
	bool any = otlp_set_has(&batch->stale, slot) || otlp_set_has(&batch->zero, slot);

	for (size_t i = 0; !any && i < batch->count; i++)
		any = otlp_set_has(&batch->points[i].present, slot) ||
		      otlp_set_has(&batch->points[i].gone, slot);
	return any;
}

/* Writes the metric that begins at a series. Returns the next one's. */
static size_t add_metric_message(struct buffer *out, const struct otlp_batch *batch, size_t index)
{
	const struct otlp_series *series = &OTLP_SERIES[index];
	size_t end = index, metric, data;
	bool any = false;

	for (; end < OTLP_SERIES_COUNT && strcmp(OTLP_SERIES[end].name, series->name) == 0; end++)
		for (size_t slot = otlp_first_slot(end); !any && slot < otlp_first_slot(end + 1); slot++)
			any = has_points(batch, slot);
	if (!any)
		return end;
	metric = otlp_open(out, SCOPE_ITEMS);
	otlp_add_text(out, METRIC_NAME, series->name);
	if (*series->unit)
		otlp_add_text(out, METRIC_UNIT, series->unit);
	data = otlp_open(out, series->form == OTLP_MEASURE ? METRIC_GAUGE : METRIC_SUM);
	for (size_t slot = otlp_first_slot(index); slot < otlp_first_slot(end); slot++)
		add_points(out, batch, slot);
	if (series->form != OTLP_MEASURE)
		otlp_add_count(out, SUM_TEMPORALITY, CUMULATIVE);
	if (series->form == OTLP_SUM)
		otlp_add_count(out, SUM_MONOTONIC, true);
	otlp_close(out, data);
	otlp_close(out, metric);
	return end;
}

void otlp_encode_metrics(struct buffer *out, const struct otlp_resource *resource,
			 const struct otlp_batch *batch)
{
	struct envelope envelope;

	if (!batch->count && !batch->is_end)
		return;
	envelope = open_envelope(out, resource);
	for (size_t i = 0; i < OTLP_SERIES_COUNT;)
		i = add_metric_message(out, batch, i);
	close_envelope(out, envelope);
}

/* ---- the end as a log record ------------------------------------------------------------------------------ */

/* `place`: before the name, "" or with a dot at its end. */
static void add_attribute(struct buffer *out, const struct row *row, const struct metric *metric,
			  size_t offset, const char *place)
{
	char name[NAME_SIZE];

	if (field_absent(row, metric->type, offset))
		return;
	snprintf(name, sizeof name, "resource_tracker.run.%s%s", place, metric->name);
	switch (metric->type) {
	case TYPE_TEXT:
		otlp_add_text_attribute(out, LOG_ATTRIBUTES, name, *row_text(row, offset));
		break;
	case TYPE_REAL:
		otlp_add_real_attribute(out, LOG_ATTRIBUTES, name, *row_real(row, offset));
		break;
	case TYPE_COUNT:
		otlp_add_count_attribute(out, LOG_ATTRIBUTES, name, *row_count(row, offset));
		break;
	case TYPE_FLAG:
		otlp_add_flag_attribute(out, LOG_ATTRIBUTES, name, *row_count(row, offset) != 0);
		break;
	}
}

static void add_attributes(struct buffer *out, const struct row *row, const char *place)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++)
		if (description->metrics[i].nature != RAW)
			add_attribute(out, row, &description->metrics[i], metric_offset(i), place);
}

/* Whether the end itself says this. */
static bool end_has(const struct row *row, const char *name)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++)
		if (strcmp(description->metrics[i].name, name) == 0)
			return !field_absent(row, description->metrics[i].type, metric_offset(i));
	return false;
}

static void add_run_figure(struct buffer *out, const struct run_figure *figure, enum json_kind kind,
			   struct scan raw)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(FIGURE_TEXT_BYTES);
	char name[NAME_SIZE];
	double number;

	snprintf(name, sizeof name, "resource_tracker.run.%s", figure->key);
	if (kind == VALUE_STRING && figure->kind == KIND_TEXT) {
		json_unescape(&text, &raw);
		otlp_add_text_attribute(out, LOG_ATTRIBUTES, name, text.data ? text.data : "");
	} else if (kind == VALUE_NUMBER && figure->kind != KIND_TEXT && scan_real(&raw, &number)) {
		if (figure->kind == KIND_REAL)
			otlp_add_real_attribute(out, LOG_ATTRIBUTES, name, number);
		else
			otlp_add_count_attribute(out, LOG_ATTRIBUTES, name, count_of_real(number));
	}
}

/* A file that another run was appended to has the line of that one, which says nothing about this run. */
static void add_run_figures(struct buffer *out, const struct row *end, const char *run_id, struct scan line)
{
	struct scan name, raw;
	enum json_kind kind;

	if (!json_take(&line, '{'))
		return;
	do {
		enum run_figure_id figure;

		if (!json_quoted(&line, &name) || !json_take(&line, ':') || !json_value(&line, &kind, &raw) ||
		    (scan_is(&name, "id") && !scan_is(&raw, run_id ? run_id : "")))
			return;
		figure = run_figure_of_key(name);
		if (figure < RUN_FIGURE_COUNT && !end_has(end, RUN_FIGURES[figure].key))
			add_run_figure(out, &RUN_FIGURES[figure], kind, raw);
	} while (json_take(&line, ','));
}

static bool has_failed(const struct run_end_row *end)
{
	return (!count_absent(end->exit_code) && end->exit_code != 0) || !count_absent(end->signal);
}

static void add_end_status(struct buffer *body, const struct otlp_resource *resource,
			   const struct run_end_row *end, const struct first_failure_row *first)
{
	const char *name = otlp_resource_get(resource, "service.name");

	buffer_printf(body, "%s: ", name ? name : "the run");
	if (!end) {
		buffer_add_text(body, "the recording stops without an end");
		return;
	}
	buffer_add_text(body, text_absent(end->reason) ? "ended" : end->reason);
	if (!count_absent(end->exit_code))
		buffer_printf(body, ", exit status %lld", (long long)end->exit_code);
	if (!count_absent(end->signal))
		buffer_printf(body, ", signal %lld", (long long)end->signal);
	/* Without parents it is the job itself. */
	if (first && !text_absent(first->program) && !text_absent(first->parents))
		buffer_printf(body, ", %s failed first%s", first->program,
			      !text_absent(first->certainty) && strcmp(first->certainty, "sure") == 0
				      ? ""
				      : " (probably)");
}

/* The trace and the span that started the run, from a TRACEPARENT of W3C: 00-32 digits-16 digits-2 digits. */
static void add_trace(struct buffer *out, const char *traceparent)
{
	enum { TRACE_AT = 3, SPAN_AT = 36, TRACE_BYTES = 16, SPAN_BYTES = 8 };
	char bytes[TRACE_BYTES + SPAN_BYTES];

	if (!traceparent || strlen(traceparent) < SPAN_AT + 2 * SPAN_BYTES || traceparent[SPAN_AT - 1] != '-')
		return;
	for (size_t i = 0; i < sizeof bytes; i++) {
		const char *digits =
			traceparent + (i < TRACE_BYTES ? TRACE_AT + 2 * i : SPAN_AT + 2 * (i - TRACE_BYTES));
		struct scan scan = scan_bytes(digits, 2);
		uint64_t byte;

		if (!isxdigit((unsigned char)*digits) || !scan_hex(&scan, &byte) || scan_left(&scan))
			return;
		bytes[i] = (char)(unsigned char)byte;
	}
	otlp_add_bytes(out, LOG_TRACE, bytes, TRACE_BYTES);
	otlp_add_bytes(out, LOG_SPAN, bytes + TRACE_BYTES, SPAN_BYTES);
}

void otlp_encode_end(struct buffer *out, const struct otlp_resource *resource, const struct otlp_run *run,
		     const struct frame *last, struct scan figures)
{
	const struct run_end_row *end = last ? (const void *)last->first[ROW_run_end] : NULL;
	const struct first_failure_row *first = last ? (const void *)last->first[ROW_first_failure] : NULL;
	CLEANUP_BUFFER struct buffer body = BUFFER(16 << 10);
	struct envelope envelope = open_envelope(out, resource);
	size_t record = otlp_open(out, SCOPE_ITEMS), text;

	add_end_status(&body, resource, end, first);
	otlp_add_fixed64(out, LOG_TIME, (uint64_t)run->last_ns);
	otlp_add_count(out, LOG_SEVERITY,
		       !end              ? SEVERITY_WARN
		       : has_failed(end) ? SEVERITY_ERROR
					 : SEVERITY_INFO);
	otlp_add_text(out, LOG_SEVERITY_TEXT, !end ? "WARN" : has_failed(end) ? "ERROR" : "INFO");
	text = otlp_open(out, LOG_BODY);
	otlp_add_text(out, TEXT_VALUE, body.data ? body.data : "");
	otlp_close(out, text);
	if (end) {
		add_attributes(out, &end->row, "");
		if (first)
			add_attributes(out, &first->row, "first_failure.");
		add_run_figures(out, &end->row, otlp_resource_get(resource, "service.instance.id"), figures);
	}
	add_trace(out, otlp_resource_get(resource, "traceparent"));
	otlp_add_fixed64(out, LOG_OBSERVED, (uint64_t)run->last_ns);
	otlp_add_text(out, LOG_EVENT, "job.run.end");
	otlp_close(out, record);
	close_envelope(out, envelope);
}
