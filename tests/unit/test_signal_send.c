/* Tests of src/job/signal_at/signal_send.c and time_limit.c: who gets the signal, and when the time of the job ends. */
#include "burner.h"
#include "scratch.h"

#include "job/signal_at/signal_send.h"
#include "job/signal_at/time_limit.h"

/* ---- the limit ---- */

static int64_t fixed_monotonic_ns(void *context)
{
	(void)context;
	return 1000 * NSEC_PER_SEC;
}

static int64_t fixed_realtime_ns(void *context)
{
	(void)context;
	return 1700000000 * NSEC_PER_SEC;
}

static struct root root;

static void lay_process(pid_t pid, pid_t parent, const char *name, const char *arguments, size_t length)
{
	char path[64], text[160];

	snprintf(path, sizeof path, "proc/%d", (int)pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
	snprintf(text, sizeof text,
		 "%d (%s) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n", (int)pid,
		 name, (int)parent);
	put_text(path, text);
	snprintf(path, sizeof path, "proc/%d/cmdline", (int)pid);
	put_file(path, arguments, length);
}

#define LAY(pid, parent, name, arguments) lay_process(pid, parent, name, arguments, sizeof(arguments))

static void expect_limit(pid_t job, const char *of, double begun_secs, double ends_secs)
{
	struct time_limit limit;

	time_limit_find(&root, job, &limit);
	if (!of) {
		assert_null(limit.of);
		assert_true(limit.ends_ns == INT64_MAX);
		return;
	}
	assert_string_equal(limit.of, of);
	assert_int_equal(limit.begun_ns, (int64_t)(begun_secs * 1e9));
	assert_int_equal(limit.ends_ns, (int64_t)(ends_secs * 1e9));
}

static void the_limit_that_ends_first_counts(void **state)
{
	(void)state;
	assert_int_equal(mkdir("proc", 0755), 0);
	assert_int_equal(root_open(&root, ".", &(struct clocks){fixed_monotonic_ns, fixed_realtime_ns, NULL}),
			 0);
	root.clock_ticks = 100;
	LAY(90, 1, "timeout",
	    "timeout\0-k\0005\0"
	    "60\0sh");
	LAY(95, 90, "sh", "sh");
	LAY(100, 95, "sleep",
	    "sleep\0"
	    "30");
	LAY(110, 1, "timeout", "timeout\0none\0sh");
	unsetenv("SLURM_JOB_START_TIME");
	unsetenv("SLURM_JOB_END_TIME");
	expect_limit(90, "timeout", 1000.05, 1060.05);
	expect_limit(100, "timeout", 1000.05, 1060.05);
	expect_limit(110, NULL, 0, 0);
	expect_limit(120, NULL, 0, 0);
	setenv("SLURM_JOB_END_TIME", "1700000100", 1);
	expect_limit(110, "Slurm", 0, 1100);
	setenv("SLURM_JOB_START_TIME", "1699999990", 1);
	expect_limit(110, "Slurm", 990, 1100);
	expect_limit(100, "timeout", 1000.05, 1060.05);
	setenv("SLURM_JOB_END_TIME", "1700000050", 1);
	expect_limit(100, "Slurm", 990, 1050);
	setenv("SLURM_JOB_END_TIME", "soon", 1);
	expect_limit(110, NULL, 0, 0);
	setenv("SLURM_JOB_END_TIME", "-5", 1);
	expect_limit(110, NULL, 0, 0);
	unsetenv("SLURM_JOB_START_TIME");
	unsetenv("SLURM_JOB_END_TIME");
	root_close(&root);
}

/* ---- the signal ---- */

static struct process_tree tree;

static int begin_tree(void **state)
{
	(void)state;
	tree = (struct process_tree){.root = &root};
	return root_open(&root, NULL, NULL);
}

static int end_tree(void **state)
{
	(void)state;
	free(tree.members);
	free(tree.slots);
	root_close(&root);
	return 0;
}

static struct member *add_member(pid_t pid, pid_t parent)
{
	struct member member = {.pid = pid, .parent_pid = parent};
	struct proc_pid_stat stat;

	assert_int_equal(read_proc_pid_stat(&root, pid, &stat), 0);
	member.start_ticks = stat.start_ticks;
	assert_int_equal(process_tree_reserve(&tree), 0);
	process_tree_append(&tree, &member);
	return process_tree_find(&tree, pid);
}

static struct signal_rule rule_of(int number, const char *program)
{
	struct signal_rule rule = {.signal = number};

	snprintf(rule.text, sizeof rule.text, "%s", program);
	return rule;
}

static void the_first_process_gets_it(void **state)
{
	pid_t first, child;
	struct signal_rule rule = rule_of(SIGTERM, "");
	const char *why = "as it was";
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	first = start_burner(0);
	child = start_burner(0);
	tree.root_pid = first;
	(void)add_member(first, getpid());
	(void)add_member(child, first);
	assert_int_equal(signal_send(&tree, &rule, &why), 1);
	assert_null(why);
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	/* It has gone, and no other process gets one. */
	why = "as it was";
	assert_int_equal(signal_send(&tree, &rule, &why), 0);
	assert_string_equal(why, "as it was");
	end_child(child);
}

static void a_process_without_a_handler_does_not_die_of_it(void **state)
{
	pid_t first;
	struct signal_rule rule = rule_of(SIGUSR2, "");
	const char *why = NULL;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	first = start_burner(0); /* it handles SIGUSR1 */
	tree.root_pid = first;
	(void)add_member(first, getpid());
	assert_int_equal(signal_send(&tree, &rule, &why), 0);
	assert_string_equal(why, "it has no handler for that signal, and would die of it");
	rule.signal = SIGUSR1;
	assert_int_equal(signal_send(&tree, &rule, &why), 1);
	assert_null(why);
	/* Another process has its number. */
	tree.members[0].start_ticks++;
	assert_int_equal(signal_send(&tree, &rule, &why), 0);
	tree.members[0].start_ticks--;
	root.live = false;
	assert_int_equal(signal_send(&tree, &rule, &why), 0);
	end_child(first);
}

static void a_name_chooses_all_of_its_processes(void **state)
{
	pid_t one, other;
	struct signal_rule rule;
	struct proc_pid_stat stat;
	const char *why = NULL;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	one = start_burner(0);
	other = start_burner(0);
	tree.root_pid = one;
	(void)add_member(one, getpid());
	(void)add_member(other, one);
	assert_int_equal(read_proc_pid_stat(&root, one, &stat), 0);
	rule = rule_of(SIGUSR1, stat.comm);
	assert_int_equal(signal_send(&tree, &rule, &why), 2);
	rule = rule_of(SIGUSR1, "another");
	assert_int_equal(signal_send(&tree, &rule, &why), 0);
	end_child(one);
	end_child(other);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(the_limit_that_ends_first_counts),
		cmocka_unit_test_setup_teardown(the_first_process_gets_it, begin_tree, end_tree),
		cmocka_unit_test_setup_teardown(a_process_without_a_handler_does_not_die_of_it, begin_tree,
						end_tree),
		cmocka_unit_test_setup_teardown(a_name_chooses_all_of_its_processes, begin_tree, end_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
