/* The options of the recorder and the ways to find a row; see options.h. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "options/rows.h"

enum { WORD_MAX = 64 };

#define WRAP MODE_WRAP
#define ATTACH MODE_ATTACH
#define ANY MODE_ANY

/* "a|b" from a list of words, each of which puts a bar before itself. */
#define ALTERNATIVE(id, word, ...) "|" word
#define NOTHING(id)
#define ALTERNATIVES(words) (&(words(ALTERNATIVE, NOTHING))[1])

#define GROUP(heading) {heading, NULL, 0, 0, 0, "", "", 0, "", "", 0 MANUAL("")},
#define SETTING(field, type, set, initial, name, letter, argument, shown, modes, key, help, more) \
	{NULL, name, letter, OWNER_SETTING, VALUE, argument, shown, modes, key, help, 0 MANUAL(more)},
#define FLAG_SETTING(field, name, modes, help, more) \
	{NULL, name, 0, OWNER_SETTING, SWITCH, "", "", modes, "tracker." #field, help, 0 MANUAL(more)},
#define CHOICE_SETTING(field, words, initial, name, letter, shown, modes, help, more) \
	{NULL,          name,          letter, \
	 OWNER_SETTING, VALUE,         ALTERNATIVES(words), \
	 shown,         modes,         "tracker." #field, \
	 help,          0 MANUAL(more)},
#define LIST_SETTING(field, count, type, add, name, letter, argument, key, help, more) \
	{NULL, name, letter, OWNER_SETTING, LIST, argument, "", ANY, key, help, 0 MANUAL(more)},
#define COMMAND_OPTION(name, letter, kind, argument, shown, modes, key, help, more) \
	{NULL, name, letter, OWNER_FRONT, kind, argument, shown, modes, key, help, 0 MANUAL(more)},

const struct option_row OPTIONS[] = {
#include "options/settings.def"
	{NULL, NULL, 0, 0, 0, "", "", 0, "", "", 0 MANUAL("")},
};

const size_t OPTION_COUNT = sizeof(OPTIONS) / sizeof(OPTIONS[0]) - 1;

struct option_list recorder_options(void)
{
	return (struct option_list){OPTIONS, OPTION_COUNT};
}

const struct option_row *option_by_name(const char *name, size_t length)
{
	return find_option(recorder_options(), name, length);
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

#define OPTION_PREFIX "TRACKER_"

bool option_has_any_variable(char *const *environment)
{
	for (char *const *entry = environment; entry && *entry; entry++)
		if (strncmp(*entry, OPTION_PREFIX, sizeof OPTION_PREFIX - 1) == 0)
			return true;
	return false;
}

void option_variable(const struct option_row *row, char *ret_name, size_t size)
{
	size_t length = 0;

	for (const char *c = OPTION_PREFIX; *c && length + 1 < size; c++)
		ret_name[length++] = *c;
	for (const char *c = row->name; *c && length + 1 < size; c++)
		ret_name[length++] = *c == '-' ? '_' : (char)(*c - 'a' + 'A');
	if (size)
		ret_name[length] = '\0';
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
