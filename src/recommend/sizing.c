/* Says how much the next run needs. See sizing.h. */
#include "recommend/sizing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sizing_rule SIZING_MEMORY = {0.02, 0.15, 1.1, 1.5, false}, SIZING_TIME = {0.3, 0.6, 0, 2, true};

/* Shapes. Fewer sizes than these say too little. */
enum { LINE_LEAST_RUNS = 8, NEAREST_RUNS = 7, NEAREST_LEAST_RUNS = 2 * NEAREST_RUNS };
static const double SAME_SIZE = 1.02;     /* sizes that differ by less are one size */
static const double NEAREST_REACH = 1.25; /* of the largest size: beyond it the nearest runs say nothing */
static const double MOST_LEVERAGE = 0.95;
static const double LINE_REACH = 4; /* times the smallest and the largest need: a line is held between */

/* Margins. */
static const double SCATTER_PART =
	0.3; /* of the logarithm of largest / median: the safe margin grows with it */
static const double ONE_RUN_MARGIN = 0.2;
static const double FEW_RUNS_MOST =
	0.5; /* 1 / runs is added to the margin of runs that differ, at most this, */
static const double FEW_RUNS_SPREAD = 0.1; /* and all of it if the logarithm of largest / smallest is this */
static const double COST_MARGIN = 0.02;    /* for what a recording does not see */
static const double P95 = 0.95, HALF_LIFE_RUNS = 25;
static const double KILL_PRICE = 2; /* a kill costs its waste and, once more, the queue and the user's time */
static const double AFTER_THIRD = 2;
static const double OUTLYING = 3;

static const double MOST_MIB = 1e15; /* statistics in a file may contain any number */
enum { BACKTEST_RUNS = 50 };

/* Drift. */
enum { NEW_LEAST = 10, OLD_LEAST = 3, RECENT_LEAST = 10, RECENT = 5, TREND_RUNS = 50 };
static const double STEEP = 5; /* standard errors of the slope */

struct fit {
	enum sizing_shape shape;
	size_t count;
	double at_input;        /* the shape's value for the size of the question */
	double fixed, per_byte; /* of a line */
	double without
		[SIZING_RUNS]; /* for each run, the shape's value without this run, in the order of time */
	double ratio[SIZING_RUNS]; /* need / without, in the order of time */
	const struct sized_run *of[SIZING_RUNS];
	size_t by_ratio[SIZING_RUNS]; /* places, the smallest ratio first */
	double load;                  /* sum of weight * without */
};

struct known {
	struct sized_run runs[SIZING_RUNS];
	size_t count, forgotten;
	double largest, smallest;
};

static double weight_of(const struct sized_run *run)
{
	return run->weight > 0 ? run->weight : 1;
}

/* Returns how many of the oldest runs to forget, because every later run took less than each of them. */
static size_t count_outdated(const struct sized_run *runs, size_t count)
{
	double later[SIZING_RUNS + 1] = {0}, before = INFINITY;

	for (size_t i = count; i-- > 0;)
		later[i] = fmax(later[i + 1], runs[i].need);
	for (size_t old = 1; old + NEW_LEAST <= count; old++) {
		before = fmin(before, runs[old - 1].need);
		if (old >= OLD_LEAST && later[old] < before)
			return old;
	}
	return 0;
}

static void take_known(const struct sized_run *runs, size_t count, struct known *ret_known)
{
	struct sized_run newest[SIZING_RUNS];
	size_t kept = 0, old;

	for (size_t i = count; i-- > 0 && kept < SIZING_RUNS;)
		if (runs[i].need > 0 && isfinite(runs[i].need))
			newest[SIZING_RUNS - ++kept] = runs[i];
	old = count_outdated(newest + SIZING_RUNS - kept, kept);
	*ret_known = (struct known){
		.count = kept - old, .forgotten = old, .largest = -INFINITY, .smallest = INFINITY};
	memcpy(ret_known->runs, newest + SIZING_RUNS - ret_known->count, ret_known->count * sizeof *newest);
	for (size_t i = 0; i < ret_known->count; i++) {
		ret_known->largest = fmax(ret_known->largest, ret_known->runs[i].need);
		ret_known->smallest = fmin(ret_known->smallest, ret_known->runs[i].need);
	}
}

