/* Says a wait in words. See wait_words.h. */
#include "table/wait_words.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* "": the target says all. */
static const struct {
	const char *class, *words;
} CLASSES[] = {
	{"sleep", "a timer (sleep)"},
	{"child", "a child process"},
	{"pipe", "a pipe"},
	{"file_lock", "the lock of a file"},
	{"lock", "a lock"},
	{"thread", "another of its threads"},
	{"socket", ""},
	{"terminal", "input at the terminal"},
	{"events", "events"},
	{"storage", "storage"},
	{"memory", "memory"},
	{"jobserver", "a free job slot of make"},
	{"stopped", "a signal to go on, because it was stopped"},
	{"other", "something that no look could name"},
};

const char *wait_words(const char *class, const char *target, char *text, size_t size)
{
	const char *words = class;

	for (size_t i = 0; i < ARRAY_SIZE(CLASSES); i++)
		if (strcmp(CLASSES[i].class, class) == 0)
			words = CLASSES[i].words;
	if (!*words)
		snprintf(text, size, "%s", *target ? target : "a socket");
	else
		snprintf(text, size, "%s%s%s", words, *target ? ": " : "", target);
	return text;
}
