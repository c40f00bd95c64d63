/* Tests of src/cli/message.c: lines on stderr, and how long a full pipe is waited for. */
#include "captured.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cli/message.h"

static void a_line_begins_with_the_name_of_the_program(void **state)
{
	(void)state;
	say("%d apples", 3);
	assert_printed("err", "resource-tracker: 3 apples\n");
	say_of("mark", "gone");
	assert_printed("err", "resource-tracker mark: gone\n");
	say_plainly("%s", "plain");
	assert_printed("err", "plain\n");
	say_if_possible("now");
	assert_printed("err", "resource-tracker: now\n");
	assert_int_equal(refuse("no"), 125);
	assert_printed("err", "resource-tracker: no\n");
	assert_true(can_say());
	assert_printed("out", "");
}

static void control_characters_become_question_marks(void **state)
{
	(void)state;
	say("a\nb\tc\033d\\n");
	assert_printed("err", "resource-tracker: a?b?c?d\\n\n");
}

static void a_line_has_less_than_4000_bytes(void **state)
{
	char text[5000], *line;
	size_t length;

	(void)state;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	say("%s", text);
	line = get_file("err", &length);
	assert_int_equal(length, 3999);
	assert_string_equal(line + length - 2, "x\n");
	free(line);
	assert_int_equal(truncate("err", 0), 0);
	say_plainly("%s", text);
	free(get_file("err", &length));
	assert_int_equal(length, 3999);
}

static int name_the_step(void)
{
	refuse_step();
	say("other");
	return refuse("no memory") == 125 ? 0 : 1;
}

static int in_child(int (*check)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(check());
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static void a_refusal_in_a_step_names_it(void **state)
{
	(void)state;
	assert_int_equal(in_child(name_the_step), 0);
	assert_printed("err",
		       "resource-tracker: other\nresource-tracker: this step is not recorded: no memory\n");
}

/* ---- a stderr that is not read ---- */

static int fill_stderr(void)
{
	char bytes[4096] = "";
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) < 0)
		_exit(99);
	while (write(ends[1], bytes, sizeof bytes) > 0)
		;
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	return ends[0];
}

static int64_t ms_since(int64_t begun_ns)
{
	return (SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns) / NSEC_PER_MSEC;
}

static bool waits_a_second(bool (*call)(void))
{
	int64_t begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);

	return !call() && ms_since(begun_ns) >= 990;
}

static bool say_in_time(void)
{
	errno = EXDEV;
	say("x");
	return errno != EXDEV;
}

static bool say_now(void)
{
	say_if_possible("x");
	return false;
}

static int wait_once_for_can_say(void)
{
	fill_stderr();
	return waits_a_second(say_now)       ? 1
	       : !waits_a_second(can_say)    ? 2
	       : waits_a_second(can_say)     ? 3
	       : waits_a_second(say_in_time) ? 4
					     : 0;
}

static int wait_once_for_say(void)
{
	fill_stderr();
	return !waits_a_second(say_in_time)  ? 1
	       : waits_a_second(say_in_time) ? 2
	       : waits_a_second(can_say)     ? 3
					     : 0;
}

/* A second in all, also for several lines. Lines while the job runs are not waited for. */
static void a_full_pipe_is_waited_for_once(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(wait_once_for_can_say());
	assert_int_equal(in_child(wait_once_for_say), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int say_to_nobody(void)
{
	close(fill_stderr());
	return can_say();
}

static void a_pipe_without_a_reader_takes_no_line(void **state)
{
	(void)state;
	assert_int_equal(in_child(say_to_nobody), 0);
}

/* ---- stdout ---- */

static void a_text_is_printed_as_a_whole(void **state)
{
	struct buffer text = BUFFER(100);

	(void)state;
	buffer_add_text(&text, "two\nlines\n");
	assert_int_equal(print_text(&text), 0);
	assert_printed("out", "two\nlines\n");
	assert_printed("err", "");
	buffer_done(&text);
}

static int print_200_bytes(void)
{
	struct rlimit limit = {120, 120};
	struct buffer text = BUFFER(1000);

	for (int i = 0; i < 200; i++)
		buffer_add_char(&text, (char)('0' + i % 10));
	signal(SIGXFSZ, SIG_IGN);
	/* The first write takes 120 bytes, the second none. */
	return setrlimit(RLIMIT_FSIZE, &limit) == 0 && print_text(&text) == 125 ? 0 : 1;
}

static void a_stdout_that_takes_no_more_is_refused(void **state)
{
	struct buffer text = BUFFER(2);

	(void)state;
	assert_int_equal(in_child(print_200_bytes), 0);
	assert_printed("err", "resource-tracker: stdout: File too large\n");
	buffer_add_text(&text, "too long for it");
	assert_int_equal(print_text(&text), 125);
	assert_printed("err", "resource-tracker: out of memory\n");
	buffer_done(&text);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_captured(a_line_begins_with_the_name_of_the_program),
		unit_test_captured(control_characters_become_question_marks),
		unit_test_captured(a_line_has_less_than_4000_bytes),
		unit_test_captured(a_refusal_in_a_step_names_it),
		unit_test_captured(a_full_pipe_is_waited_for_once),
		unit_test_captured(a_pipe_without_a_reader_takes_no_line),
		unit_test_captured(a_text_is_printed_as_a_whole),
		unit_test_captured(a_stdout_that_takes_no_more_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
