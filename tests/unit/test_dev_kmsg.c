/* Tests of src/kernel/dev_kmsg.c. */
#include "kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/dev_kmsg.h"

static pid_t killed(const char *record)
{
	pid_t pid = 0;

	return parse_dev_kmsg_kill(record, strlen(record), &pid) ? pid : 0;
}

static void kills_are_known_by_both_lines(void **state)
{
	(void)state;
	assert_int_equal(killed("6,1418,135209,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset="
				"/,mems_allowed=0,"
				"oom_memcg=/a,task_memcg=/a,task=python3,pid=12699,uid=0\n"),
			 12699);
	assert_int_equal(killed("3,1419,135210,-;Memory cgroup out of memory: Killed process 12699 (python3) "
				"total-vm:1kB\n"),
			 12699);
	assert_int_equal(killed("3,1,2,-,caller=T7;Out of memory: Killed process 7 (a b) total-vm:1kB\n "
				"SUBSYSTEM=x\n"),
			 7);
}

/* A command's name may contain anything. */
static void the_last_pid_is_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(killed("6,1,2,-;oom-kill:constraint=X,task=x,pid=1,uid=0,pid=42,uid=0\n"), 42);
}

static void other_records_are_not_kills(void **state)
{
	(void)state;
	assert_int_equal(killed("6,1,2,-;python3 invoked oom-killer: gfp_mask=0xcc0, order=0\n"), 0);
	assert_int_equal(killed("14,1,2,-;Out of memory: Killed process 7 (spoofed by a program) x\n"), 0);
	assert_int_equal(killed("3,1,2,-;Out of memory: Killed process 0 (x)\n"), 0);
	assert_int_equal(killed("3,1,2,-;Out of memory: Killed process 99999999999 (x)\n"), 0);
	assert_int_equal(killed("3,1,2,-;x\n KEY=: Killed process 7 (x)\n"), 0);
	assert_int_equal(killed("6,1,2,-;oom-kill:7,uid=0\n"), 0);
	assert_int_equal(killed("3,1,2,-;Out of memory: Killed process 2147483648 (x)\n"), 0);
	assert_int_equal(killed("8,1,2,-;Out of memory: Killed process 7 (x)\n"), 0);
	assert_int_equal(killed("7,1,2,-;Out of memory: Killed process 7 (x)\n"), 7);
	assert_int_equal(killed(""), 0);
	assert_int_equal(killed("oom-kill:pid=1"), 0);
}

static void reading_skips_other_records_than_kills(void **state)
{
	static const char *const RECORDS[] = {"6,1,2,-;usb 1-1: new device\n",
					      "3,2,2,-;Out of memory: Killed process 7 (x)\n",
					      "6,3,2,-;eth0: up\n"};
	int ends[2];
	pid_t pid;

	(void)state;
	/* One packet per read, as the log gives one record per read. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	for (size_t i = 0; i < 3; i++)
		assert_true(write(ends[0], RECORDS[i], strlen(RECORDS[i])) > 0);
	assert_int_equal(read_dev_kmsg_kill(ends[1], &pid), 1);
	assert_int_equal(pid, 7);
	assert_int_equal(read_dev_kmsg_kill(ends[1], &pid), 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(read_dev_kmsg_kill(-1, &pid), -EBADF);
}

static void a_captured_machine_has_no_log(void **state)
{
	struct root root;
	int fd;

	(void)state;
	assert_int_equal(root_open(&root, "/tmp", NULL), 0);
	assert_int_equal(open_dev_kmsg(&root, &fd), -EOPNOTSUPP);
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kills_are_known_by_both_lines),
		cmocka_unit_test(the_last_pid_is_the_kernels),
		cmocka_unit_test(other_records_are_not_kills),
		cmocka_unit_test(reading_skips_other_records_than_kills),
		cmocka_unit_test(a_captured_machine_has_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
