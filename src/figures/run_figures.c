/* The table of the figures of a run. See run_figures.h. */
#include "figures/run_figures.h"

#include <string.h>

const struct run_figure RUN_FIGURES[RUN_FIGURE_COUNT] = {
#define SUMMARY_ONLY .place = 0
#define LINE(number, text) .place = number, .key = text
#define ALIAS(text) .alias = text
#define AMOUNT(text) .unit = text
#define COMPARED(text, its_unit) .compared = text, .unit = its_unit
#define WORDS(its_line, its_form, its_before, its_after) \
	.words = {#its_line, FORM_##its_form, its_before, its_after}
#define OF_SAMPLES(its_group, its_name, its_decimals, its_column, its_statistic, ...) \
	{.group = #its_group, \
	 .name = #its_name, \
	 .decimals = its_decimals, \
	 .column = its_column, \
	 .statistic = its_statistic, \
	 __VA_ARGS__},
#define FIGURE(its_group, its_name, its_kind, its_decimals, value, ...) \
	{.group = #its_group, \
	 .name = #its_name, \
	 .kind = KIND_##its_kind, \
	 .decimals = its_decimals, \
	 __VA_ARGS__},
#include "figures/run_figures.def"
};

static const struct run_figure *const FIGURES_END = RUN_FIGURES + RUN_FIGURE_COUNT;

const struct run_figure *run_figure_at(int place)
{
	for (const struct run_figure *figure = RUN_FIGURES; figure < FIGURES_END; figure++)
		if (figure->place == place)
			return figure;
	return NULL;
}

static bool has_key(const struct run_figure *figure, const struct scan *key)
{
	return (figure->key && scan_is(key, figure->key)) || (figure->alias && scan_is(key, figure->alias));
}

enum run_figure_id run_figure_of_key(struct scan key)
{
	const struct run_figure *figure = RUN_FIGURES;

	while (figure < FIGURES_END && !has_key(figure, &key))
		figure++;
	return (enum run_figure_id)(figure - RUN_FIGURES);
}

const char *run_figure_in_gate(const struct run_figure *figure)
{
	if (!figure->key || !figure->unit)
		return NULL;
	return figure->compared ? figure->compared : figure->key;
}
