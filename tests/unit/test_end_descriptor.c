/* Tests of src/job/programs/end_descriptor.c: the status of a process after its parent has waited for it. */
#include "in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>

#include "job/programs/end_descriptor.h"

/* Linux 6.13 and 6.14 tell nothing after the end. */
static bool tells_status(void)
{
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	return strncmp(name.release, "6.13", 4) != 0 && strncmp(name.release, "6.14", 4) != 0;
}

/* Returns the status of a child that exits with `code`, or ends by SIGKILL if it is negative; -1: the kernel has no such request. */
static int status_of(int code)
{
	pid_t pid = fork();
	int fd, seen;

	if (pid == 0) {
		if (code < 0)
			pause();
		_exit(code);
	}
	fd = end_descriptor_open(pid);
	if (code < 0)
		kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &seen, 0), pid);
	if (fd < 0)
		return -1;
	seen = end_descriptor_status(fd);
	assert_int_equal(close(fd), -1); /* it has been closed */
	return seen;
}

static void status_is_that_of_wait(void **state)
{
	(void)state;
	if (status_of(0) < 0 || !tells_status())
		skip();
	assert_int_equal(status_of(0), 0);
	assert_int_equal(status_of(7), 7 << 8);
	assert_int_equal(status_of(-1), SIGKILL);
}

static void a_process_that_has_gone_has_none(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(end_descriptor_open(pid) == -ESRCH || end_descriptor_open(pid) == -ENOSYS);
}

/* The kernel has descriptors, but not this request for them. */
static int opens_without_the_request(void)
{
	int next = dup(STDOUT_FILENO), again;

	close(next);
	if (!fail_call(SYS_ioctl, ENOTTY))
		return 0;
	if (end_descriptor_open(getpid()) >= 0)
		return 1;
	again = dup(STDOUT_FILENO);
	return again == next ? 0 : 2;
}

/* Nothing is told of a process then, and its descriptor is closed. */
static int asks_in_vain(void)
{
	int fd = dup(STDOUT_FILENO);

	if (!fail_call(SYS_ioctl, EINVAL))
		return 0;
	if (end_descriptor_status(fd) != 0)
		return 1;
	return fcntl(fd, F_GETFD) == -1 ? 0 : 2;
}

static void a_kernel_without_the_request_leaves_no_descriptor(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(in_child(opens_without_the_request), 0);
	assert_int_equal(in_child(asks_in_vain), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_is_that_of_wait),
		cmocka_unit_test(a_process_that_has_gone_has_none),
		cmocka_unit_test(a_kernel_without_the_request_leaves_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
