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

struct live_request {
	const struct live_words *words;
	char **recorder_options;   /* behind "--"; NULL: none were given */
	struct text_list recorder; /* the words of a recorder to start */
	unsigned *numbers;         /* of the files in the history */
};

static void live_request_done(struct live_request *live)
{
	text_list_done(&live->recorder);
	free(live->numbers);
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
static int make_recorder_line(const struct subcommand *command, struct live_request *live,
			      struct recorder_line *ret_line)
{
	struct recorder_line line = {.name = "this machine"};
	char **rest = NULL;
	CLEANUP_FREE char *word = NULL;
	struct parser parser = {.options = recorder_options(),
				.take = take_recorder_option,
				.context = &line,
				.command_follows = true};
	bool added = text_list_add(&live->recorder, "resource-tracker");

	added = added && text_list_add(&live->recorder, "--output=-") &&
		text_list_add(&live->recorder, "--format=json");
	if (live->words->pid) {
		if (asprintf(&word, "--pid=%s", live->words->pid) < 0) {
			word = NULL;
			return command_fault(command, "out of memory");
		}
		added = added && text_list_add_copy(&live->recorder, word);
		name_process(live->words->pid, line.name, sizeof(line.name));
	}
	for (char **option = live->recorder_options; added && option && *option; option++)
		added = text_list_add(&live->recorder, *option);
	if (!added)
		return command_fault(command, "out of memory");
	/* parse_words() passes over the word before them, which stands for the program. */
	if (live->recorder_options && parse_words(&parser, live->recorder_options - 1, &rest) < 0)
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
static bool find_numbers(struct live_request *live, char **argv)
{
	live->numbers = calloc(live->words->line.files.count + 1, sizeof(*live->numbers));
	for (size_t i = 0; live->numbers && i < live->words->line.files.count; i++) {
		const char *slash = strrchr(live->words->line.files.texts[i], '/');
		bool is_word = false;

		for (char **word = argv + 1; *word; word++)
			is_word |= strcmp(*word, live->words->line.files.texts[i]) == 0;
		if (slash && !is_word && history_file_kind(slash + 1, &live->numbers[i]) == HISTORY_OTHER)
			live->numbers[i] = 0;
	}
	return live->numbers != NULL;
}

static int show_live(const struct subcommand *command, const struct live_request *live,
		     const char *recorder_name)
{
	bool records = live->recorder.count > 0;
	struct live_options options = {
		.paths = live->words->line.files.texts,
		.numbers = live->numbers,
		.path_count = live->words->line.files.count,
		.follows_history = !records && !live->words->line.files.count,
		.recorder_name = recorder_name,
		.notifies = live->words->notify,
		.colour = command_colour(),
	};
	CLEANUP_FREE const char **recorder = calloc(live->recorder.count + 1, sizeof(*recorder));
	struct rt_problem problem = {""};
	int r;

	if (!recorder)
		return command_fault(command, "out of memory");
	for (size_t i = 0; i < live->recorder.count; i++)
		recorder[i] = live->recorder.texts[i];
	options.recorder = records ? recorder : NULL;
	r = live_show(&options, &problem);
	if (r == -ENOTTY || r == -ENOTSUP) {
		command_fault(command, "%s",
			      !live_is_built()
				      ? "built without the screen, because libncurses-dev was missing"
			      : r == -ENOTTY ? "needs a terminal; summary and show print a recording as text"
					     : "this kind of terminal (TERM) cannot show a screen");
		return live->recorder_options ? print_samples(command, &live->recorder) : EXIT_FAULT;
	}
	return r < 0 ? command_fault(command, "%s", problem.text) : 0;
}

int run_live(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(live) words = {0};
	const struct text_list *files = &words.line.files;
	__attribute__((cleanup(live_request_done))) struct live_request live = {.words = &words};
	struct recorder_line line = {.name = ""};
	char **separator = argv;
	int64_t pid;
	int status;

	while (*separator && strcmp(*separator, "--") != 0)
		separator++;
	if (*separator) {
		live.recorder_options = separator + 1;
		*separator = NULL;
	}
	status = command_read(command, argv, &words);
	if (status == 0 && words.pid && (!parse_count(words.pid, &pid) || pid <= 0 || pid > INT32_MAX))
		status = command_wrong_value(command, "pid", words.pid);
	if (status)
		return status;
	if ((words.pid != NULL) + words.host + (files->count > 0) > 1)
		return command_usage(command, "--pid, --host and recordings exclude each other");
	if (files->count && live.recorder_options)
		return command_usage(command,
				     "options behind -- are those of a recorder; a recording has none");
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->texts[i], "-") == 0)
			return command_usage(command, "standard input has the keys; name a file");
	if (!find_numbers(&live, argv))
		return command_fault(command, "out of memory");
	if (live.recorder_options)
		*separator = argv[0];
	if (words.pid || words.host || live.recorder_options)
		status = make_recorder_line(command, &live, &line);
	return status ? status : show_live(command, &live, line.name);
}
