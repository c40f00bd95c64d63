/* The recordings that recorders of this user write to on this machine now, wherever they are. */
#pragma once

#include <sys/stat.h>

/*
 * `path` is the name under which the recorder opened the file, or a link below /proc if this process sees another file, or none, under
 * that name. It is valid during the call.
 */
typedef void writers_take(void *context, const char *path, const struct stat *status);

/*
 * Calls `take` for each regular file that a process named resource-tracker of the effective user holds locked (flock). Recorders inside a
 * program, such as the Python package, are not looked for. Linux before 4.1 does not tell locks by descriptor: nothing is found there.
 */
void writers_find(writers_take *take, void *context);
