/* Tests of src/job/memory/memory_reading.c: one reading of a process, from page maps and rollups made by the test. */
#include <errno.h>
#include <float.h>

#include "base/cleanup.h"
#include "job/memory/memory_reading.h"
#include "scratch.h"
#include <sys/sysmacros.h>

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

/* A page of `permissions` and `name`, of inode 0 if it has none, at each place of a list of areas that follow one another. */
static void lay_areas(const char *const lines[], size_t count)
{
	char text[1024];
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, sizeof text - length, "%x000-%x000 %s\n",
					   FIRST_PAGE + 8 * (unsigned)i, FIRST_PAGE + 8 * (unsigned)(i + 1),
					   lines[i]);
	put_text("proc/100/maps", text);
}

/* Only memory that the process can have written is anonymous: all of it is common here, or else nothing is known of it. */
static void test_which_areas_have_anonymous_pages(void **state)
{
	static const struct {
		const char *line;
		bool is_anonymous;
	} CASES[] = {
		{"rw-p 00000000 00:00 0", true},         {"rw-p 00000000 00:00 0 [heap]", true},
		{"r--p 00000000 00:00 0", true},         {"-w-p 00000000 00:00 0", true},
		{"---p 00000000 00:00 0", false},        {"rw-s 00000000 00:00 0", false},
		{"rw-p 00000000 08:01 7 /data", true},   {"-w-p 00000000 08:01 7 /data", true},
		{"r--p 00000000 08:01 7 /data", false},  {"rw-s 00000000 08:01 7 /data", false},
		{"r--p 00000000 00:00 0 [vvar]", false}, {"r--p 00000000 00:00 0 [vvar_vclock]", false},
		{"r-xp 00000000 00:00 0 [vdso]", false}, {"r-xp 00000000 00:00 0 [vsyscall]", false},
	};

	(void)state;
	lay_entries(8, PRESENT, 8, 0);
	subject.anon_pages = 8;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		lay_areas(&CASES[i].line, 1);
		take(0);
		assert_int_equal(reading->common_kib, CASES[i].is_anonymous ? 8 * PAGE_KIB : 0);
	}
	lay_areas(&CASES[0].line, 1);
	subject.with_anon = false;
	take(0);
	assert_int_equal(reading->common_kib, 0);
	assert_false(reading->has_anon);
}

/* The dynamic linker has written the first area, if the second one has the variables of the same library. */
static void test_which_constants_are_relocated(void **state)
{
	static const struct {
		const char *lines[3];
		bool is_relocated;
	} CASES[] = {
		{{"r--p 00000000 08:01 7 /lib", "rw-p 00008000 08:01 7 /lib"}, true},
		{{"r--p 00000000 08:01 8 /lib", "rw-p 00008000 08:01 7 /lib"}, false},
		{{"r--p 00000000 08:02 7 /lib", "rw-p 00008000 08:01 7 /lib"}, false},
		{{"r--s 00000000 08:01 7 /lib", "rw-p 00008000 08:01 7 /lib"}, false},
		{{"r--s 00000000 08:01 0", "rw-p 00008000 08:01 0"}, false},
	};

	(void)state;
	lay_entries(16, PRESENT | EXCLUSIVE, 8, PRESENT);
	subject.anon_pages = 16;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		lay_areas(CASES[i].lines, 2);
		take(0);
		assert_int_equal(reading->exclusive_kib, CASES[i].is_relocated ? 8 * PAGE_KIB : 0);
	}
	/* A gap between them: another part of the library was there. */
	lay_entries(24, PRESENT | EXCLUSIVE, 8, PRESENT);
	put_text("proc/100/maps",
		 "4000000-4008000 r--p 00000000 08:01 7 /lib\n4010000-4018000 rw-p 00010000 08:01 7 /lib\n");
	take(0);
	assert_int_equal(reading->exclusive_kib, 0);
	/* No variables: nothing was written. */
	put_text("proc/100/maps",
		 "4000000-4008000 r--p 00000000 08:01 7 /lib\n4008000-4010000 r-xp 00008000 08:01 7 /lib\n");
	take(0);
	assert_int_equal(reading->common_kib, 0);
}

