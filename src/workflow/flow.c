/* Computes a workflow from its steps. See flow.h. */
#include "workflow/flow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "workflow/flow_tuning.h"

/* ---- which step was before which -------------------------------------------------------------------- */

static int by_end_then_start(const void *left, const void *right, void *context)
{
	const struct steps *steps = context;
	size_t i = *(const size_t *)left, j = *(const size_t *)right;
	double a = steps->list[i].ended, b = steps->list[j].ended;

	return a != b ? (a > b) - (a < b) : (i > j) - (i < j);
}

size_t *flow_by_end(const struct steps *steps)
{
	size_t *order = calloc(steps->count + 1, sizeof(*order));

	for (size_t i = 0; order && i < steps->count; i++)
		order[i] = i;
	if (order)
		qsort_r(order, steps->count, sizeof(*order), by_end_then_start, (void *)(uintptr_t)steps);
	return order;
}

long flow_step_before(const struct steps *steps, const size_t *by_end, size_t index, double moment)
{
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (steps->list[by_end[middle]].ended <= moment + CLOCKS_APART_SECS)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0)
		if (by_end[--low] < index)
			return (long)by_end[low];
	return FLOW_NONE;
}

static void find_befores(struct rt_workflow *flow, const size_t *by_end)
{
	for (size_t i = 0; i < flow->steps.count; i++) {
		double began = flow->steps.list[i].started;
		long before = flow_step_before(&flow->steps, by_end, i, began);

		flow->places[i].before = before;
		flow->places[i].gap_secs =
			began - (before < 0 ? flow->began : flow->steps.list[before].ended);
	}
}

static int smaller_gap(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int find_turnover(struct rt_workflow *flow)
{
	CLEANUP_FREE double *gaps = calloc(flow->steps.count + 1, sizeof(*gaps));
	size_t count = 0;

	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i < flow->steps.count; i++)
		if (flow->places[i].before >= 0)
			gaps[count++] = flow->places[i].gap_secs;
	qsort(gaps, count, sizeof(*gaps), smaller_gap);
	flow->turnover_secs = fmax(TURNOVER_LEAST_SECS, count ? TURNOVER_GAPS * gaps[count / 2] : 0);
	return 0;
}

/* From the last end back to a step that waited for none. */
static void find_path(struct rt_workflow *flow, const size_t *by_end)
{
	long at = (long)by_end[flow->steps.count - 1];

	for (; at >= 0; at = flow->places[at].before) {
		flow->places[at].on_path = true;
		flow->path[flow->path_count++] = (size_t)at;
		flow->path_secs += flow->steps.list[at].wall_secs;
	}
	for (size_t i = 0; i < flow->path_count / 2; i++) {
		size_t other = flow->path[flow->path_count - 1 - i];

		flow->path[flow->path_count - 1 - i] = flow->path[i];
		flow->path[i] = other;
	}
}

/*
 * Any step that began after the end of another may have waited for it, so the slack is up to the first of them, and beyond it
 * as much as that one has itself. `least` holds the earliest such moment of the steps from each place on.
 */
static int find_slacks(struct rt_workflow *flow)
{
	const struct flow_step *list = flow->steps.list;
	size_t count = flow->steps.count;
	CLEANUP_FREE double *least = calloc(count + 1, sizeof(*least));

	if (!least)
		return -ENOMEM;
	least[count] = flow->ended;
	for (size_t i = count; i-- > 0;) {
		size_t low = i + 1, high = count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (list[middle].started + CLOCKS_APART_SECS < list[i].ended)
				low = middle + 1;
			else
				high = middle;
		}
		flow->places[i].slack_secs =
			flow->places[i].on_path ? 0 : fmax(0, least[low] - list[i].ended);
		least[i] = fmin(least[i + 1], list[i].started + flow->places[i].slack_secs);
	}
	return 0;
}

/* ---- hosts and their lanes --------------------------------------------------------------------------- */

static struct flow_host *host_of(struct rt_workflow *flow, const struct flow_step *step)
{
	struct flow_host *host = NULL;

	for (size_t i = 0; i < flow->host_count && !host; i++)
		if (strcmp(flow->hosts[i].name, step->host) == 0)
			host = &flow->hosts[i];
	if (!host) {
		host = &flow->hosts[flow->host_count++];
		*host = (struct flow_host){.name = step->host, .cores = NAN, .memory_mib = NAN};
	}
	host->cores = fmax(host->cores, step->cores_limit);
	host->memory_mib = fmax(host->memory_mib, step->memory_limit_mib);
	return host;
}

/* A step takes the first lane that is free. Most is in use at once when a step starts. */
static int find_lanes(struct rt_workflow *flow)
{
	size_t count = flow->steps.count, lanes = 0;
	CLEANUP_FREE size_t *on_lane = calloc(count + 1, sizeof(*on_lane)); /* its last step */

	if (!on_lane)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct flow_step *step = &flow->steps.list[i];
		struct flow_host *host = host_of(flow, step);
		double cores = 0, memory = 0, given = flow_cores_taken(step);
		size_t free_lane = lanes, running = 1, own_lane = 0;

		for (size_t lane = 0; lane < lanes; lane++) {
			const struct flow_step *other = &flow->steps.list[on_lane[lane]];
			bool is_running = other->ended > step->started + CLOCKS_APART_SECS;

			running += is_running;
			given += is_running ? flow_cores_taken(other) : 0;
			if (strcmp(other->host, step->host) != 0)
				continue;
			if (!is_running && free_lane == lanes) {
				free_lane = lane;
				own_lane = flow->places[on_lane[lane]].lane;
			}
			cores += is_running && !isnan(other->cores_mean) ? other->cores_mean : 0;
			memory += is_running && !isnan(other->memory_peak_mib) ? other->memory_peak_mib : 0;
		}
		flow->cores_given = fmax(flow->cores_given, given);
		flow->slots = running > flow->slots ? running : flow->slots;
		host->cores_most = fmax(host->cores_most, cores + fmax(step->cores_mean, 0));
		host->memory_most = fmax(host->memory_most, memory + fmax(step->memory_peak_mib, 0));
		flow->places[i].lane = free_lane < lanes ? own_lane : host->lanes++;
		on_lane[free_lane] = i;
		lanes += free_lane == lanes;
	}
	return 0;
}

