/*
 * A herd: one process with many children that do nothing, or run for a moment when told to.
 *
 * The children wait on one shared word. So a caller can wake the whole herd and know that it ran between two
 * samples. The herd dies with its owner.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct herd {
	pid_t leader; /* a child of the caller, and the parent of the others */
	int size;     /* children of the leader */
	pid_t *pids;  /* of the leader's children */
	struct herd_page *page;
};

/* Starts a herd and waits until all its processes sleep. Returns 0 or a negative errno. */
int herd_start(struct herd *ret_herd, int size);

/* Makes every child run for some microseconds and returns when all sleep again. */
void herd_run(struct herd *herd);

void herd_stop(struct herd *herd);
