/* Gathers the figures of repeated runs. See repeat.h. */
#include "repeat/repeat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/tree_memory.h"
#include "table/aggregate.h"

enum { FIRST_ROOM = 32 };

static const char *const SIDE_NAMES[] = {"A", "B"};

/* Helpers of the recorder call exec, too. The one that asks for the cloud ends early. */
static bool had_helpers(const struct run_facts *facts, const struct rt_value *figures)
{
	return cell_real(figures[FIGURE_tracker_helpers_max], 0) > 0 ||
	       FIRST(record_identity(facts->record), cloud);
}

int repeat_add(struct repeat *repeat, struct repeat_run run, struct rt_problem *ret_problem)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	const char *path = run.path, *source, *reason;
	int result = rt_summary_read(&path, 1, &summary, ret_problem);

	if (result < 0)
		return result;
	if (repeat->count == repeat->capacity) {
		size_t capacity = repeat->capacity ? 2 * repeat->capacity : FIRST_ROOM;
		struct repeat_run *runs = realloc(repeat->runs, capacity * sizeof(*runs));

		if (!runs)
			return problem_set(ret_problem, -ENOMEM, "out of memory");
		repeat->runs = runs;
		repeat->capacity = capacity;
	}
	summary_values(&summary->facts, run.figures);
	if (!run.instructions.unknown && had_helpers(&summary->facts, run.figures))
		run.instructions.unknown = "helper programs of the recorder ran beside the command";
	reason = run.figures[FIGURE_end_reason].text;
	run.never_began = reason && strcmp(reason, "exec_failed") == 0;
	source = run.figures[FIGURE_memory_peak_source].text;
	run.measures = source ? 1u << memory_measure(source) : 0;
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		run.figures[i].text = NULL;
	run.path = strdup(path);
	if (!run.path)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	repeat->runs[repeat->count++] = run;
	return 0;
}

void repeat_done(struct repeat *repeat)
{
	for (size_t i = 0; i < repeat->count; i++)
		free(repeat->runs[i].path);
	free(repeat->runs);
}

bool repeat_counts(const struct repeat *repeat, const struct repeat_run *run)
{
	return run->status == 0 || repeat->counts_failed;
}

const char *repeat_figure_name(enum run_figure_id figure)
{
	const struct run_figure *row = &RUN_FIGURES[figure];

	/* Percentiles need another pass over the samples. */
	if (!row->unit || row->column)
		return NULL;
	return row->compared ? row->compared : row->key;
}

size_t repeat_values(const struct repeat *repeat, size_t side, enum run_figure_id figure, double *ret_values)
{
	size_t count = 0;

	for (size_t i = 0; i < repeat->count; i++)
		if (repeat->runs[i].side == side && repeat_counts(repeat, &repeat->runs[i]))
			ret_values[count++] = cell_real(repeat->runs[i].figures[figure], NAN);
	return count;
}

static double run_instructions(const struct repeat_run *run)
{
	return run->instructions.unknown ? (double)NAN : (double)run->instructions.count;
}

size_t repeat_instructions(const struct repeat *repeat, size_t side, double *ret_values)
{
	size_t count = 0;

	for (size_t i = 0; i < repeat->count; i++)
		if (repeat->runs[i].side == side && repeat_counts(repeat, &repeat->runs[i]))
			ret_values[count++] = run_instructions(&repeat->runs[i]);
	return count;
}

const char *instructions_unknown(const struct repeat *repeat, size_t side)
{
	for (size_t i = 0; i < repeat->count; i++)
		if (repeat->runs[i].side == side && repeat->runs[i].instructions.unknown)
			return repeat->runs[i].instructions.unknown;
	return NULL;
}

int repeat_compare(const struct repeat *repeat, rt_comparison **ret_comparison)
{
	static const char *const OUTCOMES[] = {"", ""};
	CLEANUP_FREE struct compared_value *values =
		calloc(repeat->count * (RUN_FIGURE_COUNT + 1) + 1, sizeof(*values));
	size_t runs[2] = {0, 0}, count = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < repeat->count; i++) {
		const struct repeat_run *run = &repeat->runs[i];

		if (!repeat_counts(repeat, run))
			continue;
		runs[run->side]++;
		values[count++] = (struct compared_value){.name = INSTRUCTIONS_FIGURE,
							  .unit = INSTRUCTIONS_UNIT,
							  .side = run->side,
							  .value = run_instructions(run)};
		for (enum run_figure_id figure = 0; figure < RUN_FIGURE_COUNT; figure++)
			if (repeat_figure_name(figure))
				values[count++] = (struct compared_value){
					.name = repeat_figure_name(figure),
					.unit = RUN_FIGURES[figure].unit,
					.side = run->side,
					.value = cell_real(run->figures[figure], NAN),
					.measures = figure == FIGURE_memory_peak_mib ? run->measures : 0,
				};
	}
	return compare_values(SIDE_NAMES, runs, OUTCOMES, values, count, ret_comparison);
}

const struct compared *repeat_figure(const rt_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->list[i].name, name) == 0)
			return &comparison->list[i];
	return NULL;
}
