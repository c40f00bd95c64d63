/* Takes samples, and decides when. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/debug.h"
#include "job/programs/programs.h"
#include "metric/derive.h"
#include "tracker/tracker.h"

/* Over a shorter window, host rates would show only the kernel's own tick. */
#define WINDOW_NS (100 * NSEC_PER_MSEC)
/* Takes one sample early, so that a job leaves a record even if it dies soon together with its tracker. */
#define EARLY_SAMPLE_NS (1 * NSEC_PER_SEC)
#define EARLY_SAMPLE_INTERVAL_NS (10 * NSEC_PER_SEC)

static struct frame *free_frame(struct rt_tracker *tracker)
{
	for (int i = 0; i < FRAMES; i++) {
		struct frame *frame = &tracker->frames[i];

		if (frame != tracker->previous && frame != tracker->window && frame != tracker->window_next)
			return frame;
	}
	return NULL;
}

static void keep_history(struct rt_tracker *tracker, struct frame *frame)
{
	if (!tracker->window) {
		tracker->window = tracker->window_next = frame;
	} else if (frame->monotonic_ns - tracker->window_next->monotonic_ns >= WINDOW_NS) {
		tracker->window = tracker->window_next;
		tracker->window_next = frame;
	}
	tracker->previous = frame;
}

static const struct frame *rate_window(const struct rt_tracker *tracker, const struct frame *frame)
{
	const struct frame *next = tracker->window_next;

	return next && frame->monotonic_ns - next->monotonic_ns >= WINDOW_NS ? next : tracker->window;
}

static struct earlier_frames earlier_frames(const struct rt_tracker *tracker, const struct frame *frame)
{
	const struct frame *previous = tracker->previous;
	struct earlier_frames earlier = {previous, previous, rate_window(tracker, frame)};
	int64_t length_ns = previous ? frame->monotonic_ns - previous->monotonic_ns : INT64_MAX;

	if (tracker->context.ending->reason && length_ns < WINDOW_NS &&
	    length_ns < tracker->config->interval_ns / 2)
		earlier.rates = earlier.window;
	return earlier;
}

static void run_collectors(struct rt_tracker *tracker, struct frame *frame)
{
	tracker->context.helper_count = tracker->streaming.pid > 0;
	tracker->context.helper_cpu_ns = 0;
	tracker->context.meminfo = NULL;
	tracker->context.attend_ns = INT64_MAX;
	for (size_t i = 0; COLLECTORS[i]; i++) {
		int64_t begun_ns = debug_now_ns();

		/* A sample for which memory was refused is not written. */
		if (!tracker->runs[i] || frame->error)
			continue;
		COLLECTORS[i]->collect(tracker->states[i], &tracker->context, frame);
		debug_say("collector", begun_ns, "%s has read sample %lld", COLLECTORS[i]->name,
			  (long long)tracker->sample_count);
		tracker_take_warning(tracker);
	}
}

void tracker_prepare(struct rt_tracker *tracker)
{
	if (tracker->prepared)
		return;
	tracker->prepared = tracker->context.prepared = true;
	if (tracker->tree && tracker->tree->programs)
		programs_hear(tracker->tree->programs, true);
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (tracker->runs[i] && COLLECTORS[i]->prepare)
			COLLECTORS[i]->prepare(tracker->states[i], &tracker->context);
}

static void attend_collectors(struct rt_tracker *tracker)
{
	bool begins = tracker->context.in_program && !tracker->own_cost.running;

	if (begins)
		own_cost_begin(&tracker->own_cost, &tracker->root);
	tracker->context.attend_ns = INT64_MAX;
	for (size_t i = 0; COLLECTORS[i]; i++)
		if (tracker->runs[i] && COLLECTORS[i]->attend)
			COLLECTORS[i]->attend(tracker->states[i], &tracker->context);
	if (begins)
		own_cost_end(&tracker->own_cost, &tracker->root);
}

void tracker_tell_of_lost_sample(struct rt_tracker *tracker)
{
	if (!tracker->has_lost_sample)
		tracker_warn(tracker, "samples are missing: there was no memory for them");
	tracker->has_lost_sample = true;
}

