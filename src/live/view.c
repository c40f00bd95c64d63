/* The state of the live view, and the meaning of its keys. See view.h. */
#include "live/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	double secs; /* 0: the whole run */
	const char *name;
} SPANS[] = {
	{60, "1 min"}, {300, "5 min"}, {900, "15 min"}, {3600, "1 h"}, {21600, "6 h"}, {0, "whole run"},
};

enum { SPAN_COUNT = sizeof(SPANS) / sizeof(*SPANS), STEPS_OF_SPAN = 60, PAGE_STEPS = 10, SCROLL_MOST = 1000 };

void view_begin(struct view *ret_view)
{
	*ret_view = (struct view){.at_secs = NAN, .now_secs = NAN};
}

void view_done(struct view *view)
{
	free(view->runs);
	*view = (struct view){0};
}

int view_add(struct view *view, struct run *run)
{
	struct run **runs = reallocarray(view->runs, view->count + 1, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	view->runs = runs;
	view->runs[view->count++] = run;
	return 0;
}

struct run *view_run(const struct view *view)
{
	return view->chosen < view->count ? view->runs[view->chosen] : NULL;
}

/* ---- time -------------------------------------------------------------------------------------------- */

/* The number of the span, of a run that goes on the shortest that has enough samples. */
static size_t span_number(const struct view *view, const struct run *run)
{
	size_t number = 0;

	if (view->zoom)
		return view->zoom - 1;
	if (!run_is_live(run))
		return SPAN_COUNT - 1;
	while (number < SPAN_COUNT - 2 && SPANS[number].secs < (double)STEPS_OF_SPAN * run->interval_secs)
		number++;
	return number;
}

double view_at(const struct view *view, const struct run *run)
{
	double end = timeline_end(&run->timeline);

	return isnan(view->at_secs) || view->at_secs > end ? end : view->at_secs;
}

struct span view_span(const struct view *view, const struct run *run)
{
	double end = timeline_end(&run->timeline), start = timeline_start(&run->timeline);
	double secs = SPANS[span_number(view, run)].secs, at = view_at(view, run);

	if (secs == 0 || end <= start)
		return (struct span){start, end > start ? end : start + 1};
	if (at < end - secs)
		end = fmax(at + secs / 2, start + secs);
	return (struct span){end - secs, end};
}

/* A step of the arrow keys: a point of the graph, but at least a sample. */
static double look_step(const struct view *view, const struct run *run)
{
	struct span span = view_span(view, run);
	double step = (span.to_secs - span.from_secs) / (2 * STEPS_OF_SPAN);

	return fmax(step, isnan(run->interval_secs) ? 0 : run->interval_secs);
}

static void look_back(struct view *view, double steps)
{
	struct run *run = view_run(view);
	const struct moment *moment;
	double at;

	if (!run || !run->timeline.count)
		return;
	at = view_at(view, run) + steps * look_step(view, run);
	if (at >= timeline_end(&run->timeline)) {
		view->at_secs = run_is_live(run) ? (double)NAN : timeline_end(&run->timeline);
		return;
	}
	moment = timeline_at(&run->timeline, fmax(at, run->timeline.moments[0].end_secs));
	view->at_secs = moment->end_secs;
}

static void press_time(struct view *view, uint32_t key)
{
	struct run *run = view_run(view);

	switch (key) {
	case KEY_OF_LEFT:
		look_back(view, -1);
		return;
	case KEY_OF_RIGHT:
		look_back(view, 1);
		return;
	case KEY_OF_PAGE_UP:
		look_back(view, -PAGE_STEPS);
		return;
	case KEY_OF_PAGE_DOWN:
		look_back(view, PAGE_STEPS);
		return;
	case KEY_OF_HOME:
		if (run && run->timeline.count)
			view->at_secs = run->timeline.moments[0].end_secs;
		return;
	default: /* the space bar: to stop, or to go on */
		view->at_secs = run && isnan(view->at_secs) && run->timeline.count
					? timeline_end(&run->timeline)
					: (double)NAN;
		return;
	}
}

/* Whether a span shows as much of a run that has ended as the whole run does. */
static bool is_as_long(const struct run *run, size_t number)
{
	return run && !run_is_live(run) && number < SPAN_COUNT - 1 &&
	       SPANS[number].secs >= timeline_end(&run->timeline) - timeline_start(&run->timeline);
}

static void press_zoom(struct view *view, bool closer)
{
	const struct run *run = view_run(view);
	size_t before = run ? span_number(view, run) : 0, number = before;

	do {
		if (closer ? number == 0 : number + 1 == SPAN_COUNT)
			break;
		number = closer ? number - 1 : number + 1;
	} while (is_as_long(run, number));
	/* The run is shorter than the shortest span. */
	if (is_as_long(run, number))
		number = before;
	view->zoom = number + 1;
}

/* ---- keys -------------------------------------------------------------------------------------------- */

static void press_up_or_down(struct view *view, bool down)
{
	size_t *position = view->lists ? &view->chosen : &view->scroll;
	size_t most = view->lists ? (view->count ? view->count - 1 : 0) : SCROLL_MOST;

	if (down && *position < most)
		++*position;
	else if (!down && *position)
		--*position;
}

static void open_run(struct view *view)
{
	if (!view->lists || !view_run(view))
		return;
	view->lists = false;
	view->scroll = 0;
	view->at_secs = NAN;
}

static void go_back(struct view *view)
{
	if (view->help)
		view->help = false;
	else if (view->several)
		view->lists = true;
	view->at_secs = NAN;
}

static void press_setting(struct view *view, uint32_t key)
{
	switch (key) {
	case 's':
		view->sort = (view->sort + 1) % VIEW_SORTS;
		view->scroll = 0;
		return;
	case 'r':
		view->reversed = !view->reversed;
		return;
	case 'u':
		view->unit = (view->unit + 1) % VIEW_UNITS;
		return;
	case 'm':
		view->machine = !view->machine;
		view->scroll = 0;
		return;
	case 'g':
		view->style = view->style + 1 < GRAPH_STYLES ? view->style + 1 : view->style_most;
		return;
	case '+':
	case '=':
	case '-':
		press_zoom(view, key != '-');
		return;
	default:
		return;
	}
}

void view_press(struct view *view, uint32_t key)
{
	view->note[0] = '\0';
	switch (key) {
	case 'q':
	case 'Q':
		view->quits = true;
		return;
	case 'h':
	case '?':
		view->help = !view->help;
		return;
	case KEY_OF_UP:
	case KEY_OF_DOWN:
		press_up_or_down(view, key == KEY_OF_DOWN);
		return;
	case KEY_OF_ENTER:
		open_run(view);
		return;
	case KEY_OF_BACK:
		go_back(view);
		return;
	case KEY_OF_END:
		view->at_secs = NAN;
		return;
	case KEY_OF_LEFT:
	case KEY_OF_RIGHT:
	case KEY_OF_PAGE_UP:
	case KEY_OF_PAGE_DOWN:
	case KEY_OF_HOME:
	case ' ':
		if (!view->lists)
			press_time(view, key);
		return;
	default:
		press_setting(view, key);
	}
}

/* ---- screen ------------------------------------------------------------------------------------------ */

void view_draw_keys(const struct view *view, struct canvas *canvas, const char *const *keys)
{
	size_t row = canvas->rows - 1, column = 1;

	if (*view->note) {
		canvas_text(canvas, row, 1, canvas->columns - 2, LOOK_WARNING, view->note);
		return;
	}
	for (; keys[0]; keys += 2) {
		size_t columns = text_columns(keys[0]) + 1 + text_columns(keys[1]);

		if (column + columns + 1 > canvas->columns)
			return;
		column += canvas_text(canvas, row, column, columns, LOOK_STRONG, keys[0]) + 1;
		column += canvas_text(canvas, row, column, columns, LOOK_FAINT, keys[1]) + 2;
	}
}

void view_draw_help(const struct view *view, struct canvas *canvas)
{
	static const char *const KEYS[][2] = {
		{"q", "quit; the job and its recording go on"},
		{"h  ?", "this help"},
		{"space", "pause; once more: go on. The recording goes on meanwhile"},
		{"left  right", "look back and forth in time; PgUp and PgDn go further"},
		{"Home  End", "the beginning; the newest sample"},
		{"+  -", "a shorter or a longer span of time in the graphs"},
		{"s  r", "sort the table by another column; reverse the order"},
		{"up  down", "scroll the table, or choose a run in the list"},
		{"Enter  Esc", "open the chosen run; back to the list"},
		{"m", "the machine instead of the job, and back"},
		{"u", "units: KiB and MiB, kB and MB, all in MiB"},
		{"g", "graphs of dots, blocks or plain characters"},
		{"Ctrl-L", "draw the screen again"},
	};
	static const char *const BACK[] = {"h", "back", "q", "quit", NULL};
	size_t row = 2;

	canvas_text(canvas, 0, 1, canvas->columns - 2, LOOK_STRONG, "resource-tracker live: keys");
	for (size_t i = 0; i < sizeof(KEYS) / sizeof(*KEYS) && row + 2 < canvas->rows; i++, row++) {
		canvas_text(canvas, row, 2, 12, LOOK_STRONG, KEYS[i][0]);
		canvas_text(canvas, row, 15, canvas->columns - 16, LOOK_PLAIN, KEYS[i][1]);
	}
	if (row + 4 < canvas->rows) {
		canvas_text(canvas, row + 1, 2, canvas->columns - 3, LOOK_FAINT,
			    "- is an unknown value. The view only reads: it changes nothing of the job.");
		canvas_text(canvas, row + 2, 2, canvas->columns - 3, LOOK_FAINT,
			    "Pressure is the part of the time in which some task waited for it.");
	}
	view_draw_keys(view, canvas, BACK);
}
