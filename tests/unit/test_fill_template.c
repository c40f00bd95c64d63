/* Tests of src/cli/fill_template.c and its parts: rows of the options in the man pages and the completions, one of each kind. */
#include "scratch.h"

#include <sys/wait.h>

/* Runs the program of the build, with its output in the file "out". Returns its exit code. */
static int fill(const char *words)
{
	const char *build = getenv("TEST_BUILD");
	char line[4000];
	int status;

	snprintf(line, sizeof line, "%s/src/cli/fill_template", build ? build : ".");
	if (access(line, X_OK) < 0)
		SKIP("a build for another machine without a compiler for this one");
	snprintf(line, sizeof line, "%s/src/cli/fill_template > out %s", build, words);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static size_t lines_that_are(const char *line)
{
	char *text = get_file("out", NULL), *rest = text;
	size_t count = 0;

	for (char *at; (at = strsep(&rest, "\n"));)
		count += strcmp(at, line) == 0;
	free(text);
	return count;
}

static void assert_part_has(const char *part, const char *const *lines)
{
	char text[100];

	snprintf(text, sizeof text, "before\n%s\n%s behind\n", part, part);
	put_text("template", text);
	assert_int_equal(fill("template"), 0);
	/* Other lines stay. */
	snprintf(text, sizeof text, "%s behind", part);
	assert_int_equal(lines_that_are("before"), 1);
	assert_int_equal(lines_that_are(text), 1);
	assert_int_equal(lines_that_are(part), 0);
	for (; *lines; lines++) {
		if (lines_that_are(*lines) != 1)
			print_error("%s: not one line \"%s\"\n", part, *lines);
		assert_int_equal(lines_that_are(*lines), 1);
	}
}

#define assert_part(part, ...) assert_part_has(part, (const char *const[]){__VA_ARGS__, NULL})

static void the_man_page_has_a_paragraph_for_each_option(void **state)
{
	(void)state;
	assert_part("@man-options@", "## Time of samples", "*-i*, *--interval* _TIME_",
		    "Environment: TRACKER\\_INTERVAL. Configuration: \\[tracker\\] interval\\_secs.",
		    "*--summary*[=_text|json_]", "*-f*, *--format* _json|csv_",
		    "\tOutput format. Default: json, csv for .csv.++", "*--align*",
		    "\tSample at multiples of the interval of the wall clock.++",
		    "*--signal-at* _RULE\\[,RULE\\]_",
		    "Environment: TRACKER\\_REPORT. Configuration: \\[tracker\\] report.",
		    "Environment: TRACKER\\_CONFIG.", "*-V*, *--version*", "\tPrint the version.");
	assert_part("@man-subcommands@", "*mark* NAME \\[start|stop\\]",
		    "\tMark a phase from inside a job. See *resource-tracker-mark*(1).");
}

static void the_completion_of_bash_has_words_and_kinds(void **state)
{
	(void)state;
	assert_part("@bash-values@", "\t--interval | -i) kind='TIME' ;;", "\t--metrics) kind='METRIC' ;;",
		    "\t--format | -f) choices='json csv' ;;", "\t--summary) choices='text json' ;;");
	assert_int_equal(lines_that_are("\t--quiet | -q) kind='' ;;"), 0);
	assert_part("@bash-subcommand-options@", "\tmark) options='--id --file --json --help -h' ;;",
		    "\tconfig) options='--config -c --json --help -h' ;;");
	assert_part("@bash-subcommand-values@", "\t'mark --id') kind='ID' ;;",
		    "\t'metrics --color') choices='auto always never' ;;",
		    "\t'config --config' | 'config -c') kind='FILE' ;;");
	assert_int_equal(lines_that_are("\t'mark --json') kind='' ;;"), 0);
	assert_part("@bash-operands@", "\tsummary) kind=RUN ;;", "\tcompare-runs) kind=RUN ;;",
		    "\trm) kind=KEPT ;;", "\tls) kind=KEPT ;;", "\tmark) choices='start stop' ;;",
		    "\tmetrics) kind=METRIC ;;", "\tconfig) choices='show' ;;");
	assert_int_equal(lines_that_are("\tversion) kind=RUN ;;"), 0);
}

static void assert_out_has(const char *part, const char *text)
{
	char *out;

	put_text("template", part);
	assert_int_equal(fill("template"), 0);
	out = get_file("out", NULL);
	assert_non_null(strstr(out, text));
	free(out);
}

static void lists_of_names_have_both_names_of_an_option(void **state)
{
	(void)state;
	assert_out_has("@bash-lists@\n", "\tlocal options='--pid -p --no-children ");
	assert_out_has("@bash-lists@\n", "'\n\tlocal subcommands='summary stats ");
	assert_out_has("@bash-lists@\n", " config help version'\n");
	assert_out_has("@bash-takes-word@\n", "\t\t--pid | -p | --interval | -i | --start-at |");
	assert_out_has("@bash-takes-word@\n", " | --config | -c)\n");
	assert_out_has("@fish-takes-word@\n", "\t\t\tcase --pid -p --interval -i --start-at ");
	assert_out_has("@fish-subcommand-names@\n", "\tsummary stats ");
	assert_out_has("@fish-subcommand-names@\n", " help version\n");
}

static void the_completion_of_zsh_has_the_kind_of_each_value(void **state)
{
	(void)state;
	assert_part(
		"@zsh-options@",
		"\t\t'(-p --pid)'{-p+,--pid=}'[attach to this running process and its "
		"descendants]:PID:_pids' \\",
		"\t\t\\*'--metrics=[only these metrics\\: names or globs, separated by "
		"commas]:NAME[,NAME]:_resource_tracker_metrics' \\",
		"\t\t'--gpus=[GPUs to record\\: used, visible, all, or UUIDs]:LIST: ' \\",
		"\t\t'--root=[read /proc and /sys below DIR]:DIR:_files -/' \\",
		"\t\t'(-f --format)'{-f+,--format=}'[output format]:value:(json csv)' \\",
		"\t\t'(-q --quiet)'{-q,--quiet}'[no samples on stderr or stdout without --output, and no "
		"summary]' \\",
		"\t\t'--summary=-[print a summary of the recording at the end, to stderr]::value:(text "
		"json)' \\",
		"\t\t'--no-summary[print no summary]' \\",
		"\t\t'--report=[write an interactive HTML page of the recording at the end]:FILE:_files' \\");
	assert_part("@zsh-subcommands@", "\t\t'mark:mark a phase from inside a job'");
	assert_part("@zsh-subcommand-options@", "\tmark)",
		    "\t\t\t\\*{-c+,--column=}'[these columns in this "
		    "order]:NAME[,NAME]:_resource_tracker_metrics' \\",
		    "\t\t\t'--slice=[rows from A to before B; negative numbers count from the "
		    "end]:A\\:B[\\:STEP]: ' \\",
		    "\t\t\t'--system-prefix=[beginning of the names of the machine'\\''s columns]:TEXT: ' \\",
		    "\t\t\t'*:metric:_resource_tracker_metrics'", "\t\t\t'*:word:(show)'",
		    "\t\t\t'*:word:(start stop)'");
	/* Several subcommands have it. */
	assert_true(lines_that_are("\t\t\t'*:run:_resource_tracker_runs'") > 1);
	assert_true(lines_that_are("\t\t\t'*:recording:_resource_tracker_recordings'") > 1);
	assert_true(lines_that_are("\t\t\t'*:file:_files'") > 1);
	assert_out_has("@zsh-subcommand-options@\n", "\t\t\t'1:subcommand:(summary stats ");
	assert_out_has("@zsh-subcommand-options@\n", " help version)'\n\t\t;;\n");
}

#define OF_RECORDER "complete -c resource-tracker -n __resource_tracker_before_command"
#define OF_SUBCOMMAND "complete -c resource-tracker -n '__resource_tracker_in "

static void the_completion_of_fish_has_the_kind_of_each_value(void **state)
{
	(void)state;
	assert_part(
		"@fish-options@",
		OF_RECORDER " -s p -l pid -x -a '(__fish_complete_pids)' -d 'attach to this running process "
			    "and its descendants'",
		OF_RECORDER " -s i -l interval -x -d 'time between samples, at least 1ms: 0.25, 500ms, 1m'",
		OF_RECORDER " -l metrics -x -a '(__fish_append , (__resource_tracker_metrics))' -d 'only "
			    "these metrics: names or "
			    "globs, separated by commas'",
		OF_RECORDER
		" -l root -x -a '(__fish_complete_directories)' -d 'read /proc and /sys below DIR'",
		OF_RECORDER " -s f -l format -x -a 'json csv' -d 'output format'",
		OF_RECORDER
		" -l summary -f -a 'text json' -d 'print a summary of the recording at the end, to stderr'",
		OF_RECORDER " -l no-summary -d 'print no summary'",
		OF_RECORDER
		" -l report -r -F -d 'write an interactive HTML page of the recording at the end'");
	assert_part(
		"@fish-subcommands@",
		"complete -c resource-tracker -n __resource_tracker_first_word -a mark -d 'mark a phase from "
		"inside a job'");
	assert_part("@fish-subcommand-options@", OF_SUBCOMMAND "mark' -l json -d 'print the mark as well'",
		    OF_SUBCOMMAND "mark' -s h -l help -d 'print the help'",
		    OF_SUBCOMMAND "mark' -f -a 'start stop'",
		    OF_SUBCOMMAND "metrics' -f -a '(__resource_tracker_metrics)'",
		    OF_SUBCOMMAND "summary' -f -a '(__resource_tracker_recordings)'",
		    OF_SUBCOMMAND "rm' -f -a '(__resource_tracker_runs)'",
		    OF_SUBCOMMAND "config' -s c -l config -r -F -d 'read this file'");
}

static void a_subcommand_has_a_man_page_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(fill("--man mark"), 0);
	assert_int_equal(lines_that_are("resource-tracker-mark(1) \"resource-tracker\""), 1);
	assert_int_equal(lines_that_are("*resource-tracker mark* [_OPTIONS_] NAME \\[start|stop\\]"), 1);
	assert_int_equal(lines_that_are("Mark a phase of a job from inside it."), 1);
	assert_int_equal(lines_that_are("*--id* _ID_"), 1);
	assert_int_equal(
		lines_that_are(
			"\tWrite to FILE; the variable is set in a job that is recorded to a file. Default: "
			"$RESOURCE\\_TRACKER\\_MARKS."),
		1);
	assert_int_equal(
		lines_that_are("NAME alone begins the next phase and ends the one that the last such call "
			       "began. Phases "
			       "with start and stop may overlap. Without --id, stop ends the phase of this "
			       "name that the "
			       "calling process started last. Outside a recording the command does nothing. "
			       "*resource-tracker regions FILE* shows the use of each phase."),
		1);
	assert_int_equal(lines_that_are("resource-tracker mark --id 7 load stop"), 1);
	/* Without notes, the options follow. */
	assert_int_equal(fill("--man version"), 0);
	put_text("expected", "The version of this program.\n\n# OPTIONS\n");
	assert_int_equal(system("sed -n '/^The version/,/OPTIONS/p' out | cmp -s - expected"), 0);
}

static void wrong_words_make_no_page(void **state)
{
	(void)state;
	assert_int_equal(fill("--man no-such-subcommand"), 1);
	assert_int_equal(fill(""), 2);
	assert_int_equal(fill("missing-template"), 2);
	assert_int_equal(fill("a b"), 2);
	put_text("template", "text\n");
	assert_int_equal(fill("template > /dev/full"), 1);
	assert_int_equal(fill("--man mark > /dev/full"), 1);
	assert_int_equal(fill("."), 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_man_page_has_a_paragraph_for_each_option),
		unit_test_in_scratch(the_completion_of_bash_has_words_and_kinds),
		unit_test_in_scratch(lists_of_names_have_both_names_of_an_option),
		unit_test_in_scratch(the_completion_of_zsh_has_the_kind_of_each_value),
		unit_test_in_scratch(the_completion_of_fish_has_the_kind_of_each_value),
		unit_test_in_scratch(a_subcommand_has_a_man_page_of_its_own),
		unit_test_in_scratch(wrong_words_make_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
