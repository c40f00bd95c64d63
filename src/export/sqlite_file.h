/*
 * An SQLite file that is written once, from beginning to end, in one transaction, and appears under its name
 * when it is complete.
 */
#pragma once

#include <sqlite3.h>

#include "record/problem.h"

struct sqlite_file {
	char *path, *temporary;
	sqlite3 *database;
	int error; /* the first error; nothing is written after it */
};

int sqlite_file_open(struct sqlite_file *ret_file, const char *path, struct rt_problem *problem);
/* sqlite_file_finish() reports errors of the calls below. */
void sqlite_file_run(struct sqlite_file *file, const char *statement);
/* Prepares a statement that inserts rows; NULL after an error. */
sqlite3_stmt *sqlite_file_prepare(struct sqlite_file *file, const char *statement);
void sqlite_file_bind(struct sqlite_file *file, sqlite3_stmt *statement, int position, struct rt_value cell);
/* Executes the statement with its bound values and resets it. */
void sqlite_file_insert(struct sqlite_file *file, sqlite3_stmt *statement);

int sqlite_file_finish(struct sqlite_file *file, struct rt_problem *problem);
void sqlite_file_close(struct sqlite_file *file);
