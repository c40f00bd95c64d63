/* report: one interactive HTML page of one run, or of several side by side. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/arguments.h"
#include "analysis/command.h"
#include "resource_tracker_analysis.h"

extern char **environ;

enum report_option {
	OPTION_OUTPUT = 'o',
	OPTION_OPEN = 256,
	OPTION_FAILED,
	OPTION_INTEGRATION,
	OPTION_PRICE,
};

static const struct option OPTIONS[] = {
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"open", no_argument, NULL, OPTION_OPEN},
	{"failed", no_argument, NULL, OPTION_FAILED},
	{"integration", required_argument, NULL, OPTION_INTEGRATION},
	{"price", required_argument, NULL, OPTION_PRICE},
	{0},
};

struct report_options {
	const char *output;
	bool open;
	struct rt_report_options page;
};

static bool set_option(struct report_options *options, int option)
{
	switch (option) {
	case OPTION_OUTPUT:
		options->output = optarg;
		return true;
	case OPTION_OPEN:
		options->open = true;
		return true;
	case OPTION_FAILED:
		options->page.failed = true;
		return true;
	case OPTION_INTEGRATION:
		options->page.integration = optarg;
		return true;
	case OPTION_PRICE:
		return parse_real(optarg, &options->page.usd_per_hour) && options->page.usd_per_hour > 0;
	default:
		return false;
	}
}

/* The browser is not waited for, and what it says goes nowhere. */
static int open_page(const struct command *command, const char *path)
{
	char program[] = "xdg-open";
	char *file = realpath(path, NULL);
	char *argv[] = {program, file, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error = posix_spawn_file_actions_init(&actions);

	if (file && error == 0) {
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++)
			error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
		if (error == 0)
			error = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(file);
	return error ? command_fault(command, "%s is written, but cannot be shown: %s: %s", path, program,
				     strerror(error))
		     : 0;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct report_options options = {0};
	struct rt_problem problem = {"out of memory"};
	int option;

	while ((option = getopt_long(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_usage(command, "see above");
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is no price in dollars an hour", optarg);
	}
	if (optind == argc)
		return command_usage(command, "name a recording");
	if (!options.output)
		return command_usage(command, "name the page to write: -o OUT.html");
	if (options.open && strcmp(options.output, "-") == 0)
		return command_usage(command, "--open needs a file, not standard output");
	if (rt_report((const char *const *)argv + optind, (size_t)(argc - optind), options.output,
		      &options.page, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return options.open ? open_page(command, options.output) : 0;
}

const struct command REPORT_COMMAND = {
	.name = "report",
	.synopsis = "report [OPTIONS] -o OUT.html FILE...",
	.purpose = "One interactive page that needs nothing else; several runs side by side",
	.options = "  -o, --output FILE         the page; - is standard output\n"
		   "      --open                show it in the browser\n"
		   "      --failed              the job failed, whatever the recording says\n"
		   "      --integration NAME    what the job ran in, such as Metaflow; named on the page\n"
		   "      --price USD_PER_HOUR  what an hour of the machine costs: the page says what the "
		   "run cost\n",
	.run = run,
};
