/*
 * The process events of the kernel. See proc_events.h. A message is, in the machine's byte order:
 *
 *   offset  netlink header (16)     cn_msg (20): idx, val, seq, ack, len, flags
 *   36      what        1 fork, 2 exec, 0x200 new name, 0x80000000 exit, 0 answer to a request
 *   40      cpu
 *   44      timestamp   nanoseconds, CLOCK_MONOTONIC
 *   52      fork        parent tid, parent pid, child tid, child pid
 *           exec        tid, pid
 *           new name    tid, pid, name
 *           exit        tid, pid, code, signal, parent tid, parent pid
 *           answer      error
 */
#include "kernel/proc_events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kernel/netlink.h"

enum {
	PROTOCOL_CONNECTOR = 11,
	CONNECTOR_PROC = 1, /* its index, its value and its group */
	LISTEN = 1,

	MESSAGE_BYTES = 20, /* of struct cn_msg */
	EVENT_BYTES = 16,   /* of its fixed part */
	DATA = MESSAGE_BYTES + EVENT_BYTES,
};

#define WHAT_FORK UINT32_C(1)
#define WHAT_EXEC UINT32_C(2)
#define WHAT_NAME UINT32_C(0x200)
#define WHAT_EXIT UINT32_C(0x80000000)

static bool is_pid(uint32_t value)
{
	return value > 0 && value <= INT32_MAX;
}

static bool take_pids(const struct scan *data, size_t thread, size_t process, struct proc_event *event)
{
	uint32_t tid = netlink_u32(data, thread), pid = netlink_u32(data, process);

	if (!is_pid(tid) || !is_pid(pid))
		return false;
	event->pid = (pid_t)pid;
	event->is_thread = tid != pid;
	return true;
}

static bool parse_event(const struct scan *body, struct proc_event *ret_event)
{
	struct scan data = {body->at + DATA, body->end};
	struct proc_event event = {.monotonic_ns = (int64_t)netlink_u64(body, MESSAGE_BYTES + 8)};
	uint32_t parent = 0;

	switch (netlink_u32(body, MESSAGE_BYTES)) {
	case 0:
		event.kind = PROC_EVENT_ACK;
		event.request = netlink_u32(body, 12) - 1;
		event.error = netlink_u32(&data, 0);
		break;
	case WHAT_FORK:
		event.kind = PROC_EVENT_FORKED;
		parent = netlink_u32(&data, 4);
		if (!take_pids(&data, 8, 12, &event) || !is_pid(parent))
			return false;
		break;
	case WHAT_EXEC:
		event.kind = PROC_EVENT_EXECED;
		if (!take_pids(&data, 0, 4, &event))
			return false;
		event.is_thread = false; /* exec makes any thread the only one */
		break;
	case WHAT_NAME:
		event.kind = PROC_EVENT_RENAMED;
		if (!take_pids(&data, 0, 4, &event))
			return false;
		break;
	case WHAT_EXIT:
		event.kind = PROC_EVENT_EXITED;
		parent = netlink_u32(&data, 20);
		if (!take_pids(&data, 0, 4, &event))
			return false;
		event.wait_status = (int)netlink_u32(&data, 8);
		break;
	default:
		return false;
	}
	event.parent_pid = is_pid(parent) ? (pid_t)parent : 0;
	*ret_event = event;
	return true;
}

bool proc_events_next(struct scan *messages, struct proc_event *ret_event)
{
	struct scan body;
	uint16_t type;

	while (netlink_next_message(messages, &type, &body))
		if (scan_left(&body) >= DATA && netlink_u32(&body, 0) == CONNECTOR_PROC &&
		    netlink_u32(&body, 4) == CONNECTOR_PROC && parse_event(&body, ret_event))
			return true;
	return false;
}

/* ---- the socket -------------------------------------------------------------------------------------------------- */

/* The instructions of classic BPF, as in linux/filter.h. */
struct filter_step {
	uint16_t code;
	uint8_t if_true;
	uint8_t if_false;
	uint32_t value;
};

enum {
	LOAD_WORD = 0x20,
	COPY_TO_X = 0x07,
	JUMP_IF_EQUAL = 0x15,
	JUMP_IF_EQUAL_X = 0x1d,
	RETURN = 0x06,
};

