/* Tests of src/job/signal_at/: the rules of --signal-at, and the limit in the arguments of timeout(1). */
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "job/signal_at/signal_rule.h"
#include "job/signal_at/time_limit.h"

static struct signal_rule rule;

static const char *read_rule(const char *text)
{
	return signal_rule_read(text, strlen(text), &rule);
}

static void a_rule_has_a_measure_a_signal_and_perhaps_a_program(void **state)
{
	(void)state;
	assert_null(read_rule("memory=90%:USR1"));
	assert_true(rule.of_memory && rule.is_share && rule.signal == SIGUSR1);
	assert_true(rule.value > 0.899 && rule.value < 0.901);
	assert_string_equal(rule.text + rule.program, "");
	assert_null(read_rule("time=-120s:SIGTERM:python3"));
	assert_true(!rule.of_memory && !rule.is_share && rule.signal == SIGTERM && rule.limit_secs == 0);
	assert_true(rule.value == -120);
	assert_string_equal(rule.text + rule.program, "python3");
	assert_string_equal(rule.text, "time=-120s:SIGTERM:python3");
	assert_null(read_rule("time=-2m/4h:HUP"));
	assert_true(rule.value == -120 && rule.limit_secs == 14400);
	assert_null(read_rule("time=50%:USR2"));
	assert_true(rule.is_share && rule.value == 0.5);
	assert_null(read_rule("time=58m:INT"));
	assert_true(!rule.is_share && rule.value == 3480);
}

static void a_bad_rule_says_its_fault_and_leaves_the_result(void **state)
{
	static const struct {
		const char *text, *why;
	} BAD[] = {
		{"", "is not a rule"},
		{"memory", "is not a rule"},
		{"memory=90%", "is not a rule"},
		{"memory:a=b", "is not a rule"},
		{"disk=90%:USR1", "neither memory nor time"},
		{"memory=90:USR1", "part of the memory limit"},
		{"memory=0%:USR1", "part of the memory limit"},
		{"memory=101%:USR1", "part of the memory limit"},
		{"time=soon:USR1", "is not a time"},
		{"time=0:USR1", "is not a time"},
		{"time=-1e300s:USR1", "is not a time"},
		{"time=1e9s:USR1", "is not a time"},
		{"time=-1m/1e9:USR1", "gives a limit"},
		{"time=-1m/x:USR1", "gives a limit"},
		{"time=-1m/-5m:USR1", "gives a limit"},
		{"time=-1h/1h:USR1", "before the job starts"},
		{"memory=90%:", "names no signal"},
		{"memory=90%:NO", "names no signal"},
		{"memory=90%:KILL", "no time to save"},
		{"memory=90%:SIGSTOP", "no time to save"},
		{"memory=90%:USR1:", "names no program"},
		{"memory=90%:USR1:a-name-of-a-program-with-more-than-sixty-four-letters-x", "too long"},
	};

	(void)state;
	assert_null(read_rule("memory=90%:USR1"));
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
		const char *why = read_rule(BAD[i].text);

		assert_non_null(why);
		assert_non_null(strstr(why, BAD[i].why));
		assert_string_equal(rule.text, "memory=90%:USR1");
	}
}

#define SECS(arguments) timeout_secs(arguments, sizeof(arguments))

static void timeout_has_its_limit_behind_its_options(void **state)
{
	(void)state;
	assert_true(SECS("timeout\0"
			 "90\0"
			 "python3\0"
			 "5") == 90);
	assert_true(SECS("timeout\0"
			 "-k\0"
			 "5\0"
			 "--signal\0"
			 "TERM\0"
			 "1.5h\0"
			 "a") == 5400);
	assert_true(SECS("timeout\0"
			 "--kill-after\0"
			 "5\0"
			 "-s\0"
			 "9\0"
			 "7\0"
			 "a") == 7);
	assert_true(SECS("timeout\0"
			 "-k5\0"
			 "--signal=INT\0"
			 "--foreground\0"
			 "--\0"
			 "2m\0"
			 "a") == 120);
	assert_true(SECS("timeout\0"
			 "0\0"
			 "a") == 0);
	assert_true(SECS("timeout\0"
			 "infinity\0"
			 "a") == 0);
	assert_true(SECS("timeout\0"
			 "--help") == 0);
	assert_true(timeout_secs("timeout", 7) == 0);
}

static double slurm_limit(const char *starts, const char *ends, double *ret_begun_secs)
{
	struct time_limit limit;
	struct root root;
	int64_t now_ns;

	assert_int_equal(root_open(&root, NULL, NULL), 0);
	setenv("SLURM_JOB_START_TIME", starts, 1);
	setenv("SLURM_JOB_END_TIME", ends, 1);
	time_limit_find(&root, 1, &limit);
	unsetenv("SLURM_JOB_START_TIME");
	unsetenv("SLURM_JOB_END_TIME");
	now_ns = root_monotonic_ns(&root);
	root_close(&root);
	if (!limit.of) {
		assert_true(limit.ends_ns == INT64_MAX && limit.begun_ns == 0);
		return 0;
	}
	assert_string_equal(limit.of, "Slurm");
	*ret_begun_secs = limit.begun_ns ? (double)(limit.begun_ns - now_ns) / 1e9 : 0;
	return (double)(limit.ends_ns - now_ns) / 1e9;
}

/* A test that stands still for an hour would see the wrong hour. */
static void slurm_tells_when_its_job_ends(void **state)
{
	char starts[40], ends[40];
	double begun_secs;

	(void)state;
	snprintf(starts, sizeof starts, "%lld", (long long)time(NULL) - 36000);
	snprintf(ends, sizeof ends, "%lld", (long long)time(NULL) + 72000);
	assert_true(fabs(slurm_limit(starts, ends, &begun_secs) - 72000) < 3600);
	assert_true(fabs(begun_secs + 36000) < 3600);
	assert_true(fabs(slurm_limit("", ends, &begun_secs) - 72000) < 3600);
	assert_true(begun_secs == 0);
	assert_true(slurm_limit(starts, "", &begun_secs) == 0);
	assert_true(slurm_limit(starts, "0", &begun_secs) == 0);
	assert_true(slurm_limit(starts, "-1", &begun_secs) == 0);
	assert_true(slurm_limit(starts, "UNLIMITED", &begun_secs) == 0);
	assert_true(slurm_limit(starts, "4611686019", &begun_secs) == 0); /* has no room in nanoseconds */
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_has_a_measure_a_signal_and_perhaps_a_program),
		cmocka_unit_test(a_bad_rule_says_its_fault_and_leaves_the_result),
		cmocka_unit_test(timeout_has_its_limit_behind_its_options),
		cmocka_unit_test(slurm_tells_when_its_job_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