static void add_to_fit(struct fit *fit, const struct sized_run *run, double without)
{
	size_t place = fit->count++, below = 0, above = place;
	double ratio = run->need / without;

	fit->of[place] = run;
	fit->without[place] = without;
	fit->ratio[place] = ratio;
	fit->load += weight_of(run) * without;
	while (below < above) {
		size_t middle = (below + above) / 2;

		if (fit->ratio[fit->by_ratio[middle]] > ratio)
			above = middle;
		else
			below = middle + 1;
	}
	memmove(fit->by_ratio + below + 1, fit->by_ratio + below, (place - below) * sizeof *fit->by_ratio);
	fit->by_ratio[below] = place;
}

static void fit_same(const struct known *known, struct fit *ret_fit)
{
	*ret_fit = (struct fit){.shape = SHAPE_SAME, .at_input = 1, .fixed = 1};
	for (size_t i = 0; i < known->count; i++)
		add_to_fit(ret_fit, &known->runs[i], 1);
}

static double weight_of_need(double need)
{
	return 1 / need / need;
}

/* Fits a line by least squares of the relative errors. `sized` are the runs with a size. */
static void fit_line(const struct known *known, const struct sized_run *const *sized, size_t count,
		     double input, struct fit *ret_fit)
{
	double total = 0, mean_x = 0, mean_y = 0, spread = 0, slope = 0, low = known->smallest / LINE_REACH,
	       high = known->largest * LINE_REACH;

	*ret_fit = (struct fit){.shape = SHAPE_LINE};
	for (size_t i = 0; i < count; i++) {
		double weight = weight_of_need(sized[i]->need);

		total += weight;
		mean_x += weight * sized[i]->input_bytes;
		mean_y += weight * sized[i]->need;
	}
	mean_x /= total;
	mean_y /= total;
	for (size_t i = 0; i < count; i++) {
		double off = sized[i]->input_bytes - mean_x, weight = weight_of_need(sized[i]->need);

		spread += weight * off * off;
		slope += weight * off * (sized[i]->need - mean_y);
	}
	slope /= spread;
	for (size_t i = 0; i < count; i++) {
		double off = sized[i]->input_bytes - mean_x, weight = weight_of_need(sized[i]->need);
		double leverage = fmin(weight / total + weight * off * off / spread, MOST_LEVERAGE);
		double without = sized[i]->need - (sized[i]->need - mean_y - slope * off) / (1 - leverage);

		add_to_fit(ret_fit, sized[i], fmin(fmax(without, low), high));
	}
	ret_fit->fixed = mean_y - slope * mean_x;
	ret_fit->per_byte = slope;
	ret_fit->at_input = fmin(fmax(ret_fit->fixed + slope * input, low), high);
}

/* Fits a power of the size, scale * (size + 1) ^ power, by least squares of the logarithms. */
static void fit_power(const struct known *known, const struct sized_run *const *sized, size_t count,
		      double input, struct fit *ret_fit)
{
	double mean_x = 0, mean_y = 0, spread = 0, power = 0, n = (double)count,
	       low = known->smallest / LINE_REACH, high = known->largest * LINE_REACH;

	*ret_fit = (struct fit){.shape = SHAPE_POWER};
	for (size_t i = 0; i < count; i++) {
		mean_x += log1p(sized[i]->input_bytes) / n;
		mean_y += log(sized[i]->need) / n;
	}
	for (size_t i = 0; i < count; i++) {
		double off = log1p(sized[i]->input_bytes) - mean_x;

		spread += off * off;
		power += off * (log(sized[i]->need) - mean_y);
	}
	power /= spread;
	for (size_t i = 0; i < count; i++) {
		double off = log1p(sized[i]->input_bytes) - mean_x, need = log(sized[i]->need);
		double leverage = fmin(1 / n + off * off / spread, MOST_LEVERAGE);
		double without = exp(need - (need - mean_y - power * off) / (1 - leverage));

		add_to_fit(ret_fit, sized[i], fmin(fmax(without, low), high));
	}
	ret_fit->at_input = fmin(fmax(exp(mean_y + power * (log1p(input) - mean_x)), low), high);
	ret_fit->fixed = ret_fit->at_input;
}

static int by_size(const void *a, const void *b)
{
	double one = (*(const struct sized_run *const *)a)->input_bytes,
	       other = (*(const struct sized_run *const *)b)->input_bytes;

	return (one > other) - (one < other);
}

