/*
 * From recordings to one HTML page; see rt_report() in resource_tracker_analysis.h.
 *
 * The page (page/) is a program of its own that is the same for every recording. What is written here is the JSON
 * between its head and its tail: for each run its summary, how it began and ended, and its columns, packed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "record/output.h"
#include "record/phases.h"
#include "record/problem.h"
#include "record/summary.h"
#include "report/page.h"
#include "report/row_json.h"
#include "report/series.h"

#define DATA_CEILING ((size_t)1 << 30)

struct report {
	struct output output;
	const struct rt_report_options *options;
	struct buffer data;
	struct json_writer json;
	struct series *series;
	struct rt_problem *problem;
};

static void cleanup_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}

static void cleanup_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

static void cleanup_record(struct record **record)
{
	record_close(*record);
}

/* JSON has "<" in texts only, where it can be written otherwise: nothing in it ends the script element. */
static void write_data(struct report *report)
{
	CLEANUP_BUFFER struct buffer safe = BUFFER(DATA_CEILING);
	const char *at = report->data.data, *end = at + report->data.length;

	while (at < end) {
		const char *angle = memchr(at, '<', (size_t)(end - at));

		buffer_add(&safe, at, (size_t)((angle ? angle : end) - at));
		if (angle)
			buffer_add_text(&safe, "\\u003c");
		at = angle ? angle + 1 : end;
	}
	if (buffer_error(&report->data) < 0 || buffer_error(&safe) < 0)
		report->output.error = -ENOMEM;
	else
		output_write(&report->output, &safe);
	buffer_clear(&report->data);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A JSON text that a call made, as a member. */
static void add_made(struct report *report, const char *key, char *text)
{
	CLEANUP_FREE char *owned = text;

	json_key(&report->json, key);
	json_raw(&report->json, owned, strlen(owned));
}

static int add_advice(struct report *report, const char *path)
{
	__attribute__((cleanup(cleanup_advice))) rt_advice *advice = NULL;
	struct rt_recommend_options options = {.usd_per_hour = report->options->usd_per_hour};
	char *text;
	int result = rt_recommend(&path, 1, &options, &advice, report->problem);

	if (result < 0)
		return result;
	result = rt_advice_to_json(advice, &text);
	if (result < 0)
		return problem_set(report->problem, result, "out of memory");
	add_made(report, "advice", text);
	return 0;
}

static void write_phases(struct json_writer *json, const struct phases *phases, double began)
{
	json_open(json, '[');
	for (size_t i = 0; i < phases->count; i++) {
		const struct phase *phase = &phases->list[i];

		json_open(json, '{');
		json_key(json, "name");
		json_text(json, phase->name);
		json_key(json, "calls");
		json_open(json, '[');
		for (size_t call = 0; call < phase->call_count; call++) {
			json_open(json, '[');
			json_decimal(json, phase->calls[call].start - began, 3);
			json_decimal(json, phase->calls[call].stop - began, 3);
			json_close(json, ']');
		}
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* Of the file of marks beside the recording, which most runs do not have; a damaged one costs no report. */
static void add_phases(struct report *report, const char *path, const struct rt_summary *summary)
{
	CLEANUP_BUFFER struct buffer beside = BUFFER(PATH_MAX);
	CLEANUP_PHASES struct phases phases = {0};
	struct rt_problem ignored;

	buffer_printf(&beside, "%s.marks", path);
	if (buffer_error(&beside) < 0 ||
	    phases_read_marks(beside.data, summary->started, summary->ended, &phases, &ignored) < 0)
		return;
	json_key(&report->json, "phases");
	write_phases(&report->json, &phases, summary->started);
}

static int add_summary(struct report *report, const char *path)
{
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	CLEANUP_BUFFER struct buffer words = BUFFER(4096);
	const struct frame *identity;
	char *text;
	int result = rt_summary_read(&path, 1, &summary, report->problem);

	if (result < 0)
		return result;
	result = rt_summary_to_json(summary, &text);
	if (result < 0)
		return problem_set(report->problem, result, "out of memory");
	add_made(report, "summary", text);
	summary_add_end(&words, summary);
	json_key(&report->json, "end");
	json_text(&report->json, words.data);
	identity = record_identity(summary->record);
	json_key(&report->json, "run_start");
	row_json(&report->json, identity->first[ROW_run_start], identity);
	json_key(&report->json, "run_end");
	row_json(&report->json, identity->first[ROW_run_end], identity);
	add_phases(report, path, summary);
	return 0;
}

static int read_series(struct report *report, const char *path)
{
	__attribute__((cleanup(cleanup_record))) struct record *record = NULL;
	struct record_options options = {0};
	const struct frame *frame;
	size_t run = 0;
	int result;

	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		record_column_want(&report->series[i].column, &options.wanted);
	result = record_open(&path, 1, &options, &record, report->problem);
	if (result < 0)
		return result;
	while ((result = record_next(record, &frame)) > 0) {
		for (size_t i = 0; i < REPORT_PAGE.column_count; i++) {
			if (record_run(record) != run)
				series_clear(&report->series[i]);
			series_add(&report->series[i], frame);
		}
		run = record_run(record);
	}
	return result < 0 ? problem_set(report->problem, result, "%s", record_problem(record)->text) : 0;
}

static int add_series(struct report *report, const char *path)
{
	int result = read_series(report, path);

	json_key(&report->json, "columns");
	json_open(&report->json, '[');
	for (size_t i = 0; i < REPORT_PAGE.column_count && result == 0; i++) {
		if (report->series[i].any)
			result = series_write(&report->series[i], &report->json);
		series_clear(&report->series[i]);
	}
	json_close(&report->json, ']');
	return result;
}

static int add_run(struct report *report, const char *path)
{
	int result;

	json_open(&report->json, '{');
	json_key(&report->json, "file");
	json_text(&report->json, base_name(path));
	result = add_summary(report, path);
	if (result == 0)
		result = add_advice(report, path);
	if (result == 0)
		result = add_series(report, path);
	json_close(&report->json, '}');
	write_data(report);
	return result;
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
	json_key(&report->json, "usd_per_hour");
	if (report->options->usd_per_hour > 0)
		json_decimal(&report->json, report->options->usd_per_hour, 9);
	else
		json_absent(&report->json);
}

static void add_static(struct report *report, const unsigned char *bytes, size_t length)
{
	buffer_add(&report->data, bytes, length);
	output_write(&report->output, &report->data);
	buffer_clear(&report->data);
}

static int write_page(struct report *report, const char *const *paths, size_t path_count)
{
	int result = 0;

	for (size_t i = 0; i < REPORT_PAGE.column_count && result == 0; i++)
		result = series_begin(&report->series[i], REPORT_PAGE.columns[i], report->problem);
	if (result < 0)
		return result;
	add_static(report, REPORT_PAGE.head, REPORT_PAGE.head_length);
	json_open(&report->json, '{');
	add_options(report);
	json_key(&report->json, "runs");
	json_open(&report->json, '[');
	for (size_t i = 0; i < path_count && result == 0; i++)
		result = add_run(report, paths[i]);
	if (result < 0)
		return result;
	json_close(&report->json, ']');
	json_close(&report->json, '}');
	write_data(report);
	add_static(report, REPORT_PAGE.tail, REPORT_PAGE.tail_length);
	return output_finish(&report->output, report->problem);
}

int rt_report(const char *const *paths, size_t path_count, const char *output,
	      const struct rt_report_options *options, struct rt_problem *ret_problem)
{
	static const struct rt_report_options NOTHING_SAID;
	struct report report = {
		.options = options ? options : &NOTHING_SAID,
		.data = BUFFER(DATA_CEILING),
		.problem = ret_problem,
	};
	int result;

	if (!REPORT_PAGE.head_length)
		return problem_set(
			ret_problem, -ENOSYS,
			"this program was built without the page of reports: uPlot could not be had "
			"from the npm registry then");
	report.json = JSON_WRITER(&report.data);
	report.series = calloc(REPORT_PAGE.column_count, sizeof(*report.series));
	if (!report.series)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	result = output_open(&report.output, output, false, ret_problem);
	if (result == 0) {
		result = write_page(&report, paths, path_count);
		output_close(&report.output);
	}
	for (size_t i = 0; i < REPORT_PAGE.column_count; i++)
		series_done(&report.series[i]);
	free(report.series);
	buffer_done(&report.data);
	return result;
}
