/* Tests of src/job/tree/process_tree.c with real processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burner.h"
#include "job/new_members.h"
#include "job/pass.h"
#include "job/programs/programs.h"

#define BURN_NS (60 * NSEC_PER_MSEC)

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
	assert_int_equal(discover_process(tree, late), 0);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 2);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] < BURN_NS / 2);
	end_child(late);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 1);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] < BURN_NS / 2);
	end_child(first);
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
	assert_int_equal(discover_process(tree, later), 0);
	process_tree_touch(tree);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] >= BURN_NS);
	end_child(later);
	end_child(first);
	process_tree_free(tree);
	root_close(&root);
}

/* Numbers that a pass left out may belong to new members, whatever their bits said of earlier processes. */
static void test_numbers_that_were_not_tried_are_not_foreign(void **state)
{
	struct process_tree *tree;
	struct root root;
	uint64_t bits = 0;
	pid_t first;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	first = start_burner(0);
	assert_int_equal(process_tree_seed(tree, first, false), 0);
	memset(tree->discovery.foreign, 0xff, sizeof tree->discovery.foreign);
	/* Too long ago, in a pass that reads everything. */
	tree->discovery.newest_ns = tree->last_full_ns = 0;
	process_tree_touch(tree);
	assert_false(tree->discovery.tried_numbers);
	for (size_t i = 0; i < sizeof tree->discovery.foreign / sizeof *tree->discovery.foreign; i++)
		bits |= tree->discovery.foreign[i];
	assert_int_equal(bits, 0);
	end_child(first);
	process_tree_free(tree);
	root_close(&root);
}

static void expect_byte(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
}

static void tell(int fd, const void *bytes, size_t length)
{
	if (write(fd, bytes, length) != (ssize_t)length)
		_exit(1);
}

/* Far more than valgrind takes to translate the code of three processes. */
#define ORPHAN_BURN_NS (400 * NSEC_PER_MSEC)

/* A subreaper with a child that ends when `go` is readable, and a grandchild that has used CPU time and sleeps. */
static _Noreturn void be_a_subreaper(int go, int said)
{
	pid_t middle = 0;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		tell(said, &middle, sizeof middle);
		_exit(0);
	}
	middle = fork_for_a_minute();
	if (middle == 0) {
		pid_t last = fork_for_a_minute();
		char byte;

		if (last == 0) {
			while (own_cpu_ns() < ORPHAN_BURN_NS)
				continue;
			last = getpid();
			tell(said, &last, sizeof last);
			for (;;)
				pause();
		}
		_exit(read(go, &byte, 1) != 1);
	}
	waitpid(middle, NULL, 0);
	tell(said, "m", 1);
	waitpid(-1, NULL, 0);
	tell(said, "l", 1);
	for (;;)
		pause();
}

/* When it ends, its time is in the figures of the subreaper that waits for it, and counts once. */
static void test_an_orphan_that_sleeps_is_reaped_by_its_new_parent(void **state)
{
	int go[2], said[2];
	struct process_tree *tree;
	struct root root;
	pid_t subreaper, last;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	assert_int_equal(pipe(go) | pipe(said), 0);
	subreaper = fork_for_a_minute();
	if (subreaper == 0)
		be_a_subreaper(go[0], said[1]);
	assert_int_equal(process_tree_seed(tree, subreaper, true), 0);
	assert_int_equal(read(said[0], &last, sizeof last), sizeof last);
	if (last == 0) {
		/* An emulator may have no subreapers. */
		waitpid(subreaper, NULL, 0);
		skip();
	}
	/* It may run for a moment after it has spoken. */
	for (int64_t before_ns = -1; before_ns != tree->changed_ns; usleep(20000)) {
		before_ns = tree->changed_ns;
		process_tree_touch(tree);
	}
	assert_int_equal(tree->count, 3);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] >= ORPHAN_BURN_NS);
	tell(go[1], "g", 1);
	expect_byte(said[0]);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 2);
	kill(last, SIGKILL);
	expect_byte(said[0]);
	process_tree_touch(tree);
	process_tree_touch(tree);
	assert_int_equal(tree->count, 1);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] >= ORPHAN_BURN_NS - 2 * NSEC_PER_SEC / 100);
	assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] < ORPHAN_BURN_NS * 3 / 2);
	end_child(subreaper);
	process_tree_free(tree);
	root_close(&root);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(said[i]);
	}
}

