/* A value of a recording by name; see column.h. */
#include "record/column.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "metric/csv_layout.h"

enum { NAME_BYTES = 160 };

/* Splits "disk[sda].mounts[/].used_pct" into "disk.mounts.used_pct" and its keys. */
static bool split_instances(const char *name, char *ret_plain, struct record_column *ret_column)
{
	size_t length = 0;

	for (const char *at = name; *at; at++) {
		const char *close;
		struct scan key;

		if (*at != '[') {
			if (length + 1 >= NAME_BYTES)
				return false;
			ret_plain[length++] = *at;
			continue;
		}
		/* A key may hold brackets: what closes it is followed by a point or the end. */
		close = strchr(at, ']');
		while (close && close[1] && close[1] != '.')
			close = strchr(close + 1, ']');
		if (!close || ret_column->depth == INSTANCE_DEPTH || close - at > INSTANCE_BYTES)
			return false;
		key = (struct scan){at + 1, close};
		scan_copy(&key, ret_column->keys[ret_column->depth++], INSTANCE_BYTES);
		at = close;
	}
	ret_plain[length] = '\0';
	return length > 0;
}

static bool find_full(const char *name, struct record_column *column)
{
	char full[NAME_BYTES];

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			metric_full_name(kind, i, full, sizeof(full));
			if (strcmp(full, name) != 0)
				continue;
			column->kind = kind;
			column->index = i;
			return true;
		}
	return false;
}

static bool find_heading(const char *name, struct record_column *column)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];

	for (size_t i = 0; i < combined->column_count; i++)
		if (strcmp(combined->columns[i].heading, name) == 0) {
			column->kind = combined->columns[i].kind;
			column->index = (combined->columns[i].offset - sizeof(struct row)) / 8;
			return true;
		}
	return false;
}

/* The number of metrics whose own name it is. */
static int find_short(const char *name, struct record_column *column)
{
	int found = 0;

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			const struct metric *metric = &ROW_DESCRIPTIONS[kind].metrics[i];

			if (metric->nature == RAW || strcmp(metric->name, name) != 0)
				continue;
			column->kind = kind;
			column->index = i;
			found++;
		}
	return found;
}

/* Levenshtein's distance, of names that are cut to fit. */
static size_t distance(const char *a, const char *b)
{
	size_t columns = strnlen(b, NAME_BYTES - 1), row[NAME_BYTES];

	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = i;

		row[0] = i + 1;
		for (size_t j = 0; j < columns; j++) {
			size_t above = row[j + 1], best = diagonal + (a[i] != b[j]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (above + 1 < best)
				best = above + 1;
			row[j + 1] = best;
			diagonal = above;
		}
	}
	return row[columns];
}

static void consider(const char *name, const char *candidate, size_t *best, char *ret_nearest)
{
	size_t steps = distance(name, candidate);

	if (steps >= *best)
		return;
	*best = steps;
	snprintf(ret_nearest, NAME_BYTES, "%s", candidate);
}

static int unknown(const char *name, const char *plain, struct rt_problem *problem)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];
	char nearest[NAME_BYTES] = "", full[NAME_BYTES];
	size_t best = SIZE_MAX;

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			if (ROW_DESCRIPTIONS[kind].metrics[i].nature == RAW)
				continue;
			metric_full_name(kind, i, full, sizeof(full));
			consider(plain, full, &best, nearest);
			consider(plain, ROW_DESCRIPTIONS[kind].metrics[i].name, &best, nearest);
		}
	for (size_t i = 0; i < combined->column_count; i++)
		consider(plain, combined->columns[i].heading, &best, nearest);
	return problem_set(problem, -ENOENT, "no metric is called \"%s\"; the nearest is \"%s\"", name,
			   nearest);
}

/* How many kinds with several rows stand on the way to a metric. */
static int levels_of(enum row_kind kind)
{
	int levels = 0;

	for (; kind != ROW_sample; kind = ROW_DESCRIPTIONS[kind].parent) {
		enum row_shape shape = ROW_DESCRIPTIONS[kind].shape;

		levels += shape == ARRAY || shape == LIST || shape == MAP;
	}
	return levels;
}

static int settle_instance(const char *name, struct record_column *column, struct rt_problem *problem)
{
	static const char *const WORDS[] = {
		[INSTANCE_SUM] = "sum", [INSTANCE_MEAN] = "mean", [INSTANCE_MAX] = "max"};
	int levels = levels_of(column->kind);

	if (levels == 0 && column->depth)
		return problem_set(problem, -EINVAL, "\"%s\": there is only one, leave the brackets out",
				   name);
	if (levels && !column->depth)
		return problem_set(
			problem, -EINVAL,
			"\"%s\" has several values: name one in brackets, as in disk[sda].read_bytes_per_sec "
			"or gpu[0].utilization_pct, or take [sum], [mean] or [max]",
			name);
	if (!levels)
		return 0;
	for (enum instance_choice choice = INSTANCE_SUM; choice <= INSTANCE_MAX; choice++)
		if (column->depth == 1 && strcmp(column->keys[0], WORDS[choice]) == 0) {
			column->choice = choice;
			column->depth = 0;
			return 0;
		}
	column->choice = INSTANCE_KEY;
	if (column->depth != levels)
		return problem_set(problem, -EINVAL, "\"%s\" needs %d names in brackets", name, levels);
	return 0;
}

