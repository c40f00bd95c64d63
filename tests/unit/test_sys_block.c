/* Tests of src/kernel/sys_block.c. */
#include "scratch.h"
#include "kernel.h"

#include "kernel/sys_block.h"

static struct sys_block block_of(struct root *root, const char *name)
{
	struct sys_block block;

	assert_int_equal(read_sys_block(root, name, &block), 0);
	return block;
}

static void assert_serial(struct root *root, const char *name, const char *wanted)
{
	char serial[128];

	assert_int_equal(read_sys_block_serial(root, name, serial, sizeof serial), 0);
	assert_string_equal(serial, wanted);
}

static void kinds_and_leaves_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		enum block_kind kind;
		enum block_media media;
		bool leaf;
	} CASES[] = {
		{"nvme0n1", BLOCK_DISK, MEDIA_NVME, true},
		{"nvme0n1p3", BLOCK_PARTITION, MEDIA_NVME, false},
		{"nvme0n10", BLOCK_DISK, MEDIA_NVME, true},
		{"dm-0", BLOCK_MAPPED, MEDIA_SSD, false},
		{"dm-1", BLOCK_MAPPED, MEDIA_SSD, false},
		{"sda", BLOCK_DISK, MEDIA_HDD, true},
		{"sda1", BLOCK_PARTITION, MEDIA_HDD, false},
		{"md127", BLOCK_RAID, MEDIA_HDD, false},
		{"cciss/c0d0", BLOCK_DISK, MEDIA_HDD, true},
		{"cciss/c0d0p1", BLOCK_PARTITION, MEDIA_HDD, false},
		{"loop0", BLOCK_LOOP, MEDIA_SSD, false},
		{"zram0", BLOCK_MEMORY, MEDIA_SSD, false},
		{"sr0", BLOCK_OPTICAL, MEDIA_HDD, true},
	};
	struct root root = test_root("hand-made-workstation-6.1/t1");

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct sys_block block = block_of(&root, CASES[i].name);

		if (block.kind != CASES[i].kind || block.media != CASES[i].media ||
		    sys_block_is_leaf(&block) != CASES[i].leaf)
			fail_msg("%s: kind %d, media %d", CASES[i].name, block.kind, block.media);
	}
	root_close(&root);
}

static void identity_is_read_where_it_is(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	struct sys_block block = block_of(&root, "nvme0n1");

	(void)state;
	assert_string_equal(block.model, "WD PC SN810 SDCQNRY-1T00-1001");
	assert_serial(&root, "nvme0n1", "SERIAL-nvme0n1");
	assert_int_equal(block.size_bytes, 2000409264LL * 512);
	assert_int_equal(block.major, 259);
	assert_int_equal(block.minor, 0);
	block = block_of(&root, "sda");
	assert_string_equal(block.vendor, "ATA");
	assert_serial(&root, "sda", "naa.5000c50000000001");
	block = block_of(&root, "sdb");
	assert_serial(&root, "sdb", "SERIAL-sdb");
	block = block_of(&root, "dm-1");
	assert_string_equal(block.dm_name, "vg-root");
	assert_int_equal(block.slave_count, 1);
	assert_string_equal(block.model, "");
	block = block_of(&root, "dm-0");
	assert_int_equal(block.holder_count, 3);
	block = block_of(&root, "md127");
	assert_string_equal(block.md_level, "raid1");
	assert_int_equal(block.slave_count, 2);
	root_close(&root);
}

static void bus_numbers_are_not_taken_for_vendors(void **state)
{
	struct root root = test_root("hand-made-hypervisor-5.15/t0");
	struct sys_block block = block_of(&root, "vda");

	(void)state;
	assert_string_equal(block.vendor, "");
	assert_serial(&root, "vda", "SERIAL-vda");
	assert_true(sys_block_is_leaf(&block));
	root_close(&root);
}

static void partitions_know_their_disk(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");

	(void)state;
	assert_string_equal(block_of(&root, "nvme0n1p3").parent, "nvme0n1");
	assert_string_equal(block_of(&root, "sda1").parent, "sda");
	assert_string_equal(block_of(&root, "cciss/c0d0p1").parent, "cciss/c0d0");
	assert_string_equal(block_of(&root, "sda").parent, "");
	root_close(&root);
}

