/*
 * The figures of a run: one table (run_figures.def), which the summary, its lines on the screen, the line of a run and its readers,
 * compare-runs with its gate, the history of a fleet and OTLP's record of the end read.
 */
#pragma once

#include <stddef.h>

#include "base/scan.h"

enum run_figure_kind { KIND_REAL, KIND_COUNT, KIND_WHOLE, KIND_TEXT, KIND_FLAG };

enum words_form { FORM_NUMBER, FORM_IF_ANY, FORM_DURATION, FORM_PERIOD, FORM_MEMORY, FORM_SHARE };

/* A row of run_figures.def, which describes the columns. */
struct run_figure {
	const char *group, *name;
	enum run_figure_kind kind;
	int decimals;
	const char *column, *statistic; /* of the samples. NULL: a figure of the summary */
	int place;                      /* in the line of a run. 0: not there */
	const char *key, *alias;        /* NULL: none */
	const char *compared, *unit;    /* unit: NULL if it is not an amount */
	struct {
		const char *line; /* NULL: none */
		enum words_form form;
		const char *before, *after;
	} words;
};

enum run_figure_id {
#define FIGURE(group, name, ...) FIGURE_##group##_##name,
#include "figures/run_figures.def"
	RUN_FIGURE_COUNT
};

extern const struct run_figure RUN_FIGURES[RUN_FIGURE_COUNT];

/* The figure at this place of the line of a run, from 1. NULL behind the last. */
const struct run_figure *run_figure_at(int place);
/* The figure with this key or alias. RUN_FIGURE_COUNT: none. */
enum run_figure_id run_figure_of_key(struct scan key);
/* The name by which the gate compares it. NULL: it does not. */
const char *run_figure_in_gate(const struct run_figure *figure);
