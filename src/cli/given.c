/* The list of given options; see given.h. */
#include "cli/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/trust.h"

extern char **environ;

int given_add(struct given_list *list, const struct option_row *row, enum origin origin, const char *text,
	      unsigned line)
{
	struct given *grown = reallocarray(list->items, list->count + 1, sizeof(*grown));
	char *copy = NULL;

	if (!grown)
		return -ENOMEM;
	list->items = grown;
	if (text && !(copy = strdup(text)))
		return -ENOMEM;
	list->items[list->count++] = (struct given){row, origin, copy, line};
	return 0;
}

void given_done(struct given_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct given_list){.items = NULL};
}

const struct given *given_for(const struct given_list *list, const struct option_row *row)
{
	const struct given *best = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct given *item = &list->items[i];

		if (item->row == row && (!best || item->origin >= best->origin))
			best = item;
	}
	return best;
}

const struct given *given_by_name(const struct given_list *list, const char *name)
{
	return given_for(list, option_by_name(name, strlen(name)));
}

bool given_counts(const struct given_list *list, const struct given *item)
{
	return given_for(list, item->row)->origin == item->origin;
}

int read_environment(struct given_list *list)
{
	if (has_more_rights_than_caller() || !option_has_any_variable(environ))
		return 0;
	for (const struct option_row *row = OPTIONS; row < OPTIONS + OPTION_COUNT; row++) {
		char name[64];
		const char *value;

		if (!option_has_variable(row))
			continue;
		option_variable(row, name, sizeof(name));
		value = getenv(name);
		while (value && *value) {
			size_t length = option_is_repeatable(row) ? strcspn(value, "\n") : strlen(value);
			char *text = strndup(value, length);
			int r = !text ? -ENOMEM : 0;

			if (length && r == 0)
				r = given_add(list, row, ORIGIN_ENVIRONMENT, text, 0);
			free(text);
			if (r < 0)
				return r;
			value += length + (value[length] == '\n');
		}
	}
	return 0;
}