int record_column_find(const char *name, struct record_column *ret_column, struct rt_problem *problem)
{
	struct record_column column = {.choice = INSTANCE_ONLY};
	char plain[NAME_BYTES];
	int matches, result;

	if (!split_instances(name, plain, &column))
		return problem_set(problem, -ENOENT, "\"%.100s\" is not the name of a metric", name);
	if (!find_full(plain, &column) && !find_heading(plain, &column)) {
		matches = find_short(plain, &column);
		if (!matches)
			return unknown(name, plain, problem);
		if (matches > 1)
			return problem_set(problem, -EINVAL,
					   "\"%s\" is the name of %d metrics: write it with its group, as in "
					   "cpu.process_rss_mib",
					   name, matches);
	}
	result = settle_instance(name, &column, problem);
	if (result == 0)
		*ret_column = column;
	return result;
}

static bool is_key(const struct row *row, size_t position, const char *key)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	struct scan digits = scan_bytes(key, strlen(key));
	uint64_t wanted;

	if (description->shape == ARRAY || description->shape == MAP) {
		const char *own = *row_text(row, metric_offset(0));

		if (!text_absent(own) && strcmp(own, key) == 0)
			return true;
	}
	return scan_u64(&digits, &wanted) && !scan_left(&digits) && wanted == position;
}

/* The row of a kind below `parent` that a key names. */
static const struct row *row_by_key(const struct frame *frame, enum row_kind kind, const struct row *parent,
				    const char *key)
{
	size_t position = 0;

	for (const struct row *row = frame->first[kind]; row; row = row->next) {
		if (parent && row->parent != parent)
			continue;
		if (is_key(row, position++, key))
			return row;
	}
	return NULL;
}

static bool has_levels_above(enum row_kind kind)
{
	return levels_of(kind) > 1;
}

static const struct row *find_row(const struct record_column *column, const struct frame *frame)
{
	const struct row *parent = NULL;

	if (column->choice != INSTANCE_KEY)
		return frame->first[column->kind];
	if (has_levels_above(column->kind)) {
		parent = row_by_key(frame, ROW_DESCRIPTIONS[column->kind].parent, NULL, column->keys[0]);
		if (!parent)
			return NULL;
	}
	return row_by_key(frame, column->kind, parent, column->keys[column->depth - 1]);
}

static struct rt_cell cell_of(const struct row *row, const struct metric *metric, size_t offset)
{
	if (!row || field_absent(row, metric->type, offset))
		return (struct rt_cell){0};
	switch (metric->type) {
	case TYPE_REAL:
		return (struct rt_cell){.type = RT_CELL_REAL, .real = *row_real(row, offset)};
	case TYPE_TEXT:
		return (struct rt_cell){.type = RT_CELL_TEXT, .text = *row_text(row, offset)};
	default:
		return (struct rt_cell){.type = RT_CELL_COUNT, .count = *row_count(row, offset)};
	}
}

static double real_of(struct rt_cell cell)
{
	return cell.type == RT_CELL_REAL ? cell.real : cell.type == RT_CELL_COUNT ? (double)cell.count : NAN;
}

static struct rt_cell over_all(const struct record_column *column, const struct frame *frame)
{
	double sum = 0, most = -INFINITY, count = 0;

	for (const struct row *row = frame->first[column->kind]; row; row = row->next) {
		double value =
			real_of(cell_of(row, record_column_metric(column), metric_offset(column->index)));

		if (isnan(value))
			continue;
		sum += value;
		most = value > most ? value : most;
		count++;
	}
	if (count == 0)
		return (struct rt_cell){0};
	if (column->choice == INSTANCE_MEAN)
		sum /= count;
	return (struct rt_cell){.type = RT_CELL_REAL, .real = column->choice == INSTANCE_MAX ? most : sum};
}

struct rt_cell record_column_cell(const struct record_column *column, const struct frame *frame)
{
	if (column->choice >= INSTANCE_SUM)
		return over_all(column, frame);
	return cell_of(find_row(column, frame), record_column_metric(column), metric_offset(column->index));
}

double record_column_real(const struct record_column *column, const struct frame *frame)
{
	return real_of(record_column_cell(column, frame));
}
