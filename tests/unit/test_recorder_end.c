/* Tests of the end of src/cli: what the program makes of a recording, and keeps of it. */
#include "recorder_program.h"
#include "served_folder.h"
#include "small_disk.h"

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

static void a_signal_after_the_job_cuts_the_end_short(void **state)
{
	char said[600];

	(void)state;
	put_program(ANALYSIS, SAYS_ITS_WORDS "kill -TERM $PPID\nexec sleep 60\n");
	record("-q --summary --report page.html --runs runs.jsonl -o run.jsonl -- sh -c 'exit 3'", 3);
	assert_said("summary --no-pager -- %s/run.jsonl");
	snprintf(said, sizeof said,
		 "resource-tracker: page.html: the report could not be written: Interrupted system call\n"
		 "resource-tracker: runs.jsonl: the line of this run could not be added: Interrupted system "
		 "call\n"
		 "resource-tracker: to append it later: resource-tracker runs add %s/run.jsonl --runs "
		 "runs.jsonl\n",
		 scratch_folder);
	assert_file_text("err", said);
}

static void a_signal_to_the_job_leaves_the_end_whole(void **state)
{
	(void)state;
	record("-q --summary -o run.jsonl -- sh -c 'trap \"\" TERM; kill -TERM $PPID; exit 3'", 3);
	assert_said("summary --no-pager -- %s/run.jsonl");
	assert_file_text("err", "");
}

/* It is full, and has no reader any more. */
static void a_stderr_that_takes_nothing_gets_no_summary(void **state)
{
	int kept = dup(STDERR_FILENO), ends[2], status;

	(void)state;
	if (is_emulated() || UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], "", 1) == 1)
		continue;
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	status = system("bin/resource-tracker -q --summary --report page.html -o run.jsonl -- true");
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(status, 0);
	assert_said("report --output=page.html -- %s/run.jsonl");
}

static void a_screen_is_told_where_the_recording_is(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	screen = open_terminal();
	record_on_screen("--summary=json -o one.jsonl -- true", 0);
	record_on_screen("--no-summary -o one.jsonl -- true", 0);
	record_on_screen("--summary -o run.csv -- true", 0);
	snprintf(text, sizeof text,
		 "\nrecorded in %s/run.csv, samples alone; -o FILE.jsonl keeps all of this\n",
		 scratch_folder);
	assert_terminal_shows(&screen, text);
	record_on_screen("-o run.jsonl -- true", 0);
	snprintf(text, sizeof text, "\nrecorded in %s/run.jsonl; resource-tracker report %s/run.jsonl\n",
		 scratch_folder, scratch_folder);
	assert_terminal_shows(&screen, text);
	close_terminal(&screen);
}

static void end_without_the_places(void)
{
	run_shell("bin/resource-tracker -q --summary --report served/page.html --runs served/runs -o "
		  "run.jsonl -- true "
		  "> out 2> err",
		  0);
}

static void places_that_do_not_answer_are_given_up(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	with_served_folder(end_without_the_places);
	assert_file_text(
		"err", "resource-tracker: served/page.html: its file system does not answer: no report is "
		       "written\n"
		       "resource-tracker: served/runs: its file system does not answer: the line of this run "
		       "is not added\n");
	assert_said("summary --no-pager -- %s/run.jsonl");
}

static void end_without_the_recording(void)
{
	run_shell("bin/resource-tracker -q --summary --runs runs.jsonl -o served/run.jsonl -- true > out 2> "
		  "err",
		  0);
}

static void a_recording_that_does_not_answer_is_not_read(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("the program itself is not tested there");
	with_served_folder(end_without_the_recording);
	assert_file_has(
		"err",
		"/served/run.jsonl: its file system does not answer: no summary, report or line of this "
		"run\n");
	assert_said("");
}

/* ---- a recording that is sent ---- */

