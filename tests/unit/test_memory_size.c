/* Tests of src/job/memory/memory_size.c: size and page faults of a process that fills its memory while it is read. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "job/memory/memory_member.h"
#include "job/memory/memory_size.h"
#include "job/memory/memory_tuning.h"
#include "job/pass.h"
#include "burner.h"
#include "scratch.h"
#include "unit.h"

enum { PID = 100, SHARED_PAGES = 50, START_PAGES = 1000, GROWTH_PAGES = 5000 };

static struct root root;
static struct process_tree *tree;
static int64_t pages; /* anonymous ones of the job */
static int growths_left, statm_readings;

static void lay(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Each page of the job takes one fault. */
static void lay_sizes(void)
{
	char text[512];

	snprintf(text, sizeof text,
		 "%d (job) R 1 %d %d 0 -1 4194304 %lld 0 0 0 5 5 0 0 20 0 1 0 1000 99999744 %lld "
		 "18446744073709551615 4194304 "
		 "4198400 140730000000000 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 PID, PID, PID, (long long)pages, (long long)pages + SHARED_PAGES);
	lay("proc/100/stat", text);
	snprintf(text, sizeof text, "24414 %lld %d 1 0 %lld 0\n", (long long)pages + SHARED_PAGES,
		 SHARED_PAGES, (long long)pages);
	lay("proc/100/statm", text);
}

/* Stands before the C library's: the job takes memory before the tracker reads its statm. */
ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length > 6 && offset == 0 && memcmp(path + length - 6, "/statm", 6) == 0) {
		statm_readings++;
		if (growths_left > 0) {
			growths_left--;
			pages += GROWTH_PAGES;
			lay_sizes();
		}
	}
	return syscall(SYS_pread64, fd, buffer, size, (long)offset);
}

static int begin(void **state)
{
	if (scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 || mkdir("proc/100", 0755) < 0)
		return -1;
	pages = START_PAGES;
	growths_left = 0;
	lay_sizes();
	if (root_open(&root, scratch_folder, NULL) < 0 || process_tree_new(&root, false, &tree) < 0)
		return -1;
	return process_tree_seed(tree, PID, false);
}

static int end(void **state)
{
	process_tree_free(tree);
	root_close(&root);
	return scratch_leave(state);
}

/* A pass in which the job takes GROWTH_PAGES before each of the first `growths` readings of statm. */
static void pass_while_growing(int growths)
{
	growths_left = growths;
	statm_readings = 0;
	tree->last_full_ns = 0;
	process_tree_touch(tree);
	growths_left = 0;
}

static void test_faults_and_size_are_of_one_moment(void **state)
{
	const struct member *member = &tree->members[0];

	(void)state;
	pass_while_growing(1);
	assert_int_equal(pages, START_PAGES + GROWTH_PAGES);
	assert_int_equal(member->memory.faults, pages);
	assert_int_equal(member->memory.anon_at_faults, pages);
}

static void test_a_process_that_grows_all_the_time_is_read_three_times(void **state)
{
	(void)state;
	pass_while_growing(INT_MAX);
	assert_int_equal(statm_readings, 3);
	assert_int_equal(tree->members[0].memory.resident_pages, pages + SHARED_PAGES);
}

static void test_a_process_that_stays_is_read_once(void **state)
{
	(void)state;
	pass_while_growing(0);
	assert_int_equal(statm_readings, 1);
}

static void test_growth_after_a_pass_belongs_to_the_next_one(void **state)
{
	struct member *member = &tree->members[0];

	(void)state;
	growths_left = 1;
	memory_read_size(tree, member);
	assert_int_equal(member->memory.resident_pages, START_PAGES + GROWTH_PAGES + SHARED_PAGES);
	pass_while_growing(0);
	assert_int_equal(member->memory.faults_before, START_PAGES);
	assert_int_equal(member->memory.anon_before, START_PAGES);
	assert_int_equal(member->memory.faults, START_PAGES + GROWTH_PAGES);
}

static int wait_for_end(void *fd)
{
	char byte;

	(void)!read(*(int *)fd, &byte, 1);
	_exit(0);
}

