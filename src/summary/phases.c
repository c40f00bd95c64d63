/* Reads the phases of jobs from their marks. See phases.h. */
#include "summary/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "record/source.h"
#include "table/aggregate.h"
#include "table/sqlite_read.h"
#include "table/table.h"

static const double SLACK_SECS = 0.001; /* time stamps of samples are rounded */

struct event {
	char *name;
	char *owner; /* the process or task that marked it */
	double time;
	bool stop;
};

struct events {
	struct event *list;
	size_t count, capacity;
};

static void events_done(struct events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->list[i].name);
		free(events->list[i].owner);
	}
	free(events->list);
}
#define CLEANUP_EVENTS __attribute__((cleanup(events_done)))

void phases_done(struct phases *phases)
{
	for (size_t i = 0; i < phases->count; i++) {
		free(phases->list[i].name);
		free(phases->list[i].calls);
	}
	free(phases->list);
	*phases = (struct phases){0};
}

static int add_event(struct events *events, const char *name, const char *owner, double time, bool stop)
{
	struct event event = {strdup(name), strdup(owner), time, stop};

	if (events->count == events->capacity) {
		size_t capacity = events->capacity ? 2 * events->capacity : 64;
		struct event *list = realloc(events->list, capacity * sizeof(*list));

		if (list) {
			events->list = list;
			events->capacity = capacity;
		}
	}
	if (!event.name || !event.owner || events->count == events->capacity) {
		free(event.name);
		free(event.owner);
		return -ENOMEM;
	}
	events->list[events->count++] = event;
	return 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	if (order == 0)
		order = strcmp(left->owner, right->owner);
	if (order == 0)
		order = (left->time > right->time) - (left->time < right->time);
	return order ? order : left->stop - right->stop;
}

static int compare_calls(const void *a, const void *b)
{
	const struct phase_call *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Pairs the events of one owner and name in time order: a stop ends the last open start. */
static void pair_owner(struct phases *phases, struct phase *phase, const struct event *events, size_t count,
		       double *starts)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		if (!events[i].stop)
			starts[open++] = events[i].time;
		else if (open)
			phase->calls[phase->call_count++] =
				(struct phase_call){starts[--open], events[i].time, false};
		else
			phases->unmatched_stops++;
	}
	phases->open_calls += open;
	while (open)
		phase->calls[phase->call_count++] = (struct phase_call){starts[--open], (double)NAN, true};
}

static size_t run_length(const struct events *events, size_t first, bool by_owner)
{
	size_t end = first + 1;

	while (end < events->count && strcmp(events->list[end].name, events->list[first].name) == 0 &&
	       (!by_owner || strcmp(events->list[end].owner, events->list[first].owner) == 0))
		end++;
	return end - first;
}

static int add_phase_named(struct phases *phases, const struct events *events, size_t first, size_t count)
{
	struct phase *phase = &phases->list[phases->count];
	CLEANUP_FREE double *starts = calloc(count, sizeof(*starts));

	phase->name = strdup(events->list[first].name);
	phase->calls = calloc(count, sizeof(*phase->calls));
	phase->call_count = 0;
	phases->count++;
	if (!phase->name || !phase->calls || !starts)
		return -ENOMEM;
	for (size_t i = first; i < first + count;) {
		size_t own = run_length(events, i, true);

		pair_owner(phases, phase, events->list + i, own, starts);
		i += own;
	}
	qsort(phase->calls, phase->call_count, sizeof(*phase->calls), compare_calls);
	return 0;
}

static int pair_all(struct events *events, struct phases *ret_phases)
{
	CLEANUP_PHASES struct phases phases = *ret_phases;

	if (events->count)
		qsort(events->list, events->count, sizeof(*events->list), compare_events);
	phases.list = calloc(events->count ? events->count : 1, sizeof(*phases.list));
	if (!phases.list)
		return -ENOMEM;
	for (size_t i = 0; i < events->count;) {
		size_t count = run_length(events, i, false);

		if (add_phase_named(&phases, events, i, count) < 0)
			return -ENOMEM;
		i += count;
	}
	*ret_phases = phases;
	phases = (struct phases){0};
	return 0;
}

