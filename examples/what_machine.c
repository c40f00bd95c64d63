/*
 * Prints a description of this machine and, with the argument "cloud", of the cloud that it is in (this asks
 * the network).
 *
 *   cc what_machine.c $(pkg-config --cflags --libs resource-tracker) -o what_machine && ./what_machine
 *
 * Threads: rt_discover() may be called from any thread, but no thread may call setenv(3) meanwhile.
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char *argv[])
{
	unsigned int what = argc > 1 && strcmp(argv[1], "cloud") == 0 ? RT_DISCOVER_CLOUD : RT_DISCOVER_HOST;
	char *json = NULL;
	int error = rt_discover(what, 5, &json);

	if (error < 0) {
		fprintf(stderr, "cannot tell: %s\n", rt_error_text("rt_discover", error));
		return EXIT_FAILURE;
	}
	printf("%s\n", json);
	rt_free(json);
	return EXIT_SUCCESS;
}
