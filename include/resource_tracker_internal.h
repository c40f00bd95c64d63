/*
 * resource_tracker_internal.h: calls of the analysis that only our own programs use: tables, screens, and the places of outputs.
 * It is not installed, and the calls may change in any version. The Python package brings the library of its own build, so those
 * that it calls are exported, under the version node RESOURCE_TRACKER_ANALYSIS_PRIVATE.
 *
 * Results, ownership and threads are as in resource_tracker_analysis.h.
 */
#ifndef RESOURCE_TRACKER_INTERNAL_H
#define RESOURCE_TRACKER_INTERNAL_H

#include "resource_tracker_analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A program calls this once: `tell` gets the path of each recording whose gzip data or checksum is wrong, each time that it is
 * read.
 */
void rt_record_on_damage(void (*tell)(const char *path));

/* ---- tables ---------------------------------------------------------------------------------------- */

/*
 * Named columns of cells. A table owns its contents: texts are copied, and tables made of parts of a table
 * are copies.
 */
typedef struct rt_table rt_table;

/* Returns NULL without memory. */
rt_table *rt_table_new(void);
RT_API void rt_table_free(rt_table *table);

/* 0 while the table has no column. */
RT_API size_t rt_table_row_count(const rt_table *table);
RT_API size_t rt_table_column_count(const rt_table *table);
/* NULL past the last column. Valid until the column is renamed or the table is freed. */
RT_API const char *rt_table_column_name(const rt_table *table, size_t column);
/* Returns the index of a column, or -ENOENT. */
ssize_t rt_table_find(const rt_table *table, const char *name);

/* Adds a column of empty cells at the end. Returns its index, -EEXIST or -ENOMEM. */
ssize_t rt_table_add_column(rt_table *table, const char *name);
/* Adds a row of empty cells at the end. Returns its index or -ENOMEM. */
ssize_t rt_table_add_row(rt_table *table);
/* Adds or replaces a whole column. -EINVAL: `count` differs from the number of rows. */
int rt_table_set_column(rt_table *table, const char *name, const struct rt_value *cells, size_t count);

/* -ENOENT: no such column or row. */
int rt_table_set(rt_table *table, size_t column, size_t row, struct rt_value cell);
/* RT_TYPE_NONE past the end, too. */
RT_API struct rt_value rt_table_get(const rt_table *table, size_t column, size_t row);
/* Reads a cell as a number. Returns false for texts and empty cells. */
bool rt_table_real(const rt_table *table, size_t column, size_t row, double *ret_value);

/*
 * Renames all at once, so two columns may swap their names. -ENOENT: the problem has the missing name; no
 * column was renamed.
 */
int rt_table_rename(rt_table *table, const char *const *from, const char *const *to, size_t count,
		    struct rt_problem *ret_problem);
/* Copies these columns, in this order. */
int rt_table_select(const rt_table *table, const char *const *names, size_t count, rt_table **ret_table,
		    struct rt_problem *ret_problem);

/* Rows start, start + step, ... before stop. Negative numbers count from the end, as in Python. */
struct rt_slice {
	bool has_start, has_stop;
	int64_t start, stop;
	int64_t step; /* not 0 */
};
int rt_table_slice(const rt_table *table, struct rt_slice slice, rt_table **ret_table);
int rt_table_head(const rt_table *table, size_t rows, rt_table **ret_table);
int rt_table_tail(const rt_table *table, size_t rows, rt_table **ret_table);

/*
 * Reads CSV. The first line has the names. A cell is an integer, else a real number, else a text. A line with
 * more cells than names is an error. A line with fewer has empty cells at its end.
 */
RT_API int rt_table_read_csv(const char *path, rt_table **ret_table, struct rt_problem *ret_problem);
/* Writes CSV with CRLF. `quote`: quotes every cell except numbers; otherwise only cells that need it. */
int rt_table_to_csv(const rt_table *table, bool quote, char **ret_text);
/* As the Python package prints its TinyDataFrame: the size, the names, and at most `rows` rows (0: all). */
int rt_table_to_text(const rt_table *table, size_t rows, char **ret_text);
/*
 * For people, fitted to the terminal behind `fd`: at most `rows` rows (0: all), amounts with units by the names of the columns. A
 * table that is wider than the terminal continues below. `leave_out_empty` leaves out columns without a value above 0. Width and
 * `colour` as in rt_summary_for_screen(), but a file or pipe has no width unless COLUMNS is set. -EINVAL: another colour.
 */
int rt_table_for_screen(const rt_table *table, size_t rows, bool leave_out_empty, int fd, const char *colour,
			char **ret_text);
/* One line with the size and the first row. */
int rt_table_describe(const rt_table *table, char **ret_text);
/* A JSON array with one object for each row. */
int rt_table_to_json(const rt_table *table, char **ret_text);

/*
 * Reads all samples of the last run into a table. Columns are named as in `columns`; without any, the 32
 * columns of the combined CSV.
 */
RT_API int rt_table_read_record(const char *const *paths, size_t path_count, const char *const *columns,
				size_t column_count, rt_table **ret_table, struct rt_problem *ret_problem);

/* Names and scales of the columns of a combined table. Zeroes behind the size are the defaults of get_combined_metrics(). */
struct rt_combined_options {
	size_t size;                /* sizeof(struct rt_combined_options), set by the caller */
	bool bytes;                 /* _mib and disk_space_*_gb columns in bytes; names unchanged */
	bool human_names;           /* "CPU usage", "free memory", ... */
	const char *system_prefix;  /* NULL: "system_", with human names "System " */
	const char *process_prefix; /* NULL: "process_", with human names "Process " */
	size_t offset;              /* rows to skip at the beginning */
};
/* Reads samples with the columns of the machine and of the process side by side. `options` may be NULL. */
int rt_table_read_combined(const char *const *paths, size_t path_count,
			   const struct rt_combined_options *options, rt_table **ret_table,
			   struct rt_problem *ret_problem);

