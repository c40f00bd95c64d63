/* Draws the list of several runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/view.h"

enum {
	NUMBER_COLUMNS = 5,
	TIME_COLUMNS = 12,
	CPU_COLUMNS = 7,
	MEMORY_COLUMNS = 11,
	RATE_COLUMNS = 12,
	NAME_LEAST = 14,
	GRAPH_MOST = 24
};

struct places {
	size_t name, name_columns, time, cpu, graph, graph_columns, memory, read, written;
};

static struct places places_in(size_t columns)
{
	struct places places = {.name = NUMBER_COLUMNS + 2};
	size_t free_columns;

	places.written = columns - 1 - RATE_COLUMNS;
	places.read = places.written - RATE_COLUMNS;
	if (columns < 72) {
		places.read = places.written = columns;
		places.memory = columns - 1 - MEMORY_COLUMNS;
	} else {
		places.memory = places.read - MEMORY_COLUMNS;
	}
	free_columns = places.memory - places.name - TIME_COLUMNS - CPU_COLUMNS - 3;
	places.graph_columns = free_columns > NAME_LEAST + 8 ? (free_columns - NAME_LEAST) / 2 : 0;
	if (places.graph_columns > GRAPH_MOST)
		places.graph_columns = GRAPH_MOST;
	places.name_columns = free_columns - places.graph_columns;
	places.time = places.name + places.name_columns;
	places.cpu = places.time + TIME_COLUMNS;
	places.graph = places.cpu + CPU_COLUMNS + 1;
	return places;
}

/* ---- order ------------------------------------------------------------------------------------------- */

static double list_sort_number(const struct run *run, enum view_sort sort)
{
	static const enum series JOB[] = {[SORT_CPU] = SERIES_JOB_CPU,
					  [SORT_MEMORY] = SERIES_JOB_MEMORY,
					  [SORT_READ] = SERIES_JOB_READ,
					  [SORT_WRITTEN] = SERIES_JOB_WRITTEN};

	return run_value(run, JOB[sort]);
}

/* Runs that go on come first. */
static int order_of_runs(const void *a, const void *b, void *context)
{
	const struct run *left = *(const struct run *const *)a, *right = *(const struct run *const *)b;
	const struct view *view = context;
	double first, second;
	int order;

	if (run_is_live(left) != run_is_live(right))
		return run_is_live(left) ? -1 : 1;
	if (view->sort == SORT_NAME) {
		order = strcmp(left->name, right->name);
	} else {
		first = list_sort_number(left, view->sort);
		second = list_sort_number(right, view->sort);
		order = isnan(first) || isnan(second) ? isnan(first) - isnan(second)
						      : (first < second) - (first > second);
	}
	if (order == 0)
		return (left->number > right->number) - (left->number < right->number);
	return view->reversed ? -order : order;
}

