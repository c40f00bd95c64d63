/* Tests of src/cli/alone.c: a job that runs in the recorder's place. */
#include "captured.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cli/alone.h"

/* The command is the word 2 and those behind it. */
static char program[] = "resource-tracker", dashes[] = "--", shell[] = "/bin/sh", option[] = "-c",
	    script[] = "echo ran; exit 7", missing[] = "./missing";
static char *of_step[] = {program, dashes, shell, option, script, NULL};
static const int CRASHES[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS};

static void prepare_step(const char *value, int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	if (value)
		setenv("RESOURCE_TRACKER_ALONE", value, 1);
	else
		unsetenv("RESOURCE_TRACKER_ALONE");
	/* Those of cmocka and of a sanitiser. */
	for (size_t i = 0; i < sizeof CRASHES / sizeof *CRASHES; i++)
		signal(CRASHES[i], SIG_DFL);
	alone_prepare(argc, argv);
}

/* Returns the status of a process that calls act(argument). */
static int status_of(int (*act)(int), int argument)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(act(argument));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool is_default(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

/* ---- a step ---- */

static int crash_before_the_job(int signo)
{
	prepare_step("2", 5, of_step);
	raise(signo);
	return 99;
}

static void a_step_runs_alone_after_a_crash(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof CRASHES / sizeof *CRASHES; i++) {
		assert_int_equal(status_of(crash_before_the_job, CRASHES[i]), 7 << 8);
		assert_printed("out", "ran\n");
		assert_printed("err", "resource-tracker: this step is not recorded: the recorder crashed\n");
	}
}

static int crash_without_a_command(int signo)
{
	of_step[2] = missing;
	return crash_before_the_job(signo);
}

static void a_missing_command_ends_a_step_after_a_crash(void **state)
{
	(void)state;
	assert_int_equal(status_of(crash_without_a_command, SIGABRT), 126 << 8);
	assert_printed("out", "");
	assert_printed("err", "resource-tracker: this step is not recorded: the recorder crashed\n");
}

static int crash_after_the_start(int signo)
{
	prepare_step("2", 5, of_step);
	alone_forget();
	for (size_t i = 0; i < sizeof CRASHES / sizeof *CRASHES; i++)
		if (!is_default(CRASHES[i]))
			return 98;
	if (alone_run(5) != 5 || !alone_is_step())
		return 97;
	raise(signo);
	return 99;
}

static int crash_in_a_child(int signo)
{
	pid_t pid;
	int status = 0;

	prepare_step("2", 5, of_step);
	pid = fork();
	if (pid == 0) {
		raise(signo);
		/* The handler has returned, and is gone. */
		raise(signo);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 99;
}

static void a_job_never_runs_twice(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(status_of(crash_after_the_start, SIGABRT), SIGABRT);
	assert_int_equal(status_of(crash_in_a_child, SIGABRT), SIGABRT << 8);
	assert_printed("out", "");
	assert_printed("err", "");
}

static int keep_ignored(int signo)
{
	struct sigaction action;

	signal(signo, SIG_IGN);
	setenv("RESOURCE_TRACKER_ALONE", "2", 1);
	alone_prepare(5, of_step);
	if (sigaction(signo, NULL, &action) < 0 || action.sa_handler != SIG_IGN)
		return 1;
	alone_forget();
	return sigaction(signo, NULL, &action) < 0 || action.sa_handler != SIG_IGN ? 2 : 0;
}

static void a_signal_that_is_ignored_stays_so(void **state)
{
	(void)state;
	assert_int_equal(status_of(keep_ignored, SIGABRT), 0);
	assert_int_equal(status_of(keep_ignored, SIGSYS), 0);
}

/* ---- the variable ---- */

static const char *const NO_WORDS[] = {NULL, "", "0", "5", "4294967298", "x", "2x", "-2"};

static int ask_for_step(int which)
{
	prepare_step(NO_WORDS[which], 5, of_step);
	if (alone_is_step() || getenv("RESOURCE_TRACKER_ALONE") || !is_default(SIGABRT))
		return 1;
	alone_forget();
	return alone_run(3) == 3 ? 0 : 2;
}

static void only_the_number_of_a_word_makes_a_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof NO_WORDS / sizeof *NO_WORDS; i++)
		assert_int_equal(status_of(ask_for_step, (int)i), 0);
}

static int run_word(int which)
{
	char value[] = {(char)('0' + which), '\0'};

	prepare_step(value, 5, of_step);
	return alone_is_step() && !getenv("RESOURCE_TRACKER_ALONE") ? alone_run(3) : 99;
}

static void the_words_from_there_are_the_command(void **state)
{
	(void)state;
	assert_int_equal(status_of(run_word, 2), 7 << 8);
	assert_printed("out", "ran\n");
	assert_printed("err", "");
	/* The last one is one, too. */
	assert_int_equal(status_of(run_word, 4), 126 << 8);
	assert_printed("err", "resource-tracker: echo ran; exit 7: No such file or directory\n");
}

/* ---- without memory or processes ---- */

static int lack_something(int which)
{
	static char file[] = "./file";
	static char *of_file[] = {file, NULL};

	return alone_for_lack(which == 0 ? of_step + 2 : which == 1 ? of_file : NULL, "no memory");
}

static int lack_in_a_step(int which)
{
	(void)which;
	prepare_step("2", 5, of_step);
	return alone_for_lack(of_step + 2, "no memory");
}

static void a_recorder_that_lacks_something_becomes_its_job(void **state)
{
	(void)state;
	put_text("file", "");
	assert_int_equal(status_of(lack_something, 0), 7 << 8);
	assert_printed("out", "ran\n");
	assert_printed("err", "resource-tracker: this job is not recorded: no memory\n");
	assert_int_equal(status_of(lack_something, 1), 126 << 8);
	assert_printed("err", "resource-tracker: this job is not recorded: no memory\n"
			      "resource-tracker: ./file: Permission denied\n");
	assert_int_equal(status_of(lack_something, 2), 125 << 8);
	assert_printed("err", "resource-tracker: no memory\n");
	/* alone_run() runs its command. */
	assert_int_equal(status_of(lack_in_a_step, 0), 125 << 8);
	assert_printed("err", "resource-tracker: this step is not recorded: no memory\n");
	assert_printed("out", "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_captured(a_step_runs_alone_after_a_crash),
		unit_test_captured(a_missing_command_ends_a_step_after_a_crash),
		unit_test_captured(a_job_never_runs_twice),
		unit_test_captured(a_signal_that_is_ignored_stays_so),
		unit_test_captured(only_the_number_of_a_word_makes_a_step),
		unit_test_captured(the_words_from_there_are_the_command),
		unit_test_captured(a_recorder_that_lacks_something_becomes_its_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
