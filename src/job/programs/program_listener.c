/* A thread that follows the job by the kernel's process events. See program_listener.h. */
#include "job/programs/program_listener.h"

#include <errno.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/min_max.h"
#include "base/process_room.h"
#include "base/runs_once.h"
#include "job/programs/exit_records.h"
#include "job/programs/heard_events.h"
#include "job/programs/program_tuning.h"
#include "job/tree/process_files.h"
#include "kernel/netlink.h"
#include "kernel/proc_events.h"
enum { STACK_BYTES = 128 << 10, EVENT_BYTES = 256, STOP = -1 };

struct program_listener {
	/* Guards all that follows once the thread runs. Events are read under it, because their order counts. */
	pthread_mutex_t lock;
	pthread_t thread;
	bool is_read_by_caller; /* until the thread starts */
	int rounds_of_caller;   /* in which the caller found events */
	bool runs;              /* the thread was started */
	bool stopping;
	int nap_msec;        /* before this round */
	bool missed_forks;   /* since the last take */
	int64_t whole_takes; /* since then */

	int fd;          /* -1: too costly at present */
	int call_fd;     /* wakes the thread */
	int64_t seen;    /* events */
	int64_t look_ns; /* at the living processes: not before */
	int64_t started_ns;
	int64_t spent_ns;        /* CPU time of callers */
	int64_t thread_spent_ns; /* of the thread */

	struct exit_records records;
	struct heard_events heard;
	struct program_event *taken;
	size_t taken_capacity;
};

static bool is_gone(pid_t pid)
{
	return process_clock_ns(pid) < 0;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static RUNS_ONCE void ask_for_short_slices(void)
{
#if defined SYS_sched_getattr && defined SYS_sched_setattr
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attributes = {0};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) < 0 || attributes.policy != 0)
		return;
	attributes.runtime_ns = LISTENER_SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

static bool is_within(const struct program_listener *listener, const struct listener_pace *pace)
{
	int64_t elapsed_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - listener->started_ns;
	int64_t free_ns = pace->free_ns, part = pace->part;

	if (!listener->heard.has_forks)
		free_ns /= WITHOUT_FORKS, part *= WITHOUT_FORKS;
	return listener->spent_ns + listener->thread_spent_ns <= free_ns + elapsed_ns / part;
}

/* How long to nap before the next batch. STOP: not even that is worth it. */
static int nap_of(const struct program_listener *listener)
{
	if (listener->fd < 0 && is_within(listener, &RECORDS_ALONE))
		return listener->heard.has_forks ? RECORDS_ALONE.nap_msec : RECORDS_NAP_WITHOUT_FORKS_MSEC;
	/* Above the limit of the records no pace holds. Where these have the time of all, the events are not worth the last pace. */
	for (size_t i = 0; i < ARRAY_SIZE(LISTENER_PACES) - listener->heard.with_records; i++)
		if (is_within(listener, &LISTENER_PACES[i]))
			return (int)max_i64(LISTENER_PACES[i].nap_msec,
					    listener->heard.with_records ? RECORDS_NAP_MSEC : 0);
	return STOP;
}

/* On a busy machine the thread may wait long for a CPU. Another process may then have the pid of an old event. */
static bool is_of_now(const struct proc_event *event)
{
	return SYSTEM_CLOCKS.monotonic_ns(NULL) - event->monotonic_ns < OF_NOW_NS;
}

/* An event lacks the parent if that has reaped the process by then. A record has it. */
static void note_heard_end(struct program_listener *listener, const struct proc_event *event, bool is_known)
{
	struct job_ancestors *ancestors = &listener->records.ancestors;

	ancestors_note_end(ancestors, event->pid, event->parent_pid);
	ancestors->other_ended |= !event->parent_pid && !is_known && !listener->heard.with_records;
}

