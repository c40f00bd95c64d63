/* Joins the lines of jobs. See fleet_jobs.h. */
#include "history/fleet_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "history/fleet.h"

static int by_job(const void *a, const void *b)
{
	const struct fleet_run *one = a, *other = b;

	if (one->job != other->job)
		return one->job < other->job ? -1 : 1;
	if (one->host != other->host)
		return one->host < other->host ? -1 : 1;
	return (one->started > other->started) - (one->started < other->started);
}

static double more_known(double sum, double value)
{
	return isnan(value) ? sum : isnan(sum) ? value : sum + value;
}

static double larger_of(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double line_end(const struct fleet_run *line)
{
	return line->started + line->wall_secs;
}

static double line_value(const struct fleet_run *line, size_t place)
{
	return *(const double *)((const char *)line + place);
}

/*
 * Returns the largest sum of a value over lines that ran at the same time. It is reached when one of them starts. A line whose
 * times are unknown counts as if it ran alone. `active` has room for the index of each line.
 */
static double most_at_once(const struct fleet_run *lines, size_t count, size_t place, bool steps_alone,
			   size_t *active)
{
	double most = NAN;
	size_t active_count = 0;

	for (size_t i = 0; i < count; i++) {
		double sum = NAN;
		size_t kept = 0;

		if (steps_alone && !lines[i].is_step)
			continue;
		for (size_t j = 0; j < active_count; j++)
			if (line_end(&lines[active[j]]) > lines[i].started)
				active[kept++] = active[j];
		active[kept++] = i;
		active_count = kept;
		for (size_t j = 0; j < active_count; j++)
			sum = more_known(sum, line_value(&lines[active[j]], place));
		most = larger_of(most, sum);
	}
	return most;
}

/* The script's value if there is one, else that of its tasks. */
static double asked_on_host(const struct fleet_run *lines, size_t count, size_t place, bool of_node,
			    size_t *active)
{
	double scripts = NAN, steps = NAN;

	for (size_t i = 0; i < count; i++) {
		double value = line_value(&lines[i], place);

		if (lines[i].is_step)
			steps = larger_of(steps, value);
		else
			scripts = larger_of(scripts, value);
	}
	if (!isnan(scripts) || of_node)
		return larger_of(scripts, of_node ? steps : (double)NAN);
	return most_at_once(lines, count, place, true, active);
}

/* Several recordings of one host may tell of the same GPUs or of different ones: their sum is unknown. */
static double idle_gpus_of_host(const struct fleet_run *lines, size_t count)
{
	double hours = NAN;

	for (size_t i = 0; i < count; i++) {
		if (isnan(lines[i].gpu_idle_hours))
			continue;
		if (!isnan(hours))
			return NAN;
		hours = lines[i].gpu_idle_hours;
	}
	return hours;
}

static void join_host(struct fleet_run *job, const struct fleet_run *lines, size_t count, size_t *active)
{
	double peak = most_at_once(lines, count, offsetof(struct fleet_run, memory_mib), false, active);
	double memory = asked_on_host(lines, count, offsetof(struct fleet_run, memory_asked_mib),
				      !lines[0].asked_by_cpu, active);

	job->cores_asked = more_known(
		job->cores_asked,
		asked_on_host(lines, count, offsetof(struct fleet_run, cores_asked), false, active));
	job->memory_mib = larger_of(job->memory_mib, peak);
	job->memory_asked_mib = larger_of(job->memory_asked_mib, memory);
	job->spare_gib = more_known(job->spare_gib, (memory - peak) / 1024);
	job->gpu_idle_hours = more_known(job->gpu_idle_hours, idle_gpus_of_host(lines, count));
}

/* The script's end is the job's. If the job failed and one of its lines tells of a lack of memory, this is the reason. */
static void find_end(struct fleet_run *job, const struct fleet_run *lines, size_t count, int memory_reason)
{
	const struct fleet_run *decides = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct fleet_run *line = &lines[i];
		bool is_worse = !decides || (line->end == FLEET_FAILED && decides->end != FLEET_FAILED) ||
				(line->end == FLEET_CUT && decides->end == FLEET_OK);

		if (decides && decides->is_step != line->is_step ? !line->is_step : is_worse)
			decides = line;
		job->ended |= line->ended;
		job->at_limit |= line->at_limit;
		job->oom_had_mib = larger_of(job->oom_had_mib, line->oom_had_mib);
	}
	job->end = decides->end;
	job->reason = decides->reason;
	for (size_t i = 0; i < count && job->end == FLEET_FAILED; i++)
		if (lines[i].end == FLEET_FAILED && lines[i].reason == memory_reason)
			job->reason = lines[i].reason;
}

static struct fleet_run join_lines(const struct fleet_run *lines, size_t count, int memory_reason,
				   size_t *active)
{
	struct fleet_run job = {
#define FLEET(field, ...) .field = NAN,
#include "figures/run_figures.def"
		.started = NAN,
		.cores_asked = NAN,
		.memory_asked_mib = NAN,
		.oom_had_mib = NAN,
		.gpu_idle_hours = NAN,
		.spare_gib = NAN,
	};
	double ended = NAN;

	if (count == 1)
		return lines[0];
	for (size_t i = 0; i < count; i++) {
		job.started = fmin(job.started, lines[i].started);
		ended = larger_of(ended, line_end(&lines[i]));
		job.wall_secs = larger_of(job.wall_secs, lines[i].wall_secs);
#define JOINED_SUM more_known
#define JOINED_LARGEST larger_of
#define JOINED_BY_CODE(before, value) (before)
#define FLEET(field, figure, joined, drift) job.field = JOINED_##joined(job.field, lines[i].field);
#include "figures/run_figures.def"
	}
	job.wall_secs = larger_of(job.wall_secs, ended - job.started);
	if (job.wall_secs > 0)
		job.cores = job.cpu_secs / job.wall_secs;
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && lines[next].host == lines[first].host;)
			next++;
		join_host(&job, lines + first, next - first, active);
	}
	find_end(&job, lines, count, memory_reason);
	return job;
}

int join_jobs(struct fleet_run *lines, size_t count, int memory_reason, size_t *ret_runs)
{
	CLEANUP_FREE size_t *active = calloc(count + 1, sizeof(*active));
	size_t runs = 0;

	if (!active)
		return -ENOMEM;
	if (count)
		qsort(lines, count, sizeof(*lines), by_job);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && lines[next].job == lines[first].job;)
			next++;
		lines[runs++] = join_lines(lines + first, next - first, memory_reason, active);
	}
	*ret_runs = runs;
	return 0;
}
