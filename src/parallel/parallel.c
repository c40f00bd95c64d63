/* Plans steps for a number of jobs. See parallel.h. */
#include "parallel/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* A step that has so little left has ended: sums of many small parts are not exact. */
static const double ENDED_SECS = 1e-9;

/* The parts of a step that is shorter have no moments of their own. Recordings count microseconds. */
static const double SHORTEST_SECS = 1e-6;

/* From here on cores are busy, and a plan is one of the last. */
static const double BUSY_CORES = 0.8, LAST_PLANS = 0.95;

/* The longest and the shortest time of a step in a trial, as a part of the recorded one. */
static const double TRIAL_SPREAD = 0.1;

/* Steps in the simulation. */
struct schedule {
	const struct parallel *parallel;
	const size_t *order;   /* in which the engine would start them */
	const double *pace;    /* of each step's time. NULL: 1 */
	double *left;          /* seconds of its own pace. Below 0: has not started */
	double *began, *ended; /* NaN: has not */
	double *moments;       /* of each step: when its parts begin, and when the last one ends */
	size_t *parts_begun;   /* of each step */
	double *most_files;    /* see change_files() */
	size_t *running;
	size_t running_count, jobs;
	size_t first_waiting; /* in the order */
	double now;
};

enum { MOMENTS = PARALLEL_PARTS + 1 };

static double seconds_of(const struct parallel_step *step)
{
	return step->wall_secs + step->gap_secs;
}

static double asked_cores(const struct parallel_step *step)
{
	return seconds_of(step) > 0 && step->cpu_secs > 0 ? step->cpu_secs / seconds_of(step) : 0;
}

static double trial_pace(const struct schedule *schedule, size_t index)
{
	return schedule->pace ? schedule->pace[index] : 1;
}

static bool is_step_ready(const struct schedule *schedule, size_t index)
{
	const struct parallel_step *step = &schedule->parallel->steps[index];

	for (size_t i = 0; i < step->need_count; i++)
		if (isnan(schedule->ended[step->needs[i]]))
			return false;
	return true;
}

static void start_ready_steps(struct schedule *schedule)
{
	size_t count = schedule->parallel->count;

	while (schedule->first_waiting < count &&
	       !isnan(schedule->began[schedule->order[schedule->first_waiting]]))
		schedule->first_waiting++;
	for (size_t at = schedule->first_waiting; at < count && schedule->running_count < schedule->jobs;
	     at++) {
		size_t i = schedule->order[at];

		if (!isnan(schedule->began[i]) || !is_step_ready(schedule, i))
			continue;
		schedule->began[i] = schedule->now;
		schedule->left[i] = seconds_of(&schedule->parallel->steps[i]) * trial_pace(schedule, i);
		schedule->parts_begun[i] = 0;
		schedule->running[schedule->running_count++] = i;
	}
}

/* Its pace if the cores that it asks for are granted to this share: 1 is the pace of its recording. */
static double pace_of(const struct parallel_step *step, double share)
{
	double busy = fmin(asked_cores(step), 1.0);

	return 1 / (1 - busy + busy / share);
}

/*
 * Lets a step run for a time at a pace, and notes the moments of the parts that it gets to. The engine's gap comes before the first part.
 * A step whose pace changes does not stretch its parts evenly.
 */
static void run_step(struct schedule *schedule, size_t index, double secs, double pace)
{
	const struct parallel_step *step = &schedule->parallel->steps[index];
	double *moments = schedule->moments + index * MOMENTS, before = schedule->left[index];
	size_t *part = &schedule->parts_begun[index];

	schedule->left[index] -= secs * pace;
	for (; *part < MOMENTS; ++*part) {
		double left_then = step->wall_secs * trial_pace(schedule, index) *
				   (1 - (double)*part / (double)PARALLEL_PARTS);

		if (left_then < schedule->left[index] - ENDED_SECS)
			break;
		moments[*part] = schedule->now + fmin(fmax(0, before - left_then) / pace, secs);
	}
}

