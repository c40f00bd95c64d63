/* The folder of a file that is to be written: every command tells a mistake in it in the same words. */
#pragma once

#include <stdbool.h>

/* The kernel's name of what a descriptor has open. Returns ret_path. */
enum { DESCRIPTOR_PATH_BYTES = 32 };
const char *descriptor_path(int fd, char ret_path[DESCRIPTOR_PATH_BYTES]);

/* The path that also holds after a change of the current folder. The caller frees it. NULL: memory is exhausted. */
char *absolute_path(const char *path);

/* Returns 0 if the folder of `path` takes a new file from this user, or a negative errno. Creates nothing. */
int check_file_place(const char *path);

/* The words for an errno of check_file_place(), or of opening a new file, as the end of "cannot write to FILE: ...". */
const char *file_place_fault(int error);

/*
 * Whether an errno of opening a file shows a mistake in its name, which another name mends. Every other error is trouble of
 * the file system or of the machine, for which the user's job must not be refused.
 */
bool is_place_mistake(int error);

/*
 * Whether a short recording fits on the disk of an open file, for which room is reserved. True on file systems that cannot tell, and
 * where files must stay smaller than that.
 */
bool has_room_for_recording(int fd);
