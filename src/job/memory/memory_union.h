/*
 * The union of the pages that the members of a family share: a page for each sampled address at which any member has a page
 * that another process has as well, and more than one where its members have different pages at one address.
 */
#pragma once

#include "job/memory/memory_family.h"

/* Sets the family's union_kib and union_variance; nothing changes while its readings are the same. */
void memory_union_measure(struct memory_families *families, struct memory_family *family,
			  const struct process_tree *tree, int64_t now_ns);

/* Pages that a member replaced between its forks, which its earlier forks still have. */
int64_t memory_left_to_forks_kib(const struct process_tree *tree, const struct member *member,
				 int64_t exclusive_kib);