/* Goes on to the next end of a step. */
static void pass_time(struct schedule *schedule)
{
	const struct parallel_step *steps = schedule->parallel->steps;
	double asked = 0, share, next = INFINITY;
	size_t kept = 0;

	for (size_t i = 0; i < schedule->running_count; i++)
		asked += asked_cores(&steps[schedule->running[i]]);
	share = asked > schedule->parallel->cores ? schedule->parallel->cores / asked : 1;
	for (size_t i = 0; i < schedule->running_count; i++) {
		size_t index = schedule->running[i];

		next = fmin(next, schedule->left[index] / pace_of(&steps[index], share));
	}
	for (size_t i = 0; i < schedule->running_count; i++) {
		size_t index = schedule->running[i];

		run_step(schedule, index, next, pace_of(&steps[index], share));
		if (schedule->left[index] > ENDED_SECS)
			schedule->running[kept++] = index;
		else
			schedule->ended[index] = schedule->now + next;
	}
	schedule->now += next;
	schedule->running_count = kept;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

struct memory_change {
	double at;
	size_t step, part; /* `parts`: it ends */
	double own_mib;    /* by how much its own memory grows */
};

/* Memory that is freed at a moment counts before memory that is taken. */
static int by_moment(const void *left, const void *right)
{
	const struct memory_change *a = left, *b = right;
	int order = (a->at > b->at) - (a->at < b->at);

	return order ? order : (a->own_mib > b->own_mib) - (a->own_mib < b->own_mib);
}

/* Pages of files in a part of a step's time. They are a part of its peak where this counts all the time. */
static double files_in_part(const struct parallel_step *step, size_t part, size_t parts)
{
	return parts == 1 || part == parts ? 0 : step->files_mib[part];
}

static double own_memory(const struct parallel_step *step, size_t part, size_t parts)
{
	if (part == parts)
		return 0;
	return parts == 1 ? step->peak_mib : step->memory_mib[part] - step->files_mib[part];
}

/* Whether a step has the memory of the part before. A short one has fewer samples than parts. */
static bool is_as_before(const struct parallel_step *step, size_t part, size_t parts)
{
	return part && part < parts && step->memory_mib[part] == step->memory_mib[part - 1] &&
	       step->files_mib[part] == step->files_mib[part - 1];
}

/* Lists the changes of each step in its parts, or in the one of all its time. */
static size_t list_changes(const struct schedule *schedule, size_t parts, struct memory_change *ret_changes)
{
	size_t count = 0;

	for (size_t i = 0; i < schedule->parallel->count; i++) {
		const struct parallel_step *step = &schedule->parallel->steps[i];
		const double *moments = schedule->moments + i * MOMENTS;
		double secs = moments[PARALLEL_PARTS] - moments[0], before = 0;

		for (size_t part = 0; part <= parts && secs >= SHORTEST_SECS; part++) {
			double level = own_memory(step, part, parts);

			if (is_as_before(step, part, parts))
				continue;
			ret_changes[count++] = (struct memory_change){moments[part * PARALLEL_PARTS / parts],
								      i, part, level - before};
			before = level;
		}
	}
	qsort(ret_changes, count, sizeof(*ret_changes), by_moment);
	return count;
}

/* Follows which steps run: `running` of the schedule is free for it, because the schedule is done. */
static void follow_running(struct schedule *schedule, size_t step, bool begins)
{
	size_t place = 0;

	if (begins) {
		schedule->running[schedule->running_count++] = step;
		return;
	}
	while (schedule->running[place] != step)
		place++;
	schedule->running[place] = schedule->running[--schedule->running_count];
}

/*
 * Of the steps that run one program, the one with most pages of files counts. `left` has the present pages of each step, and `most_files`
 * of the first step with a program those that count. Returns by how much the sum over all programs grows.
 */
static double change_files(struct schedule *schedule, size_t step, double level)
{
	const struct parallel_step *steps = schedule->parallel->steps;
	size_t first = steps[step].first_alike;
	double before = schedule->left[step], most = schedule->most_files[first], now = fmax(most, level);

	schedule->left[step] = level;
	if (level < before && before >= most) {
		now = 0;
		for (size_t i = 0; i < schedule->running_count; i++)
			if (steps[schedule->running[i]].first_alike == first)
				now = fmax(now, schedule->left[schedule->running[i]]);
	}
	schedule->most_files[first] = now;
	return now - most;
}

/* The largest sum, and its moment. `parts` 1: each step has its peak all the time, and shares no page. */
static double most_memory(struct schedule *schedule, size_t parts, struct memory_change *changes,
			  double *ret_moment)
{
	const struct parallel_step *steps = schedule->parallel->steps;
	size_t count = list_changes(schedule, parts, changes);
	double sum = 0, most = 0;

	for (size_t i = 0; i < schedule->parallel->count; i++)
		schedule->left[i] = schedule->most_files[i] = 0;
	for (size_t i = 0; i < count; i++) {
		size_t step = changes[i].step, part = changes[i].part;

		if (part == 0 || part == parts)
			follow_running(schedule, step, part == 0);
		sum += changes[i].own_mib +
		       change_files(schedule, step, files_in_part(&steps[step], part, parts));
		if (sum > most) {
			most = sum;
			*ret_moment = changes[i].at;
		}
	}
	return most;
}

/* Names the largest of the steps that run at a moment: those with at least half of the largest one's peak. */
static void find_heavy(const struct schedule *schedule, double moment, struct parallel_plan *plan)
{
	const struct parallel *parallel = schedule->parallel;
	double largest = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < parallel->count; i++) {
			double peak = parallel->steps[i].peak_mib;

			if (schedule->began[i] > moment || schedule->ended[i] <= moment)
				continue;
			if (pass == 0)
				largest = fmax(largest, peak);
			else if (peak >= largest / 2 && plan->heavy_count < PARALLEL_NAMED)
				plan->heavy[plan->heavy_count++] = i;
		}
	}
}

