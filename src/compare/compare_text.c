/* Formats differences between runs for people and programs. See compare.h. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "compare/compare.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/grid.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "table/table.h"

enum { TEXT_CEILING = 16 << 20 };

/* Between single runs a smaller change may be chance, as in the verdict. */
static const double SAME_PCT = 5;
/* From here on a factor is easier to read than percent. */
static const double LEAST_FACTOR_PCT = 900;

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

static void add_descendants(struct json_writer *json, unsigned descendants)
{
	json_key(json, "descendants");
	if (descendants)
		json_text(json, descendants == DESCENDANTS_LEFT         ? "left_running"
				: descendants == DESCENDANTS_WAITED_FOR ? "waited_for"
									: "not_all_alike");
	else
		json_absent(json);
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
		add_descendants(&json, comparison->descendants[i]);
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

/* Whichever run is named first: 5 % more is 4.8 % less the other way round. */
static bool is_small(double change, double noise)
{
	if (!isnan(noise))
		return fabs(change) <= noise;
	return change <= SAME_PCT && change >= -SAME_PCT / (1 + SAME_PCT / 100);
}

/*
 * Less is better of the figures at the head and of waits. A change of other figures may be either.
 */
static const char *style_of(const struct compared *compared, size_t side, double change)
{
	static const char *const WAITS[] = {"throttled", "cpu_pressure", "io_pressure", "memory_pressure",
					    "cpu_wait"};
	bool has_meaning = compared->head;

	for (size_t i = 0; i < ARRAY_SIZE(WAITS); i++)
		has_meaning = has_meaning || strcmp(compared->name, WAITS[i]) == 0;
	if (!has_meaning || !compared_alike(compared, side) ||
	    is_small(change, compared_noise_pct(compared, side)))
		return "";
	return change > 0 ? STYLE_BAD : STYLE_GOOD;
}

static void add_change_text(struct buffer *out, const struct compared *compared, size_t side)
{
	double change = compared_change_pct(compared, side), noise = compared_noise_pct(compared, side);
	const char *style;

	if (isnan(change)) {
		buffer_add_char(out, '-');
		return;
	}
	if (compared_negligible(compared, side) || change == 0) {
		buffer_add_text(out, "=");
		return;
	}
	if (!compared_alike(compared, side)) {
		buffer_add_text(out, "not comparable");
		return;
	}
	style = style_of(compared, side, change);
	buffer_add_text(out, style);
	if (isinf(change))
		buffer_add_text(out, "from 0");
	else if (change >= LEAST_FACTOR_PCT)
		buffer_printf(out, "x %.0f", 1 + change / 100);
	else
		buffer_printf(out, "%+.1f %%", change);
	buffer_add_text(out, *style ? STYLE_END : "");
	if (!isnan(noise))
		buffer_printf(out, " (noise %.1f)%s", noise, fabs(change) > noise ? " *" : "");
}

/* "load: time" of "load.secs", where "load" is the name that the job gave the phase */
static void add_phase_figure_name(struct buffer *out, const char *name)
{
	static const char *const VALUES[][2] = {{"secs", "time"},
						{"calls", "calls"},
						{"cores_mean", "mean cores"},
						{"memory_max", "largest memory sample"}};
	const char *dot = strrchr(name, '.');

	buffer_add_printable(out, name);
	for (size_t i = 0; dot && i < ARRAY_SIZE(VALUES); i++)
		if (strcmp(dot + 1, VALUES[i][0]) == 0) {
			out->length -= strlen(dot);
			out->data[out->length] = '\0';
			buffer_printf(out, ": %s", VALUES[i][1]);
			return;
		}
}

/* "wall time" of "wall_time" */
static void add_figure_name(struct buffer *out, const struct compared *compared)
{
	size_t start = out->length;

	if (compared->of_phase) {
		add_phase_figure_name(out, compared->name);
		return;
	}
	buffer_add_printable(out, compared->name);
	for (size_t i = start; i < out->length; i++)
		out->data[i] = out->data[i] == '_' ? ' ' : out->data[i];
}

static void add_figure_row(struct grid *grid, const rt_comparison *comparison,
			   const struct compared *compared)
{
	add_figure_name(grid_cell(grid), compared);
	for (size_t side = 0; side < comparison->side_count; side++) {
		compared_add_amount(grid_cell(grid), compared->sides[side].mean, compared->unit);
		if (side)
			add_change_text(grid_cell(grid), compared, side);
	}
}

static const char *last_part_of_side(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Returns a side's name for people: the last part of its path if that is unique. */
static const char *comparison_side_name(const rt_comparison *comparison, size_t side)
{
	for (size_t i = 0; i < comparison->side_count; i++)
		if (i != side && strcmp(last_part_of_side(comparison->sides[i]),
					last_part_of_side(comparison->sides[side])) == 0)
			return comparison->sides[side];
	return last_part_of_side(comparison->sides[side]);
}

static void add_side_columns(struct grid *grid, const rt_comparison *comparison)
{
	grid->keys = 1;
	grid_add_shrinking(grid, "");
	for (size_t side = 0; side < comparison->side_count; side++) {
		CLEANUP_BUFFER struct buffer name = BUFFER(1 << 16);

		buffer_add_printable(&name, comparison_side_name(comparison, side));
		if (comparison->runs[side] > 1)
			buffer_printf(&name, " (%zu)", comparison->runs[side]);
		grid_add_column(grid, name.data ? name.data : "", true);
		if (side)
			grid_add_column(grid, "change", true);
	}
}

static void add_outcomes(struct grid *grid, const rt_comparison *comparison)
{
	grid_add_cell(grid, "outcome");
	for (size_t side = 0; side < comparison->side_count; side++) {
		bool differs = strcmp(comparison->outcomes[side], comparison->outcomes[0]) != 0;

		buffer_add_printable(grid_cell(grid), comparison->outcomes[side]);
		if (side)
			grid_add_cell(grid, differs ? STYLE_STRONG "differs" STYLE_END : "=");
	}
}

/* If the two figures count differently, their change is a change of the measure. */
static void add_different_measures(struct buffer *out, const rt_comparison *comparison,
				   const struct compared *compared)
{
	for (size_t side = 1; side < comparison->side_count; side++) {
		if (compared_alike(compared, side))
			continue;
		add_figure_name(out, compared);
		buffer_add_text(out, " was measured in different ways: ");
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

/* Wall time is the job's own on both sides, but the samples of one side go on after it. */
static void add_different_ends(struct buffer *out, const rt_comparison *comparison)
{
	for (size_t side = 1; side < comparison->side_count; side++) {
		unsigned base = comparison->descendants[0], other = comparison->descendants[side];
		bool is_base = base & DESCENDANTS_WAITED_FOR;

		if (!(base && other && (base | other) == (DESCENDANTS_WAITED_FOR | DESCENDANTS_LEFT)))
			continue;
		buffer_add_printable(out, comparison_side_name(comparison, is_base ? 0 : side));
		buffer_add_text(out, " was recorded until its last process ended, ");
		buffer_add_printable(out, comparison_side_name(comparison, is_base ? side : 0));
		buffer_add_text(
			out,
			" left processes running: their times and totals cover different parts of the job\n");
	}
}

static bool is_same(const rt_comparison *comparison, const struct compared *compared)
{
	for (size_t side = 1; side < comparison->side_count; side++)
		if (!compared_negligible(compared, side))
			return false;
	return true;
}

/* The figures in the order in which a person reads them: the head, then by subject. NULL: out of memory. */
static const struct compared **reading_order(const rt_comparison *comparison)
{
	const struct compared **order = calloc(comparison->count + 1, sizeof(*order));

	for (size_t i = 0; order && i < comparison->count; i++) {
		const struct compared *one = &comparison->list[i];
		size_t j = i;

		for (; j && !one->head && !order[j - 1]->head && order[j - 1]->place > one->place; j--)
			order[j] = order[j - 1];
		order[j] = one;
	}
	return order;
}

/* Other programs' traffic says nothing about a job. */
static bool is_of_others(const rt_comparison *comparison, const struct compared *compared)
{
	return comparison->of_jobs && strncmp(compared->name, "machine_", strlen("machine_")) == 0;
}

/* A figure that a side lacks, such as a phase of one run, has nothing to compare. */
static bool is_in_all(const rt_comparison *comparison, const struct compared *compared)
{
	for (size_t side = 0; side < comparison->side_count; side++)
		if (isnan(compared->sides[side].mean))
			return false;
	return true;
}

/* The first three figures always, and others only if they differ. Notes how many do not, or are unknown. */
static void add_figures(struct grid *grid, const rt_comparison *comparison,
			const struct compared *const *order, struct buffer *notes)
{
	size_t same = 0, unknown = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *compared = order[i];

		if (compared->of_phase || is_of_others(comparison, compared) || strchr(compared->name, '['))
			continue;
		if (!compared->head && !is_in_all(comparison, compared))
			unknown++;
		else if (!compared->head && is_same(comparison, compared))
			same++;
		else
			add_figure_row(grid, comparison, compared);
	}
	if (same)
		buffer_printf(notes,
			      "%zu other figure%s the same or differ%s too little to tell (--json has all)\n",
			      same, same == 1 ? " is" : "s are", same == 1 ? "s" : "");
	if (unknown)
		buffer_printf(notes, "%zu figure%s unknown on a side\n", unknown,
			      unknown == 1 ? " is" : "s are");
}

/* Returns the change of a figure of which each thing of a list has one. 0: it is none of `prefix`, or it differs too little to tell. */
static double listed_change(const struct compared *compared, const char *prefix, size_t side)
{
	double change = compared->sides[side].mean - compared->sides[0].mean;

	return strncmp(compared->name, prefix, strlen(prefix)) != 0 || compared_negligible(compared, side) ||
			       !(fabs(change) >= 0.05)
		       ? 0
		       : change;
}

/* Returns the thing that changed most, after `last` in this order. NULL: no further one changed. */
static const struct compared *next_listed(const rt_comparison *comparison, const char *prefix, size_t side,
					  const struct compared *last)
{
	const struct compared *next = NULL;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *compared = &comparison->list[i];
		double change = fabs(listed_change(compared, prefix, side)),
		       last_change = last ? fabs(listed_change(last, prefix, side)) : INFINITY;
		bool is_later = change < last_change || (!(change > last_change) && compared > last);

		if (change > 0 && is_later && (!next || change > fabs(listed_change(next, prefix, side))))
			next = compared;
	}
	return next;
}

/* Adds a thing without its prefix and the last bracket. */
static void add_listed_name(struct buffer *out, const struct compared *compared)
{
	buffer_add_printable(out, strchr(compared->name, '[') + 1);
	if (out->length)
		out->data[--out->length] = '\0';
}

/* "cc1plus +18.2 s, ninja -0.4 s": the programs or the waits whose time changed most. */
static void add_changed_list(struct buffer *out, const rt_comparison *comparison, const char *prefix,
			     const char *heading, size_t side)
{
	enum { SHOWN = 4 };
	const struct compared *compared = NULL;
	size_t shown = 0;

	while (shown < SHOWN && (compared = next_listed(comparison, prefix, side, compared))) {
		if (!shown++) {
			buffer_add_text(out, heading);
			buffer_add_printable(out, comparison_side_name(comparison, side));
			buffer_add_text(out, ": ");
		} else {
			buffer_add_text(out, ", ");
		}
		add_listed_name(out, compared);
		buffer_printf(out, " %+.1f s", listed_change(compared, prefix, side));
	}
	if (shown)
		buffer_add_char(out, '\n');
}

static void add_compared_table(struct buffer *out, const struct grid *grid, const struct screen *screen)
{
	buffer_add_char(out, '\n');
	grid_print(grid, out, screen);
}

static bool is_time_of_phase(const struct compared *compared)
{
	size_t length = strlen(compared->name);

	return compared->of_phase && length > 5 && strcmp(compared->name + length - 5, ".secs") == 0;
}

static void add_phase_table(struct buffer *out, const rt_comparison *comparison,
			    const struct compared *const *order, const struct screen *screen)
{
	CLEANUP_GRID struct grid grid = {0};
	size_t rows = 0, left_out = 0;

	add_side_columns(&grid, comparison);
	for (size_t i = 0; i < comparison->count; i++) {
		bool is_common = is_in_all(comparison, order[i]);

		left_out += is_time_of_phase(order[i]) && !is_common;
		/* Each phase has its time, and what differs. */
		if (!order[i]->of_phase || !is_common ||
		    (is_same(comparison, order[i]) && !is_time_of_phase(order[i])))
			continue;
		add_figure_row(&grid, comparison, order[i]);
		rows++;
	}
	if (rows || left_out)
		buffer_add_text(out, "\nPhases\n");
	if (rows)
		grid_print(&grid, out, screen);
	if (left_out)
		buffer_printf(out, "%zu phase%s not on all sides (--json has all)\n", left_out,
			      left_out == 1 ? " is" : "s are");
}

static int fit_comparison(const rt_comparison *comparison, const struct screen *screen, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING), verdict = BUFFER(TEXT_CEILING),
				     notes = BUFFER(TEXT_CEILING);
	CLEANUP_FREE const struct compared **order = reading_order(comparison);
	CLEANUP_GRID struct grid grid = {0};

	if (!order)
		return -ENOMEM;
	comparison_add_verdict(&verdict, comparison);
	add_side_columns(&grid, comparison);
	add_outcomes(&grid, comparison);
	add_figures(&grid, comparison, order, &notes);
	for (size_t side = 1; side < comparison->side_count; side++) {
		add_changed_list(&notes, comparison, PROGRAM_PREFIX, "CPU time by program in ", side);
		add_changed_list(&notes, comparison, WAIT_PREFIX, "Waits in ", side);
	}
	add_different_ends(&notes, comparison);
	for (size_t i = 0; i < comparison->count; i++)
		add_different_measures(&notes, comparison, &comparison->list[i]);
	if (buffer_error(&verdict) || buffer_error(&notes))
		return -ENOMEM;
	screen_add(&out, verdict.data ? verdict.data : "", screen, 0);
	add_compared_table(&out, &grid, screen);
	screen_add(&out, notes.data ? notes.data : "", screen, 0);
	add_phase_table(&out, comparison, order, screen);
	return buffer_take_text(&out, ret_text);
}

int rt_comparison_to_text(const rt_comparison *comparison, char **ret_text)
{
	return fit_comparison(comparison, &(struct screen){.columns = SIZE_MAX}, ret_text);
}

int rt_comparison_for_screen(const rt_comparison *comparison, int fd, const char *colour, char **ret_text)
{
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	return fit_comparison(comparison, &screen, ret_text);
}

/* ---- the verdict ---------------------------------------------------------------------------------- */

/* Between single runs a smaller change may be chance. */
/* A cause explains at least this part of a difference in wall time. */
static const double MOST_OF_IT = 0.5;

void compared_add_amount(struct buffer *out, double value, const char *unit)
{
	/* The name says what else is counted: "96 GPUs" alone needs its unit. */
	bool is_said = strcmp(unit, "MiB") == 0 || strcmp(unit, "bytes") == 0 || strcmp(unit, "s") == 0 ||
		       strcmp(unit, "cores") == 0 || strcmp(unit, "GPUs") == 0;

	add_amount(out, value, is_said ? unit : "");
}

static const struct compared *find_figure(const rt_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->list[i].name, name) == 0)
			return &comparison->list[i];
	return NULL;
}