static void test_a_good_part_of_the_memory_is_found_from_a_quarter_on(void **state)
{
	(void)state;
	lay_area(64, "rw-p", "");
	subject.anon_pages = 64;
	for (int found = 15; found <= 16; found++) {
		lay_entries(64, PRESENT, found, 0);
		take(0);
		assert_int_equal(reading->finds_anon, found == 16);
	}
	/* Page tables that have a quarter and 64 pages more than are resident have pages of zeros among them. */
	subject.anon_pages = 16;
	for (int found = 84; found <= 85; found++) {
		lay_area(found, "rw-p", "");
		lay_entries(found, PRESENT | EXCLUSIVE, 12, PRESENT);
		take(0);
		assert_int_equal(reading->exclusive_kib,
				 found == 84 ? 16 * PAGE_KIB * 12 / 84 : 12 * PAGE_KIB);
		assert_int_equal(reading->common_kib, 16 * PAGE_KIB - reading->exclusive_kib);
	}
	lay_entries(85, PRESENT | EXCLUSIVE, 85, 0);
	take(0);
	assert_int_equal(reading->exclusive_kib, 16 * PAGE_KIB);
}

enum { LARGE = 1 << 14 };

/* As many pages as the resident set, of which this process has the first half alone. */
static void lay_halves(void)
{
	static uint64_t entries[FIRST_PAGE + LARGE];

	for (int i = 0; i < LARGE; i++)
		entries[FIRST_PAGE + i] = PRESENT | (i < LARGE / 2 ? EXCLUSIVE : 0);
	put_file("proc/100/pagemap", entries, sizeof entries);
	lay_area(LARGE, "rw-p", "");
	subject.anon_pages = LARGE;
}

/* One border between the halves is the error: two clusters of 512. Half of it takes four times as many. */
static void test_more_pages_are_sampled_until_the_error_is_tolerable(void **state)
{
	static const struct {
		double variance_most;
		unsigned level;
		double variance;
	} CASES[] = {{1e9, 5, 10240}, {10240, 5, 10240}, {10239, 4, 2560}, {5120, 4, 2560}, {2000, 3, 0}};

	(void)state;
	lay_halves();
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		subject.variance_most = CASES[i].variance_most;
		take(0);
		assert_int_equal(reading->common.level, CASES[i].level);
		assert_int_equal(reading->anon_kib, LARGE * PAGE_KIB);
		assert_int_equal(reading->exclusive_kib, LARGE / 2 * PAGE_KIB);
		assert_int_equal(reading->common_kib, LARGE / 2 * PAGE_KIB);
		assert_true(reading->finds_anon);
		assert_int_equal(reading->common.count, LARGE / 2 >> CASES[i].level);
		if (CASES[i].variance > 0)
			assert_int_equal((int64_t)reading->variance, (int64_t)CASES[i].variance);
	}
	/* Two refinements at most: three levels finer would be needed. */
	subject.variance_most = 0;
	take(0);
	assert_int_equal(reading->common.level, 3);
}

/* One read for 256 pages where samples are close together, and one for each cluster of 8 where they are not. */
static void test_entries_are_read_in_few_calls(void **state)
{
	static const struct {
		int pages;
		int reads;
	} CASES[] = {{8, 1}, {256, 1}, {257, 2}, {512, 2}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		lay_area(CASES[i].pages, "rw-p", "");
		lay_entries(CASES[i].pages, PRESENT, CASES[i].pages, 0);
		subject.anon_pages = CASES[i].pages;
		reader.entries_read = 0;
		take(0);
		assert_int_equal(reader.entries_read, CASES[i].reads);
		assert_int_equal(reading->common.count, CASES[i].pages);
	}
	lay_halves();
	reader.entries_read = 0;
	take(0);
	assert_true(reader.entries_read >= LARGE >> 5 && reader.entries_read <= LARGE >> 4);
}

/* A library has many areas of a few pages: each cluster in them stands for eight. */
static void test_small_areas_count_as_large_ones(void **state)
{
	enum { AREAS = 600, PAGES = 3, APART = 5 };
	static uint64_t entries[FIRST_PAGE + AREAS * APART];
	static char text[AREAS * 80];
	size_t length = 0;

	(void)state;
	for (int i = 0; i < AREAS; i++) {
		int first = FIRST_PAGE + i * APART;

		length += (size_t)snprintf(text + length, sizeof text - length,
					   "%x000-%x000 r--p %x000 08:01 7 /lib\n", first, first + PAGES,
					   i * APART);
		for (int j = 0; j < PAGES; j++)
			entries[first + j] = PRESENT | OF_FILE;
	}
	put_text("proc/100/maps", text);
	put_file("proc/100/pagemap", entries, sizeof entries);
	subject.with_files = true;
	subject.shared_pages = AREAS * PAGES;
	take(0);
	assert_int_equal(reading->files.level, 4);
	/* 1,800 pages, of which 112 are sampled, with an error of a tenth. */
	assert_true(reading->files_scale > 0.75 && reading->files_scale < 1.33);
}

