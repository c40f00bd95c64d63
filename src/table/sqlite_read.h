/*
 * Reads a table of an SQLite file into memory.
 */
#pragma once

#include "record/problem.h"
#include "resource_tracker_internal.h"

/* Looks at the file's first bytes. */
bool sqlite_is_file(const char *path);

/* Reads all rows of a table. Returns -EBADMSG if the file is not a database or lacks the table. */
int sqlite_read_table(const char *path, const char *name, rt_table **ret_table, struct rt_problem *problem);
