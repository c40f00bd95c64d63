/* Deltas, rates and sums; see derive.h. */
#include "metric/derive.h"

#include <string.h>

#include "metric/metric_set.h"

static const double SCALES[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* Rounds down. A value too large for 64 bits has no fraction. */
static double cut_fraction(double value)
{
	double cut;

	if (!(value > -9.2e18 && value < 9.2e18))
		return value;
	cut = (double)(int64_t)value;
	return cut > value ? cut - 1 : cut;
}

double round_to(double value, int decimals)
{
	return cut_fraction(value * SCALES[decimals] + 0.5) / SCALES[decimals];
}

static double delta_real(const struct metric *metric, const struct row *now, const struct row *before)
{
	double new_total = *row_real(now, metric->from_offset), old_total, change;

	if (real_absent(new_total))
		return new_total;
	if (!before)
		return no_real(ABSENT_FIRST_SAMPLE);
	old_total = *row_real(before, metric->from_offset);
	if (real_absent(old_total))
		return no_real(ABSENT_FIRST_SAMPLE);
	/* The difference of the scaled integers is exact. */
	change = cut_fraction(new_total * SCALES[metric->decimals] + 0.5) -
		 cut_fraction(old_total * SCALES[metric->decimals] + 0.5);
	return change < 0 ? no_real(ABSENT_COUNTER_RESET) : change / SCALES[metric->decimals];
}

static int64_t delta_count(const struct metric *metric, const struct row *now, const struct row *before)
{
	int64_t new_total = *row_count(now, metric->from_offset), old_total;

	if (count_absent(new_total))
		return new_total;
	if (!before)
		return no_count(ABSENT_FIRST_SAMPLE);
	old_total = *row_count(before, metric->from_offset);
	if (count_absent(old_total))
		return no_count(ABSENT_FIRST_SAMPLE);
	return new_total < old_total ? no_count(ABSENT_COUNTER_RESET) : new_total - old_total;
}

/* Returns a counter of either type as a real. */
static double total_of(const struct row *row, const struct metric *metric, enum metric_type type)
{
	int64_t count;

	if (type == TYPE_REAL)
		return *row_real(row, metric->from_offset);
	count = *row_count(row, metric->from_offset);
	return count_absent(count) ? no_real(count_absent(count)) : (double)count;
}

struct span {
	const struct row *before; /* NULL: none */
	const struct frame *earlier;
	const struct frame *now;
};

struct spans {
	struct span deltas, rates, window;
};

/*
 * How far a total of time may seem to step back. Busy time is the clock minus idle time, and the kernel
 * counts idle time in ticks, read a moment later. Counts of bytes or events never step back.
 */
static double derived_slack(const struct metric *metric, enum metric_type type, double secs)
{
	double time_secs = 0.02 * (secs > 1 ? secs : 1);

	if (type != TYPE_REAL)
		return 0;
	return strcmp(metric->unit, "%") == 0 ? 100 * time_secs : time_secs;
}

static int64_t time_of(const struct row *row, const struct frame *frame)
{
	return row->read_ns ? row->read_ns : frame->monotonic_ns;
}

/*
 * The time between the two readings, not between the two frames. If the tracker has to wait in the middle of
 * a sample, the counters go on after the frame was opened: with 6 s of waiting, 2 busy cores would look like
 * 14 in a sample of 1 s.
 */
static double span_secs(const struct row *now, const struct span *span)
{
	return (double)(time_of(now, span->now) - time_of(span->before, span->earlier)) / 1e9;
}

static double rate_since(const struct metric *metric, const struct row *now, const struct span *since)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[now->kind];
	size_t index = metric_index_at(metric->from_offset);
	enum metric_type type = description->metrics[index].type;
	double new_total = total_of(now, metric, type), old_total, secs;

	if (real_absent(new_total))
		return new_total;
	secs = since->before ? span_secs(now, since) : 0;
	if (secs <= 0)
		return no_real(ABSENT_FIRST_SAMPLE);
	old_total = total_of(since->before, metric, type);
	if (real_absent(old_total))
		return no_real(ABSENT_FIRST_SAMPLE);
	if (old_total - new_total > derived_slack(metric, type, secs))
		return no_real(ABSENT_COUNTER_RESET);
	return new_total < old_total ? 0 : (new_total - old_total) / secs;
}

