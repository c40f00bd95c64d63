/* export: a recording as JSON, CSV, SQLite, a snapshot of the Python package, or a tracking file of gpu_tracker. */
#include <string.h>

#include "analysis/arguments.h"
#include "analysis/command.h"
#include "resource_tracker_analysis.h"

enum export_option {
	OPTION_OUTPUT = 'o',
	OPTION_FORMAT = 'f',
	OPTION_LAYOUT = 256,
	OPTION_NO_HEADER,
	OPTION_RAM_UNIT,
	OPTION_GPU_RAM_UNIT,
	OPTION_TIME_UNIT,
	OPTION_EXPECTED_CORES,
	OPTION_EXPECTED_GPUS,
	OPTION_GPU_UUIDS,
	OPTION_JSON
};

static const struct option OPTIONS[] = {
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"csv-layout", required_argument, NULL, OPTION_LAYOUT},
	{"no-header", no_argument, NULL, OPTION_NO_HEADER},
	{"ram-unit", required_argument, NULL, OPTION_RAM_UNIT},
	{"gpu-ram-unit", required_argument, NULL, OPTION_GPU_RAM_UNIT},
	{"time-unit", required_argument, NULL, OPTION_TIME_UNIT},
	{"expected-cores", required_argument, NULL, OPTION_EXPECTED_CORES},
	{"expected-gpus", required_argument, NULL, OPTION_EXPECTED_GPUS},
	{"gpu-uuids", required_argument, NULL, OPTION_GPU_UUIDS},
	{"json", no_argument, NULL, OPTION_JSON},
	{0},
};

static bool parse_positive(const char *text, double *ret_number)
{
	return parse_real(text, ret_number) && *ret_number > 0;
}

struct export_choice {
	struct rt_export_options options;
	struct text_list gpu_uuids;
	const char *output;
};

static void export_choice_done(struct export_choice *choice)
{
	text_list_done(&choice->gpu_uuids);
}

static bool set_option(struct export_choice *choice, int option)
{
	struct rt_export_options *options = &choice->options;

	switch (option) {
	case OPTION_OUTPUT:
		choice->output = optarg;
		return true;
	case OPTION_FORMAT:
		options->format = optarg;
		return true;
	case OPTION_LAYOUT:
		options->layout = optarg;
		return true;
	case OPTION_NO_HEADER:
		options->no_header = true;
		return true;
	case OPTION_RAM_UNIT:
		options->gpu_tracker.ram_unit = optarg;
		return true;
	case OPTION_GPU_RAM_UNIT:
		options->gpu_tracker.gpu_ram_unit = optarg;
		return true;
	case OPTION_TIME_UNIT:
		options->gpu_tracker.time_unit = optarg;
		return true;
	case OPTION_EXPECTED_CORES:
		return parse_positive(optarg, &options->gpu_tracker.expected_cores);
	case OPTION_EXPECTED_GPUS:
		return parse_positive(optarg, &options->gpu_tracker.expected_gpus);
	case OPTION_GPU_UUIDS:
		return text_list_add_parts(&choice->gpu_uuids, optarg) && choice->gpu_uuids.count;
	case OPTION_JSON:
		options->format = "json";
		return true;
	default:
		return false;
	}
}

static int run_export(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(export_choice_done))) struct export_choice choice = {0};
	struct rt_gpu_tracker_options *gpu_tracker = &choice.options.gpu_tracker;
	struct rt_problem problem = {"out of memory"};
	int option, result;

	while ((option = next_option(argc, argv, "o:f:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:f:", OPTIONS);
		if (!set_option(&choice, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (optind == argc)
		return command_usage(command, "name a recording");
	if (choice.options.layout && !choice.options.format)
		choice.options.format = "csv";
	if (!choice.output && !choice.options.format)
		return command_usage(command, "name a --format or an --output");
	gpu_tracker->gpu_uuids = choice.gpu_uuids.texts;
	gpu_tracker->gpu_uuid_count = choice.gpu_uuids.count;
	if (command_check_output(command, choice.output))
		return EXIT_FAULT;
	result = rt_export((const char *const *)argv + optind, (size_t)(argc - optind),
			   choice.output ? choice.output : "-", &choice.options, &problem);
	if (result != 0)
		(void)command_fault(command, "%s", problem.text);
	return result < 0 ? EXIT_FAULT : 0;
}

const struct command EXPORT_COMMAND = {
	.name = "export",
	.synopsis = "export [OPTIONS] FILE... -o OUT",
	.purpose = "Convert a recording to JSON, CSV, SQLite, a snapshot or a gpu_tracker file",
	.options =
		"  -o, --output OUT        write to OUT; the file appears when it is complete (default:\n"
		"                          standard output)\n"
		"  -f, --format FORMAT     json (a list), jsonl, csv, sqlite, snapshot (for load() of the\n"
		"                          Python package), snapshot-0.4, gpu_tracker (its tracking file;\n"
		"                          SQLite if OUT ends in .sqlite). The default follows the\n"
		"                          extension of OUT. A further extension .gz compresses the file\n"
		"      --json              the same as --format json\n"
		"      --csv-layout NAME   combined (default), system, process, system-0.4, process-0.4,\n"
		"                          system-0.1, pid-0.1\n"
		"      --no-header         write CSV without a header\n"
		"      --ram-unit UNIT, --gpu-ram-unit UNIT, --time-unit UNIT, --expected-cores N,\n"
		"      --expected-gpus N, --gpu-uuids A[,B]\n"
		"                          for gpu_tracker files, as in summary\n",
	.run = run_export,
};
