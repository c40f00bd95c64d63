/* Tests of src/kernel/proc_pid_mountinfo.c. */
#include "kernel.h"

#include "kernel/proc_pid_mountinfo.h"

static struct mount first_mount(const char *text)
{
	struct scan mounts = parse_proc_pid_mountinfo(text, strlen(text));
	struct mount mount;

	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	return mount;
}

static void every_column_finds_its_field(void **state)
{
	struct mount mount = first_mount(
		"36 35 98:5 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=x\n");

	(void)state;
	assert_int_equal(mount.id, 36);
	assert_int_equal(mount.parent_id, 35);
	assert_int_equal(mount.major, 98);
	assert_int_equal(mount.minor, 5);
	assert_scan_equal(&mount.root, "/mnt1");
	assert_scan_equal(&mount.point, "/mnt2");
	assert_scan_equal(&mount.type, "ext3");
	assert_scan_equal(&mount.source, "/dev/root");
	assert_scan_equal(&mount.options, "rw,errors=x");
}

static void a_source_may_be_empty(void **state)
{
	struct mount mount = first_mount("52 27 0:53 / /mnt rw - tmpfs  rw,size=4k");

	(void)state;
	assert_scan_equal(&mount.source, "");
	assert_scan_equal(&mount.options, "rw,size=4k");
	mount = first_mount("52 27 0:53 / /mnt rw - tmpfs");
	assert_scan_equal(&mount.type, "tmpfs");
	assert_scan_equal(&mount.source, "");
	assert_scan_equal(&mount.options, "");
}

static void escapes_are_decoded(void **state)
{
	struct mount mount =
		first_mount("46 27 8:33 / /a\\040b\\011\\134\\303\\244\\012 rw - vfat /dev/sdc1 rw\n");
	char text[64], tiny[4];

	(void)state;
	assert_int_equal(mount_text(&mount.point, text, sizeof text), 9);
	assert_string_equal(text, "/a b\t\\\xc3\xa4\n");
	assert_int_equal(mount_text(&mount.point, tiny, sizeof tiny), 9);
	assert_string_equal(tiny, "/a ");
	mount = first_mount("46 27 8:33 / /x\\04 rw - vfat \\999\\ rw\n");
	assert_int_equal(mount_text(&mount.point, text, sizeof text), 5);
	assert_string_equal(text, "/x\\04");
	mount_text(&mount.source, text, sizeof text);
	assert_string_equal(text, "\\999\\");
	assert_int_equal(mount_text(&mount.source, NULL, 0), 5);
}

/* Three octal digits of one byte. Each text that misses that by one character stays as it is. */
static void only_octal_numbers_of_a_byte_are_escapes(void **state)
{
	static const char *const OTHERS[] = {"\\440", "\\/40", "\\0:0", "\\080", "\\0/0",
					     "\\048", "\\04/", "\\04",  "/040"};
	char line[100], text[64];
	struct mount mount;

	(void)state;
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
		snprintf(line, sizeof line, "46 27 8:33 / /x%s rw - vfat /dev/sdc1 rw\n", OTHERS[i]);
		mount = first_mount(line);
		assert_int_equal(mount_text(&mount.point, text, sizeof text), 2 + strlen(OTHERS[i]));
		assert_string_equal(text + 2, OTHERS[i]);
	}
	mount = first_mount("46 27 8:33 / /\\077\\377\\101 rw - vfat /dev/sdc1 rw\n");
	assert_int_equal(mount_text(&mount.point, text, sizeof text), 4);
	assert_string_equal(text, "/?\xff"
				  "A");
}

static void options_match_as_a_whole(void **state)
{
	struct mount mount = first_mount("32 31 0:29 / /c rw - cgroup cgroup rw,cpuacct,name=systemd");

	(void)state;
	assert_true(mount_has_option(&mount, "rw"));
	assert_true(mount_has_option(&mount, "cpuacct"));
	assert_true(mount_has_option(&mount, "name=systemd"));
	assert_false(mount_has_option(&mount, "cpu"));
	assert_false(mount_has_option(&mount, "systemd"));
}

static void odd_lines_are_skipped(void **state)
{
	static const char ODD[] =
		"\n1\n1 2\n1 2 x:3 / / rw - a b c\n1 2 0:3 / / rw shared:1 ext4 /dev/x rw\n"
		"x 2 0:3 / / rw - a b c\n1 2 0:4294967296 / / rw - a b c\n7 2 0:3 / / rw - a b c\n";
	struct scan mounts = parse_proc_pid_mountinfo(ODD, strlen(ODD));
	struct mount mount;

	(void)state;
	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	assert_int_equal(mount.id, 7);
	assert_false(proc_pid_mountinfo_next(&mounts, &mount));
}

static void parse_any(const char *bytes, size_t length)
{
	struct scan mounts = parse_proc_pid_mountinfo(bytes, length);
	struct mount mount;
	char text[16];

	while (proc_pid_mountinfo_next(&mounts, &mount)) {
		assert_true(mount_text(&mount.point, text, sizeof text) <= scan_left(&mount.point));
		(void)mount_has_option(&mount, "rw");
	}
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("36 35 98:5 /\\040 /m\\040 rw master:1 - ext3 /dev/root rw,errors=x\n52 27 0:53 / /mnt "
		    "rw - tmpfs  rw\n",
		    parse_any);
}

