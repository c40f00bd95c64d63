/* A thread that follows the job by the kernel's process events; see program_listener.h. */
#include "process/program_listener.h"

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

#include "base/clock.h"
#include "base/debug.h"
#include "base/process_room.h"
#include "kernel/netlink.h"
#include "kernel/proc_events.h"
#include "kernel/taskstats.h"
#include "process/known_processes.h"
#include "process/program_names.h"

enum {
	SOCKET_BYTES = 1 << 20,
	STACK_BYTES = 128 << 10,
	EVENTS_MOST = 1 << 15,
	CHECKED_EVERY = 16, /* calls between two looks at the cost */
	NAP_MSEC = 10,
	ROUNDS_MOST = 8, /* of the caller, before a thread with a filter takes over */
};

/*
 * The thread may use some time at once. Above a part of the time, it no longer wakes for each event: it then sees fewer
 * processes alive, but still when they started and ended. Above the other part, it stops.
 */
#define FREE_NS (8 * NSEC_PER_MSEC)
#define EAGER_PART 1200
#define STOP_PART 500
enum pace { PACE_EAGER, PACE_NAPS, PACE_STOP };
#define CATCH_UP_NS (20 * NSEC_PER_MSEC)
/* The scheduler lets a thread that asks for short slices run soon after it wakes. */
#define SLICE_NS (100 * NSEC_PER_USEC)

struct program_listener {
	pthread_mutex_t lock;
	pthread_cond_t caught_up;
	pthread_t thread;
	bool is_read_by_caller; /* until the thread starts */
	bool has_forks;         /* the job has forked a process */
	int rounds_of_caller;   /* in which the caller found events */
	bool runs;              /* the thread was started and not joined */
	bool has_ended;         /* the thread has returned or is about to */
	bool stopping;
	bool finishing;           /* the thread returns as soon as it has caught up */
	uint64_t asked, answered; /* catch_up() calls, and those that the thread has reached */

	int fd;
	int call_fd;   /* wakes the thread from a nap */
	int64_t seen;  /* events */
	int record_fd; /* -1: not permitted */
	uint16_t record_family;
	int64_t started_ns;
	int64_t spent_ns; /* CPU time of earlier threads */

	struct known_processes known;
	struct program_names names;
	struct program_event *events, *taken;
	size_t event_count, event_capacity, taken_capacity;
	bool lost;
	bool lost_ever;
	int64_t exits;
};

static struct known_process *find_known(const struct program_listener *listener, pid_t pid)
{
	return known_processes_find(&listener->known, pid);
}

static void forget_all(struct program_listener *listener)
{
	known_processes_clear(&listener->known);
	listener->lost = listener->lost_ever = true;
}