static void is_partition_asks_the_kernel_not_the_name(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");

	(void)state;
	assert_int_equal(sys_block_is_partition(&root, "nvme0n1"), 0);
	assert_int_equal(sys_block_is_partition(&root, "nvme0n10"), 0);
	assert_int_equal(sys_block_is_partition(&root, "nvme0n1p1"), 1);
	assert_int_equal(sys_block_is_partition(&root, "cciss/c0d0"), 0);
	assert_int_equal(sys_block_is_partition(&root, "cciss/c0d0p1"), 1);
	assert_int_equal(sys_block_is_partition(&root, "dm-0"), 0);
	assert_int_equal(sys_block_is_partition(&root, "sdz1"), -ENOENT);
	assert_int_equal(sys_block_is_partition(&root, ""), -ENOENT);
	assert_int_equal(sys_block_is_partition(&root, ".."), -ENOENT);
	root_close(&root);
}

static void volumes_of_a_pool_do_not_count_as_leaves(void **state)
{
	struct root root = test_root("hand-made-storage-zfs-5.15/t0");
	struct sys_block block = block_of(&root, "zd0");

	(void)state;
	assert_int_equal(block.kind, BLOCK_OTHER);
	assert_false(sys_block_is_leaf(&block));
	root_close(&root);
}

static void paths_of_nvme_lead_to_their_head(void **state)
{
	static const char *const OTHERS[] = {"nvme0n1", "nvme0c1", "nvme0c0n1p1", "nvmec0n1", "sda", ""};
	char head[64];

	(void)state;
	assert_true(sys_block_is_path("nvme3c12n45", head, sizeof head));
	assert_string_equal(head, "nvme3n45");
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
		assert_false(sys_block_is_path(OTHERS[i], head, sizeof head));
}

static void names_of_nothing_are_errors(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	struct sys_block block = {.major = -7};
	char name[600];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(read_sys_block(&root, "none", &block), -ENOENT);
	assert_int_equal(read_sys_block(&root, "", &block), -ENOENT);
	assert_int_equal(read_sys_block(&root, "..", &block), -ENOENT);
	assert_int_equal(read_sys_block(&root, "../net", &block), -ENOENT);
	assert_int_equal(read_sys_block(&root, name, &block), -ENAMETOOLONG);
	assert_int_equal(block.major, -7);
	root_close(&root);
}

static void serial_pages_are_cut_at_the_end_of_the_file(void **state)
{
	static const char PAGE[] = "\0\x80\0\x0c  ABC123    ";
	char serial[32] = "old";

	(void)state;
	assert_int_equal(parse_vpd_serial(PAGE, 16, serial, sizeof serial), 0);
	assert_string_equal(serial, "ABC123");
	assert_int_equal(parse_vpd_serial(PAGE, 8, serial, sizeof serial), 0);
	assert_string_equal(serial, "AB");
	assert_int_equal(parse_vpd_serial(PAGE, 4, serial, sizeof serial), -EBADMSG);
	assert_int_equal(parse_vpd_serial("\0\x83\0\x02xx", 6, serial, sizeof serial), -EBADMSG);
	assert_int_equal(parse_vpd_serial("\0\x80\0\x02  ", 6, serial, sizeof serial), -EBADMSG);
	assert_int_equal(parse_vpd_serial("", 0, serial, sizeof serial), -EBADMSG);
	assert_string_equal(serial, "AB");
}

#define SDA "sys/class/block/sda/"

static struct sys_block sda_with(const char *file, const char *text)
{
	struct sys_block block;
	struct root root;

	put_below(file, text);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	block = block_of(&root, "sda");
	root_close(&root);
	unlink(file);
	return block;
}

static void sizes_and_numbers_have_their_most(void **state)
{
	(void)state;
	assert_int_equal(sda_with(SDA "size", "0").size_bytes, 0);
	assert_true(sda_with(SDA "size", "18014398509481983").size_bytes == INT64_MAX - 511);
	assert_int_equal(sda_with(SDA "size", "18014398509481984").size_bytes, -1);
	assert_int_equal(sda_with(SDA "size", "-1").size_bytes, -1);
	assert_int_equal(sda_with(SDA "size", "x").size_bytes, -1);
	assert_int_equal(sda_with(SDA "dev", "8:1").minor, 1);
	assert_int_equal(sda_with(SDA "dev", "8").major, -1);
	assert_int_equal(sda_with(SDA "dev", "8:x").major, -1);
	assert_int_equal(sda_with(SDA "other", "").minor, -1);
	assert_int_equal(sda_with(SDA "dev", "").major, -1);
}

