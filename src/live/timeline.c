/* Keeps the course of a run. See timeline.h. */
#include "live/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The newest stay as they are. The rest has at most twice as many moments as this divides the whole run into. */
enum { NEWEST_KEPT = 512, OLDER_PARTS = 512 };

static const double ROUNDING = 1e-9;

double timeline_end(const struct timeline *timeline)
{
	return timeline->count ? timeline->moments[timeline->count - 1].end_secs : 0;
}

double timeline_start(const struct timeline *timeline)
{
	return timeline->count ? timeline->moments[0].end_secs - timeline->moments[0].step_secs : 0;
}

/* Moments that touch each other may be merged. A gap stays a gap. */
static bool may_merge(const struct moment *first, const struct moment *second, double longest_secs)
{
	double gap = second->end_secs - second->step_secs - first->end_secs;

	return first->step_secs + second->step_secs <= longest_secs && gap <= second->step_secs;
}

static void merge_older(struct timeline *timeline)
{
	double longest = (timeline_end(timeline) - timeline_start(timeline)) / (double)OLDER_PARTS;
	size_t kept = 0;

	for (size_t i = 1; i < timeline->count; i++) {
		struct moment *last = &timeline->moments[kept], *next = &timeline->moments[i];

		if (i < timeline->count - NEWEST_KEPT && may_merge(last, next, longest))
			moment_merge(last, next);
		else if (++kept != i) {
			timeline->moments[kept] = *next;
			*next = (struct moment){0};
		}
	}
	timeline->count = kept + 1;
}

/* Recordings with gaps everywhere cannot be merged: the oldest moments go. */
static void make_timeline_room(struct timeline *timeline)
{
	merge_older(timeline);
	if (timeline->count < TIMELINE_MOMENTS)
		return;
	for (size_t i = 0; i < NEWEST_KEPT; i++)
		moment_done(&timeline->moments[i]);
	timeline->count -= NEWEST_KEPT;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->moments[i] = timeline->moments[i + NEWEST_KEPT];
}

int timeline_add(struct timeline *timeline, struct moment *moment)
{
	if (!timeline->moments) {
		timeline->moments = calloc(TIMELINE_MOMENTS, sizeof(*timeline->moments));
		if (!timeline->moments) {
			moment_done(moment);
			return -ENOMEM;
		}
		for (size_t i = 0; i < SERIES_COUNT; i++)
			timeline->peaks[i] = NAN;
	}
	if (timeline->count == TIMELINE_MOMENTS)
		make_timeline_room(timeline);
	for (size_t i = 0; i < SERIES_COUNT; i++)
		timeline->peaks[i] = fmax(timeline->peaks[i], moment->values[i]);
	timeline->moments[timeline->count++] = *moment;
	*moment = (struct moment){0};
	return 0;
}

void timeline_clear(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++)
		moment_done(&timeline->moments[i]);
	free(timeline->moments);
	*timeline = (struct timeline){0};
}

/* The first moment that ends at or after a time. The count if there is none. */
static size_t index_at(const struct timeline *timeline, double secs)
{
	size_t first = 0, last = timeline->count;

	while (first < last) {
		size_t middle = (first + last) / 2;

		if (timeline->moments[middle].end_secs + ROUNDING < secs)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

const struct moment *timeline_at(const struct timeline *timeline, double secs)
{
	size_t index = index_at(timeline, secs);

	if (!timeline->count)
		return NULL;
	return &timeline->moments[index < timeline->count ? index : timeline->count - 1];
}

static double column_value(const struct timeline *timeline, enum series series, size_t *first, double from,
			   double to)
{
	double sum = 0, secs = 0, most = NAN;

	while (*first < timeline->count && timeline->moments[*first].end_secs <= from)
		++*first;
	for (size_t i = *first; i < timeline->count; i++) {
		const struct moment *moment = &timeline->moments[i];
		double start = fmax(moment->end_secs - moment->step_secs, from);
		double overlap = fmin(moment->end_secs, to) - start;

		if (moment->end_secs - moment->step_secs >= to)
			break;
		if (isnan(moment->values[series]) || !(overlap > 0))
			continue;
		most = fmax(most, moment->values[series]);
		sum += moment->values[series] * overlap;
		secs += overlap;
	}
	return series_is_peak(series) ? most : secs > 0 ? sum / secs : (double)NAN;
}

void timeline_columns(const struct timeline *timeline, enum series series, double from_secs, double to_secs,
		      double *ret_columns, size_t count)
{
	double width = (to_secs - from_secs) / (double)count;
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		double from = from_secs + width * (double)i;

		ret_columns[i] = column_value(timeline, series, &first, from, from + width);
	}
}
