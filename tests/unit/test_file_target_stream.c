/* Tests of src/sink/file_target.c on pipes, terminals and sockets: the alarm ends a write that waits. */
#include "scratch.h"
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "sink/file_target.h"

static const struct target_options JSON = {.text = LINES_JSON};

static char message[512];

/* With the default dispositions, a SIGPIPE or SIGTTOU would end or stop the test. */
static int start_alarm(void **state)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	alarm(30);
	return scratch_enter(state);
}

static struct target *target_of(int fd, const struct target_options *options)
{
	struct target *target = NULL;

	assert_int_equal(target_from_fd(fd, "standard error", options, &target, message, sizeof message), 0);
	return target;
}

static void make_small_pipe(int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
}

/* "NUMBER xxx...\n", `length` bytes in all. */
static int write_numbered(struct target *target, int number, size_t length)
{
	char *record = malloc(length + 16);
	int r, head;

	assert_non_null(record);
	head = snprintf(record, 16, "%d ", number);
	memset(record + head, 'x', length - (size_t)head - 1);
	record[length - 1] = '\n';
	r = target_write(target, record, length);
	free(record);
	return r;
}

/* Reads the available bytes without waiting. NUL-terminated; the caller frees it. */
static char *read_available(int fd, size_t *length)
{
	static char text[1 << 20];
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	*length = 0;
	while ((n = read(fd, text + *length, sizeof text - 1 - *length)) > 0)
		*length += (size_t)n;
	text[*length] = '\0';
	return text;
}

/*
 * Reads everything that comes while the target is flushed, and stores the numbers of the lines, which must be
 * whole.
 */
static size_t drain_numbers(struct target *target, int fd, size_t record_length, int *ret_numbers)
{
	size_t count = 0, length, filled = 0;
	static char all[1 << 21];

	do {
		char *text;

		target_flush(target, 0);
		text = read_available(fd, &length);
		assert_true(filled + length < sizeof all);
		memcpy(all + filled, text, length);
		filled += length;
	} while (length);
	for (size_t at = 0; at < filled; at += record_length) {
		assert_true(filled - at >= record_length);
		assert_int_equal(all[at + record_length - 1], '\n');
		assert_null(memchr(all + at, '\n', record_length - 1));
		ret_numbers[count] = 0;
		for (size_t i = at; all[i] != ' '; i++)
			ret_numbers[count] = ret_numbers[count] * 10 + (all[i] - '0');
		count++;
	}
	return count;
}

/*
 * Records smaller than a page, of many pages, and as large as the pipe: first without a reader, then with one.
 */
static void an_unread_pipe_keeps_the_content_of_the_ring(void **state)
{
	static const size_t LENGTHS[] = {100, 1000, 4096, 5000, 40000};

	(void)state;
	for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
		struct target_options options = {.ring_ceiling_bytes = 128 * 1024};
		int ends[2], numbers[3000], total = 2000;
		struct target_status status;
		struct target *target;
		size_t count, lost = 0;

		make_small_pipe(ends);
		target = target_of(ends[1], &options);
		for (int number = 0; number < total; number++)
			write_numbered(target, number, LENGTHS[i]);
		status = target_status(target);
		assert_int_equal(status.state, TARGET_STALLED);
		assert_int_equal(status.last_error, -EAGAIN);
		assert_true(status.pending_bytes <= options.ring_ceiling_bytes + LENGTHS[i]);
		assert_true(status.dropped_records > 0);
		assert_true(target_take_warning(target, message, sizeof message));
		assert_string_equal(message, "cannot write to standard error: its reader is too slow; "
					     "the oldest samples are dropped");
		count = drain_numbers(target, ends[0], LENGTHS[i], numbers);
		assert_int_equal(count + status.dropped_records, total);
		for (size_t at = 1; at < count; at++) {
			/* There is one gap: between the pipe's content and the ring's. */
			if (numbers[at] != numbers[at - 1] + 1)
				lost++;
			assert_true(numbers[at] > numbers[at - 1]);
		}
		assert_int_equal(numbers[count - 1], total - 1);
		assert_int_equal(lost, 1);
		assert_int_equal(target_status(target).state, TARGET_OK);
		assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
		target_close(target, 0);
		close(ends[0]), close(ends[1]);
	}
}