static void long_lines_of_overlays_are_whole(void **state)
{
	struct root root = test_root("hand-made-container-overlay-6.5/t0");
	struct kept_file file = KEPT_FILE("proc/self/mountinfo");
	struct mount mount;
	struct scan mounts;

	(void)state;
	assert_int_equal(read_proc_pid_mountinfo(&root, &file, &mounts), 0);
	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	assert_scan_equal(&mount.type, "proc");
	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	assert_scan_equal(&mount.type, "overlay");
	assert_true(scan_left(&mount.options) > 3000);
	assert_memory_equal(mount.options.end - 5, "/work", 5);
	kept_file_close(&file);
	root_close(&root);
}

static bool is_kernels(const char *line)
{
	const struct scan text = scan_bytes(line, strlen(line));

	return mount_line_is_kernels(&text);
}

static void the_type_of_a_line_decides_before_its_columns_are_read(void **state)
{
	(void)state;
	assert_true(is_kernels("23 1 0:22 / /proc rw shared:2 - proc proc rw"));
	assert_true(is_kernels("31 23 0:28 / /odd-name- rw - tmpfs tmpfs rw"));
	assert_false(is_kernels("23 1 0:50 / /home rw - nfs4 server:/home rw"));
	assert_false(is_kernels("23 1 0:51 / /mnt rw - fuse.sshfs host: rw"));
	assert_false(is_kernels("23 1 0:51 / /mnt rw -"));
	assert_false(is_kernels(""));
}

static bool is_served(const char *device, const char *type)
{
	char line[200];
	struct mount mount;

	snprintf(line, sizeof line, "36 35 %s / /mnt rw - %s source rw\n", device, type);
	mount = first_mount(line);
	return mount_is_served(&mount);
}

/* With a device number of its own the kernel has the data, but for a few types. Without one another program has, but for a few types. */
static void types_and_devices_tell_served_mounts(void **state)
{
	static const char *const SERVED[] = {"nfs",      "nfs4",   "cifs",       "smb3",   "autofs",
					     "9p",       "ceph",   "afs",        "gpfs",   "gfs2",
					     "ocfs2",    "lustre", "coda",       "beegfs", "vboxsf",
					     "virtiofs", "fuse",   "fuse.sshfs", "fuseblk"};
	static const char *const KERNELS[] = {"cgroup",  "tmpfs",    "proc",   "sysfs", "devpts",
					      "cgroup2", "devtmpfs", "mqueue", "ramfs", "rootfs",
					      "overlay", "aufs",     "btrfs",  "zfs",   "bcachefs"};

	(void)state;
	for (size_t i = 0; i < sizeof SERVED / sizeof SERVED[0]; i++)
		assert_true(is_served("0:50", SERVED[i]) && is_served("8:1", SERVED[i]));
	for (size_t i = 0; i < sizeof KERNELS / sizeof KERNELS[0]; i++)
		assert_true(!is_served("0:50", KERNELS[i]) && !is_served("8:1", KERNELS[i]));
	assert_true(!is_served("8:1", "ext4") && is_served("0:50", "ext4"));
	/* Parts of names. */
	assert_true(is_served("0:50", "proc2") && is_served("0:50", "group") && is_served("0:50", "cgrou"));
	assert_true(!is_served("8:1", "fs") && !is_served("8:1", "nf"));
}

static void numbers_of_devices_have_their_most(void **state)
{
	static const char TEXT[] =
		"1 2 4294967296:0 / /a rw - x y z\n1 2 4294967295:4294967295 / /b rw - x y z\n"
		"1 2x 0:1 / /c rw - x y z\n1 2 0:1x / /d rw - x y z\n1 2 01 / /e rw - x y z\n3 4 0:1 / /f\n"
		"3 4 0:1 / /g rw -\n3 4 0:1 / /h rw - type\n";
	struct scan mounts = parse_proc_pid_mountinfo(TEXT, strlen(TEXT));
	struct mount mount;

	(void)state;
	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	assert_scan_equal(&mount.point, "/b");
	assert_true(mount.major == UINT32_MAX && mount.minor == UINT32_MAX);
	assert_true(proc_pid_mountinfo_next(&mounts, &mount));
	assert_scan_equal(&mount.point, "/h");
	assert_false(proc_pid_mountinfo_next(&mounts, &mount));
}

static void a_text_is_cut_to_its_room(void **state)
{
	struct mount mount = first_mount("46 27 8:33 / /abc rw - vfat /dev/sdc1 rw\n");
	char text[5] = "####";

	(void)state;
	assert_int_equal(mount_text(&mount.point, text, 5), 4);
	assert_string_equal(text, "/abc");
	assert_int_equal(mount_text(&mount.point, text, 4), 4);
	assert_string_equal(text, "/ab");
	assert_int_equal(mount_text(&mount.point, text, 1), 4);
	assert_string_equal(text, "");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_type_of_a_line_decides_before_its_columns_are_read),
		cmocka_unit_test(every_column_finds_its_field),
		cmocka_unit_test(a_source_may_be_empty),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(only_octal_numbers_of_a_byte_are_escapes),
		cmocka_unit_test(options_match_as_a_whole),
		cmocka_unit_test(odd_lines_are_skipped),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(long_lines_of_overlays_are_whole),
		cmocka_unit_test(types_and_devices_tell_served_mounts),
		cmocka_unit_test(numbers_of_devices_have_their_most),
		cmocka_unit_test(a_text_is_cut_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
