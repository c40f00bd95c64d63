/* Finds a value of a recording by name. See column.h. */
#include "record/column.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/scan.h"
#include "format/csv_layout.h"

enum { NAME_BYTES = 160 };

static bool find_csv_heading(const char *name, struct metric_place *column)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];

	for (size_t i = 0; i < combined->column_count; i++)
		if (strcmp(combined->columns[i].heading, name) == 0) {
			column->kind = combined->columns[i].kind;
			column->index = metric_index_at(combined->columns[i].offset);
			return true;
		}
	return false;
}

/* Returns how many metrics have this short name, and the last of them. */
static int find_short(const char *name, struct metric_place *column)
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

static void consider_name(const char *name, const char *candidate, struct nearest *nearest, char *ret_nearest)
{
	if (nearest_consider(nearest, name, candidate))
		snprintf(ret_nearest, NAME_BYTES, "%s", candidate);
}

static int unknown_name(const char *name, const char *plain, struct rt_problem *problem)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];
	char word[NAME_BYTES] = "", full[NAME_BYTES];
	struct nearest nearest = {0};

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			if (ROW_DESCRIPTIONS[kind].metrics[i].nature == RAW)
				continue;
			metric_full_name(kind, i, full, sizeof(full));
			consider_name(plain, full, &nearest, word);
			consider_name(plain, ROW_DESCRIPTIONS[kind].metrics[i].name, &nearest, word);
		}
	for (size_t i = 0; i < combined->column_count; i++)
		consider_name(plain, combined->columns[i].heading, &nearest, word);
	if (!nearest.word)
		return problem_set(problem, -ENOENT,
				   "there is no metric '%s'; resource-tracker metrics lists them", name);
	return problem_set(problem, -ENOENT, "there is no metric '%s'; the nearest is %s", name, word);
}

static int settle_place(const char *name, struct metric_place *place, struct rt_problem *problem)
{
	switch (metric_place_settle(place)) {
	case PLACE_GOOD:
		return 0;
	case PLACE_HAS_NO_KEYS:
		return problem_set(problem, -EINVAL, "'%s': there is only one, leave the brackets out", name);
	case PLACE_NEEDS_KEYS:
		return problem_set(
			problem, -EINVAL,
			"'%s' has several values: name one in brackets, as in disk[sda].read_bytes_per_sec "
			"or gpu[0].utilization_pct, or take [sum], [mean] or [max]",
			name);
	case PLACE_NEEDS_OTHER_KEYS:
		break;
	}
	return problem_set(problem, -EINVAL, "'%s' needs %d names in brackets", name,
			   metric_place_levels(place->kind));
}

int record_column_find(const char *name, struct metric_place *ret_column, struct rt_problem *problem)
{
	struct metric_place column = {.choice = PLACE_ONLY};
	char plain[NAME_BYTES];
	int matches, result;

	if (!metric_place_split(name, plain, sizeof plain, &column))
		return problem_set(problem, -ENOENT, "'%.100s' is not the name of a metric", name);
	if (!metric_place_find(plain, &column) && !find_csv_heading(plain, &column)) {
		matches = find_short(plain, &column);
		if (!matches)
			return unknown_name(name, plain, problem);
		if (matches > 1)
			return problem_set(problem, -EINVAL,
					   "'%s' is the name of %d metrics: write it with its group, as in "
					   "cpu.process_rss_mib",
					   name, matches);
	}
	result = settle_place(name, &column, problem);
	if (result == 0)
		*ret_column = column;
	return result;
}

static struct rt_value row_cell(const struct row *row, const struct metric *metric, size_t offset)
{
	int reason = row ? field_absent(row, metric->type, offset) : ABSENT_NOT_COLLECTED;

	if (reason)
		return (struct rt_value){.reason = reason};
	switch (metric->type) {
	case TYPE_REAL:
		return (struct rt_value){.type = RT_TYPE_REAL, .real = *row_real(row, offset)};
	case TYPE_TEXT:
		return (struct rt_value){.type = RT_TYPE_TEXT, .text = *row_text(row, offset)};
	default:
		return (struct rt_value){.type = RT_TYPE_COUNT, .count = *row_count(row, offset)};
	}
}

struct rt_value record_column_cell(const struct metric_place *place, const struct frame *frame)
{
	double value;

	if (place->choice < PLACE_SUM)
		return row_cell(metric_place_row(place, frame), metric_place_metric(place),
				metric_offset(place->index));
	value = metric_place_real(place, frame);
	return isnan(value) ? (struct rt_value){.reason = ABSENT_NOT_COLLECTED}
			    : (struct rt_value){.type = RT_TYPE_REAL, .real = value};
}

double record_column_real(const struct metric_place *place, const struct frame *frame)
{
	return metric_place_real(place, frame);
}
