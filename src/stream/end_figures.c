/* Has the analysis make the line of a run; see end_figures.h. */
#include "stream/end_figures.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "launch/child.h"

#define DEADLINE_NS (2 * NSEC_PER_SEC)

enum { READ_BYTES = 4096 };

/*
 * Reads to the end. False: that did not come in time, a signal ended the waiting, or the text is too long. The other half of the time
 * is for sending.
 */
static bool read_in_time(struct buffer *ret_text, int fd, struct patience *patience)
{
	int64_t now_ns = monotonic_ns(),
		left_ns = patience_ended(patience) ? patience->deadline_ns - now_ns : patience->grace_ns,
		until_ns = now_ns + (left_ns / 2 < DEADLINE_NS ? left_ns / 2 : DEADLINE_NS);

	while (!patience_over(patience)) {
		struct pollfd fds[1 + PATIENCE_FDS] = {{.fd = fd, .events = POLLIN}};
		int left_ms = patience_left_ms(patience, until_ns);
		ssize_t length;

		if (left_ms <= 0 || poll(fds, 1 + patience_fds(patience, fds + 1), left_ms) <= 0 ||
		    buffer_reserve(ret_text, READ_BYTES) < 0)
			return false;
		if (!fds[0].revents)
			continue;
		length = read(fd, ret_text->data + ret_text->length, READ_BYTES);
		if (length <= 0)
			return length == 0;
		ret_text->length += (size_t)length;
	}
	return false;
}

void read_end_figures(struct buffer *ret_line, int fd, struct patience *patience)
{
	CLEANUP_CLOSE int pipe_fd = -1;
	char path[64];
	const char *const argv[] = {ANALYSIS_PROGRAM.name, "runs", "add", path, NULL};
	const struct child_program child = {.program = &ANALYSIS_PROGRAM, .argv = argv, .silent = true};
	int64_t begun_ns = debug_now_ns();
	pid_t pid;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	/* The recorder appends the line to that file. */
	unsetenv("TRACKER_RUNS");
	error = child_start_with_pipe(&child, &pipe_fd, &pid);
	if (error == 0) {
		if (!read_in_time(ret_line, pipe_fd, patience) || !ret_line->length ||
		    ret_line->data[ret_line->length - 1] != '\n')
			buffer_clear(ret_line);
		kill(pid, SIGKILL);
		(void)child_wait(pid);
	}
	debug_say("follower", begun_ns, "the figures of the run have %zu bytes (error %d)", ret_line->length,
		  error);
}
