/* The figures of a summary by name, and figures computed from several others; see summary.h. */
#include "advice/summary.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * A control group counts the last microseconds of each exit, which wait4(2) does not. A difference up to this
 * size is only that.
 */
static const double EXITS_SECS = 0.002, EXITS_SHARE = 0.01;

struct cpu_time summary_cpu_time(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);
	struct cpu_time reaped = {NAN, NAN, summary->wall_secs}, tree = reaped;
	bool root_alone = start && !count_absent(start->children) && !start->children;
	bool is_told;

	if (!summary->tracked)
		return (struct cpu_time){total_of(&summary->host_user_secs),
					 total_of(&summary->host_system_secs), summary->wall_secs};
	if (end && !real_absent(end->utime_secs) && !real_absent(end->stime_secs)) {
		reaped.user_secs = end->utime_secs;
		reaped.system_secs = end->stime_secs;
	}
	is_told = end && !real_absent(end->tree_utime_secs) && !real_absent(end->tree_stime_secs);
	tree.user_secs = is_told ? end->tree_utime_secs : total_of(&summary->user_secs);
	tree.system_secs = is_told ? end->tree_stime_secs : total_of(&summary->system_secs);
	/* The root alone ran no longer than the job. */
	if (is_told && !root_alone && end->tree_wall_secs > summary->wall_secs)
		reaped.secs = tree.secs = end->tree_wall_secs;
	if (isnan(reaped.user_secs) || (root_alone && !isnan(tree.user_secs)))
		return tree;
	/*
	 * Older recordings have no totals of the tree. Then trust the samples only if descendants were still
	 * running.
	 */
	if (!is_told && !(!count_absent(end->descendants_running) && end->descendants_running > 0))
		return reaped;
	return cpu_time_total(&tree) > cpu_time_total(&reaped) * (1 + EXITS_SHARE) + EXITS_SECS ? tree
												: reaped;
}

double summary_mean_cores(const struct rt_summary *summary)
{
	struct cpu_time time = summary_cpu_time(summary);

	if (!summary->tracked)
		return figure_mean(&summary->host_cores);
	/* If only some metrics were recorded, the cores in use may be the only source. */
	return isnan(cpu_time_total(&time)) || !(time.secs > 0) ? figure_mean(&summary->cores)
								: cpu_time_total(&time) / time.secs;
}

/* In a run of a millisecond, the exact mean may be larger than the value of its only sample. */
double summary_max_cores(const struct rt_summary *summary)
{
	double most = summary->tracked ? summary->cores.most : summary->host_cores.most,
	       mean = summary_mean_cores(summary);

	return summary->samples == 1 && most < mean ? mean : most;
}

double summary_stored_bytes(const struct rt_summary *summary)
{
	double bytes = total_of(&summary->written_bytes);

	if (!summary->cancelled_bytes.present || isnan(bytes))
		return bytes;
	/* The job may have deleted data that others wrote. */
	return fmax(bytes - summary->cancelled_bytes.sum, 0);
}

bool summary_not_started(const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);

	return end && !text_absent(end->reason) && strcmp(end->reason, "exec_failed") == 0;
}

struct binding summary_core_limit(const struct rt_summary *summary)
{
	struct binding binding = {NAN, NULL};

	if (!count_absent(summary->core_count))
		binding = (struct binding){(double)summary->core_count, "machine"};
	if (!count_absent(summary->cpuset_cores) && !((double)summary->cpuset_cores >= binding.value))
		binding = (struct binding){(double)summary->cpuset_cores, "cpuset"};
	if (!isnan(summary->cpu_limit_cores) && !(summary->cpu_limit_cores >= binding.value))
		binding = (struct binding){summary->cpu_limit_cores, "cgroup limit"};
	return binding;
}

double summary_idle_cores(const struct rt_summary *summary)
{
	struct binding limit = summary_core_limit(summary);
	double idle = limit.value - summary_mean_cores(summary);
	double free_cores = (double)summary->core_count - figure_mean(&summary->host_cores);

	return !count_absent(summary->core_count) && free_cores < idle && strcmp(limit.source, "machine") == 0
		       ? fmax(free_cores, 0)
		       : idle;
}

struct binding summary_memory_limit(const struct rt_summary *summary)
{
	struct binding binding = {NAN, NULL};

