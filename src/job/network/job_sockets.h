/*
 * The bytes that the TCP connections of a job have transferred.
 *
 *   which are the job's   made in its own cgroup, found among its members' descriptors, or accepted from a listening
 *                         socket of the job. A connection that several members share counts once, and it stays the
 *                         job's when its process has ended.
 *   how much              the kernel's counters of each connection: payload without headers. The last figures come with
 *                         the notification that the connection has ended.
 *   short connections     one that ends before it was seen is in `unattributed`, with those of other processes:
 *                         the job's bytes lie between `known` and `known` + `unattributed`.
 *
 * Example: a download of 3 s and one of 10 ms, sampled every second. The first is found in the first sample and counts in
 * full. The second ends unseen: its bytes are in `unattributed`.
 *
 * Looks for new connections come every 0.1 s at first, then as often as 0.1 ms of CPU time a second allows, and once a second while no
 * socket of the machine comes or goes. A quiet machine missed both of two
 * connections of 0.35 s that began after more than a second.
 *
 * A connection that existed before the tracking began counts from then on, and if it is not the job's, its end adds nothing.
 */
#pragma once

#include "job/network/socket_changes.h"
#include "job/network/socket_fences.h"
#include "job/network/socket_holders.h"
#include "job/tree/allowance.h"
#include "kernel/sock_diag.h"

struct traffic_count {
	int64_t received;
	int64_t sent;
	int64_t retransmits;
};

struct job_socket {
	uint64_t inode;            /* 0: found by its cookie only */
	struct diag_socket socket; /* cookie 0: not in the kernel's table yet */
	struct traffic_count base; /* before it was the job's */
	bool is_held; /* a member has it. false: only the tracker's own descriptor, which a job may inherit */
	bool trusted; /* listening: no process outside the job accepts from it */
	bool has_ended;
	int unanswered; /* how many times the kernel did not know it any more */
};

struct job_sockets {
	int ask_fd;
	int ended_fd; /* -1: no notifications */
	int error;    /* why nothing can be known. 0: it can */
	bool has_begun;
	bool from_start; /* the job was started by the tracker, so its new sockets count from their first byte */
	bool lost_ends;  /* a notification was lost, or there are none: `unattributed` is unknown */
	bool lost_tails; /* a connection of the job ended without its last figures */
	bool overflowed; /* more sockets than the table holds */
	bool has_datagrams;
	uint64_t cgroup_id; /* of the job's own group, 0 for none */
	bool is_selected;   /* the kernel can select by that group */

	struct job_socket *sockets;
	size_t count;
	size_t capacity;
	size_t next; /* to ask */
	struct id_table by_inode;
	struct id_table by_cookie;
	struct id_table foreign; /* cookies of connections of others, from before the start */
	struct socket_holders holders;
	struct socket_changes changes;
	int64_t notified_count;       /* sockets that ended */
	struct socket_fences *fences; /* NULL, except while the last notifications are waited for */

	struct allowance for_searches;
	struct allowance for_dumps;
	struct allowance for_ends;
	int64_t dumped_ns;
	int64_t next_try_ns; /* for sockets that the kernel's table did not have: not connected yet */
	int64_t try_pause_ns;
	int64_t taken_ns; /* when notifications were last taken */
	int64_t room;     /* how many of them the kernel keeps */

	struct traffic_count ended;
	int64_t ended_count;
	struct traffic_count unattributed;
	int64_t unattributed_count;
};

struct job_traffic {
	int reason; /* why it is unknown. 0: it is known */
	struct traffic_count known;
	int64_t open_count; /* connections now */
	int64_t count;      /* and all so far */
	bool has_datagrams; /* UDP and the like, whose bytes the kernel does not count by socket */
	bool has_bound;
	struct traffic_count unattributed;
	int64_t unattributed_count;
};

/* Before a job starts, or when one is attached to. A failure is kept in `error`. */
void job_sockets_open(struct job_sockets *sockets, const struct root *root, bool attached);
void job_sockets_close(struct job_sockets *sockets);

/* As soon as the tree is known. Costs one dump. Only the first call counts. */
void job_sockets_begin(struct job_sockets *sockets, struct process_tree *tree);

/* `is_last`: no member runs any more, or the recording ends. */
void job_sockets_update(struct job_sockets *sockets, struct process_tree *tree, bool is_last);

/* Takes notifications before the kernel has to drop some. Returns when to call it again. */
int64_t job_sockets_attend(struct job_sockets *sockets, int64_t now_ns);

void job_sockets_total(const struct job_sockets *sockets, struct job_traffic *ret_traffic);
