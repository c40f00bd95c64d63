/* history: the use and waste of each job, from the lines of many runs. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/find_run.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/scan.h"
#include "history/fleet.h"
#include "history/history.h"
#include "history/run_line.h"
#include "recommend/replay.h"

enum { FAULT_BYTES = 400, OUTPUT_BYTES = 256 << 20, SHOWN_USUALLY = 20 };

static void cleanup_fleet(struct fleet *fleet)
{
	fleet_done(fleet);
}

/* "2026-11-25" is the beginning of this day here, "7d" the moment a week ago. */
static bool set_since(struct fleet *fleet, const char *value)
{
	struct scan text = scan_bytes(value, strlen(value));
	uint64_t year, month, day;
	struct tm date;
	double secs;

	if (parse_duration(value, &secs)) {
		fleet->since = (double)time(NULL) - secs;
		return secs > 0;
	}
	if (!scan_u64(&text, &year) || !scan_literal(&text, "-") || !scan_u64(&text, &month) ||
	    !scan_literal(&text, "-") || !scan_u64(&text, &day) || scan_left(&text) || year < 1970 ||
	    year > 9999 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	date = (struct tm){
		.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day, .tm_isdst = -1};
	fleet->since = (double)mktime(&date);
	/* mktime() turns 31 April into 1 May without an error. */
	return date.tm_mday == (int)day;
}

/* `replay` may be NULL. */
static int add_run_file(struct fleet *fleet, struct replay *replay, const char *path,
			struct rt_problem *problem)
{
	int result = look_at_input(path, problem);

	if (result == 0)
		result = fleet_add_file(fleet, path, problem);
	return result == 0 && replay ? replay_add_file(replay, path, problem) : result;
}

static int add_own_history(const struct subcommand *command, struct fleet *fleet, struct replay *replay)
{
	CLEANUP_FREE char *path = NULL;
	struct rt_problem problem = {"out of memory"};

	if (history_own_lines(&path, &problem) < 0 || add_run_file(fleet, replay, path, &problem) < 0)
		return command_fault(command, "%s", problem.text);
	return 0;
}

/* A shell passes a glob in quotes, and one that matches too many files for a command line. */
static int add_glob(const struct subcommand *command, struct fleet *fleet, struct replay *replay,
		    const char *word)
{
	struct rt_problem problem = {"out of memory"};
	glob_t found = {0};
	int status = 0;

	if (look_at_input(word, NULL) < 0 || access(word, F_OK) == 0 || !strpbrk(word, "*?[") ||
	    glob(word, 0, NULL, &found) != 0)
		return add_run_file(fleet, replay, word, &problem) < 0
			       ? command_fault(command, "%s", problem.text)
			       : 0;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (add_run_file(fleet, replay, found.gl_pathv[i], &problem) < 0)
			status = command_fault(command, "%s", problem.text);
	globfree(&found);
	return status;
}

static void say_left_out(const struct subcommand *command, const struct fleet *fleet)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(FAULT_BYTES);

	lines_left_out_text(&text, &fleet->left_out);
	if (text.length && !buffer_error(&text))
		(void)command_fault(command, "left out: %s", text.data);
}

static int print_fleet(const struct subcommand *command, const struct history_words *options,
		       const struct fleet *fleet)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(OUTPUT_BYTES);
	struct screen screen = table_screen_of(STDOUT_FILENO, command_colour());

	if (options->json)
		fleet_add_json(&out, fleet);
	else
		fleet_add_text(&out, fleet, (size_t)options->number, &screen);
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return options->json ? command_write(command, NULL, out.data, out.length)
			     : command_write_fitted(command, NULL, out.data);
}

int run_history(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(history) options = {.number = SHOWN_USUALLY};
	const struct text_list *files = &options.line.files;
	CLEANUP_FREE char *by = NULL; /* its words are separated in place */
	__attribute__((cleanup(cleanup_fleet))) struct fleet fleet = {
		.by = {{FLEET_JOB, NULL}, {FLEET_TASK, NULL}}, .by_count = 2, .memory_reason = -1};
	__attribute__((cleanup(replay_done))) struct replay saved = REPLAY(RT_POLICY_MAX, NULL, NULL);
	struct replay *replay;
	struct rt_problem problem = {"out of memory"};
	int status = command_read_words(command, argv, &options);

	if (status)
		return status;
	fleet.job = options.job;
	by = options.by ? strdup(options.by) : NULL;
	if (options.by && !(by && fleet_set_by(&fleet, by)))
		return command_wrong_value(command, "by", options.by);
	if (options.since && !set_since(&fleet, options.since))
		return command_wrong_value(command, "since", options.since);
	fleet.usd_per_gib_hour = saved.usd_per_gib_hour = options.gib_price;
	saved.job = options.job;
	saved.since = fleet.since;
	replay = options.saved ? &saved : NULL;
	if (!files->count)
		status = add_own_history(command, &fleet, replay);
	for (size_t i = 0; i < files->count; i++) {
		int result = add_glob(command, &fleet, replay, files->texts[i]);

		status = result ? result : status;
	}
	if (!fleet.files)
		return EXIT_FAULT;
	say_left_out(command, &fleet);
	if (fleet_finish(&fleet) < 0)
		return command_fault(command, "out of memory");
	if (!fleet.runs && !options.json)
		return command_fault(command, fleet.job         ? "there is no run of this name"
					      : fleet.since > 0 ? "no run started since then"
								: "there is no run");
	if (replay && fleet.runs && replay_all(replay, &problem) < 0)
		status = command_fault(command, "%s", problem.text);
	else
		fleet.saved = replay && fleet.runs ? replay : NULL;
	return print_fleet(command, &options, &fleet) ? EXIT_FAULT : status;
}
