/*
 * resource-tracker-net: all of the tool that talks to a network. It is started by resource-tracker when streaming
 * is on, or when a subcommand asks for it; nobody types its name.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "net/discover.h"
#include "net/follow.h"
#include "net/keeper.h"
#include "net/message.h"
#include "net/settings.h"
#include "net/upload.h"

static const struct {
	const char *name;
	int (*main)(const struct settings *settings, int argc, char **argv);
} SUBCOMMANDS[] = {
	{"follow", follow_main},
	{"upload", upload_main},
	{"discover", discover_main},
	{"keeper", keeper_main},
};

int main(int argc, char **argv)
{
	static struct settings settings;
	const char *wrong = "";
	int r;

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(SUBCOMMANDS); i++) {
		if (strcmp(argv[1], SUBCOMMANDS[i].name) != 0)
			continue;
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
