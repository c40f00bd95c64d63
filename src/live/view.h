/*
 * The live view without a terminal: which runs it shows and how, what keys do, and the screen that follows from that.
 */
#pragma once

#include "live/graph.h"
#include "live/keys.h"
#include "live/run.h"

enum view_unit { UNIT_BINARY, UNIT_DECIMAL, UNIT_MIB, VIEW_UNITS };
enum view_sort { SORT_CPU, SORT_MEMORY, SORT_READ, SORT_WRITTEN, SORT_NAME, VIEW_SORTS };

enum { VIEW_NOTE_BYTES = 160, VIEW_LEAST_ROWS = 12, VIEW_LEAST_COLUMNS = 50 };

struct view {
	struct run **runs;
	size_t count;
	size_t chosen; /* the run that is shown, or that is chosen in the list */
	bool lists;    /* the list of runs is shown, only if it is the way in */
	bool several;  /* there is a list to go back to */
	bool machine;  /* the machine beside the job instead of the job */
	bool help;
	bool quits;
	double at_secs; /* the time that is looked at; NaN: the newest sample */
	size_t zoom;    /* of the spans. 0: chosen by the run */
	enum view_unit unit;
	enum view_sort sort;
	bool reversed;
	enum graph_style style, style_most; /* the latter: the richest that the terminal can show */
	size_t scroll;                      /* rows of the table that are above it */
	char note[VIEW_NOTE_BYTES];         /* a line for the user at the bottom */
	int64_t now_ns;                     /* monotonic time */
	double now_secs;                    /* wall-clock time; NaN: unknown */
};

void view_begin(struct view *ret_view);
void view_done(struct view *view); /* frees the list, not the runs */

/* Adds a run to the end. Returns 0 or -ENOMEM. */
int view_add(struct view *view, struct run *run);

/* Does what the key stands for: a character or one of enum view_key. */
void view_press(struct view *view, uint32_t key);

/* Makes the screen. */
void view_draw(struct view *view, struct canvas *canvas);

/* The run that is shown or chosen, or NULL without any. */
struct run *view_run(const struct view *view);

/* ---- its parts --------------------------------------------------------------------------------------- */

struct span {
	double from_secs, to_secs;
};

/* The span of time that the graphs show, and the time that is looked at. */
struct span view_span(const struct view *view, const struct run *run);
double view_at(const struct view *view, const struct run *run);

void view_draw_run(struct view *view, struct canvas *canvas);
void view_draw_list(struct view *view, struct canvas *canvas);
void view_draw_help(const struct view *view, struct canvas *canvas);
/* Draws the table of programs or devices in the rows from `row` to before `end`. */
void view_draw_table(struct view *view, struct canvas *canvas, const struct moment *moment, size_t row,
		     size_t end);
/* Draws a line about errors of GPUs, memory held without work, and starving. Returns false if there is nothing to tell. */
bool view_draw_gpus(const struct view *view, struct canvas *canvas, const struct moment *moment, size_t row);
/* The line of keys at the bottom, or the note. */
void view_draw_keys(const struct view *view, struct canvas *canvas, const char *const *keys);

/* ---- numbers as text --------------------------------------------------------------------------------- */

enum { NUMBER_BYTES = 48 };

/* Each returns `ret_text`: "1.86", "512 MiB", "12.3 MiB/s", "3 min 12 s", "12 %"; "-" for an unknown number. */
const char *figure_text(double value, char ret_text[static NUMBER_BYTES]);
const char *memory_text(const struct view *view, double mib, char ret_text[static NUMBER_BYTES]);
const char *rate_text(const struct view *view, double bytes_per_sec, char ret_text[static NUMBER_BYTES]);
/* The same for the end of a scale, in bytes: "512 MiB", "1 MiB/s". */
const char *scale_text(const struct view *view, double value, bool is_rate,
		       char ret_text[static NUMBER_BYTES]);
const char *time_text(double secs, char ret_text[static NUMBER_BYTES]);
const char *percent_text(double part, char ret_text[static NUMBER_BYTES]);
