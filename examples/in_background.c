/*
 * Records this process while it works: a thread of the library samples, and the program goes on as usual.
 *
 *   cc in_background.c $(pkg-config --cflags --libs resource-tracker) -o in_background && ./in_background run.jsonl
 *
 * Threads: while the library's thread samples, any thread of the program may call the tracker. rt_close() comes last, when
 * no other thread uses it.
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static double work(void)
{
	double sum = 0;

	for (long i = 1; i < 50000000; i++)
		sum += 1.0 / (double)i;
	return sum;
}

int main(int argc, char *argv[])
{
	rt_config *config = NULL;
	rt_tracker *tracker = NULL;
	int error;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (rt_config_new(&config) < 0)
		return EXIT_FAILURE;
	rt_config_set_int(config, "pid", getpid());
	rt_config_set(config, "interval", "0.05");
	rt_config_set(config, "job-name", "harmonic series");
	rt_config_set(config, "output", argv[1]);
	error = rt_open(config, &tracker);
	if (error < 0) {
		fprintf(stderr, "%s\n", rt_config_message(config));
		return EXIT_FAILURE;
	}
	error = rt_start(tracker);
	if (error < 0)
		fprintf(stderr, "nothing is sampled: %s\n", rt_error_text("rt_start", error));
	rt_wait_for_samples(tracker, 1, 5);
	printf("the sum is %f\n", work());
	rt_stop(tracker);
	printf("%lld samples are in %s\n", (long long)rt_sample_count(tracker), argv[1]);
	rt_close(tracker);
	rt_config_free(config);
	return EXIT_SUCCESS;
}
