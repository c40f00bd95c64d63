/* Runs subcommands; see programs.h. */
#include "cli/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "cli/help.h"
#include "cli/mark.h"
#include "cli/message.h"
#include "launch/find_program.h"
#include "options/options.h"

enum { SHORTEST_MISTYPED = 5, HELP_BYTES = 64 << 10 };

bool is_subcommand(const char *name)
{
	for (const struct subcommand *subcommand = SUBCOMMANDS; subcommand->name; subcommand++) {
		if (strcmp(subcommand->name, name) == 0)
			return true;
	}
	return false;
}

const char *subcommand_like(const char *word)
{
	struct nearest nearest = {0};

	/* Short commands are too similar: a user who types "ls" does not mean "rm". */
	for (size_t i = 0; strlen(word) >= SHORTEST_MISTYPED && SUBCOMMANDS[i].name; i++)
		nearest_consider(&nearest, word, SUBCOMMANDS[i].name);
	return nearest.word;
}

void say_how_to_wrap(const char *name)
{
	if (is_on_path(name))
		say("to record the program '%s': resource-tracker -- %s ...", name, name);
}

/* Returns the program that has this subcommand. */
static const struct sister_program *program_of(const char *subcommand)
{
	return strcmp(subcommand, "upload") == 0 || strcmp(subcommand, "discover") == 0 ? &NET_PROGRAM
											: &ANALYSIS_PROGRAM;
}

static bool asks_for_help(const char *word)
{
	return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

static int run_version(char **argv)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);
	bool json = argv[1] && strcmp(argv[1], "--json") == 0;

	if (argv[1] && !json && !asks_for_help(argv[1])) {
		say("version: unknown argument '%s' (see resource-tracker version --help)", argv[1]);
		say_how_to_wrap("version");
		return EXIT_OWN_ERROR;
	}
	if (asks_for_help(argv[1]))
		buffer_add_text(&text,
				"The version of this program.\n\nusage: resource-tracker version [--json]\n");
	else if (json)
		buffer_add_text(&text, "{\"version\":\"" RT_VERSION "\"}\n");
	else
		add_version(&text);
	return print_text(&text);
}

/* `help`, and `help SUBCOMMAND` as another form of SUBCOMMAND --help. */
static int run_help(char **argv)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);
	char *name = argv[1], help[] = "--help";
	char *words[] = {argv[-1], name, help, NULL};
	const char *meant;

	if (name && !asks_for_help(name)) {
		if (is_subcommand(name))
			return run_subcommand(words);
		meant = subcommand_like(name);
		say("help: there is no subcommand '%s'%s%s", name, meant ? "; the nearest is " : "",
		    meant ? meant : "");
		say_how_to_wrap("help");
		return EXIT_OWN_ERROR;
	}
	if (name)
		buffer_add_text(&text, "All options and subcommands, or the help of a subcommand.\n\n"
				       "usage: resource-tracker help [SUBCOMMAND]\n");
	else
		add_help(&text);
	return print_text(&text);
}

int run_subcommand(char **argv)
{
	const struct sister_program *program = program_of(argv[1]);
	char path[PATH_MAX];

	if (strcmp(argv[1], "help") == 0)
		return run_help(argv + 1);
	if (strcmp(argv[1], "version") == 0)
		return run_version(argv + 1);
	if (strcmp(argv[1], "metrics") == 0)
		return run_metrics(argv + 1);
	if (strcmp(argv[1], "mark") == 0)
		return run_mark(argv + 1);
	if (find_sister_program(program, path) < 0) {
		say("'%s' needs %s, which is not installed in %s", argv[1], program->name,
		    program->installed_in);
		say_how_to_wrap(argv[1]);
		return EXIT_OWN_ERROR;
	}
	execv(path, argv);
	say("%s: %s", path, strerror(errno));
	return EXIT_OWN_ERROR;
}