static void nothing_is_said_about_standard_error_on_standard_error(void **state)
{
	struct target_options options = {.ring_ceiling_bytes = 1000};
	int ends[2], before = dup(STDERR_FILENO);
	struct target *target;
	uint64_t dropped;

	(void)state;
	make_small_pipe(ends);
	dup2(ends[1], STDERR_FILENO);
	target = target_of(STDERR_FILENO, &options);
	for (int number = 0; number < 100; number++)
		write_numbered(target, number, 500);
	dropped = target_status(target).dropped_records;
	dup2(before, STDERR_FILENO);
	assert_true(dropped > 50);
	assert_false(target_take_warning(target, message, sizeof message));
	target_close(target, 0);
	close(before), close(ends[0]), close(ends[1]);
}

/* The part of a record that is in the pipe waits no more. */
static void waiting_records_are_counted_in_bytes(void **state)
{
	struct target *target;
	size_t in_pipe;
	int ends[2];

	(void)state;
	make_small_pipe(ends);
	target = target_of(ends[1], &JSON);
	assert_int_equal(write_numbered(target, 0, 9000), -EAGAIN);
	assert_int_equal(write_numbered(target, 1, 100), -EAGAIN);
	assert_int_equal(target_status(target).pending_records, 2);
	read_available(ends[0], &in_pipe);
	assert_true(in_pipe > 0 && in_pipe < 9000);
	assert_int_equal(target_status(target).pending_bytes, 9000 - in_pipe + 100);
	target_close(target, 0);
	close(ends[0]), close(ends[1]);
}

/* Records that wait at the end may be lost, and that is told, but not on the stream that failed. */
static void records_that_wait_at_the_end_are_told(void **state)
{
	static const struct {
		const char *name, *message; /* NULL: none */
	} CASES[] = {{"log", "cannot write to log: its reader is too slow; the last samples may be lost"},
		     {"/dev/stderr", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct target *target = NULL;
		int ends[2];

		make_small_pipe(ends);
		assert_int_equal(
			target_from_fd(ends[1], CASES[i].name, &JSON, &target, message, sizeof message), 0);
		target_end(target, 0);
		assert_false(target_take_warning(target, message, sizeof message));
		assert_int_equal(write_numbered(target, 0, 9000), -EAGAIN);
		assert_false(target_take_warning(target, message, sizeof message));
		target_end(target, 0);
		assert_int_equal(target_take_warning(target, message, sizeof message), !!CASES[i].message);
		if (CASES[i].message)
			assert_string_equal(message, CASES[i].message);
		target_close(target, 0);
		close(ends[0]), close(ends[1]);
	}
}

static void a_reader_that_leaves_ends_the_target_quietly(void **state)
{
	struct target *target;
	int ends[2];

	(void)state;
	make_small_pipe(ends);
	target = target_of(ends[1], &JSON);
	assert_int_equal(write_numbered(target, 0, 100), 0);
	assert_int_equal(write_numbered(target, 1, 9000), -EAGAIN);
	close(ends[0]);
	assert_int_equal(write_numbered(target, 2, 100), -EPIPE);
	assert_int_equal(target_status(target).state, TARGET_GONE);
	assert_int_equal(target_status(target).dropped_records, 2);
	assert_int_equal(target_status(target).pending_records, 0);
	assert_int_equal(target_status(target).pending_bytes, 0);
	assert_int_equal(write_numbered(target, 3, 100), -EPIPE);
	assert_false(target_take_warning(target, message, sizeof message));
	target_close(target, INT64_MAX);
	close(ends[1]);
}

static void a_pending_sigpipe_of_the_program_stays(void **state)
{
	sigset_t blocked, pending;
	struct target *target;
	int ends[2], number;

	(void)state;
	make_small_pipe(ends);
	target = target_of(ends[1], &JSON);
	close(ends[0]);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	assert_int_equal(write_numbered(target, 0, 100), -EPIPE);
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGPIPE));
	raise(SIGPIPE);
	target_close(target, 0);
	target = target_of(ends[1], &JSON);
	assert_int_equal(write_numbered(target, 0, 100), -EPIPE);
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGPIPE));
	assert_int_equal(sigwait(&blocked, &number), 0);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &blocked, NULL), 0);
	target_close(target, 0);
	close(ends[1]);
}

