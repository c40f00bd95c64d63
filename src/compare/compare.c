/* Compares runs. See compare.h. */
#include "compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regions/regions.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/scan.h"
#include "record/tree_memory.h"
#include "table/aggregate.h"

static const double NOISE_ERRORS = 2;

/* These come first, in this order. The others follow by the size of their change. */
static const char *const HEAD[] = {"wall_time", "cpu_time", "memory_peak"};

/* A smaller difference is within the precision of the measurement. */
static const struct {
	const char *unit;
	double least;
} TELLING[] = {{"s", 0.02}, {"MiB", 1}, {"bytes", 65536}, {"cores", 0.02}, {"GPUs", 0.02}, {"", 2}};

static const char *const PHASE_COLUMNS[] = {"process_cpu_usage", "process_memory_mib"};

/* One number of one run. */
struct finding {
	char *name;
	const char *unit;
	bool of_phase;
	size_t side;
	double value;
	unsigned measures;
};

struct findings {
	struct finding *list;
	size_t count, capacity;
};

static void findings_done(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->list[i].name);
	free(findings->list);
}

static int add_finding(struct findings *findings, const char *name, const char *unit, bool of_phase,
		       size_t side, double value)
{
	struct finding finding = {strdup(name), unit, of_phase, side, value, 0};

	if (findings->count == findings->capacity) {
		size_t capacity = findings->capacity ? 2 * findings->capacity : 64;
		struct finding *list = realloc(findings->list, capacity * sizeof(*list));

		if (list) {
			findings->list = list;
			findings->capacity = capacity;
		}
	}
	if (!finding.name || findings->count == findings->capacity) {
		free(finding.name);
		return -ENOMEM;
	}
	findings->list[findings->count++] = finding;
	return 0;
}

static int add_compared_phase(struct findings *findings, const struct region *region, size_t side)
{
	const struct {
		const char *suffix, *unit;
		double value;
	} VALUES[] = {{"secs", "s", region->seconds[REGION_TOTAL]},
		      {"calls", "", (double)region->calls},
		      {"cores_mean", "cores", region->measures[0][REGION_MEAN]},
		      {"memory_max", "MiB", region->measures[1][REGION_MAX]}};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(VALUES) && result == 0; i++) {
		CLEANUP_BUFFER struct buffer name = BUFFER(1 << 16);

		buffer_printf(&name, "%s.%s", region->name, VALUES[i].suffix);
		result = buffer_error(&name) ? -ENOMEM
					     : add_finding(findings, name.data, VALUES[i].unit, true, side,
							   VALUES[i].value);
	}
	return result;
}

/* Only these two figures can count in several ways. The name of any other tells its measure. */
static unsigned measures_of(const struct run_facts *facts, enum run_figure_id figure)
{
	if (figure == FIGURE_memory_peak_mib)
		return 1u << memory_measure(summary_memory_peak(facts).source);
	if (figure == FIGURE_memory_mean_mib)
		return facts->tracked ? facts->measured.measures : 1u << MEASURE_MACHINE;
	return 0;
}

static void add_outcome(char *outcome, const struct run_facts *facts)
{
	CLEANUP_BUFFER struct buffer end = BUFFER(1 << 10);
	static const char UNKNOWN[] = "no end is recorded:";
	size_t length;

	summary_add_end(&end, facts);
	/* A row has no room for what may be the reason. */
	length = strncmp(end.data ? end.data : "", UNKNOWN, strlen(UNKNOWN)) == 0 ? strlen(UNKNOWN) - 1
										  : end.length;
	if (!*outcome)
		snprintf(outcome, OUTCOME_BYTES, "%.*s", (int)length, end.data ? end.data : "");
	else if (strlen(outcome) != length || strncmp(outcome, end.data, length) != 0)
		snprintf(outcome, OUTCOME_BYTES, "not all alike");
}