/* Returns the largest need of the runs nearest to a size; `below` is the place of the last smaller one, `above` of the next. */
static double largest_near(const struct sized_run *const *ordered, const double *logs, size_t count,
			   size_t below, size_t above, double log_size)
{
	double most = 0;

	/* `below` counts from 1, so that 0 is "none". */
	for (int taken = 0; taken < NEAREST_RUNS && (below || above < count); taken++) {
		double down = below ? log_size - logs[below - 1] : (double)INFINITY;
		double up = above < count ? logs[above] - log_size : (double)INFINITY;

		most = fmax(most, down <= up ? ordered[--below]->need : ordered[above++]->need);
	}
	return most;
}

static void fit_nearest(const struct sized_run *const *sized, size_t count, double input, struct fit *ret_fit)
{
	const struct sized_run *ordered[SIZING_RUNS];
	double logs[SIZING_RUNS];
	size_t at = 0, places[SIZING_RUNS];

	*ret_fit = (struct fit){.shape = SHAPE_NEAREST};
	memcpy(ordered, sized, count * sizeof *ordered);
	qsort(ordered, count, sizeof *ordered, by_size);
	/* The order of time is that of the addresses. */
	for (size_t i = 0; i < count; i++) {
		logs[i] = log1p(ordered[i]->input_bytes);
		places[ordered[i] - *sized] = i;
	}
	for (size_t i = 0; i < count; i++) {
		size_t place = places[sized[i] - *sized];

		add_to_fit(ret_fit, sized[i],
			   largest_near(ordered, logs, count, place, place + 1, logs[place]));
	}
	while (at < count && ordered[at]->input_bytes < input)
		at++;
	ret_fit->at_input = largest_near(ordered, logs, count, at, at, log1p(input));
	ret_fit->fixed = ret_fit->at_input;
}

/* Returns the median of the newest ratios: a step up is followed at once. */
static double recent_median(const double *ratios, size_t count)
{
	double sorted[RECENT];

	for (size_t i = 0; i < RECENT; i++) {
		size_t place = i;

		for (; place && sorted[place - 1] > ratios[count - RECENT + i]; place--)
			sorted[place] = sorted[place - 1];
		sorted[place] = ratios[count - RECENT + i];
	}
	return sorted[RECENT / 2];
}

/* Whether two levels, one after the other, are nearer to the ratios than a line with these squares of distances is. */
static bool is_step(const double *ratios, size_t count, double mean, double line_squares)
{
	double squares = 0, before = 0, left = line_squares + 1;

	for (size_t i = 0; i < count; i++)
		squares += (ratios[i] - mean) * (ratios[i] - mean);
	for (size_t i = 1; i < count; i++) {
		before += ratios[i - 1] - mean;
		left = fmin(left,
			    squares - before * before / (double)i - before * before / (double)(count - i));
	}
	return left < line_squares;
}

/*
 * Returns the next value of a line through the ratios plus its scatter; NaN unless the rise is clear. After a step from one level to
 * another, the next one is expected to stay there.
 */
static double next_of_rise(const struct fit *fit)
{
	size_t count = fit->count < TREND_RUNS ? fit->count : TREND_RUNS;
	const double *ratios = fit->ratio + fit->count - count;
	double n = (double)count, middle = (n - 1) / 2, mean = 0, slope = 0, spread = 0, squares = 0, scatter;

	if (count < RECENT_LEAST)
		return NAN;
	for (size_t i = 0; i < count; i++)
		mean += ratios[i] / n;
	for (size_t i = 0; i < count; i++) {
		slope += ((double)i - middle) * (ratios[i] - mean);
		spread += ((double)i - middle) * ((double)i - middle);
	}
	slope /= spread;
	for (size_t i = 0; i < count; i++) {
		double off = ratios[i] - mean - slope * ((double)i - middle);

		squares += off * off;
	}
	scatter = sqrt(squares / (n - 2));
	if (!(slope > 0 && slope > STEEP * scatter / sqrt(spread)) || is_step(ratios, count, mean, squares))
		return NAN;
	return mean + slope * (n - middle) + scatter;
}

/* Returns what drift asks for at least, as a ratio. */
static double lowest_ratio(const struct fit *fit, bool *ret_rises)
{
	double least, next = next_of_rise(fit);

	*ret_rises = false;
	if (fit->count < RECENT_LEAST)
		return 0;
	least = recent_median(fit->ratio, fit->count);
	*ret_rises = next > least;
	return *ret_rises ? next : least;
}

struct choice {
	double cost, factor, margin; /* the answer is the shape's value times factor times 1 + margin */
	double killed_share;
	bool rises;
};

static double sorted_ratio(const struct fit *fit, size_t place)
{
	return fit->ratio[fit->by_ratio[place]];
}

