/* Compares a run with the last good runs of its job. See good_runs.h. */
#include "history/good_runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "history/run_line.h"
#include "record/run_lines.h"
#include "record/tree_memory.h"

enum { LINE_BYTES = 1 << 20, TEXT_BYTES = 4096, ID_BYTES = 64, ENTRY_RUN = 0 };

struct one_run {
	char id[ID_BYTES], end[OUTCOME_BYTES];
	double started, values[RUN_FIGURE_COUNT];
	unsigned measures; /* of memory */
	bool same_cpu;
};

struct search {
	struct one_run *runs; /* the first is the run itself, and good ones follow in any order */
	size_t count, most;
	struct buffer name, task, cpu;
	struct lines_left_out left_out;
};

static void search_done(struct search *search)
{
	free(search->runs);
	buffer_done(&search->name);
	buffer_done(&search->task);
	buffer_done(&search->cpu);
}

void good_runs_done(struct good_runs *good)
{
	buffer_done(&good->job);
}

static void take_run_text(struct buffer *out, const struct run_lines *lines, unsigned key)
{
	struct scan text = run_text(lines, key);

	buffer_add_text(out, "");
	json_unescape(out, &text);
}

static bool has_text(const struct run_lines *lines, unsigned key, const struct buffer *text)
{
	struct scan own = run_text(lines, key);

	return text->length ? run_text_is(lines, key, text->data) : !scan_left(&own);
}

static void take_good_run(struct one_run *ret_run, const struct run_lines *lines, const struct search *search)
{
	struct scan id = run_text(lines, RUN_id), end = run_text(lines, FIGURE_end_in_words),
		    source = run_text(lines, FIGURE_memory_peak_source);
	char name[TEXT_BYTES];

	*ret_run = (struct one_run){.started = run_real(lines, FIGURE_run_started_timestamp)};
	scan_copy(&id, ret_run->id, sizeof(ret_run->id));
	scan_copy(&end, ret_run->end, sizeof(ret_run->end));
	for (unsigned i = 0; i < RUN_FIGURE_COUNT; i++)
		ret_run->values[i] = run_real(lines, i);
	scan_copy(&source, name, sizeof(name));
	ret_run->measures = *name ? 1u << memory_measure(name) : 0;
	ret_run->same_cpu = has_text(lines, RUN_cpu_model, &search->cpu);
}

static bool is_good(const struct search *search, const struct run_lines *lines, const struct one_run *run)
{
	return run_text_is(lines, RUN_outcome, "ok") && has_text(lines, RUN_name, &search->name) &&
	       has_text(lines, RUN_task, &search->task) && !(run->started > search->runs[ENTRY_RUN].started);
}

/* Keeps the newest. A line that was added twice counts once, and that of the run itself is left out. */
static void keep_run(struct search *search, const struct one_run *run)
{
	struct one_run *oldest = NULL;

	for (size_t i = 0; i < search->count; i++) {
		struct one_run *kept = &search->runs[i];

		if (*run->id && strcmp(kept->id, run->id) == 0)
			return;
		if (i != ENTRY_RUN && (!oldest || kept->started < oldest->started))
			oldest = kept;
	}
	if (search->count <= search->most)
		search->runs[search->count++] = *run;
	else if (oldest && !(run->started < oldest->started))
		*oldest = *run;
}

static int find_good_runs(struct search *search, const char *path, struct rt_problem *problem)
{
	CLEANUP_RUN_LINES struct run_lines *lines = NULL;
	struct one_run run;
	int result = run_lines_new(&lines, path, problem);

	if (result < 0)
		return result;
	while ((result = run_lines_next(lines)) > 0) {
		take_good_run(&run, lines, search);
		if (is_good(search, lines, &run))
			keep_run(search, &run);
	}
	search->left_out = lines->left_out;
	return run_lines_finish(lines, result, path, problem);
}

/* The line of the run, with the words that its good runs must have. */
static int take_this_run(struct search *search, const char *recording, struct rt_problem *problem)
{
	CLEANUP_FREE struct run_lines *lines = calloc(1, sizeof(*lines));
	CLEANUP_BUFFER struct buffer text = BUFFER(LINE_BYTES);
	int result = run_line_add(&text, recording, &(struct run_place){.path = recording}, problem);

	if (result < 0)
		return result;
	search->runs = calloc(search->most + 1, sizeof(*search->runs));
	if (!lines || !search->runs || run_lines_read_text(lines, text.data, text.length) < 0)
		return problem_set(problem, -ENOMEM, "out of memory");
	take_run_text(&search->name, lines, RUN_name);
	take_run_text(&search->task, lines, RUN_task);
	take_run_text(&search->cpu, lines, RUN_cpu_model);
	take_good_run(&search->runs[ENTRY_RUN], lines, search);
	search->count = 1;
	return buffer_error(&search->name) || buffer_error(&search->task) || buffer_error(&search->cpu)
		       ? problem_set(problem, -ENOMEM, "out of memory")
		       : 0;
}

static int compare_search(const struct search *search, const char *side, rt_comparison **ret_comparison)
{
	const char *names[] = {"good runs", side},
		   *outcomes[] = {search->count > 1 ? search->runs[1].end : "none yet",
				  search->runs[ENTRY_RUN].end};
	size_t runs[] = {search->count - 1, 1}, count = 0;
	CLEANUP_FREE struct compared_value *values =
		calloc(search->count * RUN_FIGURE_COUNT, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < search->count; i++)
		for (size_t j = 0; j < RUN_FIGURE_COUNT; j++)
			if (run_figure_in_gate(&RUN_FIGURES[j]))
				values[count++] = (struct compared_value){
					.name = run_figure_in_gate(&RUN_FIGURES[j]),
					.unit = RUN_FIGURES[j].unit,
					.side = i == ENTRY_RUN,
					.value = search->runs[i].values[j],
					.measures =
						j == FIGURE_memory_peak_mib ? search->runs[i].measures : 0,
				};
	for (size_t i = 2; i < search->count; i++)
		if (strcmp(search->runs[i].end, outcomes[0]) != 0)
			outcomes[0] = "not all alike";
	return compare_values(names, runs, outcomes, values, count, ret_comparison);
}

int good_runs_compare(const struct rt_compared_run *run, const char *runs, size_t most,
		      struct good_runs *ret_good, rt_comparison **ret_comparison,
		      struct rt_problem *ret_problem)
{
	__attribute__((cleanup(search_done))) struct search search = {.most = most,
								      .name = BUFFER(TEXT_BYTES),
								      .task = BUFFER(TEXT_BYTES),
								      .cpu = BUFFER(TEXT_BYTES)};
	int result = take_this_run(&search, run->path, ret_problem);

	if (result == 0)
		result = find_good_runs(&search, runs, ret_problem);
	if (result < 0)
		return result;
	if (compare_search(&search, run->side, ret_comparison) < 0)
		return problem_set(ret_problem, -ENOMEM, "out of memory");
	(*ret_comparison)->percent_needs = NOISE_NEEDS;
	ret_good->count = search.count - 1;
	ret_good->left_out = search.left_out;
	ret_good->other_cpus = 0;
	for (size_t i = 1; i < search.count; i++)
		ret_good->other_cpus += !search.runs[i].same_cpu;
	buffer_add_printable(&ret_good->job, search.name.data);
	if (search.task.length) {
		buffer_add_text(&ret_good->job, " (");
		buffer_add_printable(&ret_good->job, search.task.data);
		buffer_add_char(&ret_good->job, ')');
	}
	return 0;
}
