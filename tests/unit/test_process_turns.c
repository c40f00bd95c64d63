/* Tests of src/job/cpu/process_turns.c: which members are read in which pass. */
#include "unit.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "job/cpu/cpu_tuning.h"
#include "job/cpu/process_turns.h"
#include "job/tree/tree_tuning.h"

static struct root root;
static struct process_tree tree;

static int begin(void **state)
{
	(void)state;
	root = (struct root){.live = true};
	tree = (struct process_tree){.root = &root,
				     .root_pid = 10,
				     .uses_clock = true,
				     .started_by_caller = true,
				     .pass_before_ns = 100 * NSEC_PER_SEC,
				     .pass_ns = 100 * NSEC_PER_SEC + NSEC_PER_SEC / 10};
	return 0;
}

/* In how many passes all have had their turn, if so many ran in the last one. */
static size_t turns_for(size_t ran)
{
	tree.cpu.turns.ran_count = ran;
	turns_plan(&tree);
	return tree.cpu.turns.count;
}

/* 128 a pass, or 400 a second. */
static void few_members_take_no_turns(void **state)
{
	(void)state;
	assert_int_equal(turns_for(0), 1);
	assert_int_equal(turns_for(127), 1);
	assert_int_equal(turns_for(128), 2);
	assert_int_equal(turns_for(255), 2);
	assert_int_equal(turns_for(1280), 11);
	assert_int_equal(tree.cpu.turns.ran_count, 0);
	tree.pass_ns = tree.pass_before_ns + 2 * NSEC_PER_SEC;
	assert_int_equal(turns_for(799), 1);
	assert_int_equal(turns_for(800), 2);
	/* The last pass leaves none behind, and without clocks all have to be read. */
	tree.is_last_pass = true;
	assert_int_equal(turns_for(8000), 1);
	tree.is_last_pass = false, tree.uses_clock = false;
	assert_int_equal(turns_for(8000), 1);
}

static void a_member_that_uses_much_does_not_wait(void **state)
{
	struct member member = {.pid = 77};

	(void)state;
	tree.cpu.turns.ran_ns = 256000;
	assert_int_equal(turns_for(256), 3);
	/* Eight times the mean of 1000 ns. */
	assert_int_equal(tree.cpu.turns.much_ns, 8000);
	assert_int_equal(tree.cpu.turns.ran_ns, 0);
	tree.passes = 0;
	assert_false(turns_has(&tree, &member));
	member.cpu.ran_ns = 8000;
	assert_false(turns_has(&tree, &member));
	member.cpu.ran_ns = 8001;
	assert_true(turns_has(&tree, &member));
	(void)turns_for(0);
	assert_int_equal(tree.cpu.turns.much_ns, 0);
}

static void each_member_has_its_turn(void **state)
{
	struct member member = {.pid = 77};
	int taken = 0;

	(void)state;
	(void)turns_for(256);
	tree.cpu.turns.much_ns = 1;
	for (tree.passes = 5; tree.passes < 5 + 9; tree.passes++)
		taken += turns_has(&tree, &member);
	assert_int_equal(taken, 3);
	tree.passes = 0;
	assert_false(turns_has(&tree, &member));
	member.has_forked = true;
	assert_true(turns_has(&tree, &member));
	member.has_forked = false, member.pid = 10;
	assert_true(turns_has(&tree, &member));
	member.pid = 11;
	assert_false(turns_has(&tree, &member));
	(void)turns_for(0);
	assert_true(turns_has(&tree, &member));
	(void)turns_for(128);
	tree.cpu.turns.much_ns = 1;
	assert_false(turns_has(&tree, &member));
	tree.passes = 1;
	assert_true(turns_has(&tree, &member));
}

/* Everything is read once in ten seconds, but not all at once. */
static void readings_of_a_large_tree_are_spread(void **state)
{
	int per_pass[100] = {0}, most = 0;

	(void)state;
	for (int pid = 1000; pid < 1000 + TURNS_SPREAD; pid++) {
		const struct member member = {.pid = pid};
		int due = 0;

		for (int i = 0; i < 100; i++) {
			tree.pass_before_ns = 500 * NSEC_PER_SEC + i * NSEC_PER_SEC / 10;
			tree.pass_ns = tree.pass_before_ns + NSEC_PER_SEC / 10;
			if (turns_is_due(&tree, &member))
				due++, per_pass[i]++;
		}
		assert_int_equal(due, 1);
	}
	for (int i = 0; i < 100; i++)
		most = per_pass[i] > most ? per_pass[i] : most;
	assert_true(most <= 2);
	/* Number 127 has no phase. */
	tree.pass_before_ns = 510 * NSEC_PER_SEC - 1, tree.pass_ns = 510 * NSEC_PER_SEC;
	assert_true(turns_is_due(&tree, &(struct member){.pid = 127}));
	assert_false(turns_is_due(&tree, &(struct member){.pid = 128}));
	/* A 127th of ten seconds earlier. */
	tree.pass_ns = 510 * NSEC_PER_SEC - TREE_READ_ANYWAY_NS / TURNS_SPREAD;
	tree.pass_before_ns = tree.pass_ns - 1;
	assert_true(turns_is_due(&tree, &(struct member){.pid = 128}));
}

