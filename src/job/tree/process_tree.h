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
#include <sys/resource.h>
#include <sys/types.h>

#include "kernel/proc_pid_stat.h"
#include "kernel/root.h"
#include "job/tree/allowance.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_reading.h"
#include "job/cpu/own_cost.h"
#include "job/cpu/process_account.h"
#include "job/programs/programs.h"
#include "job/cpu/process_waiting.h"

/*
 * From the reading before a process's first fork was seen to the reading at its last fork. `faults` counts its page
 * faults, `anon` its anonymous pages. Pages that it replaced in between live on in forks that it had made by then.
 */
struct fork_window {
	bool is_known; /* a fork was seen, and both readings are from after tracking began */
	int64_t faults_first, faults_last;
	int64_t anon_first, anon_last;
	/* Before the oldest fork that is a member of its family in this tick. */
	int64_t faults_living, anon_living;

	/* Pages that it took and freed again between two readings, by its high-water mark: before and with the last one. */
	int64_t passing_before, passing_last, passing_living;
	size_t pass; /* that of the last reading */
};

struct member {
	pid_t pid;
	pid_t parent_pid;
	int64_t start_ticks;
	char state;
	char comm[16];
	uint64_t identity;   /* of the program that it runs: changes with exec */
	double memory_share; /* its part of the tree's memory, in KiB; see memory_divide.h */

	int64_t clock_ns;  /* process CPU clock at the last reading; -1: not available */
	int64_t looked_ns; /* the same at the last pass or look; see discover_between_passes() */
	int64_t ran_ns;    /* what the clock had moved by then */
	int64_t read_ns;   /* when its figures were read */
	int quiet_ticks;   /* passes since it last ran */
	bool listed;       /* its children were read at least once */
	bool by_number;    /* found by its number, as its children will be */
	bool vanished;     /* in this pass */
	bool unreadable;   /* no permission for some of its files */
	bool is_behind;    /* it has run since it was read; its turn comes, see process_turns.h */
	bool has_more;     /* children that there was no room for; see turns_have_room() */
	bool is_parent;    /* a child was found */
	bool has_forked;   /* a child was found since it was read */
	bool ignores_sigchld;
	bool tears_down; /* init of a PID namespace that is exiting: the kernel ignores SIGCHLD for it */
	pid_t heir; /* once it has vanished: an ancestor, with only vanished ones in between; 0: unknown */
	size_t watched;     /* tree->watches when its ancestors were watched */
	bool parent_reaped; /* the caller reaped its parent: its figures are in the parent's sum already */

	struct account account;

	int64_t thread_count;
	int64_t resident_pages;
	int64_t shared_pages;
	int64_t virtual_pages;
	bool shares_memory;  /* its memory is its parent's (vfork, CLONE_VM) and counted there */
	pid_t apart_from;    /* the parent with which it does not share memory; 0: unknown */
	bool is_zombie;      /* its memory is freed */
	bool is_ending;      /* its last thread is exiting */
	bool is_being_freed; /* it has no address space any more, but the kernel may still hold its pages */
	int64_t peak_faults; /* page faults when its high-water mark was read; same count, same mark */
	int64_t peak_before_kib; /* the mark when tracking began; 0: all of it is from the record */
	int64_t mark_kib;        /* its high-water mark while tracked; 0: was not read */
	int64_t beside_kib; /* the most that the rest of the tree held in a tick in which it was counted */
	bool was_counted;   /* in a tick; else beside_kib says nothing */

	/* As of the last tick: see memory_between.h. */
	int64_t mark_followed_kib;
	int64_t resident_before; /* pages */