static void test_a_sample_of_files_is_scaled_to_the_resident_ones(void **state)
{
	static const struct {
		int pages, own, resident;
		int64_t kib;
		double scale;
	} CASES[] = {
		{16, 16, 64, 64 * PAGE_KIB, 4}, /* a quarter was found */
		{15, 15, 64, 15 * PAGE_KIB, 1}, /* hardly any was */
		{32, 8, 16, 4 * PAGE_KIB, 0.5},
		{0, 0, 0, 0, 1},
	};

	(void)state;
	lay_area(64, "r--p", "/data");
	subject.with_files = true;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		static uint64_t entries[FIRST_PAGE + 64];

		for (int j = 0; j < 64; j++)
			entries[FIRST_PAGE + j] = j < CASES[i].own     ? PRESENT | OF_FILE | EXCLUSIVE
						  : j < CASES[i].pages ? PRESENT | OF_FILE
								       : 0;
		put_file("proc/100/pagemap", entries, sizeof entries);
		subject.shared_pages = CASES[i].resident;
		take(0);
		assert_int_equal(reading->file_kib, CASES[i].kib);
		assert_true(reading->files_scale == CASES[i].scale);
		assert_int_equal(reading->private_kib, CASES[i].kib);
		assert_int_equal(reading->files.count, CASES[i].pages - CASES[i].own);
		assert_int_equal(reading->files.level, 0);
	}
	/* In a job of one process all pages count in any case, so that fewer are looked at. */
	lay_area(193, "r--p", "/data");
	for (int alone = 0; alone < 2; alone++) {
		subject.is_alone = alone;
		take(0);
		assert_int_equal(reading->files.level, alone);
	}
	lay_area(192, "r--p", "/data");
	take(0);
	assert_int_equal(reading->files.level, 0);
}

#define SEGMENT "4000000-4008000 rw-s 00000000 00:01 5 /SYSV00000000 (deleted)\n"

/* The resident set counts shared memory as well: of files alone the status tells. */
static void test_files_beside_shared_memory(void **state)
{
	(void)state;
	put_text("proc/100/maps", SEGMENT "4008000-4018000 r--p 00000000 08:01 7 /data\n");
	lay_entries(24, PRESENT, 8, PRESENT | OF_FILE | EXCLUSIVE);
	subject.with_files = true;
	subject.shared_pages = 24;
	put_text("proc/100/status", "Name: x\nRssFile: 32 kB\n");
	take(0);
	assert_int_equal(reading->file_kib, 32);
	put_text("proc/100/status", "Name: x\n");
	take(0);
	assert_int_equal(reading->file_kib, 16 * PAGE_KIB);
	assert_true(reading->files_scale == 1);
	assert_int_equal(reading->objects.count, 1);
	assert_int_equal(reading->objects.at[0].space, 1);
	assert_int_equal(reading->objects.at[0].page, 5);
	/* No kernel told the size of the segment, so its pages in the page table do. */
	assert_int_equal(objects.objects[0].seen.count, 8);
}

static void test_swapped_memory_of_a_sampled_process(void **state)
{
	static const struct {
		bool in_use;
		const char *status;
		int kib;
	} CASES[] = {{true, "VmSwap: 12 kB\n", 12}, {false, "VmSwap: 12 kB\n", 0}, {true, "Name: x\n", 0}};

	(void)state;
	lay_area(8, "rw-p", "");
	lay_entries(8, PRESENT, 8, 0);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		reader.swap_in_use = CASES[i].in_use;
		put_text("proc/100/status", CASES[i].status);
		take(0);
		assert_int_equal(reading->swap_kib, CASES[i].kib);
	}
}

static void take_rollup(const char *text)
{
	subject.with_rollup = true;
	put_text("proc/100/smaps_rollup", text);
	take(0);
}

