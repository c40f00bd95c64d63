/* The configuration file: [job] and [tracker] tables in TOML, with the same settings as the options. */
#pragma once

#include <stdbool.h>

#include "cli/given.h"

/*
 * Adds the file's settings to the list. A file that is absent, unreadable or invalid adds none, and unknown
 * keys are skipped. Each of these, except an absent file, is reported in one warning if `warn`. Returns 0 or
 * -ENOMEM.
 *
 * A file that the user did not name (`named` is false: it was found in the current folder) must be a regular
 * file. It and its folder must belong to this user or root, and no other user may be able to write to them.
 * Otherwise it is skipped with a warning. Reading never takes longer than a second.
 */
int read_config_file(const char *path, enum origin origin, bool named, bool warn, struct given_list *list);
