/* Writes repeated runs for people. See repeat.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "repeat/repeat.h"
#include "table/table.h"
#include "table/units.h"

enum { TEXT_CEILING = 16 << 20, OUTLIERS_NAMED = 5 };

static const double SURE = 0.95, ALMOST_CERTAIN = 0.999;

/* The figures on the screen, in this order. One that is 0 in all runs is left out. */
static const enum run_figure_id SHOWN[] = {
	FIGURE_time_wall_secs,
	FIGURE_time_user_secs,
	FIGURE_time_system_secs,
	FIGURE_memory_peak_mib,
	FIGURE_io_read_bytes,
	FIGURE_io_written_bytes,
	FIGURE_io_read_chars,
	FIGURE_io_written_chars,
	FIGURE_network_certain_received_bytes,
	FIGURE_network_certain_sent_bytes,
	FIGURE_energy_job_cpu_estimate_joules,
	FIGURE_gpu_energy_joules,
};

static void add_spaced_name(struct buffer *out, const char *name)
{
	for (; *name; name++)
		buffer_add_char(out, *name == '_' ? ' ' : *name);
}

static void add_spread_row(struct grid *grid, const struct compared *figure, size_t side_count)
{
	add_spaced_name(grid_cell(grid), figure->name);
	for (size_t i = 0; i < side_count; i++) {
		const struct side_figure *side = &figure->sides[i];

		compared_add_amount(grid_cell(grid), side->mean, figure->unit);
		if (isnan(side->deviation))
			grid_add_cell(grid, "");
		else
			compared_add_amount(grid_cell(grid), side->deviation, figure->unit);
		compared_add_amount(grid_cell(grid), side->least, figure->unit);
		compared_add_amount(grid_cell(grid), side->most, figure->unit);
	}
	if (side_count > 1) {
		struct buffer *cell = grid_cell(grid);
		double change = compared_change_pct(figure, 1), noise = compared_noise_pct(figure, 1);

		if (!isfinite(change))
			buffer_add_text(cell, "");
		else
			buffer_printf(cell, "%+.1f %%%s", change, fabs(change) > noise ? " *" : "");
	}
}

/* Not a figure that is 0 in all runs. */
static void add_told_row(struct grid *grid, const struct compared *figure, size_t side_count)
{
	bool told = false;

	for (size_t side = 0; figure && side < side_count; side++)
		told |= figure->sides[side].most > 0;
	if (told)
		add_spread_row(grid, figure, side_count);
}

static void add_spreads(struct buffer *out, const struct repeat *repeat, const rt_comparison *comparison,
			const struct screen *screen)
{
	CLEANUP_GRID struct grid grid = {.keys = 1};

	grid_add_column(&grid, "", false);
	for (size_t i = 0; i < repeat->side_count; i++) {
		const char *const HEADINGS[] = {"MEAN", "+-", "MIN", "MAX"};
		bool named = repeat->side_count > 1;
		char heading[16];

		for (size_t j = 0; j < ARRAY_SIZE(HEADINGS); j++) {
			snprintf(heading, sizeof(heading), "%s%s%s", HEADINGS[j], named ? " " : "",
				 !named ? ""
				 : i    ? "B"
					: "A");
			grid_add_column(&grid, heading, true);
		}
	}
	if (repeat->side_count > 1)
		grid_add_column(&grid, "B AGAINST A", true);
	for (size_t i = 0; i < ARRAY_SIZE(SHOWN); i++)
		add_told_row(&grid, repeat_figure(comparison, repeat_figure_name(SHOWN[i])),
			     repeat->side_count);
	add_told_row(&grid, repeat_figure(comparison, INSTRUCTIONS_FIGURE), repeat->side_count);
	grid_print(&grid, out, screen);
}

/* "unknown: cpu energy estimate (no such counter)" */
static void add_unknown_figures(struct buffer *out, const struct repeat *repeat,
				const rt_comparison *comparison)
{
	const char *instructions = NULL;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(SHOWN) && repeat->count; i++) {
		const char *name = repeat_figure_name(SHOWN[i]);

		if (repeat_figure(comparison, name) || repeat->runs[0].figures[SHOWN[i]].type != RT_TYPE_NONE)
			continue;
		buffer_add_text(out, any ? ", " : "unknown: ");
		add_spaced_name(out, name);
		buffer_printf(out, " (%s)", rt_reason(repeat->runs[0].figures[SHOWN[i]].reason));
		any = true;
	}
	for (size_t side = 0; side < repeat->side_count && !instructions; side++)
		instructions = instructions_unknown(repeat, side);
	if (instructions) {
		buffer_add_text(out, any ? ", " : "unknown: ");
		add_spaced_name(out, INSTRUCTIONS_FIGURE);
		buffer_printf(out, " (%s)", instructions);
		any = true;
	}
	buffer_add_text(out, any ? "\n" : "");
}

