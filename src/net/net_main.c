/*
 * resource-tracker-net: the only program of ours that talks to a network. resource-tracker starts it when
 * streaming is on, or when a subcommand asks for it; users do not call it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "net/discover.h"
#include "net/follow.h"
#include "net/keeper.h"
#include "net/message.h"
#include "net/settings.h"
#include "net/upload.h"

static const char UPLOAD_HELP[] =
	"Send what was left behind when a streamed run ended, and nothing twice\n"
	"\n"
	"usage: resource-tracker upload [OPTIONS] [RECORDING|FOLDER...]\n"
	"\n"
	"      --spool DIR    where samples wait that could not be sent (default: as when recording)\n"
	"      --root DIR     read /proc and /sys below DIR\n"
	"      --no-warnings  say nothing on stderr\n"
	"      --json         accepted, as by every subcommand; there is nothing to print\n"
	"\n"
	"Without a recording or a folder: all that is left in the spool. SENTINEL_API_TOKEN must be set.\n";

static const char DISCOVER_HELP[] =
	"What machine this is, which cloud it is in, and what may be used of it, as JSON\n"
	"\n"
	"usage: resource-tracker discover [OPTIONS] host|cloud|all\n"
	"\n"
	"      --python       names and shapes of the Python packages' get_server_info(), get_cloud_info()\n"
	"      --lines        texts as NAME=VALUE, a line each, and \"end\"\n"
	"      --when-told    begin when a byte comes on stdin, do nothing at its end\n"
	"      --root DIR     read /proc and /sys below DIR\n"
	"      --no-warnings  say nothing on stderr\n"
	"      --json         accepted, as by every subcommand; JSON is what it prints anyway\n"
	"\n"
	"`host` asks nobody; `cloud` and `all` ask the metadata services of clouds, for 3 s at most.\n";

/* Lists in `help` the commands that people type; the other names are used between our own programs. */
static const struct {
	const char *name;
	int (*main)(const struct settings *settings, int argc, char **argv);
	const char *help;
} SUBCOMMANDS[] = {
	{"follow", follow_main, NULL},
	{"upload", upload_main, UPLOAD_HELP},
	{"discover", discover_main, DISCOVER_HELP},
	{"keeper", keeper_main, NULL},
};

static bool asks_for_help(char **words)
{
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strcmp(*words, "--help") == 0 || strcmp(*words, "-h") == 0)
			return true;
	return false;
}

static int print_help(const char *help)
{
	fputs(help, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct settings settings;
	const char *wrong = "";
	int r;

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(SUBCOMMANDS); i++) {
		if (strcmp(argv[1], SUBCOMMANDS[i].name) != 0)
			continue;
		if (SUBCOMMANDS[i].help && asks_for_help(argv + 2))
			return print_help(SUBCOMMANDS[i].help);
		r = settings_read(&settings, &wrong);
		if (r < 0) {
			say("%s is not what it should be: %s", wrong,
			    strcmp(wrong, "SENTINEL_API_TOKEN") == 0 ? "a token is one word without blanks"
								     : "an http:// or https:// address");
			return 2;
		}
		return SUBCOMMANDS[i].main(&settings, argc - 1, argv + 1);
	}
	say("usage: resource-tracker-net follow|upload|discover|keeper ...");
	return 2;
}
