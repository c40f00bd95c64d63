/* Tests of src/launch/child.c, detached.c and exec_detached.c: scripts stand for the sister programs. */
#include "in_child.h"
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "launch/child.h"
#include "launch/detached.h"

static const char *const NOWHERE[] = {NULL};
static const struct sister_program SISTER = {"unit-sister", "UNIT_SISTER", NOWHERE, "/no-such-folder"};

/* A script that stands for a program that a variable names. */
static void put_script(const char *name, const char *variable, const char *text)
{
	char whole[1000];

	snprintf(whole, sizeof whole, "#!/bin/sh\n%s\n", text);
	put_text(name, whole);
	assert_int_equal(chmod(name, 0700), 0);
	snprintf(whole, sizeof whole, "%s/%s", scratch_folder, name);
	setenv(variable, whole, 1);
}

static void assert_reads(int fd, const char *wanted)
{
	char text[1000];
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, text + length, sizeof text - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	assert_string_equal(text, wanted);
	close(fd);
}

/* Runs the script of the sister program and reads its output. Returns its status. */
static int run_sister(const struct child_program *child, const char *wanted)
{
	pid_t pid = 0;
	int fd = -1;

	assert_int_equal(child_start_with_pipe(child, &fd, &pid), 0);
	assert_true(pid > 1 && fd > 2);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_reads(fd, wanted);
	return child_wait(pid);
}

static void a_child_writes_into_the_pipe(void **state)
{
	static const char *const ARGV[] = {"sister", "a word", "", NULL};
	static char word[] = "UNIT_WORD=given", *const ENVIRONMENT[] = {word, NULL};
	struct child_program child = {&SISTER, ARGV, NULL, false};
	sigset_t blocked, before;
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "echo \"$#,$1,$UNIT_WORD\"; exit 3");
	setenv("UNIT_WORD", "own", 1);
	status = run_sister(&child, "2,a word,own\n");
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	child.environment = ENVIRONMENT;
	(void)run_sister(&child, "2,a word,given\n");
	unsetenv("UNIT_WORD");
	child.environment = NULL;
	/* Signals that the caller blocks reach the child. */
	sigfillset(&blocked);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
	put_script("s", "UNIT_SISTER", "kill -TERM $$; echo alive");
	status = run_sister(&child, "");
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void a_silent_child_has_no_terminal(void **state)
{
	static const char *const ARGV[] = {"sister", NULL};
	struct child_program child = {&SISTER, ARGV, NULL, true};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "readlink /proc/$$/fd/0 /proc/$$/fd/2");
	(void)run_sister(&child, "/dev/null\n/dev/null\n");
}

static void a_child_that_is_missing_or_gone(void **state)
{
	static const char *const ARGV[] = {"sister", NULL};
	struct child_program child = {&SISTER, ARGV, NULL, true};
	pid_t pid = 7;
	int fd = 8;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	unsetenv("UNIT_SISTER");
	assert_int_equal(child_start_with_pipe(&child, &fd, &pid), -ENOENT);
	assert_int_equal(child_start(&child, 1, &pid), -ENOENT);
	assert_int_equal(fd, 8);
	assert_int_equal(pid, 7);
	/* Another part of the program has waited for it. */
	pid = fork();
	if (pid == 0)
		_exit(9);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(child_wait(pid), 0);
}

static void a_child_that_cannot_be_started(void **state)
{
	static const char *const ARGV[] = {"sister", NULL};
	struct child_program child = {&SISTER, ARGV, NULL, false};
	pid_t pid = 7;
	int fd = 8;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	assert_int_equal(child_start(&child, -1, &pid), -EBADF);
	child.silent = true;
	assert_int_equal(child_start(&child, -1, &pid), -EBADF);
	/* The kernel knows no such program. */
	put_text("s", "\n");
	assert_int_equal(child_start_with_pipe(&child, &fd, &pid), -ENOEXEC);
	assert_int_equal(fd, 8);
}

/* No signal of the caller reaches it, and the caller's own mask is back afterwards. */
static void a_helper_runs_to_its_end(void **state)
{
	static const char *const ARGV[] = {"helper", NULL};
	sigset_t own, before, after;
	int status = 7;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("h", "TRACKER_HELPER", "kill -TERM $$; exit 5");
	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_SETMASK, &own, &before), 0);
	assert_int_equal(child_run_helper(ARGV, NULL, NULL, &status), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	for (int signal = 1; signal < 32; signal++)
		assert_int_equal(sigismember(&after, signal), signal == SIGUSR1);
}

