/* Tests of src/job/memory/memory_between.c: the most that a tree may have held between two samples, on trees made by the test. */
#include "scratch.h"

#include "job/memory/memory_between.h"
#include "job/tree/process_tree.h"

enum { MIB_PAGES = 256, MIB_KIB = 1024, MEMBERS = 4, MANY_FAULTS = 50000 };

static struct root root = {.page_bytes = 4096};
static struct member members[MEMBERS];
static struct process_tree tree;

static int begin(void **unused)
{
	(void)unused;
	memset(members, 0, sizeof members);
	tree = (struct process_tree){.root = &root, .members = members, .memory.between = {.before_kib = -1}};
	return 0;
}

static struct member *add(int64_t mib, int64_t mark_mib)
{
	struct member *member = &members[tree.count++];

	*member = (struct member){.pid = (pid_t)tree.count,
				  .memory.resident_pages = mib * MIB_PAGES,
				  .memory.mark_kib = mark_mib * MIB_KIB};
	return member;
}

static void tick(int64_t tree_mib)
{
	memory_between_follow(&tree, tree_mib < 0 ? -1 : tree_mib * MIB_KIB, -1);
}

static int64_t most_mib(int64_t largest_mib)
{
	int64_t kib = memory_between_most_kib(&tree.memory.between, largest_mib * MIB_KIB);

	/* Not a KiB more or less. */
	assert_int_equal(kib % MIB_KIB, 0);
	return kib / MIB_KIB;
}

static void test_a_rising_mark_counts_beside_memory_in_no_resident_set(void **unused)
{
	struct member *one = add(10, 10);

	(void)unused;
	tick(160);
	assert_int_equal(most_mib(10), 160);
	one->memory.mark_kib = 160 * MIB_KIB;
	tick(160);
	assert_int_equal(most_mib(160), 310);
	/* The object came after the mark, so the two were never there together. */
	begin(NULL);
	add(10, 160);
	tick(10);
	tick(160);
	assert_int_equal(most_mib(160), 160);
}

static void test_a_rising_mark_does_not_count_beside_its_own_process(void **unused)
{
	struct member *one = add(100, 100);

	(void)unused;
	tick(100);
	one->memory.resident_pages = 120 * MIB_PAGES;
	one->memory.mark_kib = 300 * MIB_KIB;
	tick(120);
	assert_int_equal(most_mib(300), 300);
}

static void test_a_process_that_maps_a_page_three_times_has_it_once(void **unused)
{
	struct member *one = add(300, 300);

	(void)unused;
	memory_between_follow(&tree, 100 * MIB_KIB, 100 * MIB_KIB);
	one->memory.resident_pages = 900 * MIB_PAGES;
	one->memory.mark_kib = 910 * MIB_KIB;
	memory_between_follow(&tree, 301 * MIB_KIB, 302 * MIB_KIB);
	assert_int_equal(memory_between_once_kib(&tree.memory.between, 910 * MIB_KIB), 312 * MIB_KIB);
	assert_int_equal(most_mib(910), 312);
	/* A figure that does not count each page once, and a smaller process, prove nothing. */
	add(50, 500);
	memory_between_follow(&tree, 800 * MIB_KIB, -1);
	memory_between_follow(&tree, 800 * MIB_KIB, 800 * MIB_KIB);
	assert_int_equal(memory_between_once_kib(&tree.memory.between, 910 * MIB_KIB), 810 * MIB_KIB);
	assert_int_equal(most_mib(910), 500 + 750);
}

static struct member *add_fork(struct member *parent, int64_t mib, int64_t mark_mib, int64_t inherited_mib)
{
	struct member *fork = add(mib, mark_mib);

	fork->memory.is_forked = true;
	fork->parent_pid = fork->memory.forked_by = parent->pid;
	fork->memory.family = parent->memory.family = 1;
	fork->memory.inherited_pages = inherited_mib * MIB_PAGES;
	return fork;
}

static void test_forks_that_map_a_page_five_times_have_it_once(void **unused)
{
	struct member *parent = add(500, 500), *fork;

	(void)unused;
	memory_between_follow(&tree, 100 * MIB_KIB, 100 * MIB_KIB);
	fork = add_fork(parent, 490, 510, 0);
	fork->memory.shared_pages = parent->memory.shared_pages = 490 * MIB_PAGES;
	memory_between_follow(&tree, 102 * MIB_KIB, 102 * MIB_KIB);
	assert_int_equal(most_mib(510), 122);
}

