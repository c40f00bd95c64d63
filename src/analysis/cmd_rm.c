/* rm: removes runs from the history. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"
#include "base/buffer.h"
#include "history/history.h"

enum { NUMBERS_BYTES = 1 << 20 };

static int remove_run(const struct subcommand *command, struct buffer *numbers, struct history *history,
		      struct history_run *run)
{
	int r = history_remove(history, run);

	if (r == -EBUSY)
		return command_fault(command, "run %u goes on", run->number);
	if (r < 0)
		return command_fault(command, "run %u is not removed: %s", run->number,
				     r == -EAGAIN ? "another command is changing the history" : strerror(-r));
	buffer_printf(numbers, "%s%u", numbers->length ? "," : "", run->number);
	return 0;
}

/* One word must mean one run, because a recording does not come back. */
static int choose_named(const struct subcommand *command, struct history *history, const char *word)
{
	struct history_run *run;

	switch (history_find(history, word, &run)) {
	case HISTORY_NONE:
		return command_fault(command, "'%s' is not a run that resource-tracker ls shows", word);
	case HISTORY_SEVERAL:
		return command_fault(command,
				     "'%s' is part of several names; give numbers: resource-tracker ls %s",
				     word, word);
	case HISTORY_ONE:
	default:
		run->chosen = true;
		return 0;
	}
}

static void choose_all(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		history->runs[i].chosen = !history->runs[i].live;
}

static int remove_chosen(const struct subcommand *command, struct buffer *numbers, struct history *history)
{
	int status = 0;

	for (size_t i = 0; i < history->count; i++)
		if (history->runs[i].chosen)
			status |= remove_run(command, numbers, history, &history->runs[i]);
	return status;
}

int run_rm(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(history_close))) struct history history = {.fd = -1};
	CLEANUP_OPTIONS(rm) options = {0};
	const struct text_list *words = &options.line.files;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_BUFFER struct buffer numbers = BUFFER(NUMBERS_BYTES);
	int saved, status = command_read_words(command, argv, &options);

	if (status)
		return status;
	if (!words->count && !options.all)
		return command_usage(command, "name a run, or --all");
	if (words->count && options.all)
		return command_usage(command, "--all and '%s' exclude each other", words->texts[0]);
	if (history_open(&history, true, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	history_tidy(&history);
	if (options.all)
		choose_all(&history);
	/* All words before a run goes: last~1 counts from the newest one. */
	for (size_t i = 0; i < words->count; i++)
		status |= choose_named(command, &history, words->texts[i]);
	status |= remove_chosen(command, &numbers, &history);
	saved = history_save(&history);
	if (saved < 0)
		return command_fault(command, "nothing is removed: the list of runs cannot be written: %s",
				     strerror(-saved));
	if (options.json)
		printf("[%s]\n", numbers.length ? numbers.data : "");
	return fflush(stdout) == 0 ? status : EXIT_FAULT;
}
