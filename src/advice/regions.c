/* Computes what each phase of a run used; see regions.h. */
#include "advice/regions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/sample_shares.h"
#include "advice/summary.h"
#include "base/cleanup.h"
#include "base/sized.h"
#include "format/csv_cells.h"
#include "format/mark_line.h"
#include "record/column.h"
#include "record/source.h"
#include "table/aggregate.h"
#include "table/sqlite_read.h"
#include "table/table.h"

#define TIME_COLUMN "timestamp"
#define INTERVAL_COLUMN "actual_interval_ms"

/* The measures of our recordings if the user names no columns. */
static const char *const MEASURES[] = {
	"process_cpu_usage",        "process_memory_mib",     "process_disk_read_bytes",
	"process_disk_write_bytes", "process_gpu_usage",      "process_gpu_vram_mib",
	"system_cpu_usage",         "system_memory_used_mib", "system_disk_read_bytes",
	"system_disk_write_bytes",  "system_net_recv_bytes",  "system_net_sent_bytes",
};

void rt_regions_free(rt_regions *regions)
{
	if (!regions)
		return;
	for (size_t i = 0; regions->measures && i < regions->measure_count; i++)
		free(regions->measures[i]);
	for (size_t i = 0; i < regions->count; i++) {
		free(regions->list[i].name);
		free(regions->list[i].measures);
		free(regions->list[i].each);
	}
	free(regions->measures);
	free(regions->holds);
	free(regions->overall);
	free(regions->list);
	rt_table_free(regions->facts);
	phases_done(&regions->phases);
	free(regions);
}

static void cleanup_table(rt_table **table)
{
	rt_table_free(*table);
}
#define CLEANUP_TABLE __attribute__((cleanup(cleanup_table)))

static void cleanup_regions(rt_regions **regions)
{
	rt_regions_free(*regions);
}

/* ---- figures ---------------------------------------------------------------------------------------- */

static void take_statistics(struct values *values, double *ret_statistics)
{
	static const enum aggregate_kind KINDS[] = {AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_MEAN,
						    AGGREGATE_STD, AGGREGATE_SUM};

	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		ret_statistics[i] = cell_real(values_get(values, (struct aggregate){KINDS[i], 0}), NAN);
}

/* The values of moments: gpu_tracker's statistics, which have no sum. */
static void measure_moments(const rt_table *samples, size_t column, const struct sample_shares *shares,
			    double *ret_statistics)
{
	struct values values = {0};

	for (size_t i = 0; i < shares->count; i++)
		if (shares->list[i].has_end)
			(void)values_add(&values, rt_table_get(samples, column, shares->list[i].row), NAN);
	take_statistics(&values, ret_statistics);
	values_done(&values);
	ret_statistics[REGION_TOTAL] = (double)NAN;
}

/* A level counts by its seconds, and its sum is in unit-seconds. An amount counts by its part. */
static double weight_of(const struct sample_share *share, enum measure_holds holds)
{
	return holds == HOLDS_LEVEL ? share->secs : share->part;
}

/* The values of intervals, each weighed by its share. */
static void measure_intervals(const rt_table *samples, size_t column, enum measure_holds holds,
			      const struct sample_shares *shares, double *ret_statistics)
{
	double least = (double)NAN, most = (double)NAN, sum = 0, weights = 0, squares = 0;

	for (size_t i = 0; i < shares->count; i++) {
		double weight = weight_of(&shares->list[i], holds);
		double value = cell_real(rt_table_get(samples, column, shares->list[i].row), NAN);

		if (isnan(value) || !(weight > 0))
			continue;
		least = fmin(least, value);
		most = fmax(most, value);
		/* West's running squares around the mean. */
		squares += weights > 0 ? weight * weights / (weights + weight) * (value - sum / weights) *
						 (value - sum / weights)
				       : 0;
		sum += weight * value;
		weights += weight;
	}
	ret_statistics[REGION_MIN] = least;
	ret_statistics[REGION_MAX] = most;
	ret_statistics[REGION_MEAN] = weights > 0 ? sum / weights : (double)NAN;
	ret_statistics[REGION_STD] = weights > 0 ? sqrt(squares / weights) : (double)NAN;
	ret_statistics[REGION_TOTAL] = weights > 0 ? sum : (double)NAN;
}

