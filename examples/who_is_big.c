/*
 * The one-shot readers: the memory of the calling shell and of each of its descendants, without a tracker.
 *
 *   cc who_is_big.c $(pkg-config --cflags --libs resource-tracker) -o who_is_big && ./who_is_big
 *
 * Threads: the one-shot readers may be called from any thread at any time.
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(pid_t pid)
{
	int64_t rss_bytes, pss_bytes;

	if (rt_process_rss(pid, &rss_bytes) < 0)
		return;
	printf("%8d %10.1f MiB resident", (int)pid, (double)rss_bytes / 1048576);
	if (rt_process_pss(pid, &pss_bytes) == 0)
		printf(" %10.1f MiB proportional", (double)pss_bytes / 1048576);
	putchar('\n');
}

int main(void)
{
	pid_t *descendants, root = getppid();
	ssize_t count = rt_process_descendants(root, &descendants);

	if (count < 0) {
		fprintf(stderr, "pid %d: %s\n", (int)root,
			rt_error_text("rt_process_descendants", (int)count));
		return EXIT_FAILURE;
	}
	print(root);
	for (ssize_t i = 0; i < count; i++)
		print(descendants[i]);
	rt_free(descendants);
	return EXIT_SUCCESS;
}
