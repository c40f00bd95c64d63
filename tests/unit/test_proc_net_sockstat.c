/* Tests of src/kernel/proc_net_sockstat.c. */
#include "kernel.h"

#include "kernel/proc_net_sockstat.h"

static int parse(const char *text, struct proc_net_sockstat *sockstat)
{
	return parse_proc_net_sockstat(text, strlen(text), sockstat);
}

static void numbers_are_those_of_tcp(void **state)
{
	struct proc_net_sockstat sockstat;

	(void)state;
	assert_int_equal(parse("sockets: used 41\n"
			       "TCP: inuse 11 orphan 3 tw 417 alloc 12 mem 163\n"
			       "UDP: inuse 1 orphan 9 mem 0\n",
			       &sockstat),
			 0);
	assert_int_equal(sockstat.sockets, 41);
	assert_int_equal(sockstat.tcp_in_use, 11);
	assert_int_equal(sockstat.tcp_allocated, 12);
	assert_int_equal(sockstat.tcp_orphans, 3);
	assert_int_equal(parse("TCP: orphan 0", &sockstat), 0);
	assert_int_equal(sockstat.tcp_orphans, 0);
	assert_int_equal(sockstat.sockets, -1);
	assert_int_equal(sockstat.tcp_in_use, -1);
}

static void unknown_numbers_are_absent(void **state)
{
	struct proc_net_sockstat sockstat = {.tcp_orphans = 7};

	(void)state;
	assert_int_equal(parse("", &sockstat), -EBADMSG);
	assert_int_equal(parse("sockets: used 41\nUDP: inuse 1 orphan 9\n", &sockstat), -EBADMSG);
	assert_int_equal(sockstat.tcp_orphans, 7);
	assert_int_equal(parse("TCP: inuse 5\n", &sockstat), 0);
	assert_int_equal(sockstat.tcp_orphans, -1);
	assert_int_equal(parse("TCP: inuse 5 orphan -1 tw 3\n", &sockstat), 0);
	assert_int_equal(sockstat.tcp_orphans, -1);
	assert_int_equal(parse("TCP: inuse 5 orphan", &sockstat), 0);
	assert_int_equal(sockstat.tcp_orphans, -1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_tcp),
		cmocka_unit_test(unknown_numbers_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
