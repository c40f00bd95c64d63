/* Writes an SQLite file once; see sqlite_file.h. */
#include "export/sqlite_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/output.h"

static void keep_error(struct sqlite_file *file, int result)
{
	if (!file->error && result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
		file->error = result;
}

int sqlite_file_open(struct sqlite_file *ret_file, const char *path, struct rt_problem *problem)
{
	struct sqlite_file file = {0};
	int result = output_name_whole_file(path, &file.path, &file.temporary, problem);

	if (result < 0)
		return result;
	if (sqlite3_open_v2(file.temporary, &file.database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		problem_set(problem, -EIO, "%s: %s", path, sqlite3_errmsg(file.database));
		sqlite_file_close(&file);
		return -EIO;
	}
	/* Other programs see only the finished file, so a journal would protect nothing. */
	sqlite_file_run(&file, "PRAGMA journal_mode = OFF");
	sqlite_file_run(&file, "PRAGMA synchronous = OFF");
	sqlite_file_run(&file, "BEGIN");
	*ret_file = file;
	return 0;
}

void sqlite_file_run(struct sqlite_file *file, const char *statement)
{
	if (!file->error)
		keep_error(file, sqlite3_exec(file->database, statement, NULL, NULL, NULL));
}

sqlite3_stmt *sqlite_file_prepare(struct sqlite_file *file, const char *statement)
{
	sqlite3_stmt *prepared = NULL;

	if (!file->error)
		keep_error(file, sqlite3_prepare_v2(file->database, statement, -1, &prepared, NULL));
	return prepared;
}

void sqlite_file_bind(struct sqlite_file *file, sqlite3_stmt *statement, int position, struct rt_value cell)
{
	int result = SQLITE_OK;

	if (file->error)
		return;
	if (cell.type == RT_TYPE_COUNT)
		result = sqlite3_bind_int64(statement, position, cell.count);
	else if (cell.type == RT_TYPE_REAL)
		result = sqlite3_bind_double(statement, position, cell.real);
	else if (cell.type == RT_TYPE_TEXT)
		result = sqlite3_bind_text(statement, position, cell.text, -1, SQLITE_TRANSIENT);
	else
		result = sqlite3_bind_null(statement, position);
	keep_error(file, result);
}

void sqlite_file_insert(struct sqlite_file *file, sqlite3_stmt *statement)
{
	if (file->error)
		return;
	keep_error(file, sqlite3_step(statement));
	keep_error(file, sqlite3_reset(statement));
}

int sqlite_file_finish(struct sqlite_file *file, struct rt_problem *problem)
{
	int result = 0;

	sqlite_file_run(file, "COMMIT");
	if (file->error) {
		problem_set(problem, -EIO, "%s: %s", file->path, sqlite3_errstr(file->error));
		return -EIO;
	}
	if (sqlite3_close(file->database) == SQLITE_OK)
		file->database = NULL;
	else
		result = -EIO;
	if (result == 0)
		result = output_rename(file->temporary, file->path);
	if (result < 0)
		return problem_set(problem, result, "%s: %s", file->path, strerror(-result));
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

void sqlite_file_close(struct sqlite_file *file)
{
	(void)sqlite3_close_v2(file->database);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct sqlite_file){0};
}
