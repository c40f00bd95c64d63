/*
 * Programs that hand their work to a daemon or to another machine, so that a recording only shows the client.
 */
#pragma once

struct launcher {
	const char *name;
	const char *instead; /* the way to record its work */
};

/* Returns NULL for any other program. `executable` may be a path. */
const struct launcher *find_launcher(const char *executable);
