/* Starts a recorder. See recorder.h. */
#include "live/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/find_program.h"

enum { STOP_LOOKS = 200 };
#define STOP_LOOK_NS (10 * NSEC_PER_MSEC)

extern char **environ;

/*
 * The recorder is in the view's process group, so that the keys of the terminal reach both: Ctrl-Z stops it, too. No signal is
 * blocked in it.
 */
static int spawn_recorder(const char *path, const char *const *words, int samples, int messages,
			  pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, samples, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
	if (!error)
		error = posix_spawnattr_setsigmask(&attributes, &none);
	if (!error)
		error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (!error)
		error = posix_spawn(ret_pid, path, &actions, &attributes, (char *const *)(uintptr_t)words,
				    environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

int recorder_start(struct own_recorder *ret_recorder, const char *const *words)
{
	CLEANUP_CLOSE int samples = -1, samples_in = -1, messages = -1, messages_in = -1;
	struct own_recorder recorder = {.messages = BUFFER(RECORDER_WORDS_BYTES)};
	char path[PATH_MAX];
	int ends[2], r = find_sister_program(&RECORDER_PROGRAM, path);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	samples = ends[0];
	samples_in = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	messages = ends[0];
	messages_in = ends[1];
	if (fcntl(messages, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = spawn_recorder(path, words, samples_in, messages_in, &recorder.pid);
	if (r < 0)
		return r;
	recorder.samples_fd = take_fd(&samples);
	recorder.messages_fd = take_fd(&messages);
	*ret_recorder = recorder;
	return 0;
}

void recorder_listen(struct own_recorder *recorder)
{
	char text[512];
	ssize_t got;

	if (recorder->messages_fd < 0)
		return;
	while ((got = read(recorder->messages_fd, text, sizeof(text))) > 0) {
		if (recorder->messages.length + (size_t)got < RECORDER_WORDS_BYTES)
			buffer_add(&recorder->messages, text, (size_t)got);
	}
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	close(recorder->messages_fd);
	recorder->messages_fd = -1;
}

bool recorder_has_ended(struct own_recorder *recorder)
{
	if (recorder->pid && waitpid(recorder->pid, &recorder->status, WNOHANG) == recorder->pid)
		recorder->pid = 0;
	return !recorder->pid;
}

void recorder_stop(struct own_recorder *recorder)
{
	if (recorder->samples_fd >= 0)
		close(recorder->samples_fd);
	recorder->samples_fd = -1;
	if (recorder->pid) {
		kill(recorder->pid, SIGTERM);
		kill(recorder->pid, SIGCONT);
	}
	/* If it is stuck, it ends with its next sample, because nothing reads the pipe any more. */
	for (int i = 0; i < STOP_LOOKS && !recorder_has_ended(recorder); i++)
		nanosleep(&(struct timespec){.tv_nsec = STOP_LOOK_NS}, NULL);
	recorder_listen(recorder);
	if (recorder->messages_fd >= 0)
		close(recorder->messages_fd);
	recorder->messages_fd = -1;
}
