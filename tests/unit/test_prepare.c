/* Tests of src/wrap/prepare.c and peek.c: the process that will wrap a job, in a child of the test, and questions to /proc. */
#include "wrap_children.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include "wrap/peek.h"

static int occupies_closed_streams(void)
{
	struct wrap *wrap;
	struct stat status;
	char byte;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) != FD_CLOEXEC || fstat(fd, &status) < 0 || !S_ISCHR(status.st_mode))
			return 2 + fd;
	/* Samples to a closed stdout fail. */
	if (write(STDOUT_FILENO, "x", 1) >= 0 || errno != EBADF)
		return 5;
	return write(STDERR_FILENO, "x", 1) == 1 && read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 6;
}

/* In a file system without /dev. */
static int occupies_closed_streams_without_devices(void)
{
	char folder[] = "/tmp/rt-unit-XXXXXX";
	struct wrap *wrap;

	if (!mkdtemp(folder) || chdir(folder) < 0 || rmdir(folder) < 0)
		return 1;
	if (chroot(".") < 0)
		return errno == EPERM ? 0 : 2;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 3;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) != FD_CLOEXEC)
			return 4 + fd;
	return 0;
}

static int leaves_open_streams(void)
{
	struct wrap *wrap;
	int ends[2], next, again;

	if (pipe(ends) < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
		return 1;
	next = dup(STDOUT_FILENO);
	close(next);
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 2;
	again = dup(STDOUT_FILENO);
	if (again != next)
		return 4; /* a descriptor was opened beside them */
	return fcntl(STDOUT_FILENO, F_GETFD) == 0 && write(STDOUT_FILENO, "x", 1) == 1 ? 0 : 3;
}

static int prepares_once(void)
{
	struct wrap *wrap, *again = NULL;
	int is_subreaper = 0;

	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	if (wrap_witness(wrap))
		return 2; /* no job is left */
	if (wrap_prepare(WRAP_JOB, NULL, &again) != -EBUSY || again)
		return 3;
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return is_subreaper == 1 && wrap->own_pid == getpid() && wrap->has_own_proc ? 0 : 4;
}

enum { IS_REFUSED = 100 };

/* The numbers of its /proc are those of other processes. */
static int prepares_in_a_namespace(void)
{
	struct wrap *wrap;
	int status;
	pid_t pid;

	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWPID : CLONE_NEWPID) < 0)
		return IS_REFUSED;
	pid = fork();
	if (pid == 0)
		_exit(wrap_prepare(WRAP_WATCH, NULL, &wrap) == 0 && wrap->own_pid == 1 && !wrap->has_own_proc
			      ? 0
			      : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 2;
	return WEXITSTATUS(status);
}

static void a_proc_of_another_namespace_is_not_asked(void **state)
{
	int code;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	code = in_child(prepares_in_a_namespace);
	if (code == IS_REFUSED)
		SKIP("this user may make no namespace");
	assert_int_equal(code, 0);
}

static bool blocks(int signo)
{
	signal_set mask = 0;

	mask_signals(SIG_SETMASK, 0, &mask);
	mask_signals(SIG_SETMASK, mask, NULL);
	return mask & SIGNAL_BIT(signo);
}

static int gives_all_back(void)
{
	struct wrap *wrap;
	int is_subreaper = 1;
	pid_t witness;

	wrap_undo(); /* nothing was prepared */
	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0)
		return 1;
	witness = wrap_witness(wrap);
	if (witness <= 0 || !wrap_is_foreign(wrap, witness) || !blocks(SIGTERM))
		return 2;
	wrap_undo();
	if (kill(witness, 0) == 0 || wrap_witness(wrap) || blocks(SIGTERM))
		return 3;
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return is_subreaper ? 4 : 0;
}

static int keeps_a_subreaper(void)
{
	struct wrap *wrap;
	int is_subreaper = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0)
		return 1;
	wrap_undo();
	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return is_subreaper ? 0 : 2;
}

static int ends_the_witness(void)
{
	struct wrap *wrap;
	pid_t witness;

	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0)
		return 1;
	witness = wrap_witness(wrap);
	wrap_finish(wrap);
	if (kill(witness, 0) == 0 || wrap_witness(wrap))
		return 2;
	wrap_finish(wrap);
	return 0;
}

static int releases_its_streams(void)
{
	char byte;
	int ends[2];

	if (pipe(ends) < 0 || dup2(ends[1], STDOUT_FILENO) < 0 || dup2(ends[0], STDIN_FILENO) < 0)
		return 1;
	if (write(STDOUT_FILENO, "x", 1) != 1)
		return 2;
	wrap_release_stdio(true);
	if (read(STDIN_FILENO, &byte, 1) != 0 || fcntl(STDIN_FILENO, F_GETFD) != FD_CLOEXEC)
		return 3;
	if (write(STDOUT_FILENO, "y", 1) != 1 || read(ends[0], &byte, 1) != 1 || byte != 'x')
		return 4;
	wrap_release_stdio(false);
	if (write(STDOUT_FILENO, "z", 1) != 1 || read(ends[0], &byte, 1) != 1 || byte != 'y')
		return 5;
	close(ends[1]);
	return read(ends[0], &byte, 1) == 0 ? 0 : 6;
}

static void a_process_is_prepared_for_a_job(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(occupies_closed_streams), 0);
	assert_int_equal(in_child(occupies_closed_streams_without_devices), 0);
	assert_int_equal(in_child(leaves_open_streams), 0);
	assert_int_equal(in_child(prepares_once), 0);
	assert_int_equal(in_child(gives_all_back), 0);
	assert_int_equal(in_child(keeps_a_subreaper), 0);
	assert_int_equal(in_child(ends_the_witness), 0);
	assert_int_equal(in_child(releases_its_streams), 0);
}

