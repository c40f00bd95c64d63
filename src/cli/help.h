/* --help and --version, from the table of options. */
#pragma once

#include "base/buffer.h"

void add_help(struct buffer *out);
void add_version(struct buffer *out);

/* The commands that work on recordings, in the order of --help; NULL at the end. */
struct subcommand {
	const char *name;
	const char *arguments;
	const char *help;
};
extern const struct subcommand SUBCOMMANDS[];