static void take_message(struct program_listener *listener, struct scan messages)
{
	struct proc_event event;

	while (proc_events_next(&messages, &event)) {
		int64_t clock_ns = -1;
		/* Most events are of foreign processes. */
		bool is_known = (event.kind == PROC_EVENT_EXITED || event.kind == PROC_EVENT_EXECED) &&
				known_processes_find(&listener->heard.known, event.pid);

		/* First of all: its parent may reap it at any moment. */
		if (is_known && is_of_now(&event))
			clock_ns = process_clock_ns(event.pid);
		heard_events_take(&listener->heard, &event, clock_ns);
		if (event.kind == PROC_EVENT_EXITED && !event.is_thread)
			note_heard_end(listener, &event, is_known);
		listener->seen++;
	}
}

/* An empty socket and an interrupted call lose nothing. */
static bool is_loss(int count)
{
	return count < 0 && count != -EAGAIN && count != -EINTR;
}

/* Takes all events that the kernel has sent so far. Returns how many messages there were, or a negative errno. */
static int drain_events(struct program_listener *listener)
{
	char bytes[NETLINK_BATCH][EVENT_BYTES];
	struct netlink_batch batch = {
		.bytes = bytes[0], .datagram_bytes = EVENT_BYTES, .capacity = NETLINK_BATCH};
	int count = NETLINK_BATCH, sum = 0;

	for (int i = 0; i < BATCHES_MOST && (count == NETLINK_BATCH || count == -ENOBUFS); i++) {
		count = listener->fd < 0 ? 0 : netlink_receive_batch(listener->fd, &batch);
		for (int at = 0; at < count; at++)
			take_message(listener, netlink_datagram(&batch, at));
		listener->missed_forks |= is_loss(count);
		/* Exit records name those whose events were lost. */
		if (count == -ENOBUFS && !listener->heard.with_records)
			heard_events_forget(&listener->heard);
		sum += count > 0 ? count : 0;
	}
	listener->missed_forks |= listener->fd < 0;
	listener->heard.misses_ends |= listener->missed_forks;
	heard_events_name(&listener->heard, listener->nap_msec < RECORDS_NAP_MSEC ? EXECS_MOST : EXECS_LEAST);
	return is_loss(count) ? count : sum;
}

/* Often enough that a process which ends unread has little unknown time, and seldom enough to cost little. */
static void look_at_living(struct program_listener *listener)
{
	struct known_processes *known = &listener->heard.known;
	int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);

	if (listener->heard.with_records || known->count > LOOKS_MOST || now_ns < listener->look_ns)
		return;
	listener->look_ns = now_ns + LOOK_MSEC * NSEC_PER_MSEC;
	for (size_t i = 0; i < known->slots; i++)
		if (heard_events_wants_look(&known->at[i]))
			heard_events_look(&known->at[i], process_clock_ns(known->at[i].pid), now_ns);
}

static void read_records(struct program_listener *listener)
{
	if (exit_records_read(&listener->records) < 0)
		heard_events_forget(&listener->heard);
}