static void measure_shares(const rt_regions *regions, const rt_table *samples,
			   const struct sample_shares *shares, double (*ret_measures)[REGION_STATISTICS])
{
	for (size_t i = 0; i < regions->measure_count; i++) {
		ssize_t column = rt_table_find(samples, regions->measures[i]);

		if (regions->holds[i] == HOLDS_MOMENT)
			measure_moments(samples, (size_t)column, shares, ret_measures[i]);
		else
			measure_intervals(samples, (size_t)column, regions->holds[i], shares,
					  ret_measures[i]);
	}
}

/* ---- one phase -------------------------------------------------------------------------------------- */

/* Adds the samples of a phase's calls, sorted by start. The time that calls share counts once. */
static void add_shares(const struct phase *phase, const struct sample_times *times,
		       struct sample_shares *shares)
{
	for (size_t i = 0; i < phase->call_count;) {
		double start = phase->calls[i].start, stop = phase->calls[i].stop;

		for (i++; i < phase->call_count && phase->calls[i].start <= stop; i++)
			stop = fmax(stop, phase->calls[i].stop);
		sample_shares_add(shares, times, start, stop);
	}
}

/* Widens the span of the calls by one of them: its sum, or its maximum of the values of moments. */
static int add_call(const rt_regions *regions, struct region *region, const struct phase_call *call,
		    const rt_table *samples, const struct sample_times *times,
		    double (*scratch)[REGION_STATISTICS])
{
	__attribute__((cleanup(sample_shares_done))) struct sample_shares shares = {0};
	bool any = false;

	sample_shares_add(&shares, times, call->start, call->stop);
	if (shares.failed)
		return -ENOMEM;
	for (size_t i = 0; i < shares.count && !any; i++)
		any = shares.list[i].has_end;
	region->non_empty_calls += any;
	measure_shares(regions, samples, &shares, scratch);
	for (size_t i = 0; i < regions->measure_count; i++) {
		double value = scratch[i][regions->holds[i] == HOLDS_MOMENT ? REGION_MAX : REGION_TOTAL];

		region->each[i][0] = fmin(region->each[i][0], value);
		region->each[i][1] = fmax(region->each[i][1], value);
	}
	return 0;
}

static int add_calls(const rt_regions *regions, struct region *region, const struct phase *phase,
		     const rt_table *samples, const struct sample_times *times)
{
	CLEANUP_FREE double(*scratch)[REGION_STATISTICS] =
		calloc(regions->measure_count + 1, sizeof(*scratch));
	struct values seconds = {0};
	int result = scratch ? 0 : -ENOMEM;

	for (size_t i = 0; i < regions->measure_count; i++)
		region->each[i][0] = region->each[i][1] = (double)NAN;
	for (size_t i = 0; i < phase->call_count && result == 0; i++) {
		const struct phase_call *call = &phase->calls[i];

		(void)values_add(&seconds,
				 (struct rt_cell){.type = RT_CELL_REAL, .real = call->stop - call->start},
				 NAN);
		result = add_call(regions, region, call, samples, times, scratch);
	}
	take_statistics(&seconds, region->seconds);
	values_done(&seconds);
	return result;
}

static int add_region(rt_regions *regions, const struct phase *phase, const rt_table *samples,
		      const struct sample_times *times)
{
	__attribute__((cleanup(sample_shares_done))) struct sample_shares shares = {0};
	struct region *region = &regions->list[regions->count];

	*region = (struct region){
		.name = strdup(phase->name),
		.calls = (int64_t)phase->call_count,
		.began = phase->call_count ? phase->calls[0].start : (double)INFINITY,
		.measures = calloc(regions->measure_count + 1, sizeof(*region->measures)),
		.each = calloc(regions->measure_count + 1, sizeof(*region->each)),
	};
	regions->count++;
	add_shares(phase, times, &shares);
	if (shares.failed || !region->name || !region->measures || !region->each)
		return -ENOMEM;
	for (size_t i = 0; i < shares.count; i++)
		region->timepoints += shares.list[i].has_end;
	measure_shares(regions, samples, &shares, region->measures);
	return add_calls(regions, region, phase, samples, times);
}

/* ---- samples ---------------------------------------------------------------------------------------- */

