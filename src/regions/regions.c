/* Computes what each phase of a run used. See regions.h. */
#include "regions/regions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regions/sample_shares.h"
#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "base/sized.h"
#include "format/csv_cells.h"
#include "format/mark_line.h"
#include "record/column.h"
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

/* ---- figures ---------------------------------------------------------------------------------------- */

static void take_statistics(struct values *values, double *ret_statistics)
{
	static const enum aggregate_kind KINDS[] = {AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_MEAN,
						    AGGREGATE_STD, AGGREGATE_SUM};

	for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
		ret_statistics[i] = cell_real(values_get(values, (struct aggregate){.kind = KINDS[i]}), NAN);
}

static int add_new_region(rt_regions *regions, struct phase_tally *tally)
{
	const struct phase *phase = tally->phase;
	struct region *region = &regions->list[regions->count];
	struct values seconds = {0};

	*region = (struct region){
		.name = strdup(phase->name),
		.calls = (int64_t)phase->call_count,
		.began = phase->call_count ? phase->calls[0].start : (double)INFINITY,
		.timepoints = tally->timepoints,
		.non_empty_calls = tally->non_empty_calls,
		.measures = calloc(regions->measure_count + 1, sizeof(*region->measures)),
		.each = tally->each,
	};
	tally->each = NULL;
	regions->count++;
	if (!region->name || !region->measures)
		return -ENOMEM;
	for (size_t i = 0; i < phase->call_count; i++) {
		double secs = phase->calls[i].stop - phase->calls[i].start;

		(void)values_add(&seconds, (struct rt_value){.type = RT_TYPE_REAL, .real = secs}, NAN);
	}
	take_statistics(&seconds, region->seconds);
	for (size_t i = 0; i < regions->measure_count; i++)
		share_sums_get(&tally->sums[i], regions->holds[i], region->measures[i]);
	return 0;
}

static int finish_regions(rt_regions *regions, struct tallies *tallies)
{
	int result = 0;

	tallies_finish(tallies);
	regions->overall = calloc(regions->measure_count + 1, sizeof(*regions->overall));
	regions->list = calloc(regions->phases.count + 1, sizeof(*regions->list));
	if (!regions->overall || !regions->list)
		return -ENOMEM;
	regions->samples = (size_t)tallies->samples;
	for (size_t i = 0; i < regions->measure_count; i++)
		share_sums_get(&tallies->whole[i], regions->holds[i], regions->overall[i]);
	for (size_t i = 0; i < tallies->count && result == 0; i++)
		result = add_new_region(regions, &tallies->list[i]);
	return result;
}

/* ---- measures --------------------------------------------------------------------------------------- */

/* Changes and rates hold for the interval before the sample, and so does the use of GPUs, which the driver averages. */
static enum measure_holds held_by(const char *column)
{
	const struct metric *metric;
	struct metric_place place = {0};

	if (record_column_find(column, &place, NULL) < 0)
		return HOLDS_MOMENT;
	metric = metric_place_metric(&place);
	if (metric_is_change(metric))
		return HOLDS_AMOUNT;
	return metric_is_rate(metric) || strcmp(metric->unit, "GPUs") == 0 ? HOLDS_LEVEL : HOLDS_MOMENT;
}

static int begin_measures(rt_regions *regions, size_t most)
{
	regions->measures = calloc(most + 1, sizeof(*regions->measures));
	regions->holds = calloc(most + 1, sizeof(*regions->holds));
	return regions->measures && regions->holds ? 0 : -ENOMEM;
}

static int add_measure(rt_regions *regions, const char *name)
{
	size_t at = regions->measure_count;

	regions->holds[at] = regions->recorded ? held_by(name) : HOLDS_MOMENT;
	regions->measures[at] = strdup(name);
	return regions->measures[regions->measure_count++] ? 0 : -ENOMEM;
}

/* ---- recordings ------------------------------------------------------------------------------------- */

