/* Finds the recording that an operand means; see find_run.h. */
#include "analysis/find_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command_fault.h"
#include "base/cleanup.h"
#include "base/ends_with.h"
#include "history/history.h"
#include "launch/in_time.h"
#include "options/parse.h"

enum { SIDE_BYTES = 300 };

static const char SILENT[] = "is on a file system that does not answer";

static bool has_sides(const struct subcommand *command)
{
	return strcmp(command->name, "compare-runs") == 0 || strcmp(command->name, "report") == 0;
}

static bool is_recording_name(const char *word)
{
	static const char *const ENDINGS[] = {".jsonl", ".json", ".csv", ".gz", ".sqlite"};

	for (size_t i = 0; i < ARRAY_SIZE(ENDINGS); i++)
		if (ends_with(word, ENDINGS[i]))
			return true;
	return false;
}

static bool is_run(const char *word, bool exactly)
{
	__attribute__((cleanup(history_close))) struct history history = {.fd = -1};
	struct history_run *run;
	int r = history_open(&history, false, NULL);

	/* Then add_found_run() says what is wrong. */
	if (r == -ETIMEDOUT)
		return true;
	return r == 0 && history_find(&history, word, &run) != HISTORY_NONE &&
	       (!exactly || history_is_called(&history, run, word));
}

/*
 * A path, or the name of a file that is missing: its own error says more. A script is a file as well, but "train.py" means the
 * run of this name.
 */
static bool means_file(const char *word)
{
	if (strcmp(word, "-") == 0 || strchr(word, '/') || !*word)
		return true;
	if (access(word, F_OK) == 0)
		return !strchr(word, '.') || is_recording_name(word) || !is_run(word, true);
	return is_recording_name(word) || (strchr(word, '.') && !is_run(word, false));
}

static const char *add_found_run(const struct subcommand *command, struct text_list *files, const char *side,
				 size_t side_length, const char *word)
{
	__attribute__((cleanup(history_close))) struct history history = {.fd = -1};
	CLEANUP_FREE char *path = NULL;
	struct history_run *run = NULL;
	char own_side[SIDE_BYTES] = "";
	enum history_match match = HISTORY_NONE;
	static struct rt_problem problem;
	int r = history_open(&history, false, &problem);

	if (r == 0)
		match = history_find(&history, word, &run);
	if (r == -ETIMEDOUT)
		return problem.text;
	if (match == HISTORY_NONE)
		return "is neither a file nor a run that resource-tracker ls shows";
	if (match == HISTORY_SEVERAL)
		command_fault(command, "'%s' is part of several names; this is the newest, run %u", word,
			      run->number);
	if (!run->path)
		return "is a run whose recording is gone";
	if (look_in_time(run->path) < 0)
		return SILENT;
	if (side_length)
		snprintf(own_side, sizeof(own_side), "%.*s=", (int)side_length, side);
	else if (has_sides(command))
		snprintf(own_side, sizeof(own_side), "run %u=", run->number);
	if (asprintf(&path, "%s%s", own_side, run->path) < 0) {
		path = NULL;
		return OUT_OF_MEMORY;
	}
	return text_list_add_copy(files, path) ? NULL : OUT_OF_MEMORY;
}

const char *add_operand(const struct subcommand *command, struct text_list *files, const char *word)
{
	const char *equals = has_sides(command) ? strchr(word, '=') : NULL;

	if (look_in_time(word) < 0 || (equals && look_in_time(equals + 1) < 0))
		return SILENT;
	if (access(word, F_OK) != 0 && equals && !means_file(equals + 1))
		return add_found_run(command, files, word, (size_t)(equals - word), equals + 1);
	if (means_file(word) || equals)
		return text_list_add(files, word) ? NULL : OUT_OF_MEMORY;
	return add_found_run(command, files, NULL, 0, word);
}

int look_at_input(const char *path, struct rt_problem *ret_problem)
{
	int r = look_in_time(path);

	return r < 0 ? problem_set(ret_problem, r, "%s %s", path, SILENT) : 0;
}
