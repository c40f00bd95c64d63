/* Tests of src/job/waits/job_waits.c: its rows. */
#include "unit.h"

#include <stdio.h>

#include "job/waits/job_waits.h"

static struct job_waits waits;

static void count_wait(enum wait_class class, const char *target, const char *detail, int64_t ns)
{
	struct found_wait wait = {.class = class, .fd = -1};
	struct counted_wait *row;

	snprintf(wait.target, sizeof wait.target, "%s", target);
	row = job_waits_row(&waits, &wait, "job", detail);
	row->ns += ns;
	row->looks++;
}

/* Waits for `count` files of one file system, 1 ns longer each. */
static void count_files(int count)
{
	char path[32];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "/data/%d", i);
		count_wait(WAIT_STORAGE, "ext4", path, i + 1);
	}
}

static const char *target_of(size_t place)
{
	return waits.rows[place].wait.target;
}

static void a_row_is_a_class_a_target_a_program_and_a_detail(void **state)
{
	(void)state;
	count_wait(WAIT_STORAGE, "ext4", "/data/1", 1);
	count_wait(WAIT_STORAGE, "ext4", "/data/1", 2);
	count_wait(WAIT_STORAGE, "ext4", "", 4);
	count_wait(WAIT_STORAGE, "xfs", "/data/1", 8);
	count_wait(WAIT_SOCKET, "ext4", "/data/1", 16);
	assert_int_equal(waits.count, 4);
	assert_int_equal(waits.rows[0].ns, 3);
	assert_int_equal(waits.rows[0].looks, 2);
	job_waits_done(&waits);
}

static void many_details_leave_the_targets_of_later_waits(void **state)
{
	(void)state;
	count_files(200);
	count_wait(WAIT_SOCKET, "postgres", "127.0.0.1:5432", 1000);
	count_wait(WAIT_LOCK, "worker", "", 1000);
	assert_int_equal(waits.count, WAIT_DETAILS_MOST + 3);
	assert_string_equal(target_of(waits.count - 2), "postgres");
	assert_null(waits.rows[waits.count - 2].detail);
	assert_string_equal(target_of(waits.count - 1), "worker");
	job_waits_done(&waits);
}

static void waits_past_the_most_lose_their_details_before_their_targets(void **state)
{
	(void)state;
	count_files(10);
	count_wait(WAIT_SOCKET, "postgres", "127.0.0.1:5432", 7);
	job_waits_finish(&waits, 4);
	/* Files of 10, 9 and 8 ns are told apart. Those of 7 to 1 ns are 28 together, and the first row. */
	assert_int_equal(waits.count, 5);
	assert_string_equal(target_of(0), "ext4");
	assert_null(waits.rows[0].detail);
	assert_int_equal(waits.rows[0].ns, 28);
	assert_int_equal(waits.rows[0].looks, 7);
	assert_string_equal(waits.rows[1].detail, "/data/9");
	assert_string_equal(waits.rows[3].detail, "/data/7");
	/* The socket is another class, whose row has no target. */
	assert_int_equal(waits.rows[4].wait.class, WAIT_SOCKET);
	assert_string_equal(target_of(4), "");
	assert_int_equal(waits.rows[4].ns, 7);
	job_waits_done(&waits);
}

static void waits_past_the_most_are_one_row_for_each_class(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		char target[8];

		snprintf(target, sizeof target, "t%d", i);
		count_wait(i % 2 ? WAIT_PIPE : WAIT_SOCKET, target, "", 10 - i);
	}
	job_waits_finish(&waits, 2);
	assert_int_equal(waits.count, 4);
	assert_string_equal(target_of(1), "t1");
	assert_int_equal(waits.rows[2].ns, 8 + 6);
	assert_int_equal(waits.rows[3].ns, 7 + 5);
	assert_string_equal(waits.rows[3].program, "");
	job_waits_done(&waits);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_a_class_a_target_a_program_and_a_detail),
		cmocka_unit_test(many_details_leave_the_targets_of_later_waits),
		cmocka_unit_test(waits_past_the_most_lose_their_details_before_their_targets),
		cmocka_unit_test(waits_past_the_most_are_one_row_for_each_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
