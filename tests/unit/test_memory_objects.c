/* Tests of src/job/memory/memory_objects.c: files in memory that this process has open or maps, each counted once. */
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "job/memory/memory_objects.h"
#include "job/memory/memory_tuning.h"
#include "scratch.h"

enum { BYTES = 1 << 20, KIB = BYTES / 1024, PAGES = BYTES / 4096 };

static struct root root;
static struct memory_objects objects;

static int begin(void **state)
{
	return scratch_enter(state) || root_open(&root, NULL, NULL) < 0 ? -1 : 0;
}

static int end(void **state)
{
	memory_objects_done(&objects);
	root_close(&root);
	return scratch_leave(state);
}

static int64_t sum_kib(void)
{
	return memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).kib;
}

static void refresh(void)
{
	for (size_t i = 0; i < objects.count; i++)
		objects.objects[i].is_used = false;
	memory_objects_refresh(&objects, &root, getpid());
}

/* The files of the scratch folder are memory, but for those below `except`. */
static void mount_scratch(const char *except)
{
	objects.mounts = calloc(2, sizeof *objects.mounts);
	assert_non_null(objects.mounts);
	objects.mounts[0] = (struct tmpfs_mount){.point = strdup(scratch_folder), .is_tmpfs = true};
	objects.mounts[1] = (struct tmpfs_mount){.point = strdup(except)};
	objects.mount_count = 2;
}

static int make_file(const char *path)
{
	static const char bytes[BYTES] = {1};
	int fd;

	put_file(path, bytes, sizeof bytes);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static struct memory_object *map_file(const char *path, const char *name, bool shared, bool writable)
{
	char whole[128];
	struct stat status;
	struct memory_area area = {
		.start = 4096, .end = 4096 + BYTES, .shared = shared, .writable = writable};

	assert_int_equal(stat(path, &status), 0);
	snprintf(whole, sizeof whole, "%s/%s", scratch_folder, name);
	area.device = status.st_dev;
	area.inode = status.st_ino;
	area.name = scan_bytes(whole, strlen(whole));
	return memory_objects_meet(&objects, &root, getpid(), &area);
}

/* The first path by which it can be opened stays; a deleted file, and one that never had a path, have none. */
static void test_an_object_keeps_its_first_path(void **state)
{
	static const char *const NAMELESS[] = {
		"/memfd:x", "/SYSV00000000", "/dev/zero (deleted)", "/anon_hugepage", "x", ""};
	struct memory_area area = {.start = 4096, .end = 8192, .shared = true, .device = 5};
	char wanted[128];

	(void)state;
	mount_scratch("/nowhere");
	close(make_file("file"));
	assert_null(map_file("file", "file (deleted)", true, true)->path);
	snprintf(wanted, sizeof wanted, "%s/first", scratch_folder);
	assert_string_equal(map_file("file", "first", true, true)->path, wanted);
	assert_string_equal(map_file("file", "second", true, true)->path, wanted);
	for (size_t i = 0; i < sizeof NAMELESS / sizeof NAMELESS[0]; i++) {
		struct memory_object *object;

		area.inode = 100 + i;
		area.name = scan_bytes(NAMELESS[i], strlen(NAMELESS[i]));
		object = memory_objects_meet(&objects, &root, getpid(), &area);
		assert_non_null(object);
		assert_null(object->path);
	}
}

static void test_a_closed_memfd_counts_until_a_search_has_not_found_it(void **state)
{
	static const char bytes[BYTES] = {1};
	int fd = memfd_create("test", MFD_CLOEXEC);

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof bytes), BYTES);
	memory_objects_begin_search(&objects);
	memory_objects_scan_fds(&objects, &root, getpid());
	memory_objects_end_search(&objects);
	refresh();
	assert_int_equal(objects.count, 1);
	assert_int_equal(sum_kib(), KIB);
	close(fd);
	refresh();
	/* Another process may have it open. */
	assert_true(objects.lost_one);
	assert_int_equal(objects.lost_kib, KIB);
	assert_int_equal(sum_kib(), KIB);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, root.page_bytes).cut_kib,
			 KIB);
	memory_objects_begin_search(&objects);
	assert_false(objects.lost_one);
	refresh();
	assert_int_equal(sum_kib(), KIB);
	memory_objects_end_search(&objects);
	refresh();
	assert_int_equal(objects.count, 0);
	assert_int_equal(sum_kib(), 0);
}

