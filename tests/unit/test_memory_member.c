/* Tests of src/job/memory/memory_member.c: how much memory a member can have of its own, from figures that this test makes. */
#include "unit.h"

#include "base/clock.h"
#include "job/memory/memory_member.h"
#include "job/memory/memory_tuning.h"

enum { JOB = 100, FORK, OTHER };
enum { PAGE_KIB = 4 };

static struct root root;
static struct process_tree tree;
static struct memory_reading reading;

/* The job, and a child of it. */
static int begin(void **state)
{
	(void)state;
	root = (struct root){.page_bytes = PAGE_KIB * 1024};
	tree = (struct process_tree){.root = &root, .root_pid = JOB};
	reading = (struct memory_reading){.taken_ns = 0};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(process_tree_reserve(&tree), 0);
		process_tree_append(&tree, &(struct member){.pid = JOB + i,
							    .parent_pid = i ? JOB : 1,
							    .memory = {.family = 1, .resident_pages = 100}});
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(tree.members);
	free(tree.slots);
	return 0;
}

static struct member *job(void)
{
	return process_tree_find(&tree, JOB);
}

static struct member *child(void)
{
	return process_tree_find(&tree, FORK);
}

/* A child of vfork has its parent's memory, which is counted there. */
static void memory_is_counted_where_it_is(void **state)
{
	(void)state;
	assert_true(memory_is_counted(&tree, child()));
	child()->memory.shared_with = JOB;
	assert_false(memory_is_counted(&tree, child()));
	job()->is_zombie = true;
	assert_true(memory_is_counted(&tree, child()));
	job()->is_zombie = false, job()->memory.is_being_freed = true;
	assert_true(memory_is_counted(&tree, child()));
	job()->memory.is_being_freed = false;
	/* The other is not of the job. */
	child()->memory.shared_with = OTHER;
	assert_true(memory_is_counted(&tree, child()));
	child()->memory.resident_pages = 0;
	assert_false(memory_is_counted(&tree, child()));
	child()->memory.resident_pages = 1;
	assert_true(memory_is_counted(&tree, child()));
	child()->is_zombie = true;
	assert_false(memory_is_counted(&tree, child()));
}

/* A huge page takes one fault. 64 pages more than faults may be due to the rounding of counters. */
static void more_pages_than_faults_are_huge_pages(void **state)
{
	struct member member = {.memory = {.anon_at_faults = 900, .faults = 836}};

	(void)state;
	assert_false(member_may_have_huge_pages(&member));
	/* A reading has found it larger since its faults were read. */
	member.memory.resident_pages = 2000;
	assert_false(member_may_have_huge_pages(&member));
	member.memory.faults--;
	assert_true(member_may_have_huge_pages(&member));
	member.is_ending = true;
	assert_false(member_may_have_huge_pages(&member));
	member.is_ending = false;
	/* Whether a fork has its pages from its parent is not known yet. */
	member.memory.is_forked = true;
	assert_false(member_may_have_huge_pages(&member));
	member.memory.inherited_pages = 1;
	assert_false(member_may_have_huge_pages(&member));
	member.memory.faults--;
	assert_true(member_may_have_huge_pages(&member));
}

/* It freed more than a quarter of what it had from its parent, which is much at once. */
static void a_fork_that_freed_much_may_have_had_huge_pages(void **state)
{
	struct member member = {
		.memory = {.anon_at_faults = 686, .is_forked = true, .inherited_pages = 1000}};

	(void)state;
	assert_false(member_may_have_huge_pages(&member));
	member.memory.anon_at_faults--;
	assert_true(member_may_have_huge_pages(&member));
}

static void sizes_are_in_kib(void **state)
{
	(void)state;
	job()->memory.shared_pages = 30;
	assert_int_equal(member_anon_pages(job()), 70);
	assert_int_equal(member_anon_kib(&tree, job()), 280);
	assert_int_equal(member_shared_kib(&tree, job()), 120);
	/* Both were read at two moments. */
	job()->memory.shared_pages = 130;
	assert_int_equal(member_anon_kib(&tree, job()), 0);
}

/* A fork of 100 pages, 80 of them from its parent. */
static void begin_fork(int64_t faults)
{
	child()->memory.is_forked = true;
	child()->memory.inherited_pages = 80;
	child()->memory.faults = faults;
}

static void a_fork_owns_the_pages_that_it_faulted_in(void **state)
{
	(void)state;
	assert_int_equal(member_bound_kib(&tree, child()), 400);
	begin_fork(5);
	/* It grew by 20 pages. */
	assert_int_equal(member_bound_kib(&tree, child()), 80);
	child()->memory.faults = 30;
	assert_int_equal(member_bound_kib(&tree, child()), 120);
	child()->memory.faults = 500;
	assert_int_equal(member_bound_kib(&tree, child()), 400);
	child()->memory.inherited_pages = 0;
	child()->memory.faults = 1;
	assert_int_equal(member_bound_kib(&tree, child()), 400);
	child()->memory.inherited_pages = 1;
	assert_int_equal(member_bound_kib(&tree, child()), 396);
}

