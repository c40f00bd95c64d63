/* Tests of src/collect/host_memory.c: memory of the machine, from files that this test writes. */
#include "lone_collector.h"

#include <errno.h>

#include "kernel/proc_meminfo.h"

extern const struct collector HOST_MEMORY_COLLECTOR;

/* 8 GiB, half of them available, and 2 GiB of swap space, a quarter of them free. */
#define WHOLE "MemTotal: 8388608 kB\n"
#define FREE "MemFree: 1048576 kB\n"
#define AVAILABLE "MemAvailable: 4194304 kB\n"
#define CACHES "Buffers: 102400 kB\nCached: 2048000 kB\n"
#define SLAB "SReclaimable: 49152 kB\n"
#define SWAP "SwapTotal: 2097152 kB\nSwapFree: 524288 kB\n"
#define ARCSTATS "proc/spl/kstat/zfs/arcstats"

static const struct memory_row *memory_of(const char *meminfo)
{
	put_text("proc/meminfo", meminfo);
	return FIRST(lone_sample(1), memory);
}

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone_open(&HOST_MEMORY_COLLECTOR);
	return 0;
}

static void each_figure_is_that_of_the_kernel(void **state)
{
	const struct memory_row *row = memory_of(WHOLE FREE AVAILABLE CACHES SLAB SWAP
						 "Active: 3072000 kB\nInactive: 1536000 kB\n"
						 "Active(anon): 2560000 kB\nInactive(anon): 10240 kB\n");

	(void)state;
	assert_real(row->total_mib, 8192);
	assert_real(row->free_mib, 1024);
	assert_real(row->available_mib, 4096);
	assert_real(row->used_mib, 4096);
	assert_real(row->used_pct, 50);
	assert_real(row->buffers_mib, 100);
	assert_real(row->cached_mib, 2048);
	assert_real(row->active_mib, 3000);
	assert_real(row->inactive_mib, 1500);
	assert_real(row->active_anon_mib, 2500);
	assert_real(row->inactive_anon_mib, 10);
	assert_real(row->used_less_cache_mib, 8192 - 1024 - 100 - 2048);
	assert_real(row->swap_total_mib, 2048);
	assert_real(row->swap_used_mib, 1536);
	assert_real(row->swap_used_pct, 75);
	assert_absent_real(row->hugetlb_total_mib, ABSENT_NO_SUCH_COUNTER);
	assert_real(lone.frame.memory_mib, 8192 + 2048);
}

static void missing_lines_are_absent(void **state)
{
	const struct memory_row *row = memory_of(WHOLE FREE AVAILABLE "Cached: 2048000 kB\n");

	(void)state;
	assert_real(row->cached_mib, 2000);
	assert_absent_real(row->buffers_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->used_less_cache_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->swap_total_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->swap_used_mib, ABSENT_NOT_A_VALUE);
	assert_real(lone.frame.memory_mib, 8192);
	row = memory_of(WHOLE FREE AVAILABLE CACHES "SwapTotal: 0 kB\nSwapFree: 0 kB\n");
	assert_real(row->swap_total_mib, 0);
	assert_real(row->swap_used_mib, 0);
	assert_real(row->swap_used_pct, 0);
	row = memory_of("MemTotal: 0 kB\n" FREE AVAILABLE SWAP);
	assert_absent_real(row->total_mib, ABSENT_NOT_A_VALUE);
	assert_absent_real(row->used_mib, ABSENT_NOT_A_VALUE);
	assert_absent_real(row->used_pct, ABSENT_NOT_A_VALUE);
	assert_real(lone.frame.memory_mib, 2048);
	remove("proc/meminfo");
	lone.collector->close(lone.state);
	lone_open(&HOST_MEMORY_COLLECTOR);
	row = FIRST(lone_sample(2), memory);
	assert_absent_real(row->total_mib, ENOENT);
	assert_absent_real(row->swap_used_pct, ENOENT);
}