/* Events wake the thread, unless it naps. */
static void wait_for_events(int call_fd, int fd, int nap_msec)
{
	struct pollfd ready[] = {{.fd = call_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	if (nap_msec > 0 && poll(ready, 1, nap_msec) != 0)
		return;
	(void)poll(ready, ARRAY_SIZE(ready), fd < 0 ? 0 : -1);
}

static RUNS_ONCE void stop_events(struct program_listener *listener)
{
	/* The kernel sends as long as the socket is open. */
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}

/* From now on, processes that end leave both a record and an event. */
static RUNS_ONCE int open_sockets(struct program_listener *listener)
{
	if (listener->fd < 0)
		listener->fd = proc_events_open(EVENTS_ROOM_BYTES);
	if (!listener->heard.with_records)
		listener->heard.with_records = exit_records_open(&listener->records) == 0;
	return listener->fd < 0 ? listener->fd : proc_events_choose(listener->fd);
}

/* The events first, and the records if these alone cost too much. */
static RUNS_ONCE void close_sockets(struct program_listener *listener)
{
	if (listener->fd < 0 || !listener->heard.with_records) {
		exit_records_close(&listener->records);
		listener->heard.with_records = false;
		heard_events_forget(&listener->heard);
	}
	stop_events(listener);
}

/* Returns how long to nap, or STOP. */
static int listen_once(struct program_listener *listener)
{
	int nap_msec, error;

	if (listener->stopping)
		return STOP;
	if (listener->fd < 0 && is_within(listener, &LISTENS_AGAIN)) {
		/* Forks since then are unknown. The records have the exits. */
		listener->heard.lost |= !listener->heard.with_records;
		listener->missed_forks = true;
		if (open_sockets(listener) < 0)
			stop_events(listener);
	}
	error = drain_events(listener);
	read_records(listener);
	look_at_living(listener);
	listener->thread_spent_ns = thread_cpu_now_ns();
	nap_msec = error < 0 ? STOP : nap_of(listener);
	if (nap_msec == STOP) {
		close_sockets(listener);
		nap_msec = RECORDS_ALONE.nap_msec;
	}
	listener->nap_msec = nap_msec;
	listener->heard.is_prompt = nap_msec == 0;
	return nap_msec;
}

static void *listen_to_events(void *listener_)
{
	struct program_listener *listener = listener_;
	int nap_msec, fd;

	(void)prctl(PR_SET_NAME, "rt-listener");
	ask_for_short_slices();
	pthread_mutex_lock(&listener->lock);
	while ((nap_msec = listen_once(listener)) != STOP) {
		fd = listener->fd;
		pthread_mutex_unlock(&listener->lock);
		wait_for_events(listener->call_fd, fd, nap_msec);
		pthread_mutex_lock(&listener->lock);
	}
	pthread_mutex_unlock(&listener->lock);
	return NULL;
}

static RUNS_ONCE int start_listener_thread(struct program_listener *listener)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	listener->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (listener->call_fd < 0)
		return -errno;
	pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&listener->thread, &attributes, listen_to_events, listener);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	listener->runs = !error;
	return -error;
}

/* Until the thread starts, its rounds bound the cost. */
static int64_t begin_spending(const struct program_listener *listener)
{
	return listener->is_read_by_caller ? -1 : thread_cpu_now_ns();
}

static void end_spending(struct program_listener *listener, int64_t begun_ns)
{
	if (begun_ns >= 0)
		listener->spent_ns += thread_cpu_now_ns() - begun_ns;
}

/* The time of a process that has ended can be read only until its parent reaps it, so no event waits for a slow system call. */
void program_listener_catch_up(struct program_listener *listener)
{
	int64_t begun_ns = begin_spending(listener);

	pthread_mutex_lock(&listener->lock);
	(void)drain_events(listener);
	end_spending(listener, begun_ns);
	pthread_mutex_unlock(&listener->lock);
}

static RUNS_ONCE int start_listening(struct program_listener *listener)
{
	int error;

	listener->is_read_by_caller = false;
	if (!has_room_for_processes(true))
		return -EAGAIN;
	program_listener_catch_up(listener);
	error = open_sockets(listener);
	program_listener_catch_up(listener);
	heard_events_leave_threads_out(&listener->heard);
	return error < 0 ? error : start_listener_thread(listener);
}

RUNS_ONCE int program_listener_start(struct program_listener *listener, bool is_read_by_caller)
{
	listener->started_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	/* Until the job that was just forked has called exec, nothing of it is missed. */
	listener->is_read_by_caller = is_read_by_caller && proc_events_signal(listener->fd, SIGCHLD) == 0;
	return listener->is_read_by_caller ? 0 : start_listening(listener);
}

int program_listener_hear(struct program_listener *listener, bool with_thread)
{
	int count;

	if (!listener->is_read_by_caller || listener->stopping)
		return 0;
	count = drain_events(listener);
	listener->rounds_of_caller += count > 0;
	if (!with_thread && !listener->heard.has_forks &&
	    listener->rounds_of_caller < ROUNDS_OF_CALLER_MOST && count < NETLINK_BATCH)
		return 0;
	(void)proc_events_signal(listener->fd, 0);
	return start_listening(listener);
}

/* ---- the other thread's side --------------------------------------------------------------------------------------- */

static void wake_thread(const struct program_listener *listener)
{
	const uint64_t one = 1;

	if (listener->call_fd >= 0)
		(void)!write(listener->call_fd, &one, sizeof one);
}

