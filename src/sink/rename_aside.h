/* Gives a file a numbered name that does not exist yet. */
#pragma once

/*
 * Renames `name` in the folder to name.1, name.2, ...: the first that does not exist. This is atomic: no file is
 * ever overwritten, even if two programs do this at once. Returns the number, or a negative errno.
 */
int rename_aside(int dir_fd, const char *name);
