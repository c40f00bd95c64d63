/* Tests of src/launch/pager.c: which texts go through the pager. A child of the test has a terminal as its standard output. */
#include "in_child.h"
#include "scratch.h"
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "launch/pager.h"

static const char *pager;
static const char *term;
static bool without_shell;

/* Whether a text was paged, on a screen of 4 lines with 10 columns. */
static bool is_paged(const char *text)
{
	struct terminal terminal = open_terminal();
	struct winsize size = {.ws_row = 4, .ws_col = 10};
	int status;
	pid_t child;

	assert_int_equal(ioctl(terminal.slave, TIOCSWINSZ, &size), 0);
	child = fork();
	if (child == 0) {
		alarm(60);
		dup2(terminal.slave, STDOUT_FILENO);
		if (pager)
			setenv("PAGER", pager, 1);
		else
			unsetenv("PAGER");
		if (term)
			setenv("TERM", term, 1);
		else
			unsetenv("TERM");
		if (without_shell && !fail_call(SYS_execve, ENOENT))
			_exit(0);
		_exit(show_paged(text, strlen(text)));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	close_terminal(&terminal);
	return WEXITSTATUS(status);
}

static int begin_pager(void **state)
{
	pager = "cat >paged";
	term = "xterm";
	without_shell = false;
	return scratch_enter(state);
}

static void a_text_that_fills_the_screen_is_paged(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	/* The last line is the prompt's. */
	assert_false(is_paged("1\n2\n3\n"));
	assert_false(is_paged("1\n2\n3"));
	assert_int_equal(access("paged", F_OK), -1);
	assert_true(is_paged("1\n2\n3\n4\n"));
	assert_file_text("paged", "1\n2\n3\n4\n");
	assert_true(is_paged("1\n2\n3\n4"));
	assert_false(is_paged(""));
}

static void long_lines_take_several_rows(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_false(is_paged("1234567890\n2\n3\n"));
	assert_true(is_paged("12345678901\n2\n3\n"));
	assert_false(is_paged("123456789012345678901234567890\n"));
	assert_true(is_paged("1234567890123456789012345678901\n"));
	/* Ten characters of two bytes. */
	assert_false(is_paged(
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\n2\n3\n"));
}

static void the_user_may_have_no_pager(void **state)
{
	static const char *const NONE[] = {"", "cat", "exit 127", "exit 126", "/no/such/pager"};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
		pager = NONE[i];
		assert_false(is_paged("1\n2\n3\n4\n"));
	}
	pager = "cat >paged";
	without_shell = true;
	assert_false(is_paged("1\n2\n3\n4\n"));
	without_shell = false;
	/* One that fails later has shown something, or was left by the user. */
	pager = "exit 1";
	assert_true(is_paged("1\n2\n3\n4\n"));
	pager = "kill -TERM $$";
	assert_true(is_paged("1\n2\n3\n4\n"));
	pager = "cat >paged";
	term = "dumb";
	assert_false(is_paged("1\n2\n3\n4\n"));
	term = "";
	assert_false(is_paged("1\n2\n3\n4\n"));
	term = NULL;
	assert_false(is_paged("1\n2\n3\n4\n"));
	term = "dumb-emacs";
	assert_true(is_paged("1\n2\n3\n4\n"));
}

/* Its own settings stay. A user who leaves it early ends no program, and it has the signals that the caller ignores meanwhile. */
static void the_pager_has_the_usual_signals_and_settings(void **state)
{
	static char large[300000];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	unsetenv("LESS");
	unsetenv("LV");
	pager = "echo $LESS $LV >paged; ulimit -c 0; "
		"for s in INT QUIT PIPE; do sh -c \"kill -$s \\$\\$; echo $s >>ignored\"; done";
	assert_true(is_paged("1\n2\n3\n4\n"));
	assert_file_text("paged", "FRX -c\n");
	assert_int_equal(access("ignored", F_OK), -1);
	setenv("LESS", "S", 1);
	setenv("LV", "-x", 1);
	assert_true(is_paged("1\n2\n3\n4\n"));
	assert_file_text("paged", "S -x\n");
	unsetenv("LESS");
	unsetenv("LV");
	memset(large, '\n', sizeof large - 1);
	pager = "head -c 10 >paged";
	assert_true(is_paged(large));
	assert_file_text("paged", "\n\n\n\n\n\n\n\n\n\n");
}

static void no_terminal_needs_no_pager(void **state)
{
	int status, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	child = fork();
	if (child == 0) {
		dup2(fd, STDOUT_FILENO);
		setenv("PAGER", pager, 1);
		setenv("TERM", "xterm", 1);
		_exit(show_paged("1\n2\n3\n4\n5\n", 10));
	}
	close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(access("paged", F_OK), -1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_pager, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(a_text_that_fills_the_screen_is_paged),
		TEST(long_lines_take_several_rows),
		TEST(the_user_may_have_no_pager),
		TEST(the_pager_has_the_usual_signals_and_settings),
		TEST(no_terminal_needs_no_pager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
