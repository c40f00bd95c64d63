/* Tests of readers in src/kernel: a file that is empty, as under some sandboxes, gives an error and never zeroes. */
#include "scratch.h"

#include <errno.h>

#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_loadavg.h"
#include "kernel/proc_meminfo.h"
#include "kernel/proc_net_sockstat.h"
#include "kernel/proc_pid_fdinfo.h"
#include "kernel/proc_pid_io.h"
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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(empty_files_give_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
