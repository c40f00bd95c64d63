/* The name of an output, with its place holders filled in. */
#pragma once

#include <stdint.h>

#include "base/buffer.h"

struct output_path_values {
	const char *host;        /* %h; a slash in it becomes '_' */
	int64_t pid;             /* %p: the tracker's */
	int64_t start_time_secs; /* %t: since the epoch, written in UTC as 20261121T094500Z */
	int64_t rank;            /* %r: negative (no rank) is written as 0 */
};

/*
 * Appends `template` to `out` with %h %p %t %r filled in and %% as one percent sign.
 *
 * Returns 0; -EINVAL for any other character after a percent sign, or none; or what buffer_error() says.
 * What `out` holds after a failure is of no use.
 */
int expand_output_path(const char *template, const struct output_path_values *values, struct buffer *out);
