/* The processes of the job that the listener knows, by pid. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/taskstats.h"

struct known_process {
	pid_t pid;             /* 0: a free slot */
	const char *program;   /* NULL: unknown */
	const char *parent;    /* of its nearest ancestor with a known program, NULL if unknown */
	pid_t parent_pid;      /* that forked it, 0 if that was not seen */
	pid_t reaper_pid;      /* its parent when it ended */
	int wait_status;       /* of its last exit event */
	int64_t forked_ns;     /* 0: that was not seen */
	int64_t last_fork_ns;  /* when it last forked a process, 0: never */
	int64_t ended_ns;      /* 0: no event has told it */
	bool is_fork;          /* its fork was told, and it has not called exec since */
	int64_t since_ns;      /* its fork, or its last exec if that was not the first one after the fork */
	int64_t before_ns;     /* its clock at since_ns */
	int64_t record_ns;     /* CPU time of its threads that have ended, by exit records, -1 without any */
	int64_t unrecorded_ns; /* an estimate of what these records lack */
	int64_t record_io[TASKSTATS_IO];
	int64_t clock_ns; /* its clock at its exit event, -1 if unknown */
	int64_t seen_ns; /* its clock at seen_at_ns, which may be before its last exec. 0: it was not looked at */
	int64_t seen_at_ns;
	size_t exit_take; /* the call of program_listener_take() before which its exit event came. 0: it has not come */
	int threads;      /* that live, while the kernel tells of threads, 0 if unknown */
	bool first_ended; /* its first thread has ended; the process lives as long as another one does */
	bool has_children;
};

struct known_processes {
	struct known_process *at; /* hash of pid, linear probing */
	size_t count, slots;
};

/* Returns NULL if the pid is unknown. Valid until the next call that changes the table. */
struct known_process *known_processes_find(const struct known_processes *known, pid_t pid);

/* Adds a process with a pid that is not known. Returns 0 or -ENOMEM. A table of 65536 slots does not grow. */
int known_processes_add(struct known_processes *known, const struct known_process *process);
void known_processes_remove(struct known_processes *known, struct known_process *process);
void known_processes_clear(struct known_processes *known);
void known_processes_done(struct known_processes *known);
