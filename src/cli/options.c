/* The table of options and the ways to find a row; see options.h. */
#include "cli/options.h"

#include <string.h>

enum { WORD_MAX = 40 };

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

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned edit_distance(const char *a, const char *b)
{
	size_t a_length = strnlen(a, WORD_MAX), b_length = strnlen(b, WORD_MAX);
	unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = (unsigned)i;
	for (size_t j = 0; j <= b_length; j++)
		cost[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			unsigned change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			cost[i][j] = least(change, least(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[a_length][b_length];
}

const struct option_row *option_nearest(const char *name)
{
	const struct option_row *nearest = NULL;
	unsigned distance = 0;

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		unsigned candidate;

		if (!OPTIONS[i].name)
			continue;
		/* An abbreviation is not accepted, but it says clearly enough what was meant. */
		candidate = *name && strncmp(OPTIONS[i].name, name, strlen(name)) == 0
				    ? 0
				    : edit_distance(name, OPTIONS[i].name);
		if (!nearest || candidate < distance) {
			nearest = &OPTIONS[i];
			distance = candidate;
		}
	}
	return nearest;
}
