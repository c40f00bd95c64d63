/* Tests of src/job/memory/process_memory.c: when shared memory is searched, and what the figures are made of. */
#include "made_readings.h"

static void lay_shmem(int kib)
{
	char text[200];

	snprintf(text, sizeof text,
		 "AnonPages: 4000000 kB\nMapped: 4000000 kB\nShmem: %d kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
		 kib);
	put_text("proc/meminfo", text);
}

static size_t searches_at(int shmem_kib)
{
	size_t before = memory.objects.searches;

	lay_shmem(shmem_kib);
	(void)best_mib();
	/* On a slow machine a tick has time for one member. */
	for (size_t i = 0; memory.scanning && i < tree.count; i++) {
		memory.for_scans = (struct allowance){0};
		(void)best_mib();
	}
	assert_false(memory.scanning);
	return memory.objects.searches - before;
}

static void test_when_descriptors_are_searched(void **state)
{
	(void)state;
	read_as(add(100, 0), READING_ROLLUP, 0);
	assert_int_equal(searches_at(1000), 0); /* of a captured machine */
	root.live = true;
	assert_int_equal(searches_at(SHMEM_STEP_KIB - 1), 0);
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 1);
	assert_int_equal(memory.scanned_shmem_kib, SHMEM_STEP_KIB);
	assert_int_equal(memory.scanned_ns, NOW_NS);
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 0);
	assert_int_equal(searches_at(2 * SHMEM_STEP_KIB - 1), 0);
	assert_int_equal(searches_at(2 * SHMEM_STEP_KIB), 1);
	assert_int_equal(searches_at(SHMEM_STEP_KIB + 1), 0);
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 1);
	memory.scanned_ns = NOW_NS - SCAN_AGE_NS + 1;
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 0);
	memory.scanned_ns--;
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 1);
	memory.objects.lost_one = true;
	assert_int_equal(searches_at(SHMEM_STEP_KIB), 1);
	assert_false(memory.objects.lost_one);
}

/* Leaves a search no time, so that it only begins. */
static void begin_search_at(int shmem_kib)
{
	memory.for_scans = (struct allowance){.earned_ns = NOW_NS};
	lay_shmem(shmem_kib);
	(void)best_mib();
	assert_true(memory.scanning);
	assert_int_equal(memory.scan_next, 0);
	assert_int_equal(memory.for_scans.left_ns, 0);
}

static void test_when_a_search_is_urgent_and_includes_mappings(void **state)
{
	static const struct {
		int from_kib, to_kib, lost_kib, mapped_kib;
		bool is_urgent, with_mappings;
		int mapped_after_kib;
	} CASES[] = {
		{8000, 8000 + MAPPED_STEP_KIB - 1, 0, 12000, false, false, 12000},
		{8000, 8000 + MAPPED_STEP_KIB, 0, 12096, true, false, 12096},
		{8000, 8000, MAPPED_STEP_KIB - 1, 8000, false, false, 8000},
		{8000, 8000, MAPPED_STEP_KIB, 8000, true, true, 8000},
		{8000, 8000, 0, 8000 - MAPPED_STEP_KIB, false, true, 8000},
		{8000, 8000, 0, 8001 - MAPPED_STEP_KIB, false, false, 8001 - MAPPED_STEP_KIB},
		{8000, 8000, 0, 8000 + MAPPED_STEP_KIB, false, true, 8000},
		{8000, 8000, 0, 7999 + MAPPED_STEP_KIB, false, false, 8000},
		{8000, 8000, 0, 8001, false, false, 8000},
		{8000, 8000, 0, 8000, false, false, 8000},
		{8000, 8000, 0, 7999, false, false, 7999},
	};

	(void)state;
	read_as(add(100, 0), READING_ROLLUP, 0);
	root.live = true;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory.scanning = false;
		memory.scan_is_urgent = true;
		memory.scanned_ns = NOW_NS;
		memory.objects.lost_one = true;
		memory.objects.lost_kib = CASES[i].lost_kib;
		memory.scanned_shmem_kib = CASES[i].from_kib;
		memory.mapped_shmem_kib = CASES[i].mapped_kib;
		begin_search_at(CASES[i].to_kib);
		assert_int_equal(memory.scan_is_urgent, CASES[i].is_urgent);
		assert_int_equal(memory.scans_mappings, CASES[i].with_mappings);
		assert_int_equal(memory.mapped_shmem_kib, CASES[i].mapped_after_kib);
		assert_int_equal(memory.scanned_shmem_kib, CASES[i].to_kib);
		assert_int_equal(memory.objects.lost_kib, 0);
		/* It goes on as it began. */
		begin_search_at(CASES[i].to_kib);
		assert_int_equal(memory.scan_is_urgent, CASES[i].is_urgent);
	}
}