/* Signs of a kind come before the name, and a device is the last of them. */
static void each_sign_decides_the_kind(void **state)
{
	(void)state;
	assert_int_equal(sda_with(SDA "other", "").kind, BLOCK_OTHER);
	assert_int_equal(sda_with(SDA "device", "").kind, BLOCK_DISK);
	assert_int_equal(sda_with(SDA "partition", "1").kind, BLOCK_PARTITION);
	assert_int_equal(sda_with(SDA "dm", "").kind, BLOCK_MAPPED);
	assert_int_equal(sda_with(SDA "md", "").kind, BLOCK_RAID);
	assert_int_equal(sda_with(SDA "other", "").media, MEDIA_UNKNOWN);
	assert_int_equal(sda_with(SDA "queue/rotational", "0").media, MEDIA_SSD);
	assert_int_equal(sda_with(SDA "queue/rotational", "1").media, MEDIA_HDD);
	assert_int_equal(sda_with("sys/class/block/queue/rotational", "1").media, MEDIA_HDD);
	assert_int_equal(sda_with(SDA "other", "").slave_count, 0);
	assert_int_equal(sda_with(SDA "slaves/sdb", "").slave_count, 1);
	assert_int_equal(sda_with(SDA "holders/dm-0", "").holder_count, 1);
}

/* Every kind of a name with a number, and its neighbours without one. */
static void names_with_a_number_decide_the_kind(void **state)
{
	static const struct {
		const char *name;
		enum block_kind kind;
	} CASES[] = {{"loop0", BLOCK_LOOP},   {"loop9", BLOCK_LOOP},   {"loopback0", BLOCK_OTHER},
		     {"ram3", BLOCK_MEMORY},  {"zram3", BLOCK_MEMORY}, {"nbd1", BLOCK_NETWORK},
		     {"rbd1", BLOCK_NETWORK}, {"sr1", BLOCK_OPTICAL},  {"nvme0n1", BLOCK_DISK},
		     {"ublkb0", BLOCK_OTHER}, {"ram", BLOCK_OTHER},    {"ram:", BLOCK_OTHER},
		     {"ram/", BLOCK_OTHER},   {"xloop0", BLOCK_OTHER}};
	struct root root;

	(void)state;
	assert_int_equal(root_open(&root, ".", NULL), 0);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		char path[100];

		snprintf(path, sizeof path, "sys/class/block/%s/size", CASES[i].name);
		if (path[strlen(path) - 6] == '/')
			strcpy(path, "sys/class/block/ram!/size");
		put_below(path, "1");
		if (block_of(&root, CASES[i].name).kind != CASES[i].kind)
			fail_msg("%s", CASES[i].name);
	}
	assert_int_equal(block_of(&root, "nvme0n1").media, MEDIA_NVME);
	root_close(&root);
}

static void the_serial_is_in_the_first_file_that_has_one(void **state)
{
	char serial[64];
	struct root root;

	(void)state;
	put_below(SDA "size", "1");
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_block_serial(&root, "sda", serial, sizeof serial), -ENOENT);
	assert_int_equal(read_sys_block_serial(&root, "sdb", serial, sizeof serial), -ENOENT);
	assert_int_equal(read_sys_block_serial(&root, "..", serial, sizeof serial), -ENOENT);
	put_below(SDA "device/wwid", "last");
	assert_serial(&root, "sda", "last");
	put_below(SDA "wwid", "third");
	assert_serial(&root, "sda", "third");
	put_below(SDA "device/serial", "second");
	assert_serial(&root, "sda", "second");
	put_below(SDA "serial", "\n");
	assert_serial(&root, "sda", "second");
	put_below(SDA "serial", "first");
	assert_serial(&root, "sda", "first");
	put_file(SDA "device/vpd_pg80", "\0\x83\0\x03xyz", 7);
	assert_serial(&root, "sda", "first");
	put_file(SDA "device/vpd_pg80", "\0\x80\0\x03xyzw", 8);
	assert_serial(&root, "sda", "xyz");
	root_close(&root);
}

