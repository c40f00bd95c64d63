/* Tests of the rest of src/cli: the program itself, which records, attaches, serves and has subcommands. */
#include "recorder_program.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/told_end.h"
#include "launch/run_server.h"

/* ---- a job ---- */

static void the_recorder_ends_as_its_job(void **state)
{
	(void)state;
	record("-q -o run.jsonl -- sh -c 'exit 3'", 3);
	assert_file_has("run.jsonl", "\"exit\"");
	/* The job itself is tracked. */
	assert_file_lacks("run.jsonl", "\"tree_utime_secs\":null");
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
	run_shell("sleep 60 & bin/resource-tracker -q -i 50ms --duration 0.1 -o part.jsonl --pid $! 2> err; "
		  "status=$?; kill $!; exit $status",
		  0);
	assert_file_has("part.jsonl", "\"run_end\":{\"reason\":\"duration\"");
	run_shell("bin/resource-tracker -q -i 50ms -o host.jsonl 2> err & until [ -s host.jsonl ]; do sleep "
		  "0.01; "
		  "done; kill -TERM $!; wait $!",
		  0);
	assert_file_has("host.jsonl", "\"tracker_stopped\",\"evidence\":\"the tracker got SIGTERM\"");
}

/* Attaches a recorder to a process, and tells it an end of that. */
static void tell_end(struct told_end told)
{
	pid_t attached = fork(), recorder;
	int ends[2], status;
	char number[20], pid[20], byte;

	if (attached == 0)
		for (;;)
			pause();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	snprintf(number, sizeof number, "%d", ends[1]);
	snprintf(pid, sizeof pid, "%d", (int)attached);
	recorder = fork();
	if (recorder == 0) {
		close(ends[0]);
		setenv("RESOURCE_TRACKER_STATUS_FD", number, 1);
		execl("bin/resource-tracker", "resource-tracker", "-q", "-i", "30", "-o", "run.jsonl",
		      "--pid", pid, NULL);
		_exit(99);
	}
	close(ends[1]);
	assert_int_equal(recv(ends[0], &byte, 1, 0), 1);
	kill(attached, SIGKILL);
	assert_int_equal(waitpid(attached, NULL, 0), attached);
	assert_int_equal(send(ends[0], &told, sizeof told, 0), sizeof told);
	close(ends[0]);
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
}

static void the_parent_of_an_attached_process_tells_its_end(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	tell_end((struct told_end){.status = 7 << 8, .utime_usec = 1250000, .stime_usec = 125000});
	assert_file_has("run.jsonl", "\"run_end\":{\"reason\":\"exit\"");
	assert_file_has("run.jsonl", "\"exit_code\":7,");
	assert_file_has("run.jsonl", "\"utime_secs\":1.25,\"stime_secs\":0.125,");
	tell_end((struct told_end){.status = SIGKILL});
	assert_file_has("run.jsonl", "\"run_end\":{\"reason\":\"signal\"");
	/* One that is impossible. */
	tell_end((struct told_end){.utime_usec = -1});
	assert_file_has("run.jsonl", "\"run_end\":{\"reason\":\"target_exited\"");
}

static void a_control_group_that_is_required_and_cannot_be_made_refuses_the_job(void **state)
{
	(void)state;
	mkdir("root", 0700);
	record("-q --root root --cgroup=require -o run.jsonl -- touch ran", 125);
	assert_file_text("err",
			 "resource-tracker: --cgroup=require: no control group can be made for the job: "
			 "Operation not supported\n");
	assert_file_has("run.jsonl",
			"\"exec_failed\",\"evidence\":\"execve: Resource temporarily unavailable\"");
	assert_int_equal(access("ran", F_OK), -1);
	screen = open_terminal();
	record_on_screen("--history hist --root root --cgroup=require -- touch ran", 125);
	close_terminal(&screen);
	assert_int_equal(access("hist", F_OK), 0);
	assert_int_equal(access("hist/1.jsonl", F_OK), -1);
	record("-q --root root -o auto.jsonl -- touch ran", 0);
	assert_int_equal(access("ran", F_OK), 0);
	assert_file_text("err", "");
}

/* Such a user cannot start processes. */
static void become_user_of_one_process(void)
{
	const struct rlimit none = {0, 0};

	if (!geteuid() && (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
			   setresuid(65534, 65534, 65534) < 0))
		_exit(98);
	setrlimit(RLIMIT_NPROC, &none);
}

static void open_folder_to_all(void)
{
	assert_int_equal(chmod(".", 0777), 0);
	assert_int_equal(chmod("bin", 0755), 0);
}

static void a_job_runs_alone_if_no_process_can_be_started(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	open_folder_to_all();
	pid = fork();
	if (pid == 0) {
		dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDOUT_FILENO);
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDERR_FILENO);
		become_user_of_one_process();
		execl("bin/resource-tracker", "resource-tracker", "-q", "--no-warnings", "-o", "run.jsonl",
		      "--", "/bin/sh", "-c", "echo ran; exit 4", NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 4 << 8);
	assert_file_text("out", "ran\n");
	assert_file_text("err",
			 "resource-tracker: this job is not recorded: Resource temporarily unavailable\n");
	assert_file_has("run.jsonl", "\"run_end\":{\"reason\":\"tracker_stopped\"");
}

