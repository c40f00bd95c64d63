/* Formats differences between runs for people and programs; see compare.h. */
#include <math.h>
#include <string.h>

#include "advice/compare.h"
#include "advice/units.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "table/table.h"

enum { TEXT_CEILING = 16 << 20, NAME_COLUMNS = 24, VALUE_COLUMNS = 14, CHANGE_COLUMNS = 24 };

static void add_side(struct json_writer *json, const rt_comparison *comparison,
		     const struct compared *compared, size_t side)
{
	const struct side_figure *figure = &compared->sides[side];
	double change = side ? compared_change_pct(compared, side) : (double)NAN;
	double noise = side ? compared_noise_pct(compared, side) : (double)NAN;

	json_open(json, '{');
	json_key(json, "side");
	json_text(json, comparison->sides[side]);
	json_key(json, "runs");
	json_count(json, (int64_t)figure->runs);
	json_shortest_member(json, "mean", figure->mean);
	json_shortest_member(json, "min", figure->least);
	json_shortest_member(json, "max", figure->most);
	json_shortest_member(json, "std", figure->deviation);
	json_shortest_member(json, "change_pct", change);
	json_shortest_member(json, "noise_pct", noise);
	json_key(json, "negligible");
	if (side && !isnan(change))
		json_flag(json, compared_negligible(compared, side));
	else
		json_absent(json);
	json_key(json, "beyond_noise");
	if (isnan(change) || isnan(noise))
		json_absent(json);
	else
		json_flag(json, fabs(change) > noise);
	if (figure->measures) {
		CLEANUP_BUFFER struct buffer measures = BUFFER(256);

		compared_add_measures(&measures, compared, side);
		json_key(json, "counts");
		json_text(json, measures.data ? measures.data : "");
		json_key(json, "comparable");
		json_flag(json, compared_alike(compared, side));
	}
	json_close(json, '}');
}

static void add_list(struct json_writer *json, const char *key, const rt_comparison *comparison, bool phases)
{
	json_key(json, key);
	json_open(json, '[');
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *compared = &comparison->list[i];

		if (compared->of_phase != phases)
			continue;
		json_open(json, '{');
		json_key(json, "name");
		json_text(json, compared->name);
		json_key(json, "unit");
		json_text(json, compared->unit);
		json_key(json, "sides");
		json_open(json, '[');
		for (size_t side = 0; side < comparison->side_count; side++)
			add_side(json, comparison, compared, side);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

int rt_comparison_to_json(const rt_comparison *comparison, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING), verdict = BUFFER(1 << 16);
	struct json_writer json = JSON_WRITER(&out);

	json_open(&json, '{');
	json_key(&json, "sides");
	json_open(&json, '[');
	for (size_t i = 0; i < comparison->side_count; i++) {
		json_open(&json, '{');
		json_key(&json, "name");
		json_text(&json, comparison->sides[i]);
		json_key(&json, "runs");
		json_count(&json, (int64_t)comparison->runs[i]);
		json_key(&json, "outcome");
		json_text(&json, comparison->outcomes[i]);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	comparison_add_verdict(&verdict, comparison);
	json_key(&json, "verdict");
	json_text_bytes(&json, verdict.data ? verdict.data : "", verdict.length ? verdict.length - 1 : 0);
	add_list(&json, "metrics", comparison, false);
	add_list(&json, "phases", comparison, true);
	json_close(&json, '}');
	buffer_add_char(&out, '\n');
	return buffer_take_text(&out, ret_text);
}

/* ---- for people -------------------------------------------------------------------------------------- */

static void add_change(struct buffer *out, const struct compared *compared, size_t side)
{
	double change = compared_change_pct(compared, side), noise = compared_noise_pct(compared, side);

	if (isnan(change)) {
		buffer_add_char(out, '-');
		return;
	}
	if (compared_negligible(compared, side)) {
		buffer_add_text(out, "=");
		return;
	}
	if (change == 0 || isinf(change))
		buffer_add_text(out, change == 0 ? "=" : "from 0");
	else
		buffer_printf(out, "%+.1f %%", change);
	if (!isnan(noise))
		buffer_printf(out, " (noise %.1f)%s", noise, fabs(change) > noise ? " *" : "");
}

static void pad_to(struct buffer *out, size_t start, size_t columns)
{
	do {
		buffer_add_char(out, ' ');
	} while (!buffer_error(out) && out->length - start < columns);
}

/* Computes the width of a side's values, including names and outcomes, which may be longer than figures. */
static size_t value_columns(const rt_comparison *comparison, size_t side)
{
	size_t name = strlen(comparison_side_name(comparison, side)) + (comparison->runs[side] > 1 ? 6 : 2);
	size_t outcome = strlen(comparison->outcomes[side]) + 2, longest = name > outcome ? name : outcome;

	return longest > VALUE_COLUMNS ? longest : VALUE_COLUMNS;
}

static void add_line(struct buffer *out, const rt_comparison *comparison, const struct compared *compared)
{
	size_t start = out->length, column = NAME_COLUMNS;

	buffer_add_text(out, "  ");
	buffer_add_printable(out, compared->name);
	for (size_t side = 0; side < comparison->side_count; side++) {
		pad_to(out, start, column);
		compared_add_amount(out, compared->sides[side].mean, compared->unit);
		column += value_columns(comparison, side);
		if (!side)
			continue;
		pad_to(out, start, column);
		add_change(out, compared, side);
		column += CHANGE_COLUMNS;
	}
	buffer_add_char(out, '\n');
}

static void add_heading(struct buffer *out, const rt_comparison *comparison)
{
	size_t start = out->length, column = NAME_COLUMNS;

	for (size_t side = 0; side < comparison->side_count; side++) {
		pad_to(out, start, column);
		buffer_add_printable(out, comparison_side_name(comparison, side));
		if (comparison->runs[side] > 1)
			buffer_printf(out, " (%zu)", comparison->runs[side]);
		column += value_columns(comparison, side) + (side ? CHANGE_COLUMNS : 0);
	}
	buffer_add_char(out, '\n');
}

/* If the two figures count differently, their change is a change of the measure. */
static void add_different_measures(struct buffer *out, const rt_comparison *comparison,
				   const struct compared *compared)
{
	for (size_t side = 1; side < comparison->side_count; side++) {
		if (compared_alike(compared, side))
			continue;
		buffer_printf(out, "  %s was measured in different ways: ", compared->name);
		buffer_add_printable(out, comparison_side_name(comparison, 0));
		buffer_add_text(out, " counts ");
		compared_add_measures(out, compared, 0);
		buffer_add_text(out, ", ");
		buffer_add_printable(out, comparison_side_name(comparison, side));
		buffer_add_text(out, " counts ");
		compared_add_measures(out, compared, side);
		buffer_add_char(out, '\n');
	}
}

static void add_outcomes(struct buffer *out, const rt_comparison *comparison)
{
	size_t start = out->length, column = NAME_COLUMNS;

	buffer_add_text(out, "  outcome");
	for (size_t side = 0; side < comparison->side_count; side++) {
		pad_to(out, start, column);
		buffer_add_printable(out, comparison->outcomes[side]);
		column += value_columns(comparison, side) + (side ? CHANGE_COLUMNS : 0);
	}
	buffer_add_char(out, '\n');
}

static bool is_same(const rt_comparison *comparison, const struct compared *compared)
{
	for (size_t side = 1; side < comparison->side_count; side++)
		if (!compared_negligible(compared, side))
			return false;
	return true;
}

/* Prints the first three figures always, and others only if they differ. */
static void add_figures(struct buffer *out, const rt_comparison *comparison)
{
	size_t same = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *compared = &comparison->list[i];

		if (compared->of_phase ||
		    strncmp(compared->name, PROGRAM_PREFIX, strlen(PROGRAM_PREFIX)) == 0)
			continue;
		if (!compared->head && is_same(comparison, compared))
			same++;
		else
			add_line(out, comparison, compared);
	}
	if (same)
		buffer_printf(
			out,
			"  %zu other figure%s the same or differ%s too little to tell (--json has all)\n",
			same, same == 1 ? " is" : "s are", same == 1 ? "s" : "");
}

