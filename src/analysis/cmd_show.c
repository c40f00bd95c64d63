/* show: prints the samples of a recording, or the lines of any CSV file, as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_internal.h"

enum { NOT_GIVEN = -1 };

struct show {
	const struct show_words *options;
	struct text_list rename_from, rename_to;
	struct rt_slice slice; /* step 0: not given */
};

static void show_done(struct show *show)
{
	text_list_done(&show->rename_from);
	text_list_done(&show->rename_to);
}

/* "1:10:2", ":-5", "3:" */
static bool parse_slice(const char *text, struct rt_slice *ret_slice)
{
	CLEANUP_FREE char *copy = strdup(text);
	struct rt_slice slice = {.step = 1};
	char *parts[3] = {copy, NULL, NULL};

	for (int i = 1; copy && i < 3 && parts[i - 1]; i++) {
		parts[i] = strchr(parts[i - 1], ':');
		if (parts[i])
			*parts[i]++ = '\0';
	}
	if (!parts[1] || (parts[2] && strchr(parts[2], ':')))
		return false;
	slice.has_start = *parts[0] != '\0';
	slice.has_stop = *parts[1] != '\0';
	if ((slice.has_start && !parse_count(parts[0], &slice.start)) ||
	    (slice.has_stop && !parse_count(parts[1], &slice.stop)) ||
	    (parts[2] && *parts[2] && !parse_count(parts[2], &slice.step)) || !slice.step)
		return false;
	*ret_slice = slice;
	return true;
}

static bool add_rename(struct show *show, const char *pair)
{
	const char *equals = strrchr(pair, '=');
	CLEANUP_FREE char *from = equals ? strndup(pair, (size_t)(equals - pair)) : NULL;
	size_t before = show->rename_from.count;

	/* Outside brackets a name contains no comma, so each side must be exactly one part. */
	return from && equals[1] && text_list_add_parts(&show->rename_from, from) &&
	       show->rename_from.count == before + 1 && text_list_add(&show->rename_to, equals + 1);
}

static bool is_format(const struct show_words *options, const char *word)
{
	return strcmp(options->format, word) == 0;
}

/* Whether an option of the combined columns was given. */
static bool is_combined(const struct show_words *options)
{
	return options->human_names || options->bytes || options->system_prefix || options->process_prefix ||
	       options->offset != NOT_GIVEN;
}

/* Replaces *table by the result of an operation on it. */
static int replace_table(rt_table **table, rt_table *by, int result)
{
	if (result == 0) {
		rt_table_free(*table);
		*table = by;
	}
	return result;
}

static int read_shown_table(const struct show_words *options, const char *const *paths, size_t count,
			    rt_table **ret_table, struct rt_problem *problem)
{
	rt_table *part = NULL;
	int result;

	if (is_combined(options))
		return rt_table_read_combined(
			paths, count,
			&(struct rt_combined_options){
				.size = sizeof(struct rt_combined_options),
				.bytes = options->bytes,
				.human_names = options->human_names,
				.system_prefix = options->system_prefix,
				.process_prefix = options->process_prefix,
				.offset = options->offset == NOT_GIVEN ? 0 : (size_t)options->offset},
			ret_table, problem);
	if (!options->any_csv)
		return rt_table_read_record(paths, count, options->column.texts, options->column.count,
					    ret_table, problem);
	result = rt_table_read_csv(paths[0], ret_table, problem);
	if (result == 0 && options->column.count) {
		result = rt_table_select(*ret_table, options->column.texts, options->column.count, &part,
					 problem);
		result = replace_table(ret_table, part, result);
	}
	return result;
}

static int load_table(const struct show_words *options, const char *const *paths, size_t count,
		      rt_table **ret_table, struct rt_problem *problem)
{
	int result = read_shown_table(options, paths, count, ret_table, problem);

	if (result < 0 || options->any_csv || rt_table_row_count(*ret_table))
		return result;
	snprintf(problem->text, sizeof problem->text, "%s: no whole sample has been written yet", paths[0]);
	return -ENODATA;
}

/*
 * Applies the operations in the order that users expect: select rows, take head or tail of them, then rename.
 */
