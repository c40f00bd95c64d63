/* Tests of src/kernel/cgroup_v2.c. */
#include "scratch.h"
#include "kernel.h"

#include <fcntl.h>

#include "base/cleanup.h"
#include "kernel/cgroup_v2.h"
#include "kernel/cpu_list.h"
#include "kernel/pid_list.h"

#define SCOPE "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope"

static int64_t limit_of(const char *text)
{
	int64_t limit = -7;
	int error = parse_cgroup_v2_limit(text, strlen(text), &limit);

	return error < 0 ? error : limit;
}

static void max_means_unlimited(void **state)
{
	(void)state;
	assert_true(limit_of("max\n") == CGROUP_NO_LIMIT);
	assert_int_equal(limit_of("536870912\n"), 536870912);
	assert_int_equal(limit_of("0"), 0);
	assert_int_equal(limit_of(""), -EBADMSG);
	assert_int_equal(limit_of("maximum"), -EBADMSG);
	assert_int_equal(limit_of("-1"), -EBADMSG);
	assert_int_equal(limit_of("99999999999999999999"), -EBADMSG);
	assert_int_equal(limit_of("5x"), -EBADMSG);
	assert_true(limit_of("9223372036854775807") == INT64_MAX);
	assert_int_equal(limit_of("9223372036854775808"), -EBADMSG);
}

static void a_quota_needs_its_period(void **state)
{
	struct cgroup_v2_cpu_max max = {.quota_usec = 7};

	(void)state;
	assert_int_equal(parse_cgroup_v2_cpu_max("150000 100000\n", 14, &max), 0);
	assert_int_equal(max.quota_usec, 150000);
	assert_int_equal(max.period_usec, 100000);
	assert_int_equal(parse_cgroup_v2_cpu_max("max 100000\n", 11, &max), 0);
	assert_true(max.quota_usec == CGROUP_NO_LIMIT);
	assert_int_equal(parse_cgroup_v2_cpu_max("5\n", 2, &max), -EBADMSG);
	assert_int_equal(parse_cgroup_v2_cpu_max("5x 100000\n", 10, &max), -EBADMSG);
	assert_int_equal(parse_cgroup_v2_cpu_max("5 9223372036854775808\n", 22, &max), -EBADMSG);
	assert_int_equal(parse_cgroup_v2_cpu_max("5 0\n", 4, &max), -EBADMSG);
	assert_int_equal(parse_cgroup_v2_cpu_max("0 5\n", 4, &max), -EBADMSG);
	assert_int_equal(parse_cgroup_v2_cpu_max("", 0, &max), -EBADMSG);
	assert_int_equal(max.period_usec, 100000);
}

static void usage_without_throttling_is_a_stat_too(void **state)
{
	static const char TEXT[] =
		"usage_usec 9731840\nuser_usec 6121012\nsystem_usec 3610828\nnice_usec 0\n";
	struct cgroup_v2_cpu_stat stat;

	(void)state;
	assert_int_equal(parse_cgroup_v2_cpu_stat(TEXT, strlen(TEXT), &stat), 0);
	assert_int_equal(stat.usage_usec, 9731840);
	assert_int_equal(stat.user_usec, 6121012);
	assert_int_equal(stat.system_usec, 3610828);
	assert_int_equal(stat.throttled_count, -1);
	assert_int_equal(parse_cgroup_v2_cpu_stat("", 0, &stat), -EBADMSG);
}

static void a_forgotten_newline_in_io_stat_is_survived(void **state)
{
	static const char TEXT[] =
		"8:16 8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n"
		"253:1\nx\n254:0 rbytes=x wbytes=7 =9 other=1";
	struct scan devices = parse_cgroup_v2_io_stat(TEXT, strlen(TEXT));
	struct cgroup_v2_io io;

	(void)state;
	assert_true(cgroup_v2_io_stat_next(&devices, &io));
	assert_int_equal(io.major, 8);
	assert_int_equal(io.minor, 0);
	assert_int_equal(io.read_bytes, 1459200);
	assert_int_equal(io.write_bytes, 314773504);
	assert_int_equal(io.reads, 192);
	assert_int_equal(io.writes, 353);
	assert_true(cgroup_v2_io_stat_next(&devices, &io));
	assert_int_equal(io.major, 253);
	assert_int_equal(io.read_bytes, -1);
	assert_true(cgroup_v2_io_stat_next(&devices, &io));
	assert_int_equal(io.read_bytes, -1);
	assert_int_equal(io.write_bytes, 7);
	assert_false(cgroup_v2_io_stat_next(&devices, &io));
}