static int fill_next_sample(struct rt_tracker *tracker, bool baseline)
{
	struct run_progress *progress = &tracker->context.progress;
	struct frame *frame = free_frame(tracker);
	struct earlier_frames earlier;
	int64_t written_ns;

	if (!baseline && !tracker->wrapped)
		tracker_prepare(tracker);
	frame_begin(frame, root_monotonic_ns(&tracker->root), root_realtime_ns(&tracker->root));
	progress->baseline = baseline;
	if (!tracker->previous)
		progress->started_ns = frame->monotonic_ns;
	progress->previous_ns = tracker->previous ? tracker->previous->monotonic_ns : frame->monotonic_ns;
	progress->number = tracker->sample_count;
	run_collectors(tracker, frame);
	earlier = earlier_frames(tracker, frame);
	derive(frame, &earlier);
	selection_apply(&tracker->selection, frame);
	if (frame->error) {
		if (!baseline && !tracker->finished)
			tracker_tell_of_lost_sample(tracker);
		return frame->error;
	}
	keep_history(tracker, frame);
	progress->missed = 0;
	if (baseline)
		return 0;
	tracker->sample_count++;
	kept_samples_add(&tracker->kept, frame);
	written_ns = debug_now_ns();
	tracker_write_outputs(tracker, frame);
	debug_say("outputs", written_ns, "sample %lld is written to %zu of them", (long long)progress->number,
		  tracker->output_count);
	streaming_hear(tracker);
	pthread_cond_broadcast(&tracker->changed);
	return 0;
}

int tracker_take_sample(struct rt_tracker *tracker, bool baseline)
{
	/* In the background the whole thread counts as the tracker's cost, and the count runs already. */
	bool begins = tracker->context.in_program && !tracker->own_cost.running;
	int error;

	if (begins)
		own_cost_begin(&tracker->own_cost, &tracker->root);
	error = fill_next_sample(tracker, baseline);
	if (begins)
		own_cost_end(&tracker->own_cost, &tracker->root);
	return error;
}

const struct frame *tracker_newest(const struct rt_tracker *tracker)
{
	return tracker->sample_count ? tracker->previous : NULL;
}

/* ---- the grid ---------------------------------------------------------------------------------------- */

void tracker_start_grid(struct rt_tracker *tracker)
{
	const struct rt_config *config = tracker->config;
	int64_t interval_ns = config->interval_ns;
	int64_t now_ns = tracker->previous->monotonic_ns, now_real_ns = tracker->previous->realtime_ns;

	tracker->first_due_ns = now_ns + interval_ns;
	if (config->start_at_ns > now_real_ns)
		tracker->first_due_ns = now_ns + (config->start_at_ns - now_real_ns);
	else if (config->align)
		tracker->first_due_ns = now_ns + interval_ns - now_real_ns % interval_ns;
	tracker->next_due_ns = tracker->first_due_ns;
	tracker->early_sample_due = interval_ns > EARLY_SAMPLE_INTERVAL_NS &&
				    tracker->first_due_ns - now_ns > EARLY_SAMPLE_NS &&
				    config->start_at_ns <= now_real_ns;
	tracker->last_due_ns = config->duration_ns ? now_ns + config->duration_ns : INT64_MAX;
}

static int64_t early_due_ns(const struct rt_tracker *tracker)
{
	return tracker->early_sample_due ? tracker->context.progress.started_ns + EARLY_SAMPLE_NS : INT64_MAX;
}

int64_t tracker_next_due_ns(struct rt_tracker *tracker)
{
	int64_t due_ns = early_due_ns(tracker);

	tracker->on_grid = true;

	if (tracker->next_due_ns < due_ns)
		due_ns = tracker->next_due_ns;
	/* The duration ends with the last sample, which rt_over() asks for, not with one of the grid. */
	if (tracker->last_due_ns < due_ns)
		due_ns = tracker->last_due_ns;
	if (tracker->wrapped && !tracker->prepared && tracker->prepare_ns < due_ns)
		due_ns = tracker->prepare_ns;
	if (tracker->context.attend_ns < due_ns)
		due_ns = tracker->context.attend_ns;
	return tracker->finished ? INT64_MAX : due_ns;
}

int64_t rt_next_sample_ns(struct rt_tracker *tracker)
{
	int64_t due_ns;

	if (tracker_enter(tracker) < 0)
		return INT64_MAX;
	if (tracker->wrapped && !tracker->finished && tracker->tree->programs)
		programs_hear(tracker->tree->programs, tracker->prepared);
	due_ns = tracker_next_due_ns(tracker);
	tracker_unlock(tracker);
	return due_ns;
}

/* Moves the grid past `now`. Ticks without a sample are counted. They are not made up for. */
static void advance_deadline(struct rt_tracker *tracker, int64_t now_ns)
{
	int64_t interval_ns = tracker->config->interval_ns;
	int64_t passed = (now_ns - tracker->next_due_ns) / interval_ns;

	tracker->next_due_ns += (passed + 1) * interval_ns;
	tracker->context.progress.missed += passed;
	tracker->context.progress.missed_total += passed;
}

