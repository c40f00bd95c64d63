/* A host with many processes: crowd SIZE starts that many, says "ready", and ends them when its stdin ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "herd.h"

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 0, error;
	struct herd herd;
	char byte;

	if (size <= 0)
		return 2;
	error = herd_start(&herd, size);
	if (error < 0) {
		fprintf(stderr, "crowd: %s\n", strerror(-error));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	herd_stop(&herd);
	return 0;
}