static int apply_operations(const struct show *show, rt_table **table, struct rt_problem *problem)
{
	rt_table *part = NULL;
	int result = 0;

	if (show->slice.step) {
		result = rt_table_slice(*table, show->slice, &part);
		result = replace_table(table, part, result);
	}
	if (result == 0 && show->options->head != NOT_GIVEN) {
		result = rt_table_head(*table, (size_t)show->options->head, &part);
		result = replace_table(table, part, result);
	}
	if (result == 0 && show->options->tail != NOT_GIVEN) {
		result = rt_table_tail(*table, (size_t)show->options->tail, &part);
		result = replace_table(table, part, result);
	}
	if (result == 0)
		result = rt_table_rename(*table, show->rename_from.texts, show->rename_to.texts,
					 show->rename_from.count, problem);
	return result;
}

/* Adds the final line end, which the library leaves to its callers. */
static int table_text(const rt_table *table, size_t rows, char **ret_text)
{
	CLEANUP_FREE char *text = NULL;
	int result = rt_table_to_text(table, rows, &text);

	if (result == 0 && asprintf(ret_text, "%s\n", text) < 0)
		result = -ENOMEM;
	return result;
}

/* The usual columns for a person: the time and the job before the machine. */
static int put_job_first(rt_table **table, struct rt_problem *problem)
{
	size_t columns = rt_table_column_count(*table), count = 0;
	CLEANUP_FREE const char **names = calloc(columns + 1, sizeof(*names));
	rt_table *sorted = NULL;
	int result;

	if (!names)
		return -ENOMEM;
	for (int machine = 0; machine <= 1; machine++)
		for (size_t i = 0; i < columns; i++) {
			const char *name = rt_table_column_name(*table, i);

			if ((strncmp(name, "system_", strlen("system_")) == 0) == (machine == 1))
				names[count++] = name;
		}
	result = rt_table_select(*table, names, count, &sorted, problem);
	return replace_table(table, sorted, result);
}

static int make_shown_text(const struct show_words *options, const rt_table *table, char **ret_text)
{
	if (is_format(options, "json"))
		return rt_table_to_json(table, ret_text);
	if (is_format(options, "csv") || is_format(options, "quoted") || is_format(options, "plain"))
		return rt_table_to_csv(table, !is_format(options, "plain"), ret_text);
	if (is_format(options, "tiny-data-frame"))
		return table_text(table, (size_t)options->rows, ret_text);
	return rt_table_for_screen(table, (size_t)options->rows, !options->column.count,
				   command_screen(options->output), command_colour(), ret_text);
}

static int print_table(const struct subcommand *command, const struct show_words *options,
		       const rt_table *table)
{
	CLEANUP_FREE char *text = NULL;
	int result = make_shown_text(options, table, &text);

	if (result < 0)
		return command_fault(command, "%s", strerror(-result));
	if (is_format(options, "text"))
		return command_write_fitted(command, options->output, text);
	return command_write(command, options->output, text, strlen(text));
}

/* Reads the texts of --rename and --slice. */
static int read_operations(const struct subcommand *command, struct show *show)
{
	const struct text_list *renames = &show->options->rename;
	const char *slice = show->options->slice;

	for (size_t i = 0; i < renames->count; i++)
		if (!add_rename(show, renames->texts[i]))
			return command_wrong_value(command, "rename", renames->texts[i]);
	return slice && !parse_slice(slice, &show->slice) ? command_wrong_value(command, "slice", slice) : 0;
}

int run_show(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(show)
	options = {.head = NOT_GIVEN, .tail = NOT_GIVEN, .rows = 10, .offset = NOT_GIVEN, .format = "text"};
	const struct text_list *files = &options.line.files;
	__attribute__((cleanup(show_done))) struct show show = {.options = &options};
	CLEANUP_TABLE rt_table *table = NULL;
	struct rt_problem problem = {"out of memory"};
	int status = command_read(command, argv, &options);

	if (status == 0)
		status = read_operations(command, &show);
	if (status)
		return status;
	if (!files->count)
		return command_usage(command, "name a recording");
	if (is_combined(&options) && (options.column.count || options.any_csv))
		return command_usage(command, "--human-names, the prefixes, --bytes and --offset apply to "
					      "the combined columns only");
	if (load_table(&options, files->texts, files->count, &table, &problem) < 0 ||
	    (is_format(&options, "text") && !options.column.count && put_job_first(&table, &problem) < 0) ||
	    apply_operations(&show, &table, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return print_table(command, &options, table);
}
