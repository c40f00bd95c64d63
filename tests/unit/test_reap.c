/* Tests of src/wrap/reap.c: the job and its orphans are reaped, and children of others without a word. */
#include "wrap_children.h"
#include "wrap/prepare.h"
#include "wrap/reap.h"

static struct shared_page page;
static struct wrap wrap;
static pid_t reaping[4], reaped[4];
static int statuses[4];
static size_t reaping_count, reaped_count;

static void note_reaping(void *context, pid_t pid)
{
	(void)context;
	reaping[reaping_count++] = pid;
}

static void note_reaped(void *context, pid_t pid, int status, const struct rusage *usage)
{
	(void)context;
	assert_true(usage->ru_maxrss > 0);
	statuses[reaped_count] = status;
	reaped[reaped_count++] = pid;
}

static const struct wrap_hooks HOOKS = {.reaping = note_reaping, .reaped = note_reaped};

static int begin(void **state)
{
	(void)state;
	memset(&page, 0, sizeof page);
	memset(&wrap, 0, sizeof wrap);
	reaping_count = reaped_count = 0;
	wrap.page = &page;
	wrap.hooks = &HOOKS;
	wrap.own_pid = getpid();
	wrap.has_own_proc = true;
	return 0;
}

static int end(void **state)
{
	(void)state;
	pid_set_free(&wrap.foreign);
	return 0;
}