static void parse_any(const char *bytes, size_t length)
{
	struct cgroup_v2_memory_events events;
	struct cgroup_v2_memory_stat memory;
	struct cgroup_v2_cpu_stat cpu;
	struct cgroup_v2_cpu_max max;
	struct scan devices = parse_cgroup_v2_io_stat(bytes, length);
	struct cgroup_v2_io io;
	int64_t limit;

	(void)parse_cgroup_v2_memory_events(bytes, length, &events);
	(void)parse_cgroup_v2_memory_stat(bytes, length, &memory);
	(void)parse_cgroup_v2_cpu_stat(bytes, length, &cpu);
	(void)parse_cgroup_v2_cpu_max(bytes, length, &max);
	(void)parse_cgroup_v2_limit(bytes, length, &limit);
	while (cgroup_v2_io_stat_next(&devices, &io))
		continue;
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("8:0 rbytes=1 wbytes=2\nmax 100000\nusage_usec 1\nanon 5\noom_kill 1\n", parse_any);
}

static void a_scope_is_read(void **state)
{
	struct root root = test_root("hand-made-cgroup2-6.6/t1");
	CLEANUP_CLOSE int dir_fd = root_open_file(&root, SCOPE, O_DIRECTORY);
	struct cgroup_v2_memory_events events;
	struct cgroup_v2_memory_stat memory;
	struct cgroup_v2_cpu_stat cpu;
	struct cgroup_v2_cpu_max max;
	int64_t limit, cpus;
	struct scan pids;
	pid_t pid;

	(void)state;
	assert_true(dir_fd >= 0);
	assert_int_equal(read_cgroup_v2_cpu_stat(&root, dir_fd, &cpu), 0);
	assert_int_equal(cpu.usage_usec, 912345678 + 900000);
	assert_int_equal(cpu.user_usec + cpu.system_usec, cpu.usage_usec);
	assert_int_equal(cpu.period_count, 710);
	assert_int_equal(cpu.throttled_count, 33);
	assert_int_equal(cpu.throttled_usec, 4123456 + 30000);
	assert_int_equal(read_cgroup_v2_cpu_max(&root, dir_fd, &max), 0);
	assert_int_equal(max.quota_usec, 200000);
	assert_int_equal(read_cgroup_v2_limit(&root, dir_fd, "memory.max", &limit), 0);
	assert_int_equal(limit, 2LL << 30);
	assert_int_equal(read_cgroup_v2_limit(&root, dir_fd, "memory.high", &limit), 0);
	assert_true(limit == CGROUP_NO_LIMIT);
	assert_int_equal(read_cgroup_v2_limit(&root, dir_fd, "memory.none", &limit), -ENOENT);
	assert_int_equal(read_cgroup_v2_memory_stat(&root, dir_fd, &memory), 0);
	assert_int_equal(memory.anon_bytes, (1LL << 30) * 2 / 3 + 4096000);
	assert_int_equal(memory.kernel_bytes, 262144);
	assert_int_equal(memory.slab_bytes, 122880);
	assert_int_equal(read_cgroup_v2_memory_events(&root, dir_fd, "memory.events.local", &events), 0);
	assert_int_equal(events.oom_kill, 1);
	assert_int_equal(events.max, 112);
	assert_int_equal(read_cpu_list(&root, dir_fd, "cpuset.cpus.effective", &cpus), 0);
	assert_int_equal(cpus, 4);
	assert_int_equal(read_cgroup_procs(&root, dir_fd, &pids), 0);
	assert_true(scan_pid(&pids, &pid));
	assert_int_equal(pid, 100);
	root_close(&root);
}

static void refaults_had_one_count_before_linux_5_9(void **state)
{
	static const char OLD[] = "anon 4096\nworkingset_refault 7\nworkingset_activate 3\n",
			  NEW[] = "anon 4096\nworkingset_refault_anon 2\nworkingset_refault_file 9\n";
	struct cgroup_v2_memory_stat memory;

	(void)state;
	assert_int_equal(parse_cgroup_v2_memory_stat(OLD, sizeof OLD - 1, &memory), 0);
	assert_int_equal(memory.file_refaults, 7);
	assert_int_equal(memory.anon_refaults, -1);
	assert_int_equal(parse_cgroup_v2_memory_stat(NEW, sizeof NEW - 1, &memory), 0);
	assert_int_equal(memory.file_refaults, 9);
	assert_int_equal(memory.anon_refaults, 2);
}

static void older_kernels_lack_lines_and_files(void **state)
{
	struct root root = test_root("hand-made-kubernetes2-5.15/t0");
	CLEANUP_CLOSE int dir_fd = root_open_file(&root, "sys/fs/cgroup", O_DIRECTORY);
	struct cgroup_v2_memory_stat memory;
	int64_t peak;

	(void)state;
	assert_int_equal(read_cgroup_v2_memory_stat(&root, dir_fd, &memory), 0);
	assert_int_equal(memory.kernel_bytes, -1);
	assert_int_equal(memory.kernel_stack_bytes, 65536);
	assert_int_equal(read_cgroup_v2_limit(&root, dir_fd, "memory.peak", &peak), -ENOENT);
	root_close(&root);
}

