/* Tests of src/sink/spool_folder.c: where samples wait, and folders that others control. */
#include "scratch.h"

#include <errno.h>

#include "sink/spool_folder.h"

static char root[300];

static int enter(void **state)
{
	if (scratch_enter(state) < 0)
		return -1;
	snprintf(root, sizeof root, "%s", scratch_folder);
	umask(022);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	unsetenv("TMPDIR");
	return 0;
}

static const char *below(const char *path)
{
	static char whole[600];

	snprintf(whole, sizeof whole, "%s/%s", root, path);
	return whole;
}

static void assert_made(const char *given, const char *wanted)
{
	char *path = NULL;

	assert_int_equal(spool_folder_make(given, &path), 0);
	assert_string_equal(path, wanted);
	free(path);
}

static unsigned mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISDIR(status.st_mode));
	return status.st_mode & 07777;
}

static void a_folder_that_is_given_is_made_for_us_alone(void **state)
{
	char *path = NULL;

	(void)state;
	assert_made("a/b/c", "a/b/c");
	assert_int_equal(mode_of("a"), 0700);
	assert_int_equal(mode_of("a/b/c"), 0700);
	assert_made("a/b/c", "a/b/c");
	put_text("file", "");
	assert_int_equal(spool_folder_make("file/x", &path), -ENOTDIR);
	assert_null(path);
}

/* Each place is used if the ones before it are absent, not whole paths, or cannot be had. */
static void places_follow_each_other(void **state)
{
	char wanted[400], *path = NULL;

	(void)state;
	setenv("TMPDIR", below("missing"), 1);
	assert_int_equal(spool_folder_make(NULL, &path), -ENOENT);
	assert_null(path);
	setenv("TMPDIR", root, 1);
	snprintf(wanted, sizeof wanted, "%s/resource-tracker-%u/spool", root, (unsigned)geteuid());
	assert_made(NULL, wanted);
	assert_int_equal(mode_of(wanted), 0700);
	snprintf(wanted, sizeof wanted, "resource-tracker-%u", (unsigned)geteuid());
	assert_int_equal(mode_of(below(wanted)), 0700);
	setenv("HOME", below("home"), 1);
	assert_made(NULL, below("home/.local/state/resource-tracker/spool"));
	setenv("XDG_STATE_HOME", "relative", 1);
	assert_made(NULL, below("home/.local/state/resource-tracker/spool"));
	setenv("XDG_STATE_HOME", below("state"), 1);
	snprintf(wanted, sizeof wanted, "%s", below("state//resource-tracker/spool"));
	assert_made(NULL, wanted);
	put_text("file", "");
	setenv("XDG_STATE_HOME", below("file"), 1);
	assert_made(NULL, below("home/.local/state/resource-tracker/spool"));
	setenv("HOME", "relative", 1);
	snprintf(wanted, sizeof wanted, "%s/resource-tracker-%u/spool", root, (unsigned)geteuid());
	assert_made(NULL, wanted);
}

static int make_temporary_with(unsigned mode)
{
	char own[400], *path = NULL;
	int r;

	snprintf(own, sizeof own, "%s/resource-tracker-%u", root, (unsigned)geteuid());
	setenv("TMPDIR", root, 1);
	assert_int_equal(chmod(own, mode), 0);
	r = spool_folder_make(NULL, &path);
	free(path);
	return r;
}

/* In a folder for all users, another one may have made the name first. */
static void folders_that_others_may_change_are_refused(void **state)
{
	char own[400], spool[420], *path = NULL;

	(void)state;
	snprintf(own, sizeof own, "%s/resource-tracker-%u", root, (unsigned)geteuid());
	snprintf(spool, sizeof spool, "%s/spool", own);
	assert_int_equal(mkdir(own, 0700), 0);
	assert_int_equal(make_temporary_with(0755), 0);
	assert_int_equal(make_temporary_with(0775), -EPERM);
	assert_int_equal(make_temporary_with(0757), -EPERM);
	/* The folder in it. */
	assert_int_equal(chmod(spool, 0777), 0);
	assert_int_equal(make_temporary_with(0700), -EPERM);
	assert_int_equal(chmod(spool, 0700), 0);
	assert_int_equal(make_temporary_with(0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(own, 4321, 4321), 0);
		assert_int_equal(make_temporary_with(0700), -EPERM);
		assert_int_equal(chown(own, 0, 0), 0);
	}
	/* A link, and a file, in its place. */
	assert_int_equal(rename(own, below("elsewhere")), 0);
	assert_int_equal(symlink("elsewhere", own), 0);
	assert_int_equal(spool_folder_make(NULL, &path), -EPERM);
	assert_int_equal(unlink(own), 0);
	put_text(own, "");
	assert_int_equal(spool_folder_make(NULL, &path), -EPERM);
	assert_null(path);
}

/* A folder that is given has to be one, and of this user, as the follower demands. */
static void a_given_folder_of_another_kind_or_user_is_refused(void **state)
{
	char *path = NULL;

	(void)state;
	put_text("file", "");
	assert_int_equal(mkfifo(below("fifo"), 0777), 0);
	assert_int_equal(spool_folder_make(below("file"), &path), -ENOTDIR);
	assert_int_equal(spool_folder_make(below("fifo"), &path), -ENOTDIR);
	assert_int_equal(spool_folder_make("/dev/full", &path), -ENOTDIR);
	assert_int_equal(spool_folder_make(below("file/spool"), &path), -ENOTDIR);
	assert_string_equal(spool_folder_fault(-ENOTDIR), "it is not a folder, or not in one");
	if (geteuid() == 0) {
		assert_int_equal(mkdir(below("theirs"), 0700), 0);
		assert_int_equal(chmod(below("theirs"), 0777), 0);
		assert_int_equal(chmod(root, 0755), 0);
		assert_int_equal(seteuid(65534), 0);
		assert_int_equal(spool_folder_make(below("theirs"), &path), -EPERM);
		assert_int_equal(seteuid(0), 0);
		assert_string_equal(spool_folder_fault(-EPERM), "another user owns it or may write to it");
	}
	assert_null(path);
	assert_string_equal(spool_folder_fault(-ENOSPC), "No space left on device");
}

/* The folders below the home are judged, and the home itself is not. */
static void appended_folders_must_be_ours(void **state)
{
	(void)state;
	setenv("HOME", root, 1);
	setenv("TMPDIR", below("tmp"), 1);
	assert_int_equal(mkdir(below("tmp"), 0700), 0);
	assert_int_equal(chmod(root, 0777), 0);
	assert_made(NULL, below(".local/state/resource-tracker/spool"));
	assert_int_equal(chmod(below(".local/state/resource-tracker"), 0777), 0);
	/* The next place. */
	setenv("TMPDIR", below("tmp"), 1);
	{
		char *path = NULL;

		assert_int_equal(spool_folder_make(NULL, &path), 0);
		assert_memory_equal(path, below("tmp/resource-tracker-"),
				    strlen(below("tmp/resource-tracker-")));
		free(path);
	}
}

UNIT_TESTS
{
#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, enter, scratch_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOT(a_folder_that_is_given_is_made_for_us_alone),
		IN_ROOT(places_follow_each_other),
		IN_ROOT(folders_that_others_may_change_are_refused),
		IN_ROOT(a_given_folder_of_another_kind_or_user_is_refused),
		IN_ROOT(appended_folders_must_be_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
