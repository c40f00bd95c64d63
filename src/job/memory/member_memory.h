/* The memory of one member and of the tree, as job/memory/ keeps it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_reading;

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

/* Whether a member's memory was read in this tick, and why not. */
enum reading_choice {
	READING_OFF, /* --pss off, or its memory does not count */
	READING_STILL_RIGHT,
	READING_LIKE_SIBLINGS, /* enough of them were read */
	READING_REFUSED,       /* by the kernel, some seconds ago */
	READING_LATE,          /* there was no time left */
	READING_GIVES_BACK,    /* the process frees memory at this moment: the last reading is better */
	READING_TAKEN,
};

struct member_memory {
	/* First those that the code names most often: see struct member. */
	int64_t resident_pages;
	int64_t shared_pages;
	struct memory_reading *reading; /* NULL: never read */
	int64_t faults;                 /* its own, minor and major, and */
	int64_t anon_at_faults;         /* its anonymous pages at the same moment */
	uint64_t family;   /* the same in members that descend from one by forks alone: see memory_family.h */
	size_t fork_count; /* its forks that are members of its family in this tick */
	bool is_forked;    /* forked, and has not called exec since */
	bool passes_on;    /* its parent when it was first seen had hardly any memory of its own */
	bool is_refused;   /* its last reading was not permitted */
	bool is_being_freed; /* it has no address space any more, but the kernel may still hold its pages */
	int64_t mark_kib;    /* its high-water mark while tracked. 0: was not read */
	int64_t virtual_pages;
	uint64_t layout;         /* of its address space: a fork has its parent's. 0: not permitted to see */
	int64_t inherited_pages; /* anonymous pages that it may have had from its parent when first seen */

	double share;  /* its part of the tree's memory, in KiB; see process_memory_divide() */
	double weight; /* what it maps or holds beside its own pages, for its share of them */
	pid_t shared_with; /* its memory is that of this process (vfork, CLONE_VM) and counted there. 0: its own */
	pid_t apart_from;          /* the parent with which it does not share memory, 0 if unknown */
	int compared;              /* readings in which it was compared with others without its parent */
	int64_t peak_faults;       /* page faults when its high-water mark was read; same count, same mark */
	int64_t peak_before_kib;   /* the mark when tracking began. 0: all of it is from the record */
	int64_t passed_before_kib; /* passed_kib of the tree in the first tick in which it was counted */
	int64_t beside_kib; /* the most that the rest of the tree held in a tick in which it was counted */
	bool was_counted;   /* in a tick, else beside_kib says nothing */

	/* As of the last tick: see memory_between.h. */
	int64_t mark_followed_kib; /* one less than the mark: that counts again in the next tick */
	int64_t resident_before;   /* pages */

	/* Memory that is shared since a fork: see memory_family.h. */
	int64_t forks_anon_kib; /* anonymous memory of the largest of its forks */
	pid_t forked_by;        /* its parent when it was first seen. 0: that had gone by then */
	int64_t inherited_least; /* of the inherited pages: those that it cannot have faulted in itself by then, except as huge pages */
	int64_t stat_pages;    /* its resident set by /proc/PID/stat, and */
	int64_t stat_bytes;    /* the size of its address space, when statm was read. -1: never */
	int64_t parent_faults; /* its parent's when it was first seen, and */
	int64_t parent_faults_before, parent_anon_before; /* at the reading before that, -1 if unknown */
	int64_t parent_passing_before;
	int64_t faults_before;    /* at the previous reading, 0 for none */
	int64_t anon_before;      /* anon_at_faults at that time */
	int64_t mark_before_kib;  /* mark_kib at that time */
	struct fork_window forks; /* when it forked members of its family */
	enum reading_choice choice;
	int64_t uncertain_kib;     /* may have changed since the last reading */
	int64_t reading_failed_ns; /* 0: no failure */
	int64_t rollup_ns;         /* how long smaps_rollup would take now. -1: never read */
	int64_t rollup_pages;      /* its resident pages at that time */
};

#define NEW_MEMBER_MEMORY ((struct member_memory){.rollup_ns = -1, .stat_pages = -1, .stat_bytes = -1})

/* The most that the tree may have held between two samples: see memory_between.h. */
struct memory_between {
	int64_t before_kib; /* the tree's memory in the tick before, -1 if unknown */
	int64_t most_kib;   /* with marks that were seen to rise, 0 for none */
	int64_t beside_kib; /* beside a process that exited with an unseen mark */
	/*
	 * The kernel's mark of a process counts a page for each mapping of it, and pages of programs outside the job: in the tick in
	 * which this process had the largest resident set so far, it was larger than the whole tree by so much.
	 */
	pid_t over_pid;
	int64_t over_of_kib, over_kib;
	int64_t seen_kib; /* largest resident set in a tick, or mark that was followed, so far */
	pid_t largest_pid; /* its mark is worth reading: the tree holds more than its resident set, 0 for none */
	/* The largest pair: a process that exited, by its page faults, and what the rest held. */
	int64_t exit_kib, beside_exit_kib;
	int64_t passed_kib; /* the most of such a process that had left the table: it was another than those that are in it */
	/* Members that were removed since the last tick, as they were then. */
	int64_t gone_pages, gone_most_pages;
	int64_t gone_faults, gone_mark_kib;
	int64_t unseen_faults; /* page faults that no seen member explains, up to the last tick */
	int64_t exits;         /* processes that have exited, up to the last tick, -1 if unknown */
	/* See reach_kib() in memory_between.c. */
	int64_t objects_kib,
		files_kib; /* in this tick: named shared memory, if it may be in marks as well, and mapped files */
	int64_t base_kib; /* the least that it held in a tick, without files and less root->allocated_pages. 0: unknown */
};

struct job_memory {
	struct memory_between between;
	int64_t largest_kib; /* largest high-water mark of any process while tracked, 0 if unknown */
	int64_t huge_kib;    /* the most that the members can have in transparent huge pages */
	/* When forks seemed to have got pages that nothing tells: older readings of them are repeated. 0: they did not. */
	int64_t suspect_ns;
	bool cgroup_has_memory; /* the tree's own cgroup counts memory */
};
