/* Tests of src/job/memory/memory_family.c: the total memory of a family of forks, on trees made by the test. */
#include <stdlib.h>
#include <string.h>

#include "job/memory/memory_family.h"
#include "job/tree/process_tree.h"
#include "unit.h"

enum { MIB_PAGES = 256, MIB_KIB = 1024, MEMBERS = 40, SLOTS = 128, FIRST_PID = 100, PAGES_LEVEL = 4 };
#define NOW_NS INT64_C(50000000000)
#define BEFORE_NS (NOW_NS - INT64_C(1000000000))

static struct root root = {.page_bytes = 4096};
static struct member members[MEMBERS];
static struct memory_reading readings[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;
static struct memory_families families;

static int begin(void **unused)
{
	(void)unused;
	memset(members, 0, sizeof members);
	memset(readings, 0, sizeof readings);
	memset(slots, 0, sizeof slots);
	tree = (struct process_tree){
		.root = &root, .members = members, .slots = slots, .slot_count = SLOTS, .passes = 5};
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < MEMBERS; i++) {
		page_places_done(&readings[i].common);
		page_places_done(&readings[i].files);
	}
	memory_families_done(&families);
	return 0;
}

/* Adds a process that called exec, with `mib` of anonymous memory. */
static struct member *add(pid_t parent_pid, int64_t mib)
{
	struct member *member = &members[tree.count];
	size_t slot;

	*member = (struct member){.pid = FIRST_PID + (pid_t)tree.count,
				  .parent_pid = parent_pid,
				  .memory.resident_pages = mib * MIB_PAGES,
				  .memory.faults = mib * MIB_PAGES,
				  .memory.family = tree.count + 1};
	slot = (size_t)((uint32_t)member->pid * UINT32_C(2654435769)) & (SLOTS - 1);
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)++tree.count;
	return member;
}

/* Adds a fork of `parent` that has written `own_mib` of its memory. */
static struct member *add_fork(const struct member *parent, int64_t mib, int64_t own_mib)
{
	struct member *member = add(parent->pid, mib);

	member->memory.is_forked = true;
	member->memory.family = parent->memory.family;
	member->memory.inherited_pages = parent->memory.resident_pages;
	member->memory.parent_faults = parent->memory.faults;
	member->memory.faults = own_mib * MIB_PAGES;
	return member;
}

static struct memory_reading *read_as(struct member *member, enum memory_reading_kind kind,
				      int64_t exclusive_mib, int64_t family_size, int64_t taken_ns)
{
	struct memory_reading *reading = &readings[member - members];
	int64_t anon_kib = member_anon_kib(&tree, member);

	/* It may be read again. */
	page_places_done(&reading->common);
	*reading = (struct memory_reading){.kind = kind,
					   .has_anon = true,
					   .is_settled = true,
					   .taken_ns = taken_ns,
					   .statm_anon_kib = anon_kib,
					   .family_size = (size_t)family_size,
					   .anon_kib = anon_kib,
					   .exclusive_kib = exclusive_mib * MIB_KIB,
					   .private_kib = exclusive_mib * MIB_KIB};
	reading->common_kib = anon_kib - reading->exclusive_kib;
	reading->common_share_kib = reading->common_kib / family_size;
	member->memory.reading = reading;
	return reading;
}

/* Its shared pages are those of `mib` from an address on. */
static void sample(struct member *member, int64_t exclusive_mib, int64_t from_mib, int64_t mib,
		   int64_t taken_ns)
{
	struct memory_reading *reading = read_as(member, READING_SAMPLED, exclusive_mib, 1, taken_ns);

	reading->common.level = PAGES_LEVEL;
	for (int64_t page = from_mib * MIB_PAGES; page < (from_mib + mib) * MIB_PAGES;
	     page += 1 << PAGES_LEVEL)
		assert_true(page_places_add(&reading->common, 0,
					    page_sample_at(PAGES_LEVEL, (uint64_t)page >> PAGES_LEVEL)));
}

static struct memory_family *family_of(const struct member *member)
{
	for (size_t i = 0; i < families.count; i++)
		if (families.at[i].id == member->memory.family)
			return &families.at[i];
	fail();
	return NULL;
}

static struct family_memory measure_way(const struct member *member, bool sampled)
{
	assert_int_equal(memory_families_build(&families, &tree), 0);
	family_of(member)->sampled = sampled;
	return memory_family_measure(&families, family_of(member), &tree, NOW_NS);
}

static int64_t told_mib(const struct member *member, bool sampled)
{
	return (measure_way(member, sampled).anon_kib + MIB_KIB / 2) / MIB_KIB;
}

static void a_process_alone_has_its_resident_set(void **unused)
{
	struct member *one = add(1, 100);

	(void)unused;
	assert_int_equal(told_mib(one, false), 100);
	/* 30 MiB of it belong to a parent that is not a member. */
	read_as(one, READING_ROLLUP, 70, 1, BEFORE_NS)->common_share_kib = 0;
	assert_int_equal(told_mib(one, false), 70);
	one->memory.resident_pages += 10 * MIB_PAGES;
	assert_int_equal(told_mib(one, false), 80);
}

