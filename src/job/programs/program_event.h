/* An event of a process of the job, as the listener tells it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/taskstats.h"

/* FAILED: it was told to have ended before, without its status. */
enum program_event_kind { PROGRAM_EXECED, PROGRAM_EXITED, PROGRAM_FAILED };

/* Texts belong to the listener and stay valid until it is closed. */
struct program_event {
	enum program_event_kind kind;
	pid_t pid;
	const char *before;   /* the program up to this event, NULL if unknown */
	const char *parent;   /* the program that forked it, NULL if unknown */
	const char *after;    /* EXECED: the new program. NULL: it could not be read */
	bool is_first;        /* EXECED: it has not called exec since its fork */
	int64_t clock_ns;     /* CPU time of the process at this event, -1 if unknown */
	int64_t at_ns;        /* when (CLOCK_MONOTONIC), 0: unknown, as no event has told it */
	pid_t parent_pid;     /* EXITED, FAILED: that forked it, 0 if unknown */
	pid_t reaper_pid;     /* EXITED, FAILED: its parent then, 0 if unknown */
	int wait_status;      /* EXITED, FAILED: 0 if unknown */
	bool is_fork;         /* EXITED, FAILED: it has not called exec since its fork, which was told */
	int64_t forked_ns;    /* EXITED, FAILED: 0 if unknown */
	int64_t last_fork_ns; /* EXITED, FAILED: 0: it forked none */
	int64_t life_ns; /* EXITED: since its fork, its last exec but the first, or program_listener_add(), 0 if unknown */
	int64_t before_ns; /* EXITED: its clock at the start of that life */
	int64_t unseen_ns; /* EXITED: the part of that life since the last look; all of it if there was none */
	int64_t seen_ns;   /* EXITED: its clock at the last look, 0 for none */
	bool had_children;        /* EXITED: it has forked */
	int64_t unrecorded_ns;    /* EXITED: an estimate of the time that clock_ns lacks */
	bool has_io;              /* EXITED: the bytes of the whole process are known: */
	int64_t io[TASKSTATS_IO]; /* in whole KiB for each of its threads */
};
