/* Programs that hand their work to a daemon or to another machine: a recording of them is one of the client. */
#pragma once

#include "advice/summary.h"

struct launcher {
	const char *name;
	const char *instead; /* how its work is recorded */
};

/* NULL: it is none that is known. `executable` may be a path. */
const struct launcher *find_launcher(const char *executable);

/* The launcher that the job was, if it used so little CPU time that others must have done its work; else NULL. */
const struct launcher *idle_launcher(const struct rt_summary *summary);
