/*
 * Tests of src/collect/cgroup_usage.c, cgroup_throttling.c, cgroup_tenants.c and cgroup_place.c: the job's control group, from
 * files that this test writes.
 */
#include "lone_collector.h"

#include <errno.h>

#include "collect/cgroup_usage.h"
#include "collect/process_usage.h"

extern const struct collector CGROUP_USAGE_COLLECTOR;

#define V2_MOUNT "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define JOB_GROUP "sys/fs/cgroup/a/job/"
#define STALLS(some, full) \
	"some avg10=0.00 avg60=0.00 avg300=0.00 total=" #some \
	"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=" #full "\n"

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone.root.page_bytes = 4096;
	lone.context.tree = &lone.tree;
	put_below("proc/self/mountinfo", V2_MOUNT);
	put_below("proc/self/cgroup", "0::/\n");
	put_below("proc/100/cgroup", "0::/a/job\n");
	put_below("proc/100/stat",
		  "100 (job) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 10 0 1 2 3 0 0 0 0 0 0\n");
	put_below("sys/fs/cgroup/cgroup.procs", "");
	put_below(JOB_GROUP "cgroup.procs", "100\n");
	lone_open(&CGROUP_USAGE_COLLECTOR);
	return 0;
}

static void put_in_job(const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, JOB_GROUP "%s", file);
	put_below(path, text);
}

/* A sample with a row of the tree. */
static const struct cgroup_row *use_at(double secs)
{
	(void)SINGLE_ROW(lone_begin(secs), tree);
	(void)lone_fill();
	return FIRST(&lone.frame, cgroup);
}

static const struct limits_row *limits_at(double secs)
{
	(void)use_at(secs);
	return FIRST(&lone.frame, limits);
}

static const struct pressure_row *pressure_at(double secs)
{
	(void)use_at(secs);
	return FIRST(&lone.frame, pressure);
}

/* ---- use --------------------------------------------------------------------------------------------------- */

static void the_use_of_a_group_of_version_2(void **state)
{
	const struct cgroup_row *row;

	(void)state;
	put_in_job("memory.current", "10485760\n");
	put_in_job("memory.peak", "20971520\n");
	put_in_job("memory.stat",
		   "anon 3145728\nfile 4194304\nkernel 524288\nshmem 2097152\nworkingset_refault_file 3\n"
		   "workingset_refault_anon 0\n");
	put_in_job("memory.events.local", "oom 5\noom_kill 2\n");
	put_in_job("cpu.stat", "usage_usec 2500000\nnr_throttled 7\nthrottled_usec 500000\n");
	row = use_at(1);
	assert_real(row->memory_current_mib, 10);
	assert_real(row->memory_peak_mib, 20);
	assert_real(row->anon_mib, 3);
	assert_real(row->file_mib, 4);
	assert_real(row->kernel_mib, 0.5);
	assert_real(row->shmem_mib, 2);
	assert_int_equal(row->cache_refault_total, 3 * 4096);
	assert_int_equal(row->swap_refault_total, 0);
	assert_int_equal(row->oom_kills, 2);
	assert_real(row->cpu_usage_secs, 2.5);
	assert_real(FIRST(&lone.frame, tree)->cgroup_cpu_total_secs, 2.5);
	/* It was stopped before the recording began. */
	assert_int_equal(row->throttled_periods_total, 0);
	assert_real(row->throttled_total_secs, 0);
	put_in_job("cpu.stat", "usage_usec 0\nnr_throttled 9\nthrottled_usec 750000\n");
	row = use_at(1.1);
	assert_real(row->cpu_usage_secs, 0);
	assert_int_equal(row->throttled_periods_total, 2);
	assert_real(row->throttled_total_secs, 0.25);
	/* How far a counter moved that went back is unknown. */
	put_in_job("cpu.stat", "usage_usec 0\nnr_throttled 1\nthrottled_usec 1\n");
	assert_true(count_absent(use_at(1.15)->throttled_periods_total));
	put_in_job("cpu.stat", "usage_usec 0\nnr_throttled 2\nthrottled_usec 1\n");
	assert_int_equal(use_at(1.17)->throttled_periods_total, 1);
}

