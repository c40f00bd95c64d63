/*
 * Makes one HTML page from recordings; see rt_report() in resource_tracker_analysis.h.
 *
 * The page (page/) is a program that is the same for every recording. This file writes the JSON between its
 * head and its tail: for each run the summary, the start and end, and the packed columns.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare/compare.h"
#include "recommend/recommend.h"
#include "recommend/replay.h"
#include "regions/regions.h"
#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "export/output.h"
#include "format/json_encode.h"
#include "record/problem.h"
#include "metric/job_texts.h"
#include "report/page.h"
#include "report/page_write.h"
#include "report/row_series.h"
#include "report/series.h"
#include "table/table.h"

#define DATA_CEILING ((size_t)1 << 30)

/*
 * Room for the packed columns of a run: about 250,000 samples of a usual job, or 70 hours. The columns of a longer run are read
 * again, with several samples to a point.
 */
#define PACKED_MOST ((size_t)8 << 20)
enum { POINTS_BETWEEN_LOOKS = 1024 };
enum { INTERVAL = 1 }; /* the place of the interval's length among the columns (page.h) */

struct report {
	struct output output;
	const struct rt_compared_run *runs;
	size_t run_count;
	rt_summary **summaries; /* of the runs read so far */
	const struct rt_report_options *options;
	const struct rt_report_prices *prices;
	double usd_per_hour; /* NaN: unknown */
	struct buffer data;
	struct json_writer json;
	struct series *series;
	struct row_series *rows;       /* of each kind of the page */
	struct gatherings *gatherings; /* for the advice */
	size_t run;                    /* index in the current file */
	size_t samples;                /* of this run */
	size_t samples_per_point;
	size_t samples_until_full; /* 0: its columns are still below PACKED_MOST */
	struct rt_problem *problem;
};

static void cleanup_page_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Adds a JSON text that a library call made, as a member, and frees it. */
static void add_made(struct report *report, const char *key, char *text)
{
	CLEANUP_FREE char *owned = text;

	json_key(&report->json, key);
	json_raw(&report->json, owned, strlen(owned));
}

/* The request in forms to copy. If recommend refuses a request, no form is written. */
static void add_forms(struct report *report, const rt_advice *advice)
{
	static const char *const FORMS[] = {"slurm",    "kubernetes", "docker",
					    "nextflow", "snakemake",  "metaflow"};

	json_key(&report->json, "forms");
	json_open(&report->json, '{');
	for (size_t i = 0; i < ARRAY_SIZE(FORMS); i++) {
		CLEANUP_FREE char *text = NULL;

		if (rt_advice_to_form(advice, FORMS[i], &text, NULL) < 0)
			continue;
		json_key(&report->json, FORMS[i]);
		json_text(&report->json, text);
	}
	json_close(&report->json, '}');
}

/* Replays the earlier runs of the job and tells what advice saves: null without files of runs that can be replayed. */
static void add_saving(struct report *report, const rt_summary *summary)
{
	__attribute__((cleanup(replay_done))) struct replay replay =
		REPLAY(RT_POLICY_MAX, *summary->facts.job_name ? summary->facts.job_name : NULL, NULL);
	const struct rt_report_options *options = report->options;
	int result = replay.job ? 0 : -ENODATA;

	for (size_t i = 0; i < options->history_count && result == 0; i++)
		if (is_file_of_runs(options->history[i]))
			result = replay_add_file(&replay, options->history[i], NULL);
	json_key(&report->json, "saving");
	if (result < 0 || !replay.count || replay_all(&replay, NULL) < 0) {
		json_absent(&report->json);
		return;
	}
	json_open(&report->json, '{');
	replay_saving_json(&report->json, &replay);
	json_close(&report->json, '}');
}

static int add_advice(struct report *report, const char *path, rt_summary *summary)
{
	__attribute__((cleanup(cleanup_page_advice))) rt_advice *advice = NULL;
	const struct rt_report_prices *prices = report->prices;
	struct rt_recommend_options options = {.size = sizeof(options), .usd_per_hour = report->usd_per_hour};
	char *text;
	struct known_run known = {summary, report->gatherings};
	int result = recommend_of_known(path, &known, report->options->history,
					report->options->history_count, &options, &advice, report->problem);

	if (result == 0 && prices && prices->catalogue)
		result = rt_advice_find_server(advice, prices->catalogue, prices->filters,
					       prices->filter_count, report->problem);
	if (result < 0)
		return result;
	result = rt_advice_to_json(advice, &text);
	if (result < 0)
		return problem_set(report->problem, result, "out of memory");
	add_made(report, "advice", text);
	json_key(&report->json, "sizes");
	size_plot_json(&report->json, advice->plot);
	add_saving(report, summary);
	add_forms(report, advice);
	return 0;
}

