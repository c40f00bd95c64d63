/* The CPU time, the I/O and the waiting of one member and of the tree, as job/cpu/ keeps them. */
#pragma once

#include "job/cpu/own_cost.h"
#include "job/cpu/process_account.h"
#include "job/cpu/process_turns.h"
#include "job/cpu/process_waiting.h"
#include "kernel/root.h"

struct member_cpu {
	int64_t clock_ns;  /* process CPU clock at the last reading; -1: not available */
	int64_t looked_ns; /* the same at the last pass or look; see discover_between_passes() */
	int64_t ran_ns;    /* what the clock had moved by then */
	struct account account;
	pid_t heir; /* once it has vanished: an ancestor, with only vanished ones in between; 0: unknown */
	size_t watched; /* tree->cpu.watches when its ancestors were watched */

	struct followed_thread main_thread;
	struct member_threads *threads; /* the others; NULL: none so far, or waiting is not followed */

	/* Kept while the process runs often; -1: closed. */
	int io_fd;
	int schedstat_fd;
};

struct job_cpu {
	const struct own_cost *own_cost; /* if the root is the calling process; else NULL */
	struct tree_account account;
	struct tree_waiting waiting; /* the caller sets is_followed before the tree begins */
	struct tree_turns turns;
	struct kept_file
		self_io_file;  /* of the tracker, which has the bytes of the processes that it reaped */
	int cgroup_cpu_fd;     /* cpu.stat of the tree's own cgroup; -1: not open */
	int64_t in_nobody_ns;  /* CPU time in that cgroup that no process reported, at the last pass */
	int64_t exited_faults; /* page faults of seen processes that have exited, at their last readings */
	int64_t unseen_faults; /* page faults of the tree that no seen member explains */
	size_t watches;        /* rounds in which ancestors of heirs were watched */
	bool root_vanished;    /* its figures are those of `root_last`, until its parent tells them */
	struct account root_last;
	bool io_known; /* the root's I/O was read, or was added to ours when it was reaped */
	int io_error;  /* while unknown: the errno of its reading */
};
