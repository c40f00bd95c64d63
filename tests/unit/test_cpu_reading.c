/* Tests of src/job/cpu/cpu_reading.c and of sums in process_account.c: which figures a member has after a reading. */
#include "burner.h"
#include "scratch.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "job/cpu/cpu_reading.h"
#include "job/tree/process_files.h"

enum { JOB = 100, TICK_MS = 10 };

static struct root root;
static struct process_tree tree;
static struct member job;
static struct proc_pid_stat stat_file;

static int begin_job(void **state)
{
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | mkdir("proc/100", 0755) | root_open(&root, ".", NULL);
	root.clock_ticks = 1000 / TICK_MS;
	tree = (struct process_tree){.root = &root, .root_pid = JOB, .with_children = true};
	job = (struct member){.pid = JOB, .files = {-1, -1, -1, -1, -1}, .cpu = NEW_MEMBER_CPU};
	stat_file = (struct proc_pid_stat){.utime_ticks = 3,
					   .stime_ticks = 1,
					   .minor_faults = 7,
					   .major_faults = 2,
					   .waited_utime_ticks = 20,
					   .waited_stime_ticks = 5,
					   .waited_minor_faults = 70,
					   .waited_major_faults = 10};
	put_text("proc/100/io",
		 "rchar: 3012\nwchar: 88\nsyscr: 7\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 512\n"
		 "cancelled_write_bytes: 256\n");
	return error;
}

static int end_job(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

static void expect_ms(const struct usages *usages, enum usage usage, double ms)
{
	double found = (double)usages->of[usage] / NSEC_PER_MSEC;

	if (found < ms - 1e-3 || found > ms + 1e-3)
		fail_msg("%f ms, not %f", found, ms);
}

static void a_reading_has_all_figures_of_the_files(void **state)
{
	const struct usages *own = &job.cpu.account.own, *waited = &job.cpu.account.waited,
			    *appears = &job.cpu.account.appears;

	(void)state;
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	expect_ms(own, USAGE_CPU_NS, 40);
	expect_ms(own, USAGE_UTIME_NS, 30);
	assert_int_equal(own->of[USAGE_MINOR_FAULTS], 7);
	assert_int_equal(own->of[USAGE_MAJOR_FAULTS], 2);
	expect_ms(waited, USAGE_CPU_NS, 250);
	expect_ms(waited, USAGE_UTIME_NS, 200);
	assert_int_equal(waited->of[USAGE_MINOR_FAULTS], 70);
	assert_int_equal(waited->of[USAGE_MAJOR_FAULTS], 10);
	assert_int_equal(own->of[USAGE_READ_BYTES], 4096);
	assert_int_equal(own->of[USAGE_WRITE_BYTES], 512);
	assert_int_equal(own->of[USAGE_CANCELLED_BYTES], 256);
	assert_int_equal(own->of[USAGE_READ_CHARS], 3012);
	assert_int_equal(own->of[USAGE_WRITTEN_CHARS], 88);
	/* The time and faults of a child appear in the waited-for figures, its bytes in the only ones. */
	expect_ms(appears, USAGE_CPU_NS, 250);
	assert_int_equal(appears->of[USAGE_MAJOR_FAULTS], 10);
	assert_int_equal(appears->of[USAGE_READ_BYTES], 4096);
	assert_int_equal(appears->of[USAGE_WRITTEN_CHARS], 88);
	assert_true(tree.cpu.io_known);
}

static void a_job_without_its_children_has_no_waited_for_figures(void **state)
{
	(void)state;
	tree.with_children = false;
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	expect_ms(&job.cpu.account.waited, USAGE_CPU_NS, 0);
	assert_int_equal(job.cpu.account.waited.of[USAGE_MINOR_FAULTS], 0);
}

static void the_clock_is_exact_and_is_split_as_the_ticks_are(void **state)
{
	static const struct {
		int user_ticks, system_ticks, clock_ms;
		double user_ms;
	} CASES[] = {{3, 1, 50, 37.5}, {3, 1, 0, 0}, {3, 1, 40, 30}, {3, 1, 20, 20},
		     {3, 1, 35, 30},   {0, 0, 8, 4}, {2, 2, 50, 25}, {0, 2, 30, 0}};

	(void)state;
	tree.uses_clock = true;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		stat_file.utime_ticks = CASES[i].user_ticks;
		stat_file.stime_ticks = CASES[i].system_ticks;
		job.cpu.clock_ns = CASES[i].clock_ms * NSEC_PER_MSEC;
		assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
		expect_ms(&job.cpu.account.own, USAGE_CPU_NS, CASES[i].clock_ms);
		expect_ms(&job.cpu.account.own, USAGE_UTIME_NS, CASES[i].user_ms);
	}
	/* A kernel that refuses the clock of the process. */
	job.cpu.clock_ns = -1;
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	expect_ms(&job.cpu.account.own, USAGE_CPU_NS, 20);
}

