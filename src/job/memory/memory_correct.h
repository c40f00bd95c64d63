/*
 * Corrects the estimate of a family whose members may have different pages at one address, where the kernel hides page frames, or one page at
 * different addresses: the proportional shares of all its members, read at one moment, add up to its memory. The difference to the estimate stays, so that
 * the estimate follows changes until the next correction.
 *
 * Example: four forks took 72 MiB each, forked three children and called exec. The children of all four have pages at the same
 * addresses, so that samples alone suggest 72 MiB. The proportional shares add up to 288 MiB.
 *
 * Four forks that move 10 MiB which they inherited (mremap) have it at an address where the parent has nothing: samples suggest 20 MiB.
 */
#pragma once

#include "job/memory/memory_state.h"

/* Call after memory_family_measure(), with its result. */
void memory_correct(struct process_memory *memory, struct process_tree *tree, struct memory_family *family,
		    int64_t now_ns, struct family_memory *found);

/*
 * Forks may get pages that no size and no page fault tells: another process writes theirs, or the kernel copies them into huge pages.
 * Then the anonymous memory of the machine beyond the job's rises, so that they are read again. If that finds nothing, other
 * jobs have grown: no rise counts until all forks are read again in any case, so that a machine where programs grow all the time costs
 * little more. Returns how much the job may have more, in KiB.
 */
int64_t memory_watch_copies(struct process_memory *memory, struct process_tree *tree, int64_t anon_kib,
			    int64_t rss_kib);
