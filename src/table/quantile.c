/* Computes quantiles in bounded memory. See quantile.h. */
#include "table/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Classes of magnitudes from 1e-9 to 1e21, each 0.1 % wide, for either sign. */
#define SMALLEST 1e-9
#define GROWTH 1.001
enum { CLASSES = 69112, FIRST_CAPACITY = 256 };

struct quantile_classes {
	uint64_t zeros, total;
	double least, most;
	uint64_t below_zero[CLASSES], above_zero[CLASSES];
};

static size_t quantile_class(double magnitude)
{
	double number = log(magnitude / SMALLEST) / log(GROWTH);

	return number < 0 ? 0 : number >= (double)CLASSES ? CLASSES - 1 : (size_t)number;
}

static double middle_of(size_t number)
{
	return SMALLEST * pow(GROWTH, (double)number + 0.5);
}

static void count_value(struct quantile_classes *classes, double value)
{
	if (!classes->total || value < classes->least)
		classes->least = value;
	if (!classes->total || value > classes->most)
		classes->most = value;
	classes->total++;
	if (fabs(value) < SMALLEST)
		classes->zeros++;
	else
		(value < 0 ? classes->below_zero : classes->above_zero)[quantile_class(fabs(value))]++;
}

static int change_to_classes(struct quantile *quantile)
{
	struct quantile_classes *classes = calloc(1, sizeof(*classes));

	if (!classes)
		return -ENOMEM;
	for (size_t i = 0; i < quantile->count; i++)
		count_value(classes, quantile->values[i]);
	free(quantile->values);
	quantile->values = NULL;
	quantile->count = quantile->capacity = 0;
	quantile->classes = classes;
	return 0;
}

int quantile_add(struct quantile *quantile, double value)
{
	if (!quantile->classes && quantile->count == QUANTILE_EXACT) {
		int result = change_to_classes(quantile);

		if (result < 0)
			return result;
	}
	if (quantile->classes) {
		count_value(quantile->classes, value);
		return 0;
	}
	if (quantile->count == quantile->capacity) {
		size_t capacity = quantile->capacity ? quantile->capacity * 2 : FIRST_CAPACITY;
		double *values = realloc(quantile->values, capacity * sizeof(*values));

		if (!values)
			return -ENOMEM;
		quantile->values = values;
		quantile->capacity = capacity;
	}
	quantile->values[quantile->count++] = value;
	quantile->sorted = false;
	return 0;
}

static double clamp_to_range(const struct quantile_classes *classes, double value)
{
	return value < classes->least ? classes->least : value > classes->most ? classes->most : value;
}

static double from_classes(const struct quantile_classes *classes, double fraction)
{
	double before = fraction * (double)(classes->total - 1);
	double seen = 0;

	if (fraction <= 0 || fraction >= 1)
		return fraction <= 0 ? classes->least : classes->most;
	for (size_t i = CLASSES; i-- > 0;) {
		seen += (double)classes->below_zero[i];
		if (seen > before)
			return clamp_to_range(classes, -middle_of(i));
	}
	seen += (double)classes->zeros;
	if (seen > before)
		return 0;
	for (size_t i = 0; i < CLASSES; i++) {
		seen += (double)classes->above_zero[i];
		if (seen > before)
			return clamp_to_range(classes, middle_of(i));
	}
	return classes->most;
}

static int compare_quantiles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double quantile_at(struct quantile *quantile, double fraction)
{
	double position, below;
	size_t index;

	if (quantile->classes)
		return from_classes(quantile->classes, fraction);
	if (!quantile->count)
		return NAN;
	if (!quantile->sorted)
		qsort(quantile->values, quantile->count, sizeof(*quantile->values), compare_quantiles);
	quantile->sorted = true;
	position = fraction * (double)(quantile->count - 1);
	index = (size_t)position;
	below = quantile->values[index];
	if (index + 1 >= quantile->count)
		return below;
	return below + (quantile->values[index + 1] - below) * (position - (double)index);
}

void quantile_done(struct quantile *quantile)
{
	free(quantile->values);
	free(quantile->classes);
	*quantile = (struct quantile){0};
}
