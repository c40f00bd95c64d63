/* Writes the advice about the number of jobs. See parallel.h. */
#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "base/screen.h"
#include "parallel/parallel.h"
#include "table/table.h"
#include "table/units.h"

enum { LINES_CEILING = 1 << 20 };

static const char *const LIMITS[] = {
	[LIMIT_CORES] = "cores", [LIMIT_MEMORY] = "memory", [LIMIT_CHAIN] = "chain",
	[LIMIT_STEPS] = "steps", [LIMIT_TURNS] = "turns",   [LIMIT_PLANS] = "plans"};

/* "prog1 and prog2 (3.10 GiB and 3.05 GiB)" */
static void add_heavy(struct buffer *out, const struct parallel *parallel, const struct parallel_plan *plan)
{
	for (size_t i = 0; i < plan->heavy_count; i++) {
		const struct parallel_step *step = &parallel->steps[plan->heavy[i]];

		buffer_add_text(out, !i ? "" : i + 1 == plan->heavy_count ? " and " : ", ");
		buffer_add_printable(out, *step->task ? step->task : step->rule);
		buffer_printf(out, " (%s)", amount_of_mib(step->peak_mib).text);
	}
}

static void add_memory_limit(struct buffer *out, const struct parallel *parallel)
{
	bool fits_none = parallel->best == parallel->plan_count;
	const struct parallel_plan *plan = &parallel->plans[fits_none ? 0 : parallel->blocked];

	buffer_printf(out, "at -j %zu ", plan->jobs);
	add_heavy(out, parallel, plan);
	if (plan->heavy_count > 1)
		buffer_add_text(out, " would overlap: ");
	else
		buffer_add_text(out, " would need, with the rest: ");
	buffer_printf(out, "%s of %s", amount_of_mib(plan->bound_mib).text,
		      amount_of_mib(parallel->memory_mib).text);
}

static void add_job_limit(struct buffer *out, const struct parallel *parallel)
{
	switch (parallel->limit) {
	case LIMIT_MEMORY:
		add_memory_limit(out, parallel);
		return;
	case LIMIT_CHAIN:
		buffer_printf(out, "steps that need each other take %s, so more jobs save no time",
			      amount_of(parallel->chain_secs, add_duration).text);
		return;
	case LIMIT_STEPS:
		buffer_printf(out, parallel->count == 1 ? "one step runs alone" : "all %zu steps run at once",
			      parallel->count);
		return;
	case LIMIT_TURNS:
		buffer_printf(out,
			      "more jobs save no time: steps share the cores at times, and wait for each "
			      "other at others (%.0f %% of the cores are busy)",
			      100 * parallel->busy);
		return;
	case LIMIT_PLANS:
		buffer_printf(
			out,
			"%zu jobs are the most that is planned for %s cores, which are %.0f %% busy then",
			parallel->plan_count, amount_of(parallel->cores, add_figure).text,
			100 * parallel->busy);
		return;
	case LIMIT_CORES:
	default:
		buffer_printf(out, "more jobs share the %s cores, and save no time",
			      amount_of(parallel->cores, add_figure).text);
		return;
	}
}

static void add_assumption(struct buffer *out, const struct parallel *parallel)
{
	if (parallel->without_command)
		buffer_printf(out,
			      "%zu of %zu step%s %s no recorded command, so it is unknown what %s: "
			      "record with TRACKER_RECORD_COMMAND=1",
			      parallel->without_command, parallel->count, parallel->count == 1 ? "" : "s",
			      parallel->without_command == 1 ? "has" : "have",
			      parallel->without_command == 1 ? "it needs" : "they need");
	else
		buffer_add_text(
			out, "a step needs those that it tells, or whose target or output its command names");
	if (parallel->unreadable)
		buffer_printf(out, "; %zu recording%s could not be read and %s left out",
			      parallel->unreadable, parallel->unreadable == 1 ? "" : "s",
			      parallel->unreadable == 1 ? "is" : "are");
}

