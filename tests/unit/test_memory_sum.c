/* Tests of src/job/memory/process_memory.c: the sum over members whose readings the test has made. */
#include "made_readings.h"

static void test_anonymous_memory_and_files_as_they_were_read(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	assert_int_equal(best_mib(), 105);
	assert_int_equal(found.best_source, MEMORY_PSS);
	assert_int_equal(found.pss_kib, 105 * MIB);
	assert_int_equal(found.rss_bytes / 1024, 120 * MIB);
	assert_int_equal(found.private_kib, 100 * MIB);
	assert_int_equal(found.main_private_kib, 100 * MIB);
	assert_int_equal(found.error_kib, -1);
	assert_int_equal(found.pss_age_ns, NSEC_PER_SEC);
}

/* Without time for a reading that is due, the sum is an estimate, and its error says how much may be wrong. */
static void test_a_reading_that_is_late_is_in_the_error(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5)->is_settled = false;
	memory.members_most = 1;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -1;
	assert_int_equal(best_mib(), 105);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	assert_true(found.error_kib >= 20 * MIB);
}

/* A tree has at most what the machine has. */
static void test_the_machine_limits_the_sum(void **state)
{
	(void)state;
	lay_machine(60, 10, 0, 0);
	read_as(add(100, 20), READING_ROLLUP, 5);
	assert_int_equal(best_mib(), 70);
}

static void test_unread_files_are_like_those_that_were_read(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	add(10, 8)->memory.reading_failed_ns = NOW_NS;
	assert_int_equal(best_mib(), 100 + 5 + 10 + 8 / 4);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
}

static void test_files_that_nothing_has_read_count_once(void **state)
{
	(void)state;
	add(100, 20)->memory.reading_failed_ns = NOW_NS;
	add(10, 8)->memory.reading_failed_ns = NOW_NS;
	assert_int_equal(best_mib(), 100 + 10 + 20);
	assert_int_equal(found.best_source, MEMORY_RSS);
}

static void test_a_page_that_two_members_map_counts_once(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct memory_reading *reading = read_as(add(10, 8), READING_SAMPLED, 1);

		members[i].memory.rollup_ns = NSEC_PER_SEC;
		/* 1,024 pages that both map, and 512 that only this one does, although others outside the job do. */
		for (uint64_t page = 0; page < 1024; page++)
			assert_true(page_places_add(&reading->files, 1, page));
		for (uint64_t page = 0; page < 512; page++)
			assert_true(page_places_add(&reading->files, 2 + (uint64_t)i, page));
	}
	members[0].memory.reading->others_shared_kib = members[1].memory.reading->others_shared_kib = 8 * MIB;
	assert_int_equal(best_mib(), 2 * 10 + 2 * 1 + 4 + 2 * 2);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	assert_true(found.error_kib >= 4 * MIB);
}

/* Two forks that could not be read are bounded by their page faults. From 2 % of the sum on, the source is a bound. */
static void test_a_part_that_rests_on_the_bound_makes_it_a_bound(void **state)
{
	static const struct {
		int mib;
		enum memory_source source;
	} CASES[] = {{1, MEMORY_PSS}, {2, MEMORY_BOUND}, {5, MEMORY_BOUND}};
	struct member *fork;

	(void)state;
	read_as(add(90, 0), READING_ROLLUP, 0);
	for (int i = 0; i < 2; i++) {
		fork = add(1, 0);
		fork->memory.family = 2;
		fork->memory.is_forked = i > 0;
		fork->parent_pid = FIRST_PID + 1;
		fork->memory.reading_failed_ns = NOW_NS;
	}
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		members[1].memory.resident_pages = members[2].memory.resident_pages =
			CASES[i].mib * MIB_PAGES;
		members[1].memory.faults = members[2].memory.inherited_pages = CASES[i].mib * MIB_PAGES;
		members[2].memory.faults = 0;
		members[2].memory.parent_faults = members[1].memory.faults;
		assert_int_equal(best_mib(), 90 + CASES[i].mib);
		assert_int_equal(found.best_source, CASES[i].source);
	}
}

/* Private huge pages are in no resident set. The machine tells how many there can be at most. */
static void test_huge_pages_are_at_most_those_of_the_machine(void **state)
{
	(void)state;
	lay_machine(4000, 4000, 0, 30);
	read_as(add(100, 0), READING_ROLLUP, 0)->huge_private_kib = 20 * MIB;
	assert_int_equal(best_mib(), 100 + 20);
	assert_int_equal(found.huge_kib, 20 * MIB);
}

