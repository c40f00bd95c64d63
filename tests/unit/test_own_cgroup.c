/* Tests of src/collect/own_cgroup.c: the group that is made for a job, in folders that this test makes. */
#include "lone_collector.h"

#include <errno.h>
#include <sys/wait.h>

#include "collect/own_cgroup.h"

#define GROUPS "sys/fs/cgroup/"

static struct own_cgroup own;
static char name[64];

/* This process is in the group /user/me. */
static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	own = OWN_CGROUP;
	lone.root.live = true;
	put_below("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_below("proc/self/cgroup", "0::/user/me\n");
	put_below(GROUPS "user/me/cgroup.procs", "");
	put_below(GROUPS "user/me/cgroup.subtree_control", "");
	snprintf(name, sizeof name, "resource-tracker-%d", (int)getpid());
	return 0;
}

static int end(void **state)
{
	own_cgroup_remove(&own, &lone.root, false);
	return lone_leave(state);
}

static int make(enum own_cgroup_mode mode)
{
	return own_cgroup_make(&own, &lone.mounts, &lone.root, mode);
}

static bool is_there(const char *group)
{
	char path[200];

	snprintf(path, sizeof path, GROUPS "user/me/%s", group);
	return access(path, F_OK) == 0;
}

static void it_is_made_beside_the_tracker_and_removed(void **state)
{
	(void)state;
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	assert_string_equal(own.name, name);
	assert_true(is_there(name));
	assert_true(own.folder >= 0 && own.parent >= 3);
	assert_false(own.has_memory || own.used);
	/* Only the user's wish enables controllers. */
	assert_file_text(GROUPS "user/me/cgroup.subtree_control", "");
	own_cgroup_remove(&own, &lone.root, false);
	assert_false(is_there(name));
	assert_int_equal(own.folder, -1);
	assert_int_equal(own.parent, -1);
	/* To remove it twice does nothing. */
	own_cgroup_remove(&own, &lone.root, true);
}

static void a_group_that_is_required_gets_its_controllers(void **state)
{
	(void)state;
	assert_int_equal(make(OWN_CGROUP_REQUIRE), 0);
	assert_file_text(GROUPS "user/me/cgroup.subtree_control", "+cpu +memory +io");
}

/* Another tracker of this process has the first name, and a killed one had the second. */
static void a_name_that_is_taken_is_left_to_others(void **state)
{
	char path[200], next[80];

	(void)state;
	for (int i = 1; i < 3; i++) {
		snprintf(path, sizeof path,
			 i == 1 ? GROUPS "user/me/%s/memory.current" : GROUPS "user/me/%s-2/x", name);
		put_below(path, "0\n");
	}
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	snprintf(next, sizeof next, "%s-3", name);
	assert_string_equal(own.name, next);
	assert_true(is_there(next));
	own_cgroup_remove(&own, &lone.root, false);
	assert_true(is_there(name));
	/* A hundred of one process are enough. */
	for (int i = 3; i <= 101; i++) {
		snprintf(path, sizeof path, GROUPS "user/me/%s-%d", name, i);
		(void)mkdir(path, 0755);
	}
	assert_int_equal(make(OWN_CGROUP_AUTO), -EEXIST);
	assert_int_equal(own.folder, -1);
	assert_int_equal(own.parent, -1);
	snprintf(path, sizeof path, GROUPS "user/me/%s-100", name);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	snprintf(next, sizeof next, "%s-100", name);
	assert_string_equal(own.name, next);
}

