/* Tests of src/collect/host_disk.c and filesystems.c: disks and filesystems, from files that this test writes. */
#include "lone_collector.h"

#include <errno.h>

extern const struct collector HOST_DISK_COLLECTOR;

#define COUNTS(read, written) " 1 0 " #read " 4 5 6 " #written " 8 9 10 11\n"
#define SDA "8 0 sda" COUNTS(10, 20)
#define SDB "8 16 sdb" COUNTS(30, 40)
#define SDA1 "8 1 sda1" COUNTS(1, 2)

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	lone_open(&HOST_DISK_COLLECTOR);
	return 0;
}

static void put_sys(const char *disk, const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "sys/class/block/%s/%s", disk, file);
	put_below(path, text);
}

/* A disk of 1 MiB. */
static void put_disk(const char *name)
{
	put_sys(name, "size", "2048\n");
	put_sys(name, "device/model", "Model\n");
}

static const struct disk_row *row_of_disk(const char *name)
{
	for (const struct disk_row *row = FIRST(&lone.frame, disk); row; row = NEXT(row, disk))
		if (strcmp(row->device, name) == 0)
			return row;
	return NULL;
}

static const struct disk_row *disk_at(double secs, const char *diskstats, const char *name)
{
	put_text("proc/diskstats", diskstats);
	(void)lone_sample(secs);
	return row_of_disk(name);
}

static void reopen(void)
{
	lone.collector->close(lone.state);
	lone_open(&HOST_DISK_COLLECTOR);
}

/* ---- disks ------------------------------------------------------------------------------------------------- */

static void a_disk_is_described_and_counted(void **state)
{
	const struct disk_row *row;

	(void)state;
	put_disk("sda");
	put_sys("sda", "queue/rotational", "1\n");
	put_sys("sda", "device/vendor", "Maker\n");
	put_sys("sda", "device/serial", "S123\n");
	row = disk_at(1, SDA, "sda");
	assert_int_equal(row->read_bytes_total, 10 * 512);
	assert_int_equal(row->write_bytes_total, 20 * 512);
	assert_int_equal(row->read_bytes_counter, 10 * 512);
	assert_int_equal(row->write_bytes_counter, 20 * 512);
	assert_int_equal(row->row.read_ns, lone.now_ns);
	assert_string_equal(row->model, "Model");
	assert_string_equal(row->vendor, "Maker");
	assert_string_equal(row->device_type, "hdd");
	assert_int_equal(row->capacity_bytes, 1 << 20);
	assert_int_equal(row->counted, 1);
	assert_int_equal(text_absent(row->serial), ABSENT_NOT_YET);
	assert_string_equal(disk_at(2, SDA, "sda")->serial, "S123");
}

/* Asking may take milliseconds: not in the first 50 of a job, and not at its end. */
static void a_serial_number_is_asked_for_once(void **state)
{
	(void)state;
	put_disk("sda");
	put_sys("sda", "device/serial", "one\n");
	assert_int_equal(text_absent(disk_at(0.01, SDA, "sda")->serial), ABSENT_NOT_YET);
	assert_int_equal(text_absent(disk_at(0.0499, SDA, "sda")->serial), ABSENT_NOT_YET);
	lone.ending.reason = "exit";
	assert_int_equal(text_absent(disk_at(1, SDA, "sda")->serial), ABSENT_NOT_YET);
	lone.ending.reason = NULL;
	assert_string_equal(disk_at(0.05, SDA, "sda")->serial, "one");
	put_sys("sda", "device/serial", "two\n");
	put_disk("sdb");
	assert_string_equal(disk_at(2, SDA SDB, "sda")->serial, "one");
	assert_int_equal(text_absent(row_of_disk("sdb")->serial), ABSENT_NOT_YET);
	assert_string_equal(disk_at(3, SDA SDB, "sda")->serial, "one");
	assert_int_equal(text_absent(row_of_disk("sdb")->serial), ABSENT_NOT_A_VALUE);
	/* Those that have no row are not asked. */
	assert_int_equal(text_absent(row_of_disk("sdb")->device_type), ABSENT_NOT_A_VALUE);
	assert_int_equal(text_absent(row_of_disk("sdb")->vendor), ABSENT_NOT_A_VALUE);
}

