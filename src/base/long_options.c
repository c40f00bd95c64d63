/* See long_options.h. */
#include "base/long_options.h"

#include <stdbool.h>
#include <string.h>

const struct option *long_option_by_name(const struct option *long_options, const char *name, size_t length)
{
	for (; long_options->name; long_options++) {
		if (strncmp(long_options->name, name, length) == 0 && !long_options->name[length])
			return long_options;
	}
	return NULL;
}

/* Whether the value of the last letter of "-abc" is the next word. */
static bool takes_next_word(const char *letters, const char *short_options)
{
	for (; *letters; letters++) {
		const char *known = *letters == ':' ? NULL : strchr(short_options, *letters);

		if (known && known[1] == ':')
			return !letters[1];
	}
	return false;
}

/*
 * Returns the first word that only resembles an option, where getopt_long() would take an abbreviation; 0:
 * none.
 */
static int find_unknown(int argc, char **argv, const char *short_options, const struct option *long_options)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const struct option *option;
		size_t length;

		if (argv[i][0] != '-')
			continue;
		if (argv[i][1] != '-') {
			i += takes_next_word(argv[i] + 1, short_options);
			continue;
		}
		length = strcspn(argv[i] + 2, "=");
		option = long_option_by_name(long_options, argv[i] + 2, length);
		if (!option)
			return i;
		i += option->has_arg == required_argument && !argv[i][2 + length];
	}
	return 0;
}

int next_option(int argc, char **argv, const char *short_options, const struct option *long_options,
		int *ret_index)
{
	int unknown = optind <= 1 ? find_unknown(argc, argv, short_options, long_options) : 0;

	if (unknown) {
		optind = unknown + 1;
		optopt = 0;
		return '?';
	}
	return getopt_long(argc, argv, short_options, long_options, ret_index);
}
