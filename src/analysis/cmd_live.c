/* live: a screen that follows runs, a process or the machine, or shows a finished run. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "history/history_folder.h"
#include "launch/find_program.h"
#include "live/live.h"
#include "options/options.h"
#include "options/parse.h"

struct live_words {
	const char *pid;
	bool host, notify;
	char **recorder_options; /* behind "--"; NULL: none were given */
	struct text_list files;
	struct text_list recorder; /* the words of a recorder to start */
	unsigned *numbers;         /* of the files in the history */
};

static void live_words_done(struct live_words *words)
{
	text_list_done(&words->files);
	text_list_done(&words->recorder);
	free(words->numbers);
}

static bool set_option(void *context, int option, const char *value)
{
	struct live_words *words = context;
	int64_t pid;

	switch (option) {
	case OPTION_live_pid:
		words->pid = value;
		return parse_count(value, &pid) && pid > 0 && pid <= INT32_MAX;
	case OPTION_live_host:
		words->host = true;
		return true;
	case OPTION_live_notify:
		words->notify = true;
		return true;
	default:
		return false;
	}
}

/* ---- the recorder ------------------------------------------------------------------------------------ */

struct recorder_line {
	bool has_pid;
	char name[64];
};

/* Its name, if it is there; the recorder says so if it is not. */
static void name_process(const char *pid, char *ret_name, size_t size)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	CLEANUP_CLOSE int fd = -1;
	char name[32];
	ssize_t length;

	snprintf(ret_name, size, "process %s", pid);
	buffer_printf(&path, "/proc/%s/comm", pid);
	fd = buffer_error(&path) ? -1 : open(path.data, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (length > 1)
		snprintf(ret_name, size, "%.*s", (int)length - (name[length - 1] == '\n'), name);
}

static const char *take_recorder_option(void *context, const struct option_row *row, const char *text)
{
	struct recorder_line *line = context;

	if (row && strcmp(row->name, "pid") == 0) {
		line->has_pid = true;
		name_process(text, line->name, sizeof(line->name));
	}
	return NULL;
}

/* Samples come through standard output. The options behind ours win, if they are given twice. */
static int make_recorder_line(const struct subcommand *command, struct live_words *words,
			      struct recorder_line *ret_line)
{
	struct recorder_line line = {.name = "this machine"};
	char **rest = NULL;
	CLEANUP_FREE char *word = NULL;
	struct parser parser = {.options = recorder_options(),
				.take = take_recorder_option,
				.context = &line,
				.command_follows = true};
	bool added = text_list_add(&words->recorder, "resource-tracker");

	added = added && text_list_add(&words->recorder, "--output=-") &&
		text_list_add(&words->recorder, "--format=json");
	if (words->pid) {
		if (asprintf(&word, "--pid=%s", words->pid) < 0) {
			word = NULL;
			return command_fault(command, "out of memory");
		}
		added = added && text_list_add_copy(&words->recorder, word);
		name_process(words->pid, line.name, sizeof(line.name));
	}
	for (char **option = words->recorder_options; added && option && *option; option++)
		added = text_list_add(&words->recorder, *option);
	if (!added)
		return command_fault(command, "out of memory");
	/* parse_words() passes over the word before them, which stands for the program. */
	if (words->recorder_options && parse_words(&parser, words->recorder_options - 1, &rest) < 0)
		return command_usage(command, "%s", parser.message);
	if (rest)
		return command_usage(
			command,
			"'%s' is a command; record it with resource-tracker, and look at it from "
			"another terminal",
			*rest);
	*ret_line = line;
	return 0;
}

/* Without a screen, as without this program, the recorder prints its samples. */
static int print_samples(const struct subcommand *command, const struct text_list *words)
{
	CLEANUP_FREE char **argv = calloc(words->count + 1, sizeof(*argv));
	char path[PATH_MAX];

	if (!argv)
		return command_fault(command, "out of memory");
	/* The second word names standard output, which is the usual place. The third keeps it from starting a screen again. */
	for (size_t i = 0, count = 0; i < words->count; i++)
		if (i != 1)
			argv[count++] = (char *)(uintptr_t)words->texts[i];
	if (find_sister_program(&RECORDER_PROGRAM, path) < 0)
		return command_fault(command, "needs resource-tracker, which is not installed");
	execv(path, argv);
	return command_fault(command, "%s: %s", path, strerror(errno));
}

/* ---- recordings -------------------------------------------------------------------------------------- */

/* A run of the history has a number: its operand is then another word than its path. */
static bool find_numbers(struct live_words *words, char **argv)
{
	words->numbers = calloc(words->files.count + 1, sizeof(*words->numbers));
	for (size_t i = 0; words->numbers && i < words->files.count; i++) {
		const char *slash = strrchr(words->files.texts[i], '/');
		bool is_word = false;

		for (char **word = argv + 1; *word; word++)
			is_word |= strcmp(*word, words->files.texts[i]) == 0;
		if (slash && !is_word && history_file_kind(slash + 1, &words->numbers[i]) == HISTORY_OTHER)
			words->numbers[i] = 0;
	}
	return words->numbers != NULL;
}

static int show_live(const struct subcommand *command, const struct live_words *words,
		     const char *recorder_name)
{
	bool records = words->recorder.count > 0;
	struct live_options options = {
		.paths = words->files.texts,
		.numbers = words->numbers,
		.path_count = words->files.count,
		.follows_history = !records && !words->files.count,
		.recorder_name = recorder_name,
		.notifies = words->notify,
		.colour = command_colour(),
	};
	CLEANUP_FREE const char **recorder = calloc(words->recorder.count + 1, sizeof(*recorder));
	struct rt_problem problem = {""};
	int r;

	if (!recorder)
		return command_fault(command, "out of memory");
	for (size_t i = 0; i < words->recorder.count; i++)
		recorder[i] = words->recorder.texts[i];
	options.recorder = records ? recorder : NULL;
	r = live_show(&options, &problem);
	if (r == -ENOTTY || r == -ENOTSUP) {
		command_fault(command, "%s",
			      !live_is_built()
				      ? "built without the screen, because libncurses-dev was missing"
			      : r == -ENOTTY ? "needs a terminal; summary and show print a recording as text"
					     : "this kind of terminal (TERM) cannot show a screen");
		return words->recorder_options ? print_samples(command, &words->recorder) : EXIT_FAULT;
	}
	return r < 0 ? command_fault(command, "%s", problem.text) : 0;
}

int run_live(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(live_words_done))) struct live_words words = {0};
	struct recorder_line line = {.name = ""};
	char **separator = argv;
	int status;

	while (*separator && strcmp(*separator, "--") != 0)
		separator++;
	if (*separator) {
		words.recorder_options = separator + 1;
		*separator = NULL;
	}
	status = command_read(command, argv, set_option, &words, &words.files);
	if (status)
		return status;
	if ((words.pid != NULL) + words.host + (words.files.count > 0) > 1)
		return command_usage(command, "--pid, --host and recordings exclude each other");
	if (words.files.count && words.recorder_options)
		return command_usage(command,
				     "options behind -- are those of a recorder; a recording has none");
	for (size_t i = 0; i < words.files.count; i++)
		if (strcmp(words.files.texts[i], "-") == 0)
			return command_usage(command, "standard input has the keys; name a file");
	if (!find_numbers(&words, argv))
		return command_fault(command, "out of memory");
	if (words.recorder_options)
		*separator = argv[0];
	if (words.pid || words.host || words.recorder_options)
		status = make_recorder_line(command, &words, &line);
	return status ? status : show_live(command, &words, line.name);
}