/* The table of sys_block.h. An nbd or a drive without a medium has no size. */
static void only_whole_devices_have_a_row(void **state)
{
	(void)state;
	put_disk("sda"), put_disk("nbd1"), put_disk("dm-0"), put_disk("md0"), put_disk("zd0"),
		put_disk("sr0");
	put_sys("nbd0", "size", "0\n"), put_sys("sr1", "size", "0\n");
	put_sys("sda1", "partition", "1\n");
	put_sys("dm-0", "dm/name", "vg-home\n"), put_sys("dm-0", "slaves/sda", "");
	put_sys("md0", "md/level", "raid1\n"), put_sys("md0", "slaves/sda", "");
	assert_int_equal(
		disk_at(1,
			SDA SDA1 "43 0 nbd0" COUNTS(1, 1) "43 1 nbd1" COUNTS(1, 1) "253 0 dm-0" COUNTS(1, 1) "9 0 md0" COUNTS(1, 1) "230 0 zd0" COUNTS(
				1,
				1) "11 0 sr0" COUNTS(1,
						     1) "11 1 sr1" COUNTS(1,
									  1) "7 0 loop0" COUNTS(1,
												1) "1 0 "
												   "ram"
												   "0" COUNTS(1, 1) "252 0 zram9" COUNTS(
													   1,
													   1),
			"sda")
			->counted,
		1);
	assert_null(row_of_disk("sda1"));
	assert_null(row_of_disk("nbd0"));
	assert_null(row_of_disk("sr1"));
	assert_null(row_of_disk("loop0"));
	assert_null(row_of_disk("ram0"));
	assert_null(row_of_disk("zram9"));
	assert_int_equal(row_of_disk("nbd1")->counted, 1);
	assert_int_equal(row_of_disk("sr0")->counted, 1);
	assert_int_equal(row_of_disk("dm-0")->counted, 0);
	assert_int_equal(row_of_disk("md0")->counted, 0);
	put_sys("rama", "device/x", ""), put_sys("loop", "device/x", "");
	assert_int_equal(lone.frame.missing[ROW_disk], 0);
	/* These are names of their own. */
	assert_non_null(disk_at(2, "9 9 rama" COUNTS(1, 1) "9 8 loop" COUNTS(1, 1), "rama"));
	assert_non_null(row_of_disk("loop"));
	assert_null(row_of_disk("sda"));
	assert_absent_count(row_of_disk("loop")->capacity_bytes, ENOMEDIUM);
}

static void a_device_that_is_not_described_hides_the_sum(void **state)
{
	(void)state;
	put_disk("sda");
	assert_null(disk_at(1, SDA "8 16 sdb" COUNTS(0, 0), "sdb"));
	assert_int_equal(lone.frame.missing[ROW_disk], 0);
	assert_null(disk_at(1, SDA "8 16 sdb" COUNTS(0, 1), "sdb"));
	assert_int_equal(lone.frame.missing[ROW_disk], ENOENT);
	assert_null(disk_at(1, SDA "8 16 sdb" COUNTS(1, 0), "sdb"));
	assert_int_equal(lone.frame.missing[ROW_disk], ENOENT);
	assert_non_null(row_of_disk("sda"));
}

