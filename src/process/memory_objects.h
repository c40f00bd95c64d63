/*
 * Memory that processes share by name: shared mappings, memfds, files on a tmpfs, System V segments, hugetlbfs. One object
 * is one (device, inode), however many members map it or hold a descriptor of it.
 *
 * The kernel tells the size of an object where it can be asked: by a descriptor of a member (/proc/PID/fd), by its path, by
 * /proc/sysvipc/shm, and as root by /proc/PID/map_files. That size includes pages which no page table has. Otherwise the
 * size is the number of sampled pages that were ever seen in a page table, because shared memory stays until its last user
 * has gone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/proc_pid_maps.h"
#include "kernel/root.h"
#include "process/page_sample.h"

struct memory_object {
	uint64_t device;
	uint64_t inode;
	char *path;       /* as its processes see it; NULL: none is known */
	bool is_system_v; /* the inode is the id of a segment */
	bool is_huge;     /* on hugetlbfs: part of neither resident sets nor Shmem */
	bool was_written; /* a member could write to it: it stays the job's after it is closed */
	bool is_used;     /* a member maps it, as of this tick */
	int held_fd;      /* descriptor of held_by; -1: none is known */
	pid_t held_by;
	pid_t mapped_by; /* 0: unknown */
	uint64_t mapped_start, mapped_end;
	int64_t kib;             /* as the kernel says; -1: it cannot be asked */
	struct page_places seen; /* sampled pages that a page table had */
	uint64_t pages;          /* end of the largest mapping */
};

struct tmpfs_mount {
	char *point;
	bool is_tmpfs; /* tmpfs or hugetlbfs; false: another filesystem that is mounted below one */
	uint64_t device;
};

struct memory_objects {
	struct memory_object *objects; /* by device and inode */
	size_t count;
	size_t capacity;
	struct tmpfs_mount *mounts;
	size_t mount_count;
	int64_t mounts_read_ns; /* 0: never */
	bool map_files_refused;
	bool lost_one; /* a descriptor was closed: members are to be searched again */
};

struct memory_objects_sum {
	int64_t kib;      /* shared memory */
	int64_t huge_kib; /* on hugetlbfs */
	bool sampled;
	double variance; /* of the sampled part, KiB squared */
};

void memory_objects_done(struct memory_objects *objects);

/* Reads again which mounts are tmpfs, as `pid` sees them, when that is a minute old. */
void memory_objects_read_mounts(struct memory_objects *objects, struct root *root, pid_t pid);

/* Whether the pages of an area belong to an object, and not to a file on storage. */
bool memory_objects_has(const struct memory_objects *objects, const struct memory_area *area);

/* The object of an area that a member maps; NULL without memory. Valid until the next one is met. */
struct memory_object *memory_objects_meet(struct memory_objects *objects, const struct root *root, pid_t pid,
					  const struct memory_area *area);

/* NULL when it is not known. */
struct memory_object *memory_objects_find(const struct memory_objects *objects, uint64_t device,
					  uint64_t inode);

/* Looks for objects among the descriptors of one process. */
void memory_objects_scan_fds(struct memory_objects *objects, const struct root *root, pid_t pid);

/* Asks all sizes again. Objects that are neither mapped nor held nor kept leave the table; is_used begins anew. */
void memory_objects_refresh(struct memory_objects *objects, struct root *root, pid_t root_pid);

struct memory_objects_sum memory_objects_sum(const struct memory_objects *objects, int64_t page_bytes);
