/* Finds the evidence in one recording. See recommend.h. */
#include "recommend/recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "verdict/bottleneck.h"
#include "base/cleanup.h"
#include "base/plain_print.h"
#include "table/stats.h"

static const double SHORTEST_SECS = 1, GROWTH = 2, MARGIN = 1.2, OOM_LEAST_MIB = 100;
/* A process may grow and be killed between two samples, which then show only half of it. */
static const double NEAR_LIMIT = 0.5;
static const double MIB_SWAPPED = 1, P99 = 0.99, P95 = 0.95;
/* A single thread on a busy machine runs and waits for all of the time, give or take this. */
static const double STARVED_SHARE = 0.2, BUSY_SHARE = 0.9, WAIT_NOISE = 0.1;
enum { SAMPLES_LEAST = 2 };

static const struct run_end_row *end_of(const struct run_facts *facts)
{
	return FIRST(record_identity(facts->record), run_end);
}

static bool is_source(const char *source, const char *name)
{
	return source && strcmp(source, name) == 0;
}

/*
 * Estimates the kernel memory that is charged to the processes' control group but belongs to no process: a
 * tenth of a MiB for each process, a fortieth for each thread, and 8 bytes of page table for each mapped page
 * of 4 KiB. Measured: 25 MiB for 200 processes of 20 MiB each, 10 MiB for 400 threads.
 */
static double kernel_memory_mib(const struct run_facts *facts)
{
	double processes = facts->processes.most, threads = facts->threads.most;
	double mapped = larger_known(facts->memory_rss.most, facts->memory.most);

	return 0.1 * (isnan(processes) ? 1 : processes) + 0.025 * (isnan(threads) ? 1 : threads) +
	       (isnan(mapped) ? 0 : mapped) / 512;
}

/*
 * A control group of the job's own charges kernel memory, and memory that came and went between two samples. Its peak contains page cache
 * as well, which the kernel takes back: at most as much as the sample with the most page cache had.
 */
static double charged_in_run(const struct run_facts *facts, const struct run_end_row *end)
{
	double charged = facts->group_memory.most;

	if (!end || real_absent(end->cgroup_memory_peak_mib))
		return NAN;
	return larger_known(charged, end->cgroup_memory_peak_mib - facts->group_cache.most);
}

/*
 * Files in a tmpfs that no process of the job has open are charged to its control group as well. Others may be in the group: its shared
 * memory counts as far as it grew, and as far as the job wrote bytes that went to no disk.
 */
static double files_in_memory_mib(const struct run_facts *facts, double peak_mib)
{
	double written = (total_of(&facts->written_chars) - total_of(&facts->written_bytes)) / 1048576;
	double grown = facts->memory_and_files.most + facts->less_group_shared.most - peak_mib;

	return fmax(fmin(grown, isnan(written) ? 0 : written), 0);
}

