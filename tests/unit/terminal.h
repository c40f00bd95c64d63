/* A pseudo-terminal; the test holds both ends. It neither translates output nor echoes input. */
#pragma once

#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

struct terminal {
	int master; /* the screen and the keyboard */
	int slave;  /* the standard streams of a program */
};

static inline struct terminal open_terminal(void)
{
	struct terminal terminal = {posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), -1};
	struct termios modes;

	assert_true(terminal.master >= 0);
	assert_int_equal(grantpt(terminal.master) | unlockpt(terminal.master), 0);
	terminal.slave = open(ptsname(terminal.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal.slave >= 0);
	assert_int_equal(tcgetattr(terminal.slave, &modes), 0);
	modes.c_oflag &= (tcflag_t)~OPOST;
	modes.c_lflag &= (tcflag_t) ~(ECHO | ECHONL);
	assert_int_equal(tcsetattr(terminal.slave, TCSANOW, &modes), 0);
	return terminal;
}

static inline void close_terminal(struct terminal *terminal)
{
	close(terminal->slave);
	close(terminal->master);
}

/* Reads from the screen until `text` appears, for at most two seconds. */
static inline void assert_terminal_shows(const struct terminal *terminal, const char *text)
{
	char found[4096] = {0};
	size_t length = 0;

	assert_true(strlen(text) < sizeof found);
	while (length < strlen(text)) {
		struct pollfd screen = {terminal->master, POLLIN, 0};
		ssize_t n;

		assert_int_equal(poll(&screen, 1, 2000), 1);
		n = read(terminal->master, found + length, strlen(text) - length);
		assert_true(n > 0);
		length += (size_t)n;
	}
	assert_string_equal(found, text);
}