/* Room for one simulation after the other. */
struct simulation_room {
	double *left, *began, *ended, *moments, *most_files, *pace;
	size_t *running, *order, *parts_begun;
	struct memory_change *changes;
};

static void free_simulation_room(struct simulation_room *room)
{
	free(room->left);
	free(room->began);
	free(room->ended);
	free(room->moments);
	free(room->parts_begun);
	free(room->most_files);
	free(room->pace);
	free(room->running);
	free(room->order);
	free(room->changes);
}

static bool make_simulation_room(size_t count, struct simulation_room *ret_room)
{
	struct simulation_room room = {
		.left = calloc(count + 1, sizeof(*room.left)),
		.began = calloc(count + 1, sizeof(*room.began)),
		.ended = calloc(count + 1, sizeof(*room.ended)),
		.moments = calloc(count * MOMENTS + 1, sizeof(*room.moments)),
		.parts_begun = calloc(count + 1, sizeof(*room.parts_begun)),
		.most_files = calloc(count + 1, sizeof(*room.most_files)),
		.pace = calloc(count + 1, sizeof(*room.pace)),
		.running = calloc(count + 1, sizeof(*room.running)),
		.order = calloc(count + 1, sizeof(*room.order)),
		.changes = calloc(count * MOMENTS + 1, sizeof(*room.changes)),
	};

	*ret_room = room;
	return room.left && room.began && room.ended && room.moments && room.parts_begun && room.most_files &&
	       room.pace && room.running && room.order && room.changes;
}

/* The numbers of SplitMix64 (Steele, Lea and Flood, 2014): the same in each call. */
static uint64_t next_number(uint64_t *state)
{
	uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15);

	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

/* The recorded order, and another time for each step. */
static void set_trial(struct simulation_room *room, size_t count, uint64_t trial)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t number = next_number(&trial);

		room->order[i] = i;
		room->pace[i] = 1 + TRIAL_SPREAD * (2 * ((double)(number >> 11) * 0x1p-53) - 1);
	}
}

static void shuffle_order(struct simulation_room *room, size_t count, uint64_t trial)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)(next_number(&trial) % i), kept = room->order[i - 1];

		room->order[i - 1] = room->order[other];
		room->order[other] = kept;
	}
}

static void play_steps(const struct parallel *parallel, size_t jobs, struct simulation_room *room,
		       bool has_pace, struct parallel_plan *plan)
{
	struct schedule schedule = {.parallel = parallel,
				    .order = room->order,
				    .pace = has_pace ? room->pace : NULL,
				    .left = room->left,
				    .began = room->began,
				    .ended = room->ended,
				    .moments = room->moments,
				    .parts_begun = room->parts_begun,
				    .most_files = room->most_files,
				    .running = room->running,
				    .jobs = jobs};
	double moment = 0;

	for (size_t i = 0; i < parallel->count; i++)
		room->began[i] = room->ended[i] = NAN;
	for (start_ready_steps(&schedule); schedule.running_count; start_ready_steps(&schedule))
		pass_time(&schedule);
	*plan = (struct parallel_plan){.jobs = jobs, .wall_secs = schedule.now};
	plan->peak_mib = most_memory(&schedule, PARALLEL_PARTS, room->changes, &moment);
	plan->bound_mib = most_memory(&schedule, 1, room->changes, &moment);
	find_heavy(&schedule, moment, plan);
}

static void plan_jobs(const struct parallel *parallel, size_t jobs, struct simulation_room *room,
		      struct parallel_plan *ret_plan)
{
	struct parallel_plan plan, trial;