/* Changes and rates hold for the interval before the sample, and so does the use of GPUs, which the driver averages. */
static enum measure_holds held_by(const char *column)
{
	const struct metric *metric;
	struct metric_place place = {0};

	if (record_column_find(column, &place, NULL) < 0)
		return HOLDS_MOMENT;
	metric = metric_place_metric(&place);
	if (metric->nature == DELTA || metric->nature == SUM_OF_DELTAS)
		return HOLDS_AMOUNT;
	return metric->nature == RATE_EXACT || metric->nature == RATE_WINDOWED ||
			       strcmp(metric->unit, "GPUs") == 0
		       ? HOLDS_LEVEL
		       : HOLDS_MOMENT;
}

/* A column that tells of the samples themselves. */
static bool is_time(const char *name)
{
	return strcmp(name, TIME_COLUMN) == 0 || strcmp(name, INTERVAL_COLUMN) == 0;
}

static int list_measures(rt_regions *regions, const rt_table *samples)
{
	size_t columns = rt_table_column_count(samples);

	regions->measures = calloc(columns + 1, sizeof(*regions->measures));
	regions->holds = calloc(columns + 1, sizeof(*regions->holds));
	regions->overall = calloc(columns + 1, sizeof(*regions->overall));
	regions->list = calloc(regions->phases.count + 1, sizeof(*regions->list));
	if (!regions->measures || !regions->holds || !regions->overall || !regions->list)
		return -ENOMEM;
	for (size_t i = 0; i < columns; i++) {
		const char *name = rt_table_column_name(samples, i);
		size_t at = regions->measure_count;

		if (is_time(name))
			continue;
		regions->holds[at] = regions->recorded ? held_by(name) : HOLDS_MOMENT;
		regions->measures[at] = strdup(name);
		if (!regions->measures[regions->measure_count++])
			return -ENOMEM;
	}
	return 0;
}

static int read_times(struct sample_times *times, const rt_table *samples)
{
	ssize_t timestamp = rt_table_find(samples, TIME_COLUMN),
		interval = rt_table_find(samples, INTERVAL_COLUMN);

	times->count = rt_table_row_count(samples);
	times->list = calloc(times->count + 1, sizeof(*times->list));
	if (!times->list)
		return -ENOMEM;
	for (size_t row = 0; row < times->count; row++) {
		double ended = cell_real(rt_table_get(samples, (size_t)timestamp, row), -INFINITY);
		double length_ms = interval < 0
					   ? (double)NAN
					   : cell_real(rt_table_get(samples, (size_t)interval, row), NAN);

		times->list[row] = (struct sample_time){ended - length_ms / 1000, ended, row};
	}
	sample_times_settle(times);
	return 0;
}

static int analyse_samples(rt_regions *regions, const rt_table *samples)
{
	__attribute__((cleanup(sample_times_done))) struct sample_times times = {0};
	__attribute__((cleanup(sample_shares_done))) struct sample_shares all = {0};
	int result = list_measures(regions, samples);

	if (result == 0)
		result = read_times(&times, samples);
	if (result < 0)
		return result;
	sample_shares_add(&all, &times, -INFINITY, INFINITY);
	if (all.failed)
		return -ENOMEM;
	measure_shares(regions, samples, &all, regions->overall);
	regions->samples = times.count;
	if (!(regions->latest > 0) && times.count) {
		regions->earliest = times.list[0].ended;
		regions->latest = times.list[times.count - 1].ended;
	}
	for (size_t i = 0; i < regions->phases.count && result == 0; i++)
		result = add_region(regions, &regions->phases.list[i], samples, &times);
	return result;
}

/* ---- recordings ------------------------------------------------------------------------------------- */

static int add_fact(rt_table *facts, const char *name, struct rt_cell value)
{
	ssize_t column = rt_table_add_column(facts, name);

	if (column < 0)
		return (int)column;
	if (rt_table_row_count(facts) == 0 && rt_table_add_row(facts) < 0)
		return -ENOMEM;
	return rt_table_set(facts, (size_t)column, 0, value);
}

