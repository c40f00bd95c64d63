/* Memory that members share since a fork. See memory_family.h. */
#include "job/memory/memory_family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "job/memory/memory_tuning.h"

struct member *memory_family_member(const struct memory_families *families,
				    const struct memory_family *family, const struct process_tree *tree,
				    size_t i)
{
	return &tree->members[families->order[family->first + i]];
}

/* Its parent, if that is a member of its family. */
static struct member *parent_in_family(const struct process_tree *tree, const struct member *member)
{
	struct member *parent = process_tree_find(tree, member->parent_pid);

	return parent && parent->memory.family == member->memory.family && !parent->is_zombie ? parent : NULL;
}

/* ---- one member of a family ------------------------------------------------------------------------------------- */

bool member_is_read(const struct memory_family *family, const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->memory.reading;

	if (!member_has_reading(member, now_ns))
		return false;
	if (family->count == 1)
		return true;
	return reading->has_anon && family->sampled == (reading->kind == READING_SAMPLED);
}

/*
 * If a family has many members, each sample reads one or two of them. Common pages that the others replaced meanwhile do
 * not change their resident sets. The readings of the family show which part of the faulted pages were such pages.
 */
static int64_t replaced_since_kib(const struct process_tree *tree, const struct memory_family *family,
				  const struct member *member)
{
	const struct memory_reading *reading = member->memory.reading;
	double faulted_kib = (double)member_faulted_kib(tree, member, reading);

	if (reading->kind != READING_SAMPLED || family->count <= 1 || family->faulted_kib <= 0)
		return 0;
	return min_i64(reading->common_kib,
		       (int64_t)(faulted_kib * family->replaced_kib / family->faulted_kib));
}

/*
 * Common pages of the last reading that are its own now, because its forks have ended since. An orphan may have them as well. Sampled
 * pages count once for each address, so that only a new reading tells them.
 */
static int64_t left_since_kib(const struct process_tree *tree, const struct memory_family *family,
			      const struct member *member)
{
	return family->count > 1 && !family->has_orphans && !member->memory.fork_count &&
			       member->memory.reading->kind == READING_ROLLUP
		       ? member_left_by_forks_kib(tree, member)
		       : 0;
}

int64_t member_exclusive_kib(const struct process_tree *tree, const struct memory_family *family,
			     const struct member *member)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t now_kib = member_anon_kib(tree, member), then_kib = reading->statm_anon_kib;
	int64_t exclusive_kib = reading->exclusive_kib + left_since_kib(tree, family, member);

	if (now_kib >= then_kib)
		return exclusive_kib + (now_kib - then_kib) + replaced_since_kib(tree, family, member);
	return then_kib ? (int64_t)((double)exclusive_kib * (double)now_kib / (double)then_kib) : 0;
}

int64_t member_private_kib(const struct process_tree *tree, const struct memory_family *family,
			   const struct member *member, int64_t now_ns)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t anon_kib = member_anon_kib(tree, member);

	if (!member_is_read(family, member, now_ns))
		return family->count == 1 ? anon_kib : -1;
	if (family->count > 1)
		return reading->private_kib + member_exclusive_kib(tree, family, member) -
		       reading->exclusive_kib;
	/* Relatives have exited: pages that it shared with them are its own now. */
	if (reading->kind == READING_SAMPLED || reading->family_size > 1)
		return anon_kib + (reading->kind == READING_SAMPLED ? reading->file_kib : 0);
	return max_i64(0, reading->private_kib + anon_kib - reading->statm_anon_kib);
}

/*
 * One page per address is too few if a process wrote between two forks, or before it was forked in turn: its children
 * then have another page there than their siblings or cousins. Readers with CAP_SYS_ADMIN see page frames, which
 * distinguish such pages. Other readers know how many pages the forking processes replaced.
 *
 * Example: a parent has 100 MiB and forks twice. It overwrites 80 MiB, forks twice again and overwrites 50 MiB. Each of the
 * 100 MiB has a common page, and the first two forks have 80 MiB more that they share: 180 MiB are common. The parent's 50 MiB
 * since its last fork are exclusive, and its last forks keep the pages from before.
 */
