/* Tests of src/kernel/proc_sysvipc_shm.c: the segment with an id, column by column. */
#include "kernel.h"

#include "kernel/proc_sysvipc_shm.h"

#define HEAD \
	"       key      shmid perms       size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      " \
	"dtime      ctime        rss       swap\n"
static const char TEXT[] = HEAD "         0          3   600       4096  4242  4243      2  1000  1001  1002 "
				" 1003 1718000001 1718000002 1718000003       8192      12288\n"
				"        -5          4   600      65536     1     2      0     0     0     0 "
				"    0          0          0          0          0          0\n"
				"         0          5   600       4096     1     2      1     0     0     0 "
				"    0          0          0\n";

static void every_column_finds_its_field(void **state)
{
	struct shm_segment segment;

	(void)state;
	assert_true(parse_proc_sysvipc_shm(TEXT, strlen(TEXT), 3, &segment));
	assert_int_equal(segment.id, 3);
	assert_int_equal(segment.size_bytes, 4096);
	assert_int_equal(segment.attached_count, 2);
	assert_int_equal(segment.resident_bytes, 8192);
	assert_int_equal(segment.swapped_bytes, 12288);
}

/* Linux before 2.6.39 has no rss and no swap. */
static void missing_columns_are_unknown(void **state)
{
	struct shm_segment segment;

	(void)state;
	assert_true(parse_proc_sysvipc_shm(TEXT, strlen(TEXT), 5, &segment));
	assert_true(segment.attached_count == 1 && segment.resident_bytes == -1 &&
		    segment.swapped_bytes == -1);
}

static void a_segment_that_is_not_there_is_not_found(void **state)
{
	struct shm_segment segment = {.id = 77};

	(void)state;
	for (int64_t id = -1; id <= 2; id++)
		assert_false(parse_proc_sysvipc_shm(TEXT, strlen(TEXT), id, &segment));
	assert_false(parse_proc_sysvipc_shm("", 0, 3, &segment));
	assert_int_equal(segment.id, 77);
}

static void parse_any(const char *bytes, size_t length)
{
	struct shm_segment segment;

	(void)parse_proc_sysvipc_shm(bytes, length, 3, &segment);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(TEXT, parse_any);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_column_finds_its_field),
		cmocka_unit_test(missing_columns_are_unknown),
		cmocka_unit_test(a_segment_that_is_not_there_is_not_found),
		cmocka_unit_test(every_beginning_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
