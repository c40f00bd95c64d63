/* The kernel's table of TCP sockets. See sock_diag.h. */
#include "kernel/sock_diag.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	NETLINK_SOCKET_DIAG = 4,
	TYPE_ERROR = 2,
	TYPE_DONE = 3,
	TYPE_BOTH_FAMILIES = 18, /* TCPDIAG_GETSOCK: IPv4 and IPv6 in one walk */
	TYPE_BY_FAMILY = 20,
	FLAG_REQUEST = 0x1,
	FLAG_DUMP = 0x300,
	HEADER_BYTES = 16,
	MESSAGE_BYTES = 72,   /* struct inet_diag_msg */
	DUMP_BYTES = 60,      /* struct inet_diag_req */
	SINGLE_BYTES = 56,    /* struct inet_diag_req_v2 */
	ATTRIBUTE_BYTES = 4,  /* struct rtattr */
	CONDITION_BYTES = 12, /* struct inet_diag_bc_op and the id */
	ATTRIBUTE_BYTECODE = 1,
	ATTRIBUTE_INFO = 2,
	ATTRIBUTE_CGROUP_ID = 21,
	CONDITION_CGROUP = 13,
	WITH_INFO = 1 << (ATTRIBUTE_INFO - 1),
	/* All states but TIME_WAIT, CLOSE and the half-open ones, which have no process or no bytes. */
	STATES = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11,
	/* Offsets in struct tcp_info, which has grown at its end since Linux 4.1. */
	INFO_TOTAL_RETRANSMITS = 100,
	INFO_BYTES_ACKED = 120,
	INFO_BYTES_RECEIVED = 128,
	GROUPS_OF_ENDED_TCP = 1 << 0 | 1 << 2, /* SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY */
	NOTIFICATIONS_BYTES = 4 << 20,
	NOTIFICATION_BYTES = 2048,
	TAKEN_MOST = 65536,
};

struct netlink_address {
	sa_family_t family;
	uint16_t pad;
	uint32_t port;
	uint32_t groups;
};

/* ---- reading --------------------------------------------------------------------------------------------- */

static uint16_t read_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t diag_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint64_t diag_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static int64_t sockets_counted(uint64_t value)
{
	return value > INT64_MAX ? -1 : (int64_t)value;
}

static void read_info(const uint8_t *info, size_t length, struct diag_socket *socket)
{
	if (length >= INFO_TOTAL_RETRANSMITS + 4)
		socket->retransmits = diag_u32(info + INFO_TOTAL_RETRANSMITS);
	if (length >= INFO_BYTES_ACKED + 8)
		socket->sent = sockets_counted(diag_u64(info + INFO_BYTES_ACKED));
	if (length >= INFO_BYTES_RECEIVED + 8)
		socket->received = sockets_counted(diag_u64(info + INFO_BYTES_RECEIVED));
}

static bool read_socket(const uint8_t *body, size_t length, struct diag_socket *ret_socket)
{
	struct diag_socket socket = {.received = -1, .sent = -1, .retransmits = -1};
	size_t at = MESSAGE_BYTES;

	if (length < MESSAGE_BYTES)
		return false;
	socket.family = body[0];
	socket.state = body[1];
	memcpy(socket.id, body + 4, sizeof socket.id);
	socket.cookie = diag_u32(body + 44) | (uint64_t)diag_u32(body + 48) << 32;
	socket.inode = diag_u32(body + 68);
	while (length - at >= ATTRIBUTE_BYTES) {
		size_t size = read_u16(body + at), padded = (size + 3) & ~(size_t)3;
		unsigned type = read_u16(body + at + 2);

		if (size < ATTRIBUTE_BYTES || size > length - at)
			break;
		if (type == ATTRIBUTE_INFO)
			read_info(body + at + ATTRIBUTE_BYTES, size - ATTRIBUTE_BYTES, &socket);
		else if (type == ATTRIBUTE_CGROUP_ID && size >= ATTRIBUTE_BYTES + 8)
			socket.cgroup_id = diag_u64(body + at + ATTRIBUTE_BYTES);
		at += padded < length - at ? padded : length - at;
	}
	/* The figures of a listening socket are the lengths of its queues. */
	if (socket.state == TCP_LISTEN_STATE)
		socket.received = socket.sent = socket.retransmits = -1;
	*ret_socket = socket;
	return true;
}