/* Skips specs that cannot be computed. Returns their number, with the reason for the first in the problem. */
int rt_stats_of_table(const rt_table *table, const struct rt_stat_spec *specs, size_t spec_count,
		      rt_stats **ret_stats, struct rt_problem *ret_problem);

/* ---- text for a terminal -------------------------------------------------------------------------- */

/*
 * Fits the same text to the terminal behind `fd`: it folds lines at its width (80 columns if it is not a terminal; the variable
 * COLUMNS overrides both), writes plain ASCII in a locale that is not UTF-8, and uses colours. `colour`: "always", "never", or "auto"
 * for a terminal unless NO_COLOR is set or TERM is "dumb". -EINVAL: another word.
 */
int rt_summary_for_screen(const rt_summary *summary, enum rt_size_unit unit, int fd, const char *colour,
			  char **ret_text);
/*
 * A workflow from its steps: `paths` are folders of recordings, recordings and files of runs (src/workflow/steps.h). -ENODATA: there is
 * none. The text for people has at most 40 lines on a screen of 80 columns; docs/WORKFLOWS.md describes the JSON. -EINVAL: another colour.
 */
typedef struct rt_workflow rt_workflow;
int rt_workflow_read(const char *const *paths, size_t path_count, rt_workflow **ret_workflow,
		     struct rt_problem *ret_problem);
void rt_workflow_free(rt_workflow *workflow); /* NULL is allowed. */
/* Reads the course of each step that is not short, for the page. A recording that is gone leaves it unknown. -ENOMEM */
int rt_workflow_read_courses(rt_workflow *workflow);
int rt_workflow_to_json(const rt_workflow *workflow, char **ret_text);
int rt_workflow_for_screen(const rt_workflow *workflow, int fd, const char *colour, char **ret_text);
/* Writes its page to `path`, as rt_report() does. `name` is the folder that gives the page its title. */
int rt_workflow_report(const rt_workflow *workflow, const char *name, const char *path,
		       struct rt_problem *ret_problem);
/* For people, as rt_table_for_screen(): one row for each program. */
int rt_summary_programs_for_screen(const rt_summary *summary, int fd, const char *colour, char **ret_text);
/* For people, as rt_table_for_screen(): one row for each wait. */
int rt_summary_waits_for_screen(const rt_summary *summary, int fd, const char *colour, char **ret_text);
/* The waits as JSON: [{"class": ..., "target": ..., "program": ..., "wait_secs": ..., "run_pct": ..., "look_count": ...}, ...] */
int rt_summary_waits_to_json(const rt_summary *summary, char **ret_text);
/* For people, as rt_table_for_screen(): one row for each column, with units. */
int rt_stats_for_screen(const rt_stats *stats, bool leave_out_empty, int fd, const char *colour,
			char **ret_text);
/* For people, as rt_table_for_screen(): one row for each phase, the longest first. */
int rt_regions_for_screen(const rt_regions *regions, int fd, const char *colour, char **ret_text);
/* The same, fitted to the terminal behind `fd` as by rt_table_for_screen(). */
int rt_comparison_for_screen(const rt_comparison *comparison, int fd, const char *colour, char **ret_text);

/* ---- snapshots of the Python package -------------------------------------------------------------- */

/*
 * Writes a snapshot as the Python package's dump() (to a file, gzip) and dumps() (as text) do.
 * rt_record_open() and all other calls that take paths can read such a file.
 */
int rt_package_dump(const char *const *paths, size_t path_count, const char *output,
		    struct rt_problem *ret_problem);
RT_API int rt_package_dumps(const char *const *paths, size_t path_count, char **ret_text,
			    struct rt_problem *ret_problem);

/* ---- outputs --------------------------------------------------------------------------------------- */

/*
 * Tells whether a file may be written under a name. rt_export(), rt_report(), rt_combine() and rt_output_write()
 * check this themselves, but replace recordings. Returns 0, or
 *   -EINVAL  it is one of the `inputs`, or the marks beside one
 *   -EEXIST  it is a recording, and `replace` is false
 *   -EBUSY   a recorder is writing to it
 *   -EPERM   another user may have planted it (a link, a FIFO) in a folder that all users may write to
 *   -EISDIR  it is a folder
 *   -ENOENT, -ENOTDIR, -EACCES, -EROFS  its folder does not exist, or takes no new file from this user
 */
int rt_output_check(const char *path, const char *const *inputs, size_t input_count, bool replace,
		    struct rt_problem *ret_problem);

/* Writes a file, which appears under its name when it is complete; "-" and NULL are standard output. */
int rt_output_write(const char *path, const void *bytes, size_t length, struct rt_problem *ret_problem);

/* ---- cleanup -------------------------------------------------------------------------------------- */

static inline void cleanup_table(rt_table **table)
{
	rt_table_free(*table);
}
#define CLEANUP_TABLE __attribute__((cleanup(cleanup_table)))

static inline void cleanup_stats(rt_stats **stats)
{
	rt_stats_free(*stats);
}
#define CLEANUP_STATS __attribute__((cleanup(cleanup_stats)))

static inline void cleanup_samples(rt_record **record)
{
	rt_record_close(*record);
}
#define CLEANUP_SAMPLES __attribute__((cleanup(cleanup_samples)))

#ifdef __cplusplus
}
#endif

#endif
