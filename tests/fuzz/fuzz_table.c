/* Feeds any bytes as a CSV table and as the output of stats. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "record/column.h"
#include "resource_tracker_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_table(const char *path)
{
	const struct rt_slice backwards = {.step = -2};
	struct rt_problem problem = {""};
	rt_table *table = NULL, *part = NULL;
	char *text = NULL;

	if (rt_table_read_csv(path, &table, &problem) < 0)
		return;
	if (rt_table_slice(table, backwards, &part) == 0) {
		if (rt_table_to_text(part, 3, &text) == 0)
			free(text);
		if (rt_table_to_json(part, &text) == 0)
			free(text);
		if (rt_table_to_csv(part, true, &text) == 0)
			free(text);
	}
	rt_table_free(part);
	rt_table_free(table);
}

static void read_stats(const char *path)
{
	struct rt_problem problem;
	rt_stats *stats = NULL;
	char *text = NULL;

	if (rt_stats_read_json(path, &stats, &problem) == 0 && rt_stats_to_json(stats, &text) == 0)
		free(text);
	rt_stats_free(stats);
}

static void find_column(const uint8_t *bytes, size_t length)
{
	CLEANUP_FREE char *name = strndup((const char *)bytes, length);
	struct metric_place column;
	struct rt_problem problem;

	if (name)
		(void)record_column_find(name, &column, &problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	CLEANUP_CLOSE int fd = memfd_create("table", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_table(path);
	read_stats(path);
	if (length < 1000)
		find_column(bytes, length);
	return 0;
}
