/* Aggregates one column of values. See aggregate.h. */
#include "table/aggregate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain_print.h"
#include "base/scan.h"
#include "metric/absent.h"

static const struct {
	const char *name;
	struct aggregate aggregate;
} AGGREGATES[] = {
	{"mean", {AGGREGATE_MEAN, 0}},
	{"max", {AGGREGATE_MAX, 0}},
	{"min", {AGGREGATE_MIN, 0}},
	{"sum", {AGGREGATE_SUM, 0}},
	{"len", {AGGREGATE_LEN, 0}},
	{"count", {AGGREGATE_LEN, 0}},
	{"std", {AGGREGATE_STD, 0}},
	{"first", {AGGREGATE_FIRST, 0}},
	{"last", {AGGREGATE_LAST, 0}},
	{"duration", {AGGREGATE_DURATION, 0}},
	{"time_mean", {AGGREGATE_TIME_MEAN, 0}},
	{"median", {AGGREGATE_PERCENTILE, 0.5}},
};

int aggregate_find(const char *name, struct aggregate *ret_aggregate, struct rt_problem *problem)
{
	struct scan scan = scan_bytes(name, strlen(name));
	double percent;

	for (size_t i = 0; i < ARRAY_SIZE(AGGREGATES); i++)
		if (strcmp(name, AGGREGATES[i].name) == 0) {
			*ret_aggregate = AGGREGATES[i].aggregate;
			return 0;
		}
	if (scan_literal(&scan, "p") && scan_left(&scan) && *scan.at >= '0' && *scan.at <= '9' &&
	    scan_real(&scan, &percent) && !scan_left(&scan) && percent <= 100) {
		*ret_aggregate = (struct aggregate){AGGREGATE_PERCENTILE, percent / 100};
		return 0;
	}
	return problem_set(problem, -EINVAL,
			   "'%.100s' is not a statistic; use mean, max, min, sum, len, std, median, p95 (any "
			   "percentile), first, last, duration, time_mean",
			   name);
}

static void add_sums(struct values *values, double value)
{
	double sum = values->sum + value, before = values->mean;

	values->lost +=
		fabs(values->sum) >= fabs(value) ? (values->sum - sum) + value : (value - sum) + values->sum;
	values->sum = sum;
	values->mean += (value - before) / (double)values->count;
	values->squares += (value - before) * (value - values->mean);
}

int values_add(struct values *values, struct rt_value cell, double weight)
{
	double value = cell_real(cell, NAN);

	if (!isfinite(value))
		return 0;
	values->count++;
	if (cell.type == RT_TYPE_REAL)
		values->real = true;
	else
		values->overflowed |=
			__builtin_add_overflow(values->whole_sum, cell.count, &values->whole_sum);
	add_sums(values, value);
	if (weight > 0) {
		values->weighted += value * weight;
		values->weights += weight;
	}
	values->first_unweighted |= values->count == 1 && isnan(weight);
	if (values->count == 1)
		values->first = values->least = values->most = cell;
	if (value < cell_real(values->least, NAN))
		values->least = cell;
	if (value > cell_real(values->most, NAN))
		values->most = cell;
	values->last = cell;
	return values->keep_quantiles ? quantile_add(&values->quantile, value) : 0;
}

void values_weigh_first(struct values *values, double weight)
{
	if (!values->first_unweighted || !(weight > 0))
		return;
	values->weighted += cell_real(values->first, 0) * weight;
	values->weights += weight;
	values->first_unweighted = false;
}

static struct rt_value real_cell(double value)
{
	return isfinite(value) ? (struct rt_value){.type = RT_TYPE_REAL, .real = value}
			       : (struct rt_value){.reason = ABSENT_NOT_COLLECTED};
}

static struct rt_value count_cell(int64_t count)
{
	return (struct rt_value){.type = RT_TYPE_COUNT, .count = count};
}

static struct rt_value mean_value(const struct values *values)
{
	if (!values->real && !values->overflowed && values->whole_sum % values->count == 0)
		return count_cell(values->whole_sum / values->count);
	return real_cell((values->sum + values->lost) / (double)values->count);
}

static struct rt_value sum_value(const struct values *values)
{
	if (!values->real && !values->overflowed)
		return count_cell(values->whole_sum);
	return real_cell(values->sum + values->lost);
}

static struct rt_value range_of(const struct values *values)
{
	int64_t range;

	if (!values->real && !__builtin_sub_overflow(values->most.count, values->least.count, &range))
		return count_cell(range);
	return real_cell(cell_real(values->most, 0) - cell_real(values->least, 0));
}

struct rt_value values_get(struct values *values, struct aggregate aggregate)
{
	if (aggregate.kind == AGGREGATE_LEN)
		return count_cell(values->count);
	if (!values->count)
		return (struct rt_value){.reason = ABSENT_NOT_COLLECTED};
	switch (aggregate.kind) {
	case AGGREGATE_MEAN:
		return mean_value(values);
	case AGGREGATE_MAX:
		return values->most;
	case AGGREGATE_MIN:
		return values->least;
	case AGGREGATE_SUM:
		return sum_value(values);
	case AGGREGATE_STD:
		return real_cell(sqrt(values->squares / (double)values->count));
	case AGGREGATE_FIRST:
		return values->first;
	case AGGREGATE_LAST:
		return values->last;
	case AGGREGATE_DURATION:
		return range_of(values);
	case AGGREGATE_TIME_MEAN:
		return real_cell(values->weights > 0 ? values->weighted / values->weights
						     : (values->sum + values->lost) / (double)values->count);
	case AGGREGATE_PERCENTILE:
		return real_cell(quantile_at(&values->quantile, aggregate.fraction));
	default:
		return (struct rt_value){.reason = ABSENT_NOT_COLLECTED};
	}
}

void values_done(struct values *values)
{
	quantile_done(&values->quantile);
	*values = (struct values){0};
}

double round_like_python(double value, int decimals)
{
	char text[400];
	int length = plain_print(text, sizeof(text), "%.*f", decimals, value);
	struct scan scan;
	double rounded;

	if (length < 0 || (size_t)length >= sizeof(text))
		return value;
	scan = scan_bytes(text, (size_t)length);
	return scan_real(&scan, &rounded) ? rounded : value;
}
