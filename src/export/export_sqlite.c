/*
 * Writes a recording as an SQLite file. The table "samples" has all values that occur once in a sample. Each
 * kind of row that may occur several times ("network", "disk", "disk_mounts", "gpu", "cpu_per_core_pct", ...)
 * or not in every sample ("run_start", "run_end") has its own table. Its columns "run" and "sample" tell
 * where a row belongs, and the key of its parent row comes first: disk_mounts has the column disk_device.
 * Dots in names become underscores.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "export/export.h"
#include "export/sqlite_file.h"
#include "metric/typed_rows.h"

enum { NAME_BYTES = 160, STATEMENT_CEILING = 1 << 16 };

struct database {
	struct sqlite_file file;
	sqlite3_stmt *insert[ROW_KINDS]; /* one for each kind with a table */
};

static void database_done(struct database *database)
{
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		sqlite3_finalize(database->insert[kind]);
	sqlite_file_close(&database->file);
}

/* Tells whether the values of this kind are columns of its parent's table. */
static bool is_part_of_parent(enum row_kind kind)
{
	enum row_shape shape = ROW_DESCRIPTIONS[kind].shape;

	return kind != ROW_sample && (shape == OBJECT || shape == INLINE);
}

static bool is_repeated(enum row_kind kind)
{
	enum row_shape shape = ROW_DESCRIPTIONS[kind].shape;

	return shape >= ARRAY;
}

static void dots_to_underscores(char *name)
{
	for (; *name; name++)
		if (*name == '.')
			*name = '_';
}

static void table_name(enum row_kind kind, char *ret_name)
{
	if (kind == ROW_sample) {
		snprintf(ret_name, NAME_BYTES, "samples");
		return;
	}
	row_path(kind, ret_name, NAME_BYTES);
	dots_to_underscores(ret_name);
}

/* Returns the parent whose key the rows of a repeated kind need, or ROW_sample. */
static enum row_kind key_parent(enum row_kind kind)
{
	enum row_kind parent = ROW_DESCRIPTIONS[kind].parent;

	return ROW_DESCRIPTIONS[parent].shape == ARRAY ? parent : ROW_sample;
}

static const char *sql_type(enum metric_type type)
{
	return type == TYPE_REAL ? "REAL" : type == TYPE_TEXT ? "TEXT" : "INTEGER";
}

struct definition {
	struct buffer columns, places;
};

static void add_column(struct definition *definition, const char *name, const char *type)
{
	bool first = !definition->columns.length;

	buffer_printf(&definition->columns, "%s\"%s\" %s", first ? "" : ", ", name, type);
	buffer_add_text(&definition->places, first ? "?" : ", ?");
}

/* Names a column by the metric's full name in samples, elsewhere by its own. */
static void add_metric_table(struct definition *definition, enum row_kind kind)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];
	char name[NAME_BYTES];

	for (size_t i = 0; i < description->metric_count; i++) {
		if (description->metrics[i].nature == RAW)
			continue;
		if (is_part_of_parent(kind)) {
			metric_full_name(kind, i, name, sizeof(name));
			dots_to_underscores(name);
		} else {
			snprintf(name, sizeof(name), "%s", description->metrics[i].name);
		}
		add_column(definition, name, sql_type(description->metrics[i].type));
	}
	for (enum row_kind child = 0; child < ROW_KINDS; child++)
		if (is_part_of_parent(child) && ROW_DESCRIPTIONS[child].parent == kind)
			add_metric_table(definition, child);
}

static void create_table(struct database *database, enum row_kind kind)
{
	struct definition definition = {BUFFER(STATEMENT_CEILING), BUFFER(STATEMENT_CEILING)};
	CLEANUP_BUFFER struct buffer statement = BUFFER(STATEMENT_CEILING);
	enum row_kind parent = key_parent(kind);
	char name[NAME_BYTES], key[2 * NAME_BYTES];

	add_column(&definition, "run", "INTEGER");
	if (kind != ROW_sample)
		add_column(&definition, "sample", "INTEGER");
	if (parent != ROW_sample && is_repeated(kind)) {
		snprintf(key, sizeof(key), "%s_%s", ROW_DESCRIPTIONS[parent].key,
			 ROW_DESCRIPTIONS[parent].metrics[0].name);
		add_column(&definition, key, "TEXT");
	}
	if (ROW_DESCRIPTIONS[kind].shape == LIST)
		add_column(&definition, "number", "INTEGER");
	add_metric_table(&definition, kind);
	table_name(kind, name);
	buffer_printf(&statement, "CREATE TABLE \"%s\" (%s)", name, definition.columns.data);
	sqlite_file_run(&database->file, statement.data);
	buffer_clear(&statement);
	buffer_printf(&statement, "INSERT INTO \"%s\" VALUES (%s)", name, definition.places.data);
	database->insert[kind] = sqlite_file_prepare(&database->file, statement.data);
	buffer_done(&definition.columns);
	buffer_done(&definition.places);
}

