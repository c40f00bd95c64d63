/*
 * The cost of keeping and reading all samples in a program: history ROUNDS
 *
 * A program that tracks itself opens a tracker, starts and stops it, then takes ROUNDS samples by hand with
 * the history on. Prints one line each: ns to open and start, ns of CPU time to read all columns of the
 * layouts "system" and "process" (the least of five times), bytes of the history, KiB by which the program
 * has grown, and the number of columns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <resource_tracker.h>

#include "measure.h"

enum { READINGS = 5, START_ROUNDS = 20 };

static rt_tracker *open_tracker(void)
{
	rt_config *config = NULL;
	rt_tracker *tracker = NULL;
	char pid[24];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	if (rt_config_new(&config) < 0 || rt_config_set(config, "pid", pid) < 0 ||
	    rt_config_set_history(config, INT64_MAX, NULL) < 0 || rt_open(config, &tracker) < 0) {
		fprintf(stderr, "%s\n", config ? rt_config_message(config) : "out of memory");
		exit(1);
	}
	rt_config_free(config);
	return tracker;
}

/* Takes the least of several: other processes disturbed the shortest run least. */
static int64_t start_ns(void)
{
	int64_t best_ns = INT64_MAX;

	for (int i = 0; i < START_ROUNDS; i++) {
		int64_t begun = clock_ns(CLOCK_MONOTONIC), taken;
		rt_tracker *tracker = open_tracker();

		rt_start(tracker);
		taken = clock_ns(CLOCK_MONOTONIC) - begun;
		best_ns = taken < best_ns ? taken : best_ns;
		rt_close(tracker);
	}
	return best_ns;
}

static int read_all(rt_tracker *tracker, double *values, size_t rows)
{
	static const char *const LAYOUTS[] = {"system", "process"};
	int columns = 0;

	for (size_t layout = 0; layout < 2; layout++) {
		const char *heading;

		for (size_t i = 0; (heading = rt_csv_heading(LAYOUTS[layout], i)); i++, columns++)
			if (rt_history_read(tracker, LAYOUTS[layout], heading, 0, rows, values) !=
			    (ssize_t)rows)
				return -1;
	}
	return columns;
}

int main(int argc, char *argv[])
{
	size_t rounds = argc == 2 ? (size_t)atol(argv[1]) : 0, bytes = 0;
	double *values = calloc(rounds + 1, sizeof *values);
	int64_t best_ns = INT64_MAX;
	long before_kib, after_kib;
	rt_tracker *tracker;
	int columns = 0;

	if (!rounds || !values)
		return 1;
	memset(values, 1, (rounds + 1) * sizeof *values);
	before_kib = resident_kib();
	printf("%lld\n", (long long)start_ns());
	tracker = open_tracker();
	for (size_t i = 0; i < rounds; i++)
		if (rt_sample(tracker) < 0)
			return 1;
	after_kib = resident_kib();
	rt_history_count(tracker, NULL, &bytes);
	for (int i = 0; i < READINGS; i++) {
		int64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID), taken;

		columns = read_all(tracker, values, rounds);
		taken = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
		best_ns = taken < best_ns ? taken : best_ns;
	}
	printf("%lld\n%zu\n%ld\n%d\n", (long long)best_ns, bytes, after_kib - before_kib, columns);
	rt_close(tracker);
	free(values);
	return columns > 0 ? 0 : 1;
}
