/* Finds rows of the tables of options; see option.h. */
#include "options/option.h"

#include <string.h>

#include "base/nearest.h"

const struct option_row *find_option(struct option_list list, const char *name, size_t length)
{
	for (size_t i = 0; i < list.count; i++) {
		const struct option_row *row = &list.rows[i];

		if (row->name && length && *row->name == *name && strncmp(row->name, name, length) == 0 &&
		    !row->name[length])
			return row;
	}
	return NULL;
}

const struct option_row *find_letter(struct option_list list, char letter)
{
	for (size_t i = 0; i < list.count && letter; i++) {
		if (list.rows[i].letter == letter)
			return &list.rows[i];
	}
	return NULL;
}

const struct option_row *nearest_option(struct option_list list, const char *name)
{
	const struct option_row *found = NULL;
	struct nearest nearest = {0};

	for (size_t i = 0; i < list.count; i++) {
		if (list.rows[i].name && nearest_consider(&nearest, name, list.rows[i].name))
			found = &list.rows[i];
	}
	/* "--format" where the option is "--for" */
	for (size_t i = 0; i < list.count && !found; i++) {
		size_t length = list.rows[i].name ? strlen(list.rows[i].name) : 0;

		if (length > 2 && strncmp(name, list.rows[i].name, length) == 0)
			found = &list.rows[i];
	}
	return found;
}

struct option_list options_of(const struct option_row *rows, const char *subcommand)
{
	struct option_list list = {NULL, 0};

	while ((rows->heading || rows->name) && (!rows->heading || strcmp(rows->heading, subcommand) != 0))
		rows++;
	if (!rows->heading)
		return list;
	list.rows = rows + 1;
	while (list.rows[list.count].name)
		list.count++;
	return list;
}

const struct subcommand *find_subcommand(const struct subcommand *list, const char *name)
{
	for (; list->name; list++) {
		if (strcmp(list->name, name) == 0)
			return list;
	}
	return NULL;
}
