/*
 * A table of an SQLite file, read into memory.
 */
#pragma once

#include "record/problem.h"

/* By its first bytes. */
bool sqlite_is_file(const char *path);

/* All rows of a table. -EBADMSG: there is none of that name, or the file is no database. */
int sqlite_read_table(const char *path, const char *name, rt_table **ret_table, struct rt_problem *problem);
