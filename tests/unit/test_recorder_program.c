/*
 * Tests of the rest of src/cli: the program itself, beside a program that stands for the analysis and writes its words to the file
 * "said".
 */
#include "scratch.h"
#include "terminal.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include "launch/run_server.h"

enum { TOLD_BYTES = 400 };

static struct terminal screen;

static void run_shell(const char *line, int expected)
{
	int status = system(line);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
		print_error("exit status %d of %s\n", status, line);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

static void put_analysis(void)
{
	put_text("bin/resource-tracker-analysis",
		 "#!/bin/sh\necho \"$@\" >> \"$SAID\"\nexit $ANALYSIS_STATUS\n");
	assert_int_equal(chmod("bin/resource-tracker-analysis", 0755), 0);
}

static int begin(void **state)
{
	static const char *const VARIABLES[] = {"CI",
						"TRACKER_RUNS",
						"TRACKER_OUTPUT",
						"TRACKER_HISTORY",
						"RESOURCE_TRACKER_MARKS",
						"RESOURCE_TRACKER_ALONE",
						"TRACKER_SUMMARY",
						"TRACKER_REPORT"};
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
	return system(line) == 0 ? (put_analysis(), put_text("said", ""), 0) : -1;
}

/* Runs "resource-tracker WORDS" in a shell, with its output in the files "out" and "err". */
static void record(const char *words, int expected)
{
	char line[4000];

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	snprintf(line, sizeof line, "exec > out 2> err < /dev/null; bin/resource-tracker %s", words);
	run_shell(line, expected);
}

/* With the terminal as its stderr. */
static void record_on_screen(const char *words, int expected)
{
	char line[4000];

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	snprintf(line, sizeof line, "exec > out 2> %s < /dev/null; bin/resource-tracker %s",
		 ptsname(screen.master), words);
	run_shell(line, expected);
}

static void assert_file_has(const char *path, const char *part)
{
	char *text = get_file(path, NULL);

	if (!strstr(text, part))
		print_error("no \"%s\" in \"%s\"\n", part, text);
	assert_non_null(strstr(text, part));
	free(text);
}

static void assert_file_lacks(const char *path, const char *part)
{
	char *text = get_file(path, NULL);

	assert_null(strstr(text, part));
	free(text);
}

/* "%s" in the line is the folder of the test. */
static void assert_said(const char *line)
{
	char text[TOLD_BYTES], *at = strstr(line, "%s");

	if (at)
		snprintf(text, sizeof text, "%.*s%s%s\n", (int)(at - line), line, scratch_folder, at + 2);
	else
		snprintf(text, sizeof text, *line ? "%s\n" : "%s", line);
	assert_file_text("said", text);
	put_text("said", "");
}

/* ---- a job ---- */

static void the_recorder_ends_as_its_job(void **state)
{
	(void)state;
	record("-q -o run.jsonl -- sh -c 'exit 3'", 3);
	assert_file_has("run.jsonl", "\"exit\"");
	assert_file_text("err", "");
	assert_file_text("out", "");
	record("-q -o killed.jsonl -- sh -c 'kill -9 $$'", 137);
	assert_file_has("killed.jsonl", "\"signal\"");
	assert_said("");
}

static void a_job_goes_on_after_its_recording(void **state)
{
	(void)state;
	record("-q -i 50ms --duration 0.15 -o run.jsonl -- sh -c 'sleep 0.4; touch late; exit 3'", 3);
	assert_file_has("run.jsonl", "\"run_end\":{\"reason\":\"duration\"");
	assert_int_equal(access("late", F_OK), 0);
}

static void samples_of_a_job_go_to_stderr_or_where_the_user_says(void **state)
{
	(void)state;
	record("-i 10 -- echo text", 0);
	assert_file_text("out", "text\n");
	assert_file_has("err", "{\"");
	record("-i 10 -o - -- true", 0);
	assert_file_has("out", "{\"");
	assert_file_text("err", "");
	record("-i 50ms --duration 0.1", 0);
	assert_file_has("out", "{\"");
	assert_said("");
}

static void a_command_that_cannot_start_has_the_codes_of_a_shell(void **state)
{
	(void)state;
	put_text("notes", "");
	record("-q -- no-such-program", 127);
	assert_file_text("err", "resource-tracker: no-such-program: command not found\n");
	record("-q -- sumary", 127);
	assert_file_text("err",
			 "resource-tracker: sumary: command not found; the nearest subcommand is summary\n");
	record("-q -- summary", 127);
	assert_file_text("err", "resource-tracker: summary: command not found; the subcommand of this name "
				"comes first, before all "
				"options\n");
	record("-q -o run.jsonl -- ./notes", 126);
	assert_file_text("err", "resource-tracker: ./notes: Permission denied\n");
	assert_file_has("run.jsonl", "\"exec_failed\"");
	record("-q -- ./missing", 127);
	assert_file_text("err", "resource-tracker: ./missing: No such file or directory\n");
	/* Too short to be meant for another. */
	record("-q -- lz", 127);
	assert_file_text("err", "resource-tracker: lz: command not found\n");
	record("-q -- rport", 127);
	assert_file_text("err",
			 "resource-tracker: rport: command not found; the nearest subcommand is report\n");
}

static void the_job_can_mark_phases_beside_the_first_file(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	record("-q -o - -o run.csv -o run.jsonl -- sh -c 'echo $RESOURCE_TRACKER_MARKS > marks'", 0);
	snprintf(text, sizeof text, "%s/run.csv.marks\n", scratch_folder);
	assert_file_text("marks", text);
	/* Without a file it stays that of an outer recording. */
	setenv("RESOURCE_TRACKER_MARKS", "outer", 1);
	record("-q -- sh -c 'echo $RESOURCE_TRACKER_MARKS > marks'", 0);
	unsetenv("RESOURCE_TRACKER_MARKS");
	assert_file_text("marks", "outer\n");
}

static void an_attached_process_is_recorded_to_its_end(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	run_shell("sleep 0.2 & exec bin/resource-tracker -q -i 50ms -o run.jsonl --pid $! > out 2> err", 0);
	assert_file_has("run.jsonl", "\"target_exited\"");
	assert_file_text("err", "");
	run_shell("(timeout -s TERM 0.3 bin/resource-tracker -q -i 50ms -o host.jsonl) > out 2> err; [ $? = "
		  "124 ]",
		  0);
	assert_file_has("host.jsonl", "\"tracker_stopped\"");
}

static void reasons_of_absent_values_are_told_if_wanted(void **state)
{
	(void)state;
	record("-q --why --no-system -o run.jsonl -- true", 0);
	assert_file_has("err", "resource-tracker: null: ");
	record("-q --no-system -o run.jsonl -- true", 0);
	assert_file_text("err", "");
}

static void a_limit_of_few_open_files_is_told(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	run_shell("ulimit -n 39; bin/resource-tracker -q -o run.jsonl -- true > out 2> err", 0);
	assert_file_has(
		"err",
		"resource-tracker: a limit of 39 open files (ulimit -n) leaves most figures unknown\n");
	run_shell("ulimit -n 40; bin/resource-tracker -q -o run.jsonl -- true > out 2> err", 0);
	assert_file_lacks("err", "open files");
}

static void a_plugin_sets_the_least_interval(void **state)
{
	(void)state;
	setenv("RESOURCE_TRACKER_LEAST_INTERVAL", "0.6", 1);
	record("-q -i 10ms -o short.jsonl -- sleep 0.3", 0);
	record("-q -i 50 -o long.jsonl -- true", 0);
	unsetenv("RESOURCE_TRACKER_LEAST_INTERVAL");
	record("-q -i 10ms -o free.jsonl -- sleep 0.3", 0);
	run_shell("[ $(wc -l < short.jsonl) -lt 8 ] && [ $(wc -l < free.jsonl) -gt $(wc -l < short.jsonl) ]",
		  0);
}

/* ---- what is made of a recording ---- */

static void the_analysis_makes_the_summary(void **state)
{
	(void)state;
	record("-q --summary -o run.jsonl -- sh -c 'exit 3'", 3);
	assert_said("summary --no-pager -- %s/run.jsonl");
	record("-q --summary=json -o run.csv -o run.jsonl -- true", 0);
	assert_said("summary --no-pager --json -- %s/run.jsonl");
	record("-q -o run.jsonl -- true", 0);
	assert_said("");
	record("-q --summary -- true", 0);
	assert_file_has("said", "summary --no-pager -- /proc/");
	assert_file_text("err", "");
}

static void the_analysis_makes_the_page_and_the_line(void **state)
{
	(void)state;
	record("-q --report page.html -o run.jsonl -- true", 0);
	assert_said("report --output=page.html -- %s/run.jsonl");
	record("-q --runs runs.jsonl -o run.jsonl -- true", 0);
	assert_said("runs --runs=runs.jsonl -- add %s/run.jsonl");
	record("-q --report page.html -- true", 0);
	assert_file_has("said", "report --output=page.html -- recording=/proc/");
	put_text("said", "");
	record("-q --runs runs.jsonl -o plain.csv -- true", 0);
	assert_file_has("said", "runs --runs=runs.jsonl -- add /proc/");
	put_text("said", "");
	/* Marks of the job are beside the file of CSV. */
	put_text("run.csv.marks", "");
	record("-q --append --runs runs.jsonl -o run.csv -- true", 0);
	assert_said("runs --runs=runs.jsonl -- add %s/run.csv");
	assert_file_text("err", "");
}

static void a_temporary_recording_is_kept_if_no_page_is_made_of_it(void **state)
{
	(void)state;
	setenv("ANALYSIS_STATUS", "1", 1);
	record("-q --report page.html -- true", 0);
	assert_file_text("err", "resource-tracker: the recording is kept in page.html.jsonl\n");
	assert_file_has("page.html.jsonl", "{\"");
	record("-q --report page.html -o run.jsonl -- true", 0);
	assert_file_text("err", "");
}

static void a_missing_analysis_is_told_if_it_was_asked_for(void **state)
{
	(void)state;
	assert_int_equal(unlink("bin/resource-tracker-analysis"), 0);
	record("-q --summary -o run.jsonl -- sh -c 'exit 3'", 3);
	assert_file_text(
		"err",
		"resource-tracker: --summary needs resource-tracker-analysis, which is not installed\n");
	record("-q --runs runs.jsonl -o run.jsonl -- true", 0);
	assert_file_text(
		"err", "resource-tracker: --runs needs resource-tracker-analysis, which is not installed\n");
	record("-q --report page.html -o run.jsonl -- true", 0);
	assert_file_text(
		"err",
		"resource-tracker: --report needs resource-tracker-analysis, which is not installed\n");
	setenv("CI", "true", 1);
	record("-- true", 0);
	assert_file_has("err", "{\"");
	unsetenv("CI");
	screen = open_terminal();
	record_on_screen("--history hist -i 10 -- true", 0);
	assert_int_equal(access("hist", F_OK), -1);
	assert_terminal_shows(&screen, "{\"");
	close_terminal(&screen);
}

static void the_log_of_a_ci_system_gets_a_summary_instead_of_samples(void **state)
{
	(void)state;
	setenv("CI", "true", 1);
	record("-- true", 0);
	assert_file_has("said", "summary --no-pager -- /proc/");
	assert_file_text("err", "");
	put_text("said", "");
	setenv("CI", "Jenkins", 1);
	record("-- true", 0);
	assert_file_has("said", "summary --no-pager -- /proc/");
	put_text("said", "");
	record("--format json -- true", 0);
	assert_file_has("err", "{\"");
	setenv("CI", "false", 1);
	record("-- true", 0);
	assert_file_has("err", "{\"");
	setenv("CI", "", 1);
	record("-- true", 0);
	assert_file_has("err", "{\"");
	unsetenv("CI");
	assert_said("");
}

/* ---- the history ---- */

static void a_job_on_a_terminal_is_kept(void **state)
{
	(void)state;
	screen = open_terminal();
	record_on_screen("--history hist -- sh -c 'exit 3'", 3);
	assert_said("--keep text %s/hist/1.jsonl");
	assert_file_has("hist/1.jsonl", "\"exit\"");
	record_on_screen("--history hist -- true", 0);
	assert_said("--keep text %s/hist/2.jsonl");
	record_on_screen("--history hist --summary=json -- true", 0);
	assert_said("--keep json %s/hist/3.jsonl");
	record_on_screen("--history hist --no-summary -- true", 0);
	assert_said("--keep none %s/hist/4.jsonl");
	record_on_screen("--history hist -q -- true", 0);
	assert_said("--keep quiet %s/hist/5.jsonl");
	record_on_screen("--history hist -q --summary -- true", 0);
	assert_said("--keep text %s/hist/6.jsonl");
	close_terminal(&screen);
}

static void other_runs_are_not_kept(void **state)
{
	(void)state;
	screen = open_terminal();
	record_on_screen("--history hist -o run.jsonl -- true", 0);
	/* It has a summary instead. */
	assert_said("summary --no-pager -- %s/run.jsonl");
	assert_terminal_shows(&screen, "\nrecorded in ");
	record_on_screen("--history hist -q --no-history -- true", 0);
	record_on_screen("--history off -q -- true", 0);
	record_on_screen("--history hist -q -f csv -- true", 0);
	record("--history hist -- true", 0);
	assert_int_equal(access("hist", F_OK), -1);
	assert_said("");
	close_terminal(&screen);
}

static void a_command_that_never_started_leaves_no_kept_run(void **state)
{
	(void)state;
	screen = open_terminal();
	record_on_screen("--history hist -- no-such-program", 127);
	assert_int_equal(access("hist", F_OK), 0);
	assert_int_equal(access("hist/1.jsonl", F_OK), -1);
	assert_said("");
	close_terminal(&screen);
}

static void a_history_that_cannot_be_used_stops_no_job(void **state)
{
	(void)state;
	screen = open_terminal();
	put_text("file", "");
	record_on_screen("--history file/hist -- sh -c 'exit 3'", 3);
	assert_terminal_shows(&screen,
			      "resource-tracker: this run is not kept: file/hist: Not a directory\n");
	close_terminal(&screen);
}

static void a_percent_sign_in_the_history_is_one(void **state)
{
	(void)state;
	screen = open_terminal();
	record_on_screen("--history h%p -- true", 0);
	assert_said("--keep text %s/h%p/1.jsonl");
	assert_file_has("h%p/1.jsonl", "\"exit\"");
	close_terminal(&screen);
}

/* ---- the step of an engine ---- */

static void a_step_runs_without_a_recorder_that_fails(void **state)
{
	(void)state;
	setenv("RESOURCE_TRACKER_ALONE", "4", 1);
	record("-o missing/run.jsonl -- /bin/sh -c 'echo ran $RESOURCE_TRACKER_ALONE; exit 5'", 5);
	assert_file_text("out", "ran\n");
	assert_file_has("err", "resource-tracker: this step is not recorded: ");
	record("-o run.jsonl -- /bin/sh -c 'exit 6'", 6);
	assert_file_text("err", "");
	record("-o missing/run.jsonl -- ./missing", 126);
	assert_file_has("err", "resource-tracker: ./missing: No such file or directory\n");
	setenv("RESOURCE_TRACKER_ALONE", "5", 1);
	record("-o missing/run.jsonl -- /bin/true", 125);
	assert_file_has("err", "resource-tracker: cannot write to 'missing/run.jsonl'");
	setenv("RESOURCE_TRACKER_ALONE", "0", 1);
	record("-o missing/run.jsonl -- /bin/true", 125);
	setenv("RESOURCE_TRACKER_ALONE", "4x", 1);
	record("-o missing/run.jsonl -- /bin/true", 125);
	unsetenv("RESOURCE_TRACKER_ALONE");
}

/* ---- a server of recorders ---- */

static pid_t start_server(int *ret_connection)
{
	int ends[2];
	char serve[40];
	pid_t pid;

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	snprintf(serve, sizeof serve, SERVE_RUNS "%d", ends[1]);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
		execl("bin/resource-tracker", "resource-tracker", serve, "--output", "", "false", NULL);
		_exit(99);
	}
	close(ends[1]);
	*ret_connection = ends[0];
	return pid;
}

