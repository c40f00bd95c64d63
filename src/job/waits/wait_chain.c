/* Follows the waits of a job. See wait_chain.h. */
#include "job/waits/wait_chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job/tree/process_files.h"
#include "job/waits/wait_call.h"
#include "job/waits/wait_target.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/proc_pid_syscall.h"

enum {
	PATH_SIZE = 48,
	FUTEX_COMMAND = 0x7f,
	FUTEX_OF_PROCESS = 128, /* not shared with other processes */
	FUTEX_WAITS = 0,
	FUTEX_WAITS_BITSET = 9,
	LOCKED_WITH_WAITERS = 2, /* the value of a lock of the C library that others wait for */
	COMMAND_SETLKW = 7,
	COMMAND_OFD_SETLKW = 38,
	ID_IS_PID = 1,
};

/* One thread that waits. */
struct waiting_thread {
	pid_t pid, tid;
	char state;
	bool may_follow_siblings;
	struct proc_pid_syscall call;
};

static enum wait_strength follow_thread(struct wait_chain *chain, struct waiting_thread thread,
					struct found_wait *found);

/* Each process is followed once: later edges to it have the same answer. */
static enum wait_strength follow_process(struct wait_chain *chain, pid_t pid, struct found_wait *found)
{
	struct followed_process *process = chain->followed;
	size_t at = chain->followed_count;

	for (size_t i = 0; i < at; i++)
		if (process[i].pid == pid) {
			*found = process[i].wait;
			return process[i].strength;
		}
	if (at == WAIT_THREADS_MOST || chain->depth == WAIT_DEPTH_MOST ||
	    !process_tree_find(chain->tree, pid))
		return WAIT_NONE;
	process += at;
	*process = (struct followed_process){.pid = pid};
	chain->followed_count++;
	chain->depth++;
	process->strength = follow_thread(
		chain, (struct waiting_thread){.pid = pid, .tid = pid, .may_follow_siblings = true}, found);
	chain->depth--;
	process->wait = *found;
	return process->strength;
}

static enum wait_strength follow_child(struct wait_chain *chain, pid_t pid, struct found_wait *found)
{
	enum wait_strength best = WAIT_NONE;

	for (size_t i = chain->tree->count; i-- && best != WAIT_STRONG;) {
		const struct member *member = &chain->tree->members[i];
		struct found_wait other;
		enum wait_strength strength;

		if (member->parent_pid != pid || member->is_zombie)
			continue;
		strength = follow_process(chain, member->pid, &other);
		if (strength > best) {
			best = strength;
			*found = other;
		}
	}
	return best;
}

static bool has_child(const struct wait_chain *chain, pid_t pid)
{
	for (size_t i = 0; i < chain->tree->count; i++)
		if (chain->tree->members[i].parent_pid == pid && !chain->tree->members[i].is_zombie)
			return true;
	return false;
}

/*
 * Either what was found behind an edge, or that its end is unknown. A process that lets a child work, of which nothing can be told just
 * now, does not wait for an event.
 */
static enum wait_strength or_else(struct wait_chain *chain, enum wait_strength strength,
				  struct found_wait *found, pid_t pid, enum wait_class class,
				  const char *target)
{
	if (strength || ((class == WAIT_EVENTS || class == WAIT_SLEEP) && has_child(chain, pid)))
		return strength;
	return wait_ends(found, pid, class, target, WAIT_WEAK);
}

/* A child that the table lacks yet, or that has just ended, is at work. */
static enum wait_strength wait_for_child(struct wait_chain *chain, const struct waiting_thread *thread,
					 pid_t child, struct found_wait *found)
{
	enum wait_strength strength =
		child > 0 ? follow_process(chain, child, found) : follow_child(chain, thread->pid, found);

	return chain->tree->with_children ? strength
					  : wait_ends(found, thread->pid, WAIT_CHILD, "", WAIT_STRONG);
}

/* ---- threads of one process ---- */

static bool same_wait(const struct found_wait *one, const struct found_wait *other)
{
	return one->class == other->class && one->pid == other->pid &&
	       strcmp(one->target, other->target) == 0;
}

/*
 * If the other threads wait for one thing outside the process, it is the reason: its thread holds the lock, or will do the work. A timer
 * tells nothing about work to come (a heartbeat), unless no other thread is there or a lock is held over it. If they wait for several things,
 * another process of the job counts. If they wait for nothing, an event loop with a time limit does: Go sleeps in one. The newest threads
 * are asked, as the first ones of a virtual machine serve the machine itself.
 */
