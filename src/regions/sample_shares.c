/* Adds up the shares of samples in stretches of time. See sample_shares.h. */
#include "regions/sample_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one stretch ------------------------------------------------------------------------------------ */

static void share_sums_clear(struct share_sums *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sums[i] = (struct share_sums){.least = NAN, .most = NAN};
}

static void add_interval(struct share_sums *sums, double value, double weight)
{
	if (isnan(value) || !(weight > 0))
		return;
	sums->least = fmin(sums->least, value);
	sums->most = fmax(sums->most, value);
	/* West's running squares around the mean. */
	if (sums->weights > 0)
		sums->squares += weight * sums->weights / (sums->weights + weight) *
				 (value - sums->sum / sums->weights) * (value - sums->sum / sums->weights);
	sums->sum += weight * value;
	sums->weights += weight;
}

/* Adds the part of a sample that lies between `start` and `stop`. Returns whether its time stamp does. */
static bool share_sums_add(struct share_sums *sums, const enum measure_holds *holds, size_t count,
			   const struct sample_values *sample, double start, double stop)
{
	bool has_end = sample->ended >= start && sample->ended <= stop;
	double length = sample->ended - sample->began;
	double secs = fmax(fmin(sample->ended, stop) - fmax(sample->began, start), 0);
	double part = length > 0 ? secs / length : (double)has_end;

	for (size_t i = 0; i < count; i++) {
		if (holds[i] != HOLDS_MOMENT)
			/* A level counts by its seconds, and its sum is in unit-seconds. An amount counts by its part. */
			add_interval(&sums[i], cell_real(sample->cells[i], NAN),
				     holds[i] == HOLDS_LEVEL ? secs : part);
		else if (has_end)
			(void)values_add(&sums[i].moments, sample->cells[i], NAN);
	}
	return has_end;
}

void share_sums_get(struct share_sums *sums, enum measure_holds holds, double *ret_statistics)
{
	static const enum aggregate_kind KINDS[] = {AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_MEAN,
						    AGGREGATE_STD};
	double weights = sums->weights;

	ret_statistics[REGION_TOTAL] = NAN;
	if (holds == HOLDS_MOMENT) {
		for (size_t i = 0; i < REGION_TOTAL; i++)
			ret_statistics[i] = cell_real(
				values_get(&sums->moments, (struct aggregate){.kind = KINDS[i]}), NAN);
		return;
	}
	ret_statistics[REGION_MIN] = sums->least;
	ret_statistics[REGION_MAX] = sums->most;
	/* 0 / 0 is NaN. */
	ret_statistics[REGION_MEAN] = sums->sum / weights;
	ret_statistics[REGION_STD] = sqrt(sums->squares / weights);
	ret_statistics[REGION_TOTAL] = weights > 0 ? sums->sum : (double)NAN;
}

/* ---- one phase -------------------------------------------------------------------------------------- */

static void clear_tally(struct phase_tally *tally, size_t measure_count)
{
	for (; tally->open_count; tally->open_count--)
		free(tally->open[tally->open_count - 1].sums);
	tally->next_call = tally->first_span = 0;
	tally->timepoints = tally->non_empty_calls = 0;
	share_sums_clear(tally->sums, measure_count);
	for (size_t i = 0; i < measure_count; i++)
		tally->each[i][0] = tally->each[i][1] = NAN;
}

static int begin_tally(struct phase_tally *tally, const struct phase *phase, size_t measure_count)
{
	tally->phase = phase;
	tally->span = calloc(phase->call_count + 1, sizeof(*tally->span));
	tally->sums = calloc(measure_count + 1, sizeof(*tally->sums));
	tally->each = calloc(measure_count + 1, sizeof(*tally->each));
	if (!tally->span || !tally->sums || !tally->each)
		return -ENOMEM;
	/* Calls are sorted by start. */
	for (size_t i = 0; i < phase->call_count; i++) {
		struct phase_call *last = tally->span_count ? &tally->span[tally->span_count - 1] : NULL;

		if (last && phase->calls[i].start <= last->stop)
			last->stop = fmax(last->stop, phase->calls[i].stop);
		else
			tally->span[tally->span_count++] = phase->calls[i];
	}
	return 0;
}

