/* Writes repeated runs as JSON: the keys of hyperfine's --export-json, and ours behind them. See repeat.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "repeat/repeat.h"
#include "table/table.h"

enum { TEXT_CEILING = 64 << 20 };

static const double BYTES_PER_MIB = 1048576;

struct series {
	const struct repeat *repeat;
	size_t side, count;
	double *values; /* room for all runs */
};

static void take_series(struct series *series, enum run_figure_id figure)
{
	series->count = repeat_values(series->repeat, series->side, figure, series->values);
}

static void add_measured_values(struct json_writer *json, const char *key, const struct series *series)
{
	json_key(json, key);
	json_open(json, '[');
	for (size_t i = 0; i < series->count; i++)
		json_decimal(json, series->values[i], 6);
	json_close(json, ']');
}

/* The keys of hyperfine: times are seconds, and a run that a signal ended has no exit code. */
static void add_hyperfine_keys(struct json_writer *json, struct series *series,
			       const rt_comparison *comparison)
{
	const struct {
		const char *key, *figure;
	} MEANS[] = {{"user", "user_time"}, {"system", "system_time"}};
	const struct compared *time = repeat_figure(comparison, "wall_time");
	const struct repeat *repeat = series->repeat;

	take_series(series, FIGURE_time_wall_secs);
	if (time) {
		json_shortest_member(json, "mean", time->sides[series->side].mean);
		json_shortest_member(json, "stddev", time->sides[series->side].deviation);
		json_shortest_member(json, "min", time->sides[series->side].least);
		json_shortest_member(json, "max", time->sides[series->side].most);
	}
	json_shortest_member(json, "median", median_of_values(series->values, series->count));
	for (size_t i = 0; i < ARRAY_SIZE(MEANS); i++) {
		const struct compared *figure = repeat_figure(comparison, MEANS[i].figure);

		json_shortest_member(json, MEANS[i].key,
				     figure ? figure->sides[series->side].mean : (double)NAN);
	}
	add_measured_values(json, "times", series);
	take_series(series, FIGURE_memory_peak_mib);
	for (size_t i = 0; i < series->count; i++)
		series->values[i] *= BYTES_PER_MIB;
	json_key(json, "memory_usage_byte");
	json_open(json, '[');
	for (size_t i = 0; i < series->count; i++)
		json_decimal(json, series->values[i], 0);
	json_close(json, ']');
	json_key(json, "exit_codes");
	json_open(json, '[');
	for (size_t i = 0; i < repeat->count; i++) {
		const struct repeat_run *run = &repeat->runs[i];

		if (run->side != series->side || !repeat_counts(repeat, run))
			continue;
		if (WIFEXITED(run->status))
			json_count(json, WEXITSTATUS(run->status));
		else
			json_absent(json);
	}
	json_close(json, ']');
}