/* Pages that a process takes from the machine's pool are in no resident set: it is asked in the tick in which the pool has fewer. */
static void test_a_smaller_pool_of_huge_pages_asks_for_a_reading(void **state)
{
#define SEVERAL_SIZES "HugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB\nHugetlb: 2097152 kB\n"
	static const struct {
		const char *pool, *status;
		enum reading_choice choice;
	} TICKS[] = {
		{"HugePages_Total: 8\nHugePages_Free: 8\nHugepagesize: 2048 kB\n", "HugetlbPages: 4096 kB\n",
		 READING_STILL_RIGHT},
		{"HugePages_Total: 8\nHugePages_Free: 6\nHugepagesize: 2048 kB\n", "HugetlbPages: 4096 kB\n",
		 READING_REFUSED},
		/* How many are in use is unknown. */
		{SEVERAL_SIZES, "HugetlbPages: 0 kB\n", READING_STILL_RIGHT},
		{SEVERAL_SIZES, "HugetlbPages: 4096 kB\n", READING_REFUSED},
	};
	struct member *one = add(10, 0);

	(void)state;
	read_as(one, READING_ROLLUP, 0);
	put_text("proc/meminfo", TICKS[0].pool);
	assert_int_equal(best_mib(), 10);
	assert_int_equal(mkdir("proc/100", 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(TICKS); i++) {
		one->memory.reading_failed_ns = memory.told_ns = 0;
		put_text("proc/meminfo", TICKS[i].pool);
		put_text("proc/100/status", TICKS[i].status);
		(void)best_mib();
		assert_int_equal(one->memory.choice, TICKS[i].choice);
	}
}

/* The tree sleeps: its figures hold, and so do the parts of its members. */
static void test_parts_of_a_tree_that_sleeps_hold(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	tree.pass_ns = NOW_NS;
	tree.changed_ns = NOW_NS - NSEC_PER_SEC;
	(void)best_mib();
	assert_false(memory.hold);
	process_memory_divide(&memory, &tree, 105 * MIB);
	assert_true(members[0].memory.share > 0);
	members[0].memory.share = 7;
	tree.pass_ns += NSEC_PER_SEC;
	assert_int_equal(best_mib(), 105);
	assert_true(memory.hold);
	process_memory_divide(&memory, &tree, 105 * MIB);
	assert_true(members[0].memory.share == 7);
	assert_int_equal(found.pss_age_ns, 2 * NSEC_PER_SEC);
	/* A member has run. */
	tree.changed_ns = tree.pass_ns;
	(void)best_mib();
	assert_false(memory.hold);
}

static void test_a_segment_counts_once_with_pages_that_no_process_maps(void **state)
{
	(void)state;
	lay_segment();
	assert_int_equal(best_mib(), 2 * 10 + 20);
	assert_int_equal(found.best_source, MEMORY_PSS);
	/* On hugetlbfs it is in no resident set, and the machine has four huge pages of 2 MiB in use. */
	memory.objects.objects[0].is_huge = true;
	assert_int_equal(best_mib(), 2 * 10 + 8);
	assert_int_equal(found.huge_kib, 8 * MIB);
	/* Free ones are in no use. Of a second size the machine tells the total alone. */
	put_text("proc/meminfo",
		 "AnonPages: 4000000 kB\nMapped: 4000000 kB\nShmem: 102400 kB\nHugePages_Total: 30\n"
		 "HugePages_Free: 27\nHugepagesize: 2048 kB\nHugetlb: 61440 kB\n");
	assert_int_equal(best_mib(), 2 * 10 + 6);
	put_text("proc/meminfo",
		 "AnonPages: 4000000 kB\nMapped: 4000000 kB\nShmem: 102400 kB\nHugePages_Total: 1\n"
		 "HugePages_Free: 1\nHugepagesize: 2048 kB\nHugetlb: 16384 kB\n");
	assert_int_equal(best_mib(), 2 * 10 + 16);
}

/* One has read more of the segment since its reading, for another one of which there was no time. Another job fills memory meanwhile. */
static void test_pages_of_a_segment_that_a_member_reads_later_count_once(void **state)
{
	(void)state;
	lay_segment();
	(void)best_mib();
	memory.members_most = 2;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	members[1].memory.resident_pages += 8 * MIB_PAGES;
	members[1].memory.shared_pages += 8 * MIB_PAGES;
	lay_machine(4000, 4000, 150, 4);
	assert_int_equal(best_mib(), 2 * 10 + 20);
	assert_true(found.error_kib >= 8 * MIB);
	/* More than the segment has is another object, but no more than the machine has got since. */
	members[1].memory.resident_pages += 20 * MIB_PAGES;
	members[1].memory.shared_pages += 20 * MIB_PAGES;
	assert_int_equal(best_mib(), 2 * 10 + 20); /* it maps the same pages several times */
	members[1].memory.virtual_pages += 20 * MIB_PAGES;
	assert_int_equal(best_mib(), 2 * 10 + 20 + 18);
	lay_machine(4000, 4000, 100, 4);
	assert_int_equal(best_mib(), 2 * 10 + 20);
}

/* An object of unknown size may have more pages than were seen: pages that were written come without a page fault. */
static void test_pages_without_a_fault_may_be_all_of_the_machine(void **state)
{
	static const struct {
		const char *name;
		int64_t faults, error_kib;
	} CASES[] = {
		{"/dev/zero (deleted)", 0, 0},
		{"/dev/zero (deleted)", 30 * MIB_PAGES, 30 * MIB},
		{"/dev/zero (deleted)", 200 * MIB_PAGES, 100 * MIB},
		{"/memfd:x (deleted)", 0, 100 * MIB},
		{"/memfd:x (deleted)", 30 * MIB_PAGES, 100 * MIB},
	};

	(void)state;
	lay_machine(4000, 4000, 100, 0);
	tree.started_by_caller = true;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct memory_area area = {.device = 1,
						 .inode = 5 + i,
						 .end = 40 * MIB * 1024,
						 .shared = true,
						 .writable = true,
						 .name = scan_bytes(CASES[i].name, strlen(CASES[i].name))};

		memory_objects_done(&memory.objects);
		assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &area));
		if (!i)
			assert_true(page_places_add(&read_as(add(10, 0), READING_ROLLUP, 0)->objects, 1, 5));
		members[0].memory.reading->objects.at[0] = (struct page_place){1, 5 + i};
		tree.cpu.account.published.of[USAGE_MINOR_FAULTS] = CASES[i].faults;
		assert_int_equal(best_mib(), 10);
		assert_int_equal(found.error_kib, CASES[i].error_kib);
	}
}

