/* Tests of src/job/tree/process_files.c and of the table of members. */
#include "burner.h"
#include "scratch.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "job/tree/process_files.h"
#include "job/tree/tree_tuning.h"

enum { FIRST = 100, MANY = 3000 };

static struct root root;
static struct process_tree tree;

static int begin_tree(void **state)
{
	int error = scratch_enter(state);

	if (!error)
		error = mkdir("proc", 0755) | mkdir("proc/100", 0755) | root_open(&root, ".", NULL);
	tree = (struct process_tree){.root = &root, .root_pid = FIRST, .started_by_caller = true};
	return error;
}

static int end_tree(void **state)
{
	free(tree.members);
	free(tree.slots);
	free(tree.excluded);
	root_close(&root);
	return scratch_leave(state);
}

static struct member *add_member(pid_t pid)
{
	struct member member = {.pid = pid, .quiet_ticks = 1, .files = {-1, -1, -1, -1, -1}};

	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	return process_tree_find(&tree, pid);
}

/* ---- files ---- */

static void half_of_the_descriptors_are_left_to_the_program(void **state)
{
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 264;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(descriptors_to_keep(), 100);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void a_file_stays_open_as_long_as_there_is_room(void **state)
{
	struct member *member = add_member(FIRST);

	(void)state;
	put_text("proc/100/statm", "1 2 3\n");
	tree.fds_left = 1;
	assert_int_equal(member_read_file(&tree, member, FILE_STATM), 6);
	assert_true(member->files[FILE_STATM] >= 0);
	assert_int_equal(tree.fds_left, 0);
	/* The kept one is read again from its beginning. */
	assert_int_equal(member_read_file(&tree, member, FILE_STATM), 6);
	put_text("proc/100/io", "rchar: 3\n");
	assert_int_equal(member_read_file(&tree, member, FILE_IO), 9);
	assert_int_equal(member->files[FILE_IO], -1);
	member_close_files(&tree, member);
	assert_int_equal(member->files[FILE_STATM], -1);
	assert_int_equal(tree.fds_left, 1);
	/* One that sleeps is not worth a descriptor. */
	member->quiet_ticks = 2;
	assert_int_equal(member_read_file(&tree, member, FILE_STATM), 6);
	assert_int_equal(member->files[FILE_STATM], -1);
	assert_int_equal(tree.fds_left, 1);
	assert_int_equal(member_read_file(&tree, member, FILE_SCHEDSTAT), -ENOENT);
	member->quiet_ticks = 1;
	assert_int_equal(member_read_file(&tree, member, FILE_SCHEDSTAT), -ENOENT);
	assert_int_equal(tree.fds_left, 1);
}

/* With descriptors for those that run, one that sleeps keeps the file of its memory alone. */
static void one_that_sleeps_keeps_a_file_if_there_is_room_for_all(void **state)
{
	struct member *member = add_member(FIRST);

	(void)state;
	put_text("proc/100/statm", "1 2 3\n");
	put_text("proc/100/io", "rchar: 3\n");
	member->quiet_ticks = 2;
	tree.fds_left = TREE_DESCRIPTORS_OF_RUNNING;
	assert_int_equal(member_read_file(&tree, member, FILE_STATM), 6);
	assert_int_equal(member->files[FILE_STATM], -1);
	tree.fds_left = TREE_DESCRIPTORS_OF_RUNNING + 1;
	assert_int_equal(member_read_file(&tree, member, FILE_IO), 9);
	assert_int_equal(member->files[FILE_IO], -1);
	assert_int_equal(member_read_file(&tree, member, FILE_STATM), 6);
	assert_true(member->files[FILE_STATM] >= 0);
	assert_int_equal(tree.fds_left, TREE_DESCRIPTORS_OF_RUNNING);
	/* One that ran lately counts as running. */
	member->quiet_ticks = 1;
	assert_int_equal(member_read_file(&tree, member, FILE_IO), 9);
	assert_true(member->files[FILE_IO] >= 0);
	member_close_files(&tree, member);
	assert_int_equal(tree.fds_left, TREE_DESCRIPTORS_OF_RUNNING + 1);
}

static void a_stat_file_has_an_error_or_figures(void **state)
{
	struct member *member = add_member(FIRST);
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(member_read_stat(&tree, member, &stat), -ENOENT);
	put_text("proc/100/stat", "something else\n");
	assert_int_equal(member_read_stat(&tree, member, &stat), -EBADMSG);
	put_text("proc/100/stat",
		 "100 (x) S 1 1 1 0 -1 0 0 0 0 0 7 3 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_int_equal(member_read_stat(&tree, member, &stat), 0);
	assert_int_equal(stat.utime_ticks, 7);
}

static void children_are_those_of_the_main_thread(void **state)
{
	struct member *member = add_member(FIRST);

	(void)state;
	assert_int_equal(mkdir("proc/100/task", 0755) | mkdir("proc/100/task/100", 0755), 0);
	put_text("proc/100/task/100/children", "101 102 ");
	assert_int_equal(member_read_file(&tree, member, FILE_CHILDREN), 8);
	tree.fds_left = 1;
	for (int i = 0; i < 2; i++)
		assert_int_equal(member_read_file(&tree, member, FILE_CHILDREN), 8);
	member_close_files(&tree, member);
}

static void threads_are_numbers(void **state)
{
	pid_t threads[3];
	DIR *directory;

	(void)state;
	assert_int_equal(process_list_threads(&root, FIRST, threads, 3), 0);
	assert_int_equal(mkdir("proc/100/task", 0755) | mkdir("proc/100/task/self", 0755) |
				 mkdir("proc/100/task/0100", 0755) | mkdir("proc/100/task/9x", 0755),
			 0);
	assert_int_equal(mkdir("proc/100/task/100", 0755) | mkdir("proc/100/task/911", 0755), 0);
	assert_int_equal(process_list_threads(&root, FIRST, threads, 3), 2);
	assert_int_equal(threads[0] + threads[1], 1011);
	assert_int_equal(process_list_threads(&root, FIRST, threads, 1), 1);
	put_text("proc/file", "");
	assert_null(process_folder_open(&root, "file"));
	directory = process_folder_open(&root, "100/task");
	assert_non_null(directory);
	closedir(directory);
}

static void a_process_has_a_clock_until_it_is_waited_for(void **state)
{
	pid_t child = start_burner(20 * NSEC_PER_MSEC);

	(void)state;
	assert_true(process_clock_ns(child) >= 20 * NSEC_PER_MSEC);
	assert_true(process_clock_ns(child) < 20 * NSEC_PER_SEC);
	end_child(child);
	assert_int_equal(process_clock_ns(child), -1);
}

/* ---- the table ---- */

static void members_are_found_among_many_and_after_others_have_left(void **state)
{
	(void)state;
	assert_null(process_tree_find(&tree, FIRST));
	for (int i = 0; i < MANY; i++)
		(void)add_member(FIRST + i);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(process_tree_find(&tree, FIRST + i)->pid, FIRST + i);
		process_tree_find(&tree, FIRST + i)->vanished = i % 3 == 0;
	}
	process_tree_drop_vanished(&tree);
	assert_int_equal(tree.count, MANY - MANY / 3);
	for (int i = 0; i < MANY; i++)
		assert_true((process_tree_find(&tree, FIRST + i) != NULL) == (i % 3 != 0));
	for (size_t i = 1; i < tree.count; i++)
		assert_true(tree.members[i - 1].pid < tree.members[i].pid);
	assert_int_not_equal(tree.changed_ns, 0);
	tree.changed_ns = 0;
	process_tree_drop_vanished(&tree);
	assert_int_equal(tree.changed_ns, 0);
	tree.root_pid = FIRST + 1;
	assert_int_equal(process_tree_root(&tree)->pid, FIRST + 1);
	tree.root_gone = true;
	assert_null(process_tree_root(&tree));
}

static void zombies_do_not_run(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		(void)add_member(FIRST + i);
	assert_int_equal(process_tree_running(&tree), 3);
	process_tree_find(&tree, FIRST)->is_zombie = true;
	assert_int_equal(process_tree_running(&tree), 2);
	assert_false(process_tree_any_ran(&tree));
	process_tree_find(&tree, FIRST)->quiet_ticks = 0;
	assert_true(process_tree_any_ran(&tree));
}

static void helpers_are_left_out_once(void **state)
{
	(void)state;
	assert_false(process_tree_excludes(&tree, 7));
	for (pid_t pid = 7; pid < 10; pid++) {
		process_tree_exclude(&tree, pid);
		process_tree_exclude(&tree, pid);
	}
	assert_int_equal(tree.excluded_count, 3);
	assert_true(process_tree_excludes(&tree, 7) && process_tree_excludes(&tree, 9));
	process_tree_include(&tree, 7);
	assert_false(process_tree_excludes(&tree, 7));
	assert_true(process_tree_excludes(&tree, 8) && process_tree_excludes(&tree, 9));
	process_tree_include(&tree, 7);
	assert_int_equal(tree.excluded_count, 2);
}

static void earlier_use_counts_only_for_a_job_that_we_started(void **state)
{
	struct member *member = add_member(FIRST);

	(void)state;
	tree.seeded_ticks = 50;
	member->start_ticks = 49;
	assert_false(member_is_older(&tree, member));
	tree.started_by_caller = false;
	assert_true(member_is_older(&tree, member));
	member->start_ticks = 50;
	assert_false(member_is_older(&tree, member));
}

#define unit_test_of_tree(test) cmocka_unit_test_setup_teardown(test, begin_tree, end_tree)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_tree(half_of_the_descriptors_are_left_to_the_program),
		unit_test_of_tree(a_file_stays_open_as_long_as_there_is_room),
		unit_test_of_tree(one_that_sleeps_keeps_a_file_if_there_is_room_for_all),
		unit_test_of_tree(a_stat_file_has_an_error_or_figures),
		unit_test_of_tree(children_are_those_of_the_main_thread),
		unit_test_of_tree(threads_are_numbers),
		unit_test_of_tree(a_process_has_a_clock_until_it_is_waited_for),
		unit_test_of_tree(members_are_found_among_many_and_after_others_have_left),
		unit_test_of_tree(zombies_do_not_run),
		unit_test_of_tree(helpers_are_left_out_once),
		unit_test_of_tree(earlier_use_counts_only_for_a_job_that_we_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