static void add_known(struct program_listener *listener, pid_t pid, const char *program, const char *parent,
		      int64_t since_ns)
{
	const struct known_process process = {
		.pid = pid, .program = program, .parent = parent, .since_ns = since_ns, .record_ns = -1};

	if (known_processes_add(&listener->known, &process) < 0)
		forget_all(listener);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static int64_t clock_of(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return -1;
	return (int64_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static void queue_event(struct program_listener *listener, const struct program_event *event)
{
	if (listener->event_count == listener->event_capacity) {
		size_t capacity = listener->event_capacity ? listener->event_capacity * 2 : 64;
		struct program_event *events =
			capacity > EVENTS_MOST ? NULL : realloc(listener->events, capacity * sizeof *events);

		if (!events) {
			listener->lost = listener->lost_ever = true;
			return;
		}
		listener->events = events;
		listener->event_capacity = capacity;
	}
	listener->events[listener->event_count++] = *event;
}

static void note_exec(struct program_listener *listener, struct known_process *process,
		      const struct proc_event *event, int64_t clock_ns)
{
	struct program_event told = {
		.kind = PROGRAM_EXECED,
		.pid = process->pid,
		.before = process->program,
		.parent = process->parent,
		.clock_ns = clock_ns,
		.lifetime_ns = event->monotonic_ns - process->since_ns,
	};

	told.after = program_names_read(&listener->names, process->pid);
	process->since_ns = event->monotonic_ns;
	process->program = told.after;
	queue_event(listener, &told);
}

/* The exit records of threads that ended so far. */
static void read_records(struct program_listener *listener)
{
	char bytes[8192];
	int length;

	while (listener->record_fd >= 0 &&
	       (length = netlink_receive(listener->record_fd, bytes, sizeof bytes, false)) > 0) {
		struct scan messages = scan_bytes(bytes, (size_t)length);
		struct taskstats record;

		while (taskstats_next(&messages, listener->record_family, &record)) {
			struct known_process *process =
				find_known(listener, record.pid ? record.pid : record.tid);

			if (process)
				process->record_ns =
					(process->record_ns < 0 ? 0 : process->record_ns) + record.cpu_ns;
		}
	}
}

static void note_exit(struct program_listener *listener, struct known_process *process,
		      const struct proc_event *event, int64_t clock_ns)
{
	struct program_event told = {
		.kind = PROGRAM_EXITED,
		.pid = process->pid,
		.before = process->program,
		.parent = process->parent,
		.clock_ns = clock_ns,
		.lifetime_ns = event->monotonic_ns - process->since_ns,
		.had_children = process->has_children,
	};

	read_records(listener);
	if (told.clock_ns < 0)
		told.clock_ns = process->record_ns;
	if (!told.before)
		told.before = program_names_read(&listener->names, process->pid);
	listener->exits++;
	known_processes_remove(&listener->known, process);
	queue_event(listener, &told);
}

static void take_event(struct program_listener *listener, const struct proc_event *event, int64_t clock_ns)
{
	struct known_process *process, *parent;

	switch (event->kind) {
	case PROC_EVENT_ACK:
		/* Answers to other programs arrive as well. */
		if (event->request != (uint32_t)getpid())
			break;
		listener->answered = listener->asked;
		pthread_cond_broadcast(&listener->caught_up);
		break;
	case PROC_EVENT_FORKED:
		parent = find_known(listener, event->parent_pid);
		if (!parent || event->is_thread || find_known(listener, event->pid))
			break;
		parent->has_children = listener->has_forks = true;
		add_known(listener, event->pid, parent->program, parent->program, event->monotonic_ns);
		break;
	case PROC_EVENT_EXECED:
		process = find_known(listener, event->pid);
		if (process)
			note_exec(listener, process, event, clock_ns);
		break;
	case PROC_EVENT_EXITED:
		process = event->is_thread ? NULL : find_known(listener, event->pid);
		if (process)
			note_exit(listener, process, event, clock_ns);
		break;
	}
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void ask_for_short_slices(void)
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
	attributes.runtime_ns = SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

/* The part of a core that the thread has used, compared with its limits. */
static enum pace pace_of(const struct program_listener *listener)
{
	int64_t spent_ns = listener->spent_ns + clock_of(CLOCK_THREAD_CPUTIME_ID);
	int64_t elapsed_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) - listener->started_ns;

	if (spent_ns > FREE_NS + elapsed_ns / STOP_PART)
		return PACE_STOP;
	return spent_ns > FREE_NS + elapsed_ns / EAGER_PART ? PACE_NAPS : PACE_EAGER;
}

static void take_message(struct program_listener *listener, const char *bytes, size_t length)
{
	struct scan messages = scan_bytes(bytes, length);
	struct proc_event event;

	while (proc_events_next(&messages, &event)) {
		int64_t clock_ns = -1;

		/* First of all: its parent may reap it at any moment. */
		if (event.kind == PROC_EVENT_EXITED || event.kind == PROC_EVENT_EXECED)
			clock_ns = clock_of((clockid_t)(~(unsigned)event.pid << 3 | 2));
		pthread_mutex_lock(&listener->lock);
		take_event(listener, &event, clock_ns);
		listener->seen++;
		pthread_mutex_unlock(&listener->lock);
	}
}

/* Returns when there is something to do: at the next event, or after a nap if each event costs too much. */
static void nap_until_called(const struct program_listener *listener)
{
	struct pollfd called = {.fd = listener->call_fd, .events = POLLIN};
	uint64_t calls;

	if (poll(&called, 1, NAP_MSEC) > 0)
		(void)!read(listener->call_fd, &calls, sizeof calls);
}

static bool is_over(struct program_listener *listener, enum pace pace)
{
	bool over;

	pthread_mutex_lock(&listener->lock);
	if (pace == PACE_STOP)
		forget_all(listener);
	over = listener->stopping || pace == PACE_STOP ||
	       (listener->finishing && listener->answered == listener->asked);
	pthread_mutex_unlock(&listener->lock);
	return over;
}

static void lose_all(struct program_listener *listener)
{
	pthread_mutex_lock(&listener->lock);
	forget_all(listener);
	pthread_mutex_unlock(&listener->lock);
}

/* Returns how many messages there were, or a negative errno. */
static int take_messages(struct program_listener *listener, bool waits)
{
	struct netlink_batch batch;
	int fd, count;

	pthread_mutex_lock(&listener->lock);
	fd = listener->fd;
	pthread_mutex_unlock(&listener->lock);
	count = netlink_receive_batch(fd, &batch, waits);
	for (int i = 0; i < count; i++)
		take_message(listener, batch.bytes[i], batch.lengths[i]);
	if (count == -ENOBUFS)
		lose_all(listener);
	return count;
}

static void *listen_to_events(void *listener_)
{
	struct program_listener *listener = listener_;
	enum pace pace = PACE_EAGER;
	int count;

	(void)prctl(PR_SET_NAME, "rt-listener");
	ask_for_short_slices();
	for (int round = 1; !is_over(listener, pace); round++) {
		count = take_messages(listener, pace == PACE_EAGER);
		if (count < 0 && count != -ENOBUFS && count != -EAGAIN && count != -EINTR)
			break;
		if (round % CHECKED_EVERY == 0 || count < 0)
			pace = pace_of(listener);
		if (pace == PACE_NAPS && count < NETLINK_BATCH)
			nap_until_called(listener);
	}
	pthread_mutex_lock(&listener->lock);
	listener->spent_ns += clock_of(CLOCK_THREAD_CPUTIME_ID);
	listener->has_ended = true;
	/* The kernel sends as long as the socket is open. */
	close(listener->fd);
	listener->fd = -1;
	pthread_cond_broadcast(&listener->caught_up);
	pthread_mutex_unlock(&listener->lock);
	return NULL;
}

static int start_thread(struct program_listener *listener)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

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

/* The time of a process that has ended can be read only until its parent reaps it, so no event waits for a slow system call. */
void program_listener_catch_up(struct program_listener *listener)
{
	while (take_messages(listener, false) == NETLINK_BATCH)
		;
}

static int start_listening(struct program_listener *listener)
{
	int error;

	listener->is_read_by_caller = false;
	if (!has_room_for_processes(true))
		return -EAGAIN;
	listener->record_fd = taskstats_open(SOCKET_BYTES, &listener->record_family);
	program_listener_catch_up(listener);
	error = proc_events_choose(listener->fd);
	program_listener_catch_up(listener);
	return error < 0 ? error : start_thread(listener);
}

int program_listener_start(struct program_listener *listener, bool is_read_by_caller)
{
	listener->started_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	/* Until the job that was just forked has called exec, nothing of it is missed. */
	listener->is_read_by_caller = is_read_by_caller && proc_events_signal(listener->fd, SIGCHLD) == 0;
	return listener->is_read_by_caller ? 0 : start_listening(listener);
}

int program_listener_hear(struct program_listener *listener, bool with_thread)
{
	int count;

	if (!listener->is_read_by_caller)
		return 0;
	count = take_messages(listener, false);
	listener->rounds_of_caller += count > 0;
	if (!with_thread && !listener->has_forks && listener->rounds_of_caller < ROUNDS_MOST &&
	    count < NETLINK_BATCH)
		return 0;
	(void)proc_events_signal(listener->fd, 0);
	return start_listening(listener);
}

/* ---- the other thread's side --------------------------------------------------------------------------------------- */

/* Wakes the thread, wherever it waits: the kernel's answer ends its wait for events. */
static int wake_thread(const struct program_listener *listener)
{
	const uint64_t one = 1;

	(void)!write(listener->call_fd, &one, sizeof one);
	return proc_events_ask(listener->fd);
}

int program_listener_open(struct program_listener **ret_listener)
{
	struct program_listener *listener = calloc(1, sizeof *listener);
	pthread_condattr_t attributes;
	int fd;

	if (!listener)
		return -ENOMEM;
	fd = proc_events_open(SOCKET_BYTES);
	listener->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0 || listener->call_fd < 0) {
		int error = fd < 0 ? fd : -errno;

		if (fd >= 0)
			close(fd);
		if (listener->call_fd >= 0)
			close(listener->call_fd);
		free(listener);
		return error;
	}
	listener->fd = fd;
	listener->record_fd = -1;
	pthread_mutex_init(&listener->lock, NULL);
	pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&listener->caught_up, &attributes);
	pthread_condattr_destroy(&attributes);
	*ret_listener = listener;
	return 0;
}

void program_listener_close(struct program_listener *listener)
{
	if (!listener)
		return;
	pthread_mutex_lock(&listener->lock);
	listener->stopping = true;
	if (listener->runs && !listener->has_ended)
		(void)wake_thread(listener);
	pthread_mutex_unlock(&listener->lock);
	if (listener->runs)
		pthread_join(listener->thread, NULL);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->record_fd >= 0)
		close(listener->record_fd);
	close(listener->call_fd);
	debug_say("listener", listener->started_ns, "%lld events took %.3f ms", (long long)listener->seen,
		  (double)listener->spent_ns / 1e6);
	pthread_cond_destroy(&listener->caught_up);
	pthread_mutex_destroy(&listener->lock);
	program_names_done(&listener->names);
	known_processes_done(&listener->known);
	free(listener->events);
	free(listener->taken);
	free(listener);
}