static int64_t left_to_forks_kib(const struct process_tree *tree, const struct member *member,
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

/* ---- grouping ---------------------------------------------------------------------------------------------- */

void memory_families_done(struct memory_families *families)
{
	free(families->at);
	free(families->order);
	free(families->slots);
	page_places_done(&families->places);
	*families = (struct memory_families){0};
}

static size_t family_slot(const struct memory_families *families, uint64_t id)
{
	size_t slot = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (families->slot_count - 1);

	while (families->slots[slot] && families->at[families->slots[slot] - 1].id != id)
		slot = (slot + 1) & (families->slot_count - 1);
	return slot;
}

static int reserve_family_members(struct memory_families *families, size_t members)
{
	size_t capacity = families->order_capacity ? families->order_capacity : 16;
	uint32_t *order, *slots;
	struct memory_family *at;

	if (members <= families->order_capacity)
		return 0;
	while (capacity < members)
		capacity *= 2;
	order = realloc(families->order, capacity * sizeof *order);
	if (!order)
		return -ENOMEM;
	families->order = order;
	at = realloc(families->at, capacity * 2 * sizeof *at);
	if (!at)
		return -ENOMEM;
	families->at = at;
	slots = realloc(families->slots, capacity * 4 * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	families->slots = slots;
	families->slot_count = capacity * 4;
	families->order_capacity = capacity;
	return 0;
}

static void index_families(struct memory_families *families)
{
	memset(families->slots, 0, families->slot_count * sizeof *families->slots);
	for (size_t i = 0; i < families->count; i++)
		families->slots[family_slot(families, families->at[i].id)] = (uint32_t)i + 1;
}

/* Drops families that have ended. The unions of the others stay usable. */
static void begin_again(struct memory_families *families)
{
	size_t kept = 0;

	for (size_t i = 0; i < families->count; i++) {
		struct memory_family *family = &families->at[i];

		if (!family->count)
			continue;
		family->count_before = family->count;
		family->was_ambiguous = family->is_ambiguous;
		memset(&family->first, 0,
		       offsetof(struct memory_family, count_before) - offsetof(struct memory_family, first));
		families->at[kept++] = *family;
	}
	families->count = kept;
	index_families(families);
}

static struct memory_family *family_of(struct memory_families *families, const struct member *member)
{
	size_t slot = family_slot(families, member->memory.family);

	if (!families->slots[slot]) {
		families->at[families->count++] =
			(struct memory_family){.id = member->memory.family, .own_part = 1};
		families->slots[slot] = (uint32_t)families->count;
	}
	return &families->at[families->slots[slot] - 1];
}

static void note_parent(struct process_tree *tree, const struct member *member, struct memory_family *family)
{
	struct member *parent = member->memory.is_forked ? parent_in_family(tree, member) : NULL;
	struct fork_window *forks;

	if (!parent) {
		family->has_orphans |= member->memory.is_forked;
		return;
	}
	forks = &parent->memory.forks;
	parent->memory.fork_count++;
	parent->memory.forks_anon_kib = max_i64(parent->memory.forks_anon_kib, member_anon_kib(tree, member));
	if (member->memory.parent_faults_before < 0)
		family->has_orphans = true;
	else if (member->memory.parent_faults_before < forks->faults_living) {
		forks->faults_living = member->memory.parent_faults_before;
		forks->anon_living = member->memory.parent_anon_before;
		forks->passing_living = member->memory.parent_passing_before;
	}
}

/*
 * Pages that a process replaced before its oldest living fork have no user any more, unless a fork of an earlier fork outlived
 * its parent.
 */
static void note_living_forks(struct memory_families *families, struct process_tree *tree)
{
	for (size_t i = 0; i < families->count; i++) {
		const struct memory_family *family = &families->at[i];

		for (size_t j = 0; j < family->count; j++) {
			struct fork_window *forks =
				&tree->members[families->order[family->first + j]].memory.forks;

			if (family->has_orphans || forks->faults_living < forks->faults_first) {
				forks->faults_living = forks->faults_first;
				forks->anon_living = forks->anon_first;
				forks->passing_living = 0;
			}
		}
	}
}

/*
 * Members may have different pages at one address if a process replaced pages between its forks, or if nothing tells how many,
 * because the process was not seen before its first fork, or has exited or called exec since.
 */
static bool may_differ_at_addresses(const struct memory_families *families,
				    const struct memory_family *family, const struct process_tree *tree)
{
	int64_t left_kib = 0;
	int64_t tolerated_kib = family->largest_kib / (family->was_ambiguous ? 2 * LEFT_PART : LEFT_PART);

	if (family->count < 2)
		return false;
	for (size_t i = 0; i < family->count && left_kib <= tolerated_kib; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (member->memory.fork_count && !member->memory.forks.is_known)
			return true;
		left_kib += left_to_forks_kib(tree, member, 0);
	}
	return family->has_orphans || left_kib > tolerated_kib;
}

static void begin_forks(struct member *member)
{
	member->memory.fork_count = 0;
	member->memory.forks_anon_kib = 0;
	member->memory.forks.faults_living = INT64_MAX;
}

/* Its pages are in no resident set any more, but until the kernel has freed them its relatives share them. */
static void note_leaving(struct memory_families *families, const struct member *member)
{
	size_t slot = family_slot(families, member->memory.family);

	if (member->memory.is_being_freed && !member->is_zombie && families->slots[slot])
		families->at[families->slots[slot] - 1].has_leaving = true;
}

int memory_families_build(struct memory_families *families, struct process_tree *tree)
{
	size_t next = 0;

	if (reserve_family_members(families, tree->count) < 0)
		return -ENOMEM;
	begin_again(families);
	for (size_t i = 0; i < tree->count; i++)
		begin_forks(&tree->members[i]);
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		struct memory_family *family;
		int64_t resident_kib = memory_pages_to_kib(tree, member->memory.resident_pages);

		if (!memory_is_counted(tree, member))
			continue;
		family = family_of(families, member);
		family->count++;
		family->largest_kib = max_i64(family->largest_kib, resident_kib);
		note_parent(tree, member, family);
	}
	for (size_t i = 0; i < families->count; i++) {
		families->at[i].first = next;
		next += families->at[i].count;
		families->at[i].count = 0;
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		struct memory_family *family;

		if (!memory_is_counted(tree, member)) {
			note_leaving(families, member);
			continue;
		}
		family = family_of(families, member);
		families->order[family->first + family->count++] = (uint32_t)i;
		family->is_changing |= member->seen_pass == tree->passes;
	}
	for (size_t i = 0; i < families->count; i++)
		families->at[i].is_changing |= families->at[i].count < families->at[i].count_before;
	note_living_forks(families, tree);
	for (size_t i = 0; i < families->count; i++)
		families->at[i].is_ambiguous = may_differ_at_addresses(families, &families->at[i], tree);
	return 0;
}

/* ---- the union of the pages that members share -------------------------------------------------------------------- */

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
		left_kib += left_to_forks_kib(tree, member, exclusive_kib);
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
 * The process outside the family that forked a member or its first ancestor in it. 0 means none, or unknown. Such a process has
 * called exec or exited since. Its forks share the pages that it took before, and no other members have them.
 */
static pid_t origin_of(const struct process_tree *tree, const struct member *member, bool *ret_is_stranger)
{
	for (size_t i = 0; member->memory.is_forked && i < tree->count; i++) {
		const struct member *parent = parent_in_family(tree, member);

		if (parent) {
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
static void measure_union(struct memory_families *families, struct memory_family *family,
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
	family->union_apart_kib =
		max_i64(0, (int64_t)((double)counts.addresses * kib_per_page) - largest->common_kib);
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

/* ---- figures --------------------------------------------------------------------------------------------------- */

/* Sums over the members of a family. "leaf": forked members, the only ones that resemble each other. */
struct family_sums {
	int64_t exclusive_kib;
	int64_t private_kib;
	int64_t share_kib;
	double leaf_exclusive_kib;
	double leaf_bound_kib;
	double leaf_beyond_kib; /* exclusive pages less the bound */
	double leaf_share_kib;
	double leaf_squares[3]; /* exclusive, exclusive * bound, bound */
	size_t leaves;
	double variance;
};

static void add_read(struct family_sums *sums, const struct process_tree *tree,
		     const struct memory_family *family, const struct member *member)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t exclusive_kib = member_exclusive_kib(tree, family, member);
	double leaf_kib = (double)min_i64(exclusive_kib, member_bound_kib(tree, member));
	double bound_kib = (double)member_bound_kib(tree, member);
	/* The rollup divided common pages by the users at that time: divide by the present users. */
	double share_kib =
		(double)reading->common_share_kib * (double)reading->family_size / (double)family->count;

	if (reading->family_size <= 1)
		share_kib = (double)reading->common_share_kib;
	if (reading->common_kib > 0)
		share_kib -= share_kib * (double)left_since_kib(tree, family, member) /
			     (double)reading->common_kib;
	sums->exclusive_kib += exclusive_kib;
	sums->private_kib += reading->private_kib + exclusive_kib - reading->exclusive_kib;
	sums->share_kib += (int64_t)share_kib;
	sums->variance += reading->variance;
	if (!member->memory.is_forked)
		return;
	sums->leaves++;
	/* More than it can have faulted in, it has inherited alone, which tells nothing about its siblings. */
	sums->leaf_exclusive_kib += leaf_kib;
	sums->leaf_bound_kib += bound_kib;
	sums->leaf_beyond_kib += (double)exclusive_kib - bound_kib;
	sums->leaf_squares[0] += leaf_kib * leaf_kib;
	sums->leaf_squares[1] += leaf_kib * bound_kib;
	sums->leaf_squares[2] += bound_kib * bound_kib;
	sums->leaf_share_kib += share_kib;
}

/* No member was read: bounds all by page faults (memory of the first one, own pages of the others). */
static struct family_memory measure_by_bound(struct memory_families *families,
					     const struct memory_family *family,
					     const struct process_tree *tree)
{
	int64_t own_kib = 0, common_kib = 0;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);
		int64_t bound_kib = member_bound_kib(tree, member);

		if (member->memory.is_forked) {
			own_kib += bound_kib;
			common_kib = max_i64(common_kib, member_anon_kib(tree, member) - bound_kib);
		} else {
			common_kib = max_i64(common_kib, bound_kib);
			own_kib += left_to_forks_kib(tree, member, 0);
		}
	}
	return (struct family_memory){
		.anon_kib = own_kib + common_kib, .private_kib = own_kib, .unread_kib = own_kib + common_kib};
}

/* A family of one: its anonymous memory is its own, and statm says how much it is. */
static struct family_memory measure_alone(const struct process_tree *tree, const struct memory_family *family,
					  const struct member *member, int64_t now_ns)
{
	int64_t anon_kib = member_anon_kib(tree, member);
	const struct memory_reading *reading = member->memory.reading;
	struct family_memory found = {
		.anon_kib = anon_kib,
		.private_kib = member_private_kib(tree, family, member, now_ns),
	};

	if (member_is_read(family, member, now_ns) && reading->kind == READING_ROLLUP &&
	    reading->family_size == 1 && reading->is_settled)
		found.anon_kib = max_i64(0, reading->exclusive_kib + reading->common_share_kib + anon_kib -
						    reading->statm_anon_kib);
	return found;
}

/* An upper limit of a family's memory, from the page faults of its members. */
struct family_limit {
	int64_t own_kib;   /* of forks: pages faulted in since each was forked */
	int64_t rest_kib;  /* the largest rest of one fork, which came from its parent */
	int64_t first_kib; /* of the process from which all descend: its memory now */
	int64_t grown_kib; /* its memory before its first fork, plus its faults since */

	/* The largest rest of one fork of each parent that has exited or called exec. */
	struct {
		pid_t parent_pid;
		int64_t rest_kib;
	} origins[ORIGINS];
	size_t origin_count; /* ORIGINS + 1: too many */
	/* Pages that forks seem to have without faults. A member that exits while others are read makes them seem so as well. */
	int64_t unexplained_kib;
};

static void limit_orphan(const struct member *member, int64_t rest_kib, struct family_limit *limit)
{
	size_t i = 0;

	while (i < limit->origin_count && i < ORIGINS &&
	       limit->origins[i].parent_pid != member->memory.forked_by)
		i++;
	if (i >= ORIGINS) {
		limit->origin_count = ORIGINS + 1;
		return;
	}
	if (i == limit->origin_count)
		limit->origins[limit->origin_count++].parent_pid = member->memory.forked_by;
	limit->origins[i].rest_kib = max_i64(limit->origins[i].rest_kib, rest_kib);
}

/* The own pages of a fork that was not read. */
static int64_t assumed_kib(const struct process_tree *tree, const struct memory_family *family,
			   const struct member *member)
{
	return min_i64((int64_t)((double)member_bound_kib(tree, member) * family->own_part),
		       member_anon_kib(tree, member));
}

static void limit_fork(const struct process_tree *tree, const struct memory_family *family,
		       const struct member *member, int64_t now_ns, struct family_limit *limit)
{
	const struct memory_reading *reading = member->memory.reading;
	int64_t anon_kib = member_anon_kib(tree, member),
		own_kib = memory_pages_to_kib(tree, member->memory.faults);
	bool is_read = member_is_read(family, member, now_ns), has_huge = tree->memory.huge_kib;
	int64_t exclusive_kib =
		is_read ? member_exclusive_kib(tree, family, member) : assumed_kib(tree, family, member);
	int64_t certain_kib = is_read ? exclusive_kib : 0, rest_kib;

	/* Pages that it did not inherit are its own, if no forks share them. Its parent may have freed what it inherited. */
	if (!is_read || !has_huge || member->memory.fork_count)
		own_kib = max_i64(own_kib, anon_kib - member_inherited_kib(tree, member));
	if ((!is_read || !has_huge) && member_may_have_huge_pages(member))
		own_kib = anon_kib;
	/* Others may have written its pages, or the kernel copied them, without a fault of its own: its own until it forks. */
	if (is_read && !has_huge && reading->taken_ns >= now_ns &&
	    (!tree->memory.suspect_ns || family->is_changing))
		certain_kib = min_i64(exclusive_kib, reading->exclusive_before_kib);
	if (has_huge || !member->memory.fork_count)
		own_kib = max_i64(own_kib, certain_kib);
	limit->unexplained_kib += max_i64(0, exclusive_kib - own_kib);
	rest_kib = max_i64(0, anon_kib - own_kib);

	/* Pages that it has freed may live on in its own forks. */
	limit->own_kib += member->memory.fork_count ? own_kib : min_i64(own_kib, anon_kib);
	if (parent_in_family(tree, member))
		limit->rest_kib = max_i64(limit->rest_kib, rest_kib);
	else
		limit_orphan(member, rest_kib, limit);
}

/*
 * The most that a family can have. If a member exits while others are read, a page that it shared with a sibling may be
 * common in one reading and exclusive in the other. `in_motion`: members were read, started or exited in this tick.
 */
static int64_t limit_kib(const struct memory_families *families, const struct memory_family *family,
			 const struct process_tree *tree, int64_t now_ns, bool in_motion,
			 int64_t *ret_unexplained_kib)
{
	struct family_limit limit = {.grown_kib = INT64_MAX};
	int64_t base_kib;

	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);
		const struct fork_window *forks = &member->memory.forks;

		if (member->memory.is_forked) {
			limit_fork(tree, family, member, now_ns, &limit);
			continue;
		}
		limit.first_kib = member_anon_kib(tree, member) + left_to_forks_kib(tree, member, 0);
		if (forks->is_known)
			limit.grown_kib =
				max_i64(member_anon_kib(tree, member),
					memory_pages_to_kib(tree, forks->anon_first + member->memory.faults -
									  forks->faults_first));
	}
	*ret_unexplained_kib = limit.unexplained_kib;
	/* The pages that a process replaced before it left the family are unknown. */
	if (limit.origin_count > ORIGINS ||
	    (!in_motion && (limit.origin_count || limit.grown_kib == INT64_MAX)))
		return INT64_MAX;
	base_kib = min_i64(limit.grown_kib, limit.first_kib + limit.rest_kib);
	for (size_t i = 0; i < limit.origin_count; i++)
		base_kib += limit.origins[i].rest_kib;
	return base_kib + limit.own_kib;
}

