/* The recordings that recorders of this user write to on this machine now, wherever they are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * `path` is the name under which the recorder opened the file, or a link below /proc if the file has been removed or replaced. It is
 * valid during the call.
 */
typedef void writers_take(void *context, const char *path, const struct stat *status);

/*
 * Calls `take` for each regular file that a process named resource-tracker of the effective user holds locked (flock). Recorders inside a
 * program, such as the Python package, and recorders with mounts of their own (containers) are not looked for. Linux before 4.1 does not
 * tell locks by descriptor: nothing is found there. Returns false if the file system of a recording did not answer within half a second.
 */
bool writers_find(writers_take *take, void *context);

/* A number of the locks that processes hold in this PID namespace: another one once a lock was taken or left. 0: it cannot be told. */
uint64_t writers_locks(void);
