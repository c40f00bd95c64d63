/* Computes the statistics of repeated runs. See repeat_statistics.h. */
#include "repeat/repeat_statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { FRACTION_STEPS = 500, HALVINGS = 100 };

static const double NORMAL_DEVIATION = 1.4826, INTERVAL = 0.95, MOST_T = 1e4, CLOSE_ENOUGH = 1e-14,
		    ALMOST_ZERO = 1e-300;

static int order_doubles(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

double median_of_values(const double *values, size_t count)
{
	CLEANUP_FREE double *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted || !count)
		return NAN;
	for (size_t i = 0; i < count; i++)
		sorted[i] = values[i];
	qsort(sorted, count, sizeof(*sorted), order_doubles);
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

int outlier_scores(const double *values, size_t count, double *ret_scores)
{
	double middle = median_of_values(values, count), usual;

	for (size_t i = 0; i < count; i++)
		ret_scores[i] = fabs(values[i] - middle);
	usual = NORMAL_DEVIATION * median_of_values(ret_scores, count);
	if (count && isnan(usual))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ret_scores[i] = usual > 0 ? ret_scores[i] / usual : 0;
	return 0;
}

static double away_from_zero(double value)
{
	return fabs(value) < ALMOST_ZERO ? ALMOST_ZERO : value;
}

/* The continued fraction of the incomplete beta function (Lentz), which converges fast below x = (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;

	for (int i = 1; i <= FRACTION_STEPS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)), step;

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		result *= d * c;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		step = d * c;
		result *= step;
		if (fabs(step - 1) < CLOSE_ENOUGH)
			break;
	}
	return result;
}

/* The regularised incomplete beta function. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_confidence(double t, double freedom)
{
	return isinf(t) ? 1 : 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The t between whose negative and itself so much of the probability lies. */
static double student_quantile(double confidence, double freedom)
{
	double low = 0, high = MOST_T;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (student_confidence(middle, freedom) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double square_of(double value)
{
	return value * value;
}

bool find_speed_ratio(const struct side_figure sides[static 2], struct speed_ratio *ret_ratio)
{
	size_t faster = sides[1].mean < sides[0].mean;
	const struct side_figure *fast = &sides[faster], *slow = &sides[!faster];
	double factor = slow->mean / fast->mean, fast_error, slow_error, error, freedom, margin;

	if (!(fast->mean > 0) || !(slow->mean > 0))
		return false;
	*ret_ratio = (struct speed_ratio){faster, factor, NAN, NAN, NAN, NAN};
	if (fast->runs < 2 || slow->runs < 2)
		return true;
	fast_error = square_of(fast->deviation) / (double)fast->runs;
	slow_error = square_of(slow->deviation) / (double)slow->runs;
	error = fast_error + slow_error;
	freedom = square_of(error) / (square_of(fast_error) / (double)(fast->runs - 1) +
				      square_of(slow_error) / (double)(slow->runs - 1));
	ret_ratio->deviation = factor * hypot(fast->deviation / fast->mean, slow->deviation / slow->mean);
	if (!(error > 0)) {
		ret_ratio->least = ret_ratio->most = factor;
		ret_ratio->confidence = factor > 1;
		return true;
	}
	margin = student_quantile(INTERVAL, freedom) * factor *
		 sqrt(fast_error / square_of(fast->mean) + slow_error / square_of(slow->mean));
	ret_ratio->least = factor - margin;
	ret_ratio->most = factor + margin;
	ret_ratio->confidence = student_confidence((slow->mean - fast->mean) / sqrt(error), freedom);
	return true;
}
