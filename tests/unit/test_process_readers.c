/* Tests of src/tracker/oneshot.c: readers without a tracker say what the files of /proc say. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "resource_tracker.h"

/* A child that has burnt some CPU time and reaped a process, and its own child. Both stand still. */
static pid_t child, grandchild;

static void burn(double secs)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < secs);
}

static void stand_still(int ready)
{
	pid_t own = getpid();

	alarm(60);
	if (write(ready, &own, sizeof own) == sizeof own)
		for (;;)
			pause();
	_exit(1);
}

static int begin_children(void **state)
{
	int ready[2];
	pid_t told[2];

	(void)state;
	if (pipe(ready) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		if (fork() == 0) {
			burn(0.04);
			_exit(0);
		}
		wait(NULL);
		burn(0.06);
		if (fork() == 0)
			stand_still(ready[1]);
		stand_still(ready[1]);
	}
	for (int i = 0; i < 2; i++)
		if (read(ready[0], &told[i], sizeof told[i]) != sizeof told[i])
			return -1;
	grandchild = told[0] == child ? told[1] : told[0];
	close(ready[0]);
	close(ready[1]);
	return 0;
}

static int end_children(void **state)
{
	(void)state;
	kill(grandchild, SIGKILL);
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int64_t number_in(const char *file, const char *before)
{
	char path[64], text[8192];
	FILE *stream;
	size_t length;
	const char *at;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)child, file);
	stream = fopen(path, "re");
	if (!stream)
		return -1;
	length = fread(text, 1, sizeof text - 1, stream);
	fclose(stream);
	text[length] = '\0';
	at = strstr(text, before);
	return at ? strtoll(at + strlen(before), NULL, 10) : -1;
}

static void numbers_are_those_of_the_kernel_s_files(void **state)
{
	int64_t bytes = -7, written = -7, pss_kib = number_in("smaps_rollup", "\nPss:");

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_process_rss(child, &bytes), 0);
	assert_int_equal(bytes % sysconf(_SC_PAGESIZE), 0);
	/* The two files round differently. */
	assert_true(llabs(bytes / 1024 - number_in("status", "VmRSS:")) < 2048);
	if (pss_kib >= 0) {
		assert_int_equal(rt_process_pss(child, &bytes), 0);
		/* Other programs with the same library come and go. */
		assert_true(bytes > pss_kib * 512 && bytes < pss_kib * 2048);
	}
	if (number_in("io", "\nread_bytes: ") >= 0) {
		assert_int_equal(rt_process_io(child, &bytes, &written), 0);
		assert_int_equal(bytes, number_in("io", "\nread_bytes: "));
		assert_int_equal(written, number_in("io", "\nwrite_bytes: "));
	}
}

static void times_have_the_reaped_child_if_that_is_wanted(void **state)
{
	double user = -1, system = -1, all_user = -1, all_system = -1;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_process_times(child, false, &user, &system), 0);
	assert_int_equal(rt_process_times(child, true, &all_user, &all_system), 0);
	/* Each number is rounded down to a tick of 10 ms. */
	assert_true(user + system > 0.035 && user + system < 10);
	assert_true(all_user + all_system - user - system > 0.015);
	assert_true(all_user >= user && all_system >= system);
}

static void a_process_is_read_alone_or_with_its_children(void **state)
{
	struct rt_process one = {.size = sizeof one}, both = one, other = one, one_later = one,
			  other_later = one;
	int64_t pss;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_process_read(child, false, &one), 0);
	assert_int_equal(rt_process_read(grandchild, true, &other), 0);
	assert_int_equal(rt_process_read(child, true, &both), 0);
	assert_int_equal(rt_process_read(child, false, &one_later), 0);
	assert_int_equal(rt_process_read(grandchild, false, &other_later), 0);
	assert_int_equal(one.pid, child);
	assert_int_equal(one.child_count, 1);
	assert_int_equal(both.child_count, 1);
	assert_int_equal(other.child_count, 0);
	/* On their way to pause(), they may touch a page. */
	assert_true(both.rss_bytes >= one.rss_bytes + other.rss_bytes &&
		    both.rss_bytes <= one_later.rss_bytes + other_later.rss_bytes);
	if (rt_process_pss(child, &pss) == 0)
		assert_true(both.pss_bytes > one.pss_bytes &&
			    both.pss_bytes < 2 * (one.pss_bytes + other.pss_bytes));
	if (one.read_bytes >= 0) {
		assert_int_equal(both.read_bytes, one.read_bytes + other.read_bytes);
		assert_int_equal(both.written_bytes, one.written_bytes + other.written_bytes);
	}
	assert_true(fabs(both.user_secs - one.user_secs - other.user_secs) < 1e-6);
	assert_true(fabs(both.system_secs - one.system_secs - other.system_secs) < 1e-6);
	assert_true(one.user_secs + one.system_secs > 0.05);
	assert_true(one.realtime_secs > 1.7e9 && one.realtime_secs < 1e11);
}

static void descendants_are_listed_without_their_ancestor(void **state)
{
	pid_t *pids = NULL;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_process_descendants(child, &pids), 1);
	assert_int_equal(pids[0], grandchild);
	rt_free(pids);
	pids = NULL;
	assert_int_equal(rt_process_descendants(grandchild, &pids), 0);
	rt_free(pids);
}

static void a_process_that_is_not_there_is_esrch(void **state)
{
	enum { NONE = INT32_MAX };
	struct rt_process process = {.size = sizeof process, .pid = 5};
	int64_t bytes = 7, written = 8;
	double user = 7, system = 8;
	pid_t *pids = NULL;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(rt_process_rss(NONE, &bytes), -ESRCH);
	assert_int_equal(rt_process_pss(NONE, &bytes), -ESRCH);
	assert_int_equal(rt_process_io(NONE, &bytes, &written), -ESRCH);
	assert_int_equal(rt_process_times(NONE, true, &user, &system), -ESRCH);
	assert_int_equal(rt_process_descendants(NONE, &pids), -ESRCH);
	assert_int_equal(rt_process_read(NONE, true, &process), -ESRCH);
	assert_true(bytes == 7 && written == 8 && user == 7 && system == 8);
	assert_null(pids);
	assert_int_equal(process.pid, 5);
}

#define unit_test_of_children(test) cmocka_unit_test_setup_teardown(test, begin_children, end_children)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_children(numbers_are_those_of_the_kernel_s_files),
		unit_test_of_children(times_have_the_reaped_child_if_that_is_wanted),
		unit_test_of_children(a_process_is_read_alone_or_with_its_children),
		unit_test_of_children(descendants_are_listed_without_their_ancestor),
		cmocka_unit_test(a_process_that_is_not_there_is_esrch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
