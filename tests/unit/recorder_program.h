/*
 * Runs the recorder itself in the folder of a test, beside a program that stands for the analysis and writes its words to the file
 * "said".
 */
#pragma once

#include "scratch.h"
#include "terminal.h"

#include <sys/wait.h>

enum { TOLD_BYTES = 400 };

static struct terminal screen;

static inline void run_shell(const char *line, int expected)
{
	int status = system(line);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
		print_error("exit status %d of %s\n", status, line);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

static inline void put_program(const char *path, const char *script)
{
	put_text(path, script);
	assert_int_equal(chmod(path, 0755), 0);
}

#define ANALYSIS "bin/resource-tracker-analysis"
#define SAYS_ITS_WORDS "#!/bin/sh\necho \"$@\" >> \"$SAID\"\n"

static inline int begin_program(void **state)
{
	static const char *const VARIABLES[] = {"CI",
						"TRACKER_RUNS",
						"TRACKER_OUTPUT",
						"TRACKER_HISTORY",
						"RESOURCE_TRACKER_MARKS",
						"RESOURCE_TRACKER_ALONE",
						"TRACKER_SUMMARY",
						"TRACKER_REPORT",
						"TRACKER_STREAM",
						"TRACKER_NET",
						"TRACKER_HELPER"};
	char line[4000];

	if (scratch_enter(state) < 0 || mkdir("bin", 0700) < 0)
		return -1;
	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
		unsetenv(VARIABLES[i]);
	setenv("TRACKER_SITE_CONFIG", "", 1);
	setenv("ANALYSIS_STATUS", "0", 1);
	snprintf(line, sizeof line, "%s/said", scratch_folder);
	setenv("SAID", line, 1);
	snprintf(line, sizeof line, "cp \"$TEST_BUILD/resource-tracker\" bin");
	if (system(line) != 0)
		return -1;
	put_program(ANALYSIS, SAYS_ITS_WORDS "exit $ANALYSIS_STATUS\n");
	put_text("said", "");
	return 0;
}

/* Runs "resource-tracker WORDS" in a shell, with its output in the files "out" and "err". */
static inline void record(const char *words, int expected)
{
	char line[4000];

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	snprintf(line, sizeof line, "exec > out 2> err < /dev/null; bin/resource-tracker %s", words);
	run_shell(line, expected);
}

/* With the terminal as its stderr. */
static inline void record_on_screen(const char *words, int expected)
{
	char line[4000];

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	snprintf(line, sizeof line, "exec > out 2> %s < /dev/null; bin/resource-tracker %s",
		 ptsname(screen.master), words);
	run_shell(line, expected);
}

static inline void assert_file_has(const char *path, const char *part)
{
	char *text = get_file(path, NULL);

	if (!strstr(text, part))
		print_error("no \"%s\" in \"%s\"\n", part, text);
	assert_non_null(strstr(text, part));
	free(text);
}

static inline void assert_file_lacks(const char *path, const char *part)
{
	char *text = get_file(path, NULL);

	assert_null(strstr(text, part));
	free(text);
}

/* "%s" in the line is the folder of the test. */
static inline void assert_said(const char *line)
{
	char text[TOLD_BYTES], *at = strstr(line, "%s");

	if (at)
		snprintf(text, sizeof text, "%.*s%s%s\n", (int)(at - line), line, scratch_folder, at + 2);
	else
		snprintf(text, sizeof text, *line ? "%s\n" : "%s", line);
	assert_file_text("said", text);
	put_text("said", "");
}

#define unit_test_of_program(test) cmocka_unit_test_setup_teardown(test, begin_program, scratch_leave)