static int read_facts(rt_regions *regions, const rt_summary *summary)
{
	const struct phases *phases = &regions->phases;
	const struct {
		const char *name;
		size_t value;
	} FACTS[] = {{"samples", (size_t)summary->samples},
		     {"open_calls", phases->open_calls},
		     {"unmatched_stops", phases->unmatched_stops},
		     {"bad_marks", phases->bad_lines}};

	regions->facts = rt_table_new();
	if (!regions->facts)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(FACTS); i++)
		if (add_fact(regions->facts, FACTS[i].name,
			     (struct rt_cell){.type = RT_CELL_COUNT, .count = (int64_t)FACTS[i].value}) < 0)
			return -ENOMEM;
	return 0;
}

static int read_samples(const char *const *paths, size_t path_count, const char *const *columns, size_t count,
			rt_table **ret_table, struct rt_problem *problem)
{
	CLEANUP_FREE const char **names = calloc(count + 2, sizeof(*names));

	if (!names)
		return problem_set(problem, -ENOMEM, "out of memory");
	names[0] = TIME_COLUMN;
	names[1] = INTERVAL_COLUMN;
	for (size_t i = 0; i < count; i++)
		names[i + 2] = columns[i];
	return rt_table_read_record(paths, path_count, names, count + 2, ret_table, problem);
}

/* A recording without a file of marks has no phases; but a file that the user named must exist. */
static int read_phases(rt_regions *regions, const char *recording, const char *marks,
		       const rt_summary *summary, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer beside = BUFFER(1 << 16);
	struct rt_problem found = {""};
	int result;

	buffer_printf(&beside, "%s.marks", recording);
	if (buffer_error(&beside))
		return problem_set(problem, -ENOMEM, "out of memory");
	/* Another user may have put a file of marks beside the recording; it is ignored. */
	if (!marks && !marks_can_be_read(beside.data))
		return 0;
	result = phases_read_marks(marks ? marks : beside.data, summary->earliest, summary->latest,
				   &regions->phases, &found);
	if (result == -ENOENT && !marks)
		return 0;
	return result < 0 ? problem_set(problem, result, "%s", found.text) : 0;
}

static void cleanup_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}

int regions_of_summary(const char *const *paths, size_t path_count, const rt_summary *summary,
		       const char *marks, const char *const *columns, size_t column_count,
		       rt_regions **ret_regions, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = calloc(1, sizeof(*regions));
	CLEANUP_TABLE rt_table *samples = NULL;
	int result;

	if (!regions)
		return problem_set(problem, -ENOMEM, "out of memory");
	if (!column_count) {
		columns = MEASURES;
		column_count = ARRAY_SIZE(MEASURES);
	}
	result = read_phases(regions, paths[0], marks, summary, problem);
	if (result == 0)
		result = read_samples(paths, path_count, columns, column_count, &samples, problem);
	if (result < 0)
		return result;
	regions->recorded = true;
	regions->peak_mib = summary_memory_peak(summary).mib;
	regions->sampled_mib = summary->tracked ? summary->memory.most : summary->host_memory.most;
	regions->earliest = summary->earliest;
	regions->latest = summary->latest;
	result = analyse_samples(regions, samples);
	if (result == 0)
		result = read_facts(regions, summary);
	if (result < 0)
		return problem_set(problem, result, "%s", strerror(-result));
	*ret_regions = regions;
	regions = NULL;
	return 0;
}

int rt_regions_read(const char *const *paths, size_t path_count, const char *marks,
		    const char *const *columns, size_t column_count, rt_regions **ret_regions,
		    struct rt_problem *ret_problem)
{
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	int result = rt_summary_read(paths, path_count, &summary, ret_problem);

	return result < 0 ? result
			  : regions_of_summary(paths, path_count, summary, marks, columns, column_count,
					       ret_regions, ret_problem);
}

/* ---- files of gpu_tracker --------------------------------------------------------------------------- */

static struct rt_cell cell_of_text(const struct cell_text *text, char **ret_copy)
{
	struct rt_cell cell = cell_of_number(text->text);

	if (cell.type == RT_CELL_NONE && scan_left(&text->text)) {
		*ret_copy = strndup(text->text.at, scan_left(&text->text));
		if (*ret_copy)
			cell = (struct rt_cell){.type = RT_CELL_TEXT, .text = *ret_copy};
	}
	return cell;
}