static void private_pages_of_one_process_need_no_sample(void **unused)
{
	struct member *one = add(1, 100);
	struct memory_reading *reading = read_as(one, READING_SAMPLED, 0, 1, BEFORE_NS);

	(void)unused;
	reading->has_anon = false;
	reading->file_kib = reading->private_kib = 5 * MIB_KIB;
	assert_int_equal(measure_way(one, true).private_kib, 105 * MIB_KIB);
	assert_int_equal(member_private_kib(&tree, family_of(one), one, NOW_NS), 105 * MIB_KIB);
}

static void unread_forks_have_their_faulted_pages(void **unused)
{
	struct member *parent = add(1, 300);

	(void)unused;
	for (int i = 0; i < 4; i++)
		add_fork(parent, 300, 5);
	assert_int_equal(told_mib(parent, true), 320);
	assert_true(measure_way(parent, true).unread_kib > 0);
	assert_int_equal(member_private_kib(&tree, family_of(parent), parent, NOW_NS), -1);
}

static void pages_that_a_parent_replaced_are_left_to_its_forks_together(void **unused)
{
	struct member *parent = add(1, 300);

	(void)unused;
	for (int i = 0; i < 4; i++)
		add_fork(parent, 300, 5);
	parent->memory.faults += 100 * MIB_PAGES;
	/* 300 of the parent, 100 that it replaced, 5 of each fork. */
	assert_int_equal(told_mib(parent, true), 420);
}

static void shares_of_forks_add_up(void **unused)
{
	struct member *parent = add(1, 300);

	(void)unused;
	for (int i = 0; i < 3; i++)
		read_as(add_fork(parent, 300, 10), READING_ROLLUP, 10, 4, BEFORE_NS);
	read_as(parent, READING_ROLLUP, 10, 4, BEFORE_NS);
	/* 290 shared, 10 private to each. */
	assert_int_equal(told_mib(parent, false), 330);
	assert_int_equal(measure_way(parent, false).private_kib, 40 * MIB_KIB);
}

/* Its forks have ended, and there was no time to read it again. */
static void pages_that_ended_forks_shared_are_its_own(void **unused)
{
	struct member *first = add(1, 10), *parent = add_fork(first, 50, 40);

	(void)unused;
	read_as(first, READING_ROLLUP, 0, 4, BEFORE_NS);
	read_as(parent, READING_ROLLUP, 0, 4, BEFORE_NS)->forks_anon_kib = 50 * MIB_KIB;
	assert_int_equal(told_mib(first, false), 50);
	/* While one lives, it has them as well. */
	read_as(add_fork(parent, 50, 0), READING_ROLLUP, 0, 4, BEFORE_NS);
	assert_true(told_mib(first, false) < 50);
}

static void common_pages_at_one_address_count_once(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 0),
		      *other = add_fork(parent, 200, 0);

	(void)unused;
	/* One of them has overwritten the first half. */
	one->memory.faults = 100 * MIB_PAGES;
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(one, 100, 100, 100, BEFORE_NS);
	sample(other, 0, 0, 200, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 300);
}

static void a_fork_that_was_not_read_is_like_its_siblings(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 20);

	(void)unused;
	add_fork(parent, 200, 20);
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(one, 10, 10, 190, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 220);
	assert_true(measure_way(parent, true).extrapolated);
}

static void new_forks_are_like_those_before_them(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 20);

	(void)unused;
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(one, 5, 5, 195, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 205);
	/* Another one has taken its place and was not read: a quarter of what it faulted in is its own as well. */
	one->memory.reading = NULL;
	one->memory.faults = 40 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 210);
}

static void a_sibling_that_ends_while_they_are_read_is_not_counted_twice(void **unused)
{
	struct member *parent = add(1, 1), *one = add_fork(parent, 200, 0), *other = add_fork(parent, 200, 0);

	(void)unused;
	/* The parent, which had the memory, has called exec. */
	one->memory.inherited_pages = other->memory.inherited_pages = 200 * MIB_PAGES;
	one->parent_pid = other->parent_pid = 1;
	sample(one, 0, 0, 200, NOW_NS);
	sample(other, 150, 150, 50, NOW_NS);
	assert_int_equal(told_mib(parent, true), 201);
}

/* Its first fork was seen when the parent had faulted in `first` MiB, its last one at `last` MiB. */
static void forked_between(struct member *parent, int64_t first_mib, int64_t last_mib)
{
	parent->memory.forks = (struct fork_window){.is_known = true,
						    .faults_first = first_mib * MIB_PAGES,
						    .faults_last = last_mib * MIB_PAGES,
						    .anon_first = parent->memory.resident_pages,
						    .anon_last = parent->memory.resident_pages};
}

