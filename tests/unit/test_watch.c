/* Tests of src/wrap/watch.c: when a watch ends. Each runs in a child, where signals are pending before the watch begins. */
#include "wrap_children.h"

#include <errno.h>
#include <stdio.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static int rounds, ticks, most_ticks;
static int64_t deadline_ns;

static int64_t next_deadline(void *context)
{
	(void)context;
	rounds++;
	return deadline_ns;
}

static void tick(void *context)
{
	(void)context;
	ticks++;
}

static bool is_done(void *context)
{
	(void)context;
	return ticks == most_ticks;
}

static const struct wrap_hooks HOOKS = {.next_deadline_ns = next_deadline, .tick = tick, .done = is_done};

/* A watch whose ticks are due at once, and that is done after three of them. */
static int watch(pid_t target, bool keep_running, void (*before)(void))
{
	struct wrap *wrap;
	int signo = -1, end;

	most_ticks = 3;
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 100;
	if (before)
		before();
	end = (int)wrap_watch(wrap, target, keep_running, &HOOKS, &signo);
	return end == WRAP_STOPPED ? signo : end == WRAP_DONE && signo == 0 ? 101 : signo == 0 ? 102 : 103;
}

enum { IS_DONE = 101, TARGET_EXITED = 102 };

static void hang_up(void)
{
	(void)kill(getpid(), SIGHUP);
}

static void interrupt(void)
{
	(void)kill(getpid(), SIGINT);
}

/* As the terminal does. */
static void press_interrupt(void)
{
	siginfo_t info = {.si_signo = SIGINT, .si_code = SI_KERNEL};

	syscall(SYS_rt_sigqueueinfo, getpid(), SIGINT, &info);
}

static void terminate(void)
{
	(void)kill(getpid(), SIGTERM);
}

