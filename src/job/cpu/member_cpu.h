/* The CPU time, the I/O and the waiting of one member and of the tree, as job/cpu/ keeps them. */
#pragma once

#include "job/cpu/own_cost.h"
#include "job/cpu/process_account.h"
#include "job/tree/allowance.h"
#include "kernel/root.h"

struct thread_counters {
	int64_t run_ns;
	int64_t wait_ns;
	int64_t voluntary;
	int64_t involuntary;
};

/* A thread whose counters are followed. */
struct followed_thread {
	pid_t tid;
	bool has_times;    /* run_ns and wait_ns of `last` are a reading */
	bool has_switches; /* so are the others */
	bool is_older;     /* than the tracking: its first reading does not count */
	bool is_main;      /* its state is that of the process */
	bool was_asleep;   /* at the last reading. False if that is unknown */
	struct thread_counters last;
	int64_t turns;        /* how often it had got a CPU at the last reading, and */
	int64_t switch_turns; /* at the last reading of its switches, with */
	int64_t switch_run_ns;
	int schedstat_fd; /* of a thread in a list: kept while the process runs often. -1: closed */
	int status_fd;    /* the same */
	int64_t read_ns;  /* when its times were read, and */
	int64_t ran_ns;   /* when such a reading first found them as they are */
};

/* The threads of a process with several of them. */
struct member_threads {
	struct followed_thread *list;
	size_t count;
	size_t next;           /* the next to read */
	int64_t process_count; /* threads of the process when they were listed */
	bool is_stale;         /* one has exited since */
};

/* Readings that may be made now. */
struct reading_budget {
	int64_t threads;
	int64_t switches;
};

struct tree_waiting {
	bool is_followed; /* false: nothing is read */
	bool has_times;   /* some thread's counters were read */
	bool has_switches;
	int error; /* while unknown: the errno of the last reading */
	struct thread_counters total;
	struct reading_budget budget;
	size_t asked;      /* threads that asked for a reading of their switches in this pass */
	size_t asked_last; /* in the last one */
	pid_t offered_pid; /* its main thread's switches were read with other figures just now. 0: none */
	int64_t offered_voluntary, offered_involuntary;
	int64_t pass_ns;
	int64_t began_ns; /* the first pass */
};

struct tree_turns {
	size_t count;          /* passes in which each member that runs is read once */
	size_t ran_count;      /* members that have run since the last pass, as far as this pass has come */
	int64_t ran_ns;        /* and the CPU time that they used */
	int64_t much_ns;       /* a member that used more is read in any case */
	int64_t oldest_age_ns; /* of the readings of members that have run since, after the pass */
	struct allowance room; /* for new members */
	int64_t new_cost_ns;   /* of one. 0: it never mattered so far */
	size_t new_count;      /* members that were added in this pass */
	size_t left_out;       /* processes that there was no room for in this pass */
};

struct member_cpu {
	int64_t clock_ns;  /* process CPU clock at the last reading. -1: not available */
	int64_t looked_ns; /* the same at the last pass or look; see process_tree_look() */
	int64_t ran_ns;    /* what the clock had moved by then */
	struct account account;
	bool is_reaped; /* the tracker has waited for it: the tree has its final figures */
	pid_t heir; /* once it has vanished: an ancestor, with only vanished ones in between. 0: unknown */
	size_t watched; /* tree->cpu.watches when its ancestors were watched */

	struct followed_thread main_thread;
	struct member_threads *threads; /* the others. NULL: none so far, or waiting is not followed */
};

#define NEW_MEMBER_CPU ((struct member_cpu){.clock_ns = -1, .looked_ns = -1})

struct job_cpu {
	const struct own_cost *own_cost; /* if the root is the calling process, else NULL */
	struct usages own_rest;          /* the tracker's part of the reading at hand */
	struct tree_account account;
	struct tree_waiting waiting;
	struct tree_turns turns;
	struct kept_file
		self_io_file;  /* of the tracker, which has the bytes of the processes that it reaped */
	int cgroup_cpu_fd;     /* cpu.stat of the tree's own cgroup. -1: not open */
	int64_t in_nobody_ns;  /* CPU time in that cgroup that no process reported, at the last pass */
	int64_t exited_faults; /* page faults of seen processes that have exited, at their last readings */
	int64_t unseen_faults; /* page faults of the tree that no seen member explains */
	bool exits_missed;     /* a process may have come and gone unseen: tree->exited_count is too low */
	size_t watches;        /* rounds in which ancestors of heirs were watched */
	bool lacks_children; /* a process discards the use of its children, so only their last readings count */
	bool root_vanished; /* its figures are those of `root_last`, until its parent tells them */
	struct account root_last;
	struct account
		root_children; /* ended in the root's last interval: it waited for them, if no other process did */
	bool io_known;         /* the root's I/O was read, or was added to ours when it was reaped */
	int io_error;          /* while unknown: the errno of its reading */
};
