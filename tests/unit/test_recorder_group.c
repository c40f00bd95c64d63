/* Tests of src/slurm/recorder_group.c with files that stand for those of slurmstepd. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <sys/wait.h>

#include "slurm/recorder_group.h"

static void put_process(const char *groups, const char *first_mount)
{
	char text[3 * PATH_MAX];

	put_text("cgroup", groups);
	snprintf(text, sizeof text, "%s\nother %s/none cgroup2 rw 0 0\n", first_mount, scratch_folder);
	put_text("mounts", text);
}

/* A mount of version 2 at this folder. */
static void put_groups(const char *groups)
{
	char mount[PATH_MAX];

	snprintf(mount, sizeof mount, "sys /sys sysfs rw 0 0\ncgroup %s cgroup2 rw 0 0", scratch_folder);
	put_process(groups, mount);
}

/* The bytes that the recorder would write are in the file of this group. */
static void expect_group(const char *folder)
{
	char path[PATH_MAX];
	int fd, free_number;

	/* The kernel makes the file with the folder. */
	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	assert_int_equal(open_recorder_group("."), -ENOENT);
	put_text(path, "");
	/* No file of the first search is open any more. */
	free_number = dup(STDERR_FILENO);
	assert_int_equal(close(free_number), 0);
	fd = open_recorder_group(".");
	assert_int_equal(fd, free_number);
	assert_int_equal(write(fd, "0", 1), 1);
	assert_int_equal(close(fd), 0);
	assert_file_text(path, "0");
}

static void the_group_is_beside_all_jobs(void **state)
{
	struct stat status;
	mode_t mask = umask(022);

	(void)state;
	assert_int_equal(mkdir("scope", 0755), 0);
	put_groups("0::/scope/job_7/step_0/slurm\n");
	expect_group("scope/resource-tracker");
	assert_int_equal(stat("scope/resource-tracker", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0755);
	umask(mask);
	/* The last step in the path counts. Those of version 1 come before the line. */
	assert_int_equal(mkdir("step_0", 0755), 0);
	put_groups("4:memory:/slurm/uid_0/job_7/step_0\n0::/step_0/job_7/step_batch/slurm\n");
	expect_group("step_0/resource-tracker");
}

static void without_a_group_of_a_step_there_is_none(void **state)
{
	static const char *const GROUPS[] = {
		"",
		"0::/\n",
		"0::/scope/slurmd\n",
		"0::/step_0\n",
		"4:memory:/slurm/job_7/step_0\n",
		"10::/scope/job_7/step_0\n",
	};

	(void)state;
	assert_int_equal(open_recorder_group("."), -ENOENT);
	assert_int_equal(mkdir("scope", 0755), 0);
	for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
		put_groups(GROUPS[i]);
		assert_int_equal(open_recorder_group("."), -ENOENT);
		assert_int_equal(access("scope/resource-tracker", F_OK), -1);
		assert_int_equal(access("resource-tracker", F_OK), -1);
	}
}

/* Nothing after 16383 bytes counts: a task has 300 at most. */
static void the_file_of_groups_is_read_up_to_its_most(void **state)
{
	static const char END[] = "\n0::/scope/job_7/step_";
	char groups[16384 + 1];

	(void)state;
	assert_int_equal(mkdir("scope", 0755), 0);
	for (int more = 0; more < 2; more++) {
		int length = 16383 + more - (int)strlen(END);

		snprintf(groups, sizeof groups, "%0*d%s", length, 0, END);
		put_groups(groups);
		assert_int_equal(open_recorder_group("."), -ENOENT);
		assert_int_equal(rmdir("scope/resource-tracker"), more ? -1 : 0);
	}
}

static void without_a_mount_of_version_2_the_reason_is_told(void **state)
{
	char mount[2 * PATH_MAX];
	size_t length;

	(void)state;
	put_text("cgroup", "0::/scope/job_7/step_0/slurm\n");
	assert_int_equal(open_recorder_group("."), -ENOTDIR);
	put_text("mounts", "cgroup /sys/fs/cgroup cgroup rw 0 0\n");
	assert_int_equal(open_recorder_group("."), -ENOTDIR);
	/* The longest path that there is, and one byte more, which is cut nowhere. */
	length = PATH_MAX - strlen("/scope/resource-tracker");
	for (size_t more = 0; more < 2; more++) {
		int used = snprintf(mount, sizeof mount, "cgroup /%0*d cgroup2 rw 0 0\n",
				    (int)(length - 2 + more), 0);

		assert_true(used > 0);
		put_text("mounts", mount);
		assert_int_equal(open_recorder_group("."), more ? -ENOTDIR : -ENAMETOOLONG);
	}
	/* The folder of all jobs is gone. */
	put_groups("0::/scope/job_7/step_0/slurm\n");
	assert_int_equal(open_recorder_group("."), -ENOENT);
	put_text("scope", "");
	assert_int_equal(open_recorder_group("."), -ENOTDIR);
}

/* Not the later error of a file below it. */
static void a_group_that_cannot_be_made_is_told_by_its_own_error(void **state)
{
	pid_t child;
	int status;

	(void)state;
	put_groups("0::/scope/job_7/step_0\n");
	assert_int_equal(
		mkdir("scope", 0555) | chmod(".", 0755) | chmod("cgroup", 0644) | chmod("mounts", 0644), 0);
	child = fork();
	if (child == 0) {
		if (!geteuid() && setuid(65534) < 0)
			_exit(2);
		_exit(open_recorder_group(".") == -EACCES ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 2)
		SKIP("this user is the only one that there is");
	assert_int_equal(status, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_group_is_beside_all_jobs),
		unit_test_in_scratch(without_a_group_of_a_step_there_is_none),
		unit_test_in_scratch(a_group_that_cannot_be_made_is_told_by_its_own_error),
		unit_test_in_scratch(the_file_of_groups_is_read_up_to_its_most),
		unit_test_in_scratch(without_a_mount_of_version_2_the_reason_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