static void a_member_that_waits_for_its_turn_has_its_cpu_time(void **state)
{
	(void)state;
	job.cpu.account.own.of[USAGE_CPU_NS] = 40 * NSEC_PER_MSEC;
	job.cpu.account.own.of[USAGE_UTIME_NS] = 30 * NSEC_PER_MSEC;
	job.cpu.ran_ns = 20 * NSEC_PER_MSEC;
	job.cpu.clock_ns = 60 * NSEC_PER_MSEC;
	cpu_pass_over(&job);
	expect_ms(&job.cpu.account.own, USAGE_CPU_NS, 60);
	expect_ms(&job.cpu.account.own, USAGE_UTIME_NS, 45);
}

static void bytes_are_unknown_if_those_of_the_first_process_are(void **state)
{
	(void)state;
	put_text("proc/100/io", "something else");
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), -EBADMSG);
	assert_int_equal(tree.cpu.io_error, EBADMSG);
	put_text("proc/100/io", "");
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), -EBADMSG);
	assert_int_equal(unlink("proc/100/io"), 0);
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), -ENOENT);
	assert_int_equal(tree.cpu.io_error, ENOENT);
	assert_false(tree.cpu.io_known);
	expect_ms(&job.cpu.account.own, USAGE_CPU_NS, 40);
	/* That of another member says nothing, and once known they stay known. */
	tree.root_pid = JOB + 1;
	tree.cpu.io_error = 0;
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), -ENOENT);
	assert_int_equal(tree.cpu.io_error, 0);
	tree.root_pid = JOB;
	tree.cpu.io_known = true;
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), -ENOENT);
	assert_int_equal(tree.cpu.io_error, 0);
}

static void a_program_that_records_itself_does_not_pay_for_it(void **state)
{
	struct own_cost cost = {.threads = 1,
				.spent.of = {[USAGE_CPU_NS] = 5 * NSEC_PER_MSEC,
					     [USAGE_UTIME_NS] = 4 * NSEC_PER_MSEC,
					     [USAGE_MINOR_FAULTS] = 3,
					     [USAGE_READ_BYTES] = 6,
					     [USAGE_READ_CHARS] = 12}};

	(void)state;
	tree.cpu.own_cost = &cost;
	cpu_begin_reading(&tree, &job);
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	assert_int_equal(job.cpu.account.own.of[USAGE_MINOR_FAULTS], 4);
	assert_int_equal(job.cpu.account.own.of[USAGE_MAJOR_FAULTS], 2);
	assert_int_equal(job.cpu.account.own.of[USAGE_READ_CHARS], 3000);
	assert_int_equal(job.cpu.account.appears.of[USAGE_READ_CHARS], 3000);
	assert_int_equal(job.cpu.account.own.of[USAGE_READ_BYTES], 4090);
	assert_int_equal(job.cpu.account.appears.of[USAGE_READ_BYTES], 4090);
	assert_int_equal(job.cpu.account.appears.of[USAGE_MAJOR_FAULTS], 10);
	assert_int_equal(cpu_own_threads(&tree, &job), 1);
	/* The split of 45 ms, without 4 ms of ours. */
	expect_ms(&job.cpu.account.own, USAGE_UTIME_NS, 33.75 - 4);
	/* Ours were counted a moment later. */
	cost.spent.of[USAGE_MAJOR_FAULTS] = 5;
	cpu_begin_reading(&tree, &job);
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	assert_int_equal(job.cpu.account.own.of[USAGE_MAJOR_FAULTS], 0);
	/* A split is an estimate: the user part of the rest may seem to be more than the rest, and ours more than all. */
	stat_file.utime_ticks = 4, stat_file.stime_ticks = 0;
	cost.spent.of[USAGE_UTIME_NS] = 0;
	cpu_begin_reading(&tree, &job);
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	expect_ms(&job.cpu.account.own, USAGE_UTIME_NS, 40);
	cost.spent.of[USAGE_UTIME_NS] = 500 * NSEC_PER_MSEC;
	cpu_begin_reading(&tree, &job);
	assert_int_equal(cpu_read_member(&tree, &job, &stat_file), 0);
	assert_int_equal(job.cpu.account.own.of[USAGE_UTIME_NS], 0);
	job.pid = JOB + 1;
	assert_int_equal(cpu_own_threads(&tree, &job), 0);
}