	/* Memory that is shared since a fork: see memory_family.h. */
	bool is_forked;          /* forked, and has not called exec since */
	size_t fork_count;       /* its forks that are members of its family in this tick */
	int64_t forks_anon_kib;  /* anonymous memory of the largest of them */
	size_t seen_pass;        /* the pass in which it was found */
	uint64_t layout;         /* of its address space: a fork has its parent's; 0: not permitted to see */
	uint64_t family;         /* the same in members that descend from one by forks alone */
	pid_t forked_by;         /* its parent when it was first seen; 0: that had gone by then */
	bool passes_on;          /* that parent had hardly any memory of its own */
	int64_t inherited_pages; /* anonymous pages that it may have had from its parent when first seen */
	int64_t inherited_least; /* those that it cannot have faulted in itself by then, except as huge pages */
	int64_t faults;          /* its own, minor and major, and */
	int64_t anon_at_faults; /* its anonymous pages at the same moment */
	int64_t stat_pages;     /* its resident set by /proc/PID/stat, and */
	int64_t stat_bytes;     /* the size of its address space, when statm was read; -1: never */
	int64_t parent_faults;  /* its parent's when it was first seen, and */
	int64_t parent_faults_before, parent_anon_before; /* at the reading before that; -1: unknown */
	int64_t parent_passing_before;
	int64_t faults_before;          /* at the previous reading; 0: none */
	int64_t anon_before;            /* anon_at_faults at that time */
	int64_t mark_before_kib;        /* mark_kib at that time */
	struct fork_window forks;       /* when it forked members of its family */
	struct memory_reading *reading; /* NULL: never read */
	int64_t reading_failed_ns;      /* 0: no failure */
	int64_t rollup_ns;              /* how long smaps_rollup would take now; -1: never read */
	int64_t rollup_pages;           /* its resident pages at that time */

	struct followed_thread main_thread;
	struct member_threads *threads; /* the others; NULL: none so far, or waiting is not followed */

	int stat_fd; /* kept while the process runs often; -1: closed */
	int statm_fd;
	int io_fd;
	int schedstat_fd;
	int children_fd;
};

struct process_tree {
	struct root *root;
	bool with_children;
	bool started_by_caller; /* the tracker is the root's parent and the subreaper of its descendants */
	bool knows_children;    /* task/TID/children exists; false: all of /proc is searched */
	bool looked_at_numbers; /* of new processes, in this pass, and */
	bool tried_numbers;     /* found all new members by them */
	bool numbers_unknown;   /* the kernel does not tell the newest */
	struct kept_file loadavg_file;
	struct kept_file own_children_file; /* those of the tracker: orphans among them */
	char own_children_path[48];
	struct kept_file
		self_io_file;   /* of the tracker, which has the bytes of the processes that it reaped */
	int64_t newest_pids[2]; /* at the last look and the one before; 0: unknown */
	int64_t newest_ns;      /* when that was */
	uint64_t foreign[16];   /* which of those numbers belong to no member; see process_discovery.c */
	pid_t root_pid;

	struct member *members; /* parents before children */
	size_t count;
	size_t capacity;
	uint32_t *slots; /* hash of pid -> index + 1 */
	size_t slot_count;

	const struct own_cost *own_cost; /* if the root is the calling process; else NULL */

	pid_t *excluded; /* our children outside the job: helpers, inherited ones */
	size_t excluded_count;

