/* summary: prints a run's totals on one screen, as JSON, as Markdown, or as gpu_tracker's tree of figures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

struct summary_options {
	bool json, gpu_tracker, markdown;
	enum rt_size_unit unit;
	struct rt_gpu_tracker_options tree;
	struct text_list gpu_uuids;
	const char *output;
};

static void options_done(struct summary_options *options)
{
	text_list_done(&options->gpu_uuids);
}

static void cleanup_summary(rt_summary **summary)
{
	rt_summary_free(*summary);
}

static bool parse_unit(const char *name, enum rt_size_unit *ret_unit)
{
	static const struct {
		const char *name;
		enum rt_size_unit unit;
	} UNITS[] = {{"auto", RT_SIZE_AUTO}, {"bytes", RT_BYTES}, {"kib", RT_KIB}, {"mib", RT_MIB},
		     {"gib", RT_GIB},        {"tib", RT_TIB},     {"kb", RT_KB},   {"mb", RT_MB},
		     {"gb", RT_GB},          {"tb", RT_TB}};

	for (size_t i = 0; i < ARRAY_SIZE(UNITS); i++)
		if (strcasecmp(name, UNITS[i].name) == 0) {
			*ret_unit = UNITS[i].unit;
			return true;
		}
	return false;
}

static bool parse_positive(const char *text, double *ret_number)
{
	return parse_real(text, ret_number) && *ret_number > 0;
}

static bool set_option(void *context, int option, const char *value)
{
	struct summary_options *options = context;

	switch (option) {
	case OPTION_summary_json:
		options->json = true;
		return true;
	case OPTION_summary_markdown:
		options->markdown = true;
		return true;
	case OPTION_summary_format:
		options->markdown = options->markdown || strcmp(value, "markdown") == 0;
		options->json = options->json || strcmp(value, "json") == 0;
		options->gpu_tracker = options->gpu_tracker || strcmp(value, "gpu-tracker") == 0;
		return true;
	case OPTION_summary_layout:
		options->gpu_tracker = options->gpu_tracker || strcmp(value, "gpu_tracker") == 0;
		return true;
	case OPTION_summary_unit:
		return parse_unit(value, &options->unit);
	case OPTION_summary_ram_unit:
		options->tree.ram_unit = value;
		return true;
	case OPTION_summary_gpu_ram_unit:
		options->tree.gpu_ram_unit = value;
		return true;
	case OPTION_summary_time_unit:
		options->tree.time_unit = value;
		return true;
	case OPTION_summary_expected_cores:
		return parse_positive(value, &options->tree.expected_cores);
	case OPTION_summary_expected_gpus:
		return parse_positive(value, &options->tree.expected_gpus);
	case OPTION_summary_gpu_uuids:
		return text_list_add_parts(&options->gpu_uuids, value) && options->gpu_uuids.count;
	case OPTION_summary_output:
		options->output = value;
		return true;
	default:
		return false;
	}
}

static int make_text(const struct summary_options *options, const rt_summary *summary, char **ret_text,
		     struct rt_problem *problem)
{
	if (options->gpu_tracker)
		return rt_summary_to_gpu_tracker(summary, &options->tree, options->json, ret_text, problem);
	if (options->json)
		return rt_summary_to_json(summary, ret_text);
	if (options->markdown)
		return rt_summary_to_markdown(summary, options->unit, ret_text);
	return rt_summary_for_screen(summary, options->unit, command_screen(options->output),
				     command_colour(), ret_text);
}

/* Appends to *text and grows it. `between` separates the parts, so the first one does not get it. */
static int append_text(char **text, const char *between, const char *more)
{
	char *longer = NULL;

	if (asprintf(&longer, "%s%s%s", *text ? *text : "", *text ? between : "", more) < 0)
		return -ENOMEM;
	free(*text);
	*text = longer;
	return 0;
}

static int add_summary(const struct summary_options *options, const char *const *paths, size_t count,
		       char **text, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	CLEANUP_FREE char *one = NULL;
	int result = rt_summary_read_gpus(paths, count, options->gpu_uuids.texts, options->gpu_uuids.count,
					  &summary, problem);

	if (result == 0)
		result = make_text(options, summary, &one, problem);
	return result < 0 ? result : append_text(text, options->json ? "," : "\n", one);
}

/* Several files may be parts of one run (upload segments, a pair of CSV files) or separate recordings. */
static int is_one_run(const char *const *paths, size_t count, bool *ret_one, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_summary))) rt_summary *summary = NULL;
	int result;

	*ret_one = true;
	/* Standard input can be read only once. */
	for (size_t i = 0; i < count; i++)
		if (count == 1 || strcmp(paths[i], "-") == 0)
			return 0;
	result = rt_summary_read(paths, count, &summary, problem);
	if (result == 0)
		*ret_one = rt_summary_get(summary, "run", "runs_in_file").count == 1;
	return result;
}

int run_summary(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(options_done))) struct summary_options options = {
		.tree = {.size = sizeof(options.tree)}};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL, *list = NULL;
	const char *const *paths;
	size_t count;
	bool one;
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &options, &files);
	if (status)
		return status;
	if (!files.count)
		return command_usage(command, "name a recording");
	if (options.markdown && (options.json || options.gpu_tracker))
		return command_usage(command, "choose one form: Markdown, JSON or gpu_tracker's");
	paths = files.texts;
	count = files.count;
	result = is_one_run(paths, count, &one, &problem);
	for (size_t i = 0; result == 0 && i < (one ? 1 : count); i++)
		result = add_summary(&options, &paths[i], one ? count : 1, &text, &problem);
	/* gpu_tracker's text has no final newline, in files either. A terminal needs one. */
	if (result == 0 && options.gpu_tracker && !options.output && one)
		result = append_text(&text, "\n", "");
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (!options.json && !options.gpu_tracker && !options.markdown)
		return command_write_fitted(command, options.output, text);
	if (one || !options.json)
		return command_write(command, options.output, text, strlen(text));
	if (asprintf(&list, "[%s]\n", text) < 0)
		return command_fault(command, "out of memory");
	return command_write(command, options.output, list, strlen(list));
}
