/* Tests of src/kernel/figures_from.c and src/kernel/in_container.c: signs that a machine is not the kernel's own. */
#include "scratch.h"

#include "kernel/figures_from.h"
#include "kernel/in_container.h"

static struct root root;

static void put_mounts(const char *lines)
{
	put_below("proc/self/mountinfo", lines);
}

/* A machine of its own: files of /sys, a counter in /proc/stat and one mount. */
static int begin(void **state)
{
	if (scratch_enter(state) < 0)
		return -1;
	put_below("proc/version", "Linux version 6.1.0 (builder@debian) #1 SMP\n");
	put_below("proc/stat", "cpu  0 0 0 5 0 0 0 0 0 0\ncpu0 0 0 0 5 0 0 0 0 0 0\n");
	put_below("sys/class/net/lo/mtu", "65536\n");
	put_mounts("21 1 0:20 / /proc rw - proc proc rw\n");
	return root_open(&root, ".", NULL);
}

static int end(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

static void assert_from(const char *wanted)
{
	char text[64] = "before";

	read_figures_from(&root, text, sizeof text);
	assert_string_equal(text, wanted);
}

static void without_a_sign_the_figures_are_the_kernels(void **state)
{
	(void)state;
	assert_from("kernel");
	/* WSL 2 has a kernel of its own. */
	put_text("proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2\n");
	assert_from("kernel");
}

static void makers_of_system_calls_are_told_by_their_version(void **state)
{
	(void)state;
	put_text("proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
	assert_from("gvisor");
	put_text("proc/version", "Linux version 4.19.0-gvisor #1\n");
	assert_from("gvisor");
	put_text("proc/version", "Linux version 4.4.0-19041-Microsoft\n");
	assert_from("wsl1");
}

static void a_file_system_over_files_of_proc_is_told_by_its_source(void **state)
{
	(void)state;
	put_mounts("21 1 0:20 / /proc rw - proc proc rw\n"
		   "40 21 0:52 /proc/meminfo /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs rw\n");
	assert_from("lxcfs");
	/* Another place, and another kind. */
	put_mounts("40 1 0:52 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw\n"
		   "41 21 0:53 / /proc/sys rw - tmpfs tmpfs rw\n");
	assert_from("kernel");
}

static void any_folder_of_sys_will_do(void **state)
{
	(void)state;
	assert_int_equal(rename("sys/class", "sys/devices"), 0);
	assert_from("kernel");
	assert_int_equal(rename("sys/devices", "sys/fs"), 0);
	assert_from("kernel");
	assert_int_equal(rename("sys/fs", "sys/kernel"), 0);
	assert_from("no-sys");
}

static void one_counter_of_time_will_do(void **state)
{
	(void)state;
	put_text("proc/stat", "cpu  1 0 0 0 0 0 0 0 0 0\n");
	assert_from("kernel");
	put_text("proc/stat", "cpu  0 0 1 0 0 0 0 0 0 0\n");
	assert_from("kernel");
	put_text("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
	assert_from("no-proc-stat");
	unlink("proc/stat");
	assert_from("no-proc-stat");
}

static void all_signs_are_told_together(void **state)
{
	char text[64], narrow[12];

	(void)state;
	put_text("proc/version", "Linux version 4.4.0 gvisor\n");
	put_mounts("40 21 0:52 / /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw\n");
	assert_int_equal(rename("sys", "system"), 0);
	unlink("proc/stat");
	read_figures_from(&root, text, sizeof text);
	assert_string_equal(text, "gvisor+lxcfs+no-sys+no-proc-stat");
	read_figures_from(&root, narrow, sizeof narrow);
	assert_string_equal(narrow, "gvisor+lxcf");
}

/* ---- in a container ---------------------------------------------------------------------------------------------- */

static void the_namespace_of_pids_decides_if_it_is_known(void **state)
{
	(void)state;
	mkdir("proc/self/ns", 0755);
	assert_int_equal(symlink("pid:[4026531836]", "proc/self/ns/pid"), 0);
	put_text(".dockerenv", "");
	assert_false(root_is_in_container(&root));
	unlink("proc/self/ns/pid");
	assert_int_equal(symlink("pid:[4026532177]", "proc/self/ns/pid"), 0);
	unlink(".dockerenv");
	assert_true(root_is_in_container(&root));
}

static void else_each_sign_alone_tells_a_container(void **state)
{
	static const char *const FILES[] = {".dockerenv", "run/.containerenv", "run/systemd/container"};

	(void)state;
	assert_false(root_is_in_container(&root));
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
		put_below(FILES[i], "");
		assert_true(root_is_in_container(&root));
		unlink(FILES[i]);
		assert_false(root_is_in_container(&root));
	}
	put_below("proc/1/cgroup", "3:cpu:/\n1:name=systemd:/init.scope\n0::/init.scope\n");
	assert_false(root_is_in_container(&root));
	put_text("proc/1/cgroup", "3:cpu:/\n8:pids:/docker/7f3a\n");
	assert_true(root_is_in_container(&root));
	unlink("proc/1/cgroup");
	put_mounts("40 21 0:52 / /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs rw\n");
	assert_true(root_is_in_container(&root));
	put_mounts("1 0 0:41 / / rw - overlay overlay rw\n");
	assert_true(root_is_in_container(&root));
	put_mounts("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:41 / /mnt rw - overlay overlay rw\n");
	assert_false(root_is_in_container(&root));
}

/* The first process of a machine may be in another group than the root's, and a missing file tells nothing. */
static void each_group_of_the_first_process_is_looked_at(void **state)
{
	(void)state;
	put_below("proc/1/cgroup", "0::/init.scope/below\n");
	assert_true(root_is_in_container(&root));
	put_text("proc/1/cgroup", "");
	assert_false(root_is_in_container(&root));
	unlink("proc/self/mountinfo");
	assert_false(root_is_in_container(&root));
	assert_from("kernel");
}

static void a_missing_version_tells_nothing(void **state)
{
	(void)state;
	unlink("proc/version");
	assert_from("kernel");
	put_text("proc/version", "");
	assert_from("kernel");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_sign_the_figures_are_the_kernels, begin, end),
		cmocka_unit_test_setup_teardown(makers_of_system_calls_are_told_by_their_version, begin, end),
		cmocka_unit_test_setup_teardown(a_file_system_over_files_of_proc_is_told_by_its_source, begin,
						end),
		cmocka_unit_test_setup_teardown(any_folder_of_sys_will_do, begin, end),
		cmocka_unit_test_setup_teardown(one_counter_of_time_will_do, begin, end),
		cmocka_unit_test_setup_teardown(all_signs_are_told_together, begin, end),
		cmocka_unit_test_setup_teardown(the_namespace_of_pids_decides_if_it_is_known, begin, end),
		cmocka_unit_test_setup_teardown(else_each_sign_alone_tells_a_container, begin, end),
		cmocka_unit_test_setup_teardown(each_group_of_the_first_process_is_looked_at, begin, end),
		cmocka_unit_test_setup_teardown(a_missing_version_tells_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
