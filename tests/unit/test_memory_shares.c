/* Tests of src/job/memory/memory_divide.c and process_memory.c: the parts of members in a family, and sums to the KiB. */
#include "made_readings.h"

static int64_t best_kib(void)
{
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
	return found.best_bytes / 1024;
}

/* The shares of the first members in KiB, rounded. */
static void assert_shares(double total_kib, int64_t first, int64_t second)
{
	process_memory_divide(&memory, &tree, total_kib);
	assert_int_equal((int64_t)(members[0].memory.share + 0.5), first);
	assert_int_equal((int64_t)(members[1].memory.share + 0.5), second);
}

/* A process and its fork, with 10 and 30 MiB of their own, of which the family has `family_mib` in all. */
static void lay_family(int family_mib)
{
	for (int i = 0; i < 2; i++) {
		struct memory_reading *reading = read_as(add(100, 0), READING_ROLLUP, 0);

		members[i].memory.family = 1;
		members[i].memory.is_forked = i > 0;
		members[i].memory.inherited_pages = i * 80 * MIB_PAGES;
		members[i].memory.faults = reading->faults = i ? 5 * MIB_PAGES : 100 * MIB_PAGES;
		members[i].memory.parent_faults = i * 100 * MIB_PAGES;
		members[i].memory.reading_failed_ns = NOW_NS;
		reading->family_size = 2;
		reading->exclusive_kib = (10 + 20 * i) * MIB;
		reading->common_kib = 100 * MIB - reading->exclusive_kib;
	}
	(void)best_kib();
	memory.families.at[0].anon_kib = family_mib * MIB;
}

static void members_of_a_family_have_their_own_and_half_of_the_rest(void **state)
{
	(void)state;
	lay_family(100);
	assert_shares(100 * MIB, 40 * MIB, 60 * MIB);
	/* The family has less than both have of their own. */
	memory.families.at[0].anon_kib = 20 * MIB;
	assert_shares(20 * MIB, 5 * MIB, 15 * MIB);
	memory.families.at[0].anon_kib = 40 * MIB;
	assert_shares(40 * MIB, 10 * MIB, 30 * MIB);
	/* Nothing of the total is anonymous any more. */
	memory.families.at[0].anon_kib = 0;
	assert_shares(0, 0, 0);
}

/* A member that was not read has for certain what it faulted in since its fork, and a process that did not fork nothing. */
static void unread_members_have_their_certain_part(void **state)
{
	(void)state;
	lay_family(100);
	members[0].memory.reading->taken_ns = members[1].memory.reading->taken_ns = 0;
	/* The fork has 20 MiB more than it inherited. */
	assert_shares(100 * MIB, 40 * MIB, 60 * MIB);
	members[1].memory.faults = 70 * MIB_PAGES;
	assert_shares(100 * MIB, 15 * MIB, 85 * MIB);
	members[0].memory.reading->taken_ns = NOW_NS;
	assert_shares(100 * MIB, 20 * MIB, 80 * MIB);
}

/* Its pages are those that it maps, or its part of the objects if that is more. */
static void files_are_divided_by_the_mappings_of_each_member(void **state)
{
	(void)state;
	lay_segment();
	assert_int_equal(best_kib(), 40 * MIB);
	/* 20 MiB of two users, and 10 MiB in each page table. */
	members[1].memory.shared_pages = 30 * MIB_PAGES;
	assert_shares(60 * MIB, 10 * MIB + 10 * MIB, 10 * MIB + 30 * MIB);
	/* The size of the object is unknown, or it has none. */
	members[1].memory.shared_pages = members[0].memory.shared_pages = MIB_PAGES;
	memory.objects.objects[0].kib = -1;
	assert_shares(60 * MIB, 30 * MIB, 30 * MIB);
	memory.objects.objects[0].kib = 6 * MIB;
	memory.objects.objects[0].users = 0;
	members[1].memory.shared_pages = 3 * MIB_PAGES;
	assert_shares(60 * MIB, 20 * MIB, 40 * MIB);
	members[1].memory.reading->objects.count = 0;
	memory.objects.objects[0].users = 1;
	assert_shares(60 * MIB, 10 * MIB + 40 * MIB * 6 / 9 + 1, 10 * MIB + 40 * MIB * 3 / 9);
}