	if (!isnan(summary->total_memory_mib))
		binding = (struct binding){summary->total_memory_mib, "machine"};
	if (!isnan(summary->memory_limit_mib) && !(summary->memory_limit_mib >= binding.value))
		binding = (struct binding){summary->memory_limit_mib, "cgroup limit"};
	return binding;
}

struct phase_time summary_phase_time(const struct phase *phase)
{
	struct phase_time time = {0};

	for (size_t i = 0; i < phase->call_count; i++) {
		time.secs += phase->calls[i].stop - phase->calls[i].start;
		time.open_calls += phase->calls[i].open;
	}
	return time;
}

/* A visitor, and whether it has stopped. */
struct visit {
	summary_visitor *visitor;
	void *context;
	const char *group;
	bool stopped;
};

static void give_figure(struct visit *visit, const char *name, struct rt_cell value)
{
	if (!visit->stopped)
		visit->stopped = !visit->visitor(visit->context, visit->group, name, value);
}

static void give_real(struct visit *visit, const char *name, double value, int decimals)
{
	if (isfinite(value))
		give_figure(
			visit, name,
			(struct rt_cell){.type = RT_CELL_REAL, .real = round_like_python(value, decimals)});
	else
		give_figure(visit, name, (struct rt_cell){0});
}

static void give_count(struct visit *visit, const char *name, int64_t value)
{
	give_figure(visit, name,
		    count_absent(value) ? (struct rt_cell){0}
					: (struct rt_cell){.type = RT_CELL_COUNT, .count = value});
}

/* Gives a sum or maximum of counts, as a whole number. */
static void give_whole(struct visit *visit, const char *name, double value)
{
	give_count(visit, name, count_of_real(value + 0.5));
}

static void give_text(struct visit *visit, const char *name, const char *text)
{
	if (text_absent(text) || !*text)
		give_figure(visit, name, (struct rt_cell){0});
	else
		give_figure(visit, name, (struct rt_cell){.type = RT_CELL_TEXT, .text = text});
}

static void visit_run(struct visit *visit, const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);

	visit->group = "run";
	give_text(visit, "job_name", summary->job_name);
	give_text(visit, "executable", start ? start->executable : NULL);
	give_count(visit, "argument_count", start ? start->argument_count : no_count(ABSENT_NOT_COLLECTED));
	give_text(visit, "host", summary->host);
	give_count(visit, "tracked_pid", summary->tracked_pid);
	give_real(visit, "started_timestamp", summary->started, 3);
	give_real(visit, "ended_timestamp", summary->ended, 3);
	give_count(visit, "samples", summary->samples);
	give_real(visit, "interval_secs", summary->interval_secs, 6);
	give_count(visit, "run", (int64_t)summary->run);
	give_count(visit, "runs_in_file", (int64_t)summary->runs);
	give_text(visit, "layout", summary->layout);
}

static void visit_end(struct visit *visit, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	struct oom_finding oom = summary_oom(summary);
	struct run_end_row none;

	memset(&none, 0, sizeof(none));
	none.exit_code = none.signal = none.descendants_running = none.oom_kills = no_count(ABSENT_NOT_YET);
	none.cgroup_oom_kills = none.machine_oom_kills = no_count(ABSENT_NOT_YET);
	visit->group = "end";
	give_figure(visit, "recorded", (struct rt_cell){.type = RT_CELL_COUNT, .count = end != NULL});
	end = end ? end : &none;
	give_text(visit, "in_words", summary->end_words);
	give_text(visit, "reason", end->reason);
	give_text(visit, "evidence", end->evidence);
	give_count(visit, "exit_code", end->exit_code);
	give_count(visit, "signal", end->signal);
	give_count(visit, "descendants_running", end->descendants_running);
	give_count(visit, "oom_kills", end->oom_kills);
	give_count(visit, "cgroup_oom_kills", end->cgroup_oom_kills);
	give_count(visit, "machine_oom_kills", end->machine_oom_kills);
	give_text(visit, "oom", oom_kind_name(oom.kind));
	give_real(visit, "oom_elapsed_secs", oom.elapsed_secs, 3);
	give_real(visit, "oom_limit_mib", oom.limit_mib, 3);
	give_real(visit, "oom_peak_mib", oom.peak_mib, 3);
}

