/* Places times of the wall clock on the monotonic one. See run_clock.h. */
#include "summary/run_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A smaller difference may come from the time between two readings. A clock that runs too fast is followed in such steps. */
static const double STEP_SECS = 0.01, SLACK_SECS = 0.001;
enum { FIRST_ROOM = 8, STATES_MOST = 4096 };

int run_clock_add(struct run_clock *clock, double elapsed_secs, double timestamp)
{
	double offset = timestamp - elapsed_secs, before = clock->count ? clock->elapsed_secs : -INFINITY;

	if (isnan(offset))
		return 0;
	clock->elapsed_secs = elapsed_secs;
	if (clock->count == STATES_MOST ||
	    (clock->count && fabs(offset - clock->list[clock->count - 1].offset) <= STEP_SECS))
		return 0;
	if (clock->count == clock->room) {
		size_t room = clock->room ? 2 * clock->room : FIRST_ROOM;
		struct clock_state *grown = reallocarray(clock->list, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		clock->list = grown;
		clock->room = room;
	}
	clock->list[clock->count++] = (struct clock_state){before, elapsed_secs, offset};
	return 0;
}

void run_clock_clear(struct run_clock *clock)
{
	clock->count = 0;
}

void run_clock_done(struct run_clock *clock)
{
	free(clock->list);
	*clock = (struct run_clock){0};
}

double run_clock_at(const struct run_clock *clock, double elapsed_secs)
{
	return clock->count ? clock->list[0].offset + elapsed_secs : (double)NAN;
}

double run_clock_place(const struct run_clock *clock, double timestamp, double earlier)
{
	double found = NAN;

	for (size_t i = 0; i < clock->count; i++) {
		double elapsed = timestamp - clock->list[i].offset, at = run_clock_at(clock, elapsed);
		double until = i + 1 < clock->count ? clock->list[i + 1].first : clock->elapsed_secs;

		if (elapsed < clock->list[i].before - SLACK_SECS || elapsed > until + SLACK_SECS)
			continue;
		if (isnan(found) || at >= earlier - SLACK_SECS)
			found = at;
		if (at >= earlier - SLACK_SECS)
			break;
	}
	return found;
}
