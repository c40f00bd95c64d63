/* Draws the table of a run: its programs and GPUs, or the devices of the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "live/view.h"

enum { COLUMNS_MOST = 8, NAME = 1, NAME_LEAST = 14 };

enum number_kind {
	NUMBER_FIGURE,
	NUMBER_WHOLE,
	NUMBER_MEMORY,
	NUMBER_RATE,
	NUMBER_PERCENT,
	NUMBER_DEGREES,
	NUMBER_WATTS,
	NUMBER_ACTIVITY /* percent; without any, the column is left out */
};

struct column {
	const char *heading;
	size_t number; /* of struct detail */
	enum number_kind kind;
	size_t width;
	int sort; /* of enum view_sort, -1 for none */
};

struct table {
	const char *heading;
	enum detail_kind kind;
	bool of_machine, of_job;
	enum look look;
	struct column columns[COLUMNS_MOST];
};

static const struct table TABLES[] = {
	{"GPU",
	 DETAIL_GPU,
	 true,
	 true,
	 LOOK_GPU,
	 {{"BUSY", GPU_BUSY, NUMBER_PERCENT, 7, -1},
	  {"JOB", GPU_JOB, NUMBER_PERCENT, 7, -1},
	  {"SM", GPU_SM, NUMBER_ACTIVITY, 7, -1},
	  {"TENSOR", GPU_TENSOR, NUMBER_ACTIVITY, 7, -1},
	  {"MEMORY", GPU_MEMORY, NUMBER_MEMORY, 11, -1},
	  {"OF", GPU_MEMORY_TOTAL, NUMBER_MEMORY, 11, -1},
	  {"TEMP", GPU_TEMPERATURE, NUMBER_DEGREES, 7, -1},
	  {"POWER", GPU_POWER, NUMBER_WATTS, 8, -1}}},
	{"PROGRAM",
	 DETAIL_PROGRAM,
	 false,
	 true,
	 LOOK_PLAIN,
	 {{"CPU", PROGRAM_CPU, NUMBER_FIGURE, 8, SORT_CPU},
	  {"MEMORY", PROGRAM_MEMORY, NUMBER_MEMORY, 11, SORT_MEMORY},
	  {"READ", PROGRAM_READ, NUMBER_RATE, 12, SORT_READ},
	  {"WRITTEN", PROGRAM_WRITTEN, NUMBER_RATE, 12, SORT_WRITTEN},
	  {"PROCESSES", PROGRAM_PROCESSES, NUMBER_WHOLE, 10, -1}}},
	{"DISK",
	 DETAIL_DISK,
	 true,
	 false,
	 LOOK_STORAGE,
	 {{"READ", DEVICE_IN, NUMBER_RATE, 14, -1}, {"WRITTEN", DEVICE_OUT, NUMBER_RATE, 14, -1}}},
	{"INTERFACE",
	 DETAIL_NETWORK,
	 true,
	 false,
	 LOOK_NETWORK,
	 {{"RECEIVED", DEVICE_IN, NUMBER_RATE, 14, -1}, {"SENT", DEVICE_OUT, NUMBER_RATE, 14, -1}}},
	{"FILE SYSTEM",
	 DETAIL_MOUNT,
	 true,
	 false,
	 LOOK_STORAGE,
	 {{"USED", MOUNT_USED, NUMBER_MEMORY, 14, -1},
	  {"OF", MOUNT_TOTAL, NUMBER_MEMORY, 14, -1},
	  {"FULL", MOUNT_FULL, NUMBER_PERCENT, 7, -1}}},
};

static const char *number_text(const struct view *view, enum number_kind kind, double value,
			       char ret_text[static NUMBER_BYTES])
{
	switch (kind) {
	case NUMBER_MEMORY:
		return memory_text(view, value, ret_text);
	case NUMBER_RATE:
		return rate_text(view, value, ret_text);
	case NUMBER_PERCENT:
	case NUMBER_ACTIVITY:
		return percent_text(value / 100, ret_text);
	case NUMBER_FIGURE:
		return figure_text(value, ret_text);
	default:
		if (isnan(value))
			return figure_text(value, ret_text);
		snprintf(ret_text, NUMBER_BYTES, "%.0f%s", value,
			 kind == NUMBER_DEGREES ? " C"
			 : kind == NUMBER_WATTS ? " W"
						: "");
		return ret_text;
	}
}

/* ---- order ------------------------------------------------------------------------------------------- */

static double table_sort_number(const struct detail *detail, enum view_sort sort)
{
	static const size_t NUMBERS[] = {
		[SORT_CPU] = PROGRAM_CPU,
		[SORT_MEMORY] = PROGRAM_MEMORY,
		[SORT_READ] = PROGRAM_READ,
		[SORT_WRITTEN] = PROGRAM_WRITTEN,
	};

	return detail->numbers[NUMBERS[sort]];
}

