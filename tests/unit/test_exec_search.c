/* Tests of src/wrap/exec_search.c, inherited.c and pid_set.c: which program a command starts, and with what. */
#include "burner.h"
#include "scratch.h"
#include "wrap_children.h"

#include <sys/resource.h>
#include <sys/time.h>

#include "wrap/exec_search.h"
#include "wrap/inherited.h"
#include "wrap/pid_set.h"

static char told[256];

/* Runs a plan in a child, and keeps what it writes. Returns its wait status, or the error of the search as an exit code. */
static int run_with(const char *path, const char *const *additions, char *const *argv)
{
	struct exec_plan plan;
	int ends[2], status;
	ssize_t length;
	pid_t child;

	if (is_emulated())
		skip(); /* the emulator would look for the program */
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(path ? setenv("PATH", path, 1) : unsetenv("PATH"), 0);
	assert_int_equal(exec_plan_make(argv, additions, &plan), 0);
	child = fork_for_a_minute();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		_exit(exec_plan_run(&plan));
	}
	close(ends[1]);
	exec_plan_free(&plan);
	length = read(ends[0], told, sizeof told - 1);
	told[length > 0 ? length : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

#define RUN(path, ...) run_with(path, NULL, (char *[]){__VA_ARGS__, NULL})
#define WORD(text) ((char[]){text})

static void add_script(const char *path, const char *text, mode_t mode)
{
	put_text(path, text);
	assert_int_equal(chmod(path, mode), 0);
}

static void the_first_folder_that_has_it_counts(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one", 0755) | mkdir("two", 0755), 0);
	add_script("two/tool", "#!/bin/sh\necho two $1", 0755);
	assert_int_equal(RUN("one:two", WORD("tool"), WORD("x")), 0);
	assert_string_equal(told, "two x\n");
	add_script("one/tool", "#!/bin/sh\necho one $1", 0755);
	assert_int_equal(RUN("one:two", WORD("tool"), WORD("x")), 0);
	assert_string_equal(told, "one x\n");
	assert_int_equal(RUN("file:two", WORD("tool")), 0);
	assert_string_equal(told, "two\n");
	/* An empty part is the current folder. */
	add_script("tool", "#!/bin/sh\necho here", 0755);
	assert_int_equal(RUN(":two", WORD("tool")), 0);
	assert_string_equal(told, "here\n");
	/* A name with a slash is a path. */
	assert_int_equal(RUN("one", WORD("two/tool")), 0);
	assert_string_equal(told, "two\n");
}

static void errors_are_those_of_a_shell(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one", 0755) | mkdir("two", 0755), 0);
	assert_int_equal(RUN("one:two", WORD("tool")), ENOENT);
	assert_int_equal(RUN("one:two", WORD("")), ENOENT);
	assert_int_equal(RUN("one", WORD("./tool")), ENOENT);
	add_script("one/tool", "#!/bin/sh\necho one", 0644);
	assert_int_equal(RUN("one:two", WORD("tool")), EACCES);
	/* A later folder has one that may be run. */
	add_script("two/tool", "#!/bin/sh\necho two", 0755);
	assert_int_equal(RUN("one:two", WORD("tool")), 0);
	assert_string_equal(told, "two\n");
	put_text("file", "");
	assert_int_equal(RUN("one", WORD("file/tool")), ENOTDIR);
}

static char *failing_name;
static int exec_error;

static int search_while_exec_fails(void)
{
	struct exec_plan plan;

	if (exec_plan_make((char *[]){failing_name, NULL}, NULL, &plan) < 0 ||
	    !fail_call(SYS_execve, exec_error))
		return 255;
	return exec_plan_run(&plan);
}

/* The search goes on after some errors, and then finds nothing. A path has no other place, and its own error. */
static void only_an_absent_file_is_searched_elsewhere(void **state)
{
	static const int ABSENT[] = {ENOENT, ENOTDIR, ESTALE, ENODEV, ETIMEDOUT};
	static const int OTHERS[] = {EACCES, EIO, ELOOP, ENOMEM, ENOEXEC, ETXTBSY, E2BIG};
	static char name[] = "tool", path[] = "one/tool";

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(setenv("PATH", "one:two", 1), 0);
	for (size_t i = 0; i < sizeof ABSENT / sizeof *ABSENT; i++) {
		exec_error = ABSENT[i];
		failing_name = name;
		assert_int_equal(in_child(search_while_exec_fails), ENOENT);
		failing_name = path;
		assert_int_equal(in_child(search_while_exec_fails), exec_error);
	}
	failing_name = name;
	for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
		exec_error = OTHERS[i];
		assert_int_equal(in_child(search_while_exec_fails), exec_error);
	}
}