/*
 * The margin above `top`: it grows with the scatter of the runs. Few runs that differ get more, and few that agree at least a fifth,
 * divided by the root of their number.
 */
static double margin_above(const struct sizing_rule *rule, const struct fit *fit, double top)
{
	double runs = (double)fit->count,
	       spread = log(sorted_ratio(fit, fit->count - 1) / sorted_ratio(fit, 0));
	double scatter =
		rule->least_margin + SCATTER_PART * log(fmax(top / sorted_ratio(fit, fit->count / 2), 1));
	double few = fmin(1 / runs, FEW_RUNS_MOST) * fmin(spread / FEW_RUNS_SPREAD, 1);

	return fmax(fmin(rule->most_margin, scatter) + few, ONE_RUN_MARGIN / sqrt(runs));
}

static struct choice choose_safe(const struct sizing_rule *rule, const struct fit *fit)
{
	double top = sorted_ratio(fit, fit->count - 1), next = next_of_rise(fit);
	struct choice choice = {.factor = fmax(top, next), .rises = next > top};

	choice.margin = margin_above(rule, fit, choice.factor);
	choice.cost = fit->load * choice.factor * (1 + choice.margin);
	return choice;
}

/* Newer runs count more. */
static struct choice choose_p95(const struct sizing_rule *rule, const struct fit *fit)
{
	double total = 0, below = 0, factor = 0, margin;

	for (size_t i = 0; i < fit->count; i++)
		total += exp2(-(double)i / HALF_LIFE_RUNS);
	for (size_t i = 0; i < fit->count && below < P95 * total; i++) {
		factor = sorted_ratio(fit, i);
		below += exp2(-(double)(fit->count - 1 - fit->by_ratio[i]) / HALF_LIFE_RUNS);
	}
	margin = margin_above(rule, fit, factor);
	return (struct choice){.cost = fit->load * factor * (1 + margin), .factor = factor, .margin = margin};
}

/* Returns the cost of the runs that a factor kills: what they had, and the second attempt, by the price of a kill. */
static double cost_of_kills(const struct fit *fit, size_t above, double factor, double again,
			    size_t *ret_killed)
{
	double cost = 0;

	*ret_killed = 0;
	for (size_t i = above; i < fit->count; i++) {
		size_t place = fit->by_ratio[i];

		if (fit->ratio[place] <= factor)
			continue;
		cost += weight_of(fit->of[place]) *
			(KILL_PRICE * again + (KILL_PRICE - 1) * fit->without[place] * factor);
		++*ret_killed;
	}
	return cost;
}

static struct choice choose_cost(const struct sizing_rule *rule, const struct fit *fit, double largest)
{
	struct choice best = {.cost = INFINITY, .margin = COST_MARGIN};
	bool rises;
	double lowest = lowest_ratio(fit, &rises);

	for (size_t i = fit->count / 2; i < fit->count; i++) {
		double ratio = sorted_ratio(fit, i), factor = fmax(ratio, lowest) * (1 + COST_MARGIN), cost;
		size_t killed;

		if (ratio < lowest && i + 1 < fit->count)
			continue;
		cost = fit->load * factor + cost_of_kills(fit, i + 1, factor, rule->again * largest, &killed);
		if (cost < best.cost) {
			best = (struct choice){cost, fmax(ratio, lowest), COST_MARGIN,
					       (double)killed / (double)fit->count, rises && ratio <= lowest};
		}
	}
	return best;
}

static struct choice choose_factor(const struct sizing_rule *rule, const struct sizing_question *question,
				   const struct known *known, const struct fit *fit)
{
	/* With few runs, the cheapest answer would fit the past and say nothing of the next run. */
	if (question->aim == AIM_COST && known->count >= COST_LEAST_RUNS)
		return choose_cost(rule, fit, known->largest);
	return question->aim == AIM_P95 ? choose_p95(rule, fit) : choose_safe(rule, fit);
}

/* Returns the largest need of the runs of this size or less, all without sizes included. */
static double largest_below(const struct known *known, double input)
{
	double most = 0;

	for (size_t i = 0; i < known->count; i++)
		if (isnan(input) || known->runs[i].input_bytes <= input)
			most = fmax(most, known->runs[i].need);
	return most;
}

/* Takes the shape if it costs less than the best so far. Shapes of fewer runs are compared by the cost of one. */
static void take_shape(const struct sizing_rule *rule, const struct sizing_question *question,
		       const struct known *known, const struct fit *fit, double *best_cost,
		       struct sizing_answer *answer)
{
	struct choice choice = choose_factor(rule, question, known, fit);
	double cost = choice.cost / (double)fit->count;

