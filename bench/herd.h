/*
 * A herd: one process with many children that do nothing, or run for a moment when they are told to.
 *
 * The children wait on one shared word, so that a whole herd can be woken, and be known to have run,
 * between two samples. It dies with its owner.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct herd {
	pid_t leader; /* a child of the caller; the parent of the others */
	int size;     /* children of the leader */
	pid_t *pids;  /* theirs */
	struct herd_page *page;
};

/* Starts a herd and waits until all of it sleeps. Returns 0 or a negative errno. */
int herd_start(struct herd *ret_herd, int size);

/* Makes every child run for some microseconds and returns when all sleep again. */
void herd_run(struct herd *herd);

void herd_stop(struct herd *herd);