/* ---- warnings ---- */

static void samples_that_are_lost_are_told_unless_no_warnings_are_wanted(void **state)
{
	(void)state;
	record("-q -o /dev/full -- true", 0);
	assert_file_has("err", "resource-tracker: cannot write to /dev/full: No space left on device");
	record("-q --no-warnings -o /dev/full -- true", 0);
	assert_file_text("err", "");
	/* A step hears of them, and of nothing else. */
	setenv("RESOURCE_TRACKER_ALONE", "6", 1);
	record("-q --no-warnings -o /dev/full -- /bin/true", 0);
	assert_file_has("err", "resource-tracker: cannot write to /dev/full: ");
	setenv("TRACKER_NET", "missing", 1);
	record("-q --no-warnings --stream=otlp --spool=spool -o run.jsonl -- /bin/true", 0);
	assert_file_text("err", "");
	unsetenv("RESOURCE_TRACKER_ALONE");
	record("-q --stream=otlp --spool=spool -o run.jsonl -- /bin/true", 0);
	assert_file_has("err", "resource-tracker-net");
	unsetenv("TRACKER_NET");
}

static void a_recording_without_a_name_is_told_by_its_use(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	run_shell("ulimit -f 1; bin/resource-tracker -q --runs runs.jsonl -- true > out 2> err", 0);
	assert_file_has("err", "resource-tracker: cannot write to the temporary recording: File too large");
	screen = open_terminal();
	snprintf(text, sizeof text, "ulimit -f 1; bin/resource-tracker --history hist -- true 2> %s",
		 ptsname(screen.master));
	run_shell(text, 0);
	snprintf(text, sizeof text, "resource-tracker: cannot write to %s/hist/1.jsonl: File too large",
		 scratch_folder);
	assert_terminal_shows(&screen, text);
	close_terminal(&screen);
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

static void assert_interval(const char *least, const char *words, const char *interval)
{
	char line[TOLD_BYTES];

	if (least)
		setenv("RESOURCE_TRACKER_LEAST_INTERVAL", least, 1);
	snprintf(line, sizeof line, "-q %s -o run.jsonl -- true", words);
	record(line, 0);
	unsetenv("RESOURCE_TRACKER_LEAST_INTERVAL");
	snprintf(line, sizeof line, "\"interval_secs\":%s,", interval);
	assert_file_has("run.jsonl", line);
}

static void a_plugin_sets_the_least_interval(void **state)
{
	(void)state;
	assert_interval("600ms", "-i 10ms", "0.6");
	assert_interval("600ms", "-i 50", "50.0");
	assert_interval("600ms", "", "1.0");
	assert_interval("never", "-i 10ms", "0.01");
	assert_interval(NULL, "-i 10ms", "0.01");
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

/* `command` NULL: none. `prepare` may be NULL. */
static pid_t start_server_of(int type, const char *command, void (*prepare)(void), int *ret_connection)
{
	int ends[2];
	char serve[40];
	pid_t pid;

	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	assert_int_equal(socketpair(AF_UNIX, type, 0, ends), 0);
	snprintf(serve, sizeof serve, SERVE_RUNS "%d", ends[1]);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
		if (prepare)
			prepare();
		execl("bin/resource-tracker", "resource-tracker", serve, "--output", "", command, NULL);
		_exit(99);
	}
	close(ends[1]);
	*ret_connection = ends[0];
	return pid;
}

static pid_t start_server(int *ret_connection)
{
	return start_server_of(SOCK_SEQPACKET, "false", NULL, ret_connection);
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
	/* A signal before the request is not for this run. */
	assert_int_equal(kill(waits.pid, SIGTERM), 0);
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

static void a_server_that_cannot_fork_tells_the_reason(void **state)
{
	struct serve_answer answer;
	int connection, status;
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	open_folder_to_all();
	pid = start_server_of(SOCK_SEQPACKET, "false", become_user_of_one_process, &connection);
	assert_int_equal(recv(connection, &answer, sizeof answer, 0), sizeof answer);
	assert_int_equal(answer.pid, -EAGAIN);
	assert_true(answer.has_ended);
	assert_int_equal(recv(connection, &answer, sizeof answer, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(connection);
}

static void assert_unserved(int type, const char *command)
{
	int connection, status;
	pid_t pid = start_server_of(type, command, NULL, &connection);

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 125 << 8);
	assert_file_has("err", "unknown option '--serve-runs=");
	close(connection);
}

static void the_servers_word_is_unknown_without_a_connection(void **state)
{
	(void)state;
	record("--serve-runs=1 -o run.jsonl -q -- true", 125);
	assert_file_has("err", "unknown option '--serve-runs=1'");
	record("--serve-runs=4294967297 -o run.jsonl -q -- true", 125);
	assert_file_has("err", "unknown option '--serve-runs=4294967297'");
	assert_unserved(SOCK_STREAM, "false");
	assert_unserved(SOCK_SEQPACKET, NULL);
}

/* ---- subcommands ---- */

static void subcommands_of_the_analysis_are_its_own(void **state)
{
	(void)state;
	record("stats run.jsonl", 0);
	assert_said("stats run.jsonl");
	record("help stats", 0);
	assert_said("stats --help");
	unlink(ANALYSIS);
	record("stats run.jsonl", 125);
	assert_file_has(
		"err",
		"resource-tracker: 'stats' needs resource-tracker-analysis, which is not installed in ");
	assert_file_lacks("err", "to record the program");
	put_program("bin/stats", "");
	run_shell("PATH=$PWD/bin:$PATH resource-tracker stats > out 2> err", 125);
	assert_file_has("err",
			"resource-tracker: to record the program 'stats': resource-tracker -- stats ...\n");
	run_shell("unset TRACKER_NET; bin/resource-tracker upload > out 2> err", 125);
	assert_file_has("err",
			"resource-tracker: 'upload' needs resource-tracker-net, which is not installed in ");
}

static void an_analysis_that_cannot_be_executed_is_told(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	put_program(ANALYSIS, "text");
	record("stats run.jsonl", 125);
	snprintf(text, sizeof text, "resource-tracker: %s/" ANALYSIS ": Exec format error\n", scratch_folder);
	assert_file_text("err", text);
}

static void metrics_on_a_screen_are_shown_by_the_analysis(void **state)
{
	static const char TABLE[] = "NAME                 UNIT";
	char line[TOLD_BYTES];

	(void)state;
	put_program(ANALYSIS, SAYS_ITS_WORDS "cat > json\n");
	record("metrics --color=always --no-pager process_rss_mib", 0);
	assert_said("--metric-pages always no-pager");
	assert_file_text("out", "");
	assert_file_has("json", "[\n{\"name\":\"cpu.process_rss_mib\",");
	screen = open_terminal();
	/* Also where the list is the first descriptor. */
	snprintf(line, sizeof line, "rm json; exec <&-; bin/resource-tracker metrics process_rss_mib > %s",
		 ptsname(screen.master));
	run_shell(line, 0);
	assert_said("--metric-pages auto pager");
	assert_file_has("json", "[\n{\"name\":\"cpu.process_rss_mib\",");
	record("metrics --color=auto process_rss_mib", 0);
	assert_file_has("out", TABLE);
	assert_said("");
	assert_int_equal(unlink(ANALYSIS), 0);
	run_shell(line, 0);
	assert_terminal_shows(&screen, TABLE);
	close_terminal(&screen);
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
	assert_file_has("out", "\n\nOutputs:\n");
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
	assert_terminal_shows(&screen, "resource-tracker records the resources that a job uses.\n");
	close_terminal(&screen);
	/* Without it, samples are printed. */
	assert_int_equal(unlink(ANALYSIS), 0);
	screen = open_terminal();
	snprintf(line, sizeof line, "bin/resource-tracker -i 50ms --duration 0.1 > %s 2> err",
		 ptsname(screen.master));
	run_shell(line, 0);
	assert_terminal_shows(&screen, "{\"");
	close_terminal(&screen);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_program(the_recorder_ends_as_its_job),
		unit_test_of_program(a_job_goes_on_after_its_recording),
		unit_test_of_program(samples_of_a_job_go_to_stderr_or_where_the_user_says),
		unit_test_of_program(a_command_that_cannot_start_has_the_codes_of_a_shell),
		unit_test_of_program(the_job_can_mark_phases_beside_the_first_file),
		unit_test_of_program(an_attached_process_is_recorded_to_its_end),
		unit_test_of_program(the_parent_of_an_attached_process_tells_its_end),
		unit_test_of_program(a_control_group_that_is_required_and_cannot_be_made_refuses_the_job),
		unit_test_of_program(a_job_runs_alone_if_no_process_can_be_started),
		unit_test_of_program(samples_that_are_lost_are_told_unless_no_warnings_are_wanted),
		unit_test_of_program(a_recording_without_a_name_is_told_by_its_use),
		unit_test_of_program(reasons_of_absent_values_are_told_if_wanted),
		unit_test_of_program(a_limit_of_few_open_files_is_told),
		unit_test_of_program(a_plugin_sets_the_least_interval),
		unit_test_of_program(a_step_runs_without_a_recorder_that_fails),
		unit_test_of_program(a_server_has_a_recorder_for_each_run),
		unit_test_of_program(a_request_that_is_none_ends_the_recorder),
		unit_test_of_program(a_server_that_cannot_fork_tells_the_reason),
		unit_test_of_program(the_servers_word_is_unknown_without_a_connection),
		unit_test_of_program(subcommands_of_the_analysis_are_its_own),
		unit_test_of_program(an_analysis_that_cannot_be_executed_is_told),
		unit_test_of_program(metrics_on_a_screen_are_shown_by_the_analysis),
		unit_test_of_program(help_and_version_are_the_recorders_own),
		unit_test_of_program(the_machine_on_a_screen_is_shown_by_the_analysis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