/* ---- clocks of real processes ---- */

/* A child that has used 3 ms. Its clock stands still. */
static pid_t start_sleeper(void)
{
	pid_t pid = start_burner(3 * NSEC_PER_MSEC);
	int64_t before_ns;

	wait_until_asleep(pid);
	do {
		before_ns = process_clock_ns(pid);
		usleep(2000);
	} while (process_clock_ns(pid) != before_ns);
	return pid;
}

static void a_process_that_has_run_is_read(void **state)
{
	pid_t pid;
	int64_t first_ns;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	pid = start_sleeper();
	job.pid = pid;
	/* Without clocks all have to be read. */
	assert_true(cpu_begin_member(&tree, &job));
	assert_int_equal(job.cpu.clock_ns, -1);
	tree.uses_clock = true;
	assert_true(cpu_has_run_since_look(&tree, &job));
	assert_false(cpu_has_run_since_look(&tree, &job));
	/* How much it ran since it was new is unknown, and counts for no turn. */
	assert_true(cpu_begin_member(&tree, &job));
	first_ns = job.cpu.clock_ns;
	assert_true(first_ns >= 3 * NSEC_PER_MSEC);
	assert_int_equal(job.cpu.looked_ns, first_ns);
	assert_true(job.cpu.ran_ns == INT64_MAX);
	assert_int_equal(tree.cpu.turns.ran_count, 0);
	assert_false(cpu_begin_member(&tree, &job));
	/* It has run for as long as the clock says. */
	job.cpu.clock_ns = first_ns - 7;
	assert_true(cpu_begin_member(&tree, &job));
	assert_int_equal(job.cpu.ran_ns, 7);
	assert_int_equal(tree.cpu.turns.ran_count, 1);
	assert_int_equal(tree.cpu.turns.ran_ns, 7);
	/* Another process has its number. */
	job.cpu.clock_ns = first_ns + 1;
	assert_true(cpu_begin_member(&tree, &job));
	assert_true(job.cpu.ran_ns == INT64_MAX);
	assert_int_equal(tree.cpu.turns.ran_count, 1);
	assert_int_equal(job.cpu.clock_ns, first_ns);
	job.cpu.clock_ns = 0;
	assert_true(cpu_begin_member(&tree, &job));
	assert_int_equal(job.cpu.ran_ns, first_ns);
	end_child(pid);
	assert_false(cpu_begin_member(&tree, &job));
	assert_int_equal(job.cpu.looked_ns, -1);
	job.cpu.looked_ns = 5;
	assert_false(cpu_has_run_since_look(&tree, &job));
}

/* The tracker's part is not in the clock of the program around it. */
static void the_clock_of_a_program_around_us_lacks_our_part(void **state)
{
	struct own_cost cost = {.spent.of = {[USAGE_CPU_NS] = NSEC_PER_MSEC}};
	pid_t pid = start_sleeper();
	int64_t all_ns;

	(void)state;
	job.pid = pid;
	tree.uses_clock = true;
	(void)cpu_begin_member(&tree, &job);
	all_ns = job.cpu.clock_ns;
	tree.cpu.own_cost = &cost;
	(void)cpu_begin_member(&tree, &job);
	assert_int_equal(job.cpu.clock_ns, all_ns);
	tree.root_pid = pid;
	(void)cpu_begin_member(&tree, &job);
	assert_int_equal(job.cpu.clock_ns, all_ns - NSEC_PER_MSEC);
	end_child(pid);
	(void)cpu_begin_member(&tree, &job);
	assert_int_equal(job.cpu.looked_ns, -1);
}

/* ---- sums ---- */