/* Takes the largest sum at one moment. Swapped memory is needed as well. */
static void find_peaks(struct evidence *evidence, const struct run_facts *facts)
{
	const struct run_end_row *end = end_of(facts);
	struct memory_peak most = summary_memory_peak(facts);
	struct binding limit = summary_memory_limit(facts);
	double peak = facts->memory.most, charged;

	if (end && !real_absent(end->memory_peak_mib) && !is_source(most.source, "cgroup") &&
	    !is_source(most.source, "largest_process"))
		peak = most.mib;
	evidence->swapped = facts->swap.most >= MIB_SWAPPED;
	if (evidence->swapped)
		peak = larger_known(peak, facts->memory_and_swap.most);
	evidence->sampled_peak_mib = peak;
	evidence->process_peak_mib = end && !real_absent(end->largest_process_peak_mib)
					     ? end->largest_process_peak_mib
					     : (double)NAN;
	/* The kernel counts a page of one process for each mapping of it. The peak of the tree leaves that out. */
	if (end && evidence->process_peak_mib > end->memory_peak_mib)
		evidence->process_peak_mib = end->memory_peak_mib;
	/* A run that ended well did not need more than its limit. */
	evidence->between_peak_mib = end && !real_absent(end->memory_peak_between_mib)
					     ? end->memory_peak_between_mib
					     : (double)NAN;
	if (evidence->between_peak_mib > allowances_highest_limit_mib(&facts->allowances))
		evidence->between_peak_mib = allowances_highest_limit_mib(&facts->allowances);
	charged = charged_in_run(facts, end) - peak_of(evidence);
	evidence->kernel_mib = kernel_memory_mib(facts);
	if (isnan(charged))
		evidence->kernel_mib += files_in_memory_mib(facts, peak_of(evidence));
	else
		evidence->kernel_mib = fmax(evidence->kernel_mib, charged);
	if (summary_reread_bytes(facts) > 0 && is_source(limit.source, "cgroup limit"))
		evidence->cache_limit_mib = limit.value;
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

/*
 * Returns the largest amount of memory that the job is known to have held. A group that others share, and whose limit did not end it, tells
 * theirs: the limit may have been that of a group into which the job went.
 */
static double held_mib(const struct evidence *evidence, const struct run_facts *facts)
{
	const struct run_end_row *end = end_of(facts);
	bool is_others = end && real_absent(end->cgroup_memory_peak_mib) && isnan(evidence->limit_mib);

	return larger_known(larger_known(evidence->sampled_peak_mib, evidence->process_peak_mib),
			    is_others ? (double)NAN : facts->group_memory.most);
}

/* The group may have other members. The killed process was the job's if the job used enough of the limit. */
static bool may_be_another_s(const struct oom_finding *oom, const struct evidence *evidence,
			     const struct run_facts *facts)
{
	return oom->kind == OOM_STEP && oom->shared &&
	       !(held_mib(evidence, facts) >= NEAR_LIMIT * evidence->limit_mib);
}

/* The machine ran out of memory, and the killed process had little of it: other jobs had the rest. */
static bool was_a_bystander(double had_mib, const struct run_facts *facts)
{
	return had_mib < NEAR_LIMIT * facts->total_memory_mib;
}

static void find_oom(struct evidence *evidence, const struct run_facts *facts)
{
	struct oom_finding oom = summary_oom(facts);
	double had = held_mib(evidence, facts), growth = GROWTH;

	if (!isnan(oom.limit_mib))
		evidence->limit_mib = oom.limit_mib;
	if (oom.kind == OOM_NONE || may_be_another_s(&oom, evidence, facts))
		return;
	evidence->oom = oom.kind;
	if ((oom.kills > 0 || oom.kind != OOM_SUSPECTED) && !isnan(evidence->limit_mib))
		had = larger_known(had, evidence->limit_mib);
	else if (was_a_bystander(had, facts))
		growth = 1;
	if (isnan(had))
		return;
	evidence->oom_had_mib = had;
	evidence->oom_floor_mib = fmax(had * growth * MARGIN, had + OOM_LEAST_MIB);
}

/*
 * ---- thin recordings -------------------------------------------------------------------------------------
 */

static void find_thin(struct advice_run *run)
{
	const struct run_facts *facts = &run->summary->facts;
	const struct run_end_row *end = end_of(facts);
	const char *reason = end && !text_absent(end->reason) ? end->reason : "";
	const struct launcher *launcher = idle_launcher(facts);

	if (strcmp(reason, "exec_failed") == 0)
		snprintf(run->thin, sizeof(run->thin), "the command could not be started");
	else if (!facts->tracked)
		snprintf(run->thin, sizeof(run->thin), "no process was tracked");
	else if (isnan(facts->cores.most) && isnan(facts->memory.most))
		snprintf(run->thin, sizeof(run->thin), "no figure of its processes could be read");
	else if (run->evidence.oom != OOM_NONE && run->evidence.oom_had_mib > 0)
		return; /* Even a very short run proves that its memory was not enough. */
	else if (launcher)
		snprintf(run->thin, sizeof(run->thin), "%s had its work done by other processes. Record: %s",
			 launcher->name, launcher->instead);
	else if (!end && strcmp(facts->layout, "json") == 0)
		snprintf(run->thin, sizeof(run->thin),
			 "it has no end: it still runs, or its tracker was killed");
	else if (facts->samples < SAMPLES_LEAST)
		snprintf(run->thin, sizeof(run->thin), "it has one sample only");
	else if (facts->recorded_secs < SHORTEST_SECS)
		plain_print(run->thin, sizeof(run->thin), "it is only %.2f s long", facts->recorded_secs);
}

/*
 * ---- identity --------------------------------------------------------------------------------------------
 */

static const char *scheduler_text(const struct run_facts *facts, const char *name)
{
	return record_scheduler_value(record_identity(facts->record), name);
}

static int64_t scheduler_count(const struct run_facts *facts, const char *name, int64_t otherwise)
{
	const char *value = scheduler_text(facts, name);
	struct scan scan = scan_bytes(value ? value : "", value ? strlen(value) : 0);
	uint64_t number;

	return value && scan_u64(&scan, &number) && number < INT32_MAX ? (int64_t)number : otherwise;
}

void set_job(struct evidence *evidence, const char *job, const char *step)
{
	snprintf(evidence->job, sizeof(evidence->job), "%.60s.%.60s", job, step ? step : "");
}

static void find_part(struct evidence *evidence, const struct run_facts *facts)
{
	static const char *const JOBS[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
	const char *step = scheduler_text(facts, "SLURM_STEP_ID");
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	for (size_t i = 0; i < ARRAY_SIZE(JOBS) && !*evidence->job; i++) {
		const char *job = scheduler_text(facts, JOBS[i]);

		if (job)
			set_job(evidence, job, step);
	}
	snprintf(evidence->host, sizeof(evidence->host), "%.60s", facts->host);
	if (start && !text_absent(start->run_id))
		snprintf(evidence->run_id, sizeof(evidence->run_id), "%.47s", start->run_id);
	evidence->rank = count_absent(facts->rank) ? -1 : facts->rank;
	evidence->tasks = scheduler_count(facts, "SLURM_NTASKS", 0);
	evidence->nodes = scheduler_count(facts, "SLURM_JOB_NUM_NODES", 0);
	/* A batch script starts the tasks itself. It has no step, or a step number beyond those of srun. */
	evidence->is_one_task = step && scheduler_count(facts, "SLURM_STEP_ID", -1) >= 0 &&
				scheduler_text(facts, "SLURM_PROCID");
}

/*
 * ---- cores -----------------------------------------------------------------------------------------------
 */

bool summary_is_starved(const struct run_facts *facts)
{
	/* While a core was free, more cores would not have helped. */
	return facts->tracked && facts->cpu_course.has_pressure &&
	       facts->cpu_course.short_secs >= STARVED_SHARE * facts->recorded_secs &&
	       summary_mean_cores(facts) < BUSY_SHARE * summary_core_limit(facts).value;
}

/* While others kept the CPUs busy, a job used fewer cores than it was ready to use. */
static double cores_wanted(const struct run_facts *facts)
{
	double wanted = shape_quantile(&facts->cpu_course.wanted, P95) - WAIT_NOISE;

	return summary_is_starved(facts) ? fmin(wanted, summary_core_limit(facts).value) : NAN;
}

static void find_cores(struct evidence *evidence, const struct advice_run *run)
{
	const struct run_facts *facts = &run->summary->facts;
	const struct shape *shape = &facts->core_shape;

	evidence->mean_cores = facts->tracked ? figure_of_stats(run->stats, "process_cpu_usage", "mean")
					      : figure_mean(&facts->host_cores);
	evidence->max_cores = facts->tracked ? figure_of_stats(run->stats, "process_cpu_usage", "max")
					     : facts->host_cores.most;
	if (shape->total_secs > 0)
		evidence->busy_cores = larger_known(shape_quantile(shape, P99), shape->busiest);
	/* With time stamps alone, the length of the samples is unknown. */
	if (isnan(evidence->busy_cores))
		evidence->busy_cores = evidence->max_cores;
	evidence->busy_cores = larger_known(evidence->busy_cores, cores_wanted(facts));
	evidence->p95_cores = shape->total_secs > 0 ? shape_quantile(shape, P95) : evidence->max_cores;
}

const struct evidence UNKNOWN_EVIDENCE = {
	.started = NAN,
	.secs = NAN,
	.input_bytes = NAN,
	.sampled_peak_mib = NAN,
	.process_peak_mib = NAN,
	.between_peak_mib = NAN,
	.kernel_mib = 0,
	.limit_mib = NAN,
	.mean_cores = NAN,
	.max_cores = NAN,
	.busy_cores = NAN,
	.p95_cores = NAN,
	.max_gpus = NAN,
	.vram_peak_mib = NAN,
	.mean_gpus = NAN,
	.rank = -1,
};

static void find_input(struct evidence *evidence, const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	if (!start || start->input_bytes < 0)
		return;
	evidence->input_bytes = (double)start->input_bytes;
	evidence->input_is_guessed =
		!text_absent(start->input_source) && strcmp(start->input_source, "arguments") == 0;
}

/* The exit status of a process that the tracker did not start may be unknown. */
static bool ended_without_error(const struct run_end_row *end)
{
	if (!end || !count_absent(end->signal))
		return false;
	if (!count_absent(end->exit_code))
		return end->exit_code == 0;
	return !text_absent(end->reason) && strcmp(end->reason, "target_exited") == 0;
}

void find_evidence(struct advice_run *run)
{
	const struct run_facts *facts = &run->summary->facts;
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	struct evidence *evidence = &run->evidence;

	*evidence = UNKNOWN_EVIDENCE;
	evidence->started = facts->started;
	evidence->secs = facts->recorded_secs;
	find_input(evidence, facts);
	evidence->limit_mib = allowances_highest_limit_mib(&facts->allowances);
	find_peaks(evidence, facts);
	find_cores(evidence, run);
	find_part(evidence, facts);
	evidence->max_gpus = facts->gpu_usage.most;
	evidence->vram_peak_mib = facts->gpu_vram_mib.most;
	if (facts->tracked) {
		find_oom(evidence, facts);
	} else {
		/* The user has forced advice for a recording of the machine alone. */
		evidence->sampled_peak_mib = facts->host_memory.most;
		evidence->max_gpus = facts->host_gpu_usage.most;
		evidence->vram_peak_mib = facts->host_gpu_vram_mib.most;
	}
	find_thin(run);
	evidence->good = !*run->thin && evidence->oom == OOM_NONE;
	evidence->is_whole = evidence->good && ended_without_error(end);
	evidence->failed = evidence->good && end && !count_absent(end->exit_code) && end->exit_code != 0;
}

void find_evidence_of_stats(struct advice_run *run)
{
	struct evidence *evidence = &run->evidence;

	*evidence = UNKNOWN_EVIDENCE;
	evidence->sampled_peak_mib = figure_of_stats(run->stats, "process_memory_mib", "max");
	evidence->mean_cores = figure_of_stats(run->stats, "process_cpu_usage", "mean");
	evidence->max_cores = figure_of_stats(run->stats, "process_cpu_usage", "max");
	evidence->busy_cores = evidence->p95_cores = larger_known(evidence->max_cores, evidence->mean_cores);
	evidence->max_gpus = figure_of_stats(run->stats, "process_gpu_usage", "max");
	evidence->vram_peak_mib = figure_of_stats(run->stats, "process_gpu_vram_mib", "max");
	evidence->secs = figure_of_stats(run->stats, "timestamp", "duration");
	evidence->good = true;
}

/* ---- ranks of one job ----------------------------------------------------------------------------- */

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

static double add_known_figure(double sum, double value)
{
	return isnan(value) ? sum : (isnan(sum) ? 0 : sum) + value;
}

static struct host add_rank_host(const struct runs *runs, const size_t *group, size_t number,
				 const char *name)
{
	struct host host = {NAN, NAN, NAN, 0};

	for (size_t i = 0; i < runs->count; i++) {
		const struct evidence *one = &runs->list[i].evidence;

		if (group[i] != number || strcmp(one->host, name) != 0)
			continue;
		host.peak_mib = add_known_figure(host.peak_mib, peak_of(one));
		host.mean_cores = add_known_figure(host.mean_cores, one->mean_cores);
		host.max_cores = add_known_figure(host.max_cores, one->max_cores);
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
	all->max_gpus = add_known_figure(all->max_gpus, one->max_gpus);
	all->vram_peak_mib = larger_known(all->vram_peak_mib, one->vram_peak_mib);
	all->kernel_mib += one->kernel_mib;
	all->cache_limit_mib = fmax(all->cache_limit_mib, one->cache_limit_mib);
	all->swapped |= one->swapped;
	all->good &= one->good;
	all->is_whole &= one->is_whole;
	all->failed |= one->failed;
	all->secs = larger_known(all->secs, one->secs);
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
		host = add_rank_host(runs, group, number, one->host);
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

static double part_or_zero(double value)
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
		sum.cores += part_or_zero(figure_mean(&run->summary->facts.cores));
		sum.memory_mib += part_or_zero(figure_mean(&run->summary->facts.memory));
		sum.gpus += part_or_zero(figure_mean(&run->summary->facts.gpu_usage));
		sum.vram_mib += part_or_zero(figure_mean(&run->summary->facts.gpu_vram_mib));
	}
	return sum;
}
