/* Tests of src/kernel/cgroup_v1.c. */
#include "kernel.h"

#include <fcntl.h>

#include "base/cleanup.h"
#include "kernel/cgroup_v1.h"

static int64_t limit_of(const char *text)
{
	int64_t limit = -7;
	int error = parse_cgroup_v1_limit(text, strlen(text), &limit);

	return error < 0 ? error : limit;
}

/* The values by which kernels since 3.10 say "no limit", with pages of 4 and of 64 KiB. */
static void every_way_to_say_no_limit_is_known(void **state)
{
	(void)state;
	assert_true(limit_of("9223372036854771712\n") == CGROUP_NO_LIMIT);
	assert_true(limit_of("9223372036854710272\n") == CGROUP_NO_LIMIT);
	assert_true(limit_of("9223372036854775807\n") == CGROUP_NO_LIMIT);
	assert_true(limit_of("18446744073709551615\n") == CGROUP_NO_LIMIT);
	assert_true(limit_of("-1\n") == CGROUP_NO_LIMIT);
	assert_int_equal(limit_of("268435456\n"), 268435456);
	assert_int_equal(limit_of("0\n"), 0);
	assert_int_equal(limit_of("\n"), -EBADMSG);
	assert_int_equal(limit_of("max"), -EBADMSG);
}

static void totals_count_not_the_own_lines(void **state)
{
	static const char TEXT[] =
		"cache 1\nrss 2\nshmem 3\nhierarchical_memory_limit 536870912\n"
		"hierarchical_memsw_limit 9223372036854771712\ntotal_cache 10\ntotal_rss 20\n"
		"total_rss_huge 21\ntotal_shmem 30\ntotal_mapped_file 40\ntotal_swap 50\n"
		"total_pgfault 60\ntotal_pgmajfault 70\ntotal_workingset_refault_file "
		"75\ntotal_inactive_file 80\ntotal_active_file 90\n";
	struct cgroup_v1_memory_stat stat;

	(void)state;
	assert_int_equal(parse_cgroup_v1_memory_stat(TEXT, strlen(TEXT), &stat), 0);
	assert_int_equal(stat.cache_bytes, 10);
	assert_int_equal(stat.rss_bytes, 20);
	assert_int_equal(stat.shmem_bytes, 30);
	assert_int_equal(stat.file_refaults, 75);
	assert_int_equal(stat.limit_bytes, 536870912);
	assert_int_equal(parse_cgroup_v1_memory_stat("cache 1\n", 8, &stat), -EBADMSG);
}

