/*
 * The cost of one sample through the public library: sample_cost ROUNDS SIZE idle|busy [NAME=VALUE...]
 *
 * Takes ROUNDS samples by hand and prints four lines: the median ns of a sample, the resident KiB after the
 * first hundredth of the rounds and at the end, and the least CPU time of a sample in ns. With SIZE > 0 it
 * tracks a herd of SIZE processes that all run between two samples (busy) or sleep (idle). NAME=VALUE are
 * settings (root=DIR, output=/dev/null).
 *
 * ROUND_PAUSE_MS=N waits that long before each sample, like a tracker whose caches other programs use
 * meanwhile. With HERD_GPUS=N the herd is on N GPUs of the fake NVML (its script, NVML_FAKE_SCRIPT, is
 * written here), and the rounds begin after the helper has had time to see it there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int measure(rt_tracker *tracker, struct herd *herd, bool busy, int rounds, int64_t *ns)
{
	long early_kib = 0;
	const char *pause = getenv("ROUND_PAUSE_MS");
	int pause_ms = pause ? atoi(pause) : 0;
	int64_t least_cpu_ns = 0;

	for (int round = -WARM_UP; round < rounds; round++) {
		int64_t begun, used;
		int error;

		if (busy)
			herd_run(herd);
		if (pause_ms)
			usleep((useconds_t)pause_ms * 1000);
		begun = clock_ns(CLOCK_MONOTONIC);
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		error = rt_sample(tracker);
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
		if (round >= 0)
			ns[round] = clock_ns(CLOCK_MONOTONIC) - begun;
		if (round == 0 || (round > 0 && used < least_cpu_ns))
			least_cpu_ns = used;
		if (error)
			return fail("rt_sample", error);
		/* The first reading also loads read-only pages of the C library. */
		if (round <= rounds / 100)
			early_kib = round == -1 || round == rounds / 100 ? resident_kib() : 0;
	}
	printf("%lld\n%ld\n%ld\n%lld\n", (long long)median_ns(ns, rounds), early_kib, resident_kib(),
	       (long long)least_cpu_ns);
	return 0;
}

/* Puts each process on one GPU, in turn. */
static int put_on_gpus(const struct herd *herd, const char *script, int gpus)
{
	FILE *file = fopen(script, "w");

	if (!file)
		return fail(script, -ENOENT);
	fprintf(file, "gpus %d\n", gpus);
	for (int i = 0; i < gpus; i++)
		fprintf(file, "utilization %d 50 10\n", i);
	for (int i = 0; i < herd->size; i++)
		fprintf(file, "process %d %d c 100 5\n", i % gpus, (int)herd->pids[i]);
	return fclose(file);
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
	const char *gpus = getenv("HERD_GPUS"), *script = getenv("NVML_FAKE_SCRIPT");
	int rounds = argc > 3 ? atoi(argv[1]) : 0, size = argc > 3 ? atoi(argv[2]) : 0, error, status;
	int64_t *ns = calloc((size_t)rounds + 1, sizeof(*ns));
	rt_tracker *tracker = NULL;
	rt_config *config = NULL;
	struct herd herd = {0};

	if (rounds <= 0 || !ns) {
		fprintf(stderr, "usage: sample_cost ROUNDS SIZE idle|busy [NAME=VALUE...]\n");
		return 2;
	}
	/* Touch these pages now, so that they do not look like growth of the tracker. */
	memset(ns, 1, ((size_t)rounds + 1) * sizeof(*ns));
	if (size > 0 && (error = herd_start(&herd, size)) < 0)
		return fail("herd", error);
	if (gpus && script && put_on_gpus(&herd, script, atoi(gpus)))
		return 1;
	if ((error = rt_config_new(&config)) < 0)
		return fail("rt_config_new", error);
	for (int i = 4; i < argc; i++)
		if (set(config, argv[i]))
			return 1;
	if ((error = rt_open(config, &tracker)) < 0)
		return fail(rt_config_message(config), error);
	if (size > 0 && (error = rt_track(tracker, herd.leader, true)) < 0)
		return fail("rt_track", error);
	if (gpus)
		sleep(1);
	status = measure(tracker, &herd, size > 0 && strcmp(argv[3], "busy") == 0, rounds, ns);
	rt_close(tracker);
	rt_config_free(config);
	if (size > 0)
		herd_stop(&herd);
	free(ns);
	return status;
}
