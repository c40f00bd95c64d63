/* regions: shows what each phase of a run used. */
#include <string.h>

#include "analysis/arguments.h"
#include "analysis/command.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

struct regions_options {
	bool json;
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

enum regions_option {
	OPTION_OUTPUT = 'o',
	OPTION_JSON = 256,
	OPTION_MARKS,
	OPTION_COLUMN,
	OPTION_TRACKING,
	OPTION_SUB_TRACKING
};

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"marks", required_argument, NULL, OPTION_MARKS},
	{"column", required_argument, NULL, OPTION_COLUMN},
	{"tracking-file", required_argument, NULL, OPTION_TRACKING},
	{"sub-tracking-file", required_argument, NULL, OPTION_SUB_TRACKING},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{0},
};

static bool set_option(struct regions_options *options, int option)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_MARKS:
		options->marks = optarg;
		return true;
	case OPTION_COLUMN:
		return text_list_add_parts(&options->columns, optarg);
	case OPTION_TRACKING:
		options->tracking = optarg;
		return true;
	case OPTION_SUB_TRACKING:
		options->sub_tracking = optarg;
		return true;
	case OPTION_OUTPUT:
		options->output = optarg;
		return true;
	default:
		return false;
	}
}

static int run_regions(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct regions_options options = {0};
	__attribute__((cleanup(cleanup_regions))) rt_regions *regions = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int option, result;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (!options.tracking != !options.sub_tracking || (options.tracking && optind != argc))
		return command_usage(command,
				     "give a recording, or both --tracking-file and --sub-tracking-file");
	if (!options.tracking && optind == argc)
		return command_usage(command, "name a recording");
	result = options.tracking
			 ? rt_regions_read_gpu_tracker(options.tracking, options.sub_tracking, &regions,
						       &problem)
			 : rt_regions_read((const char *const *)argv + optind, (size_t)(argc - optind),
					   options.marks, options.columns.texts, options.columns.count,
					   &regions, &problem);
	if (result == 0)
		result = options.json ? rt_regions_to_json(regions, &text)
				      : rt_regions_to_text(regions, &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	return command_write(command, options.output, text, strlen(text));
}

const struct command REGIONS_COMMAND = {
	.name = "regions",
	.synopsis = "regions [OPTIONS] FILE...",
	.purpose = "Show the resource use of each phase that the job marked",
	.options = "      --json                print the same as JSON\n"
		   "      --marks FILE          read the marks from FILE (default: first FILE with .marks\n"
		   "                            added)\n"
		   "      --column NAME[,...]   use these metrics instead of the usual ones (see\n"
		   "                            resource-tracker metrics)\n"
		   "      --tracking-file F --sub-tracking-file G\n"
		   "                            analyse gpu_tracker's own files, CSV or SQLite\n"
		   "  -o, --output FILE         write to FILE\n"
		   "\n"
		   "A sample belongs to a phase if its time lies between start and stop. A phase that was\n"
		   "never stopped lasts to the end of the recording (open_calls).\n",
	.run = run_regions,
};