static void another_device_with_a_known_name_is_described_anew(void **state)
{
	const struct disk_row *row;
	int number;

	(void)state;
	put_disk("sda");
	put_sys("sda", "device/serial", "one\n");
	(void)disk_at(1, SDA, "sda");
	row = disk_at(2, SDA, "sda");
	assert_string_equal(row->serial, "one");
	number = row->row.number;
	assert_int_equal(disk_at(2, SDA, "sda")->row.number, number);
	put_sys("sda", "size", "4096\n");
	assert_int_equal(disk_at(2, SDA, "sda")->capacity_bytes, 1 << 20);
	row = disk_at(3, "8 32 sda" COUNTS(1, 1), "sda");
	assert_int_equal(row->capacity_bytes, 2 << 20);
	assert_int_not_equal(row->row.number, number);
	assert_int_equal(text_absent(row->serial), ABSENT_NOT_YET);
	number = row->row.number;
	put_sys("sda", "size", "2048\n");
	row = disk_at(4, "65 32 sda" COUNTS(1, 1), "sda");
	assert_int_equal(row->capacity_bytes, 1 << 20);
	assert_int_not_equal(row->row.number, number);
	/* One that went and came again may have another medium. */
	put_disk("sdb");
	(void)disk_at(5, SDB, "sdb");
	put_sys("sda", "size", "4096\n");
	assert_int_equal(disk_at(6, "65 32 sda" COUNTS(1, 1) SDB, "sda")->capacity_bytes, 2 << 20);
	assert_int_equal(row_of_disk("sdb")->read_bytes_total, 30 * 512);
	assert_int_equal(disk_at(7, SDB "65 32 sda" COUNTS(1, 1), "sdb")->read_bytes_total, 30 * 512);
	assert_int_equal(row_of_disk("sda")->read_bytes_total, 512);
}

static void a_start_does_not_wait_for_descriptions(void **state)
{
	const struct disk_row *row;

	(void)state;
	put_disk("sda");
	lone.context.prepared = false;
	row = disk_at(0, SDA "7 0 loop0" COUNTS(1, 1), "sda");
	assert_int_equal(row->read_bytes_total, 10 * 512);
	assert_int_equal(text_absent(row->model), ABSENT_NOT_YET);
	assert_int_equal(text_absent(row->serial), ABSENT_NOT_YET);
	assert_absent_count(row->capacity_bytes, ABSENT_NOT_YET);
	assert_absent_count(row->counted, ABSENT_NOT_YET);
	assert_null(row_of_disk("loop0"));
	assert_absent_real(FIRST(&lone.frame, totals)->disk_space_total_gb, ABSENT_NOT_YET);
	assert_absent_real(FIRST(&lone.frame, totals)->disk_space_used_gb, ABSENT_NOT_YET);
	assert_absent_real(FIRST(&lone.frame, totals)->disk_space_free_gb, ABSENT_NOT_YET);
	assert_int_equal(lone.frame.missing[ROW_mount], ABSENT_NOT_YET);
	lone.collector->prepare(lone.state, &lone.context);
	assert_string_equal(disk_at(0, SDA, "sda")->model, "Model");
}

static void a_failed_reading_is_told(void **state)
{
	const struct disk_row *row;

	(void)state;
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_disk], ENOENT);
	assert_null(disk_at(1, "", "sda"));
	assert_int_equal(lone.frame.missing[ROW_disk], ENODEV);
	put_disk("sda"), put_disk("sdb");
	assert_null(disk_at(1, "8 0 sda 1 2 3\n" SDB, "sda"));
	assert_int_equal(lone.frame.missing[ROW_disk], EBADMSG);
	assert_non_null(row_of_disk("sdb"));
	row = disk_at(1, "8 0 sda" COUNTS(9223372036854775807, 9223372036854775807), "sda");
	assert_absent_count(row->read_bytes_total, EBADMSG);
	assert_absent_count(row->write_bytes_total, EBADMSG);
}

