/* Draws the screen of one run: its head, its graphs and its table. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "live/expected.h"
#include "live/view.h"

enum {
	LABEL = 1,
	VALUE = 11,
	VALUE_COLUMNS = 21,
	GRAPH = 33,
	SCALE_COLUMNS = 10,
	LEAST_SCALED = 66,
	PANELS_MOST = 10
};

static const double BYTES_IN_MIB = 1048576;

enum panel_kind { PANEL_CORES, PANEL_MEMORY, PANEL_RATE, PANEL_GPUS, PANEL_VRAM };

struct panel {
	const char *label;
	enum panel_kind kind;
	enum series series;
	enum look look;
	size_t rows;
};

/* The parts of the screen are drawn from this. */
struct scene {
	struct view *view;
	struct canvas *canvas;
	const struct run *run;
	const struct moment *moment;
	bool machine;
};

/* ---- head -------------------------------------------------------------------------------------------- */

static const char *clock_text(double timestamp, char *ret_text, size_t size)
{
	time_t secs = isnan(timestamp) || fabs(timestamp) > 1e11 ? 0 : (time_t)timestamp;
	struct tm when;

	if (!secs || !localtime_r(&secs, &when) || !strftime(ret_text, size, "%H:%M:%S", &when))
		snprintf(ret_text, size, "-");
	return ret_text;
}

static double silent_secs(const struct scene *scene)
{
	return (double)(scene->view->now_ns - scene->run->heard_ns) / 1e9;
}

static enum look state_text(const struct scene *scene, char *ret_text, size_t size)
{
	const struct run *run = scene->run;
	char elapsed[NUMBER_BYTES], when[16];
	double interval = isnan(run->interval_secs) ? 1 : run->interval_secs;

	if (!isnan(scene->view->at_secs) && scene->moment) {
		bool paused = run_is_live(run);

		snprintf(ret_text, size, "%s %s  %s", paused ? "paused at" : "at",
			 time_text(scene->moment->end_secs, elapsed),
			 clock_text(scene->moment->timestamp, when, sizeof(when)));
		return LOOK_WARNING;
	}
	time_text(isnan(run->wall_secs) ? timeline_end(&run->timeline) : run->wall_secs, elapsed);
	if (run->state == RUN_BEGINS) {
		snprintf(ret_text, size, "waiting for the first sample");
		return LOOK_FAINT;
	}
	if (run->state != RUN_GOES_ON) {
		snprintf(ret_text, size, "%s after %s", run->outcome, elapsed);
		return run->state == RUN_SUCCEEDED ? LOOK_GOOD
		       : run->state == RUN_FAILED  ? LOOK_BAD
						   : LOOK_WARNING;
	}
	if (silent_secs(scene) > 3 * interval + 2) {
		snprintf(ret_text, size, "no sample for %s", time_text(floor(silent_secs(scene)), elapsed));
		return LOOK_WARNING;
	}
	snprintf(ret_text, size, "running %s  %s", elapsed,
		 clock_text(scene->moment->timestamp, when, sizeof(when)));
	return LOOK_GOOD;
}

static void draw_head(const struct scene *scene)
{
	const struct run *run = scene->run;
	struct canvas *canvas = scene->canvas;
	char state[RUN_OUTCOME_BYTES + NUMBER_BYTES + 32];
	enum look look = state_text(scene, state, sizeof(state));
	size_t width = text_columns(state), column = LABEL, left;

	if (width + 12 > canvas->columns)
		width = canvas->columns - 12;
	left = canvas->columns - width - 3;
	column += canvas_text(canvas, 0, column, left, LOOK_STRONG, run->name) + 2;
	if (run->folder[0] && column + text_columns(run->folder) + 2 < left)
		column +=
			canvas_printf(canvas, 0, column, left - column, LOOK_FAINT, "(%s)", run->folder) + 2;
	if (run->number && column + 8 < left)
		column += canvas_printf(canvas, 0, column, left - column, LOOK_FAINT, "run %u", run->number) +
			  2;
	if (run->pid && column + 12 < left)
		column += canvas_printf(canvas, 0, column, left - column, LOOK_FAINT, "pid %lld",
					(long long)run->pid) +
			  2;
	if (scene->machine && !run->is_machine && column + 12 < left)
		canvas_text(canvas, 0, column, left - column, LOOK_WARNING, "its machine");
	canvas_text(canvas, 0, canvas->columns - width - 1, width, look, state);
}

/* ---- graphs ------------------------------------------------------------------------------------------ */