/* "cc1plus +18.2 s, ninja -0.4 s": the programs whose CPU time changed most. */
static void add_programs(struct buffer *out, const rt_comparison *comparison, size_t side)
{
	enum { SHOWN = 4 };
	size_t shown = 0;

	for (size_t i = 0; i < comparison->count && shown < SHOWN; i++) {
		const struct compared *compared = &comparison->list[i];
		const char *name = compared->name + strlen(PROGRAM_PREFIX);
		double change = compared->sides[side].mean - compared->sides[0].mean;

		if (strncmp(compared->name, PROGRAM_PREFIX, strlen(PROGRAM_PREFIX)) != 0 ||
		    compared_negligible(compared, side) || fabs(change) < 0.05)
			continue;
		if (!shown++) {
			buffer_add_text(out, "  CPU time by program in ");
			buffer_add_printable(out, comparison_side_name(comparison, side));
			buffer_add_text(out, ": ");
		} else {
			buffer_add_text(out, ", ");
		}
		for (const char *at = name; at[0] && at[1]; at++)
			buffer_add_char(out, *at);
		buffer_printf(out, " %+.1f s", change);
	}
	if (shown)
		buffer_add_char(out, '\n');
}

int rt_comparison_to_text(const rt_comparison *comparison, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	bool any = false;

	comparison_add_verdict(&out, comparison);
	buffer_add_char(&out, '\n');
	add_heading(&out, comparison);
	add_outcomes(&out, comparison);
	add_figures(&out, comparison);
	for (size_t side = 1; side < comparison->side_count; side++)
		add_programs(&out, comparison, side);
	for (size_t i = 0; i < comparison->count; i++) {
		if (!comparison->list[i].of_phase)
			continue;
		if (!any)
			buffer_add_text(&out, "Phases\n");
		any = true;
		add_line(&out, comparison, &comparison->list[i]);
	}
	for (size_t i = 0; i < comparison->count; i++)
		add_different_measures(&out, comparison, &comparison->list[i]);
	return buffer_take_text(&out, ret_text);
}