/* Nothing is started, and the results stay untouched. */
static int starts_without_descriptors(void)
{
	static const char *const ARGV[] = {"sister", NULL};
	const struct child_program child = {&SISTER, ARGV, NULL, false};
	int fd = 8, status = 7;
	pid_t pid = 7;

	if (!fail_call(SYS_pipe2, EMFILE))
		return 0;
	if (child_start_with_pipe(&child, &fd, &pid) != -EMFILE || fd != 8 || pid != 7 || dup(1) < 0)
		return 1;
	setenv("TRACKER_HELPER", "/no/such/helper", 1);
	if (child_run_helper(ARGV, NULL, NULL, &status) != -ENOENT || status != 7)
		return 2;
	return 0;
}

static void a_machine_without_descriptors_starts_no_child(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	assert_int_equal(in_child(starts_without_descriptors), 0);
}

/* ---- programs that are not our children ------------------------------------------------------------------ */

static int start_apart(const char *const *argv, bool silent, int *ret_socket, pid_t *ret_pid)
{
	struct detached detached = {&SISTER, argv, NULL, silent};

	*ret_socket = -1;
	*ret_pid = 0;
	return detached_start(&detached, ret_socket, ret_pid);
}

static void assert_helper_answers(const char *script, int error, pid_t wanted)
{
	static const char *const ARGV[] = {"sister", NULL};
	pid_t pid;
	int fd;

	put_script("h", "TRACKER_HELPER", script);
	assert_int_equal(start_apart(ARGV, false, &fd, &pid), error);
	assert_int_equal(pid, wanted);
	assert_true((fd >= 0) == !error);
	if (fd >= 0)
		close(fd);
}

static void the_helper_tells_the_number_of_the_program(void **state)
{
	static const char *const ARGV[] = {"sister", "one", "a b", NULL};
	char wanted[200];
	pid_t pid;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	put_script("h", "TRACKER_HELPER", "echo 4711; for word; do echo \"$word\"; done; echo error >&2");
	assert_int_equal(start_apart(ARGV, false, &fd, &pid), 0);
	assert_int_equal(pid, 4711);
	snprintf(wanted, sizeof wanted, "exec\n%s\nsister\none\na b\nerror\n", getenv("UNIT_SISTER"));
	assert_reads(fd, wanted);
	/* A silent program has no words for its errors. */
	assert_int_equal(start_apart(ARGV, true, &fd, &pid), 0);
	*strstr(wanted, "error") = '\0';
	assert_reads(fd, wanted);
}

static void an_answer_without_a_number_is_an_error(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	assert_helper_answers("echo 2", 0, 2);
	assert_helper_answers("echo 2147483647", 0, 2147483647);
	assert_helper_answers("echo 2147483648", -EPROTO, 0);
	assert_helper_answers("echo 1", -EPROTO, 0);
	assert_helper_answers("echo -5", -EPROTO, 0);
	assert_helper_answers("echo 12x", -EPROTO, 0);
	assert_helper_answers("echo", -EPROTO, 0);
	assert_helper_answers("exit 0", -EPROTO, 0);
	assert_helper_answers("exit 13", -EACCES, 0);
	assert_helper_answers("kill -KILL $$", -EIO, 0);
	unsetenv("UNIT_SISTER");
	assert_helper_answers("echo 4711", -ENOENT, 0);
	put_script("s", "UNIT_SISTER", "");
	put_script("h", "TRACKER_HELPER", "echo 4711");
	assert_int_equal(unlink("h"), 0);
	assert_int_equal(start_apart((const char *[]){"sister", NULL}, false, &(int){0}, &(pid_t){0}),
			 -ENOENT);
}

static void a_program_has_24_words_at_most(void **state)
{
	const char *words[26] = {NULL};
	pid_t pid;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	put_script("h", "TRACKER_HELPER", "echo 4711; echo $#");
	for (size_t i = 0; i < 24; i++)
		words[i] = "w";
	assert_int_equal(start_apart(words, false, &fd, &pid), 0);
	assert_reads(fd, "26\n");
	words[24] = "w";
	assert_int_equal(start_apart(words, false, &fd, &pid), -E2BIG);
}

