/* The recorder's side of a helper. See helper.h. */
#include "helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/runs_once.h"
#include "base/wait_child.h"
#include "helper/shared_memory.h"
#include "helper/shared_page.h"
#include "kernel/proc_pid_stat.h"
#include "launch/child.h"
#include "launch/detached.h"

#define POLITE_STOP_NS (2 * NSEC_PER_MSEC)
#define WHOLE_STOP_NS (5 * NSEC_PER_MSEC)
#define DEBUG_STOP_NS (1 * NSEC_PER_SEC) /* debugging is worth that the helper can say how it ends */
#define DYING_NS (1 * NSEC_PER_SEC)
#define DYING_CPU_NS (50 * NSEC_PER_MSEC) /* a virtual machine that is held up charges its processes for it */
#define REAP_PAUSE_NS (50 * NSEC_PER_USEC)

enum { NUMBER_TEXT_SIZE = 16, FIRST_FREE_FD = 3 };

struct helper {
	struct helper_page *page;
	size_t page_bytes;
	struct latest request;
	struct latest answer;
	int socket_fd;    /* closes when the helper exits */
	pid_t started_by; /* the process that may talk to the helper */
	pid_t supervisor_pid;
};

static size_t align_to_cache_line(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

static void lay_out(struct helper *helper, const struct helper_order *order)
{
	struct helper_page *page = helper->page;
	char *base = (char *)page;

	page->magic = HELPER_MAGIC;
	page->total_bytes = helper->page_bytes;
	page->setup_offset = align_to_cache_line(sizeof(*page));
	page->setup_bytes = order->setup_bytes;
	page->request_offset = page->setup_offset + align_to_cache_line(order->setup_bytes);
	page->request_bytes = order->request_bytes;
	page->answer_offset =
		page->request_offset + align_to_cache_line(latest_footprint(order->request_bytes));
	page->answer_bytes = order->answer_bytes;
	page->recorder_pid = getpid();
	helper->request = latest_at(base + page->request_offset, order->request_bytes);
	helper->answer = latest_at(base + page->answer_offset, order->answer_bytes);
	if (order->setup_bytes)
		memcpy(base + page->setup_offset, order->setup, order->setup_bytes);
}

static int64_t helper_now_ns(void)
{
	return SYSTEM_CLOCKS.monotonic_ns(SYSTEM_CLOCKS.context);
}

/* ---- starting -------------------------------------------------------------------------------------- */

/* The descriptors for the program, with the numbers under which it finds them. */
struct launch {
	int memory_fd;
	int socket_fd;
};

/*
 * The started program forks at once and exits. The process that it leaves behind is not our child. A descriptor
 * duplicated onto another number stays open over exec with all C libraries. One duplicated onto itself does
 * not. Returns 0 or a negative errno.
 */
static int launch_helper(struct helper *helper, const char *const *argv, const struct launch *from,
			 const struct launch *to)
{
	posix_spawn_file_actions_t actions;
	int status, error;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	error = -posix_spawn_file_actions_adddup2(&actions, from->memory_fd, to->memory_fd);
	if (!error)
		error = -posix_spawn_file_actions_adddup2(&actions, from->socket_fd, to->socket_fd);
	if (!error)
		error = child_run_helper(argv, NULL, &actions, &status);
	posix_spawn_file_actions_destroy(&actions);
	if (error || helper->page->start_error)
		return error ? error : -(int)helper->page->start_error;
	/* A program of another version stops before this. */
	return helper->page->supervisor_pid > 1 ? 0 : -EPROTO;
}

static int start_program(struct helper *helper, const char *kind, int memory_fd)
{
	char memory_text[NUMBER_TEXT_SIZE], socket_text[NUMBER_TEXT_SIZE];
	const char *const argv[] = {HELPER_PROGRAM.name, kind, memory_text, socket_text, NULL};
	CLEANUP_CLOSE int ours = -1, theirs = -1, memory_there = -1, socket_there = -1;
	int sockets[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	ours = sockets[0];
	theirs = sockets[1];
	memory_there = fcntl(memory_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	socket_there = fcntl(theirs, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	if (memory_there < 0 || socket_there < 0)
		return -errno;
	snprintf(memory_text, sizeof memory_text, "%d", memory_there);
	snprintf(socket_text, sizeof socket_text, "%d", socket_there);
	error = launch_helper(helper, argv, &(struct launch){memory_fd, theirs},
			      &(struct launch){memory_there, socket_there});
	if (!error)
		helper->socket_fd = take_fd(&ours);
	return error;
}

RUNS_ONCE int helper_start(const struct helper_order *order, struct helper **ret_helper)
{
	size_t total = align_to_cache_line(sizeof(struct helper_page)) +
		       align_to_cache_line(order->setup_bytes) +
		       align_to_cache_line(latest_footprint(order->request_bytes)) +
		       align_to_cache_line(latest_footprint(order->answer_bytes));
	CLEANUP_FREE struct helper *helper = malloc(sizeof *helper);
	CLEANUP_CLOSE int memory_fd = -1;
	int64_t begun_ns;
	void *memory;
	int error;

	if (!helper)
		return -ENOMEM;
	memory_fd = shared_memory_new(total, &memory);
	if (memory_fd < 0)
		return memory_fd;
	*helper =
		(struct helper){.page = memory, .page_bytes = total, .socket_fd = -1, .started_by = getpid()};
	lay_out(helper, order);
	begun_ns = debug_now_ns();
	error = start_program(helper, order->kind, memory_fd);
	debug_say("helper", begun_ns, error < 0 ? "%s cannot be started: error %d" : "%s is process %d",
		  order->kind, error < 0 ? -error : (int)helper->page->supervisor_pid);
	if (error < 0) {
		munmap(memory, total);
		return error;
	}
	helper->supervisor_pid = (pid_t)helper->page->supervisor_pid;
	*ret_helper = helper;
	helper = NULL;
	return 0;
}

/* ---- asking and reading ---------------------------------------------------------------------------- */

/*
 * Returns whether the helper ends within timeout_ns. It sends no data, so a readable connection means that it
 * has ended.
 */
static bool has_gone(const struct helper *helper, int64_t timeout_ns)
{
	struct pollfd socket = {.fd = helper->socket_fd, .events = POLLRDHUP};
	struct timespec timeout = {timeout_ns / NSEC_PER_SEC, timeout_ns % NSEC_PER_SEC};

	return helper->socket_fd < 0 || ppoll(&socket, 1, &timeout, NULL) > 0;
}

int helper_ask(struct helper *helper, const void *request, size_t length)
{
	return latest_write(&helper->request, request, length, helper_now_ns());
}

uint64_t helper_answer_number(const struct helper *helper)
{
	return latest_number(&helper->answer);
}

ptrdiff_t helper_latest(struct helper *helper, void *ret_answer, size_t size, int64_t *ret_at_ns)
{
	ptrdiff_t length = latest_read(&helper->answer, ret_answer, size, ret_at_ns);

	if (length == -EAGAIN && !helper_answer_number(helper) && has_gone(helper, 0))
		return -EPIPE;
	return length;
}

bool helper_ended_content(const struct helper *helper)
{
	return helper->page->ended == 1;
}

int64_t helper_failures(const struct helper *helper)
{
	return helper->page->failure_count;
}

int64_t helper_cpu_ns(const struct helper *helper)
{
	return helper->page->cpu_ns;
}

size_t helper_pids(const struct helper *helper, pid_t ret_pids[2])
{
	int64_t worker_pid = helper->page->worker_pid;
	size_t count = 0;

	if (has_gone(helper, 0))
		return 0;
	ret_pids[count++] = helper->supervisor_pid;
	if (worker_pid > 0 && worker_pid <= INT_MAX)
		ret_pids[count++] = (pid_t)worker_pid;
	return count;
}

/* ---- ending ---------------------------------------------------------------------------------------- */

/* The CPU time of another process. -1: it is gone. */
static int64_t worker_used_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec used;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return -1;
	return used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

/*
 * Whether a killed process is stuck in a driver, which then decides when it dies: it sleeps where signals do not reach it, or
 * has had CPU time. A process that has begun to exit is not: it frees its memory.
 */
static bool is_stuck_worker(pid_t pid, int64_t used_before_ns)
{
	char path[32], text[1024];
	struct proc_pid_stat stat;
	CLEANUP_CLOSE int fd = -1;
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (length <= 0 || parse_proc_pid_stat(text, (size_t)length, &stat) < 0)
		return false;
	return proc_pid_stat_is_stuck(&stat) ||
	       (!proc_pid_stat_is_exiting(&stat) && worker_used_ns(pid) - used_before_ns > DYING_CPU_NS);
}

/* A killed process dies when it gets CPU time, for which it may have to wait on a busy machine. */
static void reap_supervisor(pid_t pid, int64_t until_ns)
{
	const struct timespec pause = {0, REAP_PAUSE_NS};
	int64_t before_ns = worker_used_ns(pid);

	while (wait_child(pid, NULL, WNOHANG, NULL) == 0) {
		int64_t now = helper_now_ns();

		if (now > until_ns + DYING_NS || (now > until_ns && is_stuck_worker(pid, before_ns)))
			return;
		nanosleep(&pause, NULL);
	}
}

static void end_process(struct helper *helper)
{
	int64_t worker_pid = helper->page->worker_pid, until_ns = helper_now_ns() + WHOLE_STOP_NS;

	/* The helper sees the connection end, and ends its worker and itself. */
	shutdown(helper->socket_fd, SHUT_WR);
	if (!has_gone(helper, debug_is_on() ? DEBUG_STOP_NS : POLITE_STOP_NS)) {
		/*
		 * The helper still holds its end of the connection, so the pid is still its own. Its worker
		 * dies with it.
		 */
		kill(helper->supervisor_pid, SIGKILL);
		(void)has_gone(helper, until_ns - helper_now_ns());
	}
	if (!adopts_orphans())
		return;
	reap_supervisor(helper->supervisor_pid, until_ns);
	/* A worker that did not die at once has become our child. */
	if (worker_pid > 1 && worker_pid <= INT_MAX)
		reap_supervisor((pid_t)worker_pid, until_ns);
}

void helper_stop(struct helper *helper)
{
	if (!helper)
		return;
	if (helper->started_by == getpid() && helper->supervisor_pid > 1)
		end_process(helper);
	if (helper->socket_fd >= 0)
		close(helper->socket_fd);
	munmap(helper->page, helper->page_bytes);
	free(helper);
}
