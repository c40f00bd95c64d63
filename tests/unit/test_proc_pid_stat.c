/* Tests of src/kernel/proc_pid_stat.c. */
#include "kernel.h"

#include "kernel/proc_pid_stat.h"

static const char USUAL[] =
	"4217 (bash) S 4200 4217 4201 34816 4217 4194304 102 3021 4 2 7 1 40 12 20 -5 3 0 88421 "
	"3133440 411 18446744073709551615 1 1 0 0 0 0 65536 4 65538 0 0 0 17 1 0 0 0 0 0\n";

static int parse(const char *text, struct proc_pid_stat *stat)
{
	return parse_proc_pid_stat(text, strlen(text), stat);
}

static void every_column_finds_its_field(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse(USUAL, &stat), 0);
	assert_int_equal(stat.pid, 4217);
	assert_string_equal(stat.comm, "bash");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent_pid, 4200);
	assert_int_equal(stat.minor_faults, 102);
	assert_int_equal(stat.waited_minor_faults, 3021);
	assert_int_equal(stat.major_faults, 4);
	assert_int_equal(stat.waited_major_faults, 2);
	assert_int_equal(stat.utime_ticks, 7);
	assert_int_equal(stat.stime_ticks, 1);
	assert_int_equal(stat.waited_utime_ticks, 40);
	assert_int_equal(stat.waited_stime_ticks, 12);
	assert_int_equal(stat.thread_count, 3);
	assert_int_equal(stat.start_ticks, 88421);
	assert_int_equal(stat.virtual_bytes, 3133440);
	assert_int_equal(stat.resident_pages, 411);
	assert_int_equal(stat.blocked_signals, 65536);
	assert_int_equal(stat.ignored_signals, 4);
	assert_int_equal(stat.handled_signals, 65538);
}

static void names_hold_anything(void **state)
{
	static const char *const NAMES[] = {"x) R 1 (", "new\nline", "",      ") S 1 1 1",
					    "((((",     "))))",      "a b c", "\xff\xfe"};

	(void)state;
	for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
		struct proc_pid_stat stat;
		char text[256];

		snprintf(text, sizeof text, "7 (%s) R 3 7 7 0 -1 0 11 0 0 0 5 6 0 0 20 0 1 0 99 4096 1\n",
			 NAMES[i]);
		assert_int_equal(parse(text, &stat), 0);
		assert_string_equal(stat.comm, NAMES[i]);
		assert_int_equal(stat.state, 'R');
		assert_int_equal(stat.parent_pid, 3);
		assert_int_equal(stat.minor_faults, 11);
		assert_int_equal(stat.start_ticks, 99);
		assert_int_equal(stat.resident_pages, 1);
	}
}

static void long_names_are_cut(void **state)
{
	struct proc_pid_stat stat;
	char text[512], name[201];

	(void)state;
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	snprintf(text, sizeof text, "7 (%s) R 3 7 7 0 -1 0 11 0 0 0 5 6 0 0 20 0 1 0 99 4096 1\n", name);
	assert_int_equal(parse(text, &stat), 0);
	assert_int_equal(strlen(stat.comm), sizeof stat.comm - 1);
	assert_int_equal(stat.start_ticks, 99);
}

static void odd_columns_lose_only_themselves(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(
		parse("7 (x) R ? 7 7 0 -1 0 1 2 3 4 99999999999999999999 -6 7 8x 20 0 1 0 99 4096 1\n",
		      &stat),
		0);
	assert_int_equal(stat.parent_pid, -1);
	assert_int_equal(stat.waited_major_faults, 4);
	assert_int_equal(stat.utime_ticks, -1);
	assert_int_equal(stat.stime_ticks, -1);
	assert_int_equal(stat.waited_utime_ticks, 7);
	assert_int_equal(stat.waited_stime_ticks, -1);
	assert_int_equal(stat.start_ticks, 99);
}

static void missing_columns_are_absent(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse("7 (x) Z 1 7 7 0 -1 0 1 2", &stat), 0);
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(stat.waited_minor_faults, 2);
	assert_int_equal(stat.major_faults, -1);
	assert_int_equal(stat.start_ticks, -1);
	assert_int_equal(stat.resident_pages, -1);
	assert_int_equal(stat.ignored_signals, -1);
}

static void parse_stat_refuses_other_texts(void **state)
{
	static const char *const TEXTS[] = {
		"",       "7",       "7 ",        "7 (x",    "7 (x)",
		"7 (x) ", "(x) R 1", "x (x) R 1", "7 x R 1", "99999999999 (x) R 1",
		"\n"};
	struct proc_pid_stat stat = {.pid = -7};

	(void)state;
	for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
		assert_int_equal(parse(TEXTS[i], &stat), -EBADMSG);
	assert_int_equal(stat.pid, -7);
}

static void parse_any(const char *bytes, size_t length)
{
	struct proc_pid_stat stat;

	(void)parse_proc_pid_stat(bytes, length, &stat);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(USUAL, parse_any);
}