static void test_the_deepest_mount_says_whether_an_open_file_is_memory(void **state)
{
	char other[64];
	int fds[3];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(other, sizeof other, "%s/other", scratch_folder);
	assert_int_equal(mkdir("other", 0755) + mkdir("others", 0755), 0);
	mount_scratch(other);
	fds[0] = make_file("file");
	fds[1] = make_file("other/file");
	fds[2] = make_file("others/file");
	memory_objects_scan_fds(&objects, &root, getpid());
	assert_int_equal(objects.count, 2);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/* A job that has written a file has its memory. One that has only read it has it as long as it uses it. */
static void test_a_file_that_was_written_counts_after_its_use(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	close(make_file("read"));
	close(make_file("written"));
	close(make_file("copied"));
	assert_non_null(map_file("read", "read", true, false));
	assert_non_null(map_file("written", "written", true, true));
	assert_non_null(map_file("copied", "copied", false, true));
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.count, 3);
	assert_int_equal(sum_kib(), 3 * KIB);
	refresh();
	assert_int_equal(objects.count, 1);
	assert_true(objects.objects[0].was_written);
	assert_int_equal(sum_kib(), KIB);
	assert_int_equal(unlink("written"), 0);
	refresh();
	assert_int_equal(objects.count, 0);
}

static void test_another_file_at_its_path_is_not_the_object(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	close(make_file("file"));
	assert_non_null(map_file("file", "file", true, true));
	close(make_file("new"));
	assert_int_equal(rename("new", "file"), 0);
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.count, 1);
	assert_int_equal(objects.objects[0].kib, -1);
}

static void test_which_areas_are_memory_with_a_name(void **state)
{
	static const struct {
		const char *name;
		uint64_t device, inode;
		bool is_memory;
	} CASES[] = {
		{"", 0, 0, false},
		{"/SYSV00000000 (deleted)", 1, 0, true},
		{"/memfd:x (deleted)", 1, 9, true},
		{"/dev/zero (deleted)", 1, 9, true},
		{"/dev/zero", 1, 9, false},
		{"/lib/libc.so", 1, 9, false},
		{"/anything", 7, 9, true},
		{"/anything", 8, 9, false},
		{"/anything", 7, 0, false},
	};

	(void)state;
	mount_scratch("/nothing");
	objects.mounts[0].device = 7;
	objects.mounts[1].device = 8;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct memory_area area = {.device = CASES[i].device,
						 .inode = CASES[i].inode,
						 .name = scan_bytes(CASES[i].name, strlen(CASES[i].name))};

		assert_int_equal(memory_objects_has(&objects, &area), CASES[i].is_memory);
	}
}

static int64_t now_ns;

static int64_t tell_time(void *unused)
{
	(void)unused;
	return now_ns;
}

static const struct clocks CLOCKS = {.monotonic_ns = tell_time, .realtime_ns = tell_time};

static void read_mounts_at(int64_t secs, const char *mountinfo)
{
	struct root captured;

	now_ns = secs * NSEC_PER_SEC;
	if (mountinfo)
		put_text("proc/7/mountinfo", mountinfo);
	assert_int_equal(root_open(&captured, ".", &CLOCKS), 0);
	memory_objects_read_mounts(&objects, &captured, 7);
	root_close(&captured);
}

#define MOUNTS \
	"1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 0:30 / /dev/shm rw - tmpfs tmpfs rw\n" \
	"3 1 0:31 / /huge rw - hugetlbfs none rw\n4 2 8:16 / /dev/shm/disk rw - xfs /dev/sdb rw\n" \
	"5 1 8:32 / /dev/shm2 rw - xfs /dev/sdc rw\n6 1 0:32 / /x rw - ramfs none rw\n"

/* File systems in memory, and others only where they are mounted below one of these. */
static void test_mounts_of_memory_and_below_it_are_kept(void **state)
{
	(void)state;
	assert_int_equal(mkdir("proc", 0755) | mkdir("proc/7", 0755), 0);
	read_mounts_at(100, MOUNTS);
	assert_int_equal(objects.mount_count, 3);
	assert_string_equal(objects.mounts[0].point, "/dev/shm");
	assert_true(objects.mounts[0].is_tmpfs);
	assert_string_equal(objects.mounts[1].point, "/huge");
	assert_true(objects.mounts[1].is_tmpfs);
	assert_string_equal(objects.mounts[2].point, "/dev/shm/disk");
	assert_false(objects.mounts[2].is_tmpfs);
	/* A job rarely mounts: they are read once a minute. */
	read_mounts_at(159, "1 0 8:0 / / rw - ext4 /dev/sda rw\n");
	assert_int_equal(objects.mount_count, 3);
	read_mounts_at(160, NULL);
	assert_int_equal(objects.mount_count, 0);
	read_mounts_at(220, MOUNTS);
	assert_int_equal(objects.mount_count, 3);
	assert_int_equal(remove("proc/7/mountinfo"), 0);
	read_mounts_at(290, NULL);
	assert_int_equal(objects.mount_count, 3);
}