/* Linux before 6.4 counts at the paths of NVMe alone. */
static void paths_of_nvme_stand_for_a_head_that_has_counted_nothing(void **state)
{
	const struct disk_row *row;
	int number;

	(void)state;
	put_disk("nvme0n1");
	row = disk_at(
		1,
		"259 0 nvme0n1" COUNTS(0, 0) "259 1 nvme0c0n1" COUNTS(10, 20) "259 2 nvme0c1n1" COUNTS(5, 6),
		"nvme0n1");
	assert_int_equal(row->read_bytes_total, 15 * 512);
	assert_int_equal(row->write_bytes_total, 26 * 512);
	assert_string_equal(row->device_type, "nvme");
	assert_null(row_of_disk("nvme0c0n1"));
	number = row->row.number;
	row = disk_at(2, "259 0 nvme0n1" COUNTS(0, 0) "259 1 nvme0c0n1" COUNTS(10, 20), "nvme0n1");
	assert_int_equal(row->read_bytes_total, 10 * 512);
	assert_int_not_equal(row->row.number, number);
	row = disk_at(3, "259 0 nvme0n1" COUNTS(0, 1) "259 1 nvme0c0n1" COUNTS(10, 20), "nvme0n1");
	assert_int_equal(row->read_bytes_total, 0);
	assert_int_equal(row->write_bytes_total, 512);
	row = disk_at(3, "259 0 nvme0n1" COUNTS(1, 0) "259 1 nvme0c0n1" COUNTS(10, 20), "nvme0n1");
	assert_int_equal(row->read_bytes_total, 512);
	row = disk_at(4,
		      "259 0 nvme0n1" COUNTS(0, 0) "259 1 nvme0c0n1" COUNTS(
			      9223372036854775807, 20) "259 2 nvme0c1n1" COUNTS(5, 6),
		      "nvme0n1");
	assert_absent_count(row->read_bytes_total, EBADMSG);
	assert_int_equal(row->write_bytes_total, 26 * 512);
	row = disk_at(5, "259 0 nvme0n1" COUNTS(0, 0) "259 1 nvme0c0n1 1\n259 2 nvme0c1n1" COUNTS(5, 6),
		      "nvme0n1");
	assert_int_equal(row->read_bytes_total, 5 * 512);
	/* A path whose head is not here is a device like others. */
	put_disk("nvme1c0n1");
	assert_int_equal(disk_at(6, "259 7 nvme1c0n1" COUNTS(2, 3), "nvme1c0n1")->read_bytes_total, 2 * 512);
}

/* ---- filesystems ------------------------------------------------------------------------------------------- */

static const struct mount_row *mount_of(const char *point)
{
	for (const struct mount_row *row = FIRST(&lone.frame, mount); row; row = NEXT(row, mount))
		if (strcmp(row->mount_point, point) == 0)
			return row;
	return NULL;
}

static const char *points(void)
{
	static char text[400];

	text[0] = '\0';
	for (const struct mount_row *row = FIRST(&lone.frame, mount); row; row = NEXT(row, mount))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", row->mount_point);
	return text;
}

static const char *device_under(const char *point)
{
	const struct mount_row *row = mount_of(point);

	return row ? ((const struct disk_row *)(const void *)row->row.parent)->device : NULL;
}

/* Mounts are read when the kernel tells of a change, which a file cannot. */
static void mounts_are(const char *mountinfo, const char *space)
{
	put_below("proc/self/mountinfo", mountinfo);
	put_text(".statvfs", space);
	reopen();
	(void)lone_sample(1);
}

static const struct totals_row *space(void)
{
	return FIRST(&lone.frame, totals);
}

static void space_is_told_with_that_which_only_root_may_use(void **state)
{
	const struct mount_row *row;

	(void)state;
	put_disk("sda");
	put_sys("sda1", "partition", "1\n");
	put_text("proc/diskstats", SDA);
	mounts_are("1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 8:16 / /data rw - xfs /dev/sdb rw\n",
		   "/ 10000000000 4000000000 3000000000\n/data 2000000000 500000000 500000000\n");
	row = mount_of("/");
	assert_string_equal(row->filesystem, "ext4");
	assert_int_equal(row->total_bytes, INT64_C(10000000000));
	assert_int_equal(row->used_bytes, INT64_C(6000000000));
	assert_int_equal(row->available_bytes, INT64_C(3000000000));
	assert_real(row->used_pct, 100 * 6 / 9.0);
	assert_real(space()->disk_space_total_gb, 12);
	assert_real(space()->disk_space_used_gb, 7.5);
	assert_real(space()->disk_space_free_gb, 3.5);
	assert_string_equal(device_under("/"), "sda");
	/* It is in no list of disks, so it gets a row of its own. */
	assert_string_equal(device_under("/data"), "sdb");
	assert_int_equal(row_of_disk("sdb")->counted, 0);
}

