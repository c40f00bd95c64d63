/* The course of steps over their time, for the page. See flow.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "resource_tracker_internal.h"
#include "summary/summary.h"
#include "workflow/flow.h"

/* Parts of the whole workflow, and of all steps together: those of 5,000 steps take 0.3 MB of a page. */
static const double PARTS_OF_WORKFLOW = 240, PARTS_OF_STEPS = 25000;

static void close_course_facts(struct run_facts **facts)
{
	if (*facts)
		run_facts_done(*facts);
	free(*facts);
}

/* A part without a sample is like the one before, and the first ones are like the first that has one. */
static void fill_course(double *values, size_t parts)
{
	size_t first = 0;

	while (first < parts - 1 && isnan(values[first]))
		first++;
	for (size_t i = 0; i < parts; i++)
		if (isnan(values[i]))
			values[i] = values[i <= first ? first : i - 1];
}

/* The kernel's peak may lie between two samples: it belongs to the part with the largest one. */
static void put_peak(double *memory_mib, size_t parts, double peak_mib)
{
	size_t largest = 0;

	for (size_t i = 0; i < parts; i++)
		if (memory_mib[i] > memory_mib[largest])
			largest = i;
	memory_mib[largest] = fmax(memory_mib[largest], peak_mib);
}

/* Leaves the course unknown if the recording is gone. */
static int read_course(const struct flow_step *step, struct flow_place *place, size_t parts)
{
	__attribute__((cleanup(close_course_facts))) struct run_facts *facts = calloc(1, sizeof(*facts));
	const struct facts_options options = {0};
	const char *path = step->path;
	int result = facts ? run_facts_read(facts, &path, 1, &options, NULL) : -ENOMEM;

	if (result < 0)
		return result == -ENOMEM ? result : 0;
	place->course = calloc(2 * parts, sizeof(*place->course));
	if (!place->course)
		return -ENOMEM;
	place->course_parts = parts;
	time_bins_columns(&facts->cores_history, step->wall_secs, false, place->course, parts);
	time_bins_columns(&facts->memory_history, step->wall_secs, true, place->course + parts, parts);
	fill_course(place->course, parts);
	fill_course(place->course + parts, parts);
	put_peak(place->course + parts, parts, step->memory_peak_mib);
	return 0;
}

int rt_workflow_read_courses(rt_workflow *workflow)
{
	double all_secs = 0, parts_of_workflow;
	int result = 0;

	for (size_t i = 0; i < workflow->steps.count; i++)
		all_secs += workflow->steps.list[i].wall_secs;
	parts_of_workflow = fmin(PARTS_OF_WORKFLOW, PARTS_OF_STEPS * workflow->wall_secs / all_secs);
	for (size_t i = 0; i < workflow->steps.count && result == 0; i++) {
		const struct flow_step *step = &workflow->steps.list[i];
		double parts = parts_of_workflow * step->wall_secs / workflow->wall_secs;

		if (parts >= 2 && step->path && !workflow->places[i].course)
			result = read_course(step, &workflow->places[i], (size_t)parts);
	}
	return result;
}