/* A table of 256 mounts is full. */
static void test_the_first_of_very_many_mounts_are_kept(void **state)
{
	static char text[300 * 60];
	size_t length = 0;

	(void)state;
	assert_int_equal(mkdir("proc", 0755) | mkdir("proc/7", 0755), 0);
	for (int i = 0; i < 300; i++)
		length += (size_t)snprintf(text + length, sizeof text - length,
					   "%d 1 0:%d / /m%d rw - tmpfs tmpfs rw\n", i + 2, i + 30, i);
	read_mounts_at(100, text);
	assert_int_equal(objects.mount_count, 256);
	assert_string_equal(objects.mounts[255].point, "/m255");
}

/* The mappings that have no place are like those that have one. A quarter of the estimate is in doubt, and what several share. */
static void test_objects_beyond_the_table_are_like_the_others(void **state)
{
	const struct objects_cut cut = {.most = 100, .all = 300};
	struct memory_objects_sum sum;
	struct memory_object *object;

	(void)state;
	close(make_file("file"));
	object = map_file("file", "file", true, true);
	assert_non_null(object);
	object->kib = KIB / 2;
	assert_int_equal(object->pages, PAGES);
	sum = memory_objects_sum(&objects, &cut, 4096);
	assert_int_equal(sum.kib, KIB / 2 + 100 * 2);
	assert_int_equal(sum.cut_kib, 200 * 2 + 100 * 2 / 4);
	assert_true(sum.sampled);
	object->is_huge = true;
	sum = memory_objects_sum(&objects, &(struct objects_cut){0}, 4096);
	assert_int_equal(sum.kib, 0);
	assert_int_equal(sum.huge_kib, KIB / 2);
	assert_false(sum.sampled);
}

/* Without a size from the kernel, pages that were seen count, and each sampled one stands for its block. */
static void test_an_object_of_unknown_size_has_the_pages_that_were_seen(void **state)
{
	struct memory_objects_sum sum;
	struct memory_object *object;

	(void)state;
	close(make_file("file"));
	object = map_file("file", "file", true, true);
	assert_non_null(object);
	object->seen.level = 2;
	for (uint64_t i = 0; i < 16; i++)
		assert_true(page_places_add(&object->seen, 0, i * 4));
	sum = memory_objects_sum(&objects, &(struct objects_cut){0}, 4096);
	assert_int_equal(sum.kib, 16 * 4 * 4);
	assert_true(sum.has_unknown && sum.has_written && sum.faulted_kib == sum.kib);
	assert_true(sum.sampled && sum.variance > 0);
	object->is_huge = true;
	assert_false(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).has_unknown);
}

enum { SEEN = 16, PAGE_KIB = 4, OTHERS_KIB = 1000, AT_ONCE = 20 };

/* A file of which 16 pages were seen in round 0. Then a member is read that has lost `fell_kib` of them since time 10. */
static struct memory_object *object_in_round(int64_t fell_kib, int64_t unmapped_kib)
{
	struct memory_object *object;

	close(make_file("file"));
	object = map_file("file", "file", true, true);
	assert_non_null(object);
	for (uint64_t i = 0; i < SEEN; i++)
		assert_true(page_places_add(&object->seen, 0, i));
	memory_objects_begin_round(&objects, &(struct page_place){object->device, object->inode},
				   &(struct round_begin){20, 10, OTHERS_KIB, fell_kib, unmapped_kib});
	assert_true(objects.in_round && object->round == 1);
	return object;
}

static void see_again(struct memory_object *object, uint64_t count, int64_t oldest_ns)
{
	for (uint64_t i = 0; i < count; i++)
		object->seen.at[i].space = object->round;
	object->oldest_ns = oldest_ns;
}

static void test_pages_have_gone_if_the_machine_has_lost_them_as_well(void **state)
{
	struct memory_object *object = object_in_round(12 * PAGE_KIB, 0);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 12 * PAGE_KIB);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB - 6 * PAGE_KIB, 4096),
			 12 * PAGE_KIB);
	assert_false(objects.in_round);
	assert_int_equal(sum_kib(), 4 * PAGE_KIB);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 0);
}

/* The kernel clears the page tables first. */
static void test_the_machine_may_lose_pages_later(void **state)
{
	struct memory_object *object = object_in_round(12 * PAGE_KIB, 0);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB, 4096), 0);
	assert_true(objects.in_round);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 12 * PAGE_KIB);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE + REMOVAL_NS - 1,
						   OTHERS_KIB - 12 * PAGE_KIB, 4096),
			 12 * PAGE_KIB);
	assert_false(objects.in_round);
}

/* A pass reads the resident sets first and the pages last. */
static void test_resident_sets_may_show_the_loss_later(void **state)
{
	struct memory_object *object = object_in_round(0, 0);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB - 12 * PAGE_KIB, 4096), 0);
	assert_true(objects.in_round);
	memory_objects_begin_round(
		&objects, &(struct page_place){object->device, object->inode},
		&(struct round_begin){30, 20, OTHERS_KIB - 12 * PAGE_KIB, 12 * PAGE_KIB, 0});
	see_again(object, 4, 30);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB - 12 * PAGE_KIB, 4096),
			 12 * PAGE_KIB);
	assert_false(objects.in_round);
	assert_int_equal(sum_kib(), 4 * PAGE_KIB);
}

