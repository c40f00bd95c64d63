/* runs add: makes lines of recordings, and appends them to a file of runs. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/newer_schema.h"
#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/write_all.h"
#include "history/run_line.h"
#include "history/runs_file.h"

enum { LINE_BYTES = 1 << 20, DEPTH_MOST = 32 };

struct adding {
	const struct subcommand *command;
	const char *runs;   /* NULL: standard output */
	size_t not_runs;    /* files in the folders that are not recordings */
	size_t added;       /* lines */
	bool failed, stuck; /* stuck: the target takes no line */
	bool told;          /* of a recording with a newer schema */
};

static int put_line(struct adding *adding, const struct buffer *line)
{
	struct rt_problem problem = {"out of memory"};
	int result;

	if (adding->runs)
		result = runs_file_append(adding->runs, line, &problem);
	else
		result = write_all(STDOUT_FILENO, line->data, line->length);
	adding->added += result == 0;
	if (result == 0)
		return 0;
	adding->stuck = adding->failed = true;
	return command_fault(adding->command, "%s",
			     adding->runs ? problem.text : "standard output cannot be written");
}

static void add_recording(struct adding *adding, const char *path, bool is_named)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(LINE_BYTES);
	struct rt_problem problem = {"out of memory"};
	int result = run_line_add_file(&line, path, &problem);

	if (result == 0) {
		adding->told = adding->told || tell_newer_schema(adding->command, path);
		(void)put_line(adding, &line);
	} else if (is_named) {
		adding->failed = true;
		(void)command_fault(adding->command, "%s", problem.text);
	} else {
		adding->not_runs++;
	}
}

/* Recordings that were renamed by a later one (run.jsonl.1) count as well; their marks do not. */
static bool may_be_recording(const char *name)
{
	return (strstr(name, ".jsonl") || strstr(name, ".csv")) && !ends_with(name, ".marks");
}

static bool is_target(const struct adding *adding, const struct stat *file)
{
	CLEANUP_FREE char *name = adding->runs ? runs_file_name(adding->runs) : NULL;
	struct stat target;

	return name && stat(name, &target) == 0 && target.st_dev == file->st_dev &&
	       target.st_ino == file->st_ino;
}

/* In the order of names. Links inside the folder are not followed. */
static void add_folder(struct adding *adding, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, alphasort);

	if (count < 0) {
		adding->failed = true;
		(void)command_fault(adding->command, "%s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		CLEANUP_FREE struct dirent *entry = entries[i];
		CLEANUP_FREE char *child = NULL;
		struct stat status;

		/* The shell of engines and make records in such a folder. */
		if ((*entry->d_name == '.' && strcmp(entry->d_name, ".resource-tracker") != 0) ||
		    adding->stuck || asprintf(&child, "%s/%s", path, entry->d_name) < 0)
			continue;
		if (lstat(child, &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode) && depth < DEPTH_MOST)
			add_folder(adding, child, depth + 1);
		else if (S_ISREG(status.st_mode) && may_be_recording(entry->d_name) &&
			 !is_target(adding, &status))
			add_recording(adding, child, false);
	}
	free(entries);
}

static void add_path(struct adding *adding, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		add_folder(adding, path, 0);
	else
		add_recording(adding, path, true);
}

int run_runs(const struct subcommand *command, char **argv)
{
	const char *usual = secure_getenv("TRACKER_RUNS");
	struct adding adding = {.command = command, .runs = usual && *usual ? usual : NULL};
	CLEANUP_OPTIONS(runs) options = {.runs = adding.runs};
	const struct text_list *words = &options.line.files;
	int status = command_read_words(command, argv, &options);

	if (status)
		return status;
	adding.runs = options.runs;
	if (adding.runs && !*adding.runs)
		return command_wrong_value(command, "runs", adding.runs);
	if (!words->count || strcmp(words->texts[0], "add") != 0)
		return command_usage(command, "say what to do: resource-tracker runs add DIR|FILE...");
	if (words->count == 1)
		return command_usage(command, "name a recording, or a folder of them");
	for (size_t i = 1; i < words->count && !adding.stuck; i++)
		add_path(&adding, words->texts[i]);
	if (adding.not_runs)
		(void)command_fault(command,
				    "left out in the folders, as no recording or without a sample: %zu",
				    adding.not_runs);
	else if (!adding.added && !adding.failed)
		(void)command_fault(command, "there is no recording in the folders");
	return adding.failed ? EXIT_FAULT : 0;
}
