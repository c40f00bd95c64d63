/*
 * Puts the machine's and the process's columns side by side, with the names that get_combined_metrics() of
 * the Python package gives them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/ends_with.h"
#include "format/csv_layout.h"
#include "record/problem.h"
#include "resource_tracker_internal.h"

enum { NAME_BYTES = 256 };

static const struct {
	const char *name, *human;
} HUMAN_NAMES[] = {
	{"timestamp", "Timestamp"},
	{"processes", "processes"},
	{"utime", "CPU time (user)"},
	{"stime", "CPU time (system)"},
	{"cpu_usage", "CPU usage"},
	{"memory_free_mib", "free memory"},
	{"memory_used_mib", "used memory"},
	{"memory_buffers_mib", "memory buffers"},
	{"memory_cached_mib", "memory page/file cached"},
	{"memory_active_mib", "active memory"},
	{"memory_inactive_mib", "inactive memory"},
	{"disk_read_bytes", "disk read"},
	{"disk_write_bytes", "disk write"},
	{"disk_space_total_gb", "disk space total"},
	{"disk_space_used_gb", "disk space used"},
	{"disk_space_free_gb", "disk space free"},
	{"net_recv_bytes", "inbound network traffic"},
	{"net_sent_bytes", "outbound network traffic"},
	{"gpu_usage", "GPU usage"},
	{"gpu_vram_mib", "VRAM used"},
	{"gpu_utilized", "GPUs in use"},
	{"pid", "PID"},
	{"children", "children"},
	{"memory_mib", "memory usage"},
};

static const char *human_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(HUMAN_NAMES); i++)
		if (strcmp(name, HUMAN_NAMES[i].name) == 0)
			return HUMAN_NAMES[i].human;
	return name;
}

/* Splits a heading of the combined layout into prefix and name, and builds the requested name. */
static void name_column(const char *heading, const struct rt_combined_options *options, char *ret_name)
{
	static const struct {
		const char *usual, *human;
	} PREFIXES[] = {{"system_", "System "}, {"process_", "Process "}};
	const char *const given[] = {options->system_prefix, options->process_prefix};
	const char *prefix = "", *name = heading;

	for (size_t i = 0; i < ARRAY_SIZE(PREFIXES); i++) {
		size_t length = strlen(PREFIXES[i].usual);

		if (strncmp(heading, PREFIXES[i].usual, length) != 0)
			continue;
		name = heading + length;
		prefix = given[i] ? given[i] : options->human_names ? PREFIXES[i].human : PREFIXES[i].usual;
	}
	snprintf(ret_name, NAME_BYTES, "%s%s", prefix, options->human_names ? human_name(name) : name);
}

static void scale_to_bytes(rt_table *table, size_t column, const char *heading)
{
	double factor = ends_with(heading, "_mib") ? 1048576.0 : strstr(heading, "disk_space_") ? 1e9 : 1;
	double value;

	for (size_t row = 0; factor != 1 && row < rt_table_row_count(table); row++)
		if (rt_table_real(table, column, row, &value))
			(void)rt_table_set(table, column, row,
					   (struct rt_value){.type = RT_TYPE_REAL, .real = value * factor});
}

static int rename_columns(rt_table *table, const struct rt_combined_options *options)
{
	const struct csv_layout *combined = &CSV_LAYOUT[CSV_LAYOUT_combined];
	CLEANUP_FREE char(*names)[NAME_BYTES] = calloc(combined->column_count, sizeof(*names));
	CLEANUP_FREE const char **from = calloc(combined->column_count, sizeof(*from));
	CLEANUP_FREE const char **to = calloc(combined->column_count, sizeof(*to));

	if (!names || !from || !to)
		return -ENOMEM;
	for (size_t i = 0; i < combined->column_count; i++) {
		from[i] = combined->columns[i].heading;
		to[i] = names[i];
		name_column(from[i], options, names[i]);
		if (options->bytes)
			scale_to_bytes(table, i, from[i]);
	}
	/* Rename all at once, because one prefix may be the default of the other. */
	return rt_table_rename(table, from, to, combined->column_count, NULL);
}

int rt_table_read_combined(const char *const *paths, size_t path_count,
			   const struct rt_combined_options *options, rt_table **ret_table,
			   struct rt_problem *ret_problem)
{
	struct rt_combined_options own;
	struct rt_slice rest = {.has_start = true, .step = 1};
	rt_table *table = NULL, *part = NULL;
	int result = TAKE_OPTIONS(ret_problem, &own, rt_combined_options, offset, options);

	if (result == 0)
		result = rt_table_read_record(paths, path_count, NULL, 0, &table, ret_problem);
	if (result < 0)
		return result;
	rest.start = own.offset > INT64_MAX ? INT64_MAX : (int64_t)own.offset;
	if (own.offset) {
		result = rt_table_slice(table, rest, &part);
		rt_table_free(table);
		table = part;
	}
	if (result == 0)
		result = rename_columns(table, &own);
	if (result < 0) {
		rt_table_free(table);
		return problem_set(ret_problem, result, "out of memory");
	}
	*ret_table = table;
	return 0;
}
