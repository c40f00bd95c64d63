/* Tests of src/kernel/spl_zfs.c. */
#include "kernel.h"

#include "kernel/spl_zfs.h"

static const char ARCSTATS[] = "13 1 0x01 147 39984 4286331046 8712345678901\n"
			       "name                            type data\n"
			       "hits                            4    8123456\n"
			       "c_min                           4    2104989440\n"
			       "size                            4    21474836480\n";

static void data_is_the_third_column(void **state)
{
	struct spl_zfs_arcstats arcstats;

	(void)state;
	assert_int_equal(parse_spl_zfs_arcstats(ARCSTATS, strlen(ARCSTATS), &arcstats), 0);
	assert_int_equal(arcstats.size_bytes, 21474836480);
	assert_int_equal(arcstats.min_bytes, 2104989440);
}

static void odd_lines_lose_only_themselves(void **state)
{
	struct spl_zfs_arcstats arcstats = {.size_bytes = 7};

	(void)state;
	assert_int_equal(parse_spl_zfs_arcstats("size 4\nc_min\n", 13, &arcstats), -EBADMSG);
	assert_int_equal(parse_spl_zfs_arcstats("size 4 x\n", 9, &arcstats), -EBADMSG);
	assert_int_equal(arcstats.size_bytes, 7);
	assert_int_equal(parse_spl_zfs_arcstats("size 4 99999999999999999999\nc_min 4 5", 37, &arcstats), 0);
	assert_int_equal(arcstats.size_bytes, -1);
	assert_int_equal(arcstats.min_bytes, 5);
}

static void parse_any(const char *bytes, size_t length)
{
	struct spl_zfs_arcstats arcstats;

	(void)parse_spl_zfs_arcstats(bytes, length, &arcstats);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(ARCSTATS, parse_any);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_the_third_column),
		cmocka_unit_test(odd_lines_lose_only_themselves),
		cmocka_unit_test(every_beginning_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
