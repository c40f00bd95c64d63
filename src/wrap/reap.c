/*
 * Reaps the job, the orphans that come to the tracker as subreaper or PID 1, and (without calling a hook)
 * children that do not belong to the job.
 *
 * Each child is first looked at as a zombie (waitid with WNOWAIT), while its files and its CPU clock can
 * still be read.
 */
#include <errno.h>
#include <sys/wait.h>

#include "base/wait_child.h"
#include "wrap/peek.h"
#include "wrap/reap.h"
#include "wrap/state.h"
#include "wrap/witness.h"

enum {
	/* Limit per call: a storm of orphans must not keep the tracker from sampling. */
	REAP_BATCH = 256,
	ANY_CHILD = -1, /* one may be dead: ask wait4(2) */
};

/* A main thread that has exited is shown as a zombie, too, while other threads of its process run. */
static bool is_zombie(pid_t pid)
{
	struct peek peek = {0};

	return peek_process(pid, &peek) == 0 && peek.state == 'Z' && peek.threads <= 1;
}

/*
 * A seccomp filter may refuse waitid(2). Then read the states of the children from /proc. If /proc does not
 * show them, only wait4(2) can tell, and a child's files are gone before they can be read.
 */
static pid_t find_zombie(const struct wrap *wrap, idtype_t type, pid_t pid)
{
	struct pid_set children = {0};
	pid_t found = 0;

	if (!wrap->has_own_proc)
		return type == P_PID ? -pid : ANY_CHILD;
	if (type == P_PID)
		return is_zombie(pid) ? pid : 0;
	if (add_thread_children(wrap->own_pid, wrap->own_pid, &children) < 0)
		found = ANY_CHILD;
	for (size_t i = 0; i < children.count && !found; i++)
		found = is_zombie(children.pids[i]) ? children.pids[i] : 0;
	pid_set_free(&children);
	return found;
}

/* Returns the dead child or 0. Returns -PID or ANY_CHILD if only wait4(2) can tell whether it is dead. */
static pid_t find_dead(const struct wrap *wrap, idtype_t type, pid_t pid)
{
	siginfo_t info = {0};

	if (waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		return info.si_pid;
	if (errno == ECHILD)
		return 0;
	return find_zombie(wrap, type, pid);
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

static void note_reaped(struct wrap *wrap, pid_t pid, int64_t now_ns, int status, const struct rusage *usage)
{
	if (pid == wrap->job)
		note_end(wrap, now_ns, status, usage);
	if (wrap->hooks->reaped)
		wrap->hooks->reaped(wrap->hooks->context, pid, status, usage);
}

int wait_for_stop_of_job(struct wrap *wrap)
{
	int64_t now_ns = monotonic_now_ns();
	struct rusage usage;
	int status;
	pid_t pid = wait4(wrap->job, &status, WNOHANG | WUNTRACED, &usage);

	if (pid <= 0)
		return 0;
	if (WIFSTOPPED(status))
		return WSTOPSIG(status);
	witness_kill(wrap);
	note_reaped(wrap, pid, now_ns, status, &usage);
	return 0;
}

/* Returns whether a child was reaped. `pid` comes from find_dead(). */
static bool reap_one(struct wrap *wrap, pid_t pid)
{
	const struct wrap_hooks *hooks = wrap->hooks;
	bool is_foreign = wrap_is_foreign(wrap, pid);
	int64_t now_ns = monotonic_now_ns();
	struct rusage usage;
	int status;

	/*
	 * The witness has no work left. The kernel needs as long to free its address space as for ours, so
	 * start that now.
	 */
	if (pid == wrap->job)
		witness_kill(wrap);
	if (!is_foreign && pid > 0 && hooks->reaping)
		hooks->reaping(hooks->context, pid);
	pid = wait_child(pid < ANY_CHILD ? -pid : pid, &status, WNOHANG, &usage);
	if (pid <= 0)
		return false;
	is_foreign = wrap_is_foreign(wrap, pid);
	if (pid == wrap->witness)
		witness_lost(wrap);
	pid_set_remove(&wrap->foreign, pid);
	if (is_foreign)
		return true;
	note_reaped(wrap, pid, now_ns, status, &usage);
	return true;
}

bool reap_children(struct wrap *wrap)
{
	pid_t pid;

	/* Look for the job by its pid: among many dead children its turn could come late. */
	if (wrap->job && (pid = find_dead(wrap, P_PID, wrap->job)))
		reap_one(wrap, pid);
	for (int i = 0; i < REAP_BATCH; i++) {
		pid = find_dead(wrap, P_ALL, 0);
		if (!pid || !reap_one(wrap, pid))
			return false;
	}
	return true;
}

/* Lists our children that are not foreign. A negative errno if the kernel does not list children. */
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

static bool has_children(struct wrap *wrap)
{
	struct pid_set own = {0};
	siginfo_t info;
	bool any;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		return true;
	if (errno == ECHILD)
		return false;
	/* A filter of system calls refuses to tell. */
	any = list_own(wrap, &own) == 0 && own.count > 0;
	pid_set_free(&own);
	return any;
}

bool has_descendants(struct wrap *wrap)
{
	struct pid_set own = {0};
	bool any = false;

	witness_reap(wrap);
	if (!has_children(wrap))
		return false;
	if (!wrap->foreign.count)
		return true;
	/* The kernel's list can omit a child while others exit, so an empty list is read twice. */
	for (int i = 0; i < 2 && !any; i++)
		any = list_own(wrap, &own) < 0 || own.count > 0;
	pid_set_free(&own);
	return any;
}

int wrap_count_descendants(struct wrap *wrap)
{
	struct pid_set found = {0};
	int result;

	witness_kill(wrap);
	witness_reap(wrap);
	if (!has_children(wrap))
		return 0;
	result = list_own(wrap, &found);
	/* The set grows during this loop. */
	for (size_t i = 0; i < found.count; i++)
		add_children(found.pids[i], &found);
	if (result == 0)
		result = (int)found.count;
	pid_set_free(&found);
	return result;
}
