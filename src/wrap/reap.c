/*
 * Reaping: the job, the orphans that come to us as subreaper or PID 1, and silently what is not the job's.
 *
 * Each is looked at as a zombie first (waitid with WNOWAIT), while its files and its CPU clock can still be
 * read.
 */
#include <errno.h>
#include <sys/wait.h>

#include "wrap/peek.h"
#include "wrap/state.h"

enum {
	/* At most so many at once: a storm of orphans must not keep us from sampling. */
	REAP_BATCH = 256,
};

/* waitid() with its fifth argument, which the C libraries leave out. Returns the dead child or 0. */
static pid_t find_dead(idtype_t type, pid_t pid, struct rusage *ret_usage)
{
	siginfo_t info = {0};

	if (syscall(SYS_waitid, type, pid, &info, WEXITED | WNOHANG | WNOWAIT, ret_usage) < 0)
		return 0;
	return info.si_pid;
}

static void note_end(struct wrap *wrap, int64_t now_ns, int status, const struct rusage *usage)
{
	wrap->end = (struct wrap_end){
		.pid = wrap->job,
		.status = status,
		.usage = *usage,
		.end_ns = now_ns,
		.exec_error = atomic_load(&wrap->page->exec_error),
	};
	wrap->job = 0;
	wrap->job_ended = true;
}

static void reap_one(struct wrap *wrap, pid_t pid, struct rusage *usage)
{
	const struct wrap_hooks *hooks = wrap->hooks;
	bool is_foreign = wrap_is_foreign(wrap, pid);
	int64_t now_ns = monotonic_now_ns();
	int status;

	/* Its address space takes as long to go as ours: let it go while we finish. */
	if (pid == wrap->job)
		witness_kill(wrap);
	if (!is_foreign && hooks->reaping)
		hooks->reaping(hooks->context, pid, usage);
	if (wait4(pid, &status, WNOHANG, usage) != pid)
		return;
	if (pid == wrap->witness)
		wrap->witness = 0;
	pid_set_remove(&wrap->foreign, pid);
	if (is_foreign)
		return;
	if (pid == wrap->job)
		note_end(wrap, now_ns, status, usage);
	if (hooks->reaped)
		hooks->reaped(hooks->context, pid, status, usage);
}

bool reap_children(struct wrap *wrap)
{
	struct rusage usage;

	/* By its pid first: among all children its turn may come late. */
	if (wrap->job && find_dead(P_PID, wrap->job, &usage))
		reap_one(wrap, wrap->job, &usage);
	for (int i = 0; i < REAP_BATCH; i++) {
		pid_t pid = find_dead(P_ALL, 0, &usage);

		if (!pid)
			return false;
		reap_one(wrap, pid, &usage);
	}
	return true;
}

/* Our children that are not foreign. A negative errno where the kernel does not list them. */
static int list_own(struct wrap *wrap, struct pid_set *ret_set)
{
	struct pid_set all = {0};
	int result = wrap->has_own_proc ? add_thread_children(wrap->own_pid, wrap->own_pid, &all) : -ENOENT;

	for (size_t i = 0; i < all.count && result == 0; i++) {
		if (!wrap_is_foreign(wrap, all.pids[i]))
			result = pid_set_add(ret_set, all.pids[i]);
	}
	pid_set_free(&all);
	return result;
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool has_descendants(struct wrap *wrap)
{
	struct pid_set own = {0};
	bool any;

	witness_reap(wrap);
	if (!has_children())
		return false;
	if (!wrap->foreign.count)
		return true;
	/* The list may omit a child now and then; only what is on it is certain. */
	any = list_own(wrap, &own) < 0 || own.count > 0 || list_own(wrap, &own) < 0 || own.count > 0;
	pid_set_free(&own);
	return any;
}

int wrap_count_descendants(struct wrap *wrap)
{
	struct pid_set found = {0};
	int result;

	witness_kill(wrap);
	witness_reap(wrap);
	if (!has_children())
		return 0;
	result = list_own(wrap, &found);
	/* Grows while it is walked. */
	for (size_t i = 0; i < found.count; i++)
		add_children(found.pids[i], &found);
	if (result == 0)
		result = (int)found.count;
	pid_set_free(&found);
	return result;
}