/* The largest first, unknown ones and names last. */
static int compare_details(const void *a, const void *b, void *context)
{
	const struct detail *left = *(const struct detail *const *)a,
			    *right = *(const struct detail *const *)b;
	const struct view *view = context;
	double first, second;
	int order;

	if (view->sort == SORT_NAME) {
		order = strcmp(left->name, right->name);
		return view->reversed ? -order : order;
	}
	first = table_sort_number(left, view->sort);
	second = table_sort_number(right, view->sort);
	if (isnan(first) || isnan(second))
		return isnan(first) - isnan(second);
	order = (first < second) - (first > second);
	return order == 0 ? strcmp(left->name, right->name) : view->reversed ? -order : order;
}

static size_t list_details(const struct view *view, const struct moment *moment, enum detail_kind kind,
			   const struct detail **ret_list)
{
	size_t count = 0;

	for (size_t i = 0; i < moment->detail_count; i++)
		if (moment->details[i].kind == kind)
			ret_list[count++] = &moment->details[i];
	if (kind == DETAIL_PROGRAM)
		qsort_r(ret_list, count, sizeof(const struct detail *), compare_details,
			(void *)(uintptr_t)view);
	return count;
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

static bool is_column(const struct table *table, const struct moment *moment, size_t which)
{
	const struct column *column = &table->columns[which];

	if (!column->heading || column->kind != NUMBER_ACTIVITY)
		return column->heading;
	for (size_t i = 0; i < moment->detail_count; i++)
		if (moment->details[i].kind == table->kind &&
		    !isnan(moment->details[i].numbers[column->number]))
			return true;
	return false;
}

/* The first columns matter most: a narrow screen leaves out the last ones, but never the one by which the table is sorted. */
static bool column_fits(const struct view *view, const struct canvas *canvas, const struct table *table,
			const struct moment *moment, size_t which)
{
	size_t used = NAME_LEAST + table->columns[which].width + 1;

	for (size_t i = 0; i < COLUMNS_MOST; i++)
		if (i != which && is_column(table, moment, i) &&
		    (i < which || table->columns[i].sort == (int)view->sort))
			used += table->columns[i].width;
	return used <= canvas->columns || table->columns[which].sort == (int)view->sort;
}

static void draw_line(const struct view *view, struct canvas *canvas, const struct table *table,
		      const struct moment *moment, const struct detail *detail, size_t row)
{
	size_t column = canvas->columns - 1;

	for (size_t i = COLUMNS_MOST; i-- > 0;) {
		const struct column *shown = &table->columns[i];
		char text[NUMBER_BYTES];
		bool is_sorted = shown->sort == (int)view->sort;

		if (!is_column(table, moment, i) || !column_fits(view, canvas, table, moment, i))
			continue;
		column -= shown->width;
		canvas_text_right(
			canvas, row, column, shown->width,
			detail      ? LOOK_PLAIN
			: is_sorted ? LOOK_STRONG
				    : LOOK_HEADING,
			detail ? number_text(view, shown->kind, detail->numbers[shown->number], text)
			       : shown->heading);
	}
	if (detail)
		canvas_text(canvas, row, NAME, column - NAME - 1, table->look, detail->name);
	else
		canvas_text(canvas, row, NAME, column - NAME - 1,
			    table->kind == DETAIL_PROGRAM && view->sort == SORT_NAME ? LOOK_STRONG
										     : LOOK_HEADING,
			    table->heading);
}

/* Draws as much of a table as fits, and returns the row behind it. */
static size_t draw_table(struct view *view, struct canvas *canvas, const struct table *table,
			 const struct moment *moment, size_t row, size_t end, size_t *skip)
{
	const struct detail *list[DETAILS_MOST];
	size_t count = list_details(view, moment, table->kind, list), first;

	if (!count && table->kind != DETAIL_PROGRAM)
		return row;
	first = *skip < count ? *skip : count;
	*skip -= first;
	if (first == count && count && *skip)
		return row;
	if (row + 1 >= end)
		return row;
	draw_line(view, canvas, table, moment, NULL, row++);
	if (!count)
		canvas_text(canvas, row++, NAME, 40, LOOK_FAINT, "-");
	for (size_t i = first; i < count && row < end; i++)
		draw_line(view, canvas, table, moment, list[i], row++);
	return row;
}

void view_draw_table(struct view *view, struct canvas *canvas, const struct moment *moment, size_t row,
		     size_t end)
{
	const struct run *run = view_run(view);
	bool machine = view->machine || (run && run->is_machine);
	size_t skip, total = 0;

	for (size_t i = 0; i < moment->detail_count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(TABLES); k++)
			if (TABLES[k].kind == moment->details[i].kind)
				total += machine ? TABLES[k].of_machine : TABLES[k].of_job;
	/* The last line stays on the screen. */
	if (view->scroll + 1 > total)
		view->scroll = total ? total - 1 : 0;
	skip = view->scroll;
	for (size_t i = 0; i < ARRAY_SIZE(TABLES); i++) {
		if (machine ? !TABLES[i].of_machine : !TABLES[i].of_job)
			continue;
		row = draw_table(view, canvas, &TABLES[i], moment, row, end, &skip);
	}
}
