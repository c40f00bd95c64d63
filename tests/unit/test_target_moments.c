/*
 * Tests of src/sink/file_target.c, nowait_stream.c and beside.c: calls that fail once or are interrupted, and how long is waited. The
 * functions at the top stand before the C library's.
 */
#include "in_child.h"
#include "moment.h"
#include "scratch.h"
#include "terminal.h"

#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/clock.h"
#include "sink/beside.h"
#include "sink/file_target.h"
#include "sink/held_signals.h"
#include "sink/nowait_stream.h"

/* ---- the calls ---------------------------------------------------------------------------------------------- */

static struct moment at_fcntl, at_fstat, at_open, at_pipe2, at_poll, at_read, at_send, at_sleep, at_splice,
	at_stat, at_write;
static size_t write_most = SIZE_MAX;
static int64_t clock_ns; /* 0: the kernel's */
static int64_t waited_ns, slept_ns;
static int poll_ms;
static mode_t other_type;   /* 0: fstat() tells the type of the file */
static const char *instead; /* opened in the place of a descriptor's name */

int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	if (!clock_ns)
		return (int)syscall(SYS_clock_gettime, id, ret_time);
	*ret_time = (struct timespec){clock_ns / NSEC_PER_SEC, clock_ns % NSEC_PER_SEC};
	return 0;
}

