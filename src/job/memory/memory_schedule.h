/* Chooses the members to read in this tick, and the way; see process_memory.h. */
#pragma once

#include "job/memory/process_memory.h"

/* Takes the readings that are due and affordable. */
void memory_schedule(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode);
