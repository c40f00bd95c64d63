/* Tests of src/kernel/sys_block.c. */
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
