/*
 * Which member has the figures of a process that has ended, or will have them. See process_account.h.
 *
 * The parent that waits for a process is its heir. If the parent has ended as well, the order of the two ends is unknown: either
 * the parent had waited for its child, and the parent's heir has both, or the child had a new parent by then. The new parent is
 * the nearest ancestor that is a subreaper (tini, a container's init, raylet), which the kernel shows in no file.
 *
 * Example: a subreaper S runs P, P runs C, and C runs G, which has used 2 s. C and then G are killed between two passes, while P
 * sleeps. P carries the 2 s of G. The waited-for time of S has grown by 2 s that no ended child of S explains, so they are
 * those of G, and P carries nothing any more.
 */
#pragma once

#include "job/tree/process_tree.h"

/* A member has vanished: the nearest living ancestor carries its figures. */
void heir_take(struct process_tree *tree, struct member *gone);

/* Takes figures from members that carry them if an ancestor has them. Call after readings, and after heir_take(). */
void heirs_find_above(struct process_tree *tree);

/*
 * Whether the parent's figures may already contain the member's, because the kernel is reaping it. If its clock has not moved
 * since the last pass, which is possible between two scheduler ticks, only its state shows that.
 */
bool heir_may_have(const struct process_tree *tree, const struct member *member);