/* ---- new members ------------------------------------------------------------------------------------------- */

static int64_t room_cost(void)
{
	return TURNS_NEW_COST_NS * TURNS_NEW_CPUS / max_i64(TURNS_NEW_CPUS, sysconf(_SC_NPROCESSORS_ONLN));
}

/* Takes new members until there is no room, at most 5000. */
static int take_new(void)
{
	int count = 0;

	while (count < 5000 && turns_have_room(&tree)) {
		turns_take_room(&tree);
		count++;
	}
	return count;
}

/* Sixteen a pass, and at first as many as 48 ms allow. A second earns 8 ms. */
static void new_members_are_taken_by_an_allowance(void **state)
{
	int at_once = (int)(TURNS_NEW_MOST_NS / room_cost());

	(void)state;
	tree.touched_ns = 1000 * NSEC_PER_SEC;
	assert_int_equal(take_new(), 16 + at_once);
	turns_leave_out(&tree);
	assert_int_equal(tree.cpu.turns.left_out, 1);
	turns_plan(&tree);
	assert_int_equal(tree.cpu.turns.left_out, 0);
	assert_int_equal(tree.cpu.turns.new_count, 0);
	assert_int_equal(take_new(), 16);
	turns_plan(&tree);
	tree.touched_ns += NSEC_PER_SEC;
	/* The sixteen that the last pass took anyway are paid for as well. */
	assert_int_equal(take_new(), max_i64(16, (NSEC_PER_SEC / 125 - 16 * room_cost()) / room_cost()));
}

static void a_captured_or_attached_tree_has_room_for_all(void **state)
{
	(void)state;
	tree.touched_ns = 1000 * NSEC_PER_SEC;
	root.live = false;
	assert_int_equal(take_new(), 5000);
	root.live = true;
	tree.cpu.turns.new_count = 0;
	tree.started_by_caller = false;
	tree.passes = 2;
	assert_int_equal(take_new(), 5000);
	tree.cpu.turns.room = (struct allowance){.earned_ns = 1};
	tree.touched_ns = 1;
	tree.passes = 3;
	assert_false(turns_have_room(&tree));
	tree.passes = 1, tree.started_by_caller = true;
	assert_false(turns_have_room(&tree));
}

static void debts_have_an_end(void **state)
{
	(void)state;
	tree.cpu.turns.new_cost_ns = TURNS_NEW_MOST_NS;
	tree.cpu.turns.room.earned_ns = tree.touched_ns = 1;
	turns_take_room(&tree);
	assert_int_equal(tree.cpu.turns.room.left_ns, -TURNS_NEW_MOST_NS);
	turns_take_room(&tree);
	assert_int_equal(tree.cpu.turns.room.left_ns, -TURNS_NEW_MOST_NS);
	assert_int_equal(tree.cpu.turns.new_count, 2);
}

static void the_oldest_figures_are_told(void **state)
{
	struct member members[] = {
		{.read_ns = 5}, {.read_ns = 90, .is_behind = true}, {.read_ns = 70, .is_behind = true}};

	(void)state;
	tree.members = members;
	tree.pass_ns = 100;
	tree.count = 2;
	turns_note_oldest(&tree);
	assert_int_equal(tree.cpu.turns.oldest_age_ns, 10);
	tree.count = 3;
	turns_note_oldest(&tree);
	assert_int_equal(tree.cpu.turns.oldest_age_ns, 30);
	members[1].is_behind = members[2].is_behind = false;
	turns_note_oldest(&tree);
	assert_int_equal(tree.cpu.turns.oldest_age_ns, 0);
	tree.cpu.turns.ran_count = 0;
	turns_note_asking(&tree);
	assert_int_equal(tree.cpu.turns.ran_count, 1);
}

#define turns_test(test) cmocka_unit_test_setup(test, begin)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		turns_test(few_members_take_no_turns),
		turns_test(a_member_that_uses_much_does_not_wait),
		turns_test(each_member_has_its_turn),
		turns_test(readings_of_a_large_tree_are_spread),
		turns_test(new_members_are_taken_by_an_allowance),
		turns_test(a_captured_or_attached_tree_has_room_for_all),
		turns_test(debts_have_an_end),
		turns_test(the_oldest_figures_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
