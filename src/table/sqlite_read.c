/* Reads a table of an SQLite file into memory. See sqlite_read.h. */
#include "table/sqlite_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "table/table.h"

static const char MAGIC[16] = "SQLite format 3";

bool sqlite_is_file(const char *path)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char start[sizeof(MAGIC)];

	return fd >= 0 && pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	       memcmp(start, MAGIC, sizeof(start)) == 0;
}

static void cleanup_database(sqlite3 **database)
{
	(void)sqlite3_close_v2(*database);
}

static void cleanup_statement(sqlite3_stmt **statement)
{
	(void)sqlite3_finalize(*statement);
}

static struct rt_value sqlite_cell(sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		return (struct rt_value){.type = RT_TYPE_COUNT,
					 .count = sqlite3_column_int64(statement, column)};
	case SQLITE_FLOAT:
		return (struct rt_value){.type = RT_TYPE_REAL,
					 .real = sqlite3_column_double(statement, column)};
	case SQLITE_TEXT:
		return (struct rt_value){.type = RT_TYPE_TEXT,
					 .text = (const char *)sqlite3_column_text(statement, column)};
	default:
		return (struct rt_value){0};
	}
}

static int fill_table(rt_table *table, sqlite3_stmt *statement)
{
	int columns = sqlite3_column_count(statement), step;

	for (int i = 0; i < columns; i++)
		if (rt_table_add_column(table, sqlite3_column_name(statement, i)) < 0)
			return -EBADMSG;
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		ssize_t row = rt_table_add_row(table);

		for (int i = 0; i < columns && row >= 0; i++)
			if (rt_table_set(table, (size_t)i, (size_t)row, sqlite_cell(statement, i)) < 0)
				return -ENOMEM;
		if (row < 0)
			return -ENOMEM;
	}
	return step == SQLITE_DONE ? 0 : -EBADMSG;
}

int sqlite_read_table(const char *path, const char *name, rt_table **ret_table, struct rt_problem *problem)
{
	__attribute__((cleanup(cleanup_database))) sqlite3 *database = NULL;
	__attribute__((cleanup(cleanup_statement))) sqlite3_stmt *statement = NULL;
	CLEANUP_TABLE rt_table *table = rt_table_new();
	CLEANUP_BUFFER struct buffer query = BUFFER(1024);
	int result;

	if (!table)
		return problem_set(problem, -ENOMEM, "out of memory");
	buffer_printf(&query, "SELECT * FROM \"%s\"", name);
	if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(database, query.data, -1, &statement, NULL) != SQLITE_OK)
		return problem_set(problem, -EBADMSG, "%s: %s", path, sqlite3_errmsg(database));
	result = fill_table(table, statement);
	if (result < 0)
		return problem_set(problem, result, "%s: table %s: %s", path, name, sqlite3_errmsg(database));
	*ret_table = table;
	table = NULL;
	return 0;
}