static void put_follower(const char *script)
{
	char path[TOLD_BYTES];

	put_program("bin/follower", script);
	snprintf(path, sizeof path, "%s/bin/follower", scratch_folder);
	setenv("TRACKER_NET", path, 1);
	/* It starts the follower. */
	snprintf(path, sizeof path, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	setenv("TRACKER_HELPER", path, 1);
}

static void an_upload_is_waited_for_after_the_summary(void **state)
{
	(void)state;
	put_follower("#!/bin/sh\nuntil [ -s \"$SAID\" ]; do sleep 0.01; done\nsleep 0.1\n"
		     "echo sent >> \"$SAID\"\n");
	record("-q --summary --stream=otlp --spool=spool --upload-deadline=60 -o run.jsonl -- true", 0);
	assert_said("summary --no-pager -- %s/run.jsonl\nsent");
	assert_file_has("err",
			"resource-tracker: the process that sends the samples has ended; to send them: ");
	unsetenv("TRACKER_NET");
}

static void a_signal_ends_the_wait_for_an_upload(void **state)
{
	(void)state;
	/* Its standard input ends with the recorder. */
	put_follower("#!/bin/sh\nexec cat > /dev/null\n");
	put_program(ANALYSIS, SAYS_ITS_WORDS "kill -TERM $PPID\n");
	record("-q --summary --stream=otlp --spool=spool --upload-deadline=3600 -o run.jsonl -- sh -c 'exit "
	       "3'",
	       3);
	assert_said("summary --no-pager -- %s/run.jsonl");
	unsetenv("TRACKER_NET");
}

static void a_missing_analysis_is_told_if_it_was_asked_for(void **state)
{
	(void)state;
	assert_int_equal(unlink(ANALYSIS), 0);
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
	record_on_screen("--history file/hist --no-warnings -q -- true", 0);
	record_on_screen("--history file/hist -- sh -c 'exit 3'", 3);
	assert_terminal_shows(&screen,
			      "resource-tracker: this run is not kept: file/hist: Not a directory\n");
	close_terminal(&screen);
}

static void a_history_without_room_keeps_no_run(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	require_small_disk();
	mkdir("disk/hist", 0700);
	fill_small_disk("disk/filler", 0);
	screen = open_terminal();
	record_on_screen("--history disk/hist -q -- true", 0);
	snprintf(text, sizeof text,
		 "resource-tracker: this run is not kept: %s/disk/hist: No space left on device\n",
		 scratch_folder);
	assert_terminal_shows(&screen, text);
	close_terminal(&screen);
}

static int begin_with_disk(void **state)
{
	return begin_program(state) < 0 ? -1 : mount_small_disk();
}

static void a_kept_run_has_a_line_under_its_last_name(void **state)
{
	char text[TOLD_BYTES];

	(void)state;
	screen = open_terminal();
	record_on_screen("--history hist --runs runs.jsonl -- sh -c 'echo $RESOURCE_TRACKER_MARKS > marks'",
			 0);
	snprintf(text, sizeof text,
		 "--keep text %s/hist/1.jsonl\nruns --runs=runs.jsonl -- add %s/hist/1.jsonl\n",
		 scratch_folder, scratch_folder);
	assert_file_text("said", text);
	snprintf(text, sizeof text, "%s/hist/1.jsonl.marks\n", scratch_folder);
	assert_file_text("marks", text);
	put_text("said", "");
	put_program(ANALYSIS, SAYS_ITS_WORDS "[ $1 = runs ] || mv \"$3\" \"$3.gz\"\n");
	record_on_screen("--history hist --runs runs.jsonl -- true", 0);
	snprintf(text, sizeof text,
		 "--keep text %s/hist/2.jsonl\nruns --runs=runs.jsonl -- add %s/hist/2.jsonl.gz\n",
		 scratch_folder, scratch_folder);
	assert_file_text("said", text);
	put_text("said", "");
	/* It never began. */
	record_on_screen("--history hist --runs runs.jsonl -- ./missing", 127);
	assert_said("");
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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_program(the_analysis_makes_the_summary),
		unit_test_of_program(the_analysis_makes_the_page_and_the_line),
		unit_test_of_program(a_temporary_recording_is_kept_if_no_page_is_made_of_it),
		unit_test_of_program(a_signal_after_the_job_cuts_the_end_short),
		unit_test_of_program(a_signal_to_the_job_leaves_the_end_whole),
		unit_test_of_program(a_stderr_that_takes_nothing_gets_no_summary),
		unit_test_of_program(a_screen_is_told_where_the_recording_is),
		unit_test_of_program(places_that_do_not_answer_are_given_up),
		unit_test_of_program(a_recording_that_does_not_answer_is_not_read),
		unit_test_of_program(an_upload_is_waited_for_after_the_summary),
		unit_test_of_program(a_signal_ends_the_wait_for_an_upload),
		unit_test_of_program(a_missing_analysis_is_told_if_it_was_asked_for),
		unit_test_of_program(the_log_of_a_ci_system_gets_a_summary_instead_of_samples),
		unit_test_of_program(a_job_on_a_terminal_is_kept),
		unit_test_of_program(other_runs_are_not_kept),
		unit_test_of_program(a_command_that_never_started_leaves_no_kept_run),
		unit_test_of_program(a_history_that_cannot_be_used_stops_no_job),
		cmocka_unit_test_setup_teardown(a_history_without_room_keeps_no_run, begin_with_disk,
						small_disk_leave),
		unit_test_of_program(a_kept_run_has_a_line_under_its_last_name),
		unit_test_of_program(a_percent_sign_in_the_history_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
