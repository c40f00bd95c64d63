/* The output after a recording, and the variable that lets the job add marks; see after_recording.h. */
#include "cli/after_recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_place.h"
#include "base/scan.h"
#include "cli/last_wait.h"
#include "cli/message.h"
#include "launch/child.h"
#include "launch/in_time.h"

#define STILL_LIMIT_NS (5 * NSEC_PER_SEC)

struct real_path_call {
	const char *path;
	bool is_file;
	char real[PATH_MAX];
};

static void find_real_path(void *data)
{
	struct real_path_call *call = data;
	struct stat status;

	call->is_file =
		stat(call->path, &status) == 0 && S_ISREG(status.st_mode) && realpath(call->path, call->real);
}

/* `front` NULL: in any format. */
static char *find_file(rt_tracker *tracker, const struct front *front)
{
	struct real_path_call call = {.is_file = false};

	for (size_t i = 0; (call.path = rt_output_path(tracker, i)); i++) {
		if (front && front_writes_csv(front, call.path))
			continue;
		/* A file that does not answer yet may do so at the end. */
		if (act_in_time(call.path, find_real_path, &call, sizeof(call)) < 0)
			return absolute_path(call.path);
		if (call.is_file)
			return strdup(call.real);
	}
	return NULL;
}

char *first_file(rt_tracker *tracker)
{
	return find_file(tracker, NULL);
}

char *first_json_file(rt_tracker *tracker, const struct front *front)
{
	return find_file(tracker, front);
}

char *marks_variable(rt_tracker *tracker, const char *kept_path)
{
	CLEANUP_FREE char *path = kept_path ? strdup(kept_path) : first_file(tracker);
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
	while (scan_line(&lines, &line)) {
		struct scan name = line;
		bool is_null = !scan_literal(&name, "run_start.figures_from is ");

		say("%s%.*s", is_null ? "null: " : "", (int)scan_left(&line), line.at);
	}
}

/* ---- the analysis ------------------------------------------------------------------------------------- */

/*
 * Runs the analysis with its stdout on our stderr. Returns its wait status, -ETIMEDOUT, -EINTR (a signal told us to go),
 * ...
 */
static int run_analysis(const char *const *argv)
{
	const struct child_program child = {.program = &ANALYSIS_PROGRAM, .argv = argv};
	int result, status = 0;
	pid_t pid;

	if (is_told_to_go())
		return -EINTR;
	result = child_start(&child, STDERR_FILENO, &pid);
	if (result < 0)
		return result;
	if (wait_while_it_works(pid, STILL_LIMIT_NS, &status))
		return status;
	end_without_progress(pid);
	return is_told_to_go() ? -EINTR : -ETIMEDOUT;
}

/* Separates the summary from the job's output. */
static void set_apart(bool as_json)
{
	if (!as_json && isatty(STDERR_FILENO))
		say_plainly("%s", "");
}

static void say_missing(const char *option)
{
	say("%s needs %s, which is not installed", option, ANALYSIS_PROGRAM.name);
}

void print_summary(const char *path, bool as_json, bool is_asked)
{
	/* The terminal may be one that no person reads at this moment. */
	const char *const argv[] = {ANALYSIS_PROGRAM.name,
				    "summary",
				    "--no-pager",
				    as_json ? "--json" : "--",
				    as_json ? "--" : path,
				    as_json ? path : NULL,
				    NULL};

	if (!can_say())
		return;
	set_apart(as_json);
	if (run_analysis(argv) == -ENOENT && is_asked)
		say_missing("--summary");
}

void name_recording(const char *path, bool is_csv)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (is_csv)
		say_plainly("recorded in %s, samples alone; -o FILE.jsonl keeps all of this", path);
	else
		say_plainly("recorded in %s; resource-tracker report %s", path, path);
}

void keep_recording(const char *path, const char *form)
{
	const char *const argv[] = {ANALYSIS_PROGRAM.name, "--keep", form, path, NULL};

	if (!can_say())
		return;
	set_apart(strcmp(form, "text") != 0);
	run_analysis(argv);
}

void add_run_line(const char *path, const char *runs)
{
	CLEANUP_BUFFER struct buffer option = BUFFER(PATH_MAX + 64);
	const char *argv[] = {ANALYSIS_PROGRAM.name, "runs", NULL, "--", "add", path, NULL};
	int result;

	buffer_printf(&option, "--runs=%s", runs);
	argv[2] = option.data;
	result = buffer_error(&option) ? buffer_error(&option) : run_analysis(argv);
	if (result == -ENOENT)
		say_missing("--runs");
	else if (result < 0)
		say("%s: the line of this run could not be added: %s", runs, strerror(-result));
	/* The analysis said why. A recording without a name ends with us. */
	if (result != 0 && result != -ENOENT && strncmp(path, "/proc/", 6) != 0)
		say("to append it later: resource-tracker runs add %s --runs %s", path, runs);
}

bool write_report(const char *path, const char *page)
{
	CLEANUP_BUFFER struct buffer output_option = BUFFER(PATH_MAX + 64);
	const char *argv[] = {ANALYSIS_PROGRAM.name, "report", NULL, "--", path, NULL};
	int result = 0;

	/* In one word: the name of a page may begin with a dash. */
	buffer_printf(&output_option, "--output=%s", page);
	argv[2] = output_option.data;
	if (!path)
		say("--report needs a recording: name an output file with -o");
	else
		result = buffer_error(&output_option) ? buffer_error(&output_option) : run_analysis(argv);
	if (result == -ENOENT)
		say_missing("--report");
	else if (result < 0)
		say("%s: the report could not be written: %s", page,
		    result == -ETIMEDOUT ? "it took no byte for 5 s" : strerror(-result));
	return path && result == 0;
}
