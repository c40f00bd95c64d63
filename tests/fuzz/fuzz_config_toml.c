/*
 * Feeds any bytes as a configuration file: the result is triples of whole texts, or an error with a place and
 * one line.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config_toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t seen;

static void must_hold(int holds)
{
	if (!holds)
		abort();
}

static int value(void *context, const char *table, const char *key, const char *text, unsigned line,
		 enum toml_place place)
{
	(void)context;
	must_hold(place <= TOML_NEXT);
	seen += strlen(table) + strlen(key) + (text ? strlen(text) : 0) + line;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct toml_visitor visitor = {value, NULL, NULL};
	struct toml_error error;
	int r = toml_read((const char *)bytes, length, &visitor, &error);

	must_hold(r == 0 || r == -EBADMSG || r == -ENOMEM || r == -ENOSYS);
	if (r == -EBADMSG)
		must_hold(strlen(error.text) < sizeof(error.text));
	return 0;
}