/* Returns percent, or 0 for a negligible change or one within the noise. NaN: unknown. */
static double telling_pct(const struct compared *compared, size_t side)
{
	double change = compared ? compared_change_pct(compared, side) : (double)NAN;
	double noise = compared ? compared_noise_pct(compared, side) : (double)NAN;

	if (isnan(change))
		return NAN;
	if (compared_negligible(compared, side) || is_small(change, noise))
		return 0;
	return change;
}

static double mean_growth(const rt_comparison *comparison, const char *name, size_t side)
{
	const struct compared *compared = find_figure(comparison, name);
	double growth = compared ? compared->sides[side].mean - compared->sides[0].mean : 0;

	return isnan(growth) ? 0 : growth;
}

/*
 * Returns the part of the change in wall time that the change in CPU time explains, if the job kept as many cores busy: a
 * third of the CPU time takes a third of the time.
 */
static double work_share(const rt_comparison *comparison, size_t side)
{
	const struct compared *cpu = find_figure(comparison, "cpu_time"),
			      *wall = find_figure(comparison, "wall_time");
	double share = cpu && wall ? log(cpu->sides[side].mean / cpu->sides[0].mean) /
					     log(wall->sides[side].mean / wall->sides[0].mean)
				   : (double)NAN;

	return isfinite(share) && telling_pct(cpu, side) != 0 ? share : 0;
}

