/* repeat: runs a command several times, or two in turn, and tells their figures with the spread. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/repeat_runs.h"
#include "base/cleanup.h"
#include "base/file_place.h"

enum {
	RUNS_USUAL = 10,
	RUNS_MOST = 10000,
	SIGNAL_STATUS = 128,
	NOT_FOUND_STATUS = 127,
	NAME_BYTES = 100,
	COMMAND_BYTES = 4 << 20
};

static const char AGAINST[] = "--against";

/* One command: its words for exec, and as a text. */
struct repeated_command {
	const char **words;
	struct buffer text;
};

static void repeated_command_done(struct repeated_command *command)
{
	free(command->words);
	buffer_done(&command->text);
}

static void cleanup_repeat(struct repeat *repeat)
{
	repeat_done(repeat);
}

static bool needs_shell(const char *word)
{
	return strpbrk(word, " \t\n|&;<>()$`\\\"'*?[#~{}") != NULL;
}

/* A single word that no program can have as its name is a line for the shell. */
static bool make_command(char *const *words, size_t count, struct repeated_command *ret_command)
{
	static const char *const SHELL[] = {"/bin/sh", "-c"};
	bool by_shell = count == 1 && needs_shell(words[0]);
	size_t before = by_shell ? ARRAY_SIZE(SHELL) : 0;

	ret_command->words = calloc(before + count + 1, sizeof(*ret_command->words));
	ret_command->text = BUFFER(COMMAND_BYTES);
	if (!ret_command->words)
		return false;
	if (by_shell)
		memcpy(ret_command->words, SHELL, sizeof(SHELL));
	for (size_t i = 0; i < count; i++) {
		ret_command->words[before + i] = words[i];
		buffer_printf(&ret_command->text, "%s%s", i ? " " : "", words[i]);
	}
	return buffer_error(&ret_command->text) == 0;
}

/* Splits the words at "--against". Returns 0, or EXIT_USAGE after it has said what is wrong. */
static int make_commands(const struct subcommand *command, char *const *rest, const char *against,
			 struct repeated_command ret_commands[static 2])
{
	char *other = (char *)(uintptr_t)against;
	size_t first = 0, second = 0;

	while (rest && rest[first] && strcmp(rest[first], AGAINST) != 0)
		first++;
	if (!first)
		return command_usage(command, "name a command to run");
	if (rest[first] && against)
		return command_usage(command, "--against is given twice");
	while (rest[first] && rest[first + 1 + second])
		second++;
	if (rest[first] && !second)
		return command_usage(command, "--against needs a command");
	if (!make_command(rest, first, &ret_commands[0]) ||
	    (second && !make_command(rest + first + 1, second, &ret_commands[1])) ||
	    (against && !make_command(&other, 1, &ret_commands[1])))
		return command_fault(command, "out of memory");
	return 0;
}

static int check_repeat_words(const struct subcommand *command, const struct repeat_words *words)
{
	if (words->runs < 1 || words->runs > RUNS_MOST)
		return command_usage(command, "--runs: give a number from 1 to %d", RUNS_MOST);
	if (words->warmup > RUNS_MOST)
		return command_usage(command, "--warmup: give a number from 0 to %d", RUNS_MOST);
	if (words->json && !*words->json)
		return command_wrong_value(command, "json", words->json);
	if (words->json && strcmp(words->json, "-") != 0) {
		int fault = check_file_place(words->json);

		if (fault < 0)
			return command_fault(command, "cannot write to %s: %s", words->json,
					     file_place_fault(fault));
		return command_check_output(command, words->json);
	}
	return 0;
}

/* ---- the folder of the recordings -------------------------------------------------------------------- */

static int make_repeat_folder(char **ret_folder)
{
	const char *place = secure_getenv("TMPDIR");
	CLEANUP_FREE char *folder = NULL;

	if (asprintf(&folder, "%s/resource-tracker-repeat.XXXXXX", place && *place == '/' ? place : "/tmp") <
	    0) {
		folder = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(folder))
		return -errno;
	*ret_folder = folder;
	folder = NULL;
	return 0;
}