static void an_old_kernel_has_free_memory_and_caches(void **state)
{
	(void)state;
	assert_real(memory_of(WHOLE FREE CACHES SLAB)->available_mib, 1024 + 100 + 2000 + 48);
	assert_real(memory_of(WHOLE FREE CACHES)->available_mib, 1024 + 100 + 2000);
	assert_real(memory_of(WHOLE FREE CACHES "SReclaimable: 0 kB\n")->available_mib, 1024 + 100 + 2000);
	assert_real(memory_of(WHOLE "MemFree: 0 kB\nBuffers: 0 kB\nCached: 0 kB\n")->available_mib, 0);
	assert_absent_real(memory_of(WHOLE CACHES)->available_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(memory_of(WHOLE FREE "Cached: 1 kB\n")->available_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(memory_of(WHOLE FREE "Buffers: 1 kB\n")->used_mib, ABSENT_NOT_A_VALUE);
	/* A line that an emulated kernel does not fill; with a quarter free it may be true. */
	assert_real(memory_of(WHOLE "MemFree: 2097152 kB\nMemAvailable: 0 kB\n" CACHES)->available_mib, 0);
	assert_real(memory_of(WHOLE "MemFree: 2097153 kB\nMemAvailable: 0 kB\n" CACHES)->available_mib,
		    2097153 / 1024.0 + 2100);
}

static void no_part_is_larger_than_the_whole(void **state)
{
	const struct memory_row *row =
		memory_of(WHOLE "MemFree: 8388608 kB\nMemAvailable: 8388608 kB\n"
				"Buffers: 8388609 kB\nCached: 8388609 kB\n" SLAB "Active: 8388609 kB\n");

	(void)state;
	assert_real(row->free_mib, 8192);
	assert_real(row->available_mib, 8192);
	assert_real(row->used_mib, 0);
	assert_absent_real(row->buffers_mib, ABSENT_IMPOSSIBLE);
	assert_absent_real(row->cached_mib, ABSENT_IMPOSSIBLE);
	assert_absent_real(row->active_mib, ABSENT_IMPOSSIBLE);
	row = memory_of(WHOLE FREE "MemAvailable: 8388609 kB\nBuffers: 0 kB\nCached: 7340032 kB\n");
	assert_absent_real(row->available_mib, ABSENT_IMPOSSIBLE);
	assert_absent_real(row->used_mib, ABSENT_NOT_A_VALUE);
	assert_real(row->used_less_cache_mib, 0);
	row = memory_of(WHOLE FREE AVAILABLE "Buffers: 1 kB\nCached: 7340032 kB\n");
	assert_absent_real(row->used_less_cache_mib, ABSENT_NOT_A_VALUE);
	/* Without a whole, nothing is known of its parts. */
	row = memory_of(FREE AVAILABLE CACHES);
	assert_real(row->free_mib, 1024);
	assert_absent_real(row->used_mib, ABSENT_NOT_A_VALUE);
	row = memory_of(WHOLE FREE AVAILABLE CACHES "SwapTotal: 1 kB\nSwapFree: 2 kB\n");
	assert_absent_real(row->swap_used_mib, ABSENT_NOT_A_VALUE);
}

static void a_second_size_of_huge_pages_hides_the_use(void **state)
{
	const struct memory_row *row = memory_of(
		WHOLE "HugePages_Total: 10\nHugePages_Free: 4\nHugepagesize: 2048 kB\nHugetlb: 20480 kB\n");

	(void)state;
	assert_real(row->hugetlb_total_mib, 20);
	assert_real(row->hugetlb_used_mib, 12);
	row = memory_of(WHOLE
			"HugePages_Total: 10\nHugePages_Free: 4\nHugepagesize: 2048 kB\nHugetlb: 20481 kB\n");
	assert_real(row->hugetlb_total_mib, 20481 / 1024.0);
	assert_absent_real(row->hugetlb_used_mib, ABSENT_NO_SUCH_COUNTER);
	row = memory_of(WHOLE "HugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB\n");
	assert_real(row->hugetlb_total_mib, 0);
	assert_real(row->hugetlb_used_mib, 0);
	row = memory_of(WHOLE "HugePages_Total: 10\nHugePages_Free: 4\n");
	assert_absent_real(row->hugetlb_total_mib, ABSENT_NO_SUCH_COUNTER);
	row = memory_of(WHOLE "HugePages_Total: 10\nHugepagesize: 2048 kB\n");
	assert_absent_real(row->hugetlb_used_mib, ABSENT_NO_SUCH_COUNTER);
	row = memory_of(WHOLE "HugePages_Free: 4\nHugepagesize: 2048 kB\n");
	assert_absent_real(row->hugetlb_used_mib, ABSENT_NO_SUCH_COUNTER);
	row = memory_of(WHOLE "HugePages_Total: 10\nHugePages_Free: 4\nHugepagesize: 9000000000000000 kB\n");
	assert_absent_real(row->hugetlb_total_mib, ABSENT_NO_SUCH_COUNTER);
}

/* The cache of ZFS has 2 GiB more than its minimum. */
static void the_cache_of_zfs_is_available_but_for_its_minimum(void **state)
{
	(void)state;
	put_below(ARCSTATS, "13 1 0x01\nname type data\nc_min 4 1073741824\nsize 4 3221225472\n");
	lone.context.progress.baseline = true;
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096);
	lone.context.progress.baseline = false;
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096 + 2048);
	assert_real(memory_of(WHOLE FREE "MemAvailable: 6291456 kB\n")->available_mib, 8192);
	assert_real(memory_of(WHOLE FREE "MemAvailable: 6291457 kB\n")->available_mib, 6291457 / 1024.0);
	assert_absent_real(memory_of(WHOLE)->available_mib, ABSENT_NO_SUCH_COUNTER);
	put_text(ARCSTATS, "c_min 4 3221225473\nsize 4 3221225472\n");
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096);
	put_text(ARCSTATS, "size 4 3221225472\n");
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096);
	put_text(ARCSTATS, "c_min 4 0\nsize 4 1048576\n");
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4097);
	put_text(ARCSTATS, "none\n");
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096);
}

static void a_container_sees_the_cache_of_its_host(void **state)
{
	(void)state;
	put_text(".dockerenv", "");
	put_below(ARCSTATS, "c_min 4 1073741824\nsize 4 3221225472\n");
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 4096);
}

static void the_reading_of_another_collector_is_used(void **state)
{
	struct proc_meminfo meminfo;
	const char text[] = WHOLE FREE "MemAvailable: 1024 kB\n";

	(void)state;
	assert_int_equal(parse_proc_meminfo(text, sizeof text - 1, &meminfo), 0);
	lone.context.meminfo = &meminfo;
	assert_real(memory_of(WHOLE FREE AVAILABLE)->available_mib, 1);
}

#define memory_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		memory_test(each_figure_is_that_of_the_kernel),
		memory_test(missing_lines_are_absent),
		memory_test(an_old_kernel_has_free_memory_and_caches),
		memory_test(no_part_is_larger_than_the_whole),
		memory_test(a_second_size_of_huge_pages_hides_the_use),
		memory_test(the_cache_of_zfs_is_available_but_for_its_minimum),
		memory_test(a_container_sees_the_cache_of_its_host),
		memory_test(the_reading_of_another_collector_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
