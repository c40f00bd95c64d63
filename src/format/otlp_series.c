/* Makes points of samples; see otlp_series.h. */
#include "format/otlp_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scan.h"

const struct otlp_series OTLP_SERIES[OTLP_SERIES_COUNT] = {
#define SERIES(group, name, unit, form, key, value, kind, field, way, factor) \
	{OTLP_##group, name,  unit, OTLP_##form, key, value, ROW_##kind, offsetof(struct kind##_row, field), \
	 OTLP_##way,   factor},
#include "format/otlp_series.def"
};

_Static_assert(OTLP_SERIES_COUNT <= 64, "a series is a bit of a 64-bit word");

void otlp_want(struct metric_set *wanted)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		metric_set_add(wanted, OTLP_SERIES[i].kind, metric_index_at(OTLP_SERIES[i].offset));
	WANT(wanted, sample, timestamp);
	WANT(wanted, sample, elapsed_secs);
	WANT(wanted, sample, rank);
	WANT(wanted, sample, tracked_pid);
	WANT(wanted, gpu, uuid);
	metric_set_add_kind(wanted, ROW_run_start);
	metric_set_add_kind(wanted, ROW_run_start_scheduler);
	metric_set_add_kind(wanted, ROW_run_start_tag);
	metric_set_add_kind(wanted, ROW_cloud);
	metric_set_add_kind(wanted, ROW_run_end);
}

/* ---- times ------------------------------------------------------------------------------------------------ */

/* Whole microseconds, as recordings have them: a double cannot hold the nanoseconds of a date. */
static int64_t ns_of_secs(double secs)
{
	return secs >= 0 && secs < 9e9 ? (int64_t)llround(secs * 1e6) * 1000 : 0;
}

static int64_t elapsed_ns(const struct frame *sample)
{
	double secs = sample->sample->elapsed_secs;

	return real_absent(secs) ? -1 : ns_of_secs(secs);
}

/* Grows by a millisecond at least, the unit of most receivers, whatever the wall clock does. */
static int64_t time_of(const struct otlp_run *run, const struct frame *sample)
{
	double secs = sample->sample->timestamp;
	int64_t time_ns = real_absent(secs) ? 0 : ns_of_secs(secs);

	return time_ns > run->last_ns + NSEC_PER_MSEC ? time_ns : run->last_ns + NSEC_PER_MSEC;
}

void otlp_run_begin(struct otlp_run *ret_run, const struct frame *first, int64_t step_ns, bool machine)
{
	const struct run_start_row *start = (const void *)first->first[ROW_run_start];
	double secs = first->sample->timestamp;
	int64_t elapsed = elapsed_ns(first), time_ns = real_absent(secs) ? 0 : ns_of_secs(secs);
	struct otlp_run run = {.step_ns = step_ns, .due_ns = step_ns, .machine = machine};

	/* A run without a job has nothing else to tell. */
	if (start && !text_absent(start->mode) && strcmp(start->mode, "host") == 0)
		run.machine = true;
	run.start_ns = elapsed > 0 && elapsed < time_ns ? time_ns - elapsed : time_ns - NSEC_PER_MSEC;
	if (run.start_ns <= 0)
		run.start_ns = 1;
	run.last_ns = run.start_ns;
	*ret_run = run;
}

/* ---- values ----------------------------------------------------------------------------------------------- */

/* Returns false if the metric is absent in this sample. */
static bool read_value(const struct otlp_series *series, const struct frame *sample, double *ret_value)
{
	const struct row *row = sample->first[series->kind];
	const struct metric *metric =
		&ROW_DESCRIPTIONS[series->kind].metrics[metric_index_at(series->offset)];

	if (!row || field_absent(row, metric->type, series->offset))
		return false;
	if (metric->type == TYPE_TEXT)
		*ret_value = 1;
	else if (metric->type == TYPE_REAL)
		*ret_value = *row_real(row, series->offset) * series->factor;
	else
		*ret_value = (double)*row_count(row, series->offset) * series->factor;
	return isfinite(*ret_value);
}

static bool is_wanted(const struct otlp_run *run, const struct otlp_series *series,
		      const struct frame *sample)
{
	switch (series->group) {
	case OTLP_MACHINE:
		return run->machine;
	case OTLP_GPU:
		return sample->first[ROW_gpu] != NULL;
	case OTLP_JOB:
	case OTLP_END:
		break;
	}
	return true;
}

static void take_values(struct otlp_run *run, const struct frame *sample)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++) {
		const struct otlp_series *series = &OTLP_SERIES[i];
		uint64_t bit = UINT64_C(1) << i;
		bool known = run->known & bit;
		double value;

		if (!is_wanted(run, series, sample) || !read_value(series, sample, &value)) {
			if (series->way == OTLP_TAKEN)
				run->known &= ~bit;
			continue;
		}
		/* A counter that seems to go back is damage. */
		if (series->way == OTLP_ADDED && (value < 0 || !isfinite(run->values[i] + value)))
			continue;
		run->known |= bit;
		if (series->way == OTLP_ADDED)
			run->values[i] += value;
		else if (series->way != OTLP_MOST || !known || value > run->values[i])
			run->values[i] = value;
	}
}

