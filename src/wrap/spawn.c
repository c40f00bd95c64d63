/* Starts the job: fork, restore the inherited attributes, exec. */
#include <errno.h>
#include <string.h>

#include "base/debug.h"
#include "wrap/exec_search.h"
#include "wrap/inherited.h"
#include "wrap/prepare.h"
#include "wrap/signals.h"
#include "wrap/state.h"
#include "wrap/witness.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum {
	NOT_FOUND_STATUS = 127,
	NOT_EXECUTABLE_STATUS = 126,
	OWN_ERROR_STATUS = 125,
};

/* struct clone_args of <linux/sched.h>. Older headers lack it or have fewer members. */
struct clone3_arguments {
	uint64_t flags;
	uint64_t pidfd;
	uint64_t child_tid;
	uint64_t parent_tid;
	uint64_t exit_signal;
	uint64_t stack;
	uint64_t stack_size;
	uint64_t tls;
	uint64_t set_tid;
	uint64_t set_tid_size;
	uint64_t cgroup;
};
#define INTO_CGROUP UINT64_C(0x200000000)

static pid_t fork_into_cgroup(int cgroup_fd)
{
	struct clone3_arguments arguments = {
		.flags = INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup_fd,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

static _Noreturn void run_child(const struct wrap *wrap, const struct wrap_job *job, struct exec_plan *plan)
{
	int error = job->in_child ? job->in_child(job->context) : 0;

	if (error < 0) {
		atomic_store(&wrap->page->exec_error, error);
		_exit(OWN_ERROR_STATUS);
	}
	inherited_restore_for_job(wrap);
	error = exec_plan_run(plan);
	if (error == E2BIG) {
		/* The words of the job may fit where the additions do not. */
		plan->environment = environ;
		error = exec_plan_run(plan);
	}
	atomic_store(&wrap->page->exec_error, error);
	_exit(error == ENOENT ? NOT_FOUND_STATUS : NOT_EXECUTABLE_STATUS);
}

/* Signals that came before the fork reached the tracker only. */
static void note_early_signals(struct wrap *wrap)
{
	siginfo_t info;

	while (take_signal(signals_wanted(wrap), &info, 0))
		signals_note(wrap, &info, true);
}

/*
 * Falls back to fork(), not vfork(): after a vfork the job's ru_maxrss would start with the tracker's size.
 */
static pid_t fork_job(const struct wrap_job *job, struct wrap_started *started)
{
	pid_t pid = job->cgroup_fd > 0 ? fork_into_cgroup(job->cgroup_fd) : -1;

	started->in_cgroup = pid > 0;
	return pid < 0 ? fork() : pid;
}

int wrap_spawn(struct wrap *wrap, const struct wrap_job *job, struct wrap_started *ret_started)
{
	struct wrap_started started = {0};
	struct exec_plan plan;
	int result;

	if (wrap->job)
		return -EBUSY;
	result = exec_plan_make(job->argv, job->environment, &plan);
	if (result < 0)
		return result;
	note_earlier_children(wrap);
	note_early_signals(wrap);
	started.start_ns = monotonic_now_ns();
	started.pid = fork_job(job, &started);
	if (started.pid < 0 && wrap->witness) {
		/* The last process that the limit allows belongs to the job. */
		witness_kill(wrap);
		witness_reap(wrap);
		started.pid = fork_job(job, &started);
	}
	result = started.pid < 0 ? -errno : 0;
	if (started.pid == 0)
		run_child(wrap, job, &plan);
	exec_plan_free(&plan);
	if (result < 0)
		return result;
	debug_say("job", debug_is_on() ? started.start_ns : 0, "is process %d", (int)started.pid);
	wrap->job = started.pid;
	*ret_started = started;
	return 0;
}
