/* export: a recording as JSON, CSV, SQLite, a snapshot of the Python package, or a tracking file of gpu_tracker. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/ends_with.h"
#include "resource_tracker_analysis.h"

static bool is_csv_file(const struct export_words *options)
{
	if (options->format)
		return options->output && strcmp(options->format, "csv") == 0;
	return options->output &&
	       (ends_with(options->output, ".csv") || ends_with(options->output, ".csv.gz"));
}

/* A person who looks at the file later would miss them. */
static void tell_of_csv(const struct export_words *options)
{
	if (is_csv_file(options) && strcmp(options->output, "-") != 0 && isatty(STDERR_FILENO))
		fprintf(stderr, "CSV has whole MiB, and neither the job's name nor how it ended; .jsonl and "
				".sqlite have all\n");
}

int run_export(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(export) options = {0};
	const struct text_list *files = &options.line.files;
	CLEANUP_TEXTS struct text_list gpu_uuids = {0};
	struct rt_gpu_tracker_options gpu_tracker;
	struct rt_export_options choice = {.size = sizeof(choice), .gpu_tracker = &gpu_tracker};
	struct rt_problem problem = {"out of memory"};
	int result, status = command_read(command, argv, &options);

	if (status == 0)
		status = command_split(command, "gpu-uuids", &options.gpu_uuids, &gpu_uuids);
	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name a recording");
	if (options.csv_layout && !options.format)
		options.format = "csv";
	if (!options.output && !options.format)
		return command_usage(command, "name a --format or an --output");
	if (command_check_output(command, options.output))
		return EXIT_FAULT;
	gpu_tracker = GPU_TRACKER_OPTIONS_OF(options, gpu_uuids);
	choice.format = options.format;
	choice.layout = options.csv_layout;
	choice.no_header = options.no_header;
	result = rt_export(files->texts, files->count, options.output ? options.output : "-", &choice,
			   &problem);
	if (result != 0)
		(void)command_fault(command, "%s", problem.text);
	if (result >= 0)
		tell_of_csv(&options);
	return result < 0 ? EXIT_FAULT : 0;
}
