/* compare-runs: shows what changed between runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/find_run.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "history/good_runs.h"
#include "history/history.h"
#include "history/runs_file.h"
#include "resource_tracker_internal.h"

enum { EXIT_CONDITION = 3, JOB_BYTES = 16 << 10, NOT_GIVEN = -1, INT64_DIGITS = 24 };

static void cleanup_comparison(rt_comparison **comparison)
{
	rt_comparison_free(*comparison);
}

static void cleanup_good_runs(struct good_runs *good)
{
	good_runs_done(good);
}

/* Returns 0, EXIT_CONDITION when a condition holds, or another exit status. */
static int check_conditions(const struct subcommand *command, const struct compare_runs_words *options,
			    const rt_comparison *comparison)
{
	int status = 0;

	for (size_t i = 0; i < options->fail_if.count; i++) {
		struct rt_problem problem = {""};
		int result = rt_comparison_holds(comparison, options->fail_if.texts[i], &problem);

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
static int compare_phases(const struct subcommand *command, const struct compare_runs_words *options,
			  const struct run_list *runs)
{
	struct rt_problem problem = {""};
	CLEANUP_FREE char *text = NULL;
	int result = rt_compare_phases(runs->runs, runs->count, options->statistic, options->json, &text,
				       &problem);

	if (*problem.text)
		(void)command_fault(command, "%s", problem.text);
	return result < 0 ? 1 : command_write(command, options->output, text, strlen(text));
}

/* Tells on standard error the reasons why changes may mean less than they seem to. */
static void tell_about_good_runs(const struct subcommand *command, const struct good_runs *good)
{
	const char *job = good->job.data ? good->job.data : "";
	CLEANUP_BUFFER struct buffer left_out = BUFFER(JOB_BYTES);

	if (good->count < NOISE_NEEDS)
		(void)command_fault(
			command,
			"%zu good run%s of %s before this one: changes in percent are judged from %d on",
			good->count, good->count == 1 ? "" : "s", job, NOISE_NEEDS);
	if (good->other_cpus)
		(void)command_fault(command, "%zu of the %zu good runs of %s had another CPU model",
				    good->other_cpus, good->count, job);
	lines_left_out_text(&left_out, &good->left_out);
	if (left_out.length && !buffer_error(&left_out))
		(void)command_fault(command, "left out: %s", left_out.data);
}

static int compare_with_good_runs(const struct subcommand *command, const struct compare_runs_words *options,
				  struct good_runs *good, const struct rt_compared_run *run,
				  rt_comparison **ret_comparison, struct rt_problem *problem)
{
	const char *usual = secure_getenv("TRACKER_RUNS");
	const char *runs = options->runs ? options->runs : usual && *usual ? usual : NULL;
	CLEANUP_FREE char *own = NULL, *name = runs ? runs_file_name(runs) : NULL;
	int result = runs ? (name ? 0 : -ENOMEM) : history_own_lines(&own, problem);

	good->job = BUFFER(JOB_BYTES);
	if (result == 0)
		result = look_at_input(name ? name : own, problem);
	if (result == 0)
		result = good_runs_compare(run, name ? name : own, (size_t)options->last_good, good,
					   ret_comparison, problem);
	if (result == 0)
		tell_about_good_runs(command, good);
	return result;
}

/* Prints the reason for which the command line is refused, and returns its exit status. */
static int check_words(const struct subcommand *command, const struct compare_runs_words *options,
		       size_t count)
{
	bool is_with_last = options->last_good != NOT_GIVEN;
	char last_good[INT64_DIGITS];

	snprintf(last_good, sizeof(last_good), "%lld", (long long)options->last_good);
	if (is_with_last && (!options->last_good || options->last_good > GOOD_RUNS_MOST))
		return command_wrong_value(command, "last-good", last_good);
	if (options->runs && !*options->runs)
		return command_wrong_value(command, "runs", options->runs);
	if (is_with_last && count != 1)
		return command_usage(command, "--last-good takes one run");
	if (options->runs && !is_with_last)
		return command_usage(command, "--runs is for --last-good N");
	if (!is_with_last && count < 2)
		return command_usage(command, "name at least two recordings");
	if (options->statistic && (options->fail_if.count || is_with_last))
		return command_usage(command, "--stat does not go together with --fail-if or --last-good");
	return 0;
}

int run_compare_runs(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(compare_runs) options = {.last_good = NOT_GIVEN};
	const struct text_list *files = &options.line.files;
	__attribute__((cleanup(cleanup_comparison))) rt_comparison *comparison = NULL;
	__attribute__((cleanup(cleanup_good_runs))) struct good_runs good = {0};
	CLEANUP_RUNS struct run_list runs = {0};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int result, status = command_read(command, argv, &options);

	if (status == 0)
		status = check_words(command, &options, files->count);
	if (status)
		return status;
	if (!run_list_fill(&runs, files->texts, files->count))
		return command_fault(command, "out of memory");
	if (options.statistic)
		return compare_phases(command, &options, &runs);
	result = options.last_good != NOT_GIVEN ? compare_with_good_runs(command, &options, &good,
									 &runs.runs[0], &comparison, &problem)
						: rt_compare(runs.runs, runs.count, &comparison, &problem);
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
