/* Looks at files before the job starts, although their file system may not answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Longest wait for one call of a recorder, which holds its job up. */
enum { JOB_LOOK_MS = 250 };

/*
 * A program that may have children of its own allows them: each call may take `each_ms`, and all together twice as long. A library
 * does all work at once. Called again, gives the calls from now on as much time as those before.
 */
void allow_work_aside(int each_ms);

/*
 * Calls act(data), which uses the file system of `path`. If that may hang, a process of its own makes the call, and its
 * `size` bytes of `data` are copied back. It can change nothing else of this process. Returns 0, or -ETIMEDOUT if there was no answer.
 */
int act_in_time(const char *path, void (*act)(void *), void *data, size_t size);

/*
 * Whether act_in_time() has a process of its own for `path`, which may hang. Never in a library: the table of mounts behind this
 * question has no lock.
 */
bool acts_aside(const char *path);

/*
 * Calls look(data) as act_in_time() does, before a reader of many files reads `path`: a late answer takes no time from later looks, and
 * where nothing may hang there is nothing to look for.
 */
int look_aside(const char *path, void (*look)(void *), void *data, size_t size);

/* As write_in_time(), also to a file that may hang: a process of its own writes that, with that deadline. */
int write_line_in_time(int fd, const char *bytes, size_t length, int timeout_ms);

/* False: the file system of `path` does not answer. A missing file is an answer. */
bool answers_in_time(const char *path);

/* As stat(2), with a negative errno or -ETIMEDOUT. */
int stat_in_time(const char *path, struct stat *ret_status);

/* The file of the time zone (TZ), which the calls of time.h read. */
bool zone_answers(void);

/* A program then takes UTC if the zone does not answer, as libc does if it does not find the zone. */
void zone_in_time(void);

/* Opens a regular file or a folder that may hang, and reads the first byte of a file. Returns 0, also if that failed, or -ETIMEDOUT. */
int look_in_time(const char *path);

/* For act_in_time(): removes the file of that name. */
void unlink_file(void *path);
/* Removes a file whose file system may hang. Without an answer it stays. */
void unlink_in_time(char *path);
