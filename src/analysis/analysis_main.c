/*
 * resource-tracker-analysis: the subcommands that read recordings. `resource-tracker NAME ...` executes it.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"
#include "base/cleanup.h"
#include "base/printable.h"

/* The only list of subcommands. */
extern const struct command COMBINE_COMMAND, COMPARE_RUNS_COMMAND, EXPORT_COMMAND, RECOMMEND_COMMAND,
	REGIONS_COMMAND, REPORT_COMMAND, SHOW_COMMAND, STATS_COMMAND, SUMMARY_COMMAND;

static const struct command *const COMMANDS[] = {
	&SUMMARY_COMMAND,      &SHOW_COMMAND,    &STATS_COMMAND,   &RECOMMEND_COMMAND, &REPORT_COMMAND,
	&COMPARE_RUNS_COMMAND, &COMBINE_COMMAND, &REGIONS_COMMAND, &EXPORT_COMMAND,
};

static int list_commands(FILE *to)
{
	fputs("usage: resource-tracker SUBCOMMAND [OPTIONS] FILE...\n\n", to);
	for (size_t i = 0; i < ARRAY_SIZE(COMMANDS); i++)
		fprintf(to, "  %-14s %s\n", COMMANDS[i]->name, COMMANDS[i]->purpose);
	fputs("\nresource-tracker SUBCOMMAND --help explains each.\n", to);
	return fflush(to) == 0 ? 0 : EXIT_FAULT;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	/* When the reader has gone, write(2) reports EPIPE and the program can end cleanly. */
	signal(SIGPIPE, SIG_IGN);
	opterr = 0;
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
	for (size_t i = 0; i < ARRAY_SIZE(COMMANDS); i++)
		if (strcmp(argv[1], COMMANDS[i]->name) == 0)
			return asks_for_help(argc - 1, argv + 1)
				       ? command_help(COMMANDS[i])
				       : command_run(COMMANDS[i], argc - 1, argv + 1);
	make_printable(argv[1], strlen(argv[1]));
	fprintf(stderr, "resource-tracker: \"%s\" is not a subcommand\n", argv[1]);
	list_commands(stderr);
	return EXIT_USAGE;
}