static void test_parts_of_the_members_add_up(void **state)
{
	double sum = 0;

	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	read_as(add(30, 10), READING_ROLLUP, 4);
	process_memory_divide(&memory, &tree, 0);
	(void)best_mib();
	process_memory_divide(&memory, &tree, (double)(found.best_bytes / 1024));
	for (size_t i = 0; i < tree.count; i++)
		sum += members[i].memory.share;
	assert_true(sum > (double)found.best_bytes / 1024 - 1 && sum < (double)found.best_bytes / 1024 + 1);
	/* 9 MiB of files by what each maps. */
	assert_int_equal((int64_t)(members[0].memory.share + 0.5), 106 * MIB);
	assert_int_equal((int64_t)(members[1].memory.share + 0.5), 33 * MIB);
}

static void test_a_job_of_ended_processes_has_no_memory(void **state)
{
	(void)state;
	add(100, 0)->is_zombie = true;
	add(100, 0)->memory.is_being_freed = true;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_true(found.reason != 0);
	assert_int_equal(found.pss_reason, found.reason);
}

/* A root that has exited has no private memory, and its descendants still have some. */
static void test_descendants_of_an_ended_root_have_memory(void **state)
{
	(void)state;
	add(50, 0)->is_zombie = true;
	read_as(add(100, 20), READING_ROLLUP, 5);
	assert_int_equal(best_mib(), 105);
	assert_int_equal(found.main_private_kib, -1);
	assert_int_equal(found.private_kib, 100 * MIB);
	assert_int_equal(found.shared_kib, 20 * MIB);
	assert_int_equal(found.file_kib, 5 * MIB);
	assert_int_equal(found.swap_kib, 0);
}

