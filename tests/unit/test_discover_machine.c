/* Tests of src/tracker/discover_machine.c, with a script in the place of resource-tracker-net. */
#include "scratch.h"

#include <errno.h>
#include <signal.h>

#include "base/cleanup.h"
#include "resource_tracker.h"

/*
 * The script writes its arguments to "asked" and prints "answer". With "slow", a brace comes long before. With "stuck", it then keeps
 * its end open.
 */
static int begin_script(void **state)
{
	char program[64], script[400], helper[4096];
	int error = scratch_enter(state);

	if (error || is_emulated())
		return error;
	snprintf(program, sizeof program, "%s/net", scratch_folder);
	snprintf(script, sizeof script,
		 "#!/bin/sh\ncd %s\necho \"$@\" >asked\necho $$ >pid\n[ -e slow ] && printf { && sleep 0.1\n"
		 "cat answer\n[ -e stuck ] && exec sleep 100\nexit 0\n",
		 scratch_folder);
	put_text(program, script);
	put_text("answer", "");
	snprintf(helper, sizeof helper, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	return chmod(program, 0755) | setenv("TRACKER_NET", program, 1) | setenv("TRACKER_HELPER", helper, 1);
}

static int end_script(void **state)
{
	unsetenv("TRACKER_NET");
	unsetenv("TRACKER_HELPER");
	return scratch_leave(state);
}

#define NEEDS_SCRIPTS() \
	do { \
		if (is_emulated()) \
			SKIP("an emulator cannot start a script"); \
	} while (0)

static void a_subject_is_asked_for_and_its_line_is_the_answer(void **state)
{
	static const struct {
		unsigned what;
		const char *asked;
	} CASES[] = {
		{RT_DISCOVER_HOST, "discover host\n"},
		{RT_DISCOVER_CLOUD, "discover cloud\n"},
		{RT_DISCOVER_HOST | RT_DISCOVER_CLOUD, "discover all\n"},
		{RT_DISCOVER_CLOUD | RT_DISCOVER_PYTHON, "discover cloud --python\n"},
	};
	char *json;

	(void)state;
	NEEDS_SCRIPTS();
	put_text("answer", "{\"a\":1}\n");
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		json = NULL;
		assert_int_equal(rt_discover(CASES[i].what, 0, &json), 0);
		assert_string_equal(json, "{\"a\":1}");
		rt_free(json);
		assert_file_text("asked", CASES[i].asked);
	}
	json = NULL;
	assert_int_equal(rt_discover(0, 0, &json), -EINVAL);
	assert_int_equal(rt_discover(RT_DISCOVER_PYTHON, 0, &json), -EINVAL);
	assert_null(json);
}

static void a_long_answer_comes_in_pieces(void **state)
{
	static char answer[50000];
	char *json = NULL;

	(void)state;
	NEEDS_SCRIPTS();
	memset(answer, 'x', sizeof answer - 1);
	answer[0] = '{';
	answer[sizeof answer - 2] = '\n';
	put_text("answer", answer);
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 60, &json), 0);
	answer[sizeof answer - 2] = '\0';
	assert_string_equal(json, answer);
	rt_free(json);
}

/* A piece may have one byte. */
static void a_slow_answer_is_put_together(void **state)
{
	char *json = NULL;

	(void)state;
	NEEDS_SCRIPTS();
	put_text("slow", "");
	put_text("answer", "\"a\":1}\n");
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 60, &json), 0);
	assert_string_equal(json, "{\"a\":1}");
	rt_free(json);
}

/* The shortest answer is an empty object, and the longest one has less than 1 MiB. No timeout is too long. */
static void an_answer_has_3_bytes_to_1_mib(void **state)
{
	static char answer[(1 << 20) + 4097];
	char *json = NULL;

	(void)state;
	NEEDS_SCRIPTS();
	put_text("answer", "{}\n");
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 1e300, &json), 0);
	assert_string_equal(json, "{}");
	rt_free(json);
	memset(answer, ' ', sizeof answer - 1);
	answer[0] = '{';
	answer[sizeof answer - 2] = '\n';
	put_text("answer", answer);
	json = NULL;
	assert_true(rt_discover(RT_DISCOVER_HOST, 60, &json) < 0);
	assert_null(json);
	answer[(1 << 20) - 8192] = '\n';
	answer[(1 << 20) - 8191] = '\0';
	put_text("answer", answer);
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 60, &json), 0);
	assert_int_equal(strlen(json), (1 << 20) - 8192);
	rt_free(json);
}

static void another_answer_is_a_failure(void **state)
{
	static const char *const ANSWERS[] = {"", "{\n", "[1,2]\n", "{\"a\":1}"};
	char *json = NULL;

	(void)state;
	NEEDS_SCRIPTS();
	for (size_t i = 0; i < ARRAY_SIZE(ANSWERS); i++) {
		put_text("answer", ANSWERS[i]);
		assert_int_equal(rt_discover(RT_DISCOVER_HOST, 60, &json), -EIO);
	}
	assert_int_equal(unlink("net"), 0);
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 60, &json), -ENOENT);
	assert_null(json);
}

static void a_program_that_hangs_is_killed(void **state)
{
	char *json = NULL, *pid;

	(void)state;
	NEEDS_SCRIPTS();
	put_text("answer", "{\"a\":1}\n");
	put_text("stuck", "");
	assert_int_equal(rt_discover(RT_DISCOVER_HOST, 0.1, &json), -ETIMEDOUT);
	assert_null(json);
	pid = get_file("pid", NULL);
	for (int i = 0; i < 1000 && kill((pid_t)strtol(pid, NULL, 10), 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), 0), -1);
	free(pid);
}

#define unit_test_of_script(test) cmocka_unit_test_setup_teardown(test, begin_script, end_script)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_script(a_subject_is_asked_for_and_its_line_is_the_answer),
		unit_test_of_script(a_long_answer_comes_in_pieces),
		unit_test_of_script(a_slow_answer_is_put_together),
		unit_test_of_script(an_answer_has_3_bytes_to_1_mib),
		unit_test_of_script(another_answer_is_a_failure),
		unit_test_of_script(a_program_that_hangs_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