int fcntl(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	return fails_now(&at_fcntl) ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

int fstat(int fd, struct stat *ret_status)
{
	int r = fails_now(&at_fstat) ? -1 : fstatat(fd, "", ret_status, AT_EMPTY_PATH);

	if (r == 0 && other_type)
		ret_status->st_mode = other_type;
	return r;
}

int stat(const char *path, struct stat *ret_status)
{
	return fails_now(&at_stat) ? -1 : fstatat(AT_FDCWD, path, ret_status, 0);
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	unsigned mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
	va_end(arguments);
	if (instead && strncmp(path, "/proc/self/fd/", 14) == 0)
		path = instead;
	return fails_now(&at_open) ? -1 : openat(AT_FDCWD, path, flags, mode);
}

int pipe2(int ends[2], int flags)
{
	return fails_now(&at_pipe2) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

/* With the clock of the test, what is waited for never comes. */
int ppoll(struct pollfd *list, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
	int64_t limit_ns = limit->tv_sec * NSEC_PER_SEC + limit->tv_nsec;

	if (!clock_ns)
		return (int)syscall(SYS_ppoll, list, count, limit, mask, 8);
	assert_int_equal(count, 1);
	waited_ns += limit_ns;
	clock_ns += limit_ns;
	return fails_now(&at_poll) ? -1 : 0;
}

int poll(struct pollfd *list, nfds_t count, int limit_ms)
{
	struct timespec limit = {limit_ms / 1000, limit_ms % 1000 * NSEC_PER_MSEC};

	poll_ms = limit_ms;
	if (fails_now(&at_poll))
		return -1;
	return clock_ns ? 0 : (int)syscall(SYS_ppoll, list, count, limit_ms < 0 ? NULL : &limit, NULL, 8);
}

int nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	slept_ns += time->tv_sec * NSEC_PER_SEC + time->tv_nsec;
	return fails_now(&at_sleep) ? -1 : 0;
}

ssize_t read(int fd, void *bytes, size_t length)
{
	return fails_now(&at_read) ? -1 : syscall(SYS_read, fd, bytes, length);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	return fails_now(&at_send) ? -1 : sendto(fd, bytes, length, flags, NULL, 0);
}

ssize_t splice(int from, loff_t *from_offset, int to, loff_t *to_offset, size_t length, unsigned flags)
{
	return fails_now(&at_splice) ? -1
				     : syscall(SYS_splice, from, from_offset, to, to_offset, length, flags);
}

/* An error of 1000 makes it answer that it wrote nothing. */
enum { WRITES_NOTHING = 1000 };

ssize_t write(int fd, const void *bytes, size_t length)
{
	if (fails_now(&at_write))
		return errno == WRITES_NOTHING ? 0 : -1;
	return syscall(SYS_write, fd, bytes, length < write_most ? length : write_most);
}

static void forget_moments(void)
{
	at_fcntl = at_fstat = at_open = at_pipe2 = at_poll = at_read = at_send = at_sleep = at_splice =
		at_stat = at_write = (struct moment){0};
	write_most = SIZE_MAX;
	clock_ns = waited_ns = slept_ns = 0;
	other_type = 0;
	instead = NULL;
}

static int enter(void **state)
{
	forget_moments();
	alarm(60);
	return scratch_enter(state);
}

static int leave(void **state)
{
	forget_moments();
	alarm(0);
	return scratch_leave(state);
}

/* ---- targets ------------------------------------------------------------------------------------------------ */

static const struct target_options JSON = {.text = LINES_JSON};
static char message[512];

static struct target *open_run(void)
{
	struct target *target = NULL;

	if (target_open("run", &JSON, &target, message, sizeof message) != 0)
		fail_msg("%s", message);
	at_write = (struct moment){0};
	return target;
}

static struct target *target_of(int fd)
{
	struct target *target = NULL;

	if (target_from_fd(fd, "log", &JSON, &target, message, sizeof message) != 0)
		fail_msg("%s", message);
	at_write = (struct moment){0};
	return target;
}

static void an_interrupted_write_is_made_again(void **state)
{
	struct target *target = open_run();

	(void)state;
	at_write = (struct moment){.error = EINTR};
	assert_int_equal(target_write(target, "{}\n", 3), 0);
	assert_int_equal(at_write.calls, 2);
	at_write = (struct moment){0};
	write_most = 1;
	assert_int_equal(target_write(target, "{1}\n", 4), 0);
	assert_int_equal(at_write.calls, 4);
	write_most = SIZE_MAX;
	target_close(target, 0);
	assert_file_text("run", "{}\n{1}\n");
}

/* As a full disk of some kinds does. */
static void a_write_of_nothing_is_a_full_disk(void **state)
{
	struct target *target = open_run();

	(void)state;
	at_write = (struct moment){.error = WRITES_NOTHING};
	assert_int_equal(target_write(target, "{}\n", 3), -EAGAIN);
	assert_int_equal(target_status(target).last_error, -ENOSPC);
	assert_int_equal(target_status(target).pending_records, 1);
	assert_int_equal(target_write(target, "{1}\n", 4), 0);
	target_close(target, 0);
	assert_file_text("run", "{}\n{1}\n");
}

static void make_pipe(int ends[2])
{
	assert_int_equal(syscall(SYS_pipe2, ends, O_CLOEXEC), 0);
}

/* A stream has no full disk: nothing written means no room. */
static void a_stream_that_takes_nothing_has_no_room(void **state)
{
	struct target *target;
	int ends[2];

	(void)state;
	make_pipe(ends);
	target = target_of(ends[1]);
	at_write = (struct moment){.error = WRITES_NOTHING};
	assert_int_equal(target_write(target, "{}\n", 3), -EAGAIN);
	assert_int_equal(target_status(target).last_error, -EAGAIN);
	assert_false(target_take_warning(target, message, sizeof message));
	target_close(target, 0);
	close(ends[0]), close(ends[1]);
}

/* Without a ceiling of the caller. */
static void the_ring_has_a_quarter_of_a_mebibyte(void **state)
{
	enum { LENGTH = 1024 - sizeof(size_t) };
	static char record[LENGTH];
	struct target *target;
	int ends[2];

	(void)state;
	make_pipe(ends);
	target = target_of(ends[1]);
	at_write = (struct moment){.passes = EACH_TIME, .error = EAGAIN};
	for (int i = 0; i < 300; i++)
		assert_int_equal(target_write(target, record, LENGTH), -EAGAIN);
	assert_int_equal(target_status(target).pending_records, 256);
	assert_int_equal(target_status(target).pending_bytes, 256 * LENGTH);
	assert_int_equal(target_status(target).dropped_records, 44);
	target_close(target, 0);
	close(ends[0]), close(ends[1]);
}

/* The rest of a record of up to 64 MiB follows. A longer one is dropped, and its line ended. */
static void the_rest_of_a_long_record_is_kept(void **state)
{
	enum { MOST = 64 << 20 };
	char *record = malloc(MOST + 1), text[8] = "";
	struct target *target;

	(void)state;
	assert_non_null(record);
	memset(record, 'x', MOST + 1);
	for (int longer = 0; longer < 2; longer++) {
		int ends[2];

		make_pipe(ends);
		target = target_of(ends[1]);
		write_most = 1;
		at_write = (struct moment){.passes = 1, .error = EAGAIN};
		assert_int_equal(target_write(target, record, MOST + (size_t)longer), longer ? 0 : -EAGAIN);
		assert_int_equal(target_status(target).pending_bytes, longer ? 0 : MOST - 1);
		assert_int_equal(target_status(target).dropped_records, longer);
		write_most = SIZE_MAX;
		if (longer) {
			assert_int_equal(target_write(target, "{}\n", 3), 0);
			assert_int_equal(read(ends[0], text, sizeof text), 5);
			assert_memory_equal(text, "x\n{}\n", 5);
		}
		close(ends[0]);
		target_close(target, 0);
		close(ends[1]);
	}
	free(record);
}

/* Neither a file nor a name that cannot be looked at is lost, unless the file has no name at all. */
static void a_file_that_cannot_be_looked_at_has_its_name(void **state)
{
	struct target *target = open_run();

	(void)state;
	at_stat = (struct moment){.error = EIO};
	assert_false(target_lost_its_name(target, true));
	at_stat = (struct moment){.error = ENOTDIR};
	assert_true(target_lost_its_name(target, true));
	at_fstat = (struct moment){.error = EIO};
	assert_false(target_lost_its_name(target, true));
	assert_int_equal(unlink("run"), 0);
	at_fstat = (struct moment){.error = EIO};
	assert_false(target_lost_its_name(target, true));
	at_stat = (struct moment){.error = EIO};
	assert_true(target_lost_its_name(target, true));
	at_fstat = (struct moment){.error = EIO};
	assert_int_equal(target_size(target), -1);
	target_close(target, 0);
}

static void expect_refusal(int fd, int error)
{
	struct target *target = NULL;

	assert_int_equal(target_from_fd(fd, "log", &JSON, &target, message, sizeof message), error);
	assert_null(target);
	assert_non_null(strstr(message, "cannot write to log: "));
	assert_non_null(strstr(message, strerror(-error)));
}

static void a_descriptor_that_cannot_be_kept_is_refused(void **state)
{
	int fd;

	(void)state;
	put_text("log", "");
	fd = open("log", O_WRONLY | O_CLOEXEC);
	at_fstat = (struct moment){.error = EIO};
	expect_refusal(fd, -EIO);
	at_fcntl = (struct moment){.passes = 1, .error = EMFILE};
	expect_refusal(fd, -EMFILE);
	/* A disk. */
	other_type = S_IFBLK | 0600;
	expect_refusal(fd, -EINVAL);
	close(fd);
}

/* A process that leaves a target keeps what is not its own. */
static void a_shared_file_is_not_left(void **state)
{
	struct target *target, *next = NULL;
	int fd;

	(void)state;
	put_text("log", "");
	fd = open("log", O_WRONLY | O_CLOEXEC);
	target = target_of(fd);
	target_leave(target);
	assert_int_equal(target_write(target, "{}\n", 3), 0);
	assert_int_equal(target_status(target).dropped_records, 0);
	target_close(target, 0);
	close(fd);
	assert_file_text("log", "{}\n");
	/* The lock of a file of its own ends with the last process. */
	target = open_run();
	assert_int_equal(target_open("run", &JSON, &next, message, sizeof message), -EBUSY);
	target_leave(target);
	next = open_run();
	target_close(next, 0);
	target_close(target, 0);
	target_leave(NULL);
}

/* A flush waits until the deadline, and pauses a millisecond unless that is left of it. */
static void a_flush_waits_to_its_deadline(void **state)
{
	struct target *target;
	int ends[2];

	(void)state;
	make_pipe(ends);
	target = target_of(ends[1]);
	at_write = (struct moment){.passes = EACH_TIME, .error = EAGAIN};
	assert_int_equal(target_write(target, "{}\n", 3), -EAGAIN);
	clock_ns = 5000 * NSEC_PER_SEC;
	assert_int_equal(target_flush(target, clock_ns + 2500 * NSEC_PER_MSEC), -EAGAIN);
	assert_int_equal(waited_ns, 2500 * NSEC_PER_MSEC);
	assert_int_equal(at_poll.calls, 1);
	assert_int_equal(slept_ns, NSEC_PER_MSEC);
	assert_int_equal(target_flush(target, clock_ns + NSEC_PER_MSEC), -EAGAIN);
	assert_int_equal(at_poll.calls, 2);
	assert_int_equal(slept_ns, NSEC_PER_MSEC);
	assert_int_equal(target_flush(target, clock_ns), -EAGAIN);
	assert_int_equal(target_flush(target, 0), -EAGAIN);
	assert_int_equal(at_poll.calls, 2);
	clock_ns = 0;
	target_close(target, 0);
	close(ends[0]), close(ends[1]);
}

/* The first of a FIFO's lines is kept for a reader who never came. */
static void a_fifo_that_was_never_read_says_so(void **state)
{
	struct target *target;

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(mkfifo("run", 0600), 0);
	target = open_run();
	assert_int_equal(target_write(target, "{}\n", 3), -EAGAIN);
	assert_false(target_take_warning(target, message, sizeof message));
	target_end(target, 0);
	assert_true(target_take_warning(target, message, sizeof message));
	assert_string_equal(message, "cannot write to run: it has no reader; the last samples may be lost");
	target_close(target, 0);
}

/* The folder has gone, too. */
static void a_file_that_is_not_renewed_says_why(void **state)
{
	struct target *target = NULL;

	(void)state;
	assert_int_equal(mkdir("f", 0700), 0);
	assert_int_equal(target_open("f/run", &JSON, &target, message, sizeof message), 0);
	assert_int_equal(unlink("f/run") | rmdir("f"), 0);
	assert_false(target_renew(target, &JSON, message, sizeof message));
	assert_non_null(strstr(message, "f/run was removed or renamed; no new one can be opened: "));
	assert_non_null(strstr(message, "its folder does not exist"));
	target_close(target, 0);
}

/* ---- signals ------------------------------------------------------------------------------------------------ */

/* Signals that the program waits for itself stay, and those of our writes go. */
static void a_signal_that_was_pending_stays(void **state)
{
	static const int NUMBERS[] = {SIGPIPE, SIGXFSZ};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct held_signals held;
		sigset_t mine, pending;
		int number;

		sigemptyset(&mine);
		sigaddset(&mine, NUMBERS[i]);
		assert_int_equal(sigprocmask(SIG_BLOCK, &mine, NULL), 0);
		raise(NUMBERS[i]);
		held = hold_signals();
		raise(NUMBERS[!i]);
		release_signals(&held, true);
		assert_int_equal(sigpending(&pending), 0);
		assert_true(sigismember(&pending, NUMBERS[i]));
		assert_false(sigismember(&pending, NUMBERS[!i]));
		assert_int_equal(sigwait(&mine, &number), 0);
		assert_int_equal(number, NUMBERS[i]);
		/* Nothing was written. */
		held = hold_signals();
		raise(NUMBERS[i]);
		release_signals(&held, false);
		assert_int_equal(sigpending(&pending), 0);
		assert_true(sigismember(&pending, NUMBERS[i]));
		assert_int_equal(sigwait(&mine, &number), 0);
		assert_int_equal(sigprocmask(SIG_UNBLOCK, &mine, NULL), 0);
	}
}