static void pages_that_a_parent_replaced_after_its_last_fork_stay_with_its_forks(void **unused)
{
	struct member *parent = add(1, 100);

	(void)unused;
	/* Two forks, 80 MiB overwritten, two more forks, 50 MiB overwritten. */
	forked_between(parent, 100, 180);
	parent->memory.faults = 230 * MIB_PAGES;
	for (int i = 0; i < 4; i++)
		sample(add_fork(parent, 100, 0), 0, 0, 100, BEFORE_NS);
	sample(parent, 50, 50, 50, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 230);
}

static void memory_that_a_parent_took_and_freed_before_it_forked_does_not_count(void **unused)
{
	struct member *parent = add(1, 150);

	(void)unused;
	/* Within one sample it read 150 MiB, made a copy of them, freed the first, and forked. */
	forked_between(parent, 0, 300);
	parent->memory.forks.anon_first = 0;
	parent->memory.forks.passing_last = 150 * MIB_PAGES;
	parent->memory.faults = 300 * MIB_PAGES;
	for (int i = 0; i < 6; i++)
		sample(add_fork(parent, 150, 0), 0, 0, 150, BEFORE_NS);
	sample(parent, 0, 0, 150, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 150);
}

static void pages_left_to_forks_that_have_exited_do_not_count(void **unused)
{
	struct member *parent = add(1, 100);

	(void)unused;
	forked_between(parent, 100, 200);
	parent->memory.faults = 200 * MIB_PAGES;
	for (int i = 0; i < 4; i++) {
		struct member *fork = add_fork(parent, 100, 0);

		fork->memory.parent_faults_before = 200 * MIB_PAGES;
		fork->memory.parent_anon_before = 100 * MIB_PAGES;
		sample(fork, 0, 0, 100, BEFORE_NS);
	}
	sample(parent, 0, 0, 100, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 100);
	/* Another process may have them: a fork of one that has exited. */
	members[1].parent_pid = 1;
	assert_int_equal(told_mib(parent, true), 200);
}

static void faults_since_a_reading_count_as_those_of_the_family_did(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 0);

	(void)unused;
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(one, 0, 0, 200, BEFORE_NS);
	sample(add_fork(parent, 200, 0), 0, 0, 200, BEFORE_NS);
	readings[0].faults = parent->memory.faults;
	assert_int_equal(told_mib(parent, true), 200);
	one->memory.faults = 50 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 200);
	/* Members faulted in 100 MiB between two readings, and 80 of them had been common. */
	family_of(parent)->faulted_kib = 100 * MIB_KIB;
	family_of(parent)->replaced_kib = 80 * MIB_KIB;
	assert_int_equal(told_mib(parent, true), 240);
	/* It has no more than 200 MiB of common pages to replace. */
	one->memory.faults = 500 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 400);
}

static void pages_that_one_fork_has_alone_say_nothing_about_its_siblings(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 1);

	(void)unused;
	add_fork(parent, 200, 10);
	sample(parent, 0, 0, 200, BEFORE_NS);
	/* It has faulted in 1 MiB. 24 MiB are its own since others replaced them or exited. */
	sample(one, 25, 25, 175, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 235);
}

static void forks_outlive_the_parent_that_had_their_memory(void **unused)
{
	struct member *first = add(1, 1), *one = add_fork(first, 200, 0), *other = add_fork(first, 200, 0);

	(void)unused;
	/* The first process's page faults since its own first fork do not limit theirs. */
	first->memory.forks = (struct fork_window){.is_known = true,
						   .faults_first = 256,
						   .faults_last = 256,
						   .anon_first = 256,
						   .anon_last = 256};
	one->memory.inherited_pages = other->memory.inherited_pages = 200 * MIB_PAGES;
	one->parent_pid = other->parent_pid = 1;
	sample(first, 1, 0, 0, BEFORE_NS);
	sample(one, 0, 0, 200, BEFORE_NS);
	sample(other, 0, 0, 200, BEFORE_NS);
	assert_int_equal(told_mib(first, true), 201);
	readings[one - members].taken_ns = NOW_NS;
	assert_int_equal(told_mib(first, true), 201);
}

/* A process that calls exec takes memory of its own before that, and forks. */
static struct member *orphan_of(const struct member *first, pid_t forked_by, int64_t mib)
{
	struct member *orphan = add_fork(first, mib, 0);

	orphan->memory.forked_by = orphan->parent_pid = forked_by;
	orphan->memory.inherited_pages = mib * MIB_PAGES;
	return orphan;
}

