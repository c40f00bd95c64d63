/* What is told after a recording, and to the job about it; see report.h. */
#include "cli/report.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "cli/message.h"
#include "cli/programs.h"

extern char **environ;

char *first_file(rt_tracker *tracker)
{
	const char *path;

	for (size_t i = 0; (path = rt_output_path(tracker, i)); i++) {
		struct stat status;

		if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
			return realpath(path, NULL);
	}
	return NULL;
}

char *marks_variable(rt_tracker *tracker)
{
	CLEANUP_FREE char *path = first_file(tracker);
	struct buffer variable = BUFFER(PATH_MAX + 64);

	if (!path)
		return NULL;
	buffer_add_text(&variable, "RESOURCE_TRACKER_MARKS=");
	buffer_add_text(&variable, path);
	buffer_add_text(&variable, ".marks");
	return buffer_error(&variable) < 0 ? NULL : variable.data;
}

void print_reasons(rt_tracker *tracker)
{
	CLEANUP_FREE char *text = NULL;
	struct scan lines, line;

	if (rt_explain_absent(tracker, &text) < 0) {
		text = NULL;
		return;
	}
	lines = scan_bytes(text, strlen(text));
	while (scan_line(&lines, &line))
		say("null: %.*s", (int)scan_left(&line), line.at);
}

/* Runs the analysis with its standard output on our standard error. False if it could not be started. */
static bool run_analysis(const char *program, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	bool started;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	started = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) == 0 &&
		  posix_spawn(&pid, program, &actions, NULL, argv, environ) == 0;
	while (started && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	posix_spawn_file_actions_destroy(&actions);
	return started;
}

void print_summary(const char *path, bool as_json)
{
	CLEANUP_FREE char *program = find_analysis_program();
	char name[] = "resource-tracker-analysis", summary[] = "summary", json[] = "--json", end[] = "--";
	CLEANUP_FREE char *file = strdup(path);
	char *argv[] = {name, summary, as_json ? json : end, as_json ? end : file, as_json ? file : NULL,
			NULL};

	if (program && file)
		run_analysis(program, argv);
}

void write_report(const char *path, const char *page)
{
	CLEANUP_FREE char *program = find_analysis_program();
	char name[] = "resource-tracker-analysis", report[] = "report", output[] = "-o", end[] = "--";
	CLEANUP_FREE char *file = path ? strdup(path) : NULL;
	CLEANUP_FREE char *to = strdup(page);
	char *argv[] = {name, report, output, to, end, file, NULL};

	if (!path)
		say("--report needs a recording: name an output file with -o");
	else if (!program)
		say("--report needs resource-tracker-analysis, which is not installed");
	else if (!file || !to || !run_analysis(program, argv))
		say("%s: the report could not be written", page);
}
