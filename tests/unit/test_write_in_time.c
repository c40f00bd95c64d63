/* Tests of src/base/write_in_time.c, and of wait_child.c, where the kernel refuses wait4(2). */
#include "in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/wait_child.h"
#include "base/write_in_time.h"
#include "scratch.h"
#include "terminal.h"

enum { MINUTE_MS = 60000 };

/* Leaves no room. Returns how many bytes lie in the pipe. */
static size_t fill_pipe(int fd)
{
	static const char BYTES[4096];
	size_t all = 0;
	ssize_t written;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while ((written = write(fd, BYTES, sizeof BYTES)) > 0)
		all += (size_t)written;
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	return all;
}

static void a_stuck_reader_is_not_waited_for(void **state)
{
	static char bytes[1 << 20];
	int ends[2];
	size_t full;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write_in_time(ends[1], "abc", 3, 0), 0);
	assert_int_equal(read(ends[0], bytes, 10), 3);
	assert_memory_equal(bytes, "abc", 3);
	full = fill_pipe(ends[1]);
	assert_int_equal(write_in_time(ends[1], "x", 1, 0), -ETIMEDOUT);
	assert_int_equal(write_in_time(ends[1], "x", 1, 30), -ETIMEDOUT);
	assert_int_equal(write_in_time(ends[1], "", 0, 0), 0);
	/* The pipe is still one that waits, because other programs write to it, too. */
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	while (full)
		full -= (size_t)read(ends[0], bytes, full < sizeof bytes ? full : sizeof bytes);
	/* More than fits: a part is written. */
	assert_int_equal(write_in_time(ends[1], bytes, sizeof bytes, 0), -ETIMEDOUT);
	assert_true(read(ends[0], bytes, sizeof bytes) > 0);
	close(ends[0]);
	close(ends[1]);
}

/* A child that reads all and tells whether it was the bytes 0, 1, 2 and so on. */
static pid_t start_reader(int fd, int other_end, size_t length)
{
	pid_t pid = fork();
	unsigned char byte;

	if (pid)
		return pid;
	close(other_end);
	for (size_t i = 0; i < length; i++)
		if (read(fd, &byte, 1) != 1 || byte != (unsigned char)i)
			_exit(1);
	_exit(read(fd, &byte, 1) != 0);
}

static void assert_all_is_read(int reader, int writer)
{
	static unsigned char bytes[100000];
	int status = -1;
	pid_t pid;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)i;
	pid = start_reader(reader, writer, sizeof bytes);
	assert_int_equal(write_in_time(writer, bytes, sizeof bytes, MINUTE_MS), 0);
	close(writer);
	close(reader);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_slow_reader_gets_all_bytes(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_all_is_read(ends[0], ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_all_is_read(ends[0], ends[1]);
}

static void files_and_terminals_take_all(void **state)
{
	char text[1001] = "";
	struct terminal terminal = open_terminal();
	int fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[0] = 'a';
	text[999] = 'z';
	assert_int_equal(write_in_time(fd, text, 1000, 0), 0);
	assert_file_text("file", text);
	assert_int_equal(write_in_time(terminal.slave, text, 1000, MINUTE_MS), 0);
	assert_terminal_shows(&terminal, text);
	close_terminal(&terminal);
	close(fd);
}

static void a_failed_write_has_its_error(void **state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sigaction(SIGPIPE, &ignore, &before), 0);
	close(ends[0]);
	assert_int_equal(write_in_time(ends[1], "x", 1, 0), -EPIPE);
	assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
	assert_int_equal(write_in_time(full, "x", 1, 0), -ENOSPC);
	close(ends[1]);
	close(full);
	assert_int_equal(write_in_time(full, "x", 1, 0), -EBADF);
}

/* ---- children ----------------------------------------------------------------------------------------- */

static pid_t start_child(int status, int signal)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (signal)
		kill(getpid(), signal);
	_exit(status);
}

/* Returns 0, or the number of the first statement that does not hold. */
static int wrong_statement(void)
{
	struct rusage usage = {0};
	int status = 77;
	pid_t pid = start_child(3, 0), other;

	if (wait_child(pid, &status, 0, &usage) != pid || status != 3 << 8 || usage.ru_maxrss <= 0)
		return 1;
	pid = start_child(0, SIGKILL);
	if (wait_child(-1, &status, 0, NULL) != pid || status != SIGKILL)
		return 2;
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	status = 77;
	if (wait_child(pid, &status, WNOHANG, NULL) != 0 || wait_child(-1, &status, WNOHANG, NULL) != 0 ||
	    status != 77)
		return 3;
	/* Only the one that is asked for is reaped. */
	other = start_child(4, 0);
	if (wait_child(other, NULL, 0, NULL) != other || kill(pid, SIGTERM) < 0)
		return 4;
	if (wait_child(pid, &status, 0, NULL) != pid || status != SIGTERM)
		return 5;
	errno = 0;
	return wait_child(-1, &status, 0, NULL) == -1 && errno == ECHILD && status == SIGTERM ? 0 : 6;
}

enum { NO_FILTER = 99 };

static int judged_in_child(bool refuses)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(refuses && !fail_call(SYS_wait4, EPERM) ? NO_FILTER : wrong_statement());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void children_are_reaped_whatever_a_filter_refuses(void **state)
{
	int wrong;

	NEEDS_THE_KERNEL_ITSELF();
	(void)state;
	assert_int_equal(judged_in_child(false), 0);
	wrong = judged_in_child(true);
	if (wrong == NO_FILTER)
		SKIP("no filter of system calls");
	assert_int_equal(wrong, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stuck_reader_is_not_waited_for),
		cmocka_unit_test(a_slow_reader_gets_all_bytes),
		unit_test_in_scratch(files_and_terminals_take_all),
		cmocka_unit_test(a_failed_write_has_its_error),
		cmocka_unit_test(children_are_reaped_whatever_a_filter_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
