/*
 * The processes of a job, and what they have used: the member table.
 *
 * Membership: the root and everything that descends from it; once a member, always a member, whatever it is
 * reparented to. A member is one process, known by (pid, start time).
 *
 * What is known of a member is read again only when its CPU clock has moved: a process that did not run did
 * not fork, reap, or do I/O either. Everything is read again every ten seconds, for what the kernel and others
 * change without the process's doing (its resident memory, with whom it shares it).
 *
 * Order matters. Members stand in the table in the order of their discovery, parents before children, and are
 * read in that order: when a child is reaped during the pass, its time is then missing from both readings,
 * which the account (process_account.h) bridges; the other order would count it twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "kernel/proc_pid_stat.h"
#include "kernel/root.h"
#include "process/memory_reading.h"
#include "process/own_cost.h"
#include "process/process_account.h"

/*
 * Between the readings before a process's first fork was seen and after its last one, it had `faults` page faults and came to
 * `anon` anonymous pages. Pages that it replaced in between live on in the forks that it had made by then.
 */
struct fork_window {
	bool is_known; /* there was a fork, and the readings are of our time */
	int64_t faults_first, faults_last;
	int64_t anon_first, anon_last;
};

struct member {
	pid_t pid;
	pid_t parent_pid;
	int64_t start_ticks;
	char state;

	int64_t clock_ns; /* process CPU clock at the last reading; -1: cannot be asked */
	int quiet_ticks;  /* passes since it last ran */
	bool listed;      /* its children have been read at least once */
	bool vanished;    /* in this pass */
	bool unreadable;  /* some of its files may not be read */
	bool ignores_sigchld;
	bool tears_down; /* the init of a PID namespace that is ending: the kernel ignores SIGCHLD in its name */
	bool parent_reaped; /* by the caller: what this one leaves is in its parent's sum already */

	struct account account;

	int64_t thread_count;
	int64_t resident_pages;
	int64_t shared_pages;
	int64_t virtual_pages;
	bool shares_memory;  /* its memory is a parent's (vfork, CLONE_VM): counted there */
	pid_t apart_from;    /* the parent whose memory is not its own; 0: not known */
	bool is_zombie;      /* its memory is gone */
	bool is_ending;      /* its memory is going */
	int64_t peak_faults; /* page faults when its high-water mark was read: without one it does not rise */
	int64_t peak_before_kib; /* that mark when we came: from before the record; 0: all of it is ours */

	/* memory that is shared by birth: see memory_family.h */
	bool is_forked;          /* and has not called exec since */
	bool has_forks;          /* as of this tick: some are members */
	size_t seen_pass;        /* the pass in which it was found */
	uint64_t layout;         /* of its address space: a fork has its parent's; 0: may not be seen */
	uint64_t family;         /* equal in members that descend from one by forks alone */
	int64_t inherited_pages; /* anonymous ones that it may have had from its parent when first seen */
	int64_t inherited_least; /* that it had and cannot have faulted in itself by then, but for huge pages */
	int64_t faults;          /* of its own, minor and major */
	int64_t parent_faults;   /* its parent's when it was first seen */
	int64_t faults_before;   /* at the reading before; 0: there was none */
	int64_t anon_before;     /* anonymous pages at that time */
	struct fork_window forks;       /* when it forked members of its family */
	struct memory_reading *reading; /* NULL: never read */
	int64_t reading_failed_ns;      /* 0: it did not */
	int64_t rollup_ns;              /* how long smaps_rollup would take now; -1: never read */
	int64_t rollup_pages;           /* its resident pages at that time */

	int stat_fd; /* kept while the process runs often; -1 */
	int statm_fd;
	int io_fd;
	int children_fd;
};

struct process_tree {
	struct root *root;
	bool with_children;
	bool started_by_caller; /* we are the parent of the root and the subreaper of its descendants */
	bool knows_children;    /* task/TID/children exists; else all of /proc is searched */
	pid_t root_pid;

	struct member *members; /* parents before children */
	size_t count;
	size_t capacity;
	uint32_t *slots; /* hash of pid -> index + 1 */
	size_t slot_count;

	const struct own_cost *own_cost; /* when the root is the calling process; NULL */

	pid_t *excluded; /* children of ours that are not the job's: helpers, inherited ones */
	size_t excluded_count;

	struct tree_account account;
	int64_t exited_count;
	int64_t exited_faults; /* page faults of those that were seen and have gone, as of their last readings */
	bool exits_missed;     /* a process may have come and gone unseen: `exited_count` is too low */
	bool sigchld_ignored; /* some member did, once */
	int64_t in_nobody_ns; /* what the tree's own cgroup has counted and no process has told, as of the last pass */
	int64_t largest_kib;  /* high-water mark of any one process while we watched; 0: not known */
	bool root_gone;       /* reaped or vanished */
	bool io_known;        /* the root's I/O was read, or came to us when it was reaped */
	int io_error;         /* until then: the errno of its reading */
	bool uses_clock;      /* CPU from process clocks, not from stat */
	int64_t last_full_ns; /* when everything was last read */
	size_t passes;
	int64_t changed_ns;     /* the last pass in which somebody had run, came or went, or all was read */
	int64_t seeded_ticks;   /* when the tree was begun with, since the boot of the machine */
	int cgroup_folder;      /* of the tree's own cgroup, which has nobody else in it; -1 */
	bool cgroup_has_memory; /* and counts its memory */
	int64_t fds_left;       /* how many more descriptors may be kept */
	int64_t huge_kib;       /* the most that the members can have in transparent huge pages */
};

/* Returns 0 or -ENOMEM. The root must outlive the tree. */
int process_tree_new(struct root *root, bool with_children, struct process_tree **ret_tree);
void process_tree_free(struct process_tree *tree);

/* The children that the calling process has by now are not part of any job. To be called before one starts. */
void process_tree_exclude_present(struct process_tree *tree);
/* A child of the calling process that is not part of any job. */
void process_tree_exclude(struct process_tree *tree, pid_t pid);

bool process_tree_excludes(const struct process_tree *tree, pid_t pid);

/*
 * Begins with `pid` and its descendants. What they used before counts when the caller started the root, and
 * does not count otherwise. Returns 0, -ESRCH, -EACCES, -ENOMEM.
 */
int process_tree_seed(struct process_tree *tree, pid_t pid, bool started_by_caller);

/* One pass over all members: the way to make everything below current. */
void process_tree_touch(struct process_tree *tree);

/* Around wait4(2) of a child of the caller; see rt_before_reap() and rt_add_exited(). */
void process_tree_before_reap(struct process_tree *tree, pid_t pid);
void process_tree_add_exited(struct process_tree *tree, pid_t pid, const struct rusage *usage);

/* Once all have ended: what some used is in the sums of nobody who could have waited for them. */
bool process_tree_lost_usage(const struct process_tree *tree);

/* "cgroup", "clock" or "stat"; constant. */
const char *process_tree_cpu_source(const struct process_tree *tree);

/* NULL when the pid is not a member. */
struct member *process_tree_find(const struct process_tree *tree, pid_t pid);
/* NULL when it has gone. */
struct member *process_tree_root(const struct process_tree *tree);
/* Members that have not ended (zombies have). */
size_t process_tree_running(const struct process_tree *tree);
