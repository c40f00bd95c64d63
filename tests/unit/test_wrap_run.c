/* Tests of src/wrap from the start of a job to its end, in a process of its own that wraps it as the command does. */
#include "burner.h"
#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "wrap/wrap.h"

enum { TRIES = 10000 };

/* The wrapping process counts here, in memory that both share. */
static struct seen {
	volatile int rounds, ticks, reaped, signals, forwarded, last_signal;
	volatile int exec_error, watch_end, watch_signal;
	volatile bool is_ready, in_cgroup;
} * seen;

static int64_t deadline_ns;
static int group_fd;     /* of the group to start the job in */
static int early_signal; /* to the group of the wrapping process, before it starts its job */

static int64_t next_deadline(void *context)
{
	(void)context;
	seen->rounds++;
	return deadline_ns;
}

static void tick(void *context)
{
	(void)context;
	seen->ticks++;
	deadline_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + 20 * NSEC_PER_MSEC;
}

static void count_reaped(void *context, pid_t pid, int status, const struct rusage *usage)
{
	(void)context, (void)pid, (void)status, (void)usage;
	seen->reaped++;
}

static void count_signal(void *context, const struct wrap_signal *signal)
{
	(void)context;
	seen->signals++;
	seen->forwarded += signal->forwarded;
	seen->last_signal = signal->signo;
}

static const struct wrap_hooks HOOKS = {
	.next_deadline_ns = next_deadline, .tick = tick, .reaped = count_reaped, .signalled = count_signal};

static int refuse(void *context)
{
	(void)context;
	return -EPERM;
}

/* Wraps `sh -c TEXT`, or with NULL a program that does not exist, in a process group of its own. */
static pid_t start_wrapping(const char *text, bool wait_descendants, int (*in_child)(void *))
{
	pid_t pid;

	if (is_emulated() || UNDER_THREAD_SANITISER)
		skip();
	pid = fork_for_a_minute();
	if (pid == 0) {
		char *argv[] = {strdup(text ? "sh" : "no such program"), strdup("-c"),
				strdup(text ? text : ""), NULL};
		const struct wrap_job job = {.argv = argv, .in_child = in_child, .cgroup_fd = group_fd};
		struct wrap_started started;
		struct wrap_end end;
		struct wrap *wrap;

		setpgid(0, 0);
		if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0)
			_exit(99);
		if (early_signal)
			kill(-getpid(), early_signal);
		if (wrap_spawn(wrap, &job, &started) != 0)
			_exit(99);
		seen->is_ready = true;
		seen->in_cgroup = started.in_cgroup;
		if (wrap_run(wrap, &HOOKS, wait_descendants, &end) != 0)
			_exit(98);
		seen->exec_error = end.exec_error;
		wrap_exit(wrap, &end);
	}
	return pid;
}

static int begin(void **state)
{
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return seen == MAP_FAILED ? -1 : scratch_enter(state);
}

static int end(void **state)
{
	munmap(seen, sizeof *seen);
	return scratch_leave(state);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* The job makes the file when it is ready. */
static void wait_for_file(const char *path)
{
	for (int i = 0; i < TRIES && access(path, F_OK) < 0; i++)
		usleep(1000);
	assert_int_equal(access(path, F_OK), 0);
}

/* The shell opens the file before it writes. */
static void wait_for_line(const char *path)
{
	struct stat file = {0};

	for (int i = 0; i < TRIES && !file.st_size; i++) {
		usleep(1000);
		(void)stat(path, &file);
	}
	assert_true(file.st_size > 0);
}

static void the_command_ends_as_the_job_ended(void **state)
{
	int status;

	(void)state;
	assert_int_equal(status_of(start_wrapping("exit 0", false, NULL)), 0);
	status = status_of(start_wrapping("exit 3", false, NULL));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	status = status_of(start_wrapping("kill -TERM $$", false, NULL));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	status = status_of(start_wrapping("kill -KILL $$", false, NULL));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	status = status_of(start_wrapping("ulimit -c 0; kill -ABRT $$", false, NULL));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && !WCOREDUMP(status));
	assert_int_equal(seen->exec_error, 0);
	assert_int_equal(seen->reaped, 5);
}

