/* Tests of src/job/memory/memory_schedule.c: the time that readings may take, and doubts that other members raise. */
#include "laid_members.h"

/* ---- the allowance ----------------------------------------------------------------------------------------------- */

/* Forgets all that was earned, and begins with so many members. Without readings, so that none is spent. */
static double allowance_ms(size_t members_now)
{
	tree.count = members_now;
	memory_schedule(&memory, &tree, PSS_MODE_OFF);
	return memory.allowance_ns / 1e6;
}

static void the_allowance_at_the_start_is_by_the_number_of_members(void **state)
{
	static const struct {
		size_t members;
		double most_ms;
	} CASES[] = {{1, 4}, {2, 14}, {3, 21}, {8, 56}, {9, 60}, {20, 60}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory.allowance_ns = 0;
		memory.members_most = 0;
		memory.last_ns = 0;
		assert_true(fabs(allowance_ms(CASES[i].members) - CASES[i].most_ms) < 1e-6);
		assert_int_equal(memory.members_most, CASES[i].members);
		/* As many as before, or fewer, get no more. */
		memory.allowance_ns = 1e6;
		assert_true(fabs(allowance_ms(CASES[i].members) - 1) < 1e-6);
		assert_true(fabs(allowance_ms(1) - 1) < 1e-6);
	}
	tree.count = 0;
}

/* More members than ever get the difference to the most before. */
static void a_tree_that_grows_gets_the_difference(void **state)
{
	(void)state;
	assert_true(fabs(allowance_ms(2) - 14) < 1e-6);
	memory.allowance_ns = 5e6;
	assert_true(fabs(allowance_ms(4) - 19) < 1e-6);
	assert_true(fabs(allowance_ms(20) - 51) < 1e-6);
	tree.count = 0;
}

/* 0.05 % of a second for one process, and 0.1 % for each of two. No more than at the start accumulates. */
static void time_earns_an_allowance_up_to_its_most(void **state)
{
	(void)state;
	(void)allowance_ms(1);
	memory.allowance_ns = 0;
	now_ns += NSEC_PER_SEC;
	assert_true(fabs(allowance_ms(1) - 0.5) < 1e-6);
	now_ns += 100 * NSEC_PER_SEC;
	assert_true(fabs(allowance_ms(1) - 4) < 1e-6);
	(void)allowance_ms(2);
	memory.allowance_ns = 0;
	now_ns += NSEC_PER_SEC;
	assert_true(fabs(allowance_ms(2) - 2) < 1e-6);
	tree.count = 0;
}

/* Later readings have 10 ms, and 7 ms more for each member that was never read. */
static void time_saved_for_later_readings_is_limited(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		add((uint64_t)i + 1, false, 1000);
	for (int read = 0; read < 3; read++) {
		memory.members_most = MEMBERS;
		memory.last_ns = now_ns;
		memory.allowance_ns = 60e6;
		tick(0);
		/* The clock stands still, so that readings take no time. */
		assert_true(fabs(memory.allowance_ns / 1e6 - (read ? 10 : 31)) < 1e-6);
		members[0].memory.reading->is_settled = false;
	}
}

/* ---- doubts ------------------------------------------------------------------------------------------------------ */

/* How many KiB of a member's figures may be wrong, in a tick without time for readings. 0: it is not worth one. */
static int64_t doubt_of(int i)
{
	memory.members_most = MEMBERS;
	memory.last_ns = now_ns;
	memory.allowance_ns = -ALLOWANCE_MOST_NS;
	members[i].memory.uncertain_kib = 0;
	tick(0);
	return choice_of(i) == READING_LATE ? members[i].memory.uncertain_kib : 0;
}

/* Another member has lost pages of an object that this one maps as well, since this one was read. */
static void pages_that_others_lost_are_in_doubt_for_all_users(void **state)
{
	struct memory_object *object;
	struct memory_reading *reading;
	const struct memory_area area = {
		.device = 1, .inode = 5, .end = 1 << 20, .shared = true, .name = {"/SYSV0", &"/SYSV0"[6]}};

	(void)state;
	add(1, false, 1000);
	tick(0);
	reading = members[0].memory.reading;
	object = memory_objects_meet(&memory.objects, &root, FIRST_PID, &area);
	assert_non_null(object);
	assert_true(page_places_add(&reading->objects, 1, 5));
	assert_true(page_places_add(&reading->objects, 1, 6)); /* the table does not know it */
	object->round_ns = reading->taken_ns + 1;
	object->fell_kib = 1000;
	assert_int_equal(doubt_of(0), 0);
	memory.objects.in_round = true;
	assert_int_equal(doubt_of(0), 1000);
	object->round_ns--;
	assert_int_equal(doubt_of(0), 0);
	/* The round of another object goes on. */
	object->round_ns = 0;
	assert_int_equal(doubt_of(0), 0);
}

