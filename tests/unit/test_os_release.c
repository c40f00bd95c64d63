/* Tests of src/kernel/os_release.c, sys_dmi.c and proc_sys_kernel.c: the names of a machine. */
#include "kernel.h"

#include "kernel/os_release.h"
#include "kernel/proc_sys_kernel.h"
#include "kernel/sys_dmi.h"

static void quotes_come_off(void **state)
{
	static const char TEXT[] = "# comment\nNAME='single \\ quoted'\nID=plain\nVERSION_ID=\"12\"\n"
				   "PRETTY_NAME=\"a \\\"quoted\\\" \\$name \\\\ 'x'\"\nID_LIKE=other\n";
	struct os_release release;

	(void)state;
	assert_int_equal(parse_os_release(TEXT, strlen(TEXT), &release), 0);
	assert_string_equal(release.id, "plain");
	assert_string_equal(release.version_id, "12");
	assert_string_equal(release.name, "single \\ quoted");
	assert_string_equal(release.pretty_name, "a \"quoted\" $name \\ 'x'");
}

static void torn_quotes_do_no_harm(void **state)
{
	struct os_release release = {.id = "old"};

	(void)state;
	assert_int_equal(parse_os_release("ID=\"x\\", 6, &release), 0);
	assert_string_equal(release.id, "x\\");
	assert_string_equal(release.name, "");
	assert_int_equal(parse_os_release("NOTHING=1\n", 10, &release), -EBADMSG);
	assert_string_equal(release.id, "x\\");
}

static void parse_any(const char *bytes, size_t length)
{
	struct os_release release;

	(void)parse_os_release(bytes, length, &release);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("NAME='single \\ quoted'\nPRETTY_NAME=\"a \\\"quoted\\\" \\\\\"\n", parse_any);
}

static void parse_os_release_reads_the_fixtures(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t1");
	struct os_release release;
	struct sys_dmi dmi;
	struct proc_sys_kernel kernel;

	(void)state;
	assert_int_equal(read_os_release(&root, &release), 0);
	assert_string_equal(release.id, "debian");
	assert_int_equal(read_sys_dmi(&root, &dmi), 0);
	assert_string_equal(dmi.system_vendor, "LENOVO");
	assert_string_equal(dmi.product_version, "ThinkPad P14s Gen 4");
	assert_string_equal(dmi.bios_version, "N3QET42W (1.42 )");
	assert_int_equal(read_proc_sys_kernel(&root, &kernel), 0);
	assert_string_equal(kernel.release, "6.1.0-18-amd64");
	assert_string_equal(kernel.hostname, "host");
	assert_string_equal(kernel.boot_id, "00000000-0000-0000-0000-000000000000");
	root_close(&root);
}

static void read_os_release_fails_without_a_file(void **state)
{
	struct root root = test_root("hand-made-vm-3.10/t0/proc");
	struct os_release release;
	struct sys_dmi dmi;
	struct proc_sys_kernel kernel;

	(void)state;
	assert_int_equal(read_os_release(&root, &release), -ENOENT);
	assert_int_equal(read_sys_dmi(&root, &dmi), -ENOENT);
	assert_int_equal(read_proc_sys_kernel(&root, &kernel), -ENOENT);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_come_off),
		cmocka_unit_test(torn_quotes_do_no_harm),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(parse_os_release_reads_the_fixtures),
		cmocka_unit_test(read_os_release_fails_without_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
