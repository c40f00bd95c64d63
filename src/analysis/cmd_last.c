/* last: the summary of the newest run in the history. */
#include "analysis/command.h"

static bool set_option(void *context, int option, const char *value)
{
	(void)value;
	*(bool *)context = option == OPTION_last_json;
	return true;
}

int run_last(const struct subcommand *command, char **argv)
{
	char summary[] = "summary", last[] = "last", form[] = "--json", none[] = "--";
	CLEANUP_TEXTS struct text_list words = {0};
	bool json = false;
	char *of_summary[] = {summary, none, last, NULL};
	int status = command_read_words(command, argv, set_option, &json, &words);

	if (status)
		return status;
	if (words.count)
		return command_usage(
			command, "'%s' is one word too many; for another run: resource-tracker summary %s",
			words.texts[0], words.texts[0]);
	of_summary[1] = json ? form : none;
	return command_run(of_summary);
}
