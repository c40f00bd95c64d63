/* Keeps the course of a value in constant memory. See time_bins.h. */
#include <math.h>

#include "summary/time_bins.h"

enum { FIRST_BINS = 8 };

static void join_by_twos(struct time_bins *time_bins)
{
	for (size_t i = 0; i < TIME_BINS / 2; i++) {
		size_t left = 2 * i, right = left + 1;

		time_bins->bins[i].most = fmax(time_bins->bins[left].most, time_bins->bins[right].most);
		time_bins->bins[i].weighted =
			time_bins->bins[left].weighted + time_bins->bins[right].weighted;
		time_bins->bins[i].weights = time_bins->bins[left].weights + time_bins->bins[right].weights;
	}
	for (size_t i = TIME_BINS / 2; i < TIME_BINS; i++) {
		time_bins->bins[i].weighted = time_bins->bins[i].weights = 0;
		time_bins->bins[i].most = NAN;
	}
	time_bins->bin_secs *= 2;
	time_bins->count = (time_bins->count + 1) / 2;
}

static void begin_bins(struct time_bins *time_bins, double length_secs)
{
	time_bins->bin_secs = length_secs / (double)FIRST_BINS;
	for (size_t i = 0; i < TIME_BINS; i++)
		time_bins->bins[i].most = NAN;
}

void time_bins_add(struct time_bins *time_bins, double end_secs, double length_secs, double value)
{
	double start;

	if (isnan(value) || !(length_secs > 0) || !(end_secs >= 0) || end_secs > 1e15)
		return;
	if (time_bins->bin_secs == 0)
		begin_bins(time_bins, length_secs);
	while (end_secs > time_bins->bin_secs * (double)TIME_BINS)
		join_by_twos(time_bins);
	start = end_secs > length_secs ? end_secs - length_secs : 0;
	for (size_t i = (size_t)(start / time_bins->bin_secs); i < TIME_BINS; i++) {
		double from = fmax(start, (double)i * time_bins->bin_secs);
		double to = fmin(end_secs, (double)(i + 1) * time_bins->bin_secs);

		if (to <= from)
			break;
		time_bins->bins[i].weighted += value * (to - from);
		time_bins->bins[i].weights += to - from;
		time_bins->bins[i].most = fmax(time_bins->bins[i].most, value);
		if (i + 1 > time_bins->count)
			time_bins->count = i + 1;
	}
}

void time_bins_columns(const struct time_bins *time_bins, double total_secs, bool maximum, double *ret_values,
		       size_t columns)
{
	double width = total_secs / (double)columns;

	for (size_t column = 0; column < columns; column++) {
		double start = (double)column * width, end = start + width;
		double weighted = 0, weights = 0, most = NAN;

		/* Before the first value there are no bins, and no width to divide by. */
		for (size_t i = time_bins->count ? (size_t)(start / time_bins->bin_secs) : 0;
		     i < time_bins->count; i++) {
			double from = fmax(start, (double)i * time_bins->bin_secs);
			double to = fmin(end, (double)(i + 1) * time_bins->bin_secs), share;

			if (to <= from)
				break;
			share = (to - from) / time_bins->bin_secs;
			weighted += time_bins->bins[i].weighted * share;
			weights += time_bins->bins[i].weights * share;
			most = fmax(most, time_bins->bins[i].most);
		}
		ret_values[column] = maximum ? most : weights > 0 ? weighted / weights : NAN;
	}
}
