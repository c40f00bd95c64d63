/*
 * Which members are read in which pass.
 *
 * All members that have run are read, unless very many have: these take turns. Their CPU time is exact in each pass, because
 * a clock is cheap to read, and their other figures are from an earlier one. Members that use much more CPU time than the others,
 * or fork, do not wait, and the last pass leaves none behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "job/tree/allowance.h"

struct process_tree;
struct member;

/* A member is read after this time, even if it has not run or has no turn yet. */
#define TURNS_ANYWAY_NS (10 * NSEC_PER_SEC)

/* In a larger tree, these readings are spread over that time: the files are closed, and opening them takes 20 us a process. */
enum { TURNS_LARGE_TREE = 128 };

struct tree_turns {
	size_t count;          /* passes in which each member that runs is read once */
	size_t ran_count;      /* members that have run since the last pass, as far as this pass has come */
	int64_t ran_ns;        /* and the CPU time that they used */
	int64_t much_ns;       /* a member that used more is read in any case */
	int64_t oldest_age_ns; /* of the readings of members that have run since, after the pass */
	struct allowance room; /* for new members */
	int64_t new_cost_ns;   /* of one; 0: it never mattered so far */
	size_t new_count;      /* members that were added in this pass */
	size_t left_out;       /* processes that there was no room for in this pass */
};

/* Call at the begin of each pass. */
void turns_plan(struct process_tree *tree);

/*
 * Whether there is room for a new member in this pass. A member costs 0.15 ms when it is new, which bounds how many of thousands of new
 * processes can be taken. The others have to wait for a later pass. Until then, the number of processes and their memory are unknown. The
 * time of a process that ends meanwhile is in the sum of the parent that waits for it.
 */
bool turns_have_room(struct process_tree *tree);
void turns_take_room(struct process_tree *tree);

/* Whether a member that has run is to be read in this pass. */
bool turns_has(const struct process_tree *tree, const struct member *member);

/* Whether a member of a large tree is to be read in this pass because of the time. */
bool turns_is_due(const struct process_tree *tree, const struct member *member);

/* Call after all readings: notes the age of the oldest figures. */
void turns_note_oldest(struct process_tree *tree);
