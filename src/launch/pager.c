/* Starts the user's pager. See pager.h. */
#include "launch/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/trust.h"
#include "base/wait_child.h"
#include "base/write_all.h"
#include "launch/find_program.h"

extern char **environ;

/* Counts the rows of the screen that the text takes, with its long lines folded. Colours count as text. */
static size_t rows_of(const char *text, size_t length, size_t columns)
{
	size_t rows = 0, column = 0;

	for (size_t i = 0; i < length; i++) {
		bool is_end = text[i] == '\n';

		column += !is_end && ((unsigned char)text[i] & 0xc0) != 0x80;
		if (is_end || column > columns) {
			rows++;
			column = !is_end;
		}
	}
	return rows + (column > 0);
}

static bool is_longer_than_screen(const char *text, size_t length)
{
	const char *terminal = getenv("TERM");
	struct winsize size = {0};

	return isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0 &&
	       ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	       rows_of(text, length, size.ws_col) >= size.ws_row;
}

/* NULL: no pager */
static const char *pager_command(void)
{
	const char *pager = getenv("PAGER");

	/* A pager runs commands of the user, and PATH and PAGER choose the program. */
	if (has_more_rights_than_caller())
		return NULL;
	if (!pager)
		return is_on_path("less") ? "less" : NULL;
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* The user's signals go to the pager. It gets its own SIGPIPE and SIGINT back, which this program ignores. */
static int start_pager(const char *command, int input, pid_t *ret_pid)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int error = ENOMEM;

	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGQUIT);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) == 0) {
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		posix_spawnattr_setsigdefault(&attributes, &usual);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		/* less: end at once if all fits, show colours, leave the text on the screen. lv: show colours. */
		setenv("LESS", "FRX", 0);
		setenv("LV", "-c", 0);
		error = posix_spawn(ret_pid, "/bin/sh", &actions, &attributes, (char *const *)(uintptr_t)argv,
				    environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

bool show_paged(const char *text, size_t length)
{
	enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };
	const char *command = is_longer_than_screen(text, length) ? pager_command() : NULL;
	void (*on_interrupt)(int), (*on_quit)(int), (*on_pipe)(int);
	int ends[2], status = 0;
	pid_t pid;

	if (!command || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	on_interrupt = signal(SIGINT, SIG_IGN);
	on_quit = signal(SIGQUIT, SIG_IGN);
	on_pipe = signal(SIGPIPE, SIG_IGN);
	if (start_pager(command, ends[0], &pid) == 0) {
		close(ends[0]);
		/* A user who leaves the pager early closes the pipe. */
		(void)write_all(ends[1], text, length);
		close(ends[1]);
		while (wait_child(pid, &status, 0, NULL) < 0 && errno == EINTR)
			;
	} else {
		close(ends[0]);
		close(ends[1]);
		status = NOT_FOUND << 8;
	}
	signal(SIGINT, on_interrupt);
	signal(SIGQUIT, on_quit);
	signal(SIGPIPE, on_pipe);
	return status != NOT_FOUND << 8 && status != NOT_EXECUTABLE << 8;
}