/* Two processes that have the memory of a parent which has ended: it counts once, and still does when one of them has ended. */
static void test_memory_of_a_parent_that_has_ended_counts_once(void **state)
{
	static char stacks[2][65536];
	int until[2], ready[2];
	struct process_tree *orphans;
	struct proc_pid_stat stat;
	struct member *member;
	struct root real;
	pid_t parent, children[2] = {0};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("two processes with one memory are beyond the thread sanitiser");
	assert_int_equal(root_open(&real, "/", NULL), 0);
	assert_int_equal(pipe(until), 0);
	assert_int_equal(pipe(ready), 0);
	parent = fork();
	if (parent == 0) {
		close(until[1]);
		for (int i = 0; i < 2; i++)
			children[i] = clone(wait_for_end, stacks[i] + sizeof stacks[i], CLONE_VM | SIGCHLD,
					    &until[0]);
		(void)!write(ready[1], children, sizeof children);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], children, sizeof children), sizeof children);
	for (int i = 0; i < 2; i++)
		wait_until_asleep(children[i]);
	assert_int_equal(process_tree_new(&real, true, &orphans), 0);
	assert_int_equal(process_tree_seed(orphans, parent, false), 0);
	for (int i = 0; i < 2; i++) {
		process_tree_touch(orphans);
		assert_int_equal(memory_is_counted(orphans, process_tree_find(orphans, children[0])), i);
		assert_false(memory_is_counted(orphans, process_tree_find(orphans, children[1])));
		kill(parent, SIGKILL);
		assert_int_equal(waitid(P_PID, (id_t)parent, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	}
	/* A process that was found separate in its first readings is not compared again. */
	member = process_tree_find(orphans, children[1]);
	assert_int_equal(read_proc_pid_stat(&real, children[1], &stat), 0);
	for (int i = 1; i >= 0; i--) {
		member->memory.shared_with = 0;
		member->memory.compared = SHARER_READINGS - i;
		memory_read_member(orphans, member, &stat, false);
		assert_int_equal(member->memory.shared_with, i ? children[0] : 0);
		assert_int_equal(member->memory.compared, SHARER_READINGS);
	}
	member->memory.shared_with = children[0];
	process_tree_find(orphans, children[0])->is_zombie = true;
	assert_true(memory_is_counted(orphans, process_tree_find(orphans, children[1])));
	waitpid(parent, NULL, 0);
	process_tree_free(orphans);
	root_close(&real);
	for (int i = 0; i < 2; i++) {
		close(until[i]);
		close(ready[i]);
	}
}

/* P is a fork of Q, without exec, and its child has its memory, but Q as the parent. */
static void test_memory_of_a_sibling_counts_once(void **state)
{
	static char stack[65536];
	int until[2], ready[2];
	struct process_tree *siblings;
	struct root real;
	pid_t parent, pair[2] = {0};
	int counted = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("two processes with one memory are beyond the thread sanitiser");
	assert_int_equal(root_open(&real, "/", NULL), 0);
	assert_int_equal(pipe(until), 0);
	assert_int_equal(pipe(ready), 0);
	parent = fork();
	if (parent == 0) {
		close(until[1]);
		if (fork() == 0) {
			pair[0] = getpid();
			pair[1] = clone(wait_for_end, stack + sizeof stack, CLONE_VM | CLONE_PARENT | SIGCHLD,
					&until[0]);
			(void)!write(ready[1], pair, sizeof pair);
		}
		wait_for_end(&until[0]);
	}
	assert_int_equal(read(ready[0], pair, sizeof pair), sizeof pair);
	for (int i = 0; i < 2; i++)
		wait_until_asleep(pair[i]);
	assert_int_equal(process_tree_new(&real, true, &siblings), 0);
	assert_int_equal(process_tree_seed(siblings, parent, false), 0);
	process_tree_touch(siblings);
	assert_true(memory_is_counted(siblings, process_tree_find(siblings, parent)));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(process_tree_find(siblings, pair[i])->parent_pid, parent);
		counted += memory_is_counted(siblings, process_tree_find(siblings, pair[i]));
	}
	assert_int_equal(counted, 1);
	process_tree_free(siblings);
	root_close(&real);
	for (int i = 0; i < 2; i++) {
		close(until[i]);
		close(ready[i]);
	}
	waitpid(parent, NULL, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_faults_and_size_are_of_one_moment, begin, end),
		cmocka_unit_test_setup_teardown(test_a_process_that_grows_all_the_time_is_read_three_times,
						begin, end),
		cmocka_unit_test_setup_teardown(test_a_process_that_stays_is_read_once, begin, end),
		cmocka_unit_test(test_memory_of_a_parent_that_has_ended_counts_once),
		cmocka_unit_test(test_memory_of_a_sibling_counts_once),
		cmocka_unit_test_setup_teardown(test_growth_after_a_pass_belongs_to_the_next_one, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
