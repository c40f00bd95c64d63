/* The ranks of a parallel program: how far apart they are, and the one that the others waited for. See flow.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "workflow/flow.h"
#include "workflow/flow_tuning.h"

#define SECS_PER_HOUR 3600.0

static const json_t *rank_of(const struct flow_step *step)
{
	return json_object_get(step->line, "rank");
}

static int by_name_then_start(const void *left, const void *right, void *context)
{
	const struct steps *steps = context;
	size_t i = *(const size_t *)left, j = *(const size_t *)right;
	int order = strcmp(steps->list[i].rule, steps->list[j].rule);

	order = order ? order : strcmp(steps->list[i].task, steps->list[j].task);
	return order ? order : (i > j) - (i < j);
}

static double flow_wall_secs(const struct flow_step *step)
{
	return step->wall_secs;
}

static double flow_cpu_secs(const struct flow_step *step)
{
	return step->cpu_secs;
}

static double flow_memory_mib(const struct flow_step *step)
{
	return step->memory_peak_mib;
}

static double flow_gpu_mean(const struct flow_step *step)
{
	return step->gpu_mean;
}

static double flow_gpu_held_idle_secs(const struct flow_step *step)
{
	return step->gpu_held_idle_hours * SECS_PER_HOUR;
}

static int by_rank_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* NaN if the value of one rank is unknown: a rank that is left out may be the straggler. */
static struct flow_spread spread_of(const struct rt_workflow *flow, const size_t *members, size_t count,
				    double (*value_of)(const struct flow_step *), double *room)
{
	struct flow_spread spread = {NAN, NAN, NAN, FLOW_NONE};

	for (size_t i = 0; i < count; i++) {
		room[i] = value_of(&flow->steps.list[members[i]]);
		if (isnan(room[i]))
			return (struct flow_spread){NAN, NAN, NAN, FLOW_NONE};
		if (!(room[i] <= spread.most)) {
			spread.most = room[i];
			spread.step = (long)members[i];
		}
	}
	qsort(room, count, sizeof(*room), by_rank_value);
	spread.least = room[0];
	spread.median = (room[(count - 1) / 2] + room[count / 2]) / 2;
	return spread;
}

static double part_over_median(const struct flow_spread *spread)
{
	return spread->median > 0 ? spread->most / spread->median - 1 : 0;
}

/*
 * The rank that ended last, if it stands out. Ranks that wait for each other at the end all end at once: then the one that computed
 * longest, as long as the others sleep while they wait.
 */
static void find_straggler(struct flow_ranks *ranks)
{
	const struct flow_spread *by =
		part_over_median(&ranks->wall_secs) >= STRAGGLER_LEAST  ? &ranks->wall_secs
		: part_over_median(&ranks->cpu_secs) >= STRAGGLER_LEAST ? &ranks->cpu_secs
									: NULL;

	ranks->straggler = by ? by->step : FLOW_NONE;
	ranks->by_cpu = by == &ranks->cpu_secs;
	ranks->over = by ? part_over_median(by) : NAN;
}

static bool has_rank(const struct steps *steps, const size_t *members, size_t count, const json_t *rank)
{
	for (size_t i = 0; i < count; i++)
		if (json_equal(rank_of(&steps->list[members[i]]), rank))
			return true;
	return false;
}

/* Whether a step is one more rank of the program that these members are. */
static bool belongs_to(const struct steps *steps, const size_t *members, size_t count, size_t index)
{
	const struct flow_step *first = &steps->list[members[0]], *step = &steps->list[index];
	double ended = 0;

	for (size_t i = 0; i < count; i++)
		ended = fmax(ended, steps->list[members[i]].ended);
	return strcmp(first->rule, step->rule) == 0 && strcmp(first->task, step->task) == 0 &&
	       step->started <= ended + CLOCKS_APART_SECS && !has_rank(steps, members, count, rank_of(step));
}

static void add_set_of_ranks(struct rt_workflow *flow, const size_t *members, size_t count, double *room)
{
	struct flow_ranks *ranks = &flow->ranks[flow->ranks_count];

	if (count < 2)
		return;
	*ranks = (struct flow_ranks){
		.rule = flow->steps.list[members[0]].rule,
		.task = flow->steps.list[members[0]].task,
		.count = count,
		.wall_secs = spread_of(flow, members, count, flow_wall_secs, room),
		.cpu_secs = spread_of(flow, members, count, flow_cpu_secs, room),
		.memory_mib = spread_of(flow, members, count, flow_memory_mib, room),
		.gpu_mean = spread_of(flow, members, count, flow_gpu_mean, room),
		.gpu_held_idle_secs = spread_of(flow, members, count, flow_gpu_held_idle_secs, room),
	};
	find_straggler(ranks);
	flow->ranks_count++;
}

int flow_find_ranks(struct rt_workflow *flow)
{
	size_t count = 0, first = 0;
	CLEANUP_FREE size_t *order = calloc(flow->steps.count + 1, sizeof(*order));
	CLEANUP_FREE double *room = calloc(flow->steps.count + 1, sizeof(*room));

	flow->ranks = calloc(flow->steps.count / 2 + 1, sizeof(*flow->ranks));
	if (!order || !room || !flow->ranks)
		return -ENOMEM;
	for (size_t i = 0; i < flow->steps.count; i++)
		if (json_is_integer(rank_of(&flow->steps.list[i])))
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), by_name_then_start, &flow->steps);
	for (size_t i = 1; i <= count; i++)
		if (i == count || !belongs_to(&flow->steps, order + first, i - first, order[i])) {
			add_set_of_ranks(flow, order + first, i - first, room);
			first = i;
		}
	return 0;
}
