/* Tests of src/kernel/taskstats.c, on messages built like the kernel's. */
#include "kernel.h"

#include "kernel/netlink.h"
#include "kernel/taskstats.h"

enum { FAMILY = 31, STATS_BYTES = 416, MESSAGE_BYTES = 16 + 4 + 4 + 8 + 4 + STATS_BYTES };

static void put(char *bytes, size_t offset, uint64_t value, size_t size)
{
	memcpy(bytes + offset, &value, size);
}

/* A record of thread 101 of process 100 ("cc1plus"), child of 99. */
static void build(char message[MESSAGE_BYTES])
{
	char *stats = message + MESSAGE_BYTES - STATS_BYTES;

	memset(message, 0, MESSAGE_BYTES);
	put(message, 0, MESSAGE_BYTES, 4);
	put(message, 4, FAMILY, 2);
	put(message, 20, MESSAGE_BYTES - 20, 2);
	put(message, 22, 4, 2); /* AGGR_PID */
	put(message, 24, 8, 2);
	put(message, 26, 1, 2); /* PID */
	put(message, 28, 101, 4);
	put(message, 32, 4 + STATS_BYTES, 2);
	put(message, 34, 3, 2); /* STATS */
	memcpy(stats + 80, "cc1plus", 7);
	put(stats, 72, 1234567, 8);
	put(stats, 128, 101, 4);
	put(stats, 132, 99, 4);
	put(stats, 152, 1000, 8);
	put(stats, 160, 500, 8);
	put(stats, 200, 4096, 8);
	put(stats, 24, 700, 8);
	put(stats, 144, 5000, 8);
	for (size_t i = 0; i < 2; i++) {
		put(stats, 216 + 8 * i, UINT64_C(10240) << i, 8);
		put(stats, 272 + 8 * i, 2 + i, 8);
	}
	for (size_t i = 0; i < 3; i++)
		put(stats, 248 + 8 * i, UINT64_C(4096) << i, 8);
	put(stats, 368, 100, 4);
	stats[8] = 0x21; /* it has not called exec, and is the last thread */
}

static bool first_of(const char *bytes, size_t length, struct taskstats *record)
{
	struct scan messages = scan_bytes(bytes, length);

	return taskstats_next(&messages, FAMILY, record);
}

static void a_record_has_every_field(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(record.tid, 101);
	assert_int_equal(record.pid, 100);
	assert_int_equal(record.parent_pid, 99);
	assert_string_equal(record.comm, "cc1plus");
	assert_int_equal(record.cpu_ns, 1234567);
	assert_int_equal(record.peak_resident_kib, 4096);
	assert_true(record.is_fork && record.is_last);
	assert_int_equal(record.delay_ns, 700);
	assert_int_equal(record.elapsed_ns, 5000000);
	assert_int_equal(record.sleeps, 2);
	assert_int_equal(record.switches, 5);
	assert_int_equal(record.io[TASKSTATS_READ], 4096);
	assert_int_equal(record.io[TASKSTATS_WRITTEN], 8192);
	assert_int_equal(record.io[TASKSTATS_CANCELLED], 16384);
	assert_int_equal(record.io[TASKSTATS_READ_CHARS], 10240);
	assert_int_equal(record.io[TASKSTATS_WRITTEN_CHARS], 20480);
}

static void without_a_run_time_the_ticks_count(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	put(message, MESSAGE_BYTES - STATS_BYTES + 72, 0, 8);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(record.cpu_ns, 1500000);
}

static void other_families_and_odd_records_are_passed_over(void **state)
{
	/* The family, the aggregate, the statistics, the thread id. */
	static const size_t OFFSETS[] = {4, 22, 34, MESSAGE_BYTES - STATS_BYTES + 128};
	struct taskstats record;

	(void)state;
	for (size_t i = 0; i < sizeof OFFSETS / sizeof OFFSETS[0]; i++) {
		char message[MESSAGE_BYTES];

		build(message);
		message[OFFSETS[i]] = 0;
		assert_false(first_of(message, sizeof message, &record));
	}
}

static void expect_no_record(const char *bytes, size_t length)
{
	struct taskstats record;

	assert_false(first_of(bytes, length, &record));
}

static void every_beginning_of_a_record_is_harmless(void **state)
{
	char message[MESSAGE_BYTES];

	(void)state;
	build(message);
	each_beginning(message, sizeof message, expect_no_record);
}

/* Root in the initial namespaces hears its own child. */
static void a_child_is_recorded_where_the_kernel_allows(void **state)
{
	uint16_t family = 0;
	int fd = taskstats_open(1 << 20, &family);
	bool found = false;
	char bytes[8192];
	pid_t child;
	int length;

	(void)state;
	if (fd < 0)
		skip();
	child = reaped_child();
	while ((length = netlink_receive(fd, bytes, sizeof bytes)) > 0) {
		struct scan messages = scan_bytes(bytes, (size_t)length);
		struct taskstats record;

		while (taskstats_next(&messages, family, &record))
			found |= record.tid == child && record.parent_pid == getpid();
	}
	close(fd);
	assert_true(found);
}

static void set_u64(char message[MESSAGE_BYTES], size_t offset, uint64_t value)
{
	put(message, MESSAGE_BYTES - STATS_BYTES + offset, value, 8);
}