/* ---- files of `resource-tracker mark` --------------------------------------------------------------- */

/* By the one that marked it, then in time. */
static int compare_chain(const void *a, const void *b)
{
	const struct event *left = a, *right = b;
	int order = strcmp(left->owner, right->owner);

	return order ? order : (left->time > right->time) - (left->time < right->time);
}

/* Each phase of a chain ends when the next one begins, the last one with the run. */
static int add_chains(struct events *chains, double to, struct events *events)
{
	int result = 0;

	if (chains->count)
		qsort(chains->list, chains->count, sizeof(*chains->list), compare_chain);
	for (size_t i = 0; i < chains->count && result == 0; i++) {
		const struct event *began = &chains->list[i], *next = began + 1;
		bool is_last = i + 1 == chains->count || strcmp(began->owner, next->owner) != 0;

		result = add_event(events, began->name, began->owner, began->time, false);
		if (result == 0)
			result = add_event(events, began->name, began->owner,
					   is_last ? fmax(to, began->time) : next->time, true);
	}
	return result;
}

static void cleanup_mark_json(json_t **json)
{
	json_decref(*json);
}

/* The part of a file of marks that belongs to a run. */
struct marks_of_run {
	const struct run_clock *clock;
	double from, to; /* by this clock */
	double last;     /* time of the last mark */
};

/* Returns 0, or -EBADMSG if the line is not a mark. */
static int add_phase_mark(struct events *events, struct events *chains, struct scan line,
			  struct marks_of_run *run)
{
	__attribute__((cleanup(cleanup_mark_json))) json_t *mark =
		json_loadb(line.at, scan_left(&line), 0, NULL);
	const char *name = json_string_value(json_object_get(mark, "name"));
	const char *kind = json_string_value(json_object_get(mark, "event"));
	const char *id = json_string_value(json_object_get(mark, "id"));
	const char *host = json_string_value(json_object_get(mark, "host"));
	const json_t *time = json_object_get(mark, "timestamp_ns");
	CLEANUP_BUFFER struct buffer owner = BUFFER(1 << 16);
	double secs;

	if (!name || !kind || !json_is_integer(time) ||
	    (strcmp(kind, "start") != 0 && strcmp(kind, "stop") != 0 && strcmp(kind, "next") != 0))
		return -EBADMSG;
	secs = run_clock_place(run->clock, (double)json_integer_value(time) / 1e9, run->last);
	if (!(secs >= run->from - SLACK_SECS && secs <= run->to + SLACK_SECS))
		return 0;
	run->last = secs;
	buffer_printf(&owner, "%s\n", host ? host : "");
	if (id)
		buffer_printf(&owner, "id %s", id);
	else if (*kind == 'n')
		buffer_add_text(&owner, "next");
	else
		buffer_printf(&owner, "%lld", (long long)json_integer_value(json_object_get(mark, "pid")));
	if (buffer_error(&owner))
		return -ENOMEM;
	return add_event(*kind == 'n' ? chains : events, name, owner.data, secs, strcmp(kind, "stop") == 0);
}

static int read_marks(struct source *source, struct marks_of_run *run, struct events *events,
		      size_t *bad_lines)
{
	CLEANUP_EVENTS struct events chains = {0};
	struct source_line line;
	int result;

	while ((result = source_next_line_after(source, (int64_t)*bad_lines, &line)) > 0) {
		result = line.too_long ? -EBADMSG : add_phase_mark(events, &chains, line.text, run);
		if (result == -ENOMEM)
			return result;
		*bad_lines += result < 0;
	}
	return result < 0 ? result : add_chains(&chains, run->to, events);
}

int phases_read_marks(const char *path, const struct run_clock *clock, double from, double to,
		      struct phases *ret_phases, struct rt_problem *problem)
{
	struct marks_of_run run = {clock, from, to, from};
	CLEANUP_EVENTS struct events events = {0};
	struct phases phases = {0};
	struct source source;
	int result = source_open(&source, path, problem);

