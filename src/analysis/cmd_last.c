/* last: the summary of the newest run in the history. */
#include "analysis/command.h"

int run_last(const struct subcommand *command, char **argv)
{
	char summary[] = "summary", last[] = "last", form[] = "--json", none[] = "--";
	CLEANUP_OPTIONS(last) options = {0};
	char *of_summary[] = {summary, none, last, NULL};
	int status = command_read_words(command, argv, &options);

	if (status)
		return status;
	if (options.line.files.count)
		return command_usage(
			command, "'%s' is one word too many; for another run: resource-tracker summary %s",
			options.line.files.texts[0], options.line.files.texts[0]);
	of_summary[1] = options.json ? form : none;
	return run_summary(command_named(of_summary[0]), of_summary);
}
