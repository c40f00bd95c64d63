/* The list of output formats. See sample_format.h. */
#include "format/sample_format.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/ends_with.h"

static const struct {
	const char *extension;
	const struct sample_format *format;
} FORMATS[] = {
	{"json", &JSONL_FORMAT},
	{"jsonl", &JSONL_FORMAT},
	{"ndjson", &JSONL_FORMAT},
	{"csv", &CSV_FORMAT},
};

const struct sample_format *sample_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
		if (strcmp(name, FORMATS[i].extension) == 0)
			return FORMATS[i].format;
	return NULL;
}

const struct sample_format *sample_format_for_path(const char *path)
{
	size_t length = strlen(path) - (ends_with(path, ".gz") ? strlen(".gz") : 0);

	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++) {
		size_t extra = strlen(FORMATS[i].extension);

		if (length > extra && path[length - extra - 1] == '.' &&
		    memcmp(path + length - extra, FORMATS[i].extension, extra) == 0)
			return FORMATS[i].format;
	}
	return NULL;
}
