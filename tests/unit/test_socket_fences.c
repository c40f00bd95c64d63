/* Tests of src/job/network/socket_fences.c with the notifications of the kernel. */
#include <sched.h>
#include <unistd.h>

#include "kernel/sock_diag.h"
#include "job/network/socket_fences.h"
#include "unit.h"

static int passed;

static void pass_fence(void *fences, const struct diag_socket *ended)
{
	passed += socket_fences_pass(fences, ended->cookie);
	/* Each passes once. */
	assert_false(socket_fences_pass(fences, ended->cookie));
}

static void test_all_fences_are_passed(void **state)
{
	struct socket_fences *fences;
	cpu_set_t cpus;
	int64_t room;
	int fd = sock_diag_listen(&room);

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
	passed = 0;
	assert_int_equal(socket_fences_begin(&fences), 0);
	while (socket_fences_state(fences) == FENCES_WAITED_FOR) {
		(void)sock_diag_wait(fd, 1);
		assert_true(sock_diag_take_ended(fd, pass_fence, fences) >= 0);
	}
	assert_int_equal(socket_fences_state(fences), FENCES_ALL_PASSED);
	/* One for each CPU that this process may use. */
	assert_int_equal(passed, CPU_COUNT(&cpus));
	socket_fences_end(fences);
	close(fd);
}

static void test_another_socket_passes_no_fence(void **state)
{
	struct socket_fences *fences;

	(void)state;
	assert_false(socket_fences_pass(NULL, 1));
	assert_int_equal(socket_fences_begin(&fences), 0);
	/* Without a look at notifications, none is passed. An emulator may set none at all. */
	usleep(100000);
	assert_false(socket_fences_pass(fences, 0));
	assert_int_not_equal(socket_fences_state(fences), FENCES_ALL_PASSED);
	socket_fences_end(fences);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fences_are_passed),
		cmocka_unit_test(test_another_socket_passes_no_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