/*
 * Returns whether the change in CPU time, with that of waiting for a CPU, can have taken most of the change in wall time. On one
 * core, 0.1 s of CPU time takes 0.1 s, whatever share of all CPU time that is.
 */
static bool work_takes_so_long(const rt_comparison *comparison, size_t side, double wall)
{
	static const char *const CPU_WAITS[] = {"throttled", "cpu_pressure", "cpu_wait"};
	double waited = 0;

	for (size_t i = 0; i < ARRAY_SIZE(CPU_WAITS); i++)
		waited = fmax(waited, mean_growth(comparison, CPU_WAITS[i], side) / wall);
	return mean_growth(comparison, "cpu_time", side) / wall + waited >= MOST_OF_IT;
}

/* Adds the CPU time that did not explain the change: the job had fewer cores, or waited. */
static void add_other_cores(struct buffer *out, double wall, double cpu_pct)
{
	if (cpu_pct == 0 || isinf(cpu_pct))
		buffer_printf(out, ": %s CPU time", cpu_pct == 0 ? "the same" : "more");
	else
		buffer_printf(out, ": %.0f %% %s CPU time", fabs(cpu_pct), cpu_pct > 0 ? "more" : "less");
	buffer_printf(out, ", on %s cores at once or with %s waiting", wall > 0 ? "fewer" : "more",
		      wall > 0 ? "more" : "less");
}