/* A child that has ended with this code. */
static pid_t start_ended(int code)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(code);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void the_end_of_the_job_is_noted(void **state)
{
	int64_t before_ns = monotonic_now_ns();
	pid_t orphan = start_ended(0);
	pid_t job = wrap.job = start_ended(3);

	(void)state;
	NEEDS_NO_EMULATOR();
	page.exec_error = ENOENT;
	assert_false(reap_children(&wrap));
	assert_true(wrap.job_ended);
	assert_int_equal(wrap.job, 0);
	assert_int_equal(wrap.end.pid, job);
	assert_int_equal(WEXITSTATUS(wrap.end.status), 3);
	assert_int_equal(wrap.end.exec_error, ENOENT);
	assert_true(wrap.end.usage.ru_maxrss > 0);
	assert_true(wrap.end.end_ns >= before_ns && wrap.end.end_ns <= monotonic_now_ns());
	/* It comes first, and the witness has no work any more. */
	assert_int_equal(reaped_count, 2);
	assert_int_equal(reaping_count, 2);
	assert_true(reaping[0] == job && reaped[0] == job && reaped[1] == orphan);
	assert_int_equal(statuses[0], wrap.end.status);
	assert_true(wrap.witness_killed);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_job_that_runs_is_left_alone(void **state)
{
	(void)state;
	NEEDS_NO_EMULATOR();
	wrap.job = start_sleeper();
	assert_false(reap_children(&wrap));
	assert_false(wrap.job_ended || wrap.witness_killed);
	assert_int_equal(reaped_count, 0);
	end_sleeper(wrap.job);
}

static void children_of_others_are_reaped_without_a_word(void **state)
{
	pid_t helper = start_ended(0);

	(void)state;
	NEEDS_NO_EMULATOR();
	assert_int_equal(wrap_disown(&wrap, helper), 0);
	assert_true(wrap_is_foreign(&wrap, helper));
	wrap.witness = start_ended(0);
	assert_true(wrap_is_foreign(&wrap, wrap.witness));
	assert_int_equal(wrap_witness(&wrap), wrap.witness);
	assert_false(reap_children(&wrap));
	assert_int_equal(reaping_count, 0);
	assert_int_equal(reaped_count, 0);
	assert_int_equal(wrap_witness(&wrap), 0);
	/* Another process may get its number. */
	assert_false(wrap_is_foreign(&wrap, helper));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A storm of orphans does not keep the tracker from its samples. */
static void many_orphans_are_reaped_in_batches(void **state)
{
	enum { BATCH = 256 };

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.hooks = &(struct wrap_hooks){0};
	for (int i = 0; i < BATCH + 1; i++)
		(void)start_ended(0);
	assert_true(reap_children(&wrap));
	assert_true(waitpid(-1, NULL, WNOHANG) > 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_false(reap_children(&wrap));
}

/* ---- where waitid(2) is refused ---------------------------------------------------------------------------------- */

static void a_stop_or_an_end_of_the_job_is_told_by_wait(void **state)
{
	pid_t job = wrap.job = start_sleeper();

	(void)state;
	NEEDS_NO_EMULATOR();
	assert_int_equal(wait_for_stop_of_job(&wrap), 0);
	assert_int_equal(kill(job, SIGSTOP), 0);
	while (!is_stopped(job))
		usleep(100);
	assert_int_equal(wait_for_stop_of_job(&wrap), SIGSTOP);
	assert_int_equal(wait_for_stop_of_job(&wrap), 0);
	assert_false(wrap.job_ended);
	assert_int_equal(kill(job, SIGKILL), 0);
	while (!wrap.job_ended)
		assert_int_equal(wait_for_stop_of_job(&wrap), 0);
	assert_int_equal(wrap.end.pid, job);
	assert_int_equal(WTERMSIG(wrap.end.status), SIGKILL);
	assert_int_equal(reaped_count, 1);
	assert_true(wrap.witness_killed);
}

/* The states of the children tell, and wait4(2) if they cannot be seen. The kernel says what ends, not the look before. */
static int reaps_without_waitid(void)
{
	/* The job is looked at first, although it is not the oldest. */
	pid_t orphan = start_ended(0), job = wrap.job = start_ended(3), sleeper = start_sleeper();

	wrap.own_pid = getpid();
	if (!refuse_call(SYS_waitid))
		return 0;
	if (reap_children(&wrap) || !wrap.job_ended || WEXITSTATUS(wrap.end.status) != 3)
		return 1;
	if (reaped_count != 2 || reaped[0] != job || reaped[1] != orphan)
		return 2;
	if (reaping_count != (wrap.has_own_proc ? 2 : 0))
		return 3;
	if (has_descendants(&wrap) != wrap.has_own_proc || is_stopped(sleeper))
		return 4;
	wrap.witness_killed = wrap.job_ended = false;
	wrap.job = sleeper;
	if (reap_children(&wrap) || wrap.job_ended || wrap.witness_killed || reaped_count != 2)
		return 5;
	end_sleeper(sleeper);
	wrap.job = 0;
	return reap_children(&wrap) || has_descendants(&wrap) ? 6 : 0;
}

static void children_are_reaped_where_the_kernel_refuses_a_look(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(reaps_without_waitid), 0);
	wrap.has_own_proc = false;
	assert_int_equal(in_child(reaps_without_waitid), 0);
}

/* Its threads are not all over, so it has not ended yet. */
static int waits_for_the_last_thread(void)
{
	pid_t job = wrap.job = start_without_main_thread();

	wrap.own_pid = getpid();
	if (!refuse_call(SYS_waitid))
		return 0;
	if (reap_children(&wrap) || wrap.job_ended || wrap.witness_killed || reaping_count || reaped_count)
		return 1;
	kill(job, SIGKILL);
	while (!wrap.job_ended) {
		(void)reap_children(&wrap);
		usleep(100);
	}
	return wrap.end.pid == job && WTERMSIG(wrap.end.status) == SIGKILL && reaping_count == 1 ? 0 : 2;
}

/* Old kernels list no children: only wait4(2) knows who has ended. */
static int reaps_children_that_are_not_listed(void)
{
	pid_t orphan = start_ended(0);

	wrap.own_pid = 1 << 22;
	if (!refuse_call(SYS_waitid))
		return 0;
	if (reap_children(&wrap) || reaped_count != 1 || reaped[0] != orphan || reaping_count)
		return 1;
	return has_descendants(&wrap) ? 2 : 0;
}

static void threads_and_lists_are_looked_at_where_the_kernel_refuses_a_look(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(waits_for_the_last_thread), 0);
	assert_int_equal(in_child(reaps_children_that_are_not_listed), 0);
}

/* ---- descendants ------------------------------------------------------------------------------------------------- */

/* A child that has a child, which it names. Both end with it. */
static pid_t start_parent(pid_t *ret_child)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		pid_t child = fork();

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (child && write(ends[1], &child, sizeof child) != sizeof child)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], ret_child, sizeof *ret_child), sizeof *ret_child);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void descendants_are_counted(void **state)
{
	pid_t child = 0, parent, helper;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_false(has_descendants(&wrap));
	assert_int_equal(wrap_count_descendants(&wrap), 0);
	parent = start_parent(&child);
	assert_true(has_descendants(&wrap));
	assert_int_equal(wrap_count_descendants(&wrap), 2);
	assert_true(wrap.witness_killed);
	/* A helper is none of them. */
	helper = start_sleeper();
	assert_int_equal(wrap_disown(&wrap, helper), 0);
	assert_true(has_descendants(&wrap));
	assert_int_equal(wrap_count_descendants(&wrap), 2);
	assert_int_equal(wrap_disown(&wrap, parent), 0);
	assert_false(has_descendants(&wrap));
	assert_int_equal(wrap_count_descendants(&wrap), 0);
	/* Where the kernel lists no children, a foreign one may hide one of ours. */
	wrap.has_own_proc = false;
	assert_true(has_descendants(&wrap));
	assert_int_equal(wrap_count_descendants(&wrap), -ENOENT);
	end_sleeper(helper);
	kill(child, SIGKILL);
	end_sleeper(parent);
	assert_false(has_descendants(&wrap));
}

static void children_from_before_the_job_are_foreign(void **state)
{
	pid_t before = start_sleeper();

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	wrap.has_own_proc = false;
	note_earlier_children(&wrap);
	assert_false(wrap_is_foreign(&wrap, before));
	wrap.has_own_proc = true;
	note_earlier_children(&wrap);
	assert_true(wrap_is_foreign(&wrap, before));
	assert_int_equal(wrap.foreign.count, 1);
	end_sleeper(before);
}

#define REAP_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		REAP_TEST(the_end_of_the_job_is_noted),
		REAP_TEST(a_job_that_runs_is_left_alone),
		REAP_TEST(children_of_others_are_reaped_without_a_word),
		REAP_TEST(many_orphans_are_reaped_in_batches),
		REAP_TEST(a_stop_or_an_end_of_the_job_is_told_by_wait),
		REAP_TEST(children_are_reaped_where_the_kernel_refuses_a_look),
		REAP_TEST(threads_and_lists_are_looked_at_where_the_kernel_refuses_a_look),
		REAP_TEST(descendants_are_counted),
		REAP_TEST(children_from_before_the_job_are_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
