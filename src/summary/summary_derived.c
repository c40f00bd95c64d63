/* Figures computed from several facts of a run. See summary.h. */
#include "summary/summary.h"

#include <math.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "record/tree_memory.h"

/*
 * A control group counts the last microseconds of each exit, which wait4(2) does not. A difference up to this
 * size is only that.
 */
static const double EXITS_SECS = 0.002, EXITS_SHARE = 0.01;

/* A difference below it is the end of the job itself: its last sample, and the kernel freeing its memory. */
static const double DESCENDANTS_SECS = 0.1;
static const double JOULES_PER_KWH = 3.6e6;

double summary_tree_wall_secs(const struct run_facts *facts)
{
	bool is_longer = facts->wall_secs > 0 && facts->recorded_secs >= facts->wall_secs + DESCENDANTS_SECS;

	return is_longer ? facts->recorded_secs : (double)NAN;
}

struct cpu_time summary_cpu_time(const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	struct cpu_time reaped = {NAN, NAN, facts->wall_secs}, tree = reaped;
	bool root_alone = start && !count_absent(start->children) && !start->children;
	bool is_told;

	if (!facts->tracked)
		return (struct cpu_time){total_of(&facts->host_user_secs), total_of(&facts->host_system_secs),
					 facts->wall_secs};
	if (end && !real_absent(end->utime_secs) && !real_absent(end->stime_secs)) {
		reaped.user_secs = end->utime_secs;
		reaped.system_secs = end->stime_secs;
	}
	is_told = end && !real_absent(end->tree_utime_secs) && !real_absent(end->tree_stime_secs);
	tree.user_secs = is_told ? end->tree_utime_secs : total_of(&facts->user_secs);
	tree.system_secs = is_told ? end->tree_stime_secs : total_of(&facts->system_secs);
	/* The root alone ran no longer than the job. */
	if (is_told && !root_alone && end->tree_wall_secs > facts->wall_secs)
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

double summary_mean_cores(const struct run_facts *facts)
{
	struct cpu_time time = summary_cpu_time(facts);

	if (!facts->tracked)
		return figure_mean(&facts->host_cores);
	/* If only some metrics were recorded, the cores in use may be the only source. */
	return isnan(cpu_time_total(&time)) || !(time.secs > 0) ? figure_mean(&facts->cores)
								: cpu_time_total(&time) / time.secs;
}

/* In a run of a millisecond, the exact mean may be larger than the value of its only sample. */
double summary_max_cores(const struct run_facts *facts)
{
	double most = facts->tracked ? facts->cores.most : facts->host_cores.most,
	       mean = summary_mean_cores(facts);

	/* The end told time that no sample has: of children that were never seen, or after a gap. */
	return most < mean ? mean : most;
}

double summary_stored_bytes(const struct run_facts *facts)
{
	double bytes = total_of(&facts->written_bytes);

	if (!facts->cancelled_bytes.present || isnan(bytes))
		return bytes;
	/* The job may have deleted data that others wrote. */
	return fmax(bytes - facts->cancelled_bytes.sum, 0);
}

bool summary_not_started(const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);

	return end && !text_absent(end->reason) && strcmp(end->reason, "exec_failed") == 0;
}

struct binding summary_core_limit(const struct run_facts *facts)
{
	return allowances_cores(&facts->allowances,
				count_absent(facts->core_count) ? (double)NAN : (double)facts->core_count);
}

double summary_idle_cores(const struct run_facts *facts)
{
	struct binding limit = summary_core_limit(facts);
	double idle = limit.value - summary_mean_cores(facts);
	double free_cores = (double)facts->core_count - figure_mean(&facts->host_cores);

	return !count_absent(facts->core_count) && free_cores < idle && strcmp(limit.source, "machine") == 0
		       ? fmax(free_cores, 0)
		       : idle;
}

struct binding summary_memory_limit(const struct run_facts *facts)
{
	struct memory_peak peak = summary_memory_peak(facts);

	return allowances_memory(&facts->allowances, peak.elapsed_secs, peak.mib);
}

double summary_limited_memory(const struct run_facts *facts)
{
	double peak = summary_memory_peak(facts).mib, charged = facts->group_memory.most;
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	struct binding limit = summary_memory_limit(facts);

	if (!(peak > limit.value) || strcmp(limit.source, "cgroup limit") != 0)
		return peak;
	/* A sample after the kill finds the group empty. */
	if (end && !real_absent(end->oom_kill_peak_mib))
		charged = fmax(charged, end->oom_kill_peak_mib);
	return isnan(charged) ? charged : fmin(charged, limit.value);
}

double summary_carbon_factor(const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);

	return start && !real_absent(start->carbon_g_per_kwh) ? start->carbon_g_per_kwh : (double)NAN;
}