/* A count above the largest number is none, which is 0. */
static void counts_have_their_most(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	set_u64(message, 200, INT64_MAX);
	set_u64(message, 248, (uint64_t)INT64_MAX + 1);
	set_u64(message, 144, INT64_MAX / 1000);
	set_u64(message, 272, INT64_MAX);
	set_u64(message, 280, INT64_MAX);
	assert_true(first_of(message, sizeof message, &record));
	assert_true(record.peak_resident_kib == INT64_MAX);
	assert_int_equal(record.io[TASKSTATS_READ], 0);
	assert_true(record.elapsed_ns == INT64_MAX / 1000 * 1000);
	assert_int_equal(record.sleeps, INT32_MAX);
	assert_int_equal(record.switches, INT64_C(2) * INT32_MAX);
	set_u64(message, 144, INT64_MAX / 1000 + 1);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(record.elapsed_ns, 0);
	/* The sum of both times is the last that a number holds. */
	set_u64(message, 72, 0);
	set_u64(message, 152, INT64_MAX / 1000);
	set_u64(message, 160, 0);
	assert_true(first_of(message, sizeof message, &record));
	assert_true(record.cpu_ns == INT64_MAX / 1000 * 1000);
	set_u64(message, 160, 1);
	assert_false(first_of(message, sizeof message, &record));
	set_u64(message, 152, INT64_MAX / 1000 + 1);
	set_u64(message, 160, 0);
	assert_false(first_of(message, sizeof message, &record));
	set_u64(message, 152, 0);
	set_u64(message, 160, INT64_MAX / 1000 + 1);
	assert_false(first_of(message, sizeof message, &record));
	set_u64(message, 160, 0);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(record.cpu_ns, 0);
}

static void process_ids_have_their_most(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	put(message, MESSAGE_BYTES - STATS_BYTES + 132, INT32_MAX, 4);
	put(message, MESSAGE_BYTES - STATS_BYTES + 368, (uint32_t)INT32_MAX + 1, 4);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(record.parent_pid, INT32_MAX);
	assert_int_equal(record.pid, 0);
}

static void a_name_has_fifteen_bytes(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	memset(message + MESSAGE_BYTES - STATS_BYTES + 80, 'n', 32);
	assert_true(first_of(message, sizeof message, &record));
	assert_int_equal(strlen(record.comm), 15);
}

static void each_flag_stands_for_itself(void **state)
{
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	build(message);
	message[MESSAGE_BYTES - STATS_BYTES + 8] = 0x01;
	assert_true(first_of(message, sizeof message, &record));
	assert_true(record.is_fork && !record.is_last);
	message[MESSAGE_BYTES - STATS_BYTES + 8] = 0x20;
	assert_true(first_of(message, sizeof message, &record));
	assert_true(!record.is_fork && record.is_last);
	message[MESSAGE_BYTES - STATS_BYTES + 8] = (char)0xde;
	assert_true(first_of(message, sizeof message, &record));
	assert_true(!record.is_fork && !record.is_last);
}

/* Version 8 of the kernel's record ended here, and version 12 brought the process's id. */
static void a_shorter_record_of_an_older_kernel_has_no_process_id(void **state)
{
	enum { OLD = 288, LENGTH = MESSAGE_BYTES - STATS_BYTES + OLD };
	char message[MESSAGE_BYTES];
	struct taskstats record;

	(void)state;
	for (size_t less = 0; less < 2; less++) {
		build(message);
		put(message, 0, LENGTH - less, 4);
		put(message, 20, LENGTH - 20 - less, 2);
		put(message, 32, 4 + OLD - less, 2);
		assert_int_equal(first_of(message, LENGTH - less, &record), !less);
	}
	assert_int_equal(record.pid, 0);
	assert_int_equal(record.tid, 101);
	assert_int_equal(record.switches, 5);
}

/* The aggregate of a process (5) comes before that of a thread, or other parts before the statistics. */
static void other_parts_are_stepped_over(void **state)
{
	char message[MESSAGE_BYTES], two[2 * MESSAGE_BYTES] = {0}, bare[20] = {20};
	struct scan messages = scan_bytes(two, sizeof two);
	struct taskstats record;

	(void)state;
	build(message);
	memcpy(two, message, sizeof message);
	two[22] = 5;
	put(message, MESSAGE_BYTES - STATS_BYTES + 128, 102, 4);
	memcpy(two + MESSAGE_BYTES, message, sizeof message);
	assert_true(taskstats_next(&messages, FAMILY, &record));
	assert_int_equal(record.tid, 102);
	assert_false(taskstats_next(&messages, FAMILY, &record));
	/* A message without attributes, and one that is cut in its generic header. */
	put(bare, 4, FAMILY, 2);
	assert_false(first_of(bare, sizeof bare, &record));
	bare[0] = 19;
	assert_false(first_of(bare, 19, &record));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_every_field),
		cmocka_unit_test(without_a_run_time_the_ticks_count),
		cmocka_unit_test(other_families_and_odd_records_are_passed_over),
		cmocka_unit_test(every_beginning_of_a_record_is_harmless),
		cmocka_unit_test(a_child_is_recorded_where_the_kernel_allows),
		cmocka_unit_test(counts_have_their_most),
		cmocka_unit_test(process_ids_have_their_most),
		cmocka_unit_test(a_name_has_fifteen_bytes),
		cmocka_unit_test(each_flag_stands_for_itself),
		cmocka_unit_test(a_shorter_record_of_an_older_kernel_has_no_process_id),
		cmocka_unit_test(other_parts_are_stepped_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
