/* Which members are read in this tick, and which way; see process_memory.h. */
#pragma once

#include "process/process_memory.h"

/* Makes the readings that are due and affordable. */
void memory_schedule(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode);
