/* Tests of src/sink/nowait_stream.c: if a write waited, the test would hang until its alarm ends it. */
#include "scratch.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sink/nowait_stream.h"

static const uid_t SOMEBODY = 65534;

static int start_alarm(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	alarm(20);
	return 0;
}

static struct nowait_stream stream_of(int fd, enum nowait_way way)
{
	struct nowait_stream stream = NOWAIT_STREAM;

	assert_int_equal(nowait_stream_from_fd(fd, &stream), 0);
	assert_int_equal(stream.way, way);
	assert_true(stream.fd > 2 && stream.fd != fd);
	assert_true(fcntl(stream.fd, F_GETFD) & FD_CLOEXEC);
	return stream;
}

/* Writes pieces until there is no room; returns the bytes written. */
static size_t fill(struct nowait_stream *stream, size_t piece)
{
	char bytes[8192];
	size_t total = 0;
	ssize_t n;

	assert_true(piece <= sizeof bytes);
	memset(bytes, 'x', sizeof bytes);
	while ((n = nowait_stream_write(stream, bytes, piece)) > 0)
		total += (size_t)n;
	assert_int_equal(n, -EAGAIN);
	return total;
}

static size_t drain(int fd)
{
	char bytes[8192];
	size_t total = 0;
	ssize_t n;

	assert_true(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		total += (size_t)n;
	return total;
}

static void a_pipe_is_opened_again_and_left_as_it_was(void **state)
{
	struct nowait_stream stream;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	stream = stream_of(ends[1], NOWAIT_OWN_DESCRIPTION);
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(fill(&stream, 4096), 4096);
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(drain(ends[0]), 4096);
	close(ends[0]);
	assert_int_equal(nowait_stream_write(&stream, "x", 1), -EPIPE);
	nowait_stream_close(&stream);
	close(ends[1]);
}

static void nowait_stream_refuses_a_read_only_descriptor(void **state)
{
	struct nowait_stream stream;
	int ends[2], path = open("/dev/null", O_PATH | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(nowait_stream_from_fd(ends[0], &stream), -EBADF);
	assert_int_equal(nowait_stream_from_fd(path, &stream), -EBADF);
	close(path);
	assert_int_equal(nowait_stream_from_fd(path, &stream), -EBADF);
	assert_int_equal(nowait_stream_from_fd(-1, &stream), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void sockets_are_sent_to(void **state)
{
	struct nowait_stream stream;
	int ends[2];
	size_t filled;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	stream = stream_of(ends[1], NOWAIT_SOCKET);
	filled = fill(&stream, 2000);
	assert_true(filled > 0);
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(drain(ends[0]), filled);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(nowait_stream_write(&stream, "x", 1), -EPIPE);
	nowait_stream_close(&stream);
	close(ends[1]);
}

/* Runs `body` in a process of another user and returns its wait status. */
static int as_somebody(void (*body)(int fd), int fd)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(20);
		signal(SIGPIPE, SIG_IGN);
		if (setgid(SOMEBODY) < 0 || setuid(SOMEBODY) < 0)
			_exit(98);
		body(fd);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void require_root(void)
{
	if (geteuid() != 0) {
		print_message("# needs root to become another user\n");
		skip();
	}
}

/* For children, in which an assertion would jump into the wrong process. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

static void splice_into_foreign_pipe(int fd)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	char record[10000];

	CHECK(nowait_stream_from_fd(fd, &stream) == 0);
	CHECK(stream.way == NOWAIT_SPLICE);
	CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	CHECK(nowait_stream_write(&stream, "hello\n", 6) == 6);
	CHECK(nowait_stream_write(&stream, "world\n", 6) == 6);
	/*
	 * The pipe has room for two pages: only two of three pages go out, and the third is not repeated
	 * later.
	 */
	memset(record, 'r', sizeof record);
	CHECK(nowait_stream_write(&stream, record, sizeof record) == 8192);
	CHECK(nowait_stream_write(&stream, "x", 1) == -EAGAIN);
	CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	nowait_stream_close(&stream);
}

static void another_users_pipe_is_spliced_into(void **state)
{
	char text[16384];
	int ends[2];

	(void)state;
	require_root();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4 * 4096) >= 4 * 4096);
	assert_int_equal(as_somebody(splice_into_foreign_pipe, ends[1]), 0);
	assert_int_equal(read(ends[0], text, 12), 12);
	assert_memory_equal(text, "hello\nworld\n", 12);
	assert_int_equal(read(ends[0], text, sizeof text), 8192);
	assert_int_equal(text[8191], 'r');
	close(ends[0]);
	close(ends[1]);
}

static void splice_without_reader(int fd)
{
	struct nowait_stream stream = NOWAIT_STREAM;

	CHECK(nowait_stream_from_fd(fd, &stream) == 0 && stream.way == NOWAIT_SPLICE);
	CHECK(nowait_stream_write(&stream, "x", 1) == -EPIPE);
}

static void another_users_pipe_without_reader_says_so(void **state)
{
	int ends[2];

	(void)state;
	require_root();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	assert_int_equal(as_somebody(splice_without_reader, ends[1]), 0);
	close(ends[1]);
}

/* The job keeps the same pipe full all the time; we never wait for it. */
static void splice_beside_a_greedy_job(int fd)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	size_t written = 0;

	CHECK(nowait_stream_from_fd(fd, &stream) == 0 && stream.way == NOWAIT_SPLICE);
	/* The job is nearly always first; the scheduler decides whether and when it is our turn. */
	for (int i = 0; i < 20000 || !written; i++) {
		ssize_t n = nowait_stream_write(&stream, "record\n", 7);

		CHECK(n == 7 || n == -EAGAIN);
		written += n == 7;
	}
}

