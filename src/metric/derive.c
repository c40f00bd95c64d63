/* Deltas, rates and sums; see derive.h. */
#include "metric/derive.h"

#include <string.h>

#include "metric/metric_set.h"
#include "metric/typed_rows.h"

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

struct span {
	const struct row *before; /* NULL: none */
	const struct frame *earlier;
	const struct frame *now;
};

struct spans {
	struct span deltas, rates, window;
};

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

/* ---- what a machine can do ---------------------------------------------------------------------------------- */

/* More than any device, bus or processor does in a second. */
#define CHARS_MOST 1e13
#define BYTES_MOST 1e12
#define JOULES_MOST 1e4
#define EVENTS_MOST 1e10
#define ANY 1e300
#define THREADS_MOST 4194304.0 /* PID_MAX_LIMIT of the kernel */

static bool is_seconds(const struct metric *metric)
{
	return strcmp(metric->unit, "s") == 0;
}

static double most_per_sec(const struct metric *metric, const struct row *row, const struct frame *frame)
{
	int cpus = row->cpus ? row->cpus : frame->cpus;

	switch (metric->unit[0]) {
	case '%':
		return 100;
	case 'c':
	case 's':
		/* Any number of threads may wait at once. */
		return strstr(metric->name, "cpu_wait_secs") || !cpus ? THREADS_MOST : cpus;
	case 'b':
		return row->most_bytes > 0             ? row->most_bytes
		       : strstr(metric->name, "chars") ? CHARS_MOST
						       : BYTES_MOST;
	case 'J':
	case 'W':
		return JOULES_MOST;
	default:
		return EVENTS_MOST;
	}
}

/* The kernel counts some time by ticks, and reads it a moment earlier or later than the clock. */
#define TICKS_SECS 0.02
/* Some network cards and energy counters tell what they have counted once a second. */
#define DEVICE_LAG_SECS 2

static double most_growth(const struct metric *metric, const struct row *now, const struct span *since)
{
	double lag_secs = TICKS_SECS;

	/* The time of a child that was never seen becomes known when its parent has waited for it. */
	if (metric->nature < RATE_WINDOWED && is_seconds(metric) && now->kind == ROW_tree)
		lag_secs = since->now->sample->elapsed_secs;
	else if (metric->nature == SUM_OF_DELTAS || (metric->nature == DELTA && !is_seconds(metric)))
		lag_secs = DEVICE_LAG_SECS;
	return most_per_sec(metric, now, since->now) * (1.25 * span_secs(now, since) + lag_secs);
}

/* A core whose idle time stands still may be busy, but then another of its times moves. */
#define STILL_SECS 0.05
#define UNCOUNTED_SECS 0.25

/* Returns why the times that the kernel has counted for a row's CPUs mean nothing, or 0. */
static int clock_doubt(const struct row *now, const struct span *window)
{
	double secs, counted;

	if (now->counted_secs <= 0 || !window->before || window->before->cpus != now->cpus)
		return 0;
	secs = span_secs(now, window);
	counted = (now->counted_secs - window->before->counted_secs) / (now->cpus ? now->cpus : 1);
	/* One of the times began again: each tells so itself. */
	if (secs < STILL_SECS || counted < 0)
		return 0;
	return counted < secs / 2 && (counted < 1e-6 || secs - counted > UNCOUNTED_SECS) ? ABSENT_NOT_COUNTED
											 : 0;
}

/* Why a counter cannot have grown by `change`; 0: it can. `slack`: by how much it may seem to step back. */
static int change_doubt(const struct metric *metric, const struct row *now, const struct spans *since,
			const struct span *span, double change, double slack)
{
	if (change < -slack)
		return ABSENT_COUNTER_RESET;
	if (change > 0 && change > most_growth(metric, now, span))
		return now->counted_secs < span->before->counted_secs ? ABSENT_COUNTER_RESET
								      : ABSENT_IMPOSSIBLE;
	return metric->unit[0] == 's' || metric->unit[0] == '%' ? clock_doubt(now, &since->window) : 0;
}

/* ---- changes and rates ---------------------------------------------------------------------------------------- */

static double delta_real(const struct metric *metric, const struct row *now, const struct spans *since)
{
	double new_total = *row_real(now, metric->from_offset), old_total, change;
	const struct row *before = since->deltas.before;
	int doubt;

	if (real_absent(new_total))
		return new_total;
	if (!before)
		return no_real(ABSENT_FIRST_SAMPLE);
	old_total = *row_real(before, metric->from_offset);
	if (real_absent(old_total))
		return no_real(ABSENT_FIRST_SAMPLE);
	/* The difference of the scaled integers is exact. */
	change = (cut_fraction(new_total * SCALES[metric->decimals] + 0.5) -
		  cut_fraction(old_total * SCALES[metric->decimals] + 0.5)) /
		 SCALES[metric->decimals];
	doubt = change_doubt(metric, now, since, &since->deltas, change, 0);
	return doubt ? no_real(doubt) : change;
}

