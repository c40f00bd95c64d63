/* The union of the pages that the members of a family share; see memory_union.h. */
#include "job/memory/memory_union.h"

#include "base/min_max.h"
#include "job/memory/memory_member.h"

/*
 * One page per address is too few if a process wrote between two forks, or before it was forked in turn: its children
 * then have another page there than their siblings or cousins. Readers with CAP_SYS_ADMIN see page frames, which
 * distinguish such pages. Other readers know how many pages the forking processes replaced.
 *
 * Example: a parent has 100 MiB and forks twice; it overwrites 80 MiB, forks twice again and overwrites 50 MiB. Each of the
 * 100 MiB has a common page, and the first two forks have 80 MiB more that they share: 180 MiB are common. The parent's 50 MiB
 * since its last fork are exclusive, and its last forks keep the pages from before.
 */
int64_t memory_left_to_forks_kib(const struct process_tree *tree, const struct member *member,
				 int64_t exclusive_kib)
{
	const struct fork_window *forks = &member->memory.forks;
	int64_t own_kib, all_kib;

	if (!member->memory.fork_count || !forks->is_known)
		return 0;
	if (!member->memory.is_forked)
		return memory_pages_to_kib(
			tree,
			max_i64(0, forks->faults_last - forks->faults_living - member->memory.shared_pages -
					   max_i64(0, forks->anon_last - forks->anon_living) -
					   (forks->passing_last - forks->passing_living)));
	/*
	 * Pages of shared memory are faulted in as well. A huge page takes one fault for many pages, but makes the
	 * process larger than the memory from its parent.
	 */
	own_kib = memory_pages_to_kib(tree, max_i64(forks->faults_last - member->memory.shared_pages,
						    forks->anon_last - member->memory.inherited_pages));
	all_kib = max_i64(own_kib, memory_pages_to_kib(tree, member->memory.faults));
	return max_i64(0, min_i64(own_kib, all_kib - exclusive_kib));
}

/*
 * Exclusive pages of a member that it did not fault in itself since its last fork, or since it was forked: all others that had
 * them have replaced them or exited.
 */
static int64_t alone_kib(const struct process_tree *tree, const struct member *member, int64_t exclusive_kib)
{
	const struct fork_window *forks = &member->memory.forks;
	int64_t anon_kib = member_anon_kib(tree, member), own_kib = anon_kib;

	if (member->memory.is_forked)
		own_kib = max_i64(memory_pages_to_kib(tree, member->memory.faults),
				  anon_kib - member_inherited_kib(tree, member));
	else if (member->memory.fork_count && forks->is_known)
		own_kib = max_i64(memory_pages_to_kib(tree, member->memory.faults - forks->faults_last),
				  anon_kib - memory_pages_to_kib(tree, forks->anon_last));
	return max_i64(0, exclusive_kib - own_kib);
}

/*
 * A common page for each address, and those that were left to forks, less those that one process has alone by now. At an
 * address without a common page there may be one of the latter, which the number of addresses leaves out already.
 */
static int64_t common_by_faults_kib(const struct memory_families *families,
				    const struct memory_family *family, const struct process_tree *tree,
				    int64_t addresses_kib, int64_t now_ns, int64_t *ret_left_kib)
{
	int64_t left_kib = 0, all_alone_kib = 0, without_common_kib = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);
		int64_t exclusive_kib = member_is_read(family, member, now_ns)
						? member_exclusive_kib(tree, family, member)
						: 0;

		if (!member->memory.is_forked && member->memory.fork_count && member->memory.forks.is_known)
			without_common_kib = max_i64(
				0, memory_pages_to_kib(tree, member->memory.forks.anon_last) - addresses_kib);
		left_kib += memory_left_to_forks_kib(tree, member, exclusive_kib);
		all_alone_kib += alone_kib(tree, member, exclusive_kib);
	}
	*ret_left_kib = left_kib;
	return addresses_kib + left_kib - max_i64(0, all_alone_kib - without_common_kib);
}

/* Sampled addresses at which any member has common pages, and the pages that can be there. */
struct union_counts {
	size_t addresses;
	size_t pages;      /* distinguished by their frames, or by the origin of their users */
	size_t pages_most; /* if each has two users */
	bool frames_are_seen;
	bool has_strangers; /* orphans of unknown origin */
};