bool sock_diag_next(struct scan *datagram, struct diag_message *ret_message)
{
	const uint8_t *at = (const uint8_t *)datagram->at;
	size_t left = scan_left(datagram), length, padded;

	if (left < HEADER_BYTES)
		return false;
	length = diag_u32(at);
	if (length < HEADER_BYTES || length > left)
		return false;
	*ret_message = (struct diag_message){0};
	switch (read_u16(at + 4)) {
	case TYPE_ERROR:
		ret_message->is_end = true;
		ret_message->error = length >= HEADER_BYTES + 4 ? (int)diag_u32(at + HEADER_BYTES) : -EBADMSG;
		if (ret_message->error > 0 || ret_message->error < -4095)
			ret_message->error = -EBADMSG;
		break;
	case TYPE_DONE:
		ret_message->is_end = true;
		break;
	case TYPE_BOTH_FAMILIES:
	case TYPE_BY_FAMILY:
		ret_message->is_socket =
			read_socket(at + HEADER_BYTES, length - HEADER_BYTES, &ret_message->socket);
		break;
	default:
		break;
	}
	padded = (length + 3) & ~(size_t)3;
	datagram->at += padded < left ? padded : left;
	return true;
}

uint16_t diag_local_port(const struct diag_socket *socket)
{
	return (uint16_t)(socket->id[0] << 8 | socket->id[1]);
}

bool diag_is_from(const struct diag_socket *connection, const struct diag_socket *listening)
{
	static const uint8_t ANY[16];
	const uint8_t *address = listening->id + 4;

	/* An IPv6 socket that listens to any address takes IPv4 connections as well, and these then are IPv6 sockets. */
	return connection->family == listening->family &&
	       diag_local_port(connection) == diag_local_port(listening) &&
	       (memcmp(address, ANY, sizeof ANY) == 0 ||
		memcmp(address, connection->id + 4, sizeof ANY) == 0);
}

/* ---- requests -------------------------------------------------------------------------------------------- */

static void write_u16(uint8_t *at, unsigned value)
{
	uint16_t narrow = (uint16_t)value;

	memcpy(at, &narrow, sizeof narrow);
}

static void write_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static void write_header(uint8_t *bytes, size_t length, unsigned type, unsigned flags)
{
	write_u32(bytes, (uint32_t)length);
	write_u16(bytes + 4, type);
	write_u16(bytes + 6, flags);
}

size_t sock_diag_dump_request(uint64_t cgroup_id, uint8_t bytes[DIAG_REQUEST_BYTES])
{
	size_t length = HEADER_BYTES + DUMP_BYTES;
	uint8_t *request = bytes + HEADER_BYTES, *condition = request + DUMP_BYTES;

	memset(bytes, 0, DIAG_REQUEST_BYTES);
	request[0] = AF_INET;
	request[3] = WITH_INFO;
	write_u32(request + 52, STATES);
	if (cgroup_id) {
		write_u16(condition, ATTRIBUTE_BYTES + CONDITION_BYTES);
		write_u16(condition + 2, ATTRIBUTE_BYTECODE);
		condition[4] = CONDITION_CGROUP;
		/* The steps if it holds, to the end of the program, and if it does not, past that end. */
		condition[5] = CONDITION_BYTES;
		write_u16(condition + 6, CONDITION_BYTES + 4);
		memcpy(condition + 8, &cgroup_id, sizeof cgroup_id);
		length += ATTRIBUTE_BYTES + CONDITION_BYTES;
	}
	write_header(bytes, length, TYPE_BOTH_FAMILIES, FLAG_REQUEST | FLAG_DUMP);
	return length;
}

size_t sock_diag_single_request(const struct diag_socket *socket, uint8_t bytes[DIAG_REQUEST_BYTES])
{
	uint8_t *request = bytes + HEADER_BYTES;

	memset(bytes, 0, DIAG_REQUEST_BYTES);
	request[0] = socket->family;
	request[1] = IPPROTO_TCP;
	request[2] = WITH_INFO;
	write_u32(request + 4, UINT32_MAX);
	memcpy(request + 8, socket->id, DIAG_ID_BYTES);
	write_header(bytes, HEADER_BYTES + SINGLE_BYTES, TYPE_BY_FAMILY, FLAG_REQUEST);
	return HEADER_BYTES + SINGLE_BYTES;
}

/* ---- talking to the kernel -------------------------------------------------------------------------------- */

