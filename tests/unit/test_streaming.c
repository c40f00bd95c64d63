/* Tests of src/tracker/streaming.c: the test, or a script in the place of resource-tracker-net, is the follower. */
#include "scratch.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "job/pass.h"
#include "tracker/tracker.h"

static rt_config *config;
static rt_tracker *tracker;
/* The follower's end of the connection, -1 if a script has it. */
static int other = -1;

/* The machine is a folder without files. */
static int begin_config(void **state)
{
	unsetenv("SENTINEL_API_TOKEN");
	other = -1;
	tracker = NULL;
	return scratch_enter(state) | mkdir("machine", 0755) | rt_config_new(&config) |
	       rt_config_set(config, "root", "machine") | rt_config_set(config, "upload-deadline", "1d");
}

static int end_config(void **state)
{
	rt_close(tracker);
	rt_config_free(config);
	unsetenv("TRACKER_NET");
	unsetenv("TRACKER_HELPER");
	if (other >= 0)
		close(other);
	return scratch_leave(state);
}

static void open_with(const char *const *settings)
{
	for (; *settings; settings += 2)
		assert_int_equal(rt_config_set(config, settings[0], settings[1]), 0);
	if (rt_open(config, &tracker) < 0)
		fail_msg("%s", rt_config_message(config));
}

#define OPEN(...) open_with((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

#define assert_warning(expected) \
	do { \
		char warning[500] = ""; \
		assert_int_equal(rt_next_warning(tracker, warning, sizeof warning), 0); \
		assert_string_equal(warning, expected); \
	} while (0)
#define assert_no_warning() assert_int_equal(rt_next_warning(tracker, (char[500]){0}, 500), -ENOENT)

/* ---- what the follower says -------------------------------------------------------------------------------- */

static int begin_follower(void **state)
{
	int ends[2];

	if (begin_config(state) || rt_open(config, &tracker) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	tracker->streaming.socket_fd = ends[0];
	tracker->streaming.pid = INT32_MAX;
	other = ends[1];
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(write(other, text, strlen(text)), strlen(text));
}

static void close_other(void)
{
	close(other);
	other = -1;
}

static void each_line_of_the_follower_is_a_warning(void **state)
{
	char long_line[1200];

	(void)state;
	assert_no_warning();
	say("resource-tracker: first\nsecond resource-tracker: x\nhalf");
	assert_warning("first");
	assert_warning("second resource-tracker: x");
	assert_no_warning();
	say(" and half\n");
	assert_warning("half and half");
	/* It arrives in pieces. */
	memset(long_line, 'x', sizeof long_line - 1);
	long_line[sizeof long_line - 1] = '\0';
	long_line[sizeof long_line - 2] = '\n';
	say(long_line);
	say("last\n");
	streaming_hear(tracker);
	/* 512 bytes are received at once. A single byte is left. */
	assert_int_equal(tracker->streaming.said.length, 0);
	long_line[499] = '\0';
	assert_warning(long_line);
	assert_warning("last");
	memset(long_line, 'y', sizeof long_line - 1);
	long_line[512] = '\n';
	long_line[513] = '\0';
	say(long_line);
	long_line[499] = '\0';
	assert_warning(long_line);
	/* A line for people who look for a fault is not a warning. */
	say("resource-tracker: debug 1.000000 net: x\n");
	assert_no_warning();
}

/* A line that never ends is dropped, and the lines behind it are heard. */
static void an_endless_line_takes_no_memory_for_ever(void **state)
{
	static char piece[64 << 10];

	(void)state;
	memset(piece, 'x', sizeof piece);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(write(other, piece, sizeof piece), sizeof piece);
		streaming_hear(tracker);
	}
	assert_true(tracker->streaming.said.length < sizeof piece * 10);
	say("\nheard\n");
	streaming_hear(tracker);
	assert_int_equal(tracker->streaming.said.length, 0);
	assert_non_null(strstr(tracker->warnings.data, "heard\n"));
}

static void the_last_answer_of_the_server_counts(void **state)
{
	char *json = NULL;

	(void)state;
	assert_int_equal(rt_upload_answer(tracker, &json), -ENODATA);
	assert_null(json);
	say("answer {\"a\":1}\nanswer {\"b\":2}\nanswers\n");
	assert_int_equal(rt_upload_answer(tracker, &json), 0);
	assert_string_equal(json, "{\"b\":2}");
	rt_free(json);
	assert_warning("answers");
}

