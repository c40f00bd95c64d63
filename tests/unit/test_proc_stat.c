/* Tests of src/kernel/proc_stat.c. */
#include "kernel.h"

#include "kernel/proc_stat.h"

static int parse(const char *text, struct proc_stat *stat)
{
	return parse_proc_stat(text, strlen(text), stat);
}

static void every_line_finds_its_field(void **state)
{
	struct proc_stat stat;
	struct cpu_ticks ticks;
	struct scan cpus;
	int id;

	(void)state;
	assert_int_equal(
		parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 11 0 0 0 0 0 0 0 0 0\ncpu7 71 0 0 74 0 0 0 0 0 80\n"
		      "intr 99 1 2 3\nctxt 390768\nbtime 1795224227\nprocesses 7317\nprocs_running 2\n"
		      "procs_blocked 3\nsoftirq 1 2\n",
		      &stat),
		0);
	assert_int_equal(stat.total.user, 1);
	assert_int_equal(stat.total.nice, 2);
	assert_int_equal(stat.total.system, 3);
	assert_int_equal(stat.total.idle, 4);
	assert_int_equal(stat.total.iowait, 5);
	assert_int_equal(stat.total.irq, 6);
	assert_int_equal(stat.total.softirq, 7);
	assert_int_equal(stat.total.steal, 8);
	assert_int_equal(stat.total.guest, 9);
	assert_int_equal(stat.total.guest_nice, 10);
	assert_int_equal(stat.context_switches, 390768);
	assert_int_equal(stat.boot_time_secs, 1795224227);
	assert_int_equal(stat.forks, 7317);
	assert_int_equal(stat.running_count, 2);
	assert_int_equal(stat.blocked_count, 3);
	cpus = stat.cpus;
	assert_true(proc_stat_next_cpu(&cpus, &id, &ticks));
	assert_int_equal(id, 0);
	assert_int_equal(ticks.user, 11);
	assert_true(proc_stat_next_cpu(&cpus, &id, &ticks));
	assert_int_equal(id, 7);
	assert_int_equal(ticks.idle, 74);
	assert_int_equal(ticks.guest_nice, 80);
	assert_false(proc_stat_next_cpu(&cpus, &id, &ticks));
}

static void old_kernels_have_fewer_columns(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_int_equal(parse("cpu 1 2 3 4\n", &stat), 0);
	assert_int_equal(stat.total.idle, 4);
	assert_int_equal(stat.total.iowait, -1);
	assert_int_equal(stat.total.guest_nice, -1);
	assert_int_equal(stat.context_switches, -1);
}

static void odd_numbers_lose_only_themselves(void **state)
{
	struct proc_stat stat;
	struct cpu_ticks ticks;
	int id;

	(void)state;
	assert_int_equal(
		parse("cpu 1 x 99999999999999999999 4\ncpux 1\ncpu 2\ncpu99999999999 1\ncpu3 5 -\nctxt x\n"
		      "btime 5\n",
		      &stat),
		0);
	assert_int_equal(stat.total.user, 1);
	assert_int_equal(stat.total.nice, -1);
	assert_int_equal(stat.total.system, -1);
	assert_int_equal(stat.total.idle, 4);
	assert_int_equal(stat.context_switches, -1);
	assert_int_equal(stat.boot_time_secs, 5);
	assert_true(proc_stat_next_cpu(&stat.cpus, &id, &ticks));
	assert_int_equal(id, 3);
	assert_int_equal(ticks.user, 5);
	assert_int_equal(ticks.nice, -1);
	assert_false(proc_stat_next_cpu(&stat.cpus, &id, &ticks));
}

static void parse_stat_refuses_other_texts(void **state)
{
	struct proc_stat stat = {.forks = 7};

	(void)state;
	assert_int_equal(parse("", &stat), -EBADMSG);
	assert_int_equal(parse("intr 5\n", &stat), -EBADMSG);
	assert_int_equal(parse("cpu0 5 5 5 5\n", &stat), -EBADMSG);
	assert_int_equal(stat.forks, 7);
}

static void parse_any(const char *bytes, size_t length)
{
	struct proc_stat stat;
	struct cpu_ticks ticks;
	int id;

	if (parse_proc_stat(bytes, length, &stat) == 0)
		while (proc_stat_next_cpu(&stat.cpus, &id, &ticks))
			continue;
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 11 0 0 0\ncpu7 71 0 0 74\nctxt 390768\n", parse_any);
}

static void many_cpus_with_holes_are_all_there(void **state)
{
	struct root root = test_root("hand-made-altra-256cpu-6.8/t0");
	struct kept_file file = KEPT_FILE("proc/stat");
	struct proc_stat stat;
	struct cpu_ticks ticks;
	int64_t user = 0;
	int id, last = -1, count = 0;

	(void)state;
	assert_int_equal(read_proc_stat(&root, &file, &stat), 0);
	while (proc_stat_next_cpu(&stat.cpus, &id, &ticks)) {
		assert_true(id > last && id != 5 && id != 77 && (id < 128 || id >= 1024));
		last = id;
		user += ticks.user;
		count++;
	}
	assert_int_equal(count, 256);
	assert_int_equal(last, 1153);
	assert_int_equal(user, stat.total.user);
	kept_file_close(&file);
	root_close(&root);
}

static void the_number_of_a_cpu_has_its_most(void **state)
{
	static const char TEXT[] =
		"cpu  1 2 3 4\ncpu2147483648 1\ncpu2147483647 9223372036854775807 9223372036854775808\n";
	struct proc_stat stat;
	struct cpu_ticks ticks;
	int id;

	(void)state;
	assert_int_equal(parse(TEXT, &stat), 0);
	assert_true(proc_stat_next_cpu(&stat.cpus, &id, &ticks));
	assert_int_equal(id, INT32_MAX);
	assert_true(ticks.user == INT64_MAX && ticks.nice == -1);
	assert_false(proc_stat_next_cpu(&stat.cpus, &id, &ticks));
	/* Without the line of all CPUs the counters are known, and its ticks are absent. */
	assert_int_equal(parse("ctxt 5\n", &stat), 0);
	assert_true(stat.context_switches == 5 && stat.total.user == -1 && stat.total.guest_nice == -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_finds_its_field),
		cmocka_unit_test(old_kernels_have_fewer_columns),
		cmocka_unit_test(odd_numbers_lose_only_themselves),
		cmocka_unit_test(parse_stat_refuses_other_texts),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(many_cpus_with_holes_are_all_there),
		cmocka_unit_test(the_number_of_a_cpu_has_its_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
