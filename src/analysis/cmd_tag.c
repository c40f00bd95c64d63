/* tag: labels a run of the history. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "base/cleanup.h"
#include "history/history.h"

static int set_tag(const struct subcommand *command, struct history *history, struct history_run *run,
		   const char *pair)
{
	const char *equals = strchr(pair, '=');
	CLEANUP_FREE char *key = equals ? strndup(pair, (size_t)(equals - pair)) : NULL;
	int r;

	if (!equals || equals == pair)
		return command_usage(command, "'%s' is not KEY=VALUE", pair);
	r = key ? history_tag(history, run, key, equals + 1) : -ENOMEM;
	if (r == -EBUSY)
		return command_fault(command, "run %u goes on; label it when it has ended", run->number);
	if (r == -ENOENT)
		return command_fault(command, "run %u has no label %s", run->number, key);
	return r < 0 ? command_fault(command, "run %u is not labelled: %s", run->number, strerror(-r)) : 0;
}

static int print_tag_line(const struct history_run *run)
{
	CLEANUP_FREE char *line = json_dumps(run->line, JSON_COMPACT | JSON_REAL_PRECISION(15));

	return !line || puts(line) < 0 || fflush(stdout) != 0 ? EXIT_FAULT : 0;
}

int run_tag(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(history_close))) struct history history = {.fd = -1};
	CLEANUP_OPTIONS(tag) options = {0};
	const struct text_list *words = &options.line.files;
	struct rt_problem problem = {"out of memory"};
	struct history_run *run = NULL;
	int r, status = command_read_words(command, argv, &options);

	if (status)
		return status;
	if (words->count < 2)
		return command_usage(command, "name a run, and a label as KEY=VALUE");
	if (history_open(&history, true, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	history_tidy(&history);
	if (history_find(&history, words->texts[0], &run) != HISTORY_ONE)
		return command_fault(command, "'%s' is %s", words->texts[0],
				     run ? "part of several names; give the number of one run"
					 : "not a run that resource-tracker ls shows");
	for (size_t i = 1; i < words->count && !status; i++)
		status = set_tag(command, &history, run, words->texts[i]);
	r = status ? 0 : history_save(&history);
	if (r < 0)
		return command_fault(command, "the list of runs cannot be written: %s", strerror(-r));
	return status ? status : options.json ? print_tag_line(run) : 0;
}