/* ---- streams ------------------------------------------------------------------------------------------------ */

static struct nowait_stream expect_way(int fd, enum nowait_way way)
{
	struct nowait_stream stream = NOWAIT_STREAM;

	assert_int_equal(nowait_stream_from_fd(fd, &stream), 0);
	assert_int_equal(stream.way, way);
	assert_true(stream.fd > STDERR_FILENO);
	return stream;
}

static void expect_text(int fd, const char *text)
{
	char found[64] = "";

	assert_int_equal(read(fd, found, sizeof found), strlen(text));
	assert_memory_equal(found, text, strlen(text));
}

static void a_stream_that_cannot_be_opened_again_has_other_ways(void **state)
{
	struct nowait_stream stream;
	int ends[2];

	(void)state;
	make_pipe(ends);
	at_open = (struct moment){.error = EACCES};
	stream = expect_way(ends[1], NOWAIT_SPLICE);
	assert_int_equal(stream.chunk_bytes, PIPE_BUF);
	assert_int_equal(nowait_stream_write(&stream, "one\n", 4), 4);
	expect_text(ends[0], "one\n");
	nowait_stream_close(&stream);
	assert_true(stream.fd == -1 && stream.relay[0] == -1 && stream.relay[1] == -1);
	/* Another file has its name in /proc. */
	instead = "/dev/null";
	stream = expect_way(ends[1], NOWAIT_SPLICE);
	nowait_stream_close(&stream);
	/* No pipe for the way between. */
	at_pipe2 = (struct moment){.error = EMFILE};
	stream = expect_way(ends[1], NOWAIT_POLL);
	assert_int_equal(nowait_stream_write(&stream, "two\n", 4), 4);
	expect_text(ends[0], "two\n");
	nowait_stream_close(&stream);
	/* No descriptor at all. */
	at_fcntl = (struct moment){.passes = 1, .error = EMFILE};
	assert_int_equal(nowait_stream_from_fd(ends[1], &stream), -EMFILE);
	at_fstat = (struct moment){.error = EIO};
	assert_int_equal(nowait_stream_from_fd(ends[1], &stream), -EIO);
	instead = NULL;
	/* It is the same file, which cannot be looked at. */
	at_fstat = (struct moment){.passes = 1, .error = EIO};
	stream = expect_way(ends[1], NOWAIT_SPLICE);
	nowait_stream_close(&stream);
	close(ends[0]), close(ends[1]);
}