/* A process may map shared memory that is in no page table, if its address space has room for it. */
static void test_mappings_of_large_address_spaces_are_searched(void **state)
{
	static const struct {
		int more_pages;
		enum memory_reading_kind kind;
		bool with_mappings, is_zombie, is_searched;
	} CASES[] = {
		{MAPPED_STEP_KIB / PAGE_KIB, READING_ROLLUP, true, false, true},
		{MAPPED_STEP_KIB / PAGE_KIB - 1, READING_ROLLUP, true, false, false},
		{MAPPED_STEP_KIB / PAGE_KIB, READING_SAMPLED, true, false, false},
		{MAPPED_STEP_KIB / PAGE_KIB, READING_ROLLUP, false, false, false},
		{MAPPED_STEP_KIB / PAGE_KIB, READING_ROLLUP, true, true, false},
	};
	struct memory_reading *reading;

	(void)state;
	read_as(add(10, 0), READING_ROLLUP, 0);
	reading = read_as(add(100, 20), READING_ROLLUP, 5);
	assert_int_equal(mkdir("proc/101", 0755), 0);
	put_text("proc/101/maps", "4000000-4008000 rw-s 00000000 00:01 5 /SYSV00000000 (deleted)\n");
	root.live = true;
	memory.members_most = MEMBERS;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		members[1].is_zombie = CASES[i].is_zombie;
		members[1].memory.virtual_pages = members[1].memory.shared_pages + CASES[i].more_pages;
		reading->kind = CASES[i].kind;
		reading->objects.count = 0;
		memory.scanned_ns = 0;
		memory.mapped_shmem_kib = CASES[i].with_mappings ? 0 : 8000;
		(void)searches_at(8000);
		assert_int_equal(reading->objects.count, CASES[i].is_searched);
	}
}

/* Files that a process maps more of since its reading: it has them, unless they are shared memory, or its parent's. */
static void test_files_that_are_mapped_since_a_reading(void **state)
{
	static const struct {
		enum memory_reading_kind kind;
		bool is_forked, has_object;
		int mib;
	} CASES[] = {
		{READING_ROLLUP, false, false, 110 + 5 + 3},  {READING_ROLLUP, false, true, 110 + 5},
		{READING_SAMPLED, false, false, 110 + 5 + 3}, {READING_SAMPLED, false, true, 110 + 5},
		{READING_SAMPLED, true, false, 110 + 5},
	};
	struct memory_reading *reading;

	(void)state;
	read_as(add(10, 0), READING_ROLLUP, 0)->taken_ns -= 2 * NSEC_PER_SEC;
	reading = read_as(add(100, 20), READING_ROLLUP, 5);
	members[1].memory.shared_pages += 3 * MIB_PAGES;
	members[1].memory.resident_pages += 3 * MIB_PAGES;
	members[1].parent_pid = 1;
	assert_true(page_places_add(&reading->objects, 1, 5));
	memory.members_most = MEMBERS;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		reading->kind = CASES[i].kind;
		reading->objects.count = CASES[i].has_object;
		members[1].memory.is_forked = CASES[i].is_forked;
		members[1].memory.rollup_ns = CASES[i].kind == READING_SAMPLED ? NSEC_PER_SEC : 1000;
		assert_int_equal(best_mib(), CASES[i].mib);
		assert_int_equal(found.pss_age_ns, 3 * NSEC_PER_SEC);
		assert_int_equal(found.file_kib, (CASES[i].mib - 110) * MIB);
	}
}