/* The past has no wait: only the newest moment of a run that goes on. */
static bool shows_wait(const struct scene *scene)
{
	const struct timeline *timeline = &scene->run->timeline;

	return run_is_live(scene->run) && scene->run->waiter[0] && !scene->machine && timeline->count &&
	       scene->moment == &timeline->moments[timeline->count - 1];
}

/*
 * In the empty line below the head: the expected end on the right, and in the room that is left the last signal of --signal-at, and the
 * present wait.
 */
static void draw_expected(const struct scene *scene)
{
	const struct run *run = scene->run;
	double secs = timeline_end(&run->timeline);
	size_t columns = scene->canvas->columns - LABEL - 1, used = 0;
	char text[EXPECTED_BYTES];

	if (run->state == RUN_GOES_ON && expected_text(&run->usual, secs, true, text)[0]) {
		used = text_columns(text) + 2;
		canvas_text_right(scene->canvas, 1, LABEL, columns,
				  is_overdue(&run->usual, secs) ? LOOK_WARNING : LOOK_FAINT, text);
	}
	columns -= used < columns ? used : columns;
	used = run->signal[0] && columns
		       ? canvas_text(scene->canvas, 1, LABEL, columns, LOOK_WARNING, run->signal) + 2
		       : 0;
	if (used < columns && shows_wait(scene))
		canvas_printf(scene->canvas, 1, LABEL + used, columns - used, LOOK_FAINT, "%s waits for %s",
			      run->waiter, run->wait);
}

static double most_of(const double *values, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, values[i]);
	return most;
}

/* The end of the scale: a round number, but not above the limit. A single core, and 1 KiB/s, is the least. */
static double graph_scale_of(const struct scene *scene, const struct panel *panel, double most)
{
	bool binary = scene->view->unit != UNIT_DECIMAL;
	double limit;

	switch (panel->kind) {
	case PANEL_CORES:
		limit = run_core_limit(scene->run, scene->moment, scene->machine);
		return fmax(fmin(fmax(round_scale(most, false), 1), limit), most);
	case PANEL_GPUS:
		return fmax(round_scale(most, false), 1);
	case PANEL_MEMORY:
		limit = run_memory_limit(scene->run, scene->moment, scene->machine);
		return fmax(fmin(round_scale(most, true), limit), most);
	case PANEL_VRAM:
		return round_scale(most, true);
	default:
		return fmax(round_scale(most, binary), binary ? 1024 : 1000);
	}
}

static void draw_scale(const struct scene *scene, const struct panel *panel, size_t row, size_t column,
		       double scale)
{
	bool is_memory = panel->kind == PANEL_MEMORY || panel->kind == PANEL_VRAM;
	char text[NUMBER_BYTES];

	if (is_memory || panel->kind == PANEL_RATE)
		scale_text(scene->view, is_memory ? scale * BYTES_IN_MIB : scale, !is_memory, text);
	else
		snprintf(text, sizeof(text), "%.3g", scale);
	canvas_text(scene->canvas, row, column, SCALE_COLUMNS - 1, LOOK_FAINT, text);
}

