/* --help and --version, from the table of options. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "options/option.h"

/* The usual options, or all of them. */
void add_help(struct buffer *out, bool all);
/* A few lines, for a command line without any word. */
void add_usage(struct buffer *out);
void add_version(struct buffer *out);
/* Lines about libc, compiler, optional parts and the paths of the other programs. */
void add_build_facts(struct buffer *out);

/* All subcommands in the order of --help; the name of the last is NULL. Their notes and examples are left out. */
extern const struct subcommand SUBCOMMANDS[];