/* Swapped memory and huge pages of a sampled family count once. A rollup has divided the swapped memory. */
static void test_swapped_memory_and_huge_pages_of_a_family(void **state)
{
	(void)state;
	lay_machine(4000, 4000, 0, 30);
	for (int i = 0; i < 3; i++) {
		struct member *member = add(10, 0);
		struct memory_reading *reading = read_as(member, READING_ROLLUP, 0);

		reading->swap_kib = (i == 1 ? 3 : 2) * MIB;
		reading->huge_private_kib = (i == 1 ? 6 : 4) * MIB;
		reading->family_size = i < 2 ? 2 : 1;
		reading->variance = 50;
		member->memory.family = i < 2 ? 1 : 2;
		member->memory.is_forked = i == 1;
	}
	members[0].memory.forks.is_known = true;
	members[1].memory.parent_faults = members[0].memory.faults;
	assert_int_equal(best_mib(), 30 + 6 + 4);
	assert_int_equal(found.swap_kib, 7 * MIB);
	assert_int_equal(found.huge_kib, 10 * MIB);
	assert_int_equal(tree.memory.between.objects_kib, 0);
	for (int i = 0; i < 2; i++) {
		members[i].memory.rollup_ns = NSEC_PER_SEC;
		members[i].memory.reading->kind = READING_SAMPLED;
	}
	(void)best_mib();
	assert_int_equal(found.swap_kib, 5 * MIB);
	assert_int_equal(found.huge_kib, 10 * MIB);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	/* One that was not read in this way says nothing. */
	members[2].memory.reading->taken_ns = NOW_NS - READING_AGE_NS - 1;
	members[2].memory.reading_failed_ns = NOW_NS;
	(void)best_mib();
	assert_int_equal(found.huge_kib, 6 * MIB);
}

/* Two standard deviations of both readings together. */
static void test_the_error_of_sampled_members(void **state)
{
	static const struct {
		double variance;
		int kib;
	} CASES[] = {{0, 0}, {0.5, 2}, {50, 20}, {500000, 2000}, {2 * 0.28, 2}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct member *member = add(10, 0);

		read_as(member, READING_SAMPLED, 0)->family_size = 2;
		member->memory.family = 1;
		member->memory.is_forked = i == 1;
		member->memory.inherited_pages = i ? 10 * MIB_PAGES : 0;
		member->memory.rollup_ns = NSEC_PER_SEC;
	}
	members[0].memory.forks.is_known = true;
	members[1].memory.parent_faults = members[0].memory.faults;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		members[0].memory.reading->variance = members[1].memory.reading->variance = CASES[i].variance;
		assert_int_equal(best_mib(), 20);
		assert_int_equal(found.best_source, MEMORY_SAMPLED);
		assert_int_equal(found.error_kib, CASES[i].kib);
	}
}

/* Forks that map an object which no other member maps: their siblings may have some as well. */
static void test_forks_with_shared_memory_of_their_own(void **state)
{
	static const struct {
		int of_parent, of_fork; /* inodes, 0 for none */
		bool is_forked, has_own;
	} CASES[] = {{5, 5, true, false},
		     {5, 6, true, true},
		     {5, 6, false, false},
		     {5, 0, true, false},
		     {0, 7, true, false}};
	static const char NAME[] = "/SYSV00000000 (deleted)";

	(void)state;
	lay_segment();
	for (uint64_t inode = 5; inode <= 6; inode++) {
		const struct memory_area area = {.device = 1,
						 .inode = inode,
						 .end = MIB * 1024,
						 .name = {NAME, NAME + sizeof NAME - 1}};

		assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &area));
	}
	memory.members_most = MEMBERS;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory_families_done(&memory.families);
		members[1].memory.family = 1;
		members[1].memory.is_forked = CASES[i].is_forked;
		members[0].memory.reading->objects.count = CASES[i].of_parent != 0;
		members[1].memory.reading->objects.count = CASES[i].of_fork != 0;
		members[0].memory.reading->objects.at[0].page = (uint64_t)CASES[i].of_parent;
		members[1].memory.reading->objects.at[0].page = (uint64_t)CASES[i].of_fork;
		memory.objects.objects[0].is_used = memory.objects.objects[1].is_used = true;
		(void)best_mib();
		assert_int_equal(memory.families.at[0].has_own_objects, CASES[i].has_own);
		for (uint64_t inode = 5; inode <= 6; inode++) {
			const struct memory_area area = {.device = 1,
							 .inode = inode,
							 .end = MIB * 1024,
							 .name = {NAME, NAME + sizeof NAME - 1}};

			assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &area));
		}
	}
}