/* Processes of another user: the root's own refusal hides the job, as long as nothing is known of it. */
static void test_a_root_that_may_not_be_read_hides_the_job(void **state)
{
	(void)state;
	add(0, 0)->unreadable = true;
	add(10, 0);
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, EACCES);
	members[0].unreadable = false;
	members[0].memory.is_refused = true;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, EACCES);
	members[0].memory.resident_pages = MIB_PAGES;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
	members[0].memory.resident_pages = 0;
	members[0].is_zombie = true;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
}

static void test_without_readings_nothing_is_divided(void **state)
{
	(void)state;
	add(100, 20);
	add(10, 8);
	process_memory_measure(&memory, &tree, PSS_MODE_OFF, &found);
	assert_int_equal(found.reason, 0);
	assert_int_equal(found.pss_reason, ABSENT_PSS_OFF);
	assert_int_equal(found.best_bytes / 1024, (100 + 10 + 20) * MIB);
	assert_int_equal(found.rss_bytes / 1024, (100 + 20 + 10 + 8) * MIB);
	assert_int_equal(found.best_source, MEMORY_RSS);
}

/* Those that were left out are in no sum. Only a group of the job's own has them. */
static void test_members_that_were_left_out_hide_the_sum(void **state)
{
	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	tree.cpu.turns.left_out = 1;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, ABSENT_LEFT_OUT);
	assert_int_equal(found.pss_reason, ABSENT_LEFT_OUT);
	assert_int_equal(found.error_kib, -1);
	tree.memory.cgroup_has_memory = true;
	tree.cgroup_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_text("memory.stat", "anon 104857600\nfile 500000000\nkernel 1048576\nshmem 2097152\n");
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
	assert_int_equal(found.best_source, MEMORY_CGROUP);
	assert_int_equal(found.best_bytes, 103 << 20);
	assert_int_equal(found.pss_reason, ABSENT_LEFT_OUT);
	/* Without descendants the group has more than the job. */
	tree.with_children = false;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, ABSENT_LEFT_OUT);
	close(tree.cgroup_folder);
	tree.cgroup_folder = -1;
}

static double share_mib(size_t i)
{
	return members[i].memory.share / MIB;
}

static void divide(double mib)
{
	process_memory_divide(&memory, &tree, mib * MIB);
}

static bool is_about(double mib, double wanted)
{
	return mib > wanted - 0.001 && mib < wanted + 0.001;
}

/* A total that is smaller than the sum shrinks all alike, and the first one gets the part that none maps. */
static void test_shares_follow_the_total(void **state)
{
	(void)state;
	read_as(add(90, 0), READING_ROLLUP, 0);
	read_as(add(30, 0), READING_ROLLUP, 0);
	assert_int_equal(best_mib(), 120);
	divide(60);
	assert_true(is_about(share_mib(0), 45) && is_about(share_mib(1), 15));
	divide(120);
	assert_true(is_about(share_mib(0), 90) && is_about(share_mib(1), 30));
	divide(130);
	assert_true(is_about(share_mib(0), 100) && is_about(share_mib(1), 30));
	members[1].memory.shared_pages = 5 * MIB_PAGES;
	members[1].memory.resident_pages += 5 * MIB_PAGES;
	divide(130);
	assert_true(is_about(share_mib(0), 90) && is_about(share_mib(1), 40));
	/* One that shares its address space has none. */
	members[1].memory.shared_with = members[0].pid;
	(void)best_mib();
	divide(130);
	assert_true(is_about(share_mib(0), 130) && is_about(share_mib(1), 0));
}

/* An object of 20 MiB that no page table shows counts for the member that has it open, or mapped it last. */
static void test_shared_memory_belongs_to_the_member_that_holds_it(void **state)
{
	struct memory_object *object;

	(void)state;
	lay_segment();
	(void)best_mib();
	object = memory_objects_find(&memory.objects, 1, 5);
	assert_non_null(object);
	for (size_t i = 0; i < 2; i++) {
		members[i].memory.reading->objects.count = 0;
		members[i].memory.shared_pages = MIB_PAGES;
	}
	object->is_used = false;
	object->mapped_by = members[1].pid;
	divide(20 + 22);
	assert_true(is_about(share_mib(0), 11) && is_about(share_mib(1), 31));
	object->held_by = members[0].pid;
	divide(20 + 22);
	assert_true(is_about(share_mib(0), 31) && is_about(share_mib(1), 11));
	/* Its holder has ended. */
	object->held_by = 1;
	divide(20 + 22);
	assert_true(is_about(share_mib(0), 21) && is_about(share_mib(1), 21));
}

