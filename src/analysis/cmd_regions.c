/* regions: shows what each phase of a run used. */
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_internal.h"

static void cleanup_regions(rt_regions **regions)
{
	rt_regions_free(*regions);
}

static int make_regions_text(const struct regions_words *options, const rt_regions *regions, char **ret_text)
{
	if (strcmp(options->format, "json") == 0)
		return rt_regions_to_json(regions, ret_text);
	if (strcmp(options->format, "gpu-tracker") == 0)
		return rt_regions_to_text(regions, ret_text);
	return rt_regions_for_screen(regions, command_screen(options->output), command_colour(), ret_text);
}

int run_regions(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(regions) options = {.format = "text"};
	const struct text_list *files = &options.line.files;
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int result, status = command_read(command, argv, &options);

	if (status)
		return status;
	if (!options.tracking_file != !options.sub_tracking_file || (options.tracking_file && files->count))
		return command_usage(command,
				     "give a recording, or both --tracking-file and --sub-tracking-file");
	if (!options.tracking_file && !files->count)
		return command_usage(command, "name a recording");
	result = options.tracking_file
			 ? rt_regions_read_gpu_tracker(options.tracking_file, options.sub_tracking_file,
						       &regions, &problem)
			 : rt_regions_read(files->texts, files->count, options.marks, options.column.texts,
					   options.column.count, &regions, &problem);
	if (result == 0)
		result = make_regions_text(&options, regions, &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (strcmp(options.format, "text") == 0)
		return command_write_fitted(command, options.output, text);
	return command_write(command, options.output, text, strlen(text));
}