static int with_closed_input(void)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	int ends[2];

	if (syscall(SYS_pipe2, ends, O_CLOEXEC) < 0)
		return 1;
	close(STDIN_FILENO);
	if (nowait_stream_from_fd(ends[1], &stream) != 0 || stream.way != NOWAIT_OWN_DESCRIPTION ||
	    stream.fd <= STDERR_FILENO)
		return 2;
	if (faccessat(AT_FDCWD, "/proc/self/fd/0", F_OK, 0) == 0)
		return 3;
	nowait_stream_close(&stream);
	at_fcntl = (struct moment){.passes = 1, .error = EMFILE};
	if (nowait_stream_from_fd(ends[1], &stream) != 0 || stream.way != NOWAIT_SPLICE ||
	    stream.fd <= STDERR_FILENO)
		return 4;
	return 0;
}

static void a_stream_never_becomes_standard_input(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_closed_input), 0);
}

static void only_the_master_of_terminals_is_a_cloning_device(void **state)
{
	struct terminal terminal = open_terminal();
	struct nowait_stream stream = expect_way(terminal.master, NOWAIT_POLL);

	(void)state;
	assert_int_equal(stream.chunk_bytes, 128);
	nowait_stream_close(&stream);
	stream = expect_way(terminal.slave, NOWAIT_OWN_DESCRIPTION);
	assert_true(stream.is_terminal);
	nowait_stream_close(&stream);
	close_terminal(&terminal);
}