/* The chosen run stays the chosen one. */
static void sort_runs(struct view *view)
{
	const struct run *chosen = view_run(view);

	if (view->count == 0)
		return;
	qsort_r(view->runs, view->count, sizeof(struct run *), order_of_runs, view);
	for (size_t i = 0; i < view->count; i++)
		if (view->runs[i] == chosen)
			view->chosen = i;
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

static void draw_heading(const struct view *view, struct canvas *canvas, const struct places *places)
{
	static const enum look LOOKS_OF[2] = {LOOK_HEADING, LOOK_STRONG};

	canvas_text_right(canvas, 2, 1, NUMBER_COLUMNS, LOOK_HEADING, "RUN");
	canvas_text(canvas, 2, places->name, places->name_columns - 1, LOOKS_OF[view->sort == SORT_NAME],
		    "NAME");
	canvas_text_right(canvas, 2, places->time, TIME_COLUMNS, LOOK_HEADING, "TIME");
	canvas_text_right(canvas, 2, places->cpu, CPU_COLUMNS, LOOKS_OF[view->sort == SORT_CPU], "CPU");
	canvas_text_right(canvas, 2, places->memory, MEMORY_COLUMNS, LOOKS_OF[view->sort == SORT_MEMORY],
			  "MEMORY");
	canvas_text_right(canvas, 2, places->read, RATE_COLUMNS, LOOKS_OF[view->sort == SORT_READ], "READ");
	canvas_text_right(canvas, 2, places->written, RATE_COLUMNS, LOOKS_OF[view->sort == SORT_WRITTEN],
			  "WRITTEN");
}

static void draw_list_graph(const struct view *view, struct canvas *canvas, const struct run *run,
			    struct graph_place place)
{
	struct span span = view_span(view, run);
	size_t points = graph_points(view->style, place.columns);
	double values[GRAPH_POINTS_MOST], most = 1;

	timeline_columns(&run->timeline, run_series(run, SERIES_JOB_CPU), span.from_secs, span.to_secs,
			 values, points);
	for (size_t i = 0; i < points; i++)
		most = fmax(most, values[i]);
	graph_draw(canvas, place, view->style, LOOK_CPU, values, most, SIZE_MAX);
}

static enum look look_of_state(const struct run *run)
{
	return run->state == RUN_FAILED ? LOOK_BAD : run->state == RUN_SUCCEEDED ? LOOK_GOOD : LOOK_WARNING;
}

static void draw_run(const struct view *view, struct canvas *canvas, const struct places *places,
		     const struct run *run, size_t row)
{
	const struct moment *moment =
		run->timeline.count ? &run->timeline.moments[run->timeline.count - 1] : NULL;
	double memory = run_value(run, SERIES_JOB_MEMORY);
	double part = moment ? memory / run_memory_limit(run, moment, run->is_machine) : (double)NAN;
	bool is_live = run_is_live(run);
	char text[NUMBER_BYTES];

	if (run->number) {
		snprintf(text, sizeof(text), "%u", run->number);
		canvas_text_right(canvas, row, 1, NUMBER_COLUMNS, LOOK_FAINT, text);
	}
	canvas_text(canvas, row, places->name, places->name_columns - 1, is_live ? LOOK_STRONG : LOOK_FAINT,
		    run->name);
	time_text(isnan(run->wall_secs) ? timeline_end(&run->timeline) : run->wall_secs, text);
	canvas_text_right(canvas, row, places->time, TIME_COLUMNS, LOOK_PLAIN, text);
	if (!is_live) {
		canvas_text(canvas, row, places->cpu + 2, canvas->columns - places->cpu - 3,
			    look_of_state(run), run->outcome);
		return;
	}
	canvas_text_right(canvas, row, places->cpu, CPU_COLUMNS, LOOK_PLAIN,
			  figure_text(run_value(run, SERIES_JOB_CPU), text));
	if (places->graph_columns)
		draw_list_graph(view, canvas, run,
				(struct graph_place){row, places->graph, 1, places->graph_columns - 1});
	canvas_text_right(canvas, row, places->memory, MEMORY_COLUMNS,
			  part >= 0.9    ? LOOK_BAD
			  : part >= 0.75 ? LOOK_WARNING
					 : LOOK_PLAIN,
			  memory_text(view, memory, text));
	canvas_text_right(canvas, row, places->read, RATE_COLUMNS, LOOK_PLAIN,
			  rate_text(view, run_value(run, SERIES_JOB_READ), text));
	canvas_text_right(canvas, row, places->written, RATE_COLUMNS, LOOK_PLAIN,
			  rate_text(view, run_value(run, SERIES_JOB_WRITTEN), text));
}

/* The machine by the newest sample of all runs on this host. */
static void draw_machine(const struct view *view, struct canvas *canvas, size_t running)
{
	const struct run *newest = NULL;
	const struct moment *moment;
	char title[64], cores[NUMBER_BYTES], used[NUMBER_BYTES], total[NUMBER_BYTES], text[4 * NUMBER_BYTES];

	if (running)
		snprintf(title, sizeof(title), "%zu run%s now", running, running == 1 ? "" : "s");
	else
		snprintf(title, sizeof(title), "no run goes on now");
	canvas_text(canvas, 0, 1, 30, LOOK_STRONG, title);
	for (size_t i = 0; i < view->count; i++)
		if (run_is_live(view->runs[i]) && view->runs[i]->timeline.count &&
		    (!newest || view->runs[i]->heard_ns > newest->heard_ns))
			newest = view->runs[i];
	if (!newest)
		return;
	moment = &newest->timeline.moments[newest->timeline.count - 1];
	snprintf(text, sizeof(text), "%s: %s of %.3g cores, %s of %s", newest->host,
		 figure_text(moment->values[SERIES_HOST_CPU], cores), run_core_limit(newest, moment, true),
		 memory_text(view, moment->values[SERIES_HOST_MEMORY], used),
		 memory_text(view, run_memory_limit(newest, moment, true), total));
	canvas_text_right(canvas, 0, 20, canvas->columns - 21, LOOK_FAINT, text);
}

void view_draw_list(struct view *view, struct canvas *canvas)
{
	static const char *const KEYS[] = {"q", "quit", "h", "help",    "up/down", "choose", "Enter", "open",
					   "s", "sort", "r", "reverse", "u",       "units",  NULL};
	struct places places = places_in(canvas->columns);
	size_t shown = canvas->rows - 4, first, running = 0;

	sort_runs(view);
	for (size_t i = 0; i < view->count; i++)
		running += run_is_live(view->runs[i]);
	draw_machine(view, canvas, running);
	draw_heading(view, canvas, &places);
	if (!view->count) {
		canvas_text(canvas, 3, places.name, canvas->columns - places.name - 1, LOOK_FAINT,
			    "no run of this user is recorded on this machine now");
		canvas_text(canvas, 4, places.name, canvas->columns - places.name - 1, LOOK_FAINT,
			    "resource-tracker live last: the last run that has ended");
	}
	first = view->chosen >= shown ? view->chosen - shown + 1 : 0;
	for (size_t i = first; i < view->count && i - first < shown; i++) {
		size_t row = 3 + i - first;

		draw_run(view, canvas, &places, view->runs[i], row);
		if (i == view->chosen) {
			canvas_put(canvas, row, 0, '>', LOOK_CHOSEN);
			canvas_look(canvas, row, 0, canvas->columns, LOOK_CHOSEN);
		}
	}
	view_draw_keys(view, canvas, KEYS);
}
