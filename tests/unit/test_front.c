/* Tests of src/cli/front.c: a run by its command line, environment and files. */
#include "captured.h"
#include "command_words.h"
#include "small_disk.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/wait.h>

#include "cli/front.h"

static const char *const VARIABLES[] = {"CI",
					"TRACKER_CONFIG",
					"TRACKER_FORMAT",
					"TRACKER_INTERVAL",
					"TRACKER_NO_SUMMARY",
					"TRACKER_OUTPUT",
					"TRACKER_PID",
					"TRACKER_QUIET",
					"TRACKER_REPORT",
					"TRACKER_ROOT",
					"TRACKER_RUNS",
					"TRACKER_SITE_CONFIG",
					"TRACKER_SUMMARY",
					"TMPDIR"};

static struct front front;

static int begin(void **state)
{
	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
		unsetenv(VARIABLES[i]);
	setenv("TRACKER_SITE_CONFIG", "", 1);
	front = (struct front){0};
	return capture_streams(state);
}

static void forget(void)
{
	front_done(&front);
	front = (struct front){0};
}

static int end(void **state)
{
	forget();
	return free_streams(state);
}

static int start(const char *words)
{
	char line[400];

	forget();
	snprintf(line, sizeof line, "resource-tracker %s", words);
	return front_read(words_of(line), &front);
}

static void assert_refused(const char *line, const char *reason)
{
	char text[600];

	snprintf(text, sizeof text, "resource-tracker: %s\n", reason);
	assert_int_equal(start(line), 125);
	assert_printed("err", text);
	assert_printed("out", "");
}

/* ---- the mode ---- */

static void a_command_is_wrapped_a_process_attached_to_or_the_machine_recorded(void **state)
{
	(void)state;
	assert_int_equal(start("-o run.jsonl -- make -j2"), -1);
	assert_int_equal(front.mode, MODE_WRAP);
	assert_string_equal(front.command[0], "make");
	assert_int_equal(front.pid, 0);
	assert_true(front.named_outputs && front.live);
	assert_false(front.keep_running || front.requires_cgroup || front.quiet || front.why || front.keeps);
	assert_null(front.page);
	assert_null(front.runs);
	assert_int_equal(front.summary, SUMMARY_NONE);
	assert_int_equal(start("-o run.jsonl --pid 4711 --keep-running"), -1);
	assert_int_equal(front.mode, MODE_ATTACH);
	assert_int_equal(front.pid, 4711);
	assert_true(front.keep_running);
	assert_int_equal(start("-o run.jsonl"), -1);
	assert_int_equal(front.mode, MODE_HOST);
	assert_null(front.command);
	assert_printed("err", "");
}

static void flags_are_set(void **state)
{
	(void)state;
	assert_int_equal(
		start("-q --wait-descendants --why --no-warnings --no-history --cgroup require -- true"), -1);
	assert_true(front.quiet && front.wait_descendants && front.why && front.no_warnings &&
		    front.no_history);
	assert_true(front.requires_cgroup);
	assert_int_equal(start("--quiet=no --cgroup auto --root / -- true"), -1);
	assert_false(front.quiet || front.requires_cgroup);
	assert_true(front.live);
	assert_int_equal(start("-q --root . -- true"), -1);
	assert_false(front.live);
}

static void a_command_line_that_means_nothing_is_refused(void **state)
{
	(void)state;
	assert_refused("--", "there is no command after '--'");
	assert_refused("--pid 1 -- true", "--pid and a command exclude each other: give one of them");
	assert_refused("--verbose", "--verbose belongs to --version");
	assert_refused("--help=some", "--help: 'some' is unknown; give --help or --help=all");
	assert_int_equal(start("-q -- ''"), 127);
	assert_printed("err", "resource-tracker: the command is empty\n");
	assert_int_equal(start("--interval"), 125);
	assert_printed_has("err", "see resource-tracker --help");
}

