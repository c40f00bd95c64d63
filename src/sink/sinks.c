/* The list of output formats; see sink.h. */
#include "sink/sink.h"

#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *extension;
	const struct sink_format *format;
} FORMATS[] = {
	{"json", &JSONL_FORMAT},
	{"jsonl", &JSONL_FORMAT},
	{"ndjson", &JSONL_FORMAT},
	{"csv", &CSV_FORMAT},
};

const struct sink_format *sink_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
		if (strcmp(name, FORMATS[i].extension) == 0)
			return FORMATS[i].format;
	return NULL;
}

const struct sink_format *sink_format_for_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	return dot ? sink_format_find(dot + 1) : NULL;
}