/* Each field that a kernel lacks, and each that is 0, which is known. */
static void test_a_rollup_without_some_fields(void **state)
{
	(void)state;
	subject.anon_pages = 40;
	take_rollup("Rss: 400 kB\nPss: 300 kB\nPrivate_Dirty: 150 kB\n");
	assert_int_equal(reading->anon_kib, 160);
	assert_int_equal(reading->exclusive_kib, 150);
	assert_int_equal(reading->common_kib, 10);
	assert_int_equal(reading->common_share_kib, 0);
	assert_int_equal(reading->private_kib, 150);
	assert_int_equal(reading->file_kib, 150);
	assert_int_equal(reading->swap_kib, 0);
	/* A share is at most the memory that is shared. */
	take_rollup("Rss: 400 kB\nPss: 100 kB\nPrivate_Dirty: 150 kB\nSwap: 9 kB\n");
	assert_int_equal(reading->exclusive_kib, 100);
	assert_int_equal(reading->file_kib, 0);
	assert_int_equal(reading->swap_kib, 9);
	take_rollup("Rss: 400 kB\nPss: 300 kB\nPss_Anon: 0 kB\nPss_File: 0 kB\nPrivate_Clean: 3 "
		    "kB\nAnonymous: 0 kB\nSwap: 9 kB\n"
		    "SwapPss: 0 kB\n");
	assert_int_equal(reading->anon_kib, 0);
	assert_int_equal(reading->exclusive_kib, 0);
	assert_int_equal(reading->common_share_kib, 0);
	assert_int_equal(reading->private_kib, 3);
	assert_int_equal(reading->file_kib, 0);
	assert_int_equal(reading->swap_kib, 0);
	take_rollup("Rss: 400 kB\nPss: 300 kB\nPss_Anon: 120 kB\nPrivate_Dirty: 150 kB\nAnonymous: 100 kB\n");
	assert_int_equal(reading->exclusive_kib, 100);
	assert_int_equal(reading->file_kib, 180);
	take_rollup("Rss: 400 kB\nPss: 0 kB\nPss_Anon: 0 kB\nAnonymous: 80 kB\n");
	assert_int_equal(reading->exclusive_kib, 0);
	assert_int_equal(reading->common_kib, 80);
}