/* It has files alone: recordings, and their marks. */
static void remove_folder(char **folder)
{
	DIR *entries = *folder ? opendir(*folder) : NULL;

	for (struct dirent *entry; entries && (entry = readdir(entries));)
		(void)unlinkat(dirfd(entries), entry->d_name, 0);
	if (entries)
		closedir(entries);
	if (*folder)
		(void)rmdir(*folder);
	free(*folder);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

static void tell_stop(const struct subcommand *command, const struct repeat_stop *stop,
		      const struct repeat *repeat)
{
	/* The first line of a script names it. */
	int length = stop->what ? (int)strcspn(stop->what, "\n") : 0;
	char end[160];

	if (length > NAME_BYTES)
		length = NAME_BYTES;
	if (stop->signo)
		snprintf(end, sizeof(end), "ended by signal %d", stop->signo);
	else if (WIFSIGNALED(stop->status))
		snprintf(end, sizeof(end), "%.*s was killed by signal %d", length, stop->what,
			 WTERMSIG(stop->status));
	else
		snprintf(end, sizeof(end), "%.*s ended with exit status %d%s", length, stop->what,
			 WEXITSTATUS(stop->status),
			 WEXITSTATUS(stop->status) == NOT_FOUND_STATUS ? " (often: command not found)" : "");
	(void)command_fault(command, "%s, after %zu run%s%s", end, repeat->count,
			    repeat->count == 1 ? "" : "s",
			    stop->signo                            ? ""
			    : strcmp(stop->what, "--prepare") == 0 ? "; --show-output shows what it says"
								   : "; --show-output shows what it says, "
								     "--ignore-failure goes on");
}

static int print_results(const struct subcommand *command, const struct repeat_words *words,
			 const struct repeat *repeat)
{
	CLEANUP_FREE char *text = NULL, *json = NULL;
	bool only_json = words->json && strcmp(words->json, "-") == 0;
	size_t counted = 0;
	int result = 0, status = 0;

	for (size_t i = 0; i < repeat->count; i++)
		counted += repeat_counts(repeat, &repeat->runs[i]);
	if (!counted)
		return 0;
	if (!only_json)
		result = repeat_for_screen(repeat, command_screen(NULL), command_colour(), &text);
	if (result == 0 && words->json)
		result = repeat_to_json(repeat, &json);
	if (result < 0)
		return command_fault(command, "out of memory");
	if (text)
		status = command_write_fitted(command, NULL, text);
	return json && !status ? command_write(command, words->json, json, strlen(json)) : status;
}

/* Ends as the signal would have ended this program. */
static void end_by_signal(int signo)
{
	sigset_t one;

	fflush(stdout);
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
	sigemptyset(&one);
	sigaddset(&one, signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int run_and_print(const struct subcommand *command, const struct repeat_words *words,
			 const struct repeat_plan *plan, struct repeat *repeat)
{
	__attribute__((cleanup(remove_folder))) char *folder = NULL;
	struct repeat_stop stop = {0};
	struct rt_problem problem = {"out of memory"};
	int result = make_repeat_folder(&folder), status;

	if (result < 0)
		return command_fault(command, "no temporary folder for the recordings: %s",
				     strerror(-result));
	result = repeat_run_all(plan, folder, repeat, &stop, &problem);
	if (result < 0)
		(void)command_fault(command, "%s", problem.text);
	else if (stop.signo || stop.status)
		tell_stop(command, &stop, repeat);
	if (!words->no_history && repeat_keep(repeat, &problem) < 0)
		(void)command_fault(command, "the runs are not kept: %s", problem.text);
	status = print_results(command, words, repeat);
	if (stop.signo) {
		remove_folder(&folder);
		folder = NULL;
		end_by_signal(stop.signo);
	}
	if (stop.status)
		return shell_status(stop.status);
	return result < 0 ? EXIT_FAULT : status;
}

static void both_commands_done(struct repeated_command (*commands)[2])
{
	for (size_t i = 0; i < ARRAY_SIZE(*commands); i++)
		repeated_command_done(&(*commands)[i]);
}

int run_repeat(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(repeat) words = {.runs = RUNS_USUAL};
	__attribute__((cleanup(both_commands_done))) struct repeated_command commands[2] = {{0}, {0}};
	__attribute__((cleanup(cleanup_repeat))) struct repeat repeat = {0};
	struct repeat_plan plan;
	char **rest = NULL;
	int status = command_read_command(command, argv, &words, &rest);

	if (status == 0)
		status = check_repeat_words(command, &words);
	if (status == 0)
		status = make_commands(command, rest, words.against, commands);
	if (status)
		return status;
	plan = (struct repeat_plan){
		.commands = {commands[0].words, commands[1].words},
		.prepare = words.prepare,
		.runs = words.runs,
		.warmups = words.warmup,
		.ignores_failure = words.ignore_failure,
		.shows_output = words.show_output,
	};
	repeat.commands[0] = commands[0].text.data;
	repeat.commands[1] = commands[1].text.data;
	repeat.side_count = commands[1].words ? 2 : 1;
	repeat.counts_failed = words.ignore_failure;
	return run_and_print(command, &words, &plan, &repeat);
}