/* A member that has ended holds nothing, and one without weight gets nothing of the rest. */
static void an_object_without_users_belongs_to_its_holder_alone(void **state)
{
	struct memory_object *object;

	(void)state;
	lay_segment();
	(void)best_kib();
	object = &memory.objects.objects[0];
	for (int i = 0; i < 2; i++) {
		members[i].memory.reading->objects.count = 0;
		members[i].memory.shared_pages = 0;
	}
	object->is_used = false;
	object->held_by = members[1].pid;
	assert_shares(40 * MIB, 10 * MIB, 30 * MIB);
	object->is_used = true;
	assert_shares(40 * MIB, 30 * MIB, 10 * MIB);
	object->is_used = false;
	object->kib = 0;
	assert_shares(40 * MIB, 30 * MIB, 10 * MIB);
	object->kib = -1;
	assert_shares(40 * MIB, 30 * MIB, 10 * MIB);
	/* No member counts. */
	members[0].is_zombie = members[1].is_zombie = true;
	memory.families.at[0].count = memory.families.at[1].count = 0;
	assert_shares(40 * MIB, 0, 0);
}

/* ---- sums to the KiB --------------------------------------------------------------------------------------------- */

/* Without /proc/meminfo nothing limits the sum, and shared memory is not searched. */
static void a_machine_that_tells_nothing_limits_nothing(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	unlink("proc/meminfo");
	assert_int_equal(best_kib(), 105 * MIB);
	assert_null(found.machine);
	assert_true(memory.reader.swap_in_use);
	assert_int_equal(memory.machine.shmem_kib, -1);
	assert_int_equal(memory.machine.anon_pages_kib, -1);
	lay_machine(60, 10, 0, 0);
	memory.told_ns = 0;
	assert_int_equal(best_kib(), 70 * MIB);
	assert_non_null(found.machine);
	assert_false(memory.reader.swap_in_use);
}

/* The private pages of a root that a sample has read, and growth since. */
static void figures_of_a_sampled_tree_are_exact(void **state)
{
	struct memory_reading *reading = read_as(add(100, 20), READING_SAMPLED, 5);

	(void)state;
	members[0].memory.rollup_ns = NSEC_PER_SEC;
	assert_int_equal(best_kib(), 105 * MIB);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	assert_int_equal(found.error_kib, 0);
	assert_int_equal(found.pss_kib, 105 * MIB);
	assert_int_equal(found.file_kib, 5 * MIB);
	assert_int_equal(found.main_private_kib, 105 * MIB);
	/* Pages of files that it has alone are private as well. */
	assert_int_equal(found.private_kib, 105 * MIB);
	assert_int_equal(found.shared_kib, 15 * MIB);
	/* Its files have grown by 3 MiB, which may be its own. */
	members[0].memory.shared_pages += 3 * MIB_PAGES;
	members[0].memory.resident_pages += 3 * MIB_PAGES;
	reading->taken_ns = NOW_NS;
	assert_int_equal(best_kib(), 108 * MIB);
	assert_int_equal(found.pss_age_ns, 0);
	/* A fork has most of them from its parent. */
	members[0].memory.is_forked = true;
	assert_int_equal(best_kib(), 105 * MIB);
	/* They have become fewer: the reading stands. */
	members[0].memory.is_forked = false;
	members[0].memory.shared_pages -= 6 * MIB_PAGES;
	members[0].memory.resident_pages -= 6 * MIB_PAGES;
	assert_int_equal(best_kib(), 105 * MIB);
}

static void growth_of_files_since_a_rollup_counts(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	members[0].memory.reading_failed_ns = NOW_NS;
	members[0].memory.shared_pages++;
	members[0].memory.resident_pages++;
	assert_int_equal(best_kib(), 105 * MIB + PAGE_KIB);
	members[0].memory.shared_pages -= 2;
	members[0].memory.resident_pages -= 2;
	assert_int_equal(best_kib(), 105 * MIB);
}