RUNS_ONCE int program_listener_open(struct program_listener **ret_listener)
{
	struct program_listener *listener = calloc(1, sizeof *listener);
	int fd;

	if (!listener)
		return -ENOMEM;
	fd = proc_events_open(EVENTS_ROOM_BYTES);
	if (fd < 0) {
		free(listener);
		return fd;
	}
	listener->fd = fd;
	listener->records.fd = listener->call_fd = -1;
	listener->heard.is_prompt = true;
	pthread_mutex_init(&listener->lock, NULL);
	*ret_listener = listener;
	return 0;
}

RUNS_ONCE void program_listener_close(struct program_listener *listener)
{
	if (!listener)
		return;
	pthread_mutex_lock(&listener->lock);
	listener->stopping = true;
	wake_thread(listener);
	pthread_mutex_unlock(&listener->lock);
	if (listener->runs)
		pthread_join(listener->thread, NULL);
	stop_events(listener);
	exit_records_close(&listener->records);
	if (listener->call_fd >= 0)
		close(listener->call_fd);
	debug_say("listener", listener->started_ns, "%lld events took %.3f ms", (long long)listener->seen,
		  (double)(listener->spent_ns + listener->thread_spent_ns) / 1e6);
	pthread_mutex_destroy(&listener->lock);
	program_names_done(&listener->heard.names);
	known_processes_done(&listener->heard.known);
	free(listener->heard.events);
	free(listener->taken);
	free(listener);
}

RUNS_ONCE bool program_listener_add_ancestor(struct program_listener *listener, pid_t child, pid_t pid)
{
	struct job_ancestors *ancestors = &listener->records.ancestors;

	if (!ancestors->count)
		ancestors->root = child;
	if (pid <= 0 || ancestors->count == JOB_ANCESTORS_MOST)
		return false;
	ancestors->pids[ancestors->count++] = pid;
	return true;
}

void program_listener_add(struct program_listener *listener, pid_t pid, const char *program)
{
	const char *name;
	struct known_process *process;

	pthread_mutex_lock(&listener->lock);
	name = program ? program_names_keep(&listener->heard.names, program) : NULL;
	process = known_processes_find(&listener->heard.known, pid);
	/* Without events that are read at once, a pass alone tells that it has called exec or has a new name. */
	if (process && name && (!process->program || !listener->heard.is_prompt))
		process->program = name;
	else if (!process && !heard_events_tell_end(&listener->heard, pid)) {
		int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);

		/* A pass may find a fork that no event has told. */
		listener->heard.has_forks |= listener->heard.known.count > 0;
		heard_events_add(&listener->heard, pid, name, NULL, now_ns);
		heard_events_begin(&listener->heard, pid, process_clock_ns(pid), now_ns);
	}
	pthread_mutex_unlock(&listener->lock);
}

SELDOM void program_listener_add_again(struct program_listener *listener, pid_t pid, const char *program)
{
	program_listener_add(listener, pid, program);
	pthread_mutex_lock(&listener->lock);
	heard_events_take_back(&listener->heard, pid);
	pthread_mutex_unlock(&listener->lock);
}

bool program_listener_remove(struct program_listener *listener, pid_t pid)
{
	struct known_process *process;
	bool known;

	pthread_mutex_lock(&listener->lock);
	process = known_processes_find(&listener->heard.known, pid);
	known = process != NULL;
	if (known) {
		heard_events_tell_failure(&listener->heard, process);
		listener->heard.heard_count -= process->exit_take > 0;
		listener->heard.exits += process->first_ended;
		known_processes_remove(&listener->heard.known, process);
	}
	pthread_mutex_unlock(&listener->lock);
	return known;
}

