/* Giving a file a numbered name that nobody has. */
#pragma once

/*
 * Renames `name` in the folder to name.1, name.2, ...: the first that does not exist. Atomic: nothing is ever
 * overwritten, also when two programs do this at once. Returns the number, or a negative errno.
 */
int rename_aside(int dir_fd, const char *name);
