/* Tests of src/live/notify.c: a script stands for notify-send and keeps its words. */
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>

#include "live/notify.h"

static struct run run;

/* A run "job" of 90 s that usually takes `usual_secs`. */
static int begin_notified(void **state)
{
	struct moment moment = {.end_secs = 90, .step_secs = 1};

	if (scratch_enter(state) < 0)
		return -1;
	put_text("notify-send", "#!/bin/sh\nprintf '%s|' \"$@\" >words\n");
	chmod("notify-send", 0700);
	setenv("PATH", scratch_folder, 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/none", 1);
	run_begin(&run, "-job\n", 0, 0);
	run.state = RUN_GOES_ON;
	return timeline_add(&run.timeline, &moment);
}

static int end_notified(void **state)
{
	run_done(&run);
	setenv("PATH", "/usr/bin:/bin", 1);
	return scratch_leave(state);
}

static void usually_takes(double secs)
{
	run.usual.count = 10;
	for (size_t i = 0; i < run.usual.count; i++)
		run.usual.secs[i] = secs;
}

/* NULL: nothing is told. */
static void assert_told(const char *wanted)
{
	int status;

	if (!wanted) {
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(access("words", F_OK), -1);
		return;
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	assert_file_text("words", wanted);
	assert_int_equal(unlink("words"), 0);
}

static void an_end_is_told_with_its_time(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(run.outcome, sizeof run.outcome, "failed with exit status 3");
	notify_of_end(&run);
	assert_told("--app-name=resource-tracker|--|-job?|failed with exit status 3 after 1 min 30 s|");
	run.wall_secs = 30;
	usually_takes(720);
	notify_of_end(&run);
	assert_told("--app-name=resource-tracker|--|-job?|failed with exit status 3 after 30.0 s; usually 12 "
		    "min|");
}

static void without_a_desktop_only_the_bell_rings(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
	notify_of_end(&run);
	assert_told(NULL);
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	notify_of_end(&run);
	assert_told(NULL);
}

static void a_late_run_is_told_of_once(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	notify_if_overdue(&run);
	usually_takes(95);
	notify_if_overdue(&run);
	assert_told(NULL);
	assert_false(run.told_overdue);
	usually_takes(60);
	run.state = RUN_SUCCEEDED;
	notify_if_overdue(&run);
	assert_told(NULL);
	run.state = RUN_GOES_ON;
	notify_if_overdue(&run);
	assert_true(run.told_overdue);
	assert_told("--app-name=resource-tracker|--|-job?|still running after 1 min 30 s; "
		    "usually 60 s; slower than all 10 runs|");
	notify_if_overdue(&run);
	assert_told(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_notified, end_notified)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(an_end_is_told_with_its_time),
		TEST(without_a_desktop_only_the_bell_rings),
		TEST(a_late_run_is_told_of_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
