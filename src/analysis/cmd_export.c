/* export: a recording as JSON, CSV, SQLite, a snapshot of the Python package, or a tracking file of gpu_tracker. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/ends_with.h"
#include "resource_tracker_analysis.h"

static bool parse_positive(const char *text, double *ret_number)
{
	return parse_real(text, ret_number) && *ret_number > 0;
}

struct export_choice {
	struct rt_export_options options;
	struct rt_gpu_tracker_options gpu_tracker;
	struct text_list gpu_uuids;
	const char *output;
};

static void export_choice_done(struct export_choice *choice)
{
	text_list_done(&choice->gpu_uuids);
}

static bool set_option(void *context, int option, const char *value)
{
	struct export_choice *choice = context;
	struct rt_export_options *options = &choice->options;

	switch (option) {
	case OPTION_export_output:
		choice->output = value;
		return true;
	case OPTION_export_format:
		options->format = value;
		return true;
	case OPTION_export_csv_layout:
		options->layout = value;
		return true;
	case OPTION_export_no_header:
		options->no_header = true;
		return true;
	case OPTION_export_ram_unit:
		choice->gpu_tracker.ram_unit = value;
		return true;
	case OPTION_export_gpu_ram_unit:
		choice->gpu_tracker.gpu_ram_unit = value;
		return true;
	case OPTION_export_time_unit:
		choice->gpu_tracker.time_unit = value;
		return true;
	case OPTION_export_expected_cores:
		return parse_positive(value, &choice->gpu_tracker.expected_cores);
	case OPTION_export_expected_gpus:
		return parse_positive(value, &choice->gpu_tracker.expected_gpus);
	case OPTION_export_gpu_uuids:
		return text_list_add_parts(&choice->gpu_uuids, value) && choice->gpu_uuids.count;
	case OPTION_export_json:
		options->format = "json";
		return true;
	default:
		return false;
	}
}

static bool is_csv_file(const struct export_choice *choice)
{
	if (choice->options.format)
		return choice->output && strcmp(choice->options.format, "csv") == 0;
	return choice->output && (ends_with(choice->output, ".csv") || ends_with(choice->output, ".csv.gz"));
}

/* A person who looks at the file later would miss them. */
static void tell_of_csv(const struct export_choice *choice)
{
	if (is_csv_file(choice) && strcmp(choice->output, "-") != 0 && isatty(STDERR_FILENO))
		fprintf(stderr, "CSV has whole MiB, and neither the job's name nor how it ended; .jsonl and "
				".sqlite have all\n");
}

int run_export(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(export_choice_done))) struct export_choice choice = {
		.options = {.size = sizeof(choice.options), .gpu_tracker = &choice.gpu_tracker},
		.gpu_tracker = {.size = sizeof(choice.gpu_tracker)}};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &choice, &files);
	if (status)
		return status;
	if (!files.count)
		return command_usage(command, "name a recording");
	if (choice.options.layout && !choice.options.format)
		choice.options.format = "csv";
	if (!choice.output && !choice.options.format)
		return command_usage(command, "name a --format or an --output");
	choice.gpu_tracker.gpu_uuids = choice.gpu_uuids.texts;
	choice.gpu_tracker.gpu_uuid_count = choice.gpu_uuids.count;
	if (command_check_output(command, choice.output))
		return EXIT_FAULT;
	result = rt_export(files.texts, files.count, choice.output ? choice.output : "-", &choice.options,
			   &problem);
	if (result != 0)
		(void)command_fault(command, "%s", problem.text);
	if (result >= 0)
		tell_of_csv(&choice);
	return result < 0 ? EXIT_FAULT : 0;
}