static void visit_cpu(struct visit *visit, const struct rt_summary *summary)
{
	struct cpu_time time = summary_cpu_time(summary);
	const struct figure *cores = summary->tracked ? &summary->cores : &summary->host_cores;
	struct binding limit = summary_core_limit(summary);
	double mean = summary_mean_cores(summary);

	visit->group = "time";
	give_real(visit, "wall_secs", summary->wall_secs > 0 ? summary->wall_secs : (double)NAN, 6);
	give_real(visit, "cpu_secs", cpu_time_total(&time), 6);
	give_real(visit, "user_secs", time.user_secs, 6);
	give_real(visit, "system_secs", time.system_secs, 6);
	visit->group = "cores";
	give_text(visit, "of", summary->tracked ? "job" : "machine");
	give_real(visit, "mean", mean, 4);
	give_real(visit, "max", summary_max_cores(summary), 4);
	give_real(visit, "max_elapsed_secs", cores->most_elapsed_secs, 3);
	give_real(visit, "limit", limit.value, 3);
	give_text(visit, "limit_source", limit.source);
	give_real(visit, "mean_of_limit_pct", 100 * mean / limit.value, 2);
	give_real(visit, "machine_mean", figure_mean(&summary->host_cores), 4);
	give_real(visit, "machine_max", summary->host_cores.most, 4);
}

static void visit_memory(struct visit *visit, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	const struct figure *memory = summary->tracked ? &summary->memory : &summary->host_memory;
	struct memory_peak peak = summary_memory_peak(summary);
	struct binding limit = summary_memory_limit(summary);

	visit->group = "memory";
	give_text(visit, "of", summary->tracked ? "job" : "machine");
	give_real(visit, "peak_mib", peak.mib, 3);
	give_text(visit, "peak_source", peak.source);
	give_real(visit, "peak_elapsed_secs", peak.elapsed_secs, 3);
	give_real(visit, "mean_mib", figure_mean(memory), 3);
	give_text(visit, "sources", summary->tracked ? summary->memory_sources : "machine");
	give_figure(visit, "mixed_sources",
		    (struct rt_cell){.type = RT_CELL_COUNT, .count = summary_mixes_memory(summary)});
	give_count(visit, "disproved_samples", summary->memory_disproved_samples);
	give_real(visit, "sampled_max_mib", memory->most, 3);
	give_real(visit, "pss_max_mib", summary->memory_pss.most, 3);
	give_real(visit, "rss_max_mib", summary->memory_rss.most, 3);
	give_real(visit, "swap_max_mib", summary->swap.most, 3);
	give_real(visit, "largest_process_peak_mib", end ? end->largest_process_peak_mib : NAN, 3);
	give_real(visit, "cgroup_peak_mib", end ? end->cgroup_memory_peak_mib : NAN, 3);
	give_real(visit, "limit_mib", limit.value, 3);
	give_text(visit, "limit_source", limit.source);
	give_real(visit, "peak_of_limit_pct", 100 * peak.mib / limit.value, 2);
	give_real(visit, "machine_used_max_mib", summary->host_memory.most, 3);
}

static void visit_io(struct visit *visit, const struct rt_summary *summary)
{
	visit->group = "io";
	give_whole(visit, "read_bytes", total_of(&summary->read_bytes));
	give_whole(visit, "written_bytes", summary_stored_bytes(summary));
	give_whole(visit, "cancelled_bytes", total_of(&summary->cancelled_bytes));
	give_whole(visit, "read_chars", total_of(&summary->read_chars));
	give_whole(visit, "written_chars", total_of(&summary->written_chars));
	give_whole(visit, "major_faults", total_of(&summary->major_faults));
	give_whole(visit, "machine_read_bytes", total_of(&summary->host_read_bytes));
	give_whole(visit, "machine_written_bytes", total_of(&summary->host_written_bytes));
	give_whole(visit, "cache_refault_bytes", total_of(&summary->cache_refault_bytes));
	give_real(visit, "machine_space_used_max_gb", summary->space_used_gb.most, 6);
	visit->group = "network";
	give_whole(visit, "received_bytes", total_of(&summary->job_received_bytes));
	give_whole(visit, "sent_bytes", total_of(&summary->job_sent_bytes));
	give_whole(visit, "machine_received_bytes", total_of(&summary->received_bytes));
	give_whole(visit, "machine_sent_bytes", total_of(&summary->sent_bytes));
}