/* Huge pages that the machine has are asked for in each reading. Without any, the file is not read. */
static void huge_pages_are_asked_for_if_the_machine_has_some(void **state)
{
	static const struct {
		int64_t machine_kib;
		const char *status;
		int64_t mapped_kib;
	} CASES[] = {{0, "HugetlbPages: 4096 kB\n", 0},
		     {2048, "HugetlbPages: 4096 kB\n", 4096},
		     {-1, "HugetlbPages: 6144 kB\n", 6144},
		     {2048, "VmRSS: 1 kB\n", 0},
		     {2048, NULL, 0}};

	(void)state;
	add(1, false, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		memory_reading_free(members[0].memory.reading);
		members[0].memory.reading = NULL;
		memory.huge_kib = CASES[i].machine_kib;
		memory.allowance_ns = ALLOWANCE_MOST_NS;
		if (CASES[i].status)
			lay(FIRST_PID, "status", CASES[i].status);
		else
			assert_int_equal(unlink("proc/100/status"), 0);
		tick(0);
		assert_int_equal(members[0].memory.reading->huge_mapped_kib, CASES[i].mapped_kib);
		assert_int_equal(members[0].memory.reading->machine_huge_kib, CASES[i].machine_kib);
	}
	/* A file that cannot be read raises no doubt. */
	memory.huge_kib = 4096;
	assert_int_equal(doubt_of(0), 0);
}

/* A process that begins to map a page of a file, beside others that map as much. */
static void a_change_of_files_is_told_by_both_sides(void **state)
{
	struct memory_reading *reading;

	(void)state;
	add(1, false, 1000);
	add(2, false, 1000);
	members[1].memory.shared_pages = 100;
	tick(0);
	reading = members[0].memory.reading;
	assert_non_null(reading);
	assert_int_equal(reading->others_shared_kib, 400);
	reading->file_kib = 1000;
	/* 32 KiB and a 256th of 4 MiB are tolerated, which is 16 KiB. */
	members[1].memory.shared_pages = 112;
	assert_int_equal(doubt_of(0), 0);
	members[1].memory.shared_pages = 113;
	assert_int_equal(doubt_of(0), 52);
	members[1].memory.shared_pages = 87;
	assert_int_equal(doubt_of(0), 52);
	reading->file_kib = 49;
	assert_int_equal(doubt_of(0), 49);
	reading->file_kib = 48;
	assert_int_equal(doubt_of(0), 0);
	/* Its own. */
	members[1].memory.shared_pages = 100;
	members[0].memory.shared_pages = 13;
	members[0].memory.resident_pages = PAGES + 13;
	assert_int_equal(doubt_of(0), 52);
	reading->statm_shared_kib = 104;
	assert_int_equal(doubt_of(0), 52);
	/* One that has ended maps nothing. */
	members[1].is_zombie = true;
	members[0].memory.shared_pages = 26;
	members[0].memory.resident_pages = PAGES + 26;
	reading->file_kib = 1000;
	assert_int_equal(doubt_of(0), 400);
}

/* Errors that are permissions are told apart from files that a kernel lacks. */
static void a_reading_that_is_not_permitted_is_remembered(void **state)
{
	(void)state;
	add(1, false, 1000);
	now_ns = 0;
	assert_int_equal(unlink("proc/100/smaps_rollup"), 0);
	assert_int_equal(mkdir("proc/100/smaps_rollup", 0755), 0);
	tick(0);
	assert_int_equal(choice_of(0), READING_REFUSED);
	assert_false(members[0].memory.is_refused);
	/* The time 0 is "never". */
	assert_int_equal(members[0].memory.reading_failed_ns, 1);
	assert_null(members[0].memory.reading);
	if (geteuid() == 0)
		return;
	assert_int_equal(rmdir("proc/100/smaps_rollup"), 0);
	lay_rollup(FIRST_PID, 4000, 0);
	assert_int_equal(chmod("proc/100/smaps_rollup", 0), 0);
	tick(10);
	assert_int_equal(choice_of(0), READING_REFUSED);
	assert_true(members[0].memory.is_refused);
}