static void help_and_version_are_printed(void **state)
{
	(void)state;
	assert_int_equal(start("--help"), 0);
	assert_printed_lacks("out", "--no-process-network");
	assert_int_equal(start("--help"), 0);
	assert_printed_has("out", "--output");
	assert_int_equal(start("--help=all"), 0);
	assert_printed_has("out", "--no-process-network");
	assert_int_equal(start("--version"), 0);
	assert_printed_lacks("out", "libc");
	assert_int_equal(start("--version"), 0);
	assert_printed_has("out", "resource-tracker ");
	assert_int_equal(start("--version --verbose"), 0);
	assert_printed_has("out", "libc");
	assert_printed("err", "");
}

/* ---- settings ---- */

static void a_mistake_in_an_option_or_a_variable_is_an_error(void **state)
{
	(void)state;
	assert_refused("--quiet=maybe -- true", "--quiet: 'maybe' is neither yes nor no; give 1 or 0");
	assert_refused("--summary=all -- true", "--summary: 'all' is unknown; give one of text, json");
	assert_refused("--no-summary=all -- true", "--no-summary: 'all' is neither yes nor no; give 1 or 0");
	setenv("TRACKER_QUIET", "0123456789012345678901234567890123456789012345678901234567890", 1);
	assert_refused(
		"-- true",
		"TRACKER_QUIET: '012345678901234567890123456789012345678901234567890123456789...' is neither "
		"yes nor no; give 1 or 0");
	setenv("TRACKER_QUIET", "012345678901234567890123456789012345678901234567890123456789", 1);
	assert_refused(
		"-- true",
		"TRACKER_QUIET: '012345678901234567890123456789012345678901234567890123456789' is neither "
		"yes nor no; give 1 or 0");
	unsetenv("TRACKER_QUIET");
	/* The library's messages begin with the name of the setting. */
	assert_int_equal(start("-i never"), 125);
	assert_printed_has("err", "resource-tracker: --interval: 'never' ");
	setenv("TRACKER_INTERVAL", "never", 1);
	assert_int_equal(start("-- true"), 125);
	assert_printed_has("err", "resource-tracker: TRACKER_INTERVAL: 'never' ");
}

#ifdef HAVE_TOML
static void a_mistake_in_a_file_is_a_warning(void **state)
{
	(void)state;
	put_text("resource-tracker.toml", "[tracker]\nquiet = \"maybe\"\n");
	assert_int_equal(start("-o run.jsonl -- true"), -1);
	assert_printed("err", "resource-tracker: resource-tracker.toml:2: tracker.quiet: 'maybe' is neither "
			      "yes nor no; give 1 or 0; "
			      "ignored\n");
	assert_int_equal(start("--no-warnings -o run.jsonl -- true"), -1);
	assert_printed("err", "");
	/* A stronger origin has it right. */
	assert_int_equal(start("-q -- true"), -1);
	assert_printed("err", "");
	put_text("site.toml", "[tracker]\nquiet = \"perhaps\"\n");
	setenv("TRACKER_SITE_CONFIG", "site.toml", 1);
	unlink("resource-tracker.toml");
	assert_int_equal(start("-o run.jsonl -- true"), -1);
	assert_printed("err", "resource-tracker: site.toml:2: tracker.quiet: 'perhaps' is neither yes nor "
			      "no; give 1 or 0; ignored\n");
}

static void files_are_weaker_than_variables_and_options(void **state)
{
	(void)state;
	put_text("resource-tracker.toml", "[tracker]\nquiet = true\nwhy = true\nno_history = true\n");
	put_text("other.toml", "[tracker]\nquiet = false\n");
	put_text("site.toml", "[tracker]\nquiet = false\nwait_descendants = true\n");
	setenv("TRACKER_SITE_CONFIG", "site.toml", 1);
	setenv("TRACKER_WHY", "0", 1);
	assert_int_equal(start("--no-history=0 -- true"), -1);
	unsetenv("TRACKER_WHY");
	assert_true(front.quiet && front.wait_descendants);
	assert_false(front.why || front.no_history);
	assert_int_equal(start("-o run.jsonl -c other.toml -- true"), -1);
	assert_false(front.quiet);
	assert_printed("err", "");
}