	struct tree_account account;
	struct tree_waiting waiting; /* the caller sets is_followed before the tree begins */
	int64_t exited_count;
	int64_t exited_faults; /* page faults of seen processes that have exited, at their last readings */
	bool exits_missed;     /* a process may have come and gone unseen: `exited_count` is too low */
	bool sigchld_ignored;  /* some member ignored SIGCHLD at some time */
	int64_t in_nobody_ns;  /* CPU time in the tree's cgroup that no process reported, at the last pass */
	int64_t unseen_faults; /* page faults of the tree that no seen member explains */
	int64_t largest_kib;   /* largest high-water mark of any process while tracked; 0: unknown */
	struct memory_between between;
	bool root_gone;     /* reaped or vanished */
	bool root_vanished; /* its figures are those of `root_last`, until its parent tells them */
	struct account root_last;
	bool io_known;      /* the root's I/O was read, or was added to ours when it was reaped */
	int io_error;       /* while unknown: the errno of its reading */
	bool uses_clock;    /* CPU time from process clocks, not from stat */
	int64_t touched_ns; /* when this pass began */
	int64_t pass_ns;    /* when this pass began; looks between passes leave it, and */
	int64_t pass_before_ns;
	int64_t last_full_ns; /* when all members were last read */
	bool reads_all;       /* in this pass; in a large tree, the member at hand */
	bool is_last_pass;    /* set by the caller: the next pass leaves no member behind */
	size_t turns;         /* passes in which each member that runs is read once */
	size_t ran_count; /* members that have run since the last pass, as far as this pass has come, and */
	int64_t ran_ns;   /* the CPU time that they used */
	int64_t oldest_age_ns; /* of the readings of members that have run since, after the pass */
	int64_t much_ns;       /* a member that used more is read in any case */
	struct allowance room; /* for new members */
	int64_t new_cost_ns;   /* of one; 0: it never mattered so far */
	size_t new_count;      /* members that were added in this pass */
	size_t watches;        /* rounds in which ancestors of heirs were watched */
	size_t left_out;       /* processes that there was no room for in this pass */
	size_t passes;
	int64_t changed_ns;        /* last pass in which a member ran, came or exited, or all were read */
	int64_t seeded_ticks;      /* when the tree was begun, since the boot of the machine */
	int cgroup_folder;         /* of the tree's own cgroup, which holds nothing else; -1: none */
	int cgroup_cpu_fd;         /* its cpu.stat; -1: not open */
	bool cgroup_has_memory;    /* that cgroup counts memory */
	int64_t fds_left;          /* how many more descriptors may be kept */
	struct programs *programs; /* the use by program; NULL: not wanted */
	int64_t huge_kib;          /* the most that the members can have in transparent huge pages */
};

/* Returns 0 or -ENOMEM. The root must outlive the tree. */
int process_tree_new(struct root *root, bool with_children, struct process_tree **ret_tree);
void process_tree_free(struct process_tree *tree);

/* Excludes the present children of the calling process from every job. Call before a job starts. */
void process_tree_exclude_present(struct process_tree *tree);
/* Excludes a child of the calling process from every job. */
void process_tree_exclude(struct process_tree *tree, pid_t pid);

bool process_tree_excludes(const struct process_tree *tree, pid_t pid);

/*
 * Begins with `pid` and its descendants. Their earlier use counts if the caller started the root, otherwise it does
 * not. Returns 0, -ESRCH, -EACCES or -ENOMEM.
 */
int process_tree_seed(struct process_tree *tree, pid_t pid, bool started_by_caller);

/* One pass over all members, which updates everything below. */
void process_tree_touch(struct process_tree *tree);

/* Call before and after wait4(2) of a child of the caller; see rt_before_reap() and rt_add_exited(). */
void process_tree_before_reap(struct process_tree *tree, pid_t pid);
void process_tree_add_exited(struct process_tree *tree, pid_t pid, const struct rusage *usage);

/* How many processes have ended since the start; -1: unknown, because some may have come and gone unseen. */
int64_t process_tree_exits(struct process_tree *tree);

/*
 * After all members have exited: whether the use of some is missing from every sum, because no process could wait for
 * them.
 */
bool process_tree_lost_usage(const struct process_tree *tree);

/* Returns "cgroup", "clock" or "stat". */
const char *process_tree_cpu_source(const struct process_tree *tree);

/* Returns NULL if the pid is not a member. */
struct member *process_tree_find(const struct process_tree *tree, pid_t pid);
/* Returns NULL if the root has gone. */
struct member *process_tree_root(const struct process_tree *tree);
/* Counts the members that have not exited (zombies have). */
size_t process_tree_running(const struct process_tree *tree);
/* Whether a member ran between the last pass and the one before it, or is new. */
bool process_tree_any_ran(const struct process_tree *tree);
