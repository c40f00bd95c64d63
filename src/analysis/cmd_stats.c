/* stats: computes statistics of a recording, column by column. */
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "resource_tracker_internal.h"

struct stats_request {
	struct text_list columns;
	struct text_list aggregates; /* "max", "peak=max"; aggregates that follow a column belong to it */
	struct rt_stat_spec *specs;
	size_t spec_count;
	struct text_list names; /* owns the names: "peak" of "peak=max" */
	int64_t decimals;       /* RT_STAT_NOT_ROUNDED until --round */
	bool json, any_csv;
	const char *output;
};

static void request_done(struct stats_request *request)
{
	text_list_done(&request->columns);
	text_list_done(&request->aggregates);
	text_list_done(&request->names);
	free(request->specs);
}

/* "max" is the name and the aggregate; in "peak=max", peak is the name and max the aggregate. */
static bool split_aggregate(struct stats_request *request, const char *text, struct rt_stat_spec *spec)
{
	const char *equals = strchr(text, '=');
	CLEANUP_FREE char *name = equals ? strndup(text, (size_t)(equals - text)) : NULL;

	spec->aggregate = equals ? equals + 1 : text;
	spec->name = NULL;
	if (!equals)
		return true;
	if (!name || !*name || !text_list_add_parts(&request->names, name))
		return false;
	spec->name = request->names.texts[request->names.count - 1];
	return true;
}

/*
 * Pairs each column named since the last group with the aggregates that follow it (mean and max by default).
 */
static bool close_group(struct stats_request *request, size_t *first_column, size_t *first_aggregate,
			size_t *first_spec)
{
	static const char *const USUAL[] = {"mean", "max"};
	size_t columns = request->columns.count - *first_column;
	size_t aggregates = request->aggregates.count - *first_aggregate;
	size_t added = columns * (aggregates ? aggregates : ARRAY_SIZE(USUAL));
	struct rt_stat_spec *specs =
		realloc(request->specs, (request->spec_count + added + 1) * sizeof(*specs));

	if (!specs)
		return false;
	request->specs = specs;
	*first_spec = request->spec_count;
	for (size_t i = 0; i < columns; i++)
		for (size_t j = 0; j < (aggregates ? aggregates : ARRAY_SIZE(USUAL)); j++) {
			const char *text =
				aggregates ? request->aggregates.texts[*first_aggregate + j] : USUAL[j];
			struct rt_stat_spec *spec = &specs[request->spec_count++];

			spec->column = request->columns.texts[*first_column + i];
			spec->decimals = RT_STAT_NOT_ROUNDED;
			if (!split_aggregate(request, text, spec))
				return false;
		}
	*first_column = request->columns.count;
	*first_aggregate = request->aggregates.count;
	return true;
}

/*
 * A group is some columns, then their aggregates and decimals. The next column after those starts a new
 * group.
 */
struct group {
	size_t first_column, first_aggregate, first_spec;
	bool described;
	int64_t decimals;
};

static bool end_group(struct stats_request *request, struct group *group)
{
	size_t first_spec;

	if (!close_group(request, &group->first_column, &group->first_aggregate, &first_spec))
		return false;
	for (size_t i = first_spec; i < request->spec_count; i++)
		request->specs[i].decimals = (int)group->decimals;
	group->described = false;
	group->decimals = RT_STAT_NOT_ROUNDED;
	return true;
}

static bool take_step(struct stats_request *request, struct group *group, const char *option,
		      const char *value)
{
	if (strcmp(option, "column") == 0) {
		if (group->described && !end_group(request, group))
			return false;
		return text_list_add_parts(&request->columns, value);
	}
	group->described = true;
	if (strcmp(option, "agg") == 0)
		return text_list_add_parts(&request->aggregates, value);
	return parse_count(value, &group->decimals) && group->decimals >= 0 && group->decimals <= 15;
}

static int compute_stats(const struct stats_request *request, const char *const *paths, size_t count,
			 rt_stats **ret_stats, struct rt_problem *problem)
{
	const struct rt_stat_spec *specs = request->specs;
	size_t spec_count = request->spec_count;
	rt_table *table = NULL;
	int result;

	if (!spec_count)
		specs = rt_stats_default_specs(&spec_count);
	if (!request->any_csv)
		return rt_stats_read_record(paths, count, specs, spec_count, ret_stats, problem);
	result = rt_table_read_csv(paths[0], &table, problem);
	if (result == 0)
		result = rt_stats_of_table(table, specs, spec_count, ret_stats, problem);
	rt_table_free(table);
	return result;
}

