/*
 * An SQLite file that is written once, from beginning to end, in one transaction, and appears under its name when it
 * is whole.
 */
#pragma once

#include <sqlite3.h>

#include "record/problem.h"

struct sqlite_file {
	char *path, *temporary;
	sqlite3 *database;
	int error; /* the first that happened; nothing is written after it */
};

int sqlite_file_open(struct sqlite_file *ret_file, const char *path, struct rt_problem *problem);
/* Errors of the following are kept until sqlite_file_finish(). */
void sqlite_file_run(struct sqlite_file *file, const char *statement);
/* For inserting rows; NULL after an error. */
sqlite3_stmt *sqlite_file_prepare(struct sqlite_file *file, const char *statement);
void sqlite_file_bind(struct sqlite_file *file, sqlite3_stmt *statement, int position, struct rt_cell cell);
/* Executes with what is bound, and is ready for the next. */
void sqlite_file_insert(struct sqlite_file *file, sqlite3_stmt *statement);

int sqlite_file_finish(struct sqlite_file *file, struct rt_problem *problem);
void sqlite_file_close(struct sqlite_file *file);