/* One member maps the whole object and has not touched its pages, which another process wrote. */
static void test_shared_memory_belongs_to_the_members_that_map_it(void **state)
{
	(void)state;
	lay_segment();
	for (size_t i = 0; i < 2; i++) {
		members[i].memory.shared_pages = (int64_t)i * MIB_PAGES;
		members[i].memory.resident_pages = (10 + (int64_t)i) * MIB_PAGES;
	}
	(void)best_mib();
	divide(20 + 20);
	assert_true(is_about(share_mib(0), 20) && is_about(share_mib(1), 20));
	members[1].memory.reading->objects.count = 0;
	(void)best_mib();
	divide(20 + 21);
	assert_true(is_about(share_mib(0), 30) && is_about(share_mib(1), 11));
}

/* A process and a fork that share 100 MiB, and so many more that the rest of the machine has. */
static void lay_family(int beyond_mib)
{
	for (int i = 0; i < 2; i++) {
		struct memory_reading *reading = read_as(add(100, 0), READING_ROLLUP, 0);

		members[i].memory.family = 1;
		members[i].memory.is_forked = i > 0;
		members[i].memory.inherited_pages = i * 100 * MIB_PAGES;
		members[i].memory.faults = reading->faults = 100 * MIB_PAGES * (1 - i);
		/* It stays, because a new one was refused. */
		members[i].memory.reading_failed_ns = NOW_NS;
		reading->family_size = 2;
		reading->exclusive_kib = 0;
		reading->common_kib = 100 * MIB;
		reading->common_share_kib = 50 * MIB;
	}
	lay_machine(100 + beyond_mib, 4000, 0, 0);
}

/* So much of what they shared is now a page of its own in each. */
static void find_copies(int mib)
{
	for (int i = 0; i < 2; i++) {
		members[i].memory.reading->exclusive_kib = mib * MIB;
		members[i].memory.reading->common_kib = (100 - mib) * MIB;
		members[i].memory.reading->common_share_kib = (100 - mib) / 2 * MIB;
	}
}

/* The error in MiB after the machine has got so many MiB beyond 100. */
static int error_mib(int beyond_mib, int job_mib)
{
	lay_machine(100 + beyond_mib, 4000, 0, 0);
	assert_int_equal(best_mib(), job_mib);
	return (int)(found.error_kib / MIB);
}

/* 16 MiB and a 32nd of 100 MiB, which is a bit more than three. */
static void test_a_rise_of_the_machine_may_be_copies_of_common_pages(void **state)
{
	(void)state;
	lay_family(50);
	assert_int_equal(error_mib(50, 100), 0);
	assert_int_equal(found.best_source, MEMORY_PSS);
	assert_int_equal(error_mib(69, 100), 0);
	assert_int_equal(tree.memory.suspect_ns, 0);
	assert_int_equal(error_mib(70, 100), 20);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	assert_int_equal(tree.memory.suspect_ns, NOW_NS);
	/* Readings after it have found nothing: other programs have grown. */
	assert_int_equal(error_mib(70, 100), 0);
	assert_int_equal(found.best_source, MEMORY_PSS);
	assert_int_equal(tree.memory.suspect_ns, 0);
	/* They go on growing until the forks are read again in any case. */
	assert_int_equal(memory.calm_until_ns, NOW_NS + REFRESH_NS);
	assert_int_equal(error_mib(900, 100), 0);
	assert_int_equal(error_mib(20, 100), 0);
	memory.calm_until_ns = NOW_NS;
	assert_int_equal(error_mib(39, 100), 0);
	/* No more than the two share. */
	assert_int_equal(error_mib(900, 100), 100);
}

static void test_copies_that_readings_find_may_not_be_all(void **state)
{
	(void)state;
	lay_family(50);
	assert_int_equal(error_mib(50, 100), 0);
	assert_int_equal(error_mib(90, 100), 40);
	/* 20 of 40, and as many more. Then all. */
	find_copies(20);
	assert_int_equal(error_mib(110, 120), 40);
	find_copies(60);
	assert_int_equal(error_mib(110, 160), 0);
	assert_int_equal(tree.memory.suspect_ns, 0);
	/* As much as the machine had beyond the job at first. */
	assert_int_equal(memory.beyond_kib, 50 * MIB);
}

