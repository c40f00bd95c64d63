/* Texts that live as long as their tracker. See texts.h. */
#include "tracker/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

enum { FIRST_SIZE = 64 };

/* Returns the slot of a text, or the free slot where it belongs. */
static char **text_slot(char **slots, size_t size, const char *text)
{
	size_t at = fnv_of(text, strlen(text)) & (size - 1);

	while (slots[at] && strcmp(slots[at], text) != 0)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static int grow_texts(struct texts *texts)
{
	size_t size = texts->size ? texts->size * 2 : FIRST_SIZE;
	char **slots = calloc(size, sizeof *slots);

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < texts->size; i++)
		if (texts->slots[i])
			*text_slot(slots, size, texts->slots[i]) = texts->slots[i];
	free(texts->slots);
	texts->slots = slots;
	texts->size = size;
	return 0;
}

const char *texts_keep(struct texts *texts, const char *text)
{
	char **slot;

	/* A quarter of the slots stays free, which keeps searches short. */
	if (texts->count >= texts->size - texts->size / 4 && grow_texts(texts) < 0)
		return NULL;
	slot = text_slot(texts->slots, texts->size, text);
	if (!*slot) {
		*slot = strdup(text);
		texts->count += *slot != NULL;
	}
	return *slot;
}

void texts_done(struct texts *texts)
{
	for (size_t i = 0; i < texts->size; i++)
		free(texts->slots[i]);
	free(texts->slots);
	*texts = (struct texts){0};
}