static int open_call(struct phase_tally *tally, const struct phase_call *call, size_t measure_count)
{
	struct open_call opened = {.start = call->start, .stop = call->stop};

	if (tally->open_count == tally->open_room) {
		size_t room = tally->open_room ? 2 * tally->open_room : 4;
		struct open_call *grown = reallocarray(tally->open, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		tally->open = grown;
		tally->open_room = room;
	}
	opened.sums = calloc(measure_count + 1, sizeof(*opened.sums));
	if (!opened.sums)
		return -ENOMEM;
	share_sums_clear(opened.sums, measure_count);
	tally->open[tally->open_count++] = opened;
	return 0;
}

/* Widens the span of the calls by one of them. The last open call takes its place. */
static void end_call(const struct tallies *tallies, struct phase_tally *tally, size_t number)
{
	struct open_call *call = &tally->open[number];

	tally->non_empty_calls += call->holds_sample;
	for (size_t i = 0; i < tallies->measure_count; i++) {
		double statistics[REGION_STATISTICS], value;

		share_sums_get(&call->sums[i], tallies->holds[i], statistics);
		value = statistics[tallies->holds[i] == HOLDS_MOMENT ? REGION_MAX : REGION_TOTAL];
		tally->each[i][0] = fmin(tally->each[i][0], value);
		tally->each[i][1] = fmax(tally->each[i][1], value);
	}
	free(call->sums);
	*call = tally->open[--tally->open_count];
}

static int add_to_phase(const struct tallies *tallies, struct phase_tally *tally,
			const struct sample_values *sample)
{
	const struct phase *phase = tally->phase;
	size_t measures = tallies->measure_count;

	while (tally->first_span < tally->span_count && tally->span[tally->first_span].stop < sample->began)
		tally->first_span++;
	for (size_t i = tally->first_span; i < tally->span_count && tally->span[i].start <= sample->ended;
	     i++)
		tally->timepoints += share_sums_add(tally->sums, tallies->holds, measures, sample,
						    tally->span[i].start, tally->span[i].stop);
	for (size_t i = tally->open_count; i-- > 0;)
		if (tally->open[i].stop < sample->began)
			end_call(tallies, tally, i);
	for (; tally->next_call < phase->call_count && phase->calls[tally->next_call].start <= sample->ended;
	     tally->next_call++)
		if (open_call(tally, &phase->calls[tally->next_call], measures) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < tally->open_count; i++)
		tally->open[i].holds_sample |=
			share_sums_add(tally->open[i].sums, tallies->holds, measures, sample,
				       tally->open[i].start, tally->open[i].stop);
	return 0;
}

/* ---- all phases ------------------------------------------------------------------------------------- */

int tallies_begin(struct tallies *tallies, const struct phases *phases, const enum measure_holds *holds,
		  size_t measure_count)
{
	int result = 0;

	tallies->holds = holds;
	tallies->measure_count = measure_count;
	tallies->whole = calloc(measure_count + 1, sizeof(*tallies->whole));
	tallies->list = calloc(phases->count + 1, sizeof(*tallies->list));
	if (!tallies->whole || !tallies->list)
		return -ENOMEM;
	for (; result == 0 && tallies->count < phases->count; tallies->count++)
		result = begin_tally(&tallies->list[tallies->count], &phases->list[tallies->count],
				     measure_count);
	if (result == 0)
		tallies_clear(tallies);
	return result;
}

void tallies_clear(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		clear_tally(&tallies->list[i], tallies->measure_count);
	share_sums_clear(tallies->whole, tallies->measure_count);
	tallies->samples = 0;
	tallies->last_end = NAN;
}

int tallies_add(struct tallies *tallies, struct sample_values sample)
{
	if (!(sample.began <= sample.ended))
		sample.began = isnan(tallies->last_end) ? sample.ended : tallies->last_end;
	tallies->last_end = sample.ended;
	tallies->samples++;
	(void)share_sums_add(tallies->whole, tallies->holds, tallies->measure_count, &sample, -INFINITY,
			     INFINITY);
	for (size_t i = 0; i < tallies->count; i++)
		if (add_to_phase(tallies, &tallies->list[i], &sample) < 0)
			return -ENOMEM;
	return 0;
}

void tallies_finish(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		while (tallies->list[i].open_count)
			end_call(tallies, &tallies->list[i], 0);
}

void tallies_done(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++) {
		struct phase_tally *tally = &tallies->list[i];

		if (tally->sums && tally->each)
			clear_tally(tally, tallies->measure_count);
		free(tally->span);
		free(tally->open);
		free(tally->sums);
		free(tally->each);
	}
	free(tallies->list);
	free(tallies->whole);
}
