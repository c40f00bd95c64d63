/*
 * The process events of the kernel (netlink connector): fork, exec and exit of every process of the machine. Ordinary users
 * get them since Linux 6.6, in the initial PID and user namespace. Older kernels ask for CAP_NET_ADMIN.
 *
 * The kernel sends an exit event before the parent hears of the exit, and after the memory of the process is gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/runs_once.h"
#include "base/scan.h"

enum proc_event_kind {
	PROC_EVENT_ACK,
	PROC_EVENT_FORKED,
	PROC_EVENT_EXECED,
	PROC_EVENT_EXITED,
	PROC_EVENT_RENAMED
};

struct proc_event {
	enum proc_event_kind kind;
	int64_t monotonic_ns; /* when the kernel made it */
	pid_t pid;            /* of the process; that of a fork's child. 0: ACK */
	pid_t parent_pid;     /* of FORKED, and of EXITED since Linux 4.18, else 0 */
	int wait_status;      /* of EXITED, as wait4() tells it */
	bool is_thread;       /* a thread that is not the first of its process */
	uint32_t request;     /* of an ACK: the number of the request */
	uint32_t error;       /* of an ACK: 0, or why the request was refused */
};

/* Steps over messages up to the next event of a known kind. */
bool proc_events_next(struct scan *messages, struct proc_event *ret_event);

/*
 * Listens to forks, execs, exits and new names of processes. The socket holds at most `buffer_bytes`. A receiver
 * that falls further behind gets ENOBUFS. Returns the socket or a negative errno: -EPERM or -EPROTONOSUPPORT where the
 * kernel does not deliver, and -ENODATA where it does not answer, as in a PID namespace.
 */
RUNS_ONCE int proc_events_open(int buffer_bytes);

/* Leaves out all other events, and those of threads but failed exits, at a cost of 0.1 ms. Until then they come as well. Returns 0 or a negative errno. */
int proc_events_choose(int fd);

/* Lets the kernel send `signo` to this process at each event. 0: no more. Returns 0 or a negative errno. */
int proc_events_signal(int fd, int signo);
