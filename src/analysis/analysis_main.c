/*
 * resource-tracker-analysis: the subcommands that read recordings. `resource-tracker NAME ...` executes it.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/keep.h"
#include "analysis/metric_pages.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "launch/in_time.h"
#include "options/parse.h"

enum { LIST_BYTES = 64 << 10, LOOK_MS = 5000 };

static const struct {
	const char *name;
	int (*run)(const struct subcommand *command, char **argv);
} RUN[] = {
#define SUBCOMMAND(id, name, ...) {name, run_##id},
#include "options/analysis_subcommands.def"
};

static bool runs_a_command(const struct subcommand *command)
{
	return strncmp(command->arguments, "COMMAND", strlen("COMMAND")) == 0;
}

/* Behind a command that is to be run, the options are its own. */
static bool asks_for_own_help(const struct subcommand *command, char **argv)
{
	char *first[] = {argv[0], argv[1], NULL};

	return asks_for_help(runs_a_command(command) ? first : argv);
}

/* -1: argv[0] is not a subcommand */
static int run_analysis_command(char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(RUN); i++) {
		const struct subcommand *command = command_named(RUN[i].name);

		if (strcmp(argv[0], RUN[i].name) != 0)
			continue;
		/* A command that is run here keeps its environment. */
		if (!runs_a_command(command))
			zone_in_time();
		allow_work_aside(LOOK_MS);
		return asks_for_own_help(command, argv) ? command_help(command) : RUN[i].run(command, argv);
	}
	return -1;
}

static int list_commands(FILE *to)
{
	CLEANUP_BUFFER struct buffer list = BUFFER(LIST_BYTES);

	command_list(&list);
	fputs("usage: resource-tracker SUBCOMMAND [OPTIONS] FILE...\n\n", to);
	fputs(buffer_error(&list) ? "" : list.data, to);
	fputs("\nresource-tracker SUBCOMMAND --help explains each.\n", to);
	return fflush(to) == 0 ? 0 : EXIT_FAULT;
}

int main(int argc, char **argv)
{
	int status;

	/* write(2) reports a reader that has gone. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		list_commands(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return list_commands(stdout);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("resource-tracker-analysis " RT_VERSION);
		return fflush(stdout) == 0 ? 0 : EXIT_FAULT;
	}
	if (strcmp(argv[1], "--keep") == 0 && argc == 4) {
		zone_in_time();
		return keep_run_of(argv[2], argv[3]);
	}
	if (strcmp(argv[1], "--metric-pages") == 0 && argc == 4)
		return print_metric_pages(argv[2], argv[3]);
	status = run_analysis_command(argv + 1);
	if (status >= 0)
		return status;
	make_printable(argv[1], strlen(argv[1]));
	fprintf(stderr, "resource-tracker: '%s' is not a subcommand\n", argv[1]);
	list_commands(stderr);
	return EXIT_USAGE;
}
