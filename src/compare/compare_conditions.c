/* Judges conditions on the differences between runs, such as "memory_peak>+10%". See compare.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/compare.h"
#include "base/scan.h"

struct condition {
	struct scan name;
	bool above, percent;
	double bound;
};

/* "memory_peak>+10%", "wall_time<60" */
static bool parse_condition(const char *text, struct condition *ret_condition)
{
	size_t length = strcspn(text, "<>");
	struct condition condition = {.name = scan_trim(scan_bytes(text, length)),
				      .above = text[length] == '>'};
	struct scan rest;

	if (!text[length] || !scan_left(&condition.name))
		return false;
	rest = scan_trim(scan_bytes(text + length + 1, strlen(text + length + 1)));
	if (!scan_real(&rest, &condition.bound))
		return false;
	scan_blanks(&rest);
	condition.percent = scan_literal(&rest, "%");
	*ret_condition = condition;
	return !scan_left(&rest);
}

static double judged_value(const struct condition *condition, const struct compared *compared, size_t side)
{
	return condition->percent ? compared_change_pct(compared, side) : compared->sides[side].mean;
}

static bool condition_holds(const struct condition *condition, const struct compared *compared, size_t side)
{
	double value = judged_value(condition, compared, side);

	if (condition->percent && (fabs(value) <= compared_noise_pct(compared, side) ||
				   compared_negligible(compared, side) || !compared_alike(compared, side)))
		return false;
	return condition->above ? value > condition->bound : value < condition->bound;
}

static int not_alike(const rt_comparison *comparison, const struct compared *compared, size_t side,
		     const char *text, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer base = BUFFER(256), other = BUFFER(256);

	compared_add_measures(&base, compared, 0);
	compared_add_measures(&other, compared, side);
	return problem_set(
		problem, -ENODATA,
		"%.100s: %.100s was measured in different ways: %.100s counts %s, %.100s counts %s", text,
		compared->name, comparison->sides[0], base.data ? base.data : "", comparison->sides[side],
		other.data ? other.data : "");
}

static void tell_change(const rt_comparison *comparison, const struct compared *compared, size_t side,
			const char *text, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer now = BUFFER(64), before = BUFFER(64), percent = BUFFER(64);
	double change = compared_change_pct(compared, side);

	compared_add_amount(&now, compared->sides[side].mean, compared->unit);
	compared_add_amount(&before, compared->sides[0].mean, compared->unit);
	if (isfinite(change))
		buffer_printf(&percent, " (%+.1f %%)", change);
	problem_set(problem, 0, "%.100s: %.100s is %s in %.100s, %s in %.100s%s", text, compared->name,
		    now.data ? now.data : "?", comparison->sides[side], before.data ? before.data : "?",
		    comparison->sides[0], percent.data ? percent.data : "");
}

/* Checks one figure. Returns 1 and a text that names the side, 0, or -ENODATA. */
static int check_figure(const rt_comparison *comparison, const struct compared *compared,
			const struct condition *condition, const char *text, struct rt_problem *problem)
{
	if (condition->percent && compared->sides[0].runs < comparison->percent_needs)
		return 0;
	for (size_t side = 1; side < comparison->side_count; side++) {
		if (!condition_holds(condition, compared, side))
			continue;
		tell_change(comparison, compared, side, text, problem);
		return 1;
	}
	for (size_t side = 1; side < comparison->side_count; side++)
		if (condition->percent && !compared_alike(compared, side))
			return not_alike(comparison, compared, side, text, problem);
	for (size_t side = 1; side < comparison->side_count; side++)
		if (isnan(judged_value(condition, compared, side)))
			return problem_set(problem, -ENODATA, "%.100s: %.100s of %.100s is unknown", text,
					   compared->name,
					   comparison->sides[isnan(compared->sides[side].mean) ? side : 0]);
	return 0;
}

/* The name of a figure, with "_" or, as the table prints it, with blanks. */
static bool is_figure_name(struct scan given, const char *name)
{
	size_t length = scan_left(&given);

	if (length != strlen(name))
		return false;
	for (size_t i = 0; i < length; i++)
		if (given.at[i] != name[i] && !(given.at[i] == ' ' && name[i] == '_'))
			return false;
	return true;
}

static const struct compared *find_compared(const rt_comparison *comparison, struct scan given)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (is_figure_name(given, comparison->list[i].name))
			return &comparison->list[i];
	return NULL;
}

/* The figure by its name in the comparison, or by another one that it has in the table of figures. */
static const struct compared *find_by_any_name(const rt_comparison *comparison, struct scan given)
{
	const struct compared *compared = find_compared(comparison, given);
	enum run_figure_id figure = run_figure_of_key(given);
	const char *name =
		compared || figure == RUN_FIGURE_COUNT ? NULL : run_figure_in_gate(&RUN_FIGURES[figure]);

	return name ? find_compared(comparison, scan_bytes(name, strlen(name))) : compared;
}

int rt_comparison_holds(const rt_comparison *comparison, const char *condition_text,
			struct rt_problem *ret_problem)
{
	const struct compared *compared;
	struct condition condition;

	if (!parse_condition(condition_text, &condition))
		return problem_set(
			ret_problem, -EINVAL,
			"'%.100s' is not a condition: give one like memory_peak>+10%% or wall_time>60",
			condition_text);
	compared = find_by_any_name(comparison, condition.name);
	if (compared)
		return check_figure(comparison, compared, &condition, condition_text, ret_problem);
	return problem_set(ret_problem, -ENOENT, "no run has a figure '%.*s'",
			   (int)scan_left(&condition.name), condition.name.at);
}
