/* Tests of src/kernel/spl_zfs.c. */
#include "kernel.h"

#include "kernel/spl_zfs.h"

static const char OBJSET[] =
	"23 1 0x01 7 2160 221578688875 6665999035587\n"
	"name                            type data\n"
	"dataset_name                    7    tank/my data\n"
	"writes                          4    12\nnwritten                        4    49152\n"
	"reads                           4    3\nnread                           4    12288\n"
	"nunlinks                        4    0\n";

static void data_is_the_third_column(void **state)
{
	struct spl_zfs_objset objset;

	(void)state;
	assert_int_equal(parse_spl_zfs_objset(OBJSET, strlen(OBJSET), &objset), 0);
	assert_string_equal(objset.dataset, "tank/my data");
	assert_int_equal(objset.writes, 12);
	assert_int_equal(objset.write_bytes, 49152);
	assert_int_equal(objset.reads, 3);
	assert_int_equal(objset.read_bytes, 12288);
}

static void odd_lines_lose_only_themselves(void **state)
{
	struct spl_zfs_objset objset = {.reads = 7};

	(void)state;
	assert_int_equal(parse_spl_zfs_objset("reads 4\nnread\n", 14, &objset), -EBADMSG);
	assert_int_equal(parse_spl_zfs_objset("reads 4 x\n", 10, &objset), -EBADMSG);
	assert_int_equal(objset.reads, 7);
	assert_int_equal(parse_spl_zfs_objset("reads 4 99999999999999999999\nnread 4 5", 38, &objset), 0);
	assert_int_equal(objset.reads, -1);
	assert_int_equal(objset.read_bytes, 5);
	assert_string_equal(objset.dataset, "");
}

static void parse_any(const char *bytes, size_t length)
{
	struct spl_zfs_objset objset;
	struct spl_zfs_arcstats arcstats;

	(void)parse_spl_zfs_objset(bytes, length, &objset);
	(void)parse_spl_zfs_arcstats(bytes, length, &arcstats);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(OBJSET, parse_any);
}

static void pools_are_the_folders(void **state)
{
	CLEANUP_ROOT_DIR struct root_dir pools = ROOT_DIR;
	struct root root = test_root("hand-made-storage-zfs-5.15/t1");
	struct spl_zfs_arcstats arcstats;
	struct spl_zfs_pool pool;
	const char *name;
	int count = 0;

	(void)state;
	assert_int_equal(spl_zfs_open_pools(&root, &pools), 0);
	while ((name = spl_zfs_next_pool(&root, &pools))) {
		assert_true(strcmp(name, "tank") == 0 || strcmp(name, "scratch") == 0);
		count++;
	}
	assert_int_equal(count, 2);
	assert_int_equal(read_spl_zfs_pool(&root, "tank", &pool), 0);
	assert_string_equal(pool.state, "ONLINE");
	assert_int_equal(pool.dataset_count, 3);
	assert_int_equal(pool.read_bytes, 20480 + 204800000 + 3000 + 4096);
	assert_int_equal(pool.write_bytes, 40960 + 409600000 + 81920 + 7000);
	assert_int_equal(read_spl_zfs_pool(&root, "scratch", &pool), 0);
	assert_string_equal(pool.state, "DEGRADED");
	assert_int_equal(read_spl_zfs_pool(&root, "none", &pool), -ENOENT);
	assert_int_equal(read_spl_zfs_arcstats(&root, &arcstats), 0);
	assert_int_equal(arcstats.size_bytes, 21474836480 + 1048576);
	assert_int_equal(arcstats.min_bytes, 2104989440);
	assert_int_equal(arcstats.max_bytes, 33679831040);
	root_close(&root);
}

static void without_the_module_there_are_none(void **state)
{
	CLEANUP_ROOT_DIR struct root_dir pools = ROOT_DIR;
	struct root root = test_root("hand-made-vm-3.10/t0");

	(void)state;
	assert_int_equal(spl_zfs_open_pools(&root, &pools), -ENOENT);
	root_close(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_the_third_column),
		cmocka_unit_test(odd_lines_lose_only_themselves),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(pools_are_the_folders),
		cmocka_unit_test(without_the_module_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
