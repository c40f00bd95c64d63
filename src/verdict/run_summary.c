/* Reads a run and judges it. See run_summary.h. */
#include "verdict/run_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/mark_line.h"

/* Marks are optional: without readable ones, the summary has no phases. */
static void read_marked_phases(rt_summary *summary, const char *path)
{
	CLEANUP_BUFFER struct buffer beside = BUFFER(1 << 16);

	if (strcmp(path, "-") == 0)
		return;
	buffer_printf(&beside, "%s.marks", path);
	if (!buffer_error(&beside) && marks_can_be_read(beside.data))
		(void)phases_read_marks(beside.data, &summary->facts.clock, summary->facts.earliest,
					summary->facts.latest, &summary->phases, NULL);
}

static int read_summary(const char *const *paths, size_t path_count, const struct facts_options *options,
			rt_summary **ret_summary, struct rt_problem *problem)
{
	rt_summary *summary = calloc(1, sizeof(*summary));
	int result;

	if (!summary)
		return problem_set(problem, -ENOMEM, "out of memory");
	result = run_facts_read(&summary->facts, paths, path_count, options, problem);
	if (result < 0) {
		rt_summary_free(summary);
		return result;
	}
	read_marked_phases(summary, paths[0]);
	summary->verdict = find_verdict(&summary->facts);
	*ret_summary = summary;
	return 0;
}

int summary_read_watched(const char *const *paths, size_t path_count, const struct summary_watcher *watcher,
			 rt_summary **ret_summary, struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count, &(struct facts_options){.watcher = watcher}, ret_summary,
			    ret_problem);
}

int rt_summary_read_gpus(const char *const *paths, size_t path_count, const char *const *uuids,
			 size_t uuid_count, rt_summary **ret_summary, struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count,
			    &(struct facts_options){.gpu_uuids = uuids, .gpu_uuid_count = uuid_count},
			    ret_summary, ret_problem);
}

int rt_summary_read(const char *const *paths, size_t path_count, rt_summary **ret_summary,
		    struct rt_problem *ret_problem)
{
	return read_summary(paths, path_count, &(struct facts_options){0}, ret_summary, ret_problem);
}

void rt_summary_free(rt_summary *summary)
{
	if (!summary)
		return;
	run_facts_done(&summary->facts);
	phases_done(&summary->phases);
	free(summary);
}

struct rt_value rt_summary_get(const rt_summary *summary, const char *group, const char *name)
{
	struct rt_value values[RUN_FIGURE_COUNT];

	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		if (strcmp(RUN_FIGURES[i].group, group) == 0 && strcmp(RUN_FIGURES[i].name, name) == 0) {
			summary_values(&summary->facts, values);
			return values[i];
		}
	return (struct rt_value){.reason = ABSENT_NOT_GIVEN};
}

int rt_summary_bottleneck(const rt_summary *summary, size_t index, const char **ret_rule,
			  const char **ret_title, const char **ret_text)
{
	const struct verdict *verdict = &summary->verdict;

	if (index >= verdict->count)
		return -ENOENT;
	*ret_rule = verdict->bottlenecks[index].rule;
	*ret_title = verdict->bottlenecks[index].title;
	*ret_text = verdict->bottlenecks[index].text;
	return 0;
}

int rt_summary_program(const rt_summary *summary, size_t index, struct rt_program_use *ret_use)
{
	return summary_programs_get(&summary->facts.programs, index, ret_use);
}

int rt_summary_wait(const rt_summary *summary, size_t index, struct rt_wait_use *ret_use)
{
	return summary_waits_get(&summary->facts.waits, summary->facts.recorded_secs, index, ret_use);
}