static void interrupted_streams_go_on(void **state)
{
	struct nowait_stream stream;
	int ends[2], sockets[2];

	(void)state;
	make_pipe(ends);
	stream = expect_way(ends[1], NOWAIT_OWN_DESCRIPTION);
	at_write = (struct moment){.error = EINTR};
	assert_int_equal(nowait_stream_write(&stream, "one\n", 4), 4);
	assert_int_equal(at_write.calls, 2);
	expect_text(ends[0], "one\n");
	nowait_stream_close(&stream);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	stream = expect_way(sockets[1], NOWAIT_SOCKET);
	at_send = (struct moment){.error = EINTR};
	assert_int_equal(nowait_stream_write(&stream, "two\n", 4), 4);
	assert_int_equal(at_send.calls, 2);
	expect_text(sockets[0], "two\n");
	at_send = (struct moment){.error = ENOBUFS};
	assert_int_equal(nowait_stream_write(&stream, "two\n", 4), -ENOBUFS);
	nowait_stream_close(&stream);
	close(sockets[0]), close(sockets[1]);
	at_open = (struct moment){.error = EACCES};
	stream = expect_way(ends[1], NOWAIT_SPLICE);
	at_splice = (struct moment){.error = EINTR};
	assert_int_equal(nowait_stream_write(&stream, "three\n", 6), 6);
	assert_int_equal(at_splice.calls, 2);
	expect_text(ends[0], "three\n");
	nowait_stream_close(&stream);
	close(ends[0]), close(ends[1]);
}

