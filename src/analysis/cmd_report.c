/* report: writes one interactive HTML page about one run, or about several side by side. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/scan.h"
#include "base/trust.h"
#include "resource_tracker_analysis.h"

extern char **environ;

enum { PAGE_BYTES = 64 };

struct report_options {
	const char *output;
	bool open;
	struct rt_report_options page;
	struct rt_report_prices prices;
	struct text_list filters, history;
	struct run_list runs;
};

static void cleanup_options(struct report_options *options)
{
	text_list_done(&options->filters);
	text_list_done(&options->history);
	run_list_done(&options->runs);
}

static bool set_option(void *context, int option, const char *value)
{
	struct report_options *options = context;

	switch (option) {
	case OPTION_report_output:
		options->output = value;
		return true;
	case OPTION_report_open:
		options->open = true;
		return true;
	case OPTION_report_failed:
		options->page.failed = true;
		return true;
	case OPTION_report_succeeded:
		options->page.succeeded = true;
		return true;
	case OPTION_report_integration:
		options->page.integration = value;
		return true;
	case OPTION_report_price:
		return parse_real(value, &options->page.usd_per_hour) && options->page.usd_per_hour > 0;
	case OPTION_report_catalogue:
		options->prices.catalogue = value;
		return true;
	case OPTION_report_instance:
		options->prices.instance = value;
		return true;
	case OPTION_report_filter:
		return strchr(value, '=') && text_list_add(&options->filters, value);
	case OPTION_report_history:
		return text_list_add(&options->history, value);
	default:
		return false;
	}
}

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

int run_report(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct report_options options = {
		.page = {.size = sizeof(options.page)}, .prices = {.size = sizeof(options.prices)}};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_TEXTS struct text_list files = {0};
	char page[PAGE_BYTES];
	int status;

	status = command_read(command, argv, set_option, &options, &files);
	if (status)
		return status;
	if (!files.count)
		return command_usage(command, "name a recording");
	if (!options.output && name_page(files.texts[0], page))
		options.output = page;
	else if (!options.output)
		return command_usage(command, "name the page to write: -o OUT.html");
	if (options.open && strcmp(options.output, "-") == 0)
		return command_usage(command, "--open needs a file, not standard output");
	if (options.prices.instance && !options.prices.catalogue)
		return command_usage(command, "--instance needs a --catalogue; or give the --price");
	options.prices.filters = options.filters.texts;
	options.prices.filter_count = options.filters.count;
	options.page.history = options.history.texts;
	options.page.history_count = options.history.count;
	if (!run_list_fill(&options.runs, files.texts, files.count))
		return command_fault(command, "out of memory");
	if (command_check_page(command, options.output))
		return EXIT_FAULT;
	if (rt_report_runs(options.runs.runs, options.runs.count, options.output, &options.page,
			   &options.prices, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	if (options.output == page)
		printf("%s is written\n", page);
	return options.open ? open_page(command, options.output) : 0;
}
