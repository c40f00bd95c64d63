/*
 * Simulates a host with many processes: crowd SIZE [busy] starts that many, prints "ready" and the pid of
 * their parent, and ends them when its stdin ends. They sleep, or run for a moment five times a second
 * (busy).
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "herd.h"

enum { BUSY_EVERY_MS = 200 };

static int stdin_ends(int timeout_ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	return poll(&in, 1, timeout_ms) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 0, busy = argc > 2 && strcmp(argv[2], "busy") == 0, error;
	struct herd herd;

	if (size <= 0)
		return 2;
	error = herd_start(&herd, size);
	if (error < 0) {
		fprintf(stderr, "crowd: %s\n", strerror(-error));
		return 1;
	}
	printf("ready %d\n", (int)herd.leader);
	fflush(stdout);
	while (!stdin_ends(busy ? BUSY_EVERY_MS : -1))
		if (busy)
			herd_run(&herd);
	herd_stop(&herd);
	return 0;
}
