/* compare-runs: shows what changed between runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
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

static bool set_option(void *context, int option, const char *value)
{
	struct compare_options *options = context;

	switch (option) {
	case OPTION_compare_runs_json:
		options->json = true;
		return true;
	case OPTION_compare_runs_fail_if:
		return text_list_add(&options->conditions, value);
	case OPTION_compare_runs_statistic:
		options->statistic = value;
		return true;
	case OPTION_compare_runs_output:
		options->output = value;
		return true;
	default:
		return false;
	}
}

/* Returns 0, EXIT_CONDITION when a condition holds, or another exit status. */
static int check_conditions(const struct subcommand *command, const struct compare_options *options,
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
static int compare_phases(const struct subcommand *command, const struct compare_options *options)
{
	struct rt_problem problem = {""};
	CLEANUP_FREE char *text = NULL;
	int result = rt_compare_phases(options->runs.runs, options->runs.count, options->statistic,
				       options->json, &text, &problem);

	if (*problem.text)
		(void)command_fault(command, "%s", problem.text);
	return result < 0 ? 1 : command_write(command, options->output, text, strlen(text));
}

int run_compare_runs(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct compare_options options = {0};
	__attribute__((cleanup(cleanup_comparison))) rt_comparison *comparison = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &options, &files);
	if (status)
		return status;
	if (files.count < 2)
		return command_usage(command, "name at least two recordings");
	if (!run_list_fill(&options.runs, files.texts, files.count))
		return command_fault(command, "out of memory");
	if (options.statistic && options.conditions.count)
		return command_usage(command, "--stat and --fail-if do not go together");
	if (options.statistic)
		return compare_phases(command, &options);
	result = rt_compare(options.runs.runs, options.runs.count, &comparison, &problem);
	if (result == 0)
		result = options.json ? rt_comparison_to_json(comparison, &text)
				      : rt_comparison_for_screen(comparison, command_screen(options.output),
								 command_colour(), &text);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	status = options.json ? command_write(command, options.output, text, strlen(text))
			      : command_write_fitted(command, options.output, text);
	return status ? status : check_conditions(command, &options, comparison);
}
