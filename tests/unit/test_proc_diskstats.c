/* Tests of src/kernel/proc_diskstats.c. */
#include "kernel.h"

#include <errno.h>

#include "kernel/proc_diskstats.h"

static const char USUAL[] = "   8       0 sda 51942 9134 2892402 13655 15284 7492 2231200 4678 1 7404 18702 "
			    "4112 100 519792 309 1649 59\n"
			    " 104       1 cciss/c0d0p1 1 2 3 4 5 6 7 8 9 10 11\n";

/* Reads the next device and its counters, as readers of all devices do. */
static bool next_with_counters(struct scan *disks, struct diskstats_device *ret_device,
			       struct diskstats *ret_stats)
{
	while (proc_diskstats_next(disks, ret_device))
		if (parse_diskstats(&ret_device->counters, ret_stats) == 0)
			return true;
	return false;
}

static void sectors_are_512_bytes_always(void **state)
{
	struct scan disks = parse_proc_diskstats(USUAL, strlen(USUAL));
	struct diskstats_device device;
	struct diskstats disk;

	(void)state;
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_int_equal(device.major, 8);
	assert_int_equal(device.minor, 0);
	assert_scan_equal(&device.name, "sda");
	assert_int_equal(disk.reads, 51942);
	assert_int_equal(disk.read_bytes, 2892402LL * 512);
	assert_int_equal(disk.read_ms, 13655);
	assert_int_equal(disk.writes, 15284);
	assert_int_equal(disk.write_bytes, 2231200LL * 512);
	assert_int_equal(disk.write_ms, 4678);
	assert_int_equal(disk.in_flight, 1);
	assert_int_equal(disk.busy_ms, 7404);
	assert_int_equal(disk.weighted_ms, 18702);
	assert_int_equal(disk.discard_bytes, 519792LL * 512);
}

static void old_kernels_have_eleven_columns(void **state)
{
	struct scan disks = parse_proc_diskstats(USUAL, strlen(USUAL));
	struct diskstats_device device;
	struct diskstats disk;

	(void)state;
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_scan_equal(&device.name, "cciss/c0d0p1");
	assert_int_equal(device.major, 104);
	assert_int_equal(disk.write_bytes, 7 * 512);
	assert_int_equal(disk.weighted_ms, 11);
	assert_int_equal(disk.discard_bytes, -1);
	assert_false(next_with_counters(&disks, &device, &disk));
}

static void odd_lines_are_skipped(void **state)
{
	static const char ODD[] = "\nx\n8 0\n8 0 sda 1 2 3\n8 x sdb 1 2 3 4 5 6 7 8 9 10 11\n"
				  "8 16 sdb 1 2 x 4 5 6 99999999999999999999 8 9 10 11\n"
				  "8 32 sdc 1 2 9223372036854775807 4 5 6 7 8 9 10 11";
	struct scan disks = parse_proc_diskstats(ODD, strlen(ODD));
	struct diskstats_device device;
	struct diskstats disk;

	(void)state;
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_scan_equal(&device.name, "sdb");
	assert_int_equal(disk.read_bytes, -1);
	assert_int_equal(disk.write_bytes, -1);
	assert_int_equal(disk.writes, 5);
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_scan_equal(&device.name, "sdc");
	assert_int_equal(disk.read_bytes, -1);
	assert_int_equal(disk.write_bytes, 7 * 512);
	assert_false(next_with_counters(&disks, &device, &disk));
}

static void parse_diskstats_refuses_too_few_columns(void **state)
{
	static const char FEW[] = "8 0 sda 1 2 3\n";
	struct scan disks = parse_proc_diskstats(FEW, strlen(FEW));
	struct diskstats_device device;
	struct diskstats disk;

	(void)state;
	assert_true(proc_diskstats_next(&disks, &device));
	assert_int_equal(parse_diskstats(&device.counters, &disk), -EBADMSG);
}

static void parse_any(const char *bytes, size_t length)
{
	struct scan disks = parse_proc_diskstats(bytes, length);
	struct diskstats_device device;
	struct diskstats disk;

	while (next_with_counters(&disks, &device, &disk))
		assert_true(scan_left(&device.name) > 0);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(USUAL, parse_any);
}

static void the_fixture_is_read(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	struct kept_file file = KEPT_FILE("proc/diskstats");
	struct diskstats_device disk;
	struct scan disks;
	int count = 0;

	(void)state;
	assert_int_equal(read_proc_diskstats(&root, &file, &disks), 0);
	while (proc_diskstats_next(&disks, &disk))
		count++;
	assert_int_equal(count, 23);
	kept_file_close(&file);
	root_close(&root);
}

static void numbers_have_their_most(void **state)
{
	static const char TEXT[] =
		"4294967296 0 a 1 2 3 4 5 6 7 8 9 10 11\n0 4294967296 b 1 2 3 4 5 6 7 8 9 10 11\n"
		"4294967295 4294967295 c 1 2 18014398509481983 4 5 6 18014398509481984 8 9 10 11 1 1 0\n";
	struct scan disks = parse_proc_diskstats(TEXT, strlen(TEXT));
	struct diskstats_device device;
	struct diskstats disk;

	(void)state;
	assert_true(next_with_counters(&disks, &device, &disk));
	assert_scan_equal(&device.name, "c");
	assert_true(device.major == UINT32_MAX && device.minor == UINT32_MAX);
	assert_true(disk.read_bytes == INT64_MAX / 512 * 512);
	assert_int_equal(disk.write_bytes, -1);
	assert_int_equal(disk.discard_bytes, 0);
	assert_false(next_with_counters(&disks, &device, &disk));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sectors_are_512_bytes_always),
		cmocka_unit_test(old_kernels_have_eleven_columns),
		cmocka_unit_test(odd_lines_are_skipped),
		cmocka_unit_test(parse_diskstats_refuses_too_few_columns),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(the_fixture_is_read),
		cmocka_unit_test(numbers_have_their_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
