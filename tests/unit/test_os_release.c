/* Tests of src/kernel/os_release.c, sys_dmi.c and proc_sys_kernel.c: the names of a machine. */
#include "scratch.h"
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

static void the_second_place_counts_where_the_first_is_missing(void **state)
{
	struct os_release release;
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	put_below("usr/lib/os-release", "ID=second\n");
	assert_int_equal(read_os_release(&root, &release), 0);
	assert_string_equal(release.id, "second");
	put_below("etc/os-release", "ID=first\n");
	assert_int_equal(read_os_release(&root, &release), 0);
	assert_string_equal(release.id, "first");
	put_text("etc/os-release", "");
	assert_int_equal(read_os_release(&root, &release), -EBADMSG);
	unlink("etc/os-release");
	put_text("usr/lib/os-release", "");
	assert_int_equal(read_os_release(&root, &release), -EBADMSG);
	root_close(&root);
}

static void long_names_are_cut_to_their_room(void **state)
{
	struct os_release release;
	char text[300] = "ID=\"";

	(void)state;
	memset(text + 4, 'x', 200);
	assert_int_equal(parse_os_release(text, strlen(text), &release), 0);
	assert_int_equal(strlen(release.id), 63);
	text[4 + 63] = '"';
	text[4 + 64] = '\0';
	assert_int_equal(parse_os_release(text, strlen(text), &release), 0);
	assert_int_equal(strlen(release.id), 63);
}

static void quotes_of_the_other_kind_are_text(void **state)
{
	static const char TEXT[] = " ID =  'a\"b'\"c'd\"e\\\"f  \nNAME\nVERSION_ID=\\'1\\'\n";
	struct os_release release;

	(void)state;
	assert_int_equal(parse_os_release(TEXT, strlen(TEXT), &release), 0);
	assert_string_equal(release.id, "a\"bc'de\"f");
	assert_string_equal(release.version_id, "'1'");
	assert_string_equal(release.name, "");
}

/* Each of the three names of the kernel may be missing. */
static void each_name_of_the_kernel_stands_for_itself(void **state)
{
	static const char *const FILES[] = {"proc/sys/kernel/osrelease", "proc/sys/kernel/hostname",
					    "proc/sys/kernel/random/boot_id"};
	struct proc_sys_kernel kernel;
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		put_below(FILES[i], "text\n");
		assert_int_equal(read_proc_sys_kernel(&root, &kernel), 0);
		assert_string_equal(kernel.release, i == 0 ? "text" : "");
		assert_string_equal(kernel.hostname, i == 1 ? "text" : "");
		assert_string_equal(kernel.boot_id, i == 2 ? "text" : "");
		unlink(FILES[i]);
	}
	assert_int_equal(read_proc_sys_kernel(&root, &kernel), -ENOENT);
	root_close(&root);
}

static void each_file_of_the_firmware_has_its_field(void **state)
{
	static const char *const FILES[] = {
		"sys_vendor",      "product_name",   "product_version",   "board_vendor", "board_name",
		"board_asset_tag", "chassis_vendor", "chassis_asset_tag", "bios_vendor",  "bios_version"};
	struct sys_dmi dmi;
	struct root root;
	char path[100];

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
		snprintf(path, sizeof path, "sys/class/dmi/id/%s", FILES[i]);
		put_below(path, FILES[i]);
	}
	assert_int_equal(read_sys_dmi(&root, &dmi), 0);
	assert_string_equal(dmi.system_vendor, "sys_vendor");
	assert_string_equal(dmi.product_name, "product_name");
	assert_string_equal(dmi.product_version, "product_version");
	assert_string_equal(dmi.board_vendor, "board_vendor");
	assert_string_equal(dmi.board_name, "board_name");
	assert_string_equal(dmi.board_asset_tag, "board_asset_tag");
	assert_string_equal(dmi.chassis_vendor, "chassis_vendor");
	assert_string_equal(dmi.chassis_asset_tag, "chassis_asset_tag");
	assert_string_equal(dmi.bios_vendor, "bios_vendor");
	assert_string_equal(dmi.bios_version, "bios_version");
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
		unit_test_in_scratch(the_second_place_counts_where_the_first_is_missing),
		unit_test_in_scratch(long_names_are_cut_to_their_room),
		unit_test_in_scratch(quotes_of_the_other_kind_are_text),
		unit_test_in_scratch(each_name_of_the_kernel_stands_for_itself),
		unit_test_in_scratch(each_file_of_the_firmware_has_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