struct insertion {
	struct database *database;
	sqlite3_stmt *statement;
	int position;
};

static void bind_cell(struct insertion *insertion, struct rt_value cell)
{
	sqlite_file_bind(&insertion->database->file, insertion->statement, ++insertion->position, cell);
}

static void bind_count(struct insertion *insertion, int64_t count)
{
	bind_cell(insertion, count_absent(count) ? (struct rt_value){0}
						 : (struct rt_value){.type = RT_TYPE_COUNT, .count = count});
}

static void bind_text(struct insertion *insertion, const char *text)
{
	bind_cell(insertion, text_absent(text) ? (struct rt_value){0}
					       : (struct rt_value){.type = RT_TYPE_TEXT, .text = text});
}

static void bind_real(struct insertion *insertion, double real)
{
	bind_cell(insertion, real_absent(real) ? (struct rt_value){0}
					       : (struct rt_value){.type = RT_TYPE_REAL, .real = real});
}

/* Returns the first row of a kind below `parent`. */
static const struct row *first_row_below(const struct frame *frame, enum row_kind kind,
					 const struct row *parent)
{
	const struct row *row = parent ? frame->first[kind] : NULL;

	while (row && row->parent != parent)
		row = row->next;
	return row;
}

/* If `row` is NULL, all its values are absent. */
static void bind_metrics(struct insertion *insertion, const struct frame *frame, enum row_kind kind,
			 const struct row *row)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];

	for (size_t i = 0; i < description->metric_count; i++) {
		enum metric_type type = description->metrics[i].type;

		if (description->metrics[i].nature == RAW)
			continue;
		if (!row)
			bind_cell(insertion, (struct rt_value){0});
		else if (type == TYPE_REAL)
			bind_real(insertion, *row_real(row, metric_offset(i)));
		else if (type == TYPE_TEXT)
			bind_text(insertion, *row_text(row, metric_offset(i)));
		else
			bind_count(insertion, *row_count(row, metric_offset(i)));
	}
	for (enum row_kind child = 0; child < ROW_KINDS; child++)
		if (is_part_of_parent(child) && ROW_DESCRIPTIONS[child].parent == kind)
			bind_metrics(insertion, frame, child, first_row_below(frame, child, row));
}

static void insert_rows(struct database *database, const struct frame *frame, enum row_kind kind, int64_t run)
{
	int64_t number = 0;

	for (const struct row *row = frame->first[kind]; row; row = row->next) {
		struct insertion insertion = {database, database->insert[kind], 0};

		bind_count(&insertion, run);
		if (kind != ROW_sample)
			bind_count(&insertion, frame->sample->sample);
		if (key_parent(kind) != ROW_sample && is_repeated(kind))
			bind_text(&insertion, *row_text(row->parent, metric_offset(0)));
		if (ROW_DESCRIPTIONS[kind].shape == LIST)
			bind_count(&insertion, number++);
		bind_metrics(&insertion, frame, kind, row);
		sqlite_file_insert(&database->file, insertion.statement);
	}
}

static int insert_samples(struct database *database, struct record *record, const struct export_job *job)
{
	const struct frame *frame;
	size_t count = 0;
	int result;

	while ((result = record_next(record, &frame)) > 0 && !database->file.error) {
		for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
			if (!is_part_of_parent(kind))
				insert_rows(database, frame, kind, (int64_t)record_run(record));
		count++;
	}
	if (result < 0)
		return problem_set(job->problem, result, "%s", record_problem(record)->text);
	/* An error of the database comes from sqlite_file_finish(). */
	if (!count && !database->file.error)
		return export_lacks_samples(job);
	return 0;
}

int export_sqlite(const struct export_job *job)
{
	__attribute__((cleanup(database_done))) struct database database = {0};
	CLEANUP_RECORD struct record *record = NULL;
	struct record_options options = {0};
	int result;

	metric_set_add_all(&options.wanted);
	result = record_open(job->paths, job->path_count, &options, &record, job->problem);
	if (result == 0)
		result = sqlite_file_open(&database.file, job->output, job->problem);
	if (result < 0)
		return result;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		if (!is_part_of_parent(kind))
			create_table(&database, kind);
	result = insert_samples(&database, record, job);
	if (result < 0)
		return result;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		sqlite3_finalize(database.insert[kind]);
		database.insert[kind] = NULL;
	}
	result = sqlite_file_finish(&database.file, job->problem);
	return result == 0 ? export_tell_damage(job, 0, record_damage(record).bad_lines) : result;
}
