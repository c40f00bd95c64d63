/* compare-runs: shows what changed between runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/arguments.h"
#include "analysis/command.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

enum { EXIT_CONDITION = 3 };

struct compare_options {
	bool json;
	const char *output, *statistic;
	struct text_list conditions, names;
	struct run_list runs;
};

static void cleanup_comparison(rt_comparison **comparison)
{
	rt_comparison_free(*comparison);
}

static void cleanup_options(struct compare_options *options)
{
	run_list_done(&options->runs);
	text_list_done(&options->conditions);
	text_list_done(&options->names);
}

enum compare_option { OPTION_OUTPUT = 'o', OPTION_JSON = 256, OPTION_FAIL_IF, OPTION_STATISTIC };

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"fail-if", required_argument, NULL, OPTION_FAIL_IF},
	{"stat", required_argument, NULL, OPTION_STATISTIC},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{0},
};

static bool set_option(struct compare_options *options, int option)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_FAIL_IF:
		return text_list_add(&options->conditions, optarg);
	case OPTION_STATISTIC:
		options->statistic = optarg;
		return true;
	case OPTION_OUTPUT:
		options->output = optarg;
		return true;
	default:
		return false;
	}
}

/* Returns 0, EXIT_CONDITION when a condition holds, or another exit status. */
static int check_conditions(const struct command *command, const struct compare_options *options,
			    const rt_comparison *comparison)
{
	int status = 0;

	for (size_t i = 0; i < options->conditions.count; i++) {
		struct rt_problem problem = {""};
		int result = rt_comparison_holds(comparison, options->conditions.texts[i], &problem);

		if (result < 0 && result != -ENODATA)
			return command_usage(command, "%s", problem.text);
		if (result)
			(void)command_fault(command, "%s", problem.text);
		/*
		 * A condition that cannot be judged fails the command, but it is not reported as a
		 * regression.
		 */
		if (result == -ENODATA && !status)
			status = EXIT_FAILURE;
		if (result > 0)
			status = EXIT_CONDITION;
	}
	return status;
}

/* Prints gpu_tracker's comparison. If code lines have moved between the runs, it prints a warning. */
static int compare_phases(const struct command *command, const struct compare_options *options)
{
	struct rt_problem problem = {""};
	CLEANUP_FREE char *text = NULL;
	int result = rt_compare_phases(options->runs.runs, options->runs.count, options->statistic,
				       options->json, &text, &problem);

	if (*problem.text)
		(void)command_fault(command, "%s", problem.text);
	return result < 0 ? 1 : command_write(command, options->output, text, strlen(text));
}

static int run_compare_runs(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct compare_options options = {0};
	__attribute__((cleanup(cleanup_comparison))) rt_comparison *comparison = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int option, result, status;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (argc - optind < 2)
		return command_usage(command, "name at least two recordings");
	if (!run_list_fill(&options.runs, argv + optind, (size_t)(argc - optind)))
		return command_fault(command, "out of memory");
	if (options.statistic && options.conditions.count)
		return command_usage(command, "--stat and --fail-if do not go together");
	if (options.statistic)
		return compare_phases(command, &options);
	result = rt_compare(options.runs.runs, options.runs.count, &comparison, &problem);
	if (result == 0)
		result = options.json ? rt_comparison_to_json(comparison, &text)
				      : rt_comparison_to_text(comparison, &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	status = command_write(command, options.output, text, strlen(text));
	return status ? status : check_conditions(command, &options, comparison);
}

const struct command COMPARE_RUNS_COMMAND = {
	.name = "compare-runs",
	.synopsis = "compare-runs [OPTIONS] A B...",
	.purpose = "Show how runs differ, figure by figure and phase by phase",
	.options =
		"Each FILE is a side of its own; NAME=FILE makes it one of several runs on the side NAME.\n"
		"A sentence says how each side differs from the first. Then come wall time, CPU time and\n"
		"memory, and after them the figures that differ, in percent of the first side, the\n"
		"largest change first. With several runs on both sides, the noise is the difference that\n"
		"equal runs rarely exceed. A change beyond the noise has a star.\n"
		"\n"
		"      --json                print the same as JSON\n"
		"      --fail-if CONDITION   exit with 3 if CONDITION holds for any side but the first.\n"
		"                            CONDITION is a figure, < or >, and a bound or a change in\n"
		"                            percent, such as 'memory_peak>+10%' or 'wall_time>60'. A\n"
		"                            percentage counts only beyond the noise. Exit with 1 if a\n"
		"                            side lacks the figure or measured memory in a different way.\n"
		"                            May be given several times\n"
		"      --stat min|max|mean|std\n"
		"                            compare as gpu_tracker does: this statistic of each measure,\n"
		"                            for the whole run and for each phase. Reads gpu_tracker's\n"
		"                            analyses (regions --json) and recordings; each side is one\n"
		"                            run\n"
		"  -o, --output FILE         write to FILE\n",
	.run = run_compare_runs,
};
