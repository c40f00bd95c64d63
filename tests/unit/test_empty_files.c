/* Tests of readers in src/kernel: a file that is empty, as under some sandboxes, gives an error and never zeroes. */
#include "scratch.h"

#include <errno.h>

#include "kernel/cgroup_v1.h"
#include "kernel/cgroup_v2.h"
#include "kernel/cpu_list.h"
#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_diskstats.h"
#include "kernel/proc_loadavg.h"
#include "kernel/proc_meminfo.h"
#include "kernel/proc_net_dev.h"
#include "kernel/proc_net_route.h"
#include "kernel/proc_net_sockstat.h"
#include "kernel/proc_pid_cgroup.h"
#include "kernel/proc_pid_fdinfo.h"
#include "kernel/proc_pid_io.h"
#include "kernel/proc_pid_maps.h"
#include "kernel/proc_pid_mountinfo.h"
#include "kernel/proc_pid_smaps_rollup.h"
#include "kernel/proc_pid_stat.h"
#include "kernel/proc_pid_statm.h"
#include "kernel/proc_pid_status.h"
#include "kernel/proc_pressure.h"
#include "kernel/proc_stat.h"
#include "kernel/proc_vmstat.h"
#include "kernel/spl_zfs.h"

/* Reads all, and returns the largest result; each is below 0 if none could be read. */
static int read_all(struct root *root)
{
	struct proc_cpuinfo cpuinfo;
	struct proc_loadavg loadavg;
	struct proc_meminfo meminfo;
	struct proc_net_sockstat sockstat;
	struct proc_pid_fdinfo fdinfo;
	struct proc_pid_io io;
	struct proc_pid_smaps_rollup rollup;
	struct proc_pid_stat stat;
	struct proc_pid_statm statm;
	struct proc_pid_status status;
	struct proc_pressure pressure;
	struct proc_stat cpu;
	struct spl_zfs_arcstats arcstats;
	struct kept_file files[] = {KEPT_FILE("proc/loadavg"),      KEPT_FILE("proc/meminfo"),
				    KEPT_FILE("proc/net/sockstat"), KEPT_FILE("proc/pressure/cpu"),
				    KEPT_FILE("proc/stat"),         KEPT_FILE("proc/spl/kstat/zfs/arcstats")};
	int folder = open("proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), most = INT32_MIN;
	const int results[] = {
		read_proc_cpuinfo(root, &cpuinfo),
		read_proc_pid_fdinfo(root, 7, 3, &fdinfo),
		read_proc_pid_io(root, 7, &io),
		read_proc_pid_smaps_rollup(root, 7, &rollup),
		read_proc_pid_stat(root, 7, &stat),
		read_proc_pid_statm(root, 7, &statm),
		read_proc_pid_status(root, 7, &status),
		read_cgroup_pressure(root, folder, "stat", &pressure),
		read_proc_loadavg(root, &files[0], &loadavg),
		read_proc_meminfo(root, &files[1], &meminfo),
		read_proc_net_sockstat(root, &files[2], &sockstat),
		read_proc_pressure(root, &files[3], &pressure),
		read_proc_stat(root, &files[4], &cpu),
		read_spl_zfs_arcstats(root, &files[5], &arcstats),
	};

	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
		if (results[i] >= 0)
			fail_msg("number %zu was read", i);
		most = results[i] > most ? results[i] : most;
	}
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		kept_file_close(&files[i]);
	close(folder);
	return most;
}

static void empty_files_give_an_error(void **state)
{
	static const char *const FOLDERS[] = {
		"proc",          "proc/7",   "proc/7/fdinfo",  "proc/net",
		"proc/pressure", "proc/spl", "proc/spl/kstat", "proc/spl/kstat/zfs"};
	static const char *const FILES[] = {"proc/cpuinfo",
					    "proc/7/fdinfo/3",
					    "proc/7/io",
					    "proc/7/smaps_rollup",
					    "proc/7/stat",
					    "proc/7/statm",
					    "proc/7/status",
					    "proc/stat",
					    "proc/loadavg",
					    "proc/meminfo",
					    "proc/net/sockstat",
					    "proc/pressure/cpu",
					    "proc/spl/kstat/zfs/arcstats"};
	struct root root;

	(void)state;
	assert_int_equal(mkdir(FOLDERS[0], 0755), 0);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_true(read_all(&root) < 0); /* missing */
	for (size_t i = 1; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++)
		assert_int_equal(mkdir(FOLDERS[i], 0755), 0);
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
		put_text(FILES[i], "");
	assert_true(read_all(&root) < 0);
	root_close(&root);
}

