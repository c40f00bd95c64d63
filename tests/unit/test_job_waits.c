/* Tests of src/job/waits/job_waits.c: its rows, and the time that a look adds to them. */
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

static void a_full_table_has_one_more_row_for_each_class(void **state)
{
	const size_t own = WAIT_ROWS_MOST - WAIT_CLASS_COUNT;
	char target[8];

	(void)state;
	for (size_t i = 0; i < own + 5; i++) {
		snprintf(target, sizeof target, "t%zu", i);
		count_wait(WAIT_PIPE, target, "", 1);
	}
	assert_int_equal(waits.count, own + 1);
	snprintf(target, sizeof target, "t%zu", own - 1);
	assert_string_equal(target_of(own - 1), target);
	assert_string_equal(target_of(own), "");
	assert_string_equal(waits.rows[own].program, "");
	assert_int_equal(waits.rows[own].ns, 5);
	count_wait(WAIT_SOCKET, "far", "1.2.3.4:5", 7);
	count_wait(WAIT_PIPE, "t0", "", 1);
	assert_int_equal(waits.count, own + 2);
	assert_int_equal(waits.rows[own + 1].wait.class, WAIT_SOCKET);
	assert_string_equal(waits.rows[own + 1].program, "");
	assert_null(waits.rows[own + 1].detail);
	assert_int_equal(waits.rows[0].ns, 2);
	job_waits_done(&waits);
}

/* ---- the time of a look ---- */

static struct root root;
static struct member member;
static struct process_tree tree;

/* A job whose only process has waited for a pipe. It has not run since. */
static int begin_looks(void **state)
{
	(void)state;
	root = (struct root){.live = true, .dir_fd = -1, .proc_fd = -1};
	member = (struct member){.pid = 100, .quiet_ticks = 1};
	tree = (struct process_tree){.root = &root, .members = &member, .count = 1};
	waits = (struct job_waits){.has_last = true};
	count_wait(WAIT_PIPE, "sort", "", 0);
	return 0;
}

static int end_looks(void **state)
{
	(void)state;
	job_waits_done(&waits);
	waits = (struct job_waits){0};
	return 0;
}

/* The recording began at second 10. */
static void look(double secs, double cpu_secs, bool is_last)
{
	tree.pass_ns = (int64_t)(secs * 1e9);
	tree.cpu.account.published.of[USAGE_CPU_NS] = (int64_t)(cpu_secs * 1e9);
	job_waits_look(&waits, &tree, (int64_t)10e9, is_last ? tree.pass_ns : 0);
}

static int64_t waited_ms(void)
{
	return waits.rows[0].ns / 1000000;
}

static void a_sample_without_its_cpu_time_is_waited_for(void **state)
{
	(void)state;
	look(12, 0.5, false);
	assert_int_equal(waited_ms(), 1500);
	assert_int_equal(waits.rows[0].looks, 2);
	look(13, 1, false);
	assert_int_equal(waited_ms(), 2000);
	assert_int_equal(waits.found_ns, 500000000);
	assert_int_equal(waits.idle_ns, 2000000000);
	/* The job has ended: it waits for nothing any more, and the time before is of the last wait. */
	look(14, 1.75, true);
	assert_int_equal(waited_ms(), 2250);
	assert_int_equal(waits.rows[0].looks, 4 - 1);
	member.is_zombie = true;
	look(15, 1.75, false);
	assert_int_equal(waited_ms(), 3250);
	assert_int_equal(waits.rows[0].looks, 3);
}

static void time_after_the_end_is_waited_for_by_nobody(void **state)
{
	(void)state;
	look(12, 0.5, false);
	tree.pass_ns = (int64_t)13e9;
	job_waits_look(&waits, &tree, (int64_t)10e9, (int64_t)12.25e9);
	assert_int_equal(waited_ms(), 1750);
	/* The look before came after the end, which was told late. */
	job_waits_look(&waits, &tree, (int64_t)10e9, (int64_t)12e9);
	assert_int_equal(waited_ms(), 1750);
}

static void a_busy_job_is_not_looked_at(void **state)
{
	(void)state;
	/* A twentieth of the sample is enough. */
	look(11, 0.95, false);
	assert_int_equal(waited_ms(), 50);
	look(12, 0.95 + 0.951, false);
	assert_int_equal(waited_ms(), 50);
	assert_false(waits.has_last);
	assert_int_equal(waits.found_ns, 0);
	assert_int_equal(waits.idle_ns, 50000000);
}

/* A thread that waits for a CPU is ready, and does not wait for an event. */
static void waiting_for_a_cpu_is_no_idle_time(void **state)
{
	(void)state;
	tree.cpu.waiting.has_times = true;
	tree.cpu.waiting.total.wait_ns = 100000000;
	tree.cpu.waiting.total.run_ns = 400000000;
	/* 0.06 s ran unread, and may have waited as long: 1 - 0.46 - 0.1 - 0.06. */
	look(11, 0.46, false);
	assert_int_equal(waited_ms(), 380);
	tree.cpu.waiting.total.wait_ns += 100000000;
	tree.cpu.waiting.total.run_ns += 500000000;
	look(12, 0.92, false);
	assert_int_equal(waited_ms(), 380 + 440);
	tree.cpu.waiting.has_times = false;
	tree.cpu.waiting.total.wait_ns += 100000000;
	look(13, 1.42, false);
	assert_int_equal(waited_ms(), 380 + 440 + 500);
}

static void a_captured_machine_is_not_looked_at(void **state)
{
	(void)state;
	root.live = false;
	look(12, 0.5, false);
	assert_int_equal(waited_ms(), 0);
	assert_int_equal(waits.idle_ns, 0);
	root.live = true;
	look(13, 0.5, false);
	assert_int_equal(waited_ms(), 1000);
}

/* The time of a sample whose end shows no wait is of the next one. */
static void time_is_kept_until_a_wait_is_seen(void **state)
{
	(void)state;
	tree.count = 0;
	tree.root_pid = 100;
	waits.has_last = false;
	member.quiet_ticks = 0;
	look(11, 0.5, false);
	assert_int_equal(waited_ms(), 0);
	waits.pending_ns = 500000000;
	tree.count = 1;
	member.quiet_ticks = 1;
	waits.has_last = true;
	look(12, 0.75, false);
	assert_int_equal(waited_ms(), 1250);
	assert_int_equal(waits.pending_ns, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_a_class_a_target_a_program_and_a_detail),
		cmocka_unit_test(many_details_leave_the_targets_of_later_waits),
		cmocka_unit_test(waits_past_the_most_lose_their_details_before_their_targets),
		cmocka_unit_test(waits_past_the_most_are_one_row_for_each_class),
		cmocka_unit_test(a_full_table_has_one_more_row_for_each_class),
		cmocka_unit_test_setup_teardown(a_sample_without_its_cpu_time_is_waited_for, begin_looks,
						end_looks),
		cmocka_unit_test_setup_teardown(time_after_the_end_is_waited_for_by_nobody, begin_looks,
						end_looks),
		cmocka_unit_test_setup_teardown(a_busy_job_is_not_looked_at, begin_looks, end_looks),
		cmocka_unit_test_setup_teardown(waiting_for_a_cpu_is_no_idle_time, begin_looks, end_looks),
		cmocka_unit_test_setup_teardown(a_captured_machine_is_not_looked_at, begin_looks, end_looks),
		cmocka_unit_test_setup_teardown(time_is_kept_until_a_wait_is_seen, begin_looks, end_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
