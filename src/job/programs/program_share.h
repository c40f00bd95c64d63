/* Divides the growth of the tree's totals among programs, so that their sums stay equal. See programs.h. */
#pragma once

#include "job/programs/program_table.h"

/* Returns the index of a program, which it adds. Beyond the limit all further ones share the last. */
size_t programs_index(struct programs *programs, const char *name);

/* Forgets what a program did in the last pass. */
void program_begin_pass(struct program *program);

/*
 * The part of a program's time that is estimated. A program that runs gets a small rest of the total before its clock shows it. If its clock
 * does not make up for it, it is an estimate, but for the time between two readings.
 */
int64_t program_estimated_units(const struct program *program);

/* `published`: the totals of the tree. `running`: how many processes it has. */
void programs_share(struct programs *programs, const struct usages *published, size_t running);