static enum wait_strength follow_siblings(struct wait_chain *chain, const struct waiting_thread *thread,
					  bool is_lock, struct found_wait *found)
{
	pid_t tids[WAIT_THREADS_LISTED];
	size_t count = process_list_threads(chain->tree->root, thread->pid, tids, WAIT_THREADS_LISTED);
	pid_t self = (pid_t)syscall(SYS_gettid);
	int strong = 0;
	bool leads_out = false, has_timer = false;

	for (size_t i = count; i-- && count - i <= WAIT_SIBLINGS_MOST;) {
		struct found_wait other;
		enum wait_strength strength;

		if (tids[i] == thread->tid || tids[i] == self)
			continue;
		strength = follow_thread(chain, (struct waiting_thread){.pid = thread->pid, .tid = tids[i]},
					 &other);
		if (strength == WAIT_WEAK && other.class == WAIT_SLEEP && !strong) {
			has_timer = true;
			*found = other;
		}
		if (strength != WAIT_STRONG)
			continue;
		if (chain->runs)
			return WAIT_STRONG;
		if (leads_out || (strong && same_wait(found, &other)) ||
		    (other.class == WAIT_SLEEP && other.pid == thread->pid && !is_lock && count > 2))
			continue;
		leads_out = other.pid != thread->pid;
		strong++;
		*found = other;
	}
	return strong == 1 || leads_out ? WAIT_STRONG : has_timer && !strong ? WAIT_WEAK : WAIT_NONE;
}

static enum wait_strength wait_at_futex(struct wait_chain *chain, const struct waiting_thread *thread,
					struct found_wait *found)
{
	unsigned command = (unsigned)thread->call.arguments[1] & FUTEX_COMMAND;
	uint32_t value = (uint32_t)thread->call.arguments[2];
	bool waits = command == FUTEX_WAITS || command == FUTEX_WAITS_BITSET;
	bool is_lock = !waits || (command == FUTEX_WAITS && value == LOCKED_WITH_WAITERS);
	bool is_shared = !(thread->call.arguments[1] & FUTEX_OF_PROCESS);
	enum wait_strength strength = WAIT_NONE;

	/* pthread_join() waits until the kernel clears the number of the thread, which the first thread of Java does. */
	if (waits && value > LOCKED_WITH_WAITERS && (pid_t)value != thread->tid)
		strength = follow_thread(
			chain,
			(struct waiting_thread){.pid = thread->pid,
						.tid = (pid_t)value,
						.may_follow_siblings = thread->may_follow_siblings},
			found);
	if (!strength && thread->may_follow_siblings)
		strength = follow_siblings(chain, thread, is_lock, found);
	if (!strength && thread->may_follow_siblings && is_shared)
		strength = follow_child(chain, thread->pid, found);
	if (!is_lock && !is_shared && thread->may_follow_siblings && thread->call.arguments[3])
		return or_else(chain, strength, found, thread->pid, WAIT_SLEEP, "");
	return or_else(chain, strength, found, thread->pid, is_lock || is_shared ? WAIT_LOCK : WAIT_THREAD,
		       is_shared ? "shared by processes" : "");
}

/* ---- one thread ---- */

static enum wait_strength wait_at_one_of(struct wait_chain *chain, const struct waiting_thread *thread,
					 enum wait_kind kind, struct found_wait *found)
{
	const uint64_t *arguments = thread->call.arguments;
	int below = kind == KIND_SELECT ? (int)arguments[0] : INT32_MAX;
	uint64_t timeout = arguments[kind == KIND_SELECT ? 4 : kind == KIND_EPOLL ? 3 : 2];
	struct found_wait other;
	enum wait_strength strength, of_child;

	chain->reads_files = kind == KIND_RING;
	if ((kind == KIND_POLL || kind == KIND_SELECT) && !arguments[kind == KIND_POLL])
		return wait_ends(found, thread->pid, WAIT_SLEEP, "", WAIT_STRONG);
	strength = kind == KIND_EPOLL ? wait_at_epoll(chain, thread->pid, (int)arguments[0], found)
				      : wait_at_any(chain, thread->pid, below, found);
	if (strength == WAIT_STRONG)
		return strength;
	of_child = follow_child(chain, thread->pid, &other);
	if (of_child > strength) {
		strength = of_child;
		*found = other;
	}
	/* An event loop that only a thread of its own can wake. Threads that wait for a time tell nothing here. */
	if (!strength && thread->may_follow_siblings && follow_siblings(chain, thread, false, &other) &&
	    (other.class != WAIT_SLEEP || other.pid != thread->pid)) {
		*found = other;
		return WAIT_STRONG;
	}
	/* A timeout of -1 stands in the lower half only. */
	return or_else(chain, strength, found, thread->pid,
		       timeout && (int)timeout != -1 ? WAIT_SLEEP : WAIT_EVENTS, "");
}

/* A call without a descriptor waits for storage if it cannot be interrupted. */
static enum wait_strength wait_in_other_call(const struct waiting_thread *thread, const char *function,
					     struct found_wait *found)
{
	enum wait_class class = wait_class_of_function(function);

	if (class == WAIT_OTHER && thread->state == 'D')
		class = WAIT_STORAGE;
	return wait_ends(
		found, thread->pid, class,
		class == WAIT_STORAGE && thread->call.number < 0 ? "a page of a mapped file or of swap" : "",
		class == WAIT_OTHER ? WAIT_WEAK : WAIT_STRONG);
}

static enum wait_strength follow_call(struct wait_chain *chain, const struct waiting_thread *thread,
				      struct found_wait *found)
{
	const uint64_t *arguments = thread->call.arguments;
	enum wait_kind kind = wait_kind_of_call(thread->call.number);
	int fd = (int)arguments[0];

