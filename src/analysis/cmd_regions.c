/* regions: shows what each phase of a run used. */
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

struct regions_options {
	enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_GPU_TRACKER } format;
	const char *marks, *tracking, *sub_tracking, *output;
	struct text_list columns;
};

static void cleanup_regions(rt_regions **regions)
{
	rt_regions_free(*regions);
}

static void cleanup_options(struct regions_options *options)
{
	text_list_done(&options->columns);
}

static bool set_option(void *context, int option, const char *value)
{
	struct regions_options *options = context;

	switch (option) {
	case OPTION_regions_json:
		options->format = FORMAT_JSON;
		return true;
	case OPTION_regions_format:
		options->format = strcmp(value, "json") == 0          ? FORMAT_JSON
				  : strcmp(value, "gpu-tracker") == 0 ? FORMAT_GPU_TRACKER
								      : FORMAT_TEXT;
		return true;
	case OPTION_regions_marks:
		options->marks = value;
		return true;
	case OPTION_regions_column:
		return text_list_add_parts(&options->columns, value);
	case OPTION_regions_tracking_file:
		options->tracking = value;
		return true;
	case OPTION_regions_sub_tracking_file:
		options->sub_tracking = value;
		return true;
	case OPTION_regions_output:
		options->output = value;
		return true;
	default:
		return false;
	}
}

static int make_text(const struct regions_options *options, const rt_regions *regions, char **ret_text)
{
	if (options->format == FORMAT_JSON)
		return rt_regions_to_json(regions, ret_text);
	if (options->format == FORMAT_GPU_TRACKER)
		return rt_regions_to_text(regions, ret_text);
	return rt_regions_for_screen(regions, command_screen(options->output), command_colour(), ret_text);
}

int run_regions(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct regions_options options = {0};
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &options, &files);
	if (status)
		return status;
	if (!options.tracking != !options.sub_tracking || (options.tracking && files.count))
		return command_usage(command,
				     "give a recording, or both --tracking-file and --sub-tracking-file");
	if (!options.tracking && !files.count)
		return command_usage(command, "name a recording");
	result = options.tracking
			 ? rt_regions_read_gpu_tracker(options.tracking, options.sub_tracking, &regions,
						       &problem)
			 : rt_regions_read(files.texts, files.count, options.marks, options.columns.texts,
					   options.columns.count, &regions, &problem);
	if (result == 0)
		result = make_text(&options, regions, &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (options.format == FORMAT_TEXT)
		return command_write_fitted(command, options.output, text);
	return command_write(command, options.output, text, strlen(text));
}
