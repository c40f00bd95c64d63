/* Finds the samples in which a run was short of CPU. See cpu_course.h. */
#include "summary/cpu_course.h"
#include "metric/typed_rows.h"

#include <math.h>

static const double FULL_SHARE = 0.9, HELD_SHARE = 0.1, WAIT_SHARE = 0.2, ONE_CORE_LEAST = 0.75,
		    ONE_CORE_MOST = 1.15, KNOWN_SHARE = 0.5, IDLE_CORES = 0.02, READY_SHARE = 0.1,
		    CONFINED_SHARE = 0.3, FORCED_RATIO = 2;

enum room { ROOM_UNKNOWN, ROOM_NONE, ROOM_LEFT };

double cpu_bounds_least(const struct cpu_bounds *bounds)
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
	if (job >= FULL_SHARE * cpu_bounds_least(bounds))
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

/* The waiting of the job's own threads in a sample. */
struct own_wait {
	double secs;     /* all threads together, NaN if unknown, or known for too few of them */
	double run_secs; /* CPU time of the job */
	double forced;   /* context switches that the scheduler forced on them, per one by their own choice */
};

/* Threads that were not read waited for as large a part of their time as those that were. */
static struct own_wait own_wait_of(const struct tree_row *tree, double secs)
{
	struct own_wait own = {NAN, NAN, NAN};
	double known;

	if (!tree)
		return own;
	own.run_secs = tree->process_utime_secs + tree->process_stime_secs;
	known = tree->process_cpu_wait_known_secs;
	if (isnan(own.run_secs) || isnan(known) || isnan(tree->process_cpu_wait_secs))
		return own;
	if (known < KNOWN_SHARE * own.run_secs && own.run_secs > IDLE_CORES * secs)
		return own;
	own.secs = tree->process_cpu_wait_secs;
	if (known > 0 && known < own.run_secs)
		own.secs *= fmin(own.run_secs / known, 1 / KNOWN_SHARE);
	if (!count_absent(tree->process_voluntary_switches) &&
	    !count_absent(tree->process_involuntary_switches))
		own.forced = (double)tree->process_involuntary_switches /
			     fmax((double)tree->process_voluntary_switches, 1);
	return own;
}

/*
 * How long at least one thread waited: at most as long as all of them together. If that is a small part of the time in
 * which they could run, more CPUs would hardly make the job faster.
 */
static double waited_secs(double pressure_secs, const struct own_wait *own, double secs)
{
	if (isnan(own->secs))
		return pressure_secs;
	if (own->secs < READY_SHARE * (own->secs + own->run_secs))
		return 0;
	return fmin(fmin(own->secs, secs), isnan(pressure_secs) ? secs : pressure_secs);
}

static bool is_confined_by_itself(const struct own_wait *own, double waited, double secs)
{
	return waited >= WAIT_SHARE * secs && own->secs >= CONFINED_SHARE * (own->secs + own->run_secs) &&
	       own->forced >= FORCED_RATIO;
}

static void add_own_wait(struct cpu_course *course, const struct own_wait *own, enum room room)
{
	if (isnan(own->secs))
		return;
	course->has_threads = true;
	if (room == ROOM_LEFT)
		return;
	course->threads_wait_secs += own->secs;
	course->threads_run_secs += own->run_secs;
}

void cpu_course_add(struct cpu_course *course, const struct frame *frame, const struct cpu_bounds *bounds,
		    bool own_pressure)
{
	const struct tree_row *tree = FIRST(frame, tree);
	const struct host_cpu_row *cpu = FIRST(frame, host_cpu);
	const struct pressure_row *pressure = FIRST(frame, pressure);
	double job = tree ? tree->process_cores_used : NAN, all = cpu ? cpu->utilization_pct : NAN;
	double secs = frame->sample->actual_interval_ms / 1000;
	struct own_wait own = own_wait_of(tree, secs);
	double waited = waited_secs(pressure && own_pressure ? pressure->cpu_some_secs : NAN, &own, secs);
	bool confined;
	enum room room;

	if (!(secs > 0))
		return;
	room = room_in(frame, bounds, job, all, secs);
	confined = room == ROOM_LEFT && is_confined_by_itself(&own, waited, secs);
	add_own_wait(course, &own, room);
	if (confined) {
		course->confined_secs += waited;
		course->confined_wait_secs += own.secs;
		course->confined_run_secs += own.run_secs;
	}
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
	if (!confined && is_one_core(job, room, waited, secs))
		course->one_core_secs += secs;
}