static void lose_a_child(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	(void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
}

static int watch_and_hang_up(void)
{
	return watch(0, false, hang_up);
}

static int watch_after_nohup(void)
{
	signal(SIGHUP, SIG_IGN);
	return watch(0, false, hang_up);
}

static int watch_and_interrupt(void)
{
	return watch(0, false, press_interrupt);
}

static int watch_in_background(void)
{
	signal(SIGINT, SIG_IGN);
	return watch(0, false, press_interrupt);
}

static int watch_in_background_and_interrupt(void)
{
	signal(SIGINT, SIG_IGN);
	return watch(0, false, interrupt);
}

static int watch_and_terminate(void)
{
	return watch(0, false, terminate);
}

static int watch_without_ticks(void)
{
	deadline_ns = INT64_MAX;
	return watch(0, false, terminate);
}

/* A child is reaped in any round. */
static int watch_and_lose_a_child(void)
{
	int end = watch(0, false, lose_a_child);

	return end == IS_DONE && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 1;
}

/* The parent of this process goes on. A deadline of 0, or before it, has passed. */
static int watch_a_process_until_done(void)
{
	return watch(getppid(), false, NULL);
}

static int watch_a_process_and_terminate(void)
{
	deadline_ns = INT64_MAX;
	return watch(getppid(), false, terminate);
}

static int watch_until_done(void)
{
	int end = watch(0, false, NULL);

	return end == IS_DONE ? ticks : end;
}

/* The first tick is due in 50 ms. */
static int watch_for_a_while(void)
{
	int64_t begun_ns = monotonic_now_ns();
	struct wrap *wrap;
	int signo;

	most_ticks = 1;
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	deadline_ns = begun_ns + 50 * NSEC_PER_MSEC;
	if (wrap_watch(wrap, getppid(), false, &HOOKS, &signo) != WRAP_DONE)
		return 2;
	if (monotonic_now_ns() < deadline_ns)
		return 3;
	ticks = 0;
	deadline_ns = monotonic_now_ns() + 50 * NSEC_PER_MSEC;
	if (wrap_watch(wrap, 0, false, &HOOKS, &signo) != WRAP_DONE)
		return 4;
	return monotonic_now_ns() < deadline_ns ? 5 : 0;
}

/* The kinds of descriptors that were there in a tick. */
static unsigned kinds;

static void note_kinds(void *context)
{
	static const char *const KINDS[] = {"pidfd", "signalfd", "timerfd"};

	tick(context);
	kinds = 0;
	for (int fd = 0; fd < 100; fd++) {
		char path[40], target[60] = "";

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		(void)!readlink(path, target, sizeof target - 1);
		for (unsigned i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
			kinds |= strstr(target, KINDS[i]) ? 1U << i : 0;
	}
}

static int kinds_in_a_watch(void)
{
	const struct wrap_hooks hooks = {
		.next_deadline_ns = next_deadline, .tick = note_kinds, .done = is_done};
	struct wrap *wrap;
	int signo;

	most_ticks = 1;
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 100;
	(void)wrap_watch(wrap, getppid(), false, &hooks, &signo);
	return (int)kinds;
}

static int kinds_without_a_timer(void)
{
	return refuse_call(SYS_timerfd_create) ? kinds_in_a_watch() : 0;
}

static int kinds_without_signals(void)
{
	return refuse_call(SYS_signalfd4) ? kinds_in_a_watch() : 0;
}

static void tick_for_the_last_time(void *context)
{
	tick(context);
	deadline_ns = INT64_MAX;
}

/* It then sleeps until a signal comes, because the alarm of that tick is over. */
static int watch_after_the_last_tick(void)
{
	const struct wrap_hooks hooks = {.next_deadline_ns = next_deadline, .tick = tick_for_the_last_time};
	pid_t watcher = getpid();
	struct wrap *wrap;
	int signo;

	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	deadline_ns = monotonic_now_ns() + 20 * NSEC_PER_MSEC;
	if (fork() == 0) {
		usleep(60000);
		kill(watcher, SIGTERM);
		_exit(0);
	}
	if (wrap_watch(wrap, getppid(), false, &hooks, &signo) != WRAP_STOPPED || signo != SIGTERM ||
	    ticks != 1)
		return 2;
	return rounds < 20 ? 0 : 3;
}

static int look_after_the_last_tick(void)
{
	return refuse_call(SYS_pidfd_open) ? watch_after_the_last_tick() : 0;
}

static int watch_a_process_that_has_gone(void)
{
	return watch(1 << 22, false, NULL);
}

static int go_on_without_it(void)
{
	return watch(1 << 22, true, NULL);
}

/* Its parent is this process, which does not reap it before the watch looks. */
static int watch_a_zombie(void)
{
	pid_t pid = start_sleeper();
	struct wrap *wrap;
	int signo, end;

	most_ticks = 3;
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	deadline_ns = INT64_MAX;
	kill(pid, SIGKILL);
	end = (int)wrap_watch(wrap, pid, false, &HOOKS, &signo);
	return end == WRAP_TARGET_EXITED && signo == 0 ? 0 : 2;
}

static int watch_a_process_that_ends(long refused)
{
	pid_t pid = start_sleeper();
	struct wrap *wrap;
	int signo, end;

	if (!refuse_call(refused))
		return 0;
	most_ticks = 3;
	if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
		return 1;
	deadline_ns = 0;
	if (wrap_watch(wrap, pid, false, &HOOKS, &signo) != WRAP_DONE)
		return 2;
	deadline_ns = INT64_MAX;
	kill(pid, SIGKILL);
	end = (int)wrap_watch(wrap, pid, false, &HOOKS, &signo);
	return end == WRAP_TARGET_EXITED ? 0 : 3;
}

static int watch_without_a_descriptor(void)
{
	return watch_a_process_that_ends(SYS_pidfd_open);
}

static int watch_without_a_timer(void)
{
	return watch_a_process_that_ends(SYS_timerfd_create);
}

static int watch_without_signals(void)
{
	return watch_a_process_that_ends(SYS_signalfd4);
}

/* Its parent waits for another process, so that it stays a zombie. */
static int watch_an_unreaped_process(void)
{
	pid_t pid = start_sleeper();
	int result;

	if (!refuse_call(SYS_pidfd_open))
		return 0;
	kill(pid, SIGKILL);
	deadline_ns = INT64_MAX;
	result = fork();
	if (result == 0) {
		struct wrap *wrap;
		int signo;

		if (wrap_prepare(WRAP_WATCH, NULL, &wrap) != 0)
			_exit(1);
		_exit(wrap_watch(wrap, pid, false, &HOOKS, &signo) == WRAP_TARGET_EXITED ? 0 : 2);
	}
	if (waitpid(result, &result, 0) < 0 || !WIFEXITED(result))
		return 3;
	return WEXITSTATUS(result);
}

/* Nothing wakes the watcher, which is not its parent. */
static int watch_a_process_that_ends_later(void)
{
	pid_t pid = start_sleeper(), watcher;
	int status;

	deadline_ns = INT64_MAX;
	watcher = fork();
	if (watcher == 0)
		_exit(refuse_call(SYS_pidfd_open) ? watch(pid, false, NULL) : TARGET_EXITED);
	wait_for_state(watcher, 'S');
	end_sleeper(pid);
	return waitpid(watcher, &status, 0) == watcher && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Only its main thread has ended. */
static int watch_a_process_without_its_main_thread(void)
{
	pid_t pid = start_without_main_thread();

	return refuse_call(SYS_pidfd_open) ? watch(pid, false, NULL) : IS_DONE;
}

/* Linux before 5.3 has no descriptor of a process. */
static void a_watch_has_all_its_descriptors_or_none(void **state)
{
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	deadline_ns = 0;
	assert_int_equal(in_child(kinds_without_a_timer), 0);
	assert_int_equal(in_child(kinds_without_signals), 0);
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		SKIP("this kernel has no descriptors of processes");
	close(fd);
	assert_int_equal(in_child(kinds_in_a_watch), 7);
}

static void a_watch_looks_where_the_kernel_refuses_descriptors(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(watch_without_a_descriptor), 0);
	assert_int_equal(in_child(watch_without_a_timer), 0);
	assert_int_equal(in_child(watch_without_signals), 0);
	assert_int_equal(in_child(watch_an_unreaped_process), 0);
	assert_int_equal(in_child(look_after_the_last_tick), 0);
	assert_int_equal(in_child(watch_a_process_that_ends_later), TARGET_EXITED);
	deadline_ns = 0;
	assert_int_equal(in_child(watch_a_process_without_its_main_thread), IS_DONE);
}

static void a_watch_ends_by_a_signal(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	deadline_ns = 0;
	assert_int_equal(in_child(watch_and_terminate), SIGTERM);
	assert_int_equal(in_child(watch_and_hang_up), SIGHUP);
	assert_int_equal(in_child(watch_after_nohup), IS_DONE);
	assert_int_equal(in_child(watch_and_interrupt), SIGINT);
	/* A background job of a script gets no keys, but a signal. */
	assert_int_equal(in_child(watch_in_background), IS_DONE);
	assert_int_equal(in_child(watch_in_background_and_interrupt), SIGINT);
	assert_int_equal(in_child(watch_without_ticks), SIGTERM);
	assert_int_equal(in_child(watch_a_process_and_terminate), SIGTERM);
}

static void a_watch_ticks_until_it_is_done(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	deadline_ns = 0;
	assert_int_equal(in_child(watch_until_done), 3);
	assert_int_equal(in_child(watch_a_process_until_done), IS_DONE);
	deadline_ns = -1;
	assert_int_equal(in_child(watch_a_process_until_done), IS_DONE);
	deadline_ns = 0;
	assert_int_equal(in_child(watch_and_lose_a_child), 0);
	assert_int_equal(in_child(watch_for_a_while), 0);
	assert_int_equal(in_child(watch_after_the_last_tick), 0);
}

static void a_watch_ends_with_its_process(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	deadline_ns = 0;
	assert_int_equal(in_child(watch_a_process_that_has_gone), TARGET_EXITED);
	assert_int_equal(in_child(go_on_without_it), IS_DONE);
	assert_int_equal(in_child(watch_a_zombie), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_watch_ends_by_a_signal),
		cmocka_unit_test(a_watch_ticks_until_it_is_done),
		cmocka_unit_test(a_watch_ends_with_its_process),
		cmocka_unit_test(a_watch_has_all_its_descriptors_or_none),
		cmocka_unit_test(a_watch_looks_where_the_kernel_refuses_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
