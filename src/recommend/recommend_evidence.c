/* Finds the evidence in one recording; see recommend.h. */
#include "recommend/recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double figure_of(const rt_stats *stats, const char *column, const char *name)
{
	return cell_real(rt_stats_get(stats, column, name), NAN);
}

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
static double charged_mib(const struct run_facts *facts, const struct run_end_row *end)
{
	double charged = facts->group_memory.most;

	if (!end || real_absent(end->cgroup_memory_peak_mib))
		return NAN;
	return larger_known(charged, end->cgroup_memory_peak_mib - facts->group_cache.most);
}

/* Takes the largest sum at one moment. Swapped memory is needed as well. */
static void find_peaks(struct evidence *evidence, const struct run_facts *facts)
{
	const struct run_end_row *end = end_of(facts);
	struct memory_peak most = summary_memory_peak(facts);
	double peak = facts->memory.most;

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
	/* The kernel counts a page of one process for each mapping of it; the peak of the tree leaves that out. */
	if (end && evidence->process_peak_mib > end->memory_peak_mib)
		evidence->process_peak_mib = end->memory_peak_mib;
	/* A run that ended well did not need more than its limit. */
	evidence->between_peak_mib = end && !real_absent(end->memory_peak_between_mib)
					     ? end->memory_peak_between_mib
					     : (double)NAN;
	if (evidence->between_peak_mib > allowances_highest_limit_mib(&facts->allowances))
		evidence->between_peak_mib = allowances_highest_limit_mib(&facts->allowances);
	evidence->kernel_mib =
		larger_known(kernel_memory_mib(facts), charged_mib(facts, end) - peak_of(evidence));
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

/* Returns the largest amount of memory that the job is known to have held. */
static double held_mib(const struct evidence *evidence, const struct run_facts *facts)
{
	return larger_known(larger_known(evidence->sampled_peak_mib, evidence->process_peak_mib),
			    facts->group_memory.most);
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

static const char *scheduler_value(const struct run_facts *facts, const char *name)
{
	return record_scheduler_value(record_identity(facts->record), name);
}

static int64_t scheduler_count(const struct run_facts *facts, const char *name, int64_t otherwise)
{
	const char *value = scheduler_value(facts, name);
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
	const char *step = scheduler_value(facts, "SLURM_STEP_ID");
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	for (size_t i = 0; i < ARRAY_SIZE(JOBS) && !*evidence->job; i++) {
		const char *job = scheduler_value(facts, JOBS[i]);

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
				scheduler_value(facts, "SLURM_PROCID");
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

	evidence->mean_cores = facts->tracked ? figure_of(run->stats, "process_cpu_usage", "mean")
					      : figure_mean(&facts->host_cores);
	evidence->max_cores =
		facts->tracked ? figure_of(run->stats, "process_cpu_usage", "max") : facts->host_cores.most;
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

void find_evidence(struct advice_run *run)
{
	const struct run_facts *facts = &run->summary->facts;
	struct evidence *evidence = &run->evidence;

	*evidence = UNKNOWN_EVIDENCE;
	evidence->started = facts->started;
	evidence->secs = facts->wall_secs;
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
}

void find_evidence_of_stats(struct advice_run *run)
{
	struct evidence *evidence = &run->evidence;

	*evidence = UNKNOWN_EVIDENCE;
	evidence->sampled_peak_mib = figure_of(run->stats, "process_memory_mib", "max");
	evidence->mean_cores = figure_of(run->stats, "process_cpu_usage", "mean");
	evidence->max_cores = figure_of(run->stats, "process_cpu_usage", "max");
	evidence->busy_cores = evidence->p95_cores = larger_known(evidence->max_cores, evidence->mean_cores);
	evidence->max_gpus = figure_of(run->stats, "process_gpu_usage", "max");
	evidence->vram_peak_mib = figure_of(run->stats, "process_gpu_vram_mib", "max");
	evidence->secs = figure_of(run->stats, "timestamp", "duration");
	evidence->good = true;
}
