/* Paths whose use may wait for ever: for a server that is away, or for a program that serves a file system (FUSE). */
#pragma once

#include <stdbool.h>

/*
 * Follows `path` through links and mounts, and touches only file systems that this kernel serves itself. Returns true as
 * soon as the path leads to another one, or if the mounts cannot be read.
 */
bool path_may_hang(const char *path);

/* Mounts are remembered for a second. From now on there is a job that may mount some. */
void paths_look_again(void);

/* Remembers for a second that the file system of `path` did not answer in time, so that this is waited for only once. */
void path_has_hung(const char *path);
bool path_hangs_now(const char *path);