static int64_t delta_count(const struct metric *metric, const struct row *now, const struct spans *since)
{
	int64_t new_total = *row_count(now, metric->from_offset), old_total;
	const struct row *before = since->deltas.before;
	int doubt;

	if (count_absent(new_total))
		return new_total;
	if (!before)
		return no_count(ABSENT_FIRST_SAMPLE);
	old_total = *row_count(before, metric->from_offset);
	if (count_absent(old_total))
		return no_count(ABSENT_FIRST_SAMPLE);
	doubt = change_doubt(metric, now, since, &since->deltas, (double)new_total - (double)old_total, 0);
	return doubt ? no_count(doubt) : new_total - old_total;
}

/* Returns a counter of either type as a real. */
static double counter_of(const struct row *row, const struct metric *metric, enum metric_type type)
{
	int64_t count;

	if (type == TYPE_REAL)
		return *row_real(row, metric->from_offset);
	count = *row_count(row, metric->from_offset);
	return count_absent(count) ? no_real(count_absent(count)) : (double)count;
}

/*
 * How far a total of time may seem to step back. Busy time is the clock minus idle time, and the kernel
 * counts idle time in ticks, read a moment later. Counts of bytes or events never step back.
 */
static double derived_slack(const struct metric *metric, enum metric_type type, double secs)
{
	double time_secs = TICKS_SECS * (secs > 1 ? secs : 1);

	if (type != TYPE_REAL)
		return 0;
	return strcmp(metric->unit, "%") == 0 ? 100 * time_secs : time_secs;
}

static double rate_since(const struct metric *metric, const struct row *now, const struct spans *all,
			 const struct span *since)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[now->kind];
	size_t index = metric_index_at(metric->from_offset);
	enum metric_type type = description->metrics[index].type;
	double new_total = counter_of(now, metric, type), old_total, secs, rate;
	int doubt;

	if (real_absent(new_total))
		return new_total;
	secs = since->before ? span_secs(now, since) : 0;
	if (secs <= 0)
		return no_real(ABSENT_FIRST_SAMPLE);
	old_total = counter_of(since->before, metric, type);
	if (real_absent(old_total))
		return no_real(ABSENT_FIRST_SAMPLE);
	doubt = change_doubt(metric, now, all, since, new_total - old_total,
			     derived_slack(metric, type, secs));
	if (doubt)
		return no_real(doubt);
	rate = (new_total - old_total) / secs;
	/* The rest is the blur of ticks and clocks. */
	return rate < 0 ? 0
	       : now->cpus && rate > most_per_sec(metric, now, since->now)
		       ? most_per_sec(metric, now, since->now)
		       : rate;
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

/* The cores of the machine came or went: the sum is of others than before. */
static double sum_of_rates(const struct metric *metric, const struct spans *since)
{
	const struct metric *part = &ROW_DESCRIPTIONS[metric->from_kind].metrics[0];
	struct companion earlier = companion_of(since->window.earlier, metric->from_kind);
	struct spans of_part = *since;
	double sum = 0, rate;
	int count = 0, count_before = 0;

	for (const struct row *row = earlier.guess; row; row = row->next)
		count_before++;
	for (const struct row *row = since->window.now->first[metric->from_kind]; row; row = row->next) {
		of_part.window.before = companion_next(&earlier, row);
		rate = rate_since(part, row, &of_part, &of_part.window);
		if (real_absent(rate))
			return rate;
		sum += rate / 100;
		count++;
	}
	return count && count == count_before ? sum
					      : no_real(count ? ABSENT_FIRST_SAMPLE : ABSENT_NO_SUCH_COUNTER);
}