static void forks_of_parents_that_called_exec_do_not_share_each_others_pages(void **unused)
{
	enum { ONE_PARENT = 900, OTHER_PARENT = 901 };
	struct member *first = add(1, 10), *orphans[4];

	(void)unused;
	first->memory.forks = (struct fork_window){
		.is_known = true, .faults_first = 10 * MIB_PAGES, .anon_first = 10 * MIB_PAGES};
	first->memory.forks.faults_last = first->memory.forks.anon_last = 10 * MIB_PAGES;
	sample(first, 0, 0, 10, BEFORE_NS);
	for (int i = 0; i < 4; i++) {
		orphans[i] = orphan_of(first, i < 2 ? ONE_PARENT : OTHER_PARENT, 110);
		/* 10 MiB of the first process, and 100 MiB of the parent's at the same addresses. */
		sample(orphans[i], 0, 0, 110, BEFORE_NS);
	}
	assert_int_equal(told_mib(first, true), 210);
	assert_true(family_of(first)->is_ambiguous);
	assert_int_equal(family_of(first)->union_doubt_kib, 100 * MIB_KIB);
	/* The limit while they are read is that of two parents. */
	readings[orphans[0] - members].taken_ns = NOW_NS;
	assert_int_equal(told_mib(first, true), 210);
	/* A parent that had hardly memory of its own passed its parent's on. */
	for (int i = 0; i < 4; i++)
		orphans[i]->memory.passes_on = true;
	readings[orphans[0] - members].taken_ns = NOW_NS - 1;
	assert_int_equal(told_mib(first, true), 110);
}

static void forks_that_only_read_are_not_ambiguous(void **unused)
{
	struct member *parent = add(1, 200);

	(void)unused;
	add_fork(parent, 200, 0);
	add_fork(parent, 200, 0);
	for (int i = 0; i < 3; i++)
		sample(&members[i], 0, 0, 200, BEFORE_NS);
	parent->memory.forks = (struct fork_window){.is_known = true};
	parent->memory.forks.faults_first = parent->memory.forks.faults_last = 200 * MIB_PAGES;
	parent->memory.forks.anon_first = parent->memory.forks.anon_last = 200 * MIB_PAGES;
	for (int i = 1; i < 3; i++) {
		members[i].memory.parent_faults_before = 200 * MIB_PAGES;
		members[i].memory.parent_anon_before = 200 * MIB_PAGES;
	}
	assert_int_equal(told_mib(parent, true), 200);
	assert_false(family_of(parent)->is_ambiguous);
	assert_int_equal(family_of(parent)->union_doubt_kib, 0);
}

/* A parent that took 200 MiB in huge pages, with 100 faults, since the reading before its forks. */
static struct member *add_parent_with_huge_pages(void)
{
	struct member *parent = add(1, 200);

	parent->memory.faults = 100;
	parent->memory.forks = (struct fork_window){.is_known = true, .faults_last = 100};
	parent->memory.forks.anon_last = 200 * MIB_PAGES;
	tree.memory.huge_kib = 1;
	return parent;
}

static void huge_pages_that_forks_share_have_few_faults(void **unused)
{
	struct member *parent = add_parent_with_huge_pages();

	(void)unused;
	for (int i = 0; i < 2; i++) {
		struct member *fork = add_fork(parent, 200, 0);

		fork->memory.parent_faults_before = fork->memory.parent_anon_before = 0;
	}
	for (int i = 0; i < 3; i++)
		sample(&members[i], 0, 0, 200, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 200);
	/* One of them has freed them and has taken others. */
	sample(&members[2], 200, 0, 0, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 400);
}

static void huge_pages_that_forks_moved_count_once_and_are_in_doubt(void **unused)
{
	struct member *parent = add_parent_with_huge_pages();
	struct family_memory found;

	(void)unused;
	for (int i = 0; i < 2; i++) {
		struct member *fork = add_fork(parent, 200, 0);

		fork->memory.parent_faults_before = fork->memory.parent_anon_before = 0;
	}
	for (int i = 0; i < 3; i++)
		sample(&members[i], 0, 1000 * (int64_t)i, 200, BEFORE_NS);
	found = measure_way(parent, true);
	assert_int_equal((found.anon_kib + MIB_KIB / 2) / MIB_KIB, 200);
	assert_int_equal((found.doubt_kib + MIB_KIB / 2) / MIB_KIB, 400);
	assert_int_equal(found.over_kib, found.doubt_kib);
	assert_int_equal((family_of(parent)->union_apart_kib + MIB_KIB / 2) / MIB_KIB, 400);
}

/* A fork freed what it inherited and forked at the same moment: its fork seems to have inherited little. */
static void huge_pages_inherited_from_a_parent_that_freed_them_count_once(void **unused)
{
	struct member *parent = add_parent_with_huge_pages(), *middle, *last;

	(void)unused;
	middle = add_fork(parent, 10, 0);
	last = add_fork(middle, 200, 0);
	middle->memory.parent_faults_before = middle->memory.parent_anon_before = 0;
	last->memory.parent_faults_before = last->memory.parent_anon_before = 0;
	sample(parent, 0, 0, 200, BEFORE_NS);
	sample(middle, 10, 0, 0, BEFORE_NS);
	sample(last, 0, 1000, 200, BEFORE_NS);
	assert_int_equal(told_mib(parent, true), 210);
}