static void a_script_without_its_first_line_is_run_by_the_shell(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one", 0755), 0);
	add_script("one/tool", "echo $0 $1", 0755);
	assert_int_equal(RUN("one", WORD("tool"), WORD("x")), 0);
	assert_string_equal(told, "one/tool x\n");
}

static void without_a_path_the_usual_folders_are_searched(void **state)
{
	(void)state;
	assert_int_equal(RUN(NULL, WORD("sh"), WORD("-c"), WORD("echo found")), 0);
	assert_string_equal(told, "found\n");
}

static void variables_are_added_or_replaced(void **state)
{
	const char *const additions[] = {"OURS=1", "GIVEN=new", NULL};

	(void)state;
	setenv("GIVEN", "old", 1);
	setenv("GIVEN_LONGER", "stays", 1);
	assert_int_equal(
		run_with("/bin:/usr/bin", additions,
			 (char *[]){WORD("sh"), WORD("-c"), WORD("echo $OURS $GIVEN $GIVEN_LONGER"), NULL}),
		0);
	assert_string_equal(told, "1 new stays\n");
	unsetenv("GIVEN");
	unsetenv("GIVEN_LONGER");
}

/* A name counts up to its "=", and odd entries stay as they are. */
static void each_variable_is_there_once(void **state)
{
	char *own[] = {WORD("A=1"), WORD("AB=2"), WORD("ODD"), WORD("C=3"), NULL}, **before = environ;
	const char *const additions[] = {"C=30", "A=10", "ODD=40", "D=5", "D=50", "B=6", NULL};
	static const char *const MERGED[] = {"A=10", "AB=2", "ODD", "C=30", "ODD=40", "D=50", "B=6"};
	enum { COUNT = sizeof MERGED / sizeof *MERGED };
	char *argv[] = {WORD("./tool"), NULL};
	struct exec_plan plan;
	int result;

	(void)state;
	environ = own;
	result = exec_plan_make(argv, additions, &plan);
	environ = before;
	assert_int_equal(result, 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_string_equal(plan.environment[i], MERGED[i]);
	assert_null(plan.environment[COUNT]);
	exec_plan_free(&plan);
}

static void a_command_has_a_word(void **state)
{
	struct exec_plan plan;

	(void)state;
	assert_int_equal(exec_plan_make((char *[]){NULL}, NULL, &plan), -EINVAL);
}

/* ---- what a job inherits ---- */

/* In a child: the tracker changes its own attributes, and the job gets back those that came. */
static int restored(void (*change)(void), bool (*is_right)(void))
{
	static struct wrap wrap;
	int status;
	pid_t child = fork_for_a_minute();

	if (child == 0) {
		memset(&wrap, 0, sizeof wrap);
		wrap.mode = WRAP_JOB;
		change();
		inherited_capture(&wrap);
		if (change && is_right() && getenv("SAME"))
			_exit(2);
		/* The job starts two seconds later. */
		wrap.inherited.timers_read_ns -= 2 * NSEC_PER_SEC;
		inherited_restore_for_job(&wrap);
		_exit(is_right() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

/* Sees the signal of an alarm that was due before it began. */
static bool has_a_fork_all(const struct wrap *wrap)
{
	struct itimerval cpu, user;
	int death_signal = 0, is_subreaper = 0;
	siginfo_t info;
	signal_set mask;

	inherited_restore_for_job(wrap);
	prctl(PR_GET_PDEATHSIG, &death_signal);
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	getitimer(ITIMER_PROF, &cpu);
	getitimer(ITIMER_VIRTUAL, &user);
	mask_signals(SIG_BLOCK, 0, &mask);
	if (death_signal != SIGUSR1 || is_subreaper != 1 || mask != SIGNAL_BIT(SIGALRM))
		return false;
	if (cpu.it_value.tv_sec != 50 || cpu.it_value.tv_usec < 100000 || cpu.it_value.tv_usec > 400000 ||
	    user.it_value.tv_sec != 60 || user.it_value.tv_usec < 600000 || user.it_value.tv_usec > 900000)
		return false;
	return take_signal(SIGNAL_BIT(SIGALRM), &info, 30 * NSEC_PER_SEC) == SIGALRM;
}

/* A fork drops timers, the parent-death signal, and that its parent adopts orphans. */
static int restore_in_a_fork(void)
{
	struct wrap wrap = {.mode = WRAP_JOB};
	struct itimerval timer = {.it_value = {.tv_sec = 50, .tv_usec = 250000}};
	int status, is_subreaper = 0;
	pid_t pid;

	setitimer(ITIMER_PROF, &timer, NULL);
	timer.it_value = (struct timeval){.tv_sec = 60, .tv_usec = 750000};
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	alarm(30);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	inherited_capture(&wrap);
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	if (alarm(0) || is_subreaper != 1)
		return 2;
	wrap.inherited.mask = SIGNAL_BIT(SIGALRM);
	wrap.inherited.timers_read_ns -= 40 * NSEC_PER_SEC;
	mask_signals(SIG_BLOCK, ALL_SIGNALS, NULL);
	pid = fork();
	if (pid == 0)
		_exit(has_a_fork_all(&wrap) ? 0 : 1);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 3;
	return WEXITSTATUS(status);
}

static void ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
}

static bool ignores_children(void)
{
	struct sigaction child, broken;

	sigaction(SIGCHLD, NULL, &child);
	sigaction(SIGPIPE, NULL, &broken);
	return child.sa_handler == SIG_IGN && broken.sa_handler == SIG_DFL;
}

static void set_timers(void)
{
	struct itimerval timer = {.it_value = {.tv_sec = 40, .tv_usec = 250000}, .it_interval.tv_sec = 7};

	alarm(0);
	setitimer(ITIMER_REAL, &timer, NULL);
	timer.it_value.tv_sec = 50;
	setitimer(ITIMER_PROF, &timer, NULL);
}

static bool has_timers(void)
{
	struct itimerval real, cpu, none;

	getitimer(ITIMER_REAL, &real);
	getitimer(ITIMER_PROF, &cpu);
	getitimer(ITIMER_VIRTUAL, &none);
	/* Only the first one has run on meanwhile. */
	return real.it_value.tv_sec >= 28 && real.it_value.tv_sec <= 38 && real.it_interval.tv_sec == 7 &&
	       cpu.it_value.tv_sec == 50 && !none.it_value.tv_sec && !none.it_value.tv_usec;
}

static void limit_files(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 100;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool has_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100;
}

static void a_job_gets_our_attributes_back(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	setenv("SAME", "1", 1); /* it is an error if the tracker itself still has them */
	assert_int_equal(restored(ignore_children, ignores_children), 0);
	assert_int_equal(restored(set_timers, has_timers), 0);
	assert_int_equal(restored(limit_files, has_limit), 0);
	unsetenv("SAME");
	assert_int_equal(in_child(restore_in_a_fork), 0);
}

static int capture_for_a_watch(void)
{
	struct wrap wrap = {.mode = WRAP_WATCH};
	int is_subreaper = 0;

	alarm(30);
	inherited_capture(&wrap);
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return alarm(0) > 0 && is_subreaper == 1 ? 0 : 1;
}

/* A watch starts no job, to which it could hand them. */
static void a_watch_keeps_its_timers(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(capture_for_a_watch), 0);
}

/* ---- children that are not the job's ---- */

static void a_set_keeps_each_process_once(void **state)
{
	struct pid_set set = {0};

	(void)state;
	for (int round = 0; round < 2; round++)
		for (pid_t pid = 1; pid <= 20; pid++)
			assert_int_equal(pid_set_add(&set, pid), 0);
	assert_int_equal(set.count, 20);
	pid_set_remove(&set, 7);
	pid_set_remove(&set, 7);
	pid_set_remove(&set, 99);
	assert_int_equal(set.count, 19);
	for (pid_t pid = 1; pid <= 20; pid++)
		assert_true(pid_set_has(&set, pid) == (pid != 7));
	pid_set_free(&set);
	assert_false(pid_set_has(&set, 1));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_first_folder_that_has_it_counts),
		unit_test_in_scratch(errors_are_those_of_a_shell),
		unit_test_in_scratch(only_an_absent_file_is_searched_elsewhere),
		unit_test_in_scratch(a_script_without_its_first_line_is_run_by_the_shell),
		unit_test_in_scratch(without_a_path_the_usual_folders_are_searched),
		unit_test_in_scratch(variables_are_added_or_replaced),
		cmocka_unit_test(each_variable_is_there_once),
		cmocka_unit_test(a_command_has_a_word),
		cmocka_unit_test(a_job_gets_our_attributes_back),
		cmocka_unit_test(a_watch_keeps_its_timers),
		cmocka_unit_test(a_set_keeps_each_process_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
