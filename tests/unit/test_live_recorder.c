/* Tests of src/live/recorder.c: words of a recorder on a pipe, and its end. A child of the test stands for it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/recorder.h"

static struct own_recorder recorder;
static int messages_in, samples_in;

static int begin_recorder(void **state)
{
	int ends[2];

	(void)state;
	recorder = (struct own_recorder){.messages = BUFFER(RECORDER_WORDS_BYTES)};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	recorder.samples_fd = ends[0];
	samples_in = ends[1];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	recorder.messages_fd = ends[0];
	messages_in = ends[1];
	return 0;
}

static int end_recorder(void **state)
{
	(void)state;
	buffer_done(&recorder.messages);
	if (messages_in >= 0)
		close(messages_in);
	close(samples_in);
	if (recorder.samples_fd >= 0)
		close(recorder.samples_fd);
	if (recorder.messages_fd >= 0)
		close(recorder.messages_fd);
	return 0;
}

static void say(const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		assert_int_equal(write(messages_in, text, strlen(text)), strlen(text));
}

static void its_words_are_kept_until_it_closes_them(void **state)
{
	const int fd = recorder.messages_fd;

	(void)state;
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages.length, 0);
	assert_int_equal(recorder.messages_fd, fd);
	say("no such ", 1);
	recorder_listen(&recorder);
	say("job\n", 1);
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages_fd, fd);
	assert_int_equal(recorder.messages.length, 12);
	assert_memory_equal(recorder.messages.data, "no such job\n", 12);
	close(messages_in);
	messages_in = -1;
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages_fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	/* Nothing is left to read, and descriptor -1 is left alone. */
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages.length, 12);
}

/* Eight readings of 512 bytes are 4096: the last one has no room, but it is read as well. */
static void more_words_than_there_is_room_for_are_left_out(void **state)
{
	char left[16];

	(void)state;
	say("0123456789abcdef", 256);
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages.length, 3584);
	assert_int_equal(buffer_error(&recorder.messages), 0);
	assert_memory_equal(recorder.messages.data + 3568, "0123456789abcdef", 16);
	assert_int_equal(read(recorder.messages_fd, left, sizeof left), -1);
	/* A shorter one has room again. */
	say("0123456789abcdef", 31);
	say("0123456789abcde", 1);
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages.length, RECORDER_WORDS_BYTES - 1);
	say("x", 1);
	recorder_listen(&recorder);
	assert_int_equal(recorder.messages.length, RECORDER_WORDS_BYTES - 1);
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		for (;;)
			pause();
	}
	return pid;
}

static void its_end_is_seen_and_its_status_is_kept(void **state)
{
	pid_t pid = fork();
	siginfo_t ended;

	(void)state;
	assert_true(recorder_has_ended(&recorder)); /* there is none */
	if (pid == 0)
		_exit(7);
	recorder.pid = pid;
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_true(recorder_has_ended(&recorder));
	assert_int_equal(recorder.pid, 0);
	assert_true(WIFEXITED(recorder.status));
	assert_int_equal(WEXITSTATUS(recorder.status), 7);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_true(recorder_has_ended(&recorder));
	recorder.pid = start_child();
	assert_false(recorder_has_ended(&recorder));
	assert_int_equal(kill(recorder.pid, SIGKILL), 0);
	assert_int_equal(waitpid(recorder.pid, NULL, 0), recorder.pid);
	recorder.pid = 0;
}

/* Ctrl-Z of the terminal has stopped it, too: SIGTERM alone would wait for a SIGCONT. */
static void one_that_is_stopped_is_ended_as_well(void **state)
{
	const int samples_fd = recorder.samples_fd, messages_fd = recorder.messages_fd;
	pid_t pid = start_child();
	siginfo_t stopped;

	(void)state;
	recorder.pid = pid;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &stopped, WSTOPPED), 0);
	say("its last word", 1);
	for (int i = 0; i < 30 && recorder.pid; i++) /* on a busy machine, 2 s may be too short */
		recorder_stop(&recorder);
	assert_int_equal(recorder.pid, 0);
	assert_true(WIFSIGNALED(recorder.status));
	assert_int_equal(WTERMSIG(recorder.status), SIGTERM);
	assert_int_equal(recorder.messages.length, strlen("its last word"));
	assert_int_equal(recorder.samples_fd, -1);
	assert_int_equal(recorder.messages_fd, -1);
	assert_int_equal(fcntl(samples_fd, F_GETFD), -1);
	assert_int_equal(fcntl(messages_fd, F_GETFD), -1);
	recorder_stop(&recorder); /* once more does nothing */
	assert_int_equal(recorder.pid, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_recorder, end_recorder)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(its_words_are_kept_until_it_closes_them),
		TEST(more_words_than_there_is_room_for_are_left_out),
		TEST(its_end_is_seen_and_its_status_is_kept),
		TEST(one_that_is_stopped_is_ended_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