static size_t series_of(enum row_kind kind, size_t offset, enum otlp_way way)
{
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		if (OTLP_SERIES[i].kind == kind && OTLP_SERIES[i].offset == offset &&
		    OTLP_SERIES[i].way == way)
			return i;
	return 0;
}

/* Rounded changes add up to a little less than the total, which the end knows. */
static void complete_total(struct otlp_run *run, size_t series, double total)
{
	if (!real_absent(total) && (run->known >> series & 1) && total > run->values[series])
		run->values[series] = total;
}

static void take_end(struct otlp_run *run, const struct run_end_row *end)
{
	size_t peak = series_of(ROW_tree, offsetof(struct tree_row, process_memory_mib), OTLP_MOST);

	snprintf(run->reason, sizeof run->reason, "%s", text_absent(end->reason) ? "unknown" : end->reason);
	complete_total(run, series_of(ROW_tree, offsetof(struct tree_row, process_utime_secs), OTLP_ADDED),
		       end->tree_utime_secs);
	complete_total(run, series_of(ROW_tree, offsetof(struct tree_row, process_stime_secs), OTLP_ADDED),
		       end->tree_stime_secs);
	/* The end knows better: a first reading may have been too large. */
	if (!real_absent(end->memory_peak_mib)) {
		run->values[peak] = end->memory_peak_mib * OTLP_SERIES[peak].factor;
		run->known |= UINT64_C(1) << peak;
	}
}

/* ---- points ----------------------------------------------------------------------------------------------- */

static void add_point(struct otlp_run *run, struct otlp_batch *batch)
{
	struct otlp_point *point = &batch->points[batch->count++];
	uint64_t fresh = run->known & ~run->sent;

	point->time_ns = run->last_ns;
	point->present = run->known;
	memcpy(point->values, run->values, sizeof point->values);
	batch->start_ns = run->start_ns;
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++)
		if ((fresh >> i & 1) && OTLP_SERIES[i].form == OTLP_SUM)
			batch->zero |= UINT64_C(1) << i;
	run->sent |= run->known;
	run->pending = false;
}

/* Steps are counted from the start, so a late sample does not move the next one. */
static bool is_due(struct otlp_run *run, int64_t elapsed)
{
	if (run->step_ns <= 0 || elapsed < 0)
		return true;
	if (elapsed < run->due_ns)
		return false;
	run->due_ns = (elapsed / run->step_ns + 1) * run->step_ns;
	return true;
}

bool otlp_run_feed(struct otlp_run *run, const struct frame *sample, struct otlp_batch *batch)
{
	const struct run_end_row *end = (const void *)sample->first[ROW_run_end];

	run->last_ns = time_of(run, sample);
	run->pending = true;
	take_values(run, sample);
	if (end)
		take_end(run, end);
	else if (is_due(run, elapsed_ns(sample)))
		add_point(run, batch);
	return batch->count >= OTLP_MOST_STEPS;
}

void otlp_run_end(struct otlp_run *run, struct otlp_batch *batch)
{
	if (run->pending)
		add_point(run, batch);
	batch->start_ns = run->start_ns;
	batch->stale = run->sent;
	batch->stale_ns = run->last_ns + NSEC_PER_MSEC;
	memcpy(batch->reason, run->reason, sizeof batch->reason);
}

/* ---- as text ---------------------------------------------------------------------------------------------- */

void otlp_run_format(const struct otlp_run *run, struct buffer *out)
{
	buffer_printf(out, "%d %lld %d %lld %lld %lld %d %llx %llx", OTLP_SERIES_COUNT,
		      (long long)run->step_ns, run->machine, (long long)run->start_ns,
		      (long long)run->last_ns, (long long)run->due_ns, run->pending,
		      (unsigned long long)run->known, (unsigned long long)run->sent);
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++) {
		unsigned long long bits;

		memcpy(&bits, &run->values[i], sizeof bits);
		buffer_printf(out, " %llx", bits);
	}
}

int otlp_run_parse(const char *text, size_t length, struct otlp_run *ret_run)
{
	struct scan scan = scan_bytes(text, length);
	struct otlp_run run = {0};
	uint64_t count, machine, pending, bits;

	if (!scan_u64(&scan, &count) || count != OTLP_SERIES_COUNT || !scan_i64(&scan, &run.step_ns) ||
	    !scan_u64(&scan, &machine) || !scan_i64(&scan, &run.start_ns) || !scan_i64(&scan, &run.last_ns) ||
	    !scan_i64(&scan, &run.due_ns) || !scan_u64(&scan, &pending) || !scan_hex(&scan, &run.known) ||
	    !scan_hex(&scan, &run.sent))
		return -EBADMSG;
	for (size_t i = 0; i < OTLP_SERIES_COUNT; i++) {
		if (!scan_hex(&scan, &bits))
			return -EBADMSG;
		memcpy(&run.values[i], &bits, sizeof bits);
		if (!isfinite(run.values[i]))
			return -EBADMSG;
	}
	if (scan_left(&scan) || machine > 1 || pending > 1 || run.start_ns <= 0 ||
	    run.last_ns < run.start_ns || run.last_ns > INT64_MAX / 2 || run.step_ns < 0 ||
	    ((run.known | run.sent) >> OTLP_SERIES_COUNT) != 0)
		return -EBADMSG;
	run.machine = machine;
	run.pending = pending;
	*ret_run = run;
	return 0;
}