void parallel_add_json(struct buffer *out, const struct parallel *parallel)
{
	CLEANUP_BUFFER struct buffer limit = BUFFER(LINES_CEILING), assumption = BUFFER(LINES_CEILING);
	struct json_writer json = JSON_WRITER(out);

	add_job_limit(&limit, parallel);
	add_assumption(&assumption, parallel);
	json_open(&json, '{');
	json_key(&json, "jobs");
	if (parallel->best < parallel->plan_count)
		json_count(&json, (int64_t)parallel->plans[parallel->best].jobs);
	else
		json_absent(&json);
	json_key(&json, "limit");
	json_text(&json, LIMITS[parallel->limit]);
	json_key(&json, "limit_text");
	json_text(&json, limit.data);
	json_key(&json, "assumption");
	json_text(&json, assumption.data);
	json_key(&json, "steps");
	json_count(&json, (int64_t)parallel->count);
	json_key(&json, "steps_without_command");
	json_count(&json, (int64_t)parallel->without_command);
	json_key(&json, "unreadable");
	json_count(&json, (int64_t)parallel->unreadable);
	json_shortest_member(&json, "cores", parallel->cores);
	json_shortest_member(&json, "memory_mib", parallel->memory_mib);
	json_shortest_member(&json, "chain_secs", parallel->chain_secs);
	json_key(&json, "plans");
	json_open(&json, '[');
	for (size_t i = 0; i < parallel->plan_count; i++) {
		const struct parallel_plan *plan = &parallel->plans[i];

		json_open(&json, '{');
		json_key(&json, "jobs");
		json_count(&json, (int64_t)plan->jobs);
		json_shortest_member(&json, "wall_secs", plan->wall_secs);
		json_shortest_member(&json, "wall_least_secs", plan->wall_least_secs);
		json_shortest_member(&json, "wall_most_secs", plan->wall_most_secs);
		json_shortest_member(&json, "peak_mib", plan->peak_mib);
		json_shortest_member(&json, "peak_least_mib", plan->peak_least_mib);
		json_shortest_member(&json, "peak_most_mib", plan->peak_most_mib);
		json_shortest_member(&json, "peak_bound_mib", plan->bound_mib);
		json_key(&json, "fits");
		json_flag(&json, !(plan->bound_mib > parallel->memory_mib));
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buffer_add_char(out, '\n');
}

static void add_plans(struct grid *grid, const struct parallel *parallel)
{
	static const char *const HEADINGS[] = {"JOBS",  "TIME", "SPEED",        "PEAK",
					       "LEAST", "MOST", "PEAKS AT ONCE"};

	for (size_t i = 0; i < ARRAY_SIZE(HEADINGS); i++)
		grid_add_column(grid, HEADINGS[i], true);
	for (size_t i = 0; i < parallel->plan_count; i++) {
		const struct parallel_plan *plan = &parallel->plans[i];

		buffer_printf(grid_cell(grid), "%s%zu", i == parallel->best ? "* " : "", plan->jobs);
		add_duration(grid_cell(grid), plan->wall_secs);
		buffer_printf(grid_cell(grid), "x %.2f", parallel->plans[0].wall_secs / plan->wall_secs);
		add_size_of_mib(grid_cell(grid), plan->peak_mib);
		add_size_of_mib(grid_cell(grid), plan->peak_least_mib);
		add_size_of_mib(grid_cell(grid), plan->peak_most_mib);
		add_size_of_mib(grid_cell(grid), plan->bound_mib);
	}
}

int parallel_add_text(struct buffer *out, const struct parallel *parallel, int fd, const char *colour)
{
	CLEANUP_GRID struct grid grid = {.keys = 1};
	CLEANUP_BUFFER struct buffer lines = BUFFER(LINES_CEILING);
	struct screen screen = screen_of(fd, colour), table = table_screen_of(fd, colour);

	if (parallel->best < parallel->plan_count)
		buffer_printf(&lines, "-j %zu; ", parallel->plans[parallel->best].jobs);
	else
		buffer_add_text(&lines, "the steps do not fit, not even one by one: ");
	add_job_limit(&lines, parallel);
	buffer_printf(&lines, "\n%zu step%s on %s cores with %s; ", parallel->count,
		      parallel->count == 1 ? "" : "s", amount_of(parallel->cores, add_figure).text,
		      amount_of_mib(parallel->memory_mib).text);
	add_assumption(&lines, parallel);
	buffer_add_text(&lines, "\n\n");
	if (buffer_error(&lines))
		return -ENOMEM;
	screen_add(out, lines.data, &screen, 2);
	add_plans(&grid, parallel);
	grid_print(&grid, out, &table);
	return buffer_error(out) ? -ENOMEM : 0;
}
