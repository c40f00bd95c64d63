/*
 * Finds recordings that are ranks of one job, and combines them; see recommend.h.
 *
 * Ranks of one job share the scheduler's ids of job and step or, without a scheduler, ran at the same time;
 * each has its own rank. A scheduler limits memory per host, so the memory of all ranks on a host is summed.
 * A rank without a recording counts with the average of the recorded ones:
 *
 *   SLURM_NTASKS=4, recorded on one host: ranks 0 and 1 with 300 and 500 MiB: 1600 MiB
 */
#include "recommend/recommend.h"

#include <stdlib.h>
#include <string.h>

static bool at_the_same_time(const struct evidence *one, const struct evidence *other)
{
	double begin = fmax(one->started, other->started),
	       end = fmin(one->started + one->secs, other->started + other->secs);

	return end - begin >= 0.5 * fmin(one->secs, other->secs);
}

static bool is_part_of(const struct evidence *one, const struct evidence *other)
{
	if (one->rank < 0 || other->rank < 0 || one->rank == other->rank)
		return false;
	return (*one->job || *other->job) ? strcmp(one->job, other->job) == 0 : at_the_same_time(one, other);
}

/*
 * If the group already has this rank, the recording belongs to another run: the scheduler started the job
 * again.
 */
static bool fits_group(const struct runs *runs, const size_t *group, size_t count, size_t number,
		       const struct evidence *evidence)
{
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		if (group[i] != number)
			continue;
		if (!is_part_of(&runs->list[i].evidence, evidence))
			return false;
		found = true;
	}
	return found;
}

size_t find_groups(const struct runs *runs, size_t *group)
{
	size_t groups = 0;

	for (size_t i = 0; i < runs->count; i++) {
		size_t number = 0;

		while (number < groups && !fits_group(runs, group, i, number, &runs->list[i].evidence))
			number++;
		group[i] = number;
		groups += number == groups;
	}
	return groups;
}

/* The members of a group on one host. */
struct host {
	double peak_mib, mean_cores, max_cores;
	size_t members;
};

static double add_known(double sum, double value)
{
	return isnan(value) ? sum : (isnan(sum) ? 0 : sum) + value;
}

static struct host add_host(const struct runs *runs, const size_t *group, size_t number, const char *name)
{
	struct host host = {NAN, NAN, NAN, 0};

	for (size_t i = 0; i < runs->count; i++) {
		const struct evidence *one = &runs->list[i].evidence;

		if (group[i] != number || strcmp(one->host, name) != 0)
			continue;
		host.peak_mib = add_known(host.peak_mib, peak_of(one));
		host.mean_cores = add_known(host.mean_cores, one->mean_cores);
		host.max_cores = add_known(host.max_cores, one->max_cores);
		host.members++;
	}
	return host;
}

static bool is_first_of_host(const struct runs *runs, const size_t *group, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (group[i] == group[index] &&
		    strcmp(runs->list[i].evidence.host, runs->list[index].evidence.host) == 0)
			return false;
	return true;
}

/* Combines values that do not depend on the member's host. */
static void add_member(struct evidence *all, const struct evidence *one)
{
	all->process_peak_mib = larger_known(all->process_peak_mib, one->process_peak_mib);
	all->between_peak_mib = larger_known(all->between_peak_mib, one->between_peak_mib);
	all->busy_cores = larger_known(all->busy_cores, one->busy_cores);
	all->p95_cores = larger_known(all->p95_cores, one->p95_cores);
	all->max_gpus = add_known(all->max_gpus, one->max_gpus);
	all->vram_peak_mib = larger_known(all->vram_peak_mib, one->vram_peak_mib);
	all->kernel_mib += one->kernel_mib;
	all->swapped |= one->swapped;
	all->good &= one->good;
	if (one->oom_floor_mib > all->oom_floor_mib) {
		all->oom = one->oom;
		all->oom_had_mib = one->oom_had_mib;
		all->oom_floor_mib = one->oom_floor_mib;
	}
}

static size_t divide_up(size_t count, size_t by)
{
	return by ? (count + by - 1) / by : count;
}

/* Tasks without a recording count as the average of the others. */
static void add_missing_tasks(struct evidence *all, struct ranks *ranks, size_t recorded_on_host)
{
	double factor;

	if (all->nodes > (int64_t)ranks->hosts)
		ranks->hosts = (size_t)all->nodes;
	if (all->tasks > (int64_t)ranks->tasks)
		ranks->tasks = (size_t)all->tasks;
	ranks->tasks_on_host = divide_up(ranks->tasks, ranks->hosts);
	if (ranks->tasks_on_host < recorded_on_host)
		ranks->tasks_on_host = recorded_on_host;
	if (!all->is_one_task && ranks->recorded == 1) {
		/* A recording of a script that starts the tasks covers all of its host. */
		ranks->recorded = ranks->tasks;
		ranks->tasks_per_recording = ranks->tasks_on_host;
	}
	if (!all->is_one_task)
		return;
	factor = (double)ranks->tasks_on_host / (double)recorded_on_host;
	all->sampled_peak_mib = (factor > 1 ? peak_of(all) : all->sampled_peak_mib) * factor;
	all->mean_cores *= factor;
	all->max_cores *= factor;
}

struct evidence join_group(const struct runs *runs, const size_t *group, size_t number,
			   struct ranks *ret_ranks)
{
	struct evidence all = {.rank = -1};
	struct ranks ranks = {.tasks_per_recording = 1, .task_cpus = -1, .task_memory_mib = NAN};
	struct host busiest = {NAN, NAN, NAN, 0};

	for (size_t i = 0; i < runs->count; i++) {
		const struct evidence *one = &runs->list[i].evidence;
		struct host host;

		if (group[i] != number)
			continue;
		if (!ranks.recorded++)
			all = *one;
		else
			add_member(&all, one);
		ranks.task_memory_mib = larger_known(ranks.task_memory_mib, peak_of(one));
		if (!is_first_of_host(runs, group, i))
			continue;
		ranks.hosts++;
		host = add_host(runs, group, number, one->host);
		busiest.peak_mib = larger_known(busiest.peak_mib, host.peak_mib);
		busiest.mean_cores = larger_known(busiest.mean_cores, host.mean_cores);
		busiest.max_cores = larger_known(busiest.max_cores, host.max_cores);
		busiest.members = host.members > busiest.members ? host.members : busiest.members;
	}
	ranks.tasks = ranks.recorded;
	if (ranks.recorded > 1) {
		all.sampled_peak_mib = busiest.peak_mib;
		all.mean_cores = busiest.mean_cores;
		all.max_cores = busiest.max_cores;
	}
	add_missing_tasks(&all, &ranks, busiest.members);
	*ret_ranks = ranks;
	return all;
}

static double zero_if_unknown(double value)
{
	return isnan(value) ? 0 : value;
}

struct part_of_machine siblings_of_first(const struct runs *runs, const size_t *group)
{
	struct part_of_machine sum = {0};

	for (size_t i = 1; i < runs->count; i++) {
		const struct advice_run *run = &runs->list[i];

		if (group[i] != group[0] || !run->summary ||
		    strcmp(run->evidence.host, runs->list[0].evidence.host) != 0)
			continue;
		sum.cores += zero_if_unknown(figure_mean(&run->summary->facts.cores));
		sum.memory_mib += zero_if_unknown(figure_mean(&run->summary->facts.memory));
		sum.gpus += zero_if_unknown(figure_mean(&run->summary->facts.gpu_usage));
		sum.vram_mib += zero_if_unknown(figure_mean(&run->summary->facts.gpu_vram_mib));
	}
	return sum;
}
