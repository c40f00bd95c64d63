/* Reads recordings by the names of their values. See resource_tracker_analysis.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/sized.h"
#include "metric/typed_rows.h"
#include "record/column.h"
#include "record/reader.h"
#include "record/source.h"
#include "resource_tracker_internal.h"

struct rt_record {
	struct record *record;
	const struct frame *frame; /* NULL before the first sample and after the last */
	struct metric_place *columns;
	size_t column_count;
};

void rt_record_close(rt_record *record)
{
	if (!record)
		return;
	record_close(record->record);
	free(record->columns);
	free(record);
}

static int find_columns(rt_record *record, const char *const *columns, size_t count,
			struct metric_set *wanted, struct rt_problem *problem)
{
	record->columns = calloc(count ? count : 1, sizeof(*record->columns));
	if (!record->columns)
		return problem_set(problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int result = record_column_find(columns[i], &record->columns[i], problem);

		if (result < 0)
			return result;
		record_column_want(&record->columns[i], wanted);
		record->column_count++;
	}
	return 0;
}

int rt_record_open(const char *const *paths, size_t path_count, const char *const *columns,
		   size_t column_count, rt_record **ret_record, struct rt_problem *ret_problem)
{
	rt_record *record = calloc(1, sizeof(*record));
	struct record_options options = {0};
	int result;

	if (!record)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	result = find_columns(record, columns, column_count, &options.wanted, ret_problem);
	if (result == 0)
		result = record_open(paths, path_count, &options, &record->record, ret_problem);
	if (result < 0) {
		rt_record_close(record);
		return result;
	}
	*ret_record = record;
	return 0;
}

int rt_record_next(rt_record *record, struct rt_problem *ret_problem)
{
	int result = record_next(record->record, &record->frame);

	if (result <= 0)
		record->frame = NULL;
	if (result < 0)
		return problem_set(ret_problem, result, "%s", record_problem(record->record)->text);
	return result;
}

struct rt_value rt_record_get(const rt_record *record, size_t column)
{
	struct rt_value value = {.reason = ABSENT_NOT_GIVEN};

	if (!record->frame || column >= record->column_count)
		return value;
	value = record_column_cell(&record->columns[column], record->frame);
	if (value.type == RT_TYPE_COUNT && metric_place_metric(&record->columns[column])->type == TYPE_FLAG)
		value.type = RT_TYPE_FLAG;
	return value;
}

double rt_record_timestamp(const rt_record *record)
{
	return record->frame ? record->frame->sample->timestamp : NAN;
}

double rt_record_elapsed_secs(const rt_record *record)
{
	return record->frame ? record->frame->sample->elapsed_secs : NAN;
}

int rt_record_get_info(const rt_record *record, struct rt_record_info *ret_info)
{
	struct record_damage damage = record_damage(record->record);
	const struct rt_record_info info = {
		.run = record_run(record->record),
		.torn_tails = damage.torn_tails,
		.bad_lines = damage.bad_lines,
		.first_bad_line = damage.first_bad_line,
		.clock_steps = damage.clock_steps,
		.hosts = damage.hosts,
		.interval_secs = record_interval_secs(record->record),
		.finished = FIRST(record_identity(record->record), run_end) != NULL,
		.layout = record_layout(record->record),
	};

	return copy_sized(ret_info, &info, sizeof(info), SIZE_UP_TO(struct rt_record_info, layout));
}

void rt_record_on_damage(void (*tell)(const char *path))
{
	source_on_damage(tell);
}