/* A filter of system calls forbids it, and then each later record is polled for. */
static void a_forbidden_splice_becomes_a_poll(void **state)
{
	static const int ERRORS[] = {EINVAL, ENOSYS, EPERM};
	int ends[2];

	(void)state;
	make_pipe(ends);
	for (size_t i = 0; i < 3; i++) {
		struct nowait_stream stream;

		at_open = (struct moment){.error = EACCES};
		stream = expect_way(ends[1], NOWAIT_SPLICE);
		/* Without room the way stays. Bytes that could not be moved are lost. */
		at_splice = (struct moment){.error = EAGAIN};
		assert_int_equal(nowait_stream_write(&stream, "lost\n", 5), -EAGAIN);
		assert_int_equal(stream.way, NOWAIT_SPLICE);
		at_write = (struct moment){.error = EMFILE};
		assert_int_equal(nowait_stream_write(&stream, "lost\n", 5), -EMFILE);
		at_splice = (struct moment){.error = ERRORS[i]};
		assert_int_equal(nowait_stream_write(&stream, "one\n", 4), 4);
		assert_int_equal(stream.way, NOWAIT_POLL);
		assert_int_equal(at_splice.calls, 1);
		expect_text(ends[0], "one\n");
		nowait_stream_close(&stream);
	}
	close(ends[0]), close(ends[1]);
}

static void a_polled_stream_never_waits(void **state)
{
	struct nowait_stream stream = NOWAIT_STREAM;
	static char large[300];
	int ends[2];

	(void)state;
	make_pipe(ends);
	stream.fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
	stream.way = NOWAIT_POLL;
	stream.chunk_bytes = 128;
	memset(large, 'x', sizeof large);
	at_write = at_poll = (struct moment){0};
	assert_int_equal(nowait_stream_write(&stream, large, sizeof large), sizeof large);
	assert_int_equal(at_write.calls, 3);
	assert_int_equal(at_poll.calls, 3);
	assert_int_equal(poll_ms, 0);
	/* A part, and then an error. */
	at_write = (struct moment){.passes = 2, .error = EIO};
	assert_int_equal(nowait_stream_write(&stream, large, sizeof large), 256);
	at_write = (struct moment){.error = EIO};
	assert_int_equal(nowait_stream_write(&stream, large, sizeof large), -EIO);
	at_poll = (struct moment){.error = EIO};
	assert_int_equal(nowait_stream_write(&stream, large, sizeof large), -EAGAIN);
	nowait_stream_close(&stream);
	close(ends[0]), close(ends[1]);
}

/* ---- beside ------------------------------------------------------------------------------------------------- */

static const struct target_options APPEND = {.append = true, .text = LINES_JSON};
static struct beside beside;

static void open_beside(void)
{
	assert_int_equal(beside_open("run", -1, &APPEND, &beside, message, sizeof message), 0);
}

static void close_beside(void)
{
	close(beside.socket);
	beside_done(&beside);
}