/*
 * Huge pages take one fault for many pages, and one that a process moved (mremap) has two addresses in the family, so that its
 * sampled pages count twice. Then the limit is likely, not certain: the rest is in doubt.
 */
static void apply_limit(struct family_memory *found, const struct memory_families *families,
			const struct memory_family *family, const struct process_tree *tree, int64_t now_ns,
			bool in_motion)
{
	int64_t unexplained_kib;
	int64_t over_kib =
		found->anon_kib - limit_kib(families, family, tree, now_ns, in_motion, &unexplained_kib);

	if (over_kib <= 0)
		return;
	found->anon_kib -= over_kib;
	found->over_kib = tree->memory.huge_kib ? over_kib : min_i64(over_kib, unexplained_kib);
	found->doubt_kib += found->over_kib;
}

/* How far the siblings that were read are from their common part, which the others are assumed to have. */
static double variance_of_unread(const struct family_sums *sums, double own_part, double unread)
{
	double squares = sums->leaf_squares[0] - 2 * own_part * sums->leaf_squares[1] +
			 own_part * own_part * sums->leaf_squares[2];

	if (sums->leaves < 2 || squares <= 0)
		return 0;
	return squares / (double)(sums->leaves - 1) * (unread + unread * unread / (double)sums->leaves);
}