static void test_a_new_fork_is_not_beside_the_pages_of_its_parent(void **unused)
{
	struct member *parent = add(295, 295), *fork;

	(void)unused;
	tick(295);
	parent->memory.resident_pages = 320 * MIB_PAGES;
	parent->memory.mark_kib = 320 * MIB_KIB;
	fork = add_fork(parent, 318, 318, 310);
	fork->memory.shared_pages = parent->memory.shared_pages = 8 * MIB_PAGES;
	tick(323);
	assert_int_equal(most_mib(320), 323);
	/* A new process of another program may have had its peak beside the memory of the last tick. */
	add(200, 400);
	tick(523);
	assert_int_equal(most_mib(400), 400 + 323);
}

static void test_a_fork_that_exits_is_not_beside_the_pages_that_it_inherited(void **unused)
{
	struct member *parent = add(100, 100), *fork = add_fork(parent, 100, 0, 100);

	(void)unused;
	tick(100);
	/* Its mark is first read while the kernel frees its memory. */
	fork->memory.resident_pages = 5 * MIB_PAGES;
	fork->memory.mark_kib = 100 * MIB_KIB;
	tick(100);
	assert_int_equal(most_mib(100), 100);
	/* The same with the parent, whose fork goes on. */
	begin(NULL);
	parent = add(100, 0);
	fork = add_fork(parent, 100, 100, 100);
	tick(100);
	parent->memory.resident_pages = 5 * MIB_PAGES;
	parent->memory.mark_kib = 100 * MIB_KIB;
	fork->parent_pid = 1000; /* the kernel gives it another one, as soon as the parent exits */
	tick(100);
	assert_int_equal(most_mib(100), 100);
}

static void test_a_fork_that_exits_was_beside_the_pages_that_one_of_the_two_replaced(void **unused)
{
	struct member *parent = add(100, 100), *fork = add_fork(parent, 100, 0, 100);

	(void)unused;
	fork->memory.faults = 30 * MIB_PAGES;
	parent->memory.faults = 120 * MIB_PAGES;
	fork->memory.parent_faults = 100 * MIB_PAGES;
	tick(150);
	fork->is_zombie = true;
	fork->memory.mark_kib = 100 * MIB_KIB;
	tick(100);
	assert_int_equal(most_mib(100), 150);
}

/* The parent grew after its last tick, and took a page for each of its faults. Its forks go on. */
static void test_a_parent_that_exits_is_not_beside_the_pages_that_its_forks_inherited(void **unused)
{
	struct member *parent = add(250, 250);

	(void)unused;
	add_fork(parent, 190, 190, 190);
	tick(250);
	memory_member_left(&tree, parent);
	members[0] = members[--tree.count];
	tree.cpu.unseen_faults = 50 * MIB_PAGES;
	tick(190);
	assert_int_equal(most_mib(300), 300);
	/* If the fork grew as well, it was beside the pages that its parent had alone: 60 MiB, and the 50. */
	members[0].memory.beside_kib = 0;
	memory_between_reaped(&tree, &members[0], 251 * MIB_KIB);
	assert_int_equal(most_mib(300), 251 + 110);
	/* The faults may be those of another process, beside what the two had together. */
	begin(NULL);
	parent = add(250, 250);
	add_fork(parent, 190, 190, 190);
	tick(250);
	memory_member_left(&tree, parent);
	members[0] = members[--tree.count];
	tree.cpu.unseen_faults = 400 * MIB_PAGES;
	tick(190);
	assert_int_equal(most_mib(400), 590);
}

static void test_a_fork_that_is_reaped_is_not_beside_a_parent_that_no_tick_saw(void **unused)
{
	struct member *fork = add(190, 190);

	(void)unused;
	fork->memory.is_forked = true;
	tree.cpu.unseen_faults = 190 * MIB_PAGES;
	tick(190);
	memory_between_reaped(&tree, fork, 191 * MIB_KIB);
	assert_int_equal(most_mib(191), 191);
	/* It may have replaced pages while its parent had them. */
	tree.memory.between.seen_kib = 190 * MIB_KIB;
	fork->memory.faults = 60 * MIB_PAGES;
	memory_between_reaped(&tree, fork, 191 * MIB_KIB);
	assert_int_equal(most_mib(191), 190 + 60);
	/* A larger process that came later was another one. */
	tree.cpu.unseen_faults += 200 * MIB_PAGES;
	tick(190);
	memory_between_reaped(&tree, fork, 192 * MIB_KIB);
	assert_int_equal(most_mib(192), 192 * 2);
}

