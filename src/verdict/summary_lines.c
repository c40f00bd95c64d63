/* Lines of the page: those that list figures (see the words in figures/run_figures.def), cores, and waiting. */
#include "verdict/summary_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "table/table.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/screen.h"

static const double SHARE_LEAST_SECS = 0.1, BYTES_IN_MIB = 1048576;

static bool is_shown(const struct run_facts *facts, enum words_form form, double value)
{
	if (!isfinite(value) || (form == FORM_IF_ANY && value <= 0))
		return false;
	/* A single sample has no period. */
	if (form == FORM_PERIOD)
		return facts->samples > 1;
	/* In a very short run, starting up is nearly all, so a share would mislead. */
	return form != FORM_SHARE || facts->recorded_secs >= SHARE_LEAST_SECS;
}

static void add_figure_value(struct buffer *out, enum words_form form, double value, enum rt_size_unit unit)
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

void summary_add_line(struct buffer *out, const struct run_facts *facts, const char *line,
		      enum rt_size_unit unit)
{
	double numbers[RUN_FIGURE_COUNT];
	bool any = false;

	summary_numbers(facts, numbers);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		enum words_form form = RUN_FIGURES[i].words.form;
		const char *its_line = RUN_FIGURES[i].words.line, *before = RUN_FIGURES[i].words.before;

		if (!its_line || strcmp(its_line, line) != 0 || !is_shown(facts, form, numbers[i]))
			continue;
		/* The first figure of a line has no separator before it. */
		buffer_add_text(out, any ? before : before + strspn(before, ",; "));
		add_figure_value(out, form, numbers[i], unit);
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

void summary_add_cores(struct buffer *out, const struct run_facts *facts)
{
	double mean = summary_mean_cores(facts), most = summary_max_cores(facts);
	struct binding limit = summary_core_limit(facts);

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

/* ---- waiting --------------------------------------------------------------------------------------------- */

static const double LARGE_SHARE = 0.1;
/* Shorter waits are noise. */
static const double LEAST_SECS = 0.01;

struct wait {
	const char *name;
	double secs;
};

/* Adds one line with the waits that took at least a part of the run, if there are any. */
static void add_waits(struct buffer *out, const struct run_facts *facts, const char *begin,
		      const struct wait *waits, size_t count, double least)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!(waits[i].secs >= least * facts->recorded_secs) || waits[i].secs < LEAST_SECS)
			continue;
		buffer_add_text(out, any ? ", " : begin);
		buffer_printf(out, "%s for ", waits[i].name);
		add_duration(out, waits[i].secs);
		any = true;
	}
}

/* Adds "its threads waited for a CPU for 3.94 s in all, and lost it 737 times". */
static void add_threads(struct buffer *out, const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	double forced = summary_switches(end ? end->involuntary_switches : no_count(ABSENT_NOT_YET),
					 &facts->involuntary_switches);

	/* If short-lived threads are missing, so is their waiting. */
	buffer_printf(out, "its threads waited for a CPU for %s",
		      summary_cpu_wait_known_pct(facts) < 95 ? "at least " : "");
	add_duration(out, facts->cpu_wait_secs.sum);
	buffer_add_text(out, " in all");
	if (!isnan(forced))
		buffer_printf(out, ", and lost it %.0f time%s", forced, forced == 1 ? "" : "s");
}

/* Each process waits for a moment when it starts. As its threads show that exactly, it is shown only if it matters. */
static double shown_cpu_short_secs(const struct run_facts *facts)
{
	double secs = summary_cpu_short_secs(facts);

	return facts->cpu_course.has_threads && secs < LARGE_SHARE * facts->recorded_secs ? (double)NAN
											  : secs;
}

#define MACHINE_LINE "\n  " STYLE_STRONG "%-*s" STYLE_END

/* Kills of other programs: those of the job are told with its end. */
static void add_machine_kills(struct buffer *out, const struct run_facts *facts, int label_columns,
			      bool has_line)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	int64_t kills = end && !count_absent(end->machine_oom_kills) ? end->machine_oom_kills : 0;

	if (kills <= 0 || summary_oom(facts).kind != OOM_NONE)
		return;
	if (has_line)
		buffer_add_text(out, "; ");
	else
		buffer_printf(out, MACHINE_LINE, label_columns, "Machine");
	buffer_printf(out, "%lld process%s of the machine %s killed for lack of memory during the run",
		      (long long)kills, kills == 1 ? "" : "es", kills == 1 ? "was" : "were");
}

void summary_waiting_lines(struct buffer *out, const struct run_facts *facts, int label_columns)
{
	const struct wait OWN[] = {
		{"throttled by the CPU limit", total_of(&facts->throttled_secs)},
		{"short of CPU", shown_cpu_short_secs(facts)},
		{"short of memory", total_of(&facts->memory_pressure_secs)},
		{"waiting for I/O", total_of(&facts->io_pressure_secs)},
	};
	/* If the job's own waiting is unknown, show only large waits of the machine. */
	const struct wait OF_MACHINE[] = {
		{"a CPU", total_of(&facts->machine_cpu_pressure_secs)},
		{"memory", total_of(&facts->machine_memory_pressure_secs)},
		{"I/O", total_of(&facts->machine_io_pressure_secs)},
	};
	char begin[256];
	size_t before;

	snprintf(begin, sizeof begin, "\n  " STYLE_STRONG "%-*s" STYLE_END, label_columns, "Held up");
	before = out->length;
	add_waits(out, facts, begin, OWN, ARRAY_SIZE(OWN), 0.01);
	if (total_of(&facts->cpu_wait_secs) >= fmax(LARGE_SHARE * facts->recorded_secs, LEAST_SECS)) {
		buffer_add_text(out, out->length > before ? "; " : begin);
		add_threads(out, facts);
	}
	snprintf(begin, sizeof begin, MACHINE_LINE "some process, not necessarily the job's, waited for ",
		 label_columns, "Machine");
	before = out->length;
	add_waits(out, facts, begin, OF_MACHINE, ARRAY_SIZE(OF_MACHINE), LARGE_SHARE);
	add_machine_kills(out, facts, label_columns, out->length > before);
}
