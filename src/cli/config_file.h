/* The configuration file: [job] and [tracker] tables in TOML, the same things as the options say. */
#pragma once

#include <stdbool.h>

#include "cli/given.h"

/*
 * Notes what the file says. A file that is missing, cannot be read or does not parse says nothing, and an
 * unknown key is left out; each but the first is said in one warning if `warn`. Returns 0 or -ENOMEM.
 */
int read_config_file(const char *path, bool warn, struct given_list *list);
