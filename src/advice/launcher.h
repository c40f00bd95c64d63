/* Programs that hand their work to a daemon or to another machine: a recording of them is one of the client. */
#pragma once

struct launcher {
	const char *name;
	const char *instead; /* how its work is recorded */
};

/* NULL: it is none that is known. `executable` may be a path. */
const struct launcher *find_launcher(const char *executable);