/* Reads a line as column names, or as a row. */
static int take_line(rt_table *table, struct scan line, bool names)
{
	__attribute__((cleanup(cells_done))) struct cells cells = CELLS(line);
	struct cell_text text;
	ssize_t row = names ? 0 : rt_table_add_row(table);
	int result;

	for (size_t column = 0; (result = cells_next(&cells, &text)) > 0 && row >= 0; column++) {
		CLEANUP_FREE char *copy = NULL;
		struct rt_cell cell = cell_of_text(&text, &copy);
		ssize_t done = names ? rt_table_add_column(table, copy ? copy : "")
				     : rt_table_set(table, column, (size_t)row, cell);

		if (done < 0)
			return -EBADMSG;
	}
	return row < 0 ? -ENOMEM : result;
}

static int read_lines(struct source *source, rt_table *facts, rt_table *samples)
{
	struct source_line line;
	int result;

	for (int number = 0; (result = source_next_line(source, &line)) > 0; number++) {
		if (number > 2 && (!line.terminated || !scan_left(&line.text)))
			continue;
		result = take_line(number < 2 ? facts : samples, line.text, number == 0 || number == 2);
		if (result < 0)
			return result;
	}
	return result;
}

static int read_tracking_csv(const char *path, rt_table *facts, rt_table *samples, struct rt_problem *problem)
{
	struct source source;
	int result = source_open(&source, path, problem);

	if (result < 0)
		return result;
	result = read_lines(&source, facts, samples);
	source_close(&source);
	return result < 0 ? problem_set(problem, result, "%s: no tracking file of gpu_tracker", path) : 0;
}

static int read_tracking(const char *path, rt_table **ret_facts, rt_table **ret_samples,
			 struct rt_problem *problem)
{
	int result;

	if (sqlite_is_file(path)) {
		result = sqlite_read_table(path, "static_data", ret_facts, problem);
		return result < 0 ? result : sqlite_read_table(path, "data", ret_samples, problem);
	}
	*ret_facts = rt_table_new();
	*ret_samples = rt_table_new();
	if (!*ret_facts || !*ret_samples)
		return problem_set(problem, -ENOMEM, "out of memory");
	return read_tracking_csv(path, *ret_facts, *ret_samples, problem);
}

int rt_regions_read_gpu_tracker(const char *tracking_file, const char *sub_tracking_file,
				rt_regions **ret_regions, struct rt_problem *ret_problem)
{
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = calloc(1, sizeof(*regions));
	CLEANUP_TABLE rt_table *samples = NULL;
	int result = 0;

	if (!regions)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	if (tracking_file)
		result = read_tracking(tracking_file, &regions->facts, &samples, ret_problem);
	else if (!(regions->facts = rt_table_new()) || !(samples = rt_table_new()))
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	if (result == 0 && tracking_file && rt_table_find(samples, "timestamp") < 0)
		result = problem_set(ret_problem, -EBADMSG,
				     "%s: no tracking file of gpu_tracker: there is no column timestamp",
				     tracking_file);
	if (result == 0 && sub_tracking_file)
		result = phases_read_sub_tracking(sub_tracking_file, &regions->phases, ret_problem);
	if (result < 0)
		return result;
	result = analyse_samples(regions, samples);
	if (result < 0)
		return problem_set(ret_problem, result, "%s", strerror(-result));
	*ret_regions = regions;
	regions = NULL;
	return 0;
}

int rt_regions_phase(const rt_regions *regions, size_t index, struct rt_phase *ret_phase)
{
	struct rt_phase phase;

	if (index >= regions->count)
		return -ENOENT;
	phase = (struct rt_phase){
		.name = regions->list[index].name,
		.calls = regions->list[index].calls,
		.total_secs = regions->list[index].seconds[REGION_TOTAL],
	};
	return copy_sized(ret_phase, &phase, sizeof(phase), SIZE_UP_TO(struct rt_phase, total_secs));
}

int rt_regions_call(const rt_regions *regions, size_t phase, size_t index, double *ret_start,
		    double *ret_stop)
{
	if (phase >= regions->phases.count || index >= regions->phases.list[phase].call_count)
		return -ENOENT;
	*ret_start = regions->phases.list[phase].calls[index].start;
	*ret_stop = regions->phases.list[phase].calls[index].stop;
	return 0;
}
