/* See command_words.h. */
#include "summary/command_words.h"

#include <stdbool.h>
#include <string.h>

/* Adds the character of the escape that begins at `at`, and returns its last byte. The recorder writes others as UTF-8. */
static const char *add_escape(struct buffer *out, const char *at)
{
	bool is_plain = strchr("\"\\/", at[1]) != NULL;

	buffer_add_char(out, is_plain ? at[1] : ' ');
	return at[1] == 'u' && strlen(at) >= 6 ? at + 5 : at + 1;
}

void add_command_words(struct buffer *out, const char *command)
{
	bool inside = false;

	for (; *command; command++) {
		if (inside && *command == '\\' && command[1])
			command = add_escape(out, command);
		else if (*command == '"')
			inside = !inside;
		else if (inside)
			buffer_add_char(out, *command);
		else if (*command == ',')
			buffer_add_char(out, ' ');
	}
}
