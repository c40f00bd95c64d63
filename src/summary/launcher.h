/*
 * Programs that hand their work to a daemon or to another machine, so that a recording only shows the client.
 */
#pragma once

#include "summary/summary.h"

struct launcher {
	const char *name;
	const char *instead; /* the way to record its work */
};

/* Returns NULL for any other program. `executable` may be a path. */
const struct launcher *find_launcher(const char *executable);

/*
 * Returns the launcher that was the job, or that a process of the job was for most of the run, if the job used so little CPU
 * time that the work was done elsewhere; else NULL.
 */
const struct launcher *idle_launcher(const struct rt_summary *summary);
