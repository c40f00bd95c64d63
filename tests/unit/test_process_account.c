/*
 * Tests of src/job/cpu/process_account.c: the time of ended processes appears once, in the parent that reaps
 * them.
 */
#include "base/clock.h"
#include "job/cpu/cpu_tuning.h"
#include "job/cpu/process_account.h"
#include "kernel/proc_pid_io.h"
#include "unit.h"

#define SECS(secs) ((int64_t)((secs)*1e9))

/* An account with CPU time only. */
static struct account used(double own_secs, double before_secs)
{
	struct account account = {0};

	account.own.of[USAGE_CPU_NS] = SECS(own_secs);
	account.before.of[USAGE_CPU_NS] = SECS(before_secs);
	return account;
}

static void reads(struct account *account, double own_secs, double waited_secs)
{
	account_begin(account);
	account->own.of[USAGE_CPU_NS] = SECS(own_secs);
	account->waited.of[USAGE_CPU_NS] = account->appears.of[USAGE_CPU_NS] = SECS(waited_secs);
}

static double total_secs(const struct account *account)
{
	struct usages total = account_total(account);

	return (double)total.of[USAGE_CPU_NS] / 1e9;
}

static void expect_total(const struct account *account, double secs)
{
	double found = total_secs(account);

	if (found < secs - 1e-6 || found > secs + 1e-6)
		fail_msg("%f s, not %f", found, secs);
}

static void test_carried_until_it_turns_up(void **state)
{
	struct account parent = used(1, 0), child = used(2, 0);

	(void)state;
	reads(&parent, 1, 0);
	account_carry(&parent, &child);
	expect_total(&parent, 3);
	/* rounded down to ticks */
	reads(&parent, 1.5, 1.99);
	expect_total(&parent, 3.49);
	account_settle(&parent);
	assert_false(parent.carries);
	expect_total(&parent, 3.49);
}

/*
 * Another process has reaped it (init, if the parent ended as well). Foreign time does not replace the
 * missing time.
 */
static void test_time_that_never_appears_stays_with_the_ancestor(void **state)
{
	struct account parent = used(1, 0), child = used(102, 100);

	(void)state;
	reads(&parent, 1, 0);
	account_carry(&parent, &child);
	reads(&parent, 1, 0);
	account_settle(&parent);
	assert_false(parent.carries);
	expect_total(&parent, 3);
	reads(&parent, 1, 50);
	expect_total(&parent, 53);
}

/*
 * If a child used time before the attach, this time also appears in its parent, and does not count there
 * either.
 */
static void test_time_from_before_the_start_never_appears(void **state)
{
	struct account parent = used(0, 0), child = used(100.5, 100);

	(void)state;
	expect_total(&child, 0.5);
	reads(&parent, 0, 0);
	account_carry(&parent, &child);
	expect_total(&parent, 0.5);
	reads(&parent, 0, 100.5);
	expect_total(&parent, 0.5);
	account_settle(&parent);
	assert_false(parent.carries);
	reads(&parent, 1, 102.5);
	expect_total(&parent, 3.5);
}

/* The same for a child that used nothing since. */
static void test_a_child_that_only_was(void **state)
{
	struct account parent = used(0, 0), child = used(7, 7);

	(void)state;
	assert_false(account_is_empty(&child));
	reads(&parent, 0, 0);
	account_carry(&parent, &child);
	reads(&parent, 0, 7);
	expect_total(&parent, 0);
}

/* Over two generations: the parent ends before or after the time of its child has appeared. */
static void test_time_from_before_the_start_over_two_generations(void **state)
{
	(void)state;
	for (int turned_up = 0; turned_up < 2; turned_up++) {
		struct account grandparent = used(0, 0), parent = used(1, 0.25), child = used(100.5, 100);

		reads(&grandparent, 0, 0);
		account_begin(&parent);
		account_carry(&parent, &child);
		if (turned_up) {
			reads(&parent, 1, 100.5);
			account_settle(&parent);
		}
		expect_total(&parent, 1.25);
		account_carry(&grandparent, &parent);
		expect_total(&grandparent, 1.25);
		reads(&grandparent, 0, 101.5);
		expect_total(&grandparent, 1.25);
		account_settle(&grandparent);
		assert_false(grandparent.carries);
	}
}

