/* Tests of src/launch/find_program.c: which of several places a sister program is taken from. */
#include "scratch.h"

#include <errno.h>

#include "launch/find_program.h"

static char found[PATH_MAX];

static void put_program(const char *path, mode_t mode)
{
	put_text(path, "#!/bin/sh\n");
	assert_int_equal(chmod(path, mode), 0);
}

static void a_program_is_on_the_path_if_it_can_be_run(void **state)
{
	(void)state;
	assert_int_equal(mkdir("bin", 0700), 0);
	assert_int_equal(mkdir("bin/folder", 0700), 0);
	put_program("bin/tool", 0700);
	put_program("bin/text", 0600);
	put_program("here", 0700);
	setenv("PATH", "missing:bin", 1);
	assert_true(is_on_path("tool"));
	assert_false(is_on_path("text"));
	assert_false(is_on_path("folder"));
	assert_false(is_on_path("here"));
	/* An empty part stands for the current folder. */
	setenv("PATH", "missing::bin", 1);
	assert_true(is_on_path("here"));
	assert_true(is_on_path("tool"));
	setenv("PATH", "", 1);
	assert_false(is_on_path("here"));
}

static void the_variable_comes_first_and_the_installation_last(void **state)
{
	static const char *const NOWHERE[] = {"no-such-folder/", NULL}, *const BESIDE[] = {"no-such-folder/",
											   "", NULL};
	const struct sister_program near = {"unit-launch", NULL, BESIDE, "/no-such-folder"},
				    given = {"unit-launch", "UNIT_LAUNCH", BESIDE, "/no-such-folder"},
				    installed = {"tool", NULL, NOWHERE, scratch_folder},
				    missing = {"gone", NULL, BESIDE, scratch_folder};
	char path[PATH_MAX];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF(); /* the emulator is at another place */
	put_program("tool", 0700);
	put_program("text", 0600);
	assert_int_equal(find_sister_program(&near, found), 0);
	assert_string_equal(strrchr(found, '/'), "/unit-launch");
	unsetenv("UNIT_LAUNCH");
	assert_int_equal(find_sister_program(&given, found), 0);
	setenv("UNIT_LAUNCH", "tool", 1);
	assert_int_equal(find_sister_program(&given, found), 0);
	assert_string_equal(found, "tool");
	setenv("UNIT_LAUNCH", "text", 1);
	assert_int_equal(find_sister_program(&given, found), -ENOENT);
	assert_string_equal(found, "tool");
	assert_int_equal(find_sister_program(&installed, found), 0);
	snprintf(path, sizeof path, "%s/tool", scratch_folder);
	assert_string_equal(found, path);
	assert_int_equal(find_sister_program(&missing, found), -ENOENT);
}

/* ---- beside the running binary ----------------------------------------------------------------------------------- */

enum { STRANGER = 12345 }; /* a user, and a group */

static const char *const BESIDE_OR_LIBEXEC[] = {"", "../libexec/", NULL};
static const struct sister_program SISTER = {"unit-sister", NULL, BESIDE_OR_LIBEXEC, "/no-such-folder"};

/* In bin/finder, a copy of this program. */
static int tell_sister(void)
{
	const char *user = getenv("UNIT_TELL_AS");

	if (user && setuid((uid_t)atoi(user)) < 0)
		return 1;
	puts(find_sister_program(&SISTER, found) == 0 ? found : "none");
	return 0;
}

static void assert_finds(const char *wanted)
{
	char told[PATH_MAX + 1] = "", path[PATH_MAX + 1] = "none\n";
	FILE *finder;

	assert_int_equal(setenv("UNIT_TELL_SISTER", "1", 1), 0);
	finder = popen("bin/finder find_program", "r");
	assert_non_null(finder);
	assert_non_null(fgets(told, sizeof told, finder));
	assert_int_equal(pclose(finder), 0);
	assert_int_equal(unsetenv("UNIT_TELL_SISTER"), 0);
	if (wanted)
		snprintf(path, sizeof path, "%s/%s\n", scratch_folder, wanted);
	assert_string_equal(told, path);
}

static int begin_finder(void **state)
{
	size_t length;
	char *program;

	if (scratch_enter(state) < 0 || mkdir("bin", 0700) < 0 || mkdir("libexec", 0700) < 0)
		return -1;
	if (getenv("TEST_UNDER"))
		return 0;
	program = get_file("/proc/self/exe", &length);
	put_file("bin/finder", program, length);
	free(program);
	return chmod("bin/finder", 0700);
}

static bool is_given_to(const char *path, uid_t user, gid_t group)
{
	return chown(path, user, group) == 0;
}

static void the_nearest_program_that_can_be_run_is_found(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_finds(NULL);
	put_program("libexec/unit-sister", 0700);
	assert_finds("bin/../libexec/unit-sister");
	put_program("bin/unit-sister", 0700);
	assert_finds("bin/unit-sister");
	assert_int_equal(chmod("bin/unit-sister", 0600), 0);
	assert_finds("bin/../libexec/unit-sister");
	assert_int_equal(unlink("bin/unit-sister"), 0);
	assert_int_equal(symlink("../libexec/unit-sister", "bin/unit-sister"), 0);
	assert_finds("bin/unit-sister");
	assert_int_equal(unlink("bin/unit-sister"), 0);
	assert_int_equal(mkdir("bin/unit-sister", 0700), 0);
	assert_finds("bin/../libexec/unit-sister");
}