int sock_diag_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCKET_DIAG);

	return fd < 0 ? -errno : fd;
}

int sock_diag_listen(int64_t *ret_room)
{
	struct netlink_address own = {.family = AF_NETLINK, .groups = GROUPS_OF_ENDED_TCP};
	int fd = sock_diag_open(), size = NOTIFICATIONS_BYTES;
	socklen_t length = sizeof size;

	if (fd < 0)
		return fd;
	/* The second is limited by net.core.rmem_max. The first takes CAP_NET_ADMIN. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	if (bind(fd, (const struct sockaddr *)(const void *)&own, sizeof own) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	*ret_room = size;
	return fd;
}

static int send_diag_request(int fd, const uint8_t *bytes, size_t length)
{
	struct netlink_address kernel = {.family = AF_NETLINK};

	if (sendto(fd, bytes, length, MSG_DONTWAIT, (const struct sockaddr *)(const void *)&kernel,
		   sizeof kernel) < 0)
		return -errno;
	return 0;
}

/* The kernel has answered before sendto(2) and recv(2) return, so neither waits. */
static ssize_t receive_answer(int fd, uint8_t *bytes, size_t size)
{
	ssize_t length;

	do
		length = recv(fd, bytes, size, MSG_DONTWAIT);
	while (length < 0 && errno == EINTR);
	return length < 0 ? -errno : length;
}

int sock_diag_dump(int fd, uint64_t cgroup_id, diag_visit *visit, void *context)
{
	uint8_t answer[DIAG_ANSWER_BYTES];
	size_t length = sock_diag_dump_request(cgroup_id, answer);
	int error = send_diag_request(fd, answer, length);

	while (!error) {
		ssize_t got = receive_answer(fd, answer, sizeof answer);
		struct scan datagram;
		struct diag_message message;

		if (got <= 0)
			return got < 0 ? (int)got : -EBADMSG;
		datagram = scan_bytes((const char *)answer, (size_t)got);
		while (sock_diag_next(&datagram, &message)) {
			if (message.is_end)
				return message.error;
			if (message.is_socket)
				visit(context, &message.socket);
		}
	}
	return error;
}

int sock_diag_single(int fd, const struct diag_socket *asked, struct diag_socket *ret_socket)
{
	uint8_t bytes[NOTIFICATION_BYTES];
	struct diag_message message = {0};
	struct scan datagram;
	ssize_t got = send_diag_request(fd, bytes, sock_diag_single_request(asked, bytes));

	if (got < 0)
		return (int)got;
	got = receive_answer(fd, bytes, sizeof bytes);
	if (got < 0)
		return (int)got;
	datagram = scan_bytes((const char *)bytes, (size_t)got);
	if (!sock_diag_next(&datagram, &message))
		return -EBADMSG;
	if (message.error)
		return message.error == -ESTALE ? -ENOENT : message.error;
	/* After the connection has ended, its addresses may belong to what waits for late packets, or to another. */
	if (!message.is_socket || message.socket.cookie != asked->cookie ||
	    message.socket.state == TCP_TIME_WAIT_STATE)
		return -ENOENT;
	*ret_socket = message.socket;
	return 0;
}

int sock_diag_take_ended(int fd, diag_visit *visit, void *context)
{
	uint8_t bytes[NOTIFICATION_BYTES];
	int count = 0, error = 0;

	while (count < TAKEN_MOST) {
		ssize_t got = receive_answer(fd, bytes, sizeof bytes);
		struct diag_message message;
		struct scan datagram;

		if (got == -ENOBUFS) {
			error = -ENOBUFS;
			continue;
		}
		if (got < 0)
			break;
		datagram = scan_bytes((const char *)bytes, (size_t)got);
		while (sock_diag_next(&datagram, &message))
			if (message.is_socket)
				visit(context, &message.socket);
		count++;
	}
	return error ? error : count;
}

bool sock_diag_wait(int fd, int milliseconds)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};

	return poll(&wanted, 1, milliseconds) > 0;
}

int sock_info(int fd, struct diag_socket *ret_socket)
{
	struct diag_socket socket = {.received = -1, .sent = -1, .retransmits = -1};
	uint8_t info[NOTIFICATION_BYTES];
	socklen_t length = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) < 0)
		return -ENOTSUP;
	read_info(info, length, &socket);
	*ret_socket = socket;
	return 0;
}
