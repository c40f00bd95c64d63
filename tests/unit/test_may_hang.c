/* Tests of src/kernel/may_hang.c, with a file system of FUSE that has no server: each look at it waits for ever. */
#include "served_folder.h"

#include <time.h>

static void expect(const char *path, bool may_hang)
{
	if (path_may_hang(path) == may_hang)
		return;
	fprintf(stderr, "%s\n", path);
	_exit(1);
}

static void follow_paths(void)
{
	static const struct {
		const char *path;
		bool may_hang;
	} CASES[] = {
		{"served", true},
		{"./served", true},
		{"served/", true},
		{"served/file", true},
		{"plain/../served/file", true},
		{"plain/in/../../served", true},
		{"plain//..//served", true},
		{"link", true},
		{"link/x", true},
		{"plain/up", true},
		{"chain", true},
		{"served2", false}, /* only begins like it */
		{"serve", false},
		{"plain", false},
		{"plain/in/file", false},
		{"plain/served", false},
		{"no/such/folder", false},
		{"loop", false},
		{"loop/served", false},
		{"", false},
		{"/", false},
		{"../../../..", false},
	};
	char whole[300];

	if (symlink("served", "link") < 0 || symlink("../served/deep", "plain/up") < 0 ||
	    symlink("plain/up", "chain") < 0 || symlink("loop", "loop") < 0 || mkdir("served2", 0755) < 0)
		_exit(2);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		expect(CASES[i].path, CASES[i].may_hang);
		if (!*CASES[i].path || *CASES[i].path == '/')
			continue;
		snprintf(whole, sizeof whole, "%s/%s", scratch_folder, CASES[i].path);
		expect(whole, CASES[i].may_hang);
	}
	/* A link with a whole path. */
	snprintf(whole, sizeof whole, "%s/served/file", scratch_folder);
	if (symlink(whole, "absolute") < 0)
		_exit(3);
	expect("absolute", true);
	/* From a folder below: only what the path leads to counts. */
	if (chdir("plain/in") < 0)
		_exit(4);
	expect("../../served", true);
	expect("../..", false);
	expect("..", false);
	expect("../up", true);
}

static void paths_are_followed_without_touching(void **state)
{
	(void)state;
	with_served_folder(follow_paths);
}

static void remember_the_hung_one(void)
{
	if (path_hangs_now("served/a"))
		_exit(5);
	path_has_hung("plain");
	if (path_hangs_now("plain") || path_hangs_now("served/a"))
		_exit(6);
	path_has_hung("served/a");
	path_has_hung("served/a");
	if (!path_hangs_now("served/b") || path_hangs_now("plain"))
		_exit(7);
	nanosleep(&(struct timespec){1, 10000000}, NULL);
	/* After a second it is tried again. */
	if (path_hangs_now("served/b"))
		_exit(8);
}

static void a_hung_file_system_is_remembered_for_a_second(void **state)
{
	(void)state;
	with_served_folder(remember_the_hung_one);
}

/* The table of mounts is a second old at most, and a job's mounts are seen at once. */
static void see_new_mounts(void)
{
	if (umount2("served", MNT_DETACH) < 0)
		_exit(9);
	paths_look_again();
	expect("served", false);
	if (mount_served("plain") < 0)
		_exit(10);
	paths_look_again();
	expect("plain/in", true);
	/* A newer mount of the kernel's own hides it. */
	if (mount("none", "plain", "tmpfs", 0, "size=64k") < 0)
		_exit(11);
	paths_look_again();
	expect("plain/in", false);
	/* The folder that we are in. */
	if (mkdir("plain/folder", 0755) < 0 || chdir("plain/folder") < 0)
		_exit(12);
	expect("x", false);
	if (mount_served("..") < 0)
		_exit(13);
	paths_look_again();
	nanosleep(&(struct timespec){1, 10000000}, NULL);
	expect("x", true);
}

static void mounts_come_and_go(void **state)
{
	(void)state;
	with_served_folder(see_new_mounts);
}

/* More than 40 links, as with the kernel, and paths that are too long. */
static void follow_many_links(void)
{
	char name[16], target[16], path[4200] = "";

	if (symlink("served", "l1") < 0)
		_exit(20);
	for (int i = 2; i <= 42; i++) {
		snprintf(name, sizeof name, "l%d", i);
		snprintf(target, sizeof target, "l%d", i - 1);
		if (symlink(target, name) < 0)
			_exit(21);
	}
	expect("l40", true);
	expect("l41", false);
	/* A path of 4,095 bytes is followed, and a longer one belongs to no file. */
	while (strlen(path) < 4089)
		strcat(path, "/");
	memcpy(path, "plain/..", 8);
	memcpy(path + 4089, "served", 7);
	expect(path, true);
	memcpy(path + 4089, "/served", 8);
	expect(path, false);
}

static void links_and_paths_have_their_most(void **state)
{
	(void)state;
	with_served_folder(follow_many_links);
}

/* One dot and two dots are steps. Names with more of them, or with other characters, are names. */
static void follow_dots(void)
{
	static const char *const NAMES[] = {"...", ".x", "x.", "..x", "x..", "a"};
	char path[100];

	for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
		if (mkdir(NAMES[i], 0700) < 0)
			_exit(22);
		snprintf(path, sizeof path, "%s/../served/x", NAMES[i]);
		expect(path, true);
		snprintf(path, sizeof path, "%s/served", NAMES[i]);
		expect(path, false);
		snprintf(path, sizeof path, "plain/%s/../../served", NAMES[i]);
		expect(path, true);
	}
	expect("./././served", true);
	expect("plain/./../served", true);
	expect("/../..", false);
}

static void dots_are_steps_only_by_themselves(void **state)
{
	(void)state;
	with_served_folder(follow_dots);
}

/* The table of mounts is read anew after a second at the latest. */
static void see_mounts_after_a_second(void)
{
	expect("plain/in", false);
	if (mount_served("plain") < 0)
		_exit(23);
	nanosleep(&(struct timespec){1, 10000000}, NULL);
	expect("plain/in", true);
}

static void a_new_mount_is_seen_after_a_second(void **state)
{
	(void)state;
	with_served_folder(see_mounts_after_a_second);
}

/* The folder that the process is in may be the root. */
static void follow_from_the_root(void)
{
	char path[200];

	if (chdir("/") < 0)
		_exit(24);
	snprintf(path, sizeof path, "%s/served/x", scratch_folder + 1);
	expect(path, true);
	snprintf(path, sizeof path, "../%s/served", scratch_folder + 1);
	expect(path, true);
	expect("served", false);
	expect(".", false);
}

static void paths_begin_in_the_root_as_well(void **state)
{
	(void)state;
	with_served_folder(follow_from_the_root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(paths_are_followed_without_touching),
		unit_test_in_scratch(a_hung_file_system_is_remembered_for_a_second),
		unit_test_in_scratch(mounts_come_and_go),
		unit_test_in_scratch(links_and_paths_have_their_most),
		unit_test_in_scratch(dots_are_steps_only_by_themselves),
		unit_test_in_scratch(a_new_mount_is_seen_after_a_second),
		unit_test_in_scratch(paths_begin_in_the_root_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