static void unread_forks_are_in_error_by_how_far_the_others_differ(void **unused)
{
	struct member *parent = add(1, 100);
	struct family_memory found;

	(void)unused;
	for (int i = 0; i < 3; i++)
		add_fork(parent, 100, 40);
	sample(parent, 0, 0, 100, BEFORE_NS);
	sample(&members[1], 10, 0, 90, BEFORE_NS);
	sample(&members[2], 30, 0, 70, BEFORE_NS);
	found = measure_way(parent, true);
	assert_true(found.extrapolated);
	/* 10 and 30 MiB of 40: one third is 20 +- 14 MiB, and their mean is known to 10 MiB. */
	assert_int_equal((int64_t)(found.variance / (double)(MIB_KIB * MIB_KIB) + 0.5), 300);
}

static void processes_after_exec_are_families_of_their_own(void **unused)
{
	struct member *parent = add(1, 50), *child = add(parent->pid, 70);

	(void)unused;
	assert_int_equal(told_mib(parent, false), 50);
	assert_int_equal(told_mib(child, false), 70);
	assert_int_equal(families.count, 2);
	child->is_zombie = true;
	assert_int_equal(told_mib(parent, false), 50);
	assert_int_equal(family_of(child)->count, 0);
}

static int64_t private_mib(const struct member *member)
{
	assert_int_equal(memory_families_build(&families, &tree), 0);
	return member_private_kib(&tree, family_of(member), member, NOW_NS) / MIB_KIB;
}

static void private_memory_of_a_process_without_relatives(void **unused)
{
	struct member *one = add(1, 100);
	struct memory_reading *reading;

	(void)unused;
	assert_int_equal(private_mib(one), 100);
	reading = read_as(one, READING_ROLLUP, 60, 1, BEFORE_NS);
	one->memory.resident_pages += 10 * MIB_PAGES;
	assert_int_equal(private_mib(one), 70);
	/* The reading is of a family that has gone. */
	reading->family_size = 2;
	assert_int_equal(private_mib(one), 110);
	assert_int_equal(told_mib(one, false), 110);
	reading->family_size = 1;
	reading->is_settled = false;
	assert_int_equal(told_mib(one, false), 110);
	reading->is_settled = true;
	assert_int_equal(told_mib(one, false), 60 + 40 + 10);
	one->memory.resident_pages = 30 * MIB_PAGES;
	assert_int_equal(private_mib(one), 0);
	reading->exclusive_kib = 50 * MIB_KIB;
	reading->common_share_kib = 0;
	assert_int_equal(told_mib(one, false), 0);
}

/* Pages that a parent replaced between its oldest living fork and its last one, as its page faults tell. */
static void pages_that_a_parent_left_to_its_forks(void **unused)
{
	static const struct {
		int faults_last, faults_before, shared, anon_last, anon_before, passing_last, passing_before,
			left;
	} CASES[] = {
		{180, 100, 0, 100, 100, 0, 0, 80},  {180, 130, 0, 100, 100, 0, 0, 50},
		{180, 100, 10, 100, 100, 0, 0, 70}, {180, 100, 0, 120, 100, 0, 0, 60},
		{180, 130, 0, 120, 110, 0, 0, 40},  {180, 100, 0, 90, 100, 0, 0, 80},
		{180, 100, 0, 100, 100, 5, 2, 77},  {180, 99, 0, 100, 50, 5, 2, 75},
		{100, 100, 0, 100, 100, 0, 0, 0},   {110, 100, 20, 100, 100, 0, 0, 0},
	};
	struct member *parent = add(1, 100), *fork = add_fork(parent, 100, 0);

	(void)unused;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		parent->memory.resident_pages = (100 + CASES[i].shared) * MIB_PAGES;
		parent->memory.shared_pages = CASES[i].shared * MIB_PAGES;
		parent->memory.forks =
			(struct fork_window){.is_known = true,
					     .faults_first = 100 * MIB_PAGES,
					     .anon_first = 100 * MIB_PAGES,
					     .faults_last = CASES[i].faults_last * MIB_PAGES,
					     .anon_last = CASES[i].anon_last * MIB_PAGES,
					     .passing_last = CASES[i].passing_last * MIB_PAGES};
		fork->memory.parent_faults_before = CASES[i].faults_before * MIB_PAGES;
		fork->memory.parent_anon_before = CASES[i].anon_before * MIB_PAGES;
		fork->memory.parent_passing_before = CASES[i].passing_before * MIB_PAGES;
		assert_int_equal(told_mib(parent, true), 100 + CASES[i].left);
		/* How much it had replaced before one of them is unknown. */
		if (i == 1) {
			add_fork(parent, 100, 0)->memory.parent_faults_before = -1;
			assert_int_equal(told_mib(parent, true), 100 + 80);
			assert_true(family_of(parent)->has_orphans);
			members[2].is_zombie = true;
			memory_families_done(&families);
		}
		parent->memory.forks.is_known = false;
		assert_int_equal(told_mib(parent, true), 100);
	}
}