/*
 * The process outside the family that forked a member or its first ancestor in it; 0: none, or unknown. Such a process has
 * called exec or exited since. Its forks share the pages that it took before, and no other members have them.
 */
static pid_t origin_of(const struct process_tree *tree, const struct member *member, bool *ret_is_stranger)
{
	for (size_t i = 0; member->memory.is_forked && i < tree->count; i++) {
		const struct member *parent = process_tree_find(tree, member->parent_pid);

		if (parent && parent->memory.family == member->memory.family && !parent->is_zombie) {
			member = parent;
			continue;
		}
		*ret_is_stranger |= !member->memory.forked_by;
		return member->memory.passes_on ? 0 : member->memory.forked_by;
	}
	return 0;
}

static struct union_counts count_union(struct memory_families *families, const struct memory_family *family,
				       const struct process_tree *tree, unsigned level, int64_t now_ns)
{
	struct union_counts counts = {0};
	struct page_places *places = &families->places;

	bool common_to_all = false;

	places->count = 0;
	places->level = level;
	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);
		uint64_t origin;

		if (!member_is_read(family, member, now_ns))
			continue;
		origin = (uint64_t)origin_of(tree, member, &counts.has_strangers);
		for (size_t j = 0; j < member->memory.reading->common.count; j++) {
			const struct page_place *place = &member->memory.reading->common.at[j];

			if (!page_is_sampled(level, place->page))
				continue;
			counts.frames_are_seen |= place->space != 0;
			(void)page_places_add(places, place->page, place->space ? place->space : origin);
		}
	}
	page_places_sort(places);
	for (size_t i = 0, users = 0; i < places->count; i++) {
		bool new_address = !i || places->at[i].space != places->at[i - 1].space;
		bool new_page = new_address || places->at[i].page != places->at[i - 1].page;

		users = new_address ? 1 : users + 1;
		counts.addresses += new_address;
		/* A page that the first process of the family has as well was there before any other. */
		common_to_all = new_address ? !places->at[i].page : common_to_all;
		counts.pages += new_page && (new_address || !common_to_all);
		counts.pages_most += users == 1 || (users > 2 && users % 2 == 0);
	}
	return counts;
}

/* Scales the union by the member with the most common pages, whose resident set is known exactly. */
void memory_union_measure(struct memory_families *families, struct memory_family *family,
			  const struct process_tree *tree, int64_t now_ns)
{
	const struct memory_reading *largest = NULL;
	struct union_counts counts;
	unsigned level = 0;
	uint64_t version = family->count * 2 + family->has_orphans;
	double kib_per_page;
	size_t of_largest;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (!member_is_read(family, member, now_ns))
			continue;
		version = version * 31 + (uint64_t)member->memory.reading->taken_ns + (uint64_t)member->pid;
		if (member->memory.reading->common.level > level)
			level = member->memory.reading->common.level;
		if (!largest || member->memory.reading->common_kib > largest->common_kib)
			largest = member->memory.reading;
	}
	if (!largest || family->union_of == version)
		return;
	family->union_of = version;
	of_largest = page_places_count_at(&largest->common, level);
	counts = count_union(families, family, tree, level, now_ns);
	kib_per_page = of_largest ? (double)largest->common_kib / (double)of_largest : 0;
	family->union_kib = (int64_t)((double)counts.pages * kib_per_page);
	family->union_doubt_kib = family->union_spread_kib = 0;
	family->union_variance = 0;
	if (level && counts.pages > of_largest)
		family->union_variance = (double)(counts.pages - of_largest) * kib_per_page * kib_per_page;
	if (!counts.frames_are_seen) {
		int64_t pages_most_kib = (int64_t)((double)counts.pages_most * kib_per_page);
		int64_t least_kib = (int64_t)((double)counts.addresses * kib_per_page), left_kib;
		int64_t by_faults_kib =
			common_by_faults_kib(families, family, tree, family->union_kib, now_ns, &left_kib);

		left_kib += counts.has_strangers ? pages_most_kib : family->union_kib - least_kib;
		family->union_kib = max_i64(family->union_kib, min_i64(pages_most_kib, by_faults_kib));
		family->union_spread_kib = pages_most_kib - least_kib;
		if (family->is_ambiguous)
			family->union_doubt_kib = max_i64(0, min_i64(left_kib, family->union_spread_kib));
	}
}