/* The areas are read only for shared memory and huge pages, and for a process that had shared memory at its last reading. */
static void test_when_a_rollup_needs_the_areas(void **state)
{
	(void)state;
	put_text("proc/100/maps", SEGMENT);
	lay_entries(8, PRESENT, 8, 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPss_Shmem: 0 kB\n");
	assert_int_equal(reading->objects.count, 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPss_Shmem: 1 kB\n");
	assert_int_equal(reading->objects.count, 1);
	assert_int_equal(objects.objects[0].seen.count, 8);
	assert_false(reading->has_copies);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPss_Shmem: 0 kB\n");
	assert_int_equal(reading->objects.count, 1);
	/* The rollup is right without them. */
	assert_int_equal(remove("proc/100/maps"), 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPss_Shmem: 1 kB\n");
	assert_int_equal(reading->objects.count, 0);
	put_text("proc/100/maps", "4000000-4008000 rw-p 00000000 00:01 5 /SYSV00000000 (deleted)\n");
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPss_Shmem: 1 kB\n");
	assert_true(reading->has_copies);
}

static void test_huge_pages_of_a_rollup(void **state)
{
	(void)state;
	put_text("proc/100/maps", "4000000-4008000 rw-p 00000000 00:01 5 /anon_hugepage (deleted)\n");
	lay_entries(8, PRESENT, 4, 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPrivate_Hugetlb: 0 kB\nShared_Hugetlb: 0 kB\n");
	assert_int_equal(reading->huge_private_kib, 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nPrivate_Hugetlb: 16 kB\n");
	assert_int_equal(reading->huge_private_kib, 4 * PAGE_KIB);
	assert_int_equal(reading->objects.count, 0);
	take_rollup("Rss: 32 kB\nPss: 32 kB\nShared_Hugetlb: 1 kB\n");
	assert_int_equal(reading->huge_private_kib, 4 * PAGE_KIB);
	/* A shared one is an object, and another name that begins as this one is none. */
	put_text("proc/100/maps", "4000000-4008000 rw-s 00000000 00:01 5 /anon_hugepage (deleted)\n");
	take_rollup("Rss: 32 kB\nPss: 32 kB\nShared_Hugetlb: 1 kB\n");
	assert_int_equal(reading->huge_private_kib, 0);
	assert_int_equal(reading->objects.count, 1);
	put_text("proc/100/maps", "4000000-4008000 rw-p 00000000 00:01 5 /anon_hugepage\n");
	take_rollup("Rss: 32 kB\nPss: 32 kB\nShared_Hugetlb: 1 kB\n");
	assert_int_equal(reading->huge_private_kib, 4 * PAGE_KIB);
}

/* The reading is by rollup, and shows nothing of memory that others have written. */
static void test_mappings_without_a_page_in_the_page_table_are_found(void **state)
{
	(void)state;
	put_text("proc/100/maps", SEGMENT);
	take_rollup("Rss: 32 kB\nPss: 32 kB\n");
	memory_reading_find_objects(&reader, PID, reading);
	assert_int_equal(reading->objects.count, 1);
	assert_int_equal(objects.objects[0].seen.count, 0); /* without a page map */
	lay_entries(8, PRESENT, 3, 0);
	memory_reading_find_objects(&reader, PID, reading);
	assert_int_equal(reading->objects.count, 1);
	assert_int_equal(objects.objects[0].seen.count, 3);
	/* Once the kernel tells the size, the pages say nothing more. */
	objects.objects[0].kib = 12;
	lay_entries(8, PRESENT, 8, 0);
	memory_reading_find_objects(&reader, PID, reading);
	assert_int_equal(objects.objects[0].seen.count, 3);
}

/* Only a sampled reading after one that has found the memory is put off. */
static void test_when_a_reading_is_put_off(void **state)
{
	(void)state;
	lay_area(64, "rw-p", "");
	lay_entries(64, PRESENT, 64, 0);
	subject.anon_pages = 64;
	take(0);
	reading->finds_anon = false;
	subject.may_be_kept = true;
	lay_entries(64, PRESENT, 8, 0);
	take(0);
	reading->finds_anon = true;
	reading->has_anon = false;
	take(0);
	reading->finds_anon = true;
	reading->kind = READING_ROLLUP;
	take(0);
	reading->finds_anon = true;
	subject.with_anon = false;
	take(0);
	subject.with_anon = true;
	reading->finds_anon = reading->has_anon = true;
	take(-EAGAIN);
	subject.with_rollup = true;
	take_rollup("Rss: 32 kB\nPss: 32 kB\n");
	assert_int_equal(reading->kind, READING_ROLLUP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Which pages of a range are sampled at a level. */
static size_t sampled_between(unsigned level, uint64_t first, uint64_t last)
{
	size_t count = 0;

	for (uint64_t page = first; page < last; page++)
		count += page_is_sampled(level, page);
	return count;
}

/* A page of a file is known by its place in the file, wherever a process maps it. */
static void test_pages_of_files_have_their_place_in_the_file(void **state)
{
	(void)state;
	put_text("proc/100/maps", "4000000-4040000 r--p 00025000 08:01 77 /data\n");
	lay_entries(64, PRESENT | OF_FILE, 64, 0);
	subject.with_files = true;
	subject.shared_pages = 64;
	take(0);
	assert_int_equal(reading->files.level, 0);
	assert_int_equal(reading->files.count, 64);
	for (size_t i = 0; i < 64; i++) {
		assert_int_equal(reading->files.at[i].page, 0x25 + i);
		assert_true(reading->files.at[i].space == (77 ^ (uint64_t)makedev(8, 1) << 32));
	}
	/* Some of many pages are sampled, perhaps the last one, too. */
	put_text("proc/100/maps", "4000000-412d000 r--p 00025000 08:01 77 /data\n");
	for (int pages = 301; pages <= 304; pages++) {
		char text[100];

		snprintf(text, sizeof text, "4000000-%x000 r--p 00025000 08:01 77 /data\n",
			 FIRST_PAGE + pages);
		put_text("proc/100/maps", text);
		lay_entries(pages, PRESENT | OF_FILE, pages, 0);
		subject.shared_pages = pages;
		take(0);
		assert_int_equal(reading->files.level, 2);
		assert_int_equal(reading->files.count, sampled_between(2, 0x25, 0x25 + (uint64_t)pages));
		for (size_t i = 0; i < reading->files.count; i++)
			assert_true(page_is_sampled(2, reading->files.at[i].page));
	}
}

/* Anonymous pages are known by their address. */
static void test_anonymous_pages_have_their_address(void **state)
{
	(void)state;
	for (int pages = 2049; pages <= 2056; pages++) {
		unsigned level = pages < 2052 ? 2 : 3; /* 512 places */

		lay_area(pages, "rw-p", "");
		lay_entries(pages, PRESENT, pages, 0);
		subject.anon_pages = pages;
		take(0);
		assert_int_equal(reading->common.level, level);
		assert_int_equal(reading->common.count,
				 sampled_between(level, FIRST_PAGE, FIRST_PAGE + (uint64_t)pages));
		assert_int_equal(reading->common_kib, pages * PAGE_KIB);
		assert_int_equal(reading->exclusive_kib, 0);
		assert_true(reading->finds_anon);
	}
	lay_area(512, "rw-p", "");
	lay_entries(512, PRESENT, 512, 0);
	subject.anon_pages = 512;
	take(0);
	assert_int_equal(reading->common.level, 0);
	for (size_t i = 0; i < 512; i++)
		assert_int_equal(reading->common.at[i].page, FIRST_PAGE + i);
	/* Without any page of its own nothing is found, nor anything common. */
	lay_entries(512, 0, 512, 0);
	take(0);
	assert_false(reading->finds_anon);
	assert_int_equal(reading->common_kib, 0);
	assert_int_equal(reading->exclusive_kib, 512 * PAGE_KIB);
}

/* Shared memory that the table of objects has no place for is counted by its pages. */
static void test_mappings_that_the_table_leaves_out_are_added_up(void **state)
{
	static const char NAME[] = "/memfd:x";

	(void)state;
	for (uint64_t inode = 1; inode <= 8192; inode++)
		assert_non_null(
			memory_objects_meet(&objects, &root, PID,
					    &(struct memory_area){.end = 4096,
								  .device = 99,
								  .inode = inode,
								  .name = scan_bytes(NAME, strlen(NAME))}));
	put_text("proc/100/maps", "4000000-4008000 rw-s 00000000 00:01 5 /memfd:a\n4010000-4013000 rw-s "
				  "00000000 00:01 6 /memfd:b\n");
	lay_entries(8, PRESENT, 8, 0);
	take(0);
	assert_int_equal(reading->cut_pages, 11);
	assert_int_equal(reading->objects.count, 0);
	assert_int_equal(objects.count, 8192);
}

/* Pages that were seen keep their place. The round in which each was seen last is noted. */
static void test_seen_pages_of_an_object_are_noted_once(void **state)
{
	struct memory_object *object;

	(void)state;
	put_text("proc/100/maps", SEGMENT);
	lay_entries(8, PRESENT, 4, 0);
	take(0);
	object = &objects.objects[0];
	assert_int_equal(object->seen.count, 4);
	object->round = 3;
	lay_entries(8, PRESENT, 8, 0);
	take(0);
	assert_int_equal(object->seen.count, 8);
	object->round = 5;
	lay_entries(8, 0, 6, PRESENT);
	take(0);
	assert_int_equal(object->seen.count, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(object->seen.at[i].page, i);
		assert_int_equal(object->seen.at[i].space, i < 6 ? 3 : 5);
	}
	/* Its size is known. */
	object->kib = 0;
	object->round = 7;
	lay_entries(8, PRESENT, 8, 0);
	take(0);
	assert_int_equal(object->seen.at[0].space, 3);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages_of_a_file_are_not_anonymous),
		TEST(test_the_page_of_zeros_is_not_resident),
		TEST(test_memory_that_is_being_unmapped_keeps_its_reading),
		TEST(test_a_rollup_divides_anonymous_memory),
		TEST(test_a_rollup_before_linux_5_3),
		TEST(test_pages_of_files_that_it_has_alone),
		TEST(test_which_areas_have_anonymous_pages),
		TEST(test_which_constants_are_relocated),
		TEST(test_a_good_part_of_the_memory_is_found_from_a_quarter_on),
		TEST(test_more_pages_are_sampled_until_the_error_is_tolerable),
		TEST(test_entries_are_read_in_few_calls),
		TEST(test_small_areas_count_as_large_ones),
		TEST(test_a_sample_of_files_is_scaled_to_the_resident_ones),
		TEST(test_files_beside_shared_memory),
		TEST(test_swapped_memory_of_a_sampled_process),
		TEST(test_a_rollup_without_some_fields),
		TEST(test_when_a_rollup_needs_the_areas),
		TEST(test_huge_pages_of_a_rollup),
		TEST(test_mappings_without_a_page_in_the_page_table_are_found),
		TEST(test_when_a_reading_is_put_off),
		TEST(test_pages_of_files_have_their_place_in_the_file),
		TEST(test_anonymous_pages_have_their_address),
		TEST(test_mappings_that_the_table_leaves_out_are_added_up),
		TEST(test_seen_pages_of_an_object_are_noted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
