/* Fills a run from its samples. See run.h. */
#include "live/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signal_names.h"
#include "metric/typed_rows.h"
#include "record/reader.h"
#include "record/tree_memory.h"
#include "table/signal_words.h"
#include "table/wait_words.h"

static double real_of_run(double value)
{
	return isfinite(value) ? value : (double)NAN;
}

void run_begin(struct run *ret_run, const char *name, unsigned number, int64_t now_ns)
{
	*ret_run = (struct run){
		.number = number,
		.cpu_count = NAN,
		.memory_total_mib = NAN,
		.interval_secs = NAN,
		.wall_secs = NAN,
		.memory_peak_mib = NAN,
		.heard_ns = now_ns,
	};
	snprintf(ret_run->name, sizeof(ret_run->name), "%s", name);
}

void run_done(struct run *run)
{
	timeline_clear(&run->timeline);
}

static void keep_run_text(char *to, size_t size, const char *text)
{
	if (!text_absent(text) && *text)
		snprintf(to, size, "%s", text);
}

static void take_start(struct run *run, const struct frame *frame, const struct frame *identity)
{
	const struct run_start_row *start = FIRST(identity, run_start);
	const struct sample_row *sample = frame->sample;

	keep_run_text(run->host, sizeof(run->host), sample->host);
	if (!count_absent(sample->tracked_pid))
		run->pid = sample->tracked_pid;
	if (start) {
		run->cpu_count = count_absent(start->cpu_count) ? (double)NAN : (double)start->cpu_count;
		run->memory_total_mib = real_of_run(start->memory_total_mib);
		run->is_machine = !text_absent(start->mode) && strcmp(start->mode, "host") == 0;
		keep_run_text(run->folder, sizeof(run->folder), start->folder);
	} else {
		run->is_machine = !FIRST(frame, tree) || !run->pid;
	}
	if (!text_absent(sample->job_name) && *sample->job_name)
		keep_run_text(run->name, sizeof(run->name), sample->job_name);
	else if (start && !text_absent(start->program) && *start->program)
		keep_run_text(run->name, sizeof(run->name), start->program);
	else if (start && !text_absent(start->executable) && *start->executable)
		keep_run_text(run->name, sizeof(run->name), start->executable);
	else if (run->is_machine)
		keep_run_text(run->name, sizeof(run->name), sample->host);
}

static void take_early_signals(struct run *run, const struct frame *frame)
{
	for (const struct signal_at_row *row = FIRST(frame, signal_at); row; row = NEXT(row, signal_at)) {
		struct buffer words = BUFFER(SIGNAL_WORDS_BYTES);

		add_signal_words(&words, row);
		if (!buffer_error(&words) && words.data)
			snprintf(run->signal, sizeof(run->signal), "%s", words.data);
		buffer_done(&words);
	}
}

/* A sample without a wait ends it. */
static void take_wait(struct run *run, const struct frame *frame)
{
	const struct wait_row *row = FIRST(frame, wait);

	run->waiter[0] = run->wait[0] = '\0';
	if (!row || text_absent(row->class) || text_absent(row->program))
		return;
	keep_run_text(run->waiter, sizeof(run->waiter), row->program);
	(void)wait_words(row->class, text_absent(row->target) ? "" : row->target, run->wait,
			 sizeof(run->wait));
}

static bool reason_is(const struct run_end_row *end, const char *reason)
{
	return !text_absent(end->reason) && strcmp(end->reason, reason) == 0;
}

/* The summary's peak. It does not trust a figure that counts shared pages more than once and no sample reaches. */
static double run_peak_of(const struct run *run, const struct run_end_row *end)
{
	enum memory_measure measure = memory_measure(end->memory_peak_source);
	double sampled = run->timeline.peaks[SERIES_JOB_MEMORY];

	if ((measure == MEASURE_EACH_PROCESS || measure == MEASURE_BOUND) && end->memory_peak_mib > sampled)
		return sampled;
	return real_of_run(end->memory_peak_mib);
}

