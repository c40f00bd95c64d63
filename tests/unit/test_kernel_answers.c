/*
 * Tests of src/kernel/proc_events.c, taskstats.c and sock_diag.c: the bytes of each request, and what follows each answer. This
 * program's own functions stand in the place of the calls that reach the kernel: the kernel's end of each socket is ours.
 */
#include "kernel.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kernel/netlink.h"
#include "kernel/proc_events.h"
#include "kernel/sock_diag.h"
#include "kernel/taskstats.h"

enum { ASKED_MOST = 4, ANSWERS_MOST = 6, TEXT_BYTES = 600 };

struct text {
	char bytes[TEXT_BYTES];
	size_t length;
	int after; /* of an answer: the request, from 1, that it follows */
};

static struct {
	int opened; /* by the code under test */
	int end;    /* of the kernel. -1: no socket was opened */
	int domain, protocol, refuse_socket;
	struct netlink_address own, to;
	struct text asked[ASKED_MOST], answers[ANSWERS_MOST];
	int asked_count, answer_count;
	int refuse_request;                       /* the request, from 1, that fails */
	int force_value, refuse_force, set_value; /* of the size of the socket's buffer */
	int receive_error;                        /* of the next recv(). 0: none */
} kernel;

int socket(int domain, int type, int protocol)
{
	int ends[2];

	kernel.domain = domain;
	kernel.protocol = protocol;
	if (kernel.refuse_socket) {
		errno = kernel.refuse_socket;
		return -1;
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | (type & SOCK_CLOEXEC), 0, ends), 0);
	kernel.end = ends[1];
	kernel.opened = ends[0];
	return ends[0];
}

/* The headers of some C libraries declare these two with a type of address that only they can name. */
int our_bind(int fd, const void *address, socklen_t length) __asm__("bind");
ssize_t our_sendto(int fd, const void *bytes, size_t length, int flags, const void *to,
		   socklen_t to_length) __asm__("sendto");

int our_bind(int fd, const void *address, socklen_t length)
{
	(void)fd;
	assert_int_equal(length, sizeof kernel.own);
	memcpy(&kernel.own, address, sizeof kernel.own);
	return 0;
}

/* The answers are there before the call returns, as with the kernel. */
ssize_t our_sendto(int fd, const void *bytes, size_t length, int flags, const void *to, socklen_t to_length)
{
	struct text *asked = &kernel.asked[kernel.asked_count];

	(void)fd, (void)flags;
	assert_true(kernel.asked_count < ASKED_MOST && length <= sizeof asked->bytes);
	assert_int_equal(to_length, sizeof kernel.to);
	memcpy(&kernel.to, to, sizeof kernel.to);
	memcpy(asked->bytes, bytes, length);
	asked->length = length;
	if (++kernel.asked_count == kernel.refuse_request) {
		errno = ECONNREFUSED;
		return -1;
	}
	for (int i = 0; i < kernel.answer_count; i++)
		if (kernel.answers[i].after == kernel.asked_count)
			assert_int_equal(write(kernel.end, kernel.answers[i].bytes, kernel.answers[i].length),
					 kernel.answers[i].length);
	return (ssize_t)length;
}

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
	int error = kernel.receive_error;

	kernel.receive_error = 0;
	if (error) {
		errno = error;
		return -1;
	}
	return recvfrom(fd, bytes, size, flags, NULL, NULL);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	if (option == SO_RCVBUF)
		memcpy(&kernel.set_value, value, sizeof kernel.set_value);
	if (option != SO_RCVBUFFORCE)
		return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
	memcpy(&kernel.force_value, value, sizeof kernel.force_value);
	errno = EPERM;
	return kernel.refuse_force ? -1 : 0;
}

static int begin(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof kernel);
	kernel.end = -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (kernel.end >= 0)
		close(kernel.end);
	return 0;
}