/* The connection gets numbers above 2, which the caller may have closed. */
static void standard_streams_that_are_closed_stay_so(void **state)
{
	static const char *const ARGV[] = {"sister", NULL};
	int status, fd;
	pid_t pid, child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	put_script("h", "TRACKER_HELPER", "echo 4711");
	child = fork();
	if (child == 0) {
		close(0);
		close(1);
		close(2);
		_exit(start_apart(ARGV, false, &fd, &pid) == 0 && fd > 2 && pid == 4711 &&
				      fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 &&
				      fcntl(2, F_GETFD) < 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Neither socket stays open. */
static int starts_without_high_numbers(void)
{
	static const char *const ARGV[] = {"sister", NULL};
	int free_number = dup(2), fd, error;
	pid_t pid;

	close(free_number);
	close(0);
	if (!fail_call(SYS_fcntl, EINVAL))
		return 0;
	error = start_apart(ARGV, false, &fd, &pid);
	return error != -EMFILE || fd != -1 || pid != 0 || dup(2) != 0 || dup(1) != free_number;
}

static int starts_without_sockets(void)
{
	static const char *const ARGV[] = {"sister", NULL};
	int fd;
	pid_t pid;

	if (!fail_call(SYS_socketpair, ENFILE))
		return 0;
	return start_apart(ARGV, false, &fd, &pid) != -ENFILE || fd != -1 || pid != 0 || dup(1) < 0;
}

static void nothing_is_started_without_a_connection(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_script("s", "UNIT_SISTER", "");
	put_script("h", "TRACKER_HELPER", "echo 4711");
	assert_int_equal(in_child(starts_without_high_numbers), 0);
	assert_int_equal(in_child(starts_without_sockets), 0);
}

/* The helper itself (exec_detached.c): the program has a session of its own, no other descriptor, and no blocked signal. */
static void the_real_helper_lets_the_program_go(void **state)
{
	static const char *const ARGV[] = {"sister", "word", NULL};
	char helper[500], text[300] = "", wanted[300];
	sigset_t all, before;
	size_t length = 0;
	ssize_t n;
	pid_t pid;
	int fd, other;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(helper, sizeof helper, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	setenv("TRACKER_HELPER", helper, 1);
	put_script("s", "UNIT_SISTER",
		   "read session </proc/$$/stat; set -- \"$1\" $session; "
		   "echo \"$1 $7 $([ -e /proc/$$/fd/9 ] && echo open) $(grep SigBlk /proc/$$/status)\"; read "
		   "end");
	other = fcntl(0, F_DUPFD, 9);
	assert_true(other == 9 || fcntl(9, F_GETFD) >= 0);
	sigfillset(&all);
	assert_int_equal(sigprocmask(SIG_BLOCK, &all, &before), 0);
	assert_int_equal(start_apart(ARGV, false, &fd, &pid), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	close(other);
	while (!memchr(text, '\n', length) && (n = read(fd, text + length, sizeof text - 1 - length)) > 0)
		length += (size_t)n;
	snprintf(wanted, sizeof wanted, "word %d  SigBlk:\t0000000000000000\n", (int)pid);
	assert_string_equal(text, wanted);
	/* Another process has adopted it. */
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	close(fd);
	put_text("no-program", "\n");
	assert_int_equal(chmod("no-program", 0700), 0);
	setenv("UNIT_SISTER", "./no-program", 1);
	assert_int_equal(start_apart(ARGV, false, &fd, &pid), -ENOEXEC);
}

/* A program and its name. */
static void the_helper_needs_words(void **state)
{
	static const char *const WORDS[] = {"", " /bin/true"};
	char line[600];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < 2; i++) {
		snprintf(line, sizeof line, "%s/resource-tracker-helper exec%s", getenv("TEST_BUILD"),
			 WORDS[i]);
		assert_int_equal(system(line), EINVAL << 8);
	}
}

/* It has room for one descriptor, and needs two. */
static void the_helper_needs_descriptors(void **state)
{
	char line[600];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(line, sizeof line,
		 "exec 3>&-; ulimit -n 4; exec %s/resource-tracker-helper exec /bin/true t",
		 getenv("TEST_BUILD"));
	assert_int_equal(system(line), EMFILE << 8);
}

static void orphans_come_to_a_subreaper(void **state)
{
	pid_t child;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (getpid() == 1)
		SKIP("this is the first process");
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	assert_false(adopts_orphans());
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	/* A child of the program's own is left to it. */
	detached_reap(child);
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_true(adopts_orphans());
	detached_reap(child);
	assert_int_equal(kill(child, 0), -1);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_child_writes_into_the_pipe),
		unit_test_in_scratch(a_silent_child_has_no_terminal),
		unit_test_in_scratch(a_child_that_is_missing_or_gone),
		unit_test_in_scratch(a_child_that_cannot_be_started),
		unit_test_in_scratch(a_helper_runs_to_its_end),
		unit_test_in_scratch(a_machine_without_descriptors_starts_no_child),
		unit_test_in_scratch(the_helper_tells_the_number_of_the_program),
		unit_test_in_scratch(an_answer_without_a_number_is_an_error),
		unit_test_in_scratch(a_program_has_24_words_at_most),
		unit_test_in_scratch(standard_streams_that_are_closed_stay_so),
		unit_test_in_scratch(nothing_is_started_without_a_connection),
		unit_test_in_scratch(the_real_helper_lets_the_program_go),
		unit_test_in_scratch(the_helper_needs_words),
		unit_test_in_scratch(the_helper_needs_descriptors),
		unit_test_in_scratch(orphans_come_to_a_subreaper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
