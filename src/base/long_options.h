/* getopt_long() without abbreviations, so that a new option cannot change what an old script means. */
#pragma once

#include <getopt.h>
#include <stddef.h>

/* As getopt_long(): '?' also for the beginning of a name, and optind is then behind that word. */
int next_option(int argc, char **argv, const char *short_options, const struct option *long_options,
		int *ret_index);

/* Exactly the option of this name; NULL if there is none. `length` bytes of the name count. */
const struct option *long_option_by_name(const struct option *long_options, const char *name, size_t length);
