/* Looks for recordings of a newer schema; see newer_schema.h. */
#include "analysis/newer_schema.h"

#include <string.h>
#include <sys/stat.h>

#include "analysis/command_fault.h"
#include "resource_tracker.h"
#include "resource_tracker_analysis.h"

static bool is_regular(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The version that the first run of a recording states, or 0. */
static int64_t schema_of(const char *path)
{
	static const char *const COLUMN = "run_start.schema_version";
	struct rt_value cell = {.type = RT_TYPE_NONE};
	rt_record *record;

	if (!is_regular(path) || rt_record_open(&path, 1, &COLUMN, 1, &record, NULL) < 0)
		return 0;
	if (rt_record_next(record, NULL) > 0)
		cell = rt_record_get(record, 0);
	rt_record_close(record);
	return cell.type == RT_TYPE_COUNT ? cell.count : 0;
}

bool tell_newer_schema(const struct subcommand *command, const char *file)
{
	/* "run 12=PATH" and "NAME=PATH" name a side of a comparison. */
	const char *equals = is_regular(file) ? NULL : strchr(file, '=');
	const char *path = equals ? equals + 1 : file;
	int64_t version = schema_of(path);

	if (version <= RT_SCHEMA_VERSION)
		return false;
	(void)command_fault(command,
			    "%s has schema version %lld; this program knows %d and leaves out what is new "
			    "since; a newer resource-tracker reads all of it",
			    path, (long long)version, RT_SCHEMA_VERSION);
	return true;
}