static void draw_run_graph(const struct scene *scene, const struct panel *panel, size_t row)
{
	struct canvas *canvas = scene->canvas;
	bool is_scaled = canvas->columns >= LEAST_SCALED;
	struct graph_place place = {row, GRAPH, panel->rows,
				    canvas->columns - GRAPH - (is_scaled ? SCALE_COLUMNS : 1)};
	struct span span = view_span(scene->view, scene->run);
	double values[GRAPH_POINTS_MOST], scale, width;
	size_t points = graph_points(scene->view->style, place.columns), cursor = SIZE_MAX;

	timeline_columns(&scene->run->timeline, panel->series, span.from_secs, span.to_secs, values, points);
	scale = graph_scale_of(scene, panel, most_of(values, points));
	width = (span.to_secs - span.from_secs) / (double)points;
	if (!isnan(scene->view->at_secs)) {
		double at = (view_at(scene->view, scene->run) - span.from_secs) / width - 0.5;

		cursor = at <= 0 ? 0 : at >= (double)points ? points - 1 : (size_t)at;
	}
	graph_draw(canvas, place, scene->view->style, panel->look, values, scale, cursor);
	if (is_scaled && !isnan(scene->run->timeline.peaks[panel->series]))
		draw_scale(scene, panel, row, GRAPH + place.columns + 1, scale);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static void draw_cores_value(const struct scene *scene, const struct panel *panel, size_t row)
{
	double limit = run_core_limit(scene->run, scene->moment, scene->machine);
	double waiting = scene->moment->values[SERIES_JOB_WAITING];
	double load = scene->moment->values[SERIES_HOST_LOAD];
	char value[NUMBER_BYTES], most[NUMBER_BYTES];

	figure_text(scene->moment->values[panel->series], value);
	if (isnan(limit))
		canvas_printf(scene->canvas, row, VALUE, VALUE_COLUMNS, LOOK_STRONG, "%s cores", value);
	else
		canvas_printf(scene->canvas, row, VALUE, VALUE_COLUMNS, LOOK_STRONG, "%s of %.3g core%s",
			      value, limit, limit == 1 ? "" : "s");
	if (panel->rows > 1)
		canvas_printf(scene->canvas, row + 1, VALUE, VALUE_COLUMNS, LOOK_FAINT, "max %s",
			      figure_text(scene->run->timeline.peaks[panel->series], most));
	if (panel->rows > 2 && scene->machine && !isnan(load))
		canvas_printf(scene->canvas, row + 2, VALUE, VALUE_COLUMNS, LOOK_FAINT, "load %s",
			      figure_text(load, value));
	else if (panel->rows > 2 && !scene->machine && !isnan(waiting))
		canvas_printf(scene->canvas, row + 2, VALUE, VALUE_COLUMNS, LOOK_FAINT, "%s threads wait",
			      figure_text(waiting, value));
}

static enum look near_limit(double part)
{
	return part >= 0.9 ? LOOK_BAD : part >= 0.75 ? LOOK_WARNING : LOOK_STRONG;
}

static void draw_memory_value(const struct scene *scene, const struct panel *panel, size_t row)
{
	double limit = run_memory_limit(scene->run, scene->moment, scene->machine);
	double used = scene->moment->values[panel->series];
	double swap = scene->moment->values[scene->machine ? SERIES_HOST_SWAP : SERIES_JOB_SWAP];
	char value[NUMBER_BYTES], most[NUMBER_BYTES], part[NUMBER_BYTES];
	/* The peak of the run is known at its end. Before, there is the largest sample. */
	bool has_peak = panel->kind == PANEL_MEMORY && !scene->machine && !isnan(scene->run->memory_peak_mib);

	memory_text(scene->view, used, value);
	if (panel->kind == PANEL_VRAM || isnan(limit) || isnan(used) || used > limit)
		canvas_text(scene->canvas, row, VALUE, VALUE_COLUMNS, LOOK_STRONG, value);
	else
		canvas_printf(scene->canvas, row, VALUE, VALUE_COLUMNS, near_limit(used / limit), "%s of %s",
			      value, memory_text(scene->view, limit, most));
	if (panel->rows > 1)
		canvas_printf(scene->canvas, row + 1, VALUE, VALUE_COLUMNS, LOOK_FAINT, "%s %s",
			      has_peak ? "peak" : "max",
			      memory_text(scene->view,
					  has_peak ? scene->run->memory_peak_mib
						   : scene->run->timeline.peaks[panel->series],
					  most));
	if (panel->rows > 2 && panel->kind == PANEL_MEMORY && !isnan(used / limit))
		canvas_printf(scene->canvas, row + 2, VALUE, VALUE_COLUMNS, LOOK_FAINT, "%s%s%s%s",
			      used > limit ? "limit " : "",
			      used > limit ? memory_text(scene->view, limit, part)
					   : percent_text(used / limit, part),
			      swap > 0 ? ", swap " : "",
			      swap > 0 ? memory_text(scene->view, swap, value) : "");
}

static void draw_panel(const struct scene *scene, const struct panel *panel, size_t row)
{
	double value = scene->moment->values[panel->series];
	char text[NUMBER_BYTES];

	canvas_text(scene->canvas, row, LABEL, VALUE - LABEL - 1, panel->look, panel->label);
	if (panel->kind == PANEL_CORES)
		draw_cores_value(scene, panel, row);
	else if (panel->kind == PANEL_MEMORY || panel->kind == PANEL_VRAM)
		draw_memory_value(scene, panel, row);
	else if (panel->kind == PANEL_GPUS)
		canvas_printf(scene->canvas, row, VALUE, VALUE_COLUMNS, LOOK_STRONG, "%s in use",
			      figure_text(value, text));
	else
		canvas_text(scene->canvas, row, VALUE, VALUE_COLUMNS, LOOK_STRONG,
			    rate_text(scene->view, value, text));
	draw_run_graph(scene, panel, row);
}

/* ---- lines between the graphs and the table ----------------------------------------------------------- */

static void draw_time_axis(const struct scene *scene, size_t row)
{
	struct span span = view_span(scene->view, scene->run);
	size_t end = scene->canvas->columns - (scene->canvas->columns >= LEAST_SCALED ? SCALE_COLUMNS : 1);
	double end_secs = timeline_end(&scene->run->timeline);
	char text[NUMBER_BYTES], back[NUMBER_BYTES];
	bool is_live = run_is_live(scene->run);

	if (is_live)
		snprintf(text, sizeof(text), "-%s", time_text(end_secs - span.from_secs, back));
	else
		time_text(fmax(span.from_secs, 0), text);
	canvas_text(scene->canvas, row, GRAPH, end - GRAPH, LOOK_FAINT, text);
	if (is_live && span.to_secs >= end_secs)
		snprintf(text, sizeof(text), "now");
	else if (is_live)
		snprintf(text, sizeof(text), "-%s", time_text(end_secs - span.to_secs, back));
	else
		time_text(span.to_secs, text);
	canvas_text_right(scene->canvas, row, end - 14, 14, LOOK_FAINT, text);
}

static size_t draw_share(const struct scene *scene, size_t row, size_t column, const char *label,
			 double share)
{
	/* Pressure of the machine says little about the job. */
	bool is_foreign = scene->moment->machine_pressure && !scene->machine;
	enum look look = is_foreign     ? LOOK_PLAIN
			 : share >= 0.5 ? LOOK_BAD
			 : share >= 0.1 ? LOOK_WARNING
					: LOOK_PLAIN;
	char text[NUMBER_BYTES];

	if (column + 16 > scene->canvas->columns)
		return column;
	column += canvas_text(scene->canvas, row, column, 10, LOOK_FAINT, label) + 1;
	return column + canvas_text(scene->canvas, row, column, 8, look, percent_text(share, text)) + 3;
}

static void draw_pressure(const struct scene *scene, size_t row)
{
	const double *values = scene->moment->values;
	size_t column = VALUE;

	canvas_text(scene->canvas, row, LABEL, VALUE - LABEL - 1, LOOK_PLAIN, "Pressure");
	column = draw_share(scene, row, column, "CPU", values[SERIES_PRESSURE_CPU]);
	column = draw_share(scene, row, column, "memory", values[SERIES_PRESSURE_MEMORY]);
	column = draw_share(scene, row, column, "I/O", values[SERIES_PRESSURE_IO]);
	if (!scene->machine && values[SERIES_THROTTLED] > 0)
		column = draw_share(scene, row, column, "throttled", values[SERIES_THROTTLED]);
	if (scene->moment->machine_pressure && !scene->machine && column + 14 < scene->canvas->columns)
		canvas_text(scene->canvas, row, column, 20, LOOK_FAINT, "of the machine");
}

static void draw_cores(const struct scene *scene, size_t row)
{
	static const char ASCII[] = "_.-:=+*#";
	size_t width = scene->canvas->columns - VALUE - 1;
	const struct moment *moment = scene->moment;

	canvas_text(scene->canvas, row, LABEL, VALUE - LABEL - 1, LOOK_CPU, "Cores");
	if (!moment->core_count)
		canvas_text(scene->canvas, row, VALUE, width, LOOK_PLAIN, "-");
	for (size_t i = 0; i < moment->core_count && i < width; i++) {
		size_t level = (moment->cores[i] * 7u + 50) / 100;
		uint32_t character = scene->view->style == GRAPH_ASCII ? (uint32_t)ASCII[level & 7]
								       : 0x2581 + (uint32_t)(level & 7);

		canvas_put(scene->canvas, row, VALUE + i, moment->cores[i] == CORE_UNKNOWN ? ' ' : character,
			   LOOK_CPU);
	}
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static bool has_gpus(const struct scene *scene)
{
	for (size_t i = 0; i < scene->moment->detail_count; i++)
		if (scene->moment->details[i].kind == DETAIL_GPU)
			return true;
	return false;
}

static size_t choose_panels(const struct scene *scene, struct panel *ret_panels)
{
#define SERIES_OF(what) SERIES_JOB_##what, SERIES_HOST_##what
	static const struct {
		const char *label;
		enum panel_kind kind;
		enum series job, machine;
		enum look look;
		size_t rows;
	} ALL[] = {
		{"CPU", PANEL_CORES, SERIES_OF(CPU), LOOK_CPU, 2},
		{"Memory", PANEL_MEMORY, SERIES_OF(MEMORY), LOOK_MEMORY, 2},
		{"GPU", PANEL_GPUS, SERIES_OF(GPU), LOOK_GPU, 1},
		{"VRAM", PANEL_VRAM, SERIES_OF(VRAM), LOOK_GPU, 1},
		{"Read", PANEL_RATE, SERIES_OF(READ), LOOK_STORAGE, 1},
		{"Written", PANEL_RATE, SERIES_OF(WRITTEN), LOOK_STORAGE, 1},
		{"Received", PANEL_RATE, SERIES_OF(RECEIVED), LOOK_NETWORK, 1},
		{"Sent", PANEL_RATE, SERIES_OF(SENT), LOOK_NETWORK, 1},
	};
#undef SERIES_OF
	size_t count = 0;

	_Static_assert(sizeof(ALL) / sizeof(*ALL) <= PANELS_MOST, "all panels fit");
	for (size_t i = 0; i < sizeof(ALL) / sizeof(*ALL); i++) {
		if (!has_gpus(scene) && (ALL[i].kind == PANEL_GPUS || ALL[i].kind == PANEL_VRAM))
			continue;
		ret_panels[count++] = (struct panel){
			.label = ALL[i].label,
			.kind = ALL[i].kind,
			.series = scene->machine ? ALL[i].machine : ALL[i].job,
			.look = ALL[i].look,
			.rows = ALL[i].rows,
		};
	}
	return count;
}

/* Gives the panels the rows that the table leaves, the first ones more. Without room for all, the last ones go. */
static size_t share_rows(struct panel *panels, size_t count, size_t rows)
{
	static const size_t MOST[][2] = {{2, 1}, {3, 1}, {4, 1}, {4, 2}, {6, 2}, {8, 3}};
	size_t used = 0, kept = 0;

	while (kept < count && used + panels[kept].rows <= rows)
		used += panels[kept++].rows;
	for (size_t round = 0; round < sizeof(MOST) / sizeof(*MOST); round++) {
		for (size_t i = 0; i < 2 * kept && used < rows; i++) {
			struct panel *panel = &panels[i % kept];
			bool is_large = panel->kind == PANEL_CORES || panel->kind == PANEL_MEMORY;

			if (panel->rows < MOST[round][is_large ? 0 : 1]) {
				panel->rows++;
				used++;
			}
		}
	}
	return kept;
}

static void draw_body(const struct scene *scene)
{
	struct panel panels[PANELS_MOST];
	size_t rows = scene->canvas->rows, table = rows < 20 ? 4 : rows < 30 ? 8 : rows / 3;
	size_t lines = scene->machine ? 3 : 2, row = 2;
	size_t count = choose_panels(scene, panels);

	/* Without the head, an empty line on each side of the graphs, their lines, and the keys. */
	count = share_rows(panels, count, rows - 4 - lines - table);
	for (size_t i = 0; i < count; i++) {
		draw_panel(scene, &panels[i], row);
		row += panels[i].rows;
	}
	draw_time_axis(scene, row++);
	if (scene->machine)
		draw_cores(scene, row++);
	draw_pressure(scene, row++);
	row += view_draw_gpus(scene->view, scene->canvas, scene->moment, row);
	view_draw_table(scene->view, scene->canvas, scene->moment, row + 1, rows - 1);
}

void view_draw_run(struct view *view, struct canvas *canvas)
{
	static const char *const KEYS[] = {"q",          "quit",      "h",   "help",  "space", "pause",
					   "left/right", "look back", "+/-", "time",  "s",     "sort",
					   "m",          "machine",   "u",   "units", NULL};
	static const char *const KEYS_BELOW[] = {"q",     "quit",  "h",          "help",      "Esc", "list",
						 "space", "pause", "left/right", "look back", "+/-", "time",
						 "s",     "sort",  "m",          "machine",   NULL};
	static const char *const MACHINE_KEYS[] = {"q",     "quit",       "h",         "help", "space",
						   "pause", "left/right", "look back", "+/-",  "time",
						   "u",     "units",      NULL};
	struct scene scene = {view, canvas, view_run(view), NULL, false};

	if (!scene.run) {
		canvas_text(canvas, 0, LABEL, canvas->columns - 2, LOOK_FAINT, "there is nothing to show");
		return;
	}
	scene.moment = timeline_at(&scene.run->timeline, view_at(view, scene.run));
	scene.machine = scene.run->is_machine || view->machine;
	draw_head(&scene);
	draw_expected(&scene);
	if (scene.moment)
		draw_body(&scene);
	view_draw_keys(view, canvas,
		       view->several           ? KEYS_BELOW
		       : scene.run->is_machine ? MACHINE_KEYS
					       : KEYS);
}
