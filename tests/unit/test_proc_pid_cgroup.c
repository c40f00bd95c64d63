/* Tests of src/kernel/proc_pid_cgroup.c. */
#include "kernel.h"

#include "kernel/proc_pid_cgroup.h"

static const char HYBRID[] = "12:net_cls,net_prio:/\n9:name=systemd:/user.slice/session-3.scope\n"
			     "4:cpu,cpuacct:/kubepods/burstable/pod8d1c.slice:cri-containerd:7f3a\n"
			     "3:cpuset:/gone (deleted)\n0::/../sibling\n";

static void paths_may_hold_colons(void **state)
{
	struct scan lines = parse_proc_pid_cgroup(HYBRID, strlen(HYBRID));
	struct cgroup_membership membership;

	(void)state;
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_int_equal(membership.hierarchy, 12);
	assert_scan_equal(&membership.controllers, "net_cls,net_prio");
	assert_scan_equal(&membership.path, "/");
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_scan_equal(&membership.controllers, "name=systemd");
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_scan_equal(&membership.path, "/kubepods/burstable/pod8d1c.slice:cri-containerd:7f3a");
	assert_false(membership.deleted);
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_scan_equal(&membership.path, "/gone");
	assert_true(membership.deleted);
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_int_equal(membership.hierarchy, 0);
	assert_scan_equal(&membership.controllers, "");
	assert_scan_equal(&membership.path, "/../sibling");
	assert_false(proc_pid_cgroup_next(&lines, &membership));
}

static void controllers_are_found_by_their_whole_name(void **state)
{
	struct scan lines = parse_proc_pid_cgroup(HYBRID, strlen(HYBRID));
	struct cgroup_membership membership;

	(void)state;
	assert_true(proc_pid_cgroup_find(lines, "cpu", &membership));
	assert_int_equal(membership.hierarchy, 4);
	assert_true(proc_pid_cgroup_find(lines, "cpuacct", &membership));
	assert_int_equal(membership.hierarchy, 4);
	assert_true(proc_pid_cgroup_find(lines, "cpuset", &membership));
	assert_int_equal(membership.hierarchy, 3);
	assert_true(proc_pid_cgroup_find(lines, NULL, &membership));
	assert_int_equal(membership.hierarchy, 0);
	assert_false(proc_pid_cgroup_find(lines, "memory", &membership));
	assert_false(proc_pid_cgroup_find(lines, "net", &membership));
}

static void odd_lines_are_skipped(void **state)
{
	static const char ODD[] =
		"\n:\n1\n1:\n1:cpu\n1:cpu:\n1:cpu:relative\nx:cpu:/\n99999999999:cpu:/\n2:cpu:/good";
	struct scan lines = parse_proc_pid_cgroup(ODD, strlen(ODD));
	struct cgroup_membership membership;

	(void)state;
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_scan_equal(&membership.path, "/good");
	assert_false(proc_pid_cgroup_next(&lines, &membership));
}

static void parse_any(const char *bytes, size_t length)
{
	struct scan lines = parse_proc_pid_cgroup(bytes, length);
	struct cgroup_membership membership;

	(void)proc_pid_cgroup_find(lines, "memory", &membership);
	while (proc_pid_cgroup_next(&lines, &membership))
		assert_true(scan_left(&membership.path) > 0);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(HYBRID, parse_any);
}

static void the_fixture_is_read(void **state)
{
	struct root root = test_root("hand-made-slurm-5.14/t0");
	struct cgroup_membership membership;
	struct scan lines;

	(void)state;
	assert_int_equal(read_proc_pid_cgroup(&root, 101, &lines), 0);
	assert_true(proc_pid_cgroup_find(lines, NULL, &membership));
	assert_scan_equal(&membership.path, "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0");
	assert_int_equal(read_proc_pid_cgroup(&root, 999, &lines), -ENOENT);
	root_close(&root);
}

static void a_hierarchy_and_a_suffix_have_their_most(void **state)
{
	static const char TEXT[] =
		"2147483648:a:/\n2147483647:b:/ (deleted)\n1:c: (deleted)\n3:d:/x (deleted) \n";
	struct scan lines = parse_proc_pid_cgroup(TEXT, strlen(TEXT));
	struct cgroup_membership membership;

	(void)state;
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_int_equal(membership.hierarchy, INT32_MAX);
	assert_scan_equal(&membership.path, "/");
	assert_scan_equal(&membership.whole_path, "/ (deleted)");
	assert_true(membership.deleted);
	assert_true(proc_pid_cgroup_next(&lines, &membership));
	assert_scan_equal(&membership.path, "/x (deleted) ");
	assert_false(membership.deleted);
	assert_false(proc_pid_cgroup_next(&lines, &membership));
}

/* Version 2 has the number 0 and no controllers. */
static void version_2_is_found_by_both_signs(void **state)
{
	static const char TEXT[] = "0:cpu:/zero\n5::/five\n0::/\n";
	struct cgroup_membership membership;

	(void)state;
	assert_true(proc_pid_cgroup_find(parse_proc_pid_cgroup(TEXT, strlen(TEXT)), NULL, &membership));
	assert_scan_equal(&membership.path, "/");
	assert_false(proc_pid_cgroup_find(parse_proc_pid_cgroup(TEXT, 21), NULL, &membership));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_may_hold_colons),
		cmocka_unit_test(controllers_are_found_by_their_whole_name),
		cmocka_unit_test(odd_lines_are_skipped),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(the_fixture_is_read),
		cmocka_unit_test(a_hierarchy_and_a_suffix_have_their_most),
		cmocka_unit_test(version_2_is_found_by_both_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
