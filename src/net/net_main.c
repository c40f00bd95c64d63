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
	"Send the samples that a streamed run left unsent; nothing is sent twice\n"
	"\n"
	"usage: resource-tracker upload [OPTIONS] [RECORDING|FOLDER...]\n"
	"\n"
	"      --spool DIR    directory of samples not yet sent (default: as when recording)\n"
	"      --root DIR     read /proc and /sys below DIR\n"
	"      --no-warnings  print nothing on stderr\n"
	"      --json         accepted, as by every subcommand; it changes nothing\n"
	"\n"
	"Without a recording or a folder, upload sends all samples in the spool.\n"
	"SENTINEL_API_TOKEN must be set.\n";

static const char DISCOVER_HELP[] =
	"Print facts about this machine, its cloud and its usable resources, as JSON\n"
	"\n"
	"usage: resource-tracker discover [OPTIONS] host|cloud|all\n"
	"\n"
	"      --python       use names and shapes of get_server_info() and get_cloud_info() in Python\n"
	"      --lines        print texts as lines NAME=VALUE, then \"end\"\n"
	"      --when-told    begin when a byte arrives on stdin; exit without output at its end\n"
	"      --root DIR     read /proc and /sys below DIR\n"
	"      --no-warnings  print nothing on stderr\n"
	"      --json         accepted, as by every subcommand; the output is JSON anyway\n"
	"\n"
	"`host` uses no network; `cloud` and `all` ask the metadata services of clouds, for at most 3 s.\n";

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
			say("%s is invalid: it must be %s", wrong,
			    strcmp(wrong, "SENTINEL_API_TOKEN") == 0 ? "one word without blanks"
								     : "an address with http:// or https://");
			return 2;
		}
		return SUBCOMMANDS[i].main(&settings, argc - 1, argv + 1);
	}
	say("usage: resource-tracker-net follow|upload|discover|keeper ...");
	return 2;
}