/* Unread members: one that called exec has its memory minus the common pages, others resemble siblings. */
static void add_unread(struct family_memory *found, const struct family_sums *sums, int64_t common_kib,
		       const struct process_tree *tree, const struct memory_family *family,
		       const struct member *member)
{
	int64_t exclusive_kib = member->memory.is_forked
					? assumed_kib(tree, family, member)
					: max_i64(0, member_anon_kib(tree, member) - common_kib);
	found->anon_kib += exclusive_kib;
	found->private_kib += exclusive_kib;
	if (!family->sampled && sums->leaves && member->memory.is_forked)
		found->anon_kib += (int64_t)(sums->leaf_share_kib / (double)sums->leaves);
	found->extrapolated = true;
}

struct family_memory memory_family_measure(struct memory_families *families, struct memory_family *family,
					   struct process_tree *tree, int64_t now_ns)
{
	struct family_memory found = {0};
	struct family_sums sums = {0};
	int64_t common_kib;
	bool in_motion = family->is_changing;

	family->read = 0;
	for (size_t i = 0; i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (!member_is_read(family, member, now_ns))
			continue;
		family->read++;
		in_motion |= member->memory.reading->taken_ns >= now_ns;
		if (family->count > 1)
			add_read(&sums, tree, family, member);
	}
	if (sums.leaf_bound_kib > 0)
		family->own_part = sums.leaf_exclusive_kib / sums.leaf_bound_kib;
	if (family->count == 1)
		return measure_alone(tree, family, memory_family_member(families, family, tree, 0), now_ns);
	if (!family->read)
		return measure_by_bound(families, family, tree);
	common_kib = sums.share_kib;
	if (family->sampled) {
		measure_union(families, family, tree, now_ns);
		common_kib = family->union_kib;
		sums.variance += family->union_variance;
		found.doubt_kib = family->union_doubt_kib;
	}
	found.anon_kib = sums.exclusive_kib + common_kib;
	found.private_kib = sums.private_kib;
	found.variance = sums.variance +
			 variance_of_unread(&sums, family->own_part, (double)(family->count - family->read));
	for (size_t i = 0; family->read < family->count && i < family->count; i++) {
		const struct member *member = memory_family_member(families, family, tree, i);

		if (!member_is_read(family, member, now_ns))
			add_unread(&found, &sums, common_kib, tree, family, member);
	}
	/* If the siblings have more pages than they faulted in, the others may have as many. */
	if (sums.leaf_beyond_kib > 0)
		found.doubt_kib += (int64_t)(sums.leaf_beyond_kib / (double)sums.leaves *
					     (double)(family->count - family->read));
	apply_limit(&found, families, family, tree, now_ns, in_motion);
	return found;
}