	set_trial(room, parallel->count, 0);
	play_steps(parallel, jobs, room, false, &plan);
	plan.wall_least_secs = plan.wall_most_secs = plan.wall_secs;
	plan.peak_least_mib = plan.peak_most_mib = plan.peak_mib;
	for (uint64_t i = 0; i < PARALLEL_TRIALS; i++) {
		set_trial(room, parallel->count, i);
		if (i % 2)
			shuffle_order(room, parallel->count, ~i);
		play_steps(parallel, jobs, room, true, &trial);
		plan.wall_least_secs = fmin(plan.wall_least_secs, trial.wall_secs);
		plan.wall_most_secs = fmax(plan.wall_most_secs, trial.wall_secs);
		plan.peak_least_mib = fmin(plan.peak_least_mib, trial.peak_mib);
		plan.peak_most_mib = fmax(plan.peak_most_mib, trial.peak_mib);
		/* The steps that would meet are named as well. */
		if (trial.bound_mib > plan.bound_mib) {
			plan.bound_mib = trial.bound_mib;
			plan.heavy_count = trial.heavy_count;
			memcpy(plan.heavy, trial.heavy, sizeof(plan.heavy));
		}
	}
	*ret_plan = plan;
}

/* ---- the choice -------------------------------------------------------------------------------------- */

static int find_chain(struct parallel *parallel)
{
	CLEANUP_FREE double *until = calloc(parallel->count + 1, sizeof(*until));

	if (!until)
		return -ENOMEM;
	parallel->chain_secs = 0;
	for (size_t i = 0; i < parallel->count; i++) {
		const struct parallel_step *step = &parallel->steps[i];

		for (size_t j = 0; j < step->need_count; j++)
			until[i] = fmax(until[i], until[step->needs[j]]);
		until[i] += seconds_of(step);
		parallel->chain_secs = fmax(parallel->chain_secs, until[i]);
	}
	return 0;
}

static bool plan_fits(const struct parallel *parallel, const struct parallel_plan *plan)
{
	return !(plan->bound_mib > parallel->memory_mib);
}

/* For a best plan that more memory or a shorter chain would not make faster. */
static enum parallel_limit limit_of_best(struct parallel *parallel)
{
	const struct parallel_plan *best = &parallel->plans[parallel->best];
	double cpu_secs = 0;

	for (size_t i = 0; i < parallel->count; i++)
		cpu_secs += parallel->steps[i].cpu_secs;
	parallel->busy = cpu_secs / (best->wall_secs * parallel->cores);
	if (best->jobs >= parallel->count)
		return LIMIT_STEPS;
	if (parallel->busy >= BUSY_CORES)
		return LIMIT_CORES;
	return (double)best->jobs >= LAST_PLANS * (double)parallel->plan_count ? LIMIT_PLANS : LIMIT_TURNS;
}

static void choose_plan(struct parallel *parallel)
{
	const struct parallel_plan *plans = parallel->plans;
	double fastest = INFINITY;

	for (size_t i = 0; i < parallel->plan_count; i++)
		if (plan_fits(parallel, &plans[i]))
			fastest = fmin(fastest, plans[i].wall_secs);
	parallel->best = parallel->blocked = parallel->plan_count;
	for (size_t i = parallel->plan_count; i-- > 0;)
		if (plan_fits(parallel, &plans[i]) && plans[i].wall_secs <= fastest * PARALLEL_SAME)
			parallel->best = i;
	/* The first number of jobs that would be faster and does not fit. */
	for (size_t i = parallel->plan_count; i-- > 0;)
		if (!plan_fits(parallel, &plans[i]) && plans[i].wall_secs * PARALLEL_SAME < fastest)
			parallel->blocked = i;
	if (parallel->blocked < parallel->plan_count || parallel->best == parallel->plan_count)
		parallel->limit = LIMIT_MEMORY;
	else if (fastest <= parallel->chain_secs * PARALLEL_SAME)
		parallel->limit = LIMIT_CHAIN;
	else
		parallel->limit = limit_of_best(parallel);
}

static void find_alike(struct parallel *parallel)
{
	struct parallel_step *steps = parallel->steps;

	for (size_t i = 0; i < parallel->count; i++) {
		steps[i].first_alike = *steps[i].program ? 0 : i;
		while (strcmp(steps[steps[i].first_alike].program, steps[i].program) != 0)
			steps[i].first_alike++;
	}
}

int parallel_choose(struct parallel *parallel, double cores, double memory_mib)
{
	size_t most = (size_t)fmin(2 * ceil(cores), (double)PARALLEL_JOBS_MOST);
	struct simulation_room room;
	int result = make_simulation_room(parallel->count, &room) ? find_chain(parallel) : -ENOMEM;

	if (result == 0) {
		find_alike(parallel);
		parallel->cores = cores;
		parallel->memory_mib = memory_mib;
		for (size_t i = 0; i < most; i++)
			plan_jobs(parallel, i + 1, &room, &parallel->plans[i]);
		parallel->plan_count = most;
		choose_plan(parallel);
	}
	free_simulation_room(&room);
	return result;
}