/* A child that ended during our start, before or after its time had appeared. */
static void test_time_carried_at_the_start_is_excluded(void **state)
{
	(void)state;
	for (int turned_up = 0; turned_up < 2; turned_up++) {
		struct account parent = used(1, 0), child = used(100, 100);

		reads(&parent, 1, 0);
		account_carry(&parent, &child);
		if (turned_up)
			reads(&parent, 1, 100);
		account_forgive(&parent);
		expect_total(&parent, 0);
		reads(&parent, 1.5, 100);
		account_settle(&parent);
		expect_total(&parent, 0.5);
		reads(&parent, 1.5, 101);
		expect_total(&parent, 1.5);
	}
}

static void test_unclaimed_at_the_end(void **state)
{
	struct account parent = used(1, 0), child = used(10.5, 10);
	struct usages reaped = {0}, unclaimed;

	(void)state;
	reads(&parent, 1, 0);
	account_carry(&parent, &child);
	/* No process has reaped the child: its time since the start must come from the parent. */
	reaped.of[USAGE_CPU_NS] = SECS(1);
	unclaimed = account_unclaimed(&parent, &reaped);
	assert_int_equal(unclaimed.of[USAGE_CPU_NS], SECS(0.5));
	/* It did: 10 s of the new time are from before. */
	reaped.of[USAGE_CPU_NS] = SECS(11.5);
	unclaimed = account_unclaimed(&parent, &reaped);
	assert_int_equal(unclaimed.of[USAGE_CPU_NS], -SECS(10));
}

/* The example in process_account.h: the sum of sh, make and cc at each pass. */
static void expect_sum(const struct account *sh, const struct account *make, double secs)
{
	double found = total_secs(sh) + total_secs(make);

	if (found < secs - 1e-6 || found > secs + 1e-6)
		fail_msg("%f s, not %f", found, secs);
}

/* Passes 1 and 2: make has reaped cc, but was read before that. */
static void read_until_cc_is_gone(struct account *sh, struct account *make, const struct account *cc)
{
	reads(sh, 0.010, 0);
	reads(make, 0.050, 0);
	reads(sh, 0.010, 0);
	reads(make, 0.060, 0);
	account_settle(sh);
	account_settle(make);
	account_carry(make, cc);
}

static void test_example_of_three_processes(void **state)
{
	struct account sh = {0}, make = {0}, cc = used(0.700, 0);

	(void)state;
	read_until_cc_is_gone(&sh, &make, &cc);
	expect_sum(&sh, &make, 0.770);
	reads(&sh, 0.010, 0);
	reads(&make, 0.070, 0.900);
	account_settle(&sh);
	account_settle(&make);
	expect_sum(&sh, &make, 0.980);
	reads(&sh, 0.015, 0.980);
	account_settle(&sh);
	account_carry(&sh, &make);
	expect_total(&sh, 0.995);
}

static void test_example_with_sigchld_ignored(void **state)
{
	struct account sh = {0}, make = {0}, cc = used(0.700, 0);

	(void)state;
	read_until_cc_is_gone(&sh, &make, &cc);
	reads(&make, 0.070, 0);
	account_settle(&make);
	expect_sum(&sh, &make, 0.780);
}

static void test_example_with_time_before_attaching(void **state)
{
	struct account sh = {0}, make = {0}, cc = used(0.700, 0.300);

	(void)state;
	read_until_cc_is_gone(&sh, &make, &cc);
	expect_sum(&sh, &make, 0.470);
	reads(&make, 0.070, 0.900);
	account_settle(&make);
	expect_sum(&sh, &make, 0.680);
}

