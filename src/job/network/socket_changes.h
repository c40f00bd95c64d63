/*
 * Whether a process may have a TCP socket that the last search of descriptors did not see. A new socket raises the kernel's counts of
 * sockets, unless another one ends, which the kernel notifies.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/proc_net_sockstat.h"

struct socket_counts {
	struct proc_net_sockstat kernel;
	int64_t ended; /* sockets that have ended so far, by notifications. -1: unknown */
};

struct socket_changes {
	struct kept_file file;
	struct socket_counts now; /* at the last look */
	struct socket_counts
		earlier; /* at the one before it, which is older than the clocks of the members */
	struct socket_counts searched; /* all sockets in them were seen by a search */
	int64_t searched_ns;           /* when that was. 0: never */
};

/* Call before a search may begin, once in each update. `ended`: as in socket_counts. */
void socket_changes_look(struct socket_changes *changes, struct root *root, int64_t ended);

/* Whether a search may find more. After four seconds it may in any case, because sockets of other protocols have no notification. */
bool socket_changes_any(const struct socket_changes *changes, int64_t now_ns);

/* Whether no socket has come or gone between the last two looks. */
bool socket_changes_none(const struct socket_changes *changes);

/* A search has ended. `is_complete`: it left out no member that ran. */
void socket_changes_searched(struct socket_changes *changes, bool is_complete, int64_t now_ns);

/* Whether the kernel has no TCP connection that no process holds, but whose last bytes it still has to send. */
bool socket_changes_no_orphans(struct socket_changes *changes, struct root *root);
