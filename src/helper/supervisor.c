/* Starts and replaces the worker, and ends with the recorder. See supervisor.h. */
#include "helper/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/wait_child.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define FIRST_PAUSE_NS (1 * NSEC_PER_SEC)
#define LONGEST_PAUSE_NS (60 * NSEC_PER_SEC)
#define STEADY_NS (60 * NSEC_PER_SEC) /* after this lifetime, the count of failures restarts */
#define LOOK_AROUND_NS (5 * NSEC_PER_SEC)
#define WORKER_END_NS (1 * NSEC_PER_MSEC)

enum { FAILURES_MAX = 8 };

struct supervisor {
	const struct helper_view *view;
	const struct helper_kind *kind;
	int socket_fd;
	pid_t recorder_pid;
	int recorder_fd; /* pidfd, -1 before Linux 5.3 */

	pid_t worker_pid; /* 0: none */
	int worker_fd;    /* closes when the worker exits */
	bool killed;      /* it hung, and dies when the kernel lets it */
	int64_t started_ns;
	int64_t next_start_ns;
	int64_t pause_ns;
	int failures_in_a_row;
	int64_t counted_ns;
};

static int64_t supervisor_now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context);
}

static _Noreturn void become_worker(const struct supervisor *supervisor, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(WORKER_FAILED);
	/* While a worker is stuck in the kernel, the recorder must still see the supervisor end. */
	close(supervisor->socket_fd);
	if (supervisor->recorder_fd >= 0)
		close(supervisor->recorder_fd);
	/* Not exit(): the library's own exit handlers may hang, too. */
	_exit(worker_run(supervisor->view, supervisor->kind));
}

static void note_worker_failure(struct supervisor *supervisor)
{
	supervisor->view->page->failure_count++;
	if (supervisor_now_ns() - supervisor->started_ns > STEADY_NS) {
		supervisor->failures_in_a_row = 0;
		supervisor->pause_ns = FIRST_PAUSE_NS;
	}
	supervisor->failures_in_a_row++;
	supervisor->next_start_ns = supervisor_now_ns() + supervisor->pause_ns;
	if (supervisor->pause_ns < LONGEST_PAUSE_NS)
		supervisor->pause_ns *= 2;
}

static void start_worker(struct supervisor *supervisor)
{
	pid_t parent = getpid(), pid;
	int pipe_fds[2];

	supervisor->started_ns = supervisor_now_ns();
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		note_worker_failure(supervisor);
		return;
	}
	pid = fork();
	if (pid == 0) {
		close(pipe_fds[0]);
		become_worker(supervisor, parent);
	}
	close(pipe_fds[1]);
	if (pid < 0) {
		close(pipe_fds[0]);
		note_worker_failure(supervisor);
		return;
	}
	supervisor->worker_pid = pid;
	supervisor->worker_fd = pipe_fds[0];
	supervisor->killed = false;
	supervisor->view->page->worker_pid = pid;
	debug_say("helper", 0, "worker %d is started", (int)pid);
}

/* Returns whether the worker has nothing to do. */
static bool worker_ended(struct supervisor *supervisor)
{
	int status = 0;

	close(supervisor->worker_fd);
	while (wait_child(supervisor->worker_pid, &status, 0, NULL) < 0 && errno == EINTR)
		;
	supervisor->worker_pid = 0;
	supervisor->worker_fd = -1;
	supervisor->view->page->worker_pid = 0;
	supervisor->view->page->pass_began_ns = 0;
	debug_say("helper", 0, "the worker has ended with wait status %#x", (unsigned)status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_CONTENT) {
		supervisor->view->page->ended = 1;
		return true;
	}
	note_worker_failure(supervisor);
	return false;
}

static bool worker_hangs(const struct supervisor *supervisor, int64_t now)
{
	int64_t began_ns = supervisor->view->page->pass_began_ns;

	return supervisor->worker_pid && !supervisor->killed && began_ns > 0 &&
	       now - began_ns > supervisor->kind->pass_limit_ns;
}

/* The recorder has exited, even though its connection is open (a forked child of it may hold that). */
static bool recorder_gone(const struct supervisor *supervisor)
{
	return supervisor->recorder_fd < 0 && kill(supervisor->recorder_pid, 0) < 0 && errno == ESRCH;
}

static void account_supervisor_cpu(struct supervisor *supervisor)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
		return;
	supervisor->view->page->cpu_ns += used.tv_sec * NSEC_PER_SEC + used.tv_nsec - supervisor->counted_ns;
	supervisor->counted_ns = used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

/* Waits for an event, or until something is due. Returns whether to continue. */
static bool wait_for_worker(struct supervisor *supervisor)
{
	int64_t wait_ns = LOOK_AROUND_NS;
	struct pollfd fds[] = {
		{.fd = supervisor->socket_fd, .events = POLLIN | POLLRDHUP},
		{.fd = supervisor->recorder_fd, .events = POLLIN},
		{.fd = supervisor->worker_fd, .events = POLLIN},
	};
	struct timespec timeout;

	if (!supervisor->worker_pid) {
		wait_ns = supervisor->next_start_ns - supervisor_now_ns();
		wait_ns = wait_ns < 0 ? 0 : wait_ns > LOOK_AROUND_NS ? LOOK_AROUND_NS : wait_ns;
	}
	timeout = (struct timespec){wait_ns / NSEC_PER_SEC, wait_ns % NSEC_PER_SEC};
	if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL) < 0)
		return errno == EINTR;
	if (fds[0].revents || fds[1].revents || recorder_gone(supervisor))
		return false;
	return !fds[2].revents || !worker_ended(supervisor);
}

/* A worker that does not die at once is stuck in the kernel. Its pending SIGKILL kills it there. */
static void end_worker(const struct supervisor *supervisor)
{
	struct pollfd worker = {.fd = supervisor->worker_fd};
	const struct timespec limit = {0, WORKER_END_NS};

	kill(supervisor->worker_pid, SIGKILL);
	if (ppoll(&worker, 1, &limit, NULL) > 0)
		wait_child(supervisor->worker_pid, NULL, 0, NULL);
}

int supervise(const struct helper_view *view, const struct helper_kind *kind, int socket_fd)
{
	struct supervisor supervisor = {
		.view = view,
		.kind = kind,
		.socket_fd = socket_fd,
		.recorder_pid = (pid_t)view->page->recorder_pid,
		.worker_fd = -1,
		.pause_ns = FIRST_PAUSE_NS,
	};
	bool running = true;

	supervisor.recorder_fd = (int)syscall(SYS_pidfd_open, supervisor.recorder_pid, 0);
	while (running && supervisor.failures_in_a_row < FAILURES_MAX) {
		if (!supervisor.worker_pid && supervisor_now_ns() >= supervisor.next_start_ns)
			start_worker(&supervisor);
		running = wait_for_worker(&supervisor);
		if (worker_hangs(&supervisor, supervisor_now_ns())) {
			debug_say("helper", supervisor.view->page->pass_began_ns,
				  "worker %d hangs and is killed", (int)supervisor.worker_pid);
			kill(supervisor.worker_pid, SIGKILL);
			supervisor.killed = true;
		}
		account_supervisor_cpu(&supervisor);
	}
	debug_say("helper", 0, "ends: %s",
		  running ? "too many workers have failed" : "the recorder or the work is over");
	if (supervisor.worker_pid)
		end_worker(&supervisor);
	return 0;
}