/* Pages that the parent writes after the fork are the fork's alone from then on: it has faulted them in for one of its forks. */
static void faults_of_the_parent_leave_pages_to_its_forks(void **state)
{
	(void)state;
	begin_fork(30);
	child()->memory.parent_faults = 10;
	job()->memory.faults = 10;
	assert_int_equal(member_bound_kib(&tree, child()), 120);
	job()->memory.faults = 20;
	assert_int_equal(member_bound_kib(&tree, child()), 160);
	job()->memory.fork_count = 1;
	assert_int_equal(member_bound_kib(&tree, child()), 160);
	job()->memory.fork_count = 2;
	assert_int_equal(member_bound_kib(&tree, child()), 140);
	job()->memory.fork_count = 5;
	assert_int_equal(member_bound_kib(&tree, child()), 128);
	/* It has called exec since. */
	job()->memory.family = 2;
	assert_int_equal(member_bound_kib(&tree, child()), 120);
	job()->memory.family = 1, job()->memory.faults = 9;
	assert_int_equal(member_bound_kib(&tree, child()), 120);
}

/* Pages for which it had no fault were inherited, as far as the job has no huge pages. */
static void inherited_memory_has_a_least(void **state)
{
	(void)state;
	begin_fork(0);
	child()->memory.inherited_least = 90;
	assert_int_equal(member_inherited_kib(&tree, child()), 360);
	assert_int_equal(member_bound_kib(&tree, child()), 40);
	tree.memory.huge_kib = 30;
	assert_int_equal(member_inherited_kib(&tree, child()), 330);
	tree.memory.huge_kib = 300;
	assert_int_equal(member_inherited_kib(&tree, child()), 320);
}

static void a_reading_counts_for_ten_seconds(void **state)
{
	(void)state;
	assert_false(member_has_reading(job(), 5));
	job()->memory.reading = &reading;
	reading.taken_ns = NSEC_PER_SEC;
	assert_true(member_has_reading(job(), NSEC_PER_SEC));
	assert_true(member_has_reading(job(), 11 * NSEC_PER_SEC));
	assert_false(member_has_reading(job(), 11 * NSEC_PER_SEC + 1));
}

/* 100 faults since the reading, of which 60 pages explain its growth: 40 pages were replaced. */
static void faults_that_did_not_make_it_larger_are_replaced_pages(void **state)
{
	(void)state;
	reading.statm_anon_kib = 40 * PAGE_KIB;
	reading.faults = 1000;
	job()->memory.faults = 1100;
	assert_int_equal(member_faulted_kib(&tree, job(), &reading), 40 * PAGE_KIB);
	/* One that became smaller has not given pages back by faults. */
	reading.statm_anon_kib = 140 * PAGE_KIB;
	assert_int_equal(member_faulted_kib(&tree, job(), &reading), 100 * PAGE_KIB);
	reading.statm_anon_kib = 0;
	assert_int_equal(member_faulted_kib(&tree, job(), &reading), 0);
	job()->memory.faults = 1101;
	assert_int_equal(member_faulted_kib(&tree, job(), &reading), PAGE_KIB);
	job()->memory.faults = 900;
	assert_int_equal(member_faulted_kib(&tree, job(), &reading), 0);
}

/* Forks that shared 200 KiB with it at the reading have 50 now. */
static void memory_that_forks_left_is_its_own(void **state)
{
	(void)state;
	job()->memory.reading = &reading;
	reading.forks_anon_kib = 200;
	reading.common_kib = 1000;
	job()->memory.forks_anon_kib = 50;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 150);
	reading.common_kib = 120;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 120);
	reading.common_kib = 1000;
	job()->memory.forks_anon_kib = 250;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 0);
	reading.forks_anon_kib = 2000;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 400);
	/* A fork has of its own what it faulted in, or more than it inherited. */
	job()->memory.is_forked = true;
	job()->memory.inherited_pages = 80;
	job()->memory.faults = 10;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 80);
	job()->memory.faults = 35;
	assert_int_equal(member_left_by_forks_kib(&tree, job()), 140);
}

#define member_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		member_test(memory_is_counted_where_it_is),
		member_test(more_pages_than_faults_are_huge_pages),
		member_test(a_fork_that_freed_much_may_have_had_huge_pages),
		member_test(sizes_are_in_kib),
		member_test(a_fork_owns_the_pages_that_it_faulted_in),
		member_test(faults_of_the_parent_leave_pages_to_its_forks),
		member_test(inherited_memory_has_a_least),
		member_test(a_reading_counts_for_ten_seconds),
		member_test(faults_that_did_not_make_it_larger_are_replaced_pages),
		member_test(memory_that_forks_left_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