static void test_a_rise_is_suspect_until_there_was_time_for_readings(void **state)
{
	(void)state;
	lay_family(50);
	assert_int_equal(error_mib(50, 100), 0);
	assert_int_equal(error_mib(75, 100), 25);
	members[1].memory.reading_failed_ns = 0;
	memory.members_most = 2;
	for (int i = 0; i < 2; i++) {
		memory.last_ns = NOW_NS;
		memory.allowance_ns = -1;
		tree.memory.suspect_ns -= i;
		assert_int_equal(error_mib(75, 100), 25);
		assert_int_equal(tree.memory.suspect_ns, NOW_NS - i);
	}
}

/* Growth of the rest of the machine meanwhile does not count when it runs again. */
static void test_a_job_that_sleeps_is_not_suspect(void **state)
{
	(void)state;
	lay_family(50);
	assert_int_equal(error_mib(50, 100), 0);
	tree.pass_ns = NOW_NS;
	tree.changed_ns = NOW_NS - 1;
	assert_int_equal(error_mib(75, 100), 0);
	assert_int_equal(tree.memory.suspect_ns, 0);
	tree.changed_ns++;
	assert_int_equal(error_mib(75, 100), 0);
	assert_int_equal(error_mib(100, 100), 25);
	/* It sleeps, and was not read since. */
	tree.changed_ns--;
	members[1].memory.reading_failed_ns = 0;
	memory.members_most = 2;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -1;
	assert_int_equal(error_mib(100, 100), 25);
}

static void test_a_job_without_common_pages_is_not_suspect(void **state)
{
	(void)state;
	read_as(add(100, 0), READING_ROLLUP, 0);
	assert_int_equal(error_mib(50, 100), 0);
	assert_int_equal(error_mib(900, 100), 0);
	assert_int_equal(tree.memory.suspect_ns, 0);
	assert_int_equal(memory.beyond_kib, 900 * MIB);
}

/* Some sandboxes tell 0. */
static void test_a_machine_that_tells_no_anonymous_memory_raises_no_suspicion(void **state)
{
	(void)state;
	lay_family(-100);
	find_copies(60);
	assert_int_equal(error_mib(-100, 160), 0);
	find_copies(0);
	assert_int_equal(error_mib(-100, 100), 0);
	assert_int_equal(tree.memory.suspect_ns, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_anonymous_memory_and_files_as_they_were_read),
		TEST(test_a_reading_that_is_late_is_in_the_error),
		TEST(test_the_machine_limits_the_sum),
		TEST(test_unread_files_are_like_those_that_were_read),
		TEST(test_files_that_nothing_has_read_count_once),
		TEST(test_a_page_that_two_members_map_counts_once),
		TEST(test_a_part_that_rests_on_the_bound_makes_it_a_bound),
		TEST(test_huge_pages_are_at_most_those_of_the_machine),
		TEST(test_a_smaller_pool_of_huge_pages_asks_for_a_reading),
		TEST(test_parts_of_a_tree_that_sleeps_hold),
		TEST(test_a_segment_counts_once_with_pages_that_no_process_maps),
		TEST(test_pages_of_a_segment_that_a_member_reads_later_count_once),
		TEST(test_pages_without_a_fault_may_be_all_of_the_machine),
		TEST(test_parts_of_the_members_add_up),
		TEST(test_a_job_of_ended_processes_has_no_memory),
		TEST(test_descendants_of_an_ended_root_have_memory),
		TEST(test_a_root_that_may_not_be_read_hides_the_job),
		TEST(test_without_readings_nothing_is_divided),
		TEST(test_members_that_were_left_out_hide_the_sum),
		TEST(test_shares_follow_the_total),
		TEST(test_shared_memory_belongs_to_the_member_that_holds_it),
		TEST(test_shared_memory_belongs_to_the_members_that_map_it),
		TEST(test_a_rise_of_the_machine_may_be_copies_of_common_pages),
		TEST(test_copies_that_readings_find_may_not_be_all),
		TEST(test_a_rise_is_suspect_until_there_was_time_for_readings),
		TEST(test_a_job_that_sleeps_is_not_suspect),
		TEST(test_a_job_without_common_pages_is_not_suspect),
		TEST(test_a_machine_that_tells_no_anonymous_memory_raises_no_suspicion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
