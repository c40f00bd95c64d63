/* Tests of src/wrap/exec_search.c, inherited.c and pid_set.c: which program a command starts, and with what. */
#include "burner.h"
#include "scratch.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "wrap/pid_set.h"
#include "wrap/state.h"

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
		unit_test_in_scratch(a_script_without_its_first_line_is_run_by_the_shell),
		unit_test_in_scratch(without_a_path_the_usual_folders_are_searched),
		unit_test_in_scratch(variables_are_added_or_replaced),
		cmocka_unit_test(a_command_has_a_word),
		cmocka_unit_test(a_job_gets_our_attributes_back),
		cmocka_unit_test(a_set_keeps_each_process_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