/* A 32nd of 100 MiB is 800 pages: the fork has forked in turn, after it had replaced as many. */
static void a_fork_that_replaced_pages_makes_its_family_ambiguous(void **unused)
{
	static const struct {
		int faults_last, shared, anon_beyond;
		bool is_ambiguous;
	} CASES[] = {{800, 0, 0, false}, {801, 0, 0, true},  {810, 10, 0, false},
		     {811, 10, 0, true}, {0, 0, 800, false}, {0, 0, 801, true}};
	struct member *first = add(1, 100), *middle = add_fork(first, 100, 0),
		      *last = add_fork(middle, 100, 0);

	(void)unused;
	first->memory.forks.is_known = true;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		memory_families_done(&families);
		middle->memory.forks = (struct fork_window){.is_known = true,
							    .faults_last = CASES[i].faults_last,
							    .anon_last = CASES[i].anon_beyond +
									 middle->memory.inherited_pages};
		middle->memory.shared_pages = CASES[i].shared;
		assert_int_equal(memory_families_build(&families, &tree), 0);
		assert_int_equal(family_of(first)->is_ambiguous, CASES[i].is_ambiguous);
	}
	/* Without a fork none has them. If the time is unknown, all may be left. */
	last->is_zombie = true;
	memory_families_done(&families);
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(first)->is_ambiguous);
	first->memory.forks.is_known = false;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(first)->is_ambiguous);
	middle->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(first)->is_ambiguous);
}

static void many_families_come_and_go(void **unused)
{
	(void)unused;
	for (int i = 0; i < MEMBERS; i++)
		add(1, i + 1);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(told_mib(&members[i], false), i + 1);
	assert_int_equal(families.count, MEMBERS);
	for (int i = 0; i < MEMBERS; i += 2)
		members[i].is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_int_equal(families.count, MEMBERS); /* those that have ended are dropped in the next tick */
	family_of(&members[1])->own_part = 0.25;
	family_of(&members[1])->has_own_objects = true;
	for (int i = 1; i < MEMBERS; i += 2)
		assert_int_equal(told_mib(&members[i], false), i + 1);
	assert_int_equal(families.count, MEMBERS / 2);
	assert_true(family_of(&members[1])->own_part == 0.25);
	assert_true(family_of(&members[1])->has_own_objects);
	assert_true(family_of(&members[3])->own_part == 1);
	assert_int_equal(family_of(&members[1])->largest_kib, 2 * MIB_KIB);
}

static void what_changes_in_a_family(void **unused)
{
	struct member *parent = add(1, 100), *one = add_fork(parent, 60, 0), *other = add_fork(parent, 80, 0);

	(void)unused;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_int_equal(family_of(parent)->count, 3);
	assert_int_equal(parent->memory.fork_count, 2);
	assert_int_equal(parent->memory.forks_anon_kib, 80 * MIB_KIB);
	assert_false(family_of(parent)->is_changing);
	assert_false(family_of(parent)->has_orphans);
	/* One begins. */
	one->seen_pass = tree.passes;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->is_changing);
	tree.passes++;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(parent)->is_changing);
	/* Another one ends: first the kernel frees its memory, and then it is a zombie. */
	other->memory.resident_pages = 0;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->is_changing);
	assert_false(family_of(parent)->has_leaving);
	other->memory.is_being_freed = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->has_leaving);
	assert_false(family_of(parent)->is_changing);
	assert_int_equal(parent->memory.forks_anon_kib, 60 * MIB_KIB);
	other->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_false(family_of(parent)->has_leaving);
	parent->is_zombie = true;
	assert_int_equal(memory_families_build(&families, &tree), 0);
	assert_true(family_of(parent)->has_orphans);
	assert_int_equal(parent->memory.fork_count, 0);
}

/* Its shared pages at `mib` from the address 0 on, in one page frame for each. */
static void sample_frames(struct member *member, int64_t mib, int64_t other_from_mib)
{
	struct memory_reading *reading = read_as(member, READING_SAMPLED, 0, 1, BEFORE_NS);

	reading->common.level = PAGES_LEVEL;
	for (int64_t page = 0; page < mib * MIB_PAGES; page += 1 << PAGES_LEVEL)
		assert_true(page_places_add(&reading->common, page < other_from_mib * MIB_PAGES ? 1 : 2,
					    page_sample_at(PAGES_LEVEL, (uint64_t)page >> PAGES_LEVEL)));
}

/* Each page frame is a page of its own, whatever the faults tell. What the largest one lacks was sampled only. */
static void page_frames_distinguish_pages_at_one_address(void **unused)
{
	struct member *parent = add(1, 200), *fork = add_fork(parent, 200, 200);
	const double kib = 16 * 4;

	(void)unused;
	sample_frames(parent, 200, 200);
	sample_frames(fork, 200, 100);
	assert_int_equal(told_mib(parent, true), 300);
	assert_int_equal(family_of(parent)->union_doubt_kib, 0);
	assert_int_equal(family_of(parent)->union_spread_kib, 0);
	assert_int_equal(family_of(parent)->union_apart_kib, 0);
	assert_true(family_of(parent)->union_variance == 1600 * kib * kib);
	sample_frames(fork, 200, 200);
	readings[1].taken_ns--;
	assert_int_equal(told_mib(parent, true), 200);
	assert_true(family_of(parent)->union_variance == 0);
	/* The union stays that of the readings behind it. */
	readings[1].common.count = 0;
	readings[0].common.count = 0;
	assert_int_equal(told_mib(parent, true), 200);
	readings[1].taken_ns--;
	assert_int_equal(told_mib(parent, true), 0);
}