	switch (kind) {
	case KIND_SLEEP:
		return wait_ends(found, thread->pid, WAIT_SLEEP, "", WAIT_STRONG);
	case KIND_CHILD:
		return wait_for_child(chain, thread, (pid_t)arguments[0], found);
	case KIND_SPAWN:
		return wait_for_child(chain, thread, 0, found);
	case KIND_CHILD_ID:
		return wait_for_child(chain, thread, arguments[0] == ID_IS_PID ? (pid_t)arguments[1] : 0,
				      found);
	case KIND_READ:
	case KIND_WRITE:
		return wait_at_descriptor(chain, thread->pid, thread->tid, fd, kind == KIND_WRITE, found);
	case KIND_CONTROL:
		if (arguments[1] != COMMAND_SETLKW && arguments[1] != COMMAND_OFD_SETLKW)
			break;
		return wait_at_file_lock(chain, thread->pid, fd, found);
	case KIND_LOCK_FILE:
		return wait_at_file_lock(chain, thread->pid, fd, found);
	case KIND_POLL:
	case KIND_SELECT:
	case KIND_EPOLL:
	case KIND_RING:
		return wait_at_one_of(chain, thread, kind, found);
	case KIND_FUTEX:
		return wait_at_futex(chain, thread, found);
	case KIND_SIGNAL:
		return or_else(chain, follow_child(chain, thread->pid, found), found, thread->pid,
			       WAIT_EVENTS, "a signal");
	case KIND_SEMAPHORE:
		return wait_ends(found, thread->pid, WAIT_LOCK, "a System V semaphore", WAIT_WEAK);
	case KIND_MAPPING:
		return wait_ends(found, thread->pid, WAIT_MEMORY, "", WAIT_STRONG);
	case KIND_FILE:
	case KIND_UNKNOWN:
		break;
	}
	return wait_in_other_call(thread, wait_function(chain, thread->pid, thread->tid), found);
}

static ssize_t read_of_thread(struct wait_chain *chain, const struct waiting_thread *thread, const char *name)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "task/%d/%s", (int)thread->tid, name);
	return root_read_pid(chain->tree->root, thread->pid, path);
}

/* Without permission for the call, the kernel may still tell its own function. */
static enum wait_strength wait_refused(struct wait_chain *chain, const struct waiting_thread *thread,
				       int error, struct found_wait *found)
{
	const char *function = wait_function(chain, thread->pid, thread->tid);

	if (function[0] == '0') {
		chain->error = error;
		return wait_ends(found, thread->pid, WAIT_OTHER, "the kernel does not let this user see it",
				 WAIT_WEAK);
	}
	if (wait_class_of_function(function) == WAIT_CHILD)
		return wait_for_child(chain, thread, 0, found);
	return wait_in_other_call(thread, function, found);
}

static enum wait_strength follow_thread(struct wait_chain *chain, struct waiting_thread thread,
					struct found_wait *found)
{
	struct root *root = chain->tree->root;
	struct proc_pid_stat stat;
	ssize_t length;

	if (chain->runs || chain->threads_left-- <= 0)
		return WAIT_NONE;
	length = read_of_thread(chain, &thread, "stat");
	if (length < 0 || parse_proc_pid_stat(root->text.data, (size_t)length, &stat) < 0)
		return WAIT_NONE;
	thread.state = stat.state;
	if (stat.state == 'R') {
		chain->runs = true;
		return WAIT_STRONG;
	}
	if (stat.state == 'T' || stat.state == 't')
		return wait_ends(found, thread.pid, WAIT_STOPPED, "", WAIT_STRONG);
	if (stat.state == 'Z' || stat.state == 'X')
		return thread.may_follow_siblings && stat.thread_count > 1
			       ? follow_siblings(chain, &thread, false, found)
			       : WAIT_NONE;
	length = read_of_thread(chain, &thread, "syscall");
	if (length == -EPERM || length == -EACCES)
		return wait_refused(chain, &thread, (int)-length, found);
	if (length < 0 || parse_proc_pid_syscall(root->text.data, (size_t)length, &thread.call) < 0)
		return WAIT_NONE;
	if (thread.call.is_running) {
		chain->runs = true;
		return WAIT_STRONG;
	}
	return follow_call(chain, &thread, found);
}

bool wait_chain_end(struct process_tree *tree, struct found_wait *ret_wait, int *ret_error)
{
	struct wait_chain chain = {.tree = tree,
				   .threads_left = WAIT_THREADS_MOST,
				   .links_left = WAIT_LINKS_MOST,
				   .follow = follow_process};
	enum wait_strength strength = follow_process(&chain, tree->root_pid, ret_wait);

	/* The first process has ended, and left others behind. */
	for (size_t i = tree->count; i-- && strength == WAIT_NONE && !chain.runs && chain.threads_left > 0;)
		strength = follow_process(&chain, tree->members[i].pid, ret_wait);
	*ret_error = chain.error;
	return strength != WAIT_NONE && !chain.runs;
}