static void add_bytes(struct text *text, const void *bytes, size_t length)
{
	assert_true(text->length + length <= sizeof text->bytes);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void add_u16(struct text *text, uint16_t value)
{
	add_bytes(text, &value, sizeof value);
}

static void add_u32(struct text *text, uint32_t value)
{
	add_bytes(text, &value, sizeof value);
}

/* A message's length stands in its first 4 bytes. */
static void end_message(struct text *text)
{
	uint32_t length = (uint32_t)text->length;

	memcpy(text->bytes, &length, sizeof length);
}

static void begin_message(struct text *text, uint16_t type, uint16_t flags)
{
	text->length = 0;
	add_u32(text, 0);
	add_u16(text, type);
	add_u16(text, flags);
	add_u32(text, 0);
	add_u32(text, 0);
}

static struct text *next_answer(int after)
{
	assert_true(kernel.answer_count < ANSWERS_MOST);
	kernel.answers[kernel.answer_count].after = after;
	return &kernel.answers[kernel.answer_count++];
}

static void assert_asked(int number, const struct text *wanted)
{
	assert_true(number < kernel.asked_count);
	assert_int_equal(kernel.asked[number].length, wanted->length);
	assert_memory_equal(kernel.asked[number].bytes, wanted->bytes, wanted->length);
	assert_int_equal(kernel.to.family, AF_NETLINK);
	assert_int_equal(kernel.to.port, 0);
	assert_int_equal(kernel.domain, AF_NETLINK);
}

/* Netlink refuses an error as a message of type 2 with the negative errno. */
static void answer_error(int after, int error)
{
	struct text *answer = next_answer(after);

	begin_message(answer, NETLINK_MESSAGE_ERROR, 0);
	add_u32(answer, (uint32_t)error);
	end_message(answer);
}

/* ---- process events ---------------------------------------------------------------------------------------------- */

enum { EVENT_MESSAGE_BYTES = 76 };

/* A message has struct cn_msg and struct proc_event, with six words of the event. */
static void build_event(struct text *text, uint32_t ack, uint32_t what, const uint32_t data[6])
{
	begin_message(text, NETLINK_MESSAGE_DONE, 0);
	add_u32(text, 1);
	add_u32(text, 1);
	add_u32(text, 77);
	add_u32(text, ack);
	add_u16(text, 40);
	add_u16(text, 0);
	add_u32(text, what);
	add_u32(text, 3);
	add_u32(text, 11);
	add_u32(text, 22);
	for (int i = 0; i < 6; i++)
		add_u32(text, data[i]);
	end_message(text);
	assert_int_equal(text->length, EVENT_MESSAGE_BYTES);
}

static void answer_request(uint32_t number, uint32_t error)
{
	build_event(next_answer(1), number + 1, 0, (const uint32_t[6]){error});
}

static void build_listen_request(struct text *wanted, uint32_t events)
{
	begin_message(wanted, NETLINK_MESSAGE_DONE, 0);
	add_u32(wanted, 1);
	add_u32(wanted, 1);
	add_u32(wanted, 0);
	add_u32(wanted, (uint32_t)getpid());
	add_u16(wanted, 8);
	add_u16(wanted, 0);
	add_u32(wanted, 1);
	add_u32(wanted, events);
	end_message(wanted);
}

static void events_are_asked_for_and_then_chosen(void **state)
{
	struct text wanted;
	int fd, size = 0;
	socklen_t length = sizeof size;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	answer_request((uint32_t)getpid(), 0);
	fd = proc_events_open(1 << 16);
	assert_int_equal(fd, kernel.opened);
	assert_int_equal(kernel.protocol, 11);
	assert_int_equal(kernel.own.family, AF_NETLINK);
	assert_int_equal(kernel.own.groups, 1);
	build_listen_request(&wanted, 0);
	assert_asked(0, &wanted);
	/* The kernel doubles the size. */
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
	assert_int_equal(size, 1 << 17);
	assert_int_equal(proc_events_choose(fd), 0);
	build_listen_request(&wanted, 0x80000203);
	assert_asked(1, &wanted);
	close(fd);
	assert_int_equal(proc_events_choose(-1), -EBADF);
}

static void without_an_answer_events_do_not_come(void **state)
{
	(void)state;
	kernel.refuse_socket = EPROTONOSUPPORT;
	assert_int_equal(proc_events_open(1 << 16), -EPROTONOSUPPORT);
	kernel.refuse_socket = 0;
	assert_int_equal(proc_events_open(1 << 16), -ENODATA);
	end(state);
	begin(state);
	kernel.refuse_request = 1;
	assert_int_equal(proc_events_open(1 << 16), -ECONNREFUSED);
}

/* The answer has the request's number and 1. */
static void only_the_answer_to_this_request_counts(void **state)
{
	const uint32_t number = (uint32_t)getpid();

	(void)state;
	answer_request(number + 1, 0);
	answer_request(number - 1, 0);
	assert_int_equal(proc_events_open(1 << 16), -ENODATA);
	end(state);
	begin(state);
	answer_request(number + 1, 0);
	build_event(next_answer(1), number + 1, 1, (const uint32_t[6]){5, 5, 6, 6});
	answer_request(number, EPERM);
	assert_int_equal(proc_events_open(1 << 16), -EPERM);
	end(state);
	begin(state);
	answer_request(number, 4095);
	assert_int_equal(proc_events_open(1 << 16), -4095);
	end(state);
	begin(state);
	answer_request(number, 4096 + EPERM); /* the lower twelve bits are the error */
	assert_int_equal(proc_events_open(1 << 16), -EPERM);
}

static void an_empty_datagram_does_not_answer(void **state)
{
	(void)state;
	next_answer(1)->length = 0;
	answer_request((uint32_t)getpid(), EPERM);
	assert_int_equal(proc_events_open(1 << 16), -EPERM);
}

/* Each event that the filter lets through, and each neighbour that it leaves out. */
static void threads_are_left_out_by_the_filter(void **state)
{
	static const struct {
		uint32_t what;
		uint32_t data[6];
		bool passes;
	} CASES[] = {
		{0, {0, 1, 2, 3, 4, 5}, true},
		/* fork: the parent's thread and process, the child's thread and process */
		{1, {10, 11, 12, 12, 13, 14}, true},
		{1, {10, 10, 12, 11, 12, 11}, false},
		{1, {12, 12, 11, 12, 11, 11}, false},
		/* exec: thread and process */
		{2, {20, 20, 1, 2, 3, 4}, true},
		{2, {20, 21, 1, 2, 3, 4}, true},
		/* a new name: thread and process */
		{0x200, {30, 30, 31, 32, 33, 34}, true},
		{0x200, {31, 30, 30, 30, 31, 31}, false},
		{0x200, {30, 31, 31, 30, 31, 30}, false},
		/* exit: thread, process, code, signal, the parent's thread and process */
		{0x80000000, {40, 40, 0, 17, 1, 1}, true},
		{0x80000000, {40, 40, 256, 17, 1, 1}, true},
		{0x80000000, {41, 40, 0, 17, 40, 41}, false},
		{0x80000000, {40, 41, 0, 41, 40, 41}, false},
		{0x80000000, {41, 40, 1, 0, 0, 0}, true},
		{0x80000000, {41, 40, 0x01000000, 0, 0, 0}, true},
		/* others: uid, gid, session, ptrace, core dump */
		{4, {50, 50, 0, 0, 0, 0}, false},
		{0x40, {50, 50, 50, 50, 0, 0}, false},
		{0x80, {50, 50, 50, 50, 0, 0}, false},
		{0x100, {50, 50, 50, 50, 0, 0}, false},
		{0x40000000, {50, 50, 50, 50, 0, 0}, false},
	};
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	answer_request((uint32_t)getpid(), 0);
	fd = proc_events_open(1 << 16);
	assert_int_equal(fd, kernel.opened);
	assert_int_equal(proc_events_choose(fd), 0);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct text event;
		char bytes[TEXT_BYTES];
		bool passed;

		build_event(&event, 9, CASES[i].what, CASES[i].data);
		assert_int_equal(write(kernel.end, event.bytes, event.length), event.length);
		passed = netlink_receive(fd, bytes, sizeof bytes) == (int)event.length;
		if (passed != CASES[i].passes)
			fail_msg("case %zu: an event of kind %#x %s", i, (unsigned)CASES[i].what,
				 passed ? "passes" : "does not pass");
		if (passed)
			assert_memory_equal(bytes, event.bytes, event.length);
	}
	close(fd);
}

