/* Tests of src/base/debug.c: lines for people who look for a fault, each case in a process of its own. */
#include "unit.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/scan.h"

static char shown[8192];

/* Fills `shown` with the lines that `say` writes to stderr where TRACKER_DEBUG has this value. */
static void run_with(const char *value, void (*say)(void))
{
	int ends[2], status;
	size_t length = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (value)
			setenv("TRACKER_DEBUG", value, 1);
		else
			unsetenv("TRACKER_DEBUG");
		say();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], shown + length, sizeof shown - 1 - length)) > 0)
		length += (size_t)got;
	close(ends[0]);
	shown[length] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Takes "resource-tracker: debug SECONDS PART: " and returns the seconds. */
static double line_begins(struct scan *text, const char *part)
{
	double secs = -1;

	assert_true(scan_literal(text, "resource-tracker: debug ") && scan_real(text, &secs));
	assert_true(scan_literal(text, " ") && scan_literal(text, part) && scan_literal(text, ": "));
	return secs;
}

static void say_two(void)
{
	int64_t since_ns = debug_now_ns();

	if (since_ns <= 0 || !debug_is_on() || debug_has_members())
		_exit(1);
	debug_say("first", 0, "%d\x1b[1m", 7);
	usleep(2000);
	debug_say("second", since_ns, "x");
	debug_say_member("not asked for");
}

static void parts_tell_how_long_things_took(void **state)
{
	struct scan text;
	uint64_t took_us = 0;
	double secs;

	(void)state;
	run_with("1", say_two);
	text = scan_bytes(shown, strlen(shown));
	assert_true(line_begins(&text, "first") == 0);
	assert_true(scan_literal(&text, "7?[1m\n"));
	secs = line_begins(&text, "second");
	assert_true(secs >= 0.002 && secs < 3600);
	assert_true(scan_literal(&text, "x, ") && scan_u64(&text, &took_us) && scan_is(&text, " us\n"));
	/* It began before the first line was written. */
	assert_true(took_us >= (uint64_t)(secs * 1e6) && took_us < 3600 * (uint64_t)1000000);
}

static void say_members(void)
{
	if (debug_now_ns() || !debug_is_on() || !debug_has_members())
		_exit(1);
	debug_say("part", 0, "not asked for");
	debug_say_member("pid %d", 5);
}

static void members_are_told_alone(void **state)
{
	(void)state;
	run_with("members", say_members);
	assert_string_equal(shown, "resource-tracker: debug 0.000000 member: pid 5\n");
}

static void say_nothing(void)
{
	if (debug_now_ns() || debug_is_on() || debug_has_members())
		_exit(1);
	debug_say("part", 0, "x");
	debug_say_member("x");
	if (!debug_pass_on("resource-tracker: debug 0.1 x: y") || debug_pass_on("resource-tracker: y"))
		_exit(1);
}

static void other_values_are_off(void **state)
{
	static const char *const OFF[] = {NULL, "", "0", "2", "11", "member", "members "};

	(void)state;
	for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) {
		run_with(OFF[i], say_nothing);
		assert_string_equal(shown, "");
	}
}

static void pass_lines_on(void)
{
	char longest[4000] = "resource-tracker: debug ";

	memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
	if (debug_pass_on("resource-tracker: debu 1 x: y") || debug_pass_on("") ||
	    !debug_pass_on("resource-tracker: debug 1.5 gpu: y\x07") || !debug_pass_on(longest))
		_exit(1);
}

static void a_line_of_another_program_is_passed_on(void **state)
{
	static const char FIRST[] = "resource-tracker: debug 1.5 gpu: y?\n";
	size_t length;

	(void)state;
	run_with("1", pass_lines_on);
	length = strlen(shown);
	assert_memory_equal(shown, FIRST, strlen(FIRST));
	/* The second is cut, and is still one line. */
	assert_true(length > strlen(FIRST) + 1000 && length <= strlen(FIRST) + 1200);
	assert_ptr_equal(strchr(shown + strlen(FIRST), '\n'), shown + length - 1);
	assert_int_equal(shown[length - 2], 'x');
}

static void say_much(void)
{
	char text[5000];

	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	debug_say("part", 0, "%s", text);
}

static void a_long_text_is_cut(void **state)
{
	static const char BEGIN[] = "resource-tracker: debug 0.000000 part: ";

	(void)state;
	run_with("1", say_much);
	assert_memory_equal(shown, BEGIN, strlen(BEGIN));
	assert_int_equal(strlen(shown), strlen(BEGIN) + 599 + 1);
	assert_string_equal(shown + strlen(shown) - 3, "yy\n");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_tell_how_long_things_took),
		cmocka_unit_test(members_are_told_alone),
		cmocka_unit_test(other_values_are_off),
		cmocka_unit_test(a_line_of_another_program_is_passed_on),
		cmocka_unit_test(a_long_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
