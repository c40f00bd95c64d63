/* Where samples wait that are to be sent over a network: the same place for whoever writes them and whoever sends them. */
#pragma once

/*
 * Makes the folder, with mode 0700 for what is new, and returns its path, malloc'd. Without one that is given (NULL):
 * resource-tracker/spool in $XDG_STATE_HOME or ~/.local/state, else, where there is no home or nothing can be written in
 * it, resource-tracker-UID/spool in $TMPDIR or /tmp, if that is nobody else's. 0 or the errno of the last attempt.
 */
int spool_folder_make(const char *given, char **ret_path);