static void rounding_hides_two_ticks_of_time_and_not_one_fault(void **state)
{
	struct account parent = {0}, child = {0};
	struct usages total;

	(void)state;
	child.own.of[USAGE_CPU_NS] = 20 * NSEC_PER_MSEC;
	child.own.of[USAGE_UTIME_NS] = 21 * NSEC_PER_MSEC;
	child.own.of[USAGE_MINOR_FAULTS] = 1;
	account_begin(&parent);
	assert_false(account_is_missing(&parent));
	account_carry(&parent, &child);
	total = account_total(&parent);
	expect_ms(&total, USAGE_CPU_NS, 0);
	expect_ms(&total, USAGE_UTIME_NS, 21);
	assert_int_equal(total.of[USAGE_MINOR_FAULTS], 1);
	assert_true(account_is_missing(&parent));
	parent.appears = child.own;
	assert_false(account_is_missing(&parent));
	parent.appears.of[USAGE_MINOR_FAULTS] = 0;
	assert_true(account_is_missing(&parent));
}

/* A second child does not begin the account anew: faults that have appeared since the first one count for both. */
static void a_second_child_is_carried_beside_the_first(void **state)
{
	struct account parent = {0}, child = {.own.of = {[USAGE_MINOR_FAULTS] = 100}};
	struct usages total;

	(void)state;
	account_begin(&parent);
	account_carry(&parent, &child);
	parent.appears.of[USAGE_MINOR_FAULTS] = 60;
	account_begin(&parent);
	account_carry(&parent, &child);
	total = account_total(&parent);
	assert_int_equal(total.of[USAGE_MINOR_FAULTS], 140);
}

static void the_sum_of_a_tree_never_goes_back(void **state)
{
	struct tree_account account = {.reaped.of = {[USAGE_CPU_NS] = 100, [USAGE_UTIME_NS] = 60}};
	struct usages members = {.of = {[USAGE_CPU_NS] = 50, [USAGE_UTIME_NS] = 40, [USAGE_READ_BYTES] = 9}};

	(void)state;
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 150);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 100);
	assert_int_equal(account.published.of[USAGE_READ_BYTES], 9);
	members = (struct usages){.of = {[USAGE_CPU_NS] = 40, [USAGE_UTIME_NS] = 90, [USAGE_READ_BYTES] = 8}};
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 150);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 100);
	assert_int_equal(account.published.of[USAGE_READ_BYTES], 9);
	/* The user part grows no more than both. */
	members.of[USAGE_CPU_NS] = 60;
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 160);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 110);
	tree_account_raise(&account, 150);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 160);
	tree_account_raise(&account, 320);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 320);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 220);
}

static void a_parent_that_grew_by_as_much_contains_the_child(void **state)
{
	struct account parent = {0}, child = {0};

	(void)state;
	child.own.of[USAGE_CPU_NS] = 60 * NSEC_PER_MSEC;
	child.waited.of[USAGE_CPU_NS] = 40 * NSEC_PER_MSEC;
	parent.appeared_last.of[USAGE_CPU_NS] = 1000 * NSEC_PER_MSEC;
	parent.waited.of[USAGE_CPU_NS] = 1080 * NSEC_PER_MSEC;
	assert_true(account_may_contain(&parent, &child));
	parent.waited.of[USAGE_CPU_NS] -= 1;
	assert_false(account_may_contain(&parent, &child));
	/* Less than the roundings tells nothing. */
	child = (struct account){.own.of = {[USAGE_CPU_NS] = 20 * NSEC_PER_MSEC}};
	assert_false(account_may_contain(&parent, &child));
	child.own.of[USAGE_CPU_NS]++;
	assert_true(account_may_contain(&parent, &child));
	parent.waited = parent.appeared_last;
	assert_false(account_may_contain(&parent, &child));
}

#define unit_test_of_job(test) cmocka_unit_test_setup_teardown(test, begin_job, end_job)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_job(a_reading_has_all_figures_of_the_files),
		unit_test_of_job(a_job_without_its_children_has_no_waited_for_figures),
		unit_test_of_job(the_clock_is_exact_and_is_split_as_the_ticks_are),
		unit_test_of_job(a_member_that_waits_for_its_turn_has_its_cpu_time),
		unit_test_of_job(bytes_are_unknown_if_those_of_the_first_process_are),
		unit_test_of_job(a_program_that_records_itself_does_not_pay_for_it),
		unit_test_of_job(a_process_that_has_run_is_read),
		unit_test_of_job(the_clock_of_a_program_around_us_lacks_our_part),
		cmocka_unit_test(rounding_hides_two_ticks_of_time_and_not_one_fault),
		cmocka_unit_test(a_second_child_is_carried_beside_the_first),
		cmocka_unit_test(the_sum_of_a_tree_never_goes_back),
		cmocka_unit_test(a_parent_that_grew_by_as_much_contains_the_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