enum { CHAIN = 8 };

/* Each process has started the next, and all end when `go` is closed. */
static _Noreturn void be_a_chain(int go, int said)
{
	char byte;

	expect_byte(go);
	for (int i = 0; i < CHAIN; i++)
		if (fork_for_a_minute() != 0)
			_exit(read(go, &byte, 1) < 0);
	tell(said, "c", 1);
	_exit(read(go, &byte, 1) < 0);
}

/* In the other order, the time of a child that is reaped during a pass would count twice. */
static void test_processes_of_the_listener_stand_behind_their_parents(void **state)
{
	int go[2], said[2];
	struct process_tree *tree;
	struct root root;
	pid_t first;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	assert_int_equal(programs_new(true, &tree->programs), 0);
	if (!tree->programs->listener) {
		process_tree_free(tree);
		root_close(&root);
		skip();
	}
	assert_int_equal(pipe(go) | pipe(said), 0);
	first = fork_for_a_minute();
	if (first == 0) {
		close(go[1]);
		be_a_chain(go[0], said[1]);
	}
	assert_int_equal(process_tree_seed(tree, first, false), 0);
	tell(go[1], "g", 1);
	expect_byte(said[0]);
	programs_finish(tree->programs);
	process_tree_touch(tree);
	assert_int_equal(tree->count, CHAIN + 1);
	for (size_t i = 1; i < tree->count; i++)
		assert_true(process_tree_find(tree, tree->members[i].parent_pid) < &tree->members[i] &&
			    process_tree_find(tree, tree->members[i].parent_pid));
	close(go[1]);
	end_child(first);
	process_tree_free(tree);
	root_close(&root);
	close(go[0]);
	for (int i = 0; i < 2; i++)
		close(said[i]);
}

/* On a busy machine the listener may be late. Its events are then not waited for any longer. */
static void test_an_exit_without_an_event_counts_in_the_last_pass(void **state)
{
	struct process_tree *tree;
	struct rusage usage;
	struct root root;
	int64_t exits = 0;
	pid_t child;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	assert_int_equal(programs_new(true, &tree->programs), 0);
	child = start_burner(0);
	assert_int_equal(process_tree_seed(tree, child, true), 0);
	process_tree_touch(tree);
	if (tree->programs->listener)
		program_listener_remove(tree->programs->listener, child);
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	process_tree_before_reap(tree, child);
	assert_int_equal(wait4(child, NULL, 0, &usage), child);
	process_tree_add_exited(tree, child, &usage);
	programs_finish(tree->programs);
	process_tree_touch(tree);
	for (size_t i = 0; i < tree->programs->count; i++)
		exits += tree->programs->at[i].exited_count;
	assert_int_equal(exits, 1);
	process_tree_free(tree);
	root_close(&root);
}

/* An exiting process has no code, stack and arguments any more, some time before it is a zombie. */
static void test_a_process_that_exits_stays_the_program_that_it_was(void **state)
{
	struct proc_pid_stat stat = {.comm = "sh", .state = 'S', .code_start = 4096, .stack_start = 8192};
	struct member member = {0};
	uint64_t identity;

	(void)state;
	programs_read_member(&member, &stat);
	identity = member.program.identity;
	stat.state = 'R';
	stat.flags = 4; /* PF_EXITING */
	stat.code_start = stat.stack_start = 0;
	programs_read_member(&member, &stat);
	assert_true(member.program.identity == identity);
	stat.flags = 0;
	programs_read_member(&member, &stat);
	assert_false(member.program.identity == identity);
}

enum { CROWD = 300, CROWD_ROUNDS = 6, ROUND_BYTES = 1000 };