static unsigned descendants_of(const struct run_facts *facts)
{
	struct rt_value values[RUN_FIGURE_COUNT];

	summary_values(facts, values);
	if (cell_real(values[FIGURE_end_descendants_running], 0) > 0)
		return DESCENDANTS_LEFT;
	return isnan(cell_real(values[FIGURE_time_tree_wall_secs], NAN)) ? 0u : DESCENDANTS_WAITED_FOR;
}

/* A comparison tells these of a side beside its figures. */
static void add_side_facts(rt_comparison *comparison, size_t side, const struct run_facts *facts)
{
	comparison->of_jobs |= facts->tracked;
	comparison->descendants[side] |= descendants_of(facts);
	add_outcome(comparison->outcomes[side], facts);
}

static bool name_begins_with(const char *name, const char *beginning)
{
	return strncmp(name, beginning, strlen(beginning)) == 0;
}

/*
 * A program that only other runs have used no CPU time in this one. A side none of whose recordings has waits may have been recorded
 * without them.
 */
static double value_of_missing(const struct findings *findings, const char *name, size_t side)
{
	if (name_begins_with(name, PROGRAM_PREFIX))
		return 0;
	for (size_t i = 0; name_begins_with(name, WAIT_PREFIX) && i < findings->count; i++)
		if (findings->list[i].side == side && name_begins_with(findings->list[i].name, WAIT_PREFIX))
			return 0;
	return NAN;
}

static int add_compared_programs(struct findings *findings, const struct run_facts *facts, size_t side)
{
	int result = 0;

	for (size_t i = 0; i < facts->programs.count && result == 0; i++) {
		char name[sizeof PROGRAM_PREFIX + sizeof facts->programs.list->name];

		snprintf(name, sizeof name, PROGRAM_PREFIX "%s]", facts->programs.list[i].name);
		result = add_finding(findings, name, "s", false, side, facts->programs.list[i].cpu_secs);
	}
	return result;
}

static int add_compared_waits(struct findings *findings, const struct run_facts *facts, size_t side)
{
	int result = 0;

	for (size_t i = 0; i < facts->waits.by_target.count && result == 0; i++) {
		const struct summary_wait *wait = &facts->waits.by_target.list[i];
		char words[128], name[sizeof WAIT_PREFIX + sizeof words];

		snprintf(name, sizeof name, WAIT_PREFIX "%s]", summary_wait_words(wait, words, sizeof words));
		result = add_finding(findings, name, "s", false, side, wait->secs);
	}
	return result;
}

static int add_compared_summary(struct findings *findings, const char *path, const rt_summary *summary,
				size_t side, struct rt_problem *problem)
{
	CLEANUP_REGIONS rt_regions *regions = NULL;
	struct rt_value values[RUN_FIGURE_COUNT];
	int result = 0;

	if (summary->phases.count)
		result = regions_of_summary(&path, 1, summary, NULL, PHASE_COLUMNS, ARRAY_SIZE(PHASE_COLUMNS),
					    &regions, problem);
	if (result < 0)
		return result;
	summary_values(&summary->facts, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT && result == 0; i++) {
		const char *name = RUN_FIGURES[i].compared;

		if (!name)
			continue;
		result = add_finding(findings, name, RUN_FIGURES[i].unit, false, side,
				     cell_real(values[i], NAN));
		if (result == 0)
			findings->list[findings->count - 1].measures =
				measures_of(&summary->facts, (enum run_figure_id)i);
	}
	if (result == 0)
		result = add_compared_programs(findings, &summary->facts, side);
	if (result == 0)
		result = add_compared_waits(findings, &summary->facts, side);
	for (size_t i = 0; regions && i < regions->count && result == 0; i++)
		result = add_compared_phase(findings, &regions->list[i], side);
	return result < 0 ? problem_set(problem, result, "out of memory") : 0;
}