static void test_a_new_process_is_not_beside_one_that_has_gone(void **unused)
{
	(void)unused;
	add(300, 300);
	tick(300);
	memory_member_left(&tree, &members[0]);
	tree.count = 0;
	add(290, 290);
	tick(290);
	assert_int_equal(most_mib(300), 300);
}

static void test_an_unseen_mark_counts_beside_the_members_that_stayed(void **unused)
{
	struct member *parent = add(150, 150);

	(void)unused;
	tick(150);
	tick(150);
	assert_int_equal(most_mib(200), 200);
	/* A process came and went between two samples. */
	tree.cpu.unseen_faults = MANY_FAULTS;
	tick(150);
	assert_int_equal(most_mib(200), 350);
	/* The largest mark may be the parent's, but the page faults are not. */
	assert_int_equal(most_mib(150), 300);
	parent->is_zombie = true;
	tick(-1);
	assert_int_equal(most_mib(200), 350);
}

/* A daemon grew after its last tick. A process that came and went before was beside it, but the daemon was not beside itself. */
static void test_a_mark_that_wait4_gives_to_its_process_counts_beside_the_others(void **unused)
{
	struct member *daemon = add(94, 94);

	(void)unused;
	add(10, 10);
	tick(104);
	tree.cpu.unseen_faults = 3 * MIB_PAGES;
	tick(104);
	/* A tick may find it while it is not yet reaped. */
	daemon->is_zombie = true;
	tick(10);
	memory_between_reaped(&tree, daemon, 97 * MIB_KIB);
	memory_member_left(&tree, daemon);
	assert_int_equal(most_mib(97), 107);
	/* Another process may have been larger, beside both. */
	assert_int_equal(most_mib(120), 120 + 104);
}

/* A busy recorder finds it dead before it reaps it, in a tick in which a smaller process has come and gone as well. */
static void test_a_process_that_a_tick_finds_dead_is_not_beside_itself(void **unused)
{
	struct member *daemon = add(104, 104);

	(void)unused;
	add(10, 10);
	tick(114);
	daemon->is_zombie = true;
	tree.cpu.unseen_faults = 12 * MIB_PAGES;
	tick(10);
	memory_between_reaped(&tree, daemon, 110 * MIB_KIB);
	memory_member_left(&tree, daemon);
	assert_int_equal(most_mib(110), 110 + 12);
	/* Another member that has gone before the tick may have grown beside it. */
	begin(NULL);
	daemon = add(104, 104);
	add(50, 50);
	tick(154);
	memory_member_left(&tree, &members[1]);
	tree.count = 1;
	daemon->is_zombie = true;
	tree.cpu.unseen_faults = 12 * MIB_PAGES;
	tick(-1);
	memory_between_reaped(&tree, daemon, 110 * MIB_KIB);
	assert_int_equal(most_mib(110), 110 + 62);
}

static void test_a_reaped_mark_counts_beside_a_process_that_came_and_went(void **unused)
{
	struct member *parent = add(100, 100);

	(void)unused;
	tick(100);
	tree.cpu.unseen_faults = 60 * MIB_PAGES;
	tick(100);
	memory_between_reaped(&tree, parent, 300 * MIB_KIB);
	assert_int_equal(most_mib(300), 360);
}

/* The shape of a job that shares System V memory with a child, whose short-lived object is smaller than that. */
static void test_an_unseen_process_that_is_smaller_than_its_parent_counts_by_its_faults(void **unused)
{
	(void)unused;
	add(150, 150);
	tick(150);
	tree.cpu.unseen_faults = 120 * MIB_PAGES;
	tick(150);
	assert_int_equal(most_mib(150), 270);
	/* The same faults again: it was another process, after the first. */
	tree.cpu.unseen_faults *= 2;
	tick(150);
	assert_int_equal(most_mib(150), 270);
}

