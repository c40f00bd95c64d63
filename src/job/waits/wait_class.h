/* The kinds of things that a thread can wait for, and a chain of waits as its parts share it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "job/waits/waits_tuning.h"

struct process_tree;

#define WAIT_CLASSES(CLASS) \
	CLASS(SLEEP, "sleep") \
	CLASS(CHILD, "child") \
	CLASS(PIPE, "pipe") \
	CLASS(FILE_LOCK, "file_lock") \
	CLASS(LOCK, "lock") \
	CLASS(THREAD, "thread") \
	CLASS(SOCKET, "socket") \
	CLASS(TERMINAL, "terminal") \
	CLASS(EVENTS, "events") \
	CLASS(STORAGE, "storage") \
	CLASS(MEMORY, "memory") \
	CLASS(JOBSERVER, "jobserver") \
	CLASS(STOPPED, "stopped") \
	CLASS(OTHER, "othe" \
		     "r")

enum wait_class {
#define WAIT_NAME(id, name) WAIT_##id,
	WAIT_CLASSES(WAIT_NAME)
#undef WAIT_NAME
		WAIT_CLASS_COUNT
};

enum { WAIT_TARGET_SIZE = 64 };

/* A wait that was found: of which process, and for what. */
struct found_wait {
	enum wait_class class;
	pid_t pid;
	int fd;                        /* that it waits at, -1: none */
	char target[WAIT_TARGET_SIZE]; /* "": its class says all */
};

enum wait_strength {
	WAIT_NONE,   /* it has ended, or it waits for a process that waits for it */
	WAIT_WEAK,   /* perhaps idle: it waits for other threads, its own pipe or a client */
	WAIT_STRONG, /* the end of the chain */
};

/* One walk along a chain. */
struct wait_chain {
	struct process_tree *tree;
	int threads_left, links_left;
	/* Processes that were followed. Those on the way to this one have no answer yet, and wait for it. */
	struct followed_process {
		pid_t pid;
		struct found_wait wait;
		enum wait_strength strength;
	} followed[WAIT_THREADS_MOST];
	size_t followed_count;
	int depth;
	bool reads_files; /* not only sockets and pipes: io_uring */
	bool runs;        /* the chain leads to a thread that runs */
	int error;        /* the kernel refused to tell of a thread. 0: it never did */
	/* Follows an edge to a process: its own wait is the answer. */
	enum wait_strength (*follow)(struct wait_chain *chain, pid_t pid, struct found_wait *found);
};
