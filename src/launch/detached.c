/* Starts a program that is not our child. See detached.h. */
#include "launch/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "base/wait_child.h"
#include "launch/child.h"

enum { FIRST_FREE_FD = 3, MOST_ARGUMENTS = 24 };

/* Makes two connected sockets above 2, because the caller may run with 0, 1 or 2 closed. */
static int make_sockets(int ret_sockets[2])
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		int fd = sockets[i];

		if (fd >= FIRST_FREE_FD)
			continue;
		sockets[i] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
		close(fd);
		if (sockets[i] < 0) {
			close(sockets[1 - i]);
			return -EMFILE;
		}
	}
	memcpy(ret_sockets, sockets, sizeof(sockets));
	return 0;
}

static int give_standard_streams(posix_spawn_file_actions_t *actions, bool silent, int socket)
{
	int error = 0;

	for (int fd = 0; fd < FIRST_FREE_FD && !error; fd++)
		error = fd == STDERR_FILENO && silent
				? posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_WRONLY, 0)
				: posix_spawn_file_actions_adddup2(actions, socket, fd);
	return -error;
}

/* Runs the helper that starts the program. Returns 0 or a negative errno. */
static int run_helper(const struct detached *detached, int socket)
{
	char path[PATH_MAX];
	const char *argv[MOST_ARGUMENTS + 4] = {HELPER_PROGRAM.name, "exec", path};
	posix_spawn_file_actions_t actions;
	int status = 0, error = find_sister_program(detached->program, path);

	for (size_t i = 0; detached->argv[i]; i++) {
		if (i == MOST_ARGUMENTS)
			return -E2BIG;
		argv[3 + i] = detached->argv[i];
	}
	if (error < 0)
		return error;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	error = give_standard_streams(&actions, detached->silent, socket);
	if (!error)
		error = child_run_helper(argv, detached->environment, &actions, &status);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return error;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/*
 * Reads "12345
 * " byte by byte, because the bytes after it come from the program.
 */
static pid_t read_pid(int socket)
{
	char text[16];
	size_t length = 0;
	struct scan scan;
	int64_t pid = 0;

	while (length < sizeof(text) && recv(socket, text + length, 1, MSG_DONTWAIT) == 1 &&
	       text[length] != '\n')
		length++;
	scan = scan_bytes(text, length);
	return scan_i64(&scan, &pid) && !scan_left(&scan) && pid > 1 && pid <= INT_MAX ? (pid_t)pid : 0;
}

int detached_start(const struct detached *detached, int *ret_socket, pid_t *ret_pid)
{
	CLEANUP_CLOSE int ours = -1, theirs = -1;
	int sockets[2], error = make_sockets(sockets);
	pid_t pid;

	if (error < 0)
		return error;
	ours = sockets[0];
	theirs = sockets[1];
	error = run_helper(detached, theirs);
	if (error < 0)
		return error;
	pid = read_pid(ours);
	if (!pid)
		return -EPROTO;
	*ret_pid = pid;
	*ret_socket = take_fd(&ours);
	return 0;
}

bool adopts_orphans(void)
{
	int subreaper = 0;

	return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &subreaper) == 0 && subreaper);
}

void detached_reap(pid_t pid)
{
	if (adopts_orphans())
		wait_child(pid, NULL, WNOHANG, NULL);
}
