/* Tests of src/job/memory/memory_family.c: the total memory of a family of forks, on trees made by the test. */
#include "made_families.h"

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
	assert_true(measure_way(first, false).anon_kib < 50 * MIB_KIB);
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

/* A fork writes on after its faults were read, and each page that it moved has a second address in the family. */
static void pages_that_a_fork_moved_count_once_while_it_writes(void **unused)
{
	struct member *parent = add(1, 150), *fork = add_fork(parent, 170, 20);

	(void)unused;
	forked_between(parent, 150, 150);
	fork->memory.resident_pages += 10 * MIB_PAGES;
	sample(parent, 0, 0, 150, NOW_NS);
	sample(fork, 30, 1000, 150, NOW_NS);
	assert_int_equal(told_mib(parent, true), 180);
	assert_int_equal(measure_way(parent, true).doubt_kib, 0);
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
		FAMILY_TEST(pages_that_a_fork_moved_count_once_while_it_writes),
		FAMILY_TEST(huge_pages_inherited_from_a_parent_that_freed_them_count_once),
		FAMILY_TEST(unread_forks_are_in_error_by_how_far_the_others_differ),
		FAMILY_TEST(processes_after_exec_are_families_of_their_own),
		cmocka_unit_test_setup_teardown(test_a_family_stays_ambiguous_for_a_while, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
