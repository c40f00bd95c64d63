/*
 * NETLINK_SOCK_DIAG: the TCP sockets of the tracker's network namespace, with the bytes of each connection.
 *
 * The kernel answers every user. A netlink socket reaches the kernel and nothing else: no byte leaves the machine.
 * The structures are written out here, because a libc without the kernel's headers lacks them.
 *
 *   dump           every socket, or those of one cgroup (the kernel selects them); walks the whole hash
 *   single         one known socket by its addresses: 3 us
 *   notification   the last figures of a connection, sent when the kernel frees it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/scan.h"

enum { DIAG_ID_BYTES = 48, DIAG_REQUEST_BYTES = 96, DIAG_ANSWER_BYTES = 32768 };

enum tcp_state { TCP_ESTABLISHED_STATE = 1, TCP_TIME_WAIT_STATE = 6, TCP_LISTEN_STATE = 10 };

struct diag_socket {
	uint64_t cookie; /* identifies it until the machine is booted again */
	uint64_t
		inode; /* of socket:[INODE]. 0: it has none (not accepted yet, closed, or in a notification) */
	uint64_t cgroup_id; /* of version 2, in which it was made. 0: not told */
	uint8_t family;
	uint8_t state;
	uint8_t id[DIAG_ID_BYTES]; /* ports and addresses, as a request for this socket needs them */
	/* TCP_INFO. -1: not told (Linux before 4.1, a listening socket) */
	int64_t received;
	int64_t sent; /* acknowledged by the other side; SYN and FIN count 1 each */
	int64_t retransmits;
};

struct diag_message {
	bool is_socket;
	bool is_end;
	int error; /* negative errno of the kernel's answer, 0 for none */
	struct diag_socket socket;
};

/* Steps through the messages of one datagram, or false at its end and where it is damaged. */
bool sock_diag_next(struct scan *datagram, struct diag_message *ret_message);

uint16_t diag_local_port(const struct diag_socket *socket);
/* Whether a connection may have been accepted by a listening socket: the same port, and its address or any. */
bool diag_is_from(const struct diag_socket *connection, const struct diag_socket *listening);

/* Write a request into `bytes` and return its length. cgroup_id 0: all sockets. */
size_t sock_diag_dump_request(uint64_t cgroup_id, uint8_t bytes[DIAG_REQUEST_BYTES]);
size_t sock_diag_single_request(const struct diag_socket *socket, uint8_t bytes[DIAG_REQUEST_BYTES]);

/* Opens a socket for requests. Returns a descriptor or a negative errno. */
int sock_diag_open(void);
/* Opens a socket that receives a notification for each TCP connection that ends. `ret_room`: bytes that it can hold. */
int sock_diag_listen(int64_t *ret_room);

/* Called for each socket of a dump. */
typedef void diag_visit(void *context, const struct diag_socket *socket);

/* Return 0 or a negative errno: -ENOENT without the kernel's module, -EINVAL if it cannot select by cgroup. */
int sock_diag_dump(int fd, uint64_t cgroup_id, diag_visit *visit, void *context);
/* -ENOENT: the connection has ended. */
int sock_diag_single(int fd, const struct diag_socket *asked, struct diag_socket *ret_socket);

/*
 * Takes the notifications that are there. Returns how many, or -ENOBUFS if the kernel had to drop some (the rest can still
 * be taken).
 */
int sock_diag_take_ended(int fd, diag_visit *visit, void *context);
/* Waits for a notification, or false if none came. */
bool sock_diag_wait(int fd, int milliseconds);

/* The figures of a descriptor of the calling process, without its cookie. -ENOTSUP if it is not a TCP socket. */
int sock_info(int fd, struct diag_socket *ret_socket);