static void the_link_stays_until_all_is_sent(void **state)
{
	(void)state;
	assert_int_equal(symlink("run.jsonl", "link"), 0);
	tracker->streaming.link = strdup("link");
	say("sent later\nunsent\n");
	assert_warning("sent later");
	assert_warning("unsent");
	assert_int_equal(access("link", F_OK), -1);
	assert_int_equal(readlink("link", (char[8]){0}, 8), 8);
	assert_false(tracker->streaming.sent);
	say("sent\n");
	streaming_hear(tracker);
	assert_true(tracker->streaming.sent);
	assert_int_equal(readlink("link", (char[8]){0}, 8), -1);
	assert_no_warning();
}

static void a_follower_that_has_gone_leaves_a_command(void **state)
{
	(void)state;
	tracker->streaming.command = strdup("resource-tracker upload x");
	say("bye\n");
	close_other();
	assert_warning("bye");
	assert_warning(
		"the process that sends the samples has ended; to send them: resource-tracker upload x");
	assert_true(tracker->streaming.gone);
	assert_no_warning();
}

static void the_command_is_told_once(void **state)
{
	(void)state;
	tracker->streaming.command = strdup("resource-tracker upload x");
	say("to send the rest: resource-tracker upload y\n");
	close_other();
	assert_warning("to send the rest: resource-tracker upload y");
	assert_no_warning();
}

static void after_sent_no_command_is_needed(void **state)
{
	(void)state;
	tracker->streaming.command = strdup("resource-tracker upload x");
	say("sent\n");
	close_other();
	assert_no_warning();
	assert_true(tracker->streaming.gone);
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

static void the_follower_hears_of_the_end_once(void **state)
{
	int64_t told_ns;
	char byte;

	(void)state;
	assert_int_equal(rt_wait_for_upload(tracker, 60), -EBUSY);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	assert_int_equal(rt_wait_for_upload(tracker, 0), -ETIMEDOUT);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), 0);
	assert_true(tracker->streaming.told);
	told_ns = tracker->streaming.told_ns;
	assert_true(told_ns > 0);
	streaming_tell_end(tracker);
	assert_int_equal(tracker->streaming.told_ns, told_ns);
	assert_int_equal(rt_wait_for_upload(tracker, -1), -ETIMEDOUT);
	/* Later lines are still heard. */
	say("sent\n");
	assert_int_equal(rt_wait_for_upload(tracker, 0), -ETIMEDOUT);
	close_other();
	assert_int_equal(rt_wait_for_upload(tracker, 1e300), 0);
	assert_int_equal(rt_wait_for_upload(tracker, 0), 0);
}

static void an_end_without_sent_is_an_upload_that_failed(void **state)
{
	(void)state;
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	close_other();
	assert_int_equal(rt_wait_for_upload(tracker, 60), -EIO);
	close(tracker->streaming.socket_fd);
	tracker->streaming.socket_fd = -1;
	assert_int_equal(rt_wait_for_upload(tracker, 60), -ENOTCONN);
}