static void take_run_end(struct run *run, const struct run_end_row *end)
{
	bool is_oom = reason_is(end, "oom_kill_confirmed") || reason_is(end, "oom_kill_suspected");
	char name[SIGNAL_NAME_SIZE];

	run->wall_secs = fmax(real_of_run(end->wall_secs), real_of_run(end->tree_wall_secs));
	run->memory_peak_mib = run_peak_of(run, end);
	run->state = RUN_FAILED;
	if (!count_absent(end->signal)) {
		snprintf(run->outcome, sizeof(run->outcome), "killed by %s%s",
			 signal_name((int)end->signal, name), is_oom ? ", out of memory" : "");
	} else if (!count_absent(end->exit_code)) {
		run->state = end->exit_code ? RUN_FAILED : RUN_SUCCEEDED;
		if (end->exit_code)
			snprintf(run->outcome, sizeof(run->outcome), "failed with exit status %lld%s",
				 (long long)end->exit_code, is_oom ? ", out of memory" : "");
		else
			snprintf(run->outcome, sizeof(run->outcome), "succeeded");
	} else {
		run->state = RUN_STOPPED;
		snprintf(run->outcome, sizeof(run->outcome), "%s",
			 reason_is(end, "target_exited") ? "process has ended" : "recording has ended");
	}
}

int run_take(struct run *run, const struct frame *frame, const struct frame *identity, size_t run_index,
	     double interval_secs)
{
	const struct run_end_row *end = FIRST(identity, run_end);
	struct moment moment;
	int r;

	if (run_index != run->run_index) {
		timeline_clear(&run->timeline);
		run->run_index = run_index;
		run->state = RUN_BEGINS;
		run->outcome[0] = '\0';
		run->usual.count = 0;
		run->signal[0] = '\0';
		run->told_overdue = false;
		run->wall_secs = run->memory_peak_mib = (double)NAN;
	}
	r = moment_take(&moment, frame);
	if (r == 0)
		r = timeline_add(&run->timeline, &moment);
	if (r < 0)
		return r;
	take_start(run, frame, identity);
	take_early_signals(run, frame);
	take_wait(run, frame);
	run->interval_secs = interval_secs;
	if (run_is_live(run) || run->state == RUN_LOST) {
		run->state = RUN_GOES_ON;
		run->outcome[0] = '\0';
	}
	if (end)
		take_run_end(run, end);
	return 0;
}

void run_lose(struct run *run, const char *why)
{
	if (!run_is_live(run))
		return;
	run->state = RUN_LOST;
	snprintf(run->outcome, sizeof(run->outcome), "%s", why);
}

enum series run_series(const struct run *run, enum series of_job)
{
	static const enum series PAIRS[][2] = {
		{SERIES_JOB_CPU, SERIES_HOST_CPU},
		{SERIES_JOB_MEMORY, SERIES_HOST_MEMORY},
		{SERIES_JOB_READ, SERIES_HOST_READ},
		{SERIES_JOB_WRITTEN, SERIES_HOST_WRITTEN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(PAIRS); i++)
		if (PAIRS[i][0] == of_job && run->is_machine)
			return PAIRS[i][1];
	return of_job;
}

double run_value(const struct run *run, enum series series)
{
	const struct timeline *timeline = &run->timeline;

	return timeline->count ? timeline->moments[timeline->count - 1].values[run_series(run, series)]
			       : (double)NAN;
}

double run_core_limit(const struct run *run, const struct moment *moment, bool machine)
{
	double limit = run->cpu_count;

	if (machine)
		return isnan(limit) && moment->core_count ? (double)moment->core_count : limit;
	if (isnan(limit) && moment->core_count)
		limit = (double)moment->core_count;
	limit = fmin(limit, moment->values[SERIES_LIMIT_CPUS]);
	return fmin(limit, moment->values[SERIES_LIMIT_CORES]);
}

double run_memory_limit(const struct run *run, const struct moment *moment, bool machine)
{
	double now = moment->values[SERIES_HOST_MEMORY_TOTAL],
	       total = isnan(now) ? run->memory_total_mib : now;

	return machine ? total : fmin(total, moment->values[SERIES_LIMIT_MEMORY]);
}
