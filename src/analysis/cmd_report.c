/* report: writes one interactive HTML page about one run, or about several side by side. */
#include <errno.h>
#include <fcntl.h>
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
	OPTION_SUCCEEDED,
	OPTION_INTEGRATION,
	OPTION_PRICE,
	OPTION_CATALOGUE,
	OPTION_INSTANCE,
	OPTION_FILTER,
	OPTION_HISTORY,
};

static const struct option OPTIONS[] = {
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"open", no_argument, NULL, OPTION_OPEN},
	{"failed", no_argument, NULL, OPTION_FAILED},
	{"succeeded", no_argument, NULL, OPTION_SUCCEEDED},
	{"integration", required_argument, NULL, OPTION_INTEGRATION},
	{"price", required_argument, NULL, OPTION_PRICE},
	{"catalogue", required_argument, NULL, OPTION_CATALOGUE},
	{"instance", required_argument, NULL, OPTION_INSTANCE},
	{"server-filter", required_argument, NULL, OPTION_FILTER},
	{"history", required_argument, NULL, OPTION_HISTORY},
	{0},
};

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
	case OPTION_SUCCEEDED:
		options->page.succeeded = true;
		return true;
	case OPTION_INTEGRATION:
		options->page.integration = optarg;
		return true;
	case OPTION_PRICE:
		return parse_real(optarg, &options->page.usd_per_hour) && options->page.usd_per_hour > 0;
	case OPTION_CATALOGUE:
		options->prices.catalogue = optarg;
		return true;
	case OPTION_INSTANCE:
		options->prices.instance = optarg;
		return true;
	case OPTION_FILTER:
		return strchr(optarg, '=') && text_list_add(&options->filters, optarg);
	case OPTION_HISTORY:
		return text_list_add(&options->history, optarg);
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
	int error = posix_spawn_file_actions_init(&actions);

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
static int open_page(const struct command *command, const char *path)
{
	const char *browser = secure_getenv("BROWSER");
	char *file = realpath(path, NULL);
	int error = file ? start_viewer("xdg-open", file) : errno;

	if (error == ENOENT && file && browser && *browser)
		error = start_viewer(browser, file);
	free(file);
	return error ? command_fault(command, "%s is written, but cannot be shown: xdg-open: %s", path,
				     strerror(error))
		     : 0;
}

static int run_report(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct report_options options = {0};
	struct rt_problem problem = {"out of memory"};
	int option;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (optind == argc)
		return command_usage(command, "name a recording");
	if (!options.output)
		return command_usage(command, "name the page to write: -o OUT.html");
	if (options.open && strcmp(options.output, "-") == 0)
		return command_usage(command, "--open needs a file, not standard output");
	if (options.prices.instance && !options.prices.catalogue)
		return command_usage(command, "--instance needs a --catalogue; or give the --price");
	options.prices.filters = options.filters.texts;
	options.prices.filter_count = options.filters.count;
	options.page.history = options.history.texts;
	options.page.history_count = options.history.count;
	if (!run_list_fill(&options.runs, argv + optind, (size_t)(argc - optind)))
		return command_fault(command, "out of memory");
	if (command_check_output(command, options.output))
		return EXIT_FAULT;
	if (rt_report_runs(options.runs.runs, options.runs.count, options.output, &options.page,
			   &options.prices, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return options.open ? open_page(command, options.output) : 0;
}

const struct command REPORT_COMMAND = {
	.name = "report",
	.synopsis = "report [OPTIONS] -o OUT.html FILE...",
	.purpose = "Make one interactive page without external files; several runs side by side",
	.options =
		"Several FILEs are shown side by side, with their differences from the first. NAME=FILE\n"
		"makes it one of several runs on the side NAME, as in compare-runs.\n"
		"\n"
		"  -o, --output FILE         write the page to FILE; - is standard output\n"
		"      --open                show the page in the browser\n"
		"      --failed              the job failed, whatever the recording says\n"
		"      --succeeded           the job succeeded, if the recording does not say\n"
		"      --integration NAME    the system that the job ran in, such as Metaflow; shown on\n"
		"                            the page\n"
		"      --price USD_PER_HOUR  price of the machine per hour; the page shows the cost of\n"
		"                            the run\n"
		"      --catalogue FILE      servers and their prices, as in recommend; the page shows\n"
		"                            the cheapest server that fits\n"
		"      --instance VENDOR/REGION/TYPE\n"
		"                            the server that the job ran on; the catalogue has its price\n"
		"      --history FILE        base the advice on this earlier run too (a recording, or the\n"
		"                            output of stats --json); may be given several times\n"
		"      --server-filter K=V   only servers with this property; may be given several times\n",
	.run = run_report,
};
