/* Computes statistics of recordings and tables. See stats.h. */
#include "table/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "record/column.h"
#include "record/reader.h"

static const struct rt_stat_spec DEFAULTS[] = {
	{"process_cpu_usage", "mean", NULL, 2},
	{"process_cpu_usage", "max", NULL, 2},
	{"process_memory_mib", "mean", NULL, 2},
	{"process_memory_mib", "max", NULL, 2},
	{"process_gpu_usage", "mean", NULL, 2},
	{"process_gpu_usage", "max", NULL, 2},
	{"process_gpu_vram_mib", "mean", NULL, 2},
	{"process_gpu_vram_mib", "max", NULL, 2},
	{"process_gpu_utilized", "mean", NULL, 2},
	{"process_gpu_utilized", "max", NULL, 2},
	{"system_disk_space_used_gb", "max", NULL, 2},
	{"system_net_recv_bytes", "sum", NULL, RT_STAT_NOT_ROUNDED},
	{"system_net_sent_bytes", "sum", NULL, RT_STAT_NOT_ROUNDED},
	{"timestamp", "duration", NULL, RT_STAT_NOT_ROUNDED},
};

const struct rt_stat_spec *rt_stats_default_specs(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(DEFAULTS);
	return DEFAULTS;
}

rt_stats *stats_new(void)
{
	return calloc(1, sizeof(rt_stats));
}

void rt_stats_free(rt_stats *stats)
{
	if (!stats)
		return;
	for (size_t i = 0; i < stats->count; i++) {
		free(stats->entries[i].column);
		free(stats->entries[i].name);
	}
	free(stats->entries);
	free(stats);
}

/* Returns the position for a new entry: behind the others of its column. */
static size_t entry_place(const rt_stats *stats, const char *column)
{
	size_t place = stats->count;

	for (size_t i = 0; i < stats->count; i++)
		if (strcmp(stats->entries[i].column, column) == 0)
			place = i + 1;
	return place;
}

