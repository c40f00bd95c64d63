/* Lines of the screen that list figures; see the words in figures/run_figures.def. */
#include <math.h>
#include <string.h>

#include "summary/summary.h"
#include "table/table.h"
#include "table/units.h"
#include "base/cleanup.h"

static const double SHARE_LEAST_SECS = 0.1, BYTES_IN_MIB = 1048576;

static bool is_shown(const struct rt_summary *summary, enum words_form form, double value)
{
	if (!isfinite(value) || (form == FORM_IF_ANY && value <= 0))
		return false;
	/* A single sample has no period. */
	if (form == FORM_PERIOD)
		return summary->samples > 1;
	/* In a very short run, starting up is nearly all, so a share would mislead. */
	return form != FORM_SHARE || summary->recorded_secs >= SHARE_LEAST_SECS;
}

static void add_value(struct buffer *out, enum words_form form, double value, enum rt_size_unit unit)
{
	if (form == FORM_DURATION || form == FORM_PERIOD)
		add_duration(out, value);
	else if (form == FORM_MEMORY)
		add_size(out, value * BYTES_IN_MIB, unit);
	else if (form == FORM_SHARE)
		add_figure(out, value);
	else
		buffer_printf(out, "%.0f", value);
}

/* Replaces "|" by the ending of a plural. */
static void add_after(struct buffer *out, const char *after, double value)
{
	for (; *after; after++) {
		if (*after != '|')
			buffer_add_char(out, *after);
		else if (value != 1)
			buffer_add_char(out, 's');
	}
}

void summary_add_line(struct buffer *out, const struct rt_summary *summary, const char *line,
		      enum rt_size_unit unit)
{
	double numbers[RUN_FIGURE_COUNT];
	bool any = false;

	summary_numbers(summary, numbers);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		enum words_form form = RUN_FIGURES[i].words.form;
		const char *its_line = RUN_FIGURES[i].words.line, *before = RUN_FIGURES[i].words.before;

		if (!its_line || strcmp(its_line, line) != 0 || !is_shown(summary, form, numbers[i]))
			continue;
		/* The first figure of a line has no separator before it. */
		buffer_add_text(out, any ? before : before + strspn(before, ",; "));
		add_value(out, form, numbers[i], unit);
		add_after(out, RUN_FIGURES[i].words.after, numbers[i]);
		any = true;
	}
}

/* " of the machine's 2 cores"; " cores" without a known limit */
static void add_limit(struct buffer *out, const struct binding *limit)
{
	if (isnan(limit->value)) {
		buffer_add_text(out, " cores");
		return;
	}
	buffer_add_text(out, strcmp(limit->source, "machine") == 0 ? " of the machine's " : " of ");
	buffer_printf(out, "%.4g", limit->value);
	buffer_add_text(out, limit->value == 1 ? " core" : " cores");
	if (strcmp(limit->source, "machine") != 0)
		buffer_printf(out, " (%s)", limit->source);
}

void summary_add_cores(struct buffer *out, const struct rt_summary *summary)
{
	double mean = summary_mean_cores(summary), most = summary_max_cores(summary);
	struct binding limit = summary_core_limit(summary);

	if (!isfinite(mean))
		buffer_add_text(out, "at most ");
	add_figure(out, isfinite(mean) ? mean : most);
	add_limit(out, &limit);
	if (!isfinite(mean))
		return;
	buffer_add_text(out, " on average, ");
	add_figure(out, most);
	buffer_add_text(out, " at most");
}