/* Some runtimes look for limits in their own folder only. */
static void below_a_limit_it_is_not_made_by_itself(void **state)
{
	(void)state;
	put_below(GROUPS "user/memory.max", "max\n");
	put_below(GROUPS "user/me/cpu.max", "max 100000\n");
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	own_cgroup_remove(&own, &lone.root, false);
	put_text(GROUPS "user/memory.max", "1048576\n");
	assert_int_equal(make(OWN_CGROUP_AUTO), -EBUSY);
	assert_int_equal(own.parent, -1);
	assert_int_equal(make(OWN_CGROUP_REQUIRE), 0);
	own_cgroup_remove(&own, &lone.root, false);
	put_text(GROUPS "user/memory.max", "max\n");
	put_text(GROUPS "user/me/cpu.max", "50000 100000\n");
	assert_int_equal(make(OWN_CGROUP_AUTO), -EBUSY);
	assert_false(is_there(name));
}

static void without_a_hierarchy_it_is_not_supported(void **state)
{
	(void)state;
	assert_int_equal(make(OWN_CGROUP_OFF), -EOPNOTSUPP);
	lone.root.live = false;
	assert_int_equal(make(OWN_CGROUP_REQUIRE), -EOPNOTSUPP);
	lone.root.live = true;
	put_text("proc/self/mountinfo", "1 0 8:0 / / rw - ext4 /dev/sda rw\n");
	assert_int_equal(make(OWN_CGROUP_REQUIRE), -EOPNOTSUPP);
	lone.now_ns += NSEC_PER_SEC;
	remove("proc/self/cgroup");
	assert_int_equal(make(OWN_CGROUP_REQUIRE), -ENOENT);
}

/* The tracker's own group is read again after 50 ms. */
static void its_own_group_is_remembered_for_a_moment(void **state)
{
	(void)state;
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	own_cgroup_remove(&own, &lone.root, false);
	put_text("proc/self/cgroup", "0::/gone\n");
	lone.now_ns += 50 * NSEC_PER_MSEC - 1;
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	assert_true(is_there(name));
	own_cgroup_remove(&own, &lone.root, false);
	lone.now_ns++;
	(void)make(OWN_CGROUP_AUTO);
	assert_false(is_there(name));
}

/* The kernel refuses to remove a group with processes (EBUSY). They go back to where the job would have been. */
static void only_a_busy_group_is_emptied(void **state)
{
	char path[200];

	(void)state;
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	snprintf(path, sizeof path, GROUPS "user/me/%s/cgroup.procs", name);
	put_text(path, "4711\n");
	/* An ordinary folder answers ENOTEMPTY, and no process is moved then. */
	own_cgroup_remove(&own, &lone.root, false);
	assert_file_text(GROUPS "user/me/cgroup.procs", "");
	assert_int_equal(own.folder, -1);
}

/* One that lives may be about to use its group. */
static void groups_of_trackers_that_were_killed_are_swept(void **state)
{
	char gone[80], living[80], path[200];
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(gone, sizeof gone, "resource-tracker-%d-2", (int)pid);
	snprintf(living, sizeof living, "resource-tracker-%d", (int)getppid());
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof path, GROUPS "user/me/%s",
			 (const char *[]){gone, living, "resource-tracker-0", "other-1",
					  "resource-tracker-99999999999"}[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	own_cgroup_remove(&own, &lone.root, false);
	assert_true(is_there(gone));
	assert_int_equal(make(OWN_CGROUP_AUTO), 0);
	own_cgroup_remove(&own, &lone.root, true);
	assert_false(is_there(gone));
	assert_true(is_there("other-1"));
	assert_true(is_there("resource-tracker-0"));
	assert_true(is_there("resource-tracker-99999999999"));
	if (getppid() > 0)
		assert_true(is_there(living));
}

#define group_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		group_test(it_is_made_beside_the_tracker_and_removed),
		group_test(a_group_that_is_required_gets_its_controllers),
		group_test(a_name_that_is_taken_is_left_to_others),
		group_test(below_a_limit_it_is_not_made_by_itself),
		group_test(without_a_hierarchy_it_is_not_supported),
		group_test(its_own_group_is_remembered_for_a_moment),
		group_test(only_a_busy_group_is_emptied),
		group_test(groups_of_trackers_that_were_killed_are_swept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
