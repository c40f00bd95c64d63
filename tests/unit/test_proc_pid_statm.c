/* Tests of src/kernel/proc_pid_statm.c. */
#include "kernel.h"

#include "kernel/proc_pid_statm.h"

static void the_first_three_columns_count(void **state)
{
	struct proc_pid_statm statm;

	(void)state;
	assert_int_equal(parse_proc_pid_statm("765 432 414 5 0 90 0\n", 21, &statm), 0);
	assert_int_equal(statm.virtual_pages, 765);
	assert_int_equal(statm.resident_pages, 432);
	assert_int_equal(statm.shared_pages, 414);
}

static void odd_columns_lose_only_themselves(void **state)
{
	struct proc_pid_statm statm;

	(void)state;
	assert_int_equal(parse_proc_pid_statm("765 4x2 414", 11, &statm), 0);
	assert_int_equal(statm.resident_pages, -1);
	assert_int_equal(statm.shared_pages, 414);
	assert_int_equal(parse_proc_pid_statm("765", 3, &statm), 0);
	assert_int_equal(statm.resident_pages, -1);
	assert_int_equal(statm.shared_pages, -1);
}

static void parse_statm_refuses_other_texts(void **state)
{
	struct proc_pid_statm statm = {.virtual_pages = 7};

	(void)state;
	assert_int_equal(parse_proc_pid_statm("", 0, &statm), -EBADMSG);
	assert_int_equal(parse_proc_pid_statm("x 1 2", 5, &statm), -EBADMSG);
	assert_int_equal(statm.virtual_pages, 7);
}

static void zombies_are_all_zeros(void **state)
{
	struct root root = test_root("hand-made-workstation-6.1/t0");
	struct proc_pid_statm statm;

	(void)state;
	assert_int_equal(read_proc_pid_statm(&root, 106, &statm), 0);
	assert_int_equal(statm.virtual_pages, 0);
	assert_int_equal(statm.resident_pages, 0);
	assert_int_equal(read_proc_pid_statm(&root, 101, &statm), 0);
	assert_int_equal(statm.resident_pages, 25000);
	assert_int_equal(statm.shared_pages, 400);
	root_close(&root);
}

static void pages_above_an_address_space_are_absent(void **state)
{
	struct proc_pid_statm statm;

	(void)state;
	assert_int_equal(parse_proc_pid_statm("34359738368 34359738369 5", 25, &statm), 0);
	assert_true(statm.virtual_pages == INT64_C(1) << 35 && statm.resident_pages == -1 &&
		    statm.shared_pages == 5);
	assert_int_equal(parse_proc_pid_statm("34359738369 1 1", 15, &statm), -EBADMSG);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_three_columns_count),
		cmocka_unit_test(odd_columns_lose_only_themselves),
		cmocka_unit_test(parse_statm_refuses_other_texts),
		cmocka_unit_test(zombies_are_all_zeros),
		cmocka_unit_test(pages_above_an_address_space_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
