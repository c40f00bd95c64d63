/* The figures of a summary by name, and figures computed from several others; see summary.h. */
#include "summary/summary.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * A control group counts the last microseconds of each exit, which wait4(2) does not. A difference up to this
 * size is only that.
 */
static const double EXITS_SECS = 0.002, EXITS_SHARE = 0.01;

static const double JOULES_PER_KWH = 3.6e6;

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

	/* The end told time that no sample has: of children that were never seen, or after a gap. */
	return most < mean ? mean : most;
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
	return allowances_cores(&summary->allowances, count_absent(summary->core_count)
							      ? (double)NAN
							      : (double)summary->core_count);
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
	struct memory_peak peak = summary_memory_peak(summary);

	return allowances_memory(&summary->allowances, peak.elapsed_secs, peak.mib);
}

double summary_carbon_factor(const struct rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);

	return start && !real_absent(start->carbon_g_per_kwh) ? start->carbon_g_per_kwh : (double)NAN;
}

double summary_carbon_grams(const struct rt_summary *summary)
{
	double cpu = total_of(summary->tracked ? &summary->job_cpu_energy_joules
					       : &summary->cpu_energy_joules),
	       gpu = summary_gpus_energy_joules(summary);

	if (isnan(cpu) && isnan(gpu))
		return NAN;
	return summary_carbon_factor(summary) * ((isnan(cpu) ? 0 : cpu) + (isnan(gpu) ? 0 : gpu)) /
	       JOULES_PER_KWH;
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

/* ---- the table ----------------------------------------------------------------------------------------- */

/* Shared parts of several figures. */
struct told {
	const struct run_start_row *start; /* NULL: not recorded */
	const struct run_end_row *end;     /* all absent if it is not recorded */
	bool has_end;
	const char *of; /* the job's figures, or the machine's */
	const struct figure *cores, *memory;
	struct cpu_time time;
	struct binding core_limit, memory_limit;
	struct memory_peak peak;
	struct network_use network;
	struct oom_finding oom;
	int64_t idle_gpus; /* negative: unknown */
};

static struct run_end_row no_end(void)
{
	struct run_end_row end;

	memset(&end, 0, sizeof(end));
	end.exit_code = end.signal = end.descendants_running = end.oom_kills = no_count(ABSENT_NOT_YET);
	end.voluntary_switches = end.involuntary_switches = no_count(ABSENT_NOT_YET);
	end.cgroup_oom_kills = end.machine_oom_kills = no_count(ABSENT_NOT_YET);
	end.largest_process_peak_mib = end.cgroup_memory_peak_mib = no_real(ABSENT_NOT_YET);
	return end;
}

static struct told work_out(const struct rt_summary *summary, const struct run_end_row *none)
{
	const struct frame *identity = record_identity(summary->record);
	const struct run_end_row *end = FIRST(identity, run_end);
	struct idle_gpus idle = summary_gpus_idle(summary);

	buffer_done(&idle.names);
	return (struct told){
		.start = FIRST(identity, run_start),
		.end = end ? end : none,
		.has_end = end != NULL,
		.of = summary->tracked ? "job" : "machine",
		.cores = summary->tracked ? &summary->cores : &summary->host_cores,
		.memory = summary->tracked ? &summary->memory : &summary->host_memory,
		.time = summary_cpu_time(summary),
		.core_limit = summary_core_limit(summary),
		.memory_limit = summary_memory_limit(summary),
		.peak = summary_memory_peak(summary),
		.network = summary_network(summary),
		.oom = summary_oom(summary),
		.idle_gpus = idle.count,
	};
}

/* The value of a figure, not rounded. */
struct figure_value {
	double number; /* NaN: absent, or a text */
	const char *text;
};

static struct figure_value value_of_REAL(double value)
{
	return (struct figure_value){value, NULL};
}

static struct figure_value value_of_COUNT(int64_t value)
{
	return value_of_REAL(real_of_count(value));
}

/* A sum or maximum of counts, as a whole number. */
static struct figure_value value_of_WHOLE(double value)
{
	return value_of_REAL(value);
}

static struct figure_value value_of_TEXT(const char *text)
{
	return (struct figure_value){NAN, text_absent(text) || !*text ? NULL : text};
}

static struct figure_value value_of_FLAG(bool value)
{
	return value_of_REAL(value);
}

static void find_values(const struct rt_summary *summary,
			struct figure_value ret_values[static RUN_FIGURE_COUNT])
{
	const struct run_end_row none = no_end();
	const struct told told = work_out(summary, &none);

#define FIGURE(group, name, kind, decimals, value, ...) \
	ret_values[FIGURE_##group##_##name] = value_of_##kind(value);
#include "figures/run_figures.def"
}

static struct rt_cell cell_of(const struct run_figure *figure, const struct figure_value *value)
{
	if (value->text)
		return (struct rt_cell){.type = RT_CELL_TEXT, .text = value->text};
	if (!isfinite(value->number))
		return (struct rt_cell){0};
	if (figure->kind == KIND_REAL)
		return (struct rt_cell){.type = RT_CELL_REAL,
					.real = round_like_python(value->number, figure->decimals)};
	return (struct rt_cell){.type = RT_CELL_COUNT, .count = count_of_real(value->number + 0.5)};
}

void summary_values(const struct rt_summary *summary, struct rt_cell ret_values[static RUN_FIGURE_COUNT])
{
	struct figure_value values[RUN_FIGURE_COUNT];

	find_values(summary, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		ret_values[i] = cell_of(&RUN_FIGURES[i], &values[i]);
}

void summary_numbers(const struct rt_summary *summary, double ret_numbers[static RUN_FIGURE_COUNT])
{
	struct figure_value values[RUN_FIGURE_COUNT];

	find_values(summary, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		ret_numbers[i] = values[i].number;
}

struct rt_cell rt_summary_get(const rt_summary *summary, const char *group, const char *name)
{
	struct rt_cell values[RUN_FIGURE_COUNT];

	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		if (strcmp(RUN_FIGURES[i].group, group) == 0 && strcmp(RUN_FIGURES[i].name, name) == 0) {
			summary_values(summary, values);
			return values[i];
		}
	return (struct rt_cell){0};
}
