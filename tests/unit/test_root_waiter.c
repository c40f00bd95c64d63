/* Tests of src/job/programs/root_waiter.c */
#include "scratch.h"

#include "job/programs/root_waiter.h"

enum { PARENT = 50 };

static struct root root;
static struct root_waiter waiter;

static int begin(void **state)
{
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | mkdir("proc/50", 0755) | mkdir("proc/50/task", 0755) |
			mkdir("proc/50/task/50", 0755) | root_open(&root, ".", NULL);
	waiter = (struct root_waiter){.pid = PARENT};
	return error;
}

static int end(void **state)
{
	root_close(&root);
	return scratch_leave(state);
}

/* The figures of the parent's children are `waited` and the numbers after it. */
static void put_parent(int waited, int threads, int start_ticks)
{
	char text[200];

	snprintf(text, sizeof text,
		 "50 (sh) S 1 1 1 0 -1 0 9 %d 9 %d 9 9 %d %d 20 0 %d 0 %d 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 waited + 2, waited + 3, waited, waited + 1, threads, start_ticks);
	put_text("proc/50/stat", text);
}

static void put_child(int pid, const char *state_and_flags)
{
	char path[40], text[200];

	snprintf(path, sizeof path, "proc/%d", pid);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "proc/%d/stat", pid);
	snprintf(text, sizeof text, "%d (job) %s 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n", pid,
		 state_and_flags);
	put_text(path, text);
}

static bool is_known(const char *children)
{
	put_text("proc/50/task/50/children", children);
	root_waiter_begin(&waiter, &root);
	return waiter.is_known;
}

/* 100 ticks are a second. */
static void time_of_children_since_then_is_told(void **state)
{
	struct rusage usage;

	(void)state;
	put_child(100, "S 50 1 1 0 -1 0");
	put_parent(200, 1, 7);
	waiter.is_wanted = true;
	assert_true(is_known("100 "));
	assert_false(waiter.is_wanted);
	assert_true(root_waiter_has(&waiter, &root, &usage));
	assert_int_equal(usage.ru_utime.tv_usec, 0);
	put_text("proc/50/stat",
		 "50 (sh) S 1 1 1 0 -1 0 9 206 9 208 9 9 230 203 20 0 1 0 7 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_true(root_waiter_has(&waiter, &root, &usage));
	assert_int_equal(usage.ru_utime.tv_usec, 300000);
	assert_int_equal(usage.ru_stime.tv_usec, 20000);
	assert_int_equal(usage.ru_minflt, 4);
	assert_int_equal(usage.ru_majflt, 5);
}

static void another_process_of_the_number_tells_nothing(void **state)
{
	struct rusage usage;

	(void)state;
	put_parent(200, 1, 7);
	assert_false(root_waiter_has(&waiter, &root, &usage));
	assert_true(is_known(""));
	put_parent(300, 1, 8);
	assert_false(root_waiter_has(&waiter, &root, &usage));
	put_parent(300, 1, 7);
	assert_true(root_waiter_has(&waiter, &root, &usage));
	assert_int_equal(unlink("proc/50/stat"), 0);
	assert_false(root_waiter_has(&waiter, &root, &usage));
}

/* Another thread may be within wait4(2), with a child that is in no list. */
static void a_parent_of_several_threads_is_unknown(void **state)
{
	(void)state;
	put_parent(200, 2, 7);
	assert_false(is_known(""));
	put_parent(200, 1, 7);
	assert_true(is_known(""));
}

static void a_parent_that_cannot_be_read_is_unknown(void **state)
{
	(void)state;
	assert_false(is_known(""));
	put_parent(200, 1, 7);
	assert_true(is_known(""));
	assert_int_equal(unlink("proc/50/task/50/children"), 0);
	root_waiter_begin(&waiter, &root);
	assert_false(waiter.is_known);
}

/* It may be waited for before the job. The flag 4 says that it ends (PF_EXITING). */
static void a_child_that_has_ended_makes_it_unknown(void **state)
{
	(void)state;
	put_parent(200, 1, 7);
	put_child(100, "S 50 1 1 0 -1 0");
	put_child(101, "Z 50 1 1 0 -1 0");
	put_child(102, "R 50 1 1 0 -1 4");
	assert_true(is_known("100 "));
	assert_false(is_known("100 101 "));
	assert_false(is_known("102 100 "));
	/* One that has gone meanwhile was waited for before. */
	assert_true(is_known("100 103 "));
}

static void more_children_than_are_looked_at_make_it_unknown(void **state)
{
	(void)state;
	put_parent(200, 1, 7);
	assert_true(is_known("100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 "));
	assert_false(is_known("100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 "));
}

#define waiter_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		waiter_test(time_of_children_since_then_is_told),
		waiter_test(another_process_of_the_number_tells_nothing),
		waiter_test(a_parent_of_several_threads_is_unknown),
		waiter_test(a_parent_that_cannot_be_read_is_unknown),
		waiter_test(a_child_that_has_ended_makes_it_unknown),
		waiter_test(more_children_than_are_looked_at_make_it_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