static void visit_gpu(struct visit *visit, const struct rt_summary *summary)
{
	struct idle_gpus idle = summary_gpus_idle(summary);

	visit->group = "gpu";
	give_count(visit, "count", summary->gpu_count);
	give_real(visit, "mean", figure_mean(&summary->gpu_usage), 4);
	give_real(visit, "max", summary->gpu_usage.most, 4);
	give_real(visit, "memory_max_mib", summary->gpu_vram_mib.most, 3);
	give_whole(visit, "used_max", summary->gpu_utilized.most);
	give_real(visit, "memory_total_mib", summary->gpu_count ? summary->gpu_memory_mib : NAN, 3);
	give_real(visit, "machine_mean", figure_mean(&summary->host_gpu_usage), 4);
	give_real(visit, "machine_max", summary->host_gpu_usage.most, 4);
	give_real(visit, "machine_memory_max_mib", summary->host_gpu_vram_mib.most, 3);
	give_real(visit, "energy_joules", summary_gpus_energy_joules(summary), 3);
	give_whole(visit, "idle", idle.count < 0 ? (double)NAN : (double)idle.count);
	buffer_done(&idle.names);
}

static void visit_waiting(struct visit *visit, const struct rt_summary *summary)
{
	visit->group = "waiting";
	give_whole(visit, "throttled_periods", total_of(&summary->throttled_periods));
	give_real(visit, "throttled_secs", total_of(&summary->throttled_secs), 6);
	give_real(visit, "cpu_pressure_secs", total_of(&summary->cpu_pressure_secs), 6);
	give_real(visit, "cpu_short_secs", summary_cpu_short_secs(summary), 6);
	give_real(visit, "memory_pressure_secs", total_of(&summary->memory_pressure_secs), 6);
	give_real(visit, "io_pressure_secs", total_of(&summary->io_pressure_secs), 6);
	give_text(visit, "pressure_source", summary->pressure_source);
	give_real(visit, "machine_cpu_pressure_secs", total_of(&summary->machine_cpu_pressure_secs), 6);
	give_real(visit, "machine_memory_pressure_secs", total_of(&summary->machine_memory_pressure_secs), 6);
	give_real(visit, "machine_io_pressure_secs", total_of(&summary->machine_io_pressure_secs), 6);
	visit->group = "processes";
	give_whole(visit, "max", summary->processes.most);
	give_whole(visit, "threads_max", summary->threads.most);
	give_count(visit, "exited", summary->exited);
}

static void visit_tracker(struct visit *visit, const struct rt_summary *summary)
{
	visit->group = "tracker";
	give_real(visit, "cpu_secs", total_of(&summary->tracker_cpu_secs), 6);
	give_real(visit, "cpu_of_core_pct", 100 * total_of(&summary->tracker_cpu_secs) / summary->wall_secs,
		  3);
	give_real(visit, "rss_max_mib", summary->tracker_rss_mib.most, 3);
	give_real(visit, "sample_mean_ms", figure_mean(&summary->sample_ms), 3);
	give_real(visit, "sample_max_ms", summary->sample_ms.most, 3);
	give_count(visit, "missed_ticks", summary->missed_ticks);
	give_count(visit, "dropped_samples", summary->dropped_samples);
	visit->group = "damage";
	give_count(visit, "torn_tails", summary->damage.torn_tails);
	give_count(visit, "bad_lines", summary->damage.bad_lines);
	give_count(visit, "first_bad_line", summary->damage.first_bad_line);
	give_count(visit, "clock_steps", summary->damage.clock_steps);
	give_count(visit, "hosts", summary->damage.hosts);
}

void summary_visit(const struct rt_summary *summary, summary_visitor *visitor, void *context)
{
	struct visit visit = {.visitor = visitor, .context = context};

	visit_run(&visit, summary);
	visit_end(&visit, summary);
	visit_cpu(&visit, summary);
	visit_memory(&visit, summary);
	visit_io(&visit, summary);
	visit_gpu(&visit, summary);
	visit_waiting(&visit, summary);
	visit_tracker(&visit, summary);
}

struct lookup {
	const char *group, *name;
	struct rt_cell found;
};

static bool is_it(void *context, const char *group, const char *name, struct rt_cell value)
{
	struct lookup *lookup = context;

	if (strcmp(group, lookup->group) != 0 || strcmp(name, lookup->name) != 0)
		return true;
	lookup->found = value;
	return false;
}

struct rt_cell rt_summary_get(const rt_summary *summary, const char *group, const char *name)
{
	struct lookup lookup = {.group = group, .name = name};

	summary_visit(summary, is_it, &lookup);
	return lookup.found;
}