static int add_outlier_line(struct buffer *out, const struct repeat *repeat, size_t side, double *values,
			    double *scores)
{
	size_t count = repeat_values(repeat, side, FIGURE_time_wall_secs, values), found = 0;

	if (outlier_scores(values, count, scores) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count && count >= OUTLIER_RUNS; i++) {
		if (!(scores[i] >= OUTLIER_SCORE))
			continue;
		found++;
		if (found > OUTLIERS_NAMED)
			continue;
		if (found == 1)
			buffer_printf(out, "outliers%s: ",
				      repeat->side_count < 2 ? ""
				      : side                 ? " of B"
							     : " of A");
		buffer_printf(out, "%srun %zu (%s)", found > 1 ? ", " : "", i + 1,
			      amount_of(values[i], add_duration).text);
	}
	if (found > OUTLIERS_NAMED)
		buffer_printf(out, " and %zu more", found - OUTLIERS_NAMED);
	if (found)
		buffer_printf(out, "; median %s. Warm up, or let less run beside it\n",
			      amount_of(median_of_values(values, count), add_duration).text);
	return 0;
}

static void add_sureness(struct buffer *out, double confidence)
{
	if (confidence > ALMOST_CERTAIN)
		buffer_add_text(out, "over 99.9 %");
	else
		buffer_printf(out, "%.1f %%", 100 * confidence);
}

void repeat_add_verdict(struct buffer *out, const rt_comparison *comparison)
{
	const struct compared *time = repeat_figure(comparison, "wall_time");
	struct speed_ratio ratio;
	const char *fast, *slow;

	if (!time || !find_speed_ratio(time->sides, &ratio))
		return;
	fast = comparison->sides[ratio.faster];
	slow = comparison->sides[!ratio.faster];
	if (isnan(ratio.confidence)) {
		buffer_printf(
			out,
			"%s was %.2f times as fast as %s; one run of a side does not tell how sure that is\n",
			fast, ratio.factor, slow);
	} else if (ratio.confidence < SURE) {
		buffer_printf(out,
			      "A and B may be equally fast: %s took %.1f %% less time, with a confidence of ",
			      fast, 100 * (1 - 1 / ratio.factor));
		add_sureness(out, ratio.confidence);
		buffer_add_text(out, " that there is a difference\n");
	} else {
		buffer_printf(
			out,
			"%s is %.2f +- %.2f times as fast as %s (95 %% interval %.2f to %.2f; confidence ",
			fast, ratio.factor, ratio.deviation, slow, ratio.least, ratio.most);
		add_sureness(out, ratio.confidence);
		buffer_add_text(out, ")\n");
	}
}

static void add_commands(struct buffer *out, const struct repeat *repeat, const rt_comparison *comparison)
{
	for (size_t side = 0; side < repeat->side_count; side++) {
		size_t failed = 0;

		for (size_t i = 0; i < repeat->count; i++)
			failed += repeat->runs[i].side == side && repeat->runs[i].status != 0;
		if (repeat->side_count > 1)
			buffer_printf(out, "%s: ", comparison->sides[side]);
		buffer_add_printable(out, repeat->commands[side]);
		buffer_printf(out, ": %zu run%s", comparison->runs[side],
			      comparison->runs[side] == 1 ? "" : "s");
		if (failed)
			buffer_printf(out, ", %zu failed%s", failed,
				      repeat->counts_failed ? "" : " and left out");
		buffer_add_char(out, '\n');
	}
}

/* "kept as runs 12 to 31" */
static void add_kept(struct buffer *out, const struct repeat *repeat)
{
	unsigned first = 0, last = 0;

	for (size_t i = 0; i < repeat->count; i++) {
		unsigned number = repeat->runs[i].number;

		first = number && (!first || number < first) ? number : first;
		last = number > last ? number : last;
	}
	if (first && first == last)
		buffer_printf(out, "kept as run %u of the history\n", first);
	else if (first)
		buffer_printf(out, "kept as runs %u to %u of the history\n", first, last);
}

int repeat_for_screen(const struct repeat *repeat, int fd, const char *colour, char **ret_text)
{
	CLEANUP_COMPARISON rt_comparison *comparison = NULL;
	CLEANUP_BUFFER struct buffer text = BUFFER(TEXT_CEILING), lines = BUFFER(TEXT_CEILING);
	CLEANUP_FREE double *values = malloc((repeat->count + 1) * sizeof(*values)),
			    *scores = malloc((repeat->count + 1) * sizeof(*scores));
	struct screen screen = screen_of(fd, colour), table = table_screen_of(fd, colour);
	int result = values && scores ? repeat_compare(repeat, &comparison) : -ENOMEM;

	if (result < 0)
		return result;
	add_commands(&lines, repeat, comparison);
	buffer_add_char(&lines, '\n');
	screen_add(&text, lines.data ? lines.data : "", &screen, 2);
	add_spreads(&text, repeat, comparison, &table);
	buffer_clear(&lines);
	buffer_add_char(&lines, '\n');
	for (size_t side = 0; side < repeat->side_count && result == 0; side++)
		result = add_outlier_line(&lines, repeat, side, values, scores);
	add_unknown_figures(&lines, repeat, comparison);
	if (repeat->side_count > 1)
		repeat_add_verdict(&lines, comparison);
	add_kept(&lines, repeat);
	if (lines.length > 1)
		screen_add(&text, lines.data, &screen, 2);
	return result < 0 ? result : buffer_take_text(&text, ret_text);
}
