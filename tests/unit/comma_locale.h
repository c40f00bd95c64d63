/* Finds a locale that writes 1,5: one of the machine's, or one made for this process alone. */
#pragma once

#include "unit.h"

#include <ftw.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static inline int comma_locale_remove(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
	(void)status, (void)flag, (void)walk;
	return remove(path);
}

static inline bool comma_locale_make(void)
{
	char folder[] = "/tmp/rt-locale-XXXXXX", command[200];
	bool set;

	if (!mkdtemp(folder))
		return false;
	snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder,
		 folder);
	setenv("LOCPATH", folder, 1);
	set = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
	unsetenv("LOCPATH");
	nftw(folder, comma_locale_remove, 8, FTW_DEPTH | FTW_PHYS);
	return set;
}

/* Skips the test if there is none. setlocale(LC_ALL, "C") undoes it. */
static inline void comma_locale_set(void)
{
	static const char *const NAMES[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
	bool found = false;
	char text[8];

	for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && !found; i++)
		found = setlocale(LC_ALL, NAMES[i]) != NULL;
	if (!found && !comma_locale_make())
		SKIP("no locale with a decimal comma is installed, nor can one be made (package locales)");
	snprintf(text, sizeof text, "%.1f", 1.5);
	assert_string_equal(text, "1,5");
}