static void a_signal_at_each_event_is_asked_for_and_given_up(void **state)
{
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	fd = socket(AF_NETLINK, 0, 0);
	assert_int_equal(proc_events_signal(fd, SIGCHLD), 0);
	assert_int_equal(fcntl(fd, F_GETOWN), getpid());
	assert_int_equal(fcntl(fd, F_GETSIG), SIGCHLD);
	assert_true(fcntl(fd, F_GETFL) & O_ASYNC);
	assert_int_equal(proc_events_signal(fd, 0), 0);
	assert_false(fcntl(fd, F_GETFL) & O_ASYNC);
	assert_int_equal(fcntl(fd, F_GETSIG), SIGCHLD);
	assert_int_equal(proc_events_signal(fd, 1000), -EINVAL);
	close(fd);
	assert_int_equal(proc_events_signal(-1, SIGCHLD), -EBADF);
	assert_int_equal(proc_events_signal(-1, 0), -EBADF);
}

/* ---- exit records ------------------------------------------------------------------------------------------------ */

enum { FAMILY_ID = 31 };

static void add_generic_header(struct text *text, uint8_t command)
{
	const uint8_t header[4] = {command, 1};

	add_bytes(text, header, sizeof header);
}

static void build_family(struct text *text, uint16_t type, uint16_t attribute, uint16_t id)
{
	begin_message(text, type, 0);
	add_generic_header(text, 1);
	add_u16(text, 4 + 10);
	add_u16(text, 2);
	add_bytes(text, "TASKSTATS\0\0\0", 12);
	add_u16(text, 6);
	add_u16(text, attribute);
	add_u16(text, id);
	add_u16(text, 0);
	end_message(text);
}