/* The oldest of the readings tells the age of the sum. */
static void the_age_is_that_of_the_oldest_reading(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		read_as(add(10, 1), READING_ROLLUP, 1)->taken_ns = NOW_NS - (i == 1 ? 3 : 2) * NSEC_PER_SEC;
	(void)best_kib();
	assert_int_equal(found.pss_age_ns, 3 * NSEC_PER_SEC);
	members[1].is_zombie = true;
	(void)best_kib();
	assert_int_equal(found.pss_age_ns, 2 * NSEC_PER_SEC);
}

/* Why shares are unknown: the errno of the root's reading, or the time that they would take. */
static void shares_that_are_unknown_have_their_reason(void **state)
{
	(void)state;
	add(100, 20)->memory.reading_failed_ns = NOW_NS;
	(void)best_kib();
	assert_int_equal(found.pss_reason, ABSENT_PSS_TOO_COSTLY);
	memory.ruled_out = -EACCES;
	(void)best_kib();
	assert_int_equal(found.pss_reason, EACCES);
	assert_int_equal(found.pss_kib, 0);
	assert_int_equal(found.best_source, MEMORY_RSS);
}

/* Proportional shares add up to the resident sets at most, apart from memory that is in none of them. */
static void a_sum_is_at_most_the_resident_sets_and_the_objects(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 25);
	assert_int_equal(best_kib(), 120 * MIB);
	assert_int_equal(found.pss_kib, 120 * MIB);
	assert_int_equal(found.file_kib, 25 * MIB);
	members[0].memory.reading->file_kib = 20 * MIB - 1;
	assert_int_equal(best_kib(), 120 * MIB - 1);
	members[0].memory.reading->private_kib = 130 * MIB;
	members[0].memory.reading->exclusive_kib = 130 * MIB;
	(void)best_kib();
	assert_int_equal(found.private_kib, 120 * MIB);
	assert_int_equal(found.shared_kib, 0);
}

/* The group of the job counts each page once. Memory of the kernel for it is in the group alone. */
static void a_group_tells_its_parts_as_far_as_it_has_them(void **state)
{
	static const struct {
		const char *stat;
		int64_t bytes;
	} CASES[] = {{"anon 1000\nshmem 0\nkernel 0\n", 1000},
		     {"anon 1000\nshmem 1\nkernel 1\n", 1002},
		     {"anon 1000\n", 1000},
		     {"anon 0\nshmem 5\nkernel_stack 2\nslab 3\n", 10},
		     {"shmem 5\nkernel 7\n", 120 << 20}};

	(void)state;
	add(100, 20)->memory.reading_failed_ns = NOW_NS;
	tree.memory.cgroup_has_memory = true;
	tree.cgroup_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		put_text("memory.stat", CASES[i].stat);
		(void)best_kib();
		assert_int_equal(found.best_bytes, CASES[i].bytes);
		assert_int_equal(found.best_source, i < 4 ? MEMORY_CGROUP : MEMORY_RSS);
	}
	close(tree.cgroup_folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* A sample of files stands for more pages than it found, by what is resident: on average over the pages of both. */
static void sampled_pages_of_files_are_scaled(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct memory_reading *reading = read_as(add(10, 8), READING_SAMPLED, 0);

		members[i].memory.rollup_ns = NSEC_PER_SEC;
		members[i].memory.reading_failed_ns = NOW_NS;
		for (uint64_t page = 0; page < 256 * (i + 1); page++)
			assert_true(page_places_add(&reading->files, 1, page));
		reading->files_scale = i ? 2 : 5;
	}
	/* 256 pages times 5 and 512 times 2 are 768 times 3, and 512 of them are different ones. */
	assert_int_equal(best_kib(), 20 * MIB + 6 * MIB);
	/* The same readings have the same sum, without another look. */
	members[0].memory.reading->files_scale = 2;
	assert_int_equal(best_kib(), 20 * MIB + 6 * MIB);
	members[0].memory.reading->taken_ns--;
	assert_int_equal(best_kib(), 20 * MIB + 4 * MIB);
	/* Samples of two levels are compared at the coarser one: each page stands for two. */
	members[1].memory.reading->files.level = 1;
	members[0].memory.reading->files_scale = members[1].memory.reading->files_scale = 1;
	members[1].memory.reading->taken_ns--;
	for (uint64_t i = 0; i < 512; i++)
		members[1].memory.reading->files.at[i].page = page_sample_at(1, i / 2);
	for (uint64_t i = 0; i < 256; i++)
		members[0].memory.reading->files.at[i].page = i;
	assert_int_equal(best_kib(), 20 * MIB + 2 * MIB);
	/* One that has ended has no pages. */
	members[1].is_zombie = true;
	assert_int_equal(best_kib(), 10 * MIB + MIB);
}