/* Later marks are compared with the sum and its error. A bound proves nothing. */
static void test_marks_are_compared_with_the_sum(void **state)
{
	const int64_t allocated_kib = INT64_C(1) << 32;

	(void)state;
	root.allocated_pages = allocated_kib / PAGE_KIB;
	read_as(add(100, 20), READING_ROLLUP, 5);
	assert_int_equal(best_mib(), 105);
	assert_int_equal(tree.memory.between.before_kib, 105 * MIB);
	assert_int_equal(tree.memory.between.files_kib, 5 * MIB);
	assert_int_equal(tree.memory.between.base_kib, 100 * MIB - allocated_kib);
	/* The error may be in it as well. */
	tree.memory.between.base_kib = 0;
	members[0].memory.reading->is_settled = false;
	memory.members_most = 1;
	memory.last_ns = NOW_NS;
	memory.allowance_ns = -1;
	assert_int_equal(best_mib(), 105);
	assert_int_equal(found.best_source, MEMORY_SAMPLED);
	assert_int_equal(tree.memory.between.base_kib, 100 * MIB - allocated_kib + found.error_kib);
	assert_int_equal(memory.told_ns, 0);
	/* A resident set is a figure, and counts pages of others. */
	tree.memory.between.base_kib = 0;
	members[0].memory.reading->taken_ns = 0;
	process_memory_measure(&memory, &tree, PSS_MODE_OFF, &found);
	assert_int_equal(found.best_source, MEMORY_RSS);
	assert_int_equal(tree.memory.between.before_kib, 120 * MIB);
	assert_int_equal(tree.memory.between.base_kib, 0);
	/* Without any memory nothing is known. */
	members[0].is_zombie = true;
	process_memory_measure(&memory, &tree, PSS_MODE_OFF, &found);
	assert_int_equal(found.reason, ABSENT_ZOMBIE);
	assert_int_equal(tree.memory.between.before_kib, -1);
}

/* The figures hold until a member has run, the machine's shared memory has changed, or a reading is eight seconds old. */
static void test_when_figures_hold(void **state)
{
	static const struct {
		int64_t changed_ns, later_ns;
		int shmem_kib, mode;
		bool has_object, holds;
	} CASES[] = {
		{NOW_NS - 1, NSEC_PER_SEC, 0, PSS_MODE_AUTO, false, true},
		{NOW_NS, NSEC_PER_SEC, 0, PSS_MODE_AUTO, false, false},
		{NOW_NS - 1, REFRESH_NS - NSEC_PER_SEC - 1, 0, PSS_MODE_AUTO, false, true},
		{NOW_NS - 1, REFRESH_NS - NSEC_PER_SEC, 0, PSS_MODE_AUTO, false, false},
		{NOW_NS - 1, NSEC_PER_SEC, 1, PSS_MODE_AUTO, false, false},
		{NOW_NS - 1, NSEC_PER_SEC, 0, PSS_MODE_ALWAYS, false, false},
		{NOW_NS - 1, NSEC_PER_SEC, 0, PSS_MODE_AUTO, true, false},
	};

	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory.told_ns = 0;
		tree.pass_ns = NOW_NS;
		tree.changed_ns = NOW_NS - 1;
		lay_shmem(0);
		assert_int_equal(best_mib(), 105);
		assert_int_equal(memory.told_ns, NOW_NS);
		assert_false(memory.hold);
		tree.changed_ns = CASES[i].changed_ns;
		tree.pass_ns = NOW_NS + CASES[i].later_ns;
		lay_shmem(CASES[i].shmem_kib);
		memory.told_objects = CASES[i].has_object;
		process_memory_measure(&memory, &tree, (enum pss_mode)CASES[i].mode, &found);
		assert_int_equal(memory.hold, CASES[i].holds);
		if (CASES[i].holds)
			assert_int_equal(found.pss_age_ns, NSEC_PER_SEC + CASES[i].later_ns);
	}
	/* Nothing has changed in the pass itself. */
	memory.told_ns = 0;
	tree.changed_ns = tree.pass_ns;
	(void)best_mib();
	assert_int_equal(memory.told_ns, 0);
	tree.changed_ns--;
	(void)best_mib();
	assert_int_equal(memory.told_ns, tree.pass_ns);
	memory.told_ns = 0;
	tree.cpu.turns.left_out = 1;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(memory.told_ns, 0);
}

