/* Computes what each phase of a run used; see regions.h. */
#include "advice/regions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/summary.h"
#include "base/cleanup.h"
#include "base/sized.h"
#include "format/csv_cells.h"
#include "format/mark_line.h"
#include "record/source.h"
#include "table/aggregate.h"
#include "table/sqlite_read.h"
#include "table/table.h"

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
	}
	free(regions->measures);
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

/* ---- samples of a phase ----------------------------------------------------------------------------- */

static int compare_reals(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Returns the first of the sorted times that is not before `time`. */
static size_t lower_bound(const double *times, size_t count, double time)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Merges calls, sorted by start, into spans that do not touch. Returns their number. */
static size_t join_calls(const struct phase *phase, struct phase_call *spans)
{
	size_t count = 0;

	for (size_t i = 0; i < phase->call_count; i++) {
		if (count && phase->calls[i].start <= spans[count - 1].stop)
			spans[count - 1].stop = fmax(spans[count - 1].stop, phase->calls[i].stop);
		else
			spans[count++] = phase->calls[i];
	}
	return count;
}

static bool is_in(const struct phase_call *spans, size_t count, double time)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low && time <= spans[low - 1].stop;
}

/* ---- figures ---------------------------------------------------------------------------------------- */

static void take_statistics(struct values *values, double *ret_statistics)
{
	static const enum aggregate_kind KINDS[] = {AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_MEAN,
						    AGGREGATE_STD, AGGREGATE_SUM};

	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		ret_statistics[i] = cell_real(values_get(values, (struct aggregate){KINDS[i], 0}), NAN);
}

/* Measures the wanted rows, or all if `wanted` is NULL. */
static void measure_rows(const rt_regions *regions, const rt_table *samples, const bool *wanted,
			 double (*ret_measures)[REGION_TOTAL])
{
	for (size_t i = 0; i < regions->measure_count; i++) {
		ssize_t column = rt_table_find(samples, regions->measures[i]);
		struct values values = {0};
		double statistics[REGION_STATISTICS];

		for (size_t row = 0; row < rt_table_row_count(samples); row++)
			if (!wanted || wanted[row])
				(void)values_add(&values, rt_table_get(samples, (size_t)column, row), NAN);
		take_statistics(&values, statistics);
		memcpy(ret_measures[i], statistics, sizeof(ret_measures[i]));
		values_done(&values);
	}
}

struct times {
	double *of_rows, *sorted;
	size_t count;
};

static int add_region(rt_regions *regions, const struct phase *phase, const rt_table *samples,
		      const struct times *times)
{
	struct region *region = &regions->list[regions->count];
	CLEANUP_FREE struct phase_call *spans = calloc(phase->call_count + 1, sizeof(*spans));
	CLEANUP_FREE bool *wanted = calloc(times->count + 1, sizeof(*wanted));
	struct values seconds = {0};
	size_t span_count;

	*region = (struct region){
		.name = strdup(phase->name),
		.calls = (int64_t)phase->call_count,
		.measures = calloc(regions->measure_count + 1, sizeof(*region->measures)),
	};
	regions->count++;
	if (!spans || !wanted || !region->name || !region->measures)
		return -ENOMEM;
	span_count = join_calls(phase, spans);
	for (size_t row = 0; row < times->count; row++) {
		wanted[row] = is_in(spans, span_count, times->of_rows[row]);
		region->timepoints += wanted[row];
	}
	for (size_t i = 0; i < phase->call_count; i++) {
		const struct phase_call *call = &phase->calls[i];
		size_t first = lower_bound(times->sorted, times->count, call->start);

		region->non_empty_calls += first < times->count && times->sorted[first] <= call->stop;
		(void)values_add(&seconds,
				 (struct rt_cell){.type = RT_CELL_REAL, .real = call->stop - call->start},
				 NAN);
	}
	take_statistics(&seconds, region->seconds);
	values_done(&seconds);
	measure_rows(regions, samples, wanted, region->measures);
	return 0;
}

static int analyse_samples(rt_regions *regions, const rt_table *samples)
{
	size_t rows = rt_table_row_count(samples);
	CLEANUP_FREE double *of_rows = calloc(rows + 1, sizeof(double));
	CLEANUP_FREE double *sorted = calloc(rows + 1, sizeof(double));
	struct times times = {of_rows, sorted, rows};
	ssize_t timestamp = rt_table_find(samples, "timestamp");
	int result = 0;

	regions->measures = calloc(rt_table_column_count(samples) + 1, sizeof(*regions->measures));
	regions->overall = calloc(rt_table_column_count(samples) + 1, sizeof(*regions->overall));
	regions->list = calloc(regions->phases.count + 1, sizeof(*regions->list));
	if (!of_rows || !sorted || !regions->measures || !regions->overall || !regions->list)
		return -ENOMEM;
	for (size_t i = 0; i < rt_table_column_count(samples); i++) {
		if ((ssize_t)i == timestamp)
			continue;
		regions->measures[regions->measure_count] = strdup(rt_table_column_name(samples, i));
		if (!regions->measures[regions->measure_count++])
			return -ENOMEM;
	}
	for (size_t row = 0; row < rows; row++)
		of_rows[row] = cell_real(rt_table_get(samples, (size_t)timestamp, row), -INFINITY);
	memcpy(sorted, of_rows, rows * sizeof(*sorted));
	qsort(sorted, rows, sizeof(*sorted), compare_reals);
	measure_rows(regions, samples, NULL, regions->overall);
	regions->samples = rows;
	if (!(regions->latest > 0) && rows) {
		regions->earliest = sorted[0];
		regions->latest = sorted[rows - 1];
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
	CLEANUP_FREE const char **names = calloc(count + 1, sizeof(*names));

	if (!names)
		return problem_set(problem, -ENOMEM, "out of memory");
	names[0] = "timestamp";
	for (size_t i = 0; i < count; i++)
		names[i + 1] = columns[i];
	return rt_table_read_record(paths, path_count, names, count + 1, ret_table, problem);
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

int rt_regions_read(const char *const *paths, size_t path_count, const char *marks,
		    const char *const *columns, size_t column_count, rt_regions **ret_regions,
		    struct rt_problem *ret_problem)
{
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = calloc(1, sizeof(*regions));
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	CLEANUP_TABLE rt_table *samples = NULL;
	int result;

	if (!regions)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	if (!column_count) {
		columns = MEASURES;
		column_count = ARRAY_SIZE(MEASURES);
	}
	result = rt_summary_read(paths, path_count, &summary, ret_problem);
	if (result == 0)
		result = read_phases(regions, paths[0], marks, summary, ret_problem);
	if (result == 0)
		result = read_samples(paths, path_count, columns, column_count, &samples, ret_problem);
	if (result < 0)
		return result;
	regions->earliest = summary->earliest;
	regions->latest = summary->latest;
	result = analyse_samples(regions, samples);
	if (result == 0)
		result = read_facts(regions, summary);
	if (result < 0)
		return problem_set(ret_problem, result, "%s", strerror(-result));
	*ret_regions = regions;
	regions = NULL;
	return 0;
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
