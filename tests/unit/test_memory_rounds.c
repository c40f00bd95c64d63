/* Tests of src/job/memory/memory_objects.c: sizes, sums and rounds of shared memory at their limits. */
#include <errno.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "job/memory/memory_objects.h"
#include "job/memory/memory_tuning.h"
#include "scratch.h"

enum { PAGE_KIB = 4, PAGES = 256, KIB = PAGES * PAGE_KIB, BYTES = KIB * 1024, SEEN = 16, OTHERS_KIB = 1000 };

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

/* An object that a process maps from `start` on, with this name, as its file system has 256 pages of it. */
static struct memory_object *meet(uint64_t inode, const char *name, uint64_t start, uint64_t bytes)
{
	const struct memory_area area = {.start = start,
					 .end = start + bytes,
					 .device = 5,
					 .inode = inode,
					 .shared = true,
					 .writable = true,
					 .name = scan_bytes(name, strlen(name))};

	return memory_objects_meet(&objects, &root, getpid(), &area);
}

static struct memory_object *meet_one(void)
{
	struct memory_object *object =
		meet(7, "/memfd:x", (uint64_t)root.page_bytes, (uint64_t)root.page_bytes * PAGES);

	assert_non_null(object);
	return object;
}

static struct memory_objects_sum sum_of(int64_t cut_most, int64_t cut_all)
{
	return memory_objects_sum(&objects, &(struct objects_cut){cut_most, cut_all}, PAGE_KIB * 1024);
}

static void see(struct memory_object *object, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		assert_true(page_places_add(&object->seen, 0, i));
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static void an_object_ends_with_its_largest_mapping(void **state)
{
	struct memory_area area = {
		.start = 0x10000, .end = 0x18000, .offset = 0x4000, .device = 5, .inode = 7, .shared = true};
	struct memory_object *object;

	(void)state;
	root.page_bytes = 4096;
	area.name = scan_bytes("/memfd:x", 8);
	object = memory_objects_meet(&objects, &root, 12, &area);
	assert_non_null(object);
	assert_int_equal(object->pages, 12);
	assert_int_equal(object->mapped_by, 12);
	assert_true(object->is_used && !object->was_written && !object->is_system_v && !object->is_faulted &&
		    !object->is_huge);
	assert_int_equal(object->kib, -1);
	assert_int_equal(object->held_fd, -1);
	/* A smaller mapping, of a process that may write. */
	area.offset = 0x1000;
	area.writable = true;
	assert_ptr_equal(memory_objects_meet(&objects, &root, 13, &area), object);
	assert_int_equal(object->pages, 12);
	assert_int_equal(object->mapped_by, 13);
	assert_true(object->mapped_start == 0x10000 && object->mapped_end == 0x18000);
	assert_true(object->was_written);
	/* A private mapping writes to copies. */
	area.inode = 8;
	area.shared = false;
	object = memory_objects_meet(&objects, &root, 13, &area);
	assert_false(object->was_written);
	assert_int_equal(objects.count, 2);
}

static void names_tell_the_kind_of_an_object(void **state)
{
	(void)state;
	assert_true(meet(1, "/SYSV0000002a (deleted)", 4096, 4096)->is_system_v);
	assert_true(meet(2, "/dev/zero (deleted)", 4096, 4096)->is_faulted);
	assert_true(meet(3, "/anon_hugepage (deleted)", 4096, 4096)->is_huge);
	assert_false(meet(4, "/memfd:x (deleted)", 4096, 4096)->is_huge);
}

/* 8,192 objects are kept, and those that are known are found among them. */
static void the_table_has_its_most(void **state)
{
	struct memory_object *first;

	(void)state;
	for (uint64_t inode = 1; inode <= OBJECTS_MOST; inode++)
		assert_non_null(meet(inode, "/memfd:x", 4096, 4096));
	assert_null(meet(OBJECTS_MOST + 1, "/memfd:x", 4096, 4096));
	assert_int_equal(objects.count, OBJECTS_MOST);
	first = meet(1, "/memfd:x", 4096, 4096);
	assert_non_null(first);
	assert_int_equal(first->inode, 1);
	assert_ptr_equal(memory_objects_find(&objects, 5, OBJECTS_MOST), &objects.objects[OBJECTS_MOST - 1]);
	assert_null(memory_objects_find(&objects, 6, 1));
}

/* Without a path, the kernel's list of mappings leads to the file, if this process may look at it. */
static void a_deleted_file_is_asked_for_by_its_mapping(void **state)
{
	static const char bytes[BYTES] = {1};
	struct stat status;
	struct memory_area area = {.shared = true, .writable = true};
	struct memory_object *object;
	char *memory;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_file("file", bytes, sizeof bytes);
	fd = open("file", O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	close(fd);
	unlink("file");
	area.start = (uint64_t)(uintptr_t)memory;
	area.end = area.start + BYTES;
	area.device = status.st_dev;
	area.inode = status.st_ino;
	area.name = scan_bytes("/x (deleted)", 12);
	object = memory_objects_meet(&objects, &root, getpid(), &area);
	assert_non_null(object);
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.count, 1);
	if (objects.map_files_refused) {
		munmap(memory, BYTES);
		SKIP("not permitted to look at mappings");
	}
	assert_int_equal(objects.objects[0].kib, status.st_blocks * 512 / 1024);
	/* Another mapping is at that place, or none. */
	objects.objects[0].inode++;
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.objects[0].kib, -1);
	objects.objects[0].inode--;
	objects.objects[0].mapped_end++;
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.objects[0].kib, -1);
	assert_false(objects.map_files_refused);
	objects.objects[0].mapped_end--;
	objects.map_files_refused = true;
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.objects[0].kib, -1);
	objects.map_files_refused = false;
	objects.objects[0].mapped_by = 0;
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.objects[0].kib, -1);
	/* No process maps it any more. */
	objects.objects[0].is_used = false;
	memory_objects_refresh(&objects, &root, getpid());
	assert_int_equal(objects.count, 0);
	munmap(memory, BYTES);
}