static struct serve_answer next_answer(int connection)
{
	struct serve_answer answer;

	assert_int_equal(recv(connection, &answer, sizeof answer, 0), sizeof answer);
	assert_true(answer.pid > 0);
	return answer;
}

static void serve_one_run(int connection, const char *request, size_t length)
{
	struct serve_answer waits = next_answer(connection), answer;

	assert_false(waits.has_ended || waits.job_ended);
	assert_int_equal(send(connection, request, length, 0), length);
	answer = next_answer(connection);
	assert_int_equal(answer.pid, waits.pid);
	assert_false(answer.has_ended || answer.job_ended);
	answer = next_answer(connection);
	assert_int_equal(answer.pid, waits.pid);
	assert_true(answer.job_ended && !answer.has_ended);
	/* It waits for a byte before it starts programs. */
	assert_said("");
	assert_int_equal(send(connection, "", 1, 0), 1);
	answer = next_answer(connection);
	assert_int_equal(answer.pid, waits.pid);
	assert_true(answer.has_ended && !answer.job_ended);
	assert_int_equal(answer.status, 1 << 8);
}

static void a_server_has_a_recorder_for_each_run(void **state)
{
	static const char FIRST[] = "one.jsonl\0runs.jsonl", SECOND[] = "two.jsonl\0";
	int connection, status;
	pid_t pid = start_server(&connection);

	(void)state;
	serve_one_run(connection, FIRST, sizeof FIRST);
	assert_file_has("one.jsonl", "\"exit\"");
	assert_said("runs --runs=runs.jsonl -- add %s/one.jsonl");
	serve_one_run(connection, SECOND, sizeof SECOND);
	assert_file_has("two.jsonl", "\"exit\"");
	assert_said("");
	(void)next_answer(connection);
	close(connection);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Its two texts have their NULs. */
static void a_request_that_is_none_ends_the_recorder(void **state)
{
	static const char *const REQUESTS[] = {"", "x", "two.jsonl", "\0x"};
	static const size_t LENGTHS[] = {1, 1, 10, 3};

	(void)state;
	for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
		int connection, status;
		pid_t pid = start_server(&connection);
		struct serve_answer waits = next_answer(connection), answer;

		assert_int_equal(send(connection, REQUESTS[i], LENGTHS[i], 0), LENGTHS[i]);
		answer = next_answer(connection);
		if (i == 3) {
			/* The name of the output is empty, which the recorder refuses. */
			assert_false(answer.has_ended);
			answer = next_answer(connection);
			assert_int_equal(answer.status, 125 << 8);
		} else {
			assert_int_equal(answer.status, 0);
		}
		assert_int_equal(answer.pid, waits.pid);
		assert_true(answer.has_ended);
		close(connection);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
}

static void the_servers_word_is_unknown_without_a_connection(void **state)
{
	(void)state;
	record("--serve-runs=1 -o run.jsonl -q -- true", 125);
	assert_file_has("err", "unknown option '--serve-runs=1'");
	record("--serve-runs=4294967297 -o run.jsonl -q -- true", 125);
	assert_file_has("err", "unknown option '--serve-runs=4294967297'");
}

/* ---- subcommands ---- */

static void subcommands_of_the_analysis_are_its_own(void **state)
{
	(void)state;
	record("stats run.jsonl", 0);
	assert_said("stats run.jsonl");
	record("help stats", 0);
	assert_said("stats --help");
	unlink("bin/resource-tracker-analysis");
	record("stats run.jsonl", 125);
	assert_file_has(
		"err",
		"resource-tracker: 'stats' needs resource-tracker-analysis, which is not installed in ");
	assert_file_lacks("err", "to record the program");
	put_text("bin/stats", "");
	assert_int_equal(chmod("bin/stats", 0755), 0);
	run_shell("PATH=$PWD/bin:$PATH resource-tracker stats > out 2> err", 125);
	assert_file_has("err",
			"resource-tracker: to record the program 'stats': resource-tracker -- stats ...\n");
	run_shell("unset TRACKER_NET; bin/resource-tracker upload > out 2> err", 125);
	assert_file_has("err",
			"resource-tracker: 'upload' needs resource-tracker-net, which is not installed in ");
}

static void help_and_version_are_the_recorders_own(void **state)
{
	(void)state;
	record("version --json", 0);
	assert_file_has("out", "{\"version\":\"");
	record("version", 0);
	assert_file_has("out", "resource-tracker ");
	record("version now", 2);
	assert_file_has("err", "is one word too many");
	record("help", 0);
	assert_file_has("out", "Examples:");
	assert_file_lacks("out", "--no-process-network");
	assert_file_has("out", "  summary        ");
	record("help --all", 0);
	assert_file_has("out", "--no-process-network");
	assert_file_has("out", "Exit status: that of COMMAND");
	assert_file_has("out", "\n  mark NAME [start|stop]       mark a phase from inside a job\n");
	record("help help help", 2);
	record("help statz", 2);
	assert_file_text("err", "resource-tracker help: there is no subcommand 'statz'; the nearest is stats "
				"(see resource-tracker help "
				"--help)\n");
	record("help zz", 2);
	assert_file_text(
		"err",
		"resource-tracker help: there is no subcommand 'zz' (see resource-tracker help --help)\n");
	/* Behind an option it is a command. */
	record("-q version", 127);
	assert_said("");
}

static void the_machine_on_a_screen_is_shown_by_the_analysis(void **state)
{
	char line[TOLD_BYTES];

	(void)state;
	record("-q -i 50ms --duration 0.1", 0);
	screen = open_terminal();
	snprintf(line, sizeof line, "bin/resource-tracker -i 2 > %s 2> err", ptsname(screen.master));
	run_shell(line, 0);
	assert_said("live -- -i 2");
	snprintf(line, sizeof line, "bin/resource-tracker > %s 2> err", ptsname(screen.master));
	run_shell(line, 125);
	assert_said("");
	assert_file_text("err", "");
	close_terminal(&screen);
}

#define unit_test_of_program(test) cmocka_unit_test_setup_teardown(test, begin, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_program(the_recorder_ends_as_its_job),
		unit_test_of_program(a_job_goes_on_after_its_recording),
		unit_test_of_program(samples_of_a_job_go_to_stderr_or_where_the_user_says),
		unit_test_of_program(a_command_that_cannot_start_has_the_codes_of_a_shell),
		unit_test_of_program(the_job_can_mark_phases_beside_the_first_file),
		unit_test_of_program(an_attached_process_is_recorded_to_its_end),
		unit_test_of_program(reasons_of_absent_values_are_told_if_wanted),
		unit_test_of_program(a_limit_of_few_open_files_is_told),
		unit_test_of_program(a_plugin_sets_the_least_interval),
		unit_test_of_program(the_analysis_makes_the_summary),
		unit_test_of_program(the_analysis_makes_the_page_and_the_line),
		unit_test_of_program(a_temporary_recording_is_kept_if_no_page_is_made_of_it),
		unit_test_of_program(a_missing_analysis_is_told_if_it_was_asked_for),
		unit_test_of_program(the_log_of_a_ci_system_gets_a_summary_instead_of_samples),
		unit_test_of_program(a_job_on_a_terminal_is_kept),
		unit_test_of_program(other_runs_are_not_kept),
		unit_test_of_program(a_command_that_never_started_leaves_no_kept_run),
		unit_test_of_program(a_history_that_cannot_be_used_stops_no_job),
		unit_test_of_program(a_percent_sign_in_the_history_is_one),
		unit_test_of_program(a_step_runs_without_a_recorder_that_fails),
		unit_test_of_program(a_server_has_a_recorder_for_each_run),
		unit_test_of_program(a_request_that_is_none_ends_the_recorder),
		unit_test_of_program(the_servers_word_is_unknown_without_a_connection),
		unit_test_of_program(subcommands_of_the_analysis_are_its_own),
		unit_test_of_program(help_and_version_are_the_recorders_own),
		unit_test_of_program(the_machine_on_a_screen_is_shown_by_the_analysis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
