/*
 * Writes statistics as text and JSON, reads them back, and combines those of several runs. See
 * resource_tracker_analysis.h.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "format/csv_cells.h"
#include "format/json_scan.h"
#include "record/source.h"
#include "table/stats.h"
#include "table/table.h"

enum { TEXT_CEILING = 64 << 20 };

int rt_stats_to_json(const rt_stats *stats, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	buffer_add_char(&out, '{');
	for (size_t i = 0; i < stats->count; i++) {
		const struct stats_entry *entry = &stats->entries[i];

		if (stats_same_column(stats, i)) {
			buffer_add_char(&out, ',');
		} else {
			buffer_add_text(&out, i ? "},\n " : "");
			json_escape(&out, entry->column, strlen(entry->column));
			buffer_add_text(&out, ":{");
		}
		json_escape(&out, entry->name, strlen(entry->name));
		buffer_add_char(&out, ':');
		cell_add_json(&out, entry->value);
	}
	buffer_add_text(&out, stats->count ? "}}\n" : "}\n");
	return buffer_take_text(&out, ret_text);
}

/* Collects the names of all entries, each once, in the order of appearance. */
static size_t list_names(const rt_stats *stats, const char **names)
{
	size_t count = 0;

	for (size_t i = 0; i < stats->count; i++) {
		size_t at = 0;

		while (at < count && strcmp(names[at], stats->entries[i].name) != 0)
			at++;
		if (at == count)
			names[count++] = stats->entries[i].name;
	}
	return count;
}

static void add_stats_cell(struct buffer *out, struct rt_value value, size_t width)
{
	CLEANUP_BUFFER struct buffer cell = BUFFER(1 << 10);

	/* Four decimals are enough for readers; JSON has them all. */
	if (value.type == RT_TYPE_REAL)
		value.real = round_like_python(value.real, 4);
	if (value.type == RT_TYPE_NONE)
		buffer_add_char(&cell, '-');
	else
		cell_add_text(&cell, value);
	buffer_printf(out, "  %*s", (int)width, buffer_error(&cell) ? "-" : cell.data);
}

int rt_stats_to_text(const rt_stats *stats, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_FREE const char **names = calloc(stats->count ? stats->count : 1, sizeof(*names));
	size_t name_count, widest = 0, width = 12;

	if (!names)
		return -ENOMEM;
	name_count = list_names(stats, names);
	for (size_t i = 0; i < stats->count; i++) {
		size_t length = strlen(stats->entries[i].column), name = strlen(stats->entries[i].name);

		widest = length > widest ? length : widest;
		width = name > width ? name : width;
	}
	buffer_printf(&out, "%*s", (int)widest, "");
	for (size_t i = 0; i < name_count; i++)
		buffer_printf(&out, "  %*s", (int)width, names[i]);
	buffer_add_char(&out, '\n');
	for (size_t i = 0; i < stats->count; i++) {
		const char *column = stats->entries[i].column;

		if (stats_same_column(stats, i))
			continue;
		buffer_printf(&out, "%-*s", (int)widest, column);
		for (size_t j = 0; j < name_count; j++)
			add_stats_cell(&out, rt_stats_get(stats, column, names[j]), width);
		buffer_add_char(&out, '\n');
	}
	return buffer_take_text(&out, ret_text);
}

static int read_stats_json(const char *path, struct buffer *text, struct rt_problem *problem)
{
	struct source source;
	int result = source_open(&source, path, problem);
	char bytes[4096];
	ssize_t got;

	if (result < 0)
		return result;
	while ((got = source_read(&source, bytes, sizeof(bytes))) > 0 && !buffer_error(text))
		buffer_add(text, bytes, (size_t)got);
	source_close(&source);
	if (got >= 0)
		got = buffer_error(text);
	return got < 0 ? problem_set(problem, (int)got, "%s: %s", path, strerror((int)-got)) : 0;
}

