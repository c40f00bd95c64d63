/* summary: prints a run's totals on one screen, as JSON, or as gpu_tracker's tree of figures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/arguments.h"
#include "analysis/command.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

struct summary_options {
	bool json, gpu_tracker;
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

enum summary_option {
	OPTION_OUTPUT = 'o',
	OPTION_JSON = 256,
	OPTION_LAYOUT,
	OPTION_FORMAT,
	OPTION_UNIT,
	OPTION_RAM_UNIT,
	OPTION_GPU_RAM_UNIT,
	OPTION_TIME_UNIT,
	OPTION_EXPECTED_CORES,
	OPTION_EXPECTED_GPUS,
	OPTION_GPU_UUIDS
};

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"layout", required_argument, NULL, OPTION_LAYOUT},
	{"unit", required_argument, NULL, OPTION_UNIT},
	{"ram-unit", required_argument, NULL, OPTION_RAM_UNIT},
	{"gpu-ram-unit", required_argument, NULL, OPTION_GPU_RAM_UNIT},
	{"time-unit", required_argument, NULL, OPTION_TIME_UNIT},
	{"expected-cores", required_argument, NULL, OPTION_EXPECTED_CORES},
	{"expected-gpus", required_argument, NULL, OPTION_EXPECTED_GPUS},
	{"gpu-uuids", required_argument, NULL, OPTION_GPU_UUIDS},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{0},
};

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

/* Each of the two options takes `wanted` or "text". */
static bool parse_choice(const char *text, const char *wanted, bool *ret_chosen)
{
	*ret_chosen = strcmp(text, wanted) == 0;
	return *ret_chosen || strcmp(text, "text") == 0;
}

static bool parse_positive(const char *text, double *ret_number)
{
	return parse_real(text, ret_number) && *ret_number > 0;
}

static bool set_option(struct summary_options *options, int option)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_FORMAT:
		return parse_choice(optarg, "json", &options->json);
	case OPTION_LAYOUT:
		return parse_choice(optarg, "gpu_tracker", &options->gpu_tracker);
	case OPTION_UNIT:
		return parse_unit(optarg, &options->unit);
	case OPTION_RAM_UNIT:
		options->tree.ram_unit = optarg;
		return true;
	case OPTION_GPU_RAM_UNIT:
		options->tree.gpu_ram_unit = optarg;
		return true;
	case OPTION_TIME_UNIT:
		options->tree.time_unit = optarg;
		return true;
	case OPTION_EXPECTED_CORES:
		return parse_positive(optarg, &options->tree.expected_cores);
	case OPTION_EXPECTED_GPUS:
		return parse_positive(optarg, &options->tree.expected_gpus);
	case OPTION_GPU_UUIDS:
		return text_list_add_parts(&options->gpu_uuids, optarg) && options->gpu_uuids.count;
	case OPTION_OUTPUT:
		options->output = optarg;
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
	return options->json ? rt_summary_to_json(summary, ret_text)
			     : rt_summary_to_text(summary, options->unit, ret_text);
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

static int run_summary(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(options_done))) struct summary_options options = {0};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL, *list = NULL;
	const char *const *paths;
	size_t count;
	bool one;
	int option, result;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (optind == argc)
		return command_usage(command, "name a recording");
	paths = (const char *const *)argv + optind;
	count = (size_t)(argc - optind);
	result = is_one_run(paths, count, &one, &problem);
	for (size_t i = 0; result == 0 && i < (one ? 1 : count); i++)
		result = add_summary(&options, &paths[i], one ? count : 1, &text, &problem);
	/* gpu_tracker's text has no final newline, in files either. A terminal needs one. */
	if (result == 0 && options.gpu_tracker && !options.output && one)
		result = append_text(&text, "\n", "");
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (one || !options.json)
		return command_write(command, options.output, text, strlen(text));
	if (asprintf(&list, "[%s]\n", text) < 0)
		return command_fault(command, "out of memory");
	return command_write(command, options.output, list, strlen(list));
}

const struct command SUMMARY_COMMAND = {
	.name = "summary",
	.synopsis = "summary [OPTIONS] FILE...",
	.purpose = "Show on one screen how a run ended, its resource use and its bottleneck",
	.options = "      --json, --format json  print the same numbers, and more, as JSON\n"
		   "      --unit UNIT           unit of memory and amounts of data: auto, bytes, kib, mib,\n"
		   "                            gib, tib, kb, mb, gb, tb\n"
		   "      --layout gpu_tracker  the figures, keys and units of gpu_tracker, as its text or\n"
		   "                            with --json\n"
		   "      --ram-unit UNIT, --gpu-ram-unit UNIT\n"
		   "                            bytes, kilobytes, megabytes, gigabytes (default), terabytes\n"
		   "      --time-unit UNIT      seconds, minutes, hours (default), days\n"
		   "      --expected-cores N    number of cores for gpu_tracker's hardware percentages\n"
		   "                            (default: all)\n"
		   "      --expected-gpus N     the same for GPUs\n"
		   "      --gpu-uuids A[,B]     use only these GPUs in gpu_tracker's GPU percentages\n"
		   "  -o, --output FILE         write to FILE\n",
	.run = run_summary,
};
