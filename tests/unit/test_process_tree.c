/* Tests of src/process/process_tree.c with real processes. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process_discovery.h"
#include "process/process_tree.h"
#include "unit.h"

#define BURN_NS (60 * NSEC_PER_MSEC)

static int64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Starts a child that has used CPU time and waits for its end. */
static pid_t start_burner(int64_t burn_ns)
{
	int pipe_fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		while (own_cpu_ns() < burn_ns)
			continue;
		if (write(pipe_fds[1], "r", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The list of children had left it out: its time from before the attach does not count. */
static void test_a_member_that_is_found_late(void **state)
{
	struct process_tree *tree;
	struct root root;
	pid_t first, late;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	first = start_burner(0);
	late = start_burner(BURN_NS);
	/* The kernel reports start times in ticks. */
	usleep(20000);
	assert_int_equal(process_tree_seed(tree, first, false), 0);
	assert_int_equal(process_tree_add(tree, late), 0);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 2);
	assert_true(tree->account.published.of[USAGE_CPU_NS] < BURN_NS / 2);
	end(late);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 1);
	assert_true(tree->account.published.of[USAGE_CPU_NS] < BURN_NS / 2);
	end(first);
	process_tree_free(tree);
	root_close(&root);
}

/* A process that begins after the tracker counts from its beginning. */
static void test_a_member_that_begins_later(void **state)
{
	struct process_tree *tree;
	struct root root;
	pid_t first, later;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	first = start_burner(0);
	assert_int_equal(process_tree_seed(tree, first, false), 0);
	later = start_burner(BURN_NS);
	assert_int_equal(process_tree_add(tree, later), 0);
	process_tree_touch(tree);
	assert_true(tree->account.published.of[USAGE_CPU_NS] >= BURN_NS);
	end(later);
	end(first);
	process_tree_free(tree);
	root_close(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_member_that_is_found_late),
		cmocka_unit_test(test_a_member_that_begins_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