static int add_region_facts(rt_regions *regions, const rt_summary *summary)
{
	const struct phases *phases = &regions->phases;
	const struct {
		const char *name;
		size_t value;
	} FACTS[] = {{"samples", (size_t)summary->facts.samples},
		     {"open_calls", phases->open_calls},
		     {"unmatched_stops", phases->unmatched_stops},
		     {"bad_marks", phases->bad_lines}};

	regions->facts = rt_table_new();
	if (!regions->facts)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(FACTS); i++) {
		const struct rt_value count = {.type = RT_TYPE_COUNT, .count = (int64_t)FACTS[i].value};

		if (rt_table_set_column(regions->facts, FACTS[i].name, &count, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Reads the samples of the last run, one by one. The first two columns tell when each was. */
static int add_run_samples(struct tallies *tallies, rt_record *record, const struct run_clock *clock,
			   struct rt_problem *problem)
{
	CLEANUP_FREE struct rt_value *cells = calloc(tallies->measure_count + 1, sizeof(*cells));
	struct rt_record_info info = {.size = sizeof(info)};
	int result;

	if (!cells)
		return -ENOMEM;
	while ((result = rt_record_next(record, problem)) > 0) {
		double ended = run_clock_at(clock, cell_real(rt_record_get(record, 0), NAN));
		double length_ms = cell_real(rt_record_get(record, 1), NAN);
		size_t run = info.run;

		(void)rt_record_get_info(record, &info);
		if (info.run != run)
			tallies_clear(tallies);
		for (size_t i = 0; i < tallies->measure_count; i++)
			cells[i] = rt_record_get(record, i + 2);
		if (tallies_add(tallies, (struct sample_values){ended - length_ms / 1000, ended, cells}) < 0)
			return -ENOMEM;
	}
	return result;
}

static int read_region_samples(rt_regions *regions, const char *const *paths, size_t path_count,
			       const char *const *columns, size_t count, const struct run_clock *clock,
			       struct rt_problem *problem)
{
	CLEANUP_SAMPLES rt_record *record = NULL;
	__attribute__((cleanup(tallies_done))) struct tallies tallies = {0};
	CLEANUP_FREE const char **names = calloc(count + 2, sizeof(*names));
	int result = names ? begin_measures(regions, count) : -ENOMEM;

	if (result < 0)
		return result;
	names[0] = "elapsed_secs";
	names[1] = "actual_interval_ms";
	for (size_t i = 0; i < count && result == 0; i++) {
		names[i + 2] = columns[i];
		for (size_t j = 0; j < i; j++)
			if (strcmp(columns[i], columns[j]) == 0)
				return problem_set(problem, -EINVAL, "a column was named twice");
		result = add_measure(regions, columns[i]);
	}
	if (result == 0)
		result = rt_record_open(paths, path_count, names, count + 2, &record, problem);
	if (result == 0)
		result = tallies_begin(&tallies, &regions->phases, regions->holds, count);
	if (result == 0)
		result = add_run_samples(&tallies, record, clock, problem);
	return result < 0 ? result : finish_regions(regions, &tallies);
}

/* A recording without a file of marks has no phases, but a file that the user named must exist. */
static int read_region_phases(rt_regions *regions, const char *recording, const char *marks,
			      const rt_summary *summary, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer beside = BUFFER(1 << 16);
	struct rt_problem found = {""};
	int result;

	buffer_printf(&beside, "%s.marks", recording);
	if (buffer_error(&beside))
		return problem_set(problem, -ENOMEM, "out of memory");
	/* Another user may have put a file of marks beside the recording. It is ignored. */
	if (!marks && !marks_can_be_read(beside.data))
		return 0;
	result = phases_read_marks(marks ? marks : beside.data, &summary->facts.clock,
				   summary->facts.earliest, summary->facts.latest, &regions->phases, &found);
	if (result == -ENOENT && !marks)
		return 0;
	regions->marked = result >= 0;
	return result < 0 ? problem_set(problem, result, "%s", found.text) : 0;
}

int regions_of_summary(const char *const *paths, size_t path_count, const rt_summary *summary,
		       const char *marks, const char *const *columns, size_t column_count,
		       rt_regions **ret_regions, struct rt_problem *problem)
{
	CLEANUP_REGIONS rt_regions *regions = calloc(1, sizeof(*regions));
	int result;

	if (!regions)
		return problem_set(problem, -ENOMEM, "out of memory");
	regions->recorded = true;
	regions->of_machine = !summary->facts.tracked;
	regions->peak_mib = summary_memory_peak(&summary->facts).mib;
	regions->sampled_mib =
		summary->facts.tracked ? summary->facts.memory.most : summary->facts.host_memory.most;
	regions->earliest = summary->facts.earliest;
	regions->latest = summary->facts.latest;
	if (!column_count) {
		columns = MEASURES;
		column_count = ARRAY_SIZE(MEASURES);
	}
	result = read_region_phases(regions, paths[0], marks, summary, problem);
	if (result == 0)
		result = read_region_samples(regions, paths, path_count, columns, column_count,
					     &summary->facts.clock, problem);
	if (result == 0)
		result = add_region_facts(regions, summary);
	if (result == -ENOMEM)
		return problem_set(problem, result, "out of memory");
	if (result < 0)
		return result;
	*ret_regions = regions;
	regions = NULL;
	return 0;
}

int rt_regions_read(const char *const *paths, size_t path_count, const char *marks,
		    const char *const *columns, size_t column_count, rt_regions **ret_regions,
		    struct rt_problem *ret_problem)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	int result = rt_summary_read(paths, path_count, &summary, ret_problem);

	return result < 0 ? result
			  : regions_of_summary(paths, path_count, summary, marks, columns, column_count,
					       ret_regions, ret_problem);
}

/* ---- files of gpu_tracker --------------------------------------------------------------------------- */

static struct rt_value cell_of_text(const struct cell_text *text, char **ret_copy)
{
	struct rt_value cell = cell_of_number(text->text);

	if (cell.type == RT_TYPE_NONE && scan_left(&text->text)) {
		*ret_copy = strndup(text->text.at, scan_left(&text->text));
		if (*ret_copy)
			cell = (struct rt_value){.type = RT_TYPE_TEXT, .text = *ret_copy};
	}
	return cell;
}

/* Reads a line as column names, or as a row. */
static int take_tracking_line(rt_table *table, struct scan line, bool names)
{
	__attribute__((cleanup(cells_done))) struct cells cells = CELLS(line);
	struct cell_text text;
	ssize_t row = names ? 0 : rt_table_add_row(table);
	int result;

	for (size_t column = 0; (result = cells_next(&cells, &text)) > 0 && row >= 0; column++) {
		CLEANUP_FREE char *copy = NULL;
		struct rt_value cell = cell_of_text(&text, &copy);
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
		result = take_tracking_line(number < 2 ? facts : samples, line.text,
					    number == 0 || number == 2);
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

struct timed_row {
	double time;
	size_t row;
};

static int by_first_call(const void *a, const void *b)
{
	const struct timed_row *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

static int tally_table(rt_regions *regions, const rt_table *samples)
{
	size_t rows = rt_table_row_count(samples), columns = rt_table_column_count(samples);
	ssize_t timestamp = rt_table_find(samples, "timestamp");
	CLEANUP_FREE struct timed_row *order = calloc(rows + 1, sizeof(*order));
	CLEANUP_FREE struct rt_value *cells = calloc(columns + 1, sizeof(*cells));
	__attribute__((cleanup(tallies_done))) struct tallies tallies = {0};
	int result = order && cells ? begin_measures(regions, columns) : -ENOMEM;

	for (size_t i = 0; i < columns && result == 0; i++)
		if ((ssize_t)i != timestamp)
			result = add_measure(regions, rt_table_column_name(samples, i));
	if (result == 0)
		result = tallies_begin(&tallies, &regions->phases, regions->holds, regions->measure_count);
	if (result < 0)
		return result;
	for (size_t row = 0; row < rows; row++)
		order[row] = (struct timed_row){
			cell_real(rt_table_get(samples, (size_t)timestamp, row), -INFINITY), row};
	if (rows)
		qsort(order, rows, sizeof(*order), by_first_call);
	for (size_t i = 0; i < rows && result == 0; i++) {
		size_t measure = 0;

		for (size_t column = 0; column < columns; column++)
			if ((ssize_t)column != timestamp)
				cells[measure++] = rt_table_get(samples, column, order[i].row);
		result = tallies_add(&tallies, (struct sample_values){NAN, order[i].time, cells});
	}
	regions->earliest = rows ? order[0].time : 0;
	regions->latest = rows ? order[rows - 1].time : 0;
	return result < 0 ? result : finish_regions(regions, &tallies);
}

int rt_regions_read_gpu_tracker(const char *tracking_file, const char *sub_tracking_file,
				rt_regions **ret_regions, struct rt_problem *ret_problem)
{
	CLEANUP_REGIONS rt_regions *regions = calloc(1, sizeof(*regions));
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
	result = tally_table(regions, samples);
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