/* The share of a common page is that of the users at the time of the reading: two of four have ended. */
static void shares_are_divided_by_the_present_users(void **unused)
{
	struct member *parent = add(1, 300), *fork = add_fork(parent, 300, 10);

	(void)unused;
	read_as(parent, READING_ROLLUP, 10, 4, BEFORE_NS);
	read_as(fork, READING_ROLLUP, 10, 4, BEFORE_NS);
	assert_int_equal(told_mib(parent, false), 10 + 10 + 290);
	/* It was alone, so that its share is of others outside the job. */
	read_as(parent, READING_ROLLUP, 10, 1, BEFORE_NS)->common_share_kib = 100 * MIB_KIB;
	fork->memory.reading->common_share_kib = 0;
	assert_int_equal(told_mib(parent, false), 10 + 10 + 100);
}

static void unread_members_have_what_the_others_lack(void **unused)
{
	struct member *parent = add(1, 200), *one = add_fork(parent, 200, 20);
	struct family_memory found;

	(void)unused;
	/* The first process was not read: all that it has beyond the common pages is its own. */
	sample(one, 20, 20, 150, BEFORE_NS);
	readings[1].common_kib = 150 * MIB_KIB;
	found = measure_way(parent, true);
	assert_int_equal(found.anon_kib / MIB_KIB, 20 + 150 + 50);
	assert_int_equal(found.private_kib / MIB_KIB, 20 + 50);
	assert_true(found.extrapolated);
	parent->memory.resident_pages = 140 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 20 + 150);
	/* A fork that was not read has its mean share of the pages that the rollups divided. One leaf tells no error. */
	parent->memory.resident_pages = 300 * MIB_PAGES;
	one->memory.resident_pages = 300 * MIB_PAGES;
	one->memory.inherited_pages = 300 * MIB_PAGES;
	one->memory.faults = 10 * MIB_PAGES;
	add_fork(parent, 300, 10);
	members[2].memory.parent_faults = one->memory.parent_faults = parent->memory.faults;
	read_as(parent, READING_ROLLUP, 10, 3, BEFORE_NS);
	read_as(one, READING_ROLLUP, 10, 3, BEFORE_NS);
	found = measure_way(parent, false);
	assert_int_equal((found.anon_kib + 4) / MIB_KIB, 3 * 10 + 290);
	assert_true(found.variance == 0);
	assert_true(found.extrapolated);
	/* In another way, or without its anonymous pages, a reading says nothing. */
	assert_int_equal(measure_way(parent, true).unread_kib / MIB_KIB, 300 + 20);
	readings[0].has_anon = readings[1].has_anon = false;
	assert_int_equal(measure_way(parent, false).unread_kib / MIB_KIB, 300 + 20);
}

/* While members are read, a page may be exclusive for one and common for another: their faults limit the sum. */
static void up_to_sixteen_origins_limit_the_sum(void **unused)
{
	struct member *first = add(1, 10);

	(void)unused;
	first->memory.forks = (struct fork_window){
		.is_known = true, .faults_first = 10 * MIB_PAGES, .anon_first = 10 * MIB_PAGES};
	first->memory.forks.faults_last = first->memory.forks.anon_last = 10 * MIB_PAGES;
	read_as(first, READING_SAMPLED, 10, 1, NOW_NS);
	for (int i = 0; i < 17; i++) {
		read_as(orphan_of(first, 900 + i, 20), READING_SAMPLED, 30, 1, BEFORE_NS)->common_kib = 0;
		if (i == 15)
			assert_int_equal(told_mib(first, true), 10 + 16 * 20);
	}
	assert_int_equal(told_mib(first, true), 10 + 17 * 30);
	/* Two of one parent have one memory from it. */
	members[17].memory.forked_by = 915;
	assert_int_equal(told_mib(first, true), 10 + 16 * 20);
	members[17].memory.resident_pages = 25 * MIB_PAGES;
	members[17].memory.inherited_pages = 25 * MIB_PAGES;
	assert_int_equal(told_mib(first, true), 10 + 16 * 20 + 5);
	/* Nothing moves: what the parents replaced before they left is unknown. */
	readings[0].taken_ns = NOW_NS - 1;
	assert_true(told_mib(first, true) > 10 + 17 * 29);
}