static void build_ask(struct text *wanted, uint16_t type, uint8_t command, uint16_t attribute,
		      const char *value)
{
	begin_message(wanted, type, NETLINK_FLAG_REQUEST);
	add_generic_header(wanted, command);
	add_u16(wanted, (uint16_t)(4 + strlen(value) + 1));
	add_u16(wanted, attribute);
	add_bytes(wanted, value, strlen(value) + 1);
	while (wanted->length % 4)
		add_bytes(wanted, "", 1);
	end_message(wanted);
}

static void records_of_all_cpus_are_asked_for(void **state)
{
	struct text wanted;
	uint16_t family = 0;
	char cpus[32];
	int fd;

	(void)state;
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	fd = taskstats_open(1 << 20, &family);
	assert_int_equal(fd, kernel.opened);
	assert_int_equal(kernel.protocol, 16);
	assert_int_equal(kernel.own.groups, 0);
	assert_int_equal(family, FAMILY_ID);
	assert_int_equal(kernel.force_value, 1 << 20);
	build_ask(&wanted, 16, 3, 2, "TASKSTATS");
	assert_asked(0, &wanted);
	snprintf(cpus, sizeof cpus, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	build_ask(&wanted, FAMILY_ID, 1, 3, cpus);
	assert_asked(1, &wanted);
	assert_int_equal(kernel.asked_count, 2);
	close(fd);
}

static int open_records(void)
{
	uint16_t family;

	return taskstats_open(1 << 20, &family);
}

static void each_refusal_of_records_is_told(void **state)
{
	(void)state;
	kernel.refuse_socket = EAFNOSUPPORT;
	assert_int_equal(open_records(), -EAFNOSUPPORT);
	begin(state);
	kernel.refuse_request = 1;
	assert_int_equal(open_records(), -ECONNREFUSED);
	end(state);
	begin(state);
	/* The kernel is silent. */
	assert_int_equal(open_records(), -EAGAIN);
	end(state);
	begin(state);
	answer_error(1, -ENOENT);
	assert_int_equal(open_records(), -ENOENT);
	end(state);
	begin(state);
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	kernel.refuse_force = 1;
	assert_int_equal(open_records(), -EPERM);
	end(state);
	begin(state);
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	kernel.refuse_request = 2;
	assert_int_equal(open_records(), -ECONNREFUSED);
	end(state);
	begin(state);
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	answer_error(2, -EINVAL);
	assert_int_equal(open_records(), -EINVAL);
}

/* The answer to a registration is of another type, or longer than the datagram. */
static void other_answers_refuse_no_records(void **state)
{
	int fd;

	(void)state;
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	build_family(next_answer(2), 16, 1, FAMILY_ID);
	fd = open_records();
	assert_int_equal(fd, kernel.opened);
	close(fd);
	end(state);
	begin(state);
	build_family(next_answer(1), 16, 1, FAMILY_ID);
	answer_error(2, -EINVAL);
	kernel.answers[1].bytes[0]++; /* longer than the datagram */
	fd = open_records();
	assert_int_equal(fd, kernel.opened);
	close(fd);
}

static uint16_t family_of(const struct text *text)
{
	return parse_taskstats_family(scan_bytes(text->bytes, text->length));
}

static void the_family_is_a_number_of_the_control_family(void **state)
{
	struct text text;

	(void)state;
	build_family(&text, 16, 1, FAMILY_ID);
	assert_int_equal(family_of(&text), FAMILY_ID);
	build_family(&text, 17, 1, FAMILY_ID);
	assert_int_equal(family_of(&text), 0);
	build_family(&text, 16, 3, FAMILY_ID);
	assert_int_equal(family_of(&text), 0);
	/* The attribute has less than its two bytes. */
	build_family(&text, 16, 1, FAMILY_ID);
	text.bytes[text.length - 8] = 5;
	assert_int_equal(family_of(&text), 0);
	/* The message ends within the generic header, of which 3 bytes would be an attribute. */
	begin_message(&text, 16, 0);
	add_u16(&text, 6);
	end_message(&text);
	assert_int_equal(family_of(&text), 0);
	text.length = 0;
	assert_int_equal(family_of(&text), 0);
}

/* ---- sockets ----------------------------------------------------------------------------------------------------- */

enum { COOKIE = 0x51, INODE = 4711 };

/* A struct inet_diag_msg, without attributes. */
static void add_socket(struct text *text, uint16_t type, uint8_t socket_state, uint32_t cookie,
		       uint32_t inode)
{
	char body[72] = {2};
	struct netlink_header header = {.length = sizeof header + sizeof body, .type = type};

	body[1] = (char)socket_state;
	memcpy(body + 44, &cookie, sizeof cookie);
	memcpy(body + 68, &inode, sizeof inode);
	add_bytes(text, &header, sizeof header);
	add_bytes(text, body, sizeof body);
}

static void add_end(struct text *text, uint16_t type, int error)
{
	struct netlink_header header = {.length = sizeof header + 4, .type = type};

	add_bytes(text, &header, sizeof header);
	add_u32(text, (uint32_t)error);
}

static void add_up_inodes(void *context, const struct diag_socket *socket)
{
	*(uint64_t *)context += socket->inode;
}

static int dump(uint64_t cgroup_id, uint64_t *ret_sum)
{
	int fd = sock_diag_open(), error;

	assert_true(fd >= 0);
	*ret_sum = 0;
	error = sock_diag_dump(fd, cgroup_id, add_up_inodes, ret_sum);
	close(fd);
	return error;
}

static void a_dump_shows_each_socket_up_to_its_end(void **state)
{
	struct text *first = next_answer(1), *second = next_answer(1), wanted = {.length = 0};
	uint64_t sum;

	(void)state;
	add_socket(first, 18, 1, 1, 5);
	add_socket(first, 99, 1, 1, 7000); /* of another kind */
	add_socket(first, 20, 1, 1, 30);
	add_socket(second, 18, 1, 1, 200);
	add_end(second, NETLINK_MESSAGE_DONE, 0);
	add_socket(second, 18, 1, 1, 1000);
	assert_int_equal(dump(9, &sum), 0);
	assert_int_equal(sum, 235);
	assert_int_equal(kernel.protocol, 4);
	wanted.length = sock_diag_dump_request(9, (uint8_t *)wanted.bytes);
	assert_asked(0, &wanted);
}

static void a_refused_dump_says_why(void **state)
{
	uint64_t sum;

	(void)state;
	answer_error(1, -ENOENT);
	assert_int_equal(dump(0, &sum), -ENOENT);
	end(state);
	begin(state);
	kernel.refuse_request = 1;
	assert_int_equal(dump(0, &sum), -ECONNREFUSED);
	end(state);
	begin(state);
	/* A datagram of nothing, and silence. */
	next_answer(1)->length = 0;
	assert_int_equal(dump(0, &sum), -EBADMSG);
	end(state);
	begin(state);
	add_socket(next_answer(1), 18, 1, 1, 5);
	assert_int_equal(dump(0, &sum), -EAGAIN);
	assert_int_equal(sum, 5);
	end(state);
	begin(state);
	add_end(next_answer(1), NETLINK_MESSAGE_DONE, 0);
	kernel.receive_error = EINTR;
	assert_int_equal(dump(0, &sum), 0);
	kernel.refuse_socket = EMFILE;
	assert_int_equal(sock_diag_open(), -EMFILE);
}

static int single(struct diag_socket *ret_socket)
{
	const struct diag_socket asked = {.family = 2, .cookie = COOKIE, .id = {1, 2, 3}};
	int fd = sock_diag_open(), error;

	assert_true(fd >= 0);
	error = sock_diag_single(fd, &asked, ret_socket);
	close(fd);
	return error;
}

/* Returns what is said of a socket after one answer with these. */
static int single_of(uint16_t type, uint8_t socket_state, uint32_t cookie)
{
	struct diag_socket found = {.inode = 1};
	int error;

	begin(NULL);
	add_socket(next_answer(1), type, socket_state, cookie, INODE);
	error = single(&found);
	assert_int_equal(found.inode, error ? 1 : INODE);
	end(NULL);
	return error;
}

static void a_single_socket_is_that_with_its_cookie(void **state)
{
	(void)state;
	assert_int_equal(single_of(20, TCP_ESTABLISHED_STATE, COOKIE), 0);
	assert_int_equal(single_of(20, TCP_ESTABLISHED_STATE, COOKIE + 1), -ENOENT);
	assert_int_equal(single_of(20, TCP_TIME_WAIT_STATE, COOKIE), -ENOENT);
	assert_int_equal(single_of(99, TCP_ESTABLISHED_STATE, COOKIE), -ENOENT);
	kernel.end = -1;
}

static void a_single_socket_that_is_gone_or_refused_says_so(void **state)
{
	struct diag_socket found;

	(void)state;
	answer_error(1, -ESTALE);
	assert_int_equal(single(&found), -ENOENT);
	end(state);
	begin(state);
	answer_error(1, -EPERM);
	assert_int_equal(single(&found), -EPERM);
	end(state);
	begin(state);
	answer_error(1, 0);
	assert_int_equal(single(&found), -ENOENT);
	end(state);
	begin(state);
	next_answer(1)->length = 0;
	assert_int_equal(single(&found), -EBADMSG);
	end(state);
	begin(state);
	assert_int_equal(single(&found), -EAGAIN);
	end(state);
	begin(state);
	kernel.refuse_request = 1;
	assert_int_equal(single(&found), -ECONNREFUSED);
}

static void notifications_are_taken_until_there_are_none(void **state)
{
	uint64_t sum = 0;
	int64_t room = 0;
	int fd = sock_diag_listen(&room), size = 0;
	socklen_t length = sizeof size;
	struct text text = {.length = 0};

	(void)state;
	assert_int_equal(fd, kernel.opened);
	/* SKNLGRP_INET_TCP_DESTROY is group 1, SKNLGRP_INET6_TCP_DESTROY group 3. */
	assert_int_equal(kernel.own.family, AF_NETLINK);
	assert_int_equal(kernel.own.groups, 1 | 4);
	assert_int_equal(kernel.force_value, 4 << 20);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
	assert_int_equal(room, size);
	assert_false(sock_diag_wait(fd, 0));
	assert_int_equal(sock_diag_take_ended(fd, add_up_inodes, &sum), 0);
	add_socket(&text, 20, 7, 1, 5);
	add_socket(&text, 99, 7, 1, 7000);
	assert_int_equal(write(kernel.end, text.bytes, text.length), text.length);
	assert_int_equal(write(kernel.end, text.bytes, text.length), text.length);
	assert_true(sock_diag_wait(fd, 0));
	assert_int_equal(sock_diag_take_ended(fd, add_up_inodes, &sum), 2);
	assert_int_equal(sum, 10);
	/* The kernel had to drop some: the others are still taken. */
	assert_int_equal(write(kernel.end, text.bytes, text.length), text.length);
	kernel.receive_error = ENOBUFS;
	assert_int_equal(sock_diag_take_ended(fd, add_up_inodes, &sum), -ENOBUFS);
	assert_int_equal(sum, 15);
	assert_int_equal(sock_diag_take_ended(fd, add_up_inodes, &sum), 0);
	close(fd);
}

static void a_listener_without_privileges_has_a_smaller_room(void **state)
{
	int64_t room = 7, usual;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	kernel.refuse_socket = EACCES;
	assert_int_equal(sock_diag_listen(&room), -EACCES);
	assert_int_equal(room, 7);
	kernel.refuse_socket = 0;
	fd = sock_diag_listen(&room);
	assert_int_equal(fd, kernel.opened);
	close(fd);
	end(state);
	/* The other way is tried, which asks for the same: net.core.rmem_max limits it, and the kernel takes the double. */
	usual = room;
	kernel.refuse_force = 1;
	fd = sock_diag_listen(&room);
	assert_int_equal(fd, kernel.opened);
	assert_int_equal(kernel.set_value, 4 << 20);
	assert_true(room >= usual);
	close(fd);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_asked_for_and_then_chosen, begin, end),
		cmocka_unit_test_setup_teardown(without_an_answer_events_do_not_come, begin, end),
		cmocka_unit_test_setup_teardown(only_the_answer_to_this_request_counts, begin, end),
		cmocka_unit_test_setup_teardown(an_empty_datagram_does_not_answer, begin, end),
		cmocka_unit_test_setup_teardown(threads_are_left_out_by_the_filter, begin, end),
		cmocka_unit_test_setup_teardown(a_signal_at_each_event_is_asked_for_and_given_up, begin, end),
		cmocka_unit_test_setup_teardown(records_of_all_cpus_are_asked_for, begin, end),
		cmocka_unit_test_setup_teardown(each_refusal_of_records_is_told, begin, end),
		cmocka_unit_test_setup_teardown(other_answers_refuse_no_records, begin, end),
		cmocka_unit_test_setup_teardown(the_family_is_a_number_of_the_control_family, begin, end),
		cmocka_unit_test_setup_teardown(a_dump_shows_each_socket_up_to_its_end, begin, end),
		cmocka_unit_test_setup_teardown(a_refused_dump_says_why, begin, end),
		cmocka_unit_test_setup_teardown(a_single_socket_is_that_with_its_cookie, begin, end),
		cmocka_unit_test_setup_teardown(a_single_socket_that_is_gone_or_refused_says_so, begin, end),
		cmocka_unit_test_setup_teardown(notifications_are_taken_until_there_are_none, begin, end),
		cmocka_unit_test_setup_teardown(a_listener_without_privileges_has_a_smaller_room, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