/* Each measure of a phase: its total, mean and maximum, and the least and most of its calls. */
static void write_use(struct json_writer *json, const rt_regions *regions, const struct region *region)
{
	json_key(json, "use");
	json_open(json, '{');
	for (size_t i = 0; i < regions->measure_count; i++) {
		if (isnan(region->measures[i][REGION_MAX]))
			continue;
		json_key(json, regions->measures[i]);
		json_open(json, '{');
		json_shortest_member(json, "total", region->measures[i][REGION_TOTAL]);
		json_shortest_member(json, "mean", region->measures[i][REGION_MEAN]);
		json_shortest_member(json, "max", region->measures[i][REGION_MAX]);
		json_shortest_member(json, "least_call", region->each[i][0]);
		json_shortest_member(json, "most_call", region->each[i][1]);
		json_close(json, '}');
	}
	json_close(json, '}');
}

static void write_calls(struct json_writer *json, const struct phase *phase, double began)
{
	json_key(json, "calls");
	json_open(json, '[');
	for (size_t call = 0; call < phase->call_count; call++) {
		json_open(json, '[');
		json_decimal(json, phase->calls[call].start - began, 3);
		json_decimal(json, phase->calls[call].stop - began, 3);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static int add_phases(struct report *report, const char *path, const rt_summary *summary)
{
	CLEANUP_REGIONS rt_regions *regions = NULL;
	struct json_writer *json = &report->json;
	int result = 0;

	/* Only a run with phases is read again. */
	if (summary->phases.count)
		result = regions_of_summary(&path, 1, summary, NULL, NULL, 0, &regions, report->problem);
	if (result < 0)
		return result;
	json_key(json, "phases");
	json_open(json, '[');
	for (size_t i = 0; regions && i < regions->count; i++) {
		const struct region *region = &regions->list[i];

		json_open(json, '{');
		json_key(json, "name");
		json_text(json, region->name);
		json_shortest_member(json, "secs", region->seconds[REGION_TOTAL]);
		write_use(json, regions, region);
		write_calls(json, &regions->phases.list[i], summary->facts.started);
		json_close(json, '}');
	}
	json_close(json, ']');
	return 0;
}

static void clear_columns(struct report *report)
{
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		series_clear(&report->series[i]);
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		row_series_clear(&report->rows[i]);
	report->samples = report->samples_until_full = 0;
}

static void end_point(struct report *report)
{
	size_t bytes = 0;

	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		series_end_point(&report->series[i]);
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		row_series_end_point(&report->rows[i]);
	if (report->samples / report->samples_per_point % POINTS_BETWEEN_LOOKS)
		return;
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		bytes += report->series[i].bytes.length;
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		bytes += row_series_bytes(&report->rows[i]);
	if (bytes > PACKED_MOST)
		report->samples_until_full = report->samples;
}

static void watch_sample(void *context, const struct frame *frame, size_t run)
{
	struct report *report = context;
	double secs = record_column_real(&report->series[INTERVAL].column, frame) / 1000;

	gatherings_add(report->gatherings, frame, run);
	if (run != report->run)
		clear_columns(report);
	report->run = run;
	report->samples++;
	if (report->samples_until_full)
		return;
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		series_gather(&report->series[i], record_column_real(&report->series[i].column, frame), secs);
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		row_series_gather(&report->rows[i], frame, secs);
	if (report->samples % report->samples_per_point == 0)
		end_point(report);
}

/* Begins to gather what the advice needs. */
static int begin_gatherings(struct report *report, struct metric_set *wanted)
{
	size_t count;
	CLEANUP_FREE struct rt_stat_spec *specs = advice_specs(&count);

	gatherings_free(report->gatherings);
	report->gatherings = NULL;
	return specs ? gatherings_new(specs, count, wanted, &report->gatherings, report->problem)
		     : problem_set(report->problem, -ENOMEM, "out of memory");
}

/* Reads the summary, the columns and the statistics of a run in one pass over its file. */
static int read_once(struct report *report, const char *path, rt_summary **ret_summary)
{
	struct summary_watcher watcher = {.sample = watch_sample, .context = report};
	int result = begin_gatherings(report, &watcher.wanted);

	if (result < 0)
		return result;
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		record_column_want(&report->series[i].column, &watcher.wanted);
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		row_series_want(&report->rows[i], &watcher.wanted);
	clear_columns(report);
	report->run = 0;
	result = summary_read_watched(&path, 1, &watcher, ret_summary, report->problem);
	if (result == 0 && !report->samples_until_full && report->samples % report->samples_per_point)
		end_point(report);
	return result;
}

/* Reads the run again with more samples to a point, until its columns fit. */
static int read_run(struct report *report, const char *path, rt_summary **ret_summary)
{
	int result;

	if (strcmp(path, "-") == 0)
		return problem_set(report->problem, -ESPIPE,
				   "a page needs to read a recording more than once; name a file instead of "
				   "standard input");
	report->samples_per_point = 1;
	while ((result = read_once(report, path, ret_summary)) == 0 && report->samples_until_full) {
		report->samples_per_point *= report->samples / report->samples_until_full + 1;
		rt_summary_free(*ret_summary);
		*ret_summary = NULL;
	}
	return result;
}

static int add_summary(struct report *report, const rt_summary *summary)
{
	const struct frame *identity = record_identity(summary->facts.record);
	char *text;
	int result = rt_summary_to_json(summary, &text);

	if (result < 0)
		return problem_set(report->problem, result, "out of memory");
	add_made(report, "summary", text);
	json_key(&report->json, "run_start");
	write_row_json(&report->json, identity, identity->first[ROW_run_start]);
	json_key(&report->json, "run_end");
	write_row_json(&report->json, identity, identity->first[ROW_run_end]);
	json_key(&report->json, "samples_per_point");
	json_count(&report->json, (int64_t)report->samples_per_point);
	return 0;
}

static int add_series(struct report *report)
{
	int result = 0;

	json_key(&report->json, "columns");
	json_open(&report->json, '[');
	for (size_t i = 0; i < REPORT_PAGE.column_count && result == 0; i++)
		if (report->series[i].any) {
			result = series_write(&report->series[i], &report->json);
			page_write_data(&report->output, &report->data);
		}
	json_close(&report->json, ']');
	json_key(&report->json, "rows");
	json_open(&report->json, '[');
	for (size_t i = 0; i < REPORT_PAGE.rows_count && result == 0; i++)
		if (report->rows[i].count) {
			result = row_series_write(&report->rows[i], &report->json);
			page_write_data(&report->output, &report->data);
		}
	json_close(&report->json, ']');
	return result < 0 ? problem_set(report->problem, result, "out of memory") : 0;
}

static int add_page_run(struct report *report, size_t index)
{
	const char *path = report->runs[index].path;
	int result = read_run(report, path, &report->summaries[index]);

	if (result < 0)
		return result;
	json_open(&report->json, '{');
	json_key(&report->json, "file");
	json_text(&report->json, base_name(path));
	json_key(&report->json, "side");
	json_text(&report->json, report->runs[index].side);
	result = add_summary(report, report->summaries[index]);
	if (result == 0)
		result = add_phases(report, path, report->summaries[index]);
	if (result == 0)
		result = add_advice(report, path, report->summaries[index]);
	if (result == 0)
		result = add_series(report);
	json_close(&report->json, '}');
	page_write_data(&report->output, &report->data);
	return result;
}

/* [["project_name","Project"],...]: the page lists these texts of run_start. */
static void add_job_texts(struct json_writer *json)
{
	json_key(json, "job_texts");
	json_open(json, '[');
	for (size_t i = 0; i < JOB_TEXT_COUNT; i++) {
		const char *label = JOB_TEXTS[i].label, *example = strstr(label, " (");

		json_open(json, '[');
		json_text(json, JOB_TEXTS[i].name);
		json_text_bytes(json, label, example ? (size_t)(example - label) : strlen(label));
		json_close(json, ']');
	}
	json_close(json, ']');
}

static int add_comparison(struct report *report)
{
	CLEANUP_COMPARISON rt_comparison *comparison = NULL;
	bool differ = false;
	char *text;
	int result;

	for (size_t i = 1; i < report->run_count; i++)
		differ |= strcmp(report->runs[i].side, report->runs[0].side) != 0;
	if (!differ)
		return 0;
	result = compare_summaries(report->runs, report->run_count, report->summaries, &comparison,
				   report->problem);
	if (result == 0)
		result = rt_comparison_to_json(comparison, &text);
	if (result < 0)
		return result;
	add_made(report, "comparison", text);
	return 0;
}

static void add_options(struct report *report)
{
	json_key(&report->json, "version");
	json_text(&report->json, RT_VERSION);
	json_key(&report->json, "made");
	json_count(&report->json, (int64_t)time(NULL));
	json_key(&report->json, "integration");
	json_text(&report->json, report->options->integration);
	json_key(&report->json, "failed");
	json_flag(&report->json, report->options->failed);
	json_key(&report->json, "succeeded");
	json_flag(&report->json, report->options->succeeded);
	json_key(&report->json, "usd_per_hour");
	json_decimal(&report->json, report->usd_per_hour, 9);
	json_key(&report->json, "instance");
	json_text(&report->json, report->prices ? report->prices->instance : NULL);
}

static int write_page(struct report *report)
{
	int result = 0;

	for (size_t i = 0; i < REPORT_PAGE.column_count && result == 0; i++)
		result = series_begin(&report->series[i], REPORT_PAGE.columns[i], report->problem);
	for (size_t i = 0; i < REPORT_PAGE.rows_count && result == 0; i++)
		result = row_series_begin(&report->rows[i], &REPORT_PAGE.rows[i], report->problem);
	if (result < 0)
		return result;
	/* The length of the interval: a gauge, but that of a point is the sum. */
	report->series[INTERVAL].join = JOIN_SUM;
	page_write_bytes(&report->output, REPORT_PAGE.head, REPORT_PAGE.head_length);
	json_open(&report->json, '{');
	add_options(report);
	add_job_texts(&report->json);
	json_key(&report->json, "runs");
	json_open(&report->json, '[');
	for (size_t i = 0; i < report->run_count && result == 0; i++)
		result = add_page_run(report, i);
	json_close(&report->json, ']');
	if (result == 0)
		result = add_comparison(report);
	if (result < 0)
		return result;
	json_close(&report->json, '}');
	page_write_data(&report->output, &report->data);
	page_write_bytes(&report->output, REPORT_PAGE.tail, REPORT_PAGE.tail_length);
	return output_finish(&report->output, report->problem);
}

static int find_page_price(struct report *report)
{
	const struct rt_report_prices *prices = report->prices;

	report->usd_per_hour =
		report->options->usd_per_hour > 0 ? report->options->usd_per_hour : (double)NAN;
	if (!prices || !prices->catalogue || !prices->instance || !isnan(report->usd_per_hour))
		return 0;
	return rt_catalogue_price(prices->catalogue, prices->instance, &report->usd_per_hour,
				  report->problem);
}

static int make_report(struct report *report, const char *output)
{
	int result = find_page_price(report);

	for (size_t i = 0; i < report->run_count && result == 0; i++)
		result = output_check_inputs(output, &report->runs[i].path, 1, report->problem);
	if (result == 0)
		result = output_check_inputs(output, report->options->history, report->options->history_count,
					     report->problem);
	if (result == 0)
		result = output_open(&report->output, output, false, report->problem);
	if (result < 0)
		return result;
	result = write_page(report);
	output_close(&report->output);
	for (size_t i = 0; i < report->run_count; i++)
		rt_summary_free(report->summaries[i]);
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		series_done(&report->series[i]);
	for (size_t i = 0; i < REPORT_PAGE.rows_count; i++)
		row_series_done(&report->rows[i]);
	gatherings_free(report->gatherings);
	buffer_done(&report->data);
	return result;
}

int rt_report_runs(const struct rt_compared_run *runs, size_t run_count, const char *output,
		   const struct rt_report_options *options, const struct rt_report_prices *prices,
		   struct rt_problem *ret_problem)
{
	struct rt_report_options own;
	struct rt_report_prices own_prices;
	CLEANUP_FREE struct series *series = calloc(REPORT_PAGE.column_count + 1, sizeof(*series));
	CLEANUP_FREE struct row_series *rows = calloc(REPORT_PAGE.rows_count + 1, sizeof(*rows));
	CLEANUP_FREE rt_summary **summaries = calloc(run_count + 1, sizeof(*summaries));
	struct report report = {
		.runs = runs,
		.run_count = run_count,
		.summaries = summaries,
		.options = &own,
		.prices = prices ? &own_prices : NULL,
		.data = BUFFER(DATA_CEILING),
		.series = series,
		.rows = rows,
		.problem = ret_problem,
	};
	int result = TAKE_OPTIONS(ret_problem, &own, rt_report_options, history_count, options);

	if (result == 0)
		result = TAKE_OPTIONS(ret_problem, &own_prices, rt_report_prices, filter_count, prices);
	if (result < 0)
		return result;
	if (!REPORT_PAGE.head_length)
		return problem_set(ret_problem, -ENOSYS,
				   "built without the HTML report, because uPlot could not be downloaded "
				   "from the npm registry");
	if (!run_count)
		return problem_set(ret_problem, -EINVAL, "no recording was named");
	if (!series || !rows || !summaries)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	report.json = JSON_WRITER(&report.data);
	return make_report(&report, output);
}

int rt_report(const char *const *paths, size_t path_count, const char *output,
	      const struct rt_report_options *options, struct rt_problem *ret_problem)
{
	CLEANUP_FREE struct rt_compared_run *runs = calloc(path_count + 1, sizeof(*runs));

	if (!runs)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < path_count; i++)
		runs[i] = (struct rt_compared_run){paths[i], paths[i]};
	return rt_report_runs(runs, path_count, output, options, NULL, ret_problem);
}
