/* Fills in the placeholders in the name of an output. */
#pragma once

#include <stdint.h>

#include "base/buffer.h"

struct output_path_values {
	const char *host; /* %h; a slash in it becomes '_' */
	int64_t pid;      /* %p: the tracker's */
	int64_t start_time_secs; /* %t: seconds since 1970, written in UTC as 20261121T094500Z, or as they are if TZ hangs */
	int64_t rank;    /* %r: negative (unknown) is written as 0 */
	unsigned number; /* %u: -2, -3 and so on; nothing for 0 */
};

/*
 * Appends `template` to `out` with %h %p %t %r %u filled in; %% becomes one percent sign.
 *
 * Returns 0, or 1 if it has %u; -EINVAL for any other character after a percent sign, or a missing one; -ENOENT
 * if nothing is left of the name ("%u" with number 0), or buffer_error(). After a failure, do not use the contents of `out`.
 */
int expand_output_path(const char *template, const struct output_path_values *values, struct buffer *out);