static void add_program_json(struct buffer *out, const struct rt_program_use *use, bool first)
{
	buffer_add_text(out, first ? "\n {\"name\":" : ",\n {\"name\":");
	json_escape(out, use->name, strlen(use->name));
	buffer_printf(out,
		      ",\"cpu_secs\":%.4f,\"cpu_pct\":%.2f,\"cpu_estimated_secs\":%.4f,\"memory_peak_mib\":",
		      use->cpu_secs, use->cpu_pct, use->cpu_estimated_secs);
	if (use->memory_peak_mib >= 0)
		buffer_printf(out, "%.3f", use->memory_peak_mib);
	else
		buffer_add_text(out, "null");
	if (use->process_count >= 0)
		buffer_printf(out, ",\"processes\":%lld}", (long long)use->process_count);
	else
		buffer_add_text(out, ",\"processes\":null}");
}

static void cleanup_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}

static int tell_programs(const struct subcommand *command, const struct stats_request *request,
			 const rt_summary *summary)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct rt_program_use use = {.size = sizeof use};
	CLEANUP_FREE char *text = NULL;

	if (rt_summary_program(summary, 0, &use) < 0)
		return command_fault(
			command,
			"the recording has no programs: it is older, or was made with --programs off");
	if (!request->json) {
		if (rt_summary_programs_for_screen(summary, command_screen(request->output), command_colour(),
						   &text) < 0)
			return command_fault(command, "out of memory");
		return command_write_fitted(command, request->output, text);
	}
	for (size_t i = 0; rt_summary_program(summary, i, &use) == 0; i++) {
		buffer_add_text(&out, i ? "" : "[");
		add_program_json(&out, &use, i == 0);
	}
	buffer_add_text(&out, "\n]\n");
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return command_write(command, request->output, out.data, out.length) ? EXIT_FAULT : 0;
}

static int tell_waits(const struct subcommand *command, const struct stats_request *request,
		      const rt_summary *summary)
{
	struct rt_wait_use use = {.size = sizeof use};
	CLEANUP_FREE char *text = NULL;
	int result;

	if (rt_summary_wait(summary, 0, &use) < 0)
		return command_fault(command,
				     "the recording has no waits: no sample saw one, or it is older, or was "
				     "made with --waits off");
	result = request->json ? rt_summary_waits_to_json(summary, &text)
			       : rt_summary_waits_for_screen(summary, command_screen(request->output),
							     command_colour(), &text);
	if (result < 0)
		return command_fault(command, "out of memory");
	return request->json ? command_write(command, request->output, text, strlen(text)) ? EXIT_FAULT : 0
			     : command_write_fitted(command, request->output, text);
}

static int tell_by(const struct subcommand *command, const struct stats_request *request, const char *by,
		   const struct text_list *files)
{
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	struct rt_problem problem = {"out of memory"};

	if (rt_summary_read(files->texts, files->count, &summary, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return strcmp(by, "wait") == 0 ? tell_waits(command, request, summary)
				       : tell_programs(command, request, summary);
}

static int make_stats_text(const struct stats_request *request, const rt_stats *stats, char **ret_text)
{
	return request->json
		       ? rt_stats_to_json(stats, ret_text)
		       : rt_stats_for_screen(stats, !request->spec_count, command_screen(request->output),
					     command_colour(), ret_text);
}

int run_stats(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(stats) options = {.format = "text"};
	const struct text_list *files = &options.line.files, *steps = &options.line.steps;
	__attribute__((cleanup(request_done))) struct stats_request request = {0};
	CLEANUP_STATS rt_stats *stats = NULL;
	struct group group = {.decimals = RT_STAT_NOT_ROUNDED};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int result, status = command_read(command, argv, &options);

	request.json = options.json || strcmp(options.format, "json") == 0;
	request.any_csv = options.any_csv;
	request.output = options.output;
	for (size_t i = 0; status == 0 && i < steps->count; i += 2)
		if (!take_step(&request, &group, steps->texts[i], steps->texts[i + 1]))
			status = command_wrong_value(command, steps->texts[i], steps->texts[i + 1]);
	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name a recording");
	if (options.by)
		return request.columns.count || options.any_csv
			       ? command_usage(command, "--by %s has its own columns", options.by)
			       : tell_by(command, &request, options.by, files);
	if (group.described && request.columns.count == group.first_column)
		return command_usage(command, "name a --column before --agg and --round");
	if (request.columns.count > group.first_column && !end_group(&request, &group))
		return command_fault(command, "out of memory");
	result = compute_stats(&request, files->texts, files->count, &stats, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (result > 0)
		command_fault(command, "%s", problem.text);
	if (make_stats_text(&request, stats, &text) < 0)
		return command_fault(command, "out of memory");
	status = request.json ? command_write(command, request.output, text, strlen(text))
			      : command_write_fitted(command, request.output, text);
	return status || result > 0 ? EXIT_FAULT : 0;
}