/* Reads a key and its colon. */
static bool take_key(struct scan *json, struct buffer *key)
{
	struct scan raw;

	buffer_clear(key);
	if (!json_quoted(json, &raw) || !json_take(json, ':'))
		return false;
	json_unescape(key, &raw);
	return buffer_reserve(key, 0) == 0;
}

static bool take_number(struct scan *json, struct rt_value *ret_value)
{
	enum json_kind kind;
	struct scan raw;

	*ret_value = (struct rt_value){0};
	if (!json_value(json, &kind, &raw))
		return false;
	if (kind == VALUE_NULL)
		return true;
	*ret_value = cell_of_number(raw);
	return kind == VALUE_NUMBER && ret_value->type != RT_TYPE_NONE;
}

static int take_column(rt_stats *stats, struct scan *json, const char *column)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(1 << 16);
	struct rt_value value;

	if (!json_take(json, '{'))
		return -EBADMSG;
	if (json_take(json, '}'))
		return 0;
	do {
		int result;

		if (!take_key(json, &name) || !take_number(json, &value))
			return -EBADMSG;
		result = stats_set(stats, column, name.data, value);
		if (result < 0)
			return result;
	} while (json_take(json, ','));
	return json_take(json, '}') ? 0 : -EBADMSG;
}

static int take_stats(rt_stats *stats, struct scan json)
{
	CLEANUP_BUFFER struct buffer column = BUFFER(1 << 16);

	if (!json_take(&json, '{'))
		return -EBADMSG;
	if (!json_take(&json, '}')) {
		do {
			int result =
				take_key(&json, &column) ? take_column(stats, &json, column.data) : -EBADMSG;

			if (result < 0)
				return result;
		} while (json_take(&json, ','));
		if (!json_take(&json, '}'))
			return -EBADMSG;
	}
	return scan_left(&json) ? -EBADMSG : 0;
}

int rt_stats_read_json(const char *path, rt_stats **ret_stats, struct rt_problem *ret_problem)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(4 << 20);
	CLEANUP_STATS rt_stats *stats = stats_new();
	int result = stats ? read_stats_json(path, &text, ret_problem) : -ENOMEM;

	/* A text this long must be a recording. */
	if (result == -ENOBUFS)
		return problem_set(ret_problem, -EBADMSG, "%s: not the output of stats --json", path);
	if (result < 0)
		return result;
	result = take_stats(stats, scan_bytes(text.data ? text.data : "", text.length));
	if (result < 0)
		return problem_set(ret_problem, result, "%s: not the output of stats --json", path);
	*ret_stats = stats;
	stats = NULL;
	return 0;
}

/* Combines one entry over all runs that have it. */
static int combine_entry(const rt_stats *const *stats, size_t count, const struct stats_entry *entry,
			 struct rt_value *ret_value)
{
	bool average = strcmp(entry->name, "mean") == 0 || strcmp(entry->name, "duration") == 0;
	struct values values = {0};

	if (!average && strcmp(entry->name, "max") != 0 && strcmp(entry->name, "sum") != 0)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		(void)values_add(&values, rt_stats_get(stats[i], entry->column, entry->name), NAN);
	*ret_value = values_get(&values, (struct aggregate){average ? AGGREGATE_MEAN : AGGREGATE_MAX, 0});
	return 0;
}

int rt_stats_combine(const rt_stats *const *stats, size_t count, rt_stats **ret_stats,
		     struct rt_problem *ret_problem)
{
	CLEANUP_STATS rt_stats *combined = stats_new();

	if (!combined)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < stats[i]->count; j++) {
			const struct stats_entry *entry = &stats[i]->entries[j];
			struct rt_value value;
			int result = combine_entry(stats, count, entry, &value);

			if (result < 0)
				return problem_set(ret_problem, result,
						   "'%s' of several runs is not defined; mean, duration, "
						   "max and sum are",
						   entry->name);
			result = stats_set(combined, entry->column, entry->name, value);
			if (result < 0)
				return result;
		}
	*ret_stats = combined;
	combined = NULL;
	return 0;
}