static void a_job_without_words_or_beside_another_is_refused(void **state)
{
	char *none[] = {NULL}, *words[] = {(char *)"true", NULL};
	struct wrap wrap = {.job = 1 << 22};
	struct wrap_started started = {0};

	(void)state;
	assert_int_equal(wrap_spawn(&wrap, &(struct wrap_job){.argv = words}, &started), -EBUSY);
	wrap.job = 0;
	assert_int_equal(wrap_spawn(&wrap, &(struct wrap_job){.argv = none}, &started), -EINVAL);
	assert_int_equal(wrap.job, 0);
	assert_int_equal(started.pid, 0);
	assert_int_equal(wrap_run(&wrap, NULL, false, NULL), -ECHILD);
}

/* The limit on processes may leave no room: the job comes first. */
static int starts_no_job(void)
{
	char *words[] = {(char *)"true", NULL};
	struct wrap_started started = {0};
	struct wrap *wrap;

	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0 || wrap_witness(wrap) <= 0)
		return 1;
#ifdef SYS_fork
	if (!refuse_call(SYS_fork))
		return 0;
#endif
	if (!refuse_call(SYS_clone))
		return 0;
	if (wrap_spawn(wrap, &(struct wrap_job){.argv = words}, &started) != -EPERM)
		return 2;
	return wrap_witness(wrap) || wrap->job || started.pid ? 3 : 0;
}

static void a_job_that_the_kernel_refuses_costs_the_witness(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(starts_no_job), 0);
}

/* The first process of a namespace cannot die of a signal. It exits as a shell would. */
static void an_end_by_a_signal_has_the_code_of_a_shell(void **state)
{
	(void)state;
	assert_int_equal(wrap_exit_code(&(struct wrap_end){.status = SIGKILL}), 128 + SIGKILL);
	assert_int_equal(wrap_exit_code(&(struct wrap_end){.status = 3 << 8}), 3);
}

/* ---- questions to /proc -------------------------------------------------------------------------------------------- */

static void a_process_is_looked_at(void **state)
{
	struct peek peek = {0};
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(peek_process(getpid(), &peek), 0);
	assert_int_equal(peek.state, 'R');
	assert_true(peek.threads >= 1);
	assert_int_equal(peek_process(1 << 22, &peek), -ENOENT);
	pid = start_sleeper();
	assert_int_equal(peek_process(pid, &peek), 0);
	assert_int_equal(peek.threads, 1);
	assert_true(peek.switches >= 1 && peek.switches < 1000);
	assert_true(peek.pending == 0);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	assert_int_equal(kill(pid, LAST_SIGNAL), 0);
	assert_int_equal(peek_process(pid, &peek), 0);
	assert_true(peek.pending == (SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(LAST_SIGNAL)));
	assert_false(is_stopped(pid));
	stop_child(pid);
	assert_true(is_stopped(pid));
	end_sleeper(pid);
	assert_false(is_stopped(pid));
}

static void the_children_of_a_process_are_listed(void **state)
{
	struct pid_set set = {0};
	pid_t first, second;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(add_children(1 << 22, &set), -ENOENT);
	assert_int_equal(add_thread_children(getpid(), 1 << 22, &set), -ENOENT);
	assert_int_equal(add_children(getpid(), &set), 0);
	assert_int_equal(set.count, 0);
	first = start_sleeper();
	second = start_sleeper();
	assert_int_equal(add_thread_children(getpid(), getpid(), &set), 0);
	assert_int_equal(set.count, 2);
	assert_true(pid_set_has(&set, first) && pid_set_has(&set, second));
	/* Once each. */
	assert_int_equal(add_children(getpid(), &set), 0);
	assert_int_equal(set.count, 2);
	end_sleeper(first);
	end_sleeper(second);
	pid_set_free(&set);
}

/* Their list is longer than a step of reading it. */
static void many_children_are_listed(void **state)
{
	enum { MANY = 1200 };
	static pid_t pids[MANY];
	struct pid_set set = {0};
	int count = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (; count < MANY; count++) {
		pids[count] = fork();
		if (pids[count] == 0)
			_exit(0);
		if (pids[count] < 0)
			break;
	}
	assert_int_equal(add_thread_children(getpid(), getpid(), &set), 0);
	for (int i = 0; i < count; i++) {
		assert_true(pid_set_has(&set, pids[i]));
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_int_equal(set.count, count);
	pid_set_free(&set);
	if (count < MANY)
		SKIP("this user may not have so many processes");
}

/* As when it has gone since its file was opened. */
static int reads_nothing(void)
{
	struct pid_set set = {0};
	struct peek peek = {.state = '?'};

	alarm(60);
	if (!fail_call(SYS_read, ESRCH))
		return 0;
	if (peek_process(getpid(), &peek) != -EBADMSG || peek.state != '?')
		return 1;
	return add_thread_children(getpid(), getpid(), &set) == 0 && set.count == 0 ? 0 : 2;
}

static void a_file_that_cannot_be_read_tells_nothing(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(reads_nothing), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_prepared_for_a_job),
		cmocka_unit_test(a_proc_of_another_namespace_is_not_asked),
		cmocka_unit_test(a_job_without_words_or_beside_another_is_refused),
		cmocka_unit_test(a_job_that_the_kernel_refuses_costs_the_witness),
		cmocka_unit_test(an_end_by_a_signal_has_the_code_of_a_shell),
		cmocka_unit_test(a_process_is_looked_at),
		cmocka_unit_test(the_children_of_a_process_are_listed),
		cmocka_unit_test(many_children_are_listed),
		cmocka_unit_test(a_file_that_cannot_be_read_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
