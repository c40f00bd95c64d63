/* Sampling in the background: one thread of the caller's process, with all signals blocked. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "collect/self_usage.h"
#include "tracker/apart.h"
#include "tracker/tracker.h"

#define ASK_EVERY_NS (5 * NSEC_PER_MSEC)

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

/*
 * When to take the next sample. A mutex is not fair: if samples take longer than the interval, this thread would take the lock again
 * before any thread that waits for it. So it leaves the lock to callers that wait, for as long as the last sample has taken.
 */
static int64_t next_sample_ns(struct rt_tracker *tracker, int64_t rested_ns)
{
	int64_t due_ns = tracker_next_due_ns(tracker);

	return tracker->callers && due_ns < rested_ns ? rested_ns : due_ns;
}

static void *sample_in_background(void *tracker_)
{
	struct rt_tracker *tracker = tracker_;
	enum rt_end_reason reason = 0;
	int64_t rested_ns = 0;

	/* Shown by top -H. */
	(void)prctl(PR_SET_NAME, "rt-sampler");
	pthread_mutex_lock(&tracker->lock);
	own_cost_begin(&tracker->own_cost, &tracker->root);
	while (!tracker->stopping) {
		int64_t due_ns = next_sample_ns(tracker, rested_ns),
			now_ns = root_monotonic_ns(&tracker->root);
		struct timespec until = timespec_of(due_ns);

		if (now_ns < due_ns) {
			pthread_cond_timedwait(&tracker->changed, &tracker->lock, &until);
			continue;
		}
		(void)tracker_sample_due(tracker, now_ns);
		rested_ns = 2 * root_monotonic_ns(&tracker->root) - now_ns;
		if (tracker_over(tracker, &reason))
			break;
	}
	/* A thread that ended by itself has set its own reason. */
	if (reason)
		(void)tracker_finish(tracker, reason, 0);
	else
		(void)tracker_finish(tracker, tracker->stop_reason, tracker->stop_status);
	tracker->own_cost.threads = 0;
	own_cost_end(&tracker->own_cost, &tracker->root);
	tracker_let_go(tracker);
	tracker->state = RT_STATE_STOPPED;
	pthread_cond_broadcast(&tracker->changed);
	pthread_mutex_unlock(&tracker->lock);
	return NULL;
}

static int start_sampling_thread(struct rt_tracker *tracker)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&tracker->thread, NULL, sample_in_background, tracker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

int rt_start(struct rt_tracker *tracker)
{
	int error = 0;

	if (!tracker_lock(tracker))
		return -ECHILD;
	if (tracker->state == RT_STATE_RUNNING)
		error = -EALREADY;
	else if (tracker->state == RT_STATE_STOPPED || tracker->finished)
		error = -ESHUTDOWN;
	else if (tracker->apart)
		error = (int)apart_ask(tracker, REMOTE_START, 0, 0);
	else
		error = start_sampling_thread(tracker);
	if (!error)
		tracker->state = RT_STATE_RUNNING;
	if (!error && !tracker->apart) {
		tracker->has_thread = true;
		tracker->own_cost.threads = 1;
		if (!tracker->context.in_program) {
			tracker->context.in_program = true;
			self_usage_begin(&tracker->context, tracker->previous);
		}
	}
	tracker_unlock(tracker);
	return error;
}

int rt_stop(struct rt_tracker *tracker)
{
	return rt_stop_with(tracker, RT_END_TRACKER_STOPPED, 0);
}

static int stop_there(struct rt_tracker *tracker, enum rt_end_reason reason, int status)
{
	int error;

	if (tracker->state == RT_STATE_READY || tracker->stopping)
		return tracker->stopping ? -EALREADY : -ENOTCONN;
	tracker->stopping = true;
	tracker->state = RT_STATE_STOPPED;
	error = (int)apart_ask(tracker, REMOTE_STOP, reason, status);
	/* It may have ended by itself. */
	return error == -EALREADY ? 0 : error;
}

int rt_stop_with(struct rt_tracker *tracker, enum rt_end_reason reason, int status)
{
	if (!tracker_lock(tracker))
		return -ECHILD;
	if (!is_end_reason(reason)) {
		tracker_unlock(tracker);
		return -EINVAL;
	}
	if (tracker->apart) {
		int error = stop_there(tracker, reason, status);

		tracker_unlock(tracker);
		return error;
	}
	if (!tracker->has_thread || tracker->stopping) {
		int error = tracker->stopping ? -EALREADY : -ENOTCONN;

		tracker_unlock(tracker);
		return error;
	}
	tracker->stopping = true;
	tracker->stop_reason = reason;
	tracker->stop_status = status;
	pthread_cond_broadcast(&tracker->changed);
	tracker_unlock(tracker);
	pthread_join(tracker->thread, NULL);
	return 0;
}

enum rt_state rt_get_state(struct rt_tracker *tracker)
{
	enum rt_state state;

	if (!tracker_lock(tracker))
		return RT_STATE_STOPPED;
	if (tracker->apart && tracker->state == RT_STATE_RUNNING && apart_is_over(tracker, NULL))
		tracker->state = RT_STATE_STOPPED;
	state = tracker->state;
	tracker_unlock(tracker);
	return state;
}

int64_t rt_sample_count(struct rt_tracker *tracker)
{
	int64_t count;

	if (!tracker_lock(tracker))
		return -ECHILD;
	count = tracker->apart ? apart_ask(tracker, REMOTE_SAMPLE_COUNT, 0, 0) : tracker->sample_count;
	tracker_unlock(tracker);
	return count;
}

/* The other process does not tell of its samples: it is asked until there are as many. */
static int wait_there(struct rt_tracker *tracker, int64_t n, double timeout_secs)
{
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + (int64_t)(timeout_secs * 1e9);

	for (;;) {
		struct timespec pause = timespec_of(ASK_EVERY_NS);
		int64_t count = rt_sample_count(tracker);

		if (count < 0)
			return count == -EPIPE ? -ESHUTDOWN : (int)count;
		if (count >= n)
			return 0;
		if (rt_get_state(tracker) == RT_STATE_STOPPED)
			return rt_sample_count(tracker) >= n ? 0 : -ESHUTDOWN;
		if (timeout_secs >= 0 && SYSTEM_CLOCKS.monotonic_ns(NULL) >= until_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

int rt_wait_for_samples(struct rt_tracker *tracker, int64_t n, double timeout_secs)
{
	/* Beyond ten years a number of nanoseconds could overflow. */
	double bounded_secs = timeout_secs > 3e8 ? 3e8 : timeout_secs;
	struct timespec until = timespec_of(SYSTEM_CLOCKS.monotonic_ns(NULL) + (int64_t)(bounded_secs * 1e9));
	int error = 0;

	if (tracker && tracker->apart)
		return wait_there(tracker, n, bounded_secs);
	if (!tracker_lock(tracker))
		return -ECHILD;
	tracker->callers++;
	while (!error && tracker->sample_count < n) {
		if (tracker->state == RT_STATE_STOPPED || tracker->finished)
			error = -ESHUTDOWN;
		else if (timeout_secs < 0)
			pthread_cond_wait(&tracker->changed, &tracker->lock);
		else
			error = -pthread_cond_timedwait(&tracker->changed, &tracker->lock, &until);
	}
	tracker->callers--;
	tracker_unlock(tracker);
	return error;
}
