/*
 * resource-tracker-net: the only program of ours that talks to a network. resource-tracker starts it when
 * streaming is on, or when a subcommand asks for it; users do not call it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "net/arguments.h"
#include "discover/discover.h"
#include "stream/follow.h"
#include "discover/keeper.h"
#include "launch/in_time.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "stream/upload.h"

static const struct {
	const char *name;
	int (*main)(const struct settings *settings, char **argv);
	bool is_typed; /* by people. The others are started by our programs */
} SUBCOMMANDS[] = {
#define SUBCOMMAND(id, name, ...) {name, id##_main, true},
#include "options/net_subcommands.def"
#define SUBCOMMAND(id, name, ...) {name, id##_main, false},
#include "options/net_internal.def"
};

int main(int argc, char **argv)
{
	static struct settings settings;
	const char *wrong = "";
	int r, status;

	zone_in_time();
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(SUBCOMMANDS); i++) {
		if (strcmp(argv[1], SUBCOMMANDS[i].name) != 0)
			continue;
		if (arguments_print_help(argv + 1, &status))
			return status;
		message_name(SUBCOMMANDS[i].is_typed ? SUBCOMMANDS[i].name : "");
		r = settings_read(&settings, &wrong);
		if (r < 0) {
			say_redacted("%s is invalid: it must be %s", wrong,
				     strcmp(wrong, "SENTINEL_API_TOKEN") == 0
					     ? "one word without blanks"
					     : "an address with http:// or https://");
			return 2;
		}
		return SUBCOMMANDS[i].main(&settings, argv + 1);
	}
	say_redacted("usage: resource-tracker-net follow|upload|discover|keeper ...");
	return 2;
}
