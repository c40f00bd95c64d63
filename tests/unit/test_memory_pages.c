/* Tests of src/job/memory/memory_reading.c: one reading of a process, from page maps and rollups made by the test. */
#include <errno.h>
#include <float.h>

#include "job/memory/memory_reading.h"
#include "scratch.h"

enum { PID = 100, FIRST_PAGE = 1 << 14, PAGE_KIB = 4 };
#define PRESENT (UINT64_C(1) << 63)
#define EXCLUSIVE (UINT64_C(1) << 56)
#define OF_FILE (UINT64_C(1) << 61)

static struct root root;
static struct memory_objects objects;
static struct memory_reader reader;
static struct memory_reading *reading;
static struct memory_subject subject;

static int begin(void **state)
{
	if (scratch_enter(state) || mkdir("proc", 0755) || mkdir("proc/100", 0755) ||
	    root_open(&root, scratch_folder, NULL) < 0)
		return -1;
	root.page_bytes = PAGE_KIB * 1024;
	reader = (struct memory_reader){.root = &root, .objects = &objects};
	subject = (struct memory_subject){.pid = PID, .with_anon = true, .variance_most = DBL_MAX};
	reading = NULL;
	return 0;
}

static int end(void **state)
{
	memory_reading_free(reading);
	memory_reader_done(&reader);
	memory_objects_done(&objects);
	root_close(&root);
	return scratch_leave(state);
}

/* An area of `count` pages with these permissions, name and entries. */
static void lay_area(int count, const char *permissions, const char *name)
{
	char text[160];

	snprintf(text, sizeof text, "%x000-%x000 %s 00000000 08:01 %d %s\n", FIRST_PAGE, FIRST_PAGE + count,
		 permissions, *name ? 77 : 0, name);
	put_text("proc/100/maps", text);
}

static void lay_entries(int count, uint64_t first, int first_count, uint64_t rest)
{
	static uint64_t entries[FIRST_PAGE + 4096];

	for (int i = 0; i < count; i++)
		entries[FIRST_PAGE + i] = i < first_count ? first : rest;
	put_file("proc/100/pagemap", entries, sizeof entries);
}

static void take(int expected)
{
	assert_int_equal(memory_reading_take(&reader, &subject, &reading), expected);
}

static void test_pages_of_a_file_are_not_anonymous(void **state)
{
	(void)state;
	lay_area(64, "rw-p", "/lib/libc.so");
	lay_entries(64, PRESENT | EXCLUSIVE, 32, PRESENT | OF_FILE);
	subject.anon_pages = 32;
	take(0);
	assert_int_equal(reading->exclusive_kib, 32 * PAGE_KIB);
	assert_int_equal(reading->common_kib, 0);
	assert_true(reading->finds_anon);
}

/* Addresses that were only read have the kernel's page of zeros, which looks common but is not resident. */
static void test_the_page_of_zeros_is_not_resident(void **state)
{
	(void)state;
	lay_area(512, "rw-p", "");
	lay_entries(512, PRESENT | EXCLUSIVE, 16, PRESENT);
	subject.anon_pages = 16;
	take(0);
	assert_int_equal(reading->anon_kib, 16 * PAGE_KIB);
	assert_int_equal(reading->exclusive_kib, 16 * PAGE_KIB);
}

static void test_memory_that_is_being_unmapped_keeps_its_reading(void **state)
{
	(void)state;
	lay_area(1024, "rw-p", "");
	lay_entries(1024, PRESENT | EXCLUSIVE, 256, PRESENT);
	subject.anon_pages = 1024;
	take(0);
	assert_int_equal(reading->exclusive_kib, 256 * PAGE_KIB);
	lay_area(8, "rw-p", "");
	/* It became smaller, and its last reading is not old. */
	subject.may_be_kept = true;
	take(-EAGAIN);
	assert_int_equal(reading->exclusive_kib, 256 * PAGE_KIB);
	subject.may_be_kept = false;
	take(0);
	assert_false(reading->finds_anon);
}

static void test_a_rollup_divides_anonymous_memory(void **state)
{
	(void)state;
	subject.with_rollup = true;
	put_text("proc/100/smaps_rollup",
		 "Rss: 500 kB\nPss: 300 kB\nPss_Anon: 180 kB\nPss_File: 120 kB\nPrivate_Clean: 10 kB\n"
		 "Private_Dirty: 150 kB\nAnonymous: 200 kB\nSwapPss: 7 kB\n");
	take(0);
	assert_int_equal(reading->exclusive_kib, 150);
	assert_int_equal(reading->common_kib, 50);
	assert_int_equal(reading->common_share_kib, 30);
	assert_int_equal(reading->file_kib, 120);
	assert_int_equal(reading->private_kib, 160);
	assert_int_equal(reading->swap_kib, 7);
	assert_int_equal(reading->resident_kib, 500);
}

/* Linux 5.3 began to split the shares: before, all but the private anonymous memory counts as files. */
static void test_a_rollup_before_linux_5_3(void **state)
{
	(void)state;
	subject.with_rollup = true;
	put_text("proc/100/smaps_rollup",
		 "Rss: 400 kB\nPss: 300 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: 150 kB\nAnonymous: 200 kB\n");
	take(0);
	assert_int_equal(reading->exclusive_kib, 150);
	assert_int_equal(reading->common_kib, 50);
	assert_int_equal(reading->common_share_kib, 0);
	assert_int_equal(reading->file_kib, 150);
	put_text("proc/100/smaps_rollup", "Rss: 400 kB\n");
	take(-ENODATA);
}

/* The kernel tells how many pages of files are resident. The sample says which of them are its own. */
static void test_pages_of_files_that_it_has_alone(void **state)
{
	(void)state;
	lay_area(64, "r--p", "/data");
	lay_entries(64, PRESENT | OF_FILE | EXCLUSIVE, 16, PRESENT | OF_FILE);
	subject.with_files = true;
	subject.shared_pages = 64;
	take(0);
	assert_int_equal(reading->file_kib, 16 * PAGE_KIB);
	assert_int_equal(reading->files.count, 48);
	/* Kept, although the page map has changed. */
	lay_entries(64, PRESENT | OF_FILE, 64, 0);
	subject.keeps_files = true;
	take(0);
	assert_int_equal(reading->file_kib, 16 * PAGE_KIB);
	assert_int_equal(reading->files.count, 48);
	subject.keeps_files = false;
	take(0);
	assert_int_equal(reading->file_kib, 0);
	assert_int_equal(reading->files.count, 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages_of_a_file_are_not_anonymous),
		TEST(test_the_page_of_zeros_is_not_resident),
		TEST(test_memory_that_is_being_unmapped_keeps_its_reading),
		TEST(test_a_rollup_divides_anonymous_memory),
		TEST(test_a_rollup_before_linux_5_3),
		TEST(test_pages_of_files_that_it_has_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