static void a_full_or_unknown_filesystem(void **state)
{
	(void)state;
	mounts_are("1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 8:16 / /data rw - xfs /dev/sdb rw\n"
		   "3 1 8:32 / /none rw - xfs /dev/sdc rw\n",
		   "/ 100 0 0\n/data 0 0 0\n");
	assert_real(mount_of("/")->used_pct, 100);
	assert_absent_real(mount_of("/data")->used_pct, ABSENT_NOT_A_VALUE);
	assert_absent_count(mount_of("/none")->total_bytes, ENODATA);
	assert_absent_count(mount_of("/none")->used_bytes, ENODATA);
	assert_absent_real(mount_of("/none")->used_pct, ENODATA);
	assert_real(space()->disk_space_total_gb, 100 / 1e9);
	mounts_are("3 1 8:32 / /none rw - xfs /dev/sdc rw\n", "/ 100 0 0\n");
	assert_absent_real(space()->disk_space_total_gb, ENODATA);
	assert_absent_real(space()->disk_space_used_gb, ENODATA);
	assert_absent_real(space()->disk_space_free_gb, ENODATA);
	mounts_are("3 1 0:32 / /proc rw - proc proc rw\n", "/proc 100 0 0\n");
	assert_absent_real(space()->disk_space_total_gb, ABSENT_NOT_COLLECTED);
	remove("proc/self/mountinfo");
	reopen();
	(void)lone_sample(1);
	assert_absent_real(space()->disk_space_total_gb, ENOENT);
	assert_int_equal(lone.frame.missing[ROW_mount], ENOENT);
}

static void a_filesystem_has_the_device_that_holds_it(void **state)
{
	(void)state;
	put_disk("sda"), put_disk("dm-0");
	put_sys("dm-0", "dm/name", "vg-home\n");
	put_below("sys/devices/block/sda/sda1/partition", "1\n");
	assert_int_equal(symlink("../../devices/block/sda/sda1", "sys/class/block/sda1"), 0);
	put_text("proc/diskstats", SDA SDA1 "253 0 dm-0" COUNTS(1, 1));
	mounts_are("1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 253:0 / /a rw - ext4 /dev/mapper/x rw\n"
		   "3 1 0:40 / /b rw - btrfs /dev/mapper/vg-home rw\n4 1 0:41 / /c rw - btrfs /dev/sda1 rw\n"
		   "5 1 0:42 / /d rw - btrfs /dev/mapper/none rw\n6 1 0:43 / /e rw - zfs pool/a rw\n",
		   "");
	assert_string_equal(device_under("/"), "sda");
	assert_string_equal(device_under("/a"), "dm-0");
	assert_string_equal(device_under("/b"), "dm-0");
	assert_string_equal(device_under("/c"), "sda");
	assert_string_equal(device_under("/d"), "mapper/none");
	assert_string_equal(device_under("/e"), "pool/a");
	/* A device that comes later is found then. */
	put_disk("mapper!none");
	(void)disk_at(2, SDA SDA1 "253 0 dm-0" COUNTS(1, 1) "9 9 mapper/none" COUNTS(1, 1), "mapper/none");
	assert_string_equal(device_under("/d"), "mapper/none");
	assert_int_equal(row_of_disk("mapper/none")->counted, 1);
}

static void each_filesystem_is_counted_once(void **state)
{
	(void)state;
	mounts_are("1 0 8:0 / / rw - ext4 /dev/sda rw\n"
		   "2 1 8:0 /x /bind rw - ext4 /dev/sda rw\n"
		   "3 1 8:16 / /b rw - ext4 /dev/sdb rw\n"
		   "4 1 9:0 / /c rw - ext4 /dev/md0 rw\n"
		   "5 1 0:50 / /p rw - zfs pool rw\n"
		   "6 1 0:51 / /p/a rw - zfs pool/a rw\n"
		   "7 1 0:52 / /p/b rw - zfs pool/b rw\n"
		   "8 1 0:51 / /again rw - zfs pool rw\n"
		   "9 1 0:53 / /q rw - zfs pool2 rw\n"
		   "10 1 0:54 / /s rw - btrfs /dev/sdc rw\n"
		   "11 1 0:55 / /t rw - btrfs /dev/sdc rw\n"
		   "12 1 0:56 / /u rw - btrfs /dev/sdd rw\n",
		   "/p 1000 900 900\n/p/a 950 900 900\n/p/b 930 900 900\n/q 7 6 6\n");
	assert_string_equal(points(), "/ /b /c /p /q /s /u ");
	/* 100 of its own, 50 and 30 of the others, and 900 that are free for all. */
	assert_int_equal(mount_of("/p")->total_bytes, 1080);
	assert_int_equal(mount_of("/p")->used_bytes, 180);
	assert_int_equal(mount_of("/p")->available_bytes, 900);
	assert_int_equal(mount_of("/q")->total_bytes, 7);
}