static int add_compared_run(rt_comparison *comparison, struct findings *findings, const char *path,
			    size_t side, struct rt_problem *problem)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	int result = strcmp(path, "-") == 0 ? problem_set(problem, -ESPIPE,
							  "runs are compared from files, not from a stream")
					    : rt_summary_read(&path, 1, &summary, problem);

	if (result < 0)
		return result;
	add_side_facts(comparison, side, &summary->facts);
	return add_compared_summary(findings, path, summary, side, problem);
}

/* ---- figures by name --------------------------------------------------------------------------------- */

static void take_values(struct side_figure *figure, struct findings *findings, const char *name, size_t side)
{
	double squares = 0;

	*figure = (struct side_figure){0, NAN, NAN, NAN, NAN, 0};
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *one = &findings->list[i];
		double before = figure->mean;

		if (one->side != side || isnan(one->value) || strcmp(one->name, name) != 0)
			continue;
		figure->runs++;
		figure->measures |= one->measures & ~(1u << MEASURE_UNKNOWN);
		if (figure->runs == 1) {
			figure->mean = figure->least = figure->most = one->value;
			continue;
		}
		figure->mean += (one->value - before) / (double)figure->runs;
		squares += (one->value - before) * (one->value - figure->mean);
		figure->least = fmin(figure->least, one->value);
		figure->most = fmax(figure->most, one->value);
	}
	if (!figure->runs && !isnan(value_of_missing(findings, name, side))) {
		figure->mean = figure->least = figure->most = 0;
		figure->runs = 1;
	}
	if (figure->runs > 1)
		figure->deviation = sqrt(squares / (double)(figure->runs - 1));
}

double compared_change_pct(const struct compared *compared, size_t side)
{
	double base = compared->sides[0].mean, value = compared->sides[side].mean;

	if (base == 0 && value == 0)
		return 0;
	return base == 0 && !isnan(value) ? copysign(INFINITY, value) : 100 * (value - base) / fabs(base);
}

/* Student's t: one run in a hundred differs from the mean of `runs` others by more of the deviations that these have. */
static double of_one_more(size_t runs)
{
	static const double QUANTILES[] = {63.7, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17,
					   3.11, 3.05, 3.01, 2.98, 2.95, 2.92, 2.90, 2.88, 2.86, 2.85};
	size_t freedom = runs - 1;

	return freedom > ARRAY_SIZE(QUANTILES) ? 2.84 : QUANTILES[freedom - 1];
}

double compared_noise_pct(const struct compared *compared, size_t side)
{
	const struct side_figure *base = &compared->sides[0], *other = &compared->sides[side];
	double error;

	if (base->mean != 0 && base->runs >= NOISE_NEEDS && other->runs == 1)
		return 100 * of_one_more(base->runs) * base->deviation * sqrt(1 + 1 / (double)base->runs) /
		       fabs(base->mean);
	if (base->runs < 2 || other->runs < 2 || base->mean == 0)
		return NAN;
	error = sqrt(base->deviation * base->deviation / (double)base->runs +
		     other->deviation * other->deviation / (double)other->runs);
	return NOISE_ERRORS * 100 * error / fabs(base->mean);
}

bool compared_negligible(const struct compared *compared, size_t side)
{
	double difference = fabs(compared->sides[side].mean - compared->sides[0].mean);

	for (size_t i = 0; i < ARRAY_SIZE(TELLING); i++)
		if (strcmp(compared->unit, TELLING[i].unit) == 0)
			return difference < TELLING[i].least;
	return false;
}

bool compared_alike(const struct compared *compared, size_t side)
{
	unsigned base = compared->sides[0].measures, other = compared->sides[side].measures,
		 both = base | other;

	/* If the measure of a side is unknown, nothing shows that the sides differ. */
	return !base || !other || (both & (both - 1)) == 0;
}

void compared_add_measures(struct buffer *out, const struct compared *compared, size_t side)
{
	bool any = false;

	for (enum memory_measure measure = MEASURE_ONCE; measure <= MEASURE_MACHINE; measure++) {
		if (!(compared->sides[side].measures & 1u << measure))
			continue;
		buffer_add_text(out, any ? " and " : "");
		buffer_add_text(out, memory_measure_in_words(measure));
		any = true;
	}
}

