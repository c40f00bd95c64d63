/* Sampling in the background: one thread of the caller's process, with all signals blocked. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "tracker/tracker.h"

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

static int64_t due_ns(const struct rt_tracker *tracker)
{
	return tracker->next_due_ns < tracker->last_due_ns ? tracker->next_due_ns : tracker->last_due_ns;
}

static void *sample_in_background(void *tracker_)
{
	struct rt_tracker *tracker = tracker_;
	enum rt_end_reason reason = RT_END_TRACKER_STOPPED;

	pthread_mutex_lock(&tracker->lock);
	while (!tracker->stopping) {
		struct timespec until = timespec_of(due_ns(tracker));

		if (root_monotonic_ns(&tracker->root) < due_ns(tracker)) {
			pthread_cond_timedwait(&tracker->changed, &tracker->lock, &until);
			continue;
		}
		(void)tracker_sample_due(tracker, root_monotonic_ns(&tracker->root));
		if (tracker_over(tracker, &reason))
			break;
	}
	(void)tracker_finish(tracker, reason, 0);
	tracker->state = RT_STOPPED;
	pthread_cond_broadcast(&tracker->changed);
	pthread_mutex_unlock(&tracker->lock);
	return NULL;
}

static int start_thread(struct rt_tracker *tracker)
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

	pthread_mutex_lock(&tracker->lock);
	if (tracker->state == RT_RUNNING)
		error = -EALREADY;
	else if (tracker->state == RT_STOPPED || tracker->finished)
		error = -ESHUTDOWN;
	else
		error = start_thread(tracker);
	if (!error) {
		tracker->state = RT_RUNNING;
		tracker->has_thread = true;
	}
	pthread_mutex_unlock(&tracker->lock);
	return error;
}

int rt_stop(struct rt_tracker *tracker)
{
	pthread_mutex_lock(&tracker->lock);
	if (!tracker->has_thread || tracker->stopping) {
		int error = tracker->stopping ? -EALREADY : -ENOTCONN;

		pthread_mutex_unlock(&tracker->lock);
		return error;
	}
	tracker->stopping = true;
	pthread_cond_broadcast(&tracker->changed);
	pthread_mutex_unlock(&tracker->lock);
	pthread_join(tracker->thread, NULL);
	return 0;
}

enum rt_state rt_get_state(struct rt_tracker *tracker)
{
	enum rt_state state;

	pthread_mutex_lock(&tracker->lock);
	state = tracker->state;
	pthread_mutex_unlock(&tracker->lock);
	return state;
}

int64_t rt_sample_count(struct rt_tracker *tracker)
{
	int64_t count;

	pthread_mutex_lock(&tracker->lock);
	count = tracker->sample_count;
	pthread_mutex_unlock(&tracker->lock);
	return count;
}

int rt_wait_for_samples(struct rt_tracker *tracker, int64_t n, double timeout_secs)
{
	/* Beyond ten years a number of nanoseconds could overflow. */
	double bounded_secs = timeout_secs > 3e8 ? 3e8 : timeout_secs;
	struct timespec until = timespec_of(SYSTEM_CLOCKS.monotonic_ns(NULL) + (int64_t)(bounded_secs * 1e9));
	int error = 0;

	pthread_mutex_lock(&tracker->lock);
	while (!error && tracker->sample_count < n) {
		if (tracker->state == RT_STOPPED || tracker->finished)
			error = -ESHUTDOWN;
		else if (timeout_secs < 0)
			error = -pthread_cond_wait(&tracker->changed, &tracker->lock);
		else
			error = -pthread_cond_timedwait(&tracker->changed, &tracker->lock, &until);
	}
	pthread_mutex_unlock(&tracker->lock);
	return error;
}