/* They have one pass for that: the next removal is another one. */
static void test_pages_stay_if_resident_sets_show_no_loss(void **state)
{
	struct memory_object *object = object_in_round(0, 0);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB, 4096), 0);
	assert_true(objects.in_round);
	see_again(object, 4, 30);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB, 4096), 0);
	assert_false(objects.in_round);
	assert_int_equal(sum_kib(), SEEN * PAGE_KIB);
}

/* Then the machine's lost memory was that of other programs. */
static void test_pages_that_were_unmapped_stay(void **state)
{
	struct memory_object *object = object_in_round(12 * PAGE_KIB, 12 * PAGE_KIB);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, OTHERS_KIB - 12 * PAGE_KIB, 4096), 0);
	assert_false(objects.in_round);
	assert_int_equal(sum_kib(), SEEN * PAGE_KIB);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 12 * PAGE_KIB);
}

/* They stay, in doubt as far as a process has given them back without unmapping them. */
static void test_pages_stay_if_the_machine_still_has_them(void **state)
{
	struct memory_object *object = object_in_round(12 * PAGE_KIB, 5 * PAGE_KIB);

	(void)state;
	see_again(object, 4, 20);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE + REMOVAL_NS,
						   OTHERS_KIB - 6 * PAGE_KIB + 1, 4096),
			 0);
	assert_int_equal(sum_kib(), SEEN * PAGE_KIB);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 7 * PAGE_KIB);
	/* Later falls of the machine's memory are not theirs. */
	memory_objects_begin_round(&objects, &(struct page_place){object->device, object->inode},
				   &(struct round_begin){30, 20, OTHERS_KIB, 0, 0});
	see_again(object, 4, 30);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, 0, 4096), 0);
	assert_int_equal(sum_kib(), SEEN * PAGE_KIB);
	/* No doubt is left once they are seen again. */
	memory_objects_begin_round(&objects, &(struct page_place){object->device, object->inode},
				   &(struct round_begin){40, 30, OTHERS_KIB, 0, 0});
	see_again(object, SEEN, 40);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, 0, 4096), 0);
	assert_int_equal(memory_objects_sum(&objects, &(struct objects_cut){0}, 4096).cut_kib, 0);
}

static void test_a_round_ends_with_the_reading_of_the_last_member(void **state)
{
	struct memory_object *object = object_in_round(12 * PAGE_KIB, 0);
	const struct page_place id = {object->device, object->inode};

	(void)state;
	see_again(object, 4, 19);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, 0, 4096), 0);
	assert_true(objects.in_round && object->round_ns == 20);
	/* Another member was not read in this round. */
	memory_objects_begin_round(&objects, &id, &(struct round_begin){25, 10, 0, PAGE_KIB, 0});
	assert_int_equal(object->round_ns, 20);
	/* This one was, and has lost more since: all have to be read again. */
	memory_objects_begin_round(&objects, &id, &(struct round_begin){30, 20, 0, PAGE_KIB, 0});
	assert_true(object->round_ns == 30 && object->round == 2);
	assert_int_equal(object->others_kib, OTHERS_KIB);
	see_again(object, 2, 30);
	assert_int_equal(memory_objects_end_rounds(&objects, AT_ONCE, 0, 4096), 14 * PAGE_KIB);
	assert_int_equal(sum_kib(), 2 * PAGE_KIB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_object_keeps_its_first_path, begin, end),
		TEST(test_a_closed_memfd_counts_until_a_search_has_not_found_it),
		TEST(test_the_deepest_mount_says_whether_an_open_file_is_memory),
		TEST(test_a_file_that_was_written_counts_after_its_use),
		TEST(test_another_file_at_its_path_is_not_the_object),
		TEST(test_which_areas_are_memory_with_a_name),
		TEST(test_mounts_of_memory_and_below_it_are_kept),
		TEST(test_the_first_of_very_many_mounts_are_kept),
		TEST(test_objects_beyond_the_table_are_like_the_others),
		TEST(test_an_object_of_unknown_size_has_the_pages_that_were_seen),
		TEST(test_pages_have_gone_if_the_machine_has_lost_them_as_well),
		TEST(test_the_machine_may_lose_pages_later),
		TEST(test_resident_sets_may_show_the_loss_later),
		TEST(test_pages_stay_if_resident_sets_show_no_loss),
		TEST(test_pages_that_were_unmapped_stay),
		TEST(test_pages_stay_if_the_machine_still_has_them),
		TEST(test_a_round_ends_with_the_reading_of_the_last_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
