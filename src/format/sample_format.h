/*
 * An output format turns a sealed frame into the bytes of one sample. sink/file_target.h writes those bytes.
 *
 * Formats walk the catalogue and name no metric.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/json_write.h"
#include "metric/frame.h"

struct format_options {
	bool header;      /* CSV: write a header first */
	bool static_once; /* JSON: identity fields only in the first sample and when they change; later no nulls */
	const char *layout;
};

/* The state of a format in one output. */
struct format_state {
	bool started;       /* this run has written a line */
	struct buffer kept; /* --static-once: the identity fields last written */
};

struct sample_format {
	const char *name;
	/* Appends the text before the first sample (a CSV header), if there is one. */
	void (*begin)(struct buffer *out, const struct format_options *options);
	/* Appends one sample, newline included. */
	void (*sample)(struct buffer *out, const struct frame *frame, const struct format_options *options,
		       struct format_state *state);
};

extern const struct sample_format JSONL_FORMAT;
extern const struct sample_format CSV_FORMAT;

/* Finds a format by name ("json", "csv") or by the extension of a path. NULL: unknown. */
const struct sample_format *sample_format_find(const char *name);
const struct sample_format *sample_format_for_path(const char *path);
