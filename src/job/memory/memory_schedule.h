/* Chooses the members to read in this tick, and the way. See process_memory.h. */
#pragma once

#include "job/memory/memory_state.h"

/*
 * Takes the readings that are due and affordable. One is due once statm or the page faults tell that a member has changed, or, for huge
 * pages (hugetlb), once its status does.
 */
void memory_schedule(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode);

/* How long smaps_rollup would hold a member: as measured, or by its size. */
double member_rollup_ns(const struct process_tree *tree, const struct member *member);
