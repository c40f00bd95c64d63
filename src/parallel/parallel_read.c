/* Reads the steps of a build or workflow from their recordings. See parallel.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "parallel/parallel.h"
#include "verdict/run_summary.h"
#include "workflow/steps.h"

/* An engine needs no longer between two steps. More is another build in the same folder, or a person. */
static const double GAP_MOST_SECS = 0.1;

void parallel_done(struct parallel *parallel)
{
	for (size_t i = 0; i < parallel->count; i++) {
		free(parallel->steps[i].rule);
		free(parallel->steps[i].task);
		free(parallel->steps[i].program);
		free(parallel->steps[i].told_needs);
		free(parallel->steps[i].told_makes);
		free(parallel->steps[i].command);
		free(parallel->steps[i].needs);
	}
	free(parallel->steps);
}

static double known_or_zero(double value)
{
	return isfinite(value) && value > 0 ? value : 0;
}

/* A part without a sample is like the one before, and one before the first sample has `first`. */
static void fill_parts(double *parts, double first)
{
	for (size_t i = 0; i < PARALLEL_PARTS; i++)
		if (!isfinite(parts[i]))
			parts[i] = i ? parts[i - 1] : first;
}

/* The kernel's peak may lie between two samples: it belongs to the part with the largest sample. */
static void read_memory_course(struct parallel_step *step, const struct run_facts *facts)
{
	size_t largest = 0;

	step->peak_mib = known_or_zero(summary_memory_peak(facts).mib);
	time_bins_columns(&facts->memory_history, step->wall_secs, true, step->memory_mib, PARALLEL_PARTS);
	time_bins_columns(&facts->files_history, step->wall_secs, true, step->files_mib, PARALLEL_PARTS);
	/* A step without any sample has its peak all the time. */
	fill_parts(step->memory_mib, step->peak_mib);
	fill_parts(step->files_mib, 0);
	for (size_t i = 0; i < PARALLEL_PARTS; i++) {
		step->files_mib[i] = fmin(known_or_zero(step->files_mib[i]), step->memory_mib[i]);
		if (step->memory_mib[i] > step->memory_mib[largest])
			largest = i;
	}
	step->peak_mib = fmax(step->peak_mib, step->memory_mib[largest]);
	step->memory_mib[largest] = step->peak_mib;
}

/*
 * How long threads of the step waited because of other programs. Threads that share the cores among themselves wait in any run. So
 * samples with a free core do not count, and the others only as far as other programs used cores in them.
 */
static double wait_for_others(const struct run_facts *facts)
{
	const struct cpu_course *course = &facts->cpu_course;

	return course->full_secs + course->free_secs > 0
		       ? fmin(course->threads_wait_secs, course->others_core_secs)
		       : known_or_zero(total_of(&facts->cpu_wait_secs));
}

/* The program with the largest peak. "": none is known. */
static const char *largest_program(const struct summary_programs *programs)
{
	const struct program_figures *largest = NULL;

	for (size_t i = 0; i < programs->count; i++)
		if (programs->list[i].memory_peak_mib > (largest ? largest->memory_peak_mib : 0))
			largest = &programs->list[i];
	return largest ? largest->name : "";
}

/*
 * The step's time on cores of its own. A thread that waited for a core 2 of 7 seconds takes 5. With several threads the granted
 * share of the cores counts.
 */
static double secs_alone(double wall_secs, double cpu_secs, double wait_secs)
{
	return wait_secs > 0 && cpu_secs > 0
		       ? fmax(wall_secs - wait_secs, wall_secs * cpu_secs / (cpu_secs + wait_secs))
		       : wall_secs;
}

static int take_parallel_step(struct parallel_step *ret_step, const struct flow_step *step,
			      const rt_summary *summary)
{
	const struct run_facts *facts = &summary->facts;
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	bool has_task = start && !text_absent(start->task_name);
	const char *task = has_task ? start->task_name : summary_task(facts);
	struct cpu_time time = summary_cpu_time(facts);

	*ret_step = (struct parallel_step){
		.rule = strdup(facts->run_name),
		.task = strdup(task ? task : ""),
		.command = start && !text_absent(start->command) ? strdup(start->command) : NULL,
		.told_needs = step->needs ? strdup(step->needs) : NULL,
		.told_makes = step->makes ? strdup(step->makes) : NULL,
		.program = strdup(largest_program(&facts->programs)),
		.started = facts->started,
		.wall_secs = facts->recorded_secs,
		.cpu_secs = known_or_zero(cpu_time_total(&time)),
	};
	read_memory_course(ret_step, facts);
	ret_step->recorded_secs = facts->recorded_secs;
	ret_step->wall_secs = secs_alone(facts->recorded_secs, ret_step->cpu_secs, wait_for_others(facts));
	return ret_step->rule && ret_step->task && ret_step->program &&
			       !ret_step->told_needs == !step->needs && !ret_step->told_makes == !step->makes
		       ? 0
		       : -ENOMEM;
}

/* A step whose recording is gone, or never took time, cannot be planned. */
static int add_parallel_step(struct parallel *parallel, const struct flow_step *step)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	const char *path = step->path;
	int result = path ? rt_summary_read(&path, 1, &summary, NULL) : -ENOENT;

	if (result == -ENOMEM)
		return result;
	if (result < 0 || !(summary->facts.recorded_secs > 0)) {
		parallel->unreadable++;
		return 0;
	}
	return take_parallel_step(&parallel->steps[parallel->count++], step, summary);
}

static void find_gaps(struct parallel *parallel)
{
	double ended = NAN;

	for (size_t i = 0; i < parallel->count; i++) {
		struct parallel_step *step = &parallel->steps[i];

		if (step->started >= ended)
			step->gap_secs = fmin(step->started - ended, GAP_MOST_SECS);
		ended = fmax(ended, step->started + step->recorded_secs);
	}
}

int parallel_read(struct parallel *parallel, const char *const *paths, size_t count,
		  struct rt_problem *ret_problem)
{
	CLEANUP_STEPS struct steps found = {0};
	int result = steps_read(&found, paths, count, ret_problem);

	if (result < 0)
		return result;
	parallel->unreadable = found.damaged_count;
	parallel->steps = calloc(found.count + 1, sizeof(*parallel->steps));
	if (!parallel->steps)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	for (size_t i = 0; i < found.count && result == 0; i++)
		result = add_parallel_step(parallel, &found.list[i]);
	if (result < 0)
		return problem_set(ret_problem, result, "out of memory");
	if (parallel->count == 0)
		return problem_set(ret_problem, -ENODATA, "%s: no recording of a step in it", paths[0]);
	find_gaps(parallel);
	return 0;
}
