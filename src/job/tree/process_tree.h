/*
 * The processes of a job and what they have used: the table of members.
 *
 * Members are the root and everything that descends from it. A member stays one, even if it is reparented. A member is
 * one process, identified by (pid, start time).
 *
 * A member is read again only when its CPU clock has moved: without running, a process cannot fork, reap or do
 * I/O. Every ten seconds all members are read, because the kernel and other processes can change some figures
 * without the process running (its resident memory, and with which processes it shares it). If very many have run, they
 * take turns: all CPU time is of this pass, but other figures of some of them are from an earlier one (`oldest_age_ns`).
 *
 * The order matters. Members stand in the table in the order of their discovery, parents before children, and are read
 * in that order. If a child is reaped during a pass, its time is then missing from both readings, and the account
 * (process_account.h) bridges the gap. In the other order it would count twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/cpu/member_cpu.h"
#include "job/memory/member_memory.h"
#include "job/network/member_sockets.h"
#include "job/programs/member_program.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/root.h"

struct programs;

/* The files that are kept open while a process runs often. */
enum member_file { FILE_STAT, FILE_STATM, FILE_IO, FILE_SCHEDSTAT, FILE_CHILDREN, MEMBER_FILES };

struct member {
	pid_t pid;
	pid_t parent_pid;
	int64_t start_ticks;
	char state;
	bool is_zombie;  /* its memory is freed */
	bool is_ending;  /* its last thread is exiting */
	bool vanished;   /* in this pass */
	bool unreadable; /* no permission for its own files; see also memory.is_refused */
	bool ignores_sigchld;
	bool tears_down;    /* init of a PID namespace that is exiting: the kernel ignores SIGCHLD for it */
	bool parent_reaped; /* the caller reaped its parent: its figures are in the parent's sum already */
	bool is_untold;     /* the same, but the parent had waited for no child: its figures are in no sum */

	/*
	 * This one, and each of the others at the end, is written in the folder of its subject alone. The code that reads fields near the
	 * beginning is shorter: offsets up to 127 take a byte.
	 */
	struct member_memory memory;

	int64_t thread_count;

	/* When its files are read. */
	int64_t read_ns;         /* the last time */
	int quiet_ticks;         /* passes since it last ran */
	bool is_behind;          /* it has run since it was read; its turn comes, see process_turns.h */
	bool has_forked;         /* a child was found since it was read */
	int files[MEMBER_FILES]; /* -1: closed. See process_files.h */

	/* How its children are found. */
	bool listed;      /* they were read at least once */
	bool by_number;   /* found by its number, as its children will be */
	bool has_more;    /* children that there was no room for; see turns_have_room() */
	bool is_parent;   /* a child was found */
	size_t seen_pass; /* the pass in which it was found */

	struct member_cpu cpu;
	struct member_program program;
	struct member_sockets sockets;
};

/* How new members are found. */
struct tree_discovery {
	bool knows_children;    /* task/TID/children exists. false: all of /proc is searched */
	bool looked_at_numbers; /* of new processes, in this pass */
	bool tried_numbers;     /* and found all new members by them */
	bool numbers_unknown;   /* the kernel does not tell the newest */
	struct kept_file loadavg_file;
	struct kept_file own_children_file; /* those of the tracker: orphans among them */
	char own_children_path[48];
	int64_t newest_pids[2]; /* at the last look and the one before, 0 if unknown */
	int64_t newest_ns;      /* when that was */
	uint64_t foreign[16];   /* which of those numbers belong to no member; see new_members.c */
};

struct process_tree {
	struct root *root;
	bool with_children;
	bool started_by_caller; /* the tracker is the root's parent and the subreaper of its descendants */
	bool uses_clock;        /* CPU time from process clocks, not from stat */
	pid_t root_pid;
	bool root_gone;       /* reaped or vanished */
	int64_t seeded_ticks; /* when the tree was begun, since the boot of the machine */
	int cgroup_folder;    /* of the tree's own cgroup, which holds nothing else. -1: none */
	int64_t fds_left;     /* how many more descriptors may be kept */

	struct member *members; /* parents before children */
	size_t count;
	size_t capacity;
	uint32_t *slots; /* hash of pid -> index + 1 */
	size_t slot_count;

	pid_t *excluded; /* our children outside the job: helpers, inherited ones */
	size_t excluded_count;

	int64_t exited_count;
	bool sigchld_ignored; /* some member ignored SIGCHLD at some time */

	/* Passes. */
	size_t passes;
	int64_t pass_ns; /* when this pass began; looks between passes leave it */
	int64_t pass_before_ns;
	int64_t touched_ns;   /* when this pass or look began */
	int64_t changed_ns;   /* last pass in which a member ran, came or exited, or all were read */
	int64_t last_full_ns; /* when all members were last read */
	bool reads_all;       /* in this pass. In a large tree: the member at hand */
	bool is_last_pass;    /* set by the caller: the next pass leaves no member behind */
	struct tree_discovery discovery;

	/* Each is written in the folder of its subject alone. */
	struct job_cpu cpu;
	struct job_memory memory;
	struct programs *programs; /* the use by program. NULL: not wanted */
};

/* Excludes a child of the calling process from every job. */
void process_tree_exclude(struct process_tree *tree, pid_t pid);
/* Takes that back: the process that is named as the root is the job, even if it existed before the tracker was opened. */
void process_tree_include(struct process_tree *tree, pid_t pid);
bool process_tree_excludes(const struct process_tree *tree, pid_t pid);

/* Makes room for one more member, which may move the table. Returns 0 or -ENOMEM. */
int process_tree_reserve(struct process_tree *tree);
/* Adds a member for which there is room. */
void process_tree_append(struct process_tree *tree, const struct member *member);
/* Removes vanished members from the table. The others keep their order. */
void process_tree_drop_vanished(struct process_tree *tree);

/* Returns NULL if the pid is not a member. */
struct member *process_tree_find(const struct process_tree *tree, pid_t pid);
/* Returns NULL if the root has gone. */
struct member *process_tree_root(const struct process_tree *tree);
/* Counts the members that have not exited (zombies have). */
size_t process_tree_running(const struct process_tree *tree);
/* Whether a member ran between the last pass and the one before it, or is new. */
bool process_tree_any_ran(const struct process_tree *tree);
/* Whether the process is older than the tracking, so that its earlier use does not count. */
bool member_is_older(const struct process_tree *tree, const struct member *member);
