/* Which metrics are wanted: all, or those that names and globs pick. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "metric/frame.h"

enum { METRICS_PER_KIND_MOST = 128 };

struct selection {
	bool all;
	bool kinds[ROW_KINDS]; /* some metric of it, or of a kind below it, is wanted */
	bool metrics[ROW_KINDS][METRICS_PER_KIND_MOST];
};

/*
 * `globs` match full names ("disk.mounts.*") or their last part ("process_*"); none means all. What tells
 * samples and rows apart (timestamps, device names), the start and the end of the run are always wanted.
 */
void selection_init(struct selection *selection, bool no_system, bool no_process, char *const *globs,
		    size_t glob_count);

/* The first glob that matches no metric; NULL if each does. */
const char *selection_unmatched(char *const *globs, size_t glob_count);

/* Whether a field is wanted: IS_WANTED(selection, tree, process_gpu_usage). */
#define IS_WANTED(selection, kind, field) \
	((selection)->metrics[ROW_##kind][(offsetof(struct kind##_row, field) - sizeof(struct row)) / 8])

/* Makes absent what is not wanted. */
void selection_apply(const struct selection *selection, struct frame *frame);