static int64_t counts_in_sum(const struct row *row)
{
	switch (row->kind) {
	case ROW_disk:
		return ((const struct disk_row *)(const void *)row)->counted;
	case ROW_network:
		return ((const struct network_row *)(const void *)row)->counted;
	default:
		return 1;
	}
}

/* Walks the rows of a kind in an earlier frame in parallel with those of this frame. */
struct companion {
	const struct frame *frame; /* NULL: no earlier frame */
	const struct row *guess;
};

static struct companion companion_of(const struct frame *earlier, enum row_kind kind)
{
	return (struct companion){earlier, earlier ? earlier->first[kind] : NULL};
}

static const struct row *companion_next(struct companion *companion, const struct row *row)
{
	const struct row *match;

	if (!companion->frame)
		return NULL;
	match = frame_match(companion->frame, row, companion->guess);
	companion->guess = match ? match->next : companion->guess;
	return match;
}

static int64_t sum_of_deltas(const struct metric *metric, const struct frame *frame,
			     const struct frame *previous)
{
	struct companion earlier = companion_of(previous, metric->from_kind);
	int64_t sum = 0;
	bool any_counted = false, any_known = false;

	if (frame->missing[metric->from_kind])
		return no_count(frame->missing[metric->from_kind]);
	if (!previous || previous->missing[metric->from_kind])
		return no_count(ABSENT_FIRST_SAMPLE);
	for (const struct row *row = frame->first[metric->from_kind]; row; row = row->next) {
		int64_t change = delta_count(metric, row, companion_next(&earlier, row));

		/* It is unknown whether this device counts, so the sum is unknown. */
		if (count_absent(counts_in_sum(row)))
			return counts_in_sum(row);
		if (counts_in_sum(row) != 1)
			continue;
		any_counted = true;
		/*
		 * The counter started again or could not be read. Leaving the device out would count it as
		 * idle.
		 */
		if (count_absent(change) && count_absent(change) != ABSENT_FIRST_SAMPLE)
			return change;
		/* A new device counts from its next sample on. */
		if (count_absent(change))
			continue;
		any_known = true;
		sum += change;
	}
	/* Without devices the sum is 0. With devices whose changes are all unknown, it is unknown. */
	return any_counted && !any_known ? no_count(ABSENT_FIRST_SAMPLE) : sum;
}

static void derive_row(struct row *row, const struct frame *frame, const struct frame *previous,
		       const struct spans *since)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		const struct metric *metric = &description->metrics[i];
		size_t offset = metric_offset(i);

		switch (metric->nature) {
		case DELTA:
			if (!metric->from_offset)
				break;
			if (metric->type == TYPE_REAL)
				*row_real(row, offset) = delta_real(metric, row, since->deltas.before);
			else
				*row_count(row, offset) = delta_count(metric, row, since->deltas.before);
			break;
		case RATE_EXACT:
			*row_real(row, offset) = rate_since(metric, row, &since->rates);
			break;
		case RATE_WINDOWED:
			*row_real(row, offset) = rate_since(metric, row, &since->window);
			break;
		case SUM_OF_DELTAS:
			*row_count(row, offset) = sum_of_deltas(metric, frame, previous);
			break;
		case COUNTER:
		case GAUGE:
		case IDENTITY:
		case RAW:
			break;
		}
	}
}

static bool has_derived_metrics(enum row_kind kind)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	bool any = false;

	for (size_t i = 0; i < description->metric_count && !any; i++)
		any = description->metrics[i].nature >= DELTA && description->metrics[i].from_offset;
	return any;
}

void derive(struct frame *frame, const struct earlier_frames *earlier)
{
	struct spans since = {
		.deltas = {.earlier = earlier->deltas, .now = frame},
		.rates = {.earlier = earlier->rates, .now = frame},
		.window = {.earlier = earlier->window, .now = frame},
	};

	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		struct companion deltas = companion_of(earlier->deltas, kind),
				 rates = companion_of(earlier->rates, kind),
				 window = companion_of(earlier->window, kind);

		if (!frame->first[kind] || !has_derived_metrics(kind))
			continue;
		for (struct row *row = frame->first[kind]; row; row = row->next) {
			since.deltas.before = companion_next(&deltas, row);
			since.rates.before = earlier->rates == earlier->deltas ? since.deltas.before
									       : companion_next(&rates, row);
			since.window.before = companion_next(&window, row);
			derive_row(row, frame, earlier->deltas, &since);
		}
	}
}