static bool is_new_finding(const rt_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->list[i].name, name) == 0)
			return false;
	return true;
}

static double largest_change(const struct compared *compared, size_t side_count)
{
	double largest = -1;

	for (size_t i = 1; i < side_count; i++) {
		double change = compared_negligible(compared, i) ? 0 : fabs(compared_change_pct(compared, i));

		/* A value that appeared counts as much as one that disappeared. */
		if (isinf(change))
			change = 100;
		if (change > largest)
			largest = change;
	}
	return largest;
}

/* The order of the list: the first figures above all changes in percent, which are finite. */
static double list_weight(const struct compared *compared, size_t side_count)
{
	for (size_t i = 0; compared->head && i < ARRAY_SIZE(HEAD); i++)
		if (strcmp(compared->name, HEAD[i]) == 0)
			return 1e300 / (double)(i + 1);
	return largest_change(compared, side_count);
}

/* Sorts by weight, largest first. Equal weights keep their order. */
static void sort_compared(rt_comparison *comparison)
{
	for (size_t i = 1; i < comparison->count; i++) {
		struct compared one = comparison->list[i];
		double its = list_weight(&one, comparison->side_count);
		size_t j = i;

		for (; j && list_weight(&comparison->list[j - 1], comparison->side_count) < its; j--)
			comparison->list[j] = comparison->list[j - 1];
		comparison->list[j] = one;
	}
}

static bool is_head(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(HEAD); i++)
		if (strcmp(name, HEAD[i]) == 0)
			return true;
	return false;
}

/* A figure that no run has is left out. */
static void drop_unknown(rt_comparison *comparison)
{
	size_t kept = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		struct compared *one = &comparison->list[i];
		bool known = false;

		for (size_t side = 0; side < comparison->side_count; side++)
			known |= one->sides[side].runs > 0;
		if (known) {
			comparison->list[kept++] = *one;
			continue;
		}
		free(one->name);
		free(one->sides);
	}
	comparison->count = kept;
}

static int gather_figures(rt_comparison *comparison, struct findings *findings)
{
	comparison->list = calloc(findings->count + 1, sizeof(*comparison->list));
	if (!comparison->list)
		return -ENOMEM;
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *one = &findings->list[i];
		struct compared *compared = &comparison->list[comparison->count];

		if (!is_new_finding(comparison, one->name))
			continue;
		*compared = (struct compared){
			.name = strdup(one->name),
			.of_phase = one->of_phase,
			.head = !one->of_phase && is_head(one->name),
			.place = i,
			.unit = one->unit,
			.sides = calloc(comparison->side_count, sizeof(*compared->sides)),
		};
		comparison->count++;
		if (!compared->name || !compared->sides)
			return -ENOMEM;
		for (size_t side = 0; side < comparison->side_count; side++)
			take_values(&compared->sides[side], findings, one->name, side);
	}
	drop_unknown(comparison);
	sort_compared(comparison);
	return 0;
}

void rt_comparison_free(rt_comparison *comparison)
{
	if (!comparison)
		return;
	for (size_t i = 0; comparison->sides && i < comparison->side_count; i++)
		free(comparison->sides[i]);
	for (size_t i = 0; i < comparison->count; i++) {
		free(comparison->list[i].name);
		free(comparison->list[i].sides);
	}
	free(comparison->outcomes);
	free(comparison->descendants);
	free(comparison->sides);
	free(comparison->runs);
	free(comparison->list);
	free(comparison);
}