void program_listener_add(struct program_listener *listener, pid_t pid, const char *program)
{
	const char *name;
	struct known_process *process;

	pthread_mutex_lock(&listener->lock);
	name = program ? program_names_keep(&listener->names, program) : NULL;
	process = find_known(listener, pid);
	if (process && !process->program)
		process->program = name;
	else if (!process && !listener->has_ended)
		add_known(listener, pid, name, NULL, SYSTEM_CLOCKS.monotonic_ns(NULL));
	pthread_mutex_unlock(&listener->lock);
}

bool program_listener_remove(struct program_listener *listener, pid_t pid)
{
	struct known_process *process;
	bool known;

	pthread_mutex_lock(&listener->lock);
	process = find_known(listener, pid);
	known = process != NULL;
	if (known)
		known_processes_remove(&listener->known, process);
	pthread_mutex_unlock(&listener->lock);
	return known;
}

const struct program_event *program_listener_take(struct program_listener *listener, size_t *ret_count,
						  bool *ret_lost)
{
	struct program_event *spare = listener->taken;
	size_t spare_capacity = listener->taken_capacity;

	pthread_mutex_lock(&listener->lock);
	listener->taken = listener->events;
	listener->taken_capacity = listener->event_capacity;
	*ret_count = listener->event_count;
	*ret_lost = listener->lost;
	listener->events = spare;
	listener->event_capacity = spare_capacity;
	listener->event_count = 0;
	listener->lost = false;
	pthread_mutex_unlock(&listener->lock);
	return listener->taken;
}