static void oom_kills_are_not_counted_before_4_13(void **state)
{
	struct cgroup_v1_oom_control control;

	(void)state;
	assert_int_equal(
		parse_cgroup_v1_oom_control("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 42, &control),
		0);
	assert_int_equal(control.oom_kills, 3);
	assert_int_equal(control.kill_disabled, 0);
	assert_int_equal(parse_cgroup_v1_oom_control("oom_kill_disable 1\nunder_oom 1\n", 31, &control), 0);
	assert_int_equal(control.oom_kills, -1);
	assert_int_equal(control.under_oom, 1);
	assert_int_equal(parse_cgroup_v1_oom_control("", 0, &control), -EBADMSG);
}

static void bytes_by_device_are_read_from_blkio(void **state)
{
	static const char TEXT[] =
		"254:0 Read 1459200\n254:0 Write 314773504\n254:0 Sync 5\n254:0 Total 316232704\n"
		"8:16 Read x\n8:16 Write 7\nTotal 316232711\n";
	struct scan lines = scan_bytes(TEXT, strlen(TEXT));
	struct cgroup_v1_blkio one;

	(void)state;
	assert_true(cgroup_v1_blkio_next(&lines, &one));
	assert_true(one.major == 254 && one.minor == 0 && !one.is_write && one.value == 1459200);
	assert_true(cgroup_v1_blkio_next(&lines, &one));
	assert_true(one.is_write && one.value == 314773504);
	assert_true(cgroup_v1_blkio_next(&lines, &one));
	assert_true(one.major == 8 && one.minor == 16 && one.is_write && one.value == 7);
	assert_false(cgroup_v1_blkio_next(&lines, &one));
}

static void parse_any(const char *bytes, size_t length)
{
	struct cgroup_v1_oom_control control;
	struct cgroup_v1_memory_stat memory;
	struct cgroup_v1_cpu_stat cpu;
	int64_t limit;

	(void)parse_cgroup_v1_oom_control(bytes, length, &control);
	(void)parse_cgroup_v1_memory_stat(bytes, length, &memory);
	(void)parse_cgroup_v1_cpu_stat(bytes, length, &cpu);
	(void)parse_cgroup_v1_limit(bytes, length, &limit);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("-1\nuser 5\nnr_periods 7\nhierarchical_memory_limit 5\ntotal_rss 7\noom_kill 1\n",
		    parse_any);
}

static void a_nested_group_is_read(void **state)
{
	struct root root = test_root("hand-made-cgroup1-4.18/t1");
	CLEANUP_CLOSE int cpu_fd = root_open_file(&root, "sys/fs/cgroup/cpu,cpuacct/batch/job7", O_DIRECTORY);
	CLEANUP_CLOSE int memory_fd = root_open_file(&root, "sys/fs/cgroup/memory/batch/job7", O_DIRECTORY);
	struct cgroup_v1_oom_control control;
	struct cgroup_v1_memory_stat memory;
	struct cgroup_v1_cpu_stat cpu;
	int64_t value;

	(void)state;
	assert_int_equal(read_cgroup_v1_cpuacct_usage(&root, cpu_fd, &value), 0);
	assert_int_equal(value, 12345678901 + 900000000);
	assert_int_equal(read_cgroup_v1_cpu_stat(&root, cpu_fd, &cpu), 0);
	assert_int_equal(cpu.period_count, 522);
	assert_int_equal(cpu.throttled_count, 42);
	assert_int_equal(cpu.throttled_ns, 8123456789 + 30000000);
	assert_int_equal(read_cgroup_v1_limit(&root, cpu_fd, "cpu.cfs_quota_us", &value), 0);
	assert_int_equal(value, 250000);
	assert_int_equal(read_cgroup_v1_memory_stat(&root, memory_fd, &memory), 0);
	assert_int_equal(memory.limit_bytes, 3LL << 30);
	assert_int_equal(read_cgroup_v1_limit(&root, memory_fd, "memory.limit_in_bytes", &value), 0);
	assert_int_equal(value, 4LL << 30);
	assert_int_equal(read_cgroup_v1_oom_control(&root, memory_fd, &control), 0);
	assert_int_equal(control.oom_kills, 1);
	root_close(&root);
}

static void limits_that_memory_stat_lacks_are_absent(void **state)
{
	struct cgroup_v1_memory_stat stat;

	(void)state;
	assert_int_equal(parse_cgroup_v1_memory_stat("total_rss 5\n", 12, &stat), 0);
	assert_int_equal(stat.limit_bytes, -1);
	assert_int_equal(stat.cache_bytes, -1);
	assert_int_equal(parse_cgroup_v1_memory_stat("hierarchical_memory_limit 6\n", 28, &stat), 0);
	assert_int_equal(stat.limit_bytes, 6);
	assert_int_equal(
		parse_cgroup_v1_memory_stat("hierarchical_memory_limit 9223372036854710271\n", 46, &stat), 0);
	assert_true(stat.limit_bytes == INT64_MAX - 65536);
	assert_int_equal(
		parse_cgroup_v1_memory_stat("hierarchical_memory_limit 9223372036854710272\n", 46, &stat), 0);
	assert_true(stat.limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(stat.rss_bytes, -1);
	assert_int_equal(parse_cgroup_v1_memory_stat("hierarchical_memory_limit x\n", 28, &stat), -EBADMSG);
}

/* The largest page is of 64 KiB: the kernel's "no limit" is the largest number of whole pages. */
static void the_first_number_that_means_no_limit(void **state)
{
	(void)state;
	assert_int_equal(limit_of("9223372036854710271\n"), INT64_MAX - 65536);
	assert_true(limit_of("9223372036854710272\n") == CGROUP_NO_LIMIT);
}

static void numbers_of_blkio_have_their_most(void **state)
{
	static const char TEXT[] = "4294967296:0 Read 1\n0:4294967296 Read 2\n1:1 Read 9223372036854775808\n"
				   "1:1 Discard 3\n1 Read 4\n1:x Read 5\n"
				   "4294967295:4294967295 Read 9223372036854775807\n";
	struct scan lines = scan_bytes(TEXT, strlen(TEXT));
	struct cgroup_v1_blkio one;

	(void)state;
	assert_true(cgroup_v1_blkio_next(&lines, &one));
	assert_true(one.major == UINT32_MAX && one.minor == UINT32_MAX && one.value == INT64_MAX &&
		    !one.is_write);
	assert_false(cgroup_v1_blkio_next(&lines, &one));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_say_no_limit_is_known),
		cmocka_unit_test(totals_count_not_the_own_lines),
		cmocka_unit_test(oom_kills_are_not_counted_before_4_13),
		cmocka_unit_test(bytes_by_device_are_read_from_blkio),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(a_nested_group_is_read),
		cmocka_unit_test(limits_that_memory_stat_lacks_are_absent),
		cmocka_unit_test(the_first_number_that_means_no_limit),
		cmocka_unit_test(numbers_of_blkio_have_their_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
