/* Tests of src/job/signal_at/: the rules of --signal-at, and the limit in the arguments of timeout(1). */
#include "unit.h"

#include <signal.h>

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

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_has_a_measure_a_signal_and_perhaps_a_program),
		cmocka_unit_test(a_bad_rule_says_its_fault_and_leaves_the_result),
		cmocka_unit_test(timeout_has_its_limit_behind_its_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
