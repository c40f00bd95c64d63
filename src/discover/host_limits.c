/* Finds the limits of a process here. See host_limits.h. */
#include "discover/host_limits.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "discover/ask_recorder.h"
#include "metric/typed_rows.h"

static bool take_limits(const struct frame *frame, void *context)
{
	const struct limits_row *row = (const void *)frame->first[ROW_limits];
	struct host_limits *limits = context;

	if (!row)
		return false;
	*limits = (struct host_limits){row->cpu_limit_cores, row->memory_limit_mib, row->cpuset_cores};
	return true;
}

void host_limits_discover(const char *root_dir, struct host_limits *ret_limits)
{
	char pid[24];
	const char *options[] = {"--metrics", "limits.*", "--interval", "0.005", "--duration",
				 "1",         "--pid",    pid,          NULL};
	struct metric_set wanted = {0};

	*ret_limits = (struct host_limits){no_real(ABSENT_NOT_COLLECTED), no_real(ABSENT_NOT_COLLECTED),
					   no_count(ABSENT_NOT_COLLECTED)};
	metric_set_add_kind(&wanted, ROW_limits);
	/* Our limits are the recorder's, too. A captured machine has no process of ours. */
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (strcmp(root_dir, "/") != 0)
		options[6] = NULL;
	ask_recorder(root_dir, options, &wanted, take_limits, ret_limits);
}

void host_limits_write(struct json_writer *json, const struct host_limits *limits)
{
	json_open(json, '{');
	/* An absent number is written as null. */
	json_key(json, "cpu_limit_cores");
	json_decimal(json, limits->cpu_limit_cores, 3);
	json_key(json, "memory_limit_mib");
	json_decimal(json, limits->memory_limit_mib, 3);
	json_key(json, "cpuset_cores");
	if (count_absent(limits->cpuset_cores))
		json_absent(json);
	else
		json_count(json, limits->cpuset_cores);
	json_close(json, '}');
}
