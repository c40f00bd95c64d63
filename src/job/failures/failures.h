/*
 * The processes of the job that ended with a signal or with a status other than 0, and which of them failed first.
 *
 * A status says little alone: grep ends with 1 if it finds nothing, and a script may handle any failure. So the search starts at the
 * job's own failure and goes down: at each process it takes the child that explains the end of its parent. A job that ends with 0
 * accuses no process.
 *
 * Example: make forks gcc, and gcc forks cc1. cc1 dies of SIGSEGV, gcc ends with 1, and make with 2. The path is make, gcc, cc1. make
 * also forked a test that ended with 1, but went on to fork others after that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FAILURES_MOST = 1024, /* 104 KiB: a build with `configure` has some hundred */
	FAILURE_DEPTH = 16,   /* processes from the job's first to the one that failed first */
};

struct failure {
	pid_t pid;
	pid_t parent_pid;    /* that forked it, 0 if unknown */
	pid_t reaper_pid;    /* its parent when it ended, 0 if unknown */
	int wait_status;     /* as wait4() tells it */
	bool is_fork;        /* it ran no program of its own: it has not called exec */
	const char *program; /* NULL: it ended before its name could be read. Belongs to the caller */
	const char *parent;  /* the program that forked it, NULL if unknown */
	int64_t forked_ns;   /* CLOCK_MONOTONIC, 0 if that was not seen */
	int64_t ended_ns;
	int64_t last_fork_ns; /* when it last forked a process, 0: never */
	int64_t cpu_ns;       /* -1: unknown */
	int64_t resident_kib; /* at sampled_ns */
	int64_t sampled_ns;   /* 0: no sample has seen it */
};

struct failures {
	struct failure *at; /* in the order of their ends, but for evicted ones */
	size_t count, capacity;
	int64_t total; /* with those that there was no room for */
};

struct first_failure {
	const struct failure
		*path[FAILURE_DEPTH]; /* from the job's first process to the one that failed first */
	size_t depth;                 /* 0: none can be named */
	const struct failure *other;  /* another one that is possible, NULL for none */
	bool is_sure;
};

/* Keeps the end of a process. Without room it drops the one that says least. Status 0 is ignored. */
void failures_add(struct failures *failures, const struct failure *failure);
void failures_done(struct failures *failures);

/* Finds the first cause of the failure of `root`, the job's first process, which need not be in the table. */
void failures_first(const struct failures *failures, const struct failure *root,
		    struct first_failure *ret_first);

/*
 * The same, if the table has only processes that passes have seen alive: their ends are known to lie after that. Another one may have failed unseen. So
 * the answer is never sure, and there is none unless the process crashed, or its status was passed on within `window_ns` before the end of the job.
 */
void failures_first_seen(const struct failures *failures, const struct failure *root, int64_t window_ns,
			 struct first_failure *ret_first);

/* Whether the process died of a signal that programs do not get in the course of their work. */
bool failure_is_crash(const struct failure *failure);