static void devices_and_counts_of_io_stat_have_their_most(void **state)
{
	static const char TEXT[] = "4294967296:0 rbytes=1\n0:4294967296 rbytes=2\n1:2x rbytes=3\n1 rbytes=4\n"
				   "4294967295:4294967295 rbytes=9223372036854775807 "
				   "wbytes=9223372036854775808 rios=5x wios=6\n";
	struct scan devices = parse_cgroup_v2_io_stat(TEXT, strlen(TEXT));
	struct cgroup_v2_io io;

	(void)state;
	assert_true(cgroup_v2_io_stat_next(&devices, &io));
	assert_true(io.major == UINT32_MAX && io.minor == UINT32_MAX);
	assert_true(io.read_bytes == INT64_MAX && io.write_bytes == -1 && io.reads == -1 && io.writes == 6);
	assert_false(cgroup_v2_io_stat_next(&devices, &io));
	devices = parse_cgroup_v2_io_stat("8:0\n", 4);
	assert_true(cgroup_v2_io_stat_next(&devices, &io));
	assert_true(io.read_bytes == -1 && io.write_bytes == -1 && io.reads == -1 && io.writes == -1);
}

static void times_that_no_group_has_are_absent(void **state)
{
	static const char TEXT[] = "usage_usec 1125899906842624\nuser_usec 1125899906842625\n";
	struct cgroup_v2_cpu_stat stat;
	struct cgroup_v2_cpu_max max;

	(void)state;
	assert_int_equal(parse_cgroup_v2_cpu_stat(TEXT, strlen(TEXT), &stat), 0);
	assert_int_equal(stat.usage_usec, INT64_C(1) << 50);
	assert_int_equal(stat.user_usec, -1);
	assert_int_equal(parse_cgroup_v2_cpu_max("1 9223372036854775807\n", 22, &max), 0);
	assert_true(max.period_usec == INT64_MAX && max.quota_usec == 1);
}

/* Before Linux 5.18 the sum of its parts. Those of stacks and slabs are in all kernels. */
static void memory_of_the_kernel_is_its_line_or_the_sum_of_parts(void **state)
{
	struct cgroup_v2_memory_stat stat = {.kernel_bytes = 7, .kernel_stack_bytes = 100};

	(void)state;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 7);
	stat.kernel_bytes = 0;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 0);
	stat = (struct cgroup_v2_memory_stat){.kernel_bytes = -1,
					      .kernel_stack_bytes = 1,
					      .pagetables_bytes = 20,
					      .percpu_bytes = 300,
					      .sock_bytes = 4000,
					      .slab_bytes = 50000};
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 54321);
	stat.percpu_bytes = stat.sock_bytes = -1;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 50021);
	stat.slab_bytes = 0;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 21);
	stat.kernel_stack_bytes = 0;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), 20);
	stat.slab_bytes = -1;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), -1);
	stat.slab_bytes = 1;
	stat.kernel_stack_bytes = -1;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), -1);
	/* A damaged machine: the sum would be less than a part. */
	stat.kernel_stack_bytes = stat.slab_bytes = INT64_MAX;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), -1);
	stat.pagetables_bytes = 2;
	assert_int_equal(cgroup_v2_kernel_bytes(&stat), -1);
}

static void cpu_stat_stays_open_between_readings(void **state)
{
	struct cgroup_v2_cpu_stat stat = {.user_usec = 5};
	struct root root;
	char folder[] = "/tmp/rt-group-XXXXXX";
	int dir_fd, fd = -1;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(root_open(&root, folder, NULL), 0);
	dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, -1, &fd, &stat), -ENOENT);
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, dir_fd, &fd, &stat), -ENOENT);
	assert_int_equal(fd, -1);
	assert_int_equal(fchdir(dir_fd), 0);
	put_text("cpu.stat", "usage_usec 7\n");
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, dir_fd, &fd, &stat), 0);
	assert_int_equal(stat.usage_usec, 7);
	assert_true(fd >= 0);
	put_text("cpu.stat", "usage_usec 8\n");
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, dir_fd, &fd, &stat), 0);
	assert_int_equal(stat.usage_usec, 8);
	put_text("cpu.stat", "");
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, dir_fd, &fd, &stat), -EBADMSG);
	unlink("cpu.stat");
	/* An open file is read after the folder is gone. */
	assert_int_equal(reread_cgroup_v2_cpu_stat(&root, -1, &fd, &stat), -ENOENT);
	close(fd);
	close(dir_fd);
	assert_int_equal(chdir("/"), 0);
	rmdir(folder);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(max_means_unlimited),
		cmocka_unit_test(a_quota_needs_its_period),
		cmocka_unit_test(usage_without_throttling_is_a_stat_too),
		cmocka_unit_test(a_forgotten_newline_in_io_stat_is_survived),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(a_scope_is_read),
		cmocka_unit_test(refaults_had_one_count_before_linux_5_9),
		cmocka_unit_test(older_kernels_lack_lines_and_files),
		cmocka_unit_test(devices_and_counts_of_io_stat_have_their_most),
		cmocka_unit_test(times_that_no_group_has_are_absent),
		cmocka_unit_test(memory_of_the_kernel_is_its_line_or_the_sum_of_parts),
		cmocka_unit_test(cpu_stat_stays_open_between_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
