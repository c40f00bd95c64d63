/* The folder of a file that is to be written: every command tells a mistake in it in the same words. */
#pragma once

/* Returns 0 if the folder of `path` takes a new file from this user, or a negative errno. Creates nothing. */
int check_file_place(const char *path);

/* The words for an errno of check_file_place(), or of opening a new file, as the end of "cannot write to FILE: ...". */
const char *file_place_fault(int error);