/*
 * Keeps the answer, execs, and forks, exits and new names of whole processes. Without the filter, each thread of the machine would wake
 * the listener. The exit of a thread comes with a status other than 0 only: a process whose first thread has ended tells its status with
 * the last one. Loads convert from network byte order, so the constants are converted as well.
 */
static int filter_threads(int fd)
{
	enum { START = NETLINK_HEADER_BYTES + MESSAGE_BYTES, AT = START + EVENT_BYTES };
	const struct filter_step program[] = {
		{LOAD_WORD, 0, 0, START},
		{JUMP_IF_EQUAL, 14, 0, 0},
		{JUMP_IF_EQUAL, 13, 0, htonl(WHAT_EXEC)},
		{JUMP_IF_EQUAL, 3, 0, htonl(WHAT_NAME)},
		{JUMP_IF_EQUAL, 0, 6, htonl(WHAT_EXIT)},
		{LOAD_WORD, 0, 0, AT + 8},
		{JUMP_IF_EQUAL, 0, 9, 0},
		{LOAD_WORD, 0, 0, AT},
		{COPY_TO_X, 0, 0, 0},
		{LOAD_WORD, 0, 0, AT + 4},
		{JUMP_IF_EQUAL_X, 5, 6, 0},
		{JUMP_IF_EQUAL, 0, 5, htonl(WHAT_FORK)},
		{LOAD_WORD, 0, 0, AT + 8},
		{COPY_TO_X, 0, 0, 0},
		{LOAD_WORD, 0, 0, AT + 12},
		{JUMP_IF_EQUAL_X, 0, 1, 0},
		{RETURN, 0, 0, UINT32_MAX},
		{RETURN, 0, 0, 0},
	};
	const struct {
		uint16_t length;
		const struct filter_step *steps;
	} filter = {ARRAY_SIZE(program), program};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0 ? -errno : 0;
}

struct request {
	struct netlink_header header;
	uint32_t index, value, sequence, ack;
	uint16_t length, flags;
	uint32_t operation;
	uint32_t events; /* since Linux 6.6; older kernels ignore it */
};

/* The kernel answers before the call returns. Without an answer, events will not come either. */
static int hear_answer(int fd, uint32_t request)
{
	char bytes[512];

	for (int i = 0; i < 64; i++) {
		int length = netlink_receive(fd, bytes, sizeof bytes);
		struct scan messages = scan_bytes(bytes, length > 0 ? (size_t)length : 0);
		struct proc_event event;

		if (length < 0)
			return length == -EAGAIN ? -ENODATA : length;
		while (proc_events_next(&messages, &event))
			if (event.kind == PROC_EVENT_ACK && event.request == request)
				return event.error ? -(int)(event.error & 4095) : 0;
	}
	return -ENODATA;
}

static int ask_for_events(int fd, uint32_t number, uint32_t events)
{
	struct request request = {
		.header = {.length = sizeof request, .type = NETLINK_MESSAGE_DONE},
		.index = CONNECTOR_PROC,
		.value = CONNECTOR_PROC,
		.ack = number, /* the answer has this number and 1 */
		.length = sizeof request.operation + sizeof request.events,
		.operation = LISTEN,
		.events = events,
	};

	return netlink_send(fd, &request, sizeof request);
}

static int hear_events(int fd)
{
	const uint32_t number = (uint32_t)getpid();
	int error = ask_for_events(fd, number, 0);

	return error < 0 ? error : hear_answer(fd, number);
}

/* A listener to chosen events does not get the answer: listen to all of them (0), and then choose. */
int proc_events_choose(int fd)
{
	int error = filter_threads(fd);

	return error < 0 ? error
			 : ask_for_events(fd, (uint32_t)getpid(),
					  WHAT_FORK | WHAT_EXEC | WHAT_NAME | WHAT_EXIT);
}

int proc_events_signal(int fd, int signo)
{
	if (signo && (fcntl(fd, F_SETOWN, getpid()) < 0 || fcntl(fd, F_SETSIG, signo) < 0))
		return -errno;
	return fcntl(fd, F_SETFL, signo ? O_ASYNC : 0) < 0 ? -errno : 0;
}

int proc_events_open(int buffer_bytes)
{
	CLEANUP_CLOSE int fd = netlink_open(PROTOCOL_CONNECTOR, CONNECTOR_PROC);
	int error = fd;

	if (fd < 0)
		return error;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
	error = hear_events(fd);
	return error < 0 ? error : take_fd(&fd);
}