static void missing_counters_are_absent(void **state)
{
	const struct cgroup_row *row;

	(void)state;
	put_in_job("memory.current", "1048576\n");
	put_in_job("memory.stat", "anon 1048576\nworkingset_refault_file 9223372036854775807\n");
	put_in_job("cpu.stat", "user_usec 3\n");
	row = use_at(1);
	assert_real(row->memory_current_mib, 1);
	assert_absent_real(row->memory_peak_mib, ABSENT_NO_SUCH_COUNTER);
	assert_real(row->anon_mib, 1);
	assert_absent_real(row->file_mib, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(row->cache_refault_total, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(row->oom_kills, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->cpu_usage_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(row->throttled_periods_total, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(row->throttled_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_false(lone.context.memory_cgroup.only_tree);
	/* These count the groups below as well. */
	put_in_job("memory.events", "oom 1\noom_kill 1\n");
	assert_int_equal(use_at(1.1)->oom_kills, 1);
}

/* The kernel charges the nearest ancestor that has the controller. */
static void memory_is_counted_by_the_nearest_group_that_can(void **state)
{
	(void)state;
	put_below("sys/fs/cgroup/a/memory.current", "2097152\n");
	put_below("sys/fs/cgroup/memory.current", "9437184\n");
	assert_real(use_at(1)->memory_current_mib, 2);
}

#define V1_MOUNTS \
	"31 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" \
	"32 1 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" \
	"33 1 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
#define V1_MEMORY "sys/fs/cgroup/memory/job/"
#define V1_CPU "sys/fs/cgroup/cpu/job/"

static void begin_v1(const char *memory, const char *cpu)
{
	char text[200];

	put_text("proc/self/mountinfo", V1_MOUNTS);
	snprintf(text, sizeof text, "3:memory:%s\n2:cpu,cpuacct:%s\n1:cpuset:/job\n", memory, cpu);
	put_text("proc/100/cgroup", text);
	put_below("sys/fs/cgroup/cpuset/job/x", "");
	put_below(V1_MEMORY "x", "");
	put_below(V1_CPU "x", "");
}

static void the_use_of_groups_of_version_1(void **state)
{
	const struct cgroup_row *row;
	const struct limits_row *limits;

	(void)state;
	begin_v1("/job", "/job");
	put_text(V1_MEMORY "memory.usage_in_bytes", "1048576\n");
	put_text(V1_MEMORY "memory.max_usage_in_bytes", "2097152\n");
	put_text(V1_MEMORY "memory.kmem.usage_in_bytes", "3145728\n");
	put_text(V1_MEMORY "memory.stat",
		 "hierarchical_memory_limit 104857600\ntotal_cache 4194304\ntotal_rss 5242880\ntotal_shmem "
		 "6291456\n"
		 "total_workingset_refault_file 2\ntotal_workingset_refault_anon 1\n");
	put_text(V1_MEMORY "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	put_text(V1_MEMORY "memory.limit_in_bytes", "209715200\n");
	put_text(V1_CPU "cpuacct.usage", "1500000000\n");
	put_text(V1_CPU "cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 1000000000\n");
	put_text(V1_CPU "cpu.cfs_quota_us", "250000\n");
	put_text(V1_CPU "cpu.cfs_period_us", "100000\n");
	put_text("sys/fs/cgroup/cpuset/job/cpuset.cpus", "0-2\n");
	put_below("proc/100/status", "Name:\tjob\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
	row = use_at(1);
	limits = FIRST(&lone.frame, limits);
	assert_real(row->memory_current_mib, 1);
	assert_real(row->memory_peak_mib, 2);
	assert_real(row->kernel_mib, 3);
	assert_real(row->file_mib, 4);
	assert_real(row->anon_mib, 5);
	assert_real(row->shmem_mib, 6);
	assert_int_equal(row->cache_refault_total, 2 * 4096);
	assert_int_equal(row->swap_refault_total, 4096);
	assert_int_equal(row->oom_kills, 4);
	assert_real(row->cpu_usage_secs, 1.5);
	assert_real(limits->cpu_limit_cores, 2.5);
	assert_real(limits->memory_limit_mib, 100);
	assert_int_equal(limits->cpuset_cores, 3);
	put_text(V1_CPU "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 3000000000\n");
	put_text("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "0-1\n");
	put_text(V1_MEMORY "memory.stat", "hierarchical_memory_limit 9223372036854771712\ntotal_cache 1\n");
	row = use_at(2);
	limits = FIRST(&lone.frame, limits);
	assert_int_equal(row->throttled_periods_total, 3);
	assert_real(row->throttled_total_secs, 2);
	assert_int_equal(limits->cpuset_cores, 2);
	assert_real(limits->memory_limit_mib, 200);
	put_text(V1_MEMORY "memory.limit_in_bytes", "9223372036854771712\n");
	put_text(V1_CPU "cpu.cfs_quota_us", "-1\n");
	limits = limits_at(3);
	assert_absent_real(limits->memory_limit_mib, ABSENT_NO_LIMIT);
	assert_absent_real(limits->cpu_limit_cores, ABSENT_NO_LIMIT);
	put_text(V1_CPU "cpu.cfs_quota_us", "0\n");
	assert_absent_real(limits_at(4)->cpu_limit_cores, ABSENT_NO_LIMIT);
	put_text(V1_CPU "cpu.cfs_quota_us", "50000\n");
	put_text(V1_CPU "cpu.cfs_period_us", "0\n");
	assert_absent_real(limits_at(5)->cpu_limit_cores, ABSENT_NO_LIMIT);
}

/* The root of a hierarchy is the machine. Beside a group of the job's, it is not the job's. */
static void the_root_of_a_hierarchy_beside_a_group_is_the_machine(void **state)
{
	const struct cgroup_row *row;

	(void)state;
	begin_v1("/job", "/");
	put_text("sys/fs/cgroup/cpu/cpuacct.usage", "1500000000\n");
	put_text("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 1000000000\n");
	put_text(V1_MEMORY "memory.usage_in_bytes", "1048576\n");
	row = use_at(1);
	assert_absent_real(row->cpu_usage_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(row->throttled_periods_total, ABSENT_NO_SUCH_COUNTER);
	assert_real(row->memory_current_mib, 1);
	begin_v1("/", "/job");
	put_text(V1_CPU "cpuacct.usage", "2500000000\n");
	put_text("sys/fs/cgroup/memory/memory.usage_in_bytes", "9437184\n");
	row = use_at(2);
	assert_real(row->cpu_usage_secs, 2.5);
	assert_absent_real(row->memory_current_mib, ABSENT_NO_SUCH_COUNTER);
	/* If all are roots, the machine is the group. */
	begin_v1("/", "/");
	put_text("proc/100/cgroup", "3:memory:/\n2:cpu,cpuacct:/\n");
	row = use_at(3);
	assert_real(row->cpu_usage_secs, 1.5);
	assert_real(row->memory_current_mib, 9);
}

/* ---- limits ------------------------------------------------------------------------------------------------ */

static void the_lowest_limit_of_all_ancestors_holds(void **state)
{
	const struct limits_row *row;

	(void)state;
	put_in_job("cpu.max", "150000 100000\n");
	put_in_job("memory.max", "209715200\n");
	put_in_job("cpuset.cpus.effective", "0-3\n");
	put_below("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	put_below("sys/fs/cgroup/a/memory.max", "104857600\n");
	row = limits_at(1);
	assert_real(row->cpu_limit_cores, 1);
	assert_real(row->memory_limit_mib, 100);
	assert_int_equal(row->cpuset_cores, 4);
	assert_int_equal(lone.frame.cpus, 4);
	put_text("sys/fs/cgroup/a/cpu.max", "max 100000\n");
	put_text("sys/fs/cgroup/a/memory.max", "max\n");
	put_below("proc/100/status", "Name:\tjob\nCpus_allowed:\t7\nCpus_allowed_list:\t0-2\n");
	row = limits_at(2);
	assert_real(row->cpu_limit_cores, 1.5);
	assert_real(row->memory_limit_mib, 200);
	assert_int_equal(row->cpuset_cores, 3);
	assert_int_equal(lone.frame.cpus, 3);
	put_in_job("cpu.max", "max 100000\n");
	put_in_job("memory.max", "max\n");
	row = limits_at(3);
	assert_absent_real(row->cpu_limit_cores, ABSENT_NO_LIMIT);
	assert_absent_real(row->memory_limit_mib, ABSENT_NO_LIMIT);
	put_in_job("memory.max", "0\n");
	put_in_job("cpu.max", "1 0\n");
	row = limits_at(4);
	assert_real(row->memory_limit_mib, 0);
	assert_absent_real(row->cpu_limit_cores, ABSENT_NO_LIMIT);
}

/* The group with the lowest quota is the one that stops the job. */
static void the_group_with_the_lowest_quota_tells_how_often_it_stopped(void **state)
{
	(void)state;
	put_in_job("cpu.max", "150000 100000\n");
	put_in_job("cpu.stat", "usage_usec 1\nnr_throttled 100\nthrottled_usec 100\n");
	put_below("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	put_below("sys/fs/cgroup/a/cpu.stat", "usage_usec 1\nnr_throttled 5\nthrottled_usec 1000000\n");
	assert_int_equal(use_at(1)->throttled_periods_total, 0);
	put_text("sys/fs/cgroup/a/cpu.stat", "usage_usec 1\nnr_throttled 6\nthrottled_usec 3000000\n");
	put_in_job("cpu.stat", "usage_usec 1\nnr_throttled 200\nthrottled_usec 200\n");
	assert_int_equal(use_at(1.1)->throttled_periods_total, 1);
	assert_real(FIRST(&lone.frame, cgroup)->throttled_total_secs, 2);
	/* With equal quotas it is the job's own, and without any as well. */
	put_text("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
	(void)use_at(3);
	put_in_job("cpu.stat", "usage_usec 1\nnr_throttled 203\nthrottled_usec 200\n");
	put_text("sys/fs/cgroup/a/cpu.stat", "usage_usec 1\nnr_throttled 90\nthrottled_usec 3000000\n");
	assert_int_equal(use_at(3.1)->throttled_periods_total, 1 + 103);
	put_text("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	(void)use_at(5);
	put_text("sys/fs/cgroup/a/cpu.max", "max 100000\n");
	put_in_job("cpu.max", "max 100000\n");
	(void)use_at(7);
	put_in_job("cpu.stat", "usage_usec 1\nnr_throttled 204\nthrottled_usec 200\n");
	assert_int_equal(use_at(7.1)->throttled_periods_total, 1 + 103 + 84 + 1);
}

/* Samples look at limits nearly once a second, and the last one after a tenth. */
static void a_limit_that_changes_is_seen(void **state)
{
	(void)state;
	put_in_job("memory.max", "1048576\n");
	assert_real(limits_at(1)->memory_limit_mib, 1);
	put_in_job("memory.max", "2097152\n");
	assert_real(limits_at(1.9499)->memory_limit_mib, 1);
	assert_real(limits_at(1.95)->memory_limit_mib, 2);
	put_in_job("memory.max", "3145728\n");
	lone.ending.reason = "exit";
	assert_real(limits_at(2.0499)->memory_limit_mib, 2);
	assert_real(limits_at(2.05)->memory_limit_mib, 3);
	/* The start of the run has the first one. */
	assert_real(lone.context.first_memory_limit_mib, 1);
}

/* Process 1 of this kernel is another one, which has fewer CPUs. */
static void cpus_are_those_of_the_files_and_stay_when_the_process_has_gone(void **state)
{
	(void)state;
	assert_int_equal(symlink("100", "proc/1"), 0);
	lone.tree.root_pid = 1;
	lone.context.root_dir = NULL;
	put_in_job("cpuset.cpus.effective", "0-4095\n");
	put_below("proc/100/status", "Name:\tjob\nCpus_allowed_list:\t0-4094\n");
	assert_int_equal(limits_at(1)->cpuset_cores, 4095);
	remove("proc/100/status");
	assert_int_equal(limits_at(3)->cpuset_cores, 4095);
	lone.context.tree = NULL;
	put_text("proc/self/cgroup", "0::/a/job\n");
	assert_int_equal(limits_at(5)->cpuset_cores, 4096);
}

static void without_a_group_the_reason_is_told(void **state)
{
	const struct limits_row *row;

	(void)state;
	remove("proc/100/cgroup");
	row = limits_at(1);
	assert_absent_real(row->cpu_limit_cores, ENOENT);
	assert_absent_real(row->memory_limit_mib, ENOENT);
	assert_absent_count(row->cpuset_cores, ENOENT);
	assert_absent_real(FIRST(&lone.frame, cgroup)->memory_current_mib, ABSENT_NO_CGROUP);
	assert_null(lone.context.place);
	/* The hierarchy is not mounted here. */
	put_text("proc/100/cgroup", "0::/a/job\n");
	put_text("proc/self/mountinfo", "1 0 8:0 / / rw - ext4 /dev/sda rw\n");
	cgroup_mounts_done(&lone.mounts);
	row = limits_at(20);
	assert_absent_real(row->cpu_limit_cores, ABSENT_NO_CGROUP);
	assert_absent_real(row->memory_limit_mib, ABSENT_NO_CGROUP);
}

static void a_job_that_ended_at_once_has_no_group_yet(void **state)
{
	(void)state;
	put_in_job("memory.current", "1048576\n");
	lone.context.prepared = false;
	assert_absent_real(use_at(0.1)->memory_current_mib, ABSENT_NOT_YET);
	assert_absent_real(FIRST(&lone.frame, limits)->cpu_limit_cores, ABSENT_NOT_YET);
	assert_absent_real(FIRST(&lone.frame, pressure)->cpu_some_total_secs, ABSENT_NOT_YET);
	assert_null(lone.context.place);
	/* How it was killed is worth a look. */
	lone.ending.killed = true;
	assert_real(use_at(0.1)->memory_current_mib, 1);
	lone.ending.killed = false;
	lone.context.progress.baseline = true;
	assert_real(use_at(0.2)->memory_current_mib, 1);
}

/* ---- a move ------------------------------------------------------------------------------------------------ */

static void put_other_group(void)
{
	put_below("sys/fs/cgroup/b/memory.current", "5242880\n");
	put_below("sys/fs/cgroup/b/memory.max", "3145728\n");
	put_below("sys/fs/cgroup/b/memory.events.local", "oom_kill 9\n");
	put_below("sys/fs/cgroup/b/memory.stat",
		  "anon 1\nworkingset_refault_file 8\nworkingset_refault_anon 8\n");
	put_below("sys/fs/cgroup/b/cpu.stat", "usage_usec 9000000\nnr_throttled 70\nthrottled_usec 0\n");
	put_below("sys/fs/cgroup/b/cpu.pressure", STALLS(7, 7));
	put_in_job("cpu.pressure", STALLS(7, 7));
}

/* A look is due after 180 ms. The counters of another group go on from elsewhere. */
static void a_move_begins_the_counters_anew(void **state)
{
	const struct cgroup_row *row;

	(void)state;
	put_other_group();
	put_in_job("memory.events.local", "oom_kill 2\n");
	put_in_job("memory.current", "1048576\n");
	put_in_job("cpu.stat", "usage_usec 1000000\nnr_throttled 7\nthrottled_usec 0\n");
	assert_real(use_at(1)->memory_current_mib, 1);
	assert_int_equal(lone.context.memory_cgroup.kills_when_left, -1);
	put_text("proc/100/cgroup", "0::/b\n");
	put_in_job("memory.events.local", "oom_kill 3\n");
	assert_real(use_at(1.1799)->memory_current_mib, 1);
	row = use_at(1.18);
	assert_real(row->memory_current_mib, 5);
	assert_real(lone.context.first_memory_limit_mib, 3);
	assert_absent_count(row->throttled_periods_total, ABSENT_FIRST_SAMPLE);
	assert_absent_real(row->throttled_total_secs, ABSENT_FIRST_SAMPLE);
	assert_absent_count(row->cache_refault_total, ABSENT_FIRST_SAMPLE);
	assert_absent_count(row->swap_refault_total, ABSENT_FIRST_SAMPLE);
	assert_absent_real(FIRST(&lone.frame, tree)->cgroup_cpu_total_secs, ABSENT_FIRST_SAMPLE);
	assert_absent_real(FIRST(&lone.frame, pressure)->cpu_some_total_secs, ABSENT_FIRST_SAMPLE);
	assert_absent_real(FIRST(&lone.frame, pressure)->io_full_total_secs, ABSENT_FIRST_SAMPLE);
	assert_int_equal(lone.context.memory_cgroup.kills_when_left, 3);
	row = use_at(1.2);
	assert_int_equal(row->throttled_periods_total, 0);
	assert_real(FIRST(&lone.frame, tree)->cgroup_cpu_total_secs, 9);
	assert_real(FIRST(&lone.frame, pressure)->cpu_some_total_secs, 7e-6);
	assert_int_equal(lone.context.memory_cgroup.kills_when_left, -1);
}

/* The counters of a group that was made for the job began with it. */
static void a_group_of_its_own_begins_with_the_job(void **state)
{
	(void)state;
	put_other_group();
	put_in_job("cpu.stat", "usage_usec 1000000\nnr_throttled 7\nthrottled_usec 0\n");
	lone.context.progress.baseline = true;
	(void)use_at(0);
	lone.context.progress.baseline = false;
	lone.context.progress.number = 0;
	lone.tree.cgroup_folder = 7;
	put_text("proc/100/cgroup", "0::/b\n");
	assert_real(use_at(1)->cpu_usage_secs, 9);
	assert_real(FIRST(&lone.frame, tree)->cgroup_cpu_total_secs, 9);
	assert_real(FIRST(&lone.frame, pressure)->cpu_some_total_secs, 7e-6);
}

/* A job was just started in a group of its own, so the baseline of its counters is 0. */
static void the_counters_of_a_new_group_begin_with_0(void **state)
{
	struct frame *frame = lone_begin(0);
	struct pressure_row *stalls;

	(void)state;
	cgroup_usage_begin(frame);
	process_usage_begin(frame);
	assert_null(FIRST(frame, tree));
	SINGLE_ROW(frame, cgroup)->throttled_periods_total = 7;
	SINGLE_ROW(frame, cgroup)->throttled_total_secs = 7;
	SINGLE_ROW(frame, tree)->cgroup_cpu_total_secs = 7;
	stalls = SINGLE_ROW(frame, pressure);
	cgroup_usage_begin(frame);
	assert_int_equal(FIRST(frame, cgroup)->throttled_periods_total, 0);
	assert_real(FIRST(frame, cgroup)->throttled_total_secs, 0);
	assert_real(FIRST(frame, tree)->cgroup_cpu_total_secs, 0);
	assert_real(stalls->cpu_some_total_secs + stalls->memory_some_total_secs + stalls->io_some_total_secs,
		    0);
	assert_real(stalls->cpu_full_total_secs + stalls->memory_full_total_secs + stalls->io_full_total_secs,
		    0);
	process_usage_begin(frame);
	assert_real(FIRST(frame, tree)->cpu_total_secs + FIRST(frame, tree)->utime_total_secs, 0);
	assert_real(FIRST(frame, tree)->main_utime_total_secs + FIRST(frame, tree)->main_stime_total_secs, 0);
	assert_real(FIRST(frame, tree)->cpu_wait_total_secs + FIRST(frame, tree)->cpu_wait_known_total_secs,
		    0);
	assert_real(FIRST(frame, tree)->cpu_energy_total_joules, 0);
	assert_int_equal(FIRST(frame, tree)->voluntary_switches_total, 0);
	assert_int_equal(FIRST(frame, tree)->involuntary_switches_total, 0);
	assert_int_equal(FIRST(frame, tree)->read_bytes_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_received_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_sent_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_received_bound_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_sent_bound_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_retransmits_total, 0);
	assert_int_equal(FIRST(frame, tree)->net_connections_total, 0);
}

static void waiting_is_followed_for_its_metrics(void **state)
{
	static const char *const WANTED[] = {"process_cpu_wait_secs", "process_cpu_wait_known_secs",
					     "process_voluntary_switches", "process_involuntary_switches"};
	static struct selection selection;
	char name[] = "memory.used_mib", *globs[1] = {name};

	(void)state;
	selection_init(&selection, false, false, globs, 1);
	selection.kinds[ROW_run_end] = false;
	assert_false(process_usage_follows_waiting(&selection));
	for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
		globs[0] = (char *)(uintptr_t)WANTED[i];
		selection_init(&selection, false, false, globs, 1);
		selection.kinds[ROW_run_end] = false;
		assert_true(process_usage_follows_waiting(&selection));
	}
	memset(&selection, 0, sizeof selection);
	selection.kinds[ROW_run_end] = true;
	assert_true(process_usage_follows_waiting(&selection));
}

/* The kernel shows an exiting process in the root, where it never was. */
static void a_process_that_exits_stays_where_it_was(void **state)
{
	(void)state;
	put_in_job("memory.current", "1048576\n");
	put_below("sys/fs/cgroup/memory.current", "9437184\n");
	assert_real(use_at(1)->memory_current_mib, 1);
	put_text("proc/100/cgroup", "0::/\n");
	put_text("proc/100/stat",
		 "100 (job) Z 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 10 0 1 2 3 0 0 0 0 0 0\n");
	assert_real(use_at(2)->memory_current_mib, 1);
	remove("proc/100/stat");
	assert_real(use_at(3)->memory_current_mib, 1);
	put_text("proc/100/stat",
		 "100 (job) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 10 0 1 2 3 0 0 0 0 0 0\n");
	assert_real(use_at(4)->memory_current_mib, 9);
}

/* ---- pressure ---------------------------------------------------------------------------------------------- */

static void stalls_are_those_of_the_group_or_of_the_machine(void **state)
{
	const struct pressure_row *row;

	(void)state;
	put_below("proc/pressure/cpu", STALLS(1000000, 2000000));
	put_below("proc/pressure/memory", STALLS(3000000, 4000000));
	put_below("proc/pressure/io", STALLS(5000000, 6000000));
	row = pressure_at(1);
	assert_string_equal(row->source, "host");
	assert_real(row->cpu_some_total_secs, 1);
	/* It has no meaning for all CPUs together. */
	assert_absent_real(row->cpu_full_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_real(row->memory_some_total_secs, 3);
	assert_real(row->memory_full_total_secs, 4);
	assert_real(row->io_some_total_secs, 5);
	assert_real(row->io_full_total_secs, 6);
	put_in_job("cpu.pressure", STALLS(500000, 250000));
	put_in_job("io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	assert_absent_real(pressure_at(1.1)->cpu_some_total_secs, ABSENT_FIRST_SAMPLE);
	row = pressure_at(1.2);
	assert_string_equal(row->source, "cgroup");
	assert_real(row->cpu_some_total_secs, 0.5);
	assert_real(row->cpu_full_total_secs, 0.25);
	assert_absent_real(row->memory_some_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_real(row->io_some_total_secs, 0);
	assert_absent_real(row->io_full_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_int_equal(row->row.cpus, 1);
}

static void stalls_that_cannot_be_read(void **state)
{
	(void)state;
	put_below("proc/pressure/memory", STALLS(3000000, 4000000));
	assert_absent_real(pressure_at(1)->cpu_some_total_secs, ABSENT_NO_SUCH_COUNTER);
	assert_int_equal(text_absent(FIRST(&lone.frame, pressure)->source), ABSENT_NO_SUCH_COUNTER);
	assert_real(FIRST(&lone.frame, pressure)->memory_some_total_secs, 3);
	put_text("proc/pressure/cpu", "nothing\n");
	assert_absent_real(pressure_at(2)->cpu_some_total_secs, EBADMSG);
}

/* A machine alone has no group, and the root of all is the machine. */
static void without_a_job_stalls_are_those_of_the_machine(void **state)
{
	(void)state;
	put_below("proc/pressure/cpu", STALLS(1000000, 2000000));
	put_in_job("cpu.pressure", STALLS(500000, 250000));
	put_text("sys/fs/cgroup/cpu.pressure", STALLS(700000, 250000));
	lone.context.tree = NULL;
	put_text("proc/self/cgroup", "0::/a/job\n");
	assert_string_equal(pressure_at(1)->source, "host");
	/* A command is about to be started here. */
	lone.facts.argc = 1;
	assert_string_equal(pressure_at(2)->source, "cgroup");
	put_text("proc/self/cgroup", "0::/\n");
	lone.collector->close(lone.state);
	lone_open(&CGROUP_USAGE_COLLECTOR);
	assert_string_equal(pressure_at(3)->source, "host");
}

/* ---- who else is there ------------------------------------------------------------------------------------- */

static void add_member(pid_t pid)
{
	assert_int_equal(process_tree_reserve(&lone.tree), 0);
	process_tree_append(&lone.tree, &(struct member){.pid = pid});
}

static void put_stat(int pid, int parent)
{
	char path[60], text[200];

	snprintf(path, sizeof path, "proc/%d/stat", pid);
	snprintf(text, sizeof text,
		 "%d (x) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 10 0 1 2 3 0 0 0 0 0 0\n", pid,
		 parent);
	put_below(path, text);
}

static bool is_alone(const char *pids, double secs)
{
	put_in_job("cgroup.procs", pids);
	put_in_job("memory.current", "1\n");
	put_in_job("memory.events.local", "oom_kill 0\n");
	(void)use_at(secs);
	return lone.context.memory_cgroup.only_tree;
}

static void members_and_their_children_are_alone(void **state)
{
	(void)state;
	add_member(LONE_JOB);
	assert_true(is_alone("100\n", 1));
	put_stat(101, LONE_JOB), put_stat(102, 101);
	assert_true(is_alone("100\n101\n102\n", 2.1));
	/* It has exited by now. */
	assert_true(is_alone("100\n103\n", 3.2));
	/* Within a second no look is taken, but one who was seen stays known. */
	put_stat(700, 1);
	assert_true(is_alone("100\n700\n", 4.1));
	assert_false(is_alone("100\n700\n", 4.2));
	assert_false(is_alone("100\n", 6));
}

static void a_stranger_is_not_of_the_job(void **state)
{
	(void)state;
	add_member(LONE_JOB);
	put_stat(700, 650);
	/* Its parent has gone. */
	assert_false(is_alone("100\n700\n", 1));
}

static void one_without_a_number_here_is_a_stranger(void **state)
{
	(void)state;
	add_member(LONE_JOB);
	assert_false(is_alone("100\n0\n", 1));
}

static void helpers_of_the_tracker_are_alone_with_the_job(void **state)
{
	(void)state;
	add_member(LONE_JOB);
	process_tree_exclude(&lone.tree, 501);
	put_stat(501, 1), put_stat(502, 501);
	assert_true(is_alone("100\n501\n", 1));
	assert_true(is_alone("100\n501\n502\n", 2.1));
	/* In another program the helpers are strangers. */
	lone.context.in_program = true;
	assert_false(is_alone("100\n501\n", 3.2));
}

/* The shell that started the tracker lives while it is there. */
static void parents_of_the_tracker_are_alone_with_the_job(void **state)
{
	char pids[60];

	(void)state;
	add_member(LONE_JOB);
	put_stat((int)getpid(), 600), put_stat(600, 601), put_stat(601, 0);
	snprintf(pids, sizeof pids, "100\n%d\n600\n", (int)getpid());
	assert_true(is_alone(pids, 1));
	assert_true(is_alone(pids, 2.1));
	assert_true(is_alone("100\n600\n601\n", 3.2));
	/* One of them may have been killed. */
	assert_false(is_alone("100\n601\n", 4.3));
}

static void without_a_look_others_may_have_been_there(void **state)
{
	(void)state;
	assert_false(is_alone("100\n", 1));
	lone.context.own_cgroup = true;
	assert_true(is_alone("100\n", 1.1));
}

/* Kills of groups below are not known to be the job's. */
static void kills_of_groups_below_are_not_the_jobs_alone(void **state)
{
	(void)state;
	add_member(LONE_JOB);
	assert_true(is_alone("100\n", 1));
	remove(JOB_GROUP "memory.events.local");
	lone.collector->close(lone.state);
	lone_open(&CGROUP_USAGE_COLLECTOR);
	put_in_job("memory.events", "oom_kill 0\n");
	(void)use_at(2);
	assert_false(lone.context.memory_cgroup.only_tree);
	assert_int_not_equal(lone.context.memory_cgroup.id, 0);
}

/* ---- where it is ------------------------------------------------------------------------------------------- */

/* A container without a namespace of its own sees the host's path, but mounts its own folder alone. */
static void a_mount_may_have_a_part_of_the_hierarchy(void **state)
{
	(void)state;
	put_text("proc/self/mountinfo", "30 1 0:26 /docker/ID /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_text("proc/self/cgroup", "0::/docker/ID\n");
	put_below("sys/fs/cgroup/x/memory.current", "1048576\n");
	put_below("sys/fs/cgroup/memory.current", "2097152\n");
	put_text("proc/100/cgroup", "0::/docker/ID/x\n");
	assert_real(use_at(1)->memory_current_mib, 1);
	put_text("proc/100/cgroup", "0::/docker/ID\n");
	assert_real(use_at(2)->memory_current_mib, 2);
	/* The names begin alike, but it is another container. */
	put_text("proc/100/cgroup", "0::/docker/ID2/x\n");
	assert_absent_real(use_at(3)->memory_current_mib, ABSENT_NO_SUCH_COUNTER);
}

/* "..x" is a name, and ".." lies outside. */
static void a_path_may_lie_outside_the_namespace(void **state)
{
	(void)state;
	put_below("sys/fs/cgroup/..x/memory.current", "1048576\n");
	put_text("proc/100/cgroup", "0::/..x\n");
	assert_real(use_at(1)->memory_current_mib, 1);
	put_text("proc/100/cgroup", "0::/../x\n");
	assert_absent_real(use_at(2)->memory_current_mib, ABSENT_NO_SUCH_COUNTER);
	put_text("proc/100/cgroup", "0::/..\n");
	assert_absent_real(use_at(3)->memory_current_mib, ABSENT_NO_SUCH_COUNTER);
}

/* Its own mounts have the group, and are below /proc/PID/root. */
static void a_process_of_another_container_is_found_by_its_own_mounts(void **state)
{
	(void)state;
	put_text("proc/self/mountinfo", "30 1 0:26 /docker/A /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_text("proc/self/cgroup", "0::/docker/A\n");
	put_text("proc/100/cgroup", "0::/docker/B/x\n");
	put_below("proc/100/mountinfo", "30 1 0:26 /docker/B /groups rw - cgroup2 cgroup2 rw\n");
	put_below("proc/100/root/groups/x/memory.current", "3145728\n");
	assert_real(use_at(1)->memory_current_mib, 3);
}

/* The folder was removed: its ancestors still limit, but their counters are not the job's. */
static void a_removed_folder_has_no_counters(void **state)
{
	(void)state;
	put_below("sys/fs/cgroup/a/memory.max", "1048576\n");
	put_below("sys/fs/cgroup/a/cpu.stat", "usage_usec 9000000\nnr_throttled 70\nthrottled_usec 0\n");
	put_text("proc/100/cgroup", "0::/a/gone (deleted)\n");
	assert_real(limits_at(1)->memory_limit_mib, 1);
	assert_absent_real(FIRST(&lone.frame, cgroup)->cpu_usage_secs, ABSENT_NO_SUCH_COUNTER);
	assert_absent_count(FIRST(&lone.frame, cgroup)->throttled_periods_total, ABSENT_NO_SUCH_COUNTER);
	/* A folder may be named like that. */
	put_below("sys/fs/cgroup/a/x (deleted)/cpu.stat", "usage_usec 2000000\n");
	put_text("proc/100/cgroup", "0::/a/x (deleted)\n");
	assert_real(use_at(2)->cpu_usage_secs, 2);
	/* Another group has its name by now. */
	put_below("sys/fs/cgroup/a/y/cpu.stat", "usage_usec 2000000\n");
	put_text("proc/100/cgroup", "0::/a/y (deleted)\n");
	assert_absent_real(use_at(3)->cpu_usage_secs, ABSENT_NO_SUCH_COUNTER);
}

#define group_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		group_test(the_use_of_a_group_of_version_2),
		group_test(missing_counters_are_absent),
		group_test(memory_is_counted_by_the_nearest_group_that_can),
		group_test(the_use_of_groups_of_version_1),
		group_test(the_root_of_a_hierarchy_beside_a_group_is_the_machine),
		group_test(the_lowest_limit_of_all_ancestors_holds),
		group_test(the_group_with_the_lowest_quota_tells_how_often_it_stopped),
		group_test(a_limit_that_changes_is_seen),
		group_test(cpus_are_those_of_the_files_and_stay_when_the_process_has_gone),
		group_test(without_a_group_the_reason_is_told),
		group_test(a_job_that_ended_at_once_has_no_group_yet),
		group_test(a_move_begins_the_counters_anew),
		group_test(a_group_of_its_own_begins_with_the_job),
		group_test(the_counters_of_a_new_group_begin_with_0),
		group_test(waiting_is_followed_for_its_metrics),
		group_test(a_process_that_exits_stays_where_it_was),
		group_test(stalls_are_those_of_the_group_or_of_the_machine),
		group_test(stalls_that_cannot_be_read),
		group_test(without_a_job_stalls_are_those_of_the_machine),
		group_test(members_and_their_children_are_alone),
		group_test(a_stranger_is_not_of_the_job),
		group_test(one_without_a_number_here_is_a_stranger),
		group_test(helpers_of_the_tracker_are_alone_with_the_job),
		group_test(parents_of_the_tracker_are_alone_with_the_job),
		group_test(without_a_look_others_may_have_been_there),
		group_test(kills_of_groups_below_are_not_the_jobs_alone),
		group_test(a_mount_may_have_a_part_of_the_hierarchy),
		group_test(a_path_may_lie_outside_the_namespace),
		group_test(a_process_of_another_container_is_found_by_its_own_mounts),
		group_test(a_removed_folder_has_no_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
