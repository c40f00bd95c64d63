/*
 * The sockets that members of the tree hold open, by /proc/PID/fd. A member is searched when it is new, and later only if it
 * has run since its last search. Searching takes 20 us a process and 1 us a descriptor, so all searches share an allowance.
 */
#pragma once

#include "job/network/id_table.h"
#include "job/tree/process_tree.h"

enum socket_protocol { SOCKET_TCP, SOCKET_DATAGRAM, SOCKET_LOCAL };

struct socket_holders {
	size_t searches;
	size_t next;          /* of the members that were searched before */
	struct id_table seen; /* sockets whose protocol is known */
	bool is_complete;     /* the last search left no member out */
	bool denied;          /* the descriptors of some member may not be read */
};

/* Called for each TCP socket, and the first time for any other socket that reaches a network. */
typedef void socket_visit(void *context, uint64_t inode, enum socket_protocol protocol);

void socket_holders_done(struct socket_holders *holders);

/* Searches members until `allowance_ns` of CPU time is used (less than 0: all members), and returns what it used. */
int64_t socket_holders_search(struct socket_holders *holders, struct process_tree *tree, int64_t allowance_ns,
			      socket_visit *visit, void *context);

/*
 * Searches the descriptors of the calling process. Other threads may own them: only their links are read. A socket may be visited
 * twice.
 */
typedef void own_socket_visit(void *context, int fd, uint64_t inode);
void socket_holders_search_self(const struct root *root, own_socket_visit *visit, void *context);
