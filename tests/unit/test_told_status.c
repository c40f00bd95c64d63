/* Tests of src/cli/told_status.c: the socket by which a parent process tells how the job ended. */
#include "captured.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/told_status.h"

static const char VARIABLE[] = "RESOURCE_TRACKER_STATUS_FD";
static int ends[2]; /* ours, and the parent's */

static int open_socket(void **state)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ? -1 : capture_streams(state);
}

static int close_socket(void **state)
{
	close(ends[0]);
	close(ends[1]);
	unsetenv(VARIABLE);
	return free_streams(state);
}

static int open_number(const char *before, int64_t fd, const char *behind)
{
	char text[40];
	int found;

	snprintf(text, sizeof text, "%s%lld%s", before, (long long)fd, behind);
	setenv(VARIABLE, text, 1);
	found = told_status_open();
	assert_null(getenv(VARIABLE));
	return found;
}

static void the_variable_names_a_socket_that_children_do_not_get(void **state)
{
	(void)state;
	assert_int_equal(told_status_open(), -1);
	assert_int_equal(fcntl(ends[0], F_GETFD), 0);
	assert_int_equal(open_number("", ends[0], ""), ends[0]);
	assert_int_equal(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
}

static void other_texts_and_descriptors_are_left_alone(void **state)
{
	int pipes[2], datagrams[2], standard = dup(STDIN_FILENO);

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
	assert_int_equal(open_number("x", ends[0], ""), -1);
	assert_int_equal(open_number("", ends[0], "x"), -1);
	assert_int_equal(open_number("", -1, ""), -1);
	assert_int_equal(open_number("", pipes[0], ""), -1);
	assert_int_equal(open_number("", datagrams[0], ""), -1);
	assert_int_equal(open_number("", 9999, ""), -1);
	/* As a number of 32 bits it would be that of the socket. */
	assert_int_equal(open_number("", (INT64_C(1) << 32) + ends[0], ""), -1);
	dup2(ends[0], STDIN_FILENO);
	/* A standard stream is the caller's, also if it is a socket. */
	assert_int_equal(open_number("", STDIN_FILENO, ""), -1);
	dup2(ends[0], STDERR_FILENO);
	assert_int_equal(open_number("", STDERR_FILENO, ""), -1);
	dup2(standard, STDIN_FILENO);
	close(standard);
	close(pipes[0]);
	close(pipes[1]);
	close(datagrams[0]);
	close(datagrams[1]);
}

static bool is_null_device(int fd)
{
	struct stat file, null;

	assert_int_equal(fstat(fd, &file), 0);
	assert_int_equal(stat("/dev/null", &null), 0);
	return S_ISCHR(file.st_mode) && file.st_rdev == null.st_rdev;
}

static void the_parent_hears_one_byte_when_the_recorder_is_ready(void **state)
{
	char bytes[8];

	(void)state;
	told_status_ready(-1);
	told_status_ready(ends[0]);
	assert_int_equal(recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT), 1);
	assert_int_equal(bytes[0], 0);
	/* Another stderr stays. */
	assert_false(is_null_device(STDERR_FILENO));
	/* A parent that has gone does not end the recorder. */
	shutdown(ends[1], SHUT_RDWR);
	told_status_ready(ends[0]);
}

static void lines_are_dropped_where_stderr_is_the_same_socket(void **state)
{
	char bytes[8];

	(void)state;
	dup2(ends[0], STDERR_FILENO);
	told_status_ready(ends[0]);
	assert_true(is_null_device(STDERR_FILENO));
	assert_int_equal(write(STDERR_FILENO, "x", 1), 1);
	assert_int_equal(recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT), 1);
}

/* Another file of the same file system, which all sockets share. */
static void a_stderr_that_is_another_socket_stays(void **state)
{
	int other[2];
	char bytes[8];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	dup2(other[0], STDERR_FILENO);
	told_status_ready(ends[0]);
	assert_int_equal(write(STDERR_FILENO, "ab", 2), 2);
	assert_int_equal(recv(other[1], bytes, sizeof bytes, MSG_DONTWAIT), 2);
	close(other[0]);
	close(other[1]);
}

/* ---- the end ---- */

static const int64_t MOST_USEC = INT64_C(1000000000) * 1000000;

static bool is_taken(struct told_end told)
{
	struct told_end end = {.largest_kib = -5};
	bool taken;

	assert_int_equal(send(ends[1], &told, sizeof told, 0), sizeof told);
	taken = told_status_read(ends[0], &end);
	if (taken)
		assert_memory_equal(&end, &told, sizeof end);
	else
		assert_int_equal(end.largest_kib, -5);
	return taken;
}

static void an_end_that_is_possible_is_taken(void **state)
{
	(void)state;
	assert_true(is_taken((struct told_end){0}));
	assert_true(is_taken(
		(struct told_end){.status = 3 << 8, .utime_usec = 1, .stime_usec = 2, .largest_kib = 3}));
	assert_true(is_taken((struct told_end){.status = SIGKILL}));
	assert_true(is_taken((struct told_end){
		.utime_usec = MOST_USEC, .stime_usec = MOST_USEC, .largest_kib = INT64_MAX}));
}

static void an_end_that_is_impossible_is_unknown(void **state)
{
	(void)state;
	assert_false(is_taken((struct told_end){.status = 0x137f})); /* stopped */
	assert_false(is_taken((struct told_end){.utime_usec = -1}));
	assert_false(is_taken((struct told_end){.stime_usec = -1}));
	assert_false(is_taken((struct told_end){.largest_kib = -1}));
	assert_false(is_taken((struct told_end){.utime_usec = MOST_USEC + 1}));
	assert_false(is_taken((struct told_end){.stime_usec = MOST_USEC + 1}));
}

static void a_parent_that_tells_nothing_or_a_part_leaves_the_end_unknown(void **state)
{
	struct told_end end;

	(void)state;
	assert_false(told_status_read(-1, &end));
	assert_int_equal(send(ends[1], &end, sizeof end - 1, 0), sizeof end - 1);
	assert_false(told_status_read(ends[0], &end));
	shutdown(ends[1], SHUT_RDWR);
	assert_false(told_status_read(ends[0], &end));
}

/* The parent tells the end when it has reaped the job, which may be a moment after the recorder has seen it go. */
static void an_end_that_comes_a_little_later_is_waited_for(void **state)
{
	struct told_end told = {.status = 5 << 8}, end;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		usleep(100000);
		_exit(send(ends[1], &told, sizeof told, 0) < 0);
	}
	assert_true(told_status_read(ends[0], &end));
	assert_int_equal(end.status, 5 << 8);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#define unit_test_told(test) cmocka_unit_test_setup_teardown(test, open_socket, close_socket)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_told(the_variable_names_a_socket_that_children_do_not_get),
		unit_test_told(other_texts_and_descriptors_are_left_alone),
		unit_test_told(the_parent_hears_one_byte_when_the_recorder_is_ready),
		unit_test_told(lines_are_dropped_where_stderr_is_the_same_socket),
		unit_test_told(a_stderr_that_is_another_socket_stays),
		unit_test_told(an_end_that_is_possible_is_taken),
		unit_test_told(an_end_that_is_impossible_is_unknown),
		unit_test_told(a_parent_that_tells_nothing_or_a_part_leaves_the_end_unknown),
		unit_test_told(an_end_that_comes_a_little_later_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