static void closed_descriptors_are_refused(void **state)
{
	struct target *target = NULL;
	int ends[2];

	(void)state;
	make_small_pipe(ends);
	assert_int_equal(target_from_fd(ends[0], "standard output", &JSON, &target, message, sizeof message),
			 -EBADF);
	assert_string_equal(message, "cannot write to standard output: it is not open for writing");
	close(ends[0]), close(ends[1]);
	assert_int_equal(target_from_fd(ends[1], "standard output", &JSON, &target, message, sizeof message),
			 -EBADF);
	assert_int_equal(target_open("/dev/fd/987", &JSON, &target, message, sizeof message), -EBADF);
	assert_non_null(strstr(message, "/dev/fd/987"));
	/* Names that only look like a descriptor's. */
	assert_true(target_open("/dev/fd/1x", &JSON, &target, message, sizeof message) < 0);
	assert_true(target_open("/dev/fd/99999999999999", &JSON, &target, message, sizeof message) < 0);
	/* The largest descriptor, and a name that is too large for one. */
	assert_int_equal(target_open("/dev/fd/2147483647", &JSON, &target, message, sizeof message), -EBADF);
	assert_int_equal(target_open("/dev/fd/2147483648", &JSON, &target, message, sizeof message), -ENOENT);
	assert_null(target);
	target_close(target, 0);
	target_leave(target);
}

/* "-" and its like are streams that are open already, so no file of that name is made. */
static void names_of_standard_streams_are_understood(void **state)
{
	static const struct {
		const char *name;
		int fd;
	} CASES[] = {{"-", 1}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		int ends[2], before = dup(CASES[i].fd), r;
		struct target *target = NULL;
		char text[8] = "";

		make_small_pipe(ends);
		dup2(ends[1], CASES[i].fd);
		r = target_open(CASES[i].name, &JSON, &target, message, sizeof message);
		dup2(before, CASES[i].fd);
		assert_int_equal(r, 0);
		assert_int_equal(target_write(target, "one\n", 4), 0);
		assert_int_equal(read(ends[0], text, sizeof text), 4);
		assert_memory_equal(text, "one\n", 4);
		target_close(target, 0);
		close(before), close(ends[0]), close(ends[1]);
	}
	assert_int_equal(access("-", F_OK), -1);
}

