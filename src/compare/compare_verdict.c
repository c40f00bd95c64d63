/* Describes the difference between runs in one sentence; see compare.h. */
#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "table/units.h"

/* Between single runs a smaller change may be chance. */
static const double SAME_PCT = 5;
/* A cause explains at least this part of a difference in wall time. */
static const double MOST_OF_IT = 0.5;

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *comparison_side_name(const rt_comparison *comparison, size_t side)
{
	for (size_t i = 0; i < comparison->side_count; i++)
		if (i != side &&
		    strcmp(last_part(comparison->sides[i]), last_part(comparison->sides[side])) == 0)
			return comparison->sides[side];
	return last_part(comparison->sides[side]);
}

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

/* Returns percent; 0 for a negligible change or one within the noise. NaN: unknown. */
static double telling_pct(const struct compared *compared, size_t side)
{
	double change = compared ? compared_change_pct(compared, side) : (double)NAN;
	double noise = compared ? compared_noise_pct(compared, side) : (double)NAN;

	if (isnan(change))
		return NAN;
	if (compared_negligible(compared, side) || fabs(change) <= (isnan(noise) ? SAME_PCT : noise))
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

	for (size_t i = 0; i < sizeof(WAITS) / sizeof(*WAITS); i++) {
		double share = mean_growth(comparison, WAITS[i].figure, side) / wall;

		if (!(share >= most))
			continue;
		most = share;
		cause = wall > 0 ? WAITS[i].more : WAITS[i].less;
	}
	/* Less work also waits less, so waiting is then a consequence. */
	if (work >= MOST_OF_IT && (!cause || work >= fmin(most, 1)))
		buffer_printf(out, ": %s%.0f %% %s CPU time, %s", wall > 0 ? "" : "it did less work, ",
			      fabs(cpu_pct), wall > 0 ? "more" : "less",
			      user ? "mostly in user mode" : "mostly in the kernel");
	else if (cause)
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
		      comparison_side_name(comparison, 0), fabs(wall) > SAME_PCT ? ", within the noise" : "");
	if (!isnan(cpu) && cpu != 0 && !isinf(cpu))
		buffer_printf(out, "; %.0f %% %s CPU time", fabs(cpu), cpu > 0 ? "more" : "less");
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
	else
		buffer_printf(out, "%s is %.0f %% %s than %s", comparison_side_name(comparison, side),
			      fabs(change), change > 0 ? "slower" : "faster",
			      comparison_side_name(comparison, 0));
	add_cause(out, comparison, side);
}

static void add_memory(struct buffer *out, const rt_comparison *comparison, size_t side)
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
		add_memory(out, comparison, side);
		buffer_add_text(out, ".\n");
	}
}