/* The limit of forks with a living parent: its memory, and what each has faulted in. */
static void faults_limit_what_forks_have(void **unused)
{
	struct member *parent = add(1, 100), *fork = add_fork(parent, 100, 10);

	(void)unused;
	parent->memory.forks = (struct fork_window){.is_known = true,
						    .faults_first = 100 * MIB_PAGES,
						    .anon_first = 100 * MIB_PAGES,
						    .faults_last = 100 * MIB_PAGES,
						    .anon_last = 100 * MIB_PAGES};
	fork->memory.parent_faults_before = 100 * MIB_PAGES;
	fork->memory.parent_anon_before = 100 * MIB_PAGES;
	sample(parent, 100, 0, 0, BEFORE_NS);
	sample(fork, 60, 0, 0, BEFORE_NS);
	readings[1].common_kib = 0;
	assert_int_equal(told_mib(parent, true), 110);
	/* More than it inherited and faulted in is of huge pages, which limit nothing. */
	fork->memory.inherited_pages = 70 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 160);
	fork->memory.inherited_pages = 100 * MIB_PAGES;
	/* It has faulted in more pages than it has: it freed some of them, which may live on in a fork of its own. */
	fork->memory.faults = 130 * MIB_PAGES;
	readings[1].faults = fork->memory.faults;
	readings[1].exclusive_kib = 150 * MIB_KIB;
	assert_int_equal(told_mib(parent, true), 200);
	add_fork(fork, 100, 0)->memory.parent_faults_before = 0;
	fork->memory.forks.is_known = true;
	sample(&members[2], 0, 0, 0, BEFORE_NS);
	readings[2].common_kib = 0;
	assert_int_equal(told_mib(parent, true), 230);
	/* The parent has grown since its first fork. */
	parent->memory.resident_pages += 7 * MIB_PAGES;
	parent->memory.faults += 7 * MIB_PAGES;
	assert_int_equal(told_mib(parent, true), 237);
}

#define FAMILY_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Pages that a parent replaced between its forks matter from a 32nd of the family on, and then down to a 64th. */
static void test_a_family_stays_ambiguous_for_a_while(void **unused)
{
	static const struct {
		int pages;
		bool is_ambiguous;
	} CASES[] = {{600, false}, {1000, true}, {600, true}, {300, false}, {600, false}};
	struct member *parent = add(1, 100), *fork = add_fork(parent, 100, 0);

	(void)unused;
	parent->memory.forks.is_known = true;
	fork->memory.parent_faults_before = 0;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		parent->memory.forks.faults_last = CASES[i].pages;
		assert_int_equal(memory_families_build(&families, &tree), 0);
		assert_int_equal(family_of(parent)->is_ambiguous, CASES[i].is_ambiguous);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		FAMILY_TEST(a_process_alone_has_its_resident_set),
		FAMILY_TEST(private_pages_of_one_process_need_no_sample),
		FAMILY_TEST(unread_forks_have_their_faulted_pages),
		FAMILY_TEST(pages_that_a_parent_replaced_are_left_to_its_forks_together),
		FAMILY_TEST(shares_of_forks_add_up),
		FAMILY_TEST(pages_that_ended_forks_shared_are_its_own),
		FAMILY_TEST(common_pages_at_one_address_count_once),
		FAMILY_TEST(a_fork_that_was_not_read_is_like_its_siblings),
		FAMILY_TEST(new_forks_are_like_those_before_them),
		FAMILY_TEST(a_sibling_that_ends_while_they_are_read_is_not_counted_twice),
		FAMILY_TEST(pages_that_a_parent_replaced_after_its_last_fork_stay_with_its_forks),
		FAMILY_TEST(memory_that_a_parent_took_and_freed_before_it_forked_does_not_count),
		FAMILY_TEST(pages_left_to_forks_that_have_exited_do_not_count),
		FAMILY_TEST(faults_since_a_reading_count_as_those_of_the_family_did),
		FAMILY_TEST(pages_that_one_fork_has_alone_say_nothing_about_its_siblings),
		FAMILY_TEST(forks_outlive_the_parent_that_had_their_memory),
		FAMILY_TEST(forks_of_parents_that_called_exec_do_not_share_each_others_pages),
		FAMILY_TEST(forks_that_only_read_are_not_ambiguous),
		FAMILY_TEST(huge_pages_that_forks_share_have_few_faults),
		FAMILY_TEST(huge_pages_that_forks_moved_count_once_and_are_in_doubt),
		FAMILY_TEST(huge_pages_inherited_from_a_parent_that_freed_them_count_once),
		FAMILY_TEST(unread_forks_are_in_error_by_how_far_the_others_differ),
		FAMILY_TEST(processes_after_exec_are_families_of_their_own),
		FAMILY_TEST(private_memory_of_a_process_without_relatives),
		FAMILY_TEST(pages_that_a_parent_left_to_its_forks),
		FAMILY_TEST(a_fork_that_replaced_pages_makes_its_family_ambiguous),
		FAMILY_TEST(many_families_come_and_go),
		FAMILY_TEST(what_changes_in_a_family),
		FAMILY_TEST(page_frames_distinguish_pages_at_one_address),
		FAMILY_TEST(shares_are_divided_by_the_present_users),
		FAMILY_TEST(unread_members_have_what_the_others_lack),
		FAMILY_TEST(up_to_sixteen_origins_limit_the_sum),
		FAMILY_TEST(faults_limit_what_forks_have),
		cmocka_unit_test_setup_teardown(test_a_family_stays_ambiguous_for_a_while, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
