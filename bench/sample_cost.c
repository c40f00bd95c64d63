/*
 * What one sample costs through the public library: sample_cost ROUNDS SIZE idle|busy [NAME=VALUE...]
 *
 * Takes ROUNDS samples by hand and prints three lines: the median ns of a sample, the resident KiB after the first
 * hundredth of the rounds, and at the end. With SIZE > 0 a herd of SIZE processes is tracked, which all run
 * between two samples (busy) or not at all (idle). NAME=VALUE are settings (root=DIR, output=/dev/null).
 */
#include <stdio.h>
#include <string.h>

#include <resource_tracker.h>

#include "herd.h"
#include "measure.h"

/* The first samples open files and size buffers. */
enum { WARM_UP = 20 };

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-error));
	return 1;
}

/* By walking the page tables: the counter that statm shows is kept per processor and off by up to 256 KiB. */
static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	long kib = -1;

	if (!file)
		return -1;
	while (fscanf(file, "Rss: %ld", &kib) != 1 && fscanf(file, "%*[^\n]") != EOF)
		fgetc(file);
	fclose(file);
	return kib;
}

static int measure(rt_tracker *tracker, struct herd *herd, bool busy, int rounds, int64_t *ns)
{
	long early_kib = 0;

	for (int round = -WARM_UP; round < rounds; round++) {
		int64_t begun;
		int error;

		if (busy)
			herd_run(herd);
		begun = clock_ns(CLOCK_MONOTONIC);
		error = rt_sample(tracker);
		if (round >= 0)
			ns[round] = clock_ns(CLOCK_MONOTONIC) - begun;
		if (error)
			return fail("rt_sample", error);
		/* The first reading brings in pages of the C library that are for reading alone. */
		if (round <= rounds / 100)
			early_kib = round == -1 || round == rounds / 100 ? resident_kib() : 0;
	}
	printf("%lld\n%ld\n%ld\n", (long long)median_ns(ns, rounds), early_kib, resident_kib());
	return 0;
}

static int set(rt_config *config, char *setting)
{
	char *value = strchr(setting, '=');
	int error;

	if (!value)
		return fail(setting, -22);
	*value++ = '\0';
	error = rt_config_set(config, setting, value);
	return error ? fail(rt_config_message(config), error) : 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[1]) : 0, size = argc > 3 ? atoi(argv[2]) : 0, error, status;
	int64_t *ns = calloc((size_t)rounds + 1, sizeof(*ns));
	rt_tracker *tracker = NULL;
	rt_config *config = NULL;
	struct herd herd = {0};

	if (rounds <= 0 || !ns) {
		fprintf(stderr, "usage: sample_cost ROUNDS SIZE idle|busy [NAME=VALUE...]\n");
		return 2;
	}
	/* Its pages are not to be taken for growth of the tracker. */
	memset(ns, 1, ((size_t)rounds + 1) * sizeof(*ns));
	if (size > 0 && (error = herd_start(&herd, size)) < 0)
		return fail("herd", error);
	if ((error = rt_config_new(&config)) < 0)
		return fail("rt_config_new", error);
	for (int i = 4; i < argc; i++)
		if (set(config, argv[i]))
			return 1;
	if ((error = rt_open(config, &tracker)) < 0)
		return fail(rt_config_message(config), error);
	if (size > 0 && (error = rt_track(tracker, herd.leader, true)) < 0)
		return fail("rt_track", error);
	status = measure(tracker, &herd, size > 0 && strcmp(argv[3], "busy") == 0, rounds, ns);
	rt_close(tracker);
	rt_config_free(config);
	if (size > 0)
		herd_stop(&herd);
	free(ns);
	return status;
}