/* Returns false if the thread has not answered in time. */
static bool wait_for_thread(struct program_listener *listener)
{
	int64_t until_ns = SYSTEM_CLOCKS.monotonic_ns(NULL) + CATCH_UP_NS;
	struct timespec until = {until_ns / NSEC_PER_SEC, until_ns % NSEC_PER_SEC};
	int error = 0;

	pthread_mutex_lock(&listener->lock);
	if (listener->runs && !listener->has_ended && wake_thread(listener) == 0) {
		uint64_t number = ++listener->asked;

		listener->finishing = true;
		while (!error && listener->answered < number && !listener->has_ended)
			error = pthread_cond_timedwait(&listener->caught_up, &listener->lock, &until);
	}
	pthread_mutex_unlock(&listener->lock);
	return !error;
}

void program_listener_finish(struct program_listener *listener)
{
	/* Where every CPU is busy, the thread may get its turn too late. The end of the job has been told already. */
	program_listener_catch_up(listener);
	if (wait_for_thread(listener))
		return;
	program_listener_catch_up(listener);
	pthread_mutex_lock(&listener->lock);
	if (listener->answered < listener->asked && !listener->has_ended)
		listener->lost_ever = true;
	pthread_mutex_unlock(&listener->lock);
}

size_t program_listener_living(struct program_listener *listener, pid_t *ret_pids, size_t size)
{
	size_t count = 0;

	pthread_mutex_lock(&listener->lock);
	for (size_t i = 0; i < listener->known.slots && count < size; i++)
		if (listener->known.at[i].pid)
			ret_pids[count++] = listener->known.at[i].pid;
	pthread_mutex_unlock(&listener->lock);
	return count;
}

int64_t program_listener_exits(struct program_listener *listener)
{
	int64_t exits;

	pthread_mutex_lock(&listener->lock);
	exits = listener->lost_ever || !(listener->runs || listener->is_read_by_caller) ? -1
											: listener->exits;
	pthread_mutex_unlock(&listener->lock);
	return exits;
}

bool program_listener_resume(struct program_listener *listener)
{
	int64_t allowed_ns = (SYSTEM_CLOCKS.monotonic_ns(NULL) - listener->started_ns) / STOP_PART;
	bool has_ended;

	if (!listener->runs)
		return listener->is_read_by_caller;
	pthread_mutex_lock(&listener->lock);
	has_ended = listener->has_ended;
	pthread_mutex_unlock(&listener->lock);
	if (!has_ended)
		return true;
	/* Below the limit by the amount that may be used at once. */
	if (listener->spent_ns > allowed_ns)
		return false;
	pthread_join(listener->thread, NULL);
	listener->runs = listener->has_ended = listener->stopping = false;
	listener->fd = proc_events_open(SOCKET_BYTES);
	listener->lost = true;
	return listener->fd >= 0 && proc_events_choose(listener->fd) == 0 && start_thread(listener) == 0;
}
