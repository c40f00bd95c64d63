/* stats: computes statistics of a recording, column by column. */
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "resource_tracker_analysis.h"

struct stats_options {
	struct text_list columns;
	struct text_list aggregates; /* "max", "peak=max"; aggregates that follow a column belong to it */
	struct rt_stat_spec *specs;
	size_t spec_count;
	struct text_list names; /* owns the names: "peak" of "peak=max" */
	int64_t decimals;       /* RT_NOT_ROUNDED until --round */
	bool json, any_csv, by_program;
	const char *output;
};

static void options_done(struct stats_options *options)
{
	text_list_done(&options->columns);
	text_list_done(&options->aggregates);
	text_list_done(&options->names);
	free(options->specs);
}

static void cleanup_stats(rt_stats **stats)
{
	rt_stats_free(*stats);
}

/* "max" is the name and the aggregate; in "peak=max", peak is the name and max the aggregate. */
static bool split_aggregate(struct stats_options *options, const char *text, struct rt_stat_spec *spec)
{
	const char *equals = strchr(text, '=');
	CLEANUP_FREE char *name = equals ? strndup(text, (size_t)(equals - text)) : NULL;

	spec->aggregate = equals ? equals + 1 : text;
	spec->name = NULL;
	if (!equals)
		return true;
	if (!name || !*name || !text_list_add_parts(&options->names, name))
		return false;
	spec->name = options->names.texts[options->names.count - 1];
	return true;
}

/*
 * Pairs each column named since the last group with the aggregates that follow it (mean and max by default).
 */
static bool close_group(struct stats_options *options, size_t *first_column, size_t *first_aggregate,
			size_t *first_spec)
{
	static const char *const USUAL[] = {"mean", "max"};
	size_t columns = options->columns.count - *first_column;
	size_t aggregates = options->aggregates.count - *first_aggregate;
	size_t added = columns * (aggregates ? aggregates : ARRAY_SIZE(USUAL));
	struct rt_stat_spec *specs =
		realloc(options->specs, (options->spec_count + added + 1) * sizeof(*specs));

	if (!specs)
		return false;
	options->specs = specs;
	*first_spec = options->spec_count;
	for (size_t i = 0; i < columns; i++)
		for (size_t j = 0; j < (aggregates ? aggregates : ARRAY_SIZE(USUAL)); j++) {
			const char *text =
				aggregates ? options->aggregates.texts[*first_aggregate + j] : USUAL[j];
			struct rt_stat_spec *spec = &specs[options->spec_count++];

			spec->column = options->columns.texts[*first_column + i];
			spec->decimals = RT_NOT_ROUNDED;
			if (!split_aggregate(options, text, spec))
				return false;
		}
	*first_column = options->columns.count;
	*first_aggregate = options->aggregates.count;
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

static bool end_group(struct stats_options *options, struct group *group)
{
	size_t first_spec;

	if (!close_group(options, &group->first_column, &group->first_aggregate, &first_spec))
		return false;
	for (size_t i = first_spec; i < options->spec_count; i++)
		options->specs[i].decimals = (int)group->decimals;
	group->described = false;
	group->decimals = RT_NOT_ROUNDED;
	return true;
}

struct reading {
	struct stats_options *options;
	struct group *group;
};

static bool set_option(void *context, int option, const char *value)
{
	struct reading *reading = context;
	struct stats_options *options = reading->options;
	struct group *group = reading->group;

	switch (option) {
	case OPTION_stats_column:
		if (group->described && !end_group(options, group))
			return false;
		return text_list_add_parts(&options->columns, value);
	case OPTION_stats_aggregate:
		group->described = true;
		return text_list_add_parts(&options->aggregates, value);
	case OPTION_stats_round:
		group->described = true;
		return parse_count(value, &group->decimals) && group->decimals >= 0 && group->decimals <= 15;
	case OPTION_stats_json:
		options->json = true;
		return true;
	case OPTION_stats_format:
		options->json = options->json || strcmp(value, "json") == 0;
		return true;
	case OPTION_stats_by:
		options->by_program = true;
		return strcmp(value, "program") == 0;
	case OPTION_stats_any_csv:
		options->any_csv = true;
		return true;
	case OPTION_stats_output:
		options->output = value;
		return true;
	default:
		return false;
	}
}

static int compute_stats(const struct stats_options *options, const char *const *paths, size_t count,
			 rt_stats **ret_stats, struct rt_problem *problem)
{
	const struct rt_stat_spec *specs = options->specs;
	size_t spec_count = options->spec_count;
	rt_table *table = NULL;
	int result;

	if (!spec_count)
		specs = rt_stats_default_specs(&spec_count);
	if (!options->any_csv)
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

static int tell_programs(const struct subcommand *command, const struct stats_options *options,
			 const struct text_list *files)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	struct rt_program_use use = {.size = sizeof use};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;

	if (rt_summary_read(files->texts, files->count, &summary, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	if (rt_summary_program(summary, 0, &use) < 0)
		return command_fault(
			command,
			"the recording has no programs: it is older, or was made with --programs off");
	if (!options->json) {
		if (rt_summary_programs_for_screen(summary, command_screen(options->output), command_colour(),
						   &text) < 0)
			return command_fault(command, "out of memory");
		return command_write_fitted(command, options->output, text);
	}
	for (size_t i = 0; rt_summary_program(summary, i, &use) == 0; i++) {
		buffer_add_text(&out, i ? "" : "[");
		add_program_json(&out, &use, i == 0);
	}
	buffer_add_text(&out, "\n]\n");
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return command_write(command, options->output, out.data, out.length) ? EXIT_FAULT : 0;
}

static int make_text(const struct stats_options *options, const rt_stats *stats, char **ret_text)
{
	return options->json
		       ? rt_stats_to_json(stats, ret_text)
		       : rt_stats_for_screen(stats, !options->spec_count, command_screen(options->output),
					     command_colour(), ret_text);
}

int run_stats(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(options_done))) struct stats_options options = {0};
	__attribute__((cleanup(cleanup_stats))) rt_stats *stats = NULL;
	struct group group = {.decimals = RT_NOT_ROUNDED};
	struct reading reading = {&options, &group};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &reading, &files);
	if (status)
		return status;
	if (!files.count)
		return command_usage(command, "name a recording");
	if (options.by_program)
		return options.columns.count || options.any_csv
			       ? command_usage(command, "--by program has its own columns")
			       : tell_programs(command, &options, &files);
	if (group.described && options.columns.count == group.first_column)
		return command_usage(command, "name a --column before --agg and --round");
	if (options.columns.count > group.first_column && !end_group(&options, &group))
		return command_fault(command, "out of memory");
	result = compute_stats(&options, files.texts, files.count, &stats, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (result > 0)
		command_fault(command, "%s", problem.text);
	if (make_text(&options, stats, &text) < 0)
		return command_fault(command, "out of memory");
	status = options.json ? command_write(command, options.output, text, strlen(text))
			      : command_write_fitted(command, options.output, text);
	return status || result > 0 ? EXIT_FAULT : 0;
}
