/* The configuration file: [job] and [tracker] tables in TOML, the same things as the options say. */
#pragma once

#include <stdbool.h>

#include "cli/given.h"

/*
 * Notes what the file says. A file that is missing, cannot be read or does not parse says nothing, and an
 * unknown key is left out; each but the first is said in one warning if `warn`. Returns 0 or -ENOMEM.
 *
 * A file that the user did not name (`named` is false: it was found in the current folder) is passed over with a
 * warning unless it is a regular file, and it and its folder belong to this user or root and no other user may write
 * to them. Reading never waits longer than a second.
 */
int read_config_file(const char *path, bool named, bool warn, struct given_list *list);