int stats_set(rt_stats *stats, const char *column, const char *name, struct rt_value value)
{
	struct stats_entry *entries, entry = {.value = value};
	size_t place;

	for (size_t i = 0; i < stats->count; i++)
		if (strcmp(stats->entries[i].column, column) == 0 &&
		    strcmp(stats->entries[i].name, name) == 0) {
			stats->entries[i].value = value;
			return 0;
		}
	entries = realloc(stats->entries, (stats->count + 1) * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	stats->entries = entries;
	entry.column = strdup(column);
	entry.name = strdup(name);
	if (!entry.column || !entry.name) {
		free(entry.column);
		free(entry.name);
		return -ENOMEM;
	}
	place = entry_place(stats, column);
	memmove(&entries[place + 1], &entries[place], (stats->count - place) * sizeof(*entries));
	entries[place] = entry;
	stats->count++;
	return 0;
}

struct rt_value rt_stats_get(const rt_stats *stats, const char *column, const char *name)
{
	for (size_t i = 0; i < stats->count; i++)
		if (strcmp(stats->entries[i].column, column) == 0 &&
		    strcmp(stats->entries[i].name, name) == 0)
			return stats->entries[i].value;
	return (struct rt_value){.reason = ABSENT_NOT_GIVEN};
}

int rt_stats_entry(const rt_stats *stats, size_t index, const char **ret_column, const char **ret_name,
		   struct rt_value *ret_value)
{
	if (index >= stats->count)
		return -ENOENT;
	*ret_column = stats->entries[index].column;
	*ret_name = stats->entries[index].name;
	*ret_value = stats->entries[index].value;
	return 0;
}

/* One requested column, with any number of aggregates. */
struct stats_gathering {
	const char *name;
	struct metric_place column;
	struct values values;
};

struct gatherings {
	struct rt_stat_spec *specs;
	size_t spec_count;
	struct stats_gathering *list;
	size_t count;
	size_t run; /* of the last sample, 0 before any */
	double first_elapsed_secs, last_elapsed_secs;
	int error;
};

void gatherings_free(struct gatherings *gatherings)
{
	for (size_t i = 0; gatherings && i < gatherings->count; i++)
		values_done(&gatherings->list[i].values);
	if (!gatherings)
		return;
	free(gatherings->list);
	free(gatherings->specs);
	free(gatherings);
}

static struct stats_gathering *find_gathering(const struct gatherings *gatherings, const char *name)
{
	for (size_t i = 0; i < gatherings->count; i++)
		if (strcmp(gatherings->list[i].name, name) == 0)
			return &gatherings->list[i];
	return NULL;
}

static int add_spec(struct gatherings *gatherings, const struct rt_stat_spec *spec,
		    struct rt_problem *problem)
{
	struct stats_gathering *gathering = find_gathering(gatherings, spec->column);
	struct aggregate aggregate;
	int result = aggregate_find(spec->aggregate, &aggregate, problem);

	if (result < 0)
		return result;
	if (!gathering) {
		gathering = &gatherings->list[gatherings->count];
		result = record_column_find(spec->column, &gathering->column, problem);
		if (result < 0)
			return result;
		gathering->name = spec->column;
		gatherings->count++;
	}
	gathering->values.keep_quantiles |= aggregate.kind == AGGREGATE_PERCENTILE;
	return 0;
}

static void begin_stats_run(struct gatherings *gatherings, const struct frame *frame)
{
	gatherings->first_elapsed_secs = frame->sample->elapsed_secs;
	for (size_t i = 0; i < gatherings->count; i++) {
		bool keep = gatherings->list[i].values.keep_quantiles;

		values_done(&gatherings->list[i].values);
		gatherings->list[i].values.keep_quantiles = keep;
	}
}

int gatherings_new(const struct rt_stat_spec *specs, size_t spec_count, struct metric_set *wanted,
		   struct gatherings **ret_gatherings, struct rt_problem *ret_problem)
{
	CLEANUP_GATHERINGS struct gatherings *gatherings = calloc(1, sizeof(*gatherings));
	int result = 0;

	if (gatherings) {
		gatherings->list = calloc(spec_count + 1, sizeof(*gatherings->list));
		gatherings->specs = calloc(spec_count + 1, sizeof(*specs));
	}
	if (!gatherings || !gatherings->list || !gatherings->specs)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	memcpy(gatherings->specs, specs, spec_count * sizeof(*specs));
	gatherings->spec_count = spec_count;
	for (size_t i = 0; i < spec_count && result == 0; i++)
		result = add_spec(gatherings, &specs[i], ret_problem);
	if (result < 0)
		return result;
	for (size_t i = 0; i < gatherings->count; i++)
		record_column_want(&gatherings->list[i].column, wanted);
	*ret_gatherings = gatherings;
	gatherings = NULL;
	return 0;
}

void gatherings_add(void *gatherings_, const struct frame *frame, size_t run)
{
	struct gatherings *gatherings = gatherings_;

	if (run != gatherings->run)
		begin_stats_run(gatherings, frame);
	gatherings->run = run;
	gatherings->last_elapsed_secs = frame->sample->elapsed_secs;
	for (size_t i = 0; i < gatherings->count && gatherings->error == 0; i++) {
		struct stats_gathering *gathering = &gatherings->list[i];

		gatherings->error =
			values_add(&gathering->values, record_column_cell(&gathering->column, frame),
				   frame->sample->actual_interval_ms / 1000);
	}
}

static struct rt_value rounded_cell(struct rt_value value, int decimals)
{
	if (value.type == RT_TYPE_REAL && decimals != RT_STAT_NOT_ROUNDED)
		value.real = round_like_python(value.real, decimals);
	return value;
}

/*
 * The wall clock can be set, and it goes on while the machine is suspended. So the duration comes from
 * elapsed_secs if the file has it, or if a time stamp went backwards.
 */
static double duration_of_run(const struct gatherings *gatherings, const struct record *record, double range)
{
	bool has_elapsed = record_format(record) == RECORD_JSON || record_damage(record).clock_steps > 0;

	return record_lead_in_secs(record) +
	       (has_elapsed
			? round_like_python(gatherings->last_elapsed_secs - gatherings->first_elapsed_secs, 6)
			: range);
}

static int add_results(rt_stats *stats, const struct gatherings *gatherings, const struct record *record)
{
	int result = gatherings->error;

	for (size_t i = 0; i < gatherings->spec_count && result == 0; i++) {
		const struct rt_stat_spec *spec = &gatherings->specs[i];
		struct stats_gathering *gathering = find_gathering(gatherings, spec->column);
		struct aggregate aggregate = {0};
		struct rt_value value;

		(void)aggregate_find(spec->aggregate, &aggregate, NULL);
		values_weigh_first(&gathering->values, record_lead_in_secs(record));
		value = values_get(&gathering->values, aggregate);
		if (aggregate.kind == AGGREGATE_DURATION && value.type == RT_TYPE_REAL &&
		    strcmp(spec->column, "timestamp") == 0)
			value.real = duration_of_run(gatherings, record, value.real);
		result = stats_set(stats, spec->column, spec->name ? spec->name : spec->aggregate,
				   rounded_cell(value, spec->decimals));
	}
	return result;
}

int gatherings_finish(const struct gatherings *gatherings, const struct record *record, rt_stats **ret_stats,
		      struct rt_problem *ret_problem)
{
	CLEANUP_STATS rt_stats *stats = stats_new();
	int result = stats ? add_results(stats, gatherings, record) : -ENOMEM;

	if (result < 0)
		return problem_set(ret_problem, result, "out of memory");
	*ret_stats = stats;
	stats = NULL;
	return 0;
}

int rt_stats_read_record(const char *const *paths, size_t path_count, const struct rt_stat_spec *specs,
			 size_t spec_count, rt_stats **ret_stats, struct rt_problem *ret_problem)
{
	CLEANUP_GATHERINGS struct gatherings *gatherings = NULL;
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options options = {0};
	const struct frame *frame;
	int result = gatherings_new(specs, spec_count, &options.wanted, &gatherings, ret_problem);

	if (result == 0)
		result = record_open(paths, path_count, &options, &record, ret_problem);
	if (result < 0)
		return result;
	while ((result = record_next(record, &frame)) > 0 && gatherings->error == 0)
		gatherings_add(gatherings, frame, record_run(record));
	if (result < 0)
		return problem_set(ret_problem, result, "%s", record_problem(record)->text);
	if (!gatherings->run)
		return problem_set(ret_problem, -ENODATA, "%s: no whole sample has been written yet",
				   paths[0]);
	return gatherings_finish(gatherings, record, ret_stats, ret_problem);
}

static int compute_of_table(rt_stats *stats, const rt_table *table, const struct rt_stat_spec *spec,
			    struct rt_problem *problem)
{
	ssize_t column = rt_table_find(table, spec->column);
	struct values values = {0};
	struct aggregate aggregate;
	struct rt_value value;
	int result = aggregate_find(spec->aggregate, &aggregate, problem);

	if (result < 0)
		return result;
	if (column < 0)
		return problem_set(problem, -ENOENT, "there is no column '%.200s'", spec->column);
	values.keep_quantiles = aggregate.kind == AGGREGATE_PERCENTILE;
	for (size_t row = 0; row < rt_table_row_count(table) && result == 0; row++)
		result = values_add(&values, rt_table_get(table, (size_t)column, row), NAN);
	value = values_get(&values, aggregate);
	if (aggregate.kind == AGGREGATE_LEN)
		value.count = (int64_t)rt_table_row_count(table);
	values_done(&values);
	if (result == 0 && value.type == RT_TYPE_NONE)
		return problem_set(problem, -ENODATA, "'%.200s' has no numbers", spec->column);
	if (result == 0)
		result = stats_set(stats, spec->column, spec->name ? spec->name : spec->aggregate,
				   rounded_cell(value, spec->decimals));
	return result;
}

int rt_stats_of_table(const rt_table *table, const struct rt_stat_spec *specs, size_t spec_count,
		      rt_stats **ret_stats, struct rt_problem *ret_problem)
{
	CLEANUP_STATS rt_stats *stats = stats_new();
	int left_out = 0;

	if (!stats)
		return -ENOMEM;
	for (size_t i = 0; i < spec_count; i++) {
		int result = compute_of_table(stats, table, &specs[i], left_out ? NULL : ret_problem);

		if (result == -ENOMEM)
			return result;
		left_out += result < 0;
	}
	*ret_stats = stats;
	stats = NULL;
	return left_out;
}
