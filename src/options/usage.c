/* The help of a subcommand, and mistakes on its command line; see usage.h. */
#include "options/usage.h"

#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/write_in_time.h"
#include "launch/find_program.h"
#include "options/option_help.h"

enum { LINE_BYTES = 4000, PATIENCE_MS = 1000 };

void add_subcommand_help(struct buffer *out, const struct subcommand *subcommand, struct option_list options)
{
	buffer_printf(out, "%s\n\nusage: resource-tracker %s%s%s%s\n\n", subcommand->purpose,
		      subcommand->name, options.count ? " [OPTIONS]" : "", *subcommand->arguments ? " " : "",
		      subcommand->arguments);
	for (size_t i = 0; i < options.count; i++)
		add_option_help(out, &options.rows[i]);
	add_label_help(out, "  -h, --help", "print this help");
	if (*subcommand->notes) {
		buffer_add_char(out, '\n');
		add_paragraphs(out, subcommand->notes);
	}
	buffer_add_text(out, "\nExamples:\n");
	for (const char *line = subcommand->example; *line;) {
		size_t length = strcspn(line, "\n");

		buffer_printf(out, "  %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

int say_usage(const char *subcommand, const char *message)
{
	struct buffer line = BUFFER(LINE_BYTES);

	buffer_printf(&line, "resource-tracker %s: ", subcommand);
	buffer_add_printable(&line, message);
	buffer_printf(&line, " (see resource-tracker %s --help)\n", subcommand);
	if (is_on_path(subcommand))
		buffer_printf(&line,
			      "resource-tracker: to record the program '%s': resource-tracker -- %s ...\n",
			      subcommand, subcommand);
	if (!buffer_error(&line))
		(void)write_in_time(STDERR_FILENO, line.data, line.length, PATIENCE_MS);
	buffer_done(&line);
	return EXIT_USAGE;
}
