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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_program_is_on_the_path_if_it_can_be_run),
		unit_test_in_scratch(the_variable_comes_first_and_the_installation_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