static void a_process_that_a_file_names_is_for_runs_without_a_command(void **state)
{
	(void)state;
	put_text("resource-tracker.toml", "[job]\npid = 4711\n");
	assert_int_equal(start("-q"), -1);
	assert_int_equal(front.pid, 4711);
	assert_int_equal(start("-q -- true"), -1);
	assert_int_equal(front.pid, 0);
	assert_int_equal(front.mode, MODE_WRAP);
	assert_printed("err", "");
}

static void a_process_that_is_none_leaves_the_machine(void **state)
{
	static const char *const NONE[] = {"4711x", "4294972007", "18446744073709556327"};
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
		snprintf(text, sizeof text, "[job]\npid = \"%s\"\n", NONE[i]);
		put_text("resource-tracker.toml", text);
		assert_int_equal(start("-q"), -1);
		assert_int_equal(front.mode, MODE_HOST);
		assert_printed_has("err", "resource-tracker: resource-tracker.toml:2: job.pid: ");
	}
}
#endif

static void a_process_of_the_environment_is_for_runs_without_a_command(void **state)
{
	(void)state;
	setenv("TRACKER_PID", "4711", 1);
	assert_int_equal(start("-q"), -1);
	assert_int_equal(front.pid, 4711);
	assert_int_equal(front.mode, MODE_ATTACH);
	assert_int_equal(start("-q -- true"), -1);
	assert_int_equal(front.mode, MODE_WRAP);
	/* It is not even looked at. */
	setenv("TRACKER_PID", "none", 1);
	assert_int_equal(start("-q -- true"), -1);
	assert_printed("err", "");
	assert_int_equal(start("-q"), 125);
	assert_printed_has("err", "resource-tracker: TRACKER_PID: ");
}

static void the_file_of_a_site_is_told_if_it_was_named_and_is_absent(void **state)
{
	(void)state;
	setenv("TRACKER_SITE_CONFIG", "missing.toml", 1);
	assert_int_equal(start("-q -- true"), -1);
	assert_printed("err",
		       "resource-tracker: missing.toml: No such file or directory; going on without it\n");
	unsetenv("TRACKER_SITE_CONFIG");
	if (access("/etc/resource-tracker/config.toml", F_OK) == 0)
		SKIP("this machine has settings of its own");
	assert_int_equal(start("-q -- true"), -1);
	assert_printed("err", "");
}

#ifdef HAVE_TOML
/* In a child of the test, where /etc is empty. Returns an exit status. */
static int read_file_of_the_site(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/etc", "tmpfs", 0, NULL) < 0 || mkdir("/etc/resource-tracker", 0755) < 0)
		return 77;
	unsetenv("TRACKER_SITE_CONFIG");
	if (start("-- true") != -1 || front.quiet)
		return 1;
	put_text("/etc/resource-tracker/config.toml", "[tracker]\nquiet = true\n");
	return start("-- true") == -1 && front.quiet ? 0 : 2;
}

static void a_site_has_a_file_of_its_own(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	pid = fork();
	if (pid == 0)
		_exit(read_file_of_the_site());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		SKIP("no file system can be mounted");
	assert_int_equal(status, 0);
	assert_printed("err", "");
}
#endif

static void options_that_change_nothing_are_told(void **state)
{
	(void)state;
	assert_int_equal(start("-q --keep-running -- true"), -1);
	assert_printed("err", "resource-tracker: --keep-running has no effect while wrapping a command\n");
	assert_int_equal(start("-q --pid 1 --wait-descendants"), -1);
	assert_printed("err", "resource-tracker: --wait-descendants has no effect with --pid\n");
	assert_int_equal(start("-q --wait-descendants"), -1);
	assert_printed("err",
		       "resource-tracker: --wait-descendants has no effect without a command or --pid\n");
	assert_int_equal(start("-q --wait-descendants --no-warnings"), -1);
	setenv("TRACKER_KEEP_RUNNING", "1", 1);
	assert_int_equal(start("-q -- true"), -1);
	unsetenv("TRACKER_KEEP_RUNNING");
	assert_printed("err", "");
}