static void names_of_descriptors_are_understood(void **state)
{
	char name[64], text[8];
	struct target *target;
	int ends[2];

	(void)state;
	make_small_pipe(ends);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
	assert_int_equal(target_open(name, &JSON, &target, message, sizeof message), 0);
	assert_int_equal(target_write(target, "one\n", 4), 0);
	target_close(target, 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
	assert_int_equal(target_open(name, &JSON, &target, message, sizeof message), 0);
	assert_int_equal(target_write(target, "two\n", 4), 0);
	target_close(target, 0);
	assert_int_equal(read(ends[0], text, 8), 8);
	assert_memory_equal(text, "one\ntwo\n", 8);
	close(ends[0]), close(ends[1]);
}

static void a_socket_works_like_a_pipe(void **state)
{
	struct target *target;
	int ends[2], numbers[3000], number = 0, room = 4096;
	size_t count;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
	target = target_of(ends[1], &JSON);
	while (write_numbered(target, number++, 1000) == 0)
		assert_true(number < 1000);
	for (int more = 0; more < 20; more++)
		assert_int_equal(write_numbered(target, number++, 1000), -EAGAIN);
	count = drain_numbers(target, ends[0], 1000, numbers);
	assert_int_equal(count, number);
	for (int i = 0; i < number; i++)
		assert_int_equal(numbers[i], i);
	close(ends[0]);
	assert_int_equal(write_numbered(target, number, 1000), -EPIPE);
	assert_int_equal(target_status(target).state, TARGET_GONE);
	target_close(target, 0);
	close(ends[1]);
}

static void a_frozen_terminal_gets_its_lines_when_it_thaws(void **state)
{
	struct terminal terminal = open_terminal();
	struct target *target = target_of(terminal.slave, &JSON);

	(void)state;
	assert_int_equal(target_write(target, "one\n", 4), 0);
	assert_int_equal(tcflow(terminal.slave, TCOOFF), 0);
	assert_int_equal(target_write(target, "two\n", 4), -EAGAIN);
	assert_int_equal(target_write(target, "three\n", 6), -EAGAIN);
	assert_int_equal(target_status(target).pending_records, 2);
	assert_int_equal(tcflow(terminal.slave, TCOON), 0);
	assert_int_equal(target_write(target, "four\n", 5), 0);
	assert_terminal_shows(&terminal, "one\ntwo\nthree\nfour\n");
	close(terminal.master);
	assert_int_equal(target_write(target, "five\n", 5), -EPIPE);
	assert_int_equal(target_status(target).state, TARGET_GONE);
	assert_int_equal(target_status(target).last_error, -EIO);
	target_close(target, 0);
	close(terminal.slave);
}

static _Noreturn void write_from_the_background(const struct terminal *terminal)
{
	struct termios modes;
	struct target *target;
	pid_t writer;
	int status;

	if (setsid() < 0 || ioctl(terminal->slave, TIOCSCTTY, 0) < 0 ||
	    tcgetattr(terminal->slave, &modes) < 0)
		_exit(2);
	modes.c_lflag |= TOSTOP;
	if (tcsetattr(terminal->slave, TCSANOW, &modes) < 0)
		_exit(3);
	writer = fork();
	if (writer == 0) {
		setpgid(0, 0);
		if (target_from_fd(terminal->slave, "stderr", &JSON, &target, message, sizeof message) < 0)
			_exit(4);
		_exit(target_write(target, "through\n", 8) == 0 ? 0 : 5);
	}
	if (waitpid(writer, &status, WUNTRACED) != writer)
		_exit(6);
	if (WIFSTOPPED(status))
		kill(writer, SIGKILL);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
}

static void tostop_does_not_stop_us(void **state)
{
	struct terminal terminal = open_terminal();
	pid_t leader = fork();
	int status;

	(void)state;
	if (leader == 0)
		write_from_the_background(&terminal);
	assert_int_equal(waitpid(leader, &status, 0), leader);
	assert_int_equal(status, 0);
	assert_terminal_shows(&terminal, "through\n");
	close_terminal(&terminal);
}

static void a_fifo_waits_for_its_reader(void **state)
{
	struct target *target;
	char text[64] = {0};
	int reader;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(target_open("fifo", &JSON, &target, message, sizeof message), 0);
	assert_int_equal(target_write(target, "one\n", 4), -EAGAIN);
	assert_int_equal(target_write(target, "two\n", 4), -EAGAIN);
	assert_int_equal(target_status(target).state, TARGET_STALLED);
	assert_true(target_has_no_reader(target));
	/* There is nothing to wait for. */
	assert_int_equal(target_flush(target, INT64_MAX), -EAGAIN);
	reader = open("fifo", O_RDONLY | O_CLOEXEC);
	assert_int_equal(target_write(target, "three\n", 6), 0);
	assert_int_equal(read(reader, text, sizeof text), 14);
	assert_string_equal(text, "one\ntwo\nthree\n");
	assert_false(target_has_no_reader(target));
	close(reader);
	assert_int_equal(target_write(target, "four\n", 5), -EPIPE);
	assert_int_equal(target_status(target).state, TARGET_GONE);
	target_close(target, 0);
}

static void a_flush_gives_a_slow_reader_its_time_and_no_more(void **state)
{
	int ends[2], status;
	struct target *target;
	int64_t start, took;
	pid_t reader;

	(void)state;
	make_small_pipe(ends);
	target = target_of(ends[1], &JSON);
	for (int number = 0; number < 50; number++)
		write_numbered(target, number, 1000);
	start = SYSTEM_CLOCKS.monotonic_ns(NULL);
	assert_int_equal(target_flush(target, start + 100 * NSEC_PER_MSEC), -EAGAIN);
	took = SYSTEM_CLOCKS.monotonic_ns(NULL) - start;
	assert_true(took >= 99 * NSEC_PER_MSEC && took < 1000 * NSEC_PER_MSEC);
	start = SYSTEM_CLOCKS.monotonic_ns(NULL);
	assert_int_equal(target_flush(target, start - 1), -EAGAIN);
	assert_int_equal(target_flush(target, 0), -EAGAIN);
	reader = fork();
	if (reader == 0) {
		char text[1000];
		size_t total = 0;
		ssize_t n;

		close(ends[1]);
		usleep(20000);
		while (total < 50000 && (n = read(ends[0], text, sizeof text)) > 0)
			total += (size_t)n;
		_exit(total == 50000 ? 0 : 1);
	}
	/* Long, because the reader may share a busy machine; it ends when everything is written. */
	assert_int_equal(target_flush(target, start + 20 * NSEC_PER_SEC), 0);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	target_close(target, 0);
	close(ends[0]), close(ends[1]);
}

/* The job writes lines to the same pipe. Our lines of at most a page stay whole between them. */
static void lines_beside_the_jobs_stay_whole(void **state)
{
	enum { RECORDS = 300 };
	int ends[2], status, mine = 0;
	struct target *target;
	char line[8192];
	FILE *reader;
	pid_t job;

	(void)state;
	make_small_pipe(ends);
	job = fork();
	if (job == 0) {
		alarm(30);
		for (int i = 0; i < 3000; i++)
			dprintf(ends[1], "job line %d\n", i);
		_exit(0);
	}
	reader = fdopen(ends[0], "r");
	assert_non_null(reader);
	target = target_of(ends[1], &JSON);
	close(ends[1]);
	for (int number = 0; number < RECORDS; number++)
		write_numbered(target, number, 900);
	while (fscanf(reader, "%8191[^\n]%*c", line) == 1) {
		if (strncmp(line, "job line ", 9) != 0) {
			assert_int_equal(strlen(line), 899);
			mine++;
		}
		target_flush(target, 0);
		if (mine == RECORDS - (int)target_status(target).dropped_records) {
			target_close(target, 0);
			target = NULL;
			break;
		}
	}
	assert_null(target);
	assert_true(mine > 200);
	while (fscanf(reader, "%8191[^\n]%*c", line) == 1)
		assert_memory_equal(line, "job line ", 9);
	assert_int_equal(waitpid(job, &status, 0), job);
	assert_int_equal(status, 0);
	fclose(reader);
}

#define stream_test(test) cmocka_unit_test_setup_teardown(test, start_alarm, scratch_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		stream_test(an_unread_pipe_keeps_the_content_of_the_ring),
		stream_test(nothing_is_said_about_standard_error_on_standard_error),
		stream_test(waiting_records_are_counted_in_bytes),
		stream_test(records_that_wait_at_the_end_are_told),
		stream_test(a_reader_that_leaves_ends_the_target_quietly),
		stream_test(a_pending_sigpipe_of_the_program_stays),
		stream_test(closed_descriptors_are_refused),
		stream_test(names_of_standard_streams_are_understood),
		stream_test(names_of_descriptors_are_understood),
		stream_test(a_socket_works_like_a_pipe),
		stream_test(a_frozen_terminal_gets_its_lines_when_it_thaws),
		stream_test(tostop_does_not_stop_us),
		stream_test(a_fifo_waits_for_its_reader),
		stream_test(a_flush_gives_a_slow_reader_its_time_and_no_more),
		stream_test(lines_beside_the_jobs_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
