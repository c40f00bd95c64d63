/* The table of destinations. See destination.h. */
#include "stream/destination.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ends_with.h"
#include "net/settings.h"
#include "options/destinations.h"

#define ROW(id, word, calls, place) extern const struct destination_calls calls##_destination;
DEFAULT_DESTINATION(ROW)
NAMED_DESTINATIONS(ROW)
#undef ROW

static const struct destination DESTINATIONS[] = {
#define ROW(id, word, calls, place) {word, "", &calls##_destination},
	DEFAULT_DESTINATION(ROW)
#undef ROW
#define ROW(id, word, calls, place) {word, "." word, &calls##_destination},
		NAMED_DESTINATIONS(ROW)};

const struct destination *destination_named(const char *name)
{
	for (size_t i = 1; name && i < ARRAY_SIZE(DESTINATIONS); i++)
		if (strcmp(name, DESTINATIONS[i].name) == 0)
			return &DESTINATIONS[i];
	return &DESTINATIONS[0];
}

const struct destination *destination_of_run(const char *name)
{
	for (size_t i = 1; i < ARRAY_SIZE(DESTINATIONS); i++)
		if (ends_with(name, DESTINATIONS[i].suffix))
			return &DESTINATIONS[i];
	return &DESTINATIONS[0];
}

int destination_use(struct settings *settings, const char *name)
{
	settings->destination = destination_named(name);
	return settings->destination->calls->use(settings);
}

void destination_option(const struct destination *destination, char *ret_text, size_t size)
{
	bool is_default = !*destination->suffix;

	snprintf(ret_text, size, "%s%s%s", is_default ? "" : "--stream ", is_default ? "" : destination->name,
		 is_default ? "" : " ");
}