/* Adds the cause of the difference in wall time, if the recordings show one that explains most of it. */
static void add_cause(struct buffer *out, const rt_comparison *comparison, size_t side)
{
	static const struct {
		const char *figure, *more, *less;
	} WAITS[] = {
		{"throttled", "its CPU limit held it back longer", "its CPU limit held it back less"},
		{"cpu_pressure", "it waited longer for a CPU", "it waited less for a CPU"},
		{"io_pressure", "it waited longer for I/O", "it waited less for I/O"},
		{"memory_pressure", "it waited longer for memory", "it waited less for memory"},
	};
	double wall = mean_growth(comparison, "wall_time", side),
	       cpu_pct = telling_pct(find_figure(comparison, "cpu_time"), side),
	       work = work_share(comparison, side), most = MOST_OF_IT;
	bool user = fabs(mean_growth(comparison, "user_time", side)) >=
		    fabs(mean_growth(comparison, "system_time", side));
	const char *cause = NULL;
	const struct compared *wait = next_listed(comparison, WAIT_PREFIX, side, NULL);

	for (size_t i = 0; i < sizeof(WAITS) / sizeof(*WAITS); i++) {
		double share = mean_growth(comparison, WAITS[i].figure, side) / wall;

		/* The machine's pressure is not the job's waiting, and a group's pressure includes its limit's. */
		if (!(share >= most) || (strcmp(WAITS[i].figure, "cpu_pressure") == 0 &&
					 (cause || mean_growth(comparison, "cpu_wait", side) / wall < 0)))
			continue;
		most = share;
		cause = wall > 0 ? WAITS[i].more : WAITS[i].less;
	}
	/* The thing that it waited for tells more than the kind of waiting. */
	if (!wait || !(listed_change(wait, WAIT_PREFIX, side) / wall >= fmin(most, 1)))
		wait = NULL;
	/* Less work also waits less, so waiting is then a consequence. */
	if (work >= MOST_OF_IT &&
	    ((!cause && !wait) || (work >= fmin(most, 1) && work_takes_so_long(comparison, side, wall))))
		buffer_printf(out, ": %s%.0f %% %s CPU time, %s", wall > 0 ? "" : "it did less work, ",
			      fabs(cpu_pct), wall > 0 ? "more" : "less",
			      user ? "mostly in user mode" : "mostly in the kernel");
	else if (wait) {
		buffer_printf(out, ": it waited %s for ", wall > 0 ? "longer" : "less");
		add_listed_name(out, wait);
	} else if (cause)
		buffer_printf(out, ": %s", cause);
	else if (!isnan(cpu_pct))
		add_other_cores(out, wall, cpu_pct);
}

