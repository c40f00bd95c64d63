/* Names of what steps make. See step_names.h. */
#include "workflow/step_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_FIRST = 256 };

void step_names_done(struct step_names *names)
{
	free(names->list);
}

int step_names_add(struct step_names *names, struct scan text, size_t step)
{
	if (names->count == names->room) {
		size_t room = names->room ? 2 * names->room : NAMES_FIRST;
		struct step_name *list = reallocarray(names->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		names->list = list;
		names->room = room;
	}
	names->list[names->count++] = (struct step_name){text, step};
	return 0;
}

int step_names_add_words(struct step_names *names, const char *words, size_t step)
{
	struct scan left = scan_bytes(words, strlen(words)), word;
	int result = 0;

	while (result == 0 && scan_word(&left, &word))
		result = step_names_add(names, word, step);
	return result;
}

static int compare_texts(struct scan a, struct scan b)
{
	size_t length = scan_left(&a), other = scan_left(&b);
	int order = memcmp(a.at, b.at, length < other ? length : other);

	return order ? order : (length > other) - (length < other);
}

static int by_text_and_step(const void *left, const void *right)
{
	const struct step_name *a = left, *b = right;
	int order = compare_texts(a->text, b->text);

	return order ? order : (a->step > b->step) - (a->step < b->step);
}

void step_names_sort(struct step_names *names)
{
	if (names->count)
		qsort(names->list, names->count, sizeof(*names->list), by_text_and_step);
}

size_t step_names_find(const struct step_names *names, struct scan text, size_t step)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_texts(names->list[middle].text, text);

		if (order < 0 || (order == 0 && names->list[middle].step < step))
			low = middle + 1;
		else
			high = middle;
	}
	return low && compare_texts(names->list[low - 1].text, text) == 0 ? names->list[low - 1].step
									  : SIZE_MAX;
}
