/*
 * /proc/PID/pagemap: one entry of 64 bits for each page of a process's address space.
 *
 * A process may read it for processes that it may trace (its own user's). Page frame numbers are hidden from
 * users without privilege. The flags below are visible.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/root.h"

static inline bool page_is_present(uint64_t entry)
{
	return entry >> 63 & 1;
}

static inline bool page_is_swapped(uint64_t entry)
{
	return entry >> 62 & 1;
}

/* A page of a file or of shared memory. Otherwise anonymous. Since Linux 3.5. */
static inline bool page_is_of_file(uint64_t entry)
{
	return entry >> 61 & 1;
}

/* The page is in no other page table. Since Linux 4.2. */
static inline bool page_is_exclusive(uint64_t entry)
{
	return entry >> 56 & 1;
}

/* The page frame of a present page, or 0 for readers without CAP_SYS_ADMIN. */
static inline uint64_t page_frame(uint64_t entry)
{
	return entry & ((UINT64_C(1) << 55) - 1);
}

/* Returns a descriptor, or a negative errno: -EACCES for another user's process. */
int open_proc_pid_pagemap(const struct root *root, pid_t pid);

/* Whether the kernel hides page frames from this process, as its own page map shows. */
bool proc_pid_pagemap_hides_frames(const struct root *root);

/*
 * Reads entries from page number `first` on. Returns how many (fewer at the end of the address space), or a
 * negative errno. The kernel holds the process's memory map for about 10 ns per entry.
 */
ssize_t read_proc_pid_pagemap(int fd, uint64_t first, uint64_t *ret_entries, size_t count);