static void test_an_exit_before_the_first_sample_counts_beside_the_root_alone(void **unused)
{
	(void)unused;
	tree.root_pid = 1;
	add(150, 150);
	tree.cpu.unseen_faults = 120 * MIB_PAGES;
	tick(150);
	assert_int_equal(most_mib(150), 270);
	/* The other process may be the next step of a script. */
	begin(NULL);
	tree.root_pid = 1;
	add(2, 2);
	add(118, 118);
	tree.cpu.unseen_faults = 120 * MIB_PAGES;
	tick(120);
	assert_int_equal(most_mib(120), 122);
}

static void test_a_member_that_grew_before_it_exited_counts_by_its_faults(void **unused)
{
	struct member *child;

	(void)unused;
	add(150, 150);
	child = add(2, 2);
	child->memory.faults = 300;
	tick(151);
	memory_member_left(&tree, child);
	tree.count = 1;
	tree.cpu.unseen_faults = 120 * MIB_PAGES;
	tick(150);
	assert_true(most_mib(150) >= 265 && most_mib(150) <= 275);
}

static void test_a_member_that_takes_and_frees_memory_until_its_end_does_not_grow(void **unused)
{
	struct member *child;

	(void)unused;
	add(150, 150);
	child = add(20, 20);
	child->memory.faults = 2000 * MIB_PAGES;
	tick(170);
	memory_member_left(&tree, child);
	tree.count = 1;
	tree.cpu.unseen_faults = 500 * MIB_PAGES;
	tick(150);
	assert_true(most_mib(150) >= 170 && most_mib(150) <= 176);
}

static void test_many_exited_processes_share_the_faults(void **unused)
{
	(void)unused;
	add(150, 150);
	tick(150);
	tree.cpu.unseen_faults = 100 * MIB_PAGES;
	tree.exited_count = 30;
	tick(150);
	assert_int_equal(most_mib(150), 160);
	/* Where processes exit unseen, all faults may be those of one. */
	tree.cpu.exits_missed = true;
	tree.cpu.unseen_faults += 100 * MIB_PAGES;
	tick(150);
	assert_int_equal(most_mib(150), 250);
}

static void test_a_process_alone_is_not_larger_than_its_mark(void **unused)
{
	(void)unused;
	add(150, 150);
	tick(150);
	memory_member_left(&tree, &members[0]);
	tree.count = 0;
	tree.cpu.unseen_faults = 100 * MIB_PAGES;
	tick(-1);
	assert_int_equal(most_mib(150), 150);
}

static void test_an_unseen_mark_of_the_last_process_counts_alone(void **unused)
{
	struct member *one = add(150, 150);

	(void)unused;
	tick(150);
	one->is_zombie = true;
	one->memory.resident_pages = 0;
	tick(-1);
	assert_int_equal(most_mib(300), 300);
}

static void test_an_unseen_mark_at_the_end_counts_beside_an_object(void **unused)
{
	struct member *one = add(10, 10);

	(void)unused;
	tick(160);
	memory_member_left(&tree, one);
	tree.count = 0;
	tick(-1);
	assert_int_equal(most_mib(160), 310);
}

static void test_a_mark_that_is_read_while_its_process_ends_counts(void **unused)
{
	struct member *one = add(10, 10);

	(void)unused;
	tick(160);
	one->memory.mark_kib = tree.memory.largest_kib = 160 * MIB_KIB;
	one->memory.resident_pages = 0;
	one->is_zombie = true;
	tick(-1);
	assert_int_equal(most_mib(160), 310);
}

static void test_a_mark_that_is_read_as_its_process_is_reaped_counts(void **unused)
{
	(void)unused;
	add(10, 10);
	tick(160);
	members[0].memory.mark_kib = tree.memory.largest_kib = 160 * MIB_KIB;
	memory_member_left(&tree, &members[0]);
	tree.count = 0;
	tick(-1);
	assert_int_equal(most_mib(160), 310);
}

static void test_the_mark_of_the_largest_member_is_read_if_it_matters(void **unused)
{
	(void)unused;
	add(2, 0);
	add(10, 0);
	tick(12);
	assert_int_equal(tree.memory.between.largest_pid, 0);
	tick(162);
	assert_int_equal(tree.memory.between.largest_pid, 2);
	/* An upper bound of the tree's memory proves nothing. */
	tick(-1);
	assert_int_equal(tree.memory.between.largest_pid, 0);
}

/* ---- named shared memory that changes hands --------------------------------------------------------------------- */

#define WITH_VMSTAT(test) cmocka_unit_test_setup_teardown(test, begin_with_vmstat, end_with_vmstat)

enum { BOOTED_MIB = 5000 };

