/* The parts of the members in the memory of the tree; see memory_divide.h. */
#include "job/memory/memory_divide.h"

#include "base/min_max.h"

/* The memory that is certainly its own. */
static double own_kib(const struct process_memory *memory, const struct memory_family *family,
		      const struct process_tree *tree, const struct member *member, int64_t now_ns)
{
	(void)memory;
	if (member_is_read(family, member, now_ns))
		return (double)max_i64(0, member_exclusive_kib(tree, family, member));
	return member->memory.is_forked ? (double)max_i64(0, member_bound_kib(tree, member)) : 0;
}

static void divide_family(struct process_memory *memory, const struct memory_family *family,
			  struct process_tree *tree, int64_t now_ns)
{
	double own = 0, scale = 1, common;

	for (size_t i = 0; i < family->count; i++) {
		struct member *member = memory_family_member(&memory->families, family, tree, i);

		member->memory.share = own_kib(memory, family, tree, member, now_ns);
		own += member->memory.share;
	}
	common = (double)family->anon_kib - own;
	if (common < 0) {
		scale = (double)family->anon_kib / own;
		common = 0;
	}
	for (size_t i = 0; i < family->count; i++) {
		struct member *member = memory_family_member(&memory->families, family, tree, i);

		member->memory.share = member->memory.share * scale + common / (double)family->count;
	}
}

void process_memory_divide(struct process_memory *memory, struct process_tree *tree, double total_kib)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	double anon = 0, shared = 0, rest, scale = 1;
	struct member *first = NULL;

	for (size_t i = 0; i < tree->count; i++)
		tree->members[i].memory.share = 0;
	for (size_t i = 0; i < memory->families.count; i++) {
		divide_family(memory, &memory->families.at[i], tree, now_ns);
		anon += memory->families.at[i].count ? (double)memory->families.at[i].anon_kib : 0;
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		if (!memory_is_counted(tree, member))
			continue;
		if (!first)
			first = member;
		shared += (double)max_i64(0, member_shared_kib(tree, member));
	}
	rest = total_kib - anon;
	if (rest < 0) {
		scale = anon > 0 ? total_kib / anon : 0;
		rest = 0;
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		member->memory.share *= scale;
		if (shared > 0 && memory_is_counted(tree, member))
			member->memory.share +=
				rest * (double)max_i64(0, member_shared_kib(tree, member)) / shared;
	}
	/* Memory that no member maps, such as files on a tmpfs. */
	if (first && shared <= 0)
		first->memory.share += rest;
}