/* Counts the ticks of the grid, if it is in use, that were due before the end of the run. */
static void count_ticks_until(struct rt_tracker *tracker, int64_t end_ns)
{
	if (tracker->ending.job_ended_ns && tracker->ending.job_ended_ns < end_ns)
		end_ns = tracker->ending.job_ended_ns;
	if (tracker->last_due_ns < end_ns)
		end_ns = tracker->last_due_ns;
	if (!tracker->on_grid || tracker->next_due_ns >= end_ns)
		return;
	tracker->context.progress.missed++;
	tracker->context.progress.missed_total++;
	advance_deadline(tracker, end_ns - 1);
}

int tracker_sample_due(struct rt_tracker *tracker, int64_t now_ns)
{
	int error;

	if (tracker->finished || now_ns >= tracker->last_due_ns)
		return 0;
	if (tracker->wrapped && now_ns >= tracker->prepare_ns)
		tracker_prepare(tracker);
	if (now_ns >= early_due_ns(tracker)) {
		tracker->early_sample_due = false;
		if (now_ns < tracker->next_due_ns) {
			error = tracker_take_sample(tracker, false);
			return error < 0 ? error : 1;
		}
	}
	if (now_ns < tracker->next_due_ns) {
		if (now_ns >= tracker->context.attend_ns)
			attend_collectors(tracker);
		return 0;
	}
	advance_deadline(tracker, now_ns);
	/* The first sample of a job that goes on has every value, however short the interval. */
	tracker_prepare(tracker);
	error = tracker_take_sample(tracker, false);
	return error < 0 ? error : 1;
}

bool tracker_over(struct rt_tracker *tracker, enum rt_end_reason *ret_reason)
{
	enum rt_end_reason reason = 0;

	if (root_monotonic_ns(&tracker->root) >= tracker->last_due_ns)
		reason = RT_END_DURATION;
	else if (!tracker->wrapped && tracker->context.tree && tracker->tree->root_gone &&
		 !tracker->config->keep_running)
		reason = RT_END_TARGET_EXITED;
	else if (!tracker->wrapped && tracker_outputs_gone(tracker))
		reason = RT_END_TRACKER_STOPPED;
	if (!reason)
		return false;
	if (ret_reason)
		*ret_reason = reason;
	return true;
}

bool is_end_reason(enum rt_end_reason reason)
{
	return reason >= RT_END_EXIT && reason <= RT_END_DURATION;
}

static const char *reason_name(enum rt_end_reason reason)
{
	switch (reason) {
	case RT_END_EXIT:
		return "exit";
	case RT_END_SIGNAL:
		return "signal";
	case RT_END_EXEC_FAILED:
		return "exec_failed";
	case RT_END_TARGET_EXITED:
		return "target_exited";
	case RT_END_TRACKER_STOPPED:
		return "tracker_stopped";
	case RT_END_DURATION:
		return "duration";
	}
	return "tracker_stopped";
}

int tracker_finish(struct rt_tracker *tracker, enum rt_end_reason reason, int status)
{
	struct run_ending *ending = &tracker->ending;
	int error;

	if (tracker->finished)
		return -ESHUTDOWN;
	/* A caller that only stops the tracker may have told it earlier how the job ended. */
	if (reason == RT_END_TRACKER_STOPPED && !status && tracker->has_job_status) {
		reason = WIFSIGNALED(tracker->job_status) ? RT_END_SIGNAL : RT_END_EXIT;
		status = tracker->job_status;
	}
	ending->reason = reason_name(reason);
	if (reason == RT_END_EXIT || reason == RT_END_SIGNAL) {
		ending->has_status = true;
		ending->wait_status = status;
		ending->killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	} else if (reason == RT_END_EXEC_FAILED) {
		ending->exec_errno = status;
	} else if (reason == RT_END_TRACKER_STOPPED) {
		ending->stopped_by = status;
	}
	tracker->end_reason = reason;
	tracker->finished = true;
	count_ticks_until(tracker, root_monotonic_ns(&tracker->root));
	error = tracker_take_sample(tracker, false);
	/* Without its end a recording looks torn, and other programs may have given memory back. */
	if (error < 0)
		error = tracker_take_sample(tracker, false);
	if (error < 0)
		tracker_tell_of_lost_sample(tracker);
	tracker_end_outputs(tracker);
	if (!tracker->sample_count)
		tracker_take_outputs_back(tracker);
	return error;
}
