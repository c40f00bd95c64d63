/* A workflow as text for people, in at most 40 lines. See flow.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "table/units.h"
#include "workflow/flow.h"

/* Rows of each part. The longest steps of a long path are shown, in their order. */
enum { PATH_ROWS = 8, RULE_ROWS = 5, FAILED_ROWS = 3, DAMAGED_ROWS = 2, PARTS_BYTES = 64 << 10 };

static const char *plural_end(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "align (sample 3)", of Nextflow, names the process as well. */
static bool task_names_rule(const struct flow_step *step)
{
	size_t length = strlen(step->rule);

	return strncmp(step->task, step->rule, length) == 0 &&
	       (!step->task[length] || strncmp(step->task + length, " (", 2) == 0);
}

void flow_add_step_name(struct buffer *out, const struct flow_step *step)
{
	bool is_whole = task_names_rule(step);

	buffer_add_printable(out, is_whole ? step->task : step->rule);
	if (!*step->task || is_whole)
		return;
	buffer_add_text(out, " (");
	buffer_add_printable(out, step->task);
	buffer_add_char(out, ')');
}

static void add_percent_of(struct buffer *out, double part, double whole)
{
	if (part >= 0 && whole > 0)
		buffer_printf(out, " (%.0f %%)", 100 * part / whole);
}

/* "Cores on node-1: 3.2 of 8 in use on average, 7.1 at once" */
static void add_host_line(struct buffer *out, const struct rt_workflow *flow, const struct flow_host *host)
{
	buffer_add_text(out, "  ");
	buffer_add_printable(out, *host->name ? host->name : "unknown host");
	buffer_printf(out, ": %zu slot%s; at most ", host->lanes, plural_end(host->lanes));
	add_figure(out, host->cores_most);
	buffer_add_text(out, " of ");
	add_figure(out, host->cores);
	buffer_printf(out, " cores and %s of ", amount_of_mib(host->memory_most).text);
	add_size_of_mib(out, host->memory_mib);
	buffer_add_text(out, " at once");
	if (flow->host_count == 1) {
		buffer_printf(out, "; CPU time %s", amount_of(flow->cpu_secs, add_duration).text);
		add_percent_of(out, flow->cpu_secs, host->cores * flow->wall_secs);
	}
	buffer_add_char(out, '\n');
}

static void add_head(struct buffer *out, const struct rt_workflow *flow)
{
	size_t hosts = flow->host_count, shown = hosts < 3 ? hosts : 3;

	buffer_printf(out, STYLE_STRONG "%zu step%s in %s" STYLE_END ", %zu rule%s; ", flow->steps.count,
		      plural_end(flow->steps.count), amount_of(flow->wall_secs, add_duration).text,
		      flow->rule_count, plural_end(flow->rule_count));
	buffer_printf(out, flow->failed ? STYLE_BAD "%zu failed" STYLE_END : "%zu failed", flow->failed);
	buffer_printf(out, ", %zu repeated, %zu at once\n", flow->repeated, flow->slots);
	for (size_t i = 0; i < shown; i++)
		add_host_line(out, flow, &flow->hosts[i]);
	if (hosts > shown)
		buffer_printf(out, "  and %zu host%s more\n", hosts - shown, plural_end(hosts - shown));
}

static int longer_step(const void *left, const void *right, void *context)
{
	const struct rt_workflow *flow = context;
	double a = flow->steps.list[*(const size_t *)left].wall_secs;
	double b = flow->steps.list[*(const size_t *)right].wall_secs;

	return (a < b) - (a > b);
}

static void add_path_row(struct grid *grid, const struct rt_workflow *flow, size_t index)
{
	const struct flow_step *step = &flow->steps.list[index];

	flow_add_step_name(grid_cell(grid), step);
	add_duration(grid_cell(grid), step->started - flow->began);
	add_duration(grid_cell(grid), step->wall_secs);
	add_duration(grid_cell(grid), fmax(0, flow->places[index].gap_secs));
	add_figure(grid_cell(grid), step->cores_mean);
	add_figure(grid_cell(grid), step->cores_asked);
	add_size_of_mib(grid_cell(grid), step->memory_peak_mib);
}

static void add_path_table(struct buffer *out, const struct rt_workflow *flow, const struct screen *screen)
{
	static const char *const NUMBERS[] = {"BEGAN", "TIME", "AFTER", "CORES", "ASKED", "MEMORY"};
	CLEANUP_GRID struct grid grid = {.keys = 1};
	CLEANUP_FREE size_t *longest = calloc(flow->path_count + 1, sizeof(*longest));
	double least;

	if (!longest)
		return;
	memcpy(longest, flow->path, flow->path_count * sizeof(*longest));
	qsort_r(longest, flow->path_count, sizeof(*longest), longer_step, (void *)(uintptr_t)flow);
	least = flow->path_count > PATH_ROWS ? flow->steps.list[longest[PATH_ROWS - 1]].wall_secs : 0;
	buffer_printf(out, "\nCritical path: %zu step%s, %s of %s inside them", flow->path_count,
		      plural_end(flow->path_count), amount_of(flow->path_secs, add_duration).text,
		      amount_of(flow->wall_secs, add_duration).text);
	buffer_add_text(out, flow->path_count > PATH_ROWS ? "; the longest are\n" : "\n");
	grid_add_shrinking(&grid, "STEP");
	for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++)
		grid_add_column(&grid, NUMBERS[i], true);
	for (size_t i = 0, rows = 0; i < flow->path_count && rows < PATH_ROWS; i++)
		if (flow->steps.list[flow->path[i]].wall_secs >= least) {
			add_path_row(&grid, flow, flow->path[i]);
			rows++;
		}
	grid_print(&grid, out, screen);
}

