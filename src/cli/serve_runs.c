/* Forks recorders of one command. See serve_runs.h. */
#include "cli/serve_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/wait_child.h"
#include "cli/message.h"
#include "launch/run_server.h"

/* Places in the words of the server. */
enum { WORD_SERVE = 1, WORD_OUTPUT = 3, WORDS_LEAST = 5 };

/* The recorder's end of the connection to `repeat`, or -1 if no server forked it. */
static int the_connection = -1;

/* Returns the length of the request, or 0 at the end. Both texts have their NUL. */
static size_t receive_request(int fd, char *request)
{
	ssize_t length;

	do {
		length = recv(fd, request, SERVE_REQUEST_BYTES, 0);
	} while (length < 0 && errno == EINTR);
	return length > 1 && !request[length - 1] && strlen(request) < (size_t)length - 1 ? (size_t)length
											  : 0;
}

static bool send_run_answer(int fd, struct serve_answer answer)
{
	return send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

/* Signals that came before the request were not for this run. */
static void forget_signals_before(const sigset_t *mask)
{
	const struct timespec at_once = {0, 0};
	sigset_t all;

	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &at_once) > 0)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Becomes the recorder of the next request. Its words are those of the server without SERVE_RUNS. */
static void become_recorder_of_run(int fd, const sigset_t *mask, int *argc, char ***argv)
{
	char request[SERVE_REQUEST_BYTES];
	char **words = *argv;
	const char *runs;

	if (!receive_request(fd, request))
		_exit(EXIT_SUCCESS);
	forget_signals_before(mask);
	send_run_answer(fd, (struct serve_answer){.pid = getpid()});
	the_connection = fd;
	runs = request + strlen(request) + 1;
	words[WORD_OUTPUT] = strdup(request);
	if (!words[WORD_OUTPUT] || (*runs ? setenv("TRACKER_RUNS", runs, 1) : unsetenv("TRACKER_RUNS")) < 0)
		_exit(refuse("out of memory"));
	words[WORD_SERVE] = words[0];
	*argv = words + 1;
	--*argc;
}

void say_that_job_ended(void)
{
	char byte;

	if (the_connection < 0)
		return;
	if (send_run_answer(the_connection, (struct serve_answer){.pid = getpid(), .job_ended = true}))
		while (recv(the_connection, &byte, sizeof(byte), 0) < 0 && errno == EINTR)
			;
	close(the_connection);
	the_connection = -1;
}

/* Returns 0 in each child, and in the server once the other end is closed. */
static pid_t fork_recorders(int fd)
{
	struct serve_answer answer;

	do {
		answer = (struct serve_answer){.pid = fork(), .has_ended = true};
		if (answer.pid < 0)
			answer.pid = -errno;
		if (answer.pid == 0)
			return 0;
		if (answer.pid > 0) {
			send_run_answer(fd, (struct serve_answer){.pid = answer.pid});
			if (wait_child(answer.pid, &answer.status, 0, NULL) != answer.pid)
				answer.pid = -ECHILD;
		}
	} while (send_run_answer(fd, answer) && answer.pid > 0);
	return 1;
}

/* Tells whether the descriptor is the connection that `repeat` makes. A user's own SERVE_RUNS is an unknown option. */
static bool is_connection_of_packets(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

void serve_runs(int *argc, char ***argv)
{
	const char *word = *argc >= WORDS_LEAST ? (*argv)[WORD_SERVE] : "";
	struct scan text = scan_bytes(word, strlen(word));
	sigset_t all, before;
	uint64_t number;

	if (!scan_literal(&text, SERVE_RUNS) || !scan_u64(&text, &number) ||
	    (uint64_t)(int)number != number || !is_connection_of_packets((int)number))
		return;
	/* A terminal's signals are for the recorder. */
	sigfillset(&all);
	if (fcntl((int)number, F_SETFD, FD_CLOEXEC) < 0 || sigprocmask(SIG_SETMASK, &all, &before) < 0 ||
	    fork_recorders((int)number) > 0)
		_exit(EXIT_SUCCESS);
	become_recorder_of_run((int)number, &before, argc, argv);
}