static int add_outliers(struct json_writer *json, struct series *series)
{
	CLEANUP_FREE double *scores = malloc((series->repeat->count + 1) * sizeof(*scores));

	take_series(series, FIGURE_time_wall_secs);
	if (!scores || outlier_scores(series->values, series->count, scores) < 0)
		return -1;
	json_key(json, "outliers");
	json_open(json, '[');
	for (size_t i = 0; i < series->count && series->count >= OUTLIER_RUNS; i++) {
		if (!(scores[i] >= OUTLIER_SCORE))
			continue;
		json_open(json, '{');
		json_key(json, "run");
		json_count(json, (int64_t)i + 1);
		json_shortest_member(json, "secs", series->values[i]);
		json_shortest_member(json, "score", scores[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
	return 0;
}

/* Says why a figure is unknown, by the first run. */
static void add_reason(struct json_writer *json, const struct series *series, enum run_figure_id figure)
{
	for (size_t i = 0; i < series->repeat->count; i++) {
		const struct repeat_run *run = &series->repeat->runs[i];

		if (run->side != series->side || run->figures[figure].type != RT_TYPE_NONE)
			continue;
		json_key(json, "reason");
		json_text(json, rt_reason(run->figures[figure].reason));
		return;
	}
}

/* The spread of a figure, and the values of `series`. `figure` NULL: no run has it. */
static void add_repeated_figure(struct json_writer *json, const struct series *series,
				const struct compared *figure, const char *unit)
{
	struct side_figure side =
		figure ? figure->sides[series->side] : (struct side_figure){0, NAN, NAN, NAN, NAN, 0};

	json_key(json, "unit");
	json_text(json, unit);
	json_shortest_member(json, "mean", side.mean);
	json_shortest_member(json, "stddev", side.deviation);
	json_shortest_member(json, "min", side.least);
	json_shortest_member(json, "max", side.most);
	json_shortest_member(json, "median",
			     side.runs ? median_of_values(series->values, series->count) : (double)NAN);
	add_measured_values(json, "values", series);
}

static void add_repeated_instructions(struct json_writer *json, struct series *series,
				      const rt_comparison *comparison)
{
	const char *unknown = instructions_unknown(series->repeat, series->side);

	series->count = repeat_instructions(series->repeat, series->side, series->values);
	json_key(json, INSTRUCTIONS_FIGURE);
	json_open(json, '{');
	add_repeated_figure(json, series, repeat_figure(comparison, INSTRUCTIONS_FIGURE), INSTRUCTIONS_UNIT);
	if (unknown) {
		json_key(json, "reason");
		json_text(json, unknown);
	}
	json_close(json, '}');
}

static void add_repeated_figures(struct json_writer *json, struct series *series,
				 const rt_comparison *comparison)
{
	json_key(json, "figures");
	json_open(json, '{');
	for (enum run_figure_id i = 0; i < RUN_FIGURE_COUNT; i++) {
		const char *name = repeat_figure_name(i);
		const struct compared *figure = name ? repeat_figure(comparison, name) : NULL;

		if (!name)
			continue;
		json_key(json, name);
		json_open(json, '{');
		take_series(series, i);
		add_repeated_figure(json, series, figure, RUN_FIGURES[i].unit);
		if (!figure || !figure->sides[series->side].runs)
			add_reason(json, series, i);
		json_close(json, '}');
	}
	add_repeated_instructions(json, series, comparison);
	json_close(json, '}');
}

static void add_numbers(struct json_writer *json, const struct series *series)
{
	json_key(json, "history");
	json_open(json, '[');
	for (size_t i = 0; i < series->repeat->count; i++)
		if (series->repeat->runs[i].side == series->side && series->repeat->runs[i].number)
			json_count(json, series->repeat->runs[i].number);
	json_close(json, ']');
}

static void add_ratio(struct json_writer *json, const struct repeat *repeat, const rt_comparison *comparison)
{
	const struct compared *time = repeat_figure(comparison, "wall_time");
	CLEANUP_BUFFER struct buffer verdict = BUFFER(1 << 16);
	struct speed_ratio ratio;

	if (repeat->side_count < 2 || !time || !find_speed_ratio(time->sides, &ratio))
		return;
	json_key(json, "comparison");
	json_open(json, '{');
	json_key(json, "faster");
	json_text(json, repeat->commands[ratio.faster]);
	json_shortest_member(json, "factor", ratio.factor);
	json_shortest_member(json, "stddev", ratio.deviation);
	json_shortest_member(json, "least", ratio.least);
	json_shortest_member(json, "most", ratio.most);
	json_shortest_member(json, "confidence", ratio.confidence);
	repeat_add_verdict(&verdict, comparison);
	json_key(json, "verdict");
	json_text_bytes(json, verdict.data ? verdict.data : "", verdict.length ? verdict.length - 1 : 0);
	json_close(json, '}');
}

int repeat_to_json(const struct repeat *repeat, char **ret_text)
{
	CLEANUP_COMPARISON rt_comparison *comparison = NULL;
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_FREE double *values = malloc((repeat->count + 1) * sizeof(*values));
	struct json_writer json = JSON_WRITER(&out);
	int result = values ? repeat_compare(repeat, &comparison) : -ENOMEM;

	if (result < 0)
		return result;
	json_open(&json, '{');
	json_key(&json, "results");
	json_open(&json, '[');
	for (size_t side = 0; side < repeat->side_count; side++) {
		struct series series = {repeat, side, 0, values};

		json_open(&json, '{');
		json_key(&json, "command");
		json_text(&json, repeat->commands[side]);
		add_hyperfine_keys(&json, &series, comparison);
		if (add_outliers(&json, &series) < 0)
			return -ENOMEM;
		add_repeated_figures(&json, &series, comparison);
		add_numbers(&json, &series);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	add_ratio(&json, repeat, comparison);
	json_close(&json, '}');
	buffer_add_char(&out, '\n');
	return buffer_take_text(&out, ret_text);
}