static void a_newer_mount_hides_the_older(void **state)
{
	(void)state;
	mounts_are("1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 8:16 / /a rw - ext4 /dev/sdb rw\n"
		   "3 1 8:32 / /b rw - ext4 /dev/sdc rw\n4 2 8:48 / /a rw - xfs /dev/sdd rw\n"
		   "5 3 0:9 / /b rw - tmpfs tmpfs rw\n",
		   "");
	assert_string_equal(points(), "/ /a ");
	assert_string_equal(mount_of("/a")->filesystem, "xfs");
}

static void filesystems_elsewhere_are_left_out(void **state)
{
	(void)state;
	mounts_are(
		"1 0 0:30 / / rw - overlay overlay rw\n2 1 0:31 / /over rw - overlay overlay rw\n"
		"3 1 8:0 / /etc/hosts rw - ext4 /dev/sda rw\n4 1 8:0 / /etc/hostname rw - ext4 /dev/sda rw\n"
		"5 1 8:0 / /etc/resolv.conf rw - ext4 /dev/sda rw\n6 1 8:0 / /dev/x rw - ext4 /dev/sda rw\n"
		"7 1 8:0 / /sys rw - ext4 /dev/sda rw\n8 1 7:1 / /snap rw - squashfs /dev/loop1 rw\n"
		"9 1 0:33 / /nfs rw - nfs4 host:/x rw\n10 1 0:34 / /fuse rw - fuse.sshfs host rw\n"
		"11 1 8:16 / /device rw - ext4 /dev/sdb rw\n12 1 0:35 / /tmp rw - tmpfs tmpfs rw\n"
		"13 1 8:32 / /etc rw - ext4 sdc rw\n14 1 0:36 / /bc rw - bcachefs /dev/sdd:/dev/sde rw\n"
		"15 1 0:37 / /x rw - ext4 /dev/sdf rw\n",
		"/ 10 5 5\n");
	assert_string_equal(points(), "/ /device /bc ");
	assert_real(space()->disk_space_total_gb, 10 / 1e9);
}

/* Its bytes are counted on the disk that has the file, unless the file cannot be seen. */
static void an_image_is_not_added(void **state)
{
	(void)state;
	mounts_are("1 0 7:0 / / rw - ext4 /dev/loop0 rw\n2 1 7:1 / /image rw - ext4 /dev/loop1 rw\n"
		   "3 1 8:0 / /data rw - ext4 /dev/sda rw\n",
		   "/ 1000000000 0 0\n/image 2000000000 0 0\n/data 4000000000 0 0\n");
	assert_int_equal(mount_of("/image")->total_bytes, INT64_C(2000000000));
	assert_real(space()->disk_space_total_gb, 5);
}

#define disk_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		disk_test(a_disk_is_described_and_counted),
		disk_test(a_serial_number_is_asked_for_once),
		disk_test(only_whole_devices_have_a_row),
		disk_test(a_device_that_is_not_described_hides_the_sum),
		disk_test(another_device_with_a_known_name_is_described_anew),
		disk_test(a_start_does_not_wait_for_descriptions),
		disk_test(a_failed_reading_is_told),
		disk_test(paths_of_nvme_stand_for_a_head_that_has_counted_nothing),
		disk_test(space_is_told_with_that_which_only_root_may_use),
		disk_test(a_full_or_unknown_filesystem),
		disk_test(a_filesystem_has_the_device_that_holds_it),
		disk_test(each_filesystem_is_counted_once),
		disk_test(a_newer_mount_hides_the_older),
		disk_test(filesystems_elsewhere_are_left_out),
		disk_test(an_image_is_not_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
