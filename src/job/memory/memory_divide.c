/* The parts of the members in the memory of a tree, from which the programs have theirs. See process_memory.h. */
#include "base/min_max.h"
#include "job/memory/process_memory.h"

/* The memory that is certainly its own. */
static double certain_kib(const struct memory_family *family, const struct process_tree *tree,
			  const struct member *member, int64_t now_ns)
{
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

		member->memory.share = certain_kib(family, tree, member, now_ns);
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

/* A member may map more of an object than it has in its page tables. */
static int64_t mapped_kib(const struct memory_objects *objects, const struct process_tree *tree,
			  const struct member *member)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t kib = 0;

	for (size_t i = 0; reading && i < reading->objects.count; i++) {
		const struct memory_object *object = memory_objects_find(
			objects, reading->objects.at[i].space, reading->objects.at[i].page);

		if (object && object->kib > 0 && object->users)
			kib += object->kib / (int64_t)object->users;
	}
	return max_i64(kib, member_shared_kib(tree, member));
}

/* Memory that no member maps belongs to the one that has it open, or mapped it last. */
static void weigh_what_is_held(const struct memory_objects *objects, const struct process_tree *tree)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct memory_object *object = &objects->objects[i];
		struct member *holder =
			process_tree_find(tree, object->held_by ? object->held_by : object->mapped_by);

		if (holder && !object->is_used && object->kib > 0)
			holder->memory.weight += (double)object->kib;
	}
}

void process_memory_divide(struct process_memory *memory, struct process_tree *tree, double total_kib)
{
	int64_t now_ns = root_monotonic_ns(tree->root);
	double anon = 0, shared = 0, rest, scale = 1;
	struct member *first = NULL;

	if (memory->hold)
		return;
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		member->memory.share = member->memory.weight = 0;
		if (!memory_is_counted(tree, member))
			continue;
		member->memory.weight = (double)mapped_kib(&memory->objects, tree, member);
		if (!first)
			first = member;
	}
	for (size_t i = 0; i < memory->families.count; i++) {
		divide_family(memory, &memory->families.at[i], tree, now_ns);
		anon += memory->families.at[i].count ? (double)memory->families.at[i].anon_kib : 0;
	}
	weigh_what_is_held(&memory->objects, tree);
	for (size_t i = 0; i < tree->count; i++)
		shared += tree->members[i].memory.weight;
	/* No member maps or holds any. */
	if (first && shared <= 0)
		first->memory.weight = shared = 1;
	rest = total_kib - anon;
	if (rest < 0) {
		scale = anon > 0 ? total_kib / anon : 0;
		rest = 0;
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct member_memory *of = &tree->members[i].memory;

		of->share = of->share * scale + (first ? rest * of->weight / shared : 0);
	}
}