	if (result < 0)
		return result;
	result = read_marks(&source, &run, &events, &phases.bad_lines);
	source_close(&source);
	if (result == 0)
		result = pair_all(&events, &phases);
	if (result < 0)
		return problem_set(problem, result, "%s: %s", path, strerror(-result));
	for (size_t i = 0; i < phases.count; i++)
		for (size_t j = 0; j < phases.list[i].call_count; j++)
			if (phases.list[i].calls[j].open)
				phases.list[i].calls[j].stop = fmax(to, phases.list[i].calls[j].start);
	*ret_phases = phases;
	return 0;
}

/* ---- files of gpu_tracker --------------------------------------------------------------------------- */

static void add_cell_text(struct buffer *out, struct rt_value cell)
{
	if (cell.type == RT_TYPE_TEXT)
		buffer_add_text(out, cell.text);
	else if (cell.type == RT_TYPE_COUNT)
		buffer_add_i64(out, cell.count);
	else if (cell.type == RT_TYPE_REAL)
		buffer_printf(out, "%.17g", cell.real);
}

static int add_phase_row(struct events *events, const rt_table *table, const ssize_t columns[static 4],
			 size_t row, size_t *bad_lines)
{
	CLEANUP_BUFFER struct buffer owner = BUFFER(1 << 16), name = BUFFER(1 << 16);
	double position = cell_real(rt_table_get(table, (size_t)columns[2], row), NAN);
	double time = cell_real(rt_table_get(table, (size_t)columns[3], row), NAN);

	add_cell_text(&owner, rt_table_get(table, (size_t)columns[0], row));
	add_cell_text(&name, rt_table_get(table, (size_t)columns[1], row));
	if (isnan(time) || (position != 0 && position != 1) || !owner.length || !name.length) {
		++*bad_lines;
		return 0;
	}
	return add_event(events, name.data, owner.data, time, position == 1);
}

static void leave_out_open(struct phases *phases)
{
	for (size_t i = 0; i < phases->count; i++) {
		struct phase *phase = &phases->list[i];
		size_t kept = 0;

		for (size_t j = 0; j < phase->call_count; j++)
			if (!phase->calls[j].open)
				phase->calls[kept++] = phase->calls[j];
		phase->call_count = kept;
	}
}

int phases_read_sub_tracking(const char *path, struct phases *ret_phases, struct rt_problem *problem)
{
	static const char *const NAMES[] = {"process_id", "code_block_name", "position", "timestamp"};
	CLEANUP_TABLE rt_table *table = NULL;
	CLEANUP_EVENTS struct events events = {0};
	struct phases phases = {0};
	ssize_t columns[ARRAY_SIZE(NAMES)];
	int result = sqlite_is_file(path) ? sqlite_read_table(path, "data", &table, problem)
					  : rt_table_read_csv(path, &table, problem);

	if (result < 0)
		return result;
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		columns[i] = rt_table_find(table, NAMES[i]);
		if (columns[i] < 0)
			return problem_set(problem, -EBADMSG,
					   "%s: no sub-tracking file: there is no column %s", path, NAMES[i]);
	}
	for (size_t row = 0; row < rt_table_row_count(table) && result == 0; row++)
		result = add_phase_row(&events, table, columns, row, &phases.bad_lines);
	if (result == 0)
		result = pair_all(&events, &phases);
	if (result < 0)
		return problem_set(problem, result, "%s: %s", path, strerror(-result));
	leave_out_open(&phases);
	*ret_phases = phases;
	return 0;
}

struct phase_time phase_time_of(const struct phase *phase)
{
	struct phase_time time = {0};

	for (size_t i = 0; i < phase->call_count; i++) {
		time.secs += phase->calls[i].stop - phase->calls[i].start;
		time.open_calls += phase->calls[i].open;
	}
	return time;
}