static bool may_contain(double grown_secs, double own_secs, double waited_secs)
{
	struct account parent = {0}, child = {0};

	parent.appeared_last.of[USAGE_CPU_NS] = SECS(5);
	parent.waited.of[USAGE_CPU_NS] = SECS(5) + SECS(grown_secs);
	child.own.of[USAGE_CPU_NS] = SECS(own_secs);
	child.waited.of[USAGE_CPU_NS] = SECS(waited_secs);
	return account_may_contain(&parent, &child);
}

/* The kernel rounds times to ticks, so two differ by 20 ms at most. */
static void test_a_parent_that_grew_enough_may_contain_its_child(void **state)
{
	(void)state;
	assert_true(may_contain(3, 1, 2));
	assert_true(may_contain(4, 1, 2));
	assert_true(may_contain(2.98, 1, 2));
	assert_false(may_contain(2.979, 1, 2));
	assert_false(may_contain(0, 0.02, 0));
	assert_false(may_contain(-1, 1, 2));
	/* A child that used no more than that cannot be told from none. */
	assert_false(may_contain(3, 0.01, 0.01));
	assert_true(may_contain(0.001, 0.011, 0.01));
	assert_false(may_contain(0, 0.011, 0.009001));
}

/* Bytes of a child appear in the one figure that a process has, and faults beside its own. */
static void test_use_that_no_process_waited_for_is_left(void **state)
{
	struct account parent = {0}, child = {0};
	struct usages reaped = {0}, unclaimed;

	(void)state;
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++) {
		bool is_io = i >= USAGE_READ_BYTES;

		parent.own.of[i] = 500;
		parent.appears.of[i] = parent.appeared_last.of[i] = is_io ? 500 : 0;
		child.own.of[i] = 100;
		reaped.of[i] = 560;
	}
	unclaimed = account_unclaimed(&parent, &reaped);
	assert_true(usages_are_zero(&unclaimed));
	account_carry(&parent, &child);
	unclaimed = account_unclaimed(&parent, &reaped);
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++)
		assert_int_equal(unclaimed.of[i], 40);
	assert_int_equal(unclaimed.of[USAGE_CPU_NS], 0);
}

/* Time of a child was found in its grandparent, which reaped it: to the nanosecond, each of it moves there, what is owed first. */
static void test_use_that_an_ancestor_has_moves_there(void **state)
{
	static const struct {
		int carried, owed, surplus, carried_after, owed_after;
	} CASES[] = {{100, 0, 40, 60, 0}, {70, 30, 40, 60, 0}, {70, 30, 20, 70, 10}, {70, 30, 150, 0, 0},
		     {70, 30, 1, 70, 29}, {70, 30, 0, 70, 30}, {70, 30, -5, 70, 30}};

	(void)state;
	for (enum usage usage = 0; usage < USAGE_COUNT; usage++)
		for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
			struct account account = {.carries = true}, ancestor = {.carries = true};
			int carried = CASES[i].carried, owed = CASES[i].owed;

			account.carried.of[usage] = carried;
			account.owed.of[usage] = owed;
			account.carried_base.of[usage] = account.appears.of[usage] = 7;
			ancestor.carried_base.of[usage] = 5;
			ancestor.appears.of[usage] = 5 + CASES[i].surplus;
			account.carries = false;
			account_find_above(&account, &ancestor);
			account.carries = true;
			ancestor.carries = false;
			account_find_above(&account, &ancestor);
			ancestor.carries = true;
			assert_int_equal(account.carried.of[usage] + account.owed.of[usage], carried + owed);
			assert_true(account_is_missing(&account));
			account_find_above(&account, &ancestor);
			assert_int_equal(account.carried.of[usage], CASES[i].carried_after);
			assert_int_equal(account.owed.of[usage], CASES[i].owed_after);
			assert_int_equal(ancestor.carried.of[usage], carried - CASES[i].carried_after);
			assert_int_equal(ancestor.owed.of[usage], owed - CASES[i].owed_after);
			assert_int_equal(account_is_missing(&account),
					 CASES[i].carried_after + CASES[i].owed_after > 0);
		}
	assert_false(account_is_missing(&(struct account){.carried = {{5}}}));
}