/* Each byte that it is told makes it write to /dev/null, and to `said` once it has. */
static _Noreturn void be_one_of_a_crowd(int told, int said)
{
	static const char bytes[ROUND_BYTES];
	int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char byte;

	while (read(told, &byte, 1) == 1) {
		if (write(sink, bytes, sizeof bytes) != sizeof bytes || write(said, "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* The first process of the crowd starts the others, and tells all of them to write when `go` says so. */
static _Noreturn void lead_a_crowd(int go, int said)
{
	int told[CROWD][2], done[2];
	char byte;

	if (pipe(done) < 0)
		_exit(1);
	for (int i = 0; i < CROWD; i++) {
		if (pipe(told[i]) < 0)
			_exit(1);
		if (fork() == 0) {
			/* It must see the end of its own pipe. */
			for (int j = 0; j <= i; j++)
				close(told[j][1]);
			be_one_of_a_crowd(told[i][0], done[1]);
		}
		close(told[i][0]);
	}
	do {
		tell(said, "r", 1);
		if (read(go, &byte, 1) != 1)
			_exit(0);
		for (int i = 0; i < CROWD; i++)
			tell(told[i][1], "", 1);
		for (int i = 0; i < CROWD; i++)
			expect_byte(done[0]);
	} while (byte);
	_exit(0);
}

static size_t members_behind(const struct process_tree *tree)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->count; i++)
		count += tree->members[i].is_behind;
	return count;
}

/* The sum of `wchar` in the members' own files. Valgrind writes a byte for each system call that may wait. */
static int64_t written_by_members(const struct process_tree *tree)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tree->count; i++) {
		char path[64];
		long long read_chars, written_chars;
		FILE *file;

		(void)snprintf(path, sizeof path, "/proc/%d/io", (int)tree->members[i].pid);
		file = fopen(path, "re");
		assert_non_null(file);
		assert_int_equal(fscanf(file, "rchar: %lld wchar: %lld", &read_chars, &written_chars), 2);
		(void)fclose(file);
		sum += written_chars;
	}
	return sum;
}

/* A pass takes a moment, however loaded the machine is. */
static int64_t next_msec(void *context)
{
	return *(int64_t *)context += NSEC_PER_MSEC;
}

/* More processes than can be read at little cost take turns; the totals say so, and the last pass misses nothing. */
static void test_a_crowd_takes_turns(void **state)
{
	int64_t before, clock_ns, now_ns = 100 * NSEC_PER_SEC;
	const struct clocks clocks = {
		.monotonic_ns = next_msec, .realtime_ns = next_msec, .context = &now_ns};
	bool waited = false;
	struct process_tree *tree;
	struct root root;
	int go[2], said[2];
	pid_t leader;

	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(said), 0);
	leader = fork();
	if (leader == 0) {
		close(go[1]);
		lead_a_crowd(go[0], said[1]);
	}
	expect_byte(said[0]);
	assert_int_equal(root_open(&root, NULL, &clocks), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	assert_int_equal(process_tree_seed(tree, leader, false), 0);
	process_tree_touch(tree);
	assert_int_equal(tree->count, CROWD + 1);
	before = tree->cpu.account.published.of[USAGE_WRITTEN_CHARS] - written_by_members(tree);
	for (int round = 0; round < CROWD_ROUNDS; round++) {
		tell(go[1], "g", 1);
		expect_byte(said[0]);
		process_tree_touch(tree);
		assert_true((members_behind(tree) > 0) == (tree->cpu.turns.oldest_age_ns > 0));
		waited |= members_behind(tree) > 0;
		/* Those that wait count with their CPU time. */
		clock_ns = 0;
		for (size_t i = 0; i < tree->count; i++)
			clock_ns += tree->members[i].cpu.clock_ns -
				    tree->members[i].cpu.account.own_before.of[USAGE_CPU_NS];
		assert_true(tree->cpu.account.published.of[USAGE_CPU_NS] >= clock_ns);
	}
	assert_true(waited);
	tree->is_last_pass = true;
	process_tree_touch(tree);
	assert_int_equal(members_behind(tree), 0);
	assert_int_equal(tree->cpu.turns.oldest_age_ns, 0);
	assert_int_equal(tree->cpu.account.published.of[USAGE_WRITTEN_CHARS] - before,
			 written_by_members(tree));
	close(go[1]);
	assert_int_equal(waitpid(leader, NULL, 0), leader);
	process_tree_free(tree);
	root_close(&root);
	close(go[0]);
	close(said[0]);
	close(said[1]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_member_that_is_found_late),
		cmocka_unit_test(test_a_member_that_begins_later),
		cmocka_unit_test(test_numbers_that_were_not_tried_are_not_foreign),
		cmocka_unit_test(test_an_orphan_that_sleeps_is_reaped_by_its_new_parent),
		cmocka_unit_test(test_processes_of_the_listener_stand_behind_their_parents),
		cmocka_unit_test(test_an_exit_without_an_event_counts_in_the_last_pass),
		cmocka_unit_test(test_a_crowd_takes_turns),
		cmocka_unit_test(test_a_process_that_exits_stays_the_program_that_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
