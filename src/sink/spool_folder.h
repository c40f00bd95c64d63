/*
 * The folder where samples wait for upload: the same one for the recorder that writes them and the program that
 * sends them.
 */
#pragma once

/*
 * Makes the folder (new parts with mode 0700) and returns its path, which the caller frees. `given` NULL:
 * resource-tracker/spool in $XDG_STATE_HOME or ~/.local/state. If there is no home, or it is not writable,
 * resource-tracker-UID/spool in $TMPDIR or /tmp, if that belongs to this user alone. Returns 0 or the negative
 * errno of the last attempt, which spool_folder_fault() puts in words: -ENOTDIR for a file, -EPERM for a folder of
 * another user.
 */
int spool_folder_make(const char *given, char **ret_path);

/* The words are valid until the next call, as those of strerror(3). */
const char *spool_folder_fault(int error);