static void fixtures_have_the_names_that_break_others(void **state)
{
	struct root root = test_root("firecracker-6.18/t0");
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(read_proc_pid_stat(&root, 100, &stat), 0);
	assert_string_equal(stat.comm, "python3");
	assert_int_equal(read_proc_pid_stat(&root, 143, &stat), 0);
	assert_string_equal(stat.comm, "x) R 1 (");
	assert_int_equal(stat.parent_pid, 100);
	assert_int_equal(read_proc_pid_stat(&root, 144, &stat), 0);
	assert_string_equal(stat.comm, "new\nline");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(read_proc_pid_stat(&root, 999, &stat), -ENOENT);
	root_close(&root);
	root = test_root("hand-made-vm-3.10/t0");
	assert_int_equal(read_proc_pid_stat(&root, 102, &stat), 0);
	assert_string_equal(stat.comm, "new\\nline");
	root_close(&root);
}

static void parse_stat_finds_ignored_sigchld_in_the_fixtures(void **state)
{
	struct root root = test_root("hand-made-slurm-5.14/t0");
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(read_proc_pid_stat(&root, 103, &stat), 0);
	assert_int_equal(stat.ignored_signals, 1 << (17 - 1));
	root_close(&root);
}

/* Lines of Linux 6.18: a worker in a driver's ioctl, and a process that exits and waits for a lock of libc's mappings. */
static void a_process_that_exits_is_not_stuck(void **state)
{
	static const char IN_A_DRIVER[] =
		"26057 (rt-worker) D 26054 26054 26054 0 -1 4194368 41 0 0 0 0 0 0 0 39 19 1 0 "
		"6852392 2654208 393 18446744073709551615 0 0 0 0 0 0 0 4099 0 1 0 0 17 0\n";
	static const char EXITING[] =
		"26054 (rt-helper) D 26029 26054 26054 0 -1 4194380 37 0 0 0 0 0 0 0 39 19 1 0 "
		"6852392 0 0 18446744073709551615 0 0 0 0 0 0 0 3693063 0 1 0 0 17 0\n";
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse_proc_pid_stat(IN_A_DRIVER, sizeof IN_A_DRIVER - 1, &stat), 0);
	assert_true(proc_pid_stat_is_stuck(&stat));
	assert_int_equal(parse_proc_pid_stat(EXITING, sizeof EXITING - 1, &stat), 0);
	assert_false(proc_pid_stat_is_stuck(&stat));
}

static void the_live_process_reads_itself(void **state)
{
	struct proc_pid_stat stat;
	struct root root;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(root_open(&root, "/", NULL), 0);
	assert_int_equal(read_proc_pid_stat(&root, getpid(), &stat), 0);
	assert_int_equal(stat.pid, getpid());
	assert_int_equal(stat.parent_pid, getppid());
	assert_int_equal(stat.state, 'R');
	assert_true(stat.start_ticks > 0 && stat.resident_pages > 0 && stat.thread_count == 1);
	root_close(&root);
}

static void columns_that_are_missing_are_absent_from_the_first(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse(USUAL, &stat), 0);
	assert_int_equal(stat.flags, 4194304);
	assert_int_equal(stat.code_start, 1);
	assert_int_equal(stat.stack_start, 0);
	assert_int_equal(parse("7 (x) R", &stat), 0);
	assert_true(stat.parent_pid == -1 && stat.flags == -1 && stat.minor_faults == -1 &&
		    stat.code_start == -1 && stat.stack_start == -1 && stat.blocked_signals == -1 &&
		    stat.handled_signals == -1);
}

static void numbers_have_their_most(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse("2147483647 (x) R 2147483647 7 7 0 -1 9223372036854775807 999999999999999999 "
			       "1000000000000000000 9223372036854775808 0",
			       &stat),
			 0);
	assert_int_equal(stat.pid, INT32_MAX);
	assert_int_equal(stat.parent_pid, INT32_MAX);
	assert_true(stat.flags == INT64_MAX);
	assert_true(stat.minor_faults == 999999999999999999);
	assert_true(stat.waited_minor_faults == 1000000000000000000);
	assert_int_equal(stat.major_faults, -1);
	assert_int_equal(stat.waited_major_faults, 0);
	assert_int_equal(parse("2147483648 (x) R 0", &stat), -EBADMSG);
	assert_int_equal(parse("7 (x) R 2147483648", &stat), 0);
	assert_int_equal(stat.parent_pid, -1);
	assert_int_equal(parse("7 (x) R 0", &stat), 0);
	assert_int_equal(stat.parent_pid, 0);
}

/* Columns may have blanks and tabs between them, and the last one the end of the text. */
static void any_blanks_separate_columns(void **state)
{
	struct proc_pid_stat stat;

	(void)state;
	assert_int_equal(parse("7 (x) R 3 7 7 0 -1  5\t6\t\t7 8 9", &stat), 0);
	assert_int_equal(stat.flags, 5);
	assert_int_equal(stat.minor_faults, 6);
	assert_int_equal(stat.waited_minor_faults, 7);
	assert_int_equal(stat.waited_major_faults, 9);
	assert_int_equal(stat.utime_ticks, -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_column_finds_its_field),
		cmocka_unit_test(names_hold_anything),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(odd_columns_lose_only_themselves),
		cmocka_unit_test(missing_columns_are_absent),
		cmocka_unit_test(parse_stat_refuses_other_texts),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(fixtures_have_the_names_that_break_others),
		cmocka_unit_test(parse_stat_finds_ignored_sigchld_in_the_fixtures),
		cmocka_unit_test(a_process_that_exits_is_not_stuck),
		cmocka_unit_test(the_live_process_reads_itself),
		cmocka_unit_test(columns_that_are_missing_are_absent_from_the_first),
		cmocka_unit_test(numbers_have_their_most),
		cmocka_unit_test(any_blanks_separate_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
