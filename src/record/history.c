/* The course of a value in constant memory; see history.h. */
#include <math.h>

#include "record/history.h"

enum { FIRST_BINS = 8 };

static void join_by_twos(struct history *history)
{
	for (size_t i = 0; i < HISTORY_BINS / 2; i++) {
		size_t left = 2 * i, right = left + 1;

		history->bins[i].most = fmax(history->bins[left].most, history->bins[right].most);
		history->bins[i].weighted = history->bins[left].weighted + history->bins[right].weighted;
		history->bins[i].weights = history->bins[left].weights + history->bins[right].weights;
	}
	for (size_t i = HISTORY_BINS / 2; i < HISTORY_BINS; i++) {
		history->bins[i].weighted = history->bins[i].weights = 0;
		history->bins[i].most = NAN;
	}
	history->bin_secs *= 2;
	history->count = (history->count + 1) / 2;
}

static void begin(struct history *history, double length_secs)
{
	history->bin_secs = length_secs / FIRST_BINS;
	for (size_t i = 0; i < HISTORY_BINS; i++)
		history->bins[i].most = NAN;
}

void history_add(struct history *history, double end_secs, double length_secs, double value)
{
	double start;

	if (isnan(value) || !(length_secs > 0) || !(end_secs >= 0) || end_secs > 1e15)
		return;
	if (history->bin_secs == 0)
		begin(history, length_secs);
	while (end_secs > history->bin_secs * HISTORY_BINS)
		join_by_twos(history);
	start = end_secs > length_secs ? end_secs - length_secs : 0;
	for (size_t i = (size_t)(start / history->bin_secs); i < HISTORY_BINS; i++) {
		double from = fmax(start, (double)i * history->bin_secs);
		double to = fmin(end_secs, (double)(i + 1) * history->bin_secs);

		if (to <= from)
			break;
		history->bins[i].weighted += value * (to - from);
		history->bins[i].weights += to - from;
		history->bins[i].most = fmax(history->bins[i].most, value);
		if (i + 1 > history->count)
			history->count = i + 1;
	}
}

void history_columns(const struct history *history, double total_secs, bool maximum, double *ret_values,
		     size_t columns)
{
	double width = total_secs / (double)columns;

	for (size_t column = 0; column < columns; column++) {
		double start = (double)column * width, end = start + width;
		double weighted = 0, weights = 0, most = NAN;

		/* Without any value there are no bins, and no width to divide by. */
		for (size_t i = history->count ? (size_t)(start / history->bin_secs) : 0; i < history->count;
		     i++) {
			double from = fmax(start, (double)i * history->bin_secs);
			double to = fmin(end, (double)(i + 1) * history->bin_secs), share;

			if (to <= from)
				break;
			share = (to - from) / history->bin_secs;
			weighted += history->bins[i].weighted * share;
			weights += history->bins[i].weights * share;
			most = fmax(most, history->bins[i].most);
		}
		ret_values[column] = maximum ? most : weights > 0 ? weighted / weights : NAN;
	}
}