/* Reads each file of a group's folder. Returns the largest result, and the lowest in ret_least. */
static int read_group(struct root *root, int folder, int *ret_least)
{
	struct cgroup_v1_memory_stat memory1;
	struct cgroup_v1_oom_control control;
	struct cgroup_v1_cpu_stat cpu1;
	struct cgroup_v2_memory_events events;
	struct cgroup_v2_memory_stat memory2;
	struct cgroup_v2_cpu_stat cpu2;
	struct cgroup_v2_cpu_max max;
	int64_t value;
	int most = INT32_MIN, fd = -1;
	const int results[] = {
		read_cgroup_v1_limit(root, folder, "limit", &value),
		read_cgroup_v1_cpuacct_usage(root, folder, &value),
		read_cgroup_v1_cpu_stat(root, folder, &cpu1),
		read_cgroup_v1_memory_stat(root, folder, &memory1),
		read_cgroup_v1_oom_control(root, folder, &control),
		read_cgroup_v2_cpu_stat(root, folder, &cpu2),
		reread_cgroup_v2_cpu_stat(root, folder, &fd, &cpu2),
		read_cgroup_v2_cpu_max(root, folder, &max),
		read_cgroup_v2_limit(root, folder, "limit", &value),
		read_cgroup_v2_memory_stat(root, folder, &memory2),
		read_cgroup_v2_memory_events(root, folder, "events", &events),
	};

	if (fd >= 0)
		close(fd);
	*ret_least = INT32_MAX;
	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
		if (results[i] >= 0)
			fail_msg("number %zu was read", i);
		most = results[i] > most ? results[i] : most;
		*ret_least = results[i] < *ret_least ? results[i] : *ret_least;
	}
	return most;
}

static void empty_files_of_a_group_give_an_error(void **state)
{
	static const char *const FILES[] = {"limit",       "cpuacct.usage",      "cpu.stat", "cpu.max",
					    "memory.stat", "memory.oom_control", "events"};
	struct root root;
	int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), least;

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_group(&root, folder, &least), -ENOENT);
	assert_int_equal(least, -ENOENT);
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
		put_text(FILES[i], "");
	assert_int_equal(read_group(&root, folder, &least), -EBADMSG);
	assert_int_equal(least, -EBADMSG);
	close(folder);
	root_close(&root);
}

enum { LISTS = 11 };

/* Reads each file that is a list. */
static void read_lists(struct root *root, int results[LISTS], struct scan texts[LISTS])
{
	struct kept_file disks = KEPT_FILE("proc/diskstats"), interfaces = KEPT_FILE("proc/net/dev"),
			 mounts = KEPT_FILE("proc/self/mountinfo");
	int64_t cpus = 7;
	int i = 0;

	for (int list = 0; list < LISTS; list++)
		texts[list] = scan_bytes("before", 6);
	results[i] = read_cgroup_v1_blkio(root, root->dir_fd, "blkio", &texts[i]), i++;
	results[i] = read_cgroup_v2_io_stat(root, root->dir_fd, &texts[i]), i++;
	results[i] = read_cgroup_procs(root, root->dir_fd, &texts[i]), i++;
	results[i] = read_proc_diskstats(root, &disks, &texts[i]), i++;
	results[i] = read_proc_net_dev(root, &interfaces, &texts[i]), i++;
	results[i] = read_proc_pid_mountinfo(root, &mounts, &texts[i]), i++;
	results[i] = read_proc_net_route(root, &texts[i]), i++;
	results[i] = read_proc_net_ipv6_route(root, &texts[i]), i++;
	results[i] = read_proc_pid_cgroup(root, 7, &texts[i]), i++;
	results[i] = read_proc_pid_maps(root, 7, &texts[i]), i++;
	results[i] = read_cpu_list(root, root->dir_fd, "cpus", &cpus);
	if (cpus == 0)
		texts[i].end = texts[i].at;
	assert_int_equal(i + 1, LISTS);
	kept_file_close(&disks);
	kept_file_close(&interfaces);
	kept_file_close(&mounts);
}

static void an_empty_list_is_a_list(void **state)
{
	static const char *const FILES[] = {"blkio",         "io.stat",
					    "cgroup.procs",  "proc/diskstats",
					    "proc/net/dev",  "proc/self/mountinfo",
					    "proc/7/maps",   "proc/net/route",
					    "proc/7/cgroup", "proc/net/ipv6_route",
					    "cpus"};
	int results[LISTS];
	struct scan texts[LISTS];
	struct root root;

	(void)state;
	assert_int_equal(mkdir("proc", 0755), 0);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	read_lists(&root, results, texts);
	for (int i = 0; i < LISTS; i++) {
		assert_int_equal(results[i], -ENOENT);
		assert_int_equal(scan_left(&texts[i]), 6);
	}
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
		put_below(FILES[i], "");
	read_lists(&root, results, texts);
	for (int i = 0; i < LISTS; i++) {
		assert_int_equal(results[i], 0);
		assert_int_equal(scan_left(&texts[i]), 0);
	}
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(empty_files_give_an_error),
		unit_test_in_scratch(empty_files_of_a_group_give_an_error),
		unit_test_in_scratch(an_empty_list_is_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
