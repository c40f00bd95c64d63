/* Tests of src/base/signal_names.c and base64.c: short texts for numbers and bytes. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/signal_names.h"

static void assert_name(int number, const char *wanted)
{
	char name[SIGNAL_NAME_SIZE];

	assert_ptr_equal(signal_name(number, name), name);
	assert_string_equal(name, wanted);
}

static void signals_have_the_names_of_the_kernel(void **state)
{
	char last[SIGNAL_NAME_SIZE];

	(void)state;
	assert_name(SIGHUP, "SIGHUP");
	assert_name(SIGKILL, "SIGKILL");
	assert_name(SIGSYS, "SIGSYS");
	assert_name(SIGRTMIN, "SIGRTMIN+0");
	assert_name(SIGRTMIN + 3, "SIGRTMIN+3");
	snprintf(last, sizeof last, "SIGRTMIN+%d", SIGRTMAX - SIGRTMIN);
	assert_name(SIGRTMAX, last);
	/* The C library keeps the first real-time signals, from 32 on, for itself. */
	assert_name(32, "signal 32");
	assert_name(SIGRTMAX + 1, "signal 65");
	assert_name(0, "signal 0");
	assert_name(-1, "signal -1");
}

static void assert_base64(const void *bytes, size_t length, const char *wanted)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(100);

	buffer_add_base64(&out, bytes, length);
	assert_string_equal(out.data ? out.data : "", wanted);
}

/* The vectors of RFC 4648, and both of the letters that its URL form replaces. */
static void base64_is_padded(void **state)
{
	static const char *const WANTED[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(WANTED); i++)
		assert_base64("foobar", i, WANTED[i]);
	assert_base64("\xfb\xff\xfe", 3, "+//+");
	assert_base64("\0\0\0\0", 4, "AAAAAA==");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_have_the_names_of_the_kernel),
		cmocka_unit_test(base64_is_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
