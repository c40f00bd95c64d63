/* Parses lists and numbers of the command line; see words.h. */
#include "analysis/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"

void text_list_done(struct text_list *list)
{
	for (size_t i = 0; i < list->owned_count; i++)
		free(list->owned[i]);
	free(list->owned);
	free(list->texts);
	*list = (struct text_list){0};
}

bool text_list_add(struct text_list *list, const char *text)
{
	const char **texts = realloc(list->texts, (list->count + 1) * sizeof(*texts));

	if (!texts)
		return false;
	list->texts = texts;
	list->texts[list->count++] = text;
	return true;
}

static bool add_owned(struct text_list *list, const char *text, size_t length)
{
	char **owned = realloc(list->owned, (list->owned_count + 1) * sizeof(*owned));
	char *copy = strndup(text, length);

	if (owned)
		list->owned = owned;
	if (!owned || !copy) {
		free(copy);
		return false;
	}
	list->owned[list->owned_count++] = copy;
	return text_list_add(list, copy);
}

bool text_list_add_copy(struct text_list *list, const char *text)
{
	return add_owned(list, text, strlen(text));
}

bool text_list_add_parts(struct text_list *list, const char *text)
{
	const char *start = text;
	int depth = 0;

	for (;; text++) {
		depth += *text == '[';
		depth -= *text == ']' && depth > 0;
		if (*text && (*text != ',' || depth))
			continue;
		if (text > start && !add_owned(list, start, (size_t)(text - start)))
			return false;
		if (!*text)
			return true;
		start = text + 1;
	}
}

bool parse_count(const char *text, int64_t *ret_count)
{
	struct scan scan = scan_bytes(text, strlen(text));
	int64_t count;

	if (!scan_i64(&scan, &count) || scan_left(&scan))
		return false;
	*ret_count = count;
	return true;
}

bool parse_real(const char *text, double *ret_real)
{
	struct scan scan = scan_bytes(text, strlen(text));
	double real;

	if (!scan_real(&scan, &real) || scan_left(&scan))
		return false;
	*ret_real = real;
	return true;
}

static bool add_run(struct run_list *list, const char *word)
{
	const char *equals = access(word, F_OK) == 0 ? NULL : strchr(word, '=');
	char *side = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);

	if (!side)
		return false;
	list->runs[list->count++] = (struct rt_compared_run){side, equals ? equals + 1 : word};
	return true;
}

bool run_list_fill(struct run_list *list, const char *const *words, size_t count)
{
	list->runs = calloc(count + 1, sizeof(*list->runs));
	for (size_t i = 0; i < count; i++)
		if (!list->runs || !add_run(list, words[i]))
			return false;
	return true;
}

void run_list_done(struct run_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((void *)(uintptr_t)list->runs[i].side);
	free(list->runs);
}
