/* Finds and runs the sister programs and subcommands; see programs.h. */
#include "cli/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/trust.h"
#include "cli/help.h"
#include "cli/mark.h"
#include "cli/message.h"
#include "launch/program.h"
#include "options/options.h"

enum { SHORTEST_MISTYPED = 5, HELP_BYTES = 64 << 10 };

static const char ANALYSIS[] = "resource-tracker-analysis";
static const char NET[] = "resource-tracker-net";

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

/* Returns "folder/name" or "folder/between/name" if that is a program, else NULL. The caller frees it. */
static char *program_in(const char *folder, size_t folder_length, const char *between, const char *name)
{
	struct buffer path = BUFFER(PATH_MAX);

	buffer_add(&path, folder, folder_length);
	buffer_add_text(&path, between);
	buffer_add_text(&path, name);
	if (buffer_error(&path) == 0 && is_program(path.data))
		return path.data;
	buffer_done(&path);
	return NULL;
}

char *find_program(const char *name)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
	char *found = NULL;

	/*
	 * A privileged program may be a hard link in a folder whose other files an attacker wrote. Do not run
	 * those.
	 */
	if (length > 0 && length < (ssize_t)sizeof(self) && !has_more_rights_than_caller()) {
		while (length > 0 && self[length - 1] != '/')
			length--;
		found = program_in(self, (size_t)length, "", name);
		if (!found)
			found = program_in(self, (size_t)length, "../libexec/resource-tracker/", name);
	}
	return found ? found : program_in(LIBEXEC_DIR, strlen(LIBEXEC_DIR), "/", name);
}

void say_how_to_wrap(const char *name)
{
	if (is_on_path(name))
		say("to record the program '%s': resource-tracker -- %s ...", name, name);
}

char *find_analysis_program(void)
{
	return find_program(ANALYSIS);
}

/* Returns the program that has this subcommand. */
static const char *program_of(const char *subcommand)
{
	return strcmp(subcommand, "upload") == 0 || strcmp(subcommand, "discover") == 0 ? NET : ANALYSIS;
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
	char *program;

	if (strcmp(argv[1], "help") == 0)
		return run_help(argv + 1);
	if (strcmp(argv[1], "version") == 0)
		return run_version(argv + 1);
	if (strcmp(argv[1], "metrics") == 0)
		return run_metrics(argv + 1);
	if (strcmp(argv[1], "mark") == 0)
		return run_mark(argv + 1);
	program = find_program(program_of(argv[1]));
	if (!program) {
		say("'%s' needs %s, which is not installed in %s", argv[1], program_of(argv[1]), LIBEXEC_DIR);
		say_how_to_wrap(argv[1]);
		return EXIT_OWN_ERROR;
	}
	execv(program, argv);
	say("%s: %s", program, strerror(errno));
	free(program);
	return EXIT_OWN_ERROR;
}