static int64_t sum_of_deltas(const struct metric *metric, const struct frame *frame,
			     const struct frame *previous)
{
	struct companion earlier = companion_of(previous, metric->from_kind);
	struct spans since = {.deltas = {.earlier = previous, .now = frame}};
	int64_t sum = 0;
	bool any_counted = false, any_known = false;

	if (frame->missing[metric->from_kind])
		return no_count(frame->missing[metric->from_kind]);
	if (!previous || previous->missing[metric->from_kind])
		return no_count(ABSENT_FIRST_SAMPLE);
	for (const struct row *row = frame->first[metric->from_kind]; row; row = row->next) {
		int64_t counted = *row_count(row, metric->counted_offset), change;

		since.deltas.before = companion_next(&earlier, row);
		change = delta_count(metric, row, &since);
		/* It is unknown whether this device counts, so the sum is unknown. */
		if (count_absent(counted))
			return counted;
		if (counted != 1)
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

/* The most memory that a part of the machine's can be. Shared pages count in the resident set of each process. */
static double most_mib(const struct row *row, const struct metric *metric, const struct frame *frame)
{
	const struct tree_row *tree = (const void *)frame->first[ROW_tree];
	bool is_part = row->kind == ROW_tree || row->kind == ROW_program || row->kind == ROW_run_end ||
		       row->kind == ROW_run_end_program || row->kind == ROW_cgroup || row->kind == ROW_numa;

	if (!is_part || frame->memory_mib <= 0 || strstr(metric->name, "gpu") ||
	    strstr(metric->name, "limit"))
		return ANY;
	if ((strstr(metric->name, "rss_mib") || strstr(metric->name, "shared_mib")) && tree &&
	    !count_absent(tree->process_child_count))
		return frame->memory_mib * (1 + (double)tree->process_child_count);
	return frame->memory_mib;
}

/* Judges a value that its collector assigned. */
static void judge_value(struct row *row, const struct metric *metric, size_t offset,
			const struct frame *frame)
{
	double value, most = ANY;

	if (metric->type > TYPE_COUNT || field_absent(row, metric->type, offset))
		return;
	value = metric->type == TYPE_REAL ? *row_real(row, offset) : (double)*row_count(row, offset);
	/* Most values are 0, which may always be. */
	if (value == 0)
		return;
	if (metric->unit[0] == '%')
		most = 100;
	else if (row->kind == ROW_host_cpu)
		most = THREADS_MOST;
	else if (strcmp(metric->unit, "MiB") == 0)
		most = most_mib(row, metric, frame);
	else if (is_seconds(metric) && row->kind != ROW_cgroup && metric->nature != GAUGE &&
		 (strstr(metric->name, "cpu_") || strstr(metric->name, "time_")))
		most = most_per_sec(metric, row, frame) * (1.25 * frame->sample->elapsed_secs + 1);
	if (value > most)
		field_set_absent(row, metric->type, offset, ABSENT_IMPOSSIBLE);
	else if (value < 0 && strcmp(metric->unit, "degC") != 0)
		field_set_absent(row, metric->type, offset, ABSENT_NOT_A_VALUE);
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
				judge_value(row, metric, offset, frame);
			else if (metric->type == TYPE_REAL)
				*row_real(row, offset) = delta_real(metric, row, since);
			else
				*row_count(row, offset) = delta_count(metric, row, since);
			break;
		case RATE_EXACT:
			*row_real(row, offset) = rate_since(metric, row, since, &since->rates);
			break;
		case RATE_WINDOWED:
			*row_real(row, offset) = rate_since(metric, row, since, &since->window);
			break;
		case SUM_OF_DELTAS:
			*row_count(row, offset) = sum_of_deltas(metric, frame, previous);
			break;
		case SUM_OF_RATES:
			*row_real(row, offset) = sum_of_rates(metric, since);
			break;
		case COUNTER:
		case GAUGE:
		case IDENTITY:
			judge_value(row, metric, offset, frame);
			break;
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

/* The parts of a total that is too large mean nothing either. */
static void judge_tree(struct frame *frame)
{
	struct tree_row *tree = (void *)frame->first[ROW_tree];
	double most = frame->cpus * (1.25 * frame->sample->elapsed_secs + 1);

	if (tree && frame->cpus && tree->cpu_total_secs > most)
		tree->cpu_total_secs = tree->utime_total_secs = tree->stime_total_secs =
			no_real(ABSENT_IMPOSSIBLE);
}

void derive(struct frame *frame, const struct earlier_frames *earlier)
{
	struct spans since = {
		.deltas = {.earlier = earlier->deltas, .now = frame},
		.rates = {.earlier = earlier->rates, .now = frame},
		.window = {.earlier = earlier->window, .now = frame},
	};

	/* CPUs and memory that have gone had done their part of the run. */
	if (earlier->deltas && earlier->deltas->cpus > frame->cpus)
		frame->cpus = earlier->deltas->cpus;
	if (earlier->deltas && earlier->deltas->memory_mib > frame->memory_mib)
		frame->memory_mib = earlier->deltas->memory_mib;
	judge_tree(frame);
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		bool changes = frame->first[kind] && has_derived_metrics(kind);
		struct companion deltas = companion_of(changes ? earlier->deltas : NULL, kind),
				 rates = companion_of(changes ? earlier->rates : NULL, kind),
				 window = companion_of(changes ? earlier->window : NULL, kind);

		for (struct row *row = frame->first[kind]; row; row = row->next) {
			since.deltas.before = companion_next(&deltas, row);
			since.rates.before = earlier->rates == earlier->deltas ? since.deltas.before
									       : companion_next(&rates, row);
			since.window.before = companion_next(&window, row);
			derive_row(row, frame, earlier->deltas, &since);
		}
	}
}
