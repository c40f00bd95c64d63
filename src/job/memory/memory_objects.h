/*
 * Memory that processes share by name: shared mappings, memfds, files on a tmpfs, System V segments, hugetlbfs. One
 * object is one (device, inode), no matter how many members map it or have it open.
 *
 * The kernel reports the size of an object through a member's descriptor (/proc/PID/fd), its path, /proc/sysvipc/shm
 * and, for root, /proc/PID/map_files. That size includes pages that are in no page table. If none of these is
 * available, the size is the number of sampled pages that were ever seen in a page table: shared memory stays until its
 * last user has exited. Only madvise(MADV_REMOVE) and the like take pages out of it before. Then they are in no page table
 * any more, and the machine has less shared memory:
 *
 *	a job of two, 150 MiB		page tables	machine		told
 *	one gives back 100 MiB		50		300 -> 200	50
 *	one unmaps 100 MiB		50		300 -> 300	150
 *
 * Such a look at all page tables is a round. It begins with the reading of a member, and begins again if one has fewer
 * shared pages than before. It ends once all members that map the object were read. The kernel clears the page tables
 * before it frees the pages, so that the machine may lose them some samples later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/memory/page_sample.h"
#include "kernel/proc_pid_maps.h"
#include "kernel/root.h"

struct memory_object {
	uint64_t device;
	uint64_t inode;
	char *path;       /* as its processes see it, NULL if unknown */
	bool is_system_v; /* the inode is the id of a System V segment */
	bool is_faulted;  /* MAP_ANONYMOUS: each page came with a page fault of a process that maps it */
	bool is_huge;     /* on hugetlbfs: neither in resident sets nor in Shmem */
	bool was_written; /* a member could write to it: counts for the job even after it is closed */
	bool is_used;     /* a member maps it in this tick */
	size_t users;     /* members that map it in this tick, as far as they were read */
	int held_fd;      /* descriptor of held_by, -1 if unknown */
	pid_t held_by;
	pid_t mapped_by; /* 0: unknown */
	uint64_t mapped_start, mapped_end;
	int64_t kib;        /* reported by the kernel. -1: not available */
	size_t lost_before; /* its descriptor has gone: the number of the next search. 0: not so */
	struct page_places
		seen;   /* sampled pages seen in a page table: `space` is the last round in which they were */
	uint64_t pages; /* end of the largest mapping */
	uint64_t round; /* the last one that has begun */
	uint64_t judged;        /* pages of earlier ones were absent before, and were kept */
	int64_t round_ns;       /* when the round in progress began. 0: none is */
	int64_t first_round_ns; /* when the first one of those that began again did */
	int64_t oldest_ns;      /* the oldest reading of a member that maps it */
	int64_t others_kib; /* the machine's shared memory beside all objects, when the pages were last there */
	bool has_waited;    /* for the resident sets of the next pass */
	int64_t fell_kib;   /* shared pages that a member had before the round, and */
	int64_t left_kib;   /* those that it has left without unmapping them */
	int64_t doubt_kib; /* pages that were kept, although a member had left them so */
};

struct tmpfs_mount {
	char *point;
	bool is_tmpfs; /* tmpfs or hugetlbfs. false: another filesystem mounted below one */
	uint64_t device;
};

/* Pages of mappings, or descriptors, for which the table has no place. Several processes may have the same ones. */
struct objects_cut {
	int64_t most; /* of one process, or the sum over families of forks */
	int64_t all;  /* the sum over all processes */
};

struct memory_objects {
	struct memory_object *objects;
	size_t count;
	size_t capacity; /* a power of 2 */
	uint32_t *slots; /* hash of (device, inode) -> index + 1 */
	size_t refreshes;
	struct objects_cut cut, cut_now; /* descriptors: by the last search, and by the one in progress */
	struct tmpfs_mount *mounts;
	size_t mount_count;
	int64_t mounts_read_ns; /* 0: never */
	bool map_files_refused;
	bool lost_one;    /* a descriptor was closed: search the members again */
	int64_t lost_kib; /* the size of all such files */
	size_t searches;  /* of all members that have begun */
	bool in_round;    /* one object, or more */
};

struct memory_objects_sum {
	int64_t kib;      /* shared memory */
	int64_t huge_kib; /* on hugetlbfs */
	/* Objects of unknown size, which may have pages that no member has mapped at a sample. */
	bool has_unknown;
	bool has_written;    /* one of them may have pages without a page fault */
	int64_t faulted_kib; /* the rest of them */
	int64_t cut_kib; /* error: of the estimate for objects that the table has no place for, and objects that may be gone */
	bool sampled;
	double variance; /* of the sampled part, in KiB squared */
};

void memory_objects_done(struct memory_objects *objects);

/* Reads the tmpfs mounts that `pid` sees, if the last reading is a minute old. */
void memory_objects_read_mounts(struct memory_objects *objects, struct root *root, pid_t pid);

/* Whether the pages of an area belong to an object, as opposed to a file on storage. */
bool memory_objects_has(const struct memory_objects *objects, const struct memory_area *area);

/* Returns the object of an area that a member maps, or NULL without memory. Valid until the next call. */
struct memory_object *memory_objects_meet(struct memory_objects *objects, const struct root *root, pid_t pid,
					  const struct memory_area *area);

/* Returns NULL if the object is unknown. */
struct memory_object *memory_objects_find(const struct memory_objects *objects, uint64_t device,
					  uint64_t inode);

/*
 * A search visits the descriptors of all members. An object whose descriptor has gone, because the process that held it
 * has ended or has closed it, keeps its size until a search that began later has visited all members.
 */
void memory_objects_begin_search(struct memory_objects *objects);
void memory_objects_end_search(struct memory_objects *objects);

/* Searches the descriptors of one process for objects. */
void memory_objects_scan_fds(struct memory_objects *objects, const struct root *root, pid_t pid);

/* Reads all sizes again. Drops objects that are not mapped, not open and not kept. */
void memory_objects_refresh(struct memory_objects *objects, struct root *root, pid_t root_pid);

/* A member is about to be read that maps an object. */
struct round_begin {
	int64_t now_ns;
	int64_t before_ns;    /* of its reading before, when the machine had */
	int64_t others_kib;   /* beside all objects */
	int64_t fell_kib;     /* its shared pages that have gone since, and */
	int64_t unmapped_kib; /* address space */
};

void memory_objects_begin_round(struct memory_objects *objects, const struct page_place *object,
				const struct round_begin *begin);

/*
 * Ends the rounds of which all readings were taken, and returns the size of the pages that have gone. `others_kib`: the machine's shared
 * memory beside all objects.
 */
int64_t memory_objects_end_rounds(struct memory_objects *objects, int64_t now_ns, int64_t others_kib,
				  int64_t page_bytes);

struct memory_objects_sum memory_objects_sum(const struct memory_objects *objects,
					     const struct objects_cut *cut_pages, int64_t page_bytes);
