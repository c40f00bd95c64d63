/* Computes the memory to reserve. See recommend_policy.h. */
#include "recommend/recommend_policy.h"

#include <math.h>
#include <stdlib.h>

static const double MAX_MARGIN = 0.2, P95_MARGIN = 0.15, COST_MARGIN = 0.05, P95 = 0.95, STEEP = 3;
/* The weight of a run halves every this many runs. */
static const double HALF_LIFE_RUNS = 25;
static const double MOST = 1e15; /* statistics in a file may contain any number */
enum { TREND_LEAST = 8, NEW_LEAST = 10, OLD_LEAST = 3, MEMORY_STEP_MIB = 1024 };

static double largest_peak(const struct peak *peaks, size_t count)
{
	double most = -INFINITY;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, peaks[i].mib);
	return most;
}

static double smallest_peak(const struct peak *peaks, size_t count)
{
	double least = INFINITY;

	for (size_t i = 0; i < count; i++)
		least = fmin(least, peaks[i].mib);
	return least;
}

/* Returns how many of the oldest runs to forget, because every later run took less than each of them. */
static size_t count_outdated(const struct peak *peaks, size_t count)
{
	for (size_t old = OLD_LEAST; old + NEW_LEAST <= count; old++)
		if (largest_peak(peaks + old, count - old) < smallest_peak(peaks, old))
			return old;
	return 0;
}

/*
 * Extrapolates a line through the peaks by one run; NaN unless the rise is clearly larger than the scatter.
 */
static double next_of_rise(const struct peak *peaks, size_t count)
{
	double n = (double)count, middle = (n - 1) / 2, mean = 0, rise = 0, spread = 0, error = 0, slope;

	if (count < TREND_LEAST)
		return NAN;
	for (size_t i = 0; i < count; i++)
		mean += peaks[i].mib / n;
	for (size_t i = 0; i < count; i++) {
		rise += ((double)i - middle) * (peaks[i].mib - mean);
		spread += ((double)i - middle) * ((double)i - middle);
	}
	slope = rise / spread;
	for (size_t i = 0; i < count; i++) {
		double off = peaks[i].mib - mean - slope * ((double)i - middle);

		error += off * off;
	}
	error = sqrt(error / (n - 2) / spread);
	return slope > 0 && slope >= STEEP * error ? mean + slope * (n - middle) : (double)NAN;
}

static struct reservation reserve_max(const struct peak *peaks, size_t count)
{
	size_t old = count_outdated(peaks, count);
	double next = next_of_rise(peaks, count);
	struct reservation answer = {.margin = MAX_MARGIN, .runs = count - old};

	answer.base = largest_peak(peaks + old, count - old);
	answer.drift = old ? DRIFT_DOWN : DRIFT_NONE;
	if (next > answer.base) {
		answer.base = next;
		answer.drift = DRIFT_UP;
	}
	return answer;
}

static int by_size(const void *a, const void *b)
{
	double one = ((const struct peak *)a)->mib, other = ((const struct peak *)b)->mib;

	return (one > other) - (one < other);
}

/* Sorts a copy of the peaks, in which `secs` holds the weight. */
static struct reservation reserve_p95(const struct peak *peaks, size_t count)
{
	struct peak sorted[POLICY_RUNS];
	double total = 0, below = 0;
	struct reservation answer = {.margin = P95_MARGIN, .runs = count};

	for (size_t i = 0; i < count; i++) {
		sorted[i] = (struct peak){peaks[i].mib, exp2(-(double)(count - 1 - i) / HALF_LIFE_RUNS)};
		total += sorted[i].secs;
	}
	qsort(sorted, count, sizeof(*sorted), by_size);
	for (size_t i = 0; i < count && below < P95 * total; i++) {
		answer.base = sorted[i].mib;
		below += sorted[i].secs;
	}
	return answer;
}

/*
 * Returns the cost, in MiB x seconds, of reserving `mib` for all runs. A killed run is repeated with the
 * largest peak plus 20 %.
 */
static double cost_of(double mib, const struct peak *peaks, size_t count, double again_mib)
{
	double cost = 0;

	for (size_t i = 0; i < count; i++) {
		double secs = peaks[i].secs > 0 ? peaks[i].secs : 1;

		cost += secs * (mib + (peaks[i].mib > mib ? again_mib : 0));
	}
	return cost;
}

static struct reservation reserve_cost(const struct peak *peaks, size_t count)
{
	double again = largest_peak(peaks, count) * (1 + MAX_MARGIN), least = INFINITY;
	struct reservation answer = {.margin = COST_MARGIN, .runs = count};

	for (size_t i = 0; i < count; i++) {
		double cost = cost_of(peaks[i].mib * (1 + COST_MARGIN), peaks, count, again);

		if (cost < least) {
			least = cost;
			answer.base = peaks[i].mib;
		}
	}
	return answer;
}

struct reservation policy_reserve(enum rt_policy policy, const struct peak *peaks, size_t count)
{
	struct reservation answer = {.mib = NAN, .base = NAN};

	if (!count)
		return answer;
	if (count > POLICY_RUNS) {
		peaks += count - POLICY_RUNS;
		count = POLICY_RUNS;
	}
	/* With few runs, the cheapest reservation would fit the past and say nothing about the next run. */
	answer = policy == RT_POLICY_P95                         ? reserve_p95(peaks, count)
		 : policy == RT_POLICY_COST && count > OLD_LEAST ? reserve_cost(peaks, count)
								 : reserve_max(peaks, count);
	answer.mib = answer.base * (1 + answer.margin);
	return answer;
}

struct backtest policy_backtest(enum rt_policy policy, const struct peak *peaks, size_t count)
{
	struct backtest result = {.reserved_per_used = NAN};
	double reserved = 0, used = 0;
	size_t first = count > POLICY_RUNS ? count - POLICY_RUNS : 1;

	for (size_t i = first; i < count; i++) {
		/* As the advice would have been: rounded up, and never below the least. */
		double mib = (double)round_reservation_mib(policy_reserve(policy, peaks, i).mib);

		result.runs++;
		result.killed += peaks[i].mib > mib;
		reserved += mib;
		used += peaks[i].mib;
	}
	if (used > 0)
		result.reserved_per_used = reserved / used;
	return result;
}

int64_t rt_round_memory_mib(double mib)
{
	int64_t step = LEAST_MIB;

	if (!(mib < MOST))
		return mib >= MOST ? (int64_t)MOST : step;
	while (step < 2 * MEMORY_STEP_MIB && (double)step < mib)
		step *= 2;
	return (double)step >= mib ? step : (int64_t)ceil(mib / (double)MEMORY_STEP_MIB) * MEMORY_STEP_MIB;
}

/* The steps are a sixteenth to an eighth of the amount. */
int64_t round_reservation_mib(double mib)
{
	int64_t step = 32;

	if (!(mib < MOST))
		return mib >= MOST ? (int64_t)MOST : LEAST_MIB;
	if (mib <= (double)LEAST_MIB)
		return LEAST_MIB;
	while (step < MEMORY_STEP_MIB && (double)step * 16 < mib)
		step *= 2;
	return (int64_t)ceil(mib / (double)step) * step;
}