/* ---- rules ------------------------------------------------------------------------------------------- */

static void add_if_known(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

/* NaN if one of them is unknown. A step may use more than it asked for. */
static double idle_part(double asked, double used)
{
	return asked < used ? 0 : asked - used;
}

static void add_to_rule(struct flow_rule *rule, const struct flow_step *step, const struct flow_place *place)
{
	double hours = step->wall_secs / 3600, gib = 1024;

	rule->steps++;
	rule->failed += !flow_step_is_good(step);
	rule->repeated += step->attempt > 1;
	rule->on_path += place->on_path;
	rule->wall_secs += step->wall_secs;
	rule->path_secs += place->on_path ? step->wall_secs : 0;
	add_if_known(&rule->cpu_secs, step->cpu_secs);
	rule->longest_secs = fmax(rule->longest_secs, step->wall_secs);
	rule->memory_peak_mib = fmax(rule->memory_peak_mib, step->memory_peak_mib);
	rule->cores_asked = fmax(rule->cores_asked, step->cores_asked);
	rule->memory_asked_mib = fmax(rule->memory_asked_mib, step->memory_asked_mib);
	add_if_known(&rule->asked_core_secs, step->cores_asked * step->wall_secs);
	add_if_known(&rule->idle_core_secs, idle_part(step->cores_asked * step->wall_secs, step->cpu_secs));
	add_if_known(&rule->asked_gib_hours, step->memory_asked_mib / gib * hours);
	add_if_known(&rule->idle_gib_hours,
		     idle_part(step->memory_asked_mib, step->memory_peak_mib) / gib * hours);
}

static int by_rule_name(const void *left, const void *right, void *context)
{
	const struct steps *steps = context;
	size_t i = *(const size_t *)left, j = *(const size_t *)right;
	int order = strcmp(steps->list[i].rule, steps->list[j].rule);

	return order ? order : (i > j) - (i < j);
}

static int by_weight(const void *left, const void *right)
{
	const struct flow_rule *a = left, *b = right;

	if (a->path_secs != b->path_secs)
		return a->path_secs < b->path_secs ? 1 : -1;
	if (a->wall_secs != b->wall_secs)
		return a->wall_secs < b->wall_secs ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void find_rules(struct rt_workflow *flow, size_t *order)
{
	struct flow_rule *rule = NULL;

	qsort_r(order, flow->steps.count, sizeof(*order), by_rule_name, &flow->steps);
	for (size_t i = 0; i < flow->steps.count; i++) {
		const struct flow_step *step = &flow->steps.list[order[i]];

		if (!rule || strcmp(rule->name, step->rule) != 0) {
			rule = &flow->rules[flow->rule_count++];
			*rule = (struct flow_rule){.name = step->rule,
						   .cpu_secs = NAN,
						   .memory_peak_mib = NAN,
						   .cores_asked = NAN,
						   .memory_asked_mib = NAN,
						   .asked_core_secs = NAN,
						   .idle_core_secs = NAN,
						   .asked_gib_hours = NAN,
						   .idle_gib_hours = NAN};
		}
		add_to_rule(rule, step, &flow->places[order[i]]);
	}
	qsort(flow->rules, flow->rule_count, sizeof(*flow->rules), by_weight);
}

static void add_flow_totals(struct rt_workflow *flow)
{
	flow->began = flow->steps.list[0].started;
	flow->ended = flow->began;
	flow->cpu_secs = NAN;
	for (size_t i = 0; i < flow->steps.count; i++) {
		const struct flow_step *step = &flow->steps.list[i];

		flow->ended = fmax(flow->ended, step->ended);
		flow->failed += !flow_step_is_good(step);
		flow->repeated += step->attempt > 1;
		add_if_known(&flow->cpu_secs, step->cpu_secs);
	}
	flow->wall_secs = flow->ended - flow->began;
}

int flow_compute(struct rt_workflow *flow)
{
	size_t count = flow->steps.count;
	CLEANUP_FREE size_t *by_end = flow_by_end(&flow->steps);

	flow->places = calloc(count + 1, sizeof(*flow->places));
	flow->path = calloc(count + 1, sizeof(*flow->path));
	flow->hosts = calloc(count + 1, sizeof(*flow->hosts));
	flow->rules = calloc(count + 1, sizeof(*flow->rules));
	if (!by_end || !flow->places || !flow->path || !flow->hosts || !flow->rules)
		return -ENOMEM;
	add_flow_totals(flow);
	find_befores(flow, by_end);
	if (flow_find_needs(flow) < 0 || find_turnover(flow) < 0 || find_lanes(flow) < 0)
		return -ENOMEM;
	flow_wait_for_needs(flow);
	find_path(flow, by_end);
	if (find_slacks(flow) < 0)
		return -ENOMEM;
	find_rules(flow, by_end);
	return flow_find_ranks(flow);
}