double summary_carbon_grams(const struct run_facts *facts)
{
	double cpu = total_of(facts->tracked ? &facts->job_cpu_energy_joules : &facts->cpu_energy_joules),
	       gpu = summary_gpus_energy_joules(facts->gpus);

	if (isnan(cpu) && isnan(gpu))
		return NAN;
	return summary_carbon_factor(facts) * ((isnan(cpu) ? 0 : cpu) + (isnan(gpu) ? 0 : gpu)) /
	       JOULES_PER_KWH;
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

bool summary_mixes_memory(const struct run_facts *facts)
{
	unsigned measures = facts->measured.measures;

	return (measures & (measures - 1)) != 0;
}

/* Tells whether run_end repeats a figure that later samples have disproved. */
static bool is_disproved(const struct run_facts *facts, const struct run_end_row *end)
{
	enum memory_measure measure = memory_measure(end->memory_peak_source);

	return (measure == MEASURE_EACH_PROCESS || measure == MEASURE_BOUND) &&
	       end->memory_peak_mib <= 1.001 * facts->measured.disproved_mib &&
	       end->memory_peak_mib > facts->memory.most;
}

struct memory_peak summary_memory_peak(const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	const char *source = *facts->measured.source ? facts->measured.source : NULL;
	struct memory_peak peak = {facts->memory.most, facts->memory.most_elapsed_secs, source};

	if (!facts->tracked)
		return (struct memory_peak){facts->host_memory.most, facts->host_memory.most_elapsed_secs,
					    "machine"};
	if (!end || real_absent(end->memory_peak_mib))
		return peak;
	if (!is_disproved(facts, end))
		return (struct memory_peak){end->memory_peak_mib, end->memory_peak_elapsed_secs,
					    text_absent(end->memory_peak_source) ? NULL
										 : end->memory_peak_source};
	if (end->largest_process_peak_mib > peak.mib)
		peak = (struct memory_peak){end->largest_process_peak_mib, NAN, "largest_process"};
	return peak;
}

/* ---- network --------------------------------------------------------------------------------------------- */

/* The end has the totals of the run, also those that were unknown in some sample. */
static double told_or_summed(const struct run_end_row *end, int64_t told, const struct total *sum)
{
	return end && !count_absent(told) ? real_of_count(told) : total_of(sum);
}

struct network_use summary_network(const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	struct network_use use = {
		.received = told_or_summed(end, end ? end->net_recv_bytes : 0, &facts->job_received_bytes),
		.sent = told_or_summed(end, end ? end->net_sent_bytes : 0, &facts->job_sent_bytes),
		.received_bound = told_or_summed(end, end ? end->net_recv_bound_bytes : 0,
						 &facts->job_received_bound_bytes),
		.sent_bound = told_or_summed(end, end ? end->net_sent_bound_bytes : 0,
					     &facts->job_sent_bound_bytes),
		.connections = end ? real_of_count(end->net_connections) : (double)NAN,
		.retransmits = told_or_summed(end, end ? end->net_retransmits : 0, &facts->job_retransmits),
	};

	if (isnan(use.received) || isnan(use.sent))
		return (struct network_use){NAN, NAN, NAN, NAN, NAN, NAN, NULL};
	use.source = facts->network_source;
	if (end && !text_absent(end->net_source))
		use.source = end->net_source;
	/* Recorders before 0.2 knew traffic of namespaces only. */
	if (!*use.source)
		use.source = "namespace";
	return use;
}

double network_certain(double known, double bound)
{
	/* NaN if the bound is unknown. */
	return bound - known <= fmax(0.01 * known, 1 << 20) ? known : (double)NAN;
}

/* ---- waiting --------------------------------------------------------------------------------------------- */

double summary_cpu_short_secs(const struct run_facts *facts)
{
	const struct cpu_course *course = &facts->cpu_course;

	return course->has_pressure ? course->short_secs + course->unclear_secs : (double)NAN;
}

double summary_cpu_wait_known_pct(const struct run_facts *facts)
{
	double cpu_secs = total_of(&facts->user_secs) + total_of(&facts->system_secs);

	/* Both are rounded in each sample. */
	return cpu_secs > 0 ? fmin(100 * total_of(&facts->cpu_wait_known_secs) / cpu_secs, 100) : (double)NAN;
}

double summary_switches(int64_t at_end, const struct total *of_samples)
{
	return fmax(total_of(of_samples), count_absent(at_end) ? (double)NAN : (double)at_end);
}

/* Refaults of other processes in the group count, too, but the run cannot have more than it read. */
double summary_reread_bytes(const struct run_facts *facts)
{
	double read = total_of(&facts->read_bytes), again = total_of(&facts->cache_refault_bytes);
	double room = summary_memory_limit(facts).value * 1048576;

	if (!(again > 0) || !(read > 0) || !(room > 0))
		return 0;
	again = fmin(again, read);
	return again >= read / 2 && again >= room ? again : 0;
}

/* ---- the end --------------------------------------------------------------------------------------------- */

struct oom_finding summary_oom(const struct run_facts *facts)
{
	return oom_find(&facts->oom, FIRST(record_identity(facts->record), run_end), facts->memory_limit_mib,
			strcmp(facts->layout, "json") == 0);
}

bool summary_has_failed(const struct run_facts *facts)
{
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);

	if (summary_oom(facts).kind == OOM_STOPPED_AT_LIMIT)
		return true;
	return end && (!count_absent(end->signal) || (!count_absent(end->exit_code) && end->exit_code != 0) ||
		       (!text_absent(end->reason) && strcmp(end->reason, "exec_failed") == 0));
}
