/*
 * Traffic of a job that has network namespaces of its own, as in a container: all bytes there belong to the job, unless
 * processes outside the job run in it, too.
 *
 * /proc/PID/net/dev is readable for every user, also for another user's process. Each namespace has a file
 * (inode) of its own. An open file still works after its process has exited, so the last bytes are counted,
 * too. The file is closed at the first sample that finds the process gone, because it keeps the namespace
 * alive.
 *
 * Counting begins when a namespace is first seen. The root process is checked in each sample, the others in
 * turn.
 */
#pragma once

#include "kernel/root.h"
#include "job/tree/process_tree.h"

enum { NAMESPACES_MOST = 8, UPLINKS_MOST = 4, INTERFACE_NAME_SIZE = 32, OTHERS_MOST = 16 };

struct traffic {
	int64_t received;
	int64_t sent;
};

/* A process of the namespace outside the tree. */
struct other {
	pid_t pid;
	int64_t clock_ns; /* its CPU time when it was found */
};

struct job_namespace {
	ino_t id;  /* of its net/dev */
	pid_t pid; /* the member through which it was found */
	int fd;
	struct traffic before;  /* at the first reading */
	struct traffic counted; /* the job's alone until then */
	struct traffic now;
	char uplinks[UPLINKS_MOST]
		    [INTERFACE_NAME_SIZE]; /* interfaces of its default routes; none: all except lo count */
	size_t uplink_count;
	struct other others[OTHERS_MOST];
	size_t other_count;
	bool is_shared;  /* one of them has run */
	int64_t look_ns; /* when to look for others again */
};

struct job_namespaces {
	ino_t own;   /* the tracker's. 0: not looked at yet */
	bool is_off; /* it is unknown, so no namespace can be compared with it */
	struct job_namespace namespaces[NAMESPACES_MOST];
	size_t count;
	bool seen;                  /* the job was in a namespace of its own at some time */
	struct traffic past;        /* of closed namespaces */
	struct traffic past_shared; /* and what others may have had of it */
	size_t next_member;         /* the next to check */
};

void job_namespaces_open(struct job_namespaces *state, const struct root *root);
void job_namespaces_close(struct job_namespaces *state);
/* Looks for namespaces of members. A new one counts from now on. */
void job_namespaces_look(struct job_namespaces *state, const struct process_tree *tree);
void job_namespaces_read(struct job_namespaces *state, const struct process_tree *tree);
/* `ret_shared`: bytes that are the job's or those of other processes in the same namespace. */
void job_namespaces_total(const struct job_namespaces *state, struct traffic *ret_known,
			  struct traffic *ret_shared);
