/* Tells what kept the input of GPUs that had no work, in a sentence with its evidence. docs/GPU.md has the rules. */
#pragma once

#include "summary/summary.h"

/* Returns the part of the time in which the GPUs starved, and the sentence. 0: they did not, or the recording does not tell why. */
double starved_share(const struct run_facts *facts, char *ret_text, size_t size);
