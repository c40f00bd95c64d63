/* Finds the units of gpu_tracker; see gpu_tracker_units.h. */
#include "compat/gpu_tracker_units.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"

/* In the order in which an error lists them. */
static const struct gpu_tracker_unit SIZES[] = {
	{"bytes", 1}, {"gigabytes", 1e-9}, {"kilobytes", 1e-3}, {"megabytes", 1e-6}, {"terabytes", 1e-12}};
static const struct gpu_tracker_unit TIMES[] = {
	{"days", 1.0 / 86400}, {"hours", 1.0 / 3600}, {"minutes", 1.0 / 60}, {"seconds", 1}};

static int find_unit(const char *name, const struct gpu_tracker_unit *units, size_t count,
		     struct gpu_tracker_unit *ret_unit, struct rt_problem *problem)
{
	CLEANUP_BUFFER struct buffer names = BUFFER(256);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(units[i].name, name) == 0) {
			*ret_unit = units[i];
			return 0;
		}
		buffer_printf(&names, "%s%s", i ? ", " : "", units[i].name);
	}
	return problem_set(problem, -EINVAL, "'%.100s' is not a unit; there are %s", name, names.data);
}

int gpu_tracker_units_find(const struct rt_gpu_tracker_options *options, struct gpu_tracker_units *ret_units,
			   struct rt_problem *problem)
{
	const char *ram = options->ram_unit ? options->ram_unit : "gigabytes";
	const char *gpu_ram = options->gpu_ram_unit ? options->gpu_ram_unit : "gigabytes";
	const char *time = options->time_unit ? options->time_unit : "hours";
	struct gpu_tracker_units units = {0};
	int result = find_unit(ram, SIZES, ARRAY_SIZE(SIZES), &units.ram, problem);

	if (result == 0)
		result = find_unit(gpu_ram, SIZES, ARRAY_SIZE(SIZES), &units.gpu_ram, problem);
	if (result == 0)
		result = find_unit(time, TIMES, ARRAY_SIZE(TIMES), &units.time, problem);
	if (result == 0)
		*ret_units = units;
	return result;
}