	if (!(cost < *best_cost))
		return;
	*best_cost = cost;
	answer->cost = cost;
	answer->shape = fit->shape;
	answer->base = fit->at_input * choice.factor;
	answer->usual = fit->at_input * sorted_ratio(fit, fit->count / 2);
	answer->is_floor = false;
	if (question->aim == AIM_SAFE) {
		double floor = largest_below(known, question->input_bytes);

		answer->is_floor = floor > answer->base;
		answer->base = fmax(answer->base, floor);
	}
	answer->margin = choice.margin;
	answer->fixed = fit->fixed * choice.factor;
	answer->per_byte = fit->per_byte * choice.factor;
	answer->killed_share = choice.killed_share;
	answer->runs = fit->count;
	answer->drift = choice.rises ? DRIFT_UP : known->forgotten ? DRIFT_DOWN : DRIFT_NONE;
	answer->is_outlying =
		sorted_ratio(fit, fit->count - 1) > OUTLYING * sorted_ratio(fit, fit->count / 2);
	answer->need = answer->base * (1 + answer->margin);
}

static size_t take_sized_runs(const struct known *known, const struct sized_run **ret_sized,
			      double *ret_smallest, double *ret_largest)
{
	size_t count = 0;

	*ret_smallest = INFINITY;
	*ret_largest = -INFINITY;
	for (size_t i = 0; i < known->count; i++) {
		if (!(known->runs[i].input_bytes >= 0))
			continue;
		ret_sized[count++] = &known->runs[i];
		*ret_smallest = fmin(*ret_smallest, known->runs[i].input_bytes);
		*ret_largest = fmax(*ret_largest, known->runs[i].input_bytes);
	}
	return count;
}

/*
 * An input that is larger than any known has at least what the line says for it in the middle. Times grow with the input even where
 * they scatter so much that the same for every size costs less.
 */
static void follow_line(const struct fit *line, struct sizing_answer *answer)
{
	double middle = sorted_ratio(line, line->count / 2), base = line->at_input * middle;

	if (!(base > answer->base))
		return;
	answer->shape = SHAPE_LINE;
	answer->base = base;
	answer->fixed = line->fixed * middle;
	answer->per_byte = line->per_byte * middle;
	answer->is_floor = false;
	answer->need = base * (1 + answer->margin);
}

static void try_shapes(const struct sizing_rule *rule, const struct sizing_question *question,
		       const struct known *known, struct sizing_answer *answer)
{
	const struct sized_run *sized[SIZING_RUNS];
	double smallest, largest, best = INFINITY, input = question->input_bytes;
	size_t count = take_sized_runs(known, sized, &smallest, &largest);
	struct fit fit, other;

	fit_same(known, &fit);
	take_shape(rule, question, known, &fit, &best, answer);
	if (!(input >= 0))
		return;
	answer->is_beyond = count && input > largest;
	if (count < LINE_LEAST_RUNS || largest <= smallest * SAME_SIZE + 1)
		return;
	fit_line(known, sized, count, input, &fit);
	take_shape(rule, question, known, &fit, &best, answer);
	if (rule->is_time && !question->only_formula) {
		fit_power(known, sized, count, input, &other);
		take_shape(rule, question, known, &other, &best, answer);
	}
	if (!question->only_formula && count >= NEAREST_LEAST_RUNS && input <= NEAREST_REACH * largest) {
		fit_nearest(sized, count, input, &other);
		take_shape(rule, question, known, &other, &best, answer);
	}
	if (rule->is_time && answer->is_beyond)
		follow_line(&fit, answer);
}

/* Whether a kill says something of this size: one of about its size up to twice as large, or an unknown one. */
static bool kill_concerns(const struct sized_kill *kill, double input)
{
	return isnan(kill->input_bytes) || isnan(input) ||
	       (input * SAME_SIZE >= kill->input_bytes && input <= 2 * kill->input_bytes);
}

bool settles_kill(double input_bytes, double killed_input_bytes)
{
	return isnan(input_bytes) || isnan(killed_input_bytes) ||
	       input_bytes * SAME_SIZE >= killed_input_bytes;
}

/* Returns what the newest kill of about this size had, or NaN without one. */
static double newest_kill(double input, const struct sized_kill *kills, size_t kill_count)
{
	for (size_t i = kill_count; i-- > 0;)
		if (kill_concerns(&kills[i], input))
			return kills[i].had;
	return NAN;
}

