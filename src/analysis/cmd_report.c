/* report: writes one interactive HTML page about one run, or about several side by side. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/command_workflow.h"
#include "analysis/words.h"
#include "base/scan.h"
#include "base/trust.h"
#include "resource_tracker_analysis.h"

extern char **environ;

enum { PAGE_BYTES = 64 };

/* Starts the program without waiting for it and discards its output. Returns 0 or an errno. */
static int start_viewer(const char *program, const char *file)
{
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)file, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	/* PATH and BROWSER are the caller's. */
	int error = has_more_rights_than_caller() ? EPERM : posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++)
		error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* xdg-open looks at $BROWSER itself. Without xdg-open, this function does. */
static int open_page(const struct subcommand *command, const char *path)
{
	const char *browser = getenv("BROWSER");
	char *file = realpath(path, NULL);
	int error = file ? start_viewer("xdg-open", file) : errno;

	if (error == ENOENT && file && browser && *browser)
		error = start_viewer(browser, file);
	free(file);
	return error ? command_fault(command, "%s is written, but cannot be shown: xdg-open: %s", path,
				     strerror(error))
		     : 0;
}

/* A run of the history needs no -o: the page of "run 12=PATH" is resource-tracker-12.html in this folder. */
static bool name_page(const char *operand, char ret_page[static PAGE_BYTES])
{
	struct scan text = scan_bytes(operand, strlen(operand));
	uint64_t number;

	if (!scan_literal(&text, "run ") || !scan_u64(&text, &number) || !scan_literal(&text, "=/"))
		return false;
	snprintf(ret_page, PAGE_BYTES, "resource-tracker-%llu.html", (unsigned long long)number);
	return true;
}

static void fill_report(const struct report_words *options, struct rt_report_options *contents,
			struct rt_report_prices *prices)
{
	contents->failed = options->failed;
	contents->succeeded = options->succeeded;
	contents->integration = options->integration;
	contents->usd_per_hour = options->price;
	contents->history = options->history.texts;
	contents->history_count = options->history.count;
	prices->catalogue = options->catalogue;
	prices->instance = options->instance;
	prices->filters = options->filter.texts;
	prices->filter_count = options->filter.count;
}

static int report_workflow(const struct subcommand *command, const struct report_words *options)
{
	const struct text_list *files = &options->line.files;
	CLEANUP_WORKFLOW rt_workflow *workflow = NULL;
	struct rt_problem problem = {"out of memory"};
	char *text = NULL;
	int result, status = 0;

	if (!options->json && !options->output)
		return command_usage(command, "name the page to write: -o OUT.html");
	if (!options->json && command_check_page(command, options->output))
		return EXIT_FAULT;
	result = rt_workflow_read(files->texts, files->count, &workflow, &problem);
	if (result == 0)
		result = rt_workflow_read_courses(workflow);
	if (result == 0 && options->json)
		result = rt_workflow_to_json(workflow, &text);
	else if (result == 0)
		result = rt_workflow_report(workflow, files->texts[0], options->output, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (text)
		status = command_write(command, options->output, text, strlen(text));
	free(text);
	return status ? status : options->open && !options->json ? open_page(command, options->output) : 0;
}

int run_report(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(report) options = {0};
	const struct text_list *files = &options.line.files;
	CLEANUP_RUNS struct run_list runs = {0};
	struct rt_report_options contents = {.size = sizeof(contents)};
	struct rt_report_prices prices = {.size = sizeof(prices)};
	struct rt_problem problem = {"out of memory"};
	char page[PAGE_BYTES];
	int status = command_read(command, argv, &options);

	if (status == 0)
		status = command_check_pairs(command, "server-filter", &options.filter);
	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name a recording");
	if (options.workflow || has_folder(files))
		return report_workflow(command, &options);
	if (options.json)
		return command_usage(command,
				     "--json is for workflows; summary --json has the figures of a run");
	if (!options.output && name_page(files->texts[0], page))
		options.output = page;
	else if (!options.output)
		return command_usage(command, "name the page to write: -o OUT.html");
	if (options.open && strcmp(options.output, "-") == 0)
		return command_usage(command, "--open needs a file, not standard output");
	if (options.instance && !options.catalogue)
		return command_usage(command, "--instance needs a --catalogue; or give the --price");
	fill_report(&options, &contents, &prices);
	if (!run_list_fill(&runs, files->texts, files->count))
		return command_fault(command, "out of memory");
	if (command_check_page(command, options.output))
		return EXIT_FAULT;
	if (rt_report_runs(runs.runs, runs.count, options.output, &contents, &prices, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	if (options.output == page)
		printf("%s is written\n", page);
	return options.open ? open_page(command, options.output) : 0;
}