static void add_part_cell(struct grid *grid, double idle, double asked)
{
	if (asked > 0 && idle >= 0)
		buffer_printf(grid_cell(grid), "%.0f %%", 100 * idle / asked);
	else
		grid_add_cell(grid, "-");
}

static void add_rules(struct buffer *out, const struct rt_workflow *flow, const struct screen *screen)
{
	static const char *const NUMBERS[] = {"STEPS",    "FAILED", "TIME",       "ON PATH",
					      "CPU TIME", "MEMORY", "CORES IDLE", "MEMORY IDLE"};
	CLEANUP_GRID struct grid grid = {.keys = 1};

	buffer_add_char(out, '\n');
	grid_add_shrinking(&grid, "RULE");
	for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++)
		grid_add_column(&grid, NUMBERS[i], true);
	for (size_t i = 0; i < flow->rule_count && i < RULE_ROWS; i++) {
		const struct flow_rule *rule = &flow->rules[i];

		buffer_add_printable(grid_cell(&grid), rule->name);
		buffer_printf(grid_cell(&grid), "%zu", rule->steps);
		buffer_printf(grid_cell(&grid), "%zu", rule->failed);
		add_duration(grid_cell(&grid), rule->wall_secs);
		add_duration(grid_cell(&grid), rule->path_secs);
		add_duration(grid_cell(&grid), rule->cpu_secs);
		add_size_of_mib(grid_cell(&grid), rule->memory_peak_mib);
		add_part_cell(&grid, rule->idle_core_secs, rule->asked_core_secs);
		add_part_cell(&grid, rule->idle_gib_hours, rule->asked_gib_hours);
	}
	grid_print(&grid, out, screen);
	if (flow->rule_count > RULE_ROWS)
		buffer_printf(out, "and %zu rule%s more\n", flow->rule_count - RULE_ROWS,
			      plural_end(flow->rule_count - RULE_ROWS));
}

static void add_failed(struct buffer *out, const struct rt_workflow *flow)
{
	size_t shown = 0;

	for (size_t i = 0; i < flow->steps.count && shown < FAILED_ROWS; i++) {
		const struct flow_step *step = &flow->steps.list[i];
		const char *end = json_string_value(json_object_get(step->line, "end"));

		if (flow_step_is_good(step))
			continue;
		shown++;
		buffer_add_text(out, "Failed: ");
		flow_add_step_name(out, step);
		buffer_printf(out, ", %s: ", step->outcome);
		buffer_add_printable(out, end ? end : "no end is recorded");
		buffer_add_text(out, step->is_last ? "\n" : ", and was repeated\n");
	}
	if (flow->failed > shown)
		buffer_printf(out, "and %zu more failed\n", flow->failed - shown);
	for (size_t i = 0; i < flow->steps.damaged_count && i < DAMAGED_ROWS; i++) {
		buffer_add_text(out, "Damaged: ");
		buffer_add_printable(out, flow->steps.damaged[i].why);
		buffer_add_char(out, '\n');
	}
	if (flow->steps.damaged_count > DAMAGED_ROWS)
		buffer_printf(out, "and %zu more damaged recording%s (--json names all)\n",
			      flow->steps.damaged_count - DAMAGED_ROWS,
			      plural_end(flow->steps.damaged_count - DAMAGED_ROWS));
}