/* CPU time is rounded to ticks, and nothing else is. */
static void test_less_than_two_ticks_are_not_missing(void **state)
{
	(void)state;
	for (enum usage usage = 0; usage < USAGE_COUNT; usage++) {
		int64_t tolerance = usage <= USAGE_UTIME_NS ? CPU_TOLERANCE_NS : 0;

		for (int more = 0; more < 2; more++) {
			struct account account = {.carries = true};

			account.carried.of[usage] = tolerance + more;
			assert_int_equal(account_total(&account).of[usage], more ? tolerance + more : 0);
			account_settle(&account);
			assert_int_equal(account.settled.of[usage], more ? tolerance + more : 0);
			assert_int_equal(account.carried.of[usage], 0);
			assert_false(account.carries);
		}
	}
}

/* The parts of a sum that must not go down, and the figures of ended processes beside those of members. */
static void test_totals_never_go_down(void **state)
{
	struct tree_account account = {0};
	struct usages members = {0};

	(void)state;
	for (enum usage i = 0; i < USAGE_COUNT; i++) {
		account.reaped.of[i] = 20;
		account.retired.of[i] = -5;
		members.of[i] = i == USAGE_UTIME_NS ? 25 : 100;
	}
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 115);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 40);
	assert_int_equal(account.published.of[USAGE_WRITTEN_CHARS], 115);
	for (enum usage i = 0; i < USAGE_COUNT; i++)
		members.of[i] += i == USAGE_UTIME_NS ? 30 : 10;
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 125);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 50);
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++)
		assert_int_equal(account.published.of[i], 125);
	for (enum usage i = 0; i < USAGE_COUNT; i++)
		members.of[i] -= 50;
	tree_account_publish(&account, &members);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 125);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 50);
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++)
		assert_int_equal(account.published.of[i], 125);
	/* The user part grows in proportion. */
	tree_account_raise(&account, 125);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 50);
	tree_account_raise(&account, 250);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 250);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 100);
	tree_account_raise(&account, 249);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 250);
	account.published = (struct usages){0};
	tree_account_raise(&account, 10);
	assert_int_equal(account.published.of[USAGE_CPU_NS], 10);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 0);
	account.published.of[USAGE_CPU_NS] = account.published.of[USAGE_UTIME_NS] = 1;
	tree_account_raise(&account, 10);
	assert_int_equal(account.published.of[USAGE_UTIME_NS], 10);
}

static void test_figures_of_the_kernels_structs(void **state)
{
	const struct rusage rusage = {.ru_utime = {3, 4}, .ru_stime = {1, 2}, .ru_minflt = 5, .ru_majflt = 6};
	const struct proc_pid_io io = {.read_bytes = 1,
				       .write_bytes = 2,
				       .cancelled_write_bytes = 3,
				       .read_chars = 4,
				       .written_chars = USAGE_BYTES_MOST};
	struct usages usages = usages_of_rusage(&rusage);

	(void)state;
	assert_int_equal(usages.of[USAGE_UTIME_NS], 3000004000);
	assert_int_equal(usages.of[USAGE_CPU_NS], 4000006000);
	assert_int_equal(usages.of[USAGE_MINOR_FAULTS], 5);
	assert_int_equal(usages.of[USAGE_MAJOR_FAULTS], 6);
	assert_int_equal(usages.of[USAGE_READ_BYTES], 0);
	usages_of_io(&io, &usages);
	assert_int_equal(usages.of[USAGE_READ_BYTES], 1);
	assert_int_equal(usages.of[USAGE_WRITE_BYTES], 2);
	assert_int_equal(usages.of[USAGE_CANCELLED_BYTES], 3);
	assert_int_equal(usages.of[USAGE_READ_CHARS], 4);
	assert_int_equal(usages.of[USAGE_WRITTEN_CHARS], USAGE_BYTES_MOST);
	assert_int_equal(usages.of[USAGE_CPU_NS], 4000006000);
}