static void an_interrupted_process_goes_on(void **state)
{
	uint32_t length = 3;

	(void)state;
	/* The one that keeps the file, and the one that waits for it. */
	at_read = at_poll = (struct moment){.error = EINTR};
	open_beside();
	at_read = (struct moment){0};
	assert_true(at_poll.calls >= 2);
	assert_int_equal(send(beside.socket, &length, sizeof length, 0), sizeof length);
	assert_int_equal(send(beside.socket, "{}\n", 3, 0), 3);
	at_poll = (struct moment){.error = EINTR};
	assert_true(beside_finish(&beside, SYSTEM_CLOCKS.monotonic_ns(NULL) + 50 * NSEC_PER_SEC));
	assert_true(beside.has_ended);
	close_beside();
	assert_file_text("run", "{}\n");
}

/* Time that has begun counts as a millisecond. */
static void a_process_is_waited_for_until_the_deadline(void **state)
{
	(void)state;
	open_beside();
	kill(beside.pid, SIGSTOP);
	clock_ns = 5000 * NSEC_PER_SEC;
	assert_false(beside_finish(&beside, clock_ns + 1500 * NSEC_PER_MSEC + 7));
	assert_int_equal(poll_ms, 1501);
	assert_false(beside.has_ended);
	assert_false(beside_finish(&beside, clock_ns));
	assert_int_equal(poll_ms, 0);
	at_poll = (struct moment){.error = EIO};
	assert_false(beside_finish(&beside, clock_ns + 1500 * NSEC_PER_MSEC));
	assert_false(beside.has_ended);
	clock_ns = 0;
	kill(beside.pid, SIGKILL);
	assert_false(beside_finish(&beside, SYSTEM_CLOCKS.monotonic_ns(NULL) + 50 * NSEC_PER_SEC));
	assert_true(beside.has_ended);
	close_beside();
}

static int refused_call, refusal;

/* Nothing stays open. */
static int no_process_begins(void)
{
	int first = dup(STDERR_FILENO), last;

	if (!fail_call(refused_call, refusal))
		return 99;
	if (beside_open("run", -1, &APPEND, &beside, message, sizeof message) != -refusal)
		return 1;
	close(first);
	last = dup(STDERR_FILENO);
	return first == last ? 0 : 2;
}

static void a_process_that_cannot_begin_leaves_nothing(void **state)
{
	static const struct {
		int call, error;
	} CASES[] = {{SYS_socketpair, EMFILE}, {SYS_mmap, ENOMEM}, {SYS_clone, EAGAIN}};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		int code;

		refused_call = CASES[i].call;
		refusal = CASES[i].error;
		code = in_child(no_process_begins);
		if (code == 99)
			SKIP("no system call filters here");
		assert_int_equal(code, 0);
	}
	assert_int_equal(faccessat(AT_FDCWD, "run", F_OK, 0), -1);
}

#define MOMENT(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		MOMENT(an_interrupted_write_is_made_again),
		MOMENT(a_write_of_nothing_is_a_full_disk),
		MOMENT(a_stream_that_takes_nothing_has_no_room),
		MOMENT(the_ring_has_a_quarter_of_a_mebibyte),
		MOMENT(the_rest_of_a_long_record_is_kept),
		MOMENT(a_file_that_cannot_be_looked_at_has_its_name),
		MOMENT(a_descriptor_that_cannot_be_kept_is_refused),
		MOMENT(a_shared_file_is_not_left),
		MOMENT(a_flush_waits_to_its_deadline),
		MOMENT(a_fifo_that_was_never_read_says_so),
		MOMENT(a_file_that_is_not_renewed_says_why),
		MOMENT(a_signal_that_was_pending_stays),
		MOMENT(a_stream_that_cannot_be_opened_again_has_other_ways),
		MOMENT(a_stream_never_becomes_standard_input),
		MOMENT(only_the_master_of_terminals_is_a_cloning_device),
		MOMENT(interrupted_streams_go_on),
		MOMENT(a_forbidden_splice_becomes_a_poll),
		MOMENT(a_polled_stream_never_waits),
		MOMENT(an_interrupted_process_goes_on),
		MOMENT(a_process_is_waited_for_until_the_deadline),
		MOMENT(a_process_that_cannot_begin_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