static void a_serial_page_may_be_longer_than_a_byte_counts(void **state)
{
	char page[4 + 300], serial[400];

	(void)state;
	memset(page, 's', sizeof page);
	memcpy(page, "\0\x80\x01\x02", 4);
	assert_int_equal(parse_vpd_serial(page, sizeof page, serial, sizeof serial), 0);
	assert_int_equal(strlen(serial), 258);
	assert_int_equal(parse_vpd_serial(page, 5, serial, sizeof serial), 0);
	assert_string_equal(serial, "s");
}

static void the_model_may_have_another_name_and_the_vendor_none(void **state)
{
	struct sys_block block;

	(void)state;
	put_below(SDA "device/name", "by name");
	put_below(SDA "device/vendor", "0x1af4");
	block = sda_with(SDA "other", "");
	assert_string_equal(block.model, "by name");
	assert_string_equal(block.vendor, "");
	put_below(SDA "device/vendor", "x0 Co");
	block = sda_with(SDA "device/model", "by model");
	assert_string_equal(block.model, "by model");
	assert_string_equal(block.vendor, "x0 Co");
}

static void a_partition_without_a_folder_above_has_no_disk(void **state)
{
	struct sys_block block;
	struct root root;

	(void)state;
	put_below("sys/class/block/sda1/partition", "1");
	put_below("x/y!z/sda2/partition", "1");
	assert_int_equal(symlink("sda1", "sys/class/block/sda3"), 0);
	assert_int_equal(symlink("../../../x/y!z/sda2", "sys/class/block/sda2"), 0);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_block(&root, "sda1", &block), 0);
	assert_int_equal(block.kind, BLOCK_PARTITION);
	assert_string_equal(block.parent, "");
	assert_string_equal(block_of(&root, "sda3").parent, "");
	assert_string_equal(block_of(&root, "sda2").parent, "y/z");
	root_close(&root);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	struct sys_block block;
	struct root root;
	char name[300], path[300];

	(void)state;
	/* 16 bytes for "sys/class/block/" and 239 for the name fill the room up to its NUL. */
	memset(name, 'x', sizeof name);
	name[239] = '\0';
	snprintf(path, sizeof path, "sys/class/block/%s", name);
	mkdir("sys", 0700);
	mkdir("sys/class", 0700);
	mkdir("sys/class/block", 0700);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(root_open(&root, ".", NULL), 0);
	assert_int_equal(read_sys_block(&root, name, &block), 0);
	name[239] = 'x';
	name[240] = '\0';
	assert_int_equal(read_sys_block(&root, name, &block), -ENAMETOOLONG);
	assert_int_equal(read_sys_block(&root, ".", &block), -ENOENT);
	assert_int_equal(sys_block_is_partition(&root, name), -ENAMETOOLONG);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_leaves_are_told_apart),
		cmocka_unit_test(identity_is_read_where_it_is),
		cmocka_unit_test(bus_numbers_are_not_taken_for_vendors),
		cmocka_unit_test(partitions_know_their_disk),
		cmocka_unit_test(is_partition_asks_the_kernel_not_the_name),
		cmocka_unit_test(volumes_of_a_pool_do_not_count_as_leaves),
		cmocka_unit_test(paths_of_nvme_lead_to_their_head),
		cmocka_unit_test(names_of_nothing_are_errors),
		cmocka_unit_test(serial_pages_are_cut_at_the_end_of_the_file),
		unit_test_in_scratch(sizes_and_numbers_have_their_most),
		unit_test_in_scratch(each_sign_decides_the_kind),
		unit_test_in_scratch(names_with_a_number_decide_the_kind),
		unit_test_in_scratch(the_serial_is_in_the_first_file_that_has_one),
		unit_test_in_scratch(a_serial_page_may_be_longer_than_a_byte_counts),
		unit_test_in_scratch(the_model_may_have_another_name_and_the_vendor_none),
		unit_test_in_scratch(a_partition_without_a_folder_above_has_no_disk),
		unit_test_in_scratch(a_name_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
