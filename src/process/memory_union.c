/* The union of the pages that the members of a family share; see memory_union.h. */
#include "process/memory_union.h"

#include "base/min_max.h"
#include "process/memory_member.h"

/*
 * One page per address is too few if a process wrote between two forks, or before it was forked in turn: its children
 * then have another page there than their siblings or cousins. Readers with CAP_SYS_ADMIN see page frames, which
 * distinguish such pages. Other readers know how many pages the forking processes replaced.
 *
 * Example: a parent has 100 MiB and forks twice; it overwrites 80 MiB, forks twice again and overwrites 50 MiB. Common
 * are 100 MiB of the first pages and 30 MiB of those written in between: the parent has faulted in 130 MiB since its
 * first fork, and 50 MiB of them are exclusive. The addresses alone show 100 MiB.
 */
int64_t memory_left_to_forks_kib(const struct process_tree *tree, const struct member *member,
				 int64_t exclusive_kib)
{
	const struct fork_window *forks = &member->forks;
	int64_t own_kib, all_kib;

	if (!member->fork_count || !forks->is_known)
		return 0;
	if (!member->is_forked)
		return memory_pages_to_kib(
			tree, max_i64(0, forks->faults_last - forks->faults_first - member->shared_pages -
						 max_i64(0, forks->anon_last - forks->anon_first)));
	/*
	 * Pages of shared memory are faulted in as well. A huge page takes one fault for many pages, but makes the
	 * process larger than the memory from its parent.
	 */
	own_kib = memory_pages_to_kib(tree, max_i64(forks->faults_last - member->shared_pages,
						    forks->anon_last - member->inherited_pages));
	all_kib = max_i64(own_kib, memory_pages_to_kib(tree, member->faults));
	return max_i64(0, min_i64(own_kib, all_kib - exclusive_kib));
}

static int64_t common_by_faults_kib(const struct memory_families *families,
				    const struct memory_family *family, const struct process_tree *tree,
				    int64_t now_ns)
{
	int64_t sum_kib = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);
		int64_t exclusive_kib =
			member_is_read(family, member, now_ns) ? member_exclusive_kib(tree, member) : 0;

		if (!member->is_forked)
			sum_kib += member_anon_kib(tree, member) - exclusive_kib;
		sum_kib += memory_left_to_forks_kib(tree, member, exclusive_kib);
	}
	return sum_kib;
}

/* Sampled addresses at which any member has common pages, and the most pages that can be there. */
struct union_counts {
	size_t addresses;
	size_t pages;      /* distinguished by their frames */
	size_t pages_most; /* if each has two users */
	bool frames_are_seen;
};

static struct union_counts count_union(struct memory_families *families, const struct memory_family *family,
				       const struct process_tree *tree, unsigned level, int64_t now_ns)
{
	struct union_counts counts = {0};
	struct page_places *places = &families->places;

	places->count = 0;
	places->level = level;
	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (!member_is_read(family, member, now_ns))
			continue;
		for (size_t j = 0; j < member->reading->common.count; j++) {
			const struct page_place *place = &member->reading->common.at[j];

			if (!page_is_sampled(level, place->page))
				continue;
			counts.frames_are_seen |= place->space != 0;
			(void)page_places_add(places, place->page, place->space);
		}
	}
	page_places_sort(places);
	for (size_t i = 0, users = 0; i < places->count; i++) {
		bool new_address = !i || places->at[i].space != places->at[i - 1].space;

		users = new_address ? 1 : users + 1;
		counts.addresses += new_address;
		counts.pages += new_address || places->at[i].page != places->at[i - 1].page;
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
	uint64_t version = family->count;
	double kib_per_page;
	size_t of_largest;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (!member_is_read(family, member, now_ns))
			continue;
		version = version * 31 + (uint64_t)member->reading->taken_ns + (uint64_t)member->pid;
		if (member->reading->common.level > level)
			level = member->reading->common.level;
		if (!largest || member->reading->common_kib > largest->common_kib)
			largest = member->reading;
	}
	if (!largest || family->union_of == version)
		return;
	family->union_of = version;
	of_largest = page_places_count_at(&largest->common, level);
	counts = count_union(families, family, tree, level, now_ns);
	kib_per_page = of_largest ? (double)largest->common_kib / (double)of_largest : 0;
	family->union_kib = (int64_t)((double)counts.addresses * kib_per_page);
	family->union_variance = 0;
	if (level && counts.pages > of_largest)
		family->union_variance = (double)(counts.pages - of_largest) * kib_per_page * kib_per_page;
	if (counts.frames_are_seen) {
		family->union_kib = (int64_t)((double)counts.pages * kib_per_page);
	} else {
		int64_t by_faults_kib = common_by_faults_kib(families, family, tree, now_ns);
		int64_t pages_most_kib = (int64_t)((double)counts.pages_most * kib_per_page);

		family->union_kib = max_i64(family->union_kib, min_i64(pages_most_kib, by_faults_kib));
	}
}