static void a_job_that_cannot_start_has_the_codes_of_a_shell(void **state)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin");
	int status;

	(void)state;
	assert_non_null(path);
	/* Each of these folders may be searched, which those of another user may not. */
	assert_int_equal(setenv("PATH", "/bin:/usr/bin", 1), 0);
	status = status_of(start_wrapping(NULL, false, NULL));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	assert_int_equal(seen->exec_error, ENOENT);
	put_text("no such program", "text");
	assert_int_equal(setenv("PATH", ".", 1), 0);
	status = status_of(start_wrapping(NULL, false, NULL));
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 126);
	assert_int_equal(seen->exec_error, EACCES);
	status = status_of(start_wrapping("exit 0", false, refuse));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 125);
	assert_int_equal(seen->exec_error, -EPERM);
	free(path);
}

/* The job writes a letter for each USR1, and ends at TERM. */
#define COUNTING_JOB \
	"exec 2> /dev/null; trap 'echo u >> got' USR1; trap 'echo t >> got; exit 5' TERM; touch ready; " \
	"while :; do sleep " \
	"0.02; done"

static void wait_for_signals(int count)
{
	for (int i = 0; i < TRIES && seen->signals < count; i++)
		usleep(1000);
	assert_int_equal(seen->signals, count);
}

static void a_signal_reaches_the_job_once(void **state)
{
	pid_t pid = start_wrapping(COUNTING_JOB, false, NULL);
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wait_for_file("ready");
	kill(pid, SIGUSR1);
	wait_for_signals(1);
	wait_for_line("got");
	assert_int_equal(seen->forwarded, 1);
	assert_int_equal(seen->last_signal, SIGUSR1);
	assert_file_text("got", "u\n");
	/* To the group: the job has it already. */
	kill(-pid, SIGUSR1);
	wait_for_signals(2);
	usleep(200000);
	assert_int_equal(seen->forwarded, 1);
	assert_file_text("got", "u\nu\n");
	kill(pid, SIGTERM);
	status = status_of(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	assert_file_text("got", "u\nu\nt\n");
}

/* It came before the job did, so that its group cannot have got it. The shell may not have its trap yet. */
static void a_signal_from_before_the_start_is_forwarded(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	early_signal = SIGUSR1;
	pid = start_wrapping("trap 'exit 9' USR1; while :; do sleep 0.01; done", false, NULL);
	early_signal = 0;
	status = status_of(pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGUSR1 : WEXITSTATUS(status) == 9);
	assert_int_equal(seen->signals, 1);
	assert_int_equal(seen->forwarded, 1);
}

static void a_job_that_stops_stops_the_command(void **state)
{
	pid_t pid = start_wrapping("touch ready; kill -STOP $$; exit 7", false, NULL);
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	status = status_of(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void processes_that_stay_are_waited_for_if_wanted(void **state)
{
	int64_t begun_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);

	(void)state;
	/* The shell ends at once, and the child that it leaves makes the file. */
	assert_int_equal(status_of(start_wrapping("(sleep 0.3; touch late) & exit 0", true, NULL)), 0);
	assert_int_equal(access("late", F_OK), 0);
	assert_true(SYSTEM_CLOCKS.monotonic_ns(NULL) - begun_ns >= 300 * NSEC_PER_MSEC);
	assert_true(seen->reaped >= 2);
	assert_int_equal(unlink("late"), 0);
	assert_int_equal(status_of(start_wrapping("(sleep 1; touch late) & exit 0", false, NULL)), 0);
	assert_true(access("late", F_OK) < 0);
	wait_for_file("late");
}

/* A signal that would end a program ends the wait. Others do not. */
static void a_signal_ends_the_wait_for_processes_that_stay(void **state)
{
	pid_t pid = start_wrapping("(touch stays; sleep 1) & exit 4", true, NULL);
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wait_for_file("stays");
	for (int i = 0; i < TRIES && !seen->reaped; i++)
		usleep(1000);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	usleep(20000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	status = status_of(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
	/* They were not waited for. */
	assert_int_equal(seen->reaped, 1);
	assert_int_equal(seen->signals, 0);
}

static void samples_are_taken_while_the_job_runs(void **state)
{
	(void)state;
	assert_int_equal(status_of(start_wrapping("sleep 0.3", false, NULL)), 0);
	/* One at the beginning, and then one in 20 ms, unless the machine is busy. */
	assert_true(seen->ticks >= 2 && seen->ticks <= 1 + 300 / 20 + 50);
}

static void a_sample_that_is_not_due_is_not_taken(void **state)
{
	(void)state;
	deadline_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + 3600 * NSEC_PER_SEC;
	assert_int_equal(status_of(start_wrapping("(exit 1) & exit 0", false, NULL)), 0);
	deadline_ns = 0;
	assert_true(seen->rounds > 0);
	assert_int_equal(seen->ticks, 0);
}

static int64_t cpu_usec(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 + usage->ru_utime.tv_usec +
	       usage->ru_stime.tv_usec;
}

/* Orphans that end meanwhile cost little CPU time, and the job gets none of their signals. */
static void a_job_is_waited_for_without_use_of_cpu(void **state)
{
	struct rusage before, after;
	pid_t pid;

	(void)state;
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
	pid = start_wrapping("(sleep 0.1 &); (sleep 0.2 &); sleep 0.6", false, NULL);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
	assert_true(cpu_usec(&after) - cpu_usec(&before) < 300000);
	/* Each round has a cause, even where the machine has no time for more: a tick, which asks twice, or a child. */
	assert_true(seen->rounds <= 2 * seen->ticks + 20);
	assert_int_equal(seen->signals, 0);
	assert_int_equal(seen->reaped, 3);
}

static int without_hooks(void)
{
	static const struct wrap_hooks NONE = {.context = NULL};
	static const char *const ADDITIONS[] = {"SAID=by the recorder", NULL};
	char sh[] = "sh", option[] = "-c",
	     text[] = "(sleep 0.05 &); [ \"$SAID\" = 'by the recorder' ] && kill -USR1 $PPID && sleep 0.3 && "
		      "exit 7";
	char *argv[] = {sh, option, text, NULL}, *no_words[] = {NULL};
	const struct wrap_job job = {.argv = argv, .environment = ADDITIONS}, no_job = {.argv = no_words};
	struct wrap_started started;
	struct wrap_end end;
	struct wrap *wrap;

	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0)
		return 1;
	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != -EBUSY)
		return 2;
	if (wrap_run(wrap, &NONE, false, &end) != -ECHILD)
		return 3;
	if (wrap_spawn(wrap, &no_job, &started) != -EINVAL)
		return 4;
	if (wrap_spawn(wrap, &job, &started) != 0 || started.pid <= 0 || started.in_cgroup)
		return 5;
	if (wrap_spawn(wrap, &job, &started) != -EBUSY)
		return 6;
	if (wrap_run(wrap, &NONE, false, &end) != 0 || end.pid != started.pid || end.exec_error)
		return 7;
	return wrap_exit_code(&end);
}

/* USR1 ends the job, which has no trap. */
static void hooks_may_be_left_out_and_calls_in_a_wrong_order_are_refused(void **state)
{
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		skip();
	pid = fork_for_a_minute();
	if (pid == 0)
		_exit(without_hooks());
	assert_int_equal(status_of(pid), (128 + SIGUSR1) << 8);
}

/* The words of the job may fit where the additions do not. */
static int with_an_addition_that_is_too_long(void)
{
	static char addition[256 << 10] = "LONG=";
	static const char *const ADDITIONS[] = {addition, NULL};
	char sh[] = "sh", option[] = "-c", text[] = "[ -z \"$LONG\" ] && exit 7";
	char *argv[] = {sh, option, text, NULL};
	const struct wrap_job job = {.argv = argv, .environment = ADDITIONS};
	struct wrap_started started;
	struct wrap_end end;
	struct wrap *wrap;

	memset(addition + 5, 'x', sizeof addition - 6);
	if (wrap_prepare(WRAP_JOB, NULL, &wrap) != 0 || wrap_spawn(wrap, &job, &started) != 0 ||
	    wrap_run(wrap, &HOOKS, false, &end) != 0)
		return 99;
	return wrap_exit_code(&end);
}

static void a_job_runs_without_additions_that_are_too_long(void **state)
{
	pid_t pid;

	(void)state;
	if (is_emulated() || UNDER_THREAD_SANITISER)
		skip();
	pid = fork_for_a_minute();
	if (pid == 0)
		_exit(with_an_addition_that_is_too_long());
	assert_int_equal(status_of(pid), 7 << 8);
}

/* ---- control groups ---- */

/* Makes a group of this test below that of its process, if it may, and returns its folder. */
static int make_group(char ret_path[static 300])
{
	static const char *const MOUNTS[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char own[200] = "", line[256];
	FILE *groups = fopen("/proc/self/cgroup", "re");

	while (groups && fgets(line, sizeof line, groups))
		if (strncmp(line, "0::", 3) == 0)
			snprintf(own, sizeof own, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	if (groups)
		fclose(groups);
	for (size_t i = 0; *own && i < 2; i++) {
		snprintf(ret_path, 300, "%s/cgroup.controllers", MOUNTS[i]);
		if (access(ret_path, F_OK) < 0)
			continue;
		snprintf(ret_path, 300, "%s%s/rt-unit-%d", MOUNTS[i], strcmp(own, "/") ? own : "",
			 (int)getpid());
		if (mkdir(ret_path, 0700) == 0)
			return open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return -1;
}

static void a_job_starts_in_the_group_that_is_made_for_it(void **state)
{
	char path[300], *found;
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	group_fd = make_group(path);
	if (group_fd < 0) {
		group_fd = 0;
		SKIP("this user may make no control group");
	}
	status = status_of(start_wrapping("cat /proc/self/cgroup > group; exit 5", false, NULL));
	close(group_fd);
	group_fd = 0;
	/* It is empty again. */
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(status, 5 << 8);
	assert_int_equal(seen->reaped, 1);
	if (!seen->in_cgroup)
		SKIP("this kernel starts no process in a group");
	found = get_file("group", NULL);
	assert_non_null(strstr(found, strrchr(path, '/')));
	free(found);
}

static void a_folder_that_is_no_group_is_done_without(void **state)
{
	(void)state;
	group_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(status_of(start_wrapping("exit 5", false, NULL)), 5 << 8);
	close(group_fd);
	group_fd = 0;
	assert_false(seen->in_cgroup);
	assert_int_equal(seen->reaped, 1);
}

/* ---- watching ---- */

static pid_t start_watching(pid_t target, bool keep_running)
{
	pid_t pid;

	if (is_emulated() || UNDER_THREAD_SANITISER)
		skip();
	pid = fork_for_a_minute();
	if (pid == 0) {
		struct wrap *wrap;
		int signo = 0;

		if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
			_exit(99);
		seen->is_ready = true;
		seen->watch_end = (int)wrap_watch(wrap, target, keep_running, &HOOKS, &signo);
		seen->watch_signal = signo;
		_exit(0);
	}
	for (int i = 0; i < TRIES && !seen->is_ready; i++)
		usleep(1000);
	return pid;
}

static void a_watch_ends_with_its_target_or_a_signal(void **state)
{
	pid_t target = start_burner(0), pid = start_watching(target, false);

	(void)state;
	usleep(50000);
	end_child(target);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(seen->watch_end, WRAP_TARGET_EXITED);
	assert_true(seen->ticks > 0);
	seen->is_ready = false;
	seen->watch_end = -1;
	pid = start_watching(0, false);
	kill(pid, SIGTERM);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(seen->watch_end, WRAP_STOPPED);
	assert_int_equal(seen->watch_signal, SIGTERM);
	/* One that goes on without its target. */
	seen->is_ready = false;
	seen->watch_end = -1;
	target = start_burner(0);
	pid = start_watching(target, true);
	end_child(target);
	usleep(200000);
	assert_int_equal(seen->watch_end, -1);
	kill(pid, SIGINT);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(seen->watch_signal, SIGINT);
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(the_command_ends_as_the_job_ended),
		unit_test_of_job(a_job_that_cannot_start_has_the_codes_of_a_shell),
		unit_test_of_job(a_signal_reaches_the_job_once),
		unit_test_of_job(a_signal_from_before_the_start_is_forwarded),
		unit_test_of_job(a_job_that_stops_stops_the_command),
		unit_test_of_job(processes_that_stay_are_waited_for_if_wanted),
		unit_test_of_job(a_signal_ends_the_wait_for_processes_that_stay),
		unit_test_of_job(samples_are_taken_while_the_job_runs),
		unit_test_of_job(a_sample_that_is_not_due_is_not_taken),
		unit_test_of_job(a_job_is_waited_for_without_use_of_cpu),
		unit_test_of_job(hooks_may_be_left_out_and_calls_in_a_wrong_order_are_refused),
		unit_test_of_job(a_job_runs_without_additions_that_are_too_long),
		unit_test_of_job(a_job_starts_in_the_group_that_is_made_for_it),
		unit_test_of_job(a_folder_that_is_no_group_is_done_without),
		unit_test_of_job(a_watch_ends_with_its_target_or_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