/* The attempts after the first. Each has clearly more than the one before had. */
static double need_of_attempt(const struct sizing_rule *rule, unsigned attempt, double first, double had,
			      double largest)
{
	double need = first;

	if (attempt >= 2 && had > 0) {
		need = fmax(rule->again * largest, rule->after_kill * had);
		return attempt > 3 ? fmax(need, AFTER_THIRD * had) : need;
	}
	for (unsigned k = 2; k <= attempt && isfinite(need); k++)
		need = k > 3 ? AFTER_THIRD * need : fmax(rule->again * largest, rule->after_kill * need);
	return need;
}

struct sizing_answer size_need(const struct sizing_rule *rule, const struct sizing_question *question,
			       const struct sized_run *runs, size_t run_count, const struct sized_kill *kills,
			       size_t kill_count)
{
	struct sizing_answer answer = {
		.need = NAN, .base = NAN, .usual = NAN, .kill_had = NAN, .largest = NAN};
	struct known known;
	double had = newest_kill(question->input_bytes, kills, kill_count), need;

	take_known(runs, run_count, &known);
	if (known.count) {
		try_shapes(rule, question, &known, &answer);
		answer.forgotten = known.forgotten;
		answer.largest = known.largest;
	}
	if (question->attempt >= 2)
		need = need_of_attempt(rule, question->attempt, answer.need, had,
				       known.count ? known.largest : 0);
	else
		need = had > 0 ? fmax(known.count ? answer.need : 0, rule->after_kill * had) : answer.need;
	if (need > answer.need || (isnan(answer.need))) {
		answer.is_retry = question->attempt >= 2;
		answer.kill_had = had;
		answer.need = answer.base = need;
		answer.margin = 0;
	}
	return answer;
}

struct sizing_formula size_formula(const struct sizing_rule *rule, enum sizing_aim aim,
				   const struct sized_run *runs, size_t run_count,
				   const struct sized_kill *kills, size_t kill_count)
{
	const struct sized_run *sized[SIZING_RUNS];
	struct sizing_question question = {aim, NAN, 1, true};
	struct sizing_answer answer, any;
	struct sizing_formula formula = {0};
	struct known known;
	double smallest, scale;

	take_known(runs, run_count, &known);
	formula.has_sizes =
		take_sized_runs(&known, sized, &smallest, &question.input_bytes) >= LINE_LEAST_RUNS;
	if (!formula.has_sizes)
		return formula;
	answer = size_need(rule, &question, runs, run_count, NULL, 0);
	question.only_formula = false;
	any = size_need(rule, &question, runs, run_count, NULL, 0);
	/* A falling line would give a large input less than a smaller one took. */
	if (aim == AIM_SAFE && answer.per_byte < 0) {
		question.input_bytes = NAN;
		answer = size_need(rule, &question, runs, run_count, NULL, 0);
	}
	scale = 1 + answer.margin;
	formula.fixed = answer.fixed * scale;
	formula.per_byte = answer.per_byte * scale;
	formula.least = known.smallest * scale;
	for (size_t i = 0; i < kill_count; i++)
		formula.least = fmax(formula.least, rule->after_kill * kills[i].had);
	formula.most = fmax(LINE_REACH * known.largest * scale, formula.least);
	formula.second = rule->again * known.largest;
	if (any.shape == SHAPE_NEAREST)
		formula.nearest_saves = 1 - any.cost / answer.cost;
	return formula;
}

int64_t round_reservation_mib(double mib)
{
	if (!(mib > (double)LEAST_MIB))
		return LEAST_MIB;
	return (int64_t)ceil(fmin(mib, MOST_MIB) / (double)MEMORY_STEP_MIB) * MEMORY_STEP_MIB;
}

struct backtest size_backtest(const struct sizing_question *question, const struct sized_run *runs,
			      size_t count)
{
	struct backtest result = {.reserved_per_used = NAN};
	struct sizing_question asked = *question;
	double reserved = 0, used = 0;

	asked.attempt = 1;
	for (size_t i = count > BACKTEST_RUNS ? count - BACKTEST_RUNS : 1; i < count; i++) {
		double mib;

		asked.input_bytes = runs[i].input_bytes;
		mib = (double)round_reservation_mib(size_need(&SIZING_MEMORY, &asked, runs, i, NULL, 0).need);
		result.runs++;
		result.killed += runs[i].need > mib;
		reserved += mib;
		used += runs[i].need;
	}
	if (used > 0)
		result.reserved_per_used = reserved / used;
	return result;
}
