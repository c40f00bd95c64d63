/* Finds which steps a step needs, where it tells that: the words of its tag "needs" are names of what others make. See flow.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "workflow/flow.h"
#include "workflow/flow_tuning.h"
#include "workflow/step_names.h"

/* A target of make is its own name. */
static const char *made_by(const struct flow_step *step)
{
	if (step->makes)
		return step->makes;
	return *step->task ? step->task : step->rule;
}

static int collect_names(struct step_names *names, const struct steps *steps)
{
	int result = 0;

	for (size_t i = 0; i < steps->count && result == 0; i++) {
		const char *name = made_by(&steps->list[i]);

		result = steps->list[i].makes ? step_names_add_words(names, name, i)
					      : step_names_add(names, scan_bytes(name, strlen(name)), i);
	}
	step_names_sort(names);
	return result;
}

static int add_flow_need(struct rt_workflow *flow, size_t index, size_t need)
{
	size_t *needs = flow->needs;

	/* Twice as much room at each power of 2. */
	if ((flow->needs_count & (flow->needs_count - 1)) == 0)
		needs = reallocarray(needs, 2 * flow->needs_count + 1, sizeof(*needs));
	if (!needs)
		return -ENOMEM;
	flow->needs = needs;
	needs[flow->needs_count++] = need;
	flow->places[index].need_count++;
	return 0;
}

/* `seen` has for each step the last one, from 1, that was found to need it. */
static int take_step_before(struct rt_workflow *flow, size_t index, size_t maker, size_t *seen)
{
	if (maker == SIZE_MAX || seen[maker] == index + 1 ||
	    flow->steps.list[maker].ended > flow->steps.list[index].started + CLOCKS_APART_SECS)
		return 0;
	seen[maker] = index + 1;
	return add_flow_need(flow, index, maker);
}

/* Takes the step that made a name. */
static int take_need(struct rt_workflow *flow, const struct step_names *names, size_t index, struct scan name,
		     size_t *seen)
{
	return take_step_before(flow, index, step_names_find(names, name, index), seen);
}

/*
 * The step before that made the same is needed as well: the line above in the recipe of a target, or an attempt that failed. One of
 * Nextflow had a folder of its own.
 */
static int find_flow_needs_of(struct rt_workflow *flow, const struct step_names *names, size_t index,
			      size_t *seen)
{
	const struct flow_step *step = &flow->steps.list[index];
	const char *made = made_by(step);
	struct scan needs, makes = scan_bytes(made, strlen(made)), word;
	int result = 0;

	flow->places[index].first_need = flow->needs_count;
	if (!step->needs)
		return 0;
	if (step->attempt > 1)
		result = take_step_before(flow, index, step->failed_before, seen);
	needs = scan_bytes(step->needs, strlen(step->needs));
	while (result == 0 && scan_word(&needs, &word))
		result = take_need(flow, names, index, word, seen);
	if (result == 0 && !step->makes)
		return take_need(flow, names, index, makes, seen);
	while (result == 0 && scan_word(&makes, &word))
		result = take_need(flow, names, index, word, seen);
	return result;
}

int flow_find_needs(struct rt_workflow *flow)
{
	CLEANUP_STEP_NAMES struct step_names names = {0};
	CLEANUP_FREE size_t *seen = calloc(flow->steps.count + 1, sizeof(*seen));
	int result = seen ? collect_names(&names, &flow->steps) : -ENOMEM;

	for (size_t i = 0; i < flow->steps.count && result == 0; i++)
		result = find_flow_needs_of(flow, &names, i, seen);
	return result;
}

/* ---- for what a step waited ---------------------------------------------------------------------------- */

bool flow_tells_needs(const struct rt_workflow *flow, size_t index)
{
	const char *needs = flow->steps.list[index].needs;

	return needs && (flow->places[index].need_count || !needs[strspn(needs, " ")]);
}

long flow_last_need(const struct rt_workflow *flow, size_t index)
{
	const struct flow_place *place = &flow->places[index];
	long last = FLOW_NONE;

	for (size_t i = 0; i < place->need_count; i++) {
		size_t need = flow->needs[place->first_need + i];

		if (last < 0 || flow->steps.list[need].ended > flow->steps.list[last].ended)
			last = (long)need;
	}
	return last;
}

double flow_needs_done(const struct rt_workflow *flow, size_t index)
{
	long need = flow_last_need(flow, index);

	if (!flow_tells_needs(flow, index))
		return NAN;
	return need < 0 ? flow->began : flow->steps.list[need].ended;
}

double flow_cores_taken(const struct flow_step *step)
{
	return step->cores_asked > 0 ? step->cores_asked : 1;
}

/* Whether step `index` had begun at a moment, or there was room for it. */
static bool had_room_at(const struct rt_workflow *flow, size_t index, double moment)
{
	const struct flow_step *list = flow->steps.list;
	double cores = flow_cores_taken(&list[index]);

	if (list[index].started <= moment)
		return true;
	for (size_t i = 0; i < flow->steps.count && list[i].started <= moment; i++)
		cores += list[i].ended > moment ? flow_cores_taken(&list[i]) : 0;
	return cores <= flow->cores_given;
}

void flow_wait_for_needs(struct rt_workflow *flow)
{
	for (size_t i = 0; i < flow->steps.count; i++) {
		struct flow_place *place = &flow->places[i];
		double done = flow_needs_done(flow, i);

		place->had_room = !isnan(done) && had_room_at(flow, i, done + flow->turnover_secs);
		if (!place->had_room)
			continue;
		place->before = flow_last_need(flow, i);
		place->gap_secs = flow->steps.list[i].started - done;
	}
}