/* wait4(2) told the sum of a member, which replaces the figures that were seen of it. */
static void test_a_reaped_sum_replaces_the_seen_figures(void **state)
{
	struct tree_account tree = {0};
	struct account ended = {.carries = true};
	struct usages reaped = {0};

	(void)state;
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++) {
		ended.own.of[i] = 50;
		ended.waited.of[i] = 30;
		ended.before.of[i] = 10;
		ended.settled.of[i] = 4;
		ended.carried.of[i] = 100;
		ended.appears.of[i] = i >= USAGE_READ_BYTES ? 50 : 30;
		ended.carried_base.of[i] = ended.appears.of[i];
		reaped.of[i] = 90;
	}
	account_replace(&tree, &ended, &reaped);
	/* 50 + 30 - 10 + 4 + 100 were seen. 40 or 10 of the 100 have appeared in the sum. */
	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++)
		assert_int_equal(tree.retired.of[i], -174 + (i >= USAGE_READ_BYTES ? 60 : 90) + 4 - 10);
	assert_int_equal(tree.retired.of[USAGE_CPU_NS], 0);
}

static void test_an_account_without_any_use_is_empty(void **state)
{
	(void)state;
	assert_true(account_is_empty(&(struct account){.carries = true}));
	assert_true(account_is_empty(&(struct account){.carried = {{1}}}));
	assert_false(account_is_empty(&(struct account){.carries = true, .carried = {{1}}}));
	assert_false(account_is_empty(&(struct account){.own = {{1}}}));
	assert_false(account_is_empty(&(struct account){.waited = {{1}}}));
	assert_false(account_is_empty(&(struct account){.settled = {{1}}}));
}

/* Its counters have gone back since it carried the last child. */
static void an_account_that_carries_nothing_has_nothing_to_settle_or_to_claim(void **state)
{
	struct account account = {.carried_base.of = {[USAGE_MINOR_FAULTS] = 5},
				  .appears.of = {[USAGE_MINOR_FAULTS] = 3}};
	struct usages told = {.of = {[USAGE_MINOR_FAULTS] = 3}}, unclaimed;

	(void)state;
	account_settle(&account);
	assert_int_equal(account.settled.of[USAGE_MINOR_FAULTS], 0);
	unclaimed = account_unclaimed(&account, &told);
	assert_int_equal(unclaimed.of[USAGE_MINOR_FAULTS], 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_parent_that_grew_enough_may_contain_its_child),
		cmocka_unit_test(test_example_of_three_processes),
		cmocka_unit_test(test_example_with_sigchld_ignored),
		cmocka_unit_test(test_example_with_time_before_attaching),
		cmocka_unit_test(test_carried_until_it_turns_up),
		cmocka_unit_test(test_time_that_never_appears_stays_with_the_ancestor),
		cmocka_unit_test(test_time_from_before_the_start_never_appears),
		cmocka_unit_test(test_a_child_that_only_was),
		cmocka_unit_test(test_time_from_before_the_start_over_two_generations),
		cmocka_unit_test(test_time_carried_at_the_start_is_excluded),
		cmocka_unit_test(test_unclaimed_at_the_end),
		cmocka_unit_test(test_use_that_no_process_waited_for_is_left),
		cmocka_unit_test(test_use_that_an_ancestor_has_moves_there),
		cmocka_unit_test(test_less_than_two_ticks_are_not_missing),
		cmocka_unit_test(test_totals_never_go_down),
		cmocka_unit_test(test_figures_of_the_kernels_structs),
		cmocka_unit_test(test_a_reaped_sum_replaces_the_seen_figures),
		cmocka_unit_test(test_an_account_without_any_use_is_empty),
		cmocka_unit_test(an_account_that_carries_nothing_has_nothing_to_settle_or_to_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
