/* Reads the steps of a build or workflow from their recordings. See parallel.h. */
#include <errno.h>
#include <fts.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/ends_with.h"
#include "metric/typed_rows.h"
#include "parallel/parallel.h"
#include "verdict/run_summary.h"

/* An engine needs no longer between two steps. More is another build in the same folder, or a person. */
static const double GAP_MOST_SECS = 0.1;

void parallel_done(struct parallel *parallel)
{
	for (size_t i = 0; i < parallel->count; i++) {
		free(parallel->steps[i].rule);
		free(parallel->steps[i].task);
		free(parallel->steps[i].command);
		free(parallel->steps[i].needs);
	}
	free(parallel->steps);
}

static double known_or_zero(double value)
{
	return isfinite(value) && value > 0 ? value : 0;
}

/* The kernel's peak may lie between two samples: it belongs to the part with the largest sample. */
static void read_memory_course(struct parallel_step *step, const struct run_facts *facts)
{
	size_t largest = 0;

	time_bins_columns(&facts->memory_history, step->wall_secs, true, step->memory_mib, PARALLEL_PARTS);
	step->peak_mib = known_or_zero(summary_memory_peak(facts).mib);
	for (size_t i = 0; i < PARALLEL_PARTS; i++) {
		bool is_known = isfinite(step->memory_mib[i]);

		/* A part without a sample is like the one before, and a step without any has its peak all the time. */
		if (!is_known)
			step->memory_mib[i] = i ? step->memory_mib[i - 1] : step->peak_mib;
		if (step->memory_mib[i] > step->memory_mib[largest])
			largest = i;
	}
	step->peak_mib = fmax(step->peak_mib, step->memory_mib[largest]);
	step->memory_mib[largest] = step->peak_mib;
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

static int take_parallel_step(struct parallel_step *ret_step, const rt_summary *summary)
{
	const struct run_facts *facts = &summary->facts;
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	const char *task = summary_task(facts);
	struct cpu_time time = summary_cpu_time(facts);

	*ret_step = (struct parallel_step){
		.rule = strdup(facts->run_name),
		.task = strdup(task ? task : ""),
		.command = start && !text_absent(start->command) ? strdup(start->command) : NULL,
		.started = facts->started,
		.wall_secs = facts->wall_secs,
		.cpu_secs = known_or_zero(cpu_time_total(&time)),
	};
	read_memory_course(ret_step, facts);
	ret_step->recorded_secs = facts->wall_secs;
	ret_step->wall_secs = secs_alone(facts->wall_secs, ret_step->cpu_secs,
					 known_or_zero(total_of(&facts->cpu_wait_secs)));
	return ret_step->rule && ret_step->task ? 0 : -ENOMEM;
}

static int add_parallel_step(struct parallel *parallel, const char *path)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	struct parallel_step *steps = parallel->steps;
	struct rt_problem problem;
	int result = rt_summary_read(&path, 1, &summary, &problem);

	if (result == -ENOMEM)
		return result;
	if (result < 0 || !(summary->facts.wall_secs > 0)) {
		parallel->unreadable++;
		return 0;
	}
	if (parallel->count == parallel->room) {
		parallel->room = parallel->room ? 2 * parallel->room : 64;
		steps = reallocarray(parallel->steps, parallel->room, sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		parallel->steps = steps;
	}
	return take_parallel_step(&steps[parallel->count++], summary);
}

static int add_parallel_folder(struct parallel *parallel, const char *path)
{
	char *const tops[] = {(char *)(uintptr_t)path, NULL};
	FTS *tree = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int result = tree ? 0 : -errno;

	while (tree && result == 0 && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F && strstr(entry->fts_name, ".jsonl") &&
		    !ends_with(entry->fts_name, ".marks"))
			result = add_parallel_step(parallel, entry->fts_path);
	if (tree)
		fts_close(tree);
	return result;
}

static int by_start_of_step(const void *left, const void *right)
{
	const struct parallel_step *a = left, *b = right;
	int order = (a->started > b->started) - (a->started < b->started);

	return order ? order : strcmp(a->task, b->task);
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
	struct stat status;
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++)
		result = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode)
				 ? add_parallel_folder(parallel, paths[i])
				 : add_parallel_step(parallel, paths[i]);
	if (result == 0 && parallel->count == 0)
		return problem_set(ret_problem, -ENODATA, "%s: no recording of a step in it", paths[0]);
	if (result < 0)
		return problem_set(ret_problem, result, "%s", strerror(-result));
	qsort(parallel->steps, parallel->count, sizeof(*parallel->steps), by_start_of_step);
	find_gaps(parallel);
	return 0;
}
