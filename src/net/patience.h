/*
 * Limits waiting: no limit while the followed process or recording continues, a deadline after its end.
 *
 * The end is a descriptor that becomes readable or hangs up: the read end of a pipe whose write end the recorder
 * holds (it closes however the recorder dies), or a pidfd.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct patience {
	int end_fd;    /* -1: none */
	pid_t end_pid; /* checked at intervals where the kernel has no pidfd, 0 for none */
	int signal_fd; /* a non-blocking signalfd, -1 for none. A signal is the end, and a second one ends the waiting */
	int64_t deaf_ns; /* signals are the job's until this long after `gone_ns`. 0: each is for this process */
	int news_fd;     /* a non-blocking descriptor that becomes readable when there is news, -1 for none */
	int64_t grace_ns;    /* after the end */
	int64_t gone_ns;     /* monotonic: when end_fd or end_pid was first seen to have ended. 0: not yet */
	int64_t deadline_ns; /* monotonic, INT64_MAX until it has ended */
};

#define PATIENCE ((struct patience){.end_fd = -1, .signal_fd = -1, .news_fd = -1, .deadline_ns = INT64_MAX})

int64_t monotonic_ns(void);

/* Watches a process. 0, or -ESRCH. */
int patience_watch_pid(struct patience *patience, pid_t pid);

/* Sets the end explicitly (the recording says so). The deadline is set only once. */
void patience_end(struct patience *patience);

/* Checks whether it has ended. */
bool patience_ended(struct patience *patience);

/* Whether the deadline has passed. */
bool patience_over(struct patience *patience);

/* Milliseconds until `until_ns`, the deadline or the next look at a pid, whichever is first. Never negative. */
int patience_left_ms(const struct patience *patience, int64_t until_ns);

/* Sleeps until then, or until there is news, the end, or the deadline. */
void patience_wait(struct patience *patience, int64_t until_ns);

/* Adds the descriptors to poll beside the caller's own. Returns how many (at most 2). */
enum { PATIENCE_FDS = 2 };
size_t patience_fds(const struct patience *patience, struct pollfd ret_fds[PATIENCE_FDS]);
