/* Runs subcommands; see run_subcommand.h. */
#include "cli/run_subcommand.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/subcommands.h"
#include "launch/find_program.h"
#include "options/usage.h"

enum { SHORTEST_MISTYPED = 5, HELP_BYTES = 64 << 10 };

bool is_subcommand(const char *name)
{
	return find_subcommand(SUBCOMMANDS, name) != NULL;
}

const char *subcommand_like(const char *word)
{
	struct nearest nearest = {0};

	/* Short commands are too similar: a user who types "ls" does not mean "rm". */
	for (size_t i = 0; strlen(word) >= SHORTEST_MISTYPED && SUBCOMMANDS[i].name; i++)
		nearest_consider(&nearest, word, SUBCOMMANDS[i].name);
	return nearest.word;
}

/* Returns the program that has this subcommand. */
static const struct sister_program *program_of(const char *subcommand)
{
	static const char *const NET_NAMES[] = {
#define SUBCOMMAND(id, name, ...) name,
#include "options/net_subcommands.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(NET_NAMES); i++) {
		if (strcmp(subcommand, NET_NAMES[i]) == 0)
			return &NET_PROGRAM;
	}
	return &ANALYSIS_PROGRAM;
}

static const char *take_json(void *context, const struct option_row *row, const char *text)
{
	(void)text;
	if (!row)
		return "is one word too many";
	*(bool *)context = true;
	return NULL;
}

int run_version(char **argv)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);
	bool json = false;
	int status;

	if (!read_subcommand(argv, take_json, &json, &status))
		return status;
	if (json)
		buffer_add_text(&text, "{\"version\":\"" RT_VERSION "\"}\n");
	else
		add_version(&text);
	return print_text(&text);
}

struct help_request {
	char *name;
	bool all;
};

static const char *take_help_word(void *context, const struct option_row *row, const char *text)
{
	struct help_request *request = context;

	if (!row && request->name)
		return "is one word too many";
	if (row)
		request->all = true;
	else
		request->name = (char *)(uintptr_t)text;
	return NULL;
}

static int unknown_subcommand(const char *name)
{
	CLEANUP_BUFFER struct buffer message = BUFFER(HELP_BYTES);
	const char *meant = subcommand_like(name);

	buffer_printf(&message, "there is no subcommand '%s'%s%s", name, meant ? "; the nearest is " : "",
		      meant ? meant : "");
	return say_usage("help", buffer_error(&message) ? "there is no such subcommand" : message.data);
}

/* `help`, and `help SUBCOMMAND` as another form of SUBCOMMAND --help. */
int run_help(char **argv)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);
	char program[] = "resource-tracker", help[] = "--help";
	struct help_request request = {0};
	char *words[] = {program, NULL, help, NULL};
	int status;

	if (!read_subcommand(argv, take_help_word, &request, &status))
		return status;
	words[1] = request.name;
	if (request.name)
		return is_subcommand(request.name) ? run_subcommand(words) : unknown_subcommand(request.name);
	add_help(&text, request.all);
	return print_text(&text);
}

bool has_program_of(const char *subcommand)
{
	char path[PATH_MAX];

	return find_sister_program(program_of(subcommand), path) == 0;
}

/* Those of the recorder's own table. False: argv[0] is none of them. */
static bool run_own_subcommand(char **argv, int *ret_status)
{
	static const struct {
		const char *name;
		int (*run)(char **argv);
	} OWN[] = {
#define SUBCOMMAND(id, name, ...) {name, run_##id},
#include "options/cli_subcommands.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(OWN); i++) {
		if (strcmp(argv[0], OWN[i].name) != 0)
			continue;
		*ret_status = OWN[i].run(argv);
		return true;
	}
	return false;
}

int run_subcommand(char **argv)
{
	const struct sister_program *program = program_of(argv[1]);
	char path[PATH_MAX];
	int status;

	if (run_own_subcommand(argv + 1, &status))
		return status;
	if (find_sister_program(program, path) < 0) {
		say("'%s' needs %s, which is not installed in %s", argv[1], program->name,
		    program->installed_in);
		if (is_on_path(argv[1]))
			say("to record the program '%s': resource-tracker -- %s ...", argv[1], argv[1]);
		return EXIT_OWN_ERROR;
	}
	execv(path, argv);
	say("%s: %s", path, strerror(errno));
	return EXIT_OWN_ERROR;
}
