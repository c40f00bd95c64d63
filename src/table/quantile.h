/*
 * Quantiles of any number of values in bounded memory.
 *
 * Up to QUANTILE_EXACT values they are exact (linear interpolation between neighbours, as in numpy and R).
 * Beyond that, each value counts in a logarithmic class, and a quantile is off by at most 0.05 % of itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUANTILE_EXACT = 1 << 16 };

struct quantile_classes;

struct quantile {
	double *values;
	size_t count, capacity;
	bool sorted;
	struct quantile_classes *classes; /* NULL while exact */
};

/* Adds a finite number. Returns 0 or -ENOMEM. */
int quantile_add(struct quantile *quantile, double value);
/* `fraction` is 0 to 1. Returns NaN without values. */
double quantile_at(struct quantile *quantile, double fraction);
void quantile_done(struct quantile *quantile);