/* A kernel that lacks smaps_rollup has the pages, and the other way round. */
static void the_other_way_is_tried_where_a_file_is_missing(void **state)
{
	(void)state;
	add(1, false, 1000);
	add(2, false, NSEC_PER_SEC);
	assert_int_equal(unlink("proc/100/smaps_rollup"), 0);
	assert_int_equal(unlink("proc/101/maps"), 0);
	tick(0);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_int_equal(choice_of(1), READING_TAKEN);
	assert_int_equal(members[0].memory.reading->kind, READING_SAMPLED);
	assert_int_equal(members[1].memory.reading->kind, READING_ROLLUP);
	assert_true(members[0].memory.reading->has_files && members[1].memory.reading->has_files);
	/* The time of a rollup that was not read stays as it was. */
	assert_int_equal(members[0].memory.rollup_ns, 1000);
	assert_true(members[1].memory.rollup_ns < NSEC_PER_SEC);
	assert_int_equal(members[0].memory.reading->taken_ns, now_ns);
	assert_int_equal(members[0].memory.reading->files_taken_ns, now_ns);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* A process that is alone has all of its memory: no page of it is sampled but those of files. */
static void pages_are_divided_among_relatives_alone(void **state)
{
	(void)state;
	add(1, false, NSEC_PER_SEC);
	tick(0);
	assert_int_equal(members[0].memory.reading->kind, READING_SAMPLED);
	assert_false(members[0].memory.reading->has_anon);
	add(1, true, NSEC_PER_SEC);
	tick(0);
	assert_true(members[0].memory.reading->has_anon && members[1].memory.reading->has_anon);
}

/* Objects of unknown size begin a round with each reading of a member that maps them. */
static void a_reading_tells_the_loss_of_its_objects(void **state)
{
	struct memory_reading *reading;
	const struct memory_area area = {
		.device = 1, .inode = 5, .end = 1 << 20, .shared = true, .name = {"/memfd", &"/memfd"[6]}};

	(void)state;
	add(1, false, 1000);
	tick(0);
	reading = members[0].memory.reading;
	for (uint64_t inode = 5; inode <= 6; inode++) {
		struct memory_area one = area;

		one.inode = inode;
		assert_non_null(memory_objects_meet(&memory.objects, &root, FIRST_PID, &one));
		assert_true(page_places_add(&reading->objects, 1, inode));
	}
	reading->machine_shmem_kib = 5000;
	reading->objects_kib = 1200;
	reading->statm_shared_kib = 400;
	reading->virtual_pages = PAGES + 80;
	reading->is_settled = false;
	/* It has 50 of 100 shared pages, and 30 pages less of its address space. */
	lay_size(FIRST_PID, PAGES + 50, 50);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
	for (size_t i = 0; i < 2; i++) {
		const struct memory_object *object = &memory.objects.objects[i];

		assert_int_equal(object->round, 1);
		assert_int_equal(object->round_ns, now_ns);
		assert_int_equal(object->others_kib, 3800);
		assert_int_equal(object->fell_kib, 200);
		assert_int_equal(object->left_kib, 200 - 120);
	}
}

static void a_reading_that_has_lost_nothing_tells_none(void **state)
{
	struct memory_reading *reading;
	struct memory_object *object;
	const struct memory_area area = {
		.device = 1, .inode = 5, .end = 1 << 20, .shared = true, .name = {"/memfd", &"/memfd"[6]}};

	(void)state;
	add(1, false, 1000);
	tick(0);
	reading = members[0].memory.reading;
	object = memory_objects_meet(&memory.objects, &root, FIRST_PID, &area);
	assert_true(page_places_add(&reading->objects, 1, 5));
	reading->statm_shared_kib = 0;
	reading->virtual_pages = 1;
	reading->is_settled = false;
	lay_size(FIRST_PID, PAGES + 50, 50);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(object->round, 1);
	assert_int_equal(object->fell_kib, 0);
	assert_int_equal(object->left_kib, 0);
}

/* The rollup of a process of 4 MiB that shares so many KiB with others. */
static void lay_common(int common_kib)
{
	char text[160];

	snprintf(text, sizeof text,
		 "Rss: 4096 kB\nPss: 4096 kB\nPss_Anon: 4096 kB\nPrivate_Dirty: %d kB\nAnonymous: 4096 kB\n",
		 4096 - common_kib);
	lay(FIRST_PID, "smaps_rollup", text);
}

/* Whether a reading with so many common KiB stands, after one with so many before. */
static bool stands(int before_kib, int common_kib)
{
	memory_reading_free(members[0].memory.reading);
	members[0].memory.reading = NULL;
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	memory.members_most = 0;
	lay_common(before_kib);
	tick(1);
	assert_int_equal(members[0].memory.reading->common_kib, before_kib);
	members[0].memory.reading->is_settled = false;
	lay_common(common_kib);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(members[0].memory.reading->common_kib, common_kib);
	return members[0].memory.reading->is_settled;
}

/* 32 KiB and a 256th are tolerated, 48 KiB here, and 32 KiB more than before. */
static void common_pages_without_a_relative_are_read_again(void **state)
{
	(void)state;
	add(1, false, 1000);
	assert_true(stands(0, 48));
	assert_false(stands(0, 49));
	assert_true(stands(1000, 1032));
	assert_false(stands(1000, 1033));
	assert_true(stands(1000, 968));
	assert_false(stands(1000, 967));
	/* A fork has 400 KiB from a parent outside the job. */
	members[0].memory.is_forked = true;
	members[0].memory.inherited_pages = 100;
	members[0].parent_pid = 77;
	/* An orphan may share its pages with any other. */
	assert_true(stands(0, 2000));
}

static void common_pages_that_were_inherited_are_explained(void **state)
{
	(void)state;
	add(1, true, 1000);
	add(1, false, 1000);
	members[0].parent_pid = members[1].pid;
	members[0].memory.inherited_pages = 100;
	assert_true(stands(0, 448));
	assert_false(stands(0, 449));
}

/* Pages of files are not anonymous, and those that a process gives back at this moment leave its last reading. */
static void a_process_that_gives_memory_back_keeps_its_reading(void **state)
{
	struct memory_reading *reading;

	(void)state;
	add_family(2);
	lay_size(FIRST_PID, PAGES, 24);
	tick(0);
	reading = members[0].memory.reading;
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_int_equal(reading->anon_kib, (PAGES - 24) * PAGE_KIB);
	assert_true(reading->finds_anon);
	/* Its pages are in no page table any more, and still in its resident set. */
	put_text("proc/100/pagemap", "");
	lay_size(FIRST_PID, PAGES - 10, 24);
	reading->is_settled = false;
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(choice_of(0), READING_GIVES_BACK);
	assert_ptr_equal(members[0].memory.reading, reading);
	assert_int_equal(members[0].memory.reading_failed_ns, 0);
	assert_int_equal(reading->taken_ns, now_ns - NSEC_PER_SEC);
	/* One that has not become smaller gives nothing back. */
	lay_size(FIRST_PID, PAGES, 24);
	memory.allowance_ns = ALLOWANCE_MOST_NS;
	tick(1);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_false(members[0].memory.reading->finds_anon);
}

/* --pss always reads each member of each family. */
static void all_members_of_all_families_are_read(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		add((uint64_t)(i / 3) + 1, i % 3 > 0, 1000)->parent_pid = i % 3 ? FIRST_PID + i / 3 * 3 : 1;
	assert_int_equal(memory_families_build(&memory.families, &tree), 0);
	memory_schedule(&memory, &tree, PSS_MODE_ALWAYS);
	for (int i = 0; i < 6; i++)
		assert_int_equal(choice_of(i), READING_TAKEN);
}

/* Not a nanosecond is left. */
static void without_an_allowance_no_member_is_read(void **state)
{
	(void)state;
	add(1, false, 1000);
	memory.members_most = MEMBERS;
	memory.last_ns = now_ns;
	memory.allowance_ns = 0;
	tick(0);
	assert_int_equal(choice_of(0), READING_LATE);
	assert_int_equal(memory.late_kib, WORTH_READING_KIB);
	memory.allowance_ns = 1;
	tick(0);
	assert_int_equal(choice_of(0), READING_TAKEN);
	assert_int_equal(memory.late_kib, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(the_allowance_at_the_start_is_by_the_number_of_members),
		TEST(a_tree_that_grows_gets_the_difference),
		TEST(time_earns_an_allowance_up_to_its_most),
		TEST(time_saved_for_later_readings_is_limited),
		TEST(pages_that_others_lost_are_in_doubt_for_all_users),
		TEST(huge_pages_are_asked_for_if_the_machine_has_some),
		TEST(a_change_of_files_is_told_by_both_sides),
		TEST(a_reading_that_is_not_permitted_is_remembered),
		TEST(the_other_way_is_tried_where_a_file_is_missing),
		TEST(pages_are_divided_among_relatives_alone),
		TEST(a_reading_tells_the_loss_of_its_objects),
		TEST(a_reading_that_has_lost_nothing_tells_none),
		TEST(common_pages_without_a_relative_are_read_again),
		TEST(common_pages_that_were_inherited_are_explained),
		TEST(a_process_that_gives_memory_back_keeps_its_reading),
		TEST(all_members_of_all_families_are_read),
		TEST(without_an_allowance_no_member_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