static void add_spread(struct buffer *out, const char *label, const struct flow_spread *spread,
		       void (*add)(struct buffer *out, double value))
{
	if (isnan(spread->most))
		return;
	buffer_printf(out, "%s %s, ", label, amount_of(spread->least, add).text);
	buffer_printf(out, "%s, ", amount_of(spread->median, add).text);
	add(out, spread->most);
}

static void add_count_of_gpus(struct buffer *out, double count)
{
	buffer_printf(out, "%.2f", count);
}

/* The set of ranks with the largest straggler, or the first one. */
static void add_ranks_line(struct buffer *out, const struct rt_workflow *flow)
{
	const struct flow_ranks *ranks = flow->ranks;
	const struct flow_step *step;

	if (!flow->ranks_count)
		return;
	for (size_t i = 1; i < flow->ranks_count; i++)
		if (flow->ranks[i].over > (isnan(ranks->over) ? 0 : ranks->over))
			ranks = &flow->ranks[i];
	buffer_add_text(out, "Ranks of ");
	flow_add_step_name(out, &(struct flow_step){.rule = ranks->rule, .task = ranks->task});
	buffer_printf(out, ": %zu (min, median, max)", ranks->count);
	add_spread(out, "; time", &ranks->wall_secs, add_duration);
	add_spread(out, "; CPU time", &ranks->cpu_secs, add_duration);
	add_spread(out, "; memory", &ranks->memory_mib, add_size_of_mib);
	add_spread(out, "; GPUs at work", &ranks->gpu_mean, add_count_of_gpus);
	if (ranks->gpu_held_idle_secs.most > 0)
		add_spread(out, "; GPUs held without work for", &ranks->gpu_held_idle_secs, add_duration);
	if (ranks->straggler < 0) {
		buffer_add_text(out, "; none stands out");
	} else {
		step = &flow->steps.list[ranks->straggler];
		buffer_printf(out, "; " STYLE_STRONG "straggler: rank %lld" STYLE_END,
			      (long long)json_integer_value(json_object_get(step->line, "rank")));
		if (*step->host) {
			buffer_add_text(out, " on ");
			buffer_add_printable(out, step->host);
		}
		buffer_printf(out, ", %s %.0f %% over the median", ranks->by_cpu ? "CPU time" : "time",
			      100 * ranks->over);
	}
	if (flow->ranks_count > 1)
		buffer_printf(out, " (and %zu more with ranks: --json)", flow->ranks_count - 1);
	buffer_add_char(out, '\n');
}

static void add_needs_line(struct buffer *out, const struct rt_workflow *flow)
{
	size_t count = 0;

	for (size_t i = 0; i < flow->steps.count; i++)
		count += flow_tells_needs(flow, i);
	if (count)
		buffer_printf(out, "The needs of %zu of %zu steps are known%s\n", count, flow->steps.count,
			      count < flow->steps.count
				      ? "; each of the others follows the one that ended last"
				      : "");
}

static void add_estimates(struct buffer *out, const struct rt_workflow *flow)
{
	for (size_t i = 0; i < flow->estimate_count; i++) {
		buffer_add_text(out, "Estimate: ");
		buffer_add_printable(out, flow->estimates[i].what);
		buffer_printf(out, ", %s", amount_of(flow->estimates[i].wall_secs, add_duration).text);
		buffer_printf(out, " (%s)\n", flow->estimates[i].assumption);
	}
}

void flow_add_text(struct buffer *out, const struct rt_workflow *flow, const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer head = BUFFER(PARTS_BYTES), tail = BUFFER(PARTS_BYTES);

	add_head(&head, flow);
	add_ranks_line(&head, flow);
	add_needs_line(&head, flow);
	add_estimates(&tail, flow);
	add_failed(&tail, flow);
	screen_add(out, head.data ? head.data : "", screen, 2);
	add_path_table(out, flow, screen);
	add_rules(out, flow, screen);
	buffer_add_char(out, '\n');
	screen_add(out, tail.data ? tail.data : "", screen, 2);
	if (buffer_error(&head) || buffer_error(&tail))
		out->error = out->error ? out->error : buffer_error(&head) + buffer_error(&tail);
}