/* Later marks are compared to figures, and never to a bound. */
static void the_tree_of_a_bound_is_unknown_to_the_next_tick(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct member *member = add(10, 0);

		member->memory.family = 1;
		member->memory.is_forked = i > 0;
		member->memory.inherited_pages = i * 10 * MIB_PAGES;
		member->memory.reading_failed_ns = NOW_NS;
	}
	tree.memory.between.before_kib = 7;
	(void)best_kib();
	assert_int_equal(found.best_source, MEMORY_BOUND);
	assert_int_equal(tree.memory.between.before_kib, -1);
}

/* An object of unknown size may have what no other object of the machine has, or what page faults brought. */
static void pages_of_an_unknown_object_are_at_most_the_rest_of_the_machine(void **state)
{
	static const char NAME[] = "/dev/zero (deleted)";
	const struct memory_area area = {.device = 1,
					 .inode = 9,
					 .end = 40 * MIB * 1024,
					 .shared = true,
					 .writable = true,
					 .name = {NAME, NAME + sizeof NAME - 1}};
	char text[400];

	(void)state;
	lay_segment();
	assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &area));
	assert_true(page_places_add(&members[0].memory.reading->objects, 1, 9));
	tree.started_by_caller = true;
	tree.cpu.account.published.of[USAGE_MINOR_FAULTS] = 500 * MIB_PAGES;
	/* 100 MiB of the machine, of which the segment has 20. */
	(void)best_kib();
	assert_int_equal(found.error_kib, 80 * MIB);
	tree.cpu.account.published.of[USAGE_MINOR_FAULTS] = 30 * MIB_PAGES;
	tree.cpu.account.published.of[USAGE_MAJOR_FAULTS] = 5 * MIB_PAGES;
	(void)best_kib();
	assert_int_equal(found.error_kib, 35 * MIB);
	for (int huge = 0; huge < 2; huge++) {
		snprintf(text, sizeof text,
			 "AnonPages: 4000000 kB\nMapped: 4000000 kB\nShmem: %d kB\nShmemHugePages: %d kB\n",
			 100 * MIB, huge);
		put_text("proc/meminfo", text);
		memory.told_ns = 0;
		(void)best_kib();
		assert_int_equal(found.error_kib, huge ? 80 * MIB : 35 * MIB);
	}
	lay_machine(4000, 4000, 100, 4);
	tree.sigchld_ignored = true;
	(void)best_kib();
	assert_int_equal(found.error_kib, 80 * MIB);
	tree.sigchld_ignored = false;
	tree.with_children = false;
	(void)best_kib();
	assert_int_equal(found.error_kib, 80 * MIB);
	tree.with_children = true;
	tree.started_by_caller = false;
	(void)best_kib();
	assert_int_equal(found.error_kib, 80 * MIB);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(members_of_a_family_have_their_own_and_half_of_the_rest),
		TEST(unread_members_have_their_certain_part),
		TEST(files_are_divided_by_the_mappings_of_each_member),
		TEST(an_object_without_users_belongs_to_its_holder_alone),
		TEST(a_machine_that_tells_nothing_limits_nothing),
		TEST(figures_of_a_sampled_tree_are_exact),
		TEST(growth_of_files_since_a_rollup_counts),
		TEST(the_age_is_that_of_the_oldest_reading),
		TEST(shares_that_are_unknown_have_their_reason),
		TEST(a_sum_is_at_most_the_resident_sets_and_the_objects),
		TEST(a_group_tells_its_parts_as_far_as_it_has_them),
		TEST(sampled_pages_of_files_are_scaled),
		TEST(the_tree_of_a_bound_is_unknown_to_the_next_tick),
		TEST(pages_of_an_unknown_object_are_at_most_the_rest_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
