/* Decides which metrics are wanted: all, or those that match names and globs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "metric/frame.h"

enum { METRICS_PER_KIND_MOST = 128 };

struct selection {
	bool all;
	bool kinds[ROW_KINDS]; /* a metric of it or of a kind below it is wanted, or needed for one that is */
	bool metrics[ROW_KINDS][METRICS_PER_KIND_MOST];
};

/*
 * `globs` match full names ("disk.mounts.*") or their last part ("process_*"). An empty list selects all.
 * Fields that identify samples and rows (time stamps, device names), and the start and end of the run, are
 * always wanted.
 */
void selection_init(struct selection *selection, bool no_system, bool no_process, char *const *globs,
		    size_t glob_count);

/* Returns the first glob that matches no metric, or NULL. */
const char *selection_unmatched(char *const *globs, size_t glob_count);

/* Whether a field is wanted: IS_WANTED(selection, tree, process_gpu_usage). */
#define IS_WANTED(selection, kind, field) \
	((selection)->metrics[ROW_##kind][(offsetof(struct kind##_row, field) - sizeof(struct row)) / 8])

/* Makes unwanted fields absent. */
void selection_apply(const struct selection *selection, struct frame *frame);