/* The CPU time may still tell: it is far steadier than the wall time on a machine with others. */
static void add_no_change(struct buffer *out, const rt_comparison *comparison, size_t side)
{
	double wall = compared_change_pct(find_figure(comparison, "wall_time"), side);
	double cpu = telling_pct(find_figure(comparison, "cpu_time"), side);

	buffer_printf(out, "%s took as long as %s%s", comparison_side_name(comparison, side),
		      comparison_side_name(comparison, 0), is_small(wall, NAN) ? "" : ", within the noise");
	if (!isnan(cpu) && cpu != 0 && !isinf(cpu))
		buffer_printf(out, "; %.0f %% %s CPU time", fabs(cpu), cpu > 0 ? "more" : "less");
}

/* A run that failed is not faster than one that did its work. CSV and snapshots do not record how a run ended. */
static bool ended_otherwise(const rt_comparison *comparison, size_t side)
{
	const char *base = comparison->outcomes[0], *other = comparison->outcomes[side];

	return strcmp(base, other) != 0 && !strstr(base, "not record how") &&
	       !strstr(other, "not record how");
}

static void add_speed(struct buffer *out, const rt_comparison *comparison, size_t side)
{
	double change = telling_pct(find_figure(comparison, "wall_time"), side);

	if (isnan(change)) {
		buffer_printf(out, "%s and %s cannot be compared by wall time",
			      comparison_side_name(comparison, side), comparison_side_name(comparison, 0));
		return;
	}
	if (change == 0) {
		add_no_change(out, comparison, side);
		return;
	}
	if (isinf(change) || change > 900)
		buffer_printf(out, "%s took much longer than %s", comparison_side_name(comparison, side),
			      comparison_side_name(comparison, 0));
	else if (ended_otherwise(comparison, side))
		buffer_printf(out, "%s took %.0f %% %s time than %s", comparison_side_name(comparison, side),
			      fabs(change), change > 0 ? "more" : "less",
			      comparison_side_name(comparison, 0));
	else
		buffer_printf(out, "%s is %.0f %% %s than %s", comparison_side_name(comparison, side),
			      fabs(change), change > 0 ? "slower" : "faster",
			      comparison_side_name(comparison, 0));
	if (!ended_otherwise(comparison, side))
		add_cause(out, comparison, side);
}

static void add_memory_verdict(struct buffer *out, const rt_comparison *comparison, size_t side)
{
	const struct compared *memory = find_figure(comparison, "memory_peak");
	double change = telling_pct(memory, side);

	if (isnan(change))
		return;
	if (!compared_alike(memory, side))
		buffer_add_text(out, "; memory was measured in different ways");
	else if (change == 0)
		buffer_add_text(out, "; the same memory");
	else if (isinf(change))
		buffer_add_text(out, "; more memory");
	else
		buffer_printf(out, "; %.0f %% %s memory", fabs(change), change > 0 ? "more" : "less");
}

void comparison_add_verdict(struct buffer *out, const rt_comparison *comparison)
{
	for (size_t side = 1; side < comparison->side_count; side++) {
		if (strcmp(comparison->outcomes[side], comparison->outcomes[0]) != 0)
			buffer_printf(out, "%s: %s, %s: %s. ", comparison_side_name(comparison, 0),
				      comparison->outcomes[0], comparison_side_name(comparison, side),
				      comparison->outcomes[side]);
		add_speed(out, comparison, side);
		add_memory_verdict(out, comparison, side);
		buffer_add_text(out, ".\n");
	}
}
