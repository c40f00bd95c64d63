/* Tests of src/wrap from the start of a job to its end, in a process of its own that wraps it as the command does. */
#include "burner.h"
#include "scratch.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "wrap/wrap.h"

enum { TRIES = 10000 };

/* The wrapping process counts here, in memory that both share. */
static struct seen {
	volatile int ticks, reaped, signals, forwarded, last_signal;
	volatile int exec_error, watch_end, watch_signal;
	volatile bool is_ready;
} * seen;

static int64_t deadline_ns;
static int early_signal; /* to the group of the wrapping process, before it starts its job */

static int64_t next_deadline(void *context)
{
	(void)context;
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
		const struct wrap_job job = {.argv = argv, .in_child = in_child};
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
	int status = status_of(start_wrapping(NULL, false, NULL));

	(void)state;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	assert_int_equal(seen->exec_error, ENOENT);
	status = status_of(start_wrapping("exit 0", false, refuse));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 125);
	assert_int_equal(seen->exec_error, -EPERM);
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
	wait_for_file("got");
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
		unit_test_of_job(a_watch_ends_with_its_target_or_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
