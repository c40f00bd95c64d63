/* show: prints the samples of a recording, or the lines of any CSV file, as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_PLAIN_CSV, FORMAT_JSON, FORMAT_TINY_DATA_FRAME };

struct show {
	struct text_list columns, rename_from, rename_to;
	struct rt_slice slice;
	int64_t head, tail; /* -1: option not given */
	int64_t rows;
	int64_t offset;
	bool any_csv;
	bool as_combined; /* an option of the combined columns was given */
	struct rt_combined_options combined;
	enum format format;
	const char *output;
};

static void show_done(struct show *show)
{
	text_list_done(&show->columns);
	text_list_done(&show->rename_from);
	text_list_done(&show->rename_to);
}

static void cleanup_table(rt_table **table)
{
	rt_table_free(*table);
}
#define CLEANUP_TABLE __attribute__((cleanup(cleanup_table)))

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

static enum format format_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum format format;
	} WORDS[] = {{"csv", FORMAT_CSV}, {"json", FORMAT_JSON}, {"tiny-data-frame", FORMAT_TINY_DATA_FRAME}};

	for (size_t i = 0; i < ARRAY_SIZE(WORDS); i++)
		if (strcmp(word, WORDS[i].word) == 0)
			return WORDS[i].format;
	return FORMAT_TEXT;
}

static bool parse_csv(const char *name, enum format *ret_format)
{
	if (!name || strcmp(name, "quoted") == 0)
		*ret_format = FORMAT_CSV;
	else if (strcmp(name, "plain") == 0)
		*ret_format = FORMAT_PLAIN_CSV;
	else
		return false;
	return true;
}

static bool parse_rows(const char *text, int64_t *ret_rows)
{
	return parse_count(text, ret_rows) && *ret_rows >= 0;
}

/* Sets how the combined columns are named and scaled. */
static bool set_combined_option(struct show *show, int option, const char *value)
{
	show->as_combined = true;
	switch (option) {
	case OPTION_show_human_names:
		show->combined.human_names = true;
		return true;
	case OPTION_show_bytes:
		show->combined.bytes = true;
		return true;
	case OPTION_show_system_prefix:
		show->combined.system_prefix = value;
		return true;
	case OPTION_show_process_prefix:
		show->combined.process_prefix = value;
		return true;
	case OPTION_show_offset:
		if (!parse_rows(value, &show->offset))
			return false;
		show->combined.offset = (size_t)show->offset;
		return true;
	default:
		return false;
	}
}

static bool set_option(void *context, int option, const char *value)
{
	struct show *show = context;

	switch (option) {
	case OPTION_show_column:
		return text_list_add_parts(&show->columns, value);
	case OPTION_show_output:
		show->output = value;
		return true;
	case OPTION_show_rename:
		return add_rename(show, value);
	case OPTION_show_head:
		return parse_rows(value, &show->head);
	case OPTION_show_tail:
		return parse_rows(value, &show->tail);
	case OPTION_show_slice:
		return parse_slice(value, &show->slice);
	case OPTION_show_rows:
		return parse_rows(value, &show->rows);
	case OPTION_show_csv:
		return parse_csv(value, &show->format);
	case OPTION_show_json:
		show->format = FORMAT_JSON;
		return true;
	case OPTION_show_format:
		show->format = format_of_word(value);
		return true;
	case OPTION_show_any_csv:
		show->any_csv = true;
		return true;
	default:
		return set_combined_option(show, option, value);
	}
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

static int read_table(const struct show *show, const char *const *paths, size_t count, rt_table **ret_table,
		      struct rt_problem *problem)
{
	rt_table *part = NULL;
	int result;

	if (show->as_combined)
		return rt_table_read_combined(paths, count, &show->combined, ret_table, problem);
	if (!show->any_csv)
		return rt_table_read_record(paths, count, show->columns.texts, show->columns.count, ret_table,
					    problem);
	result = rt_table_read_csv(paths[0], ret_table, problem);
	if (result == 0 && show->columns.count) {
		result =
			rt_table_select(*ret_table, show->columns.texts, show->columns.count, &part, problem);
		result = replace_table(ret_table, part, result);
	}
	return result;
}

static int load_table(const struct show *show, const char *const *paths, size_t count, rt_table **ret_table,
		      struct rt_problem *problem)
{
	int result = read_table(show, paths, count, ret_table, problem);

	if (result < 0 || show->any_csv || rt_table_row_count(*ret_table))
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
	if (result == 0 && show->head >= 0) {
		result = rt_table_head(*table, (size_t)show->head, &part);
		result = replace_table(table, part, result);
	}
	if (result == 0 && show->tail >= 0) {
		result = rt_table_tail(*table, (size_t)show->tail, &part);
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

static int print_table(const struct subcommand *command, const struct show *show, const rt_table *table)
{
	CLEANUP_FREE char *text = NULL;
	int result;

	switch (show->format) {
	case FORMAT_JSON:
		result = rt_table_to_json(table, &text);
		break;
	case FORMAT_CSV:
	case FORMAT_PLAIN_CSV:
		result = rt_table_to_csv(table, show->format == FORMAT_CSV, &text);
		break;
	case FORMAT_TINY_DATA_FRAME:
		result = table_text(table, (size_t)show->rows, &text);
		break;
	default:
		result = rt_table_for_screen(table, (size_t)show->rows, !show->columns.count,
					     command_screen(show->output), command_colour(), &text);
		break;
	}
	if (result < 0)
		return command_fault(command, "%s", strerror(-result));
	if (show->format == FORMAT_TEXT)
		return command_write_fitted(command, show->output, text);
	return command_write(command, show->output, text, strlen(text));
}

int run_show(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(show_done))) struct show show = {
		.head = -1, .tail = -1, .rows = 10, .combined = {.size = sizeof(show.combined)}};
	CLEANUP_TABLE rt_table *table = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_TEXTS struct text_list files = {0};
	int status;

	status = command_read(command, argv, set_option, &show, &files);
	if (status)
		return status;
	if (!files.count)
		return command_usage(command, "name a recording");
	if (show.as_combined && (show.columns.count || show.any_csv))
		return command_usage(command, "--human-names, the prefixes, --bytes and --offset apply to "
					      "the combined columns only");
	if (load_table(&show, files.texts, files.count, &table, &problem) < 0 ||
	    (show.format == FORMAT_TEXT && !show.columns.count && put_job_first(&table, &problem) < 0) ||
	    apply_operations(&show, &table, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return print_table(command, &show, table);
}