/* With room for `sides` sides. NULL: out of memory */
static rt_comparison *new_comparison(size_t sides)
{
	rt_comparison *comparison = calloc(1, sizeof(*comparison));

	if (!comparison)
		return NULL;
	comparison->sides = calloc(sides + 1, sizeof(*comparison->sides));
	comparison->runs = calloc(sides + 1, sizeof(*comparison->runs));
	comparison->outcomes = calloc(sides + 1, sizeof(*comparison->outcomes));
	comparison->descendants = calloc(sides + 1, sizeof(*comparison->descendants));
	if (comparison->sides && comparison->runs && comparison->outcomes && comparison->descendants)
		return comparison;
	rt_comparison_free(comparison);
	return NULL;
}

/* Returns -1 if memory runs out. */
static ssize_t find_side(rt_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->side_count; i++)
		if (strcmp(comparison->sides[i], name) == 0)
			return (ssize_t)i;
	comparison->sides[comparison->side_count] = strdup(name);
	if (!comparison->sides[comparison->side_count])
		return -1;
	return (ssize_t)comparison->side_count++;
}

/* `summaries` are those of the runs, in the same order, or NULL. */
static int compare_runs(const struct rt_compared_run *runs, size_t run_count, rt_summary *const *summaries,
			rt_comparison **ret_comparison, struct rt_problem *ret_problem)
{
	CLEANUP_COMPARISON rt_comparison *comparison = new_comparison(run_count);
	__attribute__((cleanup(findings_done))) struct findings findings = {0};
	int result = 0;

	if (!comparison)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < run_count && result == 0; i++) {
		ssize_t side = find_side(comparison, runs[i].side);

		if (side < 0)
			return problem_set(ret_problem, -ENOMEM, "out of memory");
		comparison->runs[side]++;
		if (summaries)
			add_side_facts(comparison, (size_t)side, &summaries[i]->facts);
		result = summaries ? add_compared_summary(&findings, runs[i].path, summaries[i], (size_t)side,
							  ret_problem)
				   : add_compared_run(comparison, &findings, runs[i].path, (size_t)side,
						      ret_problem);
	}
	if (result < 0)
		return result;
	if (comparison->side_count < 2)
		return problem_set(ret_problem, -EINVAL, "name two different recordings to compare");
	if (gather_figures(comparison, &findings) < 0)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	*ret_comparison = comparison;
	comparison = NULL;
	return 0;
}

int rt_compare(const struct rt_compared_run *runs, size_t run_count, rt_comparison **ret_comparison,
	       struct rt_problem *ret_problem)
{
	return compare_runs(runs, run_count, NULL, ret_comparison, ret_problem);
}

static int add_given_values(struct findings *findings, const struct compared_value *values, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++) {
		result = add_finding(findings, values[i].name, values[i].unit, false, values[i].side,
				     values[i].value);
		if (result == 0)
			findings->list[findings->count - 1].measures = values[i].measures;
	}
	return result;
}

int compare_values(const char *const names[2], const size_t runs[2], const char *const outcomes[2],
		   const struct compared_value *values, size_t count, rt_comparison **ret_comparison)
{
	CLEANUP_COMPARISON rt_comparison *comparison = new_comparison(2);
	__attribute__((cleanup(findings_done))) struct findings findings = {0};

	if (!comparison || add_given_values(&findings, values, count) < 0)
		return -ENOMEM;
	for (size_t side = 0; side < 2; side++) {
		comparison->sides[side] = strdup(names[side]);
		comparison->side_count += comparison->sides[side] != NULL;
		comparison->runs[side] = runs[side];
		snprintf(comparison->outcomes[side], OUTCOME_BYTES, "%s", outcomes[side]);
	}
	if (comparison->side_count < 2 || gather_figures(comparison, &findings) < 0)
		return -ENOMEM;
	*ret_comparison = comparison;
	comparison = NULL;
	return 0;
}

int compare_summaries(const struct rt_compared_run *runs, size_t run_count, rt_summary *const *summaries,
		      rt_comparison **ret_comparison, struct rt_problem *ret_problem)
{
	return compare_runs(runs, run_count, summaries, ret_comparison, ret_problem);
}