/* Users who may write to the binary can do as much harm there. */
static void a_program_that_more_users_may_write_to_is_not_run(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_program("bin/unit-sister", 0702);
	assert_finds(NULL);
	assert_int_equal(chmod("bin/finder", 0702), 0);
	assert_finds("bin/unit-sister");
	assert_int_equal(chmod("bin/finder", 0700), 0);
	assert_int_equal(chmod("bin/unit-sister", 0720), 0);
	if (geteuid() == 0) {
		/* The group of root may do all. */
		assert_true(is_given_to("bin/unit-sister", 0, 0));
		assert_finds("bin/unit-sister");
		if (!is_given_to("bin/unit-sister", 0, STRANGER) || !is_given_to("bin/finder", 0, STRANGER))
			SKIP("there is no other group here");
	}
	assert_finds(NULL);
	assert_int_equal(chmod("bin/finder", 0720), 0);
	assert_finds("bin/unit-sister");
	if (geteuid() == 0) {
		assert_true(is_given_to("bin/finder", 0, 0));
		assert_finds(NULL);
	}
}

/* Another user can put a second name of any file there, but owns no file of others. */
static void a_second_name_in_a_shared_folder_is_not_run(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_program("bin/unit-sister", 0700);
	assert_int_equal(link("bin/unit-sister", "second"), 0);
	assert_finds("bin/unit-sister");
	assert_int_equal(chmod("bin", 0702), 0);
	assert_finds(NULL);
	assert_int_equal(unlink("second"), 0);
	assert_finds("bin/unit-sister");
	/* On the way to another folder, each one could be exchanged in a shared one. */
	assert_int_equal(rename("bin/unit-sister", "libexec/unit-sister"), 0);
	assert_int_equal(link("libexec/unit-sister", "second"), 0);
	assert_finds("bin/../libexec/unit-sister");
	assert_int_equal(chmod("libexec", 0702), 0);
	assert_finds(NULL);
	assert_int_equal(chmod("libexec", 0700), 0);
	assert_int_equal(chmod(".", 0702), 0);
	assert_finds(NULL);
	assert_int_equal(chmod(".", 0700), 0);
	assert_finds("bin/../libexec/unit-sister");
}

static void a_program_of_a_stranger_is_not_run(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_program("bin/unit-sister", 0700);
	if (geteuid() != 0 || !is_given_to("bin/unit-sister", STRANGER, 0))
		SKIP("only root may give a file to another user");
	assert_finds(NULL);
	/* The owner of the binary may exchange that itself. */
	assert_true(is_given_to("bin/finder", STRANGER, 0));
	assert_finds("bin/unit-sister");
	assert_true(is_given_to("bin/unit-sister", 0, 0));
	assert_finds("bin/unit-sister");
	assert_true(is_given_to("bin/finder", 0, 0));
	/* A folder of a stranger is as shared as one that everyone may write to. */
	assert_true(is_given_to("bin", STRANGER, 0));
	assert_finds("bin/unit-sister");
	assert_int_equal(link("bin/unit-sister", "second"), 0);
	assert_finds(NULL);
	assert_true(is_given_to("bin", 0, 0));
	assert_finds("bin/unit-sister");
	/* So is a link of a stranger to a file of ours. */
	assert_int_equal(rename("bin/unit-sister", "libexec/other"), 0);
	assert_int_equal(symlink("../libexec/other", "bin/unit-sister"), 0);
	assert_finds("bin/unit-sister");
	assert_int_equal(lchown("bin/unit-sister", STRANGER, 0), 0);
	assert_finds(NULL);
}

/* Also beside a binary of another user. */
static void a_user_runs_programs_of_root_and_of_their_own(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_program("bin/unit-sister", 0755);
	if (geteuid() != 0 || !is_given_to("bin/finder", STRANGER, 0))
		SKIP("only root may give a file to another user");
	assert_int_equal(chmod(".", 0755) | chmod("bin", 0755) | chmod("bin/finder", 0755), 0);
	assert_int_equal(setenv("UNIT_TELL_AS", "12346", 1), 0);
	assert_finds("bin/unit-sister");
	assert_true(is_given_to("bin/unit-sister", STRANGER + 1, 0));
	assert_finds("bin/unit-sister");
	assert_true(is_given_to("bin/unit-sister", STRANGER + 2, 0));
	assert_finds(NULL);
	assert_int_equal(unsetenv("UNIT_TELL_AS"), 0);
	/* Root runs none of theirs. */
	assert_true(is_given_to("bin/unit-sister", STRANGER + 1, 0));
	assert_finds(NULL);
}

#define finder_test(test) cmocka_unit_test_setup_teardown(test, begin_finder, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		finder_test(the_nearest_program_that_can_be_run_is_found),
		finder_test(a_program_that_more_users_may_write_to_is_not_run),
		finder_test(a_second_name_in_a_shared_folder_is_not_run),
		finder_test(a_program_of_a_stranger_is_not_run),
		finder_test(a_user_runs_programs_of_root_and_of_their_own),
		unit_test_in_scratch(a_program_is_on_the_path_if_it_can_be_run),
		unit_test_in_scratch(the_variable_comes_first_and_the_installation_last),
	};

	if (getenv("UNIT_TELL_SISTER"))
		return tell_sister();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
