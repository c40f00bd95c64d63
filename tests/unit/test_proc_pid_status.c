/* Tests of src/kernel/proc_pid_status.c. */
#include "kernel.h"

#include "kernel/proc_pid_status.h"

static const char USUAL[] =
	"Name:\tx\\nTgid:\t9\nState:\tS (sleeping)\nTgid:\t4217\nPid:\t4217\nPPid:\t4200\n"
	"Uid:\t1000\t0\t1000\t1000\nNSpid:\t4217\t17\t1\nVmHWM:\t    1768 kB\n"
	"VmRSS:\t    1700 kB\nRssAnon:\t     112 kB\nRssFile:\t    1580 kB\n"
	"RssShmem:\t       8 kB\nVmSwap:\t       4 kB\nThreads:\t3\n"
	"Cpus_allowed_list:\t0-1,8\n";

static void every_line_finds_its_field(void **state)
{
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status(USUAL, strlen(USUAL), &status), 0);
	assert_int_equal(status.tgid, 4217);
	assert_int_equal(status.parent_pid, 4200);
	assert_int_equal(status.real_uid, 1000);
	assert_int_equal(status.effective_uid, 0);
	assert_int_equal(status.namespace_pid_count, 3);
	assert_int_equal(status.namespace_pids[0], 4217);
	assert_int_equal(status.namespace_pids[2], 1);
	assert_int_equal(status.peak_rss_kib, 1768);
	assert_int_equal(status.rss_kib, 1700);
	assert_int_equal(status.rss_anon_kib, 112);
	assert_int_equal(status.rss_file_kib, 1580);
	assert_int_equal(status.rss_shmem_kib, 8);
	assert_int_equal(status.swap_kib, 4);
	assert_int_equal(status.thread_count, 3);
	assert_int_equal(status.allowed_cpu_count, 3);
}

static void switches_are_found_from_the_end(void **state)
{
	static const char TEXT[] = "Name:\tvoluntary_ctxt_switches:\t1\nvoluntary_ctxt_switches:\t41\n"
				   "nonvoluntary_ctxt_switches:\t7\nx86_Thread_features:\t\n";
	static const char *const OTHERS[] = {
		"",
		"\n",
		"Name:\tx\n",
		"voluntary_ctxt_switches:\t41\n",
		"voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\tx\n",
		"nonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t41\n"};
	int64_t voluntary = -5, involuntary = -5;

	(void)state;
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
		assert_int_equal(parse_proc_pid_status_switches(OTHERS[i], strlen(OTHERS[i]), &voluntary,
								&involuntary),
				 -EBADMSG);
	assert_true(voluntary == -5 && involuntary == -5);
	assert_int_equal(parse_proc_pid_status_switches(TEXT, strlen(TEXT), &voluntary, &involuntary), 0);
	assert_int_equal(voluntary, 41);
	assert_int_equal(involuntary, 7);
}

static void missing_lines_are_absent(void **state)
{
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status("Tgid:\t5\n", 8, &status), 0);
	assert_int_equal(status.tgid, 5);
	assert_int_equal(status.namespace_pid_count, 0);
	assert_int_equal(status.effective_uid, -1);
	assert_int_equal(status.peak_rss_kib, -1);
	assert_int_equal(status.allowed_cpu_count, -1);
	/* A number and a list. */
	assert_int_equal(parse_proc_pid_status("Tgid:\t5\nNSpid:\t5\n", 16, &status), 0);
	assert_int_equal(status.namespace_pid_count, 1);
	assert_int_equal(parse_proc_pid_status("NSpid:\t5\n", 9, &status), 0);
}

static void more_namespaces_than_there_can_be_do_no_harm(void **state)
{
	struct proc_pid_status status;
	char text[512] = "NSpid:";

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(text, "\t12345");
	assert_int_equal(parse_proc_pid_status(text, strlen(text), &status), 0);
	assert_int_equal(status.namespace_pid_count, NAMESPACE_PIDS_MAX);
}

static void odd_lines_lose_only_themselves(void **state)
{
	static const char ODD[] = "Tgid:\tx\nUid:\t7\nNSpid:\t-\nCpus_allowed_list:\t0-\nThreads:\t2\n";
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status(ODD, strlen(ODD), &status), 0);
	assert_int_equal(status.tgid, -1);
	assert_int_equal(status.real_uid, 7);
	assert_int_equal(status.effective_uid, -1);
	assert_int_equal(status.namespace_pid_count, 0);
	assert_int_equal(status.allowed_cpu_count, -1);
	assert_int_equal(status.thread_count, 2);
	assert_int_equal(parse_proc_pid_status("Name:\tx\n", 8, &status), -EBADMSG);
}

