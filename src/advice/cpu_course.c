/* Finds the samples in which a run was short of CPU; see cpu_course.h. */
#include "advice/cpu_course.h"

#include <math.h>

static const double FULL_SHARE = 0.9, HELD_SHARE = 0.1, WAIT_SHARE = 0.2, ONE_CORE_LEAST = 0.75,
		    ONE_CORE_MOST = 1.15;

enum room { ROOM_UNKNOWN, ROOM_NONE, ROOM_LEFT };

static double least_of(const struct cpu_bounds *bounds)
{
	double cores = count_absent(bounds->core_count) ? NAN : (double)bounds->core_count;

	/* fmin() returns the other value if one is NaN. */
	if (!count_absent(bounds->cpuset_cores))
		cores = fmin(cores, (double)bounds->cpuset_cores);
	return fmin(cores, bounds->limit_cores);
}

static bool is_confined(const struct cpu_bounds *bounds)
{
	return !count_absent(bounds->cpuset_cores) && !count_absent(bounds->core_count) &&
	       bounds->cpuset_cores < bounds->core_count;
}

/*
 * The recording does not tell how busy others keep the CPUs of a cpuset. The cpuset has no room for sure only
 * if the whole machine has less room than would count in the cpuset.
 */
static enum room room_in(const struct frame *frame, const struct cpu_bounds *bounds, double job, double all,
			 double secs)
{
	const struct cgroup_row *cgroup = FIRST(frame, cgroup);

	if (cgroup && cgroup->throttled_secs >= HELD_SHARE * secs)
		return ROOM_NONE;
	if (job >= FULL_SHARE * least_of(bounds))
		return ROOM_NONE;
	if (count_absent(bounds->core_count) || isnan(all))
		return ROOM_UNKNOWN;
	if (is_confined(bounds))
		return (double)bounds->core_count - all <= (1 - FULL_SHARE) * (double)bounds->cpuset_cores
			       ? ROOM_NONE
			       : ROOM_UNKNOWN;
	return all >= FULL_SHARE * (double)bounds->core_count ? ROOM_NONE : ROOM_LEFT;
}

/* If a run used one core because it could not get another, this says nothing about the job. */
static bool is_one_core(double job, enum room room, double waited, double secs)
{
	if (!(job >= ONE_CORE_LEAST && job <= ONE_CORE_MOST))
		return false;
	return room == ROOM_LEFT || waited < WAIT_SHARE * secs || (room == ROOM_UNKNOWN && isnan(waited));
}

void cpu_course_add(struct cpu_course *course, const struct frame *frame, const struct cpu_bounds *bounds,
		    bool own_pressure)
{
	const struct tree_row *tree = FIRST(frame, tree);
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);
	const struct pressure_row *pressure = FIRST(frame, pressure);
	double job = tree ? tree->process_cores_used : NAN, all = cpu ? cpu->utilization_pct : NAN;
	double waited = pressure && own_pressure ? pressure->cpu_some_secs : NAN;
	double secs = frame->sample->actual_interval_ms / 1000;
	enum room room;

	if (!(secs > 0))
		return;
	room = room_in(frame, bounds, job, all, secs);
	if (!isnan(waited)) {
		course->has_pressure = true;
		course->short_secs += room == ROOM_NONE ? waited : 0;
		course->unclear_secs += room == ROOM_UNKNOWN ? waited : 0;
	}
	shape_add(&course->wanted, secs,
		  job + (room == ROOM_NONE && waited > 0 ? fmin(waited / secs, 1) : 0));
	course->full_secs += room == ROOM_NONE ? secs : 0;
	course->free_secs += room == ROOM_LEFT ? secs : 0;
	if (room == ROOM_NONE && !isnan(all) && !isnan(job)) {
		course->full_core_secs += all * secs;
		course->others_core_secs += fmax(all - job, 0) * secs;
	}
	if (is_one_core(job, room, waited, secs))
		course->one_core_secs += secs;
}
