/* The table of options and the ways to find a row; see options.h. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum { WORD_MAX = 64 };

#define SETTING OWNER_SETTING
#define FRONT OWNER_FRONT
#define SWITCH KIND_SWITCH
#define VALUE KIND_VALUE
#define LIST KIND_LIST
#define OPTIONAL KIND_OPTIONAL
#define WRAP MODE_WRAP
#define ATTACH MODE_ATTACH
#define ANY MODE_ANY
#define GROUP(heading) {heading, NULL, 0, 0, 0, "", "", 0, "", "", ""},
#define OPTION(owner, name, letter, kind, argument, default_text, modes, toml_key, help, more) \
	{NULL, name, letter, owner, kind, argument, default_text, modes, toml_key, help, more},

const struct option_row OPTIONS[] = {
#include "cli/options.def"
	{NULL, NULL, 0, 0, 0, "", "", 0, "", "", ""},
};

const size_t OPTION_COUNT = sizeof(OPTIONS) / sizeof(OPTIONS[0]) - 1;

const struct option_row *option_by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (OPTIONS[i].name && strlen(OPTIONS[i].name) == length &&
		    memcmp(OPTIONS[i].name, name, length) == 0)
			return &OPTIONS[i];
	}
	return NULL;
}

const struct option_row *option_by_letter(char letter)
{
	for (size_t i = 0; i < OPTION_COUNT && letter; i++) {
		if (OPTIONS[i].letter == letter)
			return &OPTIONS[i];
	}
	return NULL;
}

const struct option_row *option_by_toml_key(const char *toml_key)
{
	for (size_t i = 0; i < OPTION_COUNT && *toml_key; i++) {
		if (strcmp(OPTIONS[i].toml_key, toml_key) == 0)
			return &OPTIONS[i];
	}
	return NULL;
}

bool option_has_variable(const struct option_row *row)
{
	return row->name && (*row->toml_key || strcmp(row->name, "config") == 0);
}

void option_variable(const struct option_row *row, char *ret_name, size_t size)
{
	static const char PREFIX[] = "TRACKER_";
	size_t length = 0;

	for (const char *c = PREFIX; *c && length + 1 < size; c++)
		ret_name[length++] = *c;
	for (const char *c = row->name; *c && length + 1 < size; c++)
		ret_name[length++] = *c == '-' ? '_' : (char)(*c - 'a' + 'A');
	if (size)
		ret_name[length] = '\0';
}

const struct option_row *option_nearest(const char *name)
{
	const struct option_row *row = NULL;
	struct nearest nearest = {0};

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (OPTIONS[i].name && nearest_consider(&nearest, name, OPTIONS[i].name))
			row = &OPTIONS[i];
	}
	return row;
}

/* Returns the part after the table: "interval_secs" of "tracker.interval_secs". */
static const char *last_part(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

const char *option_nearest_toml_key(const char *key)
{
	const char *found = NULL;
	struct nearest nearest = {0};

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];
		char name[WORD_MAX];

		if (!row->name || !*row->toml_key)
			continue;
		/* People often leave out the table, or write the option's name as the key. */
		snprintf(name, sizeof(name), "%s", row->name);
		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : *c;
		if (nearest_consider(&nearest, last_part(key), last_part(row->toml_key)) ||
		    nearest_consider(&nearest, last_part(key), name) ||
		    nearest_consider(&nearest, key, row->toml_key))
			found = row->toml_key;
	}
	return found;
}
