/* Packs the values of each row of a kind; see row_series.h. */
#include "report/row_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 24 };

int row_series_begin(struct row_series *all, const struct report_rows *rows, struct rt_problem *problem)
{
	*all = (struct row_series){.rows = rows};
	all->columns = calloc(rows->column_count + 1, sizeof(*all->columns));
	if (!all->columns)
		return problem_set(problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < rows->column_count; i++)
		if (!metric_place_find(rows->columns[i], &all->columns[i]) ||
		    all->columns[i].kind != all->columns[0].kind)
			return problem_set(problem, -ENOENT, "no metric of the page's rows is called '%s'",
					   rows->columns[i]);
	return 0;
}

void row_series_want(const struct row_series *all, struct metric_set *wanted)
{
	for (size_t i = 0; i < all->rows->column_count; i++)
		metric_set_add(wanted, all->columns[i].kind, all->columns[i].index);
	/* The key. */
	metric_set_add(wanted, all->columns[0].kind, 0);
}

static void free_instance(struct row_instance *instance, size_t columns)
{
	for (size_t i = 0; instance->series && i < columns; i++)
		series_done(&instance->series[i]);
	free(instance->series);
	free(instance->now);
	free(instance->name);
	*instance = (struct row_instance){0};
}

/* Returns the key of a row, or its position in `number`; NULL if the key is absent. */
static const char *name_of(const struct row *row, size_t position, char number[static NUMBER_BYTES])
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	if (!description->key_offset && description->shape != MAP) {
		snprintf(number, NUMBER_BYTES, "%zu", position);
		return number;
	}
	return text_absent(*row_text(row, metric_offset(0))) ? NULL : *row_text(row, metric_offset(0));
}

static struct row_instance *add_series_instance(struct row_series *all, const char *name)
{
	struct row_instance *added = &all->list[all->count];
	size_t columns = all->rows->column_count;

	*added = (struct row_instance){
		.name = strdup(name),
		.series = calloc(columns, sizeof(*added->series)),
		.now = calloc(columns, sizeof(*added->now)),
	};
	if (!added->name || !added->series || !added->now) {
		free_instance(added, 0);
		all->error = -ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < columns; i++) {
		series_of_place(&added->series[i], all->rows->columns[i], &all->columns[i]);
		series_add_absent(&added->series[i], all->points);
		added->now[i] = (double)NAN;
	}
	all->count++;
	return added;
}

/* Nearly always a row is at the same position as in the sample before. */
static struct row_instance *find_instance(struct row_series *all, const char *name, size_t guess)
{
	if (guess < all->count && strcmp(all->list[guess].name, name) == 0)
		return &all->list[guess];
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->list[i].name, name) == 0)
			return &all->list[i];
	if (all->count < ROW_SERIES_MOST)
		return add_series_instance(all, name);
	all->left_out++;
	return NULL;
}

static void add_row(struct row_series *all, struct row_instance *instance, const struct row *row)
{
	for (size_t i = 0; i < all->rows->column_count; i++) {
		double value = metric_place_real_of(&all->columns[i], row);

		if (!isnan(value))
			instance->now[i] = isnan(instance->now[i]) ? value : instance->now[i] + value;
	}
}

void row_series_gather(struct row_series *all, const struct frame *frame, double secs)
{
	size_t position = 0;

	for (const struct row *row = frame->first[all->columns[0].kind]; row; row = row->next, position++) {
		char number[NUMBER_BYTES];
		const char *name = name_of(row, position, number);
		struct row_instance *instance = name ? find_instance(all, name, position) : NULL;

		if (instance)
			add_row(all, instance, row);
	}
	for (size_t i = 0; i < all->count; i++)
		for (size_t column = 0; column < all->rows->column_count; column++) {
			series_gather(&all->list[i].series[column], all->list[i].now[column], secs);
			all->list[i].now[column] = (double)NAN;
		}
}

void row_series_end_point(struct row_series *all)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t column = 0; column < all->rows->column_count; column++)
			series_end_point(&all->list[i].series[column]);
	all->points++;
}

size_t row_series_bytes(const struct row_series *all)
{
	size_t bytes = 0;

	for (size_t i = 0; i < all->count; i++)
		for (size_t column = 0; column < all->rows->column_count; column++)
			bytes += all->list[i].series[column].bytes.length;
	return bytes;
}

void row_series_clear(struct row_series *all)
{
	for (size_t i = 0; i < all->count; i++)
		free_instance(&all->list[i], all->rows->column_count);
	all->count = all->left_out = 0;
	all->points = 0;
}

static bool has_any(const struct row_instance *instance, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (instance->series[i].any)
			return true;
	return false;
}

int row_series_write(struct row_series *all, struct json_writer *json)
{
	int result = all->error;

	json_open(json, '{');
	json_key(json, "rows");
	json_text(json, all->rows->name);
	json_key(json, "left_out");
	json_count(json, (int64_t)all->left_out);
	json_key(json, "instances");
	json_open(json, '[');
	for (size_t i = 0; i < all->count; i++) {
		struct row_instance *instance = &all->list[i];

		if (!has_any(instance, all->rows->column_count))
			continue;
		json_open(json, '{');
		json_key(json, "name");
		json_text(json, instance->name);
		json_key(json, "columns");
		json_open(json, '[');
		for (size_t column = 0; column < all->rows->column_count && result == 0; column++)
			if (instance->series[column].any)
				result = series_write(&instance->series[column], json);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
	return result;
}

void row_series_done(struct row_series *all)
{
	if (all->rows)
		row_series_clear(all);
	free(all->columns);
	all->columns = NULL;
}