static void parse_any(const char *bytes, size_t length)
{
	struct proc_pid_status status;

	(void)parse_proc_pid_status(bytes, length, &status);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(USUAL, parse_any);
}

static void fixtures_show_affinity_and_zombies(void **state)
{
	struct root root = test_root("hand-made-slurm-5.14/t0");
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(read_proc_pid_status(&root, 103, &status), 0);
	assert_int_equal(status.allowed_cpu_count, 4);
	assert_int_equal(read_proc_pid_status(&root, 106, &status), 0);
	assert_int_equal(status.rss_kib, -1);
	root_close(&root);
}

/* Sixteen lines from the end, and no further. */
static void switches_are_looked_for_near_the_end(void **state)
{
	static const char WITHOUT_ITS_END[] = "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t0";
	int64_t voluntary, involuntary;

	(void)state;
	for (int after = 0; after <= 15; after++) {
		char text[400] = "voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t3\n";

		for (int i = 0; i < after; i++)
			strcat(text, "other:\t1\n");
		assert_int_equal(parse_proc_pid_status_switches(text, strlen(text), &voluntary, &involuntary),
				 after <= 14 ? 0 : -EBADMSG);
	}
	assert_true(voluntary == 0 && involuntary == 3);
	assert_int_equal(parse_proc_pid_status_switches(WITHOUT_ITS_END, strlen(WITHOUT_ITS_END), &voluntary,
							&involuntary),
			 0);
	assert_true(voluntary == 4 && involuntary == 0);
}

static void numbers_have_their_most(void **state)
{
	static const char TEXT[] = "Uid:\t1\t9223372036854775807\nNSpid:\t2147483647\t2147483648\t5\n"
				   "VmRSS:\t1099511627776 kB\nVmHWM:\t1099511627777 kB\n";
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status(TEXT, strlen(TEXT), &status), 0);
	assert_true(status.effective_uid == INT64_MAX);
	assert_int_equal(status.namespace_pid_count, 1);
	assert_int_equal(status.namespace_pids[0], INT32_MAX);
	assert_int_equal(status.rss_kib, INT64_C(1) << 40);
	assert_int_equal(status.peak_rss_kib, -1);
	assert_int_equal(parse_proc_pid_status("Uid:\t1\t9223372036854775808\n", 26, &status), 0);
	assert_int_equal(status.effective_uid, -1);
}

/* A text in which one line alone is known. */
static void each_line_alone_is_enough(void **state)
{
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status("Cpus_allowed_list:\t0-1\n", 23, &status), 0);
	assert_int_equal(status.allowed_cpu_count, 2);
	assert_int_equal(parse_proc_pid_status("NSpid:\tx\n", 9, &status), -EBADMSG);
	assert_int_equal(parse_proc_pid_status("Cpus_allowed_list:\tx\n", 21, &status), -EBADMSG);
	assert_int_equal(parse_proc_pid_status("Cpus_allowed_list\n", 18, &status), -EBADMSG);
}

static void a_user_without_a_number_is_absent(void **state)
{
	struct proc_pid_status status;

	(void)state;
	assert_int_equal(parse_proc_pid_status("Uid:\tx\n", 7, &status), -EBADMSG);
	assert_int_equal(parse_proc_pid_status("Tgid:\t1\nUid:\tx\t5\n", 17, &status), 0);
	assert_true(status.real_uid == -1 && status.effective_uid == -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_finds_its_field),
		cmocka_unit_test(switches_are_found_from_the_end),
		cmocka_unit_test(missing_lines_are_absent),
		cmocka_unit_test(more_namespaces_than_there_can_be_do_no_harm),
		cmocka_unit_test(odd_lines_lose_only_themselves),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(fixtures_show_affinity_and_zombies),
		cmocka_unit_test(switches_are_looked_for_near_the_end),
		cmocka_unit_test(numbers_have_their_most),
		cmocka_unit_test(each_line_alone_is_enough),
		cmocka_unit_test(a_user_without_a_number_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