/* A process that holds the follower's end and does nothing. */
static pid_t fork_silent_follower(void)
{
	pid_t child = fork();

	if (child == 0) {
		close(tracker->streaming.socket_fd);
		alarm(60);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	close_other();
	return child;
}

static void a_follower_is_killed_after_its_deadline(void **state)
{
	pid_t child;
	int status;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	tracker->streaming.command = strdup("resource-tracker upload x");
	tracker->streaming.pid = child = fork_silent_follower();
	/* It has 100 of the 86,400 s left. */
	tracker->streaming.told = true;
	tracker->streaming.told_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - 86300 * NSEC_PER_SEC;
	assert_int_equal(rt_wait_for_upload(tracker, 0), -ETIMEDOUT);
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	tracker->streaming.told_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - 86401 * NSEC_PER_SEC;
	assert_int_equal(rt_wait_for_upload(tracker, 60), -EIO);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_warning(
		"the process that sends the samples has ended; to send them: resource-tracker upload x");
	assert_no_warning();
}

static void a_follower_has_half_a_second_beyond_its_deadline(void **state)
{
	int64_t now_ns;
	pid_t child;
	int status, result;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	tracker->streaming.command = strdup("resource-tracker upload x");
	tracker->streaming.pid = child = fork_silent_follower();
	tracker->streaming.told = true;
	/* 0.8 s are left. */
	now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	tracker->streaming.told_ns = now_ns - 86399700 * NSEC_PER_MSEC;
	result = rt_wait_for_upload(tracker, 0);
	now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - now_ns;
	kill(child, SIGTERM);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (now_ns > 700 * NSEC_PER_MSEC)
		skip(); /* the machine was too busy to ask in time */
	assert_int_equal(result, -ETIMEDOUT);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* ---- opening ----------------------------------------------------------------------------------------------- */

/* The script writes its arguments to "asked" and says the lines of "says". */
static int begin_script(void **state)
{
	char program[64], script[300], helper[4096];

	if (begin_config(state))
		return -1;
	if (is_emulated())
		return 0;
	snprintf(program, sizeof program, "%s/net", scratch_folder);
	snprintf(script, sizeof script,
		 "#!/bin/sh\ncd %s\necho \"$@\" >asked\necho \"$SENTINEL_API_TOKEN\" >token\nexec cat says\n",
		 scratch_folder);
	put_text(program, script);
	put_text("says", "sent\n");
	snprintf(helper, sizeof helper, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	return chmod(program, 0755) | setenv("TRACKER_NET", program, 1) | setenv("TRACKER_HELPER", helper, 1);
}

#define NEEDS_SCRIPTS() \
	do { \
		if (is_emulated()) \
			SKIP("an emulator cannot start a script"); \
	} while (0)

/* Ends the recording, and waits until the script has exited. */
static int finish_and_wait(void)
{
	assert_int_equal(rt_finish(tracker, RT_END_TRACKER_STOPPED, 0), 0);
	return rt_wait_for_upload(tracker, 600);
}

static void a_recording_is_followed_where_it_is(void **state)
{
	char target[100], file[100];
	ssize_t length;

	(void)state;
	NEEDS_SCRIPTS();
	put_text("c.jsonl", "{}\n");
	OPEN("stream", "otlp", "spool", "spool", "append", "1", "output", "a.jsonl.gz", "output", "b.csv",
	     "output", "c.jsonl");
	assert_true(tracker->streaming.pid > 1);
	length = readlink(tracker->streaming.link, target, sizeof target);
	snprintf(file, sizeof file, "%s/c.jsonl", scratch_folder);
	assert_int_equal(length, strlen(file));
	assert_memory_equal(target, file, strlen(file));
	snprintf(file, sizeof file, "spool/%s-3.otlp.spool", tracker->run_id);
	assert_string_equal(tracker->streaming.link, file);
	assert_string_equal(tracker->streaming.command, "resource-tracker upload --stream otlp c.jsonl");
	assert_int_equal(finish_and_wait(), 0);
	assert_int_equal(readlink(file, target, sizeof target), -1);
	assert_file_text("asked",
			 "follow c.jsonl --from 3 --end-fd 0 --upload-deadline 86400.000 --spool=spool "
			 "--report --stream=otlp\n");
	assert_no_warning();
}

/* The follower may have become a child of the process that is attached to, or of the caller. */
static void a_follower_is_not_of_the_job(void **state)
{
	(void)state;
	NEEDS_SCRIPTS();
	put_below("machine/proc/100/stat",
		  "100 (job) S 1 100 100 0 -1 4194304 0 0 0 0 5 5 0 0 20 0 1 0 500 0 0 "
		  "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	OPEN("stream", "otlp", "spool", "spool", "output", "a.jsonl", "pid", "100");
	assert_true(tracker->streaming.pid > 1);
	assert_true(process_tree_excludes(tracker->tree, tracker->streaming.pid));
	assert_int_equal(finish_and_wait(), 0);
}

static void without_a_recording_the_spool_has_one(void **state)
{
	char pattern[64];
	struct stat status;
	glob_t found;
	mode_t mask = umask(0);

	(void)state;
	NEEDS_SCRIPTS();
	put_text("says", "half of it\n");
	OPEN("stream", "otlp", "spool", "spool", "output", "b.csv");
	umask(mask);
	assert_string_equal(rt_output_path(tracker, 0), "b.csv");
	assert_null(rt_output_path(tracker, 1));
	snprintf(pattern, sizeof pattern, "spool/*-%d.otlp.spool", (int)getpid());
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(stat(found.gl_pathv[0], &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	globfree(&found);
	assert_null(tracker->streaming.link);
	assert_int_equal(finish_and_wait(), -EIO);
	assert_warning("half of it");
	assert_warning("the process that sends the samples has ended; to send them: resource-tracker upload "
		       "--stream otlp spool");
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	snprintf(pattern, sizeof pattern, "follow %s ", found.gl_pathv[0]);
	globfree(&found);
	{
		char *asked = get_file("asked", NULL);

		assert_int_equal(strncmp(asked, pattern, strlen(pattern)), 0);
		assert_non_null(strstr(asked, " --from 0 "));
		assert_non_null(strstr(asked, " --report --disposable --stream=otlp\n"));
		free(asked);
	}
}

static void a_token_alone_streams_to_the_default_place(void **state)
{
	(void)state;
	NEEDS_SCRIPTS();
	assert_int_equal(rt_config_set_variable(config, "SENTINEL_API_TOKEN", "secret"), 0);
	OPEN("stream", "auto", "spool", "spool", "output", "run.jsonl");
	assert_string_equal(tracker->streaming.command, "resource-tracker upload run.jsonl");
	assert_int_equal(finish_and_wait(), 0);
	assert_file_text("asked", "follow run.jsonl --from 0 --end-fd 0 --upload-deadline 86400.000 "
				  "--spool=spool --report\n");
	assert_file_text("token", "secret\n");
}

static void without_a_token_nothing_is_sent_by_itself(void **state)
{
	static const char *const TOKENS[] = {NULL, "", " \t\r\n"};

	(void)state;
	NEEDS_SCRIPTS();
	assert_int_equal(rt_config_set(config, "spool", "spool"), 0);
	for (size_t i = 0; i < sizeof TOKENS / sizeof TOKENS[0]; i++) {
		assert_int_equal(rt_config_set(config, "stream", "auto"), 0);
		assert_int_equal(rt_config_set_variable(config, "SENTINEL_API_TOKEN", TOKENS[i]), 0);
		OPEN();
		assert_int_equal(tracker->streaming.socket_fd, -1);
		assert_int_equal(access("spool", F_OK), -1);
		assert_no_warning();
		rt_close(tracker);
		tracker = NULL;
	}
}

/* A tracker of the library does not stream, whatever the environment says. */
static void the_default_is_not_to_stream(void **state)
{
	(void)state;
	NEEDS_SCRIPTS();
	assert_int_equal(rt_config_set_variable(config, "SENTINEL_API_TOKEN", "secret"), 0);
	OPEN("spool", "spool", "output", "run.jsonl");
	assert_int_equal(tracker->streaming.socket_fd, -1);
	assert_int_equal(access("spool", F_OK), -1);
	assert_int_equal(finish_and_wait(), -ENOTCONN);
}

static void assert_spool_is_empty(void)
{
	assert_int_equal(access("spool", F_OK), 0);
	assert_int_equal(rmdir("spool"), 0);
}

static void a_follower_that_cannot_start_leaves_nothing(void **state)
{
	(void)state;
	NEEDS_SCRIPTS();
	put_text("net", "no program");
	OPEN("stream", "otlp", "spool", "spool");
	assert_warning("streaming is off: resource-tracker-net cannot be started: Exec format error");
	assert_int_equal(tracker->output_count, 0);
	assert_spool_is_empty();
	rt_close(tracker);
	assert_int_equal(unlink("net"), 0);
	OPEN("output", "run.jsonl");
	assert_warning("streaming is off: resource-tracker-net is not installed");
	assert_no_warning();
	assert_int_equal(tracker->output_count, 1);
	assert_spool_is_empty();
}

static void a_spool_that_cannot_be_made_is_named(void **state)
{
	(void)state;
	OPEN("stream", "otlp", "spool", "/dev/null/spool", "output", "run.jsonl");
	assert_warning("streaming is off: the spool cannot be used: /dev/null/spool: it is not a folder, "
		       "or not in one");
	assert_no_warning();
	assert_int_equal(tracker->streaming.socket_fd, -1);
}

#define unit_test_of_follower(test) cmocka_unit_test_setup_teardown(test, begin_follower, end_config)
#define unit_test_of_script(test) cmocka_unit_test_setup_teardown(test, begin_script, end_config)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_follower(each_line_of_the_follower_is_a_warning),
		unit_test_of_follower(an_endless_line_takes_no_memory_for_ever),
		unit_test_of_follower(the_last_answer_of_the_server_counts),
		unit_test_of_follower(the_link_stays_until_all_is_sent),
		unit_test_of_follower(a_follower_that_has_gone_leaves_a_command),
		unit_test_of_follower(the_command_is_told_once),
		unit_test_of_follower(after_sent_no_command_is_needed),
		unit_test_of_follower(the_follower_hears_of_the_end_once),
		unit_test_of_follower(an_end_without_sent_is_an_upload_that_failed),
		unit_test_of_follower(a_follower_is_killed_after_its_deadline),
		unit_test_of_follower(a_follower_has_half_a_second_beyond_its_deadline),
		unit_test_of_script(a_recording_is_followed_where_it_is),
		unit_test_of_script(a_follower_is_not_of_the_job),
		unit_test_of_script(without_a_recording_the_spool_has_one),
		unit_test_of_script(a_token_alone_streams_to_the_default_place),
		unit_test_of_script(without_a_token_nothing_is_sent_by_itself),
		unit_test_of_script(the_default_is_not_to_stream),
		unit_test_of_script(a_follower_that_cannot_start_leaves_nothing),
		unit_test_of_script(a_spool_that_cannot_be_made_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