static void a_command_in_the_place_of_a_file_is_told(void **state)
{
	(void)state;
	assert_int_equal(start("-o true"), -1);
	assert_printed("err", "resource-tracker: -o takes 'true' as its file, and the machine is recorded "
			      "(to run it: -o FILE true)\n");
	assert_int_equal(start("-o ./true"), -1);
	assert_int_equal(start("-o true.csv"), -1);
	assert_int_equal(start("-o no-program-of-this-name"), -1);
	assert_int_equal(start("-o true -- true"), -1);
	assert_printed("err", "");
}

/* ---- the summary ---- */

static void the_last_word_about_the_summary_counts(void **state)
{
	static const struct {
		const char *line;
		enum summary summary;
	} CASES[] = {
		{"-o r.jsonl --summary -- true", SUMMARY_TEXT},
		{"-o r.jsonl --summary=text -- true", SUMMARY_TEXT},
		{"-o r.jsonl --summary=json -- true", SUMMARY_JSON},
		{"-o r.jsonl --summary=no -- true", SUMMARY_NONE},
		{"-o r.jsonl --summary=yes -- true", SUMMARY_TEXT},
		{"-o r.jsonl --no-summary -- true", SUMMARY_NONE},
		{"-o r.jsonl --no-summary --summary -- true", SUMMARY_TEXT},
		{"-o r.jsonl --summary --no-summary -- true", SUMMARY_NONE},
		{"-o r.jsonl --summary=json --no-summary=no -- true", SUMMARY_JSON},
		{"-o r.jsonl -- true", SUMMARY_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_int_equal(start(CASES[i].line), -1);
		assert_int_equal(front.summary, CASES[i].summary);
		assert_int_equal(front.temporary_fd, 0);
	}
	/* The command line is stronger, whatever comes first. */
	setenv("TRACKER_SUMMARY", "json", 1);
	assert_int_equal(start("-o r.jsonl -- true"), -1);
	assert_int_equal(front.summary, SUMMARY_JSON);
	assert_int_equal(start("-o r.jsonl --no-summary -- true"), -1);
	assert_int_equal(front.summary, SUMMARY_NONE);
	setenv("TRACKER_NO_SUMMARY", "1", 1);
	unsetenv("TRACKER_SUMMARY");
	assert_int_equal(start("-o r.jsonl --summary -- true"), -1);
	assert_int_equal(front.summary, SUMMARY_TEXT);
}

static void a_terminal_gets_the_summary_of_a_named_output(void **state)
{
	struct terminal terminal = open_terminal();
	enum summary named, quiet, unwanted;
	int kept = dup(STDERR_FILENO);

	(void)state;
	dup2(terminal.slave, STDERR_FILENO);
	start("-o r.jsonl -- true");
	named = front.summary;
	start("-q -o r.jsonl -- true");
	quiet = front.summary;
	start("--no-history --format csv -- true");
	unwanted = front.summary;
	dup2(kept, STDERR_FILENO);
	close(kept);
	close_terminal(&terminal);
	assert_int_equal(named, SUMMARY_TEXT);
	assert_int_equal(quiet, SUMMARY_NONE);
	assert_int_equal(unwanted, SUMMARY_NONE);
}

/* ---- the recording that a summary or a page needs ---- */

static void assert_temporary(const char *line, bool is_there)
{
	struct stat status;

	assert_int_equal(start(line), -1);
	assert_printed("err", "");
	assert_int_equal(front.temporary_fd > STDERR_FILENO, is_there);
	if (!is_there)
		return;
	assert_int_equal(fstat(front.temporary_fd, &status), 0);
	assert_int_equal(status.st_nlink, 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	assert_true(fcntl(front.temporary_fd, F_GETFL) & O_APPEND);
	assert_int_equal(fcntl(front.temporary_fd, F_GETFD), FD_CLOEXEC);
}

static void a_temporary_recording_stands_in_for_a_file_of_json(void **state)
{
	(void)state;
	mkfifo("fifo", 0600);
	assert_temporary("-q --summary -- true", true);
	assert_temporary("-q --report page.html -- true", true);
	assert_string_equal(front.page, "page.html");
	assert_temporary("-q --runs runs.jsonl -- true", true);
	assert_string_equal(front.runs, "runs.jsonl");
	assert_temporary("--summary -o run.csv -- true", true);
	assert_temporary("--summary -o - -- true", true);
	assert_temporary("--summary -o /dev/null -- true", true);
	assert_temporary("--summary -o /dev/missing -- true", true);
	assert_temporary("--summary -o fifo -- true", true);
	assert_temporary("--summary -o run.csv -o run.jsonl -- true", false);
	assert_temporary("--summary -o run.jsonl -- true", false);
	assert_temporary("-q -- true", false);
	assert_temporary("-o run.csv -- true", false);
	/* The weaker output does not count. */
	setenv("TRACKER_OUTPUT", "run.jsonl", 1);
	assert_temporary("-q --summary -- true", false);
	assert_temporary("--summary -o run.csv -- true", true);
	unsetenv("TRACKER_OUTPUT");
	setenv("TRACKER_REPORT", "", 1);
	setenv("TRACKER_RUNS", "", 1);
	assert_temporary("-q -- true", false);
}

static void the_temporary_recording_is_beside_a_file_or_in_tmpdir(void **state)
{
	(void)state;
	mkdir("folder", 0700);
	setenv("TMPDIR", "missing", 1);
	assert_temporary("--summary -o run.csv -- true", true);
	assert_temporary("--summary -o folder/run.csv -- true", true);
	assert_int_equal(start("-q --summary --runs runs.jsonl --report page.html -- true"), -1);
	assert_printed(
		"err",
		"resource-tracker: no summary, report or line of this run: the temporary recording cannot be "
		"created: No such file or directory; name a file with -o\n");
	assert_int_equal(front.temporary_fd, 0);
	assert_int_equal(front.summary, SUMMARY_NONE);
	assert_null(front.runs);
	assert_null(front.page);
	setenv("TMPDIR", "", 1);
	assert_temporary("-q --summary -- true", true);
	setenv("TMPDIR", "folder", 1);
	assert_temporary("-q --summary -- true", true);
	unsetenv("TMPDIR");
}

static bool is_in_memory(void)
{
	char link[40], target[100] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", front.temporary_fd);
	return readlink(link, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:", 7) == 0;
}

static void a_temporary_recording_without_room_is_in_memory(void **state)
{
	(void)state;
	require_small_disk();
	setenv("TMPDIR", "disk", 1);
	assert_temporary("-q --summary -- true", true);
	assert_false(is_in_memory());
	forget();
	fill_small_disk("disk/filler", 0);
	assert_int_equal(start("-q --summary -- true"), -1);
	assert_true(is_in_memory());
	assert_true(front.temporary_fd > STDERR_FILENO);
	assert_true(fcntl(front.temporary_fd, F_GETFL) & O_APPEND);
	assert_int_equal(fcntl(front.temporary_fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(start("--summary -o disk/run.csv -- true"), -1);
	assert_true(is_in_memory());
	/* It has room, but for no more files. */
	forget();
	assert_int_equal(truncate("disk/filler", 0), 0);
	assert_int_equal(mount("none", "disk", "tmpfs", MS_REMOUNT, "nr_inodes=2"), 0);
	assert_int_equal(start("-q --summary -- true"), -1);
	assert_true(is_in_memory());
	/* There is room beside this file. */
	assert_int_equal(start("--summary -o run.csv -- true"), -1);
	assert_false(is_in_memory());
	assert_printed("err", "");
	forget();
	unsetenv("TMPDIR");
}

static void a_folder_with_too_long_a_name_has_no_temporary_recording(void **state)
{
	char folder[PATH_MAX + 10];

	(void)state;
	memset(folder, 'x', sizeof folder - 1);
	folder[sizeof folder - 1] = '\0';
	setenv("TMPDIR", folder, 1);
	assert_int_equal(start("-q --summary -- true"), -1);
	assert_int_equal(front.temporary_fd, 0);
	assert_int_equal(front.summary, SUMMARY_NONE);
	assert_printed_has("err", "the temporary recording cannot be created: ");
	unsetenv("TMPDIR");
}

/* Its number would be that of a stream of the job. */
static void closed_standard_streams_stay_free(void **state)
{
	int kept = dup(STDIN_FILENO), none, both;

	(void)state;
	close(STDERR_FILENO);
	start("-q --summary -- true");
	none = front.temporary_fd;
	close(STDIN_FILENO);
	start("-q --summary -- true");
	both = front.temporary_fd;
	dup2(kept_streams[1], STDERR_FILENO);
	dup2(kept, STDIN_FILENO);
	close(kept);
	assert_true(none > STDERR_FILENO);
	assert_true(both > STDERR_FILENO);
}

static void wrong_places_of_the_page_and_the_line_are_refused(void **state)
{
	(void)state;
	put_text("notes", "text");
	assert_refused("-q --report notes -- true", "--report: 'notes' has content that is not an HTML page, "
						    "so it is not overwritten; choose another name");
	assert_refused(
		"-q --runs missing/runs -- true",
		"--runs: 'missing/runs' cannot be written: its folder does not exist; create it first");
	/* That of the environment is the fleet's. */
	setenv("TRACKER_RUNS", "missing/runs", 1);
	assert_int_equal(start("-q -- true"), -1);
	assert_printed("err", "");
	assert_string_equal(front.runs, "missing/runs");
}

/* ---- a start that failed ---- */

static void fail_to_open(const char *output)
{
	rt_tracker *tracker;

	assert_int_equal(rt_open(front.config, &tracker), -ENOENT);
	assert_string_equal(rt_config_failed_output(front.config), output);
}

static void outputs_that_were_inherited_are_forgotten_if_they_are_held(void **state)
{
	(void)state;
	setenv("TRACKER_OUTPUT", "missing/a.jsonl\nkept.jsonl", 1);
	assert_int_equal(start("-i 2 -- true"), -1);
	assert_true(front.named_outputs);
	/* Nothing has failed yet. */
	assert_false(front_forget(&front, -EBUSY));
	fail_to_open("missing/a.jsonl");
	assert_false(front_forget(&front, -ENOENT));
	assert_true(front_forget(&front, -EBUSY));
	assert_printed("err", "resource-tracker: TRACKER_OUTPUT: cannot write to 'missing/a.jsonl': its "
			      "folder does not exist; "
			      "create it first; ignored\n");
	assert_true(front.named_outputs);
	assert_string_equal(given_by_name(&front.given, "output")->text, "kept.jsonl");
	assert_string_equal(given_by_name(&front.given, "interval")->text, "2");
	assert_false(front_forget(&front, -EBUSY));
	/* The user's own is an error. */
	assert_int_equal(start("-o missing/a.jsonl -- true"), -1);
	fail_to_open("missing/a.jsonl");
	assert_false(front_forget(&front, -EBUSY));
	setenv("TRACKER_OUTPUT", "missing/a.jsonl", 1);
	assert_int_equal(start("--no-warnings -- true"), -1);
	fail_to_open("missing/a.jsonl");
	assert_true(front_forget(&front, -EBUSY));
	assert_false(front.named_outputs);
	assert_null(given_by_name(&front.given, "output"));
	assert_printed("err", "");
}

#ifdef HAVE_TOML
static void outputs_of_a_file_are_forgotten_if_their_place_is_wrong(void **state)
{
	(void)state;
	put_text("resource-tracker.toml", "[tracker]\noutput = \"missing/run.jsonl\"\n");
	put_text("site.toml", "[tracker]\noutput = \"site.jsonl\"\n");
	setenv("TRACKER_SITE_CONFIG", "site.toml", 1);
	assert_int_equal(start("-q -- true"), -1);
	fail_to_open("missing/run.jsonl");
	assert_false(front_forget(&front, -EIO));
	assert_true(front_forget(&front, -ENOENT));
	assert_printed_has("err",
			   "resource-tracker.toml:2: tracker.output: cannot write to 'missing/run.jsonl': ");
	/* A file that the user's own has replaced does not come back. */
	assert_null(given_by_name(&front.given, "output"));
	/* A mistake of the file is told once. */
	put_text("resource-tracker.toml", "[tracker]\noutput = \"missing/run.jsonl\"\nquiet = \"maybe\"\n");
	assert_int_equal(start("-- true"), -1);
	assert_printed_has("err", "tracker.quiet: ");
	fail_to_open("missing/run.jsonl");
	assert_true(front_forget(&front, -ENOENT));
	assert_printed_lacks("err", "tracker.quiet: ");
	assert_int_equal(truncate("err", 0), 0);
	/* Without a job, nothing is lost by an error. */
	assert_int_equal(start("-q"), -1);
	fail_to_open("missing/run.jsonl");
	assert_false(front_forget(&front, -ENOENT));
}

/* The library's message tells which setting is wrong. */
static void a_root_of_a_file_is_forgotten_if_it_cannot_be_opened(void **state)
{
	rt_tracker *tracker;

	(void)state;
	put_text("resource-tracker.toml", "[tracker]\nroot = \"missing\"\noutput = \"run.jsonl\"\n");
	assert_int_equal(start("-- true"), -1);
	assert_false(front.live);
	assert_int_equal(rt_open(front.config, &tracker), -ENOENT);
	assert_true(front_forget(&front, -ENOENT));
	assert_printed_has("err",
			   "resource-tracker.toml:2: tracker.root: root folder 'missing' cannot be opened: ");
	assert_true(front.live);
	assert_null(given_by_name(&front.given, "root"));
	assert_non_null(given_by_name(&front.given, "output"));
	assert_true(front.named_outputs);
	/* That of the environment is an error. */
	setenv("TRACKER_ROOT", "missing", 1);
	assert_int_equal(start("-- true"), -1);
	assert_int_equal(rt_open(front.config, &tracker), -ENOENT);
	assert_false(front_forget(&front, -ENOENT));
}
#endif

static int begin_with_disk(void **state)
{
	return begin(state) < 0 ? -1 : mount_small_disk();
}

static int end_with_disk(void **state)
{
	forget();
	return unmount_small_disk() < 0 ? -1 : end(state);
}

#define unit_test_of_front(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_front(a_command_is_wrapped_a_process_attached_to_or_the_machine_recorded),
		unit_test_of_front(flags_are_set),
		unit_test_of_front(a_command_line_that_means_nothing_is_refused),
		unit_test_of_front(help_and_version_are_printed),
		unit_test_of_front(a_mistake_in_an_option_or_a_variable_is_an_error),
#ifdef HAVE_TOML
		unit_test_of_front(a_mistake_in_a_file_is_a_warning),
		unit_test_of_front(files_are_weaker_than_variables_and_options),
		unit_test_of_front(a_process_that_a_file_names_is_for_runs_without_a_command),
		unit_test_of_front(a_process_that_is_none_leaves_the_machine),
		unit_test_of_front(outputs_of_a_file_are_forgotten_if_their_place_is_wrong),
		unit_test_of_front(a_site_has_a_file_of_its_own),
		unit_test_of_front(a_root_of_a_file_is_forgotten_if_it_cannot_be_opened),
#endif
		unit_test_of_front(the_file_of_a_site_is_told_if_it_was_named_and_is_absent),
		unit_test_of_front(options_that_change_nothing_are_told),
		unit_test_of_front(a_command_in_the_place_of_a_file_is_told),
		unit_test_of_front(the_last_word_about_the_summary_counts),
		unit_test_of_front(a_terminal_gets_the_summary_of_a_named_output),
		unit_test_of_front(a_temporary_recording_stands_in_for_a_file_of_json),
		unit_test_of_front(the_temporary_recording_is_beside_a_file_or_in_tmpdir),
		cmocka_unit_test_setup_teardown(a_temporary_recording_without_room_is_in_memory,
						begin_with_disk, end_with_disk),
		unit_test_of_front(a_folder_with_too_long_a_name_has_no_temporary_recording),
		unit_test_of_front(closed_standard_streams_stay_free),
		unit_test_of_front(wrong_places_of_the_page_and_the_line_are_refused),
		unit_test_of_front(outputs_that_were_inherited_are_forgotten_if_they_are_held),
		unit_test_of_front(a_process_of_the_environment_is_for_runs_without_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