static int begin_with_vmstat(void **state)
{
	if (begin(state) < 0 || scratch_enter(state) < 0 || mkdir("proc", 0755) < 0)
		return -1;
	put_text(".root", "clock_ticks 100\npage_bytes 4096\n");
	return root_open(&root, ".", NULL);
}

static int end_with_vmstat(void **state)
{
	root_close(&root);
	root = (struct root){.page_bytes = 4096};
	return scratch_leave(state);
}

/* The machine has allocated so much since BOOTED_MIB. */
static void allocate(int64_t mib)
{
	char text[128];

	snprintf(text, sizeof text,
		 "nr_free_pages 7\npgalloc_dma32 %d\npgalloc_normal %lld\npgfree 1\noom_kill 0\n",
		 1000 * MIB_PAGES, (long long)(BOOTED_MIB - 1000 + mib) * MIB_PAGES);
	put_text("proc/vmstat", text);
}

static void start_job(void)
{
	allocate(0);
	memory_between_begin(&tree);
}

static void tick_with(int64_t objects_mib, int64_t tree_mib)
{
	tree.memory.between.objects_kib = objects_mib * MIB_KIB;
	memory_between_follow(&tree, tree_mib * MIB_KIB, tree_mib * MIB_KIB);
}

static void test_an_object_that_was_unmapped_is_not_beside_its_own_pages(void **unused)
{
	(void)unused;
	add(1, 201);
	start_job();
	allocate(203);
	tick_with(200, 201);
	assert_int_equal(most_mib(201), 203);
}

static void test_memory_that_was_allocated_beside_an_object_counts(void **unused)
{
	(void)unused;
	add(1, 151);
	start_job();
	allocate(352);
	tick_with(200, 201);
	assert_int_equal(most_mib(151), 351);
}

static void test_an_object_counts_beside_a_mark_where_allocations_are_unknown(void **unused)
{
	(void)unused;
	add(1, 201);
	start_job();
	assert_int_equal(unlink("proc/vmstat"), 0);
	tick_with(200, 201);
	assert_int_equal(most_mib(201), 401);
}

/* Pages of files were in the page cache before, so nothing was allocated for them. */
static void test_mapped_files_count_though_they_were_not_allocated(void **unused)
{
	(void)unused;
	add(31, 231);
	start_job();
	allocate(202);
	tree.memory.between.files_kib = 30 * MIB_KIB;
	tick_with(200, 231);
	assert_int_equal(most_mib(231), 232);
}

/* A process maps 120 MiB of a file that was in the page cache: no object can have these pages. */
static void test_a_mark_counts_beside_another_process_whatever_was_allocated(void **unused)
{
	struct member *one = add(1, 1);

	(void)unused;
	add(150, 150);
	start_job();
	allocate(0);
	tick_with(5, 156);
	one->memory.mark_kib = 121 * MIB_KIB;
	tick_with(5, 156);
	assert_int_equal(most_mib(150), 121 + 155 - 5);
}

static void test_a_process_may_reach_its_mark_again_without_raising_it(void **unused)
{
	struct member *one = add(1, 201);

	(void)unused;
	start_job();
	allocate(201);
	tick_with(200, 201);
	tick_with(200, 201);
	assert_int_equal(most_mib(201), 201);
	allocate(201 + 150);
	tick_with(200, 201);
	assert_int_equal(most_mib(201), 351);
	/* Also after its last tick, and no more than its mark. */
	allocate(201 + 150 + 900);
	memory_member_left(&tree, one);
	assert_int_equal(most_mib(201), 401);
}

static void test_a_mark_counts_no_more_once_the_object_has_gone(void **unused)
{
	struct member *one = add(1, 201);

	(void)unused;
	start_job();
	allocate(201);
	tick_with(200, 201);
	tick_with(0, 1);
	allocate(900);
	tick_with(0, 100);
	tick_with(200, 300);
	assert_int_equal(most_mib(201), 201);
	memory_member_left(&tree, one);
	assert_int_equal(most_mib(201), 201);
}