const struct program_event *program_listener_take(struct program_listener *listener, size_t *ret_count,
						  bool *ret_lost)
{
	struct program_event *spare = listener->taken;
	size_t spare_capacity = listener->taken_capacity;
	int64_t begun_ns = begin_spending(listener);

	pthread_mutex_lock(&listener->lock);
	/* The records first: the fork of each process is then among the events. */
	read_records(listener);
	listener->heard.takes++;
	(void)drain_events(listener);
	if (heard_events_settle(&listener->heard, &listener->records) < 0)
		heard_events_forget(&listener->heard);
	listener->heard.lost_ever |= listener->heard.misses_ends && listener->records.has_orphan;
	if (listener->stopping)
		heard_events_settle_rest(&listener->heard, is_gone);
	end_spending(listener, begun_ns);
	listener->taken = listener->heard.events;
	listener->taken_capacity = listener->heard.event_capacity;
	*ret_count = listener->heard.event_count;
	*ret_lost = listener->heard.lost || (listener->fd < 0 && !listener->heard.with_records);
	listener->heard.events = spare;
	listener->heard.event_capacity = spare_capacity;
	listener->heard.event_count = 0;
	listener->heard.lost = false;
	listener->whole_takes = *ret_lost || listener->missed_forks ? 0 : listener->whole_takes + 1;
	listener->missed_forks = false;
	pthread_mutex_unlock(&listener->lock);
	return listener->taken;
}

RUNS_ONCE void program_listener_finish(struct program_listener *listener)
{
	program_listener_catch_up(listener);
	pthread_mutex_lock(&listener->lock);
	listener->stopping = true;
	wake_thread(listener);
	pthread_mutex_unlock(&listener->lock);
}

bool program_listener_runs(const struct program_listener *listener)
{
	return listener->runs;
}

size_t program_listener_living(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	size_t count = 0;

	pthread_mutex_lock(&listener->lock);
	for (size_t i = 0; i < listener->heard.known.slots && count < size; i++)
		if (listener->heard.known.at[i].pid && !listener->heard.known.at[i].exit_take)
			ret_pids[count++] = listener->heard.known.at[i].pid;
	pthread_mutex_unlock(&listener->lock);
	return count;
}

/*
 * After a miss, the next pass finds processes in another way, and the take after that makes the listener follow them. A child of theirs
 * from just before is found by the pass that follows, so two takes must be whole.
 */
static ssize_t copy_forked(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	const struct heard_events *heard = &listener->heard;
	size_t count = 0;

	if (drain_events(listener) >= BATCHES_MOST * NETLINK_BATCH || heard->lost || listener->missed_forks)
		return -1;
	for (size_t i = 0; i < heard->known.slots && count < size; i++)
		if (heard->known.at[i].pid)
			ret_pids[count++] = heard->known.at[i].pid;
	/* Its parent may not have waited for it yet. */
	for (size_t i = 0; i < heard->event_count && count < size; i++)
		if (heard->events[i].kind == PROGRAM_EXITED)
			ret_pids[count++] = heard->events[i].pid;
	return count < size ? (ssize_t)count : -1;
}

ssize_t program_listener_forked(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	ssize_t count = -1;

	pthread_mutex_lock(&listener->lock);
	if (listener->fd >= 0 && listener->whole_takes >= WHOLE_TAKES) {
		int64_t begun_ns = begin_spending(listener);

		count = copy_forked(listener, ret_pids, size);
		end_spending(listener, begun_ns);
	}
	pthread_mutex_unlock(&listener->lock);
	return count;
}

bool program_listener_misses_ends(struct program_listener *listener)
{
	bool misses;

	pthread_mutex_lock(&listener->lock);
	misses = listener->heard.misses_ends;
	pthread_mutex_unlock(&listener->lock);
	return misses;
}

bool program_listener_other_ended(struct program_listener *listener)
{
	bool ended;

	pthread_mutex_lock(&listener->lock);
	ended = listener->records.ancestors.other_ended;
	listener->records.ancestors.other_ended = false;
	pthread_mutex_unlock(&listener->lock);
	return ended;
}

int64_t program_listener_exits(struct program_listener *listener)
{
	int64_t exits;

	pthread_mutex_lock(&listener->lock);
	if (listener->heard.lost_ever)
		exits = PROGRAM_EXITS_LOST;
	else
		exits = listener->runs || listener->is_read_by_caller ? listener->heard.exits : -1;
	pthread_mutex_unlock(&listener->lock);
	return exits;
}