/* The sizes of all that were lost, and none for one of unknown size. */
static void lost_files_are_added_up(void **state)
{
	(void)state;
	for (uint64_t inode = 1; inode <= 3; inode++) {
		struct memory_object *object = meet(inode, "/memfd:x (deleted)", 4096, 4096);

		object->held_by = getpid();
		object->held_fd = 1000 + (int)inode;
		object->kib = inode == 3 ? -1 : 100 * (int64_t)inode;
		object->is_used = false;
		object->mapped_by = 0;
	}
	objects.searches = 4;
	memory_objects_refresh(&objects, &root, getpid());
	assert_true(objects.lost_one);
	assert_int_equal(objects.lost_kib, 300);
	assert_int_equal(objects.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(objects.objects[i].held_fd, -1);
		assert_int_equal(objects.objects[i].lost_before, 5);
	}
	assert_int_equal(objects.objects[0].kib, 100);
	assert_int_equal(objects.objects[1].kib, 200);
	/* They count, and may be gone. */
	assert_int_equal(sum_of(0, 0).kib, 300);
	assert_int_equal(sum_of(0, 0).cut_kib, 300);
	objects.objects[0].is_used = true;
	assert_int_equal(sum_of(0, 0).cut_kib, 200);
	/* A search that has begun before does not end the wait. */
	memory_objects_end_search(&objects);
	assert_int_equal(objects.objects[1].lost_before, 5);
	memory_objects_begin_search(&objects);
	assert_int_equal(objects.lost_kib, 0);
	memory_objects_end_search(&objects);
	assert_int_equal(objects.objects[1].lost_before, 0);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void sampled_blocks_have_a_binomial_variance(void **state)
{
	struct memory_object *object = meet_one();

	(void)state;
	root.page_bytes = 4096;
	object->pages = PAGES;
	object->seen.level = 2;
	see(object, SEEN);
	/* A quarter of 64 blocks of 16 KiB. */
	assert_int_equal(sum_of(0, 0).kib, SEEN * 16);
	assert_true(sum_of(0, 0).variance > 3071.9 && sum_of(0, 0).variance < 3072.1);
	assert_int_equal(sum_of(0, 0).cut_kib, 0);
	object->fell_kib = 20;
	object->doubt_kib = 30;
	assert_int_equal(sum_of(0, 0).cut_kib, 50);
	object->doubt_kib = 9000;
	assert_int_equal(sum_of(0, 0).cut_kib, SEEN * 16);
	object->fell_kib = object->doubt_kib = 0;
	/* Each page was looked at. */
	object->seen.level = 0;
	assert_int_equal(sum_of(0, 0).kib, SEEN * PAGE_KIB);
	assert_true(sum_of(0, 0).variance == 0);
	/* No more than all pages of the largest mapping. */
	object->seen.level = 2;
	see(object, 48);
	assert_int_equal(sum_of(0, 0).kib, KIB);
	assert_true(sum_of(0, 0).variance == 0);
	see(object, 1);
	assert_int_equal(sum_of(0, 0).kib, KIB);
	assert_true(sum_of(0, 0).variance == 0);
	object->pages = 0;
	assert_int_equal(sum_of(0, 0).kib, 0);
	assert_true(sum_of(0, 0).variance == 0);
}

static void an_unknown_object_says_where_its_pages_come_from(void **state)
{
	struct memory_object *object = meet_one();
	struct memory_objects_sum sum;

	(void)state;
	see(object, SEEN);
	sum = sum_of(0, 0);
	assert_true(sum.has_unknown && sum.has_written && sum.sampled);
	assert_int_equal(sum.faulted_kib, SEEN * PAGE_KIB);
	object->is_faulted = true;
	sum = sum_of(0, 0);
	assert_true(sum.has_unknown && !sum.has_written);
	object->kib = 40;
	sum = sum_of(0, 0);
	assert_true(!sum.has_unknown && !sum.has_written && !sum.sampled && sum.faulted_kib == 0);
	assert_int_equal(sum.kib, 40);
	object->kib = 0;
	assert_int_equal(sum_of(0, 0).kib, 0);
	assert_false(sum_of(0, 0).sampled);
}

/* Descriptors beyond the table have the mean of those in it, and mappings the mean of mapped pages. */
static void objects_outside_the_table_have_the_mean_size(void **state)
{
	struct memory_object *object = meet_one();

	(void)state;
	object->kib = 512;
	object->pages = PAGES;
	objects.cut = (struct objects_cut){.most = 2, .all = 5};
	assert_int_equal(sum_of(0, 0).kib, 512);
	assert_false(sum_of(0, 0).sampled);
	object->held_fd = 3;
	assert_int_equal(sum_of(0, 0).kib, 3 * 512);
	assert_int_equal(sum_of(0, 0).cut_kib, 3 * 512 + 2 * 512 / 4);
	assert_true(sum_of(0, 0).sampled);
	/* The search in progress has found more. */
	objects.cut_now = (struct objects_cut){.most = 3, .all = 4};
	assert_int_equal(sum_of(0, 0).kib, 4 * 512);
	assert_int_equal(sum_of(0, 0).cut_kib, 2 * 512 + 3 * 512 / 4);
	/* 2 KiB for each page, and both together. */
	assert_int_equal(sum_of(100, 150).kib, 4 * 512 + 200);
	assert_int_equal(sum_of(100, 150).cut_kib, 2 * 512 + 100 + (3 * 512 + 200) / 4);
	objects.cut = objects.cut_now = (struct objects_cut){0};
	object->is_huge = true;
	object->held_fd = -1;
	assert_int_equal(sum_of(100, 150).kib, 0);
	assert_int_equal(sum_of(100, 150).huge_kib, 512);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static void begin_round(const struct memory_object *object, int64_t now_ns, int64_t fell_kib,
			int64_t unmapped_kib)
{
	memory_objects_begin_round(
		&objects, &(struct page_place){object->device, object->inode},
		&(struct round_begin){now_ns, now_ns - 1, OTHERS_KIB, fell_kib, unmapped_kib});
}

static void only_objects_of_unknown_size_have_rounds(void **state)
{
	struct memory_object *object = meet_one();

	(void)state;
	object->kib = 0;
	begin_round(object, 20, 8, 0);
	assert_false(objects.in_round);
	assert_int_equal(object->round, 0);
	object->kib = -1;
	begin_round(object, 20, 8, 0);
	assert_true(objects.in_round);
	assert_int_equal(object->round, 1);
	assert_int_equal(object->fell_kib, 8);
	assert_int_equal(object->left_kib, 8);
	/* Unmapped memory does not count: never less than 0. */
	begin_round(object, 20, 3, 5);
	assert_int_equal(object->fell_kib, 11);
	assert_int_equal(object->left_kib, 8);
	begin_round(object, 20, 3, 1);
	assert_int_equal(object->left_kib, 10);
	memory_objects_begin_round(&objects, &(struct page_place){99, 99},
				   &(struct round_begin){20, 10, 0, 0, 0});
	assert_int_equal(objects.count, 1);
}

/* A round does not see 12 of 16 pages again. It ends at once, after so many KiB of the machine have gone. */
static int64_t end_with(int64_t fell_pages, int64_t unmapped_pages, int64_t lost_kib)
{
	struct memory_object *object;

	memory_objects_done(&objects);
	object = meet_one();
	see(object, SEEN);
	begin_round(object, 20, fell_pages * PAGE_KIB, unmapped_pages * PAGE_KIB);
	for (size_t i = 0; i < 4; i++)
		object->seen.at[i].space = object->round;
	object->oldest_ns = 20;
	return memory_objects_end_rounds(&objects, 20, OTHERS_KIB - lost_kib, PAGE_KIB * 1024);
}

/* Half of the pages that have gone is the limit of each of the three signs. */
static void pages_have_gone_by_half_of_each_sign(void **state)
{
	(void)state;
	/* Left by a member, and lost by the machine. */
	assert_int_equal(end_with(6, 0, 24), 12 * PAGE_KIB);
	assert_false(objects.in_round);
	assert_int_equal(objects.objects[0].seen.count, 4);
	assert_int_equal(end_with(6, 0, 23), 0);
	assert_true(objects.in_round);
	assert_int_equal(objects.objects[0].seen.count, 16);
	/* Too few were left: if resident sets show the fall, it is over, and else they have another pass. */
	assert_int_equal(end_with(6, 1, 24), 0);
	assert_false(objects.in_round);
	assert_false(objects.objects[0].has_waited);
	assert_int_equal(objects.objects[0].doubt_kib, 48);
	assert_int_equal(objects.objects[0].judged, 1);
	assert_int_equal(end_with(6, 1, 23), 0);
	assert_int_equal(objects.objects[0].doubt_kib, 20);
	assert_int_equal(end_with(5, 0, 24), 0);
	assert_true(objects.in_round);
	assert_true(objects.objects[0].has_waited);
	assert_int_equal(objects.objects[0].doubt_kib, 0);
}

/* The machine has two seconds to lose the pages. */
static void a_round_waits_two_seconds_for_the_machine(void **state)
{
	(void)state;
	assert_int_equal(end_with(6, 0, 0), 0);
	assert_true(objects.in_round);
	assert_int_equal(
		memory_objects_end_rounds(&objects, 20 + REMOVAL_NS - 1, OTHERS_KIB, PAGE_KIB * 1024), 0);
	assert_true(objects.in_round);
	assert_int_equal(memory_objects_end_rounds(&objects, 20 + REMOVAL_NS, OTHERS_KIB, PAGE_KIB * 1024),
			 0);
	assert_false(objects.in_round);
	assert_int_equal(objects.objects[0].doubt_kib, 24);
	assert_int_equal(objects.objects[0].fell_kib, 0);
	assert_int_equal(objects.objects[0].left_kib, 0);
	assert_int_equal(objects.objects[0].round_ns, 0);
	/* A round sees no page of an object that no member maps any more. */
	assert_int_equal(end_with(6, 0, 0), 0);
	objects.objects[0].is_used = false;
	assert_int_equal(memory_objects_end_rounds(&objects, 20 + 2 * REMOVAL_NS, 0, PAGE_KIB * 1024), 0);
	assert_true(objects.in_round);
}

/* The pages of two objects that have gone are not taken from the same loss of the machine. */
static void the_loss_of_one_object_explains_only_itself(void **state)
{
	(void)state;
	(void)end_with(12, 0, 0);
	for (uint64_t inode = 8; inode <= 9; inode++) {
		struct memory_object *object = meet(inode, "/memfd:y", 4096, BYTES);

		see(object, SEEN);
		begin_round(object, 20, 12 * PAGE_KIB, 0);
		object->oldest_ns = 20;
	}
	/* Half of 48 KiB of the first one, and 16 pages each of the others. */
	assert_int_equal(memory_objects_end_rounds(&objects, 20, OTHERS_KIB - 24, PAGE_KIB * 1024),
			 12 * PAGE_KIB);
	assert_int_equal(objects.objects[0].seen.count, 4);
	assert_int_equal(objects.objects[1].seen.count, SEEN);
	assert_int_equal(objects.objects[2].seen.count, SEEN);
}

/* Pages that were judged before, and stayed, are not judged again. */
static void pages_of_earlier_rounds_stay(void **state)
{
	struct memory_object *object;

	(void)state;
	assert_int_equal(end_with(6, 1, 24), 0);
	object = &objects.objects[0];
	assert_int_equal(object->judged, 1);
	begin_round(object, 30, 4 * PAGE_KIB, 0);
	object->oldest_ns = 30;
	/* The four pages of the first round are not seen again, and twelve were judged before. */
	assert_int_equal(memory_objects_end_rounds(&objects, 30, OTHERS_KIB - 16, PAGE_KIB * 1024),
			 4 * PAGE_KIB);
	assert_int_equal(object->seen.count, 12);
	assert_int_equal(object->doubt_kib, 48);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(an_object_ends_with_its_largest_mapping),
		TEST(names_tell_the_kind_of_an_object),
		TEST(the_table_has_its_most),
		TEST(a_deleted_file_is_asked_for_by_its_mapping),
		TEST(lost_files_are_added_up),
		TEST(sampled_blocks_have_a_binomial_variance),
		TEST(an_unknown_object_says_where_its_pages_come_from),
		TEST(objects_outside_the_table_have_the_mean_size),
		TEST(only_objects_of_unknown_size_have_rounds),
		TEST(pages_have_gone_by_half_of_each_sign),
		TEST(a_round_waits_two_seconds_for_the_machine),
		TEST(the_loss_of_one_object_explains_only_itself),
		TEST(pages_of_earlier_rounds_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