/* An attached job had memory before. The tick includes all that was allocated until then. */
static void test_any_tick_may_be_the_base(void **unused)
{
	struct member *one = add(10, 0);

	(void)unused;
	root.allocated_pages = (int64_t)(BOOTED_MIB + 300) * MIB_PAGES;
	tick_with(0, 10);
	/* A tick that counts pages several times may be too high. */
	root.allocated_pages = (int64_t)(BOOTED_MIB + 900) * MIB_PAGES;
	memory_between_follow(&tree, 10 * MIB_KIB, -1);
	root.allocated_pages = (int64_t)(BOOTED_MIB + 300) * MIB_PAGES;
	allocate(300 + 205);
	one->memory.mark_kib = 210 * MIB_KIB;
	tick_with(200, 210);
	assert_int_equal(most_mib(210), 215);
	/* A later tick with more in it changes nothing. */
	tick_with(200, 210);
	one->memory.mark_kib = 212 * MIB_KIB;
	allocate(300 + 210);
	tick_with(200, 210);
	assert_int_equal(most_mib(212), 220);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_rising_mark_counts_beside_memory_in_no_resident_set, begin),
		cmocka_unit_test_setup(test_a_rising_mark_does_not_count_beside_its_own_process, begin),
		cmocka_unit_test_setup(test_a_process_that_maps_a_page_three_times_has_it_once, begin),
		cmocka_unit_test_setup(test_forks_that_map_a_page_five_times_have_it_once, begin),
		cmocka_unit_test_setup(test_a_new_fork_is_not_beside_the_pages_of_its_parent, begin),
		cmocka_unit_test_setup(test_a_fork_that_exits_is_not_beside_the_pages_that_it_inherited,
				       begin),
		cmocka_unit_test_setup(
			test_a_fork_that_exits_was_beside_the_pages_that_one_of_the_two_replaced, begin),
		cmocka_unit_test_setup(
			test_a_parent_that_exits_is_not_beside_the_pages_that_its_forks_inherited, begin),
		cmocka_unit_test_setup(test_a_fork_that_is_reaped_is_not_beside_a_parent_that_no_tick_saw,
				       begin),
		cmocka_unit_test_setup(test_a_new_process_is_not_beside_one_that_has_gone, begin),
		cmocka_unit_test_setup(test_an_unseen_mark_counts_beside_the_members_that_stayed, begin),
		cmocka_unit_test_setup(test_a_mark_that_wait4_gives_to_its_process_counts_beside_the_others,
				       begin),
		cmocka_unit_test_setup(test_a_process_that_a_tick_finds_dead_is_not_beside_itself, begin),
		cmocka_unit_test_setup(test_a_reaped_mark_counts_beside_a_process_that_came_and_went, begin),
		cmocka_unit_test_setup(
			test_an_unseen_process_that_is_smaller_than_its_parent_counts_by_its_faults, begin),
		cmocka_unit_test_setup(test_an_exit_before_the_first_sample_counts_beside_the_root_alone,
				       begin),
		cmocka_unit_test_setup(test_a_member_that_grew_before_it_exited_counts_by_its_faults, begin),
		cmocka_unit_test_setup(test_a_member_that_takes_and_frees_memory_until_its_end_does_not_grow,
				       begin),
		cmocka_unit_test_setup(test_many_exited_processes_share_the_faults, begin),
		cmocka_unit_test_setup(test_a_process_alone_is_not_larger_than_its_mark, begin),
		cmocka_unit_test_setup(test_an_unseen_mark_of_the_last_process_counts_alone, begin),
		cmocka_unit_test_setup(test_an_unseen_mark_at_the_end_counts_beside_an_object, begin),
		cmocka_unit_test_setup(test_a_mark_that_is_read_while_its_process_ends_counts, begin),
		cmocka_unit_test_setup(test_a_mark_that_is_read_as_its_process_is_reaped_counts, begin),
		cmocka_unit_test_setup(test_the_mark_of_the_largest_member_is_read_if_it_matters, begin),
		WITH_VMSTAT(test_an_object_that_was_unmapped_is_not_beside_its_own_pages),
		WITH_VMSTAT(test_memory_that_was_allocated_beside_an_object_counts),
		WITH_VMSTAT(test_an_object_counts_beside_a_mark_where_allocations_are_unknown),
		WITH_VMSTAT(test_mapped_files_count_though_they_were_not_allocated),
		WITH_VMSTAT(test_a_mark_counts_beside_another_process_whatever_was_allocated),
		WITH_VMSTAT(test_a_process_may_reach_its_mark_again_without_raising_it),
		WITH_VMSTAT(test_a_mark_counts_no_more_once_the_object_has_gone),
		WITH_VMSTAT(test_any_tick_may_be_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