/* A field that the kernel does not tell limits nothing. Huge pages in use are memory of the machine as well. */
static void test_the_machine_limits_the_sum_by_known_fields(void **state)
{
	static const struct {
		const char *meminfo;
		int mib;
	} CASES[] = {
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\n", 70},
		{"AnonPages: 0 kB\nMapped: 10240 kB\nShmem: 0 kB\n", 10},
		{"AnonPages: 10240 kB\nMapped: 0 kB\nShmem: 1024 kB\n", 11},
		{"Mapped: 10240 kB\nShmem: 0 kB\n", 105},
		{"AnonPages: 61440 kB\nShmem: 0 kB\n", 105},
		{"AnonPages: 61440 kB\nMapped: 10240 kB\n", 105},
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\nHugePages_Total: 5\nHugePages_Free: "
		 "2\nHugepagesize: 2048 kB\n",
		 76},
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\nHugePages_Total: 5\nHugePages_Free: "
		 "2\nHugepagesize: 2048 kB\n"
		 "Hugetlb: 10240 kB\n",
		 76},
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\nHugePages_Total: 5\nHugePages_Free: "
		 "2\nHugepagesize: 2048 kB\n"
		 "Hugetlb: 12288 kB\n",
		 82},
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\nHugePages_Total: 2\nHugePages_Free: "
		 "5\nHugepagesize: 2048 kB\n",
		 70},
		/* A damaged machine: 2^40 times 2^24 is 0 in 64 bits. */
		{"AnonPages: 61440 kB\nMapped: 10240 kB\nShmem: 0 kB\nHugePages_Total: "
		 "1099511627776\nHugePages_Free: 0\nHugepagesize: 16777216 kB\n",
		 105},
	};

	(void)state;
	read_as(add(100, 20), READING_ROLLUP, 5);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory.told_ns = 0;
		put_text("proc/meminfo", CASES[i].meminfo);
		assert_int_equal(best_mib(), CASES[i].mib);
		assert_int_equal(found.pss_kib, found.best_bytes / 1024);
		assert_int_equal(found.private_kib, 100 * MIB);
	}
}

/* The rise of the machine's shared memory while a search goes on, beyond 1 MiB and what the known objects have grown by. */
static void test_a_rise_during_a_search_is_in_doubt(void **state)
{
	static const struct {
		int shmem_mib, objects_kib, scanned_ns;
		int64_t error_kib;
	} CASES[] = {{101, 0, 1, -1},
		     {102, 0, 1, 2 * MIB},
		     {102, 0, 0, -1},
		     {105, 3 * MIB, 1, 2 * MIB},
		     {105, 4 * MIB, 1, -1}};

	(void)state;
	lay_segment();
	(void)best_mib();
	assert_int_equal(found.error_kib, -1);
	assert_int_equal(memory.searched_objects_kib, 20 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory.told_ns = 0;
		memory.scanning = true;
		memory.scanned_ns = CASES[i].scanned_ns;
		memory.scanned_shmem_kib = memory.searched_shmem_kib = 100 * MIB;
		memory.searched_objects_kib = 20 * MIB - CASES[i].objects_kib;
		lay_machine(4000, 4000, CASES[i].shmem_mib, 4);
		assert_int_equal(best_mib(), 2 * 10 + 20);
		assert_int_equal(found.error_kib, CASES[i].error_kib);
		memory.scanning = false;
		(void)best_mib();
		assert_int_equal(memory.searched_objects_kib, 20 * MIB);
		assert_int_equal(memory.searched_shmem_kib, 100 * MIB);
	}
}

/* Two that no place was left for in the table. Forks map the same ones. */
static void test_mappings_beyond_the_table(void **state)
{
	(void)state;
	lay_segment();
	members[0].memory.reading->cut_pages = 1 * MIB_PAGES;
	members[1].memory.reading->cut_pages = 2 * MIB_PAGES;
	/* The segment has half of its pages: so have the others. */
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.best_bytes / 1024, (2 * 10 + 20) * MIB + 3 * MIB / 2);
	/* A quarter of the estimate is in doubt, and so is whether one has all that the other has. */
	assert_int_equal(found.error_kib, 3 * MIB / 8);
	members[1].memory.family = 1;
	members[1].memory.is_forked = true;
	members[1].memory.inherited_pages = 0;
	members[0].memory.reading->family_size = members[1].memory.reading->family_size = 2;
	members[1].memory.parent_faults = members[0].memory.faults;
	process_memory_measure(&memory, &tree, PSS_MODE_AUTO, &found);
	assert_int_equal(found.best_bytes / 1024, (2 * 10 + 20) * MIB + MIB);
	assert_int_equal(found.error_kib, MIB / 4 + MIB / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_when_descriptors_are_searched),
		TEST(test_when_a_search_is_urgent_and_includes_mappings),
		TEST(test_mappings_of_large_address_spaces_are_searched),
		TEST(test_files_that_are_mapped_since_a_reading),
		TEST(test_swapped_memory_and_huge_pages_of_a_family),
		TEST(test_the_error_of_sampled_members),
		TEST(test_forks_with_shared_memory_of_their_own),
		TEST(test_marks_are_compared_with_the_sum),
		TEST(test_when_figures_hold),
		TEST(test_the_machine_limits_the_sum_by_known_fields),
		TEST(test_a_rise_during_a_search_is_in_doubt),
		TEST(test_mappings_beyond_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
