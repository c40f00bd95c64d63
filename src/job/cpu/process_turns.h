/*
 * Which members are read in which pass.
 *
 * All members that have run are read, unless very many have: these take turns. Their CPU time is exact in each pass, because
 * a clock is cheap to read, and their other figures are from an earlier one. Members that use much more CPU time than the others,
 * or fork, do not wait, and the last pass leaves none behind.
 */
#pragma once

#include "job/tree/process_tree.h"

/* Call at the begin of each pass. */
void turns_plan(struct process_tree *tree);

/*
 * Whether there is room for a new member in this pass. A member costs 0.15 ms when it is new, which bounds how many of thousands of new
 * processes can be taken. The others have to wait for a later pass. Until then, the number of processes and their memory are unknown. The
 * time of a process that ends meanwhile is in the sum of the parent that waits for it.
 */
bool turns_have_room(struct process_tree *tree);
void turns_take_room(struct process_tree *tree);
/* A process has to wait for that. */
void turns_leave_out(struct process_tree *tree);

/* A member that has not run may be read as well, which counts for the next plan. */
void turns_note_asking(struct process_tree *tree);

/* Whether a member that has run is to be read in this pass. */
bool turns_has(const struct process_tree *tree, const struct member *member);

/* Whether a member of a large tree is to be read in this pass because of the time. */
bool turns_is_due(const struct process_tree *tree, const struct member *member);

/* Call after all readings: notes the age of the oldest figures. */
void turns_note_oldest(struct process_tree *tree);