static void a_greedy_job_on_the_same_pipe_does_not_block_us(void **state)
{
	pid_t job, reader;
	int ends[2], status, ours;

	(void)state;
	require_root();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 2 * 4096) >= 2 * 4096);
	job = fork();
	if (job == 0) {
		char noise[3000] = {0};

		alarm(20);
		while (write(ends[1], noise, sizeof noise) > 0)
			;
		_exit(0);
	}
	reader = fork();
	if (reader == 0) {
		char text[500];

		alarm(20);
		while (read(ends[0], text, sizeof text) > 0)
			usleep(50);
		_exit(0);
	}
	ours = as_somebody(splice_beside_a_greedy_job, ends[1]);
	kill(job, SIGKILL);
	kill(reader, SIGKILL);
	assert_int_equal(waitpid(job, &status, 0), job);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(ours, 0);
	close(ends[0]);
	close(ends[1]);
}

static void a_frozen_terminal_takes_nothing(void **state)
{
	struct terminal terminal = open_terminal();
	struct nowait_stream stream = stream_of(terminal.slave, NOWAIT_OWN_DESCRIPTION);

	(void)state;
	assert_true(stream.is_terminal);
	assert_int_equal(nowait_stream_write(&stream, "one\n", 4), 4);
	assert_int_equal(tcflow(terminal.slave, TCOOFF), 0);
	assert_int_equal(nowait_stream_write(&stream, "two\n", 4), -EAGAIN);
	assert_int_equal(tcflow(terminal.slave, TCOON), 0);
	assert_int_equal(nowait_stream_write(&stream, "three\n", 6), 6);
	assert_terminal_shows(&terminal, "one\nthree\n");
	assert_true(fill(&stream, 1000) > 0);
	close(terminal.master);
	assert_int_equal(nowait_stream_write(&stream, "four\n", 5), -EIO);
	nowait_stream_close(&stream);
	close(terminal.slave);
}

static void poll_another_users_terminal(int fd)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	char line[1000];

	memset(line, 'l', sizeof line);
	line[sizeof line - 1] = '\n';
	CHECK(nowait_stream_from_fd(fd, &stream) == 0);
	CHECK(stream.way == NOWAIT_POLL);
	CHECK(nowait_stream_write(&stream, "one\n", 4) == 4);
	CHECK(tcflow(fd, TCOOFF) == 0);
	CHECK(nowait_stream_write(&stream, "two\n", 4) == -EAGAIN);
	CHECK(tcflow(fd, TCOON) == 0);
	CHECK(nowait_stream_write(&stream, line, sizeof line) == sizeof line);
	/* Without a reader the pipe fills up, and the write reports that. */
	for (int i = 0; i < 10000; i++)
		if (nowait_stream_write(&stream, line, sizeof line) == -EAGAIN)
			_exit(0);
	_exit(3);
}

static void another_users_terminal_is_polled(void **state)
{
	struct terminal terminal;

	(void)state;
	require_root();
	terminal = open_terminal();
	assert_int_equal(fchmod(terminal.slave, 0600), 0);
	assert_int_equal(as_somebody(poll_another_users_terminal, terminal.slave), 0);
	close_terminal(&terminal);
}

/* Opening /dev/ptmx again would make a new terminal without a reader. */
static void the_master_of_a_terminal_is_not_opened_again(void **state)
{
	struct terminal terminal = open_terminal();
	struct nowait_stream stream = stream_of(terminal.master, NOWAIT_POLL);
	char text[16];

	(void)state;
	assert_int_equal(nowait_stream_write(&stream, "typed\n", 6), 6);
	assert_int_equal(read(terminal.slave, text, sizeof text), 6);
	assert_memory_equal(text, "typed\n", 6);
	nowait_stream_close(&stream);
	close_terminal(&terminal);
}

static void devices_are_opened_again(void **state)
{
	struct nowait_stream stream;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	stream = stream_of(fd, NOWAIT_OWN_DESCRIPTION);
	assert_int_equal(nowait_stream_write(&stream, "x", 1), -ENOSPC);
	nowait_stream_close(&stream);
	close(fd);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_pipe_is_opened_again_and_left_as_it_was, start_alarm),
		cmocka_unit_test_setup(nowait_stream_refuses_a_read_only_descriptor, start_alarm),
		cmocka_unit_test_setup(sockets_are_sent_to, start_alarm),
		cmocka_unit_test_setup(another_users_pipe_is_spliced_into, start_alarm),
		cmocka_unit_test_setup(another_users_pipe_without_reader_says_so, start_alarm),
		cmocka_unit_test_setup(a_greedy_job_on_the_same_pipe_does_not_block_us, start_alarm),
		cmocka_unit_test_setup(a_frozen_terminal_takes_nothing, start_alarm),
		cmocka_unit_test_setup(another_users_terminal_is_polled, start_alarm),
		cmocka_unit_test_setup(the_master_of_a_terminal_is_not_opened_again, start_alarm),
		cmocka_unit_test_setup(devices_are_opened_again, start_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
